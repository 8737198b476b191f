//! The pages of `kubebench report` before a real browser: `tests/browser/judge.mjs` looks, and this says at what.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kubebench_format::result::ReasonCode;
use kubebench_format::result::read;
use kubebench_format::result::v1::{BenchmarkResult, Direction, Exit, Gpu, Image, Kind, Metric, Status, StatusReason};
use serde_json::{Value as Json, json};

use crate::gate::{Project, QUIET, SPEC, Special};
use crate::support::judges::{missing, oracle, tool};
use crate::support::project::{assert_yes, files_below, repository};

/// Texts by which a page could be broken, or be made to do something.
const HOSTILE: [&str; 12] = [
    "<script>window.hurt=1;alert(1)</script>",
    "\"><img src=x onerror=\"window.hurt=1\">",
    "</title></svg></style><svg onload=window.hurt=1>",
    "]]><!-- --!> <![CDATA[",
    "javascript:window.hurt=1",
    "' onfocus='window.hurt=1' autofocus x='",
    "right \u{202E}to left \u{200F}\u{2066}mark",
    "&lt;b&gt; &#x3c;script&#x3e; \\u003cscript\\u003e %3Cscript%3E",
    "nul \0 bell \u{7} \u{1b}[31m \u{fffe} \u{2028}",
    "👩‍🚀🏳️‍🌈 Ünïcödé 漢字 Z̷̡̛͜a̶l̵g̸o̴",
    "  ",
    "${jndi:ldap://x} {{constructor.constructor('alert(1)')()}}",
];

/// The programs that judge, in the order in which they are used, or nothing after a visible line.
struct Judges {
    node: PathBuf,
    chromium: PathBuf,
    modules: PathBuf,
}

impl Judges {
    fn of(test: &str) -> Option<Self> {
        let node = oracle(test, "node")?;
        let chromium = oracle(test, "chromium")?;
        let wrapper = oracle(test, "playwright-core")?;
        // `.ci/run` leaves a text with the folder of the module.
        let modules = PathBuf::from(fs::read_to_string(wrapper).unwrap().trim());
        if !modules.join("node_modules/playwright-core").is_dir() {
            missing(test, "playwright-core", "its folder is gone: let `.ci/run` install it again");
            return None;
        }
        Some(Self { node, chromium, modules })
    }

    /// Looks at a site over `file://` and HTTP; nothing may be wrong. Returns what was counted.
    fn judge(&self, name: &str, site: &Path, deep: usize) -> Json {
        let mut counts = Json::Null;
        for over in ["file", "http"] {
            let mut asked =
                json!({"site": site, "over": over, "modules": self.modules, "chromium": self.chromium, "deep": deep});
            if let Some(shots) = std::env::var_os("KUBEBENCH_SCREENSHOTS").filter(|_| over == "file") {
                asked["shots"] = json!(Path::new(&shots).join(name));
            }
            let mut command = Command::new(&self.node);
            command.arg(repository().join("tests/browser/judge.mjs")).arg(asked.to_string()).stdin(Stdio::null());
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            let answer: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
            let faults = answer["faults"].as_array().unwrap();
            let shown: Vec<String> = faults.iter().take(40).map(Json::to_string).collect();
            assert!(faults.is_empty(), "{name} over {over}: {} faults\n{}", faults.len(), shown.join("\n"));
            counts = answer["counts"].clone();
            assert!(
                ["pages", "links", "contrasts", "stops of Tab"].iter().all(|of| counts[of].as_u64() > Some(0)),
                "{counts}"
            );
        }
        read_back(site);
        counts
    }
}

/// What is next to the pages: light, well formed, and read back by others.
fn read_back(site: &Path) {
    let files = files_below(site);
    let ends = |end: &'static str| files.iter().filter(move |file| file.extension().is_some_and(|own| own == end));
    for file in ends("html") {
        let size = fs::metadata(file).unwrap().len();
        assert!(size <= 300_000, "{} has {size} bytes", file.display());
    }
    if let Some(python) = tool("python3") {
        let parse = "import sys, xml.dom.minidom\nfor path in sys.argv[1:]: xml.dom.minidom.parse(path)";
        assert_yes(&Command::new(python).args(["-c", parse]).args(ends("xml").chain(ends("svg"))).output().unwrap());
    } else {
        missing("oracle_browser", "python3", "install Python, which parses the XML beside the pages");
    }
    let json = |path: &Path| -> Json { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let index = json(&site.join("index.json"));
    if let Ok(schema) = fs::read(repository().join("schema/report.v1.json")) {
        let schema: Json = serde_json::from_slice(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&index).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    // The series of cases; what else is next to pages has no numbers of sessions.
    let is_series = |file: &&PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        file.parent().is_some_and(|folder| folder.ends_with("cases")) && name.matches('.').count() == 1
    };
    for file in ends("csv").filter(is_series) {
        let series = json(&file.with_extension("json"));
        let sessions: Vec<f64> = series["series"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|told| told["sessions"].as_array().unwrap())
            .map(|session| session["value"].as_f64().unwrap())
            .collect();
        let mut reader = csv::Reader::from_path(file).unwrap();
        let values: Vec<f64> = reader.records().map(|record| record.unwrap()[7].parse().unwrap()).collect();
        assert_eq!(values, sessions, "{}", file.display());
    }
}

/// Writes the site of a project, where files may have been left out, and returns its folder.
fn site(project: &Project, arguments: &[&str]) -> PathBuf {
    let all: Vec<&str> = ["report", "--out", "site"].into_iter().chain(arguments.iter().copied()).collect();
    let (status, _, said) = project.says(&all);
    assert!(status == 0 || status == 1, "{said}");
    project.folder.path().join("site")
}

#[test]
fn oracle_browser_sees_the_real_series() {
    let Some(judges) = Judges::of("oracle_browser_sees_the_real_series") else { return };
    let out = tempfile::tempdir().unwrap();
    let site = out.path().join("site");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubebench"));
    command.args(["report", "--out"]).arg(&site).current_dir(repository()).env("XDG_CACHE_HOME", out.path());
    assert_yes(&command.output().unwrap());
    let counts = judges.judge("real", &site, 1);
    for width in [360, 1280] {
        let news = counts[format!("news at {width}")].as_str().unwrap();
        let parts = [
            "wordpiece (documents=",
            "throughput −7.",
            "slowest-document +7.",
            "4 regressions since 2026-11-22 20:53 UTC, git log ae3452924e..0e2887728d",
            "On 2 × AMD EPYC",
            "seen in 20 sessions",
        ];
        assert!(parts.iter().all(|part| news.contains(part)), "{news}");
    }
}

#[test]
fn oracle_browser_sees_an_empty_project() {
    let Some(judges) = Judges::of("oracle_browser_sees_an_empty_project") else { return };
    let project = Project::with(SPEC);
    let counts = judges.judge("empty", &site(&project, &[]), 1);
    assert_eq!(
        counts["news at 360"],
        "1 case is new and has no result yet. Run one here: kubebench run specs/train.yaml; for a cluster, kubebench compile writes the manifests."
    );
}

#[test]
fn oracle_browser_sees_that_nothing_changed() {
    let Some(judges) = Judges::of("oracle_browser_sees_that_nothing_changed") else { return };
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let counts = judges.judge("quiet", &site(&project, &[]), 1);
    let news = counts["news at 360"].as_str().unwrap();
    assert!(news.starts_with("No regressions in 1 series. A regression of "), "{news}");
}

fn metric(like: &Metric, name: &str, value: f64) -> Metric {
    Metric { name: name.to_owned(), value: Some(value), ..like.clone() }
}

/// Writes `text` wherever a result holds text that is not checked.
fn with_text(mut made: BenchmarkResult, number: usize, text: &str) -> BenchmarkResult {
    let like = made.metrics[0].clone();
    let both = BTreeMap::from([(text.to_owned(), text.to_owned())]);
    made.metadata.case = format!("hostile-{number}-00000000");
    made.metadata.case_name = text.to_owned();
    made.metadata.params =
        BTreeMap::from([(text.to_owned(), json!(text)), ("deep".to_owned(), json!({text: [text, 1e308]}))]);
    made.metadata.labels.clone_from(&both);
    made.metadata.target = text.to_owned();
    made.source.dirty = Some(true);
    made.source.spec_path = text.to_owned();
    made.environment.cluster.version = Some(text.to_owned());
    made.environment.cluster.engine = text.to_owned();
    made.environment.images =
        vec![Image { role: text.to_owned(), declared: text.to_owned(), observed: Some(format!("{text}!")) }];
    made.environment.software.clone_from(&both);
    for node in &mut made.environment.nodes {
        node.name = Some(text.to_owned());
        (node.cpu_model, node.instance_type) = (Some(text.to_owned()), Some(text.to_owned()));
        (node.kernel, node.os_image, node.governor) =
            (Some(text.to_owned()), Some(text.to_owned()), Some(text.to_owned()));
        node.gpus = vec![Gpu { product: text.to_owned(), count: 8, memory_mi_b: None, driver: Some(text.to_owned()) }];
    }
    made.annotations.clone_from(&both);
    let numbers = [1e308, -0.0, 5e-324, -1e308, 0.1 + 0.2, f64::MIN_POSITIVE];
    made.metrics.push(Metric {
        labels: both,
        unit: Some(text.to_owned()),
        kind: Kind::Primary,
        ..metric(&like, text, 100.0 + f64::from(made.run.repeat))
    });
    made.metrics.extend(numbers.iter().enumerate().map(|(at, value)| metric(&like, &format!("m-{at}"), *value)));
    made.metrics.push(Metric {
        unit: Some("ms".to_owned()),
        direction: Direction::Lower,
        samples: (0..50_u32).map(|at| Some(f64::from(at) * 1e300)).collect(),
        ..metric(&like, "latency", 7.0)
    });
    made
}

#[test]
fn oracle_browser_sees_text_of_others_as_text() {
    let Some(judges) = Judges::of("oracle_browser_sees_text_of_others_as_text") else { return };
    let long = format!("{}<b>", "a-very-long-name-".repeat(600));
    let text = HOSTILE[0];
    let spec = SPEC.replace("spec:\n", &format!("spec:\n  description: {text:?}\n"));
    let mut project = Project::with(&spec);
    // What a gate looks at gets worse, and somebody accepts that in strange words.
    let commit = Special { commit: Some("c0ffee0123".repeat(4)), ..Special::default() };
    project.sessions(&QUIET, &commit);
    project.sessions(&[90.0, 90.3, 89.8, 90.1, 89.9, 90.2, 90.0], &commit);
    let acked = [
        "ack",
        "train",
        "--case",
        "*",
        "--metric",
        "speed",
        "--by",
        HOSTILE[1],
        "--reason",
        HOSTILE[2],
        "--expires",
        "2026-02-02",
    ];
    let (status, _, said) = project.says(&acked);
    assert_eq!(status, 0, "{said}");
    for _ in 0..4 {
        project.session(90.0, &Special { loss: Some(-0.0), ..Special::default() });
        for (number, text) in HOSTILE.iter().copied().chain([long.as_str()]).enumerate() {
            for repeat in 1..=2 {
                let mut made = with_text(project.run(1.0, repeat, &Special::default()), number, text);
                made.run.id = format!("{}{number:04x}{repeat:04x}", &made.run.id[..24]);
                // What identifies a run is checked: a result of such a commit is shown among those left out.
                if (number, repeat) == (1, 2) {
                    made.source.commit = Some(text.to_owned());
                }
                if number % 3 == 0 {
                    made.run.status = Status::Failed;
                    made.run.reasons = vec![StatusReason { code: text.into(), message: text.to_owned() }];
                    made.run.exits = vec![Exit {
                        role: text.to_owned(),
                        index: 0,
                        code: Some(1),
                        signal: Some(text.to_owned()),
                        last_lines: vec![text.to_owned()],
                    }];
                }
                project.put(made);
            }
        }
    }
    // One result of more metrics than anybody looks at.
    let mut many = project.run(1.0, 9, &Special { same_session: true, ..Special::default() });
    many.metadata.case = "many-00000000".to_owned();
    many.metadata.case_name = "many=10000".to_owned();
    let like = many.metrics[0].clone();
    many.metrics = (0..10_000_u32).map(|at| metric(&like, &format!("metric-{at}"), f64::from(at))).collect();
    project.put(many);
    project.folder.write("results/train/broken \"><script>window.hurt=1</script>.json", "{\"kind\": ");
    let folder = site(&project, &["--title", HOSTILE[2], "--repository", "https://example.com/a/b"]);
    judges.judge("hostile", &folder, 1);
    let index = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(index.contains("&lt;/title&gt;"), "the title is shown as it is");
    let left_out = fs::read_to_string(folder.join("left-out.html")).unwrap();
    assert!(left_out.contains("source.commit"), "{left_out}");
}

/// A benchmark of eight cases, whose results `mock` makes.
const LARGE: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: train}
spec:
  description: Trains a model on some GPUs
  repeats: 3
  timeout: 1h
  matrix: {axes: {workers: [1, 2, 4, 8], batch: [32, 64]}}
  workload: {job: {image: registry.example/train:1, command: [train, '${{ matrix.workers }}', '${{ matrix.batch }}']}}
  metrics:
    - {name: speed, unit: images/s, better: higher, primary: true, from: {log: {pattern: 'speed (?P<value>\\S+)'}}}
    - {name: latency_p50, unit: ms, better: lower, from: {log: {pattern: 'p50 (?P<value>\\S+)'}}}
    - {name: latency_p99, unit: ms, better: lower, from: {log: {pattern: 'p99 (?P<value>\\S+)'}}}
  gates: [{metric: speed, maxRegression: 3%}]
";

/// Levels, noise and changes; one case for the better, one for the worse.
const VALUES: &str = "\
metrics:
  speed: {value: 1000, noise: 1%, runNoise: 0.5%}
  latency_p50: {value: 12, noise: 2%}
  latency_p99: {value: 40, noise: 3%, changes: [{session: 70, by: 20%}]}
cases:
  'batch=32, workers=2': {speed: {value: 1900, noise: 1%, changes: [{session: 30, by: +10%}]}}
  'batch=32, workers=4': {speed: {value: 3500, noise: 1%, changes: [{session: 60, by: -8%}]}}
  'batch=64, workers=8': {speed: {value: 7000, noise: 1%, changes: [{session: 40, by: -6%}, {session: 80, by: +7%}]}}
";

#[test]
fn oracle_browser_sees_thousands_of_results() {
    let Some(judges) = Judges::of("oracle_browser_sees_thousands_of_results") else { return };
    let project = Project::with(SPEC);
    project.folder.write("specs/train.yaml", LARGE);
    project.folder.write("specs/never.yaml", SPEC.replace("name: train", "name: never-ran"));
    project.folder.write("values.yaml", VALUES);
    let (status, _, said) = project.says(&[
        "mock",
        "--spec",
        "specs/train.yaml",
        "--values",
        "values.yaml",
        "--sessions",
        "90",
        "--out",
        "made",
    ]);
    assert_eq!(status, 0, "{said}");
    let made = project.folder.tree("made");
    assert_eq!(made.len(), 90 * 3 * 8);
    let mut times: Vec<String> =
        made.iter().map(|(path, _)| path.rsplit('/').next().unwrap()[..8].to_owned()).collect();
    times.sort();
    times.dedup();
    let (newer, last) = (times[20].clone(), times[89].clone());
    for (path, bytes) in made {
        let mut result = read(&bytes).unwrap().result;
        let day = path.rsplit('/').next().unwrap()[..8].to_owned();
        let model = if day < newer { "EPYC 7763" } else { "EPYC 9654" };
        result.environment.nodes.iter_mut().for_each(|node| node.cpu_model = Some(model.to_owned()));
        if result.metadata.case_name.contains("workers=1") && day == last {
            result.run.status = Status::Failed;
            result.run.reasons = vec![StatusReason {
                code: ReasonCode::ExitCode,
                message: "worker-0 exited with 137: out of memory".to_owned(),
            }];
        }
        // Some ran elsewhere, too.
        if result.metadata.case_name.contains("batch=64, workers=2") {
            result.metadata.target = "gpu-eu".to_owned();
        }
        project.put(result);
    }
    let acked = ["ack", "train", "--case", "*", "--metric", "latency_p99", "--by", "ada", "--reason", "larger batches"];
    assert_eq!(project.says(&acked).0, 0);
    let counts = judges.judge("large", &site(&project, &["--url", "https://bench.example.com/x/"]), 1);
    let news = counts["news at 360"].as_str().unwrap();
    assert!(news.contains("train (batch=32, workers=4): speed −") && news.contains("EPYC 9654"), "{news}");
}
