// The L of side 2, graded towards its inner corner, where solutions of elliptic problems are
// singular: element sizes from 0.15 down to 0.002.
Point(1) = {0, 0, 0, 0.002};
Point(2) = {0, -1, 0, 0.15};
Point(3) = {1, 0, 0, 0.15};
Point(4) = {1, 1, 0, 0.15};
Point(5) = {-1, 1, 0, 0.15};
Point(6) = {-1, -1, 0, 0.15};
Line(1) = {1, 3};
Line(2) = {3, 4};
Line(3) = {4, 5};
Line(4) = {5, 6};
Line(5) = {6, 2};
Line(6) = {2, 1};
Curve Loop(1) = {1, 2, 3, 4, 5, 6};
Plane Surface(1) = {1};
Physical Curve("corner", 1) = {1, 6};
Physical Curve("outer", 2) = {2, 3, 4, 5};
Physical Surface("domain", 1) = {1};
