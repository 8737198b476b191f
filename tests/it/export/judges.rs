//! Exports before those who read them: `PostgreSQL`, `SQLite`, pandas, `PyArrow`, Prometheus, benchstat and `MLflow` themselves.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kubebench_testing::watchdog::until;
use serde_json::{Value, json};

use super::made::{export, folder, hostile, real, run};
use super::rebuilt::{Row, rebuilt};
use crate::support::judges::{missing, oracle, python_with, tool};
use crate::support::project::Folder;

/// The Python that `.ci/run` makes for these tests.
const PYTHON: &str = "python-with-exports";

/// What a program prints; it must say yes.
fn asked(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the tool starts");
    let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{said}{complaint}");
    said.into_owned()
}

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    until(what, || {
        found = ask();
        found.is_some()
    });
    found.unwrap()
}

/// A server of its own, reached by a socket in its folder.
struct Postgres {
    place: tempfile::TempDir,
    programs: PathBuf,
}

impl Postgres {
    /// Debian keeps the server's programs out of `PATH`.
    fn programs() -> Option<PathBuf> {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let folders = versions.map(|version| version.path().join("bin"));
        let in_path = tool("initdb").and_then(|initdb| initdb.parent().map(Path::to_owned));
        in_path
            .into_iter()
            .chain(folders)
            .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
    }

    /// Starts `program` as somebody whom the server does not refuse: it will not run as root.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.place.path()).env_remove("LC_ALL").env("LANG", "C");
        if nix_is_root() {
            command.uid(65534).gid(65534);
        }
        command
    }

    fn start(programs: PathBuf) -> Self {
        // The path of a socket has little room.
        let place = tempfile::tempdir_in("/tmp").unwrap();
        if nix_is_root() {
            std::os::unix::fs::chown(place.path(), Some(65534), Some(65534)).unwrap();
        }
        let server = Self { place, programs };
        asked(server.command("initdb").args([
            "-D",
            "data",
            "-A",
            "trust",
            "-U",
            "test",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
        ]));
        let options = format!("-k {} -c listen_addresses= -F", server.place.path().display());
        asked(
            server
                .command("pg_ctl")
                .args(["-D", "data", "-w", "-l", "log", "-o", &options, "start"])
                .stdout(Stdio::null()),
        );
        server
    }

    fn psql(&self, arguments: &[&str]) -> String {
        asked(
            server_psql(&self.programs)
                .args(["-X", "-q", "-h"])
                .arg(self.place.path())
                .args(["-U", "test", "-d", "postgres"])
                .args(arguments),
        )
    }
}

fn server_psql(programs: &Path) -> Command {
    Command::new(Some(programs.join("psql")).filter(|psql| psql.is_file()).unwrap_or_else(|| "psql".into()))
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.command("pg_ctl").args(["-D", "data", "-m", "immediate", "stop"]).stdout(Stdio::null()).status());
    }
}

/// Whether this process may become somebody else.
fn nix_is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[test]
fn oracle_postgres_loads_the_whole_of_each_result() {
    let test = "oracle_postgres_loads_the_whole_of_each_result";
    if oracle(test, "psql").is_none() {
        return;
    }
    let Some(programs) = Postgres::programs() else {
        return missing(test, "initdb", "there is psql alone: install Debian's package `postgresql`");
    };
    let (folder, made) = folder(hostile().into_iter().chain([real()]));
    let script = export(&folder, "postgres");
    let server = Postgres::start(programs);
    server.psql(&["-f", script.to_str().unwrap()]);
    let rows = |sql: &str| -> Vec<Row> {
        let sql = format!("SET TimeZone = 'UTC'; SELECT row_to_json(t) FROM ({sql}) t");
        server.psql(&["-At", "-c", &sql]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let mut samples: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for mut row in rows("SELECT * FROM samples ORDER BY metric, position") {
        samples.entry(row["metric"].as_u64().unwrap()).or_default().push(row["value"].take());
    }
    let mut metrics: BTreeMap<u64, Vec<(Row, Vec<Value>)>> = BTreeMap::new();
    for row in rows("SELECT * FROM metrics ORDER BY id") {
        let samples = samples.remove(&row["id"].as_u64().unwrap()).unwrap_or_default();
        metrics.entry(row["run"].as_u64().unwrap()).or_default().push((row, samples));
    }
    let runs = rows("SELECT * FROM runs ORDER BY id");
    assert_eq!(runs.len(), made.len());
    for (mut row, source) in runs.into_iter().zip(&made) {
        for name in ["started_at", "finished_at"] {
            let time = row[name].as_str().unwrap().replace("+00:00", "Z");
            row[name] = json!(time);
        }
        let metrics = metrics.remove(&row["id"].as_u64().unwrap()).unwrap_or_default();
        // No text of PostgreSQL has a NUL; those inside JSON stay.
        let text = |text: &mut String| *text = text.replace('\0', "\u{FFFD}");
        let mut source = source.clone();
        text(&mut source.metadata.case_name);
        text(&mut source.metadata.target);
        text(&mut source.source.spec_path);
        for metric in &mut source.metrics {
            text(&mut metric.name);
            [&mut metric.unit, &mut metric.reason, &mut metric.source.selector].into_iter().flatten().for_each(text);
        }
        assert_eq!(rebuilt(&row, metrics), source);
    }
    // All or nothing: a second time the tables are there.
    let again = server_psql(&server.programs)
        .args(["-X", "-q", "-h"])
        .arg(server.place.path())
        .args(["-U", "test", "-d", "postgres", "-f"])
        .arg(&script)
        .output()
        .unwrap();
    assert!(!again.status.success());
    assert_eq!(server.psql(&["-At", "-c", "SELECT count(*) FROM runs"]).trim(), made.len().to_string());
}

#[test]
fn oracle_sqlite3_reads_the_database() {
    let Some(sqlite3) = oracle("oracle_sqlite3_reads_the_database", "sqlite3") else { return };
    let (folder, made) = folder(hostile());
    let database = export(&folder, "sqlite");
    let ask = |sql: &str| asked(Command::new(&sqlite3).arg(&database).arg(sql)).trim().to_owned();
    assert_eq!(ask("PRAGMA integrity_check"), "ok");
    assert_eq!(ask("PRAGMA foreign_key_check"), "");
    assert_eq!(
        ask("SELECT count(*), min(value) = -1e308 FROM runs JOIN metrics ON run = runs.id"),
        format!("{}|1", made.iter().map(|made| made.metrics.len()).sum::<usize>())
    );
    assert_eq!(ask("SELECT json_extract(params, '$.deep.list[0]') FROM runs LIMIT 1"), "1");
}

/// Compares the rows of Parquet and of CSV with those of JSON lines, field by field.
const COMPARE: &str = r#"
import csv, datetime, json, math, sys
import pandas, pyarrow, pyarrow.parquet
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
JSON = set(sys.argv[4].split(","))
table = pyarrow.parquet.read_table(sys.argv[2])
read = table.to_pylist()
assert len(read) == len(rows), (len(read), len(rows))
for row, other in zip(rows, read):
    assert row.keys() == other.keys(), row.keys() ^ other.keys()
    for name, wanted in row.items():
        found = other[name]
        if name in JSON:
            found = None if found is None else json.loads(found)
        if isinstance(found, datetime.datetime):
            fraction = f".{found.microsecond // 1000:03d}" if found.microsecond else ""
            found = found.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"
        assert found == wanted and type(found) == type(wanted), (name, found, wanted)
types = {field.name: str(field.type) for field in table.schema}
assert types["started_at"] == "timestamp[ms, tz=UTC]" and types["value"] == "double" and types["warmup"] == "bool", types
assert types["n"] == "int64" and types["params"] == "string" and types["samples"].startswith("list<"), types
frame = pandas.read_parquet(sys.argv[2])
assert len(frame) == len(rows) and str(frame["started_at"].dtype).startswith("datetime64[ms, UTC"), frame.dtypes
with open(sys.argv[3], encoding="utf-8", newline="") as text:
    records = list(csv.DictReader(text))
assert len(records) == len(rows)
for row, other in zip(rows, records):
    for name, found in other.items():
        wanted = row[name]
        if name in JSON:
            found = None if found == "" else json.loads(found)
        elif isinstance(wanted, bool):
            found = {"true": True, "false": False}[found]
        elif isinstance(wanted, (int, float)):
            found = type(wanted)(found)
        elif wanted is None:
            found = found or None
        if isinstance(wanted, str):
            wanted = wanted.replace("\0", "\ufffd")
        assert found == wanted, (name, found, wanted)
frame = pandas.read_csv(sys.argv[3], float_precision="round_trip", keep_default_na=False, na_values={"value": [""]})
values = [row["value"] for row in rows]
assert all(a == b or (b is None and math.isnan(a)) for a, b in zip(frame["value"], values)), "pandas reads other values from CSV"
print(len(rows))
"#;

fn json_columns() -> String {
    use kubebench_results::export::column::{METRIC, RUN, Type};
    let run = RUN.iter().map(|column| (column.name, column.of));
    let all = run.chain(METRIC.iter().map(|column| (column.name, column.of)));
    all.filter(|(_, of)| *of == Type::Json).map(|(name, _)| name).collect::<Vec<_>>().join(",")
}

#[test]
fn oracle_pandas_and_pyarrow_read_every_field() {
    let test = "oracle_pandas_and_pyarrow_read_every_field";
    let Some(python) = python_with(test, PYTHON, "pandas, pyarrow") else { return };
    let (folder, _) = folder(hostile().into_iter().chain([real()]));
    let [rows, parquet, csv] = ["jsonl", "parquet", "csv"].map(|format| export(&folder, format));
    let printed = asked(Command::new(&python).args(["-c", COMPARE]).args([&rows, &parquet, &csv]).arg(json_columns()));
    assert_eq!(printed.trim(), super::made::rows(&folder).len().to_string());
}

/// Answers every request with the text at `path`, as OpenMetrics.
fn serve(path: PathBuf) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let body = fs::read(&path).unwrap();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    port
}

fn query(port: u16, query: &str) -> Vec<Value> {
    let url = format!("http://127.0.0.1:{port}/api/v1/query?query={query}");
    let answer = kubebench_host::http::get(&url).unwrap_or_default();
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    answer["data"]["result"].as_array().cloned().unwrap_or_default()
}

#[test]
fn oracle_prometheus_scrapes_every_gauge() {
    let Some(prometheus) = oracle("oracle_prometheus_scrapes_every_gauge", "prometheus") else { return };
    let (folder, _) = folder(hostile().into_iter().chain([real()]));
    let text = export(&folder, "openmetrics");
    let exporter = serve(text.clone());
    let port = free_port();
    folder.write(
        "p/prometheus.yml",
        format!("global: {{scrape_interval: 500ms, scrape_timeout: 500ms}}\nscrape_configs: [{{job_name: kubebench, static_configs: [{{targets: ['127.0.0.1:{exporter}']}}]}}]\n"),
    );
    let server = Command::new(prometheus)
        .current_dir(folder.path().join("p"))
        .args([
            "--config.file=prometheus.yml",
            "--storage.tsdb.path=data",
            &format!("--web.listen-address=127.0.0.1:{port}"),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _server = Ended(server.unwrap());
    let found = wait_for("the scrape", || {
        let up = query(port, "up");
        up.first().map(|up| up["value"][1].clone())
    });
    assert_eq!(found, "1", "Prometheus refuses the export");
    let text = fs::read_to_string(text).unwrap();
    let samples = text.split('\n').filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wanted: Vec<f64> = samples.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let scraped = query(port, "%7B__name__%3D~%22kubebench_.%2A%22%7D");
    let mut found: Vec<f64> =
        scraped.iter().map(|series| series["value"][1].as_str().unwrap().parse().unwrap()).collect();
    wanted.sort_by(f64::total_cmp);
    found.sort_by(f64::total_cmp);
    assert_eq!(found, wanted);
    let targets: std::collections::BTreeSet<&str> =
        scraped.iter().map(|series| series["metric"]["target"].as_str().unwrap_or_default()).collect();
    // Prometheus takes an empty label for none.
    assert!(super::made::TEXTS.iter().all(|text| targets.contains(text)), "{targets:?}");
}

#[test]
fn oracle_promtool_finds_no_fault() {
    let Some(promtool) = oracle("oracle_promtool_finds_no_fault", "promtool") else { return };
    let (folder, _) = folder(hostile().into_iter().chain([real()]));
    // promtool reads the older text format, which has no type `info`; a scrape reads OpenMetrics.
    let text = fs::read_to_string(export(&folder, "openmetrics")).unwrap();
    let text = text.replace("# TYPE kubebench_session info\n", "# TYPE kubebench_session_info gauge\n");
    let text = text.replace("# HELP kubebench_session ", "# HELP kubebench_session_info ");
    folder.write("metrics.txt", text);
    let input = fs::File::open(folder.path().join("metrics.txt")).unwrap();
    let output = Command::new(promtool).args(["check", "metrics"]).stdin(input).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    // It would have base units alone, where an export does not change values, and takes `_s` in a name for one.
    let faults: Vec<&str> =
        said.lines().filter(|line| !line.contains("base unit") && !line.contains("abbreviated units")).collect();
    assert!(matches!(output.status.code(), Some(0 | 3)) && faults.is_empty(), "{said}");
}

const OPENMETRICS: &str = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(open(sys.argv[1], encoding='utf-8', newline='').read()))
print(sum(len(family.samples) for family in families), sum(family.unit != '' for family in families))
";

/// The reference parser of OpenMetrics, which is stricter than Prometheus.
#[test]
fn oracle_the_reference_parser_reads_openmetrics() {
    let test = "oracle_the_reference_parser_reads_openmetrics";
    let Some(python) = python_with(test, PYTHON, "prometheus_client") else { return };
    let (folder, _) = folder(hostile().into_iter().chain([real()]));
    let path = export(&folder, "openmetrics");
    let text = fs::read_to_string(&path).unwrap();
    let lines = |begin: &str| text.split('\n').filter(|line| line.starts_with(begin)).count();
    let printed = asked(Command::new(&python).args(["-c", OPENMETRICS]).arg(&path));
    assert_eq!(printed.trim(), format!("{} {}", lines("kubebench_"), lines("# UNIT ")));
}

#[test]
fn oracle_benchstat_reads_every_line() {
    let Some(benchstat) = oracle("oracle_benchstat_reads_every_line", "benchstat") else { return };
    // Twenty runs of each of two commits, of which one is slower by a tenth.
    let made = (1..=40).map(|number| {
        let mut made = run(1, number);
        made.source.commit = Some(if number > 20 { "b" } else { "a" }.repeat(40));
        made.metrics.truncate(1);
        let slower = if number > 20 { 0.9 } else { 1.0 };
        made.metrics[0].value = Some((1000.0 + f64::from(number % 20)) * slower);
        made
    });
    let (folder, _) = folder(made);
    let file = export(&folder, "benchfmt");
    let output = Command::new(&benchstat).args(["-col", "commit", "-format", "csv"]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let row = said.lines().find(|line| line.starts_with("Wordpiece/")).unwrap();
    let cells: Vec<&str> = row.split(',').collect();
    assert_eq!((cells[1], cells[3].parse::<f64>().unwrap().round()), ("1009.5", 909.0), "{said}");
    assert!(cells[5] == "-10.00%" && cells[6].contains("n=20"), "{said}");
    // Hostile names are lines to it too: it complains of what it cannot read.
    let (folder, made) = super::made::folder(hostile());
    let file = export(&folder, "benchfmt");
    let output = Command::new(&benchstat).args(["-format", "csv"]).arg(&file).output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    assert!(!complaints.contains("parsing") && !complaints.contains("syntax"), "{complaints}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.matches("target: ").count(), made.len(), "{said}");
}

const MLFLOW: &str = r#"
import json, math, re, sys
import mlflow
client = mlflow.MlflowClient(sys.argv[1])
rows = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
experiments = {e.name: e.experiment_id for e in client.search_experiments()}
assert set(experiments) == {row["benchmark"] for row in rows}, experiments
runs, token = {}, None
while True:
    page = client.search_runs(list(experiments.values()), max_results=1000, page_token=token)
    runs.update({run.data.tags["kubebench.path"]: run for run in page})
    token = page.token
    if not token:
        break
assert set(runs) == {row["path"] for row in rows}
def clean(text):
    return re.sub(r"[^A-Za-z0-9_\-. :]", "_", text)
checked = 0
for row in rows:
    run = runs[row["path"]]
    assert run.info.status == "FINISHED" and run.data.tags["kubebench.benchmark"] == row["benchmark"]
    about = json.loads(run.data.tags["kubebench.metrics"])
    whole = json.loads(run.data.tags["kubebench.run"])
    assert whole["params"] == row["params"] and whole["fingerprint"] == row["fingerprint"]
    [key] = [key for key, of in about.items() if of["metric"] == row["metric"]]
    assert about[key].get("unit") == row["unit"] and about[key]["direction"] == row["direction"]
    if row["value"] is None:
        assert key not in run.data.metrics
        continue
    assert run.data.metrics[key] == row["value"], (key, run.data.metrics[key], row["value"])
    checked += 1
    if row["samples"]:
        history = sorted(client.get_metric_history(run.info.run_id, key + ".samples"), key=lambda m: m.step)
        wanted = row["samples"]
        assert len(history) == len(wanted)
        for found, value in zip(history, wanted):
            assert found.value == value or (value is None and math.isnan(found.value)), (key, found, value)
    values = {text if isinstance(text, str) else json.dumps(text, separators=(",", ":"), ensure_ascii=False) for text in row["params"].values()}
    assert len(run.data.params) == len(values), (run.data.params, values)
print(checked)
"#;

#[test]
fn oracle_an_mlflow_server_shows_every_run() {
    let test = "oracle_an_mlflow_server_shows_every_run";
    let Some(python) = python_with(test, PYTHON, "mlflow, flask, uvicorn") else { return };
    let few = hostile().into_iter().filter(|made| {
        // A file of a tag is read as text: what a line end is there, Python decides.
        !made.metadata.case_name.contains('\r')
    });
    let (folder, _) = folder(few.chain([real()]));
    let [rows, store] = ["jsonl", "mlflow"].map(|format| export(&folder, format));
    let port = free_port();
    let server = Command::new(&python)
        .args(["-m", "mlflow", "server", "--workers", "1", "--port", &port.to_string(), "--backend-store-uri"])
        .arg(&store)
        .current_dir(folder.path())
        .env("MLFLOW_ALLOW_FILE_STORE", "true")
        .env("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")
        .env("DO_NOT_TRACK", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    let server = Group(Ended(server.unwrap()));
    let address = format!("http://127.0.0.1:{port}");
    wait_for("the server", || kubebench_host::http::get(&format!("{address}/health")).ok());
    let printed = asked(Command::new(&python).args(["-c", MLFLOW, &address]).arg(&rows).env("DO_NOT_TRACK", "true"));
    drop(server);
    let values = super::made::rows(&folder).iter().filter(|row| !row["value"].is_null()).count();
    assert_eq!(printed.trim(), values.to_string());
}

/// A process with those that it started.
struct Group(Ended);

impl Drop for Group {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.0.id());
        drop(Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status());
    }
}

/// The results of this repository, which people will export first.
#[test]
fn oracle_the_results_of_this_repository_arrive() {
    let Some(benchstat) = oracle("oracle_the_results_of_this_repository_arrive", "benchstat") else { return };
    let folder = Folder::with::<&str, &str>([]);
    let results = crate::support::project::repository().join("results");
    let file = folder.path().join("all.txt");
    let output =
        folder.run(&["export", "--format", "benchfmt", "--out", file.to_str().unwrap(), results.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said = asked(Command::new(&benchstat).args(["-col", "commit", "-filter", "pkg:wordpiece"]).arg(&file));
    assert!(said.contains("throughput-tokens/s") && said.contains("p=0.000") || said.contains('%'), "{said}");
}
