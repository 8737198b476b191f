//! github-action-benchmark: a file for `customSmallerIsBetter` and one for `customBiggerIsBetter`.

use std::io;

use serde_json::{Value as Json, json};

use super::latest::Latest;
use super::omissions::Omissions;
use super::text::number;
use super::{Exporter, Folder};
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::Direction;
use kubebench_syntax::words::counted;

/// The file of metrics of which less is better.
const SMALLER: &str = "smaller-is-better.json";
/// The file of metrics of which more is better.
const BIGGER: &str = "bigger-is-better.json";

pub(super) struct Github {
    folder: Box<dyn Folder>,
    latest: Latest,
    left: Omissions,
}

impl Github {
    pub(super) fn new(folder: Box<dyn Folder>) -> Self {
        Self { folder, latest: Latest::default(), left: Omissions::default() }
    }
}

impl Exporter for Github {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        self.left.samples(result);
        self.latest.add(result);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        let (mut smaller, mut bigger) = (Vec::new(), Vec::new());
        for (place, last) in &self.latest.places {
            for (key, measured) in &last.metrics {
                let file = match measured.direction {
                    Direction::Lower => &mut smaller,
                    Direction::Higher => &mut bigger,
                    Direction::None => {
                        self.left.add("metrics without a direction", 1);
                        continue;
                    }
                };
                let Some(value) = measured.median() else {
                    self.left.add("metrics without a value", 1);
                    continue;
                };
                let unit = key.unit.as_deref().unwrap_or("1");
                let mut entry = json!({
                    "name": format!("{}: {}", last.name(place), key.shown()),
                    "unit": unit,
                    "value": value,
                    "extra": extra(measured.runs(), &last.run),
                });
                if let (Some((least, most)), Some(entry)) = (measured.range(), entry.as_object_mut()) {
                    entry.insert("range".to_owned(), format!("{} … {}", number(least), number(most)).into());
                }
                file.push(entry);
            }
        }
        for (name, entries) in [(SMALLER, smaller), (BIGGER, bigger)] {
            let text = format!("{:#}\n", Json::Array(entries));
            self.folder.put(name, text.as_bytes())?;
        }
        Ok(self.left)
    }
}

/// What the chart shows next to a point.
fn extra(runs: usize, run: &BenchmarkResult) -> String {
    let commit = run.source.commit.as_deref().unwrap_or("unknown");
    format!(
        "median of {}\nsession {} of {}\ncommit {commit}",
        counted(runs, "run"),
        run.run.session,
        run.run.started_at
    )
}
