"""tools/check-layers catches upward includes and forbidden symbols."""
import os
import subprocess
import tempfile
import unittest

CHECK = os.path.join(os.environ["STRATA_ROOT"], "tools", "check-layers")


class CheckLayers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = os.path.join(self.folder.name, "house")
        self.build = os.path.join(self.folder.name, "build")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        place = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
        return place

    def compile(self, path, text, output):
        place = os.path.join(self.build, output)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        subprocess.run(["gcc", "-w", "-c", "-o", place, self.write(path, text)], check=True)
        return place

    def compile_layer(self, layer, text):
        """One layer of the tool with one source, as an archive of the build."""
        self.write(f"src/{layer}/CMakeLists.txt", "")
        thing = self.compile(f"src/{layer}/thing.c", text, f"{layer}.o")
        archive = os.path.join(self.build, "src", layer, f"libstrata_{layer}.a")
        os.makedirs(os.path.dirname(archive), exist_ok=True)
        subprocess.run(["ar", "rcs", archive, thing], check=True)

    def compile_allocator(self, name, text):
        self.compile(f"alloc/src/{name}.c", text, f"alloc/CMakeFiles/strata.dir/src/{name}.c.o")

    def expect(self, message, with_build=False):
        command = [CHECK, "--root", self.root] + (["--build", self.build] if with_build else [])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        self.assertEqual(done.returncode, 1 if message else 0, output)
        if message:
            self.assertIn(message, output)

    def test_downward_include_passes(self):
        self.write("src/model/thing.c", '#include "base/buffer.h"\n#include <stdint.h>\n')
        self.expect(None)

    def test_upward_include(self):
        self.write("src/model/thing.c", '#include "facts/root.h"\n')
        self.expect("layer 'model' may not use 'facts'")

    def test_allocator_header_in_tool(self):
        self.write("src/facts/thing.c", '#include "strata/layout.h"\n')
        self.expect(None)
        self.write("src/facts/thing.c", '#include "strata/heap.h"\n')
        self.expect("sees only the layouts")
        self.write("src/model/thing.c", '#include <strata/layout.h>\n')
        self.expect("may not use 'strata_layout'")

    def test_include_without_layer(self):
        self.write("src/model/thing.c", '#include "buffer.h"\n')
        self.expect("without its layer's name")

    def test_unknown_layer(self):
        self.write("src/extra/thing.c", "int thing;\n")
        self.expect("layer 'extra' is not in the table")

    def test_allocator_includes_tool(self):
        self.write("alloc/src/os.c", '#include "base/buffer.h"\n')
        self.expect("'alloc' may not use the tool")

    def test_lab_includes_tool(self):
        self.write("labs/churn/churn.c", '#include "facts/root.h"\n')
        self.expect("'labs' may not use the tool")

    def test_upward_call(self):
        self.compile_layer("facts", "int facts_thing(void) { return 1; }\n")
        self.compile_layer("base", "int facts_thing(void);\nint base_thing(void) { return facts_thing(); }\n")
        self.expect("asks for 'facts_thing' of layer 'facts'", with_build=True)

    def test_printing_in_pure_layer(self):
        self.compile_layer("model", '#include <stdio.h>\nvoid thing(int a) { printf("%d", a); }\n')
        self.expect("asks for 'printf'", with_build=True)

    def test_printing_behind_fortification(self):
        self.compile_layer("model", "int __fprintf_chk(void *, int, const char *, ...);\n"
                                    'void thing(void *f) { __fprintf_chk(f, 1, "%p", f); }\n')
        self.expect("asks for '__fprintf_chk'", with_build=True)

    def test_reading_in_pure_layers(self):
        for layer, call in (("findings", "open"), ("present", "socket"), ("model", "getenv"),
                            ("facts", "exit"), ("record", "puts")):
            with self.subTest(layer=layer):
                self.compile_layer(layer, f"long {call}();\nlong thing(void) {{ return {call}(); }}\n")
                self.expect(f"asks for '{call}', which layer '{layer}' must not", with_build=True)
                self.compile_layer(layer, "int thing;\n")

    def test_clean_layers_pass(self):
        self.compile_layer("base", "int base_thing(void) { return 1; }\n")
        self.compile_layer("model", "int base_thing(void);\nint thing(void) { return base_thing(); }\n")
        self.expect(None, with_build=True)

    def test_allocator_order(self):
        self.compile_allocator("os", "int strata__os(void) { return 1; }\n")
        self.compile_allocator("page", "int strata__os(void);\nint strata__page(void) { return strata__os(); }\n")
        self.expect(None, with_build=True)
        self.compile_allocator("os", "int strata__page(void);\nint strata__os(void) { return strata__page(); }\n")
        self.expect("'strata__page' of 'page.c', which is not below it", with_build=True)

    def test_allocator_calls_malloc(self):
        self.compile_allocator("os", "void *malloc(unsigned long);\nvoid *thing(void) { return malloc(9); }\n")
        self.expect("asks for 'malloc'", with_build=True)

    def test_allocator_file_without_place(self):
        self.compile_allocator("extra", "int thing;\n")
        self.expect("not in the order", with_build=True)


if __name__ == "__main__":
    unittest.main()
