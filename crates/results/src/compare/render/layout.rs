//! Text in the columns of a terminal: sentences and commands are wrapped, tables leave out what there is no room for.

use kubebench_syntax::text::columns;

/// So narrow a terminal is taken for one of this width.
const NARROWEST: usize = 40;
/// To so many columns at least a name is cut.
const SHORTEST: usize = 8;

/// Writes a sentence below its beginning, with `indent` before each further line.
pub(super) fn wrap(text: &mut String, beginning: &str, indent: usize, sentence: &str, width: usize) {
    let width = width.max(NARROWEST);
    let mut line = beginning.to_owned();
    let mut is_empty = true;
    for word in words(sentence) {
        if !is_empty && length(&line) + 1 + length(word) > width {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Writes a command so that it can be copied: lines that continue end in a backslash.
pub(super) fn wrap_command(text: &mut String, beginning: &str, indent: usize, command: &str, width: usize) {
    // Room for the backslash.
    let width = width.max(NARROWEST) - 2;
    let mut line = beginning.to_owned();
    let mut is_empty = true;
    let mut rest = arguments(command).into_iter().peekable();
    while let Some(argument) = rest.next() {
        // The last one needs no backslash behind it.
        let room = if rest.peek().is_none() { width + 2 } else { width };
        if !is_empty && length(&line) + 1 + length(&argument) > room {
            text.push_str(&line);
            text.push_str(" \\\n");
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&argument);
        is_empty = false;
    }
    text.push_str(&line);
    text.push('\n');
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Splits a sentence at its spaces; what is in backticks is copied, and so stays in one line.
fn words(sentence: &str) -> Vec<&str> {
    split(sentence, '`')
}

/// Splits a command at the spaces between its arguments: an option stays with its value.
fn arguments(command: &str) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    let mut is_option = false;
    for word in split(command, '\'') {
        match arguments.last_mut().filter(|_| is_option && !word.starts_with("--")) {
            Some(option) => option.push_str(&format!(" {word}")),
            None => arguments.push(word.to_owned()),
        }
        is_option = word.starts_with("--");
    }
    arguments
}

fn split(text: &str, quote: char) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = text.split(|letter: char| {
        is_quoted ^= letter == quote;
        letter == ' ' && !is_quoted
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// A table whose first columns are names, which are cut where there is no room for them. Of the others, those at `spare` are left out
/// first.
pub(super) struct Table {
    pub(super) rows: Vec<Vec<String>>,
    pub(super) names: usize,
    pub(super) spare: Vec<usize>,
}

impl Table {
    /// Returns its lines.
    pub(super) fn lines(self, width: usize) -> Vec<String> {
        let Self { mut rows, names, spare } = self;
        let width = width.max(NARROWEST);
        let widest = |rows: &[Vec<String>]| columns(rows).iter().map(|line| length(line)).max().unwrap_or(0);
        if widest(&rows) > width {
            for row in &mut rows {
                let kept = row.drain(..).enumerate().filter(|(at, _)| !spare.contains(at)).map(|(_, cell)| cell);
                *row = kept.collect();
            }
        }
        loop {
            let over = widest(&rows).saturating_sub(width);
            let longest =
                |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| length(cell)).max().unwrap_or(0);
            let Some((at, most)) = (0..names).map(|at| (at, longest(at))).max_by_key(|(_, most)| *most) else { break };
            if over == 0 || most <= SHORTEST {
                break;
            }
            // The longest name gives way until the next one is as long.
            let next = (0..names).filter(|other| *other != at).map(longest).max().unwrap_or(0);
            let to = most.saturating_sub(over).max(next.min(most - 1)).max(SHORTEST);
            rows.iter_mut().filter_map(|row| row.get_mut(at)).for_each(|cell| cut(cell, to));
        }
        columns(&rows)
    }
}

/// Cuts a text in its middle: names of one benchmark differ at their ends.
fn cut(text: &mut String, to: usize) {
    let count = length(text);
    if count <= to {
        return;
    }
    let kept = to.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let begin: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    *text = format!("{begin}…{end}");
}

#[cfg(test)]
mod tests {
    use super::{Table, arguments, length, wrap, wrap_command};

    #[test]
    fn sentences_are_wrapped_and_commands_stay_whole() {
        let mut text = String::new();
        wrap(&mut text, "note: ", 6, "the recorded results are not here: `git fetch origin a:b` brings them", 50);
        assert_eq!(text, "note: the recorded results are not here:\n      `git fetch origin a:b` brings them\n");
        let mut text = String::new();
        wrap(&mut text, "", 2, "", 80);
        assert_eq!(text, "\n");
        let mut text = String::new();
        wrap(&mut text, "note: ", 6, &"x".repeat(200), 80);
        assert_eq!(text.lines().count(), 1, "what has no space is not cut");
    }

    #[test]
    fn a_command_can_be_copied() {
        let command = "kubebench ack train --metric 'a  b' --case size-1-00000000 --by YOU --reason WHY";
        for width in [40, 60, 80, 120] {
            let mut text = String::new();
            wrap_command(&mut text, "  next: ", 10, command, width);
            assert!(text.lines().all(|line| length(line) <= width), "{width}: {text}");
            let joined = text.trim_end().replace("\\\n          ", "");
            assert_eq!(joined, format!("  next: {command}"), "{width}");
        }
        assert_eq!(arguments("a --b 'c d' --e"), ["a", "--b 'c d'", "--e"]);
    }

    #[test]
    fn a_table_has_the_width_that_there_is() {
        let row = |name: &str| {
            ["b", name, "metric", "1.448 Mtokens/s", "1.352 Mtokens/s", "−7.4 %"].map(str::to_owned).to_vec()
        };
        let table = |width: usize| {
            let rows = vec![row("documents=8, words=1024"), row("documents=64, words=128")];
            Table { rows, names: 3, spare: vec![3, 4] }.lines(width)
        };
        assert!(table(100).iter().all(|line| line.contains("Mtokens/s")));
        let narrow = table(50);
        assert!(narrow.iter().all(|line| !line.contains("Mtokens/s") && line.contains("words=1")), "{narrow:?}");
        for width in [40, 45, 60, 80] {
            assert!(table(width).iter().all(|line| length(line) <= width), "{width}: {:?}", table(width));
        }
        assert!(Table { rows: Vec::new(), names: 3, spare: Vec::new() }.lines(80).is_empty());
    }
}
