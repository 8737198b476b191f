#![expect(clippy::needless_pass_by_value, reason = "`json!` values are made where they are passed")]

mod verdicts;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Fact, Facts, Finding, Level, Needs, Right, Who, examine};
use kubebench_compiler::compile::{Input, Workspace};

const PROJECT: &str = r#"
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: p}
spec:
  image: registry.example/kubebench@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb
  results: {remote: "https://git.example/x.git"}
  targets:
    eu: {cluster: eu, namespace: bench, storageClass: fast, podSecurity: restricted}
"#;
const SPEC: &str = r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: train}
spec:
  workload:
    pytorchJob:
      image: registry.example/train:1
      command: [python3, train.py]
      resources: {cpu: 4, memory: 8Gi, nvidia.com/gpu: 8}
      env: {HF_TOKEN: {secret: {name: hf, key: token}}}
      master: {}
      worker: {replicas: 3}
";

/// A cluster of canned answers; what it does not know is absent, and every right is granted.
#[derive(Default)]
struct Canned {
    objects: BTreeMap<String, Fact>,
    /// `account resource verb` of rights that are not granted; none where nobody may ask.
    refused: Option<Vec<String>>,
    /// `resource verb` of rights that whoever asks lacks; none where that is not said.
    lacking: Option<Vec<String>>,
}

impl Facts for Canned {
    fn read(&self, path: &str) -> Fact {
        self.objects.get(path).cloned().unwrap_or(Fact::Absent)
    }

    fn allows(&self, who: Who<'_>, right: &Right, _: &str) -> Option<bool> {
        let name = match who {
            Who::Me => {
                let asked = format!("{} {}", right.verb, right.resource);
                return self.lacking.as_ref().map(|lacking| !lacking.contains(&asked));
            }
            Who::Account(name) => name,
        };
        // No account of a sound cluster may do what no step needs.
        let is_forbidden = right.resource == "secrets"
            || right.resource == "pods/exec"
            || (right.resource == "pods" && right.verb == "create");
        let asked = format!("{name} {} {}", right.verb, right.resource);
        self.refused.as_ref().map(|refused| !is_forbidden && !refused.contains(&asked))
    }
}

impl Canned {
    fn put(&mut self, path: &str, object: Json) -> &mut Self {
        self.objects.insert(path.to_owned(), Fact::There(object));
        self
    }

    fn forbid(&mut self, path: &str, why: &str) -> &mut Self {
        self.objects.insert(path.to_owned(), Fact::Forbidden(why.to_owned()));
        self
    }

    fn remove(&mut self, path: &str) -> &mut Self {
        self.objects.remove(path);
        self
    }

    /// A cluster in which all is well.
    fn sound() -> Self {
        let mut canned = Self { refused: Some(Vec::new()), lacking: Some(Vec::new()), ..Self::default() };
        let kinds = |kinds: &[&str]| {
            let all: Vec<Json> =
                kinds.iter().map(|kind| json!({"kind": kind, "name": format!("{}s", kind.to_lowercase())})).collect();
            json!({"resources": all})
        };
        let deployment = |name: &str, image: &str| {
            json!({
                "metadata": {"name": name, "namespace": "system"},
                "spec": {"template": {"spec": {"containers": [{"image": image}]}}},
                "status": {"availableReplicas": 1},
            })
        };
        canned
            .put("/version", json!({"major": "1", "minor": "34+", "gitVersion": "v1.34.4"}))
            .put("/api/v1", kinds(&["ConfigMap", "PersistentVolumeClaim", "ServiceAccount", "Service"]))
            .put("/apis/argoproj.io/v1alpha1", kinds(&["Workflow", "WorkflowTemplate", "CronWorkflow", "Application"]))
            .put("/apis/kubeflow.org/v1", kinds(&["PyTorchJob"]))
            .put("/apis/rbac.authorization.k8s.io/v1", kinds(&["Role", "RoleBinding"]))
            .put("/apis/networking.k8s.io/v1", kinds(&["NetworkPolicy"]))
            .put(
                "/apis/apps/v1/deployments",
                json!({"items": [deployment("workflow-controller", "quay.io/argoproj/workflow-controller:v3.7.1"), deployment("training-operator", "x:v1.9.4")]}),
            )
            .put(
                "/api/v1/namespaces/system/configmaps/workflow-controller-configmap",
                json!({"data": {"workflowRestrictions": "templateReferencing: Strict\n"}}),
            )
            .put("/api/v1/namespaces/bench", json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}))
            .put("/apis/storage.k8s.io/v1/storageclasses", json!({"items": [{"metadata": {"name": "fast"}, "provisioner": "nfs.csi.k8s.io", "reclaimPolicy": "Retain"}]}))
            .put("/api/v1/namespaces/bench/secrets/kubebench-git", json!({"data": {"username": null, "password": null}}))
            .put("/api/v1/namespaces/bench/secrets/hf", json!({"data": {"token": null}}))
            .put(
                "/api/v1/nodes",
                json!({"items": [{
                    "metadata": {"name": "gpu-1", "labels": {"gpu": "h100"}},
                    "spec": {},
                    "status": {
                        "allocatable": {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "32"},
                        "conditions": [{"type": "Ready", "status": "True"}],
                        "images": [
                            {"names": ["registry.example/train:1"]},
                            {"names": ["registry.example/kubebench@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb"]},
                        ],
                    },
                }]}),
            )
            .put("/apis/argoproj.io/v1alpha1/applications", json!({"items": [application(json!({"automated": {"prune": true}}))]}));
        for account in ["kubebench-runner", "kubebench-recorder", "kubebench-workflow"] {
            canned.put(&format!("/api/v1/namespaces/bench/serviceaccounts/{account}"), json!({}));
        }
        canned
    }
}

fn application(policy: Json) -> Json {
    json!({
        "metadata": {"name": "benchmarks"},
        "spec": {
            "destination": {"namespace": "bench"},
            "source": {"path": "generated", "directory": {"recurse": true, "include": "*.yaml"}},
            "syncPolicy": policy,
        },
    })
}

/// The name of the Workflow of the tree.
fn needed_workflow() -> String {
    with_needs(PROJECT, SPEC, |needs| needs.names("Workflow").into_iter().next().unwrap())
}

fn examined_as(project: &str, spec: &str, canned: &Canned) -> Vec<Finding> {
    with_needs(project, spec, |needs| {
        assert!(needs.pods.iter().any(|pod| pod.role == "worker" && pod.replicas == 3) || !spec.contains("worker"));
        examine(needs, canned)
    })
}

fn with_needs<T>(project: &str, spec: &str, take: impl FnOnce(&Needs<'_>) -> T) -> T {
    let input = |path: &str, text: &str| Input { path: path.to_owned(), bytes: text.as_bytes().to_vec() };
    let workspace = Workspace::open(Some(input("kubebench.yaml", project)), env!("CARGO_PKG_VERSION"));
    let compilation = workspace.compile(vec![input("specs/a.yaml", spec)]);
    assert!(!compilation.has_errors(), "{:#?}", compilation.diagnostics);
    let project = compilation.project.as_ref().unwrap();
    let needs =
        Needs::read(&project.targets[0], &project.settings, compilation.tree.iter().map(|(_, file)| file.body()));
    take(&needs)
}

fn examined(canned: &Canned) -> Vec<Finding> {
    examined_as(PROJECT, SPEC, canned)
}

/// The findings that are not `ok`, as lines.
fn complaints(findings: &[Finding]) -> Vec<String> {
    let bad = findings.iter().filter(|finding| finding.level != Level::Ok);
    bad.map(|finding| format!("{} {}: {}", finding.level.name(), finding.check, finding.seen)).collect()
}

/// What of `canned` is found beside what a sound cluster has.
fn found(canned: &Canned) -> String {
    complaints(&examined(canned)).join("\n")
}

#[test]
fn a_sound_cluster_has_nothing_to_complain_about() {
    let findings = examined(&Canned::sound());
    assert_eq!(complaints(&findings), Vec::<String>::new());
    let checks: Vec<&str> = findings.iter().map(|finding| finding.check).collect();
    for check in [
        "API server",
        "APIs",
        "controller",
        "Argo's settings",
        "namespace",
        "quota",
        "storage",
        "accounts",
        "git credential",
        "references",
        "nodes",
        "images",
        "GitOps",
    ] {
        assert!(checks.contains(&check), "{check} was not looked at: {checks:?}");
    }
}

#[test]
fn what_is_missing_is_named() {
    for (path, words) in [
        ("/apis/kubeflow.org/v1", "error APIs: the cluster does not serve `PyTorchJob` of `kubeflow.org/v1`"),
        ("/api/v1/namespaces/bench", "error namespace: `bench` does not exist"),
        ("/apis/storage.k8s.io/v1/storageclasses", "note storage: unknown"),
        ("/api/v1/namespaces/bench/secrets/kubebench-git", "error git credential: there is no Secret `kubebench-git`"),
        (
            "/api/v1/namespaces/bench/secrets/hf",
            "error references: there is no Secret `hf`, which master of train needs",
        ),
        ("/api/v1/namespaces/bench/serviceaccounts/kubebench-runner", "note accounts: not there: `kubebench-runner`"),
        ("/api/v1/nodes", "warning nodes:"),
        ("/apis/apps/v1/deployments", "note controller: no Deployment is called `workflow-controller`"),
        ("/apis/argoproj.io/v1alpha1/applications", "note GitOps: no Application of Argo CD"),
    ] {
        let mut canned = Canned::sound();
        canned.remove(path);
        let said = found(&canned);
        assert!(said.contains(words), "without {path}:\n{said}");
    }
}

#[test]
fn what_may_not_be_read_is_never_right() {
    let sound = Canned::sound();
    let why = r#"x is forbidden: User "u" cannot get resource "things" in API group "g.io" in the namespace "bench""#;
    for path in sound.objects.keys().filter(|path| !path.contains("/secrets/hf")) {
        let mut canned = Canned::sound();
        canned.forbid(path, why);
        let findings = examined(&canned);
        let unknown: Vec<&Finding> = findings.iter().filter(|finding| finding.seen.starts_with("unknown")).collect();
        assert!(!unknown.is_empty(), "{path} is forbidden, and nothing says so:\n{}", complaints(&findings).join("\n"));
        for finding in unknown {
            assert_eq!(finding.level, Level::Note);
            assert!(
                finding.advice.as_deref().unwrap().contains("get `things.g.io` in the namespace `bench`"),
                "{finding:?}"
            );
        }
    }
}

#[test]
fn settings_of_argo_that_make_benchmarks_run_for_ever_are_errors() {
    let path = "/api/v1/namespaces/system/configmaps/workflow-controller-configmap";
    for (settings, words) in [
        (
            json!({"workflowDefaults": "spec:\n  ttlStrategy:\n    secondsAfterCompletion: 60\n"}),
            "`ttlStrategy: {secondsAfterCompletion:60}`",
        ),
        (json!({"retentionPolicy": "completed: 10\n"}), "`retentionPolicy: {completed:10}`"),
        (json!({"config": "instanceID: mine\n"}), "`instanceID: mine`"),
    ] {
        let mut canned = Canned::sound();
        canned.put(path, json!({"data": settings}));
        let said = found(&canned);
        assert!(said.starts_with("error Argo's settings") && said.contains(words) && !said.contains('\n'), "{said}");
    }
}

#[test]
fn a_workflow_that_argo_ended_for_want_of_its_template_is_an_error() {
    let name = needed_workflow();
    let path = format!("/apis/argoproj.io/v1alpha1/namespaces/bench/workflows/{name}");
    let status = json!({"phase": "Error", "message": "workflowtemplates.argoproj.io \"kubebench\" not found"});
    let workflow = |name: &str, status: &Json| json!({"metadata": {"name": name}, "status": status});
    let mut canned = Canned::sound();
    canned.put(&path, workflow(&name, &status));
    assert_eq!(
        found(&canned),
        format!(
            "error Workflows: `{name}` ended before its first run, for Argo did not find its WorkflowTemplate, or its entry point in that: it does not look again"
        )
    );
    let advice = examined(&canned).into_iter().find(|finding| finding.check == "Workflows").unwrap().advice.unwrap();
    assert_eq!(
        advice,
        format!(
            "apply `generated/eu/pipeline` first, then `kubectl -n bench delete workflow {name}`, and GitOps creates it again"
        )
    );
    canned.put(&path, workflow(&name, &json!({"phase": "Running"})));
    assert_eq!(found(&canned), "");
    canned.forbid(&path, "no");
    assert!(found(&canned).contains("unknown: you may not read the Workflows in `bench`"));
}

#[test]
fn options_of_argo_cd_and_flux_that_hurt_are_errors() {
    let list = "/apis/argoproj.io/v1alpha1/applications";
    for (policy, level) in [
        (json!({"syncOptions": ["Replace=true"]}), "error"),
        (json!({"syncOptions": ["Force=true"]}), "error"),
        (json!({"syncOptions": ["ServerSideApply=true"]}), ""),
    ] {
        let mut canned = Canned::sound();
        canned.put(list, json!({"items": [application(policy)]}));
        assert!(found(&canned).starts_with(level), "{}", found(&canned));
    }
    let mut canned = Canned::sound();
    canned.put("/api/v1/namespaces/bench/persistentvolumeclaims", json!({"items": [{"metadata": {"name": "train-results"}, "spec": {"storageClassName": "fast"}, "status": {"phase": "Bound"}}]}));
    assert!(found(&canned).contains("lost its `Prune=false`"), "{}", found(&canned));

    let flux = "/apis/kustomize.toolkit.fluxcd.io/v1";
    for (spec, words) in [
        (json!({"force": true}), "`force: true`"),
        (json!({"wait": true}), "`wait: true`"),
        (json!({"namePrefix": "x-"}), "`namePrefix`"),
    ] {
        let mut canned = Canned::sound();
        canned.put(flux, json!({"resources": [{"kind": "Kustomization", "name": "kustomizations"}]}));
        let inventory = json!({"entries": [{"id": "bench_train-results__PersistentVolumeClaim", "v": "v1"}]});
        canned.put(
            &format!("{flux}/kustomizations"),
            json!({"items": [{"metadata": {"name": "k"}, "spec": spec, "status": {"inventory": inventory}}]}),
        );
        assert!(found(&canned).contains(words), "{}", found(&canned));
    }
}

#[test]
fn a_quota_is_held_against_the_largest_run() {
    let quota = |hard: Json, used: Json| json!({"items": [{"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}]});
    for (list, words) in [
        (
            quota(json!({"requests.nvidia.com/gpu": "24"}), json!({})),
            "error quota: `q` allows requests.nvidia.com/gpu 24, and `train` needs 32",
        ),
        (
            quota(json!({"requests.nvidia.com/gpu": "32"}), json!({"requests.nvidia.com/gpu": "8"})),
            "warning quota: `q` allows requests.nvidia.com/gpu 32, of which 8 is used",
        ),
        (quota(json!({"pods": "4"}), json!({})), "`train` needs 5"),
        (
            quota(json!({"limits.cpu": "64"}), json!({})),
            "error quota: `q` limits limits.cpu, and step prepare says no limits of cpu",
        ),
        (quota(json!({"requests.nvidia.com/gpu": "32"}), json!({})), ""),
    ] {
        let mut canned = Canned::sound();
        canned.put("/api/v1/namespaces/bench/resourcequotas", list);
        let said = found(&canned);
        assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{said}");
    }
}

#[test]
fn nodes_are_held_against_what_pods_select() {
    let node = |labels: Json, taints: Json, gpus: &str| {
        json!({"items": [{"metadata": {"name": "n", "labels": labels}, "spec": {"taints": taints}, "status": {
            "allocatable": {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": gpus},
            "conditions": [{"type": "Ready", "status": "True"}],
        }}]})
    };
    let taint = json!([{"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "present"}]);
    let select = PROJECT.replace("podSecurity: restricted", "podSecurity: restricted, nodeSelector: {gpu: h100}");
    let tolerate = PROJECT.replace(
        "podSecurity: restricted",
        "podSecurity: restricted, tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]",
    );
    for (project, nodes, words) in [
        (PROJECT, node(json!({}), json!([]), "32"), ""),
        (&select, node(json!({}), json!([]), "32"), "no node has the labels `gpu=h100`"),
        (&select, node(json!({"gpu": "h100"}), json!([]), "32"), ""),
        (PROJECT, node(json!({}), taint.clone(), "32"), "a taint that it does not tolerate: `nvidia.com/gpu`"),
        (&tolerate, node(json!({}), taint, "32"), ""),
        (PROJECT, node(json!({}), json!([]), "4"), "it asks for nvidia.com/gpu 8, and its nodes have 4 at most"),
        (PROJECT, node(json!({}), json!([]), "16"), "its 3 replicas need more than all its nodes have: room for 2"),
    ] {
        let mut canned = Canned::sound();
        canned.put("/api/v1/nodes", nodes);
        let workloads: Vec<String> = complaints(&examined_as(project, SPEC, &canned))
            .into_iter()
            .filter(|line| line.contains("nodes:") && line.contains("train"))
            .collect();
        assert!(
            workloads.join("\n").contains(words) && workloads.is_empty() == words.is_empty(),
            "{words}: {workloads:#?}"
        );
    }
}

#[test]
fn rights_that_are_missing_are_named() {
    let mut canned = Canned::sound();
    canned.refused = Some(vec!["kubebench-runner create pytorchjobs".to_owned()]);
    assert_eq!(found(&canned), "error accounts: `kubebench-runner` may not `create pytorchjobs.kubeflow.org`");

    // Who may not ask for others reads the roles.
    canned.refused = None;
    let said = found(&canned);
    assert!(
        said.contains("error accounts: the role `kubebench-runner` of `kubebench-runner` or its binding is not there")
    );
    let base = "/apis/rbac.authorization.k8s.io/v1/namespaces/bench";
    for role in ["kubebench-runner", "kubebench-workflow"] {
        canned.put(&format!("{base}/rolebindings/{role}"), json!({})).put(&format!("{base}/roles/{role}"), json!({}));
    }
    let said = found(&canned);
    assert!(said.contains("the roles of `kubebench-recorder` lack `create workflowtaskresults.argoproj.io`"), "{said}");
}

#[test]
fn a_secret_is_judged_by_the_names_of_its_keys() {
    let secret = "/api/v1/namespaces/bench/secrets/kubebench-git";
    let ssh = PROJECT.replace("https://git.example/x.git", "git@git.example:x.git");
    for (project, keys, words) in [
        (
            PROJECT,
            json!({"ssh-privatekey": "VALUE"}),
            "error git credential: the Secret `kubebench-git` has no key `password`, which an HTTP remote needs",
        ),
        // Servers that take a token as the password take any name with it.
        (PROJECT, json!({"password": "VALUE"}), ""),
        (
            &ssh,
            json!({"username": "VALUE", "password": "VALUE"}),
            "has no key `ssh-privatekey`, which an SSH remote needs",
        ),
        (
            &ssh,
            json!({"ssh-privatekey": "VALUE"}),
            "warning git credential: the Secret `kubebench-git` has no key `known_hosts`",
        ),
        (&ssh, json!({"ssh-privatekey": "VALUE", "known_hosts": "VALUE"}), ""),
    ] {
        let mut canned = Canned::sound();
        canned.put(secret, json!({"data": keys}));
        let findings = examined_as(project, SPEC, &canned);
        let said = complaints(&findings).join("\n");
        assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{said}");
        assert!(!format!("{findings:?}").contains("VALUE"));
    }
}

#[test]
fn queues_must_be_there_and_active() {
    let project = PROJECT.replace("podSecurity: restricted", "podSecurity: restricted, queue: {kueue: ml}");
    let mut canned = Canned::sound();
    let said = |canned: &Canned| {
        let findings = examined_as(&project, SPEC, canned);
        complaints(&findings).into_iter().filter(|line| line.contains(" queue:")).collect::<Vec<_>>().join("\n")
    };
    assert!(said(&canned).contains("the cluster has no Kueue"));
    canned.put("/apis/kueue.x-k8s.io", json!({"preferredVersion": {"groupVersion": "kueue.x-k8s.io/v1beta1"}}));
    assert!(said(&canned).contains("there is no LocalQueue `ml` in `bench`"));
    let base = "/apis/kueue.x-k8s.io/v1beta1";
    canned.put(&format!("{base}/namespaces/bench/localqueues/ml"), json!({"spec": {"clusterQueue": "all"}}));
    assert!(said(&canned).contains("there is no ClusterQueue `all`"));
    let inactive = json!({"conditions": [{"type": "Active", "status": "False", "message": "no flavor"}]});
    canned.put(&format!("{base}/clusterqueues/all"), json!({"status": inactive}));
    assert!(said(&canned).contains("is not active: no flavor"));
    let groups = |resources: Json| json!({"spec": {"resourceGroups": [{"coveredResources": resources}]}});
    canned.put(&format!("{base}/clusterqueues/all"), groups(json!(["cpu", "memory"])));
    assert!(said(&canned).contains("has no quota of `nvidia.com/gpu`"));
    canned.put(&format!("{base}/clusterqueues/all"), groups(json!(["cpu", "memory", "nvidia.com/gpu"])));
    assert_eq!(said(&canned), "");
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
        complaints(&findings).into_iter().filter(|line| line.contains("Katib")).collect::<Vec<_>>().join("\n")
    };
    assert!(said(json!({})).contains("has no label `katib.kubeflow.org/metrics-collector-injection: enabled`"));
    let injects = |level: &str| json!({"katib.kubeflow.org/metrics-collector-injection": "enabled", "pod-security.kubernetes.io/enforce": level});
    assert!(said(injects("restricted")).contains("which Katib's collector may not pass"));
    assert_eq!(said(injects("baseline")), "");
}
