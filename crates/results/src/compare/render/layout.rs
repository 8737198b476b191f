//! Text in the columns of a terminal: sentences and commands are wrapped, tables leave out what there is no room for.

use kubebench_syntax::text::columns;

/// So narrow a terminal is taken for one of this width.
const NARROWEST: usize = 40;
/// What is in brackets stays together up to this length.
const LONGEST: usize = 30;
/// The minimum number of columns to which a name is cut.
const SHORTEST: usize = 8;

/// Writes a sentence below its beginning, with `indent` before each further line.
pub(super) fn wrap(text: &mut String, beginning: &str, indent: usize, sentence: &str, width: usize) {
    let width = width.max(NARROWEST);
    let mut line = beginning.to_owned();
    let mut is_empty = true;
    let words = words(sentence);
    // What is in brackets is broken anyway where no line has room for it.
    let is_too_long = |word: &str| indent + length(word) > width && !word.contains('`');
    let parts =
        words.iter().flat_map(|word| if is_too_long(word) { word.split(' ').collect() } else { vec![word.as_str()] });
    for word in parts {
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

/// Returns whether a text is one line of a width.
pub(super) fn fits(text: &str, width: usize) -> bool {
    length(text) <= width.max(NARROWEST)
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

/// Splits a sentence at its spaces. What is in backticks is copied, and so stays in one line; so do a number with its `%`, `p < 0.01`, and
/// what is in brackets, such as an interval.
fn words(sentence: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for word in split(sentence, '`') {
        let is_with = |last: &String| {
            word.starts_with('%') || matches!(word, "<" | "=") || last.ends_with(" <") || last.ends_with(" =")
        };
        match words.last_mut().filter(|last| is_open || is_with(last)) {
            Some(last) => last.push_str(&format!(" {word}")),
            None => words.push(word.to_owned()),
        }
        is_open = (is_open || word.starts_with('['))
            && !word.contains(']')
            && words.last().is_some_and(|last| length(last) < LONGEST);
    }
    words
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

/// A table of which a column is a name, which can be cut.
pub(super) struct Table {
    pub(super) rows: Vec<Vec<String>>,
    pub(super) name: usize,
    /// Names are cut down to this before a narrower table is taken.
    pub(super) shortest: usize,
}

/// Returns the lines of the first of several tables for which there is room, as far as its names may be cut; of the last one otherwise, with
/// its names cut further.
pub(super) fn fitting<const N: usize>(tables: [Table; N], width: usize) -> Vec<String> {
    let width = width.max(NARROWEST);
    let mut narrowest = Vec::new();
    for Table { mut rows, name, shortest } in tables {
        let lines = columns(&rows);
        let over = lines.iter().map(|line| length(line)).max().unwrap_or(0).saturating_sub(width);
        if over == 0 {
            return lines;
        }
        let longest = rows.iter().filter_map(|row| row.get(name)).map(|cell| length(cell)).max().unwrap_or(0);
        let room = longest.saturating_sub(over);
        rows.iter_mut().filter_map(|row| row.get_mut(name)).for_each(|cell| cut(cell, room.max(SHORTEST)));
        narrowest = columns(&rows);
        if room >= shortest {
            return narrowest;
        }
    }
    narrowest
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
    use super::{Table, arguments, fitting, length, wrap, wrap_command};

    #[test]
    fn sentences_are_wrapped_and_commands_stay_whole() {
        let mut text = String::new();
        wrap(&mut text, "note: ", 6, "the recorded results are not here: `git fetch origin a:b` brings them", 50);
        assert_eq!(text, "note: the recorded results are not here:\n      `git fetch origin a:b` brings them\n");
        let mut text = String::new();
        wrap(&mut text, "", 2, "latency of serving-llm-long is worse: +5.2 % [+3.0, +8.0] now", 40);
        assert_eq!(text, "latency of serving-llm-long is worse:\n  +5.2 % [+3.0, +8.0] now\n");
        let mut text = String::new();
        wrap(&mut text, "", 2, "of these series, latency has adjusted p < 0.0001", 40);
        assert_eq!(text, "of these series, latency has adjusted\n  p < 0.0001\n");
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
        let names = ["documents=8, words=1024", "documents=64, words=128"];
        let table = |columns: &[&str]| {
            let row = |name: &&str| [&[*name], columns].concat().into_iter().map(str::to_owned).collect();
            Table { rows: names.iter().map(row).collect(), name: 0, shortest: usize::MAX }
        };
        let lines = |width: usize| {
            fitting([table(&["1.448 Mtokens/s", "−7.4 %", "regressed"]), table(&["−7.4 %", "regressed"])], width)
        };
        assert!(lines(100).iter().all(|line| line.contains("Mtokens/s") && line.contains("words=1")));
        assert!(lines(50).iter().all(|line| !line.contains("Mtokens/s") && line.contains("words=1")));
        assert!(lines(40).iter().all(|line| line.contains('…') && line.ends_with("regressed")), "{:?}", lines(40));
        for width in [0, 40, 45, 60, 80] {
            assert!(lines(width).iter().all(|line| length(line) <= width.max(40)), "{width}: {:?}", lines(width));
        }
        assert!(fitting([Table { rows: Vec::new(), name: 0, shortest: 0 }], 80).is_empty());
        let roomy = |shortest: usize| {
            let [wide, narrow] = [table(&["1.448 Mtokens/s", "−7.4 %"]), table(&["−7.4 %"])];
            fitting([Table { shortest, ..wide }, narrow], 40).concat()
        };
        assert!(roomy(12).contains("Mtokens/s") && roomy(12).contains('…'), "{}", roomy(12));
        assert!(!roomy(20).contains("Mtokens/s") && !roomy(20).contains('…'), "{}", roomy(20));
    }
}
