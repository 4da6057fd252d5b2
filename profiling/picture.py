#!/usr/bin/python3
"""Draw a field of a kedge VTKHDF file, with the mesh over it, as PNG (or PDF, SVG).

    picture.py plate.vtkhdf plate.png [--field u] [--subdivide 4] [--no-mesh]

Needs h5py and matplotlib (Debian and Ubuntu: python3-h5py, python3-matplotlib).
"""
import argparse
import json
import os
import sys

try:
    import h5py
    import numpy as np
    import matplotlib
except ImportError as error:
    sys.exit(f"picture.py: {sys.executable} has no {error.name}; install h5py and matplotlib there, or "
             "take Debian's: /usr/bin/python3 picture.py ...")

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.collections import LineCollection
from matplotlib.tri import Triangulation

# Corners of VTK's types of cells: linear and Lagrange triangles and quadrilaterals.
CORNERS = {5: 3, 69: 3, 9: 4, 70: 4}
# The largest order of cells of VTK; cells are one order above the solution up to that, but of waves.
LARGEST_ORDER = 10


def triangle_lattice(order):
    """Nodes of a Lagrange triangle in VTK's order, as pairs (i, j): r = i/order, s = j/order.

    Vertices, edges, then the interior as a triangle of order - 3.
    """
    nodes, corner = [], 0
    while order > 0:
        n = order
        nodes += [(0, 0), (n, 0), (0, n)]
        nodes += [(i, 0) for i in range(1, n)]
        nodes += [(n - i, i) for i in range(1, n)]
        nodes += [(0, n - i) for i in range(1, n)]
        nodes[-3 * n:] = [(i + corner, j + corner) for i, j in nodes[-3 * n:]]
        order, corner = order - 3, corner + 1
    if order == 0:
        nodes.append((corner, corner))
    return nodes


def square_lattice(n):
    """The same of a Lagrange quadrilateral: vertices, edges, rows of the interior."""
    inner = range(1, n)
    return [(0, 0), (n, 0), (n, n), (0, n),
            *[(i, 0) for i in inner], *[(n, j) for j in inner],
            *[(i, n) for i in inner], *[(0, j) for j in inner],
            *[(i, j) for j in inner for i in inner]]


def factor(t, node, order):
    """The Lagrange polynomial of a node among 0 .. order, at t."""
    return np.prod([(t - k) / (node - k) for k in range(order + 1) if k != node], axis=0)


def interpolation(corners, order, subdivide):
    """Matrix from the values at a cell's nodes to those at a lattice of `subdivide` pieces an edge.

    Products of one-dimensional Lagrange factors, in the three barycentric coordinates of triangles.
    """
    points = [(i, j) for j in range(subdivide + 1)
              for i in range(subdivide + 1 - (j if corners == 3 else 0))]
    r, s = np.array(points).T * (order / subdivide)
    if corners == 4:
        columns = [factor(r, i, order) * factor(s, j, order) for i, j in square_lattice(order)]
    else:
        t = order - r - s
        columns = [factor(r, i, i) * factor(s, j, j) * factor(t, order - i - j, order - i - j)
                   for i, j in triangle_lattice(order)]
    return np.array(columns).T, points


def small_triangles(points):
    """Corners of the pieces of a subdivided cell, as indices into its points."""
    index = {point: k for k, point in enumerate(points)}
    triangles = []
    for i, j in points:
        if (i + 1, j) in index and (i, j + 1) in index:
            triangles.append((index[i, j], index[i + 1, j], index[i, j + 1]))
        if (i + 1, j + 1) in index:
            triangles.append((index[i + 1, j], index[i + 1, j + 1], index[i, j + 1]))
    return np.array(triangles)


def rim_of(points):
    """Points of a subdivided cell along its edges, round and back, as indices."""
    n, index = max(i for i, _ in points), {point: k for k, point in enumerate(points)}
    walk = [(i, 0) for i in range(n)]
    if (n, n) in index:
        walk += [(n, j) for j in range(n)] + [(n - i, n) for i in range(n)]
    else:
        walk += [(n - j, j) for j in range(n)]
    return [index[point] for point in walk + [(0, n - j) for j in range(n + 1)]]


def open_file(path):
    """The file for reading, or the end with a sentence."""
    if path.endswith(".series") and os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            names = [entry["name"] for entry in json.load(file)["files"]]
        shown = names if len(names) <= 4 else [*names[:2], "...", names[-1]]
        sys.exit(f"{path} is a list of files; take one of them: {', '.join(shown)}")
    if not os.path.isfile(path):
        sys.exit(f"{path}: there is no such file; 'kedge solve' writes one with --output")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        if not h5py.is_hdf5(path):
            sys.exit(f"{path} is not a VTKHDF file")
        sys.exit(f"{path} cannot be read: {error}")
    if "VTKHDF" not in file:
        sys.exit(f"{path} is not a VTKHDF file")
    return file


def field_of(grid, path, field):
    """Values of a field, a vector's length, whether they are those of points, and its name.

    field -- None: u, or the first of a file without it, as those of waves are: Ez or p
    """
    if field is None:
        has_u = "u" in grid["PointData"] or "u" in grid["CellData"]
        field = "u" if has_u else next(iter(sorted(grid["PointData"])), "u")
    for group in ("PointData", "CellData"):
        if field in grid[group]:
            values = grid[group][field][:].astype(float)
            if values.ndim == 2:
                values = np.linalg.norm(values, axis=1)
            return values, group == "PointData", field
    known = ", ".join(sorted([*grid["PointData"], *grid["CellData"]]))
    sys.exit(f"{path} has no field {field}; it has {known}")


def read(path, field):
    """For each shape: corners, order, nodes [cell][node][2] and values [cell][node]; how far cells are above the
    solution, 1, but of waves 0; and the name of the field."""
    with open_file(path) as file:
        grid = file["VTKHDF"]
        offsets, types = grid["Offsets"][:], grid["Types"][:]
        points, connectivity = grid["Points"][:, :2], grid["Connectivity"][:]
        values, of_points, field = field_of(grid, path, field)
        above = 1 if "u" in grid["PointData"] else 0
    if not set(types) <= set(CORNERS):
        sys.exit(f"{path} holds cells that are no triangles and no quadrilaterals; Python's "
                 f"kedge.read({path!r}).plot() draws tetrahedra")
    shapes = []
    for kind in sorted(set(types)):
        cells = np.flatnonzero(types == kind)
        n = int(offsets[cells[0] + 1] - offsets[cells[0]])
        order = round((np.sqrt(8 * n + 1) - 3) / 2) if CORNERS[kind] == 3 else round(np.sqrt(n)) - 1
        ids = connectivity[offsets[cells][:, None] + np.arange(n)]
        of_nodes = values[ids] if of_points else np.repeat(values[cells][:, None], n, axis=1)
        shapes.append((CORNERS[kind], order, points[ids], of_nodes))
    return shapes, above, field


def draw(path, picture, field, subdivide, mesh):
    shapes, above, field = read(path, field)
    places, values, triangles, outlines, n = [], [], [], [], 0
    for corners, order, xy, at_nodes in shapes:
        matrix, points = interpolation(corners, order, subdivide)
        pieces = small_triangles(points)
        places.append((matrix @ xy).reshape(-1, 2))
        values.append((at_nodes @ matrix.T).ravel())
        first = n + len(points) * np.arange(len(xy))
        triangles.append((pieces[None] + first[:, None, None]).reshape(-1, 3))
        outlines += list(places[-1].reshape(len(xy), -1, 2)[:, rim_of(points)])
        n += len(points) * len(xy)
    xy, cells = np.concatenate(places), len(outlines)
    triangulation = Triangulation(*xy.T, np.concatenate(triangles))

    width, height = np.ptp(xy, axis=0)
    wide = 10.0
    tall = np.clip(0.85 * wide * height / width, 2.5, 12.0) + 0.9
    figure, axes = pyplot.subplots(figsize=(wide, tall), constrained_layout=True)
    colours = axes.tripcolor(triangulation, np.concatenate(values), shading="gouraud",
                             cmap="viridis", rasterized=True)
    if mesh:
        # Edges as thin as the mesh is fine: visible at a dozen cells, no black sheet at many.
        edge = np.sqrt(width * height / cells) * wide * 72 / width  # in points
        axes.add_collection(LineCollection(outlines, colors="white", alpha=0.45,
                                           linewidths=np.clip(edge / 25, 0.08, 0.7)))
    axes.set_aspect("equal")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_xlim(xy[..., 0].min(), xy[..., 0].max())
    axes.set_ylim(xy[..., 1].min(), xy[..., 1].max())
    for side in axes.spines.values():
        side.set_visible(False)
    name = "cell" if len(shapes) > 1 else {3: "triangle", 4: "quadrilateral"}[shapes[0][0]]
    about = f"{os.path.basename(path)}: {cells} {name}{'s' if cells > 1 else ''}"
    if 1 < order < LARGEST_ORDER:
        about += f", order {order - above}"
    axes.set_title(about, fontsize=11)
    figure.colorbar(colours, ax=axes, shrink=0.9, pad=0.02, aspect=30, label=field)
    figure.savefig(picture, dpi=160)


def check_picture(path):
    """End with a sentence when no picture can be written there."""
    known = FigureCanvasBase.get_supported_filetypes()
    ending = os.path.splitext(path)[1][1:].lower()
    if ending not in known:
        sys.exit(f"{path}: the picture's name must end in one of {', '.join(sorted(known))}")
    folder = os.path.dirname(path) or "."
    if not os.access(folder, os.W_OK):
        sys.exit(f"{path} cannot be written: there is no such folder, or it is read-only")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", help="what 'kedge solve' wrote")
    parser.add_argument("picture", help="the picture to write: .png, .pdf, .svg")
    parser.add_argument("--field", help="u, u_star, q or sigma (their lengths), of waves Ez, p, ..., or cell data "
                        "(default: u, Ez or p)")
    parser.add_argument("--subdivide", type=int, default=0, metavar="N",
                        help="pieces an edge of a cell (default: as its order needs)")
    parser.add_argument("--no-mesh", action="store_true", help="leave out the edges of the mesh")
    arguments = parser.parse_args()
    check_picture(arguments.picture)
    with open_file(arguments.file) as file:
        cells = int(file["VTKHDF/NumberOfCells"][0])
    # About half a million pieces are enough for any screen.
    pieces = arguments.subdivide or int(np.clip(np.sqrt(5e5 / cells), 1, 12))
    draw(arguments.file, arguments.picture, arguments.field, pieces, not arguments.no_mesh)


if __name__ == "__main__":
    main()
