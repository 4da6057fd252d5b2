"""Steps of a march of which nothing is read: marching.py BACKEND [--quick] > marching.json

Of each case the median of steps in milliseconds, that of the trace solve of a step's last stage, and `ratio`: a step in times
of its trace solves. `peak` and `predicted` are bytes. `diffusion with t`
is set up for each stage; `small` is a run of many steps from Python, in seconds."""
import json
import statistics
import sys
import time

import kedge

backend, quick = sys.argv[1], "--quick" in sys.argv
context = kedge.Context(backend)
TWO_STAGES = "trbdf2"


def problem(sides, order, **more):
    return kedge.Problem(order=order, source="1 + sin(6*t)*x", preconditioner="multigrid",
                         boundary=dict.fromkeys(sides, kedge.Dirichlet("x*cos(t)")), **more)


def case(name, mesh, sides, order, scheme, step, steps):
    solves = {"euler": 1, "trbdf2": 2, "esdirk4": 5}[scheme]
    march = kedge.march(mesh, problem(sides, order), "x*(1-x)*y*(1-y)", end=step * steps, step=step, scheme=scheme,
                        backend=context)
    march.step()
    march.step()
    times = []
    while not march.ended:
        began = time.perf_counter()
        march.step()
        times.append(1e3 * (time.perf_counter() - began))
    report = march.solution.report
    trace = 1e3 * report.stages["trace_solve"].seconds
    taken = statistics.median(times)
    return {"case": name, "scheme": scheme, "elements": mesh.elements, "order": order, "step_ms": taken, "trace_ms": trace,
            "ratio": taken / (solves * trace), "iterations_a_solve": march.report.iterations / march.report.solves,
            "stages_ms": {key: 1e3 * stage.seconds for key, stage in report.stages.items()},
            "peak": report.peak_device_bytes, "predicted": report.predicted_device_bytes}


PLANE = ("left", "right", "bottom", "top")
SPACE = ("x0", "x1", "y0", "y1", "z0", "z1")
large, cubes = (60, 6) if quick else (707, 24)
cases = [case("triangles", kedge.square(large, backend=context), PLANE, 3, scheme, 1e-3, 12)
         for scheme in ("euler", "trbdf2", "esdirk4")]
cases += [case("quadrilaterals", kedge.quads(large // 2, backend=context), PLANE, 3, TWO_STAGES, 1e-3, 8),
          case("tetrahedra", kedge.Mesh.generate(f"cube {cubes}"), SPACE, 2, TWO_STAGES, 1e-3, 8)]
moving = kedge.march(kedge.square(large // 7), problem(PLANE, 2, diffusion="1 + t*x"), end=0.01, steps=10, backend=context)
moving.step()
began = time.perf_counter()
for s in moving:
    pass
cases.append({"case": "diffusion with t", "scheme": TWO_STAGES, "elements": moving.mesh.elements, "order": 2,
              "step_ms": 1e3 * (time.perf_counter() - began) / 9, "set_ups": moving.report.set_ups})
mesh, steps = kedge.square(20 if quick else 100, backend=context), 50 if quick else 1000
began = time.perf_counter()
small = kedge.march(mesh, problem(PLANE, 2), "x*(1-x)*y*(1-y)", end=1, steps=steps, backend=context)
for s in small:
    pass
cases.append({"case": "small", "scheme": TWO_STAGES, "elements": mesh.elements, "order": 2, "steps": steps,
              "seconds": time.perf_counter() - began,
              "iterations_a_solve": small.report.iterations / small.report.solves})
print(json.dumps({"device": context.device, "cases": cases}, indent=1))
