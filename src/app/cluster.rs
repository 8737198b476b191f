//! The cluster of a target, as a person reaches it by the kubeconfig.

mod facts;
mod namespace;
mod watched;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::app::project::{CompiledProject, Pods, Selector};
use crate::app::start::Start;
use kubebench_cluster::Cluster;
use kubebench_compiler::model::Target;
use kubebench_executor::collect::harmless;
use kubebench_extract::line::without_terminal_codes;
use kubebench_host::machine;
use kubebench_syntax::redact::Redactor;

pub use facts::ClusterFacts;
pub use namespace::{SHOWN, add_last_lines, read, tidy, wanted};
pub use watched::Watched;

/// A person waits no longer for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// More of a line does not fit on a screen.
const LINE: usize = 400;

/// A target and its cluster.
pub struct TargetCluster {
    pub project: CompiledProject,
    pub target: Arc<Target>,
    pub cluster: Cluster,
}

impl TargetCluster {
    /// Compiles the project around `start`, and finds the cluster of its target: of the named one, or of the only one in use. `context`
    /// is one of the kubeconfig; without it, the current one.
    pub fn open(start: &Start, target: Option<&str>, context: Option<&str>) -> Result<Self> {
        let selector =
            Selector { targets: target.iter().map(|&name| name.to_owned()).collect(), ..Selector::default() };
        let project = CompiledProject::open(start, &selector, Pods::Kept)?;
        if project.compilation.project.is_none() {
            bail!("the project file has errors; `kubebench validate` says where")
        }
        let target = chosen(&project, target)?;
        let cluster = Cluster::outside(context)?.patience(PATIENCE);
        Ok(Self { project, target, cluster })
    }

    /// Refuses names of benchmarks and suites that the target does not have.
    pub fn check_names<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Result<()> {
        let suites = self.project.compilation.suites.iter().map(|compiled| &compiled.suite);
        let suites = suites.filter(|suite| suite.target.name == self.target.name).map(|suite| suite.name.as_str());
        let known: Vec<&str> = self.benchmarks().chain(suites).collect();
        match names.into_iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => bail!(
                "there is no benchmark `{name}` on the target `{}`; {}",
                self.target.name,
                kubebench_syntax::diag::what_there_is(name, known, "benchmarks are")
            ),
        }
    }

    /// Returns the names of the benchmarks of the target.
    pub fn benchmarks(&self) -> impl Iterator<Item = &str> {
        let all = self.project.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
        all.filter(|benchmark| benchmark.target.name == self.target.name).map(|benchmark| benchmark.name.as_str())
    }
}

fn chosen(project: &CompiledProject, asked: Option<&str>) -> Result<Arc<Target>> {
    let in_use: BTreeSet<&str> =
        project.compilation.benchmarks.iter().map(|compiled| compiled.benchmark.target.name.as_str()).collect();
    let targets = || project.compilation.project.iter().flat_map(|project| &project.targets);
    let named = |name: &str| targets().find(|target| target.name == name).cloned();
    let name = match (asked, in_use.iter().collect::<Vec<_>>().as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, []) => bail!("no benchmark compiles; `kubebench validate` says why"),
        (None, several) => {
            let names: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
            bail!(
                "benchmarks run on the targets {}: name one with --target, and its cluster with --context",
                names.join(", ")
            )
        }
    };
    match named(name) {
        Some(target) => Ok(target),
        None => bail!("there is no target `{name}`"),
    }
}

/// Returns a text of the cluster as one line that may be shown: without secrets, and without what a terminal obeys.
pub fn clean(text: &str) -> String {
    let one_line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    Redactor::default().text(&one_line).chars().take(LINE).collect()
}

/// Returns a text of the cluster without what a terminal obeys, and otherwise as it is.
pub fn plain(text: &str) -> String {
    let text = without_terminal_codes(text.as_bytes());
    // Line ends are controls too, and separate words.
    harmless(&String::from_utf8_lossy(&text).replace(['\n', '\r'], " "))
}

/// Returns the seconds since `time`, by this machine's clock.
pub fn elapsed(time: &str) -> Option<u64> {
    let now = machine::seconds_of(&machine::second())?;
    Some(u64::try_from(now.saturating_sub(machine::seconds_of(time)?)).unwrap_or(0))
}
