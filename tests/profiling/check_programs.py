#!/usr/bin/python3
"""check_programs.py SOURCE KEDGE: the programs that measure, on the host and a few triangles: they run to their end,
and what they compare agrees. `compare` needs a GPU, `evaluation` minutes."""
import json
import os
import subprocess
import unittest

from experiment import KEDGE, SOURCE

PROGRAMS = os.path.join(os.path.dirname(KEDGE), "..", "..", "profiling")


class Programs(unittest.TestCase):
    def run_program(self, name, *arguments):
        done = subprocess.run([os.path.join(PROGRAMS, name), *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def measured(self, name, *arguments, mesh="square 4"):
        """The lines behind that of the machine."""
        lines = [json.loads(line) for line in self.run_program(name, "--mesh", mesh, "--samples", "1", *arguments)]
        self.assertEqual((lines[0]["mesh"], lines[0]["backend"]), (mesh, "host"))
        return lines[1:]

    def test_operators_agree_with_the_host(self):
        names = ["trace_apply_reduced", "errors_of_formula"]  # the others run too, but not against the clock
        lines = self.measured("operators", "--backend", "host", "--orders", "3", "--only", ",".join(names))
        self.assertEqual([line["operator"] for line in lines], names)
        for line in lines:
            self.assertGreater(line["floor_seconds"], 0, line)
            self.assertEqual(line["error_against_host"], 0, line)

    def test_whole_solves_converge_to_the_same(self):
        lines = self.measured("pipeline", "--backend", "host", "--orders", "2")
        self.assertEqual([line["preconditioner"] for line in lines], ["jacobi", "multigrid", "mixed"])
        for line in lines:
            self.assertTrue(line["converged"], line)
            self.assertAlmostEqual(line["u_star_l2"], lines[0]["u_star_l2"], delta=1e-6 * lines[0]["u_star_l2"])

    def test_an_iteration_is_that_of_the_host(self):
        (line,) = self.measured("iterations", "--backend", "host", "--orders", "1")
        self.assertGreater(line["iterations"], 10)
        self.assertEqual(line["error_against_host"], 0)

    def test_recurrences_reach_the_tolerance(self):
        for line in self.measured("recurrences", "--orders", "1"):
            ways = [value for value in line.values() if isinstance(value, dict)]
            self.assertEqual(len(ways), 5)
            for way in ways:
                self.assertLessEqual(way["residual"], 1e-10, line)

    def test_the_coarse_multigrid_has_levels(self):
        (line,) = self.measured("multigrid", "--backend", "host", mesh="square 48")
        self.assertEqual(line["rows"], 47**2)
        self.assertGreater(len(line["levels"]), 1)

    def test_plain_loops_give_the_local_matrices(self):
        kedge, *others = self.measured("local_baseline", "--backend", "host", "--orders", "2")
        self.assertEqual(kedge["variant"], "kedge")
        self.assertIn("plain loops over 8 lanes", [line["variant"] for line in others])
        for line in others:
            self.assertLess(line["error_against_kedge"], 1e-12, line)

    def test_arrays_that_live_in_a_stage_add_up_to_its_memory(self):
        case = os.path.join(SOURCE, "profiling", "cases", "poisson.ini")
        rows = [line.split() for line in self.run_program("arrays", "10000", case, "mesh.generate=square 20",
                                                          "space.order=2", "solver.preconditioner=jacobi")]
        arrays = [row for row in rows if len(row) > 2]
        stages = {name: float(size) for name, size in (row for row in rows if len(row) == 2)}
        names = list(stages)
        for i, name in enumerate(names):
            own = [float(size) for _, size, first, last, *shared in arrays
                   if names.index(first) <= i <= names.index(last) and not shared]
            self.assertAlmostEqual(sum(own), stages[name], delta=0.1 * len(arrays))


if __name__ == "__main__":
    unittest.main()
