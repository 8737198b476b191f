//! The training operator's younger kinds: what their pods are given is enough to meet, and each run leaves its result.

use super::{Loop, Settings};

/// One replica listens, the other finds it by the address that the operator gives to both.
const LISTEN: &str =
    r#"said=$(echo "rank 0 of $N" | busybox nc -l -p "$PORT"); test "$said" = "rank 1"; echo "rate $N x/s""#;
const CALL: &str = r#"until said=$(echo "rank 1" | busybox nc "$ADDRESS" "$PORT"); do sleep 0.2; done; echo "$said""#;

/// A benchmark with a workload of one kind, whose rate is the number of its replicas.
fn benchmark(name: &str, role: &str, workload: &str) -> String {
    format!(
        r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: {name}}}
spec:
  timeout: 5m
  workload:
{workload}
  metrics:
    - name: rate
      unit: x/s
      better: higher
      primary: true
      from: {{log: {{pattern: 'rate (?P<value>\S+) x/s', role: {role}, index: 0}}}}
  checks: [{{metric: rate, finite: true}}, {{restarts: 0}}]
"
    )
}

#[test]
fn replicas_of_the_younger_kinds_meet() {
    let xgboost = format!(
        "    xgboostJob:
      image: busybox:1
      resources: {{cpu: 10m, memory: 32Mi}}
      master: {{command: [sh, -ec, 'N=$WORLD_SIZE PORT=$MASTER_PORT; {LISTEN}']}}
      worker: {{replicas: 1, command: [sh, -c, 'test \"$RANK\" = 1 || exit 1; ADDRESS=$MASTER_ADDR PORT=$MASTER_PORT; {CALL}']}}"
    );
    let jax = format!(
        "    jaxJob:
      image: busybox:1
      resources: {{cpu: 10m, memory: 32Mi}}
      worker:
        replicas: 2
        command: [sh, -ec, 'N=$NUM_PROCESSES PORT=$COORDINATOR_PORT ADDRESS=$COORDINATOR_ADDRESS; if [ \"$PROCESS_ID\" = 0 ]; then {LISTEN}; else {CALL}; fi']"
    );
    let paddle = "    paddleJob:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      worker: {replicas: 2, command: [sh, -ec, 'env | grep ^PADDLE_ | sort; test -n \"$PADDLE_MASTER$PADDLE_NNODES\"; echo \"rate 2 x/s\"']}";
    let files = [
        ("specs/boosted.yaml", benchmark("boosted", "master", &xgboost)),
        ("specs/traced.yaml", benchmark("traced", "worker", &jax)),
        ("specs/paddled.yaml", benchmark("paddled", "worker", paddle)),
    ];
    let project = Settings::of("frameworks").text();
    let mut all = vec![("kubebench.yaml", project.as_str())];
    all.extend(files.iter().map(|(path, text)| (*path, text.as_str())));
    let Some(cycle) = Loop::new("replicas_of_the_younger_kinds_meet", &all) else { return };
    cycle.apply();
    for benchmark in ["boosted", "traced", "paddled"] {
        cycle.ends("test", benchmark, "Succeeded");
    }
    let results = cycle.results();
    for benchmark in ["boosted", "traced", "paddled"] {
        let of = results.of(benchmark);
        assert_eq!(of.len(), 1, "{benchmark}");
        assert_eq!(
            (&of[0]["run"]["status"], &of[0]["metrics"][0]["value"]),
            (&"succeeded".into(), &2.0.into()),
            "{:#}",
            of[0]
        );
    }
}
