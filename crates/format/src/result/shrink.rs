//! Parts that a result drops to fit in a file: first what is also elsewhere.

use std::collections::BTreeSet;

use super::ReasonCode;
use super::thinned;
use super::v1::{Artifact, BenchmarkResult, Exit, Metric, StatusReason};
use kubebench_syntax::invariant::Invariant as _;

/// The code of the reasons that say what was left out.
const CODE: ReasonCode = ReasonCode::TooLarge;

/// Applied one after the other while the file is too large; the last ones bound every list that grows with a run.
pub(super) const STEPS: [fn(&mut BenchmarkResult); 27] = [
    // A report is also kept as an artifact; samples are nowhere else.
    |result| result.native.values_mut().for_each(|native| native.text = None),
    |result| thin(result, 5_000),
    |result| thin(result, 2_500),
    |result| last_lines(result, 8, 1 << 14),
    |result| thin(result, 1_250),
    |result| thin(result, 625),
    |result| thin(result, 312),
    |result| thin(result, 156),
    |result| last_lines(result, 1, 1 << 13),
    |result| thin(result, 78),
    |result| thin(result, 39),
    |result| thin(result, 19),
    |result| thin(result, 9),
    |result| thin(result, 0),
    |result| reasons(result, 20, 2_000),
    |result| composition(result, 100),
    |result| metrics(result, 2_000),
    |result| metrics(result, 1_000),
    |result| metrics(result, 500),
    |result| exits(result, 1_000),
    |result| artifacts(result, 1_000),
    |result| metrics(result, 100),
    |result| composition(result, 10),
    |result| last_lines(result, 0, 0),
    |result| reasons(result, 10, 300),
    |result| exits(result, 100),
    |result| artifacts(result, 100),
];

/// Keeps at most `keep` of the samples of everything that was sampled.
pub(super) fn thin(result: &mut BenchmarkResult, keep: usize) {
    for metric in &mut result.metrics {
        metric.samples = thinned(&metric.samples, keep);
    }
    for monitored in &mut result.monitoring {
        monitored.samples = thinned(&monitored.samples, keep);
    }
}

fn failed(exit: &Exit) -> bool {
    exit.signal.is_some() || exit.code != Some(0)
}

/// Keeps the last lines of the first `replicas` that failed, each at most `bytes` of them: the cause is the first.
fn last_lines(result: &mut BenchmarkResult, replicas: usize, bytes: usize) {
    let mut left = replicas;
    for exit in &mut result.run.exits {
        if left == 0 || !failed(exit) {
            exit.last_lines.clear();
            continue;
        }
        left -= 1;
        let mut room = bytes;
        let fits = exit.last_lines.iter().rev().take_while(|line| {
            let fits = line.len() <= room;
            room = room.saturating_sub(line.len());
            fits
        });
        let kept = fits.count();
        let last = exit.last_lines.last().filter(|_| kept == 0).map(|line| shortened(line, bytes));
        exit.last_lines.drain(..exit.last_lines.len() - kept);
        exit.last_lines.extend(last);
    }
}

/// Keeps `most` of the reasons, each of at most `bytes`.
fn reasons(result: &mut BenchmarkResult, most: usize, bytes: usize) {
    let said: Vec<StatusReason> = result.run.reasons.extract_if(.., |reason| reason.code == CODE).collect();
    let count = result.run.reasons.len();
    result.run.reasons.truncate(most);
    for reason in &mut result.run.reasons {
        reason.message = shortened(&reason.message, bytes);
    }
    for metric in &mut result.metrics {
        metric.reason = metric.reason.as_deref().map(|reason| shortened(reason, bytes));
    }
    for check in &mut result.validity.checks {
        check.observed = shortened(&check.observed, bytes);
    }
    result.run.reasons.extend(said);
    say(result, "reasons", count.saturating_sub(most));
}

/// Keeps the first `most` of the metrics that have labels; all metrics without labels stay.
fn metrics(result: &mut BenchmarkResult, most: usize) {
    let before = result.metrics.len();
    let mut left = most;
    result.metrics.retain(|metric: &Metric| {
        let stays = metric.labels.is_empty() || left > 0;
        left -= usize::from(!metric.labels.is_empty() && left > 0);
        stays
    });
    say(result, "metrics with labels", before - result.metrics.len());
}

/// Keeps `most` of the nodes of a Workflow and of the trials of an Experiment, which say themselves how many more there were.
fn composition(result: &mut BenchmarkResult, most: usize) {
    if let Some(workflow) = &mut result.workflow {
        workflow.cut(most);
    }
    if let Some(experiment) = &mut result.experiment {
        experiment.cut(most);
    }
}

/// Keeps `most` of the exits, those that failed before those that did not.
fn exits(result: &mut BenchmarkResult, most: usize) {
    let exits = &mut result.run.exits;
    let mut left = most.saturating_sub(exits.iter().filter(|exit| failed(exit)).count());
    let before = exits.len();
    exits.retain(|exit| {
        let stays = failed(exit) || left > 0;
        left -= usize::from(!failed(exit) && left > 0);
        stays
    });
    exits.truncate(most);
    let lost = before - exits.len();
    say(result, "exits", lost);
}

/// Keeps `most` of the artifacts, and in any case those that metrics were read from: their digests prove the values.
fn artifacts(result: &mut BenchmarkResult, most: usize) {
    let named: BTreeSet<&str> = result.metrics.iter().filter_map(|metric| metric.source.artifact.as_deref()).collect();
    let is_named = |artifact: &Artifact| named.contains(artifact.name.as_str());
    let artifacts = &mut result.artifacts;
    let mut left = most.saturating_sub(artifacts.iter().filter(|artifact| is_named(artifact)).count());
    let before = artifacts.len();
    artifacts.retain(|artifact| {
        let stays = is_named(artifact) || left > 0;
        left -= usize::from(!is_named(artifact) && left > 0);
        stays
    });
    let lost = before - artifacts.len();
    say(result, "artifacts", lost);
}

/// Says that `count` of `what` are left out, adding up what was said of the same before.
fn say(result: &mut BenchmarkResult, what: &str, count: usize) {
    if count == 0 {
        return;
    }
    let said = |count: usize| format!("{count} {what} were left out: the result would exceed the size limit");
    let of = |reason: &StatusReason| {
        let number = reason.message.split_once(' ')?.0.parse::<usize>().ok()?;
        (reason.code == CODE && reason.message == said(number)).then_some(number)
    };
    let earlier: usize = result.run.reasons.iter().filter_map(of).sum();
    result.run.reasons.retain(|reason| of(reason).is_none());
    result.run.reasons.push(StatusReason { code: CODE, message: said(count + earlier) });
}

/// Cuts a text, at a character, saying so.
fn shortened(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).expected("the end of a character"))
}
