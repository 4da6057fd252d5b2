"""A thermostat: a heater is on below 20.5 degrees at a sensor, until that has 21.5, in a room that loses heat to the cold.

    thermostat.py [HOURS]
"""
import sys

import kedge

hours = float(sys.argv[1]) if len(sys.argv) > 1 else 12
mesh = kedge.Mesh.generate("square 8", map=("4*x", "3*y"))  # metres; times are hours, temperatures degrees
problem = kedge.Problem(
    order=3, diffusion=4, mass=1,  # of air that mixes
    parameters={"power": 0}, source="power*exp(-((x - 0.4)^2 + (y - 0.4)^2)/0.1)",
    boundary={"right": kedge.Robin(0.5, "0.5*(5 - 5*sin(pi*t/12))"), "default": kedge.Neumann()})  # a window
m = kedge.march(mesh, problem, 18, end=hours, step=0.05)
is_on, switched, heated = False, 0, 0.0
for s in m:
    before, sensor = is_on, s(2.5, 2)
    heated += m.report.step * is_on
    is_on = sensor < 20.5 or (is_on and sensor < 21.5)
    if is_on != before:
        m.data(parameters={"power": 400 * is_on})
        switched += 1
        print(f"{s.t:5.2f} h: {sensor:.2f} degrees, heater {'on' if is_on else 'off'}")
print(f"switched {switched} times, on for {heated:.2f} h; set up {m.report.set_ups} times")
