use serde_json::{Value, json};

use super::Reduce;

fn schema() -> jsonschema::Validator {
    let schema: Value = schemars::SchemaGenerator::default().into_root_schema_for::<Reduce>().to_value();
    jsonschema::draft7::new(&schema).unwrap()
}

/// Checks that `text` is a reduction, spelled so, for the type and for its schema.
#[track_caller]
fn check(text: &str) -> Reduce {
    let reduce: Reduce = serde_json::from_value(json!(text)).unwrap();
    assert_eq!(reduce.to_string(), text);
    assert!(schema().is_valid(&json!(text)), "{text}");
    reduce
}

#[test]
fn words_and_percentiles_have_one_spelling() {
    for word in ["first", "last", "min", "max", "mean", "median", "sum", "all"] {
        check(word);
    }
    for (text, share) in
        [("p1", 0.01), ("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p0.001", 0.000_01), ("p99.999", 0.999_99)]
    {
        let Reduce::Percentile(percentile) = check(text) else { panic!("{text}") };
        assert_eq!(percentile.share().to_bits(), f64::to_bits(share), "{text}");
    }
}

#[test]
fn what_is_no_percentile_is_refused_by_type_and_schema() {
    for text in [
        "p", "p0", "p0.0", "p00", "p05", "p100", "p99.", "p.9", "p99.90", "p99.0", "p99.9999", "p-1", "p+1", "p1e1",
        "P99", "p99%", "p 9", "average", "Median", "",
    ] {
        assert!(text.parse::<Reduce>().is_err(), "{text}");
        assert!(!schema().is_valid(&json!(text)), "{text}");
    }
}
