//! Fixtures of specs: kept logs, checked against the values that the metrics must have in them.
//!
//! A fixture is used as the log of any role and replica, and for any file that a metric is read from.

use std::io::{self, BufRead};

use crate::lower::Unreadable;
use crate::model::{Benchmark, Expectation, Fixture};
use kubebench_extract::log_files::Kept;
use kubebench_extract::rules::Rules;
use kubebench_format::result::v1::Metric;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::redact::Redactor;

/// How far a value may be from the expected one, as a share of it.
const TOLERANCE: f64 = 1e-9;

/// Opens the kept log at a path below the project root.
pub(crate) type OpenLog = dyn Fn(&str) -> Result<Box<dyn BufRead>, Unreadable>;

/// Reads the fixtures of `benchmark` by its `rules`, and reports those that cannot be read or give other values.
///
/// `folders` hold specs or manifests: no log belongs there.
pub fn check(benchmark: &Benchmark, rules: &Rules, folders: &[&str], open: &OpenLog, diagnostics: &mut Diagnostics) {
    for fixture in &benchmark.fixtures {
        if let Some(folder) = folders.iter().find(|folder| lies_in(&fixture.log, folder)) {
            let fault =
                unreadable(fixture, format!("`{}` is in `{folder}`, which is not a folder for logs", fixture.log));
            diagnostics.push(fault.help("move it to another folder, such as `fixtures/`"));
            continue;
        }
        match measured(fixture, rules, open) {
            Ok(metrics) => {
                for (name, expectation) in &fixture.expect {
                    diagnostics.extend(difference(name, *expectation, &metrics, fixture));
                }
            }
            Err(fault) => diagnostics.push(fault),
        }
    }
}

fn lies_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the metrics that the fixture is about, as its log has them.
fn measured(fixture: &Fixture, rules: &Rules, open: &OpenLog) -> Result<Vec<Metric>, Diagnostic> {
    let names: Vec<String> = fixture.expect.keys().cloned().collect();
    let rules = rules.clone().of_any_log().without_a_run().about(&names);
    let mut kept = Kept::new(|_| open(&fixture.log).map_err(|reason| words(&reason)));
    let text = open(&fixture.log).map_err(|reason| refused(fixture, reason))?;
    let failed = |error: io::Error| refused(fixture, Unreadable::Failed(error.to_string()));
    kept.read(&rules, ("log", 0), &fixture.log, text).map_err(failed)?;
    Ok(kept.measure(&rules).metrics)
}

/// Says how what was found differs from what is expected.
fn difference(name: &str, expectation: Expectation, metrics: &[Metric], fixture: &Fixture) -> Option<Diagnostic> {
    let found: Vec<&Metric> = metrics.iter().filter(|metric| metric.name == name).collect();
    let is_right = |metric: &&Metric| match (expectation.value, metric.value) {
        (Some(wanted), Some(value)) => (value - wanted).abs() <= TOLERANCE * wanted.abs(),
        (wanted, value) => wanted.is_none() && value.is_none(),
    };
    // Of several that differ in labels, one may be meant; that none has a value is reported for all.
    let agrees = match expectation.value {
        Some(_) => found.iter().any(is_right),
        None => found.iter().all(is_right),
    };
    if agrees {
        return None;
    }
    let valued = found.iter().find_map(|metric| Some((metric.value?, metric.source.line)));
    let wanted = expectation.value.map_or_else(|| "no value".to_owned(), |value| value.to_string());
    let log = &fixture.log;
    let fault = |message: String| Diagnostic::at(&code::KB0361, expectation.span, message);
    if let Some((value, line)) = valued {
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        let fault = fault(format!("`{name}` is {value} in `{log}`{line}, but the fixture expects {wanted}"))
            .note("a run with this log would record the value that was found");
        return Some(fault.help("correct the metric, or the expected value"));
    }
    let reason = found.iter().find_map(|metric| metric.reason.as_deref()).unwrap_or("nothing in the log gives a value");
    let fault = fault(format!("`{name}` has no value in `{log}`, but the fixture expects {wanted}"))
        .note(Redactor::default().text(reason).into_owned());
    Some(fault.help("correct the metric, or write `null` where the log has no value"))
}

fn refused(fixture: &Fixture, reason: Unreadable) -> Diagnostic {
    let log = &fixture.log;
    match reason {
        Unreadable::Absent { beside } => {
            let fault =
                unreadable(fixture, format!("there is no file `{log}`")).note("paths start at the project root");
            match did_you_mean(log, beside.iter().map(String::as_str)) {
                Some(close) => fault.did_you_mean(fixture.log_span, close),
                None => fault.help("correct the path, or add the log to the repository"),
            }
        }
        reason => unreadable(fixture, format!("`{log}` cannot be read: {}", words(&reason)))
            .help("name a regular file of the project, such as `fixtures/train.log`"),
    }
}

fn unreadable(fixture: &Fixture, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0360, fixture.log_span, message)
}

fn words(reason: &Unreadable) -> String {
    match reason {
        Unreadable::Absent { .. } => "there is no such file".to_owned(),
        Unreadable::Refused(reason) | Unreadable::Failed(reason) => reason.clone(),
        Unreadable::TooLarge => "it is too large".to_owned(),
    }
}
