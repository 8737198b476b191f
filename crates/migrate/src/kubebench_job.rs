//! `KubebenchJob` of `kubebench.operator/v1` and `kubeflow.org/v1alpha1`, and the ksonnet parameters before it: a job from a
//! template and a file of parameters, with a Job after it and a report.

use super::harness;
use super::job::{metadata, namespace};
use super::ledger::{At, Ledger};
use super::named;
use super::spec_builder::{Draft, Workload};
use super::text::Map;
use kubebench_syntax::yaml::Value;

const OWN_ACCOUNTS: &str = "each step of the Workflow has its own account, with the rights that it needs";

const GIVE_CREDENTIAL: &str =
    "only steps of kubeflow/kubebench used it; give pods a credential by `env: {NAME: {secret: …}}`";

const ONLY_STEPS: &str = "only steps of kubeflow/kubebench used it";

const CONDITION: &str =
    "kubeflow/kubebench never read it; Kubebench knows from the kind of a job when it has succeeded or failed";
const OWN_CLAIM: &str = "the benchmark's own claim (`results`); earlier results are not moved";
const CONFIG_VOLUME: &str = "what was configured is in the spec now";
const NO_GITHUB: &str = "nothing is fetched from GitHub any more";

/// Returns the path of the parameters that a document names.
pub(super) fn wanted_config<'n>(top: &At<'n>) -> Option<At<'n>> {
    let of_job = top.find(&["spec", "jobSpecs", "mainJob", "resource", "manifestParameters", "valueFrom", "path"]);
    of_job.or_else(|| top.get("mainJobConfig"))
}

/// Reports parameters that were for an unknown template.
pub(super) fn judge_template(top: &At<'_>, ledger: &mut Ledger) {
    let ksonnet = top.find(&["spec", "jobSpecs", "mainJob", "resource", "manifestTemplate", "valueFrom", "ksonnet"]);
    let of_job = ksonnet.and_then(|at| at.get("name").or_else(|| at.get("prototype")));
    let Some(at) = of_job.or_else(|| top.get("mainJobKsPrototype")) else { return };
    let is_known = |name: &str| ["tfcnn", "tf-cnn", "mpi"].iter().any(|known| name.contains(known));
    if !at.text().is_some_and(is_known) {
        ledger.lost(
            &at,
            "this template is unknown, and its parameters were read as those of kubeflow/kubebench's own; compare what is written, \
             or render it (`ks show`) and pass the manifest: `--job-config FILE`",
        );
    }
}

/// Begins the benchmark of a KubebenchJob: its name and namespace.
pub(super) fn begin(top: &At<'_>, ledger: &mut Ledger) -> Draft {
    let mut draft = Draft::default();
    metadata(top, "KubebenchJob", &mut draft, &mut Workload::default(), ledger);
    for key in ["apiVersion", "kind"] {
        ledger.changed_if(top.get(key).as_ref(), "`kubebench.dev/v1`, `Benchmark`");
    }
    ledger.dropped_if(top.get("status").as_ref(), super::pod::OF_CLUSTER);
    draft
}

/// Adds what is around the main job.
pub(super) fn finish(top: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let Some(spec) = top.get("spec") else { return };
    for key in ["serviceAccount", "serviceAccountName"] {
        ledger.dropped_if(spec.get(key).as_ref(), OWN_ACCOUNTS);
    }
    if let Some(volumes) = spec.get("volumeSpecs") {
        ledger.changed_if(volumes.get("configVolume").as_ref(), CONFIG_VOLUME);
        ledger.changed_if(volumes.get("experimentVolume").as_ref(), OWN_CLAIM);
        if let Some(claim) =
            volumes.find(&["experimentVolume", "persistentVolumeClaim", "claimName"]).and_then(|at| at.text())
        {
            draft.advice.insert(format!("keep the claim `{claim}` as long as you need the results on it"));
        }
    }
    if let Some(secrets) = spec.get("secretSpecs") {
        ledger.dropped_if(secrets.get("githubTokenSecret").as_ref(), NO_GITHUB);
        ledger.dropped_if(
            secrets.get("gcpCredentialsSecret").as_ref(),
            "only the steps that fetched templates and wrote reports used it; give pods a credential by `env: {NAME: \
             {secret: …}}`",
        );
    }
    if let Some(container) = spec.find(&["jobSpecs", "preJob", "container"]) {
        pre_job(&container, draft, ledger);
    }
    if let Some(main) = spec.find(&["jobSpecs", "mainJob", "resource"]) {
        for key in ["createSuccessCondition", "createFailureCondition", "runSuccessCondition", "runFailureCondition"] {
            ledger.dropped_if(main.get(key).as_ref(), CONDITION);
        }
        if draft.workload.is_none() {
            let said = "its job is written to the spec once its parameters are given";
            ledger.dropped_if(main.get("manifestTemplate").as_ref(), said);
        } else {
            ledger.changed_if(main.get("manifestTemplate").as_ref(), "the template is written out in the spec");
            ledger.changed_if(
                main.find(&["manifestParameters", "valueFrom", "path"]).as_ref(),
                "its values are in the spec now",
            );
        }
    }
    if let Some(container) = spec.find(&["jobSpecs", "postJob", "container"]) {
        harness::post_job(&container, draft, ledger);
    }
    for (index, report) in
        spec.find(&["reportSpecs", "csv"]).map(|list| list.items()).unwrap_or_default().iter().enumerate()
    {
        if index == 0 {
            harness::csv(report.get("inputPath").as_ref(), report.get("outputPath").as_ref(), draft, ledger);
        } else {
            ledger.dropped(report, "kubeflow/kubebench read only the first one");
        }
    }
}

/// A `preJob` was never run, and to run it now could change what is measured.
fn pre_job(container: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    ledger.dropped(
        container,
        "kubeflow/kubebench accepted a `preJob` and never ran it; to run it, write `prepare` in the spec",
    );
    if let Some(image) = container.get("image").as_ref().and_then(At::text) {
        draft.aside.push(format!(
            "kubeflow/kubebench accepted a `preJob` of {image} and never ran it. To run it once, before all runs,"
        ));
        draft
            .aside
            .push("write it under `prepare`, which has `image`, `command`, `args`, `env` and `resources`.".to_owned());
    }
}

/// The parameters of the ksonnet prototype `kubebench-job`, and what became of each.
const KSONNET: [(&str, &str); 17] = [
    ("serviceAccount", OWN_ACCOUNTS),
    ("controllerImage", "Kubebench has one image, which runs its steps"),
    ("githubTokenSecret", NO_GITHUB),
    ("githubTokenSecretKey", NO_GITHUB),
    ("gcpCredentialsSecret", GIVE_CREDENTIAL),
    ("gcpCredentialsSecretKey", ONLY_STEPS),
    ("awsCredentialsSecret", GIVE_CREDENTIAL),
    ("awsCredentialsSecretAccessKeyId", ONLY_STEPS),
    ("awsCredentialsSecretAccessKey", ONLY_STEPS),
    ("awsRegion", ONLY_STEPS),
    ("mainJobKsPrototype", "the template is written out in the spec"),
    ("mainJobKsPackage", "the template is written out in the spec"),
    ("mainJobKsRegistry", "the template is written out in the spec"),
    ("experimentConfigPvc", CONFIG_VOLUME),
    ("experimentRecordPvc", OWN_CLAIM),
    ("reporterType", "each run has its own result file in git"),
    ("postJobArgs", "kubeflow/kubebench could not read it: its template called itself endlessly"),
];

/// Returns whether a mapping is the parameters of the ksonnet prototype `kubebench-job`.
pub(super) fn is_ksonnet(params: &At<'_>) -> bool {
    let marks = ["mainJobConfig", "mainJobKsPrototype", "experimentConfigPvc", "experimentRecordPvc", "postJobImage"];
    marks.iter().filter(|mark| params.node.get(mark).is_some()).count() >= 2
}

/// Begins the benchmark of such parameters.
pub(super) fn begin_ksonnet(params: &At<'_>, ledger: &mut Ledger) -> Draft {
    let mut draft = Draft::default();
    if let Some(at) = params.get("name") {
        named(&at, &mut draft, ledger);
    }
    if let Some(at) = params.get("namespace").filter(says_something) {
        namespace(&at, &mut draft, ledger);
    }
    draft
}

/// Adds what is around the main job.
pub(super) fn finish_ksonnet(params: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    for (key, at) in params.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        if !says_something(&at) {
            ledger.dropped(&at, "no value is written there");
        } else if let Some((_, why)) = KSONNET.iter().find(|(known, _)| *known == key) {
            if key.starts_with("mainJob") && draft.workload.is_none() {
                continue;
            }
            ledger.changed(&at, *why);
        } else if key == "postJobImage" {
            post_image(&at, draft, ledger);
        } else if key == "mainJobConfig" && draft.workload.is_some() {
            ledger.changed(&at, "its values are in the spec now");
        } else if key == "experimentDataPvc" {
            data_claim(&at, draft, ledger);
        }
    }
    harness::csv(params.get("csvReporterInput").as_ref(), params.get("csvReporterOutput").as_ref(), draft, ledger);
}

fn says_something(at: &At<'_>) -> bool {
    at.text() != Some("null")
}

fn post_image(at: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    match at.text().filter(|image| super::pod::is_a("image", image)) {
        Some(image) if harness::is_post_processor(image) => harness::known(at, draft, ledger),
        Some(image) => {
            ledger.kept(at, "`postprocess`");
            let comment =
                "It writes `$KUBEBENCH_EXP_RESULT_PATH/result.json`; name each of its values under `metrics`.";
            draft.postprocess = Some((vec![comment.to_owned()], Map::default().with("image", image)));
            draft.mounts_results = true;
        }
        None => ledger.lost(at, "this is not an image reference"),
    }
}

/// Mounts the claim of data in all pods of the job, in the same place as kubeflow/kubebench.
fn data_claim(at: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let (Some(workload), Some(claim)) = (draft.workload.as_mut(), at.text()) else { return };
    let volume = Map::default()
        .with("name", "kubebench-data")
        .with("persistentVolumeClaim", super::text::Item::Flow(Map::default().with("claimName", claim)));
    let mount = Map::default().with("name", "kubebench-data").with("mountPath", "/kubebench/data");
    for (_, role) in &mut workload.roles {
        for (map, key, item) in [(&mut role.pod, "volumes", &volume), (&mut role.container, "volumeMounts", &mount)] {
            if let Some(list) = map.list(key) {
                list.push(super::text::Item::Flow(item.clone()));
            }
        }
    }
    ledger.kept(at, "a volume of all pods, at `/kubebench/data`");
}
