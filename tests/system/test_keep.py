"""The look that explain keeps: the next start is set beside it, and nothing in its folder does harm."""
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import time
import unittest
import zlib

import servers
import tool

# 40 MB of freed blocks below one that stays: malloc keeps them, and a finding says so.
GARBAGE = "a=[bytes(2000) for _ in range(20000)]; kept=a[-1]; del a"
FINE = (0, 5)  # 5: this machine denies a fact; the account is there all the same


class Kept(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.home)
        self.state = os.path.join(self.home, "state")
        self.targets = []

    def tearDown(self):
        for target in self.targets:
            target.end()

    def target(self, script=GARBAGE):
        target = tool.PythonTarget(script)
        self.targets.append(target)
        return target

    def end(self, target):
        """Its end, and a second, in which the kernel counts starts, before the next begins."""
        self.targets.remove(target)
        target.end()
        time.sleep(1.1)

    def explain(self, target, *words, state=None):
        done = tool.run("explain", target.pid, *words, env={**os.environ, "STRATA_STATE": state or self.state})
        self.assertIn(done.returncode, FINE, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()

    def files(self):
        return sorted(os.listdir(self.state)) if os.path.isdir(self.state) else []

    def look(self):
        """The path of the only file."""
        self.assertEqual(len(self.files()), 1, self.files())
        return os.path.join(self.state, self.files()[0])

    def test_the_next_start_is_compared(self):
        first = self.target()
        text = self.explain(first)
        self.assertIn("kept for the next explain", text)
        self.assertNotIn("Since 20", text)
        self.assertEqual(stat.S_IMODE(os.stat(self.state).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(self.look()).st_mode), 0o600)
        self.assertLess(os.stat(self.look()).st_size, 300 << 10)
        self.assertNotIn("Since 20", self.explain(first))  # the same start
        self.look()
        self.end(first)
        second = self.target()
        text = self.explain(second)
        self.assertIn("(kept look, restarted)", text)
        self.assertEqual(len(self.files()), 2)
        since = json.loads(self.explain(second, "--json"))["since"]
        self.assertTrue(since["restarted"])
        promises = {promise["rule"]: promise["verdict"] for promise in since["promises"]}
        self.assertEqual(promises["glibc-retained"], "ended")
        self.end(second)
        third = self.target()
        self.assertIn("(kept look, restarted)", self.explain(third))
        self.assertEqual(len(self.files()), 2)  # of this start and of the one before

    def test_a_sibling_is_no_earlier_start(self):
        self.explain(self.target())
        time.sleep(1.1)
        self.assertNotIn("Since 20", self.explain(self.target()))

    def test_it_can_be_switched_off(self):
        target = self.target()
        for words, state in ((["--no-keep"], None), ([], "off")):
            self.assertNotIn("kept for the next", self.explain(target, *words, state=state))
            self.assertEqual(self.files(), [])
        # Where nothing can be written nothing is said: that is normal.
        self.assertNotIn("kept: ", self.explain(target, state="/proc/nowhere"))

    def test_what_was_looked_at_long_ago_goes(self):
        os.mkdir(self.state, 0o700)
        for number in range(70):
            path = os.path.join(self.state, f"old-{number:016x}-1000-12.look")
            with open(path, "wb"):
                os.utime(path, (number, number))
        # systemd's folder of a service holds what is the service's own
        for name in ("notes.txt", "other-12.look", ".new-notes"):
            with open(os.path.join(self.state, name), "wb"):
                os.utime(os.path.join(self.state, name), (1, 1))
        self.explain(self.target())
        looks = [name for name in self.files() if name.count("-") == 3]
        self.assertEqual(len(looks), 64)
        self.assertNotIn("old-0000000000000000-1000-12.look", looks)
        self.assertIn(f"old-{69:016x}-1000-12.look", looks)
        for name in ("notes.txt", "other-12.look", ".new-notes"):
            self.assertIn(name, self.files())

    def test_what_would_cost_much_is_not_kept(self):
        many = "; import mmap; maps=[mmap.mmap(-1, 4096) for i in range(51000)]"
        self.assertIn("too large to be kept", self.explain(self.target(GARBAGE + many)))
        self.assertEqual(self.files(), [])

    def hostile(self, put):
        """The look of an earlier start is replaced by put(path); the next explain does not mind."""
        first = self.target()
        self.explain(first)
        path = self.look()
        self.end(first)
        os.unlink(path)
        put(path)
        text = self.explain(self.target())
        self.assertNotIn("Since 20", text)
        self.assertIn("kept for the next explain", text)
        return path

    def test_a_hostile_look_does_no_harm(self):
        victim = os.path.join(self.home, "victim")
        with open(victim, "w", encoding="ascii") as file:
            file.write("untouched")

        def write(data):
            def put(path):
                with open(path, "wb") as file:
                    file.write(data)
            return put

        def huge(path):
            with open(path, "wb") as file:
                file.truncate(1 << 34)

        bomb = zlib.compress(bytes(1 << 26), 9)
        for put in (lambda path: os.symlink(victim, path), os.mkfifo, os.mkdir, huge, write(b""), write(b"nonsense" * 100),
                    write(b"strata look 1 100\n" + bomb), write(b"strata look 1 16777216\n" + bomb),
                    write(b"strata look 1 99999999999999999999\n" + bomb),
                    write(b"strata look 1 64\n" + zlib.compress(os.urandom(64)))):
            with self.subTest(put=put):
                self.hostile(put)
            shutil.rmtree(self.state)
        with open(victim, encoding="ascii") as file:
            self.assertEqual(file.read(), "untouched")

    def test_a_look_at_another_target_is_not_shown(self):
        other = self.target(GARBAGE + "; open('/proc/self/comm','w').write('other')")
        self.explain(other)
        with open(self.look(), "rb") as file:
            data = file.read()
        shutil.rmtree(self.state)
        self.end(other)  # one that lives is none of an earlier start anyway

        def put(path):
            with open(path, "wb") as file:
                file.write(data)
        self.hostile(put)

    def test_a_folder_of_others_is_left_alone(self):
        target = self.target()
        os.mkdir(self.state)
        os.chmod(self.state, 0o777)
        self.assertIn("not kept: others can write", self.explain(target))
        self.assertEqual(self.files(), [])
        os.chmod(self.state, 0o700)
        between = os.path.join(self.home, "between")
        os.mkdir(between)
        os.chmod(between, 0o777)
        self.assertIn("not kept: others can write", self.explain(target, state=os.path.join(between, "state")))
        os.chmod(between, 0o1777)
        self.assertIn("kept for the next", self.explain(target, state=os.path.join(between, "state")))

    def test_links_of_others_are_not_followed(self):
        target = self.target()
        link = os.path.join(self.home, "link")
        os.mkdir(self.state, 0o700)
        os.symlink(self.state, link)
        self.assertIn("kept for the next", self.explain(target, state=link))
        if os.geteuid() != 0:
            return  # only root can make a link of somebody else
        os.lchown(link, 65534, 65534)
        self.assertIn("not kept: others can write", self.explain(target, state=link))
        self.assertIn("not kept: others can write", self.explain(target, state=os.path.join(link, "below")))
        os.unlink(link)
        os.chown(self.state, 65534, 65534)
        self.assertIn("not kept: others can write", self.explain(target))


PAGE = """<?php
$kept = [];
for ($i = 0; $i < 30000; $i++) { $kept[$i % 2000] = str_repeat("a", $i * 7 % 5000); }
echo "ready\\n";
"""
POOL = f"keep{os.getpid()}"  # of this run alone: a machine may have other pools
WORKERS = 24


class Pool(unittest.TestCase):
    """A pool of many workers: what they keep while they wait was promised, and comes back."""

    def setUp(self):
        self.home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.home)
        self.state = os.path.join(self.home, "state")

    def explain(self, *words):
        done = tool.run_in_time("explain", f"pool:{POOL}", *words, env={**os.environ, "STRATA_STATE": self.state})
        self.assertIn(done.returncode, FINE, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()

    def look(self, settings=""):
        """The account of the pool after a load, and the page; first the page, so that the look is the account's."""
        with servers.php_fpm(PAGE, workers=WORKERS, name=POOL, settings=settings) as server:
            for _ in range(3 * WORKERS):
                self.assertIn(b"ready", servers.fastcgi_get(server.path, server.page))
            # One that has ended by pm.max_requests is replaced.
            servers.wait_until(lambda: len(servers.children(server.pid)) == WORKERS, "all workers")
            page = self.explain()
            account = json.loads(self.explain("--json"))
        time.sleep(1.1)  # the kernel counts starts in seconds
        return account, page

    @staticmethod
    def cached(account):
        return next((finding["evidence"]["cached_resident"] for finding in account["findings"]
                     if finding["rule"] == "php-idle-cache"), 0)

    def check_layers(self, before, after):
        layers = {layer["id"]: layer for layer in after["since"]["layers"]}
        for name in ("tracked", "in_use", "held", "resident", "pss"):
            self.assertEqual(layers[name]["before"], tool.layer(before, name)["bytes"], name)
            self.assertEqual(layers[name]["now"], tool.layer(after, name)["bytes"], name)

    def promise(self, account):
        return next(promise for promise in account["since"]["promises"] if promise["rule"] == "php-idle-cache")

    def test_r_a_pool_without_workers_is_set_beside_its_look(self):
        """The advice worked: with pm = ondemand nobody waits, and the pool is its master."""
        self.look()
        settings = "pm = ondemand\npm.process_idle_timeout = 1s\n"
        with servers.php_fpm(PAGE, workers=WORKERS, name=POOL, settings=settings, started=0) as server:
            self.assertIn(b"ready", servers.fastcgi_get(server.path, server.page))
            servers.wait_until(lambda: not servers.children(server.pid), "no worker")
            page = self.explain()
            self.assertIn(f"no worker now, its master is pid {server.pid}", page)
            self.assertEqual(self.promise(json.loads(self.explain("--json")))["verdict"], "as-promised", page)

    def test_a_pool_is_compared_with_its_next_start(self):
        before, page = self.look()
        self.assertNotIn("since", before)
        self.assertIn("kept for the next explain", page)
        sizes = [os.stat(os.path.join(self.state, name)).st_size for name in os.listdir(self.state)]
        self.assertEqual(len(sizes), 1)
        self.assertLess(sizes[0], 512 << 10)
        promised = self.cached(before)
        self.assertGreater(promised, 8 << 20)

        # Started again, and nothing was changed: that is said, and no verdict is given.
        again, page = self.look()
        self.assertRegex(page, r"(?m)^Since 20.*\(kept look, restarted\)$")
        self.check_layers(before, again)
        self.assertTrue(again["since"]["comparable"], again["since"].get("unlike"))
        promise = self.promise(again)
        self.assertEqual((promise["promised"]["low"], promise["promised"]["high"]), (promised, promised))
        self.assertEqual(promise["verdict"], "not-made")
        self.assertEqual(promise["change"], {"state": "not-in-force", "text": "pm = static, pm.max_requests = 0 as before"})

        # Workers that end after each request keep nothing: all of what was promised comes back.
        promised = self.cached(again)
        after, page = self.look("pm.max_requests = 1")
        self.check_layers(again, after)
        self.assertTrue(after["since"]["comparable"], after["since"].get("unlike"))
        promise = self.promise(after)
        print(promise["text"])
        self.assertEqual(promise["change"], {"state": "in-force", "text": "pm.max_requests = 1, was 0"})
        self.assertEqual((promise["promised"]["high"], promise["fell"]), (promised, promised))
        self.assertEqual(promise["verdict"], "as-promised")
        self.assertIn("php-idle-cache: as promised", page)


class Lab(unittest.TestCase):
    """The main job: explain, change the line, restart, explain: promised beside measured."""

    def setUp(self):
        self.home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.home)
        self.socket = os.path.join(self.home, "socket")
        self.environment = {**os.environ, "STRATA_STATE": os.path.join(self.home, "state")}

    def load(self, *words):
        return subprocess.run([tool.lab("arena-server/arena_load"), self.socket, *words], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=600)

    def record(self, server, name):
        """The idle start and, called again, the end of the load."""
        done = tool.run("record", server.pid, "-o", os.path.join(self.home, name), "--every", "200ms", "--for", "1s",
                        env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def look(self, name, **setting):
        """The account of a server after the load, and the page."""
        environment = {name: value for name, value in os.environ.items() if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")}
        with subprocess.Popen([tool.lab("arena-server/arena_server"), self.socket], env={**environment, **setting},
                              stdin=subprocess.DEVNULL) as server:
            try:
                while self.load("stat").returncode != 0:
                    self.assertIsNone(server.poll())
                    time.sleep(0.05)
                self.record(server, name)
                done = self.load("6000", "32", "500")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.record(server, name)
                page = tool.run("explain", server.pid, env=self.environment).stdout.decode()
                account = tool.run("explain", server.pid, "--json", env=self.environment)
                self.assertIn(account.returncode, FINE, account.stderr)
                return json.loads(account.stdout), page
            finally:
                server.terminate()
                server.wait()

    def test_a_change_is_seen_the_next_time(self):
        before, page = self.look("before.db")
        self.assertNotIn("since", before)
        self.assertIn("kept for the next explain", page)
        promised = next(finding["predicted"] for finding in before["findings"] if finding["rule"] == "glibc-arenas")
        time.sleep(1.1)
        after, page = self.look("after.db", MALLOC_ARENA_MAX="2")
        since = after["since"]
        self.assertTrue(since["restarted"])
        self.assertTrue(since["comparable"], since.get("unlike"))
        self.assertRegex(page, r"(?m)^Since 20.*\(kept look, restarted\)$")
        promise = next(promise for promise in since["promises"] if promise["rule"] == "glibc-arenas")
        print(promise["text"])
        self.assertEqual(promise["change"], {"state": "in-force", "text": "at most 2 arenas"})
        self.assertEqual((promise["promised"]["low"], promise["promised"]["high"]), (promised["low"], promised["high"]))
        resident = next(layer for layer in since["layers"] if layer["id"] == "resident")
        self.assertEqual(resident["before"], tool.layer(before, "resident")["bytes"])
        self.assertEqual(resident["now"], tool.layer(after, "resident")["bytes"])
        # What is compared is what the arenas kept, so nearly all by which the resident set fell.
        self.assertGreater(promise["fell"], 16 << 20)
        self.assertAlmostEqual(promise["fell"], -resident["difference"], delta=24 << 20)
        kept = promise["fell"]
        self.assertEqual(promise["verdict"], "less" if kept < promised["low"] - 52429 else
                         "more" if kept > promised["high"] + 52429 else "as-promised")
        self.assertIn(promise["measure"] + " fell by", page.replace("\n    ", " "))
        self.compare_recordings(promise["measure"])

    def compare_recordings(self, measure):
        """The report says the same of the last captures, and nothing of captures of another moment."""
        paths = [os.path.join(self.home, name) for name in ("after.db", "before.db")]

        def report():
            done = tool.run("report", paths[0], "--compare", paths[1], "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        data = report()
        arenas = next(finding for finding in data["before"]["findings"] if finding["rule"] == "glibc-arenas")
        self.assertGreater(arenas["predicted"]["high"], arenas["predicted"]["low"])
        self.assertEqual(len(data["since"]), 1)
        self.assertEqual(data["since"][0]["subject"], data["recording"]["subjects"][0]["id"])
        since = data["since"][0]["since"]
        self.assertTrue(since["comparable"], since.get("unlike"))
        promise = next(promise for promise in since["promises"] if promise["rule"] == "glibc-arenas")
        self.assertEqual((promise["measure"], promise["change"]["state"]), (measure, "in-force"))
        self.assertIn(promise["verdict"], ("as-promised", "more", "less"))
        # Only the capture of the idle start is left: the ticks end elsewhere.
        with sqlite3.connect(paths[1]) as database:
            database.execute("DELETE FROM captures WHERE id > (SELECT min(id) FROM captures)")
        database.close()
        since = report()["since"][0]["since"]
        self.assertFalse(since["comparable"])
        self.assertRegex(since["unlike"], r"^the last look of a recording was at [\d.]+ MiB resident, and it ended with ")
        self.assertTrue(all(promise["verdict"] in ("unlike", "not-made", "ended") for promise in since["promises"]))


if __name__ == "__main__":
    unittest.main()
