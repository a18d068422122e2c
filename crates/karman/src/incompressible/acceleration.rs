//! Anderson acceleration of the iteration towards a steady flow.
//!
//! An iteration maps the fields x (velocity, pressure, temperature, fluxes) to g(x); f = g(x) − x vanishes in the steady
//! state. The next fields are Σ α_j g(x_j) over the last iterations, Σ α_j = 1, with the α that minimise |Σ α_j f_j|: GMRES
//! for a linear g. Fluxes of the combination are divergence-free as those of each g(x_j) are. The norm is
//!
//! |f|² = Σ V |f_u|² / Σ V |u|² + Σ V f_p² Σ V / (Σ V |u|²)² + Σ V f_T² / Σ V (T − T₀)².
//!
//! The least-squares problem is solved on the host from the inner products of the f_j, of which an iteration adds one row.
//!
//! Sources: Anderson, J. ACM 12 (1965) 547; Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::IncompressibleError;
use super::flow::Flow;
use crate::backend::{Backend, Buffer, Partials, View, blas};
use crate::real::Real;
use karman_backend::prelude::*;

/// Iterations that are combined at most.
pub(super) const DEPTH: usize = 6;

/// Fields of a [`FieldBlock`].
const BLOCK: usize = 4;

/// The first iteration of the history: those before change the flow most.
const FIRST: usize = 3;

/// Relative increase of the diagonal of the least-squares problem.
const REGULARISATION: f64 = 1e-8;

/// Largest Σ|α| of a combination.
const LARGEST_SUM: f64 = 1e4;

/// Four fields: `[n_cells]` each.
#[derive(Group, Clone, Copy)]
pub struct FieldBlock<'a, F: Real> {
    /// The first.
    pub v0: View<'a, F>,
    /// The second.
    pub v1: View<'a, F>,
    /// The third.
    pub v2: View<'a, F>,
    /// The fourth.
    pub v3: View<'a, F>,
}

impl<'a, F: Real> FieldBlock<'a, F> {
    /// At most `BLOCK` fields; the last fills the places that remain.
    pub fn of(fields: &[&'a Buffer<F>]) -> Self {
        let v = |k: usize| fields[k.min(fields.len() - 1)].view();
        FieldBlock { v0: v(0), v1: v(1), v2: v(2), v3: v(3) }
    }
}

/// Inner products with the fields of a [`FieldBlock`].
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Products<F: Real> {
    /// With the first.
    pub p0: F,
    /// With the second.
    pub p1: F,
    /// With the third.
    pub p2: F,
    /// With the fourth.
    pub p3: F,
}

/// V (x − reference) (y_j − reference) of four fields y_j. Traffic 6s.
#[kernel(reduce(sum, sum, sum, sum))]
pub fn products_with_block<F: Real>(
    c: usize,
    volume: &View<F>,
    x: &View<F>,
    block: &FieldBlock<F>,
    reference: F,
) -> (F, F, F, F) {
    let a = volume[c] * (x[c] - reference);
    (
        a * (block.v0[c] - reference),
        a * (block.v1[c] - reference),
        a * (block.v2[c] - reference),
        a * (block.v3[c] - reference),
    )
}

/// Accumulates the inner products of one field.
#[kernel(combine(sum, sum, sum, sum), update(products))]
pub(super) fn accumulate_products(
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    products: Products<f64>,
) -> Products<f64> {
    Products::<f64> {
        p0: products.p0 + a,
        p1: products.p1 + b,
        p2: products.p2 + c,
        p3: products.p3 + d,
    }
}

/// Quantities with a scale of their own.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    Velocity,
    Pressure,
    Temperature,
}

/// g and f of an iteration.
struct Iterate<F: Real> {
    /// The components of the velocity, pressure, temperature, fluxes.
    g: Vec<Buffer<F>>,
    /// As g, without the fluxes.
    f: Vec<Buffer<F>>,
    /// The force that keeps the mean velocity: `[3]`.
    force: Buffer<f64>,
}

/// Inner products ⟨f_i, f_j⟩ of a quantity.
type Gram = [[f64; DEPTH]; DEPTH];

/// The last iterations of a steady flow.
pub(super) struct Acceleration<F: Real> {
    /// A ring.
    iterates: Vec<Iterate<F>>,
    /// Places in the ring, the newest first.
    order: Vec<usize>,
    /// Of velocity, pressure, temperature.
    gram: [Gram; 3],
    /// x of the iteration.
    start: Vec<Buffer<F>>,
    partials: Partials,
    products: Buffer<f64>,
    total_volume: f64,
    iterations: usize,
}

/// The cell fields of an iteration with their quantities.
fn fields<F: Real>(flow: &Flow<F>) -> Vec<(Quantity, &Buffer<F>)> {
    let velocity = flow.components.iter().map(|c| (Quantity::Velocity, &c.now));
    let pressure = [(Quantity::Pressure, &flow.pressure.value)];
    let temperature = flow.thermal.iter().map(|t| (Quantity::Temperature, &t.field.now));
    velocity.chain(pressure).chain(temperature).collect()
}

/// The fields of an iteration, fluxes last.
fn fields_mut<F: Real>(flow: &mut Flow<F>) -> Vec<&mut Buffer<F>> {
    let Flow { components, pressure, thermal, flux, .. } = flow;
    let velocity = components.iter_mut().map(|c| &mut c.now);
    let temperature = thermal.iter_mut().map(|t| &mut t.field.now);
    velocity.chain([&mut pressure.value]).chain(temperature).chain([flux]).collect()
}

impl<F: Real> Acceleration<F> {
    pub(super) fn new(flow: &Flow<F>) -> Result<Self, IncompressibleError> {
        let (backend, n) = (&flow.backend, flow.n_cells());
        let zeros = |count: usize| (0..count).map(|_| backend.zeros(n)).collect::<Vec<_>>();
        let count = fields(flow).len();
        let iterate = |_| {
            let mut g = zeros(count);
            g.push(backend.zeros(flow.flux.len()));
            Iterate { g, f: zeros(count), force: backend.zeros(3) }
        };
        Ok(Acceleration {
            iterates: (0..DEPTH).map(iterate).collect(),
            order: vec![],
            gram: [[[0.0; DEPTH]; DEPTH]; 3],
            start: zeros(count),
            partials: Partials::new(backend, n, BLOCK),
            products: backend.zeros(BLOCK),
            total_volume: blas::sum(backend, n, &flow.faces.volume)?,
            iterations: 0,
        })
    }

    /// Takes note of the fields before an iteration.
    pub(super) fn begin(&mut self, flow: &Flow<F>) {
        for ((_, from), to) in fields(flow).into_iter().zip(&mut self.start) {
            blas::copy(&flow.backend, to.len(), from, to);
        }
    }

    /// Forgets the iterations before.
    pub(super) fn restart(&mut self) {
        self.order.clear();
    }

    /// Replaces the fields after an iteration by the best combination with those before.
    pub(super) fn combine(&mut self, flow: &mut Flow<F>) -> Result<(), IncompressibleError> {
        self.iterations += 1;
        if self.iterations < FIRST {
            return Ok(());
        }
        self.store(flow);
        let weights = self.weights(flow)?;
        if weights.len() < 2 {
            return Ok(());
        }
        let backend = flow.backend.clone();
        for (k, field) in fields_mut(flow).into_iter().enumerate() {
            let n = self.iterates[0].g[k].len();
            sum_of(&backend, n, &weights, |place| &self.iterates[place].g[k], field);
        }
        let Flow { faces, components, pressure, thermal, .. } = &mut *flow;
        let velocity = components.iter_mut().map(|component| &mut component.now);
        let temperature = thermal.iter_mut().map(|thermal| &mut thermal.field.now);
        let of_cells = velocity.chain([&mut pressure.value]).chain(temperature);
        faces.cells.fetch(&mut of_cells.collect::<Vec<_>>());
        if let Some(mean) = &mut flow.mean_velocity {
            let n = mean.force.len();
            sum_of(&backend, n, &weights, |place| &self.iterates[place].force, &mut mean.force);
        }
        Ok(())
    }

    /// Stores g and f of the iteration in place of the oldest.
    fn store(&mut self, flow: &Flow<F>) {
        let used = self.order.len();
        let slot = if used < DEPTH {
            (0..DEPTH).find(|slot| !self.order.contains(slot)).unwrap_or(0)
        } else {
            self.order.pop().unwrap_or(0)
        };
        self.order.insert(0, slot);
        let Iterate { g, f, force } = &mut self.iterates[slot];
        let (one, zero) = (F::literal(1.0), F::literal(0.0));
        for (k, (_, now)) in fields(flow).into_iter().enumerate() {
            let (n, start) = (self.start[k].len(), &self.start[k]);
            blas::copy(&flow.backend, n, now, &mut g[k]);
            blas::axpbypcz(&flow.backend, n, one, now, -one, start, zero, &mut f[k]);
        }
        if let Some(flux) = g.last_mut() {
            blas::copy(&flow.backend, flux.len(), &flow.flux, flux);
        }
        if let Some(mean) = &flow.mean_velocity {
            blas::copy(&flow.backend, mean.force.len(), &mean.force, force);
        }
    }

    /// α with their places; the newest alone where no combination is acceptable.
    fn weights(&mut self, flow: &Flow<F>) -> Result<Vec<(usize, f64)>, IncompressibleError> {
        let scales = self.scales(flow)?;
        self.update_products(flow)?;
        let slot = self.order[0];
        let gram = |i: usize, j: usize| {
            scales.iter().zip(&self.gram).map(|(scale, gram)| scale * gram[i][j]).sum::<f64>()
        };
        let others = &self.order[1..];
        let newest = gram(slot, slot);
        // |f₀ + Σ α_j (f_j − f₀)|² is least.
        let rows = others.iter().map(|i| {
            let row = others
                .iter()
                .map(|j| gram(*i, *j) - gram(*i, slot) - gram(slot, *j) + newest)
                .chain([newest - gram(*i, slot)]);
            row.collect::<Vec<f64>>()
        });
        let alpha = solve(rows.collect());
        let sum: f64 = alpha.iter().sum();
        let mut weights = vec![(slot, 1.0 - sum)];
        weights.extend(others.iter().copied().zip(alpha));
        let size: f64 = weights.iter().map(|(_, alpha)| alpha.abs()).sum();
        // False for NaN.
        if size <= LARGEST_SUM {
            return Ok(weights);
        }
        Ok(vec![(slot, 1.0)])
    }

    /// The factors of the squares of velocity, pressure and temperature in the norm.
    fn scales(&mut self, flow: &Flow<F>) -> Result<[f64; 3], IncompressibleError> {
        let Acceleration { partials, products, .. } = self;
        let mut square = |quantity: Quantity, reference: f64| {
            let own = fields(flow).into_iter().filter(|(own, _)| *own == quantity);
            let pairs = own.map(|(_, now)| (now, vec![now])).collect();
            let (backend, volume) = (&flow.backend, (flow.n_cells(), &flow.faces.volume));
            accumulate(backend, volume, pairs, reference, (partials, products))
        };
        let reference = flow.thermal.as_ref().map_or(0.0, |thermal| thermal.reference());
        let [velocity, ..] = square(Quantity::Velocity, 0.0)?;
        let [temperature, ..] = square(Quantity::Temperature, reference)?;
        let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        let of_velocity = inverse(velocity);
        let of_pressure = self.total_volume * of_velocity * of_velocity;
        Ok([of_velocity, of_pressure, inverse(temperature)])
    }

    /// The inner products of the newest f with all.
    fn update_products(&mut self, flow: &Flow<F>) -> Result<(), IncompressibleError> {
        let Acceleration { iterates, order, gram, partials, products, .. } = self;
        let slot = order[0];
        let quantities: Vec<Quantity> = fields(flow).into_iter().map(|(own, _)| own).collect();
        for quantity in [Quantity::Velocity, Quantity::Pressure, Quantity::Temperature] {
            let own: Vec<usize> =
                (0..quantities.len()).filter(|k| quantities[*k] == quantity).collect();
            if own.is_empty() {
                continue;
            }
            for block in order.chunks(BLOCK) {
                let pairs = own.iter().map(|k| {
                    let with = block.iter().map(|j| &iterates[*j].f[*k]).collect();
                    (&iterates[slot].f[*k], with)
                });
                let found = accumulate(
                    &flow.backend,
                    (flow.n_cells(), &flow.faces.volume),
                    pairs.collect(),
                    0.0,
                    (partials, products),
                )?;
                for (j, value) in block.iter().zip(found) {
                    gram[quantity as usize][slot][*j] = value;
                    gram[quantity as usize][*j][slot] = value;
                }
            }
        }
        Ok(())
    }
}

/// y ← Σ α x of `n` entries, α with the place of x.
fn sum_of<'a, F: Real>(
    backend: &Backend,
    n: usize,
    weights: &[(usize, f64)],
    x: impl Fn(usize) -> &'a Buffer<F>,
    y: &mut Buffer<F>,
) {
    let mut kept = F::literal(0.0);
    for pair in weights.chunks(2) {
        let [(i, a), (j, b)] = [pair[0], *pair.get(1).unwrap_or(&(pair[0].0, 0.0))];
        let (a, b) = (F::from_f64(a), F::from_f64(b));
        blas::axpbypcz(backend, n, a, x(i), b, x(j), kept, y);
        kept = F::literal(1.0);
    }
}

/// Σ over pairs (x, y_j) of Σ V (x − reference)(y_j − reference) over `n` cells, for at most [`BLOCK`] y_j.
fn accumulate<F: Real>(
    backend: &Backend,
    (n, volume): (usize, &Buffer<F>),
    pairs: Vec<(&Buffer<F>, Vec<&Buffer<F>>)>,
    reference: f64,
    (partials, products): (&mut Partials, &mut Buffer<f64>),
) -> Result<[f64; BLOCK], IncompressibleError> {
    let reference = F::from_f64(reference);
    blas::fill(backend, BLOCK, 0.0, products);
    for (x, with) in pairs {
        let block = FieldBlock::of(&with);
        products_with_block(backend, n, volume, x, &block, reference, partials);
        accumulate_products(backend, partials, products);
    }
    let found = backend.read(products)?;
    Ok([found[0], found[1], found[2], found[3]])
}

/// The solution of a symmetric positive system whose rows end with the right-hand side; rows and columns scaled by the
/// diagonal, which is then increased by [`REGULARISATION`].
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let m = rows.len();
    let scale: Vec<f64> = (0..m).map(|i| rows[i][i].abs().sqrt().max(f64::MIN_POSITIVE)).collect();
    for (i, row) in rows.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            *value /= scale[i] * scale.get(j).unwrap_or(&1.0);
        }
        row[i] += REGULARISATION;
    }
    for k in 0..m {
        let pivot = rows[k].clone();
        for row in &mut rows[k + 1..] {
            let factor = row[k] / pivot[k];
            for (value, above) in row.iter_mut().zip(&pivot).skip(k) {
                *value -= factor * above;
            }
        }
    }
    let mut x = vec![0.0; m];
    for k in (0..m).rev() {
        let known: f64 = (k + 1..m).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][m] - known) / rows[k][k];
    }
    x.iter().zip(scale).map(|(x, scale)| x / scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::{everywhere, round_off, values};

    #[test]
    fn products_are_those_of_the_fields_on_every_backend() {
        for backend in everywhere() {
            for n in [1, 7, 5000] {
                let fields: Vec<Vec<f64>> = (0..4).map(|k| values(n, 3 + k)).collect();
                let (volume, x) = (values(n, 1), values(n, 2));
                let on = |v: &Vec<f64>| backend.upload(v.clone());
                let (on_volume, on_x) = (on(&volume), on(&x));
                let on_fields: Vec<Buffer<f64>> = fields.iter().map(on).collect();
                let mut partials = Partials::new(&backend, n, BLOCK);
                let mut products = backend.zeros(BLOCK);
                let into = (&mut partials, &mut products);
                let pairs = vec![(&on_x, on_fields.iter().collect())];
                let found = accumulate(&backend, (n, &on_volume), pairs, 0.25, into).unwrap();
                for (found, y) in found.iter().zip(&fields) {
                    let terms = (0..n).map(|c| volume[c] * (x[c] - 0.25) * (y[c] - 0.25));
                    let sum: f64 = terms.sum();
                    assert!((found - sum).abs() <= round_off(n, 8.0), "{found} {sum}");
                }
            }
        }
    }

    #[test]
    fn small_systems_are_solved() {
        let x = solve(vec![vec![4.0, 1.0, 6.0], vec![1.0, 3.0, 7.0]]);
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 2.0).abs() < 1e-6, "{x:?}");
        assert_eq!(solve(vec![]), Vec::<f64>::new());
        // Equal rows: the regularisation decides, and the values stay bounded.
        let x = solve(vec![vec![1.0, 1.0, 1.0], vec![1.0, 1.0, 1.0]]);
        assert!((x[0] + x[1] - 1.0).abs() < 1e-6, "{x:?}");
    }
}
