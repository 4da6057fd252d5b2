"""Output files are read back: fields, meshes, and what they do not hold."""
import importlib.util
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
from support import ROOT, backend

import kedge
from kedge import cells, data

MESHES = {"triangles": lambda: kedge.square(3), "quadrilaterals": lambda: kedge.quads(3), "both": lambda: kedge.mixed(3),
          "curved": lambda: kedge.ring(2, 9, geometry=3), "curved quadrilaterals": lambda: kedge.ring(2, 9, quads=True, geometry=4),
          "moved": lambda: kedge.mixed(3, map=("x+0.1*sin(3*y)", "y+0.1*x*x"), geometry=2),
          "trapezoids": lambda: kedge.mixed(3, map=("x+x*y/4", "y"), geometry=1)}

TRIANGLES = [[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]]


class Outputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "a.vtkhdf")
        cls.addClassCleanup(cls.folder.cleanup)

    def solve(self, mesh, order=4, **more):
        problem = kedge.Problem(order=order, source="sin(3*x)", diffusion=2, boundary={"default": kedge.Dirichlet("x*y")}, **more)
        s = kedge.solve(mesh, problem, self.context)
        s.write(self.path)
        return s

    def test_fields_on_the_mesh_are_those_that_were_written(self):
        for name, make in MESHES.items():
            with self.subTest(name):
                s = self.solve(make())
                w = kedge.read(self.path, s.mesh)
                self.assertIs(w.mesh, s.mesh)
                self.assertEqual((w.order, w.converged), (4, True))
                self.assertEqual(w.relative_residual, s.report.relative_residual)
                for field in "u", "u_star", "qx", "qy", "sigma_x", "sigma_y":
                    np.testing.assert_array_equal(w.values(field, 5), s.values(field, 5))
                np.testing.assert_allclose(w.u, s.u, atol=1e-12)
                np.testing.assert_allclose(w.nodes(3), s.nodes(3), atol=1e-12)
                np.testing.assert_array_equal(w.offsets(2), s.offsets(2))
                np.testing.assert_array_equal(w.indicator, s.indicator)
                np.testing.assert_allclose(w.means("u"), s.means("u"), atol=1e-12)

    def test_a_file_that_h5py_holds_open_is_read(self):
        h5py = importlib.import_module("h5py") if importlib.util.find_spec("h5py") else self.skipTest("no h5py here")
        s = self.solve(kedge.square(3))
        with h5py.File(self.path, "r"):
            w = kedge.read(self.path, s.mesh)
            np.testing.assert_array_equal(w.values("u", 5), s.values("u", 5))

    def test_a_mesh_is_made_of_the_file(self):
        for name, make in MESHES.items():
            with self.subTest(name):
                s = self.solve(make())
                w = kedge.read(self.path, backend=self.context)
                for key in "elements", "vertices", "edges", "boundary_edges", "quadrilaterals", "geometry":
                    self.assertEqual(w.mesh.info[key], s.mesh.info[key], key)
                self.assertAlmostEqual(w.mesh.area, s.mesh.area, 12)
                low, high = np.reshape(s.mesh.box, (2, 2))
                x, y = (low + (high - low) * np.random.default_rng(1).random((200, 2))).T
                for field in "u_star", "u", "qx", "qy":
                    np.testing.assert_allclose(w(x, y, field), s(x, y, field), atol=1e-8)
                order = np.argsort(np.diff(s.offsets(1)) == 4, kind="stable")
                np.testing.assert_allclose(w.means("qx"), kedge.read(self.path, s.mesh).means("qx")[order], atol=1e-12)
                np.testing.assert_array_equal(w.indicator, s.indicator[order])

    def test_regions_come_back_by_number(self):
        cells = [[0, 1, 2], [0, 2, 3]]
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], cells, regions=[7, 3])
        self.solve(mesh)
        np.testing.assert_array_equal(kedge.read(self.path).mesh.regions, [7, 3])

    def test_slits_are_closed_without_the_mesh(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], [[0, 1, 2], [3, 4, 5]])
        with self.assertWarnsRegex(kedge.Note, "not joined"):
            self.solve(mesh)
        self.assertEqual([m.info["parts"] for m in (mesh, kedge.read(self.path, mesh).mesh, kedge.read(self.path).mesh)], [2, 2, 1])

    def test_a_trace_that_was_kept_makes_the_solution_again(self):
        s = self.solve(kedge.mixed(3))
        solver = kedge.Solver(s.mesh, s.problem, self.context)
        again = solver.recover(s.trace()[1][solver.edges].ravel())
        np.testing.assert_allclose(again.u, s.u, atol=1e-12)

    def test_what_was_read_is_data_of_a_problem(self):
        s = self.solve(kedge.ring(2, 9, geometry=3))
        w = kedge.read(self.path, s.mesh)
        problem = s.problem.replace(tolerance=1e-13)
        one, two = (kedge.solve(s.mesh, problem.replace(source=1 + data**2), self.context, on_failure="warn").u
                    for data in (s, w))
        np.testing.assert_allclose(one, two, atol=1e-11)

    def test_files_of_earlier_builds_are_read_where_nodes_tell_the_order(self):
        real = kedge.Output._numbers

        def without_order(output, name, *expected):
            return real(output, "FieldData/none" if name == "FieldData/order" else name, *expected)

        with mock.patch.object(kedge.Output, "_numbers", without_order):
            self.solve(kedge.mixed(3), order=4)
            self.assertEqual(kedge.read(self.path).order, 4)
            for more in {"order": 10}, {"fields": "cells"}:
                self.solve(kedge.square(2), **more)
                with self.assertRaisesRegex(kedge.FileError, "does not say its order, as an earlier build of kedge wrote it"):
                    kedge.read(self.path)

    def test_damaged_files_raise_errors_of_kedge(self):
        corpus = ROOT / "tests" / "fuzz" / "corpus" / "output"
        for name in "shared_header", "tree_beside", "heap_size", "other_shape":
            with self.assertRaises(kedge.Error):
                kedge.read(corpus / name, backend=self.context).values("u")
        self.assertEqual(kedge.read(corpus / "full", backend=self.context).mesh.elements, 2)
        s = self.solve(kedge.Mesh(*TRIANGLES, regions=[77777, 77778]), order=4)
        with open(self.path, "rb") as file:
            whole = file.read()
        offsets, order, regions = np.arange(3) * 21, np.array([4.0]), np.array([77777, 77778], np.int32)
        points = np.insert(s.nodes(5).reshape(-1, 2), 2, 0, axis=1)
        for was, now, says in [
                (offsets, [0, 42, 21], "is damaged: VTKHDF/Offsets has 0 and 42 for cell 0"),
                (offsets, [0, -21, 42], "is damaged: VTKHDF/Offsets has 0 and -21 for cell 0"),
                (offsets, [21, 42, 63], "is damaged: VTKHDF/Offsets has 42 and 63 for cell 1"),
                (np.array([69, 69], np.uint8), [69, 9], "is damaged: VTKHDF/Types has 9 for cell 1"),
                (np.array([42, 2, 42]), [2**60, 2, 42], "is damaged: VTKHDF/NumberOfPoints is not 42"),
                (points, points * [np.nan, 1, 1], "is damaged: a coordinate of Points is not finite"),
                (points, points * 0, "element|area|triangle"),
                (points, points * 1e300, "element|area|triangle|finite|large"),
                (order, [np.nan], "is damaged: FieldData/order is nan"), (order, [7.0], "is damaged: FieldData/order is 7"),
                (regions, [-5, 1], "region")]:
            before = was.tobytes()
            after = np.asarray(now).astype(was.dtype).tobytes()
            with self.subTest(says, now=now):
                self.assertIn(before, whole)
                with open(self.path, "wb") as file:
                    file.write(whole[:whole.rindex(before)] + after + whole[whole.rindex(before) + len(after):])
                with self.assertRaisesRegex(kedge.Error, says):
                    kedge.read(self.path, backend=self.context)

    def test_blocks_of_the_same_points_share_a_basis(self):
        mesh = kedge.square(30, backend=self.context)  # more than a block of elements
        self.solve(mesh, order=2)
        field, calls, real = kedge.read(self.path, mesh).field("u_star"), [], cells.Triangle.basis
        with mock.patch.object(cells.Triangle, "basis", lambda *at: calls.append(at) or real(*at)):
            problem = kedge.Problem(order=2, source=lambda x, y: 0 * x, boundary={"default": kedge.Dirichlet(0)})
            blocks = []
            at = data.Polynomials._at
            with mock.patch.object(data.Polynomials, "_at", lambda *given: blocks.append(0) or at(*given)):
                kedge.solve(mesh, problem.replace(source=field), self.context)
        self.assertGreater(len(blocks), 2 * len(calls))

    def test_the_highest_orders_are_read_too(self):
        for order in 9, 10, 12:
            s = self.solve(kedge.square(2), order)
            w = kedge.read(self.path, s.mesh)
            np.testing.assert_array_equal(w.values("u", 10), s.values("u", 10))
            self.assertEqual(w.order, order)
            self.assertEqual(w.u.shape, s.u.shape)

    def test_what_was_read_belongs_to_one_file(self):
        s = self.solve(kedge.square(2))
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder.name)
        w = kedge.read("a.vtkhdf", s.mesh)
        os.chdir(here)
        np.testing.assert_array_equal(w.values("u_star", 5), s.values("u_star", 5))
        kedge.solve(s.mesh, s.problem.replace(source=1), self.context).write(self.path)
        with self.assertRaisesRegex(kedge.FileError, "a.vtkhdf has been written since"):
            w.means("u")
        os.remove(self.path)
        with self.assertRaisesRegex(kedge.FileError, "cannot read a.vtkhdf: No such file"):
            w.means("u")

    def test_means_are_read_of_outputs_of_cells(self):
        for make in kedge.square, kedge.mixed:
            s = self.solve(make(3), fields="cells")
            for mesh in s.mesh, None:
                w = kedge.read(self.path, mesh)
                order = np.argsort(np.diff(s.offsets(1)) == 4, kind="stable") if mesh is None else slice(None)
                for field in "u", "qx", "sigma_y", "q":
                    np.testing.assert_array_equal(w.means(field), s.means(field)[order])
                np.testing.assert_array_equal(w.indicator, s.indicator[order])
                self.assertEqual(w.mesh.vertices, s.mesh.vertices)
                for call in w.prepare, lambda w=w: w.u, lambda w=w: w(0.5, 0.5):
                    with self.assertRaisesRegex(ValueError, "a.vtkhdf holds means alone"):
                        call()

    def test_orders_that_are_none_are_refused_before_arrays_are_made(self):
        s = self.solve(kedge.square(2))
        found = kedge.read(self.path, s.mesh)
        for call in (lambda: found.values("u", 10**5), lambda: found.nodes(10**5), lambda: found.offsets(10**5)):
            with self.assertRaisesRegex(kedge.InputError, "^order is 100000; it is 1 to 13$"):
                call()

    def test_what_a_file_does_not_hold_is_said(self):
        s = self.solve(kedge.square(3))
        w = kedge.read(self.path, s.mesh)
        solver = kedge.Solver(s.mesh, s.problem, self.context)
        for call, error, sentence in [
                (lambda: kedge.read("none.vtkhdf"), kedge.FileError, "cannot read none.vtkhdf: No such file"),
                (lambda: kedge.read(__file__), kedge.FileError, "cannot read"),
                (lambda: kedge.read(self.path, kedge.square(4)), ValueError, "a.vtkhdf was not written on this mesh"),
                (lambda: kedge.read(self.path, kedge.square(3, map=("2*x", "y"))), ValueError, "was not written on this mesh"),
                (lambda: kedge.read(self.path, "plate.msh"), TypeError, "takes a kedge.Mesh"),
                (lambda: solver.solve(start=w), TypeError, "start is a kedge.Output; it takes a kedge.Solution"),
                (lambda: w.values("v"), ValueError, "there is no field 'v'")]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                call()


if __name__ == "__main__":
    unittest.main()
