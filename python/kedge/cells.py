"""Triangles, quadrilaterals and tetrahedra as NumPy sees them: nodes, polynomials, maps, quadrature.

The reference triangle has the corners (0, 0), (1, 0), (0, 1), the reference square (0, 0), (1, 0), (1, 1), (0, 1), the
reference tetrahedron the origin and a corner at 1 on every axis. Tetrahedra have positive volumes here: the last two
corners of those of the library are exchanged where theirs is negative, as at nodes of solutions.
"""
import itertools
import math
from functools import lru_cache

import numpy as np


class Triangle:
    name, corners = "triangle", 3

    @staticmethod
    def count(order):
        return (order + 1) * (order + 2) // 2

    @staticmethod
    @lru_cache(maxsize=None)
    def lattice(order):
        """Nodes in VTK's order as whole numbers i, j of coordinates i / order: [node][2]."""
        def ring(n, at):
            if n < 0:
                return []
            if n == 0:
                return [(at, at)]
            points = [(0, 0), (n, 0), (0, n)]
            points += [(k, 0) for k in range(1, n)] + [(n - k, k) for k in range(1, n)]
            points += [(0, n - k) for k in range(1, n)]
            return [(i + at, j + at) for i, j in points] + ring(n - 3, at + 1)

        return np.array(ring(order, 0))

    gmsh_lattice = lattice

    @staticmethod
    def exponents(order):
        return [(i, j) for j in range(order + 1) for i in range(order + 1 - j)]

    @staticmethod
    def degrees(order):
        """Of the modes of basis()."""
        return np.array([i + j for i in range(order + 1) for j in range(order + 1 - i)])

    @staticmethod
    def basis(order, x, y):
        """Orthogonal polynomials of the degree `order` at points: [point][mode]."""
        columns, u, t = [], 2 * x + y - 1, 1 - y
        across, before = np.ones_like(x), np.zeros_like(x)
        for i in range(order + 1):
            up, last = np.ones_like(y), np.zeros_like(y)
            for j in range(order + 1 - i):
                columns.append(across * up * np.sqrt((2 * i + 1) * (i + j + 1)))
                up, last = _jacobi(j, 2 * i + 1, 2 * y - 1, up, last), up
            across, before = ((2 * i + 1) * u * across - i * t * t * before) / (i + 1), across
        return np.stack(columns, axis=-1)

    @staticmethod
    def rule(n):
        """n x n points x, y and weights, exact for the degree 2 n - 2."""
        at, weight = np.polynomial.legendre.leggauss(n)
        s, w = (at + 1) / 2, weight / 2
        y = np.repeat(s, n)
        return np.tile(s, n) * (1 - y), y, np.tile(w, n) * np.repeat(w, n) * (1 - y)

    @staticmethod
    def subdivision(order):
        """The triangles between the nodes of an order: [triangle][3]."""
        number = {tuple(ij): k for k, ij in enumerate(Triangle.lattice(order))}
        small = []
        for j in range(order):
            for i in range(order - j):
                small.append((number[i, j], number[i + 1, j], number[i, j + 1]))
                if i + j < order - 1:
                    small.append((number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]))
        return np.array(small)


class Quadrilateral:
    name, corners = "quad", 4

    @staticmethod
    def count(order):
        return (order + 1) ** 2

    @staticmethod
    @lru_cache(maxsize=None)
    def lattice(order):
        n, inner = order, range(1, order)
        points = [(0, 0), (n, 0), (n, n), (0, n)] + [(k, 0) for k in inner] + [(n, k) for k in inner]
        points += [(k, n) for k in inner] + [(0, k) for k in inner] + [(i, j) for j in inner for i in inner]
        return np.array(points)

    @staticmethod
    def gmsh_lattice(order):
        """lattice() in the order of Gmsh, ring by ring."""
        def ring(n, at):
            if n <= 0:
                return [(at, at)] * (n == 0)
            inner = range(1, n)
            points = [(0, 0), (n, 0), (n, n), (0, n)] + [(k, 0) for k in inner] + [(n, k) for k in inner]
            points += [(n - k, n) for k in inner] + [(0, n - k) for k in inner]
            return [(i + at, j + at) for i, j in points] + ring(n - 2, at + 1)

        return np.array(ring(order, 0))

    @staticmethod
    def exponents(order):
        return [(i, j) for j in range(order + 1) for i in range(order + 1)]

    @staticmethod
    def degrees(order):
        return np.array([max(ij) for ij in Quadrilateral.exponents(order)])

    @staticmethod
    def basis(order, x, y):
        lines = [np.polynomial.legendre.legvander(2 * s - 1, order) for s in (x, y)]
        return (lines[0][..., None, :] * lines[1][..., :, None]).reshape(*x.shape, (order + 1) ** 2)

    @staticmethod
    def rule(n):
        at, weight = np.polynomial.legendre.leggauss(n)
        s, w = (at + 1) / 2, weight / 2
        return np.tile(s, n), np.repeat(s, n), np.tile(w, n) * np.repeat(w, n)

    @staticmethod
    def subdivision(order):
        number = {tuple(ij): k for k, ij in enumerate(Quadrilateral.lattice(order))}
        small = []
        for j in range(order):
            for i in range(order):
                a, b, c, d = (number[i + k, j + l] for k, l in ((0, 0), (1, 0), (1, 1), (0, 1)))
                small += [(a, b, c), (a, c, d)]
        return np.array(small)


class Tetrahedron:
    name, corners = "tetra", 4
    faces = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])  # corners of side k, which is opposite corner k
    outward = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # the same, counterclockwise seen from outside

    @staticmethod
    def count(order):
        return (order + 1) * (order + 2) * (order + 3) // 6

    @staticmethod
    @lru_cache(maxsize=None)
    def lattice(order):
        """Nodes in VTK's order as whole numbers of coordinates times the order: [node][3]."""
        corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])

        def shell(n, at):
            if n <= 0:
                return [(at, at, at)] * (n == 0)
            points = list(n * corner)
            for a, b in (0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3):
                points += [(n - i) * corner[a] + i * corner[b] for i in range(1, n)]
            for a, b, c in (0, 1, 3), (2, 3, 1), (0, 3, 2), (0, 2, 1):
                points += [(n - 2 - i - j) * corner[a] + (1 + i) * corner[b] + (1 + j) * corner[c]
                           for i, j in (Triangle.lattice(n - 3) if n >= 3 else ())]
            return [tuple(point + at) for point in points] + shell(n - 4, at + 1)

        return np.array(shell(order, 0))

    @staticmethod
    def exponents(order):
        return [(i, j, k) for k in range(order + 1) for j in range(order + 1 - k) for i in range(order + 1 - k - j)]

    @staticmethod
    def basis(order, x, y, z):
        """Orthogonal polynomials of the degree `order` at points: [point][mode]."""
        columns, u, t, w = [], 2 * x + y + z - 1, 1 - y - z, 1 - z
        across, before = np.ones_like(x), np.zeros_like(x)
        for i in range(order + 1):
            up, last = np.ones_like(y), np.zeros_like(y)
            for j in range(order + 1 - i):
                deep, below = np.ones_like(z), np.zeros_like(z)
                for k in range(order + 1 - i - j):
                    columns.append(across * up * deep * np.sqrt((2 * i + 1) * (i + j + 1) * (2 * (i + j + k) + 3)))
                    deep, below = _jacobi(k, 2 * (i + j) + 2, 2 * z - 1, deep, below), deep
                up, last = _jacobi(j, 2 * i + 1, 2 * y + z - 1, up, last, w), up
            across, before = ((2 * i + 1) * u * across - i * t * t * before) / (i + 1), across
        return np.stack(columns, axis=-1)

    @staticmethod
    def rule(n):
        """n x n x n points x, y, z and weights, exact for the degree 2 n - 3."""
        at, weight = np.polynomial.legendre.leggauss(n)
        s, w = (at + 1) / 2, weight / 2
        x, y, of_layer = Triangle.rule(n)
        z, shrunk = np.repeat(s, n * n), np.repeat(1 - s, n * n)
        return np.tile(x, n) * shrunk, np.tile(y, n) * shrunk, z, np.tile(of_layer, n) * np.repeat(w, n * n) * shrunk**2

    @staticmethod
    def subdivision(order):
        """The tetrahedra between the nodes of an order: [tetrahedron][4]. In sums x + y + z, y + z and z the element is
        what cubes cut along their diagonals, as those of a generated cube, have where coordinates descend."""
        number = {tuple(ijk): q for q, ijk in enumerate(Tetrahedron.lattice(order))}
        small = []
        for first in itertools.product(range(order), repeat=3):
            for axes in itertools.permutations(range(3)):
                path = np.array([[x + (axis in axes[:k]) for axis, x in enumerate(first)] for k in range(4)])
                if (np.diff(path) <= 0).all():
                    at = path - np.column_stack([path[:, 1:], np.zeros(4, int)])
                    corner = [number[tuple(ijk)] for ijk in at]
                    small.append(corner if np.linalg.det(at[1:] - at[0]) > 0 else corner[:2] + corner[:1:-1])
        return np.array(small)


def _jacobi(j, a, z, now, before, w=1.0):
    """P_{j+1}^(a, 0)(z / w) w^(j+1) from those of j and j - 1."""
    if j == 0:
        return (a * w + (a + 2) * z) / 2
    s = 2 * j + a
    return ((s + 1) * ((s + 2) * s * z + a * a * w) * now - 2 * j * (j + a) * (s + 2) * w * w * before) / (
        2 * (j + 1) * (j + a + 1) * s)


@lru_cache(maxsize=None)
def from_nodes(shape, order):
    """The matrix that makes coefficients of basis() from values at the nodes of an order: [mode][node]."""
    return np.linalg.inv(shape.basis(order, *shape.lattice(order).T / order))


def shapes_of(info, offsets):
    """The shapes of a mesh with the numbers of their elements: [(shape, elements)]."""
    n, quadrilaterals = info["elements"], info["quadrilaterals"]
    if info["dimension"] == 3:
        return [(Tetrahedron, np.arange(n))]
    if quadrilaterals in (0, n):
        return [(Quadrilateral if quadrilaterals else Triangle, np.arange(n))]
    sizes = np.diff(offsets)
    triangle = sizes == sizes.min()
    return [(Triangle, np.flatnonzero(triangle)), (Quadrilateral, np.flatnonzero(~triangle))]


def part(flat, offsets, shape, elements, order):
    """Values at the nodes of the elements of one shape, of an array over all nodes: [element][node]..."""
    return flat[offsets[elements][:, None] + np.arange(shape.count(order))]


class Maps:
    """Maps of elements of one shape, as polynomials in powers of reference coordinates.

    nodes -- [element][node][dimension] of the order `geometry`
    """

    def __init__(self, shape, geometry, nodes):
        self.shape, self.exponents = shape, np.array(shape.exponents(geometry))
        # [element][power][dimension]; the first power is 1, so that its coefficient is the first corner.
        corner = nodes[:, :1]
        self.coefficients = np.linalg.solve(self.powers(*shape.lattice(geometry).T / geometry), nodes - corner)
        self.coefficients[:, :1] = corner

    def powers(self, *at):
        """Of reference coordinates: [point][power]."""
        return math.prod(_powers(x, i.max())[..., i] for x, i in zip(at, self.exponents.T))

    def _slopes(self, x, y):
        """Derivatives of the powers by each coordinate."""
        i, j = self.exponents.T
        px, py = _powers(x, i.max()), _powers(y, j.max())
        return i * px[..., np.maximum(i - 1, 0)] * py[..., j], j * px[..., i] * py[..., np.maximum(j - 1, 0)]

    def jacobians(self, *at, elements=slice(None)):
        """Determinants of the maps of elements at reference points: [element][point]."""
        if len(at) == 3:  # tetrahedra are straight, and their powers 1, x, y and z
            volumes = np.linalg.det(self.coefficients[elements][:, 1:])
            return np.broadcast_to(volumes[:, None], (len(volumes), np.size(at[0])))
        along, up = (np.einsum("pk,ekd->epd", slope, self.coefficients[elements]) for slope in self._slopes(*at))
        return along[..., 0] * up[..., 1] - along[..., 1] * up[..., 0]

    def speeds(self, x, y, direction, elements=slice(None)):
        """How far places move where reference points do by `direction`: [element][point]."""
        slope = sum(part * step for part, step in zip(self._slopes(x, y), direction))
        return np.hypot(*np.moveaxis(np.einsum("pk,ekd->epd", slope, self.coefficients[elements]), -1, 0))

    def along(self, elements, sides, pieces):
        """Points along sides of elements, one side for each element: [side][point][2]."""
        corner = self.shape.lattice(1)
        begin, end = corner[sides], corner[(sides + 1) % self.shape.corners]
        t = np.linspace(0, 1, pieces + 1)[:, None]
        lines = np.empty((len(elements), len(t), 2))
        for side in range(self.shape.corners):
            here = np.flatnonzero(sides == side)
            if len(here):
                at = begin[here[0]] + t * (end[here[0]] - begin[here[0]])
                lines[here] = np.einsum("pk,ekd->epd", self.powers(*at.T), self.coefficients[elements[here]])
        return lines

    def places(self, *at, elements=slice(None)):
        """Points of elements at reference points: [element][point][dimension]."""
        return np.einsum("pk,ekd->epd", self.powers(*at), self.coefficients[elements])


def _powers(x, n):
    """1, x, x^2 ... x^n: [...][n + 1]."""
    powers = np.empty((*np.shape(x), n + 1))
    powers[..., 0] = 1
    for k in range(n):
        powers[..., k + 1] = powers[..., k] * x
    return powers
