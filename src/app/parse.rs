//! What would be read from logs, and from which line.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use super::project::CompiledProject;
use super::runs::secrets;
use kubebench_executor::local::Secrets;
use kubebench_executor::run;
use kubebench_extract::log_files::Kept;
use kubebench_extract::measure::Measured;
use kubebench_extract::rules::Rules;
use kubebench_extract::tool::{TOOLS, tool};
use kubebench_format::spec::v1::metric::Reports;
use kubebench_host::experiment::RunOutputs;
use kubebench_host::fs;
use kubebench_host::machine;
use kubebench_syntax::diag::{did_you_mean, what_there_is};
use kubebench_syntax::redact::{self, Redactor};
use kubebench_syntax::unit::MetricSelector;

/// Why nothing is read.
pub const NO_LOG: &str = "no log is named; write its path, or `-` for standard input";

/// What is wanted of logs.
pub struct Wanted {
    /// The rules by which they are read.
    pub rules: Rules,
    /// The roles of which there may be logs; none where nothing is known of them.
    pub roles: Vec<String>,
    /// What takes secrets out of their lines.
    pub redactor: Redactor,
}

/// The secrets that are known.
pub struct Known {
    secrets: Secrets,
    variables: BTreeMap<String, String>,
}

impl Known {
    /// Takes the secrets of a file, if one is named, and those of the environment.
    pub fn of(file: Option<&Path>, start: &Path) -> Result<Self> {
        let variables = machine::variables(redact::names_a_secret);
        Ok(Self { secrets: secrets(file, start)?, variables })
    }
}

impl Wanted {
    /// Wants the metrics of a tool.
    pub fn of_tool(name: &str, reports: Reports, metrics: &[String], known: &Known) -> Result<Self> {
        let Some(tool) = tool(name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let close = did_you_mean(name, names.iter().copied());
            let close = close.map(|close| format!("did you mean `{close}`? ")).unwrap_or_default();
            bail!("there is no tool `{name}`; {close}tools are {}", names.join(", "));
        };
        let metrics = (!metrics.is_empty()).then(|| metrics.to_vec());
        let variables = known.variables.values().map(String::as_str);
        let redactor = Redactor::new(known.secrets.values()).suspecting(variables);
        Ok(Self { rules: Rules::of_tool(tool, reports, metrics), roles: Vec::new(), redactor })
    }

    /// Wants what the spec asks for that is called `shown`, the only one that was selected of a project without errors.
    pub fn of_spec(project: &CompiledProject, shown: &str, metrics: &[String], known: &Known) -> Result<Self> {
        let benchmarks = project.benchmarks();
        let Some(compiled) = benchmarks.first() else { bail!("{shown} has no benchmark on that target") };
        if benchmarks.iter().any(|other| other.rules != compiled.rules) {
            let targets: Vec<&str> =
                benchmarks.iter().map(|compiled| compiled.benchmark.target.name.as_str()).collect();
            bail!("the targets of {shown} have different rules; choose one with `--target`: {}", targets.join(", "));
        }
        let mut rules = Rules::read(&compiled.rules).map_err(|reason| anyhow!("{shown}: {reason}"))?.without_a_run();
        if rules.metrics.is_empty() {
            bail!("{shown} measures nothing; add `metrics`");
        }
        if !metrics.is_empty() {
            if let Some(names) = rules.names()
                && let Some(name) = metrics.iter().find(|name| !is_known(&names, name))
            {
                bail!(
                    "{shown} has no metric `{name}`; {}",
                    what_there_is(name, names.iter().map(String::as_str), "metrics are")
                );
            }
            rules = rules.about(metrics);
        }
        let mut roles: Vec<String> = Vec::new();
        for role in compiled.benchmark.cases.iter().flat_map(|case| &case.workload.roles) {
            if !roles.contains(&role.name) {
                roles.push(role.name.clone());
            }
        }
        let redactor = run::redactor(&compiled.benchmark, &known.secrets, &known.variables);
        Ok(Self { rules, roles, redactor })
    }
}

/// Reads the metrics of `logs`, each a path, `-` or `ROLE/INDEX=PATH`, and of `files`.
pub fn read(wanted: &Wanted, logs: &[PathBuf], files: &Files<'_>) -> Result<Measured> {
    let Wanted { rules, roles, .. } = wanted;
    if logs.is_empty() && rules.metrics.iter().any(|rule| rule.from.is_of_a_log()) {
        bail!(NO_LOG);
    }
    let mut logs: Vec<LogArgument> = logs.iter().map(|log| LogArgument::of(log, roles)).collect::<Result<_>>()?;
    if logs.iter().filter(|log| log.path == Path::new("-")).count() > 1 {
        bail!("standard input can be read only once; give the other logs by their paths");
    }
    // A run reads its logs in this order too, and of several that have a value the first counts.
    logs.sort_by_cached_key(|log| log.order(roles));
    // A log of no replica in particular may be of any.
    let rules = if logs.iter().all(|log| log.place.is_none()) { rules.clone().of_any_log() } else { rules.clone() };
    let mut kept = Kept::new(|name| files.open(name));
    for LogArgument { place, path, shown } in &logs {
        let cannot = |reason: String| anyhow!("cannot read the log {shown}: {reason}");
        let text = if path == Path::new("-") {
            fs::standard_input()
        } else {
            fs::open_log(&files.start.join(path)).map_err(cannot)?
        };
        let (role, index) = place
            .as_ref()
            .map_or((roles.first().map_or("log", String::as_str), 0), |(role, index)| (role.as_str(), *index));
        kept.read(&rules, (role, index), shown, text).map_err(|error| cannot(fs::log_error(&error)))?;
    }
    Ok(kept.measure(&rules))
}

/// A log as it was named.
struct LogArgument {
    place: Option<(String, u32)>,
    path: PathBuf,
    shown: String,
}

impl LogArgument {
    /// Reads `ROLE/INDEX=PATH` or `PATH`; a role must be one of `roles`, unless nothing is known of them.
    fn of(argument: &Path, roles: &[String]) -> Result<Self> {
        let placed = || {
            let (place, path) = argument.to_str()?.split_once('=')?;
            let (role, index) = place.split_once('/')?;
            let is_role = !role.is_empty() && role.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            let is_index = !path.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
            Some((role, index.parse::<u32>().ok()?, path)).filter(|_| is_role && is_index)
        };
        let Some((role, index, path)) = placed() else {
            let shown = argument.display().to_string();
            return Ok(Self { place: None, path: argument.to_owned(), shown });
        };
        if !roles.is_empty() && !roles.iter().any(|known| known == role) {
            bail!("there is no role `{role}`; {}", what_there_is(role, roles.iter().map(String::as_str), "roles are"));
        }
        Ok(Self { place: Some((role.to_owned(), index)), path: path.into(), shown: path.to_owned() })
    }

    /// Returns its place among the logs of a run whose roles are `roles`; one of no replica counts as the first.
    fn order(&self, roles: &[String]) -> (usize, u32) {
        let Some((role, index)) = &self.place else { return (0, 0) };
        (roles.iter().position(|known| known == role).unwrap_or_default(), *index)
    }
}

/// The files that metrics are read from.
pub struct Files<'a> {
    /// The folder in which the command starts.
    pub start: &'a Path,
    /// Files by the names that they have in the spec.
    pub named: &'a [(String, PathBuf)],
    /// The folder of a run, or its output folder.
    pub output: Option<&'a Path>,
}

impl Files<'_> {
    fn open(&self, name: &str) -> Result<Box<dyn BufRead>, String> {
        if let Some((_, path)) = self.named.iter().find(|(known, _)| known == name) {
            return fs::open_log(&self.start.join(path));
        }
        match self.output {
            Some(folder) => RunOutputs::named(&self.start.join(folder)).open(name),
            None => Err(format!("no such file is given; add `--file {name}=PATH`, or `--output DIR`")),
        }
    }
}

/// Returns whether a name, perhaps with labels, means one of the metrics.
fn is_known(metrics: &[String], asked: &str) -> bool {
    let asked = MetricSelector::of(asked);
    metrics.iter().map(|metric| MetricSelector::of(metric)).any(|metric| asked.has(metric.name(), metric.labels()))
}
