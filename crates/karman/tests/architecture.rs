//! Holds the sources to `docs/architecture.md`: its table of imports, and the invariants that can be
//! read off the text of the sources.
#![allow(clippy::unwrap_used)] // its helpers are tests too

#[path = "architecture/circles.rs"]
mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Longest file, in lines.
const LONGEST_FILE: usize = 700;

/// The folder of all crates.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// A source file without what only tests compile.
struct Source {
    /// `karman`, `karman-linear`, …
    name_of_crate: String,
    /// Path below `src`, with `/`.
    path: String,
    text: String,
    /// Lines of code with their number; comments and test modules are left out.
    code: Vec<(usize, String)>,
    is_test: bool,
}

impl Source {
    /// `heat` of `heat/march.rs` in `karman`, which has modules; `linear` of every file of `karman-linear`.
    fn module(&self) -> &str {
        if let Some(name) = self.name_of_crate.strip_prefix("karman-") {
            return name;
        }
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Names from `crate` down to the file's own module.
    fn module_path(&self) -> Vec<&str> {
        let stem = self.path.strip_suffix(".rs").unwrap();
        stem.strip_suffix("/mod").unwrap_or(stem).split('/').collect()
    }

    /// Whether the crate is `karman`, whose modules the table lists one by one.
    fn is_of_karman(&self) -> bool {
        self.name_of_crate == "karman"
    }

    /// Modules and other crates that the code names, with the line.
    fn imports(&self) -> Vec<(usize, String)> {
        let mut found = vec![];
        for (number, line) in &self.code {
            for (at, _) in line.match_indices("karman") {
                let path = &line[at..];
                let end = path.find(|c| !is_word(c)).unwrap_or(path.len());
                let is_path = path[end..].starts_with("::") && !goes_on(&line[..at]);
                if let Some(name) = path[..end].strip_prefix("karman_").filter(|_| is_path) {
                    found.push((*number, name.to_owned()));
                } else if &path[..end] == "karman" && is_path {
                    let names = first_names(&path["karman::".len()..]);
                    found.extend(names.into_iter().map(|name| (*number, name)));
                }
            }
            if !self.is_of_karman() {
                continue;
            }
            for (at, _) in line.match_indices("crate::") {
                let before = line[..at].chars().next_back();
                if before.is_none_or(|c| !is_word(c)) {
                    let names = first_names(&line[at + "crate::".len()..]);
                    found.extend(names.into_iter().map(|name| (*number, name)));
                }
            }
            for (at, _) in line.match_indices("super::") {
                if line[..at].ends_with("super::") {
                    continue;
                }
                let mut rest = &line[at..];
                let mut up = 0;
                while let Some(after) = rest.strip_prefix("super::") {
                    (rest, up) = (after, up + 1);
                }
                if up >= self.module_path().len() {
                    found.extend(first_names(rest).into_iter().map(|name| (*number, name)));
                }
            }
        }
        // `karman` shows the numbers of `karman-backend` as a module of its own; attributes are everywhere.
        found.retain(|(_, name)| name != "macros");
        found
            .iter_mut()
            .filter(|(_, name)| name == "real")
            .for_each(|(_, name)| *name = "backend".into());
        found
    }

    fn lines_with(&self, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
        let bad = self.code.iter().filter(|(_, line)| is_bad(line));
        bad.map(|(n, line)| format!("{}:{n}: {}", self.path, line.trim())).collect()
    }
}

/// Whether a path goes on to the left, or stands in a text.
fn goes_on(before: &str) -> bool {
    before.chars().next_back().is_some_and(|c| is_word(c) || c == ':' || c == '"')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `word` stands in `line` by itself.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        before.is_none_or(|c| !is_word(c)) && after.is_none_or(|c| !is_word(c))
    })
}

/// `a` of `a::b`, and `a`, `b` of `{a::c, b}`.
fn first_names(path: &str) -> Vec<String> {
    let word = |text: &str| text.trim().chars().take_while(|c| is_word(*c)).collect::<String>();
    let Some(group) = path.strip_prefix('{') else { return vec![word(path)] };
    let (mut depth, mut list) = (0, vec![String::new()]);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => list.push(String::new()),
            _ => {}
        }
        if let Some(last) = list.last_mut().filter(|_| c != ',') {
            last.push(c);
        }
    }
    list.iter().map(|item| word(item)).filter(|name| !name.is_empty()).collect()
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The lines outside comments and outside items under `#[cfg(test)]`, and the modules in files of
/// their own that are declared under it.
fn without_tests(text: &str) -> (Vec<(usize, String)>, Vec<String>) {
    let (mut code, mut test_modules) = (vec![], vec![]);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("#[cfg(test)]") {
            let indentation = &line[..line.len() - trimmed.len()];
            let Some((_, item)) = lines.find(|(_, l)| !l.trim_start().starts_with("#[")) else {
                break;
            };
            let declared = item.trim().trim_end_matches(';').rsplit(' ').next();
            if item.trim_end().ends_with(';') {
                test_modules.extend(declared.map(str::to_owned));
            } else {
                let end = format!("{indentation}}}");
                lines.find(|(_, l)| l.trim_end() == end);
            }
        } else if !trimmed.starts_with("//") {
            let line = line.split(" // ").next().unwrap_or_default();
            code.push((number + 1, line.to_owned()));
        }
    }
    (code, test_modules)
}

fn sources() -> Vec<Source> {
    let mut paths = vec![];
    for folder in std::fs::read_dir(root()).unwrap() {
        files_below(&folder.unwrap().path().join("src"), &mut paths);
    }
    paths.sort();
    let mut sources = vec![];
    let mut test_modules = BTreeSet::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let (name_of_crate, path) = path.split_once("/src/").unwrap();
        let (code, modules) = without_tests(&text);
        let (name_of_crate, path) = (name_of_crate.to_owned(), path.to_owned());
        let source = Source { name_of_crate, path, text, code, is_test: false };
        let parent = match source.path.as_str() {
            "lib.rs" | "main.rs" => String::new(),
            _ => source.module_path().join("/") + "/",
        };
        let place = format!("{}/{parent}", source.name_of_crate);
        test_modules.extend(modules.into_iter().map(|name| format!("{place}{name}")));
        sources.push(source);
    }
    for source in &mut sources {
        let stem = format!("{}/{}/", source.name_of_crate, source.path.trim_end_matches(".rs"));
        source.is_test = test_modules.iter().any(|m| stem.starts_with(&format!("{m}/")));
    }
    assert!(
        sources.iter().any(|s| s.is_test) && sources.iter().filter(|s| !s.is_test).count() > 50
    );
    sources
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture.md");
    std::fs::read_to_string(path).unwrap()
}

/// The words between backquotes.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Module → what it may import, from the table headed `| module or crate | may import |`.
fn permissions(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let rows =
        page.lines().skip_while(|l| !l.starts_with("| module or crate | may import |")).skip(2);
    let mut table = BTreeMap::new();
    for row in rows.take_while(|l| l.starts_with('|')) {
        let cells: Vec<_> = row.split('|').collect();
        for module in quoted(cells[1]) {
            assert!(table.insert(module, quoted(cells[2])).is_none(), "twice in the table: {row}");
        }
    }
    table
}

fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn imports_are_those_of_the_table() {
    let allowed = permissions(&page());
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut problems = vec![];
    for source in
        sources().iter().filter(|s| !(s.is_test || s.is_of_karman() && s.path == "lib.rs"))
    {
        let module = source.module();
        let row = used.entry(module.to_owned()).or_default();
        for (line, import) in source.imports().into_iter().filter(|(_, name)| name != module) {
            if !allowed.get(module).is_some_and(|a| a.contains(&import)) {
                problems.push(format!(
                    "{}:{line}: `{module}` may not import `{import}` by docs/architecture.md",
                    source.path
                ));
            }
            row.insert(import);
        }
    }
    for (module, imports) in &allowed {
        match used.get(module) {
            None => problems.push(format!("docs/architecture.md: there is no module `{module}`")),
            Some(row) => problems.extend(imports.difference(row).map(|import| {
                format!("docs/architecture.md: `{module}` imports no `{import}`; take it out")
            })),
        }
    }
    for module in used.keys().filter(|m| !allowed.contains_key(*m)) {
        problems.push(format!("docs/architecture.md: a row for `{module}` is missing"));
    }
    report(problems);
}

#[test]
fn the_table_keeps_the_layers_apart() {
    let allowed = permissions(&page());
    let systems = ["heat", "incompressible", "compressible"];
    let mut problems = vec![];
    let mut forbid = |module: &str, names: &[&str]| {
        let row = allowed.get(module).into_iter().flatten();
        for name in row.filter(|name| names.contains(&name.as_str())) {
            problems.push(format!("`{module}` must never import `{name}`"));
        }
    };
    forbid("linear", &["mesh", "operators"]);
    forbid("mesh", &["backend", "linear"]);
    for system in systems {
        forbid(system, &["case", "io", "expression", "monitor", "simulation", "summary"]);
        forbid(system, &systems.into_iter().filter(|s| *s != system).collect::<Vec<_>>());
    }
    for module in allowed.keys().filter(|m| !["simulation", "cli"].contains(&m.as_str())) {
        forbid(module, &["simulation"]);
    }
    forbid("io", &["case", "simulation", "heat", "backend", "linear"]);
    let mut left = allowed.clone();
    while let Some(done) = left.iter().find(|(_, row)| row.is_empty()).map(|(m, _)| m.clone()) {
        left.remove(&done);
        left.values_mut().for_each(|row| {
            row.remove(&done);
        });
    }
    problems.extend(left.keys().map(|m| format!("`{m}` is on or above a cycle of imports")));
    report(problems);
}

#[test]
fn only_the_backend_and_mpi_name_a_runtime_a_thread_pool_or_unsafe_code() {
    let words = [
        "Client",
        "ComputeClient",
        "Runtime",
        "RuntimeId",
        "cubecl_environment",
        "cudarc",
        "ThreadPool",
        "ThreadPoolBuilder",
        "unsafe",
        "unsafe_code",
    ];
    let is_bad = |line: &str| {
        let is_cubecl = names(line, "cubecl") && !line.contains("use cubecl::prelude::");
        is_cubecl || words.into_iter().any(|word| names(line, word))
    };
    let may = ["backend", "macros", "mpi"];
    let outside = sources().into_iter().filter(|s| !s.is_test && !may.contains(&s.module()));
    report(outside.flat_map(|s| s.lines_with(is_bad)).collect());
}

#[test]
fn only_the_case_reads_toml() {
    let may = ["case"];
    let outside = sources().into_iter().filter(|s| !s.is_test && !may.contains(&s.module()));
    report(outside.flat_map(|s| s.lines_with(|line| line.contains("toml::"))).collect());
}

#[test]
fn numerics_have_no_globals_no_hash_order_and_no_atomics_but_in_mesh_set_up() {
    let numerics =
        ["backend", "mesh", "operators", "linear", "time", "diffusion", "heat", "incompressible"];
    let is_global = |line: &str| {
        let item = line.trim_start().trim_start_matches("pub ");
        let is_mutable =
            ["Mutex", "RwLock", "Cell", "Lock", "Atomic"].into_iter().any(|w| line.contains(w));
        line.contains("thread_local!") || item.starts_with("static ") && is_mutable
    };
    let mut problems = vec![];
    for source in sources().iter().filter(|s| !s.is_test && numerics.contains(&s.module())) {
        problems.extend(source.lines_with(|line| {
            let hashed = names(line, "HashMap") || names(line, "HashSet");
            let atomic = source.module() != "mesh" && line.contains("Atomic");
            let is_known = source.path == "device.rs" && line.starts_with("static STREAMS");
            // A reader of files looks names up and never walks through them.
            let is_known = is_known || source.path == "files/gmsh/node_tags.rs";
            // Ranks that are threads count messages and name whom they wait for; no number of a solution is in these.
            let is_known = is_known || source.path == "group/threads.rs";
            // Memory of devices that stays mapped, and words that end the waiting of kernels; no number of a solution either.
            let is_known = is_known || source.path == "peer_memory.rs";
            // Calls of a software device are counted.
            let is_known = is_known || source.path == "software_device.rs";
            // METIS has globals of its own, which one call at a time may use.
            let is_known =
                is_known || source.path == "graph_partition.rs" && line.starts_with("static METIS");
            !is_known && (is_global(line) || hashed || atomic)
        }));
    }
    report(problems);
}

#[test]
fn the_library_prints_nothing_and_exits_nowhere() {
    let is_bad = |line: &str| {
        ["println!", "print!", "eprintln!", "eprint!", "dbg!", "process::exit"]
            .into_iter()
            .any(|word| line.contains(word))
    };
    let library = sources()
        .into_iter()
        .filter(|s| !s.is_test && s.module() != "cli" && s.path != "testing.rs");
    report(library.flat_map(|s| s.lines_with(is_bad)).collect());
}

#[test]
fn files_say_what_they_are_and_are_not_too_long() {
    let mut problems = vec![];
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > LONGEST_FILE {
            problems.push(format!("{}: {lines} lines, at most {LONGEST_FILE}", source.path));
        }
        if !source.text.starts_with("//! ") {
            problems.push(format!("{}: begins with no `//! ` documentation", source.path));
        }
    }
    report(problems);
}

#[test]
fn ignored_tests_say_how_to_run_them() {
    let mut problems = vec![];
    for source in sources() {
        for (at, attribute) in source.text.match_indices("#[ignore") {
            let end = source.text[at..].find(']').map_or(source.text.len(), |length| at + length);
            if !source.text[at..end].contains("cargo test ") {
                let line = 1 + source.text[..at].lines().count();
                problems.push(format!("{}:{line}: {attribute} names no command", source.path));
            }
        }
    }
    report(problems);
}

#[test]
fn the_readers_of_sources_see_what_they_should() {
    let text = "use crate::{a::b, c};\n// crate::no\nfn f() { super::super::d::g() }\n\
                #[cfg(test)]\nmod tests {\n    use crate::e;\n}\n#[cfg(test)]\nmod more;\n";
    let (code, modules) = without_tests(text);
    assert_eq!(modules, ["more"]);
    let source = |name_of_crate: &str, text: &str| Source {
        name_of_crate: name_of_crate.to_owned(),
        path: "x/y.rs".to_owned(),
        text: text.to_owned(),
        code: without_tests(text).0,
        is_test: false,
    };
    let named = |list: &[(usize, &str)]| -> Vec<(usize, String)> {
        list.iter().map(|(line, name)| (*line, (*name).to_owned())).collect()
    };
    assert_eq!(code.len(), 2);
    assert_eq!(source("karman", text).imports(), named(&[(1, "a"), (1, "c"), (3, "d")]));
    assert_eq!(source("karman", text).module(), "x");
    let text = "use karman_backend::blas;\nuse karman::{mesh::Mesh, heat};\nuse crate::a;\nx::karman_no::y();\n";
    let found = source("karman-linear", text);
    assert_eq!(found.imports(), named(&[(1, "backend"), (2, "mesh"), (2, "heat")]));
    assert_eq!(found.module(), "linear");
    let table = permissions(
        "| module or crate | may import |\n|---|---|\n| `a`, `b` | `c` |\n\n| `d` | |\n",
    );
    assert_eq!(table.len(), 2);
    assert!(table["b"].contains("c"));
}
