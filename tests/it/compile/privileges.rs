//! What a benchmark may do beyond a plain one: `compile` counts it, `plan` shows it, and nothing fails for it.

use kubebench_testing::snapshot::{assert_line, assert_text, str};

use crate::support::project::Folder;

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: team}\nspec: {targets: {lab: {podSecurity: privileged}}}\n";
const SPEC: &str = "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: rdma}
spec:
  timeout: 1h
  workload: {job: {image: 'registry.example/a:1', resources: {cpu: 1, memory: 1Gi}, pod: {hostNetwork: true}}}
  metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]
";

#[test]
fn what_is_allowed_is_counted_and_shown_and_fails_nothing() {
    let folder = Folder::with([("kubebench.yaml", PROJECT), ("specs/rdma.yaml", SPEC)]);
    let said = |arguments: &[&str]| {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?} {}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let [out, error] = said(&["compile", "--deny-warnings"]);
    assert_text(out, str! {""});
    assert_line(error, str! {"1 finding of level info; `kubebench plan` shows them"});
    let [out, _] = said(&["plan", "--deny-warnings"]);
    assert_line(&out, str! {"permissions beyond those of a plain benchmark:"});
    assert_line(&out, str! {"  podSecurity  rdma on lab  specs/rdma.yaml:6:91  `hostNetwork: true`"});
    let [out, _] = said(&["compile", "--check", "--output-format", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&out).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some("KB0419"), Some("note")), "{result:#}");
}
