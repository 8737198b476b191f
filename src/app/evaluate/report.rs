//! All results of a project as a report shows them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};

use super::checked_out::Checkout;
use super::compare::{Filter, compared};
use super::{DefaultBaseline, Evaluation, ResultCommits, add_baselines};
use crate::app::results::NamedResults;
use crate::app::start::VERSION;
use kubebench_format::attestation::v1::Signatures;
use kubebench_format::result::Ack;
use kubebench_format::result::{self, v1::Metric};
use kubebench_git::RecordedBranch;
use kubebench_host::fs;
use kubebench_report::disk::Site;
use kubebench_report::{self as report, Links, Request, sampled};
use kubebench_results::compare::model::{Comparison, Direction, Kind, Line, SeriesHistory, SessionValue};
use kubebench_results::compare::{
    Against, Candidate, GateRequest, HistoryRequest, Judged, Lineage, Rule, Side, Unread, gate, history, idle, words,
};
use kubebench_results::dataset::Partition;
use kubebench_results::verdict::DEFAULT_THRESHOLD;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::unit::{MetricSelector, moment};

/// What a report shows.
pub struct ReportQuery {
    /// Other results than the project's.
    pub results: Option<NamedResults>,
    /// Benchmarks by name; empty means all.
    pub benchmarks: Vec<String>,
    /// Sides that are compared besides: `A..B`.
    pub comparisons: Vec<String>,
    /// What the report is called.
    pub title: String,
    /// Where the repository is shown; without it, where git's remote `origin` is.
    pub repository: Option<String>,
    /// Where the site will be; without it, where the project file says.
    pub url: Option<String>,
    /// The day on which acknowledgements are evaluated; without it, that of the newest result.
    pub as_of: Option<String>,
}

/// What a report is made from.
pub struct Report {
    /// The project with its results.
    pub evaluation: Evaluation,
    title: String,
    url: Option<String>,
    partitions: Vec<Partition>,
    series: Vec<SeriesHistory>,
    lines: Vec<Line>,
    comparisons: BTreeMap<String, Comparison>,
    samples: BTreeMap<String, Vec<Metric>>,
    links: Links,
    as_of: String,
    signatures: Option<Signatures>,
    notes: Vec<String>,
}

impl Report {
    /// Reads the results of a project, and evaluates them.
    pub fn of(mut evaluation: Evaluation, query: &ReportQuery) -> Result<Self> {
        evaluation.read(query.results.as_ref())?;
        evaluation.keep(&query.benchmarks)?;
        let mut found = Diagnostics::default();
        let acks = evaluation.acks(&mut found)?;
        evaluation.diagnostics.extend(found);
        let commits = evaluation.commits()?;
        let mut baseline = DefaultBaseline::of(commits.as_ref())?;
        let checkout = Checkout::of(&evaluation, commits.as_ref(), baseline.lineage_mut(), None)?;
        let as_of = query.as_of.clone().unwrap_or_else(|| evaluation.as_of());
        let partitions = evaluation.sequences(baseline.lineage());
        let series = history(HistoryRequest {
            dataset: &evaluation.dataset,
            partitions: &partitions,
            policies: &evaluation.policies,
            acks: &acks,
            lineage: baseline.lineage(),
            as_of: &as_of,
        });
        let mut lineages: BTreeMap<String, Lineage> = BTreeMap::new();
        if let DefaultBaseline::Known { name, lineage } = &baseline {
            lineages.insert(name.clone(), lineage.as_ref().clone());
        }
        add_baselines(&mut lineages, evaluation.rules.iter().map(|(rule, _)| rule), commits.as_ref())?;
        let default = if let DefaultBaseline::Known { name, .. } = &baseline { Some(name.as_str()) } else { None };
        let evaluated = |rules: &[Rule]| {
            gate(GateRequest {
                dataset: &evaluation.dataset,
                partitions: &partitions,
                rules,
                policies: &evaluation.policies,
                acks: &acks,
                lineages: &lineages,
                default,
                candidate: &Candidate::Newest,
                head: checkout.head(),
                unread: if evaluation.unfetched().is_some() {
                    Unread::Recorded
                } else {
                    Unread::Files(&evaluation.left_out)
                },
                as_of: &as_of,
            })
        };
        // The gates, and primary metrics without one as a gate with the usual threshold would. The two are adjusted apart: a report says of a
        // gate what `gate` says.
        let gated: Vec<Rule> = evaluation.rules.iter().map(|(rule, _)| rule.clone()).collect();
        let Judged { mut lines, mut notes } = evaluated(&gated);
        let others = evaluated(&ungated(&gated, &evaluation, &series));
        lines.extend(others.lines);
        notes.extend(others.notes);
        let comparisons = comparisons(query, &evaluation, commits.as_ref(), &baseline, &series)?;
        let samples = samples(&evaluation, &series)?;
        let links = links(query.repository.as_deref(), query.results.as_ref(), &evaluation, commits.as_ref(), default);
        if let (Some(given), None) = (&query.repository, links.repository()) {
            bail!("`{given}` is not the address of a repository: write https://HOST/PATH");
        }
        let is_shown =
            |ack: &&Ack| query.benchmarks.is_empty() || query.benchmarks.iter().any(|name| ack.has_benchmark(name));
        let shown: Vec<Ack> = acks.iter().filter(is_shown).cloned().collect();
        notes.extend(idle(&shown, &evaluation.dataset, &partitions, &lineages, &as_of));
        notes.extend(note(&baseline));
        let (signatures, of_signatures) = evaluation.signatures();
        notes.extend(of_signatures);
        let url = query.url.as_ref().or(evaluation.site.as_ref()).map(|url| url.trim_end_matches('/').to_owned());
        let title = query.title.clone();
        Ok(Self {
            evaluation,
            title,
            url,
            partitions,
            series,
            lines,
            comparisons,
            samples,
            links,
            as_of,
            signatures,
            notes,
        })
    }

    /// Returns what the pages are made from.
    fn request(&self) -> Request<'_> {
        Request {
            title: &self.title,
            version: VERSION,
            dataset: &self.evaluation.dataset,
            partitions: &self.partitions,
            series: &self.series,
            lines: &self.lines,
            asked: &self.evaluation.expected,
            comparisons: &self.comparisons,
            samples: &self.samples,
            left_out: &self.evaluation.left_out,
            signatures: &self.signatures,
            links: &self.links,
            address: self.url.as_deref(),
            as_of: &self.as_of,
            notes: &self.notes,
        }
    }

    /// Returns how many results it shows.
    pub fn results(&self) -> usize {
        self.evaluation.dataset.rows().len()
    }

    /// Returns the report as Markdown.
    pub fn markdown(&self) -> String {
        report::markdown(&self.request())
    }

    /// Writes the report as Markdown: a new file, or the part of a file that is a report.
    pub fn write_markdown(&self, out: &Path) -> Result<()> {
        let made = self.markdown();
        let text = if out.is_file() { renewed(out, &made)? } else { made };
        fs::write_report(out, &text).with_context(|| format!("cannot write {}", out.display()))
    }

    /// Writes the report as a site; `waiting` is called where another report is being written there.
    pub fn write_site(&self, out: &Path, waiting: impl Fn()) -> Result<()> {
        if self.results() == 0 && shown_before(out) {
            bail!(
                "no result counts, but the site in {} shows some, so it was not replaced: check which folder of \
                 results this reads, or delete the site to write one without results",
                out.display()
            );
        }
        let site = Site::begin(out, waiting)?;
        report::write(&self.request(), &|file| site.put(file))
            .with_context(|| format!("cannot write {}", out.display()))?;
        site.keep()
    }
}

/// Returns whether the site in a folder shows results.
fn shown_before(out: &Path) -> bool {
    let index = fs::read_text(&out.join(report::INDEX)).ok();
    let index: Option<report::v1::Index> = index.and_then(|text| serde_json::from_str(&text).ok());
    index.is_some_and(|index| index.results > 0)
}

/// Returns the text of a file with the report in it renewed.
fn renewed(out: &Path, made: &str) -> Result<String> {
    let text = fs::read_text(out)?;
    report::in_place(&text, made).with_context(|| {
        format!(
            "{} exists and has no report: add the lines `<!-- kubebench report -->` and \
             `<!-- kubebench report end -->` where the report belongs, or name a new file",
            out.display()
        )
    })
}

/// Returns where links to commits, specs and results lead: in the `repository`, or where git's remote `origin` is; `branch` is the default
/// one, as a baseline names it.
pub(super) fn links(
    repository: Option<&str>,
    results: Option<&NamedResults>,
    evaluation: &Evaluation,
    commits: Option<&ResultCommits>,
    branch: Option<&str>,
) -> Links {
    let branch = branch.and_then(|name| name.strip_prefix("branch:")).unwrap_or("main");
    let origin = commits.and_then(|commits| commits.origin());
    let folder = commits.map_or("", |commits| commits.folder());
    let links = Links::to(repository.or(origin.as_deref()), branch, folder);
    // On a branch of their own results lie at the top; another folder is taken for a checkout of that.
    let of_branch = || evaluation.recording.as_ref().filter(|_| results.is_some());
    let recorded_on = evaluation.recorded_on().map(RecordedBranch::branch);
    match recorded_on.or_else(|| of_branch().map(|results| results.branch.as_str())) {
        Some(recorded_on) => links.with_results(recorded_on, &evaluation.directory),
        None => links.with_results(branch, &format!("{folder}{}", evaluation.directory)),
    }
}

/// A metric: benchmark, target and series.
type Ungated<'a> = (&'a str, &'a str, MetricSelector);
/// Cases: id, and name as people read it.
type Cases<'a> = BTreeSet<(&'a str, &'a str)>;

/// Returns what gates of primary metrics would be that have none.
fn ungated(gated: &[Rule], evaluation: &Evaluation, series: &[SeriesHistory]) -> Vec<Rule> {
    let is_gated = |history: &SeriesHistory| {
        let has_case = |rule: &Rule| rule.cases.iter().any(|(case, _)| *case == history.case);
        gated.iter().any(|rule| {
            rule.benchmark == history.benchmark && has_case(rule) && rule.metric.has(&history.metric, &history.labels)
        })
    };
    let mut rules: BTreeMap<Ungated<'_>, Cases<'_>> = BTreeMap::new();
    let mut directions: BTreeMap<(&str, MetricSelector), Direction> = BTreeMap::new();
    for history in series.iter().filter(|history| history.kind == Kind::Primary && !history.replaced) {
        if !is_gated(history) {
            let metric = MetricSelector::of_series(&history.metric, &history.labels);
            let subjects = evaluation.dataset.rows().iter().map(|row| evaluation.dataset.subject(row));
            let targets: BTreeSet<&str> = match history.environment.get("target") {
                Some(target) => BTreeSet::from([target.as_str()]),
                // Targets do not keep results of this project apart.
                None => subjects.filter(|of| of.case == history.case).map(|of| of.target.as_str()).collect(),
            };
            directions.insert((&history.benchmark, metric.clone()), history.direction);
            for target in targets {
                let key = (history.benchmark.as_str(), target, metric.clone());
                rules.entry(key).or_default().insert((&history.case, &history.case_name));
            }
        }
    }
    let rule = |((benchmark, target, metric), cases): (Ungated<'_>, Cases<'_>)| Rule {
        benchmark: benchmark.to_owned(),
        target: target.to_owned(),
        cases: cases.into_iter().map(|(id, name)| (id.to_owned(), name.to_owned())).collect(),
        direction: directions.get(&(benchmark, metric.clone())).copied(),
        metric,
        max_regression: Some(DEFAULT_THRESHOLD),
        min: None,
        max: None,
        is_confirmed: false,
        against: Against::Default,
    };
    rules.into_iter().map(rule).collect()
}

/// Compares what was asked for, and the newest commit that has results with the one before it.
fn comparisons(
    query: &ReportQuery,
    evaluation: &Evaluation,
    commits: Option<&ResultCommits>,
    baseline: &DefaultBaseline,
    series: &[SeriesHistory],
) -> Result<BTreeMap<String, Comparison>> {
    let mut comparisons = BTreeMap::new();
    // No side is a folder.
    let folders = BTreeMap::new();
    for text in &query.comparisons {
        let (one, other) =
            text.split_once("..").ok_or_else(|| anyhow!("`{text}` does not name two sides: write `--compare A..B`"))?;
        let side = |text: &str| Side::parse(text, |_| false).map_err(|error| anyhow!(error));
        let sides = [side(one)?, side(other)?];
        if let Some(folder) = sides.iter().find(|side| matches!(side, Side::Folder(_))) {
            bail!(
                "`{folder}` is a folder, and a report compares only its own results; use `kubebench compare` for \
                 folders"
            );
        }
        let found = compared(evaluation, &sides, &folders, commits, Filter::default())?;
        if let Some(side) = found.empty.first() {
            bail!("there is no result of `{side}`; `kubebench history` lists all sessions");
        }
        comparisons.insert(format!("{one} to {other}"), found.answer);
    }
    if let (Some(commits), Some([before, after])) = (commits, newest_commits(series, baseline.lineage())) {
        let sides = [Side::Revision(before), Side::Revision(after)];
        // No user asked for it, so none could allow what a commit changes in the benchmark itself: that is noted.
        let allowed = ["workload".to_owned()];
        let filter = Filter { allowed: &allowed, ..Filter::default() };
        // A commit that was rewritten since is not there any more.
        if let Ok(found) = compared(evaluation, &sides, &folders, Some(commits), filter)
            && !found.answer.lines.is_empty()
        {
            comparisons.insert("newest".to_owned(), found.answer);
        }
    }
    Ok(comparisons)
}

/// Returns the commit of the newest session, and that of the last session before it that had another one: on the line of the default
/// branch where all are, else by time.
fn newest_commits(series: &[SeriesHistory], lineage: Option<&Lineage>) -> Option<[String; 2]> {
    let mut newest: BTreeMap<&str, &str> = BTreeMap::new();
    let own = |history: &'_ SeriesHistory, session: &SessionValue| !history.aside.contains(&session.session);
    let sessions =
        series.iter().flat_map(|history| history.sessions.iter().filter(move |session| own(history, session)));
    for session in sessions {
        if let Some(commit) = &session.commit {
            let time = newest.entry(commit).or_default();
            *time = (*time).max(moment(&session.started_at));
        }
    }
    let behind = |commit: &str| lineage.and_then(|lineage| lineage.behind(commit));
    let is_line = newest.keys().all(|commit| behind(commit).is_some());
    let mut commits: Vec<(&str, &str)> = newest.into_iter().map(|(commit, time)| (time, commit)).collect();
    commits.sort_unstable();
    if is_line {
        commits.sort_by_key(|(_, commit)| Reverse(behind(commit)));
    }
    let (_, after) = commits.pop()?;
    let (_, before) = commits.pop()?;
    Some([before, after].map(str::to_owned))
}

/// Reads the results whose samples are drawn.
fn samples(evaluation: &Evaluation, series: &[SeriesHistory]) -> Result<BTreeMap<String, Vec<Metric>>> {
    let wanted: BTreeSet<&String> = series.iter().flat_map(sampled).collect();
    let mut samples = BTreeMap::new();
    evaluation.whole(&wanted, |result| {
        samples.insert(result::path(result), result.metrics.clone());
        Ok(())
    })?;
    Ok(samples)
}

/// Says what a baseline without a branch means.
fn note(baseline: &DefaultBaseline) -> Option<String> {
    match baseline {
        DefaultBaseline::Known { .. } => None,
        DefaultBaseline::NoRepository => {
            Some("This was made outside of a git repository, so all earlier sessions are the baseline.".to_owned())
        }
        DefaultBaseline::NoBranch => baseline.note().map(|note| format!("{}.", words::sentence_case(&note))),
    }
}
