//! Keeps a file with very many findings from burying all others.

use super::{Diagnostic, code, group};
use crate::text::SourceMap;

/// The most findings shown of one file.
pub(crate) const MAX_OF_ONE_FILE: usize = 100;

/// Returns `sorted` with at most [`MAX_OF_ONE_FILE`] findings of each file, the worst and rarest ones, and a last one
/// that counts the others.
pub fn limited(sorted: &[Diagnostic], sources: &SourceMap) -> Vec<Diagnostic> {
    let of_files = sorted.chunk_by(|one, other| one.path(sources) == other.path(sources));
    of_files.flat_map(|of_file| limited_file(of_file, sources)).collect()
}

fn limited_file(findings: &[Diagnostic], sources: &SourceMap) -> Vec<Diagnostic> {
    let mut numbers: Vec<usize> = (0..findings.len()).collect();
    if findings.len() > MAX_OF_ONE_FILE {
        let frequencies = group::frequencies(findings);
        numbers.sort_by_key(|number| {
            (findings.get(*number).map(|finding| finding.severity), frequencies.get(*number).copied())
        });
    }
    let left_out = numbers.split_off(findings.len().min(MAX_OF_ONE_FILE));
    numbers.sort_unstable();
    let mut shown: Vec<Diagnostic> = numbers.iter().filter_map(|number| findings.get(*number)).cloned().collect();
    if let Some(worst) = left_out.first().and_then(|number| findings.get(*number)) {
        let message = format!("{} more findings about this file are not shown", left_out.len());
        let mut more = Diagnostic::in_file(&code::KB0116, worst.path(sources), message)
            .help("correct the ones above; many may have one cause");
        more.severity = worst.severity;
        shown.push(more);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Severity;
    use crate::text::{Source, Span};

    fn some(count: usize, code: &'static crate::diag::Code, sources: &mut SourceMap) -> Vec<Diagnostic> {
        let id = sources.add(Source::new(format!("{}{count}", code.id), b"x"));
        (0..count).map(|number| Diagnostic::at(code, Span::new(id, 0..1), number.to_string())).collect()
    }

    #[test]
    fn few_findings_stay_as_they_are() {
        let mut sources = SourceMap::default();
        let mut all = some(MAX_OF_ONE_FILE, &code::KB0110, &mut sources);
        all.extend(some(3, &code::KB0401, &mut sources));
        assert_eq!(limited(&all, &sources), all);
        assert_eq!(limited(&[], &sources), []);
    }

    #[test]
    fn the_others_are_counted_and_errors_are_shown_first() {
        let mut sources = SourceMap::default();
        let mut all = some(MAX_OF_ONE_FILE + 5, &code::KB0401, &mut sources);
        if let Some(last) = all.last_mut() {
            last.severity = Severity::Error;
        }
        let shown = limited(&all, &sources);
        assert_eq!(shown.len(), MAX_OF_ONE_FILE + 1);
        assert_eq!(shown[..MAX_OF_ONE_FILE - 1], all[..MAX_OF_ONE_FILE - 1]);
        assert_eq!(shown.get(MAX_OF_ONE_FILE - 1), all.last());
        let more = &shown[MAX_OF_ONE_FILE];
        assert_eq!((more.code.id, more.severity), ("KB0116", Severity::Warning));
        assert!(more.message.starts_with("5 more findings"), "{}", more.message);

        let errors = some(MAX_OF_ONE_FILE + 1, &code::KB0110, &mut sources);
        assert_eq!(limited(&errors, &sources)[MAX_OF_ONE_FILE].severity, Severity::Error);
    }
}
