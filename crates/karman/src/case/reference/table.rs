//! The keys of the case file.

use super::{Key, Section};

const fn key(
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    units: &'static str,
    meaning: &'static str,
    example: &'static str,
) -> Key {
    Key { name, kind, default, units, meaning, example }
}

const fn section(path: &'static str, meaning: &'static str, keys: &'static [Key]) -> Section {
    Section { path, list: false, meaning, keys }
}

const fn list(path: &'static str, meaning: &'static str, keys: &'static [Key]) -> Section {
    Section { path, list: true, meaning, keys }
}

/// Keys that both box generators have.
macro_rules! box_keys {
    ($($more:expr),* $(,)?) => {
        &[
            key("origin", "list of numbers", "zeros", "m", "Lowest corner.", "origin = [0.0, 0.0, 0.0]"),
            key("size", "list of 2 or 3 numbers > 0", "required", "m", "Edge lengths. Two entries make a 2D mesh.", "size = [1.0, 1.0, 1.0]"),
            key("cells", "list of whole numbers ≥ 1", "required", "", "Number of cells along each direction, before they are split into other shapes.", "cells = [20, 20, 20]"),
            key("element", "triangle | quadrilateral | tetrahedron | hexahedron | prism | pyramid | mixed", "quadrilateral in 2D, hexahedron in 3D", "", "Shape of the cells.", "element = \"tetrahedron\""),
            key("jitter", "number ≥ 0, below 0.5", "0.0", "", "Random displacement of interior nodes, as a fraction of the spacing.", "jitter = 0.2"),
            key("seed", "whole number", "1", "", "Seed of the random displacement; equal seeds give equal meshes.", "seed = 1"),
            key("grading", "list of numbers > 0", "ones", "", "Ratio of the last to the first spacing along each direction.", "grading = [1.0, 1.0, 4.0]"),
            key("wall_grading", "list of numbers > 0", "ones", "", "Ratio of the spacing in the middle to the spacing at both ends along each direction; above 1 the cells are finest at both walls. A direction has this key or `grading`.", "wall_grading = [5.0, 5.0, 1.0]"),
            $($more),*
        ]
    };
}

/// Keys of a solver of linear systems whose tolerance is `$tolerance` by default.
macro_rules! solver_keys {
    ($tolerance:literal) => {
        &[
            key("method", "auto | cg | single_reduction_cg | flexible_cg | bicgstab | fgmres | multigrid", "\"auto\"", "", "`auto`: conjugate gradients for a symmetric matrix, else BiCGStab; a flexible method for a multigrid cycle that is not symmetric. `multigrid`: multigrid cycles without a Krylov method.", "method = \"cg\""),
            key("preconditioner", "auto | none | jacobi | gauss_seidel | chebyshev | amg", "\"auto\"", "", "`auto`: `amg` from 100 000 unknowns on (50 000 with non-orthogonal correction; on a device 5 000 000 and 2 000 000) unless the matrix is strongly diagonally dominant, else `jacobi`, or `chebyshev` for a steady case with correction. `gauss_seidel` is multicolour and symmetric. `amg` is a cycle of algebraic multigrid.", "preconditioner = \"chebyshev\""),
            key("relative_tolerance", "number ≥ 0, below 1", $tolerance, "", "Stop once ‖b − Ax‖ ≤ tolerance ‖b‖; with 0 after `max_iterations`.", "relative_tolerance = 1e-10"),
            key("max_iterations", "whole number ≥ 1", "500", "", "Maximum number of iterations of a solve.", "max_iterations = 2000"),
        ]
    };
}

/// All sections, in the order in which a case is usually written.
#[rustfmt::skip]
pub static SECTIONS: &[Section] = &[
    section("", "Before the first section.", &[
        key("title", "string", "the name of the file", "", "One line about the case, for logs and pictures.", "title = \"Unit cube, one hot face\""),
    ]),
    section("mesh", "A mesh file or one generator, `[mesh.generate.…]`. Triangles and quadrilaterals alone make a 2D mesh, which may lie in any plane; x and y of the case and of the results are coordinates in that plane: x and y of the file where z is constant, x and z where y is, y and z where x is; in a tilted plane x runs along the projection of the first axis of the nearest of these planes and y perpendicular to it towards the second, counted from the origin. A run says so in its log.", &[
        key("file", "path", "none", "", "Mesh file: Gmsh 2.2 or 4.1 (`.msh`), SU2 (`.su2`), VTK (`.vtu`, `.vtk`).", "file = \"shaft.msh\""),
        key("scale", "number > 0", "1.0", "", "Factor on all coordinates.", "scale = 1e-3"),
        key("renumber", "auto | none | rcm | hilbert", "\"auto\"", "", "Order of the cells in memory. Results are written in the order of the file.", "renumber = \"auto\""),
    ]),
    section("mesh.generate.box", "A rectangle or a rectangular box. Patches: `xmin xmax ymin ymax`, in 3D `zmin zmax`.", box_keys![]),
    section("mesh.generate.box_with_obstacle", "A rectangle or a rectangular box with an obstacle cut out. Patches: those of the box and `obstacle`.", box_keys![
        key("obstacle_min", "list of numbers", "required", "m", "Lowest corner of the obstacle. In 3D it spans the box along z, and two entries suffice.", "obstacle_min = [0.4, 0.4]"),
        key("obstacle_max", "list of numbers", "required", "m", "Highest corner of the obstacle.", "obstacle_max = [0.6, 0.6]"),
    ]),
    section("mesh.generate.cylinder_in_channel", "A circular cylinder across a channel. Patches: `inlet outlet bottom top cylinder`, in 3D `front back`.", &[
        key("length", "number > 0", "required", "m", "Length along x, from 0.", "length = 2.2"),
        key("height", "number > 0", "required", "m", "Height along y, from 0.", "height = 0.41"),
        key("width", "number > 0", "none", "m", "Width along z. Absent: a 2D mesh.", "width = 0.41"),
        key("centre", "list of 2 numbers", "required", "m", "Centre of the cylinder.", "centre = [0.2, 0.2]"),
        key("diameter", "number > 0", "required", "m", "Diameter of the cylinder.", "diameter = 0.1"),
        key("cells_around", "whole number ≥ 1", "required", "", "Cells around the cylinder.", "cells_around = 64"),
        key("cells_radial", "whole number ≥ 1", "required", "", "Cells from the cylinder outwards.", "cells_radial = 16"),
        key("cells_wake", "whole number ≥ 1", "required", "", "Cells along the wake.", "cells_wake = 80"),
        key("cells_width", "whole number ≥ 1", "8", "", "Cells along z; only with `width`.", "cells_width = 16"),
        key("element", "triangle | quadrilateral | tetrahedron | hexahedron | prism | pyramid | mixed", "quadrilateral in 2D, hexahedron in 3D", "", "Shape of the cells.", "element = \"triangle\""),
    ]),
    section("mesh.generate.sphere_in_box", "A sphere inside a rectangular box. Patches: `sphere farfield`.", &[
        key("size", "list of 3 numbers > 0", "required", "m", "Edge lengths of the box, from the origin.", "size = [10.0, 10.0, 10.0]"),
        key("centre", "list of 3 numbers", "required", "m", "Centre of the sphere.", "centre = [5.0, 5.0, 5.0]"),
        key("diameter", "number > 0", "required", "m", "Diameter of the sphere.", "diameter = 1.0"),
        key("surface_size", "number > 0", "required", "m", "Edge length of the cells on the sphere.", "surface_size = 0.05"),
        key("far_size", "number > 0", "required", "m", "Edge length of the cells on the box.", "far_size = 1.0"),
        key("layers", "whole number", "0", "", "Layers of prisms around the sphere.", "layers = 5"),
        key("element", "tetrahedron | hexahedron | prism | pyramid | mixed", "tetrahedron", "", "Shape of the other cells.", "element = \"tetrahedron\""),
    ]),
    section("mesh.generate.annulus", "The space between two coaxial circles, or cylinders along z. Patches: `inner outer`.", &[
        key("inner", "number > 0", "required", "m", "Inner radius.", "inner = 1.0"),
        key("outer", "number > 0", "required", "m", "Outer radius, larger than `inner`.", "outer = 2.0"),
        key("length", "number > 0", "none", "m", "Length along z. Absent: a 2D mesh.", "length = 1.0"),
        key("cells", "list of 2 or 3 whole numbers ≥ 1", "required", "", "Cells along the radius, around, and in 3D along z.", "cells = [16, 64]"),
        key("element", "triangle | quadrilateral | tetrahedron | hexahedron | prism | pyramid | mixed", "quadrilateral in 2D, hexahedron in 3D", "", "Shape of the cells.", "element = \"quadrilateral\""),
    ]),
    section("heat", "Heat conduction: ∂(ρcT)/∂t = ∇·(k∇T) + S. A case has exactly one of `[heat]`, `[incompressible]`, `[euler]`.", &[
        key("discretization", "cell | node", "\"cell\"", "", "Cell-centred finite volumes or node-centred finite elements.", "discretization = \"cell\""),
        key("conductivity", "number > 0 | expression of x y z | { region = number }", "1.0", "W/(m K)", "Conductivity k. Values by region must name every region of the mesh.", "conductivity = { steel = 45.0, copper = 390.0 }"),
        key("volumetric_heat_capacity", "number > 0 | expression of x y z | { region = number }", "1.0", "J/(m³ K)", "Volumetric heat capacity ρc. In its place `density` and `specific_heat`, which are multiplied.", "volumetric_heat_capacity = 3.6e6"),
        key("density", "number > 0 | expression of x y z | { region = number }", "none", "kg/m³", "Density ρ, with `specific_heat` and without `volumetric_heat_capacity`.", "density = 7850.0"),
        key("specific_heat", "number > 0 | expression of x y z | { region = number }", "none", "J/(kg K)", "Specific heat capacity c, with `density`.", "specific_heat = 460.0"),
        key("source", "number | expression | { region = number }", "0.0", "W/m³", "Volumetric heat source S; by region, 0 in a region left out.", "source = \"1e3*exp(-t)\""),
        key("nonorthogonal_correction", "true | false", "true", "", "Non-orthogonal correction of the fluxes. Without it the error does not vanish under refinement of skewed meshes.", "nonorthogonal_correction = true"),
    ]),
    section("heat.region.NAME", "Properties of one region of the mesh; a key left out has the value of `[heat]`.", &[
        key("conductivity", "number > 0 | expression of x y z", "that of [heat]", "W/(m K)", "Conductivity in the region.", "conductivity = 45.0"),
        key("volumetric_heat_capacity", "number > 0 | expression of x y z", "that of [heat]", "J/(m³ K)", "Volumetric heat capacity in the region. In its place `density` and `specific_heat`.", "volumetric_heat_capacity = 3.6e6"),
        key("density", "number > 0 | expression of x y z", "that of [heat]", "kg/m³", "Density in the region, with `specific_heat`.", "density = 7850.0"),
        key("specific_heat", "number > 0 | expression of x y z", "that of [heat]", "J/(kg K)", "Specific heat capacity in the region, with `density`.", "specific_heat = 460.0"),
        key("source", "number | expression", "that of [heat]", "W/m³", "Volumetric heat source in the region.", "source = 1e3"),
    ]),
    section("incompressible", "Incompressible flow: ∂u/∂t + u·∇u = −∇p + ∇·(ν∇u) + s, ∇·u = 0, with p the pressure over the density. Needs `[time]`.", &[
        key("scheme", "collocated | staggered | exact_fractional_step", "\"collocated\"", "", "`collocated`: velocity and pressure in the cells. `staggered`: normal fluxes at the faces. `exact_fractional_step`: a vector potential on the edges, divergence-free without a pressure.", "scheme = \"collocated\""),
        key("kinematic_viscosity", "number > 0; ≥ 0 with rk3", "required", "m²/s", "Kinematic viscosity ν.", "kinematic_viscosity = 1e-3"),
        key("convection", "linear_upwind | central | cubic | upwind", "\"linear_upwind\"", "", "Interpolation of velocity and temperature to the faces: value and gradient of the upstream cell; linear between both cells; the cubic through the values and gradients of both cells, also for the pressure; the value of the upstream cell. `upwind` is of first order, the others of second. `linear_upwind` damps unresolved scales. `central` conserves kinetic energy and has smaller errors up to a cell Péclet number of about 2, but oscillates from cell to cell on coarser meshes. `cubic` has the smallest errors on quadrilaterals and hexahedra, and no advantage on triangles and tetrahedra.", "convection = \"central\""),
        key("pressure_correction", "none | incremental | incremental_rotational", "\"incremental_rotational\"", "", "Pressure update of a projection. `none`: the classical fractional step, of first order in time; it diverges on skewed tetrahedra.", "pressure_correction = \"incremental\""),
        key("source", "list of 2 or 3, each number | expression", "[0.0, 0.0, 0.0]", "m/s²", "Acceleration by a body force s.", "source = [\"sin(pi*y)*cos(t)\", 0.0, 0.0]"),
        key("nonorthogonal_correctors", "whole number", "0", "", "Number of further projections with non-orthogonal correction, for non-orthogonal meshes.", "nonorthogonal_correctors = 1"),
    ]),
    section("incompressible.thermal", "Temperature equation: ∂T/∂t + u·∇T = ∇·(α∇T) + S. With `expansion` the momentum equation has the Boussinesq term −β (T − T₀) g.", &[
        key("diffusivity", "number > 0", "required", "m²/s", "Thermal diffusivity α.", "diffusivity = 1.4e-7"),
        key("expansion", "number", "0.0", "1/K", "Coefficient of thermal expansion β; 0: no buoyancy.", "expansion = 2.1e-4"),
        key("gravity", "list of 2 or 3 numbers", "[0.0, 0.0, 0.0]", "m/s²", "Acceleration of gravity g.", "gravity = [0.0, -9.81, 0.0]"),
        key("reference_temperature", "number", "0.0", "K", "Temperature T₀ without buoyancy.", "reference_temperature = 300.0"),
        key("source", "number | expression", "0.0", "K/s", "Rate of heating S: heat source over volumetric heat capacity.", "source = \"exp(-t)\""),
    ]),
    section("incompressible.pressure", "Linear solver of the pressure, with the keys of `[linear_solver]`.", solver_keys!["1e-6"]),
    section("incompressible.pressure.amg", "Algebraic multigrid for the pressure, with the keys of `[linear_solver.amg]`.", &[]),
    section("incompressible.momentum", "Linear solver of the velocity components and of the temperature, with the keys of `[linear_solver]`.", solver_keys!["1e-6"]),
    section("incompressible.momentum.amg", "Algebraic multigrid for the velocity and the temperature, with the keys of `[linear_solver.amg]`.", &[]),
    section("euler", "Compressible flow: not available in this version.", &[]),
    section("initial", "The state at t = 0; for a steady case the initial guess.", &[
        key("temperature", "number | expression of x y z", "0 for a steady case, else required", "K", "Temperature; of a flow with `[incompressible.thermal]`.", "temperature = 300.0"),
        key("velocity", "list of 2 or 3, each number | expression of x y z", "zeros", "m/s", "Velocity of a flow; it is made divergence-free.", "velocity = [\"y*(1 - y)\", 0.0, 0.0]"),
        key("pressure", "number | expression of x y z", "zero", "m²/s²", "Pressure of a flow over the density.", "pressure = 0.0"),
        key("density", "number", "none", "kg/m³", "For `[euler]`; an error in other cases.", "density = 1.0"),
    ]),
    section("boundary", "One condition for each patch of the mesh, under the patch's name. A word in quotes is short for a kind without a value: `zmin = \"insulated\"`. Kinds with a value are keys of the patch: `zmax.temperature = 600.0`.", &[
        key("PATCH", "\"insulated\" | \"symmetry\" | \"no_slip\" | \"slip\" | \"convective_outlet\" | table", "required for each patch", "", "The condition of patch PATCH; a table has keys of the next section.", "zmin = \"insulated\""),
    ]),
    section("boundary.PATCH", "The condition of one patch. In a heat case exactly one of `temperature`, `heat_flux`, `convection`, `insulated` and `symmetry`; in a flow exactly one of the others or `symmetry`, and with `[incompressible.thermal]` at most one thermal condition beside it, insulated where there is none: `hot = { no_slip = true, temperature = 1.0 }`. Values are `number | expression | { table = \"file.csv\" }`.", &[
        key("temperature", "value", "none", "K", "Dirichlet: prescribed temperature.", "zmax.temperature = \"600 + 100*sin(2*pi*t/24)\""),
        key("heat_flux", "value", "none", "W/m²", "Neumann: heat flux density into the domain, k ∂T/∂n.", "zmax.heat_flux = 1e3"),
        key("convection", "{ coefficient, ambient }", "none", "", "Robin: k ∂T/∂n = h (T∞ − T), a fluid outside.", "zmax.convection = { coefficient = 10.0, ambient = 293.0 }"),
        key("insulated", "true", "none", "", "Zero heat flux.", "zmax.insulated = true"),
        key("symmetry", "true", "none", "", "A plane of symmetry.", "zmax.symmetry = true"),
        key("no_slip", "true", "none", "", "A wall at rest.", "floor.no_slip = true"),
        key("slip", "true", "none", "", "A wall without friction.", "top.slip = true"),
        key("moving_wall", "list of 2 or 3 values", "none", "m/s", "A wall that moves with this velocity.", "lid.moving_wall = [1.0, 0.0, 0.0]"),
        key("velocity_inlet", "list of 2 or 3 values", "none", "m/s", "An inlet with this velocity.", "in.velocity_inlet = [\"6*y*(1 - y)\", 0.0, 0.0]"),
        key("pressure_outlet", "value", "none", "m²/s²", "An outlet with this pressure over the density; backflow has zero velocity.", "out.pressure_outlet = 0.0"),
        key("opening", "value", "none", "m²/s²", "An opening with this pressure over the density, where fluid leaves or enters; backflow has the velocity of the cell.", "top.opening = 0.0"),
        key("convective_outlet", "true", "none", "", "∂u/∂t + u_m ∂u/∂n = 0 with the mean normal velocity u_m of the patch: vortices leave the domain.", "out.convective_outlet = true"),
        key("periodic", "string", "none", "", "Periodic with the patch named, which is this one moved by a translation, face by face. The other patch names this one or has no entry.", "left.periodic = \"right\""),
    ]),
    section("boundary.PATCH.convection", "Heat transfer to a fluid outside.", &[
        key("coefficient", "value ≥ 0", "required", "W/(m² K)", "Heat transfer coefficient h.", "coefficient = 10.0"),
        key("ambient", "value", "required", "K", "Temperature T∞ of the fluid.", "ambient = \"293 + 5*sin(2*pi*t/86400)\""),
    ]),
    section("time", "Time integration from t = 0. Absent: a steady heat case; a flow needs it.", &[
        key("method", "heat: backward_euler | crank_nicolson | bdf2; flow: ab2_cn | bdf2 | rk3", "heat: crank_nicolson; flow: bdf2", "", "Time scheme. For heat of first, second and second order; after a discontinuity in the data `bdf2` oscillates less than `crank_nicolson`. For flow of second, second and third order: Adams–Bashforth for convection with Crank–Nicolson for viscous terms; backward differentiation with extrapolated convection; Runge–Kutta with three explicit stages, stable up to a Courant number of 1.7, which includes the viscous terms where `cfl` sets the step.", "method = \"crank_nicolson\""),
        key("step", "number > 0", "this or cfl is required", "s", "Time step.", "step = 0.01"),
        key("cfl", "number > 0", "this or step is required", "", "Sets the time step: for heat the largest cell Fourier number, Δt Σ a_f / (ρcV) with a_f the conductances of the cell's faces; for flow the largest Courant number. The first step of a flow at rest follows from body forces, buoyancy, prescribed pressures and moving walls. The extrapolated convection of `bdf2` is stable up to about 0.47 with `linear_upwind`, 0.66 with `upwind` and 0.18 with `central` where convection dominates, further where diffusion does: 0.4 is recommended with the defaults; a run warns where a tenth of the cells is beyond the limit.", "cfl = 10.0"),
        key("end", "number > 0", "required", "s", "End time. The last step is shortened to meet it.", "end = 240.0"),
        key("steady_tolerance", "number > 0", "none", "K/s, m/s²", "Stop earlier, when the largest rate of change of the temperature, in a flow of the velocity, falls below this value.", "steady_tolerance = 1e-7"),
        key("local_step", "true | false", "none", "", "For `[euler]`; an error in other cases.", "local_step = true"),
    ]),
    section("linear_solver", "Linear solver of a heat case.", solver_keys!["1e-8"]),
    section("linear_solver.amg", "Algebraic multigrid, with `preconditioner = \"amg\"` or where `auto` selects it.", &[
        key("coarsening", "pmis | ruge_stuben | aggregation", "\"pmis\"", "", "Selection of coarse unknowns.", "coarsening = \"pmis\""),
        key("pairwise_passes", "whole number from 0 to 4", "1, in 2D 0", "", "Passes of pairwise matching for the first coarse level (`pmis`) or every level (`aggregation`, 3 by default); each pass halves the unknowns.", "pairwise_passes = 2"),
        key("strength", "number from 0 to 1", "0.25", "", "θ: couplings with −a_ij ≥ θ max(−a_ik) are strong.", "strength = 0.25"),
        key("drop_tolerance", "number ≥ 0, below 1", "0.1", "", "Couplings of coarse matrices below this fraction of the largest in their row are added to the diagonals, as all positive couplings are; 0 drops none.", "drop_tolerance = 0.0"),
        key("max_levels", "whole number ≥ 1", "25", "", "Maximum number of levels.", "max_levels = 6"),
        key("boundary_weight", "number > 0", "1.0", "", "α: weight of boundary unknowns, with `ruge_stuben`.", "boundary_weight = 5.0"),
        key("sparsification", "\"none\" | { beta, increment, symmetric }", "\"none\"", "", "Drop couplings of coarse matrices weaker than β times the mean of their row.", "sparsification = { beta = 1.0, increment = 1.0, symmetric = true }"),
        key("smoother", "l1_jacobi | chebyshev | gauss_seidel", "\"l1_jacobi\"", "", "The smoother.", "smoother = \"chebyshev\""),
        key("sweeps", "list of 2 whole numbers", "[1, 1]", "", "Sweeps before and after the coarse correction.", "sweeps = [2, 2]"),
        key("cycle", "v | w | f | k", "\"v\"", "", "The cycle.", "cycle = \"w\""),
        key("hierarchy_precision", "f64 | f32 | f16", "\"f32\"", "", "Precision of the stored hierarchy. With `f32` conjugate gradients store direction and residual in `f32` too, the solution and the stopping criterion in `f64`. `f16` is not available in this version.", "hierarchy_precision = \"f64\""),
    ]),
    section("linear_solver.amg.sparsification", "Dropping of weak couplings of coarse matrices.", &[
        key("beta", "number ≥ 0", "1.0", "", "β on the first coarse level.", "beta = 1.0"),
        key("increment", "number ≥ 0", "1.0", "", "Increase of β on each further level.", "increment = 1.0"),
        key("symmetric", "true | false", "false", "", "Drop a pair of couplings only if both are weak, so that the matrix stays symmetric.", "symmetric = true"),
    ]),
    section("adapt", "Mesh adaptation: not available in this version.", &[]),
    section("output", "Files of a run. The history, the summary and the log are always written.", &[
        key("directory", "path", "beside the case file, named after it", "", "The folder for all files of the run.", "directory = \"out/cube\""),
        key("every", "number > 0", "none", "s", "Interval of time between files of fields; the end is written too.", "every = 1.0"),
        key("every_steps", "whole number ≥ 1", "none", "", "Number of steps between files of fields; the end is written too. Excludes `every`; without both only the end is written.", "every_steps = 100"),
        key("fields", "list of strings", "those solved for", "", "Fields written. A heat case has `temperature`; a flow `velocity`, `pressure`, on request `vorticity`, `q_criterion` and in 2D `streamfunction`, with `[incompressible.thermal]` also `temperature`.", "fields = [\"temperature\"]"),
        key("picture", "{ field, slice }", "none", "", "A PNG picture of the last state.", "picture = { field = \"temperature\", slice = { axis = \"z\", at = 0.5 } }"),
    ]),
    section("output.picture", "A picture of a field.", &[
        key("field", "string", "required", "", "One of the fields that can be written; a velocity is shown by its magnitude.", "field = \"temperature\""),
        key("slice", "{ axis, at }", "a 2D mesh whole, a 3D mesh cut halfway along z", "", "The plane shown.", "slice = { axis = \"z\", at = 0.5 }"),
    ]),
    section("output.picture.slice", "A plane normal to an axis.", &[
        key("axis", "x | y | z", "required", "", "The normal of the plane.", "axis = \"z\""),
        key("at", "number", "required", "m", "Coordinate of the plane along its normal.", "at = 0.5"),
    ]),
    list("output.probe", "A point with values in `history.csv` and `summary.json`. On the boundary they are the prescribed values.", &[
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other probe has.", "name = \"centre\""),
        key("at", "list of 2 or 3 numbers", "required", "m", "Its coordinates.", "at = [0.5, 0.5, 0.5]"),
    ]),
    list("output.line", "A line along which the fields are written at the end, to `line_NAME.csv`. A point on the boundary has the prescribed value.", &[
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other line has.", "name = \"axis\""),
        key("from", "list of 2 or 3 numbers", "required", "m", "First point.", "from = [0.5, 0.5, 0.0]"),
        key("to", "list of 2 or 3 numbers", "required", "m", "Last point.", "to = [0.5, 0.5, 1.0]"),
        key("points", "whole number ≥ 2", "101", "", "Number of points, both ends included.", "points = 101"),
    ]),
    list("output.patch", "Integrals over patches: `area` and for heat, into the domain, `heat_flux`. For flow `flow_rate` into the domain, the force of the fluid on the patches `force_x` (also y, z) and its parts `pressure_force_x` and `viscous_force_x`; with `reference` also `drag_coefficient` and `lift_coefficient` and, at the end of a run in which the lift oscillates for three periods or more, `strouhal`, `drag_coefficient_mean`, `drag_coefficient_max` and `lift_coefficient_max` of the last periods; with `[incompressible.thermal]` `heat_flux`, and with `reference` `nusselt`.", &[
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other group has.", "name = \"hot\""),
        key("patches", "list of strings", "required", "", "Patches of the mesh, integrated together.", "patches = [\"zmax\"]"),
        key("reference", "table", "none", "", "Reference quantities of forces and heat; without them there are no coefficients. For flow.", "reference = { velocity = 1.0, area = 0.1, length = 0.1 }"),
        key("drag_direction", "list of 2 or 3 numbers", "[1.0, 0.0, 0.0]", "", "Direction of the drag, of any length. For flow.", "drag_direction = [1.0, 0.0, 0.0]"),
        key("lift_direction", "list of 2 or 3 numbers", "[0.0, 1.0, 0.0]", "", "Direction of the lift, of any length. For flow.", "lift_direction = [0.0, 1.0, 0.0]"),
    ]),
    section("output.patch.reference", "Reference quantities of a group of patches, for flow. A force coefficient is F / (½ρU²A), the Strouhal number fL/U, the Nusselt number qL / (α ΔT) with q the mean heat flux over the heat capacity.", &[
        key("velocity", "number > 0", "1.0", "m/s", "Speed U.", "velocity = 1.0"),
        key("area", "number > 0", "1.0", "m²", "Area A; in 2D per unit width.", "area = 0.1"),
        key("length", "number > 0", "1.0", "m", "Length L.", "length = 0.1"),
        key("density", "number > 0", "1.0", "kg/m³", "Density ρ.", "density = 1.0"),
        key("pressure", "number", "0.0", "Pa", "Pressure that exerts no force.", "pressure = 0.0"),
        key("temperature_difference", "number > 0", "1.0", "K", "Temperature difference ΔT.", "temperature_difference = 10.0"),
    ]),
    list("output.surface", "Fields on patches: `surface_NAME_0000.vtu` beside each file of fields, with `surface_NAME.pvd`, and at the end `surface_NAME.csv` with the columns x, y, z, area, normal (out of the domain) and the fields. Rows are faces of the patches; with `discretization = \"node\"` they are the nodes, each with its part of the area. A heat case has `temperature` and `wall_heat_flux`, the heat flux into the domain. A flow has `pressure` (over the density), `pressure_coefficient`, `wall_shear_stress` (the viscous force of the fluid on the wall, per unit of area and density) and `y_plus` = u_τ y/ν, with u_τ² the tangential part of that stress and y the distance of the cell centre from the wall; with `[incompressible.thermal]` also `temperature` and `wall_heat_flux` over ρc. Sums over the rows of heat flux times area, and of pressure times area vector, are the integrals of `[[output.patch]]`; so is the viscous force of a collocated flow on walls at rest, elsewhere up to the discretisation error.", &[
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other surface has.", "name = \"airfoil\""),
        key("patches", "list of strings", "required", "", "Patches of the mesh.", "patches = [\"airfoil\"]"),
        key("fields", "list of strings", "required", "", "The fields; `wall_shear_stress` and `y_plus` on patches where the velocity is prescribed.", "fields = [\"pressure_coefficient\", \"wall_shear_stress\"]"),
        key("reference", "table", "none", "", "Reference quantities of the pressure coefficient. For flow.", "reference = { velocity = 1.0, pressure = 0.0 }"),
    ]),
    section("output.surface.reference", "Reference quantities of the pressure coefficient (p − p₀/ρ) / (½U²), p the pressure over the density.", &[
        key("velocity", "number > 0", "1.0", "m/s", "Speed U.", "velocity = 1.0"),
        key("density", "number > 0", "1.0", "kg/m³", "Density ρ.", "density = 1.0"),
        key("pressure", "number", "0.0", "Pa", "Pressure p₀.", "pressure = 0.0"),
    ]),
    list("output.recirculation", "Reversed flow along a line, as behind a body, in `summary.json`: `separation` and `reattachment` of its last stretch, as distances from the first point; `separation` is 0 where the stretch begins with the line, both are 0 without reversed flow. For flow; an error in a heat case.", &[
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other recirculation has.", "name = \"wake\""),
        key("from", "list of 2 or 3 numbers", "required", "m", "First point, at the body.", "from = [0.5, 0.0, 0.0]"),
        key("to", "list of 2 or 3 numbers", "required", "m", "Last point, downstream.", "to = [5.0, 0.0, 0.0]"),
        key("points", "whole number ≥ 2", "1001", "", "Number of points, both ends included.", "points = 1001"),
    ]),
    section("run", "Backend, precision and threads; the command line takes precedence.", &[
        key("backend", "auto | cpu | cuda | vulkan | wgpu | hip", "\"auto\"", "", "`auto`: CUDA where it is built in and a device is present, else the CPU.", "backend = \"cpu\""),
        key("precision", "f64 | f32", "\"f64\"", "", "Precision of the fields.", "precision = \"f64\""),
        key("threads", "whole number", "0", "", "Threads of the CPU; 0: all.", "threads = 8"),
    ]),
    section("checkpoint", "Checkpoints for `karman run --restart`, with the interpolation matrices of multigrid. Needs `[time]`.", &[
        key("every", "number > 0", "required", "s", "Time between two checkpoints.", "every = 10.0"),
    ]),
    section("exact", "Exact solutions to compare the final state with. Errors l1, l2 and linf go to `summary.json`; l2 = √(ΣV e²/ΣV), absolute.", &[
        key("temperature", "number | expression", "none", "K", "The exact temperature.", "temperature = \"sin(pi*x)\""),
        key("velocity", "list of 2 or 3, each number | expression", "none", "m/s", "The exact velocity of a flow, with errors of its components `velocity_x`, `velocity_y`, `velocity_z` and of the vector, `velocity`.", "velocity = [\"y\", 0.0, 0.0]"),
        key("pressure", "number | expression", "none", "m²/s²", "The exact pressure of a flow, compared without the mean where no patch prescribes the pressure.", "pressure = \"-x\""),
        key("vorticity", "number | expression", "none", "1/s", "The exact vorticity ∂v/∂x − ∂u/∂y of a 2D flow.", "vorticity = \"2*pi*cos(pi*x)\""),
        key("density", "expression", "none", "kg/m³", "For `[euler]`; an error in other cases.", "density = \"1 + x\""),
    ]),
    section("expected", "Expected numbers, which `karman test` compares the run with: entries of `summary.json` by their path in quotes. `mesh.cells` (also dimension, nodes, edges, faces), `time.steps`, `time.end`, `linear.iterations` (also solves, last_iterations, relative_residual, convergence_factor). For heat `probe.PROBE.temperature`, `patch.PATCH.area`, `patch.PATCH.heat_flux`, `fields.temperature.mean` (also min, max; the mean by volume), `errors.temperature.l2` (also l1, linf). For flow the fields are `velocity_x`, `velocity_y`, `velocity_z`, `pressure`, with `[incompressible.thermal]` `temperature`, and of errors `velocity` and `vorticity` as well; the quantities of a patch are those of `[[output.patch]]`; further `recirculation.NAME.separation` and `.reattachment`, `flow.kinetic_energy`, `flow.divergence_max`, `flow.courant`.", &[
        key("\"PATH\"", "{ value, absolute, relative }", "none", "", "The number at PATH and its tolerance.", "\"probe.centre.temperature\" = { value = 350.0, relative = 1e-3 }"),
    ]),
    section("expected.\"PATH\"", "A number and its tolerance, at least one of `absolute` and `relative`; the larger applies.", &[
        key("value", "number", "required", "", "The expected value.", "value = 350.0"),
        key("absolute", "number ≥ 0", "none", "", "Largest difference.", "absolute = 0.5"),
        key("relative", "number ≥ 0", "none", "", "Largest difference as a fraction of |value|.", "relative = 1e-3"),
    ]),
];
