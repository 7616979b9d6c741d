"""tools/check-abi sees what breaks programs, and lets additions pass.

Instead of a changed library, the description of the last release is changed: what it has more,
the library has lost.
"""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.environ["STRATA_ROOT"]
ABI = os.path.join(ROOT, "alloc", "abi")
NAMES = ("libstrata.abi", "libstrata-malloc.abi")
STATS = r"(<class-decl name='strata_heap_stats'.*?</class-decl>)"
LAST_MEMBER = r"size-in-bits='960'(.*)<data-member access='public' layout-offset-in-bits='896'>.*</data-member>"


class CheckAbi(unittest.TestCase):
    def expect(self, code, change, name="libstrata.abi"):
        """The check against a description to which change() was done, which must do something."""
        with tempfile.TemporaryDirectory() as folder:
            for each in NAMES:
                with open(os.path.join(ABI, each), encoding="utf-8") as file:
                    text = file.read()
                changed = change(text) if each == name else text
                self.assertEqual(changed != text, each == name)
                with open(os.path.join(folder, each), "w", encoding="utf-8") as file:
                    file.write(changed)
            done = subprocess.run([os.path.join(ROOT, "tools", "check-abi"), "--build", os.environ["STRATA_BUILD"],
                                   "--baseline", folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_a_function_is_gone(self):
        symbol = re.compile(r"<elf-symbol name='strata_tag_pop'.*\n")
        output = self.expect(1, lambda text: symbol.sub(lambda line: line[0] + line[0].replace("_pop", "_drop"), text),
                             "libstrata-malloc.abi")
        self.assertIn("strata_tag_drop", output)

    def test_a_member_has_moved(self):
        def swap(match):
            return match[0].replace("'used_bytes'", "'x'").replace("'real_bytes'", "'used_bytes'").replace(
                "'x'", "'real_bytes'")
        self.assertIn("used_bytes", self.expect(1, lambda text: re.sub(STATS, swap, text, flags=re.S)))

    def test_a_parameter_has_another_type(self):
        # The second one of strata_alloc, by its number in the description.
        size = re.compile(r"(<function-decl name='strata_alloc' [^<]*<parameter [^<]*<parameter type-id=')\w+")

        def change(text):
            number = re.search(r"<type-decl name='int' .*id='(\w+)'", text)[1]
            return size.sub(lambda match: match[1] + number, text)
        self.assertIn("strata_alloc", self.expect(1, change))

    def test_an_enumerator_has_another_value(self):
        self.expect(1, lambda text: text.replace("'STRATA_LAYOUT_ZEND' value='1'", "'STRATA_LAYOUT_ZEND' value='2'"))

    def test_a_struct_has_grown_at_its_end(self):
        def cut(match):
            return re.sub(LAST_MEMBER, r"size-in-bits='896'\1", match[0], flags=re.S)
        self.expect(0, lambda text: re.sub(STATS, cut, text, flags=re.S))

    def test_functions_and_enumerators_were_added(self):
        self.expect(0, lambda text: re.sub(r"<elf-symbol name='strata_heap_trim'.*\n", "", text))
        self.expect(0, lambda text: re.sub(r"<enumerator name='STRATA_WALK_CLASS'.*\n", "", text))

    def test_a_new_soname_need_not_be_compatible(self):
        output = self.expect(0, lambda text: text.replace("libstrata.so.1", "libstrata.so.0").replace(
            "'strata_alloc'", "'strata_gone'"))
        self.assertIn("another interface", output)


if __name__ == "__main__":
    unittest.main()
