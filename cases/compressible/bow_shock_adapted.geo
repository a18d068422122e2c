h = 0.08;
Point(1) = {-2, 0, 0, h}; Point(2) = {-0.5, 0, 0, h/4}; Point(3) = {0, 0.5, 0, h/4}; Point(4) = {0, 2.5, 0, h}; Point(5) = {-2, 2.5, 0, h};
Point(6) = {0, 0, 0, h};
Line(1) = {1, 2}; Circle(2) = {2, 6, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 1};
Curve Loop(1) = {1, 2, 3, 4, 5}; Plane Surface(1) = {1};
Physical Curve("axis") = {1}; Physical Curve("cylinder") = {2}; Physical Curve("outlet") = {3}; Physical Curve("top") = {4};
Physical Curve("inlet") = {5}; Physical Surface("gas") = {1};
Mesh.Algorithm = 6; Mesh.Binary = 1; Mesh.MshFileVersion = 4.1;
