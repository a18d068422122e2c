//! The reference is complete: every key documented, every documented key read.

use super::super::{
    Case, CaseFile, adapt, amg, average, boundary, compressible, exact, expected, heat,
    incompressible, patch_group, recirculation,
};
use super::super::{HeatCondition, Value};
use super::super::{
    initial, linear_solver, mesh, output, picture, run, steady, surface, templates, time, value,
};
use super::*;
use crate::descriptor::{ConditionKey, Form};
use crate::incompressible::FlowBoundaryCondition;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::path::Path;

/// Finds the keys that a type reads: a deserializer that returns the fields as an error.
struct Keys;

#[derive(Debug)]
struct Fields(&'static [&'static str]);

impl std::fmt::Display for Fields {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}

impl std::error::Error for Fields {}

impl de::Error for Fields {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Fields(&[])
    }
}

impl<'de> Deserializer<'de> for Keys {
    type Error = Fields;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fields> {
        Err(Fields(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Fields> {
        Err(Fields(fields))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn keys_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    match T::deserialize(Keys) {
        Err(Fields(fields)) if !fields.is_empty() => fields,
        _ => panic!("not a struct"),
    }
}

/// Sections with keys named by the user.
const FREE: [&str; 2] = ["boundary", "expected"];

/// The tables of conditions and their entries, which the reader takes from the same list.
fn tables<C>(
    keys: &'static [ConditionKey<Value, C>],
) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    keys.iter().filter_map(|key| {
        let Form::Table(table) = key.form() else { return None };
        let names: Vec<&str> = table.entries.iter().map(|entry| entry.name).collect();
        Some((table.section, &*names.leak()))
    })
}

fn accepted() -> Vec<(&'static str, &'static [&'static str])> {
    let structs = vec![
        ("", keys_of::<CaseFile>()),
        ("mesh", keys_of::<mesh::MeshFile>()),
        ("mesh.generate", keys_of::<mesh::GenerateFile>()),
        ("mesh.generate.box", keys_of::<mesh::BoxFile>()),
        ("mesh.generate.box_with_obstacle", keys_of::<mesh::BoxWithObstacleFile>()),
        ("mesh.generate.cylinder_in_channel", keys_of::<mesh::CylinderInChannelFile>()),
        ("mesh.generate.sphere_in_box", keys_of::<mesh::SphereInBoxFile>()),
        ("mesh.generate.annulus", keys_of::<mesh::AnnulusFile>()),
        ("heat", keys_of::<heat::HeatFile>()),
        ("heat.region.NAME", keys_of::<heat::HeatRegionFile>()),
        ("incompressible", keys_of::<incompressible::IncompressibleFile>()),
        ("incompressible.thermal", keys_of::<incompressible::ThermalFile>()),
        ("incompressible.pressure", keys_of::<linear_solver::LinearSolverFile>()),
        ("incompressible.momentum", keys_of::<linear_solver::LinearSolverFile>()),
        ("compressible", keys_of::<compressible::CompressibleFile>()),
        ("compressible.viscous", keys_of::<compressible::ViscousFile>()),
        ("compressible.viscous.sutherland", keys_of::<compressible::SutherlandFile>()),
        ("boundary.PATCH.STATE", keys_of::<boundary::StateFile>()),
        ("initial", keys_of::<initial::InitialFile>()),
        ("boundary.PATCH", keys_of::<boundary::PatchTableFile>()),
        ("time", keys_of::<time::TimeFile>()),
        ("steady", keys_of::<steady::SteadyFile>()),
        ("linear_solver", keys_of::<linear_solver::LinearSolverFile>()),
        ("linear_solver.amg", keys_of::<amg::AmgFile>()),
        ("linear_solver.amg.sparsification", keys_of::<amg::SparsificationTableFile>()),
        ("adapt", keys_of::<adapt::AdaptFile>()),
        ("output", keys_of::<output::OutputFile>()),
        ("output.picture", keys_of::<picture::PictureFile>()),
        ("output.picture.slice", keys_of::<picture::SliceFile>()),
        ("output.probe", keys_of::<output::ProbeFile>()),
        ("output.line", keys_of::<output::LineFile>()),
        ("output.patch", keys_of::<patch_group::PatchGroupFile>()),
        ("output.patch.reference", keys_of::<patch_group::ReferenceFile>()),
        ("output.average", keys_of::<average::AverageFile>()),
        ("output.surface", keys_of::<surface::SurfaceFile>()),
        ("output.surface.reference", keys_of::<surface::SurfaceReferenceFile>()),
        ("output.recirculation", keys_of::<recirculation::RecirculationFile>()),
        ("run", keys_of::<run::RunFile>()),
        ("checkpoint", keys_of::<run::CheckpointFile>()),
        ("exact", keys_of::<exact::ExactFile>()),
        ("expected.\"PATH\"", keys_of::<expected::ExpectationFile>()),
    ];
    let of_flow = tables(FlowBoundaryCondition::<Value>::KEYS);
    structs.into_iter().chain(tables(HeatCondition::KEYS)).chain(of_flow).collect()
}

#[test]
fn every_key_that_is_read_is_documented() {
    for (path, keys) in accepted() {
        for key in keys {
            let nested = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
            let as_section = sections(&nested).next().is_some();
            let section = SECTIONS.iter().find(|section| section.path == path);
            let as_key =
                section.is_some_and(|section| section.keys.iter().any(|known| known.name == *key));
            assert!(as_section || as_key, "{nested} is not documented");
        }
    }
    assert_eq!(keys_of::<value::TableFile>(), ["table"]);
}

#[test]
fn every_key_that_is_documented_is_read() {
    let accepted = accepted();
    for section in SECTIONS.iter() {
        let keys = accepted.iter().find(|(path, _)| *path == section.path).map(|(_, keys)| keys);
        if let Some(keys) = keys {
            for key in &section.keys {
                assert!(keys.contains(&key.name), "[{}] does not read {}", section.path, key.name);
            }
        } else {
            let free = FREE.contains(&section.path) || section.keys.is_empty();
            assert!(free, "[{}] is read by nothing", section.path);
        }
    }
}

#[test]
fn words_have_their_meanings() {
    let key = |path: &str, name: &str| {
        let section = SECTIONS.iter().find(|section| section.path == path).unwrap();
        section.keys.iter().find(|key| key.name == name).unwrap()
    };
    let convection = key("incompressible", "convection");
    assert_eq!(convection.kind, "linear_upwind | central | cubic | upwind | limited_linear");
    let meaning = " `upwind`: The value of the upstream cell: first order. `limited_linear`";
    assert!(convection.meaning.contains(meaning));
    let method = key("time", "method");
    assert_eq!(
        method.kind,
        "heat: backward_euler | crank_nicolson | bdf2; flow: ab2_cn | bdf2 | rk3; \
         compressible flow: euler | ssp_rk2 | ssp_rk3 | rk4"
    );
    // One paragraph of the documentation of a variant.
    assert!(
        method
            .meaning
            .contains("`crank_nicolson`: Second order; does not damp high frequencies. `bdf2`")
    );
    let precision = key("linear_solver.amg", "hierarchy_precision");
    assert_eq!((&*precision.kind, &*precision.default), ("f64 | f32", "\"f32\""));
}

/// A case with its settings in one line each, so that a key can be added at the end of a section.
fn settings(case: &Case) -> String {
    format!("{:?} {:?} {:?} {:?} {:?}", case.mesh, case.equation, case.time, case.output, case.run)
}

/// Writes each documented default into a case that leaves it out and checks that nothing changes; returns their
/// number.
fn matching_defaults(base: &str) -> usize {
    let parse = |text: &str| Case::parse(text, Path::new(""), "a.toml").unwrap();
    let expected = settings(&parse(base));
    let mut checked = 0;
    for section in SECTIONS.iter() {
        let header = format!("{}\n", section.header());
        for key in &section.keys {
            let literal = key.default.starts_with(['"', '[', '0', '1', '2', '5', 't']);
            let is_toml =
                literal && toml::from_str::<toml::Table>(&format!("a = {}", key.default)).is_ok();
            let line = format!("{} = {}\n", key.name, key.default);
            let text = if section.path == "mesh" {
                base.replacen("[mesh.", &format!("[mesh]\n{line}[mesh."), 1)
            } else {
                base.replacen(&header, &format!("{header}{line}"), 1)
            };
            if is_toml && text != base {
                assert_eq!(settings(&parse(&text)), expected, "[{}] {}", section.path, key.name);
                checked += 1;
            }
        }
    }
    checked
}

#[test]
fn documented_defaults_are_the_defaults() {
    let heat = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [2, 2]\n[heat]\n[initial]\n\
                temperature = 1.0\n[time]\nstep = 1.0\nend = 2.0\n[linear_solver]\n\
                [linear_solver.amg]\n[output]\n[run]\n";
    assert_eq!(matching_defaults(heat), 29);
    let flow = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [2, 2]\n[incompressible]\n\
                kinematic_viscosity = 1.0\n[incompressible.thermal]\ndiffusivity = 1.0\n\
                [incompressible.pressure]\n[incompressible.momentum]\n[initial]\n\
                temperature = 1.0\n[time]\nstep = 1.0\nend = 2.0\n[run]\n\
                [[output.patch]]\nname = \"a\"\npatches = [\"xmin\"]\n[output.patch.reference]\n\
                [[output.recirculation]]\nname = \"a\"\nfrom = [0.0, 0.0]\nto = [1.0, 0.0]\n";
    assert_eq!(matching_defaults(flow), 35);
}

#[test]
fn examples_are_toml() {
    for section in SECTIONS.iter() {
        for key in &section.keys {
            let example = toml::from_str::<toml::Table>(key.example);
            assert!(example.is_ok(), "{}: {example:?}", key.example);
        }
    }
}

#[test]
fn help_for_all_and_for_one_section() {
    let all = help(None).unwrap();
    assert!(all.contains("[linear_solver.amg]") && all.contains("tanh"));
    assert!(all.lines().all(|line| line.chars().count() <= 120));
    let generators = help(Some("[mesh]")).unwrap();
    assert!(generators.contains("[mesh.generate.annulus]") && !generators.contains("[heat]"));
    assert_eq!(help(Some("hea")), None);
    insta::assert_snapshot!(help(Some("checkpoint")).unwrap(), @"
    [checkpoint]
      Checkpoints for karman run --restart, with the interpolation matrices of multigrid. Needs
      [time].

      every : number > 0 [s]
          default: required
          Time between two checkpoints.
          every = 10.0
    ");
}

/// Set `KARMAN_WRITE_DOCS=1` to write the page.
#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cases.md");
    if std::env::var_os("KARMAN_WRITE_DOCS").is_some() {
        std::fs::write(&path, markdown()).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page == markdown(), "run the tests with KARMAN_WRITE_DOCS=1 to update docs/cases.md");
}

#[test]
fn templates_and_cases_are_valid() {
    for template in templates::templates() {
        let folder = tempfile::tempdir().unwrap();
        let files = template.write(folder.path(), "mine").unwrap();
        assert_eq!(files.len(), 1 + template.companions.len());
        if let Err(error) = Case::read(&files[0]) {
            panic!("{}: {error}", template.name);
        }
        let again = template.write(folder.path(), "mine").unwrap_err().to_string();
        assert!(again.ends_with("mine.toml exists already"), "{again}");
    }
    insta::assert_snapshot!(templates::find("pipe").unwrap_err(), @"there is no template `pipe`; templates: heat, heat_unsteady, heat_regions, heat_exact, cavity, channel, step, vortex, shock_tube");
    assert_eq!(templates::find("heat").unwrap().name, "heat");

    for (folder, least) in [("heat", 9), ("incompressible", 10), ("compressible", 6)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(folder);
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                match Case::read(&path) {
                    Ok(case) => {
                        assert!(!case.expected.is_empty(), "{} expects nothing", path.display())
                    }
                    Err(error) => panic!("{error}"),
                }
                count += 1;
            }
        }
        assert!(count >= least);
    }
}

#[test]
fn a_template_that_cannot_be_written_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let error = templates::find("heat").unwrap().write(&blocked, "mine").unwrap_err().to_string();
    assert!(error.starts_with("cannot write "), "{error}");
}
