"""check_king2014_paper.py ROOT KEDGE: the numbers of King 2014 in profiling/king2014_paper.json obey the sums and ratios that the
paper prints, and the formulas they follow."""
import json
import math
import os
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.abspath(sys.argv[1])
del sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "profiling"))
import king2014_beside


class Paper(unittest.TestCase):
    king = king2014_beside.paper()

    def columns(self, table):
        return {name: values for name, values in self.king[table].items() if name != "what"}

    def test_every_column_has_a_number_for_each_order(self):
        for table in range(1, 8):
            for name, values in self.columns(f"table_{table}").items():
                self.assertEqual(len(values), len(self.king["orders"]), (table, name))

    def test_orders_of_table_1_are_logarithms_of_neighbouring_errors(self):
        table = self.king["table_1"]
        for norm in "linf", "l2":
            errors = [float(text) for text in table[norm]]
            for i in range(1, 9):
                printed = table[f"{norm}_order"][i]
                self.assertAlmostEqual(math.log2(errors[i - 1] / errors[i]), printed, delta=0.00501, msg=(norm, i))

    def test_speedups_of_table_2_are_the_ratios_of_times_that_round_to_the_printed_ones(self):
        table = self.king["table_2"]
        for mesh in self.king["meshes"]:
            for gpu, cpu, printed in zip(*(table[f"{mesh}_{name}"] for name in ("gpu", "cpu", "speedup"))):
                self.assertGreater(printed + 0.0051, (cpu - 0.5) / (gpu + 0.5))
                self.assertLess(printed - 0.0051, (cpu + 0.5) / (gpu - 0.5))
                self.assertAlmostEqual(cpu / gpu, printed, delta=0.013)

    def test_table_3_follows_its_formula(self):
        for mesh in self.king["meshes"]:
            triangles = 2 * mesh * mesh if mesh < 80 else 3 * mesh * mesh + 2 * mesh  # the slip of the last column
            for i, printed in enumerate(self.king["table_3"][str(mesh)]):
                self.assertEqual(king2014_beside.his_kilobytes(mesh, i + 1, triangles), printed, (mesh, i))

    def test_stages_are_less_than_the_total_and_what_is_left_is_1_to_91_percent(self):
        shares = []
        for mesh in self.king["meshes"]:
            for i, total in enumerate(self.king["table_2"][f"{mesh}_gpu"]):
                shares.append(1 - king2014_beside.stage_sum(self.king, mesh, i) / total)
        self.assertEqual((round(100 * min(shares)), round(100 * max(shares))), (1, 91))
        self.assertEqual(king2014_beside.stage_sum(self.king, 80, 8), 2604)

    def test_hdg_columns_of_table_7_are_the_first_of_tables_4_to_6(self):
        for mesh, table in king2014_beside.TABLE_OF_STAGES.items():
            self.assertEqual(self.king["table_7"][f"{mesh}_hdg"], self.king[f"table_{table}"]["local_matrices"])

    def test_ratios_of_table_7_are_0_37_to_0_91(self):
        table = self.king["table_7"]
        ratios = [cg / hdg for mesh in self.king["meshes"]
                  for hdg, cg in zip(table[f"{mesh}_hdg"], table[f"{mesh}_cg"])]
        self.assertEqual((round(min(ratios), 2), round(max(ratios), 2)), (0.37, 0.91))

    def test_rates_and_their_shares_agree(self):
        self.assertEqual(round(100 * self.king["figure_6"]["gflops"] * 1e9 / self.king["gpu_peak_flops_per_second"]), 9)
        urrutia = self.king["urrutia_2025"]
        for name, (low, high, *shares) in ((n, v) for n, v in urrutia["spmv_gb_per_second"].items() if n != "what"):
            for rate, share in zip((low, high), shares):
                self.assertAlmostEqual(100 * rate / urrutia["bandwidth_gb_per_second"], share, delta=3, msg=name)

    def test_the_example_of_the_assembly_is_sorted_as_printed(self):
        example = self.king["assembly_example"]
        pairs = sorted(zip(example["edges"], example["owners"]), key=lambda pair: pair[0])
        self.assertEqual([edge for edge, _ in pairs], example["sorted_edges"])
        self.assertEqual([owner for _, owner in pairs], example["owners_by_edge"])


if __name__ == "__main__":
    unittest.main()
