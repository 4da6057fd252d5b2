"""Pictures, with matplotlib, which is needed for nothing else."""
import numpy as np

from .arguments import package
from .errors import InputError, WrongType
from .fields import parts_of

MOST = 30000  # elements whose edges are drawn
THIN = {"colors": "0.5", "linewidths": 0.3}  # of these


def axes(ax, what, **options):
    """The axes to draw on, of matplotlib: those that were given, or new ones, with options of their figure."""
    if ax is None:
        return package("matplotlib.pyplot", what).subplots(**options)[1]
    if not hasattr(ax, "add_collection"):
        raise WrongType(f"ax is {ax!r}; it takes axes of matplotlib")
    return ax


def _draw_edges(ax, mesh, **options):
    from matplotlib.collections import LineCollection
    if mesh.elements > MOST:
        return
    pieces = 1 if mesh.info["geometry"] == 1 else 8
    for shape, elements, maps in mesh.shapes:
        own = np.repeat(np.arange(len(elements)), shape.corners)
        sides = np.tile(np.arange(shape.corners), len(elements))
        ax.add_collection(LineCollection(maps.along(own, sides, pieces), **options))


def plot_solution(solution, field, ax, edges, order, options):
    values = [solution.values(part, order).ravel() for part in parts_of(field) or (field,)]
    points, triangles = solution._pieces(order)
    ax = axes(ax, "plot()", constrained_layout=True)
    ax.set_aspect("equal")
    values, label = (np.hypot(*values), f"|{field}|") if parts_of(field) else (values[0], field)
    try:
        picture = ax.tripcolor(*points.T, triangles, values, **{"shading": "gouraud", **options})
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"plot(): tripcolor of matplotlib says: {error}") from error
    if edges:
        _draw_edges(ax, solution.mesh, **THIN)
    bar = ax.inset_axes([1.03, 0, 0.04, 1])  # as high as the picture, whose axes keep its shape
    ax.figure.colorbar(picture, cax=bar, label=label)
    return ax


def legend_beside(ax):
    """A legend right of the axes, where it covers nothing."""
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small")


def plot_mesh(mesh, ax):
    ax = axes(ax, "plot()", constrained_layout=True)
    ax.set_aspect("equal")
    from matplotlib.collections import LineCollection, PolyCollection
    pieces = 1 if mesh.info["geometry"] == 1 else 8
    numbers = {number: k for k, number in enumerate(np.unique(mesh.regions))}
    for shape, elements, maps in mesh.shapes:
        own = np.arange(len(elements))
        outline = [maps.along(own, np.full(len(own), side), pieces)[:, :-1] for side in range(shape.corners)]
        colors = [f"C{numbers[number] % 10}" for number in mesh.regions[elements]]
        ax.add_collection(PolyCollection(np.concatenate(outline, axis=1), facecolors=colors, alpha=0.15))
    _draw_edges(ax, mesh, **THIN)
    owners, sides, groups = mesh.boundary
    for k, group in enumerate(np.unique(groups)):
        label = mesh.groups[group].name
        for shape, elements, maps in mesh.shapes:
            here = np.flatnonzero((groups == group) & np.isin(owners, elements))
            if len(here):
                lines = maps.along(np.searchsorted(elements, owners[here]), sides[here], pieces)
                ax.add_collection(LineCollection(lines, colors=f"C{k % 10}", linewidths=2.5, label=label))
                label = None
    ax.autoscale_view()
    legend_beside(ax)
    return ax
