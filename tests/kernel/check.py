"""check.py LOG: strata on a kernel with cgroup v2, swap and Yama, against the kernel's own figures.

The log is what tests/kernel/init prints on the console of the test kernel.
"""
import json
import re
import sys
import unittest

MIB = 1 << 20
BLOCKS = {}


def read_blocks(path):
    name, lines = None, []
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            line = line.rstrip("\r\n")
            end = re.fullmatch(r"@@@ end (\d+)", line)
            if end and name:
                BLOCKS[name] = ("\n".join(lines), int(end.group(1)))
                name = None
            elif line.startswith("@@@ "):
                name, lines = line[4:], []
            elif name:
                lines.append(line)


def number(name):
    return int(BLOCKS[name][0])


def stat(moment):
    return {key: int(value) for key, value in
            (line.split() for line in BLOCKS[f"{moment}/memory.stat"][0].splitlines())}


def explained(name, *codes):
    text, code = BLOCKS[name]
    assert code in codes, f"{name}: exit code {code}: {text[:400]}"
    return json.loads(text)


def layer(document, name):
    return next(one for one in document["layers"] if one["id"] == name)


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
        events = dict(line.split() for line in BLOCKS["pressed/memory.events"][0].splitlines())
        self.assertGreater(int(events["high"]), 0, "the kernel was never over memory.high")
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
