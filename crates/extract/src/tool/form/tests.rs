use super::fits;

#[test]
fn names_of_a_form() {
    let cases = [
        (
            "latency_p{N}",
            &["latency_p99", "latency_p99.9"][..],
            &["latency_p", "latency_px", "latency_avg", "xlatency_p1"][..],
        ),
        (
            "{kind}_latency_{location}",
            &["a_latency_mean", "a_latency_b_latency_p99p9"],
            &["_latency_mean", "a_latency_std", "a_latency_"],
        ),
        ("{read|write}_iops", &["read_iops", "write_iops"], &["trim_iops", "_iops", "read_iops2"]),
        ("{mean|pN}_ttft_ms", &["mean_ttft_ms", "p99_ttft_ms"], &["p_ttft_ms", "std_ttft_ms"]),
        ("{benchmark}.{measure}", &["a.b", "a.b.c", "ä.ö"], &["a", "a.", ".b"]),
        ("iops", &["iops"], &["iops2", ""]),
    ];
    for (form, names, others) in cases {
        assert!(names.iter().all(|name| fits(form, name)), "{form}");
        assert!(!others.iter().any(|name| fits(form, name)), "{form}");
    }
}

/// A long name of somebody's is compared in little time.
#[test]
fn a_long_name() {
    assert!(!fits("{a}.{b}", &"x".repeat(100_000)));
}
