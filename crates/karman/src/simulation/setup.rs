//! From a case to a mesh.

use super::SimulationError;
use crate::case::{self, Generator as GeneratorCase, MeshCase, MeshSource, Renumber};
use crate::io;
use crate::mesh::generate::{
    AnnulusParams, BoxParams, BoxWithBoxParams, CylinderInChannelParams, Element, Generator,
    SphereInBoxParams,
};
use crate::mesh::{Mesh, MeshOptions, Renumbering};

/// Reads or makes the mesh of a case.
pub(super) fn mesh(case: &MeshCase) -> Result<Mesh, SimulationError> {
    let raw = match &case.source {
        MeshSource::File(path) => io::read_mesh(path)?,
        MeshSource::Generate(generator) => converted(generator).generate()?,
    };
    let renumber = match case.renumber {
        Renumber::Auto => Renumbering::Auto,
        Renumber::None => Renumbering::None,
        Renumber::ReverseCuthillMckee => Renumbering::Rcm,
        Renumber::Hilbert => Renumbering::Hilbert,
    };
    Ok(Mesh::new(raw, &MeshOptions { scale: case.scale, renumber })?)
}

fn element(element: case::Element) -> Option<Element> {
    Some(match element {
        case::Element::Triangle => Element::Triangle,
        case::Element::Quadrilateral => Element::Quadrilateral,
        case::Element::Tetrahedron => Element::Tetrahedron,
        case::Element::Hexahedron => Element::Hexahedron,
        case::Element::Prism => Element::Prism,
        case::Element::Pyramid => Element::Pyramid,
        case::Element::Mixed => Element::Mixed,
    })
}

fn box_params(p: &case::BoxParameters) -> BoxParams {
    BoxParams {
        origin: p.origin.clone(),
        size: p.size.clone(),
        cells: p.cells.clone(),
        element: element(p.element),
        jitter: p.jitter,
        seed: p.seed,
        grading: p.grading.clone(),
        ..BoxParams::default()
    }
}

fn converted(generator: &GeneratorCase) -> Generator {
    match generator {
        GeneratorCase::Box(p) => Generator::Box(box_params(p)),
        GeneratorCase::BoxWithBox(p) => {
            let outer = box_params(&p.outer);
            Generator::BoxWithBox(BoxWithBoxParams {
                origin: outer.origin,
                size: outer.size,
                cells: outer.cells,
                element: outer.element,
                jitter: outer.jitter,
                seed: outer.seed,
                grading: outer.grading,
                body_from: [p.body_from[0], p.body_from[1]],
                body_to: [p.body_to[0], p.body_to[1]],
                ..BoxWithBoxParams::default()
            })
        }
        GeneratorCase::CylinderInChannel(p) => {
            Generator::CylinderInChannel(CylinderInChannelParams {
                length: p.length,
                height: p.height,
                width: p.width,
                centre: p.centre,
                diameter: p.diameter,
                cells_around: p.cells_around,
                cells_radial: p.cells_radial,
                cells_wake: p.cells_wake,
                element: element(p.element),
                ..CylinderInChannelParams::default()
            })
        }
        GeneratorCase::SphereInBox(p) => Generator::SphereInBox(SphereInBoxParams {
            size: p.size,
            origin: Some([0.0; 3]),
            centre: p.centre,
            diameter: p.diameter,
            surface_size: p.surface_size,
            far_size: p.far_size,
            layers: p.layers,
            element: element(p.element),
        }),
        GeneratorCase::Annulus(p) => Generator::Annulus(AnnulusParams {
            inner: p.inner,
            outer: p.outer,
            length: p.length,
            cells: p.cells.clone(),
            element: element(p.element),
            ..AnnulusParams::default()
        }),
    }
}
