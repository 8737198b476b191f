//! `rayJob`: a RayJob, a cluster of Ray that is made for one entrypoint and taken down after it.

mod quote;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::role::{ImageFrom, RoleFields, RoleForm, Shape};
use super::status::{self, Outcome, PodSet, count_at, text_at};
use super::{Kind, Lowering, Purpose, schema_of};
use crate::model::{Api, Role, TemplateAt, TemplateStep, Workload};
use kubebench_format::spec::v1::container::{Resources, RoleBlock};
use kubebench_format::spec::v1::scalar::{self, Count, Dns1123Label, Patch, Text};
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::Quantity;
use kubebench_syntax::yaml::{self, Node, Value};

pub(super) const KIND: Kind = Kind {
    key: "rayJob",
    api: Api::known("ray.io/v1", "RayJob", "rayjobs"),
    schema: schema_of::<RayJob>,
    lower,
    purpose: Purpose::Works,
    container: "ray",
    outcome,
    deciders: |_| status::all_of([SUBMITTER]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
rayJob:
  image: docker.io/rayproject/ray:2.52.0
  rayVersion: 2.52.0
  # A list of words; what they print is the log of the role `submitter`.
  entrypoint: [python, -c, 'import ray; ray.init(); print(ray.cluster_resources()); print(\"throughput: 42.0\")']
  # Only the user `ray` of this image (uid 1000, group 100) can read its Python.
  pod:
    securityContext: {runAsUser: 1000, runAsGroup: 100}
  resources: {cpu: 2, memory: 4Gi}
  workerGroups:
    - {name: worker, replicas: 2}
";

const HEAD: &str = "head";
const SUBMITTER: &str = "submitter";
/// How long the cluster is kept after its end unless Kubebench has deleted the job by then: its logs are read from it.
const KEPT_SECONDS: u32 = 3600;

/// A RayJob: a head, groups of workers, and the pod that submits the entrypoint and prints its log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"image": "docker.io/rayproject/ray:2.52.0", "rayVersion": "2.52.0", "entrypoint": ["python", "train.py"], "workerGroups": [{"name": "worker", "replicas": 2}]}]))]
struct RayJob {
    /// The version of Ray in the image.
    #[serde(default)]
    #[schemars(extend("examples" = ["2.52.0"]))]
    ray_version: Option<Text>,
    /// The command to submit, one word per element, never a shell line.
    #[schemars(extend("minItems" = 1, "examples" = [["python", "train.py", "--batch-size", "${{ matrix.batchSize }}"]]))]
    entrypoint: Vec<Text>,
    /// Ray's runtime environment of the entrypoint.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"env_vars": {"NCCL_DEBUG": "WARN"}, "working_dir": "/kubebench/files"}]))]
    runtime_env: Option<Patch>,
    /// The head pod, which manages the cluster and runs the entrypoint; always one.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"rayStartParams": {"num-cpus": "0"}}]))]
    head: Option<RoleForm<Group>>,
    /// The worker pods, in groups of identical pods; the cluster does not scale.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"name": "worker", "replicas": 2}]]))]
    worker_groups: Vec<RoleForm<NamedGroup>>,
    /// The pod that submits the entrypoint and prints its log. It computes nothing: by default it has one CPU
    /// and 1 GiB.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"resources": {"cpu": 1, "memory": "1Gi"}}]))]
    submitter: Option<RoleBlock>,
    /// How the entrypoint is submitted to the cluster.
    #[serde(default)]
    #[schemars(extend("default" = "K8sJobMode", "enum" = ["K8sJobMode"], "examples" = ["K8sJobMode"]))]
    submission_mode: Option<Text>,
    /// Strategic merge patch over the whole object, applied last.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"spec": {"entrypointNumCpus": 1}}]))]
    #[expect(dead_code, reason = "read with its places, by `Lowering::workload`")]
    patch: Option<Patch>,
}

/// Pods of Ray.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "RayHead", extend("examples" = [{"rayStartParams": {"num-cpus": "0"}}]))]
struct Group {
    /// Options of `ray start`, without their dashes.
    #[schemars(extend("default" = {}, "examples" = [{"num-cpus": "0"}]))]
    ray_start_params: BTreeMap<String, Text>,
}

impl RoleFields for Group {}

/// A group of identical workers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RayWorkerGroup", extend("examples" = [{"name": "worker", "replicas": 2}]))]
struct NamedGroup {
    /// The role, as metrics and logs name it.
    #[schemars(extend("examples" = ["worker"]))]
    name: Dns1123Label,
    /// How many pods; the group does not scale.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    replicas: Option<Count>,
    /// Options of `ray start`, without their dashes.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"resources": "{\"slot\": 1}"}]))]
    ray_start_params: BTreeMap<String, Text>,
}

impl RoleFields for NamedGroup {}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let RayJob { ray_version, entrypoint, runtime_env, head, worker_groups, submitter, submission_mode, patch: _ } =
        cx.form()?;
    if entrypoint.is_empty() {
        let help = "write the words of the program: `entrypoint: [python, train.py]`";
        cx.fault(&code::KB0317, "entrypoint", "`rayJob` has no `entrypoint`", help);
        return None;
    }
    let mut roles =
        vec![role_of_block(cx, HEAD, vec![field("rayClusterSpec"), field("headGroupSpec"), field("template")])?];
    roles.extend(workers(cx, &worker_groups)?);
    let mut submitting = role_of_block(cx, SUBMITTER, vec![field("submitterPodTemplate")])?;
    give_own_resources(&mut submitting, submitter.and_then(|block| block.resources).unwrap_or_default());
    roles.push(submitting);
    for role in &roles {
        refuse_command(cx, role);
    }
    refuse_several(cx, &roles);

    let mut head_group = json!({ "rayStartParams": params(head.map(|RoleForm(head)| head.ray_start_params)) });
    if let Some(head_group) = head_group.as_object_mut() {
        head_group.insert("template".to_owned(), json!({}));
    }
    let groups = worker_groups.into_iter().zip(roles.iter().skip(1)).map(|(RoleForm(group), role)| {
        let replicas = group.replicas.map_or(1, |count| count.0);
        json!({
            "groupName": role.name,
            "maxReplicas": replicas,
            "minReplicas": replicas,
            "rayStartParams": params(Some(group.ray_start_params)),
            "replicas": replicas,
        })
    });
    let mut cluster = json!({ "headGroupSpec": head_group, "workerGroupSpecs": groups.collect::<Vec<_>>() });
    if let (Some(Text(version)), Some(cluster)) = (ray_version, cluster.as_object_mut()) {
        cluster.insert("rayVersion".to_owned(), version.into());
    }
    let words: Vec<&str> = entrypoint.iter().map(|Text(word)| word.as_str()).collect();
    report_changed_words(cx);
    let mut spec = Map::new();
    spec.insert("activeDeadlineSeconds".to_owned(), cx.timeout.seconds().into());
    spec.insert("backoffLimit".to_owned(), 0.into());
    spec.insert("entrypoint".to_owned(), quote::line(&words).into());
    spec.insert("rayClusterSpec".to_owned(), cluster);
    if let Some(Patch(environment)) = runtime_env.filter(|Patch(environment)| environment != &json!({})) {
        refuse_shell_text(cx);
        spec.insert("runtimeEnvYAML".to_owned(), yaml::write_as_in_epoch_1(&environment).into());
    }
    // Kueue requires it for a RayJob, and it frees the nodes when nothing else does.
    spec.insert("shutdownAfterJobFinishes".to_owned(), true.into());
    spec.insert("submissionMode".to_owned(), submission_mode.map_or("K8sJobMode".to_owned(), |mode| mode.0).into());
    spec.insert("submitterConfig".to_owned(), json!({ "backoffLimit": 0 }));
    spec.insert("ttlSecondsAfterFinished".to_owned(), KEPT_SECONDS.into());
    Some(cx.workload(KIND.api, spec, roles))
}

fn field(name: &'static str) -> TemplateStep {
    TemplateStep::field(name)
}

fn params(given: Option<BTreeMap<String, Text>>) -> Json {
    let given = given.unwrap_or_default();
    Json::Object(given.into_iter().map(|(name, Text(value))| (name, value.into())).collect())
}

fn shape(steps: Vec<TemplateStep>) -> Shape {
    Shape {
        container_name: KIND.container,
        template_at: TemplateAt::of(0, steps),
        // The operator cuts what it makes names of.
        pod_infix: "",
        restart_policy: Some("Never"),
        needs_token: false,
        image: ImageFrom::Spec,
    }
}

/// Returns the role that is described under its own name, or by the shared fields.
fn role_of_block(cx: &mut Lowering<'_>, name: &'static str, steps: Vec<TemplateStep>) -> Option<Role> {
    let entry = cx.entry;
    match entry.value.entry(name) {
        Some(block) => cx.role_of(name, &block.value, block.key_span, shape(steps)),
        None => cx.role_of(name, &nothing(entry.key_span), entry.key_span, shape(steps)),
    }
}

fn nothing(span: Span) -> Node {
    Node { span, value: Value::Map(Vec::new()) }
}

fn workers(cx: &mut Lowering<'_>, groups: &[RoleForm<NamedGroup>]) -> Option<Vec<Role>> {
    let blocks = cx.entry.value.items_of("workerGroups").to_vec();
    let mut seen = BTreeSet::from([HEAD, SUBMITTER]);
    let mut roles = Vec::new();
    for (index, (RoleForm(group), block)) in groups.iter().zip(&blocks).enumerate() {
        let name = group.name.0.as_str();
        let span = block.get("name").map_or(block.span, |name| name.span);
        if !seen.insert(name) {
            let fault = Diagnostic::at(&code::KB0317, span, format!("two roles are called `{name}`"));
            cx.report(fault.help("give this group another name"));
        }
        let element = TemplateStep::Element { index, key: "groupName".into(), name: name.to_owned() };
        let steps = vec![field("rayClusterSpec"), field("workerGroupSpecs"), element, field("template")];
        roles.push(cx.role_of(name, block, span, shape(steps))?);
    }
    Some(roles)
}

/// Gives the submitter resources of its own: it waits, and needs nothing of what the computing pods have.
fn give_own_resources(submitter: &mut Role, own: Resources) {
    let amounts = |amounts: BTreeMap<String, scalar::Quantity>| -> BTreeMap<String, Quantity> {
        amounts.into_iter().map(|(name, amount)| (name, amount.0)).collect()
    };
    submitter.requests = amounts(own.requests);
    submitter.limits = amounts(own.limits);
    for (name, amount) in [("cpu", "1"), ("memory", "1Gi")] {
        let is_said = submitter.limits.contains_key(name) || submitter.requests.contains_key(name);
        if let (false, Ok(amount)) = (is_said, Quantity::parse(amount)) {
            submitter.limits.insert(name.to_owned(), amount);
            submitter.requests.insert(name.to_owned(), amount);
        }
    }
}

/// Reports programs where Ray is the program.
fn refuse_command(cx: &mut Lowering<'_>, role: &Role) {
    if role.command.is_empty() && role.args.is_empty() {
        return;
    }
    let [command, args] = &role.word_spans;
    let span = command.first().or(args.first()).copied().unwrap_or(role.span);
    let fault = Diagnostic::at(&code::KB0317, span, "the pods of a RayJob run Ray itself").note(
        "the operator would append Ray's command to this program, or run it instead of the program that submits \
         the entrypoint",
    );
    cx.report(fault.help("write the program as `entrypoint`, a list of words"));
}

/// Reports several submitters.
fn refuse_several(cx: &mut Lowering<'_>, roles: &[Role]) {
    for role in roles.iter().filter(|role| role.name == SUBMITTER && role.replicas != 1) {
        let message = format!("`{}` has {} replicas, but a RayJob has one", role.name, role.replicas);
        let fault = Diagnostic::at(&code::KB0317, role.replicas_span, message);
        cx.report(fault.help("delete `replicas` here and raise that of a worker group"));
    }
}

/// Reports words that versions of Ray understand differently.
fn report_changed_words(cx: &mut Lowering<'_>) {
    let words = cx.entry.value.items_of("entrypoint").to_vec();
    for word in words.iter().filter(|word| word.as_text().is_some_and(quote::is_changed)) {
        let fault = Diagnostic::at(
            &code::KB0446,
            word.span,
            "Ray before 2.56 changes this word before the program gets it",
        )
        .note("`ray job submit` of such versions passes words to a second shell without quoting special characters");
        cx.report(fault.help(format!(
            "put it into a file under `files`, or, if the image has a newer Ray, {}",
            code::KB0446.switched_off()
        )));
    }
}

/// Reports text of the runtime environment that the submitter's shell would change.
fn refuse_shell_text(cx: &mut Lowering<'_>) {
    let Some(environment) = cx.entry.value.get("runtimeEnv") else { return };
    let mut open = vec![environment];
    let mut found = None;
    while let Some(node) = open.pop() {
        if node.as_text().is_some_and(|text| text.contains(['$', '`'])) {
            found = found.max(Some(node.span));
        }
        let of_map = node.entries();
        if let Some(entry) = of_map.iter().find(|entry| entry.key.contains(['$', '`'])) {
            found = found.max(Some(entry.key_span));
        }
        open.extend(of_map.iter().map(|entry| &entry.value).chain(node.items()));
    }
    if let Some(span) = found {
        let fault = Diagnostic::at(&code::KB0447, span, "a shell would change this text of `runtimeEnv`").note(
            "the operator writes it between double quotes into a command line, where a shell expands `$` and \
             backquotes",
        );
        cx.report(fault.help("set variables with `env` of the head and the workers, or use a file"));
    }
}

/// Reads the operator's progress. A job that succeeded has ended when the operator says so, not before.
fn outcome(object: &Json) -> Outcome {
    let failed = |reason: &str| {
        let said = text_at(object, "/status/reason");
        Outcome::Failed {
            reason: if said.is_empty() { reason } else { said }.to_owned(),
            message: text_at(object, "/status/message").to_owned(),
        }
    };
    let is_asked = object.pointer("/spec/suspend") == Some(&true.into());
    match (text_at(object, "/status/jobDeploymentStatus"), text_at(object, "/status/jobStatus")) {
        ("Complete", "SUCCEEDED") => Outcome::Succeeded,
        ("Complete", job) => failed(job),
        (end @ ("Failed" | "ValidationFailed"), _) => failed(end),
        ("Suspending" | "Suspended", _) => Outcome::Suspended,
        _ if is_asked => Outcome::Suspended,
        ("Running", _) => Outcome::Running,
        _ => Outcome::Pending,
    }
}

fn pods(object: &Json) -> Vec<PodSet> {
    let set = |role: &str, replicas: u32, template: String| PodSet::new(role, replicas, replicas, template);
    let groups = object.pointer("/spec/rayClusterSpec/workerGroupSpecs").and_then(Json::as_array);
    let workers = groups.into_iter().flatten().enumerate().map(|(index, group)| {
        let template = format!("/spec/rayClusterSpec/workerGroupSpecs/{index}/template");
        set(text_at(group, "/groupName"), count_at(group, "/replicas").unwrap_or(0), template)
    });
    let head = set(HEAD, 1, "/spec/rayClusterSpec/headGroupSpec/template".to_owned());
    let submitter = set(SUBMITTER, 1, "/spec/submitterPodTemplate".to_owned());
    std::iter::once(head).chain(workers).chain([submitter]).collect()
}

#[cfg(test)]
mod tests;
