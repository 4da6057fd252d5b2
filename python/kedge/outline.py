"""The boundary of a mesh, edges or faces, and the places on it that are nearest to points outside."""
import math
from math import comb

import numpy as np

from .cells import Tetrahedron, from_nodes, part

PIECES = 4  # that a curve is cut into, each with a start of Newton's method
STEPS = 6  # of that; from a quarter of an edge it ends at rounding
CHUNK = 1 << 16  # points that are looked for together
IN_SPACE = 1 << 12  # likewise near faces, of which more are about as near


class Boxes:
    """A binary tree of boxes over the pieces of a boundary.

    low, high, some -- of each piece the corners of a box, and a place on the boundary in it: [piece][dimension]
    """

    def __init__(self, low, high, some):
        self.slack = 1e-14 * max(np.abs(low).max(initial=0), np.abs(high).max(initial=0))
        self._piece = _along_a_curve(low + high)
        self._depth = max(len(self._piece) - 1, 0).bit_length()
        # By level, the root first.
        self._tree = [[self._leaves(low, np.inf), self._leaves(high, -np.inf), self._leaves(some, np.inf)]]
        for _ in range(self._depth):
            low, high, some = self._tree[-1]
            self._tree.append([np.minimum(low[::2], low[1::2]), np.maximum(high[::2], high[1::2]), some[::2]])
        self._tree.reverse()

    def _leaves(self, values, rest):
        leaves = np.full((1 << self._depth, values.shape[1]), rest)
        leaves[:len(self._piece)] = values[self._piece]
        return leaves

    def near(self, points, most):
        """What may have the nearest place, in pairs: numbers of points, which ascend, and pieces; and bounds of the
        distances of all points."""
        point = np.flatnonzero(np.isfinite(points).all(axis=1))
        node, bound = np.zeros(len(point), int), np.full(len(points), float(most))
        for level, (low, high, some) in enumerate(self._tree):
            at = points[point]
            near = _length(np.maximum(np.maximum(low[node] - at, at - high[node]), 0)) <= bound[point] + self.slack
            point, node = point[near], node[near]
            if not math.isfinite(most) or level == self._depth:  # no farther than a place in one of the boxes
                _lower(bound, point, _length(some[node] - points[point]))
            if level < self._depth:
                point, node = np.repeat(point, 2), (2 * node[:, None] + [0, 1]).ravel()
        return point, self._piece[node], bound


class Outline:
    """The edges of a mesh of the plane in pieces. Every edge is the polynomial c(t), 0 <= t <= 1, that the map of its
    element makes there."""

    def __init__(self, mesh):
        self._mesh, order = mesh, mesh.info["geometry"]
        self._elements, self._sides, _ = mesh.boundary
        nodes = np.empty((len(self._elements), order + 1, 2))
        shape_of, place = mesh.shape_places
        for k, (_, _, maps) in enumerate(mesh.shapes):
            here = np.flatnonzero(shape_of[self._elements] == k)
            nodes[here] = maps.along(place[self._elements[here]], self._sides[here], order)
        powers = np.vander(np.arange(order + 1) / order, increasing=True)
        self._curve = np.einsum("kn,end->ekd", np.linalg.inv(powers), nodes - nodes[:, :1])  # [edge][power][2]
        self._curve[:, 0] = nodes[:, 0]
        self._n = n = 1 if order == 1 else PIECES
        # A piece lies in the hull of its Bernstein points, so their box has it.
        hull = np.einsum("pbk,ekd->epbd", _bernstein(order, n), self._curve).reshape(-1, order + 1, 2)
        self._boxes = Boxes(hull.min(axis=1), hull.max(axis=1), hull[:, 0])
        # Chords of pieces, and how far the pieces may be off them.
        self._begin, self._chord = hull[:, 0], hull[:, -1] - hull[:, 0]
        gaps = [self._to_chord(slice(None), point)[1] for point in np.moveaxis(hull, 1, 0)]
        self._off = np.max([_length(gap) for gap in gaps], axis=0)

    def nearest(self, x, y, most):
        """Of points whose distance is at most `most`: their numbers, and the elements and reference coordinates [.][2]
        of the nearest places."""
        points = np.stack([x, y], axis=-1)
        number, edge, t = _in_parts(self._nearest, points, most, CHUNK)
        element, side, at = self._elements[edge], self._sides[edge], np.empty((len(edge), 2))
        shape_of, _ = self._mesh.shape_places
        for k, (shape, _, _) in enumerate(self._mesh.shapes):
            here = np.flatnonzero(shape_of[element] == k)
            begin, end = shape.lattice(1)[side[here]], shape.lattice(1)[(side[here] + 1) % shape.corners]
            at[here] = begin + t[here, None] * (end - begin)
        return number, element, at

    def _nearest(self, points, most):
        """Of some points: numbers, edges and parameters."""
        point, piece, bound = self._boxes.near(points, most)
        along, gap = self._to_chord(piece, points[point])
        distance, off = _length(gap), self._off[piece]
        _lower(bound, point, distance + off)
        near = distance - off <= bound[point] + self._boxes.slack
        point, (edge, k) = point[near], np.divmod(piece[near], self._n)
        t, distance = self._project(edge, (k + along[near]) / self._n, points[point])
        best = _best(point, distance, most)
        return point[best], edge[best], t[best]

    def _to_chord(self, piece, points):
        """Of chords of pieces the nearest places to points, as parts of the chords, and vectors from there."""
        begin, chord = self._begin[piece], self._chord[piece]
        with np.errstate(invalid="ignore", divide="ignore"):  # of an edge without a length
            along = np.clip(np.nan_to_num(_dot(points - begin, chord) / _dot(chord, chord)), 0, 1)
        return along, points - begin - along[:, None] * chord

    def _project(self, edge, t, points):
        """The parameters of edges that are nearest to points, looked for from t on, and distances."""
        curve = self._curve[edge]
        for _ in range(STEPS if curve.shape[1] > 2 else 0):
            place, slope, bend = _at(curve, t)
            gap, square = place - points, _dot(slope, slope)
            # Newton's step for the distance; where it bends away, that along the tangent.
            full = square + _dot(gap, bend)
            t = np.clip(t - _dot(gap, slope) / np.where(full > 0.1 * square, full, square), 0, 1)
        return t, _length(_at(curve, t)[0] - points)


class Surface:
    """Likewise the faces of a mesh in space, which are plane triangles."""

    def __init__(self, mesh):
        self._elements, self._sides, _ = mesh.boundary
        corners = mesh.shapes[0][2].places(*Tetrahedron.lattice(1).T, elements=self._elements)
        self._faces = np.take_along_axis(corners, Tetrahedron.faces[self._sides][..., None], axis=1)
        self._boxes = Boxes(self._faces.min(axis=1), self._faces.max(axis=1), self._faces[:, 0])

    def nearest(self, x, y, z, most):
        """As that of Outline, with reference coordinates [.][3]."""
        number, face, shares = _in_parts(self._nearest, np.stack([x, y, z], axis=-1), most, IN_SPACE)
        corners = Tetrahedron.lattice(1)[Tetrahedron.faces[self._sides[face]]]
        return number, self._elements[face], np.einsum("nc,ncd->nd", shares, corners)

    def _nearest(self, points, most):
        """Of some points: numbers, faces and shares of their corners."""
        point, face, _ = self._boxes.near(points, most)
        shares, distance = _on_triangles(self._faces[face], points[point])
        best = _best(point, distance, most)
        return point[best], face[best], shares[best]


def _on_triangles(triangles, points):
    """The places of triangles [.][3][3] that are nearest to points, as shares of their corners, and distances."""
    shares = np.zeros((4, len(points), 3))
    for k in range(3):  # on the edges
        begin, along = triangles[:, k], triangles[:, (k + 1) % 3] - triangles[:, k]
        t = np.clip(_dot(points - begin, along) / _dot(along, along), 0, 1)
        shares[k, :, k], shares[k, :, (k + 1) % 3] = 1 - t, t
    begin, a, b = triangles[:, 0], *(triangles[:, k] - triangles[:, 0] for k in (1, 2))
    normal = np.cross(a, b)
    for k, (one, other) in enumerate(((points - begin, b), (a, points - begin)), 1):  # in the plane
        shares[3, :, k] = _dot(np.cross(one, other), normal) / _dot(normal, normal)
    shares[3, :, 0] = 1 - shares[3].sum(axis=1)
    distance = np.stack([_length(np.einsum("nc,ncd->nd", one, triangles) - points) for one in shares])
    distance[3, (shares[3] < 0).any(axis=1)] = np.inf
    best = distance.argmin(axis=0), np.arange(len(points))
    return shares[best], distance[best]


def _in_parts(nearest, points, most, size):
    """What a function finds for some points at a time, whose numbers are the first of it."""
    parts = []
    for first in range(0, max(len(points), 1), size):
        number, *rest = nearest(points[first:first + size], most)
        parts.append((first + number, *rest))
    return tuple(np.concatenate(part) for part in zip(*parts))


def _best(point, distance, most):
    """Of pairs with numbers of points, which ascend, the nearest of each point, where it is no farther than `most`."""
    best = np.lexsort((distance, point))
    best = best[_begins(point[best])]
    return best[distance[best] <= most]


def values_at(mesh, order, nodes, element, at):
    """A field by values at nodes of an order, at reference coordinates [.][dimension] of elements."""
    count = np.empty(mesh.elements, np.int64)
    for shape, elements, _ in mesh.shapes:
        count[elements] = shape.count(order)
    offsets, nodes, values = np.cumsum(count) - count, np.ravel(nodes), np.empty(len(element))
    shape_of, _ = mesh.shape_places
    for k, (shape, _, _) in enumerate(mesh.shapes):
        here = np.flatnonzero(shape_of[element] == k)
        coefficients = part(nodes, offsets, shape, element[here], order) @ from_nodes(shape, order).T
        values[here] = np.einsum("pm,pm->p", coefficients, shape.basis(order, *at[here].T))
    return values


def _begins(sorted_numbers):
    """Where each number begins."""
    return np.flatnonzero(np.diff(sorted_numbers, prepend=-1))


def _lower(bound, point, distance):
    """Lower bounds of points, which ascend, to distances that they have."""
    begin = _begins(point)
    if len(begin):
        bound[point[begin]] = np.minimum(bound[point[begin]], np.minimum.reduceat(distance, begin))


def _length(vectors):
    return np.sqrt(sum(part**2 for part in vectors.T))


def _dot(a, b):
    return np.einsum("nd,nd->n", a, b)


def _at(curve, t):
    """Places of curves [.][power][2], and first and second derivatives."""
    place, slope, bend = np.zeros((3, len(curve), 2))
    for k in range(curve.shape[1] - 1, -1, -1):
        bend = bend * t[:, None] + 2 * slope
        slope = slope * t[:, None] + place
        place = place * t[:, None] + curve[:, k]
    return place, slope, bend


def _bernstein(order, n):
    """Of n pieces of a curve, from its coefficients to Bernstein points: [piece][point][power]."""
    piece = np.zeros((n, order + 1, order + 1))
    for k in range(n):
        for i in range(order + 1):
            for m in range(i, order + 1):
                piece[k, i, m] = comb(m, i) * (k / n) ** (m - i) / n**i
    points = [[comb(b, i) / comb(order, i) for i in range(order + 1)] for b in range(order + 1)]
    return np.einsum("bi,pim->pbm", np.array(points), piece)


def _along_a_curve(places):
    """Places [.][dimension] in the order of a curve that fills the plane or space in Z's: numbers."""
    size = np.ptp(places, axis=0).max(initial=0) or 1.0
    cells = ((places - places.min(axis=0, initial=np.inf)) * (65535 / size)).astype(np.int64)
    code = np.zeros(len(places), np.int64)
    for bit in range(16):
        for axis in range(places.shape[1]):
            code |= (cells[:, axis] >> bit & 1) << (places.shape[1] * bit + axis)
    return np.argsort(code, kind="stable")
