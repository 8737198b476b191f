//! Documentation of the tools, for people: in the terminal, and as a document.

use super::{TOOLS, Tool, ToolMetric};
use kubebench_format::spec::v1::metric::Better;

/// How forms of names are read.
const LEGEND: &str = "In names, `{N}` is a number, `{location}` is `mean`, `avg`, `median`, `min`, `max` or a percentile such as `p99`, \
                      `{one|other}` is one of these, and any other word in braces is a text of the output.";

/// Returns one line for each tool.
pub fn list() -> String {
    let width = TOOLS.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
    TOOLS.iter().map(|tool| format!("{:<width$}  {}\n", tool.name, tool.reads)).collect()
}

impl Tool {
    /// Returns what it reads, what it reports, and how a spec requests that.
    pub fn page(&self) -> String {
        let mut page = format!(
            "{}: {}\n\nversions read: {}\ndescribed by:  {}\n\n    from: {{tool: {}}}\n\n",
            self.name, self.reads, self.versions, self.source, self.example
        );
        let head = ["METRIC", "UNIT", "BETTER", "WHAT IT IS"].map(str::to_owned);
        let rows = self.shown().map(|metric| {
            [names(metric), unit(metric).to_owned(), better(metric).to_owned(), metric.meaning.to_owned()]
        });
        page.push_str(&columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
        for said in self.failures().into_iter().chain(self.cautioned()) {
            page.push_str(&format!("\n{said}\n"));
        }
        if !self.labels.is_empty() {
            let head = ["LABEL", "WHAT IT SAYS"].map(str::to_owned);
            let rows = self.labels.iter().map(|label| [label.name, label.meaning].map(str::to_owned));
            page.push('\n');
            page.push_str(&columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
        }
        if !self.is_fixed() {
            page.push_str(&format!("\n{LEGEND}\n"));
        }
        page
    }

    /// Returns which metrics a tool reports: their names, and the forms of those whose names its output completes.
    pub fn what_it_brings(&self) -> String {
        let metrics = (self.metrics)();
        let names = |is_open: bool| -> Vec<&str> {
            metrics.iter().filter(|metric| metric.is_open() == is_open).map(|metric| metric.name).collect()
        };
        let (fixed, open) = (names(false), names(true));
        let more = format!("`kubebench explain tool.{}` says more", self.name);
        match (fixed.as_slice(), open.as_slice()) {
            (_, []) => format!("its metrics are {}", fixed.join(", ")),
            ([], _) => format!("its metrics have the form {}; {more}", open.join(", ")),
            _ => format!("its metrics are {}, and of the form {}; {more}", fixed.join(", "), open.join(", ")),
        }
    }

    /// Says what a failure does.
    fn failures(&self) -> Option<String> {
        let what = self.attempts?;
        Some(format!(
            "Failed {what} make a run invalid, unless `checks: [{{failedRequests: {{max: 1%}}}}]` allows a share."
        ))
    }

    /// Says of what it warns.
    fn cautioned(&self) -> Option<String> {
        let names: Vec<String> = self.cautions.iter().map(|caution| format!("`{}`", caution.name())).collect();
        let first = self.cautions.first()?.name();
        Some(format!(
            "The tool may report a caution about a run: {}. The run counts, unless `checks: [{{cautions: {{forbid: [{first}]}}}}]` forbids it.",
            names.join(", ")
        ))
    }

    /// Returns the metrics that can be requested.
    fn shown(&self) -> impl Iterator<Item = &'static ToolMetric> {
        (self.metrics)().into_iter().filter(|metric| !metric.headlines.is_empty())
    }

    fn chapter(&self) -> String {
        let source =
            if self.source.starts_with("http") { format!("<{}>", self.source) } else { self.source.to_owned() };
        let mut chapter = format!(
            "\n## {}\n\nReads {}.\nVersions read: {}.\nDescribed by {source}.\n\n```yaml\nfrom: {{tool: {}}}\n```\n\n",
            self.name, self.reads, self.versions, self.example
        );
        chapter.push_str("| metric | unit | better | what it is |\n|---|---|---|---|\n");
        for metric in self.shown() {
            let names: Vec<String> =
                metric.headlines.iter().map(|of| cell(&format!("`{}{}`", metric.name, of.suffix))).collect();
            let unit = metric.unit.map_or_else(|| unit(metric).to_owned(), |unit| format!("`{unit}`"));
            chapter.push_str(&format!(
                "| {} | {unit} | {} | {} |\n",
                names.join(", "),
                better(metric),
                cell(metric.meaning)
            ));
        }
        for said in self.failures().into_iter().chain(self.cautioned()) {
            chapter.push_str(&format!("\n{said}\n"));
        }
        if !self.labels.is_empty() {
            chapter.push_str("\n| label | what it says |\n|---|---|\n");
            for label in self.labels {
                chapter.push_str(&format!("| `{}` | {} |\n", label.name, cell(label.meaning)));
            }
        }
        chapter
    }
}

/// Returns the document about all tools.
pub fn document() -> String {
    let chapters: String = TOOLS.iter().map(Tool::chapter).collect();
    format!(
        "# Tools\n\n<!-- generated: SNAPSHOTS=overwrite cargo test --test it documented_tools -->\n\nThe metrics that Kubebench reads from the output of each tool, with their unit and direction, and the labels that separate metrics of one name.\nA spec asks for them with [`from: {{tool: …}}`](extraction.md#tools). `kubebench explain tool.NAME` prints one of the chapters.\n\n{LEGEND}\n{chapters}"
    )
}

fn names(metric: &ToolMetric) -> String {
    metric.headlines.iter().map(|headline| format!("{}{}", metric.name, headline.suffix)).collect::<Vec<_>>().join(", ")
}

fn unit(metric: &ToolMetric) -> &'static str {
    metric.unit.unwrap_or("as printed")
}

fn better(metric: &ToolMetric) -> &'static str {
    match metric.better {
        Some(Better::Higher) => "higher",
        Some(Better::Lower) => "lower",
        None => "–",
    }
}

/// A `|` ends a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or_default()).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
