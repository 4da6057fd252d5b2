"""Solves whose solutions nobody reads, and what reading one takes: reading.py BACKEND SQUARES ORDER [COUNT] > reading.json

Medians in milliseconds of COUNT (20) after three: `solve` makes a solution, `over` overwrites one (`out`), `start` begins with
one, `source` has one as its source; `read_GB_s`: s.u of a solution that was just made, into a new array."""
import json
import statistics
import sys
import time

import kedge

backend, squares, order = sys.argv[1], *map(int, sys.argv[2:4])
count = int(sys.argv[4]) if len(sys.argv) > 4 else 20
context = kedge.Context(backend)
mesh = kedge.square(squares, backend=context)
problem = kedge.Problem(order=order, source=1,
                        boundary=dict.fromkeys(("left", "right", "bottom", "top"), kedge.Dirichlet("x")))


def seconds(call):
    began = time.perf_counter()
    made = call()
    return time.perf_counter() - began, made


def median(call):
    return 1e3 * statistics.median([seconds(call)[0] for _ in range(count + 3)][3:])


def rate():
    taken, u = seconds(lambda s=solver.solve(): s.u)
    return 1e-9 * u.nbytes / taken


solver = kedge.Solver(mesh, problem, context)
one = solver.solve()
out = solver.solve()
print(json.dumps({"elements": mesh.elements, "order": order, "solve": median(solver.solve),
                  "over": median(lambda: solver.solve(out=out)), "start": median(lambda: solver.solve(start=one)),
                  "source": median(lambda: solver.solve(one)),
                  "read_GB_s": statistics.median([rate() for _ in range(count + 3)][3:])}))
