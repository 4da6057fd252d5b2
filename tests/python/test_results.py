"""Errors, convergence, pictures and meshio."""
import io
import sys
import types
import unittest
import warnings
from unittest import mock

import numpy as np
from support import backend, everywhere, sines

import kedge

try:
    import matplotlib
    matplotlib.use("Agg")
except ImportError:
    matplotlib = None


def whole(mesh, order=3, exact="sin(x)*cosh(y)"):
    """It on any mesh."""
    groups = [group.name for group in mesh.groups if group.dimension == 1 and group.count]
    return kedge.Problem(order=order, exact=exact, tolerance=1e-12,
                         boundary=everywhere(kedge.Dirichlet(), groups))


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()

    def solve(self, mesh, problem):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kedge.Note)
            return kedge.solve(mesh, problem, self.context)

    def test_errors_are_those_of_the_report(self):
        for mesh in (kedge.square(4), kedge.mixed(4), kedge.ring(2, 16, geometry=3), kedge.ring(2, 16, quads=True, geometry=2)):
            with self.subTest(mesh):
                s = self.solve(mesh, whole(mesh))
                errors = s.error(lambda x, y: np.sin(x) * np.cosh(y), lambda x, y: np.cos(x) * np.cosh(y),
                                 lambda x, y: np.sin(x) * np.sinh(y))
                self.assertAlmostEqual(errors.u / s.report.u_l2, 1, delta=1e-4)
                self.assertAlmostEqual(errors.u_star / s.report.u_star_l2, 1, delta=1e-3)
                # on curved elements q is no polynomial
                self.assertAlmostEqual(errors.q / s.report.q_l2, 1, delta=0.02 if mesh.info["geometry"] > 1 else 1e-4)
                self.assertAlmostEqual(errors.sigma / s.report.sigma_l2, 1, delta=1e-3)
                again = s.error()
                np.testing.assert_allclose(again, errors, rtol=1e-6)
                self.assertEqual(s.error("sin(x)*cosh(y)"), again)
                self.assertEqual(s.error(norm="energy"), again.energy)
        self.assertTrue(np.isnan(s.error(lambda x, y: x)[2:]).all())

    def test_norms_of_errors_are_those_of_integrals(self):
        mesh = kedge.square(3)
        s = self.solve(mesh, kedge.Problem(order=2, exact="x", diffusion="1 + x", boundary=everywhere(kedge.Dirichlet())))
        zero = (lambda x, y: 0 * x,) * 3
        np.testing.assert_allclose(np.square(s.error(zero)), [1 / 3, 1 / 3, 1, 7 / 3, 3 / 2])
        self.assertAlmostEqual(s.error("0", norm="energy") ** 2, 1.5)
        with self.assertRaisesRegex(ValueError, "norm is 'h1'; it is one of u, u_star, q, sigma, energy"):
            s.error(norm="h1")
        with self.assertRaisesRegex(kedge.InputError, "exact: the function|u of exact: the function"):
            s.error(lambda x, y: "a", *zero[1:])
        bare = self.solve(mesh, kedge.Problem(boundary=everywhere(kedge.Dirichlet(1))))
        with self.assertRaisesRegex(kedge.Error, "the problem has no exact solution"):
            bare.error()
        self.assertLess(max(s.error(self.solve(kedge.square(2), s.problem))), 1e-9)

    def test_quadrature_makes_integrals(self):
        mesh = kedge.mixed(3)
        s = self.solve(mesh, whole(mesh))
        weight, (x, y), u, qx = s.quadrature("u", "qx")
        self.assertAlmostEqual(np.sum(weight), 1)
        self.assertAlmostEqual(np.sum(weight * x**2 * y), 1 / 6)
        np.testing.assert_allclose(np.sum(weight * u, axis=1) / np.sum(weight, axis=1), s.means("u"), atol=1e-12)
        np.testing.assert_allclose(qx, np.cos(x) * np.cosh(y), atol=1e-3)

    def test_convergence_has_the_rates_of_the_method(self):
        table = kedge.convergence(sines(), [kedge.square(n) for n in (4, 8, 16)], [1, 2], self.context)
        self.assertEqual([row.order for row in table.rows], [1] * 3 + [2] * 3)
        self.assertTrue(np.isnan(table.rows[3].rate_u))
        for row in (table.rows[2], table.rows[5]):
            self.assertAlmostEqual(row.rate_u, row.order + 1, delta=0.15)
            self.assertAlmostEqual(row.rate_u_star, row.order + 2, delta=0.15)
        self.assertEqual(len(str(table).splitlines()), 7)
        with self.assertRaisesRegex(ValueError, "exact"):
            kedge.convergence(kedge.Problem(), [kedge.square(2)], [1])

    def test_nodes_of_a_mesh_are_those_of_its_solutions(self):
        for mesh in (kedge.mixed(3), kedge.ring(2, 12, geometry=4), kedge.ring(2, 12, quads=True, geometry=3)):
            s = self.solve(mesh, whole(mesh, 1))
            geometry = mesh.info["geometry"]
            np.testing.assert_allclose(mesh.nodes, s.nodes(geometry).reshape(-1, 2), atol=1e-14)
            np.testing.assert_array_equal(mesh.offsets, s.offsets(geometry))

    def test_the_boundary_and_the_regions_are_told(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], lines={"low": [[0, 1]]}, regions=[4, 7])
        np.testing.assert_array_equal(mesh.regions, [4, 7])
        elements, sides, groups = mesh.boundary
        at = np.flatnonzero([mesh.groups[group].name == "low" for group in groups])
        self.assertEqual(at.size, 1)
        self.assertEqual(elements[at[0]], 0)
        begin, end = (mesh.nodes[(sides[at[0]] + k) % 3] for k in (0, 1))
        np.testing.assert_array_equal([begin, end], [[0, 0], [1, 0]])

    def test_without_matplotlib_one_sentence_says_what_to_do(self):
        mesh = kedge.square(2)
        s, table = self.solve(mesh, whole(mesh, 1)), kedge.convergence(sines(), [mesh], [1], self.context)
        with mock.patch.dict(sys.modules, {"matplotlib": None, "matplotlib.pyplot": None, "meshio": None}):
            for call, package in (mesh.plot, "matplotlib"), (s.plot, "matplotlib"), (table.plot, "matplotlib"), (s.to_meshio, "meshio"):
                with self.assertRaisesRegex(kedge.MissingPackage, rf"\(\) needs {package} .*: pip install {package}"):
                    call()

    @unittest.skipUnless(matplotlib, "no matplotlib")
    def test_pictures_are_drawn(self):
        from matplotlib import pyplot
        for mesh in (kedge.mixed(3), kedge.disk(2, geometry=3)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # matplotlib's own
                axes = mesh.plot()
                names = {text.get_text() for text in axes.get_legend().get_texts()}
                self.assertEqual(names, {group.name for group in mesh.groups if group.dimension == 1})
                s = self.solve(mesh, whole(mesh))
                picture = s.plot().collections[0]
                self.assertAlmostEqual(picture.get_array().max(), s.values("u_star", 4).max())
                s.plot("qx", edges=False, cmap="magma").figure.savefig(io.BytesIO())
                length = s.plot("q").collections[0].get_array()
                np.testing.assert_allclose(length, np.hypot(s.values("qx", 4), s.values("qy", 4)).ravel(), rtol=1e-14)
                with self.assertRaisesRegex(kedge.InputError, r"^plot\(\): tripcolor of matplotlib says: .*'?cmapp'?"):
                    s.plot(cmapp="jet")
            pyplot.close("all")
        table = kedge.convergence(sines(), [kedge.square(2), kedge.square(4)], [1, 2], self.context)
        axes = table.plot()
        self.assertEqual(len(axes.lines), 4)
        rates = [getattr(table.rows[k], rate) for k in (1, 3) for rate in ("rate_u", "rate_u_star")]
        self.assertEqual([text.get_text() for text in axes.texts], [f"{rate:.2f}" for rate in rates])
        one = kedge.convergence(sines(), [kedge.square(2)], [1], self.context).plot()
        self.assertEqual((len(one.lines), len(one.texts)), (2, 0))
        pyplot.close("all")

    @unittest.skipUnless(matplotlib, "no matplotlib")
    def test_nothing_in_a_picture_covers_another_part(self):
        from matplotlib import pyplot
        for mesh in (kedge.square(2, map=("3*x", "y")), kedge.quads(2, map=("x", "9*y"))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # matplotlib's own
                _, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4))
                s = self.solve(mesh, whole(mesh, 1))
                for axes in s.plot(), s.plot("q", ax=left):
                    axes.figure.canvas.draw()
                    picture, bar = axes.get_window_extent(), axes.child_axes[0].get_window_extent()
                    self.assertAlmostEqual(bar.height, picture.height, delta=1)
                    self.assertAlmostEqual(bar.y0, picture.y0, delta=1)
                    self.assertGreater(bar.x0, picture.x1)
                    lines = axes.collections[1]
                    self.assertEqual(lines.get_linewidth()[0], 0.3)
                    self.assertEqual({tuple(color[:3]) for color in lines.get_color()}, {(0.5, 0.5, 0.5)})
                table = kedge.convergence(sines(), [mesh, mesh.refine()], [1], self.context)
                for axes in mesh.plot(), mesh.plot(right), table.plot():
                    axes.figure.canvas.draw()
                    legend = axes.get_legend().get_window_extent()
                    self.assertFalse(legend.overlaps(axes.get_window_extent()))
                    if axes is not right:  # whose figure is laid out by its owner
                        self.assertLess(legend.x1, axes.figure.bbox.x1)
            pyplot.close("all")

    def test_notebooks_show_short_tables_with_all_text_escaped(self):
        from xml.etree import ElementTree
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], lines={"<b>&hot": [[0, 1]]},
                          regions=["<script>", "air"])
        problem = kedge.Problem(order=1, diffusion={"<script>": 2, "default": 1}, source=lambda x, y: 1 + 0 * x,
                                reaction=np.ones(2), boundary={"<b>&hot": kedge.Dirichlet("x < 2 ? 1 : 3"),
                                                               "default": kedge.Dirichlet("+".join(["x"] * 999))})
        solver = kedge.Solver(mesh, problem, self.context)
        s = solver.solve()
        exact = self.solve(kedge.mixed(2), whole(kedge.mixed(2), 1))
        for of, words in ((mesh, ("2 triangles", "<b>&hot", "<script>", "air", "boundary")),
                          (exact.mesh, ("4 triangles", "2 quadrilaterals")),
                          (kedge.disk(2, geometry=3), ("of order 3",)),
                          (problem, ("region <script>", "x < 2 ? 1 : 3", "<lambda>", "2 numbers, one an element",
                                     "x+x...")),
                          (s.report, ("kedge.Report", "2 of order 1", "iterations", "yes, at")),
                          (s, ("kedge.Solution", "residual")),
                          (exact, ("error u_l2",)), (exact.problem, ("sin(x)*cosh(y)",))):
            text = of._repr_html_()
            shown = " ".join(ElementTree.fromstring(text).itertext())
            for word in words:
                self.assertIn(word, shown)
            self.assertLess(len(text), 4000)
        many = kedge.Problem(parameters={f"p{k}": k for k in range(50)})._repr_html_()
        self.assertEqual((many.count("<tr>"), "and 30 more" in many), (21, True))
        with self.assertRaises(kedge.InputError):
            solver.solve(source=lambda x, y: 1 / 0, out=s)
        self.assertIn("kedge.Solution: empty", s._repr_html_())

    def test_a_mesh_of_meshio_is_taken_with_its_groups(self):
        def block(kind, data):
            return types.SimpleNamespace(type=kind, data=np.array(data))

        points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0]]
        read = types.SimpleNamespace(
            points=np.array(points, float), field_data={"hot": np.array([5, 1]), "iron": np.array([7, 2])},
            cells=[block("line", [[4, 5]]), block("triangle", [[0, 1, 2], [0, 2, 3]]), block("quad", [[1, 4, 5, 2]]),
                   block("vertex", [[0]])],
            cell_data={"gmsh:physical": [np.array([5]), np.array([7, 7]), np.array([8]), np.array([0])]})
        mesh = kedge.Mesh.from_meshio(read)
        counts = {(group.dimension, group.name): group.count for group in mesh.groups}
        self.assertEqual(counts[1, "hot"], 1)
        self.assertEqual((counts[2, "iron"], counts[2, "8"]), (2, 1))

    def meshio_of(self, s, **options):
        """What s.to_meshio() gives a meshio.Mesh."""
        made = types.SimpleNamespace(Mesh=lambda points, cells, **data: (points, cells, data))
        with mock.patch.dict(sys.modules, {"meshio": made}):
            return s.to_meshio(**options)

    def test_values_at_vertices_are_means_of_the_elements_around(self):
        for mesh in (kedge.square(4), kedge.mixed(3), kedge.quads(3).refine(), kedge.disk(2, geometry=3)):
            with self.subTest(mesh):
                linear = self.solve(mesh, whole(mesh, 3, "1 + x - 2*y"))
                there = np.unique(mesh.corners)
                x, y = mesh.points[there].T
                self.assertEqual(len(there), mesh.vertices)
                np.testing.assert_allclose(linear.at_vertices()[there], 1 + x - 2 * y, atol=1e-9)
                np.testing.assert_allclose(linear.at_vertices("q")[there], np.tile([1, -2], (len(there), 1)), atol=1e-8)
                s = self.solve(mesh, whole(mesh, 2))
                flat, offsets = s.values("u", 1).ravel(), s.offsets(1)
                around = [flat[k] for k in np.flatnonzero(mesh.corners == there[-1])]
                self.assertAlmostEqual(s.at_vertices("u")[there[-1]], np.mean(around))
                self.assertEqual(offsets[-1], len(mesh.corners))

    def test_a_solution_goes_to_meshio_on_the_vertices_of_its_mesh(self):
        mesh = kedge.Mesh([[0, 0], [9, 9], [1, 0], [0, 1], [1, 1], [2, 0], [2, 1]],
                          {"triangle": [[0, 2, 3], [2, 4, 3]], "quad": [[2, 5, 6, 4]]}, lines={"low": [[0, 2]]},
                          regions=["iron", "air", "air"])
        s = self.solve(mesh, whole(mesh, 2))
        points, cells, data = self.meshio_of(s, vertices=True)
        np.testing.assert_array_equal(points[:, :2], [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [2, 1]])
        self.assertEqual([(kind, block.tolist()) for kind, block in cells],
                         [("triangle", [[0, 1, 2], [1, 3, 2]]), ("quad", [[1, 4, 5, 3]]), ("line", [[0, 1]])])
        self.assertTrue(np.isnan(s.at_vertices()[1]))
        np.testing.assert_array_equal(data["point_data"]["u"], np.delete(s.at_vertices("u"), 1))
        np.testing.assert_array_equal(data["point_data"]["sigma"][:, :2], np.delete(s.at_vertices("sigma"), 1, axis=0))
        np.testing.assert_array_equal(data["point_data"]["sigma"][:, 2], np.zeros(6))
        numbers = {name: int(tag) for name, (tag, _) in data["field_data"].items()}
        self.assertEqual([part.tolist() for part in data["cell_data"]["gmsh:physical"]],
                         [[numbers["iron"], numbers["air"]], [numbers["air"]], [numbers["low"]]])

    def test_a_mesh_comes_back_from_meshio_with_its_groups(self):
        for mesh in (kedge.mixed(3), kedge.quads(2), kedge.lshape(3)):
            points, cells, data = self.meshio_of(self.solve(mesh, whole(mesh)), vertices=True)
            blocks = [types.SimpleNamespace(type=kind, data=block) for kind, block in cells]
            again = kedge.Mesh.from_meshio(types.SimpleNamespace(points=points, cells=blocks, **data))
            self.assertEqual([group for group in again.groups if group.count], [group for group in mesh.groups if group.count])

    def test_a_solution_becomes_a_mesh_of_meshio(self):
        s = self.solve(kedge.mixed(2), sines(order=2))
        points, [(kind, triangles)], data = self.meshio_of(s)
        data = data["point_data"]
        self.assertEqual((kind, points.shape[1]), ("triangle", 3))
        corners = points[triangles][..., :2]
        (ax, ay), (bx, by), (cx, cy) = np.moveaxis(corners, 0, 2)
        self.assertAlmostEqual(np.sum((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2, 1)
        self.assertEqual(set(data), {"u", "u_star", "q", "sigma"})
        for name, parts in ("q", ("qx", "qy")), ("sigma", ("sigma_x", "sigma_y")):
            np.testing.assert_array_equal(data[name], np.column_stack([*(s.values(part, 3) for part in parts), 0 * points[:, 0]]))


if __name__ == "__main__":
    unittest.main()
