#!/usr/bin/python3
"""check_versions.py SOURCE KEDGE: profiling/versions, with programs that answer in place of two builds."""
import json
import os
import signal
import subprocess
import time
import unittest

from experiment import KEDGE, SOURCE, Experiment


class Versions(Experiment):
    program = "versions"
    ARGUMENTS = ["--runs", "2", "--only", "operators", "--commits", "old", "new"]

    def command(self, *arguments, **_):
        program = os.path.join(SOURCE, "profiling", self.program)
        return [program, "--backend", "host", "--out", self.folder, *arguments]

    def build(self, name, seconds, then=""):
        """A build whose program `operators` says so many seconds of one product, behind what the shell does first."""
        for folder in ("src/cli", "profiling"):
            os.makedirs(os.path.join(self.folder, name, folder))
        os.symlink(KEDGE, os.path.join(self.folder, name, "src/cli/kedge"))
        line = json.dumps({"order": 1, "operator": "trace_apply", "seconds": seconds})
        path = self.write(f"{name}/profiling/operators", f"#!/bin/sh\necho run >>'{self.folder}/{name}/runs'\n{then}\necho '{line}'\n")
        os.chmod(path, 0o755)
        return os.path.join(self.folder, name)

    def compare(self, a, b, code):
        self.run_program("--a", self.build("a", a), "--b", self.build("b", b), *self.ARGUMENTS, code=code)
        return self.result()["rows"], self.tables()

    def runs(self, name):
        return len(self.read(os.path.join(self.folder, name, "runs")).split())

    def test_a_run_that_is_killed_leaves_its_rows_and_is_gone_on_with(self):
        marker = os.path.join(self.folder, "b/runs")
        builds = ["--a", self.build("a", 0.1), "--b", self.build("b", 0.1, f"[ $(wc -l <'{marker}') != 2 ] || sleep 100")]
        process = subprocess.Popen(self.command(*builds, *self.ARGUMENTS), stdout=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 60
        while (not os.path.exists(marker) or self.runs("b") < 2) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assertFalse(self.result()["complete"])
        self.assertEqual([(row["row"], row["runs"]) for row in self.result()["rows"]], [("trace_apply, P 1", 1)])
        self.assertIn("| 100 | 100 | 1.000 | 1 |", self.tables())
        self.run_program(*builds, *self.ARGUMENTS, "--resume")
        self.assertTrue(self.result()["complete"])
        self.assertEqual([row["runs"] for row in self.result()["rows"]], [2])
        self.assertEqual((self.runs("a"), self.runs("b")), (2, 3))  # the third is that which was killed, again
        self.run_program(*builds, *self.ARGUMENTS, "--resume")
        self.assertEqual((self.runs("a"), self.runs("b")), (2, 3))
        self.run_program(*builds, *self.ARGUMENTS)
        self.assertEqual((self.runs("a"), self.runs("b")), (4, 5))

    def test_a_row_that_is_as_fast_passes(self):
        rows, page = self.compare(0.100, 0.102, 0)
        self.assertEqual([(row["row"], row["slower"], row["runs"]) for row in rows], [("trace_apply, P 1", False, 2)])
        self.assertAlmostEqual(rows[0]["ratio"], 1.02)
        self.assertIn("| operators | trace_apply, P 1 | 100 | 102 | 1.020 | 2 |", page)

    def test_a_part_that_fails_is_named_and_the_others_go_on(self):
        builds = ["--a", self.build("a", 0.1), "--b", self.build("b", 0.1)]
        done = self.run_program(*builds, *self.ARGUMENTS, "--only", "king,operators", code=1)  # there is no program pipeline
        self.assertIn("versions: failed: King 20 x 20, King 40 x 40, King 80 x 80", done.stderr)
        self.assertEqual([(row["part"], row["runs"]) for row in self.result()["rows"]], [("operators", 2)])
        self.assertFalse(self.result()["complete"])

    def test_a_row_that_is_slower_is_measured_again_and_fails(self):
        rows, page = self.compare(0.100, 0.104, 1)
        self.assertEqual([(row["slower"], row["runs"]) for row in rows], [(True, 4)])
        self.assertIn("1.040 **slower**", page)
        self.assertEqual(self.runs("b"), 6)

    def test_a_row_of_less_than_ten_milliseconds_may_lose_five_percent(self):
        rows, _ = self.compare(0.005, 0.0052, 0)
        self.assertFalse(rows[0]["slower"])


if __name__ == "__main__":
    unittest.main()
