//! What the project file says of all benchmarks.

use std::collections::BTreeSet;

use super::{Change, weakening};
use crate::lower::{PROJECT_FILE, Project};
use crate::model::target::{ResultsSettings, Settings};
use kubebench_format::spec::v1::project::LintLevel;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostics, Place};
use kubebench_syntax::unit::Day;
use kubebench_syntax::yaml::{self, Node};

fn words(level: LintLevel) -> &'static str {
    match level {
        LintLevel::Error => "an error",
        LintLevel::Warning => "a warning",
        LintLevel::Off => "off",
    }
}

/// Reports what a change weakens in the project file.
pub(super) fn compare(change: Change<'_>, weakened: &mut Diagnostics) {
    let (Some(base), Some(head)) = (&change.base.project, &change.head.project) else { return };
    let root = root(change);
    let mut say = |path: &[&str], message: String| weakened.push(weakening(place(root.as_ref(), path), message));
    for name in base.lints.keys().chain(head.lints.keys().filter(|name| !base.lints.contains_key(*name))) {
        let Some((before, now)) = base.level(name).zip(head.level(name)) else { continue };
        if now > before {
            say(&["spec", "lints", name], format!("{name} is {}; at the base {}", words(now), words(before)));
        }
    }
    folders(&base.settings, &head.settings, &mut say);
    prices(base, head, &mut say);
    let Settings { compare_across, judge_from, .. } = &head.settings;
    if *compare_across != base.settings.compare_across {
        let words = |facts: &BTreeSet<String>| format!("[{}]", listed(facts.iter().map(String::as_str)));
        let (now, before) = (words(compare_across), words(&base.settings.compare_across));
        say(&["spec", "compareAcross"], format!("`compareAcross` is {now}; at the base {before}"));
    }
    if let Some(now) = judge_from.as_ref().filter(|now| is_later(now, base.settings.judge_from.as_deref())) {
        let before = base.settings.judge_from.as_ref().map_or_else(|| "nothing".to_owned(), |from| format!("`{from}`"));
        say(&["spec", "judgeFrom"], format!("`judgeFrom` is `{now}`; at the base {before}"));
    }
}

/// Reports prices that are other ones: a budget may be less than it looks.
fn prices(base: &Project, head: &Project, say: &mut impl FnMut(&[&str], String)) {
    for before in &base.targets {
        let Some(now) = head.targets.iter().find(|target| target.name == before.name) else { continue };
        if before.prices.is_some() && now.prices != before.prices {
            let message = format!("the prices of `{}` are other ones than at the base", now.name);
            say(&["spec", "targets", &now.name, "prices"], message);
        }
    }
}

/// Returns the settings of the base, and where regressions count from as the stricter one says it.
pub(super) fn held(change: Change<'_>) -> Option<Settings> {
    let base = change.base.project.as_ref().filter(|_| !change.begins())?;
    let own = change.head.project.as_ref().and_then(|head| head.settings.judge_from.as_deref());
    let before = base.settings.judge_from.as_deref();
    let judge_from = own.filter(|own| !is_later(own, before)).map(str::to_owned);
    let is_weaker = own.is_some_and(|own| is_later(own, before));
    let judge_from = if is_weaker { base.settings.judge_from.clone() } else { judge_from };
    Some(Settings { judge_from, ..base.settings.clone() })
}

fn folders(base: &Settings, head: &Settings, say: &mut impl FnMut(&[&str], String)) {
    for folder in base.spec_dirs.iter().filter(|folder| !head.spec_dirs.contains(folder)) {
        say(&["spec", "specs"], format!("`{folder}` is no folder of specs any more"));
    }
    let parts = |results: &ResultsSettings| {
        let is_local = results.mode == "local";
        let remote = results.remote.clone().unwrap_or_else(|| "that of the repository".to_owned());
        [
            ("directory", results.directory.clone()),
            ("branch", if is_local { "none".to_owned() } else { results.branch.clone() }),
            ("remote", if is_local { "none".to_owned() } else { remote }),
        ]
    };
    for ((part, before), (_, now)) in parts(&base.results).into_iter().zip(parts(&head.results)) {
        if before != now {
            say(&["spec", "results", part], format!("the {part} of results is `{now}`; at the base `{before}`"));
        }
    }
}

/// Returns whether regressions count from later on; of revisions that is unknown, and so they are later.
fn is_later(now: &str, before: Option<&str>) -> bool {
    let Some(before) = before else { return true };
    let days = Day::parse(now).ok().zip(Day::parse(before).ok());
    now != before && days.is_none_or(|(now, before)| now > before)
}

fn root(change: Change<'_>) -> Option<Node> {
    let (id, source) = change.head.sources.iter().find(|(_, source)| source.path == PROJECT_FILE)?;
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
