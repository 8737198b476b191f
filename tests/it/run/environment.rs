//! What a replica sees: little of this process, and all that the spec says.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, str};

use crate::support::steady::steady;

use super::{LOSS, SECONDS, finish, job, log, only_run, project, run, shell};
use crate::support::judges::skip;
use crate::support::project::Folder;

/// The environment that the replica printed.
pub(super) fn printed(folder: &Folder, name: &str) -> BTreeMap<String, String> {
    let text = String::from_utf8(log(folder, name)).unwrap();
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn command(folder: &Folder, arguments: &[&str]) -> std::process::Command {
    let pipe = std::process::Stdio::piped;
    let all: Vec<&str> = ["run", "specs"].iter().chain(arguments).copied().collect();
    let mut command = folder.command(&all);
    command.stdout(pipe()).stderr(pipe());
    command
}

#[test]
fn only_what_is_named_passes() {
    let workload = format!("job: {{env: {{OWN: 'a b', LANG: C}}, {}}}", shell("env"));
    let folder = project(&workload, &[SECONDS]);
    let child = command(&folder, &["--pass-env", "WANTED", "--pass-env", "ABSENT"])
        .envs([("WANTED", "yes"), ("UNWANTED", "no"), ("HOME", "/somewhere"), ("TMPDIR", "/tmp"), ("LANG", "x")])
        .env("LD_BIND_NOW", "1")
        .spawn();
    finish(&folder, child.unwrap()).ended(Status::Succeeded, 0);
    let mut env = printed(&folder, "job-0.log");
    // The shell sets these itself.
    env.retain(|name, _| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()));
    let names: Vec<&str> = env.keys().map(String::as_str).collect();
    let kubebench = [
        "KUBEBENCH_DATA_ROOT",
        "KUBEBENCH_EXP_CONFIG_PATH",
        "KUBEBENCH_EXP_ID",
        "KUBEBENCH_EXP_OUTPUT_PATH",
        "KUBEBENCH_EXP_PATH",
        "KUBEBENCH_EXP_RESULT_PATH",
        "KUBEBENCH_EXP_ROOT",
        "KUBEBENCH_FILES",
    ];
    let mut expected = [&["HOME", "LANG", "OWN", "PATH", "TMPDIR", "WANTED"][..], &kubebench].concat();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!([&env["HOME"], &env["LANG"], &env["OWN"], &env["WANTED"]], ["/somewhere", "C", "a b", "yes"]);
    for name in kubebench.iter().filter(|name| **name != "KUBEBENCH_EXP_ID") {
        assert!(std::path::Path::new(&env[*name]).is_dir(), "{name}={}", env[*name]);
    }
}

#[test]
fn each_replica_starts_in_an_empty_folder_of_its_own() {
    let workload = format!("job: {{completions: 2, parallelism: 2, {}}}", shell("pwd; ls -A; touch x"));
    let folder = project(&workload, &[SECONDS]);
    run(&folder, &[]).ended(Status::Succeeded, 0);
    let places = ["job-0.log", "job-1.log"].map(|name| String::from_utf8(log(&folder, name)).unwrap());
    assert_ne!(places[0], places[1]);
    assert!(places.iter().all(|place| place.lines().count() == 1), "{places:?}");
}

#[test]
fn carried_files_are_there_and_executable() {
    let workload = format!(
        "job: {{files: {{a.sh: {{path: scripts/a}}}}, image: {}, resources: {{cpu: 1, memory: 1Gi}}, command: [/kubebench/files/a.sh, /kubebench/files]}}",
        super::IMAGE
    );
    let folder = project(&workload, &[LOSS]);
    folder.write("scripts/a", "#!/bin/sh\ntest \"$1\" = \"$KUBEBENCH_FILES\" && echo loss 4\n");
    run(&folder, &[]).ended(Status::Succeeded, 0);
    let mode = only_run(&folder).join("files/a.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o555);
}

#[test]
fn a_path_with_blanks_and_letters_of_all_kinds() {
    let inner = "a b 'c' \"d\" $e/ü 日本/x";
    let folder = Folder::with([(
        format!("{inner}/specs/b.yaml"),
        super::spec(
            &format!(
                "job: {{files: {{f: {{path: f}}}}, {}}}",
                shell("echo y >> \"$KUBEBENCH_EXP_OUTPUT_PATH/y\"; cat \"$KUBEBENCH_FILES/f\"")
            ),
            &[LOSS],
        ),
    )]);
    folder.write(&format!("{inner}/f"), "loss 3\n");
    let output = folder.run(&["-C", inner, "run", "specs"]);
    crate::support::project::assert_yes(&output);
    let found = super::results(&folder.path().join(inner).join("results"));
    assert_eq!(found.len(), 1);
    assert!(found[0].artifacts.iter().any(|artifact| artifact.name == "y"));
}

/// The template of a pod's fields, Secrets and ConfigMaps, with what a machine has.
#[test]
fn values_from_elsewhere() {
    let env = "env: {S: {secret: {name: s, key: k}}, C: {configMap: {name: c.d, key: k-1}}, POD: {field: metadata.name}, W: {field: metadata.namespace}, X: '$(S)x'}";
    let folder = project(&format!("job: {{expandVariables: true, {env}, {}}}", shell("env; echo loss 1")), &[LOSS]);
    let file = "# comment\n\nKUBEBENCH_SECRET_S_K=of=the file\nKUBEBENCH_CONFIGMAP_C_D_K_1=cm\n";
    folder.write("secrets.env", file);
    let child =
        command(&folder, &["--secret-file", "secrets.env"]).env("KUBEBENCH_SECRET_S_K", "of the environment").spawn();
    let ran = finish(&folder, child.unwrap());
    let result = ran.ended(Status::Succeeded, 0);
    let env = printed(&folder, "job-0.log");
    assert_eq!([&env["S"], &env["C"]], ["of=the file", "cm"]);
    assert!(env["POD"].starts_with("b-") && !env["W"].is_empty(), "{env:?}");
    assert!(!result.metrics.is_empty() && !env.contains_key("KUBEBENCH_SECRET_S_K"));
}

#[test]
fn what_is_absent_is_refused_before_the_start() {
    let env = "env: {S: {secret: {name: s, key: k}}}";
    let folder = project(&format!("job: {{{env}, {}}}", shell("true")), &[SECONDS]);
    let ran = run(&folder, &[]);
    assert_eq!((ran.code(), ran.results.len()), (2, 0));
    assert!(ran.stderr.contains("KB0351") && ran.stderr.contains("KUBEBENCH_SECRET_S_K"), "{}", ran.stderr);
    assert!(!folder.path().join(".kubebench").exists());
    folder.write("secrets.env", "S_K=x-marks-the-spot\n");
    let ran = run(&folder, &["--secret-file", "secrets.env"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr.contains("secrets.env:1") && !ran.stderr.contains("x-marks"), "{}", ran.stderr);
    let ran = run(&folder, &["--secret-file", "none.env"]);
    assert!(ran.code() == 2 && ran.stderr.contains("none.env"), "{}", ran.stderr);
}

#[test]
fn no_command_and_queries_of_a_cluster_are_refused() {
    let folder = project(&format!("job: {{image: {}, resources: {{cpu: 1, memory: 1Gi}}}}", super::IMAGE), &[SECONDS]);
    let ran = run(&folder, &[]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr.contains("KB0350"), "{}", ran.stderr);
    let query =
        "metrics: [{name: g, unit: '1', better: higher, from: {prometheus: {query: 'avg(x{pod=~\"$pods\"})'}}}]";
    let folder = job("true", &[query]);
    let targets = "spec: {targets: {default: {prometheus: {url: 'http://p:9090'}}}}";
    folder.write(
        "kubebench.yaml",
        format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\n{targets}\n"),
    );
    let ran = run(&folder, &[]);
    assert!(ran.code() == 2 && ran.stderr.contains("KB0352"), "{}", ran.stderr);
}

/// Two keys that one variable would name are distinguished by their exact names alone.
#[test]
fn keys_that_share_a_variable() {
    let env = "env: {A: {secret: {name: a-b, key: c}}, B: {secret: {name: a, key: b_c}}}";
    let folder = project(&format!("job: {{{env}, {}}}", shell("env; echo loss 1")), &[LOSS]);
    let child = command(&folder, &[]).env("KUBEBENCH_SECRET_A_B_C", "of-whom").spawn();
    let ran = finish(&folder, child.unwrap());
    assert_eq!((ran.code(), ran.results.len()), (2, 0), "{}", ran.stdout);
    for words in ["KB0351", "key `c` of the Secret `a-b`", "key `b_c` of the Secret `a`", "--secret-file"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    for lines in ["secret/a/b_c=second\nKUBEBENCH_SECRET_A_B_C=first\n", "secret/a/b_c=second\nsecret/a-b/c=first\n"] {
        folder.write("values", lines);
        drop(std::fs::remove_dir_all(folder.path().join(".kubebench")));
        drop(std::fs::remove_dir_all(folder.path().join("results")));
        let ran = run(&folder, &["--secret-file", "values", "-v"]);
        ran.ended(Status::Succeeded, 0);
        let env = printed(&folder, "job-0.log");
        assert_eq!([&env["A"], &env["B"]], ["first", "second"]);
        assert!(!ran.stderr.contains("second"), "a secret by its exact name is one: {}", ran.stderr);
    }
}

#[test]
fn arguments_that_cannot_be_meant() {
    let folder = job("echo loss 1", &[LOSS]);
    let told = |arguments: &[&str]| {
        let output = folder.run(&[&["run"], arguments].concat());
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    for (arguments, words) in [
        (&["specs", "--pass-env", "ABSENT"][..], "note: ABSENT is not set here"),
        (&["specs", "--pass-env", "TOKEN=s3cret"], "not its value"),
        (&["."], "name a spec or a folder of specs"),
        (&["spec/b.yaml"], "did you mean `specs/b.yaml`?"),
        (&["specs/c.yaml"], "did you mean `specs/b.yaml`?"),
        (&["specs", "--secret-file", "specs"], "cannot read"),
    ] {
        let said = told(arguments);
        assert!(said.contains(words) && !said.contains("s3cret"), "{arguments:?}: {said}");
    }
}

#[test]
fn an_unknown_commit_is_reported() {
    let note = "note: results will not name the commit of ";
    let folder = job("echo loss 1", &[LOSS]);
    let git = |arguments: &[&str]| crate::record::run(folder.path(), arguments);
    assert!(!run(&folder, &[]).stderr.contains(note), "where nobody uses git there is nothing to say");
    git(&["init", "--quiet"]);
    assert!(!run(&folder, &[]).stderr.contains(note), "there is no commit yet");
    git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
    let ran = run(&folder, &[]);
    assert!(ran.results.iter().any(|result| result.source.commit.is_some()) && !ran.stderr.contains(note));
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(folder.path(), Some(12_345), None).unwrap();
        std::os::unix::fs::chown(folder.path().join(".git"), Some(12_345), None).unwrap();
        let told = run(&folder, &[]).stderr;
        assert!(told.contains(note) && told.contains("safe.directory"), "{told}");
    } else {
        skip("the repository of somebody else", "root", "run it as root, who may give files away");
    }
    let folder = job("echo loss 1", &[LOSS]);
    crate::record::run(folder.path(), &["init", "--quiet", "--object-format=sha256"]);
    let ran = run(&folder, &[]);
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    assert_line(
        steady(&ran.stderr),
        str! {"note: results will not name the commit of FOLDER: it uses SHA-256 object names, which kubebench cannot read"},
    );
    assert_eq!((ran.code(), &ran.one().source.commit), (0, &None));
}
