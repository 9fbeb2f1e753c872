#!/usr/bin/python3
"""Runs the measuring programs natively, in ward and in the peers that are installed, interleaved, and prints medians.

Interleaved: every round runs each contestant once, so that a slow minute of the machine hits all of them. The figure
of a row is the median over the rounds; the spread printed in the JSON is (highest - lowest) / median.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def contestants(ward, bins):
    """Name -> (prefix of the command, folder of the programs inside, additional environment)."""
    inside = [ward, "run", "--bind", f"{bins}:/bench", "--"]
    out = {
        "native": ([], bins, {}),
        "ward": (inside, "/bench", {}),
        "ward-nospin": (inside, "/bench", {"WARD_FEATURES": "-spin"}),
    }
    if shutil.which("runsc"):
        for plat in ("systrap", "ptrace"):
            base = ["runsc"] + ([] if os.geteuid() == 0 else ["--rootless"])
            out[f"runsc-{plat}"] = (base + ["--network=none", "--ignore-cgroups", f"--platform={plat}", "do"], bins, {})
    if shutil.which("proot"):
        out["proot"] = (["proot", "-r", "/"], bins, {})
    if shutil.which("bwrap"):
        out["bwrap"] = (["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"], bins, {})
    return out


def call(cmd, env, timeout):
    return subprocess.run(cmd, env={**os.environ, **env}, timeout=timeout, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def usable(found):
    """Keeps who can run `true` here, and says who cannot and why."""
    good = {}
    for name, (prefix, folder, env) in found.items():
        try:
            r = call(prefix + [f"{folder}/true-static"], env, 30)
            why = r.stderr.strip().splitlines()[-1:] or [f"exit code {r.returncode}"]
        except (OSError, subprocess.TimeoutExpired) as e:
            r, why = None, [str(e)]
        if r and r.returncode == 0:
            good[name] = (prefix, folder, env)
        else:
            print(f"left out: {name}: {why[0][:150]}", file=sys.stderr)
    return good


def run_percall(who, program, options, timeout):
    prefix, folder, env = who
    values = {}
    try:
        r = call(prefix + [f"{folder}/{program}"] + options, env, timeout)
        text, err = r.stdout, r.stderr
        if r.returncode:
            values["!"] = (err.strip().splitlines() or [f"exit code {r.returncode}"])[-1]
    except subprocess.TimeoutExpired as e:
        text = (e.stdout or b"").decode() if isinstance(e.stdout, bytes) else (e.stdout or "")
        values["!"] = f"no end after {timeout} s"
    for line in text.splitlines():
        part = line.split()
        if len(part) == 2:
            values[part[0]] = float(part[1])
    return values


def start_times(good, count):
    """Median milliseconds from fork to end of a static `true`."""
    times = {name: [] for name in good}
    for _ in range(count):
        for name, (prefix, folder, env) in good.items():
            full = {**os.environ, **env}
            begin = time.perf_counter()
            subprocess.run(prefix + [f"{folder}/true-static"], env=full, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times[name].append((time.perf_counter() - begin) * 1e3)
    return {name: statistics.median(t) for name, t in times.items()}


def descendants(root):
    children = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                ppid = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(ppid, []).append(int(pid))
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def idle_memory(who):
    """PSS and CPU of a sandbox whose guest sleeps: summed over the command's process tree, guest included."""
    prefix, _, env = who
    p = subprocess.Popen(prefix + ["/bin/sleep", "6"], env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        tree = descendants(p.pid)
        pss, parts = 0, []
        for pid in tree:
            try:
                with open(f"/proc/{pid}/smaps_rollup") as f:
                    kb = sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
            except OSError:
                continue
            parts.append(kb)
            pss += kb
        ticks = [cpu_ticks(tree)]
        time.sleep(2)
        ticks.append(cpu_ticks(tree))
        used = (ticks[1] - ticks[0]) / os.sysconf("SC_CLK_TCK") / 2
        return {"pss_kib": pss, "processes": len(parts), "each_kib": parts, "idle_cpu_percent": round(used * 100, 2)}
    finally:
        p.wait()


def cpu_ticks(tree):
    total = 0
    for pid in tree:
        try:
            with open(f"/proc/{pid}/stat") as f:
                part = f.read().rsplit(")", 1)[1].split()
            total += int(part[11]) + int(part[12])
        except OSError:
            pass
    return total


def human(ns):
    return f"{ns:.0f} ns" if ns < 1000 else f"{ns / 1e3:.2f} us" if ns < 1e5 else f"{ns / 1e3:.0f} us"


def print_table(title, names, rows, table):
    print(f"\n{title}\n{'':20}" + "".join(f"{n:>22}" for n in names))
    for row in rows:
        line = f"{row:20}"
        for n in names:
            v, base = table[n].get(row), table["native"].get(row)
            cell = "-" if v is None else human(v) + (f" {v / base:6.2f}x" if base and n != "native" else "")
            line += f"{cell:>22}"
        print(line)


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--ward", required=True)
    ap.add_argument("--bins", required=True, help="folder of percall, percall-musl and true-static")
    ap.add_argument("--quick", action="store_true", help="one round of short batches: below a minute, only a hint")
    ap.add_argument("--rounds", type=int)
    ap.add_argument("--only", help="these contestants, by comma")
    ap.add_argument("rows", nargs="*", help="these rows (default: all)")
    args = ap.parse_args()
    bins = os.path.abspath(args.bins)
    ward = os.path.abspath(args.ward)
    rounds = args.rounds or (1 if args.quick else 5)
    options = ["-b", "5", "-t", "2000"] if args.quick else ["-b", "11", "-t", "5000"]
    limit = 40 if args.quick else 120
    found = contestants(ward, bins)
    if args.only:
        found = {n: c for n, c in found.items() if n in args.only.split(",") or n == "native"}
    if args.quick:
        found.pop("ward-nospin", None)
    with tempfile.TemporaryDirectory(prefix="ward-bench-") as stage:
        # Peers such as runsc run without the caller's privileges: the programs go where everyone may read.
        os.chmod(stage, 0o755)
        for f in ("percall", "percall-musl", "true-static"):
            shutil.copy(os.path.join(bins, f), stage)
        found = {n: ([s.replace(bins, stage) for s in p], folder.replace(bins, stage), e)
                 for n, (p, folder, e) in found.items()}
        measure(args, found, rounds, options, limit)


def measure(args, found, rounds, options, limit):
    good = usable(found)
    names = list(good)
    programs = ["percall"] if args.quick else ["percall", "percall-musl"]
    raw = {p: {n: {} for n in names} for p in programs}
    rows, trouble = [], []
    for r in range(rounds):
        for p in programs:
            for n in names:
                got = run_percall(good[n], p, options + args.rows, limit)
                if "!" in got:
                    trouble.append(f"{n} {p}: {got.pop('!')}")
                for row, v in got.items():
                    raw[p][n].setdefault(row, []).append(v)
                    if row not in rows:
                        rows.append(row)
            print(f"round {r + 1} of {rounds}: {p} done, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    start = start_times(good, 10 if args.quick else 50)
    idle = {n: idle_memory(good[n]) for n in names if n == "ward"}
    table = {p: {n: {row: statistics.median(v) for row, v in of.items()} for n, of in raw[p].items()} for p in programs}
    spread = {p: {n: {row: (max(v) - min(v)) / statistics.median(v) for row, v in of.items()}
                  for n, of in raw[p].items()} for p in programs}
    for p in programs:
        print_table({"percall": "dynamic, glibc", "percall-musl": "static, musl"}[p], names, rows, table[p])
    print("\nstart and end of a static `true`: " + ", ".join(f"{n} {ms:.1f} ms" for n, ms in start.items()))
    for n, m in idle.items():
        print(f"{n}, guest asleep: PSS {m['pss_kib']} KiB in {m['processes']} processes, CPU {m['idle_cpu_percent']} %")
    for t in sorted(set(trouble)):
        print(f"not complete: {t}")
    out = os.path.join(HERE, "out")
    os.makedirs(out, exist_ok=True)
    record = {"when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "kernel": platform.release(),
              "cpus": len(os.sched_getaffinity(0)), "load": os.getloadavg(), "rounds": rounds, "options": options,
              "ns": table, "spread": spread, "start_ms": start, "idle": idle, "trouble": sorted(set(trouble))}
    name = os.path.join(out, "quick.json" if args.quick else "full.json")
    with open(name, "w") as f:
        json.dump(record, f, indent=1)
    print(f"written: {os.path.relpath(name)}")


if __name__ == "__main__":
    main()
