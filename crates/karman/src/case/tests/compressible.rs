//! Compressible flow: accepted cases, and every message.

use super::*;
use crate::compressible::viscous::Viscosity;
use crate::compressible::{
    CompressibleBoundaryCondition as Condition, Limiter, NumericalFlux, PrescribedState,
    Reconstruction, ResidualForm, WeightPrecision,
};
use crate::time::RungeKutta;

/// A small compressible flow.
const GAS: &str = r#"[mesh.generate.box]
size = [1.0, 1.0]
cells = [4, 4]
[compressible]
flux = "roe"
[initial]
density = 1.4
velocity = ["y", 0.0]
pressure = 1.0
[boundary]
xmin.inflow = { density = 1.4, velocity = ["3 + sin(t)", 0.0], pressure = 1.0 }
xmax = "supersonic_outlet"
ymin = "slip_wall"
ymax = "symmetry"
[time]
cfl = 0.5
end = 1.0
[output]
"#;

fn gas(case: &Case) -> &CompressibleCase {
    match &case.equation {
        Equation::Compressible(flow) => flow,
        _ => panic!("another equation"),
    }
}

/// The compressible case in which `from` is replaced by `to`.
fn changed(from: &str, to: &str) -> Case {
    assert!(GAS.contains(from), "{from} is not in the case");
    parse(&GAS.replacen(from, to, 1)).unwrap_or_else(|error| panic!("{to}: {error}"))
}

/// Requires that the case with `to` in place of `from` is refused with all of `parts` in its message.
fn refused(from: &str, to: &str, parts: &[&str]) {
    let message = failure(GAS, from, to);
    for part in parts {
        assert!(message.contains(part), "{to}: `{part}` is not in:\n{message}");
    }
}

fn condition(case: &Case, patch: &str) -> Option<Condition<Value>> {
    let given = gas(case).boundary.iter().find(|given| given.patch == patch);
    given.and_then(|given| given.condition.condition().cloned())
}

#[test]
fn a_case_has_defaults() {
    let case = parse(GAS).unwrap();
    let flow = gas(&case);
    assert_eq!((flow.gamma, flow.gas_constant), (1.4, 287.0));
    let numerics = flow.numerics;
    assert_eq!(numerics.form.flux, NumericalFlux::Roe);
    assert_eq!(numerics.reconstruction, Reconstruction::Quadratic);
    assert_eq!((numerics.limiter, numerics.method), (Limiter::None, RungeKutta::SspRk3));
    assert!(!numerics.one_point && !numerics.form.low_mach);
    assert_eq!((flow.viscous, &flow.source), (None, &None));
    assert_eq!(flow.initial.density, Value::Constant(1.4));
    assert_eq!(condition(&case, "xmax"), Some(Condition::SupersonicOutlet));
    assert_eq!(condition(&case, "ymin"), Some(Condition::Slip));
    assert_eq!(condition(&case, "ymax"), Some(Condition::Slip));
    assert_eq!(case.output.fields, ["density", "velocity", "pressure"]);
    assert!(case.warnings.is_empty());
}

#[test]
fn keys_of_the_section_are_read() {
    let case = changed(
        "flux = \"roe\"",
        "flux = \"ausm_plus_up\"\ngamma = 1.667\ngas_constant = 2.0\nlow_mach = true\nlimiter = \"mood\"\nface_points = \"one\"\n\
         residual = \"stages\"\nweights = \"f32\"\nsource = [0.0, \"t\", 0.0, 0.0, 1.0]",
    );
    let flow = gas(&case);
    assert_eq!((flow.gamma, flow.gas_constant), (1.667, 2.0));
    assert_eq!(flow.numerics.form.flux, NumericalFlux::AusmPlusUp);
    assert_eq!(flow.numerics.limiter, Limiter::Mood);
    assert!(flow.numerics.one_point && flow.numerics.form.low_mach);
    assert_eq!(flow.numerics.residual, ResidualForm::Stages);
    assert_eq!(flow.numerics.weights, WeightPrecision::Single);
    let source = flow.source.as_ref().unwrap();
    assert!(source[1].depends_on_time());
    assert_eq!(source[4], Value::Constant(1.0));
}

#[test]
fn boundary_conditions_are_read() {
    let state = |velocity: [f64; 3]| PrescribedState {
        density: Value::Constant(1.4),
        velocity: velocity.map(Value::Constant),
        pressure: Value::Constant(1.0),
    };
    let of = |to: &str| condition(&changed("xmax = \"supersonic_outlet\"", to), "xmax").unwrap();
    assert_eq!(of("xmax.pressure_outlet = 1.5"), Condition::PressureOutlet(Value::Constant(1.5)));
    assert_eq!(of("xmax.slip_wall = true"), Condition::Slip);
    assert_eq!(of("xmax.symmetry = true"), Condition::Slip);
    assert_eq!(
        of("xmax.exact = { density = 1.4, velocity = [1.0, 2.0], pressure = 1.0 }"),
        Condition::State(state([1.0, 2.0, 0.0]))
    );
    assert_eq!(
        of("xmax.farfield = { density = 1.4, velocity = [1.0, 2.0], pressure = 1.0 }"),
        Condition::State(state([1.0, 2.0, 0.0]))
    );
    // c = 1; α from x towards y, β towards z.
    let found = of(
        "xmax.farfield = { density = 1.4, mach = 2.0, angle_of_attack_deg = 30.0, side_slip_deg = 90.0, pressure = 1.0 }",
    );
    let Condition::State(found) = found else { panic!("no state") };
    for (found, expected) in found.velocity.iter().zip([0.0, 0.0, 2.0]) {
        assert!((found.constant().unwrap() - expected).abs() < 1e-15, "{found:?}");
    }
    let found = of(
        "xmax.farfield = { density = 1.4, mach = 2.0, angle_of_attack_deg = 30.0, pressure = 1.0 }",
    );
    let Condition::State(found) = found else { panic!("no state") };
    for (found, expected) in found.velocity.iter().zip([3f64.sqrt(), 1.0, 0.0]) {
        assert!((found.constant().unwrap() - expected).abs() < 1e-15, "{found:?}");
    }
    let case = changed("ymin = \"slip_wall\"\nymax = \"symmetry\"", "ymin.periodic = \"ymax\"");
    assert_eq!(condition(&case, "ymax"), None);
    assert_eq!(case.periodic_pairs(), [["ymin".to_owned(), "ymax".to_owned()]]);
}

#[test]
fn walls_with_friction_are_read() {
    let viscous = "flux = \"roe\"\n[compressible.viscous]\nviscosity = 1.0\n";
    let of = |wall: &str| {
        let text = GAS.replace("flux = \"roe\"\n", viscous);
        let case = parse(&text.replace("ymin = \"slip_wall\"", wall)).unwrap();
        condition(&case, "ymin").unwrap()
    };
    let velocity = || [1.0, -2.0, 0.0].map(Value::Constant);
    let moving = |temperature| Condition::MovingWall { velocity: velocity(), temperature };
    assert_eq!(of("ymin = \"no_slip\""), Condition::NoSlip);
    assert_eq!(of("ymin.isothermal = 2.0"), Condition::Isothermal(Value::Constant(2.0)));
    assert_eq!(of("ymin.moving_wall = [1.0, -2.0]"), moving(None));
    let warm = "ymin = { isothermal = 2.0, moving_wall = [1.0, -2.0] }";
    assert_eq!(of(warm), moving(Some(Value::Constant(2.0))));
    let Condition::MovingWall { velocity, .. } = of("ymin.moving_wall = [\"x*t\", 0.0]") else {
        panic!("no moving wall")
    };
    assert!(velocity[0].depends_on_time());
}

#[test]
fn initial_fields_may_come_from_a_result() {
    let case =
        changed("density = 1.4\nvelocity = [\"y\", 0.0]\npressure = 1.0", "from = \"a.pvd\"");
    assert_eq!(case.initial_result.unwrap().fields, ["density", "velocity", "pressure"]);
}

#[test]
fn keys_of_the_section_are_checked() {
    let section = |to: &str, parts: &[&str]| refused("flux = \"roe\"", to, parts);
    section("gamma = 1.0", &["`gamma` must be above 1, not 1"]);
    section("gas_constant = 0.0", &["`gas_constant` must be positive, not 0"]);
    section("flux = \"row\"", &["unknown", "roe"]);
    section(
        "flux = \"rusanov\"\nlow_mach = true",
        &[
            "the flux `rusanov` has no form for low Mach numbers",
            "fluxes with one: roe, hllc, ausm_plus_up",
        ],
    );
    section(
        "reconstruction = \"constant\"\nlimiter = \"minmod\"",
        &["a `limiter` has nothing to limit", "leave out `limiter`"],
    );
    section(
        "reconstruction = \"linear\"\nface_points = \"one\"",
        &[
            "`face_points = \"one\"` has no effect: faces have one point with `reconstruction = \"linear\"`",
        ],
    );
    section(
        "limiter = \"mood\"\nresidual = \"fused\"",
        &["no fused residual exists with `limiter = \"mood\"`", "leave out `residual`"],
    );
    section(
        "limiter = \"mlp\"\nresidual = \"fused_rows\"",
        &["no fused residual exists with `limiter = \"mlp\"`", "leave out `residual`"],
    );
    section(
        "reconstruction = \"constant\"\nresidual = \"fused_rows\"",
        &["no fused residual exists with `reconstruction = \"constant\"`"],
    );
    section(
        "reconstruction = \"constant\"\nweights = \"f32\"",
        &["`weights` has no effect with `reconstruction = \"constant\"`"],
    );
    section(
        "source = [0.0, 1.0]",
        &["`source` takes 5 components, 2 given", "momentum along x, y, z"],
    );
    section("quadrature = 2", &["quadrature", "face_points"]);
}

#[test]
fn viscous_terms_are_read_and_checked() {
    let read = |keys: &str| {
        let case = changed("[initial]", &format!("[compressible.viscous]\n{keys}\n[initial]"));
        gas(&case).viscous.unwrap()
    };
    let constant = read("viscosity = 1e-3");
    assert_eq!(constant.viscosity, Viscosity::Constant(1e-3));
    assert_eq!((constant.prandtl, constant.gas_constant), (0.72, 287.0));
    let law =
        "sutherland = { reference = 1.7e-5, temperature = 273.0, constant = 110.4 }\nprandtl = 0.7";
    let sutherland = read(law);
    let expected = Viscosity::Sutherland { reference: 1.7e-5, temperature: 273.0, constant: 110.4 };
    assert_eq!((sutherland.viscosity, sutherland.prandtl), (expected, 0.7));
    let viscous = |to: &str, parts: &[&str]| {
        refused("[initial]", &format!("[compressible.viscous]\n{to}\n[initial]"), parts);
    };
    viscous("", &["`viscosity` or `sutherland` is missing"]);
    viscous("viscosity = -1.0", &["`viscosity` must be positive, not -1"]);
    viscous("viscosity = 1.0\nprandtl = 0.0", &["`prandtl` must be positive, not 0"]);
    viscous(
        "viscosity = 1.0\nsutherland = { reference = 1.0, temperature = 1.0, constant = 1.0 }",
        &["by `viscosity` or by `sutherland`, not both"],
    );
    viscous("sutherland = { reference = 1.0, temperature = 1.0 }", &["`constant` is missing"]);
}

#[test]
fn times_and_steady_states_are_checked() {
    refused("velocity = [\"y\", 0.0]", "velocity = [\"t\", 0.0]", &["but not on t"]);
    refused(
        "cfl = 0.5",
        "cfl = 0.5\nmethod = \"bdf2\"",
        &["`bdf2` is a method for heat, not for compressible flow", "euler, ssp_rk2, ssp_rk3, rk4"],
    );
    refused(
        "[time]",
        "[steady]\ntolerance = 1e-6\n[time]",
        &["[steady] and [time] exclude each other", "local_step = true"],
    );
    refused(
        "[output]",
        "[linear_solver]\nmethod = \"cg\"\n[output]",
        &["a compressible flow has no such section"],
    );
}

#[test]
fn steady_flow_is_implicit_or_has_local_steps() {
    let steady = GAS.replace("\"3 + sin(t)\"", "3.0");
    let time = "cfl = 0.5\nend = 1.0\n";
    let implicit = steady.replace(&format!("[time]\n{time}"), "[steady]\npseudo_cfl = 2.0\n");
    let case = parse(&implicit).unwrap();
    let found = gas(&case).steady.unwrap();
    assert!(case.is_steady() && gas(&case).numerics.bounds_traces);
    assert_eq!((found.march, found.settings.pseudo_cfl), (SteadyMarch::Implicit, 2.0));
    let local = steady.replace(time, "cfl = 0.5\nlocal_step = true\n");
    let case = parse(&local).unwrap();
    assert!(case.is_steady() && !gas(&case).numerics.bounds_traces);
    assert_eq!(gas(&case).steady.unwrap().march, SteadyMarch::LocalSteps { cfl: 0.5 });
    assert_eq!(gas(&parse(GAS).unwrap()).steady, None);
    let off = parse(&steady.replace("end = 1.0", "end = 1.0\nlocal_step = false")).unwrap();
    assert!(!off.is_steady());

    let refused = |text: &str, from: &str, to: &str, part: &str| {
        assert!(text.contains(from), "{from}");
        let message = parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    let local = |to: &str, part: &str| refused(&local, "cfl = 0.5\n", to, part);
    local("", "`cfl` is missing");
    local("cfl = 0.5\nend = 1.0\n", "`end` has no meaning with local steps");
    local("cfl = 0.5\nstep = 1.0\n", "`step` is one for all cells");
    local("cfl = 0.5\nsteady_tolerance = 1.0\n", "use `tolerance` of `[steady]`");
    let mood = "flux = \"roe\"\nlimiter = \"mood\"";
    refused(&implicit, "flux = \"roe\"", mood, "`limiter = \"mood\"` repeats time steps");
    refused(
        &implicit,
        "[output]",
        "[run]\nprecision = \"f32\"\n[output]",
        "needs `precision = \"f64\"`",
    );
    refused(&implicit, "slip_wall", "no_slip", "viscous");
    refused(&implicit, "velocity = [3.0, 0.0]", "velocity = [\"3 + t\", 0.0]", "depends on time");
    let of_section =
        steady.replace(time, "cfl = 0.5\nlocal_step = true\n[steady]\npseudo_cfl = 2.0\n");
    let message = parse(&of_section).unwrap_err().to_string();
    assert!(
        message.contains("`pseudo_cfl` has no effect: `cfl` of [time] sets local steps"),
        "{message}"
    );
}

#[test]
fn explicit_euler_with_polynomials_has_a_warning() {
    let case = changed("cfl = 0.5", "cfl = 0.5\nmethod = \"euler\"");
    let warning = case.warnings[0].to_string();
    assert!(
        warning.contains("`euler` with the reconstruction `quadratic` is unstable"),
        "{warning}"
    );
    assert!(warning.contains("ssp_rk3"), "{warning}");
    let constant = GAS.replace("flux = \"roe\"", "reconstruction = \"constant\"");
    let constant = parse(&constant.replace("cfl = 0.5", "cfl = 0.5\nmethod = \"euler\"")).unwrap();
    assert!(constant.warnings.is_empty());
}

#[test]
fn initial_states_are_checked() {
    refused("density = 1.4\n", "", &["`density` is missing"]);
    refused("density = 1.4\n", "density = -1.0\n", &["`density` must be positive, not -1"]);
    refused(
        "velocity = [\"y\", 0.0]",
        "temperature = 300.0",
        &["`temperature` belongs to a heat case, this one is of compressible flow"],
    );
    let initial = "[initial]\ndensity = 1.4\nvelocity = [\"y\", 0.0]\npressure = 1.0\n";
    refused(initial, "", &["a compressible flow needs [initial] with `density` and `pressure`"]);
    refused(
        "[output]",
        "[exact]\npressure = 1.0\n[output]",
        &["`pressure` needs `density`", "give `density` alone, or all three fields"],
    );
    refused(
        "[output]",
        "[exact]\ndensity = 1.0\nvelocity = [1.0, 0.0]\n[output]",
        &["`velocity` needs `pressure`"],
    );
    refused(
        "[output]",
        "[exact]\ntemperature = 1.0\n[output]",
        &["`temperature` belongs to a heat case"],
    );
    let message = failure(FLOW, "[boundary]", "[initial]\ndensity = 1.0\n[boundary]");
    assert!(
        message.contains("`density` belongs to a compressible flow case, this one is of flow"),
        "{message}"
    );
}

#[test]
fn conditions_are_checked() {
    let of = |to: &str, parts: &[&str]| refused("xmax = \"supersonic_outlet\"", to, parts);
    of(
        "xmax = \"insulated\"",
        &["`insulated` is a thermal condition, not one for compressible flow"],
    );
    of(
        "xmax = \"inflow\"",
        &["`inflow` needs a value: { inflow = { density, velocity, pressure } }"],
    );
    of(
        "xmax = \"pressure_outlet\"",
        &["`pressure_outlet` needs a value: { pressure_outlet = pressure }"],
    );
    of("xmax = \"slip\"", &["unknown kind of boundary `slip`", "slip_wall"]);
    of("xmax = \"no_slip\"", &["`no_slip` needs [compressible.viscous]", "use \"slip_wall\""]);
    of("xmax.isothermal = 300.0", &["`isothermal` needs [compressible.viscous]"]);
    of(
        "xmax.moving_wall = [1.0, 0.0]",
        &["`moving_wall` needs [compressible.viscous]", "use \"slip_wall\""],
    );
    of(
        "xmax = { moving_wall = [1.0, 0.0], isothermal = 1.0 }",
        &["`moving_wall` needs [compressible.viscous]"],
    );
    of(
        "xmax = { moving_wall = [1.0, 0.0], no_slip = true }",
        &["two conditions, `no_slip` and `moving_wall`"],
    );
    of(
        "xmax = { moving_wall = [1.0, 0.0], isothermal = -1.0 }",
        &["`isothermal` must be positive, not -1"],
    );
    of(
        "xmax.velocity_inlet = [1.0, 0.0]",
        &["`velocity_inlet` is not a condition for compressible flow"],
    );
    of("xmax.heat_flux = 1.0", &["`heat_flux` is not a condition for compressible flow"]);
    of(
        "xmax = { slip_wall = true, symmetry = true }",
        &["two conditions, `symmetry` and `slip_wall`"],
    );
    of("xmax.slip_wall = false", &["`slip_wall = false` is no condition"]);
    of("xmax = {}", &["patch \"xmax\" has no condition"]);
    of("xmax.pressure_outlet = 0.0", &["`pressure_outlet` must be positive, not 0"]);
    of("xmax.periodic = \"ymin\"", &["patch \"ymin\" is not periodic with \"xmax\""]);
}

#[test]
fn states_are_checked() {
    let of = |to: &str, parts: &[&str]| refused("xmax = \"supersonic_outlet\"", to, parts);
    of("xmax.inflow = { velocity = [1.0, 0.0], pressure = 1.0 }", &["`density` is missing"]);
    of(
        "xmax.inflow = { density = 1.0, velocity = [1.0, 0.0], pressure = -1.0 }",
        &["`pressure` must be positive, not -1"],
    );
    of("xmax.inflow = { density = 1.0, pressure = 1.0 }", &["`velocity` is missing"]);
    of(
        "xmax.inflow = { density = 1.0, mach = 1.0, pressure = 1.0 }",
        &["`mach` is for `farfield`; `inflow` has a `velocity`"],
    );
    of("xmax.inflow = { rho = 1.0 }", &["rho", "density"]);
    of("xmax.farfield = { density = 1.0, pressure = 1.0 }", &["`mach` or `velocity` is missing"]);
    of(
        "xmax.farfield = { density = 1.0, angle_of_attack_deg = 1.0, pressure = 1.0 }",
        &["`mach` is missing"],
    );
    of(
        "xmax.farfield = { density = 1.0, mach = 1.0, velocity = [1.0, 0.0], pressure = 1.0 }",
        &["`mach` is one too many"],
    );
    of(
        "xmax.farfield = { density = \"x\", mach = 1.0, pressure = 1.0 }",
        &["with `mach` the density and the pressure are numbers", "give the `velocity`"],
    );
    of(
        "xmax.farfield = { density = 1.0, mach = -1.0, pressure = 1.0 }",
        &["`mach` must not be negative"],
    );
}

#[test]
fn conditions_of_compressible_flow_are_refused_elsewhere() {
    let of_flow = failure(FLOW, "xmax = \"slip\"", "xmax.supersonic_outlet = true");
    assert!(
        of_flow.contains("`supersonic_outlet` is a condition for compressible flow"),
        "{of_flow}"
    );
    let of_heat = failure(STEADY, "xmax = \"insulated\"", "xmax.farfield = { density = 1.0 }");
    assert!(of_heat.contains("`farfield` is a condition for flow, not for heat"), "{of_heat}");
    let of_heat = failure(STEADY, "xmax = \"insulated\"", "xmax = \"slip_wall\"");
    assert!(of_heat.contains("`slip_wall` is a condition for flow, not for heat"), "{of_heat}");
}

#[test]
fn output_is_checked() {
    refused(
        "[output]",
        "[output]\nfields = [\"q_criterion\"]",
        &["a compressible flow case has no field `q_criterion`", "schlieren"],
    );
    let constant = GAS.replace("flux = \"roe\"", "reconstruction = \"constant\"");
    for output in ["fields = [\"schlieren\"]", "picture = { field = \"vorticity\" }"] {
        let message = parse(&format!("{constant}{output}\n")).unwrap_err().to_string();
        assert!(message.contains("needs gradients: `reconstruction` is \"constant\""), "{message}");
    }
    let surface = |field: &str| {
        format!(
            "[[output.surface]]\nname = \"wall\"\npatches = [\"ymin\"]\nfields = [\"{field}\"]\n"
        )
    };
    refused(
        "[output]",
        &surface("nusselt"),
        &["a surface of a compressible flow case has no field `nusselt`", "mach"],
    );
    for field in ["wall_shear_stress", "y_plus", "wall_heat_flux"] {
        let message = format!("`{field}` needs [compressible.viscous]");
        refused("[output]", &surface(field), &[&message]);
        let viscous = format!("[compressible.viscous]\nviscosity = 1.0\n{}", surface(field));
        refused(
            "[output]",
            &viscous,
            &[
                "is a field of walls with friction: patch \"ymin\" is none",
                "no_slip, isothermal or moving_wall",
            ],
        );
    }
    refused(
        "[output]",
        &surface("skin_friction_coefficient"),
        &["`skin_friction_coefficient` needs `reference`"],
    );
    refused(
        "[output]",
        "[[output.recirculation]]\nname = \"wake\"\nfrom = [0.0, 0.0]\nto = [1.0, 0.0]",
        &["`recirculation` belongs to a flow case, this one is of compressible flow"],
    );
}
