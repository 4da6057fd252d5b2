"""Fields on a mesh, of a solve or of a file: values at nodes and at points, integrals, pictures."""
from __future__ import annotations

import functools
import math
from functools import cached_property
from typing import Callable, Optional, TypeVar

import numpy as np

from . import _library as c
from . import exchange
from .arguments import package, real, shown, whole
from .cells import Triangle, from_nodes, part
from .context import refuse_assignment
from .data import Expression, Operators, Polynomials
from .dlpack import Borrowed, like, on_gpu, stacked
from .errors import InputError, WrongType
from .hints import Any, Array, ArrayLike, Tuple, Union
from .outline import values_at
from .points import alike, check_outside, coordinates, refuse_outside, unit_of
from .regions import group_on

F = TypeVar("F", bound=Callable[..., Any])
VECTORS = {"q": ("qx", "qy"), "sigma": ("sigma_x", "sigma_y")}
SPACE_VECTORS = {"q": ("qx", "qy", "qz"), "sigma": ("sigma_x", "sigma_y", "sigma_z")}


def parts_of(field, mesh):
    """The parts of a vector, on a mesh in space three; of another field None."""
    of = SPACE_VECTORS if mesh.info["dimension"] == 3 else VECTORS
    return of.get(field) if isinstance(field, str) else None


def component(field, mesh):
    """The number of a field that is no vector."""
    fields = c.FIELDS if mesh.info["dimension"] == 3 else c.PLANE_FIELDS
    if not isinstance(field, str) or field not in fields:
        raise InputError(f"there is no field {shown(field)}; fields are {', '.join((*fields, *VECTORS))}")
    return c.FIELDS.index(field)


def by_parts(method: F) -> F:
    """A method of a field that has the parts of vectors too: "q" and "sigma" are [...][dimension]."""
    @functools.wraps(method)
    def made(self, field, *arguments, **more):
        parts = self._parts_of(field)
        if not parts:
            return method(self, field, *arguments, **more)
        return np.stack([method(self, part, *arguments, **more) for part in parts], axis=-1)

    return made  # type: ignore[return-value]


class Fields(Operators):
    """mesh, order -- and of a subclass values(field, order), nodes(order), offsets(order), _degree(field), the order of the
    polynomials that a field is, and _modes, a dict"""

    __setattr__ = refuse_assignment
    _default = "u_star"  # what is meant where no field is named
    _names = ("u", "u_star"), tuple(VECTORS)  # that a file of them has: numbers and vectors
    _finest = property(lambda self: self.order + 1, doc="The highest order of a field.")

    def _parts_of(self, field):
        return parts_of(field, self.mesh)

    def _check_field(self, field):
        component(field, self.mesh)  # which refuses what is none

    def _shape(self, order, *more):
        n, quadrilaterals = self.mesh.elements, self.mesh.info["quadrilaterals"]
        if self.mesh.info["dimension"] == 3:
            return n, (order + 1) * (order + 2) * (order + 3) // 6, *more
        if quadrilaterals == n:
            return n, (order + 1) ** 2, *more
        if quadrilaterals == 0:
            return n, (order + 1) * (order + 2) // 2, *more
        return int(self.offsets(order)[-1]), *more

    def _nodes_order(self, order):
        """What an argument `order` says, before arrays of that order are made."""
        return self.order if order is None else whole("order", order, 1, c.ORDER_MAX + 1)

    @cached_property
    def u(self) -> Array:
        return self.values("u")

    @cached_property
    def q(self) -> Array:
        return self.values("q")

    @cached_property
    def sigma(self) -> Array:
        return self.values("sigma")

    @cached_property
    def u_star(self) -> Array:
        return self.values("u_star", self.order + 1)

    def __call__(self, x: ArrayLike, y: ArrayLike, z: Union[ArrayLike, str, None] = None, field: Union[str, Any] = None,
                 outside: str = "nan", *, tolerance: Optional[float] = None, nearest: bool = False) -> Any:
        """A field at points, arrays x, y of any shape, in space x, y, z: "u_star", if it is left out, "u", "qx", "qy",
        "sigma_x" or "sigma_y", in space "qz" and "sigma_z" too; "q" and "sigma" are [...][dimension]. Or an array of
        values at nodes, of u_star as solve(into=...) fills it, or of another order. s(x, y, "qx") in the plane is
        s(x, y, z, "qx") in space.

        Of a solution on the GPU, points there, arrays of CuPy or PyTorch, of float64, have their values there, in a
        new array; so may an array of values at nodes be. A tree over the elements stays there with the mesh, and the
        field of the last call: points_bytes of kedge.plan().

        outside   -- of the mesh the value is NaN, "nan", or an error, "raise"
        tolerance -- points outside that are no farther than this from the boundary have the value of its nearest place.
                     Left out it is what rounding takes of a point on the boundary: 1e-9 of the size of the mesh, and 4
                     units of float32 of its farthest coordinate where one is of float32. Points on the GPU have none
        nearest   -- True: points outside have that value however far they are
        """
        at = coordinates(self.mesh, x, y, z)
        if len(at) == 2 and z is not None:  # field without its name, and perhaps outside
            field, outside = z, outside if field is None else field
        field = self._default if field is None else field
        most = check_outside(outside, tolerance, nearest)
        there = self.context.backend == "cuda" and any(map(on_gpu, at))
        if there and (tolerance is not None or nearest):
            names = "x and y" if len(at) == 2 else "x, y and z"
            raise WrongType(f"tolerance and nearest are for points on the host; copy {names} to it")
        parts = self._parts_of(field)
        if parts:
            values = [self(*at, field=part, outside=outside, tolerance=tolerance, nearest=nearest) for part in parts]
            return stacked(values) if there else np.stack(values, axis=-1)
        if there:
            return self._at_there(at, field, outside)
        if most is None:
            most = self.mesh._rounding(max(map(unit_of, at)))
        at = alike(*at)
        order, nodes = self._at_nodes(field)
        values = self.mesh.locator.values(order, nodes, *at)
        if most > 0:
            self._take_nearest(order, nodes, at, most, values)
        bad = np.flatnonzero(np.isnan(values)) if outside == "raise" else ()
        if len(bad):
            refuse_outside(len(bad), values.size, *(array.flat[bad[0]] for array in at))
        return values if at[0].ndim else values.item()

    def _take_nearest(self, order, nodes, at, most, values):
        """Put values at the nearest places of the boundary where points lie outside."""
        lost = np.flatnonzero(np.isnan(values))
        if len(lost) and np.isnan(np.sum(nodes)):  # some are inside, where the field is no number
            ones = np.ones(self.mesh._nodes_of(1)[-1])
            lost = lost[np.isnan(self.mesh.locator.values(1, ones, *(array.flat[lost] for array in at)))]
        if len(lost):
            found, element, place = self.mesh.outline.nearest(*(array.flat[lost] for array in at), most)
            values.flat[lost[found]] = values_at(self.mesh, order, nodes, element, place)

    def _at_there(self, at, field, outside):
        """Values at points on the GPU."""
        for name, array in zip("xyz", at):
            if not on_gpu(array):
                other = next(name for name, array in zip("xyz", at) if on_gpu(array))
                raise WrongType(f"{name} is no array on a GPU, where {other} is one")
        x, locator = at[0], self.mesh._locator_on(self.context)
        shape = tuple(x.shape)
        borrowed = [Borrowed(name, array, shape, "as x") for name, array in zip("xyz", at)]
        values = like("x", x)
        borrowed.append(Borrowed("a new array of its package", values, shape))
        arrays = [one.address for one in borrowed]
        if on_gpu(field):
            order = self._order_of(tuple(field.shape))
            borrowed.append(Borrowed("field", field, tuple(field.shape)))
            nodes = borrowed[-1].address
        else:
            order, nodes = self._at_nodes(field)
        locator.fill(order, nodes, math.prod(shape), *arrays)
        bad = int((values != values).sum()) if outside == "raise" else 0
        if bad:
            first = int(np.isnan(real("values", values)).argmax())
            refuse_outside(bad, math.prod(shape), *(float(one.reshape(-1)[first]) for one in at))
        return values

    def _order_of(self, shape):
        """The order of the nodes that an array of this shape has values at."""
        for order in range(1, c.ORDER_MAX + 2):
            if self._shape(order) == shape:
                return order
        raise InputError(f"field is an array of the shape {shape}; values at nodes have that of s.u_star, "
                         f"{self._shape(self.order + 1)}, or another order's" +
                         ("" if self.mesh._is_space else "; a point of the plane has x and y alone"))

    def _at_nodes(self, field):
        """A field by values at nodes of its order: order, values."""
        if isinstance(field, str):
            return self._known(field)
        if on_gpu(field):
            raise WrongType("field is an array on a GPU, and the points are not")
        values = real("field", field)
        return self._order_of(values.shape), values

    def expression(self) -> Expression:
        """u_star as data."""
        return self.field(self._default)

    def field(self, name: str) -> Expression:
        """A field as data of problems on this mesh: "u_star", "u", "qx", "qy", "sigma_x", "sigma_y" and in space "qz"
        and "sigma_z", evaluated element by element."""
        parts = self._parts_of(name)
        if parts:
            raise InputError(f"{name} is a vector, and data are numbers; take its parts: {', '.join(parts)}")
        return Polynomials(self.mesh, name, *self._coefficients(name))

    def prepare(self, field: Optional[str] = None) -> Any:
        """Make what s(x, y) needs, as its first call does; before a solve that calls functions which call it.

        The mesh keeps its tree of elements for all its solutions.
        """
        self.mesh.locator
        field = self._default if field is None else field
        for part_of in self._parts_of(field) or (field,):
            self._known(part_of)

    def _known(self, field):
        """A field of the solution by values at nodes: order, values."""
        if not isinstance(field, str) or field not in self._modes:
            self._check_field(field)
            order = self._degree(field)
            self._modes[field] = order, np.ascontiguousarray(self.values(field, order))
        return self._modes[field]

    def _coefficients(self, field):
        """Of a field in the polynomials of every shape: order, [[element][mode]]."""
        order, values = self._known(field)
        if ("modes", field) not in self._modes:
            values, offsets = values.ravel(), self.offsets(order)
            self._modes["modes", field] = [part(values, offsets, shape, elements, order) @ from_nodes(shape, order).T
                                           for shape, elements, _ in self.mesh.shapes]
        return order, self._modes["modes", field]

    def _functions(self):
        """u_star and q as functions that the library may call."""
        fields = ("u_star", *parts_of("q", self.mesh))
        for field in fields:
            self.prepare(field)
        return tuple(lambda *at, field=field: self(*at, field=field, outside="raise") for field in fields)

    def quadrature(self, *fields: str, points: Optional[int] = None,
                   on: Union[str, int, None] = None) -> Tuple[Any, ...]:
        """What integrals are made of: (weights, (x, y), values of the first field, ...), in space (x, y, z), all
        [element][point], of "q" and "sigma" [element][point][dimension].

        points -- of the rule, a direction, at most 100: P + 4 where it is left out
        on     -- the name or number of a region, whose elements these are, or of a group of the boundary: then all are
                  [edge][point], the edges or faces of the group as mesh.boundary has them, and weights add up to its
                  length or area. None, "all": the domain
        """
        n = self.order + 4 if points is None else whole("points", points, 1, 100)
        flat = [part for field in fields for part in self._parts_of(field) or (field,)]
        group = None if on in (None, "all") else group_on(self.mesh.groups, on)
        dimension = self.mesh.info["dimension"]
        if group is not None and self.mesh.groups[group].dimension < dimension:
            inside = self.mesh.boundary[2] == group
            blocks_of = self._face_blocks if dimension == 3 else self._edge_blocks
            size = (self.mesh.groups[group].count, n ** (dimension - 1))
        else:
            inside, blocks_of = np.ones(self.mesh.elements, bool), self._blocks
            if group is not None:
                inside = self.mesh.regions == self.mesh.groups[group].tag
            size = (np.count_nonzero(inside), n**dimension)
        weights, places = np.empty(size), np.empty((dimension, *size))
        values = np.empty((len(flat), *size))
        for rows, k, which, at, place, weight in blocks_of(n, inside):
            weights[rows], places[:, rows] = weight, np.moveaxis(place, -1, 0)
            for array, field in zip(values, flat):
                order, coefficients = self._coefficients(field)
                array[rows] = coefficients[k][which] @ self.mesh.shapes[k][0].basis(order, *at).T
        rest, parts = iter(values), [self._parts_of(field) for field in fields]
        return (weights, tuple(places), *(np.stack([next(rest) for _ in one], axis=-1) if one else next(rest)
                                          for one in parts))

    def _blocks(self, n, inside):
        """Some elements, by shape: rows of arrays, number of the shape, which of its elements, points of reference,
        places and weights there."""
        row = np.cumsum(inside) - 1
        for k, (shape, elements, maps) in enumerate(self.mesh.shapes):
            *at, weight = shape.rule(n)
            which = np.flatnonzero(inside[elements])
            yield (row[elements[which]], k, which, at, maps.places(*at, elements=which),
                   maps.jacobians(*at, elements=which) * weight)

    def _edge_blocks(self, n, edges):
        """Likewise some edges of the boundary, by shape and side."""
        elements, sides = (array[edges] for array in self.mesh.boundary[:2])
        shape_of, place = self.mesh.shape_places
        at, weight = np.polynomial.legendre.leggauss(n)
        for k, (shape, _, maps) in enumerate(self.mesh.shapes):
            corner = shape.lattice(1)
            for side in range(shape.corners):
                rows = np.flatnonzero((shape_of[elements] == k) & (sides == side))
                along = corner[(side + 1) % shape.corners] - corner[side]
                x, y = corner[side][:, None] + along[:, None] * (at + 1) / 2
                which = place[elements[rows]]
                yield (rows, k, which, (x, y), maps.places(x, y, elements=which),
                       maps.speeds(x, y, along, which) * weight / 2)

    def _face_blocks(self, n, faces):
        """Likewise some faces of the surface, by side."""
        elements, sides = (array[faces] for array in self.mesh.boundary[:2])
        (shape, _, maps), = self.mesh.shapes
        x, y, weight = Triangle.rule(n)
        for side, corners in enumerate(shape.faces):
            rows, corner = np.flatnonzero(sides == side), shape.lattice(1)[corners]
            at, which = np.stack([1 - x - y, x, y], axis=-1) @ corner, elements[rows]
            ends = maps.places(*corner.T, elements=which)
            twice = np.linalg.norm(np.cross(ends[:, 1] - ends[:, 0], ends[:, 2] - ends[:, 0]), axis=-1)
            yield rows, 0, which, at.T, maps.places(*at.T, elements=which), twice[:, None] * weight

    def plot(self, field: Optional[str] = None, ax: Any = None, *, x: Optional[float] = None, y: Optional[float] = None,
             z: Optional[float] = None, edges: bool = True, order: Optional[int] = None, **options: Any) -> Any:
        """Draw a field, u_star if it is left out, of "q" and "sigma" the length, with matplotlib; returns the axes. Options are those of tripcolor.

        In space it is drawn on the surface, on axes of three dimensions, with options of Poly3DCollection and cmap, norm,
        vmin and vmax; or on a slice as a plane is: s.plot(z=0.5).

        x, y, z -- one of them: where the slice is
        edges   -- draw those of elements; order -- of the pieces that an element is drawn by, P + 1 at most 8
        """
        from .plot import plot_solution
        return plot_solution(self, self._default if field is None else field, ax, edges, order, (x, y, z), options)

    def at_vertices(self, field: Optional[str] = None) -> Array:
        """A field at the vertices of the mesh, [vertex], numbered as in the arrays or the file of the mesh: the mean of
        what the elements around each have there. NaN where a number is of no corner. "q" and "sigma" are
        [vertex][dimension]."""
        field = self._default if field is None else field
        parts = self._parts_of(field)
        if parts:
            return np.stack([self.at_vertices(part) for part in parts], axis=-1)
        vertex = self.mesh.corners
        with np.errstate(invalid="ignore"):
            return np.bincount(vertex, self.values(field, 1).ravel()) / np.bincount(vertex)

    def to_meshio(self, vertices: bool = False) -> Any:
        """A meshio.Mesh: elements cut into linear triangles, in space tetrahedra, between the nodes of order P + 1,
        each with points of its own, and u, u_star, q and sigma there, vectors of the plane with a third component, 0.
        Its write() makes a file of Gmsh with file_format="gmsh22".

        vertices -- in place of that the cells of the mesh and the lines of its groups, in space triangles, all
                    straight, and at_vertices() of these fields; points that are no corner are left out
        """
        if vertices:
            return exchange.by_vertices(self)
        meshio = package("meshio", "to_meshio()")
        order = self._finest
        points, pieces = self._pieces(order)
        scalars, names = self._names
        fields = {name: self.values(name, order).ravel() for name in scalars}
        vectors = {name: exchange.in_space(self.values(name, order).reshape(points.shape)) for name in names}
        return meshio.Mesh(exchange.in_space(points), [("tetra" if self.mesh._is_space else "triangle", pieces)],
                           point_data={**fields, **vectors})

    def _pieces(self, order):
        """All nodes of an order, [node][dimension], and the triangles or tetrahedra between them."""
        offsets, dimension = self.offsets(order), self.mesh.info["dimension"]
        pieces = [(offsets[elements][:, None, None] + shape.subdivision(order)).reshape(-1, dimension + 1)
                  for shape, elements, _ in self.mesh.shapes]
        return self.nodes(order).reshape(-1, dimension), np.concatenate(pieces)
