#!/bin/sh
# `make demo`: installs what is missing, builds, runs a job on real input in the sandbox and shows what the sandbox
# keeps away from it. Exits 0 only if every step came out as it should.
set -u
cd "$(dirname "$0")/../.." || exit 1
demo=tests/demo

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'demo: FAILED: %s\n' "$*" >&2; exit 1; }

# What the build and the job need, as Debian packages: package, then a file that shows it is there.
missing=
need() { [ -e "$2" ] || missing="$missing $1"; }
need gcc /usr/bin/gcc
need make /usr/bin/make
need libc6-dev /usr/include/stdio.h
need linux-libc-dev /usr/include/linux/seccomp.h
need libseccomp-dev /usr/include/seccomp.h
need libjansson-dev /usr/include/jansson.h
need python3 /usr/bin/python3
if [ -n "$missing" ]; then
	line="apt-get install -y --no-install-recommends$missing"
	if [ "$(id -u)" -ne 0 ]; then
		printf 'demo: packages are missing. As root, run:\n\n  %s\n\nand then `make demo` again.\n' "$line" >&2
		exit 1
	fi
	say "installing:$missing"
	apt-get update -q >/dev/null || fail "apt-get update"
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive $line >/dev/null || fail "$line"
fi

say "building"
make -s -j"$(nproc)" all >/dev/null || fail "the build"
ward=$PWD/build/ward
"$ward" version

work=$(mktemp -d /tmp/ward-demo.XXXXXX) || fail "no temporary directory"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

say "a Python program totals transactions; one merchant's name is an attempted injection"
grep -n 'os.system' $demo/transactions.csv
set -- --copy-in $demo/transactions.csv:/in/transactions.csv --copy-in $demo/report.py:/in/report.py
"$ward" run "$@" --copy-out /out/totals.txt:"$work/totals.txt" --report "$work/report.json" -- \
	/usr/bin/python3 /in/report.py || fail "the report ended with $?"
cat "$work/totals.txt" || fail "no result was copied out"
grep -q 'total, 1 damaged' "$work/totals.txt" || fail "the result is not complete"
/usr/bin/python3 - "$work/report.json" <<'PY' || fail "the end record"
import json, sys
r = json.load(open(sys.argv[1]))
print(f"end record: {r['outcome']} {r['code']}, {r['calls']} system calls, all served by ward; "
      f"{r['wall_seconds'] * 1e3:.0f} ms, peak memory {r['peak_memory_bytes'] >> 20} MiB")
sys.exit(r["outcome"] != "exited" or r["code"] != 0)
PY

say "a hostile program looks for a file and a variable of the host, and for the network"
echo "the host's secret" >"$work/secret"
grep -q secret "$work/secret" || fail "the control: the host's file is not readable outside either"
WARD_DEMO_TOKEN=the-hosts-token "$ward" run --copy-in $demo/hostile.py:/in/hostile.py -- \
	/usr/bin/python3 /in/hostile.py "$work/secret" WARD_DEMO_TOKEN || fail "something of the host was reached"

say "an endless loop, --time 1"
"$ward" run --time 1 -- /usr/bin/python3 -c 'while True: pass'
code=$?
echo "exit code $code"
[ $code -eq 124 ] || fail "expected exit code 124"

say "how long a start takes (median of 21)"
/usr/bin/python3 - "$ward" <<'PY' || fail "measuring the start"
import statistics, subprocess, sys, time

def median(cmd):
    took = []
    for _ in range(21):
        t = time.perf_counter()
        subprocess.run(cmd, stdin=subprocess.DEVNULL, check=True)
        took.append((time.perf_counter() - t) * 1e3)
    return statistics.median(took)

for cmd in (["/bin/true"], ["/usr/bin/python3", "-c", "pass"]):
    print(f"  {' '.join(cmd):26} native {median(cmd):6.1f} ms   ward {median([sys.argv[1], 'run', '--', *cmd]):6.1f} ms")
PY
say "demo: all as it should be"
