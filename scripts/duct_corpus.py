#!/usr/bin/env python3
"""Flow through every duct of a folder with the defaults: one line per duct, with "passes" or "FAILS".

    scripts/duct_corpus.py KARMAN MESHES OUT [--cfl 0.4] [--viscosity 0.01] [--end 6] [--backend cpu]
                           [--precision f64] [--jobs 2] [--only TEXT] [--section 'convection = "central"']
                           [--outlet 'convective_outlet = true']

MESHES is a folder of Gmsh files of ducts with the patches inlet, outlet and wall, the inlet in a plane z = const
and the flow along +z. The inlet velocity is 1. NAME.json beside a mesh may give its "narrowest_area"; its default
is the area of the inlet, or a known fraction of it for some shapes. A run passes if it reaches the final time,
inflow and outflow balance to 1e-6 (1e-4 in f32), and |u| stays below 2.5 times the mean velocity in the narrowest
section. Needs only Python.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import time

from compare_fields import field

# Area of the narrowest section over that of the inlet.
NARROWEST = {"nozzle": 0.25, "ball": 1 - math.pi * 0.04, "step": 0.7}

CASE = """[mesh]
file = "{mesh}"
[incompressible]
kinematic_viscosity = {viscosity}
{section}
[boundary]
inlet.velocity_inlet = [0.0, 0.0, 1.0]
outlet.{outlet}
wall = "no_slip"
[time]
cfl = {cfl}
end = {end}
[[output.patch]]
name = "inlet"
patches = ["inlet"]
[[output.patch]]
name = "outlet"
patches = ["outlet"]
[run]
threads = 1
backend = "{backend}"
precision = "{precision}"
"""


def run(mesh, options):
    name = mesh.stem
    case = options.out / f"{name}.toml"
    case.write_text(CASE.format(mesh=mesh.resolve(), **vars(options)))
    begin = time.time()
    ended = subprocess.run(
        [options.karman, "run", "-q", str(case)], capture_output=True, text=True
    )
    seconds = time.time() - begin
    folder = options.out / name
    try:
        summary = json.loads((folder / "summary.json").read_text())
        inlet, outlet = (summary["patch"][p] for p in ("inlet", "outlet"))
        entering = -inlet["flow_rate"] if inlet["flow_rate"] < 0 else inlet["flow_rate"]
        balance = abs(inlet["flow_rate"] + outlet["flow_rate"]) / entering
        fields = sorted(folder.glob("fields_*.vtu"))[-1]
        u = field(fields, "velocity")
        speed = max(math.sqrt(x * x + y * y + z * z) for x, y, z in zip(u[::3], u[1::3], u[2::3]))
        known = mesh.with_suffix(".json")
        if known.exists():
            narrowest = json.loads(known.read_text())["narrowest_area"]
        else:
            narrowest = inlet["area"] * NARROWEST.get(name.split("_")[0], 1.0)
        relative = speed * narrowest / entering
        steps, cells = summary["time"]["steps"], summary["mesh"]["cells"]
        reached = summary["time"]["end"]
        least = 1e-4 if options.precision == "f32" else 1e-6
        passes = ended.returncode == 0 and reached >= options.end and balance < least and relative < 2.5
        figures = f"{cells:7d} cells {steps:6d} steps t {reached:6.3f}  |u| {relative:9.3g} Q/A  balance {balance:8.1e}"
    except (OSError, KeyError, IndexError, ZeroDivisionError, TypeError) as error:
        passes, figures = False, f"no result ({error!r})"
    words = "" if ended.returncode == 0 else ended.stderr.strip().split("\n")[-1][:100]
    return passes, f"{'passes' if passes else 'FAILS':6s}  {name:28s} {figures}  {seconds:5.0f} s  {words}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("karman")
    parser.add_argument("meshes", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cfl", type=float, default=0.4)
    parser.add_argument("--viscosity", type=float, default=0.01)
    parser.add_argument("--end", type=float, default=6.0)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--precision", default="f64")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--section", default="")
    parser.add_argument("--outlet", default="pressure_outlet = 0.0")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    meshes = sorted(options.meshes.glob("*.msh"), key=lambda m: m.stat().st_size)
    meshes = [m for m in meshes if options.only in m.name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = []
        running = [pool.submit(run, mesh, options) for mesh in meshes]
        for ended in concurrent.futures.as_completed(running):
            passes, line = ended.result()
            print(line, flush=True)
            results.append(passes)
    print(f"{sum(results)} of {len(results)} pass")
    raise SystemExit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
