#!/usr/bin/env bash
# karman and OpenFOAM's icoFoam on one core: lid-driven cavities at Re 1000 from rest, on equal grids with equal
# time steps (Courant number ½ at the lid), central differences, pressure and velocity to 1e-6; icoFoam with
# two corrections and GAMG.
#
#     scripts/compare_icofoam.sh KARMAN [512x512 | 100x100x100 …]
#
# KARMAN is a release build. Needs icoFoam and blockMesh (the package openfoam on Debian and Ubuntu).
# icoFoam's time begins after its first step; karman's includes all steps, the first one twice.
set -euo pipefail
karman="$(realpath "${1:?the karman program}")"
shift
[[ $# -gt 0 ]] || set -- 512x512 100x100x100
if [[ -z "${WM_PROJECT_DIR:-}" && -d /usr/share/openfoam ]]; then
    export WM_PROJECT_DIR=/usr/share/openfoam FOAM_ETC=/usr/share/openfoam/etc
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# dictionary CLASS OBJECT: from standard input to FOLDER/OBJECT.
dictionary() {
    mkdir -p "$(dirname "$2")"
    { echo "FoamFile { version 2.0; format ascii; class $1; object $(basename "$2"); }"; cat; } > "$2"
}

for size in "$@"; do
    IFS=x read -r m n k <<< "$size"
    steps=$([[ -n "$k" ]] && echo 20 || echo 60)
    step=$(python3 -c "print(0.5 / $m)")
    end=$(python3 -c "print($steps * 0.5 / $m)")
    cells=$((m * n * ${k:-1}))
    cd "$(mktemp -d -p "$work")"

    sides=$([[ -n "$k" ]] && echo wall || echo empty)
    flow=$([[ -n "$k" ]] && echo noSlip || echo empty)
    pressure=$([[ -n "$k" ]] && echo zeroGradient || echo empty)
    dictionary dictionary system/blockMeshDict <<EOF
scale 1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 1) (1 0 1) (1 1 1) (0 1 1));
blocks (hex (0 1 2 3 4 5 6 7) ($m $n ${k:-1}) simpleGrading (1 1 1));
boundary
(
    lid { type wall; faces ((3 7 6 2)); }
    walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
    sides { type $sides; faces ((0 3 2 1) (4 5 6 7)); }
);
EOF
    dictionary dictionary system/controlDict <<EOF
application icoFoam; startFrom startTime; startTime 0; stopAt endTime; endTime $end; deltaT $step;
writeControl timeStep; writeInterval 100000;
EOF
    dictionary dictionary system/fvSchemes <<EOF
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }
EOF
    dictionary dictionary system/fvSolution <<EOF
solvers
{
    "p.*" { solver GAMG; smoother GaussSeidel; tolerance 1e-6; relTol 0; }
    U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-6; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
EOF
    dictionary dictionary constant/transportProperties <<< "nu 0.001;"
    dictionary volVectorField 0/U <<EOF
dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);
boundaryField
{ lid { type fixedValue; value uniform (1 0 0); } walls { type noSlip; } sides { type $flow; } }
EOF
    dictionary volScalarField 0/p <<EOF
dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField { lid { type zeroGradient; } walls { type zeroGradient; } sides { type $pressure; } }
EOF
    blockMesh > mesh.log
    icoFoam > flow.log

    wall='"no_slip"'
    cat > cavity.toml <<EOF
[mesh.generate.box]
size = [1.0, 1.0$([[ -n "$k" ]] && echo ", 1.0")]
cells = [${size//x/, }]
[incompressible]
kinematic_viscosity = 1e-3
convection = "central"
[incompressible.pressure]
relative_tolerance = 1e-6
[incompressible.momentum]
relative_tolerance = 1e-6
[boundary]
ymax.moving_wall = [1.0, 0.0$([[ -n "$k" ]] && echo ", 0.0")]
xmin = $wall
xmax = $wall
ymin = $wall
$([[ -n "$k" ]] && printf 'zmin = %s\nzmax = %s\n' "$wall" "$wall")
[time]
step = $step
end = $end
[run]
backend = "cpu"
threads = 1
EOF
    "$karman" run --quiet cavity.toml
    python3 - "$size" "$cells" "$steps" <<'EOF'
import json, re, sys
size, cells, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
log = open("flow.log").read()
times = [float(t) for t in re.findall(r"ExecutionTime = (\S+) s", log)]
error = re.findall(r"sum local = (\S+),", log)[-1]
foam = (times[-1] - times[0]) / (len(times) - 1) / cells * 1e6
summary = json.load(open("cavity/summary.json"))
phase = {k: summary["phases"][k] / steps / cells * 1e6 for k in ("momentum", "pressure", "other")}
karman = sum(phase.values())
parts = ", ".join(f"{name} {value:.3f}" for name, value in phase.items())
print(f"{size}: icoFoam {foam:.2f} µs a cell a step (sum of continuity errors {error});")
print(f"    karman {karman:.3f} ({parts}), {foam / karman:.1f} times as fast; largest divergence",
      f"{summary['flow']['divergence_max']:.1e} of the largest convective rate")
EOF
done
