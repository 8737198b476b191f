//! The certificate authorities of `results.ca`.

use kubebench_testing::snapshot::{assert_findings, str};
use serde_json::{Value as Json, json};

use super::{AUTHORITIES, Canned, PROJECT, SPEC, complaints, examined_as, found};

/// Of a Secret nothing but the names of its keys is looked at.
#[test]
fn certificates_have_to_be_under_their_key() {
    let with = |object: Json| {
        let mut canned = Canned::sound();
        canned.put(AUTHORITIES, object);
        found(&canned)
    };
    assert_findings(
        &with(json!({})),
        &[(
            "error certificate authorities",
            str! {"the ConfigMap `corporate-ca` has no key `ca.crt`: results cannot be recorded over HTTPS, and metrics cannot be read from Prometheus"},
        )],
    );
    assert_findings(
        &with(json!({"data": {"ca.pem": "x"}})),
        &[(
            "error certificate authorities",
            str! {"the ConfigMap `corporate-ca` has no key `ca.crt`: results cannot be recorded over HTTPS, and metrics cannot be read from Prometheus"},
        )],
    );
    assert_findings(
        &with(json!({"data": {"ca.crt": "x"}})),
        &[(
            "error certificate authorities",
            str! {"`ca.crt` of the ConfigMap `corporate-ca` has no PEM certificate: results cannot be recorded over HTTPS, and metrics cannot be read from Prometheus"},
        )],
    );
    assert_eq!(with(json!({"binaryData": {"ca.crt": "AA=="}})), []);
    let project = PROJECT.replace("{configMap: corporate-ca}", "{secret: ours, key: a.pem}");
    let in_secret = |data: Json| {
        let mut canned = Canned::sound();
        canned.remove(AUTHORITIES).put("/api/v1/namespaces/bench/secrets/ours", json!({ "data": data }));
        complaints(&examined_as(&project, SPEC, &canned))
    };
    assert_eq!(in_secret(json!({"a.pem": null})), []);
    assert_findings(
        &in_secret(json!({"ca.crt": null})),
        &[(
            "error certificate authorities",
            str! {"the Secret `ours` has no key `a.pem`: results cannot be recorded over HTTPS, and metrics cannot be read from Prometheus"},
        )],
    );
}
