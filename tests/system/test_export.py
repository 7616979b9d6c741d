"""strata export beside clients and targets that mean no good: it neither grows nor waits."""
import contextlib
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import exporter
import servers

SLOW_CLIENTS = 200
MEBIBYTE = 1 << 20
# Connections, their memory and a page in the making; far below what 200 pages would be.
GROWTH = 12 * MEBIBYTE

# Argument: how many mappings of one page each, of alternating protection so that they do not merge.
MANY_MAPPINGS = """
import ctypes, mmap, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
count = int(sys.argv[1])
at = libc.mmap(None, count * 4096, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
for i in range(0, count, 2):
    ctypes.memset(at + i * 4096, 1, 1)
    libc.mprotect(at + i * 4096, 4096, 1)
open('/proc/self/comm', 'w').write(sys.argv[2])
print('ready', flush=True)
time.sleep(300)
"""


def connect(served):
    client = socket.create_connection((served.host, served.port), timeout=60)
    client.settimeout(60)
    return client


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
        self.served = self.stack.enter_context(exporter.exporter("--every", "1s"))
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
    def slow_target(self, stack, name, mappings=60000):
        process = stack.enter_context(servers.running(
            [sys.executable, "-c", MANY_MAPPINGS, str(mappings), name], stdout=subprocess.PIPE))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_a_slow_target_holds_nobody_up(self):
        """While it is read, the host goes on being looked at, and others keep what they have."""
        with contextlib.ExitStack() as stack:
            for _ in range(3):
                self.slow_target(stack, "slow-target")
            served = stack.enter_context(exporter.exporter("--every", "200ms", "--most", "100"))
            longest, looks = 0.0, set()
            end = time.monotonic() + servers.START_SECONDS * 2
            while served.value("strata_target_age_seconds", name="slow-target") is None:
                began = time.monotonic()
                looks.add(served.value("strata_host_looks_total"))
                longest = max(longest, time.monotonic() - began)
                self.assertLess(began, end, "the slow target was never read")
            reading = served.value("strata_target_look_duration_seconds")
            print(f"slow target read in {reading:.1f} s; {len(looks)} looks at the host meanwhile, "
                  f"longest scrape {longest * 1000:.0f} ms")
            self.assertGreater(len(looks), 1)
            # It is read in one piece; nobody waited for that piece.
            self.assertLess(longest, max(reading, 0.5))

    def test_a_target_comes_and_goes(self):
        with exporter.exporter("--every", "200ms", "--most", "1000") as served:
            self.assertIsNone(served.value("strata_processes", name="comes-and-goes"))
            with contextlib.ExitStack() as stack:
                self.slow_target(stack, "comes-and-goes", 10)
                servers.wait_until(lambda: served.value("strata_in_use_bytes", name="comes-and-goes"),
                                   "the target's layers")
            servers.wait_until(
                lambda: served.value("strata_processes", name="comes-and-goes") is None, "its end")
            self.assertEqual([labels for _, labels, _ in served.samples()
                              if labels.get("name") == "comes-and-goes"], [])

    def test_hostile_names(self):
        name = 'a"b\\c\n\x1b[2'
        with contextlib.ExitStack() as stack:
            self.slow_target(stack, name, 10)
            served = stack.enter_context(exporter.exporter("--every", "200ms", "--most", "1000"))
            servers.wait_until(lambda: any(labels.get("name") == r'a\"b\\c??[2'
                                           for _, labels, _ in served.samples()), "its series")

    def test_same_values_as_explain(self):
        with servers.running(["sleep", "300"]) as process, \
                exporter.exporter("--every", "200ms", "--most", "1000", "--per-pid") as served:
            pid = str(process.pid)
            servers.wait_until(lambda: served.value("strata_in_use_bytes", pid=pid) is not None,
                               "its layers")
            report = exporter.tool.run("explain", pid, "--json")
            layers = {layer["id"]: layer for layer in exporter.tool.json.loads(report.stdout)["layers"]}
            for name in ("in_use", "held", "resident", "residual"):
                self.assertEqual(served.value(f"strata_{name}_bytes", pid=pid), layers[name]["bytes"])


if __name__ == "__main__":
    assert mmap.PAGESIZE == 4096, "the mappings of the slow target are pages of 4 KiB"
    unittest.main()
