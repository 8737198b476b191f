//! What a project's benchmarks and targets are called, as far as its files can be read.

use std::collections::BTreeSet;

use super::Project;
use crate::app::start::{Start, VERSION};
use kubebench_compiler::compile::{Input, Workspace};
use kubebench_format::schema::DocumentKind;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{self, Node};

/// The names that a person may type, in order. Nothing is compiled for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub benchmarks: Vec<String>,
    pub targets: Vec<String>,
}

impl Names {
    /// Returns those of the project around the folder where a command starts.
    pub fn around(start: &Start) -> Option<Self> {
        let mut project = Project::find(start).ok()?;
        let file = project.file.take();
        let has_file = file.is_some();
        let workspace = Workspace::open(file, VERSION);
        let settings = workspace.project().filter(|_| has_file);
        let targets = settings.map(|project| project.targets.iter().map(|target| target.name.clone()).collect());
        let texts = project.read(&workspace.spec_dirs(), &BTreeSet::new()).unwrap_or_default();
        let benchmarks: BTreeSet<String> = texts.inputs.into_iter().filter_map(benchmark).collect();
        Some(Self { benchmarks: benchmarks.into_iter().collect(), targets: targets.unwrap_or_default() })
    }
}

/// Returns the name of a benchmark whose text has one.
fn benchmark(Input { path, bytes }: Input) -> Option<String> {
    let root = yaml::read(SourceId(0), &Source::new(path, &bytes)).root?;
    let is_benchmark = root.get("kind").and_then(Node::as_text) == Some(DocumentKind::Benchmark.name());
    root.get("metadata")?.get("name")?.as_text().filter(|_| is_benchmark).map(str::to_owned)
}
