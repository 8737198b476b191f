//! All that got worse until a day becomes accepted, in one file.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::super::{ACKS, Evaluation, Histories, HistoryQuery, MetricQuery, acks_of, add_baselines};
use super::{refuse_expired, text};
use crate::app::results::NamedResults;
use kubebench_format::result::{ANY, Accepts, Ack, Before, labelled};
use kubebench_host::fs;
use kubebench_results::compare::model::SeriesHistory;
use kubebench_results::compare::{HistoryRequest, Lineage, history, words};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::{SourceMap, plain};
use kubebench_syntax::unit::Day;

/// The maximum number of regressions listed in the file.
const LISTED: usize = 200;

/// Until when all is accepted, by whom and why.
pub struct AckAllQuery {
    /// The last day (UTC) on which a change may have begun.
    pub until: Day,
    /// Who accepts.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The last day on which it holds.
    pub expires: Option<String>,
    /// Other results than the project's.
    pub results: Option<NamedResults>,
}

/// What was accepted.
pub struct AllAcknowledged {
    /// The file that accepts it.
    pub file: String,
    /// Whether it was there before.
    pub written: Written,
    /// How many regressions that began later stay open.
    pub later: usize,
}

/// What became of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is new, and accepts this many regressions.
    New(usize),
    /// A file that was there accepts the same already.
    Known,
}

impl AckAllQuery {
    /// Returns the history that it needs.
    pub fn history(&self) -> HistoryQuery {
        HistoryQuery { metrics: MetricQuery::All, results: self.results.clone(), ..HistoryQuery::default() }
    }

    fn ack(&self) -> Ack {
        let any = || ANY.to_owned();
        let time = self.until.after(1).to_string();
        Ack {
            file: format!("{ACKS}/until-{}.yaml", self.until),
            benchmark: any(),
            case: any(),
            metric: any(),
            target: None,
            accepts: Accepts::Before(Before { written: self.until.to_string(), time, ..Before::default() }),
            max_change: None,
            reason: self.reason.clone(),
            by: self.by.clone(),
            expires: self.expires.clone(),
        }
    }
}

impl AllAcknowledged {
    /// Accepts every regression that is open and began until the day that was asked for, in a new file, unless a file does so already.
    pub fn write(histories: &Histories, query: &AckAllQuery) -> Result<Self> {
        let Histories { evaluation, acks, baseline, .. } = histories;
        let as_of = evaluation.as_of();
        let until = query.until.to_string();
        if evaluation.dataset.rows().is_empty() {
            bail!("no result counts, so there is nothing to accept");
        }
        if until > as_of {
            bail!(
                "`--until {until}` would accept regressions that are not measured yet: write `--until {as_of}`, the \
                 day of the newest result"
            );
        }
        refuse_expired(query.expires.as_deref(), &as_of)?;
        let ack = query.ack();
        let lineages = lineages(evaluation, baseline.lineage())?;
        let before = open(evaluation, acks, &lineages, &as_of);
        let all: Vec<Ack> = acks.iter().chain([&ack]).cloned().collect();
        let after = open(evaluation, &all, &lineages, &as_of);
        let accepted: Vec<&String> =
            before.iter().filter(|(of, _)| !after.contains_key(*of)).map(|(_, said)| said).collect();
        // Of a change in several steps, the later ones may stay open.
        let moved = before.iter().filter(|(of, said)| after.get(*of).is_some_and(|now| now != *said));
        let accepted: Vec<&String> = accepted.into_iter().chain(moved.map(|(_, said)| said)).collect();
        let later = after.len();
        if accepted.is_empty() {
            return match acks.iter().find(|known| covers(known, &ack, &as_of)) {
                Some(known) => Ok(Self { file: known.file.clone(), written: Written::Known, later }),
                None if later > 0 => bail!(
                    "no open regression began by {until}, so there is nothing to accept; {} began later",
                    if later == 1 { "1".to_owned() } else { later.to_string() }
                ),
                None => bail!("no regression is open, so there is nothing to accept"),
            };
        }
        match fs::create_new(&evaluation.root, &ack.file, &file(query, &accepted)) {
            Ok(()) => Ok(Self { file: ack.file, written: Written::New(accepted.len()), later }),
            Err(error) if !fs::exists(&evaluation.root, &ack.file) => Err(error),
            // Another process may have been quicker.
            Err(_) if is_covered_now(evaluation, &ack, &as_of) => {
                Ok(Self { file: ack.file, written: Written::Known, later })
            }
            Err(_) => bail!(
                "{} exists and does not accept all of these regressions: edit it, or delete it and run this command \
                 again",
                ack.file
            ),
        }
    }
}

/// Returns whether the files that are there now accept all that an acknowledgement would.
fn is_covered_now(evaluation: &Evaluation, ack: &Ack, as_of: &str) -> bool {
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    acks_of(&evaluation.root, &mut sources, &mut found).iter().any(|known| covers(known, ack, as_of))
}

/// Returns the commits with which gates compare: those of the default branch, and others that specs name.
fn lineages(evaluation: &Evaluation, default: Option<&Lineage>) -> Result<Vec<Option<Lineage>>> {
    let mut named = BTreeMap::new();
    add_baselines(&mut named, evaluation.rules.iter().map(|(rule, _)| rule), evaluation.commits()?.as_ref())?;
    Ok([default.cloned()].into_iter().chain(named.into_values().map(Some)).collect())
}

/// What distinguishes series: benchmark, case, hardware and metric.
type Of = (String, String, String, String);

/// Returns what is open of each series, in words.
fn open(evaluation: &Evaluation, acks: &[Ack], lineages: &[Option<Lineage>], as_of: &str) -> BTreeMap<Of, String> {
    let dataset = &evaluation.dataset;
    let mut open = BTreeMap::new();
    for lineage in lineages.iter().map(Option::as_ref) {
        let partitions = &evaluation.sequences(lineage);
        let policies = &evaluation.policies;
        for history in history(HistoryRequest { dataset, partitions, policies, acks, lineage, as_of }) {
            if let Some(said) = in_words(&history) {
                let metric = labelled(&history.metric, &history.labels);
                let hardware = words::hardware(&history.environment);
                open.entry((history.benchmark, history.case, hardware, metric)).or_insert(said);
            }
        }
    }
    open
}

fn in_words(history: &SeriesHistory) -> Option<String> {
    let first = history.open.as_ref()?;
    let since = history.changes.iter().find(|change| change.session == *first)?;
    let case = if history.case_name.is_empty() { String::new() } else { format!(" ({})", history.case_name) };
    let unit = history.unit.as_deref();
    let size = history.open_size.map_or_else(String::new, |size| format!("{} ", words::size(size, unit)));
    let commit =
        since.commit.as_deref().map_or_else(String::new, |commit| format!(", commit {}", words::short(commit)));
    Some(plain(&format!(
        "{}{case}, {} on {}: {size}since {} (session {first}{commit})",
        history.benchmark,
        labelled(&history.metric, &history.labels),
        words::hardware(&history.environment),
        words::day(&since.since),
    )))
}

/// Returns whether an acknowledgement accepts all that another one would.
fn covers(known: &Ack, ack: &Ack, as_of: &str) -> bool {
    let is_any =
        [&known.benchmark, &known.case, &known.metric].into_iter().all(|name| name == ANY) && known.target.is_none();
    let holds = known.expires.as_deref().is_none_or(|last| as_of <= last);
    match (&known.accepts, &ack.accepts) {
        (Accepts::Before(known), Accepts::Before(own)) => is_any && holds && known.time >= own.time,
        _ => false,
    }
}

/// Returns the text of the file, with what it accepts for those who review it.
fn file(query: &AckAllQuery, accepted: &[&String]) -> String {
    let until = query.until.to_string();
    let mut text = text([
        ("until", Some(&until)),
        ("by", Some(&query.by)),
        ("reason", Some(&query.reason)),
        ("expires", query.expires.as_ref()),
    ]);
    text.push_str(&format!("# {} that began by then:\n", words::counted(accepted.len(), "open regression")));
    text.extend(accepted.iter().take(LISTED).map(|said| format!("# - {said}\n")));
    if accepted.len() > LISTED {
        text.push_str(&format!("# - and {} more\n", accepted.len() - LISTED));
    }
    text
}
