"""Two bars touch: copper at 100 degrees and steel at 0, with probes beside the analytic solution.

    contact.py [STEPS]

Until heat reaches their ends, the place where they touch is as warm as their effusivities, sqrt(mass diffusion), say, and
on each side the temperature goes from there by an error function.
"""
import math
import sys

import numpy as np

import kedge

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 40
end = 60  # seconds
copper, steel = {"diffusion": 390, "mass": 3.45e6}, {"diffusion": 45, "mass": 3.7e6}  # W/(m K), J/(m^3 K)

plain = kedge.Mesh.generate("square 20", map=("x - 0.5", "0.05*y"))  # a metre long
middle = plain.points[plain.cells["triangle"], 0].mean(axis=1)
mesh = kedge.Mesh(plain.points, plain.cells, regions=np.where(middle < 0, "copper", "steel"))

problem = kedge.Problem(order=4, boundary={"default": kedge.Neumann()}, **{
    key: {"copper": copper[key], "steel": steel[key]} for key in ("diffusion", "mass")})
places = (-0.15, -0.05, 0, 0.05, 0.15)
probe = kedge.Probe(mesh, places, [0.03] * len(places))
effusivity = [math.sqrt(bar["diffusion"] * bar["mass"]) for bar in (copper, steel)]
contact = 100 * effusivity[0] / sum(effusivity)


def analytic(x, t):
    bar, far = (copper, 100) if x < 0 else (steel, 0)
    return far + (contact - far) * math.erfc(abs(x) / math.sqrt(4 * t * bar["diffusion"] / bar["mass"]))


print(f"contact at {contact:.3f} degrees\n    t  at the probes, and the greatest error")
for s in kedge.march(mesh, problem, lambda x, y: np.where(x < 0, 100.0, 0.0), end=end, steps=steps):
    values = probe.values(s)
    error = max(abs(value - analytic(x, s.t)) for value, x in zip(values, places))
    print(f"{s.t:5.1f}", " ".join(f"{value:7.3f}" for value in values), f" {error:.1e}")
