//! Valid case files and their parsed form.

use super::*;
use crate::backend::BackendKind;
use crate::finite_volume::BoundaryCondition;
use crate::heat::{Discretization, TimeScheme};
use crate::linear::amg::Sparsification;
use crate::linear::{Method, PreconditionerKind};
use crate::mesh::generate::{Element, Generator};

#[test]
fn defaults_of_a_small_case() {
    let case = parse(STEADY).unwrap();
    assert_eq!((case.name.as_str(), case.title.as_str()), ("bar", "bar"));
    assert!(case.is_steady());
    let MeshSource::Generate(Generator::Box(parameters)) = &case.mesh.source else {
        panic!("not a box")
    };
    assert_eq!(parameters.element, Some(Element::Quadrilateral));
    assert_eq!(parameters.origin, [0.0, 0.0]);
    assert_eq!(parameters.cells, [10, 1]);
    let heat = heat(&case);
    assert_eq!(heat.discretization, Discretization::Cell { corrected: true });
    assert_eq!(heat.conductivity.everywhere, Some(Value::Constant(2.0)));
    assert_eq!(heat.volumetric_heat_capacity.of("any"), Some(&Value::Constant(1.0)));
    assert_eq!(heat.source.of("any"), Some(&Value::Constant(0.0)));
    assert_eq!(heat.initial_temperature, Value::Constant(0.0));
    assert_eq!(heat.boundary[0].patch, "xmin");
    assert_eq!(heat.boundary[0].condition, BoundaryCondition::Dirichlet(Value::Constant(300.0)));
    assert_eq!(heat.boundary[1].condition, BoundaryCondition::ZeroGradient);
    assert_eq!(heat.linear_solver.relative_tolerance, 1e-8);
    assert_eq!(case.output.directory, Path::new("folder/out"));
    assert_eq!(case.output.fields, ["temperature"]);
    assert_eq!(case.output.every, OutputInterval::End);
    assert_eq!(case.output.probes[0].at, [0.5, 0.05, 0.0]);
    assert_eq!(case.run.backend, BackendKind::Auto);
    assert!(case.run.checkpoint.is_none() && case.warnings.is_empty());
}

#[test]
fn every_boundary_condition_in_both_spellings() {
    let text = UNSTEADY.replace(
        "xmin.temperature = \"300 + 10*sin(t)\"",
        "a.temperature = \"2*3\"\nb = { heat_flux = -5 }\n\
         c.convection = { coefficient = \"1 + x\", ambient = 20 }\n\
         d = \"symmetry\"\ne.insulated = true\n\"f g\".symmetry = true\n\
         [boundary.h]\ntemperature = 1",
    );
    let case = parse(&text).unwrap();
    let boundary = &heat(&case).boundary;
    let condition = |patch: &str| {
        boundary.iter().find(|entry| entry.patch == patch).map(|entry| &entry.condition).unwrap()
    };
    assert_eq!(condition("a"), &BoundaryCondition::Dirichlet(Value::Constant(6.0)));
    assert_eq!(condition("b"), &BoundaryCondition::Neumann(Value::Constant(-5.0)));
    let BoundaryCondition::Robin { coefficient, ambient } = condition("c") else { panic!() };
    assert_eq!((coefficient.at(&[2.0], 0.0), ambient.at(&[2.0], 0.0)), (3.0, 20.0));
    assert_eq!(condition("d"), &BoundaryCondition::ZeroGradient);
    assert_eq!(condition("e"), &BoundaryCondition::ZeroGradient);
    assert_eq!(condition("f g"), &BoundaryCondition::ZeroGradient);
    assert_eq!(condition("h"), &BoundaryCondition::Dirichlet(Value::Constant(1.0)));
    let order: Vec<&str> = boundary.iter().map(|entry| entry.patch.as_str()).collect();
    assert_eq!(order, ["a", "b", "c", "d", "e", "f g", "h"]);
}

#[test]
fn quantities_by_region() {
    let text = STEADY.replace(
        "conductivity = 2.0",
        "conductivity = { steel = 45, copper = \"390 + x\" }\nsource = { steel = 7 }\n\
         [heat.region.steel]\nvolumetric_heat_capacity = 3.6e6",
    );
    let case = parse(&text).unwrap();
    let heat = heat(&case);
    assert_eq!(heat.conductivity.of("steel"), Some(&Value::Constant(45.0)));
    assert_eq!(heat.conductivity.of("copper").map(|k| k.at(&[1.0, 0.0, 0.0], 0.0)), Some(391.0));
    assert_eq!(heat.conductivity.of("air"), None);
    assert_eq!(heat.conductivity.regions.len(), 2);
    assert_eq!(heat.volumetric_heat_capacity.of("steel"), Some(&Value::Constant(3.6e6)));
    assert_eq!(heat.volumetric_heat_capacity.of("copper"), Some(&Value::Constant(1.0)));
    assert_eq!(heat.source.of("steel"), Some(&Value::Constant(7.0)));
    assert_eq!(heat.source.of("copper"), Some(&Value::Constant(0.0)));
}

#[test]
fn density_times_specific_heat_is_the_heat_capacity() {
    let capacity = |keys: &str| {
        let case = parse(&STEADY.replace("conductivity = 2.0", keys)).unwrap();
        heat(&case).volumetric_heat_capacity.clone()
    };
    let number = |value: &ByRegion, region: &str| value.of(region).map(|v| v.at(&[2.0, 0.0], 0.0));
    let everywhere = capacity("density = 7850\nspecific_heat = 460.0");
    assert_eq!(everywhere.everywhere, Some(Value::Constant(7850.0 * 460.0)));
    let varying = capacity("density = \"1 + x\"\nspecific_heat = \"2*x - 1\"");
    assert_eq!(number(&varying, "any"), Some(9.0));
    let regions = capacity(
        "density = { steel = 8, copper = 9, tin = 7 }\nspecific_heat = { copper = 3, steel = \"x\" }\n\
         [heat.region.tin]\ndensity = 5\nspecific_heat = \"1 + x\"\n\
         [heat.region.air]\nvolumetric_heat_capacity = 4",
    );
    let found = ["steel", "copper", "tin", "air", "lead"].map(|region| number(&regions, region));
    assert_eq!(found, [Some(16.0), Some(27.0), Some(15.0), Some(4.0), None]);
    let one = capacity("density = { steel = 8, copper = 9 }\nspecific_heat = 2.0");
    assert_eq!((number(&one, "steel"), number(&one, "copper")), (Some(16.0), Some(18.0)));
}

#[test]
fn tables_are_read_with_the_case() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ramp.csv"), "t,value\n0,300\n10,400\n").unwrap();
    let text = UNSTEADY.replace("\"300 + 10*sin(t)\"", "{ table = \"ramp.csv\" }");
    let path = folder.path().join("warm.toml");
    std::fs::write(&path, text).unwrap();
    let case = Case::read(&path).unwrap();
    assert_eq!(case.name, "warm");
    assert_eq!(case.output.directory, folder.path().join("warm"));
    let BoundaryCondition::Dirichlet(value) = &heat(&case).boundary[0].condition else { panic!() };
    assert!(value.depends_on_time());
    assert_eq!(value.at(&[], 5.0), 350.0);
    let mut out = [0.0; 3];
    value.evaluate_many(&[0.0; 9], 2.5, &mut out);
    assert_eq!(out, [325.0; 3]);
}

#[test]
fn values_at_many_points() {
    let mut out = [0.0; 2];
    Value::Constant(4.0).evaluate_many(&[0.0; 6], 0.0, &mut out);
    assert_eq!(out, [4.0, 4.0]);
    let case = parse(UNSTEADY).unwrap();
    let BoundaryCondition::Dirichlet(value) = &heat(&case).boundary[0].condition else { panic!() };
    value.evaluate_many(&[0.0; 6], 0.0, &mut out);
    assert_eq!(out, [300.0, 300.0]);
    assert_eq!(value.constant(), None);
}

#[test]
fn expectations_are_met_within_the_larger_tolerance() {
    let text = format!(
        "{STEADY}[exact]\ntemperature = \"300\"\n[expected]\n\
         \"probe.middle.temperature\" = {{ value = 300, absolute = 0.1, relative = 1e-2 }}\n\
         \"patch.left.heat_flux\" = {{ value = -2, relative = 0.5 }}\n\
         \"fields.temperature.mean\" = {{ value = 300, absolute = 1 }}\n\
         \"errors.temperature.linf\" = {{ value = 0, absolute = 1e-9 }}\n\
         \"mesh.cells\" = {{ value = 10, absolute = 0 }}"
    );
    let case = parse(&text).unwrap();
    let tolerances: Vec<f64> = case.expected.iter().map(|entry| entry.tolerance).collect();
    assert_eq!(tolerances, [3.0, 1.0, 1.0, 1e-9, 0.0]);
    let expectation = &case.expected[0];
    assert!(expectation.is_met(303.0) && !expectation.is_met(303.1));
    assert!(!expectation.is_met(f64::NAN));
    assert!(case.expected[4].is_met(10.0) && !case.expected[4].is_met(11.0));
    assert_eq!(case.exact[0].value, Value::Constant(300.0));
}

#[test]
fn every_generator() {
    let generator = |stanza: &str| {
        let start = STEADY.find("[mesh").unwrap();
        let end = STEADY.find("[heat]").unwrap();
        let text = format!("{}{stanza}\n{}", &STEADY[..start], &STEADY[end..]);
        match parse(&text).unwrap().mesh.source {
            MeshSource::Generate(generator) => generator,
            MeshSource::File(path) => panic!("{}", path.display()),
        }
    };
    let obstacle = generator(
        "[mesh.generate.box_with_obstacle]\nsize = [4, 2, 1]\ncells = [40, 20, 1]\n\
         element = \"prism\"\njitter = 0.1\nseed = 9\ngrading = [1, 2, 1]\nwall_grading = [3, 1, 1]\n\
         obstacle_min = [1, 0.5]\nobstacle_max = [2, 1.5]",
    );
    let Generator::BoxWithObstacle(obstacle) = obstacle else { panic!() };
    assert_eq!((obstacle.obstacle_min, obstacle.outer.seed), ([1.0, 0.5], 9));
    assert_eq!(obstacle.outer.wall_grading, [3.0, 1.0, 1.0]);
    assert_eq!((obstacle.outer.element, obstacle.outer.jitter), (Some(Element::Prism), 0.1));
    let cylinder = generator(
        "[mesh.generate.cylinder_in_channel]\nlength = 2.2\nheight = 0.41\ncentre = [0.2, 0.2]\n\
         diameter = 0.1\ncells_around = 64\ncells_radial = 16\ncells_wake = 40",
    );
    let Generator::CylinderInChannel(cylinder) = cylinder else { panic!() };
    assert_eq!((cylinder.width, cylinder.element), (None, Some(Element::Quadrilateral)));
    let channel = "[mesh.generate.cylinder_in_channel]\nlength = 2.2\nheight = 0.41\n\
                   centre = [0.2, 0.2]\ndiameter = 0.1\ncells_around = 16\ncells_radial = 4\n\
                   cells_wake = 6\nwidth = 0.3";
    for (key, cells) in [("", 8), ("\ncells_width = 3", 3)] {
        let cylinder = generator(&format!("{channel}{key}"));
        let layer = 16 * 4 + 4 * 6;
        assert_eq!(cylinder.generate().unwrap().cells.len(), layer * cells);
    }
    let sphere = generator(
        "[mesh.generate.sphere_in_box]\nsize = [4, 4, 4]\ncentre = [2, 2, 2]\ndiameter = 1\n\
         surface_size = 0.1\nfar_size = 1\nlayers = 3",
    );
    let Generator::SphereInBox(sphere) = sphere else { panic!() };
    assert_eq!((sphere.layers, sphere.element), (3, Some(Element::Tetrahedron)));
    let annulus =
        generator("[mesh.generate.annulus]\ninner = 1\nouter = 2\nlength = 1\ncells = [8, 32, 4]");
    let Generator::Annulus(annulus) = annulus else { panic!() };
    assert_eq!((annulus.length, annulus.element), (Some(1.0), Some(Element::Hexahedron)));
}

#[test]
fn all_sections_at_once() {
    let text = format!(
        "{}steady_tolerance = 1e-7\nmethod = \"bdf2\"\n[linear_solver]\nmethod = \"fgmres\"\n\
         preconditioner = \"gauss_seidel\"\nmax_iterations = 9\n[linear_solver.amg]\n\
         sparsification = {{ beta = 0.2, symmetric = true }}\nsweeps = [2, 0]\n[output]\n\
         every = 0.5\npicture = {{ field = \"temperature\", slice = {{ axis = \"z\", at = 0 }} }}\n\
         [[output.line]]\nname = \"axis\"\nfrom = [0, 0]\nto = [1, 0]\n[run]\nbackend = \"cpu\"\n\
         precision = \"f32\"\nthreads = 3\nranks = 2\n[checkpoint]\nevery = 1\n",
        UNSTEADY.replace("step = 0.1", "cfl = 2")
    );
    let case = parse(&text).unwrap();
    let time = case.time.as_ref().unwrap();
    assert_eq!((heat(&case).time_scheme, time.step), (TimeScheme::Bdf2, TimeStep::Cfl(2.0)));
    assert_eq!((time.end, time.steady_tolerance), (1.0, Some(1e-7)));
    let solver = &heat(&case).linear_solver;
    assert_eq!(solver.method, Some(Method::Fgmres));
    assert_eq!(solver.preconditioner, PreconditionerKind::GaussSeidel);
    let multigrid = parse(&text.replace("gauss_seidel", "amg")).unwrap();
    let mut solver = heat(&multigrid).linear_solver.clone();
    let amg = solver.preconditioner.amg_mut().unwrap();
    let dropping = Sparsification { beta: 0.2, increment: 1.0, symmetric: true };
    assert_eq!(amg.sparsification, Some(dropping));
    assert_eq!(amg.cycling.sweeps, [2, 0]);
    assert_eq!(case.output.every, OutputInterval::Time(0.5));
    let picture = case.output.picture.unwrap();
    assert_eq!(picture.slice, Some(Slice { axis: Axis::Z, at: 0.0 }));
    assert_eq!(case.output.lines[0].points, 101);
    assert_eq!((case.run.precision, case.run.threads, case.run.ranks), (Precision::F32, 3, 2));
    assert_eq!(case.run.checkpoint, Some(CheckpointCase { every: 1.0 }));
    insta::assert_snapshot!(case.warnings[0].to_string(), @r#"
    folder/bar.toml:18:1: [linear_solver.amg] has no effect: the preconditioner is "gauss_seidel"
       |
    18 | [linear_solver.amg]
       | ^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn words_and_choices_correspond() {
    for word in Method::WORDS {
        assert_eq!(Method::from_word(word).map(Method::word), Some(*word));
    }
    for word in PreconditionerKind::WORDS {
        let kind = PreconditionerKind::from_word(word);
        assert_eq!(kind.map(PreconditionerKind::word), Some(*word));
    }
    assert_eq!(BackendKind::from_word("gpu"), None);
    assert_eq!(BackendKind::WORDS.len(), 6);
}

/// Every key of a heat case in one file.
#[test]
fn the_full_example_of_a_heat_case() {
    let text = r#"
title = "Unit cube, one hot face"

[mesh]
scale = 1.0
renumber = "auto"

[mesh.generate.box]
origin = [0.0, 0.0, 0.0]
size = [1.0, 1.0, 1.0]
cells = [20, 20, 20]
element = "tetrahedron"
jitter = 0.2
seed = 1
grading = [1.0, 1.0, 1.0]

[heat]
discretization = "cell"
conductivity = 1.0
volumetric_heat_capacity = 1.0
source = 0.0
nonorthogonal_correction = true

[initial]
temperature = 300.0

[boundary]
zmax.temperature = 600.0
zmin = "insulated"
xmin.convection = { coefficient = 5.0, ambient = "300 + t" }
xmax.heat_flux = 1.0
ymin = "symmetry"
ymax = { temperature = "if(z > 0.5, 600, 300)" }

[time]
method = "crank_nicolson"
step = 0.01
end = 240.0
steady_tolerance = 1e-7

[linear_solver]
method = "auto"
preconditioner = "auto"
relative_tolerance = 1e-8
max_iterations = 500

[linear_solver.amg]
coarsening = "pmis"
strength = 0.25
boundary_weight = 1.0
sparsification = "none"
smoother = "l1_jacobi"
sweeps = [1, 1]
cycle = "v"
hierarchy_precision = "f32"

[output]
directory = "out/cube"
every = 1.0
fields = ["temperature"]
picture = { field = "temperature", slice = { axis = "z", at = 0.5 } }

[[output.probe]]
name = "centre"
at = [0.5, 0.5, 0.5]

[[output.line]]
name = "vertical"
from = [0.5, 0.5, 0.0]
to = [0.5, 0.5, 1.0]
points = 101

[[output.patch]]
name = "hot"
patches = ["zmax"]

[run]
backend = "auto"
precision = "f64"
threads = 0
ranks = 1

[checkpoint]
every = 10.0

[exact]
temperature = "sin(pi*x)"

[expected]
"probe.centre.temperature" = { value = 350.0, relative = 1e-3 }
"errors.temperature.linf" = { value = 0.0, absolute = 0.5 }
"#;
    let case = parse(text).unwrap();
    assert_eq!(case.expected.len(), 2);
    assert_eq!(heat(&case).boundary.len(), 6);
    assert_eq!(case.output.directory, Path::new("folder/out/cube"));
}
