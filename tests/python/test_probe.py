"""Probes, and the boundary as a file."""
import importlib.util
import os
import pickle
import tempfile
import unittest

import numpy as np
from support import OnBackend, everywhere

import kedge

MESHES = {"triangles": lambda **more: kedge.square(5, **more), "both": lambda **more: kedge.mixed(4, **more),
          "curved": lambda **more: kedge.ring(3, 12, geometry=3, **more)}
FIELDS = ("u", "u_star", "qx", "qy", "sigma_x", "sigma_y")


class Probes(OnBackend):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def solved(self, mesh, **more):
        return self.solve(mesh, kedge.Problem(order=3, source="1 + x", diffusion="2 + y^2",
                                              boundary={"default": kedge.Dirichlet("x*y")}, **more))

    def test_fields_at_nodes_are_those_of_their_elements(self):
        for name, make in MESHES.items():
            with self.subTest(name):
                s = self.solved(make())
                order, offsets = 5, s.offsets(5)
                inside = np.concatenate([np.arange(end - 6, end) for end in offsets[1:]])  # none on an edge
                x, y = s.nodes(order).reshape(-1, 2)[inside].T
                probe = kedge.Probe(s.mesh, x, y)
                self.assertEqual((probe.shape, probe.outside), (x.shape, 0))
                for field in FIELDS:
                    expected = s.values(field, order).ravel()[inside]
                    rounding = 1e-11 * abs(expected).max()
                    np.testing.assert_allclose(probe.values(s, field), expected, rtol=0, atol=rounding)

    def test_values_have_the_shape_of_the_points_and_vectors_their_parts(self):
        s = self.solved(kedge.square(4))
        x, y = np.meshgrid(np.linspace(0, 1.5, 4), np.linspace(0, 1, 3))
        probe = kedge.Probe(s.mesh, x, y)
        self.assertEqual(repr(probe), "<kedge.Probe: 12 points, 3 outside>")
        self.assertEqual(probe.values(s).shape, (3, 4))
        np.testing.assert_array_equal(np.isnan(probe.values(s)), x > 1)
        q = probe.values(s, "q")
        np.testing.assert_array_equal(q, np.stack([probe.values(s, "qx"), probe.values(s, "qy")], axis=-1))
        self.assertEqual(kedge.Probe(s.mesh, 0.5, np.linspace(0, 1, 5)).shape, (5,))
        self.assertEqual(kedge.Probe(s.mesh, 0.5, 0.5).values(s, "sigma").shape, (2,))

    def test_one_probe_serves_many_solves(self):
        mesh = kedge.square(4)
        solver = kedge.Solver(mesh, kedge.Problem(order=2, boundary=everywhere(kedge.Dirichlet("x"))), self.context)
        probe, s = kedge.Probe(mesh, [0.3, 0.8], [0.2, 0.7]), None
        for step in range(1, 4):
            s = solver.solve(boundary=everywhere(f"{step}*x"), out=s)
            np.testing.assert_allclose(probe.values(s), step * np.array([0.3, 0.8]), atol=1e-8)

    def test_a_table_reads_back_to_the_last_bit(self):
        s = self.solved(kedge.mixed(4))
        x, y = np.array([0.1, 1 / 3, 7.0]), np.array([0.2, 2 / 3, 7.0])
        probe = kedge.Probe(s.mesh, x, y)
        self.assertIsNone(s.report.probe_note)
        probe.write(s, self.path("a.csv"))
        self.assertEqual(s.report.probe_note,
                         f"{self.path('a.csv')}: 1 of 3 points lie outside of the mesh and have no values")
        probe.write(s, self.path("a.csv"))
        kedge.Probe(s.mesh, x, y).write(s, self.path("ba.csv"))
        probe.write(s, self.path("a.csv"))
        says = ": 1 of 3 points lie outside of the mesh and have no values"
        self.assertEqual(s.report.probe_note, f"{self.path('a.csv')}{says}; {self.path('ba.csv')}{says}")
        table = np.genfromtxt(self.path("a.csv"), delimiter=",", names=True)
        self.assertEqual(table.dtype.names, ("x", "y", "region", *FIELDS))
        np.testing.assert_array_equal(table["x"], x)
        for field in FIELDS:
            np.testing.assert_array_equal(table[field], probe.values(s, field))

    def test_probes_of_a_problem_are_those_of_its_solutions(self):
        with open(self.path("list.csv"), "w", encoding="utf-8") as file:
            file.write("y,x\n0.25,0.5\n0.5,0.5\n")
        with open(self.path("p.ini"), "w", encoding="utf-8") as file:
            file.write("[mesh]\ngenerate = square 4\n[boundary default]\ntype = dirichlet\nvalue = x + y\n"
                       "[probe axis]\nline = 0 0.5, 1 0.5, 3\noutput = axis.csv\n[probe list]\nfile = list.csv\n")
        problem = kedge.Problem.read(self.path("p.ini"), probes={"corners": [[0, 0], [1, 1]]})
        self.assertEqual(problem.settings["probe list", "file"], self.path("list.csv"))
        problem.write(self.path("again.ini"))
        self.assertEqual(dict(kedge.Problem.read(self.path("again.ini")).settings), dict(problem.settings))
        s = self.solve(problem.mesh(), problem)
        self.assertEqual(list(s.probes), ["axis", "list", "corners"])
        self.assertIs(s.probes, s.probes)
        for name, values in {"axis": [0.5, 1, 1.5], "list": [0.75, 1], "corners": [0, 2]}.items():
            np.testing.assert_allclose(s.probes[name].values(s), values, atol=1e-8)
        other = problem.replace(probes={"axis": {"points": "0 0, 0.5 0.25"}})
        self.assertEqual(other.settings["probe axis", "points"], "0 0, 0.5 0.25")
        self.assertNotIn(("probe axis", "line"), other.settings)
        self.assertIn(("probe list", "file"), other.settings)
        self.assertEqual(self.solved(kedge.square(2)).probes, {})

    def test_what_is_no_probe_is_refused(self):
        s, other = self.solved(kedge.square(3)), kedge.square(3)
        probe = kedge.Probe(s.mesh, 0.5, 0.5)
        for says, call in (
                ("no point of the probe lies in square 3, which has x from 0 to 1",
                 lambda: kedge.Probe(s.mesh, [3], [3])),
                ("a probe has at least one point", lambda: kedge.Probe(s.mesh, [], [])),
                (r"x has the shape \(2,\) and y \(3,\)", lambda: kedge.Probe(s.mesh, [0, 1], [0, 1, 1])),
                ("solution is of another Mesh", lambda: kedge.Probe(other, 0.5, 0.5).values(s)),
                ("there is no field 'v'", lambda: probe.values(s, "v")),
                ("only the means", lambda: probe.values(self.solve(s.mesh, s.problem.replace(fields="cells")))),
                (r"probes\['a'\] has the shape \(3,\)", lambda: kedge.Problem(probes={"a": [1, 2, 3]})),
                ("did you mean 'line'", lambda: kedge.Problem(probes={"a": {"lime": "0 0, 1 1, 2"}})),
                ('fields="cells" keeps means alone', lambda: kedge.Problem(fields="cells", probes={"a": [[0, 0]]}))):
            with self.subTest(says), self.assertRaisesRegex(kedge.InputError, says):
                call()
        with self.assertRaisesRegex(kedge.WrongType, "mesh is .*; it takes a kedge.Mesh"):
            kedge.Probe(s, 0, 0)
        with self.assertRaisesRegex(kedge.WrongType, "solution is .*; it takes a kedge.Solution"):
            probe.values(s.mesh)
        with self.assertRaisesRegex(kedge.WrongType, "cannot be pickled"):
            pickle.dumps(probe)
        with self.assertRaises(kedge.FileError):
            probe.write(s, self.path("no/a.csv"))

    @unittest.skipUnless(importlib.util.find_spec("h5py"), "no h5py")
    def test_fluxes_of_the_boundary_add_up_to_those_of_groups(self):
        import h5py
        s = self.solved(kedge.square(6))
        s.write_boundary(self.path("b.vtkhdf"))
        with h5py.File(self.path("b.vtkhdf")) as file:
            grid = file["VTKHDF"]
            group, flux = grid["CellData/group"][:], grid["CellData/flux"][:]
            xy = grid["Points"][:].reshape(len(group), -1, 3)
            trace = grid["PointData/trace"][:].reshape(len(group), -1)
        np.testing.assert_allclose(trace, xy[..., 0] * xy[..., 1], atol=1e-7)
        length = np.hypot(*(xy[:, 1] - xy[:, 0])[:, :2].T)
        for name in ("left", "right", "bottom", "top"):
            of = s.groups[name]
            self.assertAlmostEqual((flux * length)[group == of.tag].sum(), of.flux, delta=1e-12)
        with self.assertRaisesRegex(kedge.InputError, "holds the lines of a boundary, not a field"):
            kedge.read(self.path("b.vtkhdf"))


if __name__ == "__main__":
    unittest.main()
