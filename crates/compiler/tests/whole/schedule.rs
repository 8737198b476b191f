//! KB0438: schedules at changes of a clock.

use kubebench_testing::snapshot::{assert_text, str};

use crate::compiled::{compile, errors};

fn messages(schedule: &str) -> Vec<String> {
    let spec = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: base}}\nspec:\n  timeout: 1h\n  schedule: {schedule}\n  \
         workload: {{job: {{image: 'r.example/a@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef', resources: {{cpu: 1, memory: 1Gi}}}}}}\n  \
         metrics: [{{name: s, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    );
    let compilation = compile(&[("specs/a.yaml", &spec)]);
    assert_eq!(errors(&compilation), [""; 0], "{schedule}");
    let faults = compilation.diagnostics.iter().filter(|fault| fault.code.id == "KB0438");
    faults.map(|fault| fault.message.clone()).collect()
}

#[test]
fn starts_that_a_clock_skips_or_repeats_are_named_once() {
    let both = messages("{cron: '30 2 * * *', timezone: Europe/Berlin}");
    assert_eq!(both.len(), 1, "{both:?}");
    assert_text(
        &both[0],
        str! {"the clock of `Europe/Berlin` skips 02:30 on 2027-03-28, when nothing starts, and repeats 02:30 on 2027-10-31, when it starts twice"},
    );
    let skipped = messages("{cron: '30 2 * * *', timezone: America/New_York}");
    assert_text(&skipped[0], str! {"the clock of `America/New_York` skips 02:30 on 2027-03-14, when nothing starts"});
    for sound in [
        "{cron: '30 4 * * *', timezone: Europe/Berlin}",
        "{cron: '30 2 * * *'}",
        "{cron: '@hourly', timezone: Europe/Berlin}",
    ] {
        assert_eq!(messages(sound), [""; 0], "{sound}");
    }
}
