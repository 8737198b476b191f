//! The specs of another commit, to compare with.

use crate::app::base::Base;
use crate::app::project::CompiledProject;
use kubebench_compiler::compile::Compilation;
use kubebench_compiler::difference::{Difference, OfBenchmark, key};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Severity};
use kubebench_syntax::text::SourceMap;

/// What another commit says about the benchmarks.
pub struct Since {
    revision: String,
    /// What differs from it.
    pub difference: Difference,
    /// The files of that commit that say nothing, because something is wrong with them.
    pub not_compared: Vec<Fault>,
}

/// A file of the other commit that does not compile, and the first reason.
pub struct Fault {
    /// The file.
    pub path: String,
    /// The code of its first error.
    pub code: &'static str,
    /// What that says.
    pub message: String,
}

impl Since {
    /// Takes what the base of a change says.
    pub(super) fn of(project: &CompiledProject, base: &Base) -> Self {
        let selection = &project.selection;
        let difference = project.sides(base).difference(|compiled| selection.has(compiled));
        Self { revision: base.revision.clone(), difference, not_compared: Fault::of(project, base) }
    }

    /// Returns what differs about a benchmark.
    pub(super) fn about(&self, benchmark: &Benchmark) -> Option<&OfBenchmark> {
        self.difference.benchmarks.get(&key(benchmark))
    }

    /// Says which files could not be compared, and what that does to the answer.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.not_compared.iter().map(|fault| fault.note(&self.revision))
    }
}

impl Fault {
    /// Returns the files of the base of a change that do not compile.
    pub fn of(project: &CompiledProject, base: &Base) -> Vec<Self> {
        let Compilation { faulty, diagnostics, sources, .. } = &base.compilation;
        let asked = faulty.iter().filter(|path| *path == PROJECT_FILE || project.selection.has_path(path));
        let of = |path: &String| {
            let reason = diagnostics.iter().find(|fault| is_error_in(path, fault, sources))?;
            Some(Self { path: path.clone(), code: reason.code.id, message: reason.message.clone() })
        };
        asked.filter_map(of).collect()
    }

    /// Says that a file of `revision` could not be compared, and what that does to the answer.
    pub fn note(&self, revision: &str) -> String {
        let Self { path, code, message } = self;
        let what = if path == PROJECT_FILE { "everything" } else { "what it held" };
        format!("note: `{path}` of `{revision}` does not compile ({code}: {message}), so {what} counts as new")
    }
}

fn is_error_in(path: &str, fault: &Diagnostic, sources: &SourceMap) -> bool {
    fault.severity == Severity::Error && fault.path(sources) == path
}
