//! A server by KServe, which makes a Deployment and a Service of it, and the Service leads to its pods alone.

use serde_json::{Value, json};

use super::super::cluster_with;
use super::{Loop, Settings};

const SERVED: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: kserved}
spec:
  timeout: 4m
  matrix: {axes: {rate: [1, 2]}}
  workload:
    inferenceService:
      predictor:
        image: busybox:1
        replicas: 2
        resources: {cpu: 10m, memory: 32Mi}
        pod: {terminationGracePeriodSeconds: 1}
        container:
          ports: [{containerPort: 8080, protocol: TCP}]
          readinessProbe: {httpGet: {path: /v2/health/ready, port: 8080}, periodSeconds: 1}
        command: [sh, -ec, 'mkdir -p /tmp/www/v2/health; touch /tmp/www/v2/health/ready; echo "$HOSTNAME" > /tmp/www/name; exec busybox httpd -f -p 8080 -h /tmp/www']
      protocol: v2
      load:
        image: busybox:1
        resources: {cpu: 10m, memory: 32Mi}
        env: {RATE: '${{ matrix.rate }}'}
        command: [sh, -ec, 'said=$(wget -q -O - "$KUBEBENCH_ENDPOINT/name"); case $said in kserved-*-predictor-*) echo "rate $RATE x/s";; esac']
  metrics: [{name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: load}}}]
  checks: [{metric: rate, finite: true}]
"#;

/// The same as an object of the user's own.
const GIVEN: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: given}
spec:
  timeout: 4m
  workload:
    manifest:
      object:
        apiVersion: serving.kserve.io/v1beta1
        kind: InferenceService
        metadata:
          name: mine
          annotations: {serving.kserve.io/deploymentMode: Standard}
        spec:
          predictor:
            minReplicas: 1
            terminationGracePeriodSeconds: 1
            securityContext: {runAsUser: 65532, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
            containers:
              - name: kserve-container
                image: busybox:1
                command: [sh, -ec, 'mkdir -p /tmp/www; echo yes > /tmp/www/up; exec busybox httpd -f -p 8080 -h /tmp/www']
                ports: [{containerPort: 8080, protocol: TCP}]
                resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {cpu: 10m, memory: 32Mi}}
                securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
      ready: {path: /up}
      load:
        image: busybox:1
        resources: {cpu: 10m, memory: 32Mi}
        command: [sh, -ec, 'test "$(wget -q -O - "$KUBEBENCH_ENDPOINT/up")" = yes; echo "rate 3 x/s"']
  metrics: [{name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: load}}}]
  checks: [{metric: rate, finite: true}]
"#;

#[test]
fn inference_services_are_loaded() {
    const NAME: &str = "inference_services_are_loaded";
    if cluster_with(NAME, ("kserve", "inferenceservices.serving.kserve.io")).is_none() {
        return;
    }
    let project = Settings::of("kserve").text();
    let files = [("kubebench.yaml", project.as_str()), ("specs/kserved.yaml", SERVED), ("specs/given.yaml", GIVEN)];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    cycle.apply();
    cycle.ends("test", "kserved", "Succeeded");
    cycle.ends("test", "given", "Succeeded");
    let results = cycle.results();
    let kserved = results.of("kserved");
    let rates: Vec<Option<f64>> = kserved.iter().map(|result| result["metrics"][0]["value"].as_f64()).collect();
    assert_eq!(rates, [Some(1.0), Some(2.0)]);
    let of = |field: &str| kserved.iter().map(|result| result["server"][field].clone()).collect::<Vec<_>>();
    assert_eq!(of("kind"), [json!("InferenceService"), json!("InferenceService")]);
    assert_eq!(of("broughtUp"), [json!(true), json!(false)]);
    assert_eq!(of("name").first(), of("name").last());
    assert_eq!(results.of("given")[0]["metrics"][0]["value"], 3.0);
    let left = cycle.cluster().json([
        "-n",
        cycle.namespace("test"),
        "get",
        "inferenceservices,pods",
        "-l",
        "kubebench.dev/run",
        "-o",
        "json",
    ]);
    assert_eq!(left["items"], Value::Array(Vec::new()));
}
