//! Units of metrics: which of them measure the same, and how one is converted into another.
//!
//! A prefix and a spelling are not what a unit measures: `us/iter` and `ns/iter`, `kB/s` and `MB/s`, `µs` and `usec` are
//! each one dimension. Prefixes are SI (`k` and `K` are 1000, so `kB` and `KB` are 1000 bytes) and binary with an `i`
//! (`KiB` is 1024 bytes); `b` are bits and `B` bytes. Every prefix goes with every unit: `Gbit/s`, `GHz`, `kit/s`.

use std::borrow::Cow;
use std::fmt;

/// The unit of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricUnit {
    text: String,
    /// What one of it is of the dimension's own unit.
    scale: Scale,
    /// What it measures, in its own unit: `s/iter`, `B/s`, `1`.
    dimension: String,
}

/// A factor, as a mantissa and a power of ten: conversions between SI prefixes are then right to the last digit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    mantissa: f64,
    exponent: i32,
}

/// How one unit is converted into another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion(Scale);

const ONE: Scale = Scale { mantissa: 1.0, exponent: 0 };
/// The unit of pure counts.
const PURE: &str = "1";
const SECOND: &str = "s";

/// Rates in one word, as in `Mbps` and `TFLOPS`.
const RATES: [(&str, &str); 6] =
    [("bps", "b/s"), ("Bps", "B/s"), ("FLOPS", "FLOP/s"), ("IOPS", "IO/s"), ("iops", "IO/s"), ("OPS", "op/s")];
/// Prefixes of every unit.
const LARGE: [(char, i32); 7] = [('k', 3), ('K', 3), ('M', 6), ('G', 9), ('T', 12), ('P', 15), ('E', 18)];
/// Prefixes of what physics measures: before other words they are letters.
const SMALL: [(char, i32); 5] = [('m', -3), ('u', -6), ('\u{b5}', -6), ('\u{3bc}', -6), ('n', -9)];
/// Prefixes that are spelled out, of words that are.
const SPELLED: [(&str, i32); 5] = [("kilo", 3), ("mega", 6), ("giga", 9), ("tera", 12), ("peta", 15)];
/// The prefixes with which values are shown: those of small parts, and those of multiples.
const SMALLER: [(&str, i32); 3] = [("n", -9), ("\u{b5}", -6), ("m", -3)];
const LARGER: [(&str, i32); 6] = [("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// Numbers of this size are read as they are.
const SHORT: std::ops::Range<f64> = 0.1..1e4;
/// Units that have small prefixes.
const PHYSICAL: [&str; 4] = ["s", "J", "W", "Hz"];

impl MetricUnit {
    /// Reads a unit as a spec or a tool writes it. Every text is one: what is unknown is a dimension of its own.
    pub fn of(text: &str) -> Self {
        let mut scale = ONE;
        let mut dimension = String::new();
        for (part, word) in with_divisor(text.trim()).split('/').enumerate() {
            let (own, name) = of_word(word.trim());
            if part == 0 {
                scale = scale.times(own);
            } else {
                dimension.push('/');
                scale = scale.over(own);
            }
            dimension.push_str(&name);
        }
        Self { text: text.to_owned(), scale, dimension }
    }

    /// Returns the unit that `text` is, where each word of it is one that is known: `us`, `MB/s`, `ktok/s`, and no other words.
    pub fn known(text: &str) -> Option<Self> {
        let is_known = |word: &str| of_known_word(word).is_some();
        (!text.is_empty() && with_divisor(text).split('/').all(is_known)).then(|| Self::of(text))
    }

    /// Returns the part before the first `/`: the numerator of a rate.
    pub fn numerator(&self) -> Option<Self> {
        with_divisor(&self.text).split_once('/').map(|(numerator, _)| Self::of(numerator))
    }

    /// Reads the unit of a metric; one that has none is a pure number.
    pub fn of_metric(text: Option<&str>) -> Self {
        Self::of(text.unwrap_or(PURE))
    }

    /// Returns it as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what it measures, in the unit of the dimension. Units with the same one are converted into each other.
    pub fn dimension(&self) -> &str {
        &self.dimension
    }

    /// Returns how values in this unit become values in `other`; none when the two measure different things.
    pub fn conversion_to(&self, other: &Self) -> Option<Conversion> {
        (self.dimension == other.dimension).then(|| Conversion(self.scale.over(other.scale)))
    }

    /// Returns how values that a source reports in this unit of its own become values in the unit `stated` by a spec. One of the two
    /// may leave out what is counted: `IOPS` is `1/s`, and `requests` is `1`.
    pub fn conversion_of_source_to(&self, stated: &Self) -> Option<Conversion> {
        let is_count = !self.is_physical() && !stated.is_physical();
        let ((one, per), (another, per_other)) = (self.parts(), stated.parts());
        let is_alike = is_count && per == per_other && (one == PURE || another == PURE);
        self.conversion_to(stated).or_else(|| is_alike.then(|| Conversion(self.scale.over(stated.scale))))
    }

    /// Returns what is measured, and what it is divided by.
    fn parts(&self) -> (&str, &str) {
        self.dimension.split_once('/').unwrap_or((&self.dimension, ""))
    }

    /// Returns how a value of the size of `value` is converted into a unit in which it is short, and that unit as text: `Mtokens/s` for
    /// 1347000 in `tokens/s`, `ms` for 62880000 in `ns`. None if it is short already, or the unit has no prefixes.
    pub fn readable(&self, value: f64) -> Option<(Conversion, String)> {
        let size = value.abs();
        if SHORT.contains(&size) || size == 0.0 || !size.is_finite() {
            return None;
        }
        let text = with_divisor(&self.text);
        let (word, rest) = text.split_once('/').map_or((&*text, None), |(word, rest)| (word, Some(rest)));
        let (own, name) = of_known_word(word.trim()).filter(|(_, name)| *name != PURE)?;
        let is_binary = own.exponent == 0 && own.mantissa >= 1024.0 && matches!(name, "B" | "bit");
        // Minutes, hours and days have no prefixes.
        let is_decimal = own.exponent % 3 == 0 && Scale { exponent: 0, ..own } == ONE;
        let of_binary = [("", 0), ("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5)];
        let of_binary =
            of_binary.map(|(prefix, power)| (prefix, Scale { mantissa: 1024_f64.powi(power), exponent: 0 }));
        let of_ten = |(prefix, exponent)| (prefix, Scale { mantissa: 1.0, exponent });
        let prefixes: Vec<(&str, Scale)> = match name {
            _ if is_binary => of_binary.to_vec(),
            _ if !is_decimal => return None,
            // There are minutes and hours for that.
            SECOND => SMALLER.into_iter().chain([("", 0)]).map(of_ten).collect(),
            name if PHYSICAL.contains(&name) => {
                SMALLER.into_iter().chain([("", 0)]).chain(LARGER).map(of_ten).collect()
            }
            _ => [("", 0)].into_iter().chain(LARGER).map(of_ten).collect(),
        };
        let into = |scale: &Scale| Conversion(own.over(*scale));
        let is_fit = |(_, scale): &&(&str, Scale)| into(scale).convert(size) >= 1.0;
        let (prefix, scale) = prefixes.iter().rev().find(is_fit).or(prefixes.first())?;
        let conversion = into(scale);
        let rest = rest.map_or_else(String::new, |rest| format!("/{rest}"));
        (!conversion.is_none()).then(|| (conversion, format!("{prefix}{name}{rest}")))
    }

    /// Returns true for a duration, which Go prints in parts: `1m12.5s`.
    pub fn is_time(&self) -> bool {
        self.dimension == SECOND
    }

    /// Returns true for bits and bytes, of which `G` alone may be 1000³ or 1024³.
    pub fn is_of_bits(&self) -> bool {
        self.dimension.split('/').next().is_some_and(|first| matches!(first, "B" | "bit"))
    }

    /// Returns true for what physics measures, and for bits and bytes.
    pub fn is_physical(&self) -> bool {
        let first = self.dimension.split('/').next().unwrap_or_default();
        self.is_of_bits() || PHYSICAL.contains(&first)
    }

    /// Returns true for a pure number.
    pub fn is_pure(&self) -> bool {
        self.dimension == PURE
    }
}

impl fmt::Display for MetricUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Conversion {
    /// Makes a conversion that multiplies by a power of ten.
    pub fn of_power(exponent: i32) -> Self {
        Self(Scale { mantissa: 1.0, exponent })
    }

    /// Returns the conversion that multiplies by a power of ten as well.
    #[must_use]
    pub fn times_power(self, exponent: i32) -> Self {
        Self(self.0.times(Scale { mantissa: 1.0, exponent }))
    }

    /// Converts a value.
    pub fn convert(self, value: f64) -> f64 {
        let Scale { mantissa, exponent } = self.0;
        let power = 10_f64.powi(exponent.abs());
        // Powers of ten up to 22 are exact, so that one rounding is all there is.
        #[expect(clippy::float_cmp, reason = "a mantissa of 1 is exact")]
        let value = if mantissa == 1.0 { value } else { value * mantissa };
        if exponent < 0 { value / power } else { value * power }
    }

    /// Returns true when values stay as they are.
    pub fn is_none(self) -> bool {
        self.0 == ONE
    }
}

impl Scale {
    fn times(self, other: Self) -> Self {
        Self { mantissa: self.mantissa * other.mantissa, exponent: self.exponent + other.exponent }
    }

    fn over(self, other: Self) -> Self {
        Self { mantissa: self.mantissa / other.mantissa, exponent: self.exponent - other.exponent }
    }
}

/// Returns a rate with what it divides by: `Mb/s` for `Mbps`.
fn with_divisor(unit: &str) -> Cow<'_, str> {
    let rate = RATES.into_iter().find_map(|(word, rate)| Some(unit.strip_suffix(word)?.to_owned() + rate));
    rate.map_or(Cow::Borrowed(unit), Cow::Owned)
}

/// Returns what one of `word` is, and of what; a word that is not known is a unit of its own, perhaps with a prefix.
fn of_word(word: &str) -> (Scale, String) {
    if let Some((scale, name)) = of_known_word(word) {
        return (scale, name.to_owned());
    }
    let mut letters = word.chars();
    let first = letters.next();
    let rest = letters.as_str();
    let prefix = LARGE.iter().find(|(prefix, _)| Some(*prefix) == first);
    match prefix.filter(|_| rest.starts_with(char::is_alphabetic)) {
        Some((_, exponent)) => (Scale { mantissa: 1.0, exponent: *exponent }, rest.to_owned()),
        None => (ONE, word.to_owned()),
    }
}

/// Returns what one of `word` is, and of what, where it is known, with its prefix.
fn of_known_word(word: &str) -> Option<(Scale, &'static str)> {
    if let Some(known) = whole(word).or_else(|| spelled(word)) {
        return Some(known);
    }
    let mut letters = word.chars();
    let first = letters.next();
    let rest = letters.as_str();
    if let Some((_, exponent)) = LARGE.iter().find(|(prefix, _)| Some(*prefix) == first) {
        // `kit/s` is a thousand iterations, not 1024 of `t`.
        let binary = rest.strip_prefix('i').and_then(whole).filter(|(_, name)| matches!(*name, "B" | "bit"));
        if let Some((_, name)) = binary {
            return Some((Scale { mantissa: 1024_f64.powi(exponent / 3), exponent: 0 }, name));
        }
        let own = whole(rest).filter(|_| rest.starts_with(char::is_alphabetic));
        return own.map(|(own, name)| (own.times(Scale { mantissa: 1.0, exponent: *exponent }), name));
    }
    let (_, exponent) = SMALL.iter().find(|(prefix, _)| Some(*prefix) == first)?;
    let (_, name) = whole(rest).filter(|(own, name)| *own == ONE && PHYSICAL.contains(name))?;
    Some((Scale { mantissa: 1.0, exponent: *exponent }, name))
}

/// Returns what a word is that is written out, and then in any case: `Seconds`, `gigabytes`.
fn spelled(word: &str) -> Option<(Scale, &'static str)> {
    let word = word.to_ascii_lowercase();
    let whole = |word: &str| whole(word).filter(|_| word.len() > 2);
    whole(&word).or_else(|| {
        let of_prefix = |(prefix, exponent)| Some((whole(word.strip_prefix(prefix)?)?, exponent));
        let ((own, name), exponent) = SPELLED.into_iter().find_map(of_prefix)?;
        Some((own.times(Scale { mantissa: 1.0, exponent }), name))
    })
}

/// Returns what a word without a prefix is, by all its spellings.
fn whole(word: &str) -> Option<(Scale, &'static str)> {
    let of = |mantissa: f64, exponent: i32, name: &'static str| Some((Scale { mantissa, exponent }, name));
    match word {
        "" | "1" | "ratio" => of(1.0, 0, PURE),
        "%" | "percent" | "pct" => of(1.0, -2, PURE),
        "s" | "sec" | "secs" | "second" | "seconds" => of(1.0, 0, SECOND),
        "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => of(1.0, -3, SECOND),
        "usec" | "usecs" | "micros" | "microsecond" | "microseconds" => of(1.0, -6, SECOND),
        "nsec" | "nsecs" | "nanos" | "nanosecond" | "nanoseconds" => of(1.0, -9, SECOND),
        "min" | "mins" | "minute" | "minutes" => of(60.0, 0, SECOND),
        "h" | "hr" | "hrs" | "hour" | "hours" => of(3600.0, 0, SECOND),
        "d" | "day" | "days" => of(86_400.0, 0, SECOND),
        "B" | "byte" | "bytes" => of(1.0, 0, "B"),
        "b" | "bit" | "bits" => of(1.0, 0, "bit"),
        "Hz" | "hertz" => of(1.0, 0, "Hz"),
        "J" | "joule" | "joules" => of(1.0, 0, "J"),
        "W" | "watt" | "watts" => of(1.0, 0, "W"),
        "Wh" => of(3600.0, 0, "J"),
        "tok" | "toks" | "token" | "tokens" => of(1.0, 0, "tokens"),
        "req" | "reqs" | "request" | "requests" => of(1.0, 0, "requests"),
        "it" | "its" | "iter" | "iters" | "iteration" | "iterations" => of(1.0, 0, "iter"),
        "op" | "ops" => of(1.0, 0, "op"),
        "img" | "imgs" | "image" | "images" => of(1.0, 0, "images"),
        "sample" | "samples" => of(1.0, 0, "samples"),
        "FLOP" | "FLOPs" | "flop" | "flops" => of(1.0, 0, "FLOP"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::MetricUnit;

    fn converted(value: f64, from: &str, to: &str) -> Option<f64> {
        MetricUnit::of(from).conversion_to(&MetricUnit::of(to)).map(|conversion| conversion.convert(value))
    }

    #[test]
    fn a_unit_has_a_text_a_dimension_and_a_numerator() {
        let unit = MetricUnit::of("MB/s");
        assert_eq!((unit.text(), unit.dimension()), ("MB/s", "B/s"));
        assert_eq!(unit.numerator().as_ref().map(MetricUnit::text), Some("MB"));
        assert_eq!(MetricUnit::of("MB").numerator(), None);
        let known = |text: &str| MetricUnit::known(text).map(|unit| unit.text().to_owned());
        for text in ["us", "MB/s", "ktok/s", "Mbps"] {
            assert_eq!(known(text).as_deref(), Some(text));
        }
        // Written out, a unit may have any case; in short it may not.
        assert_eq!(known("HOURS").as_deref(), Some("HOURS"));
        for text in ["", "widgets", "MB/widget", "widgets/s", "HR"] {
            assert_eq!(known(text), None, "{text}");
        }
    }

    #[test]
    fn a_unit_is_written_as_its_source_wrote_it_and_has_a_kind() {
        assert_eq!(MetricUnit::of("usec").to_string(), "usec");
        let kind = |unit: &str| (MetricUnit::of(unit).is_time(), MetricUnit::of(unit).is_pure());
        assert_eq!(["ms", "%", "B", "1/s"].map(kind), [(true, false), (false, true), (false, false), (false, false)]);
    }

    #[test]
    fn nothing_is_made_readable_that_is_short_or_no_number() {
        let readable = |value: f64| MetricUnit::of("tokens/s").readable(value).map(|(_, unit)| unit);
        for value in [0.0, 0.1, -5.0, 9999.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(readable(value), None, "{value}");
        }
        assert_eq!(readable(1e4).as_deref(), Some("ktokens/s"));
        assert_eq!(readable(-1_347_000.0).as_deref(), Some("Mtokens/s"));
        // Prefixes of small parts are of what physics measures, and `n` is a billionth.
        let (conversion, unit) = MetricUnit::of("s").readable(2.5e-9).unwrap();
        assert_eq!((conversion.convert(2.5e-9), unit.as_str()), (2.5, "ns"));
    }

    #[test]
    fn units_of_one_dimension() {
        let cases = [
            (984.0, "us", "ms", 0.984),
            (1.03, "ms", "us", 1030.0),
            (1.12, "us/iter", "ns/iter", 1120.0),
            (7.0, "\u{b5}s", "usec", 7.0),
            (7.0, "\u{3bc}s", "microseconds", 7.0),
            (2.0, "min", "s", 120.0),
            (90.0, "requests/min", "req/s", 1.5),
            (3.0, "KB", "B", 3000.0),
            (3.0, "kB/s", "MB/s", 0.003),
            (3.0, "KiB", "B", 3072.0),
            (1.0, "GiB", "MiB", 1024.0),
            (1.0, "Gbit/s", "Mb/s", 1000.0),
            (100.0, "Mbps", "bit/s", 1e8),
            (2.0, "MBps", "kB/s", 2000.0),
            (2.5, "GHz", "MHz", 2500.0),
            (1.2, "kit/s", "it/s", 1200.0),
            (3.5, "ktok/s", "tokens/s", 3500.0),
            (1.5, "TFLOPS", "GFLOP/s", 1500.0),
            (1.5, "TFLOP/s/GPU", "GFLOP/s/GPU", 1500.0),
            (5.0, "%", "1", 0.05),
            (0.25, "1", "%", 25.0),
            (3.0, "kfoo/s", "foo/s", 3000.0),
            (3.0, "mJ", "J", 0.003),
            (2.0, "kWh", "MJ", 7.2),
            (3.0, "kIOPS", "IOPS", 3000.0),
            (3.0, "MOPS", "op/s", 3_000_000.0),
            (1.2, "Seconds", "ms", 1200.0),
            (350.0, "micros", "ms", 0.35),
            (12.0, "Gigabytes", "MB", 12_000.0),
            (8.0, "megabits/second", "kbit/s", 8000.0),
            (0.25, "ratio", "pct", 25.0),
            (4.0, "msecs", "usec", 4000.0),
            (4.0, "nanos", "ns", 4.0),
            (1.5, "hrs", "min", 90.0),
            (2.0, "days", "h", 48.0),
            (3000.0, "hertz", "kHz", 3.0),
            (2.0, "joules", "mJ", 2000.0),
            (2.0, "watts", "kW", 0.002),
            (7.0, "imgs/s", "images/s", 7.0),
            (7.0, "sample", "samples", 7.0),
            (7.0, "reqs", "requests", 7.0),
            (7.0, "iterations", "its", 7.0),
        ];
        for (value, from, to, wanted) in cases {
            assert_eq!(converted(value, from, to), Some(wanted), "{value} {from} in {to}");
        }
    }

    #[test]
    fn values_are_shown_with_the_prefix_of_their_size() {
        let shown = |value: f64, unit: &str| {
            let found = MetricUnit::of(unit).readable(value);
            found.map(|(conversion, unit)| format!("{} {unit}", conversion.convert(value)))
        };
        for (value, unit, expected) in [
            (1_347_000.0, "tokens/s", "1.347 Mtokens/s"),
            (14_470.0, "ktok/s", "14.47 Mtokens/s"),
            (62_880_000.0, "ns/iter", "62.88 ms/iter"),
            (0.05, "seconds", "50 ms"),
            (0.002, "ms", "2 \u{b5}s"),
            (12_000.0, "Mbps", "12 Gbit/s"),
            (2e6, "GFLOPS", "2 PFLOP/s"),
            (40_960.0, "KiB/s", "40 MiB/s"),
            (1e5, "W", "100 kW"),
            (0.002, "W", "2 mW"),
            (0.05, "ktokens/s", "50 tokens/s"),
        ] {
            assert_eq!(shown(value, unit).as_deref(), Some(expected));
        }
        for (value, unit) in [
            (1e9, "%"),
            (1e9, ""),
            (1e9, "rows/s"),
            (1e5, "min"),
            (1e5, "s"),
            (0.01, "tokens/s"),
            (0.0, "ns"),
            (f64::INFINITY, "ns"),
            (100.0, "ns"),
        ] {
            assert_eq!(shown(value, unit), None, "{value} {unit}");
        }
    }

    #[test]
    fn what_is_counted_may_be_left_out() {
        let converted = |from: &str, to: &str| {
            let conversion = MetricUnit::of(from).conversion_of_source_to(&MetricUnit::of(to));
            conversion.map(|conversion| conversion.convert(3.0))
        };
        for (from, to, value) in [
            ("1/s", "events/s", 3.0),
            ("IOPS", "1/s", 3.0),
            ("kIOPS", "1/s", 3000.0),
            ("requests", "1", 3.0),
            ("1/s", "events/min", 180.0),
        ] {
            assert_eq!(converted(from, to), Some(value), "{from} in {to}");
        }
        for (from, to) in [("1/s", "B/s"), ("1/s", "events"), ("events/s", "images/s"), ("1", "s")] {
            assert_eq!(converted(from, to), None, "{from} in {to}");
        }
    }

    #[test]
    fn units_of_different_dimensions() {
        let cases = [
            ("b/s", "B/s"),
            ("Mb", "MB"),
            ("s", "B"),
            ("m", "s"),
            ("m", "min"),
            ("ns/iter", "ns/op/s"),
            ("images/s", "tokens/s"),
            ("s", "1"),
            ("ms/step", "ms"),
            ("mtokens", "tokens"),
        ];
        for (one, other) in cases {
            assert_eq!(converted(1.0, one, other), None, "{one} in {other}");
        }
    }
}
