//! Documents in every layout that YAML allows a spec, made at random.

use std::fmt::Write;

use proptest::prelude::*;

use super::formatted_if_read;

/// A value and how it is written.
#[derive(Clone, Debug)]
enum Doc {
    /// A scalar or flow collection; its further lines are indented relative to its place.
    Inline(String),
    /// A block scalar: its header, the indentation of its lines, and the lines.
    Block(String, usize, Vec<String>),
    /// A sequence and its indentation relative to its key.
    Seq(usize, Vec<(Noise, Self)>),
    /// A mapping and its indentation relative to its key.
    Map(usize, Vec<(Noise, Self)>),
}

/// What a value is below.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Key,
    Dash,
}

/// What is around an entry without any meaning.
#[derive(Clone, Debug)]
struct Noise {
    above: Vec<(usize, String)>,
    beside: String,
    gap: usize,
    explicit: bool,
}

fn comment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        1 => Just("# note".to_owned()),
        1 => Just("#note: [é".to_owned()),
        1 => Just("#  - a: 1 ".to_owned()),
        1 => Just("## x #y".to_owned()),
    ]
}

fn noise() -> impl Strategy<Value = Noise> {
    let above = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec((0..8_usize, comment()), 1..4)];
    (above, comment(), 1..4_usize, prop::bool::weighted(0.05)).prop_map(|(above, beside, gap, explicit)| Noise {
        above,
        beside,
        gap,
        explicit,
    })
}

fn leaf() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "x",
        "1",
        "true",
        "~",
        "",
        "x y",
        "'it''s # x'",
        "\"a\\n: b\"",
        "${{ m.x }}",
        "http://h/p:1",
        "a:b",
        "-x",
        "?q",
        "x#y",
        "\"a\n b\\\n\n  c \\ \"",
        "'a\n\n\tb'",
        "a b\nc\n\nd",
        "é\u{a0}",
        "-",
        ":x",
    ])
    .prop_map(str::to_owned)
}

fn flow() -> impl Strategy<Value = String> {
    let word =
        prop::sample::select(vec!["x", "1", "'a, b'", "\"c\"", "a b", "'a\n b'", "x\ny", "é"]).prop_map(str::to_owned);
    let gap = || prop::sample::select(vec!["", "", " ", "  ", "\n", "\n\n\n", " # note\n", "\n# note\n  # more\n"]);
    word.prop_recursive(3, 16, 4, move |inner| {
        let item = (gap(), inner.clone(), gap()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let colon = prop::sample::select(vec![": ", ":\n", ":  ", ": # note\n", " : "]);
        let pair =
            (gap(), prop::sample::select(vec!["", "", "", "? "]), colon, prop::option::weighted(0.8, inner), gap());
        let close = |joined: String, comma: bool| if comma && !joined.is_empty() { joined + "," } else { joined };
        prop_oneof![
            (prop::collection::vec(item, 0..4), any::<bool>(), gap())
                .prop_map(move |(items, comma, gap)| format!("[{}{gap}]", close(items.join(","), comma))),
            (prop::collection::vec(pair, 0..4), any::<bool>(), gap(), any::<bool>()).prop_map(
                move |(pairs, comma, gap, single)| {
                    let pairs: Vec<String> = pairs
                        .into_iter()
                        .enumerate()
                        .map(|(number, (a, mark, colon, value, b))| match value {
                            Some(value) => format!("{a}{mark}k{number}{colon}{value}{b}"),
                            None => format!("{a}{mark}\"k{number}\"{b}"),
                        })
                        .collect();
                    let body = format!("{}{gap}", close(pairs.join(","), comma));
                    if single { format!("[{body}]") } else { format!("{{{body}}}") }
                }
            ),
        ]
    })
}

fn block() -> impl Strategy<Value = Doc> {
    let line = prop::sample::select(vec!["x", "", "  y", "# no comment", "\tz ", "   ", "k: v", "é"]);
    let header = prop::sample::select(vec!["|", ">", "|-", ">-", "|+", ">+", "|2", ">1-", "|+3"]);
    (header, 1..5_usize, prop::collection::vec(line, 0..6)).prop_map(|(header, step, lines)| {
        let step = header.chars().find_map(|c| c.to_digit(10)).map_or(step, |digit| digit as usize);
        Doc::Block(header.to_owned(), step, lines.into_iter().map(str::to_owned).collect())
    })
}

fn doc() -> impl Strategy<Value = Doc> {
    prop_oneof![3 => leaf().prop_map(Doc::Inline), 2 => flow().prop_map(Doc::Inline), 2 => block()].prop_recursive(
        4,
        40,
        4,
        |inner| {
            let entries = prop::collection::vec((noise(), inner), 1..4).boxed();
            prop_oneof![
                (0..4_usize, entries.clone()).prop_map(|(step, entries)| Doc::Seq(step, entries)),
                (1..5_usize, entries).prop_map(|(step, entries)| Doc::Map(step, entries)),
            ]
        },
    )
}

fn entries(out: &mut String, indent: usize, entries: &[(Noise, Doc)], under: Under) {
    for (number, (noise, doc)) in entries.iter().enumerate() {
        for (column, comment) in &noise.above {
            writeln!(out, "{}{comment}", " ".repeat(if comment.is_empty() { 0 } else { *column })).unwrap();
        }
        let pad = " ".repeat(indent);
        match (under, noise.explicit) {
            (Under::Key, true) => write!(out, "{pad}? k{number}\n{pad}:").unwrap(),
            (Under::Key, false) => write!(out, "{pad}k{number}:").unwrap(),
            (Under::Dash, _) => write!(out, "{pad}-").unwrap(),
        }
        value(out, indent, noise, doc, under);
    }
}

fn value(out: &mut String, indent: usize, noise: &Noise, doc: &Doc, under: Under) {
    let gap = " ".repeat(noise.gap);
    let beside = if noise.beside.is_empty() { String::new() } else { format!("{gap}{}", noise.beside) };
    match doc {
        Doc::Inline(text) => {
            let text = text.replace('\n', &format!("\n{}", " ".repeat(indent + noise.gap)));
            writeln!(out, "{gap}{text}{beside}").unwrap();
        }
        Doc::Block(header, step, lines) => {
            writeln!(out, "{gap}{header}{beside}").unwrap();
            for line in lines {
                let pad = if line.is_empty() { 0 } else { indent + step };
                writeln!(out, "{}{line}", " ".repeat(pad)).unwrap();
            }
        }
        Doc::Seq(step, items) => {
            writeln!(out, "{beside}").unwrap();
            entries(out, indent + if under == Under::Key { *step } else { step + 1 }, items, Under::Dash);
        }
        Doc::Map(step, items) => {
            writeln!(out, "{beside}").unwrap();
            entries(out, indent + step, items, Under::Key);
        }
    }
}

fn rendered(top: &[(Noise, Doc)], end: &Noise, ends_in_line_break: bool) -> String {
    let mut text = String::new();
    entries(&mut text, 0, top, Under::Key);
    for (column, comment) in &end.above {
        writeln!(text, "{}{comment}", " ".repeat(*column)).unwrap();
    }
    if !ends_in_line_break {
        text.pop();
    }
    text
}

/// Lines that are valid together only now and then, and then in unexpected ways.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "a: 1",
        "b:",
        "- x",
        "-",
        "# c",
        "c: |",
        "d: >+",
        "text",
        "e: [1,",
        "2]",
        "f: {a: 1, b}",
        "g: 'q",
        "q'",
        "",
        "? k",
        ": v",
        "---",
        "...",
        "- - z",
        "- h: 1",
        "i: # c",
        "j: x # c",
        "}",
        "{",
        ",",
        "\"l\":",
        "   ",
        "- |-",
        "- # c",
        "m: w",
        "--- # c",
        "- a: |2",
        "? |",
        "o: \"\\",
        "\"",
    ]);
    prop::collection::vec((0..5_usize, scrap), 1..9).prop_map(|lines| {
        let lines: Vec<String> = lines.into_iter().map(|(indent, scrap)| " ".repeat(indent) + scrap).collect();
        lines.join("\n") + "\n"
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn documents(top in prop::collection::vec((noise(), doc()), 1..5), end in noise(), line_break: bool) {
        formatted_if_read("x.yaml", rendered(&top, &end, line_break).as_bytes());
    }

    #[test]
    fn accidents(text in scraps()) {
        formatted_if_read("x.yaml", text.as_bytes());
    }
}

/// The generator is worth something only when the strict reader takes most of what it makes.
#[test]
fn most_generated_documents_can_be_read() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let documents = (prop::collection::vec((noise(), doc()), 1..5), noise());
    let read: usize = (0..200)
        .map(|_| {
            let (top, end) = documents.new_tree(&mut runner).unwrap().current();
            formatted_if_read("x.yaml", rendered(&top, &end, true).as_bytes())
        })
        .sum();
    assert!(read > 100, "only {read} of 200 documents could be read");
}
