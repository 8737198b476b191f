//! Each old format, as it was written by its users.

use serde_json::{Value as Json, json};

use super::*;
use kubebench_compiler::compile::{self, Workspace};

fn input(path: &str, text: &str) -> Input {
    Input { path: path.to_owned(), bytes: text.as_bytes().to_vec(), given: Given::Named }
}

fn migrated(text: &str) -> Migration {
    migrate(&[input("old.yaml", text)], 1)
}

/// The only spec of a migration, which the compiler takes.
fn spec(migration: &Migration) -> Json {
    let [spec] = migration.specs.as_slice() else { panic!("{:?}", migration.diagnostics) };
    let workspace = Workspace::open(None, "0.1.0");
    let file = compile::Input { path: "specs/a.yaml".to_owned(), bytes: spec.text.clone().into_bytes() };
    let compilation = workspace.compile(vec![file]);
    let errors: Vec<_> = compilation.diagnostics.iter().filter(|fault| fault.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{}\n{errors:#?}", spec.text);
    let source = Source::new("spec", spec.text.as_bytes());
    yaml::read(SourceId::default(), &source).root.unwrap().to_json()["spec"].clone()
}

fn workload(text: &str) -> Json {
    spec(&migrated(text))["workload"].clone()
}

fn outcome(migration: &Migration, path: &str) -> Option<Outcome> {
    migration.files[0].lines.iter().find(|line| line.path() == path).map(|line| line.outcome)
}

fn lost(migration: &Migration) -> Vec<String> {
    let lines = migration.files.iter().flat_map(|file| &file.lines);
    lines.filter(|line| line.outcome == Outcome::Lost).map(Line::path).collect()
}

#[test]
fn tf_jobs_of_v1alpha1_have_a_list_of_replicas() {
    let text = "\
apiVersion: kubeflow.org/v1alpha1
kind: TFJob
metadata: {name: Example_Job, labels: {team: vision}}
spec:
  RuntimeId: abcd
  terminationPolicy: {chief: {replicaName: MASTER, replicaIndex: 0}}
  replicaSpecs:
  - replicas: 1
    tfReplicaType: MASTER
    template: {spec: {containers: [{image: registry.example/tf:1, name: tensorflow, args: [--steps, 10]}], restartPolicy: OnFailure}}
  - replicas: 2
    tfReplicaType: WORKER
    tfPort: 2222
    template: {spec: {containers: [{image: registry.example/tf:1, name: tensorflow, args: [--steps, 10]}], restartPolicy: OnFailure}}
  - {replicas: 0, tfReplicaType: PS}
";
    let migration = migrated(text);
    let tf_job = &spec(&migration)["workload"]["tfJob"];
    assert_eq!(tf_job["image"], "registry.example/tf:1");
    assert_eq!(tf_job["args"], json!(["--steps", "10"]));
    assert_eq!((&tf_job["chief"], &tf_job["worker"]), (&json!({}), &json!({"replicas": 2})));
    assert!(tf_job.get("ps").is_none());
    assert_eq!(migration.specs[0].name, "example-job");
    assert_eq!(lost(&migration), Vec::<String>::new());
}

#[test]
fn tf_jobs_of_v1beta1_keep_what_the_simple_form_lacks_as_patches() {
    let text = "\
apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata: {name: train, namespace: ml, annotations: {owner: me}}
spec:
  activeDeadlineSeconds: 5400
  backoffLimit: 3
  cleanPodPolicy: All
  tfReplicaSpecs:
    Ps:
      replicas: 1
      restartPolicy: Never
      template: {spec: {containers: [{name: tensorflow, image: 'registry.example/tf:1', command: [python, a.py]}]}}
    Worker:
      replicas: 3
      template:
        metadata: {labels: {monitoring: kubebench-prometheus}}
        spec:
          nodeSelector: {disk: ssd}
          containers:
          - name: tensorflow
            image: registry.example/tf:1
            command: [python, a.py, '$(JOB)']
            workingDir: /src
            env:
            - {name: JOB, value: a}
            - {name: TOKEN, valueFrom: {secretKeyRef: {name: hf, key: token}}}
            - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
            resources: {limits: {nvidia.com/gpu: 1}, requests: {cpu: 4}}
            volumeMounts: [{name: data, mountPath: /data}]
          - {name: sidecar, image: 'registry.example/proxy:1'}
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
";
    let migration = migrated(text);
    let spec = spec(&migration);
    assert_eq!(spec["timeout"], "90m");
    let tf_job = &spec["workload"]["tfJob"];
    let worker = &tf_job["worker"];
    assert_eq!(tf_job["patch"], json!({"metadata": {"annotations": {"owner": "me"}}}));
    assert_eq!(worker["expandVariables"], true);
    assert_eq!(worker["env"]["TOKEN"], json!({"secret": {"name": "hf", "key": "token"}}));
    assert_eq!(worker["env"]["POD"], json!({"field": "metadata.name"}));
    assert_eq!(worker["resources"], json!({"limits": {"nvidia.com/gpu": 1}, "requests": {"cpu": 4}}));
    assert_eq!(worker["pod"]["containers"][0]["name"], "sidecar");
    assert_eq!(
        worker["container"],
        json!({"workingDir": "/src", "volumeMounts": [{"name": "data", "mountPath": "/data"}]})
    );
    assert_eq!(lost(&migration), ["spec.tfReplicaSpecs.Worker.template.spec.containers[0].env[3]"]);
    assert!(migration.advice.iter().any(|advice| advice.contains("namespace: ml")));
}

#[test]
fn pytorch_jobs_of_any_version() {
    let new = "\
apiVersion: kubeflow.org/v1beta1
kind: PyTorchJob
metadata: {generateName: ddp-}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: OnFailure, template: {spec: {containers: [{name: pytorch, image: 'registry.example/t:1'}]}}}
    Worker: {replicas: 2, restartPolicy: OnFailure, template: {spec: {containers: [{name: pytorch, image: 'registry.example/t:1'}]}}}
";
    let old = "\
apiVersion: kubeflow.org/v1alpha1
kind: PyTorchJob
metadata: {name: ddp}
spec:
  replicaSpecs:
  - {replicas: 1, replicaType: MASTER, masterPort: 23456, template: {spec: {containers: [{name: pytorch, image: 'registry.example/t:1'}]}}}
  - {replicas: 2, replicaType: WORKER, template: {spec: {containers: [{name: pytorch, image: 'registry.example/t:1'}]}}}
";
    for text in [new, old] {
        assert_eq!(
            workload(text),
            json!({"pytorchJob": {"image": "registry.example/t:1", "master": {}, "worker": {"replicas": 2}}})
        );
        assert_eq!(migrated(text).specs[0].name, "ddp");
    }
}

#[test]
fn mpi_jobs_of_v1alpha1_counted_units() {
    let job = |fields: &str, resources: &str| {
        workload(&format!(
            "apiVersion: kubeflow.org/v1alpha1\nkind: MPIJob\nmetadata: {{name: hvd}}\nspec:\n  {fields}\n  template: {{spec: {{containers: \
             [{{name: main, image: 'registry.example/h:1', command: [mpirun, a]{resources}}}]}}}}\n"
        ))
    };
    let of_16 = job("gpus: 16", "");
    assert_eq!(of_16["mpiJob"]["worker"], json!({"replicas": 2, "resources": {"nvidia.com/gpu": 8}}));
    assert_eq!(of_16["mpiJob"]["slotsPerWorker"], 8);
    assert_eq!(of_16["mpiJob"]["launcher"], json!({"command": ["mpirun", "a"]}));
    assert_eq!(job("gpus: 3", "")["mpiJob"]["worker"], json!({"replicas": 1, "resources": {"nvidia.com/gpu": 3}}));
    let cpus = job("processingUnits: 8\n  processingUnitsPerNode: 4\n  processingResourceType: cpu", "");
    assert_eq!(cpus["mpiJob"]["worker"], json!({"replicas": 2, "resources": {"cpu": 4}}));
    let sized = job("replicas: 3", ", resources: {limits: {nvidia.com/gpu: 2}}");
    assert_eq!(sized["mpiJob"]["slotsPerWorker"], 2);
    assert_eq!(sized["mpiJob"]["worker"], json!({"replicas": 3, "resources": {"nvidia.com/gpu": 2}}));
    let uneven = migrated(
        "apiVersion: kubeflow.org/v1alpha1\nkind: MPIJob\nmetadata: {name: a}\nspec: {gpus: 9, template: {spec: {containers: [{image: a:1}]}}}\n",
    );
    assert_eq!(lost(&uneven), ["spec.gpus"]);
}

#[test]
fn jobs_of_batch() {
    let text = "\
apiVersion: batch/v1
kind: Job
metadata: {name: fio}
spec:
  parallelism: 2
  completions: 4
  backoffLimit: 6
  podReplacementPolicy: Failed
  template: {spec: {restartPolicy: Never, containers: [{name: fio, image: 'registry.example/fio:3', command: [fio]}]}}
";
    let job = &workload(text)["job"];
    assert_eq!((&job["parallelism"], &job["completions"]), (&json!(2), &json!(4)));
    assert_eq!(job["patch"], json!({"spec": {"podReplacementPolicy": "Failed"}}));
}

const PARAMETERS: &str = "\
name: tf-cnn-dummy
args: --foo=1,--bar
image: gcr.io/kubeflow-images-public/kubebench/kubebench-example-tf-cnn-runner-cpu:v1
num_worker: 1
num_ps: 0
batch_size: 32
";

const KSONNET: &str = r#"{
  global: {
    // User-defined global parameters
  },
  components: {
    // Component-level parameters
    "kubebench-job": {
      name: "bench",
      namespace: "null",
      mainJobConfig: "tf-cnn/tf-cnn-dummy.yaml",
      mainJobKsPrototype: "kubebench-example-tfcnn",
      experimentConfigPvc: "kubebench-config-pvc",
      experimentDataPvc: "data",
      experimentRecordPvc: "kubebench-exp-pvc",
      postJobImage: "gcr.io/xyhuang-kubeflow/kubebench-example-tfcnn-postprocessor:v20180909-1",
      postJobArgs: "null",
      reporterType: "csv",
      csvReporterInput: "result.json",
      csvReporterOutput: "report.csv",
    },
  },
}
"#;

#[test]
fn ksonnet_parameters_find_their_job() {
    let migration =
        migrate(&[input("params.libsonnet", KSONNET), input("config/tf-cnn/tf-cnn-dummy.yaml", PARAMETERS)], 1);
    let tf_job = &spec(&migration)["workload"]["tfJob"];
    assert_eq!(migration.specs[0].name, "bench");
    assert_eq!(tf_job["worker"], json!({"replicas": 1}));
    let args = tf_job["args"].as_array().unwrap();
    assert!(args.contains(&json!("--batch_size=32")) && args.contains(&json!("--model=resnet50")), "{args:?}");
    assert_eq!(args.last().unwrap(), "--bar");
    assert_eq!(
        tf_job["container"]["volumeMounts"],
        json!([{"name": "kubebench-data", "mountPath": "/kubebench/data"}])
    );
    assert_eq!(lost(&migration), Vec::<String>::new());
    // Alone they name what is missing.
    let alone = migrated(&KSONNET.lines().filter(|line| !line.contains("//")).collect::<String>());
    assert!(alone.specs.is_empty());
    let codes: Vec<&str> = alone.diagnostics.as_slice().iter().map(|fault| fault.code.id).collect();
    assert!(codes.contains(&"KB0432"), "{codes:?}");
}

#[test]
fn a_template_that_is_not_known_is_said() {
    let text = KSONNET.replace("kubebench-example-tfcnn\"", "my-own\"");
    let migration = migrate(&[input("params.libsonnet", &text), input("tf-cnn/tf-cnn-dummy.yaml", PARAMETERS)], 1);
    assert_eq!(lost(&migration), ["components.kubebench-job.mainJobKsPrototype"]);
    assert!(migration.specs[0].is_lossy);
}

const GRAPH: &str = "\
apiVersion: kubeflow.org/v1alpha2
kind: KubebenchJob
metadata: {name: graph}
spec:
  serviceAccountName: bench
  arguments: {parameters: [{name: size, value: 64}]}
  managedVolumes: {experimentVolume: {name: exp, emptyDir: {}}}
  tasks:
  - name: stage
    container: {name: stage, image: 'registry.example/stage:1', args: ['{{inputs.parameters.size}}']}
  - name: train
    dependencies: [stage]
    resource:
      options: {autoWatch: {timeout: 45m}, autoDelete: true, numCopies: 1}
      manifest: |
        apiVersion: kubeflow.org/v1beta1
        kind: PyTorchJob
        metadata: {name: inner}
        spec:
          surprise: 1
          pytorchReplicaSpecs:
            Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: 'registry.example/t:1'}]}}}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: settings}
  - name: post
    dependencies: [train]
    container: {name: post, image: 'registry.example/post:1', command: [post]}
  - name: report
    dependencies: [post]
    container: {name: report, image: 'gcr.io/kubeflow-images-public/kubebench/kubebench-controller:v1', args: [csv]}
";

#[test]
fn a_graph_has_one_measured_job() {
    let migration = migrated(GRAPH);
    let spec = spec(&migration);
    assert_eq!(spec["workload"], json!({"pytorchJob": {"image": "registry.example/t:1", "worker": {"replicas": 2}}}));
    assert_eq!(spec["prepare"], json!({"image": "registry.example/stage:1", "args": ["${{ parameters.size }}"]}));
    assert_eq!(spec["postprocess"], json!({"image": "registry.example/post:1", "command": ["post"]}));
    assert_eq!((&spec["timeout"], &spec["parameters"]), (&json!("45m"), &json!({"size": "64"})));
    assert_eq!(spec["results"]["mountInJob"], true);
    let lost = lost(&migration);
    assert_eq!(lost, ["spec.tasks[1].resource.manifest/0.spec.surprise", "spec.tasks[1].resource.manifest/1"]);
    assert!(migration.specs[0].text.contains("# - the values of the post-processor"), "{}", migration.specs[0].text);
}

#[test]
fn dependencies_in_a_circle_end() {
    let text = "apiVersion: kubeflow.org/v1alpha2\nkind: KubebenchJob\nmetadata: {name: a}\nspec:\n  tasks:\n  \
                - {name: a, dependencies: [b], container: {image: 'a:1'}}\n  - {name: b, dependencies: [a], container: {image: 'b:1'}}\n";
    assert_eq!(workload(text)["job"]["image"], "b:1");
}

#[test]
fn an_unknown_post_processor_is_a_job_after_each_run() {
    let job = "\
apiVersion: kubeflow.org/v1alpha1
kind: KubebenchJob
metadata: {name: a}
spec:
  jobSpecs:
    mainJob: {resource: {manifestParameters: {valueFrom: {path: p.yaml}}}}
    postJob: {container: {name: p, image: 'registry.example/post:1', ports: [{containerPort: 80}]}}
  reportSpecs: {csv: [{inputPath: result.json, outputPath: report.csv}, {inputPath: b, outputPath: c}]}
";
    let migration = migrate(&[input("job.yaml", job), input("p.yaml", PARAMETERS)], 1);
    assert_eq!(spec(&migration)["postprocess"], json!({"image": "registry.example/post:1"}));
    assert_eq!(lost(&migration), ["spec.jobSpecs.postJob.container.ports", "spec.reportSpecs.csv[0].inputPath"]);
    assert_eq!(outcome(&migration, "spec.reportSpecs.csv[1]"), Some(Outcome::Dropped));
}

#[test]
fn an_image_of_ones_own_leaves_the_file_of_the_runner() {
    let text = PARAMETERS.replace(
        "gcr.io/kubeflow-images-public/kubebench/kubebench-example-tf-cnn-runner-cpu:v1",
        "registry.example/mine:1",
    );
    let spec = spec(&migrated(&text));
    assert_eq!(spec["metrics"][0]["from"]["tool"]["file"], "worker0.log");
    assert_eq!(spec["results"]["mountInJob"], true);
    assert!(spec["workload"]["tfJob"].get("command").is_none());
}

#[test]
fn a_misspelt_key_is_read_and_said() {
    let text = "jobType: tf-job\njobParams: {name: a, image: 'localhost:5000/x', args: 'a,b', numWo rkers: 3, numGpus: 2, imageGpu: 'g:1', hello: 1}\n";
    let migration = migrated(text);
    assert_eq!(outcome(&migration, "jobParams[\"numWo rkers\"]"), Some(Outcome::Changed));
    assert_eq!(lost(&migration), ["jobParams.hello"]);
    let tf_job = &spec(&migration)["workload"]["tfJob"];
    assert_eq!(tf_job["worker"], json!({"replicas": 3}));
    assert_eq!((&tf_job["image"], &tf_job["resources"]), (&json!("g:1"), &json!({"nvidia.com/gpu": 2})));
}

#[test]
fn what_looks_like_an_expression_stays_text() {
    let text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{image: 'a:1', command: [echo, '${{ x }}', \"a: #b\\n\"]}]}}}\n";
    assert_eq!(workload(text)["job"]["command"], json!(["echo", "$${{ x }}", "a: #b\n"]));
}

#[test]
fn two_benchmarks_of_one_name() {
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{image: 'a:1'}]}}}\n";
    let migration = migrate(&[input("a.yaml", job), input("b.yaml", job)], 1);
    assert_eq!(migration.specs.len(), 1);
    assert!(migration.diagnostics.as_slice().iter().any(|fault| fault.code.id == "KB0433"));
}

#[test]
fn names_become_names_of_benchmarks() {
    for (old, new) in [
        ("kubebench-job", "kubebench-job"),
        ("Train_It.v2", "train-it-v2"),
        ("1st", "benchmark-1st"),
        ("pipeline", "benchmark-pipeline"),
        ("", "benchmark"),
        ("ünï", "n"),
        ("a-name-that-is-much-longer-than-it-may-be", "a-name-that-is-much-longer-than"),
    ] {
        assert_eq!(name_like(old), new, "{old}");
    }
}

#[test]
fn hostile_texts_have_findings() {
    let deep = "a: ".to_owned() + &"[".repeat(5000);
    let laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned()
        + &('b'..='k')
            .map(|c| format!("{c}: &{c} [{}]\n", vec![format!("*{}", (c as u8 - 1) as char); 9].join(", ")))
            .collect::<String>();
    let texts = [
        "",
        "---\n",
        "\u{0}",
        "a: [",
        "just text",
        "- 1\n- 2",
        "a: &a [*a]",
        "{{ template }}",
        &deep,
        &laughs,
        "kind: KubebenchJob",
        "kind: KubebenchJob\nspec: 7",
        "kind: KubebenchJob\nspec: {tasks: 7}",
        "kind: KubebenchJob\nspec: {tasks: [7, {name: {}, container: []}, {resource: {manifest: 'a: ['}}]}",
        "apiVersion: kubeflow.org/v1\nkind: TFJob\nspec: {tfReplicaSpecs: [1]}",
        "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: []\nspec: {template: 1, gpus: -1}",
        "jobType: 1\njobParams: []",
        "image: a\nnum_worker: {}\nreplicas: x",
    ];
    for text in texts {
        let migration = migrated(text);
        assert!(migration.diagnostics.has_errors() || !migration.specs.is_empty(), "{text:?}");
    }
}
