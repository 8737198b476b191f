use kubebench_testing::snapshot::{assert_text, str};

use super::*;

#[test]
fn accepts_names_of_the_database() {
    for name in ["Etc/UTC", "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"] {
        assert_eq!(TimeZone::parse(name).unwrap().as_str(), name);
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes many minutes there")]
fn every_name_that_is_listed_is_read_and_printed() {
    let names: Vec<&str> = TimeZone::all().collect();
    assert!(names.len() > 300 && names.contains(&"Europe/Berlin") && !names.contains(&"Europe/Kiev"), "{names:?}");
    for name in names {
        assert_eq!(TimeZone::parse(name).unwrap().to_string(), name);
    }
}

#[test]
fn refuses_what_the_scheduler_would_not_find() {
    let examples = || str! {"write an IANA name, such as `Etc/UTC` or `Europe/Berlin`"};
    for (text, advice) in [
        ("europe/berlin", str! {"write `Europe/Berlin`"}),
        ("utc", str! {"write `UTC`"}),
        ("US/Eastern", str! {"write `America/New_York`"}),
        ("cet", str! {"write `Europe/Brussels`"}),
        ("Europe/Kiev", str! {"write `Europe/Kyiv`"}),
        ("America/Coyhaique", str! {"write one with the same clock, or `Etc/UTC`"}),
        ("Factory", examples()),
        ("# columns: a name; of a name that not every release knows, the one to write", examples()),
        ("", examples()),
        ("Local", examples()),
        ("CEST", examples()),
        ("UTC+1", examples()),
        ("+02:00", examples()),
        ("Etc/Unknown", examples()),
        ("../etc/passwd", examples()),
        ("Europe/Berlim", examples()),
    ] {
        let error = TimeZone::parse(text).unwrap_err();
        assert_text(error.help.unwrap(), advice);
    }
}

#[test]
fn a_message_names_the_releases_that_lack_a_zone() {
    let message = |text: &str| TimeZone::parse(text).unwrap_err().message;
    assert_text(
        message("US/Eastern"),
        str! {"`US/Eastern` is an old name of a time zone, which Argo Workflows 3.7.10 and 4.0.1 do not know"},
    );
    assert_text(
        message("America/Coyhaique"),
        str! {"`America/Coyhaique` is a time zone that Argo Workflows 3.6.0 does not know"},
    );
}

#[test]
fn the_list_and_the_database_agree() {
    let database = TimeZoneDatabase::bundled();
    let is_known = |name: &str| database.get(name).is_ok_and(|zone| zone.iana_name() == Some(name));
    let all: Vec<_> = names().collect();
    assert_eq!(all.iter().filter(|(_, instead)| instead.is_none()).count(), 483);
    assert_eq!(all.iter().filter(|(_, instead)| instead.is_some()).count(), 113);
    assert!(all.is_sorted());
    for (name, instead) in &all {
        assert!(is_known(name), "{name}");
        assert!(instead.is_none_or(|instead| TimeZone::parse(instead).is_ok()), "{name}");
    }
    // Other names in the database are newer than the oldest release.
    let listed: std::collections::BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    let newer: Vec<String> =
        database.available().map(|name| name.to_string()).filter(|name| !listed.contains(name.as_str())).collect();
    assert_text(newer.join(" "), str! {"America/Coyhaique Factory"});
}
