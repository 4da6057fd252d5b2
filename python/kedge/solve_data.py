"""Source and boundary values of one solve of a solver."""
from __future__ import annotations

import ctypes

from . import _library as c
from .arguments import by_name, encoded, is_by_name, shown, wanted
from .data import check as check_data, native, same_data
from .dlpack import Borrowed, on_gpu
from .errors import InputError, WrongType
from .problem import CONDITIONS, datum, setting
from .solution import Solution

DATA_BYTES = ctypes.sizeof(c.Data)


class SolveData:
    """Source and boundary values of one solve as kedge_data, and what it points to."""

    def __init__(self, solver, source, boundary, start, name="source"):
        self.kept, self._mesh, context = [], solver.mesh, solver.context
        self.raw = raw = c.Data(DATA_BYTES)
        if isinstance(source, str):
            raw.source = encoded(name, source)
        elif is_by_name(source):
            raise WrongType(f"{name} of a solve is a number, an expression or a function of x, y and region; "
                            "by region it belongs to the problem")
        elif on_gpu(source) and context.backend == "cuda":
            self.borrowed = Borrowed(name, source, (self._mesh.elements,), "one number an element")
            raw.source_by_element = self.borrowed.address
        elif source is not None:
            raw.source, raw.source_function, raw.source_user = self._datum(name, source, context)
        if start is not None:
            raw.start = wanted("start", start, Solution).handle
        if boundary is None:
            return
        values = (c.BoundaryValue * len(by_name("boundary", boundary, "group", "value")))()
        for value, (group, given) in zip(values, boundary.items()):
            if isinstance(given, tuple(CONDITIONS.values())):
                given = _value_of(solver, group, given)
            value.group = encoded("a group of boundary", str(group))
            value.text, value.function, value.user = self._datum(f"boundary[{group!r}]", given, context)
        raw.n_values, raw.values = len(values), values

    def _datum(self, name, value, context):
        value = datum(name, value)
        if isinstance(value, str):
            return encoded(name, value), None, None
        check_data(name, value, self._mesh)
        made = native(value, context, name)
        self.kept.append(made)
        return None, ctypes.cast(made.function, ctypes.c_void_p), made.user


def refuse_own_data(out, made):
    """A solution cannot be overwritten while data are made of it."""
    if any(out.memory in one.memories for several in made for one in several):
        raise InputError("out is a solution of which data of this solve are made; leave it out, or take another")


def _value_of(solver, group, condition):
    """The value of a condition that is of the kind that the solver keeps."""
    kind, name, settings = type(condition).__name__, f"boundary[{group!r}]", solver.problem.settings
    same = [text for at in solver.mesh.groups if at.dimension == 1
            for text in (at.name, str(at.tag)) if group in (at.name, at.tag, str(at.tag))]
    section = next((f"boundary {text}" for text in [group, *same] if (f"boundary {text}", "type") in settings),
                   "boundary default")
    kept = settings.get((section, "type"), kind.lower())
    if kept != kind.lower():
        raise WrongType(f"{name} is a kedge.{kind}, and the solver keeps kedge.{CONDITIONS[kept].__name__} there; "
                        "update(boundary=...) changes kinds of conditions")
    if kept == "robin" and not same_data(setting("coefficient", condition.coefficient), settings.get((section, "coefficient"))):
        raise WrongType(f"{name} has the coefficient {shown(condition.coefficient)}, and the solver keeps "
                        f"{shown(settings.get((section, 'coefficient')))}; update(boundary=...) changes coefficients")
    if condition.value is None:
        raise WrongType(f"{name} has no value; give one, or leave the group out to keep that of the problem")
    return condition.value
