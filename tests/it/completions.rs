//! `kubebench completions`: what a shell proposes comes from the project and the program, silently and at once.

use crate::support::project::Folder;

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {cpu-lab: {namespace: a}, gpu-eu: {namespace: b}}}\n";

fn spec(name: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 1h\n  workload: {{job: {{image: r.example/a:1, command: [a]}}}}\n  metrics: [{{name: s, unit: s, better: lower, from: {{duration: run}}}}]\n"
    )
}

/// What fish is given for the last of `words`, which is being typed.
fn proposed(folder: &Folder, words: &[&str]) -> Vec<String> {
    let mut command = folder.command(&["--", "kubebench"]);
    let output = command.args(words).env("KUBEBENCH_COMPLETE", "fish").output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).filter(|word| !word.starts_with('-')).collect()
}

#[test]
fn values_come_from_the_project_and_the_program() {
    let folder = Folder::with([
        ("team/kubebench.yaml", PROJECT.to_owned()),
        ("team/specs/fio.yaml", spec("fio-randread")),
        ("team/specs/torch.yaml", spec("torch-ddp")),
        // What cannot be read has no name, and says nothing.
        ("team/specs/broken.yaml", "metadata: {name: [".to_owned()),
    ]);
    assert_eq!(proposed(&folder, &["-C", "team", "plan", "--target", ""]), ["cpu-lab", "gpu-eu"]);
    assert_eq!(proposed(&folder, &["-C", "team", "history", "--benchmark", "f"]), ["fio-randread"]);
    assert_eq!(proposed(&folder, &["-C", "team", "logs", "t"]), ["torch-ddp"]);
    assert_eq!(proposed(&folder, &["new", "pytorch"]), ["pytorchJob"]);
    assert_eq!(proposed(&folder, &["new", "su"]), ["suite"]);
    assert_eq!(proposed(&folder, &["explain", "benchmark.spec.bud"]), ["benchmark.spec.budget"]);
    assert_eq!(proposed(&folder, &["explain", "tool.nccl"]), ["tool.nccl-tests"]);
}

#[test]
fn where_nothing_can_be_read_nothing_is_said() {
    let folder = Folder::with([("kubebench.yaml", "spec: ["), ("kubebench.yml", "")]);
    assert_eq!(proposed(&folder, &["plan", "--target", ""]), Vec::<String>::new());
    assert_eq!(proposed(&folder, &["-C", "nowhere", "plan", "--target", ""]), Vec::<String>::new());
    let unknown = folder.command(&["--", "kubebench", ""]).env("KUBEBENCH_COMPLETE", "tcsh").output().unwrap();
    assert_eq!((unknown.status.code(), unknown.stdout.len(), unknown.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn a_script_asks_the_program() {
    let folder = Folder::with([("a", "")]);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = String::from_utf8(folder.run(&["completions", shell]).stdout).unwrap();
        assert!(script.contains("KUBEBENCH_COMPLETE"), "{shell}: {script}");
    }
}
