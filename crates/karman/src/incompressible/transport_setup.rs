//! The set-up of transport equations: of a whole mesh, of its boundary alone, and of the part of one of several ranks.

use super::implicit_transport::{ImplicitForm, ImplicitTransport};
use super::quantity::Quantity;
use super::transport_equation::{DiffusiveFlux, TransportEquation};
use super::upwind_gradient::UpwindGradient;
use super::{ConvectionTreatment, Extent, IncompressibleError, Numerics};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::boundary::WeightedValue;
use crate::finite_volume::diffusion::discretize_boundary;
use crate::finite_volume::majorant::majorant_conductances;
use crate::finite_volume::{
    BoundaryContributionOnBackend, BoundaryFaces, CellScheme, Condition, Faces, GradientStencils,
    LocalMesh, NonOrthogonalCorrectionOnBackend, PartMesh, PartValues, Prescribed,
    TimeDependentData, Use, check_finite, narrow,
};
use crate::mesh::partition::SubMesh;
use crate::mesh::{Geometry, Mesh, index_of};
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Boundary conditions and source of a transport equation.
pub(super) struct EquationSpec {
    /// Name of its boundary values in messages.
    pub what: &'static str,
    /// One condition per patch, of equal kind for all quantities of a [`TransportEquation`].
    pub conditions: Vec<Condition>,
    /// Prescribed values that replace those of the conditions: of a patch the index of the first, and their terms.
    pub prescribed: Vec<(usize, Vec<WeightedValue>)>,
    /// Source per unit of volume and time.
    pub source: Arc<dyn Prescribed>,
}

/// Conductances of the implicit operator of a steady flow over those of two-point diffusion, where fluxes have a
/// non-orthogonal correction. A pseudo-time step is of first order and stable up to eigenvalues of twice the operator's;
/// larger conductances would only slow it down.
const STEADY_DIFFUSION: f64 = 1.5;

/// A source in messages.
const SOURCE: &str = "the source";

/// The gradient stencils of some cells.
pub(super) struct EquationStencils {
    /// Of the non-orthogonal correction.
    correction: GradientStencils,
    /// Of linear upwinding, where the convection scheme has gradients upstream.
    upwind: Option<GradientStencils>,
}

impl EquationStencils {
    /// Those of consecutive cells; `flat` are the flat cells of the mesh.
    fn new(
        scheme: &CellScheme<'_>,
        cells: Range<usize>,
        (flat, numerics): (&[usize], &Numerics),
    ) -> Self {
        let (extrapolates, _) = numerics.convection.extrapolates();
        EquationStencils {
            correction: scheme.stencils_of(cells.clone(), Use::Derivative),
            upwind: extrapolates.then(|| scheme.extrapolation_of(cells, flat)),
        }
    }

    /// The cells of stencils that are not in `own`.
    pub(super) fn cells_beyond(&self, own: &Range<usize>) -> Vec<u32> {
        let mut cells = self.correction.cells_beyond(own);
        cells.extend(self.upwind.iter().flat_map(|stencils| stencils.cells_beyond(own)));
        cells
    }

    /// Whether those of linear upwinding differ from those of the correction.
    fn has_upwind(&self) -> bool {
        self.upwind.as_ref().is_some_and(|stencils| !stencils.is_of_faces())
    }

    /// With the numbers of a part, and with stencils of linear upwinding if `has_upwind`.
    fn renumbered(self, sub: &SubMesh, whole: &Mesh, has_upwind: bool) -> Self {
        EquationStencils {
            correction: self.correction.renumbered(sub, whole),
            upwind: self
                .upwind
                .filter(|_| has_upwind)
                .map(|stencils| stencils.renumbered(sub, whole)),
        }
    }
}

/// The conductivity of a scheme. Gradients do not depend on the diffusivity; at 0 the diffusive terms are zeroed.
fn conductivity(diffusivity: f64) -> f64 {
    if diffusivity > 0.0 { diffusivity } else { 1.0 }
}

/// The fluxes of an equation.
fn scheme_of<'a>(
    mesh: &'a Mesh,
    geometry: &'a Geometry,
    diffusivity: f64,
    boundary: &'a BoundaryFaces,
) -> CellScheme<'a> {
    CellScheme::new(mesh, geometry, conductivity(diffusivity), boundary, true)
}

/// Refuses a source that is not a number at time 0.
fn check_source(
    source: &dyn Prescribed,
    (volume, centre): (&[f64], &[f64]),
) -> Result<(), IncompressibleError> {
    let mut values = vec![0.0; volume.len()];
    source.sample(centre, 0.0, &mut values);
    Ok(check_finite(SOURCE, &values, 0.0)?)
}

impl<F: Real> TransportEquation<F> {
    /// The equations of a mesh; of [`Extent::Boundary`] without those of cells.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry, extent): (&Mesh, &Geometry, Extent),
        faces: &Faces<F>,
        (diffusivity, numerics): (f64, &Numerics),
        specs: Vec<EquationSpec>,
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        let cells = (&geometry.cell_volume[..], &geometry.cell_centre[..]);
        let mut boundary = None;
        let mut quantities = vec![];
        for (k, EquationSpec { what, conditions, prescribed, source }) in
            specs.into_iter().enumerate()
        {
            let (mut contribution, mut values, of_quantity) =
                discretize_boundary(mesh, geometry, conductivity(diffusivity).into(), &conditions)?;
            contribution.unknowns.iter_mut().for_each(|unknown| *unknown += (k * n) as u32);
            if diffusivity == 0.0 {
                contribution.coefficients.fill(0.0);
            }
            for (first, terms) in prescribed {
                values.set_terms(first, terms);
            }
            quantities.push(Quantity {
                contribution: BoundaryContributionOnBackend::new(backend, contribution),
                prescribed: values.into_time_dependent_data(backend, what)?,
                source: match extent {
                    Extent::Cells => TimeDependentData::of_cells(backend, SOURCE, source, cells),
                    Extent::Boundary => {
                        check_source(&*source, cells)?;
                        TimeDependentData::new(backend, SOURCE, 0, vec![])
                    }
                }?,
            });
            boundary.get_or_insert(of_quantity);
        }
        let Some(boundary) = boundary else { unreachable!("one quantity at least") };
        if extent == Extent::Boundary {
            let of_boundary = (boundary, quantities);
            return Ok(Self::at_boundary(
                backend,
                (mesh, geometry),
                faces,
                of_boundary,
                (diffusivity, numerics),
            ));
        }
        let stencils = {
            let scheme = scheme_of(mesh, geometry, diffusivity, &boundary);
            let stencils = EquationStencils::new(&scheme, 0..n, (&faces.flat, numerics));
            let upwind = stencils.upwind.filter(|stencils| !stencils.is_of_faces());
            EquationStencils { correction: stencils.correction, upwind }
        };
        let place = LocalMesh::whole(mesh, geometry);
        let of_equation = (diffusivity, numerics, None);
        Ok(Self::of_cells(backend, place, faces, (boundary, quantities), stencils, of_equation))
    }

    /// The gradient stencils of consecutive cells of the mesh; `flat` are its flat cells.
    pub(super) fn stencils(
        &self,
        (mesh, geometry): (&Mesh, &Geometry),
        cells: Range<usize>,
        of_scheme: (&[usize], &Numerics),
    ) -> EquationStencils {
        let scheme = scheme_of(mesh, geometry, self.diffusivity(), &self.boundary);
        EquationStencils::new(&scheme, cells, of_scheme)
    }

    /// The equations of a part with the values that are prescribed there. `stencils` are those of its own cells, `sources` of all quantities.
    /// All ranks call it.
    pub(super) fn of_part(
        &self,
        part: &PartMesh<'_>,
        faces: &Faces<F>,
        stencils: EquationStencils,
        (numerics, sources): (&Numerics, &[Arc<dyn Prescribed>]),
    ) -> Result<(Self, PartValues), IncompressibleError> {
        let PartMesh { numbers, sub, whole, .. } = part;
        let (backend, values) = (&numbers.backend, PartValues::new(&self.boundary, numbers));
        let (volume, centre) = LocalMesh::of_part(part).own_cells();
        let mut quantities = vec![];
        for (quantity, source) in self.quantities.iter().zip(sources) {
            quantities.push(Quantity {
                contribution: quantity.contribution.of_part(numbers, &values),
                prescribed: quantity.prescribed.of_rank(backend, values.whole()),
                source: TimeDependentData::of_cells(
                    backend,
                    SOURCE,
                    source.clone(),
                    (volume, &centre),
                )?,
            });
        }
        let has_upwind = numbers.any_rank(stencils.has_upwind())?;
        let stencils = stencils.renumbered(sub, whole.0, has_upwind);
        let boundary = self.boundary.of_part(numbers, &values);
        let (place, diffusivity) = (LocalMesh::of_part(part), self.diffusivity());
        let whole_scheme = scheme_of(whole.0, whole.1, diffusivity, &self.boundary);
        let of_equation = (diffusivity, numerics, Some(&whole_scheme));
        let of_boundary = (boundary, quantities);
        let equation = Self::of_cells(backend, place, faces, of_boundary, stencils, of_equation);
        Ok((equation, values))
    }

    /// The equations of cells; a part passes the scheme of the whole mesh.
    fn of_cells(
        backend: &Backend,
        place: LocalMesh<'_>,
        faces: &Faces<F>,
        (boundary, quantities): (BoundaryFaces, Vec<Quantity<F>>),
        stencils: EquationStencils,
        (diffusivity, numerics, whole_scheme): (f64, &Numerics, Option<&CellScheme<'_>>),
    ) -> Self {
        let LocalMesh { mesh, geometry, .. } = place;
        let (own, dimension) = (place.owned(), quantities.len());
        let scheme = scheme_of(mesh, geometry, diffusivity, &boundary);
        let mut conductance = scheme.conductances();
        let mut correction = scheme.correction_with(stencils.correction);
        let of_implicit = match (faces.is_orthogonal, numerics.is_steady) {
            (true, _) => None,
            _ if diffusivity == 0.0 => Some(vec![0.0; conductance.len()]),
            (false, true) => Some(conductance.iter().map(|a| STEADY_DIFFUSION * a).collect()),
            (false, false) => {
                let whole_scheme = whole_scheme.unwrap_or(&scheme);
                Some(majorant_conductances(place, &correction, &conductance, whole_scheme))
            }
        };
        if diffusivity == 0.0 {
            conductance.fill(0.0);
            correction.tangential.fill(0.0);
        }
        let rates = diffusive_rates(place, &conductance);
        let correction =
            NonOrthogonalCorrectionOnBackend::new(backend, faces.cells.clone(), correction);
        let (_, is_limited) = numerics.convection.extrapolates();
        let upwind =
            stencils.upwind.map(|stencils| correction.gradient().with_stencils(backend, stencils));
        let mut upwind = (is_limited || upwind.is_some())
            .then(|| UpwindGradient::new(backend, upwind, (place.n_local(), dimension)));
        if is_limited {
            let (cells, indices) = (faces.cells.clone(), boundary.dirichlet_indices());
            upwind = upwind.map(|upwind| upwind.limited(backend, cells, indices));
        }
        let conductance = Arc::new(narrow(backend, conductance));
        let of_implicit =
            of_implicit.map_or_else(|| conductance.clone(), |a| Arc::new(narrow(backend, a)));
        let diffusion = DiffusiveFlux {
            diffusivity,
            conductance,
            rates,
            correction,
            is_orthogonal: faces.is_orthogonal,
        };
        let implicit = implicit_of(backend, faces, of_implicit, (dimension, numerics));
        let operators = (diffusion, upwind, implicit);
        Self::of_operators(backend, operators, (boundary, quantities), [own, mesh.n_faces()])
    }

    /// Conditions and fluxes at the boundary, of a mesh whose cells ranks compute.
    fn at_boundary(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        (boundary, quantities): (BoundaryFaces, Vec<Quantity<F>>),
        (diffusivity, numerics): (f64, &Numerics),
    ) -> Self {
        let scheme = scheme_of(mesh, geometry, diffusivity, &boundary);
        let [conductance, tangential] = match diffusivity == 0.0 {
            true => [1, 3].map(|components| backend.zeros(components * mesh.n_faces())),
            false => scheme.boundary_fluxes(backend),
        };
        let (cells, conductance) = (faces.cells.clone(), Arc::new(conductance));
        let of_implicit = (quantities.len(), numerics);
        let implicit = implicit_of(backend, faces, conductance.clone(), of_implicit);
        let diffusion = DiffusiveFlux {
            diffusivity,
            conductance,
            rates: vec![],
            correction: NonOrthogonalCorrectionOnBackend::at_boundary(backend, cells, tangential),
            is_orthogonal: faces.is_orthogonal,
        };
        let operators = (diffusion, None, implicit);
        Self::of_operators(backend, operators, (boundary, quantities), [0, 0])
    }

    /// The equations with these operators and conditions, of so many own cells and faces.
    fn of_operators(
        backend: &Backend,
        (diffusion, upwind, implicit): Operators<F>,
        (boundary, quantities): (BoundaryFaces, Vec<Quantity<F>>),
        [own, n_faces]: [usize; 2],
    ) -> Self {
        let dimension = quantities.len();
        let zeros = |n: usize| backend.zeros(dimension * n);
        TransportEquation {
            backend: backend.clone(),
            cells: implicit.cells().clone(),
            diffusion,
            boundary,
            quantities,
            upwind,
            implicit,
            explicit_flux: zeros(own),
            explicit_flux_before: zeros(own),
            face_flux: zeros(n_faces),
            residual: zeros(own),
            increment: zeros(own),
        }
    }
}

/// The operators of an equation.
type Operators<F> = (DiffusiveFlux<F>, Option<UpwindGradient<F>>, ImplicitTransport<F>);

/// The implicit operator of `dimension` quantities with these conductances.
fn implicit_of<F: Real>(
    backend: &Backend,
    faces: &Faces<F>,
    conductance: Arc<Buffer<F>>,
    (dimension, numerics): (usize, &Numerics),
) -> ImplicitTransport<F> {
    let form = ImplicitForm {
        cells: faces.cells.clone(),
        conductance,
        is_orthogonal: faces.is_orthogonal,
        convects: numerics.convection_treatment == ConvectionTreatment::Implicit,
        is_steady: numerics.is_steady,
        dimension,
    };
    ImplicitTransport::new(backend, form, numerics.momentum.clone())
}

/// Σ a / V of each own cell.
fn diffusive_rates(place: LocalMesh<'_>, conductance: &[f64]) -> Vec<f64> {
    let LocalMesh { mesh, geometry, .. } = place;
    let of_cell = |cell: usize| {
        let faces = mesh.cell_to_faces.of(cell).iter();
        faces.map(|item| conductance[index_of(*item)]).sum::<f64>() / geometry.cell_volume[cell]
    };
    (0..place.owned()).into_par_iter().with_min_len(1024).map(of_cell).collect()
}
