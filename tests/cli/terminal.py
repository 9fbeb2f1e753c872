"""Plays the user's terminal for `ward run -t` and `ward exec -t`. Prints "ok NAME" or "FAIL NAME: why"."""
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios, time

WARD = sys.argv[1]


class Terminal:
    def __init__(self, args, **kw):
        self.ours, self.theirs = pty.openpty()
        self.buf = b''
        self.resize(30, 100)
        self.before = termios.tcgetattr(self.theirs)
        self.proc = subprocess.Popen([WARD] + args, stdin=self.theirs, stdout=self.theirs, stderr=self.theirs,
                                     preexec_fn=self.lead, **kw)

    @staticmethod
    def lead():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, rows, cols):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))

    def expect(self, what, seconds=5):
        end = time.time() + seconds
        while what not in self.buf:
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.time()))
            if not ready:
                raise Exception('no %r in %r' % (what, self.buf))
            self.buf += os.read(self.ours, 4096)
        self.buf = self.buf[self.buf.index(what) + len(what):]

    def type(self, text):
        os.write(self.ours, text)

    def ends(self, code):
        got = self.proc.wait(5)
        assert got == code, 'code %d' % got
        assert termios.tcgetattr(self.theirs) == self.before, 'the terminal was not restored'


def shell(args=('run', '-t', '--')):
    t = Terminal(list(args) + ['bash', '--norc', '-i'])
    t.expect(b'# ')
    return t


def stopped(t, cmd):
    """Run CMD in the shell, wait until it is in the foreground."""
    t.type(cmd + b'\r')
    t.expect(cmd + b'\r\n')
    time.sleep(.2)


def size_and_name():
    t = shell()
    t.type(b'stty size; tty\r')
    t.expect(b'30 100\r\n/dev/')
    t.resize(40, 120)
    time.sleep(.2)
    t.type(b'stty size\r')
    t.expect(b'40 120')
    t.type(b'exit 4\r')
    t.ends(4)


def resize_signal():
    t = Terminal(['run', '-t', '--', 'bash', '-c', "trap 'stty size; exit 3' WINCH; echo re\"\"ady; while :; do sleep 0.05; done"])
    t.expect(b'ready')
    t.resize(25, 81)
    t.expect(b'25 81')
    t.ends(3)


def interrupt():
    t = shell()
    stopped(t, b'sleep 100')
    t.type(b'\x03')
    t.expect(b'# ')
    t.type(b'echo rc=$?\r')
    t.expect(b'rc=130')
    t.type(b'exit 0\r')
    t.ends(0)


def quit_key():
    t = Terminal(['run', '-t', '--', 'sleep', '100'])
    time.sleep(.3)
    t.type(b'\x1c')
    t.ends(131)


def job_control():
    t = shell()
    stopped(t, b'sleep 100')
    t.type(b'\x1a')
    t.expect(b'Stopped')
    t.type(b'bg\r')
    t.expect(b'sleep 100 &')
    t.type(b'jobs\r')
    t.expect(b'Running')
    t.type(b'fg\r')
    time.sleep(.2)
    t.type(b'\x03')
    t.expect(b'# ')
    t.type(b'jobs; echo none"" left\r')
    t.expect(b'none left')
    t.type(b'cat &\r')
    t.expect(b'# ')
    time.sleep(.3)
    t.type(b'\r')
    t.expect(b'Stopped')  # reads in the background: SIGTTIN
    t.type(b'kill %1; exit 5\r')
    t.ends(5)


def end_of_file():
    t = Terminal(['run', '-t', '--', 'cat'])
    t.type(b'line\r')
    t.expect(b'line\r\nline\r\n')
    t.type(b'\x04')
    t.ends(0)


def raw_outside():
    t = Terminal(['run', '-t', '--', 'sh', '-c', 'echo re""ady; sleep 0.5'])
    t.expect(b'ready')
    assert not termios.tcgetattr(t.theirs)[3] & (termios.ECHO | termios.ICANON | termios.ISIG), 'not raw'
    t.ends(0)


def time_limit():
    t = Terminal(['run', '-t', '--time', '0.5', '--', 'sleep', '9'])
    t.expect(b'time limit')
    t.ends(124)


def terminated():
    t = Terminal(['run', '-t', '--', 'sleep', '9'])
    time.sleep(.3)
    t.proc.send_signal(signal.SIGTERM)
    t.ends(143)


def failed_start():
    t = Terminal(['run', '-t', '--', '/nonexistent'])
    t.expect(b'not found')
    t.ends(127)


def much_output():
    t = Terminal(['run', '-t', '--', 'sh', '-c', 'seq 1 40000; echo the e""nd; exit 6'])
    t.expect(b'40000\r\nthe end\r\n', 10)
    t.ends(6)


def hangup():
    t = Terminal(['run', '-t', '--', 'sleep', '100'])
    time.sleep(.3)
    os.close(t.ours)
    os.close(t.theirs)
    code = t.proc.wait(5)
    assert code != 0, 'code %d' % code


def execute():
    subprocess.check_call([WARD, 'run', '--detach', '--name', 'term', '--', 'sleep', '60'])
    t = shell(['exec', '-t', 'term', '--'])
    t.type(b'stty size; tty\r')
    t.expect(b'30 100\r\n/dev/')
    t.resize(41, 121)
    time.sleep(.2)
    t.type(b'stty size\r')
    t.expect(b'41 121')
    stopped(t, b'sleep 100')
    t.type(b'\x03')
    t.expect(b'# ')
    two = shell(['exec', '-t', 'term', '--'])
    two.type(b'exit 7\r')
    two.ends(7)
    t.type(b'exit 6\r')
    t.ends(6)
    t = Terminal(['exec', '-t', 'term', '--', 'sleep', '50'])
    time.sleep(.3)
    subprocess.check_call([WARD, 'kill', 'term'])
    t.ends(137)


failed = 0
for f in (size_and_name, resize_signal, interrupt, quit_key, job_control, end_of_file, raw_outside, time_limit, terminated,
          failed_start, much_output, hangup, execute):
    try:
        f()
        print('ok', f.__name__, flush=True)
    except Exception as e:
        failed = 1
        print('FAIL %s: %s' % (f.__name__, e), flush=True)
sys.exit(failed)
