//! The metrics of a tool: those that the spec names, or all.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Evidence, Log, Measured, Remark, direction, fill, in_spec_unit, unread};
use crate::file;
use crate::json_document::NO_DOCUMENT;
use crate::naming::Naming;
use crate::rules::{From, MetricRule};
use crate::series::{Unreadable, Window};
use crate::tool::{Cautioned, Found, Headline, Report, Requests};
use kubebench_format::result::v1::{Native, StatusReason};
use kubebench_format::result::{ReasonCode, labelled};
use kubebench_syntax::text::grouped;
use kubebench_syntax::unit::MetricUnit;

/// The largest report of a tool that a result file holds.
const MAX_NATIVE: usize = 256 << 10;
/// More metrics of one tool are left out: a result file stays readable.
const MAX_METRICS: usize = 1000;

/// Adds the metrics of a tool, from its file or from the logs: each from the first log that has it. Returns how many of its
/// requests failed.
pub(super) fn metrics(
    number: usize,
    rule: &MetricRule,
    logs: &[Log],
    evidence: &dyn Evidence,
    measured: &mut Measured,
) -> Vec<Requests> {
    let From::Tool { tool, metrics: wanted, naming, file, place, reports } = &rule.from else { return Vec::new() };
    let mut outputs: Vec<(String, Report, Option<String>)> = Vec::new();
    let mut problem = None;
    if let Some(path) = file {
        match evidence.open(path).and_then(|text| file::tool(tool, rule.window, *reports, text)) {
            Ok(found) => outputs.push((evidence.name_of(path), found.report, found.native)),
            Err(reason) => problem = Some(format!("{path}: {reason}")),
        }
    } else {
        for log in logs.iter().filter(|log| place.has(&log.role, log.index)) {
            let slot = log.scanned.tools.iter().position(|rule| *rule == number);
            if let Some(found) = slot.and_then(|slot| log.scanned.scanned.tools.get(slot)) {
                outputs.push((log.artifact.clone(), found.report.clone(), found.native.clone()));
            }
        }
    }
    for (_, report, _) in &mut outputs {
        report.settle();
    }
    let is_needed = rule.is_primary || rule.is_required;
    let mut all: Vec<Origin<'_>> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut requests = Vec::new();
    for (artifact, report, native) in &outputs {
        for found in report.found() {
            if seen.insert((&found.name, &found.labels)) {
                all.push(Origin { artifact, report, found });
            }
        }
        requests.extend_from_slice(report.failures());
        for Cautioned { caution, said } in report.cautions() {
            let message = format!("{} says `{}`: {said}", tool.name, caution.name());
            let reason = StatusReason { code: ReasonCode::ToolCaution, message };
            if !measured.cautions.iter().any(|known| known.reason == reason) {
                measured.cautions.push(Remark { caution: *caution, reason });
            }
        }
        // A missing document only means that the tool printed nothing.
        let is_silent = report.found().is_empty() && report.reasons().iter().any(|reason| reason == NO_DOCUMENT);
        for reason in report.reasons().iter().filter(|_| is_needed || wanted.is_some() || !is_silent) {
            let message = format!("{}: {reason}", tool.name);
            if !measured.invalid.iter().any(|known| known.message == message) {
                measured.invalid.push(StatusReason { code: ReasonCode::ToolInvalid, message });
            }
        }
        if let Some(text) = native
            && !report.found().is_empty()
        {
            let text = Some(text.clone()).filter(|text| text.len() <= MAX_NATIVE);
            let native = Native { artifact: artifact.clone(), text };
            measured.native.entry(tool.name.to_owned()).or_insert(native);
        }
    }
    let make = |name: String, origin: Option<(&Origin<'_>, &Headline)>| {
        let mut made = unread(rule, naming.name(&name));
        made.labels.clone_from(naming.labels());
        made.source.parser = tool.name.to_owned();
        if let Some((Origin { artifact, report, found }, headline)) = origin {
            made.labels = found.labels.clone();
            made.labels.extend(naming.labels().clone());
            made.unit = rule.unit.clone().or_else(|| Some(found.unit.clone()));
            made.direction = direction(rule.better.or(found.metric.better));
            made.source.artifact = Some((*artifact).to_owned());
            made.source.rank = found.series.rank();
            // The spec's windows and reductions replace those of a headline.
            let is_plain = rule.window == Window::All && rule.reduce.is_none();
            let series = if is_plain { headline.part_of(&found.series) } else { Cow::Borrowed(&found.series) };
            let skipped = found.series.count() - series.count();
            if skipped > 0 {
                made.source.window = Some(format!("without the first {skipped}"));
            }
            let reduce = rule.reduce.unwrap_or(headline.reduce);
            // A value that a tool prints without a unit has that of the spec.
            let own = Some(MetricUnit::of(&found.unit)).filter(|own| !own.is_pure());
            match own.map_or(Ok(Cow::Borrowed(&*series)), |own| in_spec_unit(&mut made, &own, &series)) {
                Ok(series) => fill(&mut made, &series, reduce),
                Err(reason) => {
                    made.reason = Some(reason);
                    return made;
                }
            }
            let unreadable = series.unreadable().map(|value| said(value, artifact));
            made.reason = unreadable
                .or(made.reason)
                .into_iter()
                .chain(report.cut_note(found))
                .chain(report.note())
                .reduce(|one, other| format!("{one}; {other}"));
        }
        made
    };
    let mut replaced = BTreeMap::new();
    let mut keep_apart = |found: &Found| {
        for (label, own) in &found.labels {
            if naming.labels().get(label).is_some_and(|given| given != own) {
                replaced.entry(label.clone()).or_insert_with(|| labelled(&found.name, &found.labels));
            }
        }
    };
    if wanted.is_none() {
        if all.is_empty() {
            let lines: u64 = logs.iter().map(|log| log.scanned.scanned.lines).sum();
            let hold = if lines == 1 { "line holds" } else { "lines hold" };
            let utf_16 = logs.iter().find(|log| log.scanned.scanned.is_utf_16);
            let problem =
                problem.clone().or_else(|| utf_16.map(|log| format!("{} is UTF-16: print UTF-8", log.artifact)));
            let why = problem.unwrap_or_else(|| format!("{} {hold} nothing that {} prints", grouped(lines), tool.name));
            let message = format!("no metric of {} was found: {why}", tool.name);
            if is_needed {
                measured.invalid.push(StatusReason { code: ReasonCode::MetricMissing, message: message.clone() });
            }
            let mut made = make(tool.name.to_owned(), None);
            made.reason = Some(message);
            measured.metrics.push(made);
        }
        let headlines =
            || all.iter().flat_map(|origin| origin.found.metric.headlines.iter().map(move |line| (origin, line)));
        for (origin, of) in headlines().take(MAX_METRICS) {
            let name = format!("{}{}", origin.found.name, of.suffix);
            keep_apart(origin.found);
            measured.metrics.push(make(name, Some((origin, of))));
        }
        let left_out = headlines().count().saturating_sub(MAX_METRICS);
        if let Some(last) = measured.metrics.last_mut().filter(|_| left_out > 0) {
            let more =
                format!("{} more metrics of {} are left out after this one", grouped(left_out as u64), tool.name);
            last.reason = Some(last.reason.take().map_or(more.clone(), |reason| format!("{reason}; {more}")));
        }
    }
    for selector in wanted.iter().flatten() {
        let name = selector.name().to_owned();
        let mut is_known = false;
        for origin in all.iter().filter(|origin| selector.has(selector.name(), &origin.found.labels)) {
            let found = origin.found;
            let named =
                found.metric.headlines.iter().find(|headline| format!("{}{}", found.name, headline.suffix) == name);
            let of_series = found.metric.headlines.first().filter(|_| found.name == name);
            if let Some(of) = named.or(of_series) {
                is_known = true;
                keep_apart(found);
                measured.metrics.push(make(name.clone(), Some((origin, of))));
            }
        }
        if !is_known {
            let mut made = make(name.clone(), None);
            let is_like = |found: &Found| found.name == name && !selector.labels().is_empty();
            let shown =
                |found: &Found| if is_like(found) { labelled(&found.name, &found.labels) } else { found.name.clone() };
            let names: Vec<String> = all.iter().map(|origin| shown(origin.found)).collect();
            let there = if names.is_empty() { "nothing".to_owned() } else { file::listed(&names) };
            made.reason = Some(problem.clone().unwrap_or_else(|| format!("{} reported {there}", tool.name)));
            measured.metrics.push(made);
        }
    }
    measured.invalid.extend(replaced.iter().map(|(label, series)| not_its_own(tool.name, naming, label, series)));
    requests
}

/// Says that a rule adds a label to its metrics that the tool's output has too, with another value.
fn not_its_own(tool: &str, naming: &Naming, label: &str, series: &str) -> StatusReason {
    let given = naming.labels().get(label).map_or("", String::as_str);
    let message = format!(
        "the rule of {tool} gives its metrics the label `{label}: {given}`, and {tool} reported `{series}`: give the label in `labels` of \
         `tool` another name"
    );
    StatusReason { code: ReasonCode::MetricCollision, message }
}

/// Where a metric of a tool was found.
struct Origin<'a> {
    artifact: &'a str,
    report: &'a Report,
    found: &'a Found,
}

/// Says which value could not be read.
fn said(Unreadable { line, reason, count }: &Unreadable, artifact: &str) -> String {
    let place = line.map_or_else(String::new, |line| format!("{artifact}:{line}: "));
    let among = if *count == 1 { String::new() } else { format!(", the first of {count} such values") };
    format!("{place}{reason}{among}")
}
