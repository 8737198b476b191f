//! A regression becomes accepted, in a file that somebody reviews.

mod advice;
mod all;

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::{Map, Value as Json, json};

use super::{ACKS, Evaluation, Histories, HistoryQuery, MetricQuery, add_baselines};
use crate::app::results::NamedResults;
use kubebench_format::result::{Accepts, Ack};
use kubebench_format::spec::v1::API_VERSION;
use kubebench_host::fs;
use kubebench_results::compare::model::{LevelChange, SeriesHistory, SessionValue};
use kubebench_results::compare::{HistoryRequest, Lineage, Rule, begins, extent, history, matches, words};
use kubebench_syntax::diag::render::on_one_line;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::unit::MetricSelector;
use kubebench_syntax::unit::Percentage;
use kubebench_syntax::yaml;

pub use all::{AckAllQuery, AllAcknowledged, Written};

/// The value that means no bound.
pub const ANY_CHANGE: &str = "any";

/// What is accepted, by whom and why.
pub struct AckQuery {
    /// The benchmark, by name.
    pub benchmark: String,
    /// The metric, by name.
    pub metric: String,
    /// The case, by id or name, or `*`; without it, the one whose change is open.
    pub case: Option<String>,
    /// The target; without it, any.
    pub target: Option<String>,
    /// The first session that is accepted; without it, where the open change began.
    pub from: Option<String>,
    /// The greatest change that is accepted, or [`ANY_CHANGE`]; without it, a little more than what got worse.
    pub max_change: Option<String>,
    /// Who accepts.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The last day on which it holds.
    pub expires: Option<String>,
    /// Other results than the project's.
    pub results: Option<NamedResults>,
}

/// An acknowledgement that is to be written.
pub struct Acknowledgement {
    /// What it accepts.
    pub ack: Ack,
    /// The first session that is accepted: its id, its commit, or a time.
    pub from: String,
    /// The greatest change that it accepts.
    pub bound: Option<String>,
    /// What a person should know of the place from which it accepts.
    pub note: Option<String>,
}

/// What is to be written, and what stays open nevertheless.
pub struct Acknowledged {
    pub made: Vec<Acknowledgement>,
    /// The changes that stay open, in words.
    pub still_open: Vec<String>,
}

impl AckQuery {
    /// Returns the history that an acknowledgement needs.
    pub fn history(&self) -> HistoryQuery {
        HistoryQuery {
            benchmarks: vec![self.benchmark.clone()],
            metrics: MetricQuery::Named(vec![MetricSelector::of(&self.metric)]),
            results: self.results.clone(),
            ..HistoryQuery::default()
        }
    }
}

/// Refuses an acknowledgement that no result would meet any more.
fn refuse_expired(expires: Option<&str>, as_of: &str) -> Result<()> {
    match expires {
        Some(last) if last < as_of => {
            bail!("the acknowledgement would accept nothing: it expires on {last}, before the newest result of {as_of}")
        }
        _ => Ok(()),
    }
}

impl Acknowledged {
    /// Finds what an acknowledgement must say to accept what is asked for; writes nothing.
    pub fn of(histories: &Histories, query: &AckQuery) -> Result<Self> {
        let Histories { evaluation, acks, baseline, series, .. } = histories;
        let as_of = evaluation.as_of();
        refuse_expired(query.expires.as_deref(), &as_of)?;
        let request = HistoryRequest {
            dataset: &evaluation.dataset,
            partitions: &evaluation.sequences(baseline.lineage()),
            policies: &evaluation.policies,
            acks,
            lineage: baseline.lineage(),
            as_of: &as_of,
        };
        let bounded = |asked| bounded(evaluation, request, series, query, asked);
        let made: Vec<Acknowledgement> =
            asked_for(evaluation, series, query)?.into_iter().map(bounded).collect::<Result<_>>()?;
        let still_open = if query.max_change.is_none() { still_open(request, &made) } else { Vec::new() };
        Ok(Self { made, still_open })
    }
}

/// Says what a person should know of the results before they accept something by them.
pub fn caution(histories: &Histories) -> Option<&'static str> {
    let is_synthetic = histories.evaluation.dataset.rows().iter().any(|row| row.synthetic);
    is_synthetic.then_some("some results are synthetic: `kubebench mock` made them, so do not commit what accepts them")
}

impl Acknowledgement {
    /// Writes the file of the acknowledgement; overwrites nothing.
    pub fn write(&self, evaluation: &Evaluation) -> Result<()> {
        fs::create_new(&evaluation.root, &self.ack.file, &self.text())
    }

    fn text(&self) -> String {
        let Self { ack, from, bound, .. } = self;
        text([
            ("benchmark", Some(&ack.benchmark)),
            ("case", Some(&ack.case)),
            ("metric", Some(&ack.metric)),
            ("target", ack.target.as_ref()),
            ("from", Some(from)),
            ("maxChange", bound.as_ref()),
            ("by", Some(&ack.by)),
            ("reason", Some(&ack.reason)),
            ("expires", ack.expires.as_ref()),
        ])
    }
}

/// Finds the bound of an acknowledgement; refuses one that would change nothing.
fn bounded(
    evaluation: &Evaluation,
    request: HistoryRequest<'_>,
    series: &[SeriesHistory],
    query: &AckQuery,
    Acknowledgement { ack, from, .. }: Acknowledgement,
) -> Result<Acknowledgement> {
    let about: Vec<&SeriesHistory> = series.iter().filter(|history| is_about(history, &ack)).collect();
    let others = lineages(evaluation, &ack)?;
    let elsewhere = others.values().map(|lineage| history(HistoryRequest { lineage: Some(lineage), ..request }));
    let elsewhere: Vec<SeriesHistory> = elsewhere.flatten().filter(|history| is_about(history, &ack)).collect();
    let everywhere: Vec<&SeriesHistory> = about.iter().copied().chain(&elsewhere).collect();
    let note = refuse_unreached(&everywhere, &ack.benchmark, &from)?;
    let threshold = about.iter().map(|history| history.threshold).fold(0.0, f64::max);
    let bound = match query.max_change.as_deref() {
        Some(ANY_CHANGE) => None,
        Some(share) => Some(share.to_owned()),
        None => Some(bound(measured(&others, request, &ack), threshold, &from)?),
    };
    let share = bound.as_deref().and_then(|share| Percentage::parse(share).ok());
    let ack = Ack { max_change: share.map(Percentage::fraction), ..ack };
    let exists = || fs::exists(&evaluation.root, &ack.file).then_some(&ack.file);
    if let Some(file) = known(request.acks, &about, &ack).or_else(exists) {
        let now = bound
            .map_or_else(String::new, |share| format!("; `maxChange: {share}` would accept the current regression"));
        bail!(
            "{} already acknowledges this regression{now}; edit `expires` or `maxChange` in that file, or delete the \
             file and run this command again",
            on_one_line(file)
        );
    }
    Ok(Acknowledgement { ack, from, bound, note })
}

/// Refuses an acknowledgement from a place from which on there is nothing to accept; returns what a person should know of the place.
fn refuse_unreached(about: &[&SeriesHistory], benchmark: &str, from: &str) -> Result<Option<String>> {
    match reach(about, from) {
        Reach::Nothing => bail!(
            "`{from}` is neither a session, nor the commit of one, nor a time before one; \
             `kubebench history {benchmark}` lists sessions"
        ),
        Reach::Aside => bail!(
            "no session since `{from}` is from the default branch, and only its sessions are a baseline, so accepting \
             it would change nothing; name one of its sessions, which `kubebench history {benchmark}` lists, or the \
             commit or time of a later one"
        ),
        Reach::Candidate => Ok(Some(format!(
            "`{from}` is not from the default branch, so this accepts that session alone; to accept later ones on the \
             default branch, pass the commit that makes the change, or a time, to --from (a squash or a rebase creates \
             another commit)"
        ))),
        Reach::Baseline => Ok(None),
    }
}

/// Returns the acknowledgements that are asked for, without bounds: where several cases got worse and all are accepted, one for each, from
/// where its own change began.
fn asked_for(evaluation: &Evaluation, series: &[SeriesHistory], query: &AckQuery) -> Result<Vec<Acknowledgement>> {
    let any = Ack {
        file: String::new(),
        benchmark: query.benchmark.clone(),
        case: "*".to_owned(),
        metric: query.metric.clone(),
        target: query.target.clone(),
        accepts: Accepts::From(String::new()),
        max_change: None,
        reason: query.reason.clone(),
        by: query.by.clone(),
        expires: query.expires.clone(),
    };
    let on_target: Vec<&SeriesHistory> = series.iter().filter(|history| is_about(history, &any)).collect();
    let case = query.case.clone().map_or_else(|| only_case(&on_target, query), Ok)?;
    let ack = Ack { case, ..any };
    let about: Vec<&SeriesHistory> = on_target.into_iter().filter(|history| is_about(history, &ack)).collect();
    if about.is_empty() {
        let on = ack.target.as_ref().map_or_else(String::new, |target| format!(" on `{target}`"));
        bail!("no result of {} has the metric `{}` in the case `{}`{on}", query.benchmark, query.metric, ack.case);
    }
    // An open change may have several levels: accepting the newest accepts what is there now, and the others are over then.
    let open = about
        .iter()
        .filter(|history| history.open.is_some())
        .filter_map(|history| Some((*history, history.changes.last()?)));
    let mut begins: BTreeMap<&str, &LevelChange> = BTreeMap::new();
    for (history, change) in open {
        let known = begins.entry(history.case.as_str()).or_insert(change);
        *known = if known.since < change.since { change } else { *known };
    }
    let named = |case: &str, from: &str| {
        let name = Digest::of_fields([&ack.benchmark, case, &ack.metric, from]).short();
        let file = format!("{ACKS}/{}-{name}.yaml", ack.benchmark);
        let ack = Ack { file, case: case.to_owned(), accepts: Accepts::From(from.to_owned()), ..ack.clone() };
        Acknowledgement { ack, from: from.to_owned(), bound: None, note: None }
    };
    if let Some(from) = &query.from {
        return Ok(vec![named(&ack.case, from)]);
    }
    let newest = begins.values().max_by(|one, other| one.since.cmp(&other.since));
    let Some(newest) = newest else { return Err(advice::nothing_open(evaluation, query)) };
    if begins.values().all(|change| change.session == newest.session) {
        return Ok(vec![named(&ack.case, &newest.session)]);
    }
    Ok(begins.iter().map(|(case, change)| named(case, &change.session)).collect())
}

/// Returns the file that accepts the same already, perhaps for more cases than are asked for.
fn known<'a>(acks: &'a [Ack], about: &[&SeriesHistory], ack: &Ack) -> Option<&'a String> {
    let mut same = acks.iter().filter(|known| {
        (&known.benchmark, &known.metric, &known.accepts) == (&ack.benchmark, &ack.metric, &ack.accepts)
            && about.iter().all(|history| is_about(history, known))
    });
    same.next().map(|known| &known.file)
}

/// Returns whether an acknowledgement is about a series.
fn is_about(history: &SeriesHistory, ack: &Ack) -> bool {
    let target = history.environment.get("target");
    ack.has_benchmark(&history.benchmark)
        && MetricSelector::of(&ack.metric).has(&history.metric, &history.labels)
        && (matches(&ack.case, &history.case) || matches(&ack.case, &history.case_name))
        && ack.target.as_ref().is_none_or(|wanted| target.is_none_or(|own| own == wanted))
}

/// Returns the greatest regression that an acknowledgement is about: as a gate of the default branch sees it, and as those see it that
/// compare with other commits.
fn measured(others: &BTreeMap<String, Lineage>, request: HistoryRequest<'_>, ack: &Ack) -> Option<f64> {
    let all = others.values().map(Some).chain([request.lineage]);
    all.filter_map(|lineage| extent(HistoryRequest { lineage, ..request }, ack)).max_by(f64::total_cmp)
}

/// Returns the commits with which gates of the metric compare, other than those of the default branch.
fn lineages(evaluation: &Evaluation, ack: &Ack) -> Result<BTreeMap<String, Lineage>> {
    let rules = evaluation.rules.iter().map(|(rule, _)| rule);
    let about = rules.filter(|rule: &&Rule| {
        rule.benchmark == ack.benchmark && rule.metric.name() == MetricSelector::of(&ack.metric).name()
    });
    let mut lineages = BTreeMap::new();
    add_baselines(&mut lineages, about, evaluation.commits()?.as_ref())?;
    Ok(lineages)
}

/// Returns the bound that accepts a change, and not a much greater one.
fn bound(extent: Option<f64>, threshold: f64, from: &str) -> Result<String> {
    let Some(extent) = extent else {
        bail!(
            "nothing got worse since `{from}`, so there is nothing to accept; to accept a later regression, pass its \
             largest size with `--max-change`"
        )
    };
    if extent.is_infinite() {
        bail!(
            "the level before `{from}` was 0, so the regression has no percentage: accept it with `--max-change any`"
        );
    }
    let percent = (extent.max(threshold) * 100.0).ceil() + 2.0;
    let percent = if extent <= 1.0 { percent.min(100.0) } else { percent };
    if percent > 100.0 {
        bail!(
            "the regression since `{from}` is {}, and a bound is at most 100%: `--max-change any` accepts a regression \
             of any size",
            words::about(extent)
        );
    }
    Ok(format!("{percent:.0}%"))
}

/// Returns the text of a file that holds an acknowledgement with these fields.
fn text<'f>(fields: impl IntoIterator<Item = (&'static str, Option<&'f String>)>) -> String {
    let field = |(key, value): (&str, Option<&String>)| Some((key.to_owned(), Json::from(value?.as_str())));
    let spec: Map<String, Json> = fields.into_iter().filter_map(field).collect();
    let document = json!({"apiVersion": API_VERSION, "kind": "Ack", "spec": spec});
    format!("# yaml-language-server: $schema=../schema/ack.v1.json\n{}", yaml::write(&document))
}

/// Says what stays open although these were accepted.
fn still_open(request: HistoryRequest<'_>, made: &[Acknowledgement]) -> Vec<String> {
    let new = made.iter().map(|made| &made.ack);
    let all: Vec<Ack> = request.acks.iter().chain(new).cloned().collect();
    let series = history(HistoryRequest { acks: &all, ..request });
    let is_open =
        |history: &&SeriesHistory| history.open.is_some() && made.iter().any(|made| is_about(history, &made.ack));
    let open = series.iter().filter(is_open).filter_map(|history| history.changes.last());
    let in_words = |change: &LevelChange| {
        let day = words::day(&change.since);
        format!(
            "the regression since session {} of {day} is still open, because it is a separate change; accept it with \
             `--from {}`",
            change.session, change.session
        )
    };
    open.map(in_words).collect()
}

/// Returns the one case that is meant where none is named: the only one, or the only one with an open change.
fn only_case(series: &[&SeriesHistory], query: &AckQuery) -> Result<String> {
    const MOST: usize = 10;
    let names = |histories: &[&SeriesHistory]| -> BTreeMap<String, String> {
        histories.iter().map(|history| (history.case.clone(), history.case_name.clone())).collect()
    };
    let open: Vec<&SeriesHistory> =
        series.iter().copied().filter(|history| history.open.is_some() && !history.replaced).collect();
    let (all, open) = (names(series), names(&open));
    let known = if open.is_empty() { &all } else { &open };
    let mut cases = known.iter();
    match (cases.next(), cases.next()) {
        (None, _) => Ok("*".to_owned()),
        (Some((case, _)), None) => Ok(if all.len() == 1 { "*".to_owned() } else { case.clone() }),
        // Without a change there is no case to choose from.
        _ if open.is_empty() && query.from.is_none() => Ok("*".to_owned()),
        _ => {
            let named =
                known.iter().take(MOST).map(|(case, name)| format!("\n  --case {case}  # {}", on_one_line(name)));
            bail!(
                "{} cases of {} have {}: choose one, or all with --case '*'{}",
                known.len(),
                query.benchmark,
                if open.is_empty() {
                    format!("the metric `{}`", query.metric)
                } else {
                    format!("an open change of `{}`", query.metric)
                },
                named.collect::<String>()
            )
        }
    }
}

/// What an acknowledgement from some place is about, the most last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// No session.
    Nothing,
    /// Sessions that are neither a baseline nor the newest: nothing would change.
    Aside,
    /// The newest session, which is not of the default branch.
    Candidate,
    /// Sessions of the default branch.
    Baseline,
}

fn reach(about: &[&SeriesHistory], from: &str) -> Reach {
    let sessions = about.iter().flat_map(|history| history.sessions.iter().map(move |session| (*history, session)));
    let from_there = sessions.filter(|(_, of)| begins(from, &of.session, &of.started_at, of.commit.as_deref()));
    let reach = |(history, session): (&SeriesHistory, &SessionValue)| {
        if !history.aside.contains(&session.session) {
            Reach::Baseline
        } else if history.sessions.last().is_some_and(|last| last.session == session.session) && !history.replaced {
            Reach::Candidate
        } else {
            Reach::Aside
        }
    };
    from_there.map(reach).max().unwrap_or(Reach::Nothing)
}
