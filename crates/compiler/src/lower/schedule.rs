//! When something runs on a schedule.

use crate::model::Schedule;
use kubebench_format::spec::v1::benchmark as wire;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::unit::TimeZone;
use kubebench_syntax::yaml::Node;

/// Returns the schedule of a spec, and says what is wrong with it.
pub(super) fn schedule(wire: Option<wire::Schedule>, spec: &Node, diagnostics: &mut Diagnostics) -> Option<Schedule> {
    let wire::Schedule { cron, timezone } = wire?;
    let schedule = Schedule { cron: cron.0, timezone: timezone.map_or_else(TimeZone::utc, |zone| zone.0) };
    diagnostics.extend(beside_run(spec));
    diagnostics.extend(at_clock_changes(&schedule, spec));
    Some(schedule)
}

/// Says that what runs on a schedule has no number to raise.
fn beside_run(spec: &Node) -> Option<Diagnostic> {
    let (run, schedule) = (spec.entry("run")?, spec.entry("schedule")?);
    let fault = Diagnostic::at(&code::KB0310, run.key_span, "`run` is combined with `schedule`")
        .related(Place::Span(schedule.key_span), "the schedule")
        .note("a schedule repeats its runs by itself; its CronWorkflow keeps one name");
    Some(fault.help("delete `run`"))
}

/// Says that a clock skips or repeats a start.
fn at_clock_changes(schedule: &Schedule, spec: &Node) -> Option<Diagnostic> {
    let Schedule { cron, timezone } = schedule;
    let changes = cron.clock_changes(timezone);
    let skipped = changes.skipped.map(|time| format!("skips {time}, when nothing starts"));
    let repeated = changes.repeated.map(|time| format!("repeats {time}, when it starts twice"));
    let said: Vec<String> = skipped.into_iter().chain(repeated).collect();
    if said.is_empty() {
        return None;
    }
    let node = spec.get("schedule")?.get("cron")?;
    let message = format!("the clock of `{timezone}` {}", said.join(", and "));
    Some(
        Diagnostic::at(&code::KB0438, node.span, message)
            .note("clocks change at these times in zones with daylight saving time")
            .help("choose another hour, or write `timezone: Etc/UTC`"),
    )
}
