"""check_ranges.py ROOT: profiling/ranges on events that are known."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(sys.argv[1])
del sys.argv[1:]
EVENTS = """10.0 push kedge solve 8 20
10.5 push kedge trace_solve 8 20
11.0 push kedge trace_apply 8 20
11.25 pop kedge
11.5 counter kedge relative_residual 0.5
11.75 push kedge trace_apply 8 20
12.25 pop kedge
12.5 counter kedge relative_residual 1e-11
13.0 pop kedge
14.0 pop kedge
14.5 push CCCL sort 0 0
"""


def inside(ranges, name):
    return next(one for one in ranges if one.get("range") == name)


class Ranges(unittest.TestCase):
    def ranges(self, events, *arguments, code=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "events.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write(events)
            done = subprocess.run([os.path.join(ROOT, "profiling", "ranges"), path, *arguments], capture_output=True,
                                  text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_json_has_ranges_payloads_and_every_sample(self):
        (solve,) = json.loads(self.ranges(EVENTS, "--json").stdout)
        self.assertEqual((solve["range"], solve["seconds"], solve["elements"], solve["unknowns"]), ("solve", 4, 8, 20))
        (trace,) = solve["inside"]
        self.assertEqual((trace["began_seconds"], trace["seconds"]), (0.5, 2.5))
        apply, residual = trace["inside"]
        self.assertEqual((apply["count"], apply["seconds"]), (2, 0.75))
        self.assertEqual((residual["counter"], residual["samples"]), ("relative_residual", [0.5, 1e-11]))

    def test_the_tree_has_a_line_a_range(self):
        lines = self.ranges(EVENTS).stdout.splitlines()
        self.assertEqual([line.split()[1] for line in lines[1:]],
                         ["solve", "trace_solve", "trace_apply", "relative_residual"])
        self.assertIn("2 x   750.000 ms   375.000 ms each", lines[3])
        self.assertIn("from 5.00e-01 to 1.00e-11", lines[4])

    def test_the_recorded_example_is_what_its_page_says(self):
        """docs/nvtx.md reads one solve by both operators."""
        with open(os.path.join(ROOT, "docs", "nvtx.md"), encoding="utf-8") as file:
            page = file.read()
        products = []
        for operator in "ell", "matrix-free":
            path = os.path.join(ROOT, "profiling", "results", "amd-epyc-1-thread", f"trace-{operator}.json")
            with open(path, encoding="utf-8") as file:
                solve = inside(json.load(file), "solve")
            trace = inside(solve["inside"], "trace_solve")
            products.append(inside(inside(trace["inside"], "cg_iterations")["inside"], "trace_apply"))
            shown = [trace, products[-1]]
            if operator == "ell":
                shown.append(inside(solve["inside"], "assembly"))
                self.assertIn(json.dumps(shown[-1])[:80], page)
            for seconds in (one["seconds"] for one in shown):
                self.assertIn(f"{seconds:.3f} s" if seconds >= 1 else f"{1e3 * seconds:.3f} ms", page)
            self.assertIn(f"{1e3 * products[-1]['seconds'] / products[-1]['count']:.3f} ms each", page)
        self.assertEqual(products[0]["count"], products[1]["count"])
        self.assertNotIn("assembly", [one.get("range") for one in solve["inside"]])

    def test_ranges_that_do_not_match_are_refused(self):
        self.assertIn("solve does not end", self.ranges("1 push kedge solve 1 1\n", code=1).stderr)
        self.assertIn("a range ends that has not begun", self.ranges("1 pop kedge\n", code=1).stderr)
        self.assertIn("'[' is no event: give the file that NVTX_RECORD", self.ranges("[\n", code=1).stderr)


if __name__ == "__main__":
    unittest.main()
