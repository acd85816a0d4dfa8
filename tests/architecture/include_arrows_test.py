"""Shows that include_arrows.py finds what it is there for, on small trees of its own."""

import pathlib
import tempfile
import unittest

import include_arrows


class IncludeArrows(unittest.TestCase):
    def faults_of(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            faults, count = include_arrows.check(root)
            sources = [text for name, text in files.items() if not name.startswith("build/")]
            self.assertEqual(count, sum(text.count("#include") for text in sources))
            return faults

    def test_permits_what_the_table_permits(self):
        self.assertEqual(self.faults_of({
            "core/a.h": "#include <vector>\n#include <sys/mman.h>\n",
            "oracle/a.cc": '#include "oracle/a.h"\n#include "core/a.h"\n#include "reference/b.h"\n',
            "reference/b.h": "  #include\t<boost/multiprecision/cpp_int.hpp>\n",
            "cli/main.cc": '#include <CLI/CLI.hpp>\n#include "optimized/filter_gradient.h"\n',
        }), [])

    def test_refuses_an_include_against_the_arrows(self):
        self.assertEqual(self.faults_of({"core/a.h": '\n#include "oracle/facts.h"\n'}),
                         ["core/a.h:2: core/ may not include oracle/facts.h"])
        self.assertEqual(len(self.faults_of({"reference/a.cc": '#include "optimized/filter_gradient.h"\n'})), 1)
        self.assertEqual(len(self.faults_of({"oracle/a.cc": '#include "candidates/process/process.h"\n'})), 1)

    def test_refuses_a_foreign_package_outside_its_folder(self):
        for name, header in [("oracle/a.cc", "cblas.h"), ("core/a.cc", "boost/multiprecision/cpp_int.hpp"),
                             ("cli/a.cc", "nlohmann/json.hpp"), ("candidates/a.cc", "CLI/CLI.hpp"),
                             ("report/a.cc", "gtest/gtest.h")]:
            self.assertEqual(self.faults_of({name: f"#include <{header}>\n"}),
                             [f"{name}:1: {name.split('/')[0]}/ may not include <{header}>"])

    def test_refuses_an_unknown_folder_and_a_source_at_the_top(self):
        self.assertEqual(len(self.faults_of({"utils/a.h": "#include <vector>\n"})), 1)
        self.assertEqual(len(self.faults_of({"main.cc": "#include <vector>\n"})), 1)

    def test_refuses_includes_that_are_not_relative_to_the_root(self):
        self.assertEqual(len(self.faults_of({"oracle/a.cc": '#include "facts.h"\n'})), 1)
        self.assertEqual(len(self.faults_of({"oracle/a.cc": '#include "../core/a.h"\n'})), 1)

    def test_leaves_build_folders_out(self):
        self.assertEqual(self.faults_of({"build/CMakeCache.txt": "", "build/core/a.cc": '#include "oracle/a.h"\n'}), [])

    def test_the_table_has_no_cycle(self):
        self.assertEqual(include_arrows.cycles(), [])

    def test_a_cycle_would_be_found(self):
        saved = include_arrows.ARROWS["core"]
        include_arrows.ARROWS["core"] = ({"oracle"}, set())
        try:
            self.assertIn("core", include_arrows.cycles())
        finally:
            include_arrows.ARROWS["core"] = saved


if __name__ == "__main__":
    unittest.main()
