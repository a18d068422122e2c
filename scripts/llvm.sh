#!/usr/bin/env bash
# Prepares a machine for builds of karman with `cuda` or `hip`. CubeCL's compiler of these features links
# LLVM and by default downloads a copy; this script puts the LLVM 22 of Debian or Ubuntu where its build
# script looks first. No other feature needs LLVM.
set -euo pipefail

readonly debian_llvm=/usr/lib/llvm-22
# The version is that of the package tracel-llvm-bundler in Cargo.lock.
lock="$(dirname "${BASH_SOURCE[0]}")/../Cargo.lock"
bundle="$(grep -A1 '^name = "tracel-llvm-bundler"$' "$lock" | sed -n 's/^version = "\(.*\)"$/\1/p')"
readonly prefix="${HOME}/.local/share/tracel/tracel-llvm-${bundle}"

if [[ -e "$prefix/.tracel-llvm-installed" && ! -e "$prefix/bin/llvm-config" ]]; then
    echo "llvm: $prefix is marked complete and has no llvm-config; remove it and try again" >&2
    exit 1
fi
if [[ -e "$prefix/.tracel-llvm-installed" ]] && ! grep -q "$debian_llvm" "$prefix/bin/llvm-config"; then
    echo "llvm: CubeCL's own copy is in $prefix already"
    exit 0
fi

as_root() { if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi; }
packages=(llvm-22-dev liblld-22-dev libpolly-22-dev libzstd-dev zlib1g-dev libxml2-dev binutils)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok' || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

mkdir -p "$prefix/bin"
cat >"$prefix/bin/llvm-config" <<CONFIG
#!/bin/sh
exec $debian_llvm/bin/llvm-config "\$@"
CONFIG
chmod +x "$prefix/bin/llvm-config"
# The build script links a static Z3, which Debian's LLVM does not use: an empty archive suffices.
if [[ ! -e $debian_llvm/lib/liblibz3.a ]]; then
    as_root ar rc "$debian_llvm/lib/liblibz3.a"
fi
touch "$prefix/.tracel-llvm-installed"
echo "llvm: ready for cargo build --features cuda"
