//! What `gate` says on a terminal and in a comment, as a whole: one file a case in `tests/data/said`, which `SNAPSHOTS=overwrite` writes.

use std::fs;

use kubebench_testing::snapshot::{assert_file, assert_text, named, str};

use super::{Project, QUIET, SPEC, Special};
use crate::support::judges::{skip, tool};
use crate::support::project::{assert_yes, files_below, relative, repository};

const SITE: &str = "https://benchmarks.example/ml";

/// Two benchmarks of four cases each, on two targets.
const MANY: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: NAME}
spec:
  repeats: 3
  timeout: 1h
  matrix: {axes: {size: [1, 2, 3, 4]}}
  workload: {job: {image: registry.example/train:1, command: [train]}}
  metrics:
    - {name: speed, unit: images/s, better: higher, primary: true, from: {log: {pattern: 'speed (?P<value>\\S+)'}}}
    - {name: latency, unit: ms, better: lower, from: {log: {pattern: 'latency (?P<value>\\S+)'}}}
  gates: [{metric: speed, maxRegression: 3%}, {metric: latency, maxRegression: 3%}]
";

/// A project whose site is published, with a remote where commits are shown, and results in the checkout.
fn published(spec: &str) -> Project {
    let project = Project::with(spec);
    project.folder.write(
        "kubebench.yaml",
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: ml}}\nspec:\n  results: {{mode: local}}\n  report: {{url: {SITE}/}}\n"
        ),
    );
    project
}

fn with_remote(project: &Project) {
    project.git(&["remote", "add", "origin", "git@github.com:team/benchmarks.git"]);
}

/// Makes results of a spec in addition to those of others.
fn mock(project: &Project, name: &str, sessions: &str, values: &str, target: &str) {
    project.folder.write(&format!("specs/{name}.yaml"), MANY.replace("NAME", name));
    project.folder.write("values.yaml", values);
    let spec = format!("specs/{name}.yaml");
    let seed = if target == "gpu-us" { "2" } else { "1" };
    let made = ["mock", "--spec", &spec, "--values", "values.yaml", "--sessions", sessions, "--out", "part"];
    assert_yes(&project.folder.run(&[&made[..], &["--target", target, "--seed", seed]].concat()));
    for (path, bytes) in project.folder.tree("part") {
        project.folder.write(&format!("made/{path}"), bytes);
    }
    fs::remove_dir_all(project.folder.path().join("part")).unwrap();
}

/// Compares what the gate says with the files of a case; commits have the names that they are given. Returns the status and the comment.
#[track_caller]
fn said(project: &Project, case: &str, arguments: &[&str], commits: &[(&str, &str)]) -> (i32, String) {
    let short: Vec<(&str, String)> = commits.iter().map(|(commit, name)| (*commit, name.repeat(40))).collect();
    let tens: Vec<(&str, &str)> = short.iter().map(|(commit, name)| (&commit[..10], &name[..10])).collect();
    let wholes: Vec<(&str, &str)> = short.iter().map(|(commit, name)| (*commit, name.as_str())).collect();
    let told = |text: &str| named(named(text, &wholes), &tens);
    let (status, out, error) = project.says(&[&["gate", "--markdown", "comment.md"], arguments].concat());
    assert_eq!(error, "");
    for line in out.lines() {
        assert!(line.chars().count() <= 100, "{case}: {line}");
    }
    let comment = told(&fs::read_to_string(project.folder.path().join("comment.md")).unwrap());
    let (_, verbose, _) = project.says(&[&["gate", "-v"], arguments].concat());
    for line in verbose.lines() {
        assert!(line.chars().count() <= 100, "{case} -v: {line}");
    }
    let place = |ending: &str| repository().join(format!("tests/data/said/{case}.{ending}"));
    assert_file(&place("txt"), &told(&out));
    assert_file(&place("verbose.txt"), &told(&verbose));
    assert_file(&place("md"), &comment);
    (status, comment)
}

#[test]
fn no_change() {
    let mut project = published(SPEC);
    project.sessions(&QUIET, &Special::default());
    let (status, comment) = said(&project, "no-change", &[], &[]);
    assert!(status == 0 && comment.contains("✅"), "{comment}");
}

#[test]
fn one_regression() {
    let mut project = published(SPEC);
    let [main, feature] = project.with_feature(&QUIET, &[92.0]);
    project.git(&["checkout", "-q", "feature"]);
    with_remote(&project);
    let (status, comment) = said(&project, "one-regression", &[], &[(&main, "a"), (&feature, "b")]);
    assert!(status == 1 && comment.contains("❌"), "{comment}");
}

/// What a branch that did nothing meets: the regression is on the default branch.
#[test]
fn only_old_ones() {
    let mut project = published(SPEC);
    let good = project.commit("good");
    project.sessions(&QUIET, &Special { commit: Some(good.clone()), ..Special::default() });
    let [bad, feature] = project.with_feature(&[92.1, 91.8, 92.4, 91.9, 92.2, 92.0, 91.7, 92.3], &[92.0]);
    with_remote(&project);
    let commits = [(good.as_str(), "a"), (&bad, "b"), (&feature, "c")];
    let (status, comment) = said(&project, "only-old", &["--candidate", &feature], &commits);
    assert_eq!(status, 1);
    // What fails the gate is not folded away.
    let (above, _) = comment.split_once("<details>").expect("a fold");
    let known = above.find("**Open on main: 1 regression**").expect("what is open");
    assert!(above.find("No new regression").is_some_and(|at| at < known), "{comment}");
    assert!(above.find("got worse").is_some_and(|at| at > known), "{comment}");
}

#[test]
fn a_further_worsening_is_not_old() {
    let mut project = published(SPEC);
    let good = project.commit("good");
    project.sessions(&QUIET, &Special { commit: Some(good), ..Special::default() });
    let [_, feature] = project.with_feature(&[92.1, 91.8, 92.4, 91.9, 92.2, 92.0, 91.7, 92.3], &[80.0]);
    let (status, _, _) = project.says(&["gate", "--candidate", &feature, "--markdown", "comment.md"]);
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    assert_eq!(status, 1);
    assert!(!comment.contains("pen on main") && comment.contains("this candidate is a further"), "{comment}");
}

/// Of two benchmarks on two targets: the worst first, and last in one line.
#[test]
fn many() {
    let project = published(SPEC);
    project.folder.remove("specs/train.yaml");
    project.folder.write(
        "kubebench.yaml",
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: ml}}\nspec:\n  results: {{mode: local}}\n  report: {{url: {SITE}}}\n  \
             targets: {{gpu-eu: {{cluster: eu}}, gpu-us: {{cluster: us}}}}\n"
        ),
    );
    let change = |by: &str| format!("{{value: 100, noise: 1%, changes: [{{session: 20, by: {by}}}]}}");
    let values = |speed: &str, latency: &str| {
        format!(
            "metrics:\n  speed: {{value: 100, noise: 1%}}\n  latency: {{value: 20, noise: 1%}}\ncases:\n  size=1: {{speed: {speed}}}\n  size=3: {{latency: {latency}}}\n"
        )
    };
    mock(&project, "resnet50", "20", &values(&change("-8%"), &change("+30%")), "gpu-eu");
    mock(&project, "resnet50", "20", &values(&change("-12%"), "20"), "gpu-us");
    mock(&project, "bert", "20", &values(&change("+9%"), "20"), "gpu-eu");
    project.folder.write("specs/mnist.yaml", MANY.replace("NAME", "mnist"));
    let (status, comment) = said(&project, "many", &["--results", "made"], &[]);
    assert_eq!(status, 1);
    let text = fs::read_to_string(repository().join("tests/data/said/many.txt")).unwrap();
    let worst = [
        "regressed: resnet50 [size=3] on gpu-eu",
        "regressed: resnet50 [size=1] on gpu-us",
        "regressed: resnet50 [size=1] on gpu-eu",
    ];
    let places: Vec<usize> =
        worst.iter().map(|what| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"))).collect();
    assert!(places.is_sorted() && text.starts_with(worst[0]), "{text}");
    assert!(text.find("new: ") > places.last().copied(), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("gate failed: 3 regressed (latency of resnet50 +"), "{last}");
    let above = comment.split("<details>").next().unwrap().lines().filter(|line| line.contains("got worse"));
    let shown = |line: &str| {
        line.split("**").nth(3).unwrap().trim_start_matches(['+', '−']).trim_end_matches(" %").parse().unwrap()
    };
    let sizes: Vec<f64> = above.map(shown).collect();
    assert!(sizes.len() == 3 && sizes.is_sorted_by(|one, other| one >= other), "{sizes:?}: {comment}");
}

/// What a few sessions cannot settle is no pass, and the worst of it is said.
#[test]
fn inconclusive() {
    let mut project = published(SPEC);
    project.sessions(&[100.0, 93.0, 107.0, 97.0, 104.0, 91.0, 108.0, 99.0], &Special::default());
    project.session(89.0, &Special::default());
    let (status, comment) = said(&project, "inconclusive", &[], &[]);
    assert_eq!(status, 0);
    assert!(!comment.contains("✅") && !comment.contains("passed") && comment.contains("⚪"), "{comment}");
    let fold = comment.find("<details>").unwrap();
    assert!(comment.find("not statistically significant").is_some_and(|at| at < fold), "{comment}");
}

#[test]
fn no_baseline() {
    let project = published(SPEC);
    project.folder.remove("specs/train.yaml");
    mock(&project, "resnet50", "1", "metrics: {speed: 100, latency: 20}\n", "default");
    let (status, comment) = said(&project, "no-baseline", &["--results", "made"], &[]);
    assert_eq!(status, 0);
    assert!(!comment.contains("✅") && !comment.contains("passed"), "{comment}");
    let above = comment.split("<details>").next().unwrap();
    assert_eq!(above.matches("with 5, those of the threshold do").count(), 1, "said once: {above}");
}

#[test]
fn missing() {
    let project = published(SPEC);
    project.folder.remove("specs/train.yaml");
    for name in ["resnet50", "bert", "mnist"] {
        project.folder.write(&format!("specs/{name}.yaml"), MANY.replace("NAME", name));
    }
    fs::create_dir(project.folder.path().join("none")).unwrap();
    assert_eq!(said(&project, "missing", &["--candidate", "none"], &[]).0, 1);
}

#[test]
fn pending() {
    let mut project = published(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.sessions(&[91.0, 90.8, 100.3], &Special::default());
    let (status, comment) = said(&project, "pending", &[], &[]);
    assert_eq!(status, 0);
    assert!(comment.contains("⚪") && !comment.contains("✅") && !comment.contains("may have got worse"), "{comment}");
}

#[test]
fn first_run() {
    let project = published(SPEC);
    let (status, comment) = said(&project, "first-run", &[], &[]);
    assert_eq!(status, 0);
    assert!(!comment.contains("✅") && !comment.contains("passed"), "{comment}");
}

/// Two steps that are open have each their own commits below them.
#[test]
fn commits_are_below_their_step() {
    let mut project = published(SPEC);
    let commits = ["good", "bad", "worse"].map(|message| project.commit(message));
    for (commit, level) in commits.iter().zip([1.0, 0.9, 0.8]) {
        let values: Vec<f64> = QUIET.iter().map(|value| value * level).collect();
        project.sessions(&values, &Special { commit: Some(commit.clone()), ..Special::default() });
    }
    with_remote(&project);
    let named = [(commits[0].as_str(), "a"), (&commits[1], "b"), (&commits[2], "c")];
    let (status, comment) = said(&project, "two-steps", &[], &named);
    assert_eq!(status, 1);
    let below: Vec<&str> = comment.lines().filter(|line| line.contains("git bisect")).collect();
    let [first, step] = below.as_slice() else { panic!("{comment}") };
    assert!(first.contains("git bisect start bbbbbbbbbb aaaaaaaaaa") && !first.contains("step"), "{first}");
    assert!(
        step.contains("The step of 2026-02-02") && step.contains("git bisect start cccccccccc bbbbbbbbbb"),
        "{step}"
    );
}

/// Every page to which a comment leads is in the site that is made of the same results.
#[test]
fn a_comment_leads_to_pages_that_are_there() {
    let project = published(SPEC);
    project.folder.remove("specs/train.yaml");
    let values = "metrics: {speed: {value: 100, noise: 1%, changes: [{session: 20, by: -9%}]}, latency: {value: 20, noise: 1%}}\n";
    mock(&project, "resnet50", "20", values, "default");
    mock(&project, "bert", "20", values, "default");
    // This one never ran: the site may not know it.
    project.folder.write("specs/mnist.yaml", MANY.replace("NAME", "mnist"));
    assert_eq!(project.says(&["gate", "--results", "made", "--markdown", "comment.md"]).0, 1);
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    let (status, _, error) = project.says(&["report", "--results", "made", "--out", "site"]);
    assert_eq!(status, 0, "{error}");
    let site = project.folder.path().join("site");
    let pages: Vec<String> = files_below(&site).iter().map(|file| relative(&site, file)).collect();
    let links: Vec<&str> = comment.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    let own: Vec<&str> = links.iter().filter_map(|link| link.strip_prefix("https://benchmarks.example/ml/")).collect();
    assert!(own.len() > 8 && own.iter().any(|page| page.contains("/cases/")), "{links:?}");
    for page in own {
        assert!(pages.iter().any(|path| path == page), "{page} is not in the site");
        assert!(!page.contains("mnist"), "{page}");
    }
    assert!(
        fs::read_to_string(site.join("feed.xml")).unwrap().contains(SITE),
        "the feed has the address of the project file"
    );
}

#[test]
fn the_address_of_the_site_is_checked_where_it_is_written() {
    let project = Project::with(SPEC);
    let file = |url: &str| {
        let text = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: ml}}\nspec:\n  report: {{url: {url}}}\n"
        );
        project.folder.write("kubebench.yaml", text);
        project.says(&["validate", "--output-format", "concise"])
    };
    for (url, expected) in [
        (
            "benchmarks.example",
            str! {"kubebench.yaml:5:17: error[KB0205]: `benchmarks.example` is not an HTTP address; help: write `http://host:port` or `https://host`"},
        ),
        (
            "ftp://benchmarks.example/ml",
            str! {"kubebench.yaml:5:17: error[KB0205]: `ftp://benchmarks.example/ml` is not an HTTP address; help: write `http://host:port` or `https://host`"},
        ),
        (
            "javascript:alert(1)",
            str! {"kubebench.yaml:5:17: error[KB0205]: `javascript:alert(1)` is not an HTTP address; help: write `http://host:port` or `https://host`"},
        ),
        (
            "https://ada:secret@benchmarks.example",
            str! {"kubebench.yaml:5:17: error[KB0205]: the address holds a user name or password; help: leave it out; a spec is read by everybody"},
        ),
        (
            "'https://benchmarks.example/ml?a=b'",
            str! {"kubebench.yaml:5:17: error[KB0205]: the address of a site has no `?`; help: write `https://host/path` without a query; other letters of a path as `%XX`"},
        ),
        (
            "'https://benchmarks.example/)[x](https://evil.example'",
            str! {"kubebench.yaml:5:17: error[KB0205]: the address of a site has no `)`; help: write `https://host/path` without a query; other letters of a path as `%XX`"},
        ),
        (
            "https://benchmarks.example/ml/index.html",
            str! {"kubebench.yaml:5:17: error[KB0205]: this is a page of the site, not the site; help: leave out `index.html`"},
        ),
        (
            "'https://benchmarks.example/ö'",
            str! {"kubebench.yaml:5:17: error[KB0205]: the address of a site has no `ö`; help: write `https://host/path` without a query; other letters of a path as `%XX`"},
        ),
        (
            "''",
            str! {"kubebench.yaml:5:17: error[KB0205]: `` is not an HTTP address; help: write `http://host:port` or `https://host`"},
        ),
    ] {
        let (status, out, error) = file(url);
        assert_eq!(status, 1, "{url}: {out}{error}");
        let found = out
            .lines()
            .find(|line| line.starts_with("kubebench.yaml:5:17: "))
            .unwrap_or_else(|| panic!("{url}: {out}"));
        assert_text(found, expected);
    }
    for url in ["https://benchmarks.example", "http://localhost:8080/a/b/", "https://h.example/%C3%B6/~x"] {
        let (status, out, error) = file(url);
        assert_eq!(status, 0, "{url}: {out}{error}");
    }
}

/// Text of results and branches is text: no markup, no address but those of the project, no user mentioned.
#[test]
fn hostile_texts_are_text_and_lead_nowhere() {
    let cases = r#"["[x](javascript:alert(1))", "<b>@ada", "`|~*_#\\", "![i](https://evil.example/i.png)"]"#;
    let project = published(SPEC);
    let spec = MANY
        .replace("NAME", "train")
        .replace("[1, 2, 3, 4]", cases)
        .replace("unit: images/s", "unit: 'a|b](https://evil.example)<i>'");
    project.folder.write("specs/train.yaml", &spec);
    let change = "{value: 100, noise: 1%, changes: [{session: 20, by: -9%}]}";
    project.folder.write("values.yaml", format!("metrics: {{speed: {change}, latency: 20}}\n"));
    let made = ["mock", "--spec", "specs/train.yaml", "--values", "values.yaml", "--sessions", "20", "--out", "made"];
    assert_yes(&project.folder.run(&made));
    project.commit("first");
    let branch = "a<b>(x)`y`|z";
    project.git(&["checkout", "-q", "-b", branch]);
    with_remote(&project);
    project.git(&["remote", "set-url", "origin", "https://evil.example/\"><script>.git"]);
    let baseline = format!("branch:{branch}");
    let asked =
        ["gate", "--results", "made", "--baseline", &baseline, "--count-unreachable", "--markdown", "comment.md"];
    let (status, out, error) = project.says(&asked);
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    assert!(status == 1 || comment.contains("inconclusive"), "{out}{error}");
    // `p < 0.0001` opens nothing.
    let markup: Vec<&str> = comment.split('<').skip(1).map(|rest| rest.split(['>', ' ']).next().unwrap()).collect();
    for tag in markup.iter().filter(|tag| !tag.is_empty()) {
        assert!(["!--", "details", "/details", "summary", "/summary"].contains(tag), "<{tag}: {comment}");
    }
    let links = comment.replace("\\]", "");
    let links = links.split("](").skip(1).filter(|rest| !rest.starts_with('h') || !rest.starts_with(SITE));
    let led: Vec<&str> = links.map(|rest| rest.split(')').next().unwrap()).collect();
    assert_eq!(led, Vec::<&str>::new(), "{comment}");
    assert!(!comment.contains("![") && !comment.contains("@ada") && !comment.contains("://evil"), "{comment}");
    assert!(!out.contains('\u{1b}'), "{out}");
}

/// A terminal is asked for its width, and a pipe has always the same.
#[cfg(target_os = "linux")]
#[test]
fn tables_have_the_room_of_the_terminal() {
    let Some(script) = tool("script") else {
        return skip("tables_have_the_room_of_the_terminal", "script", "install util-linux");
    };
    let project = published(SPEC);
    project.folder.remove("specs/train.yaml");
    let spec =
        MANY.replace("NAME", "serving-llama3-8b").replace("size:", "documentsOfOneRequestInTheBatchOfTheServer:");
    project.folder.write("specs/serving.yaml", spec);
    project.folder.write("values.yaml", "metrics: {speed: {value: 100, noise: 1%}, latency: 20}\n");
    let made = ["mock", "--spec", "specs/serving.yaml", "--values", "values.yaml", "--sessions", "20", "--out", "made"];
    assert_yes(&project.folder.run(&made));
    let widest = |columns: usize| {
        let program = env!("CARGO_BIN_EXE_kubebench");
        let asked = format!("stty rows 50 cols {columns} && exec '{program}' gate --results made");
        let mut command = std::process::Command::new(&script);
        command.args(["-qec", &asked, "/dev/null"]).current_dir(project.folder.path());
        let output = command.env("XDG_CACHE_HOME", project.folder.path().join(".cache")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
        assert!(text.contains("serving-") && text.contains("gate passed: "), "{text}");
        (text.lines().map(|line| line.chars().count()).max().unwrap(), text.contains("BASELINE"))
    };
    let (wide, has_values) = widest(160);
    assert!((101..=160).contains(&wide) && has_values, "{wide}");
    for columns in [100, 80, 60] {
        let (narrow, has_values) = widest(columns);
        assert!(narrow <= columns && !has_values, "{columns}: {narrow}");
    }
}
