#!/usr/bin/python3
"""check_vtk.py SAMPLES: VTK reads what kedge writes and interpolates it exactly inside cells.

Exit code 77 (skipped) without the vtk module.
"""
import os
import subprocess
import sys
import tempfile

try:
    import vtk
except ImportError:
    print("skipped: no vtk module for", sys.executable)
    sys.exit(77)
import random

EPSILON = 2.0**-52


def polynomial(p, x, y):
    return x**p + 2 * y**p + x * y ** (p - 1)


def read(path):
    reader = vtk.vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutputDataObject(0)
    assert grid is not None and grid.IsA("vtkUnstructuredGrid"), grid
    return grid


def names(data):
    return sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))


CLASSES = {"vtkLagrangeTriangle": 3, "vtkLagrangeQuadrilateral": 4}


def shape_of(kind, c):
    """Corners of cell c of a file of samples."""
    return {"vtkhdf": 3, "quads": 4, "mixed": 3 + c % 2}[kind]


def check(grid, kind, order):
    cells = grid.GetNumberOfCells()
    assert cells == 50
    assert names(grid.GetPointData()) == ["q", "u"], names(grid.GetPointData())
    assert names(grid.GetCellData()) == ["error", "region"], names(grid.GetCellData())
    assert grid.GetFieldData().GetArray("converged").GetValue(0) == 1
    u, q = grid.GetPointData().GetArray("u"), grid.GetPointData().GetArray("q")
    region = grid.GetCellData().GetArray("region")
    assert q.GetNumberOfComponents() == 3
    worst, largest_weights, points = 0.0, 0.0, 0
    generator = random.Random(order)
    for c in range(cells):
        cell, corners = grid.GetCell(c), shape_of(kind, c)
        nodes = (order + 1) * (order + 2) // 2 if corners == 3 else (order + 1) ** 2
        points += nodes
        assert CLASSES[cell.GetClassName()] == corners and cell.GetNumberOfPoints() == nodes
        assert region.GetValue(c) == 100 + c
        r, s = generator.random(), generator.random()
        if corners == 3 and r + s > 1:
            r, s = 1 - r, 1 - s
        x, weights = [0.0] * 3, [0.0] * nodes
        cell.EvaluateLocation(vtk.reference(0), [r, s, 0], x, weights)
        value = sum(w * u.GetValue(cell.GetPointId(i)) for i, w in enumerate(weights))
        worst = max(worst, abs(value - polynomial(order, x[0], x[1])))
        largest_weights = max(largest_weights, sum(abs(w) for w in weights))
        corner = cell.GetPointId(0)
        assert q.GetComponent(corner, 1) == -u.GetValue(corner)
    assert grid.GetNumberOfPoints() == points
    # Rounding of values of size up to 4, multiplied by weights whose signs differ.
    tolerance = 64 * EPSILON * order * 4 * largest_weights
    assert worst <= tolerance, f"{kind}, order {order}: {worst} > {tolerance}"
    print(f"{kind}, order {order}: largest deviation {worst:.1e}, allowed {tolerance:.1e}")


def check_lines(grid, order):
    assert grid.GetNumberOfCells() == 50 and grid.GetNumberOfPoints() == 50 * (order + 1)
    u, region = grid.GetPointData().GetArray("u"), grid.GetCellData().GetArray("region")
    for c in range(50):
        cell = grid.GetCell(c)
        assert cell.GetClassName() == "vtkLagrangeCurve" and region.GetValue(c) == 100 + c
        for r in (0.0, 0.3, 0.77, 1.0):
            x, weights = [0.0] * 3, [0.0] * (order + 1)
            cell.EvaluateLocation(vtk.reference(0), [r, 0, 0], x, weights)
            ends = [grid.GetPoint(cell.GetPointId(i)) for i in (0, 1)]
            assert max(abs(x[d] - (1 - r) * ends[0][d] - r * ends[1][d]) for d in range(2)) < 1e-12
            value = sum(w * u.GetValue(cell.GetPointId(i)) for i, w in enumerate(weights))
            tolerance = 64 * EPSILON * order * 4 * sum(map(abs, weights))
            assert abs(value - polynomial(order, x[0], x[1])) <= tolerance, (order, c, r)


def check_cells(grid):
    cells = grid.GetNumberOfCells()
    assert cells == 50 and grid.GetNumberOfPoints() == 51
    assert names(grid.GetPointData()) == []
    assert names(grid.GetCellData()) == ["q", "region", "u"], names(grid.GetCellData())
    u, q = grid.GetCellData().GetArray("u"), grid.GetCellData().GetArray("q")
    for c in range(cells):
        cell = grid.GetCell(c)
        assert cell.GetClassName() == "vtkTriangle"
        assert [cell.GetPointId(i) for i in range(3)] == [0, c + 1, (c + 1) % cells + 1]
        assert u.GetValue(c) == 0.5 * c and q.GetTuple3(c) == (0.0, -float(c), 0.0)
        assert grid.GetCellData().GetArray("region").GetValue(c) == 100 + c


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cells.vtkhdf")
        subprocess.run([sys.argv[1], "cells", path], check=True)
        check_cells(read(path))
        for order in range(1, 11):
            path = os.path.join(folder, f"lines{order}.vtkhdf")
            subprocess.run([sys.argv[1], "lines", str(order), path], check=True)
            check_lines(read(path), order)
        for kind in ("vtkhdf", "mixed", "quads"):
            for order in range(1, 11):
                path = os.path.join(folder, f"{kind}{order}.vtkhdf")
                subprocess.run([sys.argv[1], kind, str(order), path], check=True)
                check(read(path), kind, order)


if __name__ == "__main__":
    main()
