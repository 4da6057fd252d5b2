#!/usr/bin/python3
"""check_waves.py SOURCE KEDGE: profiling/waves on small meshes, and its tables."""
import math
import os
import sys
import unittest

from experiment import SOURCE, Experiment

sys.path.insert(0, os.path.join(SOURCE, "profiling"))
import kloeckner2009_page
import waves_cases

CASES = ["maxwell single", "maxwell double", "acoustics single", "acoustics double", "core low", "parts low",
         "core high", "parts high", "errors 473", "errors 708", "elements 2", "beside plain", "beside materials",
         "beside absorbing sides", "beside ten probes", "scattering"]
FAILS = """#!/usr/bin/python3
import json, sys
print(json.dumps({"device": "A b"}))
if "--set" in sys.argv and "equation.system=acoustics" in sys.argv:
    sys.exit("no sound")
print(json.dumps({"measured": "steps", "order": 1, "elements": 6, "unknowns": 144, "stage_seconds": 1e-3,
                  "unknowns_per_second": 144e3, "share_of_floor": None}))
"""


class Waves(Experiment):
    program = "waves"

    def rows(self, text, heading):
        """Cells of the first table behind a heading."""
        lines = [line for line in text.split("### " + heading)[1].split("###")[0].splitlines() if line.startswith("|")]
        return [line.strip("| ").split(" | ") for line in lines[2:]]

    def test_all_that_the_paper_has_is_measured(self):
        self.run_program("--quick")
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual([case["name"] for case in result["cases"]], CASES)
        lines = {case["name"]: case["lines"] for case in result["cases"]}
        for name in ("parts low", "parts high"):
            stage, *parts = lines[name]
            self.assertLess(max(stage["error_of_parts"], stage["error_of_one"]), 1e-4)
            self.assertEqual([part["measured"] for part in parts],
                             ["gather", "lift", "differentiate", "update", "one"])
        coarse, fine = lines["errors 473"], lines["errors 708"]
        for order in (0, 1):
            self.assertLess(fine[order]["error"], coarse[order]["error"])
        self.assertLess(coarse[1]["error"], 0.5 * coarse[0]["error"])
        self.assertEqual(lines["scattering"][0]["elements"], 78744)
        self.check_tables(self.tables())
        self.check_page_of_results()
        self.run_again(result)

    def check_tables(self, text):
        self.assertEqual([row[0] for row in self.rows(text, "Table 2")], ["1", "2"])
        self.assertEqual(self.rows(text, "Table 2")[0][-1], "1.72")
        self.assertEqual(len(self.rows(text, "Figures 9")), 8)
        self.assertEqual(len(self.rows(text, "Beside libParanumal")), 4)
        self.assertEqual([row[0] for row in self.rows(text, "What comes beside")],
                         ["plain", "materials", "absorbing sides", "ten probes"])
        shares = [float(row[2]) for row in self.rows(text, "Figures 9") if row[0] == "1"]
        self.assertAlmostEqual(sum(shares), 100, delta=2)

    def check_page_of_results(self):
        page = os.path.join(self.folder, "page.md")
        self.run_program("--page", page)
        text = self.read(page)
        self.assertTrue(text.startswith("# Kloeckner 2009, repeated\n"))
        self.assertIn(self.tables(), text)

    def run_again(self, before):
        """A second run of the same commit measures nothing."""
        if before["commit"] in (None, "unknown"):
            return
        said = self.run_program("--quick").stdout.splitlines()
        self.assertEqual(said[:-1], [f"{name}: there" for name in CASES])

    def test_a_case_that_fails_is_recorded_and_the_others_go_on(self):
        for folder in ("build/src/cli", "build/profiling"):
            os.makedirs(os.path.join(self.folder, folder))
        kedge = self.folder + "/build/src/cli/kedge"
        os.symlink(os.path.realpath(self.command()[2]), kedge)
        os.chmod(self.write("build/profiling/waves", FAILS), 0o755)
        self.run_program("--quick", "--no-build", "--cases", "maxwell,acoustics double", kedge=kedge, code=1)
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertEqual([(case["name"], case["failure"]) for case in result["cases"]],
                         [("maxwell single", None), ("maxwell double", None), ("acoustics double", "no sound")])
        self.assertIn("acoustics double: no sound\n", self.tables())


class Tables(unittest.TestCase):
    def test_an_order_is_the_slope_of_errors(self):
        elements = [100, 200, 400, 900]
        self.assertAlmostEqual(kloeckner2009_page.order_of(elements, [n ** (-4 / 3) for n in elements]), 4)
        self.assertIsNone(kloeckner2009_page.order_of(elements, [1, 0.5, None, 0.1]))

    def test_orders_of_the_paper_are_near_those_it_prints(self):
        his = kloeckner2009_page.paper()["table_2"]
        for order, printed in his["orders"].items():
            fitted = kloeckner2009_page.order_of(his["elements"], his["errors"][order])
            self.assertAlmostEqual(fitted / printed, 1.07, delta=0.03)  # his h is not elements^-1/3

    def test_numbers_have_three_digits(self):
        self.assertEqual([kloeckner2009_page.giga(value) for value in (171.4e9, 17.14e9, 0.1714e9, 0)],
                         ["171", "17.1", "0.171", "0"])

    def test_the_obstacle_is_closed(self):
        text, n_tetrahedra = waves_cases.obstacle_mesh()
        self.assertEqual((n_tetrahedra, len(waves_cases.obstacle())), (6 * (32 * 24 * 18 - 700), 700))
        edges = {}
        for words in map(str.split, text.split("$Elements")[1].splitlines()):
            if len(words) == 8:  # a triangle
                corners = sorted(words[5:])
                for edge in ((0, 1), (0, 2), (1, 2)):
                    key = tuple(corners[i] for i in edge)
                    edges[key] = edges.get(key, 0) + 1
        self.assertTrue(edges and all(count % 2 == 0 for count in edges.values()))

    def test_a_standing_wave_has_no_divergence_and_solves_maxwells_equations(self):
        exact = {key: text.replace("^", "**") for key, text in waves_cases.standing_wave().items() if "exact" in key}

        def field(name, x, y, z, t):
            names = {"sin": math.sin, "cos": math.cos, "x": x, "y": y, "z": z, "t": t}
            return eval(exact[f"exact.{name}"], {"__builtins__": {}}, names)

        def slope(name, i, at=(0.3, 0.4, 0.2, 0.5), h=1e-5):
            low, high = ([a + sign * h * (k == i) for k, a in enumerate(at)] for sign in (-1, 1))
            return (field(name, *high) - field(name, *low)) / (2 * h)
        self.assertAlmostEqual(slope("Ex", 0) + slope("Ey", 1) + slope("Ez", 2), 0, places=6)
        for i, axis in enumerate("xyz"):
            j, k = (i + 1) % 3, (i + 2) % 3
            for one, other, sign in (("E", "H", 1), ("H", "E", -1)):
                curl = slope(other + "xyz"[k], j) - slope(other + "xyz"[j], k)
                self.assertAlmostEqual(slope(one + axis, 3), sign * curl, places=6)


if __name__ == "__main__":
    unittest.main()
