//! Horovod's synthetic benchmarks, and those that copied their output: BytePS, BlueFog, Bagua, Ray.
//!
//! ```text
//! Iter #0: 301.2 img/sec per GPU
//! Img/sec per GPU: 300.1 +-2.3
//! Total img/sec on 4 GPU(s): 1200.4 +-9.2
//! ```
//! `+-` is 1.96 times the standard deviation *of the iterations*: no confidence interval of the mean. Bagua's iterations say
//! `img/sec GPU`, without `per`, and are totals of all GPUs. Some forks count a warm-up as the first iteration.
//! On other devices names say `cpu` or what the device is called.

use std::collections::BTreeMap;

use super::{Line, LineParser, Lines, Report, Tool, ToolMetric, fixed_on, higher, plain, read_on, sample_on};
use crate::number;
use crate::tool::Headline;
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "horovod",
    reads: "the lines `Total img/sec on N GPU(s): …`, `Img/sec per GPU: …` and `Iter #N: …` of its synthetic benchmarks",
    source: "https://github.com/horovod/horovod/blob/master/examples/pytorch/pytorch_synthetic_benchmark.py",
    lines: Some(Lines { needles: &["img/sec", "Img/sec per "], parser: || Box::new(Parser) }),
    document: None,
    versions: "Horovod's scripts, Ray's and Bagua's",
    metrics: || vec![&TOTAL, &TOTAL_SPREAD, &MEAN_SPREAD, &MEAN, &ITERATION, &ITERATION_TOTAL, &DEVICES],
    labels: &[],
    example: "{name: horovod, metrics: [total_img_per_sec]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static TOTAL: ToolMetric = higher("total_img_per_sec", "images/s", "images a second of all devices");
static TOTAL_SPREAD: ToolMetric =
    plain("total_img_per_sec_pm", "images/s", "1.96 times the standard deviation of the iterations");
static MEAN: ToolMetric = higher("img_per_sec_per_{device}", "images/s", "images a second of a device");
static MEAN_SPREAD: ToolMetric =
    plain("img_per_sec_per_{device}_pm", "images/s", "1.96 times the standard deviation of the iterations");
static ITERATION: ToolMetric =
    higher("iter_img_per_sec_per_{device}", "images/s", "images a second of a device, iteration by iteration")
        .of(MEDIAN);
static ITERATION_TOTAL: ToolMetric =
    higher("iter_total_img_per_sec", "images/s", "the same of all devices, as Bagua prints it").of(MEDIAN);
static DEVICES: ToolMetric = plain("{device}s", "1", "how many devices there were, such as `gpus`");

const MEDIAN: &[Headline] = &[Headline::of("_median", Reduce::Median)];

struct Parser;

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let text = line.text;
        if let Some((_, rest)) = text.split_once("Iter #") {
            iteration(rest, line, report);
        } else if let Some((_, rest)) = text.split_once("Total img/sec on ") {
            total(rest, line, report);
        } else if let Some((device, values)) =
            text.split_once("Img/sec per ").and_then(|(_, rest)| rest.split_once(':'))
        {
            let name = format!("img_per_sec_per_{}", name_of(device));
            mean([&MEAN, &MEAN_SPREAD], &name, values, line, report);
        }
    }
}

/// `0: 301.2 img/sec per GPU`
fn iteration(text: &str, line: &Line<'_>, report: &mut Report) {
    let Some((step, rest)) = text.split_once(':') else { return };
    let mut words = rest.split_whitespace();
    let (Some(value), Some("img/sec")) = (words.next(), words.next()) else { return };
    // No device has a shorter name: the line was cut off.
    let mut words = words.filter(|word| word.len() > 2);
    let (metric, name) = match (words.next(), words.next()) {
        (Some("per"), Some(device)) => (&ITERATION, format!("iter_img_per_sec_per_{}", name_of(device))),
        (Some("per"), None) | (None, _) => return,
        (Some(_), _) => (&ITERATION_TOTAL, ITERATION_TOTAL.name.to_owned()),
    };
    report.push_named(metric, &name, &BTreeMap::new(), read_on(line, step.trim().parse().ok(), value));
}

/// `4 GPU(s): 1200.4 +-9.2`
fn total(text: &str, line: &Line<'_>, report: &mut Report) {
    let Some((devices, values)) = text.split_once(':') else { return };
    let Some((count, device)) = devices.trim().split_once(' ') else { return };
    mean([&TOTAL, &TOTAL_SPREAD], TOTAL.name, values, line, report);
    if let Ok(count) = number::parse(count) {
        let name = format!("{}s", name_of(device));
        report.push_named(&DEVICES, &name, &BTreeMap::new(), sample_on(line, None, count));
    }
}

/// `300.1 +-2.3`
fn mean(metrics: [&'static ToolMetric; 2], name: &str, values: &str, line: &Line<'_>, report: &mut Report) {
    let [metric, spread] = metrics;
    let mut words = values.split_whitespace();
    let value = fixed_on(line, None, words.next().unwrap_or_default(), 1);
    report.push_named(metric, name, &BTreeMap::new(), value);
    if let Some(text) = words.next().and_then(|word| word.strip_prefix("+-")) {
        report.push_named(spread, &format!("{name}_pm"), &BTreeMap::new(), fixed_on(line, None, text, 1));
    }
}

/// `GPU(s)` is `gpu`.
fn name_of(device: &str) -> String {
    device.trim().trim_end_matches("(s)").chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}
