//! `$Entities`, `$PartitionedEntities`, `$Nodes` and `$Elements` of Gmsh format 4.1.

use super::Reader;
use super::node_tags::NodeTags;
use super::values::Values;
use super::version2::element_nodes;
use crate::files::element_types::from_gmsh;
use crate::files::error::{MeshFileProblem as Problem, Parsed};

/// Bytes of a node: a tag and three coordinates, the shortest texts or `size_t` and `double`s.
const SMALLEST_NODE: [usize; 2] = [8, 32];
/// Bytes of an element: its tag and one node's.
const SMALLEST_ELEMENT: [usize; 2] = [4, 16];

impl Reader<'_> {
    /// `$Entities`: the physical groups of the model's points, curves, surfaces and volumes.
    pub(super) fn entities(&mut self) -> Parsed<()> {
        self.values.begin_data()?;
        self.entity_lists(false)
    }

    /// `$PartitionedEntities`: the physical groups of the entities of a partitioned mesh.
    pub(super) fn partitioned_entities(&mut self) -> Parsed<()> {
        self.values.begin_data()?;
        self.values.size("the number of partitions")?;
        let n_ghosts = self.values.size("the number of ghost entities")?;
        for _ in 0..n_ghosts {
            self.values.int("the tag of a ghost entity")?;
            self.values.int("the partition of a ghost entity")?;
        }
        self.entity_lists(true)
    }

    /// The four lists of entities, by ascending dimension.
    fn entity_lists(&mut self, partitioned: bool) -> Parsed<()> {
        let values = &mut self.values;
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = values.size("the number of entities of a dimension")?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let tag = values.int("an entity's tag")?;
                if partitioned {
                    values.int("the dimension of an entity's parent")?;
                    values.int("the tag of an entity's parent")?;
                    skip_list(values, "an entity's partitions")?;
                }
                // A point has coordinates, other entities have a bounding box.
                for _ in 0..if dimension == 0 { 3 } else { 6 } {
                    values.real("a coordinate of an entity")?;
                }
                let mut groups = list(values, "an entity's physical groups")?;
                groups.iter_mut().for_each(|group| *group = group.abs());
                if !groups.is_empty() {
                    self.physical_groups.insert((dimension as i64, tag), groups);
                }
                if dimension > 0 {
                    skip_list(values, "the boundary of an entity")?;
                }
            }
        }
        Ok(())
    }

    /// `$Nodes`: blocks by entity, each all tags and then all coordinates.
    pub(super) fn nodes_4(&mut self) -> Parsed<NodeTags> {
        let values = &mut self.values;
        values.begin_data()?;
        let smallest = SMALLEST_NODE[usize::from(values.binary)];
        let n_blocks = values.size("the number of node blocks")?;
        let total = values.size("the number of nodes")?;
        let total = values.cursor.checked_count(total, smallest, "nodes")?;
        values.size("the lowest node tag")?;
        values.size("the highest node tag")?;
        let mut tags = NodeTags::for_nodes(total);
        let points = &mut self.builder.points;
        points.clear();
        points.reserve(total);
        let mut block_tags = Vec::new();
        for _ in 0..n_blocks {
            let dimension = values.int("the dimension of a node block's entity")?;
            values.int("the tag of a node block's entity")?;
            let parametric = values.int("whether nodes have parameters")? != 0;
            let count = values.size("the number of nodes of a block")?;
            let count = values.cursor.checked_count(count, smallest, "nodes in a block")?;
            block_tags.clear();
            for _ in 0..count {
                let tag = values.size("a node's tag")?;
                if !tags.insert(tag) {
                    return Err(values.cursor.fault(Problem::DuplicateNode { tag }));
                }
                block_tags.push(tag);
            }
            for &tag in &block_tags {
                points.push(values.point(tag)?);
                for _ in 0..if parametric { dimension.clamp(0, 3) } else { 0 } {
                    values.real("a node's parameter")?;
                }
            }
        }
        if points.len() != total {
            let (array, found) = ("$Nodes".to_owned(), points.len());
            return Err(values.cursor.fault(Problem::WrongLength {
                array,
                found,
                expected: total,
            }));
        }
        Ok(tags)
    }

    /// `$Elements`: blocks of one type on one entity.
    pub(super) fn elements_4(&mut self, nodes: &NodeTags) -> Parsed<()> {
        let values = &mut self.values;
        values.begin_data()?;
        let smallest = SMALLEST_ELEMENT[usize::from(values.binary)];
        let n_blocks = values.size("the number of element blocks")?;
        let total = values.size("the number of elements")?;
        let total = values.cursor.checked_count(total, smallest, "elements")?;
        values.size("the lowest element tag")?;
        values.size("the highest element tag")?;
        let mut read = 0;
        for _ in 0..n_blocks {
            let dimension = values.int("the dimension of an element block's entity")?;
            let entity = values.int("the tag of an element block's entity")?;
            let groups = self.physical_groups.get(&(dimension, entity));
            let groups = groups.map_or(&[][..], |groups| groups);
            let physical = groups.first().copied();
            let code = values.int("an element's type")?;
            let kind = from_gmsh(code).map_err(|problem| values.cursor.fault(problem))?;
            let count = values.size("the number of elements of a block")?;
            let count = values.cursor.checked_count(count, smallest, "elements in a block")?;
            let first = self.builder.n_elements(dimension);
            for _ in 0..count {
                let number = values.size("an element's tag")?;
                let builder = &mut self.builder;
                element_nodes(values, kind, number, nodes, Values::size, |shape, nodes| {
                    builder.push(shape, nodes, physical);
                })?;
            }
            if groups.len() > 1 {
                self.builder.note_overlap(dimension, entity, groups, first);
            }
            read += count;
        }
        if read != total {
            let array = "$Elements".to_owned();
            let problem = Problem::WrongLength { array, found: read, expected: total };
            return Err(values.cursor.fault(problem));
        }
        Ok(())
    }
}

/// A list preceded by its length.
fn list(values: &mut Values<'_>, what: &'static str) -> Parsed<Vec<i64>> {
    let count = values.size(what)?;
    (0..count).map(|_| values.int(what)).collect()
}

/// Skips a list preceded by its length.
fn skip_list(values: &mut Values<'_>, what: &'static str) -> Parsed<()> {
    let count = values.size(what)?;
    (0..count).try_for_each(|_| values.int(what).map(|_| ()))
}
