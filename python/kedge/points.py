"""Points at which fields and expressions are evaluated: in elements, or at the nearest place of the boundary."""
import math
import numbers

import numpy as np

from .arguments import real, shown
from .errors import InputError, WrongType
from .outline import values_at


class Points:
    """Points, arrays x, y and, in space, z of one shape, and the elements that hold them.

    shape   -- of these arrays; `at` has them one after the other
    element -- of each, NaN outside, [point]; of a point that takes the value of the nearest place, the element there
    """

    def __init__(self, mesh, at, outside, tolerance, nearest):
        most = check_outside(outside, tolerance, nearest)
        if most is None:
            most = mesh._rounding(max(map(unit_of, at)))
        at = alike(*at)
        self.mesh, self.shape, self.at = mesh, at[0].shape, [array.ravel() for array in at]
        numbers_at_nodes = np.repeat(np.arange(mesh.elements, dtype=float), np.diff(mesh._nodes_of(1)))
        self.element = np.rint(mesh.locator.values(1, numbers_at_nodes, *self.at))
        lost = np.flatnonzero(np.isnan(self.element))
        self._moved = lost[:0]
        if len(lost) and most > 0:
            found, self._at_element, self._at = mesh.outline.nearest(*(array[lost] for array in self.at), most)
            self._moved = lost[found]
            self.element[self._moved] = self._at_element
        bad = np.flatnonzero(np.isnan(self.element)) if outside == "raise" else ()
        if len(bad):
            refuse_outside(len(bad), self.element.size, *(array[bad[0]] for array in self.at))

    def values(self, order, nodes):
        """A field by values at nodes of an order: [point]."""
        values = self.mesh.locator.values(order, nodes, *self.at)
        if len(self._moved):
            values[self._moved] = values_at(self.mesh, order, nodes, self._at_element, self._at)
        return values


def coordinates(mesh, x, y, z, fields=True):
    """Coordinates of points on a mesh. In the plane z is what follows x and y, a field or, where there are none,
    `outside`, so that calls are s(x, y, "qx") there and s(x, y, z, "qx") in space."""
    if mesh._is_space:
        if z is None or isinstance(z, str):
            raise InputError("the mesh is of tetrahedra, and a point has x, y and z: s(x, y, z)")
        return [x, y, z]
    if isinstance(z, numbers.Real) or not (fields or z is None or isinstance(z, str)):
        raise InputError("the mesh is of the plane, and a point has x and y alone: s(x, y)")
    return [x, y]


def alike(*at):
    """Coordinates as arrays of numbers of one shape."""
    at = [real(name, array) for name, array in zip("xyz", at)]
    try:
        return np.broadcast_arrays(*at)
    except ValueError:
        shapes = " and ".join(f"{name} {array.shape}" for name, array in zip("xyz", at))
        raise InputError(f"{shapes.replace(' ', ' has the shape ', 1)}; take arrays of the same shape") from None


def check_outside(outside, tolerance, nearest):
    """How far outside points have values; None: what rounding takes of them."""
    if outside not in ("nan", "raise"):
        raise InputError(f'outside is {outside!r}; it is "nan" or "raise"')
    if not isinstance(nearest, (bool, np.bool_)):
        raise WrongType(f"nearest is {shown(nearest)}; it is True or False")
    if tolerance is None:
        return math.inf if nearest else None
    if nearest:
        raise WrongType("nearest=True takes points at any distance; leave it or tolerance out")
    if isinstance(tolerance, bool) or not isinstance(tolerance, numbers.Real):
        raise WrongType(f"tolerance is {shown(tolerance)}; it takes a number")
    if not 0 <= tolerance < math.inf:
        raise InputError(f"tolerance is {float(tolerance)}; it is 0 or more, and finite: nearest=True takes all points")
    return float(tolerance)


def unit_of(values):
    """The unit in the last place of 1 in the type of values."""
    kind = str(getattr(values, "dtype", "")).rpartition(".")[2]  # of PyTorch "torch.float32"
    return {"float32": 2.0**-23, "float16": 2.0**-10}.get(kind, 2.0**-52)


def refuse_outside(bad, n, *at):
    raise InputError(f"{bad} of {n} points lie outside of the mesh, the first at ({', '.join(f'{x:g}' for x in at)})")
