//! Numbers as tools print them.

/// Reads a number: a decimal, a whole number with commas between groups of three digits, or `nan`, `inf`, `-inf` in any case.
///
/// `3,502` is 3502. `12,5` is not a number: a comma that a locale uses as the decimal point could as well be a separator.
///
/// # Errors
/// The reason in words, with the text.
pub fn parse(text: &str) -> Result<f64, String> {
    if let Some(value) = plain(text) {
        return Ok(value);
    }
    let text = text.trim();
    let no_number = || format!("`{text}` is not a number");
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    // `f64` reads `infinity` and `nan` by itself; nothing else that begins with a letter is a number.
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        let known = ["nan", "inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
        return known.then(|| text.parse().ok()).flatten().ok_or_else(no_number);
    }
    if !unsigned.contains(',') {
        let value: f64 = text.parse().ok().ok_or_else(no_number)?;
        let mantissa = || unsigned.split(['e', 'E']).next().unwrap_or_default();
        let is_lost = value == 0.0 && mantissa().contains(|digit: char| matches!(digit, '1'..='9'));
        return if is_lost { Err(format!("`{text}` is too small for a number of 64 bits")) } else { Ok(value) };
    }
    let (whole, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(whole, rest)| (whole, Some(rest)));
    let mut groups = whole.split(',');
    // `0,512` is a half as some countries write it.
    let is_first = |first: &str| (1..=3).contains(&first.len()) && all_digits(first) && !first.starts_with('0');
    let leads = groups.next().is_some_and(is_first);
    let follow = groups.all(|group| group.len() == 3 && all_digits(group));
    if leads && follow && fraction.is_none_or(|fraction| !fraction.contains(',')) {
        let plain: String = text.chars().filter(|letter| *letter != ',').collect();
        return plain.parse().ok().ok_or_else(no_number);
    }
    Err(format!(
        "`{text}` is not a number: a comma separates groups of three digits only; print a point before decimals"
    ))
}

/// Refuses a number such as `12,345`, which is 12345 in one country and 12.345 in another, where the text around it does not say
/// in which it was printed. `1,234,567` and `1,234.5` can be read in one way only.
///
/// # Errors
/// The reason in words, with the text.
pub fn refuse_one_group(text: &str) -> Result<(), String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let length = unsigned.find(|letter: char| !letter.is_ascii_digit() && !",.".contains(letter));
    let (digits, _) = unsigned.split_at(length.unwrap_or(unsigned.len()));
    let is_one_group = digits.split_once(',').is_some_and(|(_, group)| group.len() == 3 && all_digits(group));
    if !is_one_group {
        return Ok(());
    }
    Err(format!(
        "`{text}` may be {} or {}: print a point before decimals, and nothing between digits",
        digits.replace(',', ""),
        digits.replace(',', ".")
    ))
}

/// Reads what most numbers are, without a look at what else a number may be: a few digits, and a point between them.
///
/// Digits and power of ten are exact numbers of 64 bits, so their quotient is the number, rounded once.
pub(crate) fn plain(text: &str) -> Option<f64> {
    let (first, last) = (text.bytes().next()?, text.bytes().next_back()?);
    if text.len() > 16 || !(first.is_ascii_digit() && last.is_ascii_digit()) {
        return None;
    }
    let (mut digits, mut power, mut has_point) = (0_u64, 1.0, false);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                power *= if has_point { 10.0 } else { 1.0 };
            }
            b'.' if !has_point => has_point = true,
            _ => return None,
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "checked to be exact")]
    (digits < 1 << 53).then(|| digits as f64 / power)
}

/// Reads a number that is always printed with `decimals` digits after the point: with fewer it was cut off.
pub fn fixed(text: &str, decimals: usize) -> Option<f64> {
    let value = parse(text).ok()?;
    let digits = text.trim().split_once('.').map_or(0, |(_, digits)| digits.len());
    (digits >= decimals || !value.is_finite()).then_some(value)
}

/// Returns `value` as a count, when it is one: steps are often printed as `9.000`.
pub fn whole(value: f64) -> Option<u64> {
    let is_count = value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a count below 2^53")]
    is_count.then_some(value as u64)
}

pub(crate) fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{fixed, parse, plain, whole};

    #[test]
    fn numbers_as_printed() {
        let good = [
            ("1", 1.0),
            (" -1.5e3 ", -1500.0),
            (".5", 0.5),
            ("3,502", 3502.0),
            ("1,234,567.25", 1_234_567.25),
            ("+7", 7.0),
            ("1E-3", 0.001),
            ("inf", f64::INFINITY),
            ("-Inf", f64::NEG_INFINITY),
        ];
        for (text, value) in good {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
        assert!(parse("NaN").is_ok_and(f64::is_nan));
        assert!(parse("-nan").is_ok_and(f64::is_nan));
    }

    #[test]
    fn the_short_way_gives_the_same_number() {
        let mut tried = 0;
        for digits in (0..4_000_000_000_000_000_u64).step_by(7_777_777_777_777).chain(0..1100) {
            let text = digits.to_string();
            for point in 0..=text.len() {
                let (whole, decimals) = text.split_at(point);
                let text = if point == 0 { text.clone() } else { format!("{whole}.{decimals}") };
                let Some(value) = plain(&text) else { continue };
                assert_eq!(Ok(value), text.parse(), "{text}");
                tried += 1;
            }
        }
        assert!(tried > 5000, "{tried}");
        for text in ["", ".", "1.", ".5", "1.2.3", "9007199254740993", "12345678901234.56", "-1", "1e5", "1,000", "x"] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number() {
        for text in [
            "", "-", "0,512", "-0,512", "01,234", "00,512", "12,5", "1,23,456", ",5", "1,2345", "1.5,000", "0x10",
            "1_000", "12abc", "1e", "n", "info", "1.2.3",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("12,5").is_err_and(|reason| reason.contains("point")));
    }

    #[test]
    fn numbers_that_were_cut_off() {
        assert_eq!(fixed("1,100.25", 2), Some(1100.25));
        assert_eq!(fixed("1.255", 2), Some(1.255));
        assert!(fixed("nan", 3).is_some_and(f64::is_nan));
        for text in ["1,100.2", "1,100.", "1,100", "11", "", "x.25"] {
            assert_eq!(fixed(text, 2), None, "{text}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(whole(9.0), Some(9));
        assert_eq!(whole(0.0), Some(0));
        for value in [0.5, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(whole(value), None, "{value}");
        }
    }
}
