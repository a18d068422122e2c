//! Refuses words of this project's own where the field has a term: in sources, documents, cases and scripts.
#![allow(clippy::unwrap_used)] // its helpers are tests too

use std::path::{Path, PathBuf};

/// A word or phrase, and the term of the field.
const REFUSED: [(&str, &str); 34] = [
    ("advect", "convect"),
    ("advected", "convected"),
    ("body_from", "obstacle_min"),
    ("body_to", "obstacle_max"),
    ("box_with_box", "box_with_obstacle"),
    ("brick", "hexahedron"),
    ("bricks", "hexahedra"),
    ("carried", "convected, transported, interpolated"),
    ("carries", "convects, transports"),
    ("exchange_rate", "convective_rate"),
    ("excess", "row sum; Rhie–Chow correction"),
    ("follow_the_rate", "adapt_time_step"),
    ("free of divergence", "divergence-free"),
    ("goes wrong", "diverges"),
    ("heat_capacity", "volumetric_heat_capacity"),
    ("held by", "checked by; prescribed by"),
    ("is lost", "diverges"),
    ("is_lost", "is_diverged"),
    ("judged", "check_outcome"),
    ("leave_residual", "…_residual"),
    ("pairing", "pairwise_passes"),
    ("prescribe_dependent", "update_dependent_boundaries"),
    ("psi_slope", "grad_psi"),
    ("renewed", "updated"),
    ("ringing", "oscillation"),
    ("seen_across", "periodic_offset"),
    ("taken to faces", "interpolated to faces"),
    ("take_held", "subtract_prescribed"),
    ("twin", "reduced test"),
    ("up and down alternate", "checkerboard"),
    ("weighed", "beta"),
    ("what is carried", "the convected quantity"),
    ("what is left of", "the residual of"),
    ("what enters again", "backflow"),
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `phrase` stands in `line` with no letter beside it.
fn says(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + phrase.len()..].chars().next();
        before.is_none_or(|c| !is_word(c)) && after.is_none_or(|c| !is_word(c))
    })
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        if path.is_dir() {
            files_below(&path, found);
        } else if ["rs", "md", "toml", "py", "sh"].contains(&kind) {
            found.push(path);
        }
    }
}

#[test]
fn the_words_are_those_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("CHANGELOG.md")];
    for folder in ["crates", "docs", "cases", "scripts"] {
        files_below(&root.join(folder), &mut files);
    }
    let mut problems = vec![];
    for file in files.iter().filter(|file| !file.ends_with("karman/tests/vocabulary.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for (phrase, term) in REFUSED.iter().filter(|(phrase, _)| says(&line, phrase)) {
                let name = file.strip_prefix(&root).unwrap().display();
                problems.push(format!("{name}:{}: \"{phrase}\": say {term}", number + 1));
            }
        }
    }
    assert!(files.len() > 300 && problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn a_phrase_is_found_as_whole_words() {
    assert!(says("// the field is free of divergence.", "free of divergence"));
    assert!(says("heat_capacity = 1.0", "heat_capacity"));
    assert!(!says("volumetric_heat_capacity = 1.0", "heat_capacity"));
    assert!(!says("comparing", "pairing") && !says("twine", "twin"));
}
