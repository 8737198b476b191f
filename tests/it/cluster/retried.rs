//! Which steps Argo starts again: those that were lost, not those that answered.

use serde_json::{Value, json};

use super::cluster;
use super::namespaces::Project;
use crate::support::project::Emitted;

/// What a step does in place of `kubebench`, how often it must be started, and what its pod then says.
const STEPS: [(&str, &str, usize, &str); 5] = [
    ("answers", "exit 1", 1, "exit code 1"),
    ("refuses", "exit 4", 1, "exit code 4"),
    ("killed", "kill -9 $$$$", 2, "exit code 137"),
    ("ended", "kill -15 $$$$", 2, "exit code 143"),
    ("late", "sleep 300", 1, "longer than the specified deadline"),
];

/// The emitted template's own words, in a namespace that enforces `restricted`, as Argo reads them.
#[test]
fn a_step_that_a_signal_ends_is_started_again_and_one_that_answers_is_not() {
    let Some(cluster) = cluster("a_step_that_a_signal_ends_is_started_again") else { return };
    let project = Project::mixed(cluster);
    let objects = project.objects();
    let of_kind = |kind: &str, target: &str| -> Vec<&Emitted> {
        let is_it = |emitted: &&Emitted| emitted.object["kind"] == kind && emitted.path.contains(target);
        objects.iter().filter(is_it).collect()
    };
    // The other target asks for what this cluster does not have: a priority class, a Secret.
    let template = of_kind("WorkflowTemplate", "generated/old/pipeline/workflow-template")[0];
    let namespace = template.object["metadata"]["namespace"].as_str().unwrap();
    let target = template.path.split('/').nth(1).unwrap();
    for kind in ["ConfigMap", "ServiceAccount", "Role", "RoleBinding"] {
        let files = project.files(of_kind(kind, &format!("generated/{target}/")));
        cluster.say(["apply", "-n", namespace].map(str::to_owned).into_iter().chain(files));
    }
    let mut spec = template.object["spec"].clone();
    let mut run = spec["templates"].as_array().unwrap().iter().find(|step| step["name"] == "run").unwrap().clone();
    // Four times, a minute in the end, is more than a test waits for.
    run["retryStrategy"]["limit"] = json!(1);
    run["activeDeadlineSeconds"] = json!(45);
    for key in ["image", "command", "args", "volumeMounts"] {
        run["container"].as_object_mut().unwrap().remove(key);
    }
    run["container"]["image"] = json!("busybox:1");
    run["container"]["imagePullPolicy"] = json!("IfNotPresent");
    run["container"]["command"] = json!(["sh", "-c", "{{workflow.parameters.runs}}"]);
    run.as_object_mut().unwrap().remove("inputs");
    let main = json!({"name": "main", "steps": [[{"name": "run", "template": "run"}]]});
    spec["templates"] = json!([main, run]);
    spec["entrypoint"] = json!("main");
    for key in ["onExit", "volumes"] {
        spec.as_object_mut().unwrap().remove(key);
    }
    let metadata = json!({"name": "retried", "namespace": namespace});
    let kind = |kind: &str, metadata: Value, spec: Value| json!({"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec});
    let mut items = vec![kind("WorkflowTemplate", metadata, spec)];
    let names = ["benchmark", "claim", "config", "prepare-deadline", "rules", "run-deadline", "session"];
    for (name, script, ..) in STEPS {
        let others = names.iter().map(|name| json!({"name": name, "value": "60"}));
        let parameters: Vec<Value> = others.chain([json!({"name": "runs", "value": script})]).collect();
        let spec = json!({"workflowTemplateRef": {"name": "retried"}, "arguments": {"parameters": parameters}});
        items.push(kind("Workflow", json!({"name": name, "namespace": namespace}), spec));
    }
    project.folder.write("retried.json", json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
    cluster.say(["create", "-f", &project.place("retried.json")]);
    for (name, _, starts, words) in STEPS {
        let workflow = format!("workflow/{name}");
        cluster.say(["wait", "--for=jsonpath={.status.phase}=Failed", "--timeout=120s", "-n", namespace, &workflow]);
        let state = cluster.json(["get", &workflow, "-n", namespace, "-o", "json"]);
        let nodes = state["status"]["nodes"].as_object().unwrap().values();
        let pods: Vec<&Value> = nodes.filter(|node| node["type"] == "Pod").collect();
        assert_eq!(pods.len(), starts, "{name}: {pods:#?}");
        let says = |pod: &&Value| pod["message"].as_str().unwrap_or_default().contains(words);
        assert!(pods.iter().all(says), "{name}: {pods:#?}");
    }
}
