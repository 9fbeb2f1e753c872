#!/bin/bash
# Pipelines, subshells, traps, here-documents, background jobs, substitution.
# exits with 5
set -u
seq 1 1000 | grep 7 | sort -rn | head -5 | tr '\n' ' '; echo
(cd /usr; pwd; (exit 3); echo "sub $?"); pwd | sed 's,.*,here,'
cat <<EOF | tr a-z A-Z
here document with $((6 * 7)) and $(echo nested $(echo deeper))
EOF
cat <<<"here string"
trap 'echo "trap USR1"' USR1
trap 'echo "trap EXIT $?"' EXIT
kill -USR1 $$
f() { local x=$1; [ "$x" -le 1 ] && echo 1 || echo $((x * $(f $((x - 1))))); }
f 8
diff <(printf 'a\nb\n') <(printf 'a\nc\n'); echo "diff $?"
sleep 0.1 & p=$!; wait $p; echo "wait $?"
sh -c 'kill -9 $$'; echo "killed $?"
sh -c 'exit 41' & wait $!; echo "background $?"
set -o pipefail; false | true; echo "pipefail $?"; yes | head -3
declare -A m=([one]=1 [two]=2); for k in one two; do echo "$k=${m[$k]}"; done
mapfile -t lines < <(printf '%s\n' x y z); echo "${#lines[@]} ${lines[2]}"
coproc CAT { cat; }
echo through >&"${CAT[1]}"; read -r back <&"${CAT[0]}"; echo "$back"; kill "$CAT_PID"; wait "$CAT_PID" 2>/dev/null
exec 5>out.txt; echo to-five >&5; exec 5>&-; cat out.txt
for i in 1 2 3; do echo $i; done | while read -r n; do echo "n$n"; done
timeout 0.2 sleep 5; echo "timeout $?"
[ -t 0 ]; echo "tty $?"
echo "umask $(umask)"
printf '%s\n' */ *.sh | sort
exit 5
