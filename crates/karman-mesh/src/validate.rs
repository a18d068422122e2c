//! Checks of a raw mesh, before its faces are matched.

use super::adjacency::CHUNK;
use super::cell_shape::CellShape;
use super::error::{BoundaryName, CellName, MeshError, MeshWarning, Place};
use super::geometry::{cell_measure, mean_point, norm, subtract};
use super::raw::{Elements, RawMesh};
use rayon::prelude::*;

/// Nodes and faces are numbered below this: the top bit of an item is its sign.
pub(crate) const INDEX_LIMIT: usize = (1 << 31) - 1;

const CELL: &str = "cell";
const BOUNDARY_ELEMENT: &str = "boundary element";

/// Scales the mesh, checks every list and every cell, and reverses the cells of a shape and region
/// that are all inverted.
pub(crate) fn validated(
    mut raw: RawMesh,
    scale: f64,
    warnings: &mut Vec<MeshWarning>,
) -> Result<RawMesh, MeshError> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(MeshError::Scale { scale });
    }
    check_structure(&raw)?;
    transform_points(&mut raw, scale, warnings)?;
    check_repeated_nodes(&raw)?;
    check_volumes(&mut raw, warnings)?;
    Ok(raw)
}

/// Checks that the lists of a mesh agree in length and that every index is in range.
pub(crate) fn check_structure(raw: &RawMesh) -> Result<(), MeshError> {
    if !matches!(raw.dimension, 2 | 3) {
        return Err(MeshError::Dimension { dimension: raw.dimension });
    }
    if raw.cells.is_empty() || raw.points.is_empty() {
        return Err(MeshError::Empty { nodes: raw.points.len(), dimension: raw.dimension });
    }
    if raw.points.len() > INDEX_LIMIT {
        let (count, limit) = (raw.points.len(), INDEX_LIMIT);
        return Err(MeshError::TooLarge { what: "nodes", count, limit });
    }
    let infinite = |point: &[f64; 3]| !point.iter().all(|value| value.is_finite());
    if let Some(node) = raw.points.par_iter().with_min_len(CHUNK).position_first(infinite) {
        return Err(MeshError::NonFinite { node, coordinates: raw.points[node] });
    }
    check_elements(&raw.cells, CELL, raw.dimension, raw)?;
    check_elements(&raw.boundary, BOUNDARY_ELEMENT, raw.dimension - 1, raw)
}

/// Name, for messages, of a cell of a raw mesh; `index` is its number in the file.
pub(crate) fn raw_cell_name(raw: &RawMesh, cell: usize, index: u32) -> CellName {
    CellName {
        index,
        shape: raw.cells.shapes[cell],
        region: raw.regions[raw.cells.groups[cell] as usize].clone(),
        place: Place(mean_point(raw.cells.nodes_of(cell), &raw.points)),
    }
}

/// Name, for messages, of a boundary element of a raw mesh.
pub(crate) fn raw_boundary_name(raw: &RawMesh, element: usize) -> BoundaryName {
    BoundaryName {
        index: element as u32,
        shape: raw.boundary.shapes[element],
        patch: raw.patches[raw.boundary.groups[element] as usize].clone(),
        place: Place(mean_point(raw.boundary.nodes_of(element), &raw.points)),
    }
}

/// Scales the points, and rotates a 2D mesh to the plane z = 0.
pub(crate) fn transform_points(
    raw: &mut RawMesh,
    scale: f64,
    warnings: &mut Vec<MeshWarning>,
) -> Result<(), MeshError> {
    if scale != 1.0 {
        raw.points.par_iter_mut().for_each(|point| *point = point.map(|value| scale * value));
        let infinite = |point: &[f64; 3]| !point.iter().all(|value| value.is_finite());
        if let Some(node) = raw.points.par_iter().position_first(infinite) {
            return Err(MeshError::NonFinite { node, coordinates: raw.points[node] });
        }
    }
    if raw.dimension == 2 {
        warnings.extend(raw.rotate_to_xy_plane()?);
    }
    Ok(())
}

fn check_elements(
    elements: &Elements,
    entity: &'static str,
    dimension: usize,
    raw: &RawMesh,
) -> Result<(), MeshError> {
    let n = elements.len();
    let (groups, names) =
        (elements.groups.len(), if entity == CELL { raw.regions.len() } else { raw.patches.len() });
    // An empty list may lack its leading zero.
    let last = elements.offsets.last().map_or(0, |&last| last as usize);
    if elements.offsets.len() != n + 1 && !(n == 0 && elements.offsets.is_empty())
        || groups != n
        || elements.nodes.len() != last
    {
        return Err(MeshError::Lists {
            entity,
            shapes: n,
            offsets: elements.offsets.len(),
            groups,
            nodes: elements.nodes.len(),
        });
    }
    let nodes = raw.points.len();
    let fault = (0..n).into_par_iter().with_min_len(CHUNK).find_map_first(|index| {
        let (shape, group) = (elements.shapes[index], elements.groups[index]);
        let (start, end) = (elements.offsets[index] as usize, elements.offsets[index + 1] as usize);
        if end.wrapping_sub(start) != shape.node_count() || end > elements.nodes.len() {
            let found = end.saturating_sub(start);
            return Some(MeshError::NodeCount { entity, index, shape, found });
        }
        if shape.dimension() != dimension {
            let dimension = raw.dimension;
            return Some(MeshError::ShapeDimension { entity, index, shape, dimension });
        }
        if group as usize >= names {
            return Some(MeshError::GroupOutOfRange { entity, index, group, groups: names });
        }
        let outside = elements.nodes[start..end].iter().find(|&&node| node as usize >= nodes);
        outside.map(|&node| MeshError::NodeOutOfRange { entity, index, node, nodes })
    });
    fault.map_or(Ok(()), Err)
}

fn check_repeated_nodes(raw: &RawMesh) -> Result<(), MeshError> {
    let repeated = |cell: usize| {
        let nodes = raw.cells.nodes_of(cell);
        (1..nodes.len()).find(|&i| nodes[..i].contains(&nodes[i])).map(|i| (cell, nodes[i]))
    };
    let found = (0..raw.cells.len()).into_par_iter().with_min_len(CHUNK).find_map_first(repeated);
    match found {
        Some((cell, node)) => {
            Err(MeshError::RepeatedNode { cell: raw_cell_name(raw, cell, cell as u32), node })
        }
        None => Ok(()),
    }
}

/// Volume V of a cell, and the volume below which it is flat, 4 ε l^d: l the largest distance of a node
/// from the first node, d the dimension.
fn volume_and_threshold(raw: &RawMesh, cell: usize) -> (f64, f64) {
    let nodes = raw.cells.nodes_of(cell);
    let (volume, _) = cell_measure(raw.cells.shapes[cell], nodes, &raw.points);
    let first = raw.points[nodes[0] as usize];
    let length = nodes
        .iter()
        .map(|&node| norm(subtract(raw.points[node as usize], first)))
        .fold(0.0, f64::max);
    (volume, 4.0 * f64::EPSILON * length.powi(raw.dimension as i32))
}

/// Whether a cell is inverted or flat.
pub(crate) fn is_inverted_or_flat(raw: &RawMesh, cell: usize) -> bool {
    let (volume, threshold) = volume_and_threshold(raw, cell);
    // NaN results from coordinates whose products overflow.
    volume.is_nan() || volume <= threshold
}

fn check_volumes(raw: &mut RawMesh, warnings: &mut Vec<MeshWarning>) -> Result<(), MeshError> {
    let n = raw.cells.len();
    let clean =
        !(0..n).into_par_iter().with_min_len(CHUNK).any(|cell| is_inverted_or_flat(raw, cell));
    if clean {
        return Ok(());
    }
    reverse_whole_kinds(raw, warnings);
    let bad: Vec<usize> =
        (0..n).into_par_iter().filter(|&cell| is_inverted_or_flat(raw, cell)).collect();
    let Some(&first) = bad.first() else { return Ok(()) };
    let (volume, threshold) = volume_and_threshold(raw, first);
    let (cell, count) = (raw_cell_name(raw, first, first as u32), bad.len());
    Err(if volume < -threshold {
        MeshError::Inverted { cell, volume, count }
    } else {
        MeshError::ZeroVolume { cell, volume, count }
    })
}

/// Reverses the cells of one shape and region where all of them, more than one, are inverted: the file
/// has the opposite node order. A 2D mesh whose cells are all clockwise is reversed whole. A single
/// inverted cell among good cells stays an error.
fn reverse_whole_kinds(raw: &mut RawMesh, warnings: &mut Vec<MeshWarning>) {
    let n_shapes = CellShape::ALL.len();
    let kind = |raw: &RawMesh, cell: usize| {
        raw.cells.groups[cell] as usize * n_shapes + raw.cells.shapes[cell] as usize
    };
    let mut total = vec![0usize; raw.regions.len() * n_shapes];
    let mut negative = total.clone();
    for cell in 0..raw.cells.len() {
        let (volume, threshold) = volume_and_threshold(raw, cell);
        total[kind(raw, cell)] += 1;
        negative[kind(raw, cell)] += usize::from(volume < -threshold);
    }
    let all = |counts: &[usize]| counts.iter().sum::<usize>();
    let is_clockwise = raw.dimension == 2 && all(&negative) == all(&total);
    let reversed =
        |k: usize| negative[k] == total[k] && (total[k] > 1 || is_clockwise && total[k] > 0);
    for cell in 0..raw.cells.len() {
        if reversed(kind(raw, cell)) {
            let nodes: Vec<u32> = raw.cells.nodes_of(cell).to_vec();
            let start = raw.cells.offsets[cell] as usize;
            for (i, &local) in raw.cells.shapes[cell].reversed().iter().enumerate() {
                raw.cells.nodes[start + i] = nodes[local as usize];
            }
        }
    }
    for k in (0..total.len()).filter(|&k| reversed(k)) {
        let (region, shape) = (raw.regions[k / n_shapes].clone(), CellShape::ALL[k % n_shapes]);
        warnings.push(MeshWarning::Reversed { count: total[k], shape, region });
    }
}
