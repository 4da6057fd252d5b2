"""Problems that have a time: their settings, and functions of it."""
import os
import tempfile
import types
import unittest

import numpy as np
from support import OnBackend, everywhere

import kedge
from kedge import data
from kedge import _library as c


class Settings(unittest.TestCase):
    def test_keys_of_time_become_settings(self):
        p = kedge.Problem(time={"end": 2, "steps": 8, "scheme": "euler", "events": [0.5, 1], "at": np.array([0.5, 1.5])},
                          initial="x*y", source="exp(-t)", boundary=everywhere(kedge.Dirichlet("t")))
        self.assertEqual(p.settings["time", "end"], "2")
        self.assertEqual(p.settings["time", "steps"], "8")
        self.assertEqual(p.settings["time", "scheme"], "euler")
        self.assertEqual(p.settings["time", "events"], "0.5, 1")
        self.assertEqual(p.settings["output", "at"], "0.5, 1.5")
        self.assertEqual(p.settings["initial", "u"], "x*y")

    def test_replace_takes_all_keys_of_time(self):
        p = kedge.Problem(time={"end": 2, "step": 0.1, "every": 1}, fields="cells")
        q = p.replace(time={"end": 3, "tolerance": 1e-4})
        self.assertEqual({key: text for key, text in q.settings.items() if key[0] in ("time", "output")},
                         {("time", "end"): "3", ("time", "tolerance"): "0.0001", ("output", "fields"): "cells"})
        self.assertFalse(any(section == "time" for section, _ in p.replace(time=None).settings))

    def test_a_problem_in_time_is_written_and_read(self):
        p = kedge.Problem(time={"end": 2, "step": 0.1, "events": [0.5, 1]}, initial="x", source="t")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.ini")
            p.write(path)
            self.assertEqual(kedge.Problem.read(path).settings, p.settings)

    def test_wrong_keys_are_refused(self):
        with self.assertRaisesRegex(kedge.InputError, "time has no key 'colour'; it has end, step, "):
            kedge.Problem(time={"colour": 1})
        with self.assertRaisesRegex(kedge.InputError, "time has no key 'ende'; did you mean 'end'?"):
            kedge.Problem(time={"ende": 1})
        with self.assertRaisesRegex(kedge.InputError, "^end must be positive, not '-1'"):
            kedge.Problem(time={"end": -1})
        with self.assertRaisesRegex(kedge.InputError, "end of time is inf; it must be finite"):
            kedge.Problem(time={"end": float("inf")})
        with self.assertRaisesRegex(kedge.WrongType, "time is 1; it takes a dict"):
            kedge.Problem(time=1)

    def test_the_initial_state_may_be_data(self):
        for value in (lambda x, y: x, np.arange(8.0), 0.5):
            kedge.Problem(time={"end": 1, "step": 1}, initial=value)
        with self.assertRaisesRegex(kedge.InputError, "initial has 3 numbers"):
            kedge.march(kedge.square(2, backend="host"), kedge.Problem(
                time={"end": 1, "step": 1}, initial=np.arange(3.0), boundary=everywhere(kedge.Dirichlet(0))), backend="host")


class Functions(OnBackend):
    def points(self, t, n=3):
        """Points of the library at a time."""
        self.kept = np.arange(float(n)), np.arange(float(n)) + 10
        x, y = (array.ctypes.data for array in self.kept)
        return c.Points(n=n, x=x, y=y, t=t)

    def test_a_function_gets_the_time_by_its_name(self):
        of = lambda function: data._of_points(function, "source")(self.points(0.75))  # noqa: E731
        np.testing.assert_array_equal(of(lambda x, y, t: x + 100 * t), [75, 76, 77])
        np.testing.assert_array_equal(of(lambda x, y, *, t: y + t), [10.75, 11.75, 12.75])
        np.testing.assert_array_equal(of(lambda x, y, t=2: x + t), [2, 3, 4])  # a value of its own
        np.testing.assert_array_equal(of(lambda s, t: s + t), [10, 12, 14])  # a coordinate
        self.assertIsInstance(of(lambda x, y, t: self.seen(t)).item(), float)

    def seen(self, t):
        self.assertIs(type(t), float)
        return t

    def test_a_march_asks_functions_at_the_times_of_its_stages(self):
        times = set()

        def source(x, y, t, region):
            times.add(t)
            return 1 + t

        p = kedge.Problem(order=2, source=source, time={"end": 1, "step": 0.5, "scheme": "euler"}, tolerance=1e-12,
                          boundary=everywhere(kedge.Dirichlet(lambda x, y, t: x + t)))
        mesh = kedge.square(3)
        s = kedge.march(mesh, p, backend=self.context).run()
        text = p.replace(source="1+t", boundary=everywhere(kedge.Dirichlet("x+t")))
        np.testing.assert_allclose(s.u, kedge.march(mesh, text, backend=self.context).run().u, atol=1e-10)
        self.assertEqual(times, {0.5, 1.0})

    def test_without_a_time_functions_of_it_are_refused(self):
        mesh, sides = kedge.square(3), everywhere(kedge.Dirichlet(0))

        def heat(x, y, t):
            return x * t

        says = "the function heat has an argument t, the time, and the problem has no time; give t a value, t=0.5"
        with self.assertRaisesRegex(kedge.InputError, "source: " + says):
            self.solve(mesh, kedge.Problem(source=heat, boundary=sides))
        solver = kedge.Solver(mesh, kedge.Problem(source=1, boundary=sides), self.context)
        with self.assertRaisesRegex(kedge.InputError, "source: " + says):
            solver.solve(source=heat)
        with self.assertRaisesRegex(kedge.InputError, "^source names t, the time, and there is no time; add time"):
            self.solve(mesh, kedge.Problem(source="x*t", boundary=sides))

    def test_a_steady_solve_refuses_a_mass(self):
        mesh, sides = kedge.square(3), everywhere(kedge.Dirichlet(0))
        for mass in (2, "1+x", lambda x, y: 1 + x, np.ones(18)):
            with self.assertRaisesRegex(kedge.InputError, "^mass belongs to a problem in time, and there is no time; add "
                                                          "time with end and step, or leave it out$"):
                self.solve(mesh, kedge.Problem(mass=mass, boundary=sides))
        with self.assertRaisesRegex(kedge.InputError, r"^mass\['domain'\] belongs to a problem in time"):
            self.solve(mesh, kedge.Problem(mass={"domain": 2}, boundary=sides))

    def test_a_steady_solve_refuses_a_problem_in_time(self):
        p = kedge.Problem(time={"end": 1, "step": 1}, source=1, boundary=everywhere(kedge.Dirichlet(0)))
        for solve in (kedge.solve, kedge.Solver):
            with self.subTest(solve=solve):
                with self.assertRaisesRegex(kedge.InputError, "^the problem has a time, and this is for steady ones; "
                                                        r"kedge.march\(mesh, problem\)"):
                    solve(kedge.square(3), p, self.context)


if __name__ == "__main__":
    unittest.main()
