//! What a namespace must hold: credentials, queues, and the label of Katib.

use kubebench_testing::snapshot::{assert_findings, str};
use serde_json::{Value as Json, json};

use super::{Canned, PROJECT, SPEC, complaints, examined_as};

#[test]
fn a_secret_is_judged_by_the_names_of_its_keys() {
    let secret = "/api/v1/namespaces/bench/secrets/kubebench-git";
    let ssh = PROJECT.replace("https://git.example/x.git", "git@git.example:x.git");
    for (project, keys, words) in [
        (
            PROJECT,
            json!({"ssh-privatekey": "VALUE"}),
            vec![(
                "error git credential",
                str! {"the Secret `kubebench-git` has no key `password`, which an HTTP remote needs"},
            )],
        ),
        // Servers that take a token as the password take any name with it.
        (PROJECT, json!({"password": "VALUE"}), vec![]),
        (
            &ssh,
            json!({"username": "VALUE", "password": "VALUE"}),
            vec![(
                "error git credential",
                str! {"the Secret `kubebench-git` has no key `ssh-privatekey`, which an SSH remote needs"},
            )],
        ),
        (
            &ssh,
            json!({"ssh-privatekey": "VALUE"}),
            vec![(
                "warning git credential",
                str! {"the Secret `kubebench-git` has no key `known_hosts`: any server that answers is taken for the right one"},
            )],
        ),
        (&ssh, json!({"ssh-privatekey": "VALUE", "known_hosts": "VALUE"}), vec![]),
    ] {
        let mut canned = Canned::sound();
        canned.put(secret, json!({"data": keys}));
        let findings = examined_as(project, SPEC, &canned);
        assert_findings(&complaints(&findings), &words);
        assert!(!format!("{findings:?}").contains("VALUE"));
    }
}

#[test]
fn queues_must_be_there_and_active() {
    let project = PROJECT.replace("podSecurity: restricted", "podSecurity: restricted, queue: {kueue: ml}");
    let mut canned = Canned::sound();
    let said = |canned: &Canned| {
        let findings = examined_as(&project, SPEC, canned);
        complaints(&findings).into_iter().filter(|(check, _)| check.ends_with(" queue")).collect::<Vec<_>>()
    };
    assert_findings(
        &said(&canned),
        &[("error queue", str! {"the target names the Kueue queue `ml`, and the cluster has no Kueue"})],
    );
    canned.put("/apis/kueue.x-k8s.io", json!({"preferredVersion": {"groupVersion": "kueue.x-k8s.io/v1beta1"}}));
    assert_findings(
        &said(&canned),
        &[("error queue", str! {"there is no LocalQueue `ml` in `bench`: jobs stay suspended"})],
    );
    let base = "/apis/kueue.x-k8s.io/v1beta1";
    canned.put(&format!("{base}/namespaces/bench/localqueues/ml"), json!({"spec": {"clusterQueue": "all"}}));
    assert_findings(&said(&canned), &[("error queue", str! {"there is no ClusterQueue `all`, which `ml` feeds"})]);
    let inactive = json!({"conditions": [{"type": "Active", "status": "False", "message": "no flavor"}]});
    canned.put(&format!("{base}/clusterqueues/all"), json!({"status": inactive}));
    assert_findings(&said(&canned), &[("error queue", str! {"the ClusterQueue `all` is not active: no flavor"})]);
    let groups = |resources: Json| json!({"spec": {"resourceGroups": [{"coveredResources": resources}]}});
    canned.put(&format!("{base}/clusterqueues/all"), groups(json!(["cpu", "memory"])));
    assert_findings(
        &said(&canned),
        &[("warning queue", str! {"the ClusterQueue `all` has no quota of `nvidia.com/gpu`, which runs ask for"})],
    );
    canned.put(&format!("{base}/clusterqueues/all"), groups(json!(["cpu", "memory", "nvidia.com/gpu"])));
    assert_eq!(said(&canned), []);
}

#[test]
fn katib_must_be_let_read_the_metrics_of_trials() {
    const SEARCH: &str = r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: search}
spec:
  workload:
    experiment:
      objective: {type: maximize, objectiveMetricName: a}
      algorithm: {algorithmName: random}
      parameters: [{name: lr, parameterType: double, feasibleSpace: {min: 1, max: 2}}]
      maxTrialCount: 2
      trial: {job: {image: 'registry.example/train:1', command: [train, '${trialParameters.lr}'], resources: {cpu: 1, memory: 1Gi}}}
";
    let said = |labels: Json| {
        let mut canned = Canned::sound();
        canned.put("/api/v1/namespaces/bench", json!({"metadata": {"labels": labels}}));
        let findings = examined_as(PROJECT, SEARCH, &canned);
        complaints(&findings).into_iter().filter(|(_, text)| text.contains("Katib")).collect::<Vec<_>>()
    };
    assert_findings(
        &said(json!({})),
        &[(
            "error Katib",
            str! {"`bench` has no label `katib.kubeflow.org/metrics-collector-injection: enabled`, so Katib reads no metrics of trials there"},
        )],
    );
    let injects = |level: &str| json!({"katib.kubeflow.org/metrics-collector-injection": "enabled", "pod-security.kubernetes.io/enforce": level});
    assert_findings(
        &said(injects("restricted")),
        &[("warning Katib", str! {"`bench` enforces Pod Security `restricted`, which Katib's collector may not pass"})],
    );
    assert_eq!(said(injects("baseline")), []);
}
