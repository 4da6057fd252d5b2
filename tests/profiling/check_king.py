#!/usr/bin/python3
"""check_king.py SOURCE KEDGE: profiling/king runs its steps once, goes on where it was stopped, and loses nothing to a step
that fails."""
import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from experiment import KEDGE, SOURCE, Experiment

sys.path.insert(0, os.path.join(SOURCE, "profiling"))
import king2014_page
import king2014_rates
import measure

REAL = os.path.join(os.path.dirname(KEDGE), "..", "..", "profiling")


class King(Experiment):
    program = "king"

    def setUp(self):
        super().setUp()
        for folder in ("build/src/cli", "build/profiling"):
            os.makedirs(os.path.join(self.folder, folder))
        self.kedge = os.path.join(self.folder, "build/src/cli/kedge")
        os.symlink(KEDGE, self.kedge)
        for name in "king_errors", "continuous":
            os.symlink(os.path.join(REAL, name), os.path.join(self.folder, "build/profiling", name))

    def put_in_place(self, name, script):
        """A script in place of a program, after "$real", its path."""
        path = os.path.join(self.folder, "build/profiling", name)
        if os.path.islink(path):
            os.remove(path)
        self.write(f"build/profiling/{name}", f"#!/bin/sh\nreal='{os.path.join(REAL, name)}'\n{script}\n")
        os.chmod(path, 0o755)

    def king(self, steps, *options, code=0):
        return self.run_program(*self.arguments(steps, *options), kedge=self.kedge, code=code)

    def arguments(self, steps, *options):
        return ["--no-build", "--orders", "1,2", "--repeat", "1", "--threads", "2", "--commit", "x", "--steps", steps,
                *(options or ["--meshes", "20"])]

    def stop_when(self, there, steps, *options):
        """Kills a run as soon as there() holds."""
        command = self.command(*self.arguments(steps, *options), kedge=self.kedge)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 60
        while not there() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assertTrue(there())

    def found(self, experiment, threads="2-threads"):
        paths = glob.glob(os.path.join(self.folder, f"*{threads}", f"{experiment}.json"))
        if not paths:
            return None
        with open(paths[0], encoding="utf-8") as file:
            return json.load(file)

    def test_steps_are_run_once_and_drawn(self):
        steps = "errors,stages,continuous,core"
        done = self.king(steps)
        names = "continuous", "king2014", "king_errors"
        before = [self.found(name) for name in names] + [self.found("king2014", "1-thread")]
        self.assertTrue(all(result["complete"] for result in before))
        if "no matplotlib" not in done.stderr:
            for name in "stages", "rates", "speedup", "unknowns":
                (path,) = glob.glob(os.path.join(self.folder, "*2-threads", f"king-{name}.png"))
                self.assertGreater(os.path.getsize(path), 10000)
        again = self.king(steps).stdout
        self.assertEqual([self.found(name) for name in names] + [self.found("king2014", "1-thread")], before)
        for words in "king_errors 40: there", "8 of 8 cases are there", "continuous 20: there", "2 of 2 cases are there":
            self.assertIn(words, again)

    def test_a_mesh_that_a_killed_run_has_finished_is_not_measured_again(self):
        self.put_in_place("continuous", 'if [ $2 = 20 ]; then exec "$real" "$@"; fi\n"$real" "$1" $2 1 1; exec sleep 100')
        meshes = "--meshes", "20,4"
        lines = lambda: (self.found("continuous") or {"lines": []})["lines"]
        self.stop_when(lambda: len(lines()) == 4, "continuous", *meshes)
        self.assertFalse(self.found("continuous")["complete"])
        kept = lines()[:3]
        self.put_in_place("continuous", 'exec "$real" "$@"')
        self.assertIn("continuous 20: there", self.king("continuous", *meshes).stdout)
        self.assertTrue(self.found("continuous")["complete"])
        self.assertEqual(lines()[:3], kept)
        self.assertEqual([(l["squares"], l["order"]) for l in lines()[1:]], [(20, 1), (20, 2), (4, 1), (4, 2)])
        self.assertEqual(sum("device" in line for line in lines()), 1)

    def test_cases_that_a_killed_run_has_measured_are_not_measured_again(self):
        slow = self.script(f'case "$*" in *"order=2"*"operator=ell"*) exec sleep 100;; esac\nexec "{KEDGE}" "$@"')
        os.remove(self.kedge)
        os.symlink(slow, self.kedge)
        cases = lambda: (self.found("king2014") or {"cases": []})["cases"]
        self.stop_when(lambda: len(cases()) == 3, "stages")
        kept = cases()
        os.remove(self.kedge)
        os.symlink(KEDGE, self.kedge)
        self.assertIn("3 of 8 cases are there", self.king("stages").stdout)
        self.assertEqual(cases()[:3], kept)
        self.assertEqual([(c["elements"], c["order"], c["operator"]) for c in cases()],
                         [(e, p, o) for e in ("triangles", "squares") for p in (1, 2) for o in ("matrix-free", "ell")])
        self.assertTrue(self.found("king2014")["complete"])

    def test_a_step_that_fails_loses_none_of_the_others_nor_its_own_lines(self):
        self.put_in_place("continuous", '[ $2 = 4 ] || exec "$real" "$@"\n"$real" "$1" 4 1 1; echo "no luck" >&2; exit 1')
        done = self.king("errors,assembly,continuous,stages", "--meshes", "4,2", code=1)
        self.assertIn("build/profiling has no program assembly", done.stderr)
        self.assertIn("continuous 4: no luck", done.stderr)
        self.assertIn("king: failed: assembly, continuous", done.stderr)
        result = self.found("continuous")
        self.assertEqual((result["complete"], result["parts"]), (False, ["2"]))
        self.assertEqual([(l["squares"], l["order"]) for l in result["lines"][1:]], [(4, 1), (2, 1), (2, 2)])
        self.assertTrue(self.found("king_errors")["complete"] and self.found("king2014")["complete"])

    def test_results_of_another_commit_or_of_other_options_are_not_kept(self):
        self.king("continuous", "--meshes", "4")
        for other in (["--commit", "y"], ["--commit", "y", "--orders", "1-3"], ["--again"], ["--commit", "unknown"],
                      ["--commit", "unknown"]):
            self.assertNotIn("there", self.king("continuous", "--meshes", "4", *other).stdout)

    def test_the_size_where_a_device_pays_is_the_last_at_which_one_core_is_as_fast(self):
        self.assertEqual(king2014_rates.pays_from([(8, 0.1), (100, 2), (800, 0.5), (3200, 2)]), "1600")
        self.assertEqual(king2014_rates.pays_from([(8, 1.5), (50, 2)]), "under 8")
        self.assertEqual(king2014_rates.pays_from([(8, 1.5), (50, 0.9)]), "over 50")

    def test_a_trace_solve_in_a_process_that_has_solved_before_is_scaled_to_equal_iterations(self):
        report = {"stages": [{"name": name, "seconds": 9} for name in ("trace_solve", "local_solve")], "solver": {"iterations": 30}}
        warm = {"trace_solve": 2, "local_solve": 2, "iterations": 20}
        self.assertEqual([king2014_rates.seconds_in(report, name, warm) for name in ("trace_solve", "local_solve")], [3, 2])
        self.assertEqual(king2014_rates.seconds_in(report, "trace_solve", {}), 9)

    def test_sizes_are_solved_on_the_device_and_on_one_core(self):
        said = []
        for threads in 2, 1:
            device = measure.device_of(KEDGE, argparse.Namespace(backend="host", threads=threads, timeout=None))
            line = {"order": 1, "elements": 8, **dict.fromkeys(king2014_page.TIMED, 3.0 / threads)}
            said.append("\n".join(map(json.dumps, ({"device": device}, line))))
        self.put_in_place("pipeline", f"if [ $OMP_NUM_THREADS = 2 ]; then echo '{said[0]}'; else echo '{said[1]}'; fi")
        self.king("sizes", "--sizes", "2,3")
        own, core = self.found("sizes"), self.found("sizes", "1-thread")
        self.assertEqual((own["parts"], core["parts"]), (["2", "3"], ["2", "3"]))
        self.assertEqual(king2014_rates.speedups_by_size(own, core), {1: [(8, 2.0), (8, 2.0)]})

    def test_steps_have_names(self):
        done = self.run_program("--steps", "all", code=2)
        self.assertIn("no step 'all'; there are: errors, stages, ", done.stderr)


if __name__ == "__main__":
    unittest.main()
