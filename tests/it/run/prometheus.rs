//! Metrics from Prometheus and from an address: answers of a real server, a server that fails, and a real Prometheus.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::Value;

use kubebench_extract::preset::{PRESETS, Preset};
use kubebench_extract::prometheus::{of_cluster, over_time, range_url};
use kubebench_testing::snapshot::{assert_line, str};
use kubebench_testing::watchdog::until;

use crate::support::judges::oracle;
use crate::support::project::{Folder, repository};
use crate::support::tls::Tls;

/// Starts a server that answers each request with what `answer` says of its path; returns its address.
fn serve(answer: fn(&str) -> (u16, String)) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            lines.find(String::is_empty);
            let (status, body) = answer(request.split(' ').nth(1).unwrap_or_default());
            let mut stream = stream;
            let length = body.len();
            let _ =
                write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    address
}

/// Runs a spec with these metrics against the Prometheus at `server`, and returns its result.
fn result(server: &str, metrics: &str, sleep: &str) -> Value {
    let folder = Folder::with([
        (
            "kubebench.yaml",
            format!(
                "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec:\n  targets:\n    here: {{prometheus: {{url: '{server}'}}}}\n"
            ),
        ),
        (
            "specs/p.yaml",
            format!(
                "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: p}}\nspec:\n  timeout: 1m\n  repeats: 1\n  workload:\n    job: {{image: 'registry.example/p:1', command: [sleep, '{sleep}'], resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics:\n{metrics}"
            ),
        ),
    ]);
    let output = folder.run(&["run", "specs/p.yaml", "--output-format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let path = answer["results"][0]["path"].as_str().unwrap();
    serde_json::from_slice(&std::fs::read(folder.path().join(path)).unwrap()).unwrap()
}

fn metric(name: &str, from: &str) -> String {
    format!("    - {{name: {name}, unit: '1', better: lower, from: {from}}}\n")
}

fn captured(path: &str) -> (u16, String) {
    let file = |name: &str| std::fs::read_to_string(repository().join("tests/data/prometheus").join(name)).unwrap();
    let asks = |query: &str| path.starts_with(&format!("/api/v1/query_range?query={query}&start="));
    match path {
        _ if asks("up") => (200, file("up.json")),
        _ if asks("go_memstats_alloc_bytes") => (200, file("bytes.json")),
        _ if asks("both") => (200, file("two_series.json")),
        _ if asks("nothing_here") => (200, file("empty.json")),
        _ if asks("0%2F0") => (200, file("nan.json")),
        _ if asks("sum%28") => (400, file("parse_error.json")),
        "/metrics" => (
            200,
            "# TYPE steps counter\nsteps_total{phase=\"train\"} 12\nsteps_total{phase=\"eval\"} 3\n# EOF\n".to_owned(),
        ),
        _ => (503, "upstream is away".to_owned()),
    }
}

#[test]
fn answers_of_a_real_server_become_metrics() {
    let server = serve(captured);
    let metrics = [
        metric("up", "{prometheus: {query: up, reduce: min}}"),
        metric("bytes", "{prometheus: {query: go_memstats_alloc_bytes, reduce: max}}"),
        metric("both", "{prometheus: {query: both, reduce: sum}}"),
        metric("none", "{prometheus: {query: nothing_here}}"),
        metric("nan", "{prometheus: {query: 0/0}}"),
        metric("bad", "{prometheus: {query: 'sum('}}"),
        metric("away", "{prometheus: {query: other}}"),
        metric(
            "steps",
            &format!("{{openMetrics: {{url: '{server}/metrics', name: steps_total, labels: {{phase: train}}}}}}"),
        ),
        metric("loss", &format!("{{openMetrics: {{url: '{server}/metrics', name: loss}}}}")),
    ];
    let result = result(&server, &metrics.concat(), "0.1");
    let of = |name: &str| {
        let metric = result["metrics"].as_array().unwrap().iter().find(|metric| metric["name"] == name).unwrap();
        (
            metric["value"].as_f64(),
            metric["n"].as_u64().unwrap(),
            metric["reason"].as_str().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(of("up").0, Some(1.0));
    assert_eq!((of("bytes").0, of("bytes").1), (Some(13_910_240.0), 6));
    assert_eq!(of("both").0, Some(121.0 + 32.0));
    assert_line(
        of("none").2,
        str! {"the query gave no sample over the run's time; is the series scraped often enough?"},
    );
    assert!(of("nan").0.is_none(), "{:?}", of("nan"));
    assert_line(of("nan").2, str! {"4 of 4 values are not finite, such as nan"});
    assert_line(
        of("bad").2,
        str! {"Prometheus refused the query: bad_data 1:5: parse error: unclosed left parenthesis"},
    );
    assert!(of("away").2.contains("503"), "{:?}", of("away"));
    assert_eq!(of("steps").0, Some(12.0));
    assert_line(of("loss").2, str! {"there is no sample `loss`"});
    assert_eq!(result["run"]["status"], "succeeded", "no metric was required");
}

#[test]
fn a_server_that_is_not_there_is_a_reason() {
    let metrics = metric("up", "{prometheus: {query: up}}").replace("better: lower,", "better: lower, primary: true,");
    let result = result("http://127.0.0.1:9", &metrics, "0");
    assert_eq!(result["run"]["status"], "invalid");
    assert_line(
        result["run"]["reasons"][0]["message"].as_str().unwrap(),
        str! {"the primary metric `up` has no value: the server did not answer: io: Connection refused (os error 111)"},
    );
}

/// What a step does with `results.ca`, as [`kubebench_host::http`] does it.
#[test]
fn a_server_is_known_by_the_authorities_that_are_named_alone() {
    let test = "a_server_is_known_by_the_authorities_that_are_named_alone";
    let folder = tempfile::tempdir().unwrap();
    let backend = serve(captured);
    let Some(tls) = Tls::before(test, folder.path(), backend.trim_start_matches("http://")) else { return };
    let query = range_url(&tls.url(""), "up", 0.0, 1.0);
    let (get, trusting) = (kubebench_host::http::get, kubebench_host::http::get_trusting);
    let answer = trusting(&query, &tls.authority()).unwrap();
    assert_eq!(answer, captured("/api/v1/query_range?query=up&start=").1);
    assert_line(
        get(&query).unwrap_err(),
        str! {"the server did not answer: io: invalid peer certificate: UnknownIssuer; in a cluster, name a private certificate authority with `results.ca`"},
    );
    assert_line(
        trusting(&query, &tls.other_authority()).unwrap_err(),
        str! {"the server did not answer: io: invalid peer certificate: UnknownIssuer; only the authorities of `results.ca` are trusted"},
    );
    // A bundle of many counts as a whole, whatever else is in it.
    let bundle = folder.path().join("bundle.pem");
    let files = [tls.other_authority(), tls.authority()].map(|file| std::fs::read_to_string(file).unwrap());
    std::fs::write(&bundle, format!("# authorities\n{}\n# ours\n{}", files[0], files[1])).unwrap();
    assert!(trusting(&query, &bundle).is_ok());
    let nothing = folder.path().join("nothing");
    assert_line(
        trusting(&query, &nothing).unwrap_err(),
        str! {"the certificates that `results.ca` names cannot be used: the namespace does not have that object, or the object does not have that key"},
    );
    // A server without TLS shows no certificate.
    let plain = range_url(&backend, "up", 0.0, 1.0);
    assert_eq!(trusting(&plain, &nothing), trusting(&plain, &tls.authority()));
    assert_eq!(trusting(&plain, &nothing).unwrap(), answer);
}

#[test]
fn oracle_a_real_prometheus_answers() {
    let Some(program) = oracle("oracle_a_real_prometheus_answers", "prometheus") else { return };
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let config = format!(
        "global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}\nscrape_configs: [{{job_name: self, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n"
    );
    std::fs::write(folder.path().join("p.yml"), config).unwrap();
    let mut server = Command::new(program)
        .current_dir(folder.path())
        .args(["--config.file=p.yml", "--storage.tsdb.path=data", &format!("--web.listen-address=127.0.0.1:{port}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It begins to look at its targets some seconds after it listens.
    let up = format!("http://127.0.0.1:{port}/api/v1/query?query=up");
    let is_up = || kubebench_host::http::get(&up).is_ok_and(|answer| answer.contains(r#""1"]"#));
    until("Prometheus sees itself", is_up);
    let metrics = [
        metric("up", "{prometheus: {query: 'min(up{job=\"self\"})', reduce: min}}"),
        metric("bad", "{prometheus: {query: 'sum('}}"),
    ];
    let address = format!("http://127.0.0.1:{port}");
    let of_presets: Vec<(&str, String)> = PRESETS.iter().map(|preset| (preset.name, asked(&address, preset))).collect();
    let result = result(&address, &metrics.concat(), "2");
    server.kill().unwrap();
    server.wait().unwrap();
    let metrics = result["metrics"].as_array().unwrap();
    assert_eq!(metrics[0]["value"], 1.0, "{}", metrics[0]);
    assert!(metrics[0]["n"].as_u64().unwrap() >= 2, "{}", metrics[0]);
    assert!(metrics[1]["reason"].as_str().unwrap().contains("parse error"), "{}", metrics[1]);
    for (name, answer) in of_presets {
        assert!(answer.contains("\"status\":\"success\""), "{name}: {answer}");
    }
}

/// Asks a server for a preset as a run in a cluster does.
fn asked(server: &str, preset: &Preset) -> String {
    let query = of_cluster(preset.query, "ml", "train-0a1b2c3d", &["gpu-1.example".to_owned(), "gpu-2".to_owned()]);
    let query = over_time(&query, 1_795_000_000.0, 1_795_000_060.5);
    assert!(!query.contains('$'), "{query}");
    kubebench_host::http::get(&range_url(server, &query, 1_795_000_000.0, 1_795_000_060.5)).unwrap_or_else(|why| why)
}

#[test]
fn the_presets_are_documented_as_they_are() {
    let page = std::fs::read_to_string(repository().join("docs/reference/extraction.md")).unwrap();
    let chapter = page.split("\n## Presets of Prometheus\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let documented: Vec<&str> =
        chapter.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 7).collect();
    let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let rows = PRESETS.iter().map(|preset| {
        let Preset { name, about, exporter, unit, better, reduce, .. } = preset;
        format!("| `{name}` | {about} | {unit} | {} | {} | {exporter} |", word(better), word(reduce))
    });
    assert_eq!(documented, rows.collect::<Vec<_>>());
}
