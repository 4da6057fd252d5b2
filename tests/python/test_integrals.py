"""Integrals of expressions, of solutions and of what operators make of them; such expressions at points."""
import json
import math
import os
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
from support import OnBackend, everywhere

import kedge

try:
    import matplotlib
    matplotlib.use("Agg")
except ImportError:
    matplotlib = None

MESHES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../meshes")

FILE = """[mesh]
generate = mixed 6
[parameters]
k = 2
[space]
order = 3
[exact]
u = x^2*y
[boundary default]
type = dirichlet
[integral heat]
of = flux
on = right
[integral mean of u]
of = k*u
quadrature = 5
"""


class Case(OnBackend):
    def solve(self, mesh, problem, **more):
        with warnings.catch_warnings():  # where the exact solution is in the space, the iteration leaves the error
            warnings.simplefilter("ignore", kedge.Note)
            return super().solve(mesh, problem, **more)


class Integrals(Case):
    def solved(self, exact="x^2*y", mesh=None, order=3, **more):
        mesh = mesh or kedge.mixed(6)
        problem = kedge.Problem(order=order, exact=exact, boundary={"default": kedge.Dirichlet()}, **more)
        return self.solve(mesh, problem)

    def test_text_is_integrated_over_domain_region_and_lines(self):
        s = self.solved(parameters={"k": 4}, diffusion="2 + x")
        for value, exact in ((s.integrate("1"), 1), (s.integrate("k*u"), 4 / 6), (s.integrate(3), 3),
                             (s.integrate("qx*qy", on="domain"), 2 / 4 / 2), (s.integrate("u", on="right"), 0.5),
                             (s.integrate("flux", on="right"), 3), (s.integrate("normal_y", "bottom"), -1),
                             (s.integrate("sigma_x*normal_x", "right", 6), 3)):
            self.assertAlmostEqual(value, exact, delta=1e-7)

    def test_quadrature_is_on_regions_and_groups_of_the_boundary_as_integrals_are(self):
        halves = kedge.Mesh([[0, 0], [2, 0], [2, 1], [0, 1], [3, 0.5]],
                            {"quad": [[0, 1, 2, 3]], "triangle": [[1, 4, 2]]},
                            {"low": [[0, 1]], "cut": [[2, 1]], "tip": [[1, 4], [4, 2]]}, regions=[1, 2], refine=2)
        for mesh, names in ((halves, ("1", 2, "low", "tip", "default")), (kedge.disk(4), (None, "boundary")),
                            (kedge.ring(3, 12, geometry=3), ("inner", "outer", "all", "domain"))):
            s = self.solve(mesh, kedge.Problem(order=2, source="1 + x", boundary={"default": kedge.Dirichlet("x*y")}))
            for on in names:
                weight, (x, y), u, q = s.quadrature("u", "q", points=12, on=on)
                self.assertEqual((x.shape, u.shape, q.shape), (weight.shape, weight.shape, (*weight.shape, 2)))
                cases = [(1, "1"), (u**2, "u^2"), (x * y**2 * u, "x*y^2*u")]
                if mesh.info["geometry"] == 1:  # q is interpolated, which is exact on straight elements
                    cases.append((q[..., 0] * q[..., 1], "qx*qy"))
                for value, of in cases:
                    exact = s.integrate(of, on=on, quadrature=12)
                    self.assertAlmostEqual(np.sum(weight * value), exact, delta=1e-12 * max(1, abs(exact)))
        s = self.solve(halves, kedge.Problem(source="1", boundary={"default": kedge.Dirichlet(0)}))
        for on, says in (("loww", "has no group or region 'loww'; did you mean 'low'?"),
                         ("cut", "'cut' is a group of lines inside the domain, where quadrature() has no points"),
                         (9, "has no group or region '9'")):
            with self.assertRaises(kedge.InputError) as caught:
                s.quadrature("u", on=on)
            self.assertIn(says, str(caught.exception))

    def test_quadrature_asks_for_the_number_of_one_of_the_regions_that_share_a_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "same.msh")
            with open(os.path.join(MESHES, "inclusion22.msh"), encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace('"inclusion"', '"matrix"'))
            mesh = kedge.Mesh(path)
        s = self.solve(mesh, kedge.Problem(source="1", boundary={"default": kedge.Dirichlet(0)}))
        with self.assertRaisesRegex(kedge.InputError, "'matrix' is the name of groups 1, 2 of the mesh; give"):
            s.quadrature(on="matrix")
        areas = [s.quadrature(on=number)[0].sum() for number in (1, "2")]
        np.testing.assert_allclose(areas, [1.8125, 0.1875], atol=1e-9)
        s = self.solve(kedge.square(2), kedge.Problem(source="1", boundary={"default": kedge.Dirichlet(0)}))
        with self.assertRaisesRegex(kedge.InputError, "'1' is a group of lines of the mesh and also a region"):
            s.quadrature(on=1)

    def test_data_are_integrated_as_text_is(self):
        mesh = kedge.mixed(6)
        s, t = self.solved("x^2*y", mesh), self.solved("x*y^2", mesh)
        exact = 2 / 15 - 2 / 16
        self.assertAlmostEqual(s.integrate((s - t)**2), exact, delta=1e-8)
        self.assertAlmostEqual(s.integrate(s), 1 / 6, delta=1e-8)
        self.assertAlmostEqual(s.integrate(s), s.integrate("u_star"), delta=1e-14)
        self.assertAlmostEqual(s.integrate(np.sqrt(1 + s * 0) * t.field("qx"), on="right"), 1 / 3, delta=1e-8)
        self.assertAlmostEqual(s.integrate(lambda x, y: x * y), 0.25, delta=1e-14)
        self.assertAlmostEqual(s.integrate(lambda x, y, normal: normal[0] + y, on="left"), -0.5, delta=1e-14)
        numbers = np.arange(mesh.elements) % 2
        self.assertAlmostEqual(s.integrate(numbers), s.integrate(numbers * (1 + 0 * s)), delta=1e-13)

    def test_the_command_and_the_library_write_the_same_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            path, report = os.path.join(folder, "a.ini"), os.path.join(folder, "a.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(FILE)
            problem = kedge.Problem.read(path)
            s = self.solve(problem.mesh(), problem)
            self.assertEqual(list(s.integrals), ["heat", "mean of u"])
            self.assertAlmostEqual(s.integrals["heat"], 1, delta=1e-7)
            self.assertEqual(s.integrals["heat"], s.integrate("flux", on="right"))
            self.assertEqual(s.integrals["mean of u"], s.integrate("k*u", quadrature=5))
            s.write_report(report)
            with open(report, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["integrals"], s.integrals)
            command = os.environ.get("KEDGE_COMMAND")
            if command and self.context.backend == "host":
                subprocess.run([command, "solve", path, "-q", "-r", report, "--backend", "host"], check=True)
                with open(report, encoding="utf-8") as file:
                    written = json.load(file)["integrals"]
                for name, value in s.integrals.items():
                    self.assertAlmostEqual(written[name], value, delta=1e-12)

    def test_integrals_of_a_problem_are_those_of_its_solutions(self):
        problem = kedge.Problem(order=3, exact="x^2*y", parameters={"k": 2}, boundary={"default": kedge.Dirichlet()},
                                integrals={"heat": {"of": "flux", "on": "right"}, "mean": "k*u",
                                           "two": {"of": "u_star", "on": "domain", "quadrature": 5}, "area": 1})
        s = self.solve(kedge.square(4), problem)
        self.assertEqual(s.integrals, {"heat": s.integrate("flux", on="right"), "mean": s.integrate("k*u"),
                                       "two": s.integrate("u_star", "domain", 5), "area": s.integrate(1)})
        self.assertAlmostEqual(s.integrals["heat"], 1, delta=1e-7)
        other = problem.replace(integrals={"heat": "u", "two": {"of": "u", "on": None}})
        self.assertEqual([at for at in other.settings if at[0] in ("integral heat", "integral two")],
                         [("integral heat", "of"), ("integral two", "of")])
        self.assertEqual(other.settings["integral two", "of"], "u")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ini")
            problem.write(path)
            again = kedge.Problem.read(path, integrals={"more": "u_star"})
            self.assertEqual(dict(again.settings), {**problem.settings, ("integral more", "of"): "u_star"})
        for integrals, says in (
                ({"a": "2*v"}, "integrals['a']: column 3 of the integral: unknown name 'v'"),
                ({"a": {"on": "left"}}, "integrals['a'] has no expression; add 'of': 'u'"),
                ({"a": {"of": "u", "onn": "left"}}, "did you mean 'on'?"),
                ({"a": lambda x, y: x}, "integrals['a'] is <function"),
                ({"a": {"of": "u", "quadrature": 41}}, "1 to 40"),
                ({"a": {"of": "u", 3: "left"}}, "integrals['a'] has the key 3"), (["u"], "integrals is"),
                ({"a": {"of": "u", "on": "lefft"}}, "integrals['a']: "), ({"a": "flux"}, "on lines alone")):
            with self.subTest(integrals=integrals), self.assertRaises(kedge.InputError) as caught:
                problem = kedge.Problem(boundary={"default": kedge.Dirichlet(0)}, integrals=integrals)
                self.solve(kedge.square(2), problem)
            self.assertIn(says, str(caught.exception))

    def test_a_solution_that_is_overwritten_has_new_integrals(self):
        mesh = kedge.square(3)
        solver = kedge.Solver(mesh, kedge.Problem(source="1", boundary={"default": kedge.Dirichlet(0)}), self.context)
        s = solver.solve()
        one, at = s.integrate("u"), (2 * s)(0.5, 0.4)
        s = solver.solve(source="3", out=s)
        self.assertAlmostEqual(s.integrate("u"), 3 * one, delta=1e-9)
        self.assertAlmostEqual((2 * s)(0.5, 0.4), 3 * at, delta=1e-9)

    def test_what_has_no_value_is_refused(self):
        s = self.solved(mesh=kedge.square(2))
        for arguments, sentence in ((("u", "lefft"), "did you mean 'left'"),
                                    (("flux",), "flux has a value on lines alone"),
                                    (("w",), "unknown name 'w'"), (("u", None, 41), "quadrature"),
                                    ((self.solved(),), "another mesh"), (([1, 2],), "of is"),
                                    ((np.ones(3),), "3 numbers"), ((lambda x: 1 / 0, "left"), "of: the function")):
            with self.assertRaises(kedge.Error) as caught:
                s.integrate(*arguments)
            self.assertIn(sentence, str(caught.exception))

    def test_a_value_that_is_not_finite_is_refused_with_its_place(self):
        s = self.solved(mesh=kedge.square(2))
        for of, on, sentence in (("0/0*u", None, "the integrand '0/0*u' is nan at x = "),
                                 ("flux/(x - x)", "left", "the integrand 'flux/(x - x)' is "),
                                 (lambda x, y: np.sqrt(x - 2), None, "the function of the integral is nan at x = ")):
            with self.assertRaises(kedge.InputError) as caught, np.errstate(all="ignore"):
                s.integrate(of, on)
            self.assertIn(sentence, str(caught.exception))
        with tempfile.TemporaryDirectory() as folder:
            path, report = os.path.join(folder, "a.ini"), os.path.join(folder, "a.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(FILE.replace("of = flux", "of = sqrt(x - 2)"))
            sentence = "integrals['heat']: of is nan at x = 1, y = "
            problem = kedge.Problem.read(path)
            s = self.solve(problem.mesh(), problem)
            for call in (lambda: s.integrals, lambda: s.write_report(report)):
                with self.assertRaises(kedge.InputError) as caught:
                    call()
                self.assertIn(sentence, str(caught.exception))
            command = os.environ.get("KEDGE_COMMAND")
            if command and self.context.backend == "host":
                done = subprocess.run([command, "solve", path, "--backend", "host"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertIn("a.ini:12: [integral heat]: of is nan at x = 1, y = ", done.stderr)
                self.assertNotIn("nan", done.stdout)

    def test_means_alone_are_refused_as_integrands(self):
        mesh = kedge.square(3)
        s, c = (self.solved(mesh=mesh, fields=fields) for fields in ("full", "cells"))
        for call in (lambda: c.integrate(c), lambda: s.integrate(c), lambda: c.integrate("u")):
            with self.assertRaises(kedge.Error) as caught:
                call()
            self.assertIn('fields="cells", so only the means over the elements were kept', str(caught.exception))
        self.assertAlmostEqual(c.integrate(s), s.integrate(s), delta=1e-15)

    def test_integrals_take_the_parameters_of_the_solve(self):
        problem = kedge.Problem(order=2, source="T", parameters={"T": 2, "k": "3*T"}, boundary={"default": kedge.Dirichlet(0)})
        solver = kedge.Solver(kedge.square(2), problem, self.context)
        self.assertAlmostEqual(solver.solve().integrate("k"), 6)
        self.assertAlmostEqual(solver.solve(parameters={"T": 5}).integrate("k"), 15)
        self.assertAlmostEqual(solver.solve(sources=["x"] * 2, parameters=None)[1].integrate("k"), 6)


class Expressions(Case):
    def pair(self, mesh):
        problem = kedge.Problem(order=2, exact="x + 2*y", boundary={"default": kedge.Dirichlet()})
        other = kedge.Problem(order=3, exact="x*y", boundary={"default": kedge.Dirichlet()})
        return self.solve(mesh, problem), self.solve(mesh, other)

    def test_expressions_have_values_at_points(self):
        for mesh in (kedge.mixed(4), kedge.quads(3), kedge.square(3)):
            s, t = self.pair(mesh)
            x, y = np.array([[0.1, 0.7], [0.33, 2.0]]), np.array([[0.2, 0.9], [0.5, 0.5]])
            e = (s - t)**2 + np.where(s > 1, s.field("u"), 0)
            exact = (x + 2 * y - x * y)**2 + np.where(x + 2 * y > 1, x + 2 * y, 0)
            exact[1, 1] = np.nan
            np.testing.assert_allclose(e(x, y), exact, atol=1e-7)
            self.assertIsInstance(e(0.1, 0.2), float)
            self.assertTrue(math.isnan((s > 0)(3, 3)))
            with self.assertRaises(kedge.InputError):
                e(x, y, outside="raise")

    def test_points_outside_have_the_values_that_a_solution_has(self):
        for mesh in (kedge.mixed(4), kedge.quads(3), kedge.square(3)):
            s, t = self.pair(mesh)
            numbers = np.arange(mesh.elements) + 0.5
            x, y = np.array([1 + 5e-10, 1.01, 0.3, 7.0, np.nan]), np.array([0.4, 0.6, -5e-10, 0.2, 0.5])
            for options, known in (({}, [1, 0, 1, 0, 0]), ({"tolerance": 0}, [0, 0, 0, 0, 0]),
                                   ({"tolerance": 0.1}, [1, 1, 1, 0, 0]), ({"nearest": True}, [1, 1, 1, 1, 0])):
                e = (s - t) + numbers * 0
                values = e(x, y, **options)
                np.testing.assert_allclose(values, s(x, y, **options) - t(x, y, **options), rtol=0, atol=1e-14)
                np.testing.assert_array_equal(~np.isnan(values), np.array(known, bool))
            inside = (numbers + 0 * s)(np.minimum(x[:4], 1 - 1e-9), np.maximum(y[:4], 1e-9))
            np.testing.assert_array_equal((numbers + 0 * s)(x[:4], y[:4], nearest=True), inside)
            self.assertEqual(e(1.01, 0.6, "raise", nearest=True), e(1.01, 0.6, tolerance=0.1))
            x32 = np.float32(1 + 1e-7)
            self.assertFalse(math.isnan(e(x32, np.float32(0.5))))
            for options, says in (({"tolerance": -1}, "tolerance is -1.0"), ({"outside": "none"}, "outside is 'none'"),
                                  ({"nearest": True}, "leave it or"), ({"outside": "raise"}, "2 of 5 points lie")):
                with self.assertRaises(kedge.Error) as caught:
                    e(x, y, **{"tolerance": 0.1, **options})
                self.assertIn(says, str(caught.exception))

    def test_arrays_by_element_are_those_of_the_elements(self):
        mesh = kedge.mixed(4)
        s, _ = self.pair(mesh)
        numbers = np.arange(mesh.elements) + 0.5
        nodes = s.nodes(1).reshape(-1, 2)
        middles = np.add.reduceat(nodes, s.offsets(1)[:-1]) / np.diff(s.offsets(1))[:, None]
        np.testing.assert_array_equal((numbers + 0 * s)(*middles.T), numbers)

    def test_values_at_nodes_are_those_of_the_fields(self):
        for mesh in (kedge.mixed(3), kedge.square(3)):
            s, t = self.pair(mesh)
            np.testing.assert_allclose((s * t).values(3), s.values("u_star", 3) * t.values("u_star", 3), atol=1e-14)
            self.assertEqual((s * t).values().shape, t.values("u_star", 4).shape)
            q = kedge.Solution.field(t, "qx")
            np.testing.assert_allclose((2 * q).values(2), 2 * t.values("qx", 2), atol=1e-12)

    @unittest.skipUnless(matplotlib, "matplotlib is not installed")
    def test_expressions_are_drawn(self):
        s, t = self.pair(kedge.mixed(3))
        ax = ((s - t)**2).plot(cmap="viridis")
        self.assertEqual(len(ax.child_axes), 1)  # the colour bar
        with self.assertRaises(kedge.InputError):
            ((s - t)**2).plot(nonsense=3)


if __name__ == "__main__":
    unittest.main()
