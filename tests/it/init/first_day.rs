//! A new project is green, wherever it is in its repository, and the check is red for what it is about.

use std::path::Path;

use super::{Program, Site, git, on_github, short};
use crate::support::project::Folder;

const UNCHANGED: &str = "end here if nothing of the project changed";
const COMPILE: &str = "compare generated/ with the specs";
const PLAN: &str = "show what the change starts";
const GATE: &str = "evaluate the gates";
const MAIN: &str = "refs/remotes/origin/main";

#[track_caller]
fn assert_green(top: &Path, path: &str, since: &str) {
    let steps = on_github(top, path, since, Program::OnPath);
    let expected = [(UNCHANGED, Some(0)), (COMPILE, Some(0)), (PLAN, Some(0)), (GATE, Some(0))];
    assert_eq!(short(&steps), expected, "{steps:#?}");
    assert!(steps[3].output.contains("gated series has "), "{steps:#?}");
}

/// The folder of a project and the file of its workflow.
const PLACES: [(&str, &str); 3] = [
    ("", ".github/workflows/kubebench.yml"),
    ("ml/bän ch", ".github/workflows/kubebench-ml-bän-ch.yml"),
    ("it's ${{ github.token }} $(id)", ".github/workflows/kubebench-it-s-github-token-id.yml"),
];

#[test]
fn a_new_project_is_green_in_every_folder() {
    for (folder, workflow) in PLACES {
        let site = Site::new();
        site.init(folder, &[]);
        site.commit("Add benchmarks");
        assert_eq!(git(&site.clone(), &["status", "--porcelain"]), "");
        // GitHub evaluates expressions in this text, and gets the name.
        let text = site.read(workflow);
        site.write(workflow, &text.replace("${{ ''${{'' }}", "${{"));
        assert_green(&site.clone(), workflow, MAIN);
        assert_green(&site.clone(), workflow, "");
        let (status, text) = site.said(folder, &["fmt", "--check"]);
        assert_eq!(status, Some(0), "{text}");
    }
}

#[test]
fn a_new_project_is_green_in_a_worktree_and_in_a_submodule() {
    let site = Site::new();
    git(&site.clone(), &["worktree", "add", "--quiet", "-b", "benchmarks", "../tree"]);
    git(site.folder.path(), &["init", "--quiet", "-b", "main", "above"]);
    let above = site.folder.path().join("above");
    git(&above, &["submodule", "--quiet", "add", "../remote.git", "part"]);
    for top in [site.folder.path().join("tree"), above.join("part")] {
        let mut command = site.folder.command(&["-C", top.join("perf").to_str().unwrap(), "init"]);
        std::fs::create_dir(top.join("perf")).unwrap();
        assert!(command.output().unwrap().status.success());
        git(&top, &["add", "-A"]);
        git(&top, &["commit", "--quiet", "-m", "Add benchmarks"]);
        let workflow = ".github/workflows/kubebench-perf.yml";
        let text = std::fs::read_to_string(top.join(workflow)).unwrap();
        assert!(text.contains("\n    branches: [main]\n"), "{text}");
        assert_green(&top, workflow, MAIN);
    }
    assert!(!above.join(".github").exists());
}

#[test]
fn outside_of_git_the_files_are_for_a_repository_that_begins_there() {
    let folder = Folder::with::<&str, &str>([]);
    let output = folder.run(&["init"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("note: this folder is not in a git repository"));
    git(folder.path(), &["init", "--quiet", "-b", "main"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "--quiet", "-m", "Begin"]);
    let output = folder.run(&["gate"]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("nothing to evaluate"), "{output:?}");
    git(folder.path(), &["clone", "--quiet", "--bare", ".", "remote.git"]);
    git(folder.path(), &["remote", "add", "origin", "remote.git"]);
    assert_green(folder.path(), ".github/workflows/kubebench.yml", "");
}

#[test]
fn the_default_branch_is_that_of_the_remote() {
    for (prepare, branch) in [
        (&[][..], "main"),
        (&[&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"][..]], "trunk"),
    ] {
        let site = Site::new();
        git(&site.clone(), &["push", "--quiet", "origin", "HEAD:trunk"]);
        git(&site.clone(), &["switch", "--quiet", "-c", "add-benchmarks"]);
        for arguments in prepare {
            git(&site.clone(), arguments);
        }
        site.init("", &[]);
        assert!(site.read(".github/workflows/kubebench.yml").contains(&format!("\n    branches: [{branch}]\n")));
    }
    let folder = Folder::with::<&str, &str>([]);
    git(folder.path(), &["init", "--quiet", "-b", "c++"]);
    assert!(folder.run(&["init"]).status.success());
    let text = std::fs::read_to_string(folder.path().join(".github/workflows/kubebench.yml")).unwrap();
    assert!(text.contains("\n    branches: ['c\\+\\+']\n"), "{text}");
}

#[test]
fn a_change_elsewhere_ends_at_the_first_step() {
    let site = Site::new();
    let workflow = ".github/workflows/kubebench-perf.yml";
    site.init("perf", &[]);
    site.commit("Add benchmarks");
    site.publish();
    git(&site.clone(), &["switch", "--quiet", "-c", "code"]);
    site.write("performance.txt", "another folder\n");
    site.commit("Change code");
    let steps = on_github(&site.clone(), workflow, MAIN, Program::OnPath);
    assert_eq!(short(&steps), [(UNCHANGED, Some(0))], "{steps:#?}");
    let all = on_github(&site.clone(), workflow, "", Program::OnPath);
    assert_eq!(all.len(), 4, "a push is checked as a whole: {all:#?}");
    let unknown = on_github(&site.clone(), workflow, "refs/remotes/origin/unknown", Program::OnPath);
    assert_eq!(short(&unknown)[..2], [(UNCHANGED, Some(0)), (COMPILE, Some(2))], "{unknown:#?}");
    for (path, text) in [(workflow, "# a comment\n"), ("perf/README.md", "documented\n")] {
        site.write(path, &[&std::fs::read_to_string(site.clone().join(path)).unwrap_or_default(), text].concat());
        site.commit("Change the project");
        assert_green(&site.clone(), workflow, MAIN);
        git(&site.clone(), &["reset", "--quiet", "--hard", "HEAD~1"]);
    }
}

#[test]
fn a_change_that_adds_a_benchmark_is_green_once_it_is_compiled() {
    let site = Site::new();
    let workflow = ".github/workflows/kubebench-perf.yml";
    site.init("perf", &[]);
    site.commit("Add benchmarks");
    site.publish();
    git(&site.clone(), &["switch", "--quiet", "-c", "second"]);
    assert_eq!(site.said("perf", &["new", "job", "second"]).0, Some(0));
    site.commit("Add a benchmark");
    let steps = on_github(&site.clone(), workflow, MAIN, Program::OnPath);
    // Whoever reviews it sees the plan and the gates too.
    let expected = [(UNCHANGED, Some(0)), (COMPILE, Some(1)), (PLAN, Some(0)), (GATE, Some(0))];
    assert_eq!(short(&steps), expected, "{steps:#?}");
    assert!(steps[1].output.contains("::error file=perf/specs/second.yaml,"), "{steps:#?}");
    assert_eq!(site.said("perf", &["compile"]).0, Some(0));
    site.commit("Compile");
    assert_green(&site.clone(), workflow, MAIN);
}

/// Each change passes, git merges them, and only the default branch shows that they do not fit.
#[test]
fn two_green_changes_that_do_not_fit_are_red_on_the_default_branch() {
    let site = Site::new();
    let workflow = ".github/workflows/kubebench.yml";
    site.init("", &[]);
    site.commit("Add benchmarks");
    site.publish();
    git(&site.clone(), &["switch", "--quiet", "-c", "selector"]);
    let project = site.read("kubebench.yaml");
    site.write("kubebench.yaml", &(project + "      nodeSelector: {disk: fast}\n"));
    assert_eq!(site.said("", &["compile"]).0, Some(0));
    site.commit("Select nodes");
    assert_green(&site.clone(), workflow, MAIN);
    git(&site.clone(), &["switch", "--quiet", "-c", "third", MAIN]);
    assert_eq!(site.said("", &["new", "job", "third"]).0, Some(0));
    assert_eq!(site.said("", &["compile"]).0, Some(0));
    site.commit("Add a benchmark");
    assert_green(&site.clone(), workflow, MAIN);
    git(&site.clone(), &["merge", "--quiet", "-m", "Merge", "selector"]);
    let steps = on_github(&site.clone(), workflow, "", Program::OnPath);
    assert_eq!(short(&steps)[..2], [(UNCHANGED, Some(0)), (COMPILE, Some(1))], "{steps:#?}");
    let text: serde_json::Value = serde_yaml::from_str(&site.read(workflow)).unwrap();
    assert_eq!(text["on"]["push"]["branches"], serde_json::json!(["main"]));
    assert!(text["on"].as_object().unwrap().contains_key("merge_group"));
    assert_eq!(text["permissions"], serde_json::json!({"contents": "read"}));
}

/// The job that comments has a token that can write: it has the plan as a text, and nothing else of the pull request.
#[test]
fn the_plan_becomes_one_comment_and_a_token_that_only_reads_breaks_nothing() {
    let site = Site::new();
    let workflow = ".github/workflows/kubebench-perf.yml";
    site.init("perf", &[]);
    let text: serde_json::Value = serde_yaml::from_str(&site.read(workflow)).unwrap();
    let job = &text["jobs"]["comment"];
    assert_eq!(job["permissions"], serde_json::json!({"pull-requests": "write"}));
    let [step] = &job["steps"].as_array().unwrap()[..] else { panic!("one step") };
    assert_eq!(step.get("uses"), None);
    let script = step["run"].as_str().unwrap();
    assert!(!script.contains("${{"), "text of others in a script: {script}");
    let programs = tempfile::tempdir().unwrap();
    // Lists one comment of ours, or refuses what only reads.
    let gh = "#!/bin/sh\nprintf '%s\\n' \"$*\" >>calls\ncase \"$*\" in\n*--paginate*) [ -z \"$KNOWN\" ] || echo \"$KNOWN\" ;;\n*--method*) [ -z \"$READS_ONLY\" ] ;;\nesac\n";
    super::script_in(programs.path(), "gh", gh);
    let plan = "<!-- kubebench plan perf benchmarks -->\n### Kubebench plan: 1 benchmark would run\n`@all` $(id)\n";
    let search = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let run = |plan: &str, known: &str, reads_only: &str| {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new("bash");
        command.args(["-eo", "pipefail", "-c", script]).current_dir(scratch.path()).env("PATH", &search);
        command.env("COMMENTS", "repos/a/b/issues").env("NUMBER", "7").env("PLAN", plan);
        let output = command.env("KNOWN", known).env("READS_ONLY", reads_only).output().unwrap();
        let calls = std::fs::read_to_string(scratch.path().join("calls")).unwrap_or_default();
        (output.status.code(), calls, String::from_utf8(output.stdout).unwrap())
    };
    let (status, calls, _) = run(plan, "", "");
    assert_eq!(status, Some(0));
    assert!(
        calls.contains("--method POST repos/a/b/issues/7/comments --raw-field body=<!-- kubebench plan"),
        "{calls}"
    );
    assert!(calls.contains("`@all` $(id)"), "{calls}");
    assert!(calls.contains(r#"startswith("<!-- kubebench plan perf ")"#), "{calls}");
    let (status, calls, _) = run(plan, "12\n34", "");
    assert_eq!(status, Some(0));
    assert!(calls.contains("--method PATCH repos/a/b/issues/comments/12 --raw-field"), "{calls}");
    let (status, _, said) = run(plan, "", "1");
    assert_eq!(status, Some(0));
    assert!(said.starts_with("::notice::no comment was written"), "{said}");
    let (status, calls, _) = run("<!-- kubebench plan \") | env | (\" -->\n", "", "");
    assert_eq!((status, calls.as_str()), (Some(1), ""));
    // A change that was undone: what the comment said is not true any more, and who never had one gets none.
    let (status, calls, _) = run("", "", "");
    assert_eq!((status, calls.contains("--method")), (Some(0), false), "{calls}");
    let (status, calls, _) = run("", "12", "");
    assert_eq!(status, Some(0));
    let undone = "PATCH repos/a/b/issues/comments/12 --raw-field body=<!-- kubebench plan perf -->\n### Kubebench plan of `perf`: nothing would run\n";
    assert!(calls.contains(undone), "{calls}");
}

#[test]
fn the_plan_of_a_change_is_in_the_summary_and_in_the_output() {
    let site = Site::new();
    let workflow = ".github/workflows/kubebench-perf.yml";
    site.init("perf", &[]);
    site.commit("Add benchmarks");
    site.publish();
    git(&site.clone(), &["switch", "--quiet", "-c", "second"]);
    assert_eq!(site.said("perf", &["new", "job", "second"]).0, Some(0));
    assert_eq!(site.said("perf", &["compile"]).0, Some(0));
    site.commit("Add a benchmark");
    let scratch = tempfile::tempdir().unwrap();
    let steps = super::on_github_in(scratch.path(), &site.clone(), workflow, MAIN, Program::OnPath);
    assert_eq!(steps.last().unwrap().status, Some(0), "{steps:#?}");
    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).unwrap();
    let (summary, output) = (read("summary"), read("output"));
    assert!(summary.starts_with("<!-- kubebench plan perf "), "{summary}");
    let (_, rest) = output.split_once("plan<<").unwrap();
    let (end, rest) = rest.split_once('\n').unwrap();
    let (plan, after) = rest.split_once(&format!("\n{end}\n")).unwrap();
    assert_eq!((end.len(), plan, after), (64, summary.trim_end(), ""));
}
