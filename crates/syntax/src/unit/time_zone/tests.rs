use kubebench_testing::snapshot::{assert_text, str};

use super::*;

#[test]
fn accepts_names_of_the_database() {
    for name in ["Etc/UTC", "UTC", "Europe/Berlin", "America/New_York", "US/Eastern", "Asia/Kolkata"] {
        assert_eq!(TimeZone::parse(name).unwrap().as_str(), name);
    }
}

#[test]
fn refuses_what_the_scheduler_would_not_find() {
    let examples = || str! {"write an IANA name, such as `Etc/UTC` or `Europe/Berlin`"};
    for (text, advice) in [
        ("europe/berlin", str! {"write `Europe/Berlin`"}),
        ("utc", str! {"write `UTC`"}),
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
