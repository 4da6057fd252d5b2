"""A problem on a mesh, to be solved as often as one likes."""
import ctypes
import os
import sys
import warnings

from . import _library as c
from .context import Context, context_of, refuse_pickle
from .errors import Note, NotConverged
from .solution import Solution


class Solver:
    """Solves a problem on a mesh.

    backend -- "auto" (the GPU when one is usable, else the host), "host", "cuda" or a Context
    device, threads -- as of Context
    """

    def __init__(self, mesh, problem, backend="auto", device=None, threads=0):
        if device is not None or threads:
            backend = Context(backend, device, threads)
        self.context, self.mesh, self.problem = context_of(backend), mesh, problem

    __reduce_ex__ = refuse_pickle

    def __repr__(self):
        return f"<kedge.Solver on {self.context.device}: {self.mesh!r}, {self.problem!r}>"

    def solve(self, source=None, sources=None, *, progress=None, on_failure="raise"):
        """Solve, and return a Solution; for sources, a list of sources, a list of Solutions.

        source     -- as of Problem, instead of that of the problem
        progress   -- True: a line on standard error; or a function of a Progress, which returns False to end the
                      solve with kedge.Cancelled
        on_failure -- of an iteration that ends before its tolerance: "raise" NotConverged, or "warn"

        Ctrl-C ends a solve. Other threads of Python go on meanwhile.
        """
        if on_failure not in ("raise", "warn"):
            raise ValueError(f'on_failure is {on_failure!r}; it is "raise" or "warn"')
        if source is not None and sources is not None:
            raise TypeError("give source or sources, not both")
        if sources is not None:
            return [self.solve(one, progress=progress, on_failure=on_failure) for one in sources]
        problem = self.problem if source is None else self.problem.replace(source=source)
        show = _Line() if progress is True else progress or None
        built, handle = problem.build(self.context), ctypes.c_void_p()
        try:
            self.context.call("kedge_solve", self.context.handle, self.mesh.handle, built.handle, handle,
                              progress=show)
        finally:
            if progress is True:
                show.clear()
        return _judge(Solution(self, problem, built, handle), on_failure)

    def plan(self):
        """What a solve will take, before it: a dict of sizes, bytes of memory, and whether they are there."""
        built, plan = self.problem.build(self.context), c.Plan(ctypes.sizeof(c.Plan))
        self.context.call("kedge_plan_make", self.context.handle, self.mesh.handle, built.handle, plan)
        kind = plan.operator_kind
        names = ("elements", "edges", "vertices", "boundary_edges", "order", "trace_unknowns", "preconditioner",
                 "precision", "smoother", "host_bytes", "free_bytes", "host_free_bytes", "stabilization_length")
        values = {name: getattr(plan, name) for name in names}
        stages = {os.fsdecode(plan.stage_name[i]): plan.stage_bytes[kind][i] for i in range(plan.n_stages)}
        return {**{name: os.fsdecode(v) if isinstance(v, bytes) else v for name, v in values.items()},
                "stage_bytes": stages, "peak_bytes": plan.peak_bytes[kind],
                "needed_bytes": plan.needed_bytes[kind], "fits": plan.fits[kind]}


def _judge(solution, on_failure):
    report = solution.report
    if not report.converged and on_failure == "raise":
        raise NotConverged(report.solver_note, solution)
    if report.solver_note:
        warnings.warn(report.solver_note, Note, stacklevel=3)
    return solution


class _Line:
    """Progress on one line of standard error, in a terminal or a notebook."""

    def __call__(self, p):
        residual = f", {p.iteration} iterations, residual {p.relative_residual:.1e}" if p.iteration else ""
        print(f"\r{p.stage} {p.seconds:.1f} s{residual}".ljust(72), end="", file=sys.stderr, flush=True)

    def clear(self):
        print("\r" + " " * 72 + "\r", end="", file=sys.stderr, flush=True)
