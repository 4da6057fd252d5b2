"""The programs of the pages and of docs/example run, and say what they should."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from support import ROOT, backend

import kedge

try:
    import gmsh as GMSH
except (ImportError, OSError):  # without the libraries that it needs
    GMSH = None


def program(page, section=""):
    """The first block of Python that imports kedge, of a page or of a section of it."""
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text[text.index(section):], re.M | re.S)
    return next(block for block in blocks if "import kedge" in block)


def run(*arguments, cwd=None):
    ran = subprocess.run([sys.executable, "-B", *arguments], cwd=cwd, text=True, capture_output=True)
    if ran.returncode:
        raise AssertionError(f"the program ends with {ran.returncode} and says:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()

    def test_the_programs_of_the_pages_run(self):
        for page, last in (("README.md", "print(s(0.5, 0.5))"), ("docs/python.md", "print(s(1.5, 0.2))")):
            with self.subTest(page), tempfile.TemporaryDirectory() as folder:
                os.symlink(ROOT / "meshes/plate.msh", os.path.join(folder, "plate.msh"))
                self.assertGreater(float(run("-W", "ignore", "-c", program(page) + "\n" + last, cwd=folder)), 0)

    def test_the_program_in_space_says_what_the_page_says(self):
        more = "\nprint(s.integrals['heat'], s.groups['z0'].area, *s.probes['axis'].values(s, 'q').shape, s.q.shape[2])"
        said = run("-W", "error", "-c", program("docs/python.md", "\n## In space\n") + more)
        np.testing.assert_allclose([*map(float, said.split())], [-1.25, 1, 11, 3, 3], rtol=1e-7)

    def test_the_program_of_waves_shows_a_lens(self):
        more = "\nprint(len(signal), s(0.9, 0.5), signal[-1][1], s['H'].shape[2], kedge.read('lens.vtkhdf')(0.9, 0.5), s.energy)"
        with tempfile.TemporaryDirectory() as folder:
            said = run("-W", "error", "-c", program("docs/python.md", "\n## Waves\n") + more, cwd=folder)
        steps, at, last, parts, read, energy = map(float, said.split())
        self.assertEqual((steps > 100, parts), (True, 2))
        np.testing.assert_allclose((at, read), last, rtol=1e-6)
        self.assertTrue(0.1 < energy < 2)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "no scipy")
    def test_the_program_of_the_membrane_finds_its_eigenvalues(self):
        said = run("-W", "error", "-c", program("docs/examples.md") + "\nprint(*eigenvalues, abs(u).max(), len(u))")
        *found, highest, elements = map(float, said.split())
        self.assertLess(max(abs(found / (np.pi**2 * np.array([2, 5, 5, 8, 10, 10])) - 1)), 1e-8)
        self.assertAlmostEqual(highest, 2, delta=1e-5)  # u = 2 sin(pi x) sin(pi y)
        self.assertEqual(elements, 288)

    def test_the_sweep_finds_what_single_solves_find(self):
        said = run(ROOT / "docs/example/sweep.py", "3")
        problem = kedge.Problem.read(ROOT / "meshes/plate.ini", order=2)
        mesh = problem.mesh()
        hottest = max(kedge.solve(mesh, problem.replace(
            source=f"250000*exp(-((x - {x})^2 + (y - 0.2)^2)/0.01)"), self.context).u_star.max() for x in (0.1, 1.5, 2.9))
        self.assertIn(f"hottest: {hottest:.1f} degrees", said)

    def test_the_programs_of_numbers_say_what_the_page_says(self):
        text = (ROOT / "docs/numbers.md").read_text()
        plate, ring, probe = re.findall(r"(?ms)^```python\n(.*?)^```", text)
        said = run("-W", "error", "-c", plate, cwd=ROOT / "meshes")
        shown = re.search(r"(?ms)^```\n\n(    hot .*?\n)\n", text).group(1)
        self.assertEqual(said.replace("-0.0", " 0.0"), re.sub("(?m)^    ", "", shown))
        for error in run("-W", "error", "-c", ring).split():
            self.assertLess(abs(float(error)), 1e-9)
        with tempfile.TemporaryDirectory() as folder:
            u, q = map(float, run("-W", "error", "-c", probe, cwd=folder).split())
            self.assertLess(u, 1e-6)
            self.assertLess(q, 1e-4)
            table = np.genfromtxt(os.path.join(folder, "axis.csv"), delimiter=",", names=True)
            self.assertLess(abs(table["u_star"] - 1 + np.log2(table["x"])).max(), 1e-6)
            self.assertEqual(len(table), 11)

    @unittest.skipUnless("KEDGE_COMMAND" in os.environ, "KEDGE_COMMAND names no command")
    def test_the_sweep_measures_the_command_beside_it(self):
        command = os.environ["KEDGE_COMMAND"]
        said = run(ROOT / "docs/example/sweep.py", "4", command, "2").splitlines()[-1]
        self.assertRegex(said, r"^4 calls of the command \d+\.\d s, scaled from 2: \d+ times as long$")
        self.assertNotIn("scaled", run(ROOT / "docs/example/sweep.py", "2", command))

    @unittest.skipUnless(GMSH, "gmsh cannot be imported: pip install gmsh")
    def test_the_adaptive_loop_reaches_its_error_with_few_elements(self):
        for domain, tolerance, most in ("lshape", 1e-6, 2500), ("slit", 1e-4, 2500):
            with self.subTest(domain), tempfile.TemporaryDirectory() as folder:
                drawing = [os.path.join(folder, "a.png")] if importlib.util.find_spec("matplotlib") else []
                said = run(ROOT / "docs/example/adaptive.py", domain, str(tolerance), *drawing)
                adapted, uniform = ([tuple(map(float, row.split()[:2])) for row in part.splitlines()[1:] if "is reached" not in row]
                                    for part in re.split("^(?=  elements)", said, flags=re.M)[1:])
                self.assertLess(adapted[-1][1], tolerance)
                self.assertLess(adapted[-1][0], most)
                self.assertEqual(adapted[0], uniform[0])
                self.assertGreater(uniform[-1][1], 1e-3)
                self.assertTrue(all(map(os.path.getsize, drawing)))

    def test_the_loops_of_the_page_of_time_end_where_it_says(self):
        newton, picard = re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / "docs/time.md").read_text())
        for name in "auto", "jacobi":  # which a GPU takes here by itself
            with self.subTest(name):
                first = newton.replace("order=3", f"order=3, preconditioner={name!r}")
                said = run("-W", "error", "-c", f"{first}\nprint(solves, change)\n{picard}\nprint(solves, change)")
                solves, changes = zip(*(map(float, row.split()) for row in said.splitlines()))
                self.assertEqual(solves, (10, 11))
                self.assertLess(changes[0], 1e-8)
                self.assertLess(changes[1], 1e-7)

    def test_bars_that_touch_are_as_warm_as_the_analytic_solution(self):
        said = run("-W", "error", ROOT / "docs/example/contact.py").splitlines()
        self.assertEqual(said[0], "contact at 73.977 degrees")
        errors = {float(row.split()[0]): float(row.split()[-1]) for row in said[2:]}
        self.assertEqual(len(errors), 40)
        self.assertLess(errors[30], 4e-3)
        self.assertLess(errors[60], 4e-4)

    def test_laws_of_radiation_have_the_orders_that_the_page_says(self):
        text = (ROOT / "docs/examples.md").read_text()
        for how, order, digits in ("tangent", 2, 3), ("lagged", 1, 2), ("explicit", 1, 2):
            runs = [run("-W", "error", ROOT / "docs/example/weld.py", str(steps), how) for steps in (10, 20, 40)]
            edge = [float(re.search(r"t = 1: .* (\S+) K at the edge", said)[1]) for said in runs]
            self.assertAlmostEqual(np.log2((edge[0] - edge[1]) / (edge[1] - edge[2])), order, delta=0.15)
            self.assertIn(", ".join(f"{value:.{digits}f}" for value in edge), text)
            self.assertIn(f"set up {1 if how == 'explicit' else 10} times", runs[0])

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "no scipy")
    def test_a_cylinder_scatters_as_the_series_says(self):
        said = run("-W", "error", ROOT / "docs/example/cylinder.py", "3", "2")
        free, here = map(float, re.findall(r"(\S+)%", said))
        self.assertAlmostEqual(free, 4.3, delta=0.05)
        self.assertLess(here, 0.4)
        # Its polygon has the area of the circle: the map of the file knows the parameters.
        mesh = kedge.Problem.read(ROOT / "meshes/cylinder.ini", parameters={"outer": 6}).mesh()
        self.assertAlmostEqual(mesh.box[2], 6 * np.sqrt(np.pi / 12 / np.sin(np.pi / 12)), delta=1e-12)

    def test_the_thermostat_keeps_its_room_warm(self):
        *switches, last = run("-W", "error", ROOT / "docs/example/thermostat.py").splitlines()
        self.assertEqual(last, "switched 10 times, on for 3.30 h; set up 1 times")
        self.assertEqual([row.split()[-1] for row in switches], ["on", "off"] * 5)
        for row in switches[1:]:
            self.assertTrue(20.2 < float(row.split()[2]) < 21.8, row)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "no scipy")
    def test_the_fit_finds_what_was_measured_with(self):
        said = run("-W", "ignore", ROOT / "docs/example/fit.py")
        adjoint, differences = map(float, re.search(r"adjoint (\S+), by differences (\S+)", said).groups())
        self.assertAlmostEqual(adjoint / differences, 1, delta=1e-4)
        found = [float(number) for number in re.search(r"found \[(\S+), (\S+)\]", said).groups()]
        self.assertAlmostEqual(found[0], 2, delta=1e-3)
        self.assertAlmostEqual(found[1], 5, delta=1e-2)


if __name__ == "__main__":
    unittest.main()
