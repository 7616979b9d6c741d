"""make leaves out the tests in a new folder, and keeps them in one that was configured with them."""
import os
import subprocess
import tempfile
import unittest

MAKEFILE = os.path.join(os.environ["STRATA_ROOT"], "Makefile")


class Makefile(unittest.TestCase):
    def commands(self, goal, *cache, settings=()):
        """What make would run, in a folder with these lines in the cache of its build."""
        with tempfile.TemporaryDirectory() as folder:
            if cache:
                build = os.path.join(folder, "build", "release")
                os.makedirs(build)
                with open(os.path.join(build, "CMakeCache.txt"), "w", encoding="ascii") as file:
                    file.write("\n".join(cache))
            environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
            return subprocess.run(["make", "-n", "-f", MAKEFILE, goal, *settings], cwd=folder, env=environment, text=True,
                                  capture_output=True, check=True).stdout

    def test_a_new_folder_gets_no_tests(self):
        for goal in ("all", "demo", "install"):
            self.assertIn("-DSTRATA_TESTS=OFF", self.commands(goal))

    def test_a_choice_is_kept(self):
        for goal in ("all", "demo", "install"):
            self.assertNotIn("STRATA_TESTS", self.commands(goal, "STRATA_TESTS:BOOL=ON"))

    def test_files_tell_the_prefix_under_which_they_are_installed(self):
        for prefix in ("/usr", "/opt/a b"):
            self.assertIn(f"-DCMAKE_INSTALL_PREFIX='{prefix}'", self.commands("install", settings=[f"PREFIX={prefix}"]))

    def test_benchmarks_want_tests(self):
        self.assertIn("-DSTRATA_TESTS=ON", self.commands("bench", "STRATA_TESTS:BOOL=OFF"))


if __name__ == "__main__":
    unittest.main()
