//! Parts of a stage of compressible flow, in both forms of the residual, with one point a face and of third order, and with
//! weights of stencils in double and in single precision.

use super::mesh::TetrahedronMesh;
use super::{Bench, BenchError};
use karman::compressible::reconstruction::stencil::Stencils;
use karman::compressible::stage_parts::Work;
use karman::compressible::{
    CompressibleBoundaryCondition, CompressibleNumerics, CompressibleProblem, CompressibleSolver,
    FluxForm, Limiter, NumericalFlux, Reconstruction, ResidualForm, StagePart, WeightPrecision,
    WholeMesh,
};
use karman::finite_volume::{Function, Prescribed};
use karman::mesh::generate::{BoxParams, Element};
use karman::mesh::quadrature::CellMoments;
use karman::mesh::{Geometry, Mesh, MeshOptions};
use karman::time::RungeKutta;
use std::sync::Arc;

/// Times the stencils, the parts of a stage and steps of a smooth flow on tetrahedra and on mixed elements, in double precision.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be made, or the device failed.
pub fn compressible(bench: &mut Bench, cells: usize) -> Result<(), BenchError> {
    let tetrahedra = TetrahedronMesh::new(bench.backend, cells)?;
    on_mesh(bench, "tet", (&tetrahedra.mesh, &tetrahedra.geometry))?;
    drop(tetrahedra);
    let (mesh, geometry) = mixed_mesh(bench, cells)?;
    on_mesh(bench, "mixed", (&mesh, &geometry))
}

fn mixed_mesh(bench: &Bench, cells: usize) -> Result<(Mesh, Geometry), BenchError> {
    // A layer of hexahedra, one of prisms, one of pyramids and one of tetrahedra have 1, 2, 6 and 6 cells a block.
    let m = ((cells as f64 / 3.75).cbrt().round() as usize).max(2);
    bench.backend.install(|| {
        let element = Some(Element::Mixed);
        let params = BoxParams { cells: vec![m; 3], element, jitter: 0.2, ..BoxParams::default() };
        let raw = params.generate().map_err(|reason| BenchError::Generate { cells, reason })?;
        let mesh = Mesh::new(raw, &MeshOptions::default())?;
        let geometry = Geometry::new(&mesh)?;
        Ok((mesh, geometry))
    })
}

/// A smooth flow through a box with far fields of the same state.
pub(super) fn problem(mesh: &Mesh) -> CompressibleProblem {
    fn state([x, y, z]: [f64; 3]) -> [f64; 5] {
        let wave = (4.0 * x).sin() * (5.0 * y).cos() * (3.0 * z + 0.3).cos();
        [1.0 + 0.1 * wave, 0.3 + 0.1 * wave, 0.1 - 0.05 * wave, 0.05 * wave, 0.7 + 0.1 * wave]
    }
    let fields =
        [0, 1, 2, 3, 4].map(|k| Arc::new(Function(move |x, _| state(x)[k])) as Arc<dyn Prescribed>);
    CompressibleProblem {
        gamma: 1.4,
        conditions: vec![CompressibleBoundaryCondition::Slip; mesh.patches.len()],
        initial: fields,
        source: None,
        viscous: None,
    }
}

/// Roe's flux and quadratic polynomials.
pub(super) fn numerics(one_point: bool, residual: ResidualForm) -> CompressibleNumerics {
    CompressibleNumerics {
        form: FluxForm { flux: NumericalFlux::Roe, low_mach: false },
        reconstruction: Reconstruction::Quadratic,
        limiter: Limiter::None,
        one_point,
        bounds_traces: false,
        method: RungeKutta::SspRk3,
        residual,
        weights: WeightPrecision::Same,
    }
}

/// The name of a part.
pub(super) fn name_of(part: StagePart) -> &'static str {
    match part {
        StagePart::Coefficients => "coefficients",
        StagePart::PolynomialFluxes => "fluxes of polynomials",
        StagePart::Traces => "traces",
        StagePart::TraceFluxes => "fluxes of traces",
        StagePart::Sums => "sums",
    }
}

/// A mesh with the stencils of its cells.
pub(super) struct Prepared<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) geometry: &'a Geometry,
    pub(super) stencils: Stencils,
    pub(super) problem: CompressibleProblem,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(
        bench: &mut Bench,
        name: &str,
        mesh: &'a Mesh,
        geometry: &'a Geometry,
    ) -> Self {
        let n = mesh.n_cells();
        let moments = bench.backend.install(|| CellMoments::new(mesh, geometry));
        let make = || Stencils::new(mesh, geometry, &moments, Reconstruction::Quadratic);
        let backend = bench.backend;
        let stencils = bench.once(&format!("{name} stencils"), n, || backend.install(make));
        Prepared { mesh, geometry, stencils, problem: problem(mesh) }
    }

    pub(super) fn solver(
        &self,
        bench: &Bench,
        numerics: &CompressibleNumerics,
    ) -> Result<CompressibleSolver<f64>, BenchError> {
        let Prepared { mesh, geometry, stencils, problem } = self;
        let backend = bench.backend;
        let make = || {
            let whole = WholeMesh::new((mesh, geometry), numerics);
            CompressibleSolver::with_stencils(backend, &whole, stencils.clone(), problem, numerics)
        };
        Ok(super::on_threads(backend, make)?)
    }
}

fn on_mesh(
    bench: &mut Bench,
    name: &str,
    (mesh, geometry): (&Mesh, &Geometry),
) -> Result<(), BenchError> {
    let prepared = Prepared::new(bench, name, mesh, geometry);
    for one_point in [true, false] {
        let points = if one_point { "1" } else { "3" };
        for residual in [ResidualForm::Stages, ResidualForm::Fused, ResidualForm::FusedRows] {
            if residual == ResidualForm::FusedRows && (one_point || name != "tet") {
                continue;
            }
            for weights in WeightPrecision::ALL {
                let numerics = CompressibleNumerics { weights, ..numerics(one_point, residual) };
                let mut solver = prepared.solver(bench, &numerics)?;
                let weights = if weights == WeightPrecision::Single { "w32" } else { "w64" };
                let word = residual.word();
                let prefix = format!("{name} {points}pt {word} {weights}");
                parts(bench, &prefix, &mut solver, StagePart::of(residual))?;
            }
        }
        for (word, flux, method) in [
            ("roe ssp_rk3", NumericalFlux::Roe, RungeKutta::SspRk3),
            ("rusanov rk4", NumericalFlux::Rusanov, RungeKutta::Rk4),
        ] {
            let form = FluxForm { flux, low_mach: false };
            let numerics =
                CompressibleNumerics { form, method, ..numerics(one_point, ResidualForm::Auto) };
            let mut solver = prepared.solver(bench, &numerics)?;
            let step = solver.step_of(0.2);
            let stages = method.stages().len();
            let n = mesh.n_cells() * stages;
            let mut failed = None;
            bench.time(&format!("{name} {points}pt step {word}"), "f64", n, 0.0, |_| {
                failed = solver.advance(step).err().or(failed.take());
            })?;
            failed.map_or(Ok(()), Err)?;
        }
    }
    Ok(())
}

/// Times some parts one by one and together.
pub(super) fn parts(
    bench: &mut Bench,
    prefix: &str,
    solver: &mut CompressibleSolver<f64>,
    parts: &[StagePart],
) -> Result<(), BenchError> {
    let n = solver.n_cells();
    let mut total = Work::default();
    for &part in parts {
        let work = solver.work_of(part);
        total.bytes += work.bytes;
        total.operations += work.operations;
        let name = format!("{prefix} {}", name_of(part));
        bench.time(&name, "f64", n, work.bytes, |_| solver.run_part(part))?;
        bench.set_operations(work.operations);
    }
    let name = format!("{prefix} stage");
    bench.time(&name, "f64", n, total.bytes, |_| {
        parts.iter().for_each(|part| solver.run_part(*part));
    })?;
    bench.set_operations(total.operations);
    Ok(())
}
