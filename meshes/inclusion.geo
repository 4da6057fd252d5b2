// A rectangle with a round inclusion of another material: two regions, a named line between them
// that is no boundary, and a top edge that is in no group.
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 2, 1};
Disk(2) = {0.7, 0.5, 0, 0.25};
BooleanFragments { Surface{1}; Delete; }{ Surface{2}; Delete; }

inclusion() = Surface In BoundingBox {0.4, 0.2, -1, 1.0, 0.8, 1};
all() = Surface{:};
matrix() = all();
matrix() -= inclusion();
Physical Curve("inlet", 11) = Curve In BoundingBox {-0.01, -0.01, -1, 0.01, 1.01, 1};
Physical Curve("outlet", 12) = Curve In BoundingBox {1.99, -0.01, -1, 2.01, 1.01, 1};
Physical Curve("floor", 13) = Curve In BoundingBox {-0.01, -0.01, -1, 2.01, 0.01, 1};
Physical Curve("interface", 20) = Curve In BoundingBox {0.4, 0.2, -1, 1.0, 0.8, 1};
Physical Surface("matrix", 1) = matrix();
Physical Surface("inclusion", 2) = inclusion();
Mesh.MeshSizeMax = 0.14;
Mesh.MeshSizeMin = 0.14;
