//! Metrics from a computed field: second derivatives, scaled to a number of vertices; gradation.

use crate::error::AdaptError;
use crate::metric::{Eigen, Metric};
use crate::vector::{Point, subtract};
use karman_mesh::{Adjacency, Mesh};
use rayon::prelude::*;

/// Parameters of [`metric_of_field`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HessianOptions {
    /// p of the Lᵖ norm of the interpolation error that the metric minimises. Default 2.
    pub norm: f64,
    /// Complexity ∫ √det M: about half of the number of vertices.
    pub complexity: f64,
    /// Smallest size.
    pub h_min: f64,
    /// Largest size.
    pub h_max: f64,
    /// Largest ratio of the sizes at a place. Default 1e3.
    pub anisotropy: f64,
}

/// The values of a field at the nodes or in the cells of a mesh.
#[derive(Clone, Copy, Debug)]
pub enum FieldSamples<'a> {
    /// A value for each node.
    Nodes(&'a [f64]),
    /// A value for each cell, taken as that at the mean of its nodes.
    Cells(&'a [f64]),
}

/// The metric at the nodes of a mesh that minimises the interpolation error of a field in the Lᵖ norm at a given complexity:
/// M = D (det |H|)^{−1/(2p + d)} |H| with the Hessian H of the field and D such that ∫ √det M is the complexity
/// (Loseille & Alauzet, *SIAM Journal on Numerical Analysis* 49, 2011). Sizes are bounded by `h_min`, `h_max` and `anisotropy`.
///
/// # Errors
/// Parameters out of range.
pub fn metric_of_field(
    mesh: &Mesh,
    samples: FieldSamples<'_>,
    options: &HessianOptions,
) -> Result<Vec<Metric>, AdaptError> {
    metric_of_hessians(mesh, &absolute_hessians(mesh, samples), options)
}

/// |H| at the nodes of a mesh, `[n_nodes]`: the Hessian of a field with the absolute values of its eigenvalues, which are at least
/// 1e-12 of its largest entry.
pub fn absolute_hessians(mesh: &Mesh, samples: FieldSamples<'_>) -> Vec<Metric> {
    let mut hessians = hessians(mesh, samples);
    let floor = floor(mesh.dimension, &[&hessians]);
    hessians.par_iter_mut().for_each(|hessian| {
        let absolute = hessian.map(|value| value.abs().max(floor));
        *hessian = flatten(&absolute, mesh.dimension);
    });
    hessians
}

/// Replaces each of `all`, |H| at the nodes `[n_nodes]`, by its intersection with that of `others`: the metric of several times or fields
/// (Alauzet, Frey, George & Mohammadi, *Journal of Computational Physics* 222, 2007).
pub fn intersect_hessians(dimension: usize, all: &mut [Metric], others: &[Metric]) {
    let floor = floor(dimension, &[&*all, others]);
    all.par_iter_mut().zip(others).for_each(|(own, other)| {
        let mut other = *other;
        raise(own, floor, dimension);
        raise(&mut other, floor, dimension);
        *own = flatten(&own.intersection(&other), dimension);
    });
}

/// Least eigenvalue of Hessians: 1e-12 of the largest entry.
fn floor(dimension: usize, lists: &[&[Metric]]) -> f64 {
    let entries = lists.iter().copied().flatten().flat_map(|hessian| match dimension {
        2 => Metric { zz: 0.0, ..*hessian }.entries(),
        _ => hessian.entries(),
    });
    // A field without curvature has the largest size everywhere.
    (1e-12 * entries.fold(0.0_f64, |a, b| a.max(b.abs()))).max(1e-300)
}

/// Raises eigenvalues to `floor`, in 2D those of the plane.
fn raise(hessian: &mut Metric, floor: f64, dimension: usize) {
    *hessian = flatten(&hessian.map(|value| value.max(floor)), dimension);
}

/// As [`metric_of_field`], of the positive definite tensors |H| at the nodes, `[n_nodes]`.
///
/// # Errors
/// Parameters out of range.
pub fn metric_of_hessians(
    mesh: &Mesh,
    hessians: &[Metric],
    options: &HessianOptions,
) -> Result<Vec<Metric>, AdaptError> {
    check(options)?;
    let d = mesh.dimension as f64;
    let volumes = node_volumes(mesh);
    let power = -1.0 / (2.0 * options.norm + d);
    let shape = |hessian: &Metric| {
        flatten(&hessian.scale(hessian.determinant().powf(power)), mesh.dimension).eigen()
    };
    let shapes: Vec<Eigen> = hessians.par_iter().map(shape).collect();
    // The factor D by bisection on its logarithm: bounds make the complexity a monotone function of it.
    let complexity = |factor: f64| {
        let density = |(shape, volume): (&Eigen, &f64)| {
            let [a, b, c] = bound(shape, factor, options, mesh.dimension);
            volume * (a * b * c).sqrt()
        };
        let terms: Vec<f64> = shapes.par_iter().zip(&volumes).map(density).collect();
        terms.iter().fold(0.0, |sum, term| sum + term)
    };
    let (mut low, mut high) = (-80.0_f64, 80.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if complexity(middle.exp()) < options.complexity { low = middle } else { high = middle }
    }
    let factor = (0.5 * (low + high)).exp();
    let bounded = |shape: &Eigen| {
        let values = bound(shape, factor, options, mesh.dimension);
        flatten(&Metric::from_eigen(&Eigen { values, ..*shape }), mesh.dimension)
    };
    Ok(shapes.par_iter().map(bounded).collect())
}

impl HessianOptions {
    /// The bounds `[h_min, h_max]` of sizes of which either may be missing: then none, and the diagonal of the bounding box.
    pub fn size_bounds(mesh: &Mesh, h_min: Option<f64>, h_max: Option<f64>) -> [f64; 2] {
        let least = h_min.unwrap_or(f64::MIN_POSITIVE.sqrt());
        [least, h_max.unwrap_or(mesh.bounding_box_diagonal())]
    }
}

fn check(options: &HessianOptions) -> Result<(), AdaptError> {
    let refuse = |key, value, reason| Err(AdaptError::Value { key, value, reason });
    let is_positive = |value: f64| value > 0.0 && value.is_finite();
    if !(options.norm >= 1.0 && options.norm.is_finite()) {
        return refuse("norm", options.norm, "a number of at least 1");
    }
    if !is_positive(options.complexity) {
        return refuse("complexity", options.complexity, "a positive number");
    }
    if !is_positive(options.h_min) {
        return refuse("h_min", options.h_min, "a positive number");
    }
    if options.h_max.is_nan() || options.h_max < options.h_min {
        return refuse("h_max", options.h_max, "a number of at least h_min");
    }
    if options.anisotropy.is_nan() || options.anisotropy < 1.0 {
        return refuse("anisotropy", options.anisotropy, "a number of at least 1");
    }
    Ok(())
}

/// The tensor with the third direction of 2D set to 1.
fn flatten(tensor: &Metric, dimension: usize) -> Metric {
    if dimension == 2 { Metric { xz: 0.0, yz: 0.0, zz: 1.0, ..*tensor } } else { *tensor }
}

/// The eigenvalues of a tensor times a factor, within the bounds of the sizes and of their ratio.
fn bound(shape: &Eigen, factor: f64, options: &HessianOptions, dimension: usize) -> [f64; 3] {
    let [least, most] = [options.h_max, options.h_min].map(|h| 1.0 / (h * h));
    // In 2D the third direction stays as it is.
    let is_free = |direction: usize| dimension == 3 || shape.vectors[direction][2].abs() < 0.5;
    let mut values = shape.values;
    let mut largest = 0.0_f64;
    for (direction, value) in values.iter_mut().enumerate().filter(|(k, _)| is_free(*k)) {
        *value = (factor * shape.values[direction]).clamp(least, most);
        largest = largest.max(*value);
    }
    let floor = largest / (options.anisotropy * options.anisotropy);
    for (_, value) in values.iter_mut().enumerate().filter(|(k, _)| is_free(*k)) {
        *value = value.max(floor);
    }
    values
}

/// The volume (area) of each node: an equal share of each of its cells.
fn node_volumes(mesh: &Mesh) -> Vec<f64> {
    let mut volumes = vec![0.0; mesh.n_nodes()];
    for cell in 0..mesh.n_cells() {
        let nodes = mesh.cells.nodes_of(cell);
        let (volume, _) =
            karman_mesh::geometry::cell_measure(mesh.cells.shapes[cell], nodes, &mesh.points);
        nodes.iter().for_each(|&node| volumes[node as usize] += volume / nodes.len() as f64);
    }
    volumes
}

/// Second derivatives at the nodes, by a quadratic polynomial fitted to the samples of two layers of cells around each node with
/// weights 1/r²; exact for quadratic fields of nodes.
fn hessians(mesh: &Mesh, samples: FieldSamples<'_>) -> Vec<Metric> {
    let around = mesh.node_to_cells();
    let centre = |cell: usize| {
        let nodes = mesh.cells.nodes_of(cell);
        let sum = nodes.iter().fold([0.0; 3], |sum: Point, &node| {
            let point = mesh.points[node as usize];
            [sum[0] + point[0], sum[1] + point[1], sum[2] + point[2]]
        });
        sum.map(|coordinate| coordinate / nodes.len() as f64)
    };
    let of_node = |node: usize| {
        let cells = two_layers(mesh, &around, node);
        let points: Vec<(Point, f64)> = match samples {
            FieldSamples::Cells(values) => {
                cells.iter().map(|&c| (centre(c as usize), values[c as usize])).collect()
            }
            FieldSamples::Nodes(values) => {
                let nodes = cells.iter().flat_map(|&c| mesh.cells.nodes_of(c as usize));
                let mut nodes: Vec<u32> = nodes.copied().collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes.iter().map(|&n| (mesh.points[n as usize], values[n as usize])).collect()
            }
        };
        fitted_hessian(mesh.dimension, mesh.points[node], &points)
    };
    (0..mesh.n_nodes()).into_par_iter().map(of_node).collect()
}

/// Cells around a node and around the nodes of these, ascending.
fn two_layers(mesh: &Mesh, around: &Adjacency, node: usize) -> Vec<u32> {
    let first = around.of(node).iter().flat_map(|&cell| mesh.cells.nodes_of(cell as usize));
    let mut nodes: Vec<u32> = first.copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut cells: Vec<u32> = nodes.iter().flat_map(|&n| around.of(n as usize)).copied().collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Second derivatives at `origin` of the quadratic polynomial fitted to the samples; 0 where they do not determine one.
fn fitted_hessian(dimension: usize, origin: Point, samples: &[(Point, f64)]) -> Metric {
    // 1, x, y, (z), xx, xy, yy, (xz, yz, zz).
    const MOST: usize = 10;
    let n = if dimension == 2 { 6 } else { 10 };
    let scale = samples
        .iter()
        .map(|(point, _)| crate::vector::norm(subtract(*point, origin)))
        .fold(0.0, f64::max);
    let mut matrix = [[0.0; MOST + 1]; MOST];
    for (point, value) in samples {
        let [x, y, z] = subtract(*point, origin).map(|coordinate| coordinate / scale);
        let weight = 1.0 / (x * x + y * y + z * z + 0.01);
        let row = if dimension == 2 {
            [1.0, x, y, x * x, x * y, y * y, 0.0, 0.0, 0.0, 0.0]
        } else {
            [1.0, x, y, z, x * x, x * y, y * y, x * z, y * z, z * z]
        };
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] += weight * row[i] * row[j];
            }
            matrix[i][MOST] += weight * row[i] * value;
        }
    }
    let Some(c) = solved(&mut matrix, n) else { return Metric::ZERO };
    let s = 1.0 / (scale * scale);
    if dimension == 2 {
        return Metric {
            xx: 2.0 * c[3] * s,
            xy: c[4] * s,
            yy: 2.0 * c[5] * s,
            zz: 1.0,
            ..Metric::ZERO
        };
    }
    Metric {
        xx: 2.0 * c[4] * s,
        xy: c[5] * s,
        yy: 2.0 * c[6] * s,
        xz: c[7] * s,
        yz: c[8] * s,
        zz: 2.0 * c[9] * s,
    }
}

/// The solution of the first `n` equations by Gaussian elimination with pivoting, the right-hand side in the last column.
fn solved(matrix: &mut [[f64; 11]; 10], n: usize) -> Option<[f64; 10]> {
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&i, &j| matrix[i][column].abs().total_cmp(&matrix[j][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-12 * matrix[0][0].abs().max(f64::MIN_POSITIVE) {
            return None;
        }
        matrix.swap(column, pivot);
        let pivot_row = matrix[column];
        for row in matrix.iter_mut().take(n).skip(column + 1) {
            let factor = row[column] / pivot_row[column];
            for (entry, pivot_entry) in row.iter_mut().zip(pivot_row).skip(column) {
                *entry -= factor * pivot_entry;
            }
        }
    }
    let mut x = [0.0; 10];
    for i in (0..n).rev() {
        let known = (i + 1..n).fold(matrix[i][10], |sum, j| sum - matrix[i][j] * x[j]);
        x[i] = known / matrix[i][i];
    }
    Some(x)
}

/// Limits how fast sizes grow along edges: each metric is intersected with the metrics of its neighbours, whose sizes may grow
/// by the factor 1 + l ln β over an edge of length l in them, in all directions alike, so that their anisotropy is kept
/// (Alauzet, *Finite Elements in Analysis and Design* 46, 2010). Repeated until nothing changes by more than 1 %, at most 30 times.
///
/// # Errors
/// `gradation` is at most 1.
pub fn limit_gradation(
    mesh: &Mesh,
    metrics: &mut [Metric],
    gradation: f64,
) -> Result<(), AdaptError> {
    if !(gradation > 1.0 && gradation.is_finite()) {
        return Err(AdaptError::Value {
            key: "gradation",
            value: gradation,
            reason: "a number above 1",
        });
    }
    let mut edges: Vec<[u32; 2]> = vec![];
    for cell in 0..mesh.n_cells() {
        let nodes = mesh.cells.nodes_of(cell);
        for edge in mesh.cells.shapes[cell].edges() {
            let [a, b] = edge.map(|local| nodes[local as usize]);
            edges.push([a.min(b), a.max(b)]);
        }
    }
    edges.par_sort_unstable();
    edges.dedup();
    let growth = gradation.ln();
    for _ in 0..30 {
        let mut changed = false;
        for &[a, b] in &edges {
            let along = subtract(mesh.points[b as usize], mesh.points[a as usize]);
            for [from, to] in [[a, b], [b, a]] {
                let (source, target) = (metrics[from as usize], metrics[to as usize]);
                let factor = 1.0 + source.squared_length(along).sqrt() * growth;
                let grown = flatten(&source.scale(1.0 / (factor * factor)), mesh.dimension);
                // Nothing to intersect; so are most edges.
                if target.is_finer_than(&grown, mesh.dimension) {
                    continue;
                }
                let limited = target.intersection(&grown);
                if limited.determinant() > target.determinant() * 1.01 * 1.01 {
                    metrics[to as usize] = limited;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LENGTH_RANGE, Vertex, edge_length};
    use karman_mesh::MeshOptions;
    use karman_mesh::testing::gmsh;

    const OPTIONS: HessianOptions =
        HessianOptions { norm: 2.0, complexity: 500.0, h_min: 1e-4, h_max: 10.0, anisotropy: 1e3 };

    fn mesh(name: &str) -> Mesh {
        Mesh::new(gmsh(name), &MeshOptions::default()).unwrap()
    }

    #[test]
    fn hessians_of_quadratic_fields_are_exact_on_meshes_of_gmsh() {
        for name in ["triangles_coarse", "pipe_coarse", "tee"] {
            let mesh = mesh(name);
            let field = |p: &Point| {
                1.0 + p[0] - 2.0 * p[0] * p[1] + 3.0 * p[1] * p[1] + p[2] * p[2] - 0.5 * p[0] * p[2]
            };
            let values: Vec<f64> = mesh.points.iter().map(field).collect();
            let zz = if mesh.dimension == 2 { 1.0 } else { 2.0 };
            let xz = if mesh.dimension == 2 { 0.0 } else { -0.5 };
            let exact = Metric { xx: 0.0, xy: -2.0, yy: 6.0, xz, yz: 0.0, zz };
            for found in hessians(&mesh, FieldSamples::Nodes(&values)) {
                for (a, b) in found.entries().into_iter().zip(exact.entries()) {
                    assert!((a - b).abs() < 1e-6, "{name}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn the_complexity_is_that_asked_for_and_sizes_are_bounded() {
        let mesh = mesh("triangles_coarse");
        let layer = |p: &Point| (20.0 * (p[0] - 0.5)).tanh();
        let values: Vec<f64> = mesh.points.iter().map(layer).collect();
        let metrics = metric_of_field(&mesh, FieldSamples::Nodes(&values), &OPTIONS).unwrap();
        let volumes = node_volumes(&mesh);
        let complexity = metrics
            .iter()
            .zip(&volumes)
            .map(|(m, v)| v * m.determinant().sqrt())
            .fold(0.0, |a, b| a + b);
        assert!((complexity - 500.0).abs() < 0.5, "{complexity}");
        let narrow = HessianOptions { h_min: 0.05, h_max: 0.08, anisotropy: 1.2, ..OPTIONS };
        for metric in metric_of_field(&mesh, FieldSamples::Nodes(&values), &narrow).unwrap() {
            let eigen = metric.eigen();
            let sizes = (0..3)
                .filter(|&k| eigen.vectors[k][2].abs() < 0.5)
                .map(|k| 1.0 / eigen.values[k].sqrt());
            let sizes: Vec<f64> = sizes.collect();
            assert!(sizes.iter().all(|&h| (0.05 - 1e-9..=0.08 + 1e-9).contains(&h)), "{sizes:?}");
            assert!(sizes[0].max(sizes[1]) / sizes[0].min(sizes[1]) <= 1.2 + 1e-9);
        }
    }

    #[test]
    fn intersected_hessians_cover_those_of_all_times() {
        for (name, scale) in [("triangles_coarse", 1.0), ("tee", 1e-9)] {
            let mesh = mesh(name);
            let d = mesh.dimension;
            let at = |centre: f64| -> Vec<f64> {
                let layer = |p: &Point| scale * (20.0 * (p[0] + 0.3 * p[1] - centre)).tanh();
                mesh.points.iter().map(layer).collect()
            };
            let lists = [at(0.3), vec![0.0; mesh.n_nodes()], at(0.7)]
                .map(|values| absolute_hessians(&mesh, FieldSamples::Nodes(&values)));
            let mut all = lists[0].clone();
            lists[1..].iter().for_each(|list| intersect_hessians(d, &mut all, list));
            let options = HessianOptions { h_max: 1e3, anisotropy: 1e6, ..OPTIONS };
            let metrics = metric_of_hessians(&mesh, &all, &options).unwrap();
            assert!(metrics.iter().all(Metric::is_positive_definite), "{name}");
            let largest = all.iter().map(|m| m.xx + m.yy).fold(0.0, f64::max);
            for (node, both) in all.iter().enumerate() {
                for list in &lists {
                    for direction in [[1.0, 0.3, 0.0], [0.0, 1.0, 0.0], [-0.3, 1.0, 0.0]] {
                        let [own, sum] =
                            [&list[node], both].map(|metric| metric.squared_length(direction));
                        assert!(sum >= own - 1e-11 * largest, "{name}: {own} {sum}");
                    }
                }
            }
            let mut again = lists[0].clone();
            intersect_hessians(d, &mut again, &lists[0]);
            for (a, b) in again.iter().zip(&lists[0]) {
                assert!((a.xx - b.xx).abs() <= 1e-11 * largest, "{name}");
            }
        }
    }

    #[test]
    fn sizes_grow_along_edges_no_faster_than_the_gradation() {
        let mesh = mesh("tee");
        let size = |p: &Point| if p[2] > 1.5 { 0.01 } else { 1.0 };
        let mut metrics: Vec<Metric> =
            mesh.points.iter().map(|p| Metric::isotropic(size(p), 3)).collect();
        let before = metrics.clone();
        limit_gradation(&mesh, &mut metrics, 1.5).unwrap();
        for cell in 0..mesh.n_cells() {
            let nodes = mesh.cells.nodes_of(cell);
            for edge in mesh.cells.shapes[cell].edges() {
                let [a, b] = edge.map(|local| nodes[local as usize] as usize);
                let [fine, coarse] = if metrics[a].xx > metrics[b].xx { [a, b] } else { [b, a] };
                let [p, q] =
                    [fine, coarse].map(|node| Vertex::new(mesh.points[node], metrics[node]));
                let length = metrics[fine].squared_length(subtract(p.point, q.point)).sqrt();
                let ratio = (metrics[fine].xx / metrics[coarse].xx).sqrt();
                assert!(ratio <= (1.0 + length * 1.5_f64.ln()) * 1.02, "{ratio} {length}");
                assert!(edge_length(&p, &q) > LENGTH_RANGE[0] * 0.0);
            }
        }
        assert!(metrics.iter().zip(&before).all(|(now, then)| now.xx >= then.xx * (1.0 - 1e-12)));
        assert!(limit_gradation(&mesh, &mut metrics, 1.0).is_err());
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let mesh = mesh("triangles_coarse");
        let values = vec![0.0; mesh.n_nodes()];
        for (options, key) in [
            (HessianOptions { norm: 0.5, ..OPTIONS }, "norm"),
            (HessianOptions { complexity: -1.0, ..OPTIONS }, "complexity"),
            (HessianOptions { h_min: 0.0, ..OPTIONS }, "h_min"),
            (HessianOptions { h_max: 1e-5, ..OPTIONS }, "h_max"),
            (HessianOptions { anisotropy: 0.5, ..OPTIONS }, "anisotropy"),
        ] {
            let error = metric_of_field(&mesh, FieldSamples::Nodes(&values), &options).unwrap_err();
            assert!(error.to_string().starts_with(key), "{error}");
        }
    }
}
