//! The job on GitLab, in a file that `.gitlab-ci.yml` includes.

use super::checksums::Checksums;
use super::entry::Entry;
use super::place::Repository;
use super::script::{COMPILE, GATE, IS_UNCHANGED, PLAN, VERSION, downloads, install};
use super::yaml::{indented, quoted};

const PIPELINE: &str = ".gitlab-ci.yml";

/// Returns the file with the job of a project, which will be at `path`.
pub(super) fn pipeline(repository: &Repository, path: &str, checksums: Option<&Checksums>) -> String {
    let (name, project, downloads) = (quoted(&repository.named(" ", "")), quoted(repository.project()), downloads());
    let script = format!(
        "set -e\ncd \"$PROJECT\"\nproject=$PWD\n\
         [ -z \"$CI_DEFAULT_BRANCH\" ] || git remote set-head origin \"$CI_DEFAULT_BRANCH\" || true\n\
         if {IS_UNCHANGED}; then\n  echo 'nothing of the project changed'\n  exit 0\nfi\n\
         {}PATH=$PWD/$archive:$PATH\n\
         cd \"$project\"\n\
         {COMPILE} --report gitlab=\"$CI_PROJECT_DIR/kubebench.json\"\n\
         [ -z \"$SINCE\" ] || {PLAN} --markdown \"$CI_PROJECT_DIR/plan.md\"\n\
         {GATE} --markdown \"$CI_PROJECT_DIR/kubebench.md\"\n",
        install(checksums, None)
    );
    let script = indented(&script, "      ");
    format!(
        "\
# Checks that generated/ matches the specs, and that no benchmark got worse. It always starts, so that merging can depend on it.
{name}:
  image: docker.io/library/buildpack-deps:bookworm-scm # bash, curl and git
  rules:
    - if: $CI_PIPELINE_SOURCE == \"merge_request_event\"
      variables: {{SINCE: $CI_MERGE_REQUEST_DIFF_BASE_SHA}}
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH # two changes that pass alone may not pass together
  variables:
    GIT_DEPTH: '0' # the history tells which results belong to which branch
    KUBEBENCH_VERSION: '{VERSION}'
    KUBEBENCH_DOWNLOADS: {downloads}
    PROJECT: {{value: {project}, expand: false}}
    CHECK: {path}
    SINCE: ''
  script:
    - |
{script}  after_script:
    - test ! -f plan.md || cat plan.md >>kubebench.md
  artifacts:
    when: always
    paths: [kubebench.md]
    reports: {{codequality: kubebench.json}}
"
    )
}

/// Returns the file that includes the one at `path`: where it is, its text where there is none, and what another one needs.
pub(super) fn included(path: &str) -> (&'static str, String, Entry) {
    let item = format!("- local: /{path}\n");
    let whole = format!("include:\n{}", indented(&item, "  "));
    (PIPELINE, whole, Entry::Item { key: "include", item, mark: path.to_owned() })
}
