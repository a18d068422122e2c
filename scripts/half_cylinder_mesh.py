#!/usr/bin/env python3
"""Mesh of triangles around the upper half of a cylinder of unit diameter (Gmsh, 2D).

    scripts/half_cylinder_mesh.py OUT.msh [--points 32] [--radius 20] [--growth 2]

POINTS elements lie on the half circle; elements grow by GROWTH times the distance from it, over their size at it, up to the far field at
RADIUS. Patches: body, axis (y = 0), far. Needs `pip install gmsh`.
"""
import argparse
import math

import gmsh


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--points", type=int, default=32)
    parser.add_argument("--radius", type=float, default=20.0)
    parser.add_argument("--growth", type=float, default=2.0)
    options = parser.parse_args()

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    geo = gmsh.model.geo
    centre = geo.addPoint(0, 0, 0)
    inner = [geo.addPoint(*at, 0) for at in ((-0.5, 0), (0, 0.5), (0.5, 0))]
    r = options.radius
    outer = [geo.addPoint(*at, 0) for at in ((r, 0), (0, r), (-r, 0))]
    body = [geo.addCircleArc(a, centre, b) for a, b in zip(inner, inner[1:])]
    far = [geo.addCircleArc(a, centre, b) for a, b in zip(outer, outer[1:])]
    behind, before = geo.addLine(inner[2], outer[0]), geo.addLine(outer[2], inner[0])
    plane = geo.addPlaneSurface([geo.addCurveLoop([*body, behind, *far, before])])
    geo.synchronize()
    size = gmsh.model.mesh.field.add("MathEval")
    least = 0.5 * math.pi / options.points
    gmsh.model.mesh.field.setString(size, "F", f"{least}*(1 + {options.growth}*(sqrt(x*x + y*y) - 0.5))")
    gmsh.model.mesh.field.setAsBackgroundMesh(size)
    gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
    gmsh.option.setNumber("Mesh.MeshSizeFromPoints", 0)
    gmsh.option.setNumber("Mesh.Algorithm", 6)
    for name, lines in dict(body=body, far=far, axis=[behind, before]).items():
        gmsh.model.addPhysicalGroup(1, lines, name=name)
    gmsh.model.addPhysicalGroup(2, [plane], name="gas")
    gmsh.model.mesh.generate(2)
    gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
    gmsh.option.setNumber("Mesh.Binary", 1)
    gmsh.write(options.out)
    gmsh.finalize()


if __name__ == "__main__":
    main()
