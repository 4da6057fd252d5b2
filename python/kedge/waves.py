"""Waves: problems with a system, step by step (docs/waves.md)."""
from __future__ import annotations

import ctypes
import os
import warnings
from functools import cached_property
from typing import Dict, NamedTuple, NoReturn, Optional, Set

import numpy as np

from . import _library as c
from .arguments import encoded, named, path_of, shown
from .calls import _caller_level
from .dlpack import Borrowed, OfHost, on_gpu
from .errors import InputError, Note, NotOfWaves, Unsupported, WrongType, in_python
from .fields import Fields, by_parts
from .hints import Any, Array, Path, Tuple
from .march import March, refuse_gone
from .probe import Probe
from .solution import Stage, stages_of
from .solver import Watch
from .wave_keys import VECTORS


class WaveFields(Fields):
    """Fields of waves on a mesh, by name: those of the system, of order P, and vectors of them, "E", "H" and "v",
    [...][dimension]. What is meant where none is named is "E", in the plane "Ez", of acoustics "p".

    fields -- the names
    """

    fields: Tuple[str, ...] = ()
    _finest = property(lambda self: self.order)
    _default = property(lambda self: next(name for name in ("p", "E", "Ez") if name in self.fields or
                                          self._parts_of(name)))  # type: ignore[assignment]

    @property
    def _names(self):  # type: ignore[override]
        vectors = [name for name in VECTORS if self._parts_of(name)]
        inside = {part for name in vectors for part in self._parts_of(name)}
        return tuple(name for name in self.fields if name not in inside), tuple(vectors)

    def _parts_of(self, field):
        parts = VECTORS.get(field, ()) if isinstance(field, str) else ()
        parts = tuple(part for part in parts if part in self.fields)
        return parts if len(parts) > 1 else None

    def _check_field(self, field):
        if not isinstance(field, str) or field not in self.fields:
            names = (*self.fields, *(name for name in VECTORS if self._parts_of(name)))
            raise InputError(f"there is no field {shown(field)}; fields are {', '.join(names)}")

    def _degree(self, field):
        return self.order

    def _as_data(self):
        """Of a march that begins with these fields."""
        return {field: self.field(field) for field in self.fields}

    @by_parts
    def means(self, field: str) -> Array:
        """The mean of a field over every element, [element]; of vectors [element][dimension]."""
        weight, _, values = self.quadrature(field, points=self.order // 2 + 1)
        return (weight * values).sum(axis=1) / weight.sum(axis=1)

    def __getitem__(self, field: str) -> Array:
        """A field at the nodes of order P: s["Ez"] is s.values("Ez"), kept with s."""
        parts = self._parts_of(field)
        return np.stack([self[part] for part in parts], axis=-1) if parts else self._known(field)[1]

    __iter__ = None  # type: ignore[assignment]  # by numbers, as of a list, there is nothing


# What solutions of elliptic problems have, and what serves here.
INTEGRALS = "sums over s.quadrature(field, on=name) are integrals, and s.energy_of(region) is an energy"
REPORT = "m.report and m.wave_report() of the march have one"
INSTEAD = {"groups": INTEGRALS, "regions": INTEGRALS, "integrals": INTEGRALS, "integrate": INTEGRALS, "report": REPORT,
           "write_report": "m.write_report(path) of the march writes one"}
NOT_THERE = ("u", "u_star", "q", "sigma")  # which a class of all fields has


class WaveSolution(WaveFields):
    """The fields of waves at a time that a march has reached, until its next step. Arrays that it has returned stay.

    s(x, y) is a field at points, s(x, y, "Hx") another, in space s(x, y, z, "Ez"); s["Ez"] its values at nodes,
    [element][node]; s.field("Ez") data of problems, of which operators and NumPy make others.

    t, steps -- the time, and how many steps there were
    order    -- P, of the nodal polynomials
    fields   -- names of the fields
    energy   -- half of the integral of permittivity |E|^2 + permeability |H|^2, or of p^2 / bulk + density |v|^2
    problem  -- of this moment
    """

    def __init__(self, march):
        self.mesh, self.context, self.problem, self.fields = march.mesh, march.context, march.problem, march.fields
        self.t, self.steps, self.order = march.t, march._count, march.order
        self._march, self._count, self._modes = march, march._count, {}

    def __repr__(self):
        there = "" if self._count == self._march._count else ", gone"
        return f"<kedge.WaveSolution at t = {self.t:g}{there}, of {self._march!r}>"

    def _call(self, name, *arguments):
        if self._count != self._march._count:
            refuse_gone(self)
        self.context.call(name, self._march._handle, *arguments)

    def __getattr__(self, name):
        if name in INSTEAD:
            raise NotOfWaves(f"a solution of waves has no {name}: {INSTEAD[name]}")
        return object.__getattribute__(self, name)  # which refuses it

    def __dir__(self):
        return [name for name in super().__dir__() if name not in NOT_THERE]

    def _number(self, name, *arguments):
        value = ctypes.c_double()
        self._call(name, *arguments, value)
        return value.value

    def nodes(self, order: Optional[int] = None) -> Array:
        """Coordinates of the nodes, [element][node][dimension]; order: P where it is left out."""
        order = self._nodes_order(order)
        xy = np.empty(self._shape(order, self.mesh.info["dimension"]))
        self._call("kedge_march_nodes", order, xy.ctypes.data)
        return xy

    def offsets(self, order: Optional[int] = None) -> Array:
        """Where each element begins in arrays over nodes that are flat: [elements + 1] int."""
        elements, nodes = self._shape(self._nodes_order(order))
        return np.arange(elements + 1) * nodes

    @named
    def values(self, field: str, order: Optional[int] = None, *, into: Any = None) -> Any:
        """A field at the equispaced nodes of any order, P where it is left out, in VTK's order.

        into -- an array that is filled, and returned, of the shape [element][node] and float64: of CuPy, PyTorch and
                others on the GPU where the march is, which then takes no way through the host; on the host of NumPy
        """
        parts = self._parts_of(field)
        if parts and into is not None:
            raise InputError(f"{field} is a vector, and into takes one number a node; take its parts: {', '.join(parts)}")
        if parts:
            return np.stack([self.values(part, order) for part in parts], axis=-1)
        self._check_field(field)
        order = self._nodes_order(order)
        if into is None:
            values = np.empty(self._shape(order))
            self._call("kedge_march_values", encoded("field", field), order, values.ctypes.data)
            return values
        there = self.context.backend == "cuda"
        if there and not on_gpu(into):
            raise WrongType("into is no array on a GPU, where the march is")
        borrowed = (Borrowed if there else OfHost)("into", into, self._shape(order), "values at nodes")
        name = "kedge_march_values_device" if there else "kedge_march_values"
        self._call(name, encoded("field", field), order, borrowed.address)
        return into

    @cached_property
    def energy(self) -> float:
        """The energy."""
        energy = self._number("kedge_march_energy")
        self._march._notice()
        return energy

    def energy_of(self, region: Any) -> float:
        """The energy of a region, by its name, else its number."""
        return self._number("kedge_march_energy_of", encoded("region", str(region)))

    @named
    def error(self, field: Optional[str] = None) -> float:
        """The L2 norm of the error of a field against the problem's `exact` at this time; left out: of all that it has,
        together."""
        if field is not None and self._parts_of(field):
            return float(np.linalg.norm([self.error(part) for part in self._parts_of(field)]))
        if field is not None:
            self._check_field(field)
        return self._number("kedge_march_error", None if field is None else encoded("field", field))

    def write(self, path: Path) -> None:
        """Write a VTKHDF file for ParaView and kedge.read(); the path ends in .vtkhdf or .hdf."""
        self._call("kedge_march_write", path_of("path", path))

    @cached_property
    def probes(self) -> Dict[str, Probe]:
        """The probes of the problem by name: s.probes["axis"].values(s, "Ez")."""
        return self._march.probes

    def _put_at(self, probe, field, values):
        if self._count != self._march._count:
            refuse_gone(self)
        self._check_field(field)
        self.context.call("kedge_march_probe_values", self._march._handle, probe._handle, encoded("field", field),
                          values.ctypes.data)


class WaveReport(NamedTuple):
    """What a march of waves is of, and has done beside its MarchReport: members of kedge_wave_report
    (include/kedge/waves.h).

    errors  -- {field: L2 error} of those that the problem's exact has, at the time that is reached
    longest -- step that is stable on every mesh
    stages_done, step_seconds -- evaluations of the right-hand side, five a step, and how long steps took
    speed   -- unknowns times stages over these seconds
    stages  -- {part: Stage(seconds, bytes, flops)}: stage, data, source, probes, output
    kernel  -- of stages: "compiled", for this system and order; "plain: WHY", a slower one of the GPU; "host"
    """

    system: str
    precision: str
    backend: str
    device: str
    order: int
    elements: int
    unknowns: int
    upwind: float
    longest: float
    first_energy: float
    energy: float
    errors: Dict[str, float]
    stages_done: int
    step_seconds: float
    speed: float
    stages: Dict[str, Stage]
    peak_device_bytes: int
    kernel: str


class WaveMarch(March):
    """Is made by kedge.march() of a problem of waves. As a March, and

    fields, order -- of its solutions
    longest       -- the longest step that is stable on every mesh
    """

    _begins = True

    def __init__(self, *arguments):
        super().__init__(*arguments)
        names, self.order = [], c.library.kedge_march_order(self._handle)
        while (name := c.library.kedge_march_field(self._handle, len(names))) is not None:
            names.append(os.fsdecode(name))
        self.fields: Tuple[str, ...] = tuple(names)
        self._said: Set[str] = set()  # notes, each of which is given once
        kernel, _, why = os.fsdecode(c.library.kedge_march_kernel(self._handle)).partition(": ")
        if kernel == "plain":
            self._say_once("kernel", f"stages take the plain kernel of the GPU, which is slower: {why}")
        self._say_notes()

    def _say_notes(self):
        """What the library notes of the problem as it is now."""
        for sentence in filter(None, in_python(c.library.kedge_march_note(self._handle)).split("; ")):
            self._say_once(sentence, sentence)

    def _say_once(self, what, sentence):
        if what not in self._said:
            self._said.add(what)
            warnings.warn(sentence, Note, stacklevel=_caller_level())

    def _notice(self):
        """Say that a step is too long, and that energy has grown."""
        report = self.report
        if report.steps > 0 and report.step > self.longest * (1 + 1e-9):
            self._say_once("step", f"step {report.steps}, t = {report.t:.9g}: steps of {report.step:.4g} are longer than "
                           f"{self.longest:.4g}, the longest that is stable on every mesh")
        if report.grown_step > 0:
            self._say_once("energy", f"step {report.grown_step}, t = {report.grown_t:.9g}: the energy has grown by more "
                           "than came in")

    longest = property(lambda self: c.library.kedge_march_longest(self._handle), doc="The longest step.")

    @property
    def solution(self) -> WaveSolution:  # type: ignore[override]
        """The fields at the time that is reached, before the first step too."""
        return WaveSolution(self)

    @cached_property
    def probes(self) -> Dict[str, Probe]:
        """The probes of the problem by name: m.probes["axis"].values(s, "Ez")."""
        return Probe._all(self.mesh, self.problem.parsed(self.context, self.mesh))

    def _stepped(self):
        solution = WaveSolution(self)
        if self.ended and self.report.step > self.longest * (1 + 1e-9):
            _ = solution.energy  # which looks whether it has grown; the steps before look now and then
        self._notice()
        return solution

    def _raw_wave_report(self):
        raw = c.WaveReport(ctypes.sizeof(c.WaveReport))
        self.context.call("kedge_march_wave_report", self._handle, raw)
        self._notice()
        return raw

    def wave_report(self) -> WaveReport:
        """A WaveReport, for which energy and errors are made."""
        raw = self._raw_wave_report()
        values = {name: getattr(raw, name) for name in WaveReport._fields if hasattr(raw, name)}
        values = {name: os.fsdecode(value) if isinstance(value, bytes) else value for name, value in values.items()}
        values["errors"] = {os.fsdecode(name): error for name, error in zip(raw.fields[:raw.n_fields], raw.errors)
                            if not np.isnan(error)}
        values["stages"] = stages_of(raw)
        done = raw.unknowns * raw.stages_done
        return WaveReport(**values, speed=done / raw.step_seconds if done else 0.0)

    def write_report(self, path: Path) -> None:
        """Write both reports as JSON (docs/report.md)."""
        raw, marched = self._raw_wave_report(), self._raw_report()
        raw.march = ctypes.pointer(marched)
        self.context.call("kedge_wave_report_write", self.context.handle, raw, path_of("path", path))

    def update(self, progress: Watch = None, **changes: Any) -> None:
        """Go on with other materials, sources, boundaries, or any other arguments of Problem but time, initial and order,
        as of a March. After an update that fails problem and steps are those before it."""
        super().update(progress, **changes)
        self._say_notes()

    def data(self, *_arguments: Any, **_more: Any) -> NoReturn:  # type: ignore[override]
        """Of elliptic problems alone: update() changes sources and boundaries of waves."""
        raise Unsupported("waves take other data by update(), as nothing is set up for them")
