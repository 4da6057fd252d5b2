"""What profiling/waves measures: calls of the program `waves` by name, and the mesh with an obstacle."""
import glob
import math
import os

import measure

MESHES = os.path.join(measure.ROOT, "profiling", "meshes")
# Meshes `cube N` and orders. `cube` is that of rates, the first of `parts` and `core` that of low orders, up to `low`.
SCALES = {
    "cuda": {"cube": 40, "parts": (40, 20), "core": (10, 6), "low": 4, "orders": (1, 9), "samples": 5, "end": 4,
             "sizes": (6, 8, 12, 16, 24, 32, 40, 51, 64), "scattering": 4, "meshes": 4, "roofs": True},
    "host": {"cube": 12, "parts": (10, 6), "core": (10, 6), "low": 4, "orders": (1, 9), "samples": 3, "end": 1,
             "sizes": (2, 4, 8, 12), "scattering": 4, "meshes": 4, "roofs": True},
    "quick": {"cube": 3, "parts": (3, 2), "core": (2, 2), "low": 1, "orders": (1, 2), "samples": 1, "end": 0.05,
              "sizes": (2,), "scattering": 1, "meshes": 2, "roofs": False},
}
SIZES_ORDER = 4  # of Figure 11b
BESIDE_ORDER = 3  # of what materials, boundaries and probes cost

CAVITY = {"equation.system": "maxwell", "boundary default.type": "conductor", "initial.Ez": "sin(pi*x)*sin(pi*y)",
          "time.end": 1000}
ROOM = {"equation.system": "acoustics", "boundary default.type": "wall", "initial.p": "cos(pi*x)*cos(pi*y)",
        "time.end": 1000}
# Beside the plain cavity: the keys that differ.
BESIDE = {"materials": {"equation.permittivity": "2 + sin(20*x)*sin(20*y)", "equation.permeability": "1 + (z > 0.5)"},
          "absorbing sides": {"boundary default.type": "absorbing"}}

BOX = 1.25, 1.0, 0.8  # meshes/generate.py
MODE = 3, 3, 2  # half waves: order 1 sees them, and errors of order 8 are above the rounding of single precision


def standing_wave():
    """[exact] of the box: a mode whose E is (a c s s, b s c s, c s s c) cos(w t), with div E = 0."""
    k = [math.pi * number / length for number, length in zip(MODE, BOX)]
    e = [1.0, -0.5 * k[0] / k[1], -0.5 * k[0] / k[2]]
    w = math.sqrt(sum(number * number for number in k))
    h = [-(k[(i + 1) % 3] * e[(i + 2) % 3] - k[(i + 2) % 3] * e[(i + 1) % 3]) / w for i in range(3)]

    def product(own, other, i):
        words = [other, other, other]
        words[i] = own
        return "*".join(f"{word}({number!r}*{axis})" for word, number, axis in zip(words, k, "xyz"))
    exact = {f"exact.E{'xyz'[i]}": f"{e[i]!r}*{product('cos', 'sin', i)}*cos({w!r}*t)" for i in range(3)}
    exact.update({f"exact.H{'xyz'[i]}": f"{h[i]!r}*{product('sin', 'cos', i)}*sin({w!r}*t)" for i in range(3)})
    return {"equation.system": "maxwell", "boundary default.type": "conductor", "time.end": 1, **exact}


WAVE_NUMBER = 15.0
WIDTH = 0.1  # of a cube around the obstacle
CUBES = 32, 24, 18


def incident(x, t):
    """Ey of the wave that comes along x; Hz is the same."""
    return math.sin(WAVE_NUMBER * (x - t))


def obstacle():
    """The cubes of an aeroplane, 700 of the 13,824: what is left has 78,744 tetrahedra."""
    cubes = {(x, y, z) for x in range(6, 28) for y in range(10, 14) for z in range(7, 11)}  # the body
    cubes |= {(5, y, z) for y in (11, 12) for z in (8, 9)}  # its nose
    for y in range(8):  # wings, which are swept
        cubes |= {(x + 13 + y // 2, side, z) for x in range(6) for side in (9 - y, 14 + y) for z in (8, 9)}
    for y in range(5):
        cubes |= {(x + 23 + y // 2, side, z) for x in range(4) for side in (9 - y, 14 + y) for z in (8, 9)}
    for z in range(6):  # the fin
        cubes |= {(x + 21 + z // 2, y, 11 + z) for x in range(6) for y in (11, 12)}
    return cubes


def obstacle_mesh():
    """The text of a Gmsh file: six tetrahedra a cube, one for each order of the axes; the faces of the obstacle are a
    group. Returns (text, number of tetrahedra)."""
    paths = [(p, q) for p in range(3) for q in range(3) if p != q]  # the first two axes of a path
    removed, number, tetrahedra, faces = obstacle(), {}, [], []

    def vertex(place):
        return number.setdefault(tuple(place), len(number) + 1)

    def path(place, axes):
        """Vertices from a place on, a step along each of the axes."""
        vertices, at = [vertex(place)], list(place)
        for axis in axes:
            at[axis] += 1
            vertices.append(vertex(at))
        return vertices
    for x in range(CUBES[0]):
        for y in range(CUBES[1]):
            for z in range(CUBES[2]):
                cube = x, y, z
                if cube not in removed:
                    tetrahedra += [path(cube, (p, q, 3 - p - q)) for p, q in paths]
                    continue
                for axis in range(3):
                    for step in (0, 1):
                        beside = tuple(c + (2 * step - 1) * (i == axis) for i, c in enumerate(cube))
                        if beside in removed:
                            continue
                        corner = tuple(c + step * (i == axis) for i, c in enumerate(cube))
                        p, q = (i for i in range(3) if i != axis)
                        faces += [path(corner, (p, q)), path(corner, (q, p))]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "2", '2 1 "obstacle"', '3 2 "air"',
             "$EndPhysicalNames", "$Nodes", str(len(number))]
    lines += [f"{i} {x * WIDTH:.17g} {y * WIDTH:.17g} {z * WIDTH:.17g}" for (x, y, z), i in number.items()]
    lines += ["$EndNodes", "$Elements", str(len(faces) + len(tetrahedra))]
    for i, vertices in enumerate(faces + tetrahedra):
        kind = "2 2 1 1" if len(vertices) == 3 else "4 2 2 2"
        lines.append(f"{i + 1} {kind} {' '.join(map(str, vertices))}")
    return "\n".join(lines + ["$EndElements", ""]), len(tetrahedra)


def scattering():
    """The field that a conductor adds to a wave along x."""
    return {"equation.system": "maxwell", "boundary default.type": "absorbing", "boundary obstacle.type": "conductor",
            "boundary obstacle.Ey": f"-sin({WAVE_NUMBER}*(x - t))"}


def plane_of(points):
    """What the program prints of a plane, [x, y, value], as rows of an array of whole thousandths; None inside the
    obstacle."""
    order = round(WIDTH / min(abs(p[0] - q[0]) for p in points[:200] for q in points[:200] if abs(p[0] - q[0]) > 1e-6))
    step = WIDTH / order
    rows = [[None] * (CUBES[0] * order + 1) for _ in range(CUBES[1] * order + 1)]
    for x, y, value in points:
        rows[round(y / step)][round(x / step)] = round(1000 * value)
    return rows


def commands(folder, backend, scale, mesh):
    """{name: command} of all that is measured, in this order. @param mesh: the file with the obstacle."""
    program = os.path.join(folder, "profiling", "waves")
    first, last = scale["orders"]
    low = f"{first}-{min(scale['low'], last)}"
    high = f"{scale['low'] + 1}-{last}"

    def call(mesh, orders, only, settings, precision="single", on=backend, flags=("--no-check", "--no-roofs")):
        settings = {**settings, "solver.precision": precision}  # behind the system, whose key it is
        sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        return [program, "--backend", on, "--mesh", mesh, "--orders", orders, "--only", only, "--samples",
                str(scale["samples"]), *flags, *sets]
    roofs = () if scale["roofs"] else ("--no-roofs",)
    calls = {}
    for settings in (CAVITY, ROOM):
        for precision in ("single", "double"):
            calls[f"{settings['equation.system']} {precision}"] = call(
                f"cube {scale['cube']}", f"{first}-{last}", "steps", settings, precision, flags=roofs)
    for name, orders, i in (("low", low, 0), ("high", high, 1)):
        calls[f"core {name}"] = call(f"cube {scale['core'][i]}", orders, "steps", CAVITY, on="host")
        calls[f"parts {name}"] = call(f"cube {scale['parts'][i]}", orders, "parts", CAVITY, flags=("--check", *roofs))
    for path in sorted(glob.glob(os.path.join(MESHES, "box*.msh")), key=os.path.getsize)[:scale["meshes"]]:
        calls[f"errors {os.path.basename(path)[3:-4]}"] = call(path, f"{first}-{last}", "run", standing_wave())
    for size in scale["sizes"]:
        calls[f"elements {size}"] = call(f"cube {size}", str(min(SIZES_ORDER, last)), "steps", CAVITY)
    order = str(min(BESIDE_ORDER, last))
    for name, settings in {"plain": {}, **BESIDE}.items():
        calls[f"beside {name}"] = call(f"cube {scale['cube']}", order, "steps", {**CAVITY, **settings})
    calls["beside ten probes"] = call(f"cube {scale['cube']}", order, "probes", CAVITY)
    calls["scattering"] = call(mesh, str(scale["scattering"]), "run", {**scattering(), "time.end": scale["end"]})
    return calls


def environment_of(name):
    """More variables: one core is one thread."""
    return {"OMP_NUM_THREADS": "1"} if name.startswith("core") else None
