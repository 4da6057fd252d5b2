"""check_continuous.py ROOT PROGRAM: statically condensed continuous elements (profiling/continuous.c) have their number of
unknowns and their orders of convergence."""
import json
import math
import os
import subprocess
import sys
import unittest

PROGRAM = os.path.abspath(sys.argv[2])
del sys.argv[1:]


class Continuous(unittest.TestCase):
    done = subprocess.run([PROGRAM, "host", "10,20", "1,2,3,4,5", "1"], capture_output=True, text=True, check=True)
    lines = {(l["squares"], l["order"]): l for l in map(json.loads, done.stdout.splitlines()[1:])}

    def test_unknowns_are_those_of_vertices_and_edges_inside(self):
        for (n, order), line in self.lines.items():
            inner_edges = 3 * n * n - 2 * n
            self.assertEqual(line["unknowns"], (n - 1) ** 2 + (order - 1) * inner_edges)
            self.assertEqual(line["hdg_unknowns"], (order + 1) * inner_edges)
            self.assertEqual(line["dg_unknowns"], n * n * (order + 1) * (order + 2))

    def test_u_converges_with_order_p_plus_1(self):
        for order in range(1, 6):
            coarse, fine = self.lines[10, order]["u_l2"], self.lines[20, order]["u_l2"]
            self.assertAlmostEqual(math.log2(coarse / fine), order + 1, delta=0.15, msg=order)

    def test_the_error_is_no_larger_than_that_of_hdg(self):
        for line in self.lines.values():
            self.assertTrue(0.2 * line["hdg_u_l2"] < line["u_l2"] < line["hdg_u_l2"])

    def test_the_block_of_the_gpu_makes_the_same_matrices_in_any_order_of_its_threads(self):
        for (_, order), line in self.lines.items():
            self.assertLess(line["device_difference"], 1e-14)
            if order > 3:  # where there is more than one interior mode it rounds differently
                self.assertGreater(line["device_difference"], 0)

    def test_the_system_is_solved(self):
        for line in self.lines.values():
            self.assertLess(line["relative_residual"], 2e-12)

    def test_wrong_arguments_are_refused(self):
        for arguments in ([], ["host", "6", "10"], ["host", "1", "3"], ["host", "6", "1", "0"], ["host", "6", "1", "102"]):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: continuous", done.stderr)


if __name__ == "__main__":
    unittest.main()
