"""Pictures, with matplotlib, which is needed for nothing else."""
import numpy as np

from .arguments import package
from .errors import InputError, WrongType

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


def plot_solution(solution, field, ax, edges, order, places, options):
    """places: x, y and z of a slice."""
    from . import plot_space
    mesh = solution.mesh
    parts = solution._parts_of(field)
    label, cut = f"|{field}|" if parts else field, plot_space.cut_of(mesh, places)
    if mesh.info["dimension"] == 3:
        order = plot_space.order_of(mesh, solution._finest, cut) if order is None else order
        values = [solution.values(part, order) for part in parts or (field,)]
        return plot_space.plot_field(mesh, values, order, label, ax, edges, cut, options)
    order = min(solution._finest, 8) if order is None else order
    values = [solution.values(part, order).ravel() for part in parts or (field,)]
    values = np.hypot(*values) if parts else values[0]
    return plot_values(mesh, values, *solution._pieces(order), label, ax, edges, options)


def plot_values(mesh, values, points, triangles, label, ax, edges, options):
    """Values at points, with triangles between them."""
    lines = (lambda ax: _draw_edges(ax, mesh, **THIN)) if edges else None
    return plot_pieces(values, points, triangles, label, ax, lines, options)


def plot_pieces(values, points, triangles, label, ax, draw_edges, options):
    ax = axes(ax, "plot()", constrained_layout=True)
    ax.set_aspect("equal")
    try:
        picture = ax.tripcolor(*points.T, triangles, values, **{"shading": "gouraud", **options})
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"plot(): tripcolor of matplotlib says: {error}") from error
    if draw_edges:
        draw_edges(ax)
    bar = ax.inset_axes([1.03, 0, 0.04, 1])  # as high as the picture, whose axes keep its shape
    ax.figure.colorbar(picture, cax=bar, label=label)
    return ax


def legend_beside(ax):
    """A legend right of the axes, where it covers nothing."""
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small")


def plot_mesh(mesh, ax):
    if mesh.info["dimension"] == 3:
        from .plot_space import plot_mesh_surface
        return plot_mesh_surface(mesh, ax)
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
