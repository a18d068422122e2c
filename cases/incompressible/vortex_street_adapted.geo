h = 0.8; w = 0.049;
Point(1) = {-5, -5, 0, h}; Point(2) = {15, -5, 0, h}; Point(3) = {15, 5, 0, h}; Point(4) = {-5, 5, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Point(5) = {0, 0, 0, w}; Point(6) = {0.5, 0, 0, w}; Point(7) = {0, 0.5, 0, w}; Point(8) = {-0.5, 0, 0, w}; Point(9) = {0, -0.5, 0, w};
Circle(5) = {6, 5, 7}; Circle(6) = {7, 5, 8}; Circle(7) = {8, 5, 9}; Circle(8) = {9, 5, 6};
Curve Loop(1) = {1, 2, 3, 4}; Curve Loop(2) = {5, 6, 7, 8}; Plane Surface(1) = {1, 2};
Physical Curve("bottom") = {1}; Physical Curve("outlet") = {2}; Physical Curve("top") = {3}; Physical Curve("inlet") = {4};
Physical Curve("cylinder") = {5, 6, 7, 8}; Physical Surface("air") = {1};
Mesh.Algorithm = 6; Mesh.Binary = 1; Mesh.MshFileVersion = 4.1;
