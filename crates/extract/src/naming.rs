//! The names of a tool's metrics in results: a rule may rename them, add a prefix, or add labels.

use std::collections::BTreeMap;

use kubebench_format::spec::v1::metric::ToolSource;
use kubebench_syntax::unit::MetricSelector;

/// How a rule names the metrics of its tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    rename: BTreeMap<String, String>,
    prefix: String,
    labels: BTreeMap<String, String>,
}

impl Naming {
    /// Returns what a rule says.
    pub fn of(source: &ToolSource) -> Self {
        let labels = source.labels.iter().map(|(label, value)| (label.clone(), value.0.clone()));
        Self {
            rename: source.rename.clone(),
            prefix: source.prefix.clone().unwrap_or_default(),
            labels: labels.collect(),
        }
    }

    /// Returns the name in results of the tool's metric `own`.
    pub fn name(&self, own: &str) -> String {
        self.rename.get(own).cloned().unwrap_or_else(|| format!("{}{own}", self.prefix))
    }

    /// Returns the selector in results of what `own` selects of the tool's.
    pub fn selector(&self, own: &MetricSelector) -> MetricSelector {
        let mut labels = own.labels().clone();
        labels.extend(self.labels.clone());
        MetricSelector::of_series(&self.name(own.name()), &labels)
    }

    /// Returns the selector of the tool's metrics for what `brought` selects in results.
    pub fn of_brought(&self, brought: &MetricSelector) -> MetricSelector {
        let name = brought.name();
        let renamed = self.rename.iter().find(|(_, given)| *given == name).map(|(own, _)| own.as_str());
        let own = renamed.or_else(|| name.strip_prefix(&self.prefix)).unwrap_or(name);
        let labels = brought.labels().iter().filter(|(label, _)| !self.labels.contains_key(*label));
        MetricSelector::of_series(own, &labels.map(|(label, value)| (label.clone(), value.clone())).collect())
    }

    /// Returns the labels that every metric of the rule has.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }
}
