#!/usr/bin/env bash
# Checks and measures karman on a machine with an NVIDIA GPU but without a Rust toolchain.
#
#   scripts/device.sh pack [MESH.msh …]   here: builds with CUDA, packs program, tests and meshes
#                                         into .carry/pack.tar.xz, which git ignores
#   scripts/device.sh run [STAGE …]       there: unpacks, then runs the stages
#                                         (default: tests compare bench profile), a table last
#
# Results go to $OUT (default: device-results).
set -euo pipefail
cd "$(dirname "$0")/.."
export CUDA_PATH="${CUDA_PATH:-/usr/local/cuda}"
unpacked=/tmp/karman-device

pack() {
    local tests
    cargo build --release --locked -p karman-cli --features cuda,wgpu
    tests=$(cargo test --release --locked -p karman --features cuda,wgpu --lib --no-run \
        --message-format=json | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    mkdir -p .carry/pack
    cp target/release/karman .carry/pack/karman
    cp "$tests" .carry/pack/tests
    strip .carry/pack/karman .carry/pack/tests
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

# Every host/device equality test, on CUDA.
tests() {
    (cd crates/karman && KARMAN_REQUIRE_DEVICE=1 "$unpacked/tests" --test-threads=1) > "$OUT/tests.txt" 2>&1 ||
        grep -E "panicked|FAILED|failed" "$OUT/tests.txt" | head -n 20
    grep "test result" "$OUT/tests.txt"
}

heat_case() { # MESH CORRECTED TOLERANCE ITERATIONS
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
    esac
    printf '[mesh]\nfile = "%s"\n[heat]\nnonorthogonal_correction = %s\n[boundary]\n%s\n' \
        "$1" "$2" "$boundary"
    printf '[linear_solver]\nrelative_tolerance = %s\nmax_iterations = %s\n' "$3" "$4"
}

# The same cases on the host and on the device: to stagnation, and after exactly 50 iterations.
compare() {
    local mesh corrected name backend
    for mesh in "$unpacked"/{cube,shaft}*.msh; do
        [ -e "$mesh" ] || continue
        for corrected in false true; do
            for limit in "1e-13 20000" "0.0 50"; do
                name="$(basename "$mesh" .msh)-$corrected-${limit%% *}"
                for backend in cpu cuda; do
                    heat_case "$mesh" "$corrected" $limit > "$unpacked/$name.toml"
                    printf '[output]\ndirectory = "%s"\n' "$unpacked/$name-$backend" \
                        >> "$unpacked/$name.toml"
                    "$karman" run "$unpacked/$name.toml" --backend "$backend" \
                        > "$unpacked/$name-$backend.txt" 2>&1 || true
                done
                printf '%-32s %s | %s | ' "$name" \
                    "$(head -n 1 "$unpacked/$name-cpu.txt" | cut -c1-70)" \
                    "$(head -n 1 "$unpacked/$name-cuda.txt" | cut -c1-70)"
                python3 scripts/compare_fields.py "$unpacked/$name"-{cpu,cuda}/fields_0000.vtu
            done
        done
    done
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
    *) sed -n '2,10p' "$0"; exit 1 ;;
esac
