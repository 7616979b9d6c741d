"""A capture replays to what the live run printed."""
import os
import re
import unittest

import servers
import tool

# When it was taken and what reading it cost differ between two runs, and nothing else may: the
# process is stopped, and the host's own numbers are not part of a process's report.
MOVING = re.compile(rb'"(?:taken_at|wall_us|bytes_read)": ?[^,}\n]*')


class Replay(unittest.TestCase):
    def test_replay_is_the_same_each_time(self):
        with servers.folder() as home, servers.python_program() as server:
            path = os.path.join(home, "capture")
            self.assertEqual(tool.run("capture", server.pid, "-o", path).returncode, 0)
            for options in ([], ["--json"], ["--bytes"]):
                one = tool.run("explain", path, *options)
                two = tool.run("explain", path, *options)
                self.assertEqual((one.returncode, one.stderr), (0, b""))
                self.assertEqual(one.stdout, two.stdout)
                self.assertGreater(len(one.stdout), 200)

    def test_replay_equals_live(self):
        for start in (servers.python_program, servers.php_program):
            with self.subTest(start=start.__name__), servers.folder() as home, start() as server:
                path = os.path.join(home, "capture")
                self.assertEqual(tool.run("capture", server.pid, "-o", path).returncode, 0)
                live = tool.run("explain", server.pid, "--json")
                replayed = tool.run("explain", path, "--json")
                self.assertEqual((live.returncode, replayed.returncode), (0, 0), replayed.stderr)
                self.assertEqual(MOVING.sub(b"", live.stdout), MOVING.sub(b"", replayed.stdout))


if __name__ == "__main__":
    unittest.main()
