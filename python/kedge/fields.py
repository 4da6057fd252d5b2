"""Fields on a mesh, of a solve or of a file: values at nodes and at points, integrals, pictures."""
from __future__ import annotations

from functools import cached_property
from typing import Optional

import numpy as np

from . import _library as c
from .arguments import package, real, whole
from .cells import from_nodes, part
from .context import refuse_assignment
from .data import Expression, Operators, Polynomials
from .errors import InputError
from .hints import Any, Array, ArrayLike, Tuple
from .location import CHUNK


class Fields(Operators):
    """mesh, order -- and of a subclass values(field, order), nodes(order), offsets(order), _degree(field), the order of the
    polynomials that a field is, and _modes, a dict"""

    __setattr__ = refuse_assignment

    def _shape(self, order, *more):
        n, quadrilaterals = self.mesh.elements, self.mesh.info["quadrilaterals"]
        if quadrilaterals == n:
            return n, (order + 1) ** 2, *more
        if quadrilaterals == 0:
            return n, (order + 1) * (order + 2) // 2, *more
        return int(self.offsets(order)[-1]), *more

    @cached_property
    def u(self) -> Array:
        return self.values("u")

    @cached_property
    def q(self) -> Array:
        return np.stack([self.values("qx"), self.values("qy")], axis=-1)

    @cached_property
    def sigma(self) -> Array:
        return np.stack([self.values("sigma_x"), self.values("sigma_y")], axis=-1)

    @cached_property
    def u_star(self) -> Array:
        return self.values("u_star", self.order + 1)

    def __call__(self, x: ArrayLike, y: ArrayLike, field: str = "u_star", outside: str = "nan") -> Any:
        """A field at points, arrays x, y of any shape: "u_star", "u", "qx" or "qy".

        outside -- of the mesh the value is NaN, "nan", or an error, "raise"
        """
        if outside not in ("nan", "raise"):
            raise InputError(f'outside is {outside!r}; it is "nan" or "raise"')
        x, y = real("x", x), real("y", y)
        try:
            x, y = np.broadcast_arrays(x, y)
        except ValueError:
            raise InputError(f"x has the shape {x.shape} and y {y.shape}; take arrays of the same shape") from None
        points = np.column_stack([x.ravel(), y.ravel()])
        order, coefficients = self.prepare(field)
        values = np.full(len(points), np.nan)
        for first in range(0, len(points), CHUNK):
            here = slice(first, first + CHUNK)
            where, element, at = self.mesh.locator.locate(points[here])
            for k, ((shape, _, _), modes) in enumerate(zip(self.mesh.shapes, coefficients)):
                mine = np.flatnonzero(where == k)
                basis = shape.basis(order, *at[mine].T)
                values[first + mine] = np.einsum("pm,pm->p", basis, modes[element[mine]])
        if outside == "raise" and np.isnan(values).any():
            bad = np.flatnonzero(np.isnan(values))
            raise InputError(f"{len(bad)} of {len(points)} points lie outside of the mesh, the first at "
                             f"({points[bad[0], 0]:g}, {points[bad[0], 1]:g})")
        return values.reshape(x.shape) if x.ndim else float(values[0])

    def expression(self) -> Expression:
        """u_star as data."""
        return self.field("u_star")

    def field(self, name: str) -> Expression:
        """A field as data of problems on this mesh: "u_star", "u", "qx" or "qy", evaluated element by element."""
        return Polynomials(self.mesh, name, *self._coefficients(name))

    def prepare(self, field: str = "u_star") -> Any:
        """Make what s(x, y) needs, as its first call does; before a solve that calls functions which call it.

        The mesh keeps its tree of elements for all its solutions.
        """
        self.mesh.locator
        return self._coefficients(field)

    def _coefficients(self, field):
        """Of a field in the polynomials of every shape: order, [[element][mode]]."""
        if field in ("sigma_x", "sigma_y"):
            raise InputError(f"{field} has no values at points, because a diffusion that varies is no polynomial; multiply "
                             "qx and qy there by the diffusion, or take s.sigma, the values at nodes")
        return self._polynomials(field)

    def _polynomials(self, field):
        if field not in self._modes:
            order = self._degree(field)
            values, offsets = self.values(field, order).ravel(), self.offsets(order)
            self._modes[field] = order, [part(values, offsets, shape, elements, order) @ from_nodes(shape, order).T
                                         for shape, elements, _ in self.mesh.shapes]
        return self._modes[field]

    def _functions(self):
        """u_star and q as functions that the library may call."""
        for field in ("u_star", "qx", "qy"):
            self.prepare(field)
        return tuple(lambda x, y, field=field: self(x, y, field, outside="raise") for field in ("u_star", "qx", "qy"))

    def quadrature(self, *fields: str, points: Optional[int] = None) -> Tuple[Any, ...]:
        """What integrals are made of: (weights, (x, y), values of the first field, ...), all [element][point].

        points -- of the rule, a direction: P + 4 where it is left out
        """
        n = self.order + 4 if points is None else whole("points", points, 1)
        arrays = np.empty((3 + len(fields), self.mesh.elements, n * n))
        for k, (shape, elements, maps) in enumerate(self.mesh.shapes):
            x, y, weight = shape.rule(n)
            arrays[0, elements] = maps.jacobians(x, y) * weight
            arrays[1:3, elements] = np.moveaxis(maps.places(x, y), -1, 0)
            for array, field in zip(arrays[3:], fields):
                order, coefficients = self._coefficients(field)
                array[elements] = coefficients[k] @ shape.basis(order, x, y).T
        weight, x, y, *values = arrays
        return (weight, (x, y), *values)

    def plot(self, field: str = "u_star", ax: Any = None, *, edges: bool = True, order: Optional[int] = None,
             **options: Any) -> Any:
        """Draw a field with matplotlib; returns the axes. Options are those of tripcolor.

        edges -- draw those of elements; order -- of the pieces that an element is drawn by, P + 1 at most 8
        """
        from .plot import plot_solution
        return plot_solution(self, field, ax, edges, min(self.order + 1, 8) if order is None else order, options)

    def to_meshio(self) -> Any:
        """A meshio.Mesh: elements cut into linear triangles between the nodes of order P + 1, each with points of
        its own, and u, u_star, q and sigma there."""
        meshio = package("meshio", "to_meshio()")
        order = self.order + 1
        points, triangles = self._pieces(order)
        fields = {name: self.values(name, order).ravel() for name in c.FIELDS}
        pairs = {name: np.stack([fields.pop(one), fields.pop(two)], axis=-1)
                 for name, one, two in (("q", "qx", "qy"), ("sigma", "sigma_x", "sigma_y"))}
        return meshio.Mesh(np.column_stack([points, np.zeros(len(points))]), [("triangle", triangles)],
                           point_data={**fields, **pairs})

    def _pieces(self, order):
        """All nodes of an order, [node][2], and the triangles between them."""
        offsets = self.offsets(order)
        triangles = [offsets[elements][:, None, None] + shape.subdivision(order)
                     for shape, elements, _ in self.mesh.shapes]
        return self.nodes(order).reshape(-1, 2), np.concatenate([part.reshape(-1, 3) for part in triangles])
