"""Problems that move: mass u_t - div(diffusion grad u) + reaction u = source, step by step."""
from __future__ import annotations

import ctypes
import numbers
import os
import warnings
from functools import cached_property, partial
from operator import attrgetter
from typing import Iterator, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _library as c
from . import tables
from .arguments import named, path_of, shown
from .calls import _caller_level, call, check_failure
from .context import Context, own, refuse_pickle
from .data import Expression, Operators, takes_time
from .errors import InputError, Note, NotConverged, ReadOnly, WrongType, in_python
from .fields import Fields
from .hints import Any, Datum, Mapping, Number, Path, Text
from .mesh import Mesh
from .parameters import Parameters
from .problem import Problem, _name_of
from .solution import Solution
from .solve_data import SolveData
from .solver import Watch, _context, _mesh_and_problem

LENGTHS = ("step", "steps", "tolerance")  # which say how long steps are: one of them does
KEPT = ("time", "initial", "order")  # arguments of a problem that a march has for good


class MarchReport(NamedTuple):
    """What a march has done: members of kedge_marched (include/kedge/march.h).

    step   -- the length of the last step, 0 before the first
    solves -- of the trace system, some a step; iterations -- of all of them
    set_ups -- how often local matrices and preconditioner were made
    remakes -- they are for each solve, as coefficients depend on t: expressions with t, functions with an argument t
    end     -- of the march; seconds -- from its beginning to the end of the last step
    rejected -- steps that did not meet the tolerance, and were made shorter
    change  -- |u_t| in L2, with steady_tolerance, else NaN; is_steady -- it has ended as that is below
    grown_step, grown_t -- where the energy of waves was first seen to have grown by more than came in; 0: it was not
    """

    scheme: str
    t: float
    step: float
    steps: int
    solves: int
    iterations: int
    set_ups: int
    converged: bool
    remakes: bool
    end: float
    seconds: float
    rejected: int
    change: float
    is_steady: bool
    grown_step: int
    grown_t: float


def refuse_gone(solution):
    """Of a solution of a march that is read after the next step."""
    raise InputError(f"the solution at t = {solution.t:.9g} is gone: its march is at t = {solution._march.t:.9g}; read "
                     "what is wanted of a solution before the next step")


class MarchSolution(Solution):
    """The Solution at a time that a march has reached, until its next step.

    It is made when something of it is read for the first time. Arrays that it has returned stay, and as data,
    m.update(diffusion=1 + s**2), its values are copied.

    t       -- the time
    problem -- that of this moment: of a time no more, with t as a parameter
    """

    def __init__(self, march):
        self.mesh, self.context, self.t = march.mesh, march.context, march.t
        self._march, self._count, self._of, self._modes = march, march._count, march.problem, {}

    def __repr__(self):
        return f"<kedge.Solution at t = {self.t:g}{'' if self._is_there else ', gone'}, of {self._march!r}>"

    def _repr_html_(self):
        return tables.of_report(self.report, "kedge.Solution") if self._is_there else tables.table(repr(self), [])

    @property
    def _is_there(self):
        return self._count == self._march._count

    @property
    def handle(self):
        """The library's solution, which it makes where this was not asked for before."""
        if not self._is_there:
            refuse_gone(self)
        handle = ctypes.c_void_p()
        self.context.call("kedge_march_solution", self._march._handle, ctypes.byref(handle))
        return handle

    _raw = cached_property(Solution._raw_report)
    order = property(lambda self: self._raw.order)  # type: ignore[assignment]
    problem = cached_property(lambda self: _at_time(self._of, self.t, self.mesh.info["dimension"]))

    def field(self, name: str) -> Expression:
        """A copy of a field as data of problems on this mesh: "u_star", "u", "qx", "qy", "sigma_x" or "sigma_y"."""
        return Fields.field(self, name)


class March:
    """Is made by kedge.march(). A step is a call, and between steps everything may be looked at and changed:

    for s in m:
        print(s.t, s.groups["wall"].flux)

    It holds its memory, on a GPU the GPU's, until it is deleted with its solutions.
    """

    _begins = False  # whether there is a solution before the first step

    def __init__(self, mesh, problem, context, progress, on_failure, resume):
        self._mesh, self._problem, self.context, self._on_failure = mesh, problem, context, on_failure
        self._built, self._handle = problem.build(context, mesh), ctypes.c_void_p()
        name, path = ("kedge_march_create", []) if resume is None else ("kedge_march_restore", [path_of("resume", resume)])
        call(context, progress, name, context.handle, mesh.handle, self._built.handle, *path, self._handle)
        own(self, context, c.library.kedge_march_destroy, self._handle, mesh, self._built)
        self._count = self.report.steps  # by which solutions know whether they are there
        self._data: Any = None
        self._before: Any = []  # functions that the library may call until an update succeeds
        self._has_failed = False

    __reduce_ex__ = refuse_pickle

    def _refuse(self, _value):
        raise ReadOnly("mesh and problem of a march are not assigned to: update(name=value) changes arguments of the "
                       "problem, and for another mesh another march begins")

    mesh: Mesh = property(attrgetter("_mesh"), _refuse, doc="The Mesh.")  # type: ignore[assignment]
    problem: Problem = property(  # type: ignore[assignment]
        attrgetter("_problem"), _refuse, doc="The Problem, with its time and all updates.")

    def __repr__(self):
        return f"<kedge.March at t = {self.t:g} on {self.context.device}: {self.mesh!r}>"

    @property
    def t(self) -> float:
        """The time that is reached."""
        return c.library.kedge_march_time(self._handle)

    @property
    def ended(self) -> bool:
        """Whether the end is reached."""
        return c.library.kedge_march_ended(self._handle)

    @property
    def report(self) -> MarchReport:
        """A MarchReport of all steps."""
        raw = self._raw_report()
        values = [getattr(raw, name) for name in MarchReport._fields]
        return MarchReport(*(os.fsdecode(value) if isinstance(value, bytes) else value for value in values))

    def _raw_report(self):
        raw = c.Marched(ctypes.sizeof(c.Marched))
        self.context.call("kedge_march_report", self._handle, raw)
        return raw

    @property
    def solution(self) -> MarchSolution:
        """The solution at the time that is reached."""
        if self._count == 0:
            raise InputError("there was no step yet, which alone makes a solution; call step() or run()")
        return MarchSolution(self)

    @named
    def step(self, *, progress: Watch = None) -> MarchSolution:
        """Take one step and return the solution at its end. progress is as of Solver.solve().

        After a step that failed, or that Ctrl-C has ended, the time is that before it, and it may be tried again; of waves
        it may be only where their fields are there (docs/python.md)."""
        with self.context.turn():
            call(self.context, progress, "kedge_march_step", self._handle)
            self._count += 1
        return self._stepped()

    def _stepped(self):
        """The solution of a step."""
        solution = MarchSolution(self)
        if not self._has_failed and not self.report.converged:
            self._has_failed = True
            self._say(solution)
        return solution

    def _say(self, solution):
        """That a solve has not converged: once, as the report of a march knows no more than that."""
        note = in_python(solution._raw.solver_note or b"a solve has ended before its tolerance")
        sentence = f"the step to t = {self.t:.9g}: {note}"
        if self._on_failure == "raise":
            raise NotConverged(sentence, solution)
        warnings.warn(sentence, Note, stacklevel=_caller_level())

    def __iter__(self) -> Iterator[MarchSolution]:
        """The solutions of the steps that are left, of which each is there until the next."""
        while not self.ended:
            yield self.step()

    @named
    def run(self, until: Optional[Number] = None, *, progress: Watch = None) -> MarchSolution:
        """Take steps to a time, left out: to the end, and return the solution there. The last of them ends at that time
        exactly."""
        if until is None:
            while not self.ended:
                self.step(progress=progress)
            return self.solution
        if isinstance(until, (bool, np.bool_)) or not isinstance(until, numbers.Real):
            raise WrongType(f"until is {shown(until)}; it takes a number, the time to march to")
        until = float(until)
        if not np.isfinite(until):
            raise InputError(f"until is {until}; it must be finite")
        same = 2e-12 * self.report.end  # the library takes times that differ by rounding for one: the first is hit
        if until < self.t - same:
            raise InputError(f"until is {until:.9g}, and the march is at t = {self.t:.9g} already; it does not go back")
        if until > self.t + same:
            self.context.call("kedge_march_hit", self._handle, until)
        elif self._count == 0 and not self._begins:
            raise InputError(f"until is {until:.9g}, where the march is, and there is no solution before its first step")
        while not self.ended and self.t < until - same:
            self.step(progress=progress)
        return self.solution

    def update(self, progress: Watch = None, **changes: Any) -> None:
        """Go on with other coefficients, or any other arguments of Problem but time, initial and order.

        They may be made of the solution: update(diffusion=1 + s**2) takes its values now, for all that comes. The next
        step begins anew, as after an event. After an update that fails problem and steps are those before it.
        """
        for name in KEPT:
            if name in changes:
                raise InputError(f"a march keeps its {name}; begin another one by kedge.march(), with "
                                 "initial=m.solution")
        with self.context.turn():
            problem = self._problem._changed(changes)
            before, after = self._problem.settings, problem.settings
            for section, key in sorted(before.keys() - after.keys()):
                raise InputError(f"update() would take {_name_of(section, key)} away, which a march cannot lose: give "
                                 "it a value, in the form that it has, by region or for all, on boundaries as Robin")
            changed = {key: value for key, value in after.items() if before.get(key) is not value}
            with self._built.undone_on_failure():
                self._built.apply(changed)
                self._before.append(self._built.functions)
                call(self.context, progress, "kedge_march_update", self._handle)
            self._before.clear()
            self._problem = problem

    def save(self, path: Path) -> None:
        """Write a file, whole or not at all, from which kedge.march(mesh, problem, ..., resume=path) goes on to the same
        bits. After data() and update() it is refused: a file has no changes on the way."""
        with self.context.turn():
            self.context.call("kedge_march_save", self._handle, path_of("path", path))

    @named
    def data(self, source: Union[Datum, Mapping[str, Datum], None] = None,
             boundary: Optional[Mapping[str, Datum]] = None, *,
             parameters: Optional[Mapping[str, Number]] = None) -> None:
        """Take source, boundary values and parameters as of Solver.solve() from now on, in place of the problem's;
        nothing is set up for them. Without arguments: those of the problem again. Data given before are forgotten. The
        next step begins anew, as after an event.

        An array of the source on the GPU is read there step by step, until other data are given.
        """
        with self.context.turn():
            data = None
            if any(given is not None for given in (source, boundary, parameters)):
                parameters = Parameters(self._problem, parameters)
                data = SolveData(self, source, boundary, None, parameters=parameters)
                parameters.check_used()
            self.context.call("kedge_march_data", self._handle, data and data.raw)
            self._data = data


@named
def march(mesh: Mesh, problem: Problem, initial: Union[Datum, Mapping[str, Datum], None] = None, *, end: Optional[Text] = None,
          step: Optional[Text] = None, steps: Optional[int] = None, scheme: Optional[str] = None,
          tolerance: Optional[Text] = None, events: Optional[Sequence[Text]] = None, steady_tolerance: Optional[Text] = None,
          backend: Union[str, Context] = "auto", device: Optional[int] = None, threads: int = 0,
          progress: Watch = None, on_failure: str = "raise", resume: Optional[Path] = None,
          cfl: Optional[Text] = None) -> Any:
    """Begin a march of mass u_t - div(diffusion grad u) + reaction u = source at t = 0.

    m = kedge.march(mesh, problem, "sin(pi*x)", end=1, step=0.01)
    for s in m: ...                  # or m.step(), m.run(until=0.5)

    initial   -- u at t = 0: a number, an expression or data, as of Problem; left out: exact at 0, else 0
    end       -- where it ends
    step      -- the longest step; or steps, how many of one length there are; or tolerance, the error in L2 of u that a
                 step may have, for steps that adapt
    scheme    -- "euler", "trbdf2" or "esdirk4" (docs/time.md); left out: trbdf2
    events    -- times at which data jump
    steady_tolerance -- |u_t| in L2 below which it ends before; left out: it does not
    on_failure -- of a solve that ends before its tolerance: "raise" NotConverged, or "warn"; the first time
    resume     -- a file of m.save(), to go on where it was saved, to another end too; all else is what it was, which is
                  compared. Of functions a file knows only that they were there

    Of a problem with a system it is a WaveMarch, of waves: initial is {field: number, expression or data}, and of the others
    end, step or steps, and events are left; step is by itself the longest that is stable, times cfl.

    These are keys of [time], and stand in place of Problem(time=..., initial=...), which a problem file has. backend,
    device, threads and progress are as of Solver. Expressions may have t in them, functions of points an argument t.
    """
    check_failure(on_failure)
    _mesh_and_problem(mesh, problem)
    given = {"end": end, "step": step, "steps": steps, "scheme": scheme, "tolerance": tolerance, "events": events,
             "cfl": cfl}
    if steady_tolerance is not None:
        given.update(until="steady", steady_tolerance=steady_tolerance)
    problem = _in_time(problem, initial, {key: value for key, value in given.items() if value is not None})
    kind: Any = March
    if problem._is_wave:
        from .waves import WaveMarch as kind  # which is made of this module
    return kind(mesh, problem, _context(backend, device, threads), progress, on_failure, resume)


def _in_time(problem, initial, given):
    """A problem with keys of time, which stand before its own."""
    own_keys = {key: value for (section, key), value in problem.settings.items()
                if section == "time" or (section, key) in (("output", "every"), ("output", "at"))}
    if not own_keys and "end" not in given:
        lengths = ("", "") if problem._is_wave else (", and step or steps", ", step=0.01")
        raise InputError(f"a march needs its end{lengths[0]}: kedge.march(mesh, problem, initial, end=1{lengths[1]})")
    if any(key in given for key in LENGTHS):
        own_keys = {key: value for key, value in own_keys.items() if key not in LENGTHS}
    if hasattr(initial, "_as_data"):  # fields of waves
        initial = initial._as_data()
    changes = {} if initial is None else {"initial": initial}
    return problem.replace(time={**own_keys, **given}, **changes)


def _at_time(problem, t, dimension):
    """A problem at a time as one that stands: t is a parameter, and functions have theirs."""
    moving = {("initial", "u"), ("output", "every"), ("output", "at")}
    settings = {("parameters", "t"): repr(float(t))}
    for (section, key), value in problem.settings.items():
        if section != "time" and key != "mass" and (section, key) not in moving:
            parts = [partial(part, t=t) if _is_moving(part, dimension) else part
                     for part in (value if isinstance(value, tuple) else (value,))]
            settings[section, key] = tuple(parts) if isinstance(value, tuple) else parts[0]
    made = Problem.__new__(Problem)
    made.__dict__["_settings"] = settings
    return made


def _is_moving(value, dimension):
    return callable(value) and not isinstance(value, Operators) and takes_time(value, dimension)
