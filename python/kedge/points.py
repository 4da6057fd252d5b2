"""Points at which fields and expressions are evaluated: in elements, or at the nearest place of the boundary."""
import math
import numbers

import numpy as np

from .arguments import real, shown
from .errors import InputError, WrongType
from .outline import values_at


class Points:
    """Points x, y, arrays of one shape, and the elements that hold them.

    shape   -- of x and y, which are here one after the other
    element -- of each, NaN outside, [point]; of a point that takes the value of the nearest place, the element there
    """

    def __init__(self, mesh, x, y, outside, tolerance, nearest):
        most = check_outside(outside, tolerance, nearest)
        if most is None:
            most = mesh._rounding(max(unit_of(x), unit_of(y)))
        x, y = alike(x, y)
        self.mesh, self.shape, self.x, self.y = mesh, x.shape, x.ravel(), y.ravel()
        numbers_at_nodes = np.repeat(np.arange(mesh.elements, dtype=float), np.diff(mesh._nodes_of(1)))
        self.element = np.rint(mesh.locator.values(1, numbers_at_nodes, self.x, self.y))
        lost = np.flatnonzero(np.isnan(self.element))
        self._moved = lost[:0]
        if len(lost) and most > 0:
            found, self._at_element, self._at = mesh.outline.nearest(self.x[lost], self.y[lost], most)
            self._moved = lost[found]
            self.element[self._moved] = self._at_element
        bad = np.flatnonzero(np.isnan(self.element)) if outside == "raise" else ()
        if len(bad):
            refuse_outside(len(bad), x.size, self.x[bad[0]], self.y[bad[0]])

    def values(self, order, nodes):
        """A field by values at nodes of an order: [point]."""
        values = self.mesh.locator.values(order, nodes, self.x, self.y)
        if len(self._moved):
            values[self._moved] = values_at(self.mesh, order, nodes, self._at_element, self._at)
        return values


def alike(x, y):
    """Coordinates as arrays of numbers of one shape."""
    x, y = real("x", x), real("y", y)
    try:
        return np.broadcast_arrays(x, y)
    except ValueError:
        raise InputError(f"x has the shape {x.shape} and y {y.shape}; take arrays of the same shape") from None


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


def refuse_outside(bad, n, x, y):
    raise InputError(f"{bad} of {n} points lie outside of the mesh, the first at ({x:g}, {y:g})")
