"""Solves: values, reports, functions as data."""
import contextlib
import io
import os
import tempfile
import threading
import unittest
import unittest.mock
import warnings

import numpy as np
from support import ROOT, OnBackend, everywhere, sines

import kedge


class Solves(OnBackend):
    def test_fields_are_those_of_the_exact_solution(self):
        s = self.solve(kedge.square(8), sines(order=4))
        x, y = np.moveaxis(s.nodes(), -1, 0)
        self.assertEqual((s.u.shape, s.q.shape, s.sigma.shape, s.u_star.shape),
                         ((128, 15), (128, 15, 2), (128, 15, 2), (128, 21)))
        np.testing.assert_allclose(s.u, np.sin(np.pi * x) * np.sin(np.pi * y), atol=2e-5)
        np.testing.assert_allclose(s.q[..., 0], np.pi * np.cos(np.pi * x) * np.sin(np.pi * y), atol=1e-3)
        np.testing.assert_allclose(s.sigma, s.q, atol=1e-13)
        self.assertLess(s.report.u_l2, 1e-6)
        self.assertLess(s.report.u_star_l2, s.report.u_l2)
        self.assertEqual(s.report.errors["q_l2"], s.report.q_l2)
        self.assertEqual((s.report.elements, s.report.order, s.report.stop), (128, 4, "tolerance"))
        self.assertEqual(list(s.report.stages)[:2], ["mesh", "transfer"])
        self.assertEqual(s.means("u").shape, (128,))
        self.assertLess(s.indicator.max(), 1e-5)
        edges, modes = s.trace()
        self.assertEqual((edges.shape, modes.shape), ((s.mesh.edges, 2), (s.mesh.edges, 5)))

    def test_meshes_of_both_shapes_have_flat_arrays(self):
        s = self.solve(kedge.mixed(4), sines(order=2))
        offsets = s.offsets()
        self.assertEqual(set(np.diff(offsets)), {6, 9})
        x, y = s.nodes().T
        self.assertEqual(s.u.shape, (offsets[-1],))
        np.testing.assert_allclose(s.u, np.sin(np.pi * x) * np.sin(np.pi * y), atol=0.04)
        self.assertEqual(self.solve(kedge.quads(3), sines(order=2)).u.shape, (9, 9))

    def test_functions_and_expressions_give_the_same(self):
        mesh = kedge.square(6)
        text = self.solve(mesh, kedge.Problem(order=3, source="exp(-x^2)", boundary=everywhere(kedge.Dirichlet("x*y"))))
        called = self.solve(mesh, kedge.Problem(order=3, source=lambda x, y: np.exp(-x**2),
                                                boundary=everywhere(kedge.Dirichlet(lambda x, y: x * y))))
        np.testing.assert_allclose(called.u, text.u, atol=1e-13)
        constant = self.solve(mesh, kedge.Problem(order=3, source=lambda x, y: 1, boundary=everywhere(kedge.Dirichlet(0))))
        number = self.solve(mesh, kedge.Problem(order=3, source=1, boundary=everywhere(kedge.Dirichlet(0))))
        np.testing.assert_allclose(constant.u, number.u, atol=1e-13)

    def test_functions_get_region_and_normal(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], regions=[3, 5],
                          lines={"left": [[3, 0]], "right": [[1, 2]], "bottom": [[0, 1]], "top": [[2, 3]]})
        regions, normals = set(), set()

        def source(x, y, region):
            regions.update(region)
            return region

        def flux(x, y, normal):
            normals.update(zip(*normal))
            return normal[0]

        sides = {**everywhere(kedge.Dirichlet(0)), "left": kedge.Neumann(flux)}
        self.solve(mesh, kedge.Problem(order=2, source=source, boundary=sides))
        self.assertEqual(regions, {3.0, 5.0})
        self.assertEqual(normals, {(-1.0, 0.0)})

    def test_an_exact_solution_of_functions_gives_errors(self):
        def u(x, y):
            return np.sin(x) * y

        p = kedge.Problem(order=3, source="sin(x)*y", exact=(u, lambda x, y: np.cos(x) * y, lambda x, y: np.sin(x)),
                          boundary=everywhere(kedge.Dirichlet()))
        report = self.solve(kedge.square(3), p).report
        self.assertTrue(report.has_exact)
        self.assertLess(report.u_l2, 1e-4)
        self.assertGreater(report.u_l2, 1e-8)

    def test_regions_have_their_materials(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2, 1]],
                          [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]], regions=["iron", "iron", "air", "air"],
                          lines={"left": [[3, 0]], "right": [[4, 5]], "rest": [[0, 1], [1, 4], [5, 2], [2, 3]]})
        s = self.solve(mesh, kedge.Problem(order=1, diffusion={"iron": 3, "air": 1}, boundary={
            "left": kedge.Dirichlet(0), "right": kedge.Dirichlet(4), "rest": kedge.Neumann(0)}))
        np.testing.assert_allclose(s.means("qx"), [1, 1, 3, 3], atol=1e-9)
        np.testing.assert_allclose(s.means("sigma_x"), 3, atol=1e-9)

    def test_a_value_that_is_no_dict_is_that_of_all_regions(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], regions=["iron", "air"])
        p = kedge.Problem(order=2, source="x", boundary={"default": kedge.Dirichlet(0)})
        regions, seven = p.replace(diffusion={"iron": 3, "air": 1}), p.replace(diffusion=7)
        u = self.solve(mesh, seven).u
        np.testing.assert_allclose(self.solve(mesh, regions.replace(diffusion=7)).u, u, rtol=1e-9)
        solver = kedge.Solver(mesh, regions, self.context)
        solver.update(diffusion=7)
        np.testing.assert_allclose(solver.solve().u, u, rtol=1e-9)

    def test_sources_are_a_list(self):
        solver = kedge.Solver(kedge.square(2), sines(order=1), self.context)
        for sources in "xy", 3, np.ones(solver.mesh.elements):
            with self.assertRaisesRegex(TypeError, "a list of"):
                solver.solve(sources=sources)
        for bad, sentence in (("zz", ": column 1 of source: unknown name 'zz'"), ({}, " is an empty dict"),
                              ({"iron": 1}, ": the mesh has no region 'iron'"),
                              (lambda x, y: 1 / 0, ": the function <lambda> raised ZeroDivisionError"),
                              (lambda x, y: np.nan, ": source is nan at x ="), (np.ones(3), " has 3 numbers")):
            with self.assertRaisesRegex(ValueError, r"^sources\[1\]" + sentence):
                solver.solve(sources=[1, bad])
        with self.assertRaisesRegex(ValueError, "^the mesh has no boundary group 'lid'"):
            solver.solve(sources=[1, 2], boundary={"lid": 1})

    def test_a_solver_takes_other_sources_and_boundary_values(self):
        mesh = kedge.square(4)
        p = kedge.Problem(order=2, source="x", boundary=everywhere(kedge.Dirichlet(0)))
        solver = kedge.Solver(mesh, p, self.context)
        one, two, three = solver.solve(sources=[1, "2", lambda x, y: np.full_like(x, 3)])
        np.testing.assert_allclose(two.u, 2 * one.u, atol=1e-9)
        np.testing.assert_allclose(three.u, 3 * one.u, atol=1e-9)
        np.testing.assert_array_equal(solver.solve().u, kedge.solve(mesh, p, self.context).u)
        lifted = solver.solve(boundary={"left": "y", "right": lambda x, y: 2 + y, "bottom": "2*x", "top": "1 + 2*x"},
                              source=0)
        x, y = np.moveaxis(lifted.nodes(), -1, 0)
        np.testing.assert_allclose(lifted.u, 2 * x + y, atol=1e-9)
        for arguments, error, sentence in [
                ({"boundary": {"left": kedge.Neumann(1)}}, TypeError,
                 r"'left'\] is a kedge.Neumann, and the solver keeps kedge.Dirichlet there"),
                ({"boundary": {"left": kedge.Dirichlet()}}, TypeError, r"boundary\['left'\] has no value"),
                ({"boundary": {"left": [1]}}, TypeError, r"boundary\['left'\] is \[1\]; it takes a number or"),
                ({"boundary": kedge.Dirichlet(1)}, TypeError, "it takes a dict {group: value}"),
                ({"start": 3}, TypeError, "start is 3; it takes a kedge.Solution"),
                ({"progress": "yes"}, TypeError, "progress is 'yes'; it takes True, or a function"),
                ({"boundary": {"lft": 1}}, kedge.InputError, "lft"),
                ({"source": 1, "sources": [1]}, TypeError, "not both"),
                ({"sources": {"x": 1}}, TypeError, "sources is {'x': 1}; it takes a list"),
                ({"on_failure": "go on"}, ValueError, '"raise" or "warn"')]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                solver.solve(**arguments)

    def strips(self, names=("in", "out", "in", "far")):
        """A row of squares, a region each, by names."""
        n = len(names)
        points = [[x, y] for y in (0, 1) for x in range(n + 1)]
        cells = [[k, k + 1, n + k + 2, n + k + 1] for k in range(n)]
        return kedge.Mesh(points, cells, regions=list(names)).refine(2)

    def on_strips(self, mesh, order=1, **more):
        problem = kedge.Problem(order=order, boundary={"default": kedge.Dirichlet(0)}, **more)
        return kedge.Solver(mesh, problem, self.context)

    def test_a_source_by_region_is_that_of_an_update(self):
        mesh = self.strips()
        for before in (7, "x", {"in": 5, "default": "y"}, {"in": "x*y", "out": 2, "far": "x"}, {"default": 3}):
            solver = self.on_strips(mesh, 2, source=before)
            numbers = np.arange(float(mesh.elements))
            first = solver.solve()
            for source in ({"in": 1}, {"in": 1, "out": "y"}, {"out": "x", "in": "x", "far": "x"},
                           {"in": 1, "out": 1, "far": 1}, {"far": lambda x, y, region: x + region, "in": 2, "out": -1},
                           {"in": numbers, "far": 1, "out": np.sin(first)}):
                again = kedge.Solver(mesh, solver.problem, self.context)
                again.update(source={"in": 0, "out": 0, "far": 0, **dict(self.own(solver.problem, mesh)), **source})
                with self.subTest(before=before, source=source), warnings.catch_warnings():
                    warnings.simplefilter("ignore", kedge.Note)  # that the update has left nothing to the source before
                    data = any(not isinstance(value, (int, str)) for value in source.values())
                    u = solver.solve(source).u
                    np.testing.assert_allclose(u, again.solve().u, rtol=0, atol=1e-13 * np.abs(u).max() if data else 0)
            np.testing.assert_array_equal(solver.solve().u, first.u)

    def own(self, problem, mesh):
        """The source of every region of a problem."""
        for name in mesh.regions.names:
            section = f"region {name}"
            if not any(key == section for key, _ in problem.settings):
                section = "region default"
            yield name, problem.settings.get((section, "source"), problem.settings.get(("equation", "source"), "0"))

    def test_default_in_a_source_by_region_is_all_that_it_does_not_name(self):
        mesh = self.strips()
        solver = self.on_strips(mesh, 2, source={"in": 5, "out": 6, "far": 7})
        numbers = mesh.regions.names
        same = solver.solve("region == %d ? 1 : x" % numbers["out"]).u
        for source in ({"out": 1, "default": "x"}, {numbers["out"]: 1, "default": "x"},
                       {str(numbers["out"]): 1, "in": "x", "far": "x"}):
            np.testing.assert_allclose(solver.solve(source).u, same, rtol=0, atol=1e-13)
        one, two = solver.solve(sources=[{"default": 1}, {"in": 2, "default": 2}])
        np.testing.assert_allclose(two.u, 2 * one.u, atol=1e-9)
        np.testing.assert_array_equal(solver.rhs({"out": 1, "default": "x"}),
                                      solver.rhs({"out": 1, "in": "x", "far": "x"}))
        many = self.strips([f"r{k}" for k in range(300)])
        solver = self.on_strips(many, source=0)
        by_element = np.select([many.regions == f"r{k}" for k in range(300)], np.arange(300.0))
        s = solver.solve({f"r{k}": k for k in range(300)})
        np.testing.assert_allclose(s.u, solver.solve(by_element).u, atol=1e-9)

    def test_a_source_by_region_that_cannot_be_is_refused(self):
        mesh = self.strips()
        solver = self.on_strips(mesh, source="x")
        number = mesh.regions.names["in"]
        for source, sentence in (({"inn": 1}, "the mesh has no region 'inn'; did you mean 'in'"),
                                 ({99: 1}, "no region '99'; it has"), ({}, "source is an empty dict"),
                                 ({"in": 1, number: 2}, r"source has region \d twice, by name and by number"),
                                 ({"in": [1]}, r"source\['in'\] is \[1\]; it takes a number or an expression"),
                                 ({"in": lambda x, y: x}, "source is by region, in one 'x' as text and in another a"),
                                 ({"in": lambda x, y: 1 / 0, "default": 1}, "source: the function <lambda> raised"),
                                 ({"in": np.ones(3), "default": 1}, "source has 3 numbers, one an element"),
                                 ({"in": "zz"}, "unknown name 'zz'")):
            with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, sentence):
                solver.solve(source)
        exact = self.on_strips(mesh, exact="x*y")
        with self.assertRaisesRegex(kedge.InputError, "that of other regions comes from exact; name all of them"):
            exact.solve({"in": 1})

    def test_parameters_of_a_solve_are_those_of_an_update(self):
        mesh = self.strips()
        p = kedge.Problem(order=2, parameters={"k": 2, "T": 5, "twice": "2*T", "e": 1, "T2": 3}, diffusion="k",
                          source={"in": "T*x + T2", "default": "2e1*e"},
                          boundary={"default": kedge.Dirichlet("twice*y - T")})
        solver = kedge.Solver(mesh, p, self.context)
        first = solver.solve().u
        for parameters in {"T": 7}, {"T": -0.1, "e": 3}, {"T2": 1e-3}, {"e": np.float32(0.5)}, {"twice": 4}, {"T": 5}:
            with self.subTest(parameters):
                other = p.replace(parameters={name: float(value) for name, value in parameters.items()})
                again = kedge.Solver(mesh, other, self.context)
                np.testing.assert_array_equal(solver.solve(parameters=parameters).u, again.solve().u)
        both = solver.solve(source="T*x", boundary={"default": "e"}, parameters={"T": 3, "e": 4})
        np.testing.assert_array_equal(both.u, solver.solve(source="3*x", boundary={"default": 4}).u)
        one, two = solver.solve(sources=["T", {"in": "T", "default": 1}], parameters={"T": 3})
        np.testing.assert_array_equal(one.u, solver.solve(3, parameters={"T": 3}).u)
        np.testing.assert_array_equal(two.u, solver.solve({"in": 3, "default": 1}, parameters={"T": 3}).u)
        np.testing.assert_array_equal(solver.solve().u, first)

    def test_parameters_of_a_solve_change_values_of_the_groups_that_have_no_other(self):
        mesh = kedge.square(3)
        p = kedge.Problem(order=2, parameters={"T": 2}, source=1,
                          boundary={"left": kedge.Dirichlet("T"), "top": kedge.Robin(3, "T*x"),
                                    "default": kedge.Neumann("T")})
        solver = kedge.Solver(mesh, p, self.context)
        tags = {group.name: group.tag for group in mesh.groups if group.dimension == 1}
        for boundary, plain in (({}, {"left": 9, "top": "9*x", "default": 9}),
                                ({"left": 1}, {"left": 1, "top": "9*x", "default": 9}),
                                ({tags["left"]: 1, "right": "T"}, {"left": 1, "top": "9*x", "right": 9, "bottom": 9}),
                                ({"right": 1, "bottom": 0}, {"left": 9, "top": "9*x", "right": 1, "bottom": 0}),
                                ({"default": "2*T"}, {"left": 9, "top": "9*x", "default": 18}),
                                ({"left": kedge.Dirichlet("T^2")}, {"left": 81, "top": "9*x", "default": 9})):
            with self.subTest(boundary):
                s = solver.solve(boundary=boundary, parameters={"T": 9})
                np.testing.assert_array_equal(s.u, solver.solve(boundary=plain).u)

    def test_parameters_that_a_solve_cannot_change_are_refused(self):
        boundary = {"left": kedge.Robin("c", "T"), "default": kedge.Dirichlet("T")}
        p = kedge.Problem(order=1, parameters={"k": 2, "l": "k^2", "T": 5, "c": 1, "x0": 1}, source="x0",
                          diffusion={"domain": "1 + l"}, boundary=boundary)
        solver = kedge.Solver(kedge.square(2), p, self.context)
        for parameters, sentence in (({"k": 1}, r"^parameters\['k'\] is in diffusion of region 'domain', and a solve "
                                                r"changes sources and boundary values alone; take update\("),
                                     ({"c": 1}, r"is in the coefficient of boundary\['left'\]"),
                                     ({"tt": 1}, "the problem has no parameter 'tt'; it has k, l, T, c, x0"),
                                     ({"x": 1}, "no parameter 'x'; did you mean 'x0'"),
                                     ({"T": "2*k"}, r"is '2\*k'; a solve takes numbers, update\(\) expressions too"),
                                     ({"T": np.nan}, "is nan; it must be finite"),
                                     ({"T": True}, "is True; a solve takes numbers"),
                                     (3, "parameters is 3; it takes a dict {name: number}")):
            with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, sentence):
                solver.solve(parameters=parameters)
        with self.assertRaisesRegex(kedge.InputError, r"parameters\['x0'\]: no source and no boundary value"):
            solver.solve(source=1, parameters={"x0": 3})
        solver.solve(parameters={})

    def test_no_note_speaks_of_a_source_that_a_solve_replaces(self):
        settings = kedge.Problem(order=1, source=7, boundary={"default": kedge.Dirichlet(0)})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ini")
            settings.write(path)
            with open(path, "a", encoding="utf-8") as file:
                file.write("".join(f"[region {name}]\nsource = 1\n" for name in ("in", "out", "far")))
            problem = kedge.Problem.read(path)
        solver = kedge.Solver(self.strips(), problem, self.context)
        with self.assertWarnsRegex(kedge.Note, "source is used by no region"):
            solver.solve()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for source in "x", lambda x, y: x, {"in": 2}:
                solver.solve(source)
        exact = kedge.Solver(kedge.square(2), sines(order=1), self.context)
        with self.assertWarnsRegex(kedge.Note, r"^the source that is given differs by .* \+ reaction u of exact: "):
            exact.solve("x")

    def test_a_solver_takes_conditions_of_the_kinds_that_it_has(self):
        mesh = kedge.square(4)
        p = kedge.Problem(order=2, source=1, boundary={"left": kedge.Dirichlet(0), "right": kedge.Robin("1 + y", 0),
                                                       "default": kedge.Neumann(0)})
        solver = kedge.Solver(mesh, p, self.context)
        tags = {group.name: group.tag for group in mesh.groups}
        u = solver.solve(boundary={"left": kedge.Dirichlet("y"), tags["right"]: kedge.Robin("1 + y", 2),
                                   "top": kedge.Neumann(lambda x, y: x)}).u
        same = solver.solve(boundary={"left": "y", "right": 2, "top": lambda x, y: x}).u
        np.testing.assert_array_equal(u, same)
        for group, condition, sentence in [
                ("top", kedge.Dirichlet(1), r"'top'\] is a kedge.Dirichlet, and the solver keeps kedge.Neumann"),
                (str(tags["left"]), kedge.Neumann(), "keeps kedge.Dirichlet"),
                ("right", kedge.Robin(3, 0), "coefficient 3, and the solver keeps '1 \\+ y'")]:
            with self.subTest(sentence), self.assertRaisesRegex(TypeError, sentence):
                solver.solve(boundary={group: condition})

    def test_default_is_in_a_solve_what_it_is_in_a_problem(self):
        mesh = kedge.square(4)
        conditions = {"left": kedge.Dirichlet(0), "default": kedge.Neumann(0)}
        p = kedge.Problem(order=2, source=1, boundary=conditions)
        solver = kedge.Solver(mesh, p, self.context)
        fresh = lambda **more: kedge.solve(mesh, p.replace(boundary={**conditions, **more}), self.context).u
        np.testing.assert_array_equal(solver.solve(boundary={"default": 5}).u, fresh(default=kedge.Neumann(5)))
        np.testing.assert_array_equal(solver.solve(boundary={"default": 5, "top": "x"}).u,
                                      fresh(default=kedge.Neumann(5), top=kedge.Neumann("x")))
        np.testing.assert_array_equal(solver.solve().u, fresh())
        all_named = {name: kedge.Dirichlet(0) for name in ("left", "right", "top", "bottom")}
        with self.assertRaisesRegex(kedge.InputError, "no boundary group is left"):
            kedge.Solver(mesh, kedge.Problem(order=1, source=1, boundary=all_named), self.context).solve(boundary={"default": 1})

    def test_a_solver_takes_other_coefficients(self):
        mesh, p = kedge.square(4), sines(order=2, tolerance=1e-12)
        solver = kedge.Solver(mesh, p, self.context)
        first = solver.solve()
        q = first.q.copy()
        solver.update(diffusion="1 + x", source=lambda x, y: np.exp(x))
        np.testing.assert_array_equal(first.values("qx"), q[..., 0])
        other = p.replace(diffusion="1 + x", source=lambda x, y: np.exp(x))
        np.testing.assert_array_equal(solver.solve().u, kedge.solve(mesh, other, self.context).u)
        with self.assertRaisesRegex(kedge.InputError, "dif?fusion"):
            solver.update(diffusion="-1")
        plain = kedge.Problem(order=2, source=1, boundary=everywhere(kedge.Dirichlet(0)))
        other = kedge.Solver(mesh, plain.replace(boundary={"left": kedge.Robin(1, 0)}), self.context)
        other.update(boundary={"left": kedge.Neumann(0)})  # a condition without a coefficient: all is made anew
        fresh = self.solve(mesh, plain.replace(boundary={"left": kedge.Neumann(0)}))
        np.testing.assert_allclose(other.solve().u, fresh.u, atol=1e-12)

    def test_an_update_of_one_thread_waits_for_the_solve_of_another(self):
        problem = kedge.Problem(source=1, boundary=everywhere(kedge.Dirichlet(0)))
        solver = kedge.Solver(kedge.square(3), problem, self.context)
        mean, ready = solver.solve().u.mean(), solver._ready
        other = threading.Thread(target=lambda: solver.update(diffusion=2))

        def in_between(progress):
            if other.ident is None:
                other.start()
                other.join(0.2)
            return ready(progress)

        with unittest.mock.patch.object(solver, "_ready", in_between):
            s = solver.solve()
        other.join()
        self.assertEqual((s.u.mean(), s.problem), (mean, problem))
        self.assertLess(solver.solve().u.mean(), 0.6 * mean)

    def test_an_update_that_fails_leaves_the_problem_before(self):
        class Source:
            """Fails where the solver's problem takes it, after the diffusion."""

            def prepare(self):
                raise RuntimeError("no source")

            def __call__(self, x, y):
                return x

        mesh, p = kedge.square(4), sines(order=2, tolerance=1e-12)
        solver = kedge.Solver(mesh, p, self.context)
        u = solver.solve().u
        for error, sentence, make in [
                (RuntimeError, "no source", lambda: {"diffusion": 5, "source": Source()}),
                (kedge.InputError, "dif?fusion", lambda: {"diffusion": "-1", "reaction": 2}),
                (kedge.Cancelled, "", lambda: {"diffusion": 5, "progress": lambda at: False})]:
            with self.subTest(sentence):
                with self.assertRaisesRegex(error, sentence):
                    solver.update(**make())
                self.assertEqual(solver.problem.settings, p.settings)
                s = solver.solve()
                np.testing.assert_array_equal(s.u, u)
                with self.assertRaisesRegex(error, sentence):
                    solver.update(**make())
                solver.update(reaction=1)
                other = kedge.solve(mesh, p.replace(reaction=1), self.context)
                np.testing.assert_array_equal(solver.solve().u, other.u)
                np.testing.assert_array_equal(s.u, u)
                solver = kedge.Solver(mesh, p, self.context)

    def test_a_solve_starts_from_another(self):
        solver = kedge.Solver(kedge.square(8), sines(order=3), self.context)
        first = solver.solve()
        again = solver.solve(start=first)
        self.assertLess(again.report.iterations, first.report.iterations)
        np.testing.assert_allclose(again.u, first.u, atol=1e-9)

    def test_a_solution_is_overwritten(self):
        mesh, p = kedge.square(6), kedge.Problem(order=2, source="x*y", boundary=everywhere(kedge.Dirichlet(0)))
        solver = kedge.Solver(mesh, p, self.context)
        out = solver.solve()
        handle, u, q = out.handle.value, out.u, out.q
        before, at = u.copy(), out(0.3, 0.4)
        for i, start in enumerate((None, out), 2):
            fresh = solver.solve(source=i)
            self.assertIs(solver.solve(source=i, out=out, start=start), out)
            self.assertEqual(out.handle.value, handle)
            np.testing.assert_allclose(out.u, fresh.u, atol=1e-9)
            np.testing.assert_allclose(out.u_star, fresh.u_star, atol=1e-9)
            self.assertAlmostEqual(out(0.3, 0.4), fresh(0.3, 0.4), delta=1e-9)
        self.assertNotAlmostEqual(out(0.3, 0.4), at, delta=1e-3)
        np.testing.assert_array_equal(u, before)
        self.assertIsNot(out.q, q)
        solver.update(diffusion=2, smoothing_steps=2)
        np.testing.assert_array_equal(solver.solve(out=out).u,
                                      kedge.solve(mesh, p.replace(diffusion=2, smoothing_steps=2), self.context).u)
        solver.update(smoothing_steps=None)
        with self.assertRaisesRegex(ValueError, "an update that failed or took an argument away"):
            solver.solve(out=out)
        out = solver.solve()
        for arguments, error, sentence in [
                ({"out": kedge.Solver(mesh, p, self.context).solve()}, ValueError, "this solver has not made"),
                ({"out": 3}, TypeError, "out is 3; it takes a kedge.Solution"),
                ({"out": out, "sources": [1]}, TypeError, "out takes one solution")]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                solver.solve(**arguments)
        with self.assertRaisesRegex(kedge.InputError, "source"):
            solver.solve(source="log(-1)", out=out)
        with self.assertRaisesRegex(ValueError, "is empty: a solve that was to overwrite it"):
            out.means("u")
        self.assertEqual(repr(out), "<kedge.Solution: empty>")
        del out
        self.assertTrue(solver.solve().report.converged)

    def test_a_problem_file_is_solved(self):
        p = kedge.Problem.read(ROOT / "meshes/plate.ini", order=2)
        s = self.solve(p.mesh(), p)
        self.assertTrue(s.report.converged)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.vtkhdf")
            s.write(path)
            self.assertGreater(os.path.getsize(path), 100000)
            s.write_report(os.path.join(folder, "a.json"))
            self.assertGreater(os.path.getsize(os.path.join(folder, "a.json")), 500)
            with self.assertRaisesRegex(kedge.Error, "vtkhdf"):
                s.write(os.path.join(folder, "a.txt"))

    def test_progress_tells_stages_and_can_end_a_solve(self):
        seen = []
        self.solve(kedge.square(4), sines(), progress=seen.append)
        self.assertIn("trace_solve", {at.stage for at in seen})
        with self.assertRaisesRegex(kedge.Cancelled, "cancelled"):
            self.solve(kedge.square(4), sines(), progress=lambda at: at.stage != "trace_solve")

    def test_a_line_of_progress_is_drawn_on_a_terminal_alone(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        for stream, is_drawn in (io.StringIO(), False), (Terminal(), True):
            with contextlib.redirect_stderr(stream), unittest.mock.patch.dict(os.environ, {"TERM": "xterm"}):
                self.solve(kedge.square(2), sines(order=1), progress=True)
            self.assertEqual("trace_solve" in stream.getvalue(), is_drawn)

    def test_one_solve_takes_threads_as_a_solver_does(self):
        s = kedge.solve(kedge.square(2), sines(order=1), "host", threads=1)
        self.assertEqual(s.context.device, kedge.Context("host", threads=1).device)

    def test_a_plan_says_what_a_solve_takes(self):
        mesh = kedge.square(4)
        plan = kedge.plan(mesh, sines(), self.context)
        report = kedge.solve(mesh, sines(), self.context).report
        self.assertTrue(plan["fits"])
        self.assertEqual(plan["peak_bytes"], report.predicted_device_bytes)
        self.assertEqual(plan["trace_unknowns"], report.trace_unknowns)
        self.assertGreater(kedge.plan(mesh, sines(), self.context, solver=True)["peak_bytes"], 0)

    def test_a_plan_counts_a_large_mesh_of_words_or_of_the_file_and_says_so(self):
        plan = kedge.plan("quads 4000", sines(order=2), self.context)
        self.assertEqual((plan["elements"], plan["vertices"], plan["trace_unknowns"]), (4000**2, 4001**2, 3 * 2 * 4000 * 3999))
        self.assertRegex(plan["note"], "^the mesh was not made: ")
        self.assertNotIn("points_bytes", plan)
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write("[mesh]\ngenerate = square 4\n[boundary default]\ntype = dirichlet\nvalue = 0\n")
            file.flush()
            small, problem = kedge.plan(None, kedge.Problem.read(file.name), self.context), sines()
        self.assertEqual((small["elements"], small["note"]), (32, ""))
        for made in kedge.plan("square 4", problem.replace(source=np.ones(32)), self.context), kedge.plan(
                kedge.square(4), problem, self.context):
            self.assertEqual((made["elements"], made["note"]), (32, ""))
            self.assertGreater(made["points_bytes"], 0)
        with self.assertRaisesRegex(kedge.InputError, 'cannot generate a mesh "ball"'):
            kedge.plan("ball 4000", problem, self.context)
        with self.assertRaisesRegex(kedge.InputError, "names no mesh"):
            kedge.plan(None, problem, self.context)

    def test_objects_may_go_in_any_order(self):
        s = self.solve(kedge.square(4), sines())
        mesh, problem = s.mesh, s.problem
        del mesh, problem
        self.assertEqual(s.u.shape, (32, 10))


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
