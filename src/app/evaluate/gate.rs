//! Does the newest session pass what the specs demand?

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::baseline::UNKNOWN_BRANCH;
use super::checked_out::Checkout;
use super::held::note_of_brought;
use super::report::links;
use super::{DefaultBaseline, Evaluation, ResultCommits, add_baselines};
use crate::app::results::{NamedResults, ResultsPlace};
use crate::app::start::Start;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_format::result::Ack;
use kubebench_git::RecordedBranch;
use kubebench_report::CommentLinks;
use kubebench_results::compare::model::{GateReport, LeftOut, Line, Outcome, Verdict, Weakened};
use kubebench_results::compare::words::{NEWEST, SYNTHETIC};
use kubebench_results::compare::{
    Candidate, GateRequest, Head, Judged, Lineage, OutOfTime, Rule, Unread, gate, idle, render, words,
};
use kubebench_results::dataset::{Dataset, Partition, Row};
use kubebench_syntax::diag::render::place;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::{SourceMap, Span};

/// What a gate does about something that is for its caller to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassOrFail {
    Pass,
    Fail,
}

impl PassOrFail {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Pass, Self::Fail];

    /// Returns the name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        }
    }

    /// Gives what a change weakens the level at which it decides.
    pub fn at_level(self, weakened: Diagnostics) -> Diagnostics {
        let mut leveled = Diagnostics::default();
        for mut finding in weakened {
            if self == Self::Fail {
                finding.severity = Severity::Error;
            }
            leveled.push(finding);
        }
        leveled
    }
}

/// What of a project lets a gate fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// Whatever is worse than it may be.
    Everything,
    /// What the default branch does not have without the candidate.
    OnlyNew,
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
    /// Other results than the project's.
    pub results: Option<NamedResults>,
    /// What lets it fail.
    pub decides: Decides,
    /// What a gate does that cannot be decided yet; without it, it passes, unless the recorded results are not here.
    pub on_inconclusive: Option<PassOrFail>,
    /// What a gate does that has no result.
    pub on_missing: PassOrFail,
    /// What it does about files that cannot be trusted.
    pub bad_files: BadFiles,
    /// What it does about a change that weakens what its base demands.
    pub on_weakened: PassOrFail,
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
    /// What a comment about it leads to.
    pub links: CommentLinks,
}

impl GateQuery {
    /// Returns the folders of results that are read.
    pub fn folders(&self) -> Vec<&Path> {
        let results = self.results.as_ref().and_then(NamedResults::folder);
        [results, self.candidate.as_deref().map(Path::new)].into_iter().flatten().collect()
    }
}

impl GatesEvaluated {
    /// Evaluates the gates of a project whose results were read.
    pub fn of(mut evaluation: Evaluation, acks: &[Ack], start: &Start, query: &GateQuery) -> Result<Self> {
        let named = query.candidate.as_ref().map(|name| candidate(start, name, &mut evaluation)).transpose()?;
        let commits = evaluation.commits()?;
        let (default, mut lineages) = lineages(query, commits.as_ref(), &evaluation.rules)?;
        let of_default = default.as_ref().and_then(|name| lineages.get_mut(name));
        let mut checkout = Checkout::of(&evaluation, commits.as_ref(), of_default, named.as_ref())?;
        let candidate = named.unwrap_or_else(|| checkout.newest(&evaluation));
        let as_of = query.as_of.clone().unwrap_or_else(|| evaluation.as_of());
        let has_no_results = evaluation.has_no_results();
        let unfetched = evaluation.unfetched();
        let order = default.as_ref().and_then(|name| lineages.get(name));
        let all = evaluation.sequences(order);
        let out_of_time = out_of_time(&evaluation, &all, &candidate, checkout.head(), order);
        let folder = evaluation.directory.clone();
        let branch = evaluation.recorded_on().map(RecordedBranch::shown);
        let links = CommentLinks {
            site: evaluation.site.clone(),
            links: links(None, query.results.as_ref(), &evaluation, commits.as_ref(), default.as_deref()),
            recorded: evaluation.of_branch_alone(),
        };
        let (signatures, of_signatures) = evaluation.signatures();
        let Evaluation { dataset, rules, policies, left_out, mut diagnostics, sources, change, .. } = evaluation;
        let brought = note_of_brought(&dataset);
        let (weakened, unknown) = change.map(|change| (change.weakened, change.unknown)).unwrap_or_default();
        let mut weakened = query.on_weakened.at_level(weakened);
        weakened.extend(unknown);
        let is_held_back = weakened.has_errors();
        let weakened = weakened.into_sorted(&sources);
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
            head: checkout.head(),
            unread: if unfetched.is_some() { Unread::Recorded } else { Unread::Files(&left_out) },
            as_of: &as_of,
        });
        let is_unmeasured = query.decides == Decides::OnlyNew && candidate.is_newest();
        let unmeasured = (is_unmeasured && checkout.is_unmeasured(&lines, &dataset))
            .then(|| "the checked-out branch has no results of its own".to_owned());
        let of_all = checkout.of_all(&lines, &dataset, default.as_deref());
        let is_shown = candidate.is_newest() && (branch.is_some() || checkout.tells_apart());
        let origin = is_shown.then(|| origin(&folder, branch.as_deref(), &candidate, of_all, out_of_time));
        let idle = idle(acks, &dataset, &all, &lineages, &as_of);
        let untrusted = untrusted(&left_out, &lines).len();
        let (unfetched, done_without): (Option<String>, Option<String>) = match query.on_inconclusive {
            Some(PassOrFail::Pass) => (None, unfetched),
            _ if lacks_history(&lines) => (unfetched, None),
            _ => (None, unfetched.filter(|_| lines.iter().any(is_undecided))),
        };
        // Neither the candidate nor the default branch ever ran anything that a gate is about.
        let never_ran = |line: &Line| line.verdict == Verdict::New && line.candidate.sessions.is_empty();
        let nothing_ran = unfetched.is_none()
            && query.candidate.is_none()
            && (has_no_results || !lines.is_empty() && lines.iter().all(never_ran));
        let outcome = if is_held_back {
            Outcome::Failed
        } else if rules.is_empty() || nothing_ran {
            Outcome::NothingToEvaluate
        } else if untrusted > 0 && query.bad_files == BadFiles::Refused {
            Outcome::NoAnswer
        } else if unfetched.is_some() && lines.iter().all(|line| passes(line, query) || is_undecided(line)) {
            Outcome::NoHistory
        } else if lines.iter().all(|line| passes(line, query)) {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        let absent = unfetched.map(|fetch| {
            format!(
                "there is nothing to compare with: the recorded results are not in this clone; \
                 `kubebench gate --fetch` fetches them, and passes if there are none yet (or fetch them with {fetch}; \
                 with `--on-inconclusive pass`, the gate passes without them)"
            )
        });
        let answer = GateReport {
            outcome,
            results: query.results.as_ref().map(NamedResults::to_string),
            origin: origin.filter(|_| outcome != Outcome::NothingToEvaluate),
            baseline: default.clone().unwrap_or_else(|| "all earlier sessions".to_owned()),
            candidate: query.candidate.clone().unwrap_or_else(|| match (&branch, &candidate) {
                (Some(_), Candidate::NewestOf(_)) => format!("{NEWEST} in {folder}"),
                (Some(branch), _) => format!("{NEWEST} on {branch}"),
                (None, _) => NEWEST.to_owned(),
            }),
            as_of: Some(as_of),
            only_new: query.decides == Decides::OnlyNew,
            lines,
            weakened: weakened.iter().map(|finding| in_words(finding, &sources)).collect(),
            left_out,
            signatures,
            notes: absent
                .iter()
                .cloned()
                .chain(done_without.map(|fetch| format!("the recorded results are not in this clone: run {fetch}")))
                .chain(unmeasured)
                .chain(brought)
                .chain(of_signatures)
                .chain(notes)
                .chain(idle)
                .chain(out_of_time.notes())
                .chain(general(query, &candidate, commits.as_ref(), &dataset))
                .collect(),
        };
        let is_evaluated = outcome != Outcome::NothingToEvaluate;
        let failed = answer.lines.iter().filter(|line| is_evaluated && !passes(line, query));
        diagnostics.extend(failed.map(|line| finding(line, &rules, answer.results.as_deref())));
        diagnostics.extend(weakened);
        let undecided = absent.filter(|_| outcome == Outcome::NoHistory);
        diagnostics.extend(undecided.map(|message| Diagnostic::in_file(&code::KB0462, PROJECT_FILE, message)));
        Ok(Self { answer, diagnostics, sources, untrusted, links })
    }
}

fn in_words(finding: &Diagnostic, sources: &SourceMap) -> Weakened {
    let fails = finding.severity == Severity::Error;
    let (code, help) = (finding.code.id.to_owned(), finding.help.clone());
    Weakened { place: place(finding, sources), code, message: finding.message.clone(), help, fails }
}

/// Returns whether something is inconclusive, and nothing has been compared with earlier sessions.
fn lacks_history(lines: &[Line]) -> bool {
    lines.iter().any(is_undecided) && lines.iter().all(|line| line.baseline.sessions.is_empty())
}

fn is_undecided(line: &Line) -> bool {
    matches!(line.verdict, Verdict::Inconclusive | Verdict::Missing)
}

/// Looks whether the newest sessions of gated benchmarks began last.
fn out_of_time(
    evaluation: &Evaluation,
    all: &[Partition],
    candidate: &Candidate,
    head: Head<'_>,
    order: Option<&Lineage>,
) -> OutOfTime {
    let gated: BTreeSet<&str> = evaluation.rules.iter().map(|(rule, _)| rule.benchmark.as_str()).collect();
    let about = all.iter().filter(|partition| gated.contains(partition.benchmark.as_str()));
    OutOfTime::of(&evaluation.dataset, about, candidate, head, order)
}

/// Says which sessions are evaluated where none were named: of which branch and commit, and, where a branch is read, where they and the
/// others come from.
fn origin(
    folder: &str,
    branch: Option<&str>,
    candidate: &Candidate,
    of_all: Option<String>,
    out_of_time: OutOfTime,
) -> String {
    let of = of_all.map_or_else(String::new, |name| format!(" measured on {name}"));
    match (branch, candidate) {
        (Some(branch), Candidate::NewestOf(_)) => {
            let later =
                if out_of_time.is_followed { " and sessions of later commits, which are not evaluated" } else { "" };
            format!("evaluated: the newest sessions{of} in {folder}; {branch} has the history{later}")
        }
        (Some(branch), _) => format!("evaluated: the newest sessions{of} on {branch}"),
        (None, _) => format!("evaluated: the newest sessions{of}"),
    }
}

/// Returns whether a line lets the gate pass.
fn passes(line: &Line, query: &GateQuery) -> bool {
    match line.verdict {
        _ if line.on_default && query.decides == Decides::OnlyNew => true,
        Verdict::Regressed | Verdict::Invalid | Verdict::Incomparable => false,
        Verdict::Missing => query.on_missing == PassOrFail::Pass,
        // There may be evidence: it is only unknown of which branch.
        Verdict::Inconclusive => query.on_inconclusive != Some(PassOrFail::Fail) && line.unreachable == 0,
        Verdict::New | Verdict::Pending | Verdict::Improved | Verdict::NoChangeSeen | Verdict::Unchanged => true,
    }
}

/// Returns the name of the lineage that is the baseline, nothing outside of a repository, and all lineages with which gates compare.
fn lineages(
    query: &GateQuery,
    commits: Option<&ResultCommits>,
    rules: &[(Rule, Span)],
) -> Result<(Option<String>, BTreeMap<String, Lineage>)> {
    let mut lineages = BTreeMap::new();
    let default = match (&query.baseline, commits) {
        (Some(name), None) => bail!("--baseline {name} needs a git repository, and this is not one"),
        (Some(name), Some(commits)) => {
            let name = if name.contains(':') { name.clone() } else { format!("rev:{name}") };
            lineages.insert(name.clone(), commits.lineage_of_baseline(&name)?);
            Some(name)
        }
        (None, _) => match DefaultBaseline::of(commits)? {
            DefaultBaseline::Known { name, lineage } => {
                lineages.insert(name.clone(), *lineage);
                Some(name)
            }
            DefaultBaseline::NoRepository => None,
            DefaultBaseline::NoBranch => bail!("{UNKNOWN_BRANCH}; or name another one with --baseline branch:NAME"),
        },
    };
    add_baselines(&mut lineages, rules.iter().map(|(rule, _)| rule), commits)?;
    Ok((default, lineages))
}

/// Returns what `--candidate` names.
fn candidate(start: &Start, name: &str, evaluation: &mut Evaluation) -> Result<Candidate> {
    let folder = start.path(name.as_ref());
    if folder.is_dir() {
        let digests = evaluation.join(&ResultsPlace::folder(folder, name))?;
        return Ok(Candidate::Rows(evaluation.dataset.places(|row| digests.contains(&row.digest))));
    }
    let dataset = &evaluation.dataset;
    let of_session = dataset.places(|row| row.session == name);
    if !of_session.is_empty() {
        return Ok(Candidate::Rows(of_session));
    }
    let Some(commits) = evaluation.commits()? else {
        bail!("`{name}` is neither a folder nor a session, and a revision needs a git repository");
    };
    if name.starts_with("branch:") || name.starts_with("tag:") {
        bail!(
            "`{name}` names many commits, and a candidate is one commit: write `{}` for the newest",
            name.split_once(':').map_or("", |(_, name)| name)
        );
    }
    let revision = name.strip_prefix("rev:").unwrap_or(name);
    let rows = match commits.of_revision(revision) {
        Ok(reached) => {
            let lineage = commits.known(reached)?;
            dataset.places(|row| lineage.commit_of(dataset, row).is_some())
        }
        Err(error) => of_lost_commit(dataset, revision)
            .ok_or(error)
            .with_context(|| format!("`{name}` is neither a session nor a folder"))?,
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

fn general(
    query: &GateQuery,
    candidate: &Candidate,
    commits: Option<&ResultCommits>,
    dataset: &Dataset,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(folder), true) = (&query.results, dataset.rows().is_empty()) {
        notes.push(format!("{folder} contains no result that counts"));
    }
    if let (Some(name), Candidate::Rows(rows)) = (&query.candidate, candidate)
        && rows.is_empty()
    {
        notes.push(format!(
            "`{name}` has no result that counts (nothing runs at a commit that only records results); \
             `kubebench history` lists all sessions"
        ));
    }
    if commits.is_none() {
        notes
            .push("there is no git repository with a commit here, so all earlier sessions are the baseline".to_owned());
    }
    if dataset.rows().iter().any(|row| row.synthetic) {
        notes.push(SYNTHETIC.to_owned());
    }
    notes
}
