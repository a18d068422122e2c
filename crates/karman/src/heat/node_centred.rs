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
use crate::mesh::Mesh;
use rayon::prelude::*;

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

/// Discretises a heat problem with unknowns at the nodes. `material` is per cell.
///
/// # Errors
/// [`HeatError`] for a heat transfer coefficient that is negative or not a number.
pub fn discretize(
    mesh: &Mesh,
    material: &Material,
    conditions: &[Condition],
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
    let free_matrix = assemble(mesh, &material.conductivity, &diagonal)?;
    let mut mass = lumped_mass(mesh, &material.volumetric_heat_capacity);
    entries.retain(|e| values_of[e.0 as usize].is_empty());
    let matrix = impose_dirichlet(&free_matrix, &values_of, &mut entries)?;
    let is_dirichlet: Vec<bool> = values_of.iter().map(|v| !v.is_empty()).collect();
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
    lumped_mass(mesh, &vec![1.0; mesh.n_cells()])
}

/// Σ over cells of a factor times ∫ N_i.
pub(super) fn lumped_mass(mesh: &Mesh, volumetric_heat_capacity: &[f64]) -> Vec<f64> {
    let mut mass = vec![0.0; mesh.points.len()];
    for (cell, capacity) in volumetric_heat_capacity.iter().enumerate() {
        let shares = shares(mesh.cells.shapes[cell], &corners(mesh, cell));
        for (node, share) in mesh.cells.nodes_of(cell).iter().zip(shares) {
            mass[*node as usize] += capacity * share;
        }
    }
    mass
}

/// Σ over cells of k times their stiffness, by gather over the nodes.
fn assemble(mesh: &Mesh, k: &[f64], diagonal: &[f64]) -> Result<CsrMatrix<f64>, LinearError> {
    let n = mesh.points.len();
    let node_cells = mesh.node_to_cells();
    let rows: Vec<(Vec<u32>, Vec<f64>)> = (0..n)
        .into_par_iter()
        .with_min_len(256)
        .map(|node| {
            let mut columns = vec![node as u32];
            for &cell in node_cells.of(node) {
                columns.extend_from_slice(mesh.cells.nodes_of(cell as usize));
            }
            columns.sort_unstable();
            columns.dedup();
            let mut entries = vec![0.0; columns.len()];
            let place = |column: u32| columns.binary_search(&column).unwrap_or(0);
            entries[place(node as u32)] += diagonal[node];
            for &cell in node_cells.of(node) {
                let cell = cell as usize;
                let nodes = mesh.cells.nodes_of(cell);
                let element = stiffness(mesh.cells.shapes[cell], &corners(mesh, cell));
                let own = nodes.iter().position(|i| *i as usize == node).unwrap_or(0);
                for (j, column) in nodes.iter().enumerate() {
                    entries[place(*column)] += k[cell] * element[own * nodes.len() + j];
                }
            }
            (columns, entries)
        })
        .collect();
    let mut offsets = vec![0u32; n + 1];
    for (i, (columns, _)) in rows.iter().enumerate() {
        offsets[i + 1] = offsets[i] + columns.len() as u32;
    }
    let columns = rows.iter().flat_map(|r| r.0.iter().copied()).collect();
    let entries = rows.iter().flat_map(|r| r.1.iter().copied()).collect();
    CsrMatrix::new(n, offsets, columns, entries)
}

/// Imposes the Dirichlet values `values_of` each node: its row keeps the diagonal, its column becomes entries
/// of the boundary contribution. A node of several patches gets the mean of their values.
fn impose_dirichlet(
    free: &CsrMatrix<f64>,
    values_of: &[Vec<u32>],
    entries: &mut Vec<(u32, u32, f64)>,
) -> Result<CsrMatrix<f64>, LinearError> {
    let n = values_of.len();
    for row in 0..n {
        for (column, value) in free.row(row) {
            if values_of[column].is_empty() {
                continue;
            }
            let share = value / values_of[column].len() as f64;
            if column == row {
                entries.extend(values_of[row].iter().map(|v| (row as u32, *v, share)));
            } else if values_of[row].is_empty() {
                entries.extend(values_of[column].iter().map(|v| (row as u32, *v, -share)));
            }
        }
    }
    let length = |row: usize| free.row_length(row);
    CsrMatrix::from_rows(n, n, length, |row, columns, values| {
        for (k, (column, value)) in free.row(row).enumerate() {
            let stays =
                column == row || (values_of[row].is_empty() && values_of[column].is_empty());
            (columns[k], values[k]) = (column as u32, if stays { value } else { 0.0 });
        }
    })
}
