#!/usr/bin/env python3
"""Mesh of quadrilaterals above a flat plate of length 2, closer at its leading edge and along it (Gmsh, 2D).

    scripts/flat_plate_mesh.py OUT.msh [--scale 1.0]

SCALE multiplies the number of elements along each direction; the ratios of the spacings follow. Patches: upstream (from x = -2 to 0), plate
(to x = 2), outlet, top (at y = 4), inlet. Needs `pip install gmsh`.
"""
import argparse

import gmsh

HEIGHT, BEGIN, LENGTH = 4.0, -2.0, 2.0
UPSTREAM, PLATE, ACROSS = (14, 1.5), (46, 1.12), (38, 1.25)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    geo = gmsh.model.geo
    low = [geo.addPoint(x, 0, 0) for x in (BEGIN, 0, LENGTH)]
    high = [geo.addPoint(x, HEIGHT, 0) for x in (BEGIN, 0, LENGTH)]
    before, plate = geo.addLine(low[0], low[1]), geo.addLine(low[1], low[2])
    top_before, top = geo.addLine(high[0], high[1]), geo.addLine(high[1], high[2])
    inlet, edge, outlet = (geo.addLine(a, b) for a, b in zip(low, high))
    loops = [[before, edge, -top_before, -inlet], [plate, outlet, -top, -edge]]
    surfaces = [geo.addPlaneSurface([geo.addCurveLoop(loop)]) for loop in loops]
    for lines, (count, ratio), sign in (
        ([before, top_before], UPSTREAM, -1),
        ([plate, top], PLATE, 1),
        ([inlet, edge, outlet], ACROSS, 1),
    ):
        nodes = round(count * options.scale) + 1
        progression = ratio ** (sign / options.scale)
        for line in lines:
            geo.mesh.setTransfiniteCurve(line, nodes, "Progression", progression)
    for surface in surfaces:
        geo.mesh.setTransfiniteSurface(surface)
        geo.mesh.setRecombine(2, surface)
    geo.synchronize()
    patches = dict(upstream=[before], plate=[plate], outlet=[outlet], top=[top_before, top], inlet=[inlet])
    for name, lines in patches.items():
        gmsh.model.addPhysicalGroup(1, lines, name=name)
    gmsh.model.addPhysicalGroup(2, surfaces, name="gas")
    gmsh.model.mesh.generate(2)
    gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
    gmsh.option.setNumber("Mesh.Binary", 1)
    gmsh.write(options.out)
    gmsh.finalize()


if __name__ == "__main__":
    main()
