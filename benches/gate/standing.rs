//! A change that one session hardly shows and that stays, and a slow-down that goes away again.

use kubebench_results::verdict::baseline;

use super::noise::{NOISES, Noise, Numbers, Session, median, sessions, slower};
use super::{POLICY, gate_with, in_parallel, percent};

/// Sessions before the change.
const BEFORE: usize = 50;
/// The sessions after the change at which the gate is looked at.
const LOOKS: [usize; 5] = [1, 5, 10, 20, 30];
/// The noises, by their places in [`NOISES`], and the change.
const CHANGES: [(usize, f64); 9] =
    [(0, 0.025), (1, 0.03), (1, 0.04), (1, 0.05), (1, 0.08), (5, 0.05), (5, 0.08), (8, 0.1), (8, 0.2)];

/// What the gate says of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Red,
    Pending,
    Green,
}

fn said(values: &[f64], new: f64) -> Said {
    let gated = gate_with(&baseline(values, POLICY, &[]), values, &[new], &[], POLICY);
    match (gated.fails, gated.is_pending) {
        (true, _) => Said::Red,
        (false, true) => Said::Pending,
        (false, false) => Said::Green,
    }
}

/// Returns what the gate says of each of the sessions from `first` on.
fn all_said(all: &[Session], change: impl Fn(usize) -> f64, first: usize) -> Vec<Said> {
    let values: Vec<f64> = all.iter().enumerate().map(|(at, session)| median(&slower(session, change(at)))).collect();
    (first..values.len()).map(|at| said(&values[..at], values[at])).collect()
}

/// Prints what became of `series` series a row.
pub(super) fn print(series: usize) {
    let rows = in_parallel(&CHANGES, |(noise, change)| standing(NOISES[*noise], *change, series));
    println!(
        "\nA change that stays after {BEFORE} sessions, {series} series a row: % of gates that are red (pending)\n"
    );
    let looks = LOOKS.map(|look| look.to_string()).join(" | ");
    println!("| noise | slower by | {looks} | red, and plainly green later |");
    println!("|---|--:|{}--:|", "--:|".repeat(LOOKS.len()));
    for ((noise, change), (looks, flapping)) in CHANGES.iter().zip(rows) {
        let looks: Vec<String> = looks
            .iter()
            .map(|(red, pending)| format!("{:.1} ({:.1})", percent(*red, series), percent(*pending, series)))
            .collect();
        let (name, flapping) = (NOISES[*noise].name, percent(flapping, series));
        println!("| {name} | {:.1} | {} | {flapping:.1} |", change * 100.0, looks.join(" | "));
    }
    let places: Vec<usize> = (0..NOISES.len()).collect();
    let rows = in_parallel(&places, |noise| [2, 9].map(|slow| recovered(NOISES[*noise], slow, series)));
    println!(
        "\nSlower by 20 % for a while, after 20 sessions, {series} series a row: % of gates that are red (pending)\n"
    );
    println!("| noise | 4 sessions after 2 slow ones | 4 sessions after 9 slow ones |");
    println!("|---|--:|--:|");
    for (noise, row) in NOISES.iter().zip(rows) {
        let [two, nine] =
            row.map(|(red, pending)| format!("{:.1} ({:.1})", percent(red, series), percent(pending, series)));
        println!("| {} | {two} | {nine} |", noise.name);
    }
}

fn standing(noise: Noise, change: f64, series: usize) -> ([(usize, usize); LOOKS.len()], usize) {
    let mut row = ([(0, 0); LOOKS.len()], 0);
    for at in 0..series as u64 {
        let all = sessions(noise, &mut Numbers(0x57a4_d146 << 32 | at), BEFORE + LOOKS[LOOKS.len() - 1]);
        let said = all_said(&all, |at| if at < BEFORE { 0.0 } else { change }, BEFORE);
        for (look, (red, pending)) in LOOKS.iter().zip(&mut row.0) {
            *red += usize::from(said[look - 1] == Said::Red);
            *pending += usize::from(said[look - 1] == Said::Pending);
        }
        let red = said.iter().position(|said| *said == Said::Red);
        row.1 += usize::from(red.is_some_and(|red| said[red..].contains(&Said::Green)));
    }
    row
}

fn recovered(noise: Noise, slow: usize, series: usize) -> (usize, usize) {
    const BEFORE: usize = 20;
    const AFTER: usize = 4;
    let mut row = (0, 0);
    for at in 0..series as u64 {
        let all = sessions(noise, &mut Numbers(0x4ec0_7e4e << 32 | at), BEFORE + slow + AFTER);
        let is_slow = |at: usize| (BEFORE..BEFORE + slow).contains(&at);
        let last = all_said(&all, |at| if is_slow(at) { 0.2 } else { 0.0 }, BEFORE + slow + AFTER - 1)[0];
        row.0 += usize::from(last == Said::Red);
        row.1 += usize::from(last == Said::Pending);
    }
    row
}
