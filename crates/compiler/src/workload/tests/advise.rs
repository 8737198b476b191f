use crate::compile::document_schemas;
use kubebench_format::schema::DocumentKind;
use kubebench_syntax::diag::fix::fix;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;
use kubebench_testing::snapshot::{Snapshot, assert_text, str};

/// Checks the help for the one ambiguous scalar in `field`, a line below `spec`, and the line after its fix.
#[track_caller]
fn check(field: &str, help: Snapshot, fixed: &str) {
    let head = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: x}\nspec:\n  ";
    let source = Source::new("specs/x.yaml", format!("{head}{field}\n").as_bytes());
    let yaml::Read { root, mut diagnostics } = yaml::read(SourceId(0), &source);
    document_schemas().advise(&DocumentKind::ALL, &source, root.as_ref(), &mut diagnostics);
    assert_eq!(diagnostics.len(), 1, "{field}: {diagnostics:?}");
    assert_text(diagnostics[0].help.as_ref().unwrap(), help);
    let text = fix(SourceId(0), &source, &diagnostics);
    assert_eq!(text.strip_prefix(head).map(str::trim_end), Some(fixed), "{field}");
}

#[test]
fn a_number_is_no_text() {
    check("repeats: 1_0", str! {"write `10`"}, "repeats: 10");
    check("repeats: +5", str! {"write `5`"}, "repeats: 5");
    check("repeats: 010", str! {"write `10` if it is decimal, or the decimal number that it means"}, "repeats: 010");
    check("repeats: yes", str! {"write a whole number, such as `5`"}, "repeats: yes");
    check(
        "gates: [{metric: a, min: on}]",
        str! {"write a decimal number, such as `0.5`"},
        "gates: [{metric: a, min: on}]",
    );
}

#[test]
fn text_is_no_number() {
    check("description: yes", str! {"write `\"yes\"`"}, "description: \"yes\"");
    let both = str! {"write `\"0777\"` for the text or `777` for the value"};
    check("workload: {job: {args: [a, 0777]}}", both, "workload: {job: {args: [a, \"0777\"]}}");
    check("timeout: 1:30", str! {"write `\"1:30\"`"}, "timeout: \"1:30\"");
}

#[test]
fn a_flag_is_true_or_false() {
    check("metrics: [{name: a, primary: yes}]", str! {"write `true`"}, "metrics: [{name: a, primary: true}]");
}

#[test]
fn where_anything_fits_both_are_offered() {
    check(
        "parameters: {a: yes}",
        str! {"write `\"yes\"` for the text or `true` for the value"},
        "parameters: {a: \"yes\"}",
    );
    check("nothing: yes", str! {"write `\"yes\"` for the text or `true` for the value"}, "nothing: \"yes\"");
}
