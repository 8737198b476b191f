//! What Katib's metrics collector reads from a trial's output: `name=value`, and `{metricName: name, metricValue: value}`.
//!
//! Katib looks for the names of its experiment. Here every name counts that is a separate word and has a number, so that
//! `val/loss=0.3` is no `loss` and flags such as `--lr=0.1` are nothing. Two things that share a name (`loss` of training
//! and of evaluation) are one series, in the order in which they were printed, and the last counts as in Katib. `step=N` on a
//! line is the step of its other values. `98%` has the unit `%`. Values that are not finite count, which Katib overlooks.

use std::collections::{BTreeMap, BTreeSet};

use super::{LAST, Line, LineParser, Lines, Report, Tool, ToolMetric, plain, read_on};
use crate::number;

pub(super) const TOOL: Tool = Tool {
    name: "katib",
    reads: "`name=value` and `{metricName: name, metricValue: value}` anywhere in a log",
    source: "https://www.kubeflow.org/docs/components/katib/user-guides/metrics-collector/",
    lines: Some(Lines { needles: &["=", METRIC_NAME], parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "what Katib's collectors read, v1beta1",
    metrics: || vec![&METRIC],
    labels: &[],
    example: "{name: katib, metrics: [accuracy_last]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static METRIC: ToolMetric =
    plain("{name}", "", "a named value, in `%` if that follows it").of(LAST).in_unit_of_output();

const METRIC_NAME: &str = "{metricName:";
/// A log with more names is not one of metrics alone.
const MAX_NAMES: usize = 1000;

#[derive(Default)]
struct Parser {
    names: BTreeSet<String>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        let in_braces: Vec<(&str, &str)> = line.text.split(METRIC_NAME).skip(1).filter_map(metric_and_value).collect();
        let mut before = "";
        for part in line.whole_words().split('=') {
            pairs.extend(name_at_end(before).zip(value_at_start(part)));
            before = part;
        }
        let step = pairs.iter().chain(&in_braces).find(|(name, _)| matches!(*name, "step" | "global_step"));
        let step = step.and_then(|(_, text)| number::parse(text).ok()).and_then(number::whole);
        let all = pairs.into_iter().map(|pair| (pair, false)).chain(in_braces.into_iter().map(|pair| (pair, true)));
        for ((name, text), is_said_to_be_a_metric) in all {
            let (text, unit) = text.strip_suffix('%').map_or((text, "1"), |text| (text, "%"));
            let reading = read_on(line, step, text);
            let is_metric = is_said_to_be_a_metric || self.names.contains(name) || is_none(text);
            if reading.value().is_none() && !is_metric {
                continue;
            }
            if !self.names.contains(name) {
                if self.names.len() == MAX_NAMES {
                    report
                        .invalid(format!("more than {MAX_NAMES} names have values: read what you need by `keyValue`"));
                    continue;
                }
                self.names.insert(name.to_owned());
            }
            report.push_in(&METRIC, name, unit, &BTreeMap::new(), reading);
        }
    }
}

/// What programs print for a value that they do not have.
fn is_none(text: &str) -> bool {
    ["none", "null", "n/a", "na"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The name that `text` ends with: letters, digits, `_`, `-`, `.`, `/`, after a blank or a bracket.
fn name_at_end(text: &str) -> Option<&str> {
    let text = text.trim_end_matches([' ', '\t']);
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    let name = text.trim_end_matches(is_part);
    let (before, name) = text.split_at_checked(name.len())?;
    let is_free =
        before.chars().next_back().is_none_or(|letter| letter.is_whitespace() || ",;([{|'\"".contains(letter));
    let begins_well = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    (is_free && begins_well).then_some(name)
}

/// The word that `text` begins with, up to a blank, a bracket, a comma or a quote.
fn value_at_start(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t']);
    let end = text.find(|letter: char| letter.is_whitespace() || ",;)]}|'\"".contains(letter));
    // `3,502` is one number.
    let grouped = text.find(|letter: char| letter.is_whitespace() || ";)]}|'\"".contains(letter)).unwrap_or(text.len());
    let whole = text.get(..grouped).map(|text| text.trim_end_matches(',')).filter(|text| number::parse(text).is_ok());
    whole.or_else(|| text.get(..end.unwrap_or(text.len()))).filter(|text| !text.is_empty())
}

/// ` accuracy, metricValue: 0.5}`
fn metric_and_value(text: &str) -> Option<(&str, &str)> {
    let (inside, _) = text.split_once('}')?;
    let (name, value) = inside.split_once(',')?;
    let (key, value) = value.split_once(':')?;
    (key.trim() == "metricValue" && !name.trim().is_empty()).then_some((name.trim(), value.trim()))
}
