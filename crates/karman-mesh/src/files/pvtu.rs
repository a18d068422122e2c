//! PVTU files, VTK's XML format of an unstructured grid in several VTU files, its pieces.
//!
//! Each piece has its cells and their nodes, without ghosts. Its arrays `cell_number` and `node_number` have the numbers of its cells and
//! nodes in the whole mesh, by which the pieces are put together; nodes between pieces are in each of them. Arrays are those of the
//! pieces, of which each has the same.

use super::error::{At, Fault, MeshFileError, MeshFileProblem as Problem, Parsed, file_error};
use super::fields::{FieldArray, MeshWithFields};
use super::vtu::{self, CELL_NUMBER, NODE_NUMBER, VtuData};
use super::{load, save};
use crate::{Elements, RawMesh};
use memchr::memmem::find;
use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::Event;
use std::path::Path;

/// Whether the content can only be a PVTU file.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1024)];
    find(start, b"<VTKFile").is_some() && find(start, b"\"PUnstructuredGrid\"").is_some()
}

/// Writes the file that names `pieces`, paths relative to it, with the arrays of one of these. It appears under its name only when it is
/// complete.
///
/// # Errors
/// A field with a control character in its name; the file cannot be written.
pub fn write(path: &Path, piece: &VtuData<'_>, pieces: &[String]) -> Result<(), MeshFileError> {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<PUnstructuredGrid GhostLevel=\"0\">\n",
    );
    let arrays = vtu::arrays_of(piece).map_err(|problem| file_error(path, problem))?;
    for (section, arrays) in ["PPointData", "PCellData", "PPoints"].iter().zip(arrays) {
        text += &format!("<{section}>\n");
        for array in arrays {
            text += &array.replacen("<DataArray", "<PDataArray", 1);
            text += "/>\n";
        }
        text += &format!("</{section}>\n");
    }
    for piece in pieces {
        text += &format!("<Piece Source=\"{}\"/>\n", escape(piece));
    }
    text += "</PUnstructuredGrid>\n</VTKFile>\n";
    save(path, text.as_bytes())
}

/// Reads the pieces of a file, and puts them together as one mesh with its fields.
///
/// # Errors
/// The file or a piece cannot be read; the pieces lack the numbers of cells or nodes, or other arrays of each other; a number is missing
/// or occurs twice.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<MeshWithFields, MeshFileError> {
    let sources = sources(bytes).map_err(|fault| fault.locate(path, bytes))?;
    let mut whole = Whole::default();
    for source in sources {
        let file = path.with_file_name(&source);
        let bytes = load(&file)?;
        let piece = vtu::parse(&bytes).map_err(|fault| fault.locate(&file, &bytes))?;
        whole.add(piece).map_err(|problem| file_error(&file, problem))?;
    }
    whole.put_together().map_err(|problem| file_error(path, problem))
}

/// The pieces that a file names.
fn sources(bytes: &[u8]) -> Parsed<Vec<String>> {
    let mut sources = vec![];
    let mut reader = Reader::from_reader(bytes);
    loop {
        let at = At::LineOf(reader.buffer_position() as usize);
        match reader.read_event() {
            Err(error) => {
                let problem = Problem::Xml { reason: error.to_string() };
                return Err(Fault::new(At::LineOf(reader.error_position() as usize), problem));
            }
            Ok(Event::Start(element) | Event::Empty(element))
                if element.name().as_ref() == b"Piece" =>
            {
                let attribute = element.try_get_attribute("Source").ok().flatten();
                let source = attribute.and_then(|a| a.unescape_value().ok());
                let Some(source) = source else {
                    let found = String::from_utf8_lossy(&element).chars().take(60).collect();
                    let expected = "a Piece with the attribute Source";
                    return Err(Fault::new(at, Problem::Unexpected { expected, found }));
                };
                sources.push(source.into_owned());
            }
            Ok(Event::Eof) if sources.is_empty() => {
                return Err(Fault::whole(Problem::MissingSection { section: "Piece" }));
            }
            Ok(Event::Eof) => return Ok(sources),
            Ok(_) => {}
        }
    }
}

/// Pieces one after the other, with the numbers of their entities in the whole mesh.
#[derive(Default)]
struct Whole {
    pieces: Vec<MeshWithFields>,
    /// Of the cells and of the nodes of each piece.
    numbers: Vec<[Vec<usize>; 2]>,
}

impl Whole {
    fn add(&mut self, mut piece: MeshWithFields) -> Result<(), Problem> {
        let numbers = [
            taken(&mut piece.cell_fields, CELL_NUMBER, "DataArray cell_number")?,
            taken(&mut piece.node_fields, NODE_NUMBER, "DataArray node_number")?,
        ];
        if let Some(first) = self.pieces.first() {
            let names = |of: &MeshWithFields| -> Vec<(String, usize)> {
                let fields = of.cell_fields.iter().chain(&of.node_fields);
                fields.map(|field| (field.name.clone(), field.components)).collect()
            };
            if names(first) != names(&piece) || first.mesh.dimension != piece.mesh.dimension {
                let found: Vec<String> = names(&piece).into_iter().map(|(name, _)| name).collect();
                let expected = "the arrays of the first piece";
                return Err(Problem::Unexpected { expected, found: found.join(", ") });
            }
        }
        self.pieces.push(piece);
        self.numbers.push(numbers);
        Ok(())
    }

    fn put_together(self) -> Result<MeshWithFields, Problem> {
        let Whole { pieces, numbers } = self;
        let count = |kind: usize| {
            let all = numbers.iter().flat_map(|numbers| &numbers[kind]);
            all.max().map_or(0, |largest| largest + 1)
        };
        let [n_cells, n_nodes] = [0, 1].map(count);
        let mut place: Vec<Option<(usize, usize)>> = vec![];
        let total: usize = numbers.iter().map(|[cells, _]| cells.len()).sum();
        let nodes_of_all: usize = numbers.iter().map(|[_, nodes]| nodes.len()).sum();
        // No more memory than the files justify.
        if n_cells > total || n_nodes > nodes_of_all {
            return Err(not_each("number of a cell or a node"));
        }
        place.resize(n_cells, None);
        for (piece, [cells, _]) in numbers.iter().enumerate() {
            for (cell, number) in cells.iter().enumerate() {
                if place[*number].replace((piece, cell)).is_some() {
                    return Err(not_each("number of a cell"));
                }
            }
        }
        let place: Vec<(usize, usize)> =
            place.into_iter().collect::<Option<_>>().ok_or_else(|| not_each("number of a cell"))?;
        let mut points: Vec<Option<[f64; 3]>> = vec![None; n_nodes];
        for (piece, [_, nodes]) in pieces.iter().zip(&numbers) {
            let of_piece = nodes.iter().zip(&piece.mesh.points);
            of_piece.for_each(|(number, point)| points[*number] = Some(*point));
        }
        let points = points
            .into_iter()
            .collect::<Option<_>>()
            .ok_or_else(|| not_each("number of a node"))?;
        let mut regions: Vec<String> = vec![];
        let mut cells = Elements::new();
        for (piece, cell) in &place {
            let RawMesh { cells: of_piece, regions: names, .. } = &pieces[*piece].mesh;
            let name = &names[of_piece.groups[*cell] as usize];
            let region = regions.iter().position(|known| known == name).unwrap_or(regions.len());
            if region == regions.len() {
                regions.push(name.clone());
            }
            let nodes = of_piece.nodes_of(*cell).iter();
            let nodes: Vec<u32> =
                nodes.map(|node| numbers[*piece][1][*node as usize] as u32).collect();
            cells.push(of_piece.shapes[*cell], &nodes, region as u32);
        }
        let joined = |kind: usize, n: usize, of: fn(&MeshWithFields) -> &[FieldArray]| {
            let first = pieces.first().map(of).unwrap_or_default();
            let field = |(k, FieldArray { name, components, .. }): (usize, &FieldArray)| {
                let mut values = vec![0.0; components * n];
                for (piece, numbers) in pieces.iter().zip(&numbers) {
                    let array = &of(piece)[k];
                    for component in 0..*components {
                        let own = array.component(component).iter().zip(&numbers[kind]);
                        own.for_each(|(value, number)| values[component * n + number] = *value);
                    }
                }
                FieldArray { name: name.clone(), components: *components, values }
            };
            first.iter().enumerate().map(field).collect()
        };
        let dimension = pieces.first().map_or(3, |piece| piece.mesh.dimension);
        Ok(MeshWithFields {
            cell_fields: joined(0, n_cells, |piece| &piece.cell_fields),
            node_fields: joined(1, n_nodes, |piece| &piece.node_fields),
            time: pieces.first().and_then(|piece| piece.time),
            mesh: RawMesh {
                dimension,
                points,
                cells,
                boundary: Elements::new(),
                regions,
                patches: vec![],
            },
        })
    }
}

fn not_each(what: &str) -> Problem {
    let expected = "pieces with each cell of the mesh once, and its nodes";
    Problem::Unexpected { expected, found: format!("another {what}") }
}

/// Takes an array of whole numbers out of a list of fields.
fn taken(
    fields: &mut Vec<FieldArray>,
    name: &str,
    section: &'static str,
) -> Result<Vec<usize>, Problem> {
    let place = fields.iter().position(|field| field.name == name && field.components == 1);
    let array = fields.remove(place.ok_or(Problem::MissingSection { section })?);
    let number = |value: &f64| {
        let is_number = *value >= 0.0 && *value < f64::from(u32::MAX) && value.fract() == 0.0;
        is_number.then_some(*value as usize)
    };
    let numbers = array.values.iter().map(number).collect::<Option<Vec<_>>>();
    numbers.ok_or_else(|| not_each("value in an array of numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{FieldValues, read_mesh, read_mesh_with_fields};
    use crate::testing::gmsh;

    /// A piece of a mesh with two fields: its cells and nodes, `numbers`.
    fn write_piece(path: &Path, mesh: &RawMesh, cells: &[u32], name: &str) -> String {
        let mut nodes: Vec<u32> =
            cells.iter().flat_map(|cell| mesh.cells.nodes_of(*cell as usize)).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut own = Elements::new();
        for cell in cells.iter().map(|cell| *cell as usize) {
            let local = mesh.cells.nodes_of(cell).iter();
            let local: Vec<u32> =
                local.map(|node| nodes.binary_search(node).unwrap() as u32).collect();
            own.push(mesh.cells.shapes[cell], &local, mesh.cells.groups[cell]);
        }
        let points: Vec<[f64; 3]> = nodes.iter().map(|node| mesh.points[*node as usize]).collect();
        let of_cells: Vec<f64> = cells.iter().map(|cell| f64::from(*cell) + 0.1).collect();
        let of_nodes: Vec<f64> = nodes.iter().map(|node| 1.0 / (1.0 + f64::from(*node))).collect();
        let mut data = VtuData::new(&points, &own);
        data.regions = &mesh.regions;
        data.time = Some(0.25);
        data.numbers = Some([cells, &nodes]);
        data.cell_fields = vec![(name, FieldValues::Scalar(&of_cells))];
        data.node_fields = vec![("flow", FieldValues::Vector([&of_nodes, &of_nodes, &of_nodes]))];
        let file = format!("piece_{}.vtu", cells[0]);
        vtu::write(&path.with_file_name(&file), &data).unwrap();
        write(path, &data, std::slice::from_ref(&file)).unwrap();
        file
    }

    /// Names pieces in a file.
    fn name_pieces(path: &Path, pieces: &[String]) {
        let text = std::fs::read_to_string(path).unwrap();
        let (before, after) = text.split_once("<Piece").unwrap();
        let after = after.split_once("/>\n").unwrap().1;
        let list: String =
            pieces.iter().map(|piece| format!("<Piece Source=\"{piece}\"/>\n")).collect();
        std::fs::write(path, before.to_owned() + &list + after).unwrap();
    }

    #[test]
    fn pieces_are_put_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pvtu");
        for name in ["two_boxes", "airfoil", "cube_prism_coarse"] {
            let mesh = gmsh(name);
            let n = mesh.cells.len() as u32;
            // Every third cell in a piece of its own.
            let pieces: Vec<String> = (0..3)
                .map(|part| {
                    let cells: Vec<u32> = (0..n).filter(|cell| cell % 3 == part).collect();
                    write_piece(&path, &mesh, &cells, "a<b")
                })
                .collect();
            name_pieces(&path, &pieces);
            let read = read_mesh_with_fields(&path).unwrap();
            assert_eq!(read.mesh.points, mesh.points, "{name}");
            assert_eq!(read.mesh.cells.nodes, mesh.cells.nodes, "{name}");
            assert_eq!((read.time, read.mesh.dimension), (Some(0.25), mesh.dimension));
            for (cell, group) in read.mesh.cells.groups.iter().enumerate() {
                let region = &mesh.regions[mesh.cells.groups[cell] as usize];
                assert_eq!(&read.mesh.regions[*group as usize], region);
            }
            let want: Vec<f64> = (0..n).map(|cell| f64::from(cell) + 0.1).collect();
            assert_eq!(read.cell_fields[0].values, want);
            assert_eq!((read.cell_fields.len(), read.node_fields[0].components), (1, 3));
            assert_eq!(read_mesh(&path).unwrap(), read.mesh);
        }
    }

    #[test]
    fn the_file_has_the_arrays_of_a_piece() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pvtu");
        write_piece(&path, &gmsh("triangles_coarse"), &[0, 1], "a<b");
        insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap(), @r#"
        <?xml version="1.0"?>
        <VTKFile type="PUnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">
        <PUnstructuredGrid GhostLevel="0">
        <PPointData>
        <PDataArray type="Float64" Name="flow" NumberOfComponents="3"/>
        <PDataArray type="Int32" Name="node_number" NumberOfComponents="1"/>
        </PPointData>
        <PCellData>
        <PDataArray type="Float64" Name="a&lt;b" NumberOfComponents="1"/>
        <PDataArray type="Int32" Name="region" NumberOfComponents="1"/>
        <PDataArray type="Int32" Name="cell_number" NumberOfComponents="1"/>
        </PCellData>
        <PPoints>
        <PDataArray type="Float64" Name="Points" NumberOfComponents="3"/>
        </PPoints>
        <Piece Source="piece_0.vtu"/>
        </PUnstructuredGrid>
        </VTKFile>
        "#);
    }

    #[test]
    fn files_that_are_not_pieces_of_a_mesh_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pvtu");
        let mesh = gmsh("triangles_coarse");
        let n = mesh.cells.len() as u32;
        let all: Vec<u32> = (0..n).collect();
        let first = write_piece(&path, &mesh, &all[..4], "a");
        let rest = write_piece(&path, &mesh, &all[4..], "a");
        let last = write_piece(&path, &mesh, &all[5..], "a");
        let other = write_piece(&path, &mesh, &all[n as usize - 1..], "b");
        vtu::write(&folder.path().join("plain.vtu"), &VtuData::new(&mesh.points, &mesh.cells))
            .unwrap();
        let refused = |pieces: &[&String]| {
            name_pieces(&path, &pieces.iter().map(|piece| (*piece).clone()).collect::<Vec<_>>());
            let said = read_mesh(&path).unwrap_err().to_string();
            said.replace(&folder.path().display().to_string(), "")
        };
        name_pieces(&path, &[first.clone(), rest.clone()]);
        read_mesh(&path).unwrap();
        let once = "expected pieces with each cell of the mesh once, and its nodes, found `another number of a cell`";
        assert_eq!(refused(&[&first, &rest, &first]), format!("/a.pvtu: {once}"));
        assert_eq!(refused(&[&first, &last]), format!("/a.pvtu: {once}"));
        assert_eq!(refused(&[&rest]), format!("/a.pvtu: {once}"));
        assert_eq!(
            refused(&[&first, &other]),
            format!("/{other}: expected the arrays of the first piece, found `b, flow`")
        );
        assert_eq!(
            refused(&[&"plain.vtu".to_owned()]),
            "/plain.vtu: missing section `DataArray cell_number`"
        );
        assert!(refused(&[&"absent.vtu".to_owned()]).starts_with("/absent.vtu: "));
        name_pieces(&path, std::slice::from_ref(&first));
        let text = std::fs::read_to_string(&path).unwrap();
        let said = |text: String| {
            std::fs::write(&path, text).unwrap();
            let said = read_mesh(&path).unwrap_err().to_string();
            said.replace(&path.display().to_string(), "")
        };
        let without = text.replace("<Piece Source", "<Piece Target");
        let line = 1 + without.lines().position(|line| line.starts_with("<Piece")).unwrap();
        assert_eq!(
            said(without),
            format!(
                ", line {line}: expected a Piece with the attribute Source, found `Piece Target=\"{first}\"`"
            )
        );
        assert_eq!(said(text.replace("<Piece", "<Part")), ": missing section `Piece`");
        assert!(said(text.replace("</PPoints>", "</PPoint>")).contains("XML"));
    }
}
