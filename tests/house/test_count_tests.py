"""tools/count-tests counts only what ran and passed as passed."""
import os
import subprocess
import tempfile
import unittest

COUNT = os.path.join(os.environ["STRATA_ROOT"], "tools", "count-tests")
PASSED = '<testcase name="a" status="run"/>'
FAILED = '<testcase name="b" status="fail"><failure message=""/></testcase>'
SKIPPED = '<testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=4"/></testcase>'
DISABLED = '<testcase name="d" status="disabled"/>'


class CountTests(unittest.TestCase):
    def expect(self, files, code, last_line):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, text in enumerate(files):
                paths.append(os.path.join(folder, f"{number}.xml"))
                if text is not None:
                    with open(paths[-1], "w", encoding="utf-8") as file:
                        file.write(text)
            done = subprocess.run([COUNT] + paths, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.rstrip("\n").split("\n")[-1], last_line)
        self.assertEqual(done.returncode, code)

    @staticmethod
    def suite(*cases):
        return "<testsuite>" + "".join(cases) + "</testsuite>"

    def test_all_passed(self):
        self.expect([self.suite(PASSED, PASSED), self.suite(PASSED)], 0, "3 passed, 0 failed")

    def test_failed(self):
        self.expect([self.suite(PASSED, FAILED)], 1, "1 passed, 1 failed")

    def test_skipped_and_disabled_are_failed(self):
        self.expect([self.suite(PASSED, SKIPPED, DISABLED)], 1, "1 passed, 2 failed")

    def test_missing_damaged_and_empty_files_are_failed(self):
        self.expect([self.suite(PASSED), None], 1, "1 passed, 1 failed")
        self.expect([self.suite(PASSED), "<testsuite>"], 1, "1 passed, 1 failed")
        self.expect([self.suite()], 1, "0 passed, 1 failed")

    def test_nothing(self):
        self.expect([], 1, "0 passed, 0 failed")


if __name__ == "__main__":
    unittest.main()
