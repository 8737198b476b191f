//! `results.ca`: which steps have the certificates, and what is wrong with them.

use kubebench_testing::snapshot::{assert_findings, str};
use serde_json::{Value as Json, json};

use crate::compiled::{compile, compile_sound, errors_at, objects};

const SPEC: &str = "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: a}
spec:
  timeout: 1h
  workload: {job: {image: 'registry.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}}}
  metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]
";
const SUITE: &str = "apiVersion: kubebench.dev/v1
kind: Suite
metadata: {name: nightly}
spec: {benchmarks: [a]}
";

fn project(results: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{results: {{remote: 'https://git.example/a.git'{results}}}}}\n"
    )
}

/// The WorkflowTemplates of benchmarks and of suites.
fn templates(results: &str) -> Vec<Json> {
    let project = project(results);
    let files = [("kubebench.yaml", project.as_str()), ("specs/a.yaml", SPEC), ("specs/nightly.yaml", SUITE)];
    let all = objects(&compile_sound(&files)).into_iter().map(|emitted| emitted.object);
    all.filter(|object| object["kind"] == "WorkflowTemplate").collect()
}

fn volume(template: &Json) -> Option<&Json> {
    template["spec"]["volumes"].as_array().unwrap().iter().find(|volume| volume["name"] == "ca")
}

/// The steps that mount the certificates; each has the variable, and no other step has it.
fn steps(template: &Json) -> Vec<&str> {
    let mut found = Vec::new();
    for step in template["spec"]["templates"].as_array().unwrap() {
        let container = &step["container"];
        let of = |list: &str| container[list].as_array().cloned().unwrap_or_default();
        let mount = of("volumeMounts").into_iter().find(|mount| mount["name"] == "ca");
        let variable = of("env").into_iter().find(|variable| variable["name"] == "KUBEBENCH_CA_FILE");
        assert_eq!(mount.is_some(), variable.is_some(), "{step:#}");
        let Some(mount) = mount else { continue };
        assert_eq!(mount, json!({"name": "ca", "mountPath": "/kubebench/ca", "readOnly": true}));
        assert_eq!(variable.unwrap()["value"], "/kubebench/ca/ca.crt");
        found.push(step["name"].as_str().unwrap());
    }
    found
}

#[test]
fn the_steps_that_ask_servers_have_the_certificates_and_nothing_else() {
    let config_map = templates(", ca: {configMap: corporate-ca}");
    let secret = templates(", ca: {secret: corporate-ca, key: bundle.pem}");
    let items = |key: &str| json!([{"key": key, "path": "ca.crt"}]);
    let of_config_map = json!({"name": "corporate-ca", "optional": true, "items": items("ca.crt")});
    let of_secret = json!({"secretName": "corporate-ca", "optional": true, "items": items("bundle.pem")});
    for (templates, wanted) in [
        (config_map, json!({"name": "ca", "configMap": of_config_map})),
        (secret, json!({"name": "ca", "secret": of_secret})),
    ] {
        assert_eq!(templates.len(), 2, "that of benchmarks, and that of suites");
        for template in &templates {
            assert_eq!(volume(template), Some(&wanted));
            assert_eq!(steps(template), ["run", "cleanup", "record"]);
        }
    }
}

#[test]
fn without_authorities_nothing_is_mounted() {
    for template in templates("") {
        assert_eq!((volume(&template), steps(&template)), (None, Vec::new()));
    }
}

#[test]
fn one_object_that_others_may_read_is_named() {
    let found = |ca: &str| {
        let project = project(ca);
        errors_at(&compile(&[("kubebench.yaml", &project), ("specs/a.yaml", SPEC)]))
    };
    assert_findings(&found(", ca: {}"), &[("KB0207 at {}", str! {"`ca` names no object"})]);
    assert_findings(&found(", ca: {key: ca.crt}"), &[("KB0207 at {key: ca.crt}", str! {"`ca` names no object"})]);
    assert_findings(
        &found(", ca: {configMap: a, secret: b}"),
        &[("KB0207 at secret", str! {"`ca` holds `configMap` and `secret`, but takes exactly one"})],
    );
    for misspelled in ["{configMap: A_B}", "{configMap: a, key: ../x}", "{configMap: a, key: ''}", "{secret: '{{x}}'}"]
    {
        let found = found(&format!(", ca: {misspelled}"));
        assert!(
            !found.is_empty() && found.iter().all(|(at, _)| at.starts_with("KB0205 at ")),
            "{misspelled}: {found:?}"
        );
    }
    assert_findings(
        &found(", ca: {secret: kubebench-git}"),
        &[(
            "KB0372 at kubebench-git",
            str! {"only the recorder may read the Secret `kubebench-git`, but other steps read `ca`"},
        )],
    );
    assert_findings(
        &found(", signing: {secret: sign}, ca: {secret: sign, key: ed25519.pem}"),
        &[("KB0372 at sign", str! {"only the recorder may read the Secret `sign`, but other steps read `ca`"})],
    );
    assert_findings(&found(", ca: {configMap: kubebench-git}"), &[]);
}
