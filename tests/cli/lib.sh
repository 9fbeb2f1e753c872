# Sourced by the tests of the command line: $WARD is the binary; each check prints "ok NAME" or "FAIL NAME: why".
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
T=$(mktemp -d "${TMPDIR:-/tmp}/ward-cli.XXXXXX")
chmod 755 "$T"
cd "$T" || exit 1
# sockets of detached sandboxes go to a directory of this test's own
XDG_RUNTIME_DIR=$(mktemp -d /tmp/wcli.XXXXXX)
export XDG_RUNTIME_DIR
failed=0
finish() {
	local n
	for n in $("$WARD" ps | awk 'NR > 1 { print $1 }'); do "$WARD" rm -f "$n"; done
	cd /
	chmod -R u+rwX "$T"
	rm -rf "$T" "$XDG_RUNTIME_DIR"
	exit $failed
}
trap finish EXIT

ok() { echo "ok $1"; }
bad() { echo "FAIL $1: $2"; failed=1; }
# is NAME GOT WANTED
is() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "got '$2', wanted '$3'"; fi; }
# holds NAME CMD...: the command succeeds
holds() { local n=$1; shift; if "$@" >/dev/null 2>&1; then ok "$n"; else bad "$n" "$*"; fi; }
# run CODE ARGS...: runs ward; its output is in $out, stderr in $err; sets $rc
run() {
	timeout -k 1 20 "$WARD" "$@" >"$T/.out" 2>"$T/.err" </dev/null
	rc=$?
	out=$(cat "$T/.out") err=$(cat "$T/.err")
}
# refused NAME ARGS...: exactly one line on stderr and exit code 125
refused() {
	local n=$1
	shift
	run "$@"
	if [ $rc = 125 ] && [ "$(wc -l <"$T/.err")" = 1 ] && [[ $err == "ward: "* ]] && [ -z "$out" ]; then
		ok "$n"
	else
		bad "$n" "code $rc, stderr '$err', stdout '$out'"
	fi
}
field() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; }
# eventually NAME CMD...: true within 5 seconds
eventually() {
	local n=$1 i
	shift
	for i in $(seq 100); do
		if "$@" >/dev/null 2>&1; then ok "$n"; return; fi
		sleep 0.05
	done
	bad "$n" "not within 5 s: $*"
}
await() { local i; for i in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.02; done; return 1; }
