h = 0.06;
Point(1) = {0, 0, 0, h}; Point(2) = {0.6, 0, 0, h}; Point(3) = {0.6, 0.2, 0, h/2}; Point(4) = {3, 0.2, 0, h};
Point(5) = {3, 1, 0, h}; Point(6) = {0, 1, 0, h};
Line(1) = {1,2}; Line(2) = {2,3}; Line(3) = {3,4}; Line(4) = {4,5}; Line(5) = {5,6}; Line(6) = {6,1};
Curve Loop(1) = {1,2,3,4,5,6}; Plane Surface(1) = {1};
Physical Curve("bottom") = {1}; Physical Curve("face") = {2}; Physical Curve("step") = {3}; Physical Curve("outlet") = {4};
Physical Curve("top") = {5}; Physical Curve("inlet") = {6}; Physical Surface("gas") = {1};
Mesh.Algorithm = 6; Mesh.Binary = 1; Mesh.MshFileVersion = 4.1;
