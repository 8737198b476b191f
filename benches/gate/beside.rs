//! Changes that stay, compared with Apache Otava and asv: the programs themselves, at their defaults, on the same histories.
//!
//! `KUBEBENCH_PYTHON` names a Python that has both (`pip install -r benches/gate/beside.txt`).

#![expect(clippy::disallowed_methods, reason = "a benchmark that asks other programs")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use kubebench_format::result::v1::Direction;
use kubebench_results::verdict::{DEFAULT_THRESHOLD, Policy, baseline};
use serde::{Deserialize, Serialize};

use super::noise::Numbers;
use super::{gate_with, in_parallel, percent};

/// Sessions of the change after which all look.
const LOOKS: [usize; 2] = [10, 20];

#[derive(Clone, Copy)]
struct Cell {
    /// The standard deviation of sessions, in percent.
    noise: u32,
    shape: Shape,
    before: usize,
    direction: Direction,
    /// By how much worse, in tenths of a percent.
    change: u32,
}

#[derive(Clone, Copy)]
enum Shape {
    Normal,
    Laplace,
}

/// What Python is asked: series in which a regression begins.
#[derive(Serialize)]
struct Question {
    before: usize,
    looks: [usize; 2],
    is_better_higher: bool,
    series: Vec<Vec<f64>>,
}

/// How many series are red at each look.
#[derive(Deserialize)]
struct Answer {
    otava: [usize; 2],
    asv: [usize; 2],
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (noise, changes) in [(1, &[25][..]), (2, &[35]), (3, &[40, 50])] {
        for change in changes {
            for shape in [Shape::Normal, Shape::Laplace] {
                for before in [35, 50, 60] {
                    let cell = |direction| Cell { noise, shape, before, direction, change: *change };
                    cells.extend([Direction::Higher, Direction::Lower].map(cell));
                }
            }
        }
    }
    cells
}

/// Returns histories in which the change stays, to the digits that results have, so that every machine asks the same.
fn histories(cell: Cell, count: usize) -> Vec<Vec<f64>> {
    let noise = f64::from(cell.noise) / 100.0;
    let worse = 1.0 - f64::from(cell.change) / 1000.0;
    let seed = u64::from(cell.noise) << 56 | u64::from(cell.change) << 40 | (cell.before as u64) << 32;
    let one = |at: usize| {
        let mut numbers = Numbers(seed | at as u64);
        let value = |session: usize| {
            let level = if session < cell.before { 100.0 } else { 100.0 * worse };
            let value = level * (noise * cell.shape.number(&mut numbers)).exp();
            let value = if cell.direction == Direction::Lower { 1e4 / value } else { value };
            (value * 1e6).round() / 1e6
        };
        (0..cell.before + LOOKS[1]).map(value).collect()
    };
    (0..count).map(one).collect()
}

impl Shape {
    /// Returns a number with a standard deviation of 1.
    fn number(self, numbers: &mut Numbers) -> f64 {
        match self {
            Self::Normal => numbers.normal(),
            Self::Laplace => {
                let share = numbers.share() - 0.5;
                -share.signum() * (1.0 - 2.0 * share.abs()).ln() / 2.0_f64.sqrt()
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Laplace => "Laplace",
        }
    }
}

/// Returns how many series are red at each look.
fn red(cell: Cell, series: &[Vec<f64>]) -> [usize; 2] {
    let policy = Policy { direction: cell.direction, threshold: DEFAULT_THRESHOLD };
    LOOKS.map(|look| {
        let is_red = |values: &&Vec<f64>| {
            let (new, earlier) = values[..cell.before + look].split_last().expect("sessions");
            gate_with(&baseline(earlier, policy, &[]), earlier, &[*new], &[], policy).fails
        };
        series.iter().filter(is_red).count()
    })
}

/// Asks the other programs, all cells at once.
fn others(python: &str, questions: &[Question]) -> Vec<Answer> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/gate/beside.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a Python by KUBEBENCH_PYTHON");
    let asked = serde_json::to_vec(questions).expect("numbers");
    child.stdin.take().expect("a pipe").write_all(&asked).expect("a Python that reads");
    let output = child.wait_with_output().expect("a Python that ends");
    assert!(output.status.success(), "Otava and asv: pip install -r benches/gate/beside.txt");
    serde_json::from_slice(&output.stdout).expect("an answer for each question")
}

/// Prints how often each is red, of `series` series a row.
pub(super) fn print(series: usize) {
    let python = std::env::var("KUBEBENCH_PYTHON").expect("KUBEBENCH_PYTHON: a Python with Otava and asv");
    let cells = cells();
    let all = in_parallel(&cells, |cell| histories(*cell, series));
    let question = |(cell, series): (&Cell, &Vec<Vec<f64>>)| Question {
        before: cell.before,
        looks: LOOKS,
        is_better_higher: cell.direction == Direction::Higher,
        series: series.clone(),
    };
    let answers = others(&python, &cells.iter().zip(&all).map(question).collect::<Vec<_>>());
    let jobs: Vec<(Cell, &Vec<Vec<f64>>)> = cells.iter().copied().zip(&all).collect();
    let ours = in_parallel(&jobs, |(cell, series)| red(*cell, series));
    println!(
        "Changes that stay, one value a session, {series} series a row: % of gates that are red 10 and 20 sessions on\n"
    );
    println!("| noise | slower by | sessions before | better | kubebench | Otava | asv |");
    println!("|---|--:|--:|---|--:|--:|--:|");
    for ((cell, ours), other) in cells.iter().zip(ours).zip(answers) {
        let shown = |red: [usize; 2]| red.map(|red| format!("{:.0}", percent(red, series))).join(" / ");
        let better = if cell.direction == Direction::Higher { "higher" } else { "lower" };
        println!(
            "| {} %, {} | {:.1} | {} | {better} | {} | {} | {} |",
            cell.noise,
            cell.shape.name(),
            f64::from(cell.change) / 10.0,
            cell.before,
            shown(ours),
            shown(other.otava),
            shown(other.asv)
        );
    }
}
