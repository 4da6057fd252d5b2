#!/usr/bin/python3
"""check_marches.py KEDGE: problems with [time]: series of files, the table of steps, what is refused, what fails on the way."""
import csv
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from command import KEDGE, Command

PLATE = """
[mesh]
generate = square 4
[space]
order = 2
[equation]
source = x*sin(3*t)
[boundary left]
type = dirichlet
value = 1 + t
[boundary default]
type = neumann
value = 0
[time]
end = 1
step = 0.06
[initial]
u = 1
[integral heat]
of = u
[probe mid]
points = 0.5 0.5, 0.25 0.5, 7 7
"""
SERIES = PLATE + "[output]\nfile = plate.vtkhdf\nevery = 0.3\n"
OUTPUTS = [f"plate.000{i}.vtkhdf" for i in (1, 2, 3, 4)]


class Marches(Command):
    def setUp(self):
        super().setUp()
        os.remove(self.path("p.ini"))
        self.write("plate.ini", SERIES)

    def files(self):
        return sorted(set(os.listdir(self.folder)) - {"plate.ini"})

    def table(self, name="plate.csv"):
        with open(self.path(name), newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        for row in rows:
            self.assertEqual(len(row), len(names))
        return [dict(zip(names, row)) for row in rows]

    def series(self, name="plate.vtkhdf.series"):
        listed = self.json(name)
        self.assertEqual(listed["file-series-version"], "1.0")
        return {file["name"]: file["time"] for file in listed["files"]}

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_a_step_that_fails_leaves_a_report(self):
        fails = ("solve", "plate.ini", "-q", "-r", "r.json", "-s", "equation.source=log(0.31-t)")
        says = self.refused(*fails, says="source is ").stderr
        report = self.json("r.json")
        march = report["march"]
        self.assertEqual((march["steps"], march["t"], march["converged"]), (5, 0.3, False))
        self.assertEqual(march["note"], "failed behind step 5, t = 0.3: " + says.removeprefix("kedge: ").strip())
        self.assertEqual((report["solver"]["stop"], report["solver"]["note"]), ("unknown", march["note"]))
        self.assertEqual(report["output"], {"written": False, "error": says.removeprefix("kedge: ").strip()})
        self.refused(*fails, "-s", "output.file=", says="source is ")
        self.assertIsNone(self.json("r.json")["output"])

    def test_every_output_is_a_file_and_the_list_has_their_times(self):
        said = self.kedge("solve", "plate.ini").stdout
        self.assertEqual(self.files(), ["mid.csv", *OUTPUTS, "plate.csv", "plate.vtkhdf.series"])
        self.assertEqual(self.series(), dict(zip(OUTPUTS, [0.3, 0.6, 0.9, 1])))
        self.assertIn("\noutput       plate.vtkhdf.series (4 files, the last plate.0004.vtkhdf)\n"
                      "table        plate.csv (17 steps)\nprobe        mid.csv (mid, 3 points)\n", said)
        last = self.content(OUTPUTS[1])
        self.kedge("solve", "plate.ini", "-q", "-s", "time.end=0.6", "-o", "other.vtkhdf")
        self.assertEqual(self.series("other.vtkhdf.series"), {"other.0001.vtkhdf": 0.3, "other.0002.vtkhdf": 0.6})
        self.assertEqual(self.content("other.0002.vtkhdf"), last)  # the same steps led there
        self.assertEqual(self.table("other.csv"), self.table()[:10])

    def test_a_table_has_a_row_for_each_step(self):
        self.kedge("solve", "plate.ini", "-q", "-r", "r.json")
        rows, report = self.table(), self.json("r.json")
        self.assertEqual(list(rows[0]), ["t", "step", "mean", "min", "max", "flux left", "flux right", "flux bottom",
                                         "flux top", "integral heat", "probe mid 1", "probe mid 2", "probe mid 3"])
        self.assertEqual([int(row["step"]) for row in rows], list(range(1, 18)))
        for i, t in enumerate([0.06 * k for k in range(1, 16)] + [0.95, 1]):
            self.assertAlmostEqual(float(rows[i]["t"]), t, delta=1e-14)
        region, groups = report["regions"][0], report["groups"]
        self.assertEqual([float(rows[-1][name]) for name in ("t", "min", "max", "integral heat", "flux left")],
                         [1, region["minimum"]["value"], region["maximum"]["value"], report["integrals"]["heat"],
                          groups[0]["flux"]])
        for row in rows:
            self.assertAlmostEqual(float(row["mean"]), float(row["integral heat"]), delta=1e-12)
            self.assertEqual(row["probe mid 3"], "")  # outside
        probes = [line.split(",")[3] for line in self.content("mid.csv").decode().splitlines()[1:]]
        self.assertEqual([rows[-1][f"probe mid {i}"] for i in (1, 2, 3)], probes)

    def test_without_times_the_end_alone_is_one_file(self):
        self.write("plate.ini", PLATE)
        self.kedge("solve", "plate.ini", "-q")
        self.assertEqual(self.files(), ["mid.csv"])  # no table without an output
        said = self.kedge("solve", "plate.ini", "-o", "sub.d.vtkhdf").stdout
        self.assertEqual(self.files(), ["mid.csv", "sub.d.csv", "sub.d.vtkhdf"])
        self.assertIn("\noutput       sub.d.vtkhdf\ntable        sub.d.csv (17 steps)\n", said)

    def test_times_that_are_listed_are_hit_and_so_is_the_end(self):
        self.write("plate.ini", PLATE + "[output]\nfile = plate.hdf\nboundary = edges.hdf\nat = 0.1, 1/3\n")
        said = self.kedge("solve", "plate.ini").stdout
        self.assertEqual(self.series("plate.hdf.series"), {f"plate.000{i}.hdf": t for i, t in ((1, 0.1), (2, 1 / 3), (3, 1))})
        self.assertEqual(list(self.series("edges.hdf.series").values()), [0.1, 1 / 3, 1])
        self.assertIn("\nboundary     edges.hdf.series (3 files, the last edges.0003.hdf)\n", said)
        self.assertNotIn("edges.hdf", self.files())
        self.assertTrue({"0.1", "0.3333333333333333", "1"} < {row["t"] for row in self.table()})

    def test_summary_and_report_tell_of_the_march(self):
        said = self.kedge("solve", "plate.ini", "-r", "r.json", "-s", "time.scheme=esdirk4").stdout
        march = self.json("r.json")["march"]
        self.assertGreater(march.pop("seconds"), 0)
        iterations = march.pop("iterations")
        self.assertGreater(iterations, march["solves"])
        self.assertAlmostEqual(march.pop("step"), 0.05, delta=1e-12)
        self.assertEqual(march, {"scheme": "esdirk4", "t": 1, "end": 1, "steps": 17, "solves": 85, "set_ups": 2,
                                 "remakes": False, "converged": True, "note": "", "rejected": 0, "steady": False,
                                 "change": None})
        self.assertRegex(said, rf"\nmarch        esdirk4, 17 steps to t = 1 of 1: 85 solves, {iterations} iterations, "
                         r"2 set-ups, [0-9.e-]+ s\n\n")
        balance = self.json("r.json")["balance"]
        rest = balance["storage"] + balance["reaction"] - balance["source"] - balance["flux"]
        self.assertGreater(balance["storage"], 0.1)
        self.assertAlmostEqual(rest, balance["remainder"], delta=1e-12)
        self.assertAlmostEqual(balance["remainder"], 0, delta=1e-8)
        self.assertIn(f"\nbalance      storage {balance['storage']:.9g}, source ", said)
        self.kedge("solve", "plate.ini", "-q", "-r", "r.json", "-s", "equation.reaction=t")
        self.assertTrue(self.json("r.json")["march"]["remakes"])

    def test_steps_adapt_and_a_steady_state_ends_the_march(self):
        text = SERIES.replace("step = 0.06", "tolerance = 1e-4").replace("value = 1 + t", "value = 0")
        self.write("plate.ini", text.replace("end = 1", "end = 90\nuntil = steady\nsteady_tolerance = 1e-3")
                   .replace("every = 0.3", "every = 2").replace("source = x*sin(3*t)", "source = 0"))
        said = self.kedge("solve", "plate.ini", "-r", "r.json").stdout
        march = self.json("r.json")["march"]
        self.assertTrue(march["steady"] and march["change"] < 1e-3 and 1 < march["t"] < 6, march)
        self.assertEqual((march["scheme"], march["solves"]), ("esdirk4", 5 * (march["steps"] + march["rejected"])))
        self.assertIn(f"steps to t = {march['t']:.9g} of 90: ", said)
        self.assertRegex(said, r"\n             \(steady: \|u_t\| = [0-9.e-]+\)\n")
        self.assertEqual(list(self.series().values())[-1], march["t"])
        self.assertEqual(float(self.table()[-1]["t"]), march["t"])

    def test_a_note_comes_once_with_its_step(self):
        self.write("plate.ini", SERIES.replace("type = neumann", "type = robin\ncoefficient = -1e-3*(1 + t)"))
        said = self.kedge("solve", "plate.ini", "-r", "r.json").stdout
        self.assertEqual(said.count("robin coefficient"), 1, said)
        self.assertIn("\nnote         step 1, t = 0.06: ", said)
        self.assertRegex(self.json("r.json")["march"]["note"], "^step 1, t = 0.06: .*robin coefficient")

    def test_a_note_that_others_join_later_comes_once(self):
        self.write("disk.ini", "[mesh]\ngenerate = disk 4\n[equation]\nsource = 1\n[boundary default]\ntype = robin\n"
                   "coefficient = 1e-3*(0.35 - t)\nvalue = 0\n[time]\nend = 1\nstep = 0.1\n")
        said = self.kedge("solve", "disk.ini", "-o", "d.vtkhdf").stdout
        self.assertEqual(said.count("the boundary is a polygon"), 1, said)
        self.assertRegex(said, r"note         step 1, t = 0.1: the boundary is a polygon [^;]*; step 4, t = 0.4: on boundary [^;]* negative "
                         "the solution may not be the only one\n")

    def test_probes_and_integrals_without_a_table_are_told_of(self):
        note = "the table of steps needs [output] file or -o: without it probes and integrals have their values at " \
               "the end alone"
        self.write("plate.ini", PLATE)
        said = self.kedge("solve", "plate.ini", "-r", "r.json").stdout
        self.assertIn(f"\nnote         {note}\n", said)
        self.assertEqual(self.json("r.json")["march"]["note"], note)
        self.assertNotIn(note, self.kedge("solve", "plate.ini", "-o", "plate.vtkhdf").stdout)
        self.write("plate.ini", PLATE[:PLATE.index("[integral")])
        self.assertNotIn("note ", self.kedge("solve", "plate.ini").stdout)

    def test_jumps_in_time_without_events_are_told_of(self):
        def notes(*options):
            said = self.kedge("solve", "plate.ini", *options).stdout
            return [line for line in said.splitlines() if "compares t" in line]

        self.write("plate.ini", PLATE[:PLATE.index("[integral")] + "[output]\nfile = p.vtkhdf\n")
        tell = ", and there are no events: a jump inside of a step leaves an error of order 1; give its times as " \
               "events of [time]"
        jumps = ("t < 0.5 ? 1 : 2", "step(t-0.5)*x", "floor(3*t)", "ceil(t+1)", "sign(t-1/3)", "x*(mod(t, 0.2) < 0.1)")
        for place, key in (("[equation] source", "equation.source"), ("[boundary left] value", "boundary left.value"),
                           ("[region domain] reaction", "region domain.reaction")):
            for text in jumps:
                self.assertEqual(notes("-s", f"{key}={text}+2"),
                                 [f"note         step 1, t = 0.0588235294: {place} compares t{tell}"])
        for text in "x < 0.5 ? t : 2*t", "step(y)*sin(t)", "max(t, 0.5)", "x < t", "t + (region == 1)":
            self.assertEqual(notes("-s", f"equation.source={text}"), [])
        self.assertEqual(notes("-s", f"equation.source={jumps[0]}", "-s", "time.events=0.5"), [])

    def test_solves_that_do_not_converge_make_the_exit_code_3(self):
        for output in ((), ("-s", "output.file=")):
            result = self.kedge("solve", "plate.ini", "-q", "-r", "r.json", "-s", "solver.max_iterations=2",
                                "-s", "solver.tolerance=1e-12", *output, code=3)
            self.assertRegex(result.stderr, "^kedge: not converged: step 1, t = 0.06: .*\n$")
            march = self.json("r.json")["march"]
            self.assertEqual((march["converged"], march["t"]), (False, 1))

    def test_names_that_cannot_be_written_are_refused_before_the_march(self):
        def refused(*options, says):
            for command in ("solve", "plan"):
                if "-o" not in options or command == "solve":
                    self.refused(command, "plate.ini", *options, says=says)
            self.assertEqual(self.files(), [])

        long = "n" * 236 + ".hdf"
        says = "the name has no room for their numbers; give a shorter one"
        refused("-o", long, says=f"kedge: cannot write the outputs {long}: {says}")
        refused("-s", f"output.boundary={long}", says=f"kedge: cannot write the outputs {long}: {says}")
        refused("-r", "plate.csv", says="kedge: report and table cannot both be plate.csv")
        refused("-r", "plate.vtkhdf.series", says="kedge: report and list of outputs cannot both be plate.vtkhdf.series")
        refused("-s", "probe mid.output=plate.csv", says="kedge: probe mid and table cannot both be plate.csv")
        of = "has the name of an output of plate.vtkhdf, whose files are numbered; give another name"
        refused("-r", "plate.0001.vtkhdf", says=f"kedge: the report plate.0001.vtkhdf {of}")
        refused("-s", "probe mid.output=./plate.12345.vtkhdf", says=f"the probe mid ./plate.12345.vtkhdf {of}")
        self.refused("solve", "plate.ini", "-q", "--checkpoint", "plate.0003.vtkhdf",
                     says=f"kedge: the checkpoint plate.0003.vtkhdf {of}")
        self.refused("solve", "plate.ini", "-q", "--checkpoint", "e.d.0003.hdf", "-s", "output.boundary=e.d.hdf",
                     says="kedge: the checkpoint e.d.0003.hdf has the name of an output of e.d.hdf")
        self.refused("solve", "plate.ini", "-q", "--resume", "plate.0003.vtkhdf",
                     says=f"kedge: the checkpoint plate.0003.vtkhdf {of}")
        self.assertEqual(self.files(), [])
        for name in "plate.1.vtkhdf", "plate.0001.hdf", "plate.vtkhdf.0001", "plates.0001.vtkhdf", "plate.0000.vtkhdf":
            self.kedge("solve", "plate.ini", "-q", "--checkpoint", name, "-s", "time.step=0.3")
            self.assertEqual(self.files(), sorted([name, "mid.csv", *OUTPUTS, "plate.csv", "plate.vtkhdf.series"]))
            for file in self.files():
                os.remove(self.path(file))
        self.write("plate.csv", "0.5,0.5\n")
        self.refused("solve", "plate.ini", "-s", "probe points.file=plate.csv", "-s", "probe points.output=x.csv",
                     says="kedge: cannot write the table plate.csv: it is the input plate.csv; give another name")
        self.assertEqual(self.content("plate.csv"), b"0.5,0.5\n")
        os.remove(self.path("plate.csv"))
        os.mkdir(self.path("plate.csv"))
        self.refused("solve", "plate.ini", says="kedge: cannot write the table plate.csv: it is a folder")

    def test_an_output_that_fails_ends_the_run_and_leaves_those_before(self):
        self.kedge("solve", "plate.ini", "-q")
        whole = {name: self.content(name) for name in OUTPUTS}
        for name in self.files():
            os.remove(self.path(name))
        os.mkdir(self.path(OUTPUTS[2]))
        said = self.kedge("solve", "plate.ini", "-q", "-r", "r.json", code=1).stderr
        self.assertEqual(said, f"kedge: cannot write the output {OUTPUTS[2]}: it is a folder\n")
        self.assertEqual(self.series(), dict(zip(OUTPUTS, [0.3, 0.6])))
        self.assertEqual([self.content(name) for name in self.series()], [whole[name] for name in OUTPUTS[:2]])
        self.assertEqual(self.table()[-1]["step"], "15")
        report = self.json("r.json")
        self.assertEqual((report["march"]["steps"], report["output"]["written"]), (15, False))
        self.assertEqual(f"kedge: {report['output']['error']}\n", said)
        self.assertNotIn("mid.csv", self.files())

    def test_a_full_disk_ends_the_run_with_a_sentence_and_whole_rows(self):
        def limit(size):
            return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        self.kedge("solve", "plate.ini", "-q")
        rows = self.content("plate.csv")
        for name in self.files():
            os.remove(self.path(name))
        said = self.kedge("solve", "plate.ini", "-q", code=1, preexec_fn=limit(1000)).stderr
        self.assertEqual(said, "kedge: cannot write the table plate.csv: File too large\n")
        self.assertEqual(self.files(), ["plate.csv"])
        kept = self.content("plate.csv")
        self.assertTrue(rows.startswith(kept) and kept.endswith(b"\n"))
        self.assertGreater(len(self.table()), 2)
        said = self.kedge("solve", "plate.ini", "-q", code=1, preexec_fn=limit(10000)).stderr
        self.assertRegex(said, "^kedge: cannot write the output plate.0001.vtkhdf: .*File too large\n$")
        self.assertEqual(self.files(), ["plate.csv"])

    def test_a_run_that_is_killed_leaves_whole_files_and_rows(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            with subprocess.Popen([KEDGE, "solve", "plate.ini", "-q", "-s", "time.step=1e-4", "-s", "output.every=1e-3"],
                                  cwd=self.folder) as process:
                begun = time.monotonic()
                while not os.path.exists(self.path(OUTPUTS[2])) and time.monotonic() < begun + 60:
                    time.sleep(0.01)
                process.send_signal(how)
                self.assertEqual(process.wait(), -how)
            listed = self.series()
            self.assertGreaterEqual(len(listed), 2)
            for name in listed:
                self.assertTrue(self.content(name).startswith(b"\x89HDF"))
            self.assertTrue(self.content("plate.csv").endswith(b"\n"))
            self.assertGreaterEqual(int(self.table()[-1]["step"]), 20)
            if how == signal.SIGTERM:
                self.assertEqual([name for name in self.files() if "partial" in name and name not in left], [])
            left = self.files()
            for name in left:
                if "partial" not in name:
                    os.remove(self.path(name))

    def test_what_fails_on_the_way_says_when(self):
        for key, value, says in (
                ("diffusion", "1-2*t", "diffusion in region 'domain' must be positive, not 0, at t = 0.5"),
                ("source", "1/(t-0.5)", "source is inf at x = .*, in element .*, at t = 0.5; change it so"),
                ("mass", "0.5-t", "mass must be positive, and at x = .* it is 0, .*, at t = 0.5$")):
            said = self.kedge("solve", "plate.ini", "-q", "-s", f"equation.{key}={value}", "-s", "time.step=0.5",
                              "-s", "time.scheme=euler", "-s", "output.every=0.5", code=None)
            self.assertNotEqual(said.returncode, 0)
            self.assertRegex(said.stderr, f"^kedge: .*{says}")
            self.assertEqual(said.stderr.count("t = 0.5"), 1)

    def test_a_march_that_fails_at_its_beginning_leaves_what_was_there(self):
        self.write("plate.csv", "precious\n")
        self.refused("solve", "plate.ini", "-s", "equation.mass=-1", says="mass")
        self.assertEqual(self.content("plate.csv"), b"precious\n")

    def test_a_plan_counts_the_vectors_of_the_march(self):
        said = self.kedge("plan", "plate.ini").stdout
        self.assertRegex(said, r"\nbeside the peak: [0-9.]+ kB for u of steps and stages, [0-9.]+ kB for a solution\n")

    def test_a_plan_counts_steps(self):
        solved = self.kedge("solve", "plate.ini").stdout
        steps = re.search(r"\nmarch +trbdf2, (\d+) steps ", solved)[1]
        said = self.kedge("plan", "plate.ini", "-r", "r.json").stdout
        self.assertRegex(said, rf"\n{steps} steps of at most 0\.\d+\n")
        self.assertEqual(self.json("r.json")["march"]["steps"], int(steps))
        adapting = ("-s", "time.step=", "-s", "time.steps=", "-s", "time.scheme=", "-s", "time.tolerance=1e-3")
        said = self.kedge("plan", "plate.ini", *adapting, "-r", "r.json").stdout
        self.assertIn("\nsteps that adapt\n", said)
        self.assertEqual(self.json("r.json")["march"], {"step": 0, "steps": 0})


if __name__ == "__main__":
    unittest.main(verbosity=1)
