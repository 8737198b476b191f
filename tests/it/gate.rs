//! Committed results judged by the program: gates, comparisons, histories, acknowledgements, and files that cannot be trusted.

mod ack;
mod ack_all;
mod candidate;
mod clones;
mod compare;
mod empty;
mod faults;
mod hardware;
mod history;
mod hostile;
mod identity;
mod judge_from;
mod lineages;
mod merged;
mod mock;
mod new_case;
mod only_new;
mod order;
mod outcome;
mod properties;
mod recorded;
mod renamed;
mod report;
mod said;
mod scaling;
mod signed;
mod since;
mod units;
mod zeros;

use std::process::Command;

use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{
    BenchmarkResult, CommitContent, Direction, Image, Kind, Metric, Status, StatusReason,
};
use kubebench_format::result::{path, seal};
use serde_json::Value as Json;

use crate::support::project::{Folder, assert_yes};

/// A benchmark of one case with a gate of 3 %.
pub(super) const SPEC: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: train, labels: {toolkit: torch}}
spec:
  repeats: 3
  timeout: 1h
  workload: {job: {image: registry.example/train:1, command: [train]}}
  metrics:
    - {name: speed, unit: images/s, better: higher, primary: true, from: {log: {pattern: 'speed (?P<value>\\S+)'}}}
    - {name: loss, better: lower, from: {log: {pattern: 'loss (?P<value>\\S+)'}}}
  gates: [{metric: speed, maxRegression: 3%}]
";

/// Twenty sessions around 100 with a deviation of about 1 %.
pub(super) const QUIET: [f64; 20] = [
    100.3, 99.1, 100.9, 98.7, 101.2, 99.6, 100.1, 98.9, 101.0, 99.8, 100.5, 99.3, 100.7, 98.8, 101.1, 99.5, 100.2,
    99.0, 100.8, 99.7,
];

/// A project, and what was recorded of it.
pub(super) struct Project {
    pub(super) folder: Folder,
    template: BenchmarkResult,
    sessions: u32,
}

/// What is special about a session.
#[derive(Clone, Default)]
pub(super) struct Special {
    pub(super) commit: Option<String>,
    pub(super) content: Option<CommitContent>,
    pub(super) dirty: Option<bool>,
    pub(super) status: Option<Status>,
    pub(super) workload: Option<String>,
    pub(super) image: Option<String>,
    pub(super) cpu: Option<String>,
    pub(super) unit: Option<String>,
    pub(super) loss: Option<f64>,
    pub(super) params: Option<(String, Json)>,
    pub(super) same_session: bool,
}

impl Project {
    /// A project with this spec; results are made by [`session`](Self::session).
    pub(super) fn with(spec: &str) -> Self {
        let folder = Folder::with([
            ("specs/train.yaml", spec),
            ("values.yaml", "metrics: {speed: 100}\n"),
            (".gitignore", "results\n.cache\n"),
            (
                "kubebench.yaml",
                "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {lints: {KB0402: 'off', KB0401: 'off'}}\n",
            ),
        ]);
        let mock =
            ["mock", "--spec", "specs/train.yaml", "--values", "values.yaml", "--sessions", "1", "--out", "template"];
        assert_yes(&folder.run(&mock));
        let (_, bytes) = folder.tree("template").into_iter().next().unwrap();
        let mut template = kubebench_format::result::read(&bytes).unwrap().result;
        assert!(template.synthetic);
        template.synthetic = false;
        std::fs::remove_dir_all(folder.path().join("template")).unwrap();
        std::fs::create_dir_all(folder.path().join("results")).unwrap();
        Self { folder, template, sessions: 0 }
    }

    /// Records a session for each value: three runs with the value as their median.
    pub(super) fn sessions(&mut self, values: &[f64], special: &Special) -> Vec<String> {
        values.iter().map(|value| self.session(*value, special)).collect()
    }

    /// Records a session, and returns its id.
    pub(super) fn session(&mut self, value: f64, special: &Special) -> String {
        self.session_as(value, special, |_| {})
    }

    /// Records a session of results that `change` made other ones, and returns its id.
    pub(super) fn session_as(
        &mut self,
        value: f64,
        special: &Special,
        change: impl Fn(&mut BenchmarkResult),
    ) -> String {
        self.sessions += u32::from(!special.same_session);
        for repeat in 1..=3_u32 {
            let mut made = self.run(value * (1.0 + (f64::from(repeat) - 2.0) * 0.002), repeat, special);
            change(&mut made);
            self.put(made);
        }
        format!("session-{:03}", self.sessions)
    }

    /// Returns a run of the session at hand.
    pub(super) fn run(&self, value: f64, repeat: u32, special: &Special) -> BenchmarkResult {
        let mut made = self.template.clone();
        let case = special.params.as_ref().map_or(0, |(name, value)| name.len() + value.to_string().len());
        let second = |second: u32| {
            let day = 1 + self.sessions / 24;
            format!("2026-02-{day:02}T{:02}:{:02}:{second:02}Z", self.sessions % 24, repeat)
        };
        made.run.id = format!("{:08x}{case:08x}{repeat:08x}{:08x}", self.sessions, 7);
        made.run.session = format!("session-{:03}", self.sessions);
        (made.run.repeat, made.run.started_at, made.run.finished_at) = (repeat, second(0), second(30));
        made.run.duration_seconds = 30.0;
        made.source.commit.clone_from(&special.commit);
        made.source.content.clone_from(&special.content);
        made.source.dirty = special.commit.as_ref().map(|_| special.dirty.unwrap_or(false));
        made.source.workload_digest =
            Some(special.workload.clone().unwrap_or_else(|| format!("sha256:{}", "a".repeat(64))));
        if let Some(image) = &special.image {
            let declared = "registry.example/train:1".to_owned();
            made.environment.images = vec![Image { role: "job".to_owned(), declared, observed: Some(image.clone()) }];
        }
        if let (Some(cpu), Some(node)) = (&special.cpu, made.environment.nodes.first_mut()) {
            node.cpu_model = Some(cpu.clone());
        }
        if let Some((name, value)) = &special.params {
            made.metadata.params.insert(name.clone(), value.clone());
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            made.metadata.case = format!("{name}-{text}-00000000");
            made.metadata.case_name = format!("{name}={text}");
        }
        let speed = made.metrics.first().unwrap().clone();
        made.metrics =
            vec![Metric { value: Some(value), unit: special.unit.clone().or(speed.unit.clone()), ..speed.clone() }];
        made.metrics.extend(special.loss.map(|loss| Metric {
            name: "loss".to_owned(),
            unit: None,
            direction: Direction::Lower,
            kind: Kind::Secondary,
            value: Some(loss),
            ..speed
        }));
        if let Some(status) = special.status {
            made.run.status = status;
            made.run.reasons =
                vec![StatusReason { code: ReasonCode::ExitCode, message: "worker-0 exited with 1".to_owned() }];
        }
        made
    }

    /// Writes a result to its place.
    pub(super) fn put(&self, result: BenchmarkResult) -> String {
        let sealed = seal(result);
        let place = format!("results/{}", path(&sealed.result));
        self.folder.write(&place, &sealed.bytes);
        place
    }

    /// Makes the folder a repository with one more commit, which changes a file, and returns its name.
    pub(super) fn commit(&self, message: &str) -> String {
        self.folder.write(&format!("work/{}", message.replace(' ', "-")), message);
        if !self.folder.path().join(".git").is_dir() {
            self.git(&["init", "-q", "-b", "main"]);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Records sessions on `main`, and then some on a branch of it; returns the commits of the two.
    pub(super) fn with_feature(&mut self, on_main: &[f64], on_feature: &[f64]) -> [String; 2] {
        let main = self.commit("main");
        let on = |commit: &String| Special { commit: Some(commit.clone()), ..Special::default() };
        self.sessions(on_main, &on(&main));
        self.git(&["checkout", "-q", "-b", "feature"]);
        let feature = self.commit("feature");
        self.sessions(on_feature, &on(&feature));
        self.git(&["checkout", "-q", "main"]);
        [main, feature]
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
        let output =
            Command::new("git").args(identity).args(arguments).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs the program with a cache of its own; returns its status and what it printed.
    pub(super) fn says(&self, arguments: &[&str]) -> (i32, String, String) {
        let output =
            self.folder.command(arguments).env("XDG_CACHE_HOME", self.folder.path().join(".cache")).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    /// Runs a gate with all details; returns its status and what it printed, with what did not fit a line put together again.
    pub(super) fn whole(&self, arguments: &[&str]) -> (i32, String) {
        let (status, text, _) = self.says(&[&["gate", "-v"], arguments].concat());
        let ends = [" \\\n        ", "\n        ", "\n      ", "\n    "];
        (status, ends.iter().fold(text, |text, end| text.replace(end, " ")))
    }

    /// Runs the program for JSON.
    pub(super) fn json(&self, arguments: &[&str]) -> (i32, Json) {
        let all: Vec<&str> = arguments.iter().copied().chain(["--output-format", "json"]).collect();
        let (status, out, error) = self.says(&all);
        (status, serde_json::from_str(&out).unwrap_or_else(|fault| panic!("{fault}: {out}{error}")))
    }

    /// Runs a gate, and returns its status and its only line.
    pub(super) fn gate(&self, arguments: &[&str]) -> (i32, Json) {
        let all: Vec<&str> = ["gate"].into_iter().chain(arguments.iter().copied()).collect();
        let (status, answer) = self.json(&all);
        assert_eq!(answer["lines"].as_array().unwrap().len(), 1, "{answer:#}");
        (status, answer["lines"][0].clone())
    }
}

/// The verdict of a line.
pub(super) fn verdict(line: &Json) -> &str {
    line["verdict"].as_str().unwrap()
}

/// The texts of a list in JSON, one a line.
pub(super) fn texts(list: &Json) -> String {
    let texts: Vec<&str> = list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    texts.join("\n")
}
