#!/usr/bin/python3
"""check_waves.py KEDGE: waves: the series of files, the table, the summary, what is refused."""
import csv
import importlib.util
import math
import os
import random
import re
import resource
import signal
import subprocess
import time
import unittest

from command import KEDGE, Command

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")

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
        for line in (r"cavity.ini: maxwell-tm, 32 elements, order 3, 960 unknowns, \w+ precision", r"backend host on .*",
                     r"march +lsrk4, 56 steps of 0.01786 to t = 1 of 1, .* s",
                     r"speed +[0-9.e+]+ unknowns a second and stage, .* GB/s, .* GFlop/s",
                     r"times +stage .* s, data .* s, source .* s, probes .* s, output .* s",
                     r"energy +0\.12503\d+, at the beginning 0\.12503\d+", r"errors +Ez: L2 1\.\d+e-04",
                     r"output +cavity.vtkhdf.series \(2 files, the last cavity.0002.vtkhdf\)",
                     r"table +cavity.csv \(2 steps\)"):
            self.assertRegex(text, rf"(?m)^{line}$")

    def test_outputs_have_a_file_and_a_row_each(self):
        self.kedge("solve", "cavity.ini", "--quiet")
        rows = self.rows("cavity.csv")
        self.assertEqual([(row["t"], row["step"]) for row in rows], [("0.5", "28"), ("1", "56")])
        self.assertLess(float(rows[1]["error Ez"]), 2e-4)
        self.assertAlmostEqual(float(rows[1]["energy"]), 0.125, places=4)
        times = {file["name"]: file["time"] for file in self.json("cavity.vtkhdf.series")["files"]}
        self.assertEqual(times, {"cavity.0001.vtkhdf": 0.5, "cavity.0002.vtkhdf": 1})
        for name in times:
            self.assertTrue(os.path.getsize(self.path(name)) > 0)

    @unittest.skipUnless(importlib.util.find_spec("h5py"), "no h5py")
    def test_a_file_has_scalars_of_double_precision_and_the_order_of_the_problem(self):
        import h5py

        self.kedge("solve", "cavity.ini", "--quiet", "-s", "solver.precision=single")
        with h5py.File(self.path("cavity.0001.vtkhdf")) as file:
            grid = file["VTKHDF"]
            self.assertEqual({name: (field.shape, field.dtype) for name, field in grid["PointData"].items()},
                             {name: ((32 * 10,), "float64") for name in ("Ez", "Hx", "Hy")})
            self.assertEqual(list(grid["CellData"]), ["region"])
            self.assertEqual((grid["FieldData/order"][0], grid["FieldData/t"][0]), (3, 0.5))
        for name in "cavity.0001.vtkhdf", "cavity.0002.vtkhdf", "cavity.vtkhdf.series", "cavity.csv":
            os.remove(self.path(name))
        self.kedge("solve", "cavity.ini", "--quiet", "-s", "output.file=", "-s", "probe mid.points=0.5 0.5")
        self.assertEqual(set(self.contents()), {"mid.csv"})

    def rows(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

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
        options = ("-s", "time.step=1e-4", "-s", "output.every=0.1", "--checkpoint", "c.march")
        with self.start(*options) as process:
            while not os.path.exists(self.path("cavity.0001.vtkhdf")):
                self.assertIsNone(process.poll())
                time.sleep(0.001)
            process.send_signal(signal.SIGTERM)
            said = process.communicate()
        self.assertEqual((process.returncode, said[0]), (-signal.SIGTERM, ""))
        self.assertRegex(said[1], r"^kedge: ended by SIGTERM behind step \d+, t = 0.\d+; --resume c.march goes on\n$")
        said = self.kedge("solve", "cavity.ini", *options, "--resume", "c.march").stdout
        for line in (r"march +lsrk4, 10000 steps of .*", r"energy +0\.12503\d+, at the beginning 0\.12503632\d",
                     r"table +cavity.csv \(10 steps\)", "checkpoint   c.march"):
            self.assertRegex(said, rf"(?m)^{line}$")
        self.refused("solve", "cavity.ini", *options, "--resume", "c.march", "-s", "space.upwind=0",
                     says="kedge: the checkpoint c.march is of another problem: [space] upwind is not set there, and = 0 "
                          "here")

    def test_steps_that_are_too_long_are_noted(self):
        run = self.kedge("solve", "cavity.ini", "--set", "time.step=0.05", code=3)
        self.assertRegex(run.stdout, r"(?m)^note +step 10, t = 0\.5: steps of 0\.05 are longer than 0\.018\d+, the "
                         "longest that is stable on every mesh; step 10, t = 0.5: the energy has grown by more than "
                         "came in$")
        advice = r"leave step, steps and cfl out of \[time\], or set step <= 0\.01831\n"
        grown = r"kedge: not converged: at step 10, t = 0\.5, the energy had grown by more than " \
            rf"came in: {advice}$"
        early = r"longer than 0\.01831, the longest that is stable on every mesh; " + advice
        self.assertRegex(run.stderr, rf"^kedge: note: steps of 0\.05 are {early}{grown}")
        self.assertRegex(self.kedge("plan", "cavity.ini", "--set", "time.step=0.05").stdout,
                         rf"20 steps of at most 0\.05\nnote: that is {early}")
        said = self.kedge("solve", "cavity.ini", "-q", "-r", "r.json", "--set", "time.step=0.05", code=3).stderr
        self.assertRegex(said, f"^{grown}")
        report = self.json("r.json")
        self.assertEqual((report["waves"]["energy"]["grown_step"], report["march"]["converged"]), (10, False))
        said = self.kedge("solve", "cavity.ini", "-s", "equation.conductivity=10000", "-s", "time.step=5e-4", "-s",
                          "time.end=0.3", "-s", "solver.precision=double", code=3).stdout
        self.assertRegex(said, r"(?m)^energy +not finite, as fields are too large; at the beginning 0\.125\d+\n"
                         "errors +Ez: L2 inf$")
        # Longer than the limit, and still stable on this mesh.
        said = self.kedge("solve", "cavity.ini", "-r", "r.json", "--set", "time.cfl=1.3").stderr
        self.assertRegex(said, rf"^kedge: note: steps of 0\.0\d+ are {early}$")
        self.assertEqual(self.json("r.json")["march"]["converged"], True)
        driven = ("-s", "boundary left.type=incident", "-s", "boundary left.Ez=0*t")
        self.kedge("solve", "cavity.ini", *driven, "--set", "time.cfl=1.3")
        said = self.kedge("solve", "cavity.ini", *driven, "-q", "-r", "r.json", "--set", "time.step=0.05", code=3).stderr
        self.assertRegex(said, f"^{grown}")
        self.assertEqual(self.json("r.json")["march"]["converged"], False)
        text = self.kedge("solve", "cavity.ini", "-s", "boundary left.type=incident",
                          "-s", "boundary left.Ez=9*sin(t)", "-s", "boundary left.Hy=-9*sin(t)")
        self.assertNotIn("note", text.stdout + text.stderr)

    def test_conductivity_that_sets_the_step_is_noted(self):
        def said(sigma):
            settings = "-s", f"equation.conductivity={sigma}", "-s", "time.end=0.01"
            plan = self.kedge("plan", "cavity.ini", "-r", "p.json", *settings).stdout
            solve = self.kedge("solve", "cavity.ini", "-r", "r.json", *settings).stderr
            return self.json("p.json")["note"], self.json("r.json")["march"]["note"], plan, solve

        said("0")
        longest = self.json("p.json")["waves"]["longest_step"]
        ratio = 1e4 * longest
        note = f"conductivity, not speed, sets the step, and makes it {ratio:.3g} times shorter: for metals take type = " \
            "conductor (docs/waves.md)"
        planned, marched, plan, solve = said("1e4")
        self.assertEqual((planned, marched, solve), (note, note, f"kedge: note: {note}\n"))
        self.assertIn(f"\nnote: {note}\n", plan)
        self.assertEqual(said(f"{9.9 / longest}")[:2], ("", ""))

    def test_data_of_a_wave_that_does_not_come_in_are_noted(self):
        def note(*settings):
            run = self.kedge("solve", "cavity.ini", "-r", "r.json", "-s", "time.end=0.3",
                             *(part for setting in settings for part in ("-s", setting)))
            noted = self.json("r.json")["march"]["note"]
            self.assertEqual(run.stderr, f"kedge: note: {noted}\n" if noted else "")
            return noted

        left, wave = "boundary left.type=incident", "boundary left.Ez=sin(9*(x-t))"
        self.assertEqual(note(left, wave, "boundary left.Hy=-sin(9*(x-t))"), "")
        self.assertEqual(note(left, wave, "boundary left.Hy=-3*sin(9*(x-t))"), "")
        self.assertEqual(note(left, wave, "boundary left.Hy=sin(9*(x-t))"), "the data of [boundary left] bring in next to "
                         "nothing, as they are those of a wave that leaves: check the signs of its fields (docs/waves.md)")
        self.assertEqual(note(left, wave), "half of the wave of [boundary left] comes in, as its data have no Hx, Hy: give all "
                         "fields of the wave (docs/waves.md)")
        self.assertIn("have no Ez:", note(left, "boundary left.Hy=1"))
        # One wave comes in here and leaves there; [exact] may be no wave.
        self.assertEqual(note("boundary default.type=incident", "boundary default.Ez=sin(9*(x-t))",
                              "boundary default.Hy=-sin(9*(x-t))"), "")
        self.assertEqual(note("boundary default.type=incident"), "")
        self.write("cavity.ini", "[mesh]\ngenerate = cube 1\n[equation]\nsystem = acoustics\ndensity = 2\n[time]\n"
                   "[boundary default]\ntype = wall\n[boundary x1]\ntype = incident\np = exp(-t)\n")
        self.assertEqual(note("boundary x1.vx=-exp(-t)/sqrt(2)"), "")
        self.assertIn("[boundary x1] bring in next to nothing", note("boundary x1.vx=exp(-t)/sqrt(2)"))
        self.assertIn("have no vx, vy, vz:", note())

    def test_numbers_that_overflow_stop_and_keep_the_outputs_before(self):
        self.refused("solve", "cavity.ini", "-q", "--set", "time.end=200", "--set", "time.step=0.1", "--set",
                     "output.every=0.2", code=1,
                     says=" is not finite at t = 1.39582821, in step 14: steps of 0.1 are longer than 0.0183058, ")
        rows = self.rows("cavity.csv")
        self.assertTrue(os.path.exists(self.path(f"cavity.{len(rows):04}.vtkhdf")))

    def test_a_step_that_fails_leaves_a_report(self):
        options = ("-q", "-r", "r.json", "-s", "boundary left.type=conductor", "-s", "boundary left.Ez=log(0.305-t)*y",
                   "-s", "time.step=0.01", "-s", "output.every=0.2")
        says = self.refused("solve", "cavity.ini", *options, says="the field Ez of a boundary is nan at").stderr
        report = self.json("r.json")
        march, waves = report["march"], report["waves"]
        self.assertEqual((march["steps"], march["t"], march["converged"]), (30, 0.3, False))
        self.assertEqual(march["note"], "failed behind step 30, t = 0.3: " + says.removeprefix("kedge: ").strip())
        self.assertTrue(151 <= waves["stages"] < 155, waves)
        self.assertEqual((waves["energy"]["end"], report["errors"]), (None, None))
        self.assertEqual(report["output"], {"written": False, "error": says.removeprefix("kedge: ").strip()})
        self.assertGreater(waves["energy"]["beginning"], 0.1)
        self.refused("solve", "cavity.ini", *options, "-s", "output.file=", says="the field Ez of a boundary is nan at")
        self.assertIsNone(self.json("r.json")["output"])
        # A state that is no number fails where it is looked at.
        self.kedge("solve", "cavity.ini", "-q", "-r", "r.json", "-s", "time.end=200", "-s", "time.step=0.1", "-s",
                   "output.every=0.2", code=1)
        march, waves = self.json("r.json")["march"], self.json("r.json")["waves"]
        self.assertRegex(march["note"], r"failed behind step 14, t = 1\.4: .* is not finite")
        self.assertEqual((march["converged"], waves["energy"]["end"], waves["stages"]), (False, None, 70))

    def test_a_report_has_speed_energy_and_errors(self):
        self.kedge("solve", "cavity.ini", "-q", "-r", "r.json", "-s", "boundary left.type=incident",
                   "-s", "boundary left.Ez=sin(t)", "-s", "boundary left.Hy=-sin(t)")
        report = self.json("r.json")
        waves, stages = report["waves"], {stage["name"]: stage for stage in report["stages"]}
        self.assertEqual((report["mesh"]["elements"], report["space"]), (32, {"order": 3, "unknowns": 960}))
        self.assertEqual((waves["system"], waves["fields"], waves["upwind"]), ("maxwell-tm", ["Ez", "Hx", "Hy"], 1))
        self.assertEqual((report["march"]["steps"], waves["stages"], report["march"]["note"]), (56, 280, ""))
        self.assertLess(report["march"]["step"], waves["longest_step"])
        self.assertEqual(waves["kernel"], "host")
        self.assertAlmostEqual(waves["energy"]["beginning"], 0.125036322, delta=1e-6)
        self.assertEqual(list(report["errors"]), ["Ez"])
        self.assertGreater(report["errors"]["Ez"]["l2"], 0.01)
        self.assertEqual(report["output"], {"written": True, "error": ""})
        self.assertEqual(list(stages), ["stage", "data", "source", "probes", "output"])
        parts = sum(stages[part]["seconds"] for part in ("stage", "data", "source"))
        self.assertAlmostEqual(parts, waves["seconds"], delta=1e-12)
        self.assertAlmostEqual(waves["unknowns_per_second"] * waves["seconds"] / (960 * 280), 1)
        for stage, least in ("stage", 0), ("data", 0), ("output", 0):
            self.assertGreater(stages[stage]["seconds"], least)
        self.assertTrue(stages["stage"]["bytes"] > 280 * 960 * 4 and stages["stage"]["flops"] > 280 * 960)
        self.assertGreater(report["memory"]["peak_device_bytes"], 3 * 960 * 4)
        self.kedge("solve", "cavity.ini", "-q", "-r", "r.json", "-s", "exact.Ez=", "-s", "output.file=", "-s", "time.end=0.1",
                   "-s", "output.every=")
        report = self.json("r.json")
        self.assertEqual((report["errors"], report["output"]), (None, None))

    def test_the_box_has_the_errors_of_the_page(self):
        with open(os.path.join(SOURCE, "docs/examples.md"), encoding="utf-8") as page:
            table = re.findall(r"(?m)^\| (\d) \| (\S+e-\d+) \| (\S+e-\d+) \| \S+ \|$", page.read())
        self.assertEqual(len(table), 5)

        def error(order, cube, upwind=1):
            self.kedge("solve", os.path.join(SOURCE, "meshes/cavity.ini"), "-q", "-r", "r.json", "-s",
                       f"space.order={order}", "-s", f"mesh.generate=cube {cube}", "-s", f"space.upwind={upwind}")
            return math.hypot(*(error["l2"] for error in self.json("r.json")["errors"].values()))

        for (order, coarse, fine), central in zip(table, (1.8, 3.6, 2.7, 0)):
            self.assertEqual((f"{error(order, 2):.2e}", f"{error(order, 4):.2e}"), (coarse, fine))
            if central:
                self.assertAlmostEqual(error(order, 4, 0) / float(fine), central, delta=0.06)

    def test_a_plane_wave_has_the_errors_of_the_page_and_half_as_long_a_step_again_is_stable(self):
        with open(os.path.join(SOURCE, "docs/waves.md"), encoding="utf-8") as page:
            rows = re.findall(r"(?m)^\| (\d) \| (\S+) %.*? \| (\S+) % \|", page.read())
        table = {int(order): (float(one), float(two)) for order, one, two in rows}
        self.write("plane.ini", """
[mesh]
map = 4*x, 4*y
[equation]
system = maxwell-tm
[boundary default]
type = incident
[exact]
Ez = sin(2*pi*(0.8*x + 0.6*y - t))
Hx = 0.6*sin(2*pi*(0.8*x + 0.6*y - t))
Hy = -0.8*sin(2*pi*(0.8*x + 0.6*y - t))
[solver]
precision = double
[time]
end = 4
""")

        def error(order, squares, cfl=1):
            self.kedge("solve", "plane.ini", "-q", "-r", "r.json", "-s", f"space.order={order}", "-s",
                       f"mesh.generate=square {4 * squares}", "-s", f"time.cfl={cfl}")
            return 100 * self.json("r.json")["errors"]["Ez"]["l2"] / math.sqrt(8)

        for order, says in table.items():
            for squares in 1, 2:
                self.assertAlmostEqual(error(order, squares) / says[squares - 1], 1, delta=0.12)
        self.assertEqual(list(table), [1, 2, 3, 4, 6, 8])
        for order in 2, 4, 6:
            self.assertLess(error(order, 3, 1.5), 1.07 * error(order, 3))

    def test_the_example_of_the_page_is_exact_and_absorbing_sides_spoil_it(self):
        with open(os.path.join(SOURCE, "docs/waves.md"), encoding="utf-8") as page:
            self.write("plane.ini", re.search(r"(?s)```\n(\[mesh\].*?)```", page.read())[1])

        def error(*sides):
            settings = [word for side in sides for word in ("-s", f"boundary {side}.type=absorbing")]
            self.kedge("solve", "plane.ini", "-q", "-r", "r.json", *settings)
            return self.json("r.json")["errors"]["Ez"]["l2"]

        self.assertLess(error(), 1e-6)
        self.assertAlmostEqual(error("top", "bottom"), 0.27, delta=0.01)

    def test_si_units_are_as_exact_as_others(self):
        with open(os.path.join(SOURCE, "docs/waves.md"), encoding="utf-8") as page:
            permittivity, permeability = re.search(r"permittivity `(\S+)`, permeability `(\S+)`", page.read()).groups()
        self.write("si.ini", f"""
[mesh]
generate = square 8
map = 0.3*x, 0.3*y
[space]
order = 4
[parameters]
e = {permittivity}
m = {permeability}
k = 2*pi/0.3
[equation]
system = maxwell-tm
permittivity = e
permeability = m
[boundary default]
type = incident
[exact]
Ez = sin(k*(0.6*x + 0.8*y - t/sqrt(e*m)))
Hx = 0.8*sin(k*(0.6*x + 0.8*y - t/sqrt(e*m)))*sqrt(e/m)
Hy = -0.6*sin(k*(0.6*x + 0.8*y - t/sqrt(e*m)))*sqrt(e/m)
[time]
end = 1e-9
""")
        self.kedge("solve", "si.ini", "-q", "-r", "r.json")
        errors = self.json("r.json")["errors"]
        self.assertLess(errors["Ez"]["l2"], 2e-5 * 0.2)
        self.assertLess(errors["Hy"]["l2"], 2e-5 * 0.2 / 377)

    def test_one_field_alone_lets_half_of_a_wave_in_and_a_wall_that_moves_sends_one(self):
        text = """
[mesh]
generate = square 8
[space]
order = 4
[equation]
system = acoustics
density = 3
bulk = 2
[parameters]
c = sqrt(2/3)
g = 0
[boundary left]
type = incident
p = exp(-((c*t - 1)/0.2)^2)
vx = g/(3*c)*exp(-((c*t - 1)/0.2)^2)
[boundary right]
type = absorbing
[boundary default]
type = wall
[probe mid]
points = 0.5 0.5
[time]
end = 2
"""
        for most, g, kind in (0.5, 0, "incident"), (1, 1, "incident"), (1, 1, "wall"):
            lines = text.splitlines(True)  # a wall reads v alone
            self.write("half.ini", "".join(line for line in lines if kind != "wall" or line[:3] != "p ="))
            self.kedge("solve", "half.ini", "-q", "-s", f"parameters.g={g}", "-s", f"boundary left.type={kind}")
            self.assertAlmostEqual(max(float(row["p 1"]) for row in self.rows("mid.csv")), most, delta=1e-3)

    def test_a_run_that_has_ended_goes_on_to_a_later_end(self):
        probe = ("-q", "-s", "time.step=0.0125", "-s", "probe mid.points=0.5 0.5")
        self.kedge("solve", "cavity.ini", *probe, "-s", "time.end=2", "-o", "whole.vtkhdf")
        whole = self.rows("mid.csv")
        self.kedge("solve", "cavity.ini", *probe, "--checkpoint", "c.march")
        self.kedge("solve", "cavity.ini", *probe, "--resume", "c.march", "-s", "time.end=2")
        self.assertEqual(self.rows("mid.csv"), whole)
        self.assertEqual(self.rows("cavity.csv"), self.rows("whole.csv"))
        self.refused("solve", "cavity.ini", *probe, "--resume", "c.march", "-s", "time.end=0.75",
                     says="has reached t = 1, and [time] end = 0.75: give a later end")

    def test_a_run_that_had_no_output_yet_goes_on_without_a_note(self):
        options = ("-s", "output.every=500", "-s", "probe mid.points=0.5 0.5")
        saves = ("--checkpoint", "c.march")
        with subprocess.Popen([KEDGE, "solve", "cavity.ini", "-q", *options, *saves, "-s", "time.end=1e3"], cwd=self.folder,
                              stderr=subprocess.PIPE, text=True) as process:
            while not os.path.exists(self.path("mid.csv")):
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            t = float(re.search("t = ([0-9.e-]+);", process.communicate()[1])[1])
        self.assertFalse(os.path.exists(self.path("cavity.csv")))
        goes_on = (*options, "--resume", "c.march")
        said = self.kedge("solve", "cavity.ini", *goes_on, *saves, "-s", f"time.end={t + 0.1}").stdout
        self.assertNotIn("note ", said)
        os.remove(self.path("cavity.csv"))
        said = self.kedge("solve", "cavity.ini", *goes_on, "-s", f"time.end={t + 0.2}").stdout
        self.assertIn("\nnote         there was no cavity.csv to go on with: it and the series begin at", said)

    def test_outputs_may_begin_with_the_initial_values(self):
        self.write("cavity.ini", CAVITY.replace("every = 0.5", "at = 0, 0.5") + "[probe mid]\npoints = 0.5 0.5\n")
        self.kedge("solve", "cavity.ini", "-q", "--checkpoint", "c.march")
        rows = self.rows("cavity.csv")
        self.assertEqual([(row["t"], row["step"]) for row in rows], [("0", "0"), ("0.5", "28"), ("1", "56")])
        self.assertEqual([row["step"] for row in self.rows("mid.csv")], [str(step) for step in range(57)])
        self.assertAlmostEqual(float(rows[0]["energy"]), 0.125, places=4)
        times = [(file["name"], file["time"]) for file in self.json("cavity.vtkhdf.series")["files"]]
        self.assertEqual(times, [("cavity.0001.vtkhdf", 0), ("cavity.0002.vtkhdf", 0.5), ("cavity.0003.vtkhdf", 1)])
        self.kedge("solve", "cavity.ini", "-q", "--resume", "c.march", "-s", "time.end=1.5")
        self.assertEqual([row["t"] for row in self.rows("cavity.csv")], ["0", "0.5", "1", "1.5"])
        self.assertEqual([file["time"] for file in self.json("cavity.vtkhdf.series")["files"]], [0, 0.5, 1, 1.5])
        self.refused("solve", "cavity.ini", "-s", "output.at=-1, 0", says="at in [output] has -1; times are 0 or later")

    def test_the_example_of_the_readme_runs(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as page:
            self.write("lens.ini", re.search(r"(?s)\n## Waves\n.*?```\n(.*?)```", page.read())[1])
        said = self.kedge("solve", "lens.ini", "-s", "time.end=0.5").stdout
        self.assertRegex(said, r"maxwell-tm, 864 elements, order 4, 38880 unknowns, single precision\n")
        self.assertNotIn("note", said)

    def test_echoes_of_walls_are_exact(self):
        for end, returned in ("wall", 1), ("soft", -1), ("absorbing", 0):
            self.kedge("solve", os.path.join(SOURCE, "meshes/echo.ini"), "-q", "-s", f"boundary right.type={end}", "-s",
                       "output.file=")
            rows = self.rows("microphones.csv")
            self.assertGreater(len(rows), 500)
            for name, x in ("p 1", 2), ("p 2", 3.5):
                for row in rows:
                    gone = 343 * float(row["t"])
                    p = math.exp(-((x - gone - 1) / 0.3)**2) + returned * math.exp(-((7 - x - gone) / 0.3)**2)
                    self.assertLess(abs(float(row[name]) - p), 1e-4)

    def test_absorbing_boundaries_reflect_of_what_comes_at_an_angle_what_the_page_says(self):
        # A mode of a duct is two plane waves that come at the angle a; with the one that returns it is exact.
        self.write("duct.ini", """
[mesh]
generate = square 6
[space]
order = 5
[parameters]
a = pi/4
k = pi/sin(a)
kx = k*cos(a)
R = (cos(a) - 1)/(cos(a) + 1)
[equation]
system = acoustics
[boundary left]
type = incident
[boundary right]
type = absorbing
[boundary default]
type = wall
[exact]
p = cos(pi*y)*(cos(kx*x - k*t) + R*cos(kx*(2 - x) - k*t))
vx = kx/k*cos(pi*y)*(cos(kx*x - k*t) - R*cos(kx*(2 - x) - k*t))
vy = -pi/k*sin(pi*y)*(sin(kx*x - k*t) + R*sin(kx*(2 - x) - k*t))
[time]
end = 2
""")
        for a in "pi/4", "pi/2.5":
            self.kedge("solve", "duct.ini", "-q", "-r", "r.json", "-s", f"parameters.a={a}")
            self.assertLess(self.json("r.json")["errors"]["p"]["l2"], 1e-4)
        self.kedge("solve", "duct.ini", "-q", "-r", "r.json", "-s", "parameters.R=0")
        self.assertGreater(self.json("r.json")["errors"]["p"]["l2"], 0.05)

    def test_probes_have_rows_of_all_fields_every_so_many_steps(self):
        self.write("cavity.ini", CAVITY + "[probe mid]\npoints = 0.5 0.5, 0.25 0.3, 7 7\nevery = 10\n"
                   "[probe line]\nline = 0 0.5, 1 0.5, 3\noutput = l.csv\n")
        said = self.kedge("solve", "cavity.ini").stdout
        self.assertIn("\nprobe        mid.csv (mid, 3 points)\nprobe        l.csv (line, 3 points)\n", said)
        self.assertIn("\nnote         mid.csv: 1 of 3 points lie outside of the mesh and have no values\n", said)
        rows = self.rows("mid.csv")
        self.assertEqual(list(rows[0]), ["t", "step", *(f"{f} {i}" for f in ("Ez", "Hx", "Hy") for i in (1, 2, 3))])
        self.assertEqual([row["step"] for row in rows], ["0", "10", "20", "30", "40", "50"])
        for row in rows:
            t = float(row["t"])
            for i, x, y in (1, 0.5, 0.5), (2, 0.25, 0.3):
                exact = math.sin(math.pi * x) * math.sin(math.pi * y) * math.cos(math.pi * math.sqrt(2) * t)
                self.assertAlmostEqual(float(row[f"Ez {i}"]), exact, delta=3e-3)
            self.assertEqual((row["Ez 3"], row["Hy 3"]), ("", ""))
        self.assertEqual([row["step"] for row in self.rows("l.csv")], [str(i) for i in range(57)])
        whole = self.rows("mid.csv")
        self.kedge("solve", "cavity.ini", "-q", "--checkpoint", "c.march")
        table = self.contents()["mid.csv"]
        said = self.kedge("solve", "cavity.ini", "-q", "--resume", "c.march", "-s", "probe mid.every=5", code=2).stderr
        self.assertIn("kedge: cannot go on with the table mid.csv: it has other columns, or rows of another every; take it away, "
                      "or give another output\n", said)
        self.assertEqual(self.contents()["mid.csv"], table)
        self.kedge("solve", "cavity.ini", "-q", "--resume", "c.march")
        self.assertEqual([row["step"] for row in self.rows("mid.csv")], [row["step"] for row in whole])
        self.refused("solve", "cavity.ini", "-s", "probe mid.points=7 7", says="no point of the probe lies in square 4")
        self.refused("solve", "cavity.ini", "-s", "probe mid.every=0", says="every must be a whole number from 1 to")
        self.refused("solve", "cavity.ini", "-s", "probe line.output=mid.csv", says="cannot both be mid.csv")
        self.refused("solve", "p.ini", "-s", "probe a.points=0.5 0.5", "-s", "probe a.every=2",
                     says="every in [probe a] is of waves, and the problem is elliptic")

    def test_a_full_disk_ends_the_run_with_a_sentence_and_keeps_the_outputs_before(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        alone = CAVITY[:CAVITY.index("[output]")] + "[probe mid]\npoints = 0.5 0.5\n"
        self.write("cavity.ini", alone)
        self.kedge("solve", "cavity.ini", "-q")
        whole = self.contents()["mid.csv"]
        size = len(whole) // 2
        said = self.kedge("solve", "cavity.ini", "-q", code=1, preexec_fn=limit).stderr
        self.assertEqual(said, "kedge: cannot write the table mid.csv: File too large\n")
        kept = self.contents()["mid.csv"]
        self.assertTrue(whole.startswith(kept) and kept.endswith(b"\n"))
        self.write("cavity.ini", alone + "[output]\nfile = cavity.vtkhdf\nevery = 0.05\n")
        self.kedge("solve", "cavity.ini", "-q")
        size = 100000  # a writer asks for room for its whole file
        whole = self.contents()
        for name in whole:
            os.remove(self.path(name))
        self.write("cavity.ini", alone + "[output]\nfile = cavity.vtkhdf\nevery = 0.05\n"
                   "[probe many]\nline = 0 0, 1 1, 100\n")
        said = self.kedge("solve", "cavity.ini", "-q", "-r", "r.json", code=1, preexec_fn=limit).stderr
        self.assertEqual(said, "kedge: cannot write the table many.csv: File too large\n")
        left = self.contents()
        self.assertGreater(len(self.json("cavity.vtkhdf.series")["files"]), 1)
        for file in self.json("cavity.vtkhdf.series")["files"]:
            self.assertEqual(left[file["name"]], whole[file["name"]])
        size = 10000
        self.write("cavity.ini", CAVITY)
        said = self.kedge("solve", "cavity.ini", "-q", "-r", "r.json", code=1, preexec_fn=limit).stderr
        self.assertRegex(said, "^kedge: cannot write the output cavity.0001.vtkhdf: .*File too large\n$")
        self.assertEqual(self.json("r.json")["output"], {"written": False, "error": said[7:-1]})

    def test_a_plan_has_the_bytes_that_a_run_takes(self):
        said = self.kedge("plan", "cavity.ini", "-r", "plan.json").stdout
        self.assertRegex(said, r"^cavity.ini: 32 elements, order 3, precision single, 960 unknowns\nbackend host .*\n"
                         r"56 steps of at most 0\.01831\nwaves take ")
        plan = self.json("plan.json")
        self.assertEqual((plan["space"], plan["fits"]), ({"order": 3, "unknowns": 960}, True))
        self.assertFalse({"solver", "operators"} & set(plan))
        self.kedge("solve", "cavity.ini", "-q", "-r", "r.json")
        report, plan = self.json("r.json"), plan["waves"]
        taken = report["memory"]["peak_device_bytes"]
        self.assertTrue(taken <= plan["peak_bytes"] <= 1.03 * taken)
        self.assertGreater(plan["needed_bytes"], plan["peak_bytes"])
        self.assertEqual((plan["step"], plan["precision"]), (report["waves"]["longest_step"], "single"))
        self.assertEqual(plan["steps"], report["march"]["steps"])
        for options, steps in (("time.step=0.3",), 4), (("time.steps=7",), 8), (("time.step=0.3", "time.events=0.1"), 5):
            self.kedge("plan", "cavity.ini", "-q", "-r", "plan.json", *(part for at in options for part in ("-s", at)))
            self.kedge("solve", "cavity.ini", "-q", "-r", "r.json", *(part for at in options for part in ("-s", at)), code=3)
            self.assertEqual(self.json("plan.json")["waves"]["steps"], steps)
            self.assertEqual(self.json("r.json")["march"]["steps"], steps)
        self.refused("plan", "cavity.ini", "-s", "equation.permittivity=x-2", says="permittivity must be positive")
        self.refused("plan", "cavity.ini", "-s", "time.step=1e-10", says="of which end = 1 takes more than 1000000000")

    def test_meshes_of_surfaces_in_space_are_refused(self):
        self.write("roof.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 1\n$EndNodes\n"
                   "$Elements\n1\n1 2 2 1 1 1 2 3\n$EndElements\n")
        for system in "maxwell", "acoustics":
            self.write("roof.ini", f"[mesh]\nfile = roof.msh\n[equation]\nsystem = {system}\n[time]\nend = 1\n"
                       "[boundary default]\ntype = absorbing\n")
            self.refused("solve", "roof.ini", says="there are no tetrahedra, and the surface is not in a plane z = const")

    def test_what_is_wrong_is_said_with_the_words_of_waves_and_its_line(self):
        sound = "[mesh]\ngenerate = square 2\n[equation]\nsystem = acoustics\n[time]\nend = 1\n[boundary default]\n"
        for line, says in (("type = wall\n[initial]\nP = 1", "s.ini:10: unknown key 'P' in [initial]; did you mean 'p'?"),
                           ("vx = 1", "s.ini:8: [boundary default] has no type; add type = wall, soft, absorbing or incident"),
                           ("type = soft\np = log(t-0.5)", "s.ini:9: the field p of a boundary is nan at"),
                           ("type = wall\n[region domain]\nsource = log(t-0.5)", "s.ini:10: source is nan at"),
                           ("type = wall\n[region domain]\ndensty = 2", "s.ini:10: unknown key 'densty' in [region domain]; "
                            "did you mean 'density'?")):
            self.write("s.ini", sound + line + "\n")
            self.refused("solve", "s.ini", says=says)
        self.refused("solve", "p.ini", "-s", "equation.density=2", says="add system = acoustics to [equation]")
        self.refused("solve", "p.ini", "-s", "boundary left.type=wall", says="add system = acoustics, or take dirichlet")

    def test_curves_that_are_flattened_are_noted(self):
        self.write("d.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0.5 0 0\n5 0.6 0.6 0\n"
                   "6 0 0.5 0\n$EndNodes\n$Elements\n1\n1 9 2 1 1 1 2 3 4 5 6\n$EndElements\n")
        self.write("cavity.ini", CAVITY.replace("generate = square 4", "file = d.msh"))
        self.refused("solve", "cavity.ini", says="those of d.msh are curved: set geometry = 1")
        said = self.kedge("solve", "cavity.ini", "-s", "mesh.geometry=1", "-s", "time.end=0.1")
        self.assertIn("geometry = 1 makes polygons of the curves of the mesh, of order 2", said.stderr)

    def test_keys_of_elliptic_problems_are_refused(self):
        self.refused("solve", "cavity.ini", "--set", "equation.diffusion=2",
                     says="diffusion in [equation] is of elliptic problems, and system = maxwell-tm; leave it out")
        self.assertFalse(os.path.exists(self.path("cavity.csv")))
        self.refused("solve", "p.ini", "-s", "boundary left.type=conductor",
                     says="type = conductor is of waves, and [equation] has no system of them; add system = maxwell-tm, or take "
                     "dirichlet, neumann or robin")
        self.refused("solve", "p.ini", "-s", "solver.precision=single", says="precision = single is of waves, and the "
                     "problem is elliptic; take double, mixed or compact")


if __name__ == "__main__":
    unittest.main(verbosity=1)
