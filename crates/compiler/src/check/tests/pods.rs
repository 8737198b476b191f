//! KB0401 to KB0404, KB0408, KB0413, KB0414: what roles say.

use super::*;
use kubebench_syntax::unit::Quantity;
const SMALL: &str = "resources: {cpu: 1, memory: 1Gi}";

#[test]
fn images() {
    let image = |image: &str| format!("workload: {{job: {{image: '{image}', {SMALL}}}}}");
    check(&image("r.example/a:1"), &[]);
    check(&image(&format!("r.example/a:latest@sha256:{}", "0".repeat(64))), &[]);
    check(&image("r.example/a"), &[("KB0401", str! {"`r.example/a` has neither tag nor digest, so it is `latest`"})]);
    check(
        &image("r.example/a:latest"),
        &[("KB0402", str! {"`r.example/a:latest` has no digest, so it is whatever was pushed last"})],
    );
}

#[test]
fn missing_resources() {
    let job = |fields: &str| workload("job", fields);
    check(&job("resources: {limits: {cpu: 1}, requests: {memory: 1Gi}}"), &[]);
    check(&job("resources: {cpu: 1}"), &[("KB0403", str! {"these resources leave out `memory`"})]);
    check(&job("resources: {memory: 1Gi}"), &[("KB0403", str! {"these resources leave out `cpu`"})]);
    check(&job("args: [b]"), &[("KB0403", str! {"`job` has no resources: `cpu` and `memory` are missing"})]);
    check(
        &workload("pytorchJob", "resources: {cpu: 1}, master: {}, worker: {resources: {memory: 1Gi}}"),
        &[("KB0403", str! {"these resources leave out `memory`"})],
    );
    let prepare = "prepare: {image: 'r.example/a:1'}\nresults: {claim: {accessModes: [ReadWriteMany]}}";
    check(prepare, &[("KB0403", str! {"`prepare` has no resources: `cpu` and `memory` are missing"})]);
}

#[test]
fn containers_that_patches_add() {
    let added =
        |container: &str| workload("job", &format!("{SMALL}, pod: {{containers: [{{name: tail, {container}}}]}}"));
    let amounts = "resources: {limits: {cpu: 1, memory: 1Gi}}";
    check(&added(&format!("image: 'r.example/t:1', {amounts}")), &[]);
    check(
        &added(&format!("image: r.example/t, {amounts}")),
        &[("KB0401", str! {"`r.example/t` has neither tag nor digest, so it is `latest`"})],
    );
    check(
        &added(&format!("image: 'r.example/t:latest', {amounts}")),
        &[("KB0402", str! {"`r.example/t:latest` has no digest, so it is whatever was pushed last"})],
    );
    check(&added("image: 'r.example/t:1'"), &[("KB0403", str! {"the container `tail` leaves out `cpu` and `memory`"})]);
    check(
        &added("image: 'r.example/t:1', resources: {requests: {cpu: 1}}"),
        &[("KB0403", str! {"the container `tail` leaves out `memory`"})],
    );
    check(&workload("job", &format!("{SMALL}, pod: {{containers: [{{name: tail, $patch: delete}}]}}")), &[]);
    check(
        &workload(
            "pytorchJob",
            &format!(
                "{SMALL}, pod: {{initContainers: [{{name: a, image: 'r.example/t:1'}}]}}, \
                      master: {{pod: {{initContainers: [{{name: a, {amounts}}}]}}}}"
            ),
        ),
        &[],
    );
}

/// Returns the findings about one pod with these requests and limits in addition to CPU and memory.
fn amounts(requests: &[(&str, &str)], limits: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let mut compiled = compile("", &document(""));
    let role = &mut compiled.benchmarks[0].cases[0].workload.roles[0];
    let parsed = |amounts: &[(&str, &str)]| -> Vec<(String, Quantity)> {
        amounts.iter().map(|(name, amount)| ((*name).to_owned(), Quantity::parse(amount).unwrap())).collect()
    };
    role.requests.extend(parsed(requests));
    role.limits.extend(parsed(limits));
    codes_and_messages(&compiled.findings())
}

#[test]
fn devices() {
    assert_eq!(amounts(&[("nvidia.com/gpu", "2")], &[("nvidia.com/gpu", "2")]), NONE);
    assert_eq!(amounts(&[], &[("nvidia.com/gpu", "2")]), NONE);
    assert_eq!(amounts(&[("cpu", "1")], &[("cpu", "2")]), NONE);
    assert_findings(
        &amounts(&[("nvidia.com/gpu", "1")], &[("nvidia.com/gpu", "2")]),
        &[("KB0404", str! {"the request of `nvidia.com/gpu` is 1, but its limit is 2"})],
    );
    assert_findings(
        &amounts(&[("hugepages-2Mi", "4Mi")], &[("hugepages-2Mi", "8Mi")]),
        &[("KB0404", str! {"the request of `hugepages-2Mi` is 4Mi, but its limit is 8Mi"})],
    );
    assert_findings(&amounts(&[("rdma/hca", "1")], &[]), &[("KB0404", str! {"`rdma/hca` has a request but no limit"})]);
    assert_findings(
        &amounts(&[], &[("nvidia.com/gpu", "500m")]),
        &[("KB0404", str! {"`500m` of `nvidia.com/gpu` is not a whole number"})],
    );
}

#[test]
fn what_cases_share_is_reported_once() {
    let many = "matrix: {axes: {w: [1, 2, 3]}}\nrepeats: 2";
    let role = "args: ['${{ matrix.w }}'], resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 0.5}";
    check(
        &format!("{many}\n{}", workload("job", role)),
        &[("KB0404", str! {"`500m` of `nvidia.com/gpu` is not a whole number"})],
    );
}

#[test]
fn restricted_targets() {
    let target = |fields: &str| format!("{{t: {{namespace: bench, {fields}}}}}");
    let mpi = mpi_job("launcher: {}, worker: {replicas: 2}");
    let mpi_with_keys = mpi_job(&format!("{KEYS}, launcher: {{}}, worker: {{replicas: 2}}"));
    let finding = ("KB0413", str! {"an MPIJob of v1 cannot start on the target `t`, which is `restricted`"});
    check_on(&target("podSecurity: restricted, apis: {mpiJob: v1}"), &mpi, &[finding]);
    check_on(&target("podSecurity: baseline, apis: {mpiJob: v1}, networkPolicy: {enabled: false}"), &mpi, &[]);
    check_on(&target("podSecurity: restricted, apis: {mpiJob: v2beta1}"), &mpi_with_keys, &[]);
    let torch = |roles: &str| workload("pytorchJob", &format!("{SMALL}, {roles}"));
    let finding = (
        "KB0414",
        str! {"the target `t` is `restricted` and may refuse the container that the operator adds to the workers"},
    );
    check_on(&target("podSecurity: restricted"), &torch("master: {}, worker: {}"), &[finding]);
    check_on(&target("podSecurity: baseline"), &torch("master: {}, worker: {}"), &[]);
    check_on(&target("podSecurity: restricted"), &torch("master: {}"), &[]);
    check_on(&target("podSecurity: restricted"), &torch("worker: {replicas: 2}"), &[]);
}
