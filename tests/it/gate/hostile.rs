//! Results that cannot be trusted, and a cache that cannot be trusted either.

use std::fs;

use kubebench_format::result::BenchmarkResult;
use kubebench_testing::snapshot::{assert_line, assert_text, str};

use super::{Project, QUIET, SPEC, Special, verdict};

/// Files that cannot be trusted, made of one that can: name, content, code.
fn broken(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let with = |from: &str, to: &str| text.replacen(from, to, 1).into_bytes();
    vec![
        ("20260203T000000Z-aaaaaaa9-r1-a1.json", Vec::new(), "KB0363"),
        ("20260203T000000Z-aaaaaaaa-r1-a1.json", bytes[..bytes.len() / 2].to_vec(), "KB0363"),
        ("20260203T000000Z-aaaaaaab-r1-a1.json", with("\"schemaVersion\": 1", "\"schemaVersion\": 9"), "KB0364"),
        ("20260203T000000Z-aaaaaaac-r1-a1.json", with("\"repeat\"", "\"repeats\""), "KB0365"),
        ("20260203T000000Z-aaaaaaad-r1-a1.json", with("\"repeat\": 1", "\"repeat\": 2"), "KB0366"),
        ("20260203T000000Z-aaaaaaae-r1-a1.json", bytes.to_vec(), "KB0368"),
    ]
}

#[test]
fn bad_files_are_named_left_out_and_keep_a_gate_from_answering() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let good = project.folder.tree("results");
    let (first, bytes) = good.first().unwrap();
    let folder = first.rsplit_once('/').unwrap().0;
    for (name, bytes, code) in broken(bytes) {
        let place = format!("results/{folder}/{name}");
        project.folder.write(&place, bytes);
        let (status, out, error) = project.says(&["gate", "--output-format", "concise"]);
        assert_eq!(status, 2, "{name}: {out}{error}");
        assert_eq!(project.json(&["gate"]).1["outcome"], "noAnswer");
        assert!(out.contains(code) && out.contains(name), "{code}: {out}");
        let (status, line) = project.gate(&["--skip-bad"]);
        assert_eq!((status, verdict(&line)), (0, "unchanged"));
        project.folder.remove(&place);
    }
    // What is elsewhere is named, and concerns no gate.
    project.folder.write("results/other/default/x.json", b"{\"kind\": ");
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, answer["leftOut"][0]["code"].as_str().unwrap()), (0, "KB0363"));
}

/// Two commits with ten sessions each, the second 10 % slower.
fn slower() -> (Project, [String; 2]) {
    let mut project = Project::with(SPEC);
    let commits = ["first", "second"].map(|message| project.commit(message));
    for (commit, level) in commits.iter().zip([1.0, 0.9]) {
        let values: Vec<f64> = QUIET.iter().take(10).map(|value| value * level).collect();
        project.sessions(&values, &Special { commit: Some(commit.clone()), ..Special::default() });
    }
    (project, commits)
}

/// What a command says, without the list of what did not count.
fn counted(mut answer: serde_json::Value) -> serde_json::Value {
    answer.as_object_mut().unwrap().remove("leftOut");
    answer
}

#[test]
fn bad_files_are_named_by_every_command_and_change_no_number() {
    let (project, [first, second]) = slower();
    let good = project.folder.tree("results");
    let (place, bytes) = good.first().unwrap();
    let folder = place.rsplit_once('/').unwrap().0;
    let compare = ["compare", first.as_str(), second.as_str()];
    let (compared, told) = (project.json(&compare), project.json(&["history"]));
    assert_eq!((compared.0, told.0), (0, 0));
    assert_eq!(compared.1["lines"][0]["verdict"], "regressed");
    let mut all = broken(bytes);
    let mut backwards = project.run(500.0, 7, &Special { commit: Some(second.clone()), ..Special::default() });
    std::mem::swap(&mut backwards.run.started_at, &mut backwards.run.finished_at);
    let sealed = kubebench_format::result::seal(backwards);
    let backwards = kubebench_format::result::path(&sealed.result);
    all.push((backwards.rsplit('/').next().unwrap().to_owned().leak(), sealed.bytes, "KB0453"));
    for (name, bytes, code) in all {
        let place = format!("results/{folder}/{name}");
        project.folder.write(&place, bytes);
        for (command, whole) in [(&compare[..], &compared.1), (&["history"], &told.1)] {
            let (status, answer) = project.json(command);
            assert_eq!(status, 1, "{command:?} {name}");
            assert_eq!(answer["leftOut"][0]["code"], code, "{command:?} {name}");
            assert_eq!(counted(answer), counted(whole.clone()), "{command:?} {name}");
            let (_, out, error) = project.says(command);
            assert!(format!("{out}{error}").contains(code) && format!("{out}{error}").contains(name), "{out}{error}");
        }
        let (status, _, error) = project.says(&["report", "--out", "site"]);
        let page = fs::read_to_string(project.folder.path().join("site/left-out.html")).unwrap();
        assert!(status == 1 && error.contains(code) && page.contains(name) && page.contains(code), "{name}: {error}");
        project.folder.remove(&place);
    }
}

#[test]
fn two_runs_of_one_identity_count_for_no_command() {
    let (mut project, [first, second]) = slower();
    let compare = ["compare", first.as_str(), second.as_str()];
    let runs = |project: &Project| project.json(&compare).1["lines"][0]["candidate"]["runs"].as_u64().unwrap();
    assert_eq!(runs(&project), 30);
    let mut twin = project.run(500.0, 3, &Special { commit: Some(second.clone()), ..Special::default() });
    twin.run.finished_at = twin.run.started_at.replace(":00Z", ":59Z");
    twin.run.started_at = twin.run.started_at.replace(":00Z", ":01Z");
    project.put(twin);
    assert_eq!(runs(&project), 29, "neither of the two");
    assert_eq!(project.says(&compare).0, 1);
    assert_eq!(project.says(&["history"]).0, 1);
    project.session(90.0, &Special { commit: Some(second.clone()), ..Special::default() });
    assert_eq!(runs(&project), 32);
}

/// A side is never compared with copies of its own runs.
#[test]
fn folders_that_share_runs_are_compared_by_the_others() {
    let mut project = Project::with(SPEC);
    let copy = |project: &Project, to: &str| {
        for (path, bytes) in project.folder.tree("results") {
            project.folder.write(&format!("{to}/{path}"), bytes);
        }
    };
    project.sessions(&QUIET[..10], &Special::default());
    copy(&project, "before");
    let values: Vec<f64> = QUIET[..10].iter().map(|value| value * 0.9).collect();
    project.sessions(&values, &Special::default());
    copy(&project, "after");
    let (status, answer) = project.json(&["compare", "before", "after"]);
    assert_eq!((status, answer["lines"][0]["verdict"].as_str()), (0, Some("regressed")), "{answer:#}");
    assert_eq!(answer["lines"][0]["candidate"]["sessions"].as_array().unwrap().len(), 10);
    for unknown in [&["compare", "before", "after", "--metric", "nope"][..], &["history", "--metric", "nope"]] {
        let (status, _, error) = project.says(unknown);
        assert!(status == 2, "{error}");
        assert_line(&error, str! {"error: no result has the metric `nope`; results have speed"});
    }
    let (status, _, error) = project.says(&["history", "trian"]);
    assert!(status == 2, "{error}");
    assert_line(
        &error,
        str! {"error: there is no benchmark `trian`, neither in a spec nor in a result; did you mean `train`?"},
    );
}

#[test]
fn extreme_numbers_give_no_number_that_is_none() {
    for odd in [1e308, -1e308, 5e-324, 0.0, -5.0] {
        let (mut project, [first, second]) = slower();
        project.session(odd, &Special { commit: Some(second.clone()), ..Special::default() });
        for command in [&["compare", first.as_str(), second.as_str()][..], &["history"], &["gate"]] {
            let (status, answer) = project.json(command);
            assert!(status < 2, "{odd} {command:?}");
            let text = answer.to_string();
            let numbers = ["change", "interval", "median", "detectable", "p"];
            let is_nothing = |name: &&str| text.contains(&format!("\"{name}\":null"));
            assert_eq!(numbers.iter().find(|name| is_nothing(name)), None, "{odd} {command:?}: {text}");
            let (_, out, _) = project.says(command);
            assert!(!out.contains("inf") && !out.contains("NaN"), "{odd} {command:?}: {out}");
        }
        assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
    }
}

#[test]
fn two_files_of_one_run_count_neither() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let mut twin = project.run(500.0, 3, &Special::default());
    twin.run.finished_at = twin.run.started_at.replace(":00Z", ":59Z");
    twin.run.started_at = twin.run.started_at.replace(":00Z", ":01Z");
    project.put(twin);
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(status, 2);
    let codes: Vec<&str> =
        answer["leftOut"].as_array().unwrap().iter().map(|out| out["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["KB0452", "KB0452"]);
    assert_eq!(answer["lines"][0]["candidate"]["runs"], 2);
}

#[test]
fn a_clock_that_went_backwards_and_numbers_without_sense() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let mut backwards = project.run(100.0, 7, &Special::default());
    std::mem::swap(&mut backwards.run.started_at, &mut backwards.run.finished_at);
    project.put(backwards);
    assert_eq!(project.json(&["gate"]).1["leftOut"][0]["code"], "KB0453");
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.session(1e308, &Special::default());
    let (_, line) = project.gate(&[]);
    assert!(["improved", "inconclusive"].contains(&verdict(&line)), "{line:#}");
    project.session(-5.0, &Special::default());
    let (_, line) = project.gate(&[]);
    assert!(line["change"].as_f64().is_none_or(f64::is_finite), "{line:#}");
}

#[test]
fn the_cache_changes_nothing_but_time() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let (_, cold, _) = project.says(&["gate"]);
    let folder = project.folder.path().join(".cache/kubebench/archive");
    let cache = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let (_, warm, told) = project.says(&["gate", "-v"]);
    assert_eq!(warm.lines().last(), cold.lines().last());
    assert_line(&told, str! {"results: 0 results read, 60 from the cache"});
    let whole = fs::read(&cache).unwrap();
    for damaged in [&b""[..], b"x", &whole[..whole.len() / 2], &[&whole[..whole.len() - 2], b"x\n"].concat()] {
        fs::write(&cache, damaged).unwrap();
        assert_eq!(project.says(&["gate"]).1, cold);
        assert_eq!(fs::read(&cache).unwrap(), whole, "it is written again");
    }
    // A file that changes is read again, one that goes is forgotten, a place that cannot be written is done without.
    let (path, _) = project.folder.tree("results").into_iter().last().unwrap();
    project.folder.remove(&format!("results/{path}"));
    assert_line(&project.says(&["gate", "-v"]).2, str! {"results: 0 results read, 59 from the cache"});
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    fs::write(folder.parent().unwrap(), "a file").unwrap();
    assert_eq!(project.says(&["gate"]).0, 0);
}

/// A run of many metrics.
fn wide(project: &Project, metrics: usize) -> BenchmarkResult {
    let mut wide = project.run(100.0, 9, &Special::default());
    let one = wide.metrics[0].clone();
    wide.metrics
        .extend((0..metrics).map(|at| kubebench_format::result::v1::Metric { name: format!("m{at}"), ..one.clone() }));
    wide
}

#[test]
fn thousands_of_metrics_are_no_trouble_and_ten_thousand_in_a_file_are_too_large() {
    let mut project = Project::with(SPEC);
    for value in QUIET.iter().take(6) {
        project.session(*value, &Special::default());
        project.put(wide(&project, 1500));
    }
    let (status, answer) = project.json(&["history", "--all"]);
    assert_eq!((status, answer["series"].as_array().unwrap().len()), (0, 1501));
    assert_eq!(project.json(&["gate", "--on-inconclusive", "pass"]).0, 0);
    assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
    let mut other = wide(&project, 10_000);
    other.run.id = "f".repeat(32);
    let place = project.put(other);
    let (status, answer) = project.json(&["history", "--all"]);
    assert_eq!((status, answer["series"].as_array().unwrap().len()), (1, 1501));
    let left_out = &answer["leftOut"][0];
    assert_eq!((left_out["code"].as_str(), answer["leftOut"].as_array().unwrap().len()), (Some("KB0365"), 1));
    assert_eq!(format!("results/{}", left_out["path"].as_str().unwrap()), place);
    assert_text(left_out["message"].as_str().unwrap(), str! {"a result is never larger than 1024 KiB"});
    assert_eq!(project.json(&["gate", "--on-inconclusive", "pass"]).0, 2, "it is one of those that are judged");
}

#[test]
fn a_shallow_clone_gives_no_answer() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET, &Special { commit: Some(first), ..Special::default() });
    let second = project.commit("second");
    project.session(80.0, &Special { commit: Some(second.clone()), ..Special::default() });
    assert_eq!(project.gate(&[]).0, 1);
    fs::write(project.folder.path().join(".git/shallow"), format!("{second}\n")).unwrap();
    let (status, _, error) = project.says(&["gate"]);
    assert!(status == 2 && error.contains("git fetch --unshallow"), "{status}: {error}");
}

#[test]
fn files_of_a_candidate_folder_are_judged_like_others() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let before = project.folder.tree("results");
    project.session(80.0, &Special::default());
    let new: Vec<_> = project.folder.tree("results").into_iter().filter(|file| !before.contains(file)).collect();
    for (path, bytes) in &new {
        project.folder.write(&format!("new/{path}"), bytes);
        project.folder.remove(&format!("results/{path}"));
    }
    assert_eq!(project.gate(&["--candidate", "new"]).0, 1);
    let (path, bytes) = &new[0];
    project
        .folder
        .write(&format!("new/{path}"), String::from_utf8_lossy(bytes).replace("\"repeat\": 1", "\"repeat\": 2"));
    let (status, answer) = project.json(&["gate", "--candidate", "new"]);
    assert_eq!((status, answer["leftOut"][0]["code"].as_str()), (2, Some("KB0366")), "{answer:#}");
}

#[test]
fn texts_of_results_do_nothing_to_a_terminal_or_a_shell() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let hostile = "x\u{1b}[2J\n::error::y\u{202e}'; touch pwned; '";
    for repeat in 1..=3 {
        let mut made = project.run(
            50.0,
            repeat,
            &Special { status: Some(kubebench_format::result::v1::Status::Failed), ..Special::default() },
        );
        made.run.session = "later".to_owned();
        made.run.id = format!("{repeat}{}", "e".repeat(31));
        made.run.started_at = made.run.started_at.replace("2026-02", "2026-03");
        made.run.finished_at = made.run.finished_at.replace("2026-02", "2026-03");
        made.metadata.case_name = hostile.to_owned();
        made.run.reasons[0].message = hostile.to_owned();
        project.put(made);
    }
    for command in [&["gate"][..], &["history"], &["gate", "--markdown", "comment.md"]] {
        let (_, out, error) = project.says(command);
        assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}') && !out.contains("\n::error"), "{out}{error}");
    }
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    assert!(!comment.contains('\u{1b}') && !comment.contains("\n::error"), "{comment}");
}

/// What identifies a result is in commands and comments, and what names it in messages.
#[test]
fn no_identity_of_a_result_is_a_command() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let hostile: [fn(&mut BenchmarkResult); 3] = [
        |made| made.run.session = "x\u{1b}[2J\n::error::pwned".to_owned(),
        |made| made.run.session = "--from".to_owned(),
        |made| made.source.commit = Some("123456789é`\n\n## @everyone `; touch /tmp/pwned; #".to_owned()),
    ];
    for change in hostile {
        let mut made = project.run(92.0, 1, &Special::default());
        change(&mut made);
        let place = project.put(made);
        for command in [&["gate"][..], &["history"], &["report", "--format", "markdown"]] {
            let (status, said, error) = project.says(command);
            let all = format!("{said}{error}");
            assert!(status > 0 && all.contains("KB0365"), "{command:?}: {all}");
            assert!(!all.contains('\u{1b}') && !all.lines().any(|line| line.trim_start().starts_with("::")), "{all}");
        }
        project.folder.remove(&place);
    }
    project.session_as(100.0, &Special::default(), |made| {
        made.metrics[0].name = "a\u{1b}[2J\n::error::pwned".to_owned();
        made.metadata.labels.insert("toolkit".to_owned(), "b\n::error::pwned".to_owned());
    });
    for command in [&["history", "--metric", "nope"][..], &["compare", "label:toolkit=zz", "label:toolkit=torch"]] {
        let (_, said, error) = project.says(command);
        let all = format!("{said}{error}");
        assert!(all.contains("pwned"), "{all}");
        assert!(!all.contains('\u{1b}') && !all.lines().any(|line| line.trim_start().starts_with("::")), "{all}");
    }
}

/// The name of a file is somebody's text, too.
#[test]
fn the_name_of_an_acknowledgement_gives_no_order() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let bad = project.session(90.0, &Special::default());
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "known", "--from", &bad];
    assert_eq!(project.says(&[&ack[..], &["--max-change", "4%"]].concat()).0, 0);
    let (name, text) = project.folder.tree("acks").remove(0);
    project.folder.remove(&format!("acks/{name}"));
    project.folder.write("acks/a\u{1b}[31m\n::error::x.yaml", text);
    for command in [&["gate"][..], &["history"], &["gate", "--output-format", "github"], &ack] {
        let (_, out, error) = project.says(command);
        let said = out + &error;
        assert!(!said.contains('\u{1b}') && !said.lines().any(|line| line.starts_with("::error::x")), "{said:?}");
        assert!(said.contains("x.yaml"), "{said:?}");
    }
}
