"""Each call that may fail fails in turn, for every command: no crash, no leak, the right exit code."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import tool

STRATA = os.environ["STRATA_PROGRAM"]
SHIM = os.path.join(os.environ["STRATA_TARGETS"], "libfault_calls.so")
EIO, ENOMEM, EMFILE, ENOSPC, ESRCH = 5, 12, 24, 28, 3

# Kind of call, the errors it fails with.
KINDS = {"malloc": (ENOMEM,), "mmap": (ENOMEM,), "open": (EMFILE,), "read": (EIO,), "vm": (ESRCH,),
         "write": (ENOSPC,), "folder": (EMFILE,), "stat": (EIO,), "link": (EIO,)}

# What a failing call may lead to. A write that fails must not end as if the output were whole.
CODES = {0, 3, 4, 5, 6}
CODES_OF_WRITE = {6}

# Every call up to here, and from there on a rising step: calls later in a loop are the same.
ALL_UP_TO = 40
STEP = 1.4


def numbers(count, all_up_to):
    chosen, number = [], 1
    while number <= count:
        chosen.append(number)
        number = number + 1 if number < all_up_to else int(number * STEP) + 1
    return chosen


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="strata-faults-")
        cls.target = tool.PythonTarget("x = [bytearray(1000) for _ in range(2000)]")
        cls.pid = cls.target.pid
        time.sleep(0.1)
        cls.capture = os.path.join(cls.folder, "good.strata")
        subprocess.run([STRATA, "capture", cls.pid, "-o", cls.capture], check=False, timeout=240)

    @classmethod
    def tearDownClass(cls):
        cls.target.end()
        shutil.rmtree(cls.folder)

    def run_one(self, command, kind, number, error):
        """(exit code, standard error, calls, failed, live blocks); a code below 0 is a signal"""
        report = os.path.join(self.folder, f"report-{kind}-{number}-{error}-{abs(hash(tuple(command)))}")
        environment = {**os.environ, "LD_PRELOAD": SHIM, "FAULT_CALL": kind, "FAULT_NTH": str(number),
                       "FAULT_ERRNO": str(error), "FAULT_REPORT": report}
        done = subprocess.run([STRATA] + command, env=environment, capture_output=True, text=True,
                              errors="replace", timeout=240, check=False)
        counts = (0, 0, 0)
        if os.path.exists(report):
            with open(report, encoding="ascii") as file:
                counts = tuple(int(word) for word in file.read().split())
            os.unlink(report)
        return (done.returncode, done.stderr) + counts

    def judge(self, command, kind, number, error, leak_allowed):
        code, errors, _, failed, live = self.run_one(command, kind, number, error)
        where = f"{' '.join(command)}: {kind} {number} with errno {error}: exit code {code}: {errors[-300:]}"
        if failed == 0:
            return None
        allowed = CODES_OF_WRITE if kind == "write" else CODES
        if code not in allowed:
            return where
        # The write that failed may be the one of the message.
        if code in (4, 6) and kind != "write" and not re.search(r"^strata: \S", errors, re.M):
            return where + " (nothing was said)"
        if live > leak_allowed:
            return f"{where} ({live} blocks not freed, {leak_allowed} without a failure)"
        return None

    def every_failure(self, *command, all_up_to=ALL_UP_TO):
        command = list(command)
        problems = []
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            work = []
            for kind, errors in KINDS.items():
                _, _, calls, _, live = self.run_one(command, kind, 0, errors[0])
                for error in errors:
                    work += [pool.submit(self.judge, command, kind, number, error, live)
                             for number in numbers(calls, all_up_to)]
            self.assertGreater(len(work), 20)
            problems = [done.result() for done in work if done.result()]
        print(f"{len(work)} failures injected into: strata {' '.join(command)}")
        self.assertFalse(problems, f"{len(problems)} of {len(work)}:\n" + "\n".join(problems[:20]))

    def test_explain(self):
        self.every_failure("explain", self.pid)

    def test_explain_of_a_file(self):
        self.every_failure("explain", "--json", self.capture)

    def test_capture(self):
        self.every_failure("capture", self.pid, "-o", os.path.join(self.folder, "one.strata"))

    def test_overview(self):
        self.every_failure()

    def test_record(self):
        # Each run takes the time that is recorded.
        self.every_failure("record", self.pid, "-o", os.path.join(self.folder, "one.db"), "--every", "200ms",
                           "--for", "200ms", all_up_to=8)

    def test_explain_of_a_recording(self):
        recording = os.path.join(self.folder, "good.db")
        subprocess.run([STRATA, "record", self.pid, "-o", recording, "--every", "200ms", "--for", "300ms"],
                       check=True, capture_output=True, timeout=240)
        self.every_failure("explain", recording)

    def test_export(self):
        root = os.path.join(os.environ["STRATA_ROOT"], "tests", "fixtures", "cgroup-v2-systemd")
        self.every_failure("export", "--once", "--root", root)
        self.every_failure("export", "--once", "--root", root, "--textfile", os.path.join(self.folder, "one.prom"))

    def test_plan(self):
        self.every_failure("plan", self.pid, "--server", "other")

    def test_bench_list(self):
        self.every_failure("bench", "--list")

    def test_rules_and_help(self):
        self.every_failure("rules")
        self.every_failure("help", "targets")

    def test_lab_list(self):
        self.every_failure("lab")


if __name__ == "__main__":
    unittest.main()
