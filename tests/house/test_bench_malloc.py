"""bench-malloc keeps each sample, goes on where it stopped, and leaves samples of other builds alone; its programs
take paths as the shell gives them."""
import os
import subprocess
import tempfile
import unittest

BENCH = os.path.join(os.environ["STRATA_ROOT"], "alloc", "bench", "malloc")
RUN = os.path.join(BENCH, "run")
CASES, PEERS = 4, 2  # of the part "equal"; glibc and ours
PROGRAM = """#!/bin/sh
echo run >>"$(dirname "$0")/calls"
echo "0.5 0.25 2048 1024 512"
"""

# Programs that work from another folder than the one they were started in, as servers do.
COMPILER = """#!/usr/bin/env python3
import os, struct
os.chdir("/")
assert os.path.exists(os.environ["LD_PRELOAD"]), os.environ["LD_PRELOAD"]
with open(os.environ["STRATA_RECORD"] + ".1", "wb") as file:
    file.write(struct.pack("=QQII", 0, 1, 1, 1) + bytes(16))
"""
APT = """#!/bin/sh
case "$*" in
*indextargets*) echo file:/nowhere ;;
*download*) echo one >one.deb ;;
esac
for word in "$@"; do
    case $word in
    Dir::*=/*) ;;
    Dir::*) echo "no path that holds everywhere: $word" >&2; exit 1 ;;
    esac
done
"""
DPKG = """#!/bin/sh
[ "$1" != --show ] || echo one 1
"""


class BenchMalloc(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.write("malloc-equal", PROGRAM)
        os.chmod(self.path("malloc-equal"), 0o755)
        self.write("library.so", "one build")

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read()

    def bench(self, *options):
        """What it printed, and how often it ran the program."""
        self.write("calls", "")
        # The loader tells that our library is none, and goes on without.
        done = subprocess.run(
            [RUN, "--parts", "equal", "--peers", "glibc", "--newer", self.path("none"), *options, self.folder.name,
             self.path("library.so"), self.path("output")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, self.read("calls").count("run")

    def test_goes_on_where_it_stopped(self):
        _, calls = self.bench("--runs", "1")
        self.assertEqual(calls, CASES * PEERS)
        table, calls = self.bench("--runs", "3")
        self.assertEqual(calls, 2 * CASES * PEERS)
        self.assertIn("3 runs in turns", table)
        again, calls = self.bench("--runs", "3")
        self.assertEqual((again, calls), (table, 0))

    def test_stops_in_time(self):
        table, calls = self.bench("--minutes", "0")
        self.assertEqual((table, calls), ("", 0))

    def test_another_build_begins_anew(self):
        self.bench("--runs", "2")
        self.write("library.so", "another build")
        table, calls = self.bench("--runs", "1")
        self.assertEqual(calls, CASES * PEERS)
        self.assertIn("1 runs in turns", table)

    def test_fresh_forgets(self):
        self.bench("--runs", "1")
        _, calls = self.bench("--runs", "1", "--fresh")
        self.assertEqual(calls, CASES * PEERS)

    def test_a_line_cut_off_is_measured_again(self):
        self.bench("--runs", "1")
        lines = self.read("output/malloc-samples.jsonl")
        self.write("output/malloc-samples.jsonl", lines[:-20])
        _, calls = self.bench("--runs", "1")
        self.assertEqual(calls, 1)
        _, calls = self.bench("--runs", "1")
        self.assertEqual(calls, 0)

    def from_inside(self, program, *words):
        """Runs it with relative words in the folder, which is also the first of PATH."""
        return subprocess.run([os.path.join(BENCH, program), *words], cwd=self.folder.name, check=False,
                              capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.folder.name}:{os.environ['PATH']}"})

    def write_programs(self, **programs):
        for name, text in programs.items():
            self.write(name.replace("_", "-"), text)
            os.chmod(self.path(name.replace("_", "-")), 0o755)

    def test_traces_are_recorded_by_relative_paths(self):
        self.write_programs(gcc=COMPILER)
        os.mkdir(self.path("traces"))
        for name in ("store", "requests"):
            self.write(f"traces/trace-{name}", "is there")
        done = self.from_inside("record-traces", "library.so", "traces")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("trace-compiler: 1 calls", done.stderr)
        self.assertEqual(os.path.getsize(self.path("traces/trace-compiler")), 24 + 16)

    def test_newer_peers_are_fetched_into_a_relative_folder(self):
        self.write_programs(apt_get=APT, dpkg_deb=DPKG)
        done = self.from_inside("newer-peers", "peers")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("peers/versions"), "one 1\n")


if __name__ == "__main__":
    unittest.main()
