//! Patches and regions of the case against those of the mesh.

use super::*;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn patches_of_the_mesh() {
    let case = parse(STEADY).unwrap();
    assert!(case.check_patches(&names(&["xmax", "xmin"])).is_ok());
    let mesh = names(&["xmin", "x_max", "side wall", "top"]);
    insta::assert_snapshot!(case.check_patches(&mesh).unwrap_err(), @r#"
    folder/bar.toml:7:1: patches "x_max", "side wall", "top" of the mesh have no condition
      |
    7 | [boundary]
      | ^^^^^^^^^^
      = add to [boundary], for example:
        x_max = "insulated"
        "side wall" = "insulated"
        top = "insulated"

    folder/bar.toml:9:1: the mesh has no patch "xmax"
      |
    9 | xmax = "insulated"
      | ^^^^
      = did you mean `x_max`?
      = patches of the mesh: xmin, x_max, side wall, top
    "#);
    let text = STEADY.replace("patches = [\"xmin\"]", "patches = [\"xmim\"]");
    let case = parse(&text).unwrap();
    insta::assert_snapshot!(
        case.check_patches(&names(&["xmin", "xmax"])).unwrap_err(), @r#"
    folder/bar.toml:17:12: the mesh has no patch "xmim"
       |
    17 | patches = ["xmim"]
       |            ^^^^^^
       = did you mean `xmin`?
       = patches of the mesh: xmin, xmax
    "#);
    let text = STEADY.replace("[boundary]\nxmin.temperature = 300.0\nxmax = \"insulated\"\n", "");
    let case = parse(&text).unwrap();
    insta::assert_snapshot!(case.check_patches(&names(&["xmin"])).unwrap_err(), @r#"
    folder/bar.toml:1:1: patch "xmin" of the mesh has no condition
      |
    1 | title = "bar"
      | ^
      = add to [boundary], for example:
        xmin = "insulated"
    "#);
}

#[test]
fn patches_of_a_flow() {
    let periodic = "xmin.periodic = \"xmax\"\nxmax.periodic = \"xmin\"";
    let text = FLOW.replace("xmin = \"no_slip\"\nxmax = \"slip\"", periodic);
    let case = parse(&text).unwrap();
    assert!(case.check_patches(&names(&["xmin", "xmax", "ymin", "ymax"])).is_ok());
    // A patch that `periodic` names is an entry of [boundary] and reported at that entry.
    let mesh = names(&["xmin", "ymin", "ymax", "zmin"]);
    insta::assert_snapshot!(case.check_patches(&mesh).unwrap_err(), @r#"
    folder/bar.toml:6:1: patch "zmin" of the mesh has no condition
      |
    6 | [boundary]
      | ^^^^^^^^^^
      = add to [boundary], for example:
        zmin = "no_slip"

    folder/bar.toml:8:1: the mesh has no patch "xmax"
      |
    8 | xmax.periodic = "xmin"
      | ^^^^
      = did you mean `ymax`?
      = patches of the mesh: xmin, ymin, ymax, zmin
    "#);
    assert!(case.check_regions(&names(&["fluid"])).is_ok());

    let alone = FLOW.replace("xmin = \"no_slip\"\nxmax = \"slip\"", "xmin.periodic = \"xmax\"");
    let case = parse(&alone).unwrap();
    assert_eq!(case.periodic_pairs(), [["xmin", "xmax"]]);
    assert!(case.check_patches(&names(&["xmin", "xmax", "ymin", "ymax"])).is_ok());
    insta::assert_snapshot!(case.check_patches(&names(&["xmin", "right", "ymin", "ymax"])).unwrap_err(), @r#"
    folder/bar.toml:6:1: patch "right" of the mesh has no condition
      |
    6 | [boundary]
      | ^^^^^^^^^^
      = add to [boundary], for example:
        right = "no_slip"

    folder/bar.toml:7:17: the mesh has no patch "xmax"
      |
    7 | xmin.periodic = "xmax"
      |                 ^^^^^^
      = did you mean `ymax`?
      = patches of the mesh: xmin, right, ymin, ymax
    "#);
}

#[test]
fn frozen_regions_of_the_mesh() {
    let adapt =
        "[adapt]\nfield = \"temperature\"\ncomplexity = 100\ncycles = 3\nfreeze = [\"coper\"]\n";
    let text = STEADY.replacen("[heat]", &format!("{adapt}[heat]"), 1);
    let error = parse(&text).unwrap().check_regions(&names(&["copper", "steel"])).unwrap_err();
    let error = error.to_string();
    for part in ["the mesh has no region \"coper\"", "did you mean `copper`?", "freeze = ["] {
        assert!(error.contains(part), "{error}");
    }
    assert!(
        parse(&text.replace("coper", "steel")).unwrap().check_regions(&names(&["steel"])).is_ok()
    );
}

#[test]
fn regions_of_the_mesh() {
    let text = STEADY.replace(
        "conductivity = 2.0",
        "conductivity = { steel = 45, coper = 390 }\nsource = { steel = 1 }\n\
         [heat.region.stel]\nvolumetric_heat_capacity = 1",
    );
    let case = parse(&text).unwrap();
    let mesh = names(&["copper", "steel", "air"]);
    insta::assert_snapshot!(case.check_regions(&mesh).unwrap_err(), @r#"
    folder/bar.toml:6:16: `conductivity` has no value in region "copper", "air"
      |
    6 | conductivity = { steel = 45, coper = 390 }
      |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^

    folder/bar.toml:6:30: the mesh has no region "coper"
      |
    6 | conductivity = { steel = 45, coper = 390 }
      |                              ^^^^^
      = did you mean `copper`?
      = regions of the mesh: copper, steel, air

    folder/bar.toml:8:14: the mesh has no region "stel"
      |
    8 | [heat.region.stel]
      |              ^^^^
      = did you mean `steel`?
      = regions of the mesh: copper, steel, air
    "#);
    let text = text
        .replace("coper", "copper")
        .replace("stel]\nvolumetric_heat_capacity", "air]\nconductivity");
    assert!(parse(&text).unwrap().check_regions(&mesh).is_ok());
    assert!(parse(STEADY).unwrap().check_regions(&mesh).is_ok());
    let text = STEADY.replace(
        "conductivity = 2.0",
        "density = { steel = 8, copper = 9 }\nspecific_heat = { steel = 0.4, air = 1 }\n\
         [heat.region.air]\nvolumetric_heat_capacity = 1e-3",
    );
    insta::assert_snapshot!(parse(&text).unwrap().check_regions(&mesh).unwrap_err(), @r#"
    folder/bar.toml:7:17: `specific_heat` has no value in region "copper"
      |
    7 | specific_heat = { steel = 0.4, air = 1 }
      |                 ^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}
