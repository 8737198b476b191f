//! What was around the measured job: the Jobs before and after it, and its report.

use super::ledger::{At, Ledger};
use super::pod;
use super::spec_builder::{Draft, Metrics, Role};
use super::text::{Item, Map};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::yaml::Value;

/// Returns whether an image is a post-processor of kubeflow/kubebench, which read tf_cnn_benchmarks.
pub(super) fn is_post_processor(image: &str) -> bool {
    let name = image.rsplit('/').next().expected("a last part of every split");
    let is_known = ["tf-cnn", "tfcnn", "mpi"].iter().any(|tool| name.contains(tool));
    is_known && (name.contains("post-processor") || name.contains("postprocessor") || name.contains("post_processor"))
}

/// Returns whether an image is the reporter of kubeflow/kubebench.
pub(super) fn is_reporter(image: &str) -> bool {
    let name = image.rsplit('/').next().expected("a last part of every split");
    name.contains("kubebench-controller") || name.contains("reporter")
}

/// Returns a container as a Job outside the runs.
pub(super) fn step(at: &At<'_>, ledger: &mut Ledger) -> Option<Map> {
    let mut role = Role::default();
    for (key, at) in at.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        match key {
            "name" => ledger.dropped(&at, "Kubebench names the container"),
            "image" | "command" | "args" | "env" | "resources" => {}
            "imagePullPolicy" => ledger.dropped(&at, "Kubernetes decides by the tag of the image"),
            "terminationMessagePath" | "terminationMessagePolicy" => ledger.dropped(&at, "nothing reads the message"),
            _ => ledger
                .lost(&at, "a Job before or after the runs has only `image`, `command`, `args`, `env` and `resources`"),
        }
    }
    let expands = |word: &At<'_>| word.text().is_some_and(|text| text.contains("$("));
    for words in ["command", "args"].into_iter().filter_map(|key| at.get(key)) {
        if words.items().iter().any(expands) {
            ledger.lost(
                &words,
                "Jobs before and after the runs do not expand `$(NAME)`; let a shell do it: `[sh, -c, … $NAME …]`",
            );
        }
    }
    pod::fields(at, &["image", "command", "args", "env", "resources"], &mut role, ledger);
    let mut step = Map::default().with("image", role.image?);
    step.put_some("command", Item::List(role.command));
    step.put_some("args", Item::List(role.args));
    step.put_some("env", role.env);
    step.put_some("resources", Item::Flow(role.resources));
    Some(step)
}

/// Reads the Job after the measured one: a known post-processor becomes metrics, another one a `postprocess`.
pub(super) fn post_job(container: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let image = container.get("image").as_ref().and_then(At::text).unwrap_or_default().to_owned();
    if is_post_processor(&image) {
        for (key, at) in container.entries() {
            match key {
                "image" => known(&at, draft, ledger),
                _ => ledger.dropped(&at, "the metrics need no container"),
            }
        }
        return;
    }
    if let Some(step) = step(container, ledger) {
        let comment = "It writes `$KUBEBENCH_EXP_RESULT_PATH/result.json`; name each of its values under `metrics`, such as\n\
                       {name: accuracy, better: higher, from: {json: {file: result.json, pointer: /accuracy}}}";
        draft.postprocess = Some((comment.lines().map(str::to_owned).collect(), step));
        draft.mounts_results = true;
    }
}

/// Reads the image of a post-processor of kubeflow/kubebench.
pub(super) fn known(at: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    if draft.metrics == Metrics::Unknown {
        draft.metrics = Metrics::TfCnnLog;
    }
    ledger.changed(at, "`metrics`: the output of tf_cnn_benchmarks is read without a container");
}

/// Reads the input and the output of a report.
pub(super) fn csv(input: Option<&At<'_>>, output: Option<&At<'_>>, draft: &mut Draft, ledger: &mut Ledger) {
    if let Some(at) = input {
        if draft.postprocess.is_some() {
            ledger.lost(at, "only the image knows which values it writes there; name each under `metrics`");
            draft.open.push("the values of the post-processor: name each under `metrics`".to_owned());
        } else {
            ledger.changed(at, "`metrics`, with units and directions");
        }
    }
    ledger.changed_if(output, "each run has its own result file in git, with its time, case and environment");
}
