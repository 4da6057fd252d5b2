"""Solves that fail, what they refuse, and notes."""
import unittest
import warnings

import numpy as np
from support import OnBackend, everywhere, sines

import kedge


class Failures(OnBackend):
    def test_texts_of_files_and_callers_do_not_steer_the_terminal(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], {"a\x1b[31m": [[0, 1]], "b\x9b": [[1, 2]], "Wände\u202e": [[2, 0]]})
        self.assertEqual(repr(mesh), r"<kedge.Mesh: 1 elements, groups Wände\u202e, a\x1b[31m, b\x9b, 0>")
        condition = {"c\x1b\n": kedge.Dirichlet(0)}
        for call in (lambda: kedge.Mesh("a\x1b.msh"), lambda: kedge.Problem.read("b\x9b\udc9b.ini"),
                     lambda: kedge.Problem().write("no\x07/p.ini"), lambda: kedge.Problem(**{"d\u2028": 1}),
                     lambda: kedge.Problem(source="x + '\x1b'"), lambda: kedge.solve(mesh, kedge.Problem(boundary=condition), "host"),
                     lambda: kedge.read("e\x1b.hdf")):
            with self.assertRaises(kedge.Error) as caught:
                call()
            self.assertNotRegex(str(caught.exception), "[\x00-\x1f\x7f-\x9f\u2028-\u202e\udc00-\udfff]")
            self.assertTrue(str(caught.exception))

    def test_arguments_of_another_kind_are_refused_by_name(self):
        mesh, p = kedge.square(2), sines(order=1)
        for call in kedge.solve, kedge.Solver, kedge.plan:
            for arguments, sentence in [((p, mesh), "mesh comes first"), ((1, p), "mesh is 1; it takes a kedge.Mesh"),
                                        ((mesh, {"order": 1}), "problem is {'order': 1}; it takes a kedge.Problem"),
                                        ((mesh, mesh), "problem is a kedge.Mesh; it takes a kedge.Problem"),
                                        ((mesh, p, 3), "backend is 3; it takes 'auto'")]:
                with self.subTest(sentence, call=call), self.assertRaisesRegex(TypeError, sentence):
                    call(*arguments)
        with self.assertRaisesRegex(TypeError, "problem is a kedge.Mesh"):
            kedge.convergence(mesh, [mesh], [1])

    def test_what_a_solver_and_its_solutions_do_not_take_is_said(self):
        mesh, p = kedge.square(2), sines(order=1)
        solver = kedge.Solver(mesh, p, self.context)
        s, cells = solver.solve(), kedge.solve(mesh, p.replace(fields="cells"), self.context)
        means = r"fields=\"cells\", so only .*; read them with means\(\), or solve"
        for wrong, error, sentence in [
                (lambda: setattr(solver, "problem", p), kedge.ReadOnly, r"not assigned to: update\(name=value\)"),
                (lambda: setattr(s, "u", 3), kedge.ReadOnly, "^u of a kedge.Solution is not assigned to; change a copy of it$"),
                (lambda: setattr(s, "report", 3), kedge.ReadOnly, "^report of a kedge.Solution is not assigned to"),
                (lambda: setattr(mesh, "nodes", 3), kedge.ReadOnly, "^nodes of a kedge.Mesh is not assigned to"),
                (lambda: solver.solve("1\0+2"), kedge.InputError, r"^source is '1\\x00\+2', which holds a NUL; leave it out$"),
                (lambda: solver.solve(boundary={"top": "x\0"}), kedge.InputError, r"^boundary\['top'\] is 'x\\x00', which"),
                (lambda: solver.solve(boundary={"top\0": "x"}), kedge.InputError, r"^a group of boundary is 'top\\x00', which"),
                (lambda: s.write("a\0.vtkhdf"), kedge.InputError, r"^path is 'a\\x00.vtkhdf', which holds a NUL"),
                (lambda: solver.shape("sigma"), kedge.InputError, "field is 'sigma'; a solve fills arrays with u, "),
                (lambda: solver.apply("a"), kedge.WrongType, "x holds what is no real number"),
                (lambda: solver.recover(np.full(len(solver.rhs()), np.nan)), kedge.InputError, "^unknown 0 of the trace is nan"),
                (lambda: solver.solve(start=cells), kedge.InputError, "^the solution to start from has no trace"),
                (lambda: cells.plot(), kedge.InputError, means), (lambda: cells.u, kedge.InputError, means),
                (lambda: cells(0.5, 0.5), kedge.InputError, means),
                (lambda: s.values("u", "2"), kedge.WrongType, "order is '2'; it takes a whole number"),
                (lambda: s.values("u", 10**5), kedge.InputError, "^order is 100000; it is 1 to 13$"),
                (lambda: s.nodes(14), kedge.InputError, "^order is 14; it is 1 to 13$"),
                (lambda: s.offsets(-1), kedge.InputError, "^order is -1; it is 1 to 13$"),
                (lambda: s.plot(order=0), kedge.InputError, "^order is 0; it is 1 to 13$"),
                (lambda: s.quadrature("u", points=0), kedge.InputError, "points is 0; it is 1 to 100"),
                (lambda: s.error(points="a"), kedge.WrongType, "points is 'a'; it takes a whole number"),
                (lambda: s("a", 1), kedge.WrongType, "x holds what is no real number"),
                (lambda: s([0, 1], [0, 1, 2]), kedge.InputError, r"x has the shape \(2,\) and y \(3,\)"),
                (lambda: s.write("x.vtu"), kedge.InputError, r"x\.vtu: its name must end in .*; to_meshio\(\).write\(path\) writes other"),
                (lambda: s.write(3), kedge.WrongType, "path is 3; it takes the name of a file"),
                (lambda: kedge.Context("host", threads="a"), kedge.WrongType, "threads is 'a'; it takes a whole number"),
                (lambda: kedge.Context("host", threads=-1), kedge.InputError, "threads is -1; it is at least 0"),
                (lambda: kedge.Context("host", device=2**32), kedge.InputError, "device is 4294967296, which does not fit")]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                wrong()

    def test_an_iteration_that_ends_early_raises_what_it_has(self):
        p = sines().replace(max_iterations=2, preconditioner="jacobi")
        with self.assertRaises(kedge.NotConverged) as caught:
            self.solve(kedge.square(8), p)
        self.assertEqual(caught.exception.report.iterations, 2)
        self.assertEqual(caught.exception.solution.u.shape, (128, 10))
        p = p.replace(boundary=dict.fromkeys(("left", "right", "bottom", "top"), kedge.Dirichlet(0)))
        solver = kedge.Solver(kedge.square(8), p, self.context)
        with self.assertRaisesRegex(kedge.NotConverged, r"^sources\[1\]: ") as caught:
            solver.solve(sources=[0, 1, 0])
        self.assertEqual([s.report.converged for s in caught.exception.solutions], [True, False, True])
        self.assertIs(caught.exception.solution, caught.exception.solutions[1])
        for call in (lambda: solver.solve(on_failure="warn"), lambda: solver.solve(sources=[1], on_failure="warn")):
            with self.assertWarns(kedge.Note) as warned:
                call()
            self.assertEqual(warned.filename, __file__)
        with self.assertWarnsRegex(kedge.Note, "max_iterations = 2"):
            s = self.solve(kedge.square(8), p, on_failure="warn")
        self.assertFalse(s.report.converged)

    def test_notes_of_meshes_and_parameters_are_warnings(self):
        zero = {"default": kedge.Dirichlet(0)}
        for mesh in kedge.disk(2), kedge.square(2, map="x + 0.1*y^2, y").refine():
            with self.assertWarnsRegex(kedge.Note, "the boundary is a polygon in place of curves"):
                self.solve(mesh, kedge.Problem(source=1, boundary=zero))
        spare = kedge.Problem(source=1, boundary=zero, parameters={"k": 2})
        with self.assertWarnsRegex(kedge.Note, "no expression uses 'k'"):
            kedge.solve(kedge.square(2), spare, self.context)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.solve(kedge.square(2), spare, source="k*x")  # data of a solver may use it
            for mesh in kedge.disk(2, geometry=2), kedge.disk(2, geometry=1), kedge.square(2, map="x^2, y"):
                self.solve(mesh, kedge.Problem(source=1, boundary=zero))

    def test_a_value_for_lines_inside_the_domain_is_refused(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]],
                          lines={"out": [[3, 0], [1, 2], [0, 1], [2, 3]], "seam": [[0, 2]]})
        solver = kedge.Solver(mesh, kedge.Problem(source=1, boundary={"out": kedge.Dirichlet(0)}), self.context)
        with self.assertRaisesRegex(kedge.InputError, "'seam', a group of lines inside the domain"):
            solver.solve(boundary={"seam": 1})

    def test_failures_are_exceptions_with_a_sentence(self):
        with self.assertRaisesRegex(kedge.InputError, "lft"):
            self.solve(kedge.square(2), kedge.Problem(boundary={"lft": kedge.Dirichlet(0)}))
        with self.assertRaisesRegex(ValueError, "no field 'v'"):
            self.solve(kedge.square(2), sines(order=1)).values("v")
        with self.assertRaisesRegex(ValueError, "backend is 'gpu'; it is one of 'auto', 'host', 'cuda'$"):
            kedge.Solver(kedge.square(2), sines(), backend="gpu")

    def test_what_a_function_raises_comes_out_with_the_name_of_its_argument(self):
        def wrong(x, y):
            raise ZeroDivisionError("mine")

        def leave(x, y):
            raise KeyboardInterrupt

        zero = everywhere(kedge.Dirichlet(0))
        for problem, sentence in [
                (kedge.Problem(order=2, source=wrong, boundary=zero), "source: the function wrong raised ZeroDivisionError: mine"),
                (kedge.Problem(source=0, boundary={**zero, "left": kedge.Dirichlet(wrong)}), r"boundary\['left'\]: the function wrong"),
                (kedge.Problem(source=0, boundary=zero, exact=(np.hypot, wrong, wrong)), "du_dx of exact: the function")]:
            with self.assertRaisesRegex(kedge.InputError, sentence) as caught:
                self.solve(kedge.square(4), problem)
            self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        with self.assertRaises(KeyboardInterrupt):
            self.solve(kedge.square(4), kedge.Problem(source=leave, boundary=zero))
        solver = kedge.Solver(kedge.square(4), kedge.Problem(source=0, boundary=zero), self.context)
        for function, sentence in [
                (lambda x, y: np.ones(3), r"an array of the shape \(3,\); it must return \d+ values, one a point, or one for all"),
                (lambda x, y: x + 1j, "returned complex128; it must return real numbers"),
                (lambda x, y: "hot", "returned 'hot'; it must return real numbers"),
                (lambda x, y: None, "returned None; it must return real numbers"),
                (lambda x: x, "raised TypeError: .*2 were given")]:
            with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, "source: the function <lambda> .*" + sentence):
                solver.solve(source=function)
            with self.assertRaisesRegex(kedge.InputError, r"boundary\['top'\]: the function <lambda> .*"):
                solver.solve(boundary={"top": function})
        self.assertTrue(solver.solve(source=lambda x, y: [1]).report.converged)

    def test_a_function_cannot_use_the_context_that_calls_it(self):
        def again(x, y):
            return self.solve(kedge.square(2), sines(order=1)).report.u_l2

        with self.assertRaisesRegex(kedge.Error, "in the midst of a call"):
            self.solve(kedge.square(2), kedge.Problem(source=again, boundary=everywhere(kedge.Dirichlet(0))))

    def test_a_name_of_no_argument_is_refused_with_the_one_that_is_meant(self):
        mesh, p = kedge.square(2), sines(order=1)
        solver = kedge.Solver(mesh, p, self.context)
        for call, name, sentence in [
                (solver.solve, "sorce", "Solver.solve has no argument 'sorce'; did you mean 'source'?"),
                (lambda **more: kedge.Solver(mesh, p, **more), "thread", "Solver has no argument 'thread'; did you mean 'threads'?"),
                (lambda **more: kedge.solve(mesh, p, **more), "zz", "solve has no argument 'zz'; it has mesh, problem, backend, "
                 "device, threads, progress, on_failure"),
                (lambda **more: kedge.square(2, **more), "refin", "Mesh.generate has no argument 'refin'; did you mean 'refine'?"),
                (kedge.Context, "thread", "Context has no argument 'thread'; did you mean 'threads'?")]:
            with self.assertRaises(kedge.WrongType) as refused:
                call(**{name: 1})
            self.assertEqual(str(refused.exception), sentence)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
