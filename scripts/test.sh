#!/usr/bin/env bash
# All tests: scripts/test.sh [unit | program | processes] [--features wgpu]
#
#   unit      tests inside the libraries, with debug assertions; with `--features wgpu` every kernel on a device too
#   program   tests of the program, of examples in the documentation and of the structure of the sources, with the
#             library of the release build: no second build without optimisation
#
#   processes ranks as processes that mpirun starts; needs MPI, and leaves target/release/karman with it
#
# Without a name the first two. One command for all would unite the features of all their dependencies and build the library once more.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Mesa's software Vulkan computes on the thread that submits, as the tests fill the processors; CubeCL stores a backtrace with each
# call of a device where libraries have them.
export LP_NUM_THREADS="${LP_NUM_THREADS:-0}" RUST_LIB_BACKTRACE="${RUST_LIB_BACKTRACE:-0}"

unit() {
    cargo test --workspace --exclude karman-cli --exclude karman-bench --locked --no-fail-fast \
        --lib --test fuzz_readers --test fuzz_metrics "$@"
}

program() {
    cargo test --release -p karman-cli -p karman --locked --no-fail-fast --bins --test '*' &&
        cargo test --release -p karman-cli -p karman-bench --locked --no-fail-fast --lib &&
        cargo test --release -p karman-adapt --locked --no-fail-fast --lib best_published &&
        cargo test --release -p karman-cli -p karman-backend -p karman-linear -p karman --locked --doc
}

processes() {
    cargo test --release -p karman-mpi -p karman-cli --features karman-mpi/mpi,karman-cli/mpi --locked --no-fail-fast \
        --lib --test group --test processes
}

case "${1:-}" in
    unit) shift; unit "$@" ;;
    program) program ;;
    processes) processes ;;
    *) unit "$@" && program ;;
esac
