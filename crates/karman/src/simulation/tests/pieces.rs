//! Fields in pieces, one for each rank: put together they are those of one file.

use super::processes::run_processes;
use super::ranks::files;
use super::*;
use crate::mesh::files::{MeshWithFields, pvd, read_mesh, read_mesh_with_fields};

/// The last fields of a run, and the name of their file.
fn last_fields(folder: &Path) -> (MeshWithFields, String) {
    let series = pvd::read(&folder.join("case/fields.pvd")).unwrap();
    let file = series.last().unwrap().file.clone();
    (read_mesh_with_fields(&folder.join("case").join(&file)).unwrap(), file)
}

/// Equal meshes, fields and times, to the last bit; regions by their names.
fn assert_equal(found: &MeshWithFields, want: &MeshWithFields) {
    let regions = |of: &MeshWithFields| -> Vec<String> {
        let groups = of.mesh.cells.groups.iter();
        groups.map(|group| of.mesh.regions[*group as usize].clone()).collect()
    };
    assert_eq!(regions(found), regions(want));
    let without_groups = |of: &MeshWithFields| {
        let mut of = of.clone();
        of.mesh.regions.clear();
        of.mesh.cells.groups.clear();
        of
    };
    assert!(without_groups(found) == without_groups(want));
    assert!(want.cell_fields.len() + want.node_fields.len() > 0);
}

/// A case on three ranks with files of a form.
fn on(case: &str, format: &str) -> String {
    assert!(case.contains("OUTPUT\n"));
    let run = "[run]\nbackend = \"cpu\"\nthreads = 2\nranks = 3\n";
    case.replace("OUTPUT\n", &format!("[output]\nformat = \"{format}\"\n")) + run
}

/// Compares the pieces of a case with its one file; returns the cells of the pieces.
fn compare(case: &str) -> Vec<usize> {
    let [of_one, of_pieces] = ["vtu", "pvtu"].map(|format| {
        let folder = tempfile::tempdir().unwrap();
        run(&on(case, format), folder.path());
        folder
    });
    let ((want, _), (found, file)) = (last_fields(of_one.path()), last_fields(of_pieces.path()));
    assert_equal(&found, &want);
    let stem = file.strip_suffix(".pvtu").unwrap();
    let pieces = (0..3).map(|rank| {
        let piece = of_pieces.path().join(format!("case/{stem}_{rank}.vtu"));
        read_mesh(&piece).unwrap().cells.len()
    });
    let pieces: Vec<usize> = pieces.collect();
    assert_eq!(pieces.iter().sum::<usize>(), want.mesh.cells.len());
    pieces
}

const SIDES: &str = "[boundary]\nxmin.temperature = 1.0\nxmax.temperature = \"2 + y\"\nymin = \"insulated\"\nymax = \"insulated\"\n\
                     zmin = \"insulated\"\nzmax = \"insulated\"\n";

#[test]
fn pieces_of_heat_are_those_of_one_file() {
    for discretization in ["cell", "node"] {
        let heat = format!("[heat]\ndiscretization = \"{discretization}\"\n{SIDES}OUTPUT\n");
        let pieces = compare(&format!("{}{heat}", gmsh("cube_tetrahedron_medium")));
        assert!(pieces.iter().all(|cells| *cells > 0), "{pieces:?}");
        compare(&format!("{}{heat}", gmsh("cube_prism_coarse")));
        let mixed = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [6, 6, 6]\nelement = \"mixed\"\njitter = 0.2\n";
        compare(&format!("{mixed}{heat}"));
    }
}

#[test]
fn pieces_of_parts_of_metis_have_few_nodes_in_common() {
    let heat = format!("{}[heat]\n{SIDES}OUTPUT\n", gmsh("cube_tetrahedron_medium"));
    let case = on(&heat, "pvtu");
    let case = case.replace("ranks = 3", "ranks = 3\npartition = \"metis\"");
    let folder = tempfile::tempdir().unwrap();
    run(&case, folder.path());
    let (whole, _) = last_fields(folder.path());
    let pieces = (0..3).map(|rank| {
        let piece = folder.path().join(format!("case/fields_0000_{rank}.vtu"));
        read_mesh(&piece).unwrap()
    });
    let (nodes, cells): (Vec<usize>, Vec<usize>) =
        pieces.map(|piece| (piece.points.len(), piece.cells.len())).unzip();
    assert_eq!(cells.iter().sum::<usize>(), whole.mesh.cells.len());
    let common = nodes.iter().sum::<usize>() - whole.mesh.points.len();
    assert!(common > 0 && common < whole.mesh.points.len() / 2, "{nodes:?}");
    let compared = on(&heat, "vtu").replace("ranks = 3", "ranks = 3\npartition = \"metis\"");
    let other = tempfile::tempdir().unwrap();
    run(&compared, other.path());
    assert_equal(&whole, &last_fields(other.path()).0);
}

#[test]
fn pieces_of_regions_have_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = super::ranks_by_metis::two_regions(folder.path());
    compare(&format!(
        "{mesh}[heat]\nconductivity = {{ left = 1.0, right = 50.0 }}\n{SIDES}OUTPUT\n"
    ));
}

/// A flow in time with averages, files of two times and a checkpoint.
fn flow() -> String {
    let boundary = "xmin.velocity_inlet = [1.0, 0.0]\nxmax.pressure_outlet = 0.0\nymin = \"no_slip\"\nymax = \"slip\"\n";
    format!(
        "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [12, 12]\nelement = \"mixed\"\njitter = 0.1\n[incompressible]\n\
         kinematic_viscosity = 0.01\n[boundary]\n{boundary}[time]\nmethod = \"bdf2\"\nstep = 0.01\nend = 0.04\n[checkpoint]\n\
         every = 0.02\n[[output.average]]\nfields = [\"velocity\"]\nrms = true\nOUTPUT\nevery = 0.02\n\
         fields = [\"velocity\", \"pressure\", \"vorticity\"]\n"
    )
}

#[test]
fn pieces_of_flows_have_vectors_and_averages() {
    compare(&flow());
}

#[test]
fn a_restart_continues_a_series_of_pieces() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&on(&flow(), "pvtu"), folder.path());
    let want = files(folder.path());
    assert!(want.contains_key("fields_0001.pvtu") && want.contains_key("fields_0001_2.vtu"));
    let checkpoint = folder.path().join("case/checkpoint_00000002.safetensors");
    let kept = other.path().join("kept.safetensors");
    std::fs::copy(checkpoint, &kept).unwrap();
    let case = Case::parse(&on(&flow(), "pvtu"), folder.path(), "case.toml").unwrap();
    let options = RunOptions { restart: Some(kept), ..RunOptions::default() };
    let mut simulation = Simulation::new(case, options).unwrap();
    simulation.run(&mut |_| ()).unwrap();
    let found = files(folder.path());
    assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
    for (name, bytes) in found.iter().filter(|(name, _)| *name != "summary.json") {
        assert!(*bytes == want[name], "{name}");
    }
    drop(simulation);
    // A new run removes all.
    let once = on(&flow(), "vtu").replace("every = 0.02\nfields", "fields");
    run(&once, folder.path());
    assert!(!files(folder.path()).keys().any(|name| name.contains("pvtu") || name.contains("_2.")));
}

#[test]
fn each_process_writes_its_piece() {
    let case = on(&flow(), "pvtu");
    let (want, found) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&case, want.path());
    let outcomes = run_processes(&case, 3, (found.path(), None));
    assert_eq!(outcomes.len(), 3);
    let (want, found) = (files(want.path()), files(found.path()));
    assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
    for (name, bytes) in &found {
        assert!(*bytes == want[name], "{name}");
    }
}

#[test]
fn a_process_that_cannot_write_its_piece_ends_all() {
    let case = on(&flow(), "pvtu");
    let folder = tempfile::tempdir().unwrap();
    // A folder in the place of the piece of process 1.
    std::fs::create_dir_all(folder.path().join("case/fields_0000_1.vtu")).unwrap();
    let said = super::processes::on_processes(
        &vec![case; 3],
        (folder.path(), None),
        |_, mut simulation: Simulation| simulation.run(&mut |_| ()).unwrap_err().to_string(),
    );
    let said: Vec<String> = said.into_iter().map(Result::unwrap).collect();
    let directory = folder.path().join("case");
    let of_others =
        format!("cannot write {}: process 1 cannot write its piece", directory.display());
    assert_eq!((&said[0], &said[2]), (&of_others, &of_others));
    assert!(said[1].contains("fields_0000_1.vtu"), "{}", said[1]);
}

#[test]
fn initial_fields_are_read_from_pieces() {
    let heat = format!("{}[heat]\n{SIDES}OUTPUT\n", gmsh("cube_tetrahedron_coarse"));
    let [of_one, of_pieces] = ["vtu", "pvtu"].map(|format| {
        let folder = tempfile::tempdir().unwrap();
        run(&on(&heat, format), folder.path());
        std::fs::rename(folder.path().join("case"), folder.path().join("earlier")).unwrap();
        let initial =
            "[initial]\nfrom = \"earlier/fields.pvd\"\n[time]\nstep = 0.1\nend = 0.1\n[boundary]";
        let next = on(&heat.replace("[boundary]", initial), "vtu");
        new(&next, folder.path()).unwrap().field("temperature").unwrap()
    });
    assert!(of_one.iter().any(|value| *value > 1.5));
    assert_eq!(of_one, of_pieces);
}
