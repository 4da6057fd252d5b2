"""The equation, its boundary conditions, the space and the solver's settings: the keys of a problem file."""
from __future__ import annotations

import ctypes
import math
import numbers
import os
from contextlib import contextmanager
from types import MappingProxyType
from typing import List, NamedTuple, NoReturn, Optional

import numpy as np

from . import _library as c
from . import tables, wave_keys
from .arguments import by_name, encoded, is_array, is_by_name, no_such, path_of, real, refuse_name, shown
from .context import Context, check, context_of, own
from .data import ByElement, Operators, by_element, check as check_data, moves, native
from .errors import InputError, ReadOnly, WrongType, shown as shown_text
from .hints import Any, ByRegion, Datum, Dict, Function, Mapping, Path, Tensor, Text, Tuple, Union
from .mesh import Mesh, _from_section


class Dirichlet(NamedTuple):
    """u = value. None, as below: from the exact solution."""

    value: Optional[Datum] = None


class Neumann(NamedTuple):
    """diffusion grad u . n = value, the flux into the domain: 0 where it is left out, even with an exact solution."""

    value: Optional[Datum] = 0


class Robin(NamedTuple):
    """diffusion grad u . n + coefficient u = value."""

    coefficient: Datum
    value: Optional[Datum] = None


CONDITIONS = {"dirichlet": Dirichlet, "neumann": Neumann, "robin": Robin}

# Keys of a problem file that are one argument of Problem.
ARGUMENTS = {
    ("space", "order"): "order", ("space", "inverse"): "inverse", ("space", "quadrature"): "quadrature",
    ("space", "stabilization"): "stabilization", ("space", "length"): "length",
    ("equation", "diffusion"): "diffusion", ("equation", "reaction"): "reaction", ("equation", "source"): "source",
    ("equation", "mass"): "mass",
    ("equation", "quadrature"): "equation_quadrature",
    ("exact", "u"): "exact", ("exact", "quadrature"): "exact_quadrature", ("initial", "u"): "initial",
    ("solver", "operator"): "operator", ("solver", "preconditioner"): "preconditioner",
    ("solver", "smoother"): "smoother", ("solver", "smoothing_steps"): "smoothing_steps",
    ("solver", "precision"): "precision", ("solver", "tolerance"): "tolerance",
    ("solver", "max_iterations"): "max_iterations", ("output", "fields"): "fields",
    ("equation", "system"): "system", ("space", "upwind"): "upwind",
    **{("equation", name): name for name in (*wave_keys.PROPERTIES, "current")},
}
# Of which regions of the mesh may have their own.
REGIONAL = ("diffusion", "reaction", "source", "mass", *wave_keys.PROPERTIES, "current")
# Arguments that are dicts of keys.
GROUPS = ("boundary", "parameters", "integrals", "probes", "time")
# What every key is called here, as `callable(argument)`; a test compares it with the library's own table.
NAMES = {key: f"Problem({name})" for key, name in ARGUMENTS.items()}
NAMES.update({
    ("mesh", "file"): "Mesh(source)", ("mesh", "generate"): "Mesh.generate(words)",
    ("mesh", "geometry"): "Mesh(geometry)", ("mesh", "join"): "Mesh(join)", ("mesh", "map"): "Mesh(map)", ("mesh", "refine"): "Mesh(refine)",
    **{("region NAME", name): f"Problem({name})" for name in REGIONAL},
    **{(section, "FIELD"): f"Problem({section.partition(' ')[0]})" for section in ("initial", "exact", "boundary NAME")},
    ("parameters", "NAME"): "Problem(parameters)",
    ("boundary NAME", "type"): "Problem(boundary)", ("boundary NAME", "value"): "Neumann(value)",
    ("boundary NAME", "coefficient"): "Robin(coefficient)", ("output", "file"): "Solution.write(path)",
    ("output", "boundary"): "Solution.write_boundary(path)",
    **{("integral NAME", key): "Problem(integrals)" for key in ("of", "on", "quadrature")},
    **{("probe NAME", key): "Problem(probes)" for key in ("points", "line", "file", "output", "every")},
    **{("time", key): "Problem(time)" for key in ("end", "step", "steps", "tolerance", "scheme", "events", "until",
                                                  "steady_tolerance", "cfl")},
    **{("output", key): "Problem(time)" for key in ("every", "at")},
})


class Problem:
    """-div(diffusion grad u) + reaction u = source, with conditions on the boundary.

    order     -- of the polynomials of u, 1 to 12, in space 1 to 6
    diffusion -- > 0: a number, an expression or data, three of them for a tensor (xx, xy, yy), in space six (xx, xy, xz,
                 yy, yz, zz); or a dict of these by region of the mesh, {"iron": 45, "air": 1}, where "default" stands
                 for all others
    reaction  -- >= 0: a number, an expression or data, or a dict
    source    -- a number, an expression or data, or a dict
    boundary  -- {group: Dirichlet(...), Neumann(...) or Robin(...)}, "default" for all edges that no other key names; values and
                 coefficients are numbers, expressions or data
    exact     -- a known u as an expression, or functions (u, du_dx, du_dy), in space with du_dz: errors are then in the
                 report (u_l2 and others), and data that are left out come from it
    parameters -- {name: number} for expressions
    integrals -- {name: expression}, for Solution.integrals: text with fields, as integrate() of solutions takes it, or
                 the keys of a section [integral NAME] as a dict, {"of": "flux", "on": "wall"}
    probes    -- {name: points}, for Solution.probes: [point][2], in space [point][3], or the keys of a section
                 [probe NAME] as a dict of text, {"line": "0 0.5, 1 0.5, 21"}
    time      -- of a problem that moves, the keys of [time], and every and at of [output], as a dict: {"end": 1,
                 "steps": 50, "events": [0.25]}. Expressions may then have t in them
    initial   -- u at the time 0: a number, an expression or data; left out: exact at 0, else 0

    With a system, "maxwell", "maxwell-tm" or "acoustics", it is a problem of waves (docs/waves.md), and has of these order,
    boundary, parameters, probes and time, precision, and

    permittivity, permeability, conductivity; of acoustics density, bulk -- as diffusion, but no tensors
    current   -- of Maxwell, its density: (jx, jy, jz), in the plane jz; numbers, expressions and functions f(x, y, t), or by
                 region; of acoustics it is source, of volume
    boundary  -- {group: Conductor(Ez=...), Wall(vx=...), Soft(p=...), Absorbing() or Incident(Ez=..., Hy=...)}
    initial, exact -- {field: number, expression or data}: {"Ez": "sin(pi*x)"}; functions f(x, y, t) in exact
    upwind    -- of fluxes, 0 to 1

    The other arguments are keys of docs/problem-file.md: stabilization, length, inverse and quadrature of [space],
    equation_quadrature of [equation], exact_quadrature of [exact], operator, preconditioner, smoother, smoothing_steps, precision, tolerance and
    max_iterations of [solver], fields of [output] ("full" or "cells").

    Data are arrays of one number an element, [element], of a tensor [element][3] or [6], of NumPy or by DLPack, which are
    copied, those of float64 on a GPU there; solutions on the same mesh, and what numbers, operators and functions of NumPy make of them, 1 + s**2; and
    functions f(x, y), in space f(x, y, z).

    Functions get arrays of coordinates of the same length and return as many values, or one; those with an argument
    `region` or `normal` (arrays n_x, n_y; boundaries alone) get it too, and in a problem with a time those with
    an argument `t` that has no value of its own. They are called from several threads in turn.
    Expressions are as in problem files, "exp(-x^2)": fast, on the GPU too. A problem does not change: replace()
    makes another.
    """

    def __init__(self, *, order: Optional[int] = None, diffusion: Union[Tensor, ByRegion, None] = None,
                 reaction: Union[Datum, Mapping[str, Datum], None] = None,
                 source: Union[Datum, Mapping[str, Datum], None] = None,
                 boundary: Optional[Mapping[str, Union[Dirichlet, Neumann, Robin, wave_keys.WaveCondition]]] = None,
                 exact: Union[str, Tuple[Function, ...], Mapping[str, Datum], None] = None,
                 parameters: Optional[Mapping[str, Text]] = None, stabilization: Optional[Text] = None,
                 length: Optional[Text] = None, inverse: Optional[str] = None, quadrature: Optional[int] = None,
                 equation_quadrature: Optional[int] = None, exact_quadrature: Optional[int] = None,
                 operator: Optional[str] = None, preconditioner: Optional[str] = None, smoother: Optional[str] = None,
                 smoothing_steps: Optional[int] = None, precision: Optional[str] = None,
                 tolerance: Optional[Text] = None, max_iterations: Optional[int] = None,
                 fields: Optional[str] = None, integrals: Optional[Mapping[str, Any]] = None,
                 probes: Optional[Mapping[str, Any]] = None,
                 mass: Union[Datum, Mapping[str, Datum], None] = None, time: Optional[Mapping[str, Any]] = None,
                 initial: Union[Datum, Mapping[str, Datum], None] = None, system: Optional[str] = None,
                 upwind: Optional[Text] = None, permittivity: Union[Datum, Mapping[str, Datum], None] = None,
                 permeability: Union[Datum, Mapping[str, Datum], None] = None,
                 conductivity: Union[Datum, Mapping[str, Datum], None] = None,
                 density: Union[Datum, Mapping[str, Datum], None] = None,
                 bulk: Union[Datum, Mapping[str, Datum], None] = None,
                 current: Union[Datum, Tuple[Datum, Datum, Datum], Mapping[str, Any], None] = None, **unknown: NoReturn) -> None:
        given = locals()
        for name in unknown:
            _key_of(name)
        self.__dict__["_settings"] = {}
        names = [*ARGUMENTS.values(), *GROUPS]
        self._change({name: given[name] for name in names if given[name] is not None})
        self.parsed(_checker())

    @classmethod
    def read(cls, path: Path, **changes: Any) -> Problem:
        """A problem file; changes are arguments of Problem, which take the place of what it says."""
        context, handle = _checker(), ctypes.c_void_p()
        context.call("kedge_problem_read", context.handle, path_of("path", path), None, 0, handle)
        try:
            settings = dict(_settings(handle))
            bare = {section for section, key in settings} - {section for section, key in settings if key}
            settings = {(section, key): value for (section, key), value in settings.items() if key or section in bare}
            file = c.library.kedge_problem_mesh_file(handle)
            for i in range(c.library.kedge_problem_probe_count(handle)):
                points = c.library.kedge_problem_probe_file(handle, i)
                if points is not None:
                    name = os.fsdecode(c.library.kedge_problem_probe_name(handle, i))
                    settings[_section("probe", name), "file"] = os.path.abspath(os.fsdecode(points))
        finally:
            c.library.kedge_problem_destroy(handle)
        if file is not None:
            settings["mesh", "file"] = os.path.abspath(os.fsdecode(file))
        problem = cls.__new__(cls)
        problem.__dict__["_settings"] = settings
        problem._change(changes)
        problem.parsed(_checker())
        return problem

    def replace(self, **changes: Any) -> Problem:
        """The same problem with other arguments, None: their defaults. Regions and groups that a dict does not name stay as
        they are; a value that is no dict is that of all regions."""
        problem = self._changed(changes)
        problem.parsed(_checker())
        return problem

    def _changed(self, changes):
        """What replace() returns, before the library looks at it."""
        problem = Problem.__new__(Problem)
        problem.__dict__["_settings"] = dict(self._settings)
        problem._change(changes)
        return problem

    def write(self, path: Path) -> None:
        """Write a problem file, which read() takes back as it was. What has no text there is refused: functions, and
        names with ']' or ' #', for which the numbers of groups stand."""
        for (section, key), value in self.settings.items():
            if not isinstance(value, str):
                raise InputError(f"[{section}] {key} is a function, an array or made of solutions; a problem file holds "
                                 "expressions as text alone")
        built = self.parsed(_checker())
        built.context.call("kedge_problem_write", built.handle, path_of("path", path))

    def mesh(self, backend: Union[str, Context] = "auto") -> Mesh:
        """The mesh that a problem file names."""
        context = context_of(backend)
        section = {key: value for (where, key), value in self.settings.items() if where == "mesh"}
        parameters = [(key, value) for (where, key), value in self.settings.items() if where == "parameters" and key]
        return Mesh._of(context, _from_section(context, section, parameters))

    def _on(self, words, context):
        """For plans: the problem with these words for its mesh, or its own, and None; or, where functions or arrays may ask
        for elements, the mesh."""
        problem = self
        if words is not None:
            problem = Problem.__new__(Problem)
            settings = {key: value for key, value in self._settings.items() if key[0] != "mesh"}
            problem.__dict__["_settings"] = {**settings, ("mesh", "generate"): words}
        is_text = all(isinstance(value, str) for value in problem._settings.values())
        return problem, None if is_text else problem.mesh(context)

    def __repr__(self):
        rows = (f"{section}.{key} = {value}" for (section, key), value in self.settings.items() if key)
        return shown_text(f"<kedge.Problem: {', '.join(rows)}>")

    def _repr_html_(self):
        return tables.of_problem(self)

    def _change(self, changes):
        """Take arguments into the settings."""
        system = changes.get("system", self._settings.get(("equation", "system")))
        for name, value in changes.items():
            if (name in ("initial", "exact") and value is not None and not is_by_name(value) and
                    isinstance(system, str) and system in wave_keys.FIRST):
                raise WrongType(f"{name} of waves takes fields by name: {name}={{{wave_keys.FIRST[system]!r}: ...}}")
            if name == "boundary":
                self._set_boundary(by_name(name, value, "group", "condition"))
            elif name == "parameters":
                for key, number in by_name(name, value, "name", "number").items():
                    if not isinstance(key, str):
                        raise WrongType(f"parameters has the name {key!r}; names are text")
                    _finite(f"parameters[{key!r}]", number)
                    self._settings["parameters", key] = _text(key, number)
            elif name == "integrals":
                self._set_integrals(by_name(name, value, "name", "expression"))
            elif name == "probes":
                self._set_probes(by_name(name, value, "name", "points"))
            elif name == "time":
                self._set_time(value)
            elif name in REGIONAL and is_by_name(value):
                self._set_regions(name, value)
            elif name in ("initial", "exact") and is_by_name(value):
                self._set_fields(name, value)
            else:
                if name in ("initial", "exact"):
                    self._set_fields(name, {})
                if value is None:
                    self._settings.pop(_key_of(name), None)
                else:
                    self._settings[_key_of(name)] = setting(name, value)
                if name in REGIONAL:
                    self._leave_regions(name)

    def _set_fields(self, name, fields):
        """Fields of waves in place of all that a section has."""
        for field in ("u", *wave_keys.FIELDS):
            self._settings.pop((name, field), None)
        for field, value in fields.items():
            if field in wave_keys.VECTORS:
                raise InputError(f"{name} has no field {field!r}; give its parts, those of "
                                 f"{', '.join(wave_keys.VECTORS[field])} that the system has")
            if field not in wave_keys.FIELDS:
                raise InputError(no_such(name, "field", str(field), wave_keys.FIELDS))
            _finite(f"{name}[{field!r}]", value)
            self._settings[name, field] = setting(field, value)

    def _leave_regions(self, name):
        """Values of regions would hide that of all; their sections stay."""
        for section, key in list(self.settings):
            if key == name and section.startswith("region "):
                del self._settings[section, key]
                self._settings[section, ""] = ""

    def _set_regions(self, name, values):
        for region, value in values.items():
            section = _section("region", region)
            _finite(f"{name}[{region!r}]", value)
            self._settings[section, name] = setting(name, value)

    def _set_integrals(self, integrals):
        for name, given in integrals.items():
            section, called = _section("integral", name), f"integrals[{name!r}]"
            keys = dict(given) if is_by_name(given) else {"of": given}
            if keys.get("of") is None:
                raise InputError(f"{called} has no expression; add 'of': 'u', for example")
            for key in ("of", "on", "quadrature"):
                self._settings.pop((section, key), None)
            for key, value in keys.items():
                if not isinstance(key, str):
                    raise WrongType(f"{called} has the key {shown(key)}; keys are text")
                if value is not None:
                    self._settings[section, key] = _text(called if key == "of" else f"{key} of {called}", value)

    def _set_probes(self, probes):
        for name, points in probes.items():
            section = _section("probe", name)
            if not is_by_name(points):
                points = real(f"probes[{name!r}]", points)
                if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) == 0:
                    raise InputError(f"probes[{name!r}] has the shape {points.shape}; it takes points, [n][2], in "
                                     "space [n][3], or a dict of keys")
                points = {"points": ", ".join(" ".join(map(repr, point)) for point in points.tolist())}
            for key in ("points", "line", "file", "output", "every"):
                self._settings.pop((section, key), None)
            for key, value in points.items():
                if key == "every":
                    value = _text(f"every of probes[{name!r}]", value)
                if not isinstance(key, str) or not isinstance(value, (str, os.PathLike)):
                    raise WrongType(f"probes[{name!r}] has {shown(key)}: {shown(value)}; keys and values are text")
                self._settings[section, key] = os.fspath(value)

    def _set_time(self, given):
        """Keys of time in place of those that are there; None: a problem that stands."""
        keys = [at for at, argument in NAMES.items() if argument == "Problem(time)"]
        for at in keys:
            self._settings.pop(at, None)
        given = {} if given is None else by_name("time", given, "key", "value")
        for key, value in given.items():
            at = next((at for at in keys if at[1] == key), None)
            if at is None:
                raise InputError(no_such("time", "key", str(key), [name for _, name in keys]))
            if isinstance(value, (list, tuple)) or is_array(value):
                value = ", ".join(_text(f"{key} of time", one) for one in value)
            if value is not None:
                self._settings[at] = _text(f"{key} of time", value)

    @property
    def _is_wave(self):
        return self._settings.get(("equation", "system"), "elliptic") != "elliptic"

    @property
    def _in_time(self):
        return any(section == "time" for section, _ in self._settings)

    def _set_boundary(self, boundary):
        for group, condition in boundary.items():
            kind = type(condition).__name__.lower()
            if not isinstance(condition, (*CONDITIONS.values(), wave_keys.WaveCondition)):
                more = ", of waves a kedge.Conductor, Wall, Soft, Absorbing or Incident" if self._is_wave else ""
                raise WrongType(f"boundary[{group!r}] is {shown(condition)}; it is a kedge.Dirichlet, Neumann or Robin{more}")
            section = _section("boundary", group)
            for key in ("type", "value", "coefficient", *wave_keys.FIELDS):
                self._settings.pop((section, key), None)
            self._settings[section, "type"] = kind
            given = condition.fields if isinstance(condition, wave_keys.WaveCondition) else condition._asdict()
            for key, value in given.items():
                if value is not None:
                    _finite(_name_of(section, key), value)
                    self._settings[section, key] = setting(key, value)

    @property
    def settings(self) -> Mapping[Tuple[str, str], Any]:
        """What is set: {(section, key): text or data}, as in a problem file. It is read-only."""
        return MappingProxyType(self._settings)

    def __setattr__(self, name, value=None):
        raise ReadOnly(f"a problem does not change; problem.replace({name}=...) makes another")

    __delattr__ = __setattr__

    def __getstate__(self):
        return {"_settings": self._settings}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def parsed(self, context, mesh=None):
        """As build(), for who changes nothing: of a problem that is all text the one that was looked at, which is of no
        context."""
        if not all(isinstance(value, str) for value in self._settings.values()):
            return self.build(context, mesh)
        if "_parsed" not in self.__dict__:
            self.__dict__["_parsed"] = self.build(_checker())
        return self._parsed

    def build(self, context, mesh=None):
        """The problem as an object of the library in a context; a handle and what must live as long as it."""
        handle = ctypes.c_void_p()
        context.call("kedge_problem_create", context.handle, handle)
        built = _Built(context, handle, mesh)
        built.apply(self._settings)
        return built


class _Built:
    """A problem of the library. functions: what it calls, by setting; solutions keep those that they call."""

    def __init__(self, context, handle, mesh):
        self.context, self.handle, self.mesh, self.functions, self.in_time = context, handle, mesh, {}, False
        self.is_wave = False
        own(self, context, c.library.kedge_problem_destroy, handle)

    def apply(self, changed):
        """Set what has changed of a problem's settings, all or nothing: the library looks at parameters first."""
        self.is_wave = self.is_wave or changed.get(("equation", "system"), "elliptic") != "elliptic"
        self.in_time = self.in_time or any(section == "time" for section, _ in changed)
        order = {"equation system": 0, "parameters": 1, "region": 2, "boundary": 3}
        changed = sorted(changed.items(), key=lambda item: order.get(" ".join(item[0]), order.get(
            item[0][0].partition(" ")[0], 4)))
        settings, functions = (c.Setting * len(changed))(), {}
        for one, ((section, key), value) in zip(settings, changed):
            one.section, one.key = encoded("a section", section), encoded("a name", key)
            if isinstance(value, str):
                one.value, functions[section, key] = encoded(ARGUMENTS.get((section, key)) or _name_of(section, key), value), None
                continue
            made = functions[section, key] = self._made(section, key, value)
            for i, part in enumerate(made):
                one.function[i], one.user[i] = ctypes.cast(part.function, ctypes.c_void_p), part.user
        self.context.call("kedge_problem_set_all", self.handle, len(changed), settings)
        self.functions = {at: made for at, made in {**self.functions, **functions}.items() if made}

    @contextmanager
    def undone_on_failure(self):
        """Changes that what comes within fails to take are undone."""
        copy, state = ctypes.c_void_p(), (self.functions, self.is_wave, self.in_time)
        self.context.call("kedge_problem_create", self.context.handle, copy)
        try:
            self.context.call("kedge_problem_assign", copy, self.handle)
            try:
                yield
            except BaseException:
                c.library.kedge_problem_assign(self.handle, copy)
                self.functions, self.is_wave, self.in_time = state
                raise
        finally:
            c.library.kedge_problem_destroy(copy)

    def _made(self, section, key, value):
        """Data of a setting as functions for the library: one, or those of a tensor or gradient."""
        name = ARGUMENTS.get((section, key)) or _name_of(section, key)
        if self.mesh is not None:
            check_data(name, value, self.mesh, self.in_time)
            if self.is_wave and key in wave_keys.PROPERTIES and moves(value, self.mesh.info["dimension"]):
                raise InputError(f"{name}: the function has an argument t, and materials of waves do not move in time; "
                                 f"m.update({key}=...) changes them between steps")
        n = self.mesh.elements if self.mesh is not None else 1
        parts = [ByElement(np.full(n, float(part))) if isinstance(part, numbers.Real) else part
                 for part in (value if isinstance(value, tuple) else (value,))]
        exact = ("u of exact", "du_dx of exact", "du_dy of exact", "du_dz of exact")
        names = exact if key == "u" and section == "exact" else (name,) * len(parts)
        there = section == "equation" and not self.is_wave
        return [native(part, self.context, name, there) for part, name in zip(parts, names)]


def _section(word, group):
    """The section of a group, as the library has it."""
    return f"{word} {str(group).strip(_BLANKS)}"


_BLANKS = " \t\n\v\f\r"


def _lines(text):
    """Text of a value as a problem file gives it back."""
    return "\n".join(line.strip(" \t\r") for line in text.split("\n")).rstrip("\n").lstrip("\n")


def _name_of(section, key):
    """What a setting was given as."""
    word, _, group = section.partition(" ")
    if word == "boundary" and key in wave_keys.FIELDS:
        return f"{key} of boundary[{group!r}]"
    if word == "boundary":
        return f"boundary[{group!r}]" if key == "value" else f"the coefficient of boundary[{group!r}]"
    if word == "integral":
        return f"integrals[{group!r}]" if key == "of" else f"{key} of integrals[{group!r}]"
    if word in ("initial", "exact") and key in wave_keys.FIELDS:
        return f"{word}[{key!r}]"
    return f"{key} of {word} {group!r}" if word in ("region", "probe") else key


def _key_of(name):
    for key, argument in ARGUMENTS.items():
        if argument == name:
            return key
    refuse_name("Problem", name, [*ARGUMENTS.values(), *GROUPS])


def _finite(name, value):
    """Refuse a number that is not finite."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, numbers.Real) and not math.isfinite(value):
        raise InputError(f"{name} is {float(value)}; it must be finite")


def _text(name, value):
    """A number or an expression as a problem file has it."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, str):
        return _lines(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        _finite(name, value)
        return repr(float(value))
    if name in TENSORS and isinstance(value, (tuple, list)) and len(value) in TENSORS[name]:
        return ", ".join(_text(f"a part of {name}", part) for part in value)
    what = {"diffusion": "a number, an expression or three of them, in space six",
            "current": "a number, an expression or three of them: jx, jy, jz"}.get(name, "a number or an expression")
    more = ", or np.array() of a list of one number an element" if name in DATA and isinstance(value, list) else ""
    raise WrongType(f"{name} is {shown(value)}; it takes {what}{more}")


TENSORS = {"diffusion": (3, 6), "current": (3,)}  # how many parts there may be
DATA = (*REGIONAL, "value", "coefficient", "initial", *wave_keys.FIELDS)


def setting(name, value):
    """Text, or data where the library takes functions."""
    if name in DATA:
        return datum(name, value)
    if name == "exact" and (isinstance(value, tuple) or callable(value)):
        if callable(value) or len(value) not in (3, 4) or not all(map(callable, value)):
            raise WrongType("exact is an expression, or three functions (u, du_dx, du_dy), in space four with du_dz")
        return value
    return _text(name, value)


def datum(name, value):
    """Text, an array of one number an element, an expression of solutions, or a function."""
    if isinstance(value, str):
        return _lines(value)
    if isinstance(value, Operators):
        return value.expression()
    if is_array(value):
        return by_element(name, value)
    if callable(value):
        return value
    if name in TENSORS and isinstance(value, (tuple, list)) and len(value) in TENSORS[name]:
        parts = [part if isinstance(part, numbers.Real) else datum(f"a part of {name}", part) for part in value]
        if any(not isinstance(part, (str, numbers.Real)) for part in parts):
            if any(isinstance(part, str) for part in parts):
                what = "a tensor" if name == "diffusion" else "made"
                raise WrongType(f"{name} is {what} of expressions as text and of data; make all of "
                                "them the one or the other, numbers may be in both")
            return tuple(parts)
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
