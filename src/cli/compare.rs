//! `kubebench compare`: two sides of what was measured.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, anyhow, bail};

use super::ExitStatus;
use super::args::{CompareArgs, Global};
use super::findings::{self, Findings};
use super::project::{Project, VERSION, from_start};
use super::reading::{self, Reading, Results, Thresholds, thresholds};
use super::sweep;
use crate::archive::{Archive, Row};
use crate::compare::v1::{Line, Verdict};
use crate::compare::{Lineage, Request, Side, compare, render};
use crate::compile::Workspace;
use crate::diag::render::Format;
use crate::diag::{Diagnostic, Diagnostics, code};
use crate::edge::fs;
use crate::edge::git::Commits;
use crate::edge::terminal;

/// Compares, prints, and returns 1 where a file could not be trusted or a side is empty.
pub(super) fn run(global: &Global, args: &CompareArgs) -> Result<ExitStatus> {
    if let Some(by) = &args.by {
        return sweep::run(global, args, by);
    }
    let is_folder = |path: &str| from_start(global, path.as_ref()).is_dir();
    let side = |text: &String| Side::parse(text, is_folder).map_err(|error| anyhow!(error));
    let (Some(first), Some(second)) = (&args.baseline, &args.candidate) else { bail!("compare needs two sides") };
    let sides = [side(first)?, side(second)?];
    let project = Project::find(global)?;
    let workspace = Workspace::open(project.file.clone(), VERSION);
    let settings = workspace.project().map(|project| project.settings.clone());
    let across = settings.as_ref().map(|settings| settings.compare_across.clone()).unwrap_or_default();
    let output = settings.as_ref().map_or_else(|| "generated".to_owned(), |settings| settings.output.clone());
    let (mut sources, thresholds) = thresholds(global);
    let mut diagnostics = Diagnostics::default();
    let (mut archive, mut left_out) = (Archive::default(), Vec::new());
    if args.results.is_some() || sides.iter().any(|side| !matches!(side, Side::Folder(_))) {
        let place = Results::of(global, args.results.as_deref(), &project.root, &workspace.results_dir())?;
        let read = reading::read(global, &place, &mut sources);
        (archive, left_out) = (read.archive, read.left_out);
        diagnostics.extend(read.diagnostics);
    }
    let needs_git = sides.iter().any(|side| matches!(side, Side::Revision(_) | Side::Branch(_) | Side::Tag(_)));
    let commits = if needs_git { Commits::open(&project.root, &output)? } else { None };
    let mut rows: Vec<BTreeSet<usize>> = Vec::new();
    let mut known = Lineage::default();
    for side in &sides {
        let chosen = match side {
            Side::Folder(folder) => {
                let place = Results { folder: from_start(global, folder.as_ref()), shown: folder.clone() };
                let Reading { archive: more, left_out: others, diagnostics: found } =
                    reading::read(global, &place, &mut sources);
                diagnostics.extend(found);
                left_out.extend(others);
                let first = archive.rows().len();
                more.rows().iter().for_each(|row| archive.adopt(row.clone(), &more));
                (first..archive.rows().len()).collect()
            }
            Side::Revision(_) | Side::Branch(_) | Side::Tag(_) => {
                let commits =
                    commits.as_ref().ok_or_else(|| anyhow!("`{side}` needs a git repository, and this is none"))?;
                let lineage = lineage(commits, side)?;
                let chosen = places(&archive, &|row| lineage.commit_of(&archive, row).is_some());
                known.commits.extend(lineage.commits);
                known.trees.extend(lineage.trees);
                chosen
            }
            Side::Label(name, value) => places(&archive, &|row| archive.subject(row).labels.get(name) == Some(value)),
            Side::Variant(name) => places(&archive, &|row| {
                archive.subject(row).params.get(crate::expand::VARIANT).is_some_and(|own| own.as_str() == Some(name))
            }),
            Side::Environment(name) => places(&archive, &|row| is_there(&archive, row, name)),
        };
        rows.push(wanted(&archive, chosen, args));
    }
    let [mut first, mut second] = <[BTreeSet<usize>; 2]>::try_from(rows).unwrap_or_default();
    let default = commits.as_ref().and_then(Commits::default_branch);
    let is_default = |side: &Side| matches!(side, Side::Branch(name) if Some(name) == default.as_ref());
    if is_default(&sides[1]) && !is_default(&sides[0]) {
        part(&mut second, &mut first);
    } else {
        part(&mut first, &mut second);
    }
    for (side, rows) in sides.iter().zip([&first, &second]) {
        if rows.is_empty() {
            diagnostics.push(nothing(side, &archive, &known));
        }
    }
    let mut answer = compare(Request {
        archive: &archive,
        sides: [&sides[0], &sides[1]],
        rows: [&first, &second],
        allowed: &args.allow.iter().cloned().collect(),
        across: &across,
        thresholds: &thresholds.iter().map(|(key, (share, _))| (key.clone(), *share)).collect(),
        metrics: &args.metric.iter().cloned().collect(),
        lineage: Some(&known),
    });
    answer.left_out = left_out;
    let is_bad = diagnostics.has_errors();
    let is_worse = |line: &&Line| line.verdict == Verdict::Regressed;
    let worse = answer.lines.iter().filter(is_worse);
    let found: Diagnostics = worse.map(|line| finding(line, &thresholds)).collect();
    diagnostics.extend(found);
    print(global, args, &answer, Findings { diagnostics, sources: &sources, checked: &[], unreadable: false })?;
    Ok(if is_bad { ExitStatus::No } else { ExitStatus::Yes })
}

fn print(
    global: &Global,
    args: &CompareArgs,
    answer: &crate::compare::v1::Comparison,
    findings: Findings<'_>,
) -> Result<()> {
    if let Some(path) = &args.markdown {
        fs::write_report(&from_start(global, path), &render::markdown_comparison(answer))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match global.output_format {
        Format::Human => {
            for fault in findings.diagnostics.as_slice().iter().filter(|fault| fault.code != &code::KB0460) {
                terminal::tell(&format!("{}: {}", fault.code.id, fault.message));
            }
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

fn lineage(commits: &Commits, side: &Side) -> Result<Lineage> {
    match side {
        Side::Branch(name) => commits.of_branch(name),
        Side::Tag(name) => commits.of_tag(name),
        Side::Revision(name) => commits.of_revision(name),
        Side::Folder(_) | Side::Label(..) | Side::Variant(_) | Side::Environment(_) => Ok(Lineage::default()),
    }
}

fn places(archive: &Archive, wanted: &dyn Fn(&Row) -> bool) -> BTreeSet<usize> {
    archive.rows().iter().enumerate().filter(|(_, row)| wanted(row)).map(|(at, _)| at).collect()
}

/// Returns whether a result ran on the target `name`, or where the fact has the value of `fact=value`.
fn is_there(archive: &Archive, row: &Row, name: &str) -> bool {
    match name.split_once('=') {
        None => archive.subject(row).target == name,
        Some((fact, value)) => archive.facts(row).get(fact).is_some_and(|own| own == value || own.starts_with(value)),
    }
}

fn wanted(archive: &Archive, rows: BTreeSet<usize>, args: &CompareArgs) -> BTreeSet<usize> {
    let is_wanted = |at: &usize| {
        let benchmark = archive.rows().get(*at).map(|row| &archive.subject(row).benchmark);
        args.benchmark.is_empty() || benchmark.is_some_and(|name| args.benchmark.contains(name))
    };
    rows.into_iter().filter(is_wanted).collect()
}

/// Takes what is on both sides from the second one, which reaches further; from the first where the second has nothing of its own.
fn part(first: &mut BTreeSet<usize>, second: &mut BTreeSet<usize>) {
    let both: BTreeSet<usize> = first.intersection(second).copied().collect();
    if second.len() > both.len() {
        second.retain(|at| !both.contains(at));
    } else if first.len() > both.len() {
        first.retain(|at| !both.contains(at));
    }
}

fn nothing(side: &Side, archive: &Archive, known: &Lineage) -> Diagnostic {
    let message = format!("there is no result of `{side}`");
    let fault = Diagnostic::in_file(&code::KB0461, "results", message);
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

fn finding(line: &Line, thresholds: &Thresholds) -> Diagnostic {
    let message = render::sentence(line);
    match thresholds.get(&(line.benchmark.clone(), line.metric.clone())) {
        Some((_, span)) => Diagnostic::at(&code::KB0460, *span, message),
        None => Diagnostic::in_file(&code::KB0460, format!("results/{}", line.benchmark), message),
    }
}
