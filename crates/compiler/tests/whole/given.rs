//! The workload `manifest`: its lookups, its names, and what is wrong with one.

use kubebench_compiler::compile::Compilation;
use kubebench_testing::snapshot::str;
use serde_json::Value;

use crate::compiled::{assert_error, codes, compile, compile_sound, created, errors, located_errors};

const JOB: &str = "\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: ${{ matrix.pods }}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/train@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef
          command: [train, \"${{ matrix.pods }}\", '--on', \"${{ parameters.flag }}\", $(HOME)]
          resources: {limits: {cpu: 1, memory: 1Gi}}
";

fn spec(more: &str, manifest: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: train}}
spec:
  timeout: 1h
{more}  workload:
    manifest: {manifest}
  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]
"
    )
}

fn compiled(more: &str, manifest: &str, jobs: &[(&str, &str)]) -> Compilation {
    let spec = spec(more, manifest);
    let mut files = vec![("specs/train.yaml", spec.as_str())];
    files.extend(jobs);
    compile(&files)
}

fn jobs(compilation: &Compilation) -> Vec<Value> {
    created(compilation).into_iter().map(|emitted| emitted.object).filter(|object| object["kind"] == "Job").collect()
}

#[test]
fn expressions_within_quotes_are_text() {
    const AXES: &str = "  parameters: {flag: true}\n  matrix: {axes: {pods: [2, 3]}}\n";
    let file = spec(AXES, "{file: jobs/train.yaml}");
    let indented: String = JOB.lines().map(|line| format!("        {line}\n")).collect();
    let object = spec(AXES, &format!("\n      object:\n{indented}"));
    for text in [file, object] {
        let compilation = compile_sound(&[("specs/train.yaml", &text), ("jobs/train.yaml", JOB)]);
        assert_eq!(codes(&compilation), [""; 0], "{text}");
        let jobs = jobs(&compilation);
        assert_eq!(jobs.len(), 2);
        for (job, pods) in jobs.iter().zip([2, 3]) {
            assert_eq!(job["spec"]["parallelism"], pods);
            let command = &job["spec"]["template"]["spec"]["containers"][0]["command"];
            assert_eq!(*command, serde_json::json!(["train", pods.to_string(), "--on", "true", "$(HOME)"]));
        }
    }
}

#[test]
fn the_file_may_be_looked_up() {
    let plain = JOB.replace("${{ matrix.pods }}", "1").replace("${{ parameters.flag }}", "x");
    let other = plain.replace("registry.example/train", "registry.example/other");
    let more = "  matrix: {axes: {job: [one, two]}}\n";
    let files = [("jobs/one.yaml", plain.as_str()), ("jobs/two.yaml", other.as_str())];
    let compilation = compiled(more, "{file: 'jobs/${{ matrix.job }}.yaml'}", &files);
    assert_eq!(errors(&compilation), [""; 0]);
    let images: Vec<bool> = jobs(&compilation)
        .iter()
        .map(|job| job["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap().contains("other"))
        .collect();
    assert_eq!(images, [false, true]);
}

#[test]
fn what_a_server_wrote_and_the_name_are_left_out() {
    let kept = "{apiVersion: batch/v1, kind: Job, metadata: {name: a, uid: u, resourceVersion: '1', labels: {team: x}, creationTimestamp: null}, status: {active: 1}, spec: {}}";
    for (manifest, name) in
        [(format!("{{object: {kept}}}"), Value::Null), (format!("{{object: {kept}, name: keep}}"), "a".into())]
    {
        let compilation = compiled("", &manifest, &[]);
        assert_eq!(errors(&compilation), [""; 0]);
        let job = jobs(&compilation).remove(0);
        assert_eq!(job["metadata"]["name"], name);
        assert_eq!(job["metadata"]["labels"]["team"], "x");
        assert_eq!((job.get("status"), job["metadata"].get("uid")), (None, None));
    }
}

#[test]
fn faults_are_reported_where_they_are() {
    let reported = |manifest: &str, text: &str| located_errors(&compiled("", manifest, &[("jobs/a.yaml", text)]));
    for (manifest, text, expected) in [
        ("{file: jobs/b.yaml}", "", ("KB0340 specs/train.yaml", str! {"there is no file `jobs/b.yaml`"})),
        (
            "{file: generated/x.yaml}",
            "",
            (
                "KB0340 specs/train.yaml",
                str! {"`generated/x.yaml` cannot be carried: it is in `generated`, which is compiled from the specs"},
            ),
        ),
        ("{file: jobs/a.yaml}", "", ("KB0103 jobs/a.yaml", str! {"the file holds no object"})),
        ("{file: jobs/a.yaml}", "a: [", ("KB0104", str! {"a `,` or `]` is missing here"})),
        (
            "{file: jobs/a.yaml}",
            "- a\n",
            ("KB0120 jobs/a.yaml", str! {"this document is a list, not a Kubernetes object"}),
        ),
        ("{file: jobs/a.yaml}", "kind: Job\n", ("KB0346 jobs/a.yaml", str! {"this object has no `apiVersion`"})),
        (
            "{file: jobs/a.yaml}",
            "apiVersion: v1\nkind: Job\nspec: ${{ matrix.no }}\n",
            ("KB0301 jobs/a.yaml", str! {"there is no `matrix.no`"}),
        ),
        (
            "{file: jobs/a.yaml, object: {}}",
            "",
            ("KB0317 specs/train.yaml", str! {"`file` and `object` both say what runs"}),
        ),
        ("{}", "", ("KB0317 specs/train.yaml", str! {"`manifest` has neither `file` nor `object`"})),
        (
            "{object: {apiVersion: batch/v1, kind: Job, spec: {}}, name: keep}",
            "",
            ("KB0317 specs/train.yaml", str! {"`name: keep`, but the object has no name to keep"}),
        ),
        (
            "{object: {apiVersion: batch/v1, kind: Job, spec: {}}, main: Job/x}",
            "",
            ("KB0335 specs/train.yaml", str! {"the manifest holds no `Job/x`"}),
        ),
        (
            "{object: {apiVersion: v1, kind: List, items: []}}",
            "",
            ("KB0335", str! {"nothing in the manifest can be measured"}),
        ),
    ] {
        let found = reported(manifest, text);
        assert_error(&found, expected);
    }
}

/// A spec whose manifest has errors emits nothing, and its earlier output is not treated as left over.
#[test]
fn a_spec_is_faulty_with_its_manifest() {
    let compilation = compiled("", "{file: jobs/a.yaml}", &[("jobs/a.yaml", "kind: Job\n")]);
    assert!(compilation.faulty.contains("specs/train.yaml"), "{:?}", compilation.faulty);
    assert!(compilation.benchmarks.is_empty());
}

/// Pods of a manifest are not hardened, so what a namespace refuses is reported before anything is pushed.
#[test]
fn for_a_namespace_that_enforces_restricted_what_pods_lack_is_listed() {
    let compiled = |context: &str, pod: &str| {
        let job = format!(
            "{{object: {{apiVersion: batch/v1, kind: Job, spec: {{template: {{spec: {{{pod} restartPolicy: Never, containers: \
             [{{name: a, image: 'r.example/a:1', resources: {{limits: {{cpu: 1, memory: 1Gi}}}}, securityContext: {{{context}}}}}]}}}}}}}}}}"
        );
        let spec = spec("", &job);
        let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {podSecurity: restricted}}}\n";
        errors(&compile(&[("kubebench.yaml", project), ("specs/train.yaml", &spec)]))
    };
    let reported = "KB0419 specs/train.yaml: this container lacks settings that `restricted` requires";
    assert_eq!(compiled("", ""), [reported]);
    let container = "allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}";
    assert_eq!(compiled(container, ""), [reported]);
    assert_eq!(
        compiled(container, "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},"),
        [""; 0]
    );
}

#[test]
fn jobs_that_are_not_suspended_do_not_say_so() {
    let job = JOB.replace("${{ matrix.pods }}", "1").replace("${{ parameters.flag }}", "x");
    let said = job.replace("\nspec:\n", "\nspec:\n  suspend: false\n");
    assert_ne!(job, said);
    let emitted = |job: &str| {
        let compilation = compiled("", "{file: jobs/train.yaml}", &[("jobs/train.yaml", job)]);
        assert_eq!(codes(&compilation), [""; 0]);
        (jobs(&compilation), compilation.benchmarks[0].identity.digest)
    };
    assert_eq!(emitted(&job), emitted(&said));
}
