//! Answers as a comment of a pull request: short, the details folded away, the same place each time.

use super::super::model::{Acknowledged, Comparison, GateReport, LeftOut, Line, Outcome, Verdict};
use super::super::words;
use super::{by_weight, cells, folded, parted, tally};
use kubebench_syntax::text::reorders;

/// By this a comment is found again, so that it is updated and not written twice.
const COMPARE_MARK: &str = "<!-- kubebench compare -->";
const GATE_MARK: &str = "<!-- kubebench gate -->";
/// So many rows stand outside of the fold.
const SHOWN: usize = 10;
/// So many rows at most stand in a comment; hosts refuse long ones.
const MOST: usize = 200;

/// Returns what `compare --markdown` writes.
pub fn comparison(answer: &Comparison) -> String {
    let mut text = format!("{COMPARE_MARK}\n");
    let (before, after) = (escape(&answer.baseline), escape(&answer.candidate));
    text.push_str(&format!("### Kubebench: {before} → {after}\n\n{}", headline(&answer.lines)));
    text.push_str(&between(&answer.lines));
    table(&mut text, ["before", "after", "change"], &answer.lines, None);
    if let Some(said) = words::of_differences(&answer.lines) {
        text.push_str(&format!("\n{}.\n", words::sentence_case(said)));
    }
    for mean in &answer.geomeans {
        let excluded = if mean.excluded > 0 { format!(", {} excluded", mean.excluded) } else { String::new() };
        let change = words::change(mean.change, None);
        text.push_str(&format!(
            "\nGeometric mean of {}: **{change}** over {} cases{excluded}.\n",
            escape(&mean.metric),
            mean.cases
        ));
    }
    if !answer.unmatched.is_empty() {
        let names: Vec<String> = answer
            .unmatched
            .iter()
            .map(|one| format!("{} {} ({} only)", escape(&one.benchmark), escape(&one.case_name), one.only))
            .collect();
        text.push_str(&format!("\nNot on both sides: {}.\n", names.join(", ")));
    }
    rest(&mut text, &answer.notes, &answer.left_out);
    text
}

/// Returns what `gate --markdown` writes.
pub fn gated(answer: &GateReport) -> String {
    let mut text = format!("{GATE_MARK}\n");
    let says = match answer.outcome {
        Outcome::Passed => "✅ Kubebench gate passed",
        Outcome::Failed => "❌ Kubebench gate failed",
        Outcome::NoAnswer => "❌ Kubebench gate gives no answer: files among what is judged cannot be trusted",
        Outcome::NoHistory => "❌ Kubebench gate is undecided: the recorded results are not here",
        Outcome::NothingToEvaluate => {
            let said = words::sentence_case(&words::nothing_to_evaluate(answer));
            text.push_str(&format!("### Kubebench gate: nothing to evaluate\n\n{said}.\n"));
            rest(&mut text, &answer.notes, &answer.left_out);
            return text;
        }
    };
    let (known, own) = parted(&answer.lines, answer);
    let own_headline = match own.len() {
        0 if !known.is_empty() => "Nothing got worse here.\n".to_owned(),
        _ => headline(&own),
    };
    let origin = answer.origin.iter().map(|origin| format!("{}.\n\n", escape(&words::sentence_case(origin))));
    text.push_str(&format!("### {says}\n\n{}{}", origin.collect::<String>(), own_headline));
    text.push_str(&between(&own));
    if !known.is_empty() {
        let already = words::sentence_case(&words::already(answer));
        text.push_str(&format!(
            "\n<details><summary>{}: {} series</summary>\n\n{}",
            escape(&already),
            known.len(),
            headline(&known)
        ));
        text.push_str("\n</details>\n");
    }
    // Of an open change the sentence tells all sessions, and the table the newest one.
    table(&mut text, ["baseline", "candidate", "candidate's change"], &answer.lines, answer.results.as_deref());
    rest(&mut text, &answer.notes, &answer.left_out);
    text
}

/// Says in sentences what matters: each line that needs somebody, or that nothing does.
fn headline(lines: &[Line]) -> String {
    let lines = &folded(lines);
    let is_urgent = |line: &&&Line| {
        matches!(line.verdict, Verdict::Regressed | Verdict::Pending | Verdict::Invalid | Verdict::Missing)
    };
    let sorted = by_weight(lines);
    let urgent: Vec<String> = sorted.iter().filter(is_urgent).map(|line| sentence(line)).collect();
    if lines.is_empty() {
        return "Nothing was measured on both sides.\n".to_owned();
    }
    if urgent.is_empty() {
        return calm(lines);
    }
    let more = urgent.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = urgent.into_iter().take(SHOWN).map(|sentence| format!("- {sentence}")).collect();
    if more > 0 {
        shown.push(format!("- and {more} more, below"));
    }
    format!("{}\n", shown.join("\n"))
}

/// Says what is known where nothing got worse: what nobody can tell yet is no good news.
fn calm(lines: &[Line]) -> String {
    let of = |wanted: &[Verdict]| lines.iter().filter(|line| wanted.contains(&line.verdict)).collect::<Vec<_>>();
    let fine = of(&[Verdict::Unchanged, Verdict::NoChangeSeen, Verdict::Improved]);
    let (accepted, fine): (Vec<&Line>, Vec<&Line>) = fine.into_iter().partition(|line| line.reason == "accepted");
    let (limited, told): (Vec<&Line>, Vec<&Line>) =
        fine.into_iter().partition(|line| words::verdict(line) == "within limits");
    let (open, apart) = (of(&[Verdict::Inconclusive]).len(), of(&[Verdict::Incomparable]).len());
    let mut said: Vec<String> = accepted.iter().take(SHOWN).map(|line| accepted_sentence(line)).collect();
    if accepted.len() > SHOWN {
        said.push(format!("{} more are accepted.", accepted.len() - SHOWN));
    }
    if !told.is_empty() {
        let (blind, clear): (Vec<&Line>, Vec<&Line>) = told.iter().copied().partition(|line| words::is_blind(line));
        let seen = clear.iter().filter_map(|line| line.detectable).fold(0.0, f64::max);
        let seen = if seen > 0.0 {
            format!("; one of {} would have been seen, 9 times in 10", words::about(seen))
        } else {
            String::new()
        };
        let better = told.iter().filter(|line| line.verdict == Verdict::Improved).count();
        let better = if better > 0 { format!(", {better} better") } else { String::new() };
        let others = if accepted.is_empty() { "" } else { "other " };
        said.push(format!("No regression in {} {others}series{better}{seen}.", told.len()));
        if !blind.is_empty() {
            said.push(format!(
                "**{} of them would not have shown even a change by half**: too few sessions, or too unsteady ones.",
                blind.len()
            ));
        }
        let is_accepted = |line: &&&Line| line.acks.iter().any(|ack| !ack.expired && ack.session.is_some());
        match told.iter().filter(is_accepted).count() {
            0 => {}
            count => {
                said.push(format!("{count} of them got worse before, which was accepted; see below by whom and why."));
            }
        }
    }
    if !limited.is_empty() {
        said.push(format!("{} series within limits.", limited.len()));
    }
    let new = of(&[Verdict::New]).len();
    if new > 0 {
        let (are, them) = if new == 1 { ("is", "it") } else { ("are", "them") };
        said.push(format!("{new} series {are} new: the default branch has no session of {them} yet."));
    }
    if open > 0 {
        said.push(format!("**{open} series cannot be judged yet**; see below why, and what would decide."));
    }
    if apart > 0 {
        said.push(format!("**{apart} series cannot be compared**; see below what differs."));
    }
    format!("{}\n", said.join(" "))
}

/// Says what got worse and was accepted, by whom and why.
fn accepted_sentence(line: &Line) -> String {
    let metric = format!("`{}` of **{}**{}", code(&words::metric(line)), escape(&words::benchmark(line)), case(line));
    let message = || escape(line.message.strip_prefix("accepted: ").unwrap_or(&line.message));
    let change = line.change.map(|change| bold(change, line.interval));
    // Others accepted what was there before.
    let is_own =
        |ack: &&Acknowledged| line.candidate.sessions.iter().any(|own| ack.session.as_ref() == Some(&own.session));
    let own: Vec<&Acknowledged> = line.acks.iter().filter(is_own).collect();
    let own = if own.is_empty() { line.acks.iter().collect() } else { own };
    let by: Vec<String> = own.iter().map(|ack| format!("{}: {}", escape(&ack.by), escape(&ack.reason))).collect();
    format!("{metric}: {}, accepted by {}.", change.unwrap_or_else(message), by.join("; "))
}

/// Names the commits in which changes lie, and how to look at them.
fn between(lines: &[Line]) -> String {
    const SHOWN: usize = 3;
    let mut commands: Vec<[String; 2]> = Vec::new();
    for ends in by_weight(lines).into_iter().flat_map(words::between) {
        if !commands.contains(&ends) {
            commands.push(ends);
        }
    }
    let said = commands.iter().take(SHOWN).map(|[log, bisect]| {
        format!("What changed in between: `{}`; which commit it was: `{}`.\n", code(log), code(bisect))
    });
    let mut said = said.collect::<String>();
    if commands.len() > SHOWN {
        said.push_str(&format!("And {} more ranges, which `kubebench gate` prints.\n", commands.len() - SHOWN));
    }
    if said.is_empty() { said } else { format!("\n{said}") }
}

/// Says of one line what a colleague would.
fn sentence(line: &Line) -> String {
    let metric = format!("`{}` of **{}**{}", code(&words::metric(line)), escape(&words::benchmark(line)), case(line));
    // Of an open change all of its sessions say more than the newest one.
    let unit = line.unit.as_deref();
    let change = line.open.as_ref().and_then(|open| open.size).or_else(|| line.size());
    let change =
        change.map(|size| size.change.map_or_else(|| words::size(size, unit), |change| bold(change, size.interval)));
    let on = words::hardware(&line.environment);
    let on = if on.is_empty() { String::new() } else { format!(", on {}", escape(&on)) };
    let sure = line.p.map_or_else(String::new, |p| format!(" ({})", words::probability(p)));
    let limit = words::limit(line).map_or_else(String::new, |_| format!("; {}", escape(&line.message)));
    let since = line.open.as_ref().map_or_else(String::new, |open| {
        let day = words::day(&open.since);
        let commit = open.commit.as_deref().map_or_else(String::new, |commit| format!(" (`{}`)", words::short(commit)));
        format!(" since {day}{commit}, {}", words::seen(open.sessions, open.measured))
    });
    // The p value is that of the newest session.
    let sure = if line.open.is_some() { String::new() } else { sure };
    match (line.verdict, change) {
        // What passed a limit is told by the limit, and by a change where one is open.
        (verdict, Some(_)) if !limit.is_empty() && line.open.is_none() => {
            format!("{metric}: {}{limit}{on}.", verdict.words())
        }
        (Verdict::Regressed, Some(change)) => {
            let further = line.open.as_ref().and_then(|open| open.further);
            let further = further.map_or_else(String::new, |size| format!("; {}", words::further(size, unit)));
            format!("{metric} got worse: {change}{sure}{since}{on}{further}{limit}.")
        }
        (Verdict::Pending, Some(change)) => {
            format!(
                "{metric} may have got worse: {change}{sure}{since}{on}{limit}; a second session of the same revision decides."
            )
        }
        (verdict, _) => format!("{metric}: {}, {}.", verdict.words(), escape(&line.message)),
    }
}

fn bold(change: f64, interval: Option<(f64, f64)>) -> String {
    let bounds = interval.map_or_else(String::new, |interval| format!(" {}", words::interval(change, interval)));
    format!("**{}**{bounds}", words::change(change, interval))
}

fn case(line: &Line) -> String {
    if line.case_name.is_empty() { String::new() } else { format!(" ({})", escape(&line.case_name)) }
}

fn table(text: &mut String, [before, after, change]: [&str; 3], lines: &[Line], results: Option<&str>) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("\n<details><summary>{} series: {}</summary>\n\n", lines.len(), tally(lines)));
    let head = format!(
        "| benchmark | case | metric | {before} | {after} | {change} | verdict |\n|---|---|---|--:|--:|--:|---|\n"
    );
    let shown = folded(lines);
    let sorted = by_weight(&shown);
    let rows = sorted.iter().map(|line| {
        let mut cells = cells(line, "–");
        // The others are words of Kubebench, and `~`.
        cells.iter_mut().take(5).for_each(|cell| *cell = escape(cell));
        cells
    });
    grid(text, &head, &rows.collect::<Vec<_>>(), MOST, "rows");
    text.push_str("\n`~` is noise: not significant, or within the threshold.\n\n");
    for line in sorted.iter().filter(|line| !line.message.is_empty()).take(SHOWN) {
        text.push_str(&format!(
            "- {}, {}{}: {}\n",
            escape(&words::benchmark(line)),
            escape(&words::metric(line)),
            case(line),
            escape(&line.message)
        ));
        for ack in &line.acks {
            text.push_str(&format!("  - accepted by {}: {}\n", escape(&ack.by), escape(&ack.reason)));
        }
        let notes = line.notes.iter().cloned().chain(words::decide(line, results));
        text.extend(notes.map(|note| format!("  - {}\n", escape(&note))));
    }
    text.push_str("\n</details>\n");
}

/// Writes a table of at most `most` rows below its head; `what` names the others.
pub(crate) fn grid(text: &mut String, head: &str, rows: &[impl AsRef<[String]>], most: usize, what: &str) {
    text.push_str(head);
    text.extend(rows.iter().take(most).map(|cells| format!("| {} |\n", cells.as_ref().join(" | "))));
    if rows.len() > most {
        text.push_str(&format!("\n{} more {what} are in the report.\n", rows.len() - most));
    }
}

fn rest(text: &mut String, notes: &[String], left_out: &[LeftOut]) {
    text.extend(notes.iter().map(|note| format!("\n{}\n", escape(note))));
    if !left_out.is_empty() {
        let files = if left_out.len() == 1 { "file was" } else { "files were" };
        text.push_str(&format!("\n{} result {files} left out:\n\n", left_out.len()));
        for LeftOut { path, code, message } in left_out.iter().take(SHOWN) {
            text.push_str(&format!("- {}: {}: {}\n", escape(path), escape(code), escape(message)));
        }
        if left_out.len() > SHOWN {
            text.push_str(&format!("- and {} more\n", left_out.len() - SHOWN));
        }
    }
}

/// Returns text that no renderer of Markdown takes for more than text.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // Nobody is called by a name in a result.
            '@' => escaped.push_str("&#64;"),
            '#' => escaped.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            letter if letter.is_control() || reorders(letter) => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped.replace("://", ":&#47;/")
}

fn code(text: &str) -> String {
    text.chars().filter(|letter| *letter != '`' && !letter.is_control() && !reorders(*letter)).collect()
}
