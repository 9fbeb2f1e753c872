#include <stdio.h>
#include "util.h"
void put(const char *name, long v)
{
	printf("%s = %ld\n", name, v);
}
