"""Arrays in the memory of a GPU: of CuPy and PyTorch, where they are installed; and how arrays are shared, with NumPy."""
import inspect
import re
import unittest
import warnings

import numpy as np
from support import BACKEND, backend, everywhere

import kedge
from kedge.dlpack import Borrowed, on_gpu

try:
    import scipy.sparse.linalg
except ImportError:
    scipy = None
cupy = torch = None
if BACKEND == "cuda":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what packages warn of is not ours
        try:
            import cupyx.scipy.sparse.linalg
            import cupy
        except ImportError:
            pass
        try:
            import torch
        except ImportError:
            pass


class OnGpu:
    """An array of NumPy that says that it is on a GPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream):
        assert stream == 1
        return self.array.__dlpack__()


def packages():
    """Names and functions that bring an array of NumPy to the GPU; and back."""
    if cupy:
        yield "cupy", cupy.asarray, cupy.asnumpy
    if torch and torch.cuda.is_available():
        yield "torch", lambda x: torch.from_numpy(x).cuda(), lambda x: x.cpu().numpy()


class Device(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()

    def solver(self, mesh=None, **more):
        boundary = dict(everywhere(kedge.Dirichlet("x")), top=kedge.Neumann("y"), left=kedge.Robin(2, 1))
        return kedge.Solver(mesh or kedge.mixed(5), kedge.Problem(order=3, diffusion=45, source="exp(x)", boundary=boundary,
                                                                  **more), self.context)

    @unittest.skipUnless(hasattr(np, "from_dlpack"), "NumPy shares nothing before 1.23")
    def test_a_shared_array_is_read_where_it_lies(self):
        x = np.arange(6.0)
        self.assertEqual(Borrowed("x", OnGpu(x), (6,)).address, x.ctypes.data)
        self.assertEqual(Borrowed("x", OnGpu(x[2:]), (4,)).address, x[2:].ctypes.data)
        self.assertEqual(Borrowed("x", OnGpu(x.reshape(2, 3)), (2, 3)).address, x.ctypes.data)
        self.assertEqual([on_gpu(one) for one in (OnGpu(x), x, [1.0], 2)], [True, False, False, False])
        with self.assertRaisesRegex(TypeError, "x is on a GPU and not of float64"):
            Borrowed("x", OnGpu(np.zeros(6, np.float32)), (6,))
        with self.assertRaisesRegex(ValueError, r"x has the shape \(6,\); it takes \(5,\)"):
            Borrowed("x", OnGpu(x), (5,))
        for apart, shape in ((x[::2], (3,)), (x.reshape(2, 3).T, (3, 2)), (x.reshape(2, 3)[:, :2], (2, 2))):
            with self.assertRaisesRegex(ValueError, "x is on a GPU and its numbers lie apart"):
                Borrowed("x", OnGpu(apart), shape)
        with self.assertRaisesRegex(TypeError, "x is an array on a GPU that is not shared: "):
            Borrowed("x", OnGpu(np.zeros(6, ">f8")), (6,))

    @unittest.skipUnless(hasattr(np, "from_dlpack"), "NumPy shares nothing before 1.23")
    def test_fields_are_shared_without_a_copy(self):
        s = self.solver().solve()
        for array in (s.u, s.q, s.u_star, s.trace()[1]):
            self.assertTrue(np.shares_memory(np.from_dlpack(array), array))

    @unittest.skipUnless(BACKEND == "host", "of the host")
    def test_arrays_on_a_gpu_are_refused_by_solvers_on_the_host(self):
        solver = self.solver()
        x = np.zeros(len(solver.rhs()))
        with self.assertRaisesRegex(ValueError, "x is an array on a GPU, and this solver is on the host; copy it"):
            solver.apply(OnGpu(x))
        with self.assertRaisesRegex(TypeError, "out goes with an array x on a GPU"):
            solver.apply(x, out=x)
        with self.assertRaisesRegex(ValueError, "r is an array on a GPU, and this solver is on the host; copy it"):
            solver.precondition(OnGpu(x))
        with self.assertRaisesRegex(TypeError, "out goes with an array r on a GPU"):
            solver.precondition(x, out=x)
        with self.assertRaisesRegex(TypeError, "out is OnGpu; a solver on the host fills arrays of NumPy, of float64"):
            solver.rhs(out=OnGpu(x))

    @unittest.skipUnless(BACKEND == "host", "of the host")
    def test_a_right_hand_side_fills_an_array_of_the_host(self):
        solver = self.solver()
        b = solver.rhs("x")
        out = np.zeros_like(b)
        self.assertIs(solver.rhs("x", out=out), out)
        np.testing.assert_array_equal(out, b)
        with self.assertRaisesRegex(ValueError, r"out has the shape \(3,\); it takes .*, the unknowns of the trace"):
            solver.rhs(out=np.zeros(3))

    def fills(self, bring, fetch):
        """Solves that fill arrays, on meshes of one shape and of both."""
        for mesh, fields in ((kedge.square(5), ("u", "u_star", "qx", "qy")), (kedge.quads(4), ("u", "u_star")),
                             (kedge.mixed(5), ("u", "u_star"))):
            for kept in ("full", "cells"):
                solver = self.solver(mesh, fields=kept)
                arrays = {field: bring(np.full(solver.shape(field), np.nan)) for field in fields}
                s, full = solver.solve("x*y", into=arrays), self.solver(mesh).solve("x*y")
                for field, array in arrays.items():
                    with self.subTest(f"{mesh} {field} {kept}"):
                        expected = full.u_star if field == "u_star" else full.values(field)
                        self.assertEqual(solver.shape(field), expected.shape)
                        np.testing.assert_allclose(fetch(array), expected, rtol=0, atol=1e-12 * abs(expected).max())
                self.assertTrue(s.report.converged)
                plan = kedge.plan(mesh, solver.problem, solver.context, solver=True)
                kept = plan["peak_bytes"] + plan["values_bytes"] + plan["solution_bytes"]
                self.assertTrue(kept < s.report.peak_device_bytes <= kept + len(fields) * plan["table_bytes"])
                self.assertEqual(s.report.predicted_device_bytes, s.report.peak_device_bytes)

    @unittest.skipUnless(BACKEND == "host", "of the host")
    def test_arrays_of_the_host_are_filled(self):
        self.fills(lambda x: x, lambda x: x)

    @unittest.skipUnless(BACKEND == "host", "of the host")
    def test_arrays_that_cannot_be_filled_are_refused(self):
        solver = self.solver()
        n, = solver.shape("u")
        frozen = np.zeros(n)
        frozen.flags.writeable = False
        for into, kind, sentence in (
                ({"u": np.zeros(3)}, ValueError, rf"into\['u'\] has the shape \(3,\); it takes \({n},\), values at nodes"),
                ({"u": np.zeros(n, np.float32)}, TypeError, "is an array of float32; a solver on the host fills arrays of NumPy, of float64"),
                ({"u": [0.0] * n}, TypeError, r"into\['u'\] is list; a solver on the host fills arrays of NumPy"),
                ({"u": np.zeros(2 * n)[::2]}, ValueError, r"into\['u'\] cannot be filled: its numbers lie apart"),
                ({"u": frozen}, ValueError, r"into\['u'\] cannot be filled: .* read-only"),
                ({"sigma_x": np.zeros(n)}, ValueError, r"into\['sigma_x'\] is no field that a solve fills arrays with"),
                ({"qx": np.zeros(n)}, kedge.Unsupported, "qx and qy on the device are there for straight triangles"),
                (np.zeros(n), TypeError, r"it takes a dict \{field: array\}")):
            with self.subTest(sentence), self.assertRaisesRegex(kind, sentence):
                solver.solve(into=into)
        with self.assertRaisesRegex(TypeError, "into takes arrays for one solution"):
            solver.solve(sources=[1], into={})

    @unittest.skipUnless(any(packages()), "neither CuPy nor PyTorch is installed with a GPU")
    def test_arrays_on_the_gpu_are_filled(self):
        for name, bring, fetch in packages():
            with self.subTest(name):
                self.fills(bring, fetch)
        solver = self.solver()
        with self.assertRaisesRegex(TypeError, r"into\['u'\] is no array on a GPU, where the solver is"):
            solver.solve(into={"u": np.zeros(solver.shape("u"))})

    @unittest.skipUnless(any(packages()), "neither CuPy nor PyTorch is installed with a GPU")
    def test_fields_of_waves_fill_arrays_on_the_gpu(self):
        problem = kedge.Problem(system="maxwell", order=2, boundary={"default": kedge.Absorbing()})
        m = kedge.march(kedge.cube(3), problem, {"Ey": "x*y"}, end=1, backend=self.context)
        s = m.step()
        for name, bring, fetch in packages():
            for order in 2, 1, 4:
                with self.subTest(name, order=order):
                    array = bring(np.full(s.values("Ey", order).shape, np.nan))
                    self.assertIs(s.values("Ey", order, into=array), array)
                    np.testing.assert_allclose(fetch(array), s.values("Ey", order), atol=1e-6)
            x = bring(np.array([0.3, 0.7]))
            np.testing.assert_allclose(fetch(s(x, x, x, "Ey")), s([0.3, 0.7], [0.3, 0.7], [0.3, 0.7], "Ey"), atol=1e-6)
        with self.assertRaisesRegex(TypeError, "into is no array on a GPU, where the march is"):
            s.values("Ey", into=np.zeros((162, 10)))

    def coefficients(self, bring):
        """Arrays of one number an element, and a trace, as those of the host."""
        solver = self.solver()
        x = np.random.default_rng(3).standard_normal(len(solver.rhs()))
        np.testing.assert_array_equal(solver.recover(bring(x)).u, solver.recover(x).u)
        found, expected = (self.solver(kedge.square(4)) for _ in range(2))
        values = np.linspace(1, 2, found.mesh.elements)
        for one, array in ((found, bring(values)), (expected, values)):
            one.update(diffusion=array)
        np.testing.assert_array_equal(found.solve(bring(values)).u, expected.solve(values).u)
        for field in "sigma", "u_star":  # of a problem that the host reads too
            np.testing.assert_array_equal(getattr(found.solve(), field), getattr(expected.solve(), field))
        for diffusion in ((2 * values, 0.1 * values, values), np.where(values > 1.5, -1.0, values), values[1:]):
            sentences = []
            for one, take in ((found, bring), (expected, lambda array: array)):
                try:
                    one.update(diffusion=tuple(map(take, diffusion)) if isinstance(diffusion, tuple) else take(diffusion))
                    sentences.append(one.solve().sigma)
                except kedge.InputError as error:
                    sentences.append(str(error))
                one.update(diffusion=take(values))
            np.testing.assert_array_equal(*sentences)
        for one, other in zip(found.solve(sources=[bring(k * values) for k in (1, 2, 3)]),
                              expected.solve(sources=[k * values for k in (1, 2, 3)])):
            np.testing.assert_array_equal(one.u, other.u)
        sentences = []
        for one, array in ((found, bring(np.append(values[1:], np.nan))), (expected, np.append(values[1:], np.nan))):
            with self.assertRaisesRegex(ValueError, f"source is nan at .*in element {len(values) - 1} ") as caught:
                one.solve(array)
            sentences.append(str(caught.exception))
        self.assertEqual(*sentences)

    @unittest.skipUnless(hasattr(np, "from_dlpack"), "NumPy shares nothing before 1.23")
    def test_arrays_on_a_gpu_serve_solvers_on_the_host_and_on_the_gpu(self):
        class WithGet(OnGpu):
            ndim, dtype = 1, np.dtype(float)
            shape = property(lambda self: self.array.shape)

            def copy(self):
                return WithGet(self.array.copy())

            def get(self):
                return self.array

        s = self.solver().solve()
        at = np.array([0.2, 0.7])
        for _, bring, _ in packages():
            self.coefficients(bring)
        if BACKEND == "cuda":
            return
        self.coefficients(WithGet)
        np.testing.assert_array_equal(s(WithGet(at), WithGet(at)), s(at, at))
        with self.assertRaisesRegex(TypeError, "^trace is an array on a GPU; copy it to the host"):
            self.solver().recover(OnGpu(np.zeros(3)))

    @unittest.skipUnless(any(packages()), "neither CuPy nor PyTorch is installed with a GPU")
    def test_products_on_the_gpu_are_those_of_the_host(self):
        solver = self.solver()
        x = np.random.default_rng(1).standard_normal(len(solver.rhs()))
        y, z = solver.apply(x), solver.precondition(x)
        for name, bring, fetch in packages():
            with self.subTest(name):
                there = bring(x)
                np.testing.assert_array_equal(fetch(solver.precondition(2 * there - there)), z)
                found = solver.apply(there)
                self.assertIs(type(found), type(there))
                np.testing.assert_array_equal(fetch(found), y)
                np.testing.assert_array_equal(fetch(solver.apply(2 * there - there)), y)  # which is still on its way
                self.assertIs(solver.apply(there, out=there), there)
                np.testing.assert_array_equal(fetch(there), y)
                with self.assertRaisesRegex(TypeError, "out is no array on a GPU"):
                    solver.apply(there, out=x)
                with self.assertRaisesRegex(TypeError, "out is no array on a GPU"):
                    solver.rhs(out=x)

    @unittest.skipUnless(any(packages()), "neither CuPy nor PyTorch is installed with a GPU")
    def test_points_on_the_gpu_have_the_values_of_the_host(self):
        random = np.random.default_rng(5)
        host = kedge.Context("host")
        for mesh in (kedge.square(30), kedge.quads(20, map=("x + 0.1*y^2", "y"), geometry=2), kedge.mixed(20),
                     kedge.disk(12, geometry=3),
                     kedge.Mesh.generate("cube 6", map=("x + 0.1*y*z", "y", "z - 0.1*x^2"), geometry=1)):
            in_space = mesh.info["dimension"] == 3
            order, coordinates = (3, random.uniform(-0.1, 1.1, (3, 1000, 50))) if in_space else (
                4, random.uniform(-0.1, 1.1, (2, 1000, 500)))
            problem = kedge.Problem(order=order, source="exp(x)", tolerance=1e-12,
                                    boundary={"default": kedge.Dirichlet("x")})
            solver = kedge.Solver(mesh, problem, self.context)
            there, here = solver.solve(on_failure="warn"), kedge.solve(mesh, problem, host, on_failure="warn")
            for name, bring, fetch in packages():
                with self.subTest(name, mesh=mesh):
                    at = [bring(np.ascontiguousarray(one)) for one in coordinates]
                    for field in ("u_star", "qx", "u_star", "q", "sigma"):
                        found, expected = there(*at, field), there(*coordinates, field)
                        self.assertIs(type(found), type(at[0]))
                        self.assertEqual(tuple(found.shape), expected.shape)
                        np.testing.assert_allclose(fetch(found), expected, rtol=0, atol=1e-12 * np.nanmax(abs(expected)))
                        np.testing.assert_allclose(fetch(found), here(*coordinates, field), rtol=0, atol=1e-7)
                    if not in_space:  # where no solve fills arrays yet
                        nodes = bring(np.zeros(solver.shape("u_star")))
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", kedge.Note)
                            solver.solve(into={"u_star": nodes}, on_failure="warn")
                        np.testing.assert_allclose(fetch(there(*at, nodes)), fetch(there(*at)), rtol=0, atol=1e-13)
                    nodes = bring(there.u_star)
                    np.testing.assert_allclose(fetch(there(*at, nodes)), fetch(there(*at)), rtol=0, atol=1e-13)
                    bad = np.flatnonzero(np.isnan(here(*coordinates)))
                    first = ", ".join(f"{one.flat[bad[0]]:g}" for one in coordinates)
                    says = f"{len(bad)} of {coordinates[0].size} points lie outside of the mesh, the first at ({first})"
                    with self.assertRaisesRegex(ValueError, re.escape(says)):
                        there(*at, outside="raise")
                    last = "xyz"[len(at) - 1]
                    with self.assertRaisesRegex(TypeError, f"{last} is no array on a GPU, where x is one"):
                        there(*at[:-1], coordinates[-1])

    @unittest.skipUnless(any(packages()), "neither CuPy nor PyTorch is installed with a GPU")
    def test_systems_are_made_on_the_gpu(self):
        solver = self.solver()
        source = np.linspace(1, 2, solver.mesh.elements)
        b = solver.rhs(source)
        for name, bring, fetch in packages():
            with self.subTest(name):
                out = bring(np.zeros(len(b)))
                self.assertIs(solver.rhs(bring(source), out=out), out)
                np.testing.assert_array_equal(fetch(out), b)
                with self.assertRaisesRegex(TypeError, "source is on a GPU and not of float64; convert it"):
                    solver.rhs(bring(source.astype(np.float32)))
                with self.assertRaisesRegex(ValueError, r"source has the shape \(3,\); it takes .*, one number an element"):
                    solver.solve(bring(np.zeros(3)))

    @unittest.skipUnless(cupy and scipy, "CuPy is not installed, or there is no GPU")
    def test_iterations_of_cupy_run_on_the_operator(self):
        cg = cupyx.scipy.sparse.linalg.cg
        solver = self.solver(tolerance=1e-12)
        b = cupy.asarray(solver.rhs())
        tolerance = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"  # later versions, earlier ones
        x, failed = cg(solver.operator, b, maxiter=5000, **{tolerance: 1e-12})
        self.assertEqual((failed, type(solver.operator @ x)), (0, cupy.ndarray))
        self.assertIs(type(solver.preconditioner @ x), cupy.ndarray)
        other, failed = cg(solver.operator, b, M=solver.preconditioner, maxiter=500, **{tolerance: 1e-12})
        np.testing.assert_allclose(cupy.asnumpy(other), cupy.asnumpy(x), rtol=0, atol=1e-8 * float(abs(x).max()))
        found, s = solver.recover(cupy.asnumpy(x)), solver.solve()
        np.testing.assert_allclose(found.u_star, s.u_star, rtol=0, atol=1e-8 * abs(s.u_star).max())

    @unittest.skipUnless(cupy, "CuPy is not installed, or there is no GPU")
    def test_other_streams_are_waited_for(self):
        solver = self.solver()
        x = np.random.default_rng(2).standard_normal(len(solver.rhs()))
        y = solver.apply(x)
        with cupy.cuda.Stream(non_blocking=True):
            work, there = cupy.ones(20_000_000), cupy.asarray(x)
            for _ in range(100):
                work = cupy.cos(work)
            found = solver.apply(there + 0 * work[:len(x)])
            np.testing.assert_array_equal(cupy.asnumpy(found), y)


if __name__ == "__main__":
    unittest.main()
