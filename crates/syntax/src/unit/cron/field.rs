//! One field of a cron line: lists of values, ranges and steps.

use super::Part;
use crate::unit::{UnitError, quoted};

/// What a field may hold.
pub(super) struct Field {
    noun: &'static str,
    low: u32,
    high: u32,
    names: &'static [&'static str],
}

impl Field {
    pub(super) const MINUTE: Self = Self { noun: "minute", low: 0, high: 59, names: &[] };
    pub(super) const HOUR: Self = Self { noun: "hour", low: 0, high: 23, names: &[] };
    pub(super) const DAY: Self = Self { noun: "day of month", low: 1, high: 31, names: &[] };
    pub(super) const MONTH: Self = Self {
        noun: "month",
        low: 1,
        high: 12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    };
    pub(super) const WEEKDAY: Self =
        Self { noun: "day of week", low: 0, high: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

    fn article(&self) -> &'static str {
        if self.noun == Self::HOUR.noun { "an" } else { "a" }
    }

    fn named(&self, word: &str) -> Option<u32> {
        let lowered = word.to_lowercase();
        (self.low..).zip(self.names).find(|(_, name)| **name == lowered).map(|(value, _)| value)
    }

    fn grammar(&self) -> String {
        let Self { noun, low, high, names } = self;
        let article = self.article();
        let names = match names {
            [first, .., last] => format!(" or a name from `{}` to `{}`", first.to_uppercase(), last.to_uppercase()),
            _ => String::new(),
        };
        format!("{article} {noun} is a number from {low} to {high}{names}; `*`, `1-3`, `1,3` and `*/2` combine them")
    }

    fn refusal(&self, part: &Part<'_>) -> UnitError {
        let message = format!("{} is not {} {}", quoted(part.text), self.article(), self.noun);
        UnitError::new(message).help(self.grammar()).at(part.range.clone())
    }
}

/// Returns the values that `part` chooses, as a bit set.
pub(super) fn values(part: &Part<'_>, field: &Field) -> Result<u64, UnitError> {
    part.split(',').iter().try_fold(0, |set, item| Ok(set | item_values(part, item, field)?))
}

fn item_values(whole: &Part<'_>, item: &Part<'_>, field: &Field) -> Result<u64, UnitError> {
    if item.text.is_empty() {
        let message = format!("{} has an empty item in its list", quoted(whole.text));
        return Err(UnitError::new(message).help("leave out the extra comma").at(whole.range.clone()));
    }
    let pieces = item.split('/');
    let (base, step) = match pieces.as_slice() {
        [base] => (base, None),
        [base, step] => (base, Some(step)),
        _ => {
            let message = format!("{} has more than one step", quoted(item.text));
            return Err(UnitError::new(message).help(field.grammar()).at(item.range.clone()));
        }
    };
    let bounds = base.split('-');
    let (start, end) = match bounds.as_slice() {
        [first, _] if first.text.is_empty() => return Err(field.refusal(base)),
        [star] if matches!(star.text, "*" | "?") => (field.low, field.high),
        [only] => {
            let start = value(only, field)?;
            (start, if step.is_some() { field.high } else { start })
        }
        [first, _, ..] if matches!(first.text, "*" | "?") => {
            let message = format!("{} begins a range with `{}`", quoted(base.text), first.text);
            return Err(UnitError::new(message)
                .help(format!("write `*` for every {}, or a range such as `{}-{}`", field.noun, field.low, field.high))
                .at(base.range.clone()));
        }
        [first, last] => (value(first, field)?, value(last, field)?),
        _ => return Err(field.refusal(base)),
    };
    if start > end {
        let message = format!("{} runs backwards", quoted(base.text));
        let help = format!("write `{end}-{start}`, or `{start}-{},{}-{end}` to pass the end", field.high, field.low);
        return Err(UnitError::new(message).help(help).at(base.range.clone()));
    }
    let step = step.map_or(Ok(1), |step| step_value(step, start, end, field))?;
    Ok((start..=end).step_by(step).fold(0, |set, bit| set | 1 << bit))
}

fn value(part: &Part<'_>, field: &Field) -> Result<u32, UnitError> {
    if let Some(value) = field.named(part.text) {
        return Ok(value);
    }
    if part.text.is_empty() || !part.text.bytes().all(|byte| byte.is_ascii_digit()) {
        let abbreviation = part
            .text
            .get(..3)
            .filter(|_| part.text.len() > 3 && part.text.bytes().all(|byte| byte.is_ascii_alphabetic()));
        let abbreviation = abbreviation.filter(|word| field.named(word).is_some());
        let refusal = field.refusal(part);
        return Err(match abbreviation {
            Some(word) => refusal.help(format!("write `{}`", word.to_uppercase())),
            None => refusal,
        });
    }
    let number: u32 = part.text.parse().unwrap_or(u32::MAX);
    if (field.low..=field.high).contains(&number) {
        return Ok(number);
    }
    let Field { noun, low, high, .. } = field;
    let article = field.article();
    let help = match (*noun, number) {
        ("day of week", 7) => "write `0` or `SUN` for Sunday".to_owned(),
        ("hour", 24) => "write `0` for midnight".to_owned(),
        _ => format!("{article} {noun} is a number from {low} to {high}"),
    };
    Err(UnitError::new(format!("`{}` is not {article} {noun}", part.text)).help(help).at(part.range.clone()))
}

fn step_value(part: &Part<'_>, start: u32, end: u32, field: &Field) -> Result<usize, UnitError> {
    let is_number = !part.text.is_empty() && part.text.bytes().all(|byte| byte.is_ascii_digit());
    let step: usize = part.text.parse().unwrap_or(usize::MAX);
    if !is_number || step == 0 {
        let message = format!("{} is not a step", quoted(part.text));
        return Err(UnitError::new(message).help("a step is a number from 1, as in `*/2`").at(part.range.clone()));
    }
    if step > 1 && step > (end - start) as usize {
        let message = format!("step `{}` is longer than its range of {}s", part.text, field.noun);
        return Err(UnitError::new(message)
            .help(format!("only `{start}` is ever reached: write that, or a shorter step"))
            .at(part.range.clone()));
    }
    Ok(step)
}
