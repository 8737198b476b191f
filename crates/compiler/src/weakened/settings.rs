//! What the project file says of all benchmarks.

use std::collections::BTreeSet;

use super::{Change, is_now, weakening};
use crate::lower::{PROJECT_FILE, Project, Strictness};
use crate::model::target::{ResultsSettings, Settings};
use kubebench_attestation::{Counted, Key};
use kubebench_contract::Prices;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostics, Place};
use kubebench_syntax::unit::{Beginning, is_time, moment};
use kubebench_syntax::yaml::{self, Node};

fn words(level: Strictness) -> &'static str {
    match level {
        Strictness::Error => "an error",
        Strictness::Warning => "a warning",
        Strictness::Info => "shown",
        Strictness::Off => "off",
    }
}

/// Reports what a change weakens in the project file.
pub(super) fn compare(change: Change<'_>, weakened: &mut Diagnostics) {
    let (Some(base), Some(head)) = (&change.base.project, &change.head.project) else { return };
    let root = root(change);
    let mut say = |path: &[&str], message: String| weakened.push(weakening(place(root.as_ref(), path), message));
    for name in base.lints.keys().chain(head.lints.keys().filter(|name| !base.lints.contains_key(*name))) {
        let Some((before, now)) = base.strictness(name).zip(head.strictness(name)) else { continue };
        if now > before {
            say(&["spec", "lints", name], is_now(name, words(now), words(before)));
        }
    }
    folders(&base.settings, &head.settings, &mut say);
    targets(base, head, &mut say);
    let Settings { compare_across, judge_from, .. } = &head.settings;
    if *compare_across != base.settings.compare_across {
        let words = |facts: &BTreeSet<String>| format!("[{}]", listed(facts.iter().map(String::as_str)));
        let (now, before) = (words(compare_across), words(&base.settings.compare_across));
        say(&["spec", "compareAcross"], is_now("`compareAcross`", now, before));
    }
    let (before, now) = (&base.settings.image, &head.settings.image);
    if before != now {
        say(
            &["spec", "image"],
            format!(
                "the steps run `{now}`; at the base `{before}`: the image gets the credential and the key of the \
                 recorder"
            ),
        );
    }
    authorities(&base.settings.results, &head.settings.results, &mut say);
    signatures(&base.settings.results, &head.settings.results, &mut say);
    if let Some(now) = judge_from.as_ref().filter(|now| is_later(now, base.settings.judge_from.as_deref())) {
        let before = base.settings.judge_from.as_ref().map_or_else(|| "nothing".to_owned(), |from| format!("`{from}`"));
        say(&["spec", "judgeFrom"], is_now("`judgeFrom`", format!("`{now}`"), before));
    }
}

/// Reports that other servers than before may pass for those of git and Prometheus.
fn authorities(base: &ResultsSettings, head: &ResultsSettings, say: &mut impl FnMut(&[&str], String)) {
    if base.ca == head.ca {
        return;
    }
    let words = |results: &ResultsSettings| match &results.ca {
        Some(ca) => format!("those in {ca}"),
        None => "public ones".to_owned(),
    };
    let (now, before) = (words(head), words(base));
    say(
        &["spec", "results", "ca"],
        format!("the certificate authorities of the steps are {now}; at the base {before}"),
    );
}

/// Reports what a target says of metrics and budgets: where Prometheus is, and prices that are lower or gone.
fn targets(base: &Project, head: &Project, say: &mut impl FnMut(&[&str], String)) {
    for before in &base.targets {
        let Some(now) = head.targets.iter().find(|target| target.name == before.name) else { continue };
        if before.prometheus.is_some() && now.prometheus != before.prometheus {
            say(
                &["spec", "targets", &now.name, "prometheus"],
                format!("the Prometheus server of `{}` differs from the base", now.name),
            );
        }
        if before.prices.as_ref().is_some_and(|before| is_cheaper(now.prices.as_ref(), before)) {
            say(
                &["spec", "targets", &now.name, "prices"],
                format!("prices of `{}` are lower than at the base, or missing", now.name),
            );
        }
    }
}

fn is_cheaper(now: Option<&Prices>, before: &Prices) -> bool {
    let Some(now) = now else { return true };
    let is_lower = |(name, price): (&String, &f64)| now.hourly.get(name).is_none_or(|now| now < price);
    now.currency != before.currency || before.hourly.iter().any(is_lower)
}

/// Reports keys that count from the merge on and did not before, or do not any more, and results that count without a signature.
fn signatures(base: &ResultsSettings, head: &ResultsSettings, say: &mut impl FnMut(&[&str], String)) {
    if head.counted < base.counted {
        let words = |counted: Counted| match counted {
            Counted::All => "all results count",
            Counted::Signed => "signed results count",
            Counted::SignedAndSeparated => "signed results from a volume that jobs could not write to count",
        };
        let field = if head.counted == Counted::All { "requireSigned" } else { "allowUnseparated" };
        say(&["spec", "results", field], format!("{}; at the base {}", words(head.counted), words(base.counted)));
    }
    let mut say = |message: String| say(&["spec", "results", "keys"], message);
    let is_same = |one: &Key, other: &Key| one.public == other.public;
    for before in base.keys.iter().filter(|before| !head.keys.iter().any(|now| is_same(now, before))) {
        say(format!(
            "the key `{}` ({}) is gone: its signatures no longer count once this is merged",
            before.name,
            short_id(before)
        ));
    }
    for now in head.keys.iter().filter(|now| !base.keys.contains(now)) {
        let (name, id) = (&now.name, short_id(now));
        say(match base.keys.iter().find(|before| is_same(now, before)) {
            Some(before) if days(before) == days(now) => {
                format!("the key `{}` ({id}) is now called `{name}`", before.name)
            }
            Some(before) => {
                let (now, before) = (days(now), days(before));
                format!("the key `{name}` ({id}) counts {now} once this is merged; at the base {before}")
            }
            None => format!("the key `{name}` ({id}) is new: it counts {} once this is merged", days(now)),
        });
    }
}

fn short_id(key: &Key) -> String {
    format!("{}…", key.public.id().chars().take(16).collect::<String>())
}

/// Says for which runs a key counts.
fn days(key: &Key) -> String {
    match (key.not_before, key.not_after) {
        (None, None) => "for all runs".to_owned(),
        (Some(first), None) => format!("for runs from {first} on"),
        (None, Some(last)) => format!("for runs up to {last}"),
        (Some(first), Some(last)) => format!("for runs from {first} to {last}"),
    }
}

/// Returns the settings of the base, and where regressions count from as the stricter one says it.
pub(super) fn held(change: Change<'_>) -> Option<Settings> {
    let base = change.base.project.as_ref().filter(|_| !change.begins())?;
    let own = change.head.project.as_ref().and_then(|head| head.settings.judge_from.clone());
    let before = base.settings.judge_from.clone();
    let is_weaker = own.as_ref().is_some_and(|own| is_later(own, before.as_deref()));
    Some(Settings { judge_from: if is_weaker { before } else { own }, ..base.settings.clone() })
}

fn folders(base: &Settings, head: &Settings, say: &mut impl FnMut(&[&str], String)) {
    for folder in base.spec_dirs.iter().filter(|folder| !head.spec_dirs.contains(folder)) {
        say(&["spec", "specs"], format!("`{folder}` is no longer a folder of specs"));
    }
    if base.output != head.output {
        say(&["spec", "output"], format!("manifests are in `{}`; at the base in `{}`", head.output, base.output));
    }
    let is_local = |results: &ResultsSettings| results.mode == "local";
    let remote =
        |results: &ResultsSettings| results.remote.clone().unwrap_or_else(|| "the remote of the repository".to_owned());
    let parts = |results: &ResultsSettings| {
        [("directory", results.directory.clone()), ("branch", results.branch.clone()), ("remote", remote(results))]
    };
    let (before, now) = (&base.results, &head.results);
    if is_local(before) != is_local(now) {
        say(
            &["spec", "results", "mode"],
            is_now("the mode of results", format!("`{}`", now.mode), format!("`{}`", before.mode)),
        );
    }
    // Without a branch, what it is called does not matter.
    let count = if is_local(before) || is_local(now) { 1 } else { 3 };
    for ((part, before), (_, now)) in parts(before).into_iter().zip(parts(now)).take(count) {
        if before != now {
            say(
                &["spec", "results", part],
                is_now(&format!("the {part} of results"), format!("`{now}`"), format!("`{before}`")),
            );
        }
    }
}

/// Returns whether regressions count from later on; of revisions that is unknown, and so they are later.
fn is_later(now: &str, before: Option<&str>) -> bool {
    let Some(before) = before else { return true };
    let at = |text: &str| Beginning::parse(text).map(|from| from.to_string()).ok().filter(|from| is_time(from));
    let times = at(now).zip(at(before));
    now != before && times.is_none_or(|(now, before)| first_moment(&now) > first_moment(&before))
}

/// Returns what times are compared by: a day is its first moment.
fn first_moment(time: &str) -> &str {
    moment(time).trim_end_matches("T00:00:00")
}

fn root(change: Change<'_>) -> Option<Node> {
    let (id, source) = change.head.sources.at(PROJECT_FILE)?;
    yaml::read(id, source).root
}

/// Returns where a field is, or what would hold it.
fn place(root: Option<&Node>, path: &[&str]) -> Place {
    let Some(mut node) = root else { return Place::File(PROJECT_FILE.to_owned()) };
    let mut span = node.span;
    for key in path {
        let Some(entry) = node.entry(key) else { break };
        (node, span) = (&entry.value, entry.key_span);
    }
    Place::Span(span)
}
