//! The pages agree with each other, show all there is, and color nothing that is noise.

use kubebench_testing::snapshot::{assert_line, named, str};
use serde_json::{Value as Json, json};

use super::super::{Project, QUIET, SPEC, Special};
use super::{site, words};

/// Sessions in which `speed` and `loss`, which no gate looks at, get worse with the second of two commits.
fn worse_twice() -> (Project, [String; 2]) {
    let mut project = Project::with(SPEC);
    let commits = ["first", "second"].map(|message| project.commit(message));
    for value in &QUIET[..12] {
        let special = Special { commit: Some(commits[0].clone()), loss: Some(value / 50.0), ..Special::default() };
        project.session(*value, &special);
    }
    for value in &QUIET[..8] {
        let special = Special { commit: Some(commits[1].clone()), loss: Some(value / 10.0), ..Special::default() };
        project.session(value * 0.92, &special);
    }
    (project, commits)
}

#[test]
fn a_metric_without_a_gate_counts_everywhere_while_it_is_worse() {
    let (project, commits) = worse_twice();
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    let names = [(&commits[1][..10], "SECOND"), (&commits[0][..10], "FIRST")];
    assert_line(&overview, str! {"2 regressions are open"});
    // One cause is one group, the largest first.
    assert_line(
        named(&overview, &names),
        str! {"2 regressions since 2026-02-01 13:01 UTC, git log FIRST..SECOND; to find it: git bisect start SECOND FIRST"},
    );
    assert_line(
        &overview,
        str! {"train (default): loss 5.00 × as high [4.95, 5.04] (lower is better); seen in 8 sessions."},
    );
    let [loss, speed] = ["): loss ", "): speed "].map(|metric| overview.find(metric).unwrap());
    assert!(loss < speed, "{overview}");
    assert!(!overview.contains("no change seen"), "{overview}");
    assert_line(&overview, str! {"2 worse"});
    assert!(files["badge.svg"].contains("2 worse") && files["badges/train.svg"].contains("2 worse"));
    assert_line(words(&files["benchmarks/train/index.html"]), str! {"Got worse"});
    let listed = words(&files["series/worse.html"]);
    assert_line(&listed, str! {"2 series: worse"});
    assert_eq!(files["series/worse.html"].matches("<tr>").count(), 3, "{listed}");
    let changes = words(&files["changes.html"]);
    for metric in [", loss: worse, open ", ", speed: worse, open "] {
        assert!(changes.contains(metric), "{metric}: {changes}");
    }
    let index: Json = serde_json::from_str(&files["index.json"]).unwrap();
    assert_eq!((&index["verdicts"]["regressed"], &index["open"].as_array().unwrap().len()), (&json!(2), &2));
    assert_eq!(index["benchmarks"][0]["cases"][0]["verdict"], "regressed");
}

#[test]
fn improvements_have_a_list_of_their_own() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..12], &Special::default());
    project.sessions(&QUIET.map(|value| value * 1.12), &Special::default());
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    assert_line(&overview, str! {"All improvements (1)"});
    assert_line(
        words(&files["improvements.html"]),
        str! {"2026-02-01 train (default), speed: better +12.0 % [+11.2, +12.8]"},
    );
}

#[test]
fn every_counter_links_to_as_many_series() {
    let (project, _) = worse_twice();
    let files = site(&project, &[]);
    let lists = files.iter().filter(|(path, _)| path.starts_with("series/"));
    let listed: usize = lists.map(|(_, page)| page.matches("<tr>").count() - 1).sum();
    let tiles = files["index.html"].split("<ul class=\"tiles\"").nth(1).unwrap().split("</ul>").next().unwrap();
    let counts = tiles.split("href=\"series/").skip(1).map(|tile| {
        let (_, rest) = tile.split_once("<b>").unwrap();
        rest.split_once("</b>").unwrap().0.parse::<usize>().unwrap()
    });
    assert_eq!(counts.sum::<usize>(), listed, "{tiles}");
}

#[test]
fn a_change_is_seen_in_a_line_of_the_whole_series() {
    let mut project = Project::with(SPEC);
    let series: Vec<f64> = (0..200)
        .map(|at| QUIET[at % 20] * if at < 50 { 1.0 } else { 1.2 })
        .chain(QUIET.map(|value| value * 1.2))
        .collect();
    project.sessions(&series, &Special::default());
    let (_, text, _) = project.says(&["history", "--last", "0"]);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("sessions, a column")).take(2).collect();
    assert_line(
        &text,
        str! {"  ▁▁▁▁▂▁▁▁▁▁▁▁▁▁▂▁▂▇███████▇█▇███▇█████▇███████▇█▇███▇█████▇███████▇█▇███▇██  220 sessions, a column is the median of 3, 99.1 … 121.1 images/s; level 119.9 images/s"},
    );
    // The fifty-first session is in the seventeenth column.
    assert_eq!(lines[1].find('^'), Some(2 + 50 / 3), "{text}");
    let overview = &site(&project, &[])["index.html"];
    let spark = overview.split("<svg class=\"spark\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert_eq!((spark.matches("class=\"level\"").count(), spark.matches("class=\"mark\"").count()), (2, 1), "{spark}");
}

/// Three cases of one level and one that is better: the noise between the three has no color.
#[test]
fn the_matrix_has_colors_where_levels_can_be_distinguished() {
    let mut project = Project::with(SPEC);
    for value in &QUIET {
        for (batch, factor, same_session) in [(1, 1.0, false), (10, 1.004, true), (100, 0.997, true), (1000, 1.5, true)]
        {
            let params = Some(("batch".to_owned(), json!(batch)));
            project.session(value * factor, &Special { params, same_session, ..Special::default() });
        }
    }
    let page = &site(&project, &[])["benchmarks/train/index.html"];
    let map = page.split("<table class=\"heat\"").nth(1).unwrap().split("</table>").next().unwrap();
    for (shade, count) in [("heat h0", 3), ("heat h1", 1), ("heat h2", 0)] {
        assert_eq!(map.matches(&format!("class=\"{shade}\"")).count(), count, "{shade}: {map}");
    }
    // The level, which the newest session is not.
    assert!(map.contains(">99.95 images/s<") && !map.contains(">99.7 images/s<"), "{map}");
}

#[test]
fn without_results_the_next_command_is_said() {
    let project = Project::with(SPEC);
    let files = site(&project, &[]);
    let page = &files["index.html"];
    assert_line(words(page), str! {"No results yet"});
    assert!(page.contains("<code>kubebench run specs/train.yaml</code>"), "{page}");
    assert!(!page.contains("tiles") && !page.contains("<table"), "{page}");
    project.folder.remove("specs/train.yaml");
    let page = &site(&project, &[])["index.html"];
    assert!(page.contains("<code>kubebench new NAME</code>"), "{page}");
}

#[test]
fn values_have_prefixes_on_pages_and_none_in_data() {
    let mut project = Project::with(SPEC);
    let values = QUIET.map(|value| value * 13_470.0);
    project.sessions(&values, &Special { unit: Some("tokens/s".to_owned()), ..Special::default() });
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    assert!(overview.contains(" Mtokens/s"), "{overview}");
    let page = words(&files["benchmarks/train/index.html"]);
    assert_line(&page, str! {"Mtokens/s"});
    let data = files.iter().find(|(path, _)| path.contains("/cases/") && path.ends_with(".json")).unwrap().1;
    let data: Json = serde_json::from_str(data).unwrap();
    let series = &data["series"][0];
    assert_eq!(series["unit"], "tokens/s");
    assert_eq!(series["sessions"][0]["value"].as_f64(), Some(values[0]));
}
