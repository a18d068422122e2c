//! Files of a crate use each other in one direction: no file uses a file that uses it, also through others. What a file takes from
//! those of the folders around it does not count.

use super::{Source, is_word, report, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Crates whose files may form circles: `Real` and the buffers of the backend are defined by each other.
const EXEMPT: [&str; 1] = ["karman-backend"];

/// The names of a path, from the crate down.
type Path = Vec<String>;

/// The files of a crate by their module.
struct Files<'s> {
    sources: BTreeMap<Path, &'s Source>,
    /// Names that a module re-exports, with their paths as written.
    exported: BTreeMap<Path, BTreeMap<String, Path>>,
}

/// The items of a group `a, b::{c, d}`.
fn items(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0, 0, vec![]);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&group[start..]);
    items.retain(|item| !item.trim().is_empty());
    items
}

/// The paths of a `use`, those of a group one by one.
fn expanded(path: &str) -> Vec<Path> {
    let path = path.trim();
    let names = |text: &str| -> Path {
        let text = text.split(" as ").next().unwrap_or_default();
        let names = text.split("::").map(|name| name.trim().to_owned());
        names.filter(|name| !name.is_empty()).collect()
    };
    let Some((before, group)) = path.split_once('{') else { return vec![names(path)] };
    let group = group.trim_end().strip_suffix('}').unwrap_or(group);
    let inside = items(group).into_iter().flat_map(expanded);
    inside.map(|item| [names(before), item].concat()).collect()
}

/// The statements `use path;` of a text, with whether they re-export, and the text without them.
fn uses(text: &str) -> (Vec<(bool, String)>, String) {
    let (mut found, mut rest) = (vec![], String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let visibility = trimmed.find("use ").map_or("", |at| &trimmed[..at]);
        let is_use = trimmed.starts_with("use ")
            || visibility.starts_with("pub") && visibility.split_whitespace().count() <= 2;
        if !is_use || !trimmed.contains("use ") {
            rest += line;
            rest.push('\n');
            continue;
        }
        let mut statement = trimmed[visibility.len() + "use ".len()..].to_owned();
        while !statement.contains(';') {
            statement += lines.next().unwrap_or(";");
        }
        let path = statement.split(';').next().unwrap_or_default().to_owned();
        found.push((!visibility.is_empty(), path));
    }
    (found, rest)
}

/// Paths inside code that begin with `crate::`, `self::`, `super::` or a name of `modules`.
fn inline_paths(code: &str, modules: &BTreeSet<&str>) -> Vec<Path> {
    let mut paths = vec![];
    for word in code.split(|c: char| !(is_word(c) || c == ':')) {
        let names: Path = word.split("::").map(str::to_owned).collect();
        let first = names[0].as_str();
        let is_local = ["crate", "self", "super"].contains(&first) || modules.contains(first);
        if names.len() > 1 && is_local && names.iter().all(|name| !name.is_empty()) {
            paths.push(names);
        }
    }
    paths
}

fn text_of(source: &Source) -> String {
    source.code.iter().flat_map(|(_, line)| [line.as_str(), "\n"]).collect()
}

fn module_of(source: &Source) -> Path {
    match source.path.as_str() {
        "lib.rs" | "main.rs" => vec![],
        _ => source.module_path().into_iter().map(str::to_owned).collect(),
    }
}

impl<'s> Files<'s> {
    fn new(all: &'s [Source], name_of_crate: &str) -> Self {
        let of_crate = |s: &&Source| s.name_of_crate == name_of_crate && !s.is_test;
        let sources: BTreeMap<Path, &Source> =
            all.iter().filter(of_crate).map(|s| (module_of(s), s)).collect();
        let exported = sources.iter().map(|(module, source)| {
            let paths = uses(&text_of(source)).0.into_iter().filter(|(is_export, _)| *is_export);
            let paths = paths.flat_map(|(_, path)| expanded(&path));
            (module.clone(), paths.filter_map(|p| Some((p.last()?.clone(), p))).collect())
        });
        let exported = exported.collect();
        Files { sources, exported }
    }

    /// A path from the crate down; none of another crate.
    fn absolute(&self, module: &Path, path: &[String]) -> Option<Path> {
        let first = path.first()?.as_str();
        let up = path.iter().take_while(|name| *name == "super").count();
        match first {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module.as_slice(), &path[1..]].concat()),
            "super" => {
                let kept = module.len().checked_sub(up)?;
                Some([&module[..kept], &path[up..]].concat())
            }
            _ => {
                let inside = [module.as_slice(), path].concat();
                self.sources.contains_key(&inside[..=module.len()]).then_some(inside)
            }
        }
    }

    /// The file that defines the last name of a path; none where the path is a file itself.
    fn definition(&self, path: &Path, depth: usize) -> Option<Path> {
        let file = (0..=path.len()).rev().find(|n| self.sources.contains_key(&path[..*n]))?;
        let module = path[..file].to_vec();
        let name = path.get(file)?;
        match self.exported[&module].get(name) {
            Some(to) if depth < 8 => match self.absolute(&module, to) {
                Some(to) => {
                    self.definition(&[to.as_slice(), &path[file + 1..]].concat(), depth + 1)
                }
                None => Some(module),
            },
            _ => Some(module),
        }
    }

    /// The files that a file uses.
    fn used_by(&self, module: &Path) -> BTreeSet<Path> {
        let (statements, code) = uses(&text_of(self.sources[module]));
        let imports: Vec<Path> = statements
            .iter()
            .filter(|(is_export, _)| !is_export)
            .flat_map(|(_, p)| expanded(p))
            .collect();
        let names: BTreeSet<&str> =
            imports.iter().filter_map(|path| path.last().map(String::as_str)).collect();
        let inline = inline_paths(&code, &names).into_iter().map(|path| {
            // A path that begins with an imported module.
            let import = imports.iter().find(|import| import.last() == path.first());
            import.map_or(path.clone(), |import| [import.as_slice(), &path[1..]].concat())
        });
        let paths: Vec<Path> = imports.iter().cloned().chain(inline).collect();
        let absolute = paths.iter().filter_map(|path| self.absolute(module, path));
        let files = absolute.filter_map(|path| self.definition(&path, 0));
        files.filter(|file| !module.starts_with(file)).collect()
    }

    /// The files that use each other, also through others.
    fn circles(&self) -> Vec<Path> {
        let mut left: BTreeMap<Path, BTreeSet<Path>> =
            self.sources.keys().map(|module| (module.clone(), self.used_by(module))).collect();
        // Files that use none of the others, then files that none of the others uses.
        loop {
            let is_used = |module: &Path| left.values().any(|used| used.contains(module));
            let done: Vec<Path> = left
                .iter()
                .filter(|(module, used)| used.is_empty() || !is_used(module))
                .map(|(module, _)| module.clone())
                .collect();
            if done.is_empty() {
                return left.into_keys().collect();
            }
            for module in done {
                left.remove(&module);
                left.values_mut().for_each(|used| {
                    used.remove(&module);
                });
            }
        }
    }
}

#[test]
fn files_use_each_other_in_one_direction() {
    let all = sources();
    let crates: BTreeSet<&str> = all.iter().map(|s| s.name_of_crate.as_str()).collect();
    let mut problems = vec![];
    for name in crates.into_iter().filter(|name| !EXEMPT.contains(name)) {
        let circles = Files::new(&all, name).circles();
        let files: Vec<String> = circles.iter().map(|module| module.join("/")).collect();
        if !files.is_empty() {
            problems.push(format!("{name}: files on or between circles: {}", files.join(", ")));
        }
    }
    report(problems);
}

#[test]
fn a_circle_is_found() {
    let source = |path: &str, text: &str| Source {
        name_of_crate: "x".into(),
        path: path.into(),
        text: text.into(),
        code: text.lines().enumerate().map(|(n, line)| (n, line.to_owned())).collect(),
        is_test: false,
    };
    let lib = "mod a;\nmod b;\nmod c;\npub use b::{B, beta as other};\n";
    let a = "use super::c::{\n    C,\n    gamma,\n};\nuse crate::B;\n";
    let c = "fn f() { crate::a::alpha(); }\n";
    let with = |c: &str| {
        let all = [
            source("lib.rs", lib),
            source("a.rs", a),
            source("b.rs", "use super::c;\nfn f() { c::gamma(); }\n"),
            source("c.rs", c),
        ];
        let circles = Files::new(&all, "x").circles();
        circles.iter().map(|module| module.join("/")).collect::<Vec<_>>()
    };
    assert_eq!(with(c), ["a", "b", "c"]);
    assert_eq!(with("fn f() {}\n"), Vec::<String>::new());
    assert_eq!(with("use super::B;\n"), ["b", "c"]);
}
