#!/bin/bash
# --disk, --memory, --pids, --time where they bite.
. "$(dirname "$0")/lib.sh"
run run --disk 4M -- sh -c 'yes | head -c 8000000 >/tmp/x; stat -c %s /tmp/x'
is "disk: full at the limit" "$out $(grep -c 'No space' .err)" "4194304 1"
run run --disk 4M -- sh -c 'head -c 3000000 /dev/zero >/tmp/x && head -c 3000000 /dev/zero >/dev/shm/y; echo $?
	rm /tmp/x; head -c 3000000 /dev/zero >/dev/shm/y; echo $?'
is "disk: /dev/shm takes from the same" "$(echo $out)" "1 0"
run run --disk 4M -- sh -c 'i=0; while head -c 1000000 /dev/zero >/tmp/x && [ $i -lt 20 ]; do rm /tmp/x; i=$((i+1)); done; echo $i'
is "disk: removed files give back" "$out" 20
run run --disk 4M -- sh -c 'cp /usr/bin/python3 /usr/bin/x1 && echo a >>/usr/bin/x1; for i in 2 3 4 5; do cp -L /usr/bin/python3 /usr/bin/x$i || exit 5; done'
is "disk: the root's writable layer" "$rc" 5
head -c 5000000 /dev/zero >big
refused "disk: copy-in beyond it" run --disk 4M --copy-in big:/tmp/big -- true
run run --disk 4M -- /usr/bin/python3 -c '
import mmap, os
fd = os.open("/tmp/m", os.O_RDWR | os.O_CREAT)
try:
    os.posix_fallocate(fd, 0, 8 << 20); print("no")
except OSError as e: print(e.errno)'
is "disk: fallocate" "$out" 28
run run --pids 5 -- /usr/bin/python3 -c '
import os, time
n = 0
try:
    while n < 50:
        if os.fork() == 0: time.sleep(20)
        n += 1
except OSError as e: print(n, e.errno)'
is "pids: fork" "$rc $out" "0 4 11"
run run --pids 5 -- /usr/bin/python3 -c '
import threading, time
n = 0
try:
    while n < 50:
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start(); n += 1
except RuntimeError: print(n)'
is "pids: threads" "$rc $out" "0 4"
run run --pids 1 -- sh -c 'echo x; exit 3'; is "pids: one" "$rc $out" "3 x"
run run --pids 8 -- bash -c ':(){ :|:& }; : 2>/dev/null; sleep 0.3; exit 4'; is "pids: a fork bomb" $rc 4
run run --memory 64M -- /usr/bin/python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p
n = 0
while n < 1000 and libc.sbrk(ctypes.c_long(1 << 20)) != ctypes.c_void_p(-1).value: n += 1
print(ctypes.get_errno(), 10 < n < 64)'
is "memory: brk" "$out" "12 True"
run run --memory 64M -- sh -c '/usr/bin/python3 -c "x = bytearray(200 << 20)" 2>/dev/null; echo $?; /usr/bin/python3 -c "x = bytearray(30 << 20); print(len(x))"'
is "memory: given back by the dead" "$(echo $out)" "1 31457280"
s=$(date +%s%N)
run run --time 0.5 -- /usr/bin/python3 -c 'while True: pass'
t=$((($(date +%s%N) - s) / 1000000))
if [ $rc = 124 ] && [ $t -ge 500 ] && [ $t -lt 4000 ]; then ok "time: a busy loop"; else bad "time: a busy loop" "code $rc after $t ms"; fi
run run --time 20 -- sh -c 'exit 2'; is "time: not reached" "$rc$err" 2
