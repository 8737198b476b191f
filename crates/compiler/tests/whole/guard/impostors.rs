//! Pods and objects that would pass for another's: another run's, the steps', Argo's.

use super::*;

fn of_workflow(fields: &str, container: &str) -> String {
    format!(
        "{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{generateName: w-}}, spec: {{entrypoint: m, \
         arguments: {{parameters: [{{name: c, value: other}}]}}{fields}, templates: [{{name: m, container: {{{CONTAINER}{container}}}}}]}}}}\n"
    )
}

#[track_caller]
fn workflow(fields: &str, container: &str, expected: &[&str]) {
    check(&found("{}", "{workflow: {file: jobs/x.yaml}}", &of_workflow(fields, container)), expected);
}

#[test]
fn a_claim_is_named_where_the_review_sees_it() {
    let volume = |claim: &str| format!(", volumes: [{{name: v, persistentVolumeClaim: {{claimName: '{claim}'}}}}]");
    workflow(&volume("{{workflow.parameters.c}}"), "", &["KB0372 at '{{workflow.parameters.c}}'"]);
    workflow(&volume("{{workflow.parameters.c}}-results"), "", &["KB0372 at '{{workflow.parameters.c}}-results'"]);
    workflow(&volume("base-results"), "", &["KB0372 at 'base-results'"]);
    workflow(&volume("mine"), "", &[]);
    // No claim with results is called so.
    workflow(&volume("{{workflow.name}}-scratch"), "", &[]);
    workflow(&volume("scratch-{{workflow.parameters.c}}"), "", &[]);
    workflow(&volume("ba{{workflow.parameters.c}}ts"), "", &["KB0372 at 'ba{{workflow.parameters.c}}ts'"]);
}

#[test]
fn a_claim_is_no_copy_and_no_twin_of_one_with_results() {
    let claim = |name: &str, fields: &str| {
        format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{accessModes: [ReadWriteOnce], \
             resources: {{requests: {{storage: 1Gi}}}}{fields}}}}}"
        )
    };
    beside(&claim("base-results", ""), &["KB0372 at base-results"]);
    for field in ["dataSource", "dataSourceRef"] {
        let from = |name: &str| format!(", {field}: {{kind: PersistentVolumeClaim, name: {name}}}");
        beside(&claim("mine", &from("base-results")), &["KB0372 at base-results"]);
        beside(&claim("mine", &from("data")), &[]);
    }
    beside(&claim("mine", ""), &[]);
}

#[test]
fn no_pod_is_of_the_user_of_the_steps() {
    let user = |number: u32| format!("securityContext: {{runAsUser: {number}}}");
    for (number, expected) in [(65531, &["KB0372 at 65531"][..]), (65530, &[]), (1000, &[])] {
        pod(&format!(", {}", user(number)), expected);
        job(&format!("pod: {{{}}}", user(number)), expected);
        job(&format!("container: {{{}}}", user(number)), expected);
        workflow(&format!(", {}", user(number)), "", expected);
        workflow("", &format!(", {}", user(number)), expected);
    }
    workflow(
        ", podSpecPatch: 'securityContext: {runAsUser: 65531}'",
        "",
        &["KB0372 at 'securityContext: {runAsUser: 65531}'"],
    );
}

#[test]
fn the_user_of_the_steps_is_that_which_the_target_gives_them() {
    let of_target = |pods: &str, steps: &str, user: u32| {
        let settings = format!(
            "{{targets: {{default: {{namespace: ml, cluster: c, storageClass: s, pods: {{{pods}}}, steps: {{{steps}}}}}}}}}"
        );
        let job = format!(
            "{{job: {{image: 'r.example/a:1', pod: {{securityContext: {{runAsUser: {user}}}}}, command: [a], resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}}}"
        );
        let found = found(&settings, &job, "");
        found.iter().filter(|(place, _)| place.starts_with("KB0372")).count()
    };
    let user = |user: &str| format!("securityContext: {{runAsUser: {user}}}");
    assert_eq!(of_target("", &user("2000"), 2000), 1);
    assert_eq!(of_target("", &user("2000"), 65531), 0, "no step has it");
    assert_eq!(of_target(&user("1000"), &user("2000"), 2000), 1);
    // A security context of the steps takes the place of that of all pods.
    assert_eq!(of_target(&user("1000"), "securityContext: {runAsGroup: 5}", 65531), 1);
    assert_eq!(of_target(&user("1000"), "securityContext: {runAsGroup: 5}", 1000), 0);
    // All pods have one user already, and results say so.
    assert_eq!(of_target(&user("1000"), "", 1000), 0);
    assert_eq!(of_target(&user("none"), "", 65531), 0);
}

#[test]
fn no_pod_says_whose_run_it_is() {
    for name in ["KUBEBENCH_EXP_ID", "KUBEBENCH_DATA_ROOT", "KUBEBENCH_OF_MINE"] {
        let container = format!(", env: [{{name: {name}, value: x}}]");
        workflow("", &container, &[&format!("KB0372 at {name}")]);
        let manifest = of_pod("").replace(CONTAINER, &format!("{CONTAINER}{container}"));
        manifest_in("{}", "", &manifest, &[&format!("KB0372 at {name}")]);
    }
    workflow("", ", env: [{name: OF_MINE, value: $(KUBEBENCH_EXP_ID)}]", &[]);
}

#[test]
fn nothing_passes_for_a_part_of_argo() {
    let map = |name: &str, of: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}{of}}}, data: {{x: 'archiveLogs: true'}}}}")
    };
    beside(&map("artifact-repositories", ""), &["KB0372 at artifact-repositories"]);
    beside(&map("workflow-controller-configmap", ""), &["KB0372 at workflow-controller-configmap"]);
    beside(
        &map("mine", ", annotations: {workflows.argoproj.io/default-artifact-repository: x}"),
        &["KB0372 at workflows.argoproj.io/default-artifact-repository"],
    );
    beside(
        &map("mine", ", labels: {workflows.argoproj.io/configmap-type: ExecutorPlugin}"),
        &["KB0372 at workflows.argoproj.io/configmap-type"],
    );
    beside(&map("mine", ", annotations: {workflows.argoproj.io/description: mine}"), &[]);
    let logged = |name: &str| {
        let pod = format!("metadata: {{labels: {{workflows.argoproj.io/workflow: '{name}'}}}}");
        of_workflow("", "").replace("container: {", &format!("{pod}, container: {{"))
    };
    let argo = |name: &str| found("{}", "{workflow: {file: jobs/x.yaml}}", &logged(name));
    check(&argo("{{workflow.name}}"), &[]);
    check(&argo("other"), &["KB0372 at workflows.argoproj.io/workflow"]);
    job("labels: {workflows.argoproj.io/workflow: other}", &["KB0372 at workflows.argoproj.io/workflow"]);
    job("annotations: {workflows.argoproj.io/node-id: other-1}", &["KB0372 at workflows.argoproj.io/node-id"]);
}

#[test]
fn the_templates_of_the_pipeline_are_not_borrowed() {
    let whole = |name: &str| {
        format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{generateName: w-}}, spec: {{workflowTemplateRef: {{name: {name}}}}}}}\n"
        )
    };
    let found = |name: &str| {
        let all = found("{}", "{workflow: {file: jobs/x.yaml}}", &whole(name));
        all.iter().filter(|(place, _)| place.starts_with("KB0372")).count()
    };
    assert_eq!([found("kubebench"), found("kubebench-suite"), found("mine")], [1, 1, 0]);
}

#[test]
fn the_locks_of_the_pipeline_are_not_taken() {
    for (fields, expected) in [
        ("mutexes: [{name: kubebench}]", "KB0372 at kubebench"),
        ("mutex: {name: kubebench-a100}", "KB0372 at kubebench-a100"),
        ("mutexes: [{name: kubebench-a100, namespace: prod}]", "KB0372 at kubebench-a100"),
        ("mutex: {name: '{{workflow.parameters.lock}}'}", "KB0372 at '{{workflow.parameters.lock}}'"),
        (
            "semaphores: [{configMapKeyRef: {name: kubebench-settings, key: concurrency}}]",
            "KB0372 at kubebench-settings",
        ),
    ] {
        workflow(&format!(", synchronization: {{{fields}}}"), "", &[expected]);
        let of_template =
            of_workflow("", "").replace("container: {", &format!("synchronization: {{{fields}}}, container: {{"));
        check(&found("{}", "{workflow: {file: jobs/x.yaml}}", &of_template), &[expected]);
    }
    workflow(", synchronization: {mutexes: [{name: mine}]}", "", &[]);
}

#[test]
fn nothing_is_called_like_a_run() {
    let map = |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{x: a}}}}");
    beside(&map("base-0123abcd"), &["KB0372 at base-0123abcd"]);
    for sound in ["base", "base-0123abc", "base-settings", "other-0123abcd"] {
        beside(&map(sound), &[]);
    }
}

#[test]
fn what_is_decided_elsewhere_is_shown() {
    let shown = |fields: &str, template: &str| -> Vec<String> {
        let text = format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{generateName: w-}}, spec: {{entrypoint: m{fields}, \
             templates: [{{name: m, container: {{{CONTAINER}}}}}{template}]}}}}\n"
        );
        let all = noted("{}", "{workflow: {file: jobs/x.yaml}}", &text);
        all.into_iter().filter(|(code, ..)| *code == "KB0376").map(|(.., message)| message).collect()
    };
    let repository = ", artifactRepositoryRef: {configMap: elsewhere, key: x}";
    assert_eq!(shown(repository, ""), ["pods are described by the artifact repository `elsewhere` of the cluster"]);
    assert_eq!(shown("", ", {name: p, plugin: {x: {}}}").len(), 1);
    assert_eq!(shown("", ", {name: h, http: {url: 'http://a.example/'}}").len(), 1);
    assert_eq!(shown("", ""), [""; 0]);
}
