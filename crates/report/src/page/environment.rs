//! The hardware that results are from: what was declared, what was seen, and which benchmarks ran there.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::paths::{self, relative};
use super::super::site::Site;
use super::{File, Page, by_weight, parts};
use kubebench_format::result::v1::Environment;
use kubebench_results::dataset::{Partition, Row};

/// The text for something that was not observed.
const UNSEEN: &str = "not observed";

/// What ran on one kind of hardware.
#[derive(Default)]
struct Seen<'a> {
    partitions: Vec<&'a Partition>,
    sessions: usize,
    newest: &'a str,
}

/// Draws a page for each kind of hardware, and one that names them.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    let mut all: BTreeMap<BTreeMap<String, String>, Seen<'_>> = BTreeMap::new();
    for partition in site.request.partitions {
        let facts = partition.facts.iter().map(|(fact, value)| ((*fact).to_owned(), value.clone())).collect();
        let seen = all.entry(facts).or_default();
        seen.partitions.push(partition);
        seen.sessions += partition.sessions.len();
        let newest = partition.sessions.last().map_or("", |session| session.started_at.as_str());
        seen.newest = seen.newest.max(newest);
    }
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.newest));
    let row = |(facts, seen): &(&BTreeMap<String, String>, &Seen<'_>)| {
        let benchmarks: BTreeSet<&str> = seen.partitions.iter().map(|partition| partition.benchmark.as_str()).collect();
        html! {
            tr {
                th scope="row" { a href=(relative(paths::ENVIRONMENTS, &paths::environment(facts))) { (name(facts)) } }
                td.number { (benchmarks.len()) } td.number { (seen.sessions) } td { (parts::time(seen.newest)) }
            }
        }
    };
    let count = sorted.len();
    let shown = by_weight(sorted.iter().map(row).collect(), 500, 200_000).into_iter().next().unwrap_or_default();
    let body = html! {
        p { "Results are compared within one kind of hardware. A kind is one target, engine, driver without its patch \
             level, type of instance, and models and counts of CPUs or GPUs." }
        (parts::table("Hardware, most recently used first", &["Hardware", "Benchmarks", "Sessions", "Newest"], &shown))
        @if shown.len() < count { p { "And " (count - shown.len()) " more, which the benchmarks link to." } }
    };
    let mut files = vec![Page { path: paths::ENVIRONMENTS, title: "Hardware", above: &[], body }.draw(site)];
    files.extend(sorted.iter().map(|(facts, seen)| one(site, facts, seen)));
    files
}

fn name(facts: &BTreeMap<String, String>) -> String {
    let words = kubebench_results::compare::words::hardware(facts);
    parts::cut(if words.is_empty() { "unknown hardware" } else { &words })
}

fn one(site: &Site<'_>, facts: &BTreeMap<String, String>, seen: &Seen<'_>) -> File {
    let path = paths::environment(facts);
    let dataset = site.request.dataset;
    let newest = seen
        .partitions
        .iter()
        .map(|partition| partition.newest(dataset))
        .max_by_key(|row| (&row.started_at, &row.path));
    let ran = |partition: &&Partition| {
        let name = &dataset.subject(partition.newest(dataset)).case_name;
        html! {
            tr {
                th scope="row" { a href=(relative(&path, &paths::case(&partition.benchmark, &partition.case, 1))) { (partition.benchmark) } }
                td { (parts::cut(name)) } td.number { (partition.sessions.len()) }
                td { @if let Some(last) = partition.sessions.last() { (parts::time(&last.started_at)) } }
            }
        }
    };
    let rows: Vec<Markup> = seen.partitions.iter().map(ran).collect();
    let count = rows.len();
    let shown = by_weight(rows, 500, 180_000).into_iter().next().unwrap_or_default();
    let body = html! {
        dl.facts { @for (fact, value) in facts { dt { (parts::cut(fact)) } dd { (parts::cut(value)) } } }
        @if let Some(row) = newest {
            h2 { "Declared and observed" }
            p { "As the newest run had it, of " (parts::time(&row.started_at)) "." }
            (observed(dataset.environment(row), row, declared_type(site, facts)))
        }
        h2 { "What ran here" }
        (parts::table("Benchmarks that ran here", &["Benchmark", "Case", "Sessions", "Newest"], &shown))
        @if shown.len() < count { p { "And " (count - shown.len()) " more cases." } }
    };
    let above = [("Hardware", paths::ENVIRONMENTS.to_owned())];
    Page { path: &path, title: &name(facts), above: &above, body }.draw(site)
}

/// Returns the type of instance that the specs of a target ask for, where they agree.
fn declared_type<'a>(site: &Site<'a>, facts: &BTreeMap<String, String>) -> Option<&'a str> {
    let target = facts.get("target")?;
    let of_target = site.request.asked.iter().filter(|asked| asked.target == *target);
    let types: BTreeSet<Option<&str>> = of_target.map(|asked| asked.instance_type.as_deref()).collect();
    if types.len() == 1 { types.into_iter().next().flatten() } else { None }
}

/// Tables what specs declare against what the run saw.
fn observed(environment: &Environment, row: &Row, declared_type: Option<&str>) -> Markup {
    const MOST: usize = 16;
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for image in environment.images.iter().take(MOST) {
        let observed = image.observed.clone().unwrap_or_else(|| UNSEEN.to_owned());
        rows.push((format!("image of {}", image.role), image.declared.clone(), observed));
    }
    if let Some(count) = row.accelerators.filter(|count| *count > 0) {
        let seen: u64 = environment.nodes.iter().flat_map(|node| &node.gpus).map(|gpu| u64::from(gpu.count)).sum();
        rows.push((
            "accelerators".to_owned(),
            count.to_string(),
            if seen > 0 { format!("{seen} on its nodes") } else { UNSEEN.to_owned() },
        ));
    }
    for (at, node) in environment.nodes.iter().take(MOST).enumerate() {
        if let Some(seen) = &node.instance_type {
            rows.push((format!("node {}, type", at + 1), declared_type.unwrap_or("–").to_owned(), seen.clone()));
        }
        let mut put = |what: &str, seen: Option<String>| {
            if let Some(seen) = seen {
                rows.push((format!("node {}, {what}", at + 1), "–".to_owned(), seen));
            }
        };
        put("CPU", node.cpu_model.clone().map(|model| format!("{} × {model}", node.cpu_count.unwrap_or(1))));
        put("memory", node.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))));
        for gpu in &node.gpus {
            let driver = gpu.driver.as_deref().unwrap_or("unknown");
            put("GPU", Some(format!("{} × {}, driver {driver}", gpu.count, gpu.product)));
        }
        put("kernel", node.kernel.clone());
        put("system", node.os_image.clone());
        put("governor", node.governor.clone());
        put("virtualization", node.virtualization.clone());
    }
    if environment.nodes.len() > MOST {
        rows.push((format!("{} more nodes", environment.nodes.len() - MOST), "–".to_owned(), "–".to_owned()));
    }
    rows.extend(
        environment.software.iter().take(MOST).map(|(name, version)| (name.clone(), "–".to_owned(), version.clone())),
    );
    let version = environment.cluster.version.clone();
    rows.extend(version.map(|version| ("Kubernetes".to_owned(), "–".to_owned(), version)));
    let draw = |(what, declared, seen): &(String, String, String)| {
        let differs = differs(declared, seen);
        html! {
            tr {
                th scope="row" { (parts::cut(what)) } td { (parts::cut(declared)) }
                td { (parts::cut(seen)) @if differs { " " strong.warn { "differs" } } }
            }
        }
    };
    parts::table("Declared and observed", &["What", "Declared", "Observed"], &rows.iter().map(draw).collect::<Vec<_>>())
}

/// Returns whether what was seen is not what was declared, as far as both say the same kind of thing: digests, numbers, names.
fn differs(declared: &str, seen: &str) -> bool {
    let digest = |text: &str| text.split_once("@sha256:").map(|(_, digest)| digest.to_owned());
    let number = |text: &str| text.split(' ').next().and_then(|first| first.parse::<u64>().ok());
    match (digest(declared), digest(seen), number(declared), number(seen)) {
        _ if declared == "–" || seen == UNSEEN => false,
        (Some(one), Some(other), ..) => one != other,
        (.., Some(wanted), Some(there)) => there < wanted,
        // A tag names what it named that day.
        _ if seen.contains("sha256:") => false,
        _ => declared != seen,
    }
}
