//! What no benchmark may access: each attack next to an honest twin that passes.

mod impostors;
mod volumes;

use kubebench_syntax::diag::Severity;
use kubebench_testing::snapshot::{assert_findings, str};

use crate::compiled::{compile, compile_sound, created, errors, errors_at};

const METRICS: &str = "  metrics: [{name: s, unit: s, better: lower, primary: true, from: {duration: run}}]\n";
const HEAD: &str = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: base}\nspec:\n  timeout: 1h\n";
const CONTAINER: &str = "name: main, image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}";

/// A project with these `settings` and this workload.
fn files(settings: &str, workload: &str) -> [String; 2] {
    [
        format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {settings}\n"),
        format!("{HEAD}  workload: {workload}\n{METRICS}"),
    ]
}

/// The text pointed at and the message of each error there.
fn found(settings: &str, workload: &str, manifest: &str) -> Vec<(String, String)> {
    let [project, spec] = files(settings, workload);
    errors_at(&compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec), ("jobs/x.yaml", manifest)]))
}

/// The codes and messages of what is right there, and of what a lint reports.
fn noted(settings: &str, workload: &str, manifest: &str) -> Vec<(&'static str, Severity, String)> {
    let [project, spec] = files(settings, workload);
    let compilation = compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec), ("jobs/x.yaml", manifest)]);
    assert_eq!(errors(&compilation), [""; 0], "{workload} {manifest}");
    compilation.diagnostics.iter().map(|fault| (fault.code.id, fault.severity, fault.message.clone())).collect()
}

#[track_caller]
fn check(found: &[(String, String)], expected: &[&str]) {
    let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, expected, "{found:#?}");
}

fn of_job(fields: &str) -> Vec<(String, String)> {
    let workload = format!("{{job: {{image: 'r.example/a:1', resources: {{cpu: 1, memory: 1Gi}}, {fields}}}}}");
    found("{}", &workload, "")
}

/// Checks the errors about a job with these fields.
#[track_caller]
fn job(fields: &str, expected: &[&str]) {
    check(&of_job(fields), expected);
}

/// Checks the errors about a manifest in a project with these settings; `form` contains the fields next to `file`.
#[track_caller]
fn manifest_in(settings: &str, form: &str, manifest: &str, expected: &[&str]) {
    check(&found(settings, &format!("{{manifest: {{file: jobs/x.yaml{form}}}}}"), manifest), expected);
}

/// Checks the errors about a manifest that is a Job with these fields in its pod.
#[track_caller]
fn pod(fields: &str, expected: &[&str]) {
    manifest_in("{}", "", &of_pod(fields), expected);
}

fn of_pod(fields: &str) -> String {
    format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: x}}, spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{{CONTAINER}}}]{fields}}}}}}}}}\n"
    )
}

/// Checks the errors about a Job with this additional object.
#[track_caller]
fn beside(object: &str, expected: &[&str]) {
    beside_in("{}", object, expected);
}

#[track_caller]
fn beside_in(settings: &str, object: &str, expected: &[&str]) {
    manifest_in(settings, "", &format!("{}---\n{object}\n", of_pod("")), expected);
}

/// Checks the errors about a Workflow with these fields in its `spec`, and in its only template.
#[track_caller]
fn workflow(spec: &str, template: &str, expected: &[&str]) {
    let text = format!(
        "{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{name: x}}, spec: {{entrypoint: a, templates: [{{name: a, {template}}}]{spec}}}}}\n"
    );
    check(&found("{}", "{workflow: {file: jobs/x.yaml}}", &text), expected);
}

const WORK: &str = "container: {image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}}";

#[test]
fn the_credential_of_the_recorder_is_for_no_pod() {
    const OURS: &[&str] = &["KB0372 at kubebench-git"];
    assert_findings(
        &of_job("env: {P: {secret: {name: kubebench-git, key: password}}}"),
        &[("KB0372 at kubebench-git", str! {"the Secret `kubebench-git` belongs to kubebench"})],
    );
    job("env: {P: {secret: {name: my-token, key: password}}}", &[]);
    // A program may know the name: a name grants no access.
    job("args: [--name, kubebench-git], env: {P: kubebench-git}", &[]);
    job("pod: {volumes: [{name: v, secret: {secretName: kubebench-git}}]}", OURS);
    job("pod: {volumes: [{name: v, projected: {sources: [{secret: {name: kubebench-git}}]}}]}", OURS);
    job("pod: {volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: kubebench-git}}}]}", OURS);
    job("pod: {imagePullSecrets: [{name: kubebench-git}]}", OURS);
    job("container: {envFrom: [{secretRef: {name: kubebench-git}}]}", OURS);
    job("patch: {spec: {template: {spec: {imagePullSecrets: [{name: kubebench-git}]}}}}", OURS);
    pod(", imagePullSecrets: [{name: kubebench-git}]", OURS);
    pod(", initContainers: [{name: i, image: 'r.example/a:1', envFrom: [{secretRef: {name: kubebench-git}}]}]", OURS);
    beside(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: {containers: [{name: a, image: 'r.example/a:1', envFrom: [{secretRef: {name: kubebench-git}}]}]}}}}",
        OURS,
    );
    manifest_in(
        "{results: {credential: mine}}",
        "",
        &of_pod(", imagePullSecrets: [{name: mine}]"),
        &["KB0372 at mine"],
    );
    manifest_in("{results: {credential: mine}}", "", &of_pod(", imagePullSecrets: [{name: kubebench-git}]"), &[]);
    for step in ["prepare", "postprocess"] {
        let workload = format!(
            "{{job: {{image: 'r.example/a:1', resources: {{cpu: 1, memory: 1Gi}}}}}}\n  {step}: {{image: 'r.example/a:1', env: {{P: {{secret: {{name: kubebench-git, key: k}}}}}}}}"
        );
        check(&found("{}", &workload, ""), OURS);
    }
}

#[test]
fn properties_of_spark_reach_no_pod_past_the_checks() {
    let of = |properties: &str| {
        let workload = format!(
            "{{sparkApplication: {{image: 'r.example/a:1', type: Python, sparkVersion: 4.0.4, mainApplicationFile: 'local:///a.py', driver: {{serviceAccount: spark}}, executor: {{}}, sparkConf: {{{properties}}}}}}}"
        );
        let settings = "{targets: {t: {networkPolicy: {enabled: false}}}}";
        let found = found(settings, &workload, "");
        found.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
    };
    for honest in [
        "spark.sql.shuffle.partitions: '8'",
        "spark.kubernetes.driver.label.team: a",
        "spark.kubernetes.allocation.batch.size: '5'",
    ] {
        assert_eq!(of(honest), [] as [&str; 0], "{honest}");
    }
    for property in [
        "spark.kubernetes.driver.volumes.hostPath.a.mount.path",
        "spark.kubernetes.executor.secretKeyRef.P",
        "spark.kubernetes.driver.pod.featureSteps",
        "spark.kubernetes.authenticate.driver.serviceAccountName",
    ] {
        assert_eq!(of(&format!("{property}: '/x'")), [format!("KB0376 at {property}")]);
    }
    let secret = "spark.kubernetes.driver.secrets.kubebench-git";
    assert_eq!(of(&format!("{secret}: /etc/secrets")), [format!("KB0372 at {secret}"), format!("KB0376 at {secret}")]);
    assert_eq!(
        of("spark.kubernetes.driver.label.kubebench.dev/step: record"),
        ["KB0372 at spark.kubernetes.driver.label.kubebench.dev/step"]
    );
}

#[test]
fn the_key_that_signs_is_for_no_pod() {
    let settings = "{results: {signing: {secret: results-key}}}";
    let mounted = |name: &str| of_pod(&format!(", volumes: [{{name: v, secret: {{secretName: {name}}}}}]"));
    manifest_in(settings, "", &mounted("results-key"), &["KB0372 at results-key"]);
    manifest_in(settings, "", &mounted("kubebench-git"), &["KB0372 at kubebench-git"]);
    manifest_in(settings, "", &mounted("results-key-of-mine"), &[]);
    manifest_in("{}", "", &mounted("results-key"), &[]);
}

#[test]
fn the_accounts_of_the_pipeline_are_for_no_pod() {
    assert_findings(
        &of_job("pod: {serviceAccountName: kubebench-runner}"),
        &[("KB0372 at kubebench-runner", str! {"the account `kubebench-runner` belongs to kubebench"})],
    );
    job("pod: {serviceAccountName: trainer}", &[]);
    pod(", serviceAccountName: kubebench-recorder", &["KB0372 at kubebench-recorder"]);
    pod(", serviceAccount: kubebench-recorder", &["KB0372 at kubebench-recorder"]);
    workflow("", WORK, &[]);
    workflow(", serviceAccountName: kubebench-runner", WORK, &["KB0372 at kubebench-runner"]);
    workflow(", executor: {serviceAccountName: kubebench-runner}", WORK, &["KB0372 at kubebench-runner"]);
    workflow("", &format!("serviceAccountName: kubebench-runner, {WORK}"), &["KB0372 at kubebench-runner"]);
    // A value that is filled in at run time has not been reviewed.
    workflow(", serviceAccountName: '{{workflow.parameters.a}}'", WORK, &["KB0372 at '{{workflow.parameters.a}}'"]);
}

/// Values that parameters fill in are no faults of form.
#[test]
fn patches_of_pods_may_have_parameters() {
    const WORKFLOW: &str = "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: w}, spec: {entrypoint: a, templates: [{name: a, inputs: {parameters: [{name: m, value: 1Gi}]}, podSpecPatch: 'PATCH', container: {image: registry.example/a:1, command: [a], resources: {limits: {cpu: 1, memory: 1Gi}}}}]}}";
    let found = |patch: &str| {
        let manifest = WORKFLOW.replace("PATCH", patch);
        found("{}", "{workflow: {file: jobs/x.yaml}}", &manifest).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    let quantity = |memory: &str| {
        format!(
            "{{nodeSelector: {{x: \"{{{{inputs.parameters.m}}}}\"}}, containers: [{{name: main, resources: {{limits: {{memory: \"{memory}\"}}}}}}]}}"
        )
    };
    assert_eq!(found(&quantity("{{inputs.parameters.m}}")), [""; 0]);
    assert!(found(&quantity("much"))[0].starts_with("KB0325 at "));
}

#[test]
fn texts_in_which_argo_finds_objects_are_read() {
    let patch = |text: &str| format!("podSpecPatch: {text}, {WORK}");
    workflow("", &patch("'{\"terminationGracePeriodSeconds\": 5}'"), &[]);
    workflow(
        "",
        &patch("'serviceAccountName: kubebench-runner'"),
        &["KB0372 at 'serviceAccountName: kubebench-runner'"],
    );
    let escaped = r#"'{"volumes": [{"name": "v", "secret": {"secretName": "kubebench\u002dgit"}}]}'"#;
    workflow("", &patch(escaped), &[&format!("KB0372 at {escaped}")]);
    workflow(
        ", podSpecPatch: 'serviceAccountName: kubebench-runner'",
        WORK,
        &["KB0372 at 'serviceAccountName: kubebench-runner'"],
    );
    workflow("", &patch("'{\"nodeName\": \"{{workflow.name}}\"}'"), &[]);
    // What is filled in could end the value, and add fields.
    let quoted = "podSpecPatch: '{\"nodeName\": \"{{workflow.parameters.p}}\"}'";
    workflow("", &format!("{quoted}, {WORK}"), &[]);
    let text = format!(
        "{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{name: x}}, spec: {{entrypoint: a, templates: [{{name: a, {quoted}, {WORK}}}]}}}}\n"
    );
    let shown = infos(PRIVILEGED, "{workflow: {file: jobs/x.yaml}}", &text);
    assert!(shown.iter().any(|(code, message)| *code == "KB0376" && message.contains("could add fields")), "{shown:?}");
    // And Argo reads names in any case.
    for unseen in ["'{{workflow.parameters.p}}'", "'{\"priority\": '"] {
        workflow("", &patch(unseen), &[&format!("KB0376 at {unseen}")]);
    }
    let cased = "'HostNetwork: true'";
    workflow("", &patch(cased), &[&format!("KB0316 at {cased}")]);
    let made = |manifest: &str| format!("resource: {{action: create, manifest: {manifest}}}");
    workflow("", &made("'{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}'"), &[]);
    let secret = "'{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: b}}'";
    workflow("", &made(secret), &[&format!("KB0336 at {secret}")]);
    workflow(
        "",
        "resource: {action: create, flags: [-f, 'https://a.example/x.yaml'], manifest: '{}'}",
        &["KB0376 at flags"],
    );
    workflow("", "resource: {action: create, manifestFrom: {artifact: {name: a}}}", &["KB0376 at manifestFrom"]);
    let job = |pod: &str| {
        format!(
            "'{{apiVersion: batch/v1, kind: Job, metadata: {{name: x}}, spec: {{template: {{spec: {{containers: [{{name: a, image: \"r.example/a:1\", resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}]{pod}}}}}}}}}'"
        )
    };
    workflow("", &made(&job("")), &[]);
    let text = job(", hostNetwork: true");
    workflow("", &made(&text), &[&format!("KB0419 at {text}")]);
    let text = format!(
        "{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{name: x}}, spec: {{entrypoint: a, templates: [{{name: a, {}}}]}}}}\n",
        made(&job(""))
    );
    assert_findings(
        &infos(PRIVILEGED, "{workflow: {file: jobs/x.yaml}}", &text),
        &[
            ("KB0376", str! {"these pods have no label of the benchmark"}),
            ("KB0373", str! {"the pods of `job` get a token for the Kubernetes API"}),
        ],
    );
}

#[test]
fn labels_of_kubebench_are_its_own() {
    assert_findings(
        &of_job("labels: {kubebench.dev/step: record}"),
        &[("KB0372 at kubebench.dev/step", str! {"`kubebench.dev/step` belongs to kubebench"})],
    );
    job("labels: {team: a}", &[]);
    job("annotations: {kubebench.dev/success: x}", &["KB0372 at kubebench.dev/success"]);
    job("patch: {metadata: {labels: {kubebench.dev/x: a}}}", &["KB0372 at kubebench.dev/x"]);
    manifest_in(
        "{}",
        "",
        &of_pod("").replace("metadata: {name: x}", "metadata: {name: x, labels: {kubebench.dev/run: z}}"),
        &["KB0372 at kubebench.dev/run"],
    );
    let service = |selector: &str| {
        format!("{{apiVersion: v1, kind: Service, metadata: {{name: s}}, spec: {{selector: {{{selector}}}}}}}")
    };
    beside(&service("kubebench.dev/benchmark: base, kubebench.dev/role: worker"), &[]);
    beside(&service("kubebench.dev/benchmark: other"), &["KB0372 at other"]);
    beside(&service("kubebench.dev/step: record"), &["KB0372 at kubebench.dev/step"]);
    // So are the names of its objects: what a run brings, it deletes.
    let called = |kind: &str, name: &str| format!("{{{kind}, metadata: {{name: {name}}}}}");
    beside(&called("apiVersion: v1, kind: ConfigMap", "settings"), &[]);
    beside(&called("apiVersion: v1, kind: ConfigMap", "kubebench-settings"), &["KB0372 at kubebench-settings"]);
    beside(&called("apiVersion: v1, kind: ConfigMap", "kubebench"), &["KB0372 at kubebench"]);
    let affinity = |expression: &str| {
        format!(
            "pod: {{affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: a, labelSelector: {{matchExpressions: [{expression}]}}}}]}}}}}}"
        )
    };
    job(&affinity("{key: kubebench.dev/role, operator: In, values: [worker]}"), &[]);
    job(&affinity("{key: kubebench.dev/step, operator: Exists}"), &["KB0372 at kubebench.dev/step"]);
    let nodes = "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubebench.dev/pool, operator: Exists}]}]}";
    job(&format!("pod: {{affinity: {{nodeAffinity: {{{nodes}}}}}}}"), &[]);
    job("pod: {nodeSelector: {kubebench.dev/pool: gpu}}", &[]);
}

#[test]
fn tokens_are_for_those_whom_the_project_names() {
    let token = |audience: &str| {
        format!(
            "pod: {{volumes: [{{name: t, projected: {{sources: [{{serviceAccountToken: {{path: t{audience}}}}}]}}}}]}}"
        )
    };
    job(&token(""), &["KB0373 at serviceAccountToken"]);
    job(&token(", audience: ''"), &["KB0373 at ''"]);
    let api_server = "https://kubernetes.default.svc.cluster.local";
    job(&token(&format!(", audience: '{api_server}'")), &[&format!("KB0373 at '{api_server}'")]);
    assert_findings(
        &of_job(&token(", audience: sts.example")),
        &[("KB0373 at sts.example", str! {"the target `default` allows no token for `sts.example`"})],
    );
    let manifest = of_pod(
        ", volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: t, audience: sts.example}}]}}]",
    );
    manifest_in("{targets: {t: {tokenAudiences: [sts.example]}}}", "", &manifest, &[]);
    manifest_in("{targets: {t: {tokenAudiences: [sts.other]}}}", "", &manifest, &["KB0373 at sts.example"]);
    let settings = format!("{{targets: {{t: {{tokenAudiences: ['{api_server}']}}}}}}");
    check(
        &found(&settings, "{job: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}}", ""),
        &[&format!("KB0373 at '{api_server}'")],
    );
    job("pod: {automountServiceAccountToken: true}", &["KB0373 at automountServiceAccountToken"]);
    job("pod: {automountServiceAccountToken: false}", &[]);
    pod(", automountServiceAccountToken: true", &["KB0373 at automountServiceAccountToken"]);
    pod(", automountServiceAccountToken: false", &[]);
    pod(
        ", volumes: [{name: c, projected: {sources: [{podCertificate: {signerName: a, keyType: ED25519}}]}}]",
        &["KB0373 at podCertificate"],
    );
    // Argo's executor reports to the API server how its pod ended.
    workflow(", automountServiceAccountToken: true", WORK, &[]);
}

#[test]
fn kinds_that_give_rights_are_for_no_run() {
    let main = |object: &str, shown: &str| {
        let form = format!(", main: {shown}, success: 'jsonpath={{.kind}}=A', failure: 'jsonpath={{.kind}}=B'");
        let found =
            found("{allowKinds: [apps/StatefulSet]}", &format!("{{manifest: {{file: jobs/x.yaml{form}}}}}"), object);
        found.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
    };
    for (version, kind) in [
        ("v1", "Secret"),
        ("v1", "ServiceAccount"),
        ("v1", "Namespace"),
        ("rbac.authorization.k8s.io/v1", "Role"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding"),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy"),
        ("certificates.k8s.io/v1", "CertificateSigningRequest"),
        ("authentication.k8s.io/v1", "TokenRequest"),
    ] {
        let object = format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: x}}, spec: {{}}}}\n");
        assert_eq!(main(&object, &format!("{kind}/x")), [format!("KB0336 at {kind}")]);
        beside(&object, &[&format!("KB0336 at {kind}")]);
    }
    let settings = "{allowKinds: [Secret, rbac.authorization.k8s.io/Role, apps/StatefulSet]}";
    let job = "{job: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}}";
    check(&found(settings, job, ""), &["KB0336 at Secret", "KB0336 at rbac.authorization.k8s.io/Role"]);
}

#[test]
fn other_kinds_are_for_the_owners_of_the_project_to_allow() {
    let policy =
        "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}}}";
    beside(policy, &["KB0374 at NetworkPolicy"]);
    assert_findings(
        &found("{}", "{manifest: {file: jobs/x.yaml}}", &format!("{}---\n{policy}\n", of_pod(""))),
        &[("KB0374 at NetworkPolicy", str! {"this project does not allow the kind networking.k8s.io/NetworkPolicy"})],
    );
    beside_in("{allowKinds: [networking.k8s.io/NetworkPolicy]}", policy, &[]);
    for (version, kind) in [
        ("v1", "Pod"),
        ("apps/v1", "DaemonSet"),
        ("external-secrets.io/v1", "ExternalSecret"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        ("source.toolkit.fluxcd.io/v1", "GitRepository"),
        ("example.com/v1", "Job"),
    ] {
        let object = format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: p}}, spec: {{}}}}");
        beside(&object, &[&format!("KB0374 at {kind}")]);
        beside(&format!("{{apiVersion: v1, kind: List, items: [{object}]}}"), &[&format!("KB0374 at {kind}")]);
        // What another object makes counts as what it is.
        let wrapped = format!(
            "{{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, metadata: {{name: w}}, spec: {{components: [{{template: {object}}}]}}}}"
        );
        beside_in("{allowKinds: [workload.codeflare.dev/AppWrapper]}", &wrapped, &[&format!("KB0374 at {kind}")]);
    }
    let service = |field: &str| {
        format!("{{apiVersion: v1, kind: Service, metadata: {{name: s}}, spec: {{selector: {{a: b}}{field}}}}}")
    };
    beside(&service(""), &[]);
    beside(&service(", type: ClusterIP"), &[]);
    beside(&service(", type: LoadBalancer"), &["KB0336 at type"]);
    beside(&service(", type: NodePort"), &["KB0336 at type"]);
    beside(&service(", type: ExternalName, externalName: a.example"), &["KB0336 at type"]);
    beside(&service(", externalIPs: [10.0.0.1]"), &["KB0336 at externalIPs"]);
    // An object that is only named is not created.
    beside(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {apiGroup: a.example, kind: Snapshot, name: s}}}",
        &[],
    );
    // An object that exists already is not created.
    manifest_in("{}", ", preinstalled: [NetworkPolicy/p]", &format!("{}---\n{policy}\n", of_pod("")), &[]);
}

const PRIVILEGED: &str = "{targets: {t: {podSecurity: privileged, networkPolicy: {enabled: false}}}}";

fn infos(settings: &str, workload: &str, manifest: &str) -> Vec<(&'static str, String)> {
    let noted = noted(settings, workload, manifest).into_iter();
    noted.filter(|(_, severity, _)| *severity == Severity::Info).map(|(code, _, message)| (code, message)).collect()
}

#[test]
fn what_is_allowed_by_design_is_shown() {
    let manifest = "{manifest: {file: jobs/x.yaml}}";
    let text = of_pod(", automountServiceAccountToken: false, hostNetwork: true");
    assert_findings(
        &infos(PRIVILEGED, manifest, &text),
        &[("KB0419", str! {"`hostNetwork: true` lowers pod security"})],
    );
    assert_eq!(infos(PRIVILEGED, manifest, &of_pod(", automountServiceAccountToken: false")), []);
    // Kubernetes gives a pod a token that does not say so.
    assert_findings(
        &infos(PRIVILEGED, manifest, &of_pod("")),
        &[("KB0373", str! {"the pods of `job` get a token for the Kubernetes API"})],
    );
    // No level of a lint makes what is right wrong; its owners may hide it.
    let with = |level: &str| PRIVILEGED.replace("{targets", &format!("{{lints: {{KB0419: {level}}}, targets"));
    assert_eq!(infos(&with("error"), manifest, &text).len(), 1);
    assert_eq!(infos(&with("'off'"), manifest, &text), []);
    let spark = "{sparkApplication: {image: 'r.example/a:1', type: Python, sparkVersion: 4.0.4, mainApplicationFile: 'local:///a.py', driver: {serviceAccount: spark}, executor: {}}}";
    assert_findings(
        &infos(PRIVILEGED, spark, ""),
        &[("KB0373", str! {"the pods of `driver` get a token for the Kubernetes API"})],
    );
}

#[test]
fn pods_that_the_cluster_describes_are_shown() {
    let train = |runtime: &str| {
        format!(
            "{{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {{name: x}}, spec: {{runtimeRef: {{name: {runtime}}}}}}}\n"
        )
    };
    let manifest = "{manifest: {file: jobs/x.yaml}}";
    assert_findings(
        &infos("{}", manifest, &train("torch")),
        &[("KB0376", str! {"pods are described by the runtime `torch` of the cluster"})],
    );
    let carried =
        "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainingRuntime, metadata: {name: mine}, spec: {}}\n";
    assert_eq!(infos("{}", manifest, &format!("{}---\n{carried}", train("mine"))), []);
    let workflow = "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: x}, spec: {workflowTemplateRef: {name: shared}}}\n";
    for form in [manifest, "{workflow: {file: jobs/x.yaml}}"] {
        let lints: Vec<_> =
            noted(PRIVILEGED, form, workflow).into_iter().filter(|(code, ..)| *code == "KB0329").collect();
        assert_eq!(lints.len(), 1, "{lints:?}");
    }
}

/// Objects other than the measured one run pods too.
#[test]
fn pods_next_to_a_manifest_keep_the_rules_about_pods() {
    let deployment = |kind: &str, pod: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: d}}, spec: {{template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{{CONTAINER}}}]{pod}}}}}}}}}"
        )
    };
    let settings = "{allowKinds: [apps/DaemonSet, Pod]}";
    beside_in(settings, &deployment("Deployment", ""), &[]);
    beside_in(settings, &deployment("Deployment", ", hostNetwork: true"), &["KB0419 at hostNetwork"]);
    beside_in(
        settings,
        &deployment("DaemonSet", ", volumes: [{name: v, hostPath: {path: /}}]"),
        &["KB0419 at hostPath"],
    );
    let pod = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{hostPID: true, containers: [{{{CONTAINER}}}]}}}}"
    );
    beside_in(settings, &pod, &["KB0419 at hostPID"]);
    let root = "containers: [{name: m, image: r.example/a, securityContext: {privileged: true}}]";
    let mut codes: Vec<String> = found(
        &settings.replace("{allow", "{lints: {KB0401: error, KB0403: error}, allow"),
        "{manifest: {file: jobs/x.yaml}}",
        &format!("{}---\n{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d}}, spec: {{template: {{spec: {{{root}}}}}}}}}\n", of_pod("")),
    )
    .into_iter()
    .map(|(place, _)| place)
    .collect();
    codes.sort();
    assert_eq!(codes, ["KB0401 at r.example/a", "KB0403 at m", "KB0419 at privileged"]);
    let patched = "podSpecPatch: 'hostNetwork: true', container: {image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}}";
    workflow("", patched, &["KB0419 at 'hostNetwork: true'"]);
    // The network policy knows all of them.
    let [project, spec] = files(settings, "{manifest: {file: jobs/x.yaml}}");
    let sound = pod.replace("hostPID: true, ", "");
    let text = format!("{}---\n{}\n---\n{sound}\n", of_pod(""), deployment("DaemonSet", ""));
    let compilation = compile_sound(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec), ("jobs/x.yaml", &text)]);
    let objects = created(&compilation);
    let labels = |kind: &str, at: &str| {
        let object = &objects.iter().find(|emitted| emitted.object["kind"] == kind).unwrap().object;
        object.pointer(at).unwrap()["kubebench.dev/benchmark"].clone()
    };
    for (kind, at) in [
        ("Job", "/spec/template/metadata/labels"),
        ("DaemonSet", "/spec/template/metadata/labels"),
        ("Pod", "/metadata/labels"),
    ] {
        assert_eq!(labels(kind, at), "base", "{kind}");
    }
}

#[test]
fn the_image_of_the_steps_is_pinned_like_any_other() {
    let job = "{job: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}}";
    let of = |image: &str| found(&format!("{{lints: {{KB0401: error, KB0402: error}}, image: {image}}}"), job, "");
    check(&of("r.example/kubebench:0.1.0"), &[]);
    check(&of("r.example/kubebench"), &["KB0401 at r.example/kubebench"]);
    check(&of("r.example/kubebench:latest"), &["KB0402 at r.example/kubebench:latest"]);
    assert_eq!(noted("{image: r.example/kubebench}", job, "").len(), 1);
}

/// Found by a tester who had only the program.
#[test]
fn pods_are_made_of_more_than_pod_templates() {
    workflow(", hostNetwork: true", WORK, &["KB0419 at hostNetwork"]);
    let inline = "steps: [[{name: s, inline: {container: {image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}, securityContext: {privileged: true}}}}]]";
    workflow("", inline, &["KB0419 at privileged"]);
    workflow(
        ", templateDefaults: {container: {securityContext: {runAsUser: 0}}}, podGC: {strategy: OnPodSuccess}",
        WORK,
        &[],
    );
    workflow(", templateDefaults: {container: {securityContext: {privileged: true}}}", WORK, &["KB0419 at privileged"]);
    workflow(", artifactGC: {podSpecPatch: 'hostNetwork: true'}", WORK, &["KB0419 at 'hostNetwork: true'"]);
    workflow(
        "",
        "script: {source: x, image: 'r.example/a:1', command: [a], resources: {limits: {cpu: 1, memory: 1Gi}}, envFrom: [{secretRef: {name: kubebench-git}}]}",
        &["KB0372 at kubebench-git"],
    );
    workflow(
        "",
        &format!("metadata: {{annotations: {{\"kubebench{{{{='.'}}}}dev/step\": record}}}}, {WORK}"),
        &["KB0372 at \"kubebench{{='.'}}dev/step\""],
    );
    for context in [
        "seLinuxOptions: {type: spc_t}",
        "sysctls: [{name: kernel.msgmax, value: '1'}]",
        "windowsOptions: {hostProcess: true}",
    ] {
        let found = of_job(&format!("pod: {{securityContext: {{{context}}}}}"));
        assert_eq!(found.len(), 1, "{context}: {found:?}");
        assert!(found[0].0.starts_with("KB0419"), "{found:?}");
    }
    job("pod: {automountServiceAccountToken: null}", &["KB0373 at automountServiceAccountToken"]);
    let spark = |fields: &str| {
        let text = format!(
            "{{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {{name: x}}, spec: {{{fields}}}}}\n"
        );
        let form = "{manifest: {file: jobs/x.yaml}}";
        found("{targets: {t: {networkPolicy: {enabled: false}}}}", form, &text)
            .into_iter()
            .map(|(place, _)| place)
            .collect::<Vec<_>>()
    };
    let has =
        |fields: &str, place: &str| assert!(spark(fields).contains(&place.to_owned()), "{fields}: {:?}", spark(fields));
    has("driver: {hostNetwork: true}", "KB0419 at hostNetwork");
    has(
        "driver: {sidecars: [{name: s, image: 'r.example/a:1', securityContext: {privileged: true}}]}",
        "KB0419 at privileged",
    );
    has("volumes: [{name: v, hostPath: {path: /}}]", "KB0419 at hostPath");
    has("sparkUIOptions: {serviceType: NodePort}", "KB0336 at serviceType");
    // Katib puts values and the text of a ConfigMap into trials as they are.
    let experiment = |parameter: &str, trial: &str, more: &str| {
        let text = format!(
            "{{apiVersion: kubeflow.org/v1beta1, kind: Experiment, metadata: {{name: x}}, spec: {{parameters: [{{name: lr, parameterType: categorical, feasibleSpace: {{list: [{parameter}]}}}}], trialTemplate: {{{trial}}}}}}}\n{more}"
        );
        found("{}", "{manifest: {file: jobs/x.yaml}}", &text).into_iter().map(|(place, _)| place).collect::<Vec<_>>()
    };
    let value = r#"'x"},"hostPID":true,"a":{"b":"y'"#;
    assert!(experiment(value, "", "").contains(&format!("KB0376 at {value}")));
    let text = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: t}, data: {a: 'serviceAccountName: kubebench-runner'}}\n";
    let read = experiment("a", "configMap: {configMapName: t, templatePath: a}", text);
    assert!(read.contains(&"KB0372 at 'serviceAccountName: kubebench-runner'".to_owned()), "{read:?}");
}
