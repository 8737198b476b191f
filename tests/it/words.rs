//! What the program says of slips of its arguments and of the state of the tree, as a person meets it.

use crate::project::Folder;

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
        ("team=visoin", "no benchmark has the label team=visoin; did you mean `vision`?"),
        ("team=speech", "no benchmark has the label team=speech; values of `team` are vision"),
        ("owner=a", "no benchmark has the label owner=a; labels are team"),
    ] {
        for command in ["compile", "validate", "list", "plan", "render"] {
            let (status, text) = said(&folder, &[command, "--select", label]);
            assert_eq!((status, text.contains(hint)), (2, true), "{command} {label}: {text}");
        }
    }
    assert_eq!(said(&folder, &["validate", "--select", "team=vision"]).0, 0);
    folder.write("specs/b.yaml", SPEC.replace("disk", "b").replace("team: vision", "tier: nightly"));
    let (status, text) = said(&folder, &["list", "--select", "team=vision", "--select", "tier=nightly"]);
    assert_eq!((status, text.contains("no benchmark has all of the labels team=vision, tier=nightly")), (2, true));
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
    assert!(
        text.trim_end()
            .ends_with("mend the errors in the specs first; without them, `kubebench compile` repairs the rest"),
        "{text}"
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
    assert_eq!((status, text.contains("run `kubebench compile` and commit")), (1, true), "{text}");
    let (status, text) = said(&folder, &["compile"]);
    assert_eq!((status, text.contains("1 manifest with conflict markers compiled anew")), (0, true), "{text}");
    assert_eq!(folder.tree("generated"), clean);
}

#[test]
fn init_adds_no_example_to_specs() {
    let folder = Folder::with([("specs/disk.yaml", SPEC)]);
    let (status, text) = said(&folder, &["init"]);
    assert_eq!((status, text.contains("example.yaml")), (0, false), "{text}");
    assert!(!folder.path().join("specs/example.yaml").exists());
}
