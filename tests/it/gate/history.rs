//! `history`: what changed when.

use kubebench_format::result::v1::{Kind, Neighbor, Status};
use kubebench_results::compare::words::estimate;
use kubebench_testing::snapshot::{assert_line, named, str};

use serde_json::json;

use crate::support::steady::steady;

use super::{Project, QUIET, SPEC, Special};

#[test]
fn a_change_is_reported_with_its_commits() {
    let mut project = Project::with(SPEC);
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    let first = project.commit("first");
    project.sessions(&QUIET[..12], &on(&first));
    let second = project.commit("second");
    let begun = project.session(92.0, &on(&second));
    project.sessions(&[92.2, 91.9, 92.1, 92.0, 91.8, 92.3], &on(&second));
    let (status, answer) = project.json(&["history", "train"]);
    assert_eq!(status, 0);
    let told = &answer["series"][0];
    assert_eq!(told["sessions"].as_array().unwrap().len(), 19);
    let change = &told["changes"][0];
    assert_eq!((change["turn"].as_str().unwrap(), change["session"].as_str().unwrap()), ("worse", begun.as_str()));
    assert_eq!(
        (change["after"].as_str().unwrap(), change["commit"].as_str().unwrap()),
        (first.as_str(), second.as_str())
    );
    let (_, text, _) = project.says(&["history", "train", "--last", "2"]);
    assert!(text.contains(&format!("git log {}..{}", &first[..10], &second[..10])), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("session-0") && line.starts_with("    ")).count(), 2, "{text}");
}

/// Of an open change in two steps, all say how far the newest level is from the one before it opened.
#[test]
fn an_open_change_has_one_size() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..12], &Special::default());
    let begun = project.session(92.0, &Special::default());
    project.sessions(&[92.2, 91.9, 92.1, 92.0, 91.8, 92.3, 92.1], &Special::default());
    project.sessions(&[80.0, 80.2, 79.9, 80.1, 79.8, 80.3, 80.0, 79.9], &Special::default());
    let gated = project.gate(&[]).1;
    let (open, told) = (&gated["open"], project.json(&["history"]).1["series"][0].clone());
    assert_eq!((&open["session"], &told["open"]), (&begun.clone().into(), &begun.into()), "{gated:#}");
    assert_eq!((open["sessions"].as_u64(), open["measured"].as_u64()), (Some(16), Some(8)), "{gated:#}");
    assert!((open["change"].as_f64().unwrap() + 0.2).abs() < 0.005, "{gated:#}");
    assert_eq!((&told["openSize"]["change"], &told["openSize"]["interval"]), (&open["change"], &open["interval"]));
    let bounds = (open["interval"][0].as_f64().unwrap(), open["interval"][1].as_f64().unwrap());
    let size = estimate(open["change"].as_f64().unwrap(), Some(bounds));
    let says = |arguments: &[&str]| project.says(arguments).1;
    for command in ["gate", "history"] {
        assert!(says(&[command]).contains(&size), "{size}: {}", says(&[command]));
    }
    let size = [(size.as_str(), "SIZE")];
    assert_line(named(says(&["gate"]), &size), str! {"regressed: train [default], speed: SIZE"});
    assert_line(
        named(project.whole(&[]).1, &size),
        str! {"  open since 2026-02-01: SIZE vs. the baseline (8 sessions at the current level, regressed for 16); not resolved or acknowledged"},
    );
    assert_line(
        named(says(&["history"]), &size),
        str! {"  2026-02-01T13:01:00Z worse, open: −7.9 % [−8.6, −7.2] since session session-013; SIZE with its later steps"},
    );
    assert_line(
        says(&["history"]),
        str! {"  2026-02-01T21:01:00Z worse again, part of the open regression: −13.1 % [−13.2, −12.9] since session session-021"},
    );
    let size = size[0].0;
    // Each step has a line of its own, with its own size; none of them is resolved.
    let site = |page: &str| std::fs::read_to_string(project.folder.path().join("site").join(page)).unwrap();
    assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
    for page in ["changes.html", "benchmarks/train/cases/default-44136fa3.html"] {
        let text = site(page);
        assert!(
            text.contains("worse again, part of the open regression") && !text.contains("resolved</strong>"),
            "{text}"
        );
    }
    // The report shows it by the gate, and of a metric without one by the history.
    for spec in [SPEC.to_owned(), SPEC.replace("  gates: [{metric: speed, maxRegression: 3%}]\n", "")] {
        project.folder.write("specs/train.yaml", &spec);
        assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
        let index = std::fs::read_to_string(project.folder.path().join("site/index.json")).unwrap();
        assert!(index.contains(size), "{size}: {index}");
    }
}

/// Who shared a node with a run marks its session, and changes nothing else.
#[test]
fn sessions_with_neighbors_are_marked() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..11], &Special::default());
    let before = project.json(&["gate"]);
    let neighbor = |pod: &str, benchmark: Option<&str>| Neighbor {
        pod: pod.to_owned(),
        benchmark: benchmark.map(str::to_owned),
        run: None,
        since: Some("2026-02-01T00:00:00Z".to_owned()),
    };
    let marked = project.session_as(QUIET[11], &Special::default(), |result| {
        if result.run.repeat != 2 {
            let pods = [neighbor("soak-0a1b2c3d-0", Some("soak")), neighbor("soak-0a1b2c3d-1", Some("soak"))];
            result.environment.neighbors = [&pods[..], &[neighbor("web-\u{1b}[31m<b>", None)]].concat();
            result.environment.neighbors_left_out = 7;
        }
    });
    let quiet = project.session(QUIET[12], &Special::default());
    // The second time what was read is in the cache.
    for _ in 0..2 {
        let answer = project.json(&["history"]).1;
        let [told] = answer["series"].as_array().unwrap().as_slice() else { panic!("one series: {answer:#}") };
        let sessions = told["sessions"].as_array().unwrap();
        let with: Vec<_> = sessions.iter().filter(|session| session.get("neighbors").is_some()).collect();
        assert_eq!(with.len(), 1, "{told:#}");
        assert_eq!(with[0]["session"], marked.as_str());
        assert_eq!(with[0]["neighbors"], json!(["soak", "web-\u{1b}[31m<b>"]));
        let is_empty = |list: &str| told[list].as_array().is_none_or(Vec::is_empty);
        assert!(is_empty("aside") && is_empty("apart") && is_empty("changes"), "{told:#}");
    }
    let (_, text, _) = project.says(&["history", "--last", "3"]);
    let line = |session: &str| text.lines().find(|line| line.contains(session) && line.starts_with("    ")).unwrap();
    assert!(line(&marked).contains("3 runs  shared nodes with soak, web-"), "{text}");
    assert!(line(&quiet).ends_with("3 runs") && !text.contains('\u{1b}'), "{text}");
    let after = project.json(&["gate"]);
    assert_eq!((after.0, &after.1["lines"][0]["verdict"]), (before.0, &before.1["lines"][0]["verdict"]));
    assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
    let site = project.folder.tree("site");
    let pages: Vec<String> = site
        .iter()
        .filter(|(path, _)| path.ends_with(".html"))
        .map(|(_, page)| String::from_utf8_lossy(page).into_owned())
        .collect();
    let marks = pages.iter().map(|page| page.matches("shared nodes with soak, web-").count()).sum::<usize>();
    assert!(marks >= 3, "two runs and a point: {marks}");
    assert!(!pages.iter().any(|page| page.contains("[31m<b>")), "text is text");
}

/// What is open is last, where a terminal shows it, also of metrics that were not asked for.
#[test]
fn open_regressions_are_last() {
    let mut project = Project::with(SPEC);
    let last = |project: &Project, arguments: &[&str]| {
        let (status, text, _) = project.says(&[&["history"], arguments].concat());
        assert_eq!(status, 0);
        text.rsplit("\n\n").next().unwrap().to_owned()
    };
    let with = |loss: f64| Special { loss: Some(loss), ..Special::default() };
    for speed in &QUIET[..12] {
        project.session(*speed, &with(speed / 50.0));
    }
    assert_line(last(&project, &[]), str! {"no regression is open in what is shown"});
    for speed in [92.0, 92.2, 91.9, 92.1, 92.0, 91.8, 92.3, 92.1] {
        project.session(speed, &with(speed / 30.0));
    }
    let text = last(&project, &[]);
    assert_line(&text, str! {"1 regression is open:"});
    assert_line(&text, str! {"  train [default], speed: −7.9 % [−8.6, −7.2] since 2026-02-01"});
    assert_line(&text, str! {"1 more is open in a metric that is not shown: `--all` shows it"});
    let text = last(&project, &["--all"]);
    let of = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(of("2 regressions are open, the largest first:") < of("loss") && of("loss") < of("speed"), "{text}");
    assert!(!text.contains("not shown"), "{text}");
}

#[test]
fn other_hardware_is_another_series() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..5], &Special::default());
    project.sessions(&QUIET[5..10], &Special { cpu: Some("faster".to_owned()), ..Special::default() });
    let (_, answer) = project.json(&["history"]);
    let series = answer["series"].as_array().unwrap();
    assert_eq!(series.len(), 2);
    let replaced: Vec<bool> = series.iter().map(|told| told["replaced"].as_bool().unwrap_or(false)).collect();
    assert_eq!(replaced, [false, true], "{answer:#}");
    project.folder.write(
        "kubebench.yaml",
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {compareAcross: [cpu], lints: {KB0402: 'off', KB0401: 'off'}}\n",
    );
    let (_, answer) = project.json(&["history"]);
    assert_eq!(answer["series"].as_array().unwrap().len(), 1);
}

#[test]
fn answers_are_as_their_schemas_say() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.sessions(&[92.0, 92.3, 91.8, 92.1, 91.9, 92.2, 92.0], &Special::default());
    let answers = [
        ("gate.v1.json", project.json(&["gate"]).1),
        ("history.v1.json", project.json(&["history"]).1),
        ("compare.v1.json", project.json(&["compare", "env:default", "env:engine=process"]).1),
    ];
    for (file, answer) in answers {
        let (_, schema) =
            kubebench_results::compare::v1::schemas().into_iter().find(|(name, _)| *name == file).unwrap();
        let validator = jsonschema::draft7::new(&schema).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert_eq!(wrong, Vec::<String>::new(), "{file}: {answer:#}");
    }
}

/// The first session filled caches: a change is measured against those after it.
#[test]
fn a_cold_first_session_is_in_no_level() {
    let mut project = Project::with(SPEC);
    let cold = project.session(20.1, &Special::default());
    project.sessions(&[99.4, 98.9, 100.0, 99.9, 100.1, 99.8], &Special::default());
    let (_, told) = project.json(&["history"]);
    assert_eq!(told["series"][0]["apart"], serde_json::json!([cold]), "{told:#}");
    assert_line(
        &project.says(&["history"]).1,
        str! {"    2026-02-01T01:01:00Z  session-001  -           20.1 images/s  3 runs  an outlier"},
    );
    project.sessions(&[80.0, 80.1, 80.2], &Special::default());
    let (_, told) = project.json(&["history"]);
    let change = told["series"][0]["changes"][0]["change"].as_f64().unwrap();
    assert!((change + 0.197).abs() < 0.01, "{told:#}");
    let (status, line) = project.gate(&[]);
    let open = line["open"]["change"].as_f64().unwrap();
    assert!(status == 1 && (open + 0.197).abs() < 0.01, "{line:#}");
}

/// What is wrong with a file of another benchmark is not asked for.
#[test]
fn a_bad_file_of_another_benchmark_says_nothing_of_this_one() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..6], &Special::default());
    project.folder.write("results/other/default-00000000/20260101T000000Z-00000000-r1-a1.json", "{");
    assert_eq!(project.says(&["history"]).0, 1);
    let (status, said, _) = project.says(&["history", "train"]);
    assert!(status == 0 && !said.contains("left out"), "{said}");
    project.folder.write("results/train/default-00000000/20260101T000000Z-00000000-r1-a1.json", "{");
    let (status, said, _) = project.says(&["history", "train"]);
    assert!(status == 1, "{said}");
    assert_line(
        steady(&said),
        str! {"left out: train/default-00000000/RUN-a1.json: KB0363: this is not JSON: EOF while parsing an object at line 1 column 1"},
    );
}

/// The runs of a value are those that have it, here and in an export.
#[test]
fn runs_without_a_value_are_not_counted() {
    let mut project = Project::with(SPEC);
    let special = Special { loss: Some(0.5), ..Special::default() };
    project.session_as(100.0, &special, |made| {
        let loss = made.metrics.last_mut().unwrap();
        match made.run.repeat {
            1 => loss.value = None,
            // Another thing is measured, and so this is another metric.
            2 => loss.unit = Some("MB".to_owned()),
            _ => {}
        }
    });
    let (_, told) = project.json(&["history", "--all"]);
    let runs = |told: &serde_json::Value| {
        let files = told["sessions"][0]["results"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
        let repeats: Vec<u32> =
            files.map(|path| 1 + u32::from(path.contains("-r2-")) + 2 * u32::from(path.contains("-r3-"))).collect();
        (told["metric"].as_str().unwrap().to_owned(), told["unit"].as_str().map(str::to_owned), repeats)
    };
    let all: Vec<_> = told["series"].as_array().unwrap().iter().map(runs).collect();
    let of =
        |name: &str, unit: Option<&str>, repeats: &[u32]| (name.to_owned(), unit.map(str::to_owned), repeats.to_vec());
    assert_eq!(
        all,
        [of("loss", None, &[3]), of("loss", Some("MB"), &[2]), of("speed", Some("images/s"), &[1, 2, 3])],
        "{told:#}"
    );
    let (_, text, _) = project.says(&["history", "--all"]);
    assert_eq!((text.matches("  1 run\n").count(), text.matches("  3 runs\n").count()), (2, 1), "{text}");
    assert_eq!(project.says(&["export", "--format", "github-action-benchmark", "--out", "x"]).0, 0);
    let entries = std::fs::read_to_string(project.folder.path().join("x/smaller-is-better.json")).unwrap();
    assert_eq!(entries.matches("median of 1 run\\n").count(), 2, "{entries}");
}

/// A history that ends before the runs do says so.
#[test]
fn newer_sessions_without_a_value_are_reported() {
    let mut project = Project::with(SPEC);
    let with = Special { loss: Some(0.5), ..Special::default() };
    project.sessions(&QUIET[..5], &with);
    let (_, told) = project.json(&["history", "train", "--metric", "loss"]);
    assert_eq!((told["leftOut"].as_array().unwrap().len(), told.get("notes")), (0, None), "{told:#}");
    project.session_as(100.0, &with, |made| made.metrics.last_mut().unwrap().value = None);
    let failed = Special { status: Some(Status::Invalid), ..with };
    project.session(100.0, &failed);
    let (status, told) = project.json(&["history", "train", "--metric", "loss"]);
    assert_eq!((status, told["series"][0]["sessions"].as_array().unwrap().len()), (0, 5));
    assert_line(
        told["notes"][0].as_str().unwrap(),
        str! {"`loss` of train [default]: 2 newer sessions have no value; in the first of 6 runs, it succeeded without a value of this metric"},
    );
    let codes: Vec<&str> =
        told["leftOut"].as_array().unwrap().iter().map(|file| file["code"].as_str().unwrap()).collect();
    assert_eq!(codes, [["noValue"; 3], ["exitCode"; 3]].concat(), "{told:#}");
    // Of another metric, only the runs that failed have none.
    let (_, text, _) = project.says(&["history", "train"]);
    assert_line(
        &text,
        str! {"note: `speed` of train [default]: 1 newer session has no value; in the first of 3 runs, worker-0 exited with 1"},
    );
    assert_eq!(text.matches("left out: ").count(), 3, "{text}");
    project.sessions(&QUIET[..1], &Special::default());
    let (_, told) = project.json(&["history", "train", "--metric", "loss"]);
    assert_eq!(told["leftOut"].as_array().unwrap().len(), 6, "what measures another metric only lacks none: {told:#}");
    assert_eq!(project.json(&["history", "train"]).1.get("notes"), None);
}

/// A benchmark of which no run counts is no benchmark without runs.
#[test]
fn runs_of_which_none_counts_are_reported() {
    let mut project = Project::with(SPEC);
    project.session(100.0, &Special { status: Some(Status::Failed), ..Special::default() });
    let (status, text, _) = project.says(&["history"]);
    assert_eq!(status, 0, "{text}");
    assert_line(&text, str! {"note: there is no result that counts"});
    assert!(!text.contains("is open"), "{text}");
    assert_line(
        &text,
        str! {"note: train [default]: 1 session has no value; in the first of 3 runs, worker-0 exited with 1"},
    );
}

/// Where no metric is primary, what to ask for is said.
#[test]
fn without_a_primary_metric_the_options_are_named() {
    let mut project = Project::with(SPEC);
    project.session_as(100.0, &Special::default(), |made| {
        made.metrics.iter_mut().for_each(|metric| metric.kind = Kind::Secondary);
        let mut other = made.metrics[0].clone();
        other.name = "latency".to_owned();
        made.metrics.push(other);
    });
    let said = str! {"train has no primary metric: `--all` shows all metrics, `--metric NAME` one of them"};
    let (status, told) = project.json(&["history", "train"]);
    assert_eq!((status, told["notes"].as_array().unwrap().len()), (0, 1), "{told:#}");
    assert_line(told["notes"][0].as_str().unwrap(), said);
    let (_, text, _) = project.says(&["history"]);
    assert!(!text.contains("no result that counts"), "{text}");
    assert_eq!(project.json(&["history", "--all"]).1.get("notes"), None);
}

/// The only metric of a benchmark needs no mark.
#[test]
fn the_only_metric_is_shown() {
    let mut project = Project::with(SPEC);
    project.session_as(100.0, &Special::default(), |made| {
        made.metrics.iter_mut().for_each(|metric| metric.kind = Kind::Secondary);
    });
    let (status, text, _) = project.says(&["history", "train"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("train [default] speed"), "{text}");
}
