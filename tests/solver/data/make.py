#!/usr/bin/env python3
"""Makes the meshes of this folder with Gmsh's Python module (tried with 4.15): a ball, and a brick of two
regions whose boundary has two groups."""
import gmsh

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
gmsh.option.setNumber("Mesh.Binary", 0)
gmsh.option.setNumber("Mesh.SaveAll", 0)


def write(name, size):
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.model.mesh.generate(3)
    gmsh.write(name)


gmsh.model.add("ball")
ball = gmsh.model.occ.addSphere(0, 0, 0, 1)
gmsh.model.occ.synchronize()
gmsh.model.addPhysicalGroup(3, [ball], 1, "inside")
gmsh.model.addPhysicalGroup(2, [tag for _, tag in gmsh.model.getEntities(2)], 2, "skin")
write("ball.msh", 0.65)

gmsh.model.add("brick")
halves = [(3, gmsh.model.occ.addBox(x, 0, 0, 0.5, 0.8, 0.7)) for x in (0, 0.5)]
gmsh.model.occ.fragment(halves[:1], halves[1:])
gmsh.model.occ.synchronize()
walls = {"front": [], "rest": []}
for _, tag in gmsh.model.getEntities(2):
    x, y, _ = gmsh.model.occ.getCenterOfMass(2, tag)
    if abs(x - 0.5) > 1e-6:
        walls["front" if y < 1e-6 else "rest"].append(tag)
for k, (name, tags) in enumerate(walls.items()):
    gmsh.model.addPhysicalGroup(2, tags, 3 + k, name)
for _, tag in gmsh.model.getEntities(3):
    left = gmsh.model.occ.getCenterOfMass(3, tag)[0] < 0.5
    gmsh.model.addPhysicalGroup(3, [tag], 1 if left else 2, "left" if left else "right")
write("brick.msh", 0.45)
