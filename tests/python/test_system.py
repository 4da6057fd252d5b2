"""The trace system of a solver: matrix, operator, right-hand side, and solutions of traces that were found otherwise."""
import inspect
import sys
import unittest
from unittest import mock

import numpy as np
from support import backend, everywhere

import kedge

try:
    import scipy.sparse.linalg
    from scipy.sparse.linalg import aslinearoperator, cg, eigsh, lobpcg, spsolve
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

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_scipy_iterates_as_the_solver_with_its_preconditioner(self):
        for kind in "jacobi", "block-jacobi", "multigrid":
            for more in ({}, {"precision": "mixed"}) if kind == "multigrid" else ({},):
                with self.subTest(kind, **more):
                    solver, steps = self.solver(kedge.square(9), preconditioner=kind, **more), []
                    solver.update(tolerance=1e-9)
                    tolerance = {"rtol" if "rtol" in inspect.signature(cg).parameters else "tol": 1e-9}
                    _, failed = cg(solver.operator, solver.rhs(), M=solver.preconditioner, atol=0,
                                   callback=steps.append, **tolerance)
                    own = solver.solve().report.iterations
                    self.assertEqual(failed, 0)
                    self.assertLess(abs(len(steps) - own), 3 + own / 10)

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_the_preconditioner_is_symmetric_and_helps_lobpcg(self):
        for solver in self.solvers():
            with self.subTest(solver):
                m, n = solver.preconditioner, len(solver.rhs())
                x, y = np.random.default_rng(1).standard_normal((2, n))
                self.assertLess(abs(x @ (m @ y) - y @ (m @ x)), 1e-6 * np.sqrt((x @ (m @ x)) * (y @ (m @ y))))
                both = np.stack([solver.precondition(x), m.T @ y], axis=1)
                np.testing.assert_array_equal(m @ np.stack([x, y], axis=1), both)
                np.testing.assert_array_equal(solver.precondition(x + 1j * y), m @ x + 1j * (m @ y))
        solver = self.solver(kedge.square(9), preconditioner="multigrid")
        start = np.random.default_rng(1).standard_normal((len(solver.rhs()), 3))
        found = lobpcg(solver.operator, start, M=solver.preconditioner, largest=False, maxiter=40, tol=1e-7)[0]
        np.testing.assert_allclose(sorted(found), np.linalg.eigvalsh(solver.matrix().toarray())[:3], rtol=1e-6)

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_the_inverse_is_symmetric_in_the_product_of_the_mass(self):
        for solver in self.solvers():
            for more in {}, {"diffusion": (2, 0.5, 1), "reaction": 3}, {"diffusion": "1 + x^2"}:
                with self.subTest(solver, **more):
                    solver.update(tolerance=1e-13, **more)
                    inverse, mass = solver.inverse, solver.mass
                    f, g = np.random.default_rng(2).standard_normal((2, inverse.shape[0]))
                    one, other = g @ (mass @ (inverse @ f)), f @ (mass @ (inverse @ g))
                    self.assertLess(abs(one - other), 1e-10 * abs(one))
                    self.assertGreater(f @ (mass @ (inverse @ f)), 0)

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_the_inverse_solves_with_boundary_values_of_zero(self):
        for solver in self.solvers():
            with self.subTest(solver):
                x, y = solver.solve().nodes().reshape(-1, 2).T
                groups = {solver.mesh.groups[k].name: 0 for k in np.unique(solver.mesh.boundary[2])}
                bends = solver.mesh.info["geometry"] > 1  # where x y is no polynomial of order 3 of the elements
                source = -2 + 0 * x if bends else x * y - 2
                u = solver.solve("-2" if bends else "x*y - 2", boundary=groups).u.ravel()
                columns = np.stack([source, -2 * source], axis=1)
                found = solver.inverse @ columns
                np.testing.assert_allclose(found, np.stack([u, -2 * u], axis=1), rtol=0, atol=1e-9 * abs(u).max())
                turned = solver.inverse @ (1j * columns[:, 0])
                np.testing.assert_allclose(turned, 1j * u, rtol=0, atol=1e-9 * abs(u).max())

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_the_inverse_knows_no_data_of_the_problem(self):
        mesh = kedge.Mesh([[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], lines={"wall": [[0, 1]]})
        found = []
        for more in {"source": "x"}, {"exact": "sin(x)*y"}, {"source": 4}:
            boundary = {"wall": kedge.Dirichlet("x + 5"), "default": kedge.Robin(2, "y")}
            found.append(kedge.Solver(mesh, kedge.Problem(order=2, boundary=boundary, tolerance=1e-13, **more),
                                      self.context).inverse @ np.ones(12))
        self.assertGreater(found[0].max(), 0)
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-11 * found[0].max())

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_the_mass_integrates_products_exactly(self):
        for solver in (*self.solvers(), self.solver(kedge.ring(1, 5, quads=True, geometry=5), order=4)):
            with self.subTest(solver):
                mass, s = solver.mass, solver.solve()
                weight, _, values = s.quadrature("u", points=16)
                u, one = s.u.ravel(), np.ones(mass.shape[0])
                self.assertAlmostEqual(u @ (mass @ u) / (weight * values**2).sum(), 1, delta=1e-12)
                self.assertAlmostEqual(one @ (mass @ one) / solver.mesh.area, 1, delta=1e-12)
                begin, end = s.offsets()[2:4]
                block = mass.tocsr()[begin:end, begin:end].toarray()
                self.assertGreater(np.linalg.eigvalsh(block)[0], 0)
                self.assertAlmostEqual(block.sum() / weight[2].sum(), 1, delta=1e-12)
                self.assertEqual(mass.tocsr()[begin:end].nnz, block.size)
                if mass.format == "bsr":
                    np.testing.assert_array_equal(mass.data[2], block)

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_eigenvalues_converge_at_twice_the_order_and_one(self):
        exact, errors = np.pi**2 * np.array([2, 5, 5, 8]), []
        for n in 5, 10:
            problem = kedge.Problem(order=2, boundary=everywhere(kedge.Dirichlet(0)), tolerance=1e-13)
            solver = kedge.Solver(kedge.square(n), problem, self.context)
            found = eigsh(aslinearoperator(solver.mass) @ solver.inverse, 4, solver.mass)[0]
            errors.append(max(abs(np.sort(1 / found) / exact - 1)))
        self.assertGreater(np.log2(errors[0] / errors[1]), 4.7)

    @unittest.skipUnless(scipy, "SciPy is not installed")
    def test_an_inverse_is_that_of_the_solver_as_it_is(self):
        solver = self.solver(kedge.square(3), order=2)
        inverse = solver.inverse
        one = np.ones(inverse.shape[0])
        before = inverse @ one
        solver.update(diffusion=4 * 45, boundary={"left": kedge.Robin(8, 1)})
        np.testing.assert_allclose(inverse @ one, before / 4, rtol=0, atol=1e-10 * before.max())
        solver.update(order=1)
        said = "of order 2, and the solver of order 1 since an update; take solver.inverse again"
        with self.assertRaisesRegex(kedge.InputError, said):
            inverse @ one
        self.assertEqual(solver.inverse.shape, solver.mass.shape)
        solver.update(max_iterations=1, preconditioner="jacobi")
        with self.assertRaises(kedge.NotConverged):
            solver.inverse @ np.ones(solver.mass.shape[0])

    def test_a_trace_that_is_no_solution_says_so(self):
        solver = self.solver(kedge.square(3))
        n = len(solver.rhs())
        s = solver.recover(np.ones(n))
        self.assertGreater(s.report.relative_residual, 1e-3)
        self.assertEqual((s.report.stop, s.report.converged), ("limit", False))
        self.assertTrue(np.all(unknowns(solver, s) == 1))
        with self.assertRaisesRegex(kedge.InputError, "unknown 0 of the trace is nan"):
            solver.recover(np.full(n, np.nan))
        for call, name in ((solver.recover, "trace"), (solver.apply, "x"), (solver.precondition, "r")):
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
        with self.assertRaisesRegex(kedge.Unsupported, "take precision = double or mixed"):
            solver.precondition(np.ones(len(solver.rhs())))
        with self.assertRaisesRegex(kedge.InputError, "Neumann|neumann"):
            kedge.Solver(kedge.square(2), kedge.Problem(boundary=everywhere(kedge.Neumann(0))), self.context)

    def test_without_scipy_one_sentence_says_what_to_do(self):
        solver = self.solver(kedge.square(2))
        with mock.patch.dict(sys.modules, {name: None for name in sys.modules if name.startswith("scipy")} | {"scipy": None}):
            for name, what in (("matrix", solver.matrix), ("operator", lambda: solver.operator),
                               ("inverse", lambda: solver.inverse), ("mass", lambda: solver.mass),
                               ("preconditioner", lambda: solver.preconditioner)):
                with self.assertRaisesRegex(ImportError, rf"Solver\.{name} needs SciPy \(.*\): pip install scipy"):
                    what()
            self.assertEqual(solver.apply(np.zeros(len(solver.rhs()))).max(), 0)


if __name__ == "__main__":
    unittest.main()
