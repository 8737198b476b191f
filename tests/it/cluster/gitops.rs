//! Flux and Argo CD drive the loop: all that a person does is `git push`, and what watches the repository is `deploy/`.
//!
//! They need what [`super::e2e`] needs, and the controllers; where the cluster does not have them, that is said.

#![expect(clippy::print_stderr, reason = "what a person needs of a test that takes minutes")]

mod argo_cd;
mod flux;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use jiff::Timestamp;
use serde_json::Value;

use super::e2e::{Loop, Settings, git};
use super::{Cluster, PATIENCE, cluster_with};
use crate::support::project::{assert_yes, repository};

const TARGET: &str = "cpu";

const SPEC: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: NAME}
spec:
  description: as it was
  run: 1
  matrix: {axes: {size: [SIZES]}}
  timeout: 5m
  workload:
    job:
      image: busybox:1
      command: [sh, -c, 'test "$SIZE" -lt 9 && echo "rate $SIZE x/s"']
      env: {SIZE: "${{ matrix.size }}"}
      resources: {cpu: 10m, memory: 32Mi}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}}
"#;

/// A benchmark with a run for each size; that of size 9 fails.
fn spec(name: &str, sizes: &str) -> String {
    SPEC.replace("NAME", name).replace("SIZES", sizes)
}

/// A project whose pushed commits Flux or Argo CD brings into the cluster.
struct Watched {
    cycle: Loop,
}

impl Watched {
    /// Pushes a project with these benchmarks, each with its sizes.
    fn new(test: &str, component: (&str, &str), benchmarks: &[(&str, &str)]) -> Option<Self> {
        cluster_with(test, component)?;
        let specs = benchmarks.iter().map(|(name, sizes)| (format!("specs/{name}.yaml"), spec(name, sizes)));
        let specs: Vec<(String, String)> = specs.collect();
        // Workflows wait for each other, which is no fault to what applies them.
        let project = Settings { target: TARGET, ..Settings::of("gitops") }.text() + "      concurrency: exclusive\n";
        let mut files = vec![("kubebench.yaml", project.as_str())];
        files.extend(specs.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        Some(Self { cycle: Loop::new(test, &files)? })
    }

    fn cluster(&self) -> &'static Cluster {
        self.cycle.cluster()
    }

    fn namespace(&self) -> &str {
        self.cycle.namespace(TARGET)
    }

    /// Writes the objects of a folder of `deploy/`, with each of `changes` made to them.
    fn write_deployed(&self, folder: &str, changes: &[(&str, &str)]) -> String {
        let built = self.cluster().say(["kustomize", repository().join(folder).to_str().unwrap()]);
        let remote = ("https://git.example/team/benchmarks.git", self.cycle.remote.as_str());
        let text = changes.iter().chain([&remote]).fold(built, |text, (from, to)| {
            assert!(text.contains(from), "{folder} has no `{from}`: {text}");
            text.replace(from, to)
        });
        // Not in the checkout: the next commit would hold it.
        let place = self.cycle.project.place(".git/deployed.yaml");
        fs::write(&place, text).unwrap();
        place
    }

    /// Compiles, commits and pushes; returns the commit.
    fn push(&self) -> String {
        assert_yes(&self.cycle.project.folder.run(&["compile"]));
        self.cycle.push();
        self.revision()
    }

    fn revision(&self) -> String {
        let output = git(self.cycle.project.folder.path(), &["rev-parse", "HEAD"]).output().unwrap();
        assert_yes(&output);
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Changes the spec of a benchmark.
    fn edit(&self, benchmark: &str, from: &str, to: &str) {
        let path = format!("specs/{benchmark}.yaml");
        let text = fs::read_to_string(self.cycle.project.place(&path)).unwrap();
        assert!(text.contains(from), "{text}");
        self.cycle.project.folder.write(&path, text.replace(from, to));
    }

    fn remove(&self, benchmark: &str) {
        fs::remove_file(self.cycle.project.place(&format!("specs/{benchmark}.yaml"))).unwrap();
    }

    /// Waits until an object is as `condition` says.
    fn wait(&self, namespace: &str, object: &str, condition: &str) {
        let patience = format!("--timeout={}s", PATIENCE.as_secs());
        self.cluster().say(["-n", namespace, "wait", &format!("--for={condition}"), object, &patience]);
    }

    /// Waits until the Workflows of these benchmarks are there.
    fn begin(&self, benchmarks: &[&str]) {
        let workflows = self.cycle.workflows(TARGET);
        for benchmark in benchmarks {
            self.wait(self.namespace(), &format!("workflow/{}", workflows[*benchmark]), "create");
        }
    }

    /// Waits until the Workflow of a benchmark has ended, and says what passed since it was pushed.
    fn ends(&self, benchmark: &str, phase: &str, pushed: Timestamp) {
        self.begin(&[benchmark]);
        let name = &self.cycle.workflows(TARGET)[benchmark];
        let workflow = self.cycle.workflow_ends(TARGET, name, phase);
        let results = self.cycle.results();
        let since =
            |time: &Value| time.as_str().unwrap().parse::<Timestamp>().unwrap().duration_since(pushed).as_secs();
        let runs = results.of(benchmark).into_iter().map(|result| since(&result["run"]["startedAt"]));
        let run = runs.filter(|seconds| *seconds >= 0).min();
        let (created, ended) = (&workflow["metadata"]["creationTimestamp"], &workflow["status"]["finishedAt"]);
        eprintln!("{name}: created after {} s, run after {run:?} s, recorded after {} s", since(created), since(ended));
    }

    /// The Workflows that are there, each with what distinguishes it from another of the same name.
    fn workflows(&self) -> BTreeMap<String, [Value; 3]> {
        let list = self.cluster().json(["-n", self.namespace(), "get", "workflows", "-o", "json"]);
        let states = list["items"].as_array().unwrap().iter().map(|workflow| {
            let (metadata, status) = (&workflow["metadata"], &workflow["status"]);
            let name = metadata["name"].as_str().unwrap().to_owned();
            (name, [metadata["uid"].clone(), status["startedAt"].clone(), status["finishedAt"].clone()])
        });
        states.collect()
    }

    /// Returns whether one Workflow runs, and another one waits for it.
    fn is_one_waiting(&self) -> bool {
        let list = self.cluster().json(["-n", self.namespace(), "get", "workflows", "-o", "json"]);
        let has = |phase: &str, words: &str| {
            let mut statuses = list["items"].as_array().unwrap().iter().map(|workflow| &workflow["status"]);
            statuses.any(|status| {
                status["phase"] == phase && status["message"].as_str().unwrap_or_default().starts_with(words)
            })
        };
        has("Running", "") && has("Pending", "Waiting for ")
    }

    /// What the cluster has with a label: `KIND/NAME`, of the kinds that are in git and of those that steps create.
    fn labeled(&self, label: &str) -> BTreeSet<String> {
        const KINDS: &str = "workflows,workflowtemplates,cronworkflows,configmaps,persistentvolumeclaims,\
                             serviceaccounts,roles,rolebindings,networkpolicies,jobs,pods";
        let listed = self.cluster().say(["-n", self.namespace(), "get", KINDS, "-l", label, "-o", "name"]);
        listed.lines().map(str::to_owned).collect()
    }

    /// For each result of a benchmark: its case's only value, its attempt and its status.
    fn results(&self, benchmark: &str) -> Vec<(u64, u64, String)> {
        let results = self.cycle.results();
        let told = results.of(benchmark).into_iter().map(|result| {
            let number = |at: &str| result.pointer(at).and_then(Value::as_u64).unwrap_or_else(|| panic!("{result:#}"));
            let status = result.pointer("/run/status").and_then(Value::as_str).unwrap_or_else(|| panic!("{result:#}"));
            (number("/metadata/params/size"), number("/run/attempt"), status.to_owned())
        });
        told.collect()
    }
}

/// Which Workflows there are, however far they are.
fn uids(watched: &Watched) -> Vec<Value> {
    watched.workflows().into_values().map(|[uid, ..]| uid).collect()
}

/// One of the results that [`Watched::results`] returns.
fn result(size: u64, attempt: u64, status: &str) -> (u64, u64, String) {
    (size, attempt, status.to_owned())
}
