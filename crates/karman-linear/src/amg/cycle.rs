//! Multigrid cycles and their levels: sequences of dispatch functions, the same on the host and on a device,
//! where they may be captured in a graph.

use super::coarse::{Inverse, dense_inverse, null_share};
use super::device::{
    DeviceHierarchy, DeviceLevel, aggregates_of, dense_inverse as inverse_by_kernels,
    difference_form, sliced,
};
use super::difference_form::DifferenceForm;
use super::hierarchy::{Hierarchy, HostLevel};
use super::krylov_cycle::KrylovStep;
use super::params::{AmgParams, Cycle, CycleParams, Smoother};
use super::report::LevelReport;
use super::smoothing::{
    Polynomial, begin_by_colour, begin_cycle, end_by_colour, end_cycle, jacobi, jacobi_dots,
    residual, sweep,
};
use super::transfer::Transfer;
use crate::residual_update::{reduce_and_fill, subtract_and_sweep};
use crate::{Colouring, CsrMatrix, LinearError, Matrix, ResidualUpdate};
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, blas};

/// One level.
pub(super) struct Level<S> {
    matrix: DifferenceForm<S>,
    /// Weights of residuals in a sweep.
    weights: Buffer<S>,
    /// To and from the next level; none on the coarsest.
    transfer: Option<Transfer<S>>,
    /// The dense inverse of a coarsest level that is small enough.
    inverse: Option<Inverse<S>>,
    /// Offsets of the colours.
    colours: Vec<usize>,
    x: Buffer<S>,
    b: Buffer<S>,
    /// The next x, and the residual.
    other: Buffer<S>,
    polynomial: Option<Polynomial<S>>,
    krylov: Option<KrylovStep<S>>,
}

/// The x from which sweeps start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Zero, or x from the first Jacobi sweep.
    Zero,
    /// x, whose ghosts have to be fetched on one of several ranks.
    OwnEntries,
    /// x with its ghosts.
    WithGhosts,
}

/// All levels, with the parameters of the cycle.
pub(super) struct Levels<S> {
    backend: Backend,
    pub(super) levels: Vec<Level<S>>,
    /// The permutation of the finest level by colour and its inverse.
    renumbering: Option<[Buffer<u32>; 2]>,
    params: CycleParams,
}

impl<S: Real> Levels<S> {
    /// Without levels.
    pub(super) fn empty(backend: &Backend, params: &AmgParams) -> Self {
        Levels {
            backend: backend.clone(),
            levels: vec![],
            renumbering: None,
            params: params.cycling,
        }
    }

    /// The levels of a hierarchy that kernels made for `matrix`.
    pub(super) fn of_device<T: Real>(
        matrix: &Matrix<T>,
        hierarchy: &DeviceHierarchy,
        params: &AmgParams,
    ) -> Result<Self, LinearError> {
        let backend = matrix.backend();
        let params = (params, null_share::<T>());
        let mut all = Levels::empty(backend, params.0);
        for (depth, level) in hierarchy.levels.iter().enumerate() {
            let level = match &level.matrix {
                None => Level::of_device(backend, matrix, level, depth, params)?,
                Some(matrix) => Level::of_device(backend, matrix, level, depth, params)?,
            };
            all.levels.push(level);
        }
        Ok(all)
    }

    /// Copies a hierarchy to `backend`; `null_share` as of [`dense_inverse`].
    pub(super) fn new(
        backend: &Backend,
        hierarchy: &Hierarchy,
        (params, null_share): (&AmgParams, f64),
    ) -> Result<Self, LinearError> {
        let mut all = Levels::empty(backend, params);
        let by_colour = params.cycling.smoother == Smoother::GaussSeidel;
        let colourings: Vec<Option<Colouring>> = hierarchy
            .levels
            .iter()
            .map(|level| by_colour.then(|| Colouring::of(&level.matrix)))
            .collect();
        if let Some(Some(finest)) = colourings.first() {
            let back = inverse_of(&finest.rows);
            all.renumbering = Some([backend.upload_slice(&finest.rows), backend.upload(back)]);
        }
        for (depth, host) in hierarchy.levels.iter().enumerate() {
            let colourings =
                [colourings[depth].as_ref(), colourings.get(depth + 1).and_then(Option::as_ref)];
            let level = Level::new(backend, host, depth, colourings, (params, null_share))?;
            all.levels.push(level);
        }
        Ok(all)
    }

    /// Adds bytes and colours to the report of each level.
    pub(super) fn complete(&self, report: &mut [LevelReport]) {
        for (level, report) in self.levels.iter().zip(report) {
            report.bytes = level.bytes();
            let colours = level.colours.len().saturating_sub(1);
            report.colours = (colours > 0).then_some(colours);
        }
    }

    /// Whether the coarsest level is solved by an inverse.
    pub(super) fn is_coarsest_direct(&self) -> bool {
        self.levels.last().is_some_and(|level| level.inverse.is_some())
    }

    /// Visits of each level in a cycle.
    pub(super) fn visits(&self) -> Vec<usize> {
        let last = self.levels.len().saturating_sub(1);
        let at = |depth: usize| match self.params.cycle {
            Cycle::V => 1,
            // The coarsest level is solved once a visit of the level above.
            Cycle::W | Cycle::K => 1 << depth.min(last.saturating_sub(1)).min(30),
            Cycle::F => depth.min(last.saturating_sub(1)) + 1,
        };
        (0..=last).map(at).collect()
    }

    /// Updates of unknowns by one cycle over the unknowns of the finest level; of the levels of this report.
    pub(super) fn work_units(&self, report: &[LevelReport]) -> f64 {
        let degree =
            if let Smoother::Chebyshev { degree } = self.params.smoother { degree } else { 1 };
        let sweeps = degree * (self.params.sweeps[0] + self.params.sweeps[1]);
        let mut updates = 0.0;
        for ((level, visits), LevelReport { rows, .. }) in
            self.levels.iter().zip(self.visits()).zip(report)
        {
            let each = if level.inverse.is_some() { 1 } else { sweeps };
            updates += (visits * each * rows) as f64;
        }
        updates / report.first().map_or(1, |level| level.rows).max(1) as f64
    }

    /// Bytes one cycle moves.
    pub(super) fn bytes_moved(&self) -> usize {
        let s = size_of::<S>();
        let degree =
            if let Smoother::Chebyshev { degree } = self.params.smoother { degree } else { 1 };
        let products = degree * (self.params.sweeps[0] + self.params.sweeps[1]);
        let of_level = |level: &Level<S>| {
            let n = level.matrix.rows();
            if let Some(inverse) = &level.inverse {
                return inverse.bytes() + 2 * n * s;
            }
            let transfer: usize = level.transfer.as_ref().map_or(0, Transfer::bytes);
            products * (level.matrix.bytes() + 5 * n * s) + transfer + 5 * n * s
        };
        self.levels.iter().zip(self.visits()).map(|(level, v)| v * of_level(level)).sum()
    }

    /// The finest matrix, if its rows are in the given order.
    pub(super) fn finest(&self) -> Option<&DifferenceForm<S>> {
        let level = self.levels.first().filter(|_| self.renumbering.is_none());
        level.map(|level| &level.matrix)
    }

    /// z ← one cycle for the right-hand side r, from zero.
    pub(super) fn apply<T: Real>(&mut self, r: &Buffer<T>, z: &mut Buffer<T>) {
        let backend = self.backend.clone();
        let Some(finest) = self.levels.first_mut() else { return };
        let n = finest.matrix.rows();
        let Level { weights, b, x, .. } = finest;
        match &self.renumbering {
            None => begin_cycle(&backend, n, r, weights, b, x),
            Some([old_place, _]) => begin_by_colour(&backend, n, r, old_place, b, x),
        }
        let into_z = self.ends_with_jacobi();
        let has_ghosts = self.visit(0, true, self.params.cycle, usize::from(into_z));
        let Level { matrix, weights, b, x, .. } = &mut self.levels[0];
        match &self.renumbering {
            Some([_, new_place]) => end_by_colour(&backend, n, x, new_place, z),
            None if into_z => {
                matrix.fetch_unless(has_ghosts, x);
                jacobi(matrix, x, b, weights, z);
            }
            None => end_cycle(&backend, n, x, z),
        }
    }

    /// Whether the last sweep on the finest level is a Jacobi sweep, which may then write into z.
    fn ends_with_jacobi(&self) -> bool {
        self.levels.len() > 1
            && self.params.smoother == Smoother::L1Jacobi
            && self.params.sweeps[1] > 0
    }

    /// A cycle on level `depth` for its b, from zero (with x from the first sweep where that is a Jacobi
    /// sweep) or from x, without the last `left_out` sweeps. Whether x has the ghosts of one of several ranks.
    fn visit(&mut self, depth: usize, is_zero: bool, cycle: Cycle, left_out: usize) -> bool {
        let [before, after] = self.params.sweeps;
        let level = &mut self.levels[depth];
        if let Some(inverse) = &mut level.inverse {
            inverse.apply(&self.backend, &level.b, &mut level.x);
            return false;
        }
        let is_coarsest = level.transfer.is_none();
        let start = if is_zero { Start::Zero } else { Start::OwnEntries };
        level.smooth(self.params.smoother, before, start, false);
        if !is_coarsest {
            let Level { matrix, x, b, other, .. } = level;
            matrix.fetch(x);
            residual(matrix, x, b, other);
            matrix.fetch(other);
            self.correct(depth, cycle);
        }
        let (level, sweeps) = (&mut self.levels[depth], after - left_out);
        let start = if is_coarsest { Start::OwnEntries } else { Start::WithGhosts };
        level.smooth(self.params.smoother, sweeps, start, true);
        !is_coarsest && sweeps == 0
    }

    /// The coarse correction of level `depth`, whose residual is in `other`; x has ghosts, and has them after it.
    fn correct(&mut self, depth: usize, cycle: Cycle) {
        {
            let (fine, coarse) = self.levels.split_at_mut(depth + 1);
            let Level { transfer: Some(transfer), other, .. } = &mut fine[depth] else { return };
            let Level { weights, b, x, .. } = &mut coarse[0];
            transfer.restrict(&self.backend, other, weights, b, x);
        }
        let below = depth + 1;
        let is_last = self.levels[below].transfer.is_none();
        let has_ghosts = match cycle {
            Cycle::V => self.visit(below, true, Cycle::V, 0),
            _ if is_last => self.visit(below, true, cycle, 0),
            Cycle::W => {
                self.visit(below, true, Cycle::W, 0);
                self.visit(below, false, Cycle::W, 0)
            }
            Cycle::F => {
                self.visit(below, true, Cycle::F, 0);
                self.visit(below, false, Cycle::V, 0)
            }
            Cycle::K => {
                self.krylov_visits(below);
                false
            }
        };
        let (fine, coarse) = self.levels.split_at_mut(below);
        let Level { transfer: Some(transfer), x, .. } = &mut fine[depth] else { return };
        let Level { matrix, x: correction, .. } = &mut coarse[0];
        matrix.fetch_unless(has_ghosts, correction);
        transfer.prolong(&self.backend, correction, x);
    }

    fn krylov_visits(&mut self, depth: usize) {
        self.visit(depth, true, Cycle::K, 0);
        let Level { krylov, matrix, x, b, weights, .. } = &mut self.levels[depth];
        if let Some(krylov) = krylov {
            matrix.fetch(x);
            krylov.first(matrix, x, b);
            // The first sweep from zero.
            blas::multiply(&self.backend, matrix.rows(), weights, b, x);
        }
        self.visit(depth, true, Cycle::K, 0);
        let Level { krylov, matrix, x, b, .. } = &mut self.levels[depth];
        if let Some(krylov) = krylov {
            matrix.fetch(x);
            krylov.second(matrix, b, x);
        }
    }
}

impl Levels<f32> {
    /// See [`SinglePrecision::update_residual`](crate::SinglePrecision::update_residual). The update of r includes the
    /// first sweep, the last sweep the scalar products; r is swapped with b of the finest level.
    pub(super) fn update_residual(&mut self, update: ResidualUpdate<'_>) {
        let backend = self.backend.clone();
        if !self.ends_with_jacobi() || self.renumbering.is_some() {
            return update.run(&backend, |r, z| self.apply(r, z));
        }
        let ResidualUpdate { product, convergence, q, midway, r, z, sums, halo } = update;
        let n = r.len();
        let Level { weights: w, b, x, .. } = &mut self.levels[0];
        subtract_and_sweep(&backend, n, product, convergence, q, w, midway, r, x);
        std::mem::swap(b, r);
        let has_ghosts = self.visit(0, true, self.params.cycle, 1);
        let Level { matrix, weights: w, b, x, .. } = &mut self.levels[0];
        matrix.fetch_unless(has_ghosts, x);
        reduce_and_fill(halo.as_deref(), z, sums, |z, sums| {
            jacobi_dots(matrix, (x, b, w), q, z, sums);
        });
        std::mem::swap(b, r);
    }
}

/// The inverse of a permutation.
fn inverse_of(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    permutation.iter().enumerate().for_each(|(new, old)| inverse[*old as usize] = new as u32);
    inverse
}

/// `a` with rows and columns in the order of colourings.
fn renumbered(
    a: &CsrMatrix<f64>,
    rows: Option<&Colouring>,
    columns: Option<&Colouring>,
) -> Option<CsrMatrix<f64>> {
    let (rows, columns) = (rows?, columns?);
    Some(a.selected(&rows.rows, &inverse_of(&columns.rows), |_, _| true))
}

impl<S: Real> Level<S> {
    /// Copies a level to `backend`; of the colourings of this level and of the next one, if any.
    pub(super) fn new(
        backend: &Backend,
        host: &HostLevel,
        depth: usize,
        [own, below]: [Option<&Colouring>; 2],
        (params, null_share): (&AmgParams, f64),
    ) -> Result<Self, LinearError> {
        let n = host.matrix.rows();
        let matrix = match renumbered(&host.matrix, own, own) {
            Some(renumbered) => DifferenceForm::new(backend, &renumbered)?,
            None => DifferenceForm::new(backend, &host.matrix)?,
        };
        let transfer = match &host.transfer {
            None => None,
            Some(t) => {
                let (p, r) = (&t.interpolation, &t.restriction);
                let by_colour = renumbered(p, own, below).zip(renumbered(r, below, own));
                Some(match &by_colour {
                    None => Transfer::new(backend, p, r)?,
                    Some((p, r)) => Transfer::new(backend, p, r)?,
                })
            }
        };
        let diagonal_alone = params.cycling.smoother == Smoother::GaussSeidel;
        let weights = host.weights(0..n, params.sweep_factor(), diagonal_alone);
        let weights: Vec<S> = match own {
            None => weights.into_iter().map(S::from_f64).collect(),
            Some(own) => own.rows.iter().map(|r| S::from_f64(weights[*r as usize])).collect(),
        };
        let is_direct = transfer.is_none() && n <= params.coarse_rows;
        let inverse = is_direct.then(|| {
            let order = own.map(|own| &own.rows[..]);
            let inverse = dense_inverse(&host.matrix, &host.scale, null_share);
            let at = |i: usize| order.map_or(i, |order| order[i] as usize);
            let on_device = backend.device().is_some();
            let entry = |k: usize| {
                let (i, j) = if on_device { (k % n, k / n) } else { (k / n, k % n) };
                S::from_f64(inverse[at(i) * n + at(j)])
            };
            Inverse::new(backend.upload((0..n * n).map(entry).collect()), n)
        });
        let weights = backend.upload(weights);
        let level = Level::with(matrix, weights, transfer, inverse, depth, params);
        Ok(Level { colours: own.map_or(vec![], |own| own.offsets.clone()), ..level })
    }

    /// The level of `matrix` from the device's set-up.
    pub(super) fn of_device<T: Real>(
        backend: &Backend,
        matrix: &Matrix<T>,
        level: &DeviceLevel,
        depth: usize,
        (params, null_share): (&AmgParams, f64),
    ) -> Result<Self, LinearError> {
        let (own, weights) = difference_form(matrix, &level.scale, params.sweep_factor())?;
        let transfer = match &level.interpolation {
            None => None,
            Some(interpolation) => {
                let [p, r] = interpolation.matrices();
                Some(match interpolation.is_constant {
                    true => Transfer::of_aggregates(aggregates_of(p, r)),
                    false => Transfer::weighted([sliced(p, true)?, sliced(r, true)?]),
                })
            }
        };
        let is_direct = transfer.is_none() && matrix.rows() <= params.coarse_rows;
        let inverse = is_direct
            .then(|| inverse_by_kernels(backend, matrix, &level.scale, null_share))
            .transpose()?
            .map(|inverse| Inverse::new(inverse, matrix.rows()));
        Ok(Level::with(own, weights, transfer, inverse, depth, params))
    }

    /// A level with vectors for the cycle.
    pub(super) fn with(
        matrix: DifferenceForm<S>,
        weights: Buffer<S>,
        transfer: Option<Transfer<S>>,
        inverse: Option<Inverse<S>>,
        depth: usize,
        params: &AmgParams,
    ) -> Self {
        let is_polynomial = matches!(params.cycling.smoother, Smoother::Chebyshev { .. });
        let is_krylov = params.cycling.cycle == Cycle::K && depth > 0 && transfer.is_some();
        Level {
            weights,
            transfer,
            inverse,
            colours: vec![],
            x: matrix.vector(),
            b: matrix.backend().zeros(matrix.rows()),
            other: matrix.vector(),
            polynomial: is_polynomial.then(|| Polynomial::new(&matrix)),
            krylov: is_krylov.then(|| KrylovStep::new(&matrix)),
            matrix,
        }
    }

    fn bytes(&self) -> usize {
        let transfer: usize = self.transfer.as_ref().map_or(0, Transfer::bytes);
        self.matrix.bytes()
            + transfer
            + self.weights.bytes()
            + 3 * self.x.bytes()
            + self.inverse.as_ref().map_or(0, Inverse::bytes)
            + self.polynomial.as_ref().map_or(0, Polynomial::bytes)
            + self.krylov.as_ref().map_or(0, KrylovStep::bytes)
    }

    /// `sweeps` sweeps from zero or from x.
    fn smooth(&mut self, smoother: Smoother, sweeps: usize, start: Start, backwards: bool) {
        let Level { matrix, weights, b, x, other, colours, polynomial, .. } = self;
        let (n, is_zero) = (matrix.rows(), start == Start::Zero);
        if is_zero && (sweeps == 0 || smoother == Smoother::GaussSeidel) {
            blas::fill(matrix.backend(), n, S::literal(0.0), x);
        }
        match smoother {
            Smoother::L1Jacobi => {
                // The kernel that wrote b has made the first sweep from zero.
                for sweep in usize::from(is_zero)..sweeps {
                    matrix.fetch_unless(sweep == 0 && start == Start::WithGhosts, x);
                    jacobi(matrix, x, b, weights, other);
                    std::mem::swap(x, other);
                }
            }
            Smoother::Chebyshev { degree } => {
                for k in 0..sweeps {
                    if let Some(polynomial) = polynomial {
                        polynomial.sweep(matrix, degree, is_zero && k == 0, (b, weights), x);
                    }
                }
            }
            Smoother::GaussSeidel => {
                for _ in 0..sweeps {
                    sweep(matrix, colours, backwards, b, weights, x);
                }
            }
        }
    }
}
