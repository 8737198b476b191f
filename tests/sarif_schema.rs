//! SARIF output against the standard's own schema (`tests/data/SOURCE.md`).

use kubebench_syntax::diag::code;
use kubebench_syntax::diag::render::{Format, Report, Style, render};
use kubebench_syntax::diag::{Diagnostic, Place};
use kubebench_syntax::text::{Source, SourceMap, Span};

#[test]
fn sarif_is_valid_against_the_schema_of_the_standard() {
    let mut schema: serde_json::Value = serde_json::from_str(include_str!("data/sarif-2.1.0.schema.json")).unwrap();
    // The published pattern ends in a stray bracket, which the validator rightly refuses; kubebench writes no `language`.
    for definition in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][definition]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();

    let hostile = "a b%\n::x]]>\"\0\u{1b}\u{202e}🦀.yaml";
    let mut sources = SourceMap::default();
    let id = sources.add(Source::new(hostile, "a: 1\n🦀: 2\n".as_bytes()));
    let span = Span::new(id, 0..4);
    let mut findings = vec![
        Diagnostic::in_file(&code::KB0501, "generated/x.yaml", "missing"),
        Diagnostic::in_file(&code::KB0501, "", ""),
        Diagnostic::at(&code::KB0105, Span::default(), "empty span"),
        Diagnostic::at(&code::KB0105, span, hostile)
            .label(hostile)
            .note(hostile)
            .help(hostile)
            .related(Place::Span(span), hostile)
            .related(Place::File(hostile.to_owned()), "")
            .fix(span, hostile),
    ];
    findings.extend(code::ALL.iter().map(|code| Diagnostic::at(code, span, "one of each")));
    let many: Vec<_> = (0..5_001).map(|_| Diagnostic::at(&code::KB0401, span, "many")).collect();

    for diagnostics in [&[][..], &findings, &many] {
        let report = Report { diagnostics, sources: &sources, checked: &[], style: Style::Plain };
        let log = serde_json::from_str(&render(Format::Sarif, &report)).unwrap();
        let faults: Vec<_> =
            validator.iter_errors(&log).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }

    let mut broken: serde_json::Value = serde_json::from_str(&render(
        Format::Sarif,
        &Report { diagnostics: &findings, sources: &sources, checked: &[], style: Style::Plain },
    ))
    .unwrap();
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&broken), "the schema does not look at results at all");
}
