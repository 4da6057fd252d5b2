// Fichera's corner: a cube of side 2 without one of its eight octants.
SetFactory("OpenCASCADE");
Box(1) = {-1, -1, -1, 2, 2, 2};
Box(2) = {0, 0, 0, 1, 1, 1};
BooleanDifference { Volume{1}; Delete; }{ Volume{2}; Delete; }
Physical Surface("wall", 1) = Surface{:};
Physical Volume("domain", 1) = Volume{:};
Mesh.MeshSizeMax = 0.6;
Mesh.MeshSizeMin = 0.6;
