use proptest::prelude::*;
use serde_json::json;

use super::of;
use crate::schema::format::FORMATS;

/// Good values of the formats: what is tried is near one of them.
const SEEDS: &[&str] = &[
    "1h30m",
    "90s",
    "3650d",
    "10d2h3m4s",
    "3%",
    "2.5%",
    "100%",
    "100.000%",
    "0.000001%",
    "0 3 * * 1",
    "@daily",
    "@every 1h30m",
    "*/5 0-6,22 1,15 JAN-mar ?",
    "2026-01-31",
    "2028-02-29",
    "2026-01-20T00:02:00+02:00",
    "2026-01-20 12:00:00.5Z",
    "v1.4",
    "8c36d19a2f",
    "refs/tags/v1",
    "Etc/UTC",
    "Europe/Berlin",
    "Etc/GMT+5",
    "docker.io/library/python:3.13-slim",
    "localhost:5000/a/b",
    "[::1]:5000/a",
    "team/image@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb",
    "a__b/c-d.e:V1",
    "mirror.example/docker",
    "500m",
    "32Gi",
    "1e3",
    "+.5",
    "1.5E",
    "0",
    "hf-token",
    "a.b-c.d",
    "ml-benchmarks",
    "resnet50-ddp",
    "NCCL_DEBUG",
    ".profile",
    "_",
    "ca.crt",
    "..data",
    "batchSize",
    "team",
    "node.kubernetes.io/instance-type",
    "p5.48xlarge",
    "cpu",
    "memory",
    "nvidia.com/gpu",
    "hugepages-2Mi",
    "requests",
    "limits",
    "currency",
    "requests.kubernetes.io/x",
    "why it is so",
    "metadata.name",
    "metadata.labels['team']",
    "status.podIPs",
    "exclusive",
    "unlimited",
    "10000",
    "auto",
    "gpu",
    "images/s",
    "read_iops@4k:x/y",
    "step (?P<step>[0-9]+) loss (?P<value>\\S+)",
    "(?<value>x)",
    "out/metrics.json",
    "a",
    "...",
    "/train/steps/0",
    "/a~1b",
    "",
    "sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb",
    "http://prometheus.monitoring:9090/x?y=z",
    "https://benchmarks.example/ml/%20",
    "hf://org/name",
    "s3a://bucket",
    "git@git.example:team/b.git",
    "https://git.example/team/benchmarks.git",
    "ssh://git@host:22/x#y",
    "file:///srv/b",
    "/srv/b",
    "git+ssh://u@h",
    "kubebench/results",
    "main",
    "refs/kubebench/inbox",
    "a@b",
    "KB0401",
    ">=0.1, <0.2",
    "~1.2.3-beta.1+5",
    "*",
    "1.x",
    "=1",
];

fn matches(pattern: &jsonschema::Validator, text: &str) -> bool {
    pattern.is_valid(&json!(text))
}

fn compiled(name: &str) -> jsonschema::Validator {
    let pattern = of(name).unwrap_or_else(|| panic!("{name} has no grammar"));
    jsonschema::draft7::new(&json!({"pattern": pattern})).unwrap()
}

/// Checks that the pattern of each format takes each of the texts that its check takes.
#[track_caller]
fn check(texts: &[&str]) {
    for format in FORMATS {
        let pattern = compiled(format.name);
        for text in texts.iter().filter(|text| (format.check)(text).is_ok()) {
            assert!(matches(&pattern, text), "{}: {text:?} is refused by {:?}", format.name, of(format.name));
        }
    }
}

#[test]
fn seeds_are_taken_and_each_format_has_some() {
    check(SEEDS);
    for format in FORMATS {
        assert!(SEEDS.iter().any(|seed| (format.check)(seed).is_ok()), "{}", format.name);
    }
}

#[test]
fn what_the_judges_of_kubernetes_and_docker_were_asked_is_taken() {
    for vectors in [
        include_str!("../../../../syntax/src/unit/testdata/cron.tsv"),
        include_str!("../../../../syntax/src/unit/testdata/image.tsv"),
        include_str!("../../../../syntax/src/unit/testdata/name.tsv"),
        include_str!("../../../../syntax/src/unit/testdata/quantity.tsv"),
    ] {
        let lines = vectors.lines().filter(|line| !line.starts_with('#'));
        check(&lines.filter_map(|line| line.split('\t').next()).collect::<Vec<&str>>());
    }
}

#[test]
fn editors_understand_the_patterns() {
    for format in FORMATS {
        let pattern = of(format.name).unwrap();
        // Look-behind is new, classes by letters differ between readers, and Unicode mode refuses needless escapes.
        for odd in ["(?<=", "(?<!", r"\d", r"\w", r"\s", r"\-", "(?P", "(?i", r"\h"] {
            let is_literal = format.name == "metric-pattern" && odd == "(?P";
            assert!(!pattern.contains(odd) || is_literal, "{}: {odd} in {pattern}", format.name);
        }
    }
}

/// What the patterns are for: mistakes that people make.
#[test]
fn mistakes_are_refused() {
    for (name, wrong) in [
        ("duration", &["60 minutes", "1.5h", "3600", "1h1h", "0s", "2H", "-1h", ""][..]),
        ("percentage", &["3", "0.05", "3 %", "0%", "101%", "-3%"]),
        ("cron", &["0 3 * * * *", "61 3 * * *", "0 24 * * *", "0 3 * * 7", "@dayly", "0 3 * *", "5- * * * *"]),
        ("day", &["2026-13-01", "2026-02-30", "31.01.2026", "2026-1-1"]),
        ("timezone", &["Berlin", "europe/berlin", "CEST"]),
        (
            "image",
            &["Train:1.4.0", "train:{{ .Values.tag }}", "a b", "a/b@sha256:abc", "https://a/b", "a/B:1", "a:b:c"],
        ),
        ("quantity", &["32GB", "1.5.3", "-1", "8 Gi", "32gi", "many"]),
        ("dns1123-label", &["resnet_50", "Bench", "-a", "a-"]),
        ("benchmark-name", &["resnet_50", "50resnet", "Resnet", "a23456789012345678901234567890123"]),
        ("env-name", &["1A", "A B", "..x", "A=B"]),
        ("label-key", &["a b", "/x", "a/b/c", "-x"]),
        ("resource-name", &["gpu", "mem", "nvidia.com/", "requests.nvidia.com/gpu"]),
        ("parameter-name", &["batch size", "1x", "a.b"]),
        ("metric-pattern", &["loss: (\\S+)", "(?P<val>x)"]),
        ("relative-path", &["/x", "../x", "a//b", "a/", "./a", ""]),
        ("json-pointer", &["$.train.loss", "train/loss", "/a~2"]),
        ("sha256", &["abc", "SHA256:00"]),
        ("http-url", &["prometheus:9090", "ftp://x", "http://u:p@host"]),
        ("storage-uri", &["bucket/x", "s3:/x", "://x"]),
        ("git-branch", &["a b", "refs/heads/x", "-x", "a..b", "x.lock"]),
        ("git-remote", &["ext::sh -c x", "https://u:p@h/x", "foo://x", " x"]),
        ("lint-code", &["KB0101", "KB9999", "kb0401"]),
        ("version-requirement", &["new", "0.1 - 0.2", ">>1"]),
        ("concurrency", &["0", "many", "10001"]),
        ("metric-name", &["images/sec (avg)", "", "-x"]),
        ("pod-field", &["metadata.labels", "spec.node", "status.podip"]),
    ] {
        let pattern = compiled(name);
        for text in wrong {
            assert!(!matches(&pattern, text), "{name}: {text:?} is taken by {:?}", of(name));
        }
    }
}

/// A text near a seed: letters deleted, inserted, replaced or doubled.
fn near() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        "[a-zA-Z0-9]".prop_map(|text| text.chars().next().unwrap_or('a')),
        prop::sample::select(" .:/@-_~%+*?[](){}<>\\#$=,;'\"\u{e4}\u{a0}\n\t".chars().collect::<Vec<char>>()),
    ];
    let edit = (any::<prop::sample::Index>(), 0..4_u8, letter);
    (prop::sample::select(SEEDS), prop::collection::vec(edit, 0..4)).prop_map(|(seed, edits)| {
        let mut letters: Vec<char> = seed.chars().collect();
        for (at, kind, letter) in edits {
            let at = at.index(letters.len() + 1);
            match kind {
                0 => letters.insert(at, letter),
                1 if at < letters.len() => drop(letters.remove(at)),
                2 if at < letters.len() => letters[at] = letter,
                _ => letters.extend(letters.clone().into_iter().skip(at)),
            }
        }
        letters.into_iter().collect()
    })
}

#[test]
fn what_a_check_takes_its_pattern_takes() {
    let patterns: Vec<_> = FORMATS.iter().map(|format| (format, compiled(format.name))).collect();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 6_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&near(), |text| {
            for (format, pattern) in &patterns {
                prop_assert!((format.check)(&text).is_err() || matches(pattern, &text), "{}: {text:?}", format.name);
            }
            Ok(())
        })
        .unwrap();
}
