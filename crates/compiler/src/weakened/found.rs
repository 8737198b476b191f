//! What a change weakens, each once: a fragment may weaken it for many benchmarks.

use std::collections::BTreeMap;

use super::weakening;
use crate::model::Benchmark;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostics, Place};
use kubebench_syntax::text::first_of;

/// The maximum number of names of benchmarks in a message.
const NAMED: usize = 4;

/// What is said of one benchmark, and of several.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) alone: String,
    pub(super) shared: String,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { alone: text.clone(), shared: text }
    }
}

#[derive(Debug)]
struct One {
    place: Place,
    said: Said,
    names: Vec<String>,
}

/// What was found of all benchmarks.
#[derive(Debug, Default)]
pub(super) struct Found {
    all: Vec<One>,
    known: BTreeMap<(String, String), usize>,
    /// The targets from which benchmarks are gone: by path, name, and the metrics of their gates.
    gone: BTreeMap<(String, String, String), Vec<String>>,
}

impl Found {
    /// Adds what is weaker of a benchmark.
    pub(super) fn weaker(&mut self, place: Place, benchmark: &Benchmark, said: impl Into<Said>) {
        let said = said.into();
        let key = (format!("{place:?}"), said.shared.clone());
        let at = *self.known.entry(key).or_insert_with(|| {
            self.all.push(One { place, said, names: Vec::new() });
            self.all.len() - 1
        });
        if let Some(one) = self.all.get_mut(at).filter(|one| !one.names.contains(&benchmark.name)) {
            one.names.push(benchmark.name.clone());
        }
    }

    /// Adds the gates of a benchmark that is gone.
    pub(super) fn gone(&mut self, Benchmark { name, target, path, gates, .. }: &Benchmark) {
        if !gates.is_empty() {
            let metrics = listed(gates.iter().map(|gate| gate.metric.as_str()));
            self.gone.entry((path.clone(), name.clone(), metrics)).or_default().push(target.name.clone());
        }
    }

    /// Returns what is weaker.
    pub(super) fn weakened(&self) -> Diagnostics {
        let mut weakened = Diagnostics::default();
        for One { place, said, names } in &self.all {
            let message = match names.as_slice() {
                [_] => said.alone.clone(),
                names => {
                    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                    format!("{} ({} benchmarks: {})", said.shared, names.len(), first_of(&shown, NAMED))
                }
            };
            weakened.push(weakening(place.clone(), message));
        }
        weakened
    }

    /// Returns the gates that go with their benchmarks.
    pub(super) fn removed(&self) -> Diagnostics {
        let mut removed = Diagnostics::default();
        for ((path, name, metrics), targets) in &self.gone {
            let of = if targets.len() == 1 { "the target" } else { "the targets" };
            let quoted: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
            let targets = listed(quoted.iter().map(String::as_str));
            let message =
                format!("the benchmark `{name}` is gone from {of} {targets}, and the base has gates for it: {metrics}");
            removed.push(weakening(Place::File(path.clone()), message));
        }
        removed
    }
}
