//! What `plan --markdown` writes: what a change runs and why, what it takes, and what it may newly do.

mod gates;
mod permissions;
mod runs;
mod section;

use super::{Plan, Since};
use kubebench_results::compare::render::{Subject, code_span, prose};
#[cfg(test)]
use kubebench_syntax::diag::Severity;
use section::Section;

/// The maximum size of a comment in bytes; GitHub takes 65,536 letters.
const LONGEST: usize = 60_000;
/// How many of them are kept for what ends a part.
const END: usize = 1_000;
/// How many are for what runs and for gates, however many permissions there are.
const OF_OTHERS: usize = 20_000;
/// The maximum number of errors that are listed.
const MISTAKES: usize = 10;

/// An error that prevents a plan.
pub struct Mistake {
    /// Where it is, from the project: `specs/a.yaml:3:4`.
    pub place: String,
    pub code: &'static str,
    pub message: String,
}

/// Returns the comment, of a change or of all that is there; without a plan it lists the errors that prevent one. `stale` is the folder
/// of manifests if these are not what the specs compile to: a merge would apply them, and not what the plan says.
pub fn comment(plan: Result<&Plan<'_>, &[Mistake]>, stale: Option<&str>, subject: &Subject) -> String {
    let mark = subject.mark("plan");
    let of = subject.of();
    let plan = match plan {
        Ok(plan) => plan,
        Err(mistakes) => {
            let head = format!("{mark}\n### ❌ Kubebench plan{of} gives no answer\n\n");
            let mut section = Section::new(head, LONGEST);
            section.also("The specs or the project file have errors:\n\n");
            for mistake in mistakes.iter().take(MISTAKES) {
                let place = code_span(&format!("{}{}", subject.folder, mistake.place));
                section.item(&format!("- {place}: {} ({})\n", prose(&mistake.message), mistake.code));
            }
            let more = mistakes.len().saturating_sub(MISTAKES) + section.left_out;
            let more = if more > 0 { format!("- and {more} more\n") } else { String::new() };
            return format!("{}{more}\n`kubebench validate` says what to write instead.\n", section.text);
        }
    };
    let folder = subject.folder.as_str();
    let stale = stale.map_or_else(String::new, |output| {
        let folder = code_span(&format!("{folder}{output}/"));
        format!(
            "\n**⚠️ {folder} does not match the specs.** A merge would apply what is there, and not this plan: run \
             `kubebench compile` and commit the result.\n"
        )
    });
    let notes: Vec<String> = plan.since.iter().flat_map(Since::notes).collect();
    let text: String = notes.iter().map(|note| format!("\n{}\n", prose(note))).collect();
    let notes = match notes.len() {
        count if text.len() > END => format!("\n{count} notes: `kubebench plan --since` shows them.\n"),
        _ => text,
    };
    let head = format!("{mark}\n### Kubebench plan{of}: {}\n{stale}{notes}", runs::title(plan));
    let room = LONGEST.saturating_sub(head.len() + END);
    // What a change may newly do has room before what it runs.
    let permissions::Part { warning, text: permissions } =
        permissions::part(plan, folder, room.saturating_sub(OF_OTHERS));
    let room = room.saturating_sub(warning.len() + permissions.len());
    let gates = gates::parts(plan, folder, room / 4);
    let runs = runs::sections(plan, folder, room.saturating_sub(gates.len()));
    [head, warning, runs, gates, permissions].concat()
}

#[cfg(test)]
mod tests;
