#!/usr/bin/python3
"""check_solve.py KEDGE: `kedge solve` from outside: summary, report, exit codes.
Each note and each refusal of a solve is here with the case that brings it, hence the length."""
import json
import math
import os
import re
import sys
import unittest

from command import Command, PROBLEM, STAGES, TITLES

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(SOURCE, "profiling"))
sys.dont_write_bytecode = True
import meshes


class Solve(Command):
    def test_a_solve_prints_the_steps_errors_and_backend(self):
        text = self.kedge("solve", "p.ini", "--backend", "host", "-o", "out.vtkhdf",
                          "-s", "solver.preconditioner=jacobi").stdout
        rows = re.findall(r"^(\S.*?)\s{2,}(?:\d+\.\d{4}|-) ?", text.split("\n\n")[1], re.M)
        self.assertEqual(rows, [t for t in TITLES if t != "assembly (B3)"] + ["total"])
        self.assertIn("\nassembly (B3) ", self.kedge("solve", "p.ini", "-s",
                                                     "solver.operator=ell").stdout)
        self.assertIn("u: L2 1.52402e-02", text)  # the reference value of docs/math.md
        self.assertRegex(text, r"solver +converged after \d+ iterations \(matrix-free, jacobi\)")
        self.assertRegex(text, r"backend host on .+ \(asked for\)")
        self.assertRegex(text, r"memory +peak .+B \(predicted .+B\)")
        self.assertRegex(text, r"\ntau +diffusion / L, L = 1\n")
        self.assertRegex(text, r"output +out\.vtkhdf")

    def test_the_report_has_the_documented_names(self):
        self.kedge("solve", "p.ini", "--report", "r.json", "--backend", "host", "-q")
        report = self.json("r.json")
        self.assertEqual(report["mesh"], {"dimension": 2, "elements": 800, "edges": 1240, "vertices": 441,
                                          "boundary_edges": 80})
        self.assertEqual(report["space"], {"order": 1, "trace_unknowns": 2 * (1240 - 80),
                                           "element_unknowns": 3 * 800,
                                           "length": report["space"]["length"],
                                           "inverse": {"triangles": "", "quadrilaterals": ""}})
        self.assertAlmostEqual(report["space"]["length"], 1)
        self.assertEqual(report["backend"]["name"], "host")
        self.assertEqual([stage["name"] for stage in report["stages"]], STAGES)
        for stage in report["stages"]:
            self.assertGreaterEqual(stage["seconds"], 0)
        solver = report["solver"]
        self.assertTrue(solver["converged"])
        self.assertLessEqual(solver["relative_residual"], solver["tolerance"])
        self.assertGreater(solver["iterations"], 0)
        self.assertEqual(f'{report["errors"]["u"]["l2"]:.5e}', "1.52402e-02")
        for norm in (report["errors"]["u"]["linf"], report["errors"]["q"]["l2"],
                     report["errors"]["u_star"]["l2"]):
            self.assertGreater(norm, 0)
        memory = report["memory"]
        self.assertLess(abs(memory["predicted_device_bytes"] / memory["peak_device_bytes"] - 1),
                        0.05)
        self.assertGreater(memory["local_matrices_bytes"], 0)
        self.assertGreater(memory["operator_bytes"], 0)

    def test_the_summary_has_the_numbers_of_the_report(self):
        self.write("c.ini", "[mesh]\ngenerate = square 4\n[space]\norder = 2\n[equation]\ndiffusion = 3\n"
                   "[boundary left]\ntype = dirichlet\nvalue = 2\n[boundary right]\ntype = dirichlet\nvalue = 7\n"
                   "[boundary default]\ntype = neumann\nvalue = 0\n")
        text = self.kedge("solve", "c.ini", "-r", "r.json").stdout
        report = self.json("r.json")
        self.assertEqual([group["name"] for group in report["groups"]], ["left", "right", "bottom", "top"])
        for group in report["groups"]:
            row = re.search(rf"(?m)^{group['name']} +(\S+) +(\S+) +(\S+)$", text)
            self.assertEqual(row.groups(), tuple(f"{group[key]:.9g}" for key in ("length", "mean", "flux")))
        (region,) = report["regions"]
        least, most = region["minimum"], region["maximum"]
        numbers = (f"{number:.9g}" for number in (region["area"], region["mean"], least["value"]))
        self.assertIn(" ".join([region["name"], *numbers,
                                "({:.6g}, {:.6g})".format(*least["at"]), f"{most['value']:.9g}",
                                "({:.6g}, {:.6g})".format(*most["at"])]), re.sub(" +", " ", text))
        self.assertEqual((least["at"][0], most["at"][0]), (0, 1))
        balance = report["balance"]
        self.assertIn("\nbalance      source 0, reaction 0, flux {:.9g}, remainder {:.1e}\n".format(
            balance["flux"], balance["remainder"]), text)
        self.assertIn("\nconductance  3 (by energy 3)\n", text)
        self.assertAlmostEqual(report["conductance"]["flux"], 3, delta=1e-8)
        widths = {len(row) for row in re.findall(r"(?m)^(?:group|left|right|bottom|top) .*", text)}
        self.assertEqual(len(widths), 1)  # numbers stand below each other
        self.assertNotIn("more, which", text)
        text = self.kedge("solve", "c.ini", "-r", "r.json", "-s", "equation.source=1").stdout
        self.assertNotIn("conductance", text)
        self.assertIsNone(self.json("r.json")["conductance"])

    def test_long_tables_are_cut_and_the_report_has_all(self):
        n = 8
        points = [f"{j * (n + 1) + i + 1} {i} {j} 0" for j in range(n + 1) for i in range(n + 1)]
        corner = [[j * (n + 1) + i + 1 for i in range(n + 1)] for j in range(n + 1)]
        sides = [(corner[0][i], corner[0][i + 1]) for i in range(n)]
        sides += [(corner[i][0], corner[i + 1][0]) for i in range(n)]
        sides += [(corner[4][i], corner[4][i + 1]) for i in range(n)]  # inside
        squares = [(corner[j][i], corner[j][i + 1], corner[j + 1][i + 1], corner[j + 1][i])
                   for j in range(n) for i in range(n)]
        cells = [f"1 2 {k + 1} {k + 1} {a} {b}" for k, (a, b) in enumerate(sides)]
        cells += [f"3 2 {k % 21 + 1} {k % 21 + 1} {' '.join(map(str, square))}" for k, square in enumerate(squares)]
        self.write("many.msh", "\n".join([
            "$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(points)), *points, "$EndNodes",
            "$Elements", str(len(cells)), *(f"{k + 1} {cell}" for k, cell in enumerate(cells)), "$EndElements", ""]))
        self.write("m.ini", "[mesh]\nfile = many.msh\n[boundary default]\ntype = dirichlet\nvalue = x\n")
        text = self.kedge("solve", "m.ini", "-r", "r.json").stdout
        report = self.json("r.json")
        self.assertEqual((len(report["groups"]), len(report["regions"])), (25, 21))
        self.assertEqual([group["inside"] for group in report["groups"]], [False] * 16 + [True] * 8 + [False])
        groups, regions = re.search(r"(?s)\n(group .*?)\n\n(region .*?)\n\n", text).groups()
        self.assertEqual(len(groups.splitlines()), 22)
        self.assertEqual(groups.splitlines()[-1], "... and 5 more, which a report has (--report FILE.json)")
        self.assertEqual(len(regions.splitlines()), 22)
        self.assertEqual(regions.splitlines()[-1], "... and 1 more, which a report has (--report FILE.json)")
        self.assertRegex(groups, r"(?m)^20 \(inside\) +1 ")

    def test_without_an_exact_solution_errors_are_null(self):
        text = self.kedge("solve", "p.ini", "--set", "exact.u=", "--set", "boundary default.value=1",
                          "--report", "r.json").stdout
        self.assertNotIn("errors", text)
        self.assertIsNone(self.json("r.json")["errors"])

    def test_set_changes_keys(self):
        self.kedge("solve", "p.ini", "--set", "space.order=3", "-s", "solver.operator=ell",
                   "--report", "r.json", "-q")
        report = self.json("r.json")
        self.assertEqual(report["space"]["order"], 3)
        self.assertEqual(report["solver"]["operator"], "ell")
        self.assertGreater(report["stages"][3]["seconds"], 0)

    def test_a_set_that_is_wrong_is_refused(self):
        self.refused("solve", "p.ini", "--set", "space.odrer=3", says="order")
        self.refused("solve", "p.ini", "--set", "nonsense", says="nonsense")
        self.refused("solve", "p.ini", "--set", "space.order=99", says="99")

    def test_settings_of_multigrid_take_it_or_are_refused(self):
        self.assertIn("(matrix-free, multigrid, smoother line)",
                      self.kedge("solve", "p.ini", "-s", "solver.smoother=line").stdout)
        self.refused("solve", "p.ini", "-s", "solver.smoother=line", "-s",
                     "solver.preconditioner=jacobi",
                     says="smoother = line is a setting of multigrid")

    def test_values_that_are_not_finite_name_the_line(self):
        self.write("v.ini", PROBLEM + "[equation]\nsource = log(x - 0.5)\n")
        self.refused("solve", "v.ini", says="v.ini:13: source is nan at x = ")
        self.write("v.ini", PROBLEM.replace("u = ", "u = 1/(x-0.5)^2*") + "[equation]\nsource=1\n")
        self.refused("solve", "v.ini", says="v.ini:11: exact u is ")
        self.write("v.ini", PROBLEM.replace("dirichlet", "dirichlet\nvalue = 1/y"))
        self.refused("solve", "v.ini", "-s", "boundary bottom.type=dirichlet",
                     "-s", "boundary bottom.value=log(-1-x)",
                     says="--set boundary bottom.value=log(-1-x): the value on boundary bottom is "
                     "nan at x = ")

    def test_the_inverse_of_the_flux_is_reported(self):
        def inverse(words, *settings):
            arguments = [word for setting in settings for word in ("-s", setting)]
            text = self.kedge("solve", "p.ini", "-r", "r.json", "-s", "mesh.generate=" + words, *arguments).stdout
            said = re.findall("^matrices +(.*)$", text, re.M)
            return self.json("r.json")["space"]["inverse"], said
        auto = {"triangles": "adjusted", "quadrilaterals": "exact"}
        curved = ("mesh.map=x + 0.1*y^2, y", "mesh.geometry=2", "space.order=2")
        self.assertEqual(inverse("mixed 4", *curved),
                         (auto, ["triangles: inverse adjusted, quadrilaterals: inverse exact"]))
        self.assertEqual(inverse("mixed 4", "space.inverse=adjusted", *curved)[0],
                         {"triangles": "adjusted", "quadrilaterals": "adjusted"})
        self.assertEqual(inverse("quads 4")[0]["quadrilaterals"], "adjusted")
        self.assertEqual(inverse("square 4"), ({"triangles": "", "quadrilaterals": ""}, []))

    def test_an_inverse_without_use_and_strong_tensors_are_said(self):
        def said(*settings):
            arguments = [word for setting in settings for word in ("-s", setting)]
            self.kedge("solve", "p.ini", "-r", "r.json", *arguments)
            report = self.json("r.json")
            return report["space"]["inverse"]["quadrilaterals"], report["solver"]["note"]
        unused = ("[space] inverse is used by no element: straight triangles with constant coefficients have formulas "
                  "of their own; take it out")
        self.assertEqual(said("mesh.generate=square 4", "space.inverse=exact"), ("", unused))
        self.assertEqual(said("mesh.generate=square 4", "space.inverse=exact", "equation.reaction=x"), ("", ""))
        self.assertEqual(said("mesh.generate=mixed 4", "space.inverse=exact"), ("exact", ""))
        strong = ("mesh.generate=quads 4", "equation.diffusion=0.75, 0.433, 0.25")
        self.assertEqual(said(*strong), ("gradient", ""))
        self.assertIn("may be some 4e+04 times those of a scalar; leave inverse out", said(*strong, "space.inverse=exact")[1])
        self.assertIn("errors of q may be some 12 times those of a scalar, of order 2 until the mesh is much finer",
                      said("mesh.generate=quads 4", "equation.diffusion=1, 0.001, 0.000002", "space.order=2")[1])

    def test_a_coefficient_that_no_region_takes_is_said(self):
        for key, said in (("diffusion=2", True), ("reaction=2", False)):
            self.kedge("solve", os.path.join(SOURCE, "meshes/inclusion.ini"), "-q", "-r", "r.json",
                       "-o", "o.hdf", "-s", f"equation.{key}")
            self.assertEqual(self.json("r.json")["solver"]["note"],
                             "diffusion of [equation] is used by no region: each has its own; take it "
                             "out" if said else "")

    def test_a_parameter_that_no_expression_uses_is_said(self):
        text = "[parameters]\nlong = 2\nuse = 3\n" + PROBLEM
        said = "no expression uses 'long' of [parameters]: take it out, or mend the name"
        for settings, note in ((["equation.reaction=use"], said), (["equation.reaction=use*long"], ""),
                               (["equation.reaction=use*longer", "parameters.longer=2*long"], ""),
                               (["mesh.map=use*x, long*y"], "")):
            self.write("q.ini", text)
            self.kedge("solve", "q.ini", "-q", "-r", "r.json",
                       *(word for setting in settings for word in ("-s", setting)))
            self.assertEqual(self.json("r.json")["solver"]["note"], note)
        self.write("q.ini", text[:text.index("[exact]")] + "value = 0\n")
        self.kedge("solve", "q.ini", "-q", "-r", "r.json", "-s", "equation.reaction=use")
        self.assertIn(said + "; the right-hand side is 0: ", self.json("r.json")["solver"]["note"])

    def test_what_a_mesh_has_and_the_solution_has_not_is_said(self):
        def note(*settings):
            arguments = [word for setting in settings for word in ("-s", setting)]
            self.kedge("solve", "p.ini", "-q", "-r", "r.json", *arguments)
            return self.json("r.json")["solver"]["note"]
        polygon = ("the boundary is a polygon in place of curves (geometry = 1): set [mesh] geometry to "
                   "2 or more")
        for refine in (0, 1):
            self.assertEqual(note("mesh.generate=disk 4", f"mesh.refine={refine}"), polygon)
        self.assertEqual(note("mesh.generate=disk 4", "mesh.geometry=1"), "")
        for words, bent in (("x + 0.1*y^2, y", True), ("x + 0.01*sin(2*pi*y), y", True), ("x^2 + x, y", False),
                            ("x + y/2, y - x", False), ("x, y + 1e-9*x^2", False)):
            for settings in ([], ["mesh.refine=1"]):
                said = note("mesh.generate=square 1", f"mesh.map={words}", *settings)
                self.assertEqual(said.startswith(polygon), bent, words)
                self.assertEqual("polygon" in said, bent, words)
            self.assertNotIn("polygon", note("mesh.generate=square 1", f"mesh.map={words}", "mesh.geometry=1"))
            self.assertNotIn("polygon", note("mesh.generate=square 1", f"mesh.map={words}", "mesh.geometry=2"))
        self.assertEqual(note("mesh.generate=disk 4", "mesh.geometry=2"), "")
        plane = ("the map bends the boundary, and faces of tetrahedra are plane: take a finer mesh before the map, "
                 "as refine splits plane faces")
        for words, bent in (("x + 0.1*y*z, y, z", True), ("x, y, z + 0.01*sin(2*pi*x)", True),
                            ("x^2 + x, y, 2*z", False), ("x + y/2 - z, y - x, z", False), ("x, y, z + 1e-9*x^2", False)):
            for settings in ([], ["mesh.refine=1"]):
                said = note("mesh.generate=cube 1", f"mesh.map={words}", *settings)
                self.assertEqual(said.startswith(plane), bent, words)
                self.assertEqual("bends" in said, bent, words)
            self.assertNotIn("bends", note("mesh.generate=cube 1", f"mesh.map={words}", "mesh.geometry=1"))
        curved = ("mesh.file=" + os.path.join(SOURCE, "meshes/curved.msh"), "space.order=3")
        self.assertNotIn("flattens", note(*curved))
        self.assertEqual(note(*curved, "mesh.geometry=1", "mesh.refine=1"),
                         "geometry = 1 is below 2, the order of the curves of the mesh, and flattens "
                         "them: leave it out")
        self.assertEqual(note("mesh.generate=disk 4", "mesh.geometry=3"),
                         "the elements are curves of order 3, more than one above that of the space, "
                         "1: q and u* are poor there; take order = 2 or more, or a smaller geometry")
        self.assertEqual(note("mesh.generate=disk 4", "mesh.geometry=3", "space.order=2"), "")
        with open(os.path.join(SOURCE, "meshes/inclusion22.msh")) as file:
            self.write("m.msh", file.read() + "$Periodic\n1\n1 2 1\n0\n$EndPeriodic\n")
        self.assertEqual(note("mesh.file=m.msh"),
                         "the mesh file identifies sides as periodic, and here they are boundaries "
                         "with conditions of their own")
        self.assertIn("periodic         1 curve ", self.kedge("mesh", "info", "m.msh").stdout)

    def test_an_exact_solution_that_boundary_values_contradict_is_said(self):
        def note(*settings, code=0):
            arguments = [word for setting in settings for word in ("-s", setting)]
            self.kedge("solve", "p.ini", "-q", "-r", "r.json", *arguments, code=code)
            return self.json("r.json")["solver"]["note"]
        says = ("on boundary 'default' the value that is given differs by {} from {} of [exact]: "
                "errors are not those of this problem")
        left = "boundary left.type=neumann"
        for settings in ([], ["boundary default.value=0"],  # what u is there, but for rounding
                         [left, "boundary left.value=-2*pi*sin(2*pi*y)"]):
            self.assertEqual(note(*settings), "")
        self.assertRegex(note("exact.u=abs(x-0.5)", "boundary default.value=abs(x-0.5)",
                              "equation.source=abs(x-0.5)"), r"^diffusion grad u \. n of \[exact\] jumps near x = 0\.5, ")
        for settings, group, gap, what in (
                (["boundary default.value=0.25"], "left", "2.5e-01", "u"),
                (["boundary top.type=dirichlet", "boundary top.value=1e-6"], "top", "1.0e-06", "u"),
                ([left, "boundary left.value=0"], "left", "6.3e+00", "diffusion grad u . n")):
            self.assertEqual(note(*settings), says.format(gap, what).replace("default", group))
        self.assertRegex(self.kedge("solve", "p.ini", "-s", "boundary default.value=1").stdout,
                         "(?m)^note +on boundary 'left' the value that is given differs by 1")
        self.assertRegex(note("boundary default.value=1", "solver.max_iterations=3", code=3),
                         "^stopped after max_iterations = 3 .*; on boundary 'left' the value ")

    def test_an_exact_solution_whose_flux_jumps_between_materials_is_said(self):
        def solve(*settings):
            arguments = [word for setting in settings for word in ("-s", setting)]
            self.kedge("solve", os.path.join(SOURCE, "meshes/inclusion.ini"), "-q", "-r", "r.json",
                       "-o", "o.vtkhdf", *arguments)
            return self.json("r.json")
        linear = "exact.u=100-50*x"
        says = (r"diffusion grad u \. n of \[exact\] jumps by (\S+) between regions '(matrix|inclusion)' "
                r"and '(matrix|inclusion)', and the source has no part on their edges: errors are not "
                r"those of this problem")
        report = solve(linear)
        said = re.fullmatch(says, report["solver"]["note"])
        self.assertTrue(said, report["solver"]["note"])
        self.assertNotEqual(said[2], said[3])
        self.assertLess(abs(float(said[1]) / (39.5 * 50) - 1), 0.05)
        self.assertGreater(report["errors"]["u"]["l2"], 1)
        # Without a jump there is no note: one material, also as a formula, or a flux that goes on.
        for settings in (["region inclusion.diffusion=0.5"],
                         ["region matrix.diffusion=region/2", "region inclusion.diffusion=region/4"]):
            report = solve(linear, *settings)
            self.assertNotIn("jumps", report["solver"]["note"])
            self.assertLess(report["errors"]["u_star"]["l2"], 1e-6)
        self.assertRegex(solve(linear, "mesh.file=curved.msh")["solver"]["note"], says)
        tensor = "region inclusion.diffusion=0.5, 0, 0.5+x"  # the flux of a u of x is that of 0.5
        self.assertNotIn("jumps", solve(linear, tensor)["solver"]["note"])

    def test_an_exact_solution_of_branches_is_judged_from_each_side_of_a_facet(self):
        # Quadrilaterals; the regions meet on x + y = 1.
        self.write("two.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"A\"\n2 2 \"B\"\n"
                   "$EndPhysicalNames\n$Nodes\n6\n1 0 1 0\n2 1 0 0\n3 -1 0 0\n4 0 -1 0\n5 1 2 0\n6 2 1 0\n"
                   "$EndNodes\n$Elements\n2\n1 3 2 1 1 3 4 2 1\n2 3 2 2 2 1 2 6 5\n$EndElements\n")

        def note(u, *settings):
            self.write("p.ini", "[mesh]\nfile = two.msh\nrefine = 1\n[space]\norder = 2\n[region A]\ndiffusion = 1\n"
                       "[region B]\ndiffusion = 4\n[boundary default]\ntype = dirichlet\n"
                       f"[exact]\nu = {u}\n[solver]\ntolerance = 1e-12\n")
            self.kedge("solve", "p.ini", "-q", "-r", "r.json", *settings)
            report = self.json("r.json")
            return report["solver"]["note"], report["errors"]["u"]["l2"]
        for u in ("x+y < 1 ? x+y : 1+(x+y-1)/4", "min(x+y, 1+(x+y-1)/4)", "x+y-0.75*max(0, x+y-1)",
                  "x+y-0.75*(x+y-1)*step(x+y-1)", "x+y-0.375*(x+y-1+abs(x+y-1))",
                  "region == 1 ? x+y : 1+(x+y-1)/4"):
            said, error = note(u)
            self.assertNotIn("jumps", said, u)
            self.assertLess(error, 1e-9, u)
        for u in ("x+y < 1 ? x+y : 1+(x+y-1)/3", "max(x+y, 1+(x+y-1)/2)", "region == 1 ? x+y : x+y"):
            self.assertRegex(note(u)[0], r"^diffusion grad u \. n of \[exact\] jumps by \S+ between regions '[AB]' and '[AB]'")
        # One diffusion: the flux jumps on the same facets.
        self.assertRegex(note("x+y < 1 ? x+y : 1+(x+y-1)/4", "-s", "region B.diffusion=1")[0],
                         r"^diffusion grad u \. n of \[exact\] jumps near x = \S+, y = \S+, where the source has no part: ")

    def test_jumps_of_an_exact_solution_are_said_with_their_place(self):
        def note(u, mesh, *settings):
            self.write("p.ini", f"[mesh]\ngenerate = {mesh}\n[space]\norder = 2\n[boundary default]\ntype = dirichlet\n"
                       f"[exact]\nu = {u}\nquadrature = 24\n")
            self.kedge("solve", "p.ini", "-q", "-r", "r.json", *(word for s in settings for word in ("-s", s)))
            return self.json("r.json")["solver"]["note"]
        for mesh in ("square 8", "quads 6"):
            for u, place in (("abs(x-0.53)", "x = 0.53"), ("abs(x-0.5)", "x = 0.5"), ("max(0.2, y-0.31)+x", "y = 0.51")):
                self.assertRegex(note(u, mesh), rf"diffusion grad u \. n of \[exact\] jumps near .*\b{place}\b")
            for u in ("atan2(y-0.48, x-0.55)", "x+(y < 0.48 ? 0 : 1)"):
                self.assertRegex(note(u, mesh), r"^u of \[exact\] jumps near x = \S+, y = 0\.48:")
            for u in ("atan2(y+0.1, x+0.2)", "max(0, x-0.3)^3", "abs(x-0.5)^3", "abs(x+1)*y", "floor(x/2)+x^2"):
                self.assertNotIn("jumps", note(u, mesh), u)
        # Roots are steep, and do not jump: on facets, inside of elements, on the boundary.
        for mesh in ("square 8", "square 7", "quads 6"):
            for u in ("abs(x-0.5)^1.5", "abs(x-0.5)^1.2*sin(y)", "abs(y-0.25)^1.1", "abs(x)^1.3*cos(y)", "sqrt(abs(x-0.3))^3"):
                self.assertNotIn("jumps", note(u, mesh), u)
                self.assertNotIn("differs", note(u, mesh, "boundary left.type=neumann", "boundary left.value=0")
                                 if u.startswith("abs(x)") else "", u)
        for u in ("abs(x-0.5)^1.5+1e-3*abs(y-0.25)", "abs(x-0.5)^1.2+x+0.5*max(0, x-0.5)"):
            self.assertRegex(note(u, "square 8"), r"diffusion grad u \. n of \[exact\] jumps near x", u)
        # The cut of the angle lies along a side, whose values are those of the other side.
        self.assertRegex(note("hypot(x-1.5, y-1)*atan2(y-1, x-1.5)", "square 4"),
                         r"^u of \[exact\] jumps near x = \S+, y = 1:")

    def test_the_example_with_two_materials_is_solved(self):
        def solve(*settings):
            self.kedge("solve", os.path.join(SOURCE, "meshes/inclusion.ini"), "-q", "-r", "r.json", "-o",
                       "o.vtkhdf", *settings)
            return self.json("r.json")
        report = solve()
        self.assertTrue(report["solver"]["converged"])
        self.assertEqual(report["solver"]["note"], "")
        self.assertGreater(os.path.getsize(self.path("o.vtkhdf")), 0)
        # Temperatures are between those of inlet and outlet, which are 50 from their mean.
        far = solve("-s", "exact.u=50")["errors"]["u"]["linf"]
        self.assertLess(abs(far - 50), 0.1)

    def test_the_curved_examples_have_the_errors_of_their_orders(self):
        def solve(name, *settings):
            arguments = [word for setting in settings for word in ("-s", setting)]
            self.kedge("solve", os.path.join(SOURCE, "meshes", name), "-q", "-r", "r.json", "-o", "o.vtkhdf",
                       *arguments)
            report = self.json("r.json")
            self.assertTrue(report["solver"]["converged"])
            return report["errors"]
        self.assertLess(solve("annulus.ini")["u"]["l2"], 2e-9)
        # Across a wall u is a logarithm; its slope follows from the conditions.
        slope = "parameters.slope=air*(20-80)/(0.16/2+air*0.16/water+air*log(2))"
        exact = "exact.u=80+0.16*slope/water+slope*log(hypot(x,y))"
        self.assertLess(solve("pipe.ini", slope, exact)["u"]["l2"], 1e-6)
        self.assertLess(solve("pipe.ini", slope, exact, "mesh.refine=1")["u"]["l2"], 4e-8)

    def test_the_examples_in_space_have_their_numbers(self):
        def solve(name, *settings):
            arguments = [word for setting in settings for word in ("-s", setting)]
            self.kedge("solve", os.path.join(SOURCE, "meshes", name), "-q", "-r", "r.json", "-o", "o.vtkhdf",
                       *arguments)
            report = self.json("r.json")
            self.assertTrue(report["solver"]["converged"])
            return report
        sink = {group["name"]: group for group in solve("heatsink.ini")["groups"]}
        self.assertAlmostEqual(sink["chip"]["flux"], 10, delta=1e-7)
        self.assertAlmostEqual(sink["air"]["mean"], 20 + 10 / (0.005 * 112), delta=1e-7)
        # A capacitor conducts more than columns that are insulated from each other, and less than layers that conduct
        # without loss along themselves.
        conductance = solve("capacitor.ini", "solver.tolerance=1e-12")["conductance"]
        self.assertAlmostEqual(conductance["flux"], conductance["energy"], delta=1e-10)
        self.assertTrue(0.75 + 0.25 / 0.55 < conductance["flux"] < 1 / (0.5 + 0.5 / 3.25), conductance)
        # Along three edges u is as r^(2/3): the energy converges with h^(4/3).
        energy = [solve("fichera.ini", f"mesh.refine={k}")["regions"][0]["integral"] for k in range(3)]
        self.assertAlmostEqual(math.log2((energy[0] - energy[1]) / (energy[1] - energy[2])), 4 / 3, delta=0.15)

    def test_what_the_mesh_or_the_coefficients_exclude_is_refused_where_it_is_set(self):
        self.write("o.ini", PROBLEM.replace("order = 1", "order = 9"))
        self.refused("solve", "o.ini", "-s", "equation.diffusion=1+x*x",
                     says="o.ini:5: with an expression for diffusion or reaction order is 1 to 8, not 9")
        self.refused("solve", "o.ini", "-s", "mesh.generate=quads 4",
                     says="o.ini:5: quads 4: the mesh has 16 quadrilaterals, on which kedge solves with "
                          "orders 1 to 8")
        plan = self.kedge("plan", "p.ini", "-s", "mesh.generate=quads 4").stdout
        self.assertRegex(plan, r"(?m)^peak +\d\S* \w*B +- +\d\S* \w*B$")
        self.refused("solve", "p.ini", "-s", "mesh.generate=quads 4", "-s", "solver.smoother=line",
                     says="--set solver.smoother=line: quads 4: the mesh has 16 quadrilaterals")

    def test_an_exact_solution_that_the_source_contradicts_is_said(self):
        def note(*settings):
            arguments = [word for setting in settings for word in ("-s", setting)]
            self.kedge("solve", "p.ini", "-q", "-r", "r.json", *arguments)
            return self.json("r.json")["solver"]["note"]
        says = (r"the source that is given differs by (\S+) from -div\(diffusion grad u\) \+ reaction u "
                r"of \[exact\]: errors are not those of this problem(; more points .*)?")
        # Right sources, with rounding of their own: none has a note.
        right = "(8*pi^2+1)*sin(2*pi*x)*sin(2*pi*y)"
        harmonic = "exact.u=(x^2+y^2)^(1/3)*sin(2/3*atan2(y, x))"
        for settings in ([f"equation.source={right}"],
                         ["equation.source=79.9568352*sin(2*pi*x)*sin(2*pi*y)"],
                         ["equation.diffusion=3e-30", "equation.reaction=0", "exact.u=x*x+y*y",
                          "equation.source=-1.2e-29"],
                         ["equation.reaction=0", "equation.source=0", harmonic],
                         ["equation.reaction=0", "equation.source=1e-15", "exact.u=3*x+y"],
                         ["exact.u=x < 0.5 ? x^2 : x - 0.25", "equation.reaction=0",
                          "equation.source=x < 0.5 ? -2 : 0"]):
            self.assertNotIn("differs", note(*settings), settings)
        for settings, gap in ((["equation.source=0"], 79), ([f"equation.source={right}+1e-4"], 1e-4),
                              (["equation.source=78.957*sin(2*pi*x)*sin(2*pi*y)"], 1),
                              ([f"equation.source={right}", "equation.reaction=2"], 1),
                              ([f"equation.source={right}", "equation.diffusion=2"], 79),
                              (["equation.reaction=0", "equation.source=1e-3", harmonic], 1e-3),
                              (["exact.u=x*x", "equation.reaction=0", "equation.source=2"], 4)):
            said = re.fullmatch(says, note(*settings))
            self.assertTrue(said, settings)
            self.assertLess(abs(float(said[1]) / gap - 1), 0.03, settings)
        # One contradiction is said.
        self.assertEqual(note("equation.source=0", "boundary default.value=3").count("differs"), 1)
        self.assertRegex(self.kedge("solve", "p.ini", "-s", "equation.source=0").stdout,
                         "(?m)^note +the source that is given differs by ")

    def test_an_error_that_the_iteration_may_make_is_said(self):
        def solve(order, *settings, tolerance="1e-10"):
            arguments = ["-q", "-b", "host", "-r", "r.json", "-s", f"solver.tolerance={tolerance}"]
            for setting in (f"space.order={order}", "equation.reaction=0", *settings):
                arguments += ["-s", setting]
            self.kedge("solve", "p.ini", *arguments)
            report = self.json("r.json")
            return report["errors"]["u_star"]["l2"], report["solver"]["note"]
        says = ("the errors of u*, q and the flux may be what the iteration leaves: a smaller tolerance "
                "will tell")
        nonzero = "exact.u=exp(x)*cos(3*y)+1"
        for order, more, small in ((3, (), False), (5, (), False), (9, (), True),
                                   (3, (nonzero,), False), (9, (nonzero,), True)):
            error, note = solve(order, *more)
            self.assertEqual(note, says if small else "", (order, more))
            least, _ = solve(order, *more, tolerance="1e-13")
            if small:
                self.assertLess(least, 0.5 * error)
            else:
                self.assertLess(abs(error / least - 1), 0.1)
        # Jacobi leaves more than the residual says.
        jacobi = "solver.preconditioner=jacobi"
        for order, small in ((4, False), (9, True)):
            error, note = solve(order, jacobi)
            self.assertEqual(note, says if small else "", order)
            least, _ = solve(order, jacobi, tolerance="1e-12")
            (self.assertLess if small else self.assertGreater)(least, 0.1 * error)
        self.assertEqual(solve(9, tolerance="1e-13")[1], "the errors of u*, q and the flux may be what "
                         "the iteration or rounding leaves")
        # Not where the error is one of another problem.
        self.assertNotIn("iteration", solve(9, "boundary default.value=1e-6")[1])

    def test_many_iterations_of_multigrid_name_lines(self):
        self.write("m.ini", "[mesh]\ngenerate = ring 50 8\ngeometry = 1\n[space]\norder = 2\n[equation]\nsource = 1\n"
                   "[boundary default]\ntype = dirichlet\nvalue = x\n"
                   "[solver]\npreconditioner = multigrid\n")
        solvers = []
        for smoother in ("edge", "line"):
            self.kedge("solve", "m.ini", "-q", "-r", "r.json", "-s", f"solver.smoother={smoother}")
            solvers.append(self.json("r.json")["solver"])
        many, fewer = (solver["iterations"] for solver in solvers)
        self.assertEqual(solvers[0]["note"], f"{many} iterations are many for multigrid: "
                         "smoother = line may take less time")
        self.assertLess(fewer, many)
        self.assertEqual(solvers[1]["note"], "")
        # Lines do not follow a tensor that is turned against elements of good shape.
        self.write("t.ini", "[mesh]\ngenerate = square 12\n[space]\norder = 2\n[equation]\nsource = 1\n"
                   "diffusion = 7500.25, 4329.7, 2500.75\n[boundary default]\ntype = dirichlet\nvalue = x\n"
                   "[solver]\npreconditioner = multigrid\nsmoother = edge\n")
        self.kedge("solve", "t.ini", "-q", "-r", "r.json")
        turned = self.json("r.json")["solver"]
        self.assertGreater(turned["iterations"], 150)
        self.assertNotIn("smoother = line", turned["note"])

    def test_one_iteration_and_one_triangle_are_singular(self):
        self.write("one.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n"
                   "3 0 1 0\n$EndNodes\n$Elements\n1\n1 2 2 1 1 1 2 3\n$EndElements\n")
        self.write("one.ini", "[mesh]\nfile = one.msh\n[equation]\nreaction = 1\nsource = 1\n"
                   "[solver]\nmax_iterations = 1\n"
                   "[boundary default]\ntype = neumann\nvalue = x\n")
        text = self.kedge("solve", "one.ini", code=3).stdout
        self.assertIn("one.ini: 1 element, 3 edges, ", text)
        self.assertIn("NOT CONVERGED after 1 iteration (", text)
        self.assertIn("one.ini: 1 element, 3 edges, ", self.kedge("plan", "one.ini").stdout)

    def test_a_mesh_without_boundary_groups_is_said_to_have_none(self):
        self.write("one.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n"
                   "3 0 1 0\n$EndNodes\n$Elements\n1\n1 2 2 1 1 1 2 3\n$EndElements\n")
        self.write("one.ini", "[mesh]\nfile = one.msh\n[boundary inlet]\ntype = dirichlet\n"
                   "value = 1\n")
        self.refused("solve", "one.ini", says="one.ini:4: [boundary inlet]: one.msh has no boundary "
                     "group 'inlet' among default: no boundary edge has a group; give the curves "
                     "physical groups in Gmsh, or set [boundary default]")

    def test_a_line_inside_the_domain_takes_no_condition(self):
        self.write("two.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n"
                   "1 20 \"interface\"\n$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n"
                   "4 0 1 0\n$EndNodes\n$Elements\n3\n1 1 2 20 20 1 3\n2 2 2 1 1 1 2 3\n"
                   "3 2 2 1 1 1 3 4\n$EndElements\n")
        self.write("two.ini", "[mesh]\nfile = two.msh\n[boundary default]\ntype = dirichlet\n"
                   "value = 0\n[boundary interface]\ntype = dirichlet\nvalue = 0\n")
        self.refused("solve", "two.ini", says="two.ini:7: [boundary interface]: 'interface' in two.msh is a "
                     "group of lines inside the domain, where there are no boundary conditions; ")
        self.assertRegex(self.kedge("mesh", "info", "two.msh").stdout,
                         r"(?m)^interface +20  inner edges +1 +1\.41421$")

    def test_a_stabilization_that_makes_rounding_large_is_said(self):
        text = self.kedge("solve", "p.ini", "-r", "r.json").stdout
        self.assertNotIn("note ", text)
        self.assertEqual(self.json("r.json")["solver"]["note"], "")
        text = self.kedge("solve", "p.ini", "-s", "equation.diffusion=8.854e-12", "-s",
                          "equation.reaction=0", "-s", "space.stabilization=1", "-r", "r.json").stdout
        self.assertRegex(text, r"(?m)^note +converged to rounding: .*; rounding grows with the "
                               r"stabilization, some \de\+\d+ times diffusion / h: choose one near "
                               r"diffusion / h$")
        self.assertIn("grows with the stabilization", self.json("r.json")["solver"]["note"])
        self.assertLess(self.json("r.json")["errors"]["u"]["l2"], 0.02)

    def test_not_converging_is_exit_code_3_and_everything_is_written(self):
        result = self.kedge("solve", "p.ini", "--set", "solver.max_iterations=3", "--output",
                            "o.hdf", "--report", "r.json", code=3)
        self.assertIn("NOT CONVERGED after 3 iterations", result.stdout)
        self.assertRegex(result.stderr, r"^kedge: not converged: \S.*\n$")
        self.assertTrue(os.path.getsize(self.path("o.hdf")) > 0)
        solver = self.json("r.json")["solver"]
        self.assertFalse(solver["converged"])
        self.assertNotEqual(solver["note"], "")
        result = self.kedge("solve", "p.ini", "--set", "solver.max_iterations=3", "-q", code=3)
        self.assertEqual(result.stdout, "")
        self.assertIn("not converged", result.stderr)

    def test_quiet_prints_nothing(self):
        result = self.kedge("solve", "p.ini", "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_threads_are_those_asked_for(self):
        self.kedge("solve", "p.ini", "-q", "--backend", "host", "--threads", "1", "--report",
                   "r.json")
        self.assertRegex(self.json("r.json")["backend"]["device"], r"\b1 thread\b")

    def test_inputs_that_are_not_there_are_refused(self):
        self.refused("solve", "nowhere.ini", says="nowhere.ini")
        self.write("m.ini", PROBLEM.replace("generate = square 20", "file = nowhere.msh"))
        self.refused("solve", "m.ini", says="nowhere.msh")

    def test_a_group_that_the_mesh_has_not_is_refused(self):
        self.refused("solve", "p.ini", "--set", "boundary lef.type=dirichlet", says="left")

    def test_integrals_are_in_summary_and_report(self):
        problem = PROBLEM + """[integral heat]
of = flux
on = left
[integral all of u]
of = k*u_star
   + 1
[parameters]
k = 0
"""
        self.write("i.ini", problem)
        text = self.kedge("solve", "i.ini", "-r", "r.json").stdout
        self.assertRegex(text, r"\nintegrals    heat = -?[0-9.e-]+\n {13}all of u = 1\n")
        self.assertEqual(list(self.json("r.json")["integrals"]), ["heat", "all of u"])
        self.assertAlmostEqual(self.json("r.json")["integrals"]["all of u"], 1)
        self.kedge("solve", "p.ini", "-q", "-r", "r.json")
        self.assertEqual(self.json("r.json")["integrals"], {})
        for setting, says in (("integral heat.on=lft", "[integral heat]: square 20 has no group or region 'lft'"),
                              ("integral heat.on=all", "flux has a value on lines alone, and 'all' is"),
                              ("integral heat.of=fluz",
                               "column 1 of the integral: unknown name 'fluz': did you mean 'flux'?"),
                              ("integral heat.quadrature=41", "quadrature must be a whole number from 1 to 40"),
                              ("integral heat.off=1", "unknown key 'off' in [integral heat]; did you mean 'of'?"),
                              ("integral.of=1", "[integral] needs a name: [integral NAME]"),
                              ("integral new.on=left", "[integral new] has no expression; add of = u, for example"),
                              ("output.fields=cells", "of which [integral heat] cannot be made")):
            self.refused("solve", "i.ini", "-s", setting, says=says)
        self.refused("solve", "i.ini", "-s", "parameters.u=1", "-s", "integral heat.of=2*u",
                     says="column 3 of the integral: 'u' is a parameter, and here also a field")
        line = problem.count("\n") + 2
        self.write("i.ini", problem + "[integral heat]\nof = u\n")
        self.refused("solve", "i.ini", says=f"i.ini:{line}: duplicate key 'of' in [integral heat]")

    def test_an_integral_of_regions_that_share_a_name_takes_a_number(self):
        with open(os.path.join(SOURCE, "meshes", "inclusion22.msh"), encoding="utf-8") as file:
            self.write("same.msh", file.read().replace('"inclusion"', '"matrix"'))
        self.write("s.ini", "[mesh]\nfile = same.msh\n[boundary default]\ntype = dirichlet\nvalue = 0\n" + "".join(
            f"[boundary {name}]\ntype = dirichlet\nvalue = 1\n" for name in ("inlet", "outlet", "floor")) +
            "[integral a]\nof = 1\non = matrix\n")
        self.refused("solve", "s.ini", says="[integral a]: 'matrix' is the name of several regions of the mesh; give the number")
        self.kedge("solve", "s.ini", "-q", "-s", "integral a.on=1", "--report", "r.json")
        self.assertAlmostEqual(self.json("r.json")["integrals"]["a"], 1.8125)

    def test_a_section_of_regions_that_share_a_name_takes_a_number(self):
        with open(os.path.join(SOURCE, "meshes", "inclusion22.msh"), encoding="utf-8") as file:
            self.write("same.msh", file.read().replace('"inclusion"', '"matrix"'))
        head = "[mesh]\nfile = same.msh\n[boundary default]\ntype = dirichlet\nvalue = 0\n" + "".join(
            f"[boundary {name}]\ntype = neumann\nvalue = 1\n" for name in ("inlet", "outlet", "floor"))
        line = head.count("\n") + 1
        self.write("s.ini", head + "[region matrix]\ndiffusion = 2\n")
        for more in ((), ("-s", "region default.diffusion=3"), ("-s", "region 1.diffusion=3")):
            self.refused("solve", "s.ini", *more, says=f"s.ini:{line}: [region matrix]: the regions 1, 2 of same.msh "
                         "all have this name; take their numbers in its place")
        self.write("s.ini", head + "[region 1]\ndiffusion = 2\n")
        self.refused("solve", "s.ini",
                     says="region 'matrix' of same.msh has no section; add [region 2] or [region default]")
        self.kedge("solve", "s.ini", "-q", "-s", "region 2.diffusion=3", "--report", "r.json")
        energy = {region["tag"]: region["energy"] for region in self.json("r.json")["regions"]}
        self.write("s.ini", head.replace("same.msh", os.path.join(SOURCE, "meshes", "inclusion22.msh")) +
                   "[region matrix]\ndiffusion = 2\n[region inclusion]\ndiffusion = 3\n")
        self.kedge("solve", "s.ini", "-q", "--report", "r.json")
        self.assertEqual({region["tag"]: region["energy"] for region in self.json("r.json")["regions"]}, energy)

    def test_a_backend_that_is_missing_fails(self):
        machine = json.loads(self.kedge("info", "--json").stdout)
        if machine["cuda"]["gpus"] and not machine["cuda"]["problem"]:
            self.skipTest("there is a GPU")
        self.refused("solve", "p.ini", "--backend", "cuda", code=1, says="kedge: ")
        text = self.kedge("solve", "p.ini").stdout
        self.assertRegex(text, r"backend host on .* \(.+\)")


if __name__ == "__main__":
    unittest.main(verbosity=1)
