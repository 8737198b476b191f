//! What every format must withstand, and the reports that the formats' own tests share.

use std::ops::Range;

use proptest::prelude::*;

use super::printable::is_hidden;
use super::*;
use crate::diag::code::{KB0105, KB0202, KB0401, KB0501};
use crate::diag::{Code, Diagnostics, Place};
use crate::text::{Source, SourceId, Span};

/// Sources, findings and checked paths that outlive the reports made of them.
#[derive(Default)]
pub(super) struct Fixture {
    pub(super) sources: SourceMap,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) checked: Vec<String>,
}

impl Fixture {
    pub(super) fn source(&mut self, path: &str, text: &str) -> SourceId {
        self.checked.push(path.to_owned());
        self.sources.add(Source::new(path, text.as_bytes()))
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) -> &mut Self {
        self.diagnostics.push(diagnostic);
        self
    }

    pub(super) fn render(&self, format: Format) -> String {
        self.render_in(format, Style::Plain)
    }

    pub(super) fn render_in(&self, format: Format, style: Style) -> String {
        let Self { sources, diagnostics, checked } = self;
        render(format, &Report { diagnostics, sources, checked, style })
    }

    /// A spec with a duplicate key and an unpinned image, one without a fault, and a missing manifest.
    pub(super) fn sample() -> Self {
        let mut fixture = Self::default();
        let text = "kind: Benchmark\nspec:\n  image: demo\n  repeats: 5\n  repeats: 5\n";
        let id = fixture.source("specs/x.yaml", text);
        fixture.source("specs/fine.yaml", "kind: Benchmark\n");
        let at = |range| Span::new(id, range);
        let mut found = Diagnostics::default();
        found.push(
            Diagnostic::at(&KB0105, at(51..58), "duplicate key `repeats`")
                .label("again here")
                .related(Place::Span(at(38..45)), "first here")
                .note("readers disagree about which value counts")
                .help("remove one of the two lines")
                .fix(at(49..62), ""),
        );
        found.push(
            Diagnostic::at(&KB0401, at(31..35), "image `demo` has neither tag nor digest")
                .help("write `demo@sha256:…`"),
        );
        found.push(
            Diagnostic::in_file(&KB0501, "generated/default/x/config.yaml", "manifest is missing")
                .help("run `kubebench compile`"),
        );
        fixture.diagnostics = found.into_sorted(&fixture.sources);
        fixture
    }

    /// `count` findings of one code on lines of their own.
    pub(super) fn many(code: &'static Code, count: usize) -> Self {
        let mut fixture = Self::default();
        let id = fixture.source("specs/many.yaml", &"key: value\n".repeat(count));
        fixture.diagnostics =
            (0..count).map(|n| Diagnostic::at(code, Span::new(id, n * 11..n * 11 + 3), "something")).collect();
        fixture
    }
}

/// Text that has a meaning in at least one format.
pub(super) const HOSTILE: &str = "a\nb\r\n::error::x%0A,y=z]]>&\"'<c>\0\u{1b}[31m\u{202e}\u{9b}\u{ffff}🦀`${{ x }}`";

#[test]
fn names_are_read_back_and_nothing_else_is() {
    for format in Format::ALL {
        assert_eq!(Format::parse(format.name()), Some(format));
    }
    assert_eq!(Format::parse("Human"), None);
    assert_eq!(Format::parse(""), None);
}

#[test]
fn every_format_ends_with_a_line_break_or_is_empty() {
    for format in Format::ALL {
        assert!(Fixture::sample().render(format).ends_with('\n'), "{format:?}");
        let nothing = Fixture::default().render(format);
        assert!(nothing.is_empty() || nothing.ends_with('\n'), "{format:?}");
    }
}

#[test]
fn only_human_colors() {
    for format in Format::ALL {
        let (plain, colored) = (Fixture::sample(), Fixture::sample().render_in(format, Style::Colored));
        assert!(!plain.render(format).contains('\x1b'));
        assert_eq!(colored.contains('\x1b'), format == Format::Human, "{format:?}");
    }
}

#[test]
fn no_format_writes_a_raw_control_character() {
    let mut fixture = Fixture::default();
    let id = fixture.source(HOSTILE, HOSTILE);
    for start in 0..HOSTILE.len() {
        fixture.push(hostile_at(id, start..start + 3));
    }
    fixture.push(Diagnostic::in_file(&KB0501, HOSTILE, HOSTILE));
    for format in Format::ALL {
        let text = fixture.render(format);
        assert!(!text.contains(|c: char| c < ' ' && c != '\n'), "{format:?}");
        if !matches!(format, Format::Json | Format::Sarif | Format::Gitlab | Format::Github) {
            assert!(!text.contains(|c: char| is_hidden(c) && c != '\n'), "{format:?}");
        }
    }
}

fn hostile_at(id: SourceId, range: Range<usize>) -> Diagnostic {
    let span = Span::new(id, range);
    Diagnostic::at(&KB0202, span, HOSTILE)
        .label(HOSTILE)
        .note(HOSTILE)
        .help(HOSTILE)
        .related(Place::Span(span), HOSTILE)
        .related(Place::File(HOSTILE.to_owned()), HOSTILE)
        .fix(span, HOSTILE)
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z :\"'-]{0,12}",
        2 => Just("\n".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("語🦀e\u{301}\u{200d}".to_owned()),
        1 => any::<char>().prop_map(String::from),
        1 => (1_usize..400).prop_map(|n| "long ".repeat(n)),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_and_no_span_breaks_a_format(
        text in any_text(),
        words in any_text(),
        spans in proptest::collection::vec((0_usize..4_000, 0_usize..4_000, 0_u32..3), 1..8),
    ) {
        let mut fixture = Fixture::default();
        fixture.source("a.yaml", &text);
        fixture.source("b.yaml", &words);
        let spans: Vec<_> = spans.iter().map(|(from, to, id)| Span::new(SourceId(*id), *from..*to)).collect();
        let mut diagnostic = Diagnostic::at(&KB0105, spans[0], words.clone()).label(words.clone()).note(words);
        for span in &spans {
            diagnostic = diagnostic.related(Place::Span(*span), "here").fix(*span, text.clone());
        }
        fixture.push(diagnostic);
        for format in Format::ALL {
            let shown = fixture.render(format);
            prop_assert!(!shown.contains(|c: char| c < ' ' && c != '\n'));
        }
    }
}

/// However long its line, a finding shows a few hundred characters of it, and of the file nothing else.
#[test]
fn a_thousand_findings_in_a_file_of_one_mebibyte_are_short() {
    let texts = ["key: value # and a comment\n".repeat(38_000), "key: value, ".repeat(87_000)];
    for text in texts {
        let mut fixture = Fixture::default();
        let id = fixture.source("specs/big.yaml", &text);
        for n in 0..1_000 {
            let at = n * (text.len() / 1_000);
            let finding = Diagnostic::at(&KB0105, Span::new(id, at..at + 3), "duplicate key `key`")
                .label("again")
                .related(Place::Span(Span::new(id, 0..3)), "first")
                .note("a note")
                .help("remove it");
            fixture.push(finding);
        }
        for format in Format::ALL {
            let size = fixture.render(format).len();
            println!("{:8} {size:8} bytes", format.name());
            assert!(size < 2 << 20, "{format:?}: {size} bytes");
        }
    }
}
