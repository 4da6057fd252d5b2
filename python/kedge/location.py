"""Which element holds a point: a tree of boxes over elements along a curve that fills the plane."""
import numpy as np

BRANCHES = 4
CHUNK = 1 << 16  # points at once
# In reference coordinates: a point on an edge is in one of its elements. Far from the origin the rounding of the
# coordinates is more than that.
TOLERANCE = 1e-9
EPSILON = np.finfo(float).eps


def _interleave(x, y):
    """Morton codes of numbers of 21 bits."""
    code = np.zeros(len(x), np.int64)
    for bit in range(21):
        code |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1)
    return code


class Tree:
    """Boxes of elements: low and high corners [element][2]; level by level, boxes of four boxes."""

    def __init__(self, low, high):
        middle = (low + high) / 2
        span = np.maximum(np.ptp(middle, axis=0), 1e-300)
        cells = ((middle - middle.min(axis=0)) / span * (2**21 - 1)).astype(np.int64)
        self.order = np.argsort(_interleave(*cells.T), kind="stable")
        self.levels = [[side[self.order] for side in (*low.T, *high.T)]]
        while len(self.levels[-1][0]) > 1:
            starts = np.arange(0, len(self.levels[-1][0]), BRANCHES)
            self.levels.append([best.reduceat(side, starts) for best, side in
                                zip((np.minimum, np.minimum, np.maximum, np.maximum), self.levels[-1])])

    def candidates(self, xy):
        """Pairs of points and elements whose box holds them."""
        point, node = np.arange(len(xy)), np.zeros(len(xy), np.int64)
        x, y = xy.T
        for depth, (left, low, right, high) in enumerate(reversed(self.levels)):
            if depth:
                pairs = [_children(point, node, x, y, k, left, low, right, high) for k in range(BRANCHES)]
                point, node = (np.concatenate(parts) for parts in zip(*pairs))
            else:
                inside = (left[0] <= x) & (x <= right[0]) & (low[0] <= y) & (y <= high[0])
                point, node = point[inside], node[inside]
        return point, self.order[node]


def _children(point, node, x, y, k, left, low, right, high):
    """Pairs of points and the k-th box in their box, where it holds them."""
    child = node * BRANCHES + k
    if child.size and child.max() >= len(left):
        there = child < len(left)
        point, child = point[there], child[there]
    px, py = x[point], y[point]
    inside = (left[child] <= px) & (px <= right[child]) & (low[child] <= py) & (py <= high[child])
    return point[inside], child[inside]


class Locator:
    """Finds elements and reference points of points.

    shapes -- of a mesh: [(shape, elements, Maps)]
    """

    def __init__(self, geometry, shapes):
        self.shapes = []
        for shape, _, maps in shapes:
            x, y = shape.lattice(3 * geometry if geometry > 1 else 1).T / (3 * geometry if geometry > 1 else 1)
            places = maps.places(x, y)
            low, high = places.min(axis=1), places.max(axis=1)
            size = (high - low).max(axis=1, keepdims=True)
            rounding = 8 * EPSILON * np.abs(places).max(axis=(1, 2))[:, None]
            margin = rounding + size * (1e-8 if geometry == 1 else 0.05)  # curves between the points looked at
            height = np.abs(maps.jacobians(*maps.shape.middle)) / size
            tolerance = np.maximum(TOLERANCE, rounding / np.maximum(height, 1e-300))[:, 0]
            self.shapes.append((maps, Tree(low - margin, high + margin), tolerance))

    def locate(self, xy):
        """For points [point][2]: the shape's number, the element's in it, and x, y; shape -1: outside."""
        where, element = np.full(len(xy), -1), np.zeros(len(xy), np.int64)
        reference, best = np.zeros((len(xy), 2)), np.full(len(xy), np.finfo(float).min)
        for k, (maps, tree, tolerance) in enumerate(self.shapes):
            point, candidate = tree.candidates(xy)
            x, y = maps.invert(candidate, xy[point])
            depth = np.nan_to_num(maps.shape.depth(x, y), nan=-np.inf)
            depth[depth < -tolerance[candidate]] = -np.inf
            order = np.lexsort((depth, point))
            last = order[np.append(point[order][1:] != point[order][:-1], True)] if len(order) else order
            last = last[depth[last] >= best[point[last]]]
            at = point[last]
            where[at], element[at], best[at] = k, candidate[last], depth[last]
            reference[at] = np.column_stack([x[last], y[last]])
        return where, element, reference
