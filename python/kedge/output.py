"""Output files, read back."""
from __future__ import annotations

import ctypes
import os
from functools import cached_property
from typing import Optional

import numpy as np

from . import _library as c
from .arguments import named, path_of, wanted
from .cells import Quadrilateral, Tetrahedron, Triangle, from_nodes, part
from .context import Context, context_of
from .errors import FileError, InputError, OutOfMemory, shown
from .fields import Fields, by_parts
from .hints import Array, Path, Union
from .mesh import Mesh
from .waves import WaveFields
from .wave_keys import FIELDS

QUADRILATERALS, TETRAHEDRA, FULL, LINES, TRIANGLES = (9, 70), (10, 71), (69, 70, 71), 68, 69  # VTK's types
ORDERS = 5  # of the curves of a mesh


@named
def read(path: Path, mesh: Optional[Mesh] = None, backend: Union[str, Context] = "auto") -> Output:
    """An output file, of Solution.write() or of the command, as an Output; one of waves as a WaveOutput.

    mesh    -- the Mesh that was solved on. Left out: one made from the file, which has regions by number and no groups,
               is joined where vertices have the same place, and has triangles before quadrilaterals
    backend -- of the mesh that is made
    """
    if mesh is not None:
        wanted("mesh", mesh, Mesh)
    context = context_of(backend) if mesh is None else mesh.context
    for kind in (Output, WaveOutput):
        if _has(context, path, f"FieldData/{kind._mark}"):
            return kind(path, mesh, context)
    return Output(path, mesh, context)  # which says what is wrong


def _has(context, path, name):
    """Whether a file has an array."""
    try:
        context.call("kedge_output_read", context.handle, path_of("path", path), name.encode(), ctypes.c_int64(), None)
    except InputError:
        return False
    return True


class Output(Fields):
    """An output file: fields as of a Solution, but neither trace nor report.

    mesh  -- a Mesh, to whose elements arrays belong
    order -- P; the file holds the fields as polynomials of order P + 1, at most 10: with P = 10 u_star, and from 11 on
             every field, is what interpolates it
    converged, relative_residual -- of the solve

    Arrays are read when they are asked for. A file that has been written meanwhile is refused.

    Of a solve with fields="cells" it has means() and indicator alone.
    """

    _mark = "converged"  # what files of these fields have, and others have not
    _above = 1  # the order of the polynomials of a file, less P

    def __init__(self, path: Path, mesh: Optional[Mesh], context: Context) -> None:
        self.path, self.context, self._modes = os.fsdecode(path_of("path", path)), context, {}
        self._file, self._state = os.path.abspath(self.path), None
        self._read_head()
        types = self._numbers("Types").astype(int)
        if types[0] == LINES or types[0] == TRIANGLES and self._has("PointData/trace"):
            what = "lines" if types[0] == LINES else "faces"
            raise InputError(f"{self.path} holds the {what} of a boundary, not a field; read that of Solution.write()")
        self._in_space = types[0] in TETRAHEDRA
        quadrilateral = np.isin(types, QUADRILATERALS)
        self._offsets = self._numbers("Offsets").astype(np.int64)
        points = self._numbers("Points").reshape(-1, 3)[:, :3 if self._in_space else 2]
        self._points = len(points)
        if not np.isfinite(points).all():
            raise FileError(self._damage("a coordinate of Points is not finite"))
        shape = Tetrahedron if self._in_space else Quadrilateral if quadrilateral[0] else Triangle
        self._file_order = next(n for n in range(1, 11) if shape.count(n) == self._offsets[1])
        self._full = types[0] in FULL
        self.order = self._read_order()
        if not self._full:
            points = points[self._numbers("Connectivity").astype(np.int64)]
        # [element]: its cell of the file.
        self._cell = np.argsort(quadrilateral, kind="stable") if mesh is None else np.arange(len(types))
        with np.errstate(over="ignore", invalid="ignore"):  # of coordinates that no mesh has, which is then refused
            if mesh is None:
                mesh = self._make_mesh(points, quadrilateral, context)
            else:
                self._check(mesh, points, quadrilateral)
        self.mesh = mesh

    def _read_head(self):
        """What a file says of all its fields."""
        self.converged = bool(self._numbers("FieldData/converged")[0])
        self.relative_residual = float(self._numbers("FieldData/relative_residual")[0])

    def __repr__(self):
        return shown(f"<kedge.{type(self).__name__} of {self.path}: {self.mesh!r}>")

    def _damage(self, what):
        return f"{self.path} is damaged: {what}; write it again"

    def _has(self, name):
        return _has(self.context, self._file, name)

    def _numbers(self, name, expected=None):
        """An array of the file. The library has compared it with the others; how many numbers a row has is looked at here."""
        count = ctypes.c_int64()
        arguments = self.context.handle, os.fsencode(self._file), name.encode(), count
        self._check_state()
        self.context.call("kedge_output_read", *arguments, None)
        if expected is not None and count.value != expected:
            raise FileError(self._damage(f"{name} has {count.value} numbers, not {expected}"))
        try:
            values = np.empty(count.value)
        except MemoryError:
            raise OutOfMemory(f"no host memory for the {count.value} numbers {name} of {self.path}") from None
        self.context.call("kedge_output_read", *arguments, values.ctypes.data)
        self._check_state()
        return values

    def _read_order(self):
        """P. Files of earlier builds lack it; their nodes tell it where they are of order P + 1."""
        try:
            order = self._numbers("FieldData/order", 1)[0]
        except InputError as error:
            if self._full and self._file_order < 10:
                return self._file_order - self._above
            raise FileError(f"{self.path} does not say its order, as an earlier build of kedge wrote it; write it again "
                            "with this one") from error
        if not (1 <= order <= c.ORDER_MAX and order == int(order)) or self._full and self._file_order != min(order + self._above, 10):
            raise FileError(self._damage(f"FieldData/order is {order:g}"))
        return int(order)

    def _check_state(self):
        """Arrays are read when they are asked for; all are of the file that was there at first."""
        try:
            there = os.stat(self._file)
        except OSError as error:
            raise FileError(f"cannot read {self.path}: {error.strerror}") from None
        state = there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns
        self._state = self._state or state
        if state != self._state:
            raise FileError(f"{self.path} has been written since it was read; call kedge.read() again")

    def _of_shape(self, flat, shape, cells):
        """What an array over all nodes of the file has for cells of one shape."""
        return part(flat, self._offsets, shape, cells, self._file_order)

    def _check(self, mesh, points, quadrilateral):
        """Whether the file is of a mesh."""
        same = mesh.elements == len(quadrilateral) and self._in_space == (mesh.info["dimension"] == 3)
        for shape, elements, maps in mesh.shapes if same else ():
            same = same and (quadrilateral[elements] == (shape is Quadrilateral)).all()
            if same:
                here = self._of_shape(points, shape, elements)[:, :shape.corners]
                places = maps.places(*shape.lattice(1).T)
                same = np.abs(here - places).max() <= 1e-9 * np.ptp(places, axis=(0, 1)).max()
        if not same:
            raise InputError(f"{self.path} was not written on this mesh; leave mesh out, and one is made from the file")

    def _make_mesh(self, points, quadrilateral, context):
        order, shapes = self._file_order, []
        if self._in_space:
            corners = part(points, self._offsets, Tetrahedron, np.arange(len(self._cell)), order)[:, :4].reshape(-1, 3)
            joined, number = _join(corners, np.arange(len(corners)))
            return Mesh(joined, {"tetra": number.reshape(-1, 4)}, regions=self._regions(), backend=context)
        for shape, mine in (Triangle, ~quadrilateral), (Quadrilateral, quadrilateral):
            if mine.any():
                nodes = self._of_shape(points, shape, np.flatnonzero(mine))
                shapes.append((shape, nodes, np.einsum("mn,enk->emk", from_nodes(shape, order), nodes)))
        geometry = max(_degree(shape, order, modes) for shape, _, modes in shapes)
        all_points, blocks, n = [], {}, 0
        for shape, nodes, modes in shapes:
            x, y = shape.gmsh_lattice(geometry).T / geometry
            places = np.einsum("pm,emk->epk", shape.basis(order, x, y), modes)
            places[:, :shape.corners] = nodes[:, :shape.corners]
            name = {Triangle: "triangle", Quadrilateral: "quad"}[shape] + (str(len(x)) if geometry > 1 else "")
            blocks[name] = n + np.arange(places[..., 0].size).reshape(places.shape[:2])
            all_points.append(places.reshape(-1, 2))
            n += len(all_points[-1])
        joined, number = _join(np.concatenate(all_points), np.concatenate(
            [cells[:, :shape.corners].ravel() for (shape, _, _), cells in zip(shapes, blocks.values())]))
        return Mesh(joined, {name: number[cells] for name, cells in blocks.items()}, regions=self._regions(),
                    backend=context)

    def _regions(self):
        regions = self._numbers("CellData/region", len(self._cell))[self._cell]
        if not ((0 <= regions) & (regions < 2**31)).all() or (regions != np.trunc(regions)).any():
            raise FileError(self._damage("CellData/region holds what is no number of a region"))
        return regions.astype(np.int32)

    @cached_property
    def indicator(self) -> Array:
        """The L2 norm of u_star - u over every element, [element]."""
        return self._numbers("CellData/error_indicator", len(self._cell))[self._cell]

    @by_parts
    def means(self, field: str) -> Array:
        """The mean of a field over every element, [element]; of "q" and "sigma" [element][dimension]."""
        if not self._full:
            return self._component("CellData", "u" if field == "u_star" else field)[self._cell]
        if self._in_space:  # other polynomials are orthogonal to the first one, which is constant
            return self._coefficients(field)[1][0][:, 0] * Tetrahedron.basis(0, *np.zeros(3))
        weight, _, values = self.quadrature(field)
        return (weight * values).sum(axis=1) / weight.sum(axis=1)

    def _component(self, where, field):
        """A field of the file, flat."""
        self._check_field(field)
        rows = self._points if where == "PointData" else len(self._cell)
        if field in self._names[0]:
            return self._numbers(f"{where}/{field}", rows)
        vector, axis = ("q", field[1]) if field[0] == "q" else field.split("_")
        return self._numbers(f"{where}/{vector}", 3 * rows).reshape(-1, 3)[:, "xyz".index(axis)]

    def _degree(self, field):
        return self._file_order

    def offsets(self, order: Optional[int] = None) -> Array:
        """Where each element begins in arrays over nodes: [elements + 1] int."""
        order, count = self._nodes_order(order), np.empty(self.mesh.elements, np.int64)
        for shape, elements, _ in self.mesh.shapes:
            count[elements] = shape.count(order)
        return np.concatenate([[0], np.cumsum(count)])

    def nodes(self, order: Optional[int] = None) -> Array:
        """Coordinates of the nodes, [element][node][dimension]; order: P where it is left out."""
        order = self._nodes_order(order)
        return self._arrange(order, [maps.places(*shape.lattice(order).T / order)
                                     for shape, _, maps in self.mesh.shapes])

    @by_parts
    def values(self, field: str, order: Optional[int] = None) -> Array:
        """A field at nodes of any order: "u", "u_star", "qx", "qy", "sigma_x" or "sigma_y", in space "qz" and
        "sigma_z" too; "q" and "sigma" are [...][dimension]."""
        if not self._full:
            raise InputError(f"{self.path} holds means alone, as it was written with fields = 'cells'; take means()")
        order = self._nodes_order(order)
        if order == self._file_order:
            flat = self._component("PointData", field)
            return self._arrange(order, [self._of_shape(flat, shape, self._cell[elements])
                                         for shape, elements, _ in self.mesh.shapes])
        degree, modes = self._coefficients(field)
        return self._arrange(order, [coefficients @ shape.basis(degree, *shape.lattice(order).T / order).T
                                     for (shape, _, _), coefficients in zip(self.mesh.shapes, modes)])

    def _arrange(self, order, parts):
        """Arrays by shape, [element][node]..., as one."""
        if len(parts) == 1:
            return parts[0]
        offsets = self.offsets(order)
        flat = np.empty((int(offsets[-1]), *parts[0].shape[2:]))
        for (shape, elements, _), values in zip(self.mesh.shapes, parts):
            flat[offsets[elements][:, None] + np.arange(shape.count(order))] = values
        return flat


class WaveOutput(WaveFields, Output):
    """An output file of waves: fields by name, as of a WaveSolution.

    mesh, order -- as of an Output; the file holds polynomials of order P
    t           -- the time of the fields
    """

    _mark, _above = "t", 0

    def _read_head(self):
        self.t = float(self._numbers("FieldData/t", 1)[0])
        self.fields = tuple(name for name in FIELDS if self._has(f"PointData/{name}"))
        if not self.fields:
            raise FileError(self._damage("it has no field of waves"))

    def _component(self, where, field):
        self._check_field(field)
        return self._numbers(f"{where}/{field}", self._points)


def _degree(shape, order, modes):
    """The order of maps of elements, [element][mode][x, y]."""
    degree = shape.degrees(order)
    size = np.abs(modes[:, degree == 1]).max(axis=(1, 2))[:, None, None]
    there = (np.abs(modes) > 1e-11 * size).any(axis=(0, 2))
    return min(int(degree[there].max(initial=1)), ORDERS)


def _join(points, corners):
    """Points without copies of corners, which are numbers of points, and the new numbers; others keep their own."""
    place, number = np.unique(points[corners] + 0.0, axis=0, return_inverse=True)
    of_all = np.full(len(points), -1)
    of_all[corners] = number.ravel()
    rest = np.flatnonzero(of_all < 0)
    of_all[rest] = len(place) + np.arange(len(rest))
    return np.concatenate([place, points[rest]]), of_all
