//! The arguments of what reads committed results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ChangeArgs, SelectArgs, one_of};
use crate::app::evaluate::{
    ANY_CHANGE, AckAllQuery, AckQuery, BadFiles, Decides, GateQuery, HistoryQuery, MetricQuery, PassOrFail, ReportQuery,
};
use crate::app::results::NamedResults;
use kubebench_syntax::unit::{Day, MetricSelector};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(in crate::cli) struct GateArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    /// What to evaluate: a revision, a folder of results or a session; without it, the newest session of each case
    #[arg(long, value_name = "REV|DIR|SESSION")]
    pub(in crate::cli) candidate: Option<String>,
    /// Compare with the earlier sessions of branch:NAME, tag:NAME or a revision; without it, of the default branch
    #[arg(long, value_name = "BASELINE")]
    pub(in crate::cli) baseline: Option<String>,
    /// A folder of results, or recorded:BRANCH; without it, the project's folder and the branch on which its results are recorded
    #[arg(long, value_name = "DIR|recorded:BRANCH", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
    /// Also count sessions whose commits are on no branch, such as those of a deleted branch
    #[arg(long)]
    pub(in crate::cli) count_unreachable: bool,
    /// Fail only for regressions of this branch; those that the default branch has without it are shown, but do not fail
    #[arg(long)]
    pub(in crate::cli) only_new: bool,
    /// First fetch the branch on which results are recorded, if the remote has it
    #[arg(long)]
    pub(in crate::cli) fetch: bool,
    /// How to treat an inconclusive gate; without this option, the gate passes, unless the recorded results are not in this clone
    #[arg(long, value_parser = one_of(&PassOrFail::ALL, PassOrFail::name), value_name = "WHAT")]
    pub(in crate::cli) on_inconclusive: Option<PassOrFail>,
    /// How to treat a gate without results
    #[arg(long, value_parser = one_of(&PassOrFail::ALL, PassOrFail::name), default_value = "fail", value_name = "WHAT")]
    pub(in crate::cli) on_missing: PassOrFail,
    /// Pass in a project without specs, or with neither gates nor results
    #[arg(long)]
    pub(in crate::cli) allow_empty: bool,
    /// Ignore result files that cannot be trusted
    #[arg(long)]
    pub(in crate::cli) skip_bad: bool,
    /// The day on which acknowledgements are evaluated, such as 2027-03-31; without it, the day of the newest result
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(in crate::cli) as_of: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) change: ChangeArgs,
    /// Also write a comment for a pull request to this file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) markdown: Option<PathBuf>,
}

impl GateArgs {
    /// Returns what is evaluated.
    pub(in crate::cli) fn query(&self) -> GateQuery {
        GateQuery {
            candidate: self.candidate.clone(),
            baseline: self.baseline.clone(),
            results: self.results.clone(),
            decides: if self.only_new { Decides::OnlyNew } else { Decides::Everything },
            on_inconclusive: self.on_inconclusive,
            on_missing: self.on_missing,
            bad_files: if self.skip_bad { BadFiles::Skipped } else { BadFiles::Refused },
            on_weakened: self.change.on_weakened,
            as_of: self.as_of.clone(),
        }
    }
}

fn beginning(text: &str) -> Result<String, String> {
    let help = |error: kubebench_syntax::unit::UnitError| {
        format!("{error}{}", error.help.as_ref().map_or_else(String::new, |help| format!("; {help}")))
    };
    kubebench_syntax::unit::Beginning::parse(text).map(|from| from.to_string()).map_err(help)
}

fn day(text: &str) -> Result<String, String> {
    whole_day(text).map(|day| day.to_string())
}

fn whole_day(text: &str) -> Result<Day, String> {
    Day::parse(text).map_err(|error| error.to_string())
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AckArgs {
    /// The benchmark, by name
    #[arg(value_name = "BENCHMARK", required_unless_present = "all")]
    pub(in crate::cli) benchmark: Option<String>,
    /// The metric
    #[arg(long, value_name = "NAME", required_unless_present = "all")]
    pub(in crate::cli) metric: Option<String>,
    /// Accept all open regressions that began by a given day, in one file
    #[arg(long, requires = "until", conflicts_with_all = ["benchmark", "metric", "case", "target", "from", "max_change"])]
    pub(in crate::cli) all: bool,
    /// With `--all`, the last day (UTC) on which they may have begun, such as 2026-12-31
    #[arg(long, value_name = "DAY", requires = "all", value_parser = whole_day)]
    pub(in crate::cli) until: Option<Day>,
    /// The case, by id or name; `*` matches any; without it, the one whose change is open
    #[arg(long, value_name = "CASE")]
    pub(in crate::cli) case: Option<String>,
    /// The target; without it, any
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) target: Option<String>,
    /// The first session that is accepted: its id, its commit, or a time; without it, where the open change began
    #[arg(long, value_name = "SESSION|COMMIT|TIME", value_parser = beginning)]
    pub(in crate::cli) from: Option<String>,
    /// The largest regression to accept, such as 6%, or `any`; without it, a little more than the current one. A later regression is a separate change
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(in crate::cli) max_change: Option<String>,
    /// Who accepts
    #[arg(long, value_name = "WHO", value_parser = said)]
    pub(in crate::cli) by: String,
    /// Why
    #[arg(long, value_name = "WHY", value_parser = said)]
    pub(in crate::cli) reason: String,
    /// The last day on which the acknowledgement applies, such as 2027-03-31
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(in crate::cli) expires: Option<String>,
    /// A folder of results, or recorded:BRANCH; without it, the project's folder and the branch on which its results are recorded
    #[arg(long, value_name = "DIR|recorded:BRANCH", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
}

/// What `ack` was asked to accept.
pub(in crate::cli) enum Acked {
    /// A regression of one metric.
    One(AckQuery),
    /// All until a day.
    All(AckAllQuery),
}

impl AckArgs {
    /// Returns what is accepted; nothing where no argument says it, which the parser refuses.
    pub(in crate::cli) fn query(&self) -> Option<Acked> {
        let (by, reason) = (self.by.clone(), self.reason.clone());
        let (expires, results) = (self.expires.clone(), self.results.clone());
        if let Some(until) = self.until {
            return Some(Acked::All(AckAllQuery { until, by, reason, expires, results }));
        }
        Some(Acked::One(AckQuery {
            benchmark: self.benchmark.clone()?,
            metric: self.metric.clone()?,
            case: self.case.clone(),
            target: self.target.clone(),
            from: self.from.clone(),
            max_change: self.max_change.clone(),
            by,
            reason,
            expires,
            results,
        }))
    }
}

/// Refuses to accept something in nobody's name, or for no reason.
fn said(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        "YOU" | "WHY" => Err("this is a placeholder: write who accepts, and why".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

fn share(text: &str) -> Result<String, String> {
    if text == ANY_CHANGE {
        return Ok(text.to_owned());
    }
    kubebench_syntax::unit::Percentage::parse(text).map(|share| share.to_string()).map_err(|error| error.to_string())
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MockArgs {
    /// The spec
    #[arg(long, value_name = "SPEC")]
    pub(in crate::cli) spec: PathBuf,
    /// A YAML file with the values of metrics: a number, a number for each session, or `{value, noise, runNoise, changes}`
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) values: PathBuf,
    /// How many sessions to make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(in crate::cli) sessions: u32,
    /// The folder for the results; not the folder of real results
    #[arg(long, value_name = "DIR", default_value = "mock-results")]
    pub(in crate::cli) out: PathBuf,
    /// The target; without it, the first of the spec
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) target: Option<String>,
    /// The day of the first session; each later one is on the next day
    #[arg(long, value_name = "DAY", default_value = "2026-01-01", value_parser = day)]
    pub(in crate::cli) start: String,
    /// The seed of the noise; another number gives other noise
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::cli) seed: u64,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CompareArgs {
    /// The baseline: rev:, branch:, tag:, dir:, label:NAME=VALUE, variant: or env:; a folder or revision without a prefix
    #[arg(value_name = "A", required_unless_present = "by")]
    pub(in crate::cli) baseline: Option<String>,
    /// The candidate
    #[arg(value_name = "B", required_unless_present = "by")]
    pub(in crate::cli) candidate: Option<String>,
    /// Compare cases with each other instead, along a parameter or a fact of the hardware: replicas, variant, gpu, target
    #[arg(long, value_name = "AXIS", conflicts_with_all = ["baseline", "candidate"])]
    pub(in crate::cli) by: Option<String>,
    /// With `--by`, the value that the others are compared with; without it, the smallest number, version or name
    #[arg(long, value_name = "VALUE", requires = "by", conflicts_with_all = ["baseline", "candidate"])]
    pub(in crate::cli) base: Option<String>,
    /// With `--by`, two metrics to trade off, such as latency,throughput; without it, the two primary ones
    #[arg(long, value_name = "A,B", requires = "by", conflicts_with_all = ["baseline", "candidate"])]
    pub(in crate::cli) pareto: Option<String>,
    /// Only this benchmark; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) benchmark: Vec<String>,
    /// Only this metric, such as loss or avg_busbw{test=all_gather_perf}; may be given several times
    #[arg(long, value_name = "METRIC", value_parser = MetricSelector::parse)]
    pub(in crate::cli) metric: Vec<MetricSelector>,
    /// Compare although this fact differs: target, engine, cpu, gpu, driver, instanceType or workload; may be given several times
    #[arg(long, value_name = "FACT", value_parser = ["target", "engine", "cpu", "gpu", "driver", "instanceType", "workload"])]
    pub(in crate::cli) allow: Vec<String>,
    /// A folder of results, or recorded:BRANCH; without it, the project's folder and the branch on which its results are recorded
    #[arg(long, value_name = "DIR|recorded:BRANCH", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
    /// Also write a comment for a pull request to this file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) markdown: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HistoryArgs {
    /// Only these benchmarks, by name
    #[arg(value_name = "BENCHMARK")]
    pub(in crate::cli) benchmark: Vec<String>,
    /// Only this case, by id or name; may be given several times
    #[arg(long, value_name = "CASE")]
    pub(in crate::cli) case: Vec<String>,
    /// Only this metric, primary or not, such as loss or avg_busbw{test=all_gather_perf}; may be given several times
    #[arg(long, value_name = "METRIC", value_parser = MetricSelector::parse)]
    pub(in crate::cli) metric: Vec<MetricSelector>,
    /// All metrics, not only the primary ones
    #[arg(long, conflicts_with = "metric")]
    pub(in crate::cli) all: bool,
    /// Also count sessions whose commits are on no branch, such as those of a deleted branch
    #[arg(long)]
    pub(in crate::cli) count_unreachable: bool,
    /// How many of the newest sessions to list of each metric
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(in crate::cli) last: usize,
    /// A folder of results, or recorded:BRANCH; without it, the project's folder and the branch on which its results are recorded
    #[arg(long, value_name = "DIR|recorded:BRANCH", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
}

impl HistoryArgs {
    /// Returns what was asked for.
    pub(in crate::cli) fn query(&self) -> HistoryQuery {
        let metrics = match (self.all, self.metric.as_slice()) {
            (true, _) => MetricQuery::All,
            (false, []) => MetricQuery::Primary,
            (false, named) => MetricQuery::Named(named.to_vec()),
        };
        HistoryQuery {
            benchmarks: self.benchmark.clone(),
            cases: self.case.clone(),
            metrics,
            results: self.results.clone(),
        }
    }
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ReportFormat {
    /// A folder of pages, plots, badges, a feed and data
    Html,
    /// A text for the front page of a repository
    Markdown,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ReportArgs {
    /// The folder of the site, or the file of Markdown; other files in the folder are kept
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t = ReportFormat::Html, value_name = "FORMAT")]
    pub(in crate::cli) format: ReportFormat,
    /// A folder of results, or recorded:BRANCH; without it, the project's folder and the branch on which its results are recorded
    #[arg(long, value_name = "DIR|recorded:BRANCH", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
    /// Only this benchmark, by name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) benchmark: Vec<String>,
    /// Also count sessions whose commits are on no branch, such as those of a deleted branch
    #[arg(long)]
    pub(in crate::cli) count_unreachable: bool,
    /// Also compare these sides, as `compare` takes them; may be given several times
    #[arg(long, value_name = "A..B")]
    pub(in crate::cli) compare: Vec<String>,
    /// The title of the report
    #[arg(long, value_name = "TEXT", default_value = "Benchmarks")]
    pub(in crate::cli) title: String,
    /// The web address of the repository, for links to commits and files; without it, that of git's remote `origin`
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) repository: Option<String>,
    /// The address of the site, for the links of its feed; without it, `report.url` of the project file
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) url: Option<String>,
    /// The day on which acknowledgements are evaluated, such as 2027-03-31; without it, the day of the newest result
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(in crate::cli) as_of: Option<String>,
}

impl ReportArgs {
    /// Returns what is shown.
    pub(in crate::cli) fn query(&self) -> ReportQuery {
        ReportQuery {
            results: self.results.clone(),
            benchmarks: self.benchmark.clone(),
            comparisons: self.compare.clone(),
            title: self.title.clone(),
            repository: self.repository.clone(),
            url: self.url.clone(),
            as_of: self.as_of.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyArgs {
    /// Result files, or folders of them; without any, those of the project's folder and of the branch on which results are recorded
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Read the results of the project's folder and of this branch, instead of the project's
    #[arg(long, value_name = "recorded:BRANCH", value_parser = NamedResults::parse, conflicts_with = "paths")]
    pub(in crate::cli) results: Option<NamedResults>,
    /// A public key in PEM, instead of `results.keys` of the project file; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) key: Vec<PathBuf>,
    /// First fetch the branch on which results are recorded, if the remote has it
    #[arg(long, conflicts_with = "paths")]
    pub(in crate::cli) fetch: bool,
    /// How to treat a result that is not signed at all
    #[arg(long, value_parser = one_of(&PassOrFail::ALL, PassOrFail::name), default_value = "fail", value_name = "WHAT")]
    pub(in crate::cli) on_unsigned: PassOrFail,
}
