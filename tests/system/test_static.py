"""The tool as one static file, also where every system call later than Linux 4.14 is missing."""
import json
import os
import re
import subprocess
import unittest

ROOT = os.environ["STRATA_ROOT"]
STATIC = os.environ["STRATA_STATIC_PROGRAM"]
NORMAL = os.environ["STRATA_PROGRAM"]
TRIES = 20
OLD = os.path.join(os.environ["STRATA_TARGETS"], "old_kernel")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def explained(*command):
    done = run(*command)
    assert done.returncode in (0, 5), f"{command}: {done.returncode}: {done.stderr}"
    return json.loads(done.stdout)


def layer(document, name):
    return next(one for one in document["layers"] if one["id"] == name)


class StaticFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        script = "import time; x = [bytearray(1000) for _ in range(20000)]; print('ready', flush=True); time.sleep(300)"
        cls.target = subprocess.Popen(["python3", "-c", script], stdout=subprocess.PIPE, text=True)
        assert cls.target.stdout.readline() == "ready\n"

    @classmethod
    def tearDownClass(cls):
        cls.target.kill()
        cls.target.wait()
        cls.target.stdout.close()

    def test_it_needs_no_other_file(self):
        headers = run("readelf", "--program-headers", "--dynamic", "--wide", STATIC).stdout
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("NEEDED", headers)

    def test_it_says_what_it_lacks(self):
        self.assertIn("static", run(STATIC, "--version").stdout)
        served = run(STATIC, "export", "--listen", "127.0.0.1:0")
        self.assertNotEqual(served.returncode, 0)
        self.assertIn("this build of strata is static", served.stderr)

    def same_account(self, *command):
        """Two looks are of two moments: the kernel may take or map a page between them; then again."""
        pid, names = str(self.target.pid), ("in_use", "held", "resident")
        for _ in range(TRIES):
            one, other = (explained(*words, "explain", "--json", pid) for words in (command, [NORMAL]))
            figures = [[layer(report, name)["bytes"] for name in names] for report in (one, other)]
            if figures[0] == figures[1]:
                break
        self.assertEqual(*figures, names)

    def test_its_account_is_that_of_the_shared_one(self):
        self.same_account(STATIC)

    def test_its_account_is_the_same_without_later_system_calls(self):
        self.same_account(OLD, STATIC)

    def test_every_command_works_without_later_system_calls(self):
        self.assertIn(run(OLD, STATIC).returncode, (0, 5))
        self.assertEqual(run(OLD, STATIC, "rules").returncode, 0)
        capture = run(OLD, STATIC, "capture", str(self.target.pid), "-o", "-")
        self.assertIn(capture.returncode, (0, 5), capture.stderr)
        again = subprocess.run([OLD, STATIC, "explain", "-"], input=capture.stdout, capture_output=True,
                               text=True, timeout=240, check=False)
        self.assertIn(again.returncode, (0, 5), again.stderr)
        self.assertTrue(re.search(r"resident +█", again.stdout) or "resident" in again.stdout)

    def test_the_filter_bites(self):
        """Else the tests above would prove nothing: openat2 is 437, pidfd_open 434."""
        script = ("import ctypes, errno; c = ctypes.CDLL(None, use_errno=True); "
                  "r = c.syscall(434, 1, 0); print(r, ctypes.get_errno() == errno.ENOSYS)")
        self.assertEqual(run(OLD, "/usr/bin/python3", "-c", script).stdout, "-1 True\n")


if __name__ == "__main__":
    unittest.main()
