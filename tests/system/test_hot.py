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

LEAST, MOST = 24, 32

# What the target cannot count: the C library's own blocks and what each thread is at, the eight
# arrays of slots, and blocks that its threads have freed into their caches, which malloc
# counts as in use: at most 7 of each of 64 sizes up to 1,040 bytes for each thread.
CACHED_BYTES = THREADS * 7 * sum(range(32, 1041, 16))
ARRAY_BYTES = THREADS * SLOTS * 8
OTHER_BYTES = 1 << 20


class Hot(unittest.TestCase):
    @staticmethod
    def reset_bounds(counters):
        for thread in range(THREADS):
            struct.pack_into("=QQ", counters, thread * COUNTER_BYTES + LEAST, 2 ** 63, 0)

    @staticmethod
    def read_bounds(counters):
        """The least and the most that all threads together held since the reset."""
        pairs = [struct.unpack_from("=QQ", counters, thread * COUNTER_BYTES + LEAST)
                 for thread in range(THREADS)]
        live = [struct.unpack_from("=Q", counters, thread * COUNTER_BYTES)[0]
                for thread in range(THREADS)]
        return (sum(min(pair[0], now) for pair, now in zip(pairs, live)),
                sum(max(pair[1], now) for pair, now in zip(pairs, live)))

    def test_thousand_explains(self):
        complete = stale = 0
        with servers.folder() as home:
            path = os.path.join(home, "counters")
            command = [tool.target("hot_target"), str(THREADS), str(SLOTS), path]
            with servers.program_that_waits(command) as server, open(path, "r+b") as file, \
                    mmap.mmap(file.fileno(), 0) as counters:
                for number in range(EXPLAINS):
                    self.reset_bounds(counters)
                    done = tool.run("explain", server.pid, "--json")
                    bounds = self.read_bounds(counters)
                    self.assertIn(done.returncode, (0, 5), done.stderr)
                    report = json.loads(done.stdout)
                    layer = tool.layer(report, "in_use")
                    if layer["state"] in ("ok", "stale"):
                        self.check(number, layer, *bounds)
                        complete += 1
                        stale += layer["state"] == "stale"
                    else:
                        self.assertTrue(layer["why"], f"explain {number}: nothing said why")
                self.assertIsNone(server.process.poll())
        print(f"{complete} of {EXPLAINS} explains had a figure for memory in use, {stale} with an "
              "uncertainty")
        self.assertGreater(complete, EXPLAINS // 2)

    def check(self, number, layer, low, high):
        """The true number lies within the stated uncertainty."""
        uncertainty = layer.get("plus_minus", 0)
        self.assertGreaterEqual(layer["bytes"] + uncertainty, low - OTHER_BYTES,
                                f"explain {number}: at least {low}: {layer}")
        self.assertLessEqual(layer["bytes"] - uncertainty,
                             high + CACHED_BYTES + ARRAY_BYTES + OTHER_BYTES,
                             f"explain {number}: at most {high}: {layer}")


if __name__ == "__main__":
    unittest.main()
