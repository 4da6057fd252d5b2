"""A sweep: a spot of heat is moved over a plate, and the greatest temperature is found for every place.

    sweep.py [PLACES [KEDGE [CALLS]]]

The solver is set up once; each place takes another source. With the path of the command KEDGE the time of as many calls
of it is measured too, or of CALLS, 24, and scaled: each reads, sets up, solves and writes what u* is to be taken from.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import kedge

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
plate = pathlib.Path(__file__).resolve().parents[2] / "meshes/plate.ini"
places = np.linspace(0.1, 2.9, count)


def source(x):
    return f"250000*exp(-((x - {x})^2 + (y - 0.2)^2)/0.01)"


problem = kedge.Problem.read(plate, order=2)
mesh = problem.mesh()
began = time.perf_counter()
solver = kedge.Solver(mesh, problem)
set_up = time.perf_counter() - began

began = time.perf_counter()
hottest = []
s = None
for x in places:
    s = solver.solve(source=source(x), out=s)
    hottest.append(s.u_star.max())
seconds = time.perf_counter() - began

print(f"{mesh.elements} elements on {solver.context.device}")
print(f"set-up {1e3 * set_up:.1f} ms, {count} solves {seconds:.3f} s, {1e3 * seconds / count:.2f} ms each")
print(f"hottest: {max(hottest):.1f} degrees, with the spot at x = {places[np.argmax(hottest)]:.2f}")

if len(sys.argv) > 2:
    command = pathlib.Path(sys.argv[2]).resolve()
    calls = min(int(sys.argv[3]) if len(sys.argv) > 3 else 24, count)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        for x in places[:calls]:
            subprocess.run([command, "solve", plate, "--set", "space.order=2", "--set", f"equation.source={source(x)}",
                            "--quiet", "-o", "u.vtkhdf"], cwd=folder, check=True)
        called = (time.perf_counter() - began) / calls * count
    print(f"{count} calls of the command {called:.1f} s{'' if calls == count else f', scaled from {calls}'}: "
          f"{called / (set_up + seconds):.0f} times as long")
