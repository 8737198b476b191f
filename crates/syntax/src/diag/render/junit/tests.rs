use super::super::Format;
use super::super::tests::{Fixture, HOSTILE};
use super::*;
use crate::diag::code::{KB0105, KB0401};
use crate::text::Span;

#[test]
fn files_that_pass_are_cases_too() {
    assert_eq!(
        Fixture::sample().render(Format::Junit),
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="kubebench" tests="3" failures="2" errors="0">
  <testsuite name="kubebench" tests="3" failures="2" errors="0" skipped="0">
    <testcase classname="generated/default/x/config.yaml" name="KB0501" file="generated/default/x/config.yaml">
      <properties>
        <property name="group" value="9ae20bd24a9c9c0b"/>
      </properties>
      <failure message="manifest is missing" type="KB0501">generated/default/x/config.yaml: error[KB0501]: manifest is missing; help: run `kubebench compile`</failure>
    </testcase>
    <testcase classname="specs/fine.yaml" name="valid" file="specs/fine.yaml"/>
    <testcase classname="specs/x.yaml" name="KB0105" file="specs/x.yaml">
      <properties>
        <property name="group" value="8ec85bb379329406"/>
        <property name="group" value="e6666aeb2688eeaa"/>
      </properties>
      <failure message="duplicate key `repeats`" type="KB0105">specs/x.yaml:5:3: error[KB0105]: duplicate key `repeats`; help: remove one of the two lines</failure>
      <system-out>specs/x.yaml:3:10: warning[KB0401]: image `demo` has neither tag nor digest; help: write `demo@sha256:…`</system-out>
    </testcase>
  </testsuite>
</testsuites>
"#
    );
}

#[test]
fn one_case_a_code_with_all_its_findings() {
    let text = Fixture::many(&KB0105, 3).render(Format::Junit);
    assert_eq!(text.matches("<testcase ").count(), 1);
    assert_eq!(text.matches("<failure ").count(), 1);
    assert_eq!(text.matches("error[KB0105]").count(), 3);
}

#[test]
fn a_warning_alone_passes() {
    let text = Fixture::many(&KB0401, 1).render(Format::Junit);
    assert!(text.contains(r#"tests="1" failures="0""#));
    assert!(text.contains(r#"name="valid""#) && text.contains("<system-out>"));
}

#[test]
fn markup_and_characters_outside_xml_are_spelled_out() {
    let mut fixture = Fixture::default();
    let id = fixture.source(HOSTILE, "x");
    fixture.push(Diagnostic::at(&KB0105, Span::new(id, 0..1), HOSTILE));
    let text = fixture.render(Format::Junit);
    let shown =
        "a\\nb\\r\\n::error::x%0A,y=z]]&gt;&amp;&quot;'&lt;c&gt;\\u{0}\\u{1b}[31m\\u{202e}\\u{9b}\\u{ffff}🦀`${{ x }}`";
    assert_eq!(text.matches(shown).count(), 5, "{text}");
    assert!(!text.contains("]]>"));
    let allowed = |c: char| c == '\n' || !(c.is_control() || c == '\u{fffe}' || c == '\u{ffff}');
    assert!(text.chars().all(allowed));
}
