//! The keys of the case file.

use super::super::EQUATIONS;
use super::super::HeatCondition;
use super::super::compressible_boundary;
use super::super::field_keys::{Exact, FieldSection, Initial, fields};
use super::super::flow_boundary::flow_kinds;
use super::super::linear_solver::MethodFile;
use super::super::{Axis, FacePointsCase, OutputFormat, Precision, TransferKind, Value, expected};
use super::{Key, Section};
use crate::backend::BackendKind;
use crate::compressible::{
    CompressibleKeyValue, Limiter, NumericalFlux, Reconstruction, ResidualForm, WeightPrecision,
};
use crate::descriptor::{ConditionKey, Descriptor, Entry, Field, FieldKey, Form, Need, Rank};
use crate::heat::Discretization;
use crate::incompressible::{
    Arrangement, Convection, ConvectionTreatment, FlowBoundaryCondition, PressureCorrection,
};
use crate::linear::amg::{AMG_PARAMETERS, AmgParameter, AmgParams, ParameterKind, Range};
use crate::linear::{Method, PreconditionerKind};
use crate::mesh::Renumbering;
use crate::mesh::generate::Element;
use crate::mesh::partition::Partition;
use std::borrow::Cow;
use std::sync::LazyLock;

fn key(
    name: &'static str,
    kind: impl Into<Cow<'static, str>>,
    default: impl Into<Cow<'static, str>>,
    units: &'static str,
    meaning: impl Into<Cow<'static, str>>,
    example: &'static str,
) -> Key {
    Key {
        name,
        kind: kind.into(),
        default: default.into(),
        units,
        meaning: meaning.into(),
        example,
    }
}

fn section(path: &'static str, meaning: impl Into<Cow<'static, str>>, keys: Vec<Key>) -> Section {
    Section { path, list: false, meaning: meaning.into(), keys }
}

fn list(path: &'static str, meaning: impl Into<Cow<'static, str>>, keys: Vec<Key>) -> Section {
    Section { list: true, ..section(path, meaning, keys) }
}

/// `method` of `[time]`: the time schemes of each equation.
fn time_scheme_key() -> Key {
    let join =
        |text: &dyn Fn(&Descriptor) -> String, separator: &str| EQUATIONS.map(text).join(separator);
    let kind = join(&|e| format!("{}: {}", e.label, e.time_schemes.words.join(" | ")), "; ");
    let default = join(&|e| format!("{}: {}", e.label, e.time_schemes.default), "; ");
    let meaning = |e: &Descriptor| {
        let schemes = &e.time_schemes;
        let (first, rest) = e.label.split_at(1);
        let meanings = meanings("", schemes.words, schemes.meanings);
        format!("{}{rest}: {meanings}", first.to_uppercase())
    };
    let meaning = format!("Time scheme. {}", join(&meaning, " "));
    key("method", kind, default, "", meaning, "method = \"crank_nicolson\"")
}

/// A key whose values are the words of an enum: `words!(Enum, name, default, introduction, example)`.
macro_rules! words {
    ($choice:ty, $name:expr, $default:expr, $introduction:expr, $example:expr) => {
        key(
            $name,
            <$choice>::WORDS.join(" | "),
            $default,
            "",
            meanings($introduction, <$choice>::WORDS, <$choice>::MEANINGS),
            $example,
        )
    };
}

/// The words of a key and their meanings, after an introduction.
fn meanings(introduction: &str, words: &[&str], meanings: &[&str]) -> String {
    let of_words = words.iter().zip(meanings).map(|(word, meaning)| format!("`{word}`: {meaning}"));
    let introduction = (!introduction.is_empty()).then(|| introduction.to_owned());
    introduction.into_iter().chain(of_words).collect::<Vec<_>>().join(" ")
}

/// The keys of fields in `[initial]` or `[exact]`; `of` ends the kind of a value.
fn field_keys<S: FieldSection>(of: &str) -> Vec<Key> {
    let row = |(field, text): (&'static Field, FieldKey)| {
        let kind = match field.rank {
            Rank::Vector(_) => format!("list of 2 or 3, each number | expression{of}"),
            Rank::Scalar | Rank::Axial => format!("number | expression{of}"),
        };
        let others = EQUATIONS.iter().map(|equation| (equation.case(), equation.fields()));
        let needs = others.flat_map(|(case, fields)| {
            let same = fields.filter(|other| other.name == field.name && !other.needs.is_empty());
            same.map(move |other| format!(" In {case} with {}.", settings(other.needs)))
        });
        let meaning = needs.fold(text.meaning.to_owned(), |meaning, need| meaning + &need);
        key(field.name, kind, text.default, field.units, meaning, text.example)
    };
    fields::<S>().map(row).collect()
}

/// The keys of multigrid.
fn amg_keys() -> Vec<Key> {
    let defaults = AmgParams::DEFAULT;
    let row = |parameter: &'static AmgParameter| {
        let (kind, default, meaning) = match parameter.kind {
            ParameterKind::Word { words, meanings: of_words, get, .. } => {
                let meaning = meanings(parameter.meaning, words, of_words);
                (words.join(" | "), format!("\"{}\"", get(&defaults)), meaning)
            }
            ParameterKind::Number { range, get, .. } => {
                let kind = match range {
                    Range::Fraction => "number from 0 to 1",
                    Range::BelowOne => "number ≥ 0, below 1",
                    Range::Positive => "number > 0",
                };
                (kind.to_owned(), format!("{:?}", get(&defaults)), parameter.meaning.to_owned())
            }
            ParameterKind::Count { least, most, get, .. } => {
                let kind = match most {
                    usize::MAX => format!("whole number ≥ {least}"),
                    most => format!("whole number from {least} to {most}"),
                };
                (kind, get(&defaults).to_string(), parameter.meaning.to_owned())
            }
            ParameterKind::Sweeps => {
                let default = format!("{:?}", defaults.cycling.sweeps);
                ("list of 2 whole numbers".to_owned(), default, parameter.meaning.to_owned())
            }
            ParameterKind::Sparsification => {
                let kind = "\"none\" | { beta, increment, symmetric }".to_owned();
                (kind, String::new(), parameter.meaning.to_owned())
            }
        };
        let default = parameter.default.map_or(default, str::to_owned);
        key(parameter.name, kind, default, "", meaning, parameter.example)
    };
    AMG_PARAMETERS.iter().map(row).collect()
}

/// The keys of thermal conditions.
fn thermal_keys() -> impl Iterator<Item = Key> {
    HeatCondition::KEYS.iter().map(|condition| condition_key(condition, condition.meaning))
}

/// The row of a key with a condition.
fn condition_key<C>(
    condition: &ConditionKey<Value, C>,
    meaning: impl Into<Cow<'static, str>>,
) -> Key {
    let kind = condition.form().kind();
    key(condition.name, kind, "none", condition.units, meaning, condition.example)
}

/// The sections of keys whose value is a table.
fn tables<C>(keys: &'static [ConditionKey<Value, C>]) -> impl Iterator<Item = Section> {
    keys.iter().filter_map(|condition| {
        let Form::Table(table) = condition.form() else { return None };
        let row = |entry: &Entry| {
            let kind = entry.quantity.kind();
            key(entry.name, kind, "required", entry.units, entry.meaning, entry.example)
        };
        Some(section(table.section, table.meaning, table.entries.iter().map(row).collect()))
    })
}

/// The keys of the conditions of a flow.
fn flow_keys() -> impl Iterator<Item = Key> {
    FlowBoundaryCondition::<Value>::KEYS.iter().map(|condition| {
        let other = compressible_boundary::keys().iter().find(|key| key.name == condition.name);
        let meaning = match other {
            Some(other) if other.meaning != condition.meaning => {
                let units = if other.units.is_empty() { "" } else { ", " };
                format!(
                    "{} Compressible flow{units}{}: {}",
                    condition.meaning, other.units, other.meaning
                )
            }
            _ => condition.meaning.to_owned(),
        };
        condition_key(condition, meaning)
    })
}

/// The keys of the conditions of a compressible flow that a flow does not have, and the meanings of those that both have.
fn compressible_keys() -> impl Iterator<Item = Key> {
    compressible_boundary::keys().iter().filter(|key| !is_of_flow(key.name)).map(|condition| {
        let kind = match condition.value {
            CompressibleKeyValue::Flag(_) => "true",
            CompressibleKeyValue::Scalar(..) => "value > 0",
            CompressibleKeyValue::Vector(..) => "list of 2 or 3 values",
            CompressibleKeyValue::State => "{ density, velocity, pressure }",
            CompressibleKeyValue::FarField => {
                "{ density, pressure, velocity | mach, angle_of_attack_deg, side_slip_deg }"
            }
        };
        let meaning = format!("Compressible flow: {}", condition.meaning);
        key(condition.name, kind, "none", condition.units, meaning, condition.example)
    })
}

fn is_of_flow(name: &str) -> bool {
    FlowBoundaryCondition::<Value>::KEYS.iter().any(|key| key.name == name)
}

/// Kinds of conditions of flows without a value, each once.
fn all_kinds() -> Vec<&'static str> {
    let compressible = compressible_boundary::kinds().filter(|name| !is_of_flow(name));
    flow_kinds().chain(compressible).collect()
}

fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn settings(needs: &[Need]) -> String {
    needs.iter().map(|need| format!("`{}`", need.setting())).collect::<Vec<_>>().join(" and ")
}

/// Names with what they need, in runs of equal needs: "`area`, `flow_rate`, with `reference` `strouhal`".
fn with_needs(names: impl Iterator<Item = (&'static str, &'static [Need])>) -> String {
    let mut parts: Vec<String> = vec![];
    let mut last: &[Need] = &[];
    for (name, needs) in names {
        let with = match needs {
            [] => String::new(),
            needs if needs == last => String::new(),
            needs => format!("with {} ", settings(needs)),
        };
        parts.push(format!("{with}`{name}`"));
        last = needs;
    }
    parts.join(", ")
}

/// Fields of each equation, for `[output]`.
fn all_fields() -> String {
    let of_equation = EQUATIONS.iter().map(|equation| {
        let names = equation.unknowns.iter().map(|field| (field.name, field.needs));
        let derived = equation.derived.iter().map(|field| {
            let in_2d = if field.only_2d { "in 2D " } else { "" };
            format!(", {in_2d}`{}` ({})", field.name, field.meaning)
        });
        let derived: String = derived.collect();
        let on_request = derived.strip_prefix(',').map(|list| format!(", on request{list}"));
        format!(" Of {}: {}{}.", equation.case(), with_needs(names), on_request.unwrap_or_default())
    });
    of_equation.collect()
}

/// Quantities of patches of each equation.
fn all_quantities() -> String {
    let of_equation = EQUATIONS.iter().map(|equation| {
        let names =
            equation.patch_quantities.iter().map(|quantity| (quantity.name, quantity.needs));
        format!(" Of {}: {}.", equation.case(), with_needs(names))
    });
    of_equation.collect()
}

/// Entries of the summary of each equation.
fn all_entries() -> String {
    let of_equation = EQUATIONS.iter().map(|equation| {
        let components = equation.unknowns.iter().flat_map(|field| field.components()).copied();
        let more = match equation.summary {
            [] => String::new(),
            more => format!("; further {}", quoted(more.iter().copied())),
        };
        format!(" Of {} FIELD is one of {}{more}.", equation.case(), quoted(components))
    });
    format!(
        "{}.{}",
        quoted(expected::SUMMARY_PATHS.iter().copied()),
        of_equation.collect::<String>()
    )
}

/// Keys that both box generators have.
macro_rules! box_keys {
    ($($more:expr),* $(,)?) => {
        vec![
            key("origin", "list of numbers", "zeros", "m", "Lowest corner.", "origin = [0.0, 0.0, 0.0]"),
            key("size", "list of 2 or 3 numbers > 0", "required", "m", "Edge lengths. Two entries make a 2D mesh.", "size = [1.0, 1.0, 1.0]"),
            key("cells", "list of whole numbers ≥ 1", "required", "", "Number of cells along each direction, before they are split into other shapes.", "cells = [20, 20, 20]"),
            key("element", Element::WORDS.join(" | "), "quadrilateral in 2D, hexahedron in 3D", "", "Shape of the cells.", "element = \"tetrahedron\""),
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
        vec![
            key("method", MethodFile::WORDS.join(" | "), "\"auto\"", "", meanings("`auto`: conjugate gradients for a symmetric matrix, else BiCGStab; a flexible method for a multigrid cycle that is not symmetric.", Method::WORDS, Method::MEANINGS), "method = \"cg\""),
            words!(PreconditionerKind, "preconditioner", "\"auto\"", "", "preconditioner = \"chebyshev\""),
            key("relative_tolerance", "number ≥ 0, below 1", $tolerance, "", "Stop once ‖b − Ax‖ ≤ tolerance ‖b‖; with 0 after `max_iterations`.", "relative_tolerance = 1e-10"),
            key("max_iterations", "whole number ≥ 1", "500", "", "Maximum number of iterations of a solve.", "max_iterations = 2000"),
        ]
    };
}

/// All sections, in the order in which a case is usually written.
#[rustfmt::skip]
pub static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let mut sections = sections();
    let after = sections.iter().position(|section| section.path == "time").unwrap_or(0);
    let tables = tables(HeatCondition::KEYS).chain(tables(FlowBoundaryCondition::<Value>::KEYS));
    sections.splice(after..after, tables);
    sections
});

/// All sections but those of tables of a condition.
#[rustfmt::skip]
fn sections() -> Vec<Section> {
    vec![
    section("", "Before the first section.", vec![
        key("title", "string", "the name of the file", "", "One line about the case, for logs and pictures.", "title = \"Unit cube, one hot face\""),
    ]),
    section("mesh", "A mesh file or one generator, `[mesh.generate.…]`. Triangles and quadrilaterals alone make a 2D mesh, which may lie in any plane; x and y of the case and of the results are coordinates in that plane: x and y of the file where z is constant, x and z where y is, y and z where x is; in a tilted plane x runs along the projection of the first axis of the nearest of these planes and y perpendicular to it towards the second, counted from the origin. A run says so in its log.", vec![
        key("file", "path", "none", "", "Mesh file: Gmsh 2.2 or 4.1 (`.msh`), SU2 (`.su2`), VTK (`.vtu`, `.vtk`).", "file = \"shaft.msh\""),
        key("scale", "number > 0", "1.0", "", "Factor on all coordinates.", "scale = 1e-3"),
        words!(Renumbering, "renumber", "\"auto\"", "Order of the cells in memory. Results are written in the order of the file.", "renumber = \"auto\""),
    ]),
    section("mesh.generate.box", "A rectangle or a rectangular box. Patches: `xmin xmax ymin ymax`, in 3D `zmin zmax`.", box_keys![]),
    section("mesh.generate.box_with_obstacle", "A rectangle or a rectangular box with an obstacle cut out. Patches: those of the box and `obstacle`.", box_keys![
        key("obstacle_min", "list of numbers", "required", "m", "Lowest corner of the obstacle. In 3D it spans the box along z, and two entries suffice.", "obstacle_min = [0.4, 0.4]"),
        key("obstacle_max", "list of numbers", "required", "m", "Highest corner of the obstacle.", "obstacle_max = [0.6, 0.6]"),
    ]),
    section("mesh.generate.cylinder_in_channel", "A circular cylinder across a channel. Patches: `inlet outlet bottom top cylinder`, in 3D `front back`.", vec![
        key("length", "number > 0", "required", "m", "Length along x, from 0.", "length = 2.2"),
        key("height", "number > 0", "required", "m", "Height along y, from 0.", "height = 0.41"),
        key("width", "number > 0", "none", "m", "Width along z. Absent: a 2D mesh.", "width = 0.41"),
        key("centre", "list of 2 numbers", "required", "m", "Centre of the cylinder.", "centre = [0.2, 0.2]"),
        key("diameter", "number > 0", "required", "m", "Diameter of the cylinder.", "diameter = 0.1"),
        key("cells_around", "whole number ≥ 1", "required", "", "Cells around the cylinder.", "cells_around = 64"),
        key("cells_radial", "whole number ≥ 1", "required", "", "Cells from the cylinder outwards.", "cells_radial = 16"),
        key("cells_wake", "whole number ≥ 1", "required", "", "Cells along the wake.", "cells_wake = 80"),
        key("cells_width", "whole number ≥ 1", "8", "", "Cells along z; only with `width`.", "cells_width = 16"),
        key("element", Element::WORDS.join(" | "), "quadrilateral in 2D, hexahedron in 3D", "", "Shape of the cells.", "element = \"triangle\""),
    ]),
    section("mesh.generate.sphere_in_box", "A sphere inside a rectangular box. Patches: `sphere farfield`.", vec![
        key("size", "list of 3 numbers > 0", "required", "m", "Edge lengths of the box, from the origin.", "size = [10.0, 10.0, 10.0]"),
        key("centre", "list of 3 numbers", "required", "m", "Centre of the sphere.", "centre = [5.0, 5.0, 5.0]"),
        key("diameter", "number > 0", "required", "m", "Diameter of the sphere.", "diameter = 1.0"),
        key("surface_size", "number > 0", "required", "m", "Edge length of the cells on the sphere.", "surface_size = 0.05"),
        key("far_size", "number > 0", "required", "m", "Edge length of the cells on the box.", "far_size = 1.0"),
        key("layers", "whole number", "0", "", "Layers of prisms around the sphere.", "layers = 5"),
        key("element", "tetrahedron | hexahedron | prism | pyramid | mixed", "tetrahedron", "", "Shape of the other cells.", "element = \"tetrahedron\""),
    ]),
    section("mesh.generate.annulus", "The space between two coaxial circles, or cylinders along z. Patches: `inner outer`.", vec![
        key("inner", "number > 0", "required", "m", "Inner radius.", "inner = 1.0"),
        key("outer", "number > 0", "required", "m", "Outer radius, larger than `inner`.", "outer = 2.0"),
        key("length", "number > 0", "none", "m", "Length along z. Absent: a 2D mesh.", "length = 1.0"),
        key("cells", "list of 2 or 3 whole numbers ≥ 1", "required", "", "Cells along the radius, around, and in 3D along z.", "cells = [16, 64]"),
        key("grading", "number > 0", "1.0", "", "Size of the outermost cell along the radius over that of the innermost.", "grading = 40.0"),
        key("element", Element::WORDS.join(" | "), "quadrilateral in 2D, hexahedron in 3D", "", "Shape of the cells.", "element = \"quadrilateral\""),
    ]),
    section("heat", "Heat conduction: ∂(ρcT)/∂t = ∇·(k∇T) + S. A case has exactly one of `[heat]`, `[incompressible]`, `[compressible]`.", vec![
        words!(Discretization, "discretization", "\"cell\"", "", "discretization = \"cell\""),
        key("conductivity", "number > 0 | expression of x y z | { region = number }", "1.0", "W/(m K)", "Conductivity k. Values by region must name every region of the mesh.", "conductivity = { steel = 45.0, copper = 390.0 }"),
        key("volumetric_heat_capacity", "number > 0 | expression of x y z | { region = number }", "1.0", "J/(m³ K)", "Volumetric heat capacity ρc. In its place `density` and `specific_heat`, which are multiplied.", "volumetric_heat_capacity = 3.6e6"),
        key("density", "number > 0 | expression of x y z | { region = number }", "none", "kg/m³", "Density ρ, with `specific_heat` and without `volumetric_heat_capacity`.", "density = 7850.0"),
        key("specific_heat", "number > 0 | expression of x y z | { region = number }", "none", "J/(kg K)", "Specific heat capacity c, with `density`.", "specific_heat = 460.0"),
        key("source", "number | expression | { region = number }", "0.0", "W/m³", "Volumetric heat source S; by region, 0 in a region left out.", "source = \"1e3*exp(-t)\""),
        key("nonorthogonal_correction", "true | false", "true", "", "Non-orthogonal correction of the fluxes. Without it the error does not vanish under refinement of skewed meshes.", "nonorthogonal_correction = true"),
    ]),
    section("heat.region.NAME", "Properties of one region of the mesh; a key left out has the value of `[heat]`.", vec![
        key("conductivity", "number > 0 | expression of x y z", "that of [heat]", "W/(m K)", "Conductivity in the region.", "conductivity = 45.0"),
        key("volumetric_heat_capacity", "number > 0 | expression of x y z", "that of [heat]", "J/(m³ K)", "Volumetric heat capacity in the region. In its place `density` and `specific_heat`.", "volumetric_heat_capacity = 3.6e6"),
        key("density", "number > 0 | expression of x y z", "that of [heat]", "kg/m³", "Density in the region, with `specific_heat`.", "density = 7850.0"),
        key("specific_heat", "number > 0 | expression of x y z", "that of [heat]", "J/(kg K)", "Specific heat capacity in the region, with `density`.", "specific_heat = 460.0"),
        key("source", "number | expression", "that of [heat]", "W/m³", "Volumetric heat source in the region.", "source = 1e3"),
    ]),
    section("incompressible", "Incompressible flow: ∂u/∂t + u·∇u = −∇p + ∇·(ν∇u) + s, ∇·u = 0, with p the pressure over the density. Without `[time]` its steady state is computed, see `[steady]`.", vec![
        words!(Arrangement, "scheme", "\"collocated\"", "", "scheme = \"collocated\""),
        key("kinematic_viscosity", "number > 0; ≥ 0 with rk3", "required", "m²/s", "Kinematic viscosity ν.", "kinematic_viscosity = 1e-3"),
        words!(Convection, "convection", "\"linear_upwind\"", "Interpolation of velocity and temperature to the faces.", "convection = \"central\""),
        words!(ConvectionTreatment, "convection_treatment", "\"explicit\"; \"implicit\" without [time]", "Level of the convected quantities. `implicit` needs `scheme = \"collocated\"`, a method other than `rk3`, and for the momentum the preconditioner `jacobi` with the method `fgmres` (the default) or `bicgstab`.", "convection_treatment = \"implicit\""),
        words!(PressureCorrection, "pressure_correction", "\"incremental_rotational\"", "Pressure update of a projection.", "pressure_correction = \"incremental\""),
        key("source", "list of 2 or 3, each number | expression", "[0.0, 0.0, 0.0]", "m/s²", "Acceleration by a body force s.", "source = [\"sin(pi*y)*cos(t)\", 0.0, 0.0]"),
        key("mean_velocity", "list of 2 or 3 numbers", "none", "m/s", "Mean velocity over the volume, for flow through periodic patches: a uniform force keeps it, from the initial velocity on. The force, an acceleration, is `mean_force_x` … of the history and `flow.mean_force_x` … of the summary. Components across which nothing is periodic have no force and must be 0.", "mean_velocity = [1.0, 0.0, 0.0]"),
        key("nonorthogonal_correctors", "whole number", "0", "", "Number of further projections with non-orthogonal correction, for non-orthogonal meshes.", "nonorthogonal_correctors = 1"),
    ]),
    section("incompressible.thermal", "Temperature equation: ∂T/∂t + u·∇T = ∇·(α∇T) + S. With `expansion` the momentum equation has the Boussinesq term −β (T − T₀) g.", vec![
        key("diffusivity", "number > 0", "required", "m²/s", "Thermal diffusivity α.", "diffusivity = 1.4e-7"),
        key("expansion", "number", "0.0", "1/K", "Coefficient of thermal expansion β; 0: no buoyancy.", "expansion = 2.1e-4"),
        key("gravity", "list of 2 or 3 numbers", "[0.0, 0.0, 0.0]", "m/s²", "Acceleration of gravity g.", "gravity = [0.0, -9.81, 0.0]"),
        key("reference_temperature", "number", "0.0", "K", "Temperature T₀ without buoyancy.", "reference_temperature = 300.0"),
        key("source", "number | expression", "0.0", "K/s", "Rate of heating S: heat source over volumetric heat capacity.", "source = \"exp(-t)\""),
    ]),
    section("incompressible.pressure", "Linear solver of the pressure, with the keys of `[linear_solver]`.", solver_keys!["1e-6"]),
    section("incompressible.pressure.amg", "Algebraic multigrid for the pressure, with the keys of `[linear_solver.amg]`.", vec![]),
    section("incompressible.momentum", "Linear solver of the velocity components and of the temperature, with the keys of `[linear_solver]`.", solver_keys!["1e-6"]),
    section("incompressible.momentum.amg", "Algebraic multigrid for the velocity and the temperature, with the keys of `[linear_solver.amg]`.", vec![]),
    section("compressible", "Compressible flow of a perfect gas, p = ρRT: ∂q/∂t + ∇·F(q) = S for the means over cells of q = (ρ, ρu, ρE), ρE = p/(γ − 1) + ½ρ|u|². Steps in time, or without `[time]` the steady state, see `docs/compressible.md`.", vec![
        key("gamma", "number > 1", "1.4", "", "Ratio γ of the specific heats.", "gamma = 1.4"),
        key("gas_constant", "number > 0", "287.0", "J/(kg K)", "Gas constant R, for the temperature p/(ρR).", "gas_constant = 287.0"),
        words!(NumericalFlux, "flux", "\"roe\"", "Numerical flux.", "flux = \"hllc\""),
        words!(Reconstruction, "reconstruction", "\"quadratic\"", "Polynomials in cells.", "reconstruction = \"linear\""),
        key("low_mach", "true | false", "false", "", "Scale the dissipation of the flux with the velocity at low Mach numbers; not with `rusanov`.", "low_mach = true"),
        words!(Limiter, "limiter", "\"none\"", "Limiter of the polynomials. With each of them, and with none, cells whose new density or pressure is not positive are computed again with a lower order; the history counts them as `fallback_cells`, over all stages of a step.", "limiter = \"minmod\""),
        words!(FacePointsCase, "face_points", "\"design_order\"", "Quadrature points of a face; for the quadratic reconstruction.", "face_points = \"one\""),
        words!(ResidualForm, "residual", "\"auto\"", "How the residual is computed; results agree to round-off.", "residual = \"stages\""),
        words!(WeightPrecision, "weights", "\"same\"", "Precision of the stored weights of stencils.", "weights = \"f32\""),
        key("source", "list of 5, each number | expression", "zeros", "", "Sources of density, momentum along x, y, z and energy ρE, by volume and time.", "source = [0.0, \"sin(t)\", 0.0, 0.0, 0.0]"),
    ]),
    section("compressible.viscous", "Viscous terms and heat conduction of laminar flow, ∇·τ and ∇·(τu + λ∇T) with λ = μ c_p/Pr. Without it: the Euler equations.", vec![
        key("viscosity", "number > 0", "this or sutherland is required", "Pa s", "Dynamic viscosity μ.", "viscosity = 1.8e-5"),
        key("sutherland", "{ reference, temperature, constant }", "this or viscosity is required", "", "Sutherland's law.", "sutherland = { reference = 1.716e-5, temperature = 273.15, constant = 110.4 }"),
        key("prandtl", "number > 0", "0.72", "", "Prandtl number μ c_p/λ.", "prandtl = 0.72"),
    ]),
    section("compressible.viscous.sutherland", "μ = μ_r (T/T_r)^(3/2) (T_r + S)/(T + S).", vec![
        key("reference", "number > 0", "required", "Pa s", "μ_r.", "reference = 1.716e-5"),
        key("temperature", "number > 0", "required", "K", "T_r.", "temperature = 273.15"),
        key("constant", "number > 0", "required", "K", "S.", "constant = 110.4"),
    ]),
    section("initial", "The state at t = 0; for a steady case the initial guess.", field_keys::<Initial>(" of x y z").into_iter().chain([
        key("from", "path", "none", "", "A result on any mesh, from which the fields without a key here are interpolated: `fields.pvd` (its last state), a `.vtu`, a `.pvtu` or a legacy `.vtk` file. See `docs/initial.md`. With `--restart` it is not read.", "from = \"coarse/fields.pvd\""),
    ]).collect()),
    section("boundary", "One condition for each patch of the mesh, under the patch's name. A word in quotes is short for a kind without a value: `zmin = \"insulated\"`. Kinds with a value are keys of the patch: `zmax.temperature = 600.0`.", vec![
        key("PATCH", "a word in quotes | table", "required for each patch", "", format!("The condition of patch PATCH: {} or a table with keys of the next section.", quoted(["insulated"].into_iter().chain(all_kinds()))), "zmin = \"insulated\""),
    ]),
    section("boundary.PATCH", "The condition of one patch. In a heat case exactly one of `temperature`, `heat_flux`, `convection`, `insulated` and `symmetry`; in a flow exactly one of the others or `symmetry`, and with `[incompressible.thermal]` at most one thermal condition beside it, insulated where there is none: `hot = { no_slip = true, temperature = 1.0 }`. Compressible flow has the conditions whose text begins with its name. Values are `number | expression | { table = \"file.csv\" }`.", thermal_keys().chain(flow_keys()).chain(compressible_keys()).chain([
        key("periodic", "string", "none", "", "Periodic with the patch named, which is this one moved by a translation, face by face. The other patch names this one or has no entry.", "left.periodic = \"right\""),
    ]).collect()),
    section("boundary.PATCH.STATE", "The state of `inflow`, `exact` or `farfield`: `density`, `pressure` and either `velocity` or, of `farfield`, `mach`. Values may be expressions of x, y, z and t.", vec![
        key("density", "value > 0", "required", "kg/m³", "Density.", "density = 1.4"),
        key("velocity", "list of 2 or 3 values", "this or mach is required", "m/s", "Velocity.", "velocity = [3.0, 0.0, 0.0]"),
        key("pressure", "value > 0", "required", "Pa", "Pressure.", "pressure = 1.0"),
        key("mach", "number ≥ 0", "none", "", "Mach number M, of `farfield`: the velocity is M √(γp/ρ) (cos α cos β, sin α cos β, sin β).", "mach = 0.38"),
        key("angle_of_attack_deg", "number", "0.0", "°", "Angle of attack α, from x towards y; with `mach`.", "angle_of_attack_deg = 1.25"),
        key("side_slip_deg", "number", "0.0", "°", "Angle of side slip β, towards z; with `mach`.", "side_slip_deg = 0.0"),
    ]),
    section("time", "Time integration from t = 0. Absent: a steady case.", vec![
        time_scheme_key(),
        key("step", "number > 0", "this or cfl is required", "s", "Time step.", "step = 0.01"),
        key("cfl", "number > 0", "this or step is required", "", "Sets the time step, one key for all equations: for flow the largest Courant number; for heat, which has none, the largest cell Fourier number, Δt Σ a_f / (ρcV) with a_f the conductances of the cell's faces. The first step of a flow at rest follows from body forces, buoyancy, prescribed pressures and moving walls. The extrapolated convection of `bdf2` is stable up to about 0.47 with `linear_upwind`, 0.66 with `upwind` and 0.18 with `central` where convection dominates, further where diffusion does: 0.4 is recommended with the defaults; a run warns where a tenth of the cells is beyond the limit.", "cfl = 10.0"),
        key("end", "number > 0", "required", "s", "End time. The last step is shortened to meet it.", "end = 240.0"),
        key("steady_tolerance", "number > 0", "none", "K/s, m/s²", "Stop earlier, when the largest rate of change of the temperature, in a flow of the velocity, falls below this value.", "steady_tolerance = 1e-7"),
        key("local_step", "true | false", "none", "", "Compressible flow: explicit stages in which each cell has its own step, `cfl` over its rate λ, towards a steady state; without `end`, ended by `[steady]`.", "local_step = true"),
    ]),
    section("steady", "The iteration of a flow without `[time]` towards its steady state; expressions of such a case may not depend on t. Incompressible: collocated pseudo-time steps with implicit convection, whose result does not depend on the steps. The history has the scaled residuals `momentum_residual`, `mass_residual` and `energy_residual`: Σ|r| over Σ|a_P φ|, a_P the diagonal coefficients, and the imbalance of the cells over the flow through their faces; the default of `relative_tolerance` of both linear solvers is 0.01. Compressible: Newton–Krylov steps, or local steps with `local_step` of `[time]`; the same names for the norms of Σ_f F·S − VS over those of the fluxes of the cells.", vec![
        key("tolerance", "number > 0", "1e-6", "", "Stop once all scaled residuals are below this.", "tolerance = 1e-6"),
        key("max_iterations", "whole number ≥ 1", "1000", "", "Maximum number of iterations; the run fails where it is reached.", "max_iterations = 2000"),
        key("pseudo_cfl", "number > 0", "10.0; compressible 5.0", "", "Courant number of the pseudo-time steps. Incompressible: of the cell with the largest; it falls where residuals rise. Compressible, without `local_step`: of each cell at the start; it grows without bound as the residual falls.", "pseudo_cfl = 2.0"),
    ]),
    section("linear_solver", "Linear solver of a heat case.", solver_keys!["1e-8"]),
    section("linear_solver.amg", "Algebraic multigrid, with `preconditioner = \"amg\"` or where `auto` selects it.", amg_keys()),
    section("linear_solver.amg.sparsification", "Dropping of weak couplings of coarse matrices.", vec![
        key("beta", "number ≥ 0", "1.0", "", "β on the first coarse level.", "beta = 1.0"),
        key("increment", "number ≥ 0", "1.0", "", "Increase of β on each further level.", "increment = 1.0"),
        key("symmetric", "true | false", "false", "", "Drop a pair of couplings only if both are weak, so that the matrix stays symmetric.", "symmetric = true"),
    ]),
    section("adapt", "Adaptation of a mesh of triangles or tetrahedra during the run, to a metric that prescribes sizes and directions (docs/adaptation.md). A run in time adapts at intervals, a steady run after each solution and solves again. The cost is in the log and in `summary.json`. Fields in time go to the new mesh at their time; a multistep scheme begins anew with a step of first order. Patches and regions are kept, and so are cells of other shapes with their values; periodic patches are refused.", vec![
        key("field", "string", "this or `metric` required", "", "The field whose second derivatives give the metric, one that can be written; of a vector its magnitude.", "field = \"temperature\""),
        key("metric", "list of 3 or 6, each number | expression in t too; or { file, name }", "this or `field` required", "1/m²", "The upper triangle of the metric, row by row: m11, m12, m22 in 2D, m11, m12, m13, m22, m23, m33 in 3D. A size h in a direction is the eigenvalue 1/h². Or a field of tensors at the nodes of a VTU or VTK file, as of `--metric-file` of `karman adapt`.", "metric = [\"1/(0.01 + 0.1*abs(x - 0.2*t))^2\", 0.0, 100.0]"),
        key("norm", "number ≥ 1", "2.0", "", "p of the Lᵖ norm of the interpolation error that the metric minimises. Small values resolve weak features beside strong ones.", "norm = 1.0"),
        key("complexity", "number > 0", "required with `field`", "", "Complexity ∫ √det M of the metric: about half of the number of nodes.", "complexity = 20000"),
        key("every", "number > 0", "required with `[time]`", "s", "Interval of time between adaptations.", "every = 0.5"),
        key("cycles", "whole number ≥ 1", "required without `[time]`", "", "Number of adaptations of a steady run, each after a solution. `max_iterations` of `[steady]` counts the iterations on all meshes.", "cycles = 5"),
        key("initial_cycles", "whole number", "0", "", "Number of adaptations of a run in time to its initial fields, which are evaluated again on each mesh. A restart makes none.", "initial_cycles = 4"),
        key("samples", "whole number ≥ 1", "1", "", "Times of an interval whose metrics are intersected, in a run in time: with `field` evenly spaced in the past interval, and the intersection is scaled to `complexity`; of a `metric` in t from the begin to the end of the coming one.", "samples = 8"),
        key("gradation", "number > 1", "1.5", "", "Largest ratio of the sizes of edges of which one begins where the other ends.", "gradation = 1.3"),
        key("h_min", "number > 0", "none", "m", "Smallest size, with `field`.", "h_min = 1e-4"),
        key("h_max", "number > 0", "none", "m", "Largest size, with `field`.", "h_max = 0.2"),
        key("anisotropy", "number ≥ 1", "1e3", "", "Largest ratio of the sizes at a place, with `field`.", "anisotropy = 100.0"),
        words!(TransferKind, "transfer", "\"conservative\"", "How fields come to the new mesh; the states of a gas keep a positive density and pressure.", "transfer = \"interpolate\""),
        key("freeze", "list of regions", "[]", "", "Regions whose cells stay as they are, beside the layers of other elements.", "freeze = [\"layers\"]"),
    ]),
    section("output", "Files of a run. The history, the summary and the log are always written.", vec![
        key("directory", "path", "beside the case file, named after it", "", "The folder for all files of the run.", "directory = \"out/cube\""),
        key("every", "number > 0", "none", "s", "Interval of time between files of fields; the end is written too.", "every = 1.0"),
        key("every_steps", "whole number ≥ 1", "none", "", "Number of steps between files of fields; the end is written too. Excludes `every`; without both only the end is written.", "every_steps = 100"),
        key("fields", "list of strings", "those solved for", "", format!("Fields written.{}", all_fields()), "fields = [\"temperature\"]"),
        words!(OutputFormat, "format", "\"vtu\"", "Form of the files of fields.", "format = \"pvtu\""),
        key("picture", "{ field, slice, range, window, vectors }", "none", "", "A PNG picture of the last state.", "picture = { field = \"temperature\", slice = { axis = \"z\", at = 0.5 } }"),
        key("history_plot", "true | false", "false", "", "A PNG picture of the history, `history.png`: residual and rate of change on a logarithmic axis, iterations, integrals over patches and probes over time, or over steps where the case is steady.", "history_plot = true"),
    ]),
    section("output.picture", "A picture of a field.", vec![
        key("field", "string", "required", "", "One of the fields that can be written, or of an average, as `velocity_mean`; a velocity is shown by its magnitude.", "field = \"temperature\""),
        key("slice", "{ axis, at }", "a 2D mesh whole, a 3D mesh cut halfway along z", "", "The plane shown.", "slice = { axis = \"z\", at = 0.5 }"),
        key("range", "list of 2 numbers", "the values shown", "", "Values at the ends of the colours, in the unit of the field; values beyond have the colour of the end.", "range = [0.0, 1.5]"),
        key("window", "list of 4 numbers", "all of the plane", "m", "The part shown: x0, y0, x1, y1 in the coordinates of the plane.", "window = [0.0, -0.5, 2.0, 0.5]"),
        key("vectors", "true | false", "false", "", "Arrows of the velocity in the plane, at the points of a regular grid; in a picture of a mean velocity they are of this mean. For flow.", "vectors = true"),
    ]),
    section("output.picture.slice", "A plane normal to an axis.", vec![
        key("axis", Axis::WORDS.join(" | "), "required", "", "The normal of the plane.", "axis = \"z\""),
        key("at", "number", "required", "m", "Coordinate of the plane along its normal.", "at = 0.5"),
    ]),
    list("output.probe", "A point with values in `history.csv` and `summary.json`. On the boundary they are the prescribed values.", vec![
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other probe has.", "name = \"centre\""),
        key("at", "list of 2 or 3 numbers", "required", "m", "Its coordinates.", "at = [0.5, 0.5, 0.5]"),
    ]),
    list("output.line", "A line along which the fields are written at the end, to `line_NAME.csv`. A point on the boundary has the prescribed value.", vec![
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other line has.", "name = \"axis\""),
        key("from", "list of 2 or 3 numbers", "required", "m", "First point.", "from = [0.5, 0.5, 0.0]"),
        key("to", "list of 2 or 3 numbers", "required", "m", "Last point.", "to = [0.5, 0.5, 1.0]"),
        key("points", "whole number ≥ 2", "101", "", "Number of points, both ends included.", "points = 101"),
    ]),
    list("output.patch", format!("Integrals over patches.{} `heat_flux` and `flow_rate` are into the domain, a force is that of the fluid on the patches. `strouhal` and the means and maxima of coefficients are those of the last periods, at the end of a run in which the lift oscillates for three periods or more.", all_quantities()), vec![
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other group has.", "name = \"hot\""),
        key("patches", "list of strings", "required", "", "Patches of the mesh, integrated together.", "patches = [\"zmax\"]"),
        key("reference", "table", "none", "", "Reference quantities of forces and heat; without them there are no coefficients. For flow.", "reference = { velocity = 1.0, area = 0.1, length = 0.1 }"),
        key("drag_direction", "list of 2 or 3 numbers", "[1.0, 0.0, 0.0]", "", "Direction of the drag, of any length. For flow.", "drag_direction = [1.0, 0.0, 0.0]"),
        key("lift_direction", "list of 2 or 3 numbers", "[0.0, 1.0, 0.0]", "", "Direction of the lift, of any length. For flow.", "lift_direction = [0.0, 1.0, 0.0]"),
        key("moment_centre", "list of 2 or 3 numbers", "none", "m", "Point about which the moment of the force is taken: `moment_z`, in 3D also `moment_x` and `moment_y`, of pressure and viscous stress; with `reference` `moment_coefficient` M / (½ρU²AL), about the axis drag × lift direction. For walls of a flow, at rest or in uniform motion.", "moment_centre = [0.25, 0.0, 0.0]"),
    ]),
    section("output.patch.reference", "Reference quantities of a group of patches, for flow. A force coefficient is F / (½ρU²A), the Strouhal number fL/U, the Nusselt number qL / (α ΔT) with q the mean heat flux over the heat capacity.", vec![
        key("velocity", "number > 0", "1.0", "m/s", "Speed U.", "velocity = 1.0"),
        key("area", "number > 0", "1.0", "m²", "Area A; in 2D per unit width.", "area = 0.1"),
        key("length", "number > 0", "1.0", "m", "Length L.", "length = 0.1"),
        key("density", "number > 0", "1.0", "kg/m³", "Density ρ.", "density = 1.0"),
        key("pressure", "number", "0.0", "Pa", "Pressure that exerts no force.", "pressure = 0.0"),
        key("temperature_difference", "number > 0", "1.0", "K", "Temperature difference ΔT.", "temperature_difference = 10.0"),
    ]),
    list("output.surface", "Fields on patches: `surface_NAME_0000.vtu` beside each file of fields, with `surface_NAME.pvd`, and at the end `surface_NAME.csv` with the columns x, y, z, area, normal (out of the domain) and the fields; `summary.json` has their mean over the area, least and largest value (`surface.NAME.pressure.max`, vectors by component). Rows are faces of the patches; with `discretization = \"node\"` they are the nodes, each with its part of the area. A heat case has `temperature` and `wall_heat_flux`, the heat flux into the domain. A flow has `pressure` (over the density), `pressure_coefficient`, `wall_shear_stress` (the viscous force of the fluid on the wall, per unit of area and density) and `y_plus` = u_τ y/ν, with u_τ² the tangential part of that stress and y the distance of the cell centre from the wall; with `[incompressible.thermal]` also `temperature` and `wall_heat_flux` over ρc. A compressible flow has `pressure`, `pressure_coefficient`, `temperature`, `mach` and `entropy`; on walls with friction also `wall_shear_stress` (the viscous force of the gas on the wall by area, Pa), `skin_friction_coefficient` (the magnitude of its tangential part over ½ρU² of `reference`), `y_plus` = √(ρ|τ|) y/μ with density and viscosity at the wall, and `wall_heat_flux`. Sums over the rows of heat flux times area, and of pressure times area vector, are the integrals of `[[output.patch]]`; so is the viscous force of a collocated flow on walls at rest, elsewhere up to the discretisation error.", vec![
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other surface has.", "name = \"airfoil\""),
        key("patches", "list of strings", "required", "", "Patches of the mesh.", "patches = [\"airfoil\"]"),
        key("fields", "list of strings", "required", "", "The fields; `wall_shear_stress` and `y_plus` on patches where the velocity is prescribed, of a gas on walls with friction.", "fields = [\"pressure_coefficient\", \"wall_shear_stress\"]"),
        key("reference", "table", "none", "", "Reference quantities of the pressure coefficient. For flow.", "reference = { velocity = 1.0, pressure = 0.0 }"),
    ]),
    section("output.surface.reference", "Reference quantities of the pressure coefficient (p − p₀/ρ) / (½U²), p the pressure over the density; of a compressible flow (p − p₀) / (½ρU²), and of the skin friction coefficient.", vec![
        key("velocity", "number > 0", "1.0", "m/s", "Speed U.", "velocity = 1.0"),
        key("density", "number > 0", "1.0", "kg/m³", "Density ρ.", "density = 1.0"),
        key("pressure", "number", "0.0", "Pa", "Pressure p₀.", "pressure = 0.0"),
    ]),
    list("output.average", "Averages over time, from the step in which `start` lies to the end of the run, weighted by the time step: in the files of fields `FIELD_mean` and with `rms` `FIELD_rms`, with a `name` `FIELD_NAME_mean` and `FIELD_NAME_rms`. `summary.json` has their least, largest and mean value (`fields.velocity_mean_x.max`), and those of fields solved for at each probe (`probe.NAME.velocity_mean_x`). Formulas: `docs/output.md`. An error in a steady case.", vec![
        key("fields", "list of strings", "required", "", "Fields that can be written; `q_criterion` in a collocated flow. `streamfunction`, and `vorticity` of the other schemes, follow from the mean of the fluxes: without `rms`.", "fields = [\"velocity\", \"pressure\"]"),
        key("start", "number ≥ 0", "0.0", "s", "Time from which fields are averaged, before the end of the run.", "start = 10.0"),
        key("rms", "true | false", "false", "", "Also the root mean square of the fluctuations about the mean, of each component.", "rms = true"),
        key("name", "string of letters, digits, `_`, `-`", "none", "", "Part of the names of its results; distinguishes several averages of one field.", "name = \"late\""),
    ]),
    list("output.recirculation", "Reversed flow along a line, as behind a body, in `summary.json`: `separation` and `reattachment` of its longest stretch, as distances from the first point; `separation` is 0 where the stretch begins with the line, both are 0 without reversed flow. For flow; an error in a heat case.", vec![
        key("name", "string of letters, digits, `_`, `-`", "required", "", "Its name, which no other recirculation has.", "name = \"wake\""),
        key("from", "list of 2 or 3 numbers", "required", "m", "First point, at the body.", "from = [0.5, 0.0, 0.0]"),
        key("to", "list of 2 or 3 numbers", "required", "m", "Last point, downstream.", "to = [5.0, 0.0, 0.0]"),
        key("points", "whole number ≥ 2", "1001", "", "Number of points, both ends included.", "points = 1001"),
    ]),
    section("run", "Backend, precision, threads and ranks; the command line takes precedence.", vec![
        words!(BackendKind, "backend", "\"auto\"", "", "backend = \"cpu\""),
        key("precision", Precision::WORDS.join(" | "), "\"f64\"", "", "Precision of the fields.", "precision = \"f64\""),
        key("threads", "whole number", "0", "", "Threads of the CPU, of several processes those of each; 0: all.", "threads = 8"),
        key("ranks", "whole number ≥ 1", "1", "", "Parts of the mesh, which share the threads; results do not depend on it ([ranks](ranks.md)).",
            "ranks = 2"),
        words!(Partition, "partition", "\"hilbert\"", "Which cells each part of the mesh has ([ranks](ranks.md)).", "partition = \"metis\""),
    ]),
    section("checkpoint", "Checkpoints for `karman run --restart`, with the interpolation matrices of multigrid. Needs `[time]`.", vec![
        key("every", "number > 0", "required", "s", "Time between two checkpoints.", "every = 10.0"),
    ]),
    section("exact", "Exact solutions to compare the final state with. Errors l1, l2 and linf go to `summary.json`; l2 = √(ΣV e²/ΣV), absolute.", field_keys::<Exact>("")),
    section("expected", format!("Expected numbers, which `karman test` compares the run with: entries of `summary.json` by their path in quotes, {} PROBE, PATCH and NAME are names of the case, QUANTITY those of `[[output.patch]]`; `errors` has the fields of `[exact]`, of a velocity its components and the vector, `velocity`; the mean of a field is by volume.", all_entries()), vec![
        key("\"PATH\"", "{ value, absolute, relative }", "none", "", "The number at PATH and its tolerance.", "\"probe.centre.temperature\" = { value = 350.0, relative = 1e-3 }"),
    ]),
    section("expected.\"PATH\"", "A number and its tolerance, at least one of `absolute` and `relative`; the larger applies.", vec![
        key("value", "number", "required", "", "The expected value.", "value = 350.0"),
        key("absolute", "number ≥ 0", "none", "", "Largest difference.", "absolute = 0.5"),
        key("relative", "number ≥ 0", "none", "", "Largest difference as a fraction of |value|.", "relative = 1e-3"),
    ]),
]
}
