#!/bin/bash
# Wrong options and values: one line, code 125, and nothing is run.
. "$(dirname "$0")/lib.sh"
r() { refused "refused: $*" run "$@" -- touch /tmp/ran; }
r --bogus; r -x; r --pi=; r --time x; r --time -1; r --time 0; r --time 1e99; r --time nan
r --memory 12Q; r --memory 0; r --memory -5; r --memory 99999999999999999999; r --disk abc; r --disk ''
r --pids 0; r --pids x; r --pids 5.5; r --user a; r --user 1:; r --user -1; r --user 4294967295
r --rootfs /nonexistent; r --rootfs /etc/passwd; r --bind /nonexistent:/x; r --bind /usr:rel; r --bind /usr; r --bind /usr:/a/../b
r --copy-in /nonexistent:/x; r --copy-in foo; r --copy-in /etc/passwd:x; r --copy-out x:y; r --copy-out /x:/nonexistent/y/z
r --cwd rel; r --cwd /nonexistent; r --env X; r --env =y; r --hostname 'a b'; r --platform kvm; r --platform ptrace
r --name ../x; r --name ''; r --trace=bogus; r -o /nonexistent/x; r --report /nonexistent/r; r --detach; r --detach --name n -t
refused "value missing" run --time
refused "no program" run
refused "no such command" frobnicate
refused "ps with an argument" ps x
refused "exec without a name" exec
refused "exec: no such sandbox" exec nope -- true
refused "wait: no such sandbox" wait nope
refused "kill: no such sandbox" kill nope
refused "kill: no such signal" kill nope BLAH
refused "kill: signal out of range" kill nope 65
refused "rm without a name" rm
refused "a newline in a name stays one line" run --rootfs $'/no\nsuch' -- true
refused "an escape sequence is not passed on" run --copy-in $'/no\e[2Jsuch:/x' -- true
case $err in *$'\e'*) bad "no escape in the message" "$err" ;; *) ok "no escape in the message" ;; esac
run; is "no command: code" $rc 125
for p in auto trap; do run run --platform $p -- echo hi; is "--platform $p" "$rc $out" "0 hi"; done
run run --help; is "--help" "$rc ${out%% run *}" "0 usage: ward"
run run -- /nonexistent; is "missing program" "$rc $(wc -l <.err)" "127 1"
run run -- no-such-program-anywhere; is "missing program, by PATH" "$rc $(wc -l <.err)" "127 1"
run run -- $'no\nsuch'; is "missing program with a newline" "$rc $(wc -l <.err)" "127 1"
run run -- /etc/passwd; is "not executable" "$rc $(wc -l <.err)" "126 1"
run run -- /usr; is "a directory" "$rc $(wc -l <.err)" "126 1"
run run --env A=1 --env A=2 --env HOME=/h -- sh -c 'echo $A $HOME'; is "--env: the last one wins" "$out" "2 /h"
HOSTVAR=secret run run -- env; is "environment" "$(cut -d= -f1 .out | sort | tr '\n' ' ')" "HOME LANG PATH TERM "
run run --hostname box --user 1000:1001 --cwd /tmp -- sh -c 'hostname; id -u; id -g; pwd; echo $HOME; echo x >x && stat -c %u x'
is "--hostname --user --cwd" "$(echo $out)" "box 1000 1001 /tmp /home/user 1000"
