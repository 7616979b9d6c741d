"""strata bench and strata plan on real servers: counted twice, planned and tried, killed on the way."""
import atexit
import contextlib
import glob
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import servers
import tool

RUN_SECONDS = 300

# Folders of this run's benches alone: others may run at the same time.
OWN_FOLDER = tempfile.mkdtemp(prefix="strata-test-", dir=servers.base())
os.chmod(OWN_FOLDER, 0o711)  # servers that give up root must get in
os.environ["TMPDIR"] = OWN_FOLDER
atexit.register(shutil.rmtree, OWN_FOLDER, ignore_errors=True)

PAGE = """<?php
$sum = 0.0;
for ($i = 1; $i <= 1000; $i++) { $sum += sqrt($i); }
usleep(50000);
printf("query %.3f\\n", $sum);
"""


# Reasons against a run that are about the machine: on one that is busy with other things they are right.
MACHINE = re.compile(r"generator was busy|\(steal\)$|machine swapped|cgroup was throttled")


def reasons_of(run):
    """What speaks against a run, but for what the machine had to do beside it."""
    return [text for text in run["reasons"] if not MACHINE.search(text)]


def bench(*words):
    """A bench that runs to its end, with figures or without those that a busy machine spoils; the table as JSON."""
    done = subprocess.run([tool.STRATA, "bench", "--json", "--silent", *map(str, words)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=RUN_SECONDS, check=False)
    if done.returncode not in (0, 5):
        raise AssertionError(f"bench {words}: exit code {done.returncode}: {done.stderr}"
                             f"{done.stdout[:3000]}")
    return json.loads(done.stdout)


def row_of(result, recipe):
    return next(row for row in result["rows"] if row["recipe"] == recipe)


def plan(*words):
    done = tool.run("plan", "--json", *words)
    if done.returncode != 0:
        raise AssertionError(f"plan {words}: {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def case(made, name):
    return next(item for item in made["cases"] if item["id"] == name)


def descendants(pid):
    """Every process below pid, from the kernel's own lists."""
    found = []
    for child in servers.children(pid):
        with contextlib.suppress(FileNotFoundError):
            found += [child, *descendants(child)]
    return found


def command_line(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode(errors="replace")
    return ""


class Bench(unittest.TestCase):
    def nothing_left(self, pids):
        """No process of pids and no folder of ours is left."""
        for pid in pids:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), f"{pid}: {command_line(pid)}")
        self.assertEqual(glob.glob(os.path.join(OWN_FOLDER, "strata-bench-*")), [])

    def all_valid(self, row):
        self.assertTrue(row["whole"], row["why"])
        for run in row["runs"]:
            self.assertEqual(reasons_of(run), [])
            self.assertGreater(run["requests"], 0)

    def test_fpm_counts_as_the_bench_does(self):
        """Requests by FPM's own counter, memory by /proc, beside the bench's figures."""
        port = servers.free_port()
        with php_fpm_on(port, PAGE, workers=4) as (master, page):
            before = accepted(port)
            result = bench("--attach", f"pool:{master.pid}", "--url",
                           f"fastcgi://127.0.0.1:{port}{page}?query", "--expect", "query 21097.456",
                           "--workers", 4, "--connections", 8, "--seconds", 2, "--runs", 3,
                           "--warm", 4, "--quiet", 1)
            after = accepted(port)
            pids = [master.pid, *servers.children(master.pid)]
            rss = sum(tool.rollup(pid)["Rss"] for pid in pids)
            pss = sum(tool.rollup(pid)["Pss"] for pid in pids)
        row = row_of(result, "attached")
        self.all_valid(row)
        counted = row["warm_requests"] + sum(run["requests"] for run in row["runs"])
        loads = row["warm_seconds"] + len(row["runs"])
        print(f"  answered {counted} by the bench, {after - before} by FPM; "
              f"rss {row['quiet']['rss_sum']} and {rss}, pss {row['quiet']['pss']} and {pss}")
        # what FPM served beyond it: probes, status pages, and answers after a load's end
        self.assertGreaterEqual(after - before, counted)
        self.assertLessEqual(after - before, counted + loads * 8 + 20)
        self.assertLess(abs(row["quiet"]["rss_sum"] - rss), rss // 50)
        self.assertLess(abs(row["quiet"]["pss"] - pss), pss // 10)
        # Four blocking workers and 50 ms; two seconds may begin with what eight connections waited for.
        if any(run["valid"] for run in row["runs"]):
            self.assertLessEqual(row["median"]["rate_most_thousandths"], 84000)

    def test_a_recording_is_planned(self):
        """Each worker at each tick is a sample; the figures are the kernel's."""
        # without a status page: asking for it is a request, which a worker pays for
        with servers.php_fpm(PAGE, workers=3) as server, servers.folder() as home:
            path = os.path.join(home, "pool.db")
            done = tool.run("record", f"pool:{server.pid}", "--every", "500ms", "--for", "3s", "-o", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            made = plan(path, "--limit", "256M")
            sizes = [tool.rollup(pid) for pid in servers.children(server.pid)]
        self.assertEqual(made["worker"]["samples_are"], "moments")
        self.assertEqual(made["worker"]["samples"] % 3, 0)
        self.assertGreaterEqual(made["worker"]["samples"], 3)
        largest = max(size["Private_Clean"] + size["Private_Dirty"] for size in sizes)
        # A page of a file is a worker's own until another php-fpm of the machine maps it as well.
        self.assertAlmostEqual(made["worker"]["largest"] - made["worker"]["kernel"], largest, delta=1 << 18)

    def test_gunicorn_and_nginx_by_wrk_and_ab(self):
        """Two servers from recipes, end to end, by two other generators."""
        servers.program("gunicorn", "gunicorn")
        servers.program("ab", "apache2-utils")
        servers.program("wrk", "wrk")
        result = bench("gunicorn", "nginx", "--work", "hello", "--workers", 2, "--connections", 4,
                       "--seconds", 2, "--runs", 2, "--warm", 3, "--quiet", 1, "--load", "ab")
        for name in ("gunicorn", "nginx"):
            row = row_of(result, name)
            self.assertTrue(row["whole"], row["why"])
            self.assertEqual(row["workers"], 2)
            for run in row["runs"]:
                self.assertTrue(run["complete"])
                self.assertEqual(run["bad_status"] + run["bad_body"] + run["failed"], 0)
                self.assertEqual(reasons_of(run), [])
            self.assertGreater(row["idle"]["rss_sum"], row["idle"]["pss"])
        result = bench("gunicorn", "--work", "mix", "--workers", 2, "--connections", 4, "--seconds",
                       2, "--runs", 1, "--warm", 3, "--quiet", 0, "--load", "wrk")
        run = row_of(result, "gunicorn")["runs"][0]
        self.assertTrue(run["complete"])
        self.assertEqual(run["bad_status"] + run["bad_body"] + run["failed"], 0)

    def test_a_plan_is_tried(self):
        """As many workers as the worst case allows: no kill. 15 % more: the limit is reached."""
        if not os.access("/sys/fs/cgroup", os.W_OK) or os.getuid() != 0:
            self.fail("needs root, to make a cgroup with a limit")
        limit = 384 << 20
        with tempfile.TemporaryDirectory(prefix="strata-") as home:
            path = os.path.join(home, "result.json")
            result = bench("fpm", "--work", "heavy", "--workers", 3, "--connections", 6, "--seconds",
                           4, "--runs", 1, "--warm", 2, "--quiet", 0)
            with open(path, "w", encoding="ascii") as file:
                json.dump(result, file)
            real = row_of(result, "fpm")["plan"]["peak_real"]
            self.assertGreaterEqual(real, 20 << 20)
            made = plan(path, "--limit", f"{limit >> 20}M", "--reserve", 0, "--memory-limit", real,
                        "--case", "worst")
        allowed = case(made, "worst")["workers"]
        self.assertIn(f"pm.max_children = {allowed}\n", made["config"])
        self.assertGreater(allowed, 6)
        fine = self.try_workers(allowed, limit)
        more = self.try_workers(math.ceil(allowed * 1.15), limit)
        print(f"  {allowed} workers: peak {fine['charged_peak']}, {fine['kills']} kills; "
              f"{math.ceil(allowed * 1.15)}: {more['limit_hits']} times at the limit, "
              f"{more['kills']} kills")
        self.assertEqual(fine["kills"], 0)
        self.assertLess(fine["charged_peak"], limit)
        self.assertEqual(reasons_of(fine["runs"][0]), [])
        self.assertGreater(more["limit_hits"], 0)
        self.assertGreaterEqual(more["charged_peak"], limit - (1 << 20))

    @staticmethod
    def try_workers(count, limit):
        result = bench("fpm", "--work", "heavy", "--workers", count, "--connections", 2 * count,
                       "--seconds", 5, "--runs", 1, "--warm", 1, "--quiet", 0, "--limit",
                       f"{limit >> 20}M")
        return row_of(result, "fpm")

    def killed_on_the_way(self, victim, work="hello", recipe="gunicorn", seconds=12):
        """A bench whose process is ended by SIGKILL in the first run; victim chooses it. A run has to last until
        this test has had its turn on a busy machine."""
        with subprocess.Popen(
                [tool.STRATA, "bench", recipe, "--json", "--work", work, "--workers", "2",
                 "--connections", "4", "--seconds", str(seconds), "--runs", "2", "--warm", "2", "--quiet",
                 "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True) as process:
            for line in process.stderr:
                if "run 1 of 2 begins" in line:
                    break
            end = time.monotonic() + 60
            pid, pids = None, []
            time.sleep(0.7)
            while pid is None and time.monotonic() < end:
                pids = descendants(process.pid)
                pid = victim(process, pids)
                time.sleep(0.02)
            self.assertIsNotNone(pid, [command_line(each) for each in pids])
            os.kill(pid, signal.SIGINT if pid == process.pid else signal.SIGKILL)
            output, errors = process.communicate(timeout=RUN_SECONDS)
        self.nothing_left(pids)
        self.assertEqual(process.returncode, 5, errors)
        return row_of(json.loads(output), recipe)

    @staticmethod
    def named(word):
        return lambda _, pids: next((pid for pid in pids if word in command_line(pid)), None)

    def no_half_result(self, row):
        self.assertFalse(row["whole"] and all(run["valid"] for run in row["runs"]))

    def test_a_killed_worker_is_told(self):
        def worker(_, pids):
            masters = [pid for pid in pids if "gunicorn" in command_line(pid)]
            below = [child for pid in masters for child in servers.children(pid)]
            return below[0] if below else None
        row = self.killed_on_the_way(worker)
        self.no_half_result(row)
        self.assertRegex(str([run["reasons"] for run in row["runs"]]), r"\b1 worker ended")

    def test_a_killed_generator_is_told(self):
        servers.program("wrk", "wrk")
        row = self.killed_on_the_way(self.named("wrk -t1"))
        self.no_half_result(row)
        self.assertRegex(str([run["reasons"] for run in row["runs"]]), "generator ended")

    def test_a_killed_database_is_told(self):
        servers.program("mariadbd", "mariadb-server-core")
        row = self.killed_on_the_way(self.named("mariadbd"), work="query")
        self.no_half_result(row)
        self.assertFalse(row["whole"])
        self.assertIn("'database' ended", row["why"])

    def test_a_stop_ends_everything(self):
        row = self.killed_on_the_way(lambda process, pids: process.pid if pids else None, seconds=60)
        self.assertFalse(row["whole"])
        self.assertIn("stopped by a signal", row["why"])
        self.assertIsNone(row["median"])


@contextlib.contextmanager
def php_fpm_on(port, script, workers):
    """php-fpm with a status page on a loopback port: its process and the path of its page."""
    server = servers.program("php-fpm8.2", "php8.2-fpm")
    with servers.folder() as home:
        page = os.path.join(home, "page.php")
        with open(page, "w", encoding="utf-8") as file:
            file.write(script)
        with open(os.path.join(home, "fpm.conf"), "w", encoding="ascii") as file:
            file.write(f"""[global]
error_log = {home}/log
[www]
user = root
group = root
listen = 127.0.0.1:{port}
pm = static
pm.max_children = {workers}
pm.status_path = /status
""")
        with servers.running([server, "-R", "-F", "-n", "-y", f"{home}/fpm.conf"],
                             stderr=subprocess.DEVNULL) as process:
            servers.wait_until(lambda: len(servers.children(process.pid)) == workers, "php-fpm",
                               process)
            yield process, page


def accepted(port):
    """FPM's own count of requests, over FastCGI."""
    import socket
    import struct
    names = {"SCRIPT_FILENAME": "/status", "SCRIPT_NAME": "/status", "REQUEST_METHOD": "GET",
             "QUERY_STRING": ""}
    pairs = b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode()
                     for name, value in names.items())
    answer = b""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(servers.fastcgi_record(1, struct.pack(">HB5x", 1, 0)) +
                           servers.fastcgi_record(4, pairs) + servers.fastcgi_record(4, b"") +
                           servers.fastcgi_record(5, b""))
        while data := connection.recv(65536):
            answer += data
    return int(re.search(rb"accepted conn:\s+(\d+)", servers.fastcgi_output(answer)).group(1))


if __name__ == "__main__":
    unittest.main()
