"""Fields at points of the plane."""
import threading
import unittest
from unittest import mock

import numpy as np
from support import ROOT, SIDES, backend, everywhere

import kedge
from kedge.cells import Quadrilateral, Triangle

U = "sin(x)*cosh(y)"


def u(x, y):
    return np.sin(x) * np.cosh(y)


def boundary(mesh):
    return everywhere(kedge.Dirichlet(), [g.name for g in mesh.groups if g.dimension == 1 and g.count])


class Points(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()

    def solve(self, mesh, order=4):
        return kedge.solve(mesh, kedge.Problem(order=order, exact=U, tolerance=1e-12, boundary=boundary(mesh)),
                           self.context, on_failure="warn")

    def test_nodes_of_cells_lie_where_the_library_has_them(self):
        for mesh, shape in ((kedge.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]), Triangle), (kedge.quads(1), Quadrilateral)):
            s = self.solve(mesh, 1)
            for order in range(1, 13):
                np.testing.assert_allclose(s.nodes(order)[0], shape.lattice(order) / order, atol=1e-15)

    def test_points_of_every_kind_of_mesh_are_found_and_those_outside_are_not(self):
        random = np.random.default_rng(7)
        for mesh in (kedge.square(7), kedge.mixed(6), kedge.quads(5, map=("x + 0.1*y^2", "y"), geometry=1), kedge.lshape(4),
                     kedge.ring(3, 24, geometry=5), kedge.ring(3, 24, quads=True, geometry=3)):
            with self.subTest(mesh):
                s = self.solve(mesh)
                left, low, right, high = mesh.box
                x, y = random.uniform(left - 0.1, right + 0.1, 40000), random.uniform(low - 0.1, high + 0.1, 40000)
                values = s(x, y)
                share = mesh.area / ((right - left + 0.2) * (high - low + 0.2))
                self.assertAlmostEqual(np.isfinite(values).mean(), share, delta=0.015)
                inside = np.isfinite(values)
                self.assertLess(np.abs(values - u(x, y))[inside].max(), 3e-4)
                np.testing.assert_allclose(s(x, y, "qx")[inside], (np.cos(x) * np.cosh(y))[inside], atol=0.01)

    def test_every_node_is_found_with_its_value(self):
        for mesh in (kedge.square(5), kedge.mixed(4), kedge.Mesh(ROOT / "meshes/plate.msh")):
            s = self.solve(mesh, 2)
            x, y = s.nodes(3).reshape(-1, 2).T
            self.assertLess(np.abs(s(x, y) - s.u_star.ravel()).max(), 2e-3 * np.abs(s.u_star).max())

    def test_points_on_the_boundary_are_inside(self):
        s = self.solve(kedge.square(3, map=("x/3", "y/7")))
        t = np.linspace(0, 1, 1001)
        for x, y in ((0 * t, t), (0 * t + 1, t), (t, 0 * t), (t, 0 * t + 1)):
            self.assertTrue(np.isfinite(s(x / 3, y / 7)).all())

    def edges(self, mesh, t):
        """Points of the boundary and unit normals outwards, at parts t of every edge: [edge][point][2] each."""
        elements, sides, _ = mesh.boundary
        shape_of, place = mesh.shape_places
        points, normals = np.empty((2, len(elements), len(t), 2))
        for k, (shape, _, maps) in enumerate(mesh.shapes):
            for side in range(shape.corners):
                here = np.flatnonzero((shape_of[elements] == k) & (sides == side))
                corner = shape.lattice(1)
                begin, step = corner[side], corner[(side + 1) % shape.corners] - corner[side]
                at, small = begin + t[:, None] * step, 1e-6 * step
                maps_of = maps.coefficients[place[elements[here]]]
                before, now, after = (np.einsum("pk,ekd->epd", maps.powers(*(at + move).T), maps_of)
                                      for move in (-small, 0, small))
                normal = (after - before)[..., ::-1] * [1, -1]
                points[here], normals[here] = now, normal / np.linalg.norm(normal, axis=-1, keepdims=True)
        return points, normals

    def test_points_that_rounding_puts_outside_have_values(self):
        t = np.linspace(0.05, 0.95, 7)
        for mesh in (kedge.square(3, map=("x/3", "y/7")), kedge.mixed(4, map=("1000 + x", "y")),
                     kedge.disk(3, geometry=3), kedge.ring(2, 12, quads=True, geometry=4),
                     kedge.Mesh(ROOT / "meshes/plate.msh")):
            with self.subTest(mesh):
                s = self.solve(mesh, 3)
                points, normals = self.edges(mesh, t)
                size = np.hypot(mesh.box[2] - mesh.box[0], mesh.box[3] - mesh.box[1])
                expected = s(*np.moveaxis(points - 1e-7 * size * normals, -1, 0))
                scale, far = np.abs(s.q).max(), np.abs(points).max()
                for at in points, points + 1e-12 * normals, points + 0.5e-9 * size * normals, points.astype(np.float32):
                    x, y = np.moveaxis(at, -1, 0)
                    values = s(x, y)
                    self.assertTrue(np.isfinite(values).all())
                    self.assertLess(np.abs(values - expected).max(), 20 * scale * (3e-7 * size + 2.0**-22 * far))
                    self.assertEqual(s(x, y, "q").shape, (*x.shape, 2))
                    s(x, y, outside="raise")
                x, y = np.moveaxis(points + 1e-6 * size * normals, -1, 0)
                self.assertTrue(np.isnan(s(x, y)).mean() > 0.9)
                self.assertTrue(np.isfinite(s(x, y, tolerance=2e-6 * size)).all())
                self.assertTrue(np.isnan(s(x, y, tolerance=0)).mean() > 0.9)

    def test_points_outside_have_the_value_of_the_nearest_place_of_the_boundary(self):
        random = np.random.default_rng(8)
        for mesh in (kedge.square(5), kedge.mixed(4), kedge.lshape(3), kedge.disk(3, geometry=3),
                     kedge.ring(2, 16, geometry=2)):
            with self.subTest(mesh):
                s = self.solve(mesh, 4)
                left, low, right, high = mesh.box
                x, y = random.uniform(left - 0.5, right + 0.5, 3000), random.uniform(low - 0.5, high + 0.5, 3000)
                inside = np.isfinite(s(x, y))
                found = s(x, y, nearest=True)
                np.testing.assert_array_equal(found[inside], s(x, y)[inside])
                outside = np.flatnonzero(~inside)
                number, element, at = mesh.outline.nearest(x[outside], y[outside], np.inf)
                np.testing.assert_array_equal(number, np.arange(len(outside)))
                places = np.empty((len(number), 2))
                shape_of, place = mesh.shape_places
                for k, (_, _, maps) in enumerate(mesh.shapes):
                    here = shape_of[element] == k
                    maps_of = maps.coefficients[place[element[here]]]
                    places[here] = np.einsum("pk,pkd->pd", maps.powers(*at[here].T), maps_of)
                distance = np.hypot(*(places - np.stack([x, y], axis=-1)[outside]).T)
                line = self.edges(mesh, np.linspace(0, 1, 65))[0].reshape(-1, 2)
                least = np.array([np.hypot(*(line - [a, b]).T).min() for a, b in zip(x[outside], y[outside])])
                self.assertLess((distance - least).max(), 1e-4 if mesh.info["geometry"] == 2 else 1e-9)
                self.assertLess(np.abs(found[outside] - u(*places.T)).max(), 1e-4)
                near = np.isin(np.arange(3000), outside[distance <= 0.1])
                np.testing.assert_array_equal(np.isfinite(s(x, y, tolerance=0.1)), inside | near)
                q = s(x, y, "q", nearest=True)
                np.testing.assert_array_equal(q[:, 0], s(x, y, "qx", nearest=True))
                np.testing.assert_array_equal(s(x, y, s.u_star, nearest=True), found)

    def test_distances_of_points_outside_are_judged(self):
        s = self.solve(kedge.square(3), 2)
        self.assertAlmostEqual(s(2, 1.5, nearest=True), s(1, 1))
        self.assertAlmostEqual(s(1.25, 0.5, tolerance=0.25), s(1, 0.5))
        self.assertTrue(np.isnan(s(1.25, 0.5, tolerance=0.2499)))
        for x, y in ((np.nan, 0.5), (np.inf, 0.5), (-np.inf, np.nan)):
            self.assertTrue(np.isnan(s(x, y, nearest=True)))
        self.assertEqual(s([], [], nearest=True).shape, (0,))
        self.assertEqual(s(np.full((2, 3), 5.0), 0, nearest=True).shape, (2, 3))
        values = s.u_star.copy()
        values[0] = np.nan
        x, y = s.nodes(1)[0].mean(axis=0)
        self.assertTrue(np.isnan(s(x, y, values, nearest=True)))
        self.assertTrue(np.isfinite(s(9, 9, values, nearest=True)))
        with self.assertRaisesRegex(kedge.InputError, "1 of 1 points lie outside"):
            s(1.25, 0.5, tolerance=0.1, outside="raise")
        for more, sentence in (({"tolerance": -1}, "tolerance is -1.0; it is 0 or more, and finite"),
                               ({"tolerance": np.inf}, "finite"), ({"tolerance": np.nan}, "tolerance is nan"),
                               ({"tolerance": "1"}, "tolerance is '1'; it takes a number"),
                               ({"tolerance": True}, "it takes a number"),
                               ({"nearest": 1}, "nearest is 1; it is True or False"),
                               ({"nearest": True, "tolerance": 1}, "leave it or tolerance out")):
            with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, sentence):
                s(0.5, 0.5, **more)
        there = mock.Mock(__dlpack_device__=lambda: (2, 0))
        with mock.patch.object(kedge.Context, "backend", "cuda"):
            for more in {"tolerance": 1e-3}, {"nearest": True}:
                with self.assertRaisesRegex(TypeError, "tolerance and nearest are for points on the host; copy x"):
                    s(there, there, **more)

    def test_every_point_is_found_far_from_the_origin_and_in_flat_elements(self):
        x, y = np.random.default_rng(5).uniform(0, 1, (2, 20000))
        for generate in (kedge.square, kedge.quads, kedge.mixed):
            for scale, far in ((1, 1000), (1, 1e6), (1e-3, 1e4), (1e-6, 0)):
                with self.subTest(generate=generate.__name__, scale=scale, far=far):
                    mesh = generate(10, map=(f"{far} + x", f"{scale}*y - {far}"))
                    places = [mesh.locator.values(1, nodes, far + x, scale * y - far)
                              for nodes in np.ascontiguousarray(mesh.nodes.T)]
                    self.assertFalse(np.isnan(places).any())
                    rounding = 1e-15 * far
                    self.assertLess(np.abs(places[0] - far - x).max(), 1e-10 + rounding)
                    self.assertLess(np.abs(places[1] + far - scale * y).max(), 1e-10 * scale + rounding)
        for mesh in (kedge.quads(4, map=("1000 + x + 0.1*y", "y + 0.1*x*y")),
                     kedge.ring(3, 24, geometry=4, map=("x + 1e5", "y")), kedge.disk(3, geometry=3, map=("x", "y - 1e5")),
                     kedge.ring(3, 24, quads=True, geometry=3, map=("x - 1e5", "y"))):
            places = np.concatenate([maps.places(*shape.rule(5)[:2]).reshape(-1, 2) for shape, _, maps in mesh.shapes])
            geometry = mesh.info["geometry"]
            for axis, nodes in enumerate(np.ascontiguousarray(mesh.nodes.T)):
                found = mesh.locator.values(geometry, nodes, *places.T)
                self.assertLess(np.abs(found - places[:, axis]).max(), 1e-9, mesh)
                self.assertTrue(np.isnan(mesh.locator.values(geometry, nodes, *(places + 10).T)).all(), mesh)

    def test_strongly_graded_meshes_have_no_slow_cell(self):
        steps = np.concatenate([[0], 2.0 ** -np.arange(40, -1, -1)])
        n = len(steps)
        x, y = (side.ravel() for side in np.meshgrid(steps, steps))
        k = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
        mesh = kedge.Mesh(np.column_stack([x, y]), np.column_stack([k, k + 1, k + n + 1, k + n]))
        points = 2.0 ** np.random.default_rng(3).uniform(-40, 0, (20000, 2))
        for number, axis in ((k % n, 0), (k // n, 1)):
            found = mesh.locator.values(1, np.repeat(number.astype(float), 4), *points.T)
            np.testing.assert_allclose(found, np.searchsorted(steps, points[:, axis]) - 1, rtol=0, atol=1e-12)

    def test_shapes_of_arrays_are_kept_and_numbers_give_a_number(self):
        s = self.solve(kedge.square(3))
        self.assertIsInstance(s(0.5, 0.25), float)
        self.assertEqual(s(np.zeros((2, 3)), 0.5).shape, (2, 3))
        self.assertEqual(s([], []).shape, (0,))
        self.assertTrue(np.isnan(s(2, 2)))
        with self.assertRaisesRegex(ValueError, r"1 of 2 points lie outside of the mesh, the first at \(2, 0\)"):
            s([0.5, 2], [0.5, 0], outside="raise")

    def test_what_points_cannot_have_is_refused(self):
        s = self.solve(kedge.square(2), 1)
        for outside in ("error", "", None, True):
            with self.assertRaisesRegex(ValueError, 'it is "nan" or "raise"'):
                s(0.5, 0.5, outside=outside)
        for take in (lambda: s(0.5, 0.5, "flux"), *(lambda of=of: of("flux") for of in (
                s.prepare, s.quadrature, s.values, s.means, s.field, s.at_vertices, s.plot))):
            with self.assertRaisesRegex(ValueError, "^there is no field 'flux'; fields are u, qx, qy, u_star, sigma_x, "
                                                    "sigma_y, q, sigma$"):
                take()
        s.prepare("q")
        with self.assertRaisesRegex(ValueError, "q is a vector, and data are numbers; take its parts: qx, qy"):
            s.field("q")
        for take in (lambda: s(None, 0.5), lambda: s([0.5, None], 0.5)):
            with self.assertRaisesRegex(TypeError, "x holds None, which is no real number"):
                take()
        for take in (s.at_vertices, s.prepare, s.quadrature, s.values, s.means, s.field):
            with self.assertRaisesRegex(ValueError, r"there is no field \[\]"):
                take([])
        with self.assertRaisesRegex(ValueError, r"field is an array of the shape \(3,\); values at nodes have that of s.u_star, \(8, 6\)"):
            s(0.5, 0.5, np.zeros(3))

    def test_vectors_are_fields_wherever_a_name_is_taken(self):
        for mesh in (kedge.square(3), kedge.mixed(3)):
            s = self.solve(mesh, 2)
            for vector, parts in ("q", ("qx", "qy")), ("sigma", ("sigma_x", "sigma_y")):
                for of in (s.values, lambda field: s.values(field=field, order=5), s.means, s.at_vertices,
                           lambda field: s(0.3, 0.4, field), lambda field: s.quadrature("u", field, points=3)[3]):
                    found = of(vector)
                    self.assertEqual(found.shape[-1], 2)
                    np.testing.assert_array_equal(found, np.stack([of(part) for part in parts], axis=-1))
            np.testing.assert_array_equal(s.values("q"), s.q)
            *_, q, u = s.quadrature("q", "u")
            self.assertEqual(q.shape, (*u.shape, 2))

    def test_the_flux_is_diffusion_times_the_gradient_at_points(self):
        x, y = np.random.default_rng(2).uniform(0.3, 0.7, (2, 500))
        for mesh, diffusion, tolerance in ((kedge.square(6), (2, 0.5, 1), 1e-12), (kedge.mixed(6), 3, 1e-12),
                                           (kedge.square(6), "1 + x*y", 1e-4), (kedge.disk(4, geometry=3), "2 + x", 1e-4)):
            problem = kedge.Problem(order=4, exact=U, diffusion=diffusion, boundary=boundary(mesh), tolerance=1e-12)
            s = kedge.solve(mesh, problem, self.context, on_failure="warn")
            xx, xy, yy = diffusion if isinstance(diffusion, tuple) else (eval(str(diffusion), {"x": x, "y": y}), 0, 0)
            yy = yy or xx
            q = s(x, y, "q")
            expected = np.stack([xx * q[:, 0] + xy * q[:, 1], xy * q[:, 0] + yy * q[:, 1]], axis=-1)
            self.assertEqual(s(x, y, "sigma").shape, (500, 2))
            np.testing.assert_allclose(s(x, y, "sigma"), expected, atol=tolerance * np.abs(expected).max())
            np.testing.assert_array_equal(s(x, y, "sigma")[:, 1], s(x, y, "sigma_y"))

    def test_arrays_at_nodes_are_fields(self):
        for mesh in (kedge.square(4), kedge.quads(3), kedge.mixed(4)):
            s = self.solve(mesh, 3)
            x, y = np.random.default_rng(4).uniform(0, 1, (2, 300))
            np.testing.assert_array_equal(s(x, y, s.u_star), s(x, y))
            np.testing.assert_allclose(s(x, y, s.values("u", 7)), s(x, y, "u"), atol=1e-12)

    def test_several_threads_find_points_at_once(self):
        from concurrent.futures import ThreadPoolExecutor
        s = self.solve(kedge.mixed(8), 3)
        x, y = np.random.default_rng(6).uniform(0, 1, (2, 20000))
        s.prepare()
        expected = s(x, y)
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(lambda _: s(x, y), range(8)):
                np.testing.assert_array_equal(found, expected)

    def test_no_thread_takes_the_field_that_another_one_has_kept(self):
        mesh = kedge.square(3)
        locator, nodes = mesh.locator, list(np.ascontiguousarray(mesh.nodes.T))  # the host's memory is the device's
        x, y, values = np.array([0.3, 0.6]), np.array([0.1, 0.2]), np.empty((2, 2))
        call, others = kedge.Context.call, []

        def fill(axis):
            locator.fill(1, nodes[axis], 2, x.ctypes.data, y.ctypes.data, values[axis].ctypes.data)

        def between(context, name, *arguments):
            call(context, name, *arguments)
            if name == "kedge_locator_keep" and not others:
                others.append(threading.Thread(target=fill, args=(1,)))
                others[0].start()
                others[0].join(0.1)

        with mock.patch.object(kedge.Context, "call", between):
            fill(0)
            others[0].join()
        np.testing.assert_allclose(values, [x, y], rtol=0, atol=1e-14)

    def test_a_solution_is_a_source(self):
        mesh = kedge.square(4)
        first = self.solve(mesh, 3)
        problem = kedge.Problem(order=3, source=first, boundary=everywhere(kedge.Dirichlet(0), SIDES))
        s = kedge.solve(mesh, problem, self.context, on_failure="warn")
        same = kedge.solve(mesh, problem.replace(source=U), self.context, on_failure="warn")
        np.testing.assert_allclose(s.u, same.u, atol=1e-6)
        first.prepare()
        kedge.solve(mesh, problem.replace(source=lambda x, y: 1 + first(x, y)**2), self.context, on_failure="warn")
        near = kedge.solve(mesh, problem.replace(source=lambda x, y: first(x + 9, y, nearest=True)), self.context)
        same = kedge.solve(mesh, problem.replace(source=lambda x, y: first(1 + 0 * x, y)), self.context)
        np.testing.assert_allclose(near.u, same.u, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
