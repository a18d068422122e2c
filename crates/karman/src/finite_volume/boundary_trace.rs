//! The value of a field on boundary faces, as functionals of the field and its prescribed values.

use super::boundary::Kind;
use super::cell_scheme::CellScheme;
use super::functional::Functional;
use crate::mesh::geometry::{norm, subtract};

impl CellScheme<'_> {
    /// The value on a boundary face that agrees with the heat flow Q = [`CellScheme::heat_through`]:
    ///
    /// T = v  at a Dirichlet face,
    /// T = T∞ − Q / (h|S|)  at a Robin face,
    /// T = T_c + τ·∇T_c + q δ/k  at faces of prescribed flux q, with x_f − x_c = τ + δ n; τ·∇T only with the
    /// non-orthogonal correction.
    pub fn value_at_face(&self, face: usize) -> Functional {
        let boundary_face = face - self.mesh.n_interior_faces();
        let mut functional = Functional::default();
        match (self.boundary.kind(boundary_face), self.boundary.value(boundary_face)) {
            (Kind::Dirichlet, Some(value)) => functional.values.push((value, 1.0)),
            (Kind::Robin(h), Some(ambient)) if h > 0.0 => {
                let conductance = h * norm(self.geometry.area_vector_of(face));
                functional.values.push((ambient, 1.0));
                functional.add(-1.0 / conductance, &self.heat_through(face));
            }
            (_, value) => {
                let flux = self.boundary_flux(face, self.corrected);
                let cell = self.mesh.face_left[face] as usize;
                functional.unknowns.push((cell as u32, 1.0));
                functional.values.extend(value.map(|value| (value, flux.row_value)));
                if self.corrected {
                    let (x, centre) =
                        (self.geometry.face_centre_of(face), self.geometry.cell_centre_of(cell));
                    let tangent = subtract(subtract(x, centre), flux.row);
                    functional.add(1.0, &self.derivative(cell, tangent));
                }
            }
        }
        functional
    }
}
