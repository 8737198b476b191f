//! `kubebench init`: what it writes, executed as CI systems execute it, and what it does the second time.

mod again;
mod download;
mod entries;
mod first_day;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::record::run as git;
use crate::support::project::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubebench");
const CHANGED: &str = "steps.changes.outputs.changed == 'true'";
const INSTALLED: &str = "${{ !cancelled() && steps.install.outcome == 'success' }}";
const INSTALL: &str = "install kubebench";

/// Where the program of a workflow comes from.
#[derive(Clone, Copy)]
enum Program<'a> {
    /// It is installed already.
    OnPath,
    /// It is downloaded from this address, with these programs before all others.
    From(&'a str, &'a Path),
}

/// A step that was executed.
#[derive(Debug)]
struct Step {
    name: String,
    status: Option<i32>,
    output: String,
}

/// Executes the workflow at `path` of the checkout `top` for a change since `since`, which is empty for a push.
fn on_github(top: &Path, path: &str, since: &str, program: Program<'_>) -> Vec<Step> {
    let scratch = tempfile::tempdir().unwrap();
    on_github_in(scratch.path(), top, path, since, program)
}

/// The same with the files of the runner in `scratch`.
fn on_github_in(scratch: &Path, top: &Path, path: &str, since: &str, program: Program<'_>) -> Vec<Step> {
    let workflow: Value = serde_yaml::from_str(&fs::read_to_string(top.join(path)).unwrap()).unwrap();
    let job = &workflow["jobs"]["check"];
    let place = |name: &str| scratch.join(name);
    let mut variables = literal(&workflow["env"]);
    variables.insert("SINCE".to_owned(), since.to_owned());
    let mut search = std::env::var("PATH").unwrap();
    match program {
        Program::OnPath => search = format!("{}:{search}", Path::new(PROGRAM).parent().unwrap().display()),
        Program::From(address, programs) => {
            search = format!("{}:{search}", programs.display());
            variables.insert("KUBEBENCH_DOWNLOADS".to_owned(), address.to_owned());
        }
    }
    let folder = top.join(workflow["defaults"]["run"]["working-directory"].as_str().unwrap_or("."));
    let mut executed: Vec<Step> = Vec::new();
    let mut is_installed = false;
    for step in job["steps"].as_array().unwrap() {
        let Some(script) = step["run"].as_str() else {
            assert!(step["uses"].as_str().unwrap().starts_with("actions/checkout@"));
            continue;
        };
        assert!(!script.contains("${{"), "text of others in a script: {script}");
        let name = step["name"].as_str().unwrap().to_owned();
        let changed =
            fs::read_to_string(place("output")).is_ok_and(|text| text.lines().any(|line| line == "changed=true"));
        let has_failed = executed.iter().any(|step| step.status != Some(0));
        let is_due = match step["if"].as_str() {
            None => !has_failed,
            Some(CHANGED) => changed && !has_failed,
            Some(INSTALLED) => is_installed,
            Some(other) => panic!("{other}"),
        };
        if !is_due {
            continue;
        }
        if name == INSTALL && matches!(program, Program::OnPath) {
            is_installed = true;
            continue;
        }
        fs::write(place("script"), script).unwrap();
        let added = fs::read_to_string(place("path")).unwrap_or_default();
        let search = added.lines().fold(search.clone(), |search, folder| format!("{folder}:{search}"));
        let mut command = Command::new("bash");
        command.arg("-e").arg(place("script")).current_dir(&folder).envs(&variables).envs(literal(&step["env"]));
        command.env("PATH", search).env("GITHUB_OUTPUT", place("output")).env("GITHUB_PATH", place("path"));
        command.env("TMPDIR", scratch).env("GITHUB_STEP_SUMMARY", place("summary"));
        let step = step_of(name, &command.output().unwrap());
        is_installed |= step.name == INSTALL && step.status == Some(0);
        executed.push(step);
    }
    executed
}

/// Executes the job at `path` of the checkout `top` for a change since `since`.
fn on_gitlab(top: &Path, path: &str, since: &str, address: &str) -> Step {
    let file: Value = serde_yaml::from_str(&fs::read_to_string(top.join(path)).unwrap()).unwrap();
    let jobs: Vec<(&String, &Value)> = file.as_object().unwrap().iter().collect();
    let [(name, job)] = jobs[..] else { panic!("one job") };
    let [script] = &job["script"].as_array().unwrap()[..] else { panic!("one script") };
    let scratch = tempfile::tempdir().unwrap();
    let mut command = Command::new("bash");
    command.args(["-eo", "pipefail", "-c", script.as_str().unwrap()]).current_dir(top);
    command.envs(literal(&job["variables"])).env("SINCE", since).env("KUBEBENCH_DOWNLOADS", address);
    command.env("CI_PROJECT_DIR", top).env("TMPDIR", scratch.path());
    step_of(name.clone(), &command.output().unwrap())
}

fn step_of(name: String, output: &Output) -> Step {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    Step { name, status: output.status.code(), output: String::from_utf8(text).unwrap() }
}

/// The variables whose text is not computed.
fn literal(variables: &Value) -> BTreeMap<String, String> {
    let none = serde_json::Map::new();
    let all = variables.as_object().unwrap_or(&none).iter();
    let text = |value: &Value| value["value"].as_str().or(value.as_str()).unwrap().to_owned();
    all.map(|(name, value)| (name.clone(), text(value))).filter(|(_, text)| !text.contains("${{")).collect()
}

/// The names and statuses of steps.
fn short(steps: &[Step]) -> Vec<(&str, Option<i32>)> {
    steps.iter().map(|step| (step.name.as_str(), step.status)).collect()
}

/// A remote, and a clone of it on the branch `main`, which has one commit.
struct Site {
    folder: Folder,
}

impl Site {
    fn new() -> Self {
        let folder = Folder::with([("clone/README.md", "code\n")]);
        git(folder.path(), &["init", "--quiet", "--bare", "remote.git"]);
        let site = Self { folder };
        git(&site.clone(), &["init", "--quiet", "-b", "main"]);
        git(&site.clone(), &["remote", "add", "origin", "../remote.git"]);
        site.commit("Begin");
        site.publish();
        site
    }

    fn clone(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    fn write(&self, path: &str, text: &str) {
        self.folder.write(&format!("clone/{path}"), text);
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.clone().join(path)).unwrap()
    }

    /// Runs the program in a folder of the clone; returns its status and all that it said.
    fn said(&self, folder: &str, arguments: &[&str]) -> (Option<i32>, String) {
        fs::create_dir_all(self.clone().join(folder)).unwrap();
        let mut command = self.folder.command(arguments);
        let step = step_of(String::new(), &command.current_dir(self.clone().join(folder)).output().unwrap());
        (step.status, step.output)
    }

    #[track_caller]
    fn init(&self, folder: &str, arguments: &[&str]) -> String {
        let (status, text) = self.said(folder, &[&["init"], arguments].concat());
        assert_eq!(status, Some(0), "{text}");
        text
    }

    fn commit(&self, message: &str) {
        git(&self.clone(), &["add", "-A"]);
        git(&self.clone(), &["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Makes the checked-out commit that of `origin/main`.
    fn publish(&self) {
        git(&self.clone(), &["push", "--quiet", "origin", "HEAD:main"]);
    }
}

/// A folder with a program in it.
fn script_in(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}
