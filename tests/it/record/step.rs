//! `kubebench step record`, as a pod of the Workflow calls it: a volume, the mounted settings, no checkout and no home.

mod commits;
mod forged;
mod signed;
mod trusted;

use std::os::unix::fs::symlink;
use std::process::{Output, Stdio};

use kubebench_contract::instance;
use kubebench_format::result::v1::Reason;
use kubebench_format::result::{self, BenchmarkResult, Sealed};
use kubebench_testing::snapshot::{assert_line, assert_text, str};

use crate::support::steady::steady;

use super::server::{Fault, Http};
use super::*;

const SAMPLE: &str =
    include_str!("../../cli/results.in/results/matmul/size-256-0a1b2c3d/20260102T030405Z-01234567-r1-a1.json");

/// A server, and the volume and the mounts of a step.
struct Pod {
    site: Site,
    remote: Option<String>,
    mode: &'static str,
    environment: Vec<(&'static str, String)>,
    /// Whether jobs run as the user of the steps.
    one_user: bool,
}

impl Pod {
    fn new(mode: &'static str) -> Self {
        let site = Site::new();
        for folder in ["experiments", "settings", "credential", "tmp"] {
            std::fs::create_dir(site.path().join(folder)).unwrap();
        }
        let remote = Some(format!("file://{}", site.remote().display()));
        Self { site, remote, mode, environment: Vec::new(), one_user: false }
    }

    fn job(&self, name: &str) -> PathBuf {
        self.site.path().join("experiments").join(name)
    }

    /// The folder of run `number`.
    fn run(&self, number: u32) -> PathBuf {
        self.job(&job(number))
    }

    /// Puts the result of run `number` on the volume, of which `change` says what is special, and returns its place in git.
    fn put_changed(&self, number: u32, change: impl FnOnce(&mut BenchmarkResult)) -> (String, String) {
        let sealed = sealed(number, change);
        self.begin(&job(number), &sealed.result);
        std::fs::write(self.run(number).join("result.json"), &sealed.bytes).unwrap();
        (format!("results/{}", result::path(&sealed.result)), String::from_utf8(sealed.bytes).unwrap())
    }

    /// Leaves in the folder `name` what a step leaves that begins the run of `result`, and the run in the list of its Workflow.
    fn begin(&self, name: &str, result: &BenchmarkResult) {
        let BenchmarkResult { metadata, run, source, .. } = result;
        let (benchmark, case) = (&metadata.benchmark, &metadata.case);
        let listed = json!({
            "id": format!("{case}-{}", result::round(run)), "case": case, "repeat": run.repeat, "warmup": run.warmup, "job": name,
        });
        let workflow = json!({"name": format!("{benchmark}-1a2b3c4d-r1"), "uid": run.session, "isScheduled": false});
        let attempt = json!({
            "schemaVersion": 1, "benchmark": benchmark, "job": name, "run": listed, "number": run.attempt, "id": run.id,
            "workflow": workflow, "caseName": metadata.case_name, "values": {}, "inputs": null, "runDigest": source.run_digest,
            "specRun": source.run, "queueTimeoutSeconds": 60, "timeoutSeconds": 60,
            "began": {"text": run.started_at, "seconds": 1.0},
        });
        std::fs::create_dir_all(self.job(name)).unwrap();
        std::fs::write(self.job(name).join("attempt.json"), attempt.to_string()).unwrap();
        let lists = self.job(".workflows").join(&run.session);
        let place = lists.join(format!("{benchmark}.json"));
        std::fs::create_dir_all(lists).unwrap();
        let mut list = std::fs::read(&place).map_or_else(
            |_| {
                let case = json!({"name": metadata.case_name, "values": {}, "inputs": null, "timeoutSeconds": 60, "manifest": "x", "objects": []});
                json!({
                    "schemaVersion": 1, "workflow": workflow, "created": "2026-01-02T03:00:00Z", "target": "default", "cluster": "lab",
                    "rules": {"digest": source.rules_digest, "specDigest": source.spec_digest},
                    "list": {
                        "benchmark": benchmark, "run": 1, "runDigest": source.run_digest, "order": "grouped", "parallelism": 1,
                        "queueTimeoutSeconds": 60, "cases": {&metadata.case: case}, "runs": [],
                    },
                })
            },
            |bytes| serde_json::from_slice(&bytes).unwrap(),
        );
        list["list"]["runs"].as_array_mut().unwrap().push(listed);
        std::fs::write(place, list.to_string()).unwrap();
    }

    fn put(&self, number: u32) -> (String, String) {
        self.put_changed(number, |_| {})
    }

    fn has_marker(&self, number: u32) -> bool {
        self.run(number).join("recorded.json").exists()
    }

    fn command(&self) -> Command {
        let place = |name: &str| self.site.path().join(name);
        let settings = json!({
            "schemaVersion": 1, "target": "default", "cluster": "lab",
            "results": {
                "mode": self.mode, "remote": self.remote, "branch": "kubebench/results", "directory": "results",
                "inbox": "refs/kubebench/inbox", "oneUser": self.one_user,
            },
        });
        std::fs::write(place("settings/settings.json"), settings.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubebench"));
        command.args(["step", "record"]).env_clear().current_dir("/").env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", "/nonexistent").env("TMPDIR", place("tmp")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("KUBEBENCH_BENCHMARK", "matmul").env("KUBEBENCH_EXP_ROOT", place("experiments"));
        command.env("KUBEBENCH_SETTINGS_DIR", place("settings")).env("KUBEBENCH_CREDENTIAL_DIR", place("credential"));
        command.env("KUBEBENCH_WORKFLOW", "matmul-1a2b3c4d-r1").env("KUBEBENCH_WORKFLOW_UID", "6f1a");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn record(&self) -> (Option<i32>, String) {
        said(&self.command().output().unwrap())
    }

    /// Records, which must succeed, and returns what was said.
    fn assert_recorded(&self) -> String {
        let (status, said) = self.record();
        assert_eq!(status, Some(0), "{said}");
        said
    }
}

fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn sealed(number: u32, change: impl FnOnce(&mut BenchmarkResult)) -> Sealed {
    let mut result = result::read(SAMPLE.as_bytes()).unwrap().result;
    result.run.id = format!("{number:08x}{:024x}", 7);
    (result.run.repeat, result.run.reason) = (number + 1, Reason::Change);
    (result.environment.cluster.name, result.environment.cluster.engine) = ("lab".to_owned(), "kubernetes".to_owned());
    change(&mut result);
    result::seal(result)
}

/// The name of the job of run `number`, which is that of its folder.
fn job(number: u32) -> String {
    let result = sealed(number, |_| {}).result;
    let (digest, case, round) = (&result.source.run_digest, &result.metadata.case, result::round(&result.run));
    instance::job_name("matmul", digest, case, &round, result.run.attempt, instance::Session::Once)
}

#[test]
fn what_is_on_the_volume_is_recorded_once() {
    for (mode, recorded) in [
        (
            "branch",
            str! {"1 result recorded in branch `kubebench/results` of `file://FOLDER/remote.git`, commit COMMIT"},
        ),
        ("inbox", str! {"1 result recorded in `refs/kubebench/inbox` of `file://FOLDER/remote.git`, commit COMMIT"}),
    ] {
        let pod = Pod::new(mode);
        let mut all = BTreeMap::from([pod.put(1), pod.put(2)]);
        // A run that has not ended, and what a file system or a job may have at the top.
        for folder in [pod.run(9).join("output"), pod.job("lost+found"), pod.job("elsewhere")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(pod.job("elsewhere/result.json"), "{}").unwrap();
        let words = pod.assert_recorded();
        assert!(
            words.contains("2 results recorded in ") && words.contains("\nrecorded results/matmul/")
                || words.starts_with("recorded"),
            "{words}"
        );
        assert!(pod.has_marker(1) && pod.has_marker(2) && !pod.has_marker(9));
        assert_text(
            pod.assert_recorded(),
            str! {[r#"
all results are already recorded

"#]},
        );
        all.extend([pod.put(3)]);
        assert_line(steady(pod.assert_recorded()), recorded);
        if mode == "inbox" {
            assert_eq!(pod.site.refs("refs/kubebench/inbox").len(), 3);
        } else {
            assert_eq!(pod.site.files(), all);
            let author = run(&pod.site.remote(), &["log", "-1", "--format=%an %ae", "kubebench/results"]);
            assert_eq!(author, "Kubebench kubebench@localhost.invalid");
        }
        let marker = std::fs::read(pod.run(3).join("recorded.json")).unwrap();
        let marker: Value = serde_json::from_slice(&marker).unwrap();
        assert_eq!(marker["mode"], mode);
        assert_eq!(marker["commit"].as_str().unwrap().len(), 40, "{marker}");
        let left: Vec<_> = std::fs::read_dir(pod.site.path().join("tmp")).unwrap().flatten().collect();
        assert!(left.iter().all(|entry| std::fs::read_dir(entry.path()).unwrap().next().is_none()), "{left:?}");
    }
}

#[test]
fn what_could_not_be_recorded_is_left_to_the_next_workflow() {
    let mut pod = Pod::new("branch");
    let right = pod.remote.replace(format!("file://{}/gone.git", pod.site.path().display()));
    let first = pod.put(1);
    let (status, words) = pod.record();
    assert!(matches!(status, Some(3 | 4)), "{words}");
    assert_line(
        &words,
        str! {"the volume of the claim `matmul-results` holds 1 result that is not recorded; once the cause is fixed, the next Workflow of the benchmark records what is left"},
    );
    assert!(!pod.has_marker(1));
    pod.remote = right;
    let second = pod.put(2);
    assert_line(
        steady(pod.assert_recorded()),
        str! {"2 results recorded in branch `kubebench/results` of `file://FOLDER/remote.git`, commit COMMIT"},
    );
    assert_eq!(pod.site.files(), BTreeMap::from([first, second]));
}

/// Those of a benchmark that the suite no longer has are recorded too, but nothing that is in the folder of another one.
#[test]
fn the_volume_of_a_suite_is_recorded_in_one_commit() {
    let mut pod = Pod::new("branch");
    pod.environment = vec![("KUBEBENCH_SUITE", "nightly".to_owned()), ("KUBEBENCH_BENCHMARK", String::new())];
    let mut all = BTreeMap::from([pod.put(1)]);
    let other = sealed(2, |result| result.metadata.benchmark = "mat-mul2".to_owned());
    let digest = &other.result.source.run_digest;
    let (case, round) = (&other.result.metadata.case, result::round(&other.result.run));
    let name = instance::job_name("mat-mul2", digest, case, &round, other.result.run.attempt, instance::Session::Once);
    pod.begin(&name, &other.result);
    for (folder, bytes) in [(name.as_str(), &other.bytes), ("matmul-00000000", &other.bytes), ("no-run", &other.bytes)]
    {
        std::fs::create_dir_all(pod.job(folder)).unwrap();
        std::fs::write(pod.job(folder).join("result.json"), bytes).unwrap();
    }
    all.extend([(format!("results/{}", result::path(&other.result)), String::from_utf8(other.bytes).unwrap())]);
    let (status, words) = pod.record();
    assert_eq!(status, Some(4), "{words}");
    assert_line(
        steady(&words),
        str! {"2 results recorded in branch `kubebench/results` of `file://FOLDER/remote.git`, commit COMMIT"},
    );
    assert_line(
        steady(&words),
        str! {"error: FOLDER/experiments/matmul-ID/result.json: it names the benchmark `mat-mul2`, but this folder belongs to a run of `matmul`; a job with `mountInJob` may have written it"},
    );
    assert_eq!(pod.site.files(), all);
    let commits = run(&pod.site.remote(), &["rev-list", "--count", "kubebench/results"]);
    assert_eq!(commits, "1");
    pod.environment = vec![("KUBEBENCH_SUITE", String::new())];
    std::fs::remove_file(pod.job(&name).join("recorded.json")).unwrap();
    let words = pod.record().1;
    assert!(!words.contains(&name), "by itself, a benchmark looks at its own alone: {words}");
}

#[test]
fn a_remote_that_says_nothing_is_said() {
    let mut pod = Pod::new("branch");
    pod.put(1);
    for (remote, words) in
        [(None, "`results.remote` does not name the repository"), (Some("origin"), "`origin` is a name in a checkout")]
    {
        pod.remote = remote.map(str::to_owned);
        let (status, said) = pod.record();
        assert_eq!(status, Some(4), "{said}");
        assert!(said.contains(words), "{said}");
        assert_line(
            &said,
            str! {"  set `results.remote` in `kubebench.yaml` to an address such as `https://git.example/team/benchmarks.git`, compile and commit"},
        );
        assert_line(
            &said,
            str! {"the volume of the claim `matmul-results` holds 1 result that is not recorded; once the cause is fixed, the next Workflow of the benchmark records what is left"},
        );
    }
}

#[test]
fn mode_local_says_where_results_stay() {
    let mut pod = Pod::new("local");
    pod.remote = None;
    pod.put(1);
    pod.put(2);
    let words = pod.assert_recorded();
    assert_line(
        &words,
        str! {"`results.mode` is `local`, so nothing is pushed: 2 results stay on the volume of the claim `matmul-results`, each at <run>/result.json; https://github.com/kubebench/kubebench/blob/main/docs/how-to/record-results.md says how to fetch them"},
    );
    // Another mode later records them.
    assert!(!pod.has_marker(1) && !pod.has_marker(2));
    pod.put_changed(3, |result| result.metadata.benchmark = "other".to_owned());
    assert_eq!(pod.record().0, Some(4));
}

/// Jobs with `mountInJob` write to the volume what they like.
#[test]
fn what_a_job_put_there_is_refused_by_name_and_the_rest_recorded() {
    let pod = Pod::new("branch");
    let right = pod.put(1);
    pod.put_changed(2, |result| result.metadata.benchmark = "payroll".to_owned());
    for number in [3, 4, 5, 6, 7] {
        pod.put(number);
    }
    let result = |number: u32| pod.run(number).join("result.json");
    for number in [3, 4, 5, 6, 7] {
        std::fs::remove_file(result(number)).unwrap();
    }
    let secret = pod.site.path().join("credential/password");
    std::fs::write(&secret, "s3cr3t-of-the-recorder").unwrap();
    symlink(&secret, result(3)).unwrap();
    assert!(Command::new("mkfifo").arg(result(4)).status().unwrap().success());
    std::fs::File::create(result(5)).unwrap().set_len(1 << 40).unwrap();
    std::fs::write(result(6), "{}").unwrap();
    std::fs::write(result(7), sealed(7, |_| {}).bytes.strip_suffix(b"\n").unwrap()).unwrap();
    let another = pod.site.path().join("another");
    std::fs::create_dir_all(&another).unwrap();
    std::fs::write(another.join("result.json"), sealed(8, |_| {}).bytes).unwrap();
    symlink(&another, pod.run(8)).unwrap();
    let (status, words) = pod.record();
    assert_eq!(status, Some(3), "{words}");
    for (number, why) in [
        (2, "it names the benchmark `payroll`"),
        (3, "it is a symbolic link"),
        (4, "it is not a regular file"),
        (5, "a result is never larger than 1024 KiB"),
        (6, "this is not a result file"),
        (7, "the file was reformatted"),
        (8, "a link or a file is where a folder should be"),
    ] {
        let line = words.lines().find(|line| line.contains(&format!("/{}/result.json: ", job(number))));
        assert!(line.is_some_and(|line| line.starts_with("error: ") && line.contains(why)), "{number} {why}: {words}");
    }
    assert!(!words.contains("s3cr3t"), "{words}");
    assert_eq!(pod.site.files(), BTreeMap::from([right]));
}

#[test]
fn a_marker_counts_for_its_bytes_alone() {
    let pod = Pod::new("branch");
    let first = pod.put(1);
    // Written by a job before there was the result.
    std::fs::write(pod.run(1).join("recorded.json"), json!({"schemaVersion": 1, "digest": "sha256:0"}).to_string())
        .unwrap();
    pod.assert_recorded();
    assert_eq!(pod.site.files(), BTreeMap::from([first.clone()]));
    // Another content at the same place in git: neither overwritten nor skipped.
    pod.put_changed(1, |result| result.metadata.case_name = "another".to_owned());
    let (status, words) = pod.record();
    assert_eq!(status, Some(4), "{words}");
    assert_line(
        steady(&words),
        str! {"error: `results/matmul/size-256-0a1b2c3d/RUN-a1.json` has other content in branch `kubebench/results`: sha256:DIGEST there, sha256:DIGEST in `FOLDER/experiments/matmul-ID/result.json`"},
    );
    assert_line(
        &words,
        str! {"the volume of the claim `matmul-results` holds 1 result that is not recorded; once the cause is fixed, the next Workflow of the benchmark records what is left"},
    );
    assert_eq!(pod.site.files(), BTreeMap::from([first]));
}

/// A result, or what says to be one, counts in the folder of its own run alone.
#[test]
fn a_copy_and_a_rival_are_refused() {
    let pod = Pod::new("branch");
    let first = pod.put(1);
    for (number, change) in [(2, None), (3, Some("another"))] {
        let folder = pod.run(number);
        std::fs::create_dir_all(&folder).unwrap();
        let sealed =
            sealed(1, |result| result.metadata.case_name = change.unwrap_or(&result.metadata.case_name).to_owned());
        std::fs::write(folder.join("result.json"), sealed.bytes).unwrap();
    }
    let (status, words) = pod.record();
    assert_eq!(status, Some(4), "{words}");
    assert!(pod.has_marker(1) && !pod.has_marker(2) && !pod.has_marker(3), "{words}");
    assert_eq!(words.matches(&format!("it names the run `{}`", job(1))).count(), 2, "{words}");
    assert_eq!(pod.site.files(), BTreeMap::from([first]));
}

#[test]
fn a_volume_that_takes_no_marker_keeps_nothing_from_git() {
    let pod = Pod::new("branch");
    let first = pod.put(1);
    // The user of the tests may be root, whom no mode stops.
    std::fs::create_dir_all(pod.run(1).join("recorded.json/in-the-way")).unwrap();
    assert_line(
        steady(pod.assert_recorded()),
        str! {"note: cannot mark FOLDER/experiments/matmul-ID as recorded, so the next step checks it again: Is a directory (os error 21)"},
    );
    assert_line(
        steady(pod.assert_recorded()),
        str! {"0 results recorded in branch `kubebench/results` of `file://FOLDER/remote.git`, 1 already there"},
    );
    std::fs::remove_dir_all(pod.run(1).join("recorded.json")).unwrap();
    assert_line(
        steady(pod.assert_recorded()),
        str! {"0 results recorded in branch `kubebench/results` of `file://FOLDER/remote.git`, 1 already there"},
    );
    assert!(pod.has_marker(1));
    assert_eq!(pod.site.files(), BTreeMap::from([first]));
}

#[test]
fn many_results_are_recorded_in_batches() {
    let pod = Pod::new("branch");
    let all: BTreeMap<_, _> = (0..300).map(|number| pod.put(number)).collect();
    pod.assert_recorded();
    assert_eq!(pod.site.files(), all);
    let commits = run(&pod.site.remote(), &["rev-list", "--count", "kubebench/results"]);
    assert_eq!(commits, "2");
}

#[test]
fn two_steps_at_once_record_each_result_once() {
    let pod = Pod::new("branch");
    let all: BTreeMap<_, _> = (0..20).map(|number| pod.put(number)).collect();
    let mut commands: Vec<_> = (0..3).map(|_| pod.command()).collect();
    let started = commands.iter_mut().map(|command| command.stderr(Stdio::piped()).spawn().unwrap());
    for child in started.collect::<Vec<_>>() {
        let (status, words) = said(&child.wait_with_output().unwrap());
        assert_eq!(status, Some(0), "{words}");
    }
    assert_eq!(pod.site.files(), all);
    let commits = run(&pod.site.remote(), &["log", "--format=", "--name-only", "kubebench/results"]);
    assert_eq!(commits.lines().count(), 20, "{commits}");
}

#[test]
fn killed_at_any_moment_the_next_step_makes_it_whole() {
    let pod = Pod::new("branch");
    let mut all = BTreeMap::new();
    for number in 0..8 {
        all.extend([pod.put(number)]);
        let mut child = pod.command().stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(number) * 12));
        drop(child.kill());
        child.wait().unwrap();
    }
    pod.assert_recorded();
    assert_eq!(pod.site.files(), all);
    let commits = run(&pod.site.remote(), &["log", "--format=", "--name-only", "kubebench/results"]);
    assert_eq!(commits.lines().count(), all.len(), "{commits}");
}

#[test]
fn a_server_that_is_away_for_a_while_is_waited_for() {
    let mut pod = Pod::new("branch");
    let http = Http::serve(pod.site.path(), &[Fault::Status500, Fault::CloseMidPack], None, Some("robot:s3cr3t"));
    pod.remote = Some(http.url("remote.git"));
    for (name, text) in [("username", "robot"), ("password", "s3cr3t\n")] {
        std::fs::write(pod.site.path().join("credential").join(name), text).unwrap();
    }
    let all = BTreeMap::from([pod.put(1)]);
    let words = pod.assert_recorded();
    assert!(!words.contains("s3cr3t"), "{words}");
    assert_eq!(pod.site.files(), all);
}
