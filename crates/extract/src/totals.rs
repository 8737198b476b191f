//! Statistics of values that are not kept.

use kubebench_stats::Sum;
use kubebench_syntax::unit::Conversion;

/// The values of a series in the order in which they were read, as far as they need no memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) non_finite: u64,
    /// The first that is not finite.
    pub(crate) odd: Option<f64>,
    pub(crate) first: f64,
    pub(crate) last: f64,
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    pub(crate) sum: Sum,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            count: 0,
            non_finite: 0,
            odd: None,
            first: f64::NAN,
            last: f64::NAN,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            sum: Sum::default(),
        }
    }
}

impl Totals {
    /// Adds the next value.
    pub(crate) fn push(&mut self, value: f64) {
        if self.count == 0 {
            self.first = value;
        }
        self.count += 1;
        self.last = value;
        if !value.is_finite() {
            self.non_finite += 1;
            self.odd.get_or_insert(value);
        }
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self.sum.add(value);
    }

    /// Returns the same of the values converted.
    pub(crate) fn converted(self, conversion: Conversion) -> Self {
        let convert = |value| conversion.convert(value);
        Self {
            first: convert(self.first),
            last: convert(self.last),
            least: convert(self.least),
            greatest: convert(self.greatest),
            sum: self.sum.map(convert),
            ..self
        }
    }
}

impl FromIterator<f64> for Totals {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut totals = Self::default();
        values.into_iter().for_each(|value| totals.push(value));
        totals
    }
}
