//! Constraints of the potentials of divergence-free fluxes by prescribed fluxes.
//!
//! Where the flux through a face is prescribed C s = 0: on these faces s is a gradient, which may be set to 0, plus a
//! combination of generators: in 2D one constant for each connected component of this boundary but one; in 3D one homology
//! generator for each loop of a component that bounds no part of it. A tree–cotree decomposition finds the generators: the
//! sides that are neither in a spanning tree of the nodes nor in one of the faces; the values on the cotree follow from C s
//! = 0. Their coefficients, the flow through a channel and around an obstacle, are unknowns.
//!
//! Source: Chang, Giraldo & Perot, J. Comput. Phys. 180 (2002) 183, §3; the generators: Dłotko & Specogna,
//! Commun. Comput. Phys. 14 (2013) 48.

use super::union_find::UnionFind;
use crate::mesh::{EdgeTopology, Mesh, SIGN_BIT, index_of, sign_of};
use std::collections::VecDeque;

/// Constraints of the potential by prescribed fluxes, on the host.
pub(super) struct PotentialConstraints {
    /// Unconstrained edges, each with its own unknown, ascending.
    pub free: Vec<u32>,
    /// Signed edges of each generator, which share an unknown.
    pub generators: Vec<Vec<u32>>,
}

impl PotentialConstraints {
    /// Of a mesh whose boundary fluxes are prescribed where `dirichlet_index` is not 0.
    pub(super) fn new(
        mesh: &Mesh,
        topology: &EdgeTopology,
        dirichlet_index: &[u32],
    ) -> PotentialConstraints {
        let inner = mesh.n_interior_faces();
        let is_prescribed = |face: usize| face >= inner && dirichlet_index[face - inner] > 0;
        let is_constrained = |edge: usize| {
            topology.edge_to_faces.of(edge).iter().any(|item| is_prescribed(index_of(*item)))
        };
        let mut free: Vec<u32> = (0..topology.n_edges)
            .filter(|edge| !is_constrained(*edge))
            .map(|edge| edge as u32)
            .collect();
        let faces: Vec<usize> =
            (inner..mesh.n_faces()).filter(|face| is_prescribed(*face)).collect();
        let generators = if mesh.dimension == 2 {
            let mut components = boundary_components(topology, &faces);
            if components.is_empty() {
                // Fixes the constant of the potential.
                free.remove(0);
            } else {
                let (largest, _) = components.iter().enumerate().fold((0, 0), |best, (k, p)| {
                    if p.len() > best.1 { (k, p.len()) } else { best }
                });
                components.remove(largest);
            }
            components
        } else {
            homology_generators(mesh, topology, &faces)
        };
        PotentialConstraints { free, generators }
    }

    /// Number of unknowns.
    pub(super) fn unknowns(&self) -> usize {
        self.free.len() + self.generators.len()
    }

    /// E, by edges.
    pub(super) fn rows(&self, n_edges: usize) -> Vec<Vec<(u32, f64)>> {
        let mut rows = vec![vec![]; n_edges];
        for (k, edge) in self.free.iter().enumerate() {
            rows[*edge as usize].push((k as u32, 1.0));
        }
        for (k, edges) in self.generators.iter().enumerate() {
            for item in edges {
                let unknown = (self.free.len() + k) as u32;
                rows[index_of(*item)].push((unknown, f64::from(sign_of(*item))));
            }
        }
        rows
    }
}

/// Nodes of the connected components of a 2D boundary, each ascending, in the order of their first nodes.
fn boundary_components(topology: &EdgeTopology, faces: &[usize]) -> Vec<Vec<u32>> {
    let mut classes = UnionFind::new(topology.n_edges);
    let mut touched = vec![false; topology.n_edges];
    for face in faces {
        let nodes = topology.face_to_edges.of(*face);
        nodes.iter().for_each(|node| touched[index_of(*node)] = true);
        classes.unite(index_of(nodes[0]) as u32, index_of(nodes[1]) as u32, 0);
    }
    let mut place = vec![usize::MAX; topology.n_edges];
    let mut components: Vec<Vec<u32>> = vec![];
    for node in (0..topology.n_edges as u32).filter(|node| touched[*node as usize]) {
        let first = classes.find(node).0 as usize;
        if place[first] == usize::MAX {
            place[first] = components.len();
            components.push(vec![]);
        }
        components[place[first]].push(node);
    }
    components
}

/// Signed edges of the homology generators of a surface: potentials without circulation around any of its
/// `faces` that are not gradients.
fn homology_generators(mesh: &Mesh, topology: &EdgeTopology, faces: &[usize]) -> Vec<Vec<u32>> {
    let mut nodes = UnionFind::new(mesh.n_nodes());
    let mut roles = vec![Role::Outside; topology.n_edges];
    let mut sides = vec![];
    for face in faces {
        for item in topology.face_to_edges.of(*face) {
            let edge = index_of(*item);
            if roles[edge] != Role::Outside {
                continue;
            }
            let [a, b] = topology.edge_to_nodes[edge];
            roles[edge] = if nodes.unite(a, b, 0) { Role::Tree } else { Role::Generator };
            sides.push(edge);
        }
    }
    // A cotree of faces across the remaining sides; a surface with a rim is rooted outside.
    let place = |face: usize| faces.binary_search(&face).ok();
    let across = |edge: usize| -> Vec<usize> {
        topology.edge_to_faces.of(edge).iter().filter_map(|item| place(index_of(*item))).collect()
    };
    let mut reached = vec![false; faces.len()];
    let mut order: Vec<(usize, usize)> = vec![];
    let mut queue = VecDeque::new();
    for edge in &sides {
        if let (Role::Generator, [only]) = (roles[*edge], &across(*edge)[..])
            && !reached[*only]
        {
            (reached[*only], roles[*edge]) = (true, Role::Cotree);
            order.push((*only, *edge));
            queue.push_back(*only);
        }
    }
    let mut next = 0;
    loop {
        while let Some(face) = queue.pop_front() {
            for item in topology.face_to_edges.of(faces[face]) {
                let edge = index_of(*item);
                if roles[edge] != Role::Generator {
                    continue;
                }
                for other in across(edge) {
                    if !reached[other] {
                        (reached[other], roles[edge]) = (true, Role::Cotree);
                        order.push((other, edge));
                        queue.push_back(other);
                    }
                }
            }
        }
        match (next..faces.len()).find(|face| !reached[*face]) {
            None => break,
            Some(face) => {
                (next, reached[face]) = (face + 1, true);
                queue.push_back(face);
            }
        }
    }
    let generators: Vec<usize> =
        sides.iter().copied().filter(|e| roles[*e] == Role::Generator).collect();
    generators.iter().map(|edge| generator(*edge, &order, faces, topology)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Not on this surface.
    Outside,
    /// In the tree of nodes: value 0.
    Tree,
    /// In the cotree: its value follows from the faces beyond.
    Cotree,
    /// In neither: it defines a generator.
    Generator,
}

/// The generator of value 1 at `edge`; the faces determine the values of the cotree from its leaves on.
fn generator(
    edge: usize,
    order: &[(usize, usize)],
    faces: &[usize],
    topology: &EdgeTopology,
) -> Vec<u32> {
    let mut values = std::collections::BTreeMap::from([(edge, 1i32)]);
    for (face, cotree_edge) in order.iter().rev() {
        let (mut sum, mut own) = (0, 0);
        for item in topology.face_to_edges.of(faces[*face]) {
            match values.get(&index_of(*item)) {
                _ if index_of(*item) == *cotree_edge => own = sign_of(*item),
                Some(value) => sum += sign_of(*item) * value,
                None => (),
            }
        }
        if sum != 0 {
            values.insert(*cotree_edge, -sum * own);
        }
    }
    let mut items = vec![];
    for (edge, value) in values {
        let sign = if value < 0 { SIGN_BIT } else { 0 };
        (0..value.abs()).for_each(|_| items.push(edge as u32 | sign));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{
        AnnulusParams, BoxParams, BoxWithObstacleParams, CylinderInChannelParams, Element,
    };
    use crate::mesh::{MeshOptions, RawMesh};

    /// The rank of a matrix by elimination.
    fn rank(mut rows: Vec<Vec<f64>>) -> usize {
        let mut found = 0;
        let columns = rows.first().map_or(0, Vec::len);
        for column in 0..columns {
            let size = |row: &Vec<f64>| row[column].abs();
            let best =
                (found..rows.len()).max_by(|a, b| size(&rows[*a]).total_cmp(&size(&rows[*b])));
            let Some(best) = best.filter(|row| size(&rows[*row]) > 1e-9) else { continue };
            rows.swap(found, best);
            let pivot = rows[found].clone();
            for row in rows.iter_mut().skip(found + 1) {
                let factor = row[column] / pivot[column];
                if factor != 0.0 {
                    row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
                }
            }
            found += 1;
        }
        found
    }

    /// Rank of C E, nullity of D on faces of unknown flux, and the number of generators.
    fn ranks(raw: RawMesh, open: &[&str]) -> (usize, usize, usize) {
        let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
        let inner = mesh.n_interior_faces();
        let mut dirichlet_index = vec![1; mesh.n_faces() - inner];
        for name in open {
            let patch = mesh.patches.iter().find(|patch| patch.name == *name).unwrap();
            patch.faces.clone().for_each(|face| dirichlet_index[face - inner] = 0);
        }
        let free = |face: usize| face < inner || dirichlet_index[face - inner] == 0;
        let topology = EdgeTopology::new(&mesh);
        let constraints = PotentialConstraints::new(&mesh, &topology, &dirichlet_index);
        let columns = constraints.rows(topology.n_edges);
        let mut of_potentials = vec![];
        for face in 0..mesh.n_faces() {
            let mut row = vec![0.0; constraints.unknowns()];
            for item in topology.face_to_edges.of(face) {
                for (unknown, sign) in &columns[index_of(*item)] {
                    row[*unknown as usize] += f64::from(sign_of(*item)) * sign;
                }
            }
            let empty = row.iter().all(|entry| *entry == 0.0);
            assert!(free(face) || empty, "a potential changes the prescribed flux of face {face}");
            of_potentials.push(row);
        }
        let divergence: Vec<Vec<f64>> = (0..mesh.n_cells())
            .map(|cell| {
                let mut row = vec![0.0; mesh.n_faces()];
                for item in mesh.cell_to_faces.of(cell).iter().filter(|i| free(index_of(**i))) {
                    row[index_of(*item)] = f64::from(sign_of(*item));
                }
                row
            })
            .collect();
        let unknown_faces = (0..mesh.n_faces()).filter(|face| free(*face)).count();
        (rank(of_potentials), unknown_faces - rank(divergence), constraints.generators.len())
    }

    fn box_mesh(element: Element, cells: &[usize]) -> RawMesh {
        let (cells, element) = (cells.to_vec(), Some(element));
        let size = vec![1.0; cells.len()];
        BoxParams { size, cells, element, ..BoxParams::default() }.generate().unwrap()
    }

    fn around_a_box(cells: [usize; 3], dimension: usize) -> RawMesh {
        let outer = BoxParams {
            size: vec![1.0; dimension],
            cells: cells[..dimension].to_vec(),
            ..BoxParams::default()
        };
        let (obstacle_min, obstacle_max) = ([0.34, 0.34], [0.66, 0.66]);
        BoxWithObstacleParams { outer, obstacle_min, obstacle_max }.generate().unwrap()
    }

    #[test]
    fn potentials_span_all_divergence_free_fluxes() {
        let channel = CylinderInChannelParams {
            cells_around: 8,
            cells_radial: 1,
            cells_wake: 2,
            ..CylinderInChannelParams::default()
        };
        let ring = AnnulusParams { cells: vec![1, 6], ..AnnulusParams::default() };
        let tube =
            AnnulusParams { cells: vec![1, 6, 2], length: Some(1.0), ..AnnulusParams::default() };
        let all = ["xmin", "xmax", "ymin", "ymax"];
        let (triangles, tetrahedra) = (Element::Triangle, Element::Tetrahedron);
        let hexahedra = Element::Hexahedron;
        let cases: Vec<(&str, RawMesh, Vec<&str>, usize)> = vec![
            ("box", box_mesh(triangles, &[3, 3]), vec![], 0),
            ("channel", box_mesh(triangles, &[3, 3]), vec!["xmin", "xmax"], 1),
            ("open box", box_mesh(triangles, &[3, 3]), all.to_vec(), 0),
            ("ring", ring.generate().unwrap(), vec![], 1),
            ("cylinder", channel.generate().unwrap(), vec!["outlet"], 1),
            ("3D box", box_mesh(tetrahedra, &[2, 2, 2]), vec![], 0),
            ("duct", box_mesh(tetrahedra, &[2, 2, 2]), vec!["xmin", "xmax"], 1),
            ("three sides open", box_mesh(hexahedra, &[3, 3, 3]), vec!["xmin", "xmax", "zmax"], 0),
            ("open corner", box_mesh(hexahedra, &[2, 2, 2]), vec!["xmin", "ymin"], 0),
            ("through-body", around_a_box([3, 3, 1], 3), vec![], 2),
            ("body in a duct", around_a_box([3, 3, 2], 3), vec!["xmin", "xmax"], 3),
            ("tube", tube.generate().unwrap(), vec!["zmin", "zmax"], 2),
        ];
        for (name, raw, open, expected) in cases {
            let (rank, nullity, generators) = ranks(raw, &open);
            assert_eq!(rank, nullity, "{name}: {generators} generators");
            assert_eq!(generators, expected, "{name}");
        }
    }
}
