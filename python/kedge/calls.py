"""Calls that may last: their progress, and what is said where an iteration ended before its tolerance."""
from __future__ import annotations

import functools
import os
import sys
import warnings

from .arguments import shown
from .errors import InputError, Note, NotConverged, WrongType, in_python


def check_failure(on_failure):
    if on_failure not in ("raise", "warn"):
        raise InputError(f'on_failure is {shown(on_failure)}; it is "raise" or "warn"')


def call(context, progress, *call):
    """A call that shows its progress."""
    if progress is None:
        context.call(*call)
        return
    if not (isinstance(progress, bool) or callable(progress)):
        raise WrongType(f"progress is {shown(progress)}; it takes True, or a function of a kedge.Progress")
    line = _Line() if progress is True and _has_lines(sys.stderr) else None
    try:
        context.call(*call, progress=line or (progress if callable(progress) else None))
    finally:
        if line:
            line.clear()


def check_converged(solutions):
    for i, solution in enumerate(solutions):
        report = solution._raw
        if not report.converged:
            place = f"sources[{i}]: " if len(solutions) > 1 else ""
            raise NotConverged(place + in_python(report.solver_note), solution, solutions)


def judge(solutions, on_failure):
    """Solutions of one call, unless one is to be refused."""
    if on_failure == "raise":
        check_converged(solutions)
    for solution in solutions:
        if solution._raw.solver_note:
            warnings.warn(in_python(solution._raw.solver_note), Note, stacklevel=_caller_level())
    return solutions


def _caller_level():
    """Of warnings: how far up the first function is that is not of this package."""
    frame, level, package = sys._getframe(1), 1, os.path.dirname(__file__)
    def is_ours(path):  # or of properties that are kept
        return os.path.dirname(path) == package or path == functools.__file__

    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


def _has_lines(stream):
    """Whether it is a terminal or a notebook, where a line can be written over."""
    if type(stream).__module__.startswith("ipykernel"):
        return True
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


class _Line:
    """Progress on one line of standard error, in a terminal or a notebook."""

    def __call__(self, p):
        residual = f", {p.iteration} iterations, residual {p.relative_residual:.1e}" if p.iteration else ""
        print(f"\r{p.stage} {p.seconds:.1f} s{residual}".ljust(72), end="", file=sys.stderr, flush=True)

    def clear(self):
        print("\r" + " " * 72 + "\r", end="", file=sys.stderr, flush=True)
