//! The convergence state of an iteration, stored where it runs: whether it is active, its number of steps,
//! its residual. The host reads it every few steps; counts are exact, because a step after the end changes
//! nothing.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use karman_backend::View;
use karman_backend::prelude::*;
use karman_backend::real::Real;

/// Reasons to stop, as numbers for a device.
pub(super) mod status {
    /// The iteration is active.
    pub(crate) const RUNNING: f64 = 0.0;
    /// The residual of the recurrence meets the target.
    pub(crate) const TARGET: f64 = 1.0;
    /// The maximum number of iterations.
    pub(crate) const LIMIT: f64 = 2.0;
    /// A residual that is not finite.
    pub(crate) const NOT_FINITE: f64 = 3.0;
    /// p·Ap ≤ 0.
    pub(crate) const OPERATOR: f64 = 4.0;
    /// r·M⁻¹r ≤ 0.
    pub(crate) const PRECONDITIONER: f64 = 5.0;
    /// The shadow residual is orthogonal to the residual.
    pub(crate) const SHADOW: f64 = 6.0;
    /// ω = 0 in BiCGStab.
    pub(crate) const OMEGA: f64 = 7.0;
    /// No smaller residual for many steps.
    pub(crate) const PLATEAU: f64 = 8.0;
}

/// Upper bound of usable squared norms.
const HUGE: f64 = 1e300;

/// The state of an iteration and of its recurrence; norms are squared. Flags are 0 or 1.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct ConvergenceState<F: Real> {
    /// Whether the iteration is active.
    pub active: F,
    /// Whether the current step is active.
    pub stepping: F,
    /// Why it stopped, see [`status`].
    pub status: F,
    /// Steps made.
    pub iterations: F,
    /// ‖r‖² by the recurrence.
    pub residual: F,
    /// ‖b‖², or ‖r₀‖² where b = 0.
    pub reference: F,
    /// Tolerance².
    pub tolerance: F,
    /// Maximum number of steps.
    pub limit: F,
    /// The scalar that broke down.
    pub detail: F,
    /// The smallest residual so far.
    pub least: F,
    /// The step of that residual.
    pub least_at: F,
    /// ‖r‖² of the recurrence at which the true residual replaces it; 0: only at the end.
    pub replacement: F,
    /// ρ of the recurrence: r·z of conjugate gradients, r̂·r of BiCGStab.
    pub rho: F,
    /// Length α of the step.
    pub alpha: F,
}

/// 0 or 1.
#[device]
pub(super) fn flag(condition: bool) -> f64 {
    if condition { f64::literal(1.0) } else { f64::literal(0.0) }
}

/// Whether a flag is set.
#[device]
pub(super) fn is_set(flag: f64) -> bool {
    flag > f64::literal(0.5)
}

/// Whether the current step is active: the second element of `convergence`, which kernels take as a view.
#[device]
pub(super) fn is_stepping(convergence: &View<f64>) -> bool {
    convergence[1] > f64::literal(0.5)
}

/// Length α of the current step, of a state that kernels take as a view.
#[device]
pub(super) fn step_length(convergence: &View<f64>) -> f64 {
    convergence[13]
}

/// Whether a squared norm is below [`HUGE`]; false for NaN.
#[device]
pub(super) fn is_finite(square: f64) -> bool {
    square < f64::literal(HUGE)
}

/// `convergence` after one more step with the squared residual `residual`.
#[device]
pub(super) fn stepped(convergence: ConvergenceState<f64>, residual: f64) -> ConvergenceState<f64> {
    let mut next = convergence;
    let one = f64::literal(1.0);
    next.iterations = convergence.iterations + one;
    next.residual = residual;
    if residual < convergence.least {
        next.least = residual;
        next.least_at = next.iterations;
    }
    let mut reason = f64::literal(status::RUNNING);
    if next.iterations >= convergence.limit {
        reason = f64::literal(status::LIMIT);
    }
    if residual <= convergence.tolerance * convergence.reference {
        reason = f64::literal(status::TARGET);
    }
    // Also for NaN, whose comparisons are false.
    let finite = is_finite(residual);
    if !finite {
        reason = f64::literal(status::NOT_FINITE);
    }
    next.status = reason;
    next.active = flag(reason < f64::literal(0.5) && residual > convergence.replacement);
    next
}

/// `convergence` stopped for `reason`, because of the scalar `detail`.
#[device]
pub(super) fn stopped(
    convergence: ConvergenceState<f64>,
    reason: f64,
    detail: f64,
) -> ConvergenceState<f64> {
    let mut next = convergence;
    next.active = f64::literal(0.0);
    next.stepping = f64::literal(0.0);
    next.status = reason;
    next.detail = detail;
    next
}

/// The state before the first residual, from ‖b‖².
#[kernel(combine(sum), out(convergence))]
pub(super) fn begin(reference: f64, tolerance: f64, limit: f64) -> ConvergenceState<f64> {
    let zero = f64::literal(0.0);
    ConvergenceState::<f64> {
        active: zero,
        stepping: zero,
        status: zero,
        iterations: zero,
        residual: reference,
        reference,
        tolerance,
        limit,
        detail: zero,
        least: f64::literal(HUGE),
        least_at: zero,
        replacement: zero,
        rho: zero,
        alpha: zero,
    }
}

/// Sets the true residual: at the start, at a restart and at the end.
#[kernel(combine(sum), update(convergence))]
pub(super) fn take_residual(
    residual: f64,
    convergence: ConvergenceState<f64>,
) -> ConvergenceState<f64> {
    let mut next = convergence;
    if next.reference <= f64::literal(0.0) {
        next.reference = residual;
    }
    next.residual = residual;
    next.least = residual;
    next.least_at = next.iterations;
    next.status = f64::literal(status::RUNNING);
    let above = residual > convergence.tolerance * next.reference;
    let goes_on = above && is_finite(residual) && is_finite(next.reference);
    next.active = flag(goes_on && convergence.iterations < convergence.limit);
    next.stepping = next.active;
    next
}
