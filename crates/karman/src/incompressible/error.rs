//! Errors of flow problems.

use crate::backend::BackendError;
use crate::finite_volume::DiffusionError;
use crate::linear::LinearError;
use thiserror::Error;

/// A flow problem that cannot be set up or advanced.
#[derive(Debug, Error)]
pub enum IncompressibleError {
    /// The number of conditions differs from that of the patches.
    #[error("{found} conditions for {patches} patches")]
    Conditions {
        /// Number of conditions.
        found: usize,
        /// Number of patches.
        patches: usize,
    },
    /// The viscosity is not positive.
    #[error("the viscosity is {value}; it must be positive and finite, or 0 with `rk3`")]
    Viscosity {
        /// Its value.
        value: f64,
    },
    /// The diffusivity of the temperature is not positive.
    #[error("the diffusivity is {value}; it must be positive and finite")]
    Diffusivity {
        /// Its value.
        value: f64,
    },
    /// A mesh on which the staggered schemes are not defined.
    #[error(
        "the centroids of the two cells at the face at ({:.6}, {:.6}, {:.6}) lie on the wrong sides of it, \
         {along:.3e} apart along its normal; fluxes at faces need a mesh without such cells; use \
         scheme = \"collocated\" for this mesh", place[0], place[1], place[2]
    )]
    WrongSide {
        /// The centroid of the face.
        place: [f64; 3],
        /// Distance of the centroids along the normal.
        along: f64,
    },
    /// A cell whose face vectors do not span the space.
    #[error(
        "the faces of the cell at ({:.6}, {:.6}, {:.6}) are degenerate: their fluxes determine no \
         velocity; use scheme = \"collocated\" for this mesh", place[0], place[1], place[2]
    )]
    DegenerateCell {
        /// The centroid of the cell.
        place: [f64; 3],
    },
    /// A flow that is periodic in every direction.
    #[error(
        "scheme = \"exact_fractional_step\" needs a direction that is not periodic: its potential has no \
         mean flow; use scheme = \"staggered\""
    )]
    NoBoundary,
    /// A mean velocity that no force along the periodic directions can keep.
    #[error("{}", not_periodic(*target, directions))]
    NotPeriodic {
        /// The mean velocity.
        target: [f64; 3],
        /// The directions of the periodic patches.
        directions: Vec<[f64; 3]>,
    },
    /// A mean velocity through periodic patches with a wall between them.
    #[error(
        "`mean_velocity` cannot be kept: walls close the way between the periodic patches{}",
        along(directions)
    )]
    Blocked {
        /// The directions of the periodic patches.
        directions: Vec<[f64; 3]>,
    },
    /// Explicit steps on a mesh with a non-diagonal mass matrix of the fluxes.
    #[error(
        "method = \"rk3\" with fluxes at faces is for scheme = \"staggered\" on rectangles or rectangular \
         hexahedra; here use method = \"bdf2\" or scheme = \"collocated\""
    )]
    ExplicitMass,
    /// The viscous stress is requested where no velocity is prescribed.
    #[error(
        "no velocity is prescribed at the boundary face at ({:.6}, {:.6}, {:.6}); only walls and inlets have \
         a viscous stress", place[0], place[1], place[2]
    )]
    NoWall {
        /// The centroid of the face.
        place: [f64; 3],
    },
    /// Inflow and outflow do not balance and no pressure is prescribed.
    #[error("{}", unbalanced(*net, *dimension, *time))]
    Unbalanced {
        /// Flow into the domain less flow out of it.
        net: f64,
        /// 2 or 3; in 2D the flow is per unit of depth.
        dimension: usize,
        /// The time.
        time: f64,
    },
    /// An invalid prescribed value.
    #[error(transparent)]
    Diffusion(#[from] DiffusionError),
    /// The linear solver rejected its input.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

fn vector([x, y, z]: [f64; 3]) -> String {
    // An axis has the other components ±0.
    let [x, y, z] = [x, y, z].map(|component| format!("{:.3}", component + 0.0));
    let short = |text: String| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    format!("({}, {}, {})", short(x), short(y), short(z))
}

/// Directions in a message.
fn along(directions: &[[f64; 3]]) -> String {
    let names: Vec<String> = directions.iter().map(|d| vector(*d)).collect();
    format!(", which lie along {}", names.join(" and "))
}

fn not_periodic(target: [f64; 3], directions: &[[f64; 3]]) -> String {
    if directions.is_empty() {
        return "`mean_velocity` needs periodic patches, through which the flow returns".to_owned();
    }
    format!(
        "`mean_velocity` {} has a component across the periodic patches{}: no uniform force keeps it; set that component to 0",
        vector(target),
        along(directions)
    )
}

fn unbalanced(net: f64, dimension: usize, time: f64) -> String {
    let begin = match (net > 0.0, time == 0.0) {
        (true, true) => "Inflow exceeds outflow".to_owned(),
        (true, false) => format!("At t = {time:.2e} inflow exceeds outflow"),
        (false, true) => "Outflow exceeds inflow".to_owned(),
        (false, false) => format!("At t = {time:.2e} outflow exceeds inflow"),
    };
    // Three digits suffice to identify the patch.
    let net: f64 = format!("{:.2e}", net.abs()).parse().unwrap_or(net.abs());
    let unit = if dimension == 2 { "m²/s" } else { "m³/s" };
    format!("{begin} by {net:?} {unit} and there is no outlet.")
}
