"""What Python programs do with the kernel, part by part; every line printed is the same on every run."""
import concurrent.futures
import csv
import ctypes
import hashlib
import io
import json
import mmap
import multiprocessing
import os
import pathlib
import pickle
import queue
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib


def square(n):
    return n * n


def child(q, i):
    q.put((i, sum(range(i * 1000))))


def processes():
    r = subprocess.run(["sh", "-c", "cat; echo err >&2; exit 3"], input=b"fed\n", capture_output=True)
    print(r.returncode, r.stdout, r.stderr)
    print(subprocess.check_output("echo $((1+1)) | tr 2 3", shell=True, text=True).strip())
    try:
        subprocess.run(["sleep", "5"], timeout=0.2)
    except subprocess.TimeoutExpired:
        print("timeout")
    p = subprocess.Popen(["sleep", "5"])
    p.terminate()
    print("terminated", p.wait())
    try:
        subprocess.run(["/no/such"])
    except FileNotFoundError as e:
        print("missing", e.errno)
    pid = os.fork()
    if pid == 0:
        os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def threads():
    q, out, lock = queue.Queue(), [], threading.Lock()

    def worker():
        while (n := q.get()) is not None:
            with lock:
                out.append(n * 2)

    ts = [threading.Thread(target=worker) for _ in range(8)]
    for t in ts:
        t.start()
    for i in range(500):
        q.put(i)
    for _ in ts:
        q.put(None)
    for t in ts:
        t.join()
    print(sum(out), len(out))
    ev = threading.Event()
    threading.Timer(0.05, ev.set).start()
    print(ev.wait(5), ev.is_set(), threading.Event().wait(0.01))
    with concurrent.futures.ThreadPoolExecutor(4) as ex:
        print(list(ex.map(square, range(10))))


def many_processes():
    with multiprocessing.Pool(3) as pool:
        print(pool.map(square, range(20)))
    mq = multiprocessing.Queue()
    ps = [multiprocessing.Process(target=child, args=(mq, i)) for i in range(4)]
    for p in ps:
        p.start()
    print(sorted(mq.get() for _ in ps))
    for p in ps:
        p.join()
    print([p.exitcode for p in ps])
    v = multiprocessing.Value("i", 0)

    def add():
        for _ in range(100):
            with v.get_lock():
                v.value += 1

    ps = [multiprocessing.Process(target=add) for _ in range(3)]
    for p in ps:
        p.start()
    for p in ps:
        p.join()
    print(v.value)


def databases(d):
    for mode in ("delete", "wal"):
        db = sqlite3.connect(os.path.join(d, mode + ".db"))
        print(db.execute("pragma journal_mode=" + mode).fetchone())
        db.execute("create table t(id integer primary key, name text, v real)")
        with db:
            db.executemany("insert into t(name, v) values(?, ?)", ((f"n{i % 7}", i / 3) for i in range(2000)))
        print(db.execute("select name, count(*), round(sum(v), 3) from t group by name order by name").fetchall())
        try:
            with db:
                db.execute("insert into t(id) values(1)")
        except sqlite3.IntegrityError as e:
            print(e)
        db.execute("vacuum")
        db.close()


def files(d):
    f = pathlib.Path(d) / "m"
    f.write_bytes(b"\0" * 8192)
    with open(f, "r+b") as fh, mmap.mmap(fh.fileno(), 0) as m:
        m[4096:4101] = b"hello"
    print(f.read_bytes()[4096:4101], f.stat().st_size)
    with zipfile.ZipFile(os.path.join(d, "z.zip"), "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("in.txt", "text " * 100)
    print(zipfile.ZipFile(os.path.join(d, "z.zip")).read("in.txt")[:9])
    print(sorted(os.listdir(d)))
    print(list(csv.reader(io.StringIO('a,"b,c",d\n'))))


def events():
    hits = []
    signal.signal(signal.SIGALRM, lambda s, f: hits.append(s))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    time.sleep(0.1)
    print(hits == [signal.SIGALRM])
    print(ctypes.CDLL(None).abs(-5), pickle.loads(pickle.dumps({1: (2, 3)})))


def main():
    print(sys.version_info[:2], sys.executable)
    print(json.dumps({"a": [1, 2.5, None, True], "u": "é"}, ensure_ascii=False))
    print(hashlib.sha256(b"x" * 100000).hexdigest(), zlib.crc32(b"abc"))
    processes()
    threads()
    many_processes()
    d = tempfile.mkdtemp()
    databases(d)
    files(d)
    shutil.rmtree(d)
    print(os.path.exists(d))
    events()
    sys.exit(4)


if __name__ == "__main__":
    main()
