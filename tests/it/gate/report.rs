//! `report`: what people read first is right, and files that are not its own stay.

mod gates;
mod newest;
mod pages;

use std::fs;

use kubebench_format::result::v1::{Direction, Kind, Metric, Status};
use kubebench_testing::snapshot::{assert_line, assert_text, named, overwrites, str};
use serde_json::Value as Json;

use crate::support::steady::steady;

use super::{Project, QUIET, SPEC, Special, texts};
use crate::support::judges::skip;
use crate::support::project::repository;

/// Writes the site, and returns its files by path.
fn site(project: &Project, arguments: &[&str]) -> std::collections::BTreeMap<String, String> {
    let all: Vec<&str> = ["report", "--out", "site"].into_iter().chain(arguments.iter().copied()).collect();
    let (status, out, error) = project.says(&all);
    assert_eq!((status, out.as_str()), (0, ""), "{error}");
    let text = |(path, bytes): (String, Vec<u8>)| {
        (path.trim_start_matches("site/").to_owned(), String::from_utf8(bytes).unwrap())
    };
    project.folder.tree("site").into_iter().map(text).collect()
}

/// The words of a page: without tags, a line for each paragraph and row, its entities decoded.
fn words(page: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    let lines = ["p", "li", "h1", "h2", "h3", "tr", "figcaption", "summary", "text", "title", "desc"]
        .map(|tag| format!("</{tag}>"));
    let page = lines.iter().fold(page.to_owned(), |page, end| page.replace(end, &format!("{end}\n")));
    for letter in page.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => is_tag = false,
            letter if !is_tag => text.push(letter),
            _ => {}
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_open_change_is_a_sentence_everywhere() {
    let mut project = Project::with(SPEC);
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    let first = project.commit("first");
    project.sessions(&QUIET[..12], &on(&first));
    let second = project.commit("second");
    project.sessions(&[92.0, 92.2, 91.9, 92.1, 92.0, 91.8, 92.3], &on(&second));
    let files = site(&project, &["--repository", "https://git.example.com/team/bench"]);

    let overview = words(&files["index.html"]);
    let names = [(&second[..10], "SECOND"), (&first[..10], "FIRST")];
    assert_line(&overview, str! {"1 regression is open"});
    for part in [&second[..10], "2026-02-01", "1 × synthetic", "−7.9 %"] {
        assert!(overview.contains(part), "{part}: {overview}");
    }
    assert_line(
        named(&overview, &names),
        str! {"train (default): speed −7.9 % [−8.7, −7.2] (higher is better) since 2026-02-01 13:01 UTC (SECOND) on 1 × synthetic, target default; seen in 7 sessions."},
    );
    let index = json(&files["index.json"]);
    assert_eq!(index["verdicts"]["regressed"], 1);
    let open = &index["open"][0];
    assert_eq!((open["commit"].as_str(), open["after"].as_str()), (Some(second.as_str()), Some(first.as_str())));
    let sentence = open["sentence"].as_str().unwrap();
    assert_text(
        named(sentence, &names),
        str! {"train (default): speed −7.9 % [−8.7, −7.2] since 2026-02-01 13:01 UTC (SECOND) on 1 × synthetic, target default; seen in 7 sessions; brackets are the 95 % confidence interval."},
    );
    assert!(files["feed.xml"].contains(sentence), "{}", files["feed.xml"]);
    assert!(files["badges/train.svg"].contains("1 worse"));

    let page = &files["benchmarks/train/index.html"];
    assert!(words(page).contains(&format!("git bisect start {} {}", &second[..10], &first[..10])));
    let range = format!("https://git.example.com/team/bench/compare/{first}...{second}");
    assert!(page.contains(&range), "{page}");
    let compared = words(&files["compare/newest.html"]);
    assert!(
        compared.contains(&format!("{} → {}", &first[..10], &second[..10])) && compared.contains("regressed"),
        "{compared}"
    );

    let (status, text, _) = project.says(&["report", "--format", "markdown"]);
    assert_eq!(status, 0);
    let text = named(text, &names);
    assert_line(
        &text,
        str! {[r#"- **Worse:** train (default): speed −7.9 % \[−8.7, −7.2\] since 2026-02-01 13:01 UTC (SECOND) on 1 × synthetic, target default; seen in 7 sessions; brackets are the 95 % confidence interval."#]},
    );
    assert_line(&text, str! {"| train | regressed | speed | 92.3 images/s | 19 |"});
}

#[test]
fn with_nothing_open_it_says_what_would_have_been_seen() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    assert_line(&overview, str! {"Nothing got worse"});
    assert_line(
        &overview,
        str! {"No regressions in 1 series. A regression of 4.2 % or more would have been detected with 90 % probability."},
    );
    assert_line(words(&files["badge.svg"].replace("</", "\n</")), str! {"no change"});
    assert!(!files["feed.xml"].contains("<entry>"));
}

#[test]
fn what_was_accepted_is_shown_with_who_and_why() {
    let mut project = Project::with(SPEC);
    project.commit("all");
    project.sessions(&QUIET[..12], &Special::default());
    project.sessions(&[92.0, 92.2, 91.9, 92.1, 92.0, 91.8, 92.3], &Special::default());
    let why = "<b>bf16</b> was wrong before";
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada@example.com", "--reason", why];
    let (status, _, error) = project.says(&ack);
    assert_eq!(status, 0, "{error}");
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    assert_line(&overview, str! {"Nothing got worse"});
    assert!(overview.contains(why), "{overview}");
    assert_line(
        steady(&overview),
        str! {"train (default) speed: −7.9 % since 2026-02-01. Accepted by ada@example.com up to 11 %: <b>bf16</b> was wrong before (acks/train-ID.yaml)"},
    );
    assert!(!files["index.html"].contains("<b>bf16"), "{}", files["index.html"]);
    assert_line(
        words(&files["changes.html"]),
        str! {"2026-02-01 train (default), speed: worse, accepted −7.9 % [−8.7, −7.2]"},
    );
    let page = &files["benchmarks/train/index.html"];
    assert!(words(page).contains("✓ accepted"), "{page}");
    assert!(page.contains("class=\"mark ack\""), "{page}");
    // What was accepted until some day is open again after it.
    let (path, _) = project.folder.tree("acks").into_iter().next().unwrap();
    project.folder.remove(&format!("acks/{path}"));
    let (status, _, error) = project.says(&[&ack[..], &["--expires", "2026-01-31"]].concat());
    assert!(status == 2, "{error}");
    assert_line(
        &error,
        str! {"error: the acknowledgement would accept nothing: it expires on 2026-01-31, before the newest result of 2026-02-01"},
    );
    let (status, path, error) = project.says(&[&ack[..], &["--expires", "2026-12-31"]].concat());
    assert_eq!(status, 0, "{error}");
    let written = fs::read_to_string(project.folder.path().join(path.trim())).unwrap();
    project.folder.write(path.trim(), written.replace("2026-12-31", "2026-01-31"));
    let page = &site(&project, &[])["benchmarks/train/index.html"];
    assert_line(
        words(page),
        str! {"accepted by ada@example.com until 2026-01-31, which has passed: <b>bf16</b> was wrong before"},
    );
    assert_line(
        steady(words(page)),
        str! {"Was accepted by ada@example.com up to 11 % until 2026-01-31: <b>bf16</b> was wrong before (acks/train-ID.yaml)"},
    );
}

#[test]
fn a_confirmed_change_began_with_its_first_hit() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, confirm: required}");
    let mut project = Project::with(&spec);
    let commits = ["first", "second"].map(|message| project.commit(message));
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    project.sessions(&QUIET, &on(&commits[0]));
    project.session(93.0, &on(&commits[1]));
    let files = site(&project, &[]);
    let index = json(&files["index.json"]);
    assert_eq!(index["open"].as_array().unwrap().len(), 0, "the gate passes: {index}");
    let overview = words(&files["index.html"]);
    assert_line(&overview, str! {"Pending"});
    assert!(files["index.html"].contains("\"verdict calm\""), "nothing is decided: {}", files["index.html"]);
    assert!(!overview.contains("is open"), "{overview}");
    assert!(files["badge.svg"].contains("1 pending") && !files["feed.xml"].contains("<entry>"));
    let pending = index["pending"][0].clone();
    assert_line(
        steady(pending["sentence"].as_str().unwrap()),
        str! {"train (default): speed −7.0 % [−8.6, −5.3] since 2026-02-01 21:01 UTC (COMMIT) on 1 × synthetic, target default; seen in 1 session; pending: statistically significant, and beyond the 3 % threshold; a second session of the same revision decides; brackets are the 95 % confidence interval."},
    );
    project.session(93.2, &on(&commits[1]));
    let open = json(&site(&project, &[])["index.json"])["open"][0].clone();
    for field in ["since", "commit", "after"] {
        assert_eq!(open[field], pending[field], "{field}: {open}");
    }
    assert_eq!((open["sessions"].as_u64(), open["commit"].as_str()), (Some(2), Some(commits[1].as_str())));
}

/// Two hits of two commits show together what neither shows by itself, and everything says the same of where that began.
#[test]
fn a_change_that_two_commits_show_began_with_the_first() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, confirm: required}");
    let mut project = Project::with(&spec);
    let commits = ["first", "second", "third"].map(|message| project.commit(message));
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    project.sessions(&QUIET, &on(&commits[0]));
    let first = project.session(93.0, &on(&commits[1]));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["verdict"].as_str(), line["reason"].as_str()), (0, Some("pending"), Some("firstHit")));
    let (_, text, _) = project.says(&["gate"]);
    assert!(!text.contains("kubebench ack"), "{text}");
    assert_line(&text, str! {"  next: run train again with `kubebench run`: another session decides"});
    project.session(93.2, &on(&commits[2]));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["verdict"].as_str(), line["reason"].as_str()), (1, Some("regressed"), Some("open")));
    assert_eq!((line["open"]["session"].as_str(), line["open"]["sessions"].as_u64()), (Some(&*first), Some(2)));
    let told = project.json(&["history"]).1["series"][0].clone();
    assert_eq!(told["open"].as_str(), Some(&*first), "{told:#}");
    let files = site(&project, &[]);
    let open = json(&files["index.json"])["open"][0].clone();
    assert_eq!(
        (open["commit"].as_str(), open["after"].as_str(), open["sessions"].as_u64()),
        (Some(&*commits[1]), Some(&*commits[0]), Some(2)),
        "{open}"
    );
    assert_line(
        steady(words(&files["changes.html"])),
        str! {"2026-02-01 train (default), speed: worse, open −6.9 % [−8.1, −5.6]; git log COMMIT..COMMIT; to find it: git bisect start COMMIT COMMIT"},
    );
}

#[test]
fn what_a_branch_accepted_is_shown() {
    let mut project = Project::with(SPEC);
    project.with_feature(&QUIET, &[80.0]);
    let newest = project.json(&["history"]).1["series"][0]["aside"][0].as_str().unwrap().to_owned();
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "bf16 was wrong", "--from", &newest];
    assert_eq!(project.says(&ack).0, 0);
    project.git(&["checkout", "-q", "feature"]);
    let overview = words(&site(&project, &[])["index.html"]);
    assert!(overview.contains("✓ accepted") && !overview.contains("no change seen"), "{overview}");
    assert_line(
        &project.says(&["report", "--format", "markdown"]).1,
        str! {"| train | accepted | speed | 80 images/s | 21 |"},
    );
    assert_line(&overview, str! {"Accepted changes"});
    assert_line(
        steady(&overview),
        str! {"train (default) speed: Accepted by ada up to 24 %: bf16 was wrong (acks/train-ID.yaml)"},
    );
    assert_eq!(project.says(&["gate", "--markdown", "comment.md"]).0, 0);
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    assert_line(
        &comment,
        str! {"`speed` of **train** (default): **−20.0 %** [−21.4, −18.5], accepted by ada: bf16 was wrong."},
    );
    assert!(!comment.contains("No regression"), "{comment}");
}

#[test]
fn what_another_branch_shows_is_said_to_be_of_another_branch() {
    let mut project = Project::with(SPEC);
    project.with_feature(&QUIET, &[80.0]);
    project.git(&["checkout", "-q", "feature"]);
    let files = site(&project, &[]);
    let changes = words(&files["changes.html"]);
    assert!(
        changes.contains("worse in the newest session −20.0 % [−21.4, −18.5], not of the default branch"),
        "{changes}"
    );
    let overview = words(&files["index.html"]);
    assert_line(
        steady(&overview),
        str! {"train (default): speed −20.0 % [−21.4, −18.5] (higher is better) since 2026-02-01 21:01 UTC (COMMIT) on 1 × synthetic, target default; seen in 1 session, not of the default branch."},
    );
}

/// What is open on the default branch is not over because a branch that was not merged does not have it.
#[test]
fn a_branch_closes_nothing() {
    let mut project = Project::with(SPEC);
    let main = project.commit("main");
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    project.sessions(&QUIET, &on(&main));
    project.sessions(&QUIET[..8].iter().map(|value| value * 0.94).collect::<Vec<_>>(), &on(&main));
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    project.session(100.2, &on(&feature));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["reason"].as_str()), (1, Some("open")), "{line:#}");
    assert_line(
        texts(&line["notes"]),
        str! {"the newest session is from another branch and does not show the open regression; `--candidate` evaluates that session alone"},
    );
    let index = json(&site(&project, &[])["index.json"]);
    assert_eq!(index["open"].as_array().unwrap().len(), 1, "{index}");
    // By itself it is all right.
    let (status, line) = project.gate(&["--candidate", &feature]);
    assert_eq!((status, line["verdict"].as_str()), (0, Some("unchanged")), "{line:#}");
}

#[test]
fn distributions_come_from_samples_and_else_from_percentiles() {
    let mut project = Project::with(SPEC);
    for _ in 0..3 {
        project.session_as(100.0, &Special::default(), |made| {
            let like = made.metrics[0].clone();
            let metric = |name: &str, value: f64, samples: Vec<Option<f64>>| Metric {
                name: name.to_owned(),
                unit: Some("ms".to_owned()),
                direction: Direction::Lower,
                kind: Kind::Secondary,
                value: Some(value),
                samples,
                ..like.clone()
            };
            let steps = (0..30).map(|at| Some(9.0 + f64::from(at) / 10.0)).collect();
            made.metrics.push(metric("step", 10.0, steps));
            made.metrics.extend(
                [("ttft_p50", 12.0), ("ttft_p99", 40.0), ("step_p50", 10.0), ("step_p99", 11.9)]
                    .map(|(name, value)| metric(name, value, Vec::new())),
            );
        });
    }
    let files = site(&project, &[]);
    let case = |ending: &str| {
        let is_case = |path: &&String| path.starts_with("benchmarks/train/cases/") && path.ends_with(ending);
        &files[files.keys().find(is_case).unwrap()]
    };
    let csv = case(".latency.csv");
    let of: std::collections::BTreeSet<&str> =
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(of.len(), 2, "by samples where there are some: {of:?}");
    assert!(csv.contains("step,ms,\"newest session, 90 samples\",0,9\n"), "{csv}");
    assert!(csv.contains("newest session, by its percentiles\",0.99,40\n"), "{csv}");
    assert_line(
        words(case(".html")),
        str! {"By share of samples, or by measured percentiles with straight lines between them; the highest percentiles are stretched. The stronger line is the newest session."},
    );
    // Each file of results is named once, by the first series of it.
    let history = json(case(".json"));
    let listed = |series: &Json| series["sessions"][0]["results"].as_array().map_or(0, Vec::len);
    let all: Vec<usize> = history["series"].as_array().unwrap().iter().map(listed).collect();
    assert_eq!(all, [3, 0, 0, 0, 0, 0], "{history}");
}

#[test]
fn what_failed_and_what_never_ran_is_named() {
    let mut project = Project::with(SPEC);
    project.folder.write("specs/other.yaml", SPEC.replace("{name: train,", "{name: other,").as_bytes());
    let retired = Special { params: Some(("size".to_owned(), serde_json::json!(1))), ..Special::default() };
    project.session(100.0, &Special { status: Some(Status::Failed), ..retired });
    project.sessions(&QUIET[..3], &Special::default());
    project.session(100.0, &Special { status: Some(Status::Failed), ..Special::default() });
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    assert_line(
        &overview,
        str! {"train (default): 3 of 3 runs failed in the session of 2026-02-01 on default: worker-0 exited with 1"},
    );
    assert_line(&overview, str! {"new: other (default) has no result on default"});
    assert!(!overview.contains("size=1"), "what no spec asks for any more is nobody's trouble: {overview}");
    assert!(files["badge.svg"].contains("1 failing"), "{}", files["badge.svg"]);
}

#[test]
fn hardware_that_was_replaced_is_dashed_and_hardware_that_takes_turns_is_not() {
    let mut project = Project::with(SPEC);
    let on = |cpu: &str| Special { cpu: Some(cpu.to_owned()), ..Special::default() };
    project.sessions(&QUIET[..8], &on("old"));
    project.sessions(&QUIET[8..16], &on("new"));
    let charts = |files: &std::collections::BTreeMap<String, String>| {
        let page = &files["benchmarks/train/index.html"];
        (page.matches("<svg class=\"plot\"").count(), page.contains("median replaced\" d=\"M"))
    };
    let files = site(&project, &[]);
    assert_eq!(charts(&files), (1, true));
    assert_eq!(files.keys().filter(|path| path.starts_with("environments/")).count(), 3);
    // Now both are in use, and each has a chart of its own.
    project.sessions(&QUIET[16..18], &on("old"));
    project.sessions(&QUIET[18..], &on("new"));
    assert_eq!(charts(&site(&project, &[])), (2, false));
}

#[test]
fn no_site_is_between_the_files_of_a_project() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    for out in [".", "specs/..", ".."] {
        let (status, _, error) = project.says(&["report", "--out", out]);
        assert!(status == 2, "{error}");
        assert_line(
            &error,
            str! {"error: the pages would be mixed with the files of the project; write them to a separate folder"},
        );
    }
}

#[test]
fn foreign_files_stay_and_foreign_sites_are_refused() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..4], &Special::default());
    project.folder.write("site/CNAME", b"bench.example.com\n");
    project.folder.write("site/.git", b"gitdir: elsewhere\n");
    let first = site(&project, &[]);
    project.folder.write("site/benchmarks/gone/index.html", b"of a benchmark that is gone");
    let second = site(&project, &[]);
    assert_eq!(first, second);
    assert_eq!(second["CNAME"], "bench.example.com\n");

    project.folder.write("other/index.html", b"somebody's");
    let (status, _, error) = project.says(&["report", "--out", "other"]);
    assert_eq!(status, 2);
    assert_line(
        &error,
        str! {"error: other holds index.html, which no report wrote and a report would overwrite; choose another folder"},
    );
    let (status, _, error) = project.says(&["report", "--out", "results"]);
    assert_eq!(status, 2, "{error}");
    let (status, _, error) = project.says(&["report"]);
    assert_eq!(status, 2);
    assert!(error.contains("--out DIR"), "{error}");
}

#[test]
fn the_index_is_as_its_schema_says() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..12], &Special::default());
    project.sessions(&[92.0, 92.2, 91.9, 92.1, 92.0, 91.8, 92.3], &Special::default());
    let index = json(&site(&project, &[])["index.json"]);
    let validator = jsonschema::draft7::new(&kubebench_report::v1::schema()).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&index).map(|error| error.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new(), "{index:#}");
}

#[test]
fn markdown_is_renewed_in_place() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let markdown = |out: &str| project.says(&["report", "--format", "markdown", "--out", out]);
    project.folder.write("README.md", b"# Ours\n");
    let (status, _, error) = markdown("README.md");
    assert_eq!(status, 2);
    assert_line(
        &error,
        str! {"error: README.md exists and has no report: add the lines `<!-- kubebench report -->` and `<!-- kubebench report end -->` where the report belongs, or name a new file"},
    );
    project
        .folder
        .write("README.md", b"# Ours\n<!-- kubebench report -->\nold\n<!-- kubebench report end -->\nafter\n");
    assert_eq!(markdown("README.md").0, 0);
    let text = fs::read_to_string(project.folder.path().join("README.md")).unwrap();
    assert!(text.starts_with("# Ours\n<!-- kubebench report -->\n## ") && text.ends_with("after\n"), "{text}");
    assert!(!text.contains("old"), "{text}");
    assert_eq!(markdown("README.md").0, 0);
    assert_eq!(fs::read_to_string(project.folder.path().join("README.md")).unwrap(), text);
}

/// The site that `docs/` shows is the one that this program makes of the results in this repository.
#[test]
fn the_site_in_docs_is_that_of_the_results() {
    let root = repository();
    let known =
        |name: &str| std::process::Command::new("git").args(["cat-file", "-e", name]).current_dir(root).status();
    // The commit before the slow-down: whose sessions count follows from the history.
    if !known("ae3452924e^{commit}").is_ok_and(|status| status.success()) {
        return skip("the_site_in_docs_is_that_of_the_results", "the history", "run it in a clone that is not shallow");
    }
    let out = tempfile::tempdir().unwrap();
    let made = out.path().join("site");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_kubebench"))
        .args(["report", "--benchmark", "wordpiece", "--title", "Kubebench's own series", "--quiet"])
        .args(["--repository", "https://github.com/kubebench/kubebench", "--out"])
        .arg(&made)
        .env("XDG_CACHE_HOME", out.path().join("cache"))
        .current_dir(root)
        .status()
        .unwrap();
    assert!(status.success());
    let committed = root.join("docs/site");
    if overwrites() {
        let _ = fs::remove_dir_all(&committed);
        copy(&made, &committed);
    }
    assert_eq!(listed(&committed), listed(&made), "renew it with SNAPSHOTS=overwrite");
    for path in listed(&made) {
        let same = fs::read(committed.join(&path)).unwrap() == fs::read(made.join(&path)).unwrap();
        assert!(same, "docs/site/{path} is not what the program makes; renew it with SNAPSHOTS=overwrite");
    }
}

fn listed(root: &std::path::Path) -> Vec<String> {
    let files = crate::support::project::files_below(root);
    let mut paths: Vec<String> =
        files.iter().map(|file| file.strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect();
    paths.sort();
    paths
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    for path in listed(from) {
        let place = to.join(&path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(from.join(&path), place).unwrap();
    }
}
