#![expect(clippy::string_slice, reason = "a test fails by panicking")]

use kubebench_syntax::yaml::Step;

use super::*;

fn shown(way: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => key.clone(),
        Step::Index(index) => index.to_string(),
    };
    way.iter().map(step).collect::<Vec<_>>().join(".")
}

fn outline(text: &str) -> Vec<String> {
    let shown = |item: &Item| {
        let word = if item.form == Form::Word { "?" } else { "" };
        format!("{}{word} = {}", shown(&item.way), text[item.value.clone()].replace('\n', "|"))
    };
    Outline::of(text).items.iter().map(shown).collect()
}

#[test]
fn levels_are_those_of_the_indentation() {
    let text = "a: 1 # one\nb:\n  c: \"x y\"\n  d:\n  - e: 'f'\n    g: h\n  - - i\n    - j\n  -\n  k: |\n    l\n\n    m: n\n  o:\n    - p: q\nr: s: t\n";
    assert_eq!(
        outline(text),
        [
            "a = 1",
            "b = ",
            "b.c = x y",
            "b.d = ",
            "b.d.0.e = f",
            "b.d.0.g = h",
            "b.d.1.0 = i",
            "b.d.1.1 = j",
            "b.d.2 = ",
            "b.k = ||    l||    m: n",
            "b.o = ",
            "b.o.0.p = q",
            "r = s: t",
        ]
    );
}

#[test]
fn brackets_are_read_too() {
    let text = "a: {b: [1, \"x, y\"], c: {d: e}} # f\ng: [\n  {h: ${{ i.j }}}, # k: l\n  m\n]\nn: o\n";
    assert_eq!(
        outline(text),
        [
            "a = ",
            "a.b = ",
            "a.b.0 = 1",
            "a.b.1 = x, y",
            "a.c = ",
            "a.c.d = e",
            "g = ",
            "g.0 = ",
            "g.0.h = ${{ i.j }}",
            "g.1 = m",
            "n = o"
        ]
    );
}

#[test]
fn what_is_not_finished_hides_nothing_below() {
    assert_eq!(
        outline("a:\n  b: [x, {c\n  d: e\nf\ng: h\n"),
        ["a = ", "a.b = ", "a.b.0 = x", "a.b.1 = ", "a.b.1? = c", "a.d = e", "? = f", "g = h"]
    );
    assert_eq!(outline("a:\n  b\n  c: d\n"), ["a = ", "a? = b", "a.c = d"]);
}

#[test]
fn every_text_has_an_outline() {
    let text = "a: {b: ['c, \"\u{e9}: [}]{\n- \u{1f600} - :\n  : {:,}\n";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        for start in (0..end).filter(|start| text.is_char_boundary(*start)) {
            let part = &text[start..end];
            for Item { key, value, .. } in Outline::of(part).items {
                assert!(part.get(value).is_some() && key.is_none_or(|key| part.get(key).is_some()), "{part:?}");
            }
        }
    }
    assert!(Outline::of(&"[".repeat(100_000)).items.len() < 100);
}
