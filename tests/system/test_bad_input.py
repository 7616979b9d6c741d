"""Targets that are not there, not permitted, half dead or hostile: a clear word, the right code."""
import json
import os
import signal
import subprocess
import threading
import unittest

import servers
import tool

NOBODY = 65534
DENIED, NOT_FOUND, PARTIAL, USAGE = 3, 4, 5, 2
HOSTILE_MEBIBYTES = 256


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def yama_restricts():
    """Whether memory is shown to ancestors alone, as on Ubuntu."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            return int(file.read()) > 0
    except FileNotFoundError:
        return False


class BadInput(unittest.TestCase):
    def expect(self, done, code, *words):
        error = done.stderr.decode()
        self.assertEqual(done.returncode, code, error + done.stdout.decode()[:500])
        for word in words:
            self.assertIn(word, error)
        return error

    def test_no_such_target(self):
        with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
            pid = int(file.read())
        self.expect(tool.run("explain", pid), NOT_FOUND, f"'{pid}'")
        self.expect(tool.run("explain", "no-program-has-this-name"), NOT_FOUND,
                    "'no-program-has-this-name'")

    def test_several_matches_are_listed(self):
        script = "import time; print('ready', flush=True); time.sleep(600)"
        with servers.folder() as home:
            # Nobody else's: what runs beside this test has another name.
            name = os.path.join(home, f"twins-{os.getpid()}")
            os.symlink("/usr/bin/python3", name)
            with servers.program_that_waits([name, "-c", script]) as one, \
                    servers.program_that_waits([name, "-c", script]) as two:
                done = tool.run("explain", os.path.basename(name))
                text = (done.stdout + done.stderr).decode()
                self.assertIn(str(one.pid), text)
                self.assertIn(str(two.pid), text)

    def test_zombie(self):
        with servers.running(["true"]) as process:
            servers.wait_until(lambda: self.state(process.pid) == "Z", "zombie")
            error = self.expect(tool.run("explain", process.pid), NOT_FOUND)
            self.assertIn("zombie", error)

    @staticmethod
    def state(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def test_not_permitted(self):
        with servers.folder() as home, servers.python_program() as server:
            done = tool.run("explain", server.pid, program=tool.copy_for_everybody(home),
                            preexec_fn=as_nobody)
            text = (done.stdout + done.stderr).decode()
            self.assertIn(done.returncode, (DENIED, PARTIAL), text)
            self.assertIn("smaps", text)
            self.assertTrue("sudo" in text or "CAP_SYS_PTRACE" in text, text)

    def test_own_process_needs_no_root(self):
        command = ["/usr/bin/python3", "-c", servers.PYTHON_SCRIPT]
        with servers.folder() as home, \
                servers.program_that_waits(command, preexec_fn=as_nobody) as server:
            done = tool.run("explain", server.pid, "--json",
                            program=tool.copy_for_everybody(home), preexec_fn=as_nobody)
            self.assertIn(done.returncode, (0, PARTIAL), done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(tool.layer(report, "resident")["state"], "ok")
            self.assertEqual(tool.layer(report, "in_use")["state"], "denied" if yama_restricts() else "ok")
            self.assertEqual(done.returncode == PARTIAL, bool(report["gaps"]))

    def test_target_ends_while_it_is_read(self):
        """Many programs, each killed at another moment of being explained."""
        for delay in range(40):
            with servers.python_program() as server:
                killer = threading.Timer(delay * 0.0005, os.kill, (server.pid, signal.SIGKILL))
                killer.start()
                done = tool.run("explain", server.pid, "--json")
                killer.join()
                self.assertIn(done.returncode, (0, NOT_FOUND, PARTIAL), done.stderr)
                if done.returncode == NOT_FOUND:
                    self.assertIn(b"ended", done.stderr)

    def test_hostile_heaps(self):
        for kind in ("ring", "nowhere", "sizes", "noise"):
            with self.subTest(kind=kind), \
                    servers.program_that_waits([tool.target("hostile_target"), kind]) as server:
                done = tool.run("explain", server.pid, "--json",
                                preexec_fn=tool.limit_memory(HOSTILE_MEBIBYTES))
                self.assertEqual(done.returncode, PARTIAL, done.stderr)
                report = json.loads(done.stdout)
                self.assertEqual(tool.layer(report, "resident")["state"], "ok")
                self.assertIn(("glibc", "malformed"),
                              [(gap["fact"], gap["state"]) for gap in report["gaps"]])

    def test_damaged_captures(self):
        with servers.folder() as home, servers.python_program() as server:
            path = os.path.join(home, "capture")
            self.expect(tool.run("capture", server.pid, "-o", path), 0)
            with open(path, "rb") as file:
                good = file.read()
            for name, data in (("empty", b""), ("half", good[:len(good) // 2]),
                               ("cut", good[:-2]), ("noise", bytes(range(256)) * 64),
                               ("deep", b"[" * 100000), ("other", b'{"schema": 1}'),
                               ("newer", good.replace(b'"schema"', b'"schema":999,"x"', 1))):
                with self.subTest(name=name):
                    damaged = os.path.join(home, name)
                    with open(damaged, "wb") as file:
                        file.write(data)
                    done = tool.run("explain", damaged,
                                    preexec_fn=tool.limit_memory(HOSTILE_MEBIBYTES))
                    self.assertNotIn(done.returncode, (0, 1), done.stdout)
                    self.assertIn(damaged, done.stderr.decode())
                    self.assertEqual(done.stdout, b"")

    def test_usage(self):
        self.expect(tool.run("explain"), USAGE)
        self.expect(tool.run("explain", "1", "--no-such-option"), USAGE)

    def test_reader_closes_the_pipe(self):
        """An output that nobody reads ends the tool quietly."""
        with servers.python_program() as server:
            done = subprocess.run(["sh", "-c", '"$1" explain "$2" --json | true', "sh", tool.STRATA,
                                   str(server.pid)], capture_output=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertIn(done.stderr, (b"", b"strata: cannot write to standard output: Broken pipe\n"))


if __name__ == "__main__":
    unittest.main()
