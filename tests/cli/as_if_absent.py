#!/usr/bin/env python3
"""The command between a program and its parent: as_if_absent.py CASE GPUPROF. In each case the program
runs by itself and under the command, and nobody may see a difference."""
import fcntl
import os
import pty
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

GPUPROF = sys.argv[2]
HERE = tempfile.mkdtemp(dir=os.environ["BATS_TEST_TMPDIR"])
LONGEST = 60  # seconds: a test that fails, never one that passes

# Of several signals that wait this one comes last: the command passes all others on before it.
END = signal.SIGRTMIN + 1

# A program that writes down which signals it gets, and goes on until that one. READY is written when it has begun.
COUNTS = r"""
import os, signal, sys, time
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def note(number, frame):
    os.write(out, f"{signal.Signals(number).name}\n".encode())
def end(number, frame):
    os._exit(7)
for name in sys.argv[2:]:
    signal.signal(getattr(signal, name), note)
signal.signal(signal.SIGRTMIN + 1, end)
os.write(out, b"READY\n")
while True:
    time.sleep(1)
"""
PYTHON = [sys.executable, "-c", COUNTS]


def both(command):
    """The command by itself and under gpuprof."""
    return [[shutil.which(command[0])] + command[1:], [GPUPROF, "--quiet"] + command]


def until(condition, event):
    limit = time.monotonic() + LONGEST
    while not condition():
        if time.monotonic() > limit:
            sys.exit(f"{event}: not within {LONGEST} s")
        time.sleep(0.01)


def new_file(name=[0]):
    name[0] += 1
    return os.path.join(HERE, f"file{name[0]}")


def lines_of(path):
    return open(path).read().split() if os.path.exists(path) else []


def status_of(pid):
    """As the shell that started it sees its end."""
    pid, how = os.waitpid(pid, 0)
    return f"signal {os.WTERMSIG(how)}" if os.WIFSIGNALED(how) else f"status {os.WEXITSTATUS(how)}"


def same(results, subject):
    if results[0] != results[1]:
        sys.exit(f"{subject}: {results[0]} without the command, {results[1]} with it")


def state_of(pid):
    """S where it goes on: whether it has a processor at the moment is chance. T where it is stopped."""
    state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    return "S" if state in "RSD" else state


def child_of(pid, name="python"):
    """The program under the command; the process itself where it is that."""
    if name in os.path.basename(os.readlink(f"/proc/{pid}/exe")):
        return pid
    for task in open(f"/proc/{pid}/task/{pid}/children").read().split():
        try:
            if name in os.path.basename(os.readlink(f"/proc/{task}/exe")):
                return int(task)
        except OSError:
            pass
    return None


# ---- the end --------------------------------------------------------------------------------------


def case_ends():
    """Any status, and any signal by which a program ends."""
    commands = [["sh", "-c", f"exit {n}"] for n in (0, 1, 42, 126, 127, 143, 255)]
    commands += [["sh", "-c", f"kill -{n} $$"] for n in ("TERM", "KILL", "SEGV", "ABRT", "INT", "HUP", "USR1", "40")]
    for command in commands:
        same([subprocess.run(c, preexec_fn=no_core, stderr=subprocess.DEVNULL).returncode for c in both(command)],
             " ".join(command))


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def case_killed():
    """The command is killed: so is the program, which may not go on without it."""
    out = new_file()
    command = subprocess.Popen([GPUPROF] + PYTHON + [out], stderr=subprocess.DEVNULL)
    until(lambda: "READY" in lines_of(out), "the program's start")
    program = child_of(command.pid)
    command.kill()
    assert command.wait() == -signal.SIGKILL
    until(lambda: not os.path.exists(f"/proc/{program}") or state_of(program) == "Z", "the program's end")


def case_alone():
    """Nothing is left of the command when it has ended."""
    command = subprocess.Popen([GPUPROF, "sleep", "0.1"], start_new_session=True, stderr=subprocess.DEVNULL)
    command.wait()
    try:
        os.killpg(command.pid, 0)
    except ProcessLookupError:
        return
    sys.exit("a process of its group is left")


# ---- signals --------------------------------------------------------------------------------------

NAMES = ["SIGUSR1", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGWINCH", "SIGCONT", "SIGRTMIN"]


def got(send, **how):
    """The signals that the program gets, by itself and under the command, when they are sent one after the other."""
    results = []
    for command in both(PYTHON):
        out = new_file()
        process = subprocess.Popen(command + [out] + NAMES, start_new_session=True, stderr=subprocess.DEVNULL, **how)
        until(lambda: "READY" in lines_of(out), "the program's start")
        for count, name in enumerate(NAMES):
            send(process.pid, getattr(signal, name))
            until(lambda: len(lines_of(out)) > count + 1, name)
        os.kill(process.pid, END)
        assert process.wait() == 7
        results.append(lines_of(out))
    return results


def case_one_process():
    """Signals that are sent to the command reach the program, each once."""
    same(got(os.kill), "signals to the process")


def case_group():
    """Signals that are sent to the whole group reach it once, not twice."""
    same(got(os.killpg), "signals to the group")


def case_each():
    """So do those that somebody sends from process to process, as batch systems do."""

    def to_each(pid, number):
        for task in [str(pid)] + open(f"/proc/{pid}/task/{pid}/children").read().split():
            os.kill(int(task), number)

    same(got(to_each), "signals to each process")


def case_queued():
    """A value that comes with a signal is there."""
    catches = ("import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN}); "
               "open(sys.argv[1], 'w').write('READY\\n'); i = signal.sigwaitinfo({signal.SIGRTMIN}); "
               "open(sys.argv[1], 'a').write(str(i.si_code) + '\\n')")
    results = []
    for command in both([sys.executable, "-c", catches]):
        out = new_file()
        process = subprocess.Popen(command + [out], stderr=subprocess.DEVNULL)
        until(lambda: "READY" in lines_of(out), "the program's start")
        subprocess.run(["kill", "-q", "5", "-s", "RTMIN", str(process.pid)], check=True)
        process.wait()
        results.append(lines_of(out))
    same(results, "a signal with a value")


def case_own():
    """A signal that the program sends to its group is not sent back to it."""
    sends = ("import os, signal, sys, time; count = [0]\n"
             "def note(n, f): count[0] += 1\n"
             "signal.signal(signal.SIGUSR1, note)\n"
             "os.kill(0, signal.SIGUSR1); time.sleep(0.3); os.kill(os.getppid(), 0) or sys.exit(count[0])")
    results = [subprocess.run(c, start_new_session=True, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN)).returncode
               for c in both([sys.executable, "-c", sends])]
    same(results, "a signal of its own")


def case_timeout():
    """timeout(1) signals first the one process, then the group."""
    results = []
    for command in both(["sh", "-c", "trap 'exit 9' TERM; while :; do sleep 0.05; done"]):
        results.append(subprocess.run(["timeout", "0.5"] + command, stderr=subprocess.DEVNULL).returncode)
        results[-1] = (results[-1], subprocess.run(["timeout", "-s", "KILL", "0.5"] + command,
                                                   stderr=subprocess.DEVNULL).returncode)
    same(results, "timeout")


def case_inherited():
    """The program has the dispositions, the mask, the group and the descriptors that the command had."""
    # A shell changes the signals of its children.
    signals = ["grep", "-E", "^(SigBlk|SigIgn|SigCgt)", "/proc/self/status"]
    others = ["sh", "-c", "ls /proc/self/fd | wc -l; ulimit -a; umask; pwd; cut -d' ' -f6-8 /proc/self/stat"]

    def odd():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(0, 9)

    for prepare in (None, odd):
        for command in (signals, others):
            same([subprocess.run(c, preexec_fn=prepare, stdin=subprocess.DEVNULL, capture_output=True, close_fds=False)
                  .stdout for c in both(command)], "its inheritance")


def case_children_ignored():
    """Where the end of children is ignored the status of the program is known all the same."""
    same([subprocess.run(c, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                         stderr=subprocess.DEVNULL).returncode for c in both(["sh", "-c", "exit 5"])], "its status")


def case_descriptors():
    """A reader sees the end of a pipe when the program closes it, though that goes on."""
    for closes, number in (("exec 1>&-", 1), ("exec 9>&-", 9)):
        for command in both(["sh", "-c", closes + "; read -r line; exit 3"]):
            reader, writer = os.pipe()
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=False,
                                       preexec_fn=lambda: os.dup2(writer, number))
            os.close(writer)
            if not select.select([reader], [], [], LONGEST)[0] or os.read(reader, 1) != b"":
                sys.exit(f"{command}: descriptor {number} stays open")
            process.communicate(b"\n")
            assert process.returncode == 3, process.returncode
            os.close(reader)


# ---- job control ----------------------------------------------------------------------------------


class Terminal:
    """A shell's part: a session with a terminal, and the command as a job in its foreground."""

    def __init__(self, command):
        self.master, slave = pty.openpty()
        self.ready, report = os.pipe()
        self.asks, self.answers = os.pipe(), os.pipe()
        self.shell = os.fork()
        if self.shell == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            job = os.fork()
            if job == 0:
                os.setpgid(0, 0)
                os.tcsetpgrp(slave, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                for number in (0, 1):
                    os.dup2(slave, number)
                os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
                os.execvp(command[0], command)
            os.write(report, f"{job}\n".encode())
            self.serve(slave, job)
            os._exit(0)
        os.close(slave)
        self.job = int(os.read(self.ready, 32))

    def serve(self, slave, job):
        """Answers words: `wait` for a change of the job's state; `fg`, `bg`; `front`, where it runs already."""
        while True:
            word = os.read(self.asks[0], 32).decode()
            answer = "done"
            if word == "wait":
                _, how = os.waitpid(job, os.WUNTRACED | os.WCONTINUED)
                answer = (f"stopped by {os.WSTOPSIG(how)}" if os.WIFSTOPPED(how) else "continued"
                          if os.WIFCONTINUED(how) else f"ended {how}")
                if os.WIFSTOPPED(how):
                    os.tcsetpgrp(slave, os.getpgrp())
            elif word in ("fg", "bg", "front"):
                if word != "bg":
                    os.tcsetpgrp(slave, job)
                if word != "front":
                    os.killpg(job, signal.SIGCONT)
            elif not word:
                return
            os.write(self.answers[1], answer.encode())

    def ask(self, word):
        os.write(self.asks[1], word.encode())
        if not select.select([self.answers[0]], [], [], LONGEST)[0]:
            sys.exit(f"{word}: no answer")
        return os.read(self.answers[0], 64).decode()

    def types(self, text):
        os.write(self.master, text)

    def ends(self):
        answer = "continued"
        while answer == "continued":
            answer = self.ask("wait")
        os.kill(self.shell, signal.SIGKILL)
        os.waitpid(self.shell, 0)
        return answer


def case_interrupt():
    """Ctrl-C and Ctrl-\\ reach the program once."""
    results = []
    for command in both(PYTHON):
        out = new_file()
        terminal = Terminal(command + [out, "SIGINT", "SIGQUIT"])
        until(lambda: "READY" in lines_of(out), "the program's start")
        terminal.types(b"\x03")
        until(lambda: "SIGINT" in lines_of(out), "Ctrl-C")
        terminal.types(b"\x1c")
        until(lambda: "SIGQUIT" in lines_of(out), "Ctrl-\\")
        os.kill(terminal.job, END)
        results.append((terminal.ends(), lines_of(out)))
    same(results, "keys that interrupt")


def case_stop():
    """Ctrl-Z stops the program, and the shell sees its job stop; fg and bg continue both, once."""
    results = []
    for command in both(PYTHON):
        out = new_file()
        terminal = Terminal(command + [out, "SIGCONT"])
        until(lambda: "READY" in lines_of(out), "the program's start")
        program, answers = child_of(terminal.job), []
        for times, word in enumerate(("fg", "bg", "fg")):
            terminal.types(b"\x1a") if times != 2 else os.kill(program, signal.SIGSTOP)
            answers.append(terminal.ask("wait"))
            answers.append(state_of(program))
            terminal.ask(word)
            answers.append(terminal.ask("wait"))
            until(lambda: lines_of(out).count("SIGCONT") == times + 1, "SIGCONT")
            until(lambda: state_of(program) == "S", "the program goes on")
            terminal.ask("front")
        os.kill(terminal.job, END)
        results.append((answers, terminal.ends(), lines_of(out)))
    same(results, "job control")


def case_stop_refused():
    """A program that ignores Ctrl-Z goes on, and so does the job."""
    results = []
    for command in both(PYTHON):
        out = new_file()
        terminal = Terminal(command + [out, "SIGTSTP", "SIGINT"])
        until(lambda: "READY" in lines_of(out), "the program's start")
        terminal.types(b"\x1a")
        until(lambda: "SIGTSTP" in lines_of(out), "Ctrl-Z")
        terminal.types(b"\x03")
        until(lambda: "SIGINT" in lines_of(out), "Ctrl-C")
        states = state_of(terminal.job)
        os.kill(terminal.job, END)
        results.append((states, terminal.ends(), lines_of(out)))
    same(results, "a program that ignores Ctrl-Z")


def case_background_read():
    """A job in the background that reads its terminal is stopped; in the foreground it reads."""
    results = []
    for command in both(["sh", "-c", "read -r line; test \"$line\" = word"]):
        terminal = Terminal(["sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"] + command)
        answers = [terminal.ask("wait")]
        terminal.ask("bg")
        # It is continued for so short a time that nobody may see that.
        while answers[-1] != f"stopped by {signal.SIGTTIN.value}":
            answers = answers[:1] + [terminal.ask("wait")]
        terminal.ask("fg")
        answers.append(terminal.ask("wait"))
        terminal.types(b"word\n")
        results.append((answers, terminal.ends()))
    same(results, "a read in the background")


if __name__ == "__main__":
    globals()[f"case_{sys.argv[1]}"]()
