#!/usr/bin/python3
"""check_picture.py SAMPLES PICTURE: profiling/picture.py draws fields, and says what it cannot draw.

Exit code 77 (skipped) without h5py or matplotlib.
"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import h5py
    import matplotlib
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

samples, program = sys.argv[1:3]
specification = importlib.util.spec_from_file_location("picture", program)
picture = importlib.util.module_from_spec(specification)
sys.dont_write_bytecode = True
specification.loader.exec_module(picture)


def run(*arguments):
    return subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True)


def check_interpolation(path, order, shapes):
    """Values on the subdivided cells are those of the polynomial that the file holds."""
    found = picture.read(path, "u")[0]
    assert [(corners, degree, len(xy)) for corners, degree, xy, _ in found] == \
        [(corners, order, cells) for corners, cells in shapes]
    for corners, _, xy, values in found:
        matrix, _ = picture.interpolation(corners, order, 7)
        x, y = np.moveaxis(matrix @ xy, -1, 0)
        exact = x**order + 2 * y**order + x * y ** (order - 1)
        tolerance = 64 * np.finfo(float).eps * order * 4 * np.abs(matrix).sum(axis=1).max()
        worst = np.abs(values @ matrix.T - exact).max()
        assert worst <= tolerance, (order, worst, tolerance)


with tempfile.TemporaryDirectory() as folder:
    kinds = {"quads": [(4, 50)], "mixed": [(3, 25), (4, 25)], "vtkhdf": [(3, 50)]}
    for kind, shapes in kinds.items():
        for degree in range(1, 11):
            file = os.path.join(folder, "sample.vtkhdf")
            subprocess.run([samples, kind, str(degree), file], check=True)
            check_interpolation(file, degree, shapes)
        image = os.path.join(folder, kind + ".png")
        result = run(file, image)
        assert result.returncode == 0, result.stderr
    for field in ("u", "q", "region"):
        image = os.path.join(folder, field + ".png")
        result = run(file, image, "--field", field)
        assert result.returncode == 0, result.stderr
        with open(image, "rb") as stream:
            assert stream.read(8) == b"\x89PNG\r\n\x1a\n"

    cells = os.path.join(folder, "cells.vtkhdf")
    subprocess.run([samples, "cells", cells], check=True)
    [(_, _, xy, values)], *_ = picture.read(cells, "q")
    assert np.array_equal(values, np.repeat(np.arange(50.0)[:, None], 3, axis=1))
    assert np.array_equal(xy[:, 0], np.zeros((50, 2))) and np.array_equal(xy[:-1, 2], xy[1:, 1])
    result = run(cells, os.path.join(folder, "cells.png"))
    assert result.returncode == 0, result.stderr

    for names in ("Ez", "Hx", "Hy"), ("vx", "vy", "p"):  # of waves
        waves = os.path.join(folder, "waves.vtkhdf")
        with h5py.File(shutil.copy(file, waves), "r+") as of_waves:
            points = of_waves["VTKHDF/PointData"]
            for name in names:
                points[name] = points["u"][:]
            for name in set(points) - set(names):
                del points[name]
        assert picture.read(waves, None)[1:] == (0, min(names))
        assert run(waves, os.path.join(folder, "waves.png")).returncode == 0

    def refused(says, *arguments):
        result = run(*arguments)
        assert result.returncode == 1, result
        assert says in result.stderr and result.stderr.count("\n") == 1, result.stderr

    refused("has no field pressure; it has error, q, region, u", file, "x.png", "--field", "pressure")
    series = os.path.join(folder, "w.vtkhdf.series")
    with open(series, "w", encoding="utf-8") as listed:
        json.dump({"files": [{"name": f"w.{k:04}.vtkhdf", "time": k} for k in range(1, 8)]}, listed)
    refused("is a list of files; take one of them: w.0001.vtkhdf, w.0002.vtkhdf, ..., w.0007.vtkhdf", series, "x.png")
    refused("there is no such file", os.path.join(folder, "nothing.vtkhdf"), "x.png")
    refused("is not a VTKHDF file", program, "x.png")
    h5py.File(os.path.join(folder, "other.h5"), "w").close()
    refused("is not a VTKHDF file", os.path.join(folder, "other.h5"), "x.png")
    refused("the picture's name must end in one of", file, os.path.join(folder, "x.hologram"))
    refused("cannot be written", file, os.path.join(folder, "nowhere", "x.png"))
