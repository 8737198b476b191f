//! What SciPy says of the same numbers: `tests/data/stats/vectors.py` makes them.

use serde::Deserialize;

use super::super::{adjust, distribution, pairs, prediction, rank, trend, unequal};

#[derive(Deserialize)]
struct Vectors {
    t: Vec<Student>,
    tails: Vec<Tail>,
    normal: Vec<Normal>,
    predictions: Vec<Predicted>,
    unequal: Vec<Unequal>,
    ranks: Vec<Ranked>,
    untied: Vec<Ranked>,
    tied: Vec<Ranked>,
    signs: Vec<Signed>,
    drifts: Vec<Drifting>,
    adjusted: Adjusted,
}

#[derive(Deserialize)]
struct Student {
    p: f64,
    df: f64,
    #[serde(rename = "quantile")]
    value: f64,
}

#[derive(Deserialize)]
struct Tail {
    t: f64,
    df: f64,
    p: f64,
}

#[derive(Deserialize)]
struct Normal {
    z: f64,
    p: f64,
}

#[derive(Deserialize)]
struct Predicted {
    history: Vec<f64>,
    new: Vec<f64>,
    difference: f64,
    interval: (f64, f64),
    p: f64,
}

#[derive(Deserialize)]
struct Unequal {
    first: Vec<f64>,
    second: Vec<f64>,
    difference: f64,
    interval: (f64, f64),
    p: f64,
}

#[derive(Deserialize)]
struct Ranked {
    first: Vec<f64>,
    second: Vec<f64>,
    u: f64,
    p: f64,
    shift: Option<f64>,
}

#[derive(Deserialize)]
struct Signed {
    differences: Vec<f64>,
    p: f64,
    shift: f64,
}

#[derive(Deserialize)]
struct Drifting {
    series: Vec<f64>,
    rises: f64,
    slope: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Adjusted {
    p: Vec<f64>,
    benjamini_hochberg: Vec<f64>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/stats/vectors.json")))
        .unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64, relative: f64) {
    let error = (found - expected).abs();
    assert!(error <= relative * expected.abs().max(1e-12), "{found} is not {expected}");
}

#[test]
fn distributions() {
    let Vectors { t, tails, normal, .. } = vectors();
    for Student { p, df, value } in t {
        if value.abs() < 1e-12 {
            assert!(distribution::t_quantile(p, df).abs() < 1e-9);
        } else {
            close(distribution::t_quantile(p, df), value, 1e-9);
        }
    }
    for Tail { t, df, p } in tails {
        close(distribution::t_two_sided(t, df), p, 1e-9);
    }
    for Normal { z, p } in normal {
        close(distribution::normal_cdf(z), p, 1e-9);
    }
}

#[test]
fn predictions() {
    for Predicted { history, new, difference, interval, p } in vectors().predictions {
        let found = prediction::predict(&history, &[], &new, 0.0).unwrap();
        close(found.difference, difference, 1e-10);
        close(found.interval.0, interval.0, 1e-9);
        close(found.interval.1, interval.1, 1e-9);
        close(found.p, p, 1e-9);
    }
}

#[test]
fn unequal_groups() {
    for Unequal { first, second, difference, interval, p } in vectors().unequal {
        let found = unequal::compare(&first, &second).unwrap();
        close(found.difference, difference, 1e-10);
        close(found.interval.0, interval.0, 1e-9);
        close(found.interval.1, interval.1, 1e-9);
        close(found.p, p, 1e-9);
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes many minutes there")]
fn groups() {
    let Vectors { ranks, untied, tied, .. } = vectors();
    for Ranked { first, second, u, p, shift } in ranks.into_iter().chain(untied).chain(tied) {
        let found = rank::compare(&first, &second).unwrap();
        close(found.u, u, 1e-12);
        close(found.p, p, 1e-9);
        if let Some(shift) = shift {
            close(found.shift, shift, 1e-12);
        }
    }
}

#[test]
fn signs() {
    for Signed { differences, p, shift } in vectors().signs {
        let found = pairs::judge(&differences).unwrap();
        close(found.p, p, 1e-9);
        close(found.shift, shift, 1e-12);
    }
}

#[test]
fn drifts() {
    for Drifting { series, rises, slope } in vectors().drifts {
        let found = trend::drift(&series).unwrap();
        close(found.rises, rises, 1e-12);
        close(trend::slope(&series), slope, 1e-12);
        close(found.p_of_correlated(0.0), found.p, 1e-15);
        // As of a third of the values.
        close(found.p_of_correlated(0.5), 2.0 * distribution::normal_cdf(-found.z / 3.0_f64.sqrt()), 1e-15);
    }
}

#[test]
fn adjusted_values() {
    let Adjusted { p, benjamini_hochberg } = vectors().adjusted;
    for (found, expected) in adjust::benjamini_hochberg(&p).into_iter().zip(benjamini_hochberg) {
        close(found, expected, 1e-12);
    }
}
