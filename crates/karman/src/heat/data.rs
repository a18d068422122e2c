//! The data of a heat problem at its unknowns: initial temperature and sources.

use super::HeatError;
use super::dirichlet::DirichletNodes;
use super::node_centred;
use super::problem::{BoundaryKinds, Source};
use crate::backend::Backend;
use crate::finite_volume::{Discrete, Prescribed, Term, check_finite, component_major};
use crate::mesh::{Adjacency, Geometry, Mesh};
use crate::real::Real;

/// The Dirichlet nodes with the heat sources at them, and the sources at all other unknowns, which lie at `points`;
/// `volume_of` gives the volume of each unknown on which a source acts.
pub(super) fn source_terms<F: Real>(
    backend: &Backend,
    mesh: &Mesh,
    kinds: &mut BoundaryKinds,
    sources: &[Source],
    (volume_of, points): (impl Fn(&Source) -> Vec<f64>, &[f64]),
) -> (DirichletNodes<F>, Vec<Term>) {
    let (nodes, mass) = match kinds {
        BoundaryKinds::Cells(_) => Default::default(),
        BoundaryKinds::Nodes(nodes) => {
            (nodes.dirichlet_nodes.clone(), std::mem::take(&mut nodes.dirichlet_mass))
        }
    };
    let at_nodes: Vec<_> = nodes.iter().map(|i| mesh.points[*i as usize]).collect();
    let at_nodes = component_major(&at_nodes);
    let (mut terms, mut dirichlet_terms) = (vec![], vec![]);
    for source in sources {
        let mut volume = volume_of(source);
        volume.truncate(points.len() / 3);
        // The source at Dirichlet nodes does not enter the equations.
        let at_dirichlet: Vec<f64> =
            nodes.iter().map(|i| std::mem::take(&mut volume[*i as usize])).collect();
        if !at_dirichlet.is_empty() {
            dirichlet_terms.push(source_term(source, &at_dirichlet, &at_nodes));
        }
        terms.push(source_term(source, &volume, points));
    }
    (DirichletNodes::new(backend, nodes, mass, dirichlet_terms), terms)
}

/// Initial values; Dirichlet nodes start at their prescribed temperature.
pub(super) fn initial_temperature(
    discrete: &Discrete,
    initial: &dyn Prescribed,
    points: &[f64],
) -> Result<Vec<f64>, HeatError> {
    let mut temperature = vec![0.0; discrete.mass.len()];
    initial.sample(points, 0.0, &mut temperature);
    check_finite("the initial temperature", &temperature, 0.0)?;
    let prescribed = discrete.values.at(0.0);
    let contribution = &discrete.boundary_contribution;
    for (row, unknown) in contribution.unknowns.iter().enumerate() {
        let i = *unknown as usize;
        if discrete.is_dirichlet.get(i).copied().unwrap_or(false) {
            let range = contribution.offsets[row] as usize..contribution.offsets[row + 1] as usize;
            let (mut sum, mut weight) = (0.0, 0.0);
            for k in range {
                sum += contribution.coefficients[k] * prescribed[contribution.values[k] as usize];
                weight += contribution.coefficients[k];
            }
            temperature[i] = sum / weight;
        }
    }
    Ok(temperature)
}

/// A source at the unknowns it acts on.
fn source_term(source: &Source, volume: &[f64], points: &[f64]) -> Term {
    let n = volume.len();
    let entries: Vec<u32> = (0..n as u32).filter(|i| volume[*i as usize] != 0.0).collect();
    let of_entries =
        |values: &[f64]| entries.iter().map(|i| values[*i as usize]).collect::<Vec<f64>>();
    let points = points.chunks(n.max(1)).flat_map(of_entries).collect();
    let value = source.value.clone();
    Term { value, factors: of_entries(volume), entries, points }
}

/// Volume of each unknown that a source acts on; of nodes where the cells `around` these are given.
pub(super) fn source_volume(
    (mesh, geometry): (&Mesh, &Geometry),
    source: &Source,
    around: Option<&Adjacency>,
) -> Vec<f64> {
    let acts = |cell: usize| source.region.is_none_or(|r| mesh.cells.groups[cell] == r);
    let Some(around) = around else {
        let volumes = geometry.cell_volume.iter().enumerate();
        return volumes.map(|(c, v)| if acts(c) { *v } else { 0.0 }).collect();
    };
    let share: Vec<f64> = (0..mesh.n_cells()).map(|c| if acts(c) { 1.0 } else { 0.0 }).collect();
    node_centred::lumped_mass(mesh, around, &share, |_| true)
}
