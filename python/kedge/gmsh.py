"""Gmsh files, format 2.2 binary, from arrays."""
import numpy as np

from .arguments import encoded
from .errors import InputError

# meshio's names of shapes: the number of Gmsh and the nodes.
SHAPES = {"triangle": (2, 3), "triangle6": (9, 6), "triangle10": (21, 10), "triangle15": (23, 15),
          "triangle21": (25, 21), "quad": (3, 4), "quad8": (16, 8), "quad9": (10, 9), "quad16": (36, 16),
          "quad25": (37, 25), "quad36": (38, 36)}


def _block(kind, nodes, tags, first):
    """Elements of one shape: a head, then number, physical and geometric tag, nodes of each."""
    rows = np.column_stack([np.arange(first, first + len(nodes)), tags, np.maximum(tags, 1), nodes + 1])
    return np.array([kind, len(nodes), 2], "<i4").tobytes() + np.ascontiguousarray(rows, "<i4").tobytes()


def write_gmsh(path, points, blocks, pairs, tags, names, region_tags, region_names):
    """Write a mesh: arrays of int32 as of kedge.Mesh, groups and regions as numbers with {number: name}."""
    for array in [pairs, *blocks.values()]:
        if array.size and not 0 <= array.min() <= array.max() < len(points):
            raise InputError(f"a cell or a line has a vertex that is none of the {len(points)} points, 0 to "
                             f"{len(points) - 1}")
    node = np.zeros(len(points), [("number", "<i4"), ("x", "<f8", 3)])
    node["number"], node["x"][:, :2] = np.arange(1, len(points) + 1), points
    n = len(pairs) + sum(len(block) for block in blocks.values())
    physical = [(1, number, name) for number, name in names.items()]
    physical += [(2, number, name) for number, name in region_names.items()]
    with open(path, "wb") as file:
        file.write(b"$MeshFormat\n2.2 1 8\n" + np.array([1], "<i4").tobytes() + b"\n$EndMeshFormat\n")
        file.write(b"$PhysicalNames\n%d\n" % len(physical))
        for dimension, number, name in physical:
            file.write(b'%d %d "%s"\n' % (dimension, number, encoded("a name of a group", name)))
        file.write(b"$EndPhysicalNames\n$Nodes\n%d\n" % len(points) + node.tobytes() + b"\n$EndNodes\n")
        file.write(b"$Elements\n%d\n" % n)
        if len(pairs):
            file.write(_block(1, pairs, tags, 1))
        first, at = 1 + len(pairs), 0
        for shape, block in blocks.items():
            if len(block):
                file.write(_block(SHAPES[shape][0], block, region_tags[at:at + len(block)], first))
            first, at = first + len(block), at + len(block)
        file.write(b"\n$EndElements\n")
