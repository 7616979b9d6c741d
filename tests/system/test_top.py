"""strata top in a real terminal: tmux shows what it drew and sends it keys."""
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import held
import servers
import tool

NAME = "top-\x1b[31m\x1b]0;x"  # a process that would paint the terminal
# Names of this run alone: others may run the same tests, and equal names are one row.
PREFIX = f"top-{os.getpid()}-"
LARGER, SMALLER, POOL, SLOW = (PREFIX + letter for letter in "lspw")
SLEEPER = ("import sys, time; open('/proc/self/comm', 'w').write(sys.argv[1]);"
           "data = bytearray(int(sys.argv[2]) << 20); print('ready', flush=True); time.sleep(3600)")


class Terminal:
    """One tmux server of our own, with one window that runs a shell."""

    def __init__(self, home, width=100, height=30):
        self.tmux = [servers.program("tmux", "tmux"), "-S", os.path.join(home, "tmux"), "-f", "/dev/null"]
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        environment.pop("TMUX", None)
        self.do("new-session", "-d", "-x", str(width), "-y", str(height), "sh", environment=environment)
        self.press("PS1='PRO''MPT '; clear", "Enter")
        self.wait(r"^PROMPT")

    def do(self, *words, environment=None):
        done = subprocess.run([*self.tmux, *words], capture_output=True, text=True, timeout=240,
                              check=False, env=environment)
        if done.returncode != 0:
            raise AssertionError(f"tmux {words[0]}: {done.stderr}")
        return done.stdout

    def close(self):
        self.do("kill-server")

    def press(self, *keys):
        self.do("send-keys", *keys)

    def screen(self):
        return self.do("capture-pane", "-p")

    def wait(self, pattern, without=None):
        """The screen, once it shows pattern (and no more what is in without)."""
        found = []

        def shows():
            found[:] = [self.screen()]
            return re.search(pattern, found[0], re.M) and not (without and re.search(without, found[0], re.M))
        try:
            servers.wait_until(shows, pattern)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen:\n{found[0]}") from error
        return found[0]

    def start(self, *words, environment=None):
        variables = [f"{name}='{value}'" for name, value in (environment or {}).items()]
        self.press(" ".join([*variables, f"'{tool.STRATA}'", "top", "--every", "300ms", *words]), "Enter")
        self.wait(r"^name \(MiB\) +pid")

    def wait_for_end(self):
        return self.wait(r"^PROMPT", without="name .MiB.")


class Top(unittest.TestCase):
    asked = 0

    def setUp(self):
        home = self.enterContext(servers.folder())
        self.terminal = Terminal(home)
        self.addCleanup(self.terminal.close)

    def sleeper(self, name, mebibytes):
        process = self.enterContext(servers.running(
            [sys.executable, "-c", SLEEPER, name, str(mebibytes)], stdout=subprocess.PIPE))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def pause(self):
        """Nothing is read from then on: what was being read at the key would have made it young again."""
        self.terminal.press("Space")
        self.terminal.wait(r"^paused")
        self.terminal.wait(r" ([3-9]|\d\d+) s old$")

    def test_keys(self):
        """Filter, sort, detail, pause, help and the end, as one would use them."""
        large, small = self.sleeper(LARGER, 60), self.sleeper(SMALLER, 20)
        terminal = self.terminal
        terminal.start()
        terminal.press("/")
        terminal.press(PREFIX)
        terminal.wait(rf"names with: {PREFIX}_")
        terminal.press("Enter")
        screen = terminal.wait(rf"^{SMALLER}", without=r"^tmux")
        self.assertRegex(screen, rf"(?s){LARGER} +{large.pid}.*{SMALLER} +{small.pid}")
        terminal.press("r")
        terminal.wait(rf"(?s){SMALLER}.*{LARGER}")
        terminal.press("r")
        terminal.wait(rf"(?s){LARGER}.*{SMALLER}")
        terminal.press("Home", "Enter")
        screen = terminal.wait(rf"{LARGER} · pid {large.pid}")
        self.assertRegex(terminal.wait(r"resident +█"), r"held")
        terminal.press("Tab", "End")
        terminal.wait(r"read .* in .*s · 20")
        terminal.press("Tab", "Down")
        terminal.wait(rf"{SMALLER} · pid {small.pid}")
        terminal.press("Escape")
        terminal.wait(r"q end", without=r"pid \d+ · up")
        self.pause()
        small.terminate()
        small.wait()
        time.sleep(1)
        self.assertIn(SMALLER, terminal.screen())  # paused: nothing is read
        terminal.press("Space")
        terminal.wait(rf"^{LARGER}", without=SMALLER)
        terminal.press("h")
        terminal.wait(r"page up, page down  one screen")
        terminal.press("h", "/", "Escape", "s")
        terminal.wait(r"lines by pss")
        terminal.press("q")
        terminal.wait_for_end()

    def test_pools_unfold(self):
        with servers.running([sys.executable, "-c", f"import os, time\nopen('/proc/self/comm', 'w').write('{POOL}')\n"
                              "for _ in range(3):\n if os.fork() == 0: time.sleep(3600)\ntime.sleep(3600)"]) as parent:
            try:
                servers.wait_until(lambda: len(servers.children(parent.pid)) == 3, "three workers", parent)
                pids = servers.children(parent.pid)
                self.terminal.start("--filter", POOL)
                self.terminal.wait(rf"^{POOL} +4 proc")
                self.terminal.press("Right")
                screen = self.terminal.wait(rf"^  \S.* {pids[2]} ")
                for pid in (parent.pid, *pids):
                    self.assertRegex(screen, rf"(?m)^  \S.* {pid} ")
                self.terminal.press("Down", "Left")
                self.terminal.wait(rf"^{POOL} +4 proc", without=rf" {pids[2]} ")
            finally:
                for pid in servers.children(parent.pid):
                    os.kill(pid, signal.SIGKILL)

    def test_hostile_names(self):
        self.sleeper(NAME, 30)
        self.terminal.start("--filter", "top-")
        screen = self.terminal.wait(r"^top-\?")
        self.assertIn("top-?[31m?]0;x", screen)
        self.assertNotIn("\x1b[31m", self.terminal.do("capture-pane", "-e", "-p"))

    def test_sizes(self):
        self.sleeper(LARGER, 60)
        self.terminal.start()
        for width, height in ((80, 24), (40, 10), (20, 5), (5, 2), (200, 60), (100, 30)):
            self.terminal.do("resize-window", "-x", str(width), "-y", str(height))
            self.terminal.press("Down", "Enter")
            time.sleep(0.5)
            self.terminal.press("Enter")
            if width >= 20 and height >= 5:
                self.terminal.wait(r"^\d+ processes")
        screen = self.terminal.wait(r"^q end  enter detail")
        self.assertEqual(len(screen.rstrip("\n").split("\n")), 30)
        self.terminal.press("q")
        self.terminal.wait_for_end()

    def modes(self):
        """What stty says. The screen may still show what it said before, and the next prompt or not yet."""
        self.asked += 1
        self.terminal.press(f"clear; stty -a; echo DO''NE {self.asked}", "Enter")
        return self.terminal.wait(rf"^DONE {self.asked}$").split("DONE")[0]

    def test_the_terminal_is_given_back(self):
        before = self.modes()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT, signal.SIGSEGV):
            self.terminal.press("clear", "Enter")
            self.terminal.start()
            os.kill(self.pid_of_top(), number)
            self.terminal.wait(r"^PROMPT", without=r"name .MiB.")
            self.assertEqual(self.modes(), before, signal.Signals(number).name)

    def pid_of_top(self):
        shell = int(self.terminal.do("display-message", "-p", "#{pane_pid}"))
        return servers.children(shell)[0]

    def test_stop_and_go_on(self):
        before = self.modes()
        self.terminal.start()
        self.terminal.press("C-z")
        self.terminal.wait(r"Stopped|\[1\]")
        self.assertEqual(self.modes(), before)
        self.terminal.press("fg", "Enter")
        self.terminal.wait(r"^name \(MiB\) +pid")
        self.terminal.press("j", "q")
        self.terminal.wait_for_end()

    def test_what_is_no_terminal(self):
        done = tool.run("top")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"strata top --once", done.stderr)
        self.terminal.press(f"clear; TERM=dumb {tool.STRATA} top; echo code $?", "Enter")
        screen = self.terminal.wait(r"^code 2")
        self.assertIn("TERM is 'dumb'; strata top --once", re.sub(r"\s*\n", " ", screen).replace("  ", " "))

    def test_once(self):
        process = self.sleeper(LARGER, 60)
        done = tool.run("top", "--once", "--filter", LARGER, "--width", 120)
        self.assertEqual(done.returncode, 0)
        row = re.search(rf"^{LARGER} +{process.pid} +(.*)$", done.stdout.decode(), re.M)
        self.assertIsNotNone(row, done.stdout.decode())
        self.assertGreater(len(re.findall(r"\d+\.\d", row.group(1))), 2)  # looked into: held and more
        self.assertEqual(tool.run("top", "--once", "--sort", "nothing").returncode, 2)
        self.assertEqual(tool.run("top", "--once", "--filter", "x" * 100).returncode, 2)

    def test_keys_do_not_wait_for_targets(self):
        """A pane is open on a target that is not read to its end: help shows, and q ends."""
        process = self.sleeper(SLOW, 60)
        slow = held.HeldTarget(process.pid, self.enterContext(servers.folder()))
        self.terminal.start("--filter", SLOW, environment=slow.environment)
        self.terminal.wait(rf"^{SLOW} +{process.pid}")
        self.terminal.press("Enter")
        slow.wait()
        self.terminal.wait(r"^reading$")
        self.terminal.press("h")
        self.terminal.wait(r"page up, page down  one screen")
        self.terminal.press("q")
        self.terminal.wait_for_end()

    def r_end(self, hold):
        """Ends top, with a look under way or not: were destructors called, and how did it end?"""
        process = self.sleeper(SLOW, 60)
        slow = held.HeldTarget(process.pid, self.enterContext(servers.folder()))
        if not hold:
            slow.environment["HELD_FILE"] = "/proc/none/smaps"
        self.terminal.press("clear", "Enter")
        self.terminal.start("--filter", SLOW, environment=slow.environment)
        if hold:
            slow.wait()
        else:
            self.pause()
        self.terminal.press("q")
        self.terminal.wait_for_end()
        self.terminal.press("echo code $?", "Enter")
        self.terminal.wait(r"code 0$")
        return os.path.exists(slow.undone)

    def test_r_nothing_is_undone_under_a_thread(self):
        """exit(3) would call the destructors of libraries while a look still uses them."""
        self.assertTrue(self.r_end(hold=False))
        self.assertFalse(self.r_end(hold=True))


if __name__ == "__main__":
    unittest.main()
