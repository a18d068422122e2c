#!/usr/bin/env python3
"""Mesh around a NACA 00xx airfoil of unit chord: quadrilaterals in a boundary layer, triangles outside (Gmsh, 2D).

    scripts/airfoil_mesh.py OUT.msh [--points 80] [--first 1e-3] [--ratio 1.25] [--layer 0.12] [--radius 30]
                            [--far 6] [--growth 0.2] [--wake 0.06] [--fan 5] [--thickness 0.12] [--triangles]

POINTS elements lie on each side of the airfoil, closer at both edges; FIRST is the height of the first layer, RATIO the growth of
the layers, LAYER their total height; RADIUS the distance of the far field and FAR the size of its elements; elements
grow by GROWTH times the distance from the airfoil and have the size WAKE behind it. FAN elements lie around the trailing edge in each
layer. A family of meshes that converges divides FIRST, FAR, GROWTH and WAKE by k, multiplies POINTS and FAN by k and takes the
k-th root of RATIO. The trailing edge is
closed (coefficient -0.1036). With --triangles there is no layer of quadrilaterals. Patches: airfoil, far. Needs `pip install gmsh`.
"""
import argparse
import math

import gmsh


def half_thickness(x, t):
    """y of the upper side of a NACA 00xx airfoil with a closed trailing edge."""
    return 5 * t * (0.2969 * math.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--points", type=int, default=80)
    parser.add_argument("--first", type=float, default=1e-3)
    parser.add_argument("--ratio", type=float, default=1.25)
    parser.add_argument("--layer", type=float, default=0.12)
    parser.add_argument("--radius", type=float, default=30.0)
    parser.add_argument("--far", type=float, default=6.0)
    parser.add_argument("--growth", type=float, default=0.2)
    parser.add_argument("--wake", type=float, default=0.06)
    parser.add_argument("--fan", type=int, default=5)
    parser.add_argument("--thickness", type=float, default=0.12)
    parser.add_argument("--triangles", action="store_true")
    options = parser.parse_args()

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.add("airfoil")
    geo = gmsh.model.geo
    n = 100
    x = [0.5 * (1 - math.cos(math.pi * k / n)) for k in range(n + 1)]
    nose = geo.addPoint(0, 0, 0)
    tail = geo.addPoint(1, 0, 0)
    upper = [geo.addPoint(s, half_thickness(s, options.thickness), 0) for s in x[1:-1]]
    lower = [geo.addPoint(s, -half_thickness(s, options.thickness), 0) for s in x[1:-1]]
    sides = [geo.addSpline([nose, *upper, tail]), geo.addSpline([tail, *reversed(lower), nose])]
    centre = geo.addPoint(0.5, 0, 0)
    corners = [
        geo.addPoint(0.5 + options.radius * math.cos(a), options.radius * math.sin(a), 0, options.far)
        for a in (0, 0.5 * math.pi, math.pi, 1.5 * math.pi)
    ]
    far = [geo.addCircleArc(corners[k], centre, corners[(k + 1) % 4]) for k in range(4)]
    outer, inner = geo.addCurveLoop(far), geo.addCurveLoop(sides)
    plane = geo.addPlaneSurface([outer, inner])
    for side in sides:
        # Closer at both edges of the airfoil.
        geo.mesh.setTransfiniteCurve(side, options.points + 1, "Bump", 0.12)
    geo.synchronize()

    field = gmsh.model.mesh.field
    distance = field.add("Distance")
    field.setNumbers(distance, "CurvesList", sides)
    field.setNumber(distance, "Sampling", 400)
    size = field.add("MathEval")
    # Grows with the distance from the airfoil, from the length of its elements.
    least = 1.6 / options.points
    field.setString(size, "F", f"{least} + {options.growth}*F{distance}")
    wake = field.add("Box")
    for name, value in dict(
        VIn=options.wake, VOut=options.far, XMin=0.9, XMax=3.0, YMin=-0.15, YMax=0.15, Thickness=12.0
    ).items():
        field.setNumber(wake, name, value)
    both = field.add("Min")
    field.setNumbers(both, "FieldsList", [size, wake])
    field.setAsBackgroundMesh(both)
    if not options.triangles:
        layer = field.add("BoundaryLayer")
        field.setNumbers(layer, "CurvesList", sides)
        field.setNumbers(layer, "FanPointsList", [tail])
        for name, value in dict(
            Size=options.first, Ratio=options.ratio, Thickness=options.layer, Quads=1
        ).items():
            field.setNumber(layer, name, value)
        field.setAsBoundaryLayer(layer)
        gmsh.option.setNumber("Mesh.BoundaryLayerFanElements", options.fan)
    gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
    gmsh.option.setNumber("Mesh.MeshSizeFromPoints", 0)
    gmsh.option.setNumber("Mesh.Algorithm", 6)
    gmsh.model.addPhysicalGroup(1, sides, name="airfoil")
    gmsh.model.addPhysicalGroup(1, far, name="far")
    gmsh.model.addPhysicalGroup(2, [plane], name="fluid")
    gmsh.model.mesh.generate(2)
    gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
    gmsh.option.setNumber("Mesh.Binary", 1)
    gmsh.write(options.out)
    gmsh.finalize()


if __name__ == "__main__":
    main()
