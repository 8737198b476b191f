use kubebench_testing::snapshot::{assert_text, str};
use proptest::prelude::*;

use super::*;
use crate::unit::TimeZone;

/// Lines that robfig/cron reads, although they do not do what they say; we refuse them.
const STRICTER: [&str; 6] = [
    "has an empty item in its list",
    "begins a range with",
    "is longer than its range",
    "does not occur in month",
    "names a time zone",
    "in days, which",
];

fn bit_sets(text: &str) -> Result<Vec<u64>, UnitError> {
    let fields = [Field::MINUTE, Field::HOUR, Field::DAY, Field::MONTH, Field::WEEKDAY];
    split(text).iter().zip(&fields).map(|(part, field)| values(part, field)).collect()
}

/// The judge is robfig/cron itself: testdata/vectors/main.go.
#[test]
#[cfg_attr(miri, ignore = "hundreds of lines take hours there")]
fn agrees_with_the_scheduler() {
    let (mut accepted, mut refused, mut stricter) = (0, 0, 0);
    for line in include_str!("../testdata/cron.tsv").lines().filter(|line| !line.starts_with("# ")) {
        let columns: Vec<&str> = line.split('\t').collect();
        match (columns.as_slice(), Cron::parse(columns[0])) {
            ([text, "ok", read], Ok(cron)) => {
                accepted += 1;
                if !text.starts_with('@') {
                    let expected: Vec<_> = read.split(' ').map(|set| u64::from_str_radix(set, 16).unwrap()).collect();
                    assert_eq!(bit_sets(text).unwrap(), expected, "{line}");
                    assert_eq!(bit_sets(cron.as_str()).unwrap(), expected, "{line}");
                }
            }
            ([_, "err"], Err(_)) => refused += 1,
            ([text, "ok", _], Err(error)) => {
                let is_signed = text.contains('+') && error.message.contains('+');
                assert!(is_signed || STRICTER.iter().any(|reason| error.message.contains(reason)), "{line}: {error}");
                stricter += 1;
            }
            (_, verdict) => panic!("{line}: {verdict:?}"),
        }
    }
    println!("{accepted} accepted, {refused} refused, {stricter} refused by us alone");
    assert!(accepted > 60 && refused > 100 && stricter > 10, "{accepted} {refused} {stricter}");
}

#[test]
fn keeps_the_line_with_single_spaces() {
    for (text, kept) in [
        ("0 3 * * 1", "0 3 * * 1"),
        ("  0   3 * * MON ", "0 3 * * MON"),
        ("*/15 0-6,22-23 1 jan-mar ?", "*/15 0-6,22-23 1 jan-mar ?"),
        ("0 0 29 2 *", "0 0 29 2 *"),
        ("@daily", "@daily"),
        ("@every  1h30m", "@every 1h30m"),
    ] {
        assert_eq!(Cron::parse(text).unwrap().as_str(), kept);
    }
}

#[test]
fn refusals_say_what_to_write() {
    let grammar =
        || str! {"write minute, hour, day of month, month and day of week, such as `0 3 * * MON`, or `@daily`"};
    for (text, message, advice, range) in [
        ("60 * * * *", str! {"`60` is not a minute"}, str! {"a minute is a number from 0 to 59"}, Some(0..2)),
        ("0 24 * * *", str! {"`24` is not an hour"}, str! {"write `0` for midnight"}, Some(2..4)),
        ("0 0 * * 7", str! {"`7` is not a day of week"}, str! {"write `0` or `SUN` for Sunday"}, Some(8..9)),
        ("0 0 * * 1,MONDAY", str! {"`MONDAY` is not a day of week"}, str! {"write `MON`"}, Some(10..16)),
        (
            "0  0  32 * *",
            str! {"`32` is not a day of month"},
            str! {"a day of month is a number from 1 to 31"},
            Some(6..8),
        ),
        (
            "0 22-6 * * *",
            str! {"`22-6` runs backwards"},
            str! {"write `6-22`, or `22-23,0-6` to pass the end"},
            Some(2..6),
        ),
        ("*/0 * * * *", str! {"`0` is not a step"}, str! {"a step is a number from 1, as in `*/2`"}, Some(2..3)),
        (
            "*/90 * * * *",
            str! {"step `90` is longer than its range of minutes"},
            str! {"only `0` is ever reached: write that, or a shorter step"},
            Some(2..4),
        ),
        ("1,,2 * * * *", str! {"`1,,2` has an empty item in its list"}, str! {"leave out the extra comma"}, Some(0..4)),
        (
            "0 0 31 2 *",
            str! {"day `31` does not occur in month `2`"},
            str! {"February has 29 days at most; April, June, September and November have 30"},
            Some(4..8),
        ),
        (
            "0 0 31 4,6,9,11 *",
            str! {"day `31` does not occur in month `4,6,9,11`"},
            str! {"February has 29 days at most; April, June, September and November have 30"},
            Some(4..15),
        ),
        (
            "0 0 3 * * *",
            str! {"`0 0 3 * * *` has 6 fields; a cron line has 5"},
            str! {"write `0 3 * * *`: there is no field for seconds"},
            None,
        ),
        ("0 3 * *", str! {"`0 3 * *` has 4 fields; a cron line has 5"}, grammar(), None),
        ("daily", str! {"`daily` is not a cron line"}, str! {"write `@daily`"}, None),
        ("@Daily", str! {"`@Daily` is not a schedule that Argo supports"}, str! {"write `@daily`"}, None),
        ("@every 1d", str! {"`1d` counts in days, which `@every` does not support"}, str! {"write `@every 24h`"}, None),
        (
            "@every 1.5h",
            str! {"`1.5h` has a fraction; durations are whole numbers"},
            str! {"write `@every 1h30m`"},
            None,
        ),
        (
            "CRON_TZ=UTC 0 3 * * *",
            str! {"`CRON_TZ=UTC 0 3 * * *` names a time zone inside the cron line"},
            str! {"write the zone in `timezone`, next to `cron`"},
            Some(0..11),
        ),
        ("", str! {"a cron line is empty"}, grammar(), None),
    ] {
        let error = Cron::parse(text).unwrap_err();
        assert_eq!(error.range, range, "{text}");
        assert_text(error.message, message);
        assert_text(error.help.unwrap(), advice);
    }
    for unknown in
        ["@reboot", "0 0 L * *", "0 0 15W * *", "0 0 * * MON#1", "0 0 1-2-3 * *", "0 0 */2/3 * *", "0\t3 * * *"]
    {
        assert!(Cron::parse(unknown).is_err(), "{unknown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_reads_back(text in "(\\*|[0-5]?[0-9])(/[1-9])? (\\*|1?[0-9]) (\\?|[12]?[1-9]) (\\*|[1-9]|jan) (\\*|[0-6]|MON-fri)") {
        if let Ok(cron) = Cron::parse(&text) {
            prop_assert_eq!(Cron::parse(cron.as_str()).unwrap(), cron);
        }
    }
}

#[test]
fn one_word_is_a_descriptor_or_nothing() {
    let help = |text: &str| Cron::parse(text).unwrap_err().help.unwrap();
    assert_eq!(help("Daily"), "write `@daily`");
    assert!(!help("often").contains("`@often`"), "{}", help("often"));
    assert_eq!(Cron::parse("0 3 * * 1").unwrap().to_string(), "0 3 * * 1");
}

/// The judge is robfig/cron itself, around changes of clocks: testdata/vectors/main.go.
#[test]
#[cfg_attr(miri, ignore = "hundreds of lines take hours there")]
fn starts_when_the_scheduler_does() {
    let mut count = 0;
    for line in include_str!("../testdata/starts.tsv").lines().filter(|line| !line.starts_with("# ")) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [text, zone, after, starts @ ..] = columns.as_slice() else { panic!("{line}") };
        let (cron, zone) = (Cron::parse(text).unwrap(), TimeZone::parse(zone).unwrap());
        let next: Vec<String> = cron.next(&zone, after, starts.len()).into_iter().map(|start| start.utc).collect();
        assert_eq!(next, starts, "{line}");
        count += 1;
    }
    assert_eq!(count, 768);
}

#[test]
fn clocks_that_skip_and_repeat_a_start() {
    let changes = |text: &str, zone: &str| {
        let found = Cron::parse(text).unwrap().clock_changes(&TimeZone::parse(zone).unwrap());
        [found.skipped, found.repeated].map(|time| time.map_or_else(String::new, |time| time.to_string()))
    };
    for (text, zone, skipped, repeated) in [
        ("30 2 * * *", "Europe/Berlin", "02:30 on 2027-03-28", "02:30 on 2027-10-31"),
        ("0 0,2 * * SUN", "Europe/Berlin", "02:00 on 2027-03-28", "02:00 on 2027-10-31"),
        ("30 1 * * *", "America/New_York", "", "01:30 on 2027-11-07"),
        ("30 2 * * *", "America/New_York", "02:30 on 2027-03-14", ""),
        ("15 2 * * *", "Australia/Lord_Howe", "02:15 on 2027-10-03", ""),
        ("@daily", "Asia/Beirut", "00:00 on 2027-03-28", ""),
        // A zone whose clock is set no more, but was in the year of the database.
        ("30 2 * * *", "America/Vancouver", "", ""),
        ("30 2 * * *", "Africa/Casablanca", "", ""),
        // Not on a Sunday, not at such an hour, every hour, without summer time, by an interval.
        ("30 2 * * MON", "Europe/Berlin", "", ""),
        ("30 3 * * *", "Europe/Berlin", "", ""),
        ("30 * * * *", "Europe/Berlin", "", ""),
        ("30 2 * * *", "Asia/Kolkata", "", ""),
        ("30 2 * * *", "Etc/UTC", "", ""),
        ("@every 2h", "Europe/Berlin", "", ""),
        ("30 2 1 1 *", "Europe/Berlin", "", ""),
    ] {
        assert_eq!(changes(text, zone), [skipped, repeated], "{text} {zone}");
    }
}
