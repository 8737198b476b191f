//! KB0330, KB0422, KB0423, KB0424: what an MPIJob needs to reach its workers.

use super::*;

#[test]
fn commands_that_reach_the_workers() {
    for (field, fields) in [
        ("command", "command: [mpirun], launcher: {}, worker: {}"),
        ("args", "args: [mpirun], launcher: {}, worker: {}"),
        ("command", "command: [mpirun], launcher: {args: [a]}, worker: {}"),
    ] {
        let found = about(field, lowered(&mpi_job(fields)));
        assert_findings(&found, &[("KB0330", str! {"the workers also run the `…` next to the roles"})]);
    }
    for fields in [
        "launcher: {command: [mpirun]}, worker: {}",
        "command: [start.sh], launcher: {args: [a]}, worker: {args: [b]}",
        "command: [sshd, -De], launcher: {command: [mpirun]}, worker: {}",
        "command: [mpirun], runLauncherAsWorker: true, launcher: {}",
    ] {
        assert_eq!(lowered(&mpi_job(fields)), NONE, "{fields}");
    }
}

#[test]
fn accelerators_of_the_launcher() {
    let of = |shared: &str, roles: &str| {
        lowered(&format!("workload: {{mpiJob: {{image: 'r.example/a:1', resources: {{{shared}}}, {roles}}}}}"))
    };
    let finding = [("KB0423", str! {"the launcher also gets `nvidia.com/gpu`, but does not use it"})];
    assert_findings(&of("nvidia.com/gpu: 8", "launcher: {}, worker: {}"), &finding);
    assert_findings(&of("nvidia.com/gpu: 8", "launcher: {resources: {cpu: 1}}, worker: {}"), &finding);
    assert_findings(&of("limits: {nvidia.com/gpu: 8}", "launcher: {}, worker: {}"), &finding);
    for (shared, roles) in [
        ("cpu: 8, vpc.amazonaws.com/efa: 4", "launcher: {}, worker: {resources: {nvidia.com/gpu: 8}}"),
        ("nvidia.com/gpu: 8", "launcher: {resources: {nvidia.com/gpu: 0}}, worker: {}"),
        ("nvidia.com/gpu: 8", "launcher: {resources: {limits: {nvidia.com/gpu: 1}}}, worker: {}"),
        ("nvidia.com/gpu: 8", "launcher: {}, worker: {}, runLauncherAsWorker: true"),
    ] {
        assert_eq!(of(shared, roles), NONE, "{shared} {roles}");
    }
}

#[test]
fn homes_with_keys() {
    let user = |user: &str| format!("pod: {{securityContext: {{{user}}}}}");
    let of = |fields: &str| mpi_job(&format!("{fields}, launcher: {{}}, worker: {{}}"));
    let root = [("KB0422", str! {"`launcher` does not run as root, and its SSH keys are mounted at `/root/.ssh`"})];
    check(&of("slotsPerWorker: 1"), &root);
    check(&of(&user("runAsUser: 1000")), &root);
    check(&of(&user("runAsUser: null")), &root);
    check(
        &of("sshAuthMountPath: /root/keys"),
        &[("KB0422", str! {"`launcher` does not run as root, and its SSH keys are mounted at `/root/keys`"})],
    );
    check(&of(KEYS), &[]);
    check(&of("sshAuthMountPath: /home/mpiuser/.ssh"), &[]);
    check(&of("patch: {spec: {sshAuthMountPath: /home/mpiuser/.ssh}}"), &[]);
    check(&of(&format!("container: {{securityContext: {{runAsUser: 1000}}}}, {}", user("runAsUser: 1001"))), &root);
    check_on("{t: {apis: {mpiJob: v1}, networkPolicy: {enabled: false}}}", &of("slotsPerWorker: 1"), &[]);
    // Root is another lint's business.
    let lowered_security = [("KB0419", str! {"`runAsUser: 0` lowers pod security"})];
    check(&of(&user("runAsUser: 0")), &lowered_security);
    check(
        &mpi_job(&format!("launcher: {{{}}}, worker: {{}}", user("runAsUser: 0"))),
        &[
            ("KB0422", str! {"`worker` does not run as root, and its SSH keys are mounted at `/root/.ssh`"}),
            ("KB0419", str! {"`runAsUser: 0` lowers pod security"}),
        ],
    );
}

#[test]
fn ways_to_the_api_server() {
    let job = mpi_job("launcher: {}, worker: {}");
    let target = |fields: &str| format!("{{t: {{apis: {{mpiJob: v1}}, {fields}}}}}");
    let rule = |rule: &str| target(&format!("networkPolicy: {{egress: [{rule}]}}"));
    let block = "to: [{ipBlock: {cidr: 10.0.0.1/32}}]";
    let finding =
        [("KB0424", str! {"the network policy of the target `t` keeps launchers of MPIJob v1 from the API server"})];
    check_on(&target("namespace: bench"), &job, &finding);
    for shut in [
        "{to: [{podSelector: {}}]}".to_owned(),
        "{to: [{namespaceSelector: {}}], ports: [{port: 443}]}".to_owned(),
        format!("{{{block}, ports: [{{port: 5000}}]}}"),
        format!("{{{block}, ports: [{{port: 443, protocol: UDP}}]}}"),
    ] {
        check_on(&rule(&shut), &job, &finding);
    }
    for open in [
        "{}".to_owned(),
        format!("{{{block}}}"),
        "{ports: [{port: 443}]}".to_owned(),
        format!("{{{block}, ports: [{{port: 53}}, {{port: 6443, protocol: TCP}}]}}"),
        format!("{{{block}, ports: [{{port: 8000, endPort: 9000}}]}}"),
        format!("{{{block}, ports: [{{protocol: TCP}}]}}"),
    ] {
        check_on(&rule(&open), &job, &[]);
    }
    check_on(&target("networkPolicy: {enabled: false}"), &job, &[]);
    check_on("{t: {}}", &mpi_job(&format!("{KEYS}, launcher: {{}}, worker: {{}}")), &[]);
    check_on(&target("namespace: bench"), "", &[]);
}
