#!/usr/bin/python3
"""check_resume.py KEDGE [HURRY | KILLS]: checkpoints of marches: what goes on from them has the bits of a run that was not
ended.

HURRY is the library of hurry.c, with which a minute is over at once. With KILLS nothing else is tested."""
import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

LAST = sys.argv.pop() if len(sys.argv) > 2 else ""
OFTEN = LAST.isdigit()
KILLS = int(LAST) if OFTEN else 9

from command import KEDGE, Command  # noqa: E402 takes the last argument

PLATE = """
[mesh]
generate = square 6
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
step = 2e-3
events = 0.311
[initial]
u = 1
[integral heat]
of = u
[probe mid]
points = 0.5 0.5
[output]
file = plate.vtkhdf
boundary = edges.vtkhdf
every = 0.05
"""
SAVES, GOES_ON = ("--checkpoint", "c.march"), ("--resume", "c.march")


class Resume(Command):
    def setUp(self):
        super().setUp()
        os.remove(self.path("p.ini"))
        self.write("plate.ini", PLATE)

    def contents(self):
        """All results, but the checkpoint."""
        found = {}
        for name in os.listdir(self.folder):
            if name not in ("plate.ini", "c.march") and "partial" not in name:
                with open(self.path(name), "rb") as file:
                    found[name] = file.read()
        return found

    def wait_for(self, name, process):
        """Until a file is there; the process has to be at work so long."""
        while not os.path.exists(self.path(name)):
            self.assertIsNone(process.poll())
            time.sleep(0.001)

    def clear(self):
        for name in os.listdir(self.folder):
            if name != "plate.ini":
                os.remove(self.path(name))

    def whole(self, *options):
        """The results of a run that nobody ends, which are taken away, and the seconds it took."""
        begun = time.monotonic()
        self.kedge("solve", "plate.ini", "-q", *options)
        seconds, found = time.monotonic() - begun, self.contents()
        self.clear()
        return found, seconds

    def assert_same(self, whole):
        found = self.contents()
        self.assertEqual(sorted(found), sorted(whole))
        for name, content in whole.items():
            self.assertEqual(found[name], content, name)

    def assert_goes_on_when_killed(self, *options):
        whole, seconds = self.whole(*options)
        seed = time.time_ns()
        moment = random.Random(seed)
        with self.subTest(seed=seed):
            for _ in range(KILLS // 3):  # of each of three runs
                goes_on = GOES_ON if os.path.exists(self.path("c.march")) else ()
                with subprocess.Popen([KEDGE, "solve", "plate.ini", "-q", *options, *SAVES, *goes_on],
                                      cwd=self.folder) as process:
                    time.sleep(moment.uniform(0, 0.4 * seconds))
                    process.kill()
                    self.assertIn(process.wait(), (-signal.SIGKILL, 0))
                if process.returncode == 0:  # it was too late
                    self.assert_same(whole)
                    self.clear()
            goes_on = GOES_ON if os.path.exists(self.path("c.march")) else ()
            self.kedge("solve", "plate.ini", "-q", *options, *SAVES, *goes_on)
            self.assert_same(whole)
        self.clear()

    def test_what_was_killed_ends_with_the_bits_of_a_run_that_was_not(self):
        for options in (), ("-s", "time.scheme=esdirk4", "-s", "time.step=4e-3"):
            self.assert_goes_on_when_killed(*options)
        self.write("plate.ini", PLATE.replace("step = 2e-3", "tolerance = 1e-7"))
        self.assert_goes_on_when_killed()

    def test_a_signal_saves_the_last_step_and_ends_as_it_would(self):
        for number in signal.SIGTERM, signal.SIGINT:
            with self.subTest(number):
                self.assert_saves_when_asked_to_end(number)
                self.clear()

    def assert_saves_when_asked_to_end(self, number):
        whole, _ = self.whole()
        with subprocess.Popen([KEDGE, "solve", "plate.ini", *SAVES], cwd=self.folder, text=True,
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.wait_for("plate.0003.vtkhdf", process)
            process.send_signal(number)
            said = process.communicate()
            self.assertEqual(process.returncode, -number)
        self.assertRegex(
            said[1], rf"^kedge: ended by {number.name} behind step \d+, t = 0.\d+; --resume c.march goes on\n$")
        self.assertEqual(said[0], "")
        self.assertEqual([name for name in os.listdir(self.folder) if "partial" in name], [])
        said = self.kedge("solve", "plate.ini", *SAVES, *GOES_ON, "-r", "r.json").stdout
        self.assertIn("\ncheckpoint   c.march\n", said)
        self.assertIn("\noutput       plate.vtkhdf.series (20 files, the last plate.0020.vtkhdf)\n"
                      "boundary     edges.vtkhdf.series (20 files, the last edges.0020.vtkhdf)\n"
                      "table        plate.csv (501 steps)\n", said)
        march = self.json("r.json")["march"]
        self.assertEqual((march["steps"], march["solves"], march["t"], march["converged"]), (501, 1002, 1, True))
        os.remove(self.path("r.json"))
        self.assert_same(whole)

    def test_what_was_saved_at_the_end_has_its_summary_again(self):
        self.kedge("solve", "plate.ini", "-q", *SAVES, "-r", "r.json", "-s", "time.step=0.02")
        report, files = self.json("r.json"), self.contents()
        os.remove(self.path("mid.csv"))
        said = self.kedge("solve", "plate.ini", *GOES_ON, "-r", "r.json", "-s", "time.step=0.02").stdout
        again = self.json("r.json")
        for name in "regions", "groups", "integrals":
            self.assertEqual(again[name], report[name])
        self.assertEqual(again["march"]["steps"], report["march"]["steps"])
        self.assertIn("steps to t = 1 of 1", said)
        files.pop("r.json")
        os.remove(self.path("r.json"))
        self.assert_same(files)

    def test_rows_and_lists_go_on_behind_the_checkpoint(self):
        step = ("-s", "time.step=0.01")
        whole, _ = self.whole(*step)
        with subprocess.Popen([KEDGE, "solve", "plate.ini", "-q", *SAVES, *step], cwd=self.folder) as process:
            self.wait_for("c.march", process)
            process.kill()
        with open(self.path("plate.csv"), "ab") as file:
            file.write(b"0.9,90,1,2")  # half a row
        self.kedge("solve", "plate.ini", "-q", *GOES_ON, *step)
        self.assert_same(whole)
        table = whole["plate.csv"].decode().splitlines()
        self.assertEqual([int(row.split(",")[1]) for row in table[1:]], list(range(1, len(table))))
        with open(self.path("plate.csv"), "r+b") as file:
            file.write(b"x")
        self.clear()

    def test_a_march_is_made_longer(self):
        """With the step, as there are outputs, of a run that had that end from its beginning, in all files."""
        whole, _ = self.whole("-s", "time.step=0.01", "-s", "time.end=1.1")
        for ends in ("0.4", "1.1"), ("0.38", "1.1"), ("0.38", "0.72", "1.1"):
            for k, end in enumerate(ends):
                self.kedge("solve", "plate.ini", "-q", "-s", "time.step=0.01", "-s", f"time.end={end}", *SAVES,
                           *(GOES_ON if k > 0 else ()))
            if ends[0] == "0.4":  # one of its outputs
                self.assert_same(whole)
            else:  # those that were ends stay among the files
                lists = json.loads(self.contents()["plate.vtkhdf.series"])["files"]
                self.assertEqual([file["time"] for file in lists if file["time"] < 0.5][-5:], [0.3, 0.35, 0.38, 0.4, 0.45])
                self.assertEqual(lists[-1]["time"], 1.1)
            self.clear()
        self.kedge("solve", "plate.ini", "-q", "-s", "time.end=0.5", *SAVES)
        self.refused("solve", "plate.ini", *GOES_ON, "-s", "time.end=0.4",
                     says="kedge: the checkpoint c.march has reached t = 0.5, and [time] end = 0.4: give a later end")

    def test_what_fits_not_is_refused(self):
        self.refused("solve", "plate.ini", *GOES_ON, says="kedge: cannot open c.march: No such file or directory")
        self.write("c.march", "[mesh]")
        self.refused("solve", "plate.ini", *GOES_ON, says="kedge: c.march is no checkpoint of kedge")
        self.refused("solve", "plate.ini", "--checkpoint", "plate.csv",
                     says="kedge: checkpoint and table cannot both be plate.csv")
        self.refused("solve", "plate.ini", "--checkpoint", "plate.ini",
                     says="kedge: cannot write the checkpoint plate.ini: it is the input plate.ini; give another name")
        self.refused("solve", "plate.ini", "-r", "c.march", *GOES_ON,
                     says="kedge: cannot write the report c.march: it is the input c.march; give another name")
        self.refused("solve", "plate.ini", "--checkpoint", "no/c.march",
                     says="kedge: cannot write the checkpoint no/c.march: no: No such file or directory")
        self.refused("solve", "plate.ini", "--resume", "-", says="give /dev/stdin for standard input")
        self.write("steady.ini", PLATE[:PLATE.index("[time]")].replace("*sin(3*t)", "").replace("1 + t", "1"))
        for option, name in (SAVES, GOES_ON):
            self.refused("solve", "steady.ini", option, name,
                         says=f"kedge: {option} is of problems with [time], and steady.ini has none; leave it out")
        os.remove(self.path("c.march"))
        step = ("-s", "time.step=0.05")
        self.kedge("solve", "plate.ini", "-q", *SAVES, *step)
        self.refused("solve", "plate.ini", *GOES_ON, *step, "-s", "equation.reaction=1",
                     says="kedge: the checkpoint c.march is of another problem: [equation] reaction is not set there, "
                          "and = 1 here")
        self.refused("solve", "plate.ini", *GOES_ON, *step, "-s", "mesh.generate=square 7",
                     says="kedge: the checkpoint c.march is of another mesh: it has 72 elements, and this one 98")

    def test_outputs_of_another_name_begin_at_the_checkpoint_and_a_note_says_so(self):
        step = ("-s", "time.step=0.01")
        with subprocess.Popen([KEDGE, "solve", "plate.ini", "-q", *SAVES, *step], cwd=self.folder) as process:
            self.wait_for("c.march", process)
            process.kill()
        said = self.kedge("solve", "plate.ini", *GOES_ON, *step, "-o", "other.vtkhdf").stdout
        self.assertRegex(said, r"\nnote         there was no other.csv to go on with: it and the series begin at the "
                               r"checkpoint, t = 0.\d+\n")
        said = self.kedge("solve", "plate.ini", *GOES_ON, *step).stdout
        self.assertNotIn("note ", said)

    @unittest.skipIf(OFTEN or not LAST, "the clock is that of the machine")
    def test_without_outputs_a_checkpoint_is_written_each_minute(self):
        self.write("plate.ini", PLATE.replace("every = 0.05\n", "").replace("step = 2e-3", "step = 1e-7"))
        hurry = {**os.environ, "LD_PRELOAD": os.path.abspath(LAST)}
        begun, written = time.monotonic(), []
        with subprocess.Popen([KEDGE, "solve", "plate.ini", "-q", *SAVES], cwd=self.folder, env=hurry) as process:
            while len(written) < 3:
                self.wait_for("c.march", process)
                written.append(time.monotonic() - begun)
                os.rename(self.path("c.march"), self.path("was.march"))
            process.kill()
        for k, moment in enumerate(written):  # the third minute is over in 0.3 seconds
            self.assertGreater(600 * moment, 59 * (k + 1))

    def test_a_table_of_other_columns_is_left_alone(self):
        options = ("solve", "plate.ini", "-q", *SAVES, "-s", "time.step=0.01")
        with subprocess.Popen([KEDGE, *options], cwd=self.folder) as process:
            self.wait_for("c.march", process)
            process.kill()
        table = self.contents()["plate.csv"]
        said = self.kedge(*options, *GOES_ON, "-s", "integral cold.of=1-u", code=2).stderr
        self.assertEqual(said, "kedge: cannot go on with the table plate.csv: it has other columns; take it away, or give "
                               "another output\n")
        self.assertEqual(self.contents()["plate.csv"], table)


if __name__ == "__main__":
    unittest.main(verbosity=1, defaultTest="Resume.test_what_was_killed_ends_with_the_bits_of_a_run_that_was_not"
                  if OFTEN else None)
