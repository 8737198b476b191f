//! KB0425, KB0426, KB0427: jobs that their target's queue may not hold.

use super::*;

const SMALL: &str = "resources: {cpu: 1, memory: 1Gi}";

fn torch() -> String {
    workload("pytorchJob", &format!("{SMALL}, worker: {{}}"))
}

fn tensorflow() -> String {
    workload("tfJob", &format!("{SMALL}, worker: {{}}"))
}

fn mpi() -> String {
    mpi_job(&format!("{KEYS}, launcher: {{}}, worker: {{}}"))
}

fn mpi_v1() -> String {
    mpi_job("launcher: {}, worker: {}")
}

#[test]
fn kinds_that_kueue_manages() {
    let target = "{t: {queue: {kueue: ml}}}";
    check_on(target, &torch(), &[("KB0425", str! {"Kueue on the target `t` may not manage PyTorchJobs"})]);
    check_on(target, &tensorflow(), &[("KB0425", str! {"Kueue on the target `t` may not manage TFJobs"})]);
    let jax = workload("jaxJob", &format!("{SMALL}, worker: {{}}"));
    check_on(target, &jax, &[("KB0425", str! {"Kueue on the target `t` may not manage JAXJobs"})]);
    check_on(target, &mpi(), &[]);
    let volcano = workload("volcanoJob", &format!("{SMALL}, tasks: [{{name: a}}]"));
    check_on(
        target,
        &volcano,
        &[("KB0426", str! {"Kueue, which queues the jobs of the target `t`, does not support Volcano Jobs"})],
    );
    check_on("{t: {queue: {volcano: ml}}}", &volcano, &[]);
    check_on(target, "", &[]);
    check_on("{t: {}}", &torch(), &[]);
    let old = "{t: {queue: {kueue: ml}, apis: {mpiJob: v1}, networkPolicy: {enabled: false}}}";
    check_on(
        old,
        &mpi_v1(),
        &[("KB0426", str! {"Kueue, which queues the jobs of the target `t`, does not support MPIJob v1"})],
    );
    check_on(
        &old.replace("kueue", "volcano"),
        &mpi_v1(),
        &[("KB0427", str! {"MPIJobs on the target `t` may not reach its Volcano queue"})],
    );
}

/// What the project says about Kueue of a cluster is what counts there.
#[test]
fn kinds_that_a_target_lists() {
    let target = |frameworks: &str| format!("{{t: {{queue: {{kueue: ml, frameworks: {frameworks}}}}}}}");
    check_on(&target("[kubeflow.org/pytorchjob, batch/job]"), &torch(), &[]);
    check_on(
        &target("[batch/job]"),
        &torch(),
        &[("KB0425", str! {"Kueue on the target `t` does not manage PyTorchJobs"})],
    );
    // By default it is managed, and here it is not.
    check_on(
        &target("[kubeflow.org/pytorchjob]"),
        "",
        &[("KB0425", str! {"Kueue on the target `t` does not manage Jobs"})],
    );
    check_on(&target("[batch/job]"), "", &[]);
    check_on(&target("[batch/job]"), &mpi(), &[("KB0425", str! {"Kueue on the target `t` does not manage MPIJobs"})]);
    check_on(&target("[kubeflow.org/mpijob]"), &mpi(), &[]);
    let help = |frameworks: &str| {
        let project = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {}}}\n",
            target(frameworks)
        );
        compile(&project, &document("")).findings()[0].help.clone().unwrap()
    };
    assert!(help("[pod]").contains("add `batch/job` to `integrations.frameworks`"));
}

#[test]
fn gangs_that_the_operator_knows() {
    let target = "{t: {queue: {volcano: ml}}}";
    check_on(target, &torch(), &[("KB0427", str! {"PyTorchJobs on the target `t` may not reach its Volcano queue"})]);
    check_on(target, &mpi(), &[("KB0427", str! {"MPIJobs on the target `t` may not reach its Volcano queue"})]);
    check_on(target, "", &[]);
    let flags = |fields: &str| {
        let project = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {target}}}\n"
        );
        compile(&project, &document(fields)).findings()[0].help.clone().unwrap()
    };
    assert!(flags(&torch()).contains("the training operator with `--gang-scheduler-name=volcano`"));
    assert!(flags(&mpi()).contains("the MPI operator with `--gang-scheduling=volcano`"));
}

/// A target says it once for each kind, however many benchmarks it has.
#[test]
fn benchmarks_of_a_target_share_the_finding() {
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {queue: {kueue: ml}}}}\n";
    let axis = "matrix: {axes: {w: [1, 2]}}\nworkload: {pytorchJob: {image: 'r.example/a:1', command: [a, '${{ matrix.w }}'], resources: {cpu: 1, memory: 1Gi}, worker: {}}}";
    let found = compile(project, &document(axis)).findings();
    assert_eq!(found.len(), 1, "{found:#?}");
    let kubebench_syntax::diag::Place::Span(span) = found[0].place else { panic!("{found:?}") };
    assert_eq!(compile(project, &document(axis)).sources.get(span.source).unwrap().path, "kubebench.yaml");
}
