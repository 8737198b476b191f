use super::*;

#[test]
fn accepts_names_of_the_database() {
    for name in ["Etc/UTC", "UTC", "Europe/Berlin", "America/New_York", "US/Eastern", "Asia/Kolkata"] {
        assert_eq!(TimeZone::parse(name).unwrap().as_str(), name);
    }
}

#[test]
fn refuses_what_the_scheduler_would_not_find() {
    for (text, advice) in [
        ("europe/berlin", "write `Europe/Berlin`"),
        ("utc", "write `UTC`"),
        ("", EXAMPLES),
        ("Local", EXAMPLES),
        ("CEST", EXAMPLES),
        ("UTC+1", EXAMPLES),
        ("+02:00", EXAMPLES),
        ("Etc/Unknown", EXAMPLES),
        ("../etc/passwd", EXAMPLES),
        ("Europe/Berlim", EXAMPLES),
    ] {
        let error = TimeZone::parse(text).unwrap_err();
        assert_eq!(error.help.as_deref(), Some(advice), "{text}: {error}");
    }
}
