#!/usr/bin/env python3
"""Makes the meshes of this folder with Gmsh's Python module (tried with 4.15): a quarter of the disk
of radius 2, quadrilaterals beyond radius 1 and triangles inside, in every order and node set."""
import gmsh

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)


def model():
    geo = gmsh.model.geo
    o = geo.addPoint(0, 0, 0)
    points = [geo.addPoint(*xy, 0) for xy in ((1, 0), (2, 0), (0, 2), (0, 1))]
    x, out, outer, back, inner = (
        geo.addLine(o, points[0]), geo.addLine(points[0], points[1]),
        geo.addCircleArc(points[1], o, points[2]), geo.addLine(points[2], points[3]),
        geo.addCircleArc(points[3], o, points[0]))
    y = geo.addLine(points[3], o)
    core = geo.addPlaneSurface([geo.addCurveLoop([x, -inner, y])])
    ring = geo.addPlaneSurface([geo.addCurveLoop([out, outer, back, inner])])
    for curve, n in ((out, 2), (outer, 3), (back, 2), (inner, 3), (x, 2), (y, 2)):
        geo.mesh.setTransfiniteCurve(curve, n)
    geo.mesh.setTransfiniteSurface(ring)
    geo.mesh.setRecombine(2, ring)
    geo.synchronize()
    gmsh.model.addPhysicalGroup(1, [outer], 5, "rim")
    gmsh.model.addPhysicalGroup(2, [core], 1, "core")
    gmsh.model.addPhysicalGroup(2, [ring], 2, "ring")
    gmsh.model.mesh.generate(2)


for order in range(2, 6):
    for name, incomplete in (("complete", 0), ("serendipity", 1)):
        gmsh.model.add(name)
        gmsh.option.setNumber("Mesh.ElementOrder", order)
        gmsh.option.setNumber("Mesh.SecondOrderIncomplete", incomplete)
        model()
        gmsh.write(f"quarter-{name}{order}.msh")
        if order == 3 and not incomplete:
            for version, binary in ((2.2, 0), (2.2, 1), (4.0, 0), (4.1, 1)):
                gmsh.option.setNumber("Mesh.MshFileVersion", version)
                gmsh.option.setNumber("Mesh.Binary", binary)
                gmsh.write(f"quarter-{version}{'-binary' * binary}.msh")
            gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
            gmsh.option.setNumber("Mesh.Binary", 0)
