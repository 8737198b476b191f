//! Files to start from.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::project::CompiledProject;
use super::start::VERSION;
use kubebench_compiler::workload::{forms, schemas};
use kubebench_extract::preset::PRESETS;
use kubebench_extract::tool::{TOOLS, editor};
use kubebench_format::schema::{DocumentKind, for_editors, generate, merge, part};
use kubebench_syntax::diag::what_there_is;

/// The word for a suite in the place of a workload kind.
pub const SUITE: &str = "suite";

/// The project file.
pub const PROJECT: &str = "\
# yaml-language-server: $schema=schema/project.v1.json
apiVersion: kubebench.dev/v1
kind: Project
metadata:
  name: benchmarks
spec:
  targets:
    default:
      namespace: default
";

/// The workflow on GitHub; `VERSION` is to be filled in.
const WORKFLOW: &str = "\
# Checks that generated/ matches the specs, and that no benchmark got worse.
name: kubebench
on: pull_request
permissions:
  contents: read
env:
  BASE: ${{ github.base_ref }}
jobs:
  check:
    runs-on: ubuntu-latest
    container:
      image: ghcr.io/kubebench/kubebench:VERSION
      options: --user root # the runner's folders belong to another user than the image's
    steps:
      # Pin the image above by its digest, too: `docker buildx imagetools inspect` prints it.
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          fetch-depth: 0 # the history tells which results belong to which branch
      # git refuses a repository that belongs to another user.
      - run: git config --global --add safe.directory \"$GITHUB_WORKSPACE\"
      - run: kubebench compile --check --since \"origin/$BASE\" --output-format github
      - run: kubebench plan --since \"origin/$BASE\" --markdown \"$GITHUB_STEP_SUMMARY\"
      - run: kubebench gate --fetch --only-new --allow-empty --since \"origin/$BASE\" --output-format github
";

/// How git treats generated files.
pub const ATTRIBUTES: &str = "\
# Manifests are compared byte for byte, so git must not change their line endings. Reviews show accounts, roles and network
# policies, and fold the manifests that depend on a spec alone.
generated/** text eol=lf linguist-generated
generated/*/pipeline/** -linguist-generated
";

/// Who reviews what, but the files of the project; the owners are to be filled in.
const CODEOWNERS: &str = "\
# These files decide what runs in the cluster, and with which permissions: replace @OWNERS with your team, and require its
# review in the branch protection. Add every other folder that a spec names.
/.github/ @OWNERS
";

/// What is owned in a project.
const OWNED: [&str; 8] =
    ["acks/", "generated/", "jobs/", "kubebench.yaml", "notebooks/", "pipelines/", "scripts/", "specs/"];

/// Returns the workflow on GitHub that checks the generated files and evaluates the gates of the project in `folder` of its repository,
/// which is empty or ends in a slash.
pub fn workflow(folder: &str) -> String {
    let workflow = WORKFLOW.replace("VERSION", VERSION);
    if folder.is_empty() {
        return workflow;
    }
    let folder = folder.trim_end_matches('/');
    let quoted = folder.replace('\'', "''");
    let name = format!("name: 'kubebench: {quoted}'\n");
    let defaults = format!("defaults:\n  run:\n    working-directory: '{quoted}'\njobs:\n");
    workflow.replacen("name: kubebench\n", &name, 1).replacen("jobs:\n", &defaults, 1)
}

/// Returns the path of the workflow in the repository.
pub fn workflow_path(folder: &str) -> String {
    let name = folder.trim_end_matches('/').replace(|letter: char| !letter.is_alphanumeric(), "-");
    let name = if name.is_empty() { name } else { format!("-{name}") };
    format!(".github/workflows/kubebench{name}.yml")
}

/// Returns who reviews what in a repository that has no such file yet.
pub fn codeowners(folder: &str) -> String {
    CODEOWNERS.to_owned() + &owned(folder)
}

/// Returns the lines about the project in `folder` of its repository.
pub fn owned(folder: &str) -> String {
    let folder = folder.replace(' ', "\\ ");
    OWNED.iter().map(|path| format!("/{folder}{path} @OWNERS\n")).collect()
}

/// Returns the bytes of the committed schema file.
pub fn schema(kind: DocumentKind) -> String {
    format!("{:#}\n", editor_schema(kind))
}

/// Returns the schema for people, which lists the tools. The schema that specs are validated by does not: a tool that there is not
/// has a finding of its own.
pub fn schema_of(kind: DocumentKind) -> Value {
    let mut schema = generate(kind, &schemas());
    if let Some(name) = schema.pointer_mut(TOOL_NAME) {
        merge(name, json!({"enum": tools()}));
    }
    schema
}

/// Returns the schema for editors, which see one document and not what it extends.
pub fn editor_schema(kind: DocumentKind) -> Value {
    let fragment = || part::with_null(whole(DocumentKind::Fragment));
    match kind {
        DocumentKind::Fragment => fragment(),
        DocumentKind::Benchmark => part::of_benchmark(whole(kind), &fragment()),
        DocumentKind::Suite | DocumentKind::Project | DocumentKind::Ack => whole(kind),
    }
}

fn whole(kind: DocumentKind) -> Value {
    with_names(for_editors(kind, generate(kind, &schemas())))
}

/// Returns a schema for editors with the names that programs here know.
fn with_names(mut schema: Value) -> Value {
    if let Some(tool) = schema.pointer_mut("/definitions/ToolSource") {
        merge(tool, editor::schema());
    }
    let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    for (pointer, what, names) in
        [(TOOL_NAME, "a tool", tools()), ("/definitions/PrometheusSource/properties/preset", "a query", presets)]
    {
        if let Some(name) = schema.pointer_mut(pointer) {
            merge(name, one_of(&format!("Expected {what} that Kubebench knows."), &names));
        }
    }
    schema
}

const TOOL_NAME: &str = "/definitions/ToolSource/properties/name";

fn tools() -> Vec<&'static str> {
    TOOLS.iter().map(|tool| tool.name).collect()
}

/// One of `names`, or an expression that gives one.
fn one_of(message: &str, names: &[&str]) -> Value {
    json!({"anyOf": [{"enum": names}, {"pattern": r"\$\{\{"}], "errorMessage": message})
}

/// Returns a suite of the benchmarks that run by themselves, and once.
pub fn suite(project: &CompiledProject, name: &str, schema: &str) -> Result<String> {
    let all = project.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let alone = all.filter(|benchmark| benchmark.suite.is_none() && benchmark.schedule.is_none());
    let names: BTreeSet<&str> = alone.map(|benchmark| benchmark.name.as_str()).collect();
    if names.is_empty() {
        bail!(
            "a suite needs a benchmark that has no schedule and is in no other suite; `kubebench new job NAME` writes \
             one, and `kubebench validate` says what is wrong with existing ones"
        );
    }
    let benchmarks: String = names.iter().map(|name| format!("    - {name}\n")).collect();
    Ok(format!(
        "# yaml-language-server: $schema={schema}\n\
         apiVersion: kubebench.dev/v1\n\
         kind: Suite\n\
         metadata:\n\
         \x20 name: {name}\n\
         spec:\n\
         \x20 description: What these benchmarks show together\n\
         \x20 # One after another, in this order; `{{benchmark: NAME, needs: [NAME]}}` waits for the success of others.\n\
         \x20 benchmarks:\n\
         {benchmarks}"
    ))
}

/// Returns a spec of workload kind `kind`.
pub fn spec(kind: &str, name: &str, schema: &str) -> Result<String> {
    let Some(found) = forms().find(|known| known.key.eq_ignore_ascii_case(kind)) else {
        let known = forms().map(|kind| kind.key).chain([SUITE]);
        bail!("there is no workload kind `{kind}`; {}", what_there_is(kind, known, "kinds are"));
    };
    let workload: String = found.example.lines().map(|line| format!("    {line}\n")).collect();
    Ok(format!(
        "# yaml-language-server: $schema={schema}\n\
         apiVersion: kubebench.dev/v1\n\
         kind: Benchmark\n\
         metadata:\n\
         \x20 name: {name}\n\
         spec:\n\
         \x20 description: What this measures, and why\n\
         \x20 repeats: 3\n\
         \x20 timeout: 30m\n\
         \x20 workload:\n\
         {workload}\
         \x20 metrics:\n\
         \x20   - name: throughput\n\
         \x20     unit: samples/s\n\
         \x20     better: higher\n\
         \x20     primary: true\n\
         \x20     from: {{log: {{pattern: 'throughput: (?P<value>\\S+)'}}}}\n\
         \x20 gates:\n\
         \x20   - {{metric: throughput, maxRegression: 5%}}\n"
    ))
}
