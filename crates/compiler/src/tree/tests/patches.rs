use super::diff::{Style, unified};
use super::*;

fn diff(wanted: &OutputTree, on_disk: &OnDisk, style: Style) -> String {
    plan(wanted, on_disk, &Scope::default()).diff("generated", style)
}

#[test]
fn a_diff_names_both_sides() {
    let wanted = tree(&[("t/new.yaml", "a: 1\n"), ("t/stale.yaml", "a: 1\nb: 2\n")]);
    let on_disk = disk([
        ("t/stale.yaml", written("specs/x.yaml", "a: 0\nb: 2\n")),
        ("t/gone.yaml", written("specs/gone.yaml", "c: 3\n")),
        ("t/foreign.yaml", Found::File(b"mine".to_vec())),
    ]);
    let text = diff(&wanted, &on_disk, Style::Plain);
    let kept: Vec<_> = text.lines().filter(|line| !line.contains("sha256:") && !line.contains("Generated")).collect();
    assert_eq!(
        kept,
        [
            "--- a/generated/t/gone.yaml",
            "+++ /dev/null",
            "@@ -1,3 +0,0 @@",
            "-c: 3",
            "--- /dev/null",
            "+++ b/generated/t/new.yaml",
            "@@ -0,0 +1,3 @@",
            "+a: 1",
            "--- a/generated/t/stale.yaml",
            "+++ b/generated/t/stale.yaml",
            "@@ -1,4 +1,4 @@",
            "-a: 0",
            "+a: 1",
            " b: 2",
        ]
    );
}

#[test]
fn line_endings_take_one_line() {
    let wanted = tree(&[("t/x.yaml", "a: 1\n")]);
    let crlf = wanted.get("t/x.yaml").unwrap().text.replace('\n', "\r\n");
    let on_disk = disk([("t/x.yaml", Found::File(crlf.into_bytes()))]);
    let expected = "Files a/generated/t/x.yaml and b/generated/t/x.yaml differ only in line ends\n";
    assert_eq!(diff(&wanted, &on_disk, Style::Plain), expected);
}

#[test]
fn a_terminal_sees_colors_and_nothing_that_steers_it() {
    let painted = unified("a\x1b[2J\n same\n--- x\n", "b\u{9b}\n same\n", "a/x", "b/x", Style::Ansi);
    let expected = "\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1,3 +1,2 @@\x1b[0m\n\
                    \x1b[31m-a^[[2J\x1b[0m\n\x1b[32m+b\\u{9b}\x1b[0m\n  same\n\x1b[31m---- x\x1b[0m\n";
    assert_eq!(painted, expected);
    let colors = ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m"];
    let plain = colors.iter().fold(painted, |text, color| text.replace(color, ""));
    let shown = unified("a\x1b[2J\n same\n--- x\n", "b\u{9b}\n same\n", "a/x", "b/x", Style::Visible);
    assert_eq!(shown, plain);
    let reordered = unified("", "a\u{202e}b\u{200b}\n", "/dev/null", "b/x", Style::Visible);
    assert!(reordered.ends_with("+a\\u{202e}b\\u{200b}\n"), "{reordered}");
}

#[test]
fn a_lone_carriage_return_ends_no_line() {
    let text = unified("a\rb\nc", "a\rb\nd\n", "a/x", "b/x", Style::Plain);
    assert_eq!(text, "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\rb\n-c\n\\ No newline at end of file\n+d\n");
}
