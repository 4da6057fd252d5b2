"""Meshes of simple shapes, as [mesh] generate of a problem file makes them."""
from __future__ import annotations

from .hints import Any
from .mesh import Mesh


def square(n: int, **options: Any) -> Mesh:
    """The unit square, n x n squares split by a diagonal; groups left, right, bottom, top.

    Options of this and the functions below: geometry, map, refine and backend, as of Mesh.
    """
    return Mesh.generate(f"square {n}", **options)


def quads(n: int, **options: Any) -> Mesh:
    """The unit square in n x n squares; groups left, right, bottom, top."""
    return Mesh.generate(f"quads {n}", **options)


def mixed(n: int, **options: Any) -> Mesh:
    """The unit square, a checkerboard of n x n squares and squares split by a diagonal; groups as of square()."""
    return Mesh.generate(f"mixed {n}", **options)


def lshape(n: int, quads: bool = False, **options: Any) -> Mesh:
    """(-1, 1)^2 without its lower right quarter, 2n x 2n squares less a quarter; group boundary."""
    return Mesh.generate(f"lshape {n}" + (" quads" if quads else ""), **options)


def ring(layers: int, sectors: int, quads: bool = False, **options: Any) -> Mesh:
    """Radii 1 to 2; groups inner, outer. geometry = 2 to 5 makes its edges round."""
    return Mesh.generate(f"ring {layers} {sectors}" + (" quads" if quads else ""), **options)


def disk(layers: int, **options: Any) -> Mesh:
    """Radius 1; group boundary. geometry = 2 to 5 makes its edges round."""
    return Mesh.generate(f"disk {layers}", **options)


def cube(n: int, **options: Any) -> Mesh:
    """The unit cube, n x n x n cubes of six tetrahedra each; groups x0, x1, y0, y1, z0, z1."""
    return Mesh.generate(f"cube {n}", **options)
