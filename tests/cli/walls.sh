#!/bin/bash
# ward confinement, and the command as an ordinary user.
. "$(dirname "$0")/lib.sh"
run confinement --json
is "json" "$(/usr/bin/python3 -c '
import json; d = json.load(open(".out"))
print(len(d["stub_calls"]), len(d["sentry_calls"]), len(d["helper_calls"]), d["no_new_privs"], d["call_filter"], d["landlock"] == (d["landlock_abi"] > 0))')" \
	"$(grep -c '^RULE(' "$top/sentry/platform/trap/filter_rules.def") $(grep -c '^CALL' "$top/sentry/platform/confine_rules.def") $(grep -c '^CALL' "$top/sentry/platform/confine_helper.def") True True True"
run confinement
is "text: a row of each filter" "$(grep -c 'getppid.*doorbell\|process_vm_readv.*guest memory\|renameat2.*takes its name' .out)" 3
case $(id -u) in 0) caps=CAP_DAC_READ_SEARCH ;; *) caps=none ;; esac
is "capabilities" "$(sed -n 's/^  capabilities *\([^;]*\);.*/\1/p' .out)" $caps
WARD_FEATURES=-landlock run confinement
is "Landlock missing is said" "$(grep -c 'Landlock *MISSING' .out)" 1
# the running sentry and stub have what is promised
"$WARD" run -- sh -c 'echo ready; sleep 20' >s.out 2>&1 & p=$!
await grep -q ready s.out
s=$(cat /proc/$p/task/$p/children)
s=${s%% *}
is "sentry: filter, no_new_privs" "$(awk '/^(NoNewPrivs|Seccomp):/ { printf "%s ", $2 }' /proc/$s/status)" "1 2 "
for c in $(cat /proc/$s/task/*/children); do
	is "stub: filter, no_new_privs, no capability" "$(awk '/^(NoNewPrivs|Seccomp|CapEff|CapPrm):/ { printf "%s ", $2 }' /proc/$c/status)" \
		"0000000000000000 0000000000000000 1 2 "
done
kill -9 $p; wait $p 2>/dev/null
[ "$(id -u)" = 0 ] || exit
chmod 777 "$T"
u() { rm -f .out .err; timeout 20 setpriv --reuid 65534 --regid 65534 --clear-groups env XDG_RUNTIME_DIR="$T/u" "$WARD" "$@" >.uout 2>.uerr </dev/null; rc=$?; out=$(cat .uout); }
mkdir -m 700 u; chown 65534 u
u run -- sh -c 'id -u; echo x >/tmp/f; cat /tmp/f'; is "uid 65534: run" "$rc $(echo $out)" "0 0 x"
u run --report ur.json --copy-out /etc/hostname:uo -- true; is "uid 65534: report, copy-out" "$rc $(cat uo) $(stat -c %u uo ur.json | tr '\n' ' ')" "0 ward 65534 65534 "
u run --detach --name n -- sleep 20; u exec n -- echo hi; is "uid 65534: exec" "$rc $out" "0 hi"
run ps; is "root's list does not show it" "$(wc -l <.out)" 1
u rm -f n; is "uid 65534: rm -f" $rc 0
u confinement; is "uid 65534: capabilities" "$(sed -n 's/^  capabilities *\([^;]*\);.*/\1/p' .uout)" none
echo secret >sec; chmod 600 sec
u run --copy-in sec:/s -- true; is "uid 65534: copy-in of a file of others" "$rc $(wc -l <.uerr)" "125 1"
mkdir -m 755 ro; u run --copy-out /etc/hostname:ro/x -- true; is "uid 65534: destination not writable" "$rc $(wc -l <.uerr)" "125 1"
