"""Triangles, quadrilaterals and tetrahedra as NumPy sees them: nodes, polynomials, maps, quadrature.

The reference triangle has the corners (0, 0), (1, 0), (0, 1), the reference square (0, 0), (1, 0), (1, 1), (0, 1), the
reference tetrahedron (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1).
"""
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

    @staticmethod
    def count(order):
        return (order + 1) * (order + 2) * (order + 3) // 6

    @staticmethod
    @lru_cache(maxsize=None)
    def lattice(order):
        """Nodes in VTK's order: [node][3]."""
        corner = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])

        def shell(n, at):
            if n < 0:
                return []
            if n == 0:
                return [np.full(3, at)]
            points = [at + n * one for one in corner]
            for a, b in (0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3):
                points += [at + (n - k) * corner[a] + k * corner[b] for k in range(1, n)]
            for a, b, c in (0, 1, 3), (2, 3, 1), (0, 3, 2), (0, 2, 1):
                for i, j in Triangle.lattice(n - 3) if n >= 3 else ():
                    points.append(at + (n - 2 - i - j) * corner[a] + (1 + i) * corner[b] + (1 + j) * corner[c])
            return points + shell(n - 4, at + 1)

        return np.array(shell(order, 0))

    @staticmethod
    def basis(order, x, y, z):
        """Orthogonal polynomials of the degree `order` at points: [point][mode]."""
        columns, g, h = [], 1 - y - z, 1 - z
        across, left = np.ones_like(x), np.zeros_like(x)
        for i in range(order + 1):
            up, below = np.ones_like(x), np.zeros_like(x)
            for j in range(order + 1 - i):
                out, inside = np.ones_like(x), np.zeros_like(x)
                for k in range(order + 1 - i - j):
                    columns.append(across * up * out * np.sqrt((2 * i + 1) * (i + j + 1) * (2 * (i + j + k) + 3) / 3))
                    out, inside = _jacobi(k, 2 * (i + j) + 2, 2 * z - 1, out, inside), out
                up, below = _jacobi(j, 2 * i + 1, 2 * y - h, up, below, h), up
            across, left = _jacobi(i, 0, 2 * x - g, across, left, g), across
        return np.stack(columns, axis=-1)

    @staticmethod
    def rule(n):
        """n^3 points x, y, z and weights, exact for the degree 2 n - 3."""
        at, weight = np.polynomial.legendre.leggauss(n)
        s, w = (at + 1) / 2, weight / 2
        z, y, x = (one.ravel() for one in np.meshgrid(s, s, s, indexing="ij"))
        weights = (w[:, None, None] * w[:, None] * w).ravel()
        return x * (1 - y) * (1 - z), y * (1 - z), z, weights * (1 - y) * (1 - z) ** 2


def _jacobi(j, a, z, now, before, h=1):
    """h^(j+1) P_{j+1}^(a, 0)(z / h) from those of j and j - 1."""
    if j == 0:
        return (a * h + (a + 2) * z) / 2
    s = 2 * j + a
    return ((s + 1) * ((s + 2) * s * z + a * a * h) * now - 2 * j * (j + a) * (s + 2) * h * h * before) / (
        2 * (j + 1) * (j + a + 1) * s)


@lru_cache(maxsize=None)
def from_nodes(shape, order):
    """The matrix that makes coefficients of basis() from values at the nodes of an order: [mode][node]."""
    return np.linalg.inv(shape.basis(order, *shape.lattice(order).T / order))


def shapes_of(info, offsets):
    """The shapes of a mesh with the numbers of their elements: [(shape, elements)]."""
    n, quadrilaterals = info["elements"], info["quadrilaterals"]
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

    nodes -- [element][node][2] of the order `geometry`
    """

    def __init__(self, shape, geometry, nodes):
        self.shape, self.exponents = shape, np.array(shape.exponents(geometry))
        x, y = shape.lattice(geometry).T / geometry
        # [element][power][2]; the first power is 1, so that its coefficient is the first corner.
        corner = nodes[:, :1]
        self.coefficients = np.linalg.solve(self.powers(x, y), nodes - corner)
        self.coefficients[:, :1] = corner

    def powers(self, x, y):
        i, j = self.exponents.T
        return _powers(x, i.max())[..., i] * _powers(y, j.max())[..., j]

    def _slopes(self, x, y):
        i, j = self.exponents.T
        px, py = _powers(x, i.max()), _powers(y, j.max())
        return (i * px[..., np.maximum(i - 1, 0)] * py[..., j], j * px[..., i] * py[..., np.maximum(j - 1, 0)])

    def jacobians(self, x, y, elements=slice(None)):
        """Determinants of the maps of elements at reference points: [element][point]."""
        along, up = (np.einsum("pk,ekd->epd", slope, self.coefficients[elements]) for slope in self._slopes(x, y))
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

    def places(self, x, y, elements=slice(None)):
        """Points of elements at reference points: [element][point][2]."""
        return np.einsum("pk,ekd->epd", self.powers(x, y), self.coefficients[elements])


class SpaceMaps:
    """Maps of straight tetrahedra, as those of Maps, with determinants that are positive.

    corners -- [element][4][3], as a mesh has them
    turned  -- of which elements the last two are exchanged, as VTK and values at nodes have them
    """

    def __init__(self, corners):
        along = corners[:, 1:] - corners[:, :1]
        self.turned = np.linalg.det(along) < 0
        along[self.turned] = along[self.turned][:, [0, 2, 1]]
        self.corner, self.along = corners[:, 0], along

    def places(self, x, y, z, elements=slice(None)):
        """[element][point][3]"""
        return self.corner[elements][:, None] + np.stack([x, y, z], axis=-1) @ self.along[elements]

    def jacobians(self, x, y, z, elements=slice(None)):
        """[element][point]"""
        volumes = np.linalg.det(self.along[elements])
        return np.broadcast_to(volumes[:, None], (*volumes.shape, *np.shape(x)))


def _powers(x, n):
    """1, x, x^2 ... x^n: [...][n + 1]."""
    powers = np.empty((*np.shape(x), n + 1))
    powers[..., 0] = 1
    for k in range(n):
        powers[..., k + 1] = powers[..., k] * x
    return powers
