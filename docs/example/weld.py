"""A spot of heat moves over a plate that radiates from its edges: the flux out is RADIATION (u^4 - AIR^4), of kelvins.

    weld.py [STEPS [HOW]]

Between steps the law is replaced by one that is linear in u, made of the solution s that is reached:

    tangent  -- 4 s^3 u - 3 s^4 in place of u^4: of order 2 in the step, as u - s counts squared (left out: this one)
    lagged   -- s^3 u: of order 1
    explicit -- s^4, a flux that is given: of order 1 too, and nothing is set up again
"""
import sys

import kedge

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
how = sys.argv[2] if len(sys.argv) > 2 else "tangent"
RADIATION, AIR = 2e-9, 300.0
air = RADIATION * AIR**4

spot = "20000*exp(-((x - 0.2 - 0.6*t)^2 + (y - 0.7)^2)/0.02)"
conditions = {
    "tangent": lambda s: kedge.Robin(4 * RADIATION * s**3, 3 * RADIATION * s**4 + air),
    "lagged": lambda s: kedge.Robin(RADIATION * s**3, air),
    "explicit": lambda s: kedge.Neumann(air - RADIATION * s**4),
}
first = kedge.Neumann(0) if how == "explicit" else conditions[how](AIR)
problem = kedge.Problem(order=3, diffusion=10, mass=5, source=spot, boundary={"default": first})
m = kedge.march(kedge.square(6), problem, AIR, end=1, steps=steps)
for s in m:
    if s.t in (0.25, 0.5, 0.75, 1):
        print(f"t = {s.t:g}: {s.means('u').max():.4f} K at most, {s(1, 0.7):.4f} K at the edge it moves to, "
              f"{-s.groups['right'].flux:.3f} W out there")
    if m.ended:
        print(f"set up {m.report.set_ups} times")
        break
    change = m.data if how == "explicit" else m.update
    change(boundary={"default": conditions[how](s)})
