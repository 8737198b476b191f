//! `compare`: sides, what is comparable, symmetry.

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, named, str};
use serde_json::{Value as Json, json};

use crate::support::steady::steady;

use super::{Project, QUIET, SPEC, Special, texts, verdict};

fn on(commit: &str) -> Special {
    Special { commit: Some(commit.to_owned()), ..Special::default() }
}

fn line(answer: &Json) -> &Json {
    assert_eq!(answer["lines"].as_array().unwrap().len(), 1, "{answer:#}");
    &answer["lines"][0]
}

#[test]
fn two_branches_and_their_mirror() {
    let mut project = Project::with(SPEC);
    let main = project.commit("main");
    project.sessions(&QUIET[..8], &on(&main));
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    project.sessions(&QUIET[8..16].iter().map(|value| value * 0.93).collect::<Vec<_>>(), &on(&feature));
    let (status, answer) = project.json(&["compare", "branch:main", "branch:feature"]);
    assert_eq!((status, verdict(line(&answer))), (0, "regressed"), "{answer:#}");
    assert_eq!(line(&answer)["method"], "mannWhitneyExact");
    let (_, mirror) = project.json(&["compare", "branch:feature", "branch:main"]);
    assert_eq!(verdict(line(&mirror)), "improved");
    let ratio = |answer: &Json| 1.0 + line(answer)["change"].as_f64().unwrap();
    assert!((ratio(&answer) * ratio(&mirror) - 1.0).abs() < 1e-12);
    assert_eq!(line(&answer)["p"], line(&mirror)["p"]);
    // A revision is named by its prefix too, and a folder by its path.
    let (_, by_revision) = project.json(&["compare", &main[..10], &format!("rev:{feature}")]);
    assert_eq!(verdict(line(&by_revision)), "regressed");
    let (_, by_tip) = project.json(&["compare", "main", "feature"]);
    assert_line(
        texts(&by_tip["notes"]),
        str! {"`main` names only the newest commit of that branch; `branch:main` names all of its commits"},
    );
    assert!(!by_revision["notes"].to_string().contains("branch:"), "{by_revision:#}");
    assert_eq!(project.says(&["compare", "nonsense", "branch:feature"]).0, 2);
    assert_eq!(project.says(&["compare", "what:x", "branch:feature"]).0, 2);
    project.git(&["tag", "v1", "main"]);
    assert_eq!(verdict(line(&project.json(&["compare", "tag:v1", "branch:feature"]).1)), "regressed");
}

/// Made-up results of more days begin with the same sessions.
#[test]
fn sessions_of_both_folders_count_once_and_that_is_said() {
    let project = Project::with(SPEC);
    project.folder.write("values.yaml", "metrics: {speed: {value: 100, noise: 1%}}\n");
    for (sessions, out) in [("6", "early"), ("10", "late")] {
        let mock =
            ["mock", "--spec", "specs/train.yaml", "--values", "values.yaml", "--sessions", sessions, "--out", out];
        assert_eq!(project.says(&mock).0, 0);
    }
    let (_, answer) = project.json(&["compare", "early", "late"]);
    assert_line(texts(&answer["notes"]), str! {"6 sessions are in both folders, so they do not count for dir:late"});
    project.commit("first");
    let (status, _, error) = project.says(&["compare", "nosuch", "late"]);
    assert_eq!(status, 2);
    assert_line(error, str! {"error: `nosuch` is neither a folder nor a commit here"});
}

#[test]
fn what_differs_is_refused_and_can_be_allowed() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..6], &on(&first));
    let second = project.commit("second");
    project.sessions(&QUIET[6..12], &Special { cpu: Some("faster".to_owned()), ..on(&second) });
    let (_, answer) = project.json(&["compare", &first, &second]);
    assert_eq!(verdict(line(&answer)), "incomparable");
    let message = line(&answer)["message"].as_str().unwrap();
    assert!(message.contains("--allow cpu"), "{message}");
    assert_line(
        message,
        str! {"both sides differ in cpu (1 × synthetic and 1 × faster); compare anyway with --allow cpu"},
    );
    assert_eq!(verdict(line(&project.json(&["compare", &first, &second, "--allow", "cpu"]).1)), "unchanged");
    let third = project.commit("third");
    project.sessions(&QUIET[12..18], &Special { workload: Some("sha256:b".to_owned()), ..on(&third) });
    let (_, answer) = project.json(&["compare", &first, &third]);
    assert!(line(&answer)["message"].as_str().unwrap().contains("--allow workload"), "{answer:#}");
    // Another image is what is compared, not what keeps from comparing.
    let fourth = project.commit("fourth");
    project.sessions(&QUIET[12..18], &Special { image: Some("sha256:9".to_owned()), ..on(&fourth) });
    assert_eq!(verdict(line(&project.json(&["compare", &first, &fourth]).1)), "unchanged");
}

#[test]
fn few_sessions_against_many_and_too_few() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..12], &on(&first));
    let second = project.commit("second");
    project.sessions(&[93.0, 92.5], &on(&second));
    let (_, answer) = project.json(&["compare", &first, &second]);
    assert_eq!(
        (verdict(line(&answer)), line(&answer)["method"].as_str().unwrap()),
        ("regressed", "tPredictionInterval")
    );
    let (_, mirror) = project.json(&["compare", &second, &first]);
    assert_eq!(verdict(line(&mirror)), "improved", "{mirror:#}");
    let third = project.commit("third");
    project.sessions(&[99.0, 99.5], &on(&third));
    let (_, answer) = project.json(&["compare", &second, &third]);
    assert_eq!((verdict(line(&answer)), line(&answer)["reason"].as_str().unwrap()), ("inconclusive", "tooFewSessions"));
}

#[test]
fn variants_of_one_session_are_pairs() {
    let mut project = Project::with(SPEC);
    let variant = |name: &str| Special { params: Some(("variant".to_owned(), json!(name))), ..Special::default() };
    for value in &QUIET[..8] {
        project.session(*value, &variant("torch"));
        project.session(value * 1.04, &Special { same_session: true, ..variant("jax-on-tpu") });
    }
    let (_, answer) = project.json(&["compare", "variant:torch", "variant:jax-on-tpu"]);
    assert_eq!(line(&answer)["method"], "signFlipExact", "{answer:#}");
    assert_eq!(verdict(line(&answer)), "improved");
    let change = line(&answer)["change"].as_f64().unwrap();
    assert!((change - 0.04).abs() < 1e-9, "pairs take the session's luck away: {change}");
}

#[test]
fn few_sessions_of_a_variant_may_vary_more_than_many_of_another() {
    let mut project = Project::with(SPEC);
    let variant = |name: &str| Special { params: Some(("variant".to_owned(), json!(name))), ..Special::default() };
    project.sessions(&QUIET[..12], &variant("torch"));
    project.sessions(&[92.0, 80.0, 99.0], &variant("jax-on-tpu"));
    let (_, answer) = project.json(&["compare", "variant:torch", "variant:jax-on-tpu"]);
    let (_, mirror) = project.json(&["compare", "variant:jax-on-tpu", "variant:torch"]);
    for answer in [&answer, &mirror] {
        assert_eq!(
            (verdict(line(answer)), line(answer)["method"].as_str().unwrap()),
            ("inconclusive", "welchT"),
            "{answer:#}"
        );
    }
    let (status, text, _) = project.says(&["compare", "variant:torch", "variant:jax-on-tpu"]);
    assert!(status == 0, "{text}");
    assert_line(&text, str! {"  p = 0.2353 (Welch's t, approximate)"});
}

/// Toolkits are compared variant by variant.
#[test]
fn labels_keep_variants_apart() {
    let mut project = Project::with(SPEC);
    for (kit, small, large) in [("torch", 100.0, 500.0), ("jax", 200.0, 250.0)] {
        for (variant, value) in [("small", small), ("large", large)] {
            let special = Special { params: Some(("variant".to_owned(), json!(variant))), ..Special::default() };
            for noise in &QUIET[..6] {
                project.session_as(value * noise / 100.0, &special, |made| {
                    made.metadata.benchmark = format!("kits-{kit}");
                    made.metadata.labels = [("toolkit".to_owned(), kit.to_owned())].into();
                });
            }
        }
    }
    let (_, answer) = project.json(&["compare", "label:toolkit=torch", "label:toolkit=jax"]);
    let changes: Vec<(&str, f64)> = answer["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["caseName"].as_str().unwrap(), line["change"].as_f64().unwrap()))
        .collect();
    let [(large, lost), (small, gained)] = changes.as_slice() else { panic!("{answer:#}") };
    assert_eq!((*large, *small), ("variant=large", "variant=small"));
    assert!((lost + 0.5).abs() < 0.01 && (gained - 1.0).abs() < 0.01, "{answer:#}");
    // That one is slower than the other is nothing to accept.
    let (_, text, _) = project.says(&["compare", "label:toolkit=torch", "label:toolkit=jax"]);
    assert!(!text.contains("kubebench ack"), "{text}");
    let (status, _, error) = project.says(&["compare", "label:toolkit=x", "variant:nope"]);
    assert!(status == 1, "{error}");
    assert_line(
        &error,
        str! {"KB0461: there is no result of `label:toolkit=x`; results have these: label:toolkit=jax; label:toolkit=torch"},
    );
    assert_line(
        &error,
        str! {"KB0461: there is no result of `variant:nope`; results have these: variant:large; variant:small"},
    );
    let (_, answer) = project.json(&["compare", "variant:small", "label:toolkit=jax"]);
    let left = answer["unmatched"].to_string() + &answer["lines"].to_string();
    assert!(left.contains("variant=large"), "{answer:#}");
}

#[test]
fn units_are_no_ratio() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..6], &on(&first));
    let second = project.commit("second");
    project.sessions(&QUIET[..6], &Special { unit: Some("tokens/s".to_owned()), ..on(&second) });
    let (status, answer) = project.json(&["compare", &first, &second]);
    assert_eq!((status, &answer["lines"]), (1, &json!([])), "{answer:#}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("its unit changed from images/s to tokens/s"), "{answer:#}");
    let (_, _, error) = project.says(&["compare", &first, &second]);
    assert_line(
        named(&error, &[(&first, "FIRST"), (&second, "SECOND")]),
        str! {"KB0461: no metric of FIRST and SECOND could be compared; the notes list what only one side has; `kubebench history` lists all sessions"},
    );
}

#[test]
fn negatives_and_zeros_are_compared_by_their_size() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    let loss = |value: f64, commit: &str| Special { loss: Some(value), ..on(commit) };
    (0..6).for_each(|at| drop(project.session(100.0, &loss(-1.0 + 0.01 * f64::from(at), &first))));
    let second = project.commit("second");
    (0..6).for_each(|at| drop(project.session(100.0, &loss(-0.5 + 0.01 * f64::from(at), &second))));
    let (_, answer) = project.json(&["compare", &first, &second, "--metric", "loss"]);
    assert_eq!(verdict(line(&answer)), "regressed", "{answer:#}");
    let third = project.commit("third");
    (0..6).for_each(|_| drop(project.session(100.0, &loss(0.0, &third))));
    let fourth = project.commit("fourth");
    (0..6).for_each(|_| drop(project.session(100.0, &loss(0.0, &fourth))));
    let (_, answer) = project.json(&["compare", &third, &fourth, "--metric", "loss"]);
    assert_eq!(verdict(line(&answer)), "unchanged");
    // What fell to nothing lost all that it was; what came from nothing is no share of it.
    let (status, answer) = project.json(&["compare", &first, &third, "--metric", "loss"]);
    let fell = line(&answer);
    assert_eq!((status, verdict(fell)), (0, "regressed"), "{answer:#}");
    let (_, answer) = project.json(&["compare", &third, &first, "--metric", "loss"]);
    assert_eq!((verdict(line(&answer)), line(&answer)["reason"].as_str()), ("inconclusive", Some("noScale")));
}

#[test]
fn what_fell_to_nothing_lost_all() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..6], &on(&first));
    let second = project.commit("second");
    project.sessions(&[0.0; 6], &on(&second));
    let (_, answer) = project.json(&["compare", &first, &second]);
    let change = line(&answer)["change"].as_f64().unwrap();
    assert_eq!(verdict(line(&answer)), "regressed", "{answer:#}");
    assert!((change + 1.0).abs() < 0.02, "{change}");
}

/// A baseline that never worked is no proof that nothing got worse.
#[test]
fn where_no_run_of_a_side_counts_nothing_is_compared() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..6], &Special { status: Some(Status::Failed), ..on(&first) });
    let second = project.commit("second");
    project.sessions(&QUIET[6..12], &on(&second));
    let (status, text, error) = project.says(&["compare", &first, &second]);
    assert!(status == 1, "{text}{error}");
    let names = [(&*first, "FIRST"), (&*second, "SECOND")];
    assert_line(
        named(&error, &names),
        str! {"KB0461: no metric of FIRST and SECOND could be compared; the notes list what only one side has; `kubebench history` lists all sessions"},
    );
    assert_line(
        named(&text, &names),
        str! {"note: no run of FIRST counts in train (default): they failed, or have no value"},
    );
    let (status, text, error) = project.says(&["compare", &second, &first]);
    assert!(status == 1 && text.contains("1 missing"), "{text}{error}");
}

/// `better:` was wrong when the results were made, and the spec was fixed since: every command judges by the spec.
#[test]
fn the_spec_says_which_way_is_better() {
    let mut project = Project::with(&SPEC.replace("better: higher", "better: lower"));
    let first = project.commit("first");
    project.sessions(&QUIET, &on(&first));
    let second = project.commit("second");
    project.sessions(&QUIET[..8].iter().map(|value| value * 0.9).collect::<Vec<_>>(), &on(&second));
    assert_eq!(verdict(line(&project.json(&["compare", &first, &second]).1)), "improved");
    project.folder.write("specs/train.yaml", SPEC);
    assert_eq!(verdict(line(&project.json(&["compare", &first, &second]).1)), "regressed");
    let (_, told) = project.json(&["history"]);
    assert_eq!(told["series"][0]["direction"], "higher");
    assert!(told["series"][0]["open"].is_string(), "{told:#}");
    assert_eq!(project.gate(&[]).0, 1);
    // A report judges what has no gate too.
    project.folder.write("specs/train.yaml", SPEC.split_once("  gates:").unwrap().0);
    assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
    let site: Json =
        serde_json::from_slice(&std::fs::read(project.folder.path().join("site/index.json")).unwrap()).unwrap();
    assert_eq!(site["open"].as_array().unwrap().len(), 1, "{site:#}");
    project.folder.write("specs/train.yaml", SPEC);
    let (status, _, error) = project.says(&["ack", "train", "--metric", "speed", "--reason", "r", "--by", "b"]);
    assert_eq!(status, 0, "{error}");
}

#[test]
fn labels_pair_what_belongs_together() {
    let mut project = Project::with(SPEC);
    let mut record = |name: &str, labels: &[(&str, &str)], value: f64| {
        for share in &QUIET[..6] {
            project.session_as(value * share, &Special::default(), |made| {
                made.metadata.benchmark = name.to_owned();
                made.metadata.labels =
                    labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            });
        }
    };
    record("llm-jax", &[("toolkit", "jax")], 0.9);
    record("train-torch", &[("toolkit", "torch")], 2.0);
    record("llm-torch", &[("toolkit", "torch")], 1.0);
    record("train-jax", &[("toolkit", "jax")], 2.2);
    record("net", &[("toolkit", "torch"), ("model", "resnet")], 3.0);
    record("flax", &[("toolkit", "jax"), ("model", "resnet")], 3.0);
    let sides = ["compare", "label:toolkit=torch", "label:toolkit=jax"];
    let (_, answer) = project.json(&sides);
    let lines = answer["lines"].as_array().unwrap();
    let names = |line: &Json| format!("{} {}", line["baselineBenchmark"], line["benchmark"]).replace('"', "");
    let told: Vec<(String, &str)> = lines.iter().map(|line| (names(line), verdict(line))).collect();
    let told: Vec<(&str, &str)> = told.iter().map(|(names, verdict)| (names.as_str(), *verdict)).collect();
    assert_eq!(
        told,
        [("net flax", "unchanged"), ("llm-torch llm-jax", "regressed"), ("train-torch train-jax", "improved")]
    );
    assert_line(
        &project.says(&sides).1,
        str! {"llm-torch -> llm-jax      default  speed   99.95 images/s       89.95 images/s     −10.0 % [−11.4, −8.6]  regressed"},
    );
}

#[test]
fn labels_that_tell_nothing_apart_are_refused() {
    let mut project = Project::with(SPEC);
    for (name, toolkit) in [("ada", "torch"), ("bob", "torch"), ("cyd", "jax"), ("dan", "jax")] {
        for value in &QUIET[..6] {
            project.session_as(*value, &Special::default(), |made| {
                made.metadata.benchmark = name.to_owned();
                made.metadata.labels = [("toolkit".to_owned(), toolkit.to_owned())].into();
            });
        }
    }
    let (_, answer) = project.json(&["compare", "label:toolkit=torch", "label:toolkit=jax"]);
    assert_eq!(answer["lines"], json!([]), "{answer:#}");
    assert_line(
        answer["notes"][0].as_str().unwrap(),
        str! {"it is unclear which of ada, bob to compare with which of cyd, dan: give matching benchmarks the same label, or name one of each side with --benchmark"},
    );
    let only = ["--benchmark", "ada", "--benchmark", "dan"];
    let (_, answer) = project.json(&[&["compare", "label:toolkit=torch", "label:toolkit=jax"][..], &only].concat());
    assert_eq!(line(&answer)["baselineBenchmark"], "ada");
}

#[test]
fn of_several_gates_of_a_metric_the_strictest_says_what_matters() {
    let two = "[{metric: speed, maxRegression: 9%, baseline: {branch: main}}, {metric: speed, maxRegression: 1%}]";
    let mut project = Project::with(&SPEC.replace("[{metric: speed, maxRegression: 3%}]", two));
    let main = project.commit("main");
    project.sessions(&QUIET[..12], &on(&main));
    let (_, answer) = project.json(&["compare", "env:default", "env:engine=process"]);
    assert_eq!(line(&answer)["threshold"], 0.01, "{answer:#}");
    let (status, gated) = project.json(&["gate"]);
    assert_eq!((status, gated["lines"].as_array().unwrap().len()), (0, 2), "{gated:#}");
}

#[test]
fn hardware_that_one_side_alone_has_is_named() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..6], &on(&first));
    let second = project.commit("second");
    project.sessions(&QUIET[6..12], &on(&second));
    let tardy = Special { cpu: Some("tardy".to_owned()), ..on(&second) };
    project.sessions(&QUIET[12..18].iter().map(|value| value / 2.0).collect::<Vec<_>>(), &tardy);
    let told = |answer: &Json| -> Vec<String> {
        let lines = answer["lines"].as_array().unwrap().iter();
        lines.map(|line| format!("{} {}", verdict(line), line["reason"].as_str().unwrap())).collect()
    };
    let (status, answer) = project.json(&["compare", &first, &second]);
    assert_eq!((status, told(&answer)), (1, vec!["unchanged equivalent".into(), "incomparable onlyCandidate".into()]));
    let line = &answer["lines"][1];
    assert_eq!((line["environment"]["cpu"].as_str(), line.get("change")), (Some("1 × tardy"), None), "{line:#}");
    let message = line["message"].as_str().unwrap();
    assert!(message.contains("--allow cpu"), "{message}");
    assert_line(
        steady(message),
        str! {"only COMMIT ran on this hardware: both sides differ in cpu (1 × synthetic and 1 × tardy); compare anyway with --allow cpu"},
    );
    let (status, answer) = project.json(&["compare", &second, &first]);
    assert_eq!((status, told(&answer)), (1, vec!["unchanged equivalent".into(), "incomparable onlyBaseline".into()]));
    let (status, text, _) = project.says(&["compare", &first, &second]);
    let seen = format!("only {second} ran on this hardware");
    assert!(status == 1 && text.contains(&seen) && text.contains("1 × tardy"), "{text}");
    let (status, text, error) = project.says(&["compare", &first, &second, "--output-format", "concise"]);
    assert!(status == 1 && format!("{text}{error}").contains("KB0461"), "{text}{error}");
    let (status, answer) = project.json(&["compare", &first, &second, "--allow", "cpu"]);
    assert_eq!((status, verdict(&answer["lines"][1])), (0, "regressed"), "{answer:#}");
    // What a branch ran on before its hardware was replaced is history.
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    project.sessions(&QUIET[..6], &Special { cpu: Some("tardy".to_owned()), ..on(&feature) });
    let (status, answer) = project.json(&["compare", "branch:main", "branch:feature"]);
    assert_eq!((status, told(&answer).len()), (0, 1), "{answer:#}");
    assert_line(
        answer["notes"][0].as_str().unwrap(),
        str! {"train (default) also has sessions of branch:main on hardware that was replaced since, which are not compared: both sides differ in cpu (1 × synthetic and 1 × tardy)"},
    );
}

#[test]
fn a_metric_that_one_side_alone_has_is_named() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..6], &Special { loss: Some(2.0), ..on(&first) });
    let second = project.commit("second");
    project.sessions(&QUIET[6..12], &on(&second));
    let (status, answer) = project.json(&["compare", &first, &second, "--metric", "loss"]);
    assert_eq!((status, verdict(line(&answer))), (1, "missing"), "{answer:#}");
    assert_eq!(line(&answer)["message"], format!("{second} has no value of this metric, but {first} has one"));
    let (status, text, _) = project.says(&["compare", &first, &second]);
    assert!(status == 1, "{text}");
    assert_line(&text, str! {"1 missing, 1 unchanged"});
    // What is new takes nothing from anybody.
    let (status, text, _) = project.says(&["compare", &second, &first, "--metric", "loss"]);
    assert_eq!(status, 1, "{text}");
    assert_line(named(&text, &[(&first, "FIRST")]), str! {"note: only FIRST has `loss` of train (default)"});
    assert_eq!(project.says(&["compare", &second, &first]).0, 0);
    // What the baseline had for a while, and has no more, is no loss.
    let third = project.commit("third");
    project.sessions(&QUIET[..6], &Special { loss: Some(2.0), ..on(&third) });
    project.sessions(&QUIET[6..12], &on(&third));
    let (status, answer) = project.json(&["compare", &third, &second]);
    assert_eq!((status, verdict(line(&answer))), (0, "unchanged"), "{answer:#}");
    assert_line(
        named(texts(&answer["notes"]), &[(&third, "THIRD")]),
        str! {"only THIRD has `loss` of train (default)"},
    );
}
