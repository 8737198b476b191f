//! What of a project was asked for: paths, targets, labels.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use kubebench_compiler::compile::{Compilation, Compiled, CompiledSuite};
use kubebench_compiler::lower::Project;
use kubebench_syntax::diag::what_there_is;

/// What a person asks for; nothing means all.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    /// Specs, or folders of specs.
    pub paths: Vec<PathBuf>,
    /// Targets by name.
    pub targets: Vec<String>,
    /// Labels that benchmarks must have, all of them.
    pub labels: Vec<(String, String)>,
}

/// What of a project was asked for.
pub struct Selection {
    /// Specs and folders by path; nothing means all.
    pub paths: Option<BTreeSet<String>>,
    /// Targets by name; empty means all.
    pub targets: Vec<String>,
    labels: Vec<(String, String)>,
}

impl Selection {
    /// Returns the selection of `selector`, whose paths are `paths` below the root.
    pub fn new(selector: &Selector, paths: BTreeSet<String>) -> Self {
        let paths = (!paths.is_empty()).then_some(paths);
        Self { paths, targets: selector.targets.clone(), labels: selector.labels.clone() }
    }

    /// Refuses targets that `project` does not have.
    pub fn check_targets(&self, project: &Project) -> Result<()> {
        let known = project.targets.iter().map(|target| target.name.as_str());
        match self.targets.iter().find(|name| !known.clone().any(|known| known == *name)) {
            None => Ok(()),
            Some(name) => bail!("there is no target `{name}`; {}", what_there_is(name, known, "targets are")),
        }
    }

    /// Refuses labels that no benchmark has; what specs with faults have is unknown.
    pub fn check_labels(&self, compilation: &Compilation) -> Result<()> {
        let all = &compilation.benchmarks;
        if self.labels.is_empty()
            || !compilation.faulty.is_empty()
            || all.iter().any(|compiled| self.has_labels(compiled))
        {
            return Ok(());
        }
        let labels = || all.iter().map(|compiled| &compiled.benchmark.labels);
        for (key, value) in &self.labels {
            let values: BTreeSet<&str> = labels().filter_map(|labels| labels.get(key)).map(String::as_str).collect();
            if values.contains(value.as_str()) {
                continue;
            }
            let keys: BTreeSet<&str> = labels().flat_map(|labels| labels.keys()).map(String::as_str).collect();
            let hint = if keys.is_empty() {
                "no benchmark has labels (`metadata.labels`)".to_owned()
            } else if values.is_empty() {
                what_there_is(key, keys, "labels are")
            } else {
                what_there_is(value, values, &format!("values of `{key}` are"))
            };
            bail!("no benchmark has the label {key}={value}; {hint}");
        }
        let asked: Vec<String> = self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        bail!("no benchmark has all of the labels {}", asked.join(", "))
    }

    /// Returns true when nothing was asked for, which means all.
    pub fn is_everything(&self) -> bool {
        self.is_only_targets() && self.targets.is_empty()
    }

    /// Returns true when nothing but targets was asked for.
    pub fn is_only_targets(&self) -> bool {
        self.paths.is_none() && self.labels.is_empty()
    }

    /// Returns true when the spec at `path` was asked for.
    pub fn has_path(&self, path: &str) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.iter().any(|asked| Path::new(path).starts_with(asked)))
    }

    /// Returns true when the benchmark was asked for.
    pub fn has(&self, compiled: &Compiled) -> bool {
        let benchmark = &compiled.benchmark;
        self.has_labels(compiled)
            && self.has_path(&benchmark.path)
            && (self.targets.is_empty() || self.targets.contains(&benchmark.target.name))
    }

    /// Returns true when the suite itself was asked for.
    pub fn has_suite(&self, CompiledSuite { suite, .. }: &CompiledSuite) -> bool {
        self.labels.is_empty()
            && self.has_path(&suite.path)
            && (self.targets.is_empty() || self.targets.contains(&suite.target.name))
    }

    fn has_labels(&self, compiled: &Compiled) -> bool {
        self.labels.iter().all(|(key, value)| compiled.benchmark.labels.get(key) == Some(value))
    }

    /// Returns the specs that were asked for among `paths`; one with faults is, because what it holds is unknown.
    pub fn specs<'p>(
        &self,
        compilation: &Compilation,
        paths: impl IntoIterator<Item = &'p String>,
    ) -> BTreeSet<&'p str> {
        let selected = self.selected(compilation);
        let every = self.targets.is_empty() && self.labels.is_empty();
        let holds = |path: &str| every || selected.contains(path) || compilation.faulty.contains(path);
        paths.into_iter().map(String::as_str).filter(|path| self.has_path(path) && holds(path)).collect()
    }

    /// Returns the test whether a finding about the file at a path belongs to what was asked for.
    pub fn concerns<'a>(&'a self, compilation: &'a Compilation) -> impl Fn(&str) -> bool + 'a {
        let selected = self.selected(compilation);
        let is_about = move |path: &str| {
            let of_label = || compilation.faulty.contains(path) || selected.contains(path);
            // Without its benchmarks there is no suite.
            let mut held_back = compilation.held_back.iter().filter(|(suite, _)| self.has_path(suite));
            let is_at_fault = held_back.any(|(_, specs)| specs.contains(path));
            (self.has_path(path) || is_at_fault) && (self.labels.is_empty() || of_label())
        };
        // What is wrong with a manifest or a carried file is wrong with every spec that names it.
        move |path| {
            is_about(path)
                || compilation.named_by.get(path).is_some_and(|specs| specs.iter().any(|spec| is_about(spec)))
        }
    }

    /// Returns the specs of the benchmarks that were asked for.
    fn selected<'c>(&self, compilation: &'c Compilation) -> BTreeSet<&'c str> {
        let asked = compilation.benchmarks.iter().filter(|compiled| self.has(compiled));
        asked.map(|compiled| compiled.benchmark.path.as_str()).collect()
    }
}
