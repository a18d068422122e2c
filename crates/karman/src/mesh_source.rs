//! From `[mesh]` of a case to a mesh: a file is read, or a generator is run.

use crate::case::{self, MeshCase, MeshSource};
use crate::io::{MeshFileError, read_mesh};
use crate::mesh::generate::{
    AnnulusParams, BoxParams, BoxWithBoxParams, CylinderInChannelParams, Element, GenerateError,
    Generator, SphereInBoxParams,
};
use crate::mesh::{Mesh, MeshError, MeshOptions, RawMesh, Renumbering};
use thiserror::Error;

/// Why a case has no mesh.
#[derive(Debug, Error)]
pub enum MeshSourceError {
    /// Its file.
    #[error(transparent)]
    File(#[from] MeshFileError),
    /// Its generator.
    #[error("cannot generate the mesh: {0}")]
    Generate(#[from] GenerateError),
    /// The mesh itself.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// The mesh of a case as its file or generator gives it: not yet scaled or checked.
///
/// # Errors
/// [`MeshSourceError::File`], [`MeshSourceError::Generate`].
pub fn raw_mesh(case: &MeshCase) -> Result<RawMesh, MeshSourceError> {
    Ok(match &case.source {
        MeshSource::File(path) => read_mesh(path)?,
        MeshSource::Generate(generator) => generator_of(generator)?.generate()?,
    })
}

/// The mesh of a case, scaled, numbered and connected.
///
/// # Errors
/// [`MeshSourceError`].
pub fn mesh(case: &MeshCase) -> Result<Mesh, MeshSourceError> {
    Ok(Mesh::new(raw_mesh(case)?, &options(case))?)
}

/// How the mesh of a case is taken in.
pub fn options(case: &MeshCase) -> MeshOptions {
    let renumber = match case.renumber {
        case::Renumber::Auto => Renumbering::Auto,
        case::Renumber::None => Renumbering::None,
        case::Renumber::ReverseCuthillMckee => Renumbering::Rcm,
        case::Renumber::Hilbert => Renumbering::Hilbert,
    };
    MeshOptions { scale: case.scale, renumber }
}

fn generator_of(generator: &case::Generator) -> Result<Generator, GenerateError> {
    Ok(match generator {
        case::Generator::Box(keys) => Generator::Box(BoxParams {
            origin: keys.origin.clone(),
            size: keys.size.clone(),
            cells: keys.cells.clone(),
            element: Some(element_of(keys.element)),
            jitter: keys.jitter,
            seed: keys.seed,
            grading: keys.grading.clone(),
            ..BoxParams::default()
        }),
        case::Generator::BoxWithBox(keys) => Generator::BoxWithBox(box_with_box(keys)?),
        case::Generator::CylinderInChannel(keys) => {
            Generator::CylinderInChannel(CylinderInChannelParams {
                length: keys.length,
                height: keys.height,
                width: keys.width,
                centre: keys.centre,
                diameter: keys.diameter,
                cells_around: keys.cells_around,
                cells_radial: keys.cells_radial,
                cells_wake: keys.cells_wake,
                element: Some(element_of(keys.element)),
                ..CylinderInChannelParams::default()
            })
        }
        case::Generator::SphereInBox(keys) => Generator::SphereInBox(SphereInBoxParams {
            size: keys.size,
            origin: Some([0.0; 3]),
            centre: keys.centre,
            diameter: keys.diameter,
            surface_size: keys.surface_size,
            far_size: keys.far_size,
            layers: keys.layers,
            element: Some(element_of(keys.element)),
        }),
        case::Generator::Annulus(keys) => Generator::Annulus(AnnulusParams {
            inner: keys.inner,
            outer: keys.outer,
            length: keys.length,
            cells: keys.cells.clone(),
            element: Some(element_of(keys.element)),
            ..AnnulusParams::default()
        }),
    })
}

fn box_with_box(keys: &case::BoxWithBoxParameters) -> Result<BoxWithBoxParams, GenerateError> {
    let outer = &keys.outer;
    if let ([_, _, from], [_, _, to]) = (&keys.body_from[..], &keys.body_to[..]) {
        let (low, high) = (outer.origin[2], outer.origin[2] + outer.size[2]);
        if (*from, *to) != (low, high) {
            return Err(GenerateError::Value {
                key: "body_to",
                value: format!("{:?}", keys.body_to),
                reason: format!("the body goes through along z, from {low} to {high}"),
            });
        }
    }
    Ok(BoxWithBoxParams {
        origin: outer.origin.clone(),
        size: outer.size.clone(),
        cells: outer.cells.clone(),
        element: Some(element_of(outer.element)),
        jitter: outer.jitter,
        seed: outer.seed,
        grading: outer.grading.clone(),
        body_from: [keys.body_from[0], keys.body_from[1]],
        body_to: [keys.body_to[0], keys.body_to[1]],
        ..BoxWithBoxParams::default()
    })
}

fn element_of(element: case::Element) -> Element {
    match element {
        case::Element::Triangle => Element::Triangle,
        case::Element::Quadrilateral => Element::Quadrilateral,
        case::Element::Tetrahedron => Element::Tetrahedron,
        case::Element::Hexahedron => Element::Hexahedron,
        case::Element::Prism => Element::Prism,
        case::Element::Pyramid => Element::Pyramid,
        case::Element::Mixed => Element::Mixed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parsed(text: &str) -> MeshCase {
        MeshCase::parse(text, Path::new(""), "mesh.toml").unwrap()
    }

    #[test]
    fn every_generator_of_a_case_makes_its_mesh() {
        for (text, dimension, patches) in [
            ("box]\nsize = [2.0, 1.0]\ncells = [4, 3]", 2, 4),
            ("box]\nsize = [1.0, 1.0, 1.0]\ncells = [3, 3, 3]\nelement = \"pyramid\"", 3, 6),
            (
                "box_with_box]\nsize = [1.0, 1.0]\ncells = [10, 10]\nbody_from = [0.4, 0.4]\n\
                 body_to = [0.6, 0.6]",
                2,
                5,
            ),
            (
                "cylinder_in_channel]\nlength = 2.2\nheight = 0.41\ncentre = [0.2, 0.2]\n\
                 diameter = 0.1\ncells_around = 24\ncells_radial = 6\ncells_wake = 12",
                2,
                5,
            ),
            (
                "sphere_in_box]\nsize = [8.0, 8.0, 8.0]\ncentre = [4.0, 4.0, 4.0]\ndiameter = 1.0\n\
                 surface_size = 0.3\nfar_size = 2.0",
                3,
                2,
            ),
            ("annulus]\ninner = 1.0\nouter = 2.0\ncells = [3, 12]", 2, 2),
        ] {
            let case = parsed(&format!("[mesh.generate.{text}\n"));
            let mesh = mesh(&case).unwrap();
            assert_eq!((mesh.dimension, mesh.patches.len()), (dimension, patches), "{text}");
        }
    }

    #[test]
    fn scale_and_numbering_are_those_of_the_case() {
        let generate = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [2, 2]\n";
        for (word, renumber) in [
            ("auto", Renumbering::Auto),
            ("none", Renumbering::None),
            ("rcm", Renumbering::Rcm),
            ("hilbert", Renumbering::Hilbert),
        ] {
            let case = parsed(&format!("[mesh]\nscale = 3.0\nrenumber = \"{word}\"\n{generate}"));
            assert_eq!(options(&case), MeshOptions { scale: 3.0, renumber });
            let mesh = mesh(&case).unwrap();
            let x = mesh.points.iter().map(|point| point[0]).fold(0.0, f64::max);
            assert_eq!(x, 3.0);
        }
    }

    #[test]
    fn faults_of_file_generator_and_mesh_are_passed_on() {
        let refused = |text: &str| mesh(&parsed(text)).unwrap_err().to_string();
        let body = "[mesh.generate.box_with_box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 3]\n\
                    body_from = [0.4, 0.4, 0.0]\nbody_to = [0.6, 0.6, 0.5]\n";
        insta::assert_snapshot!(
            refused(body),
            @"cannot generate the mesh: body_to = [0.6, 0.6, 0.5]: the body goes through along z, from 0 to 1"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.msh");
        std::fs::write(&path, "not a mesh").unwrap();
        let message = refused(&format!("[mesh]\nfile = {path:?}\n"));
        assert!(message.starts_with(&path.display().to_string()), "{message}");
    }
}
