#!/usr/bin/python3
"""check_repeats.py SOURCE KEDGE: profiling/repeats on small meshes, by C and by Python."""
import importlib.util
import json
import os
import sys
import unittest

from experiment import KEDGE, Experiment


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class Repeats(Experiment):
    program = "repeats"

    def test_c_and_python_are_measured_in_turns(self):
        self.run_program("--no-build", "--python", sys.executable, "--meshes", "2,4", "--count", "3", "--rounds", "2",
                         "--threads", "1", kedge=KEDGE)
        folder, = (name for name in os.listdir(self.folder) if os.path.exists(os.path.join(self.folder, name, "repeat.json")))
        with open(os.path.join(self.folder, folder, "repeat.json"), encoding="utf-8") as file:
            lines = json.load(file)["lines"]
        self.assertEqual([(line["elements"], line["order"], line["count"]) for line in lines], [(8, 3, 3), (32, 3, 3)])
        for line in lines:
            self.assertEqual(set(line["c"]), {"fresh", "set_up", "again", "over", "update"})
            for kind, ratio in line["ratio"].items():
                self.assertAlmostEqual(ratio, line["python"][kind] / line["c"][kind])
                self.assertGreater(line["c"][kind], 0)

    def test_a_python_without_numpy_is_refused(self):
        done = self.run_program("--no-build", "--python", "/bin/false", kedge=KEDGE, code=1)
        self.assertIn("/bin/false has no NumPy", done.stderr)


if __name__ == "__main__":
    unittest.main()
