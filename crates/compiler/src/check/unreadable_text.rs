//! KB0439: texts of several lines that are one line in the manifests, because of a character that no block of YAML holds.

use super::carried::is_from_windows;
use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::{self, Node, Value};

/// Reports such texts in a project file, benchmark or suite.
pub(crate) fn in_document(node: &Node, diagnostics: &mut Diagnostics) {
    match &node.value {
        Value::String(text) => {
            if let Some(found) = yaml::obstacle(text) {
                let message = format!("the manifests show this text as one line, because it contains {}", name(found));
                let fault = Diagnostic::at(&code::KB0439, node.span, message).note(NOTE);
                diagnostics.push(fault.help(match found {
                    '\r' => "write `\\n` for `\\r\\n`, or the lines in a block (`|`)".to_owned(),
                    other => instead(other),
                }));
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| in_document(item, diagnostics)),
        Value::Map(entries) => entries.iter().for_each(|entry| in_document(&entry.value, diagnostics)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reports such files among those that a benchmark carries; scripts with Windows line ends have a finding of their own.
pub(super) fn of_files(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for (name_of_file, file) in benchmark.files.iter().filter(|(name, file)| !is_from_windows(name, file)) {
        // Binary content has no lines.
        let text = std::str::from_utf8(&file.bytes).ok().filter(|text| !text.contains('\0'));
        let Some(found) = text.and_then(yaml::obstacle) else { continue };
        let message =
            format!("the manifests show the file `{name_of_file}` as one line, because it contains {}", name(found));
        let fault = Diagnostic::at(&code::KB0439, file.span, message).note(NOTE);
        diagnostics.push(fault.help(match found {
            '\r' => format!(
                "remove its carriage returns: `sed -i 's/\\r//g' {0}`, and write `{0} text eol=lf` in `.gitattributes`",
                file.path
            ),
            '\u{feff}' => format!("save `{}` as UTF-8 without a byte order mark", file.path),
            other => instead(other),
        }));
    }
}

const NOTE: &str = "no block scalar of YAML can contain it, so a diff shows any change of the text as one long line";

/// Returns what to write instead of `found`.
fn instead(found: char) -> String {
    match found {
        '\t' => "begin the text with a line that does not start with a tab, such as an empty one".to_owned(),
        '\u{85}' | '\u{2028}' | '\u{2029}' => "write a line feed instead".to_owned(),
        _ if found.is_whitespace() && !found.is_control() => "write a space instead".to_owned(),
        _ if found.is_control() => {
            format!("write it as the program's own escape, such as `\\{:03o}` in `printf`", u32::from(found))
        }
        _ => "remove it, or write it as an escape of the program's language: it is invisible".to_owned(),
    }
}

fn name(character: char) -> String {
    let code = format!("U+{:04X}", u32::from(character));
    match character {
        '\t' => "a tab at its beginning".to_owned(),
        '\r' => format!("a carriage return ({code})"),
        '\u{feff}' => format!("a byte order mark ({code})"),
        '\u{85}' | '\u{2028}' | '\u{2029}' => format!("a Unicode line break ({code})"),
        _ if character.is_control() => format!("a control character ({code})"),
        _ if character.is_whitespace() => format!("a white-space character other than a space ({code})"),
        _ => format!("an invisible character ({code})"),
    }
}
