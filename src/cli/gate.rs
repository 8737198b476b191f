//! `kubebench gate`: does the newest session pass what the specs demand?

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, anyhow};

use super::ExitStatus;
use super::args::{GateArgs, Global, OnInconclusive};
use super::findings::{self, Findings};
use super::project::from_start;
use super::reading::{self, Reading, Results};
use super::session::Session;
use crate::archive::{Archive, Row, partitions};
use crate::compare::v1::{Gated, LeftOut, Line, Outcome, SCHEMA_VERSION, Verdict};
use crate::compare::{Against, Candidate, GateRequest, Lineage, Rule, gate, render};
use crate::compile::{Input, acks};
use crate::diag::render::Format;
use crate::diag::{Diagnostic, Diagnostics, code};
use crate::edge::fs::{self, Content};
use crate::edge::git::Commits;
use crate::edge::terminal;
use crate::model::{Ack, Gate, GateBaseline};
use crate::text::{SourceMap, Span};

/// The folder of acknowledgements, below the project's.
pub(super) const ACKS: &str = "acks";

/// Judges, prints and returns whether the candidate passes.
pub(super) fn run(global: &Global, args: &GateArgs) -> Result<ExitStatus> {
    let session = Session::open(global, &args.select)?;
    let found = session.diagnostics();
    if found.has_errors() {
        return session.report(found);
    }
    let settings =
        session.compilation.project.as_ref().map(|project| &project.settings).context("there is no project")?;
    let place = Results::of(global, args.results.as_deref(), &session.root, &settings.results.directory)?;
    let mut sources = session.compilation.sources.clone();
    let Reading { mut archive, mut left_out, mut diagnostics } = reading::read(global, &place, &mut sources);
    let mut found = Diagnostics::default();
    let known = read_acks(&session.root, &mut sources, &mut found);
    if found.has_errors() {
        // An acknowledgement that cannot be read could be the one that lets the gate pass, or not.
        let findings = Findings { diagnostics: found, sources: &sources, checked: &[], unreadable: true };
        return findings::report(global, findings::Output::Findings, findings);
    }
    let commits = Commits::open(&session.root, &settings.output)?;
    let rules: Vec<(Rule, Span)> = session
        .benchmarks()
        .into_iter()
        .flat_map(|compiled| compiled.benchmark.gates.iter().map(|gate| rule(&compiled.benchmark, gate)))
        .collect();
    let mut lineages = BTreeMap::new();
    let default = default_lineage(args, commits.as_ref(), &mut lineages)?;
    for (rule, _) in &rules {
        if let (Against::Lineage(name), Some(commits)) = (&rule.against, &commits)
            && !lineages.contains_key(name)
        {
            lineages.insert(name.clone(), lineage(commits, name)?);
        }
    }
    let (candidate, more) = candidate(global, args, commits.as_ref(), &mut archive, &mut sources)?;
    left_out.extend(more.left_out);
    diagnostics.extend(more.diagnostics);
    let all = partitions(&archive, 0..archive.rows().len(), &settings.compare_across);
    let newest = archive.rows().iter().map(|row| row.started_at.as_str()).max().unwrap_or_default();
    let as_of = args.as_of.clone().unwrap_or_else(|| newest.get(..10).unwrap_or(newest).to_owned());
    let plain: Vec<Rule> = rules.iter().map(|(rule, _)| rule.clone()).collect();
    let lines = gate(GateRequest {
        archive: &archive,
        partitions: &all,
        rules: &plain,
        acks: &known,
        lineages: &lineages,
        default: default.as_deref(),
        candidate: &candidate,
        as_of: &as_of,
    });
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
        baseline: default.clone().unwrap_or_else(|| "all earlier sessions".to_owned()),
        candidate: args.candidate.clone().unwrap_or_else(|| "the newest session".to_owned()),
        as_of: Some(as_of),
        lines,
        left_out,
        notes: notes(commits.as_ref(), &archive),
    };
    let failed = answer.lines.iter().filter(|line| !passes(line, args));
    diagnostics.extend(failed.map(|line| finding(line, &rules)));
    print(global, args, &answer, diagnostics, &sources)?;
    Ok(match answer.outcome {
        Outcome::NoAnswer => {
            let files = findings::counted(judged, "result file");
            terminal::tell(&format!(
                "error: {files} among what is judged cannot be trusted; mend that, or leave it out with --skip-bad"
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

fn rule(benchmark: &crate::model::Benchmark, gate: &Gate) -> (Rule, Span) {
    let against = match &gate.baseline {
        GateBaseline::Default => Against::Default,
        GateBaseline::Branch(name) => Against::Lineage(format!("branch:{name}")),
        GateBaseline::Tag(name) => Against::Lineage(format!("tag:{name}")),
        GateBaseline::Value(value) => Against::Value(*value),
    };
    let named = benchmark.metrics.iter().find(|metric| metric.name.as_ref() == Some(&gate.metric));
    let place = named.map_or(gate.span, |metric| metric.span);
    let rule = Rule {
        benchmark: benchmark.name.clone(),
        target: benchmark.target.name.clone(),
        cases: benchmark.cases.iter().map(|case| (case.id.clone(), case.name.clone())).collect(),
        metric: gate.metric.clone(),
        max_regression: gate.max_regression,
        min: gate.min,
        max: gate.max,
        is_confirmed: gate.is_confirmed,
        against,
    };
    (rule, place)
}

/// Returns the name of the lineage that is the baseline, which is added to `lineages`; nothing outside of a repository.
fn default_lineage(
    args: &GateArgs,
    commits: Option<&Commits>,
    lineages: &mut BTreeMap<String, Lineage>,
) -> Result<Option<String>> {
    let Some(commits) = commits else {
        return match &args.baseline {
            Some(name) => Err(anyhow!("--baseline {name} needs a git repository, and this is none")),
            None => Ok(None),
        };
    };
    let name = match &args.baseline {
        Some(name) if name.contains(':') => Some(name.clone()),
        Some(name) => Some(format!("rev:{name}")),
        None => commits.default_branch().map(|name| format!("branch:{name}")),
    };
    let Some(name) = name else {
        return Err(anyhow!(
            "nobody knows the default branch here: there is no `main` and no `master`; name it with --baseline branch:NAME, or let \
             git know it (`git remote set-head origin --auto`)"
        ));
    };
    lineages.insert(name.clone(), lineage(commits, &name)?);
    Ok(Some(name))
}

fn lineage(commits: &Commits, name: &str) -> Result<Lineage> {
    match name.split_once(':') {
        Some(("branch", name)) => commits.of_branch(name),
        Some(("tag", name)) => commits.of_tag(name),
        Some(("rev", name)) => commits.of_revision(name),
        _ => Err(anyhow!("`{name}` is no baseline: write branch:NAME, tag:NAME or a revision")),
    }
}

/// Returns what is judged: what `--candidate` names, or the newest sessions; and what is wrong with files that were read for it.
fn candidate(
    global: &Global,
    args: &GateArgs,
    commits: Option<&Commits>,
    archive: &mut Archive,
    sources: &mut SourceMap,
) -> Result<(Candidate, Reading)> {
    let Some(name) = &args.candidate else { return Ok((Candidate::Newest, Reading::default())) };
    let rows = |archive: &Archive, wanted: &dyn Fn(&Row) -> bool| -> BTreeSet<usize> {
        archive.rows().iter().enumerate().filter(|(_, row)| wanted(row)).map(|(at, _)| at).collect()
    };
    let folder = from_start(global, name.as_ref());
    if folder.is_dir() {
        let place = Results { folder, shown: name.clone() };
        let mut more = reading::read(global, &place, sources);
        let known: BTreeSet<String> = archive.rows().iter().map(|row| row.digest.clone()).collect();
        let digests: BTreeSet<String> = more.archive.rows().iter().map(|row| row.digest.clone()).collect();
        for row in more.archive.rows().iter().filter(|row| !known.contains(&row.digest)) {
            archive.adopt(row.clone(), &more.archive);
        }
        more.doubts_of(archive, &place);
        return Ok((Candidate::Rows(rows(archive, &|row| digests.contains(&row.digest))), more));
    }
    let of_session = rows(archive, &|row| row.session == *name);
    if !of_session.is_empty() {
        return Ok((Candidate::Rows(of_session), Reading::default()));
    }
    let Some(commits) = commits else {
        return Err(anyhow!("`{name}` is no folder and no session, and there is no git repository"));
    };
    let revision = name.strip_prefix("rev:").unwrap_or(name);
    let lineage =
        commits.of_revision(revision).with_context(|| format!("`{name}` is no session and no folder either"))?;
    Ok((Candidate::Rows(rows(archive, &|row| lineage.commit_of(archive, row).is_some())), Reading::default()))
}

/// Reads the acknowledgements of the project at `root`.
pub(super) fn read_acks(root: &std::path::Path, sources: &mut SourceMap, diagnostics: &mut Diagnostics) -> Vec<Ack> {
    let mut inputs = Vec::new();
    for fs::Read { path, content } in fs::read_sources(root, &[ACKS.to_owned()]) {
        match content {
            Content::Whole(bytes) | Content::TooLong(bytes) => inputs.push(Input { path, bytes }),
            Content::Refused(reason) | Content::Unreadable(reason) => {
                diagnostics.push(Diagnostic::in_file(
                    &code::KB0114,
                    path,
                    format!("the file cannot be read: {reason}"),
                ));
            }
            Content::Absent | Content::Misnamed => {}
        }
    }
    acks(inputs, sources, diagnostics)
}

/// Returns the files that were left out of cases that were judged.
fn judged_files<'a>(left_out: &'a [LeftOut], lines: &[Line]) -> Vec<&'a LeftOut> {
    let judged: BTreeSet<String> = lines.iter().map(|line| format!("{}/{}/", line.benchmark, line.case)).collect();
    left_out.iter().filter(|file| judged.iter().any(|folder| file.path.starts_with(folder))).collect()
}

fn finding(line: &Line, rules: &[(Rule, Span)]) -> Diagnostic {
    let is_of_line = |rule: &Rule| rule.benchmark == line.benchmark && rule.metric == line.metric;
    let place = rules.iter().find(|(rule, _)| is_of_line(rule)).map_or_else(Span::default, |(_, span)| *span);
    let code = match line.verdict {
        Verdict::Missing | Verdict::Invalid => &code::KB0461,
        Verdict::Inconclusive => &code::KB0462,
        _ => &code::KB0460,
    };
    let message = render::sentence(line);
    render::next(line).into_iter().fold(Diagnostic::at(code, place, message), Diagnostic::help)
}

fn notes(commits: Option<&Commits>, archive: &Archive) -> Vec<String> {
    let mut notes = Vec::new();
    if commits.is_none() {
        notes.push("this is no git repository, so all earlier sessions are the baseline".to_owned());
    }
    if archive.rows().iter().any(|row| row.synthetic) {
        notes.push("some results are synthetic: made by `kubebench mock`, nothing ran".to_owned());
    }
    notes
}
