//! What must not change a verdict: the order of files, the unit, labels that distinguish nothing; and what must mirror it.

use kubebench_format::result::v1::BenchmarkResult;
use serde_json::{Value as Json, json};

use super::{Project, SPEC, Special, verdict};

/// Numbers between 0 and 1, the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Sessions around `level` that vary by about one percent.
    fn sessions(&mut self, level: f64, count: usize) -> Vec<f64> {
        let mut one = || level * (1.0 + 0.02 * (self.next() + self.next() + self.next() - 1.5));
        (0..count).map(|_| one()).collect()
    }
}

/// Histories with a last session, or a last level, that is the same, a little or much worse or better.
fn histories() -> Vec<Vec<f64>> {
    let mut numbers = Numbers(7);
    let mut all = Vec::new();
    for change in [1.0, 0.985, 0.97, 0.94, 1.05] {
        for last in [1, 6] {
            let mut values = numbers.sessions(100.0, 14);
            values.extend(numbers.sessions(100.0 * change, last));
            all.push(values);
        }
    }
    all
}

/// What a gate says that must not change: verdict, reason, change and p to many digits.
fn said(line: &Json) -> (String, String, Vec<String>) {
    let number = |name: &str| line[name].as_f64().map_or_else(String::new, |value| format!("{value:.6e}"));
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("reason"), ["change", "p", "detectable"].iter().map(|name| number(name)).collect())
}

fn gated(values: &[f64], change: impl Fn(&mut BenchmarkResult, usize)) -> (String, String, Vec<String>) {
    let mut project = Project::with(SPEC);
    for (at, value) in values.iter().enumerate() {
        project.session_as(*value, &Special::default(), |made| change(made, at));
    }
    said(&project.gate(&[]).1)
}

#[test]
fn units_labels_and_paths_change_no_verdict() {
    let mut seen = std::collections::BTreeSet::new();
    for values in histories() {
        let plain = gated(&values, |_, _| {});
        seen.insert(plain.0.clone());
        for factor in [1024.0, 1.0 / 4096.0] {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            assert_eq!(gated(&scaled, |_, _| {}), plain, "times {factor}: {values:?}");
        }
        let labelled = gated(&values, |made, at| {
            made.metadata.labels.insert("team".to_owned(), format!("team-{}", at % 3));
        });
        assert_eq!(labelled, plain, "labels of the benchmark: {values:?}");
        // Paths follow from ids: the order in which files are found is another one.
        let renamed = gated(&values, |made, at| {
            let number = u32::try_from(at).unwrap().wrapping_mul(2_654_435_761);
            made.run.id = format!("{number:08x}{}", made.run.id.get(8..).unwrap());
        });
        assert_eq!(renamed, plain, "names of files: {values:?}");
    }
    assert!(seen.len() >= 3, "several verdicts were looked at: {seen:?}");
}

#[test]
fn reversed_sides_mirror_groups_and_pairs() {
    let mut numbers = Numbers(11);
    for (change, is_paired) in [(1.0, false), (0.93, false), (1.06, false), (1.0, true), (0.95, true), (1.04, true)] {
        let mut project = Project::with(SPEC);
        let variant = |name: &str| Special { params: Some(("variant".to_owned(), json!(name))), ..Special::default() };
        let (first, second) = (numbers.sessions(100.0, 8), numbers.sessions(100.0 * change, 8));
        for (one, other) in first.iter().zip(&second) {
            project.session(*one, &variant("ada"));
            project.session(*other, &Special { same_session: is_paired, ..variant("bob-the-second") });
        }
        let line = |one: &str, other: &str| project.json(&["compare", one, other]).1["lines"][0].clone();
        let (there, back) =
            (line("variant:ada", "variant:bob-the-second"), line("variant:bob-the-second", "variant:ada"));
        let method = if is_paired { "signFlipExact" } else { "mannWhitneyExact" };
        assert_eq!((there["method"].as_str(), back["method"].as_str()), (Some(method), Some(method)));
        let mirrored = match verdict(&there) {
            "regressed" => "improved",
            "improved" => "regressed",
            other => other,
        };
        assert_eq!(verdict(&back), mirrored, "{there:#} {back:#}");
        let share = |value: &Json| value.as_f64().unwrap().ln_1p();
        assert!((share(&there["change"]) + share(&back["change"])).abs() < 1e-9, "{there:#} {back:#}");
        for (low, high) in [(0, 1), (1, 0)] {
            let sum = share(&there["interval"][low]) + share(&back["interval"][high]);
            assert!(sum.abs() < 1e-9, "{there:#} {back:#}");
        }
        assert!((there["p"].as_f64().unwrap() - back["p"].as_f64().unwrap()).abs() < 1e-12);
    }
}
