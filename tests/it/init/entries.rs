//! Files of people: what Kubebench needs there is shown, and added only if they say so.

use kubebench_testing::snapshot::{assert_line, str};

use super::Site;

#[test]
fn owners_are_comments_until_they_are_known() {
    let site = Site::new();
    let path = ".github/CODEOWNERS";
    site.init("ml/ben ch", &[]);
    let comments = site.read(path);
    assert!(comments.lines().all(|line| line.starts_with('#')), "{comments}");
    assert!(comments.contains("\n# /ml/ben\\ ch/acks/ @OWNERS\n"), "{comments}");
    let text = site.init("ml/ben ch", &["--owner", "@org/perf", "--owner", "ada@example.com"]);
    assert_line(
        &text,
        str! {"left ../../.github/CODEOWNERS as it is; add these lines to it, or run `kubebench init --write --owner '@org/perf' --owner 'ada@example.com'`:"},
    );
    assert_eq!(site.read(path), comments);
    site.init("ml/ben ch", &["--owner", "@org/perf", "--owner", "ada@example.com", "--write"]);
    let owned = site.read(path);
    assert!(owned.starts_with(&comments), "{owned}");
    assert!(owned.ends_with("\n/ml/ben\\ ch/specs/ @org/perf ada@example.com\n"), "{owned}");
    site.init("ml/ben ch", &["--owner", "@org/perf", "--write"]);
    assert_eq!(site.read(path), owned);
    for owner in ["org", "@", "@org/a b", "@a\n* @b", "#@a"] {
        let (status, text) = site.said("x", &["init", "--owner", owner]);
        assert_eq!(status, Some(2), "{owner:?}: {text}");
    }
}

/// GitHub reads one file, and the one in `.github` first.
#[test]
fn owners_are_added_to_the_file_that_is_read() {
    let site = Site::new();
    site.write("CODEOWNERS", "* @all");
    site.init("", &["--owner", "@perf", "--write"]);
    assert!(!site.clone().join(".github/CODEOWNERS").exists());
    let text = site.read("CODEOWNERS");
    assert!(text.starts_with("* @all\n/.github/workflows/kubebench.yml @perf\n"), "{text}");
}

#[test]
fn attributes_are_added_to_those_that_are_there() {
    let site = Site::new();
    site.write(".gitattributes", "*.png binary\n");
    let text = site.init("", &[]);
    assert!(text.contains("\n  generated/** text eol=lf linguist-generated\n"), "{text}");
    assert_eq!(site.read(".gitattributes"), "*.png binary\n");
    site.init("", &["--write"]);
    site.init("", &["--write"]);
    assert_eq!(
        site.read(".gitattributes"),
        "*.png binary\ngenerated/** text eol=lf linguist-generated\ngenerated/*/pipeline/** -linguist-generated\nschema/** linguist-generated\n"
    );
}

#[test]
fn a_pipeline_of_gitlab_includes_the_job() {
    for (before, after) in [
        (
            "include:\n  - local: /a.yml # first\n\nbuild: {script: make}\n",
            Some("include:\n  - local: /a.yml # first\n  - local: /.gitlab/kubebench.yml\n\nbuild: {script: make}\n"),
        ),
        ("build: {script: make}\n", Some("build: {script: make}\ninclude:\n  - local: /.gitlab/kubebench.yml\n")),
        ("include: /a.yml\n", None),
        ("include: .gitlab/kubebench.yml\n", Some("include: .gitlab/kubebench.yml\n")),
    ] {
        let site = Site::new();
        site.write(".gitlab-ci.yml", before);
        let shown = site.init("", &[]);
        let has = before.contains("kubebench");
        assert_eq!(shown.contains("  include:\n    - local: /.gitlab/kubebench.yml\n"), !has, "{shown}");
        assert_eq!(site.read(".gitlab-ci.yml"), before);
        site.init("", &["--write"]);
        assert_eq!(site.read(".gitlab-ci.yml"), after.unwrap_or(before));
    }
}

#[test]
fn hooks_are_added_to_a_configuration_of_pre_commit() {
    let site = Site::new();
    let path = ".pre-commit-config.yaml";
    let text = site.init("ml/ben ch", &[]);
    assert!(!text.contains(path) && !site.clone().join(path).exists(), "{text}");
    let before = "repos:\n  - repo: https://example.com/x # why\n    rev: v1\n    hooks:\n      - id: x\n";
    site.write(path, before);
    let text = site.init("ml/ben ch", &["--ci", "none"]);
    assert!(text.contains("\n        - id: kubebench-compile-check\n"), "{text}");
    assert_eq!(site.read(path), before);
    site.init("ml/ben ch", &["--write"]);
    let added = format!(
        "{before}  - repo: https://github.com/kubebench/kubebench\n    rev: v{}\n    hooks:\n      - id: kubebench-fmt\n      \
         - id: kubebench-validate\n      - id: kubebench-compile-check\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(site.read(path), added);
    // The hooks are for all projects of the repository.
    let text = site.init("ml/other", &["--write"]);
    assert_eq!((site.read(path), text.contains("pre-commit-config.yaml:")), (added, false), "{text}");
}
