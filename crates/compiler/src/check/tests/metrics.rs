//! KB0312, KB0313, KB0324, KB0353, KB0354, KB0355, KB0371, KB0375, KB0409, KB0410, KB0420, KB0428, KB0450, KB0454.

use super::*;

#[test]
fn metrics_that_gates_and_checks_name() {
    let metrics = "metrics: [{name: seconds, better: lower, from: {duration: run}}]";
    let of = |rest: &str| format!("{metrics}\n{rest}");
    check(
        &of("gates: [{metric: seconds, maxRegression: 3%}]\nchecks: [{metric: seconds, max: 9}, {restarts: 0}]"),
        &[],
    );
    check(
        &of("gates: [{metric: second, maxRegression: 3%}]"),
        &[("KB0313", str! {"there is no metric `second` for this gate"})],
    );
    check(
        &of("checks: [{metric: loss, finite: true}]"),
        &[("KB0313", str! {"there is no metric `loss` for this check"})],
    );
    let tool = |name: &str, more: &str| {
        format!(
            "metrics: [{{name: s, better: lower, primary: true, from: {{duration: run}}}}, {{from: {{tool: {{name: {name}{more}}}}}}}]"
        )
    };
    let gates = "gates: [{metric: mfu_last, min: 1}, {metric: tpt, min: 1}]";
    let finding = [("KB0313", str! {"there is no metric `tpt` for this gate"})];
    check(&format!("{gates}\n{}", tool("torchtitan", "")), &finding);
    check(&format!("{gates}\n{}", tool("torchtitan", ", metrics: [tps, mfu_last]")), &finding);
    // A name that the output may bring.
    check(
        &format!("{gates}\n{}", tool("torchtitan", "}}}, {from: {tool: {name: katib")).replace("tpt", "tpt_last"),
        &[],
    );
    // The right name next to a mistyped one.
    check(
        &format!("gates: [{{metric: events_per_second, min: 1}}]\n{}", tool("sysbench", ", metrics: [events_per_sec]")),
        &[
            ("KB0313", str! {"there is no metric `events_per_second` for this gate"}),
            ("KB0355", str! {"`sysbench` reports no metric `events_per_sec`"}),
        ],
    );
}

#[test]
fn roles_that_metrics_are_read_from() {
    let metric = |source: &str| format!("metrics: [{{name: x, better: lower, from: {{{source}}}}}]");
    check(&metric("log: {pattern: '(?P<value>\\S+)', role: job}"), &[]);
    check(&metric("keyValue: {key: x}"), &[]);
    check(
        &metric("log: {pattern: '(?P<value>\\S+)', role: worker}"),
        &[("KB0324", str! {"the workload has no role `worker`"})],
    );
    check(&metric("keyValue: {key: x, role: jobs}"), &[("KB0324", str! {"the workload has no role `jobs`"})]);
}

#[test]
fn directions() {
    check(
        "metrics: [{name: x, from: {duration: run}}]",
        &[("KB0409", str! {"`x` does not say whether higher or lower is better"})],
    );
    check("metrics: [{from: {tool: {name: fio, metrics: [read_iops]}}}]", &[]);
}

#[test]
fn primary_metrics() {
    let two = |more: &str| {
        format!(
            "metrics: [{{name: x, better: lower, from: {{duration: run}}}}, {{name: z, better: lower, from: {{duration: queue}}{more}}}]"
        )
    };
    let none = [("KB0410", str! {"several metrics are measured, and none of them is primary"})];
    check(&two(""), &none);
    check(&two(", primary: false"), &none);
    check(&two(", primary: true"), &[]);
    check("metrics: []", &[("KB0410", str! {"this benchmark measures nothing"})]);
    check("metrics: [{from: {tool: {name: fio}}}]", &none);
    check("metrics: [{from: {tool: {name: fio, metrics: [read_iops, write_iops]}}}]", &none);
    // Of several that one rule brings, none is chosen.
    let rule = |tool: &str| format!("metrics: [{{primary: true, from: {{tool: {{name: {tool}}}}}}}]");
    check(&rule("fio, metrics: [read_iops]"), &[]);
    check(
        &rule("fio, metrics: [read_iops, write_iops]"),
        &[("KB0375", str! {"this rule makes 2 metrics of `fio` primary"})],
    );
    check(&rule("fio"), &[("KB0375", str! {"this rule makes all metrics of `fio` primary"})]);
    check(&rule("katib"), &[("KB0375", str! {"this rule makes all metrics of `katib` primary"})]);
}

#[test]
fn units_that_sources_have() {
    let rule = |unit: &str, source: &str| {
        let name = if source.contains("tool") { "" } else { "name: x, " };
        format!("metrics: [{{{name}unit: '{unit}', better: lower, from: {{{source}}}}}]")
    };
    for (unit, source) in [
        ("ms", "duration: run"),
        ("GiB", "process: maxRss"),
        ("min", "process: cpuSeconds"),
        ("kJ", "prometheus: {preset: dcgm-energy}"),
        ("kWh", "prometheus: {preset: dcgm-energy}"),
        ("1", "prometheus: {preset: vllm-requests-waiting}"),
        ("IOPS", "tool: {name: fio, file: fio.json, metrics: [read_iops]}"),
        ("1/s", "tool: {name: fio, file: fio.json, metrics: [read_iops]}"),
        ("events/s", "tool: {name: sysbench, metrics: [events_per_second]}"),
        ("us", "tool: {name: fio, file: fio.json, metrics: [read_lat_p99, write_lat_p99]}"),
        // What it is in is known when it is read.
        ("ms", "openMetrics: {url: 'http://localhost/', name: x}"),
        ("ms", "tool: {name: go-bench}"),
    ] {
        let compiled = compile("", &document(&rule(unit, source)));
        assert!(!compiled.benchmarks.is_empty(), "{source}");
        assert!(!compiled.findings().iter().any(|fault| fault.code.id == "KB0371"), "{source}");
    }
    for (unit, source, message) in [
        ("GB", "duration: run", str! {"`duration` is in `s`, which cannot be converted into `GB`"}),
        ("s", "process: maxRss", str! {"`process` is in `B`, which cannot be converted into `s`"}),
        (
            "s",
            "prometheus: {preset: dcgm-energy}",
            str! {"`dcgm-energy` is in `J`, which cannot be converted into `s`"},
        ),
        (
            "s",
            "tool: {name: sysbench, metrics: [events_per_second]}",
            str! {"`events_per_second` of sysbench is in `1/s`, which cannot be converted into `s`"},
        ),
        (
            "ms",
            "tool: {name: vllm-serve-stdout}",
            str! {"`total_input_tokens` of vllm-serve-stdout is in `tokens`, which cannot be converted into `ms`"},
        ),
    ] {
        let mut found = codes_and_messages(&compile("", &document(&rule(unit, source))).findings());
        found.retain(|(code, _)| *code == "KB0371");
        assert_findings(&found, &[("KB0371", message)]);
    }
}

#[test]
fn failed_requests_that_nothing_counts() {
    let of = |tool: &str| {
        format!("metrics: [{{from: {{tool: {{name: {tool}}}}}}}]\nchecks: [{{failedRequests: {{max: 1%}}}}]")
    };
    assert_eq!(lowered(&of("wrk")), []);
    assert_findings(
        &lowered(&of("torchtitan")),
        &[("KB0313", str! {"no metric of this benchmark counts failed requests"})],
    );
    assert_findings(
        &lowered("metrics: [{name: x, better: lower, from: {duration: run}}]\nchecks: [{failedRequests: {max: 1%}}]"),
        &[("KB0313", str! {"no metric of this benchmark counts failed requests"})],
    );
}

#[test]
fn cautions_that_no_tool_says() {
    let of = |tool: &str, names: &str| {
        format!("metrics: [{{from: {{tool: {{name: {tool}}}}}}}]\nchecks: [{{cautions: {{forbid: [{names}]}}}}]")
    };
    assert_eq!(lowered(&of("google-benchmark", "debugBuild, frequencyScaling")), []);
    assert_findings(
        &lowered(&of("fio", "queueDepthCapped, debugBuild")),
        &[("KB0313", str! {"no metric of this benchmark comes from a tool that reports `debugBuild`"})],
    );
    assert_findings(
        &lowered(
            "metrics: [{name: x, better: lower, from: {duration: run}}]\nchecks: [{metric: x, cautions: {forbid: [debugBuild]}}]",
        ),
        &[
            ("KB0313", str! {"no metric of this benchmark comes from a tool that reports `debugBuild`"}),
            ("KB0207", str! {"`restarts`, `failedRequests` and `cautions` are about the run, not about a metric"}),
        ],
    );
}

#[test]
fn labels_that_a_tool_has_itself() {
    let rule = |label: &str| {
        format!(
            "metrics: [{{better: lower, from: {{tool: {{name: hyperfine, file: a.json, metrics: [mean], labels: {{{label}: a}}}}}}}}]\nresults: {{claim: {{accessModes: [ReadWriteMany]}}, mountInJob: true}}"
        )
    };
    check(&rule("part"), &[]);
    assert_findings(&lowered(&rule("command")), &[("KB0207", str! {"`hyperfine` sets the label `command` itself"})]);
}

#[test]
fn files_that_stay_in_the_pod() {
    let finding = [("KB0420", str! {"this file is on a volume that the pods do not mount"})];
    for source in [
        "json: {file: a.json, pointer: /x}",
        "jsonLines: {file: a.jsonl, pointer: /x}",
        "csv: {file: a.csv, column: x}",
        "openMetrics: {file: a.prom, name: x}",
        "file: {path: a.txt}",
        "tool: {name: fio, file: fio.json, metrics: [read_iops]}",
    ] {
        let name = if source.starts_with("tool") { "" } else { "name: x, " };
        let metrics = format!("metrics: [{{{name}better: lower, from: {{{source}}}}}]");
        check(&metrics, &finding);
        let shared = "claim: {accessModes: [ReadWriteMany]}";
        check(&format!("{metrics}\nresults: {{{shared}, mountInJob: true}}"), &[]);
        let postprocess = "postprocess: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}";
        check(&format!("{metrics}\n{postprocess}\nresults: {{{shared}}}"), &[]);
    }
    check("metrics: [{name: x, better: lower, from: {openMetrics: {url: 'http://localhost/', name: x}}}]", &[]);
}

#[test]
fn roles_and_replicas_of_tools() {
    let of = |place: &str| {
        format!("metrics: [{{primary: true, from: {{tool: {{name: torchtitan, metrics: [tps], {place}}}}}}}]")
    };
    check(&of("role: job, index: 0"), &[]);
    check(&of("role: jib"), &[("KB0324", str! {"the workload has no role `jib`"})]);
    check(&of("index: 1"), &[("KB0354", str! {"there is no replica 1: the largest role has one replica"})]);
}

#[test]
fn replicas_that_metrics_are_read_from() {
    let metric =
        |place: &str| format!("metrics: [{{name: x, better: lower, from: {{keyValue: {{key: x, {place}}}}}}}]");
    let job = |counts: &str| workload("job", &format!("resources: {{cpu: 1, memory: 1Gi}}, {counts}"));
    let of = |place: &str, counts: &str| format!("{}\n{}", metric(place), job(counts));
    check(&of("index: 0", "parallelism: 1"), &[]);
    check(&of("index: 3", "parallelism: 4"), &[]);
    check(
        &of("role: job, index: 4", "parallelism: 4"),
        &[("KB0354", str! {"there is no replica 4: the role `job` has 4 replicas"})],
    );
    // One pod after another.
    check(&of("index: 3", "parallelism: 1, completions: 4"), &[]);
    // Another role may have it, but not this one.
    let two = workload("pytorchJob", "resources: {cpu: 1, memory: 1Gi}, master: {replicas: 1}, worker: {replicas: 3}");
    check(&format!("{}\n{two}", metric("index: 2")), &[]);
    check(
        &format!("{}\n{two}", metric("role: master, index: 2")),
        &[("KB0354", str! {"there is no replica 2: the role `master` has one replica"})],
    );
}

#[test]
fn replicas_that_some_cases_have() {
    let of = |more: &str| {
        let job = workload(
            "job",
            "resources: {cpu: 1, memory: 1Gi}, parallelism: '${{ matrix.pods }}', args: ['${{ matrix.pods }}']",
        );
        format!(
            "matrix: {{axes: {{pods: [2, 4]}}}}\nmetrics: [{{name: x, better: lower, from: {{keyValue: {{key: x, index: 3}}}}{more}}}]\n{job}"
        )
    };
    check(&of(""), &[]);
    let finding = [("KB0354", str! {"there is no replica 3 in the case pods=2: the largest role has 2 replicas"})];
    check(&of(", required: true"), &finding);
    check(&of(", primary: true"), &finding);
}

#[test]
fn windows_of_steps() {
    let metric = |source: &str, window: &str| {
        format!("metrics: [{{name: x, better: lower, from: {{{source}}}, window: {{{window}}}}}]")
    };
    let steps = "steps: [1, 9]";
    let pattern = "log: {pattern: '(?P<value>\\S+)'}";
    check(
        &metric(pattern, steps),
        &[("KB0353", str! {"this window counts steps, but the pattern has no group `step`"})],
    );
    check(&metric(pattern, "skipFirst: 1"), &[]);
    check(&metric("log: {pattern: '(?<step>[0-9]+) (?P<value>\\S+)'}", steps), &[]);
    check(
        &metric("keyValue: {key: x}", steps),
        &[("KB0353", str! {"this window counts steps, but values of `keyValue` have none"})],
    );
    check(
        &metric("duration: run", steps),
        &[("KB0353", str! {"this window counts steps, but values of `duration` have none"})],
    );
    let mounted = "results: {claim: {accessModes: [ReadWriteMany]}, mountInJob: true}";
    check(&format!("{}\n{mounted}", metric("csv: {file: a.csv, column: x}", steps)), &[]);
    check(
        &format!("{}\n{mounted}", metric("json: {file: a.json, pointer: /x}", steps)),
        &[("KB0353", str! {"this window counts steps, but values of `json` have none"})],
    );
    check("metrics: [{primary: true, from: {tool: {name: torchtitan, metrics: [tps]}}, window: {steps: [1, 9]}}]", &[]);
}

#[test]
fn names_that_tools_report() {
    let of = |tool: &str, names: &str| {
        let primary = "{name: s, better: lower, primary: true, from: {duration: run}}";
        format!("metrics: [{primary}, {{from: {{tool: {{name: {tool}, metrics: [{names}]}}}}}}]")
    };
    check(&of("torchtitan", "tps, tps_last, mfu_last, last_step"), &[]);
    check(&of("torchtitan", "tpz"), &[("KB0355", str! {"`torchtitan` reports no metric `tpz`"})]);
    check(&of("torchtitan", "last_step_last"), &[("KB0355", str! {"`torchtitan` reports no metric `last_step_last`"})]);
    check(&of("fio", "iops"), &[("KB0355", str! {"`fio` reports no metric `iops`"})]);
    check(&of("deepspeed", "lm_loss, curr_samples_per_sec_median"), &[]);
    check(&of("tf-cnn-benchmarks", "images_per_sec_last_per_rank"), &[]);
    check(&of("sysbench", "events_per_sec"), &[("KB0355", str! {"`sysbench` reports no metric `events_per_sec`"})]);
    check(&of("sysbench", "events_per_second, latency_p99, interval_events_per_second_median"), &[]);
    check(&of("hyperfine", "0.median"), &[("KB0355", str! {"`hyperfine` reports no metric `0.median`"})]);
    // Names of these come from what they print, and some cannot.
    check(&of("katib", "anything"), &[]);
    check(&of("bmf", "sort.latency"), &[]);
    check(&of("bmf", "latency"), &[("KB0355", str! {"`bmf` reports no metric `latency`"})]);
    check(&of("maxtext", "tflops_per_device_median, step_time_last"), &[]);
}

#[test]
fn names_and_windows_of_tools() {
    let of = |fields: &str| format!("metrics: [{{primary: true, {fields}}}]");
    assert_findings(
        &lowered(&of("name: throughput, from: {tool: {name: torchtitan, metrics: [tps]}}")),
        &[("KB0356", str! {"the metrics of `torchtitan` have fixed names, so `name` is not allowed"})],
    );
    // What refers to the name is no second finding.
    let named = of("name: throughput, from: {tool: {name: torchtitan, metrics: [tps]}}");
    let gated = document(&format!("{named}\ngates: [{{metric: throughput, min: 1}}]"));
    assert_eq!(codes_and_messages(&compile("", &gated).findings()), []);
    assert_findings(
        &lowered(&of("from: {tool: {name: torchtitan, window: {lastN: 1}}}, window: {lastN: 2}")),
        &[("KB0207", str! {"this metric has two windows, and the one in `tool` would be ignored"})],
    );
    check(&of("from: {tool: {name: torchtitan, metrics: [tps], window: {lastN: 1}}}"), &[]);
}

#[test]
fn presets_name_their_metrics() {
    let gpu = "{gpu: {prometheus: {url: 'http://p:9090'}}}";
    let of = |fields: &str| format!("metrics: [{{{fields}}}]");
    let energy = "primary: true, from: {prometheus: {preset: dcgm-energy}}";
    let gated = format!("metrics: [{{{energy}}}]\ngates: [{{metric: dcgm-energy, maxRegression: 3%}}]");
    check_on(gpu, &gated, &[]);
    check_on(gpu, &of(&format!("name: joules, {energy}")), &[]);
    check(&of(energy), &[("KB0428", str! {"the target `default` names no Prometheus that could answer this query"})]);
    let twice = "metrics: [{primary: true, from: {prometheus: {preset: dcgm-power}}}, {from: {prometheus: {preset: dcgm-power, reduce: max}}}]";
    let clash = ("KB0312", str! {"a metric `dcgm-power` already exists"});
    check_on(gpu, twice, &[clash]);
    assert_findings(
        &lowered(&of("from: {prometheus: {preset: dcgm-energie}}")),
        &[("KB0369", str! {"there is no preset `dcgm-energie`"})],
    );
    assert_findings(
        &lowered(&of("name: x, from: {prometheus: {reduce: max}}")),
        &[("KB0207", str! {"`prometheus` takes exactly one of `query` and `preset`"})],
    );
    assert_findings(
        &lowered(&of("name: x, from: {prometheus: {query: up, preset: dcgm-power}}")),
        &[("KB0207", str! {"the preset `dcgm-power` is already a query, so `query` would be ignored"})],
    );
}

#[test]
fn queries_that_a_server_answers() {
    let query = "metrics: [{name: x, better: lower, from: {prometheus: {query: up}}}]";
    let finding = [("KB0428", str! {"the target `default` names no Prometheus that could answer this query"})];
    check(query, &finding);
    check_on("{gpu: {prometheus: {url: 'http://p:9090'}}}", query, &[]);
    check_on(
        "{gpu: {prometheus: {url: 'http://p:9090'}}, cpu: {cluster: b}}",
        query,
        &[("KB0428", str! {"the target `cpu` names no Prometheus that could answer this query"})],
    );
}

#[test]
fn times_that_runs_have() {
    let metric =
        |of: &str, more: &str| format!("metrics: [{{name: x, better: lower, {more}from: {{duration: {of}}}}}]");
    let serves = |load: &str| {
        format!(
            "workload: {{deployment: {{image: 'r.example/a:1', port: 80, ready: {{path: /up}}, resources: {{cpu: 1, memory: 1Gi}}{load}}}}}"
        )
    };
    let load = ", load: {image: 'r.example/b:1', command: [b], resources: {cpu: 1, memory: 1Gi}}";
    check(&metric("ready", ""), &[("KB0450", str! {"this benchmark has no server, so no run becomes ready"})]);
    check(&format!("{}\n{}", serves(""), metric("ready", "primary: true, ")), &[]);
    check(&format!("{}\n{}", serves(load), metric("ready", "")), &[]);
    let kept =
        [("KB0450", str! {"a run that reuses a running server has no `ready` time, and would be invalid without one"})];
    for needed in ["primary: true, ", "required: true, "] {
        check(&format!("repeats: 2\n{}\n{}", serves(load), metric("ready", needed)), &kept);
        // Its only run brings it up.
        check(&format!("{}\n{}", serves(load), metric("ready", needed)), &[]);
    }
    let of_cases = |more: &str, server: &str, load: &str| {
        let resources = "resources: {cpu: 1, memory: 1Gi}";
        let load = format!("load: {{image: 'r.example/b:1', command: [{load}], {resources}}}");
        let served = format!(
            "deployment: {{image: 'r.example/a:1', args: [{server}], port: 80, ready: {{path: /up}}, {resources}, {load}}}"
        );
        let needed = metric("ready", "primary: true, ");
        format!("matrix: {{axes: {{rate: [1, 2]}}}}\n{more}workload: {{{served}}}\n{needed}")
    };
    let axis = "\"${{ matrix.rate }}\"";
    check(&of_cases("", "a", axis), &kept);
    check(&of_cases("", axis, "b"), &[]);
    check(&of_cases("repeats: 2\n", axis, "b"), &[]);
    check(&of_cases("repeats: 2\norder: grouped\n", axis, "b"), &kept);
    check(&format!("{}\n{}", serves(load), metric("run", "primary: true, ")), &[]);
    let endless = [("KB0450", str! {"a server never completes, so no run has this duration"})];
    check(&format!("{}\n{}", serves(""), metric("run", "")), &endless);
}

#[test]
fn patterns_are_small_enough_together() {
    let of = |pattern: &str, count: usize| {
        let metric = |number| {
            format!(
                "{{name: m{number}, better: lower, primary: {}, from: {{log: {{pattern: '{pattern}{number}'}}}}}}",
                number == 0
            )
        };
        format!("metrics: [{}]", (0..count).map(metric).collect::<Vec<_>>().join(", "))
    };
    let keys = |count: usize| {
        let metric = |number| {
            format!(
                "{{name: m{number}, better: lower, primary: {}, from: {{keyValue: {{key: k{number}}}}}}}",
                number == 0
            )
        };
        format!("metrics: [{}]", (0..count).map(metric).collect::<Vec<_>>().join(", "))
    };
    check(&of(r"loss (?P<value>\S+) ", 300), &[]);
    check(&keys(300), &[]);
    check(&of(r"(?P<value>\w{32})x", 10), &[]);
    assert_findings(
        &lowered(&of(r"(?P<value>\w{150})x", 300)),
        &[(
            "KB0314",
            str! {"the patterns of the metrics are too large together: they compile to about 152,656,990 instructions, of 2,000,000 at most"},
        )],
    );
    check(&of(r"(?P<value>[0-9a-z_]{150})x", 300), &[]);
    check(&of(r"(?P<value>(?-u:\w){150})x", 300), &[]);
    assert_findings(
        &lowered(&keys(1_000)),
        &[(
            "KB0314",
            str! {"the patterns of the metrics are too large together: they compile to about 4,011,890 instructions, of 2,000,000 at most"},
        )],
    );
}

#[test]
fn groups_that_do_not_take_all_numbers() {
    let metric =
        |pattern: &str| format!("metrics: [{{name: x, better: lower, from: {{log: {{pattern: {pattern}}}}}}}]");
    check(
        &metric(r"'loss (?P<value>[0-9.]+)'"),
        &[("KB0454", str! {"the group `value` is `[0-9.]+`, which does not match `-1.5`, `1,234.5`, `1e-05`"})],
    );
    check(
        &metric(r"'(?P<value>-?\d+) requests'"),
        &[("KB0454", str! {[r#"the group `value` is `-?\d+`, which does not match `-1.5`, `1,234.5`, `1e-05`"#]})],
    );
    for right in [r"'loss (?P<value>\S+)'", "'loss (?P<value>1|2|4)'", r"'code (?P<value>\d{3})'"] {
        check(&metric(right), &[]);
    }
}

#[test]
fn two_metrics_of_one_name() {
    let two = |first: &str, second: &str| {
        let tool = |of: &str, more: &str| format!("{{from: {{tool: {{name: {of}}}}}{more}}}");
        let rules = [tool(first, ", primary: true"), tool(second, "")].join(", ");
        format!("metrics: [{rules}]\nresults: {{claim: {{accessModes: [ReadWriteMany]}}, mountInJob: true}}")
    };
    let seq = "fio, file: seq.json, metrics: [read_iops]";
    check(
        &two(seq, "fio, file: rnd.json, metrics: [read_iops]"),
        &[("KB0312", str! {"a metric `read_iops` already exists"})],
    );
    check(&two(seq, "fio, file: rnd.json"), &[("KB0312", str! {"a metric `read_iops` already exists"})]);
    for apart in [
        "fio, file: rnd.json, metrics: [write_iops]",
        "fio, file: rnd.json, prefix: rnd-",
        "fio, file: rnd.json, metrics: [read_iops], rename: {read_iops: rnd-iops}",
    ] {
        check(&two(seq, apart), &[]);
    }
    check(&two(&format!("{seq}, labels: {{access: seq}}"), "fio, file: rnd.json, labels: {access: rnd}"), &[]);
    check(&two(&format!("{seq}, labels: {{access: seq}}"), "fio, file: rnd.json, labels: {mode: rnd}"), &[]);
    check(&two("fio, metrics: ['read_iops{job=a}']", "fio, metrics: ['read_iops{job=b}']"), &[]);
    check(
        &two("fio, metrics: ['read_iops{job=a}']", "fio, metrics: [read_iops]"),
        &[("KB0312", str! {"a metric `read_iops` already exists"})],
    );
    let own = "{name: latency_avg, unit: ms, better: lower, primary: true, from: {keyValue: {key: avg}}}";
    check(
        &format!("metrics: [{own}, {{from: {{tool: {{name: sysbench}}}}}}]"),
        &[("KB0312", str! {"a metric `latency_avg` already exists"})],
    );
}

#[test]
fn names_with_labels_and_names_of_a_rule() {
    let gate = |tool: &str, metric: &str| {
        format!(
            "metrics: [{{primary: true, from: {{tool: {{name: nccl-tests, metrics: [avg_busbw]{tool}}}}}}}]\ngates: [{{metric: '{metric}', min: 1}}]"
        )
    };
    check(&gate("", "avg_busbw{test=all_gather_perf}"), &[]);
    check(&gate(", prefix: a-", "a-avg_busbw"), &[]);
    check(&gate(", rename: {avg_busbw: bus}", "bus{test=x}"), &[]);
    check(&gate(", prefix: a-", "avg_busbw"), &[("KB0313", str! {"there is no metric `avg_busbw` for this gate"})]);
    check(
        &gate("", "avg_busbw{test=x"),
        &[("KB0313", str! {"the value of `test` in `avg_busbw{test=x` does not end"})],
    );
    check(
        &gate(", rename: {avg_bsbw: bus}", "avg_busbw"),
        &[("KB0355", str! {"`nccl-tests` reports no metric `avg_bsbw`"})],
    );
}

/// Returns what the findings advise.
fn advised(fields: &str) -> String {
    compile("", &document(fields)).findings().into_iter().filter_map(|fault| fault.help).collect::<Vec<_>>().join("\n")
}

/// `rename` takes the names that the tool gives.
#[test]
fn what_is_advised_of_two_metrics_of_one_name_can_be_written() {
    let rule =
        |more: &str| format!("{{from: {{tool: {{name: fio, file: a.json, metrics: [read_iops], prefix: p-}}}}{more}}}");
    let fields = format!(
        "metrics: [{}, {}]\nresults: {{claim: {{accessModes: [ReadWriteMany]}}, mountInJob: true}}",
        rule(", primary: true"),
        rule("")
    );
    let advice = advised(&fields);
    assert!(advice.contains("`rename: {read_iops: a-p-read_iops}`"), "{advice}");
}

/// A tool whose output has the names may bring any, and says nothing of one that is mistyped.
#[test]
fn a_name_close_to_a_known_one_is_advised_first() {
    let of = |metrics: &str| {
        format!(
            "metrics: [{{primary: true, better: lower, from: {{tool: {{name: openmetrics, file: a.prom, metrics: [{metrics}]}}}}}}]\ngates: [{{metric: queue_dept, min: 1}}]\nresults: {{claim: {{accessModes: [ReadWriteMany]}}, mountInJob: true}}"
        )
    };
    let advice = advised(&of("queue_depth"));
    assert!(advice.contains("did you mean `queue_depth`?") && !advice.contains("which reports it"), "{advice}");
    let advice = advised(&of("other"));
    assert!(advice.contains("add `queue_dept` to the `metrics` of `openmetrics`, if its output has it"), "{advice}");
}

#[test]
fn units_and_labels_are_short_texts() {
    let unit = |unit: &str| {
        format!(
            "metrics: [{{name: seconds, unit: {unit}, better: lower, primary: true, from: {{keyValue: {{key: s}}}}}}]"
        )
    };
    assert_eq!(lowered(&unit("\"GB/s \u{b5}\"")), []);
    assert_eq!(lowered(&unit(&"m".repeat(64))), []);
    assert_findings(&lowered(&unit("''")), &[("KB0205", str! {"it is empty"})]);
    for order in ["\"\\u001b[31mms\"", "\"ms\\u0007\"", "\"\\u202ems\""] {
        assert_findings(
            &lowered(&unit(order)),
            &[("KB0205", str! {"it has a control character, or one that changes the direction of the text"})],
        );
    }
    assert_findings(&lowered(&unit(&"m".repeat(65))), &[("KB0205", str! {"it has 65 characters, of 64 at most"})]);
    let label = |label: &str| {
        format!(
            "metrics: [{{better: lower, primary: true, from: {{tool: {{name: hyperfine, file: a.json, metrics: [mean], labels: {{{label}: a}}}}}}}}]\nresults: {{claim: {{accessModes: [ReadWriteMany]}}, mountInJob: true}}"
        )
    };
    assert_eq!(lowered(&label("part")), []);
    assert_findings(&lowered(&label("''")), &[("KB0205", str! {"it is empty"})]);
}
