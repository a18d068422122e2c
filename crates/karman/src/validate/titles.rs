//! Default titles of numbers of the summary, with their symbols.

use crate::case::SuiteSection;

/// The title of the number at a path: that of the suite, else words with a symbol.
pub(super) fn title(section: &SuiteSection, path: &str) -> String {
    let given = section.name_of(path);
    if given == path { of_path(path) } else { given.to_owned() }
}

fn of_path(path: &str) -> String {
    let Some((group, rest)) = path.split_once('.') else { return words(path) };
    // Names of probes and patches may contain dots.
    let (name, quantity) = rest.rsplit_once('.').map_or(("", rest), |(name, last)| (name, last));
    let text = match (group, name.is_empty()) {
        ("errors", false) => {
            let (field, symbol) = words_and_symbol(name);
            let norm = match quantity {
                "l1" => "L¹",
                "l2" => "L²",
                "linf" => "L∞",
                _ => return words(path),
            };
            format!("error of the {field} {symbol}, {norm}")
        }
        ("fields", false) => {
            let (field, symbol) = words_and_symbol(name);
            let which = match quantity {
                "min" => "smallest",
                "max" => "largest",
                _ => quantity,
            };
            format!("{which} {field} {symbol}")
        }
        ("probe", false) => format!("{} at {name}", with_symbol(quantity)),
        ("patch", false) => format!("{} of {name}", with_symbol(quantity)),
        ("recirculation", false) => {
            let (what, symbol) = match quantity {
                "separation" => ("separation", "xₛ"),
                "reattachment" => ("reattachment", "xᵣ"),
                _ => return words(path),
            };
            format!("{what} {symbol}, {name}")
        }
        ("flow", true) => with_symbol(quantity),
        ("time", true) => match quantity {
            "end" => "time at the end t".to_owned(),
            _ => format!("number of {}", quantity.replace('_', " ")),
        },
        ("mesh", true) => format!("number of {}", quantity.replace('_', " ")),
        ("linear", true) => format!("{} of the linear solver", quantity.replace('_', " ")),
        _ => return words(path),
    };
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn words(path: &str) -> String {
    path.replace(['.', '_'], " ")
}

fn with_symbol(quantity: &str) -> String {
    let (words, symbol) = words_and_symbol(quantity);
    if symbol.is_empty() { words } else { format!("{words} {symbol}") }
}

/// Words and symbol of a quantity.
fn words_and_symbol(quantity: &str) -> (String, &'static str) {
    let (words, symbol) = match quantity {
        "velocity" => ("velocity", "u"),
        "velocity_x" => ("x velocity", "u"),
        "velocity_y" => ("y velocity", "v"),
        "velocity_z" => ("z velocity", "w"),
        "pressure" => ("pressure", "p"),
        "temperature" => ("temperature", "T"),
        "kinetic_energy" => ("kinetic energy", "½ ∫ u² dV"),
        "divergence_max" => ("largest divergence", "|∇·u| / (U/h)"),
        "courant" => ("Courant number", "C"),
        "mean_force_x" => ("mean force along x", "f"),
        "mean_force_y" => ("mean force along y", "f"),
        "mean_force_z" => ("mean force along z", "f"),
        "drag_coefficient" => ("drag coefficient", "c_D"),
        "lift_coefficient" => ("lift coefficient", "c_L"),
        "drag_coefficient_max" => ("largest drag coefficient", "c_D"),
        "lift_coefficient_max" => ("largest lift coefficient", "c_L"),
        "strouhal" => ("Strouhal number", "St"),
        "nusselt" => ("Nusselt number", "Nu"),
        "heat_flux" => ("heat flux", "Q"),
        "flow_rate" => ("flow rate", "∫ u·n dA"),
        "area" => ("area", "A"),
        other => return (other.replace('_', " "), ""),
    };
    (words.to_owned(), symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_titles_with_their_symbols() {
        let section = SuiteSection {
            title: String::new(),
            about: String::new(),
            sources: vec![],
            cases: vec![],
            quantities: vec![("flow.courant".to_owned(), "CFL".to_owned())],
            figures: vec![],
        };
        for (path, expected) in [
            ("flow.divergence_max", "Largest divergence |∇·u| / (U/h)"),
            ("flow.kinetic_energy", "Kinetic energy ½ ∫ u² dV"),
            ("flow.courant", "CFL"),
            ("flow.mean_force_x", "Mean force along x f"),
            ("errors.velocity.l2", "Error of the velocity u, L²"),
            ("errors.velocity_x.linf", "Error of the x velocity u, L∞"),
            ("probe.a.b.temperature", "Temperature T at a.b"),
            ("patch.hot wall.nusselt", "Nusselt number Nu of hot wall"),
            ("patch.body.viscous_force_x", "Viscous force x of body"),
            ("recirculation.wake.reattachment", "Reattachment xᵣ, wake"),
            ("fields.pressure.max", "Largest pressure p"),
            ("mesh.cells", "Number of cells"),
            ("time.steps", "Number of steps"),
            ("linear.iterations", "Iterations of the linear solver"),
            ("version", "version"),
        ] {
            assert_eq!(title(&section, path), expected);
        }
    }
}
