#!/usr/bin/env bash
# Steady conduction on real meshes, on the host and on another backend: largest difference of the fields.
#
#   scripts/compare_backends.sh KARMAN BACKEND FOLDER MESH.msh …
#
# KARMAN is the program; cases and results go to FOLDER. Each mesh is solved with two-point and with
# corrected fluxes, to 1e-13 or stagnation and for exactly 50 iterations, with an equal solver on both
# backends (`auto` depends on the backend). Corrected systems are solved by FGMRES too, since BiCGStab
# amplifies the round-off of its scalar products until it is nearly converged. Each line has the case, the
# outcome of both solves and the largest difference of the fields.
set -euo pipefail
[ $# -ge 4 ] || { sed -n '2,10p' "$0"; exit 1; }
scripts=$(dirname "$0")
karman=$1 backend=$2 folder=$3
shift 3
mkdir -p "$folder"
folder=$(realpath "$folder")

heat_case() { # MESH CORRECTED METHOD PRECONDITIONER TOLERANCE ITERATIONS
    local boundary="zmax.temperature = 600.0
zmin.temperature = 300.0"
    case "$1" in
        *shaft*) boundary='hot_end.temperature = 600.0
cold_end.temperature = 300.0
wall = "insulated"' ;;
        *cube*) boundary="$boundary
xmin.temperature = 300.0
xmax.temperature = 300.0
ymin.temperature = 300.0
ymax.temperature = 300.0" ;;
        *sphere*) boundary="sphere.temperature = 600.0
farfield.temperature = 300.0" ;;
    esac
    printf '[mesh]\nfile = "%s"\n[heat]\nnonorthogonal_correction = %s\n[boundary]\n%s\n' \
        "$1" "$2" "$boundary"
    printf '[linear_solver]\nmethod = "%s"\npreconditioner = "%s"\n' "$3" "$4"
    printf 'relative_tolerance = %s\nmax_iterations = %s\n' "$5" "$6"
}

solve() { # NAME BACKEND
    # A solve that ends before 1e-13, by stagnation or after 50 iterations, exits with 2.
    "$karman" run "$folder/$1.toml" --backend "$2" > "$folder/$1-$2.txt" 2>&1 || [ $? -eq 2 ] ||
        cat "$folder/$1-$2.txt" >&2
    mv "$folder/$1" "$folder/$1-$2"
    grep -m 1 -E "^(converged|diverged|failed|error): " "$folder/$1-$2.txt" | cut -c1-100
}

for mesh in "$@"; do
    mesh=$(realpath "$mesh")
    for solver in "false cg jacobi" "true bicgstab chebyshev" "true fgmres chebyshev"; do
        for limit in "1e-13 20000" "0.0 50"; do
            # Converged solutions do not depend on the method.
            [ "$solver $limit" != "true fgmres chebyshev 1e-13 20000" ] || continue
            # shellcheck disable=SC2086
            set_up=$(heat_case "$mesh" $solver $limit)
            name="$(basename "$mesh" .msh)-${solver// /-}-${limit%% *}"
            echo "$set_up" > "$folder/$name.toml"
            rm -rf "${folder:?}/$name" "$folder/$name-cpu" "$folder/$name-$backend"
            printf '%s | %s | %s | ' "$name" "$(solve "$name" cpu)" "$(solve "$name" "$backend")"
            python3 "$scripts/compare_fields.py" "$folder/$name"-{cpu,"$backend"}/fields_0000.vtu
        done
    done
done
