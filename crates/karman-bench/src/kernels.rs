//! The kernels of [`karman::backend::test_kernels`] on synthetic connectivity with the locality of a
//! renumbered mesh.

use super::{Bench, values};
use karman::backend::scan::{compact, exclusive_scan};
use karman::backend::test_kernels::{
    CellSides, CellState, CsrView, PatternView, Reconstruction, Tetrahedra, Upwinding, galerkin,
    residual, smooth,
};
use karman::backend::{Backend, BackendError, Buffer};
use karman::real::Real;

/// Neighbour `k` of a cell of the synthetic mesh: close in the numbering, as in a renumbered mesh.
fn neighbour(c: usize, k: usize, n: usize) -> u32 {
    const STEPS: [usize; 16] =
        [1, 37, 1009, 17, 2, 38, 1010, 53, 3, 74, 2018, 91, 19, 1046, 972, 107];
    let step = STEPS[k / 2 % 16] % n;
    (if k.is_multiple_of(2) { (c + step) % n } else { (c + n - step) % n }) as u32
}

/// Cells of the quadratic stencil.
const WIDTH: usize = 15;

/// Times the residual, the Galerkin product, the smoothing, the scan and the compaction on `n`
/// entities.
///
/// # Errors
/// [`BackendError::Device`] where the device failed.
pub fn kernels(bench: &mut Bench, n: usize) -> Result<(), BackendError> {
    let data = KernelData::new(bench, n);
    data.residuals(bench)?;
    data.galerkin_product(bench)?;
    data.smoothing(bench)?;
    let flags = bench.backend.upload((0..n as u32).map(|i| i * 7919 % 3 / 2).collect());
    let mut offsets = bench.backend.zeros(n + 1);
    bench.time("scan", "u32", n, 8.0 * n as f64, |k| exclusive_scan(k, &flags, &mut offsets))?;
    let mut failure = None;
    bench.time("scan and compaction", "u32", n, 8.0 * n as f64, |k| {
        failure = compact(k, &flags).err().or(failure.take());
    })?;
    failure.map_or(Ok(()), Err)
}

pub(crate) struct KernelData {
    n: usize,
    state: Buffer<f64>,
    neighbour: Buffer<u32>,
    neighbour_side: Buffer<u32>,
    area: Buffer<f64>,
    stencil: Buffer<u32>,
}

impl KernelData {
    pub(crate) fn new(bench: &Bench, n: usize) -> KernelData {
        let backend = bench.backend;
        let mut state = values::<f64>(5 * n);
        for (i, q) in state.iter_mut().enumerate() {
            *q = match i / n {
                0 => 1.0 + 0.1 * *q,
                4 => 2.5 + *q,
                _ => 0.3 * *q - 0.2,
            };
        }
        let sides = |f: &dyn Fn(usize, usize) -> u32| -> Vec<u32> {
            (0..4 * n).map(|k| f(k % n, k / n)).collect()
        };
        KernelData {
            n,
            state: backend.upload(state),
            neighbour: backend.upload(sides(&|c, side| neighbour(c, side, n))),
            neighbour_side: backend.upload(sides(&|_, side| (side ^ 1) as u32)),
            area: backend.upload(values::<f64>(12 * n)),
            stencil: backend.upload((0..WIDTH * n).map(|k| neighbour(k % n, k / n, n)).collect()),
        }
    }

    /// The residual with stored `weights`.
    fn residual_of<S: Real>(
        &self,
        backend: &Backend,
        weights: &Buffer<S>,
        upwinding: Upwinding,
        result: &mut Buffer<f64>,
    ) {
        let q = CellState { mean: self.state.view(), n: self.n };
        let sides = CellSides {
            neighbour: self.neighbour.view(),
            neighbour_side: self.neighbour_side.view(),
            area: self.area.view(),
        };
        let (cells, weights) = (self.stencil.view(), weights.view());
        let stencil = Reconstruction { cells, weights, width: WIDTH };
        residual(backend, self.n, &q, &sides, &stencil, 1.4, upwinding, result);
    }

    fn residuals(&self, bench: &mut Bench) -> Result<(), BackendError> {
        let n = self.n;
        let mut result = bench.backend.zeros::<f64>(5 * n);
        let weights = values::<f32>(4 * WIDTH * n).into_iter().map(|w| (w - 1.0) * 0.05);
        let narrow = bench.backend.upload(weights.clone().collect::<Vec<f32>>());
        let wide = bench.backend.upload(weights.map(f64::from).collect::<Vec<f64>>());
        let shared = 32.0 + 96.0 + 4.0 * WIDTH as f64 + 80.0;
        let bytes = |weight: f64| (shared + 4.0 * weight * WIDTH as f64) * n as f64;
        bench.time("quadratic Roe residual, f32 weights", "f64", n, bytes(4.0), |k| {
            self.residual_of(k, &narrow, Upwinding::Roe, &mut result);
        })?;
        bench.time("quadratic Roe residual", "f64", n, bytes(8.0), |k| {
            self.residual_of(k, &wide, Upwinding::Roe, &mut result);
        })
    }

    /// A: seven entries per row; aggregates of eight consecutive rows, one weight per row.
    fn galerkin_product(&self, bench: &mut Bench) -> Result<Buffer<f64>, BackendError> {
        let backend = bench.backend;
        let n = self.n / 8 * 8;
        let coarse = n / 8;
        let row = |r: usize| {
            let mut columns: Vec<u32> =
                (0..6).map(|k| neighbour(r, k, n)).chain([r as u32]).collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        let mut a_offsets = vec![0u32];
        let mut a_columns = vec![];
        for r in 0..n {
            a_columns.extend(row(r));
            a_offsets.push(a_columns.len() as u32);
        }
        let mut offsets = vec![0u32];
        let mut columns: Vec<u32> = vec![];
        for i in 0..coarse {
            let range = a_offsets[8 * i] as usize..a_offsets[8 * i + 8] as usize;
            let mut own: Vec<u32> = a_columns[range].iter().map(|c| c / 8).collect();
            own.sort_unstable();
            own.dedup();
            columns.extend(own);
            offsets.push(columns.len() as u32);
        }
        let entries = a_columns.len() + 2 * n;
        let bytes = 12.0 * (entries + columns.len()) as f64 + 4.0 * (2 * n + 2 * coarse) as f64;
        let a_values = backend.upload(values::<f64>(a_columns.len()));
        let r_offsets = backend.upload((0..=coarse as u32).map(|i| 8 * i).collect());
        let r_columns = backend.upload((0..n as u32).collect());
        let p_offsets = backend.upload((0..=n as u32).collect());
        let p_columns = backend.upload((0..n as u32).map(|i| i / 8).collect());
        let weights = backend.upload(values::<f64>(n));
        let mut product = backend.zeros::<f64>(columns.len());
        let (a_offsets, a_columns) = (backend.upload(a_offsets), backend.upload(a_columns));
        let (offsets, columns) = (backend.upload(offsets), backend.upload(columns));
        let r = csr(&r_offsets, &r_columns, &weights);
        let a = csr(&a_offsets, &a_columns, &a_values);
        let p = csr(&p_offsets, &p_columns, &weights);
        let pattern = PatternView { offsets: offsets.view(), columns: columns.view() };
        bench.time("Galerkin product, values", "f64", n, bytes, |k| {
            galerkin(k, coarse, &r, &a, &p, &pattern, &mut product);
        })?;
        Ok(product)
    }

    /// Cavities of 24 cells on a synthetic mesh of six cells a node.
    fn smoothing(&self, bench: &mut Bench) -> Result<Buffer<f64>, BackendError> {
        let backend = bench.backend;
        let (nodes, cells) = (self.n / 6, self.n);
        let corner = |cell: usize, k: usize| match k {
            0 => (cell % nodes) as u32,
            _ => neighbour(cell % nodes, 2 * k + cell / nodes, nodes),
        };
        let connectivity: Vec<u32> = (0..4 * cells).map(|i| corner(i % cells, i / cells)).collect();
        let mut offsets = vec![0u32; nodes + 1];
        connectivity.iter().for_each(|v| offsets[*v as usize + 1] += 1);
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut around = vec![0u32; 4 * cells];
        for cell in 0..cells {
            for k in 0..4 {
                let v = connectivity[k * cells + cell] as usize;
                around[next[v] as usize] = cell as u32;
                next[v] += 1;
            }
        }
        let mut metric = values::<f64>(6 * nodes);
        for (i, m) in metric.iter_mut().enumerate() {
            *m = if matches!(i / nodes, 0 | 3 | 5) { 1.0 + *m } else { 0.1 * *m };
        }
        let (offsets, around) = (backend.upload(offsets), backend.upload(around));
        let connectivity = backend.upload(connectivity);
        // Each coordinate has a formula of its own: cells of points along a few lines would be degenerate,
        // and rounding would decide whether a displacement makes them worse.
        let ratios = [2f64, 3.0, 5.0].map(f64::sqrt);
        let points = (0..3 * nodes).map(|i| ((i % nodes + 1) as f64 * ratios[i / nodes]).fract());
        let (points, metric) = (backend.upload(points.collect()), backend.upload(metric));
        let mut moved = backend.zeros::<f64>(3 * nodes);
        let bytes = (4.0 + 16.0 * 12.0 + 24.0 + 48.0 + 24.0) * nodes as f64;
        let mesh = Tetrahedra {
            offsets: offsets.view(),
            cells: around.view(),
            nodes: connectivity.view(),
            points: points.view(),
            n_nodes: nodes,
            n_cells: cells,
        };
        bench.time("smoothing cavity", "f64", nodes, bytes, |k| {
            smooth(k, nodes, &mesh, &metric, &mut moved);
        })?;
        Ok(moved)
    }
}

fn csr<'a>(
    offsets: &'a Buffer<u32>,
    columns: &'a Buffer<u32>,
    values: &'a Buffer<f64>,
) -> CsrView<'a, f64> {
    CsrView { offsets: offsets.view(), columns: columns.view(), values: values.view() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karman::backend::testing::everywhere;

    /// The results of one run of each kernel, concatenated.
    fn results(backend: &karman::backend::Backend, n: usize) -> Vec<f64> {
        let mut bench = Bench::new(backend, 0.0);
        let data = KernelData::new(&bench, n);
        let weights =
            backend.upload(values::<f32>(4 * WIDTH * n).iter().map(|w| (w - 1.0) * 0.05).collect());
        let mut out = vec![];
        for upwinding in [Upwinding::Roe, Upwinding::Rusanov] {
            let mut result = backend.zeros::<f64>(5 * n);
            data.residual_of(backend, &weights, upwinding, &mut result);
            out.extend(backend.read(&result).unwrap());
        }
        out.extend(backend.read(&data.galerkin_product(&mut bench).unwrap()).unwrap());
        out.extend(backend.read(&data.smoothing(&mut bench).unwrap()).unwrap());
        out
    }

    #[test]
    fn the_test_kernels_are_equal_on_all_backends() {
        let backends = everywhere();
        let expected = results(&backends[0], 3000);
        assert!(expected.iter().all(|v| v.is_finite()) && expected.iter().any(|v| v.abs() > 0.1));
        for backend in &backends[1..] {
            for (found, expected) in results(backend, 3000).iter().zip(&expected) {
                let error = (found - expected).abs();
                let bound = 1e-13 * expected.abs().max(1.0);
                assert!(error <= bound, "{backend:?} {found} {expected}: {error}");
            }
        }
    }

    #[test]
    fn the_test_kernels_are_timed_on_all_backends() {
        for backend in everywhere() {
            let mut bench = Bench::new(&backend, 0.0);
            kernels(&mut bench, 6000).unwrap();
            assert_eq!(bench.rows.len(), 6);
            assert!(bench.rows.iter().all(|r| r.seconds > 0.0 && r.bytes > 0.0));
        }
    }

    #[test]
    #[ignore = "a benchmark: cargo test --release -p karman-bench --features cuda --lib kernels_timed \
                -- --ignored --nocapture"]
    #[allow(clippy::print_stdout)]
    fn kernels_timed() {
        let device = karman::backend::testing::devices().into_iter().next();
        let backend = device.unwrap_or_else(|| everywhere().swap_remove(1));
        let mut bench = Bench::new(&backend, 0.2);
        let n = if backend.device().is_some() { 1 << 26 } else { 1 << 22 };
        super::super::streaming::<f64>(&mut bench, n).unwrap();
        super::super::streaming::<f32>(&mut bench, 2 * n).unwrap();
        kernels(&mut bench, n / 32).unwrap();
        println!("{}", bench.table(0));
    }
}
