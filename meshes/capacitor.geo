// A plate capacitor of 1 mm x 1 mm x 1 mm with a cube of a dielectric in it: two regions.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Box(2) = {0.25, 0.25, 0.25, 0.5, 0.5, 0.5};
BooleanFragments { Volume{1}; Delete; }{ Volume{2}; Delete; }

e = 0.01;
cube() = Volume In BoundingBox {0.25 - e, 0.25 - e, 0.25 - e, 0.75 + e, 0.75 + e, 0.75 + e};
air() = Volume{:};
air() -= cube();
Physical Surface("ground", 1) = Surface In BoundingBox {-e, -e, -e, 1 + e, 1 + e, e};
Physical Surface("plate", 2) = Surface In BoundingBox {-e, -e, 1 - e, 1 + e, 1 + e, 1 + e};
Physical Volume("air", 1) = air();
Physical Volume("dielectric", 2) = cube();
Mesh.MeshSizeMax = 0.2;
Mesh.MeshSizeMin = 0.2;
