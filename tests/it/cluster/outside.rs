//! `doctor`, `status` and `logs`, on a namespace in which a run is at work.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use kubebench_contract::instance::{Owner, Session};
use kubebench_contract::{Config, Naming, PodMetadata};
use serde_json::{Value, json};

use super::namespaces::Project;
use super::{PATIENCE, cluster};

const PROJECT: &str = r#"
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: outside}
spec:
  image: registry.example/kubebench@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb
  results: {remote: "https://git.example/x.git"}
  targets:
    here:
      cluster: here
      namespace: outside
      podSecurity: restricted
"#;
const SPEC: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: sleepy}
spec:
  repeats: 2
  matrix: {axes: {size: [1, 2]}}
  workload:
    job:
      image: busybox:1
      command: [sh, -c, 'trap "exit 0" TERM; i=0; while true; do i=$((i+1)); printf "\033[31mstep %s token=hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\033[0m\n" $i; sleep 1; done']
      resources: {cpu: 10m, memory: 16Mi}
"#;
const TOKEN: &str = "hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const PASSWORD: &str = "a-value-that-nobody-may-see";

impl Project {
    fn outside(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubebench"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("KUBECONFIG", &self.cluster.kubeconfig)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    fn asked(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.outside(arguments).output().unwrap();
        (status.code(), format!("{}{}", String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap()))
    }

    fn document(&self, command: &str) -> (String, Value) {
        let output = self.outside(&[command, "--output-format", "json"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let document = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        (said, document)
    }

    fn create(&self, object: &Value) -> Value {
        self.folder.write("object.json", object.to_string());
        self.cluster.json(["create", "-o", "json", "-f", &self.place("object.json")])
    }
}

#[test]
fn people_see_what_runs_and_what_is_wrong() {
    let Some(cluster) = cluster("people_see_what_runs_and_what_is_wrong") else { return };
    let files = [("kubebench.yaml", PROJECT), ("specs/sleepy.yaml", SPEC)];
    let project = Project::compiled(cluster, files.map(|(path, text)| (path.to_owned(), text.to_owned())).into());
    let namespace = project.namespaces["here"].clone();

    let (code, said) = project.asked(&["doctor"]);
    assert_eq!(code, Some(1), "{said}");
    for words in [
        "ok       API server",
        "error    git credential",
        "there is no Secret `kubebench-git`",
        "the tree has not been applied",
    ] {
        assert!(said.contains(words), "{words}:\n{said}");
    }
    let (code, said) = project.asked(&["status"]);
    assert_eq!((code, said.contains("no Workflow in the cluster: sleepy")), (Some(0), true), "{said}");

    let job = begin(&project, &namespace);
    doctor_looks_again(&project, &namespace);
    status_shows(&project, &job);
    logs_show(&project, &namespace, &job);
}

/// Applies the tree and begins the first run as its step would; returns the name of its job.
fn begin(project: &Project, namespace: &str) -> String {
    let (workflows, others): (Vec<_>, Vec<_>) =
        project.objects().into_iter().partition(|emitted| emitted.object["kind"] == "Workflow");
    project.cluster.say(["apply".to_owned()].into_iter().chain(project.files(&others)));
    let mut workflow = workflows[0].object.clone();
    workflow["spec"]["suspend"] = true.into();
    let workflow = project.create(&workflow);
    let text = |at: &str| workflow.pointer(at).unwrap().as_str().unwrap().to_owned();
    let (name, uid) = (text("/metadata/name"), text("/metadata/uid"));

    let is_config = |object: &Value| object["kind"] == "ConfigMap" && object.pointer("/data/runs.json").is_some();
    let config = &others.iter().find(|emitted| is_config(&emitted.object)).unwrap().object["data"];
    let files: BTreeMap<String, String> = serde_json::from_value(config.clone()).unwrap();
    let config = Config::read(files).unwrap();
    let naming = Naming { session: Session::Once, owner: Owner { name: &name, uid: &uid }, pods: PodMetadata::NONE };
    let mut job = config.objects(&config.list.runs[0].id, 1, &naming).unwrap().workload;
    job["metadata"]["namespace"] = namespace.into();
    project.create(&job);
    let job = job["metadata"]["name"].as_str().unwrap().to_owned();

    let end = Instant::now() + PATIENCE;
    let selector = format!("kubebench.dev/run={job}");
    let wait = ["-n", namespace, "wait", "--for=condition=Ready", "pod", "-l", &selector, "--timeout=60s"];
    while !project.cluster.kubectl(wait).status.success() {
        assert!(Instant::now() < end, "the pod of {job} does not start");
    }
    job
}

fn doctor_looks_again(project: &Project, namespace: &str) {
    project.create(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "kubebench-git", "namespace": namespace},
        "stringData": {"username": "u", "password": PASSWORD},
    }));
    project.create(&json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small", "namespace": namespace},
        "spec": {"hard": {"requests.memory": "100Mi"}},
    }));
    let (said, document) = project.document("doctor");
    let encoded = "YS12YWx1ZS10aGF0LW5vYm9keS1tYXktc2Vl";
    assert!(!said.contains(PASSWORD) && !said.contains(encoded), "{said}");
    let level = |check: &str| {
        let of_check = document["findings"].as_array().unwrap().iter().filter(|finding| finding["check"] == check);
        of_check.map(|finding| finding["level"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(level("git credential"), ["ok"], "{said}");
    assert_eq!(level("accounts"), ["ok", "ok", "ok"], "{said}");
    assert_eq!(level("namespace"), ["ok"], "{said}");
    assert!(level("quota").contains(&"error".to_owned()), "{said}");
    // As whoever may do nothing here: the API server is there, and nothing is said to be right that was not seen.
    let token = project.cluster.say(["-n", namespace, "create", "token", "kubebench-recorder"]);
    let config = project.cluster.json(["config", "view", "--raw", "--minify", "-o", "json"]);
    let mut config = config;
    config["users"][0]["user"] = json!({"token": token.trim()});
    project.folder.write("nobody.json", config.to_string());
    let output = project.outside(&["doctor"]).env("KUBECONFIG", project.place("nobody.json")).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    for check in ["namespace", "quota", "git credential", "nodes"] {
        let line = said.lines().find(|line| line.get(9..).is_some_and(|line| line.starts_with(check))).unwrap();
        assert!(line.starts_with("note") && line.contains("unknown"), "{said}");
    }
    assert!(said.contains("missing permission: list `nodes` at the cluster scope"), "{said}");
    assert!(!said.contains(token.trim()));
}

fn status_shows(project: &Project, job: &str) {
    let (code, said) = project.asked(&["status"]);
    assert_eq!(code, Some(0), "{said}");
    for words in [
        "0 of 4 runs done, 1 active, 3 not started",
        "size=1 r1  running",
        "1 of 1 pods  on ",
        "    > step ",
        "next: size=2 r1, and 2 more",
    ] {
        assert!(said.contains(words), "{words}:\n{said}");
    }
    assert!(!said.contains(TOKEN) && !said.contains('\u{1b}'), "{said:?}");
    let (said, document) = project.document("status");
    let run = &document["workflows"][0]["runs"][0];
    assert_eq!((&run["state"], &run["job"]["name"]), (&json!("running"), &json!(job)), "{said}");

    let mut watch = project.outside(&["status", "--watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    let seen = lines.take(20).find(|line| line.ends_with("sleepy: size=1 r1 is running"));
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(seen.is_some());
}

fn logs_show(project: &Project, namespace: &str, job: &str) {
    let (code, said) = project.asked(&["logs", "sleepy", "-q"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("step 1 token=[redacted]\nstep 2"), "{said:?}");
    let (_, said) = project.asked(&["logs", "sleepy", "size=1 r1", "--raw", "-q"]);
    assert!(said.starts_with(&format!("\u{1b}[31mstep 1 token={TOKEN}")), "{said:?}");
    let (code, said) = project.asked(&["logs", "sleepy", "--role", "worker"]);
    assert_eq!((code, said.contains("roles are `job`")), (Some(2), true), "{said}");
    let (code, said) = project.asked(&["logs", "sleepy", "size=9 r1"]);
    assert_eq!((code, said.contains("there is no run `size=9 r1`")), (Some(2), true), "{said}");

    // It continues until the run is over, here by hand.
    let mut follow = project.outside(&["logs", "sleepy", "--follow", "-q"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "job-0 | step 1 token=[redacted]");
    project.cluster.say(["-n", namespace, "delete", "job", job, "--wait=false"]);
    let rest: Vec<String> = lines.collect();
    assert!(follow.wait().unwrap().success());
    let numbers: Vec<u32> = rest.iter().map(|line| line.split_whitespace().nth(3).unwrap().parse().unwrap()).collect();
    assert!(numbers.iter().copied().eq(2..2 + u32::try_from(numbers.len()).unwrap()), "each line once: {numbers:?}");
    let (code, said) = project.asked(&["logs", "sleepy"]);
    assert_ne!(code, Some(0), "{said}");
}
