#!/bin/bash
# Detached sandboxes: run --detach, ps, exec, wait, kill, rm.
. "$(dirname "$0")/lib.sh"
run run --detach --name one -- sleep 60; is "detach" "$rc$err" 0
refused "name taken" run --detach --name one -- true
refused "name taken, in the foreground" run --name one -- true
run ps; is "ps" "$(awk 'NR == 2 { print $1, $2, $NF }' .out)" "one running sleep"
run ps --json; is "ps --json" "$(/usr/bin/python3 -c '
import json; d = json.load(open(".out")); print(len(d), d[0]["name"], d[0]["state"], d[0]["program"], d[0]["pid"] > 1)')" "1 one running sleep True"
is "socket mode" "$(stat -c '%a %F' "$XDG_RUNTIME_DIR/ward/one.sock")" "600 socket"
is "directory mode" "$(stat -c %a "$XDG_RUNTIME_DIR/ward")" 700
run exec one -- sh -c 'echo kept >/tmp/f; exit 9'; is "exec: code" $rc 9
run exec one -- cat /tmp/f; is "exec: files stay" "$rc $out" "0 kept"
run exec one -- sh -c 'kill -9 $$'; is "exec: signal" "$rc $(wc -l <.err)" "137 1"
run exec one -- /nonexistent; is "exec: missing program" "$rc $(wc -l <.err)" "127 1"
run exec one -- /etc/passwd; is "exec: not executable" "$rc $(wc -l <.err)" "126 1"
refused "exec: missing directory" exec --cwd /nonexistent one -- true
refused "exec: bad option" exec --bogus one -- true
run exec --env A=b --cwd /tmp --user 7:8 one -- sh -c 'echo $A; pwd; id -u; id -g'; is "exec: options" "$(echo $out)" "b /tmp 7 8"
run exec one -- sh -c 'ps ax 2>/dev/null | grep -c "[s]leep 60" || grep -l sleep /proc/*/comm'; is "exec: sees process 1" $rc 0
echo data | timeout 5 "$WARD" exec one -- cat >c.out; is "exec: stdin" "$? $(cat c.out)" "0 data"
"$WARD" exec one -- bash -c 'trap "echo got; exit 4" TERM; echo ready; while :; do sleep 0.05; done' >t.out 2>&1 &
p=$!; await grep -q ready t.out; kill $p; wait $p; is "exec: SIGTERM is forwarded" "$? $(tail -n 1 t.out)" "4 got"
for i in 1 2 3 4 5 6; do "$WARD" exec one -- sh -c "sleep 0.2; exit $i" & pids[i]=$!; done
codes=; for i in 1 2 3 4 5 6; do wait ${pids[i]}; codes+=$?; done; is "exec: six at a time" $codes 123456
"$WARD" exec one -- sleep 30 2>x.err & p=$!
sleep 0.2; kill -9 $p; eventually "exec: who asked dies, its program too" sh -c "! $WARD exec one -- sh -c 'cat /proc/[0-9]*/cmdline' | tr '\\0' ' ' | grep -q 'sleep 30 '"
refused "rm of a running one" rm one
"$WARD" wait one 2>w.err & w=$!
"$WARD" exec one -- sleep 30 2>x.err & p=$!
sleep 0.2
run kill one TERM; is "kill TERM" "$rc$err" 0
wait $w; is "wait: code" "$? $(wc -l <w.err)" "143 1"
wait $p; is "exec of an ending sandbox" $? 137
run ps; is "ps: finished" "$(awk 'NR == 2 { print $1, $2 }' .out)" "one finished"
refused "exec in a finished one" exec one -- true
refused "kill of a finished one" kill one
run wait one; is "wait again" $rc 143
run rm one; is "rm" $rc 0
refused "rm twice" rm one
run run --detach --name one -- sh -c 'exit 6'; run wait one; is "name free again; wait" $rc 6
run rm one
run run --detach --name two --report two.json -- sleep 60; run kill two; run wait two
is "kill" "$rc $(field two.json outcome) $(field two.json name)" "137 killed two"
run rm two
run run --detach --name bad -- /nonexistent; is "detach of a missing program" "$rc $(wc -l <.err)" "127 1"
run ps; is "which leaves no record" "$(wc -l <.out)" 1
run run --detach --name tl --time 0.3 -- sleep 60; run wait tl; is "detach --time" $rc 124
run run --detach --name fo -- sleep 60; run rm -f fo; is "rm -f" $rc 0
run ps; is "only the finished one is left" "$(awk 'NR > 1 { print $1 }' .out)" tl
"$WARD" run --name fg -- sleep 60 2>fg.err & p=$!
await "$WARD" exec fg -- true; run exec fg -- echo hi; is "exec in a foreground one" "$rc $out" "0 hi"
run kill fg; wait $p; is "kill of a foreground one" $? 137
