"""tools/check-tidy finds what clang-tidy finds, says what it lacks, and is a test only where it can run."""
import json
import os
import subprocess
import tempfile
import unittest

ROOT = os.environ["STRATA_ROOT"]
BUILD = os.environ["STRATA_BUILD"]


class CheckTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strata-tidy-", dir=BUILD)  # .clang-tidy is above it
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, text=None):
        if text is not None:
            with open(os.path.join(self.folder, "one.c"), "w", encoding="ascii") as file:
                file.write(text)
            with open(os.path.join(self.folder, "compile_commands.json"), "w", encoding="ascii") as file:
                json.dump([{"directory": self.folder, "file": os.path.join(self.folder, "one.c"),
                            "command": f"cc -c {self.folder}/one.c -o one.o"}], file)
        return subprocess.run([os.path.join(ROOT, "tools", "check-tidy"), "--build", self.folder],
                              capture_output=True, text=True, check=False)

    def test_a_build_without_a_database(self):
        done = self.check()
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"cannot read the compile database of '{self.folder}': No such file", done.stderr)
        self.assertIn("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", done.stderr)

    def test_a_finding(self):
        done = self.check("int first(int *numbers);\nint first(int *numbers)\n{\n    if (numbers == 0)\n"
                          "        return *numbers;\n    return 0;\n}\n")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("null pointer", done.stdout)
        done = self.check("int first(const int *numbers);\nint first(const int *numbers)\n{\n"
                          "    return *numbers;\n}\n")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_it_is_a_test_of_each_build_that_has_a_database(self):
        listed = subprocess.run(["ctest", "--test-dir", BUILD, "-N", "-R", "^house/check-tidy$"],
                                capture_output=True, text=True, check=True).stdout
        self.assertEqual("house/check-tidy" in listed,
                         os.path.exists(os.path.join(BUILD, "compile_commands.json")), listed)


if __name__ == "__main__":
    unittest.main()
