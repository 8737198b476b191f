//! What is wrong with a file among results, and where.

use super::{BenchmarkResult, Fault, content, path, read};
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{Source, SourceId, Span};

const RESTORE: &str = "restore the original from git or from where it ran, or delete the file";

/// Returns what is wrong with the file `shown`, which holds `bytes`, if anything is.
///
/// `place` is its path below the results folder, if it is in there; `id` is the number of its text among the sources.
pub fn judge(shown: &str, bytes: &[u8], place: Option<&str>, id: SourceId) -> Option<Diagnostic> {
    let result = match read(bytes) {
        Ok(sealed) => sealed.result,
        Err(fault) => return Some(of_fault(shown, bytes, place, &fault, id)),
    };
    misplaced(shown, place, &result)
}

fn misplaced(shown: &str, place: Option<&str>, result: &BenchmarkResult) -> Option<Diagnostic> {
    let (actual, wanted) = (place?, path(result));
    let folder = shown.strip_suffix(actual).expected("a file that is shown with its place at the end");
    (actual != wanted).then(|| {
        Diagnostic::in_file(&code::KB0368, shown, format!("this result belongs at `{folder}{wanted}`"))
            .note("its place follows from its content; at two places it would be counted twice")
            .help("move it there, or delete it if it is already there")
    })
}

fn of_fault(shown: &str, bytes: &[u8], place: Option<&str>, fault: &Fault, id: SourceId) -> Diagnostic {
    let text = &Source::new(shown, bytes).text;
    let at = |code, span: Option<Span>| match span {
        Some(span) => Diagnostic::at(code, span, fault.to_string()),
        None => Diagnostic::in_file(code, shown, fault.to_string()),
    };
    match fault {
        Fault::TooLarge => at(&code::KB0365, None).help("logs and reports are artifacts"),
        Fault::NotJson(_) => at(&code::KB0363, place_of_error::<serde_json::Value>(text, id))
            .note(
                "if the file was truncated or overwritten, git or the machine that ran the benchmark has the original",
            )
            .help(RESTORE),
        Fault::NotAResult => at(&code::KB0363, None).help("keep other files elsewhere"),
        Fault::UnknownVersion(_) => at(&code::KB0364, key(text, "schemaVersion", id))
            .note("guessing what its fields mean could give wrong numbers")
            .help("use the version of Kubebench that wrote it, or a newer one"),
        Fault::Malformed(reason) => {
            let named = reason.split('`').nth(1).and_then(|field| field.rsplit('.').next());
            let span = place_of_error::<BenchmarkResult>(text, id).or_else(|| key(text, named?, id));
            at(&code::KB0365, span).note("no version of Kubebench writes such a file").help(RESTORE)
        }
        Fault::Edited { .. } => at(&code::KB0366, key(text, "digest", id))
            .note("a result says what was measured, and is never changed")
            .help("restore the original from git or from where it ran; to correct a run, run it again"),
        Fault::Reformatted => {
            let fault = at(&code::KB0367, None)
                .note("a result has exactly one spelling, so that it is recorded once")
                .help("restore the original from git or from where it ran, and keep formatters away from results");
            let elsewhere = content(bytes).ok().and_then(|result| misplaced(shown, place, &result));
            elsewhere.map_or(fault.clone(), |elsewhere| fault.note(elsewhere.message))
        }
    }
}

/// Returns where reading `text` as `T` ends in an error.
fn place_of_error<T: serde::de::DeserializeOwned>(text: &str, id: SourceId) -> Option<Span> {
    let error = serde_json::from_str::<T>(text).err().filter(|error| error.line() > 0)?;
    let start: usize = text.split_inclusive('\n').take(error.line() - 1).map(str::len).sum();
    let mut at = (start + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let length = text.get(at..)?.chars().next().map_or(0, char::len_utf8);
    Some(Span::new(id, at..at + length))
}

/// Returns the place of the key: that of the outermost object first, as results are laid out.
fn key(text: &str, name: &str, id: SourceId) -> Option<Span> {
    let quoted = format!("\"{name}\":");
    let outermost = text.find(&format!("\n  {quoted}")).map(|at| at + 3);
    let at = outermost.or_else(|| text.find(&quoted))?;
    Some(Span::new(id, at..at + quoted.len() - 1))
}

#[cfg(test)]
mod tests;
