#!/bin/bash
# No process stays when the monitor or the sentry is killed at any moment.
. "$(dirname "$0")/lib.sh"
tree() { # PID: it and all below it
	local c
	echo "$1"
	for c in $(cat /proc/$1/task/*/children 2>/dev/null); do tree "$c"; done
}
gone() { local p; for p in "$@"; do [ ! -e "/proc/$p" ] || [ "$(awk '{ print $3 }' /proc/$p/stat 2>/dev/null)" = Z ] || return 1; done; }
work='for i in 1 2 3; do (while :; do /bin/true; done) & done; sleep 30 | cat'
mkdir b
for who in monitor sentry; do
	bad_rounds=
	for i in $(seq 20); do
		"$WARD" run --bind "$T/b:/b:rw" --copy-out /etc/hostname:o -- sh -c "$work" >/dev/null 2>&1 &
		p=$!
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		if [ $who = monitor ]; then victim=$p; else victim=$(pgrep -P $p -f . | tail -n 1); fi
		all=$(tree $p)
		kill -9 ${victim:-$p} 2>/dev/null
		[ $who = monitor ] || [ -n "$victim" ] || kill -9 $p
		disown $p 2>/dev/null
		await gone $all || bad_rounds+=" $i: $(ps -o pid,ppid,stat,args $all | tail -n +2)"
	done
	if [ -z "$bad_rounds" ]; then ok "20 times kill -9 of the $who"; else bad "kill -9 of the $who" "$bad_rounds"; fi
done
"$WARD" run --detach --name d -- sh -c "$work"
m=$("$WARD" ps --json | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
all=$(tree $m)
kill -9 $m
eventually "detached: nothing stays" gone $all
run ps; is "detached: no record stays" "$(wc -l <.out)" 1
refused "detached: exec" exec d -- true
run run --detach --name d -- sleep 30; is "detached: the name is free" $rc 0
"$WARD" wait d 2>w.err & w=$!
sleep 0.1
m=$("$WARD" ps --json | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
kill -9 $(cat /proc/$m/task/$m/children)
wait $w; is "detached: the sentry's death is told" "$? $(wc -l <w.err)" "125 1"
"$WARD" rm d
