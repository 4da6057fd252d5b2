"""A fit: the conductivities of two materials from temperatures that eight gauges have measured.

The gradient of the misfit comes from the adjoint problem, the same one with the misfit at the gauges as its source:
one more solve, whatever the number of materials. Needs scipy.
"""
import pathlib

import numpy as np
from scipy.optimize import minimize

import kedge

mesh = kedge.Mesh(pathlib.Path(__file__).resolve().parents[2] / "meshes/inclusion41.msh")
gauges = [(x, y) for x in (0.3, 0.8, 1.2, 1.7) for y in (0.3, 0.7)]
width = 0.05
# a gauge measures the mean of u, weighed by a bell around its place
bells = [f"exp(-((x - {x})^2 + (y - {y})^2)/{width}^2)/(pi*{width}^2)" for x, y in gauges]

problem = kedge.Problem(order=3, source=0, diffusion={"matrix": 1, "inclusion": 1}, tolerance=1e-11, boundary={
    "inlet": kedge.Neumann(100), "outlet": kedge.Dirichlet(0), "default": kedge.Neumann(0)})
solver = kedge.Solver(mesh, problem)
weight, (x, y) = solver.solve().quadrature()
bell = [np.exp(-((x - gx)**2 + (y - gy)**2) / width**2) / (np.pi * width**2) * weight for gx, gy in gauges]
regions = [mesh.regions == name for name in ("matrix", "inclusion")]


def measure(conductivity):
    solver.update(diffusion=dict(zip(("matrix", "inclusion"), conductivity)))
    s = solver.solve()
    _, _, u, qx, qy = s.quadrature("u", "qx", "qy")
    return np.array([np.sum(one * u) for one in bell]), qx, qy


def misfit(logarithms):
    """Half the sum of squares and its gradient, by the logarithms of the conductivities."""
    conductivity = np.exp(logarithms)
    values, qx, qy = measure(conductivity)
    off = (values - measured) / scale
    adjoint = solver.solve(source=" + ".join(f"{o / scale!r}*{one}" for o, one in zip(off.tolist(), bells)),
                           boundary={"inlet": 0, "outlet": 0, "default": 0})
    _, _, px, py = adjoint.quadrature("qx", "qy")
    product = -weight * (qx * px + qy * py)
    return 0.5 * off @ off, np.array([k * product[region].sum() for k, region in zip(conductivity, regions)])


truth = np.array([2.0, 5.0])
measured = measure(truth)[0]
scale = float(np.linalg.norm(measured))

start = np.zeros(2)
step = np.array([1e-4, 0])
slope = (misfit(start + step)[0] - misfit(start - step)[0]) / 2e-4
print(f"gradient by the adjoint {misfit(start)[1][0]:.6f}, by differences {slope:.6f}")
found = minimize(misfit, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-10})
print(f"found {np.exp(found.x).round(4).tolist()} in {found.nfev} evaluations, measured with {truth.tolist()}")
