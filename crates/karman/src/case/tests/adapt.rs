//! Messages about `[adapt]`.

use super::*;

fn said(case: &str, keys: &str) -> String {
    failure(case, "[heat]", &format!("[adapt]\n{keys}\n[heat]"))
}

#[test]
fn keys_of_adaptation() {
    let field = "field = \"temperature\"\ncomplexity = 100\n";
    for (keys, message) in [
        ("cycles = 2", "`field` or `metric` is missing"),
        ("field = \"temperature\"\ncycles = 2", "`complexity` is missing"),
        (
            "field = \"pressure\"\ncomplexity = 10\ncycles = 2",
            "a heat case has no field `pressure`",
        ),
        (
            "field = \"temperature\"\nmetric = [1.0, 0.0, 1.0]\ncycles = 2",
            "`field` and `metric` both give the metric: keep one",
        ),
        ("metric = [1.0, 0.0]\ncycles = 2", "`metric` takes 3 entries in 2D, 6 in 3D, 2 given"),
        (
            "metric = [1.0, 0.0, 1.0]\nh_min = 0.1\ncycles = 2",
            "`h_min` has no effect: `metric` gives the sizes",
        ),
        (
            "metric = 1.0\ncycles = 2",
            "expected a list of numbers and expressions or { file, name }",
        ),
        ("metric = { file = \"a.vtu\" }\ncycles = 2", "`name` is missing"),
        ("metric = { name = \"m\" }\ncycles = 2", "`file` is missing"),
        ("metric = { file = \"\", name = \"m\" }\ncycles = 2", "`file` is empty"),
        ("metric = { file = \"a.vtu\", name = \"\" }\ncycles = 2", "`name` is empty"),
        ("metric = { file = \"a.vtu\", field = \"m\" }\ncycles = 2", "unknown key `field`"),
        (
            "metric = { file = \"a.vtu\", name = \"m\" }\ncomplexity = 10\ncycles = 2",
            "`complexity` has no effect: `metric` gives the sizes",
        ),
        (
            "metric = [1.0, \"t\", 1.0]\ncycles = 2",
            "`metric` depends on time and this case has no [time]",
        ),
    ] {
        let found = said(STEADY, keys);
        assert!(found.contains(message), "{found}");
    }
    for (keys, message) in [
        ("", "`cycles` is missing"),
        ("cycles = 0", "`cycles` must be 1 or more"),
        ("every = 0.5", "`every` is an interval of time, and this case is steady: use `cycles`"),
        (
            "every = 0.5\ncycles = 2",
            "`every` and `cycles` both say when the mesh is adapted: keep one",
        ),
        ("cycles = 2\ngradation = 1.0", "`gradation` must be above 1, not 1"),
        ("cycles = 2\ngradation = 0.5", "`gradation` must be at least 1, not 0.5"),
        ("cycles = 2\nnorm = 0.5", "`norm` must be at least 1, not 0.5"),
        ("cycles = 2\nanisotropy = 0.1", "`anisotropy` must be at least 1, not 0.1"),
        ("cycles = 2\nh_min = 0.0", "`h_min` must be positive, not 0"),
        ("cycles = 2\nh_min = 0.2\nh_max = 0.1", "`h_max` must be at least `h_min`, 0.2, not 0.1"),
        ("cycles = 2\ntransfer = \"exact\"", "unknown value `exact`"),
        (
            "cycles = 2\ninitial_cycles = 1",
            "`initial_cycles` are those of a run in time, and this case is steady: use `cycles`",
        ),
        ("cycles = 2\nsamples = 4", "`samples` has no effect: this case is steady"),
    ] {
        let found = said(STEADY, &format!("{field}{keys}"));
        assert!(found.contains(message), "{found}");
    }
    let found = said(STEADY, "field = \"temperature\"\ncomplexity = -1\ncycles = 2");
    assert!(found.contains("`complexity` must be positive, not -1"), "{found}");
    for (keys, message) in [
        ("", "`every` is missing"),
        ("cycles = 2", "`cycles` are those of a steady case, and this one has [time]: use `every`"),
        ("every = 0.0", "`every` must be positive, not 0"),
        ("every = 0.1\nsamples = 0", "`samples` must be 1 or more"),
    ] {
        let found = said(UNSTEADY, &format!("{field}{keys}"));
        assert!(found.contains(message), "{found}");
    }
    for (metric, message) in [
        (
            "{ file = \"a.vtu\", name = \"m\" }",
            "`samples` has no effect: the metric of a file does not depend on time",
        ),
        ("[1.0, 0.0, \"x\"]", "`samples` has no effect: `metric` does not depend on t"),
    ] {
        let found = said(UNSTEADY, &format!("metric = {metric}\nevery = 0.1\nsamples = 4"));
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn a_section_with_defaults() {
    let keys = "field = \"temperature\"\ncomplexity = 100\ncycles = 3";
    let text = STEADY.replacen("[heat]", &format!("[adapt]\n{keys}\n[heat]"), 1);
    let case = Case::parse(&text, Path::new("folder"), "folder/bar.toml").unwrap();
    let field = FieldMetric {
        field: "temperature".into(),
        norm: 2.0,
        complexity: 100.0,
        h_min: None,
        h_max: None,
        anisotropy: 1e3,
    };
    let expected = AdaptCase {
        metric: MetricCase::Field(field),
        interval: AdaptInterval::Cycles(3),
        initial_cycles: 0,
        samples: 1,
        gradation: 1.5,
        transfer: TransferKind::Conservative,
        freeze: vec![],
    };
    assert_eq!(case.adapt, Some(expected));
}

#[test]
fn a_metric_of_a_file_is_sought_beside_the_case() {
    let keys = "metric = { file = \"sizes/m.vtu\", name = \"metric\" }\ncycles = 3";
    let text = STEADY.replacen("[heat]", &format!("[adapt]\n{keys}\n[heat]"), 1);
    let case = Case::parse(&text, Path::new("folder"), "folder/bar.toml").unwrap();
    let path = Path::new("folder/sizes/m.vtu").to_owned();
    let expected = MetricCase::File { path: path.clone(), name: "metric".into() };
    assert_eq!(case.adapt.as_ref().map(|adapt| &adapt.metric), Some(&expected));
    assert!(case.input_files().contains(&("metric", path.as_path())));
}
