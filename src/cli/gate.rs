//! `kubebench gate`: does the newest session pass what the specs demand?

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{GateArgs, Global, OnInconclusive};
use super::findings::{self, Findings};
use super::judging::{self, Judging, Usual, add_baselines, lineage_of_baseline};
use super::project::from_start;
use super::reading::Results;
use super::session::Session;
use kubebench_git::Commits;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_results::archive::{Archive, Row, partitions};
use kubebench_results::compare::v1::{Gated, LeftOut, Line, Outcome, SCHEMA_VERSION, Verdict};
use kubebench_results::compare::{Candidate, GateRequest, Judged, Lineage, Rule, gate, idle, render, words};
use kubebench_syntax::diag::render::Format;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::{SourceMap, Span};

/// Judges, prints and returns whether the candidate passes.
pub(super) fn run(global: &Global, args: &GateArgs) -> Result<ExitStatus> {
    let session = Session::open(global, &args.select)?;
    let found = session.diagnostics();
    if found.has_errors() {
        return session.report(found);
    }
    let mut judging = Judging::of(global, session)?;
    let folders: Vec<&Path> =
        [args.results.as_deref(), args.candidate.as_deref().map(Path::new)].into_iter().flatten().collect();
    judging.refuse_places(args.markdown.as_deref(), &folders)?;
    judging.read(args.results.as_deref())?;
    let mut found = Diagnostics::default();
    let acks = judging.acks(&mut found);
    if found.has_errors() {
        // An acknowledgement that cannot be read could be the one that lets the gate pass, or not.
        let findings = Findings { diagnostics: found, sources: &judging.sources, checked: &[], unreadable: true };
        return findings::report(global, findings::Output::Findings, findings);
    }
    let commits = judging.commits()?;
    let (default, lineages) = lineages(args, commits.as_ref(), &judging.rules)?;
    let candidate = candidate(global, args, commits.as_ref(), &mut judging)?;
    let as_of = args.as_of.clone().unwrap_or_else(|| judging.as_of());
    let Judging { archive, across, rules, left_out, mut diagnostics, sources, .. } = judging;
    let all = partitions(&archive, 0..archive.rows().len(), &across);
    let plain: Vec<Rule> = rules.iter().map(|(rule, _)| rule.clone()).collect();
    let Judged { lines, notes } = gate(GateRequest {
        archive: &archive,
        partitions: &all,
        rules: &plain,
        acks: &acks,
        lineages: &lineages,
        default: default.as_deref(),
        candidate: &candidate,
        as_of: &as_of,
    });
    let idle = idle(&acks, &archive, &all, &lineages, &as_of);
    let judged = judged_files(&left_out, &lines).len();
    let outcome = if judged > 0 && !args.skip_bad {
        Outcome::NoAnswer
    } else if lines.iter().all(|line| passes(line, args)) {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    let answer = Gated {
        schema_version: SCHEMA_VERSION,
        outcome,
        results: args.results.as_ref().map(|folder| folder.display().to_string()),
        baseline: default.clone().unwrap_or_else(|| "all earlier sessions".to_owned()),
        candidate: args.candidate.clone().unwrap_or_else(|| "the newest session".to_owned()),
        as_of: Some(as_of),
        lines,
        left_out,
        notes: notes.into_iter().chain(idle).chain(general(args, &candidate, commits.as_ref(), &archive)).collect(),
    };
    let failed = answer.lines.iter().filter(|line| !passes(line, args));
    diagnostics.extend(failed.map(|line| finding(line, &rules, answer.results.as_deref())));
    print(global, args, &answer, diagnostics, &sources)?;
    Ok(match answer.outcome {
        Outcome::NoAnswer => {
            let files = findings::counted(judged, "result file");
            terminal::tell(&format!(
                "error: cannot decide: {files} under test cannot be trusted; fix or remove them, or pass --skip-bad"
            ));
            ExitStatus::NoAnswer
        }
        Outcome::Passed => ExitStatus::Yes,
        Outcome::Failed => ExitStatus::No,
    })
}

fn print(
    global: &Global,
    args: &GateArgs,
    answer: &Gated,
    diagnostics: Diagnostics,
    sources: &SourceMap,
) -> Result<()> {
    if let Some(path) = &args.markdown {
        fs::write_report(&from_start(global, path), &render::markdown_gated(answer))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let findings = Findings { diagnostics, sources, checked: &[], unreadable: false };
    match global.output_format {
        Format::Human => {
            terminal::print(&render::human_gated(answer))?;
            findings::write_reports(global, findings)?;
        }
        Format::Json => {
            terminal::print(&format!("{:#}\n", serde_json::to_value(answer)?))?;
            findings::write_reports(global, findings)?;
        }
        _ => drop(findings::report(global, findings::Output::Findings, findings)?),
    }
    Ok(())
}

/// Returns whether a line lets the gate pass.
fn passes(line: &Line, args: &GateArgs) -> bool {
    match line.verdict {
        Verdict::Regressed | Verdict::Invalid | Verdict::Incomparable => false,
        Verdict::Missing => args.on_missing == OnInconclusive::Pass,
        Verdict::Inconclusive => args.on_inconclusive == OnInconclusive::Pass,
        Verdict::Pending | Verdict::Improved | Verdict::NoChangeSeen | Verdict::Unchanged => true,
    }
}

/// Returns the name of the lineage that is the baseline, nothing outside of a repository, and all lineages that gates are held against.
fn lineages(
    args: &GateArgs,
    commits: Option<&Commits>,
    rules: &[(Rule, Span)],
) -> Result<(Option<String>, BTreeMap<String, Lineage>)> {
    let mut lineages = BTreeMap::new();
    let default = match (&args.baseline, commits) {
        (Some(name), None) => bail!("--baseline {name} needs a git repository, and this is none"),
        (Some(name), Some(commits)) => {
            let name = if name.contains(':') { name.clone() } else { format!("rev:{name}") };
            lineages.insert(name.clone(), lineage_of_baseline(commits, &name)?);
            Some(name)
        }
        (None, _) => match Usual::of(commits)? {
            Usual::Known { name, lineage } => {
                lineages.insert(name.clone(), lineage);
                Some(name)
            }
            Usual::NoRepository => None,
            Usual::NoBranch => bail!(
                "the default branch is unknown: there is no `main` and no `master`; name it with --baseline branch:NAME, or let \
                 git know it (`git remote set-head origin --auto`)"
            ),
        },
    };
    add_baselines(&mut lineages, rules.iter().map(|(rule, _)| rule), commits)?;
    Ok((default, lineages))
}

/// Returns what is judged: what `--candidate` names, or the newest sessions.
fn candidate(
    global: &Global,
    args: &GateArgs,
    commits: Option<&Commits>,
    judging: &mut Judging<'_>,
) -> Result<Candidate> {
    let Some(name) = &args.candidate else { return Ok(Candidate::Newest) };
    let folder = from_start(global, name.as_ref());
    if folder.is_dir() {
        return Ok(Candidate::Rows(judging.join(&Results { folder, shown: name.clone() })));
    }
    let archive = &judging.archive;
    let of_session = archive.places(|row| row.session == *name);
    if !of_session.is_empty() {
        return Ok(Candidate::Rows(of_session));
    }
    let Some(commits) = commits else {
        bail!("`{name}` is no folder and no session, and there is no git history to look in");
    };
    if name.starts_with("branch:") || name.starts_with("tag:") {
        bail!(
            "`{name}` is many commits, and a candidate is one: name it by `{}`",
            name.split_once(':').map_or("", |(_, name)| name)
        );
    }
    let revision = name.strip_prefix("rev:").unwrap_or(name);
    let rows = match commits.of_revision(revision) {
        Ok(reached) => {
            let lineage = judging::known(reached);
            archive.places(|row| lineage.commit_of(archive, row).is_some())
        }
        Err(error) => of_lost_commit(archive, revision)
            .ok_or(error)
            .with_context(|| format!("`{name}` is no session and no folder either"))?,
    };
    Ok(Candidate::Rows(rows))
}

/// Returns the results of a commit that the repository does not hold any more, as those of a branch that was deleted.
fn of_lost_commit(archive: &Archive, name: &str) -> Option<BTreeSet<usize>> {
    const LEAST: usize = 7;
    let named = |row: &Row| {
        let origin = archive.origin(row);
        let commit = origin.commit.as_deref().filter(|_| origin.dirty != Some(true));
        commit.filter(|commit| commit.starts_with(name))
    };
    let commits: BTreeSet<&str> = archive.rows().iter().filter_map(named).collect();
    (name.len() >= LEAST && commits.len() == 1).then(|| archive.places(|row| named(row).is_some()))
}

/// Returns the files that were left out of cases that were judged.
fn judged_files<'a>(left_out: &'a [LeftOut], lines: &[Line]) -> Vec<&'a LeftOut> {
    let judged: BTreeSet<String> = lines.iter().map(|line| format!("{}/{}/", line.benchmark, line.case)).collect();
    left_out.iter().filter(|file| judged.iter().any(|folder| file.path.starts_with(folder))).collect()
}

fn finding(line: &Line, rules: &[(Rule, Span)], results: Option<&str>) -> Diagnostic {
    let is_of_line = |rule: &Rule| rule.benchmark == line.benchmark && rule.metric == line.metric;
    let place = rules.iter().find(|(rule, _)| is_of_line(rule)).map_or_else(Span::default, |(_, span)| *span);
    let code = match line.verdict {
        Verdict::Missing | Verdict::Invalid => &code::KB0461,
        Verdict::Inconclusive => &code::KB0462,
        _ => &code::KB0460,
    };
    let message = render::sentence(line);
    words::next(line, results).into_iter().fold(Diagnostic::at(code, place, message), Diagnostic::help)
}

fn general(args: &GateArgs, candidate: &Candidate, commits: Option<&Commits>, archive: &Archive) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(folder), true) = (&args.results, archive.rows().is_empty()) {
        notes.push(format!("{} holds no result that counts", folder.display()));
    }
    if let (Some(name), Candidate::Rows(rows)) = (&args.candidate, candidate)
        && rows.is_empty()
    {
        notes.push(format!(
            "`{name}` has no result that counts (a commit that only records results ran nothing); `kubebench history` lists what there is"
        ));
    }
    if commits.is_none() {
        notes.push("there is no git history here, so all earlier sessions are the baseline".to_owned());
    }
    if archive.rows().iter().any(|row| row.synthetic) {
        notes.push("some results are synthetic: made by `kubebench mock`, nothing ran".to_owned());
    }
    notes
}
