use jiff::Timestamp;
use proptest::prelude::*;

use super::{Otherwise, Position, Stamped};

/// One entry of the file that the container runtime writes: a line, or a part of one that continues in another entry.
#[derive(Clone, Debug)]
struct Entry {
    stamp: i64,
    text: Vec<u8>,
    is_end: bool,
}

/// Gives the log as the kubelet does (`ReadLogs` in pkg/kubelet/kuberuntime/logs): entries before `since` are left out one
/// by one, and an entry has its stamp unless the one before it, left out or not, did not end its line.
fn serve(entries: &[Entry], since: Option<String>) -> Vec<u8> {
    let since = since.map_or(i128::MIN, |text| text.parse::<Timestamp>().unwrap().as_nanosecond());
    let mut is_new = true;
    let mut served = Vec::new();
    for entry in entries {
        if i128::from(entry.stamp) >= since {
            if is_new {
                let stamp = Timestamp::from_nanosecond(entry.stamp.into()).unwrap();
                served.extend_from_slice(format!("{stamp:.9} ").as_bytes());
            }
            served.extend_from_slice(&entry.text);
            served.extend_from_slice(if entry.is_end { b"\n" } else { b"" });
        }
        is_new = entry.is_end;
    }
    served
}

fn written(entries: &[Entry]) -> Vec<u8> {
    entries.iter().flat_map(|entry| [&entry.text[..], if entry.is_end { b"\n" } else { b"" }].concat()).collect()
}

/// Stamps of lines may cross, as the two outputs are stamped apart; those of the parts of a line do not, as they are of one
/// output. Where the other output came between the parts in the nanoseconds around a full second, the kubelet would leave
/// out the end of a line alone, and a line might be passed on twice.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let step = prop_oneof![
        3 => Just(0_i64),
        2 => -900..900_i64,
        4 => 0..400_000_000_i64,
        1 => 0..5_000_000_000_i64,
    ];
    let text =
        proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b' '), Just(0xc3), Just(0xa4), any::<u8>()], 0..8);
    let entry = (step, text, proptest::bool::weighted(0.8));
    proptest::collection::vec(entry, 0..60).prop_map(|raw| {
        let mut stamp = 1_795_000_000_999_999_000_i64;
        let mut is_new = true;
        let entry = |(step, text, is_end): (i64, Vec<u8>, bool)| {
            stamp += if is_new { step } else { step.max(0) };
            is_new = is_end;
            Entry { stamp, text: text.into_iter().filter(|byte| *byte != b'\n').collect(), is_end }
        };
        raw.into_iter().map(entry).collect()
    })
}

/// Reads the log with cuts after `cuts` bytes of each connection, in pieces of `piece` bytes.
fn follow(entries: &[Entry], cuts: &[usize], piece: usize) -> Vec<u8> {
    let mut position = Position::default();
    let mut plain = Vec::new();
    for cut in cuts.iter().copied().chain([usize::MAX]) {
        // Kept as the mark of the log.
        let mark = serde_json::to_string(&position).unwrap();
        let mut stamped = Stamped::after(serde_json::from_str(&mark).unwrap(), Otherwise::Stop);
        let served = serve(entries, position.since());
        for piece in served[..cut.min(served.len())].chunks(piece) {
            stamped.take(piece, &mut plain);
        }
        assert!(!stamped.is_strange());
        position = stamped.end().0;
    }
    plain
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_byte_is_passed_on_once(
        entries in entries(),
        cuts in proptest::collection::vec(0..700_usize, 0..6),
        piece in 1..80_usize,
    ) {
        prop_assert_eq!(follow(&entries, &cuts, piece), written(&entries));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b' ')], 0..300), piece in 1..9_usize) {
        let mut stamped = Stamped::new();
        let mut plain = Vec::new();
        bytes.chunks(piece).for_each(|piece| stamped.take(piece, &mut plain));
        let (position, _) = stamped.end();
        position.since();
    }
}

fn read(position: Position, otherwise: Otherwise, log: &str) -> (String, Stamped) {
    let mut stamped = Stamped::after(position, otherwise);
    let mut plain = Vec::new();
    stamped.take(log.as_bytes(), &mut plain);
    (String::from_utf8(plain).unwrap(), stamped)
}

fn after(log: &str) -> Position {
    read(Position::default(), Otherwise::GoOn, log).1.end().0
}

#[test]
fn stamps_of_every_form_are_taken_off() {
    let log = "2026-11-21T21:34:14Z a\n2026-11-21T22:34:14.5+01:00 b\n2026-11-21T21:34:14.123456789Z \n";
    assert_eq!(read(Position::default(), Otherwise::GoOn, log).0, "a\nb\n\n");
    assert_eq!(after(log).since().unwrap(), "2026-11-21T21:34:13Z");
    let same = "2026-11-21T21:34:14Z a\n2026-11-21T21:34:14.500000000Z b\n2026-11-21T22:34:14.123456789+01:00 \n";
    assert_eq!(read(after(log), Otherwise::Stop, same).0, "");
}

#[test]
fn another_log_is_distinguished_from_the_same() {
    let known = after("2026-11-21T21:34:14.1Z a\n2026-11-21T21:34:14.2Z b\n");
    let (plain, stamped) = read(known.clone(), Otherwise::Stop, "2026-11-21T21:34:14.1Z a\n");
    assert!(plain.is_empty() && stamped.is_known() && !stamped.is_strange());
    let other = "2026-11-21T21:34:14.3Z c\n2026-11-21T21:34:15Z d\n";
    let (plain, stamped) = read(known.clone(), Otherwise::Stop, other);
    assert!(plain.is_empty() && !stamped.is_known() && stamped.is_strange());
    assert_eq!(stamped.end().0, known, "it stays where it was");
    assert_eq!(read(known, Otherwise::GoOn, other).0, "c\nd\n");
    let (plain, stamped) = read(Position::default(), Otherwise::Stop, "");
    assert!(plain.is_empty() && stamped.is_known());
}

#[test]
fn a_line_whose_end_was_rotated_away_is_not_joined_to_the_next() {
    let known = after("2026-11-21T21:34:14.1Z a\n2026-11-21T21:34:14.2Z loss: 1");
    assert!(known.is_in_line());
    assert_eq!(read(known.clone(), Otherwise::GoOn, "2026-11-21T21:34:16Z 23\n").0, "\n23\n");
    assert_eq!(read(known, Otherwise::Stop, "2026-11-21T21:34:14.2Z loss: 1.5\n").0, ".5\n");
}

#[test]
fn what_the_kubelet_says_itself_is_no_line_of_the_log() {
    let (plain, stamped) = read(Position::default(), Otherwise::GoOn, "unable to retrieve container logs for x");
    assert_eq!((plain.as_str(), stamped.end().1.unwrap().as_str()), ("", "unable to retrieve container logs for x"));
    let log = "2026-11-21T21:34:14.1Z a\nfailed to create fsnotify watcher: too many open files";
    let (plain, stamped) = read(Position::default(), Otherwise::GoOn, log);
    let (position, said) = stamped.end();
    assert_eq!(
        (plain.as_str(), said.unwrap().as_str()),
        ("a\n", "failed to create fsnotify watcher: too many open files")
    );
    assert_eq!(position, after("2026-11-21T21:34:14.1Z a\n"));
    let (plain, _) = read(Position::default(), Otherwise::GoOn, "no stamp\n2026-11-21T21:34:14.1Z a\n");
    assert_eq!(plain, "no stamp\na\n", "what goes on is the log");
}

#[test]
fn a_clock_that_is_set_back_loses_and_doubles_nothing() {
    let before = "2026-11-21T21:34:14.1Z a\n2026-11-21T21:34:15Z b\n";
    let after_it = "2026-11-21T20:00:00.5Z c\n2026-11-21T20:00:01Z d\n";
    let known = after(&format!("{before}{after_it}"));
    assert_eq!(known.since().unwrap(), "2026-11-21T20:00:00Z");
    let again = format!("{before}{after_it}2026-11-21T20:00:01Z e\n");
    assert_eq!(read(known, Otherwise::Stop, &again).0, "e\n");
}
