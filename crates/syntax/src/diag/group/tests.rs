use kubebench_testing::snapshot::{assert_text, str};

use super::*;
use crate::diag::Diagnostics;
use crate::diag::code::{KB0201, KB0202, KB0401, KB0502};
use crate::text::{Source, Span};

/// `count` specs, each with what `finding` says of its number at its first word.
fn specs(count: usize, sources: &mut SourceMap, finding: impl Fn(usize, Span) -> Diagnostic) -> Vec<Diagnostic> {
    (0..count)
        .map(|number| {
            let id = sources.add(Source::new(format!("specs/s{number:04}.yaml"), b"repeat: 5\n"));
            finding(number, Span::new(id, 0..6))
        })
        .collect()
}

fn sorted(findings: Vec<Diagnostic>, sources: &SourceMap) -> Vec<Diagnostic> {
    findings.into_iter().collect::<Diagnostics>().into_sorted(sources)
}

#[test]
fn a_thousand_specs_with_one_mistake_are_one_finding_after_the_rare_one() {
    let mut sources = SourceMap::default();
    let mut all = specs(1_000, &mut sources, |_, span| Diagnostic::at(&KB0201, span, "unknown field `repeat`"));
    all.extend(specs(1, &mut sources, |_, span| Diagnostic::at(&KB0202, span, "the spec has no `kind`")));
    let all = sorted(all, &sources);
    let shown = shown(&all, &sources);
    let counts: Vec<(&str, usize)> = shown.iter().map(|shown| (shown.finding.code.id, shown.count)).collect();
    assert_eq!(counts, [("KB0202", 1), ("KB0201", 1_000)]);
    assert_text(
        shown[1].finding.notes.join("\n"),
        str! {"the same in 999 more places: specs/s0001.yaml:1:1, specs/s0002.yaml:1:1, specs/s0003.yaml:1:1, specs/s0004.yaml:1:1, specs/s0005.yaml:1:1, specs/s0006.yaml:1:1, specs/s0007.yaml:1:1, specs/s0008.yaml:1:1, specs/s0009.yaml:1:1, specs/s0010.yaml:1:1 and 989 more"},
    );
}

#[test]
fn few_findings_stay_as_they_are() {
    let mut sources = SourceMap::default();
    let same = |_, span| Diagnostic::at(&KB0201, span, "unknown field `repeat`");
    let mut all = specs(IN_FULL, &mut sources, same);
    all.extend(specs(MESSAGES, &mut sources, |number, span| {
        Diagnostic::at(&KB0401, span, format!("image `i{number}` has no tag"))
    }));
    let shown: Vec<Diagnostic> = shown(&all, &sources).into_iter().map(|shown| shown.finding).collect();
    assert_eq!(shown, all);
}

#[test]
fn many_messages_that_differ_in_what_they_quote_are_one() {
    let mut sources = SourceMap::default();
    let all =
        specs(50, &mut sources, |number, span| Diagnostic::at(&KB0401, span, format!("image `i{number}` has no tag")));
    let shown = shown(&all, &sources);
    assert_eq!(shown.len(), 1);
    assert_text(
        shown[0].finding.notes.join("\n"),
        str! {[r#"
49 more findings of this kind
specs/s0001.yaml:1:1: image `i1` has no tag
specs/s0002.yaml:1:1: image `i2` has no tag
specs/s0003.yaml:1:1: image `i3` has no tag
specs/s0004.yaml:1:1: image `i4` has no tag
specs/s0005.yaml:1:1: image `i5` has no tag
specs/s0006.yaml:1:1: image `i6` has no tag
specs/s0007.yaml:1:1: image `i7` has no tag
specs/s0008.yaml:1:1: image `i8` has no tag
specs/s0009.yaml:1:1: image `i9` has no tag
specs/s0010.yaml:1:1: image `i10` has no tag
and 39 more; `--output-format concise` lists all
"#]},
    );
}

#[test]
fn a_cause_names_owners_and_its_file() {
    let found: Vec<Diagnostic> = (0..30)
        .map(|number| {
            let path = format!("generated/t/b{}/{number}.yaml", number % 15);
            Diagnostic::in_file(&KB0502, path, format!("manifest {number} is stale")).cause(Cause {
                key: "namespace".to_owned(),
                noun: "manifest",
                words: "are not what `kubebench.yaml` and the specs compile to".to_owned(),
                owner: Some(format!("b{}", number % 15)),
                place: Some(Place::File("kubebench.yaml".to_owned())),
                note: Some("all differ in `namespace: a`".to_owned()),
            })
        })
        .collect();
    let shown = shown(&found, &SourceMap::default());
    assert_eq!((shown.len(), shown[0].count), (1, 30));
    let finding = &shown[0].finding;
    assert_eq!(finding.place, Place::File("kubebench.yaml".to_owned()));
    assert_text(
        format!("{}\n{}", finding.message, finding.notes.join("\n")),
        str! {[r#"
30 manifests of 15 benchmarks are not what `kubebench.yaml` and the specs compile to
15 benchmarks: b0, b1, b10, b11, b12, b13, b14, b2, b3, b4 and 5 more
all differ in `namespace: a`
"#]},
    );
}

#[test]
fn every_finding_has_the_id_of_its_group() {
    let mut sources = SourceMap::default();
    let all = specs(3, &mut sources, |number, span| {
        Diagnostic::at(&KB0201, span, if number == 1 { "unknown field `a`" } else { "unknown field `b`" })
    });
    let ids = ids(&all);
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[0], ids[2]);
    assert_ne!(ids[0], ids[1]);
    assert!(ids.iter().all(|id| id.len() == ID_LENGTH));
}
