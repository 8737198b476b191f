//! The workflow on GitHub.

use super::checksums::Checksums;
use super::place::Repository;
use super::script::{COMPILE, GATE, IS_UNCHANGED, PLAN, VERSION, downloads, install};
use super::yaml::{indented, unquoted, without_expressions};
use kubebench_results::compare::render::Subject;

/// The function that writes a comment or updates it: that of the action `comment`.
const WRITE_COMMENT: &str = include_str!("../../../.github/actions/comment/write.sh");

const CHECKOUT: &str = "\
- uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
  with:
    fetch-depth: 0 # the history tells which results belong to which branch
    # The token stays for `gate --fetch`. It may only read, and nothing of the change is executed.
";

/// What a pull request or a group of the merge queue begins at; nothing for a push.
const SINCE: &str = "${{ github.event.merge_group.base_sha || github.base_ref && format('refs/remotes/origin/{0}', github.base_ref) || '' }}";

/// Returns the commands that prove who built the archive, by the attestation that GitHub keeps.
fn attested() -> String {
    let repository = env!("CARGO_PKG_REPOSITORY").trim_start_matches("https://github.com/");
    format!(
        "# A mirror has no attestations: pin the checksums for it.\n\
         case $KUBEBENCH_DOWNLOADS in https://github.com/*)\n  gh attestation verify \"$archive.tar.gz\" --repo {repository} \\\n    \
         --signer-workflow {repository}/.github/workflows/release.yml ;;\nesac\n"
    )
}

/// Returns the workflow of a project, which will be at `path`.
pub(super) fn workflow(repository: &Repository, path: &str, checksums: Option<&Checksums>) -> String {
    let name = without_expressions(&repository.named(": ", ""));
    let check = without_expressions(&repository.named(" (", ")"));
    let branch = without_expressions(&pattern_of(&repository.branch));
    let project = without_expressions(repository.project());
    let defaults = match repository.project() {
        "." => String::new(),
        _ => format!("defaults:\n  run:\n    working-directory: {project}\n"),
    };
    let downloads = downloads();
    let steps = indented(&steps(path, checksums), "      ");
    let plan = if repository.project() == "." { "kubebench plan".to_owned() } else { repository.named(" plan (", ")") };
    let write = indented(WRITE_COMMENT, "          ");
    let mark = Subject { folder: repository.folder.clone(), name: None }.mark_beginning("plan");
    let comment = COMMENT.replace("NAME_OF_JOB", &without_expressions(&plan)).replace("BEGINNING", &mark);
    // No letter of it ends a string of the shell, or an expression.
    let of = match mark.split(' ').nth(3) {
        Some(folder) if folder != "." => format!(" of `{}`", folder.replace('%', "%%")),
        _ => String::new(),
    };
    let comment = comment.replace("OF_PROJECT", &of).replace("WRITE_COMMENT\n", &write);
    format!(
        "\
# Checks that generated/ matches the specs, and that no benchmark got worse. It always starts, so that it can be a required check.
name: {name}
on:
  pull_request:
  merge_group:
  push: # two changes that pass alone may not pass together
    branches: [{branch}]
permissions:
  contents: read
env:
  KUBEBENCH_VERSION: '{VERSION}'
  KUBEBENCH_DOWNLOADS: ${{{{ vars.KUBEBENCH_DOWNLOADS || '{downloads}' }}}} # a variable of the repository names a mirror
  SINCE: {SINCE}
{defaults}jobs:
  check:
    name: {check}
    runs-on: ${{{{ vars.KUBEBENCH_RUNNER || 'ubuntu-24.04' }}}}
    timeout-minutes: 30
    outputs:
      changed: ${{{{ steps.changes.outputs.changed }}}}
      plan: ${{{{ steps.plan.outputs.plan }}}}
    steps:
{steps}{comment}"
    )
}

/// The job that writes the plan as a comment. Its token can write, so it checks out nothing and takes the plan as a text alone. That of a
/// pull request from a fork can only read: then the plan is in the summary alone.
const COMMENT: &str = r##"  comment:
    name: NAME_OF_JOB
    needs: check
    if: >-
      always() && github.event_name == 'pull_request' && (needs.check.outputs.plan != '' ||
      needs.check.outputs.changed == 'false' && github.event.action != 'opened')
    runs-on: ${{ vars.KUBEBENCH_RUNNER || 'ubuntu-24.04' }}
    timeout-minutes: 5
    permissions:
      pull-requests: write
    concurrency: # one comment, also when two commits are pushed at once
      group: kubebench-plan-${{ github.workflow }}-${{ github.event.pull_request.number }}
    steps:
      - name: write or update the comment
        working-directory: /
        env:
          GH_TOKEN: ${{ github.token }}
          COMMENTS: repos/${{ github.repository }}/issues
          NUMBER: ${{ github.event.pull_request.number }}
          PLAN: ${{ needs.check.outputs.plan }}
        run: |
WRITE_COMMENT
          # The first line tells the projects of a repository apart.
          mark='BEGINNING'
          if [ -z "$PLAN" ]; then
            # What an earlier commit of the pull request would have started is undone.
            comment=$(find_comment "$COMMENTS" "$NUMBER" "$mark")
            [ -n "$comment" ] || exit 0
            printf -v PLAN '%s-->\n### Kubebench planOF_PROJECT: nothing would run\n\nThis pull request no longer changes a file of the project.\n' "$mark"
          fi
          [[ $PLAN == "$mark"* ]]
          write_comment "$COMMENTS" "$NUMBER" "$mark" --raw-field "body=$PLAN" ||
            echo '::notice::no comment was written, see the error above: the token of a pull request from a fork may only read. The summary of the run has the plan.'
"##;

/// Returns the steps, one after another. What reviewers read comes after the comparison of the manifests, before the gates, which may fail.
fn steps(path: &str, checksums: Option<&Checksums>) -> String {
    let changes = format!(
        "- id: changes\n  name: end here if nothing of the project changed\n  env:\n    CHECK: {path}\n    \
         DEFAULT_BRANCH: ${{{{ github.event.repository.default_branch }}}}\n  run: |\n    \
         # Gates compare with the default branch, which a checkout may not have set.\n    \
         [ -z \"$DEFAULT_BRANCH\" ] || git remote set-head origin \"$DEFAULT_BRANCH\" || true\n    \
         if {IS_UNCHANGED}; then\n      echo 'nothing of the project changed'\n      \
         echo changed=false >>\"$GITHUB_OUTPUT\"\n    else\n      \
         echo changed=true >>\"$GITHUB_OUTPUT\"\n    fi\n"
    );
    let attested = checksums.is_none().then(attested);
    let token = if attested.is_some() { "  env:\n    GH_TOKEN: ${{ github.token }}\n" } else { "" };
    let script = install(checksums, attested.as_deref()) + "echo \"$PWD/$archive\" >>\"$GITHUB_PATH\"\n";
    let install = format!(
        "- name: install kubebench\n  if: steps.changes.outputs.changed == 'true'\n  id: install\n{token}  run: |\n{}",
        indented(&script, "    ")
    );
    [
        CHECKOUT.to_owned(),
        changes,
        install,
        format!("{}  run: {COMPILE} --output-format github\n", started("compare generated/ with the specs")),
        format!("{}  id: plan\n  run: |\n{}", started("show what the change starts"), indented(&shown(), "    ")),
        format!("{}  run: {GATE} --output-format github\n", started("evaluate the gates")),
    ]
    .concat()
}

/// Returns the commands that show the plan in the summary, and leave it for the comment.
fn shown() -> String {
    format!(
        "\
[ -n \"$SINCE\" ] || exit 0
plan=$(mktemp)
status=0
{PLAN} --markdown \"$plan\" || status=$?
cat \"$plan\" >>\"$GITHUB_STEP_SUMMARY\"
# No plan has its own digest as a line, which ends the output.
end=$(sha256sum \"$plan\" | cut -c 1-64)
printf 'plan<<%s\\n%s\\n%s\\n' \"$end\" \"$(cat \"$plan\")\" \"$end\" >>\"$GITHUB_OUTPUT\"
exit \"$status\"
"
    )
}

/// Returns the beginning of a step that a reviewer wants to see whatever the steps before it found.
fn started(name: &str) -> String {
    format!("- name: {name}\n  if: ${{{{ !cancelled() && steps.install.outcome == 'success' }}}}\n")
}

/// Returns the branch that a workflow checks the pushes to.
pub(super) fn branch_in(workflow: &str) -> Option<String> {
    let pattern = workflow.lines().find_map(|line| line.strip_prefix("    branches: [")?.strip_suffix(']'))?;
    let mut escaped = false;
    let is_of_name = |letter: &char| {
        escaped = *letter == '\\' && !escaped;
        !escaped
    };
    Some(unquoted(pattern)?.chars().filter(is_of_name).collect())
}

/// Returns the filter that only this branch fits.
fn pattern_of(branch: &str) -> String {
    let escaped = |letter: char| match letter {
        '*' | '?' | '+' | '[' | ']' | '!' | '\\' => format!("\\{letter}"),
        _ => letter.to_string(),
    };
    branch.chars().map(escaped).collect()
}
