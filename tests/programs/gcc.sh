#!/bin/sh
# The compiler, the linker and the program they make; the object is the same as natively.
set -e
cat > t.c <<'EOF'
#include <stdio.h>
#include <math.h>
int main(int c, char **v)
{
	double s = 0;

	for (int i = 1; i < 1000; i++)
		s += sqrt(i);
	printf("%.6f %d\n", s, c);
	return 12;
}
EOF
gcc -O2 -Wall -c t.c -o t.o; sha256sum t.o
gcc t.o -o t -lm
./t a b || echo "exit $?"
gcc -static -O0 t.c -o ts -lm; ./ts || echo "exit $?"
gcc -S -O1 t.c -o - | grep -c sqrt
echo 'int main(void) { return x; }' > bad.c
gcc bad.c -o bad 2>err || echo "compile error $?"; grep -o "undeclared" err | head -1
ar rcs l.a t.o; nm l.a | grep ' T '; strip t; ./t || echo "stripped $?"
