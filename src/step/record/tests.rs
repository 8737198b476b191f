use super::is_run;

#[test]
fn runs_have_the_name_of_the_benchmark_and_eight_digits() {
    for (name, expected) in [
        ("disk-0123abcd", true),
        ("disk-0123abcD", false),
        ("disk-0123abc", false),
        ("disk-io-0123abcd", false),
        ("disk", false),
        ("lost+found", false),
        ("disk-../../../x", false),
    ] {
        assert_eq!(is_run("disk", name), expected, "{name}");
    }
}
