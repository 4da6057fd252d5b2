#!/usr/bin/python3
"""check_versions.py SOURCE KEDGE: profiling/versions, with programs that answer in place of two builds."""
import json
import os
import unittest

from experiment import KEDGE, SOURCE, Experiment


class Versions(Experiment):
    program = "versions"

    def command(self, *arguments, **_):
        program = os.path.join(SOURCE, "profiling", self.program)
        return [program, "--backend", "host", "--out", self.folder, *arguments]

    def build(self, name, seconds):
        """A build whose program `operators` says so many seconds of one product."""
        for folder in ("src/cli", "profiling"):
            os.makedirs(os.path.join(self.folder, name, folder))
        os.symlink(KEDGE, os.path.join(self.folder, name, "src/cli/kedge"))
        line = json.dumps({"order": 1, "operator": "trace_apply", "seconds": seconds})
        path = self.write(f"{name}/profiling/operators", f"#!/bin/sh\necho run >>'{self.folder}/{name}/runs'\necho '{line}'\n")
        os.chmod(path, 0o755)
        return os.path.join(self.folder, name)

    def compare(self, a, b, code):
        self.run_program("--a", self.build("a", a), "--b", self.build("b", b), "--runs", "2", "--only", "operators",
                         "--commits", "old", "new", code=code)
        device = next(name for name in os.listdir(self.folder)
                      if os.path.exists(os.path.join(self.folder, name, "versions.json")))
        with open(os.path.join(self.folder, device, "versions.json"), encoding="utf-8") as file:
            return json.load(file)["rows"], self.read(os.path.join(self.folder, device, "versions.md"))

    def test_a_row_that_is_as_fast_passes(self):
        rows, page = self.compare(0.100, 0.102, 0)
        self.assertEqual([(row["row"], row["slower"], row["runs"]) for row in rows], [("trace_apply, P 1", False, 2)])
        self.assertAlmostEqual(rows[0]["ratio"], 1.02)
        self.assertIn("| operators | trace_apply, P 1 | 100 | 102 | 1.020 | 2 |", page)

    def test_a_row_that_is_slower_is_measured_again_and_fails(self):
        rows, page = self.compare(0.100, 0.104, 1)
        self.assertEqual([(row["slower"], row["runs"]) for row in rows], [(True, 4)])
        self.assertIn("1.040 **slower**", page)
        self.assertEqual(len(self.read(os.path.join(self.folder, "b/runs")).split()), 6)

    def test_a_row_of_less_than_ten_milliseconds_may_lose_five_percent(self):
        rows, _ = self.compare(0.005, 0.0052, 0)
        self.assertFalse(rows[0]["slower"])


if __name__ == "__main__":
    unittest.main()
