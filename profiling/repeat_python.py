"""What profiling/repeat.c measures, by the Python package: repeat_python.py BACKEND SQUARES ORDER COUNT > repeat.json

`again` makes each solution, `over` overwrites one (`out`), `fresh` is kedge.solve(), all with another source as text."""
import json
import sys
import time

import kedge

backend, squares, order, count = sys.argv[1], *map(int, sys.argv[2:])
context = kedge.Context(backend)
mesh = kedge.square(squares, backend=context)
sources = [f"sin({1 + 1e-3 * i:g}*x)*y + 1" for i in range(count)]
problem = kedge.Problem(order=order, source=sources[0],
                        boundary=dict.fromkeys(("left", "right", "bottom", "top"), kedge.Dirichlet(0)))


def mean(call, values):
    began = time.perf_counter()
    for value in values:
        call(value)
    return (time.perf_counter() - began) / len(values)


kedge.solve(mesh, problem, context)
fresh = mean(lambda source: kedge.solve(mesh, problem.replace(source=source), context), sources)
solver = kedge.Solver(mesh, problem, context)
out = solver.solve()
print(json.dumps({"fresh": fresh, "again": mean(lambda source: solver.solve(source), sources),
                  "over": mean(lambda source: solver.solve(source, out=out), sources),
                  "update": mean(lambda i: solver.update(diffusion=2 - i % 2), range(count))}))
