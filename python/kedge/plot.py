"""Pictures, with matplotlib, which is needed for nothing else."""
import numpy as np

from .arguments import package
from .errors import InputError, WrongType
from .fields import parts_of

MOST = 30000  # elements whose edges are drawn


def axes(ax, what):
    """The axes to draw on, of matplotlib: those that were given, or new ones."""
    if ax is None:
        return package("matplotlib.pyplot", what).subplots()[1]
    if not hasattr(ax, "add_collection"):
        raise WrongType(f"ax is {ax!r}; it takes axes of matplotlib")
    return ax


def _sides(shape, maps, elements, sides, pieces):
    """Points along sides of elements: [side][point][2]; one side for each element."""
    corner = shape.lattice(1)
    begin, end = corner[sides], corner[(sides + 1) % shape.corners]
    t = np.linspace(0, 1, pieces + 1)[:, None]
    lines = np.empty((len(elements), len(t), 2))
    for side in range(shape.corners):
        here = np.flatnonzero(sides == side)
        if len(here):
            at = begin[here[0]] + t * (end[here[0]] - begin[here[0]])
            lines[here] = np.einsum("pk,ekd->epd", maps.powers(*at.T), maps.coefficients[elements[here]])
    return lines


def _draw_edges(ax, mesh, **options):
    from matplotlib.collections import LineCollection
    if mesh.elements > MOST:
        return
    pieces = 1 if mesh.info["geometry"] == 1 else 8
    for shape, elements, maps in mesh.shapes:
        own = np.repeat(np.arange(len(elements)), shape.corners)
        sides = np.tile(np.arange(shape.corners), len(elements))
        ax.add_collection(LineCollection(_sides(shape, maps, own, sides, pieces), **options))


def plot_solution(solution, field, ax, edges, order, options):
    values = [solution.values(part, order).ravel() for part in parts_of(field) or (field,)]
    values, label = (np.hypot(*values), f"|{field}|") if parts_of(field) else (values[0], field)
    return plot_values(solution.mesh, values, *solution._pieces(order), label, ax, edges, options)


def plot_values(mesh, values, points, triangles, label, ax, edges, options):
    """Values at points, with triangles between them."""
    ax = axes(ax, "plot()")
    ax.set_aspect("equal")
    try:
        picture = ax.tripcolor(*points.T, triangles, values, **{"shading": "gouraud", **options})
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"plot(): tripcolor of matplotlib says: {error}") from error
    if edges:
        _draw_edges(ax, mesh, colors="black", linewidths=0.2, alpha=0.5)
    ax.figure.colorbar(picture, ax=ax, label=label)
    return ax


def plot_mesh(mesh, ax):
    ax = axes(ax, "plot()")
    ax.set_aspect("equal")
    from matplotlib.collections import LineCollection, PolyCollection
    pieces = 1 if mesh.info["geometry"] == 1 else 8
    numbers = {number: k for k, number in enumerate(np.unique(mesh.regions))}
    for shape, elements, maps in mesh.shapes:
        own = np.arange(len(elements))
        outline = [_sides(shape, maps, own, np.full(len(own), side), pieces)[:, :-1] for side in range(shape.corners)]
        colors = [f"C{numbers[number] % 10}" for number in mesh.regions[elements]]
        ax.add_collection(PolyCollection(np.concatenate(outline, axis=1), facecolors=colors, alpha=0.15))
    _draw_edges(ax, mesh, colors="black", linewidths=0.3)
    owners, sides, groups = mesh.boundary
    for k, group in enumerate(np.unique(groups)):
        label = mesh.groups[group].name
        for shape, elements, maps in mesh.shapes:
            here = np.flatnonzero((groups == group) & np.isin(owners, elements))
            if len(here):
                lines = _sides(shape, maps, np.searchsorted(elements, owners[here]), sides[here], pieces)
                ax.add_collection(LineCollection(lines, colors=f"C{k % 10}", linewidths=2.5, label=label))
                label = None
    ax.autoscale_view()
    ax.legend(loc="best", fontsize="small")
    return ax
