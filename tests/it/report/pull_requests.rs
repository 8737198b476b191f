//! What `.github/` and docs/how-to/gate-pull-requests-on-github.md give people: actions that do their work, are pinned, and put nothing of a stranger into a shell.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use kubebench_testing::snapshot::{assert_file, assert_line, str};
use serde_json::Value as Json;

use crate::support::project::{Folder, files_below, relative, repository};

const PAGE: &str = "docs/how-to/gate-pull-requests-on-github.md";
/// The page that shows a comment.
const COMMENT_PAGE: &str = "docs/reference/gate.md";
const MARK: &str = "<!-- kubebench gate . kubebench-examples -->";

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

/// Every file of GitHub's, here and in the page, by name.
fn workflows() -> Vec<(String, String)> {
    let files = files_below(&repository().join(".github"));
    let names = files.iter().map(|file| relative(repository(), file));
    let mut all: Vec<(String, String)> = names
        .filter(|name| name.ends_with(".yml"))
        .map(|name| (format!(".github/{}", name.trim_start_matches(".github/")), read(&name)))
        .collect();
    let page = read(PAGE);
    let blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    all.extend(blocks.filter(|block| block.starts_with("# .github/")).map(|block| (PAGE.to_owned(), block)));
    all
}

/// Every mapping in `value`.
fn mappings<'a>(value: &'a Json, found: &mut Vec<&'a serde_json::Map<String, Json>>) {
    match value {
        Json::Object(object) => {
            found.push(object);
            object.values().for_each(|value| mappings(value, found));
        }
        Json::Array(items) => items.iter().for_each(|item| mappings(item, found)),
        _ => {}
    }
}

#[test]
fn workflows_are_read_pinned_and_take_nothing_into_a_shell() {
    let all = workflows();
    assert!(all.iter().filter(|(name, _)| name == PAGE).count() == 2 && all.len() >= 6, "{all:?}");
    let mut wrong = Vec::new();
    for (name, text) in &all {
        let object: Json = serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = Vec::new();
        mappings(&object, &mut found);
        for step in found {
            if let Some(run) = step.get("run").and_then(Json::as_str) {
                wrong.extend(run.contains("${{").then(|| format!("{name}: an expression in a shell: {run}")));
            }
            if let Some(uses) = step.get("uses").and_then(Json::as_str) {
                let pin = uses.split_once('@').map_or("", |(_, pin)| pin);
                let is_pinned = pin.len() == 40 && pin.chars().all(|digit| digit.is_ascii_hexdigit());
                wrong.extend((!is_pinned && !uses.starts_with("./")).then(|| format!("{name}: {uses} is not pinned")));
            }
        }
        if object.get("jobs").is_some() {
            wrong.extend(
                (object["permissions"] != serde_json::json!({})).then(|| format!("{name} has rights by default")),
            );
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let write: Vec<&String> = all.iter().filter(|(_, text)| text.contains(": write\n")).map(|(name, _)| name).collect();
    assert_eq!(write, [".github/workflows/release.yml", PAGE], "only what releases and what comments may write");
}

/// This repository's own series, as a project.
fn wordpiece() -> Folder {
    let root = repository();
    let folder = Folder::with::<&str, &str>([]);
    for place in ["kubebench.yaml", "specs/wordpiece.yaml", "scripts/wordpiece.py"] {
        folder.write(place, fs::read(root.join(place)).unwrap());
    }
    for file in files_below(&root.join("results/wordpiece")) {
        folder.write(
            &format!("results/wordpiece/{}", relative(&root.join("results/wordpiece"), &file)),
            fs::read(&file).unwrap(),
        );
    }
    folder
}

/// Runs a script of `.github/actions` with what is in `programs` before everything else.
fn script(folder: &Folder, path: &str, programs: &Path, environment: &[(&str, &str)]) -> Output {
    let path_of = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg(repository().join(path)).current_dir(folder.path()).env("PATH", path_of);
    command.env("XDG_CACHE_HOME", folder.path().join(".cache")).envs(environment.iter().copied()).output().unwrap()
}

fn program(folder: &Folder, name: &str, text: &str) -> std::path::PathBuf {
    folder.write(&format!("bin/{name}"), text);
    let place = folder.path().join("bin");
    fs::set_permissions(place.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    place
}

#[test]
fn the_comment_in_the_page_is_the_one_that_is_written() {
    let folder = wordpiece();
    assert!(folder.run(&["compile"]).status.success());
    let programs =
        program(&folder, "kubebench", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_kubebench")));
    // Without a history of commits, all of it was there before.
    let environment = [("OUT", "out"), ("NUMBER", "7"), ("GITHUB_STEP_SUMMARY", "summary.md"), ("ONLY_NEW", "false")];
    let output = script(&folder, ".github/actions/judge/judge.sh", &programs, &environment);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("::error file=specs/wordpiece.yaml"));
    let made = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let comment = made("out/comment.md");
    assert_eq!((made("summary.md"), made("out/number").as_str()), (comment.clone(), "7\n"));
    // The commits of the series are not of this folder.
    let comment = comment.replace("\nThis is not a git repository, so all earlier sessions are the baseline\n", "");
    let page = read(COMMENT_PAGE);
    let (before, rest) = page.split_once("````markdown\n").unwrap();
    let (_, after) = rest.split_once("````").unwrap();
    assert_file(&repository().join(COMMENT_PAGE), &format!("{before}````markdown\n{comment}````{after}"));
    let readme = read("README.md");
    let quoted: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    assert!(quoted.len() > 4 && quoted.iter().all(|line| comment.lines().any(|is| is == *line)), "{quoted:#?}");
    // Side by side, and no word of an input is one of the shell.
    let hostile = [("BASELINE", "$(touch taken)"), ("CANDIDATE", "`touch taken`"), ("RESULTS", "results")];
    let output =
        script(&folder, ".github/actions/judge/judge.sh", &programs, &[&environment[..], &hostile[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.path().join("taken").exists());
    let sides = [("BASELINE", "variant:none"), ("CANDIDATE", "env:cpu")];
    script(&folder, ".github/actions/judge/judge.sh", &programs, &[&environment[..], &sides[..]].concat());
    assert!(made("out/comment.md").contains("<!-- kubebench compare . kubebench-examples -->"));
    // A tree that is not as the specs say, and no answer of the gate.
    folder.write("specs/wordpiece.yaml", "kind: nonsense\n");
    let output = script(&folder, ".github/actions/judge/judge.sh", &programs, &environment);
    assert_ne!(output.status.code(), Some(0));
    assert!(made("out/comment.md").starts_with(MARK));
    assert_line(made("out/comment.md"), str! {"### ❌ Kubebench gate gives no answer"});
    assert_line(
        made("out/comment.md"),
        str! {"**`kubebench compile --check` fails**: the annotations and the log of the job say why, and what to do."},
    );
}

/// A `kubebench` that keeps what it is asked, and what git is given for it.
const ASKED: &str = r#"#!/bin/sh
echo "$*" >>asked
echo "$1 $GIT_CONFIG_KEY_0=$GIT_CONFIG_VALUE_0 $GIT_CONFIG_KEY_1=$GIT_CONFIG_VALUE_1 $TOKEN" >>given
"#;

#[test]
fn the_branch_of_results_is_fetched_with_a_token_that_only_git_has() {
    let folder = Folder::with::<&str, &str>([]);
    let programs = program(&folder, "kubebench", ASKED);
    let asked = |environment: &[(&str, &str)]| {
        drop(fs::remove_file(folder.path().join("asked")));
        let always = [("OUT", "out"), ("TOKEN", "s3cret"), ("GITHUB_SERVER_URL", "https://github.example")];
        script(&folder, ".github/actions/judge/judge.sh", &programs, &[&always[..], environment].concat());
        let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
        assert!(!asked.contains("s3cret"), "{asked}");
        asked.lines().find(|line| line.starts_with("gate ")).unwrap().to_owned()
    };
    let gate = "--output-format github --markdown out/gate.md --on-missing=fail";
    assert_eq!(asked(&[]), format!("gate {gate} --only-new --fetch"));
    assert_eq!(asked(&[("RESULTS", "recorded:a/b")]), format!("gate --results=recorded:a/b {gate} --only-new --fetch"));
    let named = [("RESULTS", "../results"), ("ON_INCONCLUSIVE", "pass"), ("ONLY_NEW", "false")];
    assert_eq!(asked(&named), format!("gate --results=../results {gate} --on-inconclusive=pass"));
    let change = [("SINCE", "refs/remotes/origin/$(touch x)")];
    let since = "--since=refs/remotes/origin/$(touch x) --on-weakened=pass";
    assert_eq!(asked(&change), format!("gate {gate} --only-new --fetch {since}"));
    let all = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(all.contains(&format!("compile --check {since} --output-format github")), "{all}");
    assert!(all.contains("plan --since=refs/remotes/origin/$(touch x) --markdown=out/plan.md\n"), "{all}");
    asked(&[change[0], ("FAIL_ON", "warning")]);
    let all = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(all.contains("--markdown=out/plan.md --fail-on=warning\n"), "{all}");
    let given = fs::read_to_string(folder.path().join("given")).unwrap();
    let header = "http.https://github.example/.extraheader";
    let basic = "eC1hY2Nlc3MtdG9rZW46czNjcmV0";
    let of_gate: Vec<&str> = given.lines().filter(|line| line.starts_with("gate ")).collect();
    assert_eq!(of_gate, vec![format!("gate {header}= {header}=AUTHORIZATION: basic {basic} "); 5]);
}

#[test]
fn the_program_is_built_or_of_the_cache_and_no_other() {
    let action = serde_yaml::from_str::<Json>(&read(".github/actions/judge/action.yml")).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    let command = |name: &str| {
        let step = steps.iter().find(|step| step["name"].as_str().is_some_and(|own| own.starts_with(name)));
        step.unwrap()["run"].as_str().unwrap().to_owned()
    };
    let folder = Folder::with(
        [
            "src/main.rs",
            "crates/a/lib.rs",
            "catalog/fio/benchmark.yaml",
            "docs/catalog/fio.md",
            "docs/codes/KB0001.md",
            "Cargo.lock",
            "Cargo.toml",
            "rust-toolchain.toml",
        ]
        .map(|file| (format!("source/{file}"), "")),
    );
    let says = |who: &str| format!("#!/bin/sh\necho {who} >>said\n");
    // Installs a program that says what it is, next to programs of that name that somebody else left.
    folder.write(
        "cargo/cargo",
        "#!/bin/sh\nfor root; do :; done\nmkdir -p \"$root/bin\" && cp ../built \"$root/bin/kubebench\"\n",
    );
    folder.write("built", says("built"));
    for planted in ["home/.kubebench/bin/kubebench", "home/.cargo/bin/kubebench"] {
        folder.write(planted, says("planted"));
    }
    for program in ["cargo/cargo", "built", "home/.kubebench/bin/kubebench", "home/.cargo/bin/kubebench"] {
        fs::set_permissions(folder.path().join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let place = |path: &str| folder.path().join(path).to_str().unwrap().to_owned();
    let run = |text: &str, environment: &[(&str, &str)]| {
        let path_of = format!("{}:{}:{}", place("cargo"), place("home/.cargo/bin"), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.args(["-e", "-o", "pipefail", "-c", text]).current_dir(folder.path()).env("PATH", path_of);
        let always = [("HOME", place("home")), ("RUNNER_TEMP", place("temp")), ("GITHUB_OUTPUT", place("output"))];
        command.envs(always).env("SOURCE", place("source")).env("OUT", place("out"));
        command.envs(environment.iter().copied()).output().unwrap()
    };
    let succeeds = |text: &str, environment: &[(&str, &str)]| {
        let output = run(text, environment);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    succeeds(&command("what the program"), &[]);
    let output = fs::read_to_string(folder.path().join("output")).unwrap();
    let at = output.lines().find_map(|line| line.strip_prefix("place=")).unwrap().to_owned();
    // What is left there is gone when the next job begins.
    fs::create_dir_all(format!("{at}/bin")).unwrap();
    fs::write(format!("{at}/bin/kubebench"), says("planted")).unwrap();
    succeeds(&command("what the program"), &[]);
    assert!(!Path::new(&at).exists());
    let there = [("PLACE", at.as_str())];
    succeeds(&command("build kubebench"), &there);
    succeeds(&command("verify kubebench"), &there);
    let action = repository().join(".github/actions/judge");
    run(&command("check the tree"), &[("PLACE", &at), ("ACTION", action.to_str().unwrap())]);
    let said = fs::read_to_string(folder.path().join("said")).unwrap();
    assert!(said.contains("built") && !said.contains("planted"), "{said}");
    // A program that is not the one that was built is not used.
    fs::write(format!("{at}/bin/kubebench"), says("planted")).unwrap();
    assert!(!run(&command("verify kubebench"), &there).status.success());
    fs::remove_file(format!("{at}/bin/kubebench.sha256")).unwrap();
    assert!(!run(&command("verify kubebench"), &there).status.success());
}

/// A `gh` that knows one pull request, whose newest commit is `abc`, and keeps what it was asked.
const GH: &str = r#"#!/bin/sh
echo "$*" >>asked
case "$*" in
  "run download 5 --repo o/r --pattern kubebench-comment-* --dir found") mkdir found && cp -r artifact found/kubebench-comment-1 ;;
  *"repos/o/r/pulls/"*) echo abc ;;
  *"--paginate"*) cat comments ;;
  *"--field body=@found/kubebench-comment-1/body.md"*) cp found/kubebench-comment-1/body.md written ;;
  *) exit 9 ;;
esac
"#;

#[test]
fn one_comment_is_written_and_updated_and_nothing_else() {
    let folder = Folder::with::<&str, &str>([]);
    let programs = program(&folder, "gh", GH);
    let run = |comment: &str, number: &str, head: &str, comments: &str| {
        for old in ["found", "written", "asked"] {
            let old = folder.path().join(old);
            let _ = if old.is_dir() { fs::remove_dir_all(old) } else { fs::remove_file(old) };
        }
        folder.write("artifact/comment.md", comment);
        folder.write("artifact/number", number);
        folder.write("comments", comments);
        let environment = [("REPOSITORY", "o/r"), ("RUN", "5"), ("HEAD", head), ("FOUND", "found")];
        let output = script(&folder, ".github/actions/comment/comment.sh", &programs, &environment);
        let text = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap_or_default();
        (output.status.code().unwrap(), text("asked").lines().last().unwrap_or_default().to_owned(), text("written"))
    };
    let sound = format!("{MARK}\n### passed\n@ada $(touch taken)\n");
    let (status, asked, written) = run(&sound, "7\n", "abc", "");
    assert_eq!(status, 0, "{asked}");
    assert!(asked.starts_with("api --method POST repos/o/r/issues/7/comments "), "{asked}");
    assert!(written.starts_with(MARK) && written.contains("&#64;ada") && !written.contains('@'), "{written}");
    let (_, _, written) = run(&format!("{MARK}\n@@@a `b@sha256:1` (@c) _@d ;@e\n"), "7\n", "abc", "");
    assert!(written.contains("b@sha256:1") && written.matches('@').count() == 1, "{written}");
    let (_, asked, _) = run(&sound, "7\n", "abc", "31\n32\n");
    assert!(asked.starts_with("api --method PATCH repos/o/r/issues/comments/31 "), "{asked}");
    for (comment, number, head, status) in [
        (sound.as_str(), "7\n", "other", 0),
        (&sound, "7/../../x\n", "abc", 1),
        (&sound, "", "abc", 1),
        ("### passed\n", "7\n", "abc", 1),
        ("<!-- kubebench gate -->\n", "7\n", "abc", 1),
        ("<!-- kubebench gate a\" -->\n", "7\n", "abc", 1),
        ("<!-- kubebench gate a b c -->\n", "7\n", "abc", 1),
        ("<!-- kubebench gate a --> -->\n", "7\n", "abc", 1),
    ] {
        let (found, _, written) = run(comment, number, head, "");
        assert_eq!((found, written.as_str()), (status, ""), "{comment:?} {number:?} {head}");
    }
    let (status, _, written) = run(&format!("{sound}{}", "ö".repeat(50_000)), "7\n", "abc", "");
    assert!(status == 0 && written.len() < 65_536, "{}", written.len());
    assert_line(&written, str! {"The rest is in the summary of the run."});
    assert!(!folder.path().join("taken").exists());
}

/// A `gh` that knows two projects of one run, and has a comment of the first one.
const TWO: &str = r#"#!/bin/sh
echo "$*" >>asked
case "$*" in
  "run download "*) mkdir found && cp -r one found/kubebench-comment-1 && cp -r two found/kubebench-comment-2 ;;
  *"repos/o/r/pulls/"*) echo abc ;;
  *"--paginate"*"kubebench gate perf/net "*) echo 31 ;;
  *"--paginate"*) ;;
  *"--method"*) ;;
  *) exit 9 ;;
esac
"#;

#[test]
fn two_projects_of_one_repository_have_comments_of_their_own() {
    let folder = Folder::with::<&str, &str>([]);
    let programs = program(&folder, "gh", TWO);
    for (project, mark) in [("one", "perf/net net"), ("two", "perf/gpu gpu")] {
        folder.write(&format!("{project}/comment.md"), format!("<!-- kubebench gate {mark} -->\n### passed\n"));
        folder.write(&format!("{project}/number"), "7\n");
    }
    let environment = [("REPOSITORY", "o/r"), ("RUN", "5"), ("HEAD", "abc"), ("FOUND", "found")];
    let output = script(&folder, ".github/actions/comment/comment.sh", &programs, &environment);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    let written: Vec<&str> = asked.lines().filter(|line| line.contains("--method")).collect();
    let [patched, posted] = written.as_slice() else { panic!("{asked}") };
    assert!(
        patched.contains("PATCH repos/o/r/issues/comments/31 ") && patched.contains("kubebench-comment-1"),
        "{asked}"
    );
    assert!(posted.contains("POST repos/o/r/issues/7/comments ") && posted.contains("kubebench-comment-2"), "{asked}");
    // One that is none keeps no other from being written.
    fs::remove_dir_all(folder.path().join("found")).unwrap();
    folder.remove("asked");
    folder.write("one/comment.md", "### passed\n");
    let output = script(&folder, ".github/actions/comment/comment.sh", &programs, &environment);
    assert_eq!(output.status.code(), Some(1));
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert_eq!(asked.lines().filter(|line| line.contains("--method")).count(), 1, "{asked}");
}

/// The first line of a comment is the same whether the program or the script writes it, and each folder has an artifact of its own.
#[test]
fn a_folder_has_one_mark_and_one_artifact() {
    let mut artifacts = Vec::new();
    for folder_of_project in [".", "perf/net", "a-->b", "x y", "\u{f6}--", "$(touch taken)"] {
        let folder = Folder::with::<&str, &str>([]);
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
        for command in [&["init", "-q", "-b", "main"][..], &["commit", "-q", "--allow-empty", "-m", "first"]] {
            let git = Command::new("git").args(identity).args(command).current_dir(folder.path()).status().unwrap();
            assert!(git.success());
        }
        let place = |file: &str| format!("{folder_of_project}/{file}");
        folder.write(
            &place("kubebench.yaml"),
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {}\n",
        );
        folder.write(&place("specs/x.yaml"), "kind: nonsense\n");
        let programs = program(&folder, "kubebench", "#!/bin/sh\nexit 2\n");
        let path_of = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.arg(repository().join(".github/actions/judge/judge.sh")).env("PATH", path_of);
        command.current_dir(folder.path().join(folder_of_project)).env("OUT", "out").env("GITHUB_OUTPUT", "output");
        assert_eq!(command.output().unwrap().status.code(), Some(2));
        let made = |file: &str| fs::read_to_string(folder.path().join(place(file))).unwrap();
        let by_script = made("out/comment.md").lines().next().unwrap().to_owned();
        folder.run(&["-C", folder_of_project, "gate", "--markdown", "own.md"]);
        let by_program = fs::read_to_string(folder.path().join(place("own.md"))).unwrap();
        let by_program = by_program.lines().next().unwrap();
        assert_eq!(by_program.replace(" p -->", " -->"), by_script, "{folder_of_project}");
        artifacts.push(made("output"));
        assert!(!folder.path().join(place("taken")).exists());
    }
    let count = artifacts.len();
    artifacts.sort();
    artifacts.dedup();
    assert_eq!(artifacts.len(), count);
}
