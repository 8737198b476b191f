use kubebench_testing::snapshot::{assert_text, str};
use proptest::prelude::*;

use super::*;

/// The judge is apimachinery itself: testdata/vectors/main.go.
#[test]
#[cfg_attr(miri, ignore = "it takes many minutes there")]
fn agrees_with_kubernetes() {
    for line in include_str!("../testdata/name.tsv").lines().filter(|line| !line.starts_with("# ")) {
        let (text, expected) = line.rsplit_once('\t').unwrap();
        let verdicts = [
            Dns1035Label::parse(text).is_ok(),
            Dns1123Label::parse(text).is_ok(),
            Dns1123Subdomain::parse(text).is_ok(),
            LabelKey::parse(text).is_ok(),
            LabelValue::parse(text).is_ok(),
            EnvName::parse(text).is_ok(),
            ConfigMapKey::parse(text).is_ok(),
        ];
        let verdicts: String = verdicts.iter().map(|is_ok| if *is_ok { 'y' } else { 'n' }).collect();
        assert_eq!(verdicts, expected, "{text:?}");
    }
}

#[test]
fn corrections_are_what_was_meant() {
    let label = |text: &str| Dns1035Label::parse(text).unwrap_err();
    let error = label("Resnet_50");
    assert_text(&error.message, str! {"`Resnet_50` is not a DNS-1035 label: `R` is not allowed in it"});
    assert_eq!(
        error.help.as_deref(),
        Some(
            "write `resnet-50` (lower-case letters, digits and `-`, starting with a letter and ending with a letter or digit)"
        )
    );
    assert_eq!(error.range, Some(0..1));
    let dns1035 = |text: &str| DNS_1035.correct(text);
    for (text, meant) in [
        ("resnet 50", Some("resnet-50")),
        ("-resnet-", Some("resnet")),
        ("50-resnet", Some("x50-resnet")),
        ("a.b__c", Some("a-b-c")),
        ("größe", Some("gr-e")),
        ("___", None),
        ("é", None),
        ("", None),
    ] {
        assert_eq!(dns1035(text).as_deref(), meant, "{text}");
    }
    for (error, help) in [
        (
            Dns1123Subdomain::parse("My..Config.").unwrap_err(),
            str! {"write `my.config` (lower-case letters, digits, `-` and single `.`, each part starting and ending with a letter or digit)"},
        ),
        (
            LabelKey::parse("Example.com/my key").unwrap_err(),
            str! {"write `example.com/my-key`: a domain, `/`, and a name"},
        ),
        (
            EnvName::parse("1 TOKEN").unwrap_err(),
            str! {"write `_1_TOKEN` (letters, digits, `_`, `-` and `.`, not starting with a digit)"},
        ),
        (
            EnvName::parse("A=B").unwrap_err(),
            str! {"write `A_B` (letters, digits, `_`, `-` and `.`, not starting with a digit)"},
        ),
        (ConfigMapKey::parse("a/b.sh").unwrap_err(), str! {"write `a-b.sh` (letters, digits, `-`, `_` and `.`)"}),
        (ConfigMapKey::parse("..a").unwrap_err(), str! {"write `.a`"}),
        (
            ParameterName::parse("batch size").unwrap_err(),
            str! {"write `batch_size` (letters, digits, `_` and `-`, starting with a letter or `_`)"},
        ),
        (
            ParameterName::parse("1st").unwrap_err(),
            str! {"write `_1st` (letters, digits, `_` and `-`, starting with a letter or `_`)"},
        ),
        (
            ResourceName::parse("gpu").unwrap_err(),
            str! {"write the vendor's name, such as `nvidia.com/gpu` or `amd.com/gpu`"},
        ),
        (ResourceName::parse("CPU").unwrap_err(), str! {"write `cpu`"}),
        (
            ResourceName::parse("Nvidia.com/gpu").unwrap_err(),
            str! {"write `nvidia.com/gpu`: a domain, `/`, and a name"},
        ),
        (ResourceName::parse("requests.nvidia.com/gpu").unwrap_err(), str! {"write `nvidia.com/gpu`"}),
    ] {
        assert_text(error.help.unwrap(), help);
    }
}

#[test]
fn lengths_are_counted() {
    let error = Dns1035Label::parse_max("resnet50-distributed-data-parallel", 31).unwrap_err();
    assert_text(
        error.message,
        str! {"`resnet50-distributed-data-parallel` is not a DNS-1035 label: it has 34 characters, at most 31 are allowed"},
    );
    assert_text(error.help.unwrap(), str! {"shorten it by 3"});
    assert_eq!(error.range, Some(31..34));
    assert!(Dns1035Label::parse_max(&"a".repeat(31), 31).is_ok());
    assert!(Dns1035Label::parse_max(&"a".repeat(64), 1_000).is_err());
    assert!(ParameterName::parse(&"a".repeat(63)).is_ok());
    assert!(ParameterName::parse(&"a".repeat(64)).is_err());
    assert!(EnvName::parse(&"A".repeat(10_000)).is_ok());
}

#[test]
fn faults_are_placed_inside_the_text() {
    assert_eq!(LabelKey::parse("example.com/a b").unwrap_err().range, Some(13..14));
    assert_eq!(LabelKey::parse("exAmple.com/a").unwrap_err().range, Some(2..3));
    assert_eq!(LabelKey::parse("a/b/c").unwrap_err().range, Some(3..4));
    assert_eq!(ConfigMapKey::parse("..a").unwrap_err().range, Some(0..2));
    assert_eq!(Dns1123Subdomain::parse("a.b_c").unwrap_err().range, Some(3..4));
    assert_eq!(Dns1035Label::parse("abc-").unwrap_err().range, Some(3..4));
}

#[test]
fn a_domain_leaves_room_for_the_name_of_a_quota() {
    let named =
        |length: usize| ResourceName::parse(&format!("{}com/gpu", "abcdefgh.".repeat(30).split_at(length - 3).0));
    let longest = 253 - "requests.".len();
    assert!(named(longest).is_ok(), "{:?}", named(longest));
    let error = named(longest + 1).unwrap_err();
    assert_eq!((error.message.as_str(), error.range), ("the domain of the resource is too long", Some(0..longest + 1)));
    let native = format!("{}kubernetes.io/gpu", "abcdefgh.".repeat(26));
    assert!(ResourceName::parse(&native).is_ok());
}

#[test]
fn familiar_words_for_resources_are_corrected() {
    for (text, help) in [
        ("cores", "write `cpu`"),
        ("RAM", "write `memory`"),
        ("disk", "write `ephemeral-storage`"),
        ("gpu", "write the vendor's name, such as `nvidia.com/gpu` or `amd.com/gpu`"),
    ] {
        assert_eq!(ResourceName::parse(text).unwrap_err().help.as_deref(), Some(help), "{text}");
    }
}

#[test]
fn resources_have_a_domain_unless_kubernetes_knows_them() {
    for text in ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu", "rdma/rdma_shared_device_a"] {
        assert!(ResourceName::parse(text).is_ok(), "{text}");
    }
    for text in ["", "gpu", "pods", "nvidia.com/", "/gpu", "a/b/c", "requests.nvidia.com/gpu"] {
        assert!(ResourceName::parse(text).is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parameter_names_follow_their_pattern(text in "[A-Za-z0-9_-]{0,5}[A-Za-z0-9_. é-]?") {
        let is_first = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_rest = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        prop_assert_eq!(ParameterName::parse(&text).is_ok(), is_first && is_rest);
    }
}
