//! `kubebench ack`: a change for the worse becomes accepted, in a file that somebody reviews.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::{Map, Value as Json, json};

use super::ExitStatus;
use super::args::{AckArgs, Global, HistoryArgs};
use super::findings::tell;
use super::history::{Asked, told};
use super::judging::ACKS;
use crate::compare::v1::{LevelChange, SessionValue, Told};
use crate::compare::{begins, matches};
use crate::digest::Digest;
use crate::edge::{fs, terminal};
use crate::spec::v1::API_VERSION;
use crate::yaml;

/// Writes the acknowledgement.
pub(super) fn run(global: &Global, args: &AckArgs) -> Result<ExitStatus> {
    let history = HistoryArgs {
        benchmark: vec![args.benchmark.clone()],
        case: Vec::new(),
        metric: vec![args.metric.clone()],
        all: false,
        last: 0,
        results: args.results.clone(),
    };
    let Asked { series, root, .. } = told(global, &history)?;
    let is_there = |told: &&Told| {
        let target = told.environment.get("target");
        args.target.as_ref().is_none_or(|wanted| target.is_none_or(|own| own == wanted))
    };
    let on_target: Vec<&Told> = series.iter().filter(is_there).collect();
    let case = args.case.clone().map_or_else(|| only_case(&on_target, args), Ok)?;
    let is_asked = |told: &&Told| matches(&case, &told.case) || matches(&case, &told.case_name);
    let about: Vec<&Told> = on_target.into_iter().filter(is_asked).collect();
    if about.is_empty() {
        bail!("no result of {} has the metric `{}` in the case `{case}`", args.benchmark, args.metric);
    }
    let open: Vec<&LevelChange> = about
        .iter()
        .filter(|told| told.open.is_some())
        .filter_map(|told| told.changes.iter().find(|change| told.open.as_ref() == Some(&change.session)))
        .collect();
    let first = open.iter().min_by_key(|change| &change.since);
    let from = match (&args.from, first) {
        (Some(from), _) => from.clone(),
        (None, Some(first)) => first.session.clone(),
        (None, None) => {
            bail!("no change for the worse is open there, so there is nothing to accept; `--from` says from where")
        }
    };
    match reach(&about, &from) {
        Reach::Nothing => bail!(
            "`{from}` is no session, no commit of a session and no time before one; `kubebench history {}` lists them",
            args.benchmark
        ),
        Reach::Aside => bail!(
            "no session from `{from}` on is of the default branch, so accepting it would change nothing: only sessions of that branch \
             are a baseline; name one of these, which `kubebench history {}` lists, or a commit or time that they will have",
            args.benchmark
        ),
        Reach::Candidate => tell(
            global,
            &format!(
                "`{from}` is not of the default branch: this accepts that session alone; for those that follow on the default branch, \
                 name the commit that brings the change, or a time, with --from"
            ),
        ),
        Reach::Baseline => {}
    }
    // Several small steps are one change against the level at which they began, so that the threshold is part of it.
    let size = |change: &&LevelChange| {
        let (low, high) = change.interval.unwrap_or((change.change, change.change));
        low.abs().max(high.abs()).max(change.change.abs())
    };
    let threshold = about.iter().map(|told| told.threshold).fold(0.0, f64::max);
    let widest = open.iter().map(size).fold(0.0, f64::max);
    let bound = ((widest.max(threshold)) * 100.0).ceil() + 2.0;
    let max_change =
        args.max_change.clone().or_else(|| (widest > 0.0 && bound <= 100.0).then(|| format!("{bound:.0}%")));
    let mut spec = Map::new();
    let mut put = |key: &str, value: Option<&String>| {
        if let Some(value) = value {
            spec.insert(key.to_owned(), Json::from(value.as_str()));
        }
    };
    put("benchmark", Some(&args.benchmark));
    put("case", Some(&case));
    put("metric", Some(&args.metric));
    put("target", args.target.as_ref());
    put("from", Some(&from));
    put("maxChange", max_change.as_ref());
    put("by", Some(&args.by));
    put("reason", Some(&args.reason));
    put("expires", args.expires.as_ref());
    let document = json!({"apiVersion": API_VERSION, "kind": "Ack", "spec": spec});
    let name = Digest::of_fields([&args.benchmark, &case, &args.metric, &from]).short();
    let path = format!("{ACKS}/{}-{name}.yaml", args.benchmark);
    if fs::exists(&root, &path) {
        bail!(
            "{path} accepts this already; to accept it anew, edit `expires` or `maxChange` there, or delete it (git keeps it) and run this again"
        );
    }
    fs::create_new(
        &root,
        &path,
        &format!("# yaml-language-server: $schema=../schema/ack.v1.json\n{}", yaml::write(&document)),
    )?;
    terminal::print(&format!("{path}\n"))?;
    let bound = max_change.map_or_else(String::new, |share| format!(", up to {share}"));
    tell(
        global,
        &format!(
            "accepted in the case `{case}` from {from} on{bound}; it holds once the file is committed, so send it for review"
        ),
    );
    Ok(ExitStatus::Yes)
}

/// Returns the one case that is meant where none is named: the only one, or the only one with an open change.
fn only_case(series: &[&Told], args: &AckArgs) -> Result<String> {
    const MOST: usize = 10;
    let names = |told: &[&Told]| -> BTreeMap<String, String> {
        told.iter().map(|told| (told.case.clone(), told.case_name.clone())).collect()
    };
    let open: Vec<&Told> = series.iter().copied().filter(|told| told.open.is_some() && !told.replaced).collect();
    let (all, open) = (names(series), names(&open));
    let known = if open.is_empty() { &all } else { &open };
    let mut cases = known.iter();
    match (cases.next(), cases.next()) {
        (None, _) => Ok("*".to_owned()),
        (Some((case, _)), None) => Ok(if all.len() == 1 { "*".to_owned() } else { case.clone() }),
        _ => {
            let named = known.iter().take(MOST).map(|(case, name)| format!("\n  --case {case}  # {name}"));
            bail!(
                "{} cases of {} have {}: name the one that is accepted, or all with --case '*'{}",
                known.len(),
                args.benchmark,
                if open.is_empty() {
                    format!("the metric `{}`", args.metric)
                } else {
                    format!("an open change of `{}`", args.metric)
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

fn reach(about: &[&Told], from: &str) -> Reach {
    let sessions = about.iter().flat_map(|told| told.sessions.iter().map(move |session| (*told, session)));
    let from_there = sessions.filter(|(_, of)| begins(from, &of.session, &of.started_at, of.commit.as_deref()));
    let reach = |(told, session): (&Told, &SessionValue)| {
        if !told.aside.contains(&session.session) {
            Reach::Baseline
        } else if told.sessions.last().is_some_and(|last| last.session == session.session) && !told.replaced {
            Reach::Candidate
        } else {
            Reach::Aside
        }
    };
    from_there.map(reach).max().unwrap_or(Reach::Nothing)
}
