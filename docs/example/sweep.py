"""A sweep: a spot of heat is moved over a plate, and the greatest temperature is found for every place.

    sweep.py [PLACES]

The solver is set up once; each place takes another source.
"""
import pathlib
import sys
import time

import numpy as np

import kedge

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
plate = pathlib.Path(__file__).resolve().parents[2] / "meshes/plate.ini"

problem = kedge.Problem.read(plate, order=2)
mesh = problem.mesh()
began = time.perf_counter()
solver = kedge.Solver(mesh, problem)
set_up = time.perf_counter() - began

places = np.linspace(0.1, 2.9, count)
began = time.perf_counter()
hottest = []
for x in places:
    s = solver.solve(source=f"250000*exp(-((x - {x})^2 + (y - 0.2)^2)/0.01)")
    hottest.append(s.u_star.max())
seconds = time.perf_counter() - began

print(f"{mesh.elements} elements on {solver.context.device}")
print(f"set-up {1e3 * set_up:.1f} ms, {count} solves {seconds:.3f} s, {1e3 * seconds / count:.2f} ms each")
print(f"hottest: {max(hottest):.1f} degrees, with the spot at x = {places[np.argmax(hottest)]:.2f}")
