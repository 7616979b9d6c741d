"""PHP's own figures and those read from outside, to the byte."""
import os
import random
import subprocess
import unittest

import servers
import tool

STATES = 100
LIMIT = 768 << 20
PAGE = 4096
SCRIPT = os.environ.get("STRATA_PHP_SCRIPT") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "php", "states.php")


def php_command():
    """Debian's own PHP, or the one that tools/test-matrix names."""
    named = os.environ.get("STRATA_PHP", "").split()
    return named or [servers.program("php8.2", "php8.2-cli")]


class Script:
    """php running states.php, one line in and one line out."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [*php_command(), "-d", f"memory_limit={LIMIT}", *options, SCRIPT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.ask("begin")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait(240)
        self.process.stdout.close()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer == "":
            raise AssertionError(f"php ended after '{line}'")
        self.wait_for_sleep()
        return answer

    def wait_for_sleep(self):
        """Until php waits for the next line again: only then the printed figures hold."""
        def sleeps():
            with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
                return file.read().rpartition(")")[2].split()[0] == "S"
        servers.wait_until(sleeps, "php", self.process)

    def numbers(self, line):
        return [int(word) for word in self.ask(line).split()]

    def heap(self):
        heaps = tool.explain(self.process.pid)["zend_heaps"]
        if len(heaps) != 1:
            raise AssertionError(f"{len(heaps)} heaps instead of one")
        return heaps[0]


def parts(heap):
    return (heap["small_live"] + heap["small_free"] + heap["run_tail"] + heap["large"]
            + heap["huge"] + PAGE * (heap["free_pages"] + heap["chunks"])
            + (heap["cached_chunks"] << 21))


class Php(unittest.TestCase):
    def check_state(self, script, seed):
        used, real, peak, peak_real = script.numbers(f"go {seed}")
        heap = script.heap()
        self.assertEqual(heap["state"], "ok", heap.get("why"))
        self.assertEqual(
            [heap["used"], heap["real"], heap["peak_used"], heap["peak_real"], heap["limit"]],
            [used, real, peak, peak_real, LIMIT], f"seed {seed}")
        self.assertEqual(parts(heap), real, f"seed {seed}")
        self.assertTrue(heap["found_by_symbol"])
        return heap

    def test_random_states(self):
        """used, real, both peaks and the limit equal what the script prints."""
        seeds = random.Random(20261130).sample(range(1 << 30), STATES)
        with Script("-n") as script:
            for seed in seeds:
                self.check_state(script, seed)

    def test_with_extensions(self):
        with Script() as script:
            for seed in range(5):
                self.check_state(script, seed)

    def test_caches_are_named(self):
        """OPcache's and APCu's segments are told from other shared memory by their headers."""
        servers.extension("apcu", "php8.2-apcu")
        for jit in ("0", "16M"):  # its buffer is the end of OPcache's segment
            with self.subTest(jit=jit), Script(
                    "-d", "opcache.enable_cli=1", "-d", "apc.enable_cli=1",
                    "-d", f"opcache.jit_buffer_size={jit}") as script:
                parts_of = {part["id"]: part for part in
                            tool.layer(tool.explain(script.process.pid), "resident")["parts"]}
                for name in ("opcache", "apcu"):
                    self.assertIn(name, parts_of)
                    self.assertGreater(parts_of[name]["bytes"], 0)
                    self.assertFalse(parts_of[name]["estimate"])
                self.assertNotIn("shm-anonymous", parts_of)

    def test_collection(self):
        """gc_mem_caches() returns, and takes from real and from the resident set, what was said."""
        gained = 0
        with Script("-n") as script:
            for seed in range(12):
                heap = self.check_state(script, 7000 + seed)
                anonymous = tool.rollup(script.process.pid)["Anonymous"]
                returned = script.numbers("gc")[0]
                after = script.heap()
                self.assertEqual(heap["gc_gain"], returned, f"seed {seed}")
                self.assertEqual(heap["gc_real"], heap["real"] - after["real"], f"seed {seed}")
                fall = anonymous - tool.rollup(script.process.pid)["Anonymous"]
                self.assertLessEqual(abs(heap["gc_resident"] - fall), PAGE * heap["chunks"])
                gained += returned
        self.assertGreater(gained, 1 << 20, "nothing was collected: the test shows nothing")

    def test_malloc_instead(self):
        """USE_ZEND_ALLOC=0: there is no heap to count, and that is what is said."""
        os.environ["USE_ZEND_ALLOC"] = "0"
        try:
            with Script("-n") as script:
                heap = script.heap()
        finally:
            del os.environ["USE_ZEND_ALLOC"]
        self.assertTrue(heap["custom"])
        self.assertEqual(heap["state"], "absent")
        self.assertNotIn("used", heap)


if __name__ == "__main__":
    unittest.main()
