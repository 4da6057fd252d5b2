"""Fields at points of space, probes, integrals and quadrature there."""
import csv
import json
import os
import subprocess
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np
from support import ROOT, OnBackend, everywhere

import kedge

MAP = "x+0.2*y*z", "y-0.1*x+0.1*x*z", "z+0.1*x*y"
POLYNOMIALS = {1: "1+2*x-y+3*z", 2: "1+2*x-y+x*z-y^2", 3: "1-y+x*y*z-z^3+2*x^2*y"}
FIELDS = "u", "u_star", "qx", "qy", "qz", "sigma_x", "sigma_y", "sigma_z"
FILE = """[mesh]
generate = cube 3
[parameters]
k = 2
[space]
order = 3
[solver]
tolerance = 1e-13
[equation]
diffusion = 3
[exact]
u = 1-y+x*y*z-z^3+2*x^2*y
[boundary default]
type = dirichlet
[integral heat]
of = flux
on = x1
[integral square]
of = k*u_star^2 + z*qz
quadrature = 6
[integral top]
of = sigma_z*normal_z + x
on = z1
[probe axis]
line = 0.1 0.2 0.3, 0.9 0.7 1.2, 7
output = axis.csv
"""


def turned_inside_out(mesh):
    """The mesh of arrays, of which every other tetrahedron has a negative volume."""
    cells = mesh.cells["tetra"].copy()
    cells[::2] = cells[::2][:, [1, 0, 2, 3]]
    return kedge.Mesh(mesh.points, {"tetra": cells})


def known(order, x, y, z):
    """The polynomial of an order and its derivatives: [point][4]."""
    one = 1 + 0 * (x + y + z)
    parts = {1: (1 + 2 * x - y + 3 * z, 2, -1, 3),
             2: (1 + 2 * x - y + x * z - y**2, 2 + z, -1 - 2 * y, x),
             3: (1 - y + x * y * z - z**3 + 2 * x**2 * y, y * z + 4 * x * y, -1 + x * z + 2 * x**2, x * y - 3 * z**2)}
    return np.stack([part * one for part in parts[order]], axis=-1)


class InSpace(OnBackend):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cube = kedge.Mesh.generate("cube 3", map=MAP, geometry=1)
        cls.meshes = {"moved": cube, "turned": turned_inside_out(cube), "straight": kedge.Mesh.generate("cube 3")}

    def solved(self, mesh="straight", order=3, exact=None, **more):
        mesh = self.meshes[mesh] if isinstance(mesh, str) else mesh
        problem = kedge.Problem(order=order, exact=exact or POLYNOMIALS[order], diffusion=3, tolerance=1e-14,
                                boundary={"default": kedge.Dirichlet()}, **more)
        with warnings.catch_warnings():  # where the exact solution is in the space, the iteration leaves the error
            warnings.simplefilter("ignore", kedge.Note)
            return kedge.solve(mesh, problem, self.context, on_failure="warn")


class Points(InSpace):
    def within(self, mesh, n, seed=3, zeros=0):
        """Points of random elements, with some shares of corners that are 0: on faces, on edges, corners."""
        random = np.random.default_rng(seed)
        shares = random.dirichlet(np.ones(4), n)
        shares[np.arange(n)[:, None], random.permuted(np.tile(np.arange(4), (n, 1)), axis=1)[:, :zeros]] = 0
        corners = mesh.points[mesh.cells["tetra"][random.integers(mesh.elements, size=n)]]
        return np.einsum("nc,ncd->dn", shares / shares.sum(axis=1, keepdims=True), corners)

    def test_polynomials_come_back_inside_on_faces_on_edges_and_at_corners(self):
        for name, mesh in self.meshes.items():
            for order in POLYNOMIALS:
                s = self.solved(name, order)
                for zeros in range(4):
                    with self.subTest(name, order=order, zeros=zeros):
                        at = self.within(mesh, 501, zeros=zeros)
                        exact = known(order, *at)
                        np.testing.assert_allclose(s(*at), exact[:, 0], rtol=0, atol=1e-11)
                        np.testing.assert_allclose(s(*at, "u"), exact[:, 0], rtol=0, atol=1e-11)
                        np.testing.assert_allclose(s(*at, "q"), exact[:, 1:], rtol=0, atol=3e-10)
                        np.testing.assert_allclose(s(*at, "sigma"), 3 * exact[:, 1:], rtol=0, atol=1e-9)
                        np.testing.assert_array_equal(s(*at, field="qz"), s(*at, "q")[:, 2])

    def test_nodes_of_cells_lie_where_the_library_has_them(self):
        for name, mesh in self.meshes.items():
            (shape, _, maps), = mesh.shapes
            s = self.solved(name, 1)
            for order in range(1, 9):
                places = maps.places(*shape.lattice(order).T / order)
                np.testing.assert_allclose(places, s.nodes(order), rtol=0, atol=1e-15)
            self.assertTrue((maps.jacobians(*np.zeros((3, 1))) > 0).all(), name)
        self.assertTrue(0 < self.meshes["turned"].turned.mean() < 1)

    def test_corners_are_the_nodes_of_order_1_and_have_positive_volumes(self):
        for name, mesh in self.meshes.items():
            with self.subTest(name):
                corners = mesh.points[mesh.cells["tetra"]]
                self.assertTrue((np.linalg.det(corners[:, 1:] - corners[:, :1]) > 0).all())
                np.testing.assert_array_equal(mesh.nodes, corners.reshape(-1, 3))
                np.testing.assert_array_equal(self.solved(name, 1).nodes(1), corners)
                elements, sides, groups = mesh.boundary
                faces = [tuple(sorted(np.delete(cell, side)))
                         for cell, side in zip(mesh.cells["tetra"][elements], sides)]
                every = [tuple(sorted(np.delete(cell, side))) for cell in mesh.cells["tetra"] for side in range(4)]
                self.assertEqual(set(faces), {face for face in every if every.count(face) == 1})
                for face, group in zip(faces, groups if name == "straight" else ()):
                    axis, at = mesh.groups[group].name
                    np.testing.assert_array_equal(mesh.points[list(face), "xyz".index(axis)], int(at))

    def test_fields_at_vertices_are_those_of_the_vertices(self):
        for name, mesh in self.meshes.items():
            s = self.solved(name, 1)
            with tempfile.TemporaryDirectory() as folder:
                s.write(os.path.join(folder, "s.vtkhdf"))
                for where, one in ("solved", s), ("read", kedge.read(os.path.join(folder, "s.vtkhdf"))):
                    with self.subTest(name, where=where):
                        exact = known(1, *one.mesh.points.T)
                        np.testing.assert_allclose(one.at_vertices("u"), exact[:, 0], rtol=0, atol=1e-11)
                        np.testing.assert_allclose(one.at_vertices("q"), exact[:, 1:], rtol=0, atol=1e-10)

    def test_every_point_of_a_mesh_from_a_file_is_found_and_the_rest_is_outside(self):
        mesh = kedge.Mesh(ROOT / "meshes/fichera.msh")
        s = self.solved(mesh, 1)
        at = np.random.default_rng(4).uniform(-1.1, 1.1, (3, 20000))
        outside = (np.abs(at) > 1).any(axis=0) | (at > 0).all(axis=0)
        if mesh.info["low"] != (-1, -1, -1):
            self.fail("Fichera's corner is no longer (-1, 1)^3")
        np.testing.assert_array_equal(np.isnan(s(*at)), outside)
        self.assertLess(np.abs(s(*at) - known(1, *at)[:, 0])[~outside].max(), 1e-10)

    def test_shapes_of_arrays_are_kept_and_numbers_give_a_number(self):
        s = self.solved()
        self.assertIsInstance(s(0.5, 0.25, 0.1), float)
        self.assertIsInstance((2 * s)(0.5, 0.25, 0.1), float)
        self.assertEqual(s(0.5, 0.25, 0.1, "sigma").shape, (3,))
        self.assertEqual(s(np.zeros((2, 3)), 0.5, np.ones(3)).shape, (2, 3))
        self.assertEqual(s([], [], []).shape, (0,))
        self.assertTrue(np.isnan(s(0.5, 0.5, 2)))
        for values in s.u_star, s.values("u", 2):
            np.testing.assert_allclose(s([0.2, 0.3], 0.4, 0.6, values), s([0.2, 0.3], 0.4, 0.6), atol=0.1)
        np.testing.assert_array_equal(s([0.2, 0.3], 0.4, 0.6, s.u_star), s([0.2, 0.3], 0.4, 0.6))

    def test_points_outside_are_judged_by_their_distance(self):
        s = self.solved()
        at = np.random.default_rng(8).uniform(-0.5, 1.5, (3, 9001))
        near = np.clip(at, 0, 1)  # the nearest place of the cube
        distance = np.linalg.norm(at - near, axis=0)
        np.testing.assert_array_equal(np.isnan(s(*at)), distance > 0)
        np.testing.assert_allclose(s(*at, nearest=True), known(3, *near)[:, 0], rtol=0, atol=1e-11)
        np.testing.assert_allclose(s(*at, "q", nearest=True), known(3, *near)[:, 1:], rtol=0, atol=1e-9)
        np.testing.assert_array_equal(np.isfinite(s(*at, tolerance=0.2)), distance <= 0.2)
        np.testing.assert_array_equal(s(*at, s.u_star, nearest=True), s(*at, nearest=True))
        for x in np.nan, np.inf:
            self.assertTrue(np.isnan(s(x, 0.5, 0.5, nearest=True)))
        self.assertAlmostEqual(s(0.3, 0.4, 1 + 5e-10), s(0.3, 0.4, 1), delta=1e-8)
        self.assertTrue(np.isnan(s(0.3, 0.4, 1 + 5e-10, tolerance=0)))
        self.assertFalse(np.isnan(s(np.float32(1 + 1e-7), np.float32(0.5), np.float32(0.5))))
        says = r"^1 of 2 points lie outside of the mesh, the first at \(0.5, 0, 2\)$"
        with self.assertRaisesRegex(kedge.InputError, says):
            s([0.5, 0.5], 0, [0.5, 2], outside="raise")
        with self.assertRaisesRegex(kedge.InputError, "1 of 1 points lie outside"):
            s(3, 0, 0, "u", "raise")
        self.assertRaises(kedge.InputError, s, 0.5, 0.5, 0.5, outside="none")

    def test_the_nearest_place_of_a_corner_that_points_inwards_is_on_its_walls(self):
        s = self.solved(kedge.Mesh(ROOT / "meshes/fichera.msh"), 1)
        at = np.random.default_rng(9).uniform(0, 1, (3, 501))
        least = at.argmin(axis=0)
        near = at.copy()
        near[least, np.arange(501)] = 0
        np.testing.assert_allclose(s(*at, nearest=True), known(1, *near)[:, 0], rtol=0, atol=1e-10)

    def test_the_nearest_place_is_nearer_than_all_others_of_a_bent_surface(self):
        mesh = self.meshes["turned"]
        at = self.within(mesh, 400) * 3 - 1
        number, element, place = mesh.outline.nearest(*at, np.inf)
        np.testing.assert_array_equal(number, np.arange(400))
        (_, _, maps), = mesh.shapes
        found = np.einsum("pk,pkd->dp", maps.powers(*place.T), maps.coefficients[element])
        elements, sides, _ = mesh.boundary
        corners = mesh.points[np.array([np.delete(mesh.cells["tetra"][e], side) for e, side in zip(elements, sides)])]
        shares = np.array([(i, j, 12 - i - j) for i in range(13) for j in range(13 - i)]) / 12
        others = np.einsum("sc,fcd->dfs", shares, corners).reshape(3, -1)
        least = np.array([np.linalg.norm(others - one[:, None], axis=0).min() for one in at.T])
        distance = np.linalg.norm(found - at, axis=0)
        self.assertLess((distance - least).max(), 1e-14)
        self.assertLess((least - distance).max(), 0.05)

    def test_points_of_another_dimension_are_refused(self):
        s = self.solved()
        problem = kedge.Problem(source=1, boundary={"default": kedge.Dirichlet(0)})
        plane = kedge.solve(kedge.square(2), problem, self.context)
        two, three = "of tetrahedra, and a point has x, y and z: ", "of the plane, and a point has x and y alone: "
        probe, more = kedge.Probe(s.mesh, 0.5, 0.5, 0.5), kedge.Probe(plane.mesh, 0.5, 0.5)
        for says, call in ((two, lambda: s(0.5, 0.5)), (two, lambda: s(0.5, 0.5, "qx")),
                           (two, lambda: (s + 1)(0.5, 0.5)), (two, lambda: s(0.5, 0.5, field="u")),
                           (two, lambda: kedge.Probe(s.mesh, 0.5, 0.5)),
                           (three, lambda: plane(0.5, 0.5, 0.5)), (three, lambda: (plane + 1)(0.5, 0.5, 0.5)),
                           (three, lambda: (plane + 1)([0.5], [0.5], [0.5])),
                           (three, lambda: kedge.Probe(plane.mesh, 0.5, 0.5, 0.5)),
                           (r"shape \(1,\).*; a point of the plane has x and y alone$",
                            lambda: plane([0.5], [0.5], [0.5])),
                           (r"^x has the shape \(2,\) and y \(\) and z \(3,\); take", lambda: s([0, 1], 0, [0, 1, 1])),
                           ("z holds None, which is no real number", lambda: s(0.5, 0.5, [None])),
                           ("qz", lambda: plane(0.5, 0.5, "qz")), ("qz", lambda: more.values(plane, "qz")),
                           ("no field 'flux'", lambda: s(0.5, 0.5, 0.5, "flux")),
                           ("no field 'flux'", lambda: probe.values(s, "flux"))):
            with self.subTest(says), self.assertRaisesRegex(kedge.Error, says):
                call()
        there = mock.Mock(__dlpack_device__=lambda: (2, 0))
        with mock.patch.object(kedge.Context, "backend", "cuda"):
            with self.assertRaisesRegex(TypeError, "are for points on the host; copy x, y and z to it"):
                s(there, there, there, nearest=True)
            with self.assertRaisesRegex(TypeError, "z is no array on a GPU, where x is one"):
                s(there, there, 0.5)

    def test_a_plan_counts_nodes_of_tetrahedra(self):
        mesh = self.meshes["straight"]
        plan = kedge.plan(mesh, kedge.Problem(order=3, boundary={"default": kedge.Dirichlet(0)}), self.context)
        tree = kedge._library.library.kedge_locator_bytes(mesh.handle)
        self.assertEqual(plan["points_bytes"] - tree, -(-8 * 35 * mesh.elements // 256) * 256)
        self.assertEqual(plan["dimension"], 3)

    def test_a_function_of_the_caller_finds_points(self):
        s = self.solved()
        s.prepare("q")
        one, two = (self.solved(exact="1", source=source, order=2).u
                    for source in ("x*y - 3*z^2", lambda x, y, z: s(x, y, z, "qz")))
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-10)

    def test_expressions_have_values_at_points(self):
        s, t = self.solved(), self.solved(order=2)
        at = np.random.default_rng(5).uniform(-0.1, 1.1, (3, 4, 25))
        inside = ((0 <= at) & (at <= 1)).all(axis=0)
        e = (s - t)**2 + np.where(s > 1, t.field("qz"), 0)
        u, v = known(3, *at), known(2, *at)
        exact = (u[..., 0] - v[..., 0])**2 + np.where(u[..., 0] > 1, v[..., 3], 0)
        np.testing.assert_allclose(e(*at), np.where(inside, exact, np.nan), rtol=0, atol=1e-9)
        np.testing.assert_allclose((s - t)(*at, nearest=True), s(*at, nearest=True) - t(*at, nearest=True), atol=1e-13)
        with self.assertRaisesRegex(kedge.InputError, "points lie outside of the mesh, the first at"):
            e(*at, "raise")
        numbers = np.arange(s.mesh.elements) + 0.5
        middles = s.nodes(1).mean(axis=1)
        np.testing.assert_array_equal((numbers + 0 * s)(*middles.T), numbers)

    def test_errors_against_functions_and_solutions_are_those_against_text(self):
        s, t = self.solved(), self.solved("straight", 2)
        text = s.error("x*z + y")
        parts = (lambda x, y, z: x * z + y, lambda x, y, z: z, lambda x, y, z: 1.0, lambda x, y, z: x)
        for error in s.error(parts), s.error(parts[0], *parts[1:3], du_dz=parts[3]):
            np.testing.assert_allclose(error, text, rtol=1e-12)
        self.assertEqual(s.error(parts[0], norm="u"), s.error(parts[0]).u)
        self.assertTrue(np.isnan(s.error(parts[0], *parts[1:3]).q))
        np.testing.assert_allclose(s.error(t), s.error(POLYNOMIALS[2]), rtol=1e-8)


class Probes(InSpace):
    def test_fields_at_nodes_are_those_of_their_elements(self):
        for name, mesh in self.meshes.items():
            with self.subTest(name):
                s = self.solved(name, 3, "exp(x)*y + sin(z)")
                inside = np.arange(s.nodes(6).shape[1]) >= 74  # none on a face
                at = s.nodes(6)[:, inside]
                probe = kedge.Probe(mesh, *np.moveaxis(at, -1, 0))
                self.assertEqual((probe.shape, probe.outside), (at.shape[:2], 0))
                for field in FIELDS:
                    expected = s.values(field, 6)[:, inside]
                    rounding = 1e-11 * abs(expected).max()
                    np.testing.assert_allclose(probe.values(s, field), expected, rtol=0, atol=rounding)
                self.assertEqual(probe.values(s, "sigma").shape, (*probe.shape, 3))
                np.testing.assert_array_equal(probe.values(s, "q")[..., 2], probe.values(s, "qz"))

    def test_values_at_points_are_those_of_s(self):
        s = self.solved("moved")
        at = np.random.default_rng(2).uniform(-0.2, 1.2, (3, 20, 30))
        probe = kedge.Probe(s.mesh, *at)
        self.assertEqual(probe.outside, np.isnan(s(*at)).sum())
        self.assertTrue(0 < probe.outside < 600)
        for field in "u_star", "u", "qz":  # q is linear in q of order 4, which holds it
            np.testing.assert_allclose(probe.values(s, field), s(*at, field), rtol=0, atol=1e-10)
        self.assertEqual(repr(probe), f"<kedge.Probe: 600 points, {probe.outside} outside>")
        with self.assertRaisesRegex(kedge.InputError, "a probe has at least one point"):
            kedge.Probe(s.mesh, [], [], [])
        with self.assertRaisesRegex(kedge.InputError, "no point of the probe lies in"):
            kedge.Probe(s.mesh, 9, 9, 9)

    def test_probes_of_a_problem_and_of_the_command_write_the_same_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.ini")
            with open(path, "w", encoding="utf-8") as file:
                file.write(FILE)
            problem = kedge.Problem.read(path, probes={"corners": [[0, 0, 0], [1, 1, 1]]})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", kedge.Note)
                s = kedge.Solver(problem.mesh(), problem, self.context).solve()
            self.assertEqual(list(s.probes), ["axis", "corners"])
            np.testing.assert_allclose(s.probes["corners"].values(s), [1, 2], rtol=0, atol=1e-9)
            self.assertEqual(s.probes["axis"].outside, 2)
            s.probes["axis"].write(s, os.path.join(folder, "mine.csv"))

            def table(name):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    head, *rows = csv.reader(file)
                self.assertEqual(head, ["x", "y", "z", "region", *FIELDS])
                return np.array([[float(one or "nan") for one in row] for row in rows])

            mine = table("mine.csv")
            np.testing.assert_array_equal(mine[:, 5], s.probes["axis"].values(s))
            np.testing.assert_array_equal(np.isnan(mine[:, 5]), mine[:, 2] > 1)
            command = os.environ.get("KEDGE_COMMAND")
            if command and self.context.backend == "host":
                subprocess.run([command, "solve", path, "-q", "--backend", "host"], check=True, cwd=folder)
                np.testing.assert_allclose(table("axis.csv"), mine, rtol=0, atol=1e-11)
            with self.assertRaisesRegex(kedge.InputError, r"probes\['a'\] has the shape \(3,\)"):
                kedge.Problem(probes={"a": [1, 2, 3]})


class Integrals(InSpace):
    def test_text_and_data_are_integrated_over_domain_and_faces(self):
        s, t = self.solved(parameters={"k": 4}), self.solved(order=2)
        u3, u2 = (f"({POLYNOMIALS[order]})" for order in (3, 2))
        for value, exact in ((s.integrate("z"), 1 / 2), (s.integrate("k*qz"), 4 * (1 / 4 - 1)),
                             (s.integrate("flux", on="z1"), 3 * (1 / 4 - 3)), (s.integrate("normal_z", "z0"), -1),
                             (s.integrate("sigma_z*normal_z", "z1", 6), 3 * (1 / 4 - 3)), (s.integrate("region"), 1),
                             (s.integrate(s), s.integrate(u3)), (s.integrate(s, "x1"), s.integrate(u3, "x1")),
                             (s.integrate((s - t)**2), s.integrate(f"({u3} - {u2})^2")),
                             (s.integrate(s.field("qz") * t, on="y1"), s.integrate(f"(x*y - 3*z^2)*{u2}", "y1")),
                             (s.integrate(lambda x, y, z: x * y * z), 1 / 8),
                             (s.integrate(lambda x, y, z, normal: normal[2] + y * z, on="z1"), 1.5)):
            self.assertAlmostEqual(value, exact, delta=1e-9)
        numbers = np.arange(s.mesh.elements) % 2
        self.assertAlmostEqual(s.integrate(numbers), s.integrate(numbers * (1 + 0 * s)), delta=1e-13)
        self.assertAlmostEqual(sum(s.integrate("flux", on=name) for name in ("x0", "x1", "y0", "y1", "z0", "z1")),
                               sum(group.flux for group in s.groups.values()), delta=1e-11)

    def test_quadrature_is_on_the_domain_regions_and_groups_as_integrals_are(self):
        straight = kedge.Mesh.generate("cube 2")
        cells = straight.cells["tetra"].copy()
        cells[1::3] = cells[1::3][:, [0, 2, 1, 3]]
        above = straight.points[cells].mean(axis=1)[:, 2] > 0.5
        elements, sides, groups = straight.boundary
        faces = {}
        for element, side, group in zip(elements, sides, groups):
            faces.setdefault(straight.groups[group].name, []).append(np.delete(straight.cells["tetra"][element], side))
        mesh = kedge.Mesh(straight.points + 0.1 * straight.points[:, [1, 2, 0]]**2, {"tetra": cells}, faces,
                          regions=list(np.where(above, "above", "below")))
        s = self.solved(mesh, 2, "exp(x)*z + y^2")
        for on in None, "all", "above", "below", "x0", "y1", "z1":
            weight, at, u, q, qz = s.quadrature("u", "q", "qz", points=9, on=on)
            self.assertEqual((len(at), at[2].shape, u.shape), (3, weight.shape, weight.shape))
            self.assertEqual(q.shape, (*weight.shape, 3))
            np.testing.assert_array_equal(q[..., 2], qz)
            self.assertTrue((weight > 0).all())
            for value, of in ((1, "1"), (u**2, "u^2"), (at[0] * at[2]**2 * u, "x*z^2*u"), (q[..., 0] * qz, "qx*qz")):
                exact = s.integrate(of, on=on, quadrature=9)
                self.assertAlmostEqual(np.sum(weight * value), exact, delta=1e-12 * max(1, abs(exact)), msg=(on, of))
        for name in "x0", "z1":
            elements, sides, groups = mesh.boundary
            mine = np.flatnonzero(groups == [group.name for group in mesh.groups].index(name))
            _, at = s.quadrature(points=2, on=name)
            corners = mesh.points[np.array([np.delete(mesh.cells["tetra"][elements[k]], sides[k]) for k in mine])]
            normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            off = np.einsum("fdp,fd->fp", np.stack(at, axis=1) - corners[:, 0][..., None], normal)
            np.testing.assert_allclose(off, 0, atol=1e-15)  # faces as mesh.boundary has them

    def test_the_command_and_the_library_have_the_same_integrals(self):
        with tempfile.TemporaryDirectory() as folder:
            path, report = os.path.join(folder, "a.ini"), os.path.join(folder, "a.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(FILE)
            problem = kedge.Problem.read(path)
            arguments = {"heat": {"of": "flux", "on": "x1"}, "square": {"of": "k*u_star^2 + z*qz", "quadrature": 6},
                         "top": {"of": "sigma_z*normal_z + x", "on": "z1"}}
            mine = kedge.Problem(order=3, diffusion=3, exact=POLYNOMIALS[3], parameters={"k": 2}, tolerance=1e-13,
                                 boundary={"default": kedge.Dirichlet()}, integrals=arguments)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", kedge.Note)
                s, t = (self.solve(problem.mesh(), one) for one in (problem, mine))
            self.assertEqual(list(s.integrals), ["heat", "square", "top"])
            self.assertAlmostEqual(s.integrals["heat"], 3 * 2.25, delta=1e-9)
            self.assertAlmostEqual(s.integrals["top"], 3 * (1 / 4 - 3) + 1 / 2, delta=1e-9)
            self.assertEqual(s.integrals["square"], s.integrate("k*u_star^2 + z*qz", quadrature=6))
            for name, value in s.integrals.items():
                self.assertAlmostEqual(t.integrals[name], value, delta=1e-12)
            command = os.environ.get("KEDGE_COMMAND")
            if command and self.context.backend == "host":
                subprocess.run([command, "solve", path, "-q", "-r", report, "--backend", "host"], check=True,
                               cwd=folder)
                with open(report, encoding="utf-8") as file:
                    written = json.load(file)["integrals"]
                for name, value in s.integrals.items():
                    self.assertAlmostEqual(written[name], value, delta=1e-12)

    def test_what_has_no_value_is_refused(self):
        s = self.solved(order=1)
        for arguments, says in ((("u", "x11"), "did you mean"), (("flux",), "flux has a value on"),
                                (("w",), "unknown name 'w'"), ((lambda x, y: x,), "of: the function"),
                                ((np.ones(3),), "3 numbers")):
            with self.subTest(says), self.assertRaisesRegex(kedge.Error, says):
                s.integrate(*arguments)
        with self.assertRaisesRegex(kedge.InputError, "no group or region 'x11'"):
            s.quadrature(on="x11")


if __name__ == "__main__":
    unittest.main()
