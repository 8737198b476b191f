//! The whole loop on a real cluster: a compiled tree is applied, Argo calls the steps, jobs run, and the results are
//! files on a branch.
//!
//! They need what the other tests here need, the image of the program under test ([`image`]) and a git server that pods
//! reach: that of `tests/cluster`, or one at `KUBEBENCH_TEST_GIT` that makes repositories when they are pushed.

mod again;
mod ancestor;
mod as_they_are;
mod beside;
mod deleted;
mod diagnosis;
mod frameworks;
mod image;
mod job_sets;
mod kinds;
mod kserve;
mod kuberay;
mod manifests;
mod mpi_operator;
mod operators;
mod queued;
mod scheduled;
mod searches;
mod served;
pub(super) mod signed;
mod suites;
mod texts;
mod train_jobs;
mod volume;
mod workflows;

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

pub(super) use image::{image_of_steps, is_own, tag};

use super::namespaces::Project;
use super::{Cluster, cluster};
use crate::support::judges::skip;
use crate::support::project::{Emitted, Folder, assert_yes, files_below};

/// The git server of `tests/cluster`.
const GIT: &str = "10.96.0.20:80";
/// What starts the steps, and so is applied after what it refers to.
const STARTS: [&str; 2] = ["Workflow", "CronWorkflow"];
/// Longer takes no benchmark of these tests, however busy the machine is.
const DEADLINE: &str = "--timeout=900s";
/// The branch of results.
const BRANCH: &str = "kubebench/results";

/// What the projects of these tests differ in.
pub(super) struct Settings<'s> {
    pub(super) name: &'s str,
    pub(super) target: &'s str,
    /// What results call the cluster.
    pub(super) cluster: &'s str,
    /// The mode of recording, and what else `results` says.
    pub(super) results: &'s str,
    pub(super) repeats: u32,
}

impl<'s> Settings<'s> {
    /// A project of this name with the target `test`, whose benchmarks run once and whose results go to a branch.
    pub(super) fn of(name: &'s str) -> Self {
        Self { name, target: "test", cluster: "test", results: "mode: branch", repeats: 1 }
    }

    /// `kubebench.yaml`, for [`Loop::new`].
    pub(super) fn text(&self) -> String {
        let Self { name, target, cluster, results, repeats } = self;
        format!(
            r"
apiVersion: kubebench.dev/v1
kind: Project
metadata: {{name: {name}}}
spec:
  image: IMAGE
  results: {{{results}, branch: {BRANCH}, remote: REMOTE}}
  defaults: {{repeats: {repeats}, warmups: 0, queueTimeout: 5m, claimSize: 1Gi}}
  targets:
    {target}:
      cluster: '{cluster}'
      namespace: {name}
      storageClass: standard
      podSecurity: restricted
"
        )
    }
}

/// A project in a cluster that has all the loop needs.
pub(super) struct Loop {
    pub(super) project: Project,
    pub(super) remote: String,
}

impl Loop {
    /// The project of these files, compiled but not applied; in `kubebench.yaml`, `IMAGE` and `REMOTE` are filled in.
    pub(super) fn new(test: &str, files: &[(&str, &str)]) -> Option<Self> {
        let cluster = cluster(test)?;
        let image = image_of_steps(cluster).map_err(|why| skip(test, "an image of this program", why)).ok()?;
        let Some(server) = git_server() else {
            skip(
                test,
                "a git server",
                "set KUBEBENCH_TEST_GIT to the address of a git server that pods reach and that takes any push",
            );
            return None;
        };
        let remote = format!("{server}/{}-{}.git", test.replace('_', "-"), std::process::id());
        let filled =
            |(path, text): &(&str, &str)| ((*path).to_owned(), text.replace("IMAGE", image).replace("REMOTE", &remote));
        let project = Project::compiled(cluster, files.iter().map(filled).collect());
        let cycle = Self { project, remote };
        cycle.push();
        Some(cycle)
    }

    /// Commits the project and pushes it, which makes the repository that the results go to.
    pub(super) fn push(&self) {
        let folder = self.project.folder.path();
        for arguments in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &["-c", "user.name=e2e", "-c", "user.email=e2e@example.com", "commit", "--quiet", "--message=all"],
            &["push", "--quiet", &self.remote, "main"],
        ] {
            assert_yes(&git(folder, arguments).output().unwrap());
        }
    }

    pub(super) fn cluster(&self) -> &'static Cluster {
        self.project.cluster
    }

    /// The project, compiled.
    pub(super) fn project(&self) -> &Project {
        &self.project
    }

    /// The namespace of a target.
    pub(super) fn namespace(&self, target: &str) -> &str {
        &self.project.namespaces[target]
    }

    /// Writes a file of the project and compiles it again.
    fn change(&self, path: &str, text: &str) {
        self.project.folder.write(path, text);
        self.compile();
    }

    fn compile(&self) {
        assert_yes(&self.project.folder.run(&["compile"]));
    }

    /// Applies the tree in the order in which GitOps tools do: what starts comes last.
    pub(super) fn apply(&self) {
        let (starts, rest): (Vec<_>, Vec<_>) = self
            .project
            .objects()
            .into_iter()
            .partition(|emitted| STARTS.contains(&emitted.object["kind"].as_str().unwrap()));
        for objects in [rest, starts] {
            self.cluster().say(["apply".to_owned()].into_iter().chain(self.project.files(&objects)));
        }
    }

    /// The names of the Workflows of the tree by their benchmarks.
    pub(super) fn workflows(&self, target: &str) -> BTreeMap<String, String> {
        let objects = self.project.objects().into_iter().filter(|Emitted { object, .. }| {
            object["kind"] == "Workflow" && object["metadata"]["namespace"] == self.namespace(target)
        });
        let named = |Emitted { object, .. }: Emitted| {
            let text = |at: &str| object.pointer(at).unwrap().as_str().unwrap().to_owned();
            (text("/metadata/labels/kubebench.dev~1benchmark"), text("/metadata/name"))
        };
        objects.map(named).collect()
    }

    /// Waits for the end of the Workflow of a benchmark and returns it; it must have ended in `phase`.
    pub(super) fn ends(&self, target: &str, benchmark: &str, phase: &str) -> Value {
        let name = &self.workflows(target)[benchmark];
        self.workflow_ends(target, name, phase)
    }

    /// The same for a Workflow by its own name.
    pub(super) fn workflow_ends(&self, target: &str, name: &str, phase: &str) -> Value {
        let (namespace, workflow) = (self.namespace(target), format!("workflow/{name}"));
        self.cluster().say(["-n", namespace, "wait", "--for=condition=Completed", &workflow, DEADLINE]);
        let ended = self.cluster().json(["-n", namespace, "get", &workflow, "-o", "json"]);
        assert_eq!(ended["status"]["phase"], phase, "{name}: {}", ended["status"]["message"]);
        ended
    }

    /// Checks out the branch of results.
    pub(super) fn results(&self) -> Results {
        let folder = Folder::with([] as [(&str, &str); 0]);
        let arguments = ["clone", "--quiet", "--branch", BRANCH, &self.remote, "."];
        assert_yes(&git(folder.path(), &arguments).output().unwrap());
        let files = files_below(folder.path()).into_iter().filter(|path| {
            path.extension().is_some_and(|ending| ending == "json") && !path.starts_with(folder.path().join(".git"))
        });
        let all = files.map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect();
        Results { folder, all }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for namespace in self.project.namespaces.values() {
                diagnosis::show(self.cluster(), namespace);
            }
        }
    }
}

/// A checkout of the branch of results.
pub(super) struct Results {
    folder: Folder,
    pub(super) all: Vec<Value>,
}

impl Results {
    /// The results of a benchmark, sorted by case, warm-ups first, repeats and attempts.
    pub(super) fn of(&self, benchmark: &str) -> Vec<&Value> {
        let mut found: Vec<&Value> =
            self.all.iter().filter(|result| result["metadata"]["benchmark"] == benchmark).collect();
        found.sort_by_key(|result| round(result));
        found
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// What distinguishes the runs of a benchmark: the case, whether it counts, the repeat and the attempt.
fn round(result: &Value) -> (String, bool, u64, u64) {
    let number = |key: &str| result["run"][key].as_u64().unwrap_or_else(|| panic!("no {key}: {result:#}"));
    let is_measured = !result["run"]["warmup"].as_bool().unwrap();
    (result["metadata"]["case"].as_str().unwrap().to_owned(), is_measured, number("repeat"), number("attempt"))
}

/// The status of a result, and the values of its metrics in their order there.
fn outcome(result: &Value) -> (&str, Vec<Option<f64>>) {
    let metrics = result["metrics"].as_array().unwrap();
    (result["run"]["status"].as_str().unwrap(), metrics.iter().map(|metric| metric["value"].as_f64()).collect())
}

/// The folder of the running cluster of `tests/cluster`, with its keys.
pub(super) fn run_folder(cycle: &Loop) -> Option<PathBuf> {
    let folder = PathBuf::from(&cycle.cluster().kubeconfig).parent()?.to_owned();
    (is_own(cycle.cluster()) && folder.join("git/token").exists()).then_some(folder)
}

/// git without a proxy, which would not know the addresses of a cluster.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(["-c", "http.proxy="]).args(arguments).current_dir(folder).env("no_proxy", "*").stdin(Stdio::null());
    git
}

/// The address of a git server, without a slash at its end.
fn git_server() -> Option<String> {
    match std::env::var("KUBEBENCH_TEST_GIT") {
        Ok(address) if !address.is_empty() => Some(address.trim_end_matches('/').to_owned()),
        _ => {
            let address: SocketAddr = GIT.parse().unwrap();
            let reached = TcpStream::connect_timeout(&address, Duration::from_secs(2));
            reached.is_ok().then(|| format!("http://{}", address.ip()))
        }
    }
}
