#!/usr/bin/python3
"""check_mesh.py KEDGE: `kedge mesh` from outside: what it makes, says and refuses."""
import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from command import Command, KEDGE


class Mesh(Command):
    def test_a_generated_mesh_is_read_back(self):
        for option in ((), ("--binary",)):
            text = self.kedge("mesh", "generate", "square", "3", *option, "-o", "s.msh").stdout
            self.assertEqual(text, "s.msh: 18 triangles, 16 vertices\n")
            text = self.kedge("mesh", "info", "s.msh").stdout
            self.assertRegex(text, r"triangles +18\n")
            self.assertRegex(text, r"edges +33, 12 of them on the boundary\n")
            self.assertRegex(text, r"box +\[0, 1\] x \[0, 1\]\n")
            self.assertRegex(text, r"area +1, ")
            self.assertRegex(text, r"smallest angle +45\.0 degrees")
            self.assertIn("all triangles counterclockwise", text)
            for group in ("left", "right", "bottom", "top"):
                self.assertRegex(text, rf"{group} +\d+ +boundary edges +3 +1\n")

    def test_refining_multiplies_by_four(self):
        text = self.kedge("mesh", "generate", "lshape", "2", "--refine", "2", "-o", "l.msh").stdout
        self.assertEqual(text, f"l.msh: {12 * 2 * 16} triangles, {225 + 0} vertices\n")

    def test_long_names_of_groups_keep_the_columns(self):
        self.names_keep_the_columns("the outer wall of the container")
        self.names_keep_the_columns("Außenwand mit Öffnung für Rohre")

    def names_keep_the_columns(self, name):
        self.write("c.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n"
                   f'1 4 "{name}"\n$EndPhysicalNames\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n'
                   "3 0 1 0\n$EndNodes\n$Elements\n2\n1 1 2 4 4 1 2\n2 2 2 5 5 1 2 3\n"
                   "$EndElements\n")
        text = self.kedge("mesh", "info", "c.msh").stdout
        rows = text[text.index("\ngroup ") + 1:].splitlines()
        self.assertTrue(any(row.startswith(name + " ") for row in rows), rows)
        self.assertEqual(len(set(map(len, rows))), 1, rows)
        self.assertEqual(len({row.index(word) for row, word in
                              zip(rows[1:], re.findall("boundary edges|triangles", text[text.index(
                                  "group "):]))}), 1, rows)

    def test_what_was_put_right_is_said(self):
        self.write("c.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n"
                   "3 0 1 0\n4 9 9 0\n$EndNodes\n$Elements\n1\n1 2 2 5 5 1 3 2\n$EndElements\n")
        text = self.kedge("mesh", "info", "c.msh").stdout
        self.assertRegex(text, r"put right +1 clockwise triangle, turned\n")
        self.assertRegex(text, r"put right +1 vertex of no triangle, left out\n")
        self.assertRegex(text, r"default +\S+ +boundary edges +3 ")

    def test_tetrahedra_are_written_and_looked_at(self):
        for binary in [], ["--binary"]:
            written = self.kedge("mesh", "generate", "cube", "2", "-o", "cube.msh", *binary).stdout
            self.assertEqual(written, "cube.msh: 48 tetrahedra, 27 vertices\n")
            text = self.kedge("mesh", "info", "cube.msh").stdout
            self.assertRegex(text, r"tetrahedra +48\nfaces +120, 48 of them on the boundary\nvertices +27\n")
            self.assertRegex(text, r"volume +1, of a tetrahedron 0.0208 to 0.0208\n")
            self.assertRegex(text, r"z1 +6 +boundary faces +8 +1\n")
            self.assertRegex(text, r"domain +1 +tetrahedra +48 +1\n")

    def test_faces_that_coincide_are_counted_in_space(self):
        points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, -1)]
        nodes = "".join(f"{i + 1} {x} {y} {z}\n" for i, (x, y, z) in enumerate(points))
        self.write("two.msh", f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n{nodes}$EndNodes\n"
                   "$Elements\n2\n1 4 2 1 1 1 2 3 4\n2 4 2 1 1 5 6 7 8\n$EndElements\n")
        self.assertRegex(self.kedge("mesh", "info", "two.msh").stdout,
                         r"parts +2, without common faces\ncoincident faces 2, each on another one: banks of a slit, or "
                         r"parts that are not joined; one is at \(0.333333, 0.333333, 0\): mesh both sides")

    def test_what_was_put_right_of_tetrahedra_is_said(self):
        self.write("c.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
                   "5 9 9 9\n$EndNodes\n$Elements\n4\n1 2 2 7 1 1 2 3\n2 2 2 8 1 1 2 3\n3 4 2 5 1 1 2 3 4\n"
                   "4 4 2 6 1 1 2 3 4\n$EndElements\n$Periodic\n1\n2 1 2\n0\n$EndPeriodic\n")
        text = self.kedge("mesh", "info", "c.msh").stdout
        first = "in several physical groups, of which the first counts\n"
        self.assertRegex(text, rf"put right +1 tetrahedron {first}put right +1 face {first}")
        self.assertRegex(text, r"put right +1 vertex of no tetrahedron, left out\n")
        self.assertRegex(text, r"periodic +1 surface of the file; boundary like the rest")

    def test_edges_that_lie_on_each_other_are_said(self):
        meshes = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../meshes")
        text = self.kedge("mesh", "info", os.path.join(meshes, "slit.msh")).stdout
        count = int(re.search(r"slit-upper +\d+ +boundary edges +(\d+) ", text)[1])
        self.assertRegex(text, rf"coincident edges {2 * count}, each on another one: banks of a slit, or parts "
                         r"that are not joined; one is at \(.*\), and join = \S+ in \[mesh\] joins them")
        text = self.kedge("mesh", "info", os.path.join(meshes, "plate.msh")).stdout
        self.assertNotIn("coincident", text)

    def test_a_seam_of_doubled_vertices_is_said_where_a_condition_is_missing(self):
        self.write("seam.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n"
                   '1 1 "wall"\n$EndPhysicalNames\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 0 0\n'
                   "5 1 1 0\n6 0 1 0\n$EndNodes\n$Elements\n6\n1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n"
                   "3 1 2 1 1 5 6\n4 1 2 1 1 6 4\n5 2 2 1 1 1 2 3\n6 2 2 1 1 4 5 6\n$EndElements\n")
        self.write("seam.ini", "[mesh]\nfile = seam.msh\n[boundary wall]\ntype = dirichlet\n"
                   "value = 0\n")
        for refine, name, n in ((0, "seam.msh", 2), (1, "seam.msh, refined once", 4),
                                (2, "seam.msh, refined 2 times", 8)):
            self.refused("solve", "seam.ini", "-s", f"mesh.refine={refine}", says=f"seam.ini:2: {n} "
                         f"boundary edges of {name} without a group have no condition; add [boundary "
                         f"default]; {n} of them lie on other boundary edges, one at (")
            self.refused("solve", "seam.ini", "-s", f"mesh.refine={refine}", says="): where that is no slit, "
                         "join the vertices that are there twice ([mesh] join = ")

    TWO = ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"left\"\n1 2 \"right\"\n"
           "$EndPhysicalNames\n$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 1 0 0\n6 3 0 0\n7 3 1 0\n"
           "8 %s 1 0\n9 0 0.5 0\n10 %s 0.5 0\n$EndNodes\n$Elements\n8\n1 1 2 1 1 4 9\n2 1 2 1 1 9 1\n"
           "3 1 2 2 2 6 7\n4 2 2 1 1 1 2 9\n5 2 2 1 1 9 3 4\n6 2 2 1 1 9 2 3\n7 2 2 1 1 5 6 10\n"
           "8 3 2 1 1 10 6 7 8\n$EndElements\n")

    def test_parts_that_touch_are_noted_and_joined(self):
        self.write("two.msh", self.TWO % ("1.0000000003", "1"))
        self.write("two.ini", "[mesh]\nfile = two.msh\n[boundary left]\ntype = dirichlet\nvalue = 0\n"
                   "[boundary right]\ntype = dirichlet\nvalue = 3\n[boundary default]\ntype = neumann\n"
                   "value = 0\n[exact]\nu = x\n[output]\nfile =\n")
        text = self.kedge("solve", "two.ini").stdout
        self.assertRegex(text, r"3 boundary edges lie on others and are not joined, as at \(1, 0\.\d+\): nothing passes "
                         r"there; mesh both sides with common vertices \(Coherence in Gmsh\)")
        self.assertIn("vertices of one lie inside others", self.kedge("mesh", "info", "two.msh").stdout)
        self.write("near.msh", self.TWO.replace("8\n1 1 2 1 1 4 9", "9\n9 2 2 1 1 9 11 3\n1 1 2 1 1 4 9").replace(
            "6 2 2 1 1 9 2 3", "6 2 2 1 1 9 2 11").replace("$Nodes\n10\n", "$Nodes\n11\n11 1 0.5000000002 0\n")
            % ("1.0000000003", "1"))
        text = self.kedge("solve", "two.ini", "-s", "mesh.file=near.msh").stdout
        self.assertRegex(text, r"4 boundary edges lie on others .*; \[mesh\] join = \de-10 joins them")
        self.kedge("solve", "two.ini", "-s", "mesh.file=near.msh", "-s", "mesh.join=1e-9", "-r", "r.json")
        with open(self.path("r.json")) as file:
            report = json.load(file)
        self.assertNotIn("joined", report["solver"]["note"])
        self.assertLess(report["errors"]["u"]["l2"], 1e-8)
        text = self.kedge("solve", "two.ini", "-s", "mesh.file=near.msh", "-s", "mesh.join=1e-13").stdout
        self.assertIn("lie on others and are not joined", text)
        text = self.kedge("mesh", "join", "near.msh", "--distance", "1e-9", "-o", "one.msh").stdout
        self.assertEqual(text, "one.msh: 6 elements, 8 vertices\n")
        self.assertNotIn("coincident", self.kedge("mesh", "info", "one.msh").stdout)
        self.kedge("solve", "two.ini", "-s", "mesh.file=one.msh")

    def test_joins_that_cannot_be_are_refused(self):
        self.write("two.msh", self.TWO % ("1", "1"))
        self.refused("mesh", "join", "two.msh", "-d", "2", "-o", "x.msh", says="joins two corners of ")
        self.assertFalse(os.path.exists(self.path("x.msh")))
        for wrong in ("0", "-1", "nan", "inf", "far"):
            self.refused("mesh", "join", "two.msh", "-d", wrong, "-o", "x.msh", says="wants a positive number")
        self.refused("mesh", "join", "two.msh", "-o", "x.msh", says="--distance D")
        self.refused("mesh", "join", "two.msh", "-d", "1", says="-o FILE")

    def test_elements_on_elements_are_said(self):
        self.write("two.msh", self.TWO % ("0.9", "0.8"))
        self.assertRegex(self.kedge("mesh", "info", "two.msh").stdout, r"overlaps +\d+ boundary edges of elements that "
                         r"lie on others, whose area counts twice; one is at \(")

    def test_only_groups_that_lie_on_others_are_said_to(self):
        meshes = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../meshes")
        names = ["inner", "outer", "slit-upper", "slit-lower"]
        for missing in names:
            self.write("slit.ini", f"[mesh]\nfile = {meshes}/slit.msh\n" + "".join(
                f"[boundary {name}]\ntype = dirichlet\nvalue = 0\n" for name in names
                if name != missing))
            result = self.refused("solve", "slit.ini", says=f"boundary group '{missing}' of ")
            self.assertEqual("lie on other boundary edges" in result.stderr, "slit" in missing)

    def test_meshes_that_cannot_be_had_are_refused(self):
        self.refused("mesh", "info", "nowhere.msh", says="nowhere.msh")
        self.refused("mesh", "info", "p.ini", says="p.ini, line 2: this is not a Gmsh mesh but looks "
                     "like a problem file; those are for kedge solve and kedge plan")
        self.write("a.geo", "Point(1) = {0, 0, 0};\n")
        self.refused("mesh", "info", "a.geo", says="a.geo, line 1: this is a Gmsh geometry, not a "
                     "mesh; mesh it with: gmsh -2 a.geo")
        self.refused("solve", "a.geo", says="a.geo is a Gmsh geometry; mesh it with: gmsh -2 a.geo")
        self.refused("mesh", "generate", "circle", "3", "-o", "x.msh", says="circle")
        self.refused("mesh", "generate", *["square"] * 60, "-o", "x.msh", says="too many words")

    def test_one_part_of_a_split_mesh_is_told(self):
        corpus = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/corpus/mesh")
        text = self.kedge("mesh", "info", os.path.join(corpus, "split41.msh")).stdout
        self.assertRegex(text, r"triangles +1\n")
        self.assertRegex(text, r"partition +2 of 2: the file is one part of a mesh that was split, and its cuts are boundary\n")
        self.assertRegex(text, r"ghosts +1 triangle of other parts, left out\n")
        text = self.kedge("mesh", "info", os.path.join(corpus, "parametric22.msh")).stdout
        self.assertRegex(text, r"triangles +2\n")
        self.assertNotIn("part", text)

    def test_a_mesh_that_memory_does_not_hold_is_refused_before_it_is_made(self):
        free = json.loads(self.kedge("info", "--json").stdout)["cpu"]["memory_free_bytes"]
        if free > 65e9:
            self.skipTest("the largest mesh that kedge can number may fit")
        large, says = ("p.ini", "-s", "mesh.generate=square 36", "-s", "mesh.refine=9", "-r", "r.json", "-q"), (
            "square 36: to make a mesh of 679477248 triangles takes 69.31 GB of host ")
        self.write("r.json", "old")
        self.refused("solve", *large, code=1, says=says)
        with open(self.path("r.json")) as file:
            self.assertEqual(file.read(), "old")
        self.refused("plan", *large, code=1, says=says)
        plan = self.json("r.json")
        self.assertEqual(plan["mesh"]["elements"], 679477248)
        self.assertEqual([plan["fits"], *(op["fits"] for op in plan["operators"])], [False] * 4)
        self.refused("mesh", "generate", "square", "18900", "-o", "x.msh", code=1,
                     says="square 18900: to make a mesh of 714420000 triangles takes 72.87 GB of host "
                     "memory and ")

    def test_a_mesh_may_go_through_a_pipe(self):
        text = self.shell("$K mesh generate square 3 -o /dev/stdout | $K mesh info /dev/stdin", 0)
        self.assertRegex(text.stdout, r"triangles +18\n")

    def test_a_mesh_without_an_end_is_refused(self):
        os.mkfifo(self.path("ff.msh"))
        self.refused("mesh", "info", "ff.msh",
                     says="cannot read ff.msh: it is a pipe that nothing was written to", timeout=60)
        self.refused("mesh", "info", "/dev/zero",
                     says="cannot read /dev/zero: it is a device, not a file", timeout=60)

    def test_a_signal_leaves_no_partial_file(self):
        def no_core():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name in ("TERM", "INT", "HUP", "QUIT", "XCPU", "USR1", "USR2", "ALRM", "PIPE", "VTALRM", "ABRT",
                     "STKFLT", "RTMIN", "RTMAX"):
            number = getattr(signal, "SIG" + name, 16)  # SIGSTKFLT
            process = subprocess.Popen([KEDGE, "mesh", "generate", "square", "300", "-o", "x.msh"],
                                       cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, preexec_fn=no_core)
            while process.poll() is None and len(os.listdir(self.folder)) == 1:
                time.sleep(0.001)
            process.send_signal(number)
            self.assertEqual(process.wait(), -number, name)
            self.assertEqual(os.listdir(self.folder), ["p.ini"], name)

    def test_a_limit_of_file_size_is_a_sentence(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
        self.refused("mesh", "generate", "square", "40", "-o", "x.msh", code=1,
                     says="cannot write the mesh x.msh: File too large", preexec_fn=limit)
        result = self.kedge("solve", "p.ini", "-q", "-o", "x.vtkhdf", code=1, preexec_fn=limit)
        self.assertRegex(result.stderr, r"^kedge: cannot write the output x.vtkhdf: .*File too large\n$")
        self.assertEqual(os.listdir(self.folder), ["p.ini"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
