#!/bin/bash
# Every header compiles alone, so that none depends on what its user happened to include before.
cd "$(dirname "$0")/../.." || exit 2
CC=${CC:-gcc}
B=${B:-build/rel-gcc}
bad=0
for h in $(find sentry syscalls fs net loader tests/lib -name '*.h' 2>/dev/null | sort); do
	flags=
	case $h in */stub/*) flags="-ffreestanding -mgeneral-regs-only" ;; esac
	out=$(echo "#include \"$h\"" | $CC -I. -I"$B/gen" -D_GNU_SOURCE -std=gnu17 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare $flags -Werror -Wno-unused-function \
		-fsyntax-only -x c - 2>&1) || { echo "$h: does not compile alone"; echo "$out" | head -3; bad=1; }
done
[ $bad = 0 ] && echo "every header compiles alone"
exit $bad
