//! Whatever specs say, the comment is short, and nothing in it is more than text.

use super::*;
use crate::app::plan::{Action, Permission, Role, Row};
use kubebench_compiler::compile::{Compilation, Compiled, Input, Workspace};
use kubebench_compiler::difference::{Cause, Certainty, Change, OfBenchmark, State, Value};
use kubebench_compiler::model::estimate::estimate;
use kubebench_format::plan::v1::Since;
use kubebench_syntax::diag::{Code, Diagnostic, code};
use kubebench_testing::snapshot::{assert_text, str};

/// What a comment of GitHub holds.
const MOST_OF_HOST: usize = 60_000;

const SPEC: &str = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: disk}\nspec:\n  timeout: 1h\n  \
                    workload:\n    job: {image: \"registry.example/fio:3\", command: [fio]}\n";

/// What would be markup if it were not in code.
const HOSTILE: &[&str] = &[
    "`x`|@org/team <script>alert(1)</script> ```",
    "``` \n# heading\n- item",
    "a`b``c```d````e",
    "`",
    " ` ",
    "",
    "   ",
    "a | b || c \\| d",
    "#123 owner/repo#1 GH-4 https://attacker.example www.attacker.example",
    "![x](https://attacker.example/p.png) [y](javascript:z)",
    "\u{202e}reversed\u{200b}",
    "<!-- kubebench gate . x -->",
    "\\`x\\`",
];

fn compiled() -> Compilation {
    Workspace::open(None, "0.1.0").compile(vec![Input { path: "specs/disk.yaml".into(), bytes: SPEC.into() }])
}

fn change(path: &str, old: &str, new: &str) -> Change {
    let [old, new] = [old, new].map(|value| Some(Value::of(value)));
    Change { file: "specs/disk.yaml".to_owned(), path: path.to_owned(), old, new, fields: 1 }
}

fn row(compiled: &Compiled, change: Change) -> Row<'_> {
    let cause = Cause { change: change.clone(), cases: Some((1, 1)), certainty: Certainty::Tried };
    let change = OfBenchmark { state: State::Changed, causes: vec![cause], idle: vec![change] };
    let estimate = estimate(&compiled.benchmark);
    Row { compiled, action: Action::RunsAgain, estimate, schedule: None, change: Some(change), fault: None }
}

fn plan(rows: Vec<Row<'_>>, permissions: Vec<Permission>) -> Plan<'_> {
    Plan { rows, since: None, locks: Vec::new(), permissions }
}

fn permission(value: String, severity: Severity) -> Permission {
    let finding = Diagnostic::in_file(&code::KB0392, "kubebench.yaml", "m").value(value);
    Permission {
        benchmark: None,
        target: None,
        finding: Diagnostic { severity, ..finding },
        places: vec!["kubebench.yaml:1:1".to_owned()],
        since: Some(Since::Added),
        role: Role::Allows,
    }
}

fn of_benchmark(code: &'static Code, value: &str, place: &str, name: &str, target: &str) -> Permission {
    let finding = Diagnostic { severity: Severity::Info, ..Diagnostic::in_file(code, "x", "m").value(value) };
    Permission {
        benchmark: Some(name.to_owned()),
        target: Some(target.to_owned()),
        finding,
        places: vec![place.to_owned()],
        since: Some(Since::Added),
        role: Role::Allows,
    }
}

/// Returns a text without its spans of code, as CommonMark finds them; none where one does not end.
fn outside_of_code(text: &str) -> Option<String> {
    let mut outside = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        outside.push_str(before);
        let mut inner = behind.trim_start_matches('`');
        let fence = 1 + behind.len() - inner.len();
        loop {
            let (code, behind) = inner.split_once('`')?;
            assert!(!code.contains('\n'), "{code}");
            inner = behind.trim_start_matches('`');
            if 1 + behind.len() - inner.len() == fence {
                break;
            }
        }
        rest = inner;
    }
    outside.push_str(rest);
    Some(outside)
}

#[test]
fn hostile_values_are_nothing_but_text() {
    let compilation = compiled();
    let compiled = compilation.benchmarks.first().unwrap();
    for value in HOSTILE {
        let rows = vec![row(compiled, change(value, value, value)), row(compiled, change(value, "a", value))];
        let text =
            comment(Ok(&plan(rows, vec![permission((*value).to_owned(), Severity::Info)])), None, &Subject::default());
        let (_, below) = text.split_once('\n').unwrap();
        let outside = outside_of_code(below).unwrap_or_else(|| panic!("{value}: {text}"));
        for markup in ["@", "<", "](", "#1", "GH-", "://", "www.", "\\|", "heading", "item", "script", "\u{202e}"] {
            assert!(!outside.contains(markup), "{value}: {markup} in {outside}");
        }
        let rows = below.lines().filter(|line| line.starts_with('|'));
        for line in rows {
            let bars = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            assert_eq!(bars, 6, "{line}");
        }
    }
}

#[test]
fn errors_are_listed_and_are_nothing_but_text() {
    // A backtick outside of code is escaped, which `outside_of_code` does not know.
    for value in HOSTILE.iter().filter(|value| !value.contains('`')) {
        let mistake = |_| Mistake {
            place: format!("specs/{value}.yaml:3:4"),
            code: "KB0203",
            message: format!("`cores` must be a number, not {value}"),
        };
        let mistakes: Vec<Mistake> = (0..12).map(mistake).collect();
        let text = comment(Err(&mistakes), None, &Subject::default());
        let (_, below) = text.split_once('\n').unwrap();
        let outside = outside_of_code(&below.replace("\\]", "")).unwrap_or_else(|| panic!("{value}: {text}"));
        for markup in ["@", "<", "](", "#1", "GH-", "://", "www.", "\u{202e}"] {
            assert!(!outside.contains(markup), "{value}: {markup} in {outside}");
        }
        assert!(text.contains("\n- and 2 more\n"), "{text}");
    }
    let mistake = Mistake {
        place: "specs/a.yaml:3:4".to_owned(),
        code: "KB0202",
        message: "`job` needs the field `image`".to_owned(),
    };
    assert_text(
        comment(Err(&[mistake]), None, &Subject { folder: "perf/".to_owned(), name: None }),
        str! {[r#"
<!-- kubebench plan perf -->
### ❌ Kubebench plan of `perf` gives no answer

The specs or the project file have errors:

- `perf/specs/a.yaml:3:4`: `job` needs the field `image` (KB0202)

`kubebench validate` says what to write instead.

"#]},
    );
}

#[test]
fn however_much_there_is_the_comment_fits_and_counts_the_rest() {
    let compilation = compiled();
    let compiled = compilation.benchmarks.first().unwrap();
    let long = "`|".repeat(3_000);
    let rows = (0..2_000).map(|index| row(compiled, change(&format!("spec.f{index}"), &long, "b"))).collect();
    let permissions = (0..2_000).map(|index| permission(format!("{long}{index}"), Severity::Info)).collect();
    let folder = "ü".repeat(2_000);
    let text = comment(Ok(&plan(rows, permissions)), None, &Subject { folder, name: None });
    assert!(text.len() <= MOST_OF_HOST, "{}", text.len());
    let shown = text.matches(" again; ").count();
    assert!(
        text.contains(&format!("- and {} benchmarks more", kubebench_syntax::text::grouped(2_000 - shown as u64))),
        "{shown}"
    );
    let permissions = text.matches("| ➕ |").count();
    assert!(text.contains(&format!("\nAnd {} more", 2_000 - permissions)), "{permissions}");
}

#[test]
fn benchmarks_with_the_same_cause_are_one_item() {
    let compilation = compiled();
    let compiled = compilation.benchmarks.first().unwrap();
    let image = || change("spec.workload.job.image", "registry.example/fio:3", "registry.example/fio:4");
    let rows = (0..2_000).map(|_| row(compiled, image())).collect();
    assert_text(
        comment(Ok(&plan(rows, Vec::new())), None, &Subject::default()),
        str! {[r#"
<!-- kubebench plan . -->
### Kubebench plan: 1 benchmark would run again

2,000 runs, 2000.0 h at most if every run takes its full timeout.

#### What runs, and why

- `disk` on `default` runs again; 2,000 runs, 2000.0 h at most
  - `workload.job.image`: `registry.example/fio:3` → `registry.example/fio:4`

If a benchmark that runs again is running at the merge, its Workflow is stopped and unfinished runs are lost.

#### Changed without a new run

- `workload.job.image`: `registry.example/fio:3` → `registry.example/fio:4` (`disk`)

#### Permissions of benchmarks

None.

"#]},
    );
}

#[test]
fn what_fails_comes_first_however_much_there_is() {
    let level = |number| if number == 3_000 { Severity::Error } else { Severity::Info };
    let rows = (1..=3_000).map(|number| permission(format!("secret-{number}"), level(number))).collect();
    let text = comment(Ok(&plan(Vec::new(), rows)), None, &Subject::default());
    let first = text.lines().find(|line| line.starts_with("| ❌")).unwrap();
    assert!(first.contains("secret-3000"), "{first}");
    let left_out = 3_000 - 1 - text.matches("| ➕ |").count();
    assert!(left_out > 0 && text.contains(&format!("And {left_out} more")), "{text}");
    let (head, _) = text.split_once("nothing would run").unwrap();
    let (_, below) = text.split_at(head.len());
    let warning = below.lines().find(|line| !line.is_empty() && !line.starts_with("nothing")).unwrap();
    assert!(warning.starts_with("**⚠️ Not all permissions"), "{warning}");
    assert!(warning.contains(&format!("not shown: {left_out} placement.")), "{warning}");
}

#[test]
fn what_many_get_from_a_fragment_hides_nothing_that_one_gets() {
    let mut all = Vec::new();
    for number in 0..300 {
        for target in ["gpu-eu", "gpu-us"] {
            let name = format!("train-{number:03}");
            let given = [(&code::KB0380, "hf-token"), (&code::KB0380, "s3"), (&code::KB0381, "trainer")];
            let place = "specs/fragments/train.yaml:9:7";
            all.extend(given.map(|(code, value)| of_benchmark(code, value, place, &name, target)));
            let own = format!("specs/{name}.yaml:12:7");
            all.push(of_benchmark(&code::KB0384, "registry.example/train:2", &own, &name, target));
        }
    }
    all.push(of_benchmark(&code::KB0380, "prod-db", "specs/train-299.yaml:20:7", "train-299", "gpu-us"));
    let text = comment(Ok(&plan(Vec::new(), all)), None, &Subject { folder: "perf/".to_owned(), name: None });
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ➕")).collect();
    assert_eq!(rows.len(), 5, "{text}");
    assert_eq!(rows[0], "| ➕ | secret | `prod-db` | `train-299` on `gpu-us` | perf/specs/train-299.yaml:20:7 |");
    let image = rows.iter().find(|row| row.contains("image")).unwrap();
    assert!(image.contains("300 benchmarks on `gpu-eu`, `gpu-us`: `train-000`, "), "{image}");
    assert!(image.contains(" and 297 more places |"), "{image}");
    assert!(text.contains("### Kubebench plan of `perf`: nothing would run"), "{text}");
}

#[test]
fn a_value_is_whole_or_its_row_is_counted() {
    let long = format!("{} end", "a".repeat(5_000));
    let text =
        comment(Ok(&plan(Vec::new(), vec![permission(long.clone(), Severity::Info)])), None, &Subject::default());
    assert!(text.contains(&long), "{text}");
    let rows = (0..20).map(|index| permission(format!("{index}{long}"), Severity::Info)).collect();
    let text = comment(Ok(&plan(Vec::new(), rows)), None, &Subject::default());
    let shown = text.matches(" end` |").count();
    assert!(text.len() <= MOST_OF_HOST && text.contains(&format!("And {} more", 20 - shown)), "{shown}");
}

/// What a merge applies is in the folder of manifests, whatever the specs say.
#[test]
fn a_comment_warns_of_manifests_that_are_not_those_of_the_specs() {
    let subject = Subject { folder: "perf/".to_owned(), name: None };
    let text = comment(Ok(&plan(Vec::new(), Vec::new())), Some("generated"), &subject);
    assert!(
        text.contains("nothing would run\n\n**⚠️ `perf/generated/` does not match the specs.** A merge "),
        "{text}"
    );
}
