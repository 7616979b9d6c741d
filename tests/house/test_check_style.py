"""tools/check-style catches each kind of violation, and lets clean code pass."""
import os
import subprocess
import tempfile
import unittest

CHECK = os.path.join(os.environ["STRATA_ROOT"], "tools", "check-style")

OPENING = "/*\n * thing.c - a thing.\n *\n * It owns nothing.\n */\n"
CLEAN_C = OPENING + """#include "base/thing.h"

int thing_add(int a, int b)
{
    if (a > 0) {
        return a + b;
    }
    return b;
}
"""
CLEAN_H = """/* thing.h - a thing. */
#ifndef STRATA_BASE_THING_H
#define STRATA_BASE_THING_H

int thing_add(int a, int b);

#endif
"""


def with_body(lines):
    return OPENING + '#include "base/thing.h"\n\nint thing_add(int a, int b)\n{\n' + lines + "}\n"


class CheckStyle(unittest.TestCase):
    def run_check(self, changes):
        """Runs the check over a clean small tree with changes: {path: text or None}."""
        files = {"src/base/thing.c": CLEAN_C, "src/base/thing.h": CLEAN_H, **changes}
        with tempfile.TemporaryDirectory() as root:
            style = os.path.join(os.environ["STRATA_ROOT"], ".clang-format")
            os.symlink(style, os.path.join(root, ".clang-format"))
            for path, text in files.items():
                if text is not None:
                    place = os.path.join(root, path)
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    with open(place, "w", encoding="utf-8") as file:
                        file.write(text)
            done = subprocess.run([CHECK, "--root", root], capture_output=True, text=True,
                                  check=False)
        return done.returncode, done.stdout + done.stderr

    def expect(self, changes, message):
        code, output = self.run_check(changes)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def expect_c(self, text, message):
        self.expect({"src/base/thing.c": text}, message)

    def test_clean_tree_passes(self):
        code, output = self.run_check({})
        self.assertEqual(code, 0, output)

    def test_banned_calls(self):
        for call in ("strcpy(p, q)", "sprintf(p, q)", "system(p)", "alloca(8)", "atoi(p)"):
            self.expect_c(with_body(f"    {call};\n    return a + b;\n"), "banned call")

    def test_words_in_comments_and_strings_are_no_calls(self):
        text = with_body('    const char *p = "system(1)"; /* strcpy(a) */\n\n'
                         "    return p[a] + b;\n")
        code, output = self.run_check({"src/base/thing.c": text})
        self.assertEqual(code, 0, output)

    def test_allocator_uses_no_stdio(self):
        self.expect({"alloc/src/os.c": OPENING + "#include <stdio.h>\n"}, "header <stdio.h>")

    def test_long_function(self):
        self.expect_c(with_body("    a++;\n" * 100 + "    return a + b;\n"), "function of 104 lines")

    def test_function_of_100_lines_passes(self):
        code, output = self.run_check({"src/base/thing.c": with_body("    a++;\n" * 97)})
        self.assertEqual(code, 0, output)

    def test_long_file(self):
        self.expect_c(CLEAN_C + "/* a */\n" * 800, "at most 800")

    def test_long_header(self):
        text = CLEAN_H.replace("\n#endif", "/* a */\n" * 150 + "\n#endif")
        self.expect({"src/base/thing.h": text}, "at most 150")

    def test_deep_nesting(self):
        lines, indent = "", "    "
        for depth in range(5):
            lines += indent * (depth + 1) + "if (a) {\n"
        lines += indent * 6 + "b++;\n"
        for depth in range(5, 0, -1):
            lines += indent * depth + "}\n"
        self.expect_c(with_body(lines + "    return b;\n"), "5 levels")

    def test_many_parameters(self):
        text = CLEAN_C.replace("int a, int b)", "int a, int b, int c, int d, int e, int f, int g)")
        self.expect_c(text, "has 7 parameters")

    def test_typedef_of_struct(self):
        self.expect_c(CLEAN_C + "\ntypedef struct thing thing;\n", "typedef of a struct")

    def test_name_with_t(self):
        self.expect_c(CLEAN_C + "\ntypedef int thing_t;\n", "name ends in _t")

    def test_line_comment(self):
        self.expect_c(CLEAN_C + "\n// a comment\n", "comment with //")

    def test_leading_underscore(self):
        self.expect_c(CLEAN_C + "\nstruct _thing {\n    int a;\n};\n", "underscore: '_thing'")
        self.expect_c(CLEAN_C + "\nstatic int _thing(void)\n{\n    return 0;\n}\n",
                      "underscore: '_thing'")

    def test_header_guard(self):
        text = CLEAN_H.replace("STRATA_BASE_THING_H", "THING_H")
        self.expect({"src/base/thing.h": text}, "header guard 'THING_H'")
        self.expect({"src/base/thing.h": "/* thing.h - a thing. */\n"}, "no header guard")

    def test_trailing_blanks(self):
        self.expect({"docs/page.md": "words \n"}, "trailing blanks")

    def test_machine_path(self):
        self.expect({"docs/page.md": "see " + "/ho" + "me/somebody/file\n"}, "path of one machine")

    def test_host(self):
        self.expect({"docs/page.md": "see https:/" + "/packages.example.net.invalid/x\n"},
                    "address of a host")

    def test_opening_comment(self):
        self.expect_c(CLEAN_C[len(OPENING):], "does not open with a comment")

    def test_own_header(self):
        self.expect_c(CLEAN_C.replace('#include "base/thing.h"\n', "#include <stddef.h>\n"),
                      "own header 'thing.h'")
        self.expect({"src/base/thing.h": None}, "has no header 'thing.h'")

    def test_format(self):
        self.expect_c(CLEAN_C.replace("a + b", "a+b"), "clang-format-violations")

    def test_text_broken_early(self):
        text = with_body('    complain("a text of some words "\n             "that goes on");\n')
        self.expect_c(text, "thing.c:10: text broken early: 'that'")

    def test_breaks_of_the_author_pass(self):
        for first, second in (("SELECT a,", " b FROM c"), ("a line\\n", "and one more"),
                              ("", "a"), ("<p>", "<b>")):
            text = with_body(f'    complain("{first}"\n             "{second}");\n')
            code, output = self.run_check({"src/base/thing.c": text})
            self.assertEqual(code, 0, output)

    def test_filled_text_passes(self):
        text = with_body(f'    complain("{"word " * 14}"\n             "wordsofalongkind");\n')
        code, output = self.run_check({"src/base/thing.c": text})
        self.assertEqual(code, 0, output)

    def test_text_too_wide(self):
        text = with_body(f'    complain("{"word " * 16}");\n')
        self.expect_c(text, "text beyond column 90")

    def test_shell(self):
        self.expect({"tools/thing": "#!/bin/sh\necho $1\n"}, "SC2086")


if __name__ == "__main__":
    unittest.main()
