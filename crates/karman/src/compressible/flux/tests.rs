//! Fluxes against exact solutions of Riemann problems, symmetries and each other.

use super::*;

const GAMMA: f64 = 1.4;
const LOW_MACH: [bool; 2] = [false, true];

fn forms() -> Vec<FluxForm> {
    let all = NumericalFlux::ALL
        .iter()
        .flat_map(|flux| LOW_MACH.map(|low_mach| FluxForm { flux: *flux, low_mach }));
    all.filter(|form| !form.low_mach || form.flux.has_low_mach_form()).collect()
}

fn state(density: f64, velocity: [f64; 3], pressure: f64) -> Primitive<f64> {
    let [x, y, z] = velocity;
    Primitive::of(density, Vec3 { x, y, z }, pressure)
}

fn array(q: Conserved<f64>) -> [f64; 5] {
    [q.density, q.momentum_x, q.momentum_y, q.momentum_z, q.energy]
}

fn assert_close(a: Conserved<f64>, b: Conserved<f64>, tolerance: f64, what: &str) {
    for (a, b) in array(a).into_iter().zip(array(b)) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a} instead of {b}");
    }
}

fn unit(x: f64, y: f64, z: f64) -> Vec3<f64> {
    let size = (x * x + y * y + z * z).sqrt();
    Vec3 { x: x / size, y: y / size, z: z / size }
}

#[test]
fn equal_states_give_the_flux_of_the_equations() {
    for velocity in [[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [-2.5, 1.0, 0.4], [3.0, 0.1, -0.2]] {
        let (q, n) = (state(1.2, velocity, 0.8), unit(1.0, 2.0, -0.5));
        let exact = Side::of(q, n, GAMMA).flux(n);
        for form in forms() {
            assert_close(numerical_flux(q, q, n, GAMMA, form), exact, 1e-14, &format!("{form:?}"));
        }
    }
}

#[test]
fn the_flux_changes_its_sign_with_the_normal() {
    let (l, r) = (state(1.0, [0.4, 0.2, -0.1], 1.0), state(0.6, [-0.1, 0.5, 0.3], 0.4));
    let n = unit(-0.3, 1.0, 0.7);
    for form in forms() {
        let forwards = numerical_flux(l, r, n, GAMMA, form);
        let backwards = numerical_flux(r, l, -n, GAMMA, form);
        assert_close(-backwards, forwards, 1e-13, &format!("{form:?}"));
    }
}

#[test]
fn supersonic_flow_takes_the_upwind_state() {
    let (l, r) = (state(1.0, [3.0, 0.2, 0.0], 1.0), state(0.9, [3.1, 0.1, 0.1], 0.8));
    let n = unit(1.0, 0.0, 0.0);
    let exact = Side::of(l, n, GAMMA).flux(n);
    let upwind =
        |f: &FluxForm| ![NumericalFlux::Rusanov, NumericalFlux::RotatedRoe].contains(&f.flux);
    for form in forms().into_iter().filter(upwind) {
        assert_close(numerical_flux(l, r, n, GAMMA, form), exact, 1e-12, &format!("{form:?}"));
    }
}

#[test]
fn a_contact_at_rest_stays() {
    let (l, r) = (state(1.0, [0.0, 0.3, 0.0], 0.7), state(0.1, [0.0, -0.2, 0.5], 0.7));
    let n = unit(1.0, 0.0, 0.0);
    let exact = Conserved::of(0.0, n * 0.7, 0.0);
    for form in forms().into_iter().filter(|f| f.flux != NumericalFlux::Rusanov) {
        assert_close(numerical_flux(l, r, n, GAMMA, form), exact, 1e-14, &format!("{form:?}"));
    }
}

#[test]
fn a_shock_at_rest_stays_with_roe_and_hllc() {
    // The jump conditions at M = 2 for γ = 1.4: p₂/p₁ = 4.5, ρ₂/ρ₁ = 8/3.
    let c = (GAMMA * 1.0_f64 / 1.0).sqrt();
    let l = state(1.0, [2.0 * c, 0.0, 0.0], 1.0);
    let r = state(8.0 / 3.0, [2.0 * c * 3.0 / 8.0, 0.0, 0.0], 4.5);
    let n = unit(1.0, 0.0, 0.0);
    let exact = Side::of(l, n, GAMMA).flux(n);
    for flux in [NumericalFlux::Roe, NumericalFlux::Hllc] {
        let found = numerical_flux(l, r, n, GAMMA, FluxForm { flux, low_mach: false });
        assert_close(found, exact, 1e-12, &format!("{flux:?}"));
    }
}

/// The dissipation of a jump of the normal velocity at a Mach number falls with it in the forms for low Mach numbers.
#[test]
fn the_pressure_error_of_a_velocity_jump_scales_with_the_square_of_the_mach_number() {
    let error = |form: FluxForm, mach: f64| {
        let c = GAMMA.sqrt();
        let l = state(1.0, [1.1 * mach * c, 0.0, 0.0], 1.0);
        let r = state(1.0, [0.9 * mach * c, 0.0, 0.0], 1.0);
        let n = unit(1.0, 0.0, 0.0);
        let flux = numerical_flux(l, r, n, GAMMA, form);
        flux.momentum_x - 1.0 - (mach * c).powi(2)
    };
    for form in forms() {
        let ratio = error(form, 1e-2) / error(form, 1e-3);
        let expected =
            if form.low_mach && form.flux != NumericalFlux::AusmPlusUp { 100.0 } else { 10.0 };
        assert!((ratio / expected - 1.0).abs() < 0.5, "{form:?}: {ratio}");
    }
}

#[test]
fn a_sonic_rarefaction_opens() {
    // Left to right expansion through the sonic point: an expansion shock has no dissipation without the fix.
    let c = GAMMA.sqrt();
    let (l, r) = (state(1.0, [0.5 * c, 0.0, 0.0], 1.0), state(0.2, [1.9 * c, 0.0, 0.0], 0.1));
    let n = unit(1.0, 0.0, 0.0);
    let form = FluxForm { flux: NumericalFlux::Roe, low_mach: false };
    let mean = RoeAverage::of(Side::of(l, n, GAMMA), Side::of(r, n, GAMMA), GAMMA);
    let slow = mean.velocity.x - mean.sound_speed;
    let flux = numerical_flux(l, r, n, GAMMA, form);
    assert!(slow.abs() < 0.8 * c && flux.density.is_finite());
    // The exact solution has the sonic state at the face: the mass flux of one face is within a quarter of it.
    let two = 2.0 / (GAMMA + 1.0);
    let speed = two * (c + 0.5 * (GAMMA - 1.0) * 0.5 * c);
    let density = (speed / c).powf(2.0 / (GAMMA - 1.0));
    assert!(
        (flux.density / (density * speed) - 1.0).abs() < 0.25,
        "{} {}",
        flux.density,
        density * speed
    );
}

/// At a face across a normal shock, whose normal is along the shock, a disturbance of the velocity along the stream decays by the
/// acoustic dissipation: with Roe's flux the face has none, as its normal velocity is 0.
#[test]
fn a_face_across_a_shock_has_dissipation_in_the_rotated_form() {
    let n = unit(0.0, 1.0, 0.0);
    // Both sides lie in the shock, one further downstream: their velocities differ along x.
    let (l, r) = (state(2.0, [1.2, 0.0, 0.0], 3.0), state(2.2, [1.0, 1e-3, 0.0], 3.4));
    let flux_of = |flux| numerical_flux(l, r, n, GAMMA, FluxForm { flux, low_mach: false });
    // The jump is along x up to 1e-3, so that n₁ is along x and n₂ along y: Roe's flux, as of a shear layer.
    let (rotated, roe) = (flux_of(NumericalFlux::RotatedRoe), flux_of(NumericalFlux::Roe));
    assert!((rotated.density - roe.density).abs() < 0.02 * l.density, "{rotated:?} {roe:?}");
    // A jump along the normal of the face: that of Harten, Lax and van Leer, with the dissipation of density jumps.
    let (l, r) = (state(2.0, [1.0, 0.1, 0.0], 3.0), state(2.2, [1.0, -0.1, 0.0], 3.0));
    let flux_of = |flux| numerical_flux(l, r, n, GAMMA, FluxForm { flux, low_mach: false });
    let (rotated, roe) = (flux_of(NumericalFlux::RotatedRoe), flux_of(NumericalFlux::Roe));
    let c = (GAMMA * 3.0_f64 / 2.1).sqrt();
    assert!(roe.density - rotated.density > 0.3 * c * 0.2, "{rotated:?} {roe:?}");
    // No mass passes a wall.
    let wall = state(2.0, [1.0, -0.1, 0.0], 3.0);
    let through = numerical_flux(
        state(2.0, [1.0, 0.1, 0.0], 3.0),
        wall,
        n,
        GAMMA,
        FluxForm { flux: NumericalFlux::RotatedRoe, low_mach: false },
    );
    assert!(through.density.abs() < 1e-14 && through.energy.abs() < 1e-14, "{through:?}");
}
