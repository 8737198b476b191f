//! The run digest: what is executed changes it, and nothing else does.

use std::collections::BTreeMap;

use kubebench_compiler::compile::Compilation;

use crate::compiled::compile_sound;

const SCRIPT: (&str, &str) = ("scripts/bench.sh", "echo before\n");

const PROJECT: &str = "\
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: team}
spec:
  targets:
    gpu:
      cluster: eu
      namespace: bench
      nodeSelector: {gpu: a100}
      prices: {currency: EUR, nvidia.com/gpu: 2}
";

const SPEC: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: base, labels: {team: a}}
spec:
  description: before
  run: 1
  timeout: 1h
  queueTimeout: 2h
  repeats: 2
  warmups: 1
  order: interleaved
  parallelism: 2
  parameters: {epochs: 2}
  matrix: {axes: {size: [1, 2]}}
  inputs: {seed: 42}
  workload:
    pytorchJob:
      image: registry.example/a:1
      master: {}
      worker:
        replicas: 2
        command: [train]
        args: [--epochs, \"${{ parameters.epochs }}\", --size, \"${{ matrix.size }}\"]
        env: {LEVEL: info}
        resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}
        labels: {app: x}
        pod: {terminationGracePeriodSeconds: 5}
  prepare: {image: registry.example/p:1, command: [stage], timeout: 30m}
  postprocess: {image: registry.example/q:1, command: [sum], timeout: 30m}
  metrics:
    - {name: throughput, unit: 1/s, better: higher, primary: true, from: {log: {pattern: 'x: (?P<value>\\S+)'}}}
  checks: [{restarts: 0}]
  gates: [{metric: throughput, maxRegression: 3%}]
";

/// What is executed: each edit must change the digest.
const EXECUTED: &[(&str, &str, &str)] = &[
    ("name", "{name: base", "{name: other"),
    ("image", "image: registry.example/a:1", "image: registry.example/a:2"),
    ("command", "command: [train]", "command: [train.py]"),
    ("args", "--epochs, ", "--epoch, "),
    ("a parameter in use", "{epochs: 2}", "{epochs: 3}"),
    ("an axis value", "{size: [1, 2]}", "{size: [1, 3]}"),
    ("one case more", "{size: [1, 2]}", "{size: [1, 2, 3]}"),
    ("env", "{LEVEL: info}", "{LEVEL: debug}"),
    ("one variable more", "{LEVEL: info}", "{LEVEL: info, MORE: a}"),
    ("replicas", "replicas: 2", "replicas: 3"),
    ("variants", "  metrics:", "  variants: [{name: a}, {name: b}]\n  metrics:"),
    ("resources", "{cpu: 1, memory", "{cpu: 2, memory"),
    ("pod labels", "{app: x}", "{app: z}"),
    ("pod patch", "PeriodSeconds: 5", "PeriodSeconds: 6"),
    ("priority class", "PeriodSeconds: 5", "PeriodSeconds: 5, priorityClassName: high"),
    ("scheduler", "PeriodSeconds: 5", "PeriodSeconds: 5, schedulerName: other"),
    ("run", "run: 1\n", "run: 2\n"),
    ("repeats", "repeats: 2", "repeats: 3"),
    ("warmups", "warmups: 1", "warmups: 0"),
    ("order", "order: interleaved", "order: grouped"),
    ("parallelism", "parallelism: 2", "parallelism: 1"),
    ("timeout", "timeout: 1h", "timeout: 2h"),
    ("queueTimeout", "queueTimeout: 2h", "queueTimeout: 3h"),
    ("inputs", "seed: 42", "seed: 43"),
    ("timeout of the steps", "timeout: 30m", "timeout: 31m"),
    ("prepare", "command: [stage]", "command: [stage, x]"),
    ("postprocess", "command: [sum]", "command: [sum, x]"),
    ("mountInJob", "  metrics:", "  results: {mountInJob: true}\n  metrics:"),
    ("a carried file", "      master: {}", "      files: {bench.sh: {path: scripts/bench.sh}}\n      master: {}"),
    ("its name", "      master: {}", "      files: {other.sh: {path: scripts/bench.sh}}\n      master: {}"),
    ("its content", "      master: {}", "      files: {bench.sh: {path: kubebench.yaml}}\n      master: {}"),
];

/// What the target adds to the objects.
const EXECUTED_ON_TARGET: &[(&str, &str, &str)] = &[
    ("nodeSelector", "{gpu: a100}", "{gpu: h100}"),
    ("namespace", "namespace: bench", "namespace: other"),
    ("queue", "cluster: eu", "cluster: eu\n      queue: {kueue: ml}"),
    ("tolerations", "cluster: eu", "cluster: eu\n      tolerations: [{key: gpu, operator: Exists}]"),
    ("priorityClass", "cluster: eu", "cluster: eu\n      priorityClass: high"),
    ("imageMirrors", "cluster: eu", "cluster: eu\n      imageMirrors: {registry.example: mirror.example}"),
];

/// What is not executed, or another spelling of the same: no edit may change the digest or a file but `rules.yaml`.
const COSMETIC: &[(&str, &str, &str)] = &[
    ("description", "before", "after"),
    ("label of the benchmark", "{team: a}", "{team: b}"),
    ("no label", ", labels: {team: a}", ""),
    ("metric pattern", "'x: (", "'y: ("),
    ("metric name", "throughput", "rate"),
    ("metric unit", "unit: 1/s", "unit: ms"),
    ("metric direction", "better: higher", "better: lower"),
    ("one metric more", "  checks:", "    - {name: seconds, unit: s, better: lower, from: {duration: run}}\n  checks:"),
    ("fixtures", "  checks:", "  fixtures: [{log: logs/a.log, expect: {throughput: 1}}]\n  checks:"),
    ("no carried file", "      master: {}", "      files: {}\n      master: {}"),
    ("checks", "[{restarts: 0}]", "[{metric: throughput, finite: true}]"),
    ("gates", "maxRegression: 3%", "maxRegression: 5%"),
    ("budget", "  metrics:", "  budget: {gpuHours: 100000}\n  metrics:"),
    ("comment", "kind: Benchmark\n", "kind: Benchmark # what\n# more\n\n"),
    ("key order", "  repeats: 2\n  warmups: 1\n", "  warmups: 1\n  repeats: 2\n"),
    ("block style", "inputs: {seed: 42}", "inputs:\n    seed: 42"),
    ("block list", "command: [train]", "command:\n          - train"),
    ("quotes", "order: interleaved", "order: \"interleaved\""),
    ("quoted words", "[train]", "['train']"),
    ("quoted axis values", "{size: [1, 2]}", "{size: ['1', \"2\"]}"),
    ("cpu in thousandths", "{cpu: 1, memory", "{cpu: 1000m, memory"),
    ("cpu as text", "{cpu: 1, memory", "{cpu: \"1\", memory"),
    ("memory in Mi", "memory: 1Gi", "memory: 1024Mi"),
    (
        "resources apart",
        "{cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}",
        "{requests: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}, limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}",
    ),
    ("hours in minutes", "timeout: 1h", "timeout: 60m"),
    ("an unused parameter", "{epochs: 2}", "{epochs: 2, unused: 1}"),
    ("targets written out", "  run: 1", "  targets: [gpu]\n  run: 1"),
    ("run left out", "  run: 1\n", ""),
    ("order left out", "  order: interleaved\n", ""),
    ("replicas of the master", "master: {}", "master: {replicas: 1}"),
    (
        "image said in the roles",
        "      image: registry.example/a:1\n      master: {}\n      worker:\n",
        "      master: {image: registry.example/a:1}\n      worker:\n        image: registry.example/a:1\n",
    ),
    ("empty patches", "master: {}", "master: {pod: {}, container: {}}"),
    ("expandVariables", "replicas: 2", "replicas: 2\n        expandVariables: false"),
    ("mountInJob", "  metrics:", "  results: {mountInJob: false}\n  metrics:"),
    ("claim", "  metrics:", "  results: {claim: {size: 10Gi, accessModes: [ReadWriteOnce]}}\n  metrics:"),
    ("inline parameter", "\"${{ parameters.epochs }}\"", "\"2\""),
    ("plain number", "\"${{ parameters.epochs }}\"", "2"),
];

/// Settings of the project that no benchmark executes.
const COSMETIC_IN_PROJECT: &[(&str, &str, &str)] = &[
    ("step image", "spec:\n", "spec:\n  image: registry.example/kubebench:9\n"),
    ("results", "spec:\n", "spec:\n  results: {branch: other, directory: elsewhere}\n"),
    ("prices", "nvidia.com/gpu: 2}", "nvidia.com/gpu: 3}"),
    ("prometheus", "cluster: eu", "cluster: eu\n      prometheus: {url: \"http://p:9090\"}"),
    ("network policy", "cluster: eu", "cluster: eu\n      networkPolicy: {enabled: false}"),
    ("pod security", "cluster: eu", "cluster: eu\n      podSecurity: privileged"),
    ("name of the cluster", "cluster: eu", "cluster: us"),
    ("values", "cluster: eu", "cluster: eu\n      values: {a: 1}"),
    ("name of the project", "{name: team}", "{name: other}"),
    ("another target", "    gpu:\n", "    second: {cluster: second}\n    gpu:\n"),
    ("lints", "spec:\n", "spec:\n  lints: {KB0401: \"off\"}\n"),
    (
        "defaults that the spec overrides",
        "spec:\n",
        "spec:\n  defaults: {repeats: 7, warmups: 3, timeout: 3h, queueTimeout: 9h}\n",
    ),
];

#[test]
fn what_is_executed_changes_the_digest() {
    let base = identity(PROJECT, SPEC);
    let mut seen = BTreeMap::from([(base, "nothing")]);
    let edits = EXECUTED.iter().map(|edit| (edit.0, PROJECT.to_owned(), edited(SPEC, *edit)));
    let on_target = EXECUTED_ON_TARGET.iter().map(|edit| (edit.0, edited(PROJECT, *edit), SPEC.to_owned()));
    for (what, project, spec) in edits.chain(on_target) {
        let digest = identity(&project, &spec);
        assert_eq!(seen.insert(digest, what), None, "`{what}` gives a digest that something else has too");
    }
}

#[test]
fn what_is_not_executed_changes_nothing_but_rules() {
    let base = compiled(PROJECT, SPEC);
    for edit in COSMETIC {
        let other = compiled(PROJECT, &edited(SPEC, *edit));
        assert_eq!(digest(&other), digest(&base), "{}", edit.0);
        assert_eq!(executed_files(&other), executed_files(&base), "{}", edit.0);
    }
}

#[test]
fn settings_of_the_project_run_nothing_again() {
    let base = compiled(PROJECT, SPEC);
    for edit in COSMETIC_IN_PROJECT {
        let other = compiled(&edited(PROJECT, *edit), SPEC);
        assert_eq!(digest(&other), digest(&base), "{}", edit.0);
        assert_eq!(executed_files(&other), executed_files(&base), "{}", edit.0);
    }
}

/// A script is executed as much as a command is; where it is in the repository does not matter.
#[test]
fn a_carried_file_is_its_name_and_its_bytes() {
    let of = |path: &str, text: &str| {
        let files = format!("      files: {{bench.sh: {{path: {path}}}}}\n      master: {{}}");
        let spec = SPEC.replace("      master: {}", &files);
        digest(&compile_sound(&[("kubebench.yaml", PROJECT), ("specs/base.yaml", &spec), (path, text)]))
    };
    let base = of("scripts/bench.sh", "echo before\n");
    assert_eq!(base, of("moved/b.sh", "echo before\n"));
    assert_ne!(base, of("scripts/bench.sh", "echo before \n"));
    assert_ne!(base, of("scripts/bench.sh", "echo before\r\n"));
}

/// Every edit of the first list is seen in the names: of the ConfigMap, of the Workflow, of every job.
/// Two images, or two places, can be compared on one workload; two command lines, files or inputs cannot.
#[test]
fn the_workload_is_what_is_done() {
    const BESIDE: [&str; 15] = [
        "image",
        "pod labels",
        "priority class",
        "scheduler",
        "run",
        "repeats",
        "warmups",
        "order",
        "parallelism",
        "timeout",
        "queueTimeout",
        "timeout of the steps",
        "prepare",
        "postprocess",
        "name",
    ];
    let workload = |project: &str, spec: &str| {
        let compilation = compiled(project, spec);
        let of_gpu = compilation.benchmarks.iter().find(|compiled| compiled.benchmark.target.name == "gpu").unwrap();
        of_gpu.identity.workloads.values().next().copied().unwrap()
    };
    let before = workload(PROJECT, SPEC);
    // Cases have digests of their own: of these edits one adds a case, and one gives the cases other names.
    let other_cases = ["one case more", "an axis value", "variants", "mountInJob"];
    for edit in EXECUTED.iter().filter(|(what, ..)| !other_cases.contains(what)) {
        let after = workload(PROJECT, &edited(SPEC, *edit));
        assert_eq!(after == before, BESIDE.contains(&edit.0), "{}", edit.0);
    }
    for edit in EXECUTED_ON_TARGET {
        assert_eq!(workload(&edited(PROJECT, *edit), SPEC), before, "{}", edit.0);
    }
}

#[test]
fn names_follow_the_digest() {
    let base = compiled(PROJECT, SPEC);
    let other = compiled(PROJECT, &edited(SPEC, ("", "--epochs, ", "--epoch, ")));
    let names = |compilation: &Compilation| -> Vec<String> {
        let identity = &compilation.benchmarks[0].identity;
        let mut names: Vec<String> = identity.runs.iter().map(|run| run.job.clone()).collect();
        names.extend(executed_files(compilation).values().flat_map(|text| {
            text.lines().filter(|line| line.starts_with("  name:")).map(str::to_owned).collect::<Vec<_>>()
        }));
        names
    };
    let same: Vec<String> = names(&base).into_iter().filter(|name| names(&other).contains(name)).collect();
    assert_eq!(same, ["  name: base-results"], "only the claim keeps its name");
}

#[test]
fn a_schedule_keeps_its_name() {
    let scheduled = edited(SPEC, ("", "  run: 1\n", "  schedule: {cron: 0 3 * * 1}\n"));
    let workflow = |spec: &str| {
        let files = executed_files(&compiled(PROJECT, spec));
        files.into_iter().find(|(path, _)| path.ends_with("workflow.yaml")).unwrap().1
    };
    let first = workflow(&scheduled);
    let second = workflow(&edited(&scheduled, ("", "--epochs, ", "--epoch, ")));
    assert_ne!(first, second, "it names another ConfigMap");
    for text in [first, second] {
        assert!(text.contains("kind: CronWorkflow") && text.contains("\n  name: base\n"), "{text}");
    }
}

/// Jobs of one benchmark have different names, and a name contains only the benchmark and a digest.
#[test]
fn jobs_have_names_of_their_own() {
    let compilation = compiled(PROJECT, SPEC);
    let runs = &compilation.benchmarks[0].identity.runs;
    assert_eq!(runs.len(), 2 * (2 + 1));
    let mut names: Vec<&str> = runs.iter().map(|run| run.job.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), runs.len());
    for name in names {
        let digest = name.strip_prefix("base-").unwrap();
        assert!(digest.len() == 8 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
    }
}

fn edited(text: &str, (what, from, to): (&str, &str, &str)) -> String {
    assert!(text.contains(from), "{what}: `{from}` does not stand in the text");
    text.replace(from, to)
}

fn compiled(project: &str, spec: &str) -> Compilation {
    compile_sound(&[("kubebench.yaml", project), ("specs/base.yaml", spec), SCRIPT])
}

fn identity(project: &str, spec: &str) -> String {
    digest(&compiled(project, spec))
}

fn digest(compilation: &Compilation) -> String {
    let of_gpu = compilation.benchmarks.iter().find(|compiled| compiled.benchmark.target.name == "gpu").unwrap();
    of_gpu.identity.digest.hex()
}

/// The benchmark's files on the target `gpu`, without the rules.
fn executed_files(compilation: &Compilation) -> BTreeMap<String, String> {
    let files = compilation.tree.iter().filter(|(path, _)| path.starts_with("gpu/") && !path.contains("/pipeline/"));
    files
        .filter(|(path, _)| !path.ends_with("/rules.yaml"))
        .map(|(path, file)| (path.to_owned(), file.body().to_owned()))
        .collect()
}

/// The ConfigMap `<name>-<digest8>` is immutable: other bytes under one name are refused by the API server, so that no
/// sync would succeed. When this fails with the same name, raise `EPOCH` in crates/compiler/src/manifest/identity.rs, write it into the
/// change log under "Generated output changes", and take over the new pair.
#[test]
fn one_name_has_one_content() {
    let compilation = compile_sound(&[("kubebench.yaml", PROJECT), ("specs/base.yaml", SPEC)]);
    let config = compilation.tree.get("gpu/base/config.yaml").expect("the ConfigMap");
    let name = config.body().lines().find_map(|line| line.strip_prefix("  name: ")).expect("a name");
    let content = kubebench_syntax::digest::Digest::of(config.body()).short();
    assert_eq!((name, content.as_str()), ("base-f54df0bc", "2ad04785"));
}

/// A number in a text field means its source text, also when it comes from an axis: another text is another name.
#[test]
fn text_that_is_a_number_is_still_text() {
    let with = |revision: &str, size: &str| {
        let spec =
            SPEC.replace("inputs: {seed: 42}", &format!("inputs: {{dataset: {{uri: x, revision: {revision}}}}}"));
        let spec = spec.replace("{size: [1, 2]}", &format!("{{size: [{size}]}}"));
        compile_sound(&[("kubebench.yaml", PROJECT), ("specs/base.yaml", &spec)]).benchmarks[0].identity.digest.hex()
    };
    assert_ne!(with("1.10", "1"), with("1.1", "1"));
    assert_eq!(with("1.10", "1"), with("'1.10'", "1"));
    assert_ne!(with("1.1", "0.50"), with("1.1", "0.5"));
}

/// A patch over the whole object, or one that replaces a list, takes nothing away that a run needs.
#[test]
fn no_patch_reaches_what_kubebench_owns() {
    let faults = |patch: &str| {
        let spec = format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: base}}\nspec:\n  timeout: 1h\n  workload:\n    job:\n      image: a/b:1\n      resources: {{cpu: 1, memory: 1Gi}}\n      {patch}\n"
        );
        let compilation = crate::compiled::compile(&[("kubebench.yaml", PROJECT), ("specs/base.yaml", &spec)]);
        crate::compiled::codes(&compilation).contains(&"KB0315")
    };
    for patch in [
        "patch: {spec: {template: {spec: {restartPolicy: OnFailure}}}}",
        "patch: {spec: {template: {spec: {serviceAccountName: admin}}}}",
        "patch: {spec: {template: {spec: {containers: [{name: main, image: other}]}}}}",
        "patch: {spec: {template: {metadata: {labels: null}}}}",
        "patch: {spec: {parallelism: 5000}}",
        "pod: {containers: [{$patch: replace}]}",
        "container: {env: null}",
        "container: {env: [{$patch: replace}]}",
    ] {
        assert!(faults(patch), "{patch}");
    }
    assert!(!faults("patch: {metadata: {annotations: {a: b}}}"));
}
