#!/usr/bin/env bash
# karman and OpenFOAM's simpleFoam on one core: iterations and seconds until the drag of a cylinder (Re 40, triangles
# that grow away from it) or the pressure drop of a bend (Re 100, tetrahedra) stays within 0.1 % of its final value. Equal
# meshes of Gmsh, uniform inlets, convection by linear upwinding. simpleFoam is SIMPLEC (`consistent yes`) with velocities
# relaxed by 0.9, GAMG and symGaussSeidel to relative residuals of 0.1; karman has its defaults.
#
#     scripts/compare_simplefoam.sh KARMAN [cylinder | bend …]
#
# KARMAN is a release build. Needs simpleFoam and gmshToFoam (the package openfoam on Debian and Ubuntu), and Python with
# gmsh. Seconds are processor time of the iterations, without mesh, set-up and output.
set -euo pipefail
karman="$(realpath "${1:?the karman program}")"
shift
[[ $# -gt 0 ]] || set -- cylinder bend
if [[ -z "${WM_PROJECT_DIR:-}" && -d /usr/share/openfoam ]]; then
    export WM_PROJECT_DIR=/usr/share/openfoam FOAM_ETC=/usr/share/openfoam/etc
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
iterations=1500

# dictionary CLASS OBJECT: from standard input to FOLDER/OBJECT.
dictionary() {
    mkdir -p "$(dirname "$2")"
    { echo "FoamFile { version 2.0; format ascii; class $1; object $(basename "$2"); }"; cat; } > "$2"
}

for name in "$@"; do
    mkdir "$work/$name"
    cd "$work/$name"
    python3 - "$name" <<'EOF'
import sys
import gmsh

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
occ = gmsh.model.occ


def group(dimension, name, entities):
    gmsh.model.addPhysicalGroup(dimension, entities, name=name)


def surfaces(inside):
    """Surfaces whose centre of mass lies where `inside` holds."""
    return [tag for _, tag in gmsh.model.getEntities(2) if inside(*occ.getCenterOfMass(2, tag))]


def cylinder(extruded):
    gmsh.model.add("cylinder")
    plane, _ = occ.cut([(2, occ.addRectangle(-8, -8, 0, 32, 16))], [(2, occ.addDisk(0, 0, 0, 0.5, 0.5))])
    occ.synchronize()
    circle = [c for _, c in gmsh.model.getEntities(1) if occ.getMass(1, c) < 4]
    field = gmsh.model.mesh.field
    field.add("Distance", 1)
    field.setNumbers(1, "CurvesList", circle)
    field.setNumber(1, "Sampling", 400)
    field.add("Threshold", 2)
    for key, value in ("InField", 1), ("SizeMin", 0.025), ("SizeMax", 0.8), ("DistMin", 0.3), ("DistMax", 12):
        field.setNumber(2, key, value)
    field.setAsBackgroundMesh(2)
    gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
    if not extruded:
        for name, x in ("inlet", -8), ("outlet", 24):
            group(1, name, [c for _, c in gmsh.model.getEntities(1) if abs(occ.getCenterOfMass(1, c)[0] - x) < 1e-6])
        group(1, "far", [c for _, c in gmsh.model.getEntities(1) if abs(abs(occ.getCenterOfMass(1, c)[1]) - 8) < 1e-6])
        group(1, "body", circle)
        group(2, "fluid", [plane[0][1]])
        gmsh.model.mesh.generate(2)
        return
    occ.extrude(plane, 0, 0, 1, numElements=[1], recombine=True)
    occ.synchronize()
    group(2, "sides", surfaces(lambda x, y, z: abs(z - 0.5) > 0.4))
    group(2, "inlet", surfaces(lambda x, y, z: abs(x + 8) < 1e-6))
    group(2, "outlet", surfaces(lambda x, y, z: abs(x - 24) < 1e-6))
    group(2, "far", surfaces(lambda x, y, z: abs(abs(y) - 8) < 1e-6))
    group(2, "body", surfaces(lambda x, y, z: abs(x) < 1 and abs(y) < 1 and abs(z - 0.5) < 1e-6))
    group(3, "fluid", [tag for _, tag in gmsh.model.getEntities(3)])
    gmsh.model.mesh.generate(3)


def bend():
    gmsh.model.add("bend")
    start = [(2, occ.addDisk(0, 0, -2, 0.5, 0.5))]
    first = occ.extrude(start, 0, 0, 2)
    turn = occ.revolve([first[0]], 1.5, 0, 0, 0, 1, 0, 3.141592653589793 / 2)
    occ.extrude([turn[0]], 4, 0, 0)
    occ.removeAllDuplicates()
    occ.synchronize()
    inlet = surfaces(lambda x, y, z: abs(z + 2) < 1e-6)
    outlet = surfaces(lambda x, y, z: abs(x - 5.5) < 1e-6)
    boundary = [tag for _, tag in gmsh.model.getBoundary(gmsh.model.getEntities(3), oriented=False)]
    group(2, "inlet", inlet)
    group(2, "outlet", outlet)
    group(2, "wall", [tag for tag in boundary if tag not in inlet + outlet])
    group(3, "fluid", [tag for _, tag in gmsh.model.getEntities(3)])
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.11)
    gmsh.option.setNumber("Mesh.Optimize", 1)
    gmsh.model.mesh.generate(3)


def write(name, version):
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.write(name)


if sys.argv[1] == "cylinder":
    cylinder(False)
    write("karman.msh", 4.1)
    gmsh.clear()
    cylinder(True)
    write("foam.msh", 2.2)
else:
    bend()
    write("karman.msh", 4.1)
    write("foam.msh", 2.2)
EOF
    if [[ $name == cylinder ]]; then
        velocity="(1 0 0)" viscosity=0.025
        patches='far { type slip; } body { type noSlip; } sides { type empty; }'
        pressures='far { type slip; } body { type zeroGradient; } sides { type empty; }'
        function='monitor { type forces; libs ("libforces.so"); patches (body); rho rhoInf; rhoInf 1; CofR (0 0 0); writeInterval 1; log no; }'
        boundary=$'inlet.velocity_inlet = [1.0, 0.0]\nfar = "slip"\nbody = "no_slip"'
        start="[1.0, 0.0]" patch=body
    else
        velocity="(0 0 1)" viscosity=0.01
        patches='wall { type noSlip; }'
        pressures='wall { type zeroGradient; }'
        function='monitor { type surfaceFieldValue; libs ("libfieldFunctionObjects.so"); fields (p); operation areaAverage; regionType patch; name inlet; writeFields no; writeInterval 1; log no; }'
        boundary=$'inlet.velocity_inlet = [0.0, 0.0, 1.0]\nwall = "no_slip"'
        start="[0.0, 0.0, 0.0]" patch=inlet
    fi
    dictionary dictionary system/controlDict <<EOF
application simpleFoam; startFrom startTime; startTime 0; stopAt endTime; endTime $iterations; deltaT 1;
writeControl timeStep; writeInterval 100000; functions { $function }
EOF
    dictionary dictionary system/fvSchemes <<'EOF'
ddtSchemes { default steadyState; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) bounded Gauss linearUpwind grad(U); div((nuEff*dev2(T(grad(U))))) Gauss linear; }
laplacianSchemes { default Gauss linear corrected; }
interpolationSchemes { default linear; }
snGradSchemes { default corrected; }
EOF
    dictionary dictionary system/fvSolution <<'EOF'
solvers
{
    p { solver GAMG; smoother GaussSeidel; tolerance 1e-12; relTol 0.1; }
    U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-12; relTol 0.1; }
}
SIMPLE { consistent yes; nNonOrthogonalCorrectors 0; }
relaxationFactors { equations { U 0.9; } }
EOF
    dictionary dictionary constant/transportProperties <<< "transportModel Newtonian; nu $viscosity;"
    dictionary dictionary constant/turbulenceProperties <<< "simulationType laminar;"
    dictionary volVectorField 0/U <<EOF
dimensions [0 1 -1 0 0 0 0]; internalField uniform $([[ $name == cylinder ]] && echo "(1 0 0)" || echo "(0 0 0)");
boundaryField { inlet { type fixedValue; value uniform $velocity; } outlet { type zeroGradient; } $patches }
EOF
    dictionary volScalarField 0/p <<EOF
dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField { inlet { type zeroGradient; } outlet { type fixedValue; value uniform 0; } $pressures }
EOF
    gmshToFoam foam.msh > mesh.log
    [[ $name == cylinder ]] && sed -i '/^ *sides/,/}/s/type .*;/type empty;/' constant/polyMesh/boundary
    simpleFoam > flow.log

    cat > case.toml <<EOF
[mesh]
file = "karman.msh"
[incompressible]
kinematic_viscosity = $viscosity
[initial]
velocity = $start
[boundary]
$boundary
outlet.pressure_outlet = 0.0
[steady]
tolerance = 1e-8
[[output.patch]]
name = "patch"
patches = ["$patch"]
[run]
backend = "cpu"
threads = 1
EOF
    TIMEFORMAT="%U %S"
    { time "$karman" run --quiet case.toml; } 2> cpu.txt
    python3 - "$name" <<'EOF'
import csv, json, re, sys
name = sys.argv[1]


def settled(values):
    """The iteration after which values stay within 0.1 % of the last."""
    off = [k for k, value in enumerate(values) if abs(value / values[-1] - 1) > 1e-3]
    return off[-1] + 2 if off else 1


log = open("flow.log").read()
times = [float(t) for t in re.findall(r"ExecutionTime = (\S+) s", log)]
if name == "cylinder":
    rows = [line.replace("(", " ").replace(")", " ").split() for line in open("postProcessing/monitor/0/force.dat")]
    foam = [float(row[1]) for row in rows if row[0][0] != "#"]
else:
    rows = [line.split() for line in open("postProcessing/monitor/0/surfaceFieldValue.dat")]
    foam = [float(row[1]) for row in rows if row[0][0] != "#"]
# The first value may be that of the start.
foam = foam[-len(times):]
history = list(csv.DictReader(open("case/history.csv")))
column = "patch_patch_force_x" if name == "cylinder" else "patch_patch_pressure_force_z"
own = [float(row[column]) for row in history]
summary = json.load(open("case/summary.json"))
phases = summary["phases"]
share = sum(phases[k] for k in ("momentum", "pressure", "other")) / sum(phases.values())
seconds = share * sum(map(float, open("cpu.txt").read().split()))
k, m = settled(foam), settled(own)
foam_time = (times[-1] - times[0]) / (len(times) - 1) * k
own_time = seconds * m / len(own)
print(f"{name}, {summary['mesh']['cells']} cells: simpleFoam {k} iterations, {foam_time:.2f} s (final {foam[-1]:.6g});")
print(f"    karman {m} iterations, {own_time:.2f} s (final {own[-1]:.6g}), {foam_time / own_time:.1f} times as fast")
EOF
done
