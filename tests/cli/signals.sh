#!/bin/bash
# Signals sent to the command reach the program.
. "$(dirname "$0")/lib.sh"
for s in TERM USR1 USR2 HUP QUIT INT; do
	( # a background job of a script ignores INT and QUIT; ward must take them all the same
	exec "$WARD" run -- bash -c "trap 'echo got $s; exit 9' $s; echo ready; while :; do sleep 0.05; done" >$s.out 2>&1 ) &
	p=$!
	await grep -q ready $s.out
	kill -$s $p
	wait $p
	is "SIG$s" "$? $(tail -n 1 $s.out)" "9 got $s"
done
"$WARD" run -- bash -c 'echo ready; sleep 30' >d.out 2>&1 &
p=$!
await grep -q ready d.out; kill -TERM $p; wait $p
is "default action of SIGTERM" $? 143
run run -- sh -c 'echo a; (sleep 30 >/dev/null 2>&1 &) ; exit 3'
is "the end of process 1 ends the rest" "$rc $out" "3 a"
echo some input | timeout 5 "$WARD" run -- cat >c.out; is "stdin from a pipe" "$? $(cat c.out)" "0 some input"
timeout 5 "$WARD" run -- sh -c 'echo to out; echo to err >&2' >o 2>e; is "stdout and stderr apart" "$(cat o)/$(cat e)" "to out/to err"
timeout 5 "$WARD" run -- true <&- ; is "closed stdin" $? 0
timeout 10 "$WARD" run -- yes 2>y.err | head -n 1 >/dev/null; is "a reader that goes away" "${PIPESTATUS[0]}" 141
