"""The demo runs by itself from start to end, and leaves nothing behind."""
import os
import re
import signal
import subprocess
import time
import unittest

DEMO = os.path.join(os.environ["STRATA_ROOT"], "tools", "demo")


class Demo(unittest.TestCase):
    def start(self):
        return subprocess.Popen([DEMO], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True)

    @staticmethod
    def left_behind(session):
        """Processes of the demo's session that are still there."""
        done = subprocess.run(["ps", "-s", str(session), "-o", "pid=,args="], capture_output=True,
                              text=True, check=False)
        return done.stdout.strip()

    def test_before_predicted_after(self):
        with self.start() as demo:
            output = demo.communicate(timeout=1500)[0]
        self.assertEqual(demo.returncode, 0, output)
        self.assertEqual(self.left_behind(demo.pid), "")
        row = re.search(r"^resident +([\d.]+) MiB +([\d.]+) MiB to ([\d.]+) MiB +([\d.]+) MiB$", output,
                        re.M)
        self.assertIsNotNone(row, output)
        before, low, high, after = map(float, row.groups())
        print(row.group(0))
        self.assertLess(low, high)
        self.assertLess(high, before)
        self.assertLess(after, before)
        arenas = re.search(r"^arenas +(\d+) +(\d+)$", output, re.M)
        self.assertIsNotNone(arenas, output)
        self.assertGreater(int(arenas.group(1)), 2)
        self.assertLessEqual(int(arenas.group(2)), 2)
        # What strata says of itself the next time: the same range, and what the arenas gave back.
        said = re.search(r"^(as|more than|less than) promised: promised ([\d.]+)-([\d.]+) MiB; resident and free in malloc "
                         r"fell by ([\d.]+) MiB", output, re.M)
        self.assertIsNotNone(said, output)
        least, most, fell = map(float, said.groups()[1:])
        self.assertAlmostEqual(before - low, most, delta=0.15)
        self.assertAlmostEqual(before - high, least, delta=0.15)
        self.assertEqual(said.group(1), "less than" if fell < least else "more than" if fell > most else "as")
        self.assertIn("(kept look, restarted)", output)

    def test_interrupted(self):
        with self.start() as demo:
            demo.stdout.readline()
            time.sleep(1)
            os.killpg(demo.pid, signal.SIGINT)
            demo.communicate(timeout=240)
        self.assertEqual(demo.returncode, 130)
        self.assertEqual(self.left_behind(demo.pid), "")


if __name__ == "__main__":
    unittest.main()
