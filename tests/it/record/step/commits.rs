//! The commit of what ran in a cluster, which the recorder looks up where it records.

use std::process::Stdio;

use super::*;

const RUN: &str = "aaaaaaaa";
const OTHER: &str = "bbbbbbbb";

/// The digest that begins with these digits.
fn digest(digits: &str) -> String {
    format!("sha256:{}", digits.repeat(8))
}

impl Pod {
    /// Commits files to a branch of the remote, one map a commit, each on the last one; returns their names.
    fn push(&self, branch: &str, commits: &[&[(&str, String)]]) -> Vec<String> {
        let repository = self.site.remote();
        let mut import = Command::new("git")
            .args(["fast-import", "--quiet", "--force"])
            .current_dir(&repository)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let full = format!("refs/heads/{branch}");
        let is_there = !self.site.refs(&full).is_empty();
        let mut stream = String::new();
        for (number, files) in commits.iter().enumerate() {
            stream.push_str(&format!("commit {full}\ncommitter t <t@example.com> {number} +0000\ndata 0\n"));
            if number == 0 && is_there {
                stream.push_str(&format!("from {full}^0\n"));
            }
            for (path, text) in *files {
                stream.push_str(&format!("M 100644 inline {path}\ndata {}\n{text}\n", text.len()));
            }
        }
        std::io::Write::write_all(import.stdin.as_mut().unwrap(), stream.as_bytes()).unwrap();
        drop(import.stdin.take());
        assert!(import.wait().unwrap().success());
        let count = format!("-{}", commits.len());
        let names = run(&repository, &["rev-list", "--reverse", "--first-parent", &count, &full]);
        names.lines().map(str::to_owned).collect()
    }

    /// Puts the result of a run of the cluster on the volume, and returns the folder of the run.
    fn put_run(&self, number: u32, change: impl FnOnce(&mut BenchmarkResult)) -> PathBuf {
        let sealed = sealed(number, |result| {
            result.source.run_digest = digest(RUN);
            change(result);
        });
        let BenchmarkResult { metadata, run, source, .. } = &sealed.result;
        let once = instance::Session::Once;
        let round = result::round(run);
        let name = instance::job_name("matmul", &source.run_digest, &metadata.case, &round, run.attempt, once);
        self.begin(&name, &sealed.result);
        std::fs::write(self.job(&name).join("result.json"), sealed.bytes).unwrap();
        self.job(&name)
    }

    /// The only result on the branch.
    fn recorded(&self) -> BenchmarkResult {
        let mut files = self.site.files().into_values();
        let (one, other) = (files.next().unwrap(), files.next());
        assert_eq!(other, None);
        result::read(one.as_bytes()).unwrap().result
    }
}

/// The manifest of a run, below `generated/`.
fn manifest(digits: &str, words: &str) -> (&'static str, String) {
    let text = format!("# {words}\nkind: ConfigMap\nmetadata:\n  name: matmul-{digits}\n");
    ("teams/a/generated/default/matmul/config.yaml", text)
}

/// What each target has in addition to its benchmarks.
fn shared() -> (&'static str, String) {
    ("teams/a/generated/default/pipeline/settings.yaml", "kind: ConfigMap\n".to_owned())
}

fn other(number: u32) -> (&'static str, String) {
    ("README.md", format!("change {number}\n"))
}

#[test]
fn a_result_names_the_commit_that_brought_its_run_to_the_default_branch() {
    for mode in ["branch", "inbox"] {
        let pod = Pod::new(mode);
        let commits = pod.push(
            "main",
            &[
                &[shared(), manifest(RUN, "first")],
                &[manifest(OTHER, "another")],
                &[manifest(RUN, "back again")],
                // The spec was moved, which runs nothing.
                &[manifest(RUN, "moved")],
                &[other(1)],
            ],
        );
        let folder = pod.put_run(1, |_| {});
        pod.assert_recorded();
        let bytes = std::fs::read(folder.join("result.json")).unwrap();
        let kept = result::read(&bytes).unwrap().result;
        assert_eq!(kept.source.commit.as_deref(), Some(&*commits[2]));
        let tree = run(&pod.site.remote(), &["rev-parse", &format!("{}^{{tree}}", commits[2])]);
        assert_eq!(kept.source.content.as_ref().unwrap().tree, tree);
        assert_eq!(kept.source.dirty, None);
        if mode == "branch" {
            assert_eq!(pod.recorded(), kept, "the same bytes");
        }
        assert_text(
            pod.assert_recorded(),
            str! {[r#"
all results are already recorded

"#]},
        );
    }
}

#[test]
fn a_merge_is_what_brought_the_commits_of_a_branch() {
    let pod = Pod::new("branch");
    let remote = pod.site.remote();
    let first = pod.push("main", &[&[shared(), manifest(OTHER, "first")]]).remove(0);
    run(&remote, &["branch", "topic", &first]);
    let topic = pod.push("topic", &[&[manifest(RUN, "topic")], &[other(1)]]).remove(1);
    let tree = run(&remote, &["rev-parse", &format!("{topic}^{{tree}}")]);
    let merge = run(&remote, &["commit-tree", &tree, "-p", &first, "-p", &topic, "-m", "merge"]);
    run(&remote, &["update-ref", "refs/heads/main", &merge]);
    pod.put_run(1, |_| {});
    pod.assert_recorded();
    assert_eq!(pod.recorded().source.commit, Some(merge));
}

/// The server has more commits than are fetched at first.
#[test]
fn a_commit_long_ago_is_found() {
    let mut pod = Pod::new("branch");
    let http = Http::serve(pod.site.path(), &[], None, Some("robot:s3cr3t"));
    pod.remote = Some(http.url("remote.git"));
    for (name, text) in [("username", "robot"), ("password", "s3cr3t")] {
        std::fs::write(pod.site.path().join("credential").join(name), text).unwrap();
    }
    let brings = pod.push("main", &[&[shared(), manifest(OTHER, "first")], &[manifest(RUN, "second")]]).remove(1);
    for number in 0..3 {
        let many: Vec<[(&str, String); 1]> = (0..40).map(|part| [other(number * 40 + part)]).collect();
        pod.push("main", &many.iter().map(<[_; 1]>::as_slice).collect::<Vec<_>>());
    }
    pod.put_run(1, |_| {});
    pod.assert_recorded();
    assert_eq!(pod.recorded().source.commit, Some(brings));
}

#[test]
fn what_nobody_can_tell_is_recorded_as_it_is() {
    type Commits = Vec<Vec<(&'static str, String)>>;
    let elsewhere = |(path, text): (&str, String)| -> (&'static str, String) {
        let place = if path.contains("pipeline") {
            "b/generated/default/pipeline/x.yaml"
        } else {
            "b/generated/default/matmul/config.yaml"
        };
        (place, text)
    };
    let cases: [(&str, Commits); 4] = [
        ("another branch", vec![vec![shared(), manifest(OTHER, "first")]]),
        ("no generated tree", vec![vec![other(1)]]),
        ("no target of this name", vec![vec![("generated/gpu/pipeline/x.yaml", String::new())]]),
        (
            "two projects",
            vec![vec![shared(), manifest(RUN, "first"), elsewhere(shared()), elsewhere(manifest(RUN, "second"))]],
        ),
    ];
    for (why, commits) in cases {
        let pod = Pod::new("branch");
        pod.push("main", &commits.iter().map(Vec::as_slice).collect::<Vec<_>>());
        pod.push("feature", &[&[shared(), manifest(RUN, "feature")]]);
        let folder = pod.put_run(1, |_| {});
        let before = std::fs::read(folder.join("result.json")).unwrap();
        let words = pod.assert_recorded();
        assert!(!words.contains("note:"), "{why}: {words}");
        assert_eq!(std::fs::read(folder.join("result.json")).unwrap(), before, "{why}");
        assert_eq!(pod.recorded().source.commit, None, "{why}");
    }
}

/// A commit that is named already stays, also when the default branch has another one by the time of the next try.
#[test]
fn what_was_named_before_a_push_that_failed_is_recorded_so() {
    let mut pod = Pod::new("branch");
    let first = pod.push("main", &[&[shared(), manifest(RUN, "first")]]).remove(0);
    pod.site.hook("pre-receive", "exit 1");
    let folder = pod.put_run(1, |_| {});
    let (status, words) = pod.record();
    assert_eq!(status, Some(4), "{words}");
    let kept = std::fs::read(folder.join("result.json")).unwrap();
    assert_eq!(result::read(&kept).unwrap().result.source.commit, Some(first.clone()));
    pod.push("main", &[&[manifest(OTHER, "another")], &[manifest(RUN, "again")]]);
    std::fs::remove_file(pod.site.remote().join("hooks/pre-receive")).unwrap();
    pod.environment.clear();
    pod.assert_recorded();
    assert_eq!(pod.recorded().source.commit, Some(first));
}

/// Who cannot be asked keeps no result from git, and neither does what is no repository of people.
#[test]
fn a_default_branch_that_cannot_be_read_is_a_note() {
    let pod = Pod::new("branch");
    // A tree that is listed at too many places to look at all.
    let remote = pod.site.remote();
    let make = |entries: &str| {
        let mut child = Command::new("git")
            .args(["mktree", "--missing"])
            .current_dir(&remote)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), entries.as_bytes()).unwrap();
        drop(child.stdin.take());
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
    };
    let mut tree = make("");
    for _ in 0..28 {
        let entries: String = (0..10).map(|number| format!("040000 tree {tree}\td{number}\n")).collect();
        tree = make(&entries);
    }
    let commit = run(&remote, &["commit-tree", &tree, "-m", "many"]);
    run(&remote, &["update-ref", "refs/heads/main", &commit]);
    pod.put_run(1, |_| {});
    let words = pod.assert_recorded();
    assert!(!words.contains("note:"), "it is looked at once: {words}");
    assert_eq!(pod.recorded().source.commit, None);
    // A server that lost the manifest.
    let pod = Pod::new("branch");
    let commit = pod.push("main", &[&[shared(), manifest(RUN, "first")]]).remove(0);
    let manifest = run(&pod.site.remote(), &["rev-parse", &format!("{commit}:{}", manifest(RUN, "first").0)]);
    let (folder, file) = manifest.split_at(2);
    std::fs::remove_file(pod.site.remote().join("objects").join(folder).join(file)).unwrap();
    pod.put_run(1, |_| {});
    let words = pod.assert_recorded();
    assert!(words.contains("note: some results do not name their commit: "), "{words}");
    assert_eq!(pod.recorded().source.commit, None);
}
