//! A cluster, as a person sees it by the kubeconfig, and the target of the project that is meant.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use super::args::{Global, OutsideArgs, SelectArgs};
use super::session::Session;
use kubebench_cluster::Cluster;
use kubebench_compiler::lower::Project;
use kubebench_compiler::model::Target;
use kubebench_executor::gather::harmless;
use kubebench_extract::line::without_terminal_codes;
use kubebench_host::machine;
use kubebench_syntax::redact::Redactor;

/// A person waits no longer for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// More of a line does not fit on a screen.
const LINE: usize = 400;

/// A target and its cluster.
pub(super) struct Outside<'a> {
    /// The project, compiled.
    pub(super) session: Session<'a>,
    /// The target.
    pub(super) target: Arc<Target>,
    /// Its cluster.
    pub(super) cluster: Cluster,
}

impl<'a> Outside<'a> {
    /// Compiles the project at hand, and finds the target that is meant and its cluster.
    pub(super) fn open(global: &'a Global, args: &OutsideArgs) -> Result<Self> {
        let select = SelectArgs { target: args.target.iter().cloned().collect(), ..SelectArgs::default() };
        let session = Session::open(global, &select)?;
        let Some(project) = &session.compilation.project else {
            bail!("the project file has errors; `kubebench validate` says where")
        };
        let target = chosen(&session, project, args)?;
        let cluster = Cluster::outside(args.context.as_deref())?.patience(PATIENCE);
        Ok(Self { session, target, cluster })
    }

    /// Refuses names of benchmarks and suites that the target does not have.
    pub(super) fn check_names<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Result<()> {
        let suites = self.session.compilation.suites.iter().map(|compiled| &compiled.suite);
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
    pub(super) fn benchmarks(&self) -> impl Iterator<Item = &str> {
        let all = self.session.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
        all.filter(|benchmark| benchmark.target.name == self.target.name).map(|benchmark| benchmark.name.as_str())
    }
}

fn chosen(session: &Session<'_>, project: &Project, args: &OutsideArgs) -> Result<Arc<Target>> {
    let in_use: BTreeSet<&str> =
        session.compilation.benchmarks.iter().map(|compiled| compiled.benchmark.target.name.as_str()).collect();
    let named = |name: &str| project.targets.iter().find(|target| target.name == name).cloned();
    let name = match (&args.target, in_use.iter().collect::<Vec<_>>().as_slice()) {
        (Some(name), _) => name.as_str(),
        (None, [only]) => only,
        (None, []) => bail!("no spec compiles to anything; `kubebench validate` says why"),
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
pub(super) fn clean(text: &str) -> String {
    let one_line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    Redactor::default().text(&one_line).chars().take(LINE).collect()
}

/// Returns a text of the cluster without what a terminal obeys, and otherwise as it is.
pub(super) fn plain(text: &str) -> String {
    let text = without_terminal_codes(text.as_bytes());
    // Line ends are controls too, and stand between words.
    harmless(&String::from_utf8_lossy(&text).replace(['\n', '\r'], " "))
}

/// Returns the seconds since `time`, by this machine's clock.
pub(super) fn elapsed(time: &str) -> Option<u64> {
    let (now, _) = machine::now();
    let now = machine::seconds_of(&now)?;
    Some(u64::try_from(now.saturating_sub(machine::seconds_of(time)?)).unwrap_or(0))
}
