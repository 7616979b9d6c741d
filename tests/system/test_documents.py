"""Every command of strata that the documents show is one that works.

Commands are the indented lines that begin with strata or sudo strata, up to a run of blanks, and what stands
between backquotes in the same way. Names of targets and files are replaced by ones that are here; those that
serve, watch or load for long are ended after a moment, those of labs are looked up.
"""
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import tool

ROOT = os.environ["STRATA_ROOT"]
STRATA = os.environ["STRATA_PROGRAM"]

DOCUMENTS = ["README.md"] + sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs", "*.md")))

# What stands for a program that runs, in the documents.
TARGETS = {"mariadbd", "mysqld", "pool:www", "php-fpm", "812", "TARGET", "pool:PID", "redis-server", "PID", "nginx"}
PLACEHOLDER = re.compile(r"\.\.\.|\[|\{|<|NAME|COMMAND|RECIPE|\bID\b|\bFILE\b(?!\.)|\bTIME\b|LEVEL|\bURL\b|N\b")
# Serve or watch until they are told to end, or load for long.
ENDLESS = {"export", "top", "bench", "record"}

# Without more than their name they are a mention.
NEED_MORE = {"bench", "capture", "explain", "plan", "record", "report", "run", "top"}


def commands_of(text):
    lines = [line.strip() for line in text.splitlines() if re.match(r" {4,}(sudo )?strata\b", line)]
    lines += re.findall(r"`((?:sudo )?strata(?: [^`]+)?)`", text)
    for line in lines:
        yield re.split(r" {3,}|  #| \| ", line)[0].removeprefix("sudo ").strip()


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="strata-documents-")
        cls.target = tool.PythonTarget()
        cls.pid = cls.target.pid
        cls.capture = os.path.join(cls.folder, "a.strata")
        cls.recording = os.path.join(cls.folder, "a.db")
        subprocess.run([STRATA, "capture", cls.pid, "-o", cls.capture], check=False, timeout=240, capture_output=True)
        subprocess.run([STRATA, "record", cls.pid, "-o", cls.recording, "--every", "200ms", "--for", "1s"],
                       check=True, timeout=240, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.target.end()
        shutil.rmtree(cls.folder)

    def here(self, words):
        """The same command with things that exist here; None when it is a form and no command."""
        result, output = [], False
        for word in words:
            if output:
                word = os.path.join(self.folder, "out-" + os.path.basename(word)) if word != "-" else word
            elif word in TARGETS:
                word = self.pid
            elif word.endswith(".strata"):
                word = self.capture
            elif word.endswith(".db"):
                word = self.recording
            output = word in ("-o", "--output", "--textfile", "--capture")
            result.append(word)
        return result

    def run_one(self, words):
        """An exit code that says that the command was understood, else the text of what went wrong."""
        name = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
        if not [word for word in words[2:] if not word.startswith("-")] and name in NEED_MORE:
            words = words[:2] + ["--help"]  # a mention: the command must exist
        endless = name in ENDLESS and "--list" not in words and "--once" not in words and "--help" not in words
        with subprocess.Popen([STRATA] + words[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", cwd=self.folder, stdin=subprocess.DEVNULL,
                              env={**os.environ, "STRATA_LABS": os.path.join(self.folder, "no-labs")}) as process:
            try:
                if endless:
                    time.sleep(1.5)
                    process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=240)
            except subprocess.TimeoutExpired:
                process.kill()
                return "did not end"
        if name == "lab":  # the program of a lab is not run, but its name must be known
            return errors if "no lab '" in errors else None
        return errors or "no message" if process.returncode == 2 else None

    def test_every_command(self):
        seen, problems = set(), []
        for document in DOCUMENTS:
            with open(os.path.join(ROOT, document), encoding="utf-8") as file:
                text = file.read()
            for command in commands_of(text):
                if command in seen or PLACEHOLDER.search(command):
                    continue
                seen.add(command)
                problem = self.run_one(self.here(shlex.split(command)))
                if problem:
                    problems.append(f"{document}: {command}: {problem.strip()[:200]}")
        print(f"{len(seen)} commands of {len(DOCUMENTS)} documents")
        self.assertGreater(len(seen), 30)
        self.assertFalse(problems, "\n".join(problems))

    def test_what_the_documents_name_is_there(self):
        """Paths of the repository, targets of make, names of benches."""
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
            targets = set(re.findall(r"^([a-z-]+):", file.read(), re.M))
        listed = subprocess.run(["ctest", "--test-dir", os.environ["STRATA_BUILD"], "-N"], capture_output=True,
                                text=True, check=True).stdout
        tests = re.findall(r"Test +#\d+: (\S+)", listed)
        self.assertGreater(len(tests), 100)
        problems = []
        for document in DOCUMENTS + ["CONTRIBUTING.md"]:
            with open(os.path.join(ROOT, document), encoding="utf-8") as file:
                text = file.read()
            # Names of tests look like paths.
            text = re.sub(r"\b(" + "|".join(re.escape(name) for name in tests) + r")\b", "", text)
            for path in re.findall(r"\b(?:docs|tools|dist|tests|labs|bench|src|alloc)/[\w./-]*[\w]", text):
                if not glob.glob(os.path.join(ROOT, path) + "*") and "NAME" not in path and "NNN" not in path:
                    problems.append(f"{document}: no '{path}'")
            for target in re.findall(r"`make ([a-z-]+)`", text):
                if target not in targets:
                    problems.append(f"{document}: no target '{target}' of make")
            for name in re.findall(r"run-benches ([a-z -]+)`", text):
                problems += [f"{document}: no bench '{one}'" for one in name.split()
                             if subprocess.run(["grep", "-rqs", one, os.path.join(ROOT, "tools", "run-benches"),
                                                os.path.join(ROOT, "bench", "CMakeLists.txt")], check=False).returncode
                             and not os.path.isdir(os.path.join(ROOT, "bench", one))]
        self.assertFalse(problems, "\n".join(problems))

    def test_decisions_have_one_form(self):
        """The one of docs/decisions/000-format.md, which lists them all."""
        folder = os.path.join(ROOT, "docs", "decisions")
        with open(os.path.join(folder, "000-format.md"), encoding="utf-8") as file:
            listed = set(re.findall(r"^\| (\d{3}) \|", file.read(), re.M))
        names = sorted(os.listdir(folder))
        self.assertEqual(listed, {name[:3] for name in names})
        for name in names[1:]:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            form = rf"# {name[:3]}: .*\n\n\d{{4}}-\d\d-\d\d\. Status: (holds|replaced by \d{{3}})"
            self.assertTrue(re.match(form, text), f"{name}: title, date and status")
            headings = re.findall(r"^## (.*)", text, re.M)
            self.assertEqual(headings[:3], ["Question", "Choice", "Because"], name)
            self.assertTrue(any(re.match("Not chosen|Tried and left", heading) for heading in headings), name)


if __name__ == "__main__":
    unittest.main()
