"""What comes out of solves on tetrahedra: traces, files that are read back, pictures."""
import importlib.util
import os
import tempfile
import unittest

import numpy as np
from support import backend

import kedge
from kedge.cells import Tetrahedron

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
        cls.mesh = kedge.Mesh.generate("cube 3", map=MAP)

    def solve(self, mesh=None, **more):
        problem = kedge.Problem(**{"order": 3, "exact": "1+2*x-y+x*z-y^2", "diffusion": 3, "tolerance": 1e-14,
                                   "boundary": {"default": kedge.Dirichlet()}, **more})
        return kedge.solve(mesh or self.mesh, problem, self.context, on_failure="warn")

    def written(self, **more):
        s = self.solve(**more)
        s.write(self.path)
        return s

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
        kedge.solve(kedge.square(2), kedge.Problem(source=1, boundary={"default": kedge.Dirichlet(0)}), self.context).write(self.path)
        with self.assertRaisesRegex(kedge.InputError, "^there is no field 'qz'; fields are u, qx, qy,"):
            kedge.read(self.path).values("qz")


if __name__ == "__main__":
    unittest.main()
