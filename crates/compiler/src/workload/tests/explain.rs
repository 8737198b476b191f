use crate::workload;
use kubebench_format::schema::{DocumentKind, explain, generate};
use kubebench_testing::snapshot::{assert_text, str};

/// Returns the first line of the page, or what is missing.
fn heading(path: &str) -> String {
    let mut steps = path.split('.');
    let kind = steps.next().unwrap_or_default();
    let of = DocumentKind::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(kind)).unwrap();
    match explain(&generate(of, &workload::schemas()), kind, &steps.collect::<Vec<_>>()) {
        Ok(page) => page.lines().next().unwrap_or_default().to_owned(),
        Err((missing, known)) => format!("no {missing} of {}", known.len()),
    }
}

#[test]
fn elements_and_chosen_keys_may_be_named_or_left_out() {
    for (path, expected) in [
        ("benchmark.spec.matrix.axes", "benchmark.spec.matrix.axes <mapping of list of string|number|boolean>"),
        ("benchmark.spec.matrix.axes.lr", "benchmark.spec.matrix.axes.lr <list of string|number|boolean>"),
        ("benchmark.spec.matrix.axes.lr[0]", "benchmark.spec.matrix.axes.lr[0] <string|number|boolean>"),
        ("benchmark.spec.metrics.name", "benchmark.spec.metrics.name <metric-name>"),
        ("benchmark.spec.metrics[0].name", "benchmark.spec.metrics[0].name <metric-name>"),
        ("project.spec.targets.queue", "project.spec.targets.queue <object>"),
        ("project.spec.targets.gpu-eu", "project.spec.targets.gpu-eu <object>"),
        ("project.spec.targets.gpu-eu.queue.kueue", "project.spec.targets.gpu-eu.queue.kueue <dns1123-subdomain>"),
        ("benchmark.metadata.labels.a.b/c", "benchmark.metadata.labels.a.b/c <label-value>"),
    ] {
        assert_eq!(heading(path), expected);
    }
}

#[test]
fn what_does_not_exist_is_named() {
    assert_text(heading("benchmark.spec.matrix.axs"), str! {"no axs of 4"});
    assert!(heading("project.spec.targets.queu").starts_with("no queu of "));
    assert_text(heading("benchmark.spec.repeats.x"), str! {"no x of 0"});
    assert_text(heading("benchmark.spec.repeats[0]"), str! {"no repeats[0] of 0"});
}
