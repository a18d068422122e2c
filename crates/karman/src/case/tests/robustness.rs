//! No text makes the reader panic, and every place it names is in the text.

use super::*;
use proptest::prelude::*;

fn check_places(text: &str) {
    if let Err(error) = parse(text) {
        assert!(!error.to_string().is_empty());
        let lines = text.split('\n').count();
        for diagnostic in error.diagnostics() {
            assert!((1..=lines).contains(&diagnostic.line), "{diagnostic}");
            let columns = diagnostic.text.chars().count() + 1;
            assert!(diagnostic.column - 1 + diagnostic.width <= columns.max(1) + 1, "{diagnostic}");
        }
    }
}

proptest! {
    #[test]
    fn random_text(text in "\\PC{0,80}") {
        check_places(&text);
    }

    #[test]
    fn a_case_cut_short(end in 0usize..800) {
        for whole in [STEADY, UNSTEADY, FLOW, THERMAL] {
            check_places(&whole[..end.min(whole.len())]);
        }
    }

    #[test]
    fn a_case_with_a_few_characters_changed(
        changes in prop::collection::vec((0usize..400, prop::sample::select(vec![
            '"', '\'', '[', ']', '{', '}', '=', '.', ',', '-', '0', '9', 'e', 'x', '\n', ' ', 'é',
        ])), 1..6)
    ) {
        for whole in [STEADY, UNSTEADY, FLOW, THERMAL] {
            let mut letters: Vec<char> = whole.chars().collect();
            for &(place, letter) in &changes {
                let place = place % letters.len();
                letters[place] = letter;
            }
            check_places(&letters.iter().collect::<String>());
        }
    }

    #[test]
    fn random_values_for_keys(
        key in prop::sample::select(vec!["conductivity", "source", "size", "cells", "xmin", "every",
            "fields", "picture", "probe", "at", "patches", "name", "ymax", "gravity", "reference",
            "kinematic_viscosity"]),
        value in prop::sample::select(vec!["1", "-1", "1e400", "nan", "inf", "true", "\"x\"", "[]",
            "{}", "[1]", "[[1]]", "{ a = 1 }", "1979-05-27", "[1, \"x\"]", "99999999999999999999",
            "{ temperature = {} }", "[nan, 1]", "\"\"", "{ a.b.c = 1 }"]),
    ) {
        for whole in [STEADY, UNSTEADY, FLOW, THERMAL] {
            let changed: Vec<String> = whole
                .lines()
                .map(|line| {
                    if line.starts_with(key) { format!("{key} = {value}") } else { line.to_owned() }
                })
                .collect();
            check_places(&changed.join("\n"));
        }
    }
}
