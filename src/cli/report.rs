//! `kubebench report`: committed results as a site, or as Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::ExitStatus;
use super::args::{Global, ReportArgs, ReportFormat};
use super::compare::{Filter, compared};
use super::findings::{self, Findings, Output, counted, refuse_around, refuse_place, tell};
use super::judging::{ACKS, Judging, Usual, add_baselines};
use super::project::{VERSION, from_start};
use super::reading::Results;
use super::results::in_order;
use kubebench_format::result::Ack;
use kubebench_format::result::{self, v1::Metric};
use kubebench_git::Commits;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_report::disk::Site;
use kubebench_report::{self as report, Links, Request, sampled};
use kubebench_results::archive::{Partition, partitions};
use kubebench_results::compare::v1::{Comparison, Direction, Kind, Line, SessionValue, Told};
use kubebench_results::compare::{
    Against, Candidate, GateRequest, HistoryRequest, Judged, Lineage, Rule, Side, gate, history, idle,
};
use kubebench_results::verdict::DEFAULT_THRESHOLD;
use kubebench_syntax::diag::Diagnostics;

/// Writes the report, and returns 1 where files did not count.
pub(super) fn run(global: &Global, args: &ReportArgs) -> Result<ExitStatus> {
    let out = args.out.as_deref().map(|out| from_start(global, out));
    if out.is_none() && args.format == ReportFormat::Html {
        bail!("a site is a folder: name one with `--out DIR`, or ask for `--format markdown`");
    }
    let mut judging = Judging::open(global)?;
    // A page by what specs do not say would be taken for one by what they say.
    if let Some(refused) = judging.refused() {
        return refused;
    }
    if let Some(out) = &out {
        refuse_around("pages", out, &judging.root)?;
        let read = args.results.as_deref().map(|folder| std::path::absolute(from_start(global, folder))).transpose();
        let read = read.context("cannot tell where the results lie")?;
        let read = read.map_or_else(String::new, |folder| folder.to_string_lossy().into_owned());
        let kept = [ACKS, &judging.directory, &judging.output, "specs", ".git", &read];
        let kept: Vec<&str> = kept.into_iter().filter(|folder| !folder.is_empty()).collect();
        refuse_place("report", out, &judging.root, &kept)?;
    }
    let place = Results::of(global, args.results.as_deref(), &judging.root, &judging.directory)?;
    judging.read(args.results.as_deref())?;
    judging.keep(&args.benchmark)?;
    let mut found = Diagnostics::default();
    let acks = judging.acks(&mut found);
    judging.diagnostics.extend(found);
    let commits = judging.commits()?;
    let usual = Usual::of(commits.as_ref())?;
    let as_of = args.as_of.clone().unwrap_or_else(|| judging.as_of());

    let all = partitions(&judging.archive, 0..judging.archive.rows().len(), &judging.across);
    let series = history(HistoryRequest {
        archive: &judging.archive,
        partitions: &all,
        policies: &judging.policies,
        acks: &acks,
        lineage: usual.lineage(),
        as_of: &as_of,
    });
    let mut lineages: BTreeMap<String, Lineage> = BTreeMap::new();
    if let Usual::Known { name, lineage } = &usual {
        lineages.insert(name.clone(), lineage.clone());
    }
    add_baselines(&mut lineages, judging.rules.iter().map(|(rule, _)| rule), commits.as_ref())?;
    let (lines, mut notes) = lines(&judging, &all, &series, &acks, &usual, &lineages, &as_of);
    let comparisons = comparisons(args, &judging, commits.as_ref(), &series)?;
    let samples = samples(&place.folder, &series)?;
    let branch = match &usual {
        Usual::Known { name, .. } => name.trim_start_matches("branch:").to_owned(),
        Usual::NoRepository | Usual::NoBranch => "main".to_owned(),
    };
    let origin = commits.as_ref().and_then(Commits::origin);
    let address = args.repository.as_deref().or(origin.as_deref());
    let folder = commits.as_ref().map_or("", Commits::folder);
    let links = Links::to(address, &branch, folder);
    let links = match &judging.recorded_on {
        // Results of another folder are those of a checkout of their branch, where they lie at the top.
        Some(recorded_on) if args.results.is_some() => links.with_results(recorded_on, &judging.directory),
        _ => links.with_results(&branch, &format!("{folder}{}", judging.directory)),
    };
    if let (Some(address), None) = (&args.repository, links.repository()) {
        bail!("`{address}` is no address of a repository: write https://HOST/PATH");
    }
    let is_shown = |ack: &&Ack| args.benchmark.is_empty() || args.benchmark.contains(&ack.benchmark);
    let shown: Vec<Ack> = acks.iter().filter(is_shown).cloned().collect();
    notes.extend(idle(&shown, &judging.archive, &all, &lineages, &as_of));
    notes.extend(note(&usual));
    let request = Request {
        title: &args.title,
        version: VERSION,
        archive: &judging.archive,
        partitions: &all,
        series: &series,
        lines: &lines,
        asked: &judging.asked,
        comparisons: &comparisons,
        samples: &samples,
        left_out: &judging.left_out,
        links: &links,
        address: args.url.as_deref().map(|url| url.trim_end_matches('/')),
        as_of: &as_of,
        notes: &notes,
    };
    write(global, args, out.as_deref(), &request)?;

    let Judging { diagnostics, sources, .. } = judging;
    let to_screen = out.is_none();
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    findings::report(global, if to_screen { Output::Data } else { Output::Findings }, findings)
}

fn write(global: &Global, args: &ReportArgs, out: Option<&Path>, request: &Request<'_>) -> Result<()> {
    match (args.format, out) {
        (ReportFormat::Markdown, None) => terminal::print(&report::markdown(request)),
        (ReportFormat::Markdown, Some(out)) => {
            let made = report::markdown(request);
            let text = if out.is_file() { renewed(out, &made)? } else { made };
            fs::write_report(out, &text).with_context(|| format!("cannot write {}", out.display()))
        }
        (ReportFormat::Html, Some(out)) => {
            if request.archive.rows().is_empty() && shown_before(out) {
                bail!(
                    "no result counts, and the site in {} shows some: nothing is written; is this the folder of results that was meant? \
                     Remove the site if it shall show none",
                    out.display()
                );
            }
            let site = Site::begin(out, || tell(global, "another report is being written there; waiting for it"))?;
            report::write(request, &|file| site.put(file))
                .with_context(|| format!("cannot write {}", out.display()))?;
            site.keep()?;
            let results = counted(request.archive.rows().len(), "result");
            tell(global, &format!("{results} shown in {}", out.join("index.html").display()));
            Ok(())
        }
        (ReportFormat::Html, None) => Ok(()),
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
            "{} is there and holds no report: write the lines `<!-- kubebench report -->` and `<!-- kubebench report end -->` where it \
             belongs, or name a new file",
            out.display()
        )
    })
}

/// Judges the newest sessions by the gates, and primary metrics without one as a gate with the usual threshold would. The two are
/// adjusted apart: a report says of a gate what `gate` says.
fn lines(
    judging: &Judging<'_>,
    partitions: &[Partition],
    series: &[Told],
    acks: &[Ack],
    usual: &Usual,
    lineages: &BTreeMap<String, Lineage>,
    as_of: &str,
) -> (Vec<Line>, Vec<String>) {
    let default = if let Usual::Known { name, .. } = usual { Some(name.as_str()) } else { None };
    let gated: Vec<Rule> = judging.rules.iter().map(|(rule, _)| rule.clone()).collect();
    let judge = |rules: &[Rule]| {
        gate(GateRequest {
            archive: &judging.archive,
            partitions,
            rules,
            acks,
            lineages,
            default,
            candidate: &Candidate::Newest,
            as_of,
        })
    };
    let Judged { mut lines, mut notes } = judge(&gated);
    let others = judge(&ungated(&gated, judging, series));
    lines.extend(others.lines);
    notes.extend(others.notes);
    (lines, notes)
}

/// A metric: benchmark, target and name.
type Ungated<'a> = (&'a str, &'a str, &'a str);
/// Cases: id, and name as people read it.
type Cases<'a> = BTreeSet<(&'a str, &'a str)>;

/// Returns what gates of primary metrics would be that have none.
fn ungated(gated: &[Rule], judging: &Judging<'_>, series: &[Told]) -> Vec<Rule> {
    let known: BTreeSet<(&str, &str, &str)> = gated
        .iter()
        .flat_map(|rule| {
            rule.cases.iter().map(move |(case, _)| (rule.benchmark.as_str(), case.as_str(), rule.metric.as_str()))
        })
        .collect();
    let mut rules: BTreeMap<Ungated<'_>, Cases<'_>> = BTreeMap::new();
    let mut directions: BTreeMap<(&str, &str), Direction> = BTreeMap::new();
    for told in series.iter().filter(|told| told.kind == Kind::Primary && !told.replaced) {
        if !known.contains(&(&told.benchmark, &told.case, &told.metric)) {
            let subjects = judging.archive.rows().iter().map(|row| judging.archive.subject(row));
            let targets: BTreeSet<&str> = match told.environment.get("target") {
                Some(target) => BTreeSet::from([target.as_str()]),
                // Targets do not keep results of this project apart.
                None => subjects.filter(|of| of.case == told.case).map(|of| of.target.as_str()).collect(),
            };
            directions.insert((&told.benchmark, &told.metric), told.direction);
            for target in targets {
                rules.entry((&told.benchmark, target, &told.metric)).or_default().insert((&told.case, &told.case_name));
            }
        }
    }
    let rule = |((benchmark, target, metric), cases): (Ungated<'_>, Cases<'_>)| Rule {
        benchmark: benchmark.to_owned(),
        target: target.to_owned(),
        cases: cases.into_iter().map(|(id, name)| (id.to_owned(), name.to_owned())).collect(),
        metric: metric.to_owned(),
        max_regression: Some(DEFAULT_THRESHOLD),
        min: None,
        max: None,
        is_confirmed: false,
        direction: directions.get(&(benchmark, metric)).copied(),
        against: Against::Default,
    };
    rules.into_iter().map(rule).collect()
}

/// Compares what was asked for, and the newest commit that has results with the one before it.
fn comparisons(
    args: &ReportArgs,
    judging: &Judging<'_>,
    commits: Option<&Commits>,
    series: &[Told],
) -> Result<BTreeMap<String, Comparison>> {
    let mut comparisons = BTreeMap::new();
    for text in &args.compare {
        let (one, other) =
            text.split_once("..").ok_or_else(|| anyhow!("`{text}` names no two sides: write `--compare A..B`"))?;
        let side = |text: &str| Side::parse(text, |_| false).map_err(|error| anyhow!(error));
        let sides = [side(one)?, side(other)?];
        if let Some(folder) = sides.iter().find(|side| matches!(side, Side::Folder(_))) {
            bail!(
                "`{folder}` is a folder, and a report compares what is in its own results; `kubebench compare` takes folders"
            );
        }
        let found = compared(judging, &sides, &[], commits, Filter::default())?;
        if let Some(side) = found.empty.first() {
            bail!("there is no result of `{side}`; `kubebench history` lists what there is");
        }
        comparisons.insert(format!("{one} to {other}"), found.answer);
    }
    if let (Some(commits), Some([before, after])) = (commits, newest_commits(series)) {
        let sides = [Side::Revision(before), Side::Revision(after)];
        // Nobody asked for it, so nobody could allow what a commit changes in the benchmark itself: it is noted.
        let allowed = ["workload".to_owned()];
        let filter = Filter { allowed: &allowed, ..Filter::default() };
        // A commit that was rewritten since is not there any more.
        if let Ok(found) = compared(judging, &sides, &[], Some(commits), filter)
            && !found.answer.lines.is_empty()
        {
            comparisons.insert("newest".to_owned(), found.answer);
        }
    }
    Ok(comparisons)
}

/// Returns the commit of the newest session, and that of the last session before it that had another one.
fn newest_commits(series: &[Told]) -> Option<[String; 2]> {
    let mut newest: BTreeMap<&str, &str> = BTreeMap::new();
    let own = |told: &'_ Told, session: &SessionValue| !told.aside.contains(&session.session);
    let sessions = series.iter().flat_map(|told| told.sessions.iter().filter(move |session| own(told, session)));
    for session in sessions {
        if let Some(commit) = &session.commit {
            let time = newest.entry(commit).or_default();
            *time = (*time).max(&session.started_at);
        }
    }
    let mut by_time: Vec<(&str, &str)> = newest.into_iter().map(|(commit, time)| (time, commit)).collect();
    by_time.sort_unstable();
    let (_, after) = by_time.pop()?;
    let (_, before) = by_time.pop()?;
    Some([before, after].map(str::to_owned))
}

/// Reads the results whose samples are drawn.
fn samples(folder: &Path, series: &[Told]) -> Result<BTreeMap<String, Vec<Metric>>> {
    let wanted: BTreeSet<&String> = series.iter().flat_map(sampled).collect();
    let files: Vec<(&String, PathBuf)> = wanted.into_iter().map(|path| (path, folder.join(path))).collect();
    let files: Vec<(&String, &PathBuf)> = files.iter().map(|(path, file)| (*path, file)).collect();
    let mut samples = BTreeMap::new();
    in_order(&files, |result| {
        samples.insert(result::path(result), result.metrics.clone());
        Ok(())
    })?;
    Ok(samples)
}

/// Says what a baseline without a branch means.
fn note(usual: &Usual) -> Option<String> {
    let note = match usual {
        Usual::Known { .. } => return None,
        Usual::NoRepository => "This was made outside of a git repository, so all earlier sessions are the baseline.",
        Usual::NoBranch => {
            "Nobody knows the default branch of the repository, so all earlier sessions are the baseline."
        }
    };
    Some(note.to_owned())
}
