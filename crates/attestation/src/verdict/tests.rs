use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::*;
use crate::{PrivateKey, sign};
use kubebench_format::attestation::v1::schema;
use kubebench_format::result;
use kubebench_testing::keys;
use kubebench_testing::snapshot::{assert_text, str};

const SAMPLE: &str = include_str!("../../../format/testdata/result.json");

fn sample(change: impl FnOnce(&mut result::BenchmarkResult)) -> Sealed {
    let mut result: result::BenchmarkResult = serde_json::from_str(SAMPLE).unwrap();
    result.run.finished_at = "2026-11-27T12:00:00.000Z".to_owned();
    change(&mut result);
    result::seal(result)
}

fn private(number: usize) -> PrivateKey {
    PrivateKey::read(keys::private(number).as_bytes()).unwrap()
}

fn key(number: usize) -> Key {
    let public = PublicKey::read(keys::public(number).as_bytes()).unwrap();
    Key { name: format!("key-{number}"), public, not_before: None, not_after: None }
}

fn signed(sealed: &Sealed, number: usize) -> Vec<u8> {
    sign(&private(number), &statement(sealed, Recorded { separated: true }))
}

fn said(signature: &Signature) -> String {
    match signature {
        Signature::Invalid(why) => why.clone(),
        other => format!("{other:?}"),
    }
}

/// The envelope with another payload, signed as before or by `number`.
fn changed(envelope: &[u8], number: Option<usize>, change: impl FnOnce(&mut Json)) -> Vec<u8> {
    let mut envelope: Json = serde_json::from_slice(envelope).unwrap();
    let mut said: Json =
        serde_json::from_slice(&STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap()).unwrap();
    change(&mut said);
    let payload = said.to_string().into_bytes();
    if let Some(number) = number {
        let signature = private(number).sign(&signed_bytes(PAYLOAD, &payload));
        envelope["signatures"] = json!([{"keyid": keys::IDS[number], "sig": STANDARD.encode(signature)}]);
    }
    envelope["payload"] = STANDARD.encode(payload).into();
    envelope.to_string().into_bytes()
}

#[test]
fn what_was_signed_is_found_to_be_signed() {
    let sealed = sample(|_| {});
    let envelope = signed(&sealed, 0);
    assert_eq!(envelope, signed(&sealed, 0), "the same bytes each time");
    let right = Signature::Signed { key: "key-0".to_owned(), separated: true };
    assert_eq!(verify(&envelope, &sealed, &[key(1), key(0)]), right);
    let unseparated = sign(&private(0), &statement(&sealed, Recorded { separated: false }));
    let unseparated = verify(&unseparated, &sealed, &[key(0)]);
    assert_eq!(unseparated, Signature::Signed { key: "key-0".to_owned(), separated: false });
}

#[test]
fn what_proves_nothing_is_said() {
    let sealed = sample(|_| {});
    let envelope = signed(&sealed, 0);
    let verdict = |envelope: &[u8]| said(&verify(envelope, &sealed, &[key(0)]));
    assert_text(
        said(&verify(&envelope, &sealed, &[key(1)])),
        str! {"it was signed with a key that is not in `results.keys`: 06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9"},
    );
    assert_text(
        verdict(&changed(&envelope, None, |said| said["predicate"]["cluster"] = "b".into())),
        str! {"the signature does not match the key `key-0`: the envelope was changed, or made without the key"},
    );
    let another = sample(|result| result.metadata.case_name = "another".to_owned());
    let words = said(&verify(&envelope, &another, &[key(0)]));
    assert!(words.starts_with("the envelope belongs to another file: the signed file has the SHA-256 "), "{words}");
    for (pointer, what) in [
        ("/predicate/specDigest", "the spec"),
        ("/predicate/runDigest", "what was executed"),
        ("/predicate/workflowUid", "the Workflow"),
        ("/predicate/cluster", "the cluster"),
        ("/predicate/target", "the cluster"),
        ("/subject/0/name", "the path"),
        ("/predicateType", "the type"),
    ] {
        let lie = changed(&envelope, Some(0), |said| *said.pointer_mut(pointer).unwrap() = "another".into());
        assert_eq!(verdict(&lie), format!("the envelope and the result differ in {what}"));
    }
    let no_subject = changed(&envelope, Some(0), |said| said["subject"] = json!([]));
    assert_text(verdict(&no_subject), str! {"its envelope is malformed: it names 0 files, expected one"});
    let two = changed(&envelope, Some(0), |said| said["subject"] = json!([said["subject"][0], said["subject"][0]]));
    assert_text(verdict(&two), str! {"its envelope is malformed: it names 2 files, expected one"});
}

/// <https://github.com/in-toto/attestation/blob/main/spec/v1/README.md>: consumers ignore fields that they do not know.
#[test]
fn what_a_newer_recorder_adds_is_ignored() {
    let sealed = sample(|_| {});
    let newer = changed(&signed(&sealed, 0), Some(0), |said| said["predicate"]["more"] = 1.into());
    assert!(matches!(verify(&newer, &sealed, &[key(0)]), Signature::Signed { separated: true, .. }));
}

/// DSSE: the id of a key is a hint.
#[test]
fn a_signature_without_an_id_is_tried_with_each_key() {
    let sealed = sample(|_| {});
    let mut envelope: Json = serde_json::from_slice(&signed(&sealed, 1)).unwrap();
    envelope["signatures"][0]["keyid"] = "".into();
    let verdict = |keys: &[Key]| verify(envelope.to_string().as_bytes(), &sealed, keys);
    assert!(matches!(verdict(&[key(0), key(1)]), Signature::Signed { key, .. } if key == "key-1"));
    assert_text(
        said(&verdict(&[key(0)])),
        str! {"it was signed with a key that is not in `results.keys`: a key without an id"},
    );
}

#[test]
fn an_envelope_is_one_of_a_result_whoever_signed_it() {
    let sealed = sample(|_| {});
    assert_eq!(is_of(&signed(&sealed, 1), &sealed), Ok(()));
    assert!(is_of(b"not json", &sealed).unwrap_err().starts_with("its envelope is malformed"));
    let another = sample(|result| result.metadata.case_name = "another".to_owned());
    assert!(is_of(&signed(&sealed, 1), &another).unwrap_err().starts_with("the envelope belongs to another file"));
}

#[test]
fn hostile_envelopes_are_answered() {
    let sealed = sample(|_| {});
    let verdict = |envelope: &[u8]| said(&verify(envelope, &sealed, &[key(0)]));
    assert_text(verdict(&vec![b' '; 10 << 20]), str! {"its envelope is larger than 256 KiB"});
    for text in ["", "{}", "[]", "null", "\u{feff}{}", &"[".repeat(200_000)] {
        assert!(verdict(text.as_bytes()).starts_with("its envelope is malformed: "), "{text:.20}");
    }
    let of = |payload: &str, kind: &str, signatures: Json| {
        json!({"payload": payload, "payloadType": kind, "signatures": signatures}).to_string().into_bytes()
    };
    assert_text(
        verdict(&of("", "text/plain", json!([]))),
        str! {"its envelope is malformed: its payload is not an in-toto statement"},
    );
    assert_text(verdict(&of("%", PAYLOAD, json!([]))), str! {"its envelope is malformed: its payload is not base64"});
    assert_text(verdict(&of("", PAYLOAD, json!([]))), str! {"its envelope has no signature"});
    let wrong = json!([{"keyid": keys::IDS[0], "sig": "%"}, {"keyid": keys::IDS[0], "sig": ""}, {"sig": ""}]);
    assert!(verdict(&of("", PAYLOAD, wrong)).starts_with("the signature does not match the key `key-0`"));
}

/// One signature of a listed key is enough, wherever it is.
#[test]
fn several_signatures_are_looked_through() {
    let sealed = sample(|_| {});
    let mut envelope: Json = serde_json::from_slice(&signed(&sealed, 0)).unwrap();
    let other: Json = serde_json::from_slice(&signed(&sealed, 1)).unwrap();
    let forged = json!({"keyid": keys::IDS[0], "sig": other["signatures"][0]["sig"]});
    let signatures = envelope["signatures"].as_array_mut().unwrap();
    signatures.insert(0, forged);
    signatures.insert(0, other["signatures"][0].clone());
    let verdict = verify(envelope.to_string().as_bytes(), &sealed, &[key(0)]);
    assert!(matches!(verdict, Signature::Signed { .. }), "{verdict:?}");
}

/// Of a rotation both keys count for a while.
#[test]
fn a_key_counts_from_its_first_day_to_its_last() {
    let sealed = sample(|_| {});
    let day = |text: &str| Some(Day::parse(text).unwrap());
    let envelope = signed(&sealed, 0);
    let verdict = |not_before, not_after| verify(&envelope, &sealed, &[Key { not_before, not_after, ..key(0) }]);
    for (not_before, not_after) in
        [(day("2026-11-27"), day("2026-11-27")), (None, day("2027-01-01")), (day("2026-01-01"), None)]
    {
        let verdict = verdict(not_before, not_after);
        assert!(matches!(verdict, Signature::Signed { .. }), "{verdict:?}");
    }
    for (not_before, not_after) in [(day("2026-11-28"), None), (None, day("2026-11-26"))] {
        assert_eq!(
            said(&verdict(not_before, not_after)),
            "the key `key-0` was not valid on 2026-11-27, when the run ended"
        );
    }
}

#[test]
fn the_schema_has_what_is_written() {
    let schema = schema();
    assert_eq!(schema["properties"]["predicateType"]["enum"], json!(["https://kubebench.dev/result/v1"]));
    assert_eq!(schema["properties"]["_type"]["enum"], json!(["https://in-toto.io/Statement/v1"]));
}
