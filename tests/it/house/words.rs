//! What the program says of slips of its arguments and of the state of the tree, as a person meets it.

use kubebench_testing::snapshot::{assert_line, assert_text, str};

use crate::support::project::Folder;

const SPEC: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: disk, labels: {team: vision}}
spec:
  timeout: 1h
  workload: {job: {image: 'r.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}}}
  metrics: [{name: seconds, better: lower, primary: true, from: {duration: run}}]
  results: {claim: {size: 2Gi}}
";
const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {}\n";

fn folder() -> Folder {
    Folder::with([("kubebench.yaml", PROJECT), ("specs/disk.yaml", SPEC)])
}

/// Returns the exit status and all that was said.
#[track_caller]
fn said(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let output = folder.run(arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn a_label_that_nothing_has_is_no_answer() {
    let folder = folder();
    for (label, hint) in [
        ("team=visoin", str! {"error: no benchmark has the label team=visoin; did you mean `vision`?"}),
        ("team=speech", str! {"error: no benchmark has the label team=speech; values of `team` are `vision`"}),
        ("owner=a", str! {"error: no benchmark has the label owner=a; labels are `team`"}),
    ] {
        for command in ["compile", "validate", "list", "plan", "render"] {
            let (status, text) = said(&folder, &[command, "--select", label]);
            assert_eq!(status, 2, "{command} {label}: {text}");
            assert_line(&text, hint.clone());
        }
    }
    assert_eq!(said(&folder, &["validate", "--select", "team=vision"]).0, 0);
    folder.write("specs/b.yaml", SPEC.replace("disk", "b").replace("team: vision", "tier: nightly"));
    let (status, text) = said(&folder, &["list", "--select", "team=vision", "--select", "tier=nightly"]);
    assert_eq!(status, 2, "{text}");
    assert_line(&text, str! {"error: no benchmark has all of the labels team=vision, tier=nightly"});
}

#[test]
fn a_check_says_what_is_wrong_with_the_specs_first() {
    let folder = folder();
    assert_eq!(said(&folder, &["compile"]).0, 0);
    folder.write("kubebench.yaml", PROJECT.replace("{}", "{specs: [spec]}"));
    let (status, text) = said(&folder, &["compile", "--check"]);
    assert_eq!(status, 1);
    assert!(text.contains("KB0114") && !text.contains("KB050"), "{text}");

    folder.write("kubebench.yaml", PROJECT);
    folder.write("specs/disk.yaml", SPEC.replace("2Gi", "1Gi"));
    let (status, text) = said(&folder, &["compile", "--check"]);
    assert_eq!(status, 1);
    assert!(text.contains("KB0418") && !text.contains("KB050"), "{text}");

    folder.write("specs/b.yaml", SPEC.replace("disk", "b"));
    let (status, text) = said(&folder, &["compile", "--check"]);
    assert_eq!(status, 1);
    assert!(text.find("KB0418") < text.find("KB0501"), "{text}");
    assert_text(
        text.lines().last().unwrap(),
        str! {"generated/ does not match the specs: fix the errors in the specs; `kubebench compile` then updates the tree"},
    );
}

#[test]
fn a_merge_conflict_in_manifests_is_compiled_away() {
    let folder = folder();
    assert_eq!(said(&folder, &["compile"]).0, 0);
    let clean = folder.tree("generated");
    let path = "generated/default/disk/rules.yaml";
    let text = std::fs::read_to_string(folder.path().join(path)).unwrap();
    let body = text.lines().skip(1).collect::<Vec<_>>().join("\n");
    let header = text.lines().next().unwrap();
    folder.write(path, format!("{header}\n<<<<<<< HEAD\n{body}\n=======\n{body}\n>>>>>>> other\n"));
    let (status, text) = said(&folder, &["compile", "--check"]);
    assert_eq!(status, 1, "{text}");
    assert_line(&text, str! {" = help: run `kubebench compile` and commit the result"});
    let (status, text) = said(&folder, &["compile"]);
    assert_eq!(status, 0, "{text}");
    assert_line(
        &text,
        str! {"generated/: 0 created, 1 changed, 0 removed, 14 unchanged (1 spec); 1 manifest with conflict markers compiled again"},
    );
    assert_eq!(folder.tree("generated"), clean);
}

#[test]
fn init_adds_no_example_to_specs() {
    let folder = Folder::with([("specs/disk.yaml", SPEC)]);
    let (status, text) = said(&folder, &["init"]);
    assert_eq!((status, text.contains("example.yaml")), (0, false), "{text}");
    assert!(!folder.path().join("specs/example.yaml").exists());
}

#[test]
fn what_was_named_in_another_way() {
    let folder = folder();
    for (arguments, hint) in [
        (&["explain", "bechmark"][..], str! {"error: there is nothing called `bechmark`; did you mean `benchmark`?"}),
        (&["validate", "disk"], str! {" = help: the benchmark `disk` is in specs/disk.yaml: write that path"}),
        (
            &["validate", "--report", "sarif=a/b.sarif"],
            str! {"error: the report a/b.sarif cannot be written: there is no folder a; create it first"},
        ),
    ] {
        let (status, text) = said(&folder, arguments);
        assert_eq!(status, 2, "{arguments:?}: {text}");
        assert_line(&text, hint);
    }
}

#[test]
fn a_field_is_explained_by_the_end_of_its_path() {
    for (asked, explained) in [
        ("repeats", "benchmark.spec.repeats <integer>"),
        ("spec.matrix", "benchmark.spec.matrix <object>"),
        ("matrix.axes", "benchmark.spec.matrix.axes <mapping of list of string|number|boolean>"),
        ("log.pattern", "benchmark.spec.metrics.from.log.pattern <metric-pattern>"),
        ("maxRegression", "benchmark.spec.gates.maxRegression <percentage>"),
        ("lints", "benchmark.spec.lints <mapping of object>"),
    ] {
        let (status, text) = said(&folder(), &["explain", asked]);
        assert_eq!((status, text.lines().next()), (0, Some(explained)));
    }
}

#[test]
fn lints_of_targets_that_nothing_asked_for_runs_on_stay_silent() {
    let folder = folder();
    let targets = "{targets: {one: {}, two: {namespace: two, queue: {kueue: ml}}}}";
    folder.write("kubebench.yaml", PROJECT.replace("{}", targets));
    folder.write("specs/disk.yaml", SPEC.replace("spec:\n", "spec:\n  targets: [one]\n"));
    let torch = SPEC.replace("disk", "torch").replace("spec:\n", "spec:\n  targets: [two]\n");
    let torch = torch.replace("{job: {", "{pytorchJob: {worker: {replicas: 2}, ");
    folder.write("specs/torch.yaml", torch);
    for (arguments, expected) in [
        (&["validate"][..], true),
        (&["validate", "specs/torch.yaml"], true),
        (&["validate", "specs/disk.yaml"], false),
        (&["validate", "--target", "one"], false),
    ] {
        let (status, text) = said(&folder, arguments);
        assert_eq!((status, text.contains("KB0425")), (0, expected), "{arguments:?}: {text}");
    }
}

#[test]
fn one_slip_is_one_finding() {
    let folder = folder();
    folder.write("specs/disk.yaml", SPEC.replace("workload", "worklaod"));
    let (_, text) = said(&folder, &["validate", "-q"]);
    assert_eq!(text.matches("error[").count(), 1, "{text}");
    assert_line(&text, str! {"  = help: did you mean `workload`?"});

    folder.write("specs/disk.yaml", SPEC);
    let suite =
        "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: s}\nspec: {benchmarks: [disk, disc, disk]}\n";
    folder.write("specs/s.yaml", suite);
    let (_, text) = said(&folder, &["validate", "-q"]);
    assert_line(&text, str! {"error[KB0321]: there is no benchmark `disc`"});
    assert_line(&text, str! {"error[KB0206]: `disk` appears twice in `benchmarks`"});

    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(SPEC.bytes().flat_map(|byte| [byte, 0])).collect();
    folder.write("specs/s.yaml", utf16);
    let (_, text) = said(&folder, &["validate", "-q"]);
    assert!(text.contains("UTF-8"), "{text}");
    assert_line(&text, str! {"error[KB0101]: the file is UTF-16"});
}

#[test]
fn spellings_from_elsewhere_are_answered_with_ours() {
    let folder = folder();
    let job = |fields: &str| SPEC.replace("command: [a]", &format!("command: [a], {fields}"));
    let spec = |fields: &str| format!("{SPEC}  {fields}\n");
    for (text, hint) in [
        (
            job("env: {T: {valueFrom: {secretKeyRef: {name: hf, key: token}}}}"),
            str! {"  = help: write `T: {secret: {name: hf, key: token}}`"},
        ),
        (
            job("env: {T: {configMapKeyRef: {name: a, key: b}}}"),
            str! {"  = help: write `T: {configMap: {name: a, key: b}}`"},
        ),
        (
            job("env: {T: {valueFrom: {fieldRef: {fieldPath: metadata.name}}}}"),
            str! {"  = help: write `T: {field: metadata.name}`"},
        ),
        (job("env: [{name: A, value: b}]"), str! {"  = help: write a mapping: `env: {A: b}`"}),
        (job("env: {T: {secret: hf}}"), str! {"  = help: write `secret: {name: hf, key: …}`"}),
        (job("replicas: 2"), str! {"  = help: write `parallelism`: how many pods the Job runs at once"}),
        (spec("matrix: {bs: [1, 2]}"), str! {"  = help: write `matrix: {axes: {bs: [1, 2]}}`"}),
        (
            spec("parameters: {a: [1, 2]}"),
            str! {"error[KB0203]: `a` must be a string, a number or a boolean, not a list"},
        ),
        (spec("budget: {gpuHours: 2,10}"), str! {"  = help: write `2.10` for a decimal number, with a point"}),
        (spec("budget: {gpuHours: '2,10'}"), str! {"  = help: write `2.10`, with a decimal point"}),
        (
            job("args: ['${{ matrix.amp }}']") + "  matrix: {axes: {amp: [true, false]}}\n",
            str! {[r#"  = help: write the axis as `amp: ["true", "false"]`"#]},
        ),
    ] {
        folder.write("specs/disk.yaml", &text);
        let (status, said) = said(&folder, &["validate", "-q"]);
        assert_eq!((status, said.matches("error[").count()), (1, 1), "{said}");
        assert_line(&said, hint);
    }
    // The last one points at the axis, and nothing would take the lookup away.
    let (_, said) = said(&folder, &["validate", "-q", "--output-format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(found.to_string().contains(r#""line":9"#), "{said}");
    assert!(said.contains("\"fix\": null"), "{said}");
}
