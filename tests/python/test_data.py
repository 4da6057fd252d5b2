"""Arrays of one number an element, and solutions, as data of problems."""
import gc
import pickle
import unittest
import warnings
import weakref

import numpy as np
from support import backend, sines

import kedge

POLYNOMIAL = "2 + x*y - y^2/2"


class Shared:
    """An array that only DLPack gives away."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnGpu(np.ndarray):
    __cuda_array_interface__ = {}


class Data(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()
        halves = np.array(["left half", "right half"])
        square = kedge.square(4)
        middle = square.nodes.reshape(-1, 3, 2).mean(axis=1)
        points, triangles = square.nodes, np.arange(len(square.nodes)).reshape(-1, 3)
        points, same = np.unique(points.round(12), axis=0, return_inverse=True)
        order = np.random.default_rng(1).permutation(len(triangles))  # not kedge's order
        cls.right = (middle[order, 0] > 0.5).astype(int)
        cls.mesh = kedge.Mesh(points, same.ravel()[triangles][order], regions=list(halves[cls.right]))

    def solve(self, mesh, **arguments):
        boundary = {"boundary": {"default": kedge.Dirichlet("x - y")}, "source": 1, "order": 2, "tolerance": 1e-13}
        return kedge.solve(mesh, kedge.Problem(**{**boundary, **arguments}), self.context, on_failure="warn")

    def polynomial(self, mesh):
        return self.solve(mesh, source=1, order=3, boundary={"default": kedge.Dirichlet(POLYNOMIAL)})

    def test_arrays_by_element_are_values_of_regions(self):
        by_region = {"left half": 3, "right half": 0.5}
        array = np.where(self.right, 0.5, 3.0)
        for key in "diffusion", "reaction", "source":
            expected = self.solve(self.mesh, **{key: by_region}).u
            strided = np.repeat(array, 2)[::2]
            for given in (array, strided, array.astype(np.float32), Shared(array),
                          {"left half": array, "right half": 0.5},
                          {"left half": lambda x, y: 3 + 0 * x, "right half": array}):
                s = self.solve(self.mesh, **{key: given})
                np.testing.assert_allclose(s.u, expected, atol=1e-11)
        mesh = kedge.Mesh(self.mesh.nodes[:3], [[0, 1, 2]])
        np.testing.assert_array_equal(self.solve(mesh, reaction=np.array([2.0])).u, self.solve(mesh, reaction=2).u)

    def test_tensors_by_element_are_those_of_regions(self):
        expected = self.solve(self.mesh, diffusion={"left half": (2, 0.5, 1), "right half": (1, 0, 4)}).sigma
        array = np.where(self.right[:, None], [1, 0, 4], [2, 0.5, 1])
        np.testing.assert_array_equal(self.solve(self.mesh, diffusion=array).sigma, expected)
        np.testing.assert_array_equal(self.solve(self.mesh, diffusion=tuple(array.T)).sigma, expected)
        equal = self.solve(self.mesh, diffusion=(array[:, 0], 0, 4)).u
        text = {"left half": (2, 0, 4), "right half": (1, 0, 4)}
        np.testing.assert_array_equal(equal, self.solve(self.mesh, diffusion=text).u)

    def test_memory_is_predicted(self):
        problem = kedge.Problem(order=2, source=1, diffusion=1.0 + np.arange(32), boundary={"default": kedge.Dirichlet(0)})
        plan = kedge.plan(self.mesh, problem, self.context)
        report = kedge.solve(self.mesh, problem, self.context).report
        self.assertEqual(plan["peak_bytes"], report.predicted_device_bytes)
        self.assertEqual(plan["peak_bytes"], report.peak_device_bytes)
        self.assertEqual(report.preconditioner, kedge.solve(self.mesh, problem.replace(diffusion=1), self.context).report.preconditioner)

    def test_an_array_is_copied_when_it_is_given(self):
        array = np.where(self.right, 0.5, 3.0)
        problem = kedge.Problem(diffusion=array, source=1, boundary={"default": kedge.Dirichlet(0)})
        before = kedge.solve(self.mesh, problem, self.context).u
        array[:] = -1
        other = pickle.loads(pickle.dumps(problem))
        np.testing.assert_array_equal(kedge.solve(self.mesh, other, self.context).u, before)
        with self.assertRaisesRegex(TypeError, "cannot be pickled"):
            pickle.dumps(problem.replace(source=kedge.solve(self.mesh, problem, self.context)))
        np.testing.assert_array_equal(kedge.solve(self.mesh, problem, self.context).u, before)

    def test_a_solver_takes_arrays_as_sources_values_and_coefficients(self):
        array = np.where(self.right, 0.5, 3.0)
        problem = kedge.Problem(order=2, source=1, boundary={"default": kedge.Dirichlet(0)})
        solver = kedge.Solver(self.mesh, problem, self.context)
        for changes in {"diffusion": array}, {"diffusion": 1 + array}, {"diffusion": np.stack([array, 0 * array, array], 1)}, {
                "diffusion": "1 + x"}, {"diffusion": 2}:
            solver.update(**changes)
            fresh = kedge.solve(self.mesh, problem.replace(source=array, boundary={"default": kedge.Dirichlet(array)},
                                                           **changes), self.context)
            np.testing.assert_array_equal(solver.solve(array, {"default": array}).u, fresh.u)

    def test_what_arrays_cannot_be_is_said(self):
        one, edge, corner = np.ones(32), np.ones(32), int(self.mesh.boundary[0][0])
        one[20], edge[corner] = np.nan, np.inf
        for arguments, error, sentence in [
                ({"diffusion": np.ones(7)}, ValueError, "diffusion has 7 numbers, one an element, and the mesh has 32 elements"),
                ({"source": {"left half": np.ones(7)}}, ValueError, "source of region 'left half' has 7 numbers"),
                ({"diffusion": np.ones(5).view(OnGpu)}, TypeError, "diffusion is an array on a GPU; copy it to the host"),
                ({"source": np.ones(3, complex)}, TypeError, "source is an array of complex128; it takes real numbers"),
                ({"diffusion": np.where(self.right, -1.0, 1)}, kedge.InputError,
                 "diffusion must be positive, and at x = "),
                ({"source": np.full(32, np.nan)}, kedge.InputError, "source is nan at x = "),
                *(({key: one}, kedge.InputError, rf"{key} .*nan, in element 20 \(from 0\)") for key in ("diffusion", "reaction")),
                ({"source": one}, kedge.InputError, r"source is nan at x = \S+, y = \S+, in element 20 \(from 0\)"),
                ({"source": 1 + one}, kedge.InputError, r"in element 20 \(from 0\)"),
                ({"boundary": {"default": kedge.Dirichlet(edge)}}, kedge.InputError,
                 rf"on boundary default is inf at x = .* in element {corner} \(from 0\)")]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                self.solve(self.mesh, **arguments)

    def test_a_solution_is_the_function_that_it_is(self):
        for mesh in self.mesh, kedge.quads(3), kedge.mixed(3), kedge.mixed(3, map=("x+x*y/4", "y")):
            s = self.polynomial(mesh)
            x, y = "x", "y"
            for data, text in [({"source": s}, {"source": POLYNOMIAL}),
                               ({"source": 1 + s**2}, {"source": f"1 + ({POLYNOMIAL})^2"}),
                               ({"diffusion": 1 / s, "reaction": s * s}, {"diffusion": f"1/({POLYNOMIAL})",
                                                                         "reaction": f"({POLYNOMIAL})^2"}),
                               ({"diffusion": (s, 0.5, 1 + s)}, {"diffusion": f"{POLYNOMIAL}, 0.5, 1 + {POLYNOMIAL}"}),
                               ({"source": np.exp(-s) + np.maximum(s, 2.2)},
                                {"source": f"exp(-({POLYNOMIAL})) + max({POLYNOMIAL}, 2.2)"}),
                               ({"source": s.field("qx") ** 2 + 3 * s.field("qy") + s.field("u")},
                                {"source": f"{y}^2 + 3*({x} - {y}) + {POLYNOMIAL}"}),
                               ({"boundary": {"default": kedge.Robin(s, 2 - s)}},
                                {"boundary": {"default": kedge.Robin(POLYNOMIAL, f"2 - ({POLYNOMIAL})")}}),
                               ({"boundary": {"default": kedge.Dirichlet(s / 2)}},
                                {"boundary": {"default": kedge.Dirichlet(f"({POLYNOMIAL})/2")}})]:
                with self.subTest(text, mesh=mesh):
                    one, two = self.solve(mesh, **data), self.solve(mesh, **text)
                    np.testing.assert_allclose(one.u, two.u, atol=2e-9)
                    np.testing.assert_allclose(one.sigma, two.sigma, atol=2e-7)

    def test_data_and_functions_of_points_give_the_same(self):
        mesh = kedge.ring(3, 12, geometry=3)
        first = self.solve(mesh, source="x^3")
        first.prepare()
        data = self.solve(mesh, source=1 + first**2).u
        np.testing.assert_allclose(self.solve(mesh, source=lambda x, y: 1 + first(x, y)**2).u, data, atol=1e-8)

    def test_arrays_may_be_in_expressions(self):
        s, array = self.polynomial(self.mesh), np.where(self.right, 0.5, 3.0)
        text = {"left half": f"3*({POLYNOMIAL})", "right half": f"0.5*({POLYNOMIAL})"}
        for product in s * array, array * s, s * Shared(array):
            np.testing.assert_allclose(self.solve(self.mesh, source=product).u, self.solve(self.mesh, source=text).u, atol=1e-9)

    @staticmethod
    def quiet(function, *arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kedge.Note)
            return function(*arguments)

    def picard(self, mesh, order, update):
        """The error of u_star of -div((1 + u^2) grad u) = f by Picard's iteration."""
        u, f = "sin(x)*cos(y)", "2*sin(x)*cos(y)*(1 + sin(x)^2*cos(y)^2 - cos(x)^2*cos(y)^2 - sin(x)^2*sin(y)^2)"
        problem = kedge.Problem(order=order, exact=u, source=f, boundary={"default": kedge.Dirichlet()}, tolerance=1e-13)
        solver = kedge.Solver(mesh, problem, self.context)
        s = solver.solve(0)
        for _ in range(8):
            if update:
                solver.update(diffusion=1 + s**2)
                s = solver.solve(start=s)
            else:
                s = kedge.solve(mesh, problem.replace(diffusion=1 + s**2), self.context)
        return s

    def test_picards_iteration_has_the_order_of_a_linear_problem(self):
        coarse, fine = (self.quiet(self.picard, kedge.square(n), 2, True).report.u_star_l2 for n in (2, 4))
        self.assertGreater(np.log2(coarse / fine), 3.6)
        fresh = self.quiet(self.picard, kedge.square(4), 2, False).report.u_star_l2
        self.assertLess(abs(fresh - fine), 1e-3 * fine)

    def test_an_iteration_keeps_no_solution_but_the_last(self):
        problem = kedge.Problem(order=1, source=1, boundary={"default": kedge.Dirichlet(0)})
        solver = kedge.Solver(self.mesh, problem, self.context)
        s, memories = solver.solve(), []
        for _ in range(5):
            memories.append(weakref.ref(s.memory))
            solver.update(diffusion=1 + s**2)
            s = solver.solve()
        gc.collect()
        self.assertEqual([memory() is not None for memory in memories], [False] * 4 + [True])
        q = s.q
        del solver
        gc.collect()
        self.assertEqual(s.values("qx").shape, q[..., 0].shape)  # it is found by the diffusion

    def test_what_solutions_cannot_be_is_said(self):
        s, other = self.solve(self.mesh), self.solve(kedge.square(2))
        problem = kedge.Problem(source=1, boundary={"default": kedge.Dirichlet(0)})
        solver = kedge.Solver(self.mesh, problem, self.context)
        for wrong, error, sentence in [
                (lambda: self.solve(self.mesh, source=other), ValueError,
                 r"source is made of a solution on another mesh; .* lambda x, y: s\(x, y\)"),
                (lambda: solver.solve(1 + other), ValueError, "source is made of a solution on another mesh"),
                (lambda: solver.solve(boundary={"default": other}), ValueError, r"boundary\['default'\] is made of"),
                (lambda: s + other, ValueError, "solutions on one mesh, and these are on two"),
                (lambda: s + "x", TypeError, "'x' is in an expression with solutions"),
                (lambda: solver.solve(s * np.ones(5)), ValueError, "source has 5 numbers"),
                (lambda: np.add.reduce(s), TypeError, ""),
                (lambda: s @ s, TypeError, ""),
                (lambda: self.solve(self.mesh, source=1 + self.solve(self.mesh, fields="cells")), kedge.InputError,
                 "fields = 'cells'")]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                wrong()
        mine = solver.solve()
        for source in mine, 1 + mine:
            with self.assertRaisesRegex(ValueError, "out is a solution of which data of this solve are made"):
                solver.solve(source, out=mine)
        solver.update(diffusion=1 + mine**2)
        with self.assertRaisesRegex(ValueError, "out is a solution of which data"):
            solver.solve(out=mine)
        solver.update(diffusion=1)
        self.assertIs(solver.solve(out=solver.solve()).mesh, self.mesh)
        self.assertEqual(len({mine, mine}), 1)
        self.assertIs(mine == "x", False)
        self.assertIs(mine != "x", True)

    def test_conditions_are_evaluated_or_refused(self):
        zero, one = {"default": kedge.Dirichlet(0)}, kedge.Problem(order=2, source=1, boundary={"default": kedge.Dirichlet(0)})
        s = kedge.solve(self.mesh, one, self.context)
        u = lambda source: kedge.solve(self.mesh, kedge.Problem(order=2, source=source, boundary=zero), self.context).u
        np.testing.assert_array_equal(u(np.clip(s, 0, 1e-3)), u(np.minimum(np.maximum(s, 0), 1e-3)))
        np.testing.assert_array_equal(u(np.where(s > 0.05, 1, 3)), u(3 - 2 * (s > 0.05)))
        np.testing.assert_array_equal(u(np.where(s == s, 2, np.nan)), u("2"))
        np.testing.assert_array_equal(u(3 + (s != 0.5)), u("4"))
        reaction = 1 + s
        solver = kedge.Solver(self.mesh, one.replace(reaction=reaction), self.context)
        for other in reaction, 2 + s:  # data are compared as objects
            solver.update(reaction=other, diffusion=2)
            self.assertIs(solver.problem.settings["equation", "reaction"], other)
        for wrong in (lambda: max(s, 0), lambda: 0 < s < 1, lambda: 1 if s else 2, lambda: (s > 0) and (s < 1), lambda: 1 if s == 0.5 else 2):
            with self.assertRaisesRegex(TypeError, "no truth value"):
                wrong()
        for function in np.mean, np.median, np.nan_to_num, np.linalg.norm:
            with self.subTest(function), self.assertRaisesRegex(TypeError, f"np.{function.__name__} of a solution"):
                function(s)
        for wrong, sentence in ((lambda: s @ s, "np.matmul of a solution is not"), (lambda: divmod(s, 2), "np.divmod of a"),
                                (lambda: np.add(s, 1, out=np.zeros(3)), "write s = s \\+ 1"), (lambda: s.__iadd__(1), "s \\+= 1"),
                                (lambda: np.zeros(3).__imul__(s), "fills no array")):
            with self.subTest(sentence), self.assertRaisesRegex(kedge.WrongType, sentence):
                wrong()

    def test_three_numbers_in_an_array_are_those_of_three_elements(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 2]], [[0, 1, 2], [0, 2, 3], [3, 2, 4]])
        p = kedge.Problem(order=1, source=1, boundary={"default": kedge.Dirichlet(0)})
        three = np.array([1.0, 2.0, 3.0])
        regions = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 2]], [[0, 1, 2], [0, 2, 3], [3, 2, 4]], regions=["a", "b", "c"])
        np.testing.assert_array_equal(kedge.solve(mesh, p.replace(diffusion=three), self.context).u,
                                      kedge.solve(regions, p.replace(diffusion={"a": 1, "b": 2, "c": 3}), self.context).u)
        with self.assertRaisesRegex(ValueError, "3 numbers, one an element"):
            kedge.solve(self.mesh, p.replace(diffusion=three), self.context)

    def test_derivatives_go_with_a_function(self):
        s = kedge.solve(self.mesh, kedge.Problem(order=1, source=1, boundary={"default": kedge.Dirichlet(0)}), self.context)
        with self.assertRaisesRegex(TypeError, "go with a function"):
            s.error("x", lambda x, y: 1 + 0 * x, lambda x, y: 0 * x)

    def test_errors_against_a_solution_are_of_its_domain(self):
        s, wider = (kedge.solve(mesh, sines(order=2), "host") for mesh in (
            kedge.square(3, backend="host"), kedge.square(3, map=("2*x", "y"), backend="host")))
        with self.assertRaisesRegex(TypeError, "kedge has those of an expression and of a solution"):
            s.error(s, np.sin, np.cos)
        self.assertTrue(np.isfinite(s.error(wider)).all())
        with self.assertRaisesRegex(kedge.InputError, "points lie outside of the mesh, the first at"):
            wider.error(s)

    def test_a_number_is_no_list_of_orders(self):
        with self.assertRaisesRegex(TypeError, "orders is 3; it takes a list"):
            kedge.convergence(sines(), [kedge.square(2)], 3)

    def test_a_solution_that_data_are_made_of_is_not_overwritten(self):
        problem = kedge.Problem(order=2, source=1, boundary={"default": kedge.Dirichlet(0)})
        solver, context = kedge.Solver(self.mesh, problem, self.context), kedge.Context(self.context.backend)
        for key in "source", "diffusion", "boundary":
            with self.subTest(key):
                s = solver.solve()
                made = {"source": {"source": s}, "diffusion": {"diffusion": 1 + s**2},
                        "boundary": {"boundary": {"default": kedge.Dirichlet(s)}}}[key]
                other = kedge.Solver(self.mesh, problem.replace(**made), context)
                result = other.solve()
                u, sigma = result.u, result.sigma

                def overwrite(**options):
                    with self.assertRaisesRegex(ValueError, "of which data of another solver or solution are made; leave"):
                        solver.solve(2, out=s, **options)

                overwrite()
                overwrite(progress=lambda at: False)  # were it cancelled, s would be empty
                np.testing.assert_array_equal(other.solve().u, u)
                del other
                overwrite()
                np.testing.assert_array_equal(result.values("sigma_x"), sigma[..., 0])
                cycle = [result]
                cycle.append(cycle)
                del result, cycle
                with self.assertRaises(kedge.Cancelled):
                    solver.solve(2, out=s, progress=lambda at: False)
                with self.assertRaisesRegex(kedge.InputError, "a solution that data are made of is empty"):
                    kedge.Solver(self.mesh, problem.replace(**made), context)

    def test_a_solution_is_no_data_while_a_solve_overwrites_it(self):
        problem = kedge.Problem(order=2, source=1, boundary={"default": kedge.Dirichlet(0)})
        solver, context = kedge.Solver(self.mesh, problem, self.context), kedge.Context(self.context.backend)
        s, other = solver.solve(), kedge.Solver(self.mesh, problem, context)
        with self.assertRaisesRegex(ValueError, "a solution that data are made of is being overwritten"):
            solver.solve(2, out=s, progress=lambda at: other.solve(s))
        with self.assertRaisesRegex(ValueError, "the solution is empty"):
            s.values("u")


if __name__ == "__main__":
    unittest.main()
