//! KB0468: a program and its arguments in one word, which the kernel takes for the name of a file.

use crate::model::{Benchmark, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::scalar::{Plain, classify};

/// Reports programs with a space in their name, and options with a space before their value.
pub(super) fn separated(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        let [command, args] = &role.word_spans;
        if let (Some(program), Some(span)) = (role.command.first(), command.first())
            && program.trim().contains(char::is_whitespace)
        {
            let message = format!("the name of the program has a space in it: `{}`", shown(program));
            let fault = Diagnostic::at(&code::KB0468, *span, message)
                .note("no shell splits `command`: the container looks for a file with this whole name");
            diagnostics.push(fault.help(format!("write `command: {}`", as_list(program))));
        }
        for (word, span) in options(role, command, args) {
            let message = format!("an option and its value are one argument: `{}`", shown(word));
            let fault = Diagnostic::at(&code::KB0468, span, message)
                .note("no shell splits arguments: the program gets an unknown option with a space in its name");
            diagnostics.push(fault.help(format!("write two items: `{}`", as_list(word).trim_matches(['[', ']']))));
        }
    }
}

/// Returns the words that are an option and its value; not what is itself the value of an option.
fn options<'r>(role: &'r Role, command: &'r [Span], args: &'r [Span]) -> impl Iterator<Item = (&'r str, Span)> {
    let commands = role.command.iter().zip(command);
    let words: Vec<(&str, Span)> =
        commands.chain(role.args.iter().zip(args)).map(|(word, span)| (word.as_str(), *span)).collect();
    let before: Vec<&str> = std::iter::once("").chain(words.iter().map(|(word, _)| *word)).collect();
    let pairs = before.into_iter().zip(words);
    pairs.filter(|(before, (word, _))| !before.starts_with('-') && is_option(word)).map(|(_, word)| word)
}

/// Whether a word is `--name value`, and nothing else.
fn is_option(word: &str) -> bool {
    let Some(name) = word.strip_prefix("--") else { return false };
    let Some((name, value)) = name.split_once(' ') else { return false };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(is_name) && !value.is_empty() && !value.contains(char::is_whitespace)
}

fn as_list(text: &str) -> String {
    if text.contains(['|', '&', ';', '<', '>', '$', '`', '(', '*', '"', '\'', '\\', '#']) {
        return format!("[sh, -c, '{}']", text.trim().replace('\'', "''"));
    }
    let words: Vec<String> = text.split_whitespace().map(quoted).collect();
    format!("[{}]", words.join(", "))
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '=');
    if classify(word) == Plain::Text && word.chars().all(is_plain) && word != "-" {
        word.to_owned()
    } else {
        format!("\"{word}\"")
    }
}

/// Long texts are scripts, of which the beginning is enough.
fn shown(word: &str) -> String {
    const LONGEST: usize = 60;
    match word.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", word.get(..end).unwrap_or(word)),
        None => word.to_owned(),
    }
}
