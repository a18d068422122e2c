//! `$Nodes` and `$Elements` of Gmsh format 2.2.

use super::Reader;
use super::node_tags::NodeTags;
use crate::files::builder::MeshBuilder;
use crate::files::element_types::{ElementKind, from_gmsh};
use crate::files::error::{MeshFileProblem as Problem, Parsed};
use crate::files::gmsh::values::Values;

/// Bytes of a node: `1 0 0 0` and a line end, or an `int` and three `double`s.
const SMALLEST_NODE: [usize; 2] = [8, 28];
/// Bytes of an element: `1 15 0 1` and a line end, or two `int`s.
const SMALLEST_ELEMENT: [usize; 2] = [9, 8];

impl Reader<'_> {
    /// `$Nodes`: their number, then tag and coordinates of each.
    pub(super) fn nodes_2(&mut self) -> Parsed<NodeTags> {
        let values = &mut self.values;
        let count = values.cursor.unsigned("the number of nodes")?;
        let smallest = SMALLEST_NODE[usize::from(values.binary)];
        let count = values.cursor.checked_count(count, smallest, "nodes")?;
        values.begin_data()?;
        let mut tags = NodeTags::for_nodes(count);
        let points = &mut self.builder.points;
        points.clear();
        points.reserve(count);
        for _ in 0..count {
            let tag = values.int("a node's tag")?;
            if !tags.insert(tag) {
                return Err(values.cursor.fault(Problem::DuplicateNode { tag }));
            }
            points.push(values.point(tag)?);
        }
        Ok(tags)
    }

    /// `$Elements`: their number; then, as text, one line each of number, type, tags and nodes; in
    /// binary, blocks of one type.
    pub(super) fn elements_2(&mut self, nodes: &NodeTags) -> Parsed<()> {
        let values = &mut self.values;
        let count = values.cursor.unsigned("the number of elements")?;
        let smallest = SMALLEST_ELEMENT[usize::from(values.binary)];
        let count = values.cursor.checked_count(count, smallest, "elements")?;
        values.begin_data()?;
        let mut block = Block { nodes, code: 0, kind: ElementKind::Vertex(None), n_tags: 0 };
        let mut read = 0;
        while read < count {
            if values.binary {
                let code = values.int("an element's type")?;
                let start = values.cursor.offset();
                let n_follow = values.int("the number of elements of a block")?;
                let limit = (count - read) as u64;
                let n_follow = match usize::try_from(n_follow) {
                    Ok(n) if n <= count - read => n,
                    _ => {
                        let what = "elements in a block";
                        let problem = Problem::CountTooLarge { what, count: n_follow, limit };
                        return Err(values.cursor.fault_at(start, problem));
                    }
                };
                let n_tags = values.int("the number of an element's tags")?;
                block.set(values, code, n_tags)?;
                for _ in 0..n_follow {
                    let number = values.int("an element's number")?;
                    block.element(values, number, &mut self.builder)?;
                }
                read += n_follow;
            } else {
                let number = values.cursor.integer("an element's number")?;
                let code = values.cursor.integer("an element's type")?;
                let n_tags = values.cursor.integer("the number of an element's tags")?;
                block.set(values, code, n_tags)?;
                block.element(values, number, &mut self.builder)?;
                read += 1;
            }
        }
        Ok(())
    }
}

/// Common data of successive elements.
struct Block<'a> {
    nodes: &'a NodeTags,
    code: i64,
    kind: ElementKind,
    n_tags: i64,
}

impl Block<'_> {
    /// Sets the type and the number of tags.
    #[inline]
    fn set(&mut self, values: &Values<'_>, code: i64, n_tags: i64) -> Parsed<()> {
        self.n_tags = n_tags;
        if code != self.code {
            self.kind = from_gmsh(code).map_err(|problem| values.cursor.fault(problem))?;
            self.code = code;
        }
        Ok(())
    }

    /// Reads the tags and the nodes of one element.
    #[inline]
    fn element(
        &self,
        values: &mut Values<'_>,
        number: i64,
        builder: &mut MeshBuilder,
    ) -> Parsed<()> {
        let mut physical = None;
        for tag in 0..self.n_tags {
            let value = values.int("an element's tag")?;
            if tag == 0 && value != 0 {
                physical = Some(value.abs());
            }
        }
        element_nodes(values, self.kind, number, self.nodes, Values::int, |shape, nodes| {
            builder.push(shape, nodes, physical);
        })
    }
}

/// Reads the nodes of one element by `read` and passes them to `push`; a vertex element is skipped.
#[inline]
pub(super) fn element_nodes<'a>(
    values: &mut Values<'a>,
    kind: ElementKind,
    number: i64,
    tags: &NodeTags,
    read: impl Fn(&mut Values<'a>, &'static str) -> Parsed<i64>,
    push: impl FnOnce(crate::CellShape, &[u32]),
) -> Parsed<()> {
    let ElementKind::Shape(shape) = kind else {
        // Vertex elements of Gmsh have one node.
        read(values, "an element's node")?;
        return Ok(());
    };
    let mut nodes = [0; 8];
    let nodes = &mut nodes[..shape.node_count()];
    for node in nodes.iter_mut() {
        let tag = read(values, "an element's node")?;
        *node = match tags.position(tag) {
            Some(position) => position,
            None => {
                let n_nodes = tags.len();
                let problem = Problem::NodeOutOfRange { element: number, node: tag, n_nodes };
                return Err(values.cursor.fault(problem));
            }
        };
    }
    push(shape, nodes);
    Ok(())
}
