//! What `parse` found, for people and for programs.

use serde_json::{Value as Json, json};

use kubebench_extract::log_files::Kept;
use kubebench_extract::measure::Measured;
use kubebench_format::result::redact_names;
use kubebench_format::result::v1::Metric;
use kubebench_syntax::diag::render::{Format, on_one_line};
use kubebench_syntax::redact::Redactor;
use kubebench_syntax::text::WIDEST;

/// The metrics, and whether a run with these logs would count.
pub(super) struct Answer {
    metrics: Vec<Metric>,
    is_valid: bool,
    /// Why the run would not count, and what else is missing.
    reasons: Vec<String>,
    /// What tools say of their own runs, by name: the run counts.
    cautions: Vec<(&'static str, String)>,
}

impl Answer {
    /// Takes what was measured, without the secrets that logs hold.
    pub(super) fn of(measured: Measured, redactor: &Redactor) -> Self {
        let clean = |text: &str| redactor.text(text).into_owned();
        let mut metrics = measured.metrics;
        redact_names(&mut metrics);
        let mut reasons: Vec<String> = measured.invalid.into_iter().map(|reason| reason.message).collect();
        let is_valid = reasons.is_empty();
        for metric in metrics.iter().filter(|metric| metric.value.is_none() && !Kept::is_left_out(metric)) {
            let why = metric.reason.as_deref().unwrap_or("it was not found");
            if !reasons.iter().any(|known| known.contains(&metric.name) && known.ends_with(why)) {
                reasons.push(format!("`{}` has no value: {why}", metric.name));
            }
        }
        for reason in &mut reasons {
            *reason = clean(reason);
        }
        for metric in &mut metrics {
            metric.reason = metric.reason.as_deref().map(clean);
            metric.labels.values_mut().for_each(|value| *value = clean(value));
        }
        let remarks = measured.cautions.into_iter();
        let cautions = remarks.map(|remark| (remark.caution.name(), clean(&remark.reason.message))).collect();
        Self { metrics, is_valid, reasons, cautions }
    }

    /// Returns true when everything that logs can hold was found, and the run would count.
    pub(super) fn is_complete(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Returns the answer in `format`; only JSON differs from what people read.
    pub(super) fn text(&self, format: Format) -> String {
        if format == Format::Json { format!("{:#}\n", self.as_json()) } else { self.table() }
    }

    fn as_json(&self) -> Json {
        let metric = |metric: &Metric| {
            json!({
                "name": metric.name,
                "value": metric.value,
                "nonFinite": metric.non_finite,
                "unit": metric.unit,
                "labels": metric.labels,
                "n": metric.n,
                "source": {"log": metric.source.artifact, "line": metric.source.line},
                "reason": metric.reason,
            })
        };
        let metrics: Vec<Json> = self.metrics.iter().map(metric).collect();
        json!({
            "schemaVersion": 1,
            "metrics": metrics,
            "valid": self.is_valid,
            "reasons": self.reasons,
            "cautions": self.cautions.iter().map(|(name, message)| json!({"name": name, "message": message})).collect::<Vec<_>>(),
        })
    }

    fn table(&self) -> String {
        let mut rows = vec![["METRIC", "VALUE", "UNIT", "N", "FROM"].map(str::to_owned)];
        rows.extend(self.metrics.iter().map(row));
        let width = |column: usize| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
                .min(WIDEST)
        };
        let [names, values, units, counts] = [0, 1, 2, 3].map(width);
        let mut text = String::new();
        for [name, value, unit, n, from] in rows.iter().filter(|_| !self.metrics.is_empty()) {
            let line = format!("{name:<names$}  {value:>values$}  {unit:<units$}  {n:>counts$}  {from}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push_str(match (self.is_valid, self.reasons.is_empty()) {
            (false, _) => "invalid:\n",
            (true, false) => "valid, but not complete:\n",
            (true, true) => "valid\n",
        });
        for reason in &self.reasons {
            text.push_str(&format!("- {}\n", on_one_line(reason)));
        }
        if !self.cautions.is_empty() {
            text.push_str("caution:\n");
        }
        for (_, message) in &self.cautions {
            text.push_str(&format!("- {}\n", on_one_line(message)));
        }
        text
    }
}

fn row(metric: &Metric) -> [String; 5] {
    let labels: Vec<String> = metric.labels.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    let place = match (&metric.source.artifact, metric.source.line) {
        (Some(log), Some(line)) => format!("{log}:{line}"),
        (Some(log), None) => log.clone(),
        (None, _) => String::new(),
    };
    let from = match (&metric.reason, metric.source.line) {
        (Some(reason), Some(_)) if !reason.starts_with(&place) => format!("{place}: {reason}"),
        (Some(reason), _) => reason.clone(),
        (None, _) => place,
    };
    [
        on_one_line(&format!("{}{labels}", metric.name)).into_owned(),
        metric.value.map_or_else(|| "-".to_owned(), shown),
        on_one_line(metric.unit.as_deref().filter(|unit| *unit != "1").unwrap_or_default()).into_owned(),
        metric.n.to_string(),
        on_one_line(&from).into_owned(),
    ]
}

/// Spells a value so that it reads back the same, with an exponent where there would be a row of zeros.
fn shown(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e15).contains(&size) { format!("{value}") } else { format!("{value:e}") }
}
