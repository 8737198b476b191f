//! OpenMetrics: a gauge for each metric, the number of runs behind it, and what they were.
//!
//! No timestamps: a scrape would refuse old ones. When the session began is in `kubebench_session_info`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};

use super::latest::{Key, Last, Latest, Place};
use super::omissions::Omissions;
use super::text::number;
use super::{Exporter, Sink};
use kubebench_format::result::{BenchmarkResult, plain};
use kubebench_syntax::invariant::Invariant as _;

/// Names of gauges that mean something else here.
const RESERVED: [&str; 3] = ["kubebench_runs", "kubebench_session", "kubebench_session_info"];

pub(super) struct OpenMetrics {
    sink: Sink,
    latest: Latest,
    left: Omissions,
}

impl OpenMetrics {
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, latest: Latest::default(), left: Omissions::default() }
    }
}

/// The samples of one name.
#[derive(Default)]
struct Family {
    unit: Option<String>,
    lines: Vec<(String, f64)>,
}

impl Exporter for OpenMetrics {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        self.left.samples(result);
        self.latest.add(result);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
        let (mut runs, mut infos) = (String::new(), String::new());
        for (place, last) in &self.latest.places {
            let base = labels_of(place, last);
            runs.push_str(&format!("kubebench_runs{{{}}} {}\n", joined(&base), last.runs));
            infos.push_str(&format!("kubebench_session_info{{{}}} 1\n", joined(&info(&base, last))));
            for (key, measured) in &last.metrics {
                let Some(value) = measured.median() else {
                    self.left.add("metrics without a value", 1);
                    continue;
                };
                let (name, unit, labels) = series(key, &base);
                let labels = joined(&labels);
                if !seen.insert((name.clone(), labels.clone())) {
                    self.left.add("metrics whose names collide", 1);
                    continue;
                }
                let family = families.entry(name).or_default();
                family.unit = family.unit.take().or(unit);
                family.lines.push((labels, value));
            }
        }
        for (name, Family { unit, lines }) in families {
            writeln!(self.sink, "# TYPE {name} gauge")?;
            if let Some(unit) = unit {
                writeln!(self.sink, "# UNIT {name} {unit}")?;
            }
            writeln!(self.sink, "# HELP {name} Median of the last session.")?;
            for (labels, value) in lines {
                writeln!(self.sink, "{name}{{{labels}}} {}", number(value))?;
            }
        }
        if !runs.is_empty() {
            write!(self.sink, "# TYPE kubebench_runs gauge\n# HELP kubebench_runs Runs of the last session.\n{runs}")?;
            write!(
                self.sink,
                "# TYPE kubebench_session info\n# HELP kubebench_session What the last session was.\n{infos}"
            )?;
        }
        self.sink.write_all(b"# EOF\n")?;
        self.sink.flush()?;
        Ok(self.left)
    }
}

type Labels = Vec<(String, String)>;

fn labels_of(place: &Place, last: &Last) -> Labels {
    let mut labels = Labels::new();
    add(&mut labels, "benchmark", &place.benchmark);
    add(&mut labels, "case", &place.case);
    add(&mut labels, "target", &place.target);
    if last.run.synthetic {
        add(&mut labels, "synthetic", "true");
    }
    labels
}

fn info(base: &Labels, last: &Last) -> Labels {
    let BenchmarkResult { metadata, run, source, environment, .. } = &last.run;
    let mut labels = base.clone();
    add(&mut labels, "case_name", &metadata.case_name);
    add(&mut labels, "session", &run.session);
    add(&mut labels, "started_at", &run.started_at);
    add(&mut labels, "run_digest", &source.run_digest);
    add(&mut labels, "fingerprint", &environment.fingerprint);
    if let Some(commit) = &source.commit {
        add(&mut labels, "commit", commit);
    }
    for (name, value) in &metadata.spelled_params() {
        add(&mut labels, &format!("param_{name}"), &plain(value));
    }
    for (name, value) in &metadata.labels {
        add(&mut labels, &format!("label_{name}"), value);
    }
    labels
}

/// Adds a label under a name that is allowed and not taken.
fn add(labels: &mut Labels, name: &str, value: &str) {
    let allowed = sanitized(name);
    let is_taken = |name: &str| labels.iter().any(|(taken, _)| taken == name);
    let numbered = (2..).map(|number| format!("{allowed}_{number}"));
    let free = std::iter::once(allowed.clone()).chain(numbered).find(|name| !is_taken(name));
    labels.push((free.expected("a number that is free"), value.to_owned()));
}

fn joined(labels: &Labels) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect::<Vec<_>>().join(",")
}

/// Returns the name, the unit and the labels of a metric's series.
fn series(key: &Key, base: &Labels) -> (String, Option<String>, Labels) {
    let mut labels = base.clone();
    let words = key.unit.as_deref().and_then(words);
    let mut name = format!("kubebench_{}", sanitized(&key.name));
    // A name ends in its unit where it has one: OpenMetrics asks for it.
    if let Some(words) = &words
        && !name.ends_with(&format!("_{words}"))
    {
        name = format!("{name}_{words}");
    }
    if RESERVED.contains(&name.as_str()) {
        name.push_str("_value");
    }
    if sanitized(&key.name) != key.name.replace('-', "_") || key.name.contains('_') {
        add(&mut labels, "metric", &key.name);
    }
    if let (Some(unit), None) = (&key.unit, &words) {
        add(&mut labels, "unit", unit);
    }
    for (label, value) in &key.labels {
        add(&mut labels, &format!("label_{label}"), value);
    }
    (name, words, labels)
}

/// Returns `text` with an underscore for each character that names do not have.
fn sanitized(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Returns a unit as the end of a name, such as `tokens_per_second`, if it is one that names can have.
fn words(unit: &str) -> Option<String> {
    let mut parts = unit.split('/');
    let mut words = vec![word(parts.next()?)?];
    for part in parts {
        let part = word(part)?;
        words.push(part.strip_suffix('s').filter(|_| part.len() > 3).unwrap_or(&part).to_owned());
    }
    Some(words.join("_per_"))
}

fn word(unit: &str) -> Option<String> {
    let known = match unit {
        "1" => return None,
        "s" => "seconds",
        "ms" => "milliseconds",
        "us" | "µs" | "μs" => "microseconds",
        "ns" => "nanoseconds",
        "min" => "minutes",
        "h" => "hours",
        "B" => "bytes",
        "kB" | "KB" => "kilobytes",
        "MB" => "megabytes",
        "GB" => "gigabytes",
        "TB" => "terabytes",
        "KiB" => "kibibytes",
        "MiB" => "mebibytes",
        "GiB" => "gibibytes",
        "TiB" => "tebibytes",
        "J" => "joules",
        "W" => "watts",
        "Hz" => "hertz",
        "%" => "percent",
        other => other,
    };
    let fits = known.starts_with(|first: char| first.is_ascii_alphabetic()) && sanitized(known) == known;
    fits.then(|| known.to_owned())
}
