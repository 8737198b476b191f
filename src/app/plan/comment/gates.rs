//! The parts of a comment about gates: those that a change weakens, and those that go with their benchmarks.

use std::collections::BTreeSet;

use super::section::{Section, finished};
use crate::app::plan::{Permission, Plan, Role};
use kubebench_results::compare::render::{escape, prose};
use kubebench_syntax::diag::Severity;

/// Returns the parts, which have at most `room` bytes.
pub(super) fn parts(plan: &Plan<'_>, folder: &str, room: usize) -> String {
    let part = |title: &str, role: Role| {
        let mut section = Section::new(format!("\n#### {title}\n\n"), room / 2);
        let mut gates: Vec<&Permission> = plan.permissions.iter().filter(|one| one.role == role).collect();
        if gates.is_empty() {
            return String::new();
        }
        gates.sort_by_key(|gate| gate.level());
        section.also("The rules of the base apply until this is merged.\n\n");
        let lines: Vec<String> = gates.into_iter().map(|gate| line(gate, folder)).collect();
        let mut known = BTreeSet::new();
        lines.iter().filter(|line| known.insert(*line)).for_each(|line| section.item(line));
        let left_out = section.left_out;
        finished(section, left_out, "gate")
    };
    part("What this change weakens", Role::Weakens) + &part("Gates that this change removes", Role::Removes)
}

fn line(gate: &Permission, folder: &str) -> String {
    let mark = match gate.level() {
        Severity::Error => "❌ ",
        Severity::Warning => "⚠️ ",
        Severity::Info => "",
    };
    let place = gate.places.first().map_or_else(String::new, |place| format!("{folder}{place}"));
    format!("- {mark}{}: {}\n", escape(&place), prose(&gate.finding.message))
}
