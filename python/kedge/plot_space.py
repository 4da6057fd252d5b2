"""Pictures of tetrahedra: the surface of a mesh, and slices through it."""
import numbers
from functools import lru_cache

import numpy as np

from .cells import Tetrahedron, Triangle, from_nodes
from .errors import InputError, WrongType, shown
from .plot import MOST, THIN, axes, plot_pieces

FINEST = 40000  # triangles that a surface is drawn by, where nobody gives an order
CHUNK = 1 << 22  # numbers of a table of polynomials


def order_of(mesh, degree, cut):
    """The order of the pieces that an element is drawn by, for polynomials of a degree."""
    order = max(min(degree, 8), 1)
    while cut is None and order > 1 and mesh.info["boundary_edges"] * order**2 > FINEST:
        order -= 1
    return order


def cut_of(mesh, places):
    """The axis and the place of a slice, of arguments x, y and z; None: there is none."""
    given = [(axis, at) for axis, at in enumerate(places) if at is not None]
    if not given:
        return None
    if mesh.info["dimension"] == 2:
        raise WrongType(f"{'xyz'[given[0][0]]} is the place of a slice, which a mesh of the plane has none of")
    if len(given) > 1:
        raise WrongType("a slice has one of x, y and z; give that alone")
    (axis, at), = given
    if isinstance(at, bool) or not isinstance(at, numbers.Real):
        raise WrongType(f"{'xyz'[axis]} is {shown(repr(at))}; it takes the number at which a slice is drawn")
    low, high = mesh.info["low"][axis], mesh.info["high"][axis]
    if not low <= at <= high:
        raise InputError(f"the slice at {'xyz'[axis]} = {at:g} misses the mesh, which goes from {low:g} to {high:g} there")
    return axis, float(at)


def plot_field(mesh, parts, order, label, ax, edges, cut, options):
    """A field, or the length of a vector, of its parts at the nodes of an order: [element][node] each."""
    if cut is None:
        return _plot_surface(mesh, _length(parts), order, label, ax, edges, options)
    return _plot_slice(mesh, parts, order, label, ax, edges, *cut, options)


def _length(parts):
    return parts[0] if len(parts) == 1 else np.sqrt(sum(part**2 for part in parts))


@lru_cache(maxsize=None)
def _face_nodes(order):
    """The nodes of an element on each face, as a triangle has them: [face][node]."""
    number = {tuple(at): k for k, at in enumerate(Tetrahedron.lattice(order))}
    corner = Tetrahedron.lattice(1)
    return np.array([[number[tuple((order - i - j) * corner[a] + i * corner[b] + j * corner[c])]
                      for i, j in Triangle.lattice(order)] for a, b, c in Tetrahedron.outward])


def _rim(order):
    """The pieces of the edges of a triangle, between its nodes: [piece][2]."""
    number = {tuple(at): k for k, at in enumerate(Triangle.lattice(order))}
    chain = [(k, 0) for k in range(order)] + [(order - k, k) for k in range(order)]
    chain = [number[at] for at in chain + [(0, order - k) for k in range(order)]]
    return np.stack([chain, np.roll(chain, -1)], axis=-1)


def _axes(mesh, ax):
    """Axes in space, or new ones, as large as the mesh."""
    ax = axes(ax, "plot()", constrained_layout=True, subplot_kw={"projection": "3d"})
    if not hasattr(ax, "set_zlim"):
        raise WrongType("ax has two dimensions, and a surface three: make it by subplots(subplot_kw={'projection': '3d'})")
    low, high = np.array(mesh.info["low"]), np.array(mesh.info["high"])
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]), xlabel="x", ylabel="y", zlabel="z")
    ax.set_box_aspect(high - low)
    return ax


def _plot_surface(mesh, values, order, label, ax, edges, options):
    """Triangles of one colour each, and edges as triangles without an area: all are painted back to front together."""
    ax = _axes(mesh, ax)
    from matplotlib.cm import ScalarMappable
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    elements, sides, _ = mesh.boundary
    nodes = _face_nodes(order)[sides]
    places = mesh.shapes[0][2].places(*Tetrahedron.lattice(order).T / order, elements=elements)
    places = np.take_along_axis(places, nodes[..., None], axis=1)
    small = Triangle.subdivision(order)
    means = values[elements[:, None], nodes][:, small].mean(axis=-1).ravel()
    polygons = places[:, small].reshape(-1, 3, 3)
    scale, rest = ({key: value for key, value in options.items() if (key in ("cmap", "norm", "vmin", "vmax")) == of_scale}
                   for of_scale in (True, False))
    try:
        colors = ScalarMappable(scale.get("norm"), scale.get("cmap"))
        colors.set_array(means)
        colors.set_clim(scale.get("vmin"), scale.get("vmax"))
        colors.autoscale_None()
        painted = colors.to_rgba(means)
        if edges and len(elements) <= MOST:
            lines = places[:, _rim(order)[:, [0, 1, 1]]].reshape(-1, 3, 3)
            polygons, gray = np.concatenate([polygons, lines]), float(THIN["colors"])
            painted = np.concatenate([painted, np.tile([gray, gray, gray, 1], (len(lines), 1))])
        ax.add_collection3d(Poly3DCollection(polygons, **{"facecolors": painted, "edgecolors": painted,
                                                          "linewidths": THIN["linewidths"], **rest}))
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"plot(): Poly3DCollection of matplotlib says: {error}") from error
    ax.figure.colorbar(colors, ax=ax, label=label, shrink=0.7, pad=0.1)
    return ax


def _cut(mesh, corners, axis, at):
    """Triangles in which a plane cuts tetrahedra: the elements, and corners as shares of those of the elements,
    [triangle][3][4]; and where the outlines of the cuts are, as sides of the triangles, [triangle][3] bool."""
    depth = corners[..., axis] - at
    above = depth > 0
    # Faces in the plane are cut once: with the element above, or with the one below where there is no other.
    elements, sides, _ = mesh.boundary
    in_plane = (depth[elements[:, None], Tetrahedron.faces[sides]] == 0).all(axis=1)
    below = elements[in_plane & ~above[elements].any(axis=1)]
    above[below] = depth[below] == 0
    count, by_depth = above.sum(axis=1), np.argsort(depth, axis=1)
    found = []
    # Below and above the plane: pairs of corners, in the order of depth, between which the plane cuts.
    for n_above, pairs, outer in [(1, [(3, 0), (3, 1), (3, 2)], [1, 1, 1]), (3, [(0, 1), (0, 2), (0, 3)], [1, 1, 1]),
                                  (2, [(0, 2), (0, 3), (1, 3)], [1, 1, 0]), (2, [(0, 2), (1, 3), (1, 2)], [0, 1, 1])]:
        element = np.flatnonzero(count == n_above)
        shares = np.zeros((len(element), 3, 4))
        for k, (i, j) in enumerate(pairs):
            a, b = by_depth[element, i], by_depth[element, j]
            of_a, of_b = depth[element, a], depth[element, b]
            row = np.arange(len(element))
            shares[row, k, a], shares[row, k, b] = of_b / (of_b - of_a), of_a / (of_a - of_b)
        found.append((element, shares, np.tile(np.array(outer, bool), (len(element), 1))))
    return tuple(np.concatenate(part) for part in zip(*found))


def _plot_slice(mesh, parts, order, label, ax, edges, axis, at, options):
    if ax is not None and hasattr(ax, "set_zlim"):
        raise WrongType("ax has three dimensions, and a slice two")
    corners = mesh.shapes[0][2].places(*Tetrahedron.lattice(1).T)
    element, shares, outer = _cut(mesh, corners, axis, at)
    i, j = Triangle.lattice(order).T / order
    shares_of_nodes = np.einsum("pc,tck->tpk", np.stack([1 - i - j, i, j], axis=-1), shares)
    plane = [k for k in range(3) if k != axis]
    points = np.einsum("tpk,tkd->tpd", shares_of_nodes, corners[element][..., plane])
    values = _length([_at_shares(part, order, element, shares_of_nodes) for part in parts])
    n = shares_of_nodes.shape[1]
    triangles = (np.arange(len(element))[:, None, None] * n + Triangle.subdivision(order)).reshape(-1, 3)

    def draw_edges(ax):
        from matplotlib.collections import LineCollection
        ends = np.stack([points[:, :3], np.roll(points[:, :3], -1, axis=1)], axis=2)
        if len(element) <= MOST:
            ax.add_collection(LineCollection(ends[outer], **THIN))

    ax = plot_pieces(values.ravel(), points.reshape(-1, 2), triangles, label, ax, draw_edges if edges else None, options)
    ax.set(xlabel="xyz"[plane[0]], ylabel="xyz"[plane[1]])
    return ax


def _at_shares(values, order, element, shares):
    """Polynomials by their values at nodes, [element][node], at places of elements: [triangle][point]."""
    modes, out = values[element] @ from_nodes(Tetrahedron, order).T, np.empty(shares.shape[:2])
    step = max(CHUNK // (shares.shape[1] * modes.shape[1]), 1)
    for first in range(0, len(element), step):
        here = slice(first, first + step)
        basis = Tetrahedron.basis(order, *np.moveaxis(shares[here, :, 1:], -1, 0))
        out[here] = np.einsum("tpm,tm->tp", basis, modes[here])
    return out


def plot_mesh_surface(mesh, ax):
    """Faces in the colours of their groups."""
    ax = _axes(mesh, ax)
    from matplotlib.patches import Patch
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    from matplotlib.colors import to_rgba
    elements, sides, groups = mesh.boundary
    corners = mesh.shapes[0][2].places(*Tetrahedron.lattice(1).T, elements=elements)
    numbers, which = np.unique(groups, return_inverse=True)
    colors = np.array([to_rgba(f"C{k % 10}") for k in range(len(numbers))])[which]
    lines = {"edgecolors": "0.3", "linewidths": 0.3} if len(elements) <= MOST else {"edgecolors": colors, "linewidths": 0.3}
    polygons = np.take_along_axis(corners, Tetrahedron.outward[sides][..., None], axis=1)
    ax.add_collection3d(Poly3DCollection(polygons, facecolors=colors, **lines))
    ax.legend(handles=[Patch(color=f"C{k % 10}", label=mesh.groups[group].name) for k, group in enumerate(numbers)],
              loc="center left", bbox_to_anchor=(1.05, 0.5), fontsize="small")
    return ax
