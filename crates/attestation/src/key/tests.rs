use super::{PrivateKey, PublicKey};
use kubebench_testing::keys;
use kubebench_testing::snapshot::{assert_text, str};

#[test]
fn keys_of_openssl_are_read_and_named_by_their_digest() {
    for (number, id) in keys::IDS.into_iter().enumerate() {
        let private = PrivateKey::read(keys::private(number).as_bytes()).unwrap();
        let public = PublicKey::read(keys::public(number).as_bytes()).unwrap();
        assert_eq!(private.public(), public);
        assert_eq!(public.id(), id);
        assert!(!format!("{private:?}").contains("MC4C"), "{private:?}");
    }
    // As a Secret, an editor of Windows or a careless person may have it.
    let private = format!("# of the recorder\r\n{}\r\n\n", keys::private(0).replace('\n', "\r\n"));
    PrivateKey::read(private.as_bytes()).unwrap();
}

/// RFC 8032, section 7.1, test 1.
#[test]
fn signatures_are_those_of_the_standard() {
    let private = PrivateKey::read(keys::private(0).as_bytes()).unwrap();
    let signature: String = private.sign(b"").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        signature,
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    );
    assert!(private.public().has_signed(b"", &private.sign(b"")));
    assert!(!private.public().has_signed(b"a", &private.sign(b"")));
    assert!(!PublicKey::read(keys::public(1).as_bytes()).unwrap().has_signed(b"", &private.sign(b"")));
}

#[test]
fn what_is_no_key_is_named() {
    let private = |text: &str| PrivateKey::read(text.as_bytes()).unwrap_err().to_string();
    let public = |text: &str| PublicKey::read(text.as_bytes()).unwrap_err().to_string();
    assert_text(private(&keys::public(0)), str! {"it is a public key, expected the private key"});
    let secret = str! {"it is a private key, which belongs only in a Secret: create another one"};
    assert_text(public(&keys::private(0)), secret.clone());
    assert_text(public(&format!("{}{}", keys::public(0), keys::private(0))), secret.clone());
    assert_text(public(&keys::section("OPENSSH PRIVATE KEY", "b3Bl")), secret);
    let several = str! {"it has 2 PEM sections, expected one key"};
    assert_text(public(&format!("{}{}", keys::public(0), keys::public(1))), several.clone());
    assert_text(private(&format!("{}{}", keys::private(0), keys::private(1))), several);
    assert_text(private(""), str! {"it is not a PEM file: it has no line `-----BEGIN …-----`"});
    assert_text(public("ssh-ed25519 AAAA a@b"), str! {"it is not a PEM file: it has no line `-----BEGIN …-----`"});
    // An X25519 key has the same form.
    let other = "MC4CAQAwBQYDK2VuBCIEIMDvW4wk6JkGn5rA+tfOLv2EunTBsGR/M4QO2cmYdrFF";
    assert_text(private(&keys::section("PRIVATE KEY", other)), str! {"it is not an Ed25519 key, or it is damaged"});
    assert_text(
        public(&keys::section("PUBLIC KEY", "MCowBQYDK2VwAyEA11qY")),
        str! {"it is not an Ed25519 key, or it is damaged"},
    );
    assert_text(public(&keys::section("PUBLIC KEY", "%")), str! {"it is not an Ed25519 key, or it is damaged"});
    assert_text(public(&keys::section("CERTIFICATE", "MCow")), str! {"it is a certificate"});
    assert_text(
        private(&keys::section("OPENSSH PRIVATE KEY", "b3Bl")),
        str! {"it is an OpenSSH key; create one with `openssl genpkey -algorithm ed25519`"},
    );
    assert_text(
        private(&keys::section("ENCRYPTED PRIVATE KEY", "MIGb")),
        str! {"it is an encrypted key, but a step cannot ask for its password"},
    );
}
