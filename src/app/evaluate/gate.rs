//! Does the newest session pass what the specs demand?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::{DefaultBaseline, Evaluation, add_baselines, known, lineage_of_baseline};
use crate::app::results::ResultsFolder;
use crate::app::start::Start;
use kubebench_format::result::Ack;
use kubebench_git::Commits;
use kubebench_results::compare::model::{GateReport, LeftOut, Line, Outcome, Verdict};
use kubebench_results::compare::{Candidate, GateRequest, Judged, Lineage, Rule, gate, idle, render, words};
use kubebench_results::dataset::{Dataset, Row, partitions};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::{SourceMap, Span};

/// What a gate does that has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutAnswer {
    /// It passes.
    Pass,
    /// It fails.
    Fail,
}

impl WithoutAnswer {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Pass, Self::Fail];

    /// Returns the name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        }
    }
}

/// What a gate does about result files of what it evaluates that cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadFiles {
    /// It gives no answer.
    Refused,
    /// It leaves them out.
    Skipped,
}

/// What is evaluated, and by what.
pub struct GateQuery {
    /// A revision, a folder of results or a session; without it, the newest session of each case.
    pub candidate: Option<String>,
    /// Whose earlier sessions it is compared with; without it, those of the default branch.
    pub baseline: Option<String>,
    /// The folder of results; without it, the project's.
    pub results: Option<PathBuf>,
    /// What a gate does that cannot be decided yet.
    pub on_inconclusive: WithoutAnswer,
    /// What a gate does that has no result.
    pub on_missing: WithoutAnswer,
    /// What it does about files that cannot be trusted.
    pub bad_files: BadFiles,
    /// The day on which acknowledgements are evaluated; without it, that of the newest result.
    pub as_of: Option<String>,
}

/// The answer of the gates.
pub struct GatesEvaluated {
    /// What they say.
    pub answer: GateReport,
    /// What fails, and the files that do not count.
    pub diagnostics: Diagnostics,
    /// The texts into which these point.
    pub sources: SourceMap,
    /// How many files of what is evaluated cannot be trusted.
    pub untrusted: usize,
}

impl GateQuery {
    /// Returns the folders of results that are read.
    pub fn folders(&self) -> Vec<&Path> {
        [self.results.as_deref(), self.candidate.as_deref().map(Path::new)].into_iter().flatten().collect()
    }
}

impl GatesEvaluated {
    /// Evaluates the gates of a project whose results were read.
    pub fn of(mut evaluation: Evaluation, acks: &[Ack], start: &Start, query: &GateQuery) -> Result<Self> {
        let commits = evaluation.commits()?;
        let (default, lineages) = lineages(query, commits.as_ref(), &evaluation.rules)?;
        let candidate = candidate(start, query, commits.as_ref(), &mut evaluation)?;
        let as_of = query.as_of.clone().unwrap_or_else(|| evaluation.as_of());
        let Evaluation { dataset, across, rules, policies, left_out, mut diagnostics, sources, .. } = evaluation;
        let all = partitions(&dataset, 0..dataset.rows().len(), &across);
        let plain: Vec<Rule> = rules.iter().map(|(rule, _)| rule.clone()).collect();
        let Judged { lines, notes } = gate(GateRequest {
            dataset: &dataset,
            partitions: &all,
            rules: &plain,
            policies: &policies,
            acks,
            lineages: &lineages,
            default: default.as_deref(),
            candidate: &candidate,
            as_of: &as_of,
        });
        let idle = idle(acks, &dataset, &all, &lineages, &as_of);
        let untrusted = untrusted(&left_out, &lines).len();
        let outcome = if untrusted > 0 && query.bad_files == BadFiles::Refused {
            Outcome::NoAnswer
        } else if lines.iter().all(|line| passes(line, query)) {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        let answer = GateReport {
            outcome,
            results: query.results.as_ref().map(|folder| folder.display().to_string()),
            baseline: default.clone().unwrap_or_else(|| "all earlier sessions".to_owned()),
            candidate: query.candidate.clone().unwrap_or_else(|| "the newest session".to_owned()),
            as_of: Some(as_of),
            lines,
            left_out,
            notes: notes
                .into_iter()
                .chain(idle)
                .chain(general(query, &candidate, commits.as_ref(), &dataset))
                .collect(),
        };
        let failed = answer.lines.iter().filter(|line| !passes(line, query));
        diagnostics.extend(failed.map(|line| finding(line, &rules, answer.results.as_deref())));
        Ok(Self { answer, diagnostics, sources, untrusted })
    }
}

/// Returns whether a line lets the gate pass.
fn passes(line: &Line, query: &GateQuery) -> bool {
    match line.verdict {
        Verdict::Regressed | Verdict::Invalid | Verdict::Incomparable => false,
        Verdict::Missing => query.on_missing == WithoutAnswer::Pass,
        Verdict::Inconclusive => query.on_inconclusive == WithoutAnswer::Pass,
        Verdict::Pending | Verdict::Improved | Verdict::NoChangeSeen | Verdict::Unchanged => true,
    }
}

/// Returns the name of the lineage that is the baseline, nothing outside of a repository, and all lineages with which gates compare.
fn lineages(
    query: &GateQuery,
    commits: Option<&Commits>,
    rules: &[(Rule, Span)],
) -> Result<(Option<String>, BTreeMap<String, Lineage>)> {
    let mut lineages = BTreeMap::new();
    let default = match (&query.baseline, commits) {
        (Some(name), None) => bail!("--baseline {name} needs a git repository, and this is none"),
        (Some(name), Some(commits)) => {
            let name = if name.contains(':') { name.clone() } else { format!("rev:{name}") };
            lineages.insert(name.clone(), lineage_of_baseline(commits, &name)?);
            Some(name)
        }
        (None, _) => match DefaultBaseline::of(commits)? {
            DefaultBaseline::Known { name, lineage } => {
                lineages.insert(name.clone(), lineage);
                Some(name)
            }
            DefaultBaseline::NoRepository => None,
            DefaultBaseline::NoBranch => bail!(
                "the default branch is unknown: there is no `main` and no `master`; name it with --baseline branch:NAME, or \
                 set it in git (`git remote set-head origin --auto`)"
            ),
        },
    };
    add_baselines(&mut lineages, rules.iter().map(|(rule, _)| rule), commits)?;
    Ok((default, lineages))
}

/// Returns what is evaluated: what `--candidate` names, or the newest sessions.
fn candidate(
    start: &Start,
    query: &GateQuery,
    commits: Option<&Commits>,
    evaluation: &mut Evaluation,
) -> Result<Candidate> {
    let Some(name) = &query.candidate else { return Ok(Candidate::Newest) };
    let folder = start.path(name.as_ref());
    if folder.is_dir() {
        return Ok(Candidate::Rows(evaluation.join(&ResultsFolder { folder, shown: name.clone() })));
    }
    let dataset = &evaluation.dataset;
    let of_session = dataset.places(|row| row.session == *name);
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
            let lineage = known(reached);
            dataset.places(|row| lineage.commit_of(dataset, row).is_some())
        }
        Err(error) => of_lost_commit(dataset, revision)
            .ok_or(error)
            .with_context(|| format!("`{name}` is no session and no folder either"))?,
    };
    Ok(Candidate::Rows(rows))
}

/// Returns the results of a commit that the repository does not hold any more, as those of a branch that was deleted.
fn of_lost_commit(dataset: &Dataset, name: &str) -> Option<BTreeSet<usize>> {
    const LEAST: usize = 7;
    let named = |row: &Row| {
        let origin = dataset.origin(row);
        let commit = origin.commit.as_deref().filter(|_| origin.dirty != Some(true));
        commit.filter(|commit| commit.starts_with(name))
    };
    let commits: BTreeSet<&str> = dataset.rows().iter().filter_map(named).collect();
    (name.len() >= LEAST && commits.len() == 1).then(|| dataset.places(|row| named(row).is_some()))
}

/// Returns the files that were left out of cases that were evaluated.
fn untrusted<'a>(left_out: &'a [LeftOut], lines: &[Line]) -> Vec<&'a LeftOut> {
    let evaluated: BTreeSet<String> = lines.iter().map(|line| format!("{}/{}/", line.benchmark, line.case)).collect();
    left_out.iter().filter(|file| evaluated.iter().any(|folder| file.path.starts_with(folder))).collect()
}

fn finding(line: &Line, rules: &[(Rule, Span)], results: Option<&str>) -> Diagnostic {
    let is_of_line = |rule: &Rule| rule.benchmark == line.benchmark && rule.metric.has(&line.metric, &line.labels);
    let place = rules.iter().find(|(rule, _)| is_of_line(rule)).map_or_else(Span::default, |(_, span)| *span);
    let code = match line.verdict {
        Verdict::Missing | Verdict::Invalid | Verdict::Incomparable => &code::KB0461,
        Verdict::Inconclusive => &code::KB0462,
        _ => &code::KB0460,
    };
    let message = render::sentence(line);
    words::next(line, results).into_iter().fold(Diagnostic::at(code, place, message), Diagnostic::help)
}

fn general(query: &GateQuery, candidate: &Candidate, commits: Option<&Commits>, dataset: &Dataset) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(folder), true) = (&query.results, dataset.rows().is_empty()) {
        notes.push(format!("{} holds no result that counts", folder.display()));
    }
    if let (Some(name), Candidate::Rows(rows)) = (&query.candidate, candidate)
        && rows.is_empty()
    {
        notes.push(format!(
            "`{name}` has no result that counts (a commit that only records results ran nothing); `kubebench history` lists what there is"
        ));
    }
    if commits.is_none() {
        notes.push("there is no git history here, so all earlier sessions are the baseline".to_owned());
    }
    if dataset.rows().iter().any(|row| row.synthetic) {
        notes.push("some results are synthetic: made by `kubebench mock`, nothing ran".to_owned());
    }
    notes
}
