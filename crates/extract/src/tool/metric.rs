//! What a tool reports: each metric with its unit, its direction and its meaning.
//!
//! The parsers take units and directions from here, and so do the documents, the schema and the checks of specs.

use std::borrow::Cow;

use super::form;
use crate::series::Series;
use kubebench_format::spec::v1::metric::{Better, Reduce};

/// A metric that a tool reports.
#[derive(Clone, Copy, Debug)]
pub struct ToolMetric {
    /// The name of the series, such as `tps`, or its form if the output provides a part of it: `latency_p{N}`.
    pub name: &'static str,
    /// The unit, `1` for a pure number; none if the output declares it.
    pub unit: Option<&'static str>,
    /// Which way is better, where that is beyond doubt.
    pub better: Option<Better>,
    /// The reductions that are used unless another is requested.
    pub headlines: &'static [Headline],
    /// What it is, in a few words.
    pub meaning: &'static str,
}

/// A metric with one value of which more is better.
pub(super) const fn higher(name: &'static str, unit: &'static str, meaning: &'static str) -> ToolMetric {
    ToolMetric { better: Some(Better::Higher), ..plain(name, unit, meaning) }
}

/// A metric with one value of which less is better.
pub(super) const fn lower(name: &'static str, unit: &'static str, meaning: &'static str) -> ToolMetric {
    ToolMetric { better: Some(Better::Lower), ..plain(name, unit, meaning) }
}

/// A metric with one value of which neither is better.
pub(super) const fn plain(name: &'static str, unit: &'static str, meaning: &'static str) -> ToolMetric {
    ToolMetric { name, unit: Some(unit), better: None, headlines: ONE, meaning }
}

impl ToolMetric {
    /// The same, of a series.
    pub(super) const fn of(self, headlines: &'static [Headline]) -> Self {
        Self { headlines, ..self }
    }

    /// The same, with the unit that the output says.
    pub(super) const fn in_unit_of_output(self) -> Self {
        Self { unit: None, ..self }
    }

    /// Returns the names by which the metric can be requested, or their forms: that of each headline, and that of the series.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let series = self.headlines.first().is_some_and(|headline| !headline.suffix.is_empty()).then_some("");
        let suffixes = self.headlines.iter().map(|headline| headline.suffix).chain(series);
        suffixes.map(|suffix| format!("{}{suffix}", self.name))
    }

    /// Returns whether one of its headlines is called `name`.
    pub fn is_brought_as(&self, name: &str) -> bool {
        self.headlines.iter().any(|headline| form::fits(&format!("{}{}", self.name, headline.suffix), name))
    }

    /// Returns whether the output provides a part of the name.
    pub fn is_open(&self) -> bool {
        form::is_open(self.name)
    }

    /// Returns whether the series may be called `name`.
    pub fn fits(&self, name: &str) -> bool {
        form::fits(self.name, name)
    }

    /// Returns whether the metric can be requested as `name`.
    pub fn is_asked_by(&self, name: &str) -> bool {
        self.names().any(|known| form::fits(&known, name))
    }
}

/// One way in which a series becomes a metric of its own: `tps` with `_last` is `tps_last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The suffix of the name; empty for metrics that have one value.
    pub suffix: &'static str,
    /// How the values become one.
    pub reduce: Reduce,
    /// Of which of them.
    pub over: Over,
}

/// Which values of a series a headline is made of, where the spec has no window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    All,
    /// Those of a steady state: without the first tenth of the steps, of which at least one and at most ten.
    Steady,
}

impl Headline {
    /// Makes a headline of all values.
    pub(super) const fn of(suffix: &'static str, reduce: Reduce) -> Self {
        Self { suffix, reduce, over: Over::All }
    }

    /// Returns those of the values that it is made of.
    pub fn part_of<'a>(&self, series: &'a Series) -> Cow<'a, Series> {
        match self.over {
            Over::All => Cow::Borrowed(series),
            Over::Steady => Cow::Owned(series.steady()),
        }
    }
}

/// For a metric with one value; of several, such as after a restart, the last.
pub(crate) const ONE: &[Headline] = &[Headline::of("", Reduce::Last)];
/// For a series that its last value represents.
pub(crate) const LAST: &[Headline] = &[Headline::of("_last", Reduce::Last)];
/// For a series of times or rates of single steps: one of them may hold a checkpoint, and the first compile and warm up.
pub(crate) const LAST_AND_MEDIAN: &[Headline] =
    &[Headline::of("_last", Reduce::Last), Headline { suffix: "_median", reduce: Reduce::Median, over: Over::Steady }];

/// A label that distinguishes a metric of a tool from others of its name.
#[derive(Clone, Copy, Debug)]
pub struct ToolLabel {
    /// The label.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

pub(super) const fn label(name: &'static str, meaning: &'static str) -> ToolLabel {
    ToolLabel { name, meaning }
}
