#include "util.h"
int main(void)
{
	put("fib", fib(20));
	put("hash", hash("ward"));
	return 0;
}
