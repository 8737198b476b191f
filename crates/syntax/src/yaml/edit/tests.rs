use super::*;
use crate::yaml::read as read_yaml;

const SPEC: &str = "\
# A comment that stays.
kind: Benchmark
spec:
  timeout: 1h # generous
  repeats: 3
  workload:
    job: {image: 'a/b:1', args: [--steps, \"10\"], env: {}}
  labels:
    example.com/team: x
  metrics:
    - name: bandwidth
      gate: {maxRegression: 5%}
    - name: latency
      unit: ms
  script: |
    echo one
    echo two
  # The last comment.
";

fn root(text: &str) -> Node {
    read_yaml(SourceId::default(), &Source::new("x", text.as_bytes())).root.unwrap()
}

#[track_caller]
fn edited(path: &str, new: &str) -> String {
    let found = find(&root(SPEC), path);
    assert_eq!(found.len(), 1, "{path}: {found:?}");
    set(SPEC, &found[0], new, Typing::LikeOld).unwrap_or_else(|| panic!("{path}={new} is no edit"))
}

/// The lines that an edit changes, old and new.
#[track_caller]
fn changed(path: &str, new: &str) -> (String, String) {
    let text = edited(path, new);
    let only = |one: &str, other: &str| {
        let lines: Vec<&str> = one.lines().filter(|line| !other.lines().any(|other| other == *line)).collect();
        lines.join("\n")
    };
    (only(SPEC, &text), only(&text, SPEC))
}

#[test]
fn a_value_is_replaced_and_its_quotes_and_comments_stay() {
    for (path, new, line) in [
        ("spec.timeout", "2h", "  timeout: 2h # generous"),
        ("timeout", "yes", "  timeout: \"yes\" # generous"),
        ("repeats", "5", "  repeats: 5"),
        ("image", "a/b:2", "    job: {image: 'a/b:2', args: [--steps, \"10\"], env: {}}"),
        ("image", "it's", "    job: {image: 'it''s', args: [--steps, \"10\"], env: {}}"),
        ("args[1]", "20", "    job: {image: 'a/b:1', args: [--steps, \"20\"], env: {}}"),
        ("workload.job.args.0", "a, b", "    job: {image: 'a/b:1', args: [\"a, b\", \"10\"], env: {}}"),
        ("args", "[x, k: z]", "    job: {image: 'a/b:1', args: [x, k: z], env: {}}"),
        ("metrics.bandwidth.gate.maxRegression", "7%", "      gate: {maxRegression: 7%}"),
        ("spec.metrics.latency.unit", "s", "      unit: s"),
        ("labels.example.com/team", "z", "    example.com/team: z"),
        ("script", "echo", "  script: echo"),
    ] {
        assert_eq!(changed(path, new).1, line, "{path}={new}");
    }
}

#[test]
fn what_is_no_value_of_the_place_is_refused() {
    let steps = find(&root(SPEC), "args").remove(0);
    assert_eq!(set(SPEC, &steps, "word", Typing::LikeOld), None);
    assert_eq!(set(SPEC, &[Step::from("spec"), Step::from("repeats"), Step::from("x")], "1", Typing::LikeOld), None);
}

#[test]
fn a_field_is_added_where_its_mapping_is() {
    for (steps, new, line) in [
        (vec!["spec", "queueTimeout"], "3h", "  queueTimeout: 3h"),
        (
            vec!["spec", "workload", "job", "cpu"],
            "1",
            "    job: {image: 'a/b:1', args: [--steps, \"10\"], env: {}, cpu: 1}",
        ),
        (
            vec!["spec", "workload", "job", "env", "A"],
            "b",
            "    job: {image: 'a/b:1', args: [--steps, \"10\"], env: {A: b}}",
        ),
        (vec!["spec", "labels", "x"], "1.0.0", "    x: 1.0.0"),
        (vec!["metadata", "name"], "abc", "metadata: {name: abc}"),
    ] {
        let steps: Vec<Step> = steps.into_iter().map(Step::from).collect();
        let text = set(SPEC, &steps, new, Typing::LikeOld).expect("an edit");
        assert!(text.lines().any(|found| found == line), "{text}");
        assert!(text.contains("# The last comment."));
    }
}

#[test]
fn a_word_may_be_a_number_where_the_old_one_was_none() {
    let text = "concurrency: exclusive\n";
    let steps = [Step::from("concurrency")];
    assert_eq!(set(text, &steps, "2", Typing::LikeOld).unwrap(), "concurrency: \"2\"\n");
    assert_eq!(set(text, &steps, "2", Typing::AsWritten).unwrap(), "concurrency: 2\n");
    assert_eq!(set("a:\nb: 1\n", &[Step::from("a")], "2", Typing::LikeOld).unwrap(), "a: 2\nb: 1\n");
}

#[test]
fn bare_names_are_found_where_they_are_unique() {
    assert_eq!(find(&root(SPEC), "name").len(), 2);
    assert_eq!(find(&root(SPEC), "nothing"), Vec::<Vec<Step>>::new());
    let all = paths(&root(SPEC));
    assert!(all.contains(&"spec.metrics.bandwidth.gate.maxRegression".to_owned()), "{all:?}");
    assert!(all.contains(&"spec.workload.job.args[1]".to_owned()), "{all:?}");
    for path in &all {
        assert_eq!(find(&root(SPEC), path).len(), 1, "{path}");
    }
}
