//! Pods after patches: what is completed in them, and what Kubernetes would refuse.

use kubebench_testing::snapshot::{Snapshot, assert_findings, str};
use serde_json::{Value, json};

use crate::compiled::{compile, compile_sound, created, errors_at};

fn spec(fields: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: base}}\nspec:\n  timeout: 1h\n  workload:\n    job: {{image: 'r.example/a:1', {fields}}}\n"
    )
}

/// A target that allows everything, so that KB0419 has nothing to say.
const PRIVILEGED: (&str, &str) = (
    "kubebench.yaml",
    "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {podSecurity: privileged}}}\n",
);
const SMALL: &str = "resources: {cpu: 1, memory: 1Gi}";

/// Checks the errors about a job with these fields: code, the text pointed at, and the message.
#[track_caller]
fn check(fields: &str, expected: &[(&str, Snapshot)]) {
    assert_findings(&errors_at(&compile(&[PRIVILEGED, ("specs/a.yaml", &spec(fields))])), expected);
}

#[track_caller]
fn check_patches(fields: &str, expected: &[(&str, Snapshot)]) {
    check(&format!("{SMALL}, {fields}"), expected);
}

fn pod(fields: &str) -> Value {
    let compilation = compile_sound(&[PRIVILEGED, ("specs/a.yaml", &spec(&format!("{SMALL}, {fields}")))]);
    created(&compilation)[0].object["spec"]["template"]["spec"].clone()
}

#[test]
fn a_privileged_container_escalates() {
    let context = |fields: &str| pod(fields)["containers"][0]["securityContext"].clone();
    let privileged = context("container: {securityContext: {privileged: true}}");
    assert_eq!(privileged, json!({"privileged": true, "capabilities": {"drop": ["ALL"]}}));
    let of_object =
        context("patch: {spec: {template: {spec: {containers: [{name: main, securityContext: {privileged: true}}]}}}}");
    assert_eq!(of_object, privileged);
    let admin = context("container: {securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}}}");
    assert_eq!(admin, json!({"capabilities": {"add": ["CAP_SYS_ADMIN"], "drop": ["ALL"]}}));
    let other = context("container: {securityContext: {capabilities: {add: [IPC_LOCK]}}}");
    assert_eq!(other["allowPrivilegeEscalation"], false);
    check_patches(
        "container: {securityContext: {privileged: true, allowPrivilegeEscalation: false}}",
        &[("KB0326 at false", str! {"`allowPrivilegeEscalation: false` cannot be combined with `privileged: true`"})],
    );
}

#[test]
fn root_needs_both_fields() {
    let finding = [("KB0326 at 0", str! {"user 0 is root, which `runAsNonRoot: true` forbids"})];
    check_patches("pod: {securityContext: {runAsUser: 0}}", &finding);
    check_patches("container: {securityContext: {runAsUser: 0}}", &finding);
    check_patches("pod: {securityContext: {runAsUser: 0, runAsNonRoot: false}}", &[]);
    check_patches("pod: {securityContext: {runAsNonRoot: false}}, container: {securityContext: {runAsUser: 0}}", &[]);
    check_patches("pod: {securityContext: {runAsUser: 0}}, container: {securityContext: {runAsUser: 1000}}", &[]);
}

#[test]
fn added_containers_start_restricted() {
    let restricted = json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
    let pod = pod("pod: {initContainers: [{name: fetch, image: 'r.example/f:1'}], containers: [\
         {name: tail, image: 'r.example/t:1', securityContext: {readOnlyRootFilesystem: true}}, \
         {name: probe, image: 'r.example/p:1', securityContext: {allowPrivilegeEscalation: true, capabilities: {add: [CHOWN]}}}, \
         {name: bare, image: 'r.example/b:1', securityContext: null}]}");
    assert_eq!(pod["initContainers"][0]["securityContext"], restricted);
    assert_eq!(pod["containers"][0]["securityContext"], restricted);
    assert_eq!(
        pod["containers"][1]["securityContext"],
        json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": true})
    );
    assert_eq!(
        pod["containers"][2]["securityContext"],
        json!({"allowPrivilegeEscalation": true, "capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}})
    );
    assert_eq!(pod["containers"][3].get("securityContext"), None);
}

#[test]
fn mounts_and_volumes() {
    let volumes = "pod: {volumes: [{name: scratch, persistentVolumeClaim: {claimName: a}}]}";
    let mount = |name: &str| format!("{volumes}, container: {{volumeMounts: [{{name: {name}, mountPath: /data}}]}}");
    check_patches(&mount("scratch"), &[]);
    check_patches(
        &mount("scrath"),
        &[("KB0326 at scrath", str! {"there is no volume `scrath` for the mount at `/data`"})],
    );
    for (fields, expected) in [
        (
            "container: {volumeMounts: [{mountPath: /a}]}",
            ("KB0326 at {mountPath: /a}", str! {"the element of `volumeMounts` has no `name`"}),
        ),
        (
            "container: {volumeMounts: [{name: a}]}",
            ("KB0326 at {name: a}", str! {"the element of `volumeMounts` has no `mountPath`"}),
        ),
        ("pod: {volumes: [{emptyDir: {}}]}", ("KB0326 at {emptyDir: {}}", str! {"the volume has no `name`"})),
        (
            "pod: {volumes: [{name: a, emptyDir: {}, configMap: {name: b}}]}",
            (
                "KB0326 at {name: a, emptyDir: {}, configMap: {name: b}}",
                str! {"the volume `a` has two sources, `configMap` and `emptyDir`"},
            ),
        ),
        (
            "pod: {volumes: [{name: a, persistentVolumeClaim: {}}]}",
            ("KB0326 at {}", str! {"the `persistentVolumeClaim` of the volume `a` has no `claimName`"}),
        ),
        (
            "pod: {volumes: [{name: a, hostPath: {}}]}",
            ("KB0326 at {}", str! {"the `hostPath` of the volume `a` has no `path`"}),
        ),
        (
            "pod: {volumes: [{name: a}, {name: b}]}, container: {volumeMounts: [{name: a, mountPath: /d}, {name: b, mountPath: /d}]}",
            ("KB0326 at /d", str! {"`/d` appears twice in `volumeMounts`"}),
        ),
        (
            "patch: {spec: {template: {spec: {volumes: [{name: a}, {name: a}]}}}}",
            ("KB0326 at a", str! {"`a` appears twice in `volumes`"}),
        ),
    ] {
        check_patches(fields, &[expected]);
    }
    check_patches("pod: {volumes: [{name: a}]}, container: {volumeMounts: [{name: a, mountPath: /d}]}", &[]);
    check_patches("pod: {volumes: [{name: a, $patch: delete}, {name: a, emptyDir: {}}]}", &[]);
}

#[test]
fn containers() {
    for (fields, expected) in [
        (
            "pod: {containers: [{image: a}]}",
            ("KB0326 at {image: a}", str! {"the element of `containers` has no `name`"}),
        ),
        ("pod: {initContainers: [{name: a}]}", ("KB0326 at {name: a}", str! {"the container `a` has no `image`"})),
        (
            "pod: {initContainers: [{name: main, image: a}]}",
            ("KB0326 at main", str! {"two containers are called `main`"}),
        ),
        (
            "container: {livenessProbe: {periodSeconds: 5}}",
            ("KB0326 at {periodSeconds: 5}", str! {"`livenessProbe` has no handler"}),
        ),
        (
            "container: {readinessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}}",
            (
                "KB0326 at {exec: {command: [a]}, tcpSocket: {port: 1}}",
                str! {"`readinessProbe` has two handlers, `exec` and `tcpSocket`"},
            ),
        ),
        (
            "pod: {initContainers: [{name: a, image: a, livenessProbe: {tcpSocket: {port: 1}}}]}",
            (
                "KB0326 at {tcpSocket: {port: 1}}",
                str! {"`livenessProbe` is in an init container that ends before the others start"},
            ),
        ),
        (
            "container: {env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}",
            (
                "KB0326 at {name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}",
                str! {"`A` has both `value` and `valueFrom`"},
            ),
        ),
    ] {
        check_patches(fields, &[expected]);
    }
    check_patches(
        "pod: {initContainers: [{name: a, image: a, restartPolicy: Always, startupProbe: {tcpSocket: {port: 1}}}]}",
        &[],
    );
}

#[test]
fn requests_stay_within_limits() {
    let amounts = "resources: {requests: {cpu: 4}, limits: {cpu: 2}}";
    let finding = [("KB0327 at 4", str! {"the request of `cpu` (4) is above its limit (2)"})];
    check(amounts, &finding);
    check("resources: {requests: {cpu: 1500m}, limits: {cpu: 2}}", &[]);
    for (list, expected) in [("containers", &finding), ("initContainers", &finding)] {
        check_patches(&format!("pod: {{{list}: [{{name: a, image: a, {amounts}}}]}}"), expected);
    }
    let beside = format!("{SMALL}}}\n  prepare: {{image: 'r.example/a:1', {amounts}");
    check(&beside, &[("KB0327 at 4", str! {"the request of `cpu` (4) is above its limit (2)"})]);
}

#[test]
fn devices_belong_to_the_role() {
    let device = |list: &str, amount: &str| {
        format!("pod: {{{list}: [{{name: a, image: a, resources: {{limits: {{cpu: 1, nvidia.com/gpu: {amount}}}}}}}]}}")
    };
    let finding = [("KB0315 at 1", str! {"a patch gives `nvidia.com/gpu` to the container `a`"})];
    check_patches(&device("containers", "1"), &finding);
    check_patches(&device("initContainers", "1"), &finding);
    check_patches(&device("containers", "0"), &[]);
}

#[test]
fn accounts() {
    let pod = pod("pod: {serviceAccountName: s3-reader}");
    assert_eq!(pod["serviceAccountName"], "s3-reader");
    assert_eq!(pod["automountServiceAccountToken"], false);
    check_patches(
        "pod: {serviceAccountName: kubebench-runner}",
        &[("KB0372 at kubebench-runner", str! {"the account `kubebench-runner` belongs to kubebench"})],
    );
    check_patches(
        "pod: {automountServiceAccountToken: true}",
        &[("KB0373 at automountServiceAccountToken", str! {"a measured program gets no token for the Kubernetes API"})],
    );
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {a: {apis: {mpiJob: v1}}}}\n";
    let mpi = |role: &str| {
        let account = "pod: {serviceAccountName: s3-reader}";
        let (launcher, worker) = if role == "launcher" { (account, "") } else { ("", account) };
        let spec = spec("").replace(
            "job: {image: 'r.example/a:1', }",
            &format!("mpiJob: {{image: 'r.example/a:1', {SMALL}, launcher: {{command: [mpirun], {launcher}}}, worker: {{replicas: 2, {worker}}}}}"),
        );
        let compilation = compile(&[("kubebench.yaml", project), ("specs/a.yaml", &spec)]);
        crate::compiled::codes(&compilation).contains(&"KB0315")
    };
    assert!(mpi("launcher"));
    assert!(!mpi("worker"));
}
