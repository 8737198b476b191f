//! The second call: what was not edited is updated, everything else is left.

use kubebench_syntax::digest::Digest;
use kubebench_testing::snapshot::{assert_line, str};

use super::{Site, git};

const WORKFLOW: &str = ".github/workflows/kubebench.yml";
const SCHEMA: &str = "schema/benchmark.v1.json";

/// The text of the workflow as another version would have written it.
fn of_another_version(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let body = lines[2..].concat().replace("timeout-minutes: 30", "timeout-minutes: 20");
    let digest = Digest::of(format!("{}{body}", lines[0])).hex();
    format!("{}# sha256:{digest}\n{body}", lines[0])
}

/// The text of a schema as another version would have written it.
fn schema_of_another_version(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let body = format!("{{\n{}", lines[2..].concat().replacen("\"definitions\"", "\"definition\"", 1));
    let digest = Digest::of(&body).hex();
    let comment = format!("  \"$comment\": \"Written by kubebench; do not edit. sha256:{digest}\",\n");
    body.replacen("{\n", &format!("{{\n{comment}"), 1)
}

/// A pattern that hides the manifests from git, and so from CI and the cluster.
#[test]
fn manifests_that_git_ignores_are_an_error() {
    let site = Site::new();
    site.write(".gitignore", "generated/\n");
    site.init("", &[]);
    let (status, text) = site.said("", &["compile"]);
    assert_eq!((status, text.contains("warning[KB0509]: git ignores ")), (Some(0), true), "{text}");
    let (status, text) = site.said("", &["compile", "--check"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("remove the pattern that `git check-ignore -v generated/default/"), "{text}");
    // What git tracks is in commits, whatever a pattern says.
    git(&site.clone(), &["add", "-f", "generated"]);
    assert_eq!(site.said("", &["compile", "--check"]).0, Some(0));
}

/// The branch that changes go to: what the remote says, else what was written before, whatever is checked out.
#[test]
fn the_branch_of_a_workflow_stays() {
    let site = Site::new();
    git(&site.clone(), &["switch", "--quiet", "-c", "tr+unk"]);
    git(&site.clone(), &["branch", "-q", "-D", "main"]);
    git(&site.clone(), &["update-ref", "-d", "refs/remotes/origin/main"]);
    site.init("", &[]);
    let branches = || site.read(WORKFLOW).lines().find(|line| line.contains("branches: ")).unwrap().to_owned();
    let written = branches();
    assert!(written.contains("tr\\+unk"), "{written}");
    git(&site.clone(), &["switch", "--quiet", "-c", "feature"]);
    site.init("", &[]);
    assert_eq!(branches(), written);
    git(&site.clone(), &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next"]);
    site.init("", &[]);
    assert_eq!(branches(), "    branches: [next]");
}

#[test]
fn what_nobody_edited_is_updated() {
    let site = Site::new();
    site.init("", &[]);
    let (workflow, schema) = (site.read(WORKFLOW), site.read(SCHEMA));
    let text = site.init("", &[]);
    assert!(!text.contains("wrote ") && !text.contains("updated ") && !text.contains("add "), "{text}");
    site.write(WORKFLOW, &of_another_version(&workflow).replace('\n', "\r\n"));
    site.write(SCHEMA, &schema_of_another_version(&schema));
    let (status, text) = site.said("", &["compile", "--check"]);
    assert_eq!(status, Some(1), "{text}");
    assert_line(
        &text,
        str! {"error[KB0508]: `schema/benchmark.v1.json` is not the schema of this version of kubebench"},
    );
    assert_line(&text, str! {" = help: run `kubebench init` and commit the result"});
    let (status, text) = site.said("", &["compile"]);
    assert_eq!((status, text.contains("warning[KB0508]")), (Some(0), true), "{text}");
    let text = site.init("", &[]);
    assert!(text.contains(&format!("updated {WORKFLOW}\n")) && text.contains(&format!("updated {SCHEMA}\n")), "{text}");
    assert_eq!((site.read(WORKFLOW), site.read(SCHEMA)), (workflow, schema));
    assert_eq!(site.said("", &["compile", "--check"]).0, Some(0));
}

#[test]
fn what_was_edited_is_shown_and_left() {
    let site = Site::new();
    site.init("", &[]);
    let (workflow, schema) = (site.read(WORKFLOW), site.read(SCHEMA));
    let edited = workflow.replace("timeout-minutes: 30", "timeout-minutes: 90");
    site.write(WORKFLOW, &edited);
    site.write(SCHEMA, "{}\n");
    let (status, text) = site.said("", &["compile", "--check"]);
    assert_eq!(status, Some(1), "{text}");
    assert_line(&text, str! {" = help: run `kubebench init --force`, which replaces the file, and commit the result"});
    let text = site.init("", &[]);
    for line in [
        "--- a/.github/workflows/kubebench.yml",
        "-    timeout-minutes: 90",
        "+    timeout-minutes: 30",
        "left .github/workflows/kubebench.yml as it is: it was edited; `kubebench init --force` replaces it as shown",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert_eq!((site.read(WORKFLOW), site.read(SCHEMA).as_str()), (edited, "{}\n"));
    site.init("", &["--force"]);
    assert_eq!((site.read(WORKFLOW), site.read(SCHEMA)), (workflow, schema));
}

#[test]
fn what_is_its_authors_is_never_written_again() {
    let site = Site::new();
    site.init("", &[]);
    let paths = ["kubebench.yaml", "specs/example.yaml", ".github/CODEOWNERS"];
    for path in paths {
        site.write(path, &format!("# mine\n{}", site.read(path)));
    }
    std::fs::remove_file(site.clone().join("generated/default/example/rules.yaml")).unwrap();
    let text = site.init("", &["--force", "--write"]);
    assert!(!text.contains("generated/"), "a known project is compiled by its author: {text}");
    for path in paths {
        assert!(site.read(path).starts_with("# mine\n"));
    }
    std::fs::remove_file(site.clone().join("specs/example.yaml")).unwrap();
    site.init("", &[]);
    assert!(!site.clone().join("specs/example.yaml").exists());
}

#[test]
fn a_project_without_ci_stays_without_it() {
    let site = Site::new();
    let text = site.init("", &["--ci", "none"]);
    assert!(!text.contains("CODEOWNERS"), "{text}");
    site.init("", &[]);
    assert!(!site.clone().join(".github").exists() && !site.clone().join("CODEOWNERS").exists());
    site.init("", &["--ci", "github"]);
    assert!(site.clone().join(WORKFLOW).exists());
}

#[test]
fn gitlab_is_the_default_where_the_repository_is_for_it() {
    let site = Site::new();
    site.write(".gitlab-ci.yml", "build:\n  script: make\n");
    let text = site.init("perf", &[]);
    assert!(text.contains("wrote ../.gitlab/kubebench-perf.yml\n") && !site.clone().join(".github").exists(), "{text}");
}

/// Folders whose names differ in signs alone.
#[test]
fn two_projects_never_share_a_workflow_a_branch_or_a_namespace() {
    let site = Site::new();
    site.init("a/b", &[]);
    let first = site.read(".github/workflows/kubebench-a-b.yml");
    site.init("a-b", &[]);
    site.init("a/b", &[]);
    let files = std::fs::read_dir(site.clone().join(".github/workflows")).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(site.read(".github/workflows/kubebench-a-b.yml"), first);
    assert!(
        site.read(&format!(".github/workflows/{}", names[0])).contains("\n    working-directory: a-b\n"),
        "{names:?}"
    );
    let lines = |project: &str, key: &str| {
        let text = site.read(&format!("{project}/kubebench.yaml"));
        text.lines().filter(|line| line.contains(key)).map(str::to_owned).collect::<Vec<_>>()
    };
    for key in ["namespace: ", "branch: "] {
        let (first, second) = (lines("a/b", key), lines("a-b", key));
        assert!(!first.is_empty() && !second.is_empty() && first != second, "{first:?} {second:?}");
    }
}

#[test]
fn a_pinned_archive_stays_pinned() {
    let site = Site::new();
    let (digest, version) = ("ab".repeat(32), env!("CARGO_PKG_VERSION"));
    let line = format!("{digest}  kubebench-{version}-x86_64-unknown-linux-gnu.tar.gz");
    site.write("SHA256SUMS", &format!("{line}\n"));
    site.init("", &["--checksums", "SHA256SUMS"]);
    let pinned = site.read(WORKFLOW);
    assert!(pinned.contains(&line) && !pinned.contains("/SHA256SUMS\""), "{pinned}");
    site.write(WORKFLOW, &of_another_version(&pinned));
    site.init("", &[]);
    assert_eq!(site.read(WORKFLOW), pinned);
    let of_old = of_another_version(&pinned.replace(&format!("kubebench-{version}-"), "kubebench-0.0.9-"));
    site.write(WORKFLOW, &of_old);
    let text = site.init("", &[]);
    assert!(text.contains("it has checksums of another version"), "{text}");
    assert_eq!(site.read(WORKFLOW), of_old);
    site.init("", &["--checksums", "SHA256SUMS"]);
    assert_eq!(site.read(WORKFLOW), pinned);
    site.write("SHA256SUMS", "nothing\n");
    let (status, text) = site.said("", &["init", "--checksums", "SHA256SUMS"]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("the checksums name no archive of kubebench"), "{text}");
}

#[test]
fn a_project_that_moved_gets_its_files_and_the_old_ones_are_named() {
    let site = Site::new();
    site.init("ml/ben ch", &["--owner", "@perf"]);
    let old = ".github/workflows/kubebench-ml-ben-ch.yml";
    let top = site.clone();
    std::fs::rename(top.join("ml/ben ch"), top.join("ml/kernels")).unwrap();
    let text = site.init("ml/kernels", &[]);
    assert_line(&text, str! {"wrote ../../.github/workflows/kubebench-ml-kernels.yml"});
    assert_line(
        &text,
        str! {"../../.github/workflows/kubebench-ml-ben-ch.yml is for a project that no longer exists: delete it, with its lines in CODEOWNERS"},
    );
    std::fs::remove_file(top.join(old)).unwrap();
    let text = site.init("ml/kernels", &[]);
    assert!(!text.contains("any more"), "{text}");
}

#[test]
fn a_folder_inside_of_a_project_is_no_place_for_another() {
    let site = Site::new();
    site.init("", &[]);
    std::fs::create_dir_all(site.clone().join("specs/deep")).unwrap();
    let (status, text) = site.said("specs/deep", &["init"]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("error: this folder is in the project ") && text.contains("`kubebench init`"), "{text}");
    assert!(!site.clone().join("specs/deep/kubebench.yaml").exists());
}

#[test]
fn a_version_that_the_project_refuses_writes_nothing() {
    let site = Site::new();
    site.init("", &[]);
    let file = site.read("kubebench.yaml");
    let newer = file.lines().map(|line| match line.split_once("requiredVersion:") {
        Some((before, _)) => format!("{before}requiredVersion: '>=99'\n"),
        None => format!("{line}\n"),
    });
    site.write("kubebench.yaml", &newer.collect::<String>());
    let workflow = of_another_version(&site.read(WORKFLOW));
    site.write(WORKFLOW, &workflow);
    let (status, text) = site.said("", &["init"]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("kubebench.yaml: this project requires kubebench >=99"), "{text}");
    assert_eq!(site.read(WORKFLOW), workflow);
}
