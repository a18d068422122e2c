//! The node-centred discretisation of ∇·(k∇T) on dual volumes around the nodes.
//!
//! On simplices the fluxes through dual faces with one gradient an element are the linear
//! finite-element stiffness (Menon's thesis, §6.3); on other elements one gradient leaves hourglass
//! modes, so their isoparametric stiffness is used. Volumes, boundary areas and Robin terms are
//! lumped, ∫ N_i. A node on several Dirichlet patches gets the mean of the prescribed temperatures; a
//! Dirichlet condition takes precedence over any flux.
//!
//! The row of a Dirichlet node is a_ii T_i = a_ii v_i; its column moves to the boundary contribution, so that
//! the matrix stays symmetric.

use super::HeatError;
use super::dirichlet::{heat_through_dirichlet_patch, nodes_of_patch};
use super::finite_element::{shares, stiffness};
use super::node_boundary::{NodeBoundary, NodePatch, corners, face_shape};
use crate::finite_volume::boundary::BoundaryValues;
use crate::finite_volume::{BoundaryContribution, Condition, Discrete, Functional, Material};
use crate::linear::{CsrMatrix, LinearError};
use crate::mesh::adjacency::fill_rows;
use crate::mesh::{Adjacency, Mesh};
use rayon::prelude::*;
use std::ops::Range;

/// The heat flow into the domain through a patch: the sum of these functionals, one a node on a Dirichlet
/// patch and one a face elsewhere.
pub fn heat_through(
    mesh: &Mesh,
    conductivity: &[f64],
    patch: usize,
    boundary: &NodeBoundary,
) -> Vec<Functional> {
    let described = &boundary.patches[patch];
    if let NodePatch::Dirichlet = described {
        return heat_through_dirichlet_patch(mesh, conductivity, patch, boundary);
    }
    let mut entry = 0;
    let of_face = |face: usize| {
        let nodes = mesh.face_to_nodes.of(face);
        let points: Vec<_> = nodes.iter().map(|i| mesh.points[*i as usize]).collect();
        let areas = shares(face_shape(nodes.len()), &points);
        let mut functional = Functional::default();
        for (k, (node, area)) in nodes.iter().zip(areas).enumerate() {
            functional.add(1.0, &described.heat_inflow(*node, entry + k, area));
        }
        entry += nodes.len();
        functional
    };
    mesh.patches[patch].faces.clone().map(of_face).collect()
}

/// The rows of a node-centred problem to be assembled: those of consecutive nodes.
pub struct NodeRows<'a> {
    /// The cells around each node, ascending.
    pub around: &'a Adjacency,
    /// The nodes.
    pub rows: Range<usize>,
}

/// Discretises a heat problem with unknowns at the nodes. `material` is per cell. The matrix has the rows `of`, others are empty; the
/// boundary contribution has these and those of Dirichlet nodes, which have their masses too.
///
/// # Errors
/// [`HeatError`] for a heat transfer coefficient that is negative or not a number.
pub fn discretize(
    mesh: &Mesh,
    material: &Material,
    conditions: &[Condition],
    of: &NodeRows<'_>,
) -> Result<(Discrete, NodeBoundary), HeatError> {
    let n = mesh.points.len();
    let mut values = BoundaryValues::default();
    let mut entries: Vec<(u32, u32, f64)> = vec![];
    let mut diagonal = vec![0.0; n];
    let mut values_of: Vec<Vec<u32>> = vec![vec![]; n];
    let mut patches = vec![];
    for (k, (patch, condition)) in mesh.patches.iter().zip(conditions).enumerate() {
        let described = match condition {
            Condition::ZeroGradient | Condition::Extrapolated => NodePatch::ZeroGradient,
            Condition::Dirichlet(v) => {
                let nodes = nodes_of_patch(mesh, k);
                let points: Vec<_> = nodes.iter().map(|i| mesh.points[*i as usize]).collect();
                let first = values.push(v, &points);
                for (k, node) in nodes.into_iter().enumerate() {
                    values_of[node as usize].push((first + k) as u32);
                }
                NodePatch::Dirichlet
            }
            Condition::Neumann(v) => {
                let (points, areas) = lumped_areas(mesh, patch.faces.clone());
                let first = values.push(v, &points);
                for (k, (node, area)) in areas.into_iter().enumerate() {
                    entries.push((node, (first + k) as u32, area));
                }
                NodePatch::Neumann { first }
            }
            Condition::Robin { coefficient, ambient } => {
                let (points, areas) = lumped_areas(mesh, patch.faces.clone());
                let h =
                    crate::finite_volume::boundary::coefficients_at(coefficient.as_ref(), &points);
                crate::finite_volume::boundary::check_coefficients(&patch.name, &h)?;
                let first = values.push(ambient, &points);
                for (k, ((node, area), h)) in areas.into_iter().zip(&h).enumerate() {
                    diagonal[node as usize] += h * area;
                    entries.push((node, (first + k) as u32, h * area));
                }
                NodePatch::Robin { first, coefficients: h }
            }
        };
        patches.push(described);
    }
    let is_dirichlet: Vec<bool> = values_of.iter().map(|v| !v.is_empty()).collect();
    let has_mass = |node: usize| of.rows.contains(&node) || is_dirichlet[node];
    let mut mass = lumped_mass(mesh, of.around, &material.volumetric_heat_capacity, has_mass);
    entries.retain(|e| of.rows.contains(&(e.0 as usize)) && values_of[e.0 as usize].is_empty());
    let stiffness =
        Stiffness { mesh, around: of.around, k: &material.conductivity, diagonal: &diagonal };
    entries.par_extend(stiffness.dirichlet_entries(&of.rows, &values_of));
    let matrix = stiffness.matrix(&of.rows, &is_dirichlet)?;
    let dirichlet_nodes: Vec<u32> = (0..n as u32).filter(|i| is_dirichlet[*i as usize]).collect();
    let dirichlet_mass =
        dirichlet_nodes.iter().map(|i| std::mem::take(&mut mass[*i as usize])).collect();
    let boundary_contribution = BoundaryContribution::from_entries(entries);
    let discrete =
        Discrete { matrix, mass, boundary_contribution, values, correction: None, is_dirichlet };
    Ok((discrete, NodeBoundary { patches, dirichlet_nodes, dirichlet_mass }))
}

/// The nodes of some faces, one entry for each node of each face, with their shares of the area.
fn lumped_areas(mesh: &Mesh, faces: std::ops::Range<usize>) -> (Vec<[f64; 3]>, Vec<(u32, f64)>) {
    let mut areas = vec![];
    for f in faces {
        let nodes = mesh.face_to_nodes.of(f);
        let corners: Vec<_> = nodes.iter().map(|i| mesh.points[*i as usize]).collect();
        areas.extend(nodes.iter().copied().zip(shares(face_shape(nodes.len()), &corners)));
    }
    (areas.iter().map(|(i, _)| mesh.points[*i as usize]).collect(), areas)
}

/// Volumes ∫ N_i of the nodes.
pub fn node_volumes(mesh: &Mesh) -> Vec<f64> {
    lumped_mass(mesh, &mesh.node_to_cells(), &vec![1.0; mesh.n_cells()], |_| true)
}

/// Σ over the cells `around` each node of a factor times ∫ N_i, 0 at nodes that are not asked for.
pub(super) fn lumped_mass(
    mesh: &Mesh,
    around: &Adjacency,
    volumetric_heat_capacity: &[f64],
    is_asked: impl Fn(usize) -> bool + Sync,
) -> Vec<f64> {
    let mut of_cells = vec![0.0; mesh.cells.nodes.len()];
    fill_rows(&mesh.cells.offsets, &mut of_cells, |cell, of_nodes| {
        if mesh.cells.nodes_of(cell).iter().any(|node| is_asked(*node as usize)) {
            of_nodes.copy_from_slice(&shares(mesh.cells.shapes[cell], &corners(mesh, cell)));
        }
    });
    let of_node = |node: usize| {
        let cells = around.of(node).iter().filter(|_| is_asked(node)).map(|cell| *cell as usize);
        cells.fold(0.0, |mass, cell| {
            let mut nodes = mesh.cells.nodes_of(cell).iter();
            let place = nodes.position(|other| *other as usize == node).unwrap_or(0);
            let share = of_cells[mesh.cells.offsets[cell] as usize + place];
            mass + volumetric_heat_capacity[cell] * share
        })
    };
    (0..mesh.points.len()).into_par_iter().with_min_len(1024).map(of_node).collect()
}

/// Σ over cells of k times their stiffness, by gather over the nodes, with further entries of the diagonal.
struct Stiffness<'a> {
    mesh: &'a Mesh,
    /// The cells around each node.
    around: &'a Adjacency,
    k: &'a [f64],
    diagonal: &'a [f64],
}

impl Stiffness<'_> {
    /// The nodes of the cells around a node, ascending.
    fn columns(&self, node: usize) -> Vec<u32> {
        let mut columns = vec![node as u32];
        for &cell in self.around.of(node) {
            columns.extend_from_slice(self.mesh.cells.nodes_of(cell as usize));
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The row of a node without Dirichlet conditions.
    fn row(&self, node: usize) -> (Vec<u32>, Vec<f64>) {
        let columns = self.columns(node);
        let mut entries = vec![0.0; columns.len()];
        let place = |column: u32| columns.binary_search(&column).unwrap_or(0);
        entries[place(node as u32)] += self.diagonal[node];
        for &cell in self.around.of(node) {
            let cell = cell as usize;
            let nodes = self.mesh.cells.nodes_of(cell);
            let element = stiffness(self.mesh.cells.shapes[cell], &corners(self.mesh, cell));
            let own = nodes.iter().position(|i| *i as usize == node).unwrap_or(0);
            for (j, column) in nodes.iter().enumerate() {
                entries[place(*column)] += self.k[cell] * element[own * nodes.len() + j];
            }
        }
        (columns, entries)
    }

    /// The matrix with these rows, the others empty. The row of a Dirichlet node keeps its diagonal alone, its column becomes entries of the
    /// boundary contribution.
    fn matrix(
        &self,
        rows: &Range<usize>,
        is_dirichlet: &[bool],
    ) -> Result<CsrMatrix<f64>, LinearError> {
        let n = is_dirichlet.len();
        let length = |row: usize| if rows.contains(&row) { self.columns(row).len() } else { 0 };
        CsrMatrix::from_rows(n, n, length, |row, columns, values| {
            if columns.is_empty() {
                return;
            }
            let (of_row, entries) = self.row(row);
            for (k, (column, entry)) in of_row.into_iter().zip(entries).enumerate() {
                let is_free = !is_dirichlet[row] && !is_dirichlet[column as usize];
                let stays = is_free || column as usize == row;
                (columns[k], values[k]) = (column, if stays { entry } else { 0.0 });
            }
        })
    }

    /// The entries of the boundary contribution of Dirichlet values in these rows and in those of all Dirichlet nodes, from which initial values
    /// follow. A node of several patches gets the mean of their values.
    fn dirichlet_entries(
        &self,
        rows: &Range<usize>,
        values_of: &[Vec<u32>],
    ) -> impl ParallelIterator<Item = (u32, u32, f64)> {
        let n = values_of.len();
        let has_entries = move |row: &usize| {
            if !rows.contains(row) {
                return !values_of[*row].is_empty();
            }
            let cells = self.around.of(*row).iter().map(|cell| *cell as usize);
            let mut nodes = cells.flat_map(|cell| self.mesh.cells.nodes_of(cell));
            nodes.any(|node| !values_of[*node as usize].is_empty())
        };
        let of_row = move |row: usize| {
            let (columns, entries) = self.row(row);
            let mut found = vec![];
            for (column, value) in columns.into_iter().zip(entries) {
                let values = &values_of[column as usize];
                let share = value / values.len() as f64;
                if column as usize == row {
                    found.extend(values.iter().map(|v| (row as u32, *v, share)));
                } else if values_of[row].is_empty() {
                    found.extend(values.iter().map(|v| (row as u32, *v, -share)));
                }
            }
            found
        };
        (0..n).into_par_iter().filter(has_entries).flat_map_iter(of_row)
    }
}
