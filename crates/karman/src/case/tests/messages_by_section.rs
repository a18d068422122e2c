//! Messages about the contents of the sections.

use super::*;

#[test]
fn equations() {
    insta::assert_snapshot!(failure(STEADY, "[heat]\nconductivity = 2.0", ""), @r#"
    folder/bar.toml:1:1: the case has no equation: a section is missing
      |
    1 | title = "bar"
      | ^
      = add [heat], [incompressible] or [compressible]
    "#);
    insta::assert_snapshot!(failure(STEADY, "[boundary]", "[compressible]\n[boundary]"), @"
    folder/bar.toml:7:1: a case has one equation, this one has [heat] and [compressible]
      |
    7 | [compressible]
      | ^^^^^^^^^^^^^^
    ");
}

#[test]
fn meshes() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 0.1]\ncells = [10, 1]\n";
    insta::assert_snapshot!(failure(STEADY, mesh, ""), @r#"
    folder/bar.toml:1:1: the case has no mesh
      |
    1 | title = "bar"
      | ^
      = add [mesh] with `file` or a generator
    "#);
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh]\nscale = 2\n"), @"
    folder/bar.toml:2:1: the mesh has neither `file` nor a generator
      |
    2 | [mesh]
      | ^^^^^^
      = generators: box, box_with_obstacle, cylinder_in_channel, sphere_in_box, annulus
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh]\nfile = \"shaft.msh\"\n"), @r#"
    folder/bar.toml:3:8: there is no mesh file folder/shaft.msh
      |
    3 | file = "shaft.msh"
      |        ^^^^^^^^^^^
      = paths start at the folder of the case file
    "#);
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate]\n"), @"
    folder/bar.toml:2:1: no generator is named
      |
    2 | [mesh.generate]
      | ^^^^^^^^^^^^^^^
      = generators: box, box_with_obstacle, cylinder_in_channel, sphere_in_box, annulus
    ");
    insta::assert_snapshot!(
        failure(STEADY, mesh, &format!("[mesh]\nfile = \"shaft.msh\"\n{mesh}")), @"
    folder/bar.toml:4:7: a mesh is read from `file` or generated, not both
      |
    4 | [mesh.generate.box]
      |       ^^^^^^^^
    ");
    insta::assert_snapshot!(
        failure(STEADY, "[heat]", "[mesh.generate.annulus]\ninner = 1\n[heat]"), @"
    folder/bar.toml:5:1: a mesh has one generator, this is the second
      |
    5 | [mesh.generate.annulus]
      | ^^^^^^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, &format!("[mesh]\nscale = 0\n{mesh}")), @"
    folder/bar.toml:3:9: `scale` must be positive, not 0
      |
    3 | scale = 0
      |         ^
    ");
}

#[test]
fn generators() {
    insta::assert_snapshot!(failure(STEADY, "size = [1.0, 0.1]", "size = [1.0]"), @"
    folder/bar.toml:3:8: `size` takes 2 or 3 numbers, 1 given
      |
    3 | size = [1.0]
      |        ^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "size = [1.0, 0.1]", "size = [1.0, 0]"), @"
    folder/bar.toml:3:8: `size` must be positive, not 0
      |
    3 | size = [1.0, 0]
      |        ^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "size = [1.0, 0.1]\n", ""), @"
    folder/bar.toml:2:1: `size` is missing
      |
    2 | [mesh.generate.box]
      | ^^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "cells = [10, 1]", "cells = [10, 0]"), @"
    folder/bar.toml:4:9: `cells` takes 2 whole numbers here, 1 or more each
      |
    4 | cells = [10, 0]
      |         ^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "cells", "jitter = 0.5\ncells"), @"
    folder/bar.toml:4:10: `jitter` must be below 0.5, not 0.5: cells would be inverted
      |
    4 | jitter = 0.5
      |          ^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "cells", "origin = [0]\ncells"), @"
    folder/bar.toml:4:10: `origin` takes 2 numbers here, 1 given
      |
    4 | origin = [0]
      |          ^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "cells", "element = \"tetrahedron\"\ncells"), @r#"
    folder/bar.toml:4:11: a 2D mesh has no cells of shape `tetrahedron`
      |
    4 | element = "tetrahedron"
      |           ^^^^^^^^^^^^^
      = valid values: triangle, quadrilateral, mixed
    "#);
    let mesh = "[mesh.generate.box]\nsize = [1.0, 0.1]\ncells = [10, 1]\n";
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.box_with_obstacle]
size = [4, 2]\ncells = [8, 4]\nobstacle_min = [1, 1]\nobstacle_max = [2, 3]\n"), @"
    folder/bar.toml:6:16: along y the obstacle from 1 to 3 is not inside the box from 0 to 2
      |
    6 | obstacle_max = [2, 3]
      |                ^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.box_with_obstacle]
size = [4, 2]\ncells = [8, 4]\nobstacle_min = [1]\nobstacle_max = [2]\n"), @"
    folder/bar.toml:5:16: `obstacle_min` takes 2 numbers here, 1 given
      |
    5 | obstacle_min = [1]
      |                ^^^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.box_with_obstacle]
size = [4, 2, 1]\ncells = [8, 4, 2]\nobstacle_min = [1, 1, 0]\nobstacle_max = [2, 1.5, 0.5]\n"), @"
    folder/bar.toml:6:16: the obstacle must span the box along z, from 0 to 1
      |
    6 | obstacle_max = [2, 1.5, 0.5]
      |                ^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.cylinder_in_channel]
length = 2\nheight = 1\ncentre = [0.5, 0.1]\ndiameter = 0.3
cells_around = 8\ncells_radial = 4\ncells_wake = 4\n"), @"
    folder/bar.toml:5:10: the cylinder is not inside the channel (x from 0 to length, y to height)
      |
    5 | centre = [0.5, 0.1]
      |          ^^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.cylinder_in_channel]
length = 2\nheight = 1\ncentre = [0.5, 0.5]\ndiameter = 0.3
cells_around = 0\ncells_radial = 4\ncells_wake = 4\n"), @"
    folder/bar.toml:7:16: `cells_around` must be 1 or more
      |
    7 | cells_around = 0
      |                ^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.cylinder_in_channel]
length = 2\nheight = 1\ncentre = [0.5, 0.5]\ndiameter = 0.3
cells_around = 8\ncells_radial = 4\ncells_wake = 4\ncells_width = 4\n"), @"
    folder/bar.toml:10:15: `cells_width` needs `width`: without it the mesh is 2D
       |
    10 | cells_width = 4
       |               ^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.sphere_in_box]
size = [4, 4, 4]\ncentre = [2, 2, 9]\ndiameter = 1\nsurface_size = 0.1\nfar_size = 1\n"), @"
    folder/bar.toml:4:10: the sphere is not inside the box (from 0 to size)
      |
    4 | centre = [2, 2, 9]
      |          ^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, mesh, "[mesh.generate.annulus]
inner = 2\nouter = 1\ncells = [4, 8]\n"), @"
    folder/bar.toml:4:9: `outer` (1) must be larger than `inner` (2)
      |
    4 | outer = 1
      |         ^
    ");
}

#[test]
fn boundaries() {
    let change = |to| failure(STEADY, "xmax = \"insulated\"", to);
    insta::assert_snapshot!(change("xmax = \"insulted\""), @r#"
    folder/bar.toml:9:8: unknown kind of boundary `insulted`
      |
    9 | xmax = "insulted"
      |        ^^^^^^^^^^
      = did you mean `insulated`?
      = valid kinds: insulated, symmetry
      = with a value: { temperature = … }, { heat_flux = … }, { convection = { coefficient, ambient } }
    "#);
    insta::assert_snapshot!(change("xmax = \"temperature\""), @r#"
    folder/bar.toml:9:8: `temperature` needs a value: { temperature = … }
      |
    9 | xmax = "temperature"
      |        ^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("xmax = \"no_slip\""), @r#"
    folder/bar.toml:9:8: `no_slip` is a condition for flow, not for heat
      |
    9 | xmax = "no_slip"
      |        ^^^^^^^^^
      = valid kinds: insulated, symmetry
    "#);
    insta::assert_snapshot!(change("xmax.periodic = \"xmin\""), @r#"
    folder/bar.toml:9:17: `periodic` is a condition for flow, not for heat
      |
    9 | xmax.periodic = "xmin"
      |                 ^^^^^^
      = valid kinds: insulated, symmetry
      = with a value: { temperature = … }, { heat_flux = … }, { convection = { coefficient, ambient } }
    "#);
    insta::assert_snapshot!(change("xmax = {}"), @r#"
    folder/bar.toml:9:1: patch "xmax" has no condition
      |
    9 | xmax = {}
      | ^^^^
      = valid kinds: insulated, symmetry
      = with a value: { temperature = … }, { heat_flux = … }, { convection = { coefficient, ambient } }
    "#);
    insta::assert_snapshot!(change("xmax = { temperature = 1, heat_flux = 2 }"), @r#"
    folder/bar.toml:9:39: patch "xmax" has two thermal conditions, `temperature` and `heat_flux`
      |
    9 | xmax = { temperature = 1, heat_flux = 2 }
      |                                       ^
    "#);
    insta::assert_snapshot!(change("xmax.insulated = false"), @"
    folder/bar.toml:9:18: `insulated = false` is no condition: leave it out
      |
    9 | xmax.insulated = false
      |                  ^^^^^
    ");
    insta::assert_snapshot!(change("xmax.convection = { ambient = 300 }"), @"
    folder/bar.toml:9:19: `coefficient` is missing
      |
    9 | xmax.convection = { ambient = 300 }
      |                   ^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(change("xmax.convection = { coefficient = -1, ambient = 300 }"), @"
    folder/bar.toml:9:35: `coefficient` must not be negative, not -1
      |
    9 | xmax.convection = { coefficient = -1, ambient = 300 }
      |                                   ^^
    ");
    insta::assert_snapshot!(change("xmax.temperature = {}"), @r#"
    folder/bar.toml:9:20: `table` is missing: { table = "file.csv" }
      |
    9 | xmax.temperature = {}
      |                    ^^
    "#);
    insta::assert_snapshot!(change("xmax.temperature = { tabel = \"a.csv\" }"), @r#"
    folder/bar.toml:9:22: unknown key `tabel`
      |
    9 | xmax.temperature = { tabel = "a.csv" }
      |                      ^^^^^
      = did you mean `table`?
      = valid keys: table
    "#);
    insta::assert_snapshot!(change("xmax.temperature = \"300 + t\""), @r#"
    folder/bar.toml:9:20: `temperature` depends on time and this case has no [time]
      |
    9 | xmax.temperature = "300 + t"
      |                    ^^^^^^^^^
    "#);
    let message = change("xmax.temperature = { table = \"absent.csv\" }");
    assert!(message.contains("cannot read the table folder/absent.csv: "), "{message}");
}

#[test]
fn times() {
    insta::assert_snapshot!(failure(UNSTEADY, "step = 0.1", "step = 0.1\ncfl = 1"), @"
    folder/bar.toml:11:7: `step` and `cfl` both set the time step: keep one
       |
    11 | cfl = 1
       |       ^
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "step = 0.1\n", ""), @"
    folder/bar.toml:9:1: `step` or `cfl` is missing
      |
    9 | [time]
      | ^^^^^^
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "step = 0.1", "step = -0.1"), @"
    folder/bar.toml:10:8: `step` must be positive, not -0.1
       |
    10 | step = -0.1
       |        ^^^^
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "end = 1.0", "end = 0"), @"
    folder/bar.toml:11:7: `end` must be positive, not 0
       |
    11 | end = 0
       |       ^
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "end = 1.0", ""), @"
    folder/bar.toml:9:1: `end` is missing
      |
    9 | [time]
      | ^^^^^^
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "end = 1.0", "end = 1\nlocal_step = true"), @"
    folder/bar.toml:12:14: `local_step` is for compressible flow, not for heat
       |
    12 | local_step = true
       |              ^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "[output]", "[checkpoint]\nevery = 1\n[output]"), @"
    folder/bar.toml:10:1: checkpoints need [time]: this case is steady
       |
    10 | [checkpoint]
       | ^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "[output]", "[checkpoint]\n[output]"), @"
    folder/bar.toml:10:1: `every` is missing
       |
    10 | [checkpoint]
       | ^^^^^^^^^^^^
    ");
}

#[test]
fn solvers() {
    let change =
        |to: &str| failure(STEADY, "[output]", &format!("[linear_solver]\n{to}\n[output]"));
    insta::assert_snapshot!(change("method = \"multigrid\"\npreconditioner = \"jacobi\""), @r#"
    folder/bar.toml:12:18: `method = "multigrid"` iterates with cycles of algebraic multigrid alone
       |
    12 | preconditioner = "jacobi"
       |                  ^^^^^^^^
       = leave `preconditioner` out
    "#);
    insta::assert_snapshot!(change("amg.hierarchy_precision = \"f16\""), @r#"
    folder/bar.toml:11:1: a hierarchy in 16 bits is not available in this version
       |
    11 | amg.hierarchy_precision = "f16"
       | ^^^
       = use hierarchy_precision = "f32"
    "#);
    insta::assert_snapshot!(change("relative_tolerance = 1"), @"
    folder/bar.toml:11:22: `relative_tolerance` must be below 1, not 1
       |
    11 | relative_tolerance = 1
       |                      ^
    ");
    insta::assert_snapshot!(change("relative_tolerance = -1"), @"
    folder/bar.toml:11:22: `relative_tolerance` must not be negative, not -1
       |
    11 | relative_tolerance = -1
       |                      ^^
    ");
    insta::assert_snapshot!(change("max_iterations = 0"), @"
    folder/bar.toml:11:18: `max_iterations` must be 1 or more
       |
    11 | max_iterations = 0
       |                  ^
    ");
    insta::assert_snapshot!(change("amg.strength = 1.5"), @"
    folder/bar.toml:11:16: `strength` must be from 0 to 1, not 1.5
       |
    11 | amg.strength = 1.5
       |                ^^^
    ");
    insta::assert_snapshot!(change("amg.pairwise_passes = 5"), @"
    folder/bar.toml:11:23: `pairwise_passes` must be from 0 to 4, not 5
       |
    11 | amg.pairwise_passes = 5
       |                       ^
    ");
    insta::assert_snapshot!(change("amg.drop_tolerance = 1.0"), @"
    folder/bar.toml:11:22: `drop_tolerance` must be below 1, not 1
       |
    11 | amg.drop_tolerance = 1.0
       |                      ^^^
    ");
    insta::assert_snapshot!(change("amg.max_levels = 0"), @"
    folder/bar.toml:11:18: `max_levels` must be 1 or more
       |
    11 | amg.max_levels = 0
       |                  ^
    ");
    insta::assert_snapshot!(change("amg.sweeps = [0, 0]"), @"
    folder/bar.toml:11:14: `sweeps` must not be 0 on both sides
       |
    11 | amg.sweeps = [0, 0]
       |              ^^^^^^
    ");
    insta::assert_snapshot!(change("amg.sweeps = [1, 2, 3]"), @"
    folder/bar.toml:11:14: `sweeps` takes 2 whole numbers, 3 given
       |
    11 | amg.sweeps = [1, 2, 3]
       |              ^^^^^^^^^
    ");
    insta::assert_snapshot!(change("amg.sparsification.beta = -1"), @"
    folder/bar.toml:11:27: `beta` must not be negative, not -1
       |
    11 | amg.sparsification.beta = -1
       |                           ^^
    ");
}

#[test]
fn outputs() {
    let change = |to| failure(STEADY, "directory = \"out\"", to);
    insta::assert_snapshot!(change("directory = \"\""), @r#"
    folder/bar.toml:11:13: `directory` is empty
       |
    11 | directory = ""
       |             ^^
    "#);
    insta::assert_snapshot!(change("every_steps = 0"), @"
    folder/bar.toml:11:15: `every_steps` must be 1 or more
       |
    11 | every_steps = 0
       |               ^
    ");
    insta::assert_snapshot!(change("every = 1\nevery_steps = 1"), @"
    folder/bar.toml:12:15: `every` and `every_steps` exclude each other: keep one
       |
    12 | every_steps = 1
       |               ^
    ");
    insta::assert_snapshot!(change("every = 1"), @"
    folder/bar.toml:11:9: `every` counts time and this case has no [time]
       |
    11 | every = 1
       |         ^
       = a steady case writes at its end
    ");
    insta::assert_snapshot!(change("fields = [\"temprature\"]"), @r#"
    folder/bar.toml:11:11: a heat case has no field `temprature`
       |
    11 | fields = ["temprature"]
       |           ^^^^^^^^^^^^
       = did you mean `temperature`?
       = valid fields: temperature
    "#);
    insta::assert_snapshot!(change("picture = { slice = { axis = \"z\", at = 0 } }"), @r#"
    folder/bar.toml:11:11: `field` is missing
       |
    11 | picture = { slice = { axis = "z", at = 0 } }
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("picture = { field = \"velocity\" }"), @r#"
    folder/bar.toml:11:21: a heat case has no field `velocity`
       |
    11 | picture = { field = "velocity" }
       |                     ^^^^^^^^^^
       = valid fields: temperature
    "#);
    insta::assert_snapshot!(change("picture = { field = \"temperature\", slice = { at = 0 } }"), @r#"
    folder/bar.toml:11:44: `axis` is missing
       |
    11 | picture = { field = "temperature", slice = { at = 0 } }
       |                                            ^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("[[output.recirculation]]\nname = \"wake\""), @"
    folder/bar.toml:11:1: `recirculation` belongs to a flow case, this one is of heat
       |
    11 | [[output.recirculation]]
       | ^^^^^^^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(change("[[output.probe]]\nname = \"middle\"\nat = [0, 0]"), @r#"
    folder/bar.toml:15:8: there are two probes named `middle`
       |
    15 | name = "middle"
       |        ^^^^^^^^
    "#);
    insta::assert_snapshot!(change("[[output.probe]]\nname = \"a b\"\nat = [0, 0]"), @r#"
    folder/bar.toml:12:8: the name of a probe is made of letters, digits, `_` and `-`
       |
    12 | name = "a b"
       |        ^^^^^
    "#);
    insta::assert_snapshot!(change("[[output.probe]]\nat = [0, 0]"), @"
    folder/bar.toml:11:1: `name` is missing
       |
    11 | [[output.probe]]
       | ^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(change("[[output.probe]]\nname = \"a\"\nat = [0]"), @"
    folder/bar.toml:13:6: `at` takes 2 or 3 numbers, 1 given
       |
    13 | at = [0]
       |      ^^^
    ");
    insta::assert_snapshot!(
        change("[[output.line]]\nname = \"a\"\nfrom = [0, 0]\nto = [0, 0, 0]"), @"
    folder/bar.toml:14:6: line `a` ends where it starts
       |
    14 | to = [0, 0, 0]
       |      ^^^^^^^^^
    ");
    insta::assert_snapshot!(
        change("[[output.line]]\nname = \"a\"\nfrom = [0, 0]\nto = [1, 0]\npoints = 1"), @"
    folder/bar.toml:15:10: `points` must be 2 or more
       |
    15 | points = 1
       |          ^
    ");
    insta::assert_snapshot!(change("[[output.patch]]\nname = \"a\"\npatches = []"), @"
    folder/bar.toml:13:11: `patches` names no patch
       |
    13 | patches = []
       |           ^^
    ");
    insta::assert_snapshot!(
        change("[[output.patch]]\nname = \"a\"\npatches = [\"xmin\", \"xmin\"]"), @r#"
    folder/bar.toml:13:20: patch "xmin" is named twice
       |
    13 | patches = ["xmin", "xmin"]
       |                    ^^^^^^
    "#);
    insta::assert_snapshot!(
        change("[[output.patch]]\nname = \"a\"\npatches = [\"xmin\"]\nreference = {}"), @"
    folder/bar.toml:14:13: `reference` belongs to a flow case, this one is of heat
       |
    14 | reference = {}
       |             ^^
    ");
}

#[test]
fn expectations() {
    let change = |entry: &str| {
        let text = format!("{STEADY}[expected]\n{entry}\n");
        parse(&text).unwrap_err().to_string()
    };
    insta::assert_snapshot!(change("\"probe.middel.temperature\" = { value = 1, absolute = 1 }"), @r#"
    folder/bar.toml:19:1: there is no [[output.probe]] named `middel`
       |
    19 | "probe.middel.temperature" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
       = did you mean `middle`?
       = known: middle
    "#);
    insta::assert_snapshot!(change("\"probe.middle.velocity\" = { value = 1, absolute = 1 }"), @r#"
    folder/bar.toml:19:1: a heat case has no field `velocity`
       |
    19 | "probe.middle.velocity" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^
       = known: temperature
    "#);
    insta::assert_snapshot!(change("\"patch.left.flux\" = { value = 1, absolute = 1 }"), @r#"
    folder/bar.toml:19:1: a patch of a heat case has no quantity `flux`
       |
    19 | "patch.left.flux" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^
       = known: area, heat_flux
    "#);
    insta::assert_snapshot!(change("\"patch.right.area\" = { value = 1, absolute = 1 }"), @r#"
    folder/bar.toml:19:1: there is no [[output.patch]] named `right`
       |
    19 | "patch.right.area" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^
       = known: left
    "#);
    insta::assert_snapshot!(change("\"errors.temperature.l2\" = { value = 0, absolute = 1 }"), @r#"
    folder/bar.toml:19:1: [exact] has no field `temperature`
       |
    19 | "errors.temperature.l2" = { value = 0, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("\"mesh.cell\" = { value = 1, absolute = 1 }"), @r#"
    folder/bar.toml:19:1: the summary of a run has no entry `mesh.cell`
       |
    19 | "mesh.cell" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^
       = did you mean "mesh.cells"?
       = valid entries, in quotes: mesh.dimension, mesh.nodes, mesh.edges, mesh.faces, mesh.cells, time.steps, time.end, linear.solves, linear.iterations, linear.last_iterations, linear.relative_residual, linear.convergence_factor, probe.PROBE.FIELD, patch.PATCH.QUANTITY, surface.SURFACE.FIELD.mean, surface.SURFACE.FIELD.min, surface.SURFACE.FIELD.max, fields.FIELD.mean, fields.FIELD.min, fields.FIELD.max, errors.FIELD.l1, errors.FIELD.l2, errors.FIELD.linf
    "#);
    insta::assert_snapshot!(change("temperature = { value = 1, absolute = 1 }"), @"
    folder/bar.toml:19:1: the summary of a run has no entry `temperature`
       |
    19 | temperature = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^
       = valid entries, in quotes: mesh.dimension, mesh.nodes, mesh.edges, mesh.faces, mesh.cells, time.steps, time.end, linear.solves, linear.iterations, linear.last_iterations, linear.relative_residual, linear.convergence_factor, probe.PROBE.FIELD, patch.PATCH.QUANTITY, surface.SURFACE.FIELD.mean, surface.SURFACE.FIELD.min, surface.SURFACE.FIELD.max, fields.FIELD.mean, fields.FIELD.min, fields.FIELD.max, errors.FIELD.l1, errors.FIELD.l2, errors.FIELD.linf
    ");
    insta::assert_snapshot!(change("\"mesh.cells\" = { absolute = 1 }"), @r#"
    folder/bar.toml:19:16: `value` is missing
       |
    19 | "mesh.cells" = { absolute = 1 }
       |                ^^^^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("\"mesh.cells\" = { value = 1 }"), @r#"
    folder/bar.toml:19:16: a tolerance is missing: `absolute` or `relative`
       |
    19 | "mesh.cells" = { value = 1 }
       |                ^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("\"mesh.cells\" = { value = 0, relative = 1e-3 }"), @r#"
    folder/bar.toml:19:40: a tolerance relative to 0 allows nothing: use `absolute`
       |
    19 | "mesh.cells" = { value = 0, relative = 1e-3 }
       |                                        ^^^^
    "#);
    insta::assert_snapshot!(change("\"mesh.cells\" = { value = 1, absolute = -1 }"), @r#"
    folder/bar.toml:19:40: `absolute` must not be negative, not -1
       |
    19 | "mesh.cells" = { value = 1, absolute = -1 }
       |                                        ^^
    "#);
    insta::assert_snapshot!(change("mesh.cells = { value = 1, absolute = 1 }"), @r#"
    folder/bar.toml:19:6: unknown key `cells`
       |
    19 | mesh.cells = { value = 1, absolute = 1 }
       |      ^^^^^
       = valid keys: value, absolute, relative
       = paths stand in quotes: "probe.NAME.FIELD" = { … }
    "#);
}
