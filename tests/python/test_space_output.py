"""What comes out of solves on tetrahedra: traces, files that are read back, pictures."""
import io
import os
import sys
import tempfile
import types
import unittest
import warnings
from unittest import mock

import numpy as np
from support import ROOT, backend

import kedge

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.figure
except ImportError:
    matplotlib = None

FIELDS = "u", "u_star", "qx", "qy", "qz", "sigma_x", "sigma_y", "sigma_z"
MAP = "x+0.2*y*z", "y-0.1*x+0.1*x*z", "z+0.1*x*y"


def exact(x, y, z):
    return 1 + 2 * x - y + x * z - y * y


class SpaceOutputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "a.vtkhdf")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.mesh = kedge.Mesh.generate("cube 3", map=MAP, geometry=1)

    def solve(self, mesh=None, **more):
        problem = kedge.Problem(**{"order": 3, "exact": "1+2*x-y+x*z-y^2", "diffusion": 3, "tolerance": 1e-14,
                                   "boundary": {"default": kedge.Dirichlet()}, **more})
        with warnings.catch_warnings():  # errors of polynomials are those of rounding
            warnings.simplefilter("ignore", kedge.Note)
            return kedge.solve(mesh or self.mesh, problem, self.context, on_failure="warn")

    def written(self, **more):
        s = self.solve(**more)
        s.write(self.path)
        return s

    def test_convergence_has_the_rates_of_the_method(self):
        problem = kedge.Problem(exact="sin(x+2*y)*cosh(z)", boundary={"default": kedge.Dirichlet()}, tolerance=1e-12)
        table = kedge.convergence(problem, [kedge.cube(n) for n in (2, 4, 8)], [1, 2], self.context)
        for row in (table.rows[2], table.rows[5]):
            self.assertAlmostEqual(row.h, 8**-1 * 6 ** (-1 / 3))
            self.assertAlmostEqual(row.rate_u, row.order + 1, delta=0.2)
            self.assertAlmostEqual(row.rate_q, row.order + 1, delta=0.2)
            self.assertAlmostEqual(row.rate_u_star, row.order + 2, delta=0.2)

    def test_the_trace_has_the_values_of_the_function_at_corners(self):
        faces, modes = self.solve().trace()
        self.assertEqual((faces.shape, modes.shape), ((self.mesh.edges, 3), (self.mesh.edges, 10)))
        # A polynomial of order 1 has the first three modes: 1, s and r of the triangle.
        s = self.solve(order=1, exact="1+2*x-3*y+z")
        faces, modes = s.trace()
        corners = np.array([[-1, -1], [1, -1], [-1, 1]])
        r, t = corners.T
        basis = np.stack([np.full(3, np.sqrt(0.5)), (3 * t + 1) / 2, np.sqrt(3) * (r + (1 + t) / 2)], axis=-1)
        x, y, z = np.moveaxis(self.mesh.points[faces], -1, 0)
        np.testing.assert_allclose(modes @ basis.T, 1 + 2 * x - 3 * y + z, atol=1e-11)

    def test_a_trace_that_was_kept_makes_the_solution_again(self):
        s = self.solve(source="exp(x)", exact=None, boundary={"default": kedge.Dirichlet("y*z")})
        solver = kedge.Solver(self.mesh, s.problem, self.context)
        again = solver.recover(s.trace()[1][solver.edges].ravel())
        np.testing.assert_allclose(again.u, s.u, atol=1e-12)

    def meshio_of(self, s, **options):
        """What s.to_meshio() gives a meshio.Mesh."""
        made = types.SimpleNamespace(Mesh=lambda points, cells, **data: (points, cells, data))
        with mock.patch.dict(sys.modules, {"meshio": made}):
            return s.to_meshio(**options)

    def test_a_solution_becomes_a_mesh_of_meshio(self):
        for order in range(1, 5):
            for one in self.written(order=order), kedge.read(self.path):
                points, [(kind, cells)], data = self.meshio_of(one)
                n = order + 1
                self.assertEqual((kind, cells.shape), ("tetra", (one.mesh.elements * n**3, 4)))
                self.assertEqual(len(np.unique(np.sort(cells, axis=1), axis=0)), len(cells))
                at = points[cells]
                volumes = np.linalg.det(at[:, 1:] - at[:, :1]) / 6
                np.testing.assert_allclose(volumes.reshape(-1, n**3).std(axis=1), 0, atol=1e-15)
                self.assertTrue((volumes > 0).all())
                self.assertAlmostEqual(volumes.sum(), one.mesh.area)
                faces = np.sort(cells[:n**3, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
                _, count = np.unique(faces, axis=0, return_counts=True)
                self.assertEqual((count.max(), np.sum(count == 1)), (2, 4 * n**2))  # the pieces of one element fit
                data = data["point_data"]
                self.assertEqual(set(data), {"u", "u_star", "q", "sigma"})
                self.assertEqual(data["sigma"].shape, points.shape)
                np.testing.assert_array_equal(data["u"], one.values("u", n).ravel())
                np.testing.assert_array_equal(data["q"][:, 2], one.values("qz", n).ravel())
            if order > 1:
                np.testing.assert_allclose(data["u_star"], exact(*points.T), atol=1e-11)

    def test_a_solution_goes_to_meshio_on_the_vertices_of_its_mesh(self):
        cube = kedge.cube(2)
        moved = np.concatenate([np.full((1, 3), 9), cube.points])  # the first is no corner
        for mesh in cube, kedge.Mesh(moved, {"tetra": cube.cells["tetra"] + 1}):
            s = self.solve(mesh=mesh, order=1, exact="1+2*x-3*y+z")
            points, cells, data = self.meshio_of(s, vertices=True)
            self.assertEqual(len(points), mesh.vertices)
            x, y, z = points.T
            np.testing.assert_allclose(data["point_data"]["u_star"], 1 + 2 * x - 3 * y + z, atol=1e-11)
            np.testing.assert_allclose(data["point_data"]["q"], np.tile([2, -3, 1], (len(points), 1)), atol=1e-10)
            blocks = [types.SimpleNamespace(type=kind, data=block) for kind, block in cells]
            again = kedge.Mesh.from_meshio(types.SimpleNamespace(points=points, cells=blocks, **data))
            self.assertEqual([group for group in again.groups if group.count],
                             [group for group in mesh.groups if group.count])
            for kind, block in cells[1:]:
                self.assertEqual((kind, len(block)), ("triangle", mesh.info["boundary_edges"]))
                at = points[block]
                normal = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
                self.assertTrue(((normal * (at.mean(axis=1) - 0.5)).sum(axis=1) > 0).all())  # out of the cube

    def test_fields_on_the_mesh_are_those_that_were_written(self):
        s = self.written()
        w = kedge.read(self.path, self.mesh)
        self.assertIs(w.mesh, self.mesh)
        self.assertEqual((w.order, w.converged), (3, True))
        for field in FIELDS:
            np.testing.assert_array_equal(w.values(field, 4), s.values(field, 4))
            np.testing.assert_allclose(w.values(field, 2), s.values(field, 2), atol=1e-11)
            np.testing.assert_allclose(w.means(field), s.means(field), atol=1e-11)
        self.assertEqual(w.q.shape, s.q.shape)
        np.testing.assert_allclose(w.sigma, s.sigma, atol=1e-11)
        np.testing.assert_allclose(w.nodes(3), s.nodes(3), atol=1e-14)
        np.testing.assert_array_equal(w.offsets(2), s.offsets(2))
        np.testing.assert_array_equal(w.indicator, s.indicator)

    def test_a_mesh_is_made_of_the_file(self):
        s = self.written()
        w = kedge.read(self.path, backend=self.context)
        for key in "elements", "vertices", "edges", "boundary_edges", "dimension":
            self.assertEqual(w.mesh.info[key], self.mesh.info[key], key)
        self.assertAlmostEqual(w.mesh.area, self.mesh.area, 13)
        np.testing.assert_array_equal(w.values("u", 4), s.values("u", 4))
        np.testing.assert_allclose(w.nodes(1), s.nodes(1), atol=1e-15)
        np.testing.assert_allclose(w.u_star, exact(*np.moveaxis(w.nodes(4), -1, 0)), atol=1e-11)
        with self.assertRaisesRegex(kedge.InputError, "was not written on this mesh"):
            kedge.read(self.path, kedge.Mesh.generate("cube 3"))
        with self.assertRaisesRegex(kedge.InputError, "was not written on this mesh"):
            kedge.read(self.path, kedge.square(9))

    def test_regions_come_back_by_number(self):
        mesh = kedge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 1], [0.1, 0.3, -1]],
                          {"tetra": [[3, 0, 2, 1], [4, 2, 0, 1]]}, regions=[7, 3])
        self.written(mesh=mesh)
        np.testing.assert_array_equal(kedge.read(self.path).mesh.regions, [7, 3])

    def test_files_of_cells_have_means(self):
        full, s = self.solve(), self.written(fields="cells")
        for w in kedge.read(self.path), kedge.read(self.path, self.mesh):
            for field in FIELDS:
                np.testing.assert_allclose(w.means(field), full.means(field), atol=1e-12)
                np.testing.assert_array_equal(w.means(field), s.means(field))
            self.assertEqual(w.means("sigma").shape, (self.mesh.elements, 3))
            np.testing.assert_array_equal(w.indicator, full.indicator)
            with self.assertRaisesRegex(kedge.InputError, "holds means alone"):
                w.values("u")
        with self.assertRaisesRegex(kedge.InputError, "only the means over the elements were kept"):
            s.values("u")

    def test_faces_of_a_boundary_are_no_field(self):
        s = self.solve()
        s.write_boundary(self.path)
        with self.assertRaisesRegex(kedge.InputError, "holds the faces of a boundary, not a field"):
            kedge.read(self.path)

    def test_a_field_of_space_is_none_of_a_file_of_the_plane(self):
        problem = kedge.Problem(source=1, boundary={"default": kedge.Dirichlet(0)})
        kedge.solve(kedge.square(2), problem, self.context).write(self.path)
        with self.assertRaisesRegex(kedge.InputError, "^there is no field 'qz'; fields are u, qx, qy,"):
            kedge.read(self.path).values("qz")


@unittest.skipUnless(matplotlib, "no matplotlib")
class Pictures(unittest.TestCase):
    LINEAR = "1+2*x-3*y+z"

    @classmethod
    def setUpClass(cls):
        cls.context = backend()
        cube = kedge.Mesh.generate("cube 3", map=MAP, geometry=1)
        cells = cube.cells["tetra"].copy()
        cells[::2] = cells[::2][:, [1, 0, 2, 3]]  # inside out
        cls.mesh, cls.cube = kedge.Mesh(cube.points, {"tetra": cells}), kedge.Mesh.generate("cube 3")

    def setUp(self):
        from matplotlib import pyplot
        self.addCleanup(pyplot.close, "all")
        quiet = warnings.catch_warnings()
        self.addCleanup(quiet.__exit__, None, None, None)
        quiet.__enter__()
        warnings.simplefilter("ignore")  # matplotlib's own

    def solve(self, mesh, exact=LINEAR, order=2):
        problem = kedge.Problem(order=order, exact=exact, tolerance=1e-14, boundary={"default": kedge.Dirichlet()})
        return kedge.solve(mesh, problem, self.context, on_failure="warn")

    def drawn(self, draw):
        """Polygons in space that a call draws, their colours, and the axes."""
        from mpl_toolkits.mplot3d import art3d
        made = []

        class Recorded(art3d.Poly3DCollection):  # matplotlib asks for this class, which a function is not
            def __init__(self, polygons, **options):
                made.append((np.asarray(polygons), np.asarray(options["facecolors"])))
                super().__init__(polygons, **options)

        with mock.patch.object(art3d, "Poly3DCollection", Recorded):
            axes = draw()
        (polygons, colors), = made
        return polygons, colors, axes

    def cut(self, draw):
        """Points of a slice, its triangles, values at the points, and the axes."""
        draw_triangles = matplotlib.axes.Axes.tripcolor
        with mock.patch.object(matplotlib.axes.Axes, "tripcolor", autospec=True, side_effect=draw_triangles) as made:
            axes = draw()
        _, a, b, triangles, values = made.call_args[0]
        return np.stack([a, b], axis=-1), triangles, values, axes

    def area(self, points, triangles):
        (ax, ay), (bx, by) = np.moveaxis(points[triangles][:, 1:] - points[triangles][:, :1], 0, -1)
        return np.abs(ax * by - ay * bx).sum() / 2

    def test_the_surface_has_the_colours_of_the_field_there(self):
        from matplotlib import pyplot
        faces = self.mesh.info["boundary_edges"]
        for s in self.solve(self.mesh), self.solve(self.mesh).expression() + 0:
            for order, more in (1, {}), (3, {"edges": False}):
                polygons, colors, axes = self.drawn(lambda: s.plot(order=order, **more))
                n = faces * order**2
                self.assertEqual(polygons.shape, (n + (0 if more else faces * 3 * order), 3, 3))
                corners = polygons[:n]
                normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
                area = np.linalg.norm(normals, axis=1).sum() / 2
                self.assertAlmostEqual(area, sum(g.measure for g in self.mesh.groups if g.dimension == 2), delta=1e-12)
                np.testing.assert_allclose(polygons.min(axis=(0, 1)), self.mesh.info["low"], atol=1e-14)
                np.testing.assert_allclose(polygons.max(axis=(0, 1)), self.mesh.info["high"], atol=1e-14)
                x, y, z = corners.mean(axis=1).T
                values = 1 + 2 * x - 3 * y + z
                bar = axes.figure.axes[1]
                np.testing.assert_allclose(bar.get_ylim(), [values.min(), values.max()], rtol=0, atol=1e-10)
                shares = (values - values.min()) / np.ptp(values)
                off = np.abs(colors[:n] - pyplot.get_cmap("viridis")(shares)).max()
                self.assertLess(off, 0.02)  # one step of the map, where rounding crosses it
                self.assertEqual(len(np.unique(colors[n:], axis=0)), 0 if more else 1)

    def test_options_of_colours_and_orders_are_those_asked_for(self):
        from matplotlib import pyplot
        s = self.solve(self.cube)
        _, colors, axes = self.drawn(lambda: s.plot("q", order=1, edges=False, cmap="magma", vmin=0, vmax=np.sqrt(14)))
        np.testing.assert_allclose(axes.figure.axes[1].get_ylim(), [0, np.sqrt(14)])
        self.assertEqual(axes.figure.axes[1].get_ylabel(), "|q|")
        axes.figure.savefig(io.BytesIO(), format="png")
        np.testing.assert_allclose(colors, np.tile(pyplot.get_cmap("magma")(1.0), (len(colors), 1)), atol=0.02)
        polygons, _, _ = self.drawn(lambda: s.plot(edges=False))
        self.assertEqual(len(polygons), self.cube.info["boundary_edges"] * 9)  # P + 1
        figure = matplotlib.figure.Figure()
        axes = figure.add_subplot(projection="3d")
        self.assertIs(s.plot(ax=axes), axes)

    def test_a_slice_covers_the_cut_and_has_the_values_there(self):
        s, t = self.solve(self.cube, "x*z - y^2 + z"), self.solve(self.cube)
        exact = {"u_star": lambda x, y, z: x * z - y**2 + z, "qz": lambda x, y, z: x + 1 + 0 * y,
                 "q": lambda x, y, z: np.sqrt(z**2 + 4 * y**2 + (x + 1)**2)}
        for axis in range(3):
            for at in 0, 1 / 3, 0.4, 0.5, 2 / 3, 1:
                for field, of in list(exact.items())[:3 if at == 0.4 else 1]:
                    points, triangles, values, axes = self.cut(lambda: s.plot(field, **{"xyz"[axis]: at}))
                    self.assertAlmostEqual(self.area(points, triangles), 1, delta=1e-12, msg=(axis, at))
                    x, y, z = np.insert(points, axis, at, axis=1).T
                    np.testing.assert_allclose(values, of(x, y, z), rtol=0, atol=1e-9)
                labels = [name for k, name in enumerate("xyz") if k != axis]
                self.assertEqual([axes.get_xlabel(), axes.get_ylabel()], labels)
        points, _, values, _ = self.cut(lambda: (s - 2 * t).plot(z=0.4))
        np.testing.assert_allclose(values, s(*points.T, 0.4) - 2 * t(*points.T, 0.4), rtol=0, atol=1e-9)

    def test_a_slice_of_a_mesh_from_a_file_has_its_area_and_lines_of_its_elements(self):
        mesh = kedge.Mesh(ROOT / "meshes/fichera.msh")
        s = self.solve(mesh, order=1)
        for at, area in (-0.5, 4), (0.5, 3), (0, 4), (-1, 4), (1, 3):
            points, triangles, values, axes = self.cut(lambda: s.plot(y=at, order=2))
            self.assertAlmostEqual(self.area(points, triangles), area, delta=1e-12)
            np.testing.assert_allclose(values, s(points[:, 0], at, points[:, 1], tolerance=1e-9), rtol=0, atol=1e-9)
            self.assertEqual(len(axes.collections), 2)
        axes.figure.savefig(io.BytesIO(), format="png")
        self.assertEqual(len(self.cut(lambda: s.plot(y=0.5, edges=False))[3].collections), 1)

    def test_a_mesh_is_drawn_by_its_groups(self):
        polygons, colors, axes = self.drawn(self.cube.plot)
        self.assertEqual(polygons.shape, (self.cube.info["boundary_edges"], 3, 3))
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        self.assertEqual(names, ["x0", "x1", "y0", "y1", "z0", "z1"])
        for k, name in enumerate(names):
            here = (colors == matplotlib.colors.to_rgba(f"C{k}")).all(axis=1)
            self.assertEqual(here.sum(), 18)
            self.assertTrue((np.abs(polygons[here][..., "xyz".index(name[0])] - int(name[1])) < 1e-15).all())
        polygons, _, _ = self.drawn(self.mesh.plot)
        middle = self.mesh.points.mean(axis=0)
        normals = np.cross(polygons[:, 1] - polygons[:, 0], polygons[:, 2] - polygons[:, 0])
        outward = np.einsum("fd,fd->f", normals, polygons.mean(axis=1) - middle)
        self.assertTrue((outward > 0).all())

    def test_a_file_is_drawn_as_its_solution_is(self):
        s = self.solve(self.mesh, "exp(x)*z")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.vtkhdf")
            s.write(path)
            w = kedge.read(path, self.mesh)
            for one, other in zip(self.drawn(s.plot)[:2], self.drawn(w.plot)[:2]):
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)

    def test_pictures_that_cannot_be_drawn_are_refused_in_a_sentence(self):
        from matplotlib import pyplot
        s = self.solve(self.cube)
        problem = kedge.Problem(source=1, boundary={"default": kedge.Dirichlet(0)})
        plane = kedge.solve(kedge.square(2), problem, self.context)
        flat, deep = pyplot.figure().add_subplot(), pyplot.figure().add_subplot(projection="3d")
        for says, call in (("^a slice has one of x, y and z; give that alone$", lambda: s.plot(x=0.5, y=0.5)),
                           ("^the slice at z = 1.5 misses the mesh, which goes from 0 to 1 there$",
                            lambda: s.plot(z=1.5)),
                           ("the slice at x = nan misses the mesh", lambda: s.plot(x=np.nan)),
                           ("x is True; it takes the number", lambda: s.plot(x=True)),
                           ("it takes the number at which a slice is drawn", lambda: s.plot(x="z")),
                           ("x is the place of a slice, which a mesh of the plane has none of",
                            lambda: plane.plot(x=0.5)),
                           ("ax has two dimensions, and a surface three: make it by", lambda: s.plot(ax=flat)),
                           ("ax has two dimensions, and a surface three: make it by", lambda: self.cube.plot(flat)),
                           ("ax has three dimensions, and a slice two", lambda: s.plot(ax=deep, z=0.5)),
                           (r"^plot\(\): Poly3DCollection of matplotlib says: ", lambda: s.plot(cmapp="jet")),
                           (r"^plot\(\): tripcolor of matplotlib says: ", lambda: s.plot(z=0.5, cmapp="jet")),
                           ("order", lambda: s.plot(order=0)), ("no field 'v'", lambda: s.plot("v"))):
            with self.subTest(says), self.assertRaisesRegex(kedge.Error, says):
                call()


if __name__ == "__main__":
    unittest.main()
