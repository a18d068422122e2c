#!/usr/bin/env bash
# Checks and measures karman on a machine with an NVIDIA GPU but without a Rust toolchain.
#
#   scripts/device.sh pack [MESH.msh …]   on the build machine: builds with CUDA, packs program, tests and
#                                         meshes into .carry/pack.tar.xz, which git ignores
#   scripts/device.sh run [STAGE …]       on the GPU machine: unpacks, then runs the stages
#                                         (default: tests compare bench profile; profile prints a table)
#
# Results go to $OUT (default: device-results).
set -euo pipefail
cd "$(dirname "$0")/.."
export CUDA_PATH="${CUDA_PATH:-/usr/local/cuda}"
unpacked=/tmp/karman-device

pack() {
    cargo build --release --locked -p karman-cli --features cuda,wgpu
    rm -rf .carry/pack
    mkdir -p .carry/pack/tests
    cp target/release/karman .carry/pack/karman
    # One program of tests for each crate, named after it.
    cargo test --locked --workspace --features cuda,wgpu --lib --no-run --message-format=json |
        sed -n 's|.*"executable":"\([^"]*/\)\(karman[a-z_]*\)\(-[0-9a-f]*\)".*|\1\2\3 \2|p' |
        while read -r program name; do cp "$program" ".carry/pack/tests/${name//_/-}"; done
    strip .carry/pack/karman .carry/pack/tests/*
    [ $# -eq 0 ] || cp "$@" .carry/pack/
    tar -C .carry/pack -cf - . | xz -T0 -2 > .carry/pack.tar.xz
    rm -r .carry/pack
    ls -l .carry/pack.tar.xz
}

unpack() {
    mkdir -p "$unpacked"
    # Some machines have neither xz nor zstd; Python's standard library reads both tar and xz.
    [ -x "$unpacked/karman" ] || python3 -c "import tarfile
tarfile.open('.carry/pack.tar.xz').extractall('$unpacked')"
    karman="$unpacked/karman"
}

# All tests of every crate, on CUDA. A capture bears no other thread's work: one test at a time in a process, and as
# many processes beside each other as half the cores.
tests() {
    for program in "$unpacked"/tests/*; do
        export program parts="$OUT/$(basename "$program")"
        mkdir -p "$parts"
        (cd "crates/$(basename "$program")" && "$program" --list | sed -n 's/: test$//p' |
            KARMAN_REQUIRE_DEVICE=1 xargs -P "$(($(nproc) / 2 + 1))" -n 10 bash -c \
                '"$program" --test-threads=1 --exact "$@" > "$parts/$$.txt" 2>&1' tests) || true
        cat "$parts"/*.txt
        rm -r "$parts"
    done > "$OUT/tests.txt"
    grep -E "panicked|FAILED|failed;" "$OUT/tests.txt" | head -n 20
    echo "passed: $(grep -c '^test .* ok$' "$OUT/tests.txt"), failed: $(grep -c '^test .* FAILED$' "$OUT/tests.txt")"
}

# Cases on the host and on the device.
compare() {
    local meshes=("$unpacked"/*.msh)
    [ -e "${meshes[0]}" ] || { echo "no meshes were packed"; return 0; }
    scripts/compare_backends.sh "$karman" cuda "$unpacked/compare" "${meshes[@]}"
}

bench() { "$karman" bench --backend cuda --json "$OUT/bench.json" 2>&1 | tee "$OUT/bench.txt"; }

# Registers, local memory and DRAM traffic of each kernel of a short benchmark.
profile() {
    ncu --clock-control none --csv --metrics "gpu__time_duration.sum,launch__registers_per_thread,\
smsp__sass_inst_executed_op_local.sum,dram__bytes.sum,\
dram__throughput.avg.pct_of_peak_sustained_elapsed" \
        "$karman" bench --backend cuda --cells 2300000 --seconds 0.001 > "$OUT/ncu.csv" 2>&1 || true
    python3 - "$OUT/ncu.csv" <<'PY'
import csv, sys, collections
rows = [r for r in csv.reader(open(sys.argv[1])) if len(r) > 12]
kernels = collections.OrderedDict()
if rows:
    head = rows[0]
    name, metric, value = (head.index(k) for k in ("Kernel Name", "Metric Name", "Metric Value"))
    for r in rows[1:]:
        kernels.setdefault(r[name].rsplit("_", 1)[0], {})[r[metric]] = r[value]
for kernel, m in kernels.items():
    print(f"{kernel[:44]:<44}", *(f"{k.split('__')[-1][:22]}={v}" for k, v in m.items()))
PY
}

case "${1:-}" in
    pack) shift; pack "$@" ;;
    run)
        shift
        export OUT="${OUT:-device-results}"
        mkdir -p "$OUT"
        unpack
        for stage in "${@:-tests compare bench profile}"; do
            for part in $stage; do echo "== $part"; "$part"; done
        done
        ;;
    *) sed -n '2,9p' "$0"; exit 1 ;;
esac
