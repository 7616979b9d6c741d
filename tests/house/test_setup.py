"""tools/setup prints what is missing before it installs, and installs nothing needlessly."""
import os
import subprocess
import tempfile
import unittest

SETUP = os.path.join(os.environ["STRATA_ROOT"], "tools", "setup")


class Setup(unittest.TestCase):
    def run_setup(self, groups, installed):
        """Runs tools/setup with a dpkg-query, apt-get and id of our own in front."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            self.script(folder, "dpkg-query", f'for last; do :; done\n'
                        f'case " {installed} " in *" all "*|*" $last "*) echo installed;; *) exit 1;; esac')
            self.script(folder, "apt-get", f'echo "$@" >>{log}')
            self.script(folder, "id", "echo 0")
            for name in ("tee", "chmod", "rm"):
                self.script(folder, name, "cat >/dev/null" if name == "tee" else ":")
            environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
            done = subprocess.run([SETUP] + groups, env=environment, capture_output=True, text=True,
                                  check=False)
            calls = ""
            if os.path.exists(log):
                with open(log, encoding="utf-8") as file:
                    calls = file.read()
        return done, calls

    @staticmethod
    def script(folder, name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path, 0o755)

    def test_nothing_missing(self):
        done, calls = self.run_setup(["test"], "all")
        self.assertEqual((done.returncode, done.stdout, calls), (0, "", ""))

    def test_missing_is_printed_then_installed(self):
        table = subprocess.run([SETUP, "--list"], capture_output=True, text=True, check=True).stdout
        others = [line.split()[0] for line in table.splitlines() if "libjansson-dev" not in line]
        done, calls = self.run_setup(["build"], " ".join(others))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("setup: to be installed: libjansson-dev\n"))
        update, install = calls.strip().split("\n")
        self.assertIn("update", update)
        self.assertTrue(install.endswith(" libjansson-dev"), install)

    def test_groups(self):
        _, build = self.run_setup(["build"], "")
        _, test = self.run_setup(["test"], "")
        self.assertNotIn("mariadb-server-core", build)
        self.assertIn("mariadb-server-core", test)
        self.assertIn("libjansson-dev", test)

    def test_unknown_group(self):
        done, calls = self.run_setup(["everything"], "")
        self.assertEqual((done.returncode, calls), (2, ""))
        self.assertIn("unknown group 'everything'", done.stderr)


if __name__ == "__main__":
    unittest.main()
