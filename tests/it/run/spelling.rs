//! Values of the matrix keep the spelling of the spec, from the run to the last export, next to results that have numbers alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kubebench_format::result::{self, BenchmarkResult, seal};
use kubebench_testing::snapshot::{assert_text, str};
use serde_json::{Value, json};

use super::{LOSS, results, shell, spec};
use crate::support::project::{Folder, assert_yes};

const PYTHON: [&str; 4] = ["3.1", "3.8", "3.9", "3.10"];
const X: [&str; 8] = ["0x10", "-0", "010", "1e3", "12.0", "2026-11-25", "9007199254740993", "yes"];

/// A project whose benchmarks print the value of their axis, as their pods have it.
fn measured() -> (Folder, Vec<BenchmarkResult>) {
    let of = |name: &str, axis: &str, values: &str| {
        let script = format!("echo loss 2.5; echo is ${{{{ matrix.{axis} }}}}");
        let matrix = format!("matrix: {{axes: {{{axis}: {values}}}}}");
        let spec = spec(&format!("job: {{{}}}", shell(&script)), &[LOSS, &matrix]);
        spec.replace("metadata: {name: b}", &format!("metadata: {{name: {name}}}"))
    };
    let x = "['0x10', -0, '010', '1e3', 12.0, '2026-11-25', 9007199254740993, 'yes']";
    let folder = Folder::with([
        ("specs/py.yaml", of("py", "python", "[3.1, 3.8, 3.9, 3.10]")),
        ("specs/x.yaml", of("x", "x", x)),
    ]);
    assert_yes(&folder.run(&["run", "specs"]));
    let results = results(&folder.path().join("results"));
    assert_eq!(results.len(), PYTHON.len() + X.len());
    (folder, results)
}

fn lines(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    assert_yes(&output);
    String::from_utf8(output.stdout).unwrap()
}

fn answer(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&lines(folder, arguments)).unwrap()
}

fn texts<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap()).collect()
}

/// Writes a result as a version of the program did that kept numbers alone: an hour before, and of another session.
fn as_before(folder: &Folder, new: &BenchmarkResult, number: f64) {
    let mut old = new.clone();
    old.metadata.params = BTreeMap::from([("python".to_owned(), json!(number))]);
    old.run.id = old.run.id.chars().rev().collect();
    old.run.session = "before".to_owned();
    (old.run.started_at, old.run.finished_at) = ("2026-01-01T00:00:00Z".to_owned(), "2026-01-01T00:00:01Z".to_owned());
    let sealed = seal(old);
    folder.write(&format!("results/{}", result::path(&sealed.result)), &sealed.bytes);
}

#[test]
fn a_value_has_one_spelling_from_the_spec_to_every_export() {
    let (folder, results) = measured();
    let spelled = |benchmark: &str, axis: &str| {
        let own = results.iter().filter(|result| result.metadata.benchmark == benchmark);
        own.map(|result| result.metadata.params[axis].clone()).collect::<Vec<_>>()
    };
    // JSON spells these numbers as the spec does; the others are texts.
    assert_eq!(spelled("py", "python"), [json!(3.1), json!(3.8), json!(3.9), json!("3.10")]);
    assert_eq!(spelled("x", "x"), X.map(Value::from));

    let answered = answer(&folder, &["compare", "--by", "python", "--output-format", "json"]);
    let group = &answered["groups"][0];
    assert_eq!(texts(&group["rows"], "value"), PYTHON);
    assert_eq!((&group["base"], &group["numeric"]), (&json!("3.1"), &json!(false)), "{answered:#}");
    let table = lines(&folder, &["compare", "--by", "python", "--base", "3.10"]);
    let first: Vec<&str> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(first[first.iter().position(|word| *word == "3.10").unwrap()..][..4], ["3.10", "3.1", "3.8", "3.9"]);
    let answered = answer(&folder, &["compare", "--by", "x", "--output-format", "json"]);
    let by_parts = ["-0", "0x10", "1e3", "010", "12.0", "2026-11-25", "9007199254740993", "yes"];
    assert_eq!(texts(&answered["groups"][0]["rows"], "value"), by_parts);

    let told = answer(&folder, &["history", "--output-format", "json"]);
    let names: Vec<String> = PYTHON.iter().map(|value| format!("python={value}")).collect();
    assert_eq!(texts(&told["series"], "caseName")[..4], names);
    let told = answer(&folder, &["history", "--case", "python=3.10", "--output-format", "json"]);
    assert_eq!(texts(&told["series"], "caseName"), ["python=3.10"]);
}

#[test]
fn every_export_spells_values_as_the_spec_does() {
    let (folder, results) = measured();
    let ten = results.iter().find(|result| result.metadata.case_name == "python=3.10").unwrap();
    as_before(&folder, ten, 3.1);
    let export = |format: &str| lines(&folder, &["export", "--format", format, "--out", "-", "results"]);
    let csv = export("csv");
    assert_eq!((csv.matches(r#"{""python"":""3.10""}"#).count(), csv.matches(r#"{""python"":3.1}"#).count()), (2, 1));
    for value in X {
        assert!(csv.contains(&format!(r#"{{""x"":""{value}""}}"#)), "{value}\n{csv}");
    }
    let rows = export("jsonl");
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let params = rows.iter().map(|row| row["params"].clone()).filter(|params| params.get("python").is_some());
    let mut params: Vec<String> = params.map(|params| result::plain(&params["python"])).collect();
    params.sort_unstable();
    assert_eq!(params, ["3.1", "3.10", "3.10", "3.8", "3.9"]);
    let script = export("postgres");
    assert_eq!(script.matches(r#"{"python":"3.10"}"#).count(), 2, "{script}");
    let gauges = export("openmetrics");
    for (axis, value) in PYTHON.iter().map(|value| ("python", value)).chain(X.iter().map(|value| ("x", value))) {
        assert_eq!(gauges.matches(&format!("param_{axis}=\"{value}\"")).count(), 1, "{value}\n{gauges}");
    }
    let lines_of_go = export("benchfmt");
    let names = |python: &str| lines_of_go.matches(&format!("/python={python}-")).count();
    assert_eq!([names("3.1"), names("3.8"), names("3.9"), names("3.10")], [1, 1, 1, 2], "{lines_of_go}");
    assert!(export("bmf").contains("python=3.10"));
    assert_yes(&folder.run(&["export", "--format", "mlflow", "--out", "ml", "results"]));
    let files = folder.tree("ml");
    let of_mlflow: BTreeSet<String> = files
        .iter()
        .filter(|(path, _)| path.ends_with("/params/python"))
        .map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap())
        .collect();
    assert_eq!(of_mlflow, PYTHON.map(str::to_owned).into());
    for format in ["sqlite", "parquet"] {
        assert_yes(&folder.run(&["export", "--format", format, "--out", format, "results"]));
        let bytes = fs::read(folder.path().join(format)).unwrap();
        assert!(holds(&bytes, br#"{"python":"3.10"}"#), "{format}");
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[test]
fn results_that_kept_numbers_alone_count_with_those_that_keep_spellings() {
    let (folder, results) = measured();
    for (name, number) in [("python=3.10", 3.1), ("python=3.1", 3.1), ("python=3.9", 3.9)] {
        let new = results.iter().find(|result| result.metadata.case_name == name).unwrap();
        as_before(&folder, new, number);
    }
    let answered = answer(&folder, &["compare", "--by", "python", "--output-format", "json"]);
    let rows = answered["groups"][0]["rows"].as_array().unwrap();
    let sessions: Vec<(&str, u64)> =
        rows.iter().map(|row| (row["value"].as_str().unwrap(), row["sessions"].as_u64().unwrap())).collect();
    assert_eq!(sessions, [("3.1", 2), ("3.8", 1), ("3.9", 2), ("3.10", 2)]);
    let told = answer(&folder, &["history", "--case", "python=3.10", "--output-format", "json"]);
    assert_eq!(told["series"].as_array().unwrap().len(), 1);
    assert_eq!(told["series"][0]["sessions"].as_array().unwrap().len(), 2);
    assert_yes(&folder.run(&["report", "--out", "site"]));
    let pages = folder.tree("site");
    let (_, page) = pages.iter().find(|(path, _)| path.ends_with("benchmarks/py/index.html")).unwrap();
    let page = String::from_utf8_lossy(page);
    let place = |value: &str| page.find(&format!(">{value}</th>")).unwrap_or_else(|| panic!("{value}: {page}"));
    let places = PYTHON.map(place);
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn one_spelling_is_one_value() {
    let shell = shell("echo ${{ matrix.size }}");
    let folder = Folder::with([(
        "specs/b.yaml",
        spec(&format!("job: {{{shell}}}"), &[LOSS, "matrix: {axes: {size: [8, '8']}}"]),
    )]);
    let output = folder.run(&["validate", "specs"]);
    assert_eq!(output.status.code(), Some(1));
    let found = String::from_utf8(output.stdout).unwrap();
    assert_text(found.lines().next().unwrap(), str! {"error[KB0305]: the case size=8 exists already"});
}
