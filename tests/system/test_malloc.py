"""Programs on strata's malloc: what explain shows is to the byte what they know of themselves."""
import json
import os
import shutil
import signal
import subprocess
import unittest

import servers
import tool

NOBODY = 65534
LIBRARY = os.path.join(os.environ["STRATA_BUILD"], "alloc", "libstrata-malloc.so")
WAIT_SECONDS = 240

# Names in the target's line and in the JSON of explain.
SAME = {"in_use": "in_use", "blocks": "in_use_blocks", "cached": "cached", "held": "held", "free": "free",
        "touched": "touched", "books": "books", "given_back": "given_back"}


def as_nobody():
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Target:
    """The program below, preloaded unless told otherwise; it waits until it is left."""
    def __init__(self, home, *words, user=None, preload=True, **environment):
        library = os.path.join(home, "libstrata-malloc.so")
        program = os.path.join(home, "malloc_target")
        if not os.path.exists(library):
            shutil.copy(LIBRARY, library)
            shutil.copy(tool.target("malloc_target"), program)
            os.chmod(home, 0o755)
            os.chmod(library, 0o755)
            os.chmod(program, 0o755)
        setting = {"PATH": os.environ["PATH"], "STRATA_BACKGROUND": "no", **environment}
        if setting["STRATA_BACKGROUND"] == "yes":
            del setting["STRATA_BACKGROUND"]
        if preload:
            setting["LD_PRELOAD"] = library
        self.process = subprocess.Popen([program, *words], env=setting, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, preexec_fn=user)

    def __enter__(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the target ended with {self.process.wait(WAIT_SECONDS)}")
        self.says = json.loads(line)
        return self

    def says_again(self):
        """What it says of itself now; whether that is what it said before."""
        before = self.says
        self.process.stdin.write(b".")
        self.process.stdin.flush()
        self.says = json.loads(self.process.stdout.readline())
        return self.says == before

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


class Malloc(unittest.TestCase):
    def compare(self, says, report, seen=True):
        """The target's own figures and those of the report."""
        found = tool.allocator(report, "strata")
        self.assertEqual(found["state"], "ok", found)
        for name, there in SAME.items():
            self.assertEqual(found[there], says[name], f"{there}: {found}")
        self.assertEqual(found["rounding_large"], says["large"] - says["large_asked"])
        self.assertEqual(found["mmapped"] + found["large"], says["large"])
        # mallinfo2 tells of small blocks and of large ones apart.
        self.assertEqual(says["uordblks"] + says["hblkhd"], says["in_use"])
        heap = found["heaps"][0]
        self.assertTrue(heap["shared"])
        used = sum(row["in_use_blocks"] * row["block_bytes"] for row in heap["classes"])
        self.assertEqual(used + says["large"], says["in_use"])
        tags = [row for row in heap["tags"] if row["tag"] == "sql/sort"]
        self.assertEqual(sum(row["used"] for row in tags), says["tag_used"])
        self.assertEqual(sum(row["peak"] for row in tags), says["tag_peak"])
        names = {row.get("name") for row in heap["threads"]}
        self.assertLessEqual({"connection 0", "connection 1", "connection 2"}, names)
        for name in ("in_use", "held"):
            self.assertEqual(tool.layer(report, name)["bytes"], says[name])
        if seen:
            self.assertLessEqual(found["free_resident"], found["free"] + found["cached"])
        return found

    def test_figures_and_parts(self):
        with servers.folder() as home, Target(home, STRATA_BACKGROUND="yes") as target:
            # Its thread gives memory back by itself: until it has done so, figures move.
            for _ in range(tool.TRIES):
                report = tool.explain(target.says["pid"])
                if target.says_again():
                    break
            self.compare(target.says, report)
            resident = tool.layer(report, "resident")
            parts = {part["id"]: part["bytes"] for part in resident["parts"]}
            self.assertEqual(sum(parts.values()), resident["bytes"])
            self.assertEqual(tool.layer(report, "residual")["bytes"], 0, parts)
            self.assertNotIn("strata-memory", parts)
            self.assertGreater(parts["strata-in-use"], target.says["in_use"] // 2)
            self.assertGreater(parts["strata-free"], 0)
            self.assertGreater(parts["strata-books"], 0)
            text = tool.run("explain", "--all", target.says["pid"]).stdout.decode()
            self.assertIn("strata malloc, MiB", text)
            self.assertIn("sql/sort", text)

    def test_a_capture_holds_the_same(self):
        with servers.folder() as home, Target(home) as target:
            path = os.path.join(home, "capture")
            self.assertEqual(tool.run("capture", target.says["pid"], "-o", path).returncode, 0)
            self.compare(target.says, tool.explain(path))

    def test_a_child_of_fork(self):
        with servers.folder() as home, Target(home, "fork") as target:
            self.assertNotEqual(target.says["pid"], target.process.pid)
            report = tool.explain(target.says["pid"])
            found = self.compare(target.says, report)
            self.assertEqual(found["heaps"][0]["forks"], 1)
            parent = tool.allocator(tool.explain(target.process.pid), "strata")
            self.assertLess(parent["in_use"], target.says["in_use"])

    def test_its_own_user_needs_no_right_to_trace(self):
        with servers.folder() as home, Target(home, "hidden", user=as_nobody) as target:
            program = tool.copy_for_everybody(home)
            pid = target.says["pid"]
            done = tool.run("explain", pid, "--json", program=program, user=NOBODY, group=NOBODY,
                            extra_groups=[])
            self.assertEqual(done.returncode, 3, done.stderr)
            report = json.loads(done.stdout)
            # It could read nothing of the memory, and has every figure.
            self.assertIn("smaps", {gap["fact"] for gap in report["gaps"]})
            found = self.compare(target.says, report, seen=False)
            self.assertEqual(found["missing"]["free_resident"], "denied")
            self.assertEqual(tool.layer(report, "free_resident")["state"], "denied")

    def test_others_only_when_it_shares_with_all(self):
        with servers.folder() as home:
            program = tool.copy_for_everybody(home)
            for who, state in (("owner", "denied"), ("all", "ok")):
                with Target(home, STRATA_REGION_FOR=who) as target:
                    done = tool.run("explain", target.says["pid"], "--json", program=program,
                                    user=NOBODY, group=NOBODY, extra_groups=[])
                    report = json.loads(done.stdout)
                    self.assertEqual(tool.layer(report, "in_use")["state"], state, report["gaps"])
                    if state == "ok":
                        self.compare(target.says, report, seen=False)

    def test_a_private_region_is_read_with_rights(self):
        with servers.folder() as home, Target(home, STRATA_REGION="private") as target:
            found = tool.allocator(tool.explain(target.says["pid"]), "strata")
            self.assertEqual(found["in_use"], target.says["in_use"])
            self.assertFalse(found["heaps"][0]["shared"])

    def test_nothing_is_left_behind(self):
        with servers.folder() as home, Target(home) as target:
            target.process.send_signal(signal.SIGKILL)
            target.process.wait(WAIT_SECONDS)
            with open("/proc/sysvipc/shm", encoding="ascii") as file:
                creators = [int(line.split()[4]) for line in file.readlines()[1:]]
            self.assertNotIn(target.process.pid, creators)

    def test_weak_calls_without_the_library(self):
        with servers.folder() as home, Target(home, preload=False) as target:
            self.assertFalse(target.says["preloaded"])


if __name__ == "__main__":
    unittest.main()
