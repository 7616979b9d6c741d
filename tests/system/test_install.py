"""What `make install` brings: the texts that help and manual pages name, dates, and a heap's example that runs."""
import datetime
import email.utils
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.environ["STRATA_ROOT"]
BUILD = os.environ["STRATA_BUILD"]
STRATA = os.environ["STRATA_PROGRAM"]

# Of a command of which help and manual pages may not speak: there is no such folder where strata is installed.
OF_THE_SOURCE = re.compile(r"\b(?<!/)(?:docs|dist)/\w*")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def released():
    """When the changelog of the packages was signed."""
    signed = re.search(r"^ -- .*>  (.*)$", read(os.path.join(ROOT, "dist", "debian", "changelog")), re.M)
    return email.utils.parsedate_to_datetime(signed.group(1))


def indented(text, first):
    """The indented block of a text that begins with this line, without its four blanks."""
    lines = text.splitlines()
    block = []
    for line in lines[lines.index("    " + first):]:
        if line and not line.startswith("    "):
            break
        block.append(line[4:])
    return "\n".join(block).rstrip() + "\n"


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tempfile.mkdtemp(prefix="strata-install-")
        for part in ("docs", "alloc"):
            subprocess.run(["cmake", "--install", os.path.join(BUILD, part), "--prefix", cls.prefix], check=True,
                           timeout=240, stdout=subprocess.DEVNULL)
        cls.texts = os.path.join(cls.prefix, "share", "doc", "strata")
        cls.pages = sorted(glob.glob(os.path.join(cls.prefix, "share", "man", "man*", "*")))
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": cls.libraries_described()}

    @classmethod
    def libraries_described(cls):
        """The folder with strata.pc, which tells the prefix of the build: here it is another."""
        path, = glob.glob(os.path.join(cls.prefix, "lib", "**", "strata.pc"), recursive=True)
        with open(path, "r+", encoding="utf-8") as file:
            text = re.sub(r"^prefix=.*", f"prefix={cls.prefix}", file.read(), flags=re.M)
            file.seek(0)
            file.truncate()
            file.write(text)
        return os.path.dirname(path)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.prefix)

    def test_every_text_is_installed(self):
        for path in glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True):
            name = os.path.relpath(path, os.path.join(ROOT, "docs"))
            self.assertEqual(read(path), read(os.path.join(self.texts, name)))

    def test_help_and_manual_pages_name_what_is_installed(self):
        told = {page: read(page).replace("\\-", "-").replace("\\&", "").replace("\\", "") for page in self.pages}
        self.assertGreater(len(told), 10)
        for page in list(told):
            command = re.fullmatch(r"strata-(\w+)\.1", os.path.basename(page))
            words = [STRATA, "help"] + ([command.group(1)] if command else [])
            told[" ".join(words[1:])] = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        named = set()
        for where, text in told.items():
            self.assertFalse(OF_THE_SOURCE.findall(text), where)
            named |= set(re.findall(r"share/doc/strata/([a-z-]+\.md)", text))
        self.assertIn("json.md", named)
        for name in named:
            self.assertTrue(os.path.exists(os.path.join(self.texts, name)), name)

    def test_manual_pages_are_dated_by_the_release(self):
        date = released().astimezone(datetime.timezone.utc).strftime("%Y-%m-%d")
        for page in self.pages:
            self.assertRegex(read(page), rf'\n\.TH "[^\n]*"{date}"', page)

    def test_the_manual_page_of_the_library_has_the_example_of_heaps(self):
        page = read(os.path.join(self.prefix, "share", "man", "man3", "libstrata.3"))
        shown = re.search(r"\n\.nf\n\.RS 4\n(.*?)\n\.fi\n", page, re.S).group(1)
        self.assertEqual(shown.replace("\\&", "").replace("\\\\", "\\") + "\n", self.example())

    def test_the_manual_page_of_the_library_names_every_function(self):
        headers = os.path.join(self.prefix, "include", "strata")
        functions = set()
        for name in ("heap.h", "heap_walk.h"):
            functions |= set(re.findall(r"^STRATA_API [^(]*?(\w+)\(", read(os.path.join(headers, name)), re.M))
        self.assertGreater(len(functions), 10)
        page = read(os.path.join(self.prefix, "share", "man", "man3", "libstrata.3"))
        self.assertEqual(functions, set(re.findall(r"^\\fB[^(\n]*?(strata_\w+)\(", page, re.M)))

    def example(self):
        return indented(read(os.path.join(self.texts, "heaps.md")), "#include <errno.h>")

    def run_example(self, command):
        folder = tempfile.mkdtemp(dir=self.prefix)
        text = read(os.path.join(self.texts, "heaps.md"))
        with open(os.path.join(folder, "example.c"), "w", encoding="utf-8") as file:
            file.write(self.example())
        words = command.replace("cc ", "cc -std=c17 -Wall -Wextra -Werror ", 1)
        subprocess.run(["sh", "-c", words], cwd=folder, env=self.environment, check=True, timeout=240)
        printed = subprocess.run(["./example"], cwd=folder, check=True, capture_output=True, text=True, timeout=240,
                                 env={**os.environ, "LC_ALL": "C"}).stdout
        self.assertEqual(indented(text, "request 1: 3145840 bytes in use; 16 MiB more: Cannot allocate memory"), printed)

    def test_the_example_of_heaps_runs_as_it_is_compiled_there(self):
        commands = re.findall(r"^    (cc .*)$", read(os.path.join(self.texts, "heaps.md")), re.M)
        self.assertEqual(len(commands), 3)
        for command in commands[1:]:  # the first is for a folder that the loader knows
            self.run_example(command)


if __name__ == "__main__":
    unittest.main()
