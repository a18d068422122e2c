#!/usr/bin/env python3
"""The small meshes of the tests, made by Gmsh as users make theirs.

    pip install gmsh          (Debian and Ubuntu: libglu1-mesa too)
    scripts/test_meshes.py    writes crates/karman-mesh/tests/meshes/*.msh, at most 150 kB each

Ducts run along z and have the patches inlet, outlet and wall. Squares are unit squares with the patches
xmin, xmax, ymin and ymax. Format: MSH 4.1, binary, unless the name says 22 (2.2, ASCII).
"""
import math
import pathlib
import gmsh

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "crates/karman-mesh/tests/meshes"
DELAUNAY, HXT = 1, 10
occ = gmsh.model.occ


def pipe(length):
    occ.addCylinder(0, 0, 0, 0, 0, length, 0.5)


def ball():
    occ.cut([(3, occ.addBox(0, 0, 0, 1, 1, 2))], [(3, occ.addSphere(0.5, 0.5, 0.8, 0.2))])


def tee():
    along = occ.addCylinder(0.5, 0.5, 0, 0, 0, 2, 0.5)
    occ.fuse([(3, along)], [(3, occ.addCylinder(0.5, 0.5, 1, 1.4, 0, 0, 0.35))])


def duct(name, build, size, algorithm=DELAUNAY):
    """Tetrahedra; the inlet is z = 0, outlets are the far end and the end of a branch."""
    gmsh.clear()
    build()
    occ.synchronize()
    _, _, _, right, _, far = gmsh.model.getBoundingBox(-1, -1)
    patches = {}
    for _, face in gmsh.model.getBoundary(gmsh.model.getEntities(3), oriented=False):
        box = gmsh.model.getBoundingBox(2, face)
        ends = box[2] > far - 1e-3 or (right > 1.2 and box[0] > right - 1e-3)
        kind = "inlet" if box[5] < 1e-3 else "outlet" if ends else "wall"
        patches.setdefault(kind, []).append(face)
    write(name, 3, patches, size, algorithm)


def sides(dimension):
    """The entities of each side of a box, by the name of its patch."""
    low, high = (gmsh.model.getBoundingBox(-1, -1)[k:k + 3] for k in (0, 3))
    patches = {}
    for _, entity in gmsh.model.getEntities(dimension - 1):
        box = gmsh.model.getBoundingBox(dimension - 1, entity)
        flat = min(range(dimension), key=lambda k: box[k + 3] - box[k])
        near = box[flat] < 0.5 * (low[flat] + high[flat])
        patches["xyz"[flat] + ("min" if near else "max")] = [entity]
    return patches


def square(name, size, recombined=False):
    """Triangles, or the quadrilaterals that recombine them."""
    gmsh.clear()
    occ.addRectangle(0, 0, 0, 1, 1)
    occ.synchronize()
    if recombined:
        gmsh.model.mesh.setRecombine(2, 1)
    write(name, 2, sides(2), size, DELAUNAY)


def cube(name, size, element):
    """Tetrahedra, or prisms and hexahedra that extrude triangles and quadrilaterals along z."""
    gmsh.clear()
    if element == "tetrahedron":
        occ.addBox(0, 0, 0, 1, 1, 1)
    else:
        base = occ.addRectangle(0, 0, 0, 1, 1)
        occ.extrude([(2, base)], 0, 0, 1, [max(2, round(1 / size))], recombine=True)
        occ.synchronize()
        if element == "hexahedron":
            gmsh.model.mesh.setRecombine(2, base)
    occ.synchronize()
    write(name, 3, sides(3), size, DELAUNAY)


def channel(name, size):
    """Triangles of a channel of 2 by 1 whose ends have the same nodes."""
    gmsh.clear()
    occ.addRectangle(0, 0, 0, 2, 1)
    occ.synchronize()
    patches = sides(2)
    for end in "xmin", "xmax":
        gmsh.model.mesh.setTransfiniteCurve(patches[end][0], round(1 / size) + 1)
    write(name, 2, patches, size, DELAUNAY)


def step(name, size):
    """Triangles of a channel that widens from 0.5 to 1 at x = 1."""
    gmsh.clear()
    points = [occ.addPoint(x, y, 0) for x, y in [(0, .5), (1, .5), (1, 0), (5, 0), (5, 1), (0, 1)]]
    lines = [occ.addLine(a, b) for a, b in zip(points, points[1:] + points[:1])]
    occ.addPlaneSurface([occ.addCurveLoop(lines)])
    occ.synchronize()
    write(name, 2, {"wall": lines[:3] + [lines[4]], "outlet": [lines[3]], "inlet": [lines[5]]}, size, DELAUNAY)


def ring(name, size):
    """Triangles between circles of radius ½ and 1."""
    gmsh.clear()
    outer, inner = (occ.addDisk(0, 0, 0, r, r) for r in (1, 0.5))
    occ.cut([(2, outer)], [(2, inner)])
    occ.synchronize()
    patches = {}
    for _, line in gmsh.model.getEntities(1):
        box = gmsh.model.getBoundingBox(1, line)
        patches["outer" if box[3] > 0.75 else "inner"] = [line]
    write(name, 2, patches, size, DELAUNAY)


def turned_square(name, size, turn):
    """The square of triangles somewhere in space; `turn` moves the surface."""
    gmsh.clear()
    surface = occ.addRectangle(0, 0, 0, 1, 1)
    occ.synchronize()
    lines = {patch: [tag] for patch, (_, tag) in zip(("ymin", "xmax", "ymax", "xmin"), gmsh.model.getEntities(1))}
    turn([(2, surface)])
    occ.synchronize()
    write(name, 2, lines, size, DELAUNAY)


def tilt(entities):
    occ.rotate(entities, 0, 0, 0, 1, 0, 0, math.radians(30))
    occ.rotate(entities, 0, 0, 0, 0, 0, 1, math.radians(20))
    occ.translate(entities, 0.3, -0.2, 5)


def overlap(name, version):
    """A square whose side ymin is in two physical groups."""
    gmsh.clear()
    occ.addRectangle(0, 0, 0, 1, 1)
    occ.synchronize()
    sides = {patch: [tag] for patch, (_, tag) in zip(("ymin", "xmax", "ymax", "xmin"), gmsh.model.getEntities(1))}
    write(name, 2, sides | {"heated": sides["ymin"]}, 0.3, DELAUNAY, version)


def two_boxes(name):
    """Two boxes side by side that were never joined: other nodes on either side of x = 0.5."""
    gmsh.clear()
    boxes = [occ.addBox(0, 0, 0, 0.5, 1, 1), occ.addBox(0.5, 0, 0, 0.5, 1, 1)]
    occ.synchronize()
    for box, size in zip(boxes, (0.5, 0.35)):
        corners = gmsh.model.getBoundary([(3, box)], recursive=True)
        gmsh.model.mesh.setSize(corners, size)
    faces = [tag for _, tag in gmsh.model.getEntities(2)]
    write(name, 3, {"wall": faces}, 0.5, DELAUNAY, least=0)


def write(name, dimension, patches, size, algorithm, version=4.1, least=None):
    for patch, entities in sorted(patches.items()):
        gmsh.model.addPhysicalGroup(dimension - 1, entities, name=patch)
    inside = [tag for _, tag in gmsh.model.getEntities(dimension)]
    gmsh.model.addPhysicalGroup(dimension, inside, name="fluid")
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.option.setNumber("Mesh.MeshSizeMin", size if least is None else least)
    gmsh.option.setNumber("Mesh.Algorithm3D", algorithm)
    gmsh.model.mesh.generate(dimension)
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", 1 if version > 4 else 0)
    path = FOLDER / f"{name}.msh"
    gmsh.write(str(path))
    _, tags, _ = gmsh.model.mesh.getElements(dimension)
    print(f"{name}: {sum(map(len, tags))} cells, {path.stat().st_size // 1000} kB")
    assert path.stat().st_size <= 150_000, name


if __name__ == "__main__":
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    duct("pipe_coarse", lambda: pipe(1), 0.25)
    duct("pipe_medium", lambda: pipe(1), 0.17)
    duct("pipe_fine", lambda: pipe(1), 0.125)
    duct("pipe_hxt", lambda: pipe(2), 0.24, HXT)
    duct("ball", ball, 0.22)
    duct("tee", tee, 0.24, HXT)
    for name, size in ("coarse", 0.1), ("medium", 0.05), ("fine", 0.03):
        square(f"triangles_{name}", size)
        square(f"quadrilaterals_{name}", size, recombined=True)
    turned_square("triangles_xz", 0.2, lambda surface: occ.rotate(surface, 0, 0, 0, 1, 0, 0, math.pi / 2))
    turned_square("triangles_tilted", 0.2, tilt)
    overlap("overlap41", 4.1)
    overlap("overlap22", 2.2)
    two_boxes("two_boxes")
    for element in "tetrahedron", "prism", "hexahedron":
        for name, size in ("coarse", 0.34), ("medium", 0.2), ("fine", 0.135):
            cube(f"cube_{element}_{name}", size, element)
    channel("channel", 0.1)
    step("step", 0.07)
    for name, size in ("coarse", 0.2), ("medium", 0.1), ("fine", 0.05):
        ring(f"ring_{name}", size)
    gmsh.finalize()
