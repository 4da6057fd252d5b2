#!/usr/bin/python3
"""check_compare.py SOURCE: tables, labels and counters of the comparisons, from lines made up
here; and what compare_run refuses."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv.pop())
PROFILING = os.path.join(SOURCE, "profiling")
sys.dont_write_bytecode = True
sys.path.insert(0, PROFILING)


def load(name):
    """A program without .py as a module."""
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(PROFILING, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


plot_compare, operator_tables = load("plot_compare.py"), load("operator_tables.py")
programs, roofline, compare_run = load("programs.py"), load("roofline"), load("compare_run")
scaling, ranges = load("scaling"), load("ranges")

MACHINE = {"device": "A GPU", "elements": 1000, "mesh": "square 22", "free_bytes": 1e9, "read_bytes_per_second": 1e12,
           "flops_per_second": 1e13, "cusparse": 120603}


def line(operator, order, seconds, variant="", **more):
    return {"order": order, "elements": 1000, "measure": "apply", "operator": operator, "variant": variant,
            "seconds": seconds, "bytes": 1e6, "flops": 5e5, "floor_seconds": 1e-6, "share_of_floor": 1e-6 / seconds,
            "error_against_host": 1e-15, "matrix_bytes": 1e6, "solve_bytes": 2e6, "largest_elements": 5e5, **more}


class Compare(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def comparison(self, *lines):
        return plot_compare.Comparison([MACHINE, *lines])

    def test_the_fastest_variant_counts(self):
        c = self.comparison(line("matrix-free", 1, 2e-6), line("block-ell", 1, 6e-6, "slow"), line("block-ell", 1, 3e-6, "fast"),
                            line("block-ell", 1, 4e-6, "middling"))
        self.assertEqual(c.apply["block-ell"][1]["variant"], "fast")
        self.assertAlmostEqual(c.ratio("block-ell", 1), 1.5)

    def test_assembled_forms_stand_beside_packed_and_reduced_ones_with_their_bytes(self):
        c = self.comparison(line("matrix-free", 3, 2e-6), line("matrix-free-reduced", 3, 1e-6, bytes=5e5),
                            line("ell", 3, 5e-6, bytes=2e6))
        self.assertIn("| 3 | 2.50 / 2.00 | 5.00 / 4.00 |", plot_compare.forms_table(c))
        self.assertIn("ELL, to packed | ELL, to reduced", plot_compare.tables(c))
        self.assertEqual(plot_compare.forms_table(self.comparison(line("matrix-free", 3, 2e-6), line("ell", 3, 5e-6))), "")

    def test_the_readme_has_three_orders_of_it(self):
        text = plot_compare.short_table(self.comparison(line("matrix-free", 4, 2e-6), line("ell", 4, 5e-6), line("ell", 5, 6e-6)))
        self.assertTrue(text.endswith("| 1 |  |  |  |  |\n| 4 | 0.50 |  | 2.50 |  |\n| 9 |  |  |  |  |\n"), text)

    def test_the_best_assembled_matrix_is_not_a_local_one(self):
        c = self.comparison(line("matrix-free", 1, 2e-6), line("matrix-free-plain", 1, 3e-6), line("ell", 1, 8e-6),
                            line("cusparse-csr", 1, 5e-6))
        ratio, name = c.best_assembled(1)
        self.assertEqual(name, "cusparse-csr")
        self.assertAlmostEqual(ratio, 2.5)

    def test_what_was_skipped_keeps_its_memory_and_its_reason(self):
        c = self.comparison(line("matrix-free", 1, 2e-6), line("cusparse-csr", 1, 1.0, skipped="no room"))
        self.assertNotIn("cusparse-csr", c.apply)
        text = plot_compare.tables(c)
        self.assertIn("no room", text)
        self.assertIn("| 1 | 2000 / 0.5 | 2000 / 0.5 |", text)

    def test_iterations_do_not_mix_with_applications(self):
        c = self.comparison(line("matrix-free", 1, 2e-6), line("matrix-free", 1, 1e-6, measure="cg_iteration"))
        self.assertEqual(c.apply["matrix-free"][1]["seconds"], 2e-6)
        self.assertEqual(c.iteration["matrix-free"][1]["seconds"], 1e-6)

    def test_plain_lines_and_result_files_read_the_same(self):
        lines = [MACHINE, line("matrix-free", 1, 2e-6)]
        plain = self.write("plain.json", "\n".join(map(json.dumps, lines)))
        result = self.write("result.json", json.dumps({"experiment": "compare", "lines": lines}))
        self.assertEqual(plot_compare.read_lines(plain), plot_compare.read_lines(result))

    def test_labels_keep_their_distance_and_their_order(self):
        placed = plot_compare.spread([0.99, 0.5, 0.98, 0.97, 0.01], 0.05)
        ranks = sorted(range(5), key=lambda i: placed[i])
        self.assertEqual(ranks, [4, 1, 3, 2, 0])
        self.assertGreaterEqual(min(placed), 0.0)
        self.assertLessEqual(max(placed), 1.0)
        for one, other in zip(ranks, ranks[1:]):
            self.assertGreater(placed[other] - placed[one], 0.049)

    def test_counters_are_summed_between_markers(self):
        counters = [roofline.BYTES]
        head = '"ID","Kernel Name","' + roofline.BYTES + '"\n"","","byte"\n'
        rows = [(0, "x::profile_marker_kernel()", "7"), (1, "a<1, 2>(int, int)", "1,000"), (2, "b", "30"),
                (3, "profile_marker_kernel()", "7"), (4, "c", "n/a")]
        path = self.write("ncu.csv", "==PROF== Connected\n" + head + "".join(f'"{i}","{k}","{v}"\n' for i, k, v in rows))
        sums = roofline.sums_by_name(["first", "second"], roofline.kernels_of(path), counters)
        self.assertEqual(sums["first"], {"kernels": 2, roofline.BYTES: 1030.0})
        self.assertEqual(sums["second"], {"kernels": 1, roofline.BYTES: 0.0})

    def test_counters_that_do_not_match_the_operators_are_refused(self):
        path = self.write("ncu.csv", f'"ID","Kernel Name","{roofline.BYTES}"\n"0","profile_marker_kernel()","1"\n')
        self.assertEqual(roofline.sums_by_name(["a", "b"], roofline.kernels_of(path), [roofline.BYTES]), {})
        self.assertEqual(roofline.kernels_of(self.write("empty.csv", "==ERROR== no counters\n")), [])

    def test_roofline_takes_the_fastest_application(self):
        path = self.write("compare.json", "\n".join(map(json.dumps, [
            MACHINE, line("ell", 2, 4e-6, "slow"), line("ell", 2, 2e-6, "fast"), line("ell", 2, 1e-6, measure="cg_iteration")])))
        (point,) = roofline.points_of(path)[1]
        self.assertEqual((point["variant"], point["program"], point["intensity"]), ("fast", "compare", 0.5))
        self.assertAlmostEqual(point["flops_per_second"], 2.5e11)

    def test_roofline_reads_what_it_wrote(self):
        machine, points = roofline.points_of(self.write("operators.json", "\n".join(map(json.dumps, [MACHINE, line("a", 2, 4e-6)]))))
        points[0]["ncu"] = {"bytes_of_formula": 1.5}
        path = self.write("roofline.json", json.dumps({"experiment": "roofline", "machine": machine, "points": points}))
        self.assertEqual(roofline.points_of(path), (machine, points))

    def test_the_page_changes_between_its_marks_only(self):
        page = programs.insert("before\nBEGIN\nold\nEND\nafter\n", "BEGIN", "END", "new\n")
        self.assertEqual(page, "before\nBEGIN\n\nnew\n\nEND\nafter\n")
        self.assertIsNone(programs.insert("no marks", "BEGIN", "END", "new"))

    def test_scaling_shows_every_size_and_where_it_ended(self):
        def size(squares, seconds, failure):
            lines = [{**MACHINE, "elements": 2 * squares**2}]
            lines += [{**line(name, 4, seconds), "elements": 2 * squares**2} for name in scaling.SHOWN]
            return {"squares": squares, "lines": lines, "failure": failure}
        result = {"date": "today", "command": "scaling", "runs": [size(10, 2e-6, None), size(100, 4e-3, "no room")]}
        text = scaling.tables(result)
        self.assertIn("| 4 | 200 |" + 4 * " 2 us / 10 |" + " 0.50 |", text)
        self.assertIn("| 4 | 20000 |" + 4 * " 4 ms / 200 |", text)
        self.assertIn("- 100 x 100, 0.02 million triangles: no room", text)

    def test_local_matrices_are_set_beside_kedges(self):
        def local(variant, each, build, error):
            return {"order": 2, "variant": variant, "seconds_per_element": each, "flops_per_second": 4e12,
                    "times_kedge": each / 2e-9, "times_kedge_without_build": build, "error_against_kedge": error}
        lines = [MACHINE, local("kedge", 2e-9, None, None), local("a library", 8e-9, 3.0, 2e-15), local("loops", 5e-9, None, 1e-15)]
        text = operator_tables.local_text(lines)
        self.assertIn("| 2 | 2 | 4000 | 0.40 | 4.00 (3.00) | 2.50 |", text)
        self.assertIn("2.0e-15", text)

    def test_operators_stand_by_order_and_in_times_of_each_other(self):
        lines = [MACHINE] + [line(name, 2, seconds) for name, seconds in (
            ("set_up", 1.0), ("local_matrices", 2e-3), ("local_solve", 5e-4), ("postprocess", 1e-3), ("errors", 2e-3))]
        text = operator_tables.stages_text({"date": "today", "command": "operators"}, lines)
        self.assertIn("| `local_solve` | 0.5 |", text)
        self.assertNotIn("set_up", text)
        self.assertIn("| local solve, post-process and errors / local matrices | 1.75 |", text)
        self.assertIn("| the same with errors of formulas |  |", text)

    def test_a_device_without_a_comparison_shows_its_own_operator(self):
        result = {"date": "today", "command": "operators", "commit": "0123456789abcdef",
                  "lines": [MACHINE, line("trace_apply", 1, 2e-6), line("edge_sum", 1, 1e-6)]}
        self.write("operators.json", json.dumps(result))
        text = compare_run.device_section(self.folder)
        self.assertIn("| 1 | 2 | 500.0 | 0.50 |  |  |  |", text)
        self.assertIn("Commit 0123456789ab, today; `operators`.", text)

    def test_counters_are_set_beside_the_formulas(self):
        def point(name, order, ncu):
            return {"operator": name, "order": order, "ncu": ncu and {"bytes_of_formula": ncu[0], "flops_of_formula": ncu[1]}}
        text = operator_tables.counted_text([point("a", 1, (1.04, 1.2)), point("a", 4, (1.01, 1.0)), point("b", 4, (0.5, 2.0)),
                                             point("c", 4, None)], "square 9")
        self.assertTrue(text.endswith("| operator | P = 1 | P = 4 |\n|---:|---:|---:|\n"
                                      "| a | 1.04 / 1.20 | 1.01 / 1.00 |\n| b |  | 0.50 / 2.00 |\n"), text)
        self.assertEqual(operator_tables.counted_text([point("c", 4, None)], "square 9"), "")

    def test_ranges_of_one_name_at_one_place_are_one_line(self):
        events = ["1.0 push kedge solve 10 20", "1.5 push kedge inner 10 20", "2.0 pop kedge", "2.0 push other x 1 1", "2.1 pop other",
                  "2.0 push kedge inner 10 20", "2.25 counter kedge residual 0.5", "3.0 pop kedge", "4.0 pop kedge"]
        lines = [" ".join(line.split()) for line in ranges.tree(*ranges.read(events, "kedge"))]
        self.assertEqual(lines, ["0.0000 solve 1 x 3.000 s 10 triangles, 20 unknowns", "0.5000 inner 2 x 1.500 s 750.000 ms each",
                                 "1.2500 residual 1 x from 5.00e-01 to 5.00e-01"])
        for wrong in (events[:-1], ["1.0 pop kedge"]):
            with self.assertRaises(ValueError):
                ranges.read(wrong, "kedge")

    def test_what_needs_a_gpu_is_refused_on_the_host(self):
        cli = os.path.join(self.folder, "src", "cli")
        os.makedirs(cli)
        self.write("CMakeCache.txt", "")
        kedge = self.write("src/cli/kedge", "#!/bin/sh\n")
        os.chmod(kedge, 0o755)
        done = subprocess.run([os.path.join(PROFILING, "compare_run"), "--kedge", kedge, "--backend", "host",
                               "--only", "compare"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("`compare` is a program of the GPU", done.stderr)

    def test_a_command_outside_a_build_folder_is_refused(self):
        kedge = self.write("kedge", "#!/bin/sh\n")
        os.chmod(kedge, 0o755)
        done = subprocess.run([os.path.join(PROFILING, "compare_run"), "--kedge", kedge], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is in no build folder", done.stderr)

    def test_without_a_build_every_program_has_to_be_there(self):
        for folder in ("src/cli", "profiling"):
            os.makedirs(os.path.join(self.folder, folder))
        for program in ("src/cli/kedge", "profiling/operators"):
            os.chmod(self.write(program, "#!/bin/sh\n"), 0o755)
        done = subprocess.run([os.path.join(PROFILING, "compare_run"), "--kedge", os.path.join(self.folder, "src/cli/kedge"),
                               "--backend", "host", "--no-build"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no program local_baseline: leave out --no-build", done.stderr)


if __name__ == "__main__":
    unittest.main()
