#!/usr/bin/python3
"""check_programs.py SOURCE KEDGE: the programs that measure, on a few triangles, by the backend KEDGE_TEST_BACKEND: they
run to their end, and what they compare agrees. `evaluation` takes minutes. Exit code 77 (skipped) without a GPU."""
import json
import os
import subprocess
import sys
import unittest

from experiment import KEDGE, SOURCE

PROGRAMS = os.path.join(os.path.dirname(KEDGE), "..", "..", "profiling")
BACKEND = os.environ["KEDGE_TEST_BACKEND"]
on_host = unittest.skipIf(BACKEND == "cuda", "a program of the host")
on_gpu = unittest.skipIf(BACKEND == "host", "a program of the GPU")


class Programs(unittest.TestCase):
    def run_program(self, name, *arguments):
        done = subprocess.run([os.path.join(PROGRAMS, name), *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def measured(self, name, *arguments, mesh="square 4"):
        """The lines behind that of the machine."""
        lines = [json.loads(line) for line in self.run_program(name, "--mesh", mesh, "--samples", "1", *arguments)]
        self.assertEqual((lines[0]["mesh"], lines[0]["backend"]), (mesh, BACKEND))
        return lines[1:]

    def test_operators_agree_with_the_host(self):
        lines = self.measured("operators", "--backend", BACKEND, "--orders", "3")
        compared = {line["operator"]: line["error_against_host"] for line in lines}
        self.assertGreaterEqual(len(compared), 16)
        for name in "load_vectors", "local_matrices", "trace_apply", "ell_apply", "local_solve", "postprocess", "errors":
            self.assertLess(compared[name], 1e-12, name)
        for line in lines:
            if line["operator"] != "set_up":
                self.assertGreater(line["floor_seconds"], 0, line)

    def test_the_matrix_assembled_by_elements_is_that_by_edges(self):
        lines = self.measured("assembly", "--backend", BACKEND, "--orders", "1,4", mesh="square 9")
        for line in lines:
            self.assertTrue(line["same_columns"])
            self.assertEqual(line["different_values"], 0)
            self.assertGreater(min(line["by_edges_seconds"], line["by_elements_seconds"]), 0)

    def test_continuous_elements_are_those_of_the_host(self):
        _, *lines = map(json.loads, self.run_program("continuous", BACKEND, "4", "1,3,6,9", "1"))
        self.assertEqual([line["order"] for line in lines], [1, 3, 6, 9])
        for line in lines:
            self.assertLess(line["device_difference"], 1e-12)

    def test_errors_of_king_are_his_to_the_last_digit(self):
        _, *lines = map(json.loads, self.run_program("king_errors", BACKEND, "40", "1", "1"))
        self.assertEqual(f"{lines[0]['rule']['l2']:.5e}", "3.95318e-03")

    def elements(self, mesh, *settings, orders="2"):
        """Lines of `elements` by operator, whose results are the host's."""
        sets = [word for setting in settings for word in ("--set", setting)]
        lines = {line.get("operator", "solve"): line for line in self.measured(
            "elements", "--backend", BACKEND, "--orders", orders, *sets, mesh=mesh)}
        for name in "local_matrices", "trace_apply", "local_solve", "postprocess":
            self.assertLess(lines[name]["error_against_host"], 1e-12, name)
            self.assertGreater(lines[name]["share_of_floor"], 0, name)
        self.assertGreater(lines["cg_iteration"]["floor_seconds"], 0)
        self.assertTrue(lines["solve"]["converged"])
        return lines

    def test_elements_of_every_kind_agree_with_the_host(self):
        curved = "mesh.geometry=2", "mesh.map=x + 0.1*sin(2*pi*x)*sin(2*pi*y), y + 0.1*sin(2*pi*x)*sin(2*pi*y)"
        tensor = "equation.diffusion=2 + sin(3*x), 0.7*cos(x*y), 1.5 + y^2"
        self.assertEqual(self.elements("mixed 5", *curved, tensor)["local_matrices"]["ways"], "adjusted+exact")

    def test_operations_of_local_matrices_are_counted_by_their_formulas(self):
        adjusted = self.elements("square 3", "equation.reaction=x")["local_matrices"]
        self.assertEqual(adjusted["counted_flops"], 18 * (6 * 16 * 15 + 2 * 16 * 15 * 16 + 72 + 324 + 486))
        exact = self.elements("quads 3", "space.inverse=exact")["local_matrices"]
        flux = 16 * 24 * 25 + 24**3 / 3 + 24**2 * 21 + 24 * 21 * 22
        self.assertEqual(exact["counted_flops"], 9 * (flux + 243 + 972 + 1296))

    def test_a_mesh_of_two_regions_has_twice_as_many_elements_as_one(self):
        counts = [self.elements(f"halves 2{part}", orders="1")["local_matrices"]["elements"] for part in ("", " squares")]
        self.assertEqual(counts, [48, 24])

    def test_programs_of_straight_triangles_refuse_others(self):
        done = subprocess.run([os.path.join(PROGRAMS, "operators"), "--backend", BACKEND, "--mesh", "quads 2"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("measures straight triangles alone", done.stderr)

    def test_whole_solves_converge_to_the_same(self):
        lines = self.measured("pipeline", "--backend", BACKEND, "--orders", "2")
        self.assertEqual([line["preconditioner"] for line in lines], ["jacobi", "multigrid", "mixed"])
        for line in lines:
            self.assertTrue(line["converged"], line)
            self.assertAlmostEqual(line["u_star_l2"], lines[0]["u_star_l2"], delta=1e-6 * lines[0]["u_star_l2"])

    def test_right_hand_sides_at_once_take_the_iterations_of_each(self):
        lines = [json.loads(line) for line in self.run_program("many", BACKEND, "6", "1,2", "1", "mixed")]
        self.assertEqual([line["order"] for line in lines], [1, 2])
        for line in lines:
            one, at_once = line["iterations"]
            self.assertGreater(one, 4)
            self.assertAlmostEqual(at_once, one, delta=4, msg=line)  # sums over four
            self.assertGreater(line["ratio"], 0)

    def test_an_iteration_is_that_of_the_host(self):
        lines = self.measured("iterations", "--backend", BACKEND, "--orders", "1")
        self.assertEqual([line["form"] for line in lines], ["ordinary", "resident"][:1 if BACKEND == "host" else 2])
        for line in lines:
            self.assertGreater(line["iterations"], 10)
            self.assertLess(line["error_against_host"], 1e-9)

    @on_host
    def test_recurrences_reach_the_tolerance(self):
        for line in self.measured("recurrences", "--orders", "1"):
            ways = [value for value in line.values() if isinstance(value, dict)]
            self.assertEqual(len(ways), 5)
            for way in ways:
                self.assertLessEqual(way["residual"], 1e-10, line)

    def test_the_coarse_multigrid_has_levels(self):
        (line,) = self.measured("cycle", "--backend", BACKEND, mesh="square 48")
        self.assertEqual(line["rows"], 47**2)
        self.assertGreater(len(line["levels"]), 1)

    def test_parts_of_a_stage_of_waves_make_the_stage(self):
        settings = ("equation.system=maxwell", "solver.precision=single", "boundary default.type=conductor",
                    "initial.Ez=sin(pi*x)*sin(pi*y)", "time.end=100")
        sets = [word for setting in settings for word in ("--set", setting)]
        lines = self.measured("waves", "--backend", BACKEND, "--orders", "1-4", "--only", "parts", *sets, mesh="cube 2")
        stages = [line for line in lines if line["measured"] == "stage"]
        self.assertEqual([line["order"] for line in stages], [1, 2, 3, 4])
        for line in stages:
            self.assertLess(max(line["error_of_parts"], line["error_of_one"]), 1e-4)

    @on_gpu
    def test_forms_of_the_operator_agree_with_the_host(self):
        compared = [line for line in self.measured("compare", "--orders", "2") if line.get("error_against_host") is not None]
        self.assertGreater(len(compared), 4)
        for line in compared:
            self.assertLess(line["error_against_host"], 1e-12, line)

    @on_host
    def test_plain_loops_give_the_local_matrices(self):
        kedge, *others = self.measured("local_baseline", "--backend", "host", "--orders", "2")
        self.assertEqual(kedge["variant"], "kedge")
        self.assertIn("plain loops over 8 lanes", [line["variant"] for line in others])
        for line in others:
            self.assertLess(line["error_against_kedge"], 1e-12, line)

    @on_gpu
    def test_batched_routines_give_the_local_matrices(self):
        kedge, *others = self.measured("local_baseline", "--backend", "cuda", "--orders", "2")
        self.assertEqual(kedge["variant"], "kedge")
        self.assertTrue(others)
        for line in others:
            self.assertLess(line["error_against_kedge"], 1e-12, line)

    @on_host
    def test_arrays_that_live_in_a_phase_add_up_to_its_memory(self):
        case = os.path.join(SOURCE, "profiling", "cases", "poisson.ini")
        rows = [line.rsplit(maxsplit=3) for line in self.run_program(
            "arrays", case, "mesh.generate=square 70", "space.order=2", "solver.preconditioner=jacobi")]
        arrays = [row for row in rows if len(row) == 4]
        phases = [float(row[1]) for row in rows if len(row) == 2]
        self.assertEqual({len(row[3]) for row in arrays}, {len(phases)})
        for i, size in enumerate(phases):
            own = [float(row[1]) for row in arrays if row[3][i] != "."]
            self.assertAlmostEqual(sum(own), size, delta=0.1 * len(arrays))


def has_gpu():
    info = subprocess.run([KEDGE, "info", "--json"], capture_output=True, text=True, check=True)
    return json.loads(info.stdout)["cuda"]["gpus"]


if __name__ == "__main__":
    if BACKEND == "cuda" and not has_gpu() and not os.environ.get("KEDGE_REQUIRE_GPU"):
        sys.exit(77)
    unittest.main()
