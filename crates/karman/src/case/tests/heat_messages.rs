//! Messages about `[heat]` and its initial state.

use super::*;

#[test]
fn heat_and_initial() {
    insta::assert_snapshot!(failure(STEADY, "conductivity = 2.0", "conductivity = 0"), @"
    folder/bar.toml:6:16: `conductivity` must be positive, not 0
      |
    6 | conductivity = 0
      |                ^
    ");
    insta::assert_snapshot!(failure(STEADY, "conductivity = 2.0", "conductivity = nan"), @"
    folder/bar.toml:6:16: `conductivity` must be finite, not NaN
      |
    6 | conductivity = nan
      |                ^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "conductivity = 2.0", "conductivity = \"1 - 2\""), @r#"
    folder/bar.toml:6:16: `conductivity` must be positive, not -1
      |
    6 | conductivity = "1 - 2"
      |                ^^^^^^^
    "#);
    insta::assert_snapshot!(failure(STEADY, "conductivity = 2.0", "conductivity = {}"), @"
    folder/bar.toml:6:16: `conductivity` names no region
      |
    6 | conductivity = {}
      |                ^^
    ");
    insta::assert_snapshot!(
        failure(STEADY, "conductivity = 2.0", "conductivity = { a = 1 }\nregion.a.conductivity = 2"),
        @r#"
    folder/bar.toml:7:25: `conductivity` of region "a" is given twice
      |
    7 | region.a.conductivity = 2
      |                         ^
    "#);
    insta::assert_snapshot!(failure(UNSTEADY, "[initial]\ntemperature = 300.0\n", ""), @"
    folder/bar.toml:7:1: an unsteady run needs an initial temperature
      |
    7 | [time]
      | ^^^^^^
      = add to [initial]: temperature = 300.0
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "temperature = 300.0", ""), @"
    folder/bar.toml:5:1: an unsteady run needs an initial temperature
      |
    5 | [initial]
      | ^^^^^^^^^
      = add to [initial]: temperature = 300.0
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "temperature = 300.0", "velocity = [0, 0, 0]"), @"
    folder/bar.toml:6:12: `velocity` belongs to a flow case, this one is of heat
      |
    6 | velocity = [0, 0, 0]
      |            ^^^^^^^^^
    ");
}

#[test]
fn heat_capacities() {
    let change = |to| failure(STEADY, "conductivity = 2.0", to);
    insta::assert_snapshot!(change("density = 7850"), @"
    folder/bar.toml:6:11: `density` needs `specific_heat`: their product is the heat capacity
      |
    6 | density = 7850
      |           ^^^^
    ");
    insta::assert_snapshot!(change("region.a.specific_heat = 460"), @"
    folder/bar.toml:6:26: `specific_heat` needs `density`: their product is the heat capacity
      |
    6 | region.a.specific_heat = 460
      |                          ^^^
    ");
    let keys = "volumetric_heat_capacity = 3.6e6\ndensity = 7850\nspecific_heat = 460";
    insta::assert_snapshot!(change(keys), @"
    folder/bar.toml:7:11: the heat capacity is given by `volumetric_heat_capacity` or by `density` and `specific_heat`, not both
      |
    7 | density = 7850
      |           ^^^^
    ");
    let keys = "region.a.specific_heat = 460\nregion.a.volumetric_heat_capacity = 3.6e6";
    insta::assert_snapshot!(change(keys), @"
    folder/bar.toml:6:26: the heat capacity is given by `volumetric_heat_capacity` or by `density` and `specific_heat`, not both
      |
    6 | region.a.specific_heat = 460
      |                          ^^^
    ");
    insta::assert_snapshot!(change("density = 7850\nspecific_heat = 0"), @"
    folder/bar.toml:7:17: `specific_heat` must be positive, not 0
      |
    7 | specific_heat = 0
      |                 ^
    ");
    insta::assert_snapshot!(change("density = {}\nspecific_heat = 460"), @"
    folder/bar.toml:6:11: `density` names no region
      |
    6 | density = {}
      |           ^^
    ");
    insta::assert_snapshot!(change("density = { a = 1 }\nspecific_heat = { b = 1 }"), @"
    folder/bar.toml:6:11: `density` and `specific_heat` have no region in common
      |
    6 | density = { a = 1 }
      |           ^^^^^^^^^
    ");
    let keys = "density = { a = 1 }\nspecific_heat = 1\nregion.a.volumetric_heat_capacity = 2";
    insta::assert_snapshot!(change(keys), @r#"
    folder/bar.toml:8:37: `volumetric_heat_capacity` of region "a" is given twice
      |
    8 | region.a.volumetric_heat_capacity = 2
      |                                     ^
    "#);
}
