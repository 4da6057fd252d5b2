// A plate of 3 by 2 with three holes: heat flows from the hot edge on the left to the cold one on the
// right; the holes carry a coolant.
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 3, 2};
Disk(2) = {0.85, 1.15, 0, 0.45};
Disk(3) = {1.85, 0.60, 0, 0.30};
Disk(4) = {2.30, 1.50, 0, 0.16};
BooleanDifference(5) = { Surface{1}; Delete; }{ Surface{2, 3, 4}; Delete; };

hot() = Curve In BoundingBox {-0.01, -0.01, -1, 0.01, 2.01, 1};
cold() = Curve In BoundingBox {2.99, -0.01, -1, 3.01, 2.01, 1};
bottom() = Curve In BoundingBox {-0.01, -0.01, -1, 3.01, 0.01, 1};
top() = Curve In BoundingBox {-0.01, 1.99, -1, 3.01, 2.01, 1};
large() = Curve In BoundingBox {0.35, 0.65, -1, 1.35, 1.65, 1};
medium() = Curve In BoundingBox {1.50, 0.25, -1, 2.20, 0.95, 1};
small() = Curve In BoundingBox {2.10, 1.30, -1, 2.50, 1.70, 1};

Physical Curve("hot", 1) = hot();
Physical Curve("cold", 2) = cold();
Physical Curve("insulated", 3) = {bottom(), top()};
Physical Curve("hole-large", 4) = large();
Physical Curve("hole-medium", 5) = medium();
Physical Curve("hole-small", 6) = small();
Physical Surface("plate", 1) = {5};

// Finer at the holes, finest at the small one.
Field[1] = Distance;
Field[1].CurvesList = {large(), medium()};
Field[1].NumPointsPerCurve = 200;
Field[2] = Threshold;
Field[2].InField = 1;
Field[2].SizeMin = 0.04;
Field[2].SizeMax = 0.11;
Field[2].DistMin = 0.02;
Field[2].DistMax = 0.5;
Field[3] = Distance;
Field[3].CurvesList = {small()};
Field[3].NumPointsPerCurve = 200;
Field[4] = Threshold;
Field[4].InField = 3;
Field[4].SizeMin = 0.025;
Field[4].SizeMax = 0.11;
Field[4].DistMin = 0.02;
Field[4].DistMax = 0.5;
Field[5] = Min;
Field[5].FieldsList = {2, 4};
Background Field = 5;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.Algorithm = 6;
