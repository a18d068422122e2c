//! Builds a [`RawMesh`] from the elements of a file, in the file's order and with its group numbers.

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::{Fault, MeshFileProblem as Problem, Parsed};
use crate::{CellShape, Elements, RawMesh};

/// Group of an element without a group.
const NO_GROUP: u32 = u32::MAX;
/// The region of cells without a group.
pub(super) const DEFAULT_REGION: &str = "default";
/// Names of a model's entities of one, two and three dimensions.
const ENTITY_NAMES: [&str; 3] = ["curve", "surface", "volume"];

/// Collects a mesh element by element.
pub(super) struct MeshBuilder {
    /// Coordinates in the file's order.
    pub(super) points: Vec<[f64; 3]>,
    /// Elements of one, two and three dimensions.
    lists: [GroupedElements; 3],
    overlaps: Vec<Overlap>,
}

/// A model entity in several groups; its elements are in the first.
struct Overlap {
    /// Its index in `lists`: its dimension − 1.
    list: usize,
    entity: i64,
    tags: Vec<i64>,
    elements: Range<usize>,
}

/// Elements of one dimension; `elements.groups` index `tags`.
#[derive(Default)]
struct GroupedElements {
    elements: Elements,
    tags: Vec<i64>,
    index_of_tag: BTreeMap<i64, u32>,
    /// The last tag and group: consecutive elements mostly share them.
    last: Option<(i64, u32)>,
}

impl GroupedElements {
    #[inline]
    fn group(&mut self, tag: Option<i64>) -> u32 {
        let Some(tag) = tag else { return NO_GROUP };
        match self.last {
            Some((last, group)) if last == tag => group,
            _ => self.look_up(tag),
        }
    }

    fn look_up(&mut self, tag: i64) -> u32 {
        let tags = &mut self.tags;
        let group = *self.index_of_tag.entry(tag).or_insert_with(|| {
            tags.push(tag);
            tags.len() as u32 - 1
        });
        self.last = Some((tag, group));
        group
    }
}

impl MeshBuilder {
    /// Without points or elements.
    pub(super) fn new() -> Self {
        MeshBuilder::with_points(Vec::new())
    }

    /// Without elements.
    pub(super) fn with_points(points: Vec<[f64; 3]>) -> Self {
        let list = || GroupedElements { elements: Elements::new(), ..Default::default() };
        MeshBuilder { points, lists: [list(), list(), list()], overlaps: vec![] }
    }

    /// Number of elements of a dimension so far; 0 for a dimension that meshes do not have.
    pub(super) fn n_elements(&self, dimension: i64) -> usize {
        list_of(dimension).map_or(0, |list| self.lists[list].elements.len())
    }

    /// Notes that the elements of an entity, those from `first` on, are in all the groups `tags`.
    pub(super) fn note_overlap(&mut self, dimension: i64, entity: i64, tags: &[i64], first: usize) {
        let elements = first..self.n_elements(dimension);
        if let Some(list) = list_of(dimension).filter(|_| !elements.is_empty()) {
            self.overlaps.push(Overlap { list, entity, tags: tags.to_vec(), elements });
        }
    }

    /// Adds an element whose nodes exist; `tag` is the file's number of its group.
    #[inline]
    pub(super) fn push(&mut self, shape: CellShape, nodes: &[u32], tag: Option<i64>) {
        let list = &mut self.lists[shape.dimension() - 1];
        let group = list.group(tag);
        list.elements.push(shape, nodes, group);
    }

    /// The mesh's dimension: 3 if any element has it, else 2 if any has that.
    pub(super) fn dimension(&self) -> Option<usize> {
        [3, 2].into_iter().find(|&dimension| !self.lists[dimension - 1].elements.is_empty())
    }

    /// The mesh. Cells are the elements of the highest dimension, boundary elements those of one
    /// less; lower ones are dropped, as are boundary elements without a group. `name(dimension,
    /// tag)` is the name of a group in the file, by default `group_<tag>`. Groups are numbered by
    /// ascending tag, groups of equal name are merged, and cells without a group are the region
    /// `default`. Elements between two cells in several groups are repeated for each group.
    ///
    /// # Errors
    /// No cells; more nodes or connectivity than 32 bits count; cells or boundary faces of an entity in
    /// several groups.
    pub(super) fn finish(mut self, name: impl Fn(usize, i64) -> Option<String>) -> Parsed<RawMesh> {
        let n_nodes = self.points.len();
        let Some(dimension) = self.dimension() else {
            return Err(Fault::whole(Problem::NoCells { n_nodes }));
        };
        check_size("nodes", n_nodes)?;
        for list in &self.lists {
            check_size("nodes of elements", list.elements.nodes.len())?;
        }
        self.resolve_overlaps(dimension, |dimension, tag| name_of(dimension, tag, &name))?;
        let [lines, surfaces, volumes] = self.lists;
        let (cells, boundary) =
            if dimension == 3 { (volumes, surfaces) } else { (surfaces, lines) };
        let (cells, regions) =
            named(cells, Some(DEFAULT_REGION), |tag| name_of(dimension, tag, &name));
        let (boundary, patches) = named(boundary, None, |tag| name_of(dimension - 1, tag, &name));
        Ok(RawMesh { dimension, points: self.points, cells, boundary, regions, patches })
    }

    /// Refuses entities in groups of several names, unless their elements lie between cells.
    fn resolve_overlaps(
        &mut self,
        dimension: usize,
        name: impl Fn(usize, i64) -> String,
    ) -> Parsed<()> {
        for Overlap { list, entity, tags, elements } in std::mem::take(&mut self.overlaps) {
            let mut names: Vec<(String, i64)> = vec![];
            for tag in tags {
                let name = name(list + 1, tag);
                if names.iter().all(|(known, _)| *known != name) {
                    names.push((name, tag));
                }
            }
            let are_cells = list + 1 == dimension;
            if names.len() < 2 || list + 2 < dimension {
                continue;
            }
            let [cells, boundary] = [dimension - 1, list].map(|list| &self.lists[list].elements);
            if are_cells || has_boundary_face(cells, boundary, elements.clone()) {
                let groups = names.into_iter().map(|(name, _)| name).collect();
                let kind = ENTITY_NAMES[list];
                return Err(Fault::whole(Problem::GroupsOverlap {
                    kind,
                    entity,
                    groups,
                    are_cells,
                }));
            }
            for (_, tag) in &names[1..] {
                let list = &mut self.lists[list];
                let group = list.group(Some(*tag));
                for element in elements.clone() {
                    let shape = list.elements.shapes[element];
                    let nodes = list.elements.nodes_of(element).to_vec();
                    list.elements.push(shape, &nodes, group);
                }
            }
        }
        Ok(())
    }
}

/// The index of a dimension in [`MeshBuilder::lists`].
fn list_of(dimension: i64) -> Option<usize> {
    (1..=3).contains(&dimension).then(|| dimension as usize - 1)
}

/// The name of a group, by default `group_<tag>`.
fn name_of(dimension: usize, tag: i64, name: impl Fn(usize, i64) -> Option<String>) -> String {
    name(dimension, tag).unwrap_or_else(|| format!("group_{tag}"))
}

/// Whether a boundary element of a range is a face of exactly one cell.
fn has_boundary_face(cells: &Elements, boundary: &Elements, range: Range<usize>) -> bool {
    let key = |nodes: &[u32]| {
        let mut key = [u32::MAX; 4];
        key[..nodes.len()].copy_from_slice(nodes);
        key.sort_unstable();
        key
    };
    let elements = range.map(|element| (key(boundary.nodes_of(element)), 0));
    let mut cells_at: BTreeMap<[u32; 4], usize> = elements.collect();
    for cell in 0..cells.len() {
        let shape = cells.shapes[cell];
        for face in 0..shape.face_count() {
            let (nodes, count) = shape.face_nodes(cells.nodes_of(cell), face);
            if let Some(cells) = cells_at.get_mut(&key(&nodes[..count])) {
                *cells += 1;
            }
        }
    }
    cells_at.values().any(|&cells| cells == 1)
}

/// Refuses counts that exceed 32-bit numbers.
fn check_size(what: &'static str, count: usize) -> Parsed<()> {
    if count >= u32::MAX as usize {
        return Err(Fault::whole(Problem::TooLarge { what, count }));
    }
    Ok(())
}

/// Replaces the file's groups by named ones. Elements without a group get the group `default_name`,
/// or are dropped where there is none.
fn named(
    list: GroupedElements,
    default_name: Option<&str>,
    name: impl Fn(i64) -> String,
) -> (Elements, Vec<String>) {
    let GroupedElements { mut elements, tags, index_of_tag, .. } = list;
    let mut names = Vec::<String>::new();
    let mut index_of_name = BTreeMap::<String, u32>::new();
    let mut number = |name: String| {
        *index_of_name.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        })
    };
    let mut renumbered = vec![NO_GROUP; tags.len()];
    for (&tag, &group) in &index_of_tag {
        renumbered[group as usize] = number(name(tag));
    }
    let ungrouped = elements.groups.contains(&NO_GROUP);
    let rest = match default_name {
        Some(name) if ungrouped => number(name.to_owned()),
        _ => NO_GROUP,
    };
    for group in &mut elements.groups {
        *group = renumbered.get(*group as usize).copied().unwrap_or(rest);
    }
    if ungrouped && default_name.is_none() {
        elements = without_group(&elements, NO_GROUP);
    }
    (elements, names)
}

/// The elements that are not in `group`.
fn without_group(elements: &Elements, group: u32) -> Elements {
    let mut others = Elements::new();
    for e in (0..elements.len()).filter(|&e| elements.groups[e] != group) {
        others.push(elements.shapes[e], elements.nodes_of(e), elements.groups[e]);
    }
    others
}

/// The nodes of a prism, renumbered where the right-hand normal of its first triangle points away from
/// the opposite triangle. VTK's and SU2's documentation draws prisms in this orientation, and files of
/// both kinds exist. A prism without volume is unchanged.
pub(super) fn oriented_prism(points: &[[f64; 3]], nodes: [u32; 6]) -> [u32; 6] {
    let x = nodes.map(|node| points[node as usize]);
    let across: [f64; 3] =
        std::array::from_fn(|k| (x[3][k] + x[4][k] + x[5][k]) - (x[0][k] + x[1][k] + x[2][k]));
    let (first, second) = (area_vector(x[0], x[1], x[2]), area_vector(x[3], x[4], x[5]));
    let height: f64 = (0..3).map(|k| (first[k] + second[k]) * across[k]).sum();
    let [a, b, c, d, e, f] = nodes;
    if height < 0.0 { [a, c, b, d, f, e] } else { nodes }
}

/// (b − a) × (c − a).
fn area_vector(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> [f64; 3] {
    let u: [f64; 3] = std::array::from_fn(|k| b[k] - a[k]);
    let v: [f64; 3] = std::array::from_fn(|k| c[k] - a[k]);
    [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(z: f64) -> MeshBuilder {
        let points = vec![[0.0, 0.0, z], [1.0, 0.0, z], [1.0, 1.0, z], [0.0, 1.0, z]];
        MeshBuilder::with_points(points)
    }

    #[test]
    fn groups_are_numbered_by_tag_and_merged_by_name() {
        let mut builder = square(0.0);
        builder.push(CellShape::Triangle, &[0, 1, 2], Some(7));
        builder.push(CellShape::Triangle, &[0, 2, 3], None);
        for (side, tag) in [Some(9), Some(3), None, Some(5)].into_iter().enumerate() {
            builder.push(CellShape::Segment, &[side as u32, (side as u32 + 1) % 4], tag);
        }
        let mesh = builder
            .finish(|dimension, tag| match (dimension, tag) {
                (1, 9 | 5) => Some("wall".into()),
                _ => None,
            })
            .unwrap();
        assert_eq!(mesh.dimension, 2);
        assert_eq!(mesh.regions, ["group_7", "default"]);
        assert_eq!(mesh.cells.groups, [0, 1]);
        assert_eq!(mesh.patches, ["group_3", "wall"]);
        assert_eq!(mesh.boundary.groups, [1, 0, 1]);
        assert_eq!(mesh.boundary.nodes, [0, 1, 1, 2, 3, 0]);
    }

    #[test]
    fn a_mesh_needs_cells() {
        let mut builder = square(0.0);
        builder.push(CellShape::Segment, &[0, 1], None);
        let error = builder.finish(|_, _| None).unwrap_err().locate("a.msh".as_ref(), b"");
        assert_eq!(
            error.to_string(),
            "a.msh: the mesh has no cells: neither 3D elements nor 2D ones (4 nodes read). Name the surface or volume in a physical group too."
        );
    }

    #[test]
    fn counts_beyond_32_bits_are_refused() {
        assert!(check_size("nodes", u32::MAX as usize - 1).is_ok());
        let error = check_size("nodes", u32::MAX as usize).unwrap_err().locate("a".as_ref(), b"");
        assert_eq!(
            error.to_string(),
            "a: the mesh is too large: 4294967295 nodes, at most 4294967294 are supported"
        );
    }

    #[test]
    fn both_orientations_of_a_prism_are_accepted() {
        let points =
            [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 0., 1.], [0., 1., 1.]];
        assert_eq!(oriented_prism(&points, [0, 1, 2, 3, 4, 5]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(oriented_prism(&points, [0, 2, 1, 3, 5, 4]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(oriented_prism(&points, [3, 4, 5, 0, 1, 2]), [3, 5, 4, 0, 2, 1]);
    }
}
