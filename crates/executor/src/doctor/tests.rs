#![expect(clippy::needless_pass_by_value, reason = "`json!` values are made where they are passed")]

mod authorities;
mod namespace;
mod verdicts;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Fact, Facts, Finding, Level, Needs, Right, Who, examine};
use kubebench_compiler::compile::{Input, Workspace};
use kubebench_testing::snapshot::{assert_findings, assert_text, str};

const PROJECT: &str = r#"
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: p}
spec:
  image: registry.example/kubebench@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb
  results: {remote: "https://git.example/x.git", signing: {secret: kubebench-signing}, ca: {configMap: corporate-ca}}
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

const AUTHORITIES: &str = "/api/v1/namespaces/bench/configmaps/corporate-ca";

/// A cluster of canned answers; what it does not know is absent, and every right is granted.
#[derive(Default)]
struct Canned {
    objects: BTreeMap<String, Fact>,
    /// `account resource verb` of rights that are not granted; none where that may not be asked.
    refused: Option<Vec<String>>,
    /// `resource verb` of rights that the user lacks; none where that is not said.
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
                "spec": {"template": {"spec": {"serviceAccountName": "argo", "containers": [{"image": image}]}}},
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
            .put("/api/v1/namespaces/bench", json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted", "kubebench.dev/admission": "enforce"}}}))
            .put(
                "/api/v1/namespaces/kubebench-system/configmaps/kubebench-admission",
                json!({"data": {"secrets": "kubebench-git\nkubebench-signing\n", "workflowControllers": "system:serviceaccount:system:argo\n"}}),
            )
            .put("/apis/storage.k8s.io/v1/storageclasses", json!({"items": [{"metadata": {"name": "fast"}, "provisioner": "nfs.csi.k8s.io", "reclaimPolicy": "Retain"}]}))
            .put("/api/v1/namespaces/bench/secrets/kubebench-git", json!({"data": {"username": null, "password": null}}))
            .put("/api/v1/namespaces/bench/secrets/kubebench-signing", json!({"data": {"ed25519.pem": null}}))
            .put(AUTHORITIES, json!({"data": {"ca.crt": "# ours\n-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"}}))
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
        for name in ["custom-templates", "pipeline", "pods", "running-pods", "templates", "tokens"] {
            let name = format!("kubebench-{name}");
            let binding = json!({"spec": {"policyName": name, "validationActions": ["Deny"]}});
            canned
                .put(&policy_path("policies", &name), json!({"spec": {"failurePolicy": "Fail"}}))
                .put(&policy_path("policybindings", &name), binding);
        }
        for account in ["kubebench-runner", "kubebench-recorder", "kubebench-workflow"] {
            canned.put(&format!("/api/v1/namespaces/bench/serviceaccounts/{account}"), json!({}));
        }
        canned
    }
}

fn policy_path(kind: &str, name: &str) -> String {
    format!("/apis/admissionregistration.k8s.io/v1/validatingadmission{kind}/{name}")
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

/// The findings that are not `ok`: level and check, and the text.
fn complaints(findings: &[Finding]) -> Vec<(String, String)> {
    let bad = findings.iter().filter(|finding| finding.level != Level::Ok);
    bad.map(|finding| (format!("{} {}", finding.level.name(), finding.check), finding.seen.clone())).collect()
}

/// What of `canned` is found in addition to what a sound cluster has.
fn found(canned: &Canned) -> Vec<(String, String)> {
    complaints(&examined(canned))
}

#[test]
fn a_sound_cluster_has_nothing_to_complain_about() {
    let findings = examined(&Canned::sound());
    assert_eq!(complaints(&findings), []);
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
        "signing key",
        "certificate authorities",
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
        (
            "/apis/kubeflow.org/v1",
            vec![("error APIs", str! {"the cluster does not serve `PyTorchJob` of `kubeflow.org/v1`"})],
        ),
        ("/api/v1/namespaces/bench", vec![("error namespace", str! {"`bench` does not exist"})]),
        (
            "/apis/storage.k8s.io/v1/storageclasses",
            vec![("note storage", str! {"unknown: you may not read StorageClasses"})],
        ),
        (
            "/api/v1/namespaces/bench/secrets/kubebench-git",
            vec![(
                "error git credential",
                str! {"there is no Secret `kubebench-git`: results stay on the volume until there is one"},
            )],
        ),
        (
            "/api/v1/namespaces/bench/secrets/kubebench-signing",
            vec![(
                "error signing key",
                str! {"there is no Secret `kubebench-signing`: results stay on the volume until there is one"},
            )],
        ),
        (
            AUTHORITIES,
            vec![(
                "error certificate authorities",
                str! {"there is no ConfigMap `corporate-ca`: results cannot be recorded over HTTPS, and metrics cannot be read from Prometheus"},
            )],
        ),
        (
            "/api/v1/namespaces/bench/secrets/hf",
            vec![("error references", str! {"there is no Secret `hf`, which master of train needs"})],
        ),
        (
            "/api/v1/namespaces/bench/serviceaccounts/kubebench-runner",
            vec![("note accounts", str! {"missing: `kubebench-runner`; the tree has not been applied"})],
        ),
        (
            "/api/v1/nodes",
            vec![
                (
                    "warning nodes",
                    str! {"`master of train`, `worker of train`, `step prepare`, `step run` and 3 more: the cluster has no nodes"},
                ),
                (
                    "note images",
                    str! {"not in the image list of any node: `registry.example/kubebench@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb`, `registry.example/train:1`"},
                ),
            ],
        ),
        (
            "/apis/apps/v1/deployments",
            vec![
                (
                    "note controller",
                    str! {"no Deployment is called `workflow-controller`, so whether it runs is unknown"},
                ),
                (
                    "note controller",
                    str! {"no Deployment is called `training-operator`, so whether it runs is unknown"},
                ),
                (
                    "note Argo's settings",
                    str! {"there is no ConfigMap `workflow-controller-configmap` in `argo`, `argo-workflows`, `kubeflow`"},
                ),
            ],
        ),
        (
            "/apis/argoproj.io/v1alpha1/applications",
            vec![("note GitOps", str! {"no Argo CD Application or Flux Kustomization here applies to `bench`"})],
        ),
    ] {
        let mut canned = Canned::sound();
        canned.remove(path);
        assert_findings(&found(&canned), &words);
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
        assert!(!unknown.is_empty(), "{path} is forbidden, and nothing says so: {:#?}", complaints(&findings));
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
fn settings_of_argo_that_make_benchmarks_run_forever_are_errors() {
    let path = "/api/v1/namespaces/system/configmaps/workflow-controller-configmap";
    for (settings, words) in [
        (
            json!({"workflowDefaults": "spec:\n  ttlStrategy:\n    secondsAfterCompletion: 60\n"}),
            vec![(
                "error Argo's settings",
                str! {"`workflow-controller-configmap` in `system` has `workflowDefaults` with `ttlStrategy: {secondsAfterCompletion:60}`: finished Workflows are deleted, GitOps creates them again, and they run again, forever"},
            )],
        ),
        (
            json!({"retentionPolicy": "completed: 10\n"}),
            vec![(
                "error Argo's settings",
                str! {"`workflow-controller-configmap` in `system` has `retentionPolicy: {completed:10}`: finished Workflows above that count are deleted, GitOps creates them again, and they run again, forever"},
            )],
        ),
        (
            json!({"config": "instanceID: mine\n"}),
            vec![(
                "error Argo's settings",
                str! {"`workflow-controller-configmap` in `system` has `instanceID: mine`: the controller ignores Workflows without its label"},
            )],
        ),
    ] {
        let mut canned = Canned::sound();
        canned.put(path, json!({"data": settings}));
        assert_findings(&found(&canned), &words);
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
    let findings = examined(&canned);
    let finding = findings.iter().find(|finding| finding.check == "Workflows").unwrap();
    assert_eq!(finding.level, Level::Error);
    assert_text(
        finding.seen.replace(&name, "<name>"),
        str! {"`<name>` ended before the first run: Argo did not find the WorkflowTemplate or its entry point, and does not look again"},
    );
    assert_text(
        finding.advice.as_deref().unwrap().replace(&name, "<name>"),
        str! {"apply `generated/eu/pipeline` first, then run `kubectl -n bench delete workflow <name>`; GitOps creates it again"},
    );
    canned.put(&path, workflow(&name, &json!({"phase": "Running"})));
    assert_eq!(found(&canned), []);
    canned.forbid(&path, "no");
    assert_findings(
        &found(&canned),
        &[("note Workflows", str! {"unknown: you may not read the Workflows in `bench`"})],
    );
}

#[test]
fn options_of_argo_cd_and_flux_that_hurt_are_errors() {
    let list = "/apis/argoproj.io/v1alpha1/applications";
    for (policy, level) in [
        (json!({"syncOptions": ["Replace=true"]}), Some("error")),
        (json!({"syncOptions": ["Force=true"]}), Some("error")),
        (json!({"syncOptions": ["ServerSideApply=true"]}), None),
    ] {
        let mut canned = Canned::sound();
        canned.put(list, json!({"items": [application(policy)]}));
        let found = found(&canned);
        assert_eq!(found.first().map(|(check, _)| check.split(' ').next().unwrap()), level, "{found:?}");
    }
    let mut canned = Canned::sound();
    canned.put("/api/v1/namespaces/bench/persistentvolumeclaims", json!({"items": [{"metadata": {"name": "train-results"}, "spec": {"storageClassName": "fast"}, "status": {"phase": "Bound"}}]}));
    assert_findings(
        &found(&canned),
        &[(
            "error GitOps",
            str! {"the Application `benchmarks` prunes, and the claim `train-results` lost its `Prune=false`"},
        )],
    );

    let flux = "/apis/kustomize.toolkit.fluxcd.io/v1";
    for (spec, words) in [
        (
            json!({"force": true}),
            str! {"the Kustomization `k` has `force: true`: Flux deletes and recreates objects that it cannot change, such as finished Workflows and claims with results"},
        ),
        (
            json!({"wait": true}),
            str! {"the Kustomization `k` has `wait: true`: it waits for claims that nothing mounts yet"},
        ),
        (
            json!({"namePrefix": "x-"}),
            str! {"the Kustomization `k` has `namePrefix`: names inside run lists are not rewritten"},
        ),
    ] {
        let mut canned = Canned::sound();
        canned.put(flux, json!({"resources": [{"kind": "Kustomization", "name": "kustomizations"}]}));
        let inventory = json!({"entries": [{"id": "bench_train-results__PersistentVolumeClaim", "v": "v1"}]});
        canned.put(
            &format!("{flux}/kustomizations"),
            json!({"items": [{"metadata": {"name": "k"}, "spec": spec, "status": {"inventory": inventory}}]}),
        );
        assert_text(found(&canned).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n"), words);
    }
}

#[test]
fn a_quota_is_compared_with_the_largest_run() {
    let quota = |hard: Json, used: Json| json!({"items": [{"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}]});
    for (list, words) in [
        (
            quota(json!({"requests.nvidia.com/gpu": "24"}), json!({})),
            vec![("error quota", str! {"`q` allows requests.nvidia.com/gpu 24, and `train` needs 32"})],
        ),
        (
            quota(json!({"requests.nvidia.com/gpu": "32"}), json!({"requests.nvidia.com/gpu": "8"})),
            vec![(
                "warning quota",
                str! {"`q` allows requests.nvidia.com/gpu 32, of which 8 is used; `train` needs 32"},
            )],
        ),
        (
            quota(json!({"pods": "4"}), json!({})),
            vec![("error quota", str! {"`q` allows pods 4, and `train` needs 5"})],
        ),
        (
            quota(json!({"limits.cpu": "64"}), json!({})),
            vec![(
                "error quota",
                str! {"`q` limits limits.cpu, but step prepare sets no cpu limits: the API server refuses such pods"},
            )],
        ),
        (quota(json!({"requests.nvidia.com/gpu": "32"}), json!({})), vec![]),
    ] {
        let mut canned = Canned::sound();
        canned.put("/api/v1/namespaces/bench/resourcequotas", list);
        assert_findings(&found(&canned), &words);
    }
}

#[test]
fn nodes_are_compared_with_what_pods_select() {
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
        (PROJECT, node(json!({}), json!([]), "32"), vec![]),
        (
            &select,
            node(json!({}), json!([]), "32"),
            vec![("warning nodes", str! {"`master of train`, `worker of train`: no node has the labels `gpu=h100`"})],
        ),
        (&select, node(json!({"gpu": "h100"}), json!([]), "32"), vec![]),
        (
            PROJECT,
            node(json!({}), taint.clone(), "32"),
            vec![(
                "warning nodes",
                str! {"`master of train`, `worker of train`, `step prepare`, `step run` and 3 more: every node with its labels has a taint that it does not tolerate: `nvidia.com/gpu`"},
            )],
        ),
        (&tolerate, node(json!({}), taint, "32"), vec![]),
        (
            PROJECT,
            node(json!({}), json!([]), "4"),
            vec![(
                "warning nodes",
                str! {"`master of train`, `worker of train`: it requests nvidia.com/gpu 8, but its nodes have at most 4"},
            )],
        ),
        (
            PROJECT,
            node(json!({}), json!([]), "16"),
            vec![(
                "warning nodes",
                str! {"`worker of train`: its 3 replicas do not fit: all its nodes together have room for 2, even while nothing else runs"},
            )],
        ),
    ] {
        let mut canned = Canned::sound();
        canned.put("/api/v1/nodes", nodes);
        let workloads: Vec<(String, String)> = complaints(&examined_as(project, SPEC, &canned))
            .into_iter()
            .filter(|(check, text)| check.ends_with(" nodes") && text.contains("train"))
            .collect();
        assert_findings(&workloads, &words);
    }
}

#[test]
fn rights_that_are_missing_are_named() {
    let mut canned = Canned::sound();
    canned.refused = Some(vec!["kubebench-runner create pytorchjobs".to_owned()]);
    assert_findings(
        &found(&canned),
        &[("error accounts", str! {"`kubebench-runner` may not `create pytorchjobs.kubeflow.org`"})],
    );

    // A user who may not ask for others reads the roles.
    canned.refused = None;
    assert_findings(
        &found(&canned),
        &[
            (
                "error accounts",
                str! {"the role `kubebench-workflow` of `kubebench-recorder` or its binding does not exist"},
            ),
            (
                "error accounts",
                str! {"the role `kubebench-runner` of `kubebench-runner` or its binding does not exist"},
            ),
            (
                "error accounts",
                str! {"the role `kubebench-workflow` of `kubebench-workflow` or its binding does not exist"},
            ),
        ],
    );
    let base = "/apis/rbac.authorization.k8s.io/v1/namespaces/bench";
    for role in ["kubebench-runner", "kubebench-workflow"] {
        canned.put(&format!("{base}/rolebindings/{role}"), json!({})).put(&format!("{base}/roles/{role}"), json!({}));
    }
    assert_findings(
        &found(&canned),
        &[
            (
                "error accounts",
                str! {"the roles of `kubebench-recorder` lack `create workflowtaskresults.argoproj.io`, `patch workflowtaskresults.argoproj.io`"},
            ),
            (
                "error accounts",
                str! {"the roles of `kubebench-runner` lack `get events`, `list events`, `watch events`, `get pods` and 63 more"},
            ),
            (
                "error accounts",
                str! {"the roles of `kubebench-workflow` lack `create workflowtaskresults.argoproj.io`, `patch workflowtaskresults.argoproj.io`"},
            ),
        ],
    );
}
