//! The units that sources have of themselves, before anything is read.

use crate::preset;
use kubebench_format::spec::v1::metric::{ProcessSource, Source};

/// The unit of everything that took a time.
pub(crate) const SECOND: &str = "s";

/// Returns the author's name for the source, and its unit, if it has the same one whatever is read.
///
/// The units of a tool are in its [`ToolMetric`](crate::tool::metric::ToolMetric)s; files and OpenMetrics say theirs when they are read.
pub fn of(source: &Source) -> Option<(&'static str, &'static str)> {
    if let Some(what) = source.process {
        return Some(("process", of_process(what)));
    }
    if source.duration.is_some() {
        return Some(("duration", SECOND));
    }
    if source.node.is_some() {
        return Some(("node", SECOND));
    }
    let preset = preset::preset(source.prometheus.as_ref()?.preset.as_deref()?)?;
    Some((preset.name, preset.unit))
}

/// Returns the unit of what processes used.
pub(crate) fn of_process(what: ProcessSource) -> &'static str {
    match what {
        ProcessSource::CpuSeconds => SECOND,
        ProcessSource::MaxRss | ProcessSource::ReadBytes | ProcessSource::WriteBytes => "B",
    }
}
