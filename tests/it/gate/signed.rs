//! Results and who recorded them: `gate`, `verify` and `--since` by the keys of the project.

use std::path::{Path, PathBuf};

use kubebench_attestation::{PrivateKey, Recorded, sign, statement};
use kubebench_format::attestation::place;
use kubebench_format::result;
use kubebench_testing::keys;
use serde_json::{Value as Json, json};

use super::recorded::Remote;
use super::{Project, QUIET, SPEC, Special, verdict};

/// The project file with these keys, by their numbers, and more of `results`.
fn project_file(known: &[usize], more: &str) -> String {
    let key = |number: &usize| {
        let indented = keys::public(*number).replace('\n', "\n          ");
        format!("      - name: key-{number}\n        publicKey: |\n          {}\n", indented.trim_end())
    };
    let known: String = known.iter().map(key).collect();
    let known = if known.is_empty() { String::new() } else { format!("    keys:\n{known}") };
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec:\n  lints: {{KB0401: 'off', KB0402: 'off', KB0403: 'off'}}\n  results:\n    signing: {{secret: key}}\n{known}{more}"
    )
}

/// Twenty committed sessions of `main` in a project with such a file.
fn project(file: &str) -> Project {
    let mut project = Project::with(SPEC);
    project.folder.write(".gitignore", ".cache\n");
    project.folder.write("kubebench.yaml", file);
    project.folder.write("specs/train.yaml", SPEC);
    let main = project.commit("main");
    project.sessions(&QUIET, &Special { commit: Some(main), ..Special::default() });
    project.commit("results");
    project
}

/// The files of all results, in order.
fn results(project: &Project) -> Vec<PathBuf> {
    let files = crate::support::project::files_below(&project.folder.path().join("results"));
    files.into_iter().filter(|file| !file.to_string_lossy().ends_with(".dsse.json")).collect()
}

fn envelope_of(file: &Path) -> PathBuf {
    PathBuf::from(place(&file.to_string_lossy()))
}

fn put_envelope(file: &Path, number: usize, separated: bool) {
    let sealed = result::read(&std::fs::read(file).unwrap()).unwrap();
    let key = PrivateKey::read(keys::private(number).as_bytes()).unwrap();
    std::fs::write(envelope_of(file), sign(&key, &statement(&sealed, Recorded { separated }))).unwrap();
}

fn sign_all(files: &[PathBuf], number: usize, separated: bool) {
    for file in files {
        put_envelope(file, number, separated);
    }
}

fn notes(answer: &Json) -> String {
    answer["notes"].to_string()
}

#[test]
fn a_gate_says_who_recorded_what_it_compares() {
    let project = project(&project_file(&[0], ""));
    let files = results(&project);
    assert_eq!(files.len(), 60);
    let (_, answer) = project.json(&["gate"]);
    assert!(notes(&answer).contains("results: 60 not signed"), "{answer:#}");
    files.iter().take(40).for_each(|file| put_envelope(file, 0, true));
    put_envelope(&files[40], 1, true);
    std::fs::write(envelope_of(&files[41]), "{").unwrap();
    for _ in ["read", "known from the cache"] {
        let (status, answer) = project.json(&["gate"]);
        assert_eq!((status, verdict(&answer["lines"][0])), (0, "unchanged"), "{answer:#}");
        let said = "results: 40 signed with the key `key-0`, 18 not signed, 2 with an invalid signature";
        assert!(notes(&answer).contains(said), "{answer:#}");
        let counts = json!({"signed": {"key-0": 40}, "unsigned": 18, "invalid": 2, "notCounted": 0});
        assert_eq!(answer["signatures"], counts, "{answer:#}");
    }
    let (_, history) = project.json(&["history"]);
    assert_eq!(history["signatures"]["signed"], json!({"key-0": 40}), "{history:#}");
    let (_, out, _) = project.says(&["gate", "--output-format", "concise"]);
    assert_eq!(out.matches("warning[KB0465]").count(), 2, "{out}");
    // Another set of keys has another answer, whatever the cache knows.
    project.folder.write("kubebench.yaml", project_file(&[1], ""));
    let (_, answer) = project.json(&["gate"]);
    assert!(
        notes(&answer).contains("1 signed with the key `key-1`, 18 not signed, 41 with an invalid signature"),
        "{answer:#}"
    );
    project.folder.write("kubebench.yaml", project_file(&[], ""));
    let (_, answer) = project.json(&["gate"]);
    assert!(!notes(&answer).contains("signed"), "without keys nothing is said: {answer:#}");
    assert!(answer.get("signatures").is_none(), "{answer:#}");
}

#[test]
fn a_site_marks_each_run_by_who_recorded_it() {
    let project = project(&project_file(&[0], ""));
    let files = results(&project);
    files.iter().take(40).for_each(|file| put_envelope(file, 0, true));
    std::fs::write(envelope_of(&files[41]), "{").unwrap();
    let (status, _, error) = project.says(&["report", "--out", "site"]);
    assert_eq!(status, 0, "{error}");
    let pages = crate::support::project::files_below(&project.folder.path().join("site"));
    let text = |wanted: &str| -> String {
        let is_wanted = |page: &&PathBuf| page.to_string_lossy().contains(wanted);
        pages.iter().filter(is_wanted).map(|page| std::fs::read_to_string(page).unwrap()).collect()
    };
    let runs = text("/runs/");
    assert_eq!(runs.matches(", signed with <code>key-0</code>").count(), 40, "{runs}");
    assert_eq!(runs.matches("not signed").count(), 19, "{runs}");
    assert_eq!(runs.matches("with an invalid signature").count(), 1, "{runs}");
    let index: Json = serde_json::from_str(&text("/index.json")).unwrap();
    let counts = json!({"signed": {"key-0": 40}, "unsigned": 19, "invalid": 1, "notCounted": 0});
    assert_eq!(index["signatures"], counts, "{index:#}");
}

#[test]
fn an_export_has_what_counts() {
    let project = project(&project_file(&[0], "    requireSigned: true\n"));
    let files = results(&project);
    files.iter().take(40).for_each(|file| put_envelope(file, 0, true));
    put_envelope(&files[40], 0, false);
    std::fs::write(envelope_of(&files[41]), "{").unwrap();
    let exported = |more: &[&str]| {
        let (status, out, error) = project.says(&[&["export", "--format", "csv", "--out", "-"], more].concat());
        assert_eq!(status, 0, "{error}");
        let paths: std::collections::BTreeSet<&str> =
            out.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        (paths.len(), error)
    };
    let (all, error) = exported(&["--include", "warmup,invalid,unsigned"]);
    assert_eq!(all, 60, "{error}");
    let (counted, error) = exported(&["--include", "warmup,invalid"]);
    assert_eq!(counted, 40, "{error}");
    let said = "results that are not signed as `requireSigned` demands (`--include unsigned`): 20";
    assert!(error.contains(said), "{error}");
    // Whether they count is unknown.
    project.folder.write("kubebench.yaml", "kind: Project\nspec: [\n");
    let (status, out, error) = project.says(&["export", "--format", "csv", "--out", "-"]);
    assert_eq!((status, out.as_str()), (2, ""), "{error}");
    assert!(error.contains("kubebench.yaml says which results count"), "{error}");
}

#[test]
fn what_is_required_to_be_signed_counts_only_so() {
    let mut project = project(&project_file(&[0], "    requireSigned: true\n"));
    sign_all(&results(&project), 0, true);
    let commit = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let before = results(&project).len();
    project.session(80.0, &Special { commit: Some(commit), ..Special::default() });
    let forged: Vec<PathBuf> = results(&project).into_iter().filter(|file| !envelope_of(file).exists()).collect();
    assert_eq!((before, forged.len()), (60, 3));
    // What was measured last does not count, and so there is no answer about it.
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, answer["outcome"].as_str()), (2, Some("noAnswer")), "{answer:#}");
    assert!(notes(&answer).contains("3 results do not count (`requireSigned`): 3 not signed"), "{answer:#}");
    let left_out = answer["leftOut"].as_array().unwrap();
    assert_eq!(left_out.len(), 3, "{answer:#}");
    assert_eq!(left_out[0]["message"], "this result is the newest of its case, but does not count: not signed");
    let (status, answer) = project.json(&["gate", "--skip-bad"]);
    assert_eq!((status, verdict(&answer["lines"][0])), (0, "unchanged"), "{answer:#}");
    // Signed, but where jobs could write.
    sign_all(&forged, 0, false);
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(status, 2, "{answer:#}");
    assert!(notes(&answer).contains("3 on a volume that jobs could write to"), "{answer:#}");
    let (status, _, _) = project.says(&["verify"]);
    assert_eq!(status, 1);
    let allowing = project_file(&[0], "    requireSigned: true\n    allowUnseparated: true\n");
    project.folder.write("kubebench.yaml", allowing);
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, verdict(&answer["lines"][0])), (1, "regressed"), "{answer:#}");
    let (status, _, _) = project.says(&["verify"]);
    assert_eq!(status, 0);
    // The envelope of another result.
    project.folder.write("kubebench.yaml", project_file(&[0], "    requireSigned: true\n"));
    for file in &forged {
        std::fs::copy(envelope_of(&results(&project)[0]), envelope_of(file)).unwrap();
    }
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(status, 2, "{answer:#}");
    assert!(notes(&answer).contains("3 with an invalid signature"), "{answer:#}");
}

#[test]
fn what_was_recorded_before_results_were_signed_is_a_note() {
    let project = project(&project_file(&[0], "    requireSigned: true\n"));
    // The sessions are in the order of their files.
    results(&project).iter().skip(20).for_each(|file| put_envelope(file, 0, true));
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(status, 0, "{answer:#}");
    assert_eq!(answer["signatures"]["notCounted"], 20, "{answer:#}");
    assert_eq!(answer["leftOut"], json!([]), "{answer:#}");
    // A key that does not count any more for what it has signed.
    let (status, _, error) = {
        let text = project_file(&[0], "    requireSigned: true\n");
        project
            .folder
            .write("kubebench.yaml", text.replace("name: key-0\n", "name: key-0\n        notAfter: '2020-01-01'\n"));
        project.says(&["gate"])
    };
    assert_eq!(status, 2, "{error}");
    assert!(error.contains("cannot decide"), "{error}");
}

#[test]
fn in_a_pull_request_the_keys_of_the_base_count() {
    let mut project = project(&project_file(&[0], "    requireSigned: true\n"));
    sign_all(&results(&project), 0, true);
    project.commit("signed");
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    project.session(80.0, &Special { commit: Some(feature), ..Special::default() });
    let brought: Vec<PathBuf> = results(&project).into_iter().filter(|file| !envelope_of(file).exists()).collect();
    sign_all(&brought, 1, true);
    project.folder.write("kubebench.yaml", project_file(&[0, 1], ""));
    project.commit("a key of its own");
    let (status, answer) = project.json(&["gate", "--since", "main"]);
    let weakened = answer["weakened"].to_string();
    assert!(weakened.contains("all results count; at the base signed results from a volume"), "{answer:#}");
    let said = "the key `key-1` (deb2ded39dc26fce…) is new: it counts for all runs once this is merged";
    assert!(weakened.contains(said), "{answer:#}");
    assert!(
        notes(&answer).contains("3 results do not count (`requireSigned`): 3 with an invalid signature"),
        "{answer:#}"
    );
    assert_eq!((status, answer["outcome"].as_str()), (2, Some("noAnswer")), "{answer:#}");
    // Signatures of the base stay too.
    std::fs::remove_file(envelope_of(&results(&project)[0])).unwrap();
    project.commit("one signature less");
    let (status, answer) = project.json(&["gate", "--since", "main"]);
    assert_eq!(status, 1, "{answer:#}");
    assert!(answer["weakened"].to_string().contains("1 signature of train that the base has is gone"), "{answer:#}");
    project.folder.write("kubebench.yaml", project_file(&[1], "    requireSigned: true\n"));
    let (_, answer) = project.json(&["gate", "--since", "main"]);
    assert!(answer["weakened"].to_string().contains("the key `key-0` (06e3fd8fda29bb60…) is gone"), "{answer:#}");
}

#[test]
fn verify_names_what_is_not_signed() {
    let project = project(&project_file(&[0], ""));
    let files = results(&project);
    let verified = |arguments: &[&str]| {
        let (status, answer) = project.json(&[&["verify"], arguments].concat());
        let all = answer["results"].as_array().unwrap().clone();
        let count = |what: &str| all.iter().filter(|result| result["signature"] == what).count();
        (status, ["signed", "unsigned", "invalid", "noResult"].map(count))
    };
    assert_eq!(verified(&[]), (1, [0, 60, 0, 0]));
    assert_eq!(verified(&["--on-unsigned", "pass"]), (0, [0, 60, 0, 0]));
    sign_all(&files, 0, true);
    assert_eq!(verified(&[]), (0, [60, 0, 0, 0]));
    assert_eq!(verified(&["results"]), (0, [60, 0, 0, 0]));
    let one = files[0].to_string_lossy().into_owned();
    assert_eq!(verified(&[&one]), (0, [1, 0, 0, 0]));
    // By a key that is named, outside of a project too.
    project.folder.write("other.pem", keys::public(1));
    assert_eq!(verified(&["--key", "other.pem"]), (1, [0, 0, 60, 0]));
    let elsewhere = tempfile::tempdir().unwrap();
    for file in [files[0].clone(), envelope_of(&files[0])] {
        std::fs::copy(&file, elsewhere.path().join(file.file_name().unwrap())).unwrap();
    }
    assert_eq!(verified(&[elsewhere.path().to_str().unwrap()]), (0, [1, 0, 0, 0]));
    // A number of a result, and of another one the seal as well.
    let forge = |file: &Path, text: &str, reseal: &dyn Fn(String) -> Vec<u8>| {
        let whole = std::fs::read_to_string(file).unwrap();
        assert!(whole.contains("\"value\": "), "{text}: {whole}");
        std::fs::write(file, reseal(whole)).unwrap();
    };
    forge(&files[1], "edited", &|whole| whole.replacen("\"value\": ", "\"value\": 9", 1).into_bytes());
    forge(&files[2], "sealed again", &|whole| {
        let mut result = result::read(whole.as_bytes()).unwrap().result;
        result.metrics[0].value = Some(1000.0);
        result::seal(result).bytes
    });
    assert_eq!(verified(&[]), (1, [58, 0, 1, 1]));
    let (status, out, _) = project.says(&["verify"]);
    assert_eq!(status, 1);
    assert!(out.contains(": invalid: the envelope belongs to another file: the signed file has the SHA-256 "), "{out}");
    assert!(
        out.contains(
            "60 results: 58 signed with the key `key-0`, 1 that cannot be read as a result, 1 with an invalid \
             signature\n"
        ),
        "{out}"
    );
}

#[test]
fn hostile_envelopes_cost_nobody_an_answer() {
    let project = project(&project_file(&[0], ""));
    let files = results(&project);
    std::fs::write(envelope_of(&files[0]), vec![b' '; 10 << 20]).unwrap();
    std::fs::write(envelope_of(&files[1]), "[".repeat(100_000)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", envelope_of(&files[2])).unwrap();
    std::fs::create_dir(envelope_of(&files[3])).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(envelope_of(&files[4])).status().unwrap().success());
    std::fs::write(project.folder.path().join("results/orphan.dsse.json"), "{}").unwrap();
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(status, 0, "{answer:#}");
    let (_, out, _) = project.says(&["gate", "--output-format", "concise"]);
    assert!(
        out.contains("results/orphan.dsse.json: warning[KB0465]: this signature is for a result that is not here"),
        "{out}"
    );
    assert!(!out.contains("root:"), "{out}");
    for arguments in [&["verify"][..], &["verify", "results"]] {
        let (status, answer) = project.json(arguments);
        assert_eq!(status, 1, "{answer:#}");
        let of =
            |what: &str| answer["results"].as_array().unwrap().iter().filter(|one| one["signature"] == what).count();
        // A folder of that name is no envelope.
        assert_eq!((of("invalid"), of("unsigned")), (4, 56), "{answer:#}");
        assert!(!answer.to_string().contains("root:"), "{answer:#}");
    }
}

#[test]
fn keys_that_cannot_be_used_are_errors_where_they_are_written() {
    let says = |file: &str| {
        let project = project(file);
        let (status, out, _) = project.says(&["validate", "--output-format", "concise"]);
        (status, out)
    };
    let right = project_file(&[0], "");
    let (status, out) = says(&right);
    assert_eq!(status, 0, "{out}");
    for (from, to, said) in [
        ("BEGIN PUBLIC", "BEGIN RSA PUBLIC", "error[KB0377]: this is not a public key"),
        ("name: key-0", "name: KEY", "error[KB02"),
        (
            "MCowBQYDK2VwAyEA",
            "MCowBQYDK2VuAyEA",
            "error[KB0377]: this is not a public key: it is not an Ed25519 key, or it is damaged",
        ),
        ("        publicKey", "        notBefore: '2026-02-30'\n        publicKey", "error[KB02"),
        (
            "        publicKey",
            "        notBefore: '2026-02-02'\n        notAfter: '2026-02-01'\n        publicKey",
            "error[KB0377]: the key `key-0` never counts: its last day is before its first",
        ),
    ] {
        assert!(right.contains(from), "{from}");
        let (status, out) = says(&right.replace(from, to));
        assert!(status == 1 && out.contains("kubebench.yaml:") && out.contains(said), "{to}: {out}");
    }
    let (status, out) = says(&project_file(&[0, 1], "").replace("key-1", "key-0"));
    assert!(status == 1 && out.contains("there are two keys called `key-0`"), "{out}");
    let (status, out) = says(&project_file(&[], "    requireSigned: true\n"));
    assert!(status == 1 && out.contains("no result counts: no key"), "{out}");
}

#[test]
fn what_was_removed_from_the_branch_is_named() {
    let remote = Remote::with(&QUIET);
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path().join("branch");
    let git = |arguments: &[&str]| {
        let who = ["-C", tree.to_str().unwrap(), "-c", "user.name=t", "-c", "user.email=t@example.com"];
        remote.project.git(&[&who, arguments].concat())
    };
    remote.project.git(&["worktree", "add", "-q", tree.to_str().unwrap(), "kubebench/results"]);
    let files = git(&["ls-files", "results"]);
    let [gone, back] = [0, 1].map(|at| files.lines().nth(at).unwrap());
    git(&["rm", "-q", gone, back]);
    git(&["commit", "-q", "-m", "less"]);
    let commit = git(&["rev-parse", "HEAD"]).trim().to_owned();
    git(&["checkout", "-q", "HEAD~", "--", back]);
    git(&["commit", "-q", "-m", "one is back"]);
    let clone = remote.cloned("clone", &[]);
    std::fs::write(clone.join("key.pem"), keys::public(0)).unwrap();
    let verify = ["verify", "--key", "key.pem", "--on-unsigned", "pass"];
    let (status, answer) = remote.json(&clone, &verify);
    assert_eq!((status, &answer["removed"]), (0, &json!({gone: commit})), "{answer:#}");
    let (_, _, error) = remote.says(&clone, &verify);
    let said = format!("note: 1 file was removed from the branch of results: {gone} by commit {}", &commit[..10]);
    assert!(error.contains(&said), "{error}");
}
