//! Carried files: what is in the cluster, what a patch cannot do to it, and what the program says when a file changes.

use kubebench_compiler::compile::Compilation;
use serde_json::{Value, json};

use crate::support::project::{Emitted, Folder, assert_yes, codes, compile_sound, created, objects, pod_specs};

const SCRIPT: &str = "#!/bin/sh\nset -eu\necho \"${HOME} {{inputs.parameters.x}} $(date)\"\n";

/// A benchmark on a PyTorchJob, with every kind of auxiliary job, that carries two files.
fn spec(patch: &str) -> String {
    format!(
        "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: base}}
spec:
  timeout: 1h
  matrix: {{axes: {{size: [1, 2]}}}}
  workload:
    pytorchJob:
      image: registry.example/a:1
      files: {{bench.sh: {{path: scripts/bench.sh}}, weights.bin: {{path: data/weights}}}}
      command: [sh, /kubebench/files/bench.sh, \"${{{{ matrix.size }}}}\"]
      resources: {{cpu: 1, memory: 1Gi}}
      master: {{}}
      worker: {{replicas: 2}}
{patch}  prepare: {{image: registry.example/p:1, command: [sh, /kubebench/files/bench.sh], timeout: 30m}}
  postprocess: {{image: registry.example/q:1, command: [sum], timeout: 30m}}
  results: {{claim: {{accessModes: [ReadWriteMany]}}}}
  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]
"
    )
}

fn compiled(script: &str) -> Compilation {
    compile_sound(&[("specs/base.yaml", &spec("")), ("scripts/bench.sh", script), ("data/weights", "\u{0}\u{1}x")])
}

fn files_of(compilation: &Compilation) -> Value {
    let mut objects = objects(compilation).into_iter();
    objects.find(|emitted| emitted.path.ends_with("/base/files.yaml")).expect("the ConfigMap").object
}

#[test]
fn the_config_map_holds_every_byte() {
    let map = files_of(&compiled(SCRIPT));
    assert_eq!(map["data"], json!({ "bench.sh": SCRIPT }));
    assert_eq!(map["binaryData"], json!({ "weights.bin": "AAF4" }));
    assert_eq!(map["immutable"], true);
    assert_eq!(map["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/substitute"], "disabled");
    for script in ["", "\n", " a\n\n", "a\r\nb", "a: &x *y\t\n", "é\u{1f600}", "no", "%YAML 1.1\n---\n"] {
        assert_eq!(files_of(&compiled(script))["data"]["bench.sh"], script, "{script:?}");
    }
    for bytes in ["\u{feff}a", "\u{1b}[0m", "a\u{2028}", "\u{85}"] {
        assert_eq!(files_of(&compiled(bytes)).get("data"), None, "{bytes:?}");
    }
}

#[test]
fn every_container_finds_the_files() {
    let compilation = compiled(SCRIPT);
    let name = files_of(&compilation)["metadata"]["name"].clone();
    assert!(name.as_str().unwrap().starts_with("base-files-"), "{name}");
    let mut pods = 0;
    for Emitted { path, object } in created(&compilation) {
        for (place, pod) in pod_specs(&object) {
            let main = &pod["containers"][0];
            let mount = json!({ "name": "kubebench-files", "mountPath": "/kubebench/files", "readOnly": true });
            assert!(main["volumeMounts"].as_array().unwrap().contains(&mount), "{path} {place}");
            let volume = json!({ "name": "kubebench-files", "configMap": { "name": name, "defaultMode": 0o555 } });
            assert!(pod["volumes"].as_array().unwrap().contains(&volume), "{path} {place}");
            let variable = json!({ "name": "KUBEBENCH_FILES", "value": "/kubebench/files" });
            assert!(main["env"].as_array().unwrap().contains(&variable), "{path} {place}");
            pods += 1;
        }
    }
    assert_eq!(pods, 2 * 2 + 2 + 1, "master and worker of each case, postprocess of each case, prepare");
}

#[test]
fn a_changed_file_is_another_benchmark() {
    let digest = |compilation: &Compilation| compilation.benchmarks[0].identity.digest.hex();
    let (base, other) = (compiled(SCRIPT), compiled("#!/bin/sh\nset -eux\n"));
    assert_ne!(digest(&base), digest(&other));
    assert_ne!(files_of(&base)["metadata"]["name"], files_of(&other)["metadata"]["name"]);
}

/// Names and contents cannot trade places, and what is where in the repository is nobody's business.
#[test]
fn the_digest_is_of_names_and_bytes() {
    let digest = |files: &[(&str, &str)]| {
        let named: Vec<String> =
            files.iter().enumerate().map(|(at, (name, _))| format!("{name}: {{path: f/{at}}}")).collect();
        let spec = spec("")
            .replace("bench.sh: {path: scripts/bench.sh}, weights.bin: {path: data/weights}", &named.join(", "));
        let spec = spec.replace("/kubebench/files/bench.sh", "x");
        let mut project = vec![("specs/base.yaml".to_owned(), spec)];
        project.extend(files.iter().enumerate().map(|(at, (_, text))| (format!("f/{at}"), (*text).to_owned())));
        let project: Vec<(&str, &str)> = project.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        compile_sound(&project).benchmarks[0].identity.digest.hex()
    };
    let base = digest(&[("a", "x"), ("b", "y")]);
    assert_eq!(base, digest(&[("b", "y"), ("a", "x")]));
    for other in [&[("a", "y"), ("b", "x")][..], &[("a", "xb"), ("c", "")], &[("a", "x")], &[("a", "x"), ("c", "y")]] {
        assert_ne!(base, digest(other), "{other:?}");
    }
}

/// Whatever a patch does, the pods run what the digest says.
#[test]
fn no_patch_hides_the_files() {
    let found = |patch: &str| {
        let project = [
            ("specs/base.yaml", &*spec(&format!("      {patch}\n"))),
            ("scripts/bench.sh", SCRIPT),
            ("data/weights", "x"),
        ];
        codes(&crate::support::project::compile(&project)).contains(&"KB0315")
    };
    let volumes = "volumes: [{name: other, emptyDir: {}}]";
    for patch in [
        "pod: {volumes: [{name: kubebench-files, emptyDir: {}}]}",
        "pod: {volumes: [{name: kubebench-files, configMap: {name: other}}]}",
        "pod: {volumes: [{name: kubebench-files, configMap: {defaultMode: 292}}]}",
        "container: {volumeMounts: [{mountPath: /kubebench/files, $patch: delete}]}",
        "container: {volumeMounts: null}",
        "container: {volumeMounts: [{mountPath: /kubebench/files, readOnly: false}]}",
        "container: {volumeMounts: [{mountPath: /kubebench/files, subPath: x}]}",
        &format!(
            "pod: {{{volumes}}}\n      container: {{volumeMounts: [{{name: other, mountPath: /kubebench/files}}]}}"
        ),
        &format!(
            "pod: {{{volumes}}}\n      container: {{volumeMounts: [{{name: other, mountPath: /kubebench/files/}}]}}"
        ),
        &format!(
            "pod: {{{volumes}}}\n      container: {{volumeMounts: [{{name: other, mountPath: /kubebench/./files/bench.sh}}]}}"
        ),
        &format!(
            "pod: {{{volumes}, containers: [{{name: pytorch, volumeMounts: [{{name: other, mountPath: //kubebench/files}}]}}]}}"
        ),
        "patch: {spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {volumes: [{name: kubebench-files, configMap: {name: other}}]}}}}}}",
    ] {
        assert!(found(patch), "{patch}");
    }
    for patch in [
        "pod: {terminationGracePeriodSeconds: 5}",
        &format!(
            "pod: {{{volumes}}}\n      container: {{volumeMounts: [{{name: other, mountPath: /kubebench/filesystem}}]}}"
        ),
        &format!("pod: {{{volumes}}}\n      container: {{volumeMounts: [{{name: other, mountPath: /kubebench}}]}}"),
        "pod: {containers: [{name: side, image: 'registry.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}, volumeMounts: [{name: kubebench-files, mountPath: /scripts}]}]}",
    ] {
        assert!(!found(patch), "{patch}");
    }
}

/// The rim: a project on disk, whose script changes, vanishes, or is not what it seems.
#[test]
fn compile_sees_the_script() {
    let spec = spec("");
    let folder =
        Folder::with([("specs/base.yaml", spec.as_str()), ("scripts/bench.sh", SCRIPT), ("data/weights", "\u{0}")]);
    let check = || {
        let output = folder.run(&["compile", "--check", "--output-format", "concise"]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_yes(&folder.run(&["compile"]));
    assert_eq!(check().0, Some(0));
    folder.write("scripts/bench.sh", "#!/bin/sh\nexit 1\n");
    let (status, said) = check();
    assert_eq!(status, Some(1));
    for file in ["files", "config", "workflow"] {
        assert!(said.contains(&format!("generated/default/base/{file}.yaml: error[KB0502]")), "{said}");
    }
    assert!(!said.contains("rules.yaml"), "{said}");
    assert_yes(&folder.run(&["compile"]));
    assert_eq!(check().0, Some(0));

    std::fs::rename(folder.path().join("scripts/bench.sh"), folder.path().join("scripts/benhc.sh")).unwrap();
    let (status, said) = check();
    assert_eq!(status, Some(1));
    assert!(
        said.contains(
            "specs/base.yaml:10:32: error[KB0340]: there is no file `scripts/bench.sh`; help: did you mean `scripts/benhc.sh`?"
        ),
        "{said}"
    );
}

/// A command that names what no container has, as a word, the value of an option, and in a script.
#[test]
fn a_command_names_files_that_containers_have() {
    let spec = spec("");
    let validate = |command: &str| {
        let spec = spec.replace("command: [sum]", &format!("command: {command}"));
        let files = [("specs/base.yaml", spec.as_str()), ("scripts/bench.sh", SCRIPT), ("data/weights", "\u{0}")];
        let output = Folder::with(files).run(&["validate", "--output-format", "concise"]);
        let said = String::from_utf8(output.stdout).unwrap();
        let found = said.lines().filter_map(|line| line.split_once("[KB0470]: "));
        found.map(|(_, message)| message.to_owned()).collect::<Vec<_>>()
    };
    let folder = "no container has the project's file `scripts/bench.sh` at this path; help: write `/kubebench/files/bench.sh`, where the \
                  file is carried to";
    for command in
        ["[scripts/bench.sh]", "[sum, --input=scripts/bench.sh]", "[sh, -c, 'set -e; sh ./scripts/bench.sh >/tmp/log']"]
    {
        assert_eq!(validate(command), [folder], "{command}");
    }
    for command in ["[sh, -c, 'cd /src && sh scripts/bench.sh']", "[sh, /kubebench/files/bench.sh, scripts/other.sh]"] {
        assert_eq!(validate(command), [""; 0], "{command}");
    }
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    use std::os::unix::fs::symlink;

    let outside = Folder::with([("bench.sh", SCRIPT)]);
    let spec = spec("");
    for (link, target, words) in [
        ("scripts/bench.sh", outside.path().join("bench.sh"), "it is a symbolic link"),
        ("scripts/bench.sh", "../data/weights".into(), "it is a symbolic link"),
        ("scripts", outside.path().to_owned(), "`scripts` is a symbolic link"),
    ] {
        let folder = Folder::with([("specs/base.yaml", spec.as_str()), ("data/weights", "x")]);
        if link != "scripts" {
            std::fs::create_dir(folder.path().join("scripts")).unwrap();
        }
        symlink(target, folder.path().join(link)).unwrap();
        let output = folder.run(&["validate", "--output-format", "concise"]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(&format!("`scripts/bench.sh` cannot be carried: {words};")), "{said}");
    }
}

/// `kubectl apply` of what `render` prints has all that the pods mount.
#[test]
fn render_prints_the_files_once() {
    let spec = spec("");
    let folder =
        Folder::with([("specs/base.yaml", spec.as_str()), ("scripts/bench.sh", SCRIPT), ("data/weights", "x")]);
    let output = folder.run(&["render", "specs/base.yaml"]);
    assert_yes(&output);
    let documents: Vec<Value> = serde_yaml::from_multiple(&String::from_utf8(output.stdout).unwrap()).unwrap();
    let kinds: Vec<&str> = documents.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ConfigMap", "PyTorchJob", "PyTorchJob"]);
}

/// Argo CD keeps its copy of an object in an annotation of limited size.
#[test]
fn large_files_ask_for_server_side_apply() {
    let option = |size: usize| {
        let map = files_of(&compiled(&"x".repeat(size)));
        map["metadata"]["annotations"].get("argocd.argoproj.io/sync-options").cloned()
    };
    assert_eq!(option(190 * 1024), None);
    assert_eq!(option(201 * 1024), Some(json!("ServerSideApply=true")));
    assert_eq!(option(899 * 1024), Some(json!("ServerSideApply=true")));
}

/// Whoever reviews a change sees all that a spec carries.
#[test]
fn what_git_ignores_is_not_carried() {
    let folder = Folder::with([
        ("specs/base.yaml", spec("").as_str()),
        ("scripts/bench.sh", SCRIPT),
        ("data/weights", "x"),
        (".gitignore", "data\n"),
    ]);
    assert_yes(&folder.run(&["validate"]));
    let repository = git2::Repository::init(folder.path()).unwrap();
    let output = folder.run(&["validate", "--output-format", "concise"]);
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(found.contains("`data/weights` cannot be carried: git ignores it, so no review shows it"), "{found}");
    assert_eq!(output.status.code(), Some(1));
    // What is tracked is in every clone, whatever is ignored.
    let mut index = repository.index().unwrap();
    index.add_all(["data/weights"], git2::IndexAddOption::FORCE, None).unwrap();
    index.write().unwrap();
    assert_yes(&folder.run(&["validate"]));
}
