"""The trace system of a solver: matrix, operator, right-hand side, and solutions of traces that were found otherwise."""
import sys
import unittest
from unittest import mock

import numpy as np
from support import backend, everywhere

import kedge

try:
    import scipy.sparse.linalg
    from scipy.sparse.linalg import cg, eigsh, spsolve
except ImportError:
    scipy = None


def unknowns(solver, solution):
    return solution.trace()[1][solver.edges].ravel()


class System(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()

    def solver(self, mesh, order=3, **more):
        """All kinds of conditions, where the mesh has four sides."""
        groups = [group.name for group in mesh.groups if group.dimension == 1 and group.count]
        boundary = everywhere(kedge.Dirichlet("x"), groups)
        if "top" in groups:
            boundary.update(top=kedge.Neumann("y"), left=kedge.Robin(2, 1))
        return kedge.Solver(mesh, kedge.Problem(order=order, diffusion=45, source="exp(x)", boundary=boundary,
                                                tolerance=1e-12, **more), self.context)

    def solvers(self):
        return (self.solver(kedge.square(5)), self.solver(kedge.mixed(4)), self.solver(kedge.quads(4)),
                self.solver(kedge.ring(2, 16, geometry=3)), self.solver(kedge.square(5), precision="mixed"))

    def test_a_trace_of_another_iteration_is_that_of_a_solve(self):
        for solver in self.solvers():
            with self.subTest(solver):
                b = solver.rhs("x*y")
                x, r = np.zeros_like(b), b.copy()
                p = r
                for _ in range(2000):  # conjugate gradients
                    ap, rr = solver.apply(p), r @ r
                    if rr <= 1e-26 * (b @ b):
                        break
                    x = x + rr / (p @ ap) * p
                    r = r - rr / (p @ ap) * ap
                    p = r + (r @ r) / rr * p
                s, found = solver.solve("x*y"), solver.recover(x, "x*y")
                np.testing.assert_allclose(x, unknowns(solver, s), rtol=0, atol=1e-9 * abs(x).max())
                np.testing.assert_allclose(found.u_star, s.u_star, rtol=0, atol=1e-9 * abs(s.u_star).max())
                self.assertEqual((found.report.iterations, found.report.converged), (0, True))

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_the_matrix_and_the_operator_are_those_of_the_solver(self):
        for solver in self.solvers():
            with self.subTest(solver):
                a, b, operator = solver.matrix(), solver.rhs(), solver.operator
                self.assertEqual((a.shape, operator.shape, a.has_sorted_indices), (2 * b.shape, 2 * b.shape, True))
                self.assertLess(abs(a - a.T).max(), 1e-13 * abs(a).max())
                x = np.random.default_rng(1).standard_normal((len(b), 2))
                np.testing.assert_allclose(operator @ x, a @ x, rtol=0, atol=1e-12 * abs(a @ x).max())
                np.testing.assert_allclose(operator.T @ x[:, 0], a.T @ x[:, 0], rtol=0, atol=1e-12 * abs(a @ x).max())
                np.testing.assert_allclose(solver.apply(x[:, 0] + 1j * x[:, 1]), a @ (x[:, 0] + 1j * x[:, 1]), rtol=0,
                                           atol=1e-12 * abs(a @ x).max())
                trace = unknowns(solver, solver.solve())
                np.testing.assert_allclose(spsolve(a.tocsc(), b), trace, rtol=0, atol=1e-9 * abs(trace).max())

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_scipy_iterates_and_finds_eigenvalues(self):
        solver = self.solver(kedge.square(4), order=2)
        x, failed = cg(solver.operator, solver.rhs(), maxiter=5000, atol=0)
        self.assertEqual(failed, 0)
        self.assertLess(solver.recover(x).report.relative_residual, 1e-4)
        largest, dense = eigsh(solver.operator, 1)[0][0], np.linalg.eigvalsh(solver.matrix().toarray())
        self.assertAlmostEqual(largest / dense[-1], 1, places=6)
        self.assertGreater(dense[0], 0)

    def test_a_trace_that_is_no_solution_says_so(self):
        solver = self.solver(kedge.square(3))
        n = len(solver.rhs())
        s = solver.recover(np.ones(n))
        self.assertGreater(s.report.relative_residual, 1e-3)
        self.assertEqual((s.report.stop, s.report.converged), ("limit", False))
        self.assertTrue(np.all(unknowns(solver, s) == 1))
        with self.assertRaisesRegex(kedge.InputError, "unknown 0 of the trace is nan"):
            solver.recover(np.full(n, np.nan))
        for call, name in ((solver.recover, "trace"), (solver.apply, "x")):
            with self.assertRaisesRegex(ValueError, rf"^{name} has the shape \(2,\); it takes \({n},\)"):
                call([1, 2])

    def test_an_update_changes_the_system(self):
        solver = self.solver(kedge.square(3))
        x = np.linspace(-1, 1, len(solver.rhs()))
        before = solver.apply(x)
        solver.update(diffusion=4 * 45, boundary={"left": kedge.Robin(8, 1)})
        np.testing.assert_array_equal(solver.apply(x), 4 * before)
        solver.update(order=1)
        self.assertEqual(len(solver.rhs()), 2 * len(solver.edges))

    def test_systems_that_are_not_there_are_refused(self):
        problem = kedge.Problem(order=2, precision="compact", boundary=everywhere(kedge.Dirichlet("x")))
        solver = kedge.Solver(kedge.square(3), problem, self.context)
        with self.assertRaisesRegex(kedge.Unsupported, "take precision = double or mixed"):
            solver.apply(np.ones(len(solver.rhs())))
        with self.assertRaisesRegex(kedge.InputError, "Neumann|neumann"):
            kedge.Solver(kedge.square(2), kedge.Problem(boundary=everywhere(kedge.Neumann(0))), self.context)

    def test_without_scipy_one_sentence_says_what_to_do(self):
        solver = self.solver(kedge.square(2))
        with mock.patch.dict(sys.modules, {name: None for name in sys.modules if name.startswith("scipy")} | {"scipy": None}):
            for name, what in (("matrix", solver.matrix), ("operator", lambda: solver.operator)):
                with self.assertRaisesRegex(ImportError, rf"Solver\.{name} needs SciPy \(.*\): pip install scipy"):
                    what()
            self.assertEqual(solver.apply(np.zeros(len(solver.rhs()))).max(), 0)


if __name__ == "__main__":
    unittest.main()
