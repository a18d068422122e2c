//! Parts of the graph of cells: fields, files and checkpoints agree with those of one rank to round-off.

use super::*;
use crate::io::checkpoint::Checkpoint;
use crate::mesh::Adjacency;
use crate::mesh::files::{FieldArray, MeshWithFields, read_mesh_with_fields, write_mesh};
use crate::mesh::graph_partition::metis_parts;
use crate::mesh::testing::{gmsh as raw_of, with_halved_edges};

/// A case with `[run]` in place of its line `RUN`.
fn on(case: &str, ranks: usize, partition: &str) -> String {
    let run = format!(
        "[run]\nbackend = \"cpu\"\nthreads = 2\nranks = {ranks}\npartition = \"{partition}\"\n"
    );
    assert!(case.contains("RUN\n"));
    case.replace("RUN\n", &run)
}

/// The last fields of a run.
fn last_fields(folder: &Path) -> MeshWithFields {
    let series = crate::mesh::files::pvd::read(&folder.join("case/fields.pvd")).unwrap();
    let file = &series.last().unwrap().file;
    read_mesh_with_fields(&folder.join("case").join(file)).unwrap()
}

/// The fields of a file agree with others on the same mesh to a fraction of their largest value.
fn assert_close(found: &MeshWithFields, want: &MeshWithFields, tolerance: f64, what: &str) {
    assert!(found.mesh == want.mesh, "{what}: the meshes of the files differ");
    let fields = |of: &MeshWithFields| [of.cell_fields.clone(), of.node_fields.clone()].concat();
    let (found, want) = (fields(found), fields(want));
    assert_eq!(found.len(), want.len());
    assert!(!want.is_empty());
    for (found, want) in found.iter().zip(&want) {
        assert_eq!(found.name, want.name);
        let largest = want.values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        assert!(largest > 0.0, "{what}: {} is zero", want.name);
        let pairs = found.values.iter().zip(&want.values);
        let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(
            difference <= tolerance * largest,
            "{what}: {} {difference:e} of {largest:e}",
            want.name
        );
    }
}

/// Compares a case on parts of METIS with one rank; the checkpoint of three such ranks continues on others.
fn compare(case: &str, tolerance: f64) {
    let of = |ranks: usize, partition: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&on(case, ranks, partition), folder.path());
        let is_complete = matches!(outcome.kind, OutcomeKind::Converged | OutcomeKind::Finished);
        assert!(is_complete, "{}: {}", outcome.kind.name(), outcome.message);
        let is_said = summary["warnings"].to_string().contains("sums are added in another order");
        assert_eq!(is_said, partition == "metis");
        (last_fields(folder.path()), folder)
    };
    let (want, of_one) = of(1, "hilbert");
    for ranks in [2, 5] {
        let (found, _folder) = of(ranks, "metis");
        assert_close(&found, &want, tolerance, &format!("{ranks} ranks"));
    }
    if !case.contains("[checkpoint]") {
        return;
    }
    let (found, of_three) = of(3, "metis");
    assert_close(&found, &want, tolerance, "3 ranks");
    let name = "checkpoint_00000002.safetensors";
    let states = [&of_one, &of_three].map(|folder| folder.path().join("case").join(name));
    compare_states(&states.each_ref().map(|path| Checkpoint::read(path).unwrap()), tolerance);
    for (state, ranks, partition) in
        [(1, 1, "hilbert"), (1, 2, "hilbert"), (1, 4, "metis"), (0, 3, "metis")]
    {
        let folder = tempfile::tempdir().unwrap();
        let case = Case::parse(&on(case, ranks, partition), folder.path(), "case.toml").unwrap();
        let options = RunOptions { restart: Some(states[state].clone()), ..RunOptions::default() };
        let mut simulation = Simulation::new(case, options).unwrap();
        assert_eq!(simulation.steps(), 2);
        simulation.run(&mut |_| ()).unwrap();
        let found = last_fields(folder.path());
        assert_close(&found, &want, tolerance, &format!("restart on {ranks} ranks by {partition}"));
    }
}

/// The arrays of two checkpoints agree, entry by entry: neither numbers nor signs depend on the partition.
fn compare_states([want, found]: &[Checkpoint; 2], tolerance: f64) {
    let names: Vec<&str> =
        want.array_names().filter(|name| !name.starts_with("multigrid")).collect();
    assert!(names.len() > 2, "{names:?}");
    for name in names {
        let shape = want.array(name).unwrap().shape.clone();
        let [want, found] = [want, found].map(|of| of.reals(name, &shape).unwrap());
        let largest = want.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let pairs = found.iter().zip(want);
        let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Of small numbers, as increments, a wrong order or sign.
        let limit = tolerance * largest.max(1.0);
        let limit = if largest > 1e-6 { limit.min(1e-2 * largest) } else { limit };
        assert!(difference <= limit, "{name}: {difference:e} of {largest:e}");
    }
}

/// The section of a mesh of a mesher with halved edges, written to a folder.
fn finer(folder: &Path, name: &str) -> String {
    let file = folder.join("mesh.msh");
    write_mesh(&file, &with_halved_edges(&raw_of(name))).unwrap();
    format!("[mesh]\nfile = {file:?}\n")
}

const SIDES: &str = "[boundary]\nxmin.temperature = \"300 + 100*sin(20*t)*y\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                     ymin.heat_flux = \"50*t + 5\"\nymax.temperature = \"310 + t\"\nzmin = \"insulated\"\nzmax = \"insulated\"\n";

const IN_TIME: &str = "source = \"if(x > 0.5, 100*sin(t), 3)\"\n[initial]\ntemperature = \"300 + 10*x\"\n[time]\nmethod = \"bdf2\"\n\
                       step = 0.01\nend = 0.04\n[checkpoint]\nevery = 0.02\n[linear_solver]\nrelative_tolerance = 1e-12\n";

#[test]
fn heat_in_tetrahedra_of_gmsh_agrees_with_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = finer(folder.path(), "cube_tetrahedron_coarse");
    for rest in ["conductivity = \"1 + x*y\"\n", "discretization = \"node\"\n"] {
        let averages = "[[output.average]]\nfields = [\"temperature\"]\nrms = true\n";
        compare(&format!("{mesh}[heat]\n{rest}{IN_TIME}{SIDES}{averages}RUN\n"), 1e-10);
    }
}

/// The section of a mesh of prisms of Gmsh in two regions, written to a folder.
pub(super) fn two_regions(folder: &Path) -> String {
    let mut raw = raw_of("cube_prism_medium");
    raw.regions = vec!["left".to_owned(), "right".to_owned()];
    for cell in 0..raw.cells.len() {
        let nodes = raw.cells.nodes_of(cell).iter();
        let x: f64 = nodes.map(|node| raw.points[*node as usize][0]).sum();
        raw.cells.groups[cell] = u32::from(x > 3.0);
    }
    let file = folder.join("regions.msh");
    write_mesh(&file, &raw).unwrap();
    format!("[mesh]\nfile = {file:?}\n")
}

#[test]
fn regions_of_prisms_of_gmsh_agree_with_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = two_regions(folder.path());
    let regions = "conductivity = { left = 1.0, right = 50.0 }\nsource = 3.0\n";
    let solver = "[linear_solver]\nrelative_tolerance = 1e-12\npreconditioner = \"amg\"\n";
    let steady = SIDES.replace("100*sin(20*t)*y", "y").replace("50*t + ", "").replace(" + t", "");
    compare(&format!("{mesh}[heat]\n{regions}{solver}{steady}RUN\n"), 1e-10);
}

const SOLVER: &str = "[incompressible.pressure]\nrelative_tolerance = 1e-12\n[incompressible.momentum]\nrelative_tolerance = 1e-12\n";

/// Three steps with a checkpoint after the second; averages of cells and of fluxes.
fn steps(method: &str, step: f64, averages: &str) -> String {
    let (second, end) = (2.0 * step, 3.0 * step);
    format!(
        "[time]\nmethod = \"{method}\"\nstep = {step}\nend = {end}\n[checkpoint]\nevery = {second}\n[[output.average]]\n\
         fields = [{averages}]\nrms = {}\n",
        !averages.contains("streamfunction")
    )
}

#[test]
fn flows_in_tetrahedra_of_gmsh_agree_with_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = finer(folder.path(), "cube_tetrahedron_coarse");
    let flow = "[incompressible]\nkinematic_viscosity = 0.01\n";
    let averages = "\"velocity\", \"vorticity\"";
    // Prescribed, slip and convective velocities, and pressures that depend on the flow.
    let channel = "[boundary]\nxmin.velocity_inlet = [\"1 + 0.2*sin(20*t)*y\", 0.0, \"0.1*x*z\"]\nxmax.convective_outlet = true\n\
                   ymin = \"no_slip\"\nymax = \"slip\"\nzmin.moving_wall = [0.3, 0.1, 0.0]\nzmax = \"no_slip\"\n";
    let open = "[boundary]\nxmin.total_pressure_inlet = \"0.5 + 0.1*t\"\nxmax.pressure_loss_outlet = { pressure = 0.0, coefficient = 1.5 }\n\
                ymin = \"no_slip\"\nymax.opening = 0.0\nzmin = \"no_slip\"\nzmax = \"symmetry\"\n";
    for (method, boundary) in [("bdf2", channel), ("ab2_cn", open)] {
        let time = steps(method, 0.002, averages);
        compare(&format!("{mesh}{flow}{SOLVER}{time}{boundary}RUN\n"), 1e-8);
    }
}

/// Chunks of vectors begin on one rank and end on the next where parts have more than a chunk.
#[test]
fn parts_larger_than_a_chunk_agree_with_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\nelement = \"tetrahedron\"\njitter = 0.25\n";
    let flow = "[incompressible]\nkinematic_viscosity = 0.01\n";
    let boundary = "[boundary]\nxmin.velocity_inlet = [1.0, 0.0, 0.0]\nxmax.pressure_outlet = 0.0\nymin = \"no_slip\"\nymax = \"slip\"\n\
                    zmin.moving_wall = [0.3, 0.1, 0.0]\nzmax = \"no_slip\"\n";
    let time = "[time]\nmethod = \"bdf2\"\nstep = 0.002\nend = 0.004\n";
    compare(&format!("{mesh}{flow}{SOLVER}{time}{boundary}RUN\n"), 1e-8);
}

#[test]
fn periodic_flows_agree_with_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [18, 18]\nelement = \"triangle\"\n";
    let flow = "[incompressible]\nkinematic_viscosity = 0.01\nmean_velocity = [1.0, 0.0]\n";
    let initial = "[initial]\nvelocity = [\"sin(2*pi*y)\", \"0.3*sin(2*pi*x)\"]\n";
    let boundary =
        "[boundary]\nxmin.periodic = \"xmax\"\nymin = \"no_slip\"\nymax.moving_wall = [0.5, 0.0]\n";
    let time = steps("bdf2", 0.002, "\"streamfunction\"");
    compare(&format!("{mesh}{flow}{SOLVER}{initial}{time}{boundary}RUN\n"), 1e-8);
}

const GAS: &str = "[initial]\ndensity = \"1.2 + 0.1*x*y\"\nvelocity = [0.5, 0.0, 0.0]\npressure = 1.0\n[boundary]\n\
                   xmin.inflow = { density = 1.2, velocity = [\"0.5 + 0.1*y\", 0.0, 0.0], pressure = \"1 + 0.1*t\" }\n\
                   xmax.pressure_outlet = \"1 + 0.01*y*t\"\nymin = \"slip_wall\"\nymax = \"symmetry\"\nzmin = \"slip_wall\"\n\
                   zmax = \"slip_wall\"\n";

/// Stencils of hexahedra, and without polynomials, do not depend on the order of the cells.
#[test]
fn compressible_flows_agree_with_one_rank() {
    let time = steps("ssp_rk3", 0.002, "\"velocity\", \"vorticity\"");
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\njitter = 0.1\n";
    compare(&format!("{mesh}[compressible]\ngas_constant = 1.0\n{GAS}{time}RUN\n"), 1e-11);
    let folder = tempfile::tempdir().unwrap();
    let mesh = finer(folder.path(), "cube_tetrahedron_coarse");
    let flow = "[compressible]\ngas_constant = 1.0\nreconstruction = \"constant\"\n";
    let time = steps("ssp_rk3", 0.002, "\"velocity\"");
    compare(&format!("{mesh}{flow}{GAS}{time}RUN\n"), 1e-11);
}

/// The coordinates of a polynomial take six cells around in their order: parts change a solution on tetrahedra as little as another
/// numbering does on one rank.
#[test]
fn polynomials_on_tetrahedra_depend_on_the_order_of_cells() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = finer(folder.path(), "cube_tetrahedron_coarse");
    let time = "[time]\nmethod = \"ssp_rk3\"\nstep = 0.002\nend = 0.006\n";
    let case = format!("{mesh}[compressible]\ngas_constant = 1.0\n{GAS}{time}RUN\n");
    let fields = |case: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (_, summary) = run(case, folder.path());
        (last_fields(folder.path()).cell_fields, summary["warnings"].to_string())
    };
    let (want, _) = fields(&on(&case, 1, "hilbert"));
    let (of_parts, said) = fields(&on(&case, 3, "metis"));
    let in_file_order = case.replace("[mesh]\n", "[mesh]\nrenumber = \"none\"\n");
    let (renumbered, _) = fields(&on(&in_file_order, 1, "hilbert"));
    assert!(said.contains("stencils take cells in their order"), "{said}");
    let difference = |found: &[FieldArray]| {
        let values = found.iter().zip(&want).flat_map(|(a, b)| a.values.iter().zip(&b.values));
        values.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let [parts, numbering] = [difference(&of_parts), difference(&renumbered)];
    assert!(parts > 1e-9 && parts < 2.0 * numbering, "{parts:e}, {numbering:e}");
}

#[test]
fn one_rank_has_no_partition_and_its_bits() {
    let case = format!("{}[heat]\n{IN_TIME}{SIDES}RUN\n", gmsh("cube_tetrahedron_coarse"));
    let [want, found] = ["hilbert", "metis"].map(|partition| {
        let folder = tempfile::tempdir().unwrap();
        let (_, summary) = run(&on(&case, 1, partition), folder.path());
        let said = "partition = \\\"metis\\\" has no effect on one rank";
        assert_eq!(summary["warnings"].to_string().contains(said), partition == "metis");
        last_fields(folder.path())
    });
    assert!(found == want);
}

#[test]
fn partitions_that_do_not_exist_are_refused_by_name() {
    let said = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        new(text, folder.path()).err().unwrap().to_string()
    };
    let walls = "[boundary]\nxmin.temperature = 1.0\nxmax = \"insulated\"\nymin = \"insulated\"\nymax = \"insulated\"\n";
    let square = |n: usize, rest: &str| {
        format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [{n}, 1]\nelement = \"triangle\"\n[heat]\n{rest}{walls}RUN\n"
        )
    };
    assert_eq!(
        said(&on(&square(4, ""), 5, "metis")),
        "ranks = 5: METIS needs two cells a part, the mesh has 8 cells for 5 parts; set partition = \"hilbert\""
    );
    assert_eq!(
        said(&on(&square(4, ""), 9, "metis")),
        "ranks = 9: the mesh has only 8 cells; set ranks = 1"
    );
    let adapted = "[adapt]\nfield = \"temperature\"\ncomplexity = 100\ncycles = 1\n";
    assert_eq!(
        said(&on(&square(20, adapted), 2, "metis")),
        "ranks = 2: partition = \"metis\" and [adapt] exclude each other, as an adaptation depends on the order of the cells; set \
         partition = \"hilbert\""
    );
    let flow = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [20, 20]\n[incompressible]\nscheme = \"staggered\"\n\
                kinematic_viscosity = 0.1\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\n\
                ymax.moving_wall = [1.0, 0.0]\n[time]\nstep = 0.01\nend = 0.1\nRUN\n";
    assert_eq!(
        said(&on(flow, 2, "metis")),
        "ranks = 2: partition = \"metis\" is not for fluxes as unknowns; set partition = \"hilbert\", or scheme = \"collocated\""
    );
}

/// Fewer nodes than two a rank: one has none that is not of an earlier part.
#[test]
fn a_rank_without_a_node_is_refused() {
    let case = format!(
        "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [2, 2, 2]\nelement = \"tetrahedron\"\n[heat]\n\
         discretization = \"node\"\n{SIDES}RUN\n"
    );
    let case = case.replace("*t", "").replace(" + t", "");
    let folder = tempfile::tempdir().unwrap();
    let said = new(&on(&case, 20, "metis"), folder.path()).err().unwrap().to_string();
    let (start, end) =
        ("ranks = 20: METIS gives rank ", " no node of its own; set partition = \"hilbert\"");
    assert!(said.starts_with(start) && said.ends_with(end), "{said}");
}

/// The parts of a rank are those of METIS, and their cells have the order without a partition.
#[test]
fn cells_are_in_the_order_of_parts() {
    let case = format!("{}[heat]\n{SIDES}RUN\n", gmsh("cube_tetrahedron_medium"))
        .replace("*t", "")
        .replace(" + t", "");
    let folder = tempfile::tempdir().unwrap();
    let [whole, cut] = ["hilbert", "metis"].map(|partition| {
        let simulation = new(&on(&case, 4, partition), folder.path()).unwrap();
        simulation.mesh().clone()
    });
    let graph: Adjacency = whole.cell_to_cells();
    let parts = metis_parts(&graph, 4).unwrap();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|cell| parts[*cell]);
    let want: Vec<u32> = order.into_iter().map(|cell| whole.original_cell[cell]).collect();
    assert_eq!(cut.original_cell, want);
    assert_eq!((whole.part_starts.len(), cut.part_starts.len()), (0, 5));
}
