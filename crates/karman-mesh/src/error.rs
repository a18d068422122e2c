//! Errors and warnings of a mesh, with the entity, its place and its number in the file.

use super::cell_shape::CellShape;
use std::fmt;

/// A point, printed with six significant digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place(pub [f64; 3]);

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0.map(|value| {
            let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
            if rounded == 0.0 { 0.0 } else { rounded }
        });
        write!(formatter, "({x}, {y}, {z})")
    }
}

/// A cell as a message names it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellName {
    /// Index in the file's list of cells, from 0.
    pub index: u32,
    /// Its shape.
    pub shape: CellShape,
    /// Its region.
    pub region: String,
    /// The mean of its nodes.
    pub place: Place,
}

impl fmt::Display for CellName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CellName { index, shape, region, place } = self;
        write!(formatter, "cell {index} ({} of region \"{region}\" at {place})", shape.name())
    }
}

/// A boundary element as a message names it.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryName {
    /// Index in the file's list of boundary elements, from 0.
    pub index: u32,
    /// Its shape.
    pub shape: CellShape,
    /// Its patch.
    pub patch: String,
    /// The mean of its nodes.
    pub place: Place,
}

impl fmt::Display for BoundaryName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BoundaryName { index, shape, patch, place } = self;
        let shape = shape.name();
        write!(formatter, "boundary element {index} ({shape} of patch \"{patch}\" at {place})")
    }
}

/// Reasons to reject a mesh. Cells, boundary elements and nodes have the file's numbers, from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// No cell, or no node.
    #[error("the mesh has {nodes} nodes and no cell of dimension {dimension}")]
    Empty {
        /// Number of nodes.
        nodes: usize,
        /// Dimension the cells should have.
        dimension: usize,
    },
    /// A dimension other than 2 and 3.
    #[error("a mesh has 2 or 3 dimensions, not {dimension}")]
    Dimension {
        /// The dimension found.
        dimension: usize,
    },
    /// A scale that is not a positive number.
    #[error("the scale of a mesh is a positive number, not {scale}")]
    Scale {
        /// The scale given.
        scale: f64,
    },
    /// More entities than their numbers can count.
    #[error("the mesh has {count} {what}; at most {limit} are supported")]
    TooLarge {
        /// Kind of entity.
        what: &'static str,
        /// Their number.
        count: usize,
        /// Largest number supported.
        limit: usize,
    },
    /// A coordinate that is infinite or not a number.
    #[error("node {node} has the coordinates ({}, {}, {}); each must be finite",
        coordinates[0], coordinates[1], coordinates[2])]
    NonFinite {
        /// The node.
        node: usize,
        /// Its coordinates.
        coordinates: [f64; 3],
    },
    /// 2D cells that do not lie in one plane.
    #[error(
        "the 2D mesh is not planar: node {node} at {place} is {distance:.3e} off the plane of the others. \
         A 2D mesh lies in one plane; for a flow or heat in a body, mesh its volume"
    )]
    NotPlanar {
        /// The node with the largest distance from the plane.
        node: usize,
        /// Its place.
        place: Place,
        /// Its distance from the plane.
        distance: f64,
    },
    /// An element that does not have the nodes of its shape, or lists of unequal length.
    #[error("{entity} {index}: a {} has {} nodes, {found} are given",
        shape.name(), shape.node_count())]
    NodeCount {
        /// "cell" or "boundary element".
        entity: &'static str,
        /// Its index.
        index: usize,
        /// Its shape.
        shape: CellShape,
        /// Number of nodes found.
        found: usize,
    },
    /// The lists that describe the elements disagree in length.
    #[error(
        "the lists of {entity}s disagree: {shapes} shapes, {offsets} offsets, {groups} groups, \
         {nodes} nodes"
    )]
    Lists {
        /// "cell" or "boundary element".
        entity: &'static str,
        /// Length of the list of shapes.
        shapes: usize,
        /// Length of the list of offsets, one more than the shapes.
        offsets: usize,
        /// Length of the list of groups.
        groups: usize,
        /// Length of the list of nodes, the last offset.
        nodes: usize,
    },
    /// An element of the wrong dimension.
    #[error("{entity} {index} is a {}, which does not fit a mesh of dimension {dimension}",
        shape.name())]
    ShapeDimension {
        /// "cell" or "boundary element".
        entity: &'static str,
        /// Its index.
        index: usize,
        /// Its shape.
        shape: CellShape,
        /// Dimension of the mesh.
        dimension: usize,
    },
    /// A group number without a name.
    #[error("{entity} {index} is in group {group}, but only {groups} groups have names")]
    GroupOutOfRange {
        /// "cell" or "boundary element".
        entity: &'static str,
        /// Its index.
        index: usize,
        /// Its group.
        group: u32,
        /// Number of named groups.
        groups: usize,
    },
    /// An element that uses a node the mesh does not have.
    #[error("{entity} {index} uses node {node}, but the mesh has {nodes} nodes (0 to {})",
        nodes - 1)]
    NodeOutOfRange {
        /// "cell" or "boundary element".
        entity: &'static str,
        /// Its index.
        index: usize,
        /// The node.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A cell that uses a node twice.
    #[error("{cell} uses node {node} twice; write the collapsed cell as a simpler shape")]
    RepeatedNode {
        /// The cell.
        cell: CellName,
        /// The node.
        node: u32,
    },
    /// A cell of negative volume (area in 2D).
    #[error("{cell} is inverted: its volume is {volume:.4e} ({} in all)", counted(*count, "cell"))]
    Inverted {
        /// The first such cell.
        cell: CellName,
        /// Its volume.
        volume: f64,
        /// Number of inverted and flat cells.
        count: usize,
    },
    /// A cell without volume.
    #[error("{cell} is flat: its volume is {volume:.4e} ({} in all)", counted(*count, "cell"))]
    ZeroVolume {
        /// The first such cell.
        cell: CellName,
        /// Its volume.
        volume: f64,
        /// Number of inverted and flat cells.
        count: usize,
    },
    /// A cell that the file has twice, in two regions.
    #[error(
        "{cell} is also in region \"{other}\": a cell belongs to one region, and the mesh file has its \
         volume (surface in 2D) in two groups; leave it in one"
    )]
    CellInTwoRegions {
        /// The second of the two.
        cell: CellName,
        /// The other region.
        other: String,
    },
    /// Two cells with the same nodes.
    #[error("{cell} has the same nodes as cell {other}: one of them is a duplicate")]
    DuplicateCell {
        /// The second of the two.
        cell: CellName,
        /// The first of the two.
        other: u32,
    },
    /// Two cells on the same side of a face that they share.
    #[error("{cell} overlaps cell {other}: both lie on one side of the face they share at {face}")]
    OverlappingCells {
        /// The second of the two.
        cell: CellName,
        /// The first of the two.
        other: u32,
        /// Centre of the shared face.
        face: Place,
    },
    /// More than two cells at one face.
    #[error("the face at {face} is shared by {} cells: {}; a face has at most two", cells.len(),
        cells.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))]
    FaceSharedByManyCells {
        /// The cells.
        cells: Vec<u32>,
        /// Centre of the face.
        face: Place,
    },
    /// Boundary faces that no patch names.
    #[error(
        "{count} boundary faces belong to no patch; the first is at {face}, on {cell}. Put them in \
         a named boundary group of the mesh (a physical group in Gmsh, a marker in SU2); where the \
         face should be interior, the cells on its two sides do not share their nodes"
    )]
    FaceWithoutPatch {
        /// Number of such faces.
        count: usize,
        /// Centre of the first.
        face: Place,
        /// Its cell.
        cell: CellName,
    },
    /// Boundary elements that are not a face of any cell.
    #[error("{element} is not a face of any cell ({} in all)", counted(*count, "boundary element"))]
    ElementWithoutFace {
        /// The first such element.
        element: BoundaryName,
        /// Number of such elements.
        count: usize,
    },
    /// A face in two patches.
    #[error("{element} is also in patch \"{other}\": a boundary face belongs to one patch")]
    FaceInTwoPatches {
        /// One of the elements.
        element: BoundaryName,
        /// The other patch.
        other: String,
    },
    /// A face without area.
    #[error("face {face} ({owner}, at {place}) has area {area:.4e}: some of its nodes coincide")]
    ZeroArea {
        /// The face, in the solver's numbering.
        face: usize,
        /// Its patch, or `interior`.
        owner: String,
        /// Its place.
        place: Place,
        /// Its area.
        area: f64,
    },
    /// A cell whose faces do not close.
    #[error(
        "{cell} is not closed: its outward face areas sum to {defect:.4e} of its surface, above \
         the round-off of {allowed:.4e}"
    )]
    NotClosed {
        /// The cell.
        cell: CellName,
        /// |Σ σ S| / Σ |S|.
        defect: f64,
        /// The bound on round-off.
        allowed: f64,
    },
    /// Neighbours with a non-orthogonality above 89° at their common face.
    #[error(
        "{cell} and cell {other}: the line between their centres is {angle_deg:.2}° off the normal of \
         the face at {face} that they share; above 89° no flux follows from their values. Improve the \
         mesh there (`karman mesh check` lists such faces)"
    )]
    NotOrthogonal {
        /// The first cell in the file's order.
        cell: CellName,
        /// The other cell.
        other: u32,
        /// Centre of the face.
        face: Place,
        /// The non-orthogonality, degrees.
        angle_deg: f64,
    },
    /// A mesh whose mean non-orthogonality is above 45°.
    #[error(
        "the non-orthogonality is {mean_deg:.0}° on average and {angle_deg:.0}° between {cell} and cell {other}, at the face at {face}: \
         above 45° on average a flow diverges on tetrahedra. Mesh the stretched domain again, or optimise the mesh; usual meshes \
         have 15 to 30° (`karman mesh check` lists the distribution)"
    )]
    Distorted {
        /// The mean over interior faces, degrees.
        mean_deg: f64,
        /// The largest angle, degrees.
        angle_deg: f64,
        /// A cell at the face of the largest angle.
        cell: CellName,
        /// The other cell.
        other: u32,
        /// Centre of the face.
        face: Place,
    },
    /// A cell whose centre lies outside one of its boundary faces.
    #[error(
        "{cell} is not convex: its centre lies outside its face at {face} in patch \"{patch}\", so no \
         flux through that face follows from its value; improve the mesh there"
    )]
    CentreOutside {
        /// The cell.
        cell: CellName,
        /// The patch of the face.
        patch: String,
        /// Centre of the face.
        face: Place,
    },
    /// A tetrahedron so flat that it determines the time step and no flow.
    #[error(
        "{cell} is flat: its mean ratio is {quality:.1e}, that of a regular one 1, and below {least:.0e} a flow diverges in it or takes \
         steps without end; optimise the mesh (in Gmsh: Mesh.Optimize) or remove short edges of the geometry"
    )]
    Flat {
        /// The cell.
        cell: CellName,
        /// Its mean ratio.
        quality: f64,
        /// The least mean ratio of a flow.
        least: f64,
    },
    /// A patch that the mesh lacks.
    #[error("the mesh has no patch \"{patch}\"; its patches are {known}")]
    NoPatch {
        /// Its name.
        patch: String,
        /// The patches of the mesh.
        known: String,
    },
    /// A patch in two periodic pairs.
    #[error("patch \"{patch}\" is in two periodic pairs")]
    PeriodicTwice {
        /// Its name.
        patch: String,
    },
    /// Periodic patches of different numbers of faces.
    #[error(
        "patches \"{}\" and \"{}\" are no periodic pair: they have {} and {} faces; the second must be \
         the first moved by a translation, face by face", patches[0], patches[1], faces[0], faces[1]
    )]
    PeriodicCounts {
        /// The two patches.
        patches: [String; 2],
        /// Their numbers of faces.
        faces: [usize; 2],
    },
    /// Periodic patches that no translation maps onto each other.
    #[error(
        "patches \"{}\" and \"{}\" are no periodic pair: moved by {translation}, which maps the centre \
         of the first to that of the second, the node of the first at {place} is {gap:.3e} off the \
         nearest node of the second ({tolerance:.1e} is tolerated)", patches[0], patches[1]
    )]
    PeriodicNodes {
        /// The two patches.
        patches: [String; 2],
        /// From the centre of the first to the centre of the second.
        translation: Place,
        /// Place of the node.
        place: Place,
        /// Distance of its image from the nearest node.
        gap: f64,
        /// Largest distance tolerated.
        tolerance: f64,
    },
    /// Periodic patches with matching nodes and different faces.
    #[error(
        "patches \"{}\" and \"{}\" are no periodic pair: their nodes lie on each other, but the face of \
         the first at {place} connects nodes that no face of the second connects", patches[0], patches[1]
    )]
    PeriodicFaces {
        /// The two patches.
        patches: [String; 2],
        /// Place of the face.
        place: Place,
    },
    /// Periodic patches with the mesh on the same side of both.
    #[error(
        "patches \"{}\" and \"{}\" are no periodic pair: at {place} the mesh lies on the same side of \
         both, so that the outflow through one is not the inflow through the other",
        patches[0], patches[1]
    )]
    PeriodicSides {
        /// The two patches.
        patches: [String; 2],
        /// Place of a face.
        place: Place,
    },
    /// A cell that would be its own neighbour.
    #[error(
        "{cell} reaches from patch \"{}\" to its periodic partner \"{}\" and would be its own \
         neighbour: two layers of cells are needed between them, or make both a plane of symmetry",
        patches[0], patches[1]
    )]
    PeriodicCell {
        /// The two patches.
        patches: [String; 2],
        /// The cell.
        cell: CellName,
    },
}

/// Irregularities of a mesh, or of a case on it, that do not prevent its use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshWarning {
    /// A 2D mesh in a coordinate plane other than z = 0.
    #[error(
        "the 2D mesh lies in the plane {axis} = {at}: x and y of the case and of the results are \
         {first} and {second} of the file"
    )]
    CoordinatePlane {
        /// The coordinate that is constant.
        axis: &'static str,
        /// Its value.
        at: f64,
        /// The coordinate of the file that is x.
        first: &'static str,
        /// The coordinate of the file that is y.
        second: &'static str,
    },
    /// A 2D mesh in a plane that is no coordinate plane.
    #[error(
        "the 2D mesh lies in the plane with the normal {normal}: x and y of the case and of the results \
         run along {first} and {second} of the file, from its origin"
    )]
    TiltedPlane {
        /// The unit normal.
        normal: Place,
        /// The direction of x.
        first: Place,
        /// The direction of y.
        second: Place,
    },
    /// Nodes that no cell uses.
    #[error(
        "{count} nodes belong to no cell and are left out; the first is node {first} at {place}"
    )]
    OrphanNodes {
        /// Their number.
        count: usize,
        /// File index of the first.
        first: u32,
        /// Its place.
        place: Place,
    },
    /// Cells that all had the opposite node order.
    #[error("all {count} {}s of region \"{region}\" were numbered inside out and were reversed",
        shape.name())]
    Reversed {
        /// Their number.
        count: usize,
        /// Their shape.
        shape: CellShape,
        /// Their region.
        region: String,
    },
    /// Boundary elements between two cells.
    #[error("{count} elements of patch \"{patch}\" lie between two cells and are left out")]
    InnerElements {
        /// Their number.
        count: usize,
        /// Their patch.
        patch: String,
    },
    /// Boundary elements given more than once.
    #[error("{count} boundary elements are given more than once; each counts once")]
    RepeatedElements {
        /// Number of repetitions.
        count: usize,
    },
    /// A patch without faces.
    #[error("patch \"{patch}\" has no boundary face and is left out")]
    EmptyPatch {
        /// Its name.
        patch: String,
    },
    /// Boundary faces on boundary faces of other cells.
    #[error(
        "{count} boundary faces lie on boundary faces of other cells: the first is at {place}, of {cell} \
         in patch \"{patch}\", and meets cell {other} in patch \"{other_patch}\". No flux passes between \
         the two sides. Where the mesh should be connected, give both sides the same nodes (in Gmsh: \
         BooleanFragments, or Coherence, before meshing); for a thin wall this is right"
    )]
    CoincidentFaces {
        /// Their number.
        count: usize,
        /// Centre of the first.
        place: Place,
        /// Its cell.
        cell: CellName,
        /// Its patch.
        patch: String,
        /// The cell of the coincident face.
        other: u32,
        /// The patch of the coincident face.
        other_patch: String,
    },
    /// Several connected components that share no face.
    #[error(
        "the mesh has {count} connected components that share no face; the smallest has {}, {} {cell}",
        counted(*cells, "cell"), if *cells == 1 { "which is" } else { "the first of them" }
    )]
    Disconnected {
        /// Their number.
        count: usize,
        /// Cells of the smallest.
        cells: usize,
        /// The first cell of the smallest.
        cell: CellName,
    },
    /// Single layers of cells between walls.
    #[error(
        "{} alone between opposite walls, the first is {cell}: a velocity profile needs about ten \
         cells across, so the flow rate and the wall friction there will be wrong",
        if *count == 1 { "1 cell lies".to_owned() } else { format!("{count} cells lie") }
    )]
    OneLayer {
        /// Their number.
        count: usize,
        /// The first of them.
        cell: CellName,
    },
    /// Flat cells among cells of other sizes.
    #[error(
        "{}, the first is {cell}: `linear_upwind` and `limited_linear` are of first order there; edges as short as the thickness of a plate avoid them",
        if *count == 1 { "1 flat cell among cells of other sizes".to_owned() }
        else { format!("{count} flat cells among cells of other sizes") }
    )]
    FlatCells {
        /// Their number.
        count: usize,
        /// The first of them.
        cell: CellName,
    },
    /// Nodes of a periodic patch that were moved onto the images of the other patch's nodes.
    #[error(
        "{count} nodes of patch \"{}\" were moved by up to {largest:.3e} onto those of its periodic \
         partner \"{}\"", patches[1], patches[0]
    )]
    Snapped {
        /// Their number.
        count: usize,
        /// The two patches.
        patches: [String; 2],
        /// The largest displacement.
        largest: f64,
    },
}

/// A number of things: `1 cell`, `2 cells`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
