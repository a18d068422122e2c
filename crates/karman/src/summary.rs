//! `summary.json`: description, cost and results of a run.

use std::path::Path;

use crate::mesh::files::write_complete;
use crate::mesh::{CellShape, Mesh};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Named entries in the order of insertion, written as a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedList<T>(Vec<(String, T)>);

impl<T> Default for NamedList<T> {
    fn default() -> Self {
        NamedList(Vec::new())
    }
}

impl<T> NamedList<T> {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the entry of this name; a new one is appended.
    pub fn set(&mut self, name: impl Into<String>, value: T) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The entry of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Names and entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl NamedList<f64> {
    /// Adds to the entry of this name, which starts from 0.
    pub fn add(&mut self, name: &str, value: f64) {
        let sum = self.get(name).copied().unwrap_or(0.0) + value;
        self.set(name, sum);
    }
}

impl<T, N: Into<String>> FromIterator<(N, T)> for NamedList<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        let mut list = NamedList::new();
        entries.into_iter().for_each(|(name, value)| list.set(name, value));
        list
    }
}

impl<T: Serialize> Serialize for NamedList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The whole of `summary.json`. Numbers that are not finite are written as `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the case.
    pub case: String,
    /// Version of karman.
    pub version: String,
    /// Kind of backend.
    pub backend: String,
    /// The processor.
    pub device: String,
    /// `f64` or `f32`.
    pub precision: String,
    /// Host threads.
    pub threads: usize,
    /// Processes.
    pub ranks: usize,
    /// Counts of the mesh.
    pub mesh: MeshSummary,
    /// Time integration.
    pub time: TimeSummary,
    /// The linear solver, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<LinearSummary>,
    /// Seconds of each phase, in order: `mesh`, `geometry`, `discretization`, the steps, `output`. Steps are
    /// one phase, `solve`; of a flow the solves of a temperature are `energy`, those of the predictor `momentum`,
    /// those of the projection `pressure`, and the rest is `other`: gradients, convection,
    /// residuals, fluxes, set-ups for a new time step. On a device the time of a solve includes the work
    /// enqueued before it, since the host waits for the device only where it reads numbers.
    pub phases: NamedList<f64>,
    /// Adaptations of the mesh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptation: Option<AdaptationSummary>,
    /// Speed.
    pub throughput: ThroughputSummary,
    /// Memory.
    pub memory: MemorySummary,
    /// Field values of each probe at the end.
    pub probe: NamedList<NamedList<f64>>,
    /// Quantities of each group of patches at the end.
    pub patch: NamedList<NamedList<f64>>,
    /// Mean over the area, smallest and largest value of the fields of each surface at the end.
    #[serde(skip_serializing_if = "NamedList::is_empty")]
    pub surface: NamedList<NamedList<FieldSummary>>,
    /// Separation and reattachment of reversed flow along each line, as distances from its first point.
    #[serde(skip_serializing_if = "NamedList::is_empty")]
    pub recirculation: NamedList<NamedList<f64>>,
    /// Integral quantities of a flow at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowSummary>,
    /// Mean, smallest and largest value of each field at the end.
    pub fields: NamedList<FieldSummary>,
    /// Differences from exact solutions.
    pub errors: NamedList<ErrorSummary>,
    /// Warnings: mesh faults, settings without effect, numerical limits.
    pub warnings: Vec<String>,
    /// Outcome of the run: `converged`, `finished`, `diverged`, `interrupted` …
    pub outcome: String,
    /// The outcome in a sentence.
    pub message: String,
}

/// Counts of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MeshSummary {
    /// 2 or 3.
    pub dimension: usize,
    /// Nodes.
    pub nodes: usize,
    /// Edges.
    pub edges: usize,
    /// Faces.
    pub faces: usize,
    /// Cells.
    pub cells: usize,
    /// Cells of each shape that occurs.
    pub by_element: NamedList<usize>,
    /// Faces of each patch.
    pub patches: NamedList<usize>,
}

impl MeshSummary {
    /// Counts the entities of a mesh.
    pub fn of(mesh: &Mesh) -> MeshSummary {
        let count = |shape: CellShape| mesh.cells.shapes.iter().filter(|s| **s == shape).count();
        let by_element = CellShape::ALL.map(|shape| (shape.name(), count(shape)));
        let patches = mesh.patches.iter().map(|patch| (&patch.name, patch.faces.len()));
        MeshSummary {
            dimension: mesh.dimension,
            nodes: mesh.n_nodes(),
            edges: mesh.count_edges(),
            faces: mesh.n_faces(),
            cells: mesh.n_cells(),
            by_element: by_element.into_iter().filter(|(_, count)| *count > 0).collect(),
            patches: patches.collect(),
        }
    }
}

/// Time integration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimeSummary {
    /// Steps taken; of a steady run, corrector passes.
    pub steps: u64,
    /// Final time; 0 of a steady run.
    pub end: f64,
}

/// Linear systems solved. Numbers that a method does not have are `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinearSummary {
    /// The Krylov method.
    pub method: String,
    /// Its preconditioner.
    pub preconditioner: String,
    /// Systems solved.
    pub solves: u64,
    /// Iterations of all solves.
    pub iterations: u64,
    /// Iterations of the last solve.
    pub last_iterations: u64,
    /// ‖b − A x‖ / ‖b‖ of the last solve.
    pub relative_residual: f64,
    /// Geometric mean of the residual reduction per iteration, of the last solve.
    pub convergence_factor: f64,
    /// Levels of a multigrid hierarchy.
    pub levels: Option<u64>,
    /// Nonzeros of all levels over those of the finest.
    pub operator_complexity: Option<f64>,
    /// Unknowns of all levels over those of the finest.
    pub grid_complexity: Option<f64>,
    /// Cost of a residual reduction by 10, in applications of the finest matrix.
    pub work_units: Option<f64>,
    /// Seconds of the last set-up.
    pub setup_seconds: f64,
    /// Seconds of solving.
    pub solve_seconds: f64,
}

/// Adaptations of the mesh in a run, and their cost beside the steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AdaptationSummary {
    /// Their number.
    pub count: usize,
    /// Seconds of metrics.
    pub metric_seconds: f64,
    /// Seconds of changes of the mesh.
    pub mesh_seconds: f64,
    /// Seconds of the search of intersections of cells.
    pub transfer_seconds: f64,
    /// Seconds of the set-up of the equation on new meshes, with the transfer of its fields.
    pub setup_seconds: f64,
    /// Seconds of all steps.
    pub step_seconds: f64,
}

/// Speed of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThroughputSummary {
    /// Cells times steps, over the seconds of the steps.
    pub cell_steps_per_second: f64,
    /// Least memory traffic of the kernels in bytes, if counted.
    pub bytes_moved: Option<u64>,
    /// Bandwidth relative to that of a copy on this machine, if measured.
    pub percent_of_copy_bandwidth: Option<f64>,
}

/// Memory of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemorySummary {
    /// Peak resident bytes on the host, if the system reports them.
    pub peak_host_bytes: Option<u64>,
    /// Peak bytes reserved on the device; 0 without a device.
    pub peak_device_bytes: u64,
}

/// Statistics of a field over the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FieldSummary {
    /// Mean weighted by volume, of a surface by area.
    pub mean: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

/// Integral quantities of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FlowSummary {
    /// Of an incompressible flow.
    Incompressible(IncompressibleSummary),
    /// Of a compressible flow.
    Compressible(GasSummary),
}

/// Integral quantities and stencils of a compressible flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GasSummary {
    /// Σ V ρ, kg.
    pub mass: f64,
    /// Σ V ρE, J.
    pub energy: f64,
    /// Σ V ½|ρu|²/ρ, J.
    pub kinetic_energy: f64,
    /// Courant number of the last step.
    pub courant: f64,
    /// Numbers of cells by size of the stencil of their polynomial; without polynomials empty.
    pub stencil_sizes: NamedList<usize>,
}

/// Integral quantities of an incompressible flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct IncompressibleSummary {
    /// Σ V u²/2.
    pub kinetic_energy: f64,
    /// Largest |D F| / V over the largest Σ|F| / 2V.
    pub divergence_max: f64,
    /// Courant number: largest Σ|F| / 2V times the time step.
    pub courant: f64,
    /// The force that keeps the mean velocity, one entry a component.
    #[serde(flatten)]
    pub mean_force: MeanForce,
}

/// Names of the components of the force that keeps a mean velocity.
pub const MEAN_FORCE: [&str; 3] = ["mean_force_x", "mean_force_y", "mean_force_z"];

/// A uniform force per unit of mass; without entries where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanForce {
    /// Its components.
    pub components: Option<[f64; 3]>,
    /// 2 or 3.
    pub dimension: usize,
}

impl Serialize for MeanForce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = self.components.iter().flatten().zip(MEAN_FORCE).take(self.dimension);
        serializer.collect_map(named.map(|(force, name)| (name, force)))
    }
}

/// Norms of a field's error e against an exact solution, by cell or node with its volume V.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ErrorSummary {
    /// Σ V |e| / Σ V
    pub l1: f64,
    /// √(Σ V e² / Σ V)
    pub l2: f64,
    /// max |e|
    pub linf: f64,
}

impl Summary {
    /// Writes the file; it appears under its name only when complete.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        write_complete(path, |partial| std::fs::write(partial, text))
    }
}

/// Peak resident bytes of this process, read from `/proc` (Linux); none elsewhere.
pub fn peak_host_bytes() -> Option<u64> {
    peak_of_status(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_of_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Summary {
        Summary {
            case: "cube".into(),
            version: "0.1.0".into(),
            backend: "cpu".into(),
            device: "2 host threads".into(),
            precision: "f64".into(),
            threads: 2,
            ranks: 1,
            mesh: MeshSummary {
                dimension: 3,
                nodes: 27,
                edges: 54,
                faces: 36,
                cells: 8,
                by_element: [("hexahedron", 8)].into_iter().collect(),
                patches: [("zmin", 4), ("xmin", 4)].into_iter().collect(),
            },
            time: TimeSummary { steps: 1, end: 0.0 },
            linear: Some(LinearSummary {
                method: "cg".into(),
                preconditioner: "jacobi".into(),
                solves: 1,
                iterations: 12,
                last_iterations: 12,
                relative_residual: 1e-9,
                convergence_factor: f64::NAN,
                ..Default::default()
            }),
            adaptation: None,
            phases: [("mesh", 0.25), ("solve", 0.5)].into_iter().collect(),
            throughput: ThroughputSummary { cell_steps_per_second: 16.0, ..Default::default() },
            memory: MemorySummary { peak_host_bytes: Some(1 << 20), peak_device_bytes: 0 },
            probe: [("centre", [("temperature", 350.0)].into_iter().collect())]
                .into_iter()
                .collect(),
            patch: [("hot", [("area", 1.0), ("heat_flux", 2.5)].into_iter().collect())]
                .into_iter()
                .collect(),
            fields: [("temperature", FieldSummary { mean: 350.0, min: 300.0, max: 600.0 })]
                .into_iter()
                .collect(),
            surface: NamedList::new(),
            recirculation: NamedList::new(),
            flow: None,
            warnings: vec!["a warning".into()],
            errors: [("temperature", ErrorSummary { l1: 0.1, l2: 0.2, linf: 0.5 })]
                .into_iter()
                .collect(),
            outcome: "converged".into(),
            message: "the residual fell below 1e-8".into(),
        }
    }

    #[test]
    fn the_file_has_the_keys_of_the_contract_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.json");
        example().write(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let text = std::fs::read_to_string(&path).unwrap();
        insta::assert_snapshot!(text, @r#"
        {
          "case": "cube",
          "version": "0.1.0",
          "backend": "cpu",
          "device": "2 host threads",
          "precision": "f64",
          "threads": 2,
          "ranks": 1,
          "mesh": {
            "dimension": 3,
            "nodes": 27,
            "edges": 54,
            "faces": 36,
            "cells": 8,
            "by_element": {
              "hexahedron": 8
            },
            "patches": {
              "zmin": 4,
              "xmin": 4
            }
          },
          "time": {
            "steps": 1,
            "end": 0.0
          },
          "linear": {
            "method": "cg",
            "preconditioner": "jacobi",
            "solves": 1,
            "iterations": 12,
            "last_iterations": 12,
            "relative_residual": 1e-9,
            "convergence_factor": null,
            "levels": null,
            "operator_complexity": null,
            "grid_complexity": null,
            "work_units": null,
            "setup_seconds": 0.0,
            "solve_seconds": 0.0
          },
          "phases": {
            "mesh": 0.25,
            "solve": 0.5
          },
          "throughput": {
            "cell_steps_per_second": 16.0,
            "bytes_moved": null,
            "percent_of_copy_bandwidth": null
          },
          "memory": {
            "peak_host_bytes": 1048576,
            "peak_device_bytes": 0
          },
          "probe": {
            "centre": {
              "temperature": 350.0
            }
          },
          "patch": {
            "hot": {
              "area": 1.0,
              "heat_flux": 2.5
            }
          },
          "fields": {
            "temperature": {
              "mean": 350.0,
              "min": 300.0,
              "max": 600.0
            }
          },
          "errors": {
            "temperature": {
              "l1": 0.1,
              "l2": 0.2,
              "linf": 0.5
            }
          },
          "warnings": [
            "a warning"
          ],
          "outcome": "converged",
          "message": "the residual fell below 1e-8"
        }
        "#);
        assert!(example().write(&folder.path().join("none/summary.json")).is_err());
    }

    #[test]
    fn the_entities_of_a_mesh_are_counted() {
        let counts = |text: &str| {
            let case = crate::case::MeshCase::parse(text, Path::new(""), "m").unwrap();
            MeshSummary::of(&crate::mesh_source::mesh(&case).unwrap())
        };
        let cube = counts("[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [3, 4, 5]\n");
        assert_eq!(
            (cube.nodes, cube.cells, cube.faces),
            (120, 60, 4 * 4 * 5 + 3 * 5 * 5 + 3 * 4 * 6)
        );
        // Lines along x, y and z.
        assert_eq!(cube.edges, 3 * 5 * 6 + 4 * 4 * 6 + 4 * 5 * 5);
        assert_eq!(cube.by_element, [("hexahedron", 60)].into_iter().collect());
        assert_eq!(cube.patches.get("xmin"), Some(&20));
        let square = counts(
            "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [30, 4]\nelement = \"triangle\"\n",
        );
        assert_eq!((square.dimension, square.edges), (2, square.faces));
    }

    #[test]
    fn lists_keep_their_order_and_replace_by_name() {
        let mut list = NamedList::new();
        list.set("b", 1.0);
        list.set("a", 2.0);
        list.set("b", 3.0);
        list.add("a", 0.5);
        list.add("c", 0.25);
        assert_eq!(list.iter().collect::<Vec<_>>(), [("b", &3.0), ("a", &2.5), ("c", &0.25)]);
        assert_eq!((list.is_empty(), list.get("d")), (false, None));
    }

    #[test]
    fn the_peak_of_memory_is_read_from_proc() {
        assert_eq!(peak_of_status("Name:\tkarman\nVmHWM:\t  123 kB\n"), Some(123 * 1024));
        assert_eq!(peak_of_status("VmPeak:\t5 kB\n"), None);
        assert_eq!(peak_of_status("VmHWM:\tmany kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(peak_host_bytes().unwrap() > 1 << 20);
        }
    }
}
