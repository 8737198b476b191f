//! KB0331, KB0421: who mounts the results volume at once.

use super::*;

const ONE_POD: &str = "claim: {accessModes: [ReadWriteOncePod]}";

#[test]
fn volumes_of_one_node() {
    let job = |name: &str| format!("{name}: {{image: 'r.example/a:1', resources: {{cpu: 1, memory: 1Gi}}}}");
    for (fields, causes) in [
        ("results: {mountInJob: true}".to_owned(), "`mountInJob` needs"),
        (job("prepare"), "`prepare` needs"),
        (job("postprocess"), "`postprocess` needs"),
        ("parallelism: 2\nrepeats: 2".to_owned(), "`parallelism` needs"),
        (format!("results: {{mountInJob: true}}\n{}", job("prepare")), "`mountInJob` and `prepare` need"),
    ] {
        let finding = str! {"the results volume is `ReadWriteOnce`, but … it in several pods at once"};
        check_about(causes, &fields, ("KB0421", finding));
        let shared = "claim: {accessModes: [ReadWriteOnce, ReadWriteMany]}";
        let shared = match fields.strip_prefix("results: {") {
            Some(rest) => format!("results: {{{shared}, {rest}"),
            None => format!("{fields}\nresults: {{{shared}}}"),
        };
        check(&shared, &[]);
    }
    check("results: {mountInJob: false}\nrepeats: 3", &[]);
    check("parallelism: 4\nrepeats: 1", &[]);
}

#[test]
fn what_needs_the_volume_is_pointed_at() {
    let compiled = compile("", &document("parallelism: 2\nrepeats: 2"));
    let found = compiled.findings();
    let kubebench_syntax::diag::Place::Span(span) = found[0].place else { panic!("{found:?}") };
    assert_eq!(compiled.sources.get(span.source).unwrap().slice(span), "parallelism");
}

#[test]
fn volumes_of_one_pod() {
    check(&format!("results: {{{ONE_POD}}}"), &[]);
    check(
        &format!("results: {{{ONE_POD}, mountInJob: true}}"),
        &[(
            "KB0331",
            str! {"the results volume is `ReadWriteOncePod`, but `mountInJob` needs it in several pods at once"},
        )],
    );
    check(
        "results: {claim: {accessModes: [ReadWriteOncePod, ReadWriteMany]}}",
        &[("KB0331", str! {"`ReadWriteOncePod` is combined with other access modes"})],
    );
}
