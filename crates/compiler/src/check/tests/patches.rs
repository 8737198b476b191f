//! KB0408 and KB0419: what patches take away.

use super::*;
const GPU: &str = "resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}";
const SMALL: &str = "resources: {cpu: 1, memory: 1Gi}";

#[test]
fn shared_memory() {
    let finding = [("KB0408", str! {"this removes `/dev/shm` from pods with accelerators"})];
    let own_mount = "container: {volumeMounts: [{mountPath: /dev/shm, name: mine}]}";
    let own_volume = "pod: {volumes: [{name: dshm, $patch: delete}, {name: mine, emptyDir: {medium: Memory}}]}";
    for (fields, is_found) in [
        ("pod: {volumes: null}", true),
        ("container: {volumeMounts: null}", true),
        ("pod: {volumes: null}, container: {volumeMounts: null}", true),
        ("pod: {volumes: [{name: dshm, $patch: delete}]}", true),
        ("pod: {volumes: [{name: data, emptyDir: {}}, {$patch: replace}]}", true),
        ("container: {volumeMounts: [{mountPath: /dev/shm, $patch: delete}]}", true),
        ("patch: {spec: {template: {spec: {volumes: null}}}}", true),
        ("patch: {spec: {template: {spec: {containers: [{name: main, volumeMounts: null}]}}}}", true),
        (
            "patch: {spec: {template: {spec: {containers: [{name: other, resources: {limits: {cpu: 1, memory: 1Gi}}, volumeMounts: null}]}}}}",
            false,
        ),
        ("pod: {volumes: [{name: dshm, emptyDir: {sizeLimit: 8Gi}}]}", false),
        ("pod: {volumes: [{name: data, emptyDir: {}}]}", false),
        (&format!("{own_volume}, {own_mount}"), false),
    ] {
        let expected: &[(&str, Snapshot)] = if is_found { &finding } else { &[] };
        check(&workload("job", &format!("{GPU}, {fields}")), expected);
        check(&workload("job", &format!("{SMALL}, {fields}")), &[]);
    }
    let roles = |own: &str| workload("pytorchJob", &format!("{GPU}, pod: {{volumes: null}}, master: {{{own}}}"));
    check(&roles(""), &finding);
    check(&roles("pod: {volumes: [{name: dshm, emptyDir: {medium: Memory}}]}"), &[]);
}

#[test]
fn pod_security() {
    for (fields, expected) in [
        ("pod: {hostNetwork: true}", "`hostNetwork: true`"),
        ("pod: {hostPID: true}", "`hostPID: true`"),
        ("pod: {hostIPC: true}", "`hostIPC: true`"),
        ("pod: {volumes: [{name: a, hostPath: {path: /a}}]}", "a volume of the type `hostPath`"),
        ("pod: {volumes: [{name: a, nfs: {server: s, path: /a}}]}", "a volume of the type `nfs`"),
        ("pod: {securityContext: null}", "`securityContext: null`"),
        ("pod: {securityContext: {$patch: delete}}", "`securityContext: {$patch: delete}`"),
        ("pod: {securityContext: {$patch: replace, runAsUser: 1}}", "`securityContext: {$patch: replace}`"),
        ("pod: {securityContext: {seccompProfile: {$patch: delete}}}", "`seccompProfile: {$patch: delete}`"),
        ("container: {securityContext: {$patch: delete}}", "`securityContext: {$patch: delete}`"),
        ("container: {securityContext: {capabilities: {$patch: delete}}}", "`capabilities: {$patch: delete}`"),
        ("pod: {securityContext: {runAsNonRoot: false}}", "`runAsNonRoot: false`"),
        ("pod: {securityContext: {runAsNonRoot: null}}", "`runAsNonRoot: null`"),
        ("pod: {securityContext: {runAsUser: 0}}", "`runAsUser: 0`"),
        ("pod: {securityContext: {seccompProfile: {type: Unconfined}}}", "`seccompProfile: {type: Unconfined}`"),
        ("container: {securityContext: {privileged: true}}", "`privileged: true`"),
        ("container: {securityContext: {runAsUser: 0}}", "`runAsUser: 0`"),
        ("container: {securityContext: {allowPrivilegeEscalation: true}}", "`allowPrivilegeEscalation: true`"),
        ("container: {securityContext: {procMount: Unmasked}}", "`procMount: Unmasked`"),
        (
            "container: {securityContext: {capabilities: {add: [NET_BIND_SERVICE, IPC_LOCK]}}}",
            "the capability `IPC_LOCK`",
        ),
        ("container: {securityContext: {capabilities: {drop: [NET_RAW]}}}", "`drop` without `ALL`"),
        ("container: {securityContext: {capabilities: null}}", "`capabilities: null`"),
        ("container: {ports: [{containerPort: 1, hostPort: 1}]}", "`hostPort`"),
        (
            "pod: {initContainers: [{name: a, image: 'a:1', resources: {limits: {cpu: 1, memory: 1Gi}}, securityContext: {privileged: true}}]}",
            "`privileged: true`",
        ),
        ("patch: {spec: {template: {spec: {hostNetwork: true}}}}", "`hostNetwork: true`"),
    ] {
        let job = workload("job", &format!("{SMALL}, {fields}"));
        check_about(expected, &job, ("KB0419", str! {"… lowers pod security"}));
    }
    for fields in [
        "pod: {hostNetwork: false, securityContext: {runAsUser: 1000, runAsNonRoot: true}}",
        "pod: {volumes: [{name: a, persistentVolumeClaim: {claimName: a}}]}",
        "container: {securityContext: {capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}}}",
        "container: {securityContext: {procMount: Default, seccompProfile: {type: RuntimeDefault}}}",
        "container: {ports: [{containerPort: 1}]}",
    ] {
        check(&workload("job", &format!("{SMALL}, {fields}")), &[]);
    }
}

#[test]
fn pod_security_says_what_the_target_refuses() {
    let levels = |level: &str, fields: &str| {
        let project = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\n\
             spec: {{targets: {{t: {{podSecurity: {level}}}}}}}\n"
        );
        let found = compile(&project, &document(&workload("job", &format!("{SMALL}, {fields}")))).all_findings();
        found.iter().map(|fault| fault.severity).collect::<Vec<_>>()
    };
    let (refused, noticed) = (vec![Severity::Error], vec![Severity::Warning]);
    let chown = "container: {securityContext: {capabilities: {add: [CHOWN]}}}";
    assert_eq!(levels("restricted", "pod: {hostNetwork: true}"), refused);
    assert_eq!(levels("baseline", "pod: {hostNetwork: true}"), refused);
    assert_eq!(levels("privileged", "pod: {hostNetwork: true}"), vec![Severity::Info]);
    assert_eq!(levels("restricted", chown), refused);
    assert_eq!(levels("baseline", chown), noticed);
    assert_eq!(levels("baseline", "pod: {securityContext: {runAsUser: 0}}"), noticed);
}
