//! Messages about `[[output.average]]`.

use super::*;

/// The message for an average appended to a case.
fn refused(text: &str, keys: &str) -> String {
    let text = format!("{text}[[output.average]]\n{keys}");
    match parse(&text) {
        Ok(_) => panic!("accepted {keys}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_average_is_read() {
    let keys = "[[output.average]]\nfields = [\"velocity\", \"q_criterion\"]\n\
                [[output.average]]\nname = \"late\"\nfields = [\"velocity\"]\nstart = 0.5\nrms = true\n\
                [output.picture]\nfield = \"velocity_late_mean\"\nvectors = true\n\
                [expected]\n\"fields.velocity_mean_y.max\" = { value = 0.0, absolute = 1.0 }\n\
                \"fields.q_criterion_mean.min\" = { value = 0.0, absolute = 1.0 }\n\
                \"probe.middle.velocity_late_rms_x\" = { value = 0.0, absolute = 1.0 }\n";
    let case = parse(&format!("{FLOW}{keys}")).unwrap();
    let [first, late] = &case.output.averages[..] else { panic!("{:?}", case.output) };
    assert_eq!((first.start, first.rms, &first.name), (0.0, false, &None));
    assert_eq!(first.fields, ["velocity", "q_criterion"]);
    assert_eq!((late.start, late.rms), (0.5, true));
    assert!(first.has_result("velocity_mean") && !first.has_result("velocity_rms"));
    assert!(late.has_result("velocity_late_rms") && !late.has_result("velocity_mean"));
    assert_eq!(case.output.picture.unwrap().field, "velocity_late_mean");
}

#[test]
fn fields_and_names_of_averages() {
    insta::assert_snapshot!(refused(FLOW, "rms = true"), @"
    folder/bar.toml:21:1: `fields` is missing
       |
    21 | [[output.average]]
       | ^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(refused(FLOW, "fields = []"), @"
    folder/bar.toml:22:10: `fields` names no field
       |
    22 | fields = []
       |          ^^
    ");
    insta::assert_snapshot!(refused(FLOW, "fields = [\"velocity_x\"]"), @r#"
    folder/bar.toml:22:11: a flow case has no field `velocity_x`
       |
    22 | fields = ["velocity_x"]
       |           ^^^^^^^^^^^^
       = did you mean `velocity`?
       = valid fields: velocity, pressure, vorticity, q_criterion, streamfunction
    "#);
    insta::assert_snapshot!(refused(FLOW, "rms = true\nfields = [\"streamfunction\"]"), @r#"
    folder/bar.toml:23:11: `streamfunction` has no `rms`: it follows from the mean of the fluxes
       |
    23 | fields = ["streamfunction"]
       |           ^^^^^^^^^^^^^^^^
       = average it without `rms`, under another `name`
    "#);
    insta::assert_snapshot!(refused(FLOW, "fields = [\"pressure\", \"pressure\"]"), @r#"
    folder/bar.toml:22:23: field `pressure` is named twice
       |
    22 | fields = ["pressure", "pressure"]
       |                       ^^^^^^^^^^
    "#);
    let one = "name = \"a\"\nfields = [\"velocity\"]\n";
    let two = format!("{one}[[output.average]]\n{one}");
    insta::assert_snapshot!(refused(FLOW, &two), @r#"
    folder/bar.toml:26:11: two averages of `velocity` have one name
       |
    26 | fields = ["velocity"]
       |           ^^^^^^^^^^
       = give one of them a `name`, for example: name = "late"
    "#);
    insta::assert_snapshot!(refused(FLOW, "name = \"a b\"\nfields = [\"velocity\"]"), @r#"
    folder/bar.toml:22:8: the name of an average is made of letters, digits, `_` and `-`
       |
    22 | name = "a b"
       |        ^^^^^
    "#);
    let staggered = FLOW.replace("kinematic", "scheme = \"staggered\"\nkinematic");
    insta::assert_snapshot!(refused(&staggered, "rms = true\nfields = [\"vorticity\"]"), @r#"
    folder/bar.toml:24:11: `vorticity` has no `rms`: it follows from the mean of the fluxes
       |
    24 | fields = ["vorticity"]
       |           ^^^^^^^^^^^
       = average it without `rms`, under another `name`
    "#);
    insta::assert_snapshot!(refused(&staggered, "fields = [\"velocity\", \"q_criterion\"]"), @r#"
    folder/bar.toml:23:23: `q_criterion` of the scheme `staggered` cannot be averaged
       |
    23 | fields = ["velocity", "q_criterion"]
       |                       ^^^^^^^^^^^^^
       = it is recovered from the fluxes on the host, at output alone, and is no linear function of them; average the velocity or the vorticity
    "#);
}

#[test]
fn times_of_averages() {
    insta::assert_snapshot!(refused(STEADY, "fields = [\"temperature\"]"), @"
    folder/bar.toml:18:1: [[output.average]] needs [time]: a steady case has no averages over time
       |
    18 | [[output.average]]
       | ^^^^^^^^^^^^^^^^^^
    ");
    let flow = FLOW.replace("[time]\nstep = 0.1\nend = 1.0\n", "");
    assert!(refused(&flow, "fields = [\"velocity\"]").contains("[[output.average]] needs [time]"));
    for (start, message) in [
        ("1.0", "the average starts at t = 1, but the run ends at t = 1"),
        ("-0.1", "`start` must not be negative, not -0.1"),
        ("nan", "`start`"),
    ] {
        let found = refused(UNSTEADY, &format!("fields = [\"temperature\"]\nstart = {start}"));
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn pictures_and_expectations_of_averages() {
    let average = "fields = [\"pressure\"]\n";
    let found = refused(FLOW, &format!("{average}[output.picture]\nfield = \"pressure_rms\"\n"));
    assert!(found.contains("a flow case has no field `pressure_rms`"), "{found}");
    let picture = "[output.picture]\nfield = \"pressure_mean\"\nvectors = true\n";
    let found = refused(FLOW, &format!("{average}{picture}"));
    let message = "`vectors` in a picture of an average shows the mean velocity alone";
    assert!(found.contains(message), "{found}");
    for path in ["fields.pressure_rms.max", "probe.middle.velocity_mean_x"] {
        let expected = format!("[expected]\n\"{path}\" = {{ value = 0.0, absolute = 1.0 }}\n");
        let found = refused(FLOW, &format!("{average}{expected}"));
        assert!(found.contains("a flow case has no field"), "{found}");
        assert!(found.contains("pressure_mean"), "{found}");
    }
    // Probes have no derived fields.
    let expected =
        "[expected]\n\"probe.middle.vorticity_mean\" = { value = 0.0, absolute = 1.0 }\n";
    let found = refused(FLOW, &format!("fields = [\"vorticity\"]\n{expected}"));
    assert!(found.contains("a flow case has no field `vorticity_mean`"), "{found}");
}
