#!/usr/bin/env bash
# karman and hypre on one machine: both solve the systems of `karman bench --only solver` (two-point heat
# on renumbered tetrahedra) to a relative residual of 1e-8 with one and two threads or processes.
#
#     scripts/compare_hypre.sh KARMAN [CELLS …]
#
# KARMAN is a release build; default CELLS are 100000 and 500000. Needs mpicc, mpirun and hypre's headers
# and library (libhypre-dev on Debian and Ubuntu). Run it twice on an idle machine: hypre's times are the
# least, karman's the medians, of a few solves.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
karman="$(realpath "${1:?the karman program}")"
shift
[[ $# -gt 0 ]] || set -- 100000 500000

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mpicc -O3 -Wall -I/usr/include/hypre "$root/benches/peers/hypre.c" -lHYPRE -lm -o "$work/hypre"
mpi=(mpirun --oversubscribe -n)
if [[ $EUID -eq 0 ]]; then mpi=(mpirun --allow-run-as-root --oversubscribe -n); fi

for cells in "$@"; do
    for threads in 1 2; do
        echo "=== $cells cells, $threads threads or processes"
        "$karman" bench --backend cpu --threads "$threads" --cells "$cells" --only solver \
            --seconds 2 --write-system "$work" |
            grep -E 'copy|CG|multigrid'
        "${mpi[@]}" "$threads" "$work/hypre" "$work/system-$cells.mtx" "$work/system-$cells-rhs.mtx"
    done
done
