//! Steady flows and implicit convection.

use super::*;
use crate::case::SteadyCase;
use crate::incompressible::ConvectionTreatment;

#[test]
fn a_steady_flow() {
    let time = "[time]\nstep = 0.1\nend = 1.0\n";
    for (to, why) in [
        ("[steady]\ntolerance = 0.0\n", "`tolerance` must be positive, not 0"),
        ("[steady]\nmax_iterations = 0\n", "`max_iterations` must be 1 or more"),
        ("[steady]\npseudo_cfl = -1.0\n", "`pseudo_cfl` must be positive, not -1"),
        ("[checkpoint]\nevery = 1.0\n", "checkpoints need [time]: this case is steady"),
    ] {
        let message = failure(FLOW, time, to);
        assert!(message.contains(why), "{message}");
    }
    let both = failure(FLOW, time, &format!("{time}[steady]\n"));
    assert!(both.contains("[steady] and [time] exclude each other: keep one"), "{both}");
    let heat = failure(STEADY, "[boundary]", "[steady]\n[boundary]");
    assert!(heat.contains("a heat case without [time] is one solution"), "{heat}");
    let equation = "[incompressible]\n";
    for (keys, why) in [
        ("convection_treatment = \"explicit\"\n", "a steady flow has implicit convection"),
        ("scheme = \"staggered\"\n", "a steady flow needs `scheme = \"collocated\"`"),
        ("momentum.method = \"cg\"\n", "a steady flow has an unsymmetric matrix"),
        ("momentum.preconditioner = \"amg\"\n", "solves for the momentum without a matrix"),
    ] {
        let text = FLOW.replace(time, "");
        let message = failure(&text, equation, &format!("{equation}{keys}"));
        assert!(message.contains(why), "{message}");
    }
    let implicit = format!("{equation}convection_treatment = \"implicit\"\n");
    for (keys, why) in [
        (
            "scheme = \"exact_fractional_step\"\n",
            "implicit convection needs `scheme = \"collocated\"`",
        ),
        ("momentum.method = \"flexible_cg\"\n", "implicit convection has an unsymmetric matrix"),
    ] {
        let message = failure(FLOW, equation, &format!("{implicit}{keys}"));
        assert!(message.contains(why), "{message}");
    }
    let text = FLOW.replace(equation, &implicit);
    let message = failure(&text, "[time]\n", "[time]\nmethod = \"rk3\"\n");
    assert!(message.contains("`rk3` has explicit stages"), "{message}");
    let inviscid = FLOW.replace(time, "");
    let viscosity = inviscid.split("kinematic_viscosity = ").nth(1).unwrap();
    let viscosity = viscosity.lines().next().unwrap();
    let from = format!("kinematic_viscosity = {viscosity}");
    let message = failure(&inviscid, &from, "kinematic_viscosity = 0.0");
    assert!(message.contains("must be positive"), "{message}");
}

#[test]
fn a_flow_without_time_is_steady() {
    let time = "[time]\nstep = 0.1\nend = 1.0\n";
    let case =
        parse(&FLOW.replace(time, "[steady]\nmax_iterations = 7\npseudo_cfl = 2.0\n")).unwrap();
    assert!(case.is_steady());
    let steady = SteadyCase { max_iterations: 7, pseudo_cfl: 2.0, ..SteadyCase::default() };
    assert_eq!(flow(&case).steady, Some(steady));
    assert_eq!(flow(&case).numerics.convection_treatment, ConvectionTreatment::Implicit);
    let case = parse(FLOW).unwrap();
    assert!(!case.is_steady() && flow(&case).steady.is_none());
    assert_eq!(flow(&case).numerics.convection_treatment, ConvectionTreatment::Explicit);
}
