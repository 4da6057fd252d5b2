"""Meshes for experiments that no generator of kedge makes, as Gmsh files (.msh 2.2): rectangles stretched or graded in
both directions, or distorted, sectors of well-shaped triangles graded towards a point, other meshes scaled in one direction, squares of two materials, trapezoids; balls and bricks of tetrahedra by Gmsh. All of the
boundary of the first two kinds is the group "wall", but for the left side of a rectangle, "left"."""
import math
import random


def write(path, points, triangles, lines):
    """lines: (a, b, group), groups 1 "wall" and 2 "left"; numbers of points from 0."""
    with open(path, "w", encoding="ascii") as file:
        file.write('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 1 "wall"\n1 2 "left"\n2 3 "domain"\n'
                   f"$EndPhysicalNames\n$Nodes\n{len(points)}\n")
        file.writelines(f"{i} {x!r} {y!r} 0\n" for i, (x, y) in enumerate(points, 1))
        file.write(f"$EndNodes\n$Elements\n{len(lines) + len(triangles)}\n")
        file.writelines(f"{i} 1 2 {group} {group} {a + 1} {b + 1}\n" for i, (a, b, group) in enumerate(lines, 1))
        file.writelines(f"{i} 2 2 3 3 {a + 1} {b + 1} {c + 1}\n"
                        for i, (a, b, c) in enumerate(triangles, len(lines) + 1))
        file.write("$EndElements\n")


def squares(path, n, cut, move=lambda i, j: (i, j)):
    """n x n squares, none, every other one or all of them cut into two triangles (cut "none", "half" or "all"), of two surfaces,
    "low" and "high". Without lines: all of the boundary is one."""
    points = [move(i, j) for j in range(n + 1) for i in range(n + 1)]
    cells = []
    for j in range(n):
        for i in range(n):
            a, group = j * (n + 1) + i, 1 if 2 * j < n else 2
            b, c, d = a + 1, a + n + 2, a + n + 1
            whole = cut == "none" or (cut == "half" and (i + j) % 2 == 0)
            cells += [(group, (a, b, c, d))] if whole else [(group, (a, b, c)), (group, (a, c, d))]
    with open(path, "w", encoding="ascii") as file:
        file.write('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 "low"\n2 2 "high"\n$EndPhysicalNames\n'
                   f"$Nodes\n{len(points)}\n")
        file.writelines(f"{k} {x / n!r} {y / n!r} 0\n" for k, (x, y) in enumerate(points, 1))
        file.write(f"$EndNodes\n$Elements\n{len(cells)}\n")
        file.writelines(f"{k} {len(cell) - 1} 2 {group} {group} {' '.join(str(v + 1) for v in cell)}\n"
                        for k, (group, cell) in enumerate(cells, 1))
        file.write("$EndElements\n")


def trapezoids(path, n):
    """Every other line of vertices of n x n squares goes up and down by a quarter of a square."""
    squares(path, n, "none", lambda i, j: (i, j + (0.25 if i % 2 else -0.25) * (j % 2)))


def tensor(path, xs, ys, move=lambda x, y: (x, y)):
    """Rectangles between the given coordinates, each in two triangles; `move` of vertices inside."""
    width, height = len(xs), len(ys)
    points = [move(x, y) if 0 < i < width - 1 and 0 < j < height - 1 else (x, y)
              for j, y in enumerate(ys) for i, x in enumerate(xs)]
    triangles, lines = [], []
    for j in range(height - 1):
        for i in range(width - 1):
            a = j * width + i
            triangles += [(a, a + 1, a + width + 1), (a, a + width + 1, a + width)]
        lines += [(j * width, (j + 1) * width, 2), ((j + 1) * width - 1, (j + 2) * width - 1, 1)]
    top = (height - 1) * width
    for i in range(width - 1):
        lines += [(i, i + 1, 1), (top + i, top + i + 1, 1)]
    write(path, points, triangles, lines)


def uniform(n, length=1.0):
    return [length * i / n for i in range(n + 1)]


def graded(n, ratio):
    """n intervals of [0, 1], symmetric, the middle ones `ratio` times as long as those at the ends."""
    growth = ratio ** (2.0 / n)
    lengths = [growth ** min(i, n - 1 - i) for i in range(n)]
    total, at, points = sum(lengths), 0.0, [0.0]
    for length in lengths:
        at += length
        points.append(at / total)
    points[-1] = 1.0
    return points


def stretched(path, n, ratio):
    """n x n rectangles 1 : ratio."""
    tensor(path, uniform(n), uniform(n, 1.0 / ratio))


def distorted(path, n, ratio, amount):
    """n x n rectangles 1 : ratio; vertices inside are moved at random by up to `amount` of their distances."""
    draw = random.Random(1).uniform
    reach = amount / n
    tensor(path, uniform(n), uniform(n, 1.0 / ratio),
           lambda x, y: (x + draw(-reach, reach), y + draw(-reach, reach) / ratio))


def boundary_layers(path, n, ratio):
    """n x n rectangles, graded in both directions towards the boundary: stretched at the sides, small in the corners."""
    tensor(path, graded(n, ratio), graded(n, ratio))


def sector(path, n, ratio):
    """Three quarters of a disk in n sectors: layers whose thickness is that of their arc, from radius 1 / ratio, inside
    of which a fan meets in the re-entrant corner, to 1. Well-shaped triangles for n near 8 (finer ones by mesh.refine),
    sizes 1 : ratio."""
    step = 1.5 * math.pi / n
    layers = max(1, round(math.log(ratio) / math.log1p(step)))
    points = [(0.0, 0.0)]
    for k in range(layers + 1):
        radius = ratio ** (k / layers - 1.0)
        points += [(radius * math.cos(i * step), radius * math.sin(i * step)) for i in range(n + 1)]
    ring = lambda k: 1 + k * (n + 1)
    triangles = [(0, 1 + i, 2 + i) for i in range(n)]
    for k in range(layers):
        for i in range(n):
            a, b = ring(k) + i, ring(k + 1) + i
            triangles += [(a, b, b + 1), (a, b + 1, a + 1)]
    ends = [(0, ring(0)), (0, ring(0) + n)]
    ends += [(ring(k) + i, ring(k + 1) + i) for k in range(layers) for i in (0, n)]
    lines = [(a, b, 1) for a, b in ends] + [(ring(layers) + i, ring(layers) + i + 1, 1) for i in range(n)]
    write(path, points, triangles, lines)


def scaled(path, source, ratio):
    """A mesh of Gmsh (.msh 2.2, ASCII), so many times lower: all of its triangles are stretched, and irregular."""
    with open(source, encoding="ascii") as file:
        before, nodes, after = file.read().replace("$EndNodes", "$Nodes").split("$Nodes\n")
    lines = [line.split() for line in nodes.splitlines()]
    rows = [f"{number} {x} {float(y) / ratio!r} {z}\n" for number, x, y, z in lines[1:]]
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{before}$Nodes\n{len(rows)}\n{''.join(rows)}$EndNodes\n{after}")


def solid(path, shape, size, optimized):
    """Tetrahedra of Gmsh: shape(occ) makes a volume, and {group: test of the box around a surface}."""
    import gmsh  # of PyPI
    gmsh.initialize(interruptible=False)
    try:
        for option, value in (("General.Terminal", 0), ("General.NumThreads", 1), ("Mesh.MeshSizeMax", size),
                              ("Mesh.MeshSizeMin", size), ("Mesh.Optimize", int(optimized)), ("Mesh.Binary", 1)):
            gmsh.option.setNumber(option, value)
        groups = shape(gmsh.model.occ)
        gmsh.model.occ.synchronize()
        surfaces = [tag for _, tag in gmsh.model.getEntities(2)]
        for name, holds in groups.items():
            gmsh.model.addPhysicalGroup(2, [tag for tag in surfaces if holds(gmsh.model.getBoundingBox(2, tag))], name=name)
        gmsh.model.addPhysicalGroup(3, [tag for _, tag in gmsh.model.getEntities(3)], name="domain")
        gmsh.model.mesh.generate(3)
        gmsh.write(path)
    finally:
        gmsh.finalize()


def ball(path, size, optimized):
    """A ball of radius 1, bored through along z; its groups are "hole" and "sphere"."""
    def shape(occ):
        occ.cut([(3, occ.addSphere(0, 0, 0, 1))], [(3, occ.addCylinder(0, 0, -2, 0, 0, 4, 0.3))])
        return {"hole": lambda box: box[3] < 0.5, "sphere": lambda box: box[3] > 0.5}
    solid(path, shape, size, optimized)


def brick(path, size, optimized):
    """An L of three unit cubes."""
    def shape(occ):
        occ.cut([(3, occ.addBox(-1, -1, 0, 2, 2, 1))], [(3, occ.addBox(0, 0, -1, 2, 2, 3))])
        return {"wall": lambda box: True}
    solid(path, shape, size, optimized)
