//! Messages about `moment_centre` of `[[output.patch]]`.

use super::*;

#[test]
fn moments_of_groups_of_patches() {
    let with = |keys: &str| format!("patches = [\"ymax\"]\n{keys}");
    let case = parse(&FLOW.replacen("patches = [\"ymax\"]", &with("moment_centre = [1, 2]"), 1));
    let flow = case.unwrap().output.patches[0].flow.clone().unwrap();
    assert_eq!((flow.moment_centre, flow.moment_axis()), (Some([1.0, 2.0, 0.0]), [0.0, 0.0, 1.0]));
    let refused = |keys: &str| failure(FLOW, "patches = [\"ymax\"]", &with(keys));
    insta::assert_snapshot!(refused("moment_centre = [1]"), @"
    folder/bar.toml:21:17: `moment_centre` takes 2 or 3 numbers, 1 given
       |
    21 | moment_centre = [1]
       |                 ^^^
    ");
    insta::assert_snapshot!(refused("moment_centre = [0, 0]\nreference = {}\ndrag_direction = [0, 2]"), @"
    folder/bar.toml:21:17: the moment coefficient has no axis: `drag_direction` and `lift_direction` are parallel
       |
    21 | moment_centre = [0, 0]
       |                 ^^^^^^
    ");
    insta::assert_snapshot!(refused("[expected]\n\"patch.lid.moment_z\" = { value = 1, absolute = 1 }"), @r#"
    folder/bar.toml:22:1: a patch of a flow case has no quantity `moment_z`
       |
    22 | "patch.lid.moment_z" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^
       = known: area, flow_rate, force_x, force_y, force_z, pressure_force_x, pressure_force_y, pressure_force_z, viscous_force_x, viscous_force_y, viscous_force_z
       = moments need `moment_centre` in their [[output.patch]]
    "#);
    let turning =
        FLOW.replace("ymax.moving_wall = [1.0, 0.0]", "ymax.moving_wall = [\"x\", \"sin(t)\"]");
    let centre = with("moment_centre = [0, 0]");
    insta::assert_snapshot!(failure(&turning, "patches = [\"ymax\"]", &centre), @r#"
    folder/bar.toml:20:12: patch "ymax" has a velocity that varies along it
       |
    20 | patches = ["ymax"]
       |            ^^^^^^
       = `moment_centre` is for walls at rest or in uniform motion
    "#);
    let swaying = turning.replace("[\"x\", \"sin(t)\"]", "[\"sin(t)\", 0.0]");
    assert!(parse(&swaying.replacen("patches = [\"ymax\"]", &centre, 1)).is_ok());
    let slip = "patches = [\"ymax\", \"xmax\"]\nmoment_centre = [0, 0]";
    insta::assert_snapshot!(failure(FLOW, "patches = [\"ymax\"]", slip), @r#"
    folder/bar.toml:20:20: patch "xmax" has no prescribed velocity
       |
    20 | patches = ["ymax", "xmax"]
       |                    ^^^^^^
       = `moment_centre` is for walls at rest or in uniform motion
    "#);
    let heat = "patches = [\"xmin\"]\nmoment_centre = [0, 0]";
    insta::assert_snapshot!(failure(STEADY, "patches = [\"xmin\"]", heat), @"
    folder/bar.toml:18:17: `moment_centre` belongs to a flow case, this one is of heat
       |
    18 | moment_centre = [0, 0]
       |                 ^^^^^^
    ");
}
