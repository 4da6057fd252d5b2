"""The equation, its boundary conditions, the space and the solver's settings: the keys of a problem file."""
from __future__ import annotations

import ctypes
import difflib
import inspect
import os
from typing import List, NamedTuple, NoReturn, Optional

import numpy as np

from . import _library as c
from .arguments import by_name, called
from .context import Context, check, context_of, own
from .hints import Any, ByRegion, Datum, Dict, Function, Mapping, Path, Tensor, Text, Tuple, Union
from .mesh import Mesh, _from_section


class Dirichlet(NamedTuple):
    """u = value. None, as below: from the exact solution."""

    value: Optional[Datum] = None


class Neumann(NamedTuple):
    """diffusion grad u . n = value, the flux into the domain."""

    value: Optional[Datum] = 0


class Robin(NamedTuple):
    """diffusion grad u . n + coefficient u = value."""

    coefficient: Text
    value: Optional[Datum] = None


CONDITIONS = {"dirichlet": Dirichlet, "neumann": Neumann, "robin": Robin}

# Keys of a problem file that are one argument of Problem.
ARGUMENTS = {
    ("space", "order"): "order", ("space", "inverse"): "inverse", ("space", "quadrature"): "quadrature",
    ("space", "stabilization"): "stabilization", ("space", "length"): "length",
    ("equation", "diffusion"): "diffusion", ("equation", "reaction"): "reaction", ("equation", "source"): "source",
    ("exact", "u"): "exact", ("exact", "quadrature"): "exact_quadrature",
    ("solver", "operator"): "operator", ("solver", "preconditioner"): "preconditioner",
    ("solver", "smoother"): "smoother", ("solver", "smoothing_steps"): "smoothing_steps",
    ("solver", "precision"): "precision", ("solver", "tolerance"): "tolerance",
    ("solver", "max_iterations"): "max_iterations", ("output", "fields"): "fields",
}
# What every key is called here, as `callable(argument)`; a test compares it with the library's own table.
NAMES = {key: f"Problem({name})" for key, name in ARGUMENTS.items()}
NAMES.update({
    ("mesh", "file"): "Mesh(source)", ("mesh", "generate"): "Mesh.generate(words)",
    ("mesh", "geometry"): "Mesh(geometry)", ("mesh", "map"): "Mesh(map)", ("mesh", "refine"): "Mesh(refine)",
    ("region NAME", "diffusion"): "Problem(diffusion)", ("region NAME", "reaction"): "Problem(reaction)",
    ("region NAME", "source"): "Problem(source)", ("parameters", "NAME"): "Problem(parameters)",
    ("boundary NAME", "type"): "Problem(boundary)", ("boundary NAME", "value"): "Neumann(value)",
    ("boundary NAME", "coefficient"): "Robin(coefficient)", ("output", "file"): "Solution.write(path)",
})


class Problem:
    """-div(diffusion grad u) + reaction u = source, with conditions on the boundary.

    order     -- of the polynomials of u, 1 to 12
    diffusion -- > 0: a number, an expression, three of them for a tensor (xx, xy, yy); or a dict of these by
                 region of the mesh, {"iron": 45, "air": 1}, where "default" stands for all others
    reaction  -- >= 0, a number or an expression, or a dict
    source    -- a number, an expression, a function of arrays f(x, y), or a dict of numbers and expressions
    boundary  -- {group: Dirichlet(...), Neumann(...) or Robin(...)}, "default" for edges of no group; values are
                 numbers, expressions or functions f(x, y)
    exact     -- a known u as an expression, or functions (u, du_dx, du_dy): errors are then in the report, and
                 data that are left out come from it
    parameters -- {name: number} for expressions

    The other arguments are keys of docs/problem-file.md: stabilization, length, inverse and quadrature of [space],
    exact_quadrature of [exact], operator, preconditioner, smoother, smoothing_steps, precision, tolerance and
    max_iterations of [solver], fields of [output] ("full" or "cells").

    Functions get arrays x, y of the same length and return as many values, or one; those with an argument `region`
    or `normal` (arrays n_x, n_y; boundaries alone) get it too. They are called from several threads in turn.
    Expressions are as in problem files, "exp(-x^2)": fast, on the GPU too. A problem does not change: replace()
    makes another.
    """

    def __init__(self, *, order: Optional[int] = None, diffusion: Union[Tensor, ByRegion, None] = None,
                 reaction: Union[Text, Mapping[str, Text], None] = None,
                 source: Union[Datum, Mapping[str, Text], None] = None,
                 boundary: Optional[Mapping[str, Union[Dirichlet, Neumann, Robin]]] = None,
                 exact: Union[str, Tuple[Function, Function, Function], None] = None,
                 parameters: Optional[Mapping[str, Text]] = None, stabilization: Optional[Text] = None,
                 length: Optional[Text] = None, inverse: Optional[str] = None, quadrature: Optional[int] = None,
                 exact_quadrature: Optional[int] = None, operator: Optional[str] = None,
                 preconditioner: Optional[str] = None, smoother: Optional[str] = None,
                 smoothing_steps: Optional[int] = None, precision: Optional[str] = None,
                 tolerance: Optional[Text] = None, max_iterations: Optional[int] = None,
                 fields: Optional[str] = None, **unknown: NoReturn) -> None:
        given = locals()
        for name in unknown:
            _key_of(name)
        self.settings: Dict[Tuple[str, str], Any] = {}
        self._change({name: given[name] for name in [*ARGUMENTS.values(), "boundary", "parameters"]})

    @classmethod
    def read(cls, path: Path, **changes: Any) -> Problem:
        """A problem file; changes are arguments of Problem, which take the place of what it says."""
        context, handle = _checker(), ctypes.c_void_p()
        context.call("kedge_problem_read", context.handle, os.fsencode(path), None, 0, handle)
        try:
            settings = dict(_settings(handle))
            file = c.library.kedge_problem_mesh_file(handle)
        finally:
            c.library.kedge_problem_destroy(handle)
        if file is not None:
            settings["mesh", "file"] = os.path.abspath(os.fsdecode(file))
        problem = cls.__new__(cls)
        problem.settings = settings
        problem._change(changes)
        return problem

    def replace(self, **changes: Any) -> Problem:
        """The same problem with other arguments. Regions and groups that a dict does not name stay as they are; a value
        that is no dict is that of all regions."""
        problem = Problem.__new__(Problem)
        problem.settings = dict(self.settings)
        problem._change(changes)
        return problem

    def write(self, path: Path) -> None:
        """Write a problem file. Functions have no text and are refused."""
        sections: Dict[str, List[str]] = {}
        for (section, key), value in self.settings.items():
            if not isinstance(value, str):
                raise ValueError(f"[{section}] {key} is a function; a problem file holds expressions alone")
            value = value.replace("\n", "\n  ")
            sections.setdefault(section, []).append(f"{key} = {value}\n" if key else "")
        text = "\n".join(f"[{section}]\n{''.join(lines)}" for section, lines in sections.items())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def mesh(self, backend: Union[str, Context] = "auto") -> Mesh:
        """The mesh that a problem file names."""
        context = context_of(backend)
        section = {key: value for (where, key), value in self.settings.items() if where == "mesh"}
        return Mesh._of(context, _from_section(context, section))

    def __repr__(self):
        rows = (f"{section}.{key} = {value}" for (section, key), value in self.settings.items() if key)
        return f"<kedge.Problem: {', '.join(rows)}>"

    def _change(self, changes):
        """Take arguments into the settings, and let the library look at them."""
        for name, value in changes.items():
            if value is None:
                continue
            if name == "boundary":
                self._set_boundary(by_name(name, value, "group", "condition"))
            elif name == "parameters":
                by_name(name, value, "name", "number")
                self.settings.update({("parameters", key): _text(key, number) for key, number in value.items()})
            elif name in ("diffusion", "reaction", "source") and hasattr(value, "items"):
                self._set_regions(name, value)
            else:
                self.settings[_key_of(name)] = setting(name, value)
                if name in ("diffusion", "reaction", "source"):
                    self._leave_regions(name)
        self.build(_checker())

    def _leave_regions(self, name):
        """Values of regions would hide that of all; their sections stay."""
        for section, key in list(self.settings):
            if key == name and section.startswith("region "):
                del self.settings[section, key]
                self.settings[section, ""] = ""

    def _set_regions(self, name, values):
        for region, value in values.items():
            section = f"region {region}"
            if callable(value):
                instead = ": give one function of x, y and region for all" if name == "source" else ""
                raise TypeError(f"{name} of region {region!r} is a function; regions take numbers and "
                                f"expressions{instead}")
            self.settings[section, name] = setting(name, value)

    def _set_boundary(self, boundary):
        for group, condition in boundary.items():
            kind = type(condition).__name__.lower()
            if kind not in CONDITIONS or not isinstance(condition, CONDITIONS[kind]):
                raise TypeError(f"boundary[{group!r}] is {condition!r}; it is a kedge.Dirichlet, Neumann or Robin")
            section = f"boundary {group}"
            for key in ("type", "value", "coefficient"):
                self.settings.pop((section, key), None)
            self.settings[section, "type"] = kind
            for key, value in condition._asdict().items():
                if callable(value) and key == "coefficient":
                    raise TypeError(f"the coefficient of boundary[{group!r}] is a function; it takes numbers and "
                                    "expressions")
                if value is not None:
                    self.settings[section, key] = setting(key, value)

    def build(self, context):
        """The problem as an object of the library in a context; a handle and what must live as long as it."""
        handle = ctypes.c_void_p()
        context.call("kedge_problem_create", context.handle, handle)
        built = _Built(context, handle)
        built.apply(self.settings, self.settings)
        return built


class _Built:
    def __init__(self, context, handle):
        self.context, self.handle, self._functions = context, handle, {}
        own(self, context, c.library.kedge_problem_destroy, handle)

    def apply(self, changed, settings):
        """Set what has changed of a problem's settings: parameters before what uses them."""
        order = {"parameters": 0, "region": 1, "boundary": 2}
        for (section, key), value in sorted(changed.items(), key=lambda item: order.get(item[0][0].split()[0], 3)):
            if isinstance(value, str):
                texts = (text.encode() for text in (section, key, value))
                self.context.call("kedge_problem_set", self.handle, *texts)
            elif section == "equation":
                self.context.call("kedge_problem_set_source", self.handle, self._function(value, key), None)
            elif section == "exact":
                functions = map(self._function, value, ("u of exact", "du_dx of exact", "du_dy of exact"))
                self.context.call("kedge_problem_set_exact", self.handle, *functions, None)
            else:
                kind, group = c.BOUNDARY_TYPES.index(settings[section, "type"]), section.partition(" ")[2]
                self.context.call("kedge_problem_set_boundary", self.handle, group.encode(), kind,
                                  self._function(value, f"boundary[{group!r}]"), None)

    def _function(self, function, name):
        self._functions[name] = callback(function, self.context, name)
        return self._functions[name]


def _view(address, n):
    return np.frombuffer((ctypes.c_double * n).from_address(address))


def callback(function, context, name):
    """A function of arrays as the library calls it, from any of its threads; what it raises ends the solve.

    name -- of the argument that it was given as
    """
    if hasattr(function, "prepare"):  # a solution
        function.prepare()
    try:
        extra = set(inspect.signature(function).parameters) & {"region", "normal"}
    except (TypeError, ValueError):
        extra = set()

    def call(_, points, value):
        at = points.contents
        n = at.n
        result = _view(value, n)
        try:
            if context.failure is not None:
                raise context.failure
            more = {}
            if "region" in extra:
                more["region"] = _view(at.region, n).copy()
            if "normal" in extra:
                if not at.normal_x:
                    raise TypeError("a function with an argument `normal` is for boundaries; elsewhere is no normal")
                more["normal"] = (_view(at.normal_x, n).copy(), _view(at.normal_y, n).copy())
            with context.calling():
                result[:] = called(function, name, n, _view(at.x, n).copy(), _view(at.y, n).copy(), **more)
        except BaseException as failure:
            context.failure = failure
            result[:] = np.nan

    return c.FUNCTION(call)


def _key_of(name):
    for key, argument in ARGUMENTS.items():
        if argument == name:
            return key
    names = [*ARGUMENTS.values(), "boundary", "parameters"]
    near = difflib.get_close_matches(name, names, 1)
    raise TypeError(f"Problem has no argument {name!r}; " +
                    (f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names)}"))


def _text(name, value):
    """A number or an expression as a problem file has it."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if name == "diffusion" and isinstance(value, (tuple, list, np.ndarray)) and len(value) == 3:
        return ", ".join(_text("", part) for part in value)
    what = {"diffusion": "a number, an expression or three of them"}.get(name, "a number or an expression")
    raise TypeError(f"{name} is {value!r}; it takes {what}")


def setting(name, value):
    """Text, or functions where the library takes them."""
    if callable(value) and name in ("source", "value"):
        return value
    if name == "exact" and isinstance(value, tuple):
        if len(value) != 3 or not all(map(callable, value)):
            raise TypeError("exact is an expression, or three functions (u, du_dx, du_dy)")
        return value
    return _text(name, value)


def _settings(handle):
    """Settings of a problem of the library: ((section, key), value)."""
    texts = [ctypes.c_char_p() for _ in range(3)]
    for i in range(c.library.kedge_problem_setting_count(handle)):
        check(c.library.kedge_problem_get_setting(handle, i, *texts), b"")
        section, key, value = (os.fsdecode(text.value or b"") for text in texts)
        yield (section, key), value


_checkers: List[Context] = []


def _checker():
    """A context in which problems are looked at before they are solved."""
    if not _checkers:
        _checkers.append(Context("host", threads=1))
    return _checkers[0]
