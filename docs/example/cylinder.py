"""A wave meets a cylinder: meshes/cylinder.ini beside the series of Bessel functions.

    cylinder.py [OUTER [ORDER]]

The domain ends at the whole number OUTER. One series is that of free space. The other one is that of this domain: its
boundary absorbs plane waves along its normal, and reflects a little of waves that go round as they leave.
"""
import pathlib
import sys

import numpy as np
from scipy.special import h1vp, hankel1, jv, jvp

import kedge

outer = int(sys.argv[1]) if len(sys.argv) > 1 else 3
order = int(sys.argv[2]) if len(sys.argv) > 2 else 3
k, index = 2, 1.5  # the wave number outside, and the root of the permittivity inside


def series(x, y, t, end=None):
    """Ez at points. end: where the domain ends; None: it does not"""
    r, theta, field = np.hypot(x, y), np.arctan2(y, x), 0
    for n in range(-20, 21):
        back = 0
        if end is not None:  # what goes out there has the slope 1j k Ez
            back = -(h1vp(n, k * end) - 1j * hankel1(n, k * end)) / (jvp(n, k * end) - 1j * jv(n, k * end))
        # J + a (H + back J) outside and b J inside meet at r = 1, and so do their slopes.
        a, b = np.linalg.solve([[-hankel1(n, k) - back * jv(n, k), jv(n, index * k)],
                                [-h1vp(n, k) - back * jvp(n, k), index * jvp(n, index * k)]], [jv(n, k), jvp(n, k)])
        outside = (1 + a * back) * jv(n, k * r) + a * hankel1(n, k * np.maximum(r, 1))
        field = field + 1j**n * np.exp(1j * n * theta) * np.where(r < 1, b * jv(n, index * k * r), outside)
    return (field * np.exp(-1j * k * t)).real


path = pathlib.Path(__file__).parents[2] / "meshes/cylinder.ini"
problem = kedge.Problem.read(path, order=order, parameters={"outer": outer})
scale = outer * np.sqrt(np.pi / 12 / np.sin(np.pi / 12))  # as there
mesh = kedge.Mesh.generate(f"disk {4 * outer}", map=(f"{scale}*x", f"{scale}*y"))
end, squares = 18 + 2 * outer, np.zeros(3)
m = kedge.march(mesh, problem, end=end)
for until in end - np.pi / (2 * k), end:  # a quarter of a period, so that no phase of it is missed
    s = m.run(until=until)
    weight, (x, y), ez = s.quadrature("Ez")
    near = weight * (np.hypot(x, y) < 3)
    free, here = series(x, y, s.t), series(x, y, s.t, outer)
    squares += [(near * what**2).sum() for what in (free, ez - free, ez - here)]
print("Ez within r = 3 differs from the series by {:.2%}, from that of this domain by {:.2%}".format(
    *np.sqrt(squares[1:] / squares[0])))
