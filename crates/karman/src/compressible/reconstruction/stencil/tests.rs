//! Stencils on lattices and on meshes of Gmsh.
