//! The workload `workflow`: what arrives of an Argo Workflow, what its arguments do, and what is wrong with one.

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{Node, read_manifest};
use kubebench_testing::snapshot::str;
use serde_json::{Value, json};

use crate::support::judges::validate;
use crate::support::project::{assert_error, codes, compile, compile_sound, created, errors, located_errors, objects};

const FILE: &str = r#"
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: chain-, labels: {team: vision}, annotations: {a: "{{workflow.name}}"}}
spec:
  entrypoint: all
  podMetadata: {annotations: {sidecar.istio.io/inject: "false"}, labels: {team: vision}}
  arguments:
    parameters:
      - {name: epochs, value: "1", description: how long}
      - {name: rate, valueFrom: {configMapKeyRef: {name: rates, key: rate}}}
      - {name: mode, value: fast, enum: [fast, exact]}
      - {name: words, value: "{{=sprig.upper('x')}} unclosed {{"}
  templates:
    - name: all
      dag:
        tasks:
          - {name: load, template: fetch}
          - {name: train, template: fit, dependencies: [load], withItems: [1, 2]}
          - {name: ask, inline: {http: {url: "http://a"}}, dependencies: [load]}
    - name: fetch
      container: {image: "registry.example/load@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb", command: [load, $(HOME)], resources: {limits: {cpu: "1", memory: 1Gi}}}
    - name: fit
      script: {image: "{{workflow.parameters.mode}}", command: [sh], source: "train {{workflow.parameters.epochs}} $(date)"}
"#;

fn spec(workflow: &str, more: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: chain}}
spec:
  timeout: 1h
{more}
  workload:
    workflow: {workflow}
  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]
"
    )
}

fn compiled(workflow: &str, file: &str) -> Compilation {
    compile(&[("specs/chain.yaml", &spec(workflow, "")), ("pipelines/x.yaml", file)])
}

fn of_kind(compilation: &Compilation, kind: &str) -> Vec<Value> {
    created(compilation).into_iter().map(|emitted| emitted.object).filter(|object| object["kind"] == kind).collect()
}

/// The template that holds the `spec` of the measured Workflow.
fn template(compilation: &Compilation) -> Value {
    of_kind(compilation, "WorkflowTemplate").remove(0)
}

#[test]
fn everything_arrives_but_the_name_and_what_a_run_needs_is_added() {
    let compilation = compiled("{file: pipelines/x.yaml}", FILE);
    assert_eq!(errors(&compilation), [""; 0]);
    let source = read_manifest(SourceId::default(), &Source::new("x", FILE.as_bytes()));
    let source: Value = source.documents.first().map(Node::to_json).unwrap();
    let mut found = of_kind(&compilation, "Workflow").remove(0);
    let (case, namespace) =
        (found["metadata"]["labels"]["kubebench.dev/case"].clone(), found["metadata"]["namespace"].clone());
    let labels = json!({"kubebench.dev/benchmark": "chain", "kubebench.dev/case": case});
    let with_team = |mut labels: Value| {
        labels["team"] = json!("vision");
        labels
    };
    let metadata = json!({
        "namespace": namespace, "annotations": {"a": "{{workflow.name}}"}, "labels": with_team(labels.clone()),
    });
    assert_eq!(found["metadata"], metadata);
    assert_eq!(found["spec"], json!({"workflowTemplateRef": {}}), "named when the run is");
    let mut template = template(&compilation);
    assert_eq!(template["metadata"], json!({"namespace": namespace, "labels": labels}));
    let mut expected = source["spec"].clone();
    expected["serviceAccountName"] = json!("kubebench-workflow");
    expected["podMetadata"]["labels"] = with_team(labels);
    assert_eq!(template["spec"], expected);
    for object in [&mut found, &mut template] {
        object["metadata"]["name"] = json!("chain-1a2b3c4d");
        assert_eq!(validate(object), [""; 0]);
    }
}

#[test]
fn an_account_of_its_own_is_kept() {
    let file = FILE.replace("entrypoint: all", "entrypoint: all\n  serviceAccountName: pipelines");
    assert_eq!(template(&compiled("{file: pipelines/x.yaml}", &file))["spec"]["serviceAccountName"], "pipelines");
}

#[test]
fn arguments_take_the_place_of_values_as_text() {
    let spec = spec(
        "{file: pipelines/x.yaml, arguments: {epochs: '${{ matrix.epochs }}', rate: 0.10, mode: exact}}",
        "  matrix: {axes: {epochs: [3, 4]}}",
    );
    let compilation = compile_sound(&[("specs/chain.yaml", &spec), ("pipelines/x.yaml", FILE)]);
    let found: Vec<Value> = created(&compilation)
        .into_iter()
        .map(|emitted| emitted.object)
        .filter(|object| object["kind"] == "WorkflowTemplate")
        .map(|object| object["spec"]["arguments"]["parameters"].clone())
        .collect();
    let of = |epochs: &str| {
        json!([
            {"name": "epochs", "value": epochs, "description": "how long"}, {"name": "rate", "value": "0.10"},
            {"name": "mode", "value": "exact", "enum": ["fast", "exact"]},
            {"name": "words", "value": "{{=sprig.upper('x')}} unclosed {{"},
        ])
    };
    assert_eq!(found, [of("3"), of("4")]);
}

/// What Argo would expand in it reaches no object of ours that Argo reads.
#[test]
fn the_braces_of_the_file_travel_in_a_config_map_alone() {
    let compilation = compiled("{file: pipelines/x.yaml}", FILE);
    let holders: Vec<String> = objects(&compilation)
        .into_iter()
        .filter(|emitted| emitted.object.to_string().contains("sprig.upper"))
        .map(|emitted| emitted.object["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(holders, ["ConfigMap"]);
}

#[test]
fn the_runner_may_manage_workflows_only_where_one_is_measured() {
    let verbs = |compilation: &Compilation| -> Vec<String> {
        let role = objects(compilation).into_iter().find(|emitted| emitted.path.ends_with("role-runner.yaml")).unwrap();
        let rules = role.object["rules"].as_array().unwrap().clone();
        let of = rules.iter().filter(|rule| rule["apiGroups"] == json!(["argoproj.io"]));
        let mut verbs: Vec<String> = of
            .flat_map(|rule| rule["verbs"].as_array().unwrap())
            .map(|verb| verb.as_str().unwrap().to_owned())
            .collect();
        verbs.sort();
        verbs.dedup();
        verbs
    };
    assert_eq!(verbs(&compiled("{file: pipelines/x.yaml}", FILE)), ["create", "delete", "get", "list", "watch"]);
    let job = spec("x", "").replace("workflow: x", "job: {image: 'r.example/a:1', command: [a]}");
    assert_eq!(verbs(&compile_sound(&[("specs/a.yaml", &job)])), ["get"]);
}

#[test]
fn the_queue_of_kueue_holds_the_pods_and_the_volume_reaches_their_containers() {
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {a: {queue: {kueue: ml}}}}\n";
    let spec = spec("{file: pipelines/x.yaml}", "  results: {mountInJob: true, claim: {accessModes: [ReadWriteMany]}}");
    let compilation =
        compile_sound(&[("kubebench.yaml", project), ("specs/chain.yaml", &spec), ("pipelines/x.yaml", FILE)]);
    let found = template(&compilation);
    assert_eq!(found["spec"]["podMetadata"]["labels"]["kueue.x-k8s.io/queue-name"], "ml");
    assert_eq!(found["metadata"]["labels"].get("kueue.x-k8s.io/queue-name"), None);
    assert_eq!(found["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], "chain-results");
    for (index, field) in [(1, "container"), (2, "script")] {
        let container = &found["spec"]["templates"][index][field];
        let mount = &container["volumeMounts"][0];
        assert_eq!(mount["mountPath"], "/kubebench/experiments/run/output", "{container:#}");
        assert_eq!(mount["subPathExpr"], "$(KUBEBENCH_EXP_ID)/output", "{container:#}");
        assert!(container["env"].to_string().contains("KUBEBENCH_EXP_ID"), "{container:#}");
    }
    let mut named = found;
    named["metadata"]["name"] = json!("chain-1a2b3c4d");
    assert_eq!(validate(&named), [""; 0]);
}

#[test]
fn faults_are_reported_where_they_are() {
    const HEAD: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: x}\n";
    let plain = format!("{HEAD}spec: {{entrypoint: a, templates: [{{name: a, suspend: {{duration: 1s}}}}]}}\n");
    for (workflow, file, expected) in [
        (
            "{file: pipelines/y.yaml}",
            FILE.to_owned(),
            ("KB0340 specs/chain.yaml", str! {"there is no file `pipelines/y.yaml`"}),
        ),
        ("{}", FILE.to_owned(), ("KB0202", str! {"`workflow` needs the field `file`"})),
        (
            "{file: pipelines/x.yaml, arguments: {epoch: 1}}",
            FILE.to_owned(),
            ("KB0328 specs/chain.yaml", str! {"the Workflow has no parameter `epoch`"}),
        ),
        (
            "{file: pipelines/x.yaml, arguments: {epochs: 1}}",
            plain.clone(),
            ("KB0328 specs/chain.yaml", str! {"the Workflow has no parameter `epochs`"}),
        ),
        (
            "{file: pipelines/x.yaml, arguments: {mode: slow}}",
            FILE.to_owned(),
            ("KB0328 specs/chain.yaml", str! {"`slow` is not one of the values that `mode` accepts"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            FILE.replace("value: \"1\", ", ""),
            ("KB0328 pipelines/x.yaml", str! {"the parameter `epochs` has no value"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            format!("{plain}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n"),
            ("KB0335 specs/chain.yaml", str! {"the file holds 2 objects, but `workflow` measures one"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            plain.replace("kind: Workflow", "kind: CronWorkflow"),
            ("KB0335 pipelines/x.yaml", str! {"a CronWorkflow runs nothing by itself"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            plain.replace("kind: Workflow", "kind: WorkflowTemplate"),
            ("KB0335 pipelines/x.yaml", str! {"a WorkflowTemplate runs nothing by itself"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            "apiVersion: batch/v1\nkind: Job\n".to_owned(),
            ("KB0335 pipelines/x.yaml", str! {"this is a Job (batch/v1), but `workflow` measures an Argo Workflow"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            plain.replace("v1alpha1", "v1"),
            (
                "KB0339 pipelines/x.yaml",
                str! {"`argoproj.io/v1` is not a version of Workflow that its controller serves"},
            ),
        ),
        (
            "{file: pipelines/x.yaml}",
            plain.replace("spec: {", "spec: {suspend: true, "),
            ("KB0349 pipelines/x.yaml", str! {"the Workflow is suspended, and nothing would resume it"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            FILE.replace("fetch", "Fetch"),
            ("KB0325 pipelines/x.yaml", str! {"`Fetch` has upper-case letters, and its pods are named after it"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            plain.replace("duration: 1s", ""),
            ("KB0349 pipelines/x.yaml", str! {"this template waits until somebody resumes the Workflow"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            "kind: Workflow\n".to_owned(),
            ("KB0346 pipelines/x.yaml", str! {"this object has no `apiVersion`"}),
        ),
        (
            "{file: pipelines/x.yaml}",
            FILE.replace("[load, $(HOME)]", "[load, '${{ matrix.no }}']"),
            ("KB0301 pipelines/x.yaml", str! {"there is no `matrix.no`"}),
        ),
    ] {
        let found = located_errors(&compiled(workflow, &file));
        assert_error(&found, expected);
    }
}

#[test]
fn templates_of_the_cluster_are_reported_and_take_any_argument() {
    let file = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {workflowTemplateRef: {name: shared}}\n";
    let compilation = compiled("{file: pipelines/x.yaml, arguments: {epochs: 3}}", file);
    assert_eq!(errors(&compilation), [""; 0]);
    assert!(codes(&compilation).contains(&"KB0329"), "{:?}", codes(&compilation));
    let found = of_kind(&compilation, "Workflow").remove(0);
    assert_eq!(found["spec"]["workflowTemplateRef"], json!({"name": "shared"}));
    assert_eq!(found["spec"]["arguments"]["parameters"], json!([{"name": "epochs", "value": "3"}]));
}

/// The roles are the templates, those too whose image Argo fills in.
#[test]
fn metrics_are_compared_with_templates_and_steps() {
    for (metric, expected) in [
        ("{log: {pattern: '(?P<value>1)', role: fetch}}", None),
        ("{log: {pattern: '(?P<value>1)', role: fit}}", None),
        ("{log: {pattern: '(?P<value>1)', role: train}}", Some("KB0324")),
        ("{node: {name: train}}", None),
        ("{node: {name: ask}}", None),
        ("{node: {name: fit}}", Some("KB0358")),
        ("{node: {name: trian}}", Some("KB0358")),
        ("{trials: {metric: accuracy}}", Some("KB0358")),
    ] {
        let spec = spec("{file: pipelines/x.yaml}", "").replace("{duration: run}", metric);
        let compilation = compile(&[("specs/chain.yaml", &spec), ("pipelines/x.yaml", FILE)]);
        let errors = errors(&compilation);
        assert_eq!(errors.first().map(|fault| &fault[..6]), expected, "{metric}: {errors:?}");
    }
    let job = spec("x", "").replace("workflow: x", "job: {image: 'r.example/a:1', command: [a]}");
    let of_job = job.replace("{duration: run}", "{node: {name: a}}");
    assert_eq!(
        errors(&compile(&[("specs/a.yaml", &of_job)])),
        ["KB0358 specs/a.yaml: the workload is not a Workflow, so it has no nodes"]
    );
}
