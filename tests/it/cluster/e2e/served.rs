//! Servers: started, asked until they answer, warmed up, loaded case by case, and started again only where they differ.

use serde_json::{Value, json};

use super::{Loop, Settings};

/// A server that needs a while until it answers, says whom it answered, and is loaded by two rates with two answers each.
const SWEPT: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: swept}
spec:
  timeout: 4m
  warmups: 1
  order: grouped
  matrix:
    axes: {rate: [1, 2], size: [small, large]}
    exclude: [{rate: 2, size: large}]
  workload:
    deployment:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      pod: {terminationGracePeriodSeconds: 1}
      port: 8080
      protocol: v2
      env: {SIZE: '${{ matrix.size }}'}
      command: [sh, -ec, 'mkdir -p /tmp/www/v2/health; echo "$SIZE" > /tmp/www/size; echo "loads 7 models"; sleep 2; touch /tmp/www/v2/health/ready; exec busybox httpd -f -vv -p 8080 -h /tmp/www']
      load:
        image: busybox:1
        resources: {cpu: 10m, memory: 32Mi}
        env: {RATE: '${{ matrix.rate }}'}
        command: [sh, -ec, 'said=$(wget -q -O - "$KUBEBENCH_ENDPOINT/size"); echo "$said is at $KUBEBENCH_ENDPOINT by $KUBEBENCH_PROTOCOL"; echo "rate $RATE x/s"']
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: load}}}
    - {name: ready, unit: s, better: lower, from: {duration: ready}}
    - {name: models, unit: "1", better: higher, from: {log: {pattern: 'loads (?P<value>\S+) models', role: server}}}
"#;

/// The same without a load: the run is the start of the server.
const COLD: &str = r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: cold}
spec:
  timeout: 4m
  repeats: 2
  workload:
    deployment:
      image: busybox:1
      replicas: 2
      resources: {cpu: 10m, memory: 32Mi}
      pod: {terminationGracePeriodSeconds: 1}
      port: 8080
      ready: {path: /index.html}
      command: [sh, -ec, 'mkdir /tmp/www; echo yes > /tmp/www/index.html; sleep 3; exec busybox httpd -f -p 8080 -h /tmp/www']
  metrics: [{name: ready, unit: s, better: lower, primary: true, from: {duration: ready}}]
";

/// A server that ends while it starts, which its Deployment would try again forever.
const FALLS: &str = r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: falls}
spec:
  timeout: 4m
  workload:
    deployment:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      port: 8080
      ready: {path: /}
      command: [sh, -c, 'echo no such model; exit 3']
      load: {image: 'busybox:1', command: [sh, -c, 'exit 0'], resources: {cpu: 10m, memory: 32Mi}}
";

/// One that ends while it is loaded: what was measured counts the failure too.
const BREAKS: &str = r##"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: breaks}
spec:
  timeout: 4m
  workload:
    deployment:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      pod: {terminationGracePeriodSeconds: 1}
      port: 8080
      ready: {path: /cgi-bin/up}
      command: [sh, -ec, 'mkdir -p /tmp/www/cgi-bin; for word in up down; do printf "#!/bin/sh\ntouch /tmp/$word; echo Content-Type: text/plain; echo; echo $word\n" > /tmp/www/cgi-bin/$word; chmod +x /tmp/www/cgi-bin/$word; done; busybox httpd -p 8080 -h /tmp/www; while [ ! -e /tmp/down ]; do sleep 0.2; done; sleep 1; exit 9']
      load:
        image: busybox:1
        resources: {cpu: 10m, memory: 32Mi}
        command: [sh, -ec, 'wget -q -O - "$KUBEBENCH_ENDPOINT/cgi-bin/down"; sleep 6; echo done']
"##;

#[test]
fn servers_are_loaded_and_stopped() {
    let project = Settings::of("served").text();
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("specs/swept.yaml", SWEPT),
        ("specs/cold.yaml", COLD),
        ("specs/falls.yaml", FALLS),
        ("specs/breaks.yaml", BREAKS),
    ];
    let Some(cycle) = Loop::new("servers_are_loaded_and_stopped", &files) else { return };
    cycle.apply();
    cycle.ends("test", "swept", "Succeeded");
    cycle.ends("test", "cold", "Succeeded");
    cycle.ends("test", "falls", "Failed");
    cycle.ends("test", "breaks", "Failed");
    let results = cycle.results();

    let swept = results.of("swept");
    assert_eq!(swept.len(), 3, "warm-ups of a server are no runs");
    let mut servers: Vec<(&str, bool, bool)> = Vec::new();
    for result in &swept {
        assert_eq!(result["run"]["status"], "succeeded", "{result:#}");
        let rate = |at: &str| result.pointer(at).and_then(Value::as_f64);
        assert_eq!(rate("/metrics/0/value"), rate("/metadata/params/rate"), "{result:#}");
        let server = &result["server"];
        assert_eq!((&server["kind"], &server["warmups"]), (&json!("Deployment"), &json!(1)));
        let ready = server["timings"]["readySeconds"].as_f64().unwrap();
        assert!((2.0..900.0).contains(&ready), "{ready}");
        let is_new = server["broughtUp"].as_bool().unwrap();
        assert_eq!(result["run"]["timings"]["readySeconds"].as_f64(), is_new.then_some(ready));
        let size = result["metadata"]["params"]["size"].as_str().unwrap();
        servers.push((size, is_new, result["metrics"][1]["value"].is_null()));
    }
    servers.sort_unstable();
    let wanted = [("large", true, false), ("small", false, true), ("small", true, false)];
    assert_eq!(servers, wanted, "a server stays up where only its load differs");
    for result in &swept {
        let is_new = result["server"]["broughtUp"] == true;
        let models = is_new.then_some(7.0);
        assert_eq!(
            result["metrics"][2]["value"].as_f64(),
            models,
            "what a server said before is of that run: {result:#}"
        );
    }

    let cold = results.of("cold");
    assert_eq!(cold.len(), 2);
    for result in &cold {
        let ready = result["metrics"][0]["value"].as_f64().unwrap();
        assert!((3.0..900.0).contains(&ready), "{ready}");
        assert_eq!((&result["run"]["status"], &result["server"]), (&json!("succeeded"), &Value::Null));
    }

    let falls = &results.of("falls")[0]["run"];
    assert_eq!((&falls["status"], &falls["reasons"][0]["code"]), (&json!("failed"), &json!("exitCode")), "{falls:#}");
    assert!(falls["exits"].to_string().contains("no such model"), "{falls:#}");
    assert!(falls["durationSeconds"].as_f64().unwrap() < 200.0, "nobody waits for a server that has ended: {falls:#}");
    let breaks = &results.of("breaks")[0]["run"];
    assert_eq!(breaks["status"], "failed", "{breaks:#}");
    assert!(breaks["reasons"].to_string().contains("serverRestarted"), "{breaks:#}");

    let kinds = "deployments,services,jobs,pods";
    let left =
        cycle.cluster().json(["-n", cycle.namespace("test"), "get", kinds, "-l", "kubebench.dev/run", "-o", "json"]);
    assert_eq!(left["items"], Value::Array(Vec::new()), "nothing that served stays");
}
