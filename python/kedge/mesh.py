"""Meshes: from files, generators, NumPy arrays and meshio."""
from __future__ import annotations

import ctypes
import numbers
import os
import tempfile
from functools import cached_property
from typing import List, NamedTuple, Optional

import numpy as np

from . import _library as c
from . import exchange, tables
from .arguments import array_of, encoded, is_by_name, named, path_of, real, shown, whole
from .cells import Maps, part, shapes_of
from .context import Context, check, context_of, own, refuse_assignment, refuse_pickle
from .errors import InputError, WrongType, shown as shown_text
from .gmsh import SHAPES, write_gmsh
from .hints import Any, Array, ArrayLike, Cells, Dict, Mapping, Path, Sequence, Tuple, Union
from .location import Locator, on_host
from .outline import Outline, Surface
from .regions import Regions

class Group(NamedTuple):
    """Boundary edges, in space faces, or elements (those of the dimension of the mesh) of one name.

    count, measure -- how many and their length, area or volume; inner, inner_measure -- edges inside the domain, which take
    no condition
    """

    name: str
    tag: int
    dimension: int
    count: int  # type: ignore[assignment]
    measure: float
    inner: int
    inner_measure: float


def _array(value, dtype, width, name):
    """A C array [n][width], or [n] where width is 0."""
    array = array_of(name, value)
    if np.issubdtype(dtype, np.integer) and not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise WrongType(f"{name} holds {array.dtype}; whole numbers are expected")
    if np.issubdtype(dtype, np.integer) and array.size and not -2**31 <= array.min() <= array.max() < 2**31:
        raise InputError(f"{name} holds numbers that do not fit into 32 bits")
    given = array.shape
    array = np.ascontiguousarray(array, dtype)
    shape = array.reshape(-1, width).shape if width and array.size == 0 else given
    if len(shape) != (2 if width else 1) or (width and shape[1] != width):
        raise InputError(f"{name} has the shape {given}; expected is " + (f"(n, {width})" if width else "(n,)"))
    return array.reshape(shape)


def _check_names(what, names):
    for name in map(str, names):
        if not name or any(character in name for character in '"\n\r\0'):
            raise InputError(f"{what} has the name {name!r}; a name is not empty and holds no quotation mark, no line end and no NUL")


def _tags(groups, n, what):
    """Numbers of groups, and the names of these where they are names: {number: name}."""
    groups = array_of(what, groups)
    if groups.shape != (n,):
        raise InputError(f"{what} has the shape {groups.shape}; expected is ({n},)")
    if groups.dtype == object:
        wrong = next((one for one in groups if not isinstance(one, (str, int, np.integer)) or isinstance(one, bool)), None)
        if wrong is not None or any(one is None for one in groups):
            raise WrongType(f"{what} holds {shown(wrong)}; it takes names or whole numbers")
        if not any(isinstance(one, str) for one in groups):
            groups = array_of(what, groups.tolist())
    if groups.dtype.kind not in "UO":
        return _unsigned(groups, what), {}
    names, numbers = np.unique(groups.astype(str), return_inverse=True)
    _check_names(what, names)
    return (numbers + 1).astype(np.int32), {i + 1: str(name) for i, name in enumerate(names)}


def _unsigned(numbers, what):
    """Numbers of groups without their signs, which are orientations, as in files."""
    array = _array(numbers, np.int32, 0, what)
    if array.size and array.min() == -2**31:
        raise InputError(f"{what} holds numbers that do not fit into 32 bits")
    return np.abs(array)


def _lines(lines, groups, width):
    """Lines as {name or number: pairs}, or pairs and their groups, as pairs, tags and names.

    In space lines are triangles, of the width 3.
    """
    if is_by_name(lines):
        if groups is not None:
            raise WrongType("groups go with lines that are one array; a dict of lines has their names")
        parts = {name: _array(pairs, np.int32, width, f"lines[{name!r}]") for name, pairs in lines.items()}
        pairs = np.concatenate(list(parts.values())) if parts else np.empty((0, width), np.int32)
        names = np.array([name for name, part in parts.items() for _ in range(len(part))], dtype=object)
        if all(isinstance(name, (int, np.integer)) for name in parts):
            names = names.astype(np.int32)
        return pairs, *_tags(names, len(pairs), "lines")
    pairs = _array([] if lines is None else lines, np.int32, width, "lines")
    if groups is None:
        if len(pairs):
            raise WrongType("lines have no groups; give groups, a name or number for each line, or a dict of lines")
        groups = np.empty(0, np.int32)
    return pairs, *_tags(groups, len(pairs), "groups")


class Mesh:
    """A mesh of triangles and quadrilaterals, or of tetrahedra, with named groups. It does not change.

    Mesh("plate.msh") reads a Gmsh file. Mesh(points, cells, lines, groups, regions) takes arrays:

    points  -- (n, 2) float, coordinates in the caller's unit of length
    cells   -- (m, 3) int, vertices of triangles from 0, in any orientation; (m, 4): quadrilaterals. A dict of
               such arrays by meshio's names of shapes has several: {"triangle": ..., "quad": ..., "triangle6": ...}
    lines   -- (k, 2) int, edges that have a group, with
    groups  -- (k,) names or positive numbers; or lines alone, a dict {name: (k, 2) int}
    regions -- (m,) names or numbers of the cells' materials, 0: none

    In space points are (n, 3), cells {"tetra": (m, 4)} and lines faces, (k, 3).

    geometry, map, join, refine -- as in [mesh] of a problem file, of files and generators; join, refine: of arrays too
    backend               -- "auto", "host", "cuda" or a Context: a GPU orders and connects large meshes
    """

    @named
    def __init__(self, source: Union[Path, ArrayLike], cells: Optional[Cells] = None,
                 lines: Union[ArrayLike, Mapping[Any, ArrayLike], None] = None, groups: Optional[ArrayLike] = None,
                 regions: Optional[ArrayLike] = None, *, geometry: Optional[int] = None,
                 map: Union[str, Sequence[str], None] = None, join: Optional[float] = None, refine: int = 0,
                 backend: Union[str, Context] = "auto") -> None:
        context = context_of(backend)
        settings = {"geometry": geometry, "map": map, "join": join, "refine": refine or None}
        if isinstance(source, (str, os.PathLike)):
            if not (cells is None and lines is None and groups is None and regions is None):
                raise WrongType("a mesh is of a file or of arrays, not of both")
            self._hold(context, _from_section(context, {"file": os.path.abspath(source), **settings}))
            return
        if cells is None:
            raise WrongType("Mesh() takes a file name, or points and cells")
        if geometry is not None or map is not None:
            raise WrongType("geometry and map are for files and generators; arrays have their points already")
        handle = _from_arrays(context, source, cells, lines, groups, regions)
        if join is not None:
            handle = Mesh._of(context, handle)._joined(join)
        self._hold(context, Mesh._of(context, handle)._refined(refine) if refine else handle)

    @classmethod
    @named
    def generate(cls, words: str, *, geometry: Optional[int] = None, map: Union[str, Sequence[str], None] = None,
                 refine: int = 0, backend: Union[str, Context] = "auto") -> Mesh:
        """The mesh that [mesh] generate = WORDS of a problem file makes: "square 40", "ring 8 64 quads"."""
        context = context_of(backend)
        settings = {"generate": words, "geometry": geometry, "map": map, "refine": refine or None}
        return cls._of(context, _from_section(context, settings))

    @classmethod
    @named
    def from_meshio(cls, mesh: Any, *, join: Optional[float] = None, refine: int = 0, backend: Union[str, Context] = "auto") -> Mesh:
        """The triangles and quadrilaterals of a meshio.Mesh, or its tetrahedra, with its groups.

        They are the numbers of cell_data["gmsh:physical"] or ["medit:ref"] with the names of field_data, 0: none; without
        these the names of cell_sets, of which the first that a cell is in counts. Where no lines have groups, edges of
        the boundary have the name of the first of point_sets that holds both ends. Triangles beside tetrahedra are
        faces, as lines beside triangles.
        """
        if not hasattr(mesh, "cell_data"):
            raise WrongType(f"mesh is {mesh!r}; it takes a meshio.Mesh")
        context = context_of(backend)
        cells, lines, regions = exchange.parts_of(mesh)
        cells = {shape: _block(f"cells of {shape!r}", block, shape) for shape, block in cells.items()}
        pairs, tags, names = lines
        _check_names("mesh", [*names.values(), *regions[1].values()])
        pairs = _array(pairs, np.int32, 3 if "tetra" in cells else 2, "lines")
        handle = _create(context, mesh.points, cells, (pairs, _unsigned(tags, "groups"), names),
                         (_unsigned(regions[0], "regions"), regions[1]))
        made = cls._of(context, handle)
        made = made if join is None else made.join(join)
        return made.refine(refine) if refine else made

    @classmethod
    def _of(cls, context, handle):
        mesh = cls.__new__(cls)
        mesh._hold(context, handle)
        return mesh

    def _hold(self, context, handle):
        self.context, self.handle, self._locators = context, handle, {}
        own(self, context, c.library.kedge_mesh_destroy, handle)
        info = c.MeshInfo(ctypes.sizeof(c.MeshInfo))
        check(c.library.kedge_mesh_get_info(handle, info), b"")
        self.info: Dict[str, Any] = {name: getattr(info, name) for name, _ in c.MeshInfo._fields_[1:]}
        for name in ("box", "coincident_at", "overlapping_at", "low", "high"):
            self.info[name] = tuple(self.info[name])
        for name in ("coincident", "overlapping"):
            z = self.info.pop(name + "_z")
            if self.info["dimension"] == 3:
                self.info[name + "_at"] += (z,)
        self.groups: List[Group] = [_group(handle, i) for i in range(c.library.kedge_mesh_group_count(handle))]

    @property
    def elements(self) -> int:
        """How many there are; so below."""
        return self.info["elements"]

    @property
    def vertices(self) -> int:
        return self.info["vertices"]

    @property
    def edges(self) -> int:
        return self.info["edges"]

    @property
    def area(self) -> float:
        """Of the domain, along its curves; of tetrahedra the volume."""
        return self.info["area"]

    @property
    def box(self) -> Tuple[float, ...]:
        """xmin, ymin, xmax, ymax; in space xmin, ymin, zmin, xmax, ymax, zmax."""
        n = self.info["dimension"]
        return (*self.info["low"][:n], *self.info["high"][:n])

    __reduce_ex__ = refuse_pickle
    __setattr__ = refuse_assignment

    def __repr__(self):
        names = shown_text(", ".join(group.name for group in self.groups))
        return f"<kedge.Mesh: {self.elements} elements, groups {names}>"

    def _repr_html_(self):
        return tables.of_mesh(self)

    def _array(self, name, shape, dtype):
        array = np.empty(shape, dtype)
        check(getattr(c.library, name)(self.handle, array.ctypes.data), b"not enough memory")
        return array

    @cached_property
    def offsets(self) -> Array:
        """Where each element begins in nodes: [elements + 1] int."""
        return self._array("kedge_mesh_offsets", self.elements + 1, np.int64)

    @cached_property
    def nodes(self) -> Array:
        """Nodes of the elements' maps, of the order info["geometry"], corners first: [node][dimension], one element
        after the other."""
        return self._upright(self._sorted_nodes) if self._is_space else self._sorted_nodes

    @cached_property
    def corners(self) -> Array:
        """The vertices of the elements, counterclockwise, of tetrahedra with positive volumes, one element after the
        other: [corner] int, numbered as in the arrays or the file of the mesh."""
        n, with_four = self.elements, self.elements if self._is_space else self.info["quadrilaterals"]
        corners = self._array("kedge_mesh_corners", 3 * n + with_four, np.int32)
        return self._upright(corners) if self._is_space else corners

    @cached_property
    def cells(self) -> Dict[str, Array]:
        """Elements by meshio's names of shapes, as Mesh() takes them: {"triangle": [n][3] int, "quad": [n][4]}. Of
        tetrahedra {"tetra": [n][4]}."""
        if self._is_space:
            return {"tetra": self.corners.reshape(-1, 4)}
        count = np.empty(self.elements, np.int64)
        for shape, elements, _ in self.shapes:
            count[elements] = shape.corners
        offsets = np.cumsum(count) - count
        return {shape.name: part(self.corners, offsets, shape, elements, 1) for shape, elements, _ in self.shapes}

    @cached_property
    def points(self) -> Array:
        """Coordinates of the vertices, [vertex][dimension]; NaN where a number is of no corner."""
        places = np.full((int(self.corners.max()) + 1, self.info["dimension"]), np.nan)
        if self._is_space:
            places[self.corners] = self.nodes
            return places
        for (_, _, maps), cells in zip(self.shapes, self.cells.values()):
            places[cells] = maps.places(*maps.shape.lattice(1).T)
        return places

    @cached_property
    def regions(self) -> Array:
        """Numbers of the regions of elements, 0: none: [element] int. ==, != and np.isin() take names too:
        mesh.regions == "steel"."""
        names = {}
        for group in self.groups:
            if group.dimension == self.info["dimension"]:
                names.setdefault(group.name, []).append(group.tag)
        shared = {name: tags for name, tags in names.items() if len(tags) > 1}
        single = {name: tags[0] for name, tags in names.items() if len(tags) == 1}
        return Regions(self._array("kedge_mesh_regions", self.elements, np.int32), single, shared)

    @cached_property
    def boundary(self) -> Tuple[Array, Array, Array]:
        """The edges of the boundary: (elements, sides, groups), [edge] int each; side k goes from corner k to the
        next, of a tetrahedron it is the face opposite corner k; groups are indices into `groups`."""
        arrays = np.empty((3, self.info["boundary_edges"]), np.int32)
        check(c.library.kedge_mesh_boundary(self.handle, *(array.ctypes.data for array in arrays)), b"")
        if self._is_space:
            elements, sides, groups = arrays
            return elements, np.where(self.turned[elements] & (sides > 1), 5 - sides, sides), groups
        return tuple(arrays)

    @property
    def _is_space(self):
        return self.info["dimension"] == 3

    @cached_property
    def shapes(self):
        """Shapes, the numbers of their elements, and their maps; those of tetrahedra keep their orientation."""
        geometry = self.info["geometry"]
        return [(shape, elements, Maps(shape, geometry, part(self.nodes, self.offsets, shape, elements, geometry)))
                for shape, elements in shapes_of(self.info, self.offsets)]

    @cached_property
    def _sorted_nodes(self):
        """As the library has them: corners of tetrahedra in the order by which faces and reference coordinates go."""
        return self._array("kedge_mesh_nodes", (int(self.offsets[-1]), self.info["dimension"]), np.float64)

    @cached_property
    def turned(self):
        """Of which tetrahedra the last two corners of the library are exchanged: [element] bool."""
        corners = self._sorted_nodes.reshape(-1, 4, 3)
        return np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0

    def _upright(self, of_corners):
        """An array over the library's corners of tetrahedra with the last two exchanged where volumes are negative, as
        in values at nodes."""
        array = of_corners.reshape(-1, 4, *of_corners.shape[1:]).copy()
        array[self.turned, 2:] = array[self.turned, :1:-1]
        return array.reshape(of_corners.shape)

    @cached_property
    def shape_places(self):
        """Of each element the number of its shape in `shapes`, and its place there: [element] each."""
        shape, place = np.empty((2, self.elements), np.int64)
        for k, (_, elements, _) in enumerate(self.shapes):
            shape[elements], place[elements] = k, np.arange(len(elements))
        return shape, place

    def _nodes_of(self, order):
        """Where each element begins in arrays over nodes of an order: [elements + 1] int."""
        offsets = np.zeros(self.elements + 1, np.int64)
        for shape, elements, _ in self.shapes:
            offsets[elements + 1] = shape.count(order)
        return np.cumsum(offsets)

    @cached_property
    def locator(self):
        """A tree over the elements, by which solutions find points."""
        return Locator(on_host(), self)

    @cached_property
    def outline(self):
        """A tree over the boundary, by which points outside find the nearest place on it."""
        return Surface(self) if self._is_space else Outline(self)

    def _rounding(self, unit):
        """How far outside rounding puts points of the boundary; unit: in the last place of 1 of their coordinates."""
        low, high = (np.array(self.info[name][:self.info["dimension"]]) for name in ("low", "high"))
        return 1e-9 * np.linalg.norm(high - low) + 4 * unit * np.abs([low, high]).max()

    def _locator_on(self, context):
        """That of a context on a GPU, which lives as long as the mesh then."""
        if context not in self._locators:
            self._locators[context] = Locator(context, self)
        return self._locators[context]

    def plot(self, ax: Any = None) -> Any:
        """Draw elements, regions and groups of the boundary with matplotlib, in space the surface by groups; returns the
        axes."""
        from .plot import plot_mesh
        return plot_mesh(self, ax)

    def refine(self, times: int = 1) -> Mesh:
        """A mesh with every element split into four, `times` times; element e becomes 4 e to 4 e + 3. Of tetrahedra every
        one becomes eight, 8 e to 8 e + 7."""
        return Mesh._of(self.context, self._refined(times))

    def _refined(self, times):
        """The handle of a refined mesh, which nothing owns yet."""
        handle = ctypes.c_void_p()
        self.context.call("kedge_mesh_refine", self.context.handle, self.handle, whole("refine", times), handle)
        return handle

    def join(self, distance: float) -> Mesh:
        """A mesh with vertices of the boundary made one that are no farther apart than a distance."""
        return Mesh._of(self.context, self._joined(distance))

    def _joined(self, distance):
        """The handle of a joined mesh, which nothing owns yet."""
        if isinstance(distance, bool) or not isinstance(distance, numbers.Real):
            raise WrongType(f"join is {shown(distance)}; it takes a number")
        handle = ctypes.c_void_p()
        self.context.call("kedge_mesh_join", self.context.handle, self.handle, float(distance), handle)
        return handle

    def write(self, path: Path, binary: bool = False) -> None:
        """Write a Gmsh 4.1 file."""
        self.context.call("kedge_mesh_write", self.context.handle, self.handle, path_of("path", path), binary)


def _from_section(context, settings, parameters=()):
    """A mesh by the keys of [mesh]; parameters: (name, text) of those that its map may have."""
    problem, handle = ctypes.c_void_p(), ctypes.c_void_p()
    context.call("kedge_problem_create", context.handle, problem)
    try:
        for name, text in parameters:
            context.call("kedge_problem_set", problem, b"parameters", encoded(name, name), encoded(name, str(text)))
        for key, value in settings.items():
            if value is not None:
                parts = value if isinstance(value, (tuple, list)) else [value]
                if not all(isinstance(part, (str, numbers.Real)) for part in parts):
                    raise WrongType(f"{key} is {shown(value)}; it takes text, as in a problem file")
                text = ", ".join(map(str, parts))
                context.call("kedge_problem_set", problem, b"mesh", key.encode(),
                             encoded(key, text, os.fsencode))
        context.call("kedge_problem_mesh", problem, handle)
    finally:
        c.library.kedge_problem_destroy(problem)
    return handle


def _from_arrays(context, points, cells, lines, groups, regions):
    lines = _lines(lines, groups, 3 if is_by_name(cells) and "tetra" in cells else 2)
    if is_by_name(cells):
        blocks = {shape: _block(f"cells[{shape!r}]", block, shape) for shape, block in cells.items()}
    else:
        array = array_of("cells", cells)
        shape = "quad" if array.shape[-1:] == (4,) else "triangle"
        blocks = {shape: _block("cells", array, shape)}
    n = sum(len(block) for block in blocks.values())
    regions = _tags(np.zeros(n, np.int32) if regions is None else regions, n, "regions")
    return _create(context, points, blocks, lines, regions)


def _block(name, cells, shape):
    """Cells of one of meshio's shapes: [n][nodes]."""
    if shape not in SHAPES and shape != "tetra":
        raise InputError(f"cells are of shape {shape!r}; kedge has {', '.join(SHAPES)}, and tetra in space")
    return _array(cells, np.int32, 4 if shape == "tetra" else SHAPES[shape][1], name)


def _plane(points, blocks):
    """Points as [n][2]. As in files, those of cells are finite and of one z, to rounding; others are 0 where they are not."""
    points = real("points", points)
    flat = _array(points[:, :2] if points.ndim == 2 and points.shape[1] == 3 else points, np.float64, 2, "points")
    if flat.shape == points.shape and np.isfinite(points).all():
        return flat
    used = np.zeros(len(points), bool)
    for cells in blocks.values():
        used[cells[(cells >= 0) & (cells < len(points))]] = True
    for i in np.flatnonzero(used & ~np.isfinite(points).all(axis=1))[:1]:
        raise InputError(f"points[{i}] is {points[i].tolist()}, and a cell uses it; coordinates must be finite")
    if flat.shape != points.shape and used.any():
        z, first = points[:, 2], np.flatnonzero(used)[0]
        i = np.argmax(np.where(used, np.abs(z - z[first]), 0))
        if abs(z[i] - z[first]) > 1e-10 * np.abs(flat[used]).max():
            remedy = "project them to the plane" + ", or give tetrahedra as {'tetra': cells}" * ("quad" in blocks)
            raise InputError(f"points are not in a plane z = const (points[{i}] has z = {z[i]:g}, points[{first}] z = "
                             f"{z[first]:g}); {remedy}")
    return np.where(np.isfinite(flat), flat, 0)


def _create(context, points, blocks, lines, regions):
    """A mesh of blocks {shape: cells}, lines (pairs, tags, names) and regions (tags, names)."""
    if not any(map(len, blocks.values())):
        raise InputError("there are no cells: no triangles, quadrilaterals or tetrahedra")
    if "tetra" in blocks:
        return _create_space(context, points, blocks, lines, regions)
    points = _plane(points, blocks)
    (pairs, tags, names), (region_tags, region_names) = lines, regions
    if list(blocks) != ["triangle"] or region_names:
        return _through_file(context, points, blocks, pairs, tags, names, region_tags, region_names)
    triangles = blocks["triangle"]
    texts = _texts(names.values())
    numbers = np.array(list(names) or [0], np.int32)
    arrays = c.MeshArrays(len(points), points.ctypes.data, len(triangles), triangles.ctypes.data, region_tags.ctypes.data,
                          len(pairs), pairs.ctypes.data, tags.ctypes.data, len(names), numbers.ctypes.data, texts)
    handle = ctypes.c_void_p()
    context.call("kedge_mesh_create", context.handle, arrays, handle)
    return handle


def _create_space(context, points, blocks, lines, regions):
    """Likewise of tetrahedra, with triples instead of pairs."""
    others = [shape for shape, cells in blocks.items() if shape != "tetra" and len(cells)]
    if others:
        raise InputError(f"cells are of shapes 'tetra' and {others[0]!r}; tetrahedra have none beside them, and their "
                         "faces are lines")
    points, cells = _array(real("points", points), np.float64, 3, "points"), blocks["tetra"]
    (faces, tags, names), (region_tags, region_names) = lines, regions
    numbers = np.array([*names, *region_names] or [0], np.int32)
    dimensions = np.array([2] * len(names) + [3] * len(region_names) or [0], np.intc)
    arrays = c.SpaceArrays(ctypes.sizeof(c.SpaceArrays), len(points), points.ctypes.data, len(cells), cells.ctypes.data,
                           region_tags.ctypes.data, len(faces), faces.ctypes.data, tags.ctypes.data,
                           len(names) + len(region_names), numbers.ctypes.data,
                           _texts([*names.values(), *region_names.values()]), dimensions.ctypes.data)
    handle = ctypes.c_void_p()
    context.call("kedge_mesh_create_space", context.handle, arrays, handle)
    return handle


def _texts(names):
    """Names as the library takes them."""
    texts = [encoded("a name of a group", name) for name in names]
    return (ctypes.c_char_p * max(len(texts), 1))(*texts)


def _through_file(context, points, blocks, pairs, tags, names, region_tags, region_names):
    """What the arrays of the library cannot say goes through a Gmsh file, which can."""
    with tempfile.TemporaryDirectory(prefix="kedge-") as folder:
        path = os.path.join(folder, "arrays.msh")
        write_gmsh(path, points, blocks, pairs, tags, names, region_tags, region_names)
        handle = ctypes.c_void_p()
        context.call("kedge_mesh_read", context.handle, os.fsencode(path), handle)
        return handle


def _group(handle, index):
    group = c.MeshGroup(ctypes.sizeof(c.MeshGroup))
    check(c.library.kedge_mesh_get_group(handle, index, group), b"")
    return Group(os.fsdecode(group.name), group.tag, group.dimension, group.count, group.measure, group.n_inner,
                 group.inner_measure)
