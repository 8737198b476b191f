//! Secrets out of the texts of a result. What identifies something stays as it is: a result that cannot be found, compared
//! or read again is lost.

use super::v1::BenchmarkResult;
use crate::redact::Redactor;

/// Takes secrets out of every text of `result` that a program, a person or a machine may have written into it.
pub fn redact(result: &mut BenchmarkResult, redactor: &Redactor) {
    let clean = |text: &mut String| {
        if let std::borrow::Cow::Owned(clean) = redactor.text(text) {
            *text = clean;
        }
    };
    result.metadata.labels.values_mut().for_each(clean);
    result.metadata.params.values_mut().for_each(|value| redactor.json(value));
    redactor.json(&mut result.inputs);
    result.run.reasons.iter_mut().for_each(|reason| clean(&mut reason.message));
    for exit in &mut result.run.exits {
        // A private key goes over several lines.
        let lines = redactor.text(&exit.last_lines.join("\n")).into_owned();
        exit.last_lines = lines.lines().map(str::to_owned).collect();
    }
    result.environment.software.values_mut().for_each(clean);
    // Names come from logs too. What a variable happens to hold must not rename a metric, so that forms alone count.
    let forms = Redactor::default();
    for metric in &mut result.metrics {
        metric.name = forms.text(&metric.name).into_owned();
        metric.unit.iter_mut().for_each(|unit| *unit = forms.text(unit).into_owned());
        metric.labels.values_mut().for_each(clean);
        metric.reason.iter_mut().for_each(clean);
        metric.source.selector.iter_mut().for_each(clean);
        metric.source.artifact.iter_mut().for_each(clean);
    }
    result.validity.checks.iter_mut().for_each(|check| clean(&mut check.observed));
    result.artifacts.iter_mut().for_each(|artifact| clean(&mut artifact.name));
    for native in result.native.values_mut() {
        clean(&mut native.artifact);
        native.text.iter_mut().for_each(clean);
    }
    result.annotations.values_mut().for_each(clean);
}
