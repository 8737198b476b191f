use std::collections::BTreeMap;

use serde_json::json;

use super::ReasonCode;
use super::v1::{BenchmarkResult, Direction, Exit, Kind, Metric, Native, Source, StatusReason};
use super::{Fault, MAX_BYTES, as_written, canonical, content, path, read, seal, thinned};

pub(super) fn result() -> BenchmarkResult {
    serde_json::from_str(include_str!("../../testdata/result.json")).unwrap()
}

fn metric(samples: Vec<Option<f64>>) -> Metric {
    Metric {
        name: "gflops".to_owned(),
        labels: BTreeMap::new(),
        unit: Some("GFLOP/s".to_owned()),
        direction: Direction::Higher,
        kind: Kind::Primary,
        value: Some(40.0),
        aggregation: "last".to_owned(),
        n: samples.len() as u64,
        non_finite: 1,
        samples,
        stats: None,
        source: Source::default(),
        reason: None,
    }
}

#[test]
fn a_sealed_result_reads_back() {
    let sealed = seal(result());
    let again = read(&sealed.bytes).unwrap();
    assert_eq!(again.result, sealed.result);
    assert_eq!(again.bytes, sealed.bytes);
    assert_eq!(seal(again.result).bytes, sealed.bytes, "sealing again changes nothing");
    let text = String::from_utf8(sealed.bytes).unwrap();
    assert!(text.ends_with("}\n") && !text.contains('\r'), "{text}");
    assert!(text.contains("0.1,\n        null,\n        1e+21,\n        40.0"), "{text}");
}

#[test]
fn a_file_as_it_was_written_is_known_by_its_bytes() {
    let sealed = seal(result());
    assert_eq!(as_written(&sealed.bytes).unwrap(), sealed.result);
    for at in (0..sealed.bytes.len()).step_by(7) {
        let mut changed = sealed.bytes.clone();
        changed[at] = changed[at].wrapping_add(1);
        assert!(as_written(&changed).is_none(), "byte {at}");
    }
    let text = String::from_utf8(sealed.bytes.clone()).unwrap();
    for edited in
        [text.replace("\n  \"kind\"", "\n\n  \"kind\""), text.replace('\n', "\r\n"), text.clone() + "\n", String::new()]
    {
        assert!(as_written(edited.as_bytes()).is_none());
    }
    assert!(as_written(&sealed.bytes[..sealed.bytes.len() / 2]).is_none());
    let injected = text.replacen("\",\n  \"environment\"", "\", \"synthetic\": true,\n  \"environment\"", 1);
    assert!(injected != text && as_written(injected.as_bytes()).is_none(), "beside the digest");
}

#[test]
fn every_change_of_content_is_seen() {
    let text = String::from_utf8(seal(result()).bytes).unwrap();
    let edited = text.replace("\"repeat\": 2", "\"repeat\": 3");
    assert!(matches!(read(edited.as_bytes()), Err(Fault::Edited { .. })));
    let compact: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read(compact.to_string().as_bytes()).unwrap_err(), Fault::Reformatted);
    assert!(content(compact.to_string().as_bytes()).is_ok());
    assert_eq!(read(text.replace('\n', "\r\n").as_bytes()).unwrap_err(), Fault::Reformatted);
    let unknown = text.replacen('{', "{\"more\": 1,", 1);
    assert!(matches!(read(unknown.as_bytes()), Err(Fault::Malformed(_))));
    assert!(matches!(
        read(text.replace("\"schemaVersion\": 1", "\"schemaVersion\": 2").as_bytes()),
        Err(Fault::UnknownVersion(_))
    ));
    assert_eq!(read(b"{}").unwrap_err(), Fault::NotAResult);
    assert!(matches!(read(b"{\"kind\": "), Err(Fault::NotJson(_))));
    assert!(matches!(read(b""), Err(Fault::NotJson(_))));
}

#[test]
fn the_place_follows_from_the_content() {
    let mut result = result();
    assert_eq!(path(&result), "matmul/size-256-0a1b2c3d/20260102T030405Z-01234567-r2-a1.json");
    result.run.warmup = true;
    assert_eq!(path(&result), "matmul/size-256-0a1b2c3d/20260102T030405Z-01234567-w2-a1.json");
    result.run.started_at = "2026-01-02T03:04:05.678Z".to_owned();
    assert_eq!(path(&result), "matmul/size-256-0a1b2c3d/20260102T030405Z-01234567-w2-a1.json");
}

#[test]
fn a_time_is_to_the_second_or_to_the_millisecond() {
    let judged = |time: &str| {
        let mut result = result();
        time.clone_into(&mut result.run.started_at);
        read(&seal(result).bytes).map(|_| ())
    };
    for time in ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.000Z"] {
        assert_eq!(judged(time), Ok(()), "{time}");
    }
    for time in [
        "2026-01-02T03:04:05.6Z",
        "2026-01-02T03:04:05.6789Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05.abcZ",
        "2026-01-02T03:04:05.678",
    ] {
        assert!(judged(time).is_err(), "{time}");
    }
}

#[test]
fn no_content_leads_out_of_the_results_folder() {
    type Set = fn(&mut BenchmarkResult, &str);
    let long = "a".repeat(32);
    let hostile: [(&str, Set, &[&str]); 4] = [
        (
            "metadata.benchmark",
            |result, text| result.metadata.benchmark = text.to_owned(),
            &["", ".", "..", "../..", "/etc", "a/b", "a\\b", "A", "-a", "a-", "1a", "a\0", "a\n", "é", &long],
        ),
        (
            "metadata.case",
            |result, text| result.metadata.case = text.to_owned(),
            &["", "..", "../../x", "a/../../b", ".git", "C:", "a.b", "a-"],
        ),
        (
            "run.id",
            |result, text| result.run.id = text.to_owned(),
            &[
                "",
                "../../..",
                "0123456789ABCDEF0123456789abcdef",
                "0123456789abcdef0123456789abcde",
                "../3456789abcdef0123456789abcdef",
            ],
        ),
        (
            "run.startedAt",
            |result, text| result.run.started_at = text.to_owned(),
            &[
                "",
                "2026-01-02",
                "../../../../../etcZ",
                "2026-01-02T03:04:05+1",
                "2026-01-02T03:04:05.5Z",
                "2026/01/02T03:04:05Z",
            ],
        ),
    ];
    for (field, set, values) in hostile {
        for value in values {
            let mut result = result();
            set(&mut result, value);
            // The digest is right: the author of this file knew how to compute it.
            let Err(Fault::Malformed(reason)) = content(&seal(result).bytes) else { panic!("{field} {value:?}") };
            assert!(reason.contains(field), "{reason}");
            assert!(!reason.contains(char::is_control), "{reason}");
        }
    }
}

#[test]
fn keys_are_sorted_at_every_depth() {
    let bytes = canonical(&json!({"b": {"z": 1, "a": [{"d": 1, "c": 2}]}, "a": 1.5}));
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text,
        "{\n  \"a\": 1.5,\n  \"b\": {\n    \"a\": [\n      {\n        \"c\": 2,\n        \"d\": 1\n      }\n    ],\n    \"z\": 1\n  }\n}\n"
    );
}

#[test]
fn floats_read_back_the_same() {
    for value in [0.1, 1e-7, 5e-324, f64::MAX, 123_456_789.123_456_79, 1e21, 2.0_f64.powi(60)] {
        let text = canonical(&json!(value));
        let again: f64 = serde_json::from_slice(&text).unwrap();
        assert_eq!(again.to_bits(), value.to_bits(), "{value}");
    }
}

#[test]
fn a_file_fits_its_limit() {
    let mut large = result();
    let long = |count: u32| (0..count).map(|index| Some(f64::from(index) / 7.0)).collect();
    large.metrics = vec![metric(long(30_000)); 12];
    for (number, metric) in large.metrics.iter_mut().enumerate() {
        metric.labels.insert("part".to_owned(), number.to_string());
    }
    let text = Some("x".repeat(300_000));
    large.native = BTreeMap::from([("fio".to_owned(), Native { artifact: "fio.json".to_owned(), text })]);
    let sealed = seal(large);
    assert!(sealed.bytes.len() <= MAX_BYTES);
    let kept = &sealed.result.metrics[0];
    assert!(kept.samples.len() > 1000 && kept.n == 30_000, "{}", kept.samples.len());
    assert_eq!(kept.samples.last(), Some(&Some(29_999.0 / 7.0)));
    assert!(read(&sealed.bytes).is_ok());
}

#[test]
fn thinning_is_even() {
    let all: Vec<u32> = (0..100).collect();
    assert_eq!(thinned(&all, 4), [0, 33, 66, 99]);
    assert_eq!(thinned(&all, 1), [0]);
    assert_eq!(thinned(&all, 0), [0; 0]);
    assert_eq!(thinned(&all, 100), all);
}

#[test]
fn a_file_fits_its_limit_whatever_it_holds() {
    let exit = |index: u32| Exit {
        role: "worker".to_owned(),
        index,
        code: Some(i32::from(index > 2)),
        signal: None,
        last_lines: vec!["x".repeat(200); 20],
    };
    let mut lines = result();
    lines.run.exits = (0..300).map(exit).collect();
    let sealed = seal(lines);
    assert!(read(&sealed.bytes).is_ok());
    let kept = sealed.result.run.exits.iter().filter(|exit| !exit.last_lines.is_empty()).map(|exit| exit.index);
    assert_eq!(kept.collect::<Vec<_>>(), (3..11).collect::<Vec<_>>(), "the first that failed");
    assert!(!sealed.result.metrics[0].samples.is_empty() && sealed.result.run.reasons.is_empty());

    let mut reasons = result();
    let reason = StatusReason { code: ReasonCode::ExitCode, message: "é".repeat(3_000) };
    reasons.run.reasons = vec![reason; 200];
    let sealed = seal(reasons);
    assert!(read(&sealed.bytes).is_ok());
    let last = sealed.result.run.reasons.last().unwrap();
    assert_eq!(last.message, "180 reasons were left out: the result would exceed the size limit");

    let mut labels = result();
    let labeled = |index: u32| {
        let labels = BTreeMap::from([("op".to_owned(), format!("{index:0200}"))]);
        Metric { labels, ..metric(Vec::new()) }
    };
    labels.metrics.extend((0..3_000).map(labeled));
    let sealed = seal(labels);
    assert!(read(&sealed.bytes).is_ok());
    assert!(sealed.result.metrics[0].labels.is_empty() && sealed.result.metrics.len() > 500);
    let left_out = 3_001 - sealed.result.metrics.len();
    let said: Vec<&str> = sealed.result.run.reasons.iter().map(|reason| reason.message.as_str()).collect();
    assert!(said.len() == 1 && said[0].starts_with(&format!("{left_out} metrics with labels")), "{said:?}");

    assert_eq!(read(&vec![b' '; MAX_BYTES + 1]).unwrap_err(), Fault::TooLarge);
}

#[test]
fn names_of_neighbors_lose_secrets() {
    let mut made = result();
    let neighbor = |pod: &str, benchmark: Option<&str>| super::v1::Neighbor {
        pod: pod.to_owned(),
        benchmark: benchmark.map(str::to_owned),
        run: benchmark.map(|benchmark| format!("{benchmark}-0a1b2c3d")),
        since: None,
    };
    made.environment.neighbors =
        vec![neighbor("hunter2hunter2-0", Some("hunter2hunter2")), neighbor("web-1", Some("web"))];
    super::redact(&mut made, &kubebench_syntax::redact::Redactor::new(["hunter2hunter2"]));
    let text = serde_json::to_string(&made.environment.neighbors).unwrap();
    assert!(
        !text.contains("hunter2") && text.contains(r#"{"pod":"web-1","benchmark":"web","run":"web-0a1b2c3d"}"#),
        "{text}"
    );
}

#[test]
fn names_lose_tokens_and_keep_what_only_a_variable_holds() {
    let mut made = result();
    let token = ["gh", "p_0123456789abcdefghijklmnop"].concat();
    made.metrics[0].name = format!("{token}/loss");
    made.metrics.extend((0..3).map(|_| metric(vec![Some(1.0)])));
    made.metrics[1].name = format!("{token}1/loss");
    made.metrics[2].name = "Sign/token=short".to_owned();
    super::redact(&mut made, &kubebench_syntax::redact::Redactor::new(["gflops"]));
    let names: Vec<&str> = made.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["[redacted]/loss", "[redacted]/loss#2", "Sign/token=short", "gflops"]);
}

#[test]
fn artifacts_of_metrics_are_never_left_out() {
    let mut large = result();
    large.metrics[0].source.artifact = Some("z/result.json".to_owned());
    let names = (0..20_000).map(|index| format!("file-{index}")).chain(["z/result.json".to_owned()]);
    let digest = format!("sha256:{}", "0".repeat(64));
    let artifact =
        |name| super::v1::Artifact { name, digest: digest.clone(), bytes: 1, redacted: false, dropped_bytes: 0 };
    large.artifacts = names.map(artifact).collect();
    let sealed = seal(large);
    assert!(sealed.bytes.len() <= MAX_BYTES);
    assert_eq!(sealed.result.artifacts.len(), 1000);
    assert_eq!(sealed.result.artifacts.last().unwrap().name, "z/result.json");
}

/// Which of the values was measured is unknown, and a median of both is neither.
#[test]
fn a_series_has_one_value() {
    let twice = |change: &dyn Fn(&mut BenchmarkResult)| {
        let mut made = result();
        let again = made.metrics[0].clone();
        made.metrics.push(again);
        change(&mut made);
        seal(made).bytes
    };
    let name = result().metrics[0].name.clone();
    let bytes = twice(&|_| ());
    let said = format!("`metrics` holds `{name}` twice, but a run has one value of each series");
    assert_eq!(read(&bytes).unwrap_err(), Fault::Malformed(said));
    assert!(as_written(&bytes).is_none());
    let relabelled = twice(&|made| {
        made.metrics.last_mut().unwrap().labels.insert("part".to_owned(), "b".to_owned());
    });
    assert!(read(&relabelled).is_ok() && as_written(&relabelled).is_some());
    let invalid = twice(&|made| {
        made.run.status = super::v1::Status::Invalid;
        let message = "two rules bring it".to_owned();
        made.run.reasons.push(StatusReason { code: ReasonCode::MetricCollision, message });
    });
    assert!(read(&invalid).is_ok() && as_written(&invalid).is_some(), "the run says it itself");
}
