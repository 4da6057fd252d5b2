"""Problems that move, step by step."""
import gc
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
from support import OnBackend, everywhere

import kedge

SPACE = "(x^2*y-y^3+x+1/2)"
MOVES = f"{SPACE}*(sin(3*t)+1)+x*y*cos(t)"
BUBBLE = "x*(1-x)*y*(1-y)"
FIXED = f"{BUBBLE}*(sin(3*t)+1)+1+x"
# Errors at t = 1 after 10, 20 and 40 steps of trbdf2 that another implementation has.
TABLE = (
    (3, MOVES, f"{SPACE}+x*y", ((5.07811e-04, 2.20136e-03), (1.21774e-04, 5.25866e-04), (2.97217e-05, 1.27799e-04))),
    (4, FIXED, f"{BUBBLE}+1+x", ((2.11368e-05, 8.61876e-05), (5.07633e-06, 2.06956e-05), (1.24066e-06, 5.05718e-06))))


class Marches(OnBackend):
    def march(self, problem, initial=None, mesh=None, **more):
        more = {"end": 1, "steps": 8, **more}
        return kedge.march(mesh or kedge.square(4), problem, initial, backend=self.context, **more)

    def problem(self, **more):
        boundary = {"left": kedge.Dirichlet("1+t"), "default": kedge.Robin(2, 0)}
        return kedge.Problem(**{"order": 2, "source": "x*sin(4*t)", "boundary": boundary, "tolerance": 1e-12, **more})

    def assert_same(self, a, b, atol=1e-10):
        self.assertEqual(a.t, b.t)
        np.testing.assert_allclose(a.u, b.u, atol=atol)

    def assert_refused(self, sentence, call, *arguments, kind=kedge.InputError, **more):
        with self.assertRaisesRegex(kind, sentence):
            call(*arguments, **more)


class Numbers(Marches):
    def test_errors_are_those_of_another_implementation(self):
        for order, exact, initial, rows in TABLE:
            problem = kedge.Problem(order=order, stabilization=1, diffusion=(1, 0.2, 0.8), exact=exact, tolerance=1e-13,
                                    boundary={"default": kedge.Dirichlet()})
            for steps, expected in zip((10, 20, 40), rows):
                with self.subTest(exact=exact, steps=steps):
                    s = kedge.march(kedge.square(3), problem, initial, end=1, steps=steps, backend=self.context).run()
                    np.testing.assert_allclose((s.report.u_l2, s.report.sigma_l2), expected, rtol=1e-4)
                    self.assertAlmostEqual(s.error(norm="u") / expected[0], 1, delta=1e-4)  # exact has the t of s

    def test_what_begins_nowhere_begins_with_the_exact_solution(self):
        everywhere_fixed = {"default": kedge.Dirichlet("x^2-x*y+t")}
        functions = (lambda x, y, t: x**2 - x*y + t, lambda x, y, t: 2*x - y, lambda x, y, t: -x)
        for exact in "x^2-x*y+t", functions:
            problem = kedge.Problem(order=2, exact=exact, source="1-2", boundary=everywhere_fixed, tolerance=1e-13)
            self.assertLess(self.march(problem).run().report.u_l2, 1e-10)
            self.assert_same(self.march(problem).step(), self.march(problem, "x^2-x*y").step(), 1e-15)
        self.assertGreater(self.march(problem, 0, steps=100).step().report.u_l2, 0.01)

    def test_the_balance_has_what_is_stored(self):
        for mesh in kedge.square(4), kedge.Mesh.generate("cube 2"):
            problem = kedge.Problem(order=2, source="x", reaction=2, mass="3+x", tolerance=1e-12,
                                    boundary={"default": kedge.Robin(2, "t")})
            s = self.march(problem, "1+y", mesh=mesh).run()
            b, region = s.balance, s.regions["domain"]
            self.assertGreater(abs(b.storage), 0.01)
            self.assertAlmostEqual(b.reaction + b.storage - b.source - b.flux, b.remainder, delta=1e-13)
            self.assertLess(abs(b.remainder), 1e-10)
            self.assertAlmostEqual(region.storage, b.storage, delta=1e-13)
        steady = kedge.solve(kedge.square(4), self.problem(boundary={"default": kedge.Dirichlet(1)}, source=1))
        self.assertEqual((steady.balance.storage, steady.regions["domain"].storage), (0, 0))

    def test_functions_with_t_are_as_good_as_text(self):
        text = self.march(self.problem(diffusion="1+t*x", mass="2+x*t"), "x*y")
        boundary = {"left": kedge.Dirichlet(lambda x, y, t: 1 + t), "default": kedge.Robin(2, 0)}
        functions = self.march(self.problem(
            source=lambda x, y, t: x * np.sin(4 * t), diffusion=lambda x, y, t: 1 + t * x,
            mass=lambda x, y, t: 2 + x * t, boundary=boundary), lambda x, y: x * y)
        for a, b in zip(text, functions):
            self.assert_same(a, b)
        self.assertTrue(text.report.remakes and functions.report.remakes)

    def test_what_is_linear_in_time_is_exact_with_a_coefficient_that_moves(self):
        problem = kedge.Problem(order=2, exact="(1+2*t)*(x^2-x*y)", diffusion="1+t", tolerance=1e-13,
                                boundary={"default": kedge.Dirichlet()})
        for scheme in ("euler", "trbdf2", "esdirk4"):
            m = self.march(problem, "x^2-x*y", scheme=scheme)
            m.run(until=0.3)  # steps of another length
            self.assertLess(m.run().report.u_l2, 1e-10)
            self.assertEqual(m.report.scheme, scheme)

    def test_updates_are_what_a_coefficient_of_time_says_that_jumps(self):
        jumps = self.march(self.problem(diffusion="t < 0.5 ? 1 : 3", reaction="t < 0.5 ? 0 : 2"), "x*y", events=[0.5])
        m = self.march(self.problem(diffusion=1, reaction=0), "x*y")
        m.run(until=0.5)
        m.update(diffusion=3, reaction=2)
        self.assert_same(m.run(), jumps.run())
        self.assertTrue(jumps.report.remakes)
        self.assertFalse(m.report.remakes)
        self.assertEqual((m.report.set_ups, m.report.steps), (2, 8))


    def test_the_flux_behind_a_jump_of_a_wall_is_right_from_the_fourth_step(self):
        def exact(t):
            return 2 * np.exp(-((np.arange(400) + 0.5) * np.pi)**2 * t).sum()

        problem = kedge.Problem(order=3, boundary={"left": kedge.Dirichlet(1), "default": kedge.Neumann()})
        flux = {}
        for name, hits in ("equal", ()), ("short", (0.001, 0.003, 0.007, 0.015, 0.03)):
            m = self.march(problem, 0, kedge.square(8), end=0.5, steps=10)
            for t in hits:
                m.run(until=t)
            flux[name] = [s.groups["left"].flux / exact(s.t) - 1 for s in m]
        self.assertAlmostEqual(flux["equal"][0], -1.71 / 2.52 - 1, delta=2e-3)
        self.assertAlmostEqual(flux["equal"][3], 0.004, delta=2e-3)
        self.assertLess(np.abs(flux["short"]).max(), 0.035)
        self.assertLess(abs(flux["equal"][-1]), 2e-3)


class Steps(Marches):
    def test_a_solution_a_step_to_the_end(self):
        m = self.march(self.problem(), "x*y", end=0.5, steps=4)
        self.assertEqual([s.t for s in m], [0.125, 0.25, 0.375, 0.5])
        self.assertTrue(m.ended)
        self.assertEqual(list(m), [])
        self.assertEqual(m.solution.t, m.t)
        report = m.report
        self.assertEqual((report.steps, report.solves, report.set_ups, report.t, report.step, report.converged),
                         (4, 8, 1, 0.5, 0.125, True))
        self.assert_refused("^the march has ended, at t = 0.5$", m.step)

    def test_a_run_hits_its_time_and_no_solution_goes_back(self):
        m = self.march(self.problem(), "x*y", end=1, steps=10)
        self.assert_refused("^until is 0, where the march is, and there is no solution before its first step$", m.run,
                            until=0)
        self.assertEqual(m.run(until=0.25).t, 0.25)
        self.assertEqual(m.report.steps, 3)
        self.assertEqual(m.run(until=np.float64(0.25)).t, 0.25)
        self.assertEqual(m.report.steps, 3)
        self.assert_refused("until is 0.2, and the march is at t = 0.25 already", m.run, until=0.2)
        for until in float("nan"), float("inf"):
            self.assert_refused(f"^until is {until}; it must be finite$", m.run, until=until)
        self.assert_refused("^t = 1.5 is not between now, 0.25, and the end, 1$", m.run, until=1.5)
        self.assert_refused("until is 'noon'; it takes a number", m.run, until="noon", kind=kedge.WrongType)
        m.run(until=0.5 + 1e-14)
        m.run(until=0.5 + 2e-14)  # which is the same time
        self.assertLess(m.report.steps, 8)
        self.assertEqual(m.run().t, 1)

    def test_a_time_that_rounding_has_passed_is_where_the_march_is(self):
        m = self.march(self.problem(), "x*y", steps=10)
        for _ in range(3):
            m.step()
        self.assertGreater(m.t, 0.3 - 1e-12)
        for until in 0.3, 0.3 - 5e-13, 0.3 + 5e-13:
            self.assertEqual(m.run(until=until).t, m.t)
            self.assertEqual(m.report.steps, 3)
        self.assert_refused("does not go back", m.run, until=0.3 - 1e-11)
        m.run()
        self.assertEqual(m.run(until=1 + 1e-13).t, 1)
        self.assert_refused("^t = 1.01 is not between", m.run, until=1.01)
        m = self.march(self.problem(), "x*y", steps=10)
        self.assert_refused("until is 1e-14, where the march is", m.run, until=1e-14)

    def test_nothing_is_made_or_brought_that_is_not_read(self):
        m, called = self.march(self.problem(), "x*y"), []
        library_call = self.context.call

        def call(name, *arguments, **more):
            called.append(name)
            library_call(name, *arguments, **more)

        with mock.patch.object(self.context, "call", call):
            for s in m:
                self.assertIn("at t = ", repr(s))
            self.assertEqual(set(called), {"kedge_march_step", "kedge_march_report"})
            del called[:]
            s(0.5, 0.5)
            self.assertIn("kedge_march_solution", called)

    def test_fields_are_those_of_other_solutions(self):
        m = self.march(self.problem(integrals={"heat": "t*u"}, mass={"domain": 1}), "x*y")
        s = m.run(until=0.25)
        self.assertEqual((s.u.shape, s.q.shape, s.u_star.shape), ((32, 6), (32, 6, 2), (32, 10)))
        self.assertAlmostEqual(s(0.25, 0.5), kedge.Probe(m.mesh, 0.25, 0.5).values(s), delta=1e-12)
        self.assertAlmostEqual(s.integrals["heat"], 0.25 * s.integrate("u"), delta=1e-12)
        self.assertAlmostEqual(s.integrate(lambda x, y, t=2: t + 0 * x), 2, delta=1e-12)
        self.assertAlmostEqual(s.groups["left"].mean, 1.25, delta=1e-9)
        self.assertEqual(s.problem.settings["parameters", "t"], "0.25")
        kedge.solve(m.mesh, s.problem, self.context)  # it is a steady one
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.vtkhdf")
            s.write(path)
            np.testing.assert_array_equal(kedge.read(path, m.mesh).u_star, s.u_star)

    def test_a_solution_is_gone_with_the_next_step_and_its_arrays_stay(self):
        m = self.march(self.problem(), "x*y")
        s = m.step()
        u, value = s.u, s(0.5, 0.5)
        again = m.solution
        np.testing.assert_array_equal(again.u, u)
        m.step()
        self.assertIs(s.u, u)
        self.assertEqual(s(0.5, 0.5), value)
        self.assert_refused("^the solution at t = 0.125 is gone: its march is at t = 0.25; read what", s.values, "u")
        self.assertIn("gone", repr(s))
        last = m.solution
        del m, s, again
        gc.collect()
        self.assertEqual(last.u.shape, u.shape)

    def test_steps_adapt_to_a_tolerance_and_a_steady_state_ends_them(self):
        problem = kedge.Problem(order=2, boundary={"default": kedge.Dirichlet(0)}, tolerance=1e-12)
        m = kedge.march(kedge.square(6), problem, "sin(pi*x)*sin(pi*y)", end=9, tolerance=1e-5, steady_tolerance=1e-2,
                        backend=self.context)
        steps = [m.report.step for s in m]
        self.assertGreater(max(steps), 2 * steps[0])
        report = m.report
        self.assertTrue(m.ended and report.is_steady and report.change < 1e-2 and 0.3 < m.t < 0.6, report)
        self.assertEqual((report.scheme, report.solves), ("esdirk4", 5 * (report.steps + report.rejected)))
        m.update(source=1)
        self.assertFalse(m.ended or m.report.is_steady)
        self.assertAlmostEqual(m.run().t, m.report.t)

    def test_a_problem_file_with_time_marches(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rod.ini")
            with open(path, "w", encoding="utf-8") as file:
                file.write("[mesh]\ngenerate = square 3\n[equation]\nsource = t\n[boundary default]\ntype = dirichlet\n"
                           "value = 0\n[time]\nend = 2*pi\nstep = pi/4\nscheme = euler\n[initial]\nu = x\n")
            problem = kedge.Problem.read(path)
        m = kedge.march(problem.mesh(), problem, backend=self.context)
        self.assertEqual(m.run(until=1).t, 1)
        self.assertAlmostEqual(m.run().t, 2 * np.pi, delta=1e-12)
        other = kedge.march(m.mesh, problem, end=1, steps=5, backend=self.context)  # in place of its own step
        self.assertEqual((other.run().t, other.report.scheme, other.report.steps), (1, "euler", 5))

    def test_a_step_that_is_cancelled_is_taken_again(self):
        m, other = self.march(self.problem(), "x*y"), self.march(self.problem(), "x*y")
        m.step()
        self.assert_refused("", m.step, progress=lambda p: False, kind=kedge.Cancelled)
        self.assertEqual(m.t, 0.125)
        self.assert_refused("has failed", m.solution.values, "u")
        self.assert_same(m.run(), other.run(), 1e-9)

    def test_a_solve_that_does_not_converge_is_said_once(self):
        m = self.march(self.problem(max_iterations=2, preconditioner="jacobi"), "x*y")
        sentence = "the step to t = 0.125: stopped after max_iterations = 2 "
        with self.assertRaisesRegex(kedge.NotConverged, sentence) as caught:
            m.step()
        self.assertEqual(caught.exception.solution.t, 0.125)
        self.assertEqual(m.step().t, 0.25)
        m = self.march(self.problem(max_iterations=2, preconditioner="jacobi"), "x*y", on_failure="warn")
        with self.assertWarnsRegex(kedge.Note, sentence):
            m.step()
        m.run()

    def test_the_plan_of_a_problem_with_time_is_that_of_a_march(self):
        problem = self.problem(source=1, boundary=everywhere(kedge.Dirichlet(0)))
        steady = kedge.plan(kedge.square(4), problem, self.context, solver=True)
        plan = kedge.plan(kedge.square(4), problem.replace(time={"end": 1, "step": 1}), self.context)
        self.assertEqual((steady["march_bytes"], steady["march_steps"]), (0, 0))
        self.assertEqual((plan["march_step"], plan["march_steps"]), (1, 1))
        self.assertGreaterEqual(plan["march_bytes"], 5 * 8 * 32 * 6)  # three vectors of u, and two of its derivative


class Files(Marches):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "c.march")

    def test_what_was_saved_goes_on_to_the_same_bits(self):
        for problem in self.problem(), self.problem(diffusion="1+x*t"), self.problem(source=lambda x, y, t: x * t):
            m = self.march(problem, "x*y")
            m.run(until=0.3)
            s = m.step()
            m.save(self.path)
            other = self.march(problem, "x*y", mesh=kedge.square(4), resume=self.path)
            self.assertEqual((other.t, other.solution.t, other.report.steps), (m.t, m.t, m.report.steps))
            np.testing.assert_array_equal(other.solution.u_star, s.u_star)
            np.testing.assert_array_equal(other.run().u, m.run().u)
            np.testing.assert_array_equal(other.solution.trace()[1], m.solution.trace()[1])
            self.assertEqual(other.report[:6], m.report[:6])

    def test_what_was_saved_goes_on_to_a_later_end(self):
        m = self.march(self.problem(), "x*y")
        m.run()
        m.save(self.path)
        other = self.march(self.problem(), "x*y", end=1.5, steps=12, resume=self.path)
        whole = self.march(self.problem(), "x*y", end=1.5, steps=12)
        self.assertEqual((other.t, other.ended, other.report.end), (1, False, 1.5))
        self.assertEqual(other.run().t, 1.5)
        self.assert_same(other.solution, whole.run(), 1e-9)
        self.assert_refused("^the checkpoint .*c.march has reached t = 1, and time end = 0.5: give a later end$",
                            self.march, self.problem(), "x*y", end=0.5, steps=4, resume=self.path)

    def test_files_of_others_are_refused_with_what_differs(self):
        m = self.march(self.problem(), "x*y")
        m.save(self.path)
        of = "^the checkpoint .*c.march is of another "
        for sentence, problem, more in (
                ("^the checkpoint .*c.march has steps of 0.125, and time steps = 9 to end = 1 are of 0.111", self.problem(),
                 {"steps": 9}),
                (f"{of}problem: reaction is not set there, and = 1 here$", self.problem(reaction=1), {}),
                (f"{of}problem: source = x.sin.* there, and is a function here$", self.problem(source=lambda x, y: x), {}),
                (f"{of}mesh: it has 32 elements, and this one 50$", self.problem(), {"mesh": kedge.square(5)})):
            self.assert_refused(sentence, self.march, problem, "x*y", resume=self.path, **more)
        mass, initial = 1 + np.arange(32.0), np.ones(32)
        self.march(self.problem(mass=mass), initial).save(self.path)
        self.march(self.problem(mass=mass.copy()), initial, resume=self.path).run()
        self.assert_refused(f"{of}problem: mass is an array there, and another here$", self.march,
                            self.problem(mass=mass + 1), initial, resume=self.path)
        self.assert_refused(f"{of}problem: initial is an array there, and another here$", self.march,
                            self.problem(mass=mass), 2 * initial, resume=self.path)
        m.save(self.path)
        self.assert_refused("cannot open", self.march, self.problem(), "x*y", resume="none.march", kind=OSError)
        self.assert_refused("resume is 5; it takes the name of a file", self.march, self.problem(), resume=5,
                            kind=kedge.WrongType)
        m.data(source=2)
        self.assert_refused("^the problem or its data have changed on the way, and a checkpoint has none of that", m.save,
                            self.path, kind=kedge.Unsupported)


class Changes(Marches):
    def test_data_take_the_place_of_those_of_the_problem_until_they_are_taken_back(self):
        def heat(x, y, t):
            return 3 * t + x

        given, own = self.march(self.problem(), "x*y"), self.march(self.problem(), "x*y")
        given.data(source=heat, boundary={"left": kedge.Dirichlet("2-t")})
        own.update(source=heat, boundary={"left": kedge.Dirichlet("2-t")})
        gc.collect()
        self.assert_same(given.run(until=0.5), own.run(until=0.5))
        self.assertEqual((given.report.set_ups, own.report.set_ups), (1, 2))
        given.data()
        own.update(source="x*sin(4*t)", boundary={"left": kedge.Dirichlet("1+t")})
        self.assert_same(given.run(), own.run())

    def test_data_may_be_by_region_arrays_and_parameters(self):
        problem = self.problem(parameters={"power": 1}, source="power*t")
        m, other = self.march(problem, "x*y"), self.march(self.problem(source="4*t"), "x*y")
        m.data(parameters={"power": 4})
        self.assert_same(m.step(), other.step())
        m.data(source={"domain": 2})
        other.data(source=np.full(32, 2.0))
        self.assert_same(m.step(), other.step())
        self.assert_refused("source has 3 numbers", m.data, source=np.ones(3))
        self.assert_refused("no parameter 'powr'; did you mean 'power'", m.data, parameters={"powr": 1})
        self.assert_refused("is a kedge.Neumann, and", m.data, boundary={"left": kedge.Neumann(1)},
                            kind=kedge.WrongType)
        for value in 2, kedge.Dirichlet(2), kedge.Neumann():
            self.assert_refused("^the mesh has no boundary group 'lef'; did you mean 'left'", m.data,
                                boundary={"lef": value})
        self.assert_same(m.step(), other.step())  # what was refused has changed nothing

    def test_a_coefficient_of_the_solution_has_the_values_of_when_it_was_given(self):
        start = {"diffusion": "1+x^2*y^2"}
        fields, points = self.march(self.problem(**start), "x*y"), self.march(self.problem(**start), "x*y")
        for _ in range(3):
            s = fields.step()
            fields.update(diffusion=1 + s**2, source=s / (2 + s.field("u")))
            known = points.step()
            known.prepare()
            known.prepare("u")
            points.update(diffusion=lambda x, y, s=known: 1 + s(x, y)**2,
                          source=lambda x, y, s=known: s(x, y) / (2 + s(x, y, "u")))
            gc.collect()
        self.assert_same(fields.run(), points.run(), 1e-8)

    def test_a_coefficient_begins_to_vary_inside_of_elements(self):
        m, other = self.march(self.problem(), "x*y"), self.march(self.problem(diffusion=lambda x, y: 1 + 0 * x), "x*y")
        for one in (m, other):
            one.update(diffusion=1 + one.step()**2)
        self.assert_same(m.run(), other.run())

    def test_functions_without_t_cost_one_set_up(self):
        m = self.march(self.problem(diffusion=lambda x, y: 1 + x, boundary={
            "left": kedge.Robin(lambda x, y: 2 + y, lambda x, y, t: t), "default": kedge.Dirichlet(0)}))
        m.update(diffusion=1 + m.step()**2)
        m.step()
        m.update(reaction=lambda x, y: x, mass={"domain": lambda x, y: 2 + x})
        m.run()
        self.assertEqual((m.report.set_ups, m.report.remakes, m.report.end), (3, False, 1))
        m = self.march(self.problem(mass={"domain": lambda x, y, t: 2 + t}))
        m.run()
        self.assertEqual((m.report.set_ups, m.report.remakes), (1 + m.report.solves, True))

    def test_another_march_begins_with_a_solution_that_goes_on(self):
        m = self.march(self.problem(source="x^2"), "x*y")
        s = m.run(until=0.5)
        later = self.problem(source="x^2", order=3).replace(boundary={"left": kedge.Dirichlet("1.5+t")})
        other = self.march(later, s, m.mesh, end=0.5, steps=4)
        m.step()
        other.run()
        np.testing.assert_allclose(other.solution(0.3, 0.4), m.run()(0.3, 0.4), atol=2e-4)

    def test_another_march_begins_with_an_output(self):
        m = self.march(self.problem(source="x^2"), "x*y")
        with tempfile.TemporaryDirectory() as folder:
            m.run(until=0.5).write(os.path.join(folder, "a.vtkhdf"))
            u = kedge.read(os.path.join(folder, "a.vtkhdf"), m.mesh).field("u")
        later = self.problem(source="x^2").replace(boundary={"left": kedge.Dirichlet("1.5+t")})
        other = self.march(later, u, m.mesh, end=0.5, steps=4)
        np.testing.assert_allclose(other.run().u, m.run().u, atol=1e-4)

    def test_a_coefficient_that_is_extrapolated_is_better_than_one_that_lags(self):
        # u = 1 + g(t) (x - x^2), diffusion = 1 + u^2
        g, x = "(1+sin(3*t))", "(x-x^2)"
        u = f"(1+{g}*{x})"
        source = f"3*cos(3*t)*{x} - 2*{u}*({g}*(1-2*x))^2 + 2*(1+{u}^2)*{g}"
        problem = kedge.Problem(order=6, source=source, diffusion=f"1+(1+{x})^2", tolerance=1e-11,
                                boundary={"left": kedge.Dirichlet(1), "right": kedge.Dirichlet(1),
                                          "default": kedge.Neumann()})

        def error(steps, extrapolates):
            m, old = self.march(problem, f"1+{x}", kedge.square(2), steps=steps), None
            for s in m:
                u = s.field("u")
                if not m.ended:
                    m.update(diffusion=1 + (1.5 * u - 0.5 * old if extrapolates and old is not None else u)**2)
                old = u
            return s.error(f"1+(1+sin(3))*{x}", norm="u")

        lags, extrapolated = ([error(steps, how) for steps in (10, 20)] for how in (False, True))
        self.assertAlmostEqual(np.log2(lags[0] / lags[1]), 1, delta=0.1)
        self.assertGreater(np.log2(extrapolated[0] / extrapolated[1]), 1.7)
        self.assertLess(extrapolated[1], lags[1] / 7)

    def test_a_march_in_space_takes_functions_of_its_time(self):
        def heat(x, y, z, t):
            return x + y * z * t

        problem = kedge.Problem(order=1, source=heat, boundary={"default": kedge.Robin(1, lambda x, y, z, t: z - t)},
                                tolerance=1e-12)
        text = problem.replace(source="x+y*z*t", boundary={"default": kedge.Robin(1, "z-t")})
        mesh = kedge.Mesh.generate("cube 2")
        m, other = (self.march(one, "x*z", mesh, steps=2) for one in (problem, text))
        self.assert_same(m.run(), other.run())
        self.assertAlmostEqual(m.solution.integrate(lambda x, y, z, t=1: x * t), 0.5, delta=1e-12)

    def test_an_update_is_a_march_that_begins_with_u(self):
        for left in kedge.Neumann(1), kedge.Robin(3, 1), kedge.Dirichlet("y"):
            for scheme in ("euler", "trbdf2", "esdirk4"):
                with self.subTest(left=left, scheme=scheme):
                    m = self.march(self.problem(source="x"), "x*y", scheme=scheme)
                    u = m.run(until=0.5).field("u")
                    other = self.problem(source="x", boundary={"left": left, "default": kedge.Robin(2, 0)})
                    other = self.march(other, u, m.mesh, scheme=scheme, end=0.5, steps=4)
                    m.update(boundary={"left": left})
                    np.testing.assert_allclose(m.run().u, other.run().u, atol=1e-11)
                    np.testing.assert_allclose(m.solution.trace()[1], other.solution.trace()[1], atol=1e-11)

    def test_functions_that_were_replaced_are_called_no_more(self):
        m = self.march(self.problem(reaction=lambda x, y: 1 + x), lambda x, y: x * y)
        for k in range(3):
            m.step()
            m.update(reaction=lambda x, y, k=k: k + x)
            gc.collect()
        m.run()
        self.assertEqual(m.solution.problem.settings["equation", "reaction"](2, 0), 4)

    def test_updates_that_a_march_cannot_take_are_refused(self):
        m, other = self.march(self.problem(reaction=1), "x*y"), self.march(self.problem(reaction=1), "x*y")
        for name, value in (("time", {"end": 2}), ("initial", "x"), ("order", 3)):
            self.assert_refused(f"^a march keeps its {name}; begin another one", m.update, **{name: value})
        self.assert_refused("^update.. would take reaction away", m.update, reaction=None)
        self.assert_refused(r"^update.. would take the coefficient of boundary\['default'\] away", m.update,
                            boundary={"default": kedge.Dirichlet(0)})
        self.assert_refused("has no argument 'reactoin'; did you mean", m.update, reactoin=1, kind=kedge.WrongType)
        self.assert_same(m.step(), other.step())
        for sentence, change in (("mass must be positive", {"mass": "x-0.5"}), ("raised ZeroDiv", {"reaction": lambda x, y: 1 / 0}),
                                 ("did you mean 'left'", {"boundary": {"lft": kedge.Dirichlet(0)}})):
            problem = m.problem
            self.assert_refused(sentence, m.update, **change)
            self.assertIs(m.problem, problem)
            np.testing.assert_allclose(m.step().u, other.step().u, atol=1e-11)
        self.assert_refused("precision = compact makes load", m.update, precision="compact", kind=kedge.Unsupported)
        m.update(mass=2)
        other.update(mass=2)
        np.testing.assert_allclose(m.run().u, other.run().u, atol=1e-11)
        with self.assertRaises(kedge.ReadOnly):
            m.problem = self.problem()

    def test_what_makes_no_march_is_refused(self):
        problem, mesh = self.problem(), kedge.square(2)
        for sentence, more in (
                ("^a march needs its end, and step or steps", {}),
                ("^a march needs its end, and step or steps", {"step": 1}),
                ("^time has no step; add step", {"end": 1}),
                ("^end must be positive, not '-1'", {"end": -1, "step": 1}),
                ("^end of time is nan; it must be finite", {"end": float("nan"), "step": 1}),
                ("^step must be positive, not '0'", {"end": 1, "step": 0}),
                ("^steps must be a whole number from 1 ", {"end": 1, "steps": 0}),
                ("^time has both step and steps", {"end": 1, "step": 1, "steps": 2}),
                ("^unknown scheme 'rk4'; it must be euler, trbdf2 or esdirk4", {"end": 1, "step": 1, "scheme": "rk4"}),
                ("^events in time has 1, which is not before end = 1", {"end": 1, "step": 1, "events": [0.5, 1]}),
                ("^tolerance in time needs scheme = esdirk4", {"end": 1, "tolerance": 1e-3, "scheme": "euler"}),
                ("^initial has 3 numbers", {"end": 1, "step": 1, "initial": np.ones(3)}),
                ("^march has no argument 'ends'; did you mean 'end'", {"ends": 1, "step": 1}),
                ("^on_failure is 'stop'", {"end": 1, "step": 1, "on_failure": "stop"})):
            with self.subTest(more=more):
                self.assert_refused(sentence, kedge.march, mesh, problem, backend=self.context, **more)
        self.assert_refused("the mesh comes first", kedge.march, problem, mesh, end=1, step=1, kind=kedge.WrongType)
        self.assert_refused("mass must be positive", self.march, self.problem(mass="x-0.5"))


if __name__ == "__main__":
    unittest.main()
