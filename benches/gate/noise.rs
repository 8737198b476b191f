//! Histories of sessions whose values are known to the last digit: noise by a generator of its own with fixed seeds.

use kubebench_stats::distribution::normal_quantile;
use kubebench_stats::{exp_m1, quantile};

/// Runs of a session.
pub(super) const RUNS: usize = 5;

/// How sessions and their runs vary.
#[derive(Clone, Copy)]
pub(super) struct Noise {
    pub(super) name: &'static str,
    /// The standard deviation between sessions, and between the runs of one.
    pub(super) sessions: f64,
    pub(super) runs: f64,
    /// How much a session follows the one before it.
    pub(super) follows: f64,
    /// The share of sessions that are slower by 10 %.
    pub(super) stragglers: f64,
    /// Whether the goals are for it.
    pub(super) is_judged: bool,
}

pub(super) const PLAIN: Noise =
    Noise { name: "", sessions: 0.01, runs: 0.01, follows: 0.0, stragglers: 0.0, is_judged: true };

pub(super) const NOISES: [Noise; 13] = [
    Noise { name: "1 %", ..PLAIN },
    Noise { name: "3 %", sessions: 0.03, ..PLAIN },
    Noise { name: "8 %", sessions: 0.08, ..PLAIN },
    Noise { name: "1 %, runs 3 %", runs: 0.03, ..PLAIN },
    Noise { name: "1 %, AR(1) 0.5", follows: 0.5, ..PLAIN },
    Noise { name: "3 %, AR(1) 0.5", sessions: 0.03, follows: 0.5, ..PLAIN },
    Noise { name: "8 %, AR(1) 0.5", sessions: 0.08, follows: 0.5, ..PLAIN },
    Noise { name: "1 %, stragglers", stragglers: 0.1, ..PLAIN },
    Noise { name: "3 %, stragglers", sessions: 0.03, stragglers: 0.1, ..PLAIN },
    Noise { name: "8 %, stragglers", sessions: 0.08, stragglers: 0.1, ..PLAIN },
    Noise { name: "1 %, AR(1) 0.8", follows: 0.8, is_judged: false, ..PLAIN },
    Noise { name: "3 %, AR(1) 0.8", sessions: 0.03, follows: 0.8, is_judged: false, ..PLAIN },
    Noise { name: "8 %, AR(1) 0.8", sessions: 0.08, follows: 0.8, is_judged: false, ..PLAIN },
];

/// Vigna's SplitMix64.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1, and neither of them.
    pub(super) fn share(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(super) fn normal(&mut self) -> f64 {
        normal_quantile(self.share())
    }
}

pub(super) type Session = [f64; RUNS];

pub(super) fn median(session: &Session) -> f64 {
    quantile(session.iter().copied(), 0.5)
}

pub(super) fn medians(sessions: &[Session]) -> Vec<f64> {
    sessions.iter().map(median).collect()
}

/// Returns `count` sessions of a benchmark that did not change.
pub(super) fn sessions(noise: Noise, numbers: &mut Numbers, count: usize) -> Vec<Session> {
    let mut state = numbers.normal();
    let fresh = (1.0 - noise.follows * noise.follows).sqrt();
    (0..count)
        .map(|_| {
            state = noise.follows * state + fresh * numbers.normal();
            let straggles = numbers.share() < noise.stragglers;
            let level = noise.sessions * state;
            let factor = if straggles { 90.0 } else { 100.0 };
            [(); RUNS].map(|()| factor * (1.0 + exp_m1(level + noise.runs * numbers.normal())))
        })
        .collect()
}

pub(super) fn slower(session: &Session, change: f64) -> Session {
    session.map(|value| value * (1.0 - change))
}
