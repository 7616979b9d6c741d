"""A capture replays to what the live run printed."""
import os
import unittest

import servers
import tool


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
        """Byte for byte, time and cost included: they are facts as well."""
        for start in (servers.python_program, servers.php_program):
            for options in ([], ["--json"], ["--bytes", "--all"]):
                with self.subTest(start=start.__name__, options=options), \
                        servers.folder() as home, start() as server:
                    path = os.path.join(home, "capture")
                    live = tool.run("explain", server.pid, "--capture", path, *options)
                    replayed = tool.run("explain", path, *options)
                    self.assertEqual((live.returncode, replayed.returncode), (0, 0), replayed.stderr)
                    self.assertEqual(live.stdout, replayed.stdout)


if __name__ == "__main__":
    unittest.main()
