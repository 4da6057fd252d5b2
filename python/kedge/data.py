"""Data of a problem that are no text: arrays of one number an element, and expressions made of solutions.

Both are evaluated element by element; no point is searched for.
"""
from __future__ import annotations

import ctypes
import inspect
import numbers
from functools import cached_property, lru_cache
from typing import Optional

import numpy as np

from . import _library as c
from .arguments import called, is_array, shown, whole
from .context import refuse_pickle
from .dlpack import Borrowed, on_gpu, on_host
from .errors import BY_STATUS, InputError, WrongType, of_status
from .hints import Any, Array, ArrayLike, Union
from .points import Points, coordinates

class Native:
    """A function that the library calls, its data, what must live as long, and memories of solutions that are among it.

    These are in use as long as it lives.
    """

    def __init__(self, function, user, kept, memories=()):
        self.function, self.user, self.kept, self.memories = function, user, kept, memories
        for memory in memories:
            memory.use(self)


def _of_library(name):
    return c.FUNCTION(ctypes.cast(getattr(c.library, name), ctypes.c_void_p).value)


BY_ELEMENT, BY_SOLUTION = _of_library("kedge_by_element"), _of_library("kedge_by_solution")
BY_ELEMENT_THERE, STEADY = _of_library("kedge_by_element_device"), _of_library("kedge_steady")


def _view(address, n, kind=ctypes.c_double):
    return np.frombuffer((kind * n).from_address(address), kind)


class Operators(np.lib.mixins.NDArrayOperatorsMixin):
    """+, -, *, /, ** and functions of NumPy make an Expression."""

    __hash__ = object.__hash__  # of objects; == and != are conditions at points

    def __eq__(self, other):
        return super().__eq__(other) if _is_part(other) else NotImplemented

    def __ne__(self, other):
        return super().__ne__(other) if _is_part(other) else NotImplemented

    def __bool__(self):
        raise WrongType("a solution as data has no truth value: in place of if, and, or, min and max take np.where, *, "
                        "np.minimum and np.maximum")

    def __array_function__(self, function, types, inputs, options):
        if function is np.where and len(inputs) == 3 and not options:
            return Expression(np.where, inputs)
        if function is np.clip and len(inputs) == 3 and not options:
            return np.minimum(np.maximum(*inputs[:2]), inputs[2])
        raise WrongType(_not_by_point(function))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if "out" in options:
            raise WrongType("a solution as data does not change, and fills no array; write s = s + 1 in place of s += 1")
        if method != "__call__" or options or ufunc.nout != 1 or ufunc.signature:
            raise WrongType(_not_by_point(ufunc))
        return Expression(ufunc, inputs)


def _not_by_point(function):
    return (f"np.{function.__name__} of a solution is not evaluated point by point; take operators, NumPy's ufuncs, "
            "np.where(condition, a, b) or np.clip(s, least, most), or s.values() for an array")


class Expression(Operators):
    """A function of solutions on one mesh, numbers, and arrays of one number an element."""

    __reduce_ex__ = refuse_pickle

    def __init__(self, ufunc, inputs):
        self._ufunc, self._parts = ufunc, [_part(value) for value in inputs]
        meshes = {id(part.mesh): part.mesh for part in self._parts if getattr(part, "mesh", None) is not None}
        if len(meshes) > 1:
            raise InputError("an expression is made of solutions on one mesh, and these are on two; take a function of "
                             "points: lambda x, y: s(x, y) + t(x, y)")
        self.mesh = next(iter(meshes.values()))
        self.memories = [memory for part in self._parts for memory in getattr(part, "memories", ())]

    def __repr__(self):
        return f"<kedge: {self._ufunc.__name__} of solutions>"

    def expression(self):
        return self

    moves = property(lambda self: any(getattr(part, "moves", False) for part in getattr(self, "_parts", ())),
                     doc="Whether values may depend on the time.")

    def __call__(self, x: ArrayLike, y: ArrayLike, z: Union[ArrayLike, str, None] = None, outside: str = "nan", *,
                 tolerance: Optional[float] = None, nearest: bool = False) -> Any:
        """Values at points, arrays x, y, in space z, of any shape. outside, tolerance and nearest are those of a
        solution at points: s(x, y, ...)."""
        at = coordinates(self.mesh, x, y, z, fields=False)
        if len(at) == 2 and z is not None:  # outside without its name
            outside = z
        points = Points(self.mesh, at, outside, tolerance, nearest)
        values = np.array(np.broadcast_to(self._anywhere(points), points.element.shape), float)
        values[np.isnan(points.element)] = np.nan
        return values.reshape(points.shape) if points.shape else values.item()

    def values(self, order: Optional[int] = None) -> Array:
        """Values at the nodes of every element, as of solutions; order: left out, the highest of its parts."""
        order = self._degree if order is None else whole("order", order, 1, c.ORDER_MAX + 1)
        offsets = self.mesh._nodes_of(order)
        values = np.array(np.broadcast_to(self._at_nodes(order, offsets), offsets[-1]), float)
        return values if len(self.mesh.shapes) > 1 else values.reshape(self.mesh.elements, -1)

    def plot(self, ax: Any = None, *, x: Optional[float] = None, y: Optional[float] = None, z: Optional[float] = None,
             edges: bool = True, order: Optional[int] = None, **options: Any) -> Any:
        """Draw it with matplotlib; returns the axes. Options, and x, y and z of a slice, are those of a solution's plot().

        edges -- draw those of elements; order -- of the pieces that an element is drawn by
        """
        from . import plot_space
        from .plot import plot_values
        cut = plot_space.cut_of(self.mesh, (x, y, z))
        order = order if order is None else whole("order", order, 1, c.ORDER_MAX + 1)
        if self.mesh.info["dimension"] == 3:
            order = order or plot_space.order_of(self.mesh, self._degree, cut)
            return plot_space.plot_field(self.mesh, [self.values(order)], order, self._label, ax, edges, cut, options)
        order = order or min(self._degree, 8)
        values = self.values(order).ravel()
        return plot_values(self.mesh, values, *pieces(self.mesh, order), self._label, ax, edges, options)

    _label = property(lambda self: "")

    @property
    def _degree(self):
        return max(part._degree for part in self._parts if isinstance(part, Expression))

    def _anywhere(self, points):
        return self._ufunc(*(part._anywhere(points) if hasattr(part, "at") else part for part in self._parts))

    def _at_nodes(self, order, offsets):
        return self._ufunc(*(part._at_nodes(order, offsets) if hasattr(part, "at") else part for part in self._parts))

    def bring(self):
        """Bring the fields that it reads to the host, before a solve waits for them."""
        for part in getattr(self, "_parts", ()):
            if hasattr(part, "bring"):
                part.bring()

    def at(self, points, known):
        """Values at the points of a block. known: what has been evaluated there."""
        if id(self) not in known:
            known[id(self)] = self._at(points, known)
        return known[id(self)]

    def _at(self, points, known):
        return self._ufunc(*(part.at(points, known) if hasattr(part, "at") else part for part in self._parts))


class Field(Expression):
    """u_star or u of a solution."""

    def __init__(self, memory, field, degree):
        self.mesh, self.memories, self.field, self._own = memory.mesh, [memory], field, degree

    _label = property(lambda self: self.field)
    _degree = property(lambda self: self._own)

    def _anywhere(self, points):
        return points.values(self._degree, self._at_nodes(self._degree, None))

    def _at_nodes(self, order, offsets):
        return self.memories[0].at_nodes(self.field, order)

    def __repr__(self):
        return f"<kedge: {self.field} of a solution>"

    def bring(self):
        self._at(c.Points(mesh=self.mesh.handle), {})

    def _at(self, points, known):
        values = np.empty(points.n)
        status = c.library.kedge_solution_at(self.memories[0].handle, c.FIELDS.index(self.field), points, values.ctypes.data)
        if status:
            raise of_status(status, "a solution that data are made of has no fields at points: it is empty, or its problem "
                            "says fields = 'cells'" if issubclass(BY_STATUS[status], InputError) else
                            "fields of a solution that data are made of cannot be brought to the host")
        return values


class Polynomials(Expression):
    """A field as polynomials of the elements.

    coefficients -- by shape of the mesh, [element][mode]
    """

    def __init__(self, mesh, field, order, coefficients):
        self.mesh, self.memories, self.field, self._order, self._coefficients = mesh, [], field, order, coefficients

    __repr__ = Field.__repr__
    _label = Field._label
    _degree = property(lambda self: self._order)
    _anywhere = Field._anywhere

    def _at_nodes(self, order, offsets):
        offsets = self.mesh._nodes_of(order)
        values = np.empty(offsets[-1])
        for (shape, elements, _), coefficients in zip(self.mesh.shapes, self._coefficients):
            here = offsets[elements][:, None] + np.arange(shape.count(order))
            values[here] = coefficients @ shape.basis(self._order, *(shape.lattice(order).T / order)).T
        return values

    def _at(self, points, known):
        shape, place = self.mesh.shape_places
        element = _view(points.element, points.n, ctypes.c_int32)
        at = [(_view(one, points.n) + 1) / 2 for one in (points.r, points.s, points.third) if one]
        if points.third:
            turned = self.mesh.turned[element]
            at[1:] = np.where(turned, at[2], at[1]), np.where(turned, at[1], at[2])
        values = np.empty(points.n)
        for k, (cell, _, _) in enumerate(self.mesh.shapes):
            here = np.flatnonzero(shape[element] == k)
            if not here.size:
                continue
            basis, which = _basis_at(cell, self._order, *(one[here].tobytes() for one in at))
            values[here] = np.einsum("pm,pm->p", basis[which], self._coefficients[k][place[element[here]]])
        return values


def pieces(mesh, order):
    """All nodes of an order, [node][2], and the triangles between them."""
    offsets, triangles = mesh._nodes_of(order), []
    places = np.empty((offsets[-1], 2))
    for shape, elements, maps in mesh.shapes:
        here = offsets[elements][:, None] + np.arange(shape.count(order))
        places[here] = maps.places(*shape.lattice(order).T / order)
        triangles.append((offsets[elements][:, None, None] + shape.subdivision(order)).reshape(-1, 3))
    return places, np.concatenate(triangles)


@lru_cache(maxsize=8)
def _basis_at(shape, order, *coordinates):
    """The basis at the points of a block, and which of them each is; most blocks of a rule have the same."""
    at, which = np.unique(np.stack([np.frombuffer(one) for one in coordinates]), axis=1, return_inverse=True)
    return shape.basis(order, *at), which.ravel()


class ByRegion(Expression):
    """Other data in every region.

    parts -- {number of the region: a number, or data of another kind}
    """

    def __init__(self, name, mesh, parts):
        self.mesh, self._name = mesh, name
        self._of = {number: _of_points(part, name) if callable(part) and not isinstance(part, Operators) else part
                    for number, part in parts.items()}
        self._parts = list(parts.values())
        self.memories = [memory for part in self._parts for memory in getattr(part, "memories", ())]

    def __repr__(self):
        return f"<kedge: {self._name} by region>"

    @property
    def moves(self):  # type: ignore[override]
        return any(takes_time(part, 2) if callable(part) and not isinstance(part, Operators)
                   else getattr(part, "moves", False) for part in self._parts)

    def bring(self):
        super().bring()
        for part in self._parts:
            if hasattr(part, "prepare") and not isinstance(part, Operators):
                part.prepare()

    def _at(self, points, known):
        region, values = _view(points.region, points.n), np.empty(points.n)
        for number, part in self._of.items():
            here = np.flatnonzero(region == number)
            if here.size and callable(part) and not isinstance(part, Operators):
                values[here] = part(points, here)
            elif here.size:
                values[here] = part.at(points, known)[here] if hasattr(part, "at") else part
        return values


class ByElement:
    """One number for each element, in the caller's order."""

    def __init__(self, values):
        self.values, self.count = values, len(values)

    def __repr__(self):
        return f"<{self.count} numbers, one an element>"

    def _anywhere(self, points):
        known = np.nan_to_num(points.element).astype(np.int64)
        return np.where(np.isnan(points.element), np.nan, self.values[known])

    def _at_nodes(self, order, offsets):
        return np.repeat(self.values, np.diff(offsets))

    def at(self, points, known):
        return self.values[_view(points.element, points.n, ctypes.c_int32)]


class ByElementThere(ByElement):
    """Likewise on a GPU: an array that nobody else has. The host has a copy where it asks for one."""

    def __init__(self, array):
        self.array, self.count = array, int(array.shape[0])

    @cached_property
    def values(self):  # type: ignore[override]
        return np.array(on_host("an array", self.array), float)


def _is_part(value):
    """Whether it may be in an expression."""
    return isinstance(value, (Operators, numbers.Real)) or is_array(value)


def same_data(a, b):
    """Whether data are the same; conditions of solutions are their own objects."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_data, a, b))
    return a is b or (not isinstance(a, Operators) and not isinstance(b, Operators) and a == b)


def _part(value):
    """A part of an expression."""
    if isinstance(value, Operators):
        return value.expression()
    if isinstance(value, numbers.Real):
        return value
    if is_array(value):
        return by_element("an array in an expression", value)
    raise WrongType(f"{shown(value)} is in an expression with solutions; it takes numbers, solutions and arrays of one number an "
                    "element")


def by_element(name, value):
    """An array as a ByElement, or, of a diffusion, three or six of them."""
    copy = getattr(value, "copy", getattr(value, "clone", None))  # of CuPy, of PyTorch
    if on_gpu(value) and getattr(value, "ndim", 0) == 1 and str(value.dtype).endswith("float64") and copy is not None:
        return ByElementThere(copy())
    value = on_host(name, value)
    if np.ma.is_masked(value):
        raise InputError(f"{name} is an array of which elements are masked; it takes a number for each")
    own = hasattr(value, "__array__") or hasattr(value, "__array_interface__")
    try:
        array = np.asarray(value) if own else np.from_dlpack(value)
    except Exception as error:  # of the package whose array it is
        raise WrongType(f"{name} is an array that cannot be read: {error}") from error
    if array.dtype.kind not in "biuf":
        raise WrongType(f"{name} is an array of {array.dtype}; it takes real numbers")
    tensor = name.endswith("diffusion") and array.ndim == 2 and array.shape[1] in (3, 6)
    if array.ndim != 1 and not tensor:
        more = ", or (n, 3), xx, xy, yy of a tensor, in space (n, 6)" if name.endswith("diffusion") else ""
        raise InputError(f"{name} is an array of the shape {array.shape}; it takes one number an element, (n,){more}")
    return tuple(map(by_element_of, array.T)) if tensor else by_element_of(array)


def by_element_of(array):
    return ByElement(np.array(array, float))


def check(name, value, mesh, in_time):
    """Whether data are of a mesh, and of a problem that has a time where they ask for it."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, ByElement):
            if part.count != mesh.elements:
                raise InputError(f"{name} has {part.count} numbers, one an element, and the mesh has {mesh.elements} "
                                 "elements")
        elif isinstance(part, Expression):
            if part.mesh is not mesh:
                raise InputError(f"{name} is made of a solution on another mesh; call s.prepare(), and give a function of "
                                 "points: lambda x, y: s(x, y)")
            for inner in getattr(part, "_parts", ()):
                check(name, inner, mesh, in_time)
        elif callable(part) and not in_time and takes_time(part, mesh.info["dimension"]):
            function = getattr(part, "__name__", type(part).__name__)
            raise InputError(f"{name}: the function {function} has an argument t, the time, and the problem has no "
                             "time; give t a value, t=0.5, or the problem its time")


def native(value, context, name, there=False):
    """Data as a function that the library calls, from any of its threads; what a function of the caller raises ends the
    solve.

    name  -- of the argument that it was given as
    there -- arrays on the GPU of the context are read there
    """
    if there and isinstance(value, ByElementThere) and context.backend == "cuda":
        borrowed = Borrowed(name, value.array, (value.count,), "one number an element")
        return Native(BY_ELEMENT_THERE, borrowed.address, (value, borrowed))
    if isinstance(value, ByElement):
        return Native(BY_ELEMENT, value.values.ctypes.data, value)
    if isinstance(value, Field) and value.field == "u_star":
        made = Native(BY_SOLUTION, None, value, value.memories)
        made.user = value.memories[0].handle.value  # stays as it is from now on, because it is in use
        return made
    if isinstance(value, Expression):
        made = _callback(lambda points: value.at(points, {}), context, value.moves, value.memories)
        value.bring()
        return made
    if hasattr(value, "prepare"):
        value.prepare()
    return _callback(_of_points(value, name), context, takes_time(value, 2))


def _callback(evaluate, context, moves, memories=()):
    """moves: values may depend on the time."""
    def call(_, points, value):
        at = points.contents
        result = _view(value, at.n)
        try:
            if context.failure is not None:
                raise context.failure
            with context.calling():
                result[:] = evaluate(at)
        except BaseException as failure:
            context.failure = failure
            result[:] = np.nan

    function = c.FUNCTION(call)
    if moves:
        return Native(function, None, evaluate, memories)
    steady = c.SteadyFunction(ctypes.cast(function, ctypes.c_void_p))
    return Native(STEADY, ctypes.addressof(steady), (steady, function, evaluate), memories)


def _arguments(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def takes_time(function, dimension):
    """Whether a function of points has an argument t for the time: one without a value of its own, behind the
    coordinates, one of which may have this name."""
    arguments = _arguments(function)
    if "t" not in arguments or arguments["t"].default is not inspect.Parameter.empty:
        return False
    return arguments["t"].kind is inspect.Parameter.KEYWORD_ONLY or list(arguments).index("t") >= dimension


def moves(value, dimension):
    """Whether data depend on the time."""
    if callable(value) and not isinstance(value, Operators):
        return takes_time(value, dimension)
    return getattr(value, "moves", False)


def _of_points(function, name):
    """What a function of x, y, in space z, and more returns at points of the library."""
    extra = set(_arguments(function)) & {"region", "normal"}

    def evaluate(at, here=slice(None)):
        def of(address):
            return _view(address, at.n)[here].copy()

        places, more = [of(one) for one in (at.x, at.y, at.z) if one], {}
        if "region" in extra:
            more["region"] = of(at.region)
        if "normal" in extra:
            if not at.normal_x:
                raise WrongType("a function with an argument `normal` is for boundaries; elsewhere is no normal")
            more["normal"] = tuple(of(one) for one in (at.normal_x, at.normal_y, at.normal_z) if one)
        if takes_time(function, len(places)):
            more["t"] = at.t
        return called(function, name, places[0].size, *places, **more)

    return evaluate
