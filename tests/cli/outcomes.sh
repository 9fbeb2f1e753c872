#!/bin/bash
# --report: each of the seven outcomes, once, with the code of the command.
. "$(dirname "$0")/lib.sh"
outcome() { # NAME CODE ARGS...
	local want=$1 code=$2
	shift 2
	rm -f r.json
	run run --report r.json "$@"
	is "$want: code" "$rc" "$code"
	is "$want: report" "$(field r.json outcome) $(field r.json exit_code)" "$want $code"
}
hungry='
x = []
try:
    while True: x.append(bytearray(1 << 20))
except MemoryError:
    n = len(x); x = None
    print("refused", 10 < n < 64)'
outcome exited 0 -- true
outcome exited 7 -- sh -c 'exit 7'
outcome signaled 139 -- sh -c 'kill -SEGV $$'
outcome signaled 143 -- sh -c 'kill $$'
is "signaled: one line" "$(wc -l <.err)" 1
outcome timed_out 124 --time 0.3 -- sh -c 'trap "" TERM INT; sleep 20 & while :; do :; done'
is "timed_out: one line" "$(grep -c 'time limit of 0.3 s' .err)/$(wc -l <.err)" 1/1
outcome never_started 127 -- /nonexistent
outcome never_started 126 -- /etc/passwd
outcome never_started 125 --cwd /nonexistent -- true
outcome never_started 126 --memory 1K -- true
outcome exited 0 --memory 64M -- /usr/bin/python3 -c "$hungry"
is "memory refused: the program sees it" "$out" "refused True"
if [ "$(field r.json memory_refusals)" -gt 0 ]; then ok "memory refused: counted"; else bad "memory refused: counted" "$(cat r.json)"; fi
peak=$(field r.json peak_memory_bytes)
if [ "$peak" -gt 30000000 ] && [ "$peak" -le 67108864 ]; then ok "peak within the limit"; else bad "peak within the limit" "$peak"; fi
outcome out_of_memory 134 --memory 64M -- /usr/bin/python3 -c "$hungry; __import__('os').abort()"
is "out_of_memory: one line" "$(grep -c -e --memory .err)" 1
outcome exited 0 --memory 64M -- /usr/bin/python3 -c '
import mmap
m = []
try:
    while True: m.append(mmap.mmap(-1, 4 << 20))
except OSError as e: print(e.errno)'
is "memory refused: shared mappings" "$out" 12
outcome signaled 134 --memory 256M -- /usr/bin/python3 -c 'import os; os.abort()'

# killed and sandbox_lost come from outside
"$WARD" run --report k.json -- sh -c 'trap "echo got" INT; while :; do sleep 0.05; done' >k.out 2>k.err &
p=$!
await grep -q . "/proc/$p/task/$p/children" && sleep 0.3
kill -INT $p; await grep -q got k.out; kill -INT $p
wait $p; is "killed: code" $? 137
is "killed: report" "$(field k.json outcome)" killed
is "killed: the first interrupt went to the program" "$(grep -c got k.out)" 1
"$WARD" run --report l.json -- sleep 30 2>l.err &
p=$!
await grep -q . "/proc/$p/task/$p/children"; sleep 0.2
kill -KILL $(cat "/proc/$p/task/$p/children")
wait $p; is "sandbox_lost: code" $? 125
is "sandbox_lost: report" "$(field l.json outcome)" sandbox_lost
is "sandbox_lost: one line" "$(wc -l <l.err)" 1
for f in k.json l.json r.json; do
	/usr/bin/python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
for k in "outcome code exit_code start_time wall_seconds boot_seconds cpu_seconds peak_memory_bytes calls processes".split(): d[k]' $f &&
		ok "report is JSON with every field: $f" || bad "report is JSON: $f" "$(cat $f)"
done
