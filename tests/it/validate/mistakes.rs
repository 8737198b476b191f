//! Mistakes around a project's files that must not cost a tree of manifests.

use kubebench_testing::snapshot::{assert_line, str};

use crate::support::project::{Folder, assert_yes, compile};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: team}\n";

fn spec(name: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 1h\n  workload:\n    job: {{image: a/b:1, resources: {{cpu: 1, memory: 1Gi}}}}\n"
    )
}

fn compiled() -> Folder {
    let files = [("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a")), ("specs/b.yaml", spec("b"))];
    let folder = Folder::with(files);
    assert_yes(&folder.run(&["compile"]));
    folder
}

#[test]
fn a_missing_spec_folder_deletes_nothing() {
    let folder = compiled();
    let before = folder.tree("generated");
    std::fs::rename(folder.path().join("specs"), folder.path().join("spex")).unwrap();
    assert_eq!(folder.run(&["compile"]).status.code(), Some(1));
    assert_eq!(folder.tree("generated"), before);
}

#[test]
fn a_project_file_by_another_name_is_no_missing_project() {
    let folder = compiled();
    let before = folder.tree("generated");
    std::fs::rename(folder.path().join("kubebench.yaml"), folder.path().join("kubebench.yml")).unwrap();
    assert_eq!(folder.run(&["compile"]).status.code(), Some(2));
    assert_eq!(folder.tree("generated"), before);
}

#[test]
fn a_folder_of_specs_prunes_what_was_deleted_below_it_and_nothing_else() {
    let folder = compiled();
    std::fs::remove_file(folder.path().join("specs/b.yaml")).unwrap();
    folder.write("specs/other/c.yaml", spec("c"));
    assert_eq!(folder.run(&["compile", "--check", "specs"]).status.code(), Some(1));
    assert_yes(&folder.run(&["compile", "specs/other"]));
    assert!(folder.path().join("generated/default/b").exists());
    assert_yes(&folder.run(&["compile", "specs"]));
    assert!(!folder.path().join("generated/default/b").exists());
    assert!(folder.path().join("generated/default/a").exists());
}

#[test]
fn a_fault_of_the_project_file_is_reported_once_and_by_validate_too() {
    let folder = compiled();
    let before = folder.tree("generated");
    for (spec, code) in [("{specs: [none], output: none}", "KB0323"), ("{specs: [none], outptu: x}", "KB0201")] {
        folder.write("kubebench.yaml", format!("{PROJECT}spec: {spec}\n"));
        for command in ["validate", "compile"] {
            let output = folder.run(&[command, "--output-format", "concise"]);
            assert_eq!(output.status.code(), Some(1), "{command} {spec}");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.lines().count() == 1 && said.contains(code), "{command} {spec}: {said}");
        }
    }
    assert_eq!(folder.tree("generated"), before);
}

/// Checks that the only finding of a project with this file says `words`, in its message, help or note.
#[track_caller]
fn says(path: &str, text: &str, words: &[&str]) {
    let folder = Folder::with([("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a"))]);
    folder.write(path, text);
    let output = folder.run(&["validate", "--color", "never"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = said.matches("error[").count();
    assert_eq!(errors, 1, "{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is not in:\n{said}");
    }
    let root = folder.path().to_string_lossy().into_owned();
    assert!(!said.contains(&root), "a path of this machine:\n{said}");
}

#[test]
fn messages_say_what_to_write() {
    says(
        "specs/a.yaml",
        &spec("a").replace("spec:\n", "spec:\n  repeats: \"5\"\n"),
        &["`repeats` must be a whole number", "drop the quotes: `5`", "specs/a.yaml:5:12"],
    );
    says(
        "specs/a.yaml",
        &spec("a").replace(
            "spec:\n",
            "spec:\n  metrics: [{name: a, unit: s, better: lower, primary: 'true', from: {duration: run}}]\n",
        ),
        &["drop the quotes: `true`"],
    );
    says("kubebench.yaml", "# nothing yet\n", &["the file holds no document", "write these lines", "kind: Project"]);
    says(
        "kubebench.yaml",
        &format!("{PROJECT}spec: {{targets: {{t: {{namespace: n}}}}}}\n"),
        &["help: write `\"n\"`\n"],
    );
    says(
        "specs/s.yaml",
        "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: s}\nspec: {benchmarks: [a, a]}\n",
        &["`a` appears twice in `benchmarks`", "specs/s.yaml:4:24"],
    );
    let ours = spec("a");
    says(
        "specs/a.yaml",
        &format!("<<<<<<< HEAD\n{ours}=======\n{ours}>>>>>>> other\n"),
        &["an unresolved merge starts here", "specs/a.yaml:1:1"],
    );
    says(
        "specs/a.yaml",
        &spec("a").replace("spec:\n", "spec:\n  description: \"a b\n").replace("timeout: 1h", "timeout: '1h'"),
        &["this quote is not closed on its line", "specs/a.yaml:5:16"],
    );
}

/// The spec with `workload` instead of its Job.
fn with_job(job: &str) -> String {
    spec("a").replace("{image: a/b:1, resources: {cpu: 1, memory: 1Gi}}", job)
}

#[test]
fn values_of_another_shape_are_written_in_the_right_one() {
    let with = |field: &str| spec("a").replace("spec:\n", &format!("spec:\n  {field}\n"));
    for (field, help) in [
        ("schedule: '0 3 * * *'", "write `schedule: {cron: '0 3 * * *'}`"),
        ("metrics: [{from: {tool: fio}}]", "write `tool: {name: fio}`"),
        ("metrics: [{name: a, from: {log: 'a (?P<value>x)'}}]", "write `log: {pattern: 'a (?P<value>x)'}`"),
        ("metrics: [{name: a, from: {json: a.json}}]", "write `json: {file: a.json, pointer: …}`"),
        ("gates: {metric: a, min: 3}", "write `gates: [{metric: a, min: 3}]`"),
        ("placement: {spread: job}", "write `placement: [{spread: job}]`"),
        ("results: {claim: {accessModes: ReadWriteMany}}", "`[ReadWriteMany]`"),
        ("description: {text: why}", "write `description: why`"),
    ] {
        says("specs/a.yaml", &with(field), &[help]);
    }
    let target = |pods: &str| format!("{PROJECT}spec: {{targets: {{t: {{pods: {pods}}}}}}}\n");
    says("kubebench.yaml", &target("{imagePullSecrets: regcred}"), &["write `imagePullSecrets: [{name: regcred}]`"]);
    says("specs/a.yaml", &with("repeats: many"), &["`repeats` must be a whole number, not the string `many`"]);
    says("specs/a.yaml", &with("repeats: '${{ matrix.a }}0'"), &["write the expression alone"]);
}

#[test]
fn fields_of_kubernetes_are_put_where_they_belong() {
    for (field, help) in [
        ("nodeSelector: {disk: ssd}", "write `pod: {nodeSelector: {disk: ssd}}`"),
        ("volumes: [{name: data}]", "write `pod: {volumes: [{name: data}]}`"),
        ("tolerations: []", "write `pod: {tolerations: []}`"),
        ("volumeMounts: []", "write `container: {volumeMounts: []}`"),
        ("restartPolicy: Never", "delete it: a run whose pods restart"),
        ("env: {NCCL_DEBUG: {value: WARN}}", "write `NCCL_DEBUG: WARN`"),
        ("env: {TOKEN: {secret: hf}}", "write `secret: {name: hf, key: …}`"),
    ] {
        says(
            "specs/a.yaml",
            &with_job(&format!("{{image: 'a/b:1', resources: {{cpu: 1, memory: 1Gi}}, {field}}}")),
            &[help],
        );
    }
    let metadata = |more: &str| spec("a").replace("{name: a}", &format!("{{name: a, {more}}}"));
    says("specs/a.yaml", &metadata("namespace: ml"), &["delete it: the target says the namespace"]);
    says("specs/a.yaml", &metadata("annotations: {a: b}"), &["pods get `annotations` of the workload"]);
}

#[test]
fn a_wrong_indentation_is_called_so() {
    let job = |lines: &str| {
        spec("a").replace("    job: {image: a/b:1, resources: {cpu: 1, memory: 1Gi}}\n", &format!("    job:\n{lines}"))
    };
    says(
        "specs/a.yaml",
        &job("      image: a/b:1\n     command: [x]\n"),
        &[
            "specs/a.yaml:9:6",
            "indented by 5 spaces, and the one next to it by 6",
            "use 6 spaces here, or 5 on the other line",
        ],
    );
    says(
        "specs/a.yaml",
        &job("       image: a/b:1\n      command: [x]\n"),
        &["specs/a.yaml:8:8", "indented by 7 spaces"],
    );
    says(
        "specs/a.yaml",
        &spec("a").replace("  timeout: 1h\n", "  timeout: 1h\n   repeats: 5\n"),
        &["specs/a.yaml:6:4", "use 2 spaces here, or 3 on the other line"],
    );
    says(
        "specs/a.yaml",
        &job("      image: a/b:1\n     \u{a0}command: [x]\n"),
        &["error[KB0111]", "specs/a.yaml:9:6", "write a plain space"],
    );
}

#[test]
fn a_pattern_is_marked_where_it_is_wrong() {
    let with = |pattern: &str| {
        spec("a")
            .replace("spec:\n", &format!("spec:\n  metrics: [{{name: a, from: {{log: {{pattern: {pattern}}}}}}}]\n"))
    };
    for (pattern, place) in [
        ("'a [ (?P<value>x)'", "5:48"),
        (r#""a \\d (?P<value>x""#, "5:52"),
        ("'it''s (?P<value>x'", "5:52"),
        ("(?P<value>x", "5:45"),
    ] {
        says("specs/a.yaml", &with(pattern), &["error[KB0314]", &format!("specs/a.yaml:{place}")]);
    }
}

#[test]
fn an_unknown_tool_is_one_finding() {
    let with = |tool: &str| {
        spec("a").replace(
            "spec:\n",
            &format!("spec:\n  metrics: [{{name: x, from: {{tool: {tool}}}}}]\n  gates: [{{metric: iops, min: 5}}]\n"),
        )
    };
    says(
        "specs/a.yaml",
        &with("{name: vllm, metrics: [tps], file: out.json}"),
        &["did you mean `vllm-serve-stdout` or `vllm-throughput-stdout`?"],
    );
    let busbw = with("{name: nccl-tests, metrics: [busbw]}")
        .replace("name: x, ", "")
        .replace("  gates: [{metric: iops, min: 5}]\n", "");
    says("specs/a.yaml", &busbw, &["did you mean `avg_busbw`", "kubebench explain tool.nccl-tests"]);
    let reduce = with("{name: fio}")
        .replace("tool: {name: fio}", "duration: run")
        .replace("name: x,", "name: iops, reduce: average,");
    says("specs/a.yaml", &reduce, &["did you mean `mean`?"]);
    let percentile = reduce.replace("average", "p100");
    says("specs/a.yaml", &percentile, &["or a percentile such as `p50`, `p90`, `p95`, `p99`, `p99.9`"]);
}

/// A suite may name benchmarks with errors, which are reported where they are.
#[test]
fn a_suite_blames_no_spec_for_another() {
    let suite = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: s}\nspec: {benchmarks: [a, b]}\n";
    for wrong in
        [spec("a").replace("timeout", "timeuot"), spec("a").replace("  timeout: 1h", "  timeout: 1h\n    x: y")]
    {
        let folder =
            Folder::with([("specs/a.yaml", wrong), ("specs/b.yaml", spec("b")), ("specs/s.yaml", suite.to_owned())]);
        let output = folder.run(&["validate", "--output-format", "concise"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.lines().filter(|line| line.contains(" error[")).count() == 1 && said.starts_with("specs/a.yaml"),
            "{said}"
        );
    }
}

/// A guess is for people, who see it in an editor.
#[test]
fn guesses_are_not_written() {
    let text = spec("a").replace("  timeout: 1h", "  timeuot: 1h");
    assert!(text.contains("timeuot"));
    let folder = Folder::with([("specs/a.yaml", text)]);
    folder.run(&["fmt", "--fix"]);
    let fixed = std::fs::read_to_string(folder.path().join("specs/a.yaml")).unwrap();
    assert!(fixed.contains("  timeuot: 1h\n"), "{fixed}");
}

#[test]
fn certain_fixes_write_what_the_field_takes() {
    let text = spec("a").replace("spec:\n", "spec:\n  repeats: 1_0\n  labels_typo: no\n");
    let folder = Folder::with([("specs/a.yaml", text)]);
    folder.run(&["fmt", "--fix"]);
    let fixed = std::fs::read_to_string(folder.path().join("specs/a.yaml")).unwrap();
    assert!(fixed.contains("  repeats: 10\n"), "{fixed}");
    assert!(fixed.contains("  labels_typo: \"no\"\n"), "{fixed}");
}

#[test]
fn fixes_of_lints_keep_the_meaning_of_the_text() {
    let written = [
        (r"'it''s (?P<value>[0-9.]+)'", r"'it''s (?P<value>\S+)'"),
        ("\"loss=(?P<value>[\\\\d.]+)/\"", r"'loss=(?P<value>[^\s/]+)/'"),
        (r"loss (?P<value>\d+)$", r"loss (?P<value>\S+)$"),
        // In a flow a bracket would end it.
        (r"step (?P<value>\d+)/", r"step (?P<value>\d+)/"),
        (r"'loss (?P<value>\S+)'", r"'loss (?P<value>\S+)'"),
    ];
    let metrics = |of: fn(&(&'static str, &'static str)) -> &'static str| -> String {
        let lines = written.iter().enumerate().map(|(n, pair)| {
            format!("    - {{name: m{n}, better: lower, from: {{log: {{pattern: {}}}}}}}  # kept\n", of(pair))
        });
        format!("spec:\n  metrics:\n{}", lines.collect::<String>())
    };
    let wrong = spec("a").replace("spec:\n", &metrics(|pair| pair.0));
    let right = spec("a").replace("spec:\n", &metrics(|pair| pair.1));
    let folder = Folder::with([("specs/a.yaml", wrong.clone())]);
    let text = || std::fs::read_to_string(folder.path().join("specs/a.yaml")).unwrap();
    folder.run(&["fmt", "--fix"]);
    assert_eq!(text(), right);

    let off = Folder::with([
        ("specs/a.yaml", wrong.clone()),
        ("kubebench.yaml", format!("{PROJECT}spec: {{lints: {{KB0454: \"off\"}}}}\n")),
    ]);
    off.run(&["fmt", "--fix"]);
    let kept = std::fs::read_to_string(off.path().join("specs/a.yaml")).unwrap();
    assert!(kept.contains("(?P<value>[0-9.]+)"), "{kept}");
}

/// The specs of this repository are what readers copy from.
#[test]
fn the_specs_of_this_repository_are_formatted() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_kubebench"))
        .args(["fmt", "--check"])
        .current_dir(crate::support::project::repository())
        .output()
        .unwrap();
    assert_yes(&output);
}

/// The finding about an invalid key says what would be valid.
#[test]
fn bad_keys_are_explained() {
    let spec = |resources: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  workload: {{job: {{image: registry.example/a:1, resources: {resources}}}}}\n"
        )
    };
    for (resources, code, help) in [
        ("{gpu: 1}", "KB0205", "nvidia.com/gpu"),
        ("{requests: {gpu: 1}}", "KB0205", "nvidia.com/gpu"),
        ("{cpu: -1}", "KB0206", ""),
        ("{cpu: \"-1\"}", "KB0205", "zero or more"),
    ] {
        let compilation = compile(&[("specs/a.yaml", &spec(resources))]);
        let faults: Vec<_> = compilation.diagnostics.iter().filter(|fault| fault.code.id.starts_with("KB02")).collect();
        let [fault] = faults.as_slice() else { panic!("{resources}: {faults:#?}") };
        assert_eq!(fault.code.id, code, "{resources}: {}", fault.message);
        assert!(fault.help.clone().unwrap_or_default().contains(help), "{resources}: {fault:#?}");
    }
}

#[test]
fn a_kind_that_is_no_name_is_called_what_it_is() {
    for (kind, said) in [
        ("[Benchmark]", str! {"error[KB0208]: `kind` is a list, not a name"}),
        ("{a: b}", str! {"error[KB0208]: `kind` is a mapping, not a name"}),
        ("true", str! {"error[KB0208]: `kind` is a boolean, not a name"}),
    ] {
        let text = spec("a").replace("kind: Benchmark", &format!("kind: {kind}"));
        let output = Folder::with([("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", text)]).run(&["compile"]);
        assert_line(String::from_utf8_lossy(&output.stdout), said);
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn what_is_wrong_with_a_manifest_is_wrong_with_the_spec_that_names_it() {
    let job = "    job: {image: a/b:1, resources: {cpu: 1, memory: 1Gi}}";
    let object = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  parallelism: two\n  template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'a/b:1'}]}}\n";
    let folder = Folder::with([
        ("kubebench.yaml", PROJECT.to_owned()),
        ("specs/a.yaml", spec("a").replace(job, "    manifest: {file: m/job.yaml}")),
        ("specs/b.yaml", spec("b")),
        ("m/job.yaml", object.to_owned()),
    ]);
    for command in ["validate", "compile", "plan", "render"] {
        for path in ["specs/a.yaml", "specs"] {
            let output = folder.run(&[command, path]);
            let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(output.status.code() == Some(1) && told.contains("m/job.yaml:5:16"), "{command} {path}: {told}");
        }
    }
    assert_yes(&folder.run(&["validate", "specs/b.yaml"]));
}
