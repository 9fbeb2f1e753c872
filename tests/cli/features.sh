#!/bin/bash
# Every fallback: with each feature of the host switched off, a job of processes, threads, signals and files gives the same.
. "$(dirname "$0")/lib.sh"
cat >job.py <<'X'
import os, signal, subprocess, threading, time
print(subprocess.run(["sh", "-c", "echo a | tr a b; exit 3"], capture_output=True))
hits = []
signal.signal(signal.SIGALRM, lambda *a: hits.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01)
while not hits:
    pass
ts = [threading.Thread(target=lambda: time.sleep(0.01)) for _ in range(8)]
[t.start() for t in ts]
[t.join() for t in ts]
open("big", "wb").write(os.urandom(1 << 20) + b"x" * 300000)
print(os.path.getsize("big"), len(open("big", "rb").read()))
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGKILL)
print(os.waitpid(pid, 0)[1], hits)
X
want=$(/usr/bin/python3 job.py)
for f in none landlock waitkill syncwake vmread vdso fsgsbase spin landlock,-vmread,-spin,-waitkill; do
	WARD_FEATURES=-$f run run --copy-in job.py:/job.py -- /usr/bin/python3 /job.py
	is "features: without $f" "$rc $out" "0 $want"
done
