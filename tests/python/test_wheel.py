"""The package as pip installs it, around the library of this build: nothing of the folder it came from is needed."""
import os
import subprocess
import sys
import tempfile
import unittest

from support import ROOT

PROGRAM = """
import kedge, pathlib
assert pathlib.Path(kedge.__file__).parts[-3] == "site", kedge.__file__
sides = dict.fromkeys(("left", "right", "bottom", "top"), kedge.Dirichlet())
problem = kedge.Problem(order=3, exact="sin(pi*x)*sin(pi*y)", boundary=sides)
print(kedge.Solver(kedge.square(8), problem, backend="host").solve().report.u_l2 < 1e-4)
"""


class Wheel(unittest.TestCase):
    def test_what_pip_installs_solves_without_the_build(self):
        library = os.path.realpath(os.environ["KEDGE_LIBRARY"])
        free = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KEDGE_LIBRARY")}
        with tempfile.TemporaryDirectory() as folder:
            site = os.path.join(folder, "site")
            pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", "--target", site,
                   "--config-settings", f"cmake.define.KEDGE_LIBRARY={library}", str(ROOT)]
            made = subprocess.run(pip, env=free, cwd=folder, text=True, capture_output=True, check=False)
            said = made.stdout + made.stderr
            if "No module named pip" in said or "No matching distribution found for scikit" in said:
                self.skipTest("no pip here, or no way to the Python Package Index")
            self.assertEqual(made.returncode, 0, said)
            self.assertIn("libkedge.so", os.listdir(os.path.join(site, "kedge")))
            self.assertIn("py.typed", os.listdir(os.path.join(site, "kedge")))
            ran = subprocess.run([sys.executable, "-c", PROGRAM], env={**free, "PYTHONPATH": site}, cwd=folder,
                                 text=True, capture_output=True, check=False)
            self.assertEqual((ran.stdout, ran.stderr), ("True\n", ""))


if __name__ == "__main__":
    unittest.main()
