//! What may befall a run: whatever it is, one result says so in words that help, no job stays, and what comes next runs.
//!
//! Each test has a namespace and one Workflow for each failure, all at once.

mod around;
mod by_itself;
mod killed;
mod nodes;
mod quota;
mod volumes;

use serde_json::Value;

use super::e2e::{Loop, Results};
use super::eventually;

const PROJECT: &str = r#"
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: failures}
spec:
  image: IMAGE
  results: {mode: branch, branch: kubebench/results, remote: REMOTE}
  defaults: {repeats: 1, warmups: 0, claimSize: 1Gi}
  # Nothing is measured here, and no name of an image is meant to be safe.
  lints: {KB0406: "off", KB0410: "off", KB0414: "off"}
  targets:
    cluster:
      cluster: test
      namespace: NAMESPACE
      storageClass: standard
"#;

/// One failure: a benchmark and what its one result must say.
pub(super) struct Failure {
    pub(super) benchmark: &'static str,
    /// The keys of `spec` but `workload`.
    pub(super) limits: &'static str,
    /// `workload`.
    pub(super) workload: &'static str,
    pub(super) status: &'static str,
    /// The code of its first reason.
    pub(super) code: &'static str,
    /// What all of its reasons say together.
    pub(super) words: &'static [&'static str],
    /// What the replicas printed last.
    pub(super) last: &'static [&'static str],
}

impl Failure {
    pub(super) fn file(&self) -> (String, String) {
        let Self { benchmark, limits, workload, .. } = self;
        let text = format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {benchmark}}}\nspec:\n  {limits}\n  workload: {workload}\n"
        );
        (format!("specs/{benchmark}.yaml"), text)
    }

    /// Compares the result of this failure with what it must say.
    pub(super) fn judge(&self, results: &Results) {
        let found = results.of(self.benchmark);
        // What the cluster evicted is tried again.
        let again = if self.status == "preempted" { &["succeeded"][..] } else { &[] };
        let later: Vec<&str> = found.iter().skip(1).map(|result| result["run"]["status"].as_str().unwrap()).collect();
        assert_eq!(later, again, "{}: {found:#?}", self.benchmark);
        assert!(!found.is_empty(), "{} has no result", self.benchmark);
        let run = &found[0]["run"];
        let reasons = run["reasons"].as_array().unwrap_or_else(|| panic!("{}: {run:#}", self.benchmark));
        let said: Vec<&str> = reasons.iter().map(|reason| reason["message"].as_str().unwrap()).collect();
        let said = said.join("\n");
        assert_eq!(
            (&run["status"], &reasons[0]["code"]),
            (&self.status.into(), &self.code.into()),
            "{}: {run:#}",
            self.benchmark
        );
        for words in self.words {
            assert!(said.contains(words), "{}: `{words}` is not in {said}", self.benchmark);
        }
        let last = last_lines(run);
        for line in self.last {
            // The reasons say where a log could not be read.
            assert!(last.iter().any(|printed| printed == line), "{}: no `{line}`; {said}\n{run:#}", self.benchmark);
        }
    }
}

fn last_lines(run: &Value) -> Vec<&str> {
    let exits = run["exits"].as_array().into_iter().flatten();
    exits
        .flat_map(|exit| exit["lastLines"].as_array().into_iter().flatten())
        .map(|line| line.as_str().unwrap())
        .collect()
}

/// A project of these failures, in a namespace called like `name`.
fn project(test: &str, name: &str, failures: &[Failure]) -> Option<Loop> {
    let project = PROJECT.replace("NAMESPACE", name);
    let mut files = vec![("kubebench.yaml".to_owned(), project)];
    files.extend(failures.iter().map(Failure::file));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Loop::new(test, &files)
}

impl Loop {
    /// Calls kubectl in the namespace of these tests.
    fn say_there(&self, arguments: &[&str]) -> String {
        self.cluster().say(["-n", self.namespace("cluster")].iter().chain(arguments))
    }

    fn json_there(&self, arguments: &[&str]) -> Value {
        self.cluster().json(["-n", self.namespace("cluster")].iter().chain(arguments).chain(&["-o", "json"]))
    }

    fn create(&self, object: &Value) {
        self.project().folder.write("made.json", object.to_string());
        self.cluster().say(["create", "-f", &self.project().place("made.json")]);
    }

    /// The objects of the runs of a benchmark.
    fn of_run(&self, kind: &str, benchmark: &str) -> Vec<Value> {
        let selector = format!("kubebench.dev/benchmark={benchmark},kubebench.dev/run");
        let mut found = self.json_there(&["get", kind, "-l", &selector]);
        found["items"].as_array_mut().map(std::mem::take).unwrap()
    }

    /// Waits until a pod of a run of this benchmark runs, and returns its name.
    fn running_pod(&self, benchmark: &str) -> String {
        eventually(&format!("a pod of {benchmark} that runs"), || {
            let pods = self.of_run("pods", benchmark);
            let pod = pods.into_iter().find(|pod| pod["status"]["phase"] == "Running")?;
            Some(pod["metadata"]["name"].as_str().unwrap().to_owned())
        })
    }

    /// Asserts that of all runs nothing is left.
    fn assert_nothing_left(&self) {
        let left = self.json_there(&["get", "jobs,pods,pytorchjobs,tfjobs,services", "-l", "kubebench.dev/run"]);
        let left: Vec<&Value> =
            left["items"].as_array().unwrap().iter().map(|object| &object["metadata"]["name"]).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
