//! A result and its signature move together, and none replaces another.

use kubebench_attestation::{PrivateKey, Recorded, sign, statement};
use kubebench_format::{attestation, result as format};
use kubebench_git::record::Mode;
use kubebench_testing::keys;

use super::files::{RESULT, team};
use super::fold::plant;
use super::*;
use crate::support::project::assert_yes;

fn signed(number: u32, envelope: &str) -> Addition {
    Addition { envelope: Some(envelope.as_bytes().to_vec()), ..result(number) }
}

fn envelope_of(site: &Site, number: u32) -> Option<String> {
    site.files().get(&attestation::place(&result(number).path)).cloned()
}

#[test]
fn a_signature_is_added_to_what_the_branch_has() {
    for mode in [Mode::Branch, Mode::Inbox] {
        let site = Site::new();
        site.record(Mode::Branch, &[result(1), signed(2, "two")]).unwrap();
        assert_eq!(envelope_of(&site, 1), None);
        site.record(mode, &[signed(1, "one"), signed(2, "two")]).unwrap();
        site.fold().unwrap();
        assert_eq!(envelope_of(&site, 1).as_deref(), Some("one"), "{mode:?}");
        assert_eq!(envelope_of(&site, 2).as_deref(), Some("two"), "{mode:?}");
        // Neither a result without one nor one with another takes it away.
        let before = run(&site.remote(), &["rev-parse", "kubebench/results"]);
        let recorded = site.record(mode, &[result(1), signed(2, "other")]).unwrap();
        assert_eq!((recorded.added.len(), recorded.already.len()), (0, 2), "{mode:?}");
        assert_eq!(site.fold().unwrap().rejected, []);
        assert_eq!(run(&site.remote(), &["rev-parse", "kubebench/results"]), before, "{mode:?}");
    }
}

#[test]
fn another_signature_is_set_aside() {
    let site = Site::new();
    site.record(Mode::Branch, &[signed(1, "one"), result(2)]).unwrap();
    let with = |number: u32, name: &str, envelope: &str| {
        let Addition { path, bytes, .. } = result(number);
        let text = String::from_utf8(bytes).unwrap();
        plant(&site, name, &[(&path, &text), (&attestation::place(&path), envelope)]);
    };
    with(1, "a-same", "one");
    with(1, "b-other", "other");
    with(2, "c-new", "two");
    with(2, "d-late", "late");
    let folded = site.fold().unwrap();
    assert_eq!((folded.added.len(), folded.dropped.len(), folded.rejected.len()), (1, 1, 2), "{folded:?}");
    for rejected in &folded.rejected {
        assert!(rejected.reason.starts_with("the branch has another signature at "), "{rejected:?}");
    }
    assert_eq!(envelope_of(&site, 1).as_deref(), Some("one"));
    assert_eq!(envelope_of(&site, 2).as_deref(), Some("two"));
    assert_eq!(site.refs("refs/kubebench/inbox"), Vec::<String>::new());
}

#[test]
fn an_envelope_next_to_a_file_is_recorded_with_it() {
    let folder = team();
    let place = folder.path().join("team").join(RESULT);
    let envelope = PathBuf::from(attestation::place(&place.to_string_lossy()));
    std::fs::write(&envelope, "not json").unwrap();
    let refused = folder.run(&["-C", "team", "record", RESULT, "--mode", "local"]);
    assert_eq!(refused.status.code(), Some(4));
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("the envelope next to it belongs to another result: its envelope is malformed"), "{words}");

    let sealed = format::read(&std::fs::read(&place).unwrap()).unwrap();
    let key = PrivateKey::read(keys::private(0).as_bytes()).unwrap();
    std::fs::write(&envelope, sign(&key, &statement(&sealed, Recorded { separated: true }))).unwrap();
    let recorded = folder.run(&["-C", "team", "record", RESULT, "--mode", "local"]);
    assert_yes(&recorded);
    let words = String::from_utf8_lossy(&recorded.stderr).into_owned();
    assert!(words.contains("1 result recorded"), "{words}");
    let committed = run(&folder.path().join("team"), &["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(committed, format!("{}\n{RESULT}", attestation::place(RESULT)));
}
