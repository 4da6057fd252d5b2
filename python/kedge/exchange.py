"""Meshes of meshio: their cells, lines and groups; and solutions as such meshes."""
import numpy as np

from .arguments import array_of, package
from .cells import Tetrahedron
from .errors import InputError, WrongType
from .gmsh import SHAPES

# How names of meshio's shapes of space begin.
SOLIDS = ("tetra", "hexa", "wedge", "pyramid", "penta_prism", "polyhedron", "VTK_LAGRANGE_TETRAHEDRON",
          "VTK_LAGRANGE_HEXAHEDRON", "VTK_LAGRANGE_WEDGE", "VTK_LAGRANGE_PYRAMID")
NUMBERS = ("gmsh:physical", "medit:ref")  # cell_data of Gmsh and Medit: a number of a group, 0: none


def parts_of(mesh):
    """Of a meshio.Mesh {shape: cells}, lines and regions: (pairs, numbers, names) and (numbers, names), names being
    {number: name}. Of one in space the lines are triangles, and triples."""
    shapes = [block.type for block in mesh.cells]
    width, facets, elements = _kinds(shapes)
    cells = [array_of(f"cells of {block.type!r}", block.data)
             if block.type in (*SHAPES, "tetra") or block.type.startswith("line") else block.data for block in mesh.cells]
    for shape, block in zip(shapes, cells):
        if getattr(block, "ndim", 2) != 2 and len(block):
            raise InputError(f"cells of {shape!r} have the shape {block.shape}; expected is (n, vertices)")
    key = next((key for key in NUMBERS if key in mesh.cell_data), None)
    tags, names = _by_number(mesh, key, cells) if key else _by_sets(mesh, cells)
    found = {shape: [k for k, one in enumerate(shapes) if one == shape] for shape in dict.fromkeys(shapes) if shape in elements}
    lines = [k for k, shape in enumerate(shapes) if shape.startswith(facets)]
    pairs = _joined([cells[k][tags[k] != 0, :width] for k in lines], (0, width))
    numbers = _joined([tags[k][tags[k] != 0] for k in lines], 0)
    regions = _joined([tags[k] for of in found.values() for k in of], 0)
    blocks = {shape: np.concatenate([cells[k] for k in of]) for shape, of in found.items()}
    points = getattr(mesh, "point_sets", None)
    if not len(pairs) and points and blocks:
        pairs, numbers = _by_points(points, blocks, len(mesh.points))
        names = {**names, width - 1: dict(enumerate(points, 1))}
    return blocks, (pairs, numbers, _used(names[width - 1], numbers)), (regions, _used(names[width], regions))


def _kinds(shapes):
    """Vertices of a facet, how names of its shapes begin, and the shapes of elements."""
    solids = [shape for shape in shapes if shape.startswith(SOLIDS)]
    if not solids:
        return 2, "line", SHAPES
    for shape in solids + shapes:  # hexahedra before their quadrilaterals
        if shape not in ("tetra", "triangle", "vertex") and not shape.startswith("line"):
            raise InputError(f"cells are of shape {shape!r}; in space kedge has 'tetra', and 'triangle' for faces")
    return 3, "triangle", ("tetra",)


def _joined(parts, shape):
    return np.concatenate(parts) if parts else np.empty(shape, int)


def _used(names, numbers):
    return {number: name for number, name in names.items() if number in numbers}


def _by_number(mesh, key, cells):
    """Numbers of all cells, block by block, and names of lines and of regions."""
    pairs = {name: pair for name, pair in mesh.field_data.items() if np.size(pair) == 2}
    names = {of: {abs(int(tag)): name for name, (tag, dimension) in pairs.items() if dimension == of} for of in (1, 2, 3)}
    what = f"cell_data[{key!r}]"
    tags = [array_of(what, part) for part in mesh.cell_data[key]]
    if [part.shape for part in tags] != [(len(block),) for block in cells]:
        raise InputError(f"{what} has the shapes {', '.join(str(part.shape) for part in tags)}; expected is a number for each cell")
    if any(part.size and part.dtype.kind not in "iu" for part in tags):
        raise WrongType(f"{what} holds {', '.join(sorted({str(part.dtype) for part in tags}))}; whole numbers are expected")
    return [np.abs(part.astype(np.int64)) for part in tags], names  # the sign is an orientation


def _by_sets(mesh, cells):
    """Likewise of cell_sets, numbered from 1; those of meshio's own, "gmsh:...", are none."""
    sets = {name: parts for name, parts in (getattr(mesh, "cell_sets", None) or {}).items() if ":" not in name}
    tags = [np.zeros(len(block), int) for block in cells]
    for number, (name, parts) in reversed(list(enumerate(sets.items(), 1))):
        for block, part in zip(tags, parts):
            block[_members(f"cell_sets[{name!r}]", part, len(block))] = number
    return tags, dict.fromkeys((1, 2, 3), dict(enumerate(sets, 1)))


def _members(name, members, n):
    """Numbers of cells or points in a set, of n."""
    array = np.asarray([] if members is None else members)
    if array.size and array.dtype.kind not in "iu":
        raise WrongType(f"{name} holds {array.dtype}; it takes whole numbers")
    if array.size and not 0 <= array.min() <= array.max() < n:
        raise InputError(f"{name} holds {array.min()} to {array.max()}; there are 0 to {n - 1}")
    return array.astype(int)


def _by_points(sets, blocks, n):
    """Edges of the boundary, or faces, whose ends are in a set of n points, and numbers of sets from 1."""
    sides = [cells[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3) if shape == "tetra" else
             np.stack([cells[:, :m], np.roll(cells[:, :m], -1, axis=1)], axis=-1).reshape(-1, 2)
             for shape, cells in blocks.items() for m in (3 if shape.startswith("triangle") else 4,)]
    edges, count = np.unique(np.sort(np.concatenate(sides), axis=1), axis=0, return_counts=True)
    edges = edges[count == 1]
    numbers = np.zeros(len(edges), int)
    for number, (name, points) in reversed(list(enumerate(sets.items(), 1))):
        numbers[np.isin(edges, _members(f"point_sets[{name!r}]", points, n)).all(axis=1)] = number
    return edges[numbers > 0], numbers[numbers > 0]


def in_space(vectors):
    """Vectors of three components, as Gmsh and ParaView want them: of the plane the third is 0."""
    return vectors if vectors.shape[1] == 3 else np.column_stack([vectors, np.zeros(len(vectors))])


def by_vertices(s):
    """A solution on the mesh's own cells and vertices, with the lines of its groups."""
    meshio = package("meshio", "to_meshio()")
    mesh = s.mesh
    numbers = np.unique(mesh.corners)
    place = np.zeros(numbers.max() + 1, int)
    place[numbers] = np.arange(len(numbers))
    lines, of_lines = _boundary(mesh)
    of_regions = [mesh.regions[elements] for _, elements, _ in mesh.shapes]
    names = {group.name: np.array([group.tag, group.dimension]) for group in mesh.groups if group.tag > 0}
    shape_of_lines = "triangle" if mesh.info["dimension"] == 3 else "line"
    blocks = [*zip(mesh.cells.items(), of_regions), *([((shape_of_lines, lines), of_lines)] if len(lines) else [])]
    return meshio.Mesh(in_space(mesh.points[numbers]),
                       [(shape, place[cells]) for (shape, cells), _ in blocks],
                       point_data={**{field: s.at_vertices(field)[numbers] for field in s._names[0]},
                                   **{field: in_space(s.at_vertices(field)[numbers]) for field in s._names[1]}},
                       cell_data={"gmsh:physical": [tags for _, tags in blocks]}, field_data=names)


def _boundary(mesh):
    """Edges of the boundary, or faces, that have a group, and its numbers."""
    elements, sides, groups = mesh.boundary
    tags = np.array([group.tag for group in mesh.groups])[groups]
    if mesh.info["dimension"] == 3:
        faces = np.take_along_axis(mesh.cells["tetra"][elements], Tetrahedron.outward[sides], axis=1)
        return faces[tags > 0], tags[tags > 0]
    corners = np.empty(mesh.elements, int)
    for shape, of, _ in mesh.shapes:
        corners[of] = shape.corners
    first = (np.cumsum(corners) - corners)[elements]
    edges = np.stack([mesh.corners[first + (sides + end) % corners[elements]] for end in (0, 1)], axis=-1)
    return edges[tags > 0], tags[tags > 0]
