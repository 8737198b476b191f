//! `kubebench compare`: two sides of what was measured.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::ExitStatus;
use super::args::{CompareArgs, Global};
use super::findings::{self, Findings};
use super::judging::{Judging, Places, lineage};
use super::project::from_start;
use super::reading::Results;
use super::sweep;
use kubebench_git::Commits;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_results::archive::{Archive, Row};
use kubebench_results::compare::v1::{Comparison, Line, Verdict};
use kubebench_results::compare::{Lineage, Request, Side, compare, render};
use kubebench_syntax::diag::render::{Format, on_one_line};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::invariant::Invariant as _;

/// Compares, prints, and returns 1 where a file could not be trusted, a side is empty or lacks hardware or a metric of a case, or nothing
/// was compared.
pub(super) fn run(global: &Global, args: &CompareArgs) -> Result<ExitStatus> {
    if let Some(by) = &args.by {
        return sweep::run(global, args, by);
    }
    let is_folder = |path: &str| from_start(global, path.as_ref()).is_dir();
    let side = |text: &String| Side::parse(text, is_folder).map_err(|error| anyhow!(error));
    let (Some(first), Some(second)) = (&args.baseline, &args.candidate) else { bail!("compare needs two sides") };
    let sides = [side(first)?, side(second)?];
    for side in &sides {
        if let Side::Folder(folder) = side
            && !is_folder(folder)
        {
            bail!("there is no folder {folder}");
        }
    }
    let mut judging = Judging::open(global)?;
    let folder = |side: &Side| if let Side::Folder(folder) = side { Some(PathBuf::from(folder)) } else { None };
    let folders: Vec<PathBuf> = sides.iter().filter_map(folder).chain(args.results.clone()).collect();
    let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    judging.refuse_places(args.markdown.as_deref(), &folders)?;
    if args.results.is_some() || sides.iter().any(|side| !matches!(side, Side::Folder(_))) {
        judging.read(args.results.as_deref())?;
    }
    let needs_git = sides.iter().any(|side| matches!(side, Side::Revision(_) | Side::Branch(_) | Side::Tag(_)));
    let commits = if needs_git { judging.commits()? } else { None };
    let folders: Vec<BTreeSet<usize>> = sides
        .iter()
        .map(|side| match side {
            Side::Folder(folder) => {
                judging.add(&Results { folder: from_start(global, folder.as_ref()), shown: folder.clone() })
            }
            _ => BTreeSet::new(),
        })
        .collect();
    judging.refuse_unknown_benchmarks(&args.benchmark)?;
    judging.refuse_unknown(&args.metric)?;
    let filter = Filter { benchmarks: &args.benchmark, metrics: &args.metric, allowed: &args.allow };
    let Compared { mut answer, known, empty } = compared(&judging, &sides, &folders, commits.as_ref(), filter)?;
    answer.notes.extend(judging.note_of_faults());
    let Judging { archive, places, sources, left_out, mut diagnostics, .. } = judging;
    diagnostics.extend(empty.iter().map(|side| nothing(side, &archive, &known)).collect::<Diagnostics>());
    answer.left_out = left_out;
    answer.notes.extend(sides.iter().filter_map(|side| of_one_commit(side, commits.as_ref()?)));
    let is_told = !empty.is_empty() || answer.lines.iter().any(Line::is_one_sided);
    if answer.is_void() && !is_told {
        let fault = void(&answer);
        answer.notes.push(fault.message.clone());
        diagnostics.push(fault);
    }
    let is_bad = diagnostics.has_errors() || answer.lines.iter().any(Line::is_one_sided);
    if global.output_format == Format::Human {
        for fault in diagnostics.as_slice() {
            let help = fault.help.iter().map(|help| format!("; {help}")).collect::<String>();
            terminal::tell(&on_one_line(&format!("{}: {}{help}", fault.code.id, fault.message)));
        }
    }
    let told = answer.lines.iter().filter(|line| line.verdict == Verdict::Regressed || line.is_one_sided());
    diagnostics.extend(told.map(|line| finding(line, &places)).collect::<Diagnostics>());
    print(global, args, &answer, Findings { diagnostics, sources: &sources, checked: &[], unreadable: false })?;
    Ok(if is_bad { ExitStatus::No } else { ExitStatus::Yes })
}

/// What of the sides is looked at.
#[derive(Clone, Copy, Default)]
pub(super) struct Filter<'a> {
    pub(super) benchmarks: &'a [String],
    pub(super) metrics: &'a [String],
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

/// Compares two sides; `folders` are the places of the results of those that are folders.
pub(super) fn compared<'a>(
    judging: &Judging<'_>,
    sides: &'a [Side; 2],
    folders: &[BTreeSet<usize>],
    commits: Option<&Commits>,
    filter: Filter<'_>,
) -> Result<Compared<'a>> {
    let archive = &judging.archive;
    let mut rows: Vec<BTreeSet<usize>> = Vec::new();
    let mut known = Lineage::default();
    for (at, side) in sides.iter().enumerate() {
        let own = match (side, folders.get(at)) {
            (Side::Folder(_), Some(places)) => places.clone(),
            _ => chosen(archive, side, commits, &mut known)?,
        };
        rows.push(wanted(archive, own, filter.benchmarks));
    }
    let [mut first, mut second] = <[BTreeSet<usize>; 2]>::try_from(rows).ok().expected("the rows of both sides");
    let default = commits.and_then(Commits::default_branch);
    let is_default = |side: &Side| matches!(side, Side::Branch(name) if Some(name) == default.as_ref());
    if is_default(&sides[1]) && !is_default(&sides[0]) {
        part(archive, &mut second, &mut first);
    } else {
        part(archive, &mut first, &mut second);
    }
    let empty = sides.iter().zip([&first, &second]).filter(|(_, rows)| rows.is_empty()).map(|(side, _)| side).collect();
    let answer = compare(Request {
        archive,
        sides: [&sides[0], &sides[1]],
        rows: [&first, &second],
        allowed: &filter.allowed.iter().cloned().collect(),
        across: &judging.across,
        policies: &judging.policies,
        metrics: &filter.metrics.iter().cloned().collect(),
        lineage: Some(&known),
    });
    Ok(Compared { answer, known, empty })
}

fn print(global: &Global, args: &CompareArgs, answer: &Comparison, findings: Findings<'_>) -> Result<()> {
    if let Some(path) = &args.markdown {
        fs::write_report(&from_start(global, path), &render::markdown_comparison(answer))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match global.output_format {
        Format::Human => {
            terminal::print(&render::human_comparison(answer))?;
            findings::write_reports(global, findings)
        }
        Format::Json => {
            terminal::print(&format!("{:#}\n", serde_json::to_value(answer)?))?;
            findings::write_reports(global, findings)
        }
        _ => findings::report(global, findings::Output::Findings, findings).map(drop),
    }
}

/// Returns the places of the results of a side that is no folder; the commits that it names are added to `known`.
fn chosen(archive: &Archive, side: &Side, commits: Option<&Commits>, known: &mut Lineage) -> Result<BTreeSet<usize>> {
    Ok(match side {
        Side::Label(name, value) => archive.places(|row| archive.subject(row).labels.get(name) == Some(value)),
        Side::Variant(name) => archive.places(|row| {
            archive
                .subject(row)
                .params
                .get(kubebench_format::result::VARIANT)
                .is_some_and(|own| own.as_str() == Some(name))
        }),
        Side::Environment(name) => archive.places(|row| is_there(archive, row, name)),
        Side::Revision(_) | Side::Branch(_) | Side::Tag(_) | Side::Folder(_) => {
            let commits = commits.ok_or_else(|| anyhow!("`{side}` is of a git history, and there is none here"))?;
            let lineage = lineage(commits, side)?;
            let chosen = archive.places(|row| lineage.commit_of(archive, row).is_some());
            known.commits.extend(lineage.commits);
            known.trees.extend(lineage.trees);
            chosen
        }
    })
}

/// Returns whether a result ran on the target `name`, or where the fact has the value of `fact=value`.
fn is_there(archive: &Archive, row: &Row, name: &str) -> bool {
    match name.split_once('=') {
        None => archive.subject(row).target == name,
        Some((fact, value)) => archive.facts(row).get(fact).is_some_and(|own| own == value),
    }
}

fn wanted(archive: &Archive, rows: BTreeSet<usize>, benchmarks: &[String]) -> BTreeSet<usize> {
    let is_wanted = |at: &usize| {
        let benchmark = archive.rows().get(*at).map(|row| &archive.subject(row).benchmark);
        benchmarks.is_empty() || benchmark.is_some_and(|name| benchmarks.contains(name))
    };
    rows.into_iter().filter(is_wanted).collect()
}

/// Takes what is on both sides from the second one, which reaches further; from the first where the second has nothing of its own.
fn part(archive: &Archive, first: &mut BTreeSet<usize>, second: &mut BTreeSet<usize>) {
    // Folders may hold copies of the same runs.
    let run = |at: &usize| archive.rows().get(*at).map(|row| (row.run.as_str(), row.attempt));
    let [ours, theirs] = [&*first, &*second].map(|side| side.iter().filter_map(run).collect::<BTreeSet<_>>());
    if !theirs.is_subset(&ours) {
        second.retain(|at| run(at).is_none_or(|run| !ours.contains(&run)));
    } else if !ours.is_subset(&theirs) {
        first.retain(|at| run(at).is_none_or(|run| !theirs.contains(&run)));
    }
}

fn nothing(side: &Side, archive: &Archive, known: &Lineage) -> Diagnostic {
    let message = format!("there is no result of `{side}`");
    let fault = Diagnostic::in_file(&code::KB0461, "results", message);
    if let Some((what, values)) = known_values(side, archive) {
        return fault.help(match values.len() {
            0 => format!("no result has {what}"),
            _ => format!("results have these: {}", values.into_iter().collect::<Vec<_>>().join("; ")),
        });
    }
    let dirty = archive.rows().iter().filter(|row| {
        let origin = archive.origin(row);
        origin.dirty == Some(true) && origin.commit.as_ref().is_some_and(|commit| known.commits.contains(commit))
    });
    match dirty.count() {
        0 => fault.help("`kubebench history` lists what there is"),
        count => fault.note(format!(
            "{} of this commit ran with files that differed from it, and so {} not its own",
            findings::counted(count, "result"),
            if count == 1 { "is" } else { "are" }
        )),
    }
}

/// Says of a branch that was named as a revision that it stands for its newest commit alone.
fn of_one_commit(side: &Side, commits: &Commits) -> Option<String> {
    let Side::Revision(name) = side else { return None };
    commits
        .is_branch(name)
        .then(|| format!("`{name}` is the newest commit of that branch alone; `branch:{name}` is all of its commits"))
}

/// Says that the sides share nothing, which is no proof that nothing got worse.
fn void(answer: &Comparison) -> Diagnostic {
    let Comparison { baseline, candidate, .. } = answer;
    let fault =
        Diagnostic::in_file(&code::KB0461, "results", format!("nothing of {baseline} and {candidate} was compared"));
    if answer.lines.is_empty() {
        return fault.help("the notes name what one side alone has; `kubebench history` lists what there is");
    }
    fault.help("`--allow FACT` compares what differs in a fact all the same")
}

/// Returns what a side asks for, and what results have of it.
fn known_values(side: &Side, archive: &Archive) -> Option<(String, BTreeSet<String>)> {
    let subjects = || archive.rows().iter().map(|row| archive.subject(row));
    match side {
        Side::Label(name, _) => {
            let values: BTreeSet<String> =
                subjects().filter_map(|of| Some(format!("label:{name}={}", of.labels.get(name)?))).collect();
            let all = || subjects().flat_map(|of| &of.labels).map(|(name, value)| format!("label:{name}={value}"));
            Some(("a label".to_owned(), if values.is_empty() { all().collect() } else { values }))
        }
        Side::Variant(_) => {
            let name = |value: &serde_json::Value| value.as_str().map(|name| format!("variant:{name}"));
            let variants = subjects().filter_map(|of| of.params.get(kubebench_format::result::VARIANT).and_then(name));
            Some(("a variant".to_owned(), variants.collect()))
        }
        _ => {
            let fact = side.asked_fact()?;
            let values = archive.rows().iter().filter_map(|row| archive.facts(row).get(fact).cloned());
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
