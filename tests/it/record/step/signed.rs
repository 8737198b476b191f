//! Results that the last step of a Workflow signs, by a key that is mounted in it alone.

use kubebench_attestation::{Key, PublicKey, Signature, verify};
use kubebench_format::attestation::place;
use kubebench_testing::keys;

use super::*;
use crate::support::judges::{missing, tool};
use crate::support::project::{Folder, assert_yes};

impl Pod {
    /// A pod whose Secret has this key.
    fn signing(mode: &'static str, key: &str) -> Self {
        let mut pod = Self::new(mode);
        let folder = pod.site.path().join("signing");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("ed25519.pem"), key).unwrap();
        pod.environment.push(("KUBEBENCH_SIGNING_DIR", folder.display().to_string()));
        pod
    }

    /// Opens the folders of a run to jobs, as a step does; `group` is one that the tests may give them to.
    fn close(&self, number: u32) {
        let output = self.run(number).join("output");
        std::fs::create_dir_all(&output).unwrap();
        let chmod =
            |mode: &str, place: &Path| assert!(Command::new("chmod").arg(mode).arg(place).status().unwrap().success());
        chmod("755", &self.run(number));
        chmod("644", &self.run(number).join("result.json"));
        drop(Command::new("chgrp").arg("65532").arg(&output).status());
        chmod("3770", &output);
    }
}

fn verdict(result: &str, envelope: &str) -> Signature {
    let public = PublicKey::read(keys::public(0).as_bytes()).unwrap();
    let key = Key { name: "recorder".to_owned(), public, not_before: None, not_after: None };
    verify(envelope.as_bytes(), &result::read(result.as_bytes()).unwrap(), &[key])
}

fn is_signed(signature: &Signature) -> bool {
    matches!(signature, Signature::Signed { .. })
}

#[test]
fn what_is_recorded_has_its_signature_next_to_it() {
    let pod = Pod::signing("branch", &keys::private(0));
    let all = [pod.put(1), pod.put(2)];
    pod.close(1);
    pod.assert_recorded();
    let files = pod.site.files();
    assert_eq!(files.len(), 4, "{:?}", files.keys());
    for (path, text) in &all {
        assert_eq!(files[path], *text);
        assert!(is_signed(&verdict(text, &files[&place(path)])), "{path}");
    }
    // Without an `output` that jobs alone write, it is unknown whether they did not write elsewhere.
    let is_root = nix::unistd::geteuid().is_root();
    assert_eq!(
        verdict(&all[0].1, &files[&place(&all[0].0)]),
        Signature::Signed { key: "recorder".to_owned(), separated: is_root }
    );
    assert_eq!(
        verdict(&all[1].1, &files[&place(&all[1].0)]),
        Signature::Signed { key: "recorder".to_owned(), separated: false }
    );
    let shared = Pod { one_user: true, ..Pod::signing("branch", &keys::private(0)) };
    let (path, text) = shared.put(1);
    shared.close(1);
    shared.assert_recorded();
    assert_eq!(
        verdict(&text, &shared.site.files()[&place(&path)]),
        Signature::Signed { key: "recorder".to_owned(), separated: false },
        "jobs have the user of the steps"
    );
    let commits = run(&pod.site.remote(), &["rev-list", "--count", "kubebench/results"]);
    assert_eq!(commits, "1", "a result and its signature are one commit");
    // Recorded again, nothing changes.
    std::fs::remove_file(pod.run(1).join("recorded.json")).unwrap();
    pod.assert_recorded();
    assert_eq!(pod.site.files(), files);
}

#[test]
fn a_signature_travels_through_the_inbox() {
    let pod = Pod::signing("inbox", &keys::private(0));
    let all = [pod.put(1), pod.put(2)];
    pod.assert_recorded();
    let project = Folder::with([(
        "kubebench.yaml",
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {results: {mode: inbox}}\n",
    )]);
    run(project.path(), &["init", "--quiet"]);
    assert_yes(&project.run(&["fold", "--remote", pod.remote.as_ref().unwrap()]));
    let files = pod.site.files();
    assert_eq!(files.len(), 4, "{:?}", files.keys());
    for (path, text) in &all {
        assert!(is_signed(&verdict(text, &files[&place(path)])), "{path}");
    }
}

/// What is to be signed is not recorded without.
#[test]
fn a_key_that_cannot_be_used_records_nothing() {
    for (key, why) in [
        (keys::public(0), "it is a public key, expected the private key"),
        (String::new(), "it is not a PEM file"),
        (keys::section("ENCRYPTED PRIVATE KEY", "MIGb"), "it is an encrypted key"),
    ] {
        let pod = Pod::signing("branch", &key);
        pod.put(1);
        let (status, words) = pod.record();
        assert_eq!(status, Some(3), "{words}");
        assert!(words.contains("results must be signed") && words.contains(why), "{words}");
        assert!(!words.contains("MC4C"), "{words}");
        assert!(!pod.has_marker(1) && pod.site.files().is_empty());
    }
    let mut pod = Pod::new("branch");
    pod.environment.push(("KUBEBENCH_SIGNING_DIR", "/nonexistent".to_owned()));
    pod.put(1);
    assert_eq!(pod.record().0, Some(3));
}

/// openssl knows nothing of Kubebench.
#[test]
fn oracle_openssl_verifies_the_signature() {
    const TEST: &str = "oracle_openssl_verifies_the_signature";
    let Some(openssl) = tool("openssl") else { return missing(TEST, "openssl", "install it") };
    let folder = tempfile::tempdir().unwrap();
    let openssl = |arguments: &[&str]| {
        let output = Command::new(&openssl).args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    openssl(&["genpkey", "-algorithm", "ed25519", "-out", "key.pem"]);
    openssl(&["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"]);
    let pod = Pod::signing("branch", &std::fs::read_to_string(folder.path().join("key.pem")).unwrap());
    let (path, _) = pod.put(1);
    pod.assert_recorded();
    let envelope: Value = serde_json::from_str(&pod.site.files()[&place(&path)]).unwrap();
    let decoded = |text: &Value| {
        std::fs::write(folder.path().join("text"), text.as_str().unwrap()).unwrap();
        openssl(&["base64", "-d", "-A", "-in", "text"])
    };
    let payload = decoded(&envelope["payload"]);
    let kind = envelope["payloadType"].as_str().unwrap();
    let mut signed = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    signed.extend(&payload);
    std::fs::write(folder.path().join("signed"), signed).unwrap();
    std::fs::write(folder.path().join("signature"), decoded(&envelope["signatures"][0]["sig"])).unwrap();
    openssl(&[
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        "public.pem",
        "-rawin",
        "-in",
        "signed",
        "-sigfile",
        "signature",
    ]);
    let spki = openssl(&["pkey", "-pubin", "-in", "public.pem", "-outform", "DER"]);
    assert_eq!(kubebench_syntax::digest::Digest::of(spki).hex(), envelope["signatures"][0]["keyid"].as_str().unwrap());
    let statement: Value = serde_json::from_slice(&payload).unwrap();
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicate"]["workflowUid"], "s");
}

/// Commits by a key of SSH; `git verify-commit` says whose.
#[test]
fn oracle_git_verifies_the_commits() {
    const TEST: &str = "oracle_git_verifies_the_commits";
    let Some(keygen) = tool("ssh-keygen") else { return missing(TEST, "ssh-keygen", "install openssh-client") };
    for mode in ["branch", "inbox"] {
        let pod = Pod::new(mode);
        let key = pod.site.path().join("credential/ssh-signing-key");
        let made =
            Command::new(&keygen).args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key).status().unwrap();
        assert!(made.success());
        // As a Secret is mounted, where a group may read it.
        assert!(Command::new("chmod").arg("640").arg(&key).status().unwrap().success());
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        std::fs::write(pod.site.path().join("signers"), format!("* {public}")).unwrap();
        pod.put(1);
        pod.assert_recorded();
        let signers = format!("gpg.ssh.allowedSignersFile={}", pod.site.path().join("signers").display());
        let recorded = match mode {
            "branch" => "kubebench/results".to_owned(),
            _ => pod.site.refs("refs/kubebench/inbox").remove(0),
        };
        run(&pod.site.remote(), &["-c", &signers, "verify-commit", &recorded]);
    }
}
