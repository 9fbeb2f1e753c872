#!/bin/bash
# Dependencies point one way: base <- mm, task, signal, platform ... <- fs, net <- syscalls; only the boot and command-line
# code sees all. Reads the #include lines; exits 1 and names the lines that point upward.
cd "$(dirname "$0")/../.." || exit 2
bad=0
# forbid "files" "include pattern" "exceptions (pattern of files)" why
forbid() {
	local hits
	hits=$(grep -nE "^#include \"($2)" -r $1 --include='*.[ch]' 2>/dev/null | grep -vE "^($3):")
	[ -z "$hits" ] && return
	echo "$4:"
	echo "$hits"
	bad=1
}
forbid "sentry/base" "(sentry/(mm|task|signal|platform|futex|time|trace|cli|boot|kernel|loop|fiber|wait)|fs/|net/|loader/|syscalls/)" - "base depends on nothing"
forbid "sentry/platform" "(sentry/(mm|task|signal|futex|cli)/|fs/|net/|loader/)" - "the platform knows no kernel object"
forbid "sentry/platform/trap/stub" "(sentry/(base/host|base/log|mm|task|loop|fiber|wait)|fs/)" - "the stub is freestanding"
forbid "sentry/mm sentry/task sentry/signal sentry/futex sentry/time" "(syscalls/[^dt]|net/|sentry/cli/)" - "the core does not know the handlers"
forbid "fs net loader" "sentry/cli/|sentry/boot" - "subsystems do not know the command line"
forbid "sentry/base sentry/mm sentry/task sentry/signal sentry/futex sentry/time sentry/trace fs net loader" "tests/|bench/" - "no test code in the product"
[ $bad = 0 ] && echo "dependencies point one way"
exit $bad
