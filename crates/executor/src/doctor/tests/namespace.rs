//! What a namespace must hold: credentials, queues, and the label of Katib.

use kubebench_testing::snapshot::{assert_findings, str};
use serde_json::{Value as Json, json};

use super::{Canned, PROJECT, SPEC, complaints, examined_as, found, policy_path};

#[test]
fn a_secret_is_judged_by_the_names_of_its_keys() {
    let secret = "/api/v1/namespaces/bench/secrets/kubebench-git";
    let ssh = PROJECT.replace("https://git.example/x.git", "git@git.example:x.git");
    let open = ssh.replace("results: {", "results: {sshHostKeys: acceptNew, ");
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
                "error git credential",
                str! {"the Secret `kubebench-git` has no key `known_hosts`, so nothing is recorded"},
            )],
        ),
        (
            &open,
            json!({"ssh-privatekey": "VALUE"}),
            vec![(
                "warning git credential",
                str! {"the Secret `kubebench-git` has no key `known_hosts`: git trusts any server that answers"},
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
        &[("error queue", str! {"the target names the Kueue queue `ml`, but the cluster has no Kueue"})],
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

#[test]
fn policies_are_there_and_hold_here() {
    const BINDING: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/kubebench-pods";
    const NAMESPACE: &str = "/api/v1/namespaces/bench";
    const PARAMETERS: &str = "/api/v1/namespaces/kubebench-system/configmaps/kubebench-admission";
    let restricted = json!({"pod-security.kubernetes.io/enforce": "restricted"});
    let mut none = Canned::sound();
    for name in ["custom-templates", "pipeline", "pods", "running-pods", "templates", "tokens"] {
        let name = format!("kubebench-{name}");
        none.remove(&policy_path("policies", &name)).remove(&policy_path("policybindings", &name));
    }
    let changed = |change: &dyn Fn(&mut Canned)| {
        let mut canned = Canned::sound();
        change(&mut canned);
        found(&canned)
    };
    assert_findings(
        &found(&none),
        &[(
            "warning admission policies",
            str! {"not installed: everyone who may create jobs in `bench` can use the Secrets and accounts of Kubebench there"},
        )],
    );
    assert_findings(
        &changed(&|canned| {
            canned.remove(BINDING);
        }),
        &[("warning admission policies", str! {"missing: `kubebench-pods`"})],
    );
    for weak in [
        json!({"spec": {"policyName": "kubebench-pods", "validationActions": ["Warn"]}}),
        json!({"spec": {"policyName": "other", "validationActions": ["Deny"]}}),
    ] {
        assert_findings(
            &changed(&|canned| {
                canned.put(BINDING, weak.clone());
            }),
            &[(
                "warning admission policies",
                str! {"`kubebench-pods` do not enforce: expected `failurePolicy: Fail`, and a binding with `validationActions: [Deny]`"},
            )],
        );
    }
    assert_findings(
        &changed(&|canned| {
            canned.put(NAMESPACE, json!({"metadata": {"labels": restricted}}));
        }),
        &[("warning admission policies", str! {"installed, but not enforced in `bench`"})],
    );
    let why = "validatingadmissionpolicybindings.admissionregistration.k8s.io \"kubebench-pods\" is forbidden: User \"a\" cannot get resource \"validatingadmissionpolicybindings\" in API group \"admissionregistration.k8s.io\" at the cluster scope";
    assert_findings(
        &changed(&|canned| {
            canned.forbid(BINDING, why);
        }),
        &[("note admission policies", str! {"unknown: you may not read the admission policies of the cluster"})],
    );
    assert_findings(
        &changed(&|canned| {
            canned.remove(PARAMETERS);
        }),
        &[(
            "error admission policies",
            str! {"the ConfigMap of their parameters does not exist, so nothing can be created in `bench`"},
        )],
    );
    let parameters =
        |secrets: &str, controllers: &str| json!({"data": {"secrets": secrets, "workflowControllers": controllers}});
    assert_findings(
        &changed(&|canned| {
            canned
                .put(PARAMETERS, parameters("kubebench-gitlab\nkubebench-signing", "system:serviceaccount:argo:argo"));
        }),
        &[
            ("warning admission policies", str! {"their parameters do not list the Secret `kubebench-git`"}),
            (
                "error admission policies",
                str! {"their parameters do not list the account of Argo's controller, `system:serviceaccount:system:argo`, so no step starts"},
            ),
        ],
    );
}

#[test]
fn operators_are_where_the_network_policy_lets_them_in() {
    let ray = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: tune}\nspec:\n  workload: {rayJob: {image: 'registry.example/train:1', rayVersion: 2.52.0, entrypoint: [x], resources: {cpu: 1, memory: 1Gi}, head: {}}}\n";
    let of_network = |project: &str, spec: &str, place: &str| {
        let mut canned = Canned::sound();
        let operator =
            json!({"metadata": {"name": "kuberay-operator", "namespace": place}, "status": {"availableReplicas": 1}});
        canned.put("/apis/apps/v1/deployments", json!({"items": [operator]}));
        let found = complaints(&examined_as(project, spec, &canned));
        found.into_iter().filter(|(check, _)| check.ends_with("network policy")).collect::<Vec<_>>()
    };
    assert_findings(&of_network(PROJECT, ray, "ray-system"), &[]);
    let elsewhere = [(
        "error network policy",
        str! {"it blocks traffic between `kuberay-operator` in `default` and the pods of a RayJob"},
    )];
    assert_findings(&of_network(PROJECT, ray, "default"), &elsewhere);
    assert_findings(&of_network(PROJECT, SPEC, "default"), &[]);
    let named = "podSecurity: restricted, networkPolicy: {operatorNamespaces: {kuberay: [default]}}";
    assert_findings(&of_network(&PROJECT.replace("podSecurity: restricted", named), ray, "default"), &[]);
}

#[test]
fn a_namespace_that_injects_proxies_is_named() {
    let namespace = |metadata: Json| {
        let mut canned = Canned::sound();
        let mut object = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted", "kubebench.dev/admission": "enforce"}}});
        for (field, more) in metadata.as_object().unwrap() {
            for (key, value) in more.as_object().unwrap() {
                object["metadata"][field][key] = value.clone();
            }
        }
        canned.put("/api/v1/namespaces/bench", object);
        canned
    };
    let lets_in = PROJECT.replace(
        "podSecurity: restricted",
        "podSecurity: restricted, pods: {labels: {sidecar.istio.io/inject: \"true\"}, annotations: {linkerd.io/inject: enabled}}",
    );
    for (metadata, warned) in [
        (json!({"labels": {"istio-injection": "enabled"}}), true),
        (json!({"labels": {"istio.io/rev": "canary"}}), true),
        (json!({"annotations": {"linkerd.io/inject": "enabled"}}), true),
        (json!({"labels": {"istio-injection": "disabled"}}), false),
    ] {
        let canned = namespace(metadata.clone());
        assert_eq!(complaints(&examined_as(PROJECT, SPEC, &canned)), [], "{metadata}");
        let found = complaints(&examined_as(&lets_in, SPEC, &canned));
        assert_eq!(found.iter().any(|(place, _)| place == "warning proxies"), warned, "{metadata} {found:?}");
    }
}

#[test]
fn openshift_assigns_users() {
    let mut canned = Canned::sound();
    canned.put("/apis/security.openshift.io/v1", json!({"resources": []}));
    let found = complaints(&examined_as(PROJECT, SPEC, &canned));
    assert!(found.iter().any(|(place, _)| place == "warning users"), "{found:?}");
    let left = PROJECT.replace(
        "podSecurity: restricted",
        "podSecurity: restricted, pods: {securityContext: {runAsUser: none, runAsGroup: none, fsGroup: none}}",
    );
    assert_eq!(complaints(&examined_as(&left, SPEC, &canned)), []);
}
