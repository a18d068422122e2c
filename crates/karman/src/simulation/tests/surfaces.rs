//! Fields on patches against exact values, and their sums against the integrals of the patches.

use super::*;
use crate::io::columns::Columns;

/// A table of a surface.
struct Table(Columns);

impl Table {
    fn read(path: &Path) -> Table {
        Table(Columns::read(path).unwrap())
    }

    fn of(&self, name: &str) -> &[f64] {
        self.0.column(name).unwrap()
    }

    /// Σ a b over the rows.
    fn sum(&self, a: &str, b: &str) -> f64 {
        self.of(a).iter().zip(self.of(b)).map(|(a, b)| a * b).sum()
    }

    /// Compares a column with a function of x, y, z and the normal.
    fn expect(&self, what: &str, name: &str, exact: impl Fn([f64; 3], [f64; 2]) -> f64) {
        let (x, y, z) = (self.of("x"), self.of("y"), self.of("z"));
        let normals = self.of("normal_x").iter().zip(self.of("normal_y"));
        assert!(!x.is_empty());
        for (row, (nx, ny)) in normals.enumerate() {
            let (found, want) = (self.of(name)[row], exact([x[row], y[row], z[row]], [*nx, *ny]));
            assert!((found - want).abs() < 1e-7, "{what} {name}, row {row}: {found} {want}");
        }
    }
}

/// Meshes of the unit square and cube: lattices, and meshes of Gmsh.
pub(super) fn meshes() -> Vec<(String, bool)> {
    let lattice = |element: &str, is_2d: bool| {
        let (size, cells) = if is_2d { ("1, 1", "5, 4") } else { ("1, 1, 1", "3, 4, 3") };
        let text = format!(
            "[mesh.generate.box]\nsize = [{size}]\ncells = [{cells}]\nelement = \"{element}\"\njitter = 0.2\n"
        );
        (text, is_2d)
    };
    vec![
        lattice("triangle", true),
        lattice("quadrilateral", true),
        lattice("tetrahedron", false),
        (gmsh("triangles_coarse"), true),
        (gmsh("quadrilaterals_coarse"), true),
        (gmsh("cube_tetrahedron_coarse"), false),
        (gmsh("cube_prism_coarse"), false),
    ]
}

/// The sum over a surface is the integral over its patches.
fn assert_equal(what: &str, sum: f64, integral: f64) {
    assert!((sum - integral).abs() < 1e-12 * (1.0 + integral.abs()), "{what}: {sum} {integral}");
}

#[test]
fn heat_flux_and_temperature_of_a_linear_field_are_exact() {
    // T = 1 + 2 x under a condition of each kind, k = 3.
    let conditions = [
        "xmin.temperature = 1.0\nxmax.heat_flux = 6.0",
        "xmin.temperature = 1.0\nxmax.convection = { coefficient = 4.0, ambient = 4.5 }",
        "xmin.heat_flux = -6.0\nxmax.temperature = 3.0",
    ];
    for (mesh, is_2d) in meshes() {
        for place in ["cell", "node"] {
            for condition in conditions {
                let sides = if is_2d { "" } else { "zmin = \"insulated\"\nzmax = \"symmetry\"\n" };
                let text = format!(
                    "{mesh}[heat]\nconductivity = 3.0\ndiscretization = \"{place}\"\n[boundary]\n{condition}\n\
                     ymin = \"insulated\"\nymax.temperature = \"1 + 2*x\"\n{sides}[linear_solver]\n\
                     relative_tolerance = 1e-13\n[[output.surface]]\nname = \"ends\"\npatches = [\"xmin\", \"xmax\"]\n\
                     fields = [\"temperature\", \"wall_heat_flux\"]\n[[output.patch]]\nname = \"ends\"\n\
                     patches = [\"xmin\", \"xmax\"]\n[[output.surface]]\nname = \"top\"\npatches = [\"ymax\"]\n\
                     fields = [\"wall_heat_flux\"]\n[[output.patch]]\nname = \"top\"\npatches = [\"ymax\"]\n"
                );
                let folder = tempfile::tempdir().unwrap();
                let (outcome, summary) = run(&text, folder.path());
                let what = format!("{outcome} {text}");
                assert_eq!(outcome.kind, OutcomeKind::Converged, "{what}");
                let table = Table::read(&folder.path().join("case/surface_ends.csv"));
                table.expect(&what, "temperature", |[x, ..], _| 1.0 + 2.0 * x);
                // Where a node belongs to both `xmin` and `ymax`, each has its part of the flux.
                table.expect(&what, "wall_heat_flux", |_, [nx, _]| 6.0 * nx);
                for name in ["ends", "top"] {
                    let table =
                        Table::read(&folder.path().join(format!("case/surface_{name}.csv")));
                    let heat = table.sum("area", "wall_heat_flux");
                    assert_equal(
                        &what,
                        heat,
                        number(&summary, &format!("/patch/{name}/heat_flux")),
                    );
                    let area: f64 = table.of("area").iter().sum();
                    assert_equal(&what, area, number(&summary, &format!("/patch/{name}/area")));
                }
            }
        }
    }
}

#[test]
fn stress_and_pressure_of_a_sheared_flow_are_exact() {
    // u = (2·10⁻⁷ y, 0), ν = 5·10⁶, p = 1.5 − 3 y and T = 4 y: linear fields on jittered meshes, with a
    // convective acceleration of 10⁻¹⁴. Where weights of linear upwinding are limited it is not exact, by 10⁻⁸ of T.
    // Fluxes as unknowns are exact for it on a rectangular lattice alone.
    let lattice =
        "[mesh.generate.box]\nsize = [1, 1]\ncells = [4, 5]\nelement = \"quadrilateral\"\n";
    let lattice = || vec![(lattice.to_owned(), true)];
    for (scheme, meshes) in
        [("collocated", meshes()), ("staggered", lattice()), ("exact_fractional_step", lattice())]
    {
        for (mesh, is_2d) in meshes {
            let zero = if is_2d { "" } else { ", 0.0" };
            let velocity = format!("[\"2e-7*y\", 0.0{zero}]");
            let mut patches = vec!["xmin", "xmax", "ymin", "ymax"];
            patches.extend(if is_2d { vec![] } else { vec!["zmin", "zmax"] });
            let boundary: String = patches
                .iter()
                .map(|p| {
                    format!("{p} = {{ velocity_inlet = {velocity}, temperature = \"4*y\" }}\n")
                })
                .collect();
            let reference = "reference = { velocity = 2.0, density = 5.0, pressure = 10.0 }\n";
            let text = format!(
                "{mesh}[incompressible]\nscheme = \"{scheme}\"\nkinematic_viscosity = 5e6\nsource = [0.0, -3.0{zero}]\n\
                 [incompressible.thermal]\ndiffusivity = 0.25\nexpansion = 0.0\ngravity = [0.0, 0.0{zero}]\n\
                 [initial]\nvelocity = {velocity}\npressure = \"1.5 - 3*y\"\ntemperature = \"4*y\"\n\
                 [boundary]\n{boundary}[time]\nstep = 0.05\nend = 0.2\n\
                 [incompressible.pressure]\nrelative_tolerance = 1e-13\n[incompressible.momentum]\nrelative_tolerance = 1e-13\n\
                 [[output.surface]]\nname = \"walls\"\npatches = [\"ymin\", \"ymax\"]\n\
                 fields = [\"wall_shear_stress\", \"pressure\", \"pressure_coefficient\", \"y_plus\", \"temperature\", \
                 \"wall_heat_flux\"]\n{reference}[[output.patch]]\nname = \"walls\"\npatches = [\"ymin\", \"ymax\"]\n{reference}"
            );
            let folder = tempfile::tempdir().unwrap();
            let (outcome, summary) = run(&text, folder.path());
            let what = format!("{outcome} {text}");
            assert_eq!(outcome.kind, OutcomeKind::Finished, "{what}");
            let table = Table::read(&folder.path().join("case/surface_walls.csv"));
            // The mean of the pressure over the domain is subtracted.
            let p = |y: f64| 1.5 - 3.0 * y;
            table.expect(&what, "pressure", |[_, y, _], _| p(y));
            table.expect(&what, "pressure_coefficient", |[_, y, _], _| (p(y) - 2.0) / 2.0);
            table.expect(&what, "wall_shear_stress_x", |_, [_, ny]| -ny);
            table.expect(&what, "wall_shear_stress_y", |_, _| 0.0);
            table.expect(&what, "temperature", |[_, y, _], _| 4.0 * y);
            table.expect(&what, "wall_heat_flux", |_, [_, ny]| ny);
            // u_τ = 1: y⁺ = y / ν.
            let heights = table.of("y_plus").iter().map(|y_plus| 5e6 * y_plus);
            assert!(heights.clone().all(|y| (0.02..0.3).contains(&y)), "{what} {heights:?}");
            let integral = |name: &str| number(&summary, &format!("/patch/walls/{name}"));
            assert_equal(&what, table.sum("area", "wall_heat_flux"), integral("heat_flux"));
            let pressure = table.of("pressure").iter().map(|p| 5.0 * p - 10.0);
            let along = table.of("area").iter().zip(table.of("normal_y")).map(|(a, n)| a * n);
            let force: f64 = pressure.zip(along).map(|(p, s)| p * s).sum();
            assert_equal(&what, force, integral("pressure_force_y"));
            let viscous = 5.0 * table.sum("area", "wall_shear_stress_x");
            assert!((viscous - integral("viscous_force_x")).abs() < 1e-8, "{what}: {viscous}");
        }
    }
}

#[test]
fn surfaces_are_written_with_the_fields_and_after_a_restart() {
    let text = gmsh("cube_prism_coarse")
        + "[heat]\n[initial]\ntemperature = \"x\"\n[boundary]\nxmin.temperature = 0.0\nxmax.temperature = \"1 + t\"\n\
           ymin = \"insulated\"\nymax = \"insulated\"\nzmin = \"insulated\"\nzmax = \"insulated\"\n\
           [time]\nstep = 0.1\nend = 0.4\n[checkpoint]\nevery = 0.2\n[output]\nevery = 0.1\nhistory_plot = true\n\
           [[output.surface]]\nname = \"hot\"\npatches = [\"xmax\"]\nfields = [\"temperature\"]\n";
    let folder = tempfile::tempdir().unwrap();
    run(&text, folder.path());
    let results = folder.path().join("case");
    let read = |name: &str| std::fs::read(results.join(name)).unwrap();
    let names =
        ["surface_hot_0000.vtu", "surface_hot_0004.vtu", "surface_hot.pvd", "surface_hot.csv"];
    let before = names.map(read);
    assert!(read("history.png").starts_with(b"\x89PNG"));
    let series = crate::mesh::files::pvd::read(&results.join("surface_hot.pvd")).unwrap();
    let times: Vec<f64> = series.iter().map(|entry| entry.time).collect();
    assert_eq!(times, [0.0, 0.1, 0.2, 0.3, 0.4]);
    let table = Table::read(&results.join("surface_hot.csv"));
    table.expect("hot", "temperature", |_, _| 1.4);
    let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
    let restart = Some(results.join("checkpoint_00000002.safetensors"));
    Simulation::new(case, RunOptions { restart, backend: None }).unwrap().run(&mut |_| ()).unwrap();
    assert!(names.map(read) == before, "a restart writes equal files");
    // A later run without the surface leaves none of its files.
    let without = &text[..text.find("[[output.surface]]").unwrap()];
    run(without, folder.path());
    let left = std::fs::read_dir(&results).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(left.filter(|name| name.starts_with("surface_")).count() == 0);
}
