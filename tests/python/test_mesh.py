"""Meshes from files, generators and arrays."""
import gc
import os
import re
import tempfile
import unittest
from types import SimpleNamespace

import numpy as np
from support import ROOT

import kedge

POINTS = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2, 1]], float)
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])


def names(mesh, dimension):
    return {group.name: group.count for group in mesh.groups if group.dimension == dimension and group.count}


class Meshes(unittest.TestCase):
    def test_a_file_is_read(self):
        mesh = kedge.Mesh(ROOT / "meshes/plate.msh")
        self.assertEqual(mesh.elements, 2846)
        self.assertIn("hot", names(mesh, 1))

    def test_generators_take_their_words_and_options(self):
        self.assertEqual(kedge.square(3).elements, 18)
        self.assertEqual(kedge.quads(3).elements, 9)
        self.assertEqual(kedge.cube(2).elements, 48)
        self.assertEqual(kedge.mixed(2).info["quadrilaterals"], 2)
        self.assertEqual(kedge.lshape(1, quads=True).elements, 3)
        self.assertAlmostEqual(kedge.ring(2, 16, geometry=4).area, 3 * np.pi, delta=1e-4)
        self.assertEqual(kedge.disk(3, refine=1).elements, 4 * kedge.disk(3).elements)
        with self.assertRaisesRegex(TypeError, "quads"):  # the library has disks of triangles alone
            kedge.disk(3, quads=True)
        self.assertAlmostEqual(kedge.square(2, map=("2*x", "y")).area, 2)

    def test_a_cube_of_tetrahedra_is_shown(self):
        mesh = kedge.Mesh.generate("cube 2")
        self.assertEqual((mesh.elements, mesh.edges, mesh.vertices), (48, 120, 27))
        self.assertEqual(names(mesh, 2), dict.fromkeys(["x0", "x1", "y0", "y1", "z0", "z1"], 8))
        self.assertEqual(names(mesh, 3), {"domain": 48})
        self.assertEqual((mesh.info["low"], mesh.info["high"]), ((0, 0, 0), (1, 1, 1)))
        self.assertEqual(mesh.points.shape, (27, 3))
        corners = mesh.points[mesh.cells["tetra"]]
        self.assertAlmostEqual(np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).sum() / 6, 1)
        self.assertTrue((mesh.regions == "domain").all())
        elements, sides, groups = mesh.boundary
        for element, side, group in zip(elements, sides, groups):
            axis, at = mesh.groups[group].name
            facet = np.delete(corners[element], side, axis=0)
            self.assertTrue((facet[:, "xyz".index(axis)] == int(at)).all())
        self.assertIn("48 tetrahedra, volume 1", mesh._repr_html_())
        with self.assertRaisesRegex(ValueError, "of tetrahedra, and .* is for plane meshes so far"):
            mesh.join(0.1)

    def test_tetrahedra_of_arrays_files_and_meshio_are_the_same_mesh(self):
        points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1], [9, 9, np.nan]])
        cells, wall, cut = [[0, 1, 2, 3], [4, 2, 1, 0]], [[1, 2, 3], [0, 1, 4]], [[2, 1, 0]]
        mesh = kedge.Mesh(points, {"tetra": cells}, {"wall": wall, "cut": cut}, regions=["upper", "lower"])
        self.assertEqual((names(mesh, 2), names(mesh, 3)), ({"wall": 2, "default": 4}, {"upper": 1, "lower": 1}))
        self.assertEqual([(g.inner, g.inner_measure) for g in mesh.groups if g.name == "cut"], [(1, 0.5)])
        self.assertAlmostEqual(mesh.area, 1 / 3)
        self.assertEqual(list(mesh.regions == "upper"), [True, False])

        def block(shape, data):
            return SimpleNamespace(type=shape, data=np.array(data))

        def read(**more):
            return kedge.Mesh.from_meshio(SimpleNamespace(
                **{"points": points, "cell_data": {}, "field_data": {}, **more}))

        blocks = [block("vertex", [[0]]), block("line", [[0, 1]]), block("triangle", wall), block("tetra", cells),
                  block("triangle", cut)]
        fields = {"rim": [5, 1], "wall": [1, 2], "cut": [2, 2], "upper": [1, 3], "lower": [2, 3]}
        numbers = read(cells=blocks, field_data=fields,
                       cell_data={"gmsh:physical": [np.array(part) for part in ([6], [5], [1, 1], [1, 2], [2])]})
        sets = read(cells=blocks, cell_sets={"wall": [[], [], [0, 1], [], []], "cut": [[], [], [], [], [0]],
                                             "upper": [[], [], [], [0], []], "lower": [[], [], [], [1], []]})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.msh")
            mesh.write(path)
            written = kedge.Mesh(path)
        for other in numbers, sets, written:
            self.assertEqual({**other.info, "unused_vertices": 1}, mesh.info)
            self.assertEqual({(g.name, g.dimension, g.count, g.measure, g.inner) for g in other.groups},
                             {(g.name, g.dimension, g.count, g.measure, g.inner) for g in mesh.groups})
            np.testing.assert_array_equal(other.cells["tetra"], mesh.cells["tetra"])
        nodes = read(cells=[block("tetra", cells)], point_sets={"low": [0, 1, 2, 4], "front": [0, 1, 2, 3]})
        self.assertEqual(names(nodes, 2), {"low": 3, "front": 3})  # the face of both is inside
        for shape in "tetra10", "hexahedron", "wedge", "quad":
            with self.assertRaisesRegex(kedge.InputError, f"cells are of shape '{shape}'; in space kedge has 'tetra'"):
                read(cells=[block("tetra", cells), block(shape, [range(4)])])
        with self.assertRaisesRegex(kedge.InputError, "cells are of shape 'hexahedron'"):
            read(cells=[block("quad", [range(4)]), block("hexahedron", [range(8)])])
        for arguments, sentence in [
                ((points[:, :2], {"tetra": cells}), r"points has the shape \(6, 2\); expected is \(n, 3\)"),
                ((points, {"tetra": cells, "triangle": wall}), "'tetra' and 'triangle'; .* their faces are lines"),
                ((points, {"tetra": cells}, {"a": [[0, 1]]}), r"lines\['a'\] has the shape \(1, 2\); expected is"),
                ((points, {"tetra": cells}, {"a": [[0, 3, 4]]}), 'group 1 "a" is no face of any tetrahedron'),
                ((points, {"tetra": [[0, 1, 2, 7]]}), "uses vertices 0, 1, 2, 7"),
                ((points, {"tetra": [[0, 1, 2, 5]]}), "must be finite"),
                ((points, {"tetra": np.empty((0, 4), int)}), "there are no cells")]:
            with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, sentence):
                kedge.Mesh(*arguments)

    def test_triangles_of_arrays_have_the_groups_that_are_named(self):
        mesh = kedge.Mesh(POINTS[:4], TRIANGLES, lines=[[0, 1], [2, 3]], groups=["low", "high"])
        self.assertEqual(names(mesh, 1), {"low": 1, "high": 1, "default": 2})
        same = kedge.Mesh(POINTS[:4], TRIANGLES, lines={"low": [[0, 1]], "high": [[2, 3]]})
        self.assertEqual(names(same, 1), names(mesh, 1))
        numbered = kedge.Mesh(POINTS[:4], TRIANGLES, lines=[[0, 1], [2, 3]], groups=[7, 8], regions=[1, 2])
        self.assertEqual(names(numbered, 1), {"7": 1, "8": 1, "default": 2})
        self.assertEqual(names(numbered, 2), {"1": 1, "2": 1})

    def test_parts_that_touch_are_noted_and_joined(self):
        points = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [1 + 2e-12, 0], [2, 0], [2, 1], [1, 1 - 2e-12]])
        triangles = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
        lines = {"left": [[0, 3]], "right": [[5, 6]]}
        problem = kedge.Problem(boundary={"left": kedge.Dirichlet(0), "right": kedge.Dirichlet(2), "default": kedge.Neumann(0)})
        apart = kedge.Mesh(points, triangles, lines)
        self.assertEqual((apart.info["parts"], apart.info["coincident_edges"]), (2, 2))
        self.assertAlmostEqual(apart.info["coincident_at"][0], 1, delta=1e-9)
        with self.assertWarnsRegex(kedge.Note, r"2 boundary edges lie on others and are not joined, as at \(1, 0.5\): nothing "
                                   r"passes there; join = 1e-09 joins them"):
            kedge.solve(apart, problem)
        for joined in (kedge.Mesh(points, triangles, lines, join=1e-9), apart.join(1e-9),
                       kedge.Mesh(points, triangles, lines, join=1e-9, refine=1)):
            self.assertEqual((joined.info["parts"], joined.info["joined_vertices"]), (1, 2))
            self.assertAlmostEqual(kedge.solve(joined, problem)(1.5, 0.5), 1.5, delta=1e-9)
        for wrong, sentence in [("far", "join is 'far'; it takes a number"), (0, "must be positive, not 0"),
                                (1.5, "joins two corners of triangle 0")]:
            with self.assertRaisesRegex(kedge.Error, sentence):
                kedge.Mesh(points, triangles, lines, join=wrong)

    def test_tetrahedra_that_touch_are_noted(self):
        points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]])
        mesh = kedge.Mesh(points, {"tetra": [[0, 1, 2, 3], [4, 5, 6, 7]]})
        self.assertEqual((mesh.info["parts"], mesh.info["coincident_edges"]), (2, 2))
        np.testing.assert_allclose(mesh.info["coincident_at"], (1 / 3, 1 / 3, 0), atol=1e-12)
        problem = kedge.Problem(source=1, boundary={"default": kedge.Dirichlet(0)})
        with self.assertWarnsRegex(kedge.Note, r"2 boundary faces lie on others and are not joined, as at \(0.333333, 0.33"):
            kedge.solve(mesh, problem)

    def test_arrays_are_refined(self):
        mesh = kedge.Mesh(POINTS[:4], TRIANGLES, refine=2)
        gc.collect()
        self.assertEqual(mesh.elements, 32)
        self.assertEqual(mesh.refine().elements, 128)
        self.assertAlmostEqual(mesh.area, 1)

    def test_regions_have_names(self):
        mesh = kedge.Mesh(POINTS[:4], TRIANGLES, regions=["iron", "air"])
        self.assertEqual(names(mesh, 2), {"iron": 1, "air": 1})

    def test_quadrilaterals_mixed_and_curved_cells_of_arrays(self):
        self.assertEqual(kedge.Mesh(POINTS, [[0, 1, 2, 3], [1, 4, 5, 2]]).info["quadrilaterals"], 2)
        mesh = kedge.Mesh(POINTS, {"triangle": TRIANGLES, "quad": [[1, 4, 5, 2]]}, lines={"end": [[4, 5]]},
                          regions=["iron", "iron", "air"])
        self.assertEqual((mesh.elements, mesh.info["quadrilaterals"], mesh.area), (3, 1, 2.0))
        self.assertEqual(names(mesh, 1)["end"], 1)
        self.assertEqual(names(mesh, 2), {"iron": 2, "air": 1})
        bent = kedge.Mesh([[0, 0], [1, 0], [0, 1], [0.5, -0.1], [0.5, 0.5], [0, 0.5]],
                          {"triangle6": [[0, 1, 2, 3, 4, 5]]}, lines={"low": [[0, 1]]})
        self.assertEqual(bent.info["geometry"], 2)
        self.assertAlmostEqual(bent.area, 0.5 + 2 / 3 * 0.1)
        self.assertEqual(names(bent, 1)["low"], 1)

    def test_physical_groups_of_meshio_keep_their_numbers_and_names(self):
        def block(shape, data):
            return SimpleNamespace(type=shape, data=np.array(data))

        def read(cells, tags, fields):
            return kedge.Mesh.from_meshio(SimpleNamespace(
                points=np.column_stack([POINTS, np.zeros(6)]), cells=cells, field_data=fields,
                cell_data={"gmsh:physical": [np.array(part) for part in tags]} if tags else {}))

        lines, quad = block("line", [[0, 1], [3, 0], [4, 5], [2, 3]]), block("quad", [[1, 4, 5, 2]])
        fields = {"iron": np.array([40, 2]), "low": np.array([30, 1]), "none": np.array([9, 1]), "time": np.array([0.5])}
        for cells, tags, sizes in (
                ([lines, block("triangle", TRIANGLES), quad], [[30, 0, 7, 30], [40, 0], [5]], {40: 1, 5: 1}),
                ([quad, block("triangle", TRIANGLES[:1]), lines, block("triangle", TRIANGLES[1:])],
                 [[40], [40], [30, 0, 7, 30], [6]], {40: 2, 6: 1}),
                ([block("triangle", [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]), lines],
                 [[0, 5, 5, 0], [30, 0, 7, 30]], {5: 2})):
            mesh = read(cells, tags, fields)
            groups = {(g.dimension, g.tag): (g.name, g.count) for g in mesh.groups if g.tag > 0 and g.count}
            expected = {(2, tag): ("iron" if tag == 40 else str(tag), n) for tag, n in sizes.items()}
            self.assertEqual(groups, {(1, 30): ("low", 2), (1, 7): ("7", 1), **expected})
            shapes = dict.fromkeys(c.type for c in cells if c.type != "line")
            numbers = [n for shape in shapes for c, part in zip(cells, tags) if c.type == shape for n in part]
            self.assertEqual(list(mesh.regions), numbers)
            self.assertEqual(names(mesh, 1)["default"], 3)
        bare = read([lines, block("triangle", TRIANGLES)], None, {})
        self.assertEqual(names(bare, 1), {"default": 4})
        self.assertEqual(list(bare.regions), [0, 0])
        for name in "", "a\nb", "a\rb", 'a"b', "a\0b":
            for cells in [quad], [block("triangle", TRIANGLES)]:
                with self.assertRaisesRegex(kedge.InputError, f"mesh has the name {re.escape(repr(name))}; a name is not empty"):
                    read([lines, *cells], [[30, 0, 0, 0], [0] * len(cells[0].data)], {name: np.array([30, 1])})

    def test_sets_of_meshio_are_groups(self):
        def read(**more):
            return kedge.Mesh.from_meshio(SimpleNamespace(points=POINTS, field_data={}, **{"cell_data": {}, **more}))

        def block(shape, data):
            return SimpleNamespace(type=shape, data=np.array(data))

        triangles, quad = block("triangle", TRIANGLES), block("quad", [[1, 4, 5, 2]])
        lines = block("line", [[0, 1], [4, 5]])
        named = read(cells=[lines, triangles, quad], cell_sets={
            "low": [[0], [], None], "end": [np.array([1]), None, []], "iron": [[], [1], []], "all": [[], [0, 1], [0]],
            "gmsh:bounding_entities": [[], [], []]})
        self.assertEqual(names(named, 1), {"low": 1, "end": 1, "default": 4})
        self.assertEqual(names(named, 2), {"iron": 1, "all": 2})  # the first set counts
        self.assertEqual([named.groups[-1].name], ["all"])
        medit = read(cells=[lines, triangles, quad], cell_data={"medit:ref": [[3, 0], [5, 5], [6]]})
        self.assertEqual(names(medit, 1), {"3": 1, "default": 5})
        self.assertEqual(list(medit.regions), [5, 5, 6])
        nodes = read(cells=[triangles, quad], point_sets={"left": [0, 3], "low": np.array([0, 1, 4]), "inside": [1, 2]})
        self.assertEqual(names(nodes, 1), {"left": 1, "low": 2, "default": 3})
        for sets, sentence in (({"cell_sets": {"a": [[7], []]}}, r"cell_sets\['a'\] holds 7 to 7; there are 0 to 1"),
                               ({"cell_sets": {"a": [[True, False], []]}}, "holds bool; it takes whole numbers"),
                               ({"point_sets": {"b": [0, -1]}}, r"point_sets\['b'\] holds -1 to 0; there are 0 to 5")):
            with self.assertRaisesRegex(kedge.InputError, sentence):
                read(cells=[triangles, quad], **sets)

    def test_cells_and_points_make_the_mesh_again(self):
        gap = kedge.Mesh(POINTS, {"quad": [[1, 4, 5, 2]], "triangle": TRIANGLES[1:]}, regions=["a", "b"])
        curved = kedge.Mesh([[0, 0], [.5, -.1], [1, 0], [.5, .5], [0, 1], [0, .5]], {"triangle6": [[0, 2, 4, 1, 3, 5]]})
        self.assertEqual(np.isnan(curved.points).sum(), 4)  # nodes that are no corner
        for mesh in (kedge.square(3), kedge.quads(2), kedge.mixed(3).refine(), gap, curved, kedge.ring(1, 5, geometry=3),
                     kedge.Mesh(ROOT / "meshes/curved.msh")):
            used = np.unique(mesh.corners)
            self.assertEqual(len(used), mesh.vertices)
            again = kedge.Mesh(mesh.points, mesh.cells)
            self.assertEqual((again.elements, again.edges), (mesh.elements, mesh.edges))
            for shape, cells in mesh.cells.items():
                np.testing.assert_array_equal(again.cells[shape], cells)
            np.testing.assert_allclose(again.points, mesh.points, atol=1e-14)  # NaN in the same places
            if mesh.info["geometry"] == 1:
                self.assertAlmostEqual(again.area, mesh.area)
            for (shape, elements, _), cells in zip(mesh.shapes, mesh.cells.values()):
                self.assertEqual(cells.shape, (len(elements), shape.corners))
        self.assertEqual(kedge.Mesh(POINTS[:4], TRIANGLES).cells["triangle"].tolist(), np.asarray(TRIANGLES).tolist())

    def ways(self, points, cells=TRIANGLES, shape="triangle"):
        """The same mesh of arrays: without names, with names of regions, and from meshio."""
        yield lambda: kedge.Mesh(points, cells)
        yield lambda: kedge.Mesh(points, {shape: cells}, regions=["iron"] * len(cells))
        mesh = SimpleNamespace(points=points, cells=[SimpleNamespace(type=shape, data=cells)], cell_data={}, field_data={})
        yield lambda: kedge.Mesh.from_meshio(mesh)

    def test_a_plane_of_any_z_is_taken(self):
        for z in np.zeros(4), np.full(4, 3.5), np.full(4, -1e3) + [0, 0, 0, 1e-11]:
            for make in self.ways(np.column_stack([POINTS[:4], z])):
                self.assertEqual(make().area, 1)
        for make in self.ways(np.column_stack([POINTS, [2, 2, 2, 2, 7, np.nan]])):  # of which two are spare
            self.assertEqual(make().area, 1)
        for z in [0, 0, 0, 1], [5, 5, 5, 5 + 1e-8]:
            for make in self.ways(np.column_stack([POINTS[:4], z])):
                with self.assertRaisesRegex(kedge.InputError, r"^points are not in a plane z = const \(points\[3\] has z = .*; project them"):
                    make()

    def test_cells_of_four_in_space_are_told_how_tetrahedra_are_given(self):
        cube = kedge.cube(2)
        with self.assertRaisesRegex(kedge.InputError, r"; project them to the plane, or give tetrahedra as \{'tetra': cells\}$"):
            kedge.Mesh(cube.points, cube.cells["tetra"])
        with self.assertRaisesRegex(kedge.InputError, r"; project them to the plane$"):
            kedge.Mesh(cube.points, cube.cells["tetra"][:, :3])

    def test_a_box_has_the_coordinates_of_the_mesh(self):
        self.assertEqual(kedge.square(2, map="2*x, y - 3").box, (0, -3, 2, -2))
        self.assertEqual(kedge.cube(2, map="2*x, y - 3, z/2").box, (0, -3, 0, 2, -2, 0.5))

    def test_points_that_no_cell_uses_may_be_anything(self):
        for spare in (np.nan, np.inf), (1e300, -np.inf), (0.5, 0.5):
            points = np.vstack([POINTS[:4], [spare]])[[0, 4, 1, 2, 3]]
            for make in (*self.ways(points, np.array([[0, 2, 3], [0, 3, 4]])), *self.ways(points, np.array([[0, 2, 3, 4]]), "quad")):
                mesh = make()
                self.assertEqual((mesh.area, mesh.info["unused_vertices"], mesh.corners.max()), (1, 1, 4))
        for wrong in (np.nan, 0), (1, np.inf), (-np.inf, np.nan):
            for make in (*self.ways(np.vstack([[wrong], POINTS[1:4]])), *self.ways(np.vstack([[wrong], POINTS[1:4]]), np.array([[0, 1, 2, 3]]), "quad")):
                with self.assertRaisesRegex(kedge.InputError, r"^points\[0\] is \[.*\], and a cell uses it; coordinates must be finite$"):
                    make()

    def test_what_is_no_array_of_cells_is_refused_with_and_without_names(self):
        for cells in (TRIANGLES * 1.0, TRIANGLES.astype(object), TRIANGLES > 0, TRIANGLES.astype(complex), TRIANGLES.astype(str),
                      [[0, 1, 2], [0, 2]], TRIANGLES[None], np.ma.masked_equal(TRIANGLES, 3), TRIANGLES + 2**31, [["a", "b", "c"]]):
            for make in self.ways(POINTS[:4], cells):
                with self.subTest(cells), self.assertRaisesRegex(kedge.InputError, "^cells|^regions has the shape"):
                    make()
        for points in (POINTS[:4] + 0j, POINTS[:4].astype(str), np.ma.masked_equal(POINTS[:4], 1), [[0, 0], [1], [1, 1], [0, 1]], POINTS[:4, :1],
                       POINTS[:4].ravel(), [[None] * 2] * 4):
            for make in self.ways(points):
                with self.subTest(points), self.assertRaisesRegex(kedge.InputError, "^points "):
                    make()
        for more, sentence in (({"lines": [[0.0, 1.0]], "groups": ["a"]}, "^lines holds float64"), ({"lines": [[0, 1]], "groups": [1.5]}, "^groups holds"),
                               ({"lines": {"a": [[0, 1, 2]]}}, r"^lines\['a'\] has the shape"), ({"regions": [1.0, np.nan]}, "^regions holds float64"),
                               ({"regions": np.array(["a", None])}, "^regions holds None; it takes names"), ({"regions": [[1, 2]]}, "^regions has the shape"),
                               ({"regions": np.array(["a", np.nan], object)}, "^regions holds nan; it takes names"), ({"lines": [[0, 1], [2]], "groups": [1, 1]}, "^lines"),
                               ({"regions": [-2**31, 1]}, "^regions holds numbers that do not fit")):
            for cells in TRIANGLES, {"triangle": TRIANGLES}:
                with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, sentence):
                    kedge.Mesh(POINTS[:4], cells, **more)
        with self.assertRaisesRegex(kedge.InputError, "there are no cells"):
            kedge.Mesh(POINTS, {})
        self.assertEqual(names(kedge.Mesh(POINTS[:4], TRIANGLES, regions=np.array([5, 7], object)), 2), {"5": 1, "7": 1})

    def test_the_sign_of_a_group_is_an_orientation(self):
        quad, low = {"quad": [[0, 1, 2, 3]], "triangle": [[1, 4, 5]]}, {-7: [[0, 1]], 8: [[2, 3]]}
        for cells in TRIANGLES, quad:
            mesh = kedge.Mesh(POINTS, cells, lines=low, regions=[-3, 4])
            self.assertEqual((names(mesh, 1)["7"], names(mesh, 1)["8"], names(mesh, 2)), (1, 1, {"3": 1, "4": 1}))
        mesh = kedge.Mesh(POINTS, TRIANGLES, lines=[[0, 1], [2, 3]], groups=[-7, 7], regions=[-3, 3])
        self.assertEqual((names(mesh, 1), names(mesh, 2)), ({"7": 2, "default": 2}, {"3": 2}))
        for key in "gmsh:physical", "medit:ref":
            for sign in 1, -1:
                blocks = [SimpleNamespace(type="line", data=np.array([[3, 0], [1, 2]])), SimpleNamespace(type="triangle", data=TRIANGLES)]
                mesh = kedge.Mesh.from_meshio(SimpleNamespace(
                    points=POINTS[:4], cells=blocks, cell_data={key: [np.array([-10, 11]), np.array([-1, 2], np.int8)]},
                    field_data={"left": [sign * 10, 1], "right": [11, 1], "A": [1, 2], "B": [sign * 2, 2]}))
                self.assertEqual((names(mesh, 1), names(mesh, 2)), ({"left": 1, "right": 1, "default": 2}, {"A": 1, "B": 1}))

    def test_numbers_of_meshio_that_are_none_of_each_cell_are_refused(self):
        for numbers, sentence in ([np.array([1.0, 2.0])], "holds float64"), ([np.array([1])], r"has the shapes \(1,\)"), ([], "has the shapes"):
            mesh = SimpleNamespace(points=POINTS[:4], cells=[SimpleNamespace(type="triangle", data=TRIANGLES)],
                                   cell_data={"gmsh:physical": numbers}, field_data={})
            with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, rf"^cell_data\['gmsh:physical'\] {sentence}"):
                kedge.Mesh.from_meshio(mesh)

    def test_what_is_no_mesh_is_refused_with_a_sentence(self):
        for arguments, error, sentence in [
                ((POINTS[:4], [[0, 1, 9]]), kedge.InputError, "9"),
                ((POINTS[:4], [[0.0, 1.0, 2.0]]), TypeError, "whole numbers"),
                ((POINTS[:4], [[0, 1, 2**40]]), ValueError, "32 bits"),
                ((POINTS[:4], [[0, 1]]), ValueError, r"expected is \(n, 3\)"),
                ((POINTS[:4], {"hexahedron": [[0] * 8]}), ValueError, "hexahedron"),
                ((POINTS[:4], {"quad": [[0, 1, 2, 7]]}), ValueError, "none of the 4 points"),
                ((POINTS[:4], TRIANGLES, [[0, 1]]), TypeError, "groups"),
                ((POINTS[:4],), TypeError, "points and cells"),
                ((POINTS[:4], 3), kedge.InputError, r"cells has the shape \(\)"),
                ((POINTS[:4], {"quad": 3}), kedge.InputError, r"cells\['quad'\] has the shape \(\)"),
                (([[0, "a"]], TRIANGLES), kedge.WrongType, "points holds what is no real number"),
                ((POINTS[:4], TRIANGLES, {"": [[0, 1]]}), kedge.InputError, "lines has the name ''"),
                ((POINTS[:4], TRIANGLES, {'a"': [[0, 1]]}), kedge.InputError, "no quotation mark"),
                ((POINTS[:4], TRIANGLES, {"a\0b": [[0, 1]]}), kedge.InputError, r"'a\\x00b'; .* and no NUL$"),
                (("none\0.msh",), kedge.InputError, r"^file is '.*none\\x00.msh', which holds a NUL"),
                (("none.msh",), kedge.FileError, "cannot open"),
                (("none.msh", TRIANGLES), TypeError, "not of both")]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                kedge.Mesh(*arguments)
        for wrong, sentence in [(lambda mesh: mesh.refine("a"), "refine is 'a'; it takes a whole number"),
                                (lambda mesh: mesh.write(3), "path is 3; it takes the name of a file"),
                                (lambda mesh: kedge.square(2, map=(len, "y")), "map is .*; it takes text, as in a problem file"),
                                (kedge.Mesh.from_meshio, "it takes a meshio.Mesh"),
                                (lambda mesh: mesh.plot("a"), "ax is 'a'; it takes axes of matplotlib")]:
            with self.subTest(sentence), self.assertRaisesRegex(kedge.Error, sentence):
                wrong(kedge.square(2))

    def test_a_mesh_that_is_written_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.msh")
            mesh = kedge.lshape(2)
            mesh.write(path, binary=True)
            self.assertEqual(kedge.Mesh(path).info, mesh.info)

    def test_regions_compare_with_names_and_with_numbers(self):
        mesh = kedge.Mesh(POINTS, {"triangle": TRIANGLES, "quad": [[1, 4, 5, 2]]}, regions=["steel", "air", "steel"])
        number = {group.name: group.tag for group in mesh.groups if group.dimension == 2}
        for found, expected in (
                (mesh.regions == "steel", [1, 0, 1]), (mesh.regions != "steel", [0, 1, 0]),
                ("air" == mesh.regions, [0, 1, 0]),
                (mesh.regions[1:] == "steel", [0, 1]), (mesh.regions == ["steel", "steel", "air"], [1, 0, 0]),
                (mesh.regions == number["steel"], [1, 0, 1]), (mesh.regions != 77, [1, 1, 1]),
                (mesh.regions > min(number.values()), np.array(mesh.regions) == max(number.values())),
                (np.isin(mesh.regions, ["air"]), [0, 1, 0]),
                (np.isin(mesh.regions, ["air", "steel"], invert=True), [0, 0, 0]),
                (np.isin(mesh.regions, test_elements={"steel"}), [1, 0, 1]),
                (np.isin(mesh.regions, [number["air"]]), [0, 1, 0]),
                (np.isin(["steel"], mesh.regions[1:2]), [0])):
            self.assertIs(type(found), np.ndarray)
            self.assertEqual(found.dtype, bool)
            self.assertEqual(found.tolist(), [bool(one) for one in expected])
        self.assertEqual(np.where(mesh.regions == "steel", 45, 1).tolist(), [45, 1, 45])
        self.assertEqual([type(one) for one in (mesh.regions + 1, mesh.regions / 2, -mesh.regions)], [np.ndarray] * 3)
        self.assertEqual((mesh.regions.max(), mesh.regions.sum()), (2, number["steel"] * 2 + number["air"]))
        for wrong in ("stell", "iron", ["air", "stell"]):
            with self.assertRaisesRegex(kedge.InputError, "has no region '(stell'; did you mean 'steel'|iron'; it has "
                                                          "air, steel)"):
                mesh.regions == wrong
        with self.assertRaisesRegex(kedge.InputError, "no region 'copper'"):
            np.isin(mesh.regions, ["air", "copper"])
        from kedge.regions import Regions
        with self.assertRaisesRegex(kedge.InputError, "^regions 1, 4 of the mesh are all called 'iron'; give their numbers$"):
            Regions(np.array([1, 4]), {"air": 2}, {"iron": [1, 4]}) == "iron"
        self.assertTrue((kedge.square(2).regions == "domain").all())

    def test_refining_splits_every_element(self):
        self.assertEqual(kedge.square(1).refine(2).elements, 32)


if __name__ == "__main__":
    unittest.main()
