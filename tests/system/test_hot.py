"""A program that allocates at full speed is explained 1,000 times: no crash, no hang, no lie."""
import json
import mmap
import os
import struct
import unittest

import servers
import tool

EXPLAINS = 1000
THREADS = 8
SLOTS = 20000
COUNTER_BYTES = 64

# What the target cannot count: blocks between malloc and the count, the C library's own, the
# eight arrays of slots, and blocks that its threads have freed into their caches, which malloc
# counts as in use: at most 7 of each of 64 sizes up to 1,040 bytes for each thread.
CACHED_BYTES = THREADS * 7 * sum(range(32, 1041 + 16, 16))
ARRAY_BYTES = THREADS * SLOTS * 8
OTHER_BYTES = 1 << 20


class Hot(unittest.TestCase):
    def live_bytes(self, counters):
        return sum(struct.unpack_from("=Q", counters, i * COUNTER_BYTES)[0] for i in range(THREADS))

    def test_thousand_explains(self):
        complete = 0
        with servers.folder() as home:
            path = os.path.join(home, "counters")
            command = [tool.target("hot_target"), str(THREADS), str(SLOTS), path]
            with servers.program_that_waits(command) as server, open(path, "rb") as file, \
                    mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as counters:
                for number in range(EXPLAINS):
                    before = self.live_bytes(counters)
                    done = tool.run("explain", server.pid, "--json")
                    after = self.live_bytes(counters)
                    self.assertIn(done.returncode, (0, 5), done.stderr)
                    report = json.loads(done.stdout)
                    complete += self.check(number, report, min(before, after), max(before, after))
                self.assertIsNone(server.process.poll())
        print(f"{complete} of {EXPLAINS} explains had a figure for memory in use")
        self.assertGreater(complete, EXPLAINS // 2)

    def check(self, number, report, low, high):
        """The true number lies within the stated uncertainty; a missing one has a reason."""
        layer = tool.layer(report, "in_use")
        if layer["state"] not in ("ok", "stale"):
            self.assertTrue(report["gaps"], f"explain {number}: nothing said about what is missing")
            return 0
        least = layer["bytes"] - layer.get("plus_minus", 0)
        most = layer["bytes"] + layer.get("plus_minus", 0)
        self.assertGreaterEqual(most, low - OTHER_BYTES, f"explain {number}: {layer}")
        self.assertLessEqual(least, high + CACHED_BYTES + ARRAY_BYTES + OTHER_BYTES,
                             f"explain {number}: {layer}")
        return 1


if __name__ == "__main__":
    unittest.main()
