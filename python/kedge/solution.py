"""What a solve returns."""
from __future__ import annotations

import ctypes
import gc
import os
import weakref
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Optional

import numpy as np

from . import _library as c
from . import tables
from .arguments import encoded, named, path_of, whole
from .context import check, own, refuse_pickle
from .data import Expression, Field, check as check_data, native
from .errors import InputError, WrongType
from .fields import Fields, by_parts, component
from .hints import Any, Array, Datum, Dict, Function, Path, Tuple, Union
from .numbers import Balance, balance_of, groups_of, regions_of
from .problem import datum
from .probe import Probe


ERRORS = ("u_l2", "u_linf", "q_l2", "u_star_l2", "sigma_l2")
REPORT_BYTES = ctypes.sizeof(c.Report)
OF_GROUPS = ("n_groups", "n_regions", "groups", "regions", "balance", "integrals", "n_integrals")


class Stage(NamedTuple):
    seconds: float
    bytes: float
    flops: float


def stages_of(raw):
    """The stages of a report of the library, by name."""
    return {stage.name.decode(): Stage(stage.seconds, stage.bytes, stage.flops) for stage in raw.stages[:raw.n_stages]}


class Errors(NamedTuple):
    u: float
    u_star: float
    q: float
    sigma: float
    energy: float


class Report:
    """The report of a solve: attributes are the members of kedge_report (include/kedge/solution.h).

    iterations, relative_residual, converged, stop, solver_note; elements, trace_unknowns, element_unknowns;
    u_l2, u_linf, q_l2, u_star_l2, sigma_l2, errors that are NaN without an exact solution, and errors, a dict of them;
    stages, a dict of Stage(seconds, bytes, flops); groups, regions, balance, conductance, energy_conductance, as those of
    the Solution; output_error, why write() failed; peak_device_bytes, ...
    """

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, raw):
        for name, _ in c.Report._fields_[1:]:
            value = getattr(raw, name)
            if name in OF_GROUPS:
                continue
            setattr(self, name, os.fsdecode(value) if isinstance(value, bytes) else value)
        self.stop = c.STOPS[raw.stop]
        self.stages = stages_of(raw)
        self.groups, self.regions, self.balance = groups_of(raw), regions_of(raw), balance_of(raw)
        for name in ("conductance", "energy_conductance"):
            if np.isnan(getattr(self, name)):
                setattr(self, name, None)

    errors = property(lambda self: {name: getattr(self, name) for name in ERRORS}, doc="by name")
    seconds = property(lambda self: sum(stage.seconds for stage in self.stages.values()), doc="of all stages")

    def __repr__(self):
        return (f"<kedge.Report: {self.elements} elements of order {self.order}, {self.iterations} iterations, "
                f"residual {self.relative_residual:.1e}, {self.seconds:.3g} s on {self.device}>")

    def _repr_html_(self):
        return tables.of_report(self)


class Memory:
    """A solution of the library: what data that are made of it keep.

    The library may be calling functions that read it while one of its users lives: data of a solver, a solution or a
    solve. So it is overwritten only when there are none, and gets none meanwhile.
    """

    def __init__(self, mesh, context, handle):
        self.mesh, self.context, self.handle, self.nodes = mesh, context, handle, {}
        self._users, self._overwritten = None, False
        own(self, context, c.library.kedge_solution_destroy, handle, mesh)

    def at_nodes(self, field, order):
        """A field at the nodes of its own order, one element after the other; it stays until it is overwritten."""
        if (field, order) not in self.nodes:
            if not self.handle:
                raise InputError("a solution that data are made of is empty: a solve that was to overwrite it has "
                                 "failed")
            values = np.empty(self.mesh._nodes_of(order)[-1])
            self.context.call("kedge_solution_values", self.handle, c.FIELDS.index(field), order, values.ctypes.data)
            self.nodes[field, order] = values
        return self.nodes[field, order]

    def use(self, user):
        if self._users is None:
            self._users = weakref.WeakSet()
        self._users.add(user)
        if self._overwritten:
            raise InputError("a solution that data are made of is being overwritten: it is out of a solve that goes on")
        if not self.handle:
            raise InputError("a solution that data are made of is empty: a solve that was to overwrite it has failed")

    @contextmanager
    def overwriting(self):
        """While a solve overwrites it."""
        self._overwritten = True
        self.nodes.clear()
        try:
            if self._users:
                gc.collect()  # some may be there only until then
            if self._users:
                raise InputError("out is a solution of which data of another solver or solution are made; leave it out, "
                                 "or delete that one before")
            yield
        finally:
            self._overwritten = False


class Solution(Fields):
    """Fields of a solve, in the caller's order of elements.

    Values are at the equispaced nodes of every element, in VTK's order: of triangles (P + 1)(P + 2)/2, of
    quadrilaterals (P + 1)^2, of tetrahedra (P + 1)(P + 2)(P + 3)/6. On a mesh of one shape arrays are [element][node];
    on one of both they are [node], element after element, and offsets(order) says where each begins.

    s(x, y) is u_star at points, s(x, y, "qx") another field, in space s(x, y, z) and s(x, y, z, "qx"); q and sigma are
    interpolated by polynomials of order P + 1.

    u      -- order P, [element][node]
    q      -- grad u, order P, [element][node][dimension], in units of u a unit of length
    sigma  -- diffusion q, as q
    u_star -- order P + 1, one order more accurate
    report -- a Report
    groups, regions, balance, conductance -- integrals, fluxes and extrema
    """

    def __init__(self, mesh, problem, context, handle, built):
        self.mesh, self.context, self._handle = mesh, context, handle
        self.memory = Memory(mesh, context, handle)
        self._take(problem, built)

    def _take(self, problem, built):
        """The library has made the solution, or overwritten it."""
        self.problem, self._built, self._called = problem, built, dict(built.functions)
        self._raw = self._raw_report()
        self.order = self._raw.order
        self._modes = {}

    def _take_again(self, problem, built):
        """The library has overwritten the solution."""
        for name in ("u", "q", "sigma", "u_star", "indicator", "integrals", "probes"):
            self.__dict__.pop(name, None)
        self._take(problem, built)

    __reduce_ex__ = refuse_pickle

    def __repr__(self):
        return f"<kedge.Solution: {self.report!r}>" if self._handle else "<kedge.Solution: empty>"

    def _repr_html_(self):
        if not self._handle:
            return tables.table("kedge.Solution: empty", [])
        return tables.of_report(self.report, "kedge.Solution")

    @property
    def handle(self):
        """The library's solution."""
        if not self._handle:
            raise InputError("the solution is empty: a solve that was to overwrite it has failed")
        return self._handle

    @property
    def report(self) -> Report:
        """The report of the solve; the time of files that were written since is in it."""
        return Report(self._raw_report())

    @property
    def groups(self) -> Dict[str, Any]:
        """Numbers of the groups of edges, by name: GroupValues, of a mesh in space SurfaceValues (docs/numbers.md).

        Groups that share a name go by their tags, as "3". So do regions."""
        return self.report.groups

    @property
    def regions(self) -> Dict[str, Any]:
        """Numbers of the regions, by name: RegionValues, of a mesh in space VolumeValues (docs/numbers.md)."""
        return self.report.regions

    @property
    def balance(self) -> Balance:
        """Integrals of source and reaction, the flux through the boundary, and what remains."""
        return self.report.balance

    @property
    def conductance(self) -> Optional[float]:
        """The flux between two groups with constant values for a difference of 1, where all else is insulated and there
        is neither source nor reaction; else None."""
        return self.report.conductance

    @property
    def energy_conductance(self) -> Optional[float]:
        """The conductance by the discrete energy."""
        return self.report.energy_conductance

    def _raw_report(self):
        raw = c.Report(REPORT_BYTES)
        check(c.library.kedge_solution_report(self.handle, raw), b"")  # without the context, which may be in a call
        return raw

    def _degree(self, field):
        return self.order + (field != "u")  # a flux of order P has parts of order P + 1 on quadrilaterals

    def offsets(self, order: Optional[int] = None) -> Array:
        """Where each element begins in arrays over nodes: [elements + 1] int."""
        offsets = np.empty(self.mesh.elements + 1, np.int64)
        order = self._nodes_order(order)
        self.context.call("kedge_solution_offsets", self.handle, order, offsets.ctypes.data)
        return offsets

    def nodes(self, order: Optional[int] = None) -> Array:
        """Coordinates of the nodes, [element][node][dimension]; order: P where it is left out."""
        order = self._nodes_order(order)
        xy = np.empty(self._shape(order, self.mesh.info["dimension"]))
        self.context.call("kedge_solution_nodes", self.handle, order, xy.ctypes.data)
        return xy

    @by_parts
    def values(self, field: str, order: Optional[int] = None) -> Array:
        """A field at nodes of any order: "u", "u_star", "qx", "qy", "sigma_x" or "sigma_y", in space "qz" and
        "sigma_z" too; "q" and "sigma" are [...][dimension]."""
        order = self._nodes_order(order)
        values = np.empty(self._shape(order))
        self.context.call("kedge_solution_values", self.handle, component(field, self.mesh), order, values.ctypes.data)
        return values

    @by_parts
    def means(self, field: str) -> Array:
        """The mean of a field over every element, [element]; of "q" and "sigma" [element][dimension]."""
        values = np.empty(self.mesh.elements)
        self.context.call("kedge_solution_means", self.handle, component(field, self.mesh), values.ctypes.data)
        return values

    @cached_property
    def indicator(self) -> Array:
        """The L2 norm of u_star - u over every element, [element]: where the mesh should be finer."""
        values = np.empty(self.mesh.elements)
        self.context.call("kedge_solution_indicator", self.handle, values.ctypes.data)
        return values

    def field(self, name: str) -> Expression:
        """A field as data of problems on this mesh: "u_star", "u", "qx" or "qy", evaluated element by element. s itself
        is u_star: source=s, diffusion=1 + s**2. Where the diffusion of s is data too, q is interpolated as in s(x, y,
        "qx"), so that not all solutions before s are needed."""
        if name in ("u_star", "u") or (name in ("qx", "qy", "qz") and not any(key == "diffusion" for _, key in self._called)):
            return Field(self.memory, name, self._degree(name))
        return super().field(name)

    def _put_at(self, probe, field, values):
        """Fill an array with a field at the points of a probe."""
        self.context.call("kedge_probe_values", probe._handle, self.handle, component(field, self.mesh), values.ctypes.data)

    def integrate(self, of: Datum, on: Optional[str] = None, quadrature: Optional[int] = None) -> float:
        """The integral of an expression over the domain, a region, or a group of lines or faces.

        of -- text in x, y, region, parameters of the problem and the fields u, u_star, qx, qy, sigma_x and sigma_y; on
              lines normal_x, normal_y, trace and flux, the numerical flux sigma . n - tau (u - trace), too. In space
              groups are faces, and names of z are there too. Or data: what operators and NumPy make of solutions on
              this mesh, a function f(x, y), in space f(x, y, z), an array of one number an element
        on -- the name or number of a group or region; None, "all": the domain. n points out of the domain, on lines
              inside it as for s.groups
        quadrature -- points a direction, at most 40: left out, enough for polynomials
        """
        of = datum("of", of)
        check_data("of", of, self.mesh, self.problem._in_time)
        options = c.IntegralOptions(ctypes.sizeof(c.IntegralOptions), on=None if on is None else encoded("on", str(on)),
                                    quadrature=0 if quadrature is None else whole("quadrature", quadrature, 1, 40))
        if isinstance(of, str):
            built = self.problem.parsed(self.context, self.mesh)
            options.of, options.problem = encoded("of", of), built.handle
            return self._integral(options)
        made = native(of, self.context, "of")
        options.function, options.user = ctypes.cast(made.function, ctypes.c_void_p), made.user
        return self._integral(options)

    @cached_property
    def integrals(self) -> Dict[str, float]:
        """The sections [integral NAME] of the problem file: {name: value}."""
        built, values = self.problem.parsed(self.context, self.mesh), {}
        while (name := c.library.kedge_problem_integral(built.handle, len(values))) is not None:
            options = c.IntegralOptions(ctypes.sizeof(c.IntegralOptions), problem=built.handle, name=name)
            values[os.fsdecode(name)] = self._integral(options)
        return values

    def _integral(self, options):
        handle, value = ctypes.c_void_p(), ctypes.c_double()
        self.context.call("kedge_integral_create", self.context.handle, self.mesh.handle, options, handle)
        try:
            self.context.call("kedge_integral_evaluate", handle, self.handle, value)
        finally:
            c.library.kedge_integral_destroy(handle)
        return value.value

    def trace(self) -> Tuple[Array, Array]:
        """The trace: (edges, modes).

        edges -- [edge][2], vertices, the lower number first
        modes -- [edge][P + 1], coefficients of orthonormal Legendre polynomials on [-1, 1] along that direction

        In space edges are faces, [face][3], their vertices in the order of x + 0.7549 y + 0.5698 z, and modes those of
        the triangle, [face][(P + 1)(P + 2)/2] (include/kedge/solution.h).
        """
        dimension, order = self.mesh.info["dimension"], self.order
        edges = np.empty((self.mesh.edges, dimension), np.int32)
        modes = np.empty((self.mesh.edges, order + 1 if dimension == 2 else (order + 1) * (order + 2) // 2))
        self.context.call("kedge_solution_trace", self.handle, edges.ctypes.data, modes.ctypes.data)
        return edges, modes

    @named
    def error(self, exact: Union[str, Function, Tuple[Function, ...], Fields, None] = None,
              du_dx: Optional[Function] = None, du_dy: Optional[Function] = None, norm: Optional[str] = None,
              points: Optional[int] = None, du_dz: Optional[Function] = None) -> Any:
        """Norms of the errors against an exact U: Errors(u, u_star, q, sigma, energy), or the one that `norm` names.

        u, u_star, q, sigma -- in L2, the latter two of q - grad U and of sigma - diffusion grad U
        energy -- the root of the integral of (sigma - diffusion grad U) . (q - grad U), which is that of
                  diffusion^-1 |sigma - diffusion grad U|^2

        exact  -- U as an expression, or as functions of arrays x, y: exact, du_dx, du_dy, in space of x, y, z with
                  du_dz, or a tuple of them; without derivatives all but u and u_star are NaN. Or another Solution. Left
                  out: that of the problem
        points -- of the quadrature, a direction: P + 6 where it is left out
        """
        if norm not in (None, *Errors._fields):
            raise InputError(f"norm is {norm!r}; it is one of {', '.join(Errors._fields)}")
        derivatives = (du_dx, du_dy, du_dz)[:3 if self.mesh._is_space or du_dz is not None else 2]
        if (not callable(exact) or isinstance(exact, Fields)) and any(one is not None for one in derivatives):
            raise WrongType("du_dx and du_dy go with a function exact; kedge has those of an expression and of a solution")
        if isinstance(exact, Fields):
            exact = exact._functions()
        functions = exact if isinstance(exact, tuple) else (exact, *derivatives)
        has_gradient = not callable(functions[0]) or None not in functions[1:]
        problem = self.problem
        if callable(functions[0]):
            problem = problem.replace(exact=tuple((lambda *at: 0.0) if one is None else one for one in functions))
        elif exact is not None:
            problem = problem.replace(exact=exact)
        built, raw = problem.parsed(self.context, self.mesh), c.Errors(ctypes.sizeof(c.Errors))
        self.context.call("kedge_solution_errors", self.handle, built.handle, 0 if points is None else whole("points", points, 1), raw)
        values = {name: getattr(raw, name) for name in Errors._fields}
        if not has_gradient:
            values.update(q=np.nan, sigma=np.nan, energy=np.nan)
        return values[norm] if norm else Errors(**values)

    def write(self, path: Path) -> None:
        """Write a VTKHDF file for ParaView; the path ends in .vtkhdf or .hdf."""
        self.context.call("kedge_solution_write", self.handle, path_of("path", path))

    def write_boundary(self, path: Path) -> None:
        """Write the edges of all groups, in space their faces, as a VTKHDF file for ParaView: trace and flux density
        (docs/output.md)."""
        self.context.call("kedge_solution_write_boundary", self.handle, path_of("path", path))

    @cached_property
    def probes(self) -> Dict[str, Probe]:
        """The probes of the problem by name: s.probes["axis"].values(s, "qx")."""
        return Probe._all(self.mesh, self.problem.parsed(self.context, self.mesh))

    def write_report(self, path: Path) -> None:
        """Write the report as JSON (docs/report.md)."""
        raw, integrals = self._raw_report(), list(self.integrals.items())
        size = ctypes.sizeof(c.IntegralValue)
        values = [ctypes.pointer(c.IntegralValue(size, os.fsencode(name), value)) for name, value in integrals]
        raw.integrals, raw.n_integrals = (ctypes.POINTER(c.IntegralValue) * len(values))(*values), len(values)
        self.context.call("kedge_report_write", self.context.handle, raw, path_of("path", path))
