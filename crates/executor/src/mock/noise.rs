//! Noise that is the same each time: numbers that follow from a seed and a place.

use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

/// Noise of one series.
pub(super) struct Noise(u64);

impl Noise {
    /// Returns the noise of the series that `names` name.
    pub(super) fn new(seed: u64, names: &[&str]) -> Self {
        let digest = Digest::of_fields(names.iter().copied().chain([seed.to_string().as_str()])).hex();
        Self(digest.get(..16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).expected("hex digits of a digest"))
    }

    /// Returns a number that is about normal, with mean 0 and deviation 1: twelve uniform ones, added (Irwin–Hall).
    pub(super) fn at(&self, session: u32, repeat: u32) -> f64 {
        let mut state = self.0 ^ (u64::from(session) << 32 | u64::from(repeat)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0
    }
}

/// `SplitMix64` (Steele, Lea & Flood 2014), as a number from 0 to 1.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}
