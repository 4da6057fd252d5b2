#!/usr/bin/python3
"""check_waves.py KEDGE: waves: the series of files, the table, the summary, what is refused."""
import csv
import os
import random
import signal
import subprocess
import time
import unittest

from command import KEDGE, Command

CAVITY = """
[mesh]
generate = square 4
[space]
order = 3
[equation]
system = maxwell-tm
[parameters]
k = pi*sqrt(2)
[boundary default]
type = conductor
[initial]
Ez = sin(pi*x)*sin(pi*y)
[exact]
Ez = sin(pi*x)*sin(pi*y)*cos(k*t)
[time]
end = 1
[output]
file = cavity.vtkhdf
every = 0.5
"""


class Waves(Command):
    def setUp(self):
        super().setUp()
        self.write("cavity.ini", CAVITY)

    def test_a_summary_has_steps_energy_and_errors(self):
        text = self.kedge("solve", "cavity.ini").stdout
        for line in (r"cavity.ini: maxwell-tm, 32 elements", r"march +lsrk4, 56 steps of 0.01786 to t = 1 of 1, .* s",
                     r"energy +0\.12503\d+, at the beginning 0\.12503\d+", r"errors +Ez: L2 1\.\d+e-04",
                     r"output +cavity.vtkhdf.series \(2 files, the last cavity.0002.vtkhdf\)",
                     r"table +cavity.csv \(2 steps\)"):
            self.assertRegex(text, rf"(?m)^{line}$")

    def test_outputs_have_a_file_and_a_row_each(self):
        self.kedge("solve", "cavity.ini", "--quiet")
        with open(self.path("cavity.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["t"], row["step"]) for row in rows], [("0.5", "28"), ("1", "56")])
        self.assertLess(float(rows[1]["error Ez"]), 2e-4)
        self.assertAlmostEqual(float(rows[1]["energy"]), 0.125, places=4)
        times = {file["name"]: file["time"] for file in self.json("cavity.vtkhdf.series")["files"]}
        self.assertEqual(times, {"cavity.0001.vtkhdf": 0.5, "cavity.0002.vtkhdf": 1})
        for name in times:
            self.assertTrue(os.path.getsize(self.path(name)) > 0)

    def contents(self):
        """All results, but the checkpoint."""
        found = {}
        for name in os.listdir(self.folder):
            if name not in ("cavity.ini", "p.ini", "c.march") and "partial" not in name:
                with open(self.path(name), "rb") as file:
                    found[name] = file.read()
        return found

    def start(self, *options):
        return subprocess.Popen([KEDGE, "solve", "cavity.ini", *options], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_what_was_killed_ends_with_the_bits_of_a_run_that_was_not(self):
        small = ("-q", "-s", "time.step=5e-4", "-s", "output.every=0.05")
        for precision in "double", "single":
            options = (*small, "-s", f"solver.precision={precision}")
            begun = time.monotonic()
            self.kedge("solve", "cavity.ini", *options)
            seconds, whole = time.monotonic() - begun, self.contents()
            for name in whole:
                os.remove(self.path(name))
            seed = time.time_ns()
            moment = random.Random(seed)
            with self.subTest(precision=precision, seed=seed):
                for _ in range(3):
                    goes_on = ("--resume", "c.march") if os.path.exists(self.path("c.march")) else ()
                    with self.start(*options, "--checkpoint", "c.march", *goes_on) as process:
                        time.sleep(moment.uniform(0, 0.5 * seconds))
                        process.kill()
                goes_on = ("--resume", "c.march") if os.path.exists(self.path("c.march")) else ()
                self.kedge("solve", "cavity.ini", *options, "--checkpoint", "c.march", *goes_on)
                self.assertEqual(self.contents(), whole)
            os.remove(self.path("c.march"))

    def test_a_signal_saves_the_last_step_and_ends_as_it_would(self):
        options = ("-s", "time.step=2e-4", "-s", "output.every=0.1", "--checkpoint", "c.march")
        with self.start(*options) as process:
            while not os.path.exists(self.path("cavity.0002.vtkhdf")):
                self.assertIsNone(process.poll())
                time.sleep(0.001)
            process.send_signal(signal.SIGTERM)
            said = process.communicate()
        self.assertEqual((process.returncode, said[0]), (-signal.SIGTERM, ""))
        self.assertRegex(said[1], r"^kedge: ended by SIGTERM behind step \d+, t = 0.\d+; --resume c.march goes on\n$")
        said = self.kedge("solve", "cavity.ini", *options, "--resume", "c.march").stdout
        for line in (r"march +lsrk4, 5000 steps of .*", r"energy +0\.12503\d+, at the beginning 0\.125036322",
                     r"table +cavity.csv \(10 steps\)", "checkpoint   c.march"):
            self.assertRegex(said, rf"(?m)^{line}$")
        self.refused("solve", "cavity.ini", *options, "--resume", "c.march", "-s", "space.upwind=0",
                     says="kedge: the checkpoint c.march is of another problem: [space] upwind is not set there, and = 0 here")

    def test_steps_that_are_too_long_are_noted(self):
        text = self.kedge("solve", "cavity.ini", "--set", "time.step=0.05").stdout
        self.assertRegex(text, r"(?m)^note +steps are longer than 0\.018\d+, the longest that is stable on every mesh$")

    def test_numbers_that_overflow_stop_and_keep_the_outputs_before(self):
        self.refused("solve", "cavity.ini", "--set", "time.end=200", "--set", "time.step=0.1", "--set",
                     "output.every=0.2", code=1, says=" is not finite at t = ")
        with open(self.path("cavity.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(os.path.exists(self.path(f"cavity.{len(rows):04}.vtkhdf")))

    def test_what_waves_do_not_have_yet_is_refused(self):
        self.refused("solve", "cavity.ini", "--report", "r.json", says="--report: waves have none yet")
        self.refused("solve", "cavity.ini", "--set", "equation.diffusion=2",
                     says="diffusion in [equation] is of elliptic problems, and system = maxwell-tm; leave it out")
        self.assertFalse(os.path.exists(self.path("cavity.csv")))


if __name__ == "__main__":
    unittest.main(verbosity=1)
