//! The documents: every command block is run, every spec is compiled, every link leads somewhere.
//!
//! A block that opens with a kind and a path (```` ```yaml specs/a.yaml ````) is a file of the document's project; a block that
//! opens with `console` is run there by trycmd. `TRYCMD=overwrite cargo test --test it docs` writes what the program says now.

use std::fs;
use std::path::{Path, PathBuf};

use kubebench_compiler::compile::{Input, Workspace};
use kubebench_compiler::lower::Unreadable;

use crate::support::judges;
use crate::support::project::{Folder, assert_yes, files_below as below};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubebench");

/// The project file of README.md, which shows none.
const README_PROJECT: &str = "\
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: ml-benchmarks}
spec:
  lints: {KB0425: \"off\"}
  targets:
    gpu-eu:
      cluster: eu-1
      namespace: ml-benchmarks
      queue: {kueue: ml}
      prices: {currency: EUR, nvidia.com/gpu: 2.10, cpu: 0.04}
";

/// The parts of the documentation.
const FOLDERS: [&str; 4] = ["docs/tutorial", "docs/how-to", "docs/reference", "docs/explanation"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents that readers start from, relative to the repository.
pub(super) fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "deploy/README.md"]
            .map(PathBuf::from)
            .to_vec();
    let pages =
        below(&repository().join("docs")).into_iter().filter(|page| page.extension().is_some_and(|end| end == "md"));
    found.extend(pages.map(|page| page.strip_prefix(repository()).unwrap().to_owned()));
    found.sort();
    found
}

pub(super) fn text_of(document: &Path) -> String {
    fs::read_to_string(repository().join(document)).unwrap_or_else(|error| panic!("{}: {error}", document.display()))
}

/// The blocks of a document: what follows the opening fence, and the text.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(info), None) => open = Some((info.to_owned(), String::new())),
            (None, Some((_, block))) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

/// The files that a document shows, by path.
fn files(document: &Path) -> Vec<(String, String)> {
    let named = |(info, text): (String, String)| info.split_once(' ').map(|(_, path)| (path.to_owned(), text));
    blocks(&text_of(document)).into_iter().filter_map(named).collect()
}

/// The projects: that of README.md, and that of the pages of each folder that shows a project file.
fn projects() -> Vec<(Vec<PathBuf>, Vec<(String, String)>)> {
    let mut readme = files(Path::new("README.md"));
    readme.push(("kubebench.yaml".to_owned(), README_PROJECT.to_owned()));
    let mut found = vec![(vec![PathBuf::from("README.md")], readme)];
    for folder in FOLDERS {
        let pages: Vec<PathBuf> =
            documents().into_iter().filter(|document| document.parent() == Some(Path::new(folder))).collect();
        let files: Vec<(String, String)> = pages.iter().flat_map(|page| files(page)).collect();
        if files.is_empty() {
            let lacking: Vec<_> = pages.iter().filter(|page| text_of(page).contains("\n```console\n")).collect();
            assert!(lacking.is_empty(), "{lacking:?}: commands need a project");
        } else {
            found.push((pages, files));
        }
    }
    assert!(found.len() > 3);
    found
}

/// The files of the project that the pages of a folder show.
fn project_of(folder: &str) -> Vec<(String, String)> {
    let is_in = |pages: &[PathBuf]| pages.iter().any(|page| page.parent() == Some(Path::new(folder)));
    projects().into_iter().find(|(pages, _)| is_in(pages)).unwrap().1
}

#[test]
fn every_spec_that_is_shown_compiles_without_a_finding() {
    for (_, files) in projects() {
        let input = |(path, text): &(String, String)| Input { path: path.clone(), bytes: text.clone().into_bytes() };
        let (specs, others): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| path.starts_with("specs/"));
        let project: Vec<_> = others.iter().filter(|(path, _)| path == "kubebench.yaml").collect();
        assert_eq!(project.len(), 1);
        assert!(!specs.is_empty());
        let workspace = Workspace::open(project.first().map(|file| input(file)), env!("CARGO_PKG_VERSION"));
        let carried = files.clone();
        let read = move |path: &str| {
            let file = carried.iter().find(|(found, _)| found == path);
            file.map(|(_, text)| text.clone().into_bytes()).ok_or(Unreadable::Absent { beside: Vec::new() })
        };
        let compilation = workspace.carrying(read).compile(specs.iter().map(|file| input(file)).collect());
        let findings: Vec<String> = compilation
            .diagnostics
            .iter()
            .map(|finding| format!("{} {}: {}", finding.code.id, finding.path(&compilation.sources), finding.message))
            .collect();
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

#[test]
fn every_command_says_what_is_shown() {
    for (documents, files) in projects() {
        let place = tempfile::tempdir().unwrap();
        let cases = trycmd::TestCases::new();
        cases.register_bin("kubebench", Path::new(PROGRAM)).env("NO_COLOR", "1");
        let mut copies = Vec::new();
        for document in documents {
            let text = text_of(&document);
            if !text.contains("\n```console\n") {
                continue;
            }
            let copy = place.path().join(document.file_name().unwrap());
            fs::write(&copy, text).unwrap();
            make_project(&copy.with_extension("in"), &files, document == Path::new("README.md"));
            cases.case(&copy);
            copies.push((copy, repository().join(document)));
        }
        assert!(!copies.is_empty());
        cases.run();
        if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
            for (copy, document) in copies.iter().filter(|(copy, document)| text_of(copy) != text_of(document)) {
                // Other tests read it meanwhile.
                let whole = document.with_extension("new");
                fs::copy(copy, &whole).unwrap();
                fs::rename(whole, document).unwrap();
            }
        }
    }
}

/// Makes a project whose tree is compiled and committed; with `outdated`, before `repeats` was raised to 5.
///
/// What is shown of suites and variants is left out: the blocks show the other benchmarks.
fn make_project(root: &Path, files: &[(String, String)], outdated: bool) {
    let is_apart = |path: &str| ["specs/nightly/", "specs/compared/"].iter().any(|folder| path.starts_with(folder));
    let files = files.iter().filter(|(path, _)| !is_apart(path));
    for (path, text) in files.clone() {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, if outdated { text.replace("repeats: 5", "repeats: 3") } else { text.clone() }).unwrap();
    }
    let output = std::process::Command::new(PROGRAM).arg("compile").current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let repository = git2::Repository::init(root).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["."], git2::IndexAddOption::DEFAULT, None).unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let author = git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(0, 0)).unwrap();
    repository.commit(Some("HEAD"), &author, &author, "Start", &tree, &[]).unwrap();
    for (path, text) in files {
        fs::write(root.join(path), text).unwrap();
    }
}

/// The spec that docs/reference/spec.md begins with reads what programs print, and a training that diverged does not count.
#[test]
fn the_spec_by_example_reads_whole_numbers() {
    let place = tempfile::tempdir().unwrap();
    make_project(place.path(), &project_of("docs/reference"), false);
    let parsed = |rates: &[&str], losses: &[&str]| -> serde_json::Value {
        let rates = rates.iter().map(|rate| format!("total images/sec: {rate}\n"));
        let losses = losses.iter().zip(1..).map(|(loss, step)| format!("step {step} loss {loss}\n"));
        fs::write(place.path().join("train.log"), rates.chain(losses).collect::<String>()).unwrap();
        let arguments = ["parse", "--spec", "specs/resnet50-ddp.yaml", "--output-format", "json", "train.log"];
        let output = std::process::Command::new(PROGRAM).args(arguments).current_dir(place.path()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let value = |answer: &serde_json::Value, name: &str| {
        let metrics = answer["metrics"].as_array().unwrap();
        let metric = metrics.iter().find(|metric| metric["name"] == name).unwrap().clone();
        (metric["value"].as_f64(), metric["nonFinite"].as_u64())
    };
    let warm = ["1"; 5];
    let answer = parsed(&[&warm[..], &["1,234.56"]].concat(), &["2.5,", "2.25", "nan", "nan"]);
    assert_eq!(value(&answer, "throughput"), (Some(1234.56), Some(0)));
    assert_eq!(value(&answer, "loss"), (None, Some(2)));
    assert_eq!(answer["valid"], false, "{answer:#}");
    let answer = parsed(&[&warm[..], &["1.2e+04"]].concat(), &["2.5", "1e-05."]);
    assert_eq!(value(&answer, "throughput"), (Some(12_000.0), Some(0)));
    assert_eq!(value(&answer, "loss"), (Some(1e-05), Some(0)));
    let answer = parsed(&[&warm[..], &["980"]].concat(), &["2.5", "-0.25,lr=1e-05"]);
    assert_eq!(value(&answer, "loss"), (Some(-0.25), Some(0)));
    assert!(!answer["reasons"].to_string().contains("finite"), "{answer:#}");
}

/// What CI systems, Argo CD and Flux read: their kinds fit their CRDs, and the commands in them do their work.
#[test]
fn what_others_read_in_the_documents_does_its_work() {
    let yaml = |text: &str| -> Vec<String> {
        blocks(text).into_iter().filter(|(info, _)| info == "yaml").map(|(_, text)| text).collect()
    };
    let only_block = |name: &str| {
        let found = yaml(&text_of(Path::new(&format!("docs/how-to/{name}.md"))));
        let [only] = &found[..] else { panic!("{name}: one file") };
        only.clone()
    };
    let [argo_cd, flux] = &["deploy-with-argo-cd", "deploy-with-flux"].map(only_block);
    for object in [argo_cd, flux] {
        let objects: Vec<serde_json::Value> = serde_yaml::from_multiple(object).unwrap();
        for object in objects {
            assert_eq!(judges::validate(&object), Vec::<String>::new());
        }
    }

    // What `tests/it/init` executes is what the pages show.
    for (name, arguments, file) in [
        ("gate-pull-requests-on-github", &["init"][..], ".github/workflows/kubebench.yml"),
        ("gate-merge-requests-on-gitlab", &["init", "--ci", "gitlab"], ".gitlab-ci.yml"),
    ] {
        let fresh = Folder::with::<&str, &str>([]);
        assert_yes(&fresh.run(arguments));
        let written = fs::read_to_string(fresh.path().join(file)).unwrap();
        let page = text_of(Path::new(&format!("docs/how-to/{name}.md")));
        let (_, rest) = page.split_once("```yaml\n").unwrap();
        let shown = rest.split("```").next().unwrap().lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let written = written.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        assert!(written.contains(shown.trim()), "`init` writes something else than {name}.md shows:\n{written}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = text_of(&document);
        for target in links(&text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = document.parent().unwrap();
            let linked = if path.is_empty() { document.clone() } else { folder.join(path) };
            let leads = repository().join(&linked).exists()
                && (anchor.is_empty() || anchors(&text_of(&linked)).iter().any(|is| is == anchor));
            if !leads {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The targets of the links in a page that lead into the repository, with their anchors.
pub(super) fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://"))
}

/// The anchors that GitHub gives to the headings of a page.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|character| character.is_alphanumeric() || matches!(character, '-' | '_')).collect()
}

/// The messages: one file a case in tests/cli, with its project in the folder of the same name.
#[cfg(unix)]
#[test]
fn every_case_of_the_command_line_says_what_is_written() {
    trycmd::TestCases::new()
        .register_bin("kubebench", Path::new(PROGRAM))
        .register_bin("sh", Path::new("/bin/sh"))
        .env("NO_COLOR", "1")
        .case("tests/cli/*.trycmd")
        .run();
}
