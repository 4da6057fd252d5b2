"""Tetrahedra: data of x, y, z, several right-hand sides, and SciPy's operators."""
import unittest
import warnings

import numpy as np
from support import backend

import kedge

try:
    from scipy.sparse.linalg import cg, spsolve
except ImportError:
    cg = None

SIDES = ("x0", "x1", "y0", "y1", "z0", "z1")
TENSOR = "2 + x, 0.5*y, -0.2*z, 1.5 + y, 0.3*x, 3 - x*z"
FUNCTIONS = (lambda x, y, z: 2 + x, lambda x, y, z: y / 2, lambda x, y, z: -z / 5, lambda x, y, z: 1.5 + y,
             lambda x, y, z: 0.3 * x, lambda x, y, z: 3 - x * z)
EXACT = (lambda x, y, z: np.exp(x) * np.sin(2 * z) + y, lambda x, y, z: np.exp(x) * np.sin(2 * z), lambda x, y, z: 1,
         lambda x, y, z: np.exp(x) * 2 * np.cos(2 * z))


def cube(n=2):
    """A cube of two regions, below and above z = 1/2, whose elements come in an order that is not kedge's."""
    mesh = kedge.Mesh.generate(f"cube {n}")
    cells = mesh.cells["tetra"]
    cells = np.random.default_rng(3).permutation(cells)
    above = mesh.points[cells].mean(axis=1)[:, 2] > 0.5
    elements, sides, groups = mesh.boundary
    corners = mesh.cells["tetra"]
    faces = {}
    for k, name in enumerate(SIDES):
        here = [np.delete(corners[e], s) for e, s, g in zip(elements, sides, groups) if mesh.groups[g].name == name]
        faces[name] = np.array(here)
    return kedge.Mesh(mesh.points, {"tetra": cells}, faces, regions=list(np.where(above, "above", "below"))), above


class Space(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()
        cls.mesh, cls.above = cube()

    def solve(self, **arguments):
        boundary = {"boundary": {"default": kedge.Dirichlet("x - z")}, "source": 1, "order": 2, "tolerance": 1e-13}
        with warnings.catch_warnings():  # what is solved here need not be what the exact solution solves
            warnings.simplefilter("ignore", kedge.Note)
            return kedge.solve(self.mesh, kedge.Problem(**{**boundary, **arguments}), self.context, on_failure="warn")

    def same(self, a, b):
        for field in "u", "q", "sigma", "u_star":
            np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=0, atol=1e-10)

    def test_functions_of_three_coordinates_are_expressions(self):
        def through(x, y, z, normal):  # 3 where the normal is that of z
            return normal[0] + 2 * normal[1] + 3 * normal[2]

        text = self.solve(diffusion=TENSOR, reaction="1 + y*z", source="x + exp(y*z)", exact="exp(x)*sin(2*z) + y",
                          boundary={"default": kedge.Dirichlet(), "x0": kedge.Neumann("1 + z"),
                                    "z1": kedge.Robin("1 + x", 3)})
        calls = self.solve(diffusion=FUNCTIONS, reaction=lambda x, y, z: 1 + y * z,
                           source=lambda x, y, z: x + np.exp(y * z), exact=EXACT,
                           boundary={"default": kedge.Dirichlet(), "x0": kedge.Neumann(lambda x, y, z: 1 + z),
                                     "z1": kedge.Robin(lambda x, y, z: 1 + x, through)})
        self.same(text, calls)
        for name, error in text.report.errors.items():
            self.assertAlmostEqual(calls.report.errors[name] / error, 1, 6, name)

    def test_functions_and_arrays_by_region_are_those_of_text(self):
        array = np.where(self.above[:, None], [2, 0.5, -0.3, 1.5, 0.7, 3.5], [1, 0, 0, 1, 0, 1])
        text = self.solve(diffusion={"above": "2, 0.5, -0.3, 1.5, 0.7, 3.5", "below": 1})
        self.same(text, self.solve(diffusion=array))
        self.same(text, self.solve(diffusion=tuple(array.T)))
        text = self.solve(diffusion={"above": TENSOR, "below": 3}, source={"above": "z", "below": 2})
        calls = self.solve(diffusion={"above": FUNCTIONS, "below": 3},
                           source={"above": lambda x, y, z: z, "below": 2})
        self.same(text, calls)
        for key in "reaction", "source":
            text = self.solve(**{key: {"above": 3, "below": 0.5}})
            self.same(text, self.solve(**{key: np.where(self.above, 3, 0.5)}))

    def test_data_that_do_not_fit_are_refused(self):
        square = kedge.square(2)
        cases = [
            (self.mesh, dict(source=1, exact=EXACT[:3]), "with two derivatives, and .* of space: give u, du_dx"),
            (square, dict(source=1, exact=EXACT), "with three derivatives, and .* of the plane: give u, du_dx and"),
            (self.mesh, dict(diffusion=FUNCTIONS[:3]), "diffusion is a tensor of three numbers, .* a mesh of space"),
            (square, dict(diffusion=FUNCTIONS), "diffusion is a tensor of six numbers, .* a mesh of the plane"),
            (self.mesh, dict(source=lambda x, y: x), r"source: the function <lambda> raised TypeError.* 2 positional"),
            (self.mesh, dict(source=np.ones(7)), "source has 7 numbers, one an element, and the mesh has 48"),
        ]
        for mesh, arguments, sentence in cases:
            with self.assertRaisesRegex(kedge.InputError, sentence):
                kedge.solve(mesh, kedge.Problem(boundary={"default": kedge.Dirichlet(0)}, **arguments), self.context)
        for arguments, sentence in [(dict(exact=EXACT[:2]), "three functions .*, in space four with du_dz"),
                                    (dict(diffusion=FUNCTIONS[:4]), "three of them, in space six"),
                                    (dict(diffusion=(*FUNCTIONS[:5], "x")), "make all of them the one or the other")]:
            with self.assertRaisesRegex(kedge.WrongType, sentence):
                kedge.Problem(**arguments)
        with self.assertRaisesRegex(kedge.InputError, r"\(n, 3\), xx, xy, yy of a tensor, in space \(n, 6\)"):
            kedge.Problem(diffusion=np.ones((48, 4)))

    def test_a_solver_takes_sources_updates_and_starts(self):
        boundary = {"default": kedge.Dirichlet("y"), "x1": kedge.Neumann(1)}
        problem = kedge.Problem(order=3, source="x", boundary=boundary, tolerance=1e-13)
        solver = kedge.Solver(self.mesh, problem, self.context)

        def alone(**arguments):
            return self.solve(**{"order": 3, "boundary": boundary, **arguments})

        sources = ["x*z", lambda x, y, z: np.sin(3 * z), np.arange(48.0), {"above": 2, "below": "x"}]
        many = solver.solve(sources=sources[:3])
        for source, one in zip(sources, [*many, None]):
            expected = alone(source=source)
            self.same(expected, solver.solve(source))
            if one is not None:
                self.same(expected, one)
        s = solver.solve("x*z", {"default": "x*z", "x1": "y"})
        other = {"default": kedge.Dirichlet("x*z"), "x1": kedge.Neumann("y")}
        self.same(s, alone(source="x*z", boundary=other))
        again = solver.solve("x*z", {"default": "x*z", "x1": "y"}, start=s)
        self.assertLess(again.report.start_residual, 1e-10)
        self.assertLessEqual(again.report.iterations, 1)
        solver.update(diffusion=TENSOR, order=2)
        self.same(solver.solve("z"), alone(order=2, source="z", diffusion=TENSOR))
        named = kedge.Problem(order=2, source="k*x", parameters={"k": 1}, tolerance=1e-13, boundary={
            "default": kedge.Dirichlet("k*y"), "z1": kedge.Neumann("k")})
        solver = kedge.Solver(self.mesh, named, self.context)
        expected = kedge.solve(self.mesh, named.replace(parameters={"k": 3}), self.context)
        self.same(solver.solve(parameters={"k": 3}), expected)
        self.same(solver.solve(boundary={"z1": kedge.Neumann(3)}, parameters={"k": 3}), expected)
        with self.assertRaisesRegex(kedge.WrongType, "is a kedge.Dirichlet, and the solver keeps kedge.Neumann there"):
            solver.solve(boundary={"z1": kedge.Dirichlet(3)})
        for array in np.empty(solver.shape("u")), None:  # no other array would do
            with self.assertRaisesRegex(kedge.Unsupported, "values on the device are of plane meshes so far: take them"):
                solver.solve(into={"u": array})

    def test_solutions_and_expressions_of_them_are_data(self):
        polynomial = "x*y - z^2 + y"
        s = self.solve(exact=polynomial, source="2", boundary={"default": kedge.Dirichlet()}, diffusion=1)
        np.testing.assert_allclose(s.values("qz", 1), -2 * s.nodes(1)[..., 2], atol=1e-10)
        numbers = np.linspace(0, 1, 48)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected = self.solve(source=f"1 + ({polynomial})^2", reaction=numbers)
            self.same(expected, self.solve(source=1 + s**2, reaction=numbers))
            self.same(self.solve(source=polynomial), self.solve(source=s))
            self.same(self.solve(source="-2*z"), self.solve(source=s.field("qz")))
            other = self.solve(diffusion=lambda x, y, z: 1 + 0 * x, source=2, exact=polynomial,
                               boundary={"default": kedge.Dirichlet()})
            self.same(self.solve(source="-2*z"), self.solve(source=other.field("qz")))  # by polynomials of elements
            self.same(self.solve(diffusion=f"5 + ({polynomial})"), self.solve(diffusion=5 + s))
        with self.assertRaisesRegex(kedge.InputError, "q is a vector, .* take its parts: qx, qy, qz"):
            s.field("q")

    @unittest.skipUnless(cg, "SciPy is not installed")
    def test_operators_of_scipy_are_those_of_the_solver(self):
        for order, more in (1, {}), (2, {"diffusion": TENSOR}), (3, {"preconditioner": "multigrid"}):
            boundary = {"default": kedge.Dirichlet("x"), "y1": kedge.Robin(2, 1), "z0": kedge.Neumann("y")}
            problem = kedge.Problem(order=order, source="exp(x)", reaction=1, boundary=boundary, tolerance=1e-13,
                                    **more)
            solver = kedge.Solver(self.mesh, problem, self.context)
            a, b, s = solver.matrix(), solver.rhs(), solver.solve()
            modes = (order + 1) * (order + 2) // 2
            self.assertEqual((a.shape[0], len(solver.edges) * modes), (len(b), len(b)))
            self.assertTrue(np.all(np.diff(solver.edges) > 0) and solver.edges[-1] < self.mesh.edges)
            self.assertLess(abs(a - a.T).max(), 1e-13 * abs(a).max())
            x = np.random.default_rng(1).standard_normal(len(b))
            np.testing.assert_allclose(solver.operator @ x, a @ x, rtol=0, atol=1e-12 * abs(a @ x).max())
            found = solver.recover(spsolve(a.tocsc(), b))
            self.same(s, found)
            y, z = solver.preconditioner @ x, np.random.default_rng(2).standard_normal(len(b))
            self.assertAlmostEqual(z @ y, x @ (solver.preconditioner @ z), 6)
            self.assertGreater(x @ y, 0)
            y, failed = cg(solver.operator, b, M=solver.preconditioner, maxiter=500, atol=0)
            self.assertEqual(failed, 0)
            self.assertLess(solver.recover(y).report.relative_residual, 1e-4)

    @unittest.skipUnless(cg, "SciPy is not installed")
    def test_mass_and_inverse_find_eigenvalues_of_a_cube(self):
        mesh = kedge.Mesh.generate("cube 2")
        problem = kedge.Problem(order=3, boundary={"default": kedge.Dirichlet(0)}, source=0, tolerance=1e-13)
        solver = kedge.Solver(mesh, problem, self.context)
        mass, inverse = solver.mass, solver.inverse
        nodes = kedge.solve(mesh, problem.replace(source=1), self.context).nodes().reshape(-1, 3)
        x, y, z = nodes.T
        self.assertAlmostEqual(x @ mass @ (y * z), 1 / 8, 13)
        self.assertAlmostEqual((x * z) @ mass @ (x * z**2), 1 / 12, 13)
        expected = kedge.solve(mesh, problem.replace(source="x + z^3"), self.context).u.ravel()
        np.testing.assert_allclose(inverse @ (x + z**3), expected, rtol=0, atol=1e-12)
        f, g = np.random.default_rng(1).standard_normal((2, len(x)))
        self.assertAlmostEqual(f @ mass @ (inverse @ g), g @ mass @ (inverse @ f), 10)
        v = np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(np.pi * z) + 0.1 * x
        for _ in range(8):  # powers of the inverse
            v = inverse @ (v / np.sqrt(v @ mass @ v))
        self.assertLess(abs(1 / np.sqrt(v @ mass @ v) / (3 * np.pi**2) - 1), 2e-3)


if __name__ == "__main__":
    unittest.main()
