//! What `gate --markdown` writes: what the branch did first, then what later sessions decide, then what is open on the default branch.

use super::super::model::{GateReport, Line, Outcome, Weakened};
use super::super::words;
use super::links::{Addresses, linked};
use super::mark::Subject;
use super::markdown::{Beside, SHOWN, bullets, calm, escape, prose, rest, sentence, table};
use super::parts::{Group, Parts, Places, Standing, count};

/// What headings call it.
const GATE: &str = "Kubebench gate";
/// The kind of comment.
const KIND: &str = "gate";
/// The maximum number of lines about what a change weakens.
const WEAKENED: usize = 50;
/// The maximum number of inconclusive lines outside of the fold.
const UNDECIDED: usize = 2;

/// Returns the comment of an answer.
pub fn gated(answer: &GateReport, subject: &Subject, addresses: &dyn Addresses) -> String {
    let parts = Parts::of(&answer.lines);
    let heading = heading(answer, &parts).replacen(GATE, &format!("{GATE}{}", subject.of()), 1);
    let mut text = format!("{}\n### {heading}\n", subject.mark(KIND));
    let (synthetic, notes): (Vec<String>, Vec<String>) =
        answer.notes.iter().cloned().partition(|note| note == words::SYNTHETIC);
    let synthetic = synthetic.first().map_or_else(String::new, |note| prose(&words::sentence_case(note)));
    paragraph(&mut text, &if synthetic.is_empty() { synthetic } else { format!("⚠️ {synthetic}.\n") });
    if answer.outcome == Outcome::NothingToEvaluate {
        text.push_str(&format!("\n{}.\n", words::sentence_case(&words::nothing_to_evaluate(answer))));
        paragraph(&mut text, &weakened(answer, subject));
        rest(&mut text, &notes, &answer.left_out, &subject.folder);
        return text;
    }
    if let Some(origin) = &answer.origin {
        text.push_str(&format!("\n{}.\n", escape(&words::sentence_case(origin))));
    }
    paragraph(&mut text, &weakened(answer, subject));
    let places = Places::of(&answer.lines);
    let bullets = |lines: &[&Line]| bullets(lines, &places, &answer.candidate, addresses);
    let own = bullets(&parts.worse) + &groups(&parts.failing, "", &places);
    if own.is_empty() && !parts.known.is_empty() {
        paragraph(&mut text, &no_new(answer, parts.known.len()));
    }
    let new = groups(&parts.new, "⚪ ", &places);
    let pending = bullets(&parts.pending);
    let neutral = undecided(answer, &parts, &places, addresses) + &new;
    let decides = !parts.worse.is_empty() || !parts.failing.is_empty() || known_decide(answer, &parts);
    // One list: Markdown would make two of them one with gaps.
    paragraph(&mut text, &[own.as_str(), &pending, if decides { "" } else { &neutral }].concat());
    if decides {
        known(&mut text, answer, &parts, &places, addresses);
    }
    let is_calm = parts.worse.is_empty() && parts.known.is_empty();
    let calm = calm(&parts.decided, if is_calm { Beside::Nothing } else { Beside::Regressions }).join(" ");
    paragraph(&mut text, &if calm.is_empty() { calm } else { format!("{calm}\n") });
    if !decides {
        known(&mut text, answer, &parts, &places, addresses);
    } else if !neutral.is_empty() {
        text.push_str(&format!("\n<details><summary>Inconclusive or new</summary>\n\n{neutral}\n</details>\n"));
    }
    table(&mut text, ["baseline", "candidate"], &answer.lines, answer.results.as_deref(), addresses);
    rest(&mut text, &notes, &answer.left_out, &subject.folder);
    if let Some(site) = addresses.site() {
        text.push_str(&format!("\n{}\n", linked("Report", Some(site))));
    }
    text
}

/// Returns the comment of a gate that ended before it had an answer.
pub fn without_answer(why: &str, subject: &Subject) -> String {
    format!(
        "{}\n### ❌ Kubebench gate{} gives no answer\n\n{}.\n",
        subject.mark(KIND),
        subject.of(),
        prose(&words::sentence_case(why))
    )
}

fn heading(answer: &GateReport, parts: &Parts<'_>) -> &'static str {
    match (answer.outcome, parts.standing(answer)) {
        (Outcome::NothingToEvaluate, _) => "⚪ Kubebench gate: nothing to evaluate",
        (Outcome::NoAnswer, _) => {
            "❌ Kubebench gate gives no answer: result files that are evaluated cannot be trusted"
        }
        (Outcome::NoHistory, _) => "❌ Kubebench gate failed: the recorded results are not in the clone",
        (_, Standing::Passed) => "✅ Kubebench gate passed",
        (_, Standing::Failed) => "❌ Kubebench gate failed",
        (_, Standing::Pending) => "⚪ Kubebench gate is pending",
        (_, Standing::Inconclusive) => "⚪ Kubebench gate is inconclusive",
        (_, Standing::New) => "⚪ Kubebench gate: nothing to compare with yet",
    }
}

fn paragraph(text: &mut String, said: &str) {
    if !said.is_empty() {
        text.push_str(&format!("\n{said}"));
    }
}

/// Lists what the change weakens, what lets the gate fail first.
fn weakened(answer: &GateReport, subject: &Subject) -> String {
    if answer.weakened.is_empty() {
        return String::new();
    }
    let (fails, holds): (Vec<_>, Vec<_>) = answer.weakened.iter().partition(|weakened| weakened.fails);
    let bullet = |mark: &str, weakened: &Weakened| {
        let help = weakened.help.as_ref().map_or_else(String::new, |help| format!("; {}", prose(help)));
        let place = format!("{}{}", subject.folder, weakened.place);
        format!("- {mark}{}: {}{help}\n", escape(&place), prose(&weakened.message))
    };
    let fails = fails.into_iter().map(|weakened| bullet("❌ ", weakened));
    let all: Vec<String> = fails.chain(holds.into_iter().map(|weakened| bullet("⚠️ ", weakened))).collect();
    let more = all.len().saturating_sub(WEAKENED);
    let mut text = "**Weaker than the base**, whose rules apply until this is merged:\n\n".to_owned();
    text.extend(all.into_iter().take(WEAKENED));
    if more > 0 {
        text.push_str(&format!("- and {more} more: `kubebench gate --since` lists them\n"));
    }
    text
}

/// Says that what fails is not of this branch.
fn no_new(answer: &GateReport, known: usize) -> String {
    let already = already(answer);
    if answer.only_new {
        let (what, do_not) = match known {
            1 => ("The regression that is".to_owned(), "does not"),
            count => (format!("The {count} regressions that are"), "do not"),
        };
        return format!("**No new regression.** {what} {already} {do_not} decide.\n");
    }
    let what = match known {
        1 => "a regression that is".to_owned(),
        count => format!("{count} regressions that are"),
    };
    format!("**No new regression.** The gate fails because of {what} {already}.\n")
}

/// Returns a bullet for each group, with some of its names.
fn groups(groups: &[Group<'_>], mark: &str, places: &Places) -> String {
    let bullet = |group: &Group<'_>| {
        let [said, names] = group.sentence(places);
        let names = if names.is_empty() { String::new() } else { format!(": {}", escape(&names)) };
        format!("- {mark}{}{names}\n", escape(&words::sentence_case(&said)))
    };
    let mut text: String = groups.iter().take(SHOWN).map(bullet).collect();
    if groups.len() > SHOWN {
        text.push_str(&format!("- and {} more, below\n", groups.len() - SHOWN));
    }
    text
}

fn already(answer: &GateReport) -> String {
    escape(&words::already(answer))
}

/// Returns whether the gate fails because of what is open on the default branch.
fn known_decide(answer: &GateReport, parts: &Parts<'_>) -> bool {
    let is_known = !parts.known.is_empty() || !parts.known_failing.is_empty();
    !answer.only_new && answer.outcome == Outcome::Failed && is_known
}

/// Lists what is open on the default branch, folded away unless the gate fails because of it.
fn known(text: &mut String, answer: &GateReport, parts: &Parts<'_>, places: &Places, addresses: &dyn Addresses) {
    let failing = count(&parts.known_failing);
    if parts.known.is_empty() && failing == 0 {
        return;
    }
    let known = (!parts.known.is_empty()).then(|| words::counted(parts.known.len(), "regression"));
    let failing = (failing > 0).then(|| format!("{failing} series without a value"));
    let count = known.into_iter().chain(failing).collect::<Vec<_>>().join(", ");
    let head = words::sentence_case(&already(answer));
    let lines = bullets(&parts.known, places, &answer.candidate, addresses) + &groups(&parts.known_failing, "", places);
    text.push_str(&if known_decide(answer, parts) {
        format!("\n**{head}: {count}**\n\n{lines}")
    } else {
        format!("\n<details><summary>{head}: {count}</summary>\n\n{lines}\n</details>\n")
    });
}

/// Says what is inconclusive: the worst of what was measured, and what lacks a baseline.
fn undecided(answer: &GateReport, parts: &Parts<'_>, places: &Places, addresses: &dyn Addresses) -> String {
    let worst: Vec<&Line> = parts.doubtful.iter().take(UNDECIDED).copied().collect();
    let mut text: String =
        worst.iter().map(|line| format!("- {}\n", sentence(line, &answer.candidate, addresses))).collect();
    let more = parts.doubtful.len() + parts.undecided.len() - worst.len();
    if more > 0 {
        let what = if worst.is_empty() { "series" } else { "more series" };
        let are = if more == 1 { "is" } else { "are" };
        text.push_str(&format!("- ⚪ {more} {what} {are} inconclusive, below\n"));
    }
    text.push_str(&groups(&parts.unmeasured, "⚪ ", places));
    text
}
