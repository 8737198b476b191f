//! `kubebench set`: values of specs, suites and the project file, changed by scripts.

use kubebench_testing::snapshot::{assert_text, str};

use crate::support::project::{Folder, assert_yes};

const PROJECT: &str = "apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: team}
spec:
  targets:
    one: {namespace: bench} # the only one
";
const SPEC: &str = "# What a bot must not lose.
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: disk}
spec:
  timeout: 1h # generous
  workload:
    job:
      image: \"a/b:1\"
      resources: {cpu: 1, memory: 1Gi}
  metrics:
    - {name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}
  gates:
    - {metric: seconds, maxRegression: 3%}
";
const SUITE: &str = "apiVersion: kubebench.dev/v1
kind: Suite
metadata: {name: nightly}
spec:
  benchmarks: [{benchmark: disk}]
  description: old # why
";

fn project() -> Folder {
    Folder::with([("kubebench.yaml", PROJECT), ("specs/disk.yaml", SPEC), ("suites/nightly.yaml", SUITE)])
}

fn said(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = folder.run(&[&["set"], arguments].concat());
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn read(folder: &Folder, path: &str) -> String {
    std::fs::read_to_string(folder.path().join(path)).unwrap()
}

#[test]
fn values_change_and_everything_else_stays() {
    let folder = project();
    let values = ["image=a/b:2", "benchmark.spec.timeout=2h", "metrics.seconds.gate.maxRegression=5%", "repeats=5"];
    let (status, text) = said(&folder, &[&["specs/disk.yaml"], &values[..]].concat());
    assert_eq!(status, Some(0), "{text}");
    let expected = SPEC
        .replace("\"a/b:1\"", "\"a/b:2\"")
        .replace("timeout: 1h", "timeout: 2h")
        .replace("3%", "5%")
        .replace("5%}\n", "5%}\n  repeats: 5\n");
    assert_eq!(read(&folder, "specs/disk.yaml"), expected);
    let again = said(&folder, &[&["specs/disk.yaml"], &values[..]].concat());
    assert_eq!(again, (Some(0), "specs/disk.yaml: nothing to change\n".to_owned()));
}

#[test]
fn the_project_file_and_suites_are_files_like_others() {
    let folder = project();
    assert_yes(&folder.run(&["set", "kubebench.yaml", "targets.one.namespace=other", "targets.one.concurrency=2"]));
    let expected = PROJECT.replace("{namespace: bench}", "{namespace: other, concurrency: 2}");
    assert_eq!(read(&folder, "kubebench.yaml"), expected);
    assert_yes(&folder.run(&["set", "suites/nightly.yaml", "suite.spec.description=new text"]));
    assert_eq!(read(&folder, "suites/nightly.yaml"), SUITE.replace("old", "new text"));
}

#[test]
fn nothing_is_written_that_has_errors() {
    let folder = project();
    let (status, text) = said(&folder, &["specs/disk.yaml", "image=a/b:2", "timeout=soon"]);
    assert_eq!(status, Some(1));
    assert_text(
        text,
        str! {[r#"
error[KB0205]: `soon` does not start with a number
 --> specs/disk.yaml:6:12
  |
6 |   timeout: soon # generous
  |            ^^^^
  |
  = help: write whole numbers with the units `d`, `h`, `m`, `s`, such as `90s`, `2h` or `1h30m`
1 error; `kubebench explain KB0205` says more
nothing was written

"#]},
    );
    assert_eq!(read(&folder, "specs/disk.yaml"), SPEC);
}

#[test]
fn an_unknown_path_lists_those_that_there_are() {
    let folder = project();
    let (status, text) = said(&folder, &["specs/disk.yaml", "imag=a/b:2"]);
    assert_eq!(status, Some(2));
    assert_text(
        text,
        str! {[r#"
error: there is no `imag` in specs/disk.yaml; did you mean `spec.workload.job.image`?
paths in specs/disk.yaml:
  apiVersion
  kind
  metadata.name
  spec.timeout
  spec.workload.job.image
  spec.workload.job.resources.cpu
  spec.workload.job.resources.memory
  spec.metrics.seconds.name
  spec.metrics.seconds.unit
  spec.metrics.seconds.better
  spec.metrics.seconds.primary
  spec.metrics.seconds.from.duration
  spec.gates.seconds.metric
  spec.gates.seconds.maxRegression

"#]},
    );
    let (status, text) = said(&folder, &["specs/disk.yaml", "name=x"]);
    assert_eq!(status, Some(2));
    assert_text(
        text,
        str! {[r#"
error: `name` matches 2 values in specs/disk.yaml; write one of `metadata.name`, `spec.metrics.seconds.name`

"#]},
    );
}
