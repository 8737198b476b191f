//! Specs that say as little as they can.

/// What the specs of `tests/data/mixed` do not hold: every metric source, and blocks with nothing in them.
pub(super) const SPECS: &[&str] = &[
    "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: sparse}
spec:
  schedule: {cron: 0 3 * * 1}
  budget: {}
  matrix: {axes: {size: [1]}}
  inputs: {dataset: {uri: a}, model: {uri: b}}
  workload:
    pytorchJob: {image: registry.example/a:1, elasticPolicy: {}, schedulingPolicy: {}, worker: {}}
  prepare: {image: registry.example/a:1}
  postprocess: {image: registry.example/a:1}
  results: {claim: {}}
  metrics:
    - {name: a, from: {log: {pattern: '(?P<step>1)(?P<value>x)'}}, window: {steps: [1, 2]}}
    - {name: b, from: {json: {file: a, pointer: /a}}, window: {skipFirst: 1}}
    - {name: c, from: {jsonLines: {file: a, pointer: /a}}, window: {lastN: 1}}
    - {name: d, from: {csv: {file: a, column: a}}}
    - {name: e, from: {keyValue: {key: a}}}
    - {name: f, from: {openMetrics: {file: a, name: a}}}
    - {name: g, from: {file: {path: a}}}
    - {name: h, from: {process: maxRss}}
    - {name: i, from: {duration: run}}
    - {name: j, from: {prometheus: {query: up}}}
    - {from: {tool: {name: torchtitan, window: {steps: [1, 2]}}}}
  checks: [{metric: a, finite: true}, {restarts: 0}]
  gates: [{metric: a, min: 1}]
",
    "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: sparse}
spec: {matrix: {include: [{a: 1}]}, workload: {tfJob: {image: registry.example/a:1, master: {}}}}
",
    "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: sparse}
spec: {workload: {job: {image: registry.example/a:1}}, variants: [{name: a}, {name: b}]}
",
    "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: sparse}
spec:
  workload: {experiment: {objective: {type: minimize, objectiveMetricName: a}, algorithm: {algorithmName: random}, earlyStopping: {algorithmName: medianstop}, parameters: [{name: a, parameterType: double, feasibleSpace: {min: '0.01', max: '0.05'}}], maxTrialCount: 12, trial: {job: {image: registry.example/a:1, command: [a, '${trialParameters.a}']}}}}
  metrics: [{name: a, from: {trials: {metric: a}}}]
",
];

/// Workloads of further specs that say nothing else.
pub(super) const WORKLOADS: &[&str] = &[
    "workflow: {file: pipelines/a.yaml}",
    "manifest: {object: {apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a, image: 'r.example/a:1'}]}}}}}",
    "manifest: {object: {apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a}, spec: {predictor: {model: {modelFormat: {name: a}}}}}}",
    "notebook: {image: registry.example/a:1, file: notebooks/a.ipynb}",
    "tfJob: {image: registry.example/a:1, chief: {}, ps: {}, worker: {}, evaluator: {}, schedulingPolicy: {}}",
    "mpiJob: {image: registry.example/a:1, launcher: {}, worker: {}, schedulingPolicy: {}}",
    "pytorchJob: {image: registry.example/a:1, master: {}, worker: {}}",
    "xgboostJob: {image: registry.example/a:1, master: {}, worker: {}, schedulingPolicy: {}}",
    "paddleJob: {image: registry.example/a:1, master: {}, worker: {}, elasticPolicy: {}, schedulingPolicy: {}}",
    "jaxJob: {image: registry.example/a:1, worker: {}, schedulingPolicy: {}}",
    "rayJob: {image: registry.example/a:1, entrypoint: [a]}",
    "rayJob: {image: registry.example/a:1, entrypoint: [a], head: {}, submitter: {}, workerGroups: [{name: a}]}",
    "sparkApplication: {image: registry.example/a:1, type: R, sparkVersion: '4', mainApplicationFile: a, driver: {serviceAccount: a}, executor: {}, deps: {}}",
    "sparkApplication: {image: registry.example/a:1, type: R, sparkVersion: '4', mainApplicationFile: a, driver: {serviceAccount: a}, executor: {}}",
    "volcanoJob: {image: registry.example/a:1, tasks: [{name: a}]}",
    "jobSet: {image: 'r.example/a:1', replicatedJobs: [{name: a}, {name: b, dependsOn: [{name: a, status: Ready}]}], network: {}, successPolicy: {}, failurePolicy: {}, coordinator: {replicatedJob: a}}",
    "trainJob: {image: 'r.example/a:1', runtime: {mpi: {node: {}}}, trainer: {numNodes: 2}}",
    "trainJob: {image: 'r.example/a:1', runtimeRef: {name: r}, trainer: {}, initializer: {dataset: {storageUri: 'hf://a/b'}}}",
    "job: {image: registry.example/a:1, env: {A: {secret: {name: a, key: b}}}}",
    "deployment: {image: registry.example/a:1, protocol: v1, ready: {}, load: {image: registry.example/a:1}}",
    "inferenceService: {predictor: {model: {modelFormat: a}}, transformer: {image: registry.example/a:1}, ready: {}, load: {image: registry.example/a:1}}",
    "llmInferenceService: {model: {uri: a}, parallelism: {}, worker: {}, prefill: {parallelism: {}, worker: {}}, router: {}, ready: {}, load: {image: registry.example/a:1}}",
    "seldonDeployment: {predictors: [{name: a, graph: {name: a, implementation: A}}], ready: {}, load: {image: registry.example/a:1}}",
    "inferenceService: {protocol: v1, predictor: {image: registry.example/a:1}}",
    "seldonDeployment: {predictors: [{name: a, graph: {name: a}, image: 'r.example/a:1'}]}",
    "seldonModel: {storageUri: a, ready: {}, load: {image: registry.example/a:1}}",
];

/// The file that one of them names.
pub(super) const WORKFLOW: &str =
    "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: {entrypoint: a, templates: []}}";
