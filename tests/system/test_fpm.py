"""PHP-FPM from outside: workers in the middle of a request, idle ones, busy ones, the pool."""
import contextlib
import os
import subprocess
import threading
import time
import unittest

import servers
import tool

LIMIT = 192 << 20
CHUNK = 2 << 20
READS = 1000
LATE_BYTES = 128 << 10

HOLD = """<?php
echo "begin\\n"; flush();
$rows = []; $used = $real = $peak = $peak_real = 0;
for ($i = 0; $i < 60000; $i++) { $rows[] = [$i, str_repeat("a", $i % 300)]; }
$big = str_repeat("b", 3000000);
str_repeat("x", 65536);
$used = memory_get_usage(); $real = memory_get_usage(true);
$peak = memory_get_peak_usage(); $peak_real = memory_get_peak_usage(true);
echo "$used $real $peak $peak_real.\\n"; flush();
sleep(300);
"""

HEAVY = """<?php
$rows = [];
for ($i = 0; $i < 100000; $i++) { $rows[] = [$i, str_repeat("a", 200)]; }
echo "ready\\n";
"""

WORK = """<?php
$kept = [];
for ($i = 0; $i < 3000; $i++) { $kept[$i % 500] = str_repeat("a", $i * 7 % 5000); }
echo "ready\\n";
"""

# Of this run alone: a machine may have other pools.
POOL = f"pool-{os.getpid()}"

SETTINGS = f"php_admin_value[memory_limit] = {LIMIT >> 20}M\npm.status_path = /status\n"


@contextlib.contextmanager
def held_request(server):
    """A request that has printed its figures and holds its memory."""
    answer = b""
    with servers.fastcgi_open(server.path, server.page) as connection:
        while not servers.fastcgi_output(answer).endswith(b".\n"):
            answer += connection.recv(65536)
        figures = servers.fastcgi_output(answer).split(b"begin\n")[1].rstrip(b".\n")
        yield [int(word) for word in figures.split()]


def heaps_of(report):
    return {heap["pid"]: heap for heap in report["zend_heaps"]}


class Fpm(unittest.TestCase):
    def pool_of(self, report):
        pools = [pool for pool in report["fpm_pools"] if pool["name"] == POOL]
        self.assertEqual(len(pools), 1)
        return pools[0]

    def busy_heap(self, workers):
        """The heap of the one worker in a request, once it sleeps there."""
        found = []

        def one_is_busy():
            found[:] = [heap for pid in workers for heap in tool.explain(pid)["zend_heaps"]
                        if heap.get("used", 0) > 8 << 20]
            return len(found) == 1
        servers.wait_until(one_is_busy, "a worker in a request")
        return found[0]

    def test_in_a_request(self):
        """The figures of the page itself, to the byte, and the limit of the pool."""
        with servers.php_fpm(HOLD, settings=SETTINGS, name=POOL) as server, held_request(server) as figures:
            heap = self.busy_heap(server.pids[1:])
        self.assertEqual([heap["used"], heap["real"], heap["peak_used"], heap["peak_real"]], figures)
        self.assertEqual(heap["limit"], LIMIT)

    def test_pool_and_status(self):
        with servers.php_fpm(HEAVY, settings=SETTINGS, name=POOL) as server:
            for _ in range(6):
                self.assertIn(b"ready", servers.fastcgi_get(server.path, server.page))
            report = tool.explain(f"pool:{POOL}")
        self.assertEqual(report["target"]["kind"], "pool")
        self.assertEqual(sorted(report["target"]["members"]), sorted(server.pids))
        pool = self.pool_of(report)
        self.assertEqual([pool["manager"], pool["max_children"], pool["memory_limit"]],
                         ["static", 2, LIMIT])
        status = pool["status"]
        self.assertEqual([status["state"], status["total"]], ["ok", 2], status)
        self.assertEqual(sorted(row["pid"] for row in status["workers"]), sorted(server.pids[1:]))
        idle = [heap for heap in heaps_of(report).values() if heap["cached_chunks"] > 0]
        self.assertTrue(idle, "no worker kept a chunk: the test shows nothing")
        for heap in idle:
            self.assertLess(heap["used"], 4096)
            self.assertGreater(heap["cached_resident"], 0)
            self.assertEqual(heap["real"], CHUNK * (heap["chunks"] + heap["cached_chunks"]))
        self.assertIn("php-idle-cache", [item["rule"] for item in report["findings"]])

    def test_a_look_that_is_a_request_is_told_and_can_be_left_out(self):
        """Whoever asks a worker is counted as a request, says so, and need not ask."""
        told = "a worker answered, a request more"

        def accepted():
            return self.pool_of(tool.explain(f"pool:{POOL}"))["status"]["accepted_connections"]
        with servers.php_fpm(HEAVY, settings=SETTINGS, name=POOL):
            before = accepted()
            self.assertIn(told, self.text_of())
            # Whoever else looks at this machine may ask as well.
            self.assertGreaterEqual(accepted(), before + 2)
            self.assertNotIn(told, self.text_of("--no-ask"))
            with servers.folder() as home:
                for file, words in (("facts.strata", ["capture", f"pool:{POOL}", "-o", "facts.strata"]),
                                    ("facts.db", ["record", f"pool:{POOL}", "-o", "facts.db", "--for", "200ms"])):
                    done = tool.run_in_time(*words, "--no-ask", cwd=home)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    status = self.pool_of(tool.explain(os.path.join(home, file)))["status"]
                    self.assertEqual(status["state"], "absent")
                    self.assertIn("--no-ask", status["why"])

    def test_a_page_that_needs_no_worker_is_not_told(self):
        with servers.folder() as home:
            settings = SETTINGS + f"pm.status_listen = {home}/status\n"
            with servers.php_fpm(HEAVY, settings=settings, name=POOL):
                text = self.text_of()
        self.assertIn("active 0", text)
        self.assertNotIn("a worker answered", text)

    def text_of(self, *options):
        done = tool.run_in_time("explain", f"pool:{POOL}", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stdout.decode().split())

    def test_settings_named_from_the_working_folder(self):
        with servers.php_fpm(WORK, settings=SETTINGS, name=POOL, config="fpm.conf"):
            report = tool.explain(f"pool:{POOL}")
        pool = self.pool_of(report)
        self.assertEqual([pool["manager"], pool["memory_limit"]], ["static", LIMIT])

    def test_full_pool_is_left_alone(self):
        """No status is asked for when no worker waits: it would take the last slot or hang."""
        with servers.php_fpm(HOLD, workers=1, settings=SETTINGS, name=POOL) as server, held_request(server):
            status = self.pool_of(tool.explain(f"pool:{POOL}"))["status"]
        self.assertEqual(status["state"], "absent")
        self.assertIn("busy", status["why"])

    def test_busy_worker(self):
        """A worker serving at full speed: no figure is accepted that does not sum up."""
        stop = threading.Event()
        answers = []

        def load(server):
            while not stop.is_set():
                answers.append(servers.fastcgi_get(server.path, server.page))

        with servers.php_fpm(WORK, workers=1, settings=SETTINGS, name=POOL) as server:
            driver = threading.Thread(target=load, args=(server,))
            driver.start()
            try:
                done = subprocess.run([tool.target("zend_reads"), str(server.pids[1]), str(READS)],
                                      capture_output=True, text=True, timeout=1500, check=False)
            finally:
                stop.set()
                driver.join()
        print(f"{done.stdout.strip()}, {len(answers)} requests meanwhile")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        counts = dict(zip(done.stdout.split()[::2], map(int, done.stdout.split()[1::2])))
        self.assertEqual(sum(counts.values()), READS)
        # How many are whole depends on how busy the machine is; that some are does not.
        self.assertGreater(counts["ok"], 0)
        self.assertGreater(len(answers), 10)
        self.assertTrue(all(b"ready" in answer for answer in answers))


class Untouched(unittest.TestCase):
    @staticmethod
    def private(workers):
        return sum(tool.rollup(pid)["Private_Dirty"] for pid in workers)

    def is_at_rest(self, workers):
        """A worker that was just forked still writes to its pages."""
        before = self.private(workers)
        time.sleep(0.2)
        return self.private(workers) == before

    def test_r_reading_gives_no_worker_its_own_copy(self):
        """Pages that workers share with their master are still shared after a look."""
        with servers.php_fpm(WORK, workers=6) as server:
            workers = servers.children(server.pid)
            servers.wait_until(lambda: self.is_at_rest(workers), "workers at rest")
            before = self.private(workers)
            for _ in range(3):
                tool.run("explain", f"pool:{server.pid}", "--json")
            after = self.private(workers)
            print(f"  private before {before}, after three looks {after}")
            # Copies are megabytes; the last pages of a worker that begins slowly are not.
            self.assertLess(after - before, LATE_BYTES * len(workers))


if __name__ == "__main__":
    unittest.main()
