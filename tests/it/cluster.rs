//! A real API server with Argo Workflows and the training operator as the judge.
//!
//! `KUBEBENCH_CLUSTER` decides, as `KUBEBENCH_ORACLES` does for tools: unset, no test asks for a cluster, which is said;
//! `1` starts the one of `tests/cluster` and leaves it up for the next run; `kubeconfig` takes that of `KUBECONFIG`.
//! Each test works in namespaces of its own, so that they run at once and on a cluster that others use.

mod accepted;
mod access;
mod admission;
mod applied;
mod arrives;
mod client;
mod definitions;
mod e2e;
mod failures;
mod gitops;
mod logs;
mod long_names;
mod namespaces;
mod outages;
mod outside;
mod retried;
mod scripted;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::judges::{skip, tool};
use crate::support::project::{assert_yes, repository};

/// What `tests/cluster/up` starts for all tests, and what a cluster that is given must have.
const COMPONENTS: &str = "argo,training-operator,git";

/// The exit status of `tests/cluster/up` where the machine lacks something that it names.
const LACKS: i32 = 3;

/// Longer takes nothing that a test waits for, however busy the machine is. Pods of all tests share the CPUs of one node: on a
/// small machine a pod may wait for minutes until those of other tests have ended.
const PATIENCE: Duration = Duration::from_mins(10);

/// How objects reach a cluster: Flux and `kubectl apply --server-side`, or Argo CD and `kubectl apply`.
const WAYS: [&[&str]; 2] = [&[], &["--server-side"]];

/// A cluster that answers.
struct Cluster {
    kubectl: PathBuf,
    kubeconfig: OsString,
    origin: Origin,
}

/// Where a cluster comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// `tests/cluster/up`.
    Started,
    /// Whoever calls the tests.
    Given,
}

/// Why there is no cluster.
enum Absence {
    Skipped(String),
    Failed(String),
}

/// The cluster of this run of the tests, or `None` after a visible line.
fn cluster(test: &str) -> Option<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster, Absence>> = LazyLock::new(Cluster::find);
    match &*CLUSTER {
        Ok(cluster) => Some(cluster),
        Err(Absence::Skipped(why)) => {
            skip(test, "a cluster", why);
            None
        }
        Err(Absence::Failed(why)) => panic!("{why}"),
    }
}

/// The same with a component that few tests need; a cluster that is given has its `definition` or has it not.
fn cluster_with(test: &str, (component, definition): (&str, &str)) -> Option<&'static Cluster> {
    let cluster = cluster(test)?;
    cluster.add(component);
    if !cluster.kubectl(["get", "customresourcedefinition", definition]).status.success() {
        skip(test, definition, "the cluster does not define it");
        return None;
    }
    Some(cluster)
}

impl Cluster {
    fn find() -> Result<Self, Absence> {
        let found = match std::env::var("KUBEBENCH_CLUSTER").unwrap_or_default().as_str() {
            "" | "0" => Err(Absence::Skipped("set KUBEBENCH_CLUSTER=1 to start a cluster for it".to_owned())),
            "1" => Self::start(),
            "kubeconfig" => Self::given(),
            other => Err(Absence::Failed(format!("KUBEBENCH_CLUSTER is `{other}`; it is `1` or `kubeconfig`"))),
        }?;
        let _ = fs::remove_dir_all(cache());
        assert_yes(&found.kubectl(["version"]));
        Ok(found)
    }

    fn start() -> Result<Self, Absence> {
        let said = up(COMPONENTS)?;
        let kubeconfig = said.lines().last().and_then(|line| line.strip_prefix("KUBECONFIG=")).expect(&said);
        let build = repository().join("tests/cluster/build");
        let built = Command::new(build).args(["--path", "kubernetes"]).output().unwrap();
        assert_yes(&built);
        let built = PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end());
        Ok(Self { kubectl: built.join("bin/kubectl"), kubeconfig: kubeconfig.into(), origin: Origin::Started })
    }

    /// Starts a component of `tests/cluster`.
    fn add(&self, component: &str) {
        if self.origin == Origin::Started
            && let Err(Absence::Skipped(why) | Absence::Failed(why)) = up(component)
        {
            panic!("{component}: {why}");
        }
    }

    fn given() -> Result<Self, Absence> {
        let missing = |what: &str| Absence::Failed(format!("KUBEBENCH_CLUSTER=kubeconfig needs {what}"));
        Ok(Self {
            kubeconfig: std::env::var_os("KUBECONFIG").ok_or_else(|| missing("KUBECONFIG to be set"))?,
            kubectl: tool("kubectl").ok_or_else(|| missing("kubectl in PATH or in the cache of `.ci/run`"))?,
            origin: Origin::Given,
        })
    }

    /// What `kubectl` answers, whatever it is.
    fn kubectl<A: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What `kubectl` prints when it must succeed.
    fn say<A: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        let output = self.kubectl(arguments);
        assert_yes(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    /// What `kubectl … -o json` prints when it must succeed.
    fn json<A: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Value {
        serde_json::from_str(&self.say(arguments)).unwrap()
    }

    fn command<A: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .arg("--cache-dir")
            .arg(cache())
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .stdin(Stdio::null());
        command
    }
}

/// Calls `tests/cluster/up` and returns what it prints.
fn up(components: &str) -> Result<String, Absence> {
    // What it says on standard error is for whoever waits: a first build takes many minutes.
    let up = Command::new(repository().join("tests/cluster/up"))
        .args(["--with", components])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Absence::Skipped(format!("`tests/cluster/up` does not start here: {error}")))?;
    match up.status.code() {
        Some(0) => Ok(String::from_utf8(up.stdout).unwrap()),
        Some(LACKS) => Err(Absence::Skipped("`tests/cluster/up` named what the machine lacks".to_owned())),
        _ => Err(Absence::Failed(format!("`tests/cluster/up` ended with {}", up.status))),
    }
}

/// Where kubectl keeps what the server can do; the cluster of the last run could do something else.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl")
}

/// Waits until there is what `look` looks for.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "{what}: not within {} s", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(500));
    }
}
