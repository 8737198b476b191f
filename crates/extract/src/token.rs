//! The token that a group takes of a line: where it begins and ends.

/// Returns the token that `text` is or begins with: it ends before a quote, a bracket, `;`, `|`, or a comma that no digit follows.
///
/// What follows it must not contain a blank: a pattern that matches several words means all of them.
pub(crate) fn token_of(text: &str) -> &str {
    // Most of them by far.
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !text.ends_with('.') {
        return text;
    }
    let is_end = |(at, letter): (usize, char)| match letter {
        ',' | '\'' => !text.get(at + letter.len_utf8()..).is_some_and(|rest| is_digit(rest.chars().next())),
        letter => matches!(letter, ';' | '"' | '|' | '(' | ')' | '{' | '}' | '[' | ']'),
    };
    let end = text.char_indices().find(|letter| is_end(*letter)).map(|(at, _)| at);
    let token = end.and_then(|end| text.split_at_checked(end));
    let token = token.filter(|(token, rest)| !token.is_empty() && !rest.contains(char::is_whitespace));
    // A number at the end of a sentence: `the loss is 2.5.`
    token.map_or(text, |(token, _)| token).trim_end_matches([',', '.', ';', ':'])
}

/// Returns the token of which the group `value` is a part, unless the pattern itself matches what is before or behind it.
/// `whole` is what the pattern matches, without what takes anything.
pub(crate) fn cut_token(text: &str, value: (usize, usize), whole: (usize, usize)) -> Option<&str> {
    let (before, behind) = (text.get(..value.0)?, text.get(value.1..)?);
    let is_cut = continues(behind) && whole.1 <= value.1
        || separates_digits(text.get(value.1..whole.1)?, text.get(whole.1..)?)
        || has_begun(before) && whole.0 >= value.0;
    if !is_cut {
        return None;
    }
    let from = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let to = behind.find(char::is_whitespace).map_or(text.len(), |at| value.1 + at);
    text.get(from..to)
}

/// Returns true if nothing next to the value belongs to it: it ends the line, after a word and a blank or `=`.
///
/// That is most lines by far, and needs no look at the letters of others.
pub(crate) fn is_alone(text: &str, value: (usize, usize)) -> bool {
    let before = text.as_bytes().get(..value.0).unwrap_or_default();
    value.1 == text.len() && matches!(before, [.., word, b' ' | b'='] if word.is_ascii_alphanumeric())
}

pub(crate) fn is_digit(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| letter.is_ascii_digit())
}

/// Returns true for a digit separator of some country: `1'234`, `1 234` with blanks that do not break.
fn separates(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2019}' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// Returns whether a number continues in `behind`.
fn continues(behind: &str) -> bool {
    let mut next = behind.chars();
    match next.next() {
        // Marks of a sentence are a part of a number only between digits.
        Some('.' | ',' | ':') => is_digit(next.next()),
        Some('+' | '-' | '/') => next.next().is_some_and(|letter| letter.is_alphanumeric() || letter == '-'),
        Some(letter) if separates(letter) => is_digit(next.next()),
        Some(letter) => letter.is_alphanumeric() || matches!(letter, '%' | '_' | '\u{b0}' | '\u{b1}'),
        None => false,
    }
}

/// Returns whether a pattern spells out nothing but digit separators of a number, and more digits follow.
fn separates_digits(spelled: &str, rest: &str) -> bool {
    let is_mark = |letter: char| matches!(letter, ',' | '.') || separates(letter);
    !spelled.is_empty() && spelled.chars().all(is_mark) && is_digit(rest.chars().next())
}

/// Returns whether a number has begun in `before`.
fn has_begun(before: &str) -> bool {
    let mut last = before.chars().rev();
    match last.next() {
        Some('.') => !last.next().is_some_and(char::is_alphabetic),
        Some(',' | ':' | '/' | '_') => is_digit(last.next()),
        Some(letter) if separates(letter) => is_digit(last.next()),
        Some('-' | '+') => match last.next() {
            // An exponent: `1e-12`.
            Some('e' | 'E') => is_digit(last.next()),
            Some(letter) => !letter.is_alphabetic(),
            None => true,
        },
        Some(letter) => letter.is_alphanumeric() || matches!(letter, '\u{b1}' | '<' | '~' | '\u{2248}'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use kubebench_syntax::unit::MetricUnit;

    use crate::pattern::{Hit, Pattern};

    fn read(pattern: &str, unit: Option<&str>, line: &str) -> Option<Result<f64, String>> {
        let pattern = Pattern::new(pattern).unwrap().in_unit(unit.map(MetricUnit::of));
        Some(match pattern.matches(line, &mut pattern.groups())? {
            Hit::Value(value) => Ok(value.value),
            Hit::NoNumber(reason) => Err(reason),
        })
    }

    #[test]
    fn a_part_of_a_number_is_none() {
        for (pattern, line) in [
            (r"(?P<value>[\d.]+) ops", "1e-12 ops"),
            (r"(?P<value>[\d.]+) ops", "1e+12 ops"),
            (r"(?P<value>[-+0-9.eE,]+) ops", "1_000 ops"),
            (r"(?P<value>[-+0-9.eE,]+) ops", "3/12 ops"),
            (r"(?P<value>[-+0-9.eE,]+) ops", "12\u{b1}3 ops"),
            (r"v: (?P<value>[0-9.,eE+-]+).*", "v: 984us"),
            (r"v: (?P<value>\d+).*", "v: 12.5"),
            (r"v: (?P<value>\d+),", "v: 1,234, x"),
            (r"\D+(?P<value>\S+) ops", "at .5 ops"),
            (r"(?P<value>[-+]?\.?[0-9]\S*) ops", "<12 ops"),
            (r"(?P<value>[-+]?\.?[0-9]\S*) ops", "a-12 ops"),
            (r"v (?P<value>\S+)", "v 1'234"),
            (r"v (?P<value>\S+)", "v 12'345.6"),
            (r"v (?P<value>\S+)", "v 1\u{a0}234"),
            (r"v (?P<value>\S+)", "v 1\u{202f}234"),
        ] {
            let read = read(pattern, None, line);
            assert!(matches!(read, Some(Err(_))), "{pattern} in {line:?}: {read:?}");
        }
    }

    #[test]
    fn a_whole_number_is_one() {
        for (pattern, line, value) in [
            (r"(?P<value>[\d.]+) ops", "at 12.5 ops", 12.5),
            (r"loss=(?P<value>\S+)", "loss=2.5, lr=1e-05", 2.5),
            (r"\((?P<value>\S+)\)", "(12)", 12.0),
            (r"loss.*: (?P<value>\S+)", "loss of a: 7", 7.0),
            (r"(?P<value>[^\s/]+)/", "3/10", 3.0),
            (r"v '(?P<value>\S+)'", "v '12'", 12.0),
            (r"v (?P<value>\S+)", "v 1,234.5 next", 1234.5),
            (r"x,(?P<value>\d+)", "x,12", 12.0),
        ] {
            assert_eq!(read(pattern, None, line), Some(Ok(value)), "{pattern} in {line:?}");
        }
    }

    #[test]
    fn a_word_behind_a_value_is_its_unit() {
        for (pattern, unit, line, value) in [
            (r"v: (?P<value>\S+)", "ms", "v: 984 us", 0.984),
            (r"v: (?P<value>\S+)", "GB/s", "v: 900 MB/s total", 0.9),
            (r"v: (?P<value>\S+) (?:us|ms)", "ms", "v: 984 us", 0.984),
            (r"v: (?P<value>\S+) [MG]B/s", "GB/s", "v: 900 MB/s", 0.9),
            (r"v: (?P<value>\S+) k?tok/s", "tok/s", "v: 12.5 ktok/s", 12_500.0),
            (r"c (?P<value>\S+)\s+ms", "s", "c 5  ms", 0.005),
            (r"c (?P<value>\S+) m?s", "s", "c 5 ms", 0.005),
            (r"d (?P<value>\S+) \(ms\)", "s", "d 5 (ms)", 0.005),
            (r"e (?P<value>[0-9.]+)[a-z]+", "s", "e 5ms", 0.005),
            (r"e (?P<value>[0-9.]+)m?s", "s", "e 5ms", 0.005),
            (r"took (?P<value>\S+) ms", "ms/step", "took 250 ms", 250.0),
            (r"v: (?P<value>\S+)", "ms", "v: 984   us", 0.984),
            (r"v: (?P<value>\S+)", "ms", "v: 984\tus", 0.984),
            (r"v: (?P<value>\S+)", "ms", "v: 984\u{a0}us", 0.984),
            (r"v: (?P<value>\S+)", "ms", "v: 984 [us]", 0.984),
            (r"v: (?P<value>\S+)", "ms", "v: 984[us]", 0.984),
            (r"v: (?P<value>\S+)", "ms", "v: 984 us: done", 0.984),
            (r"v: (?P<value>\S+)", "ms", "v: 984 \u{b1} 3 us", 0.984),
            (r"v: (?P<value>\S+)", "ms/step", "v: 2 s/step", 2000.0),
            (r"v: (?P<value>\S+) s/step", "ms/step", "v: 2 s/step", 2000.0),
            (r"v: (?P<value>\S+)", "tokens/s/gpu", "v: 5.1 ktokens/s/gpu", 5100.0),
            (r"v: (?P<value>\S+) TFLOPS", "GFLOP/s", "v: 5 TFLOPS", 5000.0),
            (r"v: (?P<value>\S+) GB", "MB/s", "v: 5 GB per second", 5000.0),
            (r"TTFT \(ms\):\s+(?P<value>\S+)", "s", "P99 TTFT (ms):   300.0", 0.3),
            (r"size \[kB\] = (?P<value>\S+)", "MB", "size [kB] = 300", 0.3),
            (r"token\(s\): (?P<value>\S+)", "1", "token(s): 300", 300.0),
            (r"avg (?P<value>\S+)", "s", "avg 5 min 3 max 9", 5.0),
            (r"avg (?P<value>\S+)", "s", "avg 5 min", 300.0),
            (r"v (?P<value>\S+)", "ms", "v 12 s: 3", 12.0),
            (r"v (?P<value>\S+)", "s", "v 2.5 s 900 ms", 2.5),
            (r"v (?P<value>\S+)", "s", "v 12 s, 3 runs", 12.0),
            (r"(?P<value>\S+) requests", "1", "12 requests", 12.0),
            (r"v (?P<value>\S+)", "ms", "v 12 samples", 12.0),
            (r"v (?P<value>\S+)", "ms", "v 12 s=3", 12.0),
            (r"v (?P<value>\S+)", "tok/s", "v 12.3 K tokens/s", 12_300.0),
            (r"v (?P<value>\S+)", "tok/s", "v 1.5 million tokens/s", 1_500_000.0),
            (r"v (?P<value>\S+)", "tok/s", "v 12.3 k", 12_300.0),
            (r"v (?P<value>\S+)", "tok/s", "v 12k tokens/min", 200.0),
            (r"v (?P<value>\S+)", "tok/s", "v 60000 tokens per minute", 1000.0),
            (r"v (?P<value>\S+)", "tok/s", "v 60 tokens per second", 60.0),
            (r"v (?P<value>\S+)", "tok/s", "v 60 tokens 300", 60.0),
            (r"acc (?P<value>\S+)", "1", "acc 0.95 samples per second 12", 0.95),
            (r"v (?P<value>\S+)", "tok/s", "v 12 345 6", 12.0),
            (r"v (?P<value>\S+) \d+", "tok/s", "v 12 345", 12.0),
            (r"v (?P<value>\S+)", "tok/s", "v 1.5 345", 1.5),
            (r"v (?P<value>\S+)", "ms/step", "v 2.5 s per step", 2500.0),
            (r"v (?P<value>\S+)", "ms", "v 250 ms per step", 250.0),
            (r"v (?P<value>\S+)", "ms", "v 1.2 Seconds", 1200.0),
            (r"v (?P<value>\S+)", "ms", "v 1.2 (\u{b1} 0.1) us", 0.0012),
            (r"v (?P<value>\S+)", "MiB", "v 4 gigabytes", 3_814.697_265_625),
            (r"avg (?P<value>\S+)", "ms", "avg 350 min, 200 max", 350.0),
            (r"avg (?P<value>\S+)", "ms", "avg 350 min | 200", 350.0),
            (r"v (?P<value>\S+)", "s", "v 1.5 min, 200 steps", 90.0),
        ] {
            assert_eq!(read(pattern, Some(unit), line), Some(Ok(value)), "{pattern} in {line:?}");
        }
        for (pattern, unit, line) in [
            (r"a (?P<value>\S+)%", "s", "a 50%"),
            (r"b (?P<value>\S+) MB", "s", "b 7 MB"),
            (r"f (?P<value>[0-9.]+)K", "MB", "f 5K"),
            (r"f (?P<value>[0-9.]+)\w+", "s", "f 5ms"),
            (r"v (?P<value>\S+)", "s", "v 12 MB"),
            (r"v (?P<value>\S+)", "Gbit/s", "v 12.5 GB/s"),
            (r"v (?P<value>\S+)", "images/s", "v 5 s"),
            (r"v (?P<value>\S+)", "it/s", "v 2.0 s/it"),
            (r"v (?P<value>\S+) GB", "MB/s", "v 5 GB"),
            (r"v (?P<value>\S+)", "s", "v 5 ms/step"),
            (r"v (?P<value>\S+)", "s", "v 1h 2m 3s"),
            (r"v (?P<value>\S+)", "s", "v 1s 500ms"),
            (r"v (?P<value>\S+)", "s", "v 1d 2h"),
            (r"v (?P<value>\S+)", "s", "v 2 min 30 s"),
            (r"v (?P<value>\S+)", "s", "v 2 minutes and 3 seconds"),
            (r"real\s+(?P<value>\S+)", "s", "real\t0m0,512s"),
            (r"TTFT \(ms\): (?P<value>\S+)", "MB", "TTFT (ms): 300"),
            (r"v (?P<value>\S+)", "tok/s", "v 12.3k GB/s"),
            (r"v (?P<value>\S+)", "tok/s", "v 12.3 K images/s"),
            (r"v (?P<value>\S+)", "tok/s", "v 350 tokens"),
            (r"v (?P<value>\S+)", "tok/s", "v 1 234.5 tok/s"),
            (r"v (?P<value>\S+)", "tok/s", "v 1 234 567"),
            (r"v (?P<value>\S+)", "MB/s", "v 5 GB per step"),
            (r"v (?P<value>\S+)", "s/it", "v 1.50 it/s"),
            (r"v (?P<value>\S+)", "ms/step", "v 4 steps/s"),
            (r"v (?P<value>\S+)", "MiB", "v 12 G"),
            (r"v (?P<value>\S+)", "MiB", "v 12 Gi"),
            (r"v (?P<value>\S+)", "MB/s", "v 12 gb/s"),
            (r"v (?P<value>\S+)", "MB/s", "v 12 mbps"),
            (r"v (?P<value>\S+)", "MB/s", "v 12 megabits per second"),
            (r"v (?P<value>\S+)", "TFLOP/s", "v 12 gflops"),
            (r"v (?P<value>\S+)", "TFLOP/s", "v 12 GFLOP"),
        ] {
            let read = read(pattern, Some(unit), line);
            assert!(matches!(read, Some(Err(_))), "{pattern} in {line:?}: {read:?}");
        }
    }

    #[test]
    fn the_first_unit_that_is_spelled_out_is_that_of_a_metric_without_one() {
        let pattern = Pattern::new(r"took (?P<value>\S+) (?:us|ms)").unwrap();
        let mut groups = pattern.groups();
        let mut value = |line: &str| match pattern.matches(line, &mut groups) {
            Some(Hit::Value(value)) => value.value,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(
            (value("took 984 us").to_bits(), value("took 1.03 ms").to_bits()),
            (984_f64.to_bits(), 1030_f64.to_bits())
        );
    }
}
