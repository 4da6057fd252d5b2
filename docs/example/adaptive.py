"""An adaptive loop with Gmsh: corners where the gradient is infinite, to a given error in energy.

    adaptive.py [lshape|slit] [TOLERANCE [PICTURE]]

Each mesh is made by Gmsh (pip install gmsh) with sizes from the solution on the one before: where |u* - u| over the size
of an element, which goes like the error of the gradient, is large, elements become smaller. A table compares it with the
uniform refinement of the first mesh; with the name of a picture it is drawn (matplotlib).
"""
import sys

import kedge  # before gmsh, whose libgomp keeps waiting threads awake, which is slow on shared cores

import gmsh
import numpy as np

ORDER = 6
# exponent a of r^a sin(a t), corners of the surfaces that Gmsh meshes; t from 0 on the positive x axis, counterclockwise
DOMAINS = {"lshape": (2 / 3, [[(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)]]),
           "slit": (1 / 2, [[(0, 0), (1, 0), (1, 1), (-1, 1), (-1, 0)], [(0, 0), (-1, 0), (-1, -1), (1, -1), (1, 0)]])}


def build(surfaces):
    """A model: corners and sides that surfaces have in common are one, but for the slit from (0, 0) to (1, 0)."""
    points, lines = {}, {}
    for k, corners in enumerate(surfaces):
        tags = []
        for x, y in corners:
            name = (x, y, k if x > 0 and y == 0 else 0)
            if name not in points:
                points[name] = gmsh.model.geo.addPoint(x, y, 0)
            tags.append(points[name])
        loop = []
        for a, b in zip(tags, tags[1:] + tags[:1]):
            if (b, a) in lines:
                loop.append(-lines[b, a])
            else:
                lines[a, b] = gmsh.model.geo.addLine(a, b)
                loop.append(lines[a, b])
        gmsh.model.geo.addPlaneSurface([gmsh.model.geo.addCurveLoop(loop)])
    gmsh.model.geo.synchronize()


def mesh_of(surfaces, mesh=None, size=0.5):
    """Mesh the surfaces: with one size, or with sizes that are given for the elements of a mesh."""
    gmsh.clear()
    build(surfaces)
    if mesh is not None:
        corners = mesh.nodes.reshape(-1, 3, 2)
        data = np.concatenate([corners[..., 0], corners[..., 1], 0 * corners[..., 0], np.repeat(size[:, None], 3, 1)], axis=1)
        view = gmsh.view.add("size")
        gmsh.view.addListData(view, "ST", len(data), data.ravel())
        field = gmsh.model.mesh.field.add("PostView")
        gmsh.model.mesh.field.setNumber(field, "ViewTag", view)
        gmsh.model.mesh.field.setAsBackgroundMesh(field)
    else:
        gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.model.mesh.generate(2)
    tags, xyz, _ = gmsh.model.mesh.getNodes()
    number = np.zeros(int(tags.max()) + 1, int)
    number[tags] = np.arange(len(tags))
    lines, triangles = (gmsh.model.mesh.getElementsByType(kind)[1].reshape(-1, kind + 1) for kind in (1, 2))
    return kedge.Mesh(xyz.reshape(-1, 3)[:, :2], number[triangles], lines={"sides": number[lines]})


def solve(mesh, a):
    """u = r^a sin(a t) on the boundary; the error in energy."""
    def angle(x, y):
        return np.arctan2(y, x) % (2 * np.pi)

    def u(x, y):
        return np.hypot(x, y)**a * np.sin(a * angle(x, y))

    def du_dx(x, y):
        return a * np.hypot(x, y)**(a - 1) * np.sin((a - 1) * angle(x, y))

    def du_dy(x, y):
        return a * np.hypot(x, y)**(a - 1) * np.cos((a - 1) * angle(x, y))

    problem = kedge.Problem(order=ORDER, source=0, boundary={"sides": kedge.Dirichlet(u)}, tolerance=1e-12)
    s = kedge.solve(mesh, problem)
    return s, s.error(u, du_dx, du_dy, norm="energy", points=20)  # with fewer, the part of the elements at the corner is too small


def sizes(mesh):
    """Lengths of the elements: equilateral triangles of this side have their areas."""
    corners = mesh.nodes.reshape(-1, 3, 2)
    d, e = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.sqrt(np.abs(d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0]) * 2 / np.sqrt(3))


def wanted_sizes(s, growth=1.6):
    """Sizes for some `growth` times as many elements. In place of one come as many as its indicator is in parts of the
    sum: more than where u is smooth would be needed to make it the same on all, fewer than at the corner."""
    h = sizes(s.mesh)
    indicator = s.indicator / h
    return h / np.sqrt(np.clip(growth * len(h) * indicator / indicator.sum(), 0.25, 64))


def show(mesh, s, error):
    row = mesh.elements, error, sizes(mesh).min()
    print("%10d %10.2e %10.1e %10d" % (*row, s.report.iterations), flush=True)
    return row


def adapt(surfaces, a, tolerance):
    rows, mesh = [], mesh_of(surfaces)
    while not rows or rows[-1][1] > tolerance:
        s, error = solve(mesh, a)
        rows.append(show(mesh, s, error))
        mesh = mesh_of(surfaces, mesh, wanted_sizes(s))
    return rows


def refine(surfaces, a, most):
    """Every element into four, as long as there are no more than `most`."""
    rows, mesh = [], mesh_of(surfaces)
    while mesh.elements <= most:
        rows.append(show(mesh, *solve(mesh, a)))
        mesh = mesh.refine()
    return rows


def draw(picture, rows):
    from matplotlib import pyplot
    ax = pyplot.subplots()[1]
    for name, some in rows.items():
        ax.loglog([row[0] for row in some], [row[1] for row in some], "o-", label=name)
    ax.set_xlabel("elements")
    ax.set_ylabel("error in energy")
    ax.legend()
    ax.figure.savefig(picture)


def main():
    domain = sys.argv[1] if len(sys.argv) > 1 else "lshape"
    tolerance = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-6
    a, surfaces = DOMAINS[domain]
    gmsh.initialize()
    for name, value in (("General.Verbosity", 1), ("Mesh.MeshSizeExtendFromBoundary", 0), ("Mesh.MeshSizeFromPoints", 0),
                        ("Mesh.Algorithm", 5)):
        gmsh.option.setNumber(name, value)
    print("  elements      error   smallest iterations, adapted")
    rows = {"adapted": adapt(surfaces, a, tolerance)}
    print("  elements      error   smallest iterations, each into four")
    rows["each into four"] = refine(surfaces, a, max(rows["adapted"][-1][0], 4000))
    gmsh.finalize()
    elements, error, _ = rows["each into four"][-1]
    print(f"{rows['adapted'][-1][1]:.2e} is reached with {rows['adapted'][-1][0]} elements; by elements of one size it would "
          f"take {elements * (error / rows['adapted'][-1][1])**(2 / a):.1e}, at the rate a / 2")
    if len(sys.argv) > 3:
        draw(sys.argv[3], rows)


if __name__ == "__main__":
    main()
