#!/usr/bin/env bash
# karman and OpenFOAM's rhoCentralFoam on one core: the forward-facing step at Mach 3 to t = 4, on equal grids of squares, and the L1 error of the density of each
# against its own solution on a grid four times finer (mean over the fine cells in each coarse one).
#
#     scripts/compare_rhocentralfoam.sh KARMAN [SQUARES_ON_THE_FACE, default 5]
#
# KARMAN is a release build; FLUX and LIMITER set its scheme, CFL its Courant number (hllc, minmod, 1; linear, ssp_rk2). rhoCentralFoam has the fluxes of Kurganov, van Leer's
# limiter and a Courant number of 0.2, as its tutorial of this flow. Needs rhoCentralFoam and blockMesh (the package openfoam on Debian and Ubuntu), and
# `pip install gmsh meshio numpy`.
set -euo pipefail
karman="$(realpath "${1:?the karman program}")"
coarse="${2:-5}"
if [[ -z "${WM_PROJECT_DIR:-}" && -d /usr/share/openfoam ]]; then
    export WM_PROJECT_DIR=/usr/share/openfoam FOAM_ETC=/usr/share/openfoam/etc
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

# dictionary CLASS FOLDER/OBJECT: from standard input.
dictionary() {
    mkdir -p "$(dirname "$2")"
    { echo "FoamFile { version 2.0; format ascii; class $1; object $(basename "$2"); }"; cat; } > "$2"
}

seconds() { # of user time
    local TIMEFORMAT=%U
    { time "$@" > "log.$(basename "$1")" 2>&1; } 2>&1
}

cat > mesh.py <<'EOF'
import gmsh, sys
n, out = int(sys.argv[1]), sys.argv[2]
gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
geo = gmsh.model.geo
at = [(0, 0), (.6, 0), (.6, .2), (0, .2), (0, 1), (.6, 1), (3, 1), (3, .2)]
p = [geo.addPoint(x, y, 0) for x, y in at]
ends = dict(ab=(0, 1), bc=(1, 2), cd=(2, 3), da=(3, 0), cf=(2, 5), fe=(5, 4), ed=(4, 3), ci=(2, 7), ih=(7, 6), hf=(6, 5))
line = {name: geo.addLine(p[a], p[b]) for name, (a, b) in ends.items()}
loops = ["+ab +bc +cd +da", "-cd +cf +fe +ed", "+ci +ih +hf -cf"]
signed = lambda word: line[word[1:]] * (1 if word[0] == "+" else -1)
surfaces = [geo.addPlaneSurface([geo.addCurveLoop([signed(w) for w in loop.split()])]) for loop in loops]
for name, tag in line.items():
    (x0, y0), (x1, y1) = (at[k] for k in ends[name])
    geo.mesh.setTransfiniteCurve(tag, round((abs(x1 - x0) + abs(y1 - y0)) * 5 * n) + 1)
for surface in surfaces:
    geo.mesh.setTransfiniteSurface(surface)
    geo.mesh.setRecombine(2, surface)
geo.synchronize()
patches = dict(inlet=["da", "ed"], outlet=["ih"], wall=["ab", "bc", "ci", "fe", "hf"])
for name, names in patches.items():
    gmsh.model.addPhysicalGroup(1, [line[k] for k in names], name=name)
gmsh.model.addPhysicalGroup(2, surfaces, name="gas")
gmsh.model.mesh.generate(2)
gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
gmsh.write(out)
EOF

for n in "$coarse" $((4 * coarse)); do
    python3 mesh.py "$n" "step$n.msh" > /dev/null
    cat > "step$n.toml" <<EOF
title = "Forward-facing step"
[mesh]
file = "step$n.msh"
[compressible]
gas_constant = 1.0
flux = "${FLUX:-hllc}"
reconstruction = "linear"
limiter = "${LIMITER:-minmod}"
[initial]
density = 1.4
velocity = [3.0, 0.0]
pressure = 1.0
[boundary]
inlet.inflow = { density = 1.4, velocity = [3.0, 0.0], pressure = 1.0 }
outlet = "supersonic_outlet"
wall = "slip_wall"
[time]
method = "ssp_rk2"
cfl = ${CFL:-1.0}
end = 4.0
[output]
fields = ["density"]
EOF
    echo "karman, $n squares on the face: $(seconds "$karman" run "step$n.toml" --threads 1) s"

    mkdir -p "foam$n"
    pushd "foam$n" > /dev/null
    dictionary dictionary system/blockMeshDict <<EOF
scale 1;
vertices ((0 0 0) (.6 0 0) (0 .2 0) (.6 .2 0) (3 .2 0) (0 1 0) (.6 1 0) (3 1 0)
          (0 0 .1) (.6 0 .1) (0 .2 .1) (.6 .2 .1) (3 .2 .1) (0 1 .1) (.6 1 .1) (3 1 .1));
blocks
(
    hex (0 1 3 2 8 9 11 10) ($((3 * n)) $n 1) simpleGrading (1 1 1)
    hex (2 3 6 5 10 11 14 13) ($((3 * n)) $((4 * n)) 1) simpleGrading (1 1 1)
    hex (3 4 7 6 11 12 15 14) ($((12 * n)) $((4 * n)) 1) simpleGrading (1 1 1)
);
defaultPatch { type empty; name sides; }
boundary
(
    inlet { type patch; faces ((0 8 10 2) (2 10 13 5)); }
    outlet { type patch; faces ((4 7 15 12)); }
    wall { type symmetryPlane; faces ((0 1 9 8)); }
    top { type symmetryPlane; faces ((5 13 14 6) (6 14 15 7)); }
    obstacle { type patch; faces ((1 3 11 9) (3 4 12 11)); }
);
EOF
    dictionary dictionary system/controlDict <<EOF
application rhoCentralFoam; startFrom startTime; startTime 0; stopAt endTime; endTime 4; deltaT 1e-4;
writeControl adjustableRunTime; writeInterval 4; writePrecision 12; adjustTimeStep yes; maxCo 0.2; maxDeltaT 1;
EOF
    dictionary dictionary system/fvSchemes <<EOF
fluxScheme Kurganov;
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(tauMC) Gauss linear; }
laplacianSchemes { default Gauss linear corrected; }
interpolationSchemes { default linear; reconstruct(rho) vanLeer; reconstruct(U) vanLeerV; reconstruct(T) vanLeer; }
snGradSchemes { default corrected; }
EOF
    dictionary dictionary system/fvSolution <<EOF
solvers { "(rho|rhoU|rhoE)" { solver diagonal; } U { solver smoothSolver; smoother GaussSeidel; tolerance 1e-9; relTol 0; }
h { \$U; } e { \$U; } }
EOF
    dictionary dictionary constant/thermophysicalProperties <<EOF
thermoType { type hePsiThermo; mixture pureMixture; transport const; thermo hConst; equationOfState perfectGas; specie specie; energy sensibleInternalEnergy; }
mixture { specie { molWeight 11640.3; } thermodynamics { Cp 2.5; Hf 0; } transport { mu 0; Pr 1; } }
EOF
    dictionary dictionary constant/turbulenceProperties <<< "simulationType laminar;"
    field() { # CLASS NAME DIMENSIONS VALUE OBSTACLE
        dictionary "$1" "0/$2" <<EOF
dimensions $3; internalField uniform $4;
boundaryField { inlet { type fixedValue; value uniform $4; } outlet { type zeroGradient; } wall { type symmetryPlane; } top { type symmetryPlane; }
obstacle { type $5; } sides { type empty; } }
EOF
    }
    # γ = 1.4, R = 1/1.4 (molWeight): the speed of sound is 1 at T = 1, where ρ = p/(RT) = 1.4.
    field volScalarField p "[1 -1 -2 0 0 0 0]" 1 zeroGradient
    field volScalarField T "[0 0 0 1 0 0 0]" 1 zeroGradient
    field volVectorField U "[0 1 -1 0 0 0 0]" "(3 0 0)" slip
    blockMesh > log.blockMesh
    echo "rhoCentralFoam, $n squares on the face: $(seconds rhoCentralFoam) s"
    postProcess -func writeCellCentres -latestTime > log.post
    popd > /dev/null
done

python3 - "$coarse" <<'EOF'
import re, sys
import meshio
import numpy as np
n = int(sys.argv[1])

def foam(k):
    def field(name, width):
        text = open(f"foam{k}/4/{name}").read()
        body = text[text.index("internalField"):]
        count = int(re.search(r"\n(\d+)\n\(", body).group(1))
        start = body.index("(\n") + 2
        numbers = re.findall(r"[-+0-9.e]+", body[start:body.index("\n)", start)])
        return np.array(numbers, float).reshape(count, width)
    return field("C", 3)[:, :2], field("rho", 1)[:, 0]

def karman(k):
    mesh = meshio.read(f"step{k}/fields_0000.vtu")
    x = mesh.points[mesh.cells[0].data].mean(axis=1)[:, :2]
    return x, mesh.cell_data["density"][0].ravel()

for name, read in (("karman", karman), ("rhoCentralFoam", foam)):
    mean = np.zeros((5 * n, 15 * n))
    count = np.zeros_like(mean)
    (xc, coarse), (xf, fine) = read(n), read(4 * n)
    np.add.at(mean, tuple((xf[:, ::-1] * 5 * n).astype(int).T), fine)
    np.add.at(count, tuple((xf[:, ::-1] * 5 * n).astype(int).T), 1)
    at = tuple((xc[:, ::-1] * 5 * n).astype(int).T)
    assert (count[at] == 16).all(), name
    error = np.abs(coarse - mean[at] / 16).mean()
    print(f"{name}: L1 error of the density {error:.4f}, largest density {coarse.max():.3f}")
EOF
