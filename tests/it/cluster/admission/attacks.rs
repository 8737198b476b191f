//! The attacks of an author of a spec, of an operator and of somebody who may write to the namespace, as single requests.

use serde_json::{Value, json};

use super::super::cluster;
use super::super::e2e::Settings;
use super::super::namespaces::Project;
use super::{Guarded, Who, container, merge, object, pod, share};

const PIPELINE: &str = "kubebench-pipeline";
const RUNNING: &str = "kubebench-running-pods";

const SPEC: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: a}
spec:
  timeout: 5m
  workload: {job: {image: busybox:1, command: ['true'], resources: {cpu: 10m, memory: 32Mi}}}
  metrics: [{name: s, unit: s, better: lower, primary: true, from: {duration: run}}]
";

fn project(test: &str) -> Option<Project> {
    let cluster = cluster(test)?;
    // Pod Security is not what refuses here.
    let settings = Settings::of("admission").text().replace("restricted", "privileged");
    let settings = settings.replace("IMAGE", "localhost/kubebench:test").replace("REMOTE", "http://git.example/x.git");
    let files = [("kubebench.yaml", settings.as_str()), ("specs/a.yaml", SPEC)];
    let owned = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let project = Project::compiled(cluster, owned.into());
    share(&project);
    Some(project)
}

/// The API server compiles expressions, and warns of those that do not fit the kinds that they are about.
#[test]
fn expressions_fit_the_kinds_that_they_are_about() {
    let Some(project) = project("expressions_fit_the_kinds_that_they_are_about") else { return };
    let guarded = Guarded::new(&project, "test");
    let policies = guarded.cluster().json(["get", "validatingadmissionpolicies", "-o", "json"]);
    let own = policies["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|policy| policy["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("kubebench-")));
    let mut count = 0;
    for policy in own {
        let status = &policy["status"];
        assert_eq!(status["observedGeneration"], policy["metadata"]["generation"], "{policy:#}");
        assert_eq!(status["typeChecking"], json!({}), "{policy:#}");
        count += 1;
    }
    assert_eq!(count, 6);
}

/// Every way in which a pod reaches a Secret, with `NAME` instead of its name.
fn ways(name: &str) -> Vec<Value> {
    let reference = json!({"name": name, "key": "password"});
    let with = |key: &str, value: Value| {
        let mut container = container();
        merge(&mut container, &json!({key: value}));
        container
    };
    let env = with("env", json!([{"name": "P", "valueFrom": {"secretKeyRef": reference}}]));
    let all = with("envFrom", json!([{"secretRef": {"name": name}}]));
    let mut first = env.clone();
    first["name"] = json!("first");
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        merge(&mut volume, &source);
        json!({"volumes": [volume]})
    };
    vec![
        json!({"containers": [env]}),
        json!({"containers": [all]}),
        json!({"initContainers": [first]}),
        json!({"imagePullSecrets": [{"name": name}]}),
        volume(json!({"secret": {"secretName": name}})),
        volume(json!({"projected": {"sources": [{"secret": {"name": name}}]}})),
        volume(json!({"csi": {"driver": "d.example", "nodePublishSecretRef": {"name": name}}})),
        volume(json!({"csi": {"driver": "d.example", "volumeAttributes": {"secretName": name}}})),
        volume(json!({"azureFile": {"secretName": name, "shareName": "s"}})),
        volume(json!({"flexVolume": {"driver": "d.example/d", "secretRef": {"name": name}}})),
        volume(json!({"cephfs": {"monitors": ["m"], "secretRef": {"name": name}}})),
    ]
}

#[test]
fn no_pod_but_the_recorder_reaches_the_secrets() {
    let Some(project) = project("no_pod_but_the_recorder_reaches_the_secrets") else { return };
    let guarded = Guarded::new(&project, "test").with_people();
    for (own, other) in [("kubebench-git", "kubebench-gitlab"), ("kubebench-signing", "my-kubebench-signing")] {
        for (attack, honest) in ways(own).into_iter().zip(ways(other)) {
            for who in [Who::Editor, Who::Operator, Who::Argo] {
                guarded.refused("a Secret", Some(who), &pod(&json!({"spec": attack})), "kubebench-pods");
            }
            guarded.taken("a Secret", Some(Who::Operator), &pod(&json!({"spec": honest})));
        }
    }
    // What programs are given as text reaches nothing.
    let mut speaks = container();
    merge(&mut speaks, &json!({"args": ["kubebench-git"], "env": [{"name": "X", "value": "kubebench-git"}]}));
    guarded.taken("a text", Some(Who::Operator), &pod(&json!({"spec": {"containers": [speaks]}})));

    // Of the steps, one.
    for (step, account, taken) in [("record", "kubebench-recorder", true), ("run", "kubebench-runner", false)] {
        for way in ways("kubebench-git") {
            let mut step = of_argo("x-0123abcd-r1", step, account);
            merge(&mut step, &json!({"spec": way}));
            if taken {
                guarded.taken("a step", Some(Who::Argo), &step);
            } else {
                guarded.refused("a step", Some(Who::Argo), &step, "kubebench-pods");
            }
        }
    }
}

/// A pod as Argo's controller makes it for a Workflow.
fn of_argo(workflow: &str, step: &str, account: &str) -> Value {
    let owner = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": workflow, "uid": "1", "controller": true,
    });
    let labels = if step.is_empty() { json!({}) } else { json!({"kubebench.dev/step": step}) };
    pod(&json!({
        "metadata": {"labels": labels, "ownerReferences": [owner]},
        "spec": {"serviceAccountName": account},
    }))
}

#[test]
fn accounts_and_the_label_of_steps_are_for_steps() {
    let Some(project) = project("accounts_and_the_label_of_steps_are_for_steps") else { return };
    let guarded = Guarded::new(&project, "test").with_people();
    let of = |account: &str| pod(&json!({"spec": {"serviceAccountName": account}}));
    for who in [Who::Editor, Who::Operator] {
        for account in ["kubebench-recorder", "kubebench-runner", "kubebench-workflow"] {
            guarded.refused("an account", Some(who), &of(account), "kubebench-pods");
        }
        guarded.taken("an account", Some(who), &of("mine"));
        for (label, value) in [("step", "record"), ("step", "mine")] {
            let labeled = pod(&json!({"metadata": {"labels": {format!("kubebench.dev/{label}"): value}}}));
            guarded.refused("a label", Some(who), &labeled, "kubebench-pods");
        }
        guarded.taken("a label", Some(who), &pod(&json!({"metadata": {"labels": {"kubebench.dev/benchmark": "a"}}})));
        // The creator of a pod says who owns it; only Argo is trusted.
        let claimed = of_argo("x-0123abcd-r1", "record", "kubebench-recorder");
        guarded.refused("an owner", Some(who), &claimed, "kubebench-pods");
    }

    // Argo makes pods for Workflows of anybody. Those of runs and of people are called otherwise.
    for workflow in ["x-0123abcd", "mine", "x-0123abcd-r", "x-0123abcd-r1-again"] {
        for step in ["record", "run"] {
            let account = if step == "record" { "kubebench-recorder" } else { "kubebench-runner" };
            guarded.refused("a Workflow", Some(Who::Argo), &of_argo(workflow, step, account), "kubebench-pods");
            guarded.refused("a Workflow", Some(Who::Argo), &of_argo(workflow, "", account), "kubebench-pods");
        }
        guarded.taken("a Workflow", Some(Who::Argo), &of_argo(workflow, "", "kubebench-workflow"));
    }
    for workflow in ["x-0123abcd-r1", "a-suite-fedcba98-r12", "nightly-1764244800"] {
        for step in ["prepare", "run", "summary", "cleanup"] {
            guarded.taken("a step", Some(Who::Argo), &of_argo(workflow, step, "kubebench-runner"));
            guarded.refused(
                "a step",
                Some(Who::Argo),
                &of_argo(workflow, step, "kubebench-recorder"),
                "kubebench-pods",
            );
        }
        guarded.taken("a step", Some(Who::Argo), &of_argo(workflow, "record", "kubebench-recorder"));
        for (step, account) in [("record", "kubebench-runner"), ("other", "kubebench-runner"), ("", "kubebench-runner")]
        {
            guarded.refused("a step", Some(Who::Argo), &of_argo(workflow, step, account), "kubebench-pods");
        }
    }
}

#[test]
fn results_are_written_by_steps() {
    let Some(project) = project("results_are_written_by_steps") else { return };
    let guarded = Guarded::new(&project, "test").with_people();
    let mounting = |claim: &str, mount: Value| {
        let mut container = container();
        let mut whole = json!({"name": "v", "mountPath": "/v"});
        merge(&mut whole, &mount);
        merge(&mut container, &json!({"volumeMounts": [whole]}));
        let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]);
        pod(&json!({"spec": {"containers": [container], "volumes": volumes}}))
    };
    let attacks = [
        json!({}),
        json!({"subPath": "other"}),
        json!({"subPath": "data"}),
        json!({"subPath": "data/a/b"}),
        json!({"subPathExpr": "$(KUBEBENCH_EXP_ID)"}),
        json!({"subPathExpr": "$(OTHER)/output"}),
    ];
    let honest = [
        json!({"subPathExpr": "$(KUBEBENCH_EXP_ID)/output"}),
        json!({"subPathExpr": "$(KUBEBENCH_EXP_ID)/result"}),
        json!({"subPath": "data/a"}),
        json!({"readOnly": true}),
    ];
    for who in [Who::Editor, Who::Operator, Who::Argo] {
        for mount in &attacks {
            guarded.refused("a mount", Some(who), &mounting("a-results", mount.clone()), "kubebench-pods");
        }
        for mount in &honest {
            guarded.taken("a mount", Some(who), &mounting("a-results", mount.clone()));
        }
        guarded.taken("a claim", Some(who), &mounting("mine", json!({})));
    }
    guarded.taken("a rescue", Some(Who::Deployer), &mounting("a-results", json!({})));
    let mut step = of_argo("a-0123abcd-r1", "run", "kubebench-runner");
    let all = mounting("a-results", json!({}));
    merge(&mut step, &json!({"spec": {"containers": all["spec"]["containers"], "volumes": all["spec"]["volumes"]}}));
    guarded.taken("a step", Some(Who::Argo), &step);
    step["metadata"]["labels"] = json!({});
    step["spec"]["serviceAccountName"] = json!("kubebench-workflow");
    guarded.refused("a pod of a Workflow", Some(Who::Argo), &step, "kubebench-pods");
}

/// A kind with the place of its pod template, and who makes objects of it.
struct Kind {
    api_version: &'static str,
    name: &'static str,
    who: Who,
    around: fn(&Value) -> Value,
}

const KINDS: [Kind; 9] = [
    Kind { api_version: "batch/v1", name: "Job", who: Who::Runner, around: |template| json!({"template": template}) },
    Kind {
        api_version: "batch/v1",
        name: "CronJob",
        who: Who::Editor,
        around: |template| json!({"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": template}}}),
    },
    Kind { api_version: "apps/v1", name: "Deployment", who: Who::Editor, around: selecting },
    Kind { api_version: "apps/v1", name: "StatefulSet", who: Who::Editor, around: selecting },
    Kind { api_version: "apps/v1", name: "DaemonSet", who: Who::Editor, around: selecting },
    Kind { api_version: "apps/v1", name: "ReplicaSet", who: Who::Editor, around: selecting },
    Kind {
        api_version: "v1",
        name: "ReplicationController",
        who: Who::Editor,
        around: |template| json!({"selector": {"a": "b"}, "template": template}),
    },
    Kind {
        api_version: "kubeflow.org/v1",
        name: "TFJob",
        who: Who::Editor,
        around: |template| json!({"tfReplicaSpecs": {"Worker": {"restartPolicy": "Never", "template": template}}}),
    },
    Kind {
        api_version: "kubeflow.org/v1",
        name: "PyTorchJob",
        who: Who::Editor,
        around: |template| json!({"pytorchReplicaSpecs": {"Master": {"replicas": 1, "restartPolicy": "Never", "template": template}}}),
    },
];

fn selecting(template: &Value) -> Value {
    json!({"selector": {"matchLabels": {"a": "b"}}, "serviceName": "x", "template": template})
}

impl Kind {
    fn policy(&self) -> &'static str {
        if self.api_version.contains('.') { "kubebench-custom-templates" } else { "kubebench-templates" }
    }

    /// An object whose pods have these fields.
    fn object(&self, fields: &Value) -> Value {
        let mut container = container();
        container["name"] = json!(if self.name == "PyTorchJob" { "pytorch" } else { "tensorflow" });
        let restart = if self.api_version == "batch/v1" { "Never" } else { "Always" };
        let mut template = json!({
            "metadata": {"labels": {"a": "b"}},
            "spec": {"restartPolicy": restart, "containers": [container]},
        });
        merge(&mut template, fields);
        let mut spec = (self.around)(&template);
        if self.name != "StatefulSet" {
            spec.as_object_mut().unwrap().remove("serviceName");
        }
        object(self.api_version, self.name, &json!({"spec": spec}))
    }
}

/// M0 of the audit is the first of them: the runner itself makes a Job that mounts the credential.
#[test]
fn what_makes_pods_is_refused_at_once() {
    let Some(project) = project("what_makes_pods_is_refused_at_once") else { return };
    let guarded = Guarded::new(&project, "test").with_people();
    let volume = |name: &str| json!({"spec": {"volumes": [{"name": "v", "secret": {"secretName": name}}]}});
    let pull = |name: &str| json!({"spec": {"imagePullSecrets": [{"name": name}]}});
    let account = |name: &str| json!({"spec": {"serviceAccountName": name}});
    let label = |name: &str| json!({"metadata": {"labels": {name: "record"}}});
    for kind in &KINDS {
        for (attack, honest) in [
            (volume("kubebench-git"), volume("mine")),
            (pull("kubebench-signing"), pull("mine")),
            (account("kubebench-recorder"), account("mine")),
            (label("kubebench.dev/step"), label("kubebench.dev/role")),
        ] {
            guarded.refused(kind.name, Some(kind.who), &kind.object(&attack), kind.policy());
            guarded.taken(kind.name, Some(kind.who), &kind.object(&honest));
        }
    }
}

#[test]
fn what_decides_what_steps_do_is_written_by_who_deploys() {
    let Some(project) = project("what_decides_what_steps_do_is_written_by_who_deploys") else { return };
    let guarded = Guarded::new(&project, "test").with_people();
    let named = |kind: &str, name: &str, spec: Value| {
        object("argoproj.io/v1alpha1", kind, &json!({"metadata": {"name": name}, "spec": spec}))
    };
    let thin = json!({"workflowTemplateRef": {"name": "kubebench"}});
    for name in ["a-0123abcd-r1", "a-1764244800"] {
        guarded.refused("a name", Some(Who::Editor), &named("Workflow", name, thin.clone()), PIPELINE);
        guarded.taken("a name", Some(Who::Deployer), &named("Workflow", name, thin.clone()));
    }
    let generated = |prefix: &str| {
        object(
            "argoproj.io/v1alpha1",
            "Workflow",
            &json!({"spec": thin, "metadata": {"name": null, "generateName": prefix}}),
        )
    };
    guarded.taken("a name", Some(Who::Editor), &generated("mine-"));
    guarded.taken("a name", Some(Who::Editor), &named("Workflow", "mine", thin.clone()));
    guarded.taken("a name", Some(Who::Operator), &named("Workflow", "a-0123abcd", thin.clone()));
    // Its Workflows would be Argo's own.
    let nightly = json!({"schedules": ["0 0 * * *"], "workflowSpec": thin});
    guarded.refused("a schedule", Some(Who::Editor), &named("CronWorkflow", "mine", nightly.clone()), PIPELINE);
    guarded.taken("a schedule", Some(Who::Deployer), &named("CronWorkflow", "mine", nightly));
    guarded.taken("a Workflow of a schedule", Some(Who::Argo), &named("Workflow", "mine-1764244800", thin.clone()));

    let templates = named("WorkflowTemplate", "kubebench-suite", json!({"templates": []}));
    guarded.refused("a template", Some(Who::Editor), &templates, PIPELINE);
    guarded.taken("a template", Some(Who::Editor), &named("WorkflowTemplate", "mine", json!({"templates": []})));
    let map = |metadata: Value| object("v1", "ConfigMap", &json!({"metadata": metadata}));
    let managed = map(json!({"labels": {"app.kubernetes.io/managed-by": "kubebench"}}));
    guarded.refused("a ConfigMap", Some(Who::Editor), &managed, PIPELINE);
    guarded.taken("a ConfigMap", Some(Who::Editor), &map(json!({})));
    guarded.taken("a ConfigMap", Some(Who::Deployer), &managed);
    let open = object("networking.k8s.io/v1", "NetworkPolicy", &json!({"spec": {"podSelector": {}, "egress": [{}]}}));
    guarded.refused("an opening", Some(Who::Editor), &open, PIPELINE);
    guarded.taken("an opening", Some(Who::Deployer), &open);

    // What is there is neither changed nor deleted.
    let patch = ["patch", "--dry-run=server", "--type=merge", "-p", r#"{"metadata":{"labels":{"a":"b"}}}"#];
    for object in ["configmap/kubebench-settings", "workflowtemplate/kubebench", "networkpolicy/kubebench-steps"] {
        let change: Vec<&str> = patch.iter().copied().chain([object]).collect();
        let delete = ["delete", "--dry-run=server", object];
        let look = ["get", object];
        guarded.only(Who::Editor, PIPELINE, &change, &look);
        guarded.only(Who::Editor, PIPELINE, &delete, &look);
        for arguments in [&change[..], &delete] {
            guarded.answer(Some(Who::Deployer), arguments).unwrap_or_else(|said| panic!("{said}"));
        }
    }
}

#[test]
fn accounts_have_no_tokens_but_those_of_their_pods() {
    let Some(project) = project("accounts_have_no_tokens_but_those_of_their_pods") else { return };
    let guarded = Guarded::new(&project, "test").with_people();
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let file = guarded.file(&review);
    let of = |account: &str| format!("/api/v1/namespaces/{}/serviceaccounts/{account}/token", guarded.namespace);
    let (attack, twin) = (of("kubebench-recorder"), of("mine"));
    guarded.only(
        Who::Editor,
        "kubebench-tokens",
        &["create", "--raw", &attack, "-f", &file],
        &["create", "--raw", &twin, "-f", &file],
    );
    let secret = |account: &str| {
        let metadata = json!({"annotations": {"kubernetes.io/service-account.name": account}});
        object("v1", "Secret", &json!({"type": "kubernetes.io/service-account-token", "metadata": metadata}))
    };
    guarded.refused("a Secret", Some(Who::Editor), &secret("kubebench-runner"), "kubebench-tokens");
    guarded.taken("a Secret", Some(Who::Editor), &secret("mine"));
}

#[test]
fn what_was_admitted_does_not_become_something_else() {
    let Some(project) = project("what_was_admitted_does_not_become_something_else") else { return };
    let guarded = Guarded::new(&project, "test").with_people();
    // No node has it, so it stays as it is.
    let nowhere = json!({"nodeSelector": {"kubebench.example/none": "none"}});
    let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "a-results"}}]);
    let mine = pod(&json!({"metadata": {"name": "mine"}, "spec": nowhere}));
    let with_results = pod(
        &json!({"metadata": {"name": "reads"}, "spec": {"volumes": volumes, "nodeSelector": nowhere["nodeSelector"]}}),
    );
    for pod in [&mine, &with_results] {
        guarded.answer(Some(Who::Editor), &["create", "-f", &guarded.file(pod)]).unwrap();
    }
    guarded.only(
        Who::Editor,
        RUNNING,
        &["label", "--dry-run=server", "pod/mine", "kubebench.dev/step=record"],
        &["label", "--dry-run=server", "pod/mine", "a=b"],
    );
    let debug = |fields: Value| {
        let mut container = json!({"name": "debug", "image": "busybox:1", "terminationMessagePolicy": "File"});
        merge(&mut container, &fields);
        json!({"spec": {"ephemeralContainers": [container]}}).to_string()
    };
    let patch = |pod: &str, change: &str| -> Vec<String> {
        ["patch", "--dry-run=server", "--subresource=ephemeralcontainers", pod, "-p", change].map(str::to_owned).into()
    };
    let secret = |name: &str| debug(json!({"envFrom": [{"secretRef": {"name": name}}]}));
    let mount = |mounts: Value| debug(json!({"volumeMounts": mounts}));
    for (attack, twin) in [
        (patch("pod/mine", &secret("kubebench-git")), patch("pod/mine", &secret("mine"))),
        (patch("pod/reads", &mount(json!([{"name": "v", "mountPath": "/v"}]))), patch("pod/reads", &mount(json!([])))),
    ] {
        let [attack, twin] = [&attack, &twin].map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
        guarded.only(Who::Editor, RUNNING, &attack, &twin);
    }
}
