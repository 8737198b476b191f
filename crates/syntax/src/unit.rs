//! Newtypes that cannot hold a bad value: every text of a spec that has a grammar is parsed once, here.
//!
//! A type is built only by its `parse`, whose [`UnitError`] points into the text and says what to write instead.
//! Nothing here knows of YAML, diagnostics or files.

use std::fmt;
use std::ops::Range;

mod beginning;
mod cron;
mod day;
mod duration;
mod image;
mod metric;
mod metric_selector;
mod name;
mod network;
mod percentage;
mod quantity;
mod resource;
mod time_zone;
mod version;

pub use beginning::{Beginning, is_time, moment};
pub use cron::{ClockChanges, Cron, LocalTime, Start};
pub use day::Day;
pub use duration::Duration;
pub use image::{ImagePrefix, ImageRef};
pub use metric::{Conversion, MetricUnit};
pub use metric_selector::MetricSelector;
pub use name::{
    ConfigMapKey, Dns1035Label, Dns1123Label, Dns1123Subdomain, EnvName, LabelKey, LabelValue, ParameterName,
    ResourceName,
};
pub use network::network;
pub use percentage::Percentage;
pub use quantity::Quantity;
pub use resource::{group, is_accelerator, plural};
pub use time_zone::TimeZone;
pub use version::VersionReq;

/// Why a text is not a value of a unit, in the words that its author reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong: a lower-case fragment without a full stop, literals in backticks.
    pub message: String,
    /// What to write instead, where that can be said.
    pub help: Option<String>,
    /// The offending bytes of the text, on character borders; the whole text when absent.
    pub range: Option<Range<usize>>,
}

impl UnitError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, range: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Points at `range`; an empty one shows nothing and means the whole text.
    fn at(mut self, range: Range<usize>) -> Self {
        self.range = Some(range).filter(|range| !range.is_empty());
        self
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnitError {}

const LONGEST_QUOTE: usize = 60;

/// Returns `text` in backticks, shortened, and with characters that would disturb a terminal written out.
fn quoted(text: &str) -> String {
    let mut quote = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST_QUOTE {
            quote.push('…');
            break;
        }
        match c {
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                quote.extend(c.escape_unicode());
            }
            _ if c.is_control() => quote.extend(c.escape_debug()),
            _ => quote.push(c),
        }
    }
    quote.push('`');
    quote
}

#[cfg(test)]
mod tests;
