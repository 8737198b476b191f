//! kubeflow/kubebench's own parameter files: `jobType` with `jobParams`, and those of its ksonnet prototypes.

use super::job::{is_tf_cnn, namespace};
use super::job_fields::taken_count;
use super::ledger::{At, Ledger};
use super::named;
use super::pod::{count, image};
use super::spec_builder::{Draft, Metrics, Role, Workload};
use super::text::{Item, Map};
use kubebench_syntax::diag::did_you_mean;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::yaml::Value;

/// Where kubeflow/kubebench's images keep tf_cnn_benchmarks.
const TF_CNN_FOLDER: &str = "/opt/tf-benchmarks/scripts/tf_cnn_benchmarks";
/// The program there.
const TF_CNN: &str = "/opt/tf-benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py";
/// What kubeflow/kubebench's runner did: pass the operator's `TF_CONFIG` as the flags that the program wants.
const TF_CNN_RUNNER: &str = r#"import json, os, sys

config = json.loads(os.environ.get("TF_CONFIG", "{}"))
cluster, task = config.get("cluster", {}), config.get("task", {})
flags = []
if cluster.get("ps") or len(cluster.get("worker", [])) > 1:
    flags = [
        "--job_name=" + task["type"], "--task_index=" + str(task["index"]),
        "--ps_hosts=" + ",".join(cluster.get("ps", [])), "--worker_hosts=" + ",".join(cluster.get("worker", [])),
    ]
os.execvp("python", ["python"] + sys.argv[1:] + flags)
"#;

/// The parameters of the prototype for tf_cnn_benchmarks, with the values that it has for those left out; `args` come behind.
const TF_CNN_FLAGS: [(&str, &str); 9] = [
    ("batch_size", "2"),
    ("num_batches", "20"),
    ("model", "resnet50"),
    ("variable_update", "parameter_server"),
    ("num_gpus", "1"),
    ("local_parameter_device", "cpu"),
    ("device", "cpu"),
    ("data_format", "NHWC"),
    ("forward_only", "true"),
];

/// What a file of parameters is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Params {
    /// `jobType` and `jobParams` of the first version.
    JobType,
    /// The prototype for tf_cnn_benchmarks.
    TfCnn,
    /// A prototype for an MPIJob.
    Mpi,
}

/// Returns what a document without `apiVersion` is for.
pub(super) fn recognize(top: &At<'_>) -> Option<Params> {
    if top.get("jobType").is_some() && top.get("jobParams").is_some() {
        return Some(Params::JobType);
    }
    let params = flat(top);
    let has = |key: &str| params.node.get(key).is_some();
    if has("image") && (has("num_worker") || has("num_ps") || has("batch_size")) {
        Some(Params::TfCnn)
    } else if has("image") && has("replicas") && (has("gpusPerReplica") || has("command")) {
        Some(Params::Mpi)
    } else {
        None
    }
}

/// Returns the parameters: for a while they were below `spec`, with their prototype.
fn flat<'n>(top: &At<'n>) -> At<'n> {
    top.find(&["spec", "parameters"]).unwrap_or_else(|| top.clone())
}

/// Adds the workload of a file of parameters to `draft`.
pub(super) fn draft(kind: Params, top: &At<'_>, mut draft: Draft, ledger: &mut Ledger) -> Draft {
    if let Some(at) = top.get("spec").and_then(|spec| spec.get("prototype")) {
        ledger.changed(&at, "the template is written out in the spec");
        if let Some(name) = top.find(&["metadata", "name"]) {
            take_name(&name, &mut draft, ledger);
        }
    }
    let params = flat(top);
    let workload = match kind {
        Params::JobType => job_type(top, &mut draft, ledger),
        Params::TfCnn => tf_cnn_prototype(&params, &mut draft, ledger),
        Params::Mpi => mpi_prototype(&params, &mut draft, ledger),
    };
    if draft.metrics == Metrics::Unknown && is_tf_cnn(&workload) {
        draft.metrics = Metrics::TfCnnLog;
    }
    draft.workload = Some(workload);
    draft
}

/// Reads the name of a job, unless the benchmark has one.
fn take_name(at: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    if draft.name.is_empty() {
        named(at, draft, ledger);
    } else {
        ledger.dropped(at, "Kubebench derives the names of jobs from the name of the benchmark");
    }
}

/// Returns the words of a comma-separated list; `null` has none.
fn words(at: &At<'_>, what: &str, ledger: &mut Ledger) -> Vec<String> {
    match at.scalar() {
        Some(text) if text == "null" => {
            ledger.dropped(at, "no value is written there");
            Vec::new()
        }
        Some(text) => {
            ledger.changed(at, format!("{what}, with one word per element"));
            text.split(',').map(str::to_owned).collect()
        }
        None => {
            ledger.lost(at, "this is not text");
            Vec::new()
        }
    }
}

fn tf_cnn_prototype(params: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) -> Workload {
    let mut role = Role::default();
    let mut args = Vec::new();
    for (flag, default) in TF_CNN_FLAGS {
        let value = params.get(flag).and_then(|at| {
            let value = at.scalar().filter(|text| !text.is_empty());
            match value {
                Some(_) => ledger.kept(&at, format!("the argument `--{flag}`")),
                None => ledger.lost(&at, "this is not the value of a parameter"),
            }
            value
        });
        args.push(format!("--{flag}={}", value.as_deref().unwrap_or(default)));
    }
    let (mut workers, mut servers) = (1, 1);
    for (key, at) in params.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        match key {
            "name" => take_name(&at, draft, ledger),
            "namespace" => namespace(&at, draft, ledger),
            "image" => image(&at, &mut role, ledger),
            "args" => args.extend(words(&at, "`args`", ledger)),
            "num_worker" => workers = taken_count(&at, "`worker.replicas`", ledger).unwrap_or(workers),
            "num_ps" => servers = taken_count(&at, "`ps.replicas`", ledger).unwrap_or(servers),
            _ => {}
        }
    }
    role.args = args.into_iter().map(Item::Text).collect();
    if !role.image.as_deref().is_some_and(is_runner) {
        // What starts this image is not known, but the prototype's runner left a file for the post-processor.
        draft.metrics = Metrics::TfCnnFile;
        draft.mounts_results = true;
        role.container.put("workingDir", TF_CNN_FOLDER);
        return of_sizes(&role, [0, servers, workers]);
    }
    run_tf_cnn(role, TF_CNN, [0, servers, workers])
}

/// Returns a TFJob with this many chiefs, parameter servers and workers of `role`.
fn of_sizes(role: &Role, sizes: [u32; 3]) -> Workload {
    let mut workload = Workload { kind: "tfJob", ..Workload::default() };
    for (name, size) in ["chief", "ps", "worker"].into_iter().zip(sizes).filter(|(_, size)| *size > 0) {
        let replicas = (name != "chief" || size > 1).then_some(size);
        workload.roles.push((name, Role { replicas, ..role.clone() }));
    }
    workload
}

/// Returns the same running the program itself, so that its output is the pod's log.
fn run_tf_cnn(mut role: Role, program: &str, sizes: [u32; 3]) -> Workload {
    let is_alone = sizes.iter().sum::<u32>() < 2;
    role.command = if is_alone {
        vec!["python".into(), program.into()]
    } else {
        role.args.insert(0, program.into());
        vec!["python".into(), "-c".into(), Item::Block(TF_CNN_RUNNER.to_owned())]
    };
    let mut workload = of_sizes(&role, sizes);
    workload.comment = vec![
        "The runner of kubeflow/kubebench hid the program's output in a file; here the program runs directly, and its \
         output is the log."
            .to_owned(),
        "Its images may be gone: check whether this one can still be pulled.".to_owned(),
    ];
    workload
}

/// Returns whether an image is one of kubeflow/kubebench's for tf_cnn_benchmarks.
fn is_runner(image: &str) -> bool {
    let name = image.rsplit('/').next().expected("a last part of every split");
    name.contains("runner") && (name.contains("tf-cnn") || name.contains("tfcnn"))
}

fn mpi_prototype(params: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) -> Workload {
    let (mut launcher, mut worker) = (Role::default(), Role { replicas: Some(1), ..Role::default() });
    let mut workload = Workload { kind: "mpiJob", ..Workload::default() };
    workload.comment = vec![
        "The operator of that time started processes in the workers by `kubectl exec`; the current one uses SSH, so \
         the image needs `sshd`."
            .to_owned(),
        "A target with `apis: {mpiJob: v1}` does not need it.".to_owned(),
    ];
    for (key, at) in params.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        match key {
            "name" => take_name(&at, draft, ledger),
            "namespace" => namespace(&at, draft, ledger),
            "image" => image(&at, &mut launcher, ledger),
            "command" => {
                launcher.command = words(&at, "`launcher.command`", ledger).into_iter().map(Item::Text).collect();
            }
            "args" => launcher.args = words(&at, "`launcher.args`", ledger).into_iter().map(Item::Text).collect(),
            "replicas" => worker.replicas = taken_count(&at, "`worker.replicas`", ledger),
            "gpusPerReplica" => match count(&at) {
                Some(gpus) => {
                    ledger.changed(&at, "`nvidia.com/gpu` of the workers' `resources`, and `slotsPerWorker`");
                    if gpus > 0 {
                        worker.resources.put("nvidia.com/gpu", gpus);
                        workload.fields.put("slotsPerWorker", gpus);
                    }
                }
                None => ledger.lost(&at, "this is not a whole number"),
            },
            _ => {}
        }
    }
    worker.image.clone_from(&launcher.image);
    workload.roles = vec![("launcher", launcher), ("worker", worker)];
    workload
}

fn job_type(top: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) -> Workload {
    const KNOWN: [&str; 12] = [
        "name",
        "namespace",
        "image",
        "imageGpu",
        "args",
        "numMasters",
        "numPs",
        "numWorkers",
        "numGpus",
        "pvcName",
        "pvcMount",
        "logDir",
    ];
    let mut found: Vec<(&str, At<'_>)> = Vec::new();
    if let Some(at) = top.get("jobType") {
        match at.text() {
            Some("tf-job") => ledger.kept(&at, "`tfJob`"),
            _ => ledger.lost(&at, "kubeflow/kubebench had a template for `tf-job` only; what follows is read as one"),
        }
    }
    for (key, at) in top.entries_of("jobParams") {
        if at.node.value == Value::Null {
            continue;
        }
        let meant = KNOWN.into_iter().find(|known| *known == key).or_else(|| did_you_mean(key, KNOWN));
        let Some(meant) = meant.filter(|meant| !found.iter().any(|(known, _)| known == meant)) else { continue };
        if meant != key && count(&at).is_some() {
            ledger.changed(
                &at,
                format!("read as `{meant}`, its probable meaning; kubeflow/kubebench did not know `{key}`"),
            );
        }
        found.push((meant, at));
    }
    let of = |key: &str| found.iter().find(|(known, _)| *known == key).map(|(_, at)| at.clone());
    let mut number = |key: &str, what: &str| of(key).and_then(|at| taken_count(&at, what, ledger)).unwrap_or_default();
    let sizes =
        [number("numMasters", "`chief`"), number("numPs", "`ps.replicas`"), number("numWorkers", "`worker.replicas`")];
    let gpus = number("numGpus", "`nvidia.com/gpu` of the workers' `resources`");
    let mut role = Role::default();
    let mut of_gpu = Role::default();
    let mut args = Vec::new();
    for (key, at) in &found {
        match *key {
            "name" => take_name(at, draft, ledger),
            "namespace" => namespace(at, draft, ledger),
            "image" => image(at, &mut role, ledger),
            "imageGpu" if gpus > 0 => image(at, &mut of_gpu, ledger),
            "imageGpu" => ledger.dropped(at, "the job requests no GPUs"),
            "args" => args = words(at, "`args`", ledger),
            "logDir" => ledger.dropped(at, "Kubebench keeps the logs of pods anyway"),
            _ => {}
        }
    }
    put_claim(of("pvcName").as_ref(), of("pvcMount").as_ref(), &mut role, ledger);
    let runs_itself = role.image.as_deref().is_some_and(is_runner);
    let program = match args.as_slice() {
        [python, program, ..] if python == "python" && program.ends_with("tf_cnn_benchmarks.py") => {
            let program = program.clone();
            args.drain(..2);
            Some(program)
        }
        _ => runs_itself.then(|| TF_CNN.to_owned()),
    };
    role.args = args.into_iter().map(Item::Text).collect();
    let mut workload = match &program {
        Some(program) => run_tf_cnn(role, program, sizes),
        None => of_sizes(&role, sizes),
    };
    for (_, role) in workload.roles.iter_mut().filter(|(name, _)| *name == "worker" && gpus > 0) {
        role.image = of_gpu.image.clone().or(role.image.take());
        role.resources.put("nvidia.com/gpu", gpus);
    }
    if program.is_some() {
        draft.metrics = Metrics::TfCnnLog;
    }
    workload
}

/// Mounts the claim of the first version.
fn put_claim(name: Option<&At<'_>>, path: Option<&At<'_>>, role: &mut Role, ledger: &mut Ledger) {
    let both = name.and_then(At::text).zip(path.and_then(At::text));
    let Some((claim, folder)) = both else {
        for at in name.into_iter().chain(path) {
            ledger.lost(at, "a volume needs both `pvcName` and `pvcMount`");
        }
        return;
    };
    let source = Map::default().with("claimName", claim);
    let volume = Map::default().with("name", "kubebench-runner").with("persistentVolumeClaim", Item::Flow(source));
    role.pod.put("volumes", vec![Item::Flow(volume)]);
    let mount = Map::default().with("name", "kubebench-runner").with("mountPath", folder);
    role.container.put("volumeMounts", vec![Item::Flow(mount)]);
    for (at, said) in
        name.into_iter().zip(["a volume under `pod`"]).chain(path.into_iter().zip(["its mount under `container`"]))
    {
        ledger.kept(at, said);
    }
}
