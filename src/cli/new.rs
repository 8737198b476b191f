//! `kubebench new`: a spec to start from.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, NewArgs, SelectArgs};
use super::findings::tell;
use super::project::{Project, VERSION};
use super::session::Session;
use kubebench_compiler::compile::Workspace;
use kubebench_compiler::lower::RESERVED_NAME;
use kubebench_compiler::workload::forms;
use kubebench_executor::local::needs_cluster;
use kubebench_format::schema::format;
use kubebench_host::fs;
use kubebench_syntax::diag::what_there_is;

/// The word for a suite in the place of a workload kind.
const SUITE: &str = "suite";

/// Writes `NAME.yaml` into the first spec folder; overwrites nothing.
pub(super) fn run(global: &Global, args: &NewArgs) -> Result<ExitStatus> {
    let Project { root, file, .. } = Project::find(global)?;
    let folders = Workspace::open(file, VERSION).spec_dirs();
    let folder = folders.first().map_or("specs", String::as_str);
    if let Some(Err(fault)) = format::find("benchmark-name").map(|format| (format.check)(&args.name)) {
        bail!("{}{}", fault.message, fault.help.map(|help| format!("; {help}")).unwrap_or_default());
    }
    let is_suite = args.kind.eq_ignore_ascii_case(SUITE);
    let what = if is_suite { SUITE } else { "benchmark" };
    if args.name == RESERVED_NAME {
        bail!("a {what} cannot be called `{RESERVED_NAME}`; choose another name");
    }
    let depth = folder.split('/').count();
    let schema = format!("{}schema/{what}.v1.json", "../".repeat(depth));
    let path = format!("{folder}/{}.yaml", args.name);
    let text = if is_suite { suite(global, &args.name, &schema)? } else { spec(&args.kind, &args.name, &schema)? };
    fs::create_new(&root, &path, &text)?;
    tell(global, &format!("wrote {path}"));
    let next = match (is_suite, needs_cluster(&args.kind)) {
        (true, _) => next_of_suite(&path),
        (false, true) => next_in_cluster(&path),
        (false, false) => next(&path),
    };
    tell(global, &next);
    Ok(ExitStatus::Yes)
}

/// Returns a suite of the benchmarks that run by themselves, and once.
fn suite(global: &Global, name: &str, schema: &str) -> Result<String> {
    let session = Session::open(global, &SelectArgs::default())?;
    let all = session.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let alone = all.filter(|benchmark| benchmark.suite.is_none() && benchmark.schedule.is_none());
    let names: BTreeSet<&str> = alone.map(|benchmark| benchmark.name.as_str()).collect();
    if names.is_empty() {
        bail!(
            "no benchmark runs by itself that a suite could take; `kubebench new job NAME` writes one, and \
             `kubebench validate` says what is wrong with those there are"
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

fn next_of_suite(spec: &str) -> String {
    format!("next: edit {spec}, then `kubebench compile` writes one Workflow for all of them")
}

/// Returns a spec of workload kind `kind`.
pub(super) fn spec(kind: &str, name: &str, schema: &str) -> Result<String> {
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
         \x20     from: {{log: {{pattern: 'throughput: (?P<value>[0-9.]+)'}}}}\n\
         \x20 gates:\n\
         \x20   - {{metric: throughput, maxRegression: 5%}}\n"
    ))
}

/// Says what to do with a new spec that only a cluster can run.
fn next_in_cluster(spec: &str) -> String {
    format!("next: edit {spec}, then `kubebench compile` writes it for a cluster")
}

/// Says what to do with a new spec.
pub(super) fn next(spec: &str) -> String {
    format!(
        "next: edit {spec}, then `kubebench run {spec}` tries it here, and `kubebench compile` writes it for a cluster"
    )
}
