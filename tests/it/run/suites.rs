//! A suite on this machine: its benchmarks in its order, in one session, and none whose needs did not succeed.

use kubebench_testing::snapshot::{assert_line, str};
use serde_json::Value;

use super::{LOSS, shell, spec};
use crate::support::project::Folder;

fn suite(first: &str, second: &str) -> Folder {
    let of = |name: &str, script: &str| {
        spec(&format!("job: {{{}}}", shell(script)), &[LOSS]).replace("{name: b}", &format!("{{name: {name}}}"))
    };
    Folder::with([
        ("specs/alpha.yaml", of("alpha", second)),
        ("specs/zeta.yaml", of("zeta", first)),
        ("specs/other.yaml", of("other", "echo loss 3")),
        (
            "specs/nightly.yaml",
            "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: nightly}\nspec:\n  benchmarks: [{benchmark: zeta}, {benchmark: alpha, needs: [zeta]}]\n".to_owned(),
        ),
    ])
}

/// Status and benchmark of each result, the benchmarks that were not run, and the exit status.
fn ran(folder: &Folder, more: &[&str]) -> (Vec<String>, Vec<String>, Option<i32>) {
    let output = folder.run(&[&["run", "--output-format", "json"], more].concat());
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let results = answer["results"].as_array().unwrap();
    let shown = |result: &Value| format!("{} {}", text(&result["benchmark"]), text(&result["status"]));
    let left = answer["notStarted"].as_array().unwrap().iter().map(|run| text(&run["benchmark"])).collect();
    (results.iter().map(shown).collect(), left, output.status.code())
}

#[test]
fn a_suite_runs_in_its_order_and_in_one_session() {
    let folder = suite("echo loss 1", "echo loss 2");
    let expected = ["zeta succeeded".to_owned(), "alpha succeeded".to_owned()];
    assert_eq!(ran(&folder, &["specs/nightly.yaml"]), (expected.to_vec(), vec![], Some(0)));
    let sessions: std::collections::BTreeSet<String> =
        crate::support::project::files_below(&folder.path().join("results"))
            .iter()
            .map(|path| kubebench_format::result::read(&std::fs::read(path).unwrap()).unwrap().result.run.session)
            .collect();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let all = ["zeta succeeded", "alpha succeeded", "other succeeded"].map(str::to_owned);
    assert_eq!(ran(&folder, &["specs"]), (all.to_vec(), vec![], Some(0)), "its order counts wherever it is from");
    assert_eq!(ran(&folder, &["specs/alpha.yaml"]), (vec!["alpha succeeded".to_owned()], vec![], Some(0)));
}

#[test]
fn what_needs_a_benchmark_that_failed_is_not_run() {
    let folder = suite("exit 3", "echo loss 2");
    let output = folder.run(&["run", "specs/nightly.yaml", "--keep-going"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_line(&said, str! {"alpha is not run: it needs `zeta`, of which 0 of 1 runs succeeded"});
    let all = ["zeta failed".to_owned(), "other succeeded".to_owned()];
    assert_eq!(ran(&folder, &["specs", "--keep-going"]), (all.to_vec(), vec!["alpha".to_owned()], Some(1)));
}

#[test]
fn a_suite_with_a_faulty_benchmark_says_what_is_wrong_with_that() {
    let folder = suite("echo loss 1", "echo loss 2");
    let text = std::fs::read_to_string(folder.path().join("specs/zeta.yaml")).unwrap();
    folder.write("specs/zeta.yaml", text.replace("name: loss,", "name: loss, unknown: 1,"));
    for command in ["run", "validate"] {
        let output = folder.run(&[command, "specs/nightly.yaml"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains("--> specs/zeta.yaml:") && said.contains("`unknown`"),
            "{said}"
        );
    }
    folder.write("specs/zeta.yaml", format!("{text}  checks: [{{metric: nope, finite: true}}]\n"));
    for command in ["run", "validate"] {
        let output = folder.run(&[command, "specs/nightly.yaml"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("KB0313"), "{said}");
    }
}
