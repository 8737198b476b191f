//! Results that the last step signs, before and after its key was exchanged.

use kubebench_testing::keys;
use serde_json::json;

use super::{Loop, Settings};
use crate::support::project::assert_yes;

/// What openssl writes, on one line of YAML.
fn public(number: usize) -> String {
    keys::public(number).replace('\n', "\\n")
}

/// `results` of a project whose recorder signs, with these two keys.
pub(in crate::cluster) fn signing() -> String {
    let keys = [0, 1].map(|number| format!("{{name: key-{number}, publicKey: \"{}\"}}", public(number))).join(", ");
    format!("mode: branch, requireSigned: true, signing: {{secret: kubebench-signing}}, keys: [{keys}]")
}

/// Puts the key of this number where the recorder reads it, as docs/how-to/sign-results.md says.
pub(in crate::cluster) fn exchange(cycle: &Loop, number: usize) {
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "kubebench-signing", "namespace": cycle.namespace("test")},
        "stringData": {"ed25519.pem": keys::private(number)},
    });
    cycle.project().folder.write("secret.json", secret.to_string());
    cycle.cluster().say(["apply", "-f", &cycle.project().place("secret.json")]);
}

fn benchmark(value: u32) -> String {
    format!(
        "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: signed}}
spec:
  timeout: 5m
  workload:
    job: {{image: busybox:1, command: [sh, -c, 'echo rate {value} x/s'], resources: {{cpu: 10m, memory: 32Mi}}}}
  metrics:
    - {{name: rate, unit: x/s, better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\\S+) x/s'}}}}}}
"
    )
}

/// Argo takes it for each Workflow of the namespace that names no other: it sends the logs of all pods where this says, with these Secrets.
fn lead_artifacts_astray(cycle: &Loop) {
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "artifact-repositories",
            "namespace": cycle.namespace("test"),
            "annotations": {"workflows.argoproj.io/default-artifact-repository": "x"},
        },
        "data": {"x": "archiveLogs: true\nartifactory:\n  repoURL: http://10.96.0.20:1/elsewhere\n  usernameSecret: {name: kubebench-signing, key: ed25519.pem}\n  passwordSecret: {name: kubebench-signing, key: ed25519.pem}\n"},
    });
    cycle.project().folder.write("repositories.json", map.to_string());
    cycle.cluster().say(["apply", "-f", &cycle.project().place("repositories.json")]);
}

#[test]
fn results_are_signed_by_the_key_of_their_day() {
    const NAME: &str = "results_are_signed_by_the_key_of_their_day";
    let results = signing();
    let project = Settings { results: &results, ..Settings::of("signed") }.text();
    let first = benchmark(5);
    let files = [("kubebench.yaml", project.as_str()), ("specs/signed.yaml", first.as_str())];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    exchange(&cycle, 0);
    lead_artifacts_astray(&cycle);
    cycle.apply();
    cycle.ends("test", "signed", "Succeeded");
    exchange(&cycle, 1);
    cycle.change("specs/signed.yaml", &benchmark(6));
    cycle.apply();
    cycle.ends("test", "signed", "Succeeded");

    let folder = &cycle.project().folder;
    let gated = folder.run(&["gate", "--fetch", "--output-format", "json"]);
    let answer: serde_json::Value = serde_json::from_slice(&gated.stdout).unwrap();
    let counts = json!({"signed": {"key-0": 1, "key-1": 1}, "unsigned": 0, "invalid": 0, "notCounted": 0});
    assert_eq!(answer["signatures"], counts, "{answer:#}");
    let verified = folder.run(&["verify", "--output-format", "json"]);
    assert_yes(&verified);
    let answer: serde_json::Value = serde_json::from_slice(&verified.stdout).unwrap();
    let known = answer["results"].as_array().unwrap();
    assert_eq!(known.len(), 2, "{answer:#}");
    assert!(known.iter().all(|of| of["signature"] == "signed" && of["separated"] == true), "{answer:#}");
}
