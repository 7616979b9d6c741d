"""Recordings of real programs: a pool whose workers change, and a disk that fills up."""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import servers
import tool

WORKERS = """
import os, sys, time
for line in sys.stdin:
    if line.strip() == "more":
        if os.fork() == 0:
            block = bytearray(20 << 20)
            time.sleep(600)
    print("done", flush=True)
"""


def ticks(path):
    try:
        with sqlite3.connect(path) as database:
            return database.execute("SELECT count(*) FROM ticks").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def wait_for(condition, seconds=servers.START_SECONDS):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError("it never came true")
        time.sleep(0.05)


class Record(unittest.TestCase):
    def record(self, path, *words):
        recorder = subprocess.Popen([tool.STRATA, "record", *words, "-o", path, "--every", "200ms", "--json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.stdout.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return recorder

    def test_workers_of_a_pool_come_and_go(self):
        with servers.folder() as home, \
                subprocess.Popen([sys.executable, "-c", WORKERS], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True) as master:
            path = os.path.join(home, "pool.db")
            try:
                def say(text):
                    master.stdin.write(text + "\n")
                    master.stdin.flush()
                    master.stdout.readline()
                say("more")
                recorder = self.record(path, f"pool:{master.pid}")
                wait_for(lambda: ticks(path) >= 3)
                say("more")
                before = ticks(path)
                wait_for(lambda: ticks(path) >= before + 3)
                children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(master.pid)],
                                          capture_output=True, text=True, check=True).stdout.split()
                os.kill(int(children[0]), signal.SIGKILL)
                before = ticks(path)
                wait_for(lambda: ticks(path) >= before + 3)
                recorder.send_signal(signal.SIGINT)
                told, errors = recorder.communicate(timeout=240)
            finally:
                subprocess.run(["pkill", "-9", "-P", str(master.pid)], check=False)
                master.kill()
            self.assertEqual(recorder.returncode, 0, errors)
            self.assertGreater(json.loads(told)["ticks"], 6)
            with sqlite3.connect(path) as database:
                members = database.execute(
                    "SELECT pid, last_tick FROM subjects WHERE kind='process' ORDER BY id").fetchall()
            self.assertEqual(len(members), 3)
            self.assertEqual({pid for pid, last in members if last is not None}, {int(children[0])})

    def test_damaged_recordings_end_with_a_message(self):
        """Bytes changed at random, the same in each run: no crash and no hang, whatever is damaged."""
        chance = random.Random(7)
        with servers.folder() as home, servers.python_program() as server:
            good, bad = (os.path.join(home, name) for name in ("good.db", "bad.db"))
            self.assertEqual(tool.run("record", server.pid, "-o", good, "--every", "200ms", "--for", "3s").returncode, 0)
            with open(good, "rb") as file:
                whole = file.read()
            for _ in range(25):
                data = bytearray(whole)
                for _ in range(chance.choice((1, 5, 50))):
                    place = chance.randrange(len(data) - 8)
                    data[place:place + 8] = bytes([chance.choice((0, 127, 128, 255))]) * 8
                with open(bad, "wb") as file:
                    file.write(data)
                for words in (("explain", bad), ("report", bad, "--json", "-o", os.path.join(home, "out"))):
                    done = tool.run(*words)
                    self.assertIn(done.returncode, (0, 4, 5, 6), done.stderr)
                    self.assertTrue(done.returncode in (0, 5) or done.stderr.startswith(b"strata: "), done.stderr)

    def test_a_full_disk_costs_ticks_and_nothing_else(self):
        """In a mount namespace of its own, on a small tmpfs which is filled, then emptied."""
        with servers.folder() as home, servers.folder() as other, servers.python_program() as server:
            script = f"""
set -eu
mount -t tmpfs -o size=2m none {home}
"$1" record {server.pid} -o {home}/full.db --every 200ms --json >{home}/told 2>"$2" & recorder=$!
ticks() {{ sqlite3 {home}/full.db 'SELECT count(*) FROM ticks' 2>/dev/null || echo 0; }}
wait_for() {{ for i in $(seq 4800); do "$@" && return; sleep 0.05; done; exit 9; }}
has_ticks() {{ [ "$(ticks)" -ge "$1" ]; }}
wait_for has_ticks 3
dd if=/dev/zero of={home}/filler bs=4096 2>/dev/null || true
wait_for grep -q 'trying again at every tick' "$2"
stored=$(ticks)
rm {home}/filler
wait_for has_ticks $((stored + 3))
kill -INT $recorder
code=0
wait $recorder || code=$?
echo "code $code stored $stored"
sqlite3 {home}/full.db 'PRAGMA integrity_check' 'SELECT count(*) FROM events WHERE kind="lost"'
cat {home}/told
"$1" explain {home}/full.db >/dev/null
"""
            done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", tool.STRATA,
                                   os.path.join(other, "messages")],
                                  capture_output=True, text=True, timeout=1500, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            first, integrity, lost, *told = done.stdout.splitlines()
            code, stored = int(first.split()[1]), int(first.split()[3])
            self.assertEqual(integrity, "ok")
            self.assertEqual(lost, "1")
            told = json.loads("\n".join(told))
            self.assertEqual(code, 5, told)
            self.assertGreater(told["ticks_lost"], 0)
            self.assertGreaterEqual(told["ticks"], stored + 3)


if __name__ == "__main__":
    unittest.main()
