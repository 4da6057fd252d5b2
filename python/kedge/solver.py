"""A problem on a mesh, solved once or many times."""
from __future__ import annotations

import ctypes
import os
from operator import attrgetter
from typing import Iterable, List, Optional, overload

import numpy as np

from . import _library as c
from .arguments import by_name, is_by_name, named, package, real, shown, wanted
from .calls import call, check_failure, judge
from .context import Context, Progress, context_of, own, refuse_pickle
from .errors import InputError, ReadOnly, Unsupported, WrongType
from .hints import Any, Array, ArrayLike, Callable, Datum, Dict, Mapping, Number, Tuple, Union
from .mesh import Mesh
from .data import same_data
from .dlpack import Borrowed, OfHost, like, on_gpu
from .operators import inverse, mass, on_unknowns
from .parameters import Parameters
from .problem import Problem
from .solution import Solution
from .solve_data import SolveData, refuse_own_data


Watch = Union[bool, Callable[[Progress], Any], None]
FILLED = ("u", "u_star", "qx", "qy")  # fields that arrays of the caller are filled with


class Solver:
    """Is set up once: memory, local matrices and preconditioner stay; then solve() takes any source and any
    boundary values. It holds its memory, on a GPU the GPU's, until it is deleted.

    backend -- "auto" (the GPU when one is usable, else the host), "host", "cuda" or a Context
    device, threads -- as of Context
    progress        -- of the set-up, as of solve()
    """

    @named
    def __init__(self, mesh: Mesh, problem: Problem, backend: Union[str, Context] = "auto",
                 device: Optional[int] = None, threads: int = 0, progress: Watch = None) -> None:
        self._mesh, self._problem = _mesh_and_problem(mesh, problem)
        self.context = _context(backend, device, threads)
        self._set_up: Optional[_SetUp] = _SetUp(self.context, mesh, problem, progress)

    __reduce_ex__ = refuse_pickle

    def _refuse(self, _value):
        raise ReadOnly("mesh and problem of a solver are not assigned to: update(name=value) changes arguments of the problem, "
                       "and a kedge.Solver is made for another mesh")

    mesh: Mesh = property(attrgetter("_mesh"), _refuse, doc="The Mesh.")  # type: ignore[assignment]
    problem: Problem = property(attrgetter("_problem"), _refuse, doc="The Problem, with all updates.")  # type: ignore[assignment]

    def __repr__(self):
        return f"<kedge.Solver on {self.context.device}: {self.mesh!r}, {self.problem!r}>"

    def update(self, progress: Watch = None, **changes: Any) -> None:
        """Take other coefficients, or any other arguments of Problem, in the memory that is there.

        After an update that fails the problem is the one before, and the next solve or update sets up anew.
        """
        with self.context.turn():  # no solve comes in between
            self._update(progress, changes)

    def _update(self, progress, changes):
        problem = self._problem._changed(changes)
        before, after = self._problem.settings, problem.settings
        if not before.keys() <= after.keys():
            self._set_up = None  # what a problem of the library has been given it cannot lose
        changed = {key: value for key, value in after.items() if not same_data(before.get(key), value)}
        set_up = self._set_up
        try:
            if set_up is None:
                set_up = _SetUp(self.context, self.mesh, problem, progress)
            else:
                set_up.built.apply(changed)
                call(self.context, progress, "kedge_solver_update", set_up.handle)
        except BaseException:
            self._set_up = set_up = None  # it is of no problem now; nor does the exception keep its memory
            raise
        self._problem, self._set_up = problem, set_up

    def _ready(self, progress):
        if self._set_up is None:
            self._set_up = _SetUp(self.context, self.mesh, self.problem, progress)
        return self._set_up

    @overload
    def solve(self, source: Union[Datum, Mapping[str, Datum], None] = None,
              boundary: Optional[Mapping[str, Datum]] = None, *, start: Optional[Solution] = None,
              sources: None = None, out: Optional[Solution] = None,
              into: Optional[Mapping[str, Any]] = None, parameters: Optional[Mapping[str, Number]] = None,
              progress: Watch = None, on_failure: str = "raise") -> Solution: ...

    @overload
    def solve(self, source: None = None, boundary: Optional[Mapping[str, Datum]] = None, *,
              start: Optional[Solution] = None, sources: Iterable[Union[Datum, Mapping[str, Datum]]],
              parameters: Optional[Mapping[str, Number]] = None, progress: Watch = None,
              on_failure: str = "raise") -> List[Solution]: ...

    @named
    def solve(self, source=None, boundary=None, *, start=None, sources=None, out=None, into=None, parameters=None,
              progress=None, on_failure="raise"):
        """Solve, and return a Solution; for sources, a list of sources, a list of Solutions.

        source     -- a number, an expression or data, as of Problem, instead of the problem's; of one number an element
                      that is on the GPU, of float64, nothing takes a way through the host. Or a dict of these by
                      region, where "default" stands for all that it does not name; without it they keep the problem's
        boundary   -- {group: value} instead of the problem's values; the kinds of conditions stay: a condition of the
                      same kind may be given for its value
        start      -- a Solution that is near: the iteration begins with its trace
        sources    -- in place of source: a GPU solves four at once on straight triangles up to order 6, without `start`,
                      and asks functions twice for their values; otherwise they are solved one by one
        out        -- a Solution of this solver that is overwritten and returned: no memory is taken. Arrays that it has
                      returned stay. After a failure it is empty. It may be `start` too, but no solution of which data
                      of this solve, of a solver or of another solution are made
        into       -- {field: array}: arrays on the GPU (of CuPy, PyTorch, ...; on the host of NumPy) that are filled with
                      values at nodes as s.u has them, and take no way through the host: "u", "u_star", and on straight
                      triangles with coefficients that are constant in each "qx" and "qy"; not in space. shape(field) is
                      their shape
        parameters -- {name: number} instead of the problem's values, in sources and boundary values, its own and given
                      ones; one that anything else is made of is refused, and update() changes it
        progress   -- True: a line on standard error, where that is a terminal or a notebook; or a function of a Progress,
                      which returns False to end the solve with kedge.Cancelled
        on_failure -- of an iteration that ends before its tolerance: "raise" NotConverged, or "warn"

        Ctrl-C ends a solve. Other threads of Python go on meanwhile.
        """
        if sources is not None:
            if source is not None:
                raise WrongType("give source or sources, not both")
            if out is not None:
                raise WrongType("out takes one solution; several sources make their own")
            if into is not None:
                raise WrongType("into takes arrays for one solution; solve for one source after the other")
            if isinstance(sources, str) or is_by_name(sources) or not hasattr(sources, "__iter__"):
                raise WrongType(f"sources is {shown(sources)}; it takes a list of numbers, expressions or functions")
            if getattr(sources, "shape", None) == (self.mesh.elements,):
                raise WrongType("sources is one array of one number an element; it takes a list of such arrays")
            return self._solve_many(list(sources), boundary, start, parameters, progress, on_failure)
        check_failure(on_failure)
        with self.context.turn():  # problem, data and solutions stay as they are, whatever other threads want of them
            out = self._solve_one(source, boundary, start, out, into, parameters, progress)
        return judge([out], on_failure)[0]

    def _solve_one(self, source, boundary, start, out, into, parameters, progress):
        parameters = Parameters(self._problem, parameters)
        data = SolveData(self, source, boundary, start, parameters=parameters)
        parameters.check_used()
        set_up, problem = self._ready(progress), parameters.problem(self._problem)
        if out is not None:
            if wanted("out", out, Solution)._built is not set_up.built:
                raise InputError("out is a solution that this solver has not made, or one from before an update that failed or took "
                                 "an argument away")
            refuse_own_data(out, [*set_up.built.functions.values(), data.kept])
        if into is not None:
            self._fill(data, by_name("into", into, "field", "array"))
        if out is None:
            handle = ctypes.c_void_p()
            call(self.context, progress, "kedge_solver_solve", set_up.handle, data.raw, handle)
            return Solution(self._mesh, problem, self.context, handle, set_up.built)
        with out.memory.overwriting():
            call(self.context, progress, "kedge_solver_solve", set_up.handle, data.raw, out.handle)
        out._take_again(problem, set_up.built)
        return out

    def shape(self, field: str = "u_star") -> Tuple[int, ...]:
        """The shape of arrays that solve(into={field: array}) fills: [element][node], or [node] on meshes of both shapes."""
        if field not in FILLED:
            raise InputError(f"field is {field!r}; a solve fills arrays with {', '.join(FILLED)}")
        order = self._report(self._ready(None)).order + (field == "u_star")
        n, wide = self.mesh.elements, self.mesh.info["quadrilaterals"]
        if self.mesh.info["dimension"] == 3:
            return n, (order + 1) * (order + 2) * (order + 3) // 6
        of_triangle, of_wide = (order + 1) * (order + 2) // 2, (order + 1) ** 2
        if 0 < wide < n:
            return ((n - wide) * of_triangle + wide * of_wide,)
        return n, of_wide if wide else of_triangle

    def _fill(self, data, into):
        """Have the solve of these data fill arrays."""
        if self.mesh.info["dimension"] == 3:  # where no array is the right one
            raise Unsupported("into: values on the device are of plane meshes so far: take them from the solution")
        borrow, order = Borrowed if self.context.backend == "cuda" else OfHost, self._report(self._ready(None)).order
        values, kept = (c.DeviceValues * len(into))(), []
        for value, (field, array) in zip(values, into.items()):
            name = f"into[{field!r}]"
            if field not in FILLED:
                raise InputError(f"{name} is no field that a solve fills arrays with; these are {', '.join(FILLED)}")
            if borrow is Borrowed and not on_gpu(array):
                raise WrongType(f"{name} is no array on a GPU, where the solver is")
            kept.append(borrow(name, array, self.shape(field), "values at nodes"))
            value.field, value.order, value.values = c.FIELDS.index(field), order + (field == "u_star"), kept[-1].address
        data.raw.n_device, data.raw.device, data.filled = len(into), values, kept

    def _solve_many(self, sources, boundary, start, parameters, progress, on_failure):
        check_failure(on_failure)
        if not sources:
            return []
        with self.context.turn():
            solutions = self._solve_all(sources, boundary, start, parameters, progress)
        return judge(solutions, on_failure)

    def _solve_all(self, sources, boundary, start, parameters, progress):
        parameters = Parameters(self._problem, parameters)
        data = [SolveData(self, source, boundary, start, f"sources[{i}]", parameters)
                for i, source in enumerate(sources)]
        parameters.check_used()
        pointers = (ctypes.POINTER(c.Data) * len(data))(*(ctypes.pointer(one.raw) for one in data))
        handles = (ctypes.c_void_p * len(data))()
        set_up, problem = self._ready(progress), parameters.problem(self.problem)
        call(self.context, progress, "kedge_solver_solve_many", set_up.handle, len(data), pointers, handles)
        return [Solution(self.mesh, problem, self.context, ctypes.c_void_p(handle), set_up.built) for handle in handles]

    @property
    def edges(self) -> Array:
        """The edges with unknowns, ascending: rows of s.trace(). Those that have Dirichlet values are left out.

        The unknowns of a solution s are s.trace()[1][solver.edges].ravel(): edge by edge P + 1 modes. In space they are
        faces, with (P + 1)(P + 2)/2 modes.
        """
        set_up = self._ready(None)
        report = self._report(set_up)
        modes = report.order + 1 if self.mesh.info["dimension"] == 2 else (report.order + 1) * (report.order + 2) // 2
        edges = np.empty(report.trace_unknowns // modes, np.int32)
        self.context.call("kedge_solver_edges", set_up.handle, edges.ctypes.data)
        return edges

    @named
    def rhs(self, source: Optional[Datum] = None, boundary: Optional[Mapping[str, Datum]] = None, *,
            out: Any = None) -> Any:
        """b of the trace system A x = b, [unknown]; arguments as of solve(). Dirichlet values have been moved to it.

        out -- an array of float64 that is filled and returned, on the GPU where the solver is there, else of NumPy
        """
        data, set_up = SolveData(self, source, boundary, None), self._ready(None)
        there = out is not None and self.context.backend == "cuda"
        if out is None:
            out = np.empty(self._unknowns(set_up))
        filled = self._there("out", out, set_up) if there else OfHost("out", out, (self._unknowns(set_up),))
        self.context.call("kedge_solver_rhs" + "_device" * there, set_up.handle, data.raw, filled.address)
        return out

    def apply(self, x: Any, out: Any = None) -> Any:
        """A x, for an array [unknown]. A is symmetric and positive definite; with precision="compact" it is refused.

        An array on the GPU (of CuPy, PyTorch or whoever shares by DLPack), of float64 and contiguous, is multiplied
        there: the result is a new array of its package, or out, which may be x. It is ready when apply() returns; what
        makes x need not be.
        """
        return self._multiply("kedge_solver_apply", "x", x, out)

    def precondition(self, r: Any, out: Any = None) -> Any:
        """M r, for an array [unknown], with the preconditioner of the solver's own iterations: M is about the inverse
        of A, and symmetric and positive definite. Arrays on the GPU are as of apply(); precision="compact" is refused.

        Multigrid is symmetric to single precision alone where that is its precision ("mixed"), coefficients vary or
        elements are no straight triangles.
        """
        return self._multiply("kedge_solver_precondition", "r", r, out)

    def _multiply(self, function, name, x, out):
        if on_gpu(x):
            return self._multiply_there(function, name, x, out)
        if out is not None:
            raise WrongType(f"out goes with an array {name} on a GPU")
        x = real(name, x, None)
        if np.iscomplexobj(x):
            real_part, imaginary = (self._multiply(function, name, part, None) for part in (np.real(x), np.imag(x)))
            return real_part + 1j * imaginary
        set_up = self._ready(None)
        x = self._vector(name, x, set_up)
        y = np.empty_like(x)
        self.context.call(function, set_up.handle, x.ctypes.data, y.ctypes.data)
        return y

    def _multiply_there(self, function, name, x, out):
        set_up = self._ready(None)
        a = self._there(name, x, set_up)
        out = like(name, x) if out is None else out
        self.context.call(function + "_device", set_up.handle, a.address, self._there("out", out, set_up).address)
        return out

    def _there(self, name, array, set_up):
        """Unknowns on the GPU, which this solver has to be on too."""
        if not on_gpu(array):
            raise WrongType(f"{name} is no array on a GPU")
        if self.context.backend != "cuda":
            raise InputError(f"{name} is an array on a GPU, and this solver is on the host; copy it, or make the solver with "
                             'backend="cuda"')
        return Borrowed(name, array, (self._unknowns(set_up),))

    @property
    def operator(self) -> Any:
        """A as a scipy.sparse.linalg.LinearOperator, for iterations and eigenvalues.

        On a GPU also for those of cupyx.scipy.sparse.linalg: its matvec() takes arrays there as apply() does.
        """
        return on_unknowns("operator", self._unknowns(self._ready(None)), self.apply)

    @property
    def preconditioner(self) -> Any:
        """M of precondition() as a scipy.sparse.linalg.LinearOperator: cg(solver.operator, b, M=solver.preconditioner),
        also for lobpcg, and on a GPU as `operator`."""
        return on_unknowns("preconditioner", self._unknowns(self._ready(None)), self.precondition)

    @property
    def inverse(self) -> Any:
        """The inverse of the problem's operator as a scipy.sparse.linalg.LinearOperator K: from a source to u, both by
        values at nodes as s.u.ravel() has them, where all boundary values are 0.

        mass @ K is symmetric, to the tolerance: for eigenvalues take one near rounding, 1e-13 on coarse meshes, 1e-11
        on fine ones. A solve that ends before it is NotConverged. Several columns are solved as solve(sources=...) does.
        Notes of these solves are not shown.
        """
        return inverse(self)

    @property
    def mass(self) -> Any:
        """The mass matrix of values at nodes: f @ mass @ g is the integral of f g, of f and g as s.u.ravel().

        A scipy.sparse.bsr_matrix whose data are its blocks, [element][node][node]; on meshes of both shapes a
        csr_matrix, whose blocks begin at s.offsets(). Blocks are exact, on curves too.
        """
        return mass(self.mesh, self._order())

    def matrix(self) -> Any:
        """A as a scipy.sparse.csr_matrix, for small problems."""
        sparse = package("scipy.sparse", "Solver.matrix", "SciPy")
        set_up, handle = self._ready(None), ctypes.c_void_p()
        self.context.call("kedge_solver_matrix", set_up.handle, handle)
        try:
            raw = ctypes.cast(handle, ctypes.POINTER(c.Matrix)).contents
            begin = np.ctypeslib.as_array(raw.begin, (raw.rows + 1,)).copy()
            column, value = (np.ctypeslib.as_array(array, (begin[-1],)).copy() for array in (raw.column, raw.value))
        finally:
            c.library.kedge_matrix_destroy(handle)
        return sparse.csr_matrix((value, column, begin), (len(begin) - 1, len(begin) - 1))

    @named
    def recover(self, trace: ArrayLike, source: Optional[Datum] = None,
                boundary: Optional[Mapping[str, Datum]] = None, *, progress: Watch = None) -> Solution:
        """The Solution of a trace that was found otherwise, an array [unknown], on a GPU of float64;
        report.relative_residual is that of it.

        source, boundary, progress -- as of solve()
        """
        with self.context.turn():
            data, set_up, handle = SolveData(self, source, boundary, None), self._ready(progress), ctypes.c_void_p()
            there = on_gpu(trace) and self.context.backend == "cuda"
            x = (self._there if there else self._vector)("trace", trace, set_up)
            call(self.context, progress, "kedge_solver_recover" + "_device" * there, set_up.handle, data.raw,
                 x.address if there else x.ctypes.data, handle)
            solution = Solution(self.mesh, self.problem, self.context, handle, set_up.built)
        return judge([solution], "warn")[0]

    def _report(self, set_up):
        raw = c.Report(ctypes.sizeof(c.Report))
        self.context.call("kedge_solver_report", set_up.handle, raw)
        return raw

    def _order(self):
        return self._report(self._ready(None)).order

    def _unknowns(self, set_up):
        return self._report(set_up).trace_unknowns

    def _vector(self, name, given, set_up):
        x, n = np.ascontiguousarray(real(name, given)), self._unknowns(set_up)
        if x.shape != (n,):
            raise InputError(f"{name} has the shape {x.shape}; it takes ({n},), the unknowns of the trace")
        return x


@named
def solve(mesh: Mesh, problem: Problem, backend: Union[str, Context] = "auto", *, device: Optional[int] = None,
          threads: int = 0, progress: Watch = None, on_failure: str = "raise") -> Solution:
    """Solve once, in less memory than a Solver takes; arguments as of Solver and its solve()."""
    check_failure(on_failure)
    _mesh_and_problem(mesh, problem)
    context, handle = _context(backend, device, threads), ctypes.c_void_p()
    built = problem.parsed(context, mesh)
    call(context, progress, "kedge_solve", context.handle, mesh.handle, built.handle, handle)
    return judge([Solution(mesh, problem, context, handle, built)], on_failure)[0]


@named
def plan(mesh: Union[Mesh, str, None], problem: Problem, backend: Union[str, Context] = "auto",
         solver: bool = False) -> Dict[str, Any]:
    """What solve() will take, before it: a dict of sizes, bytes of memory, and whether they are there.

    mesh   -- a Mesh; or words as of Mesh.generate(), or None, the mesh of the problem file: generated ones of 10^7
              elements and more are counted, not made, if no setting is a function or an array (note says so)
    solver -- what a Solver will take; beside, each Solution takes solution_bytes on the GPU where they are free, else on
              the host, apply() of arrays on the GPU apply_bytes there, and solve(into=...) values_bytes and, while it
              goes on, table_bytes an array

    Of a problem with a time it is what a march will take, a Solver and march_bytes beside, with march_step, the longest
    step, and march_steps, how many there are, 0 where they adapt; of waves there are wave_unknowns, numbers of all
    fields, wave_step and wave_steps.

    points_bytes, with a Mesh, is what s(x, y) of arrays on a GPU takes there beside: a tree, and u_star at nodes.
    """
    context = context_of(backend)
    if mesh is None or isinstance(mesh, str):
        problem, mesh = wanted("problem", problem, Problem)._on(mesh, context)
    else:
        _mesh_and_problem(mesh, problem)
    built = problem.build(context) if mesh is None else problem.parsed(context, mesh)
    raw = c.Plan(ctypes.sizeof(c.Plan))
    in_time = any(section == "time" for section, _ in problem.settings)
    if problem._is_wave and not in_time:
        raise InputError('a plan of waves needs their time: kedge.plan(mesh, problem.replace(time={"end": 1}))')
    make = "kedge_march_plan" if in_time else "kedge_solver_plan" if solver else "kedge_plan_make"
    context.call(make, context.handle, mesh and mesh.handle, built.handle, raw)
    kind = raw.operator_kind
    names = ("elements", "edges", "vertices", "boundary_edges", "order", "trace_unknowns", "preconditioner",
             "precision", "smoother", "host_bytes", "free_bytes", "host_free_bytes", "stabilization_length",
             "many_bytes", "apply_bytes", "values_bytes", "table_bytes", "solution_bytes", "dimension",
             "march_bytes", "march_step", "march_steps", "wave_unknowns", "wave_step", "wave_steps", "note")
    values = {name: getattr(raw, name) for name in names}
    if mesh is not None:
        nodes = int(mesh._nodes_of(raw.order + 1)[-1])
        values["points_bytes"] = c.library.kedge_locator_bytes(mesh.handle) + -(-8 * nodes // 256) * 256
    stages = {os.fsdecode(raw.stage_name[i]): raw.stage_bytes[kind][i] for i in range(raw.n_stages)}
    return {**{name: os.fsdecode(value) if isinstance(value, bytes) else value for name, value in values.items()},
            "stage_bytes": stages, "peak_bytes": raw.peak_bytes[kind], "needed_bytes": raw.needed_bytes[kind],
            "fits": raw.fits[kind]}


class _SetUp:
    """A solver of the library and its problem; whoever is in a call with it keeps it."""

    def __init__(self, context, mesh, problem, progress):
        self.built, self.handle = problem.build(context, mesh), ctypes.c_void_p()
        call(context, progress, "kedge_solver_create", context.handle, mesh.handle, self.built.handle, self.handle)
        own(self, context, c.library.kedge_solver_destroy, self.handle, mesh, self.built)


def _context(backend, device, threads):
    return Context(backend, device, threads) if device is not None or threads else context_of(backend)


def _mesh_and_problem(mesh, problem):
    if isinstance(mesh, Problem) and isinstance(problem, Mesh):
        raise WrongType("mesh is a kedge.Problem and problem a kedge.Mesh; the mesh comes first")
    return wanted("mesh", mesh, Mesh), wanted("problem", problem, Problem)
