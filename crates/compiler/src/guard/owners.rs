//! The names of all benchmarks and suites, which know whether a rule asked for one of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The names of all benchmarks and suites, as one spec asks for them.
#[derive(Debug, Default)]
pub struct Owners {
    names: Arc<BTreeSet<String>>,
    asked: AtomicBool,
}

impl Owners {
    pub(crate) fn new(names: Arc<BTreeSet<String>>) -> Self {
        Self { names, asked: AtomicBool::new(false) }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.asked().contains(name)
    }

    pub(super) fn any(&self, is: impl Fn(&str) -> bool) -> bool {
        self.asked().iter().any(|name| is(name))
    }

    /// Returns true once something depends on the names.
    pub(crate) fn were_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    fn asked(&self) -> &BTreeSet<String> {
        self.asked.store(true, Ordering::Relaxed);
        &self.names
    }
}
