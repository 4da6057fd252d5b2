// A heat sink in cm: a base with five fins, and a chip below it.
SetFactory("OpenCASCADE");
Box(1) = {-2, -2, 0, 4, 4, 0.5};
For i In {0:4}
  Box(2 + i) = {-2, -1.8 + 0.8*i, 0.5, 4, 0.4, 2};
EndFor
Rectangle(100) = {-0.75, -0.75, 0, 1.5, 1.5};
BooleanUnion { Volume{1}; Delete; }{ Volume{2:6}; Delete; }
BooleanFragments { Volume{1}; Delete; }{ Surface{100}; Delete; }

e = 0.01;
chip() = Surface In BoundingBox {-0.75 - e, -0.75 - e, -e, 0.75 + e, 0.75 + e, e};
bottom() = Surface In BoundingBox {-2 - e, -2 - e, -e, 2 + e, 2 + e, e};
air() = Surface{:};
air() -= bottom();
Physical Surface("chip", 1) = chip();
Physical Surface("air", 2) = air();
Physical Volume("aluminium", 1) = Volume{:};
Mesh.MeshSizeMax = 0.7;
Mesh.MeshSizeMin = 0.7;
