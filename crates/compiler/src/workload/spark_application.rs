//! `sparkApplication`: a SparkApplication of the Kubeflow Spark operator: a driver, and the executors that it starts.

mod form;
mod memory;

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use self::form::{Deps, Language, SparkApplication};
use super::role::{ImageFrom, RoleForm, Shape};
use super::status::{self, Outcome, PodSet, count_at, text_at};
use super::{Kind, Lowering, Purpose, insert, texts};
use crate::model::target::Queue;
use crate::model::{Api, Role, TemplateAt, Workload, literal};
use kubebench_format::spec::v1::scalar::{Count, Text};
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::unit::Quantity;
use kubebench_syntax::yaml::Node;

pub(super) const KIND: Kind = Kind {
    key: "sparkApplication",
    api: Api::known("sparkoperator.k8s.io/v1beta2", "SparkApplication", "sparkapplications"),
    schema: form::schema,
    lower,
    purpose: Purpose::Works,
    container: DRIVER_CONTAINER,
    outcome,
    deciders: |_| status::all_of([DRIVER]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
sparkApplication:
  image: docker.io/apache/spark:4.0.4
  sparkVersion: 4.0.4
  type: Scala
  mainClass: org.apache.spark.examples.SparkPi
  mainApplicationFile: local:///opt/spark/examples/jars/spark-examples.jar
  arguments: [\"1000\"]
  # The image names its user, and Kubernetes needs a number to verify that the user is not root.
  pod:
    securityContext: {runAsUser: 185, runAsGroup: 185}
  driver:
    # Your service account, which may create, watch and delete pods, services, config maps and claims in the namespace.
    serviceAccount: spark
    cores: 1
    memory: 1g
  executor:
    instances: 2
    cores: 1
    memory: 1g
";

const DRIVER: &str = "driver";
const EXECUTOR: &str = "executor";
const DRIVER_CONTAINER: &str = "spark-kubernetes-driver";
const EXECUTOR_CONTAINER: &str = "spark-kubernetes-executor";

/// Properties of Spark that the form says in another place, and what to do instead.
const OWN_PROPERTIES: &[(&str, &str)] = &[
    ("spark.driver.cores", "write `cores` of the driver"),
    ("spark.driver.memory", "write `memory` of the driver"),
    ("spark.driver.memoryOverhead", "write `memoryOverhead` of the driver"),
    ("spark.dynamicAllocation.enabled", "write `instances` of the executor: every run has the same number"),
    ("spark.executor.cores", "write `cores` of the executor"),
    ("spark.executor.instances", "write `instances` of the executor"),
    ("spark.executor.memory", "write `memory` of the executor"),
    ("spark.executor.memoryOverhead", "write `memoryOverhead` of the executor"),
    ("spark.executor.pyspark.memory", "raise `memoryOverhead` of the executor, which Python uses without it"),
    ("spark.memory.offHeap.enabled", "raise `memory` of the executor: memory off the heap is counted nowhere else"),
    ("spark.master", "delete it: the operator knows its API server"),
    ("spark.submit.deployMode", "delete it: the driver is a pod"),
];

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let form: SparkApplication = cx.form()?;
    report_own_properties(cx);
    let RoleForm(driver_form) = &form.driver;
    let RoleForm(executor_form) = &form.executor;
    let mut driver = role(cx, DRIVER, DRIVER_CONTAINER)?;
    driver.needs_token = true;
    driver.service_account = Some(driver_form.service_account.0.to_string());
    let (memory, overhead) = (driver_form.memory.as_ref(), driver_form.memory_overhead.as_ref());
    let mut driver_object = size(cx, &mut driver, driver_form.cores, [memory, overhead], form.language)?;
    insert(&mut driver_object, "serviceAccount", driver.service_account.clone());
    let mut executor = role(cx, EXECUTOR, EXECUTOR_CONTAINER)?;
    let instances = executor_form.instances.map_or(1, |count| count.0);
    executor.replicas = instances;
    executor.max_replicas = instances;
    executor.completions = instances;
    let block = cx.entry.value.get(EXECUTOR);
    executor.replicas_span = block.and_then(|block| block.get("instances")).map_or(executor.span, |node| node.span);
    let (memory, overhead) = (executor_form.memory.as_ref(), executor_form.memory_overhead.as_ref());
    let mut executor_object = size(cx, &mut executor, executor_form.cores, [memory, overhead], form.language)?;
    executor_object.insert("deleteOnTermination".to_owned(), false.into());
    executor_object.insert("instances".to_owned(), instances.into());
    if let Some(gpu) = &executor_form.gpu {
        let Text(name) = &gpu.name;
        executor_object.insert("gpu".to_owned(), json!({ "name": name, "quantity": gpu.quantity.0 }));
        set_aside(&mut executor, name, &gpu.quantity.0.to_string());
    }

    let text = |Text(text): Text| if driver.expand_variables { text } else { literal(&text) };
    let mut spec = Map::new();
    insert(&mut spec, "arguments", words(form.arguments.into_iter().map(text).collect()));
    if let Queue::Volcano(queue) = &cx.target.queue {
        let mut options = Map::new();
        insert(&mut options, "priorityClassName", cx.target.priority());
        options.insert("queue".to_owned(), queue.as_str().into());
        spec.insert("batchScheduler".to_owned(), "volcano".into());
        spec.insert("batchSchedulerOptions".to_owned(), Json::Object(options));
    }
    insert(&mut spec, "deps", form.deps.and_then(deps));
    spec.insert("driver".to_owned(), Json::Object(driver_object));
    spec.insert("executor".to_owned(), Json::Object(executor_object));
    insert(&mut spec, "hadoopConf", properties(form.hadoop_conf));
    spec.insert("mainApplicationFile".to_owned(), text(form.main_application_file).into());
    insert(&mut spec, "mainClass", form.main_class.map(|Text(class)| class));
    spec.insert("mode".to_owned(), "cluster".into());
    // The API's default; a change of the default must change this line.
    spec.insert("restartPolicy".to_owned(), json!({ "type": "Never" }));
    insert(&mut spec, "sparkConf", properties(form.spark_conf));
    spec.insert("sparkVersion".to_owned(), form.spark_version.0.into());
    spec.insert("type".to_owned(), form.language.name().into());
    Some(cx.workload(KIND.api, spec, vec![driver, executor]))
}

fn role(cx: &mut Lowering<'_>, name: &'static str, container_name: &'static str) -> Option<Role> {
    let shape = Shape {
        container_name,
        template_at: TemplateAt::fields([name, "template"]),
        // Spark truncates the prefix of the names that it makes, except for the driver's.
        pod_infix: if name == DRIVER { "-driver" } else { "" },
        restart_policy: Some("Never"),
        needs_token: false,
        image: ImageFrom::Spec,
    };
    let mut role = cx.role(name, shape)?;
    role.deadline = Some(cx.timeout);
    Some(role)
}

/// Gives `role` the resources that Spark will ask for, and returns what asks Spark for them: limits are requests, as for
/// every kind, and the memory beside the heap is said, so that no version of Spark counts it in a way of its own.
fn size(
    cx: &mut Lowering<'_>,
    role: &mut Role,
    cores: Option<Count>,
    [memory, overhead]: [Option<&Text>; 2],
    language: Language,
) -> Option<Map<String, Json>> {
    let block = cx.entry.value.get(&role.name).cloned();
    let cores = cores.map_or(1, |count| count.0);
    let memory = match memory {
        Some(text) => mebibytes(cx, block.as_ref(), "memory", text)?,
        None => memory::DEFAULT,
    };
    let overhead = match overhead {
        Some(text) => mebibytes(cx, block.as_ref(), "memoryOverhead", text)?,
        None => memory::overhead(memory, matches!(language, Language::Java | Language::Scala)),
    };
    set_aside(role, "cpu", &cores.to_string());
    set_aside(role, "memory", &format!("{}Mi", memory + overhead));
    let entry = |field: &str| block.as_ref().and_then(|block| block.entry(field)).map(|entry| entry.key_span);
    role.resources_span = entry("memory").or(entry("cores"));
    let mut object = Map::new();
    object.insert("coreLimit".to_owned(), cores.to_string().into());
    object.insert("cores".to_owned(), cores.into());
    insert(&mut object, "image", role.image.as_ref().map(|image| cx.target.mirrored(image)));
    object.insert("memory".to_owned(), format!("{memory}m").into());
    object.insert("memoryOverhead".to_owned(), format!("{overhead}m").into());
    Some(object)
}

fn set_aside(role: &mut Role, resource: &str, amount: &str) {
    if let Ok(amount) = Quantity::parse(amount) {
        role.requests.insert(resource.to_owned(), amount);
        role.limits.insert(resource.to_owned(), amount);
    }
}

/// Reads an amount of memory as Spark writes it.
fn mebibytes(cx: &mut Lowering<'_>, block: Option<&Node>, field: &str, Text(text): &Text) -> Option<u64> {
    let read = memory::mebibytes(text);
    if read.is_none() {
        let span = block.and_then(|block| block.get(field)).map_or(cx.entry.key_span, |node| node.span);
        let fault = Diagnostic::at(
            &code::KB0317,
            span,
            format!("`{field}` is `{text}`, which is not a memory size of Spark"),
        )
        .note("Spark counts whole mebibytes (`m`), gibibytes (`g`) and tebibytes (`t`), and rejects `Mi` and `Gi`");
        cx.report(fault.help("write a number and a letter, such as `512m` or `4g`"));
    }
    read
}

/// Reports properties that the form sets, and that would be overwritten or would make another measurement of it.
fn report_own_properties(cx: &mut Lowering<'_>) {
    let entries = cx.entry.value.entries_of("sparkConf").to_vec();
    for entry in entries {
        let Some((property, help)) = OWN_PROPERTIES.iter().find(|(property, _)| *property == entry.key) else {
            continue;
        };
        let message = format!("`{property}` cannot be set in `sparkConf`");
        let fault = Diagnostic::at(&code::KB0317, entry.key_span, message)
            .note("Kubebench or the operator sets it elsewhere, and one of the two would silently win");
        cx.report(fault.help(*help));
    }
}

fn words(words: Vec<String>) -> Option<Vec<String>> {
    (!words.is_empty()).then_some(words)
}

fn properties(conf: BTreeMap<String, Text>) -> Option<Map<String, Json>> {
    let conf: Map<String, Json> = conf.into_iter().map(|(name, Text(value))| (name, value.into())).collect();
    (!conf.is_empty()).then_some(conf)
}

fn deps(deps: Deps) -> Option<Json> {
    let Deps { archives, exclude_packages, files, jars, packages, py_files, repositories } = deps;
    let lists = [
        ("archives", archives),
        ("excludePackages", exclude_packages),
        ("files", files),
        ("jars", jars),
        ("packages", packages),
        ("pyFiles", py_files),
        ("repositories", repositories),
    ];
    let mut object = Map::new();
    for (name, list) in lists {
        insert(&mut object, name, words(texts(list)));
    }
    (!object.is_empty()).then_some(Json::Object(object))
}

/// Reads the operator's state. What fails or succeeds is not over: the operator still decides. A second run of the same
/// application is a failure, because what was measured is lost.
fn outcome(object: &Json) -> Outcome {
    let message = text_at(object, "/status/applicationState/errorMessage");
    let is_asked = object.pointer("/spec/suspend") == Some(&true.into());
    match text_at(object, "/status/applicationState/state") {
        "COMPLETED" => Outcome::Succeeded,
        state @ ("FAILED" | "PENDING_RERUN" | "INVALIDATING") => {
            Outcome::Failed { reason: state.to_owned(), message: message.to_owned() }
        }
        "SUSPENDING" | "SUSPENDED" => Outcome::Suspended,
        _ if is_asked => Outcome::Suspended,
        "RUNNING" | "SUCCEEDING" | "FAILING" | "UNKNOWN" => Outcome::Running,
        _ => Outcome::Pending,
    }
}

fn pods(object: &Json) -> Vec<PodSet> {
    let instances = count_at(object, "/spec/executor/instances").unwrap_or(1);
    [(DRIVER, 1), (EXECUTOR, instances)]
        .map(|(role, replicas)| PodSet::new(role, replicas, replicas, format!("/spec/{role}/template")))
        .into()
}

#[cfg(test)]
mod tests;
