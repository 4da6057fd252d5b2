#!/usr/bin/python3
"""Draw a field of a kedge VTKHDF file, with the mesh over it, as PNG (or PDF, SVG).

    picture.py plate.vtkhdf plate.png [--field u] [--subdivide 4] [--no-mesh]

Needs h5py and matplotlib (Debian and Ubuntu: python3-h5py, python3-matplotlib).
"""
import argparse
import os
import sys

import h5py
import numpy as np
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.collections import LineCollection
from matplotlib.tri import Triangulation

LINEAR_TRIANGLE, LAGRANGE_TRIANGLE = 5, 69
# The largest order of cells of VTK; cells are one order above the solution up to that.
LARGEST_ORDER = 10


def lattice(order):
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
    return np.array(nodes)


def interpolation(order, subdivide):
    """Matrix from the values at a cell's nodes to those at a lattice of `subdivide` pieces an edge.

    Products of one-dimensional Lagrange factors in the three barycentric coordinates.
    """
    points = [(i, j) for j in range(subdivide + 1) for i in range(subdivide + 1 - j)]
    r, s = np.array(points).T * (order / subdivide)
    matrix = np.ones((len(points), (order + 1) * (order + 2) // 2))
    for column, (i, j) in enumerate(lattice(order)):
        for coordinate, last in ((r, i), (s, j), (order - r - s, order - i - j)):
            for k in range(last):
                matrix[:, column] *= (coordinate - k) / (last - k)
    return matrix, points


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


def open_file(path):
    """The file for reading, or the end with a sentence."""
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


def read(path, field):
    """Nodes [cell][node][2], values [cell][node] and the order of the cells."""
    with open_file(path) as file:
        grid = file["VTKHDF"]
        nodes = int(grid["Offsets"][1])
        order = round((np.sqrt(8 * nodes + 1) - 3) / 2)
        linear = grid["Types"][0] == LINEAR_TRIANGLE  # fields = cells
        if not linear and (grid["Types"][0] != LAGRANGE_TRIANGLE
                           or (order + 1) * (order + 2) // 2 != nodes):
            sys.exit(f"{path} does not hold triangles")
        points = grid["Points"][:, :2]
        xy = (points[grid["Connectivity"][:]] if linear else points).reshape(-1, nodes, 2)
        if field in grid["PointData"]:
            values = grid["PointData"][field][:]
            if values.ndim == 2:  # a vector: its length
                values = np.linalg.norm(values, axis=1)
            return xy, values.reshape(-1, nodes), order
        if field in grid["CellData"]:
            values = grid["CellData"][field][:].astype(float)
            if values.ndim == 2:
                values = np.linalg.norm(values, axis=1)
            return xy, np.repeat(values[:, None], nodes, axis=1), order
        known = ", ".join(sorted([*grid["PointData"], *grid["CellData"]]))
        sys.exit(f"{path} has no field {field}; it has {known}")


def draw(path, picture, field, subdivide, mesh):
    xy, values, order = read(path, field)
    matrix, points = interpolation(order, subdivide)
    fine_xy, fine = matrix @ xy, values @ matrix.T
    pieces = small_triangles(points)
    cells = len(xy)
    triangles = (pieces[None] + len(points) * np.arange(cells)[:, None, None]).reshape(-1, 3)
    triangulation = Triangulation(*fine_xy.reshape(-1, 2).T, triangles)

    width, height = np.ptp(xy.reshape(-1, 2), axis=0)
    wide = 10.0
    tall = np.clip(0.85 * wide * height / width, 2.5, 12.0) + 0.9
    figure, axes = pyplot.subplots(figsize=(wide, tall), constrained_layout=True)
    colours = axes.tripcolor(triangulation, fine.ravel(), shading="gouraud", cmap="viridis",
                             rasterized=True)
    if mesh:
        # Edges as thin as the mesh is fine: visible at a dozen triangles, no black sheet at many.
        edge = np.sqrt(width * height / cells) * wide * 72 / width  # in points
        corners = xy[:, [0, 1, 2, 0]]
        axes.add_collection(LineCollection(corners, colors="white", alpha=0.45,
                                           linewidths=np.clip(edge / 25, 0.08, 0.7)))
    axes.set_aspect("equal")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_xlim(xy[..., 0].min(), xy[..., 0].max())
    axes.set_ylim(xy[..., 1].min(), xy[..., 1].max())
    for side in axes.spines.values():
        side.set_visible(False)
    about = f"{os.path.basename(path)}: {cells} triangle{'s' if cells > 1 else ''}"
    if 1 < order < LARGEST_ORDER:
        about += f", order {order - 1}"
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
    parser.add_argument("--field", default="u",
                        help="u (default), q (its length), u_star, or cell data")
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
