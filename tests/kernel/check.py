"""check.py LOG: strata on a kernel with cgroup v2, swap and Yama, against the kernel's own figures.

The log is what tests/kernel/init prints on the console of the test kernel.
"""
import json
import sys
import unittest

from console import BLOCKS, explained, layer, read_blocks

MIB = 1 << 20


def number(name):
    return int(BLOCKS[name][0])


def counts(name):
    return {key: int(value) for key, value in
            (line.split() for line in BLOCKS[name][0].splitlines())}


def stat(moment):
    return counts(f"{moment}/memory.stat")


class Pressure(unittest.TestCase):
    """Strata's malloc with STRATA_PRESSURE=yes (docs/malloc.md), in a group limited to 64 and 72 MiB."""
    def currents(self, name):
        text, code = BLOCKS[f"{name}/program"]
        self.assertEqual(code, 0, f"{text} {BLOCKS[f'{name}/memory.events'][0]}")
        print(name, *(f"{word} {int(value) / MIB:.1f} MiB" for word, value in
                      (line.split() for line in text.splitlines())), file=sys.stderr)
        return counts(f"{name}/program")

    def check_relief(self, name):
        told = self.currents(name)
        events = counts(f"{name}/memory.events")
        self.assertIn("under pressure", BLOCKS[f"{name}/layers"][0])
        self.assertGreater(told["before"], 60 * MIB)
        # 13 and 30 MiB that are in use, what the programs themselves take, and no free block.
        self.assertLess(told["after"], 52 * MIB)
        self.assertEqual(events["oom_kill"], 0)
        return events

    def test_passing_memory_high_gives_back(self):
        self.assertGreater(self.check_relief("pressed-high")["high"], 0)

    def test_stalls_below_a_limit_of_another_group_give_back(self):
        """Nothing but pressure stalls tells this group: memory.events is that of the group above."""
        self.assertEqual(self.check_relief("pressed-above")["high"], 0)
        self.assertNotIn("total=0", BLOCKS["pressed-above/memory.pressure"][0].splitlines()[0].split())

    def test_without_pressure_nothing_is_given_back_for_it(self):
        self.currents("unpressed")
        self.assertNotIn("under pressure", BLOCKS["unpressed/layers"][0])

    def test_the_same_program_is_killed_without_it(self):
        self.assertNotEqual(BLOCKS["unheard/program"][1], 0)
        self.assertGreater(counts("unheard/memory.events")["oom_kill"], 0)


class Cgroup2(unittest.TestCase):
    def between(self, value, before, after, slack=MIB):
        low, high = min(before, after) - slack, max(before, after) + slack
        self.assertTrue(low <= value <= high, f"{value} is not within {low}..{high}")

    def test_the_figures_are_those_of_the_kernel(self):
        for moment in ("calm", "pressed"):
            with self.subTest(moment):
                cgroup = explained(f"{moment}/explain", 0, 5)["cgroup"]
                before, after = stat(moment), stat(f"{moment}-after")
                usage = [number(f"{m}/memory.current") for m in (moment, f"{moment}-after")]
                self.assertEqual(cgroup["version"], 2)
                self.between(cgroup["usage"], *usage)
                self.between(cgroup["docker"], usage[0] - before["inactive_file"],
                             usage[1] - after["inactive_file"])
                self.between(cgroup["kubelet"], usage[0] - before["inactive_file"],
                             usage[1] - after["inactive_file"])
                self.between(cgroup["podman"], *usage)

    def test_the_mix_is_found(self):
        document = explained("calm/explain", 0, 5)
        parts = {part["id"]: part.get("bytes") for part in layer(document, "charged")["parts"]}
        kernel = stat("calm")
        self.assertGreaterEqual(kernel["anon"], 24 * MIB)
        self.assertGreaterEqual(kernel["shmem"], 8 * MIB)
        self.assertGreaterEqual(kernel["file"] - kernel["shmem"], 16 * MIB)
        expected = {"charged-anon": kernel["anon"], "charged-shmem": kernel["shmem"],
                    "charged-file": kernel["file"] - kernel["shmem"]}
        for name, value in expected.items():
            with self.subTest(name):
                self.between(parts[name], value, value)
        self.assertEqual(sum(parts.values()), layer(document, "charged")["bytes"])

    def test_the_limit_and_the_pressure(self):
        calm, pressed = (explained(f"{m}/explain", 0, 5) for m in ("calm", "pressed"))
        self.assertEqual(calm["cgroup"]["limit"], 200 * MIB)
        self.assertGreater(counts("pressed/memory.events")["high"], 0,
                           "the kernel was never over memory.high")
        rules = [finding["rule"] for finding in pressed["findings"]]
        self.assertIn("cgroup-stalls", rules)
        self.assertNotIn("cgroup-stalls", [finding["rule"] for finding in calm["findings"]])

    def test_swap_is_told(self):
        self.assertGreater(number("pressed/memory.swap.current"), MIB)
        process = explained("pressed/process", 0, 5)
        rules = [finding["rule"] for finding in process["findings"]]
        group = [finding["rule"] for finding in explained("pressed/explain", 0, 5)["findings"]]
        self.assertIn("swap", rules + group)

    def test_yama_decides_who_may_read(self):
        free = explained("yama-0/explain", 0, 5)
        self.assertEqual(layer(free, "resident")["state"], "ok")
        document = explained("yama-1/explain", 0, 3, 5)
        denied = [gap for gap in document["gaps"] if gap["state"] == "denied"]
        self.assertTrue(denied, "nothing was denied under ptrace_scope 1")
        self.assertNotIn("bytes", layer(document, "in_use"))

    def test_the_overview_sees_the_group(self):
        names = json.dumps(explained("overview", 0, 5))
        self.assertIn("inhabitant", names)


if __name__ == "__main__":
    read_blocks(sys.argv.pop(1))
    unittest.main(verbosity=2)
