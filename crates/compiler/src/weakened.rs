//! What a change weakens of the requirements of its base, and the base's gates that still apply to it.
//!
//! The base is the commit from which the change began. A gate of the base holds until it is merged away; where the change makes it
//! stricter, the stricter one does.

mod at;
mod found;
mod gates;
mod limits;
mod reading;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use crate::compile::{Compilation, Compiled};
use crate::model::target::Settings;
use crate::model::{Benchmark, Gate};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;

use at::At;
use found::Found;
pub use gates::together;

/// A gate that holds of a change.
#[derive(Debug)]
pub struct HeldGate<'c> {
    /// The benchmark whose spec says what its metric is: that of the base, where it has the gate.
    pub benchmark: &'c Benchmark,
    pub gate: Gate,
    /// The cases of the base and of the change: id, and name as people read it.
    pub cases: Vec<(String, String)>,
    /// Where findings about it are in the spec of the change; nowhere where that is gone.
    pub span: Span,
}

/// What holds of a change.
#[derive(Debug, Default)]
pub struct Held<'c> {
    pub gates: Vec<HeldGate<'c>>,
    /// What the change weakens, each once for all benchmarks.
    pub weakened: Diagnostics,
    /// The gates that go with the benchmarks that the change removes or renames.
    pub gone: Diagnostics,
    /// What of the base is unknown, which is no fault of the change.
    pub unknown: Diagnostics,
    /// Runs that could use more than a budget of the base, which the change raises.
    pub exceeded: Diagnostics,
    found: Found,
}

/// Two compilations of one project.
#[derive(Clone, Copy)]
pub struct Change<'c> {
    /// That of its base.
    pub base: &'c Compilation,
    /// That of what is checked out.
    pub head: &'c Compilation,
}

/// The target and the name of a benchmark, by which it is known across commits.
type Key<'c> = (&'c str, &'c str);

impl<'c> Change<'c> {
    /// Returns the gates of the benchmarks that are `selected`, and what the change weakens of them and of the whole project.
    pub fn held(self, selected: impl Fn(&Compiled) -> bool) -> Held<'c> {
        let of = |compilation: &'c Compilation| -> BTreeMap<Key<'c>, &'c Compiled> {
            let own = compilation.benchmarks.iter().filter(|compiled| selected(compiled));
            own.map(|compiled| (key(&compiled.benchmark), compiled)).collect()
        };
        let (before, now) = (of(self.base), of(self.head));
        let mut held = Held::default();
        // A project with errors cannot be compared; compiling it fails by itself.
        if self.head.project.is_none() {
            return held;
        }
        if !self.begins() {
            settings::compare(self, &mut held.weakened);
        }
        held.unknown = self.unknown();
        let keys: BTreeSet<Key<'c>> = before.keys().chain(now.keys()).copied().collect();
        for key in keys {
            let (before, now) = (before.get(&key).copied(), now.get(&key).copied());
            // A spec with errors cannot be compared; compiling it fails by itself.
            if now.is_none() && before.is_some_and(|before| self.head.faulty.contains(&before.benchmark.path)) {
                continue;
            }
            gates::hold(self, before, now, &mut held);
            if let Some((before, now)) = before.zip(now) {
                limits::hold(At { change: self, before, now }, &mut held);
            }
        }
        let found = std::mem::take(&mut held.found);
        held.weakened.extend(found.weakened());
        held.gone = found.removed();
        held
    }

    /// Returns the settings that hold of the whole project: those of the base, and of the change where they are stricter; nothing where
    /// the base has no project.
    pub fn settings(self) -> Option<Settings> {
        settings::held(self)
    }

    /// Returns whether the change begins the project.
    fn begins(self) -> bool {
        self.base.sources.iter().next().is_none()
    }

    /// Says which specs of the base demand what is unknown, unless they are still so.
    fn unknown(self) -> Diagnostics {
        let mut unknown = Diagnostics::default();
        for path in self.base.faulty.difference(&self.head.faulty) {
            let reason = self.base.diagnostics.iter().find(|fault| fault.path(&self.base.sources) == path);
            let why = reason.map_or_else(String::new, |fault| format!(" ({}: {})", fault.code.id, fault.message));
            let message =
                format!("what this file requires at the base is unknown, because it does not compile there{why}");
            unknown.push(Diagnostic::in_file(&code::KB0463, path.as_str(), message));
        }
        unknown
    }
}

fn key(benchmark: &Benchmark) -> Key<'_> {
    (&benchmark.target.name, &benchmark.name)
}

/// Returns a number as people write it.
/// Says what differs from the base.
fn is_now(what: &str, now: impl Display, before: impl Display) -> String {
    format!("{what} is {now}; at the base {before}")
}

fn amount(number: f64) -> String {
    ((number * 1e6).round() / 1e6).to_string()
}

fn weakening(place: Place, message: String) -> Diagnostic {
    Diagnostic::new(&code::KB0463, place, message).note("the requirement of the base applies until this is merged")
}
