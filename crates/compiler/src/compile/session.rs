//! A project whose specs change one by one, compiled after each change.
//!
//! What comes out is what a compilation of all of them gives: `tests/whole/again.rs` compares the two after random changes.

use std::collections::BTreeMap;

use super::memory::Memory;
use super::{Compilation, Input, Workspace};
use kubebench_syntax::text::{Source, SourceId};

/// A project that is compiled again and again, each time only what depends on a change.
pub struct Session {
    workspace: Workspace,
    specs: BTreeMap<String, SourceId>,
    memory: Memory,
}

impl Session {
    /// Begins with the project of `workspace`, and no specs. When the project file changes, another session begins.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace, specs: BTreeMap::new(), memory: Memory::default() }
    }

    /// Adds a spec, or replaces its text.
    pub fn set(&mut self, Input { path, bytes }: Input) {
        let source = Source::new(path.as_str(), &bytes);
        let sources = &mut self.workspace.sources;
        match self.specs.get(&path) {
            Some(id) if sources.get(*id) == Some(&source) => {}
            Some(id) => sources.replace(*id, source),
            None => {
                let id = sources.add(source);
                self.specs.insert(path, id);
            }
        }
    }

    /// Removes the spec at `path`.
    pub fn remove(&mut self, path: &str) {
        self.specs.remove(path);
    }

    /// Iterates over the paths of the specs.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.specs.keys().map(String::as_str)
    }

    /// Returns the project as it is open.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Compiles what is there.
    pub fn compile(&mut self) -> Compilation {
        let ids: Vec<SourceId> = self.specs.values().copied().collect();
        let compilation = self.workspace.clone().evaluate(&ids, Some(&mut self.memory));
        // The texts of manifests are new in it.
        self.workspace.sources = compilation.sources.clone();
        compilation
    }

    /// Returns the paths of the specs that the last compilation evaluated, in their order.
    pub fn evaluated(&self) -> &[String] {
        self.memory.evaluated()
    }
}
