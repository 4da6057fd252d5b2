"""Numbers of groups and regions: their values, their names, and the same in report and command."""
import json
import math
import os
import pickle
import re
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
from support import ROOT, OnBackend, everywhere

import kedge

try:
    import pandas
except ImportError:
    pandas = None

RING = 2 * math.pi / math.log(2)  # conductance of radii 1 to 2
CUBE = """[mesh]
generate = cube 3
[space]
order = 2
[boundary default]
type = neumann
value = 0
[boundary x0]
type = dirichlet
value = 0
[boundary x1]
type = dirichlet
value = 3
[solver]
tolerance = 1e-13
"""


def strip(shape, left, right, where=None):
    """[0, 2] x [0, 1] of two halves with these names or numbers of regions; the line between them is "between"."""
    n = 4  # squares of a half, a direction
    x, y = np.meshgrid(np.arange(2 * n + 1) / n, np.arange(n + 1) / n)
    points = np.column_stack([x.ravel(), y.ravel()])
    row = 2 * n + 1
    square = np.array([[j * row + i, j * row + i + 1, (j + 1) * row + i + 1, (j + 1) * row + i]
                       for j in range(n) for i in range(2 * n)])
    is_left = np.array([i < n for j in range(n) for i in range(2 * n)])
    halves = (square[:, :3], square[:, [0, 2, 3]])
    if shape == "quad":
        cells, side = {"quad": square}, is_left
    elif shape in ("triangle", "triangle6"):
        corners, side = np.concatenate(halves), np.concatenate([is_left] * 2)
        cells = {shape: corners}
        if shape == "triangle6":  # with a point of its own in the middle of each side
            middles = 0.5 * (points[corners] + points[np.roll(corners, -1, axis=1)]).reshape(-1, 2)
            cells = {shape: np.hstack([corners, len(points) + np.arange(3 * len(corners)).reshape(-1, 3)])}
            points = np.concatenate([points, middles])
    else:
        cut = np.arange(len(square)) % 2 == 1
        cells = {"triangle": np.concatenate([half[cut] for half in halves]), "quad": square[~cut]}
        side = np.concatenate([is_left[cut], is_left[cut], is_left[~cut]])
    up = np.arange(n) * row
    pairs = {"west": np.column_stack([up, up + row]), "east": np.column_stack([up, up + row]) + 2 * n,
             "between": np.column_stack([up, up + row]) + n}
    return kedge.Mesh(where(points) if where else points, cells, lines=pairs, regions=np.where(side, left, right))


def waves(points):
    """Inner points moved, the line at x = 1 too."""
    x, y = points.T
    inside = np.sin(np.pi * x / 2) * np.sin(np.pi * y)
    return np.column_stack([x + 0.06 * inside * np.sin(7 * y), y + 0.05 * inside * np.cos(5 * x)])


class Numbers(OnBackend):
    def assert_numbers(self, found, tolerance=1e-11, **expected):
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(found, name), value, rtol=tolerance, atol=tolerance, err_msg=name)

    def test_a_polynomial_has_the_numbers_that_are_known(self):
        k, u = 1.5, "1 + 2*x - y + x^2"
        means = dict(left=0.5, right=3.5, bottom=7 / 3, top=4 / 3)
        fluxes = dict(left=-2 * k, right=4 * k, bottom=k, top=-k)
        moved = ("x + 0.2*x*(1 - x)*y", "y + 0.1*y*(1 - y)*x")
        for mesh in (kedge.square(3), kedge.quads(3), kedge.mixed(3), kedge.quads(3, map=moved),
                     kedge.mixed(3, map=moved)):
            for reaction in 0, 3:
                with self.subTest(mesh=mesh, reaction=reaction):
                    s = self.solve(mesh, kedge.Problem(
                        order=2, diffusion=k, reaction=reaction, tolerance=1e-13, source=f"{reaction}*({u}) - 2*{k}",
                        boundary={**everywhere(kedge.Dirichlet(u)), "top": kedge.Neumann(-k)}))
                    self.assertEqual(list(s.groups), ["left", "right", "bottom", "top"])
                    for name, group in s.groups.items():
                        self.assertEqual((group.name, group.edges, group.inside, group.inner), (name, 3, False, None))
                        self.assert_numbers(group, length=1, mean=means[name], integral=means[name], flux=fluxes[name])
                    (region,) = s.regions.values()
                    self.assertEqual((region.name, region.elements), ("domain", mesh.elements))
                    known = dict(source=reaction * 11 / 6 - 2 * k, reaction=reaction * 11 / 6)
                    self.assert_numbers(region, area=1, mean=11 / 6, integral=11 / 6, energy=31 / 3 * k, minimum=0,
                                        minimum_at=(0, 1), maximum=4, maximum_at=(1, 0), **known)
                    self.assert_numbers(s.balance, flux=2 * k, remainder=0, **known)
                    self.assertIsNone(s.conductance)
                    self.assertIsNone(s.energy_conductance)

    def test_a_tensor_and_a_coefficient_that_varies_have_theirs(self):
        for diffusion, fluxes, energy in (((2, 0.5, 1), dict(left=-1.5, right=1.5, bottom=0.5, top=-0.5), 2),
                                          (("2", "x", "1"), dict(left=-2, right=1, bottom=0.5, top=-0.5), 2),
                                          ("1 + x", dict(left=-1, right=2, bottom=1.5, top=-1.5), 3)):
            for mesh in kedge.square(3), kedge.quads(3), kedge.mixed(3):
                with self.subTest(diffusion=diffusion, mesh=mesh):
                    source = {"1 + x": "-1"}.get(diffusion, "1" if "x" in diffusion else "0")  # of u = x - y
                    s = self.solve(mesh, kedge.Problem(order=2, diffusion=diffusion, source=source, tolerance=1e-13,
                                                       boundary=everywhere(kedge.Dirichlet("x - y"))))
                    for name, flux in fluxes.items():
                        self.assert_numbers(s.groups[name], flux=flux)
                    self.assert_numbers(s.regions["domain"], energy=energy, source=float(source), mean=0, minimum=-1,
                                        minimum_at=(0, 1), maximum=1, maximum_at=(1, 0))

    def test_two_materials_in_a_row_conduct_by_their_resistances(self):
        for shape in "triangle", "quad", "mixed":
            with self.subTest(shape=shape):
                s = self.solve(strip(shape, "iron", "air"), kedge.Problem(
                    order=1, diffusion={"iron": 4, "air": 1}, tolerance=1e-13,
                    boundary={"west": kedge.Dirichlet(0), "east": kedge.Dirichlet(5), "default": kedge.Neumann()}))
                self.assert_numbers(s, conductance=0.8, energy_conductance=0.8)
                self.assert_numbers(s.regions["iron"], area=1, mean=0.5, energy=4, minimum=0, maximum=1)
                self.assert_numbers(s.regions["air"], area=1, mean=3, energy=16, minimum=1, maximum=5)
                self.assertEqual((s.regions["iron"].minimum_at[0], s.regions["air"].maximum_at[0]), (0, 2))
                between = s.groups["between"]
                self.assertTrue(between.inside)
                self.assertIsNone(between.inner)
                # regions are numbered by their names: air has the lower tag
                self.assert_numbers(between, length=1, mean=1, flux=-4)
                self.assert_numbers(s.groups["west"], flux=-4)
                self.assert_numbers(s.groups["default"], length=4, flux=0)

    def test_both_sides_of_an_interface_see_opposite_fluxes(self):
        common = dict(order=3, source="1 + x*y", reaction=0.5, tolerance=1e-13,
                      boundary={"west": kedge.Dirichlet("1 + y"), "east": kedge.Dirichlet(5),
                                "default": kedge.Robin(2, "x")})
        for shape in "triangle", "quad", "mixed", "triangle6":
            for where in None, waves:
                for left, right in ((3, 0.25), ((2, 0.5, 1), 1), ("1 + x*y", 5)):
                    with self.subTest(shape=shape, where=where, left=left):
                        one, two = (self.solve(strip(shape, a, b, where), kedge.Problem(
                            diffusion={str(a): left, str(b): right}, **common)) for a, b in ((1, 2), (2, 1)))
                        flux = one.groups["between"].flux
                        self.assertGreater(flux, 0.2)  # u is larger in the east
                        self.assertAlmostEqual(two.groups["between"].flux, -flux, delta=1e-11)
                        self.assert_numbers(two.groups["between"], mean=one.groups["between"].mean)
                        for a, b in ("1", "2"), ("2", "1"):
                            self.assert_numbers(two.regions[b], **{name: getattr(one.regions[a], name) for name in (
                                "area", "integral", "energy", "source", "reaction", "minimum", "maximum")})

    def test_an_inclusion_gives_what_its_interface_lets_through(self):
        problem = kedge.Problem.read(ROOT / "meshes/inclusion.ini", order=3, source="x", tolerance=1e-13)
        s = self.solve(problem.mesh(), problem)
        matrix, inclusion = s.regions["matrix"], s.regions["inclusion"]
        self.assertLess(matrix.tag, inclusion.tag)
        through = abs(s.groups["inlet"].flux)  # of which rounding leaves its part in the trace
        self.assertAlmostEqual(s.groups["interface"].flux, inclusion.source, delta=1e-10 * through)
        self.assertAlmostEqual(s.balance.source, matrix.source + inclusion.source, delta=1e-14)

    def test_a_ring_has_its_capacitance(self):
        for quads in False, True:
            s = self.solve(kedge.ring(4, 32, quads, geometry=4), kedge.Problem(
                order=4, tolerance=1e-12, boundary={"inner": kedge.Dirichlet(3), "outer": kedge.Dirichlet(1)}))
            self.assert_numbers(s, 1e-9, conductance=RING, energy_conductance=RING)
            self.assert_numbers(s.groups["inner"], 1e-9, flux=2 * RING, integral=6 * math.pi)
            self.assert_numbers(s.regions["domain"], 1e-9, area=3 * math.pi, energy=4 * RING,
                                integral=2 * math.pi * (0.5 + 1.5 / math.log(2)))

    def test_only_two_insulated_groups_with_constants_conduct(self):
        def conductance(source=0, reaction=0, top=kedge.Neumann(), right=1, bottom=kedge.Neumann()):
            s = self.solve(kedge.square(2), kedge.Problem(order=1, source=source, reaction=reaction, boundary={
                "left": kedge.Dirichlet(3), "right": kedge.Dirichlet(right), "top": top, "bottom": bottom}))
            self.assertEqual(s.conductance is None, s.energy_conductance is None)
            return s.conductance

        self.assertAlmostEqual(conductance(), 1)
        self.assertAlmostEqual(conductance(bottom=kedge.Neumann("0")), 1)
        self.assertAlmostEqual(conductance(right="1 + 1"), 1)
        for other in (dict(source=1), dict(reaction=1), dict(right=3), dict(right="1 + y"), dict(top=kedge.Neumann(1)),
                      dict(top=kedge.Dirichlet(2)), dict(top=kedge.Robin(1, 0))):
            with self.subTest(other):
                self.assertIsNone(conductance(**other))

    def test_groups_go_by_their_names_or_where_these_are_shared_by_tags(self):
        points = [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2, 1]]
        cells, regions = [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]], ["a", "a", "b", "b"]
        mesh = kedge.Mesh(points, cells, lines={"default": [[0, 1]], "cut": [[1, 2], [4, 5]], "within": [[0, 2]]},
                          regions=regions)
        problem = kedge.Problem(source=1, boundary={"default": kedge.Neumann(), "cut": kedge.Dirichlet("y")})
        s = self.solve(mesh, problem)
        tag = next(str(group.tag) for group in mesh.groups if group.name == "default" and group.tag)
        self.assertEqual(set(s.groups), {tag, "0", "cut", "within"})
        self.assertEqual((s.groups["0"].length, s.groups[tag].length), (4, 1))
        cut = s.groups["cut"]
        self.assertEqual((cut.inside, cut.edges, cut.inner.inside, cut.inner.edges), (False, 1, True, 1))
        self.assertIsNone(cut.inner.inner)
        self.assert_numbers(cut, mean=0.5, length=1)
        within = s.groups["within"]
        self.assertTrue(within.inside)
        self.assertTrue(np.isfinite(within.flux))
        self.assertEqual(list(s.regions), ["a", "b"])

    def test_numbers_stay_when_their_solution_is_overwritten(self):
        solver = kedge.Solver(kedge.square(2), kedge.Problem(boundary=everywhere(kedge.Dirichlet(1))), self.context)
        s = solver.solve()
        groups, regions, balance, report = s.groups, s.regions, s.balance, s.report
        again = solver.solve(source=5, out=s)
        self.assertIs(again, s)
        self.assertEqual(regions["domain"].source, 0)
        self.assertEqual((report.groups, report.regions, report.balance), (groups, regions, balance))
        self.assertAlmostEqual(s.regions["domain"].source, 5)
        self.assertAlmostEqual(s.balance.flux, -5)
        self.assertEqual(s.report.groups, s.groups)
        del s, again, solver
        self.assertAlmostEqual(groups["left"].mean, 1)
        self.assertEqual(pickle.loads(pickle.dumps(report)).regions, regions)

    def test_numbers_say_what_they_are(self):
        s = self.solve(kedge.square(2), kedge.Problem(boundary=everywhere(kedge.Dirichlet(1))))
        self.assertRegex(repr(s.groups["left"]), r"^GroupValues\(name='left', tag=\d, inside=False, edges=2, length=1")
        self.assertRegex(repr(s.regions["domain"]), r"^RegionValues\(name='domain', .* minimum_at=\(\d.*, \d.*\), ")
        self.assertRegex(repr(s.balance), r"^Balance\(source=0.0, reaction=0.0, flux=")

    @unittest.skipUnless(pandas, "no pandas")
    def test_numbers_are_rows_of_a_table(self):
        s = self.solve(kedge.square(2), kedge.Problem(boundary=everywhere(kedge.Dirichlet(1))))
        table = pandas.DataFrame(s.groups.values())
        self.assertEqual(list(table.columns), list(kedge.GroupValues._fields))
        self.assertEqual(list(table["name"]), list(s.groups))
        self.assertEqual(list(pandas.DataFrame(s.regions.values()).columns), list(kedge.RegionValues._fields))

    def test_the_orders_are_those_of_the_page(self):
        page = (ROOT / "docs/numbers.md").read_text()
        exact = {"annulus": RING, "pipe": 120 * math.pi / (1 / 0.05 + math.log(2) / 0.16 + 1 / 0.002),
                 "plate": -15064.8131086, "inclusion": 29.5471364652}  # the latter from order 8, refined up to twice

        def error(name, group, order, refine):
            problem = kedge.Problem.read(ROOT / f"meshes/{name}.ini", order=order, tolerance=1e-13)
            if name == "pipe":
                mesh = kedge.ring(3 * 2**refine, 16 * 2**refine, geometry=order + 1)
            elif name == "annulus":
                mesh = kedge.ring(2, 10, quads=True, geometry=order + 1, refine=refine)
            else:
                mesh = problem.mesh().refine(refine) if refine else problem.mesh()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                s = kedge.solve(mesh, problem, self.context, on_failure="warn")
            return abs(s.groups[group].flux / exact[name] - 1)

        rows = re.findall(r"(?m)^[|] `(\w+)[.]ini`, `([^`]+)`.*? [|] (\d.*) [|]$", page)
        self.assertEqual([name for name, _, _ in rows], list(exact))
        for name, group, cells in rows:
            for order, cell in enumerate(cells.split(" | "), 1):
                with self.subTest(name, order=order):
                    refine = 2 if order < 3 else 1
                    before, after = error(name, group, order, refine - 1), error(name, group, order, refine)
                    said, rate = map(float, cell.split(", "))
                    rounding = 5e-13 if name == "annulus" else 1e-10  # the wall's conditions are stiffer
                    self.assertLess(abs(after - said), 0.1 * said + rounding)
                    if said > rounding:  # of rounding there is no rate
                        self.assertAlmostEqual(math.log2(before / after), rate, delta=0.1 if said > 5 * rounding else 1.5)

    def assert_same(self, report, s):
        """A report in JSON has the numbers of a solution, to the last bit."""
        groups = []
        for group in s.groups.values():
            groups += [group] + ([group.inner] if group.inner else [])
        self.assertEqual([{**group, "inner": None} for group in report["groups"]],
                         [{**group._asdict(), "inner": None} for group in groups])
        for found, region in zip(report["regions"], s.regions.values()):
            expected = region._asdict()
            for name in "minimum", "maximum":
                expected[name] = {"value": expected[name], "at": list(expected.pop(name + "_at"))}
            self.assertEqual({**found, "storage": 0}, expected)  # a steady one has none in its report
        self.assertEqual(len(report["regions"]), len(s.regions))
        self.assertEqual({**report["balance"], "storage": 0}, s.balance._asdict())
        self.assertEqual(report["conductance"], None if s.conductance is None else
                         {"flux": s.conductance, "energy": s.energy_conductance})

    def test_the_report_has_the_same_numbers(self):
        for name in "plate", "inclusion", "pipe":
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                problem = kedge.Problem.read(ROOT / f"meshes/{name}.ini", order=3)
                s = self.solve(problem.mesh(), problem)
                path = os.path.join(folder, "r.json")
                s.write_report(path)
                with open(path) as file:
                    self.assert_same(json.load(file), s)

    def assert_printed(self, text, s):
        """The tables of the command have the numbers of a solution."""
        for group in s.groups.values():
            inside = r" \(inside\)" if group.inside else ""
            row = re.search(rf"^{group.name}{inside} +(\S+) +(\S+) +(\S+)$", text, re.M)
            size = group.area if isinstance(group, kedge.SurfaceValues) else group.length
            self.assertEqual(row.groups(), tuple(f"{x:.9g}" for x in (size, group.mean, group.flux)))
        for region in s.regions.values():
            row = re.search(rf"^{region.name} +(\S+) +(\S+) +(\S+) +\((.*?)\) +(\S+) +\((.*?)\)$", text, re.M)
            places = [", ".join(f"{x:.6g}" for x in at) for at in (region.minimum_at, region.maximum_at)]
            size = region.volume if isinstance(region, kedge.VolumeValues) else region.area
            numbers = [f"{x:.9g}" for x in (size, region.mean, region.minimum, region.maximum)]
            self.assertEqual(list(row.groups()), [*numbers[:3], places[0], numbers[3], places[1]])
        if s.conductance is not None:
            self.assertIn(f"\nconductance  {s.conductance:.9g} (by energy {s.energy_conductance:.9g})\n", text)

    @unittest.skipUnless("KEDGE_COMMAND" in os.environ, "KEDGE_COMMAND names no command")
    def test_the_command_finds_the_same_numbers(self):
        command = [os.environ["KEDGE_COMMAND"], "solve", "-s", "output.file=", "--backend", self.context.backend]
        with tempfile.TemporaryDirectory() as folder:
            cube = Path(folder, "cube.ini")
            cube.write_text(CUBE)
            for file in ROOT / "meshes/plate.ini", ROOT / "meshes/inclusion.ini", cube:
                with self.subTest(file):
                    path = os.path.join(folder, "r.json")
                    text = subprocess.run([*command, file, "-r", path], check=True, text=True,
                                          capture_output=True).stdout
                    with open(path) as report:
                        report = json.load(report)
                    problem = kedge.Problem.read(file)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", kedge.Note)
                        s = kedge.solve(problem.mesh(), problem, self.context)
                    self.assert_same(report, s)
                    self.assert_printed(text, s)
                    in_space = file == cube
                    self.assertEqual(report["mesh"]["dimension"], 3 if in_space else 2)
                    self.assertRegex(text, rf"(?m)^group +{'area' if in_space else 'length'} ")
                    self.assertRegex(text, rf"(?m)^region +{'volume' if in_space else 'area'} ")

    def test_a_plate_in_space_has_surfaces_and_volumes(self):
        with tempfile.TemporaryDirectory() as folder:
            cube = Path(folder, "cube.ini")
            cube.write_text(CUBE)
            problem = kedge.Problem.read(cube)
        s = self.solve(problem.mesh(), problem)
        self.assertEqual(list(s.groups), ["x0", "x1", "y0", "y1", "z0", "z1"])
        self.assert_numbers(s, conductance=1, energy_conductance=1)
        self.assert_numbers(s.groups["x1"], faces=18, area=1, mean=3, integral=3, flux=3)
        self.assert_numbers(s.groups["z0"], area=1, mean=1.5, flux=0)
        self.assert_numbers(s.regions["domain"], elements=162, volume=1, mean=1.5, energy=9, minimum=0, maximum=3)
        self.assertEqual((len(s.regions["domain"].minimum_at), s.regions["domain"].maximum_at[0]), (3, 1))
        again = pickle.loads(pickle.dumps(s.report))
        self.assertEqual(again.groups, s.groups)
        for groups, regions in (s.groups, s.regions), (again.groups, again.regions):
            with self.assertRaisesRegex(KeyError, "^'domain' is a region: see s.regions$"):
                groups["domain"]
            with self.assertRaisesRegex(kedge.NoSuchName, "^'x0' is a group: see s.groups$"):
                regions["x0"]
            with self.assertRaisesRegex(KeyError, "^the solution has no group 'x2'; it has x0, x1, y0, y1, z0, z1$"):
                groups["x2"]
            with self.assertRaisesRegex(KeyError, "^the solution has no region '3'; it has domain$"):
                regions[3]


if __name__ == "__main__":
    unittest.main()
