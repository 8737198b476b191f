//! Two sides of what was measured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::{Evaluation, Places, ResultCommits};
use crate::app::results::{NamedResults, ResultsPlace};
use crate::app::start::Start;
use kubebench_format::result::{VARIANT, plain};
use kubebench_results::compare::model::{Comparison, Line, Verdict};
use kubebench_results::compare::{Lineage, Request, Side, compare, render, words};
use kubebench_results::dataset::{Dataset, Row};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::SourceMap;
use kubebench_syntax::unit::MetricSelector;

/// What is compared.
pub struct CompareQuery {
    /// The sides, the baseline first.
    pub sides: [Side; 2],
    /// Benchmarks by name; empty means all.
    pub benchmarks: Vec<String>,
    /// Metrics by name; empty means all.
    pub metrics: Vec<MetricSelector>,
    /// Facts that may differ.
    pub allowed: Vec<String>,
    /// Other results than the project's.
    pub results: Option<NamedResults>,
}

/// What came of it.
pub struct SidesCompared {
    pub answer: Comparison,
    /// What keeps it from being whole: files that do not count, empty sides, nothing in common.
    pub problems: Diagnostics,
    /// The lines that got worse or have one side alone.
    pub findings: Diagnostics,
    /// The texts into which both point.
    pub sources: SourceMap,
}

impl CompareQuery {
    /// Reads a side as a person writes it; a folder is named as seen from `start`.
    pub fn side(start: &Start, text: &str) -> Result<Side> {
        let is_folder = |path: &str| start.path(path.as_ref()).is_dir();
        let side = Side::parse(text, is_folder).map_err(|error| anyhow!(error))?;
        match &side {
            Side::Folder(folder) if !is_folder(folder) => bail!("there is no folder {folder}"),
            _ => Ok(side),
        }
    }

    /// Returns the folders of results that are read.
    pub fn folders(&self) -> Vec<&Path> {
        let named =
            self.sides.iter().filter_map(|side| if let Side::Folder(folder) = side { Some(folder) } else { None });
        named.map(Path::new).chain(self.results.as_ref().and_then(NamedResults::folder)).collect()
    }
}

impl SidesCompared {
    /// Compares the sides of `query`.
    pub fn of(mut evaluation: Evaluation, start: &Start, query: &CompareQuery) -> Result<Self> {
        let sides = &query.sides;
        // A name that is wrong comes before results that are not here.
        refuse_unknown_revisions(&evaluation, sides)?;
        if query.results.is_some() || sides.iter().any(|side| !matches!(side, Side::Folder(_))) {
            evaluation.read(query.results.as_ref())?;
        }
        let needs_git = sides.iter().any(|side| matches!(side, Side::Revision(_) | Side::Branch(_) | Side::Tag(_)));
        let commits = if needs_git { evaluation.commits()? } else { None };
        let mut folders = BTreeMap::new();
        for side in sides {
            if let Side::Folder(folder) = side {
                let place = ResultsPlace::folder(start.path(folder.as_ref()), folder);
                folders.insert(side.clone(), evaluation.add(&place)?);
            }
        }
        evaluation.refuse_unknown_benchmarks(&query.benchmarks)?;
        evaluation.refuse_unknown(&query.metrics)?;
        let filter = Filter { benchmarks: &query.benchmarks, metrics: &query.metrics, allowed: &query.allowed };
        let Compared { mut answer, known, empty } = compared(&evaluation, sides, &folders, commits.as_ref(), filter)?;
        answer.notes.extend(evaluation.note_of_faults());
        let (signatures, note) = evaluation.signatures();
        answer.signatures = signatures;
        answer.notes.extend(note);
        let Evaluation { dataset, places, sources, left_out, diagnostics: mut problems, .. } = evaluation;
        problems.extend(empty.iter().map(|side| nothing(side, &dataset, &known)).collect::<Diagnostics>());
        answer.left_out = left_out;
        answer.notes.extend(sides.iter().filter_map(|side| of_one_commit(side, commits.as_ref()?)));
        let is_explained = !empty.is_empty() || answer.lines.iter().any(Line::is_one_sided);
        if answer.is_void() && !is_explained {
            let fault = void(&answer);
            answer.notes.push(fault.message.clone());
            problems.push(fault);
        }
        let found = answer.lines.iter().filter(|line| line.verdict == Verdict::Regressed || line.is_one_sided());
        let findings = found.map(|line| finding(line, &places)).collect();
        Ok(Self { answer, problems, findings, sources })
    }

    /// Returns whether all that was asked for was compared.
    pub fn is_whole(&self) -> bool {
        !self.problems.has_errors() && !self.answer.lines.iter().any(Line::is_one_sided)
    }
}

fn refuse_unknown_revisions(evaluation: &Evaluation, sides: &[Side; 2]) -> Result<()> {
    let named: Vec<&str> = sides
        .iter()
        .filter_map(|side| if let Side::Revision(name) = side { Some(name.as_str()) } else { None })
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    let Some(commits) = evaluation.commits()? else { return Ok(()) };
    named.into_iter().try_for_each(|name| commits.of_revision(name).map(drop))
}

/// What of the sides is looked at.
#[derive(Clone, Copy, Default)]
pub(super) struct Filter<'a> {
    pub(super) benchmarks: &'a [String],
    pub(super) metrics: &'a [MetricSelector],
    pub(super) allowed: &'a [String],
}

/// A comparison.
pub(super) struct Compared<'a> {
    /// What it says.
    pub(super) answer: Comparison,
    /// The commits that its sides name.
    known: Lineage,
    /// The sides without a result.
    pub(super) empty: Vec<&'a Side>,
}

/// Compares two sides; `folders` has the places of the results of those that are folders.
pub(super) fn compared<'a>(
    evaluation: &Evaluation,
    sides: &'a [Side; 2],
    folders: &BTreeMap<Side, BTreeSet<usize>>,
    commits: Option<&ResultCommits>,
    filter: Filter<'_>,
) -> Result<Compared<'a>> {
    let dataset = &evaluation.dataset;
    let mut known = Lineage::default();
    let mut rows = |side: &Side| -> Result<BTreeSet<usize>> {
        let own = match folders.get(side) {
            Some(rows) => rows.clone(),
            None => chosen(dataset, side, commits, &mut known)?,
        };
        Ok(wanted(dataset, own, filter.benchmarks))
    };
    let [mut first, mut second] = [rows(&sides[0])?, rows(&sides[1])?];
    let whole = [&first, &second].map(|rows| sessions(dataset, rows));
    let default = commits.and_then(|commits| commits.default_branch());
    let is_default = |side: &Side| matches!(side, Side::Branch(name) if Some(name) == default.as_ref());
    if is_default(&sides[1]) && !is_default(&sides[0]) {
        part(dataset, &mut second, &mut first);
    } else {
        part(dataset, &mut first, &mut second);
    }
    let shared = sides.iter().all(|side| matches!(side, Side::Folder(_))).then(|| {
        let left = [&first, &second].map(|rows| sessions(dataset, rows));
        std::iter::zip(sides, std::iter::zip(whole, left)).find_map(|(side, (whole, left))| {
            let count = whole - left;
            (count > 0).then(|| {
                let (is, it_does) = if count == 1 { ("is", "it does") } else { ("are", "they do") };
                let counted = words::counted(count, "session");
                format!("{counted} {is} in both folders, so {it_does} not count for {side}")
            })
        })
    });
    let empty = sides.iter().zip([&first, &second]).filter(|(_, rows)| rows.is_empty()).map(|(side, _)| side).collect();
    let mut answer = compare(Request {
        dataset,
        sides: [&sides[0], &sides[1]],
        rows: [&first, &second],
        allowed: &filter.allowed.iter().cloned().collect(),
        across: &evaluation.across,
        policies: &evaluation.policies,
        metrics: filter.metrics,
        lineage: Some(&known),
    });
    answer.notes.extend(shared.flatten());
    Ok(Compared { answer, known, empty })
}

/// Returns the places of the results of a side that is no folder; the commits that it names are added to `known`.
fn chosen(
    dataset: &Dataset,
    side: &Side,
    commits: Option<&ResultCommits>,
    known: &mut Lineage,
) -> Result<BTreeSet<usize>> {
    Ok(match side {
        Side::Label(name, value) => dataset.places(|row| dataset.subject(row).labels.get(name) == Some(value)),
        Side::Variant(name) => {
            dataset.places(|row| dataset.subject(row).params.get(VARIANT).is_some_and(|own| plain(own) == *name))
        }
        Side::Environment(name) => dataset.places(|row| is_there(dataset, row, name)),
        Side::Revision(_) | Side::Branch(_) | Side::Tag(_) | Side::Folder(_) => {
            let commits = commits.ok_or_else(|| anyhow!("`{side}` needs a git repository, and this is not one"))?;
            let lineage = commits.lineage(side)?;
            let chosen = dataset.places(|row| lineage.commit_of(dataset, row).is_some());
            // One order is that of all commands: the one of the default branch.
            if matches!(side, Side::Branch(name) if Some(name) == commits.default_branch().as_ref()) {
                known.ordered_as(&lineage);
            }
            known.extend(lineage);
            chosen
        }
    })
}

/// Returns whether a result ran on the target `name`, or where the fact has the value of `fact=value`.
fn is_there(dataset: &Dataset, row: &Row, name: &str) -> bool {
    match name.split_once('=') {
        None => dataset.subject(row).target == name,
        Some((fact, value)) => dataset.facts(row).get(fact).is_some_and(|own| own == value),
    }
}

fn wanted(dataset: &Dataset, rows: BTreeSet<usize>, benchmarks: &[String]) -> BTreeSet<usize> {
    let is_wanted = |at: &usize| {
        let benchmark = dataset.rows().get(*at).map(|row| &dataset.subject(row).benchmark);
        benchmarks.is_empty() || benchmark.is_some_and(|name| benchmarks.contains(name))
    };
    rows.into_iter().filter(is_wanted).collect()
}

/// Takes what is on both sides from the second one, which reaches further; from the first where the second has nothing of its own.
fn part(dataset: &Dataset, first: &mut BTreeSet<usize>, second: &mut BTreeSet<usize>) {
    // Folders may hold copies of the same runs.
    let run = |at: &usize| dataset.rows().get(*at).map(|row| (row.run.as_str(), row.attempt));
    let [ours, theirs] = [&*first, &*second].map(|side| side.iter().filter_map(run).collect::<BTreeSet<_>>());
    if !theirs.is_subset(&ours) {
        second.retain(|at| run(at).is_none_or(|run| !ours.contains(&run)));
    } else if !ours.is_subset(&theirs) {
        first.retain(|at| run(at).is_none_or(|run| !theirs.contains(&run)));
    }
}

/// Returns how many sessions results are of.
fn sessions(dataset: &Dataset, rows: &BTreeSet<usize>) -> usize {
    let of = |at: &usize| dataset.rows().get(*at).map(|row| row.session.as_str());
    rows.iter().filter_map(of).collect::<BTreeSet<_>>().len()
}

fn nothing(side: &Side, dataset: &Dataset, known: &Lineage) -> Diagnostic {
    let message = match side {
        Side::Revision(name) => format!("no result was measured at `{name}`"),
        _ => format!("there is no result of `{side}`"),
    };
    let fault = Diagnostic::in_file(&code::KB0461, "results", message);
    if let Some((what, values)) = known_values(side, dataset) {
        return fault.help(match values.len() {
            0 => format!("no result has {what}"),
            _ => format!("results have these: {}", values.into_iter().collect::<Vec<_>>().join("; ")),
        });
    }
    let dirty = dataset.rows().iter().filter(|row| {
        let origin = dataset.origin(row);
        origin.dirty == Some(true) && origin.commit.as_ref().is_some_and(|commit| known.commits.contains(commit))
    });
    match dirty.count() {
        0 => match side {
            Side::Revision(_) => {
                fault.help("for all results of a branch, write `branch:NAME`; `kubebench history` lists all sessions")
            }
            _ => fault.help("`kubebench history` lists all sessions"),
        },
        count => fault.note(format!(
            "{} of this commit ran with uncommitted changes, so {} not count for it",
            words::counted(count, "result"),
            if count == 1 { "it does" } else { "they do" }
        )),
    }
}

/// Says of a branch that was named as a revision that it means its newest commit alone.
fn of_one_commit(side: &Side, commits: &ResultCommits) -> Option<String> {
    let Side::Revision(name) = side else { return None };
    commits.is_branch(name).then(|| {
        format!("`{name}` names only the newest commit of that branch; `branch:{name}` names all of its commits")
    })
}

/// Says that the sides share nothing, which is no proof that nothing got worse.
fn void(answer: &Comparison) -> Diagnostic {
    let Comparison { baseline, candidate, .. } = answer;
    let fault = Diagnostic::in_file(
        &code::KB0461,
        "results",
        format!("no metric of {baseline} and {candidate} could be compared"),
    );
    if answer.lines.is_empty() {
        return fault.help("the notes list what only one side has; `kubebench history` lists all sessions");
    }
    fault.help("`--allow FACT` compares results although that fact differs")
}

/// Returns what a side asks for, and what results have of it.
fn known_values(side: &Side, dataset: &Dataset) -> Option<(String, BTreeSet<String>)> {
    let subjects = || dataset.rows().iter().map(|row| dataset.subject(row));
    match side {
        Side::Label(name, _) => {
            let values: BTreeSet<String> =
                subjects().filter_map(|of| Some(format!("label:{name}={}", of.labels.get(name)?))).collect();
            let all = || subjects().flat_map(|of| &of.labels).map(|(name, value)| format!("label:{name}={value}"));
            Some(("a label".to_owned(), if values.is_empty() { all().collect() } else { values }))
        }
        Side::Variant(_) => {
            let variants = subjects().filter_map(|of| Some(format!("variant:{}", plain(of.params.get(VARIANT)?))));
            Some(("a variant".to_owned(), variants.collect()))
        }
        _ => {
            let fact = side.asked_fact()?;
            let values = dataset.rows().iter().filter_map(|row| dataset.facts(row).get(fact).cloned());
            Some((format!("the fact `{fact}`"), values.collect()))
        }
    }
}

fn finding(line: &Line, places: &Places) -> Diagnostic {
    let message = render::sentence(line);
    let code = if line.is_one_sided() { &code::KB0461 } else { &code::KB0460 };
    match places.get(&(line.benchmark.clone(), line.metric.clone())) {
        Some(span) => Diagnostic::at(code, *span, message),
        None => Diagnostic::in_file(code, format!("results/{}", line.benchmark), message),
    }
}
