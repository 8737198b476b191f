//! `job`: a batch/v1 Job, one pod or several identical ones.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::role::{ImageFrom, Shape};
use super::{Kind, Lowering, Purpose, schema_of, status};
use crate::model::{Api, TemplateAt, Workload};
use kubebench_format::spec::v1::scalar::{Count, Patch};
use kubebench_syntax::diag::code;
use kubebench_syntax::unit::Duration;

pub(super) const MORE_COMPLETIONS: &str = "raise `completions`, or leave it out to run every pod once";

pub(super) const KIND: Kind = Kind {
    key: "job",
    api: Api::known("batch/v1", "Job", "jobs"),
    schema: schema_of::<Job>,
    lower,
    purpose: Purpose::Works,
    container: "main",
    outcome: status::batch,
    deciders: |object| status::all_of([status::batch_role(object)]),
    pods: status::batch_pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
job:
  image: docker.io/library/python:3.13-slim
  command: [python3, -c, 'print(\"throughput: 42.0\")']
  resources: {cpu: 1, memory: 1Gi}
";

/// A Job: one pod, or several identical ones.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "docker.io/library/python:3.13-slim", "command": ["python3", "-V"]}]))]
struct Job {
    /// How many pods run at once.
    #[schemars(extend("default" = 1, "examples" = [4]))]
    parallelism: Option<Count>,
    /// How many pods must succeed; without it, as many as run at once.
    #[schemars(extend("examples" = [4]))]
    completions: Option<Count>,
    /// Whether pods have an index (`JOB_COMPLETION_INDEX`) and find each other by name.
    #[schemars(extend("default" = "NonIndexed", "examples" = ["Indexed"]))]
    completion_mode: Option<CompletionMode>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "storage"}}}]))]
    patch: Option<Patch>,
}

/// Whether the pods of a Job have an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
enum CompletionMode {
    /// All pods are identical.
    NonIndexed,
    /// Every pod has an index, and a name with it.
    Indexed,
}

/// Returns the `spec` of a Job that nothing starts again, `mode` being its completion mode.
pub(super) fn spec(timeout: Duration, parallelism: u32, completions: u32, mode: &str) -> Map<String, Json> {
    let fields = [
        ("activeDeadlineSeconds", timeout.seconds().into()),
        ("backoffLimit", 0.into()),
        ("completions", completions.into()),
        ("completionMode", mode.into()),
        ("parallelism", parallelism.into()),
    ];
    fields.map(|(field, value): (&str, Json)| (field.to_owned(), value)).into_iter().collect()
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let Job { parallelism, completions, completion_mode, patch: _ } = cx.form()?;
    let parallelism = parallelism.map_or(1, |count| count.0);
    let completions = completions.map_or(parallelism, |count| count.0);
    let indexed = completion_mode == Some(CompletionMode::Indexed);
    let shape = Shape {
        container_name: KIND.container,
        template_at: TemplateAt::fields(["template"]),
        pod_infix: if indexed { "-" } else { "" },
        restart_policy: Some("Never"),
        needs_token: false,
        image: ImageFrom::Spec,
    };
    let mut role = cx.only_role("job", shape)?;
    role.replicas = parallelism;
    role.max_replicas = parallelism;
    role.completions = completions;
    role.replicas_span = cx.entry.value.get("parallelism").map_or(role.span, |node| node.span);
    if indexed {
        role.longest_name.suffix = format!("-{}", completions.saturating_sub(1));
    }
    if parallelism > completions {
        let message = too_parallel(parallelism, completions);
        cx.fault(&code::KB0317, "parallelism", message, MORE_COMPLETIONS);
    }
    let mode = if indexed { "Indexed" } else { "NonIndexed" };
    let spec = spec(cx.timeout, parallelism, completions, mode);
    Some(Workload {
        headless_service: indexed && completions > 1,
        scale_is_manual: !indexed,
        ..cx.workload(KIND.api, spec, vec![role])
    })
}

/// Says that more pods would run at once than there are.
pub(super) fn too_parallel(parallelism: u32, completions: u32) -> String {
    format!("`parallelism` {parallelism} is more than `completions` {completions}")
}
