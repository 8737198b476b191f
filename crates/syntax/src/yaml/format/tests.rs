mod generated;

use super::*;
use crate::yaml::Read;

/// Formats `text` and checks what must hold for every text that can be formatted.
#[track_caller]
fn formatted(text: &str) -> String {
    let source = Source::new("x.yaml", text.as_bytes());
    let read = read(SourceId::default(), &source);
    assert_eq!(read.diagnostics, [], "{text}");
    let root = read.root.unwrap();
    let comments = comment::find(&source.text).unwrap();
    let mut page = Page::new(&source.text, &comments);
    assert!(page.document(&root).is_some(), "no layout for\n{text}");
    let result = page.finish();
    let Some(proved) = lay_out(&root, &source) else {
        let faults = super::read(SourceId::default(), &Source::new("x.yaml", result.as_bytes())).diagnostics;
        let faults: Vec<_> = faults.iter().map(|fault| (&fault.message, &fault.place)).collect();
        panic!("{text}\n=== became another document ===\n{result}\n=== {faults:?}")
    };
    assert_eq!(proved, result);
    let again = format(SourceId(0), &Source::new("x.yaml", result.as_bytes())).unwrap();
    assert_eq!(again, result, "not idempotent:\n{text}");
    result
}

#[track_caller]
fn becomes(text: &str, expected: &str) {
    let result = formatted(text);
    assert_eq!(result, expected, "from\n{text}\ngot\n{result}");
}

#[test]
fn line_ends_and_empty_lines() {
    becomes("\u{feff}a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n");
    becomes("\n\n\na: 1  \n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n");
    becomes("a: 1", "a: 1\n");
    becomes("a:\n\n\n  b: 1\n \n  c: 2\n", "a:\n\n  b: 1\n\n  c: 2\n");
}

#[test]
fn markers() {
    becomes("---\na: 1\n...\n", "a: 1\n");
    becomes("--- # head\na: 1\n", "# head\na: 1\n");
    becomes("# license\n---\na: 1\n... # end\n# really\n", "# license\n\na: 1\n# end\n# really\n");
    becomes("# license\n---\n# about a\na: 1\n", "# license\n\n# about a\na: 1\n");
    becomes("--- {a: 1}\n", "{a: 1}\n");
    becomes("---\n- 1\n", "- 1\n");
    becomes("...\n...\n---\na: 1\n", "a: 1\n");
}

#[test]
fn indentation() {
    becomes("a:\n    b:\n        c: 1\n    d: 2\n", "a:\n  b:\n    c: 1\n  d: 2\n");
    becomes("a:\n- 1\n- b: 2\n  c: 3\n-   d: 4\n    e: 5\n", "a:\n  - 1\n  - b: 2\n    c: 3\n  - d: 4\n    e: 5\n");
    becomes("a:\n     - - 1\n       - 2\n     -\n       - 3\n", "a:\n  - - 1\n    - 2\n  - - 3\n");
    becomes("a :   1\nb:\n  2\n-x:    z\n", "a: 1\nb: 2\n-x: z\n");
    becomes("-\n  a: 1\n- \n-  \n", "- a: 1\n-\n-\n");
    becomes("a:\nb: ~\nc: null\n", "a:\nb: ~\nc: null\n");
}

#[test]
fn explicit_keys() {
    becomes("? a\n: 1\n? b\n? 'c d'\n:\n  e: 1\n", "a: 1\nb:\n'c d':\n  e: 1\n");
    becomes("?   a # c\n:   1\n", "? a  # c\n: 1\n");
    becomes("? |\n    a\n    b\n: - 1\n  - 2\n", "? |\n  a\n  b\n:\n  - 1\n  - 2\n");
    becomes("? a\n  b\n: 1\n", "? a\n  b\n: 1\n");
}

#[test]
fn comments() {
    becomes("a: 1 # one\nb: 2     #two\n", "a: 1  # one\nb: 2  # two\n");
    becomes("a: # one\n  # two\n  b: 1\n", "a:  # one\n  # two\n  b: 1\n");
    becomes("a: # one\n  1\nb:\n  # two\n  x\n", "a:  # one\n  1\nb:\n  # two\n  x\n");
    becomes("a:\n- # one\n  b: 1\n# two\n- 2 # three\n", "a:\n  -  # one\n    b: 1\n  # two\n  - 2  # three\n");
    becomes("a: | # why\n    x\nb: 1\n", "a: |  # why\n  x\nb: 1\n");
    becomes("a: # why\n  |\n  x\n", "a:  # why\n  |\n  x\n");
    becomes("a: 1\n\n\n# end   \n\n\n", "a: 1\n\n# end\n");
}

#[test]
fn comments_at_the_end_of_a_block() {
    becomes(
        "a:\n    b:\n        c: 1\n        # of c\n      # of b\n    # of b too\n# of d\nd: 1\n",
        "a:\n  b:\n    c: 1\n    # of c\n  # of b\n  # of b too\n# of d\nd: 1\n",
    );
    becomes("a:\n- 1\n# of b\nb:\n- 1\n # of 1\n", "a:\n  - 1\n# of b\nb:\n  - 1\n  # of 1\n");
    becomes("env:\n    # - name: x\n    #   value: y\nb: 1\n", "env:\n  # - name: x\n  #   value: y\nb: 1\n");
    becomes("a: |\n    x\n  # of a\nb: 1\n", "a: |\n  x\n# of a\nb: 1\n");
}

#[test]
fn comment_spelling() {
    becomes("#! x\n#x\n#\n##  y\n#-*- z\n# ok\na: 1\n", "#! x\n# x\n#\n##  y\n#-*- z\n# ok\na: 1\n");
    becomes("#a:\n#  b: 1\n#  c:\n\n#  d\na: 1\n", "# a:\n#   b: 1\n#   c:\n\n#  d\na: 1\n");
    becomes("# Prose.\n#  more\n#a: 1\na: 1\n", "# Prose.\n#  more\n# a: 1\na: 1\n");
    becomes("# yaml-language-server: $schema=x\na: 1\n", "# yaml-language-server: $schema=x\na: 1\n");
}

#[test]
fn flow() {
    becomes(
        "a: [1,2 , 3,]\nb: { x:   1 ,v: {z : [ ]} }\nc: [ [a,b],{ } ]\n",
        "a: [1, 2, 3]\nb: {x: 1, v: {z: []}}\nc: [[a, b], {}]\n",
    );
    becomes(
        "a: {\"x\":1, u: , z, ? w : v}\nb: [x: 1, ? u : 2, z: ]\n",
        "a: {\"x\": 1, u: , z, w: v}\nb: [x: 1, u: 2, z: ]\n",
    );
    becomes("a: [\n    1, 2,\n\n\n      3\n    ,\n  ]\n", "a: [\n  1, 2,\n\n  3,\n]\n");
    becomes("a:\n  [\n    1,\n    {b: 1,\n     c: 2}\n  ]\n", "a: [\n  1,\n  {b: 1,\n    c: 2}\n]\n");
    becomes(
        "a: [ # one\n  1, # two\n  # three\n  2 # four\n  , 3\n  # five\n  ] # six\n",
        "a: [  # one\n  1,  # two\n  # three\n  2,  # four\n  3\n  # five\n]  # six\n",
    );
    becomes("- [\n  1\n  ]\n- {a:\n    1}\n- {\n  a:\n  }\n", "- [\n    1\n  ]\n- {a: 1}\n- {\n    a:\n  }\n");
    becomes("a: { # c\n }\nb: [\n]\n", "a: {  # c\n}\nb: []\n");
    becomes("a: [x\n   w, 'u\n\n   v']\n", "a: [x\n    w, 'u\n\n    v']\n");
    becomes("a: {b # c\n   : # d\n   1}\n", "a: {b:  # c\n    # d\n    1}\n");
    becomes("a: # c\n  [\n  1\n  ]\n", "a:  # c\n  [\n    1\n  ]\n");
}

#[test]
fn scalars_are_spelled_as_before() {
    becomes("a:   'it''s'\nb:  \"\\u00e9\\t\"\nc:    x y\u{a0}\n", "a: 'it''s'\nb: \"\\u00e9\\t\"\nc: x y\u{a0}\n");
    becomes("a: x\n     y\n\n\n     z\nb:\n      x\n      y\n", "a: x\n  y\n\n\n  z\nb:\n  x\n  y\n");
    becomes("a: \"x  \n  \\  y\\\n     z\\ \n   w\"\n", "a: \"x  \n  \\  y\\\n  z\\ \n  w\"\n");
}

#[test]
fn block_scalars() {
    becomes("a: |\n      x\n\n        y  \n\n\n\nb: 1\n", "a: |\n  x\n\n    y  \n\nb: 1\n");
    becomes("a: |+\n    x\n\n\nb: |+\n  y\n\n\n", "a: |+\n  x\n\n\nb: |+\n  y\n\n\n");
    becomes("a: |+\n  x\n\n\n# c\n\n\nb: 1\n", "a: |+\n  x\n\n\n# c\n\nb: 1\n");
    becomes("a:\n    - |3-\n        x\n       y\n    - >-\n     z\n", "a:\n  - |3-\n      x\n     y\n  - >-\n    z\n");
    becomes("a:\n  - b: |1\n      x\n     y\n", "a:\n  - b: |1\n      x\n     y\n");
    becomes("a: |\n\n\n   x\n \n   y\n", "a: |\n\n\n  x\n\n  y\n");
    becomes("a: |\n  x\n   \n    \n", "a: |\n  x\n   \n    \n");
    becomes("a: |\nb: >+\n\n\nc: |-\n\n\n\nd: |+\n", "a: |\nb: >+\n\n\nc: |-\n\nd: |+\n");
    becomes("a: |+\n  x\n  ", "a: |+\n  x\n");
    becomes("a:\n  |\n  \tx\n", "a: |\n  \tx\n");
}

#[test]
fn a_lone_scalar_is_no_spec_and_stays() {
    let of = |text: &str| format(SourceId(0), &Source::new("x.yaml", text.as_bytes())).unwrap();
    assert_eq!(of("---\r\n  x #y"), "---\n  x #y\n");
    assert_eq!(of(" ---\n"), " ---\n");
}

#[test]
fn unreadable_sources_are_refused_with_every_reason() {
    let faults = format(SourceId(0), &Source::new("x.yaml", b"a: yes\na: &x 1\n")).unwrap_err();
    let mut codes: Vec<&str> = faults.iter().map(|fault| fault.code.id).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["KB0105", "KB0106", "KB0110"]);
    assert!(format(SourceId(0), &Source::new("x.yaml", b"")).is_err());
}

/// The fenced YAML of a code's page, which its readers copy.
fn fenced(page: &str) -> impl Iterator<Item = &str> {
    page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next())
}

/// Formats `text` when the strict reader accepts it, as it is and with its ambiguous scalars quoted.
#[track_caller]
fn formatted_if_read(path: &str, text: &[u8]) -> usize {
    let source = Source::new(path, text);
    let faults = read(SourceId::default(), &source).diagnostics;
    if faults.iter().any(|fault| fault.fix.is_none()) {
        return 0;
    }
    let fixed = crate::diag::fix::fix(SourceId::default(), &source, &faults);
    match read(SourceId::default(), &Source::new(path, fixed.as_bytes())) {
        Read { root: Some(Node { value: Value::Map(_) | Value::Seq(_), .. }), diagnostics }
            if diagnostics.is_empty() =>
        {
            formatted(&fixed);
            1
        }
        _ => 0,
    }
}

#[test]
fn every_documented_example_is_laid_out() {
    let examples = crate::diag::code::ALL.iter().flat_map(|code| fenced(code.page));
    let count: usize = examples.map(|text| formatted_if_read("x.yaml", text.as_bytes())).sum();
    assert!(count > 50, "only {count} examples could be read");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the collected manifests are files")]
fn every_collected_manifest_is_laid_out() {
    let Some(shared) = std::env::var_os("KUBEBENCH_SHARED").filter(|value| !value.is_empty()) else {
        // Past the test runner's capture, in the form of `tests/it/support/judges.rs`.
        let line = "SKIPPED every_collected_manifest_is_laid_out: published files: KUBEBENCH_SHARED names no folder of them; only the maintainers keep one\n";
        std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
        return;
    };
    let root = std::path::Path::new(&shared).join("manifests");
    let (mut folders, mut read, mut documents) = (vec![root], 0, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if !path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
                continue;
            }
            let text = std::fs::read(&path).unwrap();
            let name = path.display().to_string();
            read += formatted_if_read(&name, &text);
            let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
            for document in format!("\n{text}").split("\n---") {
                documents += formatted_if_read(&name, format!("---{document}\n").as_bytes());
            }
        }
    }
    println!("{read} files, {documents} documents");
    assert!(read > 20 && documents > 60, "only {read} files and {documents} documents could be read");
}
