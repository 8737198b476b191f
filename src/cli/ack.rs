//! `kubebench ack`: a change for the worse becomes accepted, in a file that somebody reviews.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::{Map, Value as Json, json};

use super::ExitStatus;
use super::args::{ANY_CHANGE, AckArgs, Global, HistoryArgs};
use super::findings::tell;
use super::history::{Asked, told};
use super::judging::{ACKS, Judging, add_baselines};
use kubebench_format::result::Ack;
use kubebench_format::spec::v1::API_VERSION;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_results::archive::partitions;
use kubebench_results::compare::v1::{LevelChange, SessionValue, Told};
use kubebench_results::compare::{HistoryRequest, Lineage, Rule, begins, extent, history, matches, words};
use kubebench_syntax::diag::render::on_one_line;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::unit::Percentage;
use kubebench_syntax::yaml;

/// Writes the acknowledgement.
pub(super) fn run(global: &Global, args: &AckArgs) -> Result<ExitStatus> {
    let asked = HistoryArgs {
        benchmark: vec![args.benchmark.clone()],
        case: Vec::new(),
        metric: vec![args.metric.clone()],
        all: false,
        last: 0,
        results: args.results.clone(),
    };
    let Asked { judging, acks, usual, series } = told(global, &asked)?;
    if let Some(refused) = judging.refused() {
        return refused;
    }
    let as_of = judging.as_of();
    if let Some(last) = args.expires.as_ref().filter(|last| **last < as_of) {
        bail!("it would have expired on {last}, and the newest result is of {as_of}, so it would accept nothing");
    }
    let request = HistoryRequest {
        archive: &judging.archive,
        partitions: &partitions(&judging.archive, 0..judging.archive.rows().len(), &judging.across),
        policies: &judging.policies,
        acks: &acks,
        lineage: usual.lineage(),
        as_of: &as_of,
    };
    let bounded = |ack| bounded(global, &judging, request, &series, args, ack);
    let made: Vec<Made> = asked_for(&series, args)?.into_iter().map(bounded).collect::<Result<_>>()?;
    for Made { ack, bound } in &made {
        fs::create_new(&judging.root, &ack.file, &text(ack, bound.as_ref()))?;
        terminal::print(&format!("{}\n", ack.file))?;
        let up_to = bound.as_ref().map_or_else(String::new, |share| format!(", up to {share}"));
        let said = format!(
            "accepted in the case `{}` from {} on{up_to}; it holds here now, and for everybody once the file is committed, so send it \
             for review",
            ack.case, ack.from
        );
        tell(global, &said);
    }
    if args.max_change.is_none() {
        tell_rest(global, request, &made);
    }
    Ok(ExitStatus::Yes)
}

/// An acknowledgement that is to be written.
struct Made {
    ack: Ack,
    bound: Option<String>,
}

/// Finds the bound of an acknowledgement; refuses one that would change nothing.
fn bounded(
    global: &Global,
    judging: &Judging<'_>,
    request: HistoryRequest<'_>,
    series: &[Told],
    args: &AckArgs,
    ack: Ack,
) -> Result<Made> {
    let about: Vec<&Told> = series.iter().filter(|told| is_about(told, &ack)).collect();
    let others = lineages(judging, &ack)?;
    let elsewhere = others.values().map(|lineage| history(HistoryRequest { lineage: Some(lineage), ..request }));
    let elsewhere: Vec<Told> = elsewhere.flatten().filter(|told| is_about(told, &ack)).collect();
    let everywhere: Vec<&Told> = about.iter().copied().chain(&elsewhere).collect();
    refuse_unreached(global, &everywhere, &ack)?;
    let threshold = about.iter().map(|told| told.threshold).fold(0.0, f64::max);
    let bound = match args.max_change.as_deref() {
        Some(ANY_CHANGE) => None,
        Some(share) => Some(share.to_owned()),
        None => Some(bound(measured(&others, request, &ack), threshold, &ack)?),
    };
    let share = bound.as_deref().and_then(|share| Percentage::parse(share).ok());
    let ack = Ack { max_change: share.map(Percentage::fraction), ..ack };
    let exists = || fs::exists(&judging.root, &ack.file).then_some(&ack.file);
    if let Some(file) = known(request.acks, &about, &ack).or_else(exists) {
        let now = bound.map_or_else(String::new, |share| format!("; what is there now is within `maxChange: {share}`"));
        bail!(
            "{} is about this already{now}; to accept it again, edit `expires` or `maxChange` there, or delete it (git keeps it) and run \
             this again",
            on_one_line(file)
        );
    }
    Ok(Made { ack, bound })
}

/// Refuses an acknowledgement from a place from which on there is nothing to accept.
fn refuse_unreached(global: &Global, about: &[&Told], ack: &Ack) -> Result<()> {
    match reach(about, &ack.from) {
        Reach::Nothing => bail!(
            "`{}` is no session, no commit of a session and no time before one; `kubebench history {}` lists them",
            ack.from,
            ack.benchmark
        ),
        Reach::Aside => bail!(
            "no session from `{}` on is of the default branch, so accepting it would change nothing: only sessions of that branch \
             are a baseline; name one of these, which `kubebench history {}` lists, or a commit or time that they will have",
            ack.from,
            ack.benchmark
        ),
        Reach::Candidate => tell(
            global,
            &format!(
                "`{}` is not of the default branch: this accepts that session alone; for those that follow on the default branch, \
                 name the commit that brings the change, or a time, with --from (a squash or a rebase makes it another commit)",
                ack.from
            ),
        ),
        Reach::Baseline => {}
    }
    Ok(())
}

/// Returns the acknowledgements that are asked for, without bounds: where several cases got worse and all are accepted, one for each, from
/// where its own change began.
fn asked_for(series: &[Told], args: &AckArgs) -> Result<Vec<Ack>> {
    let any = Ack {
        file: String::new(),
        benchmark: args.benchmark.clone(),
        case: "*".to_owned(),
        metric: args.metric.clone(),
        target: args.target.clone(),
        from: String::new(),
        max_change: None,
        reason: args.reason.clone(),
        by: args.by.clone(),
        expires: args.expires.clone(),
    };
    let on_target: Vec<&Told> = series.iter().filter(|told| is_about(told, &any)).collect();
    let case = args.case.clone().map_or_else(|| only_case(&on_target, args), Ok)?;
    let ack = Ack { case, ..any };
    let about: Vec<&Told> = on_target.into_iter().filter(|told| is_about(told, &ack)).collect();
    if about.is_empty() {
        let on = ack.target.as_ref().map_or_else(String::new, |target| format!(" on `{target}`"));
        bail!("no result of {} has the metric `{}` in the case `{}`{on}", args.benchmark, args.metric, ack.case);
    }
    // An open change may have several levels: accepting the newest accepts what is there now, and the others are over then.
    let open = about.iter().filter(|told| told.open.is_some()).filter_map(|told| Some((*told, told.changes.last()?)));
    let mut begins: BTreeMap<&str, &LevelChange> = BTreeMap::new();
    for (told, change) in open {
        let known = begins.entry(told.case.as_str()).or_insert(change);
        *known = if known.since < change.since { change } else { *known };
    }
    let named = |case: &str, from: &str| {
        let name = Digest::of_fields([&ack.benchmark, case, &ack.metric, from]).short();
        let file = format!("{ACKS}/{}-{name}.yaml", ack.benchmark);
        Ack { file, case: case.to_owned(), from: from.to_owned(), ..ack.clone() }
    };
    if let Some(from) = &args.from {
        return Ok(vec![named(&ack.case, from)]);
    }
    let newest = begins.values().max_by(|one, other| one.since.cmp(&other.since));
    let Some(newest) = newest else {
        bail!("no regression is open there, so there is nothing to accept; `--from` says from where")
    };
    if begins.values().all(|change| change.session == newest.session) {
        return Ok(vec![named(&ack.case, &newest.session)]);
    }
    Ok(begins.iter().map(|(case, change)| named(case, &change.session)).collect())
}

/// Returns the file that accepts the same already, perhaps for more cases than are asked for.
fn known<'a>(acks: &'a [Ack], about: &[&Told], ack: &Ack) -> Option<&'a String> {
    let mut same = acks.iter().filter(|known| {
        (&known.benchmark, &known.metric, &known.from) == (&ack.benchmark, &ack.metric, &ack.from)
            && about.iter().all(|told| is_about(told, known))
    });
    same.next().map(|known| &known.file)
}

/// Returns whether an acknowledgement is about a series.
fn is_about(told: &Told, ack: &Ack) -> bool {
    let target = told.environment.get("target");
    told.benchmark == ack.benchmark
        && told.metric == ack.metric
        && (matches(&ack.case, &told.case) || matches(&ack.case, &told.case_name))
        && ack.target.as_ref().is_none_or(|wanted| target.is_none_or(|own| own == wanted))
}

/// Returns the greatest change for the worse that an acknowledgement is about: as a gate of the default branch sees it, and as those see it
/// that are held against other commits.
fn measured(others: &BTreeMap<String, Lineage>, request: HistoryRequest<'_>, ack: &Ack) -> Option<f64> {
    let all = others.values().map(Some).chain([request.lineage]);
    all.filter_map(|lineage| extent(HistoryRequest { lineage, ..request }, ack)).max_by(f64::total_cmp)
}

/// Returns the commits that gates of the metric are held against, other than those of the default branch.
fn lineages(judging: &Judging<'_>, ack: &Ack) -> Result<BTreeMap<String, Lineage>> {
    let rules = judging.rules.iter().map(|(rule, _)| rule);
    let about = rules.filter(|rule: &&Rule| rule.benchmark == ack.benchmark && rule.metric == ack.metric);
    let mut lineages = BTreeMap::new();
    add_baselines(&mut lineages, about, judging.commits()?.as_ref())?;
    Ok(lineages)
}

/// Returns the bound that accepts a change, and not a much greater one.
fn bound(extent: Option<f64>, threshold: f64, ack: &Ack) -> Result<String> {
    let Some(extent) = extent else {
        bail!(
            "nothing got worse from `{}` on, so there is nothing to accept; `--max-change` accepts up to a share all the same",
            ack.from
        )
    };
    let percent = (extent.max(threshold) * 100.0).ceil() + 2.0;
    let percent = if extent <= 1.0 { percent.min(100.0) } else { percent };
    if percent > 100.0 {
        bail!(
            "it got worse by {} from `{}` on, and a bound is at most 100%: `--max-change any` accepts that change however large it is",
            words::about(extent),
            ack.from
        );
    }
    Ok(format!("{percent:.0}%"))
}

/// Returns the file of an acknowledgement.
fn text(ack: &Ack, bound: Option<&String>) -> String {
    let fields = [
        ("benchmark", Some(&ack.benchmark)),
        ("case", Some(&ack.case)),
        ("metric", Some(&ack.metric)),
        ("target", ack.target.as_ref()),
        ("from", Some(&ack.from)),
        ("maxChange", bound),
        ("by", Some(&ack.by)),
        ("reason", Some(&ack.reason)),
        ("expires", ack.expires.as_ref()),
    ];
    let field = |(key, value): (&str, Option<&String>)| Some((key.to_owned(), Json::from(value?.as_str())));
    let spec: Map<String, Json> = fields.into_iter().filter_map(field).collect();
    let document = json!({"apiVersion": API_VERSION, "kind": "Ack", "spec": spec});
    format!("# yaml-language-server: $schema=../schema/ack.v1.json\n{}", yaml::write(&document))
}

/// Says what stays open although these were accepted.
fn tell_rest(global: &Global, request: HistoryRequest<'_>, made: &[Made]) {
    let new = made.iter().map(|made| &made.ack);
    let all: Vec<Ack> = request.acks.iter().chain(new).cloned().collect();
    let series = history(HistoryRequest { acks: &all, ..request });
    let is_open = |told: &&Told| told.open.is_some() && made.iter().any(|made| is_about(told, &made.ack));
    for change in series.iter().filter(is_open).filter_map(|told| told.changes.last()) {
        let day = words::day(&change.since);
        let said = format!(
            "what got worse from session {} of {day} on stays open: it is a change of its own, which `--from {}` accepts",
            change.session, change.session
        );
        tell(global, &said);
    }
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
        // Without a change there is no case to choose from.
        _ if open.is_empty() && args.from.is_none() => Ok("*".to_owned()),
        _ => {
            let named =
                known.iter().take(MOST).map(|(case, name)| format!("\n  --case {case}  # {}", on_one_line(name)));
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
