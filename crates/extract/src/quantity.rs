//! A number as it is printed, with the unit that may follow it: the one reader of every source.
//!
//! A token is a sign, digits, thousands separators, an exponent, `nan` or `inf`, and a suffix: the whole of it is read, or it
//! is no number. A suffix is a unit, and is converted into that of the metric or refused; it is never dropped.

use super::number;
use super::unit_word::{UnitWord, continues_as_duration, factor};
use kubebench_syntax::unit::{Conversion, MetricUnit};

/// The maximum number of units of one metric that are remembered.
const MOST: usize = 16;

/// Reads the values of one metric, and remembers the units in which they are printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quantities {
    /// The unit of the metric; none where it has none.
    unit: Option<MetricUnit>,
    /// The first unit that was printed, where the metric has none.
    first: Option<MetricUnit>,
    printed: Vec<(String, Conversion)>,
    /// Words next to values, and how these are converted; none where a word is not a unit.
    words: Vec<Word>,
}

/// A word that was next to a value.
#[derive(Clone, Debug)]
struct Word {
    text: String,
    power: i32,
    per: Option<String>,
    is_spelled: bool,
    is_before_value: bool,
    conversion: Option<Conversion>,
}

impl Word {
    fn new(word: UnitWord<'_>, conversion: Option<Conversion>) -> Self {
        let UnitWord { text, power, is_spelled, per, is_before_value } = word;
        Self { text: text.to_owned(), per: per.map(str::to_owned), power, is_spelled, is_before_value, conversion }
    }

    fn word(&self) -> UnitWord<'_> {
        let Self { text, per, power, is_spelled, is_before_value, .. } = self;
        UnitWord {
            text,
            per: per.as_deref(),
            power: *power,
            is_spelled: *is_spelled,
            is_before_value: *is_before_value,
        }
    }
}

impl Quantities {
    /// Makes a reader of values in `unit`.
    pub(crate) fn in_unit(unit: Option<MetricUnit>) -> Self {
        Self { unit, ..Self::default() }
    }

    /// Reads `text` as a value. One blank may precede the suffix where the source knows where the token ends.
    ///
    /// # Errors
    /// Why it is not a value in the unit, with the text.
    pub(crate) fn read(&mut self, text: &str) -> Result<f64, String> {
        if let Some(value) = number::plain(text) {
            return Ok(value);
        }
        let text = text.trim();
        let (digits, suffix) = split(text);
        if suffix.is_empty() {
            return number::parse(text);
        }
        let refused = || format!("`{text}` is not a number");
        let Ok(value) = number::parse(digits) else { return Err(refused()) };
        let suffix = suffix.strip_prefix(' ').unwrap_or(suffix);
        if let Some((_, conversion)) = self.printed.iter().find(|(printed, _)| printed == suffix) {
            return Ok(conversion.convert(value));
        }
        if !suffix.starts_with(|first: char| first.is_alphabetic() || matches!(first, '%' | '\u{b5}' | '\u{b0}')) {
            return Err(refused());
        }
        if let Some(unit) = self.unit.as_ref().filter(|unit| unit.is_time() && has_digits(suffix)) {
            return parts(text, unit).ok_or_else(refused);
        }
        let conversion = conversion(text, suffix, self.unit.as_ref())?;
        if self.printed.len() < MOST {
            self.printed.push((suffix.to_owned(), conversion));
        }
        Ok(conversion.convert(value))
    }

    /// Reads `text` as a value whose unit may be `word`; `behind` is what follows the value on its line.
    ///
    /// # Errors
    /// Why it is not a value in the unit, with the text.
    pub(crate) fn read_beside(&mut self, text: &str, word: Option<UnitWord<'_>>, behind: &str) -> Result<f64, String> {
        let value = self.read(text)?;
        if behind.is_empty() && word.is_none() {
            return Ok(value);
        }
        let (digits, suffix) = split(text);
        // `12.3k tokens/min`: the factor is read already.
        let is_counted = suffix.is_empty() || factor(suffix.trim()).is_some();
        let (unit, rest, conversion) = match word.filter(|_| is_counted && value.is_finite()) {
            Some(word) => {
                let rest = behind.split_once(word.text).map_or("", |(_, rest)| rest);
                (word.text, rest, self.conversion_beside(text, word)?)
            }
            None => (suffix, behind, None),
        };
        // The `1h` of `1h 2m 3s`.
        let is_time = self.unit.as_ref().is_some_and(MetricUnit::is_time);
        if is_time && !digits.contains('.') && continues_as_duration(unit, rest) {
            return Err(format!("`{text}` is the first part of a duration that continues: `{}`", rest.trim()));
        }
        Ok(conversion.map_or(value, |conversion| conversion.convert(value)))
    }

    /// Returns how values next to `word` are converted, which is the same each time.
    fn conversion_beside(&mut self, text: &str, word: UnitWord<'_>) -> Result<Option<Conversion>, String> {
        if let Some(known) = self.words.iter().find(|known| known.word() == word) {
            return Ok(known.conversion);
        }
        let of_unit = self.conversion_of(text, word)?;
        let conversion = match word.power {
            0 => of_unit,
            power => Some(of_unit.unwrap_or(Conversion::of_power(0)).times_power(power)),
        };
        if self.words.len() < MOST {
            self.words.push(Word::new(word, conversion));
        }
        Ok(conversion)
    }

    /// Returns how values next to the unit `word` are converted; none if that is not a unit.
    fn conversion_of(&mut self, text: &str, word: UnitWord<'_>) -> Result<Option<Conversion>, String> {
        let UnitWord { text: name, is_spelled, per, .. } = word;
        if factor(name).is_some() {
            return conversion(&format!("{text}{name}"), name, self.unit.as_ref()).map(Some);
        }
        let printed = MetricUnit::of(name);
        let Some(unit) = &self.unit else {
            if MetricUnit::known(name).is_none() || !is_spelled && !printed.is_physical() {
                return Ok(None);
            }
            let first = self.first.get_or_insert_with(|| printed.clone());
            return printed.conversion_to(first).map(Some).ok_or_else(|| mismatch(text, name, first));
        };
        let of_time = per.filter(|per| MetricUnit::known(per).is_some_and(|per| per.is_time()));
        let rate = per.map(|per| MetricUnit::of(&format!("{name}/{per}")));
        let of_rate = rate.as_ref().and_then(|rate| rate.conversion_to(unit));
        if let Some(conversion) = of_rate.or_else(|| printed.conversion_to(unit).filter(|_| of_time.is_none())) {
            return Ok(Some(conversion));
        }
        // `250 ms` of `ms/step` is one step's; `5 GB` says nothing of a time.
        let of_numerator = unit.numerator().and_then(|numerator| printed.conversion_to(&numerator));
        let is_of_step = of_time.is_none() && unit.dimension().split_once('/').is_some_and(|(_, per)| per != "s");
        if is_of_step && of_numerator.is_some() {
            return Ok(of_numerator);
        }
        let is_measure = name == "%" || printed.is_physical();
        let is_like_one = looks_like_unit(name) || of_time.is_some() || of_numerator.is_some();
        if is_measure || is_like_one && !word.is_before_value {
            return Err(mismatch(text, rate.as_ref().map_or(name, MetricUnit::text), unit));
        }
        Ok(None)
    }

    /// Returns the unit that was printed, of a metric that has none.
    pub(crate) fn printed_unit(&self) -> Option<&str> {
        self.first.as_ref().filter(|first| first.is_physical()).map(MetricUnit::text)
    }

    /// Returns the units from which values were converted, in the order in which they came first.
    pub(crate) fn converted_from(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().filter_map(|word| Some((&word.text, word.conversion?)));
        let all = self.printed.iter().map(|(unit, conversion)| (unit, *conversion)).chain(words);
        all.filter(|(_, conversion)| !conversion.is_none()).map(|(unit, _)| unit.as_str())
    }
}

/// Returns how a value with `suffix` becomes one in `unit`.
fn conversion(text: &str, suffix: &str, unit: Option<&MetricUnit>) -> Result<Conversion, String> {
    let factor = factor(suffix).map(Conversion::of_power);
    let Some(unit) = unit else {
        return factor.ok_or_else(|| {
            let (what, unit) = if has_digits(suffix) {
                ("is a duration".to_owned(), "s")
            } else {
                (format!("has the unit `{suffix}`"), suffix)
            };
            format!("`{text}` {what}, but the metric has no unit: write `unit: {unit}`, or another unit")
        });
    };
    if unit.text() == suffix {
        return Ok(Conversion::of_power(0));
    }
    // `G` of bytes may be 1000³ or 1024³, and `M` of a time is a minute to some.
    let is_plain = !(unit.is_time() || unit.is_of_bits());
    if let Some(factor) = factor.filter(|_| is_plain) {
        return Ok(factor);
    }
    let printed = MetricUnit::of(suffix);
    let is_share = suffix == "%" || !printed.is_pure();
    printed.conversion_to(unit).filter(|_| is_share).ok_or_else(|| mismatch(text, suffix, unit))
}

fn mismatch(text: &str, printed: &str, unit: &MetricUnit) -> String {
    format!("`{text}` is in `{printed}`, which cannot be converted to the metric's unit `{unit}`")
}

/// Returns true for a word that looks like a unit: a rate (`steps/s`), a binary prefix (`Gi`), or what is a unit in another case
/// (`gb`, `mbps`, `gflops`).
fn looks_like_unit(name: &str) -> bool {
    let per = name.rsplit_once('/').and_then(|(_, per)| MetricUnit::known(per));
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let capital: String = first.into_iter().chain(letters).collect();
    let is_amount = |unit: MetricUnit| {
        let first = unit.dimension().split('/').next().unwrap_or_default();
        matches!(first, "B" | "bit" | "FLOP" | "Hz" | "W" | "J")
    };
    let in_other_case = [capital, name.to_ascii_uppercase()];
    let is_prefix = matches!(name, "Ki" | "Mi" | "Gi" | "Ti" | "Pi");
    let is_in_other_case =
        name.len() > 1 && in_other_case.iter().filter_map(|word| MetricUnit::known(word)).any(is_amount);
    is_prefix || is_in_other_case || per.is_some_and(|per| per.is_time())
}

/// Returns the number that `text` begins with, and what follows it.
fn split(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let digits = |from: usize| {
        let more = bytes.get(from..).unwrap_or_default();
        from + more.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count()
    };
    let mut end = digits(sign);
    if end == sign {
        // `nan` and `inf` have no suffix.
        return (text, "");
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(signed);
        if exponent > signed {
            end = exponent;
        }
    }
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn has_digits(text: &str) -> bool {
    text.contains(|letter: char| letter.is_ascii_digit())
}

/// Reads a duration as Go prints it: `1m12.5s`, `2h3m0.5s`. Its `m` is a minute.
fn parts(text: &str, unit: &MetricUnit) -> Option<f64> {
    const PARTS: [(&str, f64); 3] = [("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let (sign, mut rest) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let mut seconds = 0.0;
    let mut known = PARTS.iter();
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter.is_alphabetic())?;
        let (digits, after) = rest.split_at_checked(end)?;
        let next = after.find(|letter: char| !letter.is_alphabetic()).unwrap_or(after.len());
        let (name, after) = after.split_at_checked(next)?;
        let (_, scale) = known.find(|(part, _)| *part == name)?;
        // A comma is that of a locale here: `0m0,512s`.
        let digits = digits.parse().ok().filter(|_| !digits.contains(['e', 'E', '+', '-']));
        let value: f64 = digits.filter(|value: &f64| value.is_finite())?;
        seconds += value * scale;
        rest = after;
    }
    Some(MetricUnit::of("s").conversion_to(unit)?.convert(sign * seconds))
}

#[cfg(test)]
mod tests {
    use super::Quantities;
    use kubebench_syntax::unit::MetricUnit;

    fn in_unit(text: &str, unit: &str) -> Result<f64, String> {
        Quantities::in_unit(Some(MetricUnit::of(unit))).read(text)
    }

    fn read(text: &str) -> Result<f64, String> {
        Quantities::default().read(text)
    }

    #[test]
    fn values_with_a_unit_of_their_own() {
        let cases = [
            ("984us", "ms", 0.984),
            ("1.03ms", "us", 1030.0),
            ("1.03 ms", "s", 0.00103),
            ("1m12.5s", "s", 72.5),
            ("1h0m3s", "min", 60.05),
            ("-1m1s", "s", -61.0),
            ("1,234.5MB", "MB", 1234.5),
            ("1.2kit/s", "it/s", 1200.0),
            ("1e3ns", "us", 1.0),
            ("12.3k", "tok/s", 12_300.0),
            ("45%", "1", 0.45),
            ("45%", "%", 45.0),
            ("7x", "x", 7.0),
            ("12", "s", 12.0),
        ];
        for (text, unit, value) in cases {
            assert_eq!(in_unit(text, unit), Ok(value), "{text} in {unit}");
        }
        assert_eq!(read("12.3k"), Ok(12_300.0));
        assert_eq!(read("1.5M"), Ok(1_500_000.0));
        assert_eq!(read("-inf"), Ok(f64::NEG_INFINITY));
    }

    #[test]
    fn what_was_printed_is_remembered() {
        let mut values = Quantities::in_unit(Some(MetricUnit::of("ms")));
        for (text, value) in [("984us", 0.984), ("1.03ms", 1.03), ("990us", 0.99), ("2 s", 2000.0), ("x us", f64::NAN)]
        {
            assert!(values.read(text).map_or(value.is_nan(), |read| read.to_bits() == f64::to_bits(value)), "{text}");
        }
        assert_eq!(values.converted_from().collect::<Vec<_>>(), ["us", "s"]);
    }

    #[test]
    fn what_is_not_wholly_a_number() {
        let cases = [
            "1:23",
            "2026-11-25",
            "1.234,5",
            "1 234",
            "1_000",
            "12\u{b1}0.3",
            "<1",
            "~5",
            "\u{ff11}\u{ff12}",
            "12/50",
            "1e",
            "3m",
            "5m30",
            "1s2m",
            "0x1F",
            "",
            "nano",
            "12  ms",
            "7 ",
            "1.5 G B",
            "0m0,512s",
            "0m12,345s",
            "1m1e1s",
            "0,512 s",
        ];
        for text in cases {
            let found = in_unit(text, "s");
            assert!(found.is_err() || text == "7 ", "{text}: {found:?}");
        }
    }

    #[test]
    fn another_dimension_is_refused() {
        let said = in_unit("12MB", "s").unwrap_err();
        assert!(said.contains("`12MB` is in `MB`, which cannot be converted to the metric's unit `s`"), "{said}");
        for (text, unit) in [("3Mb", "MB"), ("5ms", "B"), ("5%", "s"), ("2G", "B"), ("4M", "s"), ("5ratio", "1")] {
            assert!(in_unit(text, unit).is_err(), "{text} in {unit}");
        }
        assert!(read("5ms").unwrap_err().contains("write `unit: ms`"));
        assert!(read("1m12.5s").unwrap_err().contains("is a duration, but the metric has no unit: write `unit: s`"));
        assert!(read("5%").is_err());
    }
}
