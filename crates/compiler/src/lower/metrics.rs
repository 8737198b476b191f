//! Metrics, checks and gates: names, and what refers to them.

use crate::model::{Expectation, Fixture, Metric, MetricReference, NarrowPattern, Part, ToolMetrics};
use kubebench_extract::naming::Naming;
use kubebench_extract::narrow::narrow;
use kubebench_extract::preset::{self, PRESETS, Preset};
use kubebench_extract::{pattern, pattern_budget, source_unit};
use kubebench_format::result::v1::Direction;
use kubebench_format::spec::v1::{fixture, metric as wire};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{SourceMap, Span};
use kubebench_syntax::yaml::Node;

/// Sources whose values have no step.
const STEPLESS: [&str; 9] =
    ["json", "keyValue", "openMetrics", "file", "process", "duration", "node", "trials", "prometheus"];

fn direction(better: wire::Better) -> Direction {
    match better {
        wire::Better::Higher => Direction::Higher,
        wire::Better::Lower => Direction::Lower,
    }
}

/// Returns the metrics of `spec`, reporting names that are missing.
pub(super) fn metrics(
    wires: &[wire::Metric],
    spec: &Node,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Vec<Metric> {
    let nodes = spec.items_of("metrics");
    check_patterns(wires, nodes, diagnostics);
    let mut metrics = Vec::new();
    for (wire, node) in wires.iter().zip(nodes) {
        let span = node.get("name").map_or(node.span, |name| name.span);
        let preset = preset_of(wire, node, diagnostics);
        let is_named = wire.name.is_some() || preset.is_some();
        if !is_named && wire.from.tool.is_none() && !names_preset(wire) {
            let fault = Diagnostic::at(&code::KB0202, node.span, "this metric needs the field `name`");
            diagnostics.push(
                fault
                    .note("only metrics of a tool or of a Prometheus preset have names of their own")
                    .help("add `name: …`"),
            );
        }
        check_sources(wire, node, diagnostics);
        metrics.push(Metric {
            name: wire.name.clone().or_else(|| preset.map(|preset| preset.name.to_owned())),
            span,
            unit: wire.unit.as_ref().map(|unit| unit.0.clone()).or_else(|| Some(preset?.unit.to_owned())),
            unit_span: node.get("unit").map(|unit| unit.span),
            own_unit: source_unit::of(&wire.from),
            direction: wire.better.or_else(|| Some(preset?.better)).map(direction),
            primary: wire.primary.is_some_and(|flag| flag.0),
            tool: wire.from.tool.as_ref().map(|tool| ToolMetrics {
                tool: tool.name.clone(),
                span: tool_node(node).and_then(|tool| tool.get("name")).map_or(node.span, |name| name.span),
                names: tool.metrics.as_ref().map(|names| {
                    let spans = tool_node(node).and_then(|tool| tool.get("metrics")).map(Node::items);
                    names.iter().cloned().zip(spans.into_iter().flatten().map(|name| name.span)).collect()
                }),
                renamed: tool_node(node)
                    .and_then(|tool| tool.get("rename"))
                    .map(Node::entries)
                    .unwrap_or_default()
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.key_span))
                    .collect(),
                naming: Naming::of(tool),
            }),
            file_span: node
                .get("from")
                .and_then(|from| from.entries().first())
                .and_then(|source| source.value.get("file").or_else(|| source.value.get("path")))
                .map(|file| file.span),
            is_needed: [wire.primary, wire.required].into_iter().flatten().any(|flag| flag.0),
            role: of_log(node, "role").and_then(|role| Some((role.as_text()?.to_owned(), role.span))),
            index: index_of(&wire.from).zip(of_log(node, "index")).map(|(index, node)| (index, node.span)),
            stepless_window: stepless_window(wire, node),
            narrow: narrow_pattern(wire, node, sources),
            duration: node
                .get("from")
                .and_then(|from| from.get("duration"))
                .and_then(|word| Some((word.as_text()?.to_owned(), word.span))),
            of_part: of_part(node),
        });
    }
    metrics
}

/// Reports patterns that are too large together, at the largest.
fn check_patterns(wires: &[wire::Metric], nodes: &[Node], diagnostics: &mut Diagnostics) {
    let Err(fault) = pattern_budget::check(wires) else { return };
    let node = nodes.get(fault.metric).expected("a node of each metric");
    let of = |source: &str, field: &str| node.get("from")?.get(source)?.get(field);
    let span = of("log", "pattern").or_else(|| of("keyValue", "key")).map_or(node.span, |text| text.span);
    diagnostics.push(
        Diagnostic::at(&code::KB0314, span, fault.to_string())
            .note(format!("{}; a step of the run compiles all patterns", fault.largest()))
            .help(fault.help()),
    );
}

fn names_preset(wire: &wire::Metric) -> bool {
    wire.from.prometheus.as_ref().is_some_and(|source| source.preset.is_some())
}

/// Returns the preset that a metric names, reporting one that does not exist and one next to a query.
fn preset_of(wire: &wire::Metric, node: &Node, diagnostics: &mut Diagnostics) -> Option<&'static Preset> {
    let source = wire.from.prometheus.as_ref()?;
    let of = |field: &str| node.get("from")?.get("prometheus")?.entry(field);
    let Some(name) = &source.preset else {
        if source.query.is_none() {
            let span =
                node.get("from").and_then(|from| from.entry("prometheus")).map_or(node.span, |entry| entry.key_span);
            let fault = Diagnostic::at(&code::KB0207, span, "`prometheus` takes exactly one of `query` and `preset`");
            diagnostics
                .push(fault.help("write a query, or the name of one that Kubebench knows: `preset: dcgm-energy`"));
        }
        return None;
    };
    if let (Some(_), Some(entry)) = (&source.query, of("query")) {
        let message = format!("the preset `{name}` is already a query, so `query` would be ignored");
        diagnostics
            .push(Diagnostic::at(&code::KB0207, entry.key_span, message).help("keep one of `query` and `preset`"));
    }
    let found = preset::preset(name);
    if found.is_none() {
        let names = || PRESETS.iter().map(|preset| preset.name);
        let span = of("preset").map_or(node.span, |entry| entry.value.span);
        let fault = Diagnostic::at(&code::KB0369, span, format!("there is no preset `{name}`"));
        diagnostics.push(match did_you_mean(name, names()) {
            Some(close) => fault.did_you_mean(span, close),
            None => {
                fault.help(format!("write a `query` of your own, or one of {}", names().collect::<Vec<_>>().join(", ")))
            }
        });
    }
    found
}

fn tool_node(metric: &Node) -> Option<&Node> {
    metric.get("from")?.get("tool")
}

/// Returns what a metric says of the log that it is read from.
fn of_log<'n>(metric: &'n Node, key: &str) -> Option<&'n Node> {
    ["log", "keyValue", "tool"].into_iter().find_map(|source| metric.get("from")?.get(source)?.get(key))
}

/// Returns the node or the metric of trials that a metric is read from.
fn of_part(metric: &Node) -> Option<(Part, Span)> {
    let from = metric.get("from")?;
    let of = |source: &str, field: &str| {
        let said = from.get(source)?.get(field)?;
        Some((said.as_text()?.to_owned(), said.span))
    };
    let node = of("node", "name").map(|(name, span)| (Part::Node(name), span));
    node.or_else(|| of("trials", "metric").map(|(name, span)| (Part::Trials(name), span)))
}

fn index_of(from: &wire::Source) -> Option<u32> {
    let wire::Source { log, key_value, tool, .. } = from;
    let of_log = log.as_ref().and_then(|log| log.index);
    let of_key = || key_value.as_ref().and_then(|key| key.index);
    let of_tool = || tool.as_ref().and_then(|tool| tool.index);
    of_log.or_else(of_key).or_else(of_tool).map(|index| index.0)
}

/// Returns the source and the place of a window that counts steps, if the source has no steps. What is next to a value in a
/// table, and what a tool prints, is known only at the end of a run.
fn stepless_window(wire: &wire::Metric, node: &Node) -> Option<(&'static str, Span)> {
    wire.window.as_ref()?.steps.as_ref()?;
    let source = match &wire.from.log {
        Some(log) => (!pattern::has_step(&log.pattern)).then_some("log")?,
        None => STEPLESS.into_iter().find(|source| node.get("from").is_some_and(|from| from.get(source).is_some()))?,
    };
    Some((source, node.get("window")?.span))
}

/// Returns what is narrow about the pattern of a metric, and how it is written in `source` with a wider group.
fn narrow_pattern(wire: &wire::Metric, node: &Node, sources: &SourceMap) -> Option<NarrowPattern> {
    let pattern = &wire.from.log.as_ref()?.pattern;
    let narrow = narrow(pattern)?;
    let span = node.get("from")?.get("log")?.get("pattern")?.span;
    let written = sources.slice(span);
    let rewritten = if written == pattern {
        // Without quotes, or in a block: brackets that were not there could end it.
        (pattern.contains('[') || !narrow.widened.contains('[')).then(|| narrow.widened.clone())
    } else {
        let is_quoted = written.starts_with(['\'', '"']) && !written.contains('\n');
        is_quoted.then(|| format!("'{}'", narrow.widened.replace('\'', "''")))
    };
    let rewritten = rewritten.filter(|text| !text.contains(char::is_control));
    Some(NarrowPattern { narrow, span, rewritten })
}

/// Reports labels that the tool gives its metrics itself.
fn check_labels(wire: &wire::Metric, node: &Node, diagnostics: &mut Diagnostics) {
    let known = wire.from.tool.as_ref().and_then(|tool| kubebench_extract::tool::tool(&tool.name));
    let Some((tool, labels)) = known.zip(tool_node(node).and_then(|tool| tool.get("labels"))) else { return };
    for entry in labels.entries() {
        if tool.labels.iter().any(|own| own.name == entry.key) {
            let message = format!("`{}` sets the label `{}` itself", tool.name, entry.key);
            let fault = Diagnostic::at(&code::KB0207, entry.key_span, message).note(
                "the value written here would replace the tool's value, and would merge series that differ in it",
            );
            diagnostics.push(fault.help("give this label another name"));
        }
    }
}

fn check_sources(wire: &wire::Metric, node: &Node, diagnostics: &mut Diagnostics) {
    if let Some(source) = &wire.from.open_metrics
        && source.file.is_some() == source.url.is_some()
    {
        let span =
            node.get("from").and_then(|from| from.entry("openMetrics")).map_or(node.span, |entry| entry.key_span);
        diagnostics.push(
            Diagnostic::at(&code::KB0207, span, "`openMetrics` takes exactly one of `file` and `url`")
                .help("keep one of them"),
        );
    }
    if let Some(tool) = &wire.from.tool
        && tool.file.is_some()
        && let Some(entry) = ["role", "index"].into_iter().find_map(|key| tool_node(node)?.entry(key))
    {
        let message = format!("`{}` selects a log, but `file` reads a file", entry.key);
        diagnostics.push(
            Diagnostic::at(&code::KB0207, entry.key_span, message)
                .note("the output of a tool is read from one place")
                .help("keep `file`, or name the log by `role` and `index`"),
        );
    }
    check_labels(wire, node, diagnostics);
    if let (Some(_), Some(tool)) = (&wire.name, &wire.from.tool)
        && let Some(known) = kubebench_extract::tool::tool(&tool.name)
    {
        let span = node.entry("name").map_or(node.span, |entry| entry.key_span);
        let fault = Diagnostic::at(
            &code::KB0356,
            span,
            format!("the metrics of `{}` have fixed names, so `name` is not allowed", tool.name),
        )
        .note(known.what_it_brings());
        diagnostics.push(fault.help(match &tool.metrics {
            Some(_) => "delete `name`, and write the tool's names in gates, checks and fixtures",
            None => "delete `name`, and choose metrics by the tool's names: `tool: {metrics: […]}`",
        }));
    }
    if let (Some(_), Some(outer)) =
        (wire.from.tool.as_ref().and_then(|tool| tool.window.as_ref()), node.entry("window"))
    {
        diagnostics.push(
            Diagnostic::at(
                &code::KB0207,
                outer.key_span,
                "this metric has two windows, and the one in `tool` would be ignored",
            )
            .help("keep one of them"),
        );
    }
    let window = wire.window.as_ref().or(wire.from.tool.as_ref().and_then(|tool| tool.window.as_ref()));
    if let Some([from, to]) = window.and_then(|window| window.steps.as_deref())
        && from.0 > to.0
    {
        let span = node.get("window").map_or(node.span, |window| window.span);
        diagnostics.push(
            Diagnostic::at(&code::KB0206, span, format!("the range of steps from {} to {} is empty", from.0, to.0))
                .help("write the first step first"),
        );
    }
}

/// Returns the Prometheus queries of `spec`, and where they are written.
pub(super) fn queries(spec: &Node) -> Vec<(String, Span)> {
    let metrics = spec.items_of("metrics");
    let query = |metric: &Node| {
        let source = metric.get("from")?.get("prometheus")?;
        let named =
            source.get("preset").and_then(|name| Some((preset::preset(name.as_text()?)?.query.to_owned(), name.span)));
        named.or_else(|| source.get("query").and_then(|query| Some((query.as_text()?.to_owned(), query.span))))
    };
    metrics.iter().filter_map(query).collect()
}

/// Returns the uses of metric names in fixtures.
pub(super) fn references_of(spec: &Node) -> impl Iterator<Item = MetricReference> {
    let fixtures = spec.items_of("fixtures");
    let expected = fixtures.iter().filter_map(|fixture| fixture.get("expect")).flat_map(Node::entries);
    expected.map(|entry| MetricReference { name: entry.key.clone(), span: entry.key_span, by: "fixture" })
}

/// Returns the uses of metric names in checks and gates, reporting those that check or decide nothing.
pub(super) fn references(
    metrics: &[wire::Metric],
    checks: &[wire::Check],
    gates: &[wire::Gate],
    spec: &Node,
    diagnostics: &mut Diagnostics,
) -> Vec<MetricReference> {
    let items = |list: &str| spec.items_of(list);
    let span_of = |node: &Node| node.get("metric").map_or(node.span, |metric| metric.span);
    let mut references = Vec::new();
    for (wire, node) in checks.iter().zip(items("checks")) {
        let bounds = wire.finite.is_some() || wire.min.is_some() || wire.max.is_some();
        if let Some(name) = &wire.metric {
            references.push(MetricReference { name: name.clone(), span: span_of(node), by: "check" });
        }
        if let (Some(_), Some(entry)) = (&wire.failed_requests, node.entry("failedRequests")) {
            check_attempts(metrics, entry.key_span, diagnostics);
        }
        if let (Some(cautions), Some(entry)) = (&wire.cautions, node.entry("cautions")) {
            check_cautions(metrics, cautions, entry.key_span, diagnostics);
        }
        let of_run = [wire.restarts.is_some(), wire.failed_requests.is_some(), wire.cautions.is_some()];
        let of_run = of_run.into_iter().filter(|is| *is).count();
        let complaint = match (&wire.metric, bounds, of_run) {
            (Some(_), true, 0) | (None, false, 1) => continue,
            (Some(_), false, 0) => "this check has no condition for its metric",
            (None, true, _) => "this check names no metric",
            (Some(_), ..) => "`restarts`, `failedRequests` and `cautions` are about the run, not about a metric",
            (None, false, 0) => "this check checks nothing",
            (None, false, _) => "this check checks two things; write two checks",
        };
        let help = "write `{metric: NAME, finite: true}`, `{metric: NAME, min: …, max: …}`, `{restarts: 0}`, \
                    `{failedRequests: {max: 1%}}` or `{cautions: {forbid: [debugBuild]}}`";
        diagnostics.push(Diagnostic::at(&code::KB0207, node.span, complaint).help(help));
    }
    for (wire, node) in gates.iter().zip(items("gates")) {
        references.push(MetricReference { name: wire.metric.clone(), span: span_of(node), by: "gate" });
    }
    references
}

/// Reports a limit on failed requests where no tool counts any.
fn check_attempts(metrics: &[wire::Metric], span: Span, diagnostics: &mut Diagnostics) {
    let tools = || metrics.iter().filter_map(|metric| metric.from.tool.as_ref());
    // An unknown tool is another finding.
    let may_count = |name: &str| kubebench_extract::tool::tool(name).is_none_or(|tool| tool.attempts.is_some());
    if !tools().any(|tool| may_count(&tool.name)) {
        let known: Vec<&str> = kubebench_extract::tool::TOOLS
            .iter()
            .filter(|tool| tool.attempts.is_some())
            .map(|tool| tool.name)
            .collect();
        diagnostics.push(
            Diagnostic::at(&code::KB0313, span, "no metric of this benchmark counts failed requests")
                .note("every run would be invalid")
                .help(format!("read one of {} with `from: {{tool: …}}`, or delete the check", known.join(", "))),
        );
    }
}

/// Reports a check that forbids what no tool of this benchmark could say: it would always pass.
fn check_cautions(metrics: &[wire::Metric], cautions: &wire::Cautions, span: Span, diagnostics: &mut Diagnostics) {
    let tools = || metrics.iter().filter_map(|metric| metric.from.tool.as_ref());
    for caution in &cautions.forbid {
        // An unknown tool is another finding.
        let may_say =
            |name: &str| kubebench_extract::tool::tool(name).is_none_or(|tool| tool.cautions.contains(caution));
        if tools().any(|tool| may_say(&tool.name)) {
            continue;
        }
        let known = kubebench_extract::tool::TOOLS.iter().filter(|tool| tool.cautions.contains(caution));
        let known: Vec<&str> = known.map(|tool| tool.name).collect();
        let message = format!("no metric of this benchmark comes from a tool that reports `{}`", caution.name());
        diagnostics.push(
            Diagnostic::at(&code::KB0313, span, message).note("the check would always pass").help(format!(
                "read {} with `from: {{tool: …}}`, or leave `{}` out",
                known.join(" or "),
                caution.name()
            )),
        );
    }
}

/// Returns the fixtures of `spec`.
pub(super) fn fixtures(wires: Vec<fixture::Fixture>, spec: &Node) -> Vec<Fixture> {
    let nodes = spec.items_of("fixtures");
    let lowered = wires.into_iter().zip(nodes).map(|(wire, node)| {
        let span_of =
            |metric: &str| node.get("expect").and_then(|expect| expect.get(metric)).map_or(node.span, |node| node.span);
        let expect = wire.expect.into_iter().map(|(metric, fixture::Expected(value))| {
            let span = span_of(&metric);
            (metric, Expectation { value, span })
        });
        Fixture {
            log_span: node.get("log").map_or(node.span, |log| log.span),
            expect: expect.collect(),
            log: wire.log.0,
        }
    });
    lowered.collect()
}
