"""Source and boundary values of one solve of a solver."""
from __future__ import annotations

import ctypes

from . import _library as c
from .arguments import by_name, encoded, is_by_name, no_such, shown, wanted
from .data import ByRegion, check as check_data, native, same_data
from .dlpack import Borrowed, on_gpu
from .errors import InputError, WrongType
from .problem import CONDITIONS, datum, setting
from .solution import Solution

DATA_BYTES = ctypes.sizeof(c.Data)


class SolveData:
    """Source and boundary values of one solve as kedge_data, and what it points to.

    parameters -- that their texts take, and those of the problem where these are not replaced
    """

    def __init__(self, solver, source, boundary, start, name="source", parameters=None):
        self.kept, self._mesh, context = [], solver.mesh, solver.context
        self._in_time = solver.problem._in_time
        self.raw = raw = c.Data(DATA_BYTES)
        put = parameters.into if parameters else (lambda text: text)
        if parameters:
            settings = solver.problem.settings.items()
            if source is None and any(key == "source" and parameters.change(text) for (_, key), text in settings):
                source = _by_region(solver, name, {}, put)
            boundary = _with_parameters(solver, boundary, parameters)
        if is_by_name(source):
            if not source:
                raise WrongType(f"{name} is an empty dict; name a region, or leave it out")
            source = _by_region(solver, name, source, put)
        elif isinstance(source, str):
            source = put(source)
        if isinstance(source, str):
            raw.source = encoded(name, source)
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
            value.text, value.function, value.user = self._datum(f"boundary[{group!r}]", put(given), context)
        raw.n_values, raw.values = len(values), values

    def _datum(self, name, value, context):
        value = datum(name, value)
        if isinstance(value, str):
            return encoded(name, value), None, None
        check_data(name, value, self._mesh, self._in_time)
        made = native(value, context, name)
        self.kept.append(made)
        return None, ctypes.cast(made.function, ctypes.c_void_p), made.user


def _by_region(solver, name, given, put):
    """A source by region as one: text where all parts are text, else data. Other regions keep the problem's."""
    names, problem = solver.mesh.regions.names, solver.problem.settings
    numbers = sorted(names.values())
    values, known = {}, {}
    for region, value in given.items():
        if region != "default":
            number = _region(name, names, region)
            if number in values:
                raise InputError(f"{name} has region {region!r} twice, by name and by number; keep one of them")
            values[number] = datum(f"{name}[{region!r}]", value)
    sections = {section for section, _ in problem if section.startswith("region ")}
    for section in sections - {"region default"}:
        known[_region(name, names, section[len("region "):])] = section
    rest = datum(f"{name}['default']", given["default"]) if "default" in given else None
    derived = ("exact", "u") in problem and not any(key == "source" for _, key in problem)
    for number in [one for one in numbers if one not in values]:
        if derived and rest is None:
            raise InputError(f"{name} is by region, and that of other regions comes from exact; name all of them, or "
                             "'default'")
        own = problem.get((known.get(number, "region default"), "source"), problem.get(("equation", "source"), "0"))
        values[number] = own if rest is None else rest
    values = {number: put(values[number]) for number in numbers}
    if all(isinstance(value, str) for value in values.values()):
        return _chosen(list(values.items())) if len(set(values.values())) > 1 else next(iter(values.values()))
    return ByRegion(name, solver.mesh, {number: _number(name, value) for number, value in values.items()})


def _region(name, names, region):
    """The number of a region that is given by its name, else by its number. names: {name: number}"""
    region = str(region)
    number = names.get(region, next((one for one in names.values() if str(one) == region), None))
    if number is None:
        raise InputError(no_such(f"{name}: the mesh", "region", region, list(names)))
    return number


def _chosen(parts):
    """Expressions by ascending numbers of regions as one, so balanced that it is not nested deeply."""
    if len(parts) == 1:
        return f"({parts[0][1]})"
    middle = len(parts) // 2
    return f"(region < {parts[middle][0]} ? {_chosen(parts[:middle])} : {_chosen(parts[middle:])})"


def _number(name, value):
    """Text beside data, which is a number."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        raise WrongType(f"{name} is by region, in one {shown(value)} as text and in another a function or data; make "
                        "all of them the one or the other, numbers may be in both, or take update(source=...)"
                        ) from None


def _with_parameters(solver, boundary, parameters):
    """Boundary values, and those of the problem that parameters change where no other is given."""
    groups = [group for group in _boundary_groups(solver.mesh) if group.count]
    given = {} if boundary is None else dict(by_name("boundary", boundary, "group", "value"))
    texts = {section[len("boundary "):]: text for (section, key), text in solver.problem.settings.items()
             if key == "value" and section.startswith("boundary ")}
    sections = {section[len("boundary "):] for section, _ in solver.problem.settings if section.startswith("boundary ")}
    taken = {_group(groups, group) for group in given}
    rest = set(groups) - {_group(groups, section) for section in sections if section != "default"}
    for group, text in texts.items():
        free = "default" not in given and rest - taken if group == "default" else _group(groups, group) not in taken
        if free and parameters.change(text):
            given[group] = text
    return given


def _group(groups, group):
    """The boundary group of this name, else of this number; None: there is none, which the library refuses."""
    return next((one for one in groups if one.name == str(group)), None) or next(
        (one for one in groups if str(one.tag) == str(group)), None)


def _boundary_groups(mesh):
    return [group for group in mesh.groups if group.dimension == mesh.info["dimension"] - 1]


def refuse_own_data(out, made):
    """A solution cannot be overwritten while data are made of it."""
    if any(out.memory in one.memories for several in made for one in several):
        raise InputError("out is a solution of which data of this solve are made; leave it out, or take another")


def _value_of(solver, group, condition):
    """The value of a condition that is of the kind that the solver keeps."""
    if group != "default" and _group(_boundary_groups(solver.mesh), group) is None:
        return 0  # which the library refuses with the nearest name
    kind, name, settings = type(condition).__name__, f"boundary[{group!r}]", solver.problem.settings
    same = [text for at in _boundary_groups(solver.mesh)
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
