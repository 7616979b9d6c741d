"""strata export beside clients and targets that mean no good: it neither grows nor waits."""
import contextlib
import glob
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import exporter
import held
import servers
import tool

SLOW_CLIENTS = 200
MEBIBYTE = 1 << 20
PROGRAMS = 200
# Connections, their memory and a page in the making; far below what 200 pages would be.
GROWTH = 12 * MEBIBYTE

NAMED = """
import sys, time
open('/proc/self/comm', 'w').write(sys.argv[1])
print('ready', flush=True)
time.sleep(3600)
"""


def connect(served):
    client = socket.create_connection((served.host, served.port), timeout=240)
    client.settimeout(240)
    return client


def host_that_stands_still(home):
    """Files of /proc and /sys in home: what looks into the programs of a real host cost is no matter of clients."""
    root = os.path.join(home, "root")
    shutil.copytree(os.path.join(os.environ["STRATA_ROOT"], "tests", "fixtures", "cgroup-v2-systemd"), root,
                    symlinks=True)
    model = os.path.join(root, "proc", "812")
    for number in range(PROGRAMS):
        process = os.path.join(root, "proc", str(1000 + number))
        os.mkdir(process)
        for name in os.listdir(model):
            with open(os.path.join(model, name), encoding="ascii") as file:
                text = file.read()
            with open(os.path.join(process, name), "w", encoding="ascii") as file:
                file.write(re.sub(r"\b812\b", str(1000 + number), text).replace("mariadbd", f"program-{number}"))
    return root


def is_closed(client):
    """The server ended the connection: what there is to read comes to its end."""
    client.setblocking(False)
    try:
        while client.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


class SlowClients:
    """Each sends a head that never ends, a byte at a time."""

    def __init__(self, served, count):
        self.clients, self.stop = [], threading.Event()
        for _ in range(count):
            client = connect(served)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            self.clients.append(client)
        self.thread = threading.Thread(target=self.drip)
        self.thread.start()

    def drip(self):
        while not self.stop.wait(0.5):
            for client in self.clients:
                with contextlib.suppress(OSError):
                    client.setblocking(False)
                    client.send(b"x")

    def close(self):
        self.stop.set()
        self.thread.join()
        for client in self.clients:
            client.close()


class Clients(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        root = host_that_stands_still(self.stack.enter_context(servers.folder()))
        self.served = self.stack.enter_context(
            exporter.exporter("--every", "1s", "--most", PROGRAMS, "--root", root))
        for _ in range(10):
            self.served.ask()

    def check_small(self, before):
        after = self.served.resident()
        print(f"resident {before >> 10} KiB before, {after >> 10} KiB after")
        self.assertLess(after - before, GROWTH)

    def test_slow_clients(self):
        before = self.served.resident()
        slow = SlowClients(self.served, SLOW_CLIENTS)
        self.stack.callback(slow.close)
        for _ in range(20):
            self.assertEqual(self.served.ask()[0], 200)
        self.check_small(before)
        servers.wait_until(lambda: all(map(is_closed, slow.clients)), "slow clients cut off")
        self.assertEqual(self.served.ask()[0], 200)
        self.check_small(before)

    def test_more_clients_than_places(self):
        before = self.served.resident()
        slow = SlowClients(self.served, 300)
        self.stack.callback(slow.close)
        self.assertEqual(self.served.ask()[0], 200)
        self.check_small(before)

    def test_slow_readers(self):
        before = self.served.resident()
        with contextlib.ExitStack() as open_sockets:
            for _ in range(SLOW_CLIENTS):
                client = open_sockets.enter_context(connect(self.served))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertEqual(self.served.ask()[0], 200)
            self.check_small(before)

    def test_one_page_for_all_who_ask_within_a_second(self):
        """A page tells how often it was asked for, so no two that are made look alike; a slow machine makes more."""
        begin = time.monotonic()
        pages = {self.served.ask(accept="text/plain") for _ in range(SLOW_CLIENTS)}
        seconds = time.monotonic() - begin
        print(f"{len(pages)} pages for {SLOW_CLIENTS} clients in {seconds:.1f} s")
        self.assertLessEqual(len(pages), seconds + 2)

    def test_bad_requests(self):
        chance = random.Random(7)
        requests = [
            b"\r\n" * 100, b"GET", b"GET \r\n\r\n", b"GET /metrics\r\n\r\n", b"\0" * 1000,
            b"GET /metrics HTTP/9.9\r\n\r\n", b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 20000,
            b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
            b"GET /%00%ff%2e%2e/metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n" + b"x" * 100000,
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: " + b"application/," * 2000 + b"\r\n\r\n",
        ]
        requests += [chance.randbytes(chance.randrange(1, 3000)) for _ in range(100)]
        before = self.served.resident()
        for request in requests:
            with connect(self.served) as client, contextlib.suppress(OSError):
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
                client.recv(65536)
        self.assertEqual(self.served.ask()[0], 200)
        self.check_small(before)

    def test_port_scan(self):
        before = self.served.resident()
        for number in range(1000):
            client = connect(self.served)
            if number % 2:  # a reset instead of an end
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        self.assertEqual(self.served.ask()[0], 200)
        descriptors = f"/proc/{self.served.pid}/fd"
        servers.wait_until(lambda: len(os.listdir(descriptors)) < 40, "sockets closed")
        self.check_small(before)


class Targets(unittest.TestCase):
    def target(self, stack, name):
        """A program of that name."""
        process = stack.enter_context(servers.running(
            [sys.executable, "-c", NAMED, name], stdout=subprocess.PIPE))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_a_slow_target_holds_nobody_up(self):
        """While it is read, the host goes on being looked at, and who asks is answered."""
        with contextlib.ExitStack() as stack:
            process = self.target(stack, "slow-target")
            slow = held.HeldTarget(process.pid, stack.enter_context(servers.folder()))
            served = stack.enter_context(exporter.exporter("--every", "200ms", "--most", "1000",
                                                           env={**os.environ, **slow.environment}))
            slow.wait()
            # A page lives for a second, so the first may be of before; its followers are not.
            for _ in range(3):
                looks = served.value("strata_host_looks_total")
                servers.wait_until(lambda: served.value("strata_host_looks_total") > looks,
                                   "a look at the host while a target is read")
            self.assertEqual(served.value("strata_processes", name="slow-target"), 1)
            self.assertIsNone(served.value("strata_target_age_seconds", name="slow-target"))
            slow.release()
            servers.wait_until(lambda: served.value("strata_target_age_seconds", name="slow-target") is not None,
                               "the end of the look into the target")

    def test_a_target_comes_and_goes(self):
        with exporter.exporter("--every", "200ms", "--most", "1000") as served:
            self.assertIsNone(served.value("strata_processes", name="comes-and-goes"))
            with contextlib.ExitStack() as stack:
                self.target(stack, "comes-and-goes")
                servers.wait_until(lambda: served.value("strata_in_use_bytes", name="comes-and-goes"),
                                   "the target's layers")
            servers.wait_until(
                lambda: served.value("strata_processes", name="comes-and-goes") is None, "its end")
            self.assertEqual([labels for _, labels, _ in served.samples()
                              if labels.get("name") == "comes-and-goes"], [])

    def test_without_the_http_library(self):
        """Where libmicrohttpd is not installed, strata says which package has it; a textfile needs none."""
        found = glob.glob("/usr/lib/*/libmicrohttpd.so.12")
        self.assertTrue(found, "missing package: libmicrohttpd12; run tools/setup test")
        hidden = ["unshare", "-m", "sh", "-c", 'for file; do mount --bind /dev/null "$file" || exit 99; done; '
                  f"exec {tool.STRATA} export $WORDS", "sh", *found]
        with servers.folder() as home:
            for words, code in (("--listen 127.0.0.1:0", 6), (f"--once --textfile {home}/page.prom", 0)):
                done = subprocess.run(hidden, env={**os.environ, "WORDS": words}, capture_output=True, text=True,
                                      timeout=240, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual("package libmicrohttpd12" in done.stderr, code != 0, done.stderr)
            self.assertGreater(os.path.getsize(os.path.join(home, "page.prom")), 0)

    def test_hostile_names(self):
        name = 'a"b\\c\n\x1b[2'
        with contextlib.ExitStack() as stack:
            self.target(stack, name)
            served = stack.enter_context(exporter.exporter("--every", "200ms", "--most", "1000"))
            servers.wait_until(lambda: any(labels.get("name") == r'a\"b\\c??[2'
                                           for _, labels, _ in served.samples()), "its series")

    def test_same_values_as_explain(self):
        names = ("in_use", "held", "resident", "residual")
        values = []

        def are_equal(served, pid):
            """The two looks are of different moments: the kernel may take or map a page between them."""
            report = json.loads(tool.run("explain", pid, "--json").stdout)
            values[:] = [(name, served.value(f"strata_{name}_bytes", pid=pid), tool.layer(report, name)["bytes"])
                         for name in names]
            return all(exported == explained for _, exported, explained in values)

        with contextlib.ExitStack() as stack:
            process = self.target(stack, "same-values")
            served = stack.enter_context(exporter.exporter("--every", "200ms", "--most", "1000", "--per-pid"))
            try:
                servers.wait_until(lambda: are_equal(served, str(process.pid)), "equal values")
            except AssertionError as error:
                raise AssertionError(f"{error}: {values}") from error


if __name__ == "__main__":
    unittest.main()
