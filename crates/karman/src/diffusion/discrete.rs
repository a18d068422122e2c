//! A diffusion problem discretised in space, on the host:
//! M dT/dt = s + C v(t) − A T − K(T, v), with A symmetric, C the boundary's coupling to its
//! prescribed values v and K the correction of two-point fluxes.

use super::conditions::BoundaryValues;
use crate::linear::{CsrMatrix, LinearError};
use crate::mesh::Adjacency;

/// The arrays of a discretised diffusion problem.
pub struct Discrete {
    /// A: symmetric, positive (semi-)definite.
    pub matrix: CsrMatrix<f64>,
    /// Diagonal of M, ρc times the volume of each unknown: `[n]`; 0 where an unknown is held.
    pub mass: Vec<f64>,
    /// C.
    pub coupling: Coupling,
    /// v(t).
    pub values: BoundaryValues,
    /// K, where fluxes are corrected.
    pub correction: Option<Correction>,
    /// Whether an unknown is held at a prescribed temperature: `[n]`, empty where none is.
    pub is_held: Vec<bool>,
}

impl Discrete {
    /// Takes away all that diffuses; gradients stay.
    ///
    /// # Errors
    /// None that a matrix of the same pattern has not met.
    pub fn still(&mut self) -> Result<(), LinearError> {
        let a = &self.matrix;
        let length = |row: usize| a.row_length(row);
        self.matrix = CsrMatrix::from_rows(a.rows(), a.columns(), length, |row, columns, _| {
            for (place, (column, _)) in columns.iter_mut().zip(a.row(row)) {
                *place = column as u32;
            }
        })?;
        self.coupling.coefficients.fill(0.0);
        if let Some(correction) = &mut self.correction {
            correction.tangential.fill(0.0);
        }
        Ok(())
    }
}

/// C by rows, only those that are not empty: the unknowns next to a prescribed value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coupling {
    /// Unknown of each row, ascending.
    pub unknowns: Vec<u32>,
    /// Start of each row: `[rows + 1]`.
    pub offsets: Vec<u32>,
    /// Index of the prescribed value.
    pub values: Vec<u32>,
    /// Coefficient of the prescribed value.
    pub coefficients: Vec<f64>,
}

impl Coupling {
    /// From entries (unknown, value, coefficient) in any order; those of one unknown keep theirs.
    pub fn from_entries(mut entries: Vec<(u32, u32, f64)>) -> Coupling {
        entries.sort_by_key(|e| e.0);
        let mut coupling = Coupling { offsets: vec![0], ..Default::default() };
        for (unknown, value, coefficient) in entries {
            if coupling.unknowns.last() != Some(&unknown) {
                coupling.unknowns.push(unknown);
                coupling.offsets.push(coupling.values.len() as u32);
            }
            coupling.values.push(value);
            coupling.coefficients.push(coefficient);
            if let Some(end) = coupling.offsets.last_mut() {
                *end = coupling.values.len() as u32;
            }
        }
        coupling
    }
}

/// Gradients of cells, ∇T_c = Σ W_k (T_k − T_c).
#[derive(Clone, Debug, PartialEq)]
pub struct GradientStencils {
    /// The items of each cell: a cell, or a boundary face from the first on with
    /// [`SIGN_BIT`](crate::mesh::SIGN_BIT). None where they are those across the faces of every cell.
    pub rows: Option<Adjacency>,
    /// W: `[3][items]`.
    pub weights: Vec<f64>,
    /// Number of cells whose stencil goes beyond their faces.
    pub widened: usize,
    /// Number of cells in whose stencil a direction is not determined.
    pub dropped: usize,
    /// Number of cells whose weights were made smaller, which are not exact for linear fields.
    pub limited: usize,
}

/// The data of K: gradients of cells and the part of a face's flux they carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// Gradients of cells.
    pub stencils: GradientStencils,
    /// Heat into the left cell for a unit of gradient: `[3][n_faces]`.
    pub tangential: Vec<f64>,
    /// Share of the left cell in a face's gradient: `[n_interior]`.
    pub left_weight: Vec<f64>,
    /// Prescribed value of each boundary face (0 where none, with `row_value` 0).
    pub boundary_value: Vec<u32>,
    /// Factor of the prescribed value in a boundary face's gradient equation.
    pub row_value: Vec<f64>,
    /// Factor of the cell's value there.
    pub row_cell: Vec<f64>,
}
