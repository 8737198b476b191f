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
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub(in crate::cli) struct GateArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    /// A revision, folder or session to evaluate
    ///
    /// A folder has results. Without it, the newest session of each case is evaluated.
    #[arg(long, value_name = "CANDIDATE")]
    pub(in crate::cli) candidate: Option<String>,
    /// What to compare with
    ///
    /// The earlier sessions of branch:NAME, tag:NAME or a revision. Without it, those of the default branch.
    #[arg(long, value_name = "BASELINE")]
    pub(in crate::cli) baseline: Option<String>,
    /// A folder of results, or recorded:BRANCH
    ///
    /// Without it, the project's folder and the branch on which its results are recorded.
    #[arg(long, value_name = "RESULTS", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
    /// Also count sessions whose commits are on no branch
    ///
    /// Such as those of a deleted branch.
    #[arg(long)]
    pub(in crate::cli) count_unreachable: bool,
    /// Fail only for regressions of this branch
    ///
    /// Those that the default branch has without it are shown, but do not fail.
    #[arg(long)]
    pub(in crate::cli) only_new: bool,
    /// First fetch the branch of results
    ///
    /// If the remote has it.
    #[arg(long)]
    pub(in crate::cli) fetch: bool,
    /// How to treat an inconclusive gate
    ///
    /// Without this option, the gate passes, unless the recorded results are not in this clone.
    #[arg(long, value_parser = one_of(&PassOrFail::ALL, PassOrFail::name), value_name = "pass|fail", hide_possible_values = true)]
    pub(in crate::cli) on_inconclusive: Option<PassOrFail>,
    /// How to treat a case that did not run
    #[arg(long, value_parser = one_of(&PassOrFail::ALL, PassOrFail::name), default_value = "fail", value_name = "pass|fail", hide_possible_values = true)]
    pub(in crate::cli) on_missing: PassOrFail,
    /// Pass without specs, or with neither gates nor results
    ///
    /// Or with neither gates nor results.
    #[arg(long)]
    pub(in crate::cli) allow_empty: bool,
    /// Ignore result files that cannot be trusted
    #[arg(long)]
    pub(in crate::cli) skip_bad: bool,
    /// The day on which to evaluate acknowledgements
    ///
    /// Such as 2027-03-31. Without it, the day of the newest result.
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(in crate::cli) as_of: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) change: ChangeArgs,
    /// Also write a comment for a pull request
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
    /// Accept all open regressions that began by a day
    ///
    /// In one file. Needs `--until`.
    #[arg(long, requires = "until", conflicts_with_all = ["benchmark", "metric", "case", "target", "from", "max_change"])]
    pub(in crate::cli) all: bool,
    /// The last day (UTC) on which they may have begun
    ///
    /// Needs `--all`. Such as 2026-12-31.
    #[arg(long, value_name = "DAY", requires = "all", value_parser = whole_day)]
    pub(in crate::cli) until: Option<Day>,
    /// The case, by id or name; `*` matches any
    ///
    /// Without it, the one whose regression is open.
    #[arg(long, value_name = "CASE")]
    pub(in crate::cli) case: Option<String>,
    /// The target; without it, any
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) target: Option<String>,
    /// The first session to accept
    ///
    /// Its id, its commit, or a time. Without it, where the open regression began.
    #[arg(long, value_name = "START", value_parser = beginning)]
    pub(in crate::cli) from: Option<String>,
    /// The largest regression to accept, such as 6%, or `any`
    ///
    /// Without it, a little more than the current one. A later regression is a separate change.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(in crate::cli) max_change: Option<String>,
    /// Who accepts
    #[arg(long, value_name = "WHO", value_parser = said)]
    pub(in crate::cli) by: String,
    /// Why
    #[arg(long, value_name = "WHY", value_parser = said)]
    pub(in crate::cli) reason: String,
    /// The last day on which it applies, such as 2027-03-31
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(in crate::cli) expires: Option<String>,
    /// A folder of results, or recorded:BRANCH
    ///
    /// Without it, the project's folder and the branch on which its results are recorded.
    #[arg(long, value_name = "RESULTS", value_parser = NamedResults::parse)]
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
    /// A YAML file with the values of metrics
    ///
    /// A value is a number, a number for each session, or `{value, noise, runNoise, changes}`.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) values: PathBuf,
    /// How many sessions to make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(in crate::cli) sessions: u32,
    /// The folder for the results, which has no real ones
    #[arg(long, value_name = "DIR", default_value = "mock-results")]
    pub(in crate::cli) out: PathBuf,
    /// The target; without it, the first of the spec
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) target: Option<String>,
    /// The day of the first session
    ///
    /// Each later session is on the next day.
    #[arg(long, value_name = "DAY", default_value = "2026-01-01", value_parser = day)]
    pub(in crate::cli) start: String,
    /// The seed of the noise; another number gives other noise
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::cli) seed: u64,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CompareArgs {
    /// The baseline, such as branch:main
    ///
    /// rev:, branch:, tag:, dir:, label:NAME=VALUE, variant: or env:, or without a prefix a folder or a revision.
    #[arg(value_name = "A", required_unless_present = "by")]
    pub(in crate::cli) baseline: Option<String>,
    /// The candidate
    #[arg(value_name = "B", required_unless_present = "by")]
    pub(in crate::cli) candidate: Option<String>,
    /// Compare cases along a parameter or fact of the hardware
    ///
    /// Such as replicas, variant, gpu or target.
    #[arg(long, value_name = "AXIS", conflicts_with_all = ["baseline", "candidate"])]
    pub(in crate::cli) by: Option<String>,
    /// The value to compare the others with
    ///
    /// Needs `--by`. Without it, the smallest number, version or name.
    #[arg(long, value_name = "VALUE", requires = "by", conflicts_with_all = ["baseline", "candidate"])]
    pub(in crate::cli) base: Option<String>,
    /// Two metrics to trade off, such as latency,throughput
    ///
    /// Needs `--by`. Without it, the two primary ones.
    #[arg(long, value_name = "A,B", requires = "by", conflicts_with_all = ["baseline", "candidate"])]
    pub(in crate::cli) pareto: Option<String>,
    /// Only this benchmark; repeatable
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) benchmark: Vec<String>,
    /// Only this metric; repeatable
    ///
    /// Such as loss or avg_busbw{test=all_gather_perf}.
    #[arg(long, value_name = "METRIC", value_parser = MetricSelector::parse)]
    pub(in crate::cli) metric: Vec<MetricSelector>,
    /// Compare although this fact differs; repeatable
    ///
    /// target, engine, cpu, gpu, driver, instanceType or workload.
    #[arg(long, value_name = "FACT", value_parser = ["target", "engine", "cpu", "gpu", "driver", "instanceType", "workload"], hide_possible_values = true)]
    pub(in crate::cli) allow: Vec<String>,
    /// A folder of results, or recorded:BRANCH
    ///
    /// Without it, the project's folder and the branch on which its results are recorded.
    #[arg(long, value_name = "RESULTS", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
    /// Also write a comment for a pull request
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) markdown: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HistoryArgs {
    /// Only these benchmarks, by name
    #[arg(value_name = "BENCHMARK")]
    pub(in crate::cli) benchmark: Vec<String>,
    /// Only this case, by id or name; repeatable
    #[arg(long, value_name = "CASE")]
    pub(in crate::cli) case: Vec<String>,
    /// Only this metric, primary or not; repeatable
    ///
    /// Such as loss or avg_busbw{test=all_gather_perf}.
    #[arg(long, value_name = "METRIC", value_parser = MetricSelector::parse)]
    pub(in crate::cli) metric: Vec<MetricSelector>,
    /// All metrics, not only the primary ones
    #[arg(long, conflicts_with = "metric")]
    pub(in crate::cli) all: bool,
    /// Also count sessions whose commits are on no branch
    ///
    /// Such as those of a deleted branch.
    #[arg(long)]
    pub(in crate::cli) count_unreachable: bool,
    /// How many of the newest sessions to list of each metric
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(in crate::cli) last: usize,
    /// A folder of results, or recorded:BRANCH
    ///
    /// Without it, the project's folder and the branch on which its results are recorded.
    #[arg(long, value_name = "RESULTS", value_parser = NamedResults::parse)]
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
    /// The folder of the site, or the file of Markdown
    ///
    /// Other files in the folder are kept.
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t = ReportFormat::Html, value_name = "FORMAT")]
    pub(in crate::cli) format: ReportFormat,
    /// A folder of results, or recorded:BRANCH
    ///
    /// Without it, the project's folder and the branch on which its results are recorded.
    #[arg(long, value_name = "RESULTS", value_parser = NamedResults::parse)]
    pub(in crate::cli) results: Option<NamedResults>,
    /// Only this benchmark; repeatable
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) benchmark: Vec<String>,
    /// Also count sessions whose commits are on no branch
    ///
    /// Such as those of a deleted branch.
    #[arg(long)]
    pub(in crate::cli) count_unreachable: bool,
    /// Also compare these sides; repeatable
    ///
    /// As `kubebench compare` takes them.
    #[arg(long, value_name = "A..B")]
    pub(in crate::cli) compare: Vec<String>,
    /// The title of the report
    #[arg(long, value_name = "TEXT", default_value = "Benchmarks")]
    pub(in crate::cli) title: String,
    /// The web address of the repository, for links
    ///
    /// Without it, that of git's remote `origin`.
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) repository: Option<String>,
    /// The address of the site, for the links of its feed
    ///
    /// Without it, `report.url` of the project file.
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) url: Option<String>,
    /// The day on which to evaluate acknowledgements
    ///
    /// Such as 2027-03-31. Without it, the day of the newest result.
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
    /// Result files or folders; without any, the project's results
    ///
    /// The project's results are in its folder and on the branch on which results are recorded.
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Read this branch instead of the project's
    ///
    /// In addition to the project's folder.
    #[arg(long, value_name = "recorded:BRANCH", value_parser = NamedResults::parse, conflicts_with = "paths")]
    pub(in crate::cli) results: Option<NamedResults>,
    /// A public key in PEM; repeatable
    ///
    /// Instead of `results.keys` of the project file.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) key: Vec<PathBuf>,
    /// First fetch the branch of results
    ///
    /// If the remote has it.
    #[arg(long, conflicts_with = "paths")]
    pub(in crate::cli) fetch: bool,
    /// How to treat a result that is not signed at all
    #[arg(long, value_parser = one_of(&PassOrFail::ALL, PassOrFail::name), default_value = "fail", value_name = "pass|fail", hide_possible_values = true)]
    pub(in crate::cli) on_unsigned: PassOrFail,
}
