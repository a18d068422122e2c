//! Messages about `[[output.surface]]`.

use super::*;

/// The message for a surface appended to a case.
fn refused(text: &str, keys: &str) -> String {
    let text = format!("{text}[[output.surface]]\n{keys}");
    match parse(&text) {
        Ok(_) => panic!("accepted {keys}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_surface_is_read() {
    let keys = "[[output.surface]]\nname = \"lid\"\npatches = [\"ymax\", \"ymin\"]\n\
                fields = [\"y_plus\", \"pressure_coefficient\"]\nreference = { velocity = 2.0, pressure = -1.0 }\n";
    let case = parse(&format!("{FLOW}{keys}")).unwrap();
    let [surface] = &case.output.surfaces[..] else { panic!("{:?}", case.output) };
    assert_eq!(surface.name, "lid");
    assert_eq!(surface.patches, ["ymax", "ymin"]);
    assert_eq!(surface.fields, ["y_plus", "pressure_coefficient"]);
    let reference = SurfaceReference { velocity: 2.0, density: 1.0, pressure: -1.0 };
    assert_eq!(surface.reference, reference);
    assert!(case.warnings.is_empty());
}

#[test]
fn names_patches_and_fields_of_surfaces() {
    insta::assert_snapshot!(refused(FLOW, "patches = [\"ymax\"]\nfields = [\"pressure\"]"), @"
    folder/bar.toml:21:1: `name` is missing
       |
    21 | [[output.surface]]
       | ^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(refused(FLOW, "name = \"lid\"\nfields = [\"pressure\"]"), @"
    folder/bar.toml:21:1: `patches` is missing
       |
    21 | [[output.surface]]
       | ^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(refused(FLOW, "name = \"lid\"\npatches = []\nfields = [\"pressure\"]"), @"
    folder/bar.toml:23:11: `patches` names no patch
       |
    23 | patches = []
       |           ^^
    ");
    insta::assert_snapshot!(refused(FLOW, "name = \"lid\"\npatches = [\"ymax\"]"), @"
    folder/bar.toml:21:1: `fields` is missing
       |
    21 | [[output.surface]]
       | ^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(refused(FLOW, "name = \"lid\"\npatches = [\"ymax\"]\nfields = []"), @"
    folder/bar.toml:24:10: `fields` names no field
       |
    24 | fields = []
       |          ^^
    ");
    let one = "name = \"lid\"\npatches = [\"ymax\"]\nfields = [\"pressure\"]\n";
    let two = format!("{one}[[output.surface]]\n{one}");
    insta::assert_snapshot!(refused(FLOW, &two), @r#"
    folder/bar.toml:26:8: there are two surfaces named `lid`
       |
    26 | name = "lid"
       |        ^^^^^
    "#);
    let fields =
        |fields: &str| format!("name = \"lid\"\npatches = [\"ymax\"]\nfields = [{fields}]\n");
    insta::assert_snapshot!(refused(FLOW, &fields("\"y_pluss\"")), @r#"
    folder/bar.toml:24:11: a surface of a flow case has no field `y_pluss`
       |
    24 | fields = ["y_pluss"]
       |           ^^^^^^^^^
       = did you mean `y_plus`?
       = valid fields: pressure, pressure_coefficient, wall_shear_stress, y_plus
    "#);
    insta::assert_snapshot!(refused(FLOW, &fields("\"pressure\", \"pressure\"")), @r#"
    folder/bar.toml:24:23: field `pressure` is named twice
       |
    24 | fields = ["pressure", "pressure"]
       |                       ^^^^^^^^^^
    "#);
    insta::assert_snapshot!(refused(FLOW, &fields("\"wall_heat_flux\"")), @r#"
    folder/bar.toml:24:11: a surface of a flow case has no field `wall_heat_flux`
       |
    24 | fields = ["wall_heat_flux"]
       |           ^^^^^^^^^^^^^^^^
       = valid fields: pressure, pressure_coefficient, wall_shear_stress, y_plus
       = a flow has a temperature with [incompressible.thermal]
    "#);
    insta::assert_snapshot!(refused(FLOW, &fields("\"pressure_coefficient\"")), @r#"
    folder/bar.toml:24:11: `pressure_coefficient` needs `reference`
       |
    24 | fields = ["pressure_coefficient"]
       |           ^^^^^^^^^^^^^^^^^^^^^^
       = add, for example: reference = { velocity = 1.0 }
    "#);
    insta::assert_snapshot!(refused(STEADY, &fields("\"pressure\"")), @r#"
    folder/bar.toml:21:11: a surface of a heat case has no field `pressure`
       |
    21 | fields = ["pressure"]
       |           ^^^^^^^^^^
       = valid fields: temperature, wall_heat_flux
    "#);
}

#[test]
fn references_and_walls_of_surfaces() {
    let keys =
        |patch: &str, rest: &str| format!("name = \"lid\"\npatches = [\"{patch}\"]\n{rest}\n");
    let coefficient = "fields = [\"pressure_coefficient\"]\nreference = ";
    insta::assert_snapshot!(refused(FLOW, &keys("ymax", &format!("{coefficient}{{ velocity = 0.0 }}"))), @"
    folder/bar.toml:25:26: `velocity` must be positive, not 0
       |
    25 | reference = { velocity = 0.0 }
       |                          ^^^
    ");
    insta::assert_snapshot!(refused(FLOW, &keys("ymax", &format!("{coefficient}{{ density = -1 }}"))), @"
    folder/bar.toml:25:25: `density` must be positive, not -1
       |
    25 | reference = { density = -1 }
       |                         ^^
    ");
    insta::assert_snapshot!(refused(FLOW, &keys("ymax", &format!("{coefficient}{{ area = 1 }}"))), @"
    folder/bar.toml:25:15: unknown key `area`
       |
    25 | reference = { area = 1 }
       |               ^^^^
       = valid keys: velocity, density, pressure
    ");
    let heat = keys("xmin", "fields = [\"temperature\"]\nreference = { velocity = 1.0 }");
    insta::assert_snapshot!(refused(STEADY, &heat), @"
    folder/bar.toml:22:13: `reference` belongs to a flow case, this one is of heat
       |
    22 | reference = { velocity = 1.0 }
       |             ^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(refused(FLOW, &keys("xmax", "fields = [\"pressure\", \"y_plus\"]")), @r#"
    folder/bar.toml:23:12: `y_plus` is a field of walls: no velocity is prescribed on patch "xmax"
       |
    23 | patches = ["xmax"]
       |            ^^^^^^
       = it exists on patches with no_slip, moving_wall, velocity_inlet or flow_rate_inlet
    "#);
    let inviscid = FLOW
        .replace("kinematic_viscosity = 0.01", "kinematic_viscosity = 0")
        .replace("[time]", "[time]\nmethod = \"rk3\"");
    insta::assert_snapshot!(refused(&inviscid, &keys("ymax", "fields = [\"wall_shear_stress\"]")), @r#"
    folder/bar.toml:25:11: `wall_shear_stress` needs a viscosity: this flow is inviscid
       |
    25 | fields = ["wall_shear_stress"]
       |           ^^^^^^^^^^^^^^^^^^^
    "#);
    let text = FLOW.to_owned()
        + "[[output.surface]]\n"
        + &keys("ymax", "fields = [\"pressure\"]\nreference = { velocity = 1.0 }");
    let case = parse(&text).unwrap();
    let warnings: Vec<String> = case.warnings.iter().map(|w| w.message.clone()).collect();
    assert_eq!(warnings, ["`reference` has no effect without `pressure_coefficient`"]);
    let text = FLOW.to_owned() + "[[output.surface]]\n" + &keys("lid", "fields = [\"pressure\"]");
    let mesh = ["xmin", "xmax", "ymin", "ymax"].map(str::to_owned);
    insta::assert_snapshot!(parse(&text).unwrap().check_patches(&mesh).unwrap_err(), @r#"
    folder/bar.toml:23:12: the mesh has no patch "lid"
       |
    23 | patches = ["lid"]
       |            ^^^^^
       = patches of the mesh: xmin, xmax, ymin, ymax
    "#);
}

#[test]
fn expected_values_of_surfaces() {
    let with = |entry: &str| {
        format!(
            "{FLOW}[[output.surface]]\nname = \"lid\"\npatches = [\"ymax\"]\n\
             fields = [\"pressure\", \"wall_shear_stress\"]\n[expected]\n\"{entry}\" = {{ value = 1, absolute = 1 }}\n"
        )
    };
    let case = parse(&with("surface.lid.wall_shear_stress_x.mean")).unwrap();
    assert_eq!(case.expected[0].path, "surface.lid.wall_shear_stress_x.mean");
    let message = |entry: &str| parse(&with(entry)).unwrap_err().to_string();
    insta::assert_snapshot!(message("surface.li.pressure.max"), @r#"
    folder/bar.toml:26:1: there is no [[output.surface]] named `li`
       |
    26 | "surface.li.pressure.max" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^^^
       = did you mean `lid`?
       = known: lid
    "#);
    insta::assert_snapshot!(message("surface.lid.wall_shear_stress.max"), @r#"
    folder/bar.toml:26:1: this surface has no field `wall_shear_stress`
       |
    26 | "surface.lid.wall_shear_stress.max" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = did you mean `wall_shear_stress_x`?
       = known: pressure, wall_shear_stress_x, wall_shear_stress_y, wall_shear_stress_z
    "#);
}
