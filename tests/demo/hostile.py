"""What a hostile program tries first: a file and a variable of the host, the network. Prints what it got."""
import os
import socket
import sys

host_file, variable = sys.argv[1], sys.argv[2]
bad = 0


def attempt(what, fn):
    global bad
    try:
        got = fn()
    except (OSError, KeyError) as e:
        print(f"  refused  {what}: {type(e).__name__}: {e}")
        return
    bad += 1
    print(f"  REACHED  {what}: {got!r}")


def environment_of_processes():
    """The variable may also hide in some process's environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{pid}/environ", "rb") as f:
            if variable.encode() in f.read():
                return f"in the environment of process {pid}"
    raise KeyError(variable)


attempt(f"host file {host_file}", lambda: open(host_file).read())
attempt("host file /etc/shadow", lambda: open("/etc/shadow").read())
attempt(f"host variable {variable}", lambda: os.environ[variable])
attempt(f"host variable {variable} by way of /proc", environment_of_processes)
attempt("connection to 1.1.1.1:80", lambda: socket.create_connection(("1.1.1.1", 80), timeout=3))
attempt("connection to a service of the host, 127.0.0.1:22", lambda: socket.create_connection(("127.0.0.1", 22), timeout=3))
sys.exit(1 if bad else 0)
