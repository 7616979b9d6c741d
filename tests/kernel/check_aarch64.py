"""check_aarch64.py LOG [RECORD]: strata on a kernel for 64-bit ARM, against what programs say.

The log is what tests/kernel/init-aarch64 prints. With RECORD, a folder, the memory of both programs
is kept there, if all is well.
"""
import base64
import gzip
import os
import re
import sys
import unittest

from console import BLOCKS, explained, layer, read_blocks

LIMIT = 768 << 20
RECORDED_STEP = 9
STEPS = (RECORDED_STEP, 1, 2, 3, 4, 5, 6, 7)


def told(name):
    text, code = BLOCKS[name]
    assert code == 0, f"{name}: exit code {code}"
    return text


class Aarch64(unittest.TestCase):
    def test_the_kernel_is_the_right_one(self):
        self.assertTrue(told("kernel").endswith(" aarch64"))

    def test_the_malloc_replacement_acts_or_says_that_it_cannot(self):
        """It is made for pages of 4 KiB."""
        if "16k" in told("kernel"):
            self.assertEqual(BLOCKS["run"][1], 125)
            self.assertNotEqual(BLOCKS["preload"][1], 0)
        else:
            for name in ("run", "preload"):  # PHP also tells that it has no time zones
                self.assertEqual(told(name).splitlines()[-1], "1000000")
            self.assertNotIn("no figures", told("run/layers"))
            self.assertIn("peak charged", told("run/layers"))

    def test_programs_of_the_build_pass(self):
        names = [name for name in BLOCKS if name.startswith("test/")]
        self.assertGreater(len(names), 5)
        for name in names:
            with self.subTest(name):
                text, code = BLOCKS[name]
                self.assertEqual(code, 0, text)

    def test_php_is_read_to_the_byte(self):
        for step in STEPS:
            with self.subTest(step):
                heaps = explained(f"php-{step}/explain", 0, 5)["zend_heaps"]
                figures = [int(word) for word in told(f"php-{step}/told").split()]
                self.assertEqual(len(heaps), 1)
                heap = heaps[0]
                self.assertEqual(heap["state"], "ok", heap.get("why"))
                self.assertEqual([heap["used"], heap["real"], heap["peak_used"], heap["peak_real"]], figures)
                self.assertEqual(heap["limit"], LIMIT)
                self.assertTrue(heap["found_by_symbol"])

    def test_a_capture_says_the_same(self):
        told("php/capture")
        live, replayed = explained(f"php-{RECORDED_STEP}/explain", 0, 5), explained("php/replay", 0, 5)
        self.assertEqual(live["zend_heaps"], replayed["zend_heaps"])
        for name in ("in_use", "held", "resident"):
            self.assertEqual(layer(live, name), layer(replayed, name))

    def test_glibc_is_read_to_the_byte(self):
        document = explained("glibc/explain", 0, 5)
        text = told("glibc-threads.told")
        info = dict(re.findall(r"(\w+)=(\d+)", text[text.rindex("mallinfo2"):]))
        self.assertEqual(layer(document, "held")["bytes"], int(info["arena"]) + int(info["hblkhd"]))

    def test_every_byte_has_a_part(self):
        for name in ("glibc/explain", f"php-{RECORDED_STEP}/explain"):
            with self.subTest(name):
                resident = layer(explained(name, 0, 5), "resident")
                parts = {part["id"]: part["bytes"] for part in resident["parts"]}
                self.assertEqual(sum(parts.values()), resident["bytes"])

    def test_stacks_have_their_part(self):
        document = explained("glibc/explain", 0, 5)
        threads = len(told("glibc/threads").split())
        parts = {part["id"]: part for part in layer(document, "resident")["parts"]}
        self.assertGreater(threads, 1)
        self.assertGreaterEqual(parts["thread-stacks"]["bytes"], (threads - 1) * 4096)


def record(folder):
    os.makedirs(folder, exist_ok=True)
    for name, source in (("glibc-threads.told", "glibc-threads.told"), ("php.told", f"php-{RECORDED_STEP}/told")):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(told(source) + "\n")
    for name in ("glibc-threads.memory", "php.memory"):
        memory = gzip.decompress(base64.b64decode(told(name)))
        with open(os.path.join(folder, name + ".gz"), "wb") as file:
            file.write(gzip.compress(memory, 9, mtime=0))


if __name__ == "__main__":
    read_blocks(sys.argv[1])
    outcome = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    if outcome.wasSuccessful():
        for one in sys.argv[2:]:
            record(one)
    sys.exit(not outcome.wasSuccessful())
