//! What R says of the same numbers: `tests/data/stats/tables.R` makes them.

use serde::Deserialize;

use super::super::{distribution, pairs, rank};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tables {
    student: Vec<Student>,
    by_t: Vec<Paired>,
    signs: Vec<Paired>,
    groups: Vec<Groups>,
}

#[derive(Deserialize)]
struct Student {
    p: f64,
    df: f64,
    quantile: f64,
}

#[derive(Deserialize)]
struct Paired {
    differences: Vec<f64>,
    p: Option<f64>,
    shift: Option<f64>,
    interval: (f64, f64),
}

#[derive(Deserialize)]
struct Groups {
    first: Vec<f64>,
    second: Vec<f64>,
    u: f64,
    p: f64,
    shift: f64,
    interval: (f64, f64),
}

fn tables() -> Tables {
    serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/stats/tables.json")))
        .unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} is not {expected}");
}

#[test]
fn students_table() {
    for Student { p, df, quantile } in tables().student {
        close(distribution::t_quantile(p, df), quantile);
    }
    // As it is printed in every book.
    for (p, df, printed) in
        [(0.975, 1.0, 12.706), (0.975, 4.0, 2.776), (0.975, 9.0, 2.262), (0.95, 30.0, 1.697), (0.995, 120.0, 2.617)]
    {
        assert!((distribution::t_quantile(p, df) - printed).abs() < 0.0005, "{p} {df}");
    }
}

#[test]
fn differences_by_t() {
    for Paired { differences, p, interval, .. } in tables().by_t {
        let (found, found_p) = pairs::by_t(&differences).unwrap();
        close(found.0, interval.0);
        close(found.1, interval.1);
        close(found_p, p.unwrap());
        let (back, back_p) = pairs::by_t(&differences.iter().map(|value| -value).collect::<Vec<_>>()).unwrap();
        assert_eq!((back, back_p), ((-found.1, -found.0), found_p), "reversed");
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes many minutes there")]
fn differences_without_an_answer_by_t() {
    for few in [&[][..], &[1.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
        assert_eq!(pairs::by_t(few), None);
    }
    assert_eq!(pairs::by_t(&[0.0; 4]), Some(((0.0, 0.0), 1.0)));
    assert_eq!(pairs::by_t(&[2.0; 4]), Some(((2.0, 2.0), 0.0)), "it never varied");
    let many: Vec<f64> = (0..1_000_000).map(|index| f64::from(index % 7) - 3.0).collect();
    assert!(pairs::by_t(&many).unwrap().1 > 0.9);
}

/// The tables of critical values of Wilcoxon's signed ranks, by way of the intervals that are made of them.
#[test]
fn intervals_of_signed_ranks() {
    for Paired { differences, shift, interval, .. } in tables().signs {
        let found = pairs::judge(&differences).unwrap();
        close(found.shift, shift.unwrap());
        close(found.interval.0, interval.0);
        close(found.interval.1, interval.1);
    }
}

/// The same of the rank sum.
#[test]
fn intervals_of_two_groups() {
    for Groups { first, second, u, p, shift, interval } in tables().groups {
        let found = rank::compare(&first, &second).unwrap();
        close(found.u, u);
        close(found.p, p);
        close(found.shift, shift);
        close(found.interval.0, interval.0);
        close(found.interval.1, interval.1);
    }
}

/// An interval that leaves out 0 and a p that is significant say the same.
#[test]
#[cfg_attr(miri, ignore = "it takes many minutes there")]
fn intervals_agree_with_p() {
    for size in 4..12_usize {
        let first: Vec<f64> = (0..size).map(|index| (index as f64 * 0.618_034).fract()).collect();
        for shift in 0..60 {
            let second: Vec<f64> =
                (0..size).map(|index| (index as f64 * 0.414_214).fract() + f64::from(shift) / 50.0 + 1e-6).collect();
            let found = rank::compare(&first, &second).unwrap();
            let leaves_out = found.interval.0 > 0.0 || found.interval.1 < 0.0;
            assert_eq!(leaves_out, found.p <= 0.05, "{size} {shift} {found:?}");
        }
    }
}
