//! What an iteration knows of itself, kept where it runs: whether it goes on, how many steps it has
//! made, how large the residual is. The host looks now and then; counts are exact all the same,
//! because a step taken after the end changes nothing.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::{Operator, Preconditioner};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, BackendError, Buffer, Components, Partials, Segment, View, blas};

/// Why an iteration stopped, as a number a device can hold.
pub(super) mod status {
    /// It goes on.
    pub(crate) const RUNNING: f64 = 0.0;
    /// The residual of the recurrence is at most the target.
    pub(crate) const TARGET: f64 = 1.0;
    /// The limit of iterations.
    pub(crate) const LIMIT: f64 = 2.0;
    /// A residual that is not finite.
    pub(crate) const NOT_FINITE: f64 = 3.0;
    /// p·Ap ≤ 0.
    pub(crate) const OPERATOR: f64 = 4.0;
    /// r·M⁻¹r ≤ 0.
    pub(crate) const PRECONDITIONER: f64 = 5.0;
    /// The shadow residual has become orthogonal to the residual.
    pub(crate) const SHADOW: f64 = 6.0;
    /// The stabilising step of BiCGStab has length zero.
    pub(crate) const STABILISER: f64 = 7.0;
    /// No smaller residual for a long time.
    pub(crate) const PLATEAU: f64 = 8.0;
}

/// Larger than any square of a norm that is of use.
const HUGE: f64 = 1e300;

/// The state of an iteration; norms are squared. Flags are 0 or 1.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Progress<F: Real> {
    /// Whether steps still do something.
    pub active: F,
    /// Whether the step under way does.
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
    /// Steps allowed.
    pub limit: F,
    /// The number that broke down.
    pub detail: F,
    /// The smallest residual so far.
    pub least: F,
    /// The step it was found at.
    pub least_at: F,
    /// ‖r‖² of the recurrence at which the residual is to be computed anew; 0: only at the end.
    pub renewal: F,
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

/// Whether the step under way does something. Kernels take `progress` as a view; this is its second
/// element.
#[device]
pub(super) fn is_stepping(progress: &View<f64>) -> bool {
    progress[1] > f64::literal(0.5)
}

/// Whether a squared norm is a number of use.
#[device]
pub(super) fn is_finite(square: f64) -> bool {
    square < f64::literal(HUGE)
}

/// `progress` after one more step that left the squared residual `residual`.
#[device]
pub(super) fn stepped(progress: Progress<f64>, residual: f64) -> Progress<f64> {
    let mut next = progress;
    let one = f64::literal(1.0);
    next.iterations = progress.iterations + one;
    next.residual = residual;
    if residual < progress.least {
        next.least = residual;
        next.least_at = next.iterations;
    }
    let mut reason = f64::literal(status::RUNNING);
    if next.iterations >= progress.limit {
        reason = f64::literal(status::LIMIT);
    }
    if residual <= progress.tolerance * progress.reference {
        reason = f64::literal(status::TARGET);
    }
    // Also where it is not a number: comparisons with that are false.
    let finite = is_finite(residual);
    if !finite {
        reason = f64::literal(status::NOT_FINITE);
    }
    next.status = reason;
    next.active = flag(reason < f64::literal(0.5) && residual > progress.renewal);
    next
}

/// `progress` stopped for `reason`, on account of the number `detail`.
#[device]
pub(super) fn stopped(progress: Progress<f64>, reason: f64, detail: f64) -> Progress<f64> {
    let mut next = progress;
    next.active = f64::literal(0.0);
    next.stepping = f64::literal(0.0);
    next.status = reason;
    next.detail = detail;
    next
}

/// The state before the first residual, from ‖b‖².
#[kernel(begin, combine(sum), out(progress))]
pub(super) fn begun(reference: f64, tolerance: f64, limit: f64) -> Progress<f64> {
    let zero = f64::literal(0.0);
    Progress::<f64> {
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
        renewal: zero,
    }
}

/// Takes up the true residual: at the start, at a restart and at the end.
#[kernel(take_residual, combine(sum), update(progress))]
pub(super) fn with_residual(residual: f64, progress: Progress<f64>) -> Progress<f64> {
    let mut next = progress;
    if next.reference <= f64::literal(0.0) {
        next.reference = residual;
    }
    next.residual = residual;
    next.least = residual;
    next.least_at = next.iterations;
    next.status = f64::literal(status::RUNNING);
    let above = residual > progress.tolerance * next.reference;
    let goes_on = above && is_finite(residual) && is_finite(next.reference);
    next.active = flag(goes_on && progress.iterations < progress.limit);
    next.stepping = next.active;
    next
}

/// r ← b − A x, with r·r. Traffic 3s.
#[kernel(subtract_from, update(r), reduce(sum))]
pub(super) fn difference<F: Real>(i: usize, b: &View<F>, r: F) -> (F, f64) {
    let own = b[i] - r;
    (own, own.to_f64() * own.to_f64())
}

/// Σ b². Traffic s.
#[kernel(square_partials, reduce(sum))]
pub(super) fn square<F: Real>(i: usize, b: &View<F>) -> f64 {
    b[i].to_f64() * b[i].to_f64()
}

/// Writes the residual to its place in the history; run over one entity.
#[kernel(record_history)]
pub(super) fn recorded(i: usize, progress: &View<f64>, history: &mut Segment<f64>) {
    history[i + progress[3] as usize] = progress[4];
}

/// What every Krylov method shares: the operator and the preconditioner, the iterate, the residual
/// and the state.
pub(super) struct System<T> {
    pub(super) operator: Box<dyn Operator<T>>,
    pub(super) preconditioner: Box<dyn Preconditioner<T>>,
    /// x: [n].
    pub(super) iterate: Buffer<T>,
    /// r: [n].
    pub(super) residual: Buffer<T>,
    pub(super) progress: Buffer<f64>,
    pub(super) partials: Partials,
    /// ‖r‖² after each iteration, where it is wanted.
    pub(super) history: Option<Buffer<f64>>,
}

impl<T: Real> System<T> {
    pub(super) fn new(
        backend: &Backend,
        operator: Box<dyn Operator<T>>,
        preconditioner: Box<dyn Preconditioner<T>>,
    ) -> System<T> {
        let n = operator.unknowns();
        System {
            operator,
            preconditioner,
            iterate: backend.zeros(n),
            residual: backend.zeros(n),
            progress: backend.zeros(<Progress<f64> as Components>::COUNT),
            partials: Partials::new(backend, n, 5),
            history: None,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.operator.unknowns()
    }

    /// Forgets the past: no step made, the reference is ‖b‖.
    pub(super) fn begin(&mut self, backend: &Backend, b: &Buffer<T>, tolerance: f64, limit: f64) {
        square_partials(backend, self.rows(), b, &mut self.partials);
        begin(backend, &self.partials, tolerance * tolerance, limit, &mut self.progress);
    }

    /// r ← b − A x, and the state goes on from it.
    pub(super) fn true_residual(&mut self, backend: &Backend, b: &Buffer<T>) {
        let n = self.rows();
        self.operator.apply(backend, &self.iterate, &mut self.residual);
        subtract_from(backend, n, b, &mut self.residual, &mut self.partials);
        take_residual(backend, &self.partials, &mut self.progress);
        self.record(backend);
    }

    /// The beginning from the iterate 0, whose residual is b.
    pub(super) fn begin_at_zero(&mut self, backend: &Backend, b: &Buffer<T>, limit: f64) {
        let n = self.rows();
        blas::fill(backend, n, T::literal(0.0), &mut self.iterate);
        blas::copy(backend, n, b, &mut self.residual);
        self.begin(backend, b, f64::EPSILON, limit);
        take_residual(backend, &self.partials, &mut self.progress);
    }

    /// Notes the residual of the step just made.
    pub(super) fn record(&mut self, backend: &Backend) {
        if let Some(history) = &mut self.history {
            record_history(backend, 1, &self.progress, history);
        }
    }

    /// The state, read back.
    pub(super) fn look(&self, backend: &Backend) -> Result<Progress<f64>, BackendError> {
        let read;
        let v = match self.progress.as_host() {
            Some(slice) => slice,
            None => {
                read = backend.read(&self.progress)?;
                &read
            }
        };
        Ok(Progress {
            active: v[0],
            stepping: v[1],
            status: v[2],
            iterations: v[3],
            residual: v[4],
            reference: v[5],
            tolerance: v[6],
            limit: v[7],
            detail: v[8],
            least: v[9],
            least_at: v[10],
            renewal: v[11],
        })
    }
}

/// A Krylov method: what it adds to a [`System`]. All but `finish` does nothing but call dispatch
/// functions.
pub(super) trait Krylov<T: Real>: Send {
    /// Steps before the residual must be computed anew; none where the recurrence goes on for ever.
    fn cycle(&self) -> Option<usize> {
        None
    }

    /// Steps after which its buffers are where they were: a recording holds a multiple of them.
    fn period(&self) -> usize {
        1
    }

    /// Takes up the system's residual.
    fn start(&mut self, backend: &Backend, system: &mut System<T>);

    /// Goes on with the system's residual, which was computed anew after the recurrence's had fallen as far
    /// as it was to, and is near it.
    fn resume(&mut self, backend: &Backend, system: &mut System<T>) {
        self.start(backend, system);
    }

    /// Step `k` of the cycle.
    fn step(&mut self, k: usize, backend: &Backend, system: &mut System<T>);

    /// Brings the iterate up to date after the last step.
    fn finish(&mut self, _: &Backend, _: &mut System<T>) -> Result<(), BackendError> {
        Ok(())
    }

    /// Bytes of vectors one step moves beside the operator and the preconditioner, for a row.
    fn vectors_moved(&self) -> usize;

    /// Bytes a product moves, where it is not one with the system's operator.
    fn product_bytes(&self) -> Option<usize> {
        None
    }
}
