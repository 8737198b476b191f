//! Logs of real containers on a volume: from the first line to the last, through what cuts them.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kubebench_cluster::{Cluster, Made, Resource};
use kubebench_executor::observe::Pod;
use kubebench_executor::step::log::{Followed, Logs, OfCluster, Place};
use kubebench_extract::rules::Rules;
use kubebench_syntax::redact::Redactor;
use serde_json::{Value, json};

use super::client::{self, PASS, Proxy, REFUSE, image};
use super::{PATIENCE, cluster};

const RULES: &str =
    r#"{"schemaVersion":1,"metrics":[{"name":"loss","from":{"log":{"pattern":"loss=(?<value>[0-9.]+)"}}}]}"#;

/// A pod whose container runs `script`, and is started again as often as it fails; `/state` outlives it.
fn pod(script: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "prints"},
        "spec": {
            "restartPolicy": "OnFailure",
            "terminationGracePeriodSeconds": 1,
            "volumes": [{"name": "state", "emptyDir": {}}],
            "containers": [{
                "name": "main",
                "image": image(),
                "imagePullPolicy": "IfNotPresent",
                "command": ["sh", "-c", script],
                "volumeMounts": [{"name": "state", "mountPath": "/state"}],
            }],
        },
    })
}

/// Follows the pod to its end; `meanwhile` is called as often as it is looked at.
fn follow(direct: &Cluster, namespace: &str, logs: &mut Logs, mut meanwhile: impl FnMut(Duration, &mut Logs)) {
    let start = Instant::now();
    loop {
        let shown = direct.get(&Resource::pods(), namespace, "prints").unwrap().expect("the pod is there");
        let pod: Pod = serde_json::from_value(shown).unwrap();
        logs.see("worker", 0, &pod, "main");
        logs.list();
        let phase = pod.status.and_then(|status| status.phase).unwrap_or_default();
        if phase == "Succeeded" {
            return;
        }
        assert_ne!(phase, "Failed");
        assert!(start.elapsed() < PATIENCE, "the pod did not end");
        meanwhile(start.elapsed(), logs);
        thread::sleep(Duration::from_millis(100));
    }
}

fn keep(cluster: Cluster, namespace: &str, folder: &std::path::Path) -> Logs {
    let origin = OfCluster { cluster: cluster.patience(Duration::from_secs(2)), namespace: namespace.to_owned() };
    let place = Place { output: folder.join("output"), state: folder.join("state"), limit: 1 << 30 };
    Logs::new(Arc::new(origin), place, Arc::new(Rules::read(RULES).unwrap()), Arc::new(Redactor::default()))
}

fn one(logs: Logs) -> Followed {
    let mut all = logs.finish(PATIENCE);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn assert_kept(folder: &std::path::Path, wanted: &str, followed: Followed) {
    let kept = fs::read_to_string(folder.join("output/logs/worker-0.log")).unwrap();
    let at = kept.lines().zip(wanted.lines()).take_while(|(kept, wanted)| kept == wanted).count();
    let near = |text: &str| text.lines().skip(at.saturating_sub(1)).take(3).collect::<Vec<_>>().join("\n");
    let sizes = (kept.len(), wanted.len());
    assert!(kept == wanted, "{sizes:?}, {:?}: line {at}:\n{}\nis not\n{}", followed.fault, near(&kept), near(wanted));
    assert_eq!((followed.fault, followed.dropped), (None, 0));
    let matched = followed.scan.finish().scanned.patterns[0].matched;
    assert_eq!(matched, wanted.matches("loss=").count() as u64);
}

#[test]
fn a_log_is_whole_through_cuts_and_a_restart() {
    let Some(kube) = cluster("logs of a real pod") else { return };
    let place = client::Place::new(kube, "logs-cut");
    let (proxy, folder) = (Proxy::before(kube), tempfile::tempdir().unwrap());
    let direct = proxy_free(kube);
    let script = "n=$(cat /state/n 2>/dev/null || echo 0); echo $((n+1)) >/state/n; i=0; \
        while [ $i -lt 4000 ]; do i=$((i+1)); echo instance $n, line $i, loss=$i; \
        [ $((i % 400)) = 0 ] && { printf 'a bar of %s\\r' $n; sleep 1; }; done; \
        head -c 70000 /dev/zero | tr '\\0' x; printf '\\n%s has no end' $n; [ $n = 1 ]";
    assert!(matches!(direct.create(&place.name, &placed(pod(script), &place.name)).unwrap(), Made::New(_)));
    let mut logs = keep(proxy.cluster(), &place.name, folder.path());
    follow(&direct, &place.name, &mut logs, |elapsed, _| {
        // For 0.4 s of each 1.7 s nothing answers.
        proxy.set(if elapsed.as_millis() % 1700 < 400 { REFUSE } else { PASS });
    });
    proxy.set(PASS);
    let followed = one(logs);
    let instance = |n: u32| {
        let line = |i: u32| {
            let bar = if i.is_multiple_of(400) { format!("a bar of {n}\r") } else { String::new() };
            format!("instance {n}, line {i}, loss={i}\n{bar}")
        };
        let lines: String = (1..=4000).map(line).collect();
        format!("{lines}{}\n{n} has no end", "x".repeat(70_000))
    };
    assert_kept(folder.path(), &format!("{}\n{}", instance(0), instance(1)), followed);
}

#[test]
fn a_log_is_whole_through_rotation() {
    let Some(kube) = cluster("logs of a real pod that is rotated") else { return };
    let place = client::Place::new(kube, "logs-rotate");
    let folder = tempfile::tempdir().unwrap();
    let direct = proxy_free(kube);
    // The kubelet looks each ten seconds whether a log has more than ten megabytes.
    let script = "i=0; while [ $i -lt 240000 ]; do i=$((i+1)); echo the line $i of many, with a loss=$i; \
        [ $((i % 10000)) = 0 ] && sleep 1; done; echo end";
    assert!(matches!(direct.create(&place.name, &placed(pod(script), &place.name)).unwrap(), Made::New(_)));
    let start = Instant::now();
    let mut logs = keep(proxy_free(kube), &place.name, folder.path());
    follow(&direct, &place.name, &mut logs, |_, _| {});
    let followed = one(logs);
    println!("24 seconds of a pod took {:?}", start.elapsed());
    let wanted: String = (1..=240_000).map(|i| format!("the line {i} of many, with a loss={i}\n")).collect();
    assert_kept(folder.path(), &format!("{wanted}end\n"), followed);
}

fn proxy_free(kube: &super::Cluster) -> Cluster {
    let file = std::path::PathBuf::from(&kube.kubeconfig);
    Cluster::by_files(&[file], None).unwrap().patience(PATIENCE)
}

fn placed(mut object: Value, namespace: &str) -> Value {
    object["metadata"]["namespace"] = namespace.into();
    object
}
