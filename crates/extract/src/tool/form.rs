//! The form of a metric's name, where parts of it come from the output: `latency_p{N}`.
//!
//! Between braces is `N` for a number, `location` for a statistic of where values are, alternatives (`read|write`), of
//! which one with an `N` at its end takes a number there, or else a word for any text.

/// What `{location}` may be.
const LOCATION: &str = "mean|avg|median|min|max|pN|PN";

/// Returns whether the text takes anything from the output.
pub(super) fn is_open(form: &str) -> bool {
    form.contains('{')
}

/// Returns whether `name` has the form.
pub(super) fn fits(form: &str, name: &str) -> bool {
    let alike = form.bytes().zip(name.bytes()).take_while(|(one, other)| one == other && *one != b'{').count();
    let part = match form.as_bytes().get(alike) {
        None => return alike == name.len(),
        Some(b'{') => form.get(alike + 1..).and_then(|rest| rest.split_once('}')),
        Some(_) => None,
    };
    let (Some((part, after)), Some(name)) = (part, name.get(alike..)) else { return false };
    if after.is_empty() {
        return takes(part, name);
    }
    // What follows begins with a text of its own, or with another part.
    let literal = after.split('{').next().unwrap_or_default();
    let ends = name.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
    ends.filter_map(|at| name.split_at_checked(at))
        .filter(|(_, rest)| rest.starts_with(literal))
        .any(|(own, rest)| takes(part, own) && fits(after, rest))
}

fn takes(part: &str, text: &str) -> bool {
    match part {
        "location" => takes(LOCATION, text),
        "N" => is_number(text),
        _ if part.contains('|') => part.split('|').any(|one| match one.strip_suffix('N') {
            Some(start) => text.strip_prefix(start).is_some_and(is_number),
            None => one == text,
        }),
        _ => !text.is_empty(),
    }
}

/// Returns a regular expression of ECMA 262 for the names that have the form.
pub(super) fn pattern(form: &str) -> String {
    let Some((before, rest)) = form.split_once('{') else { return literal(form) };
    let Some((part, after)) = rest.split_once('}') else { return literal(form) };
    format!("{}{}{}", literal(before), pattern_of(part), pattern(after))
}

fn pattern_of(part: &str) -> String {
    match part {
        "location" => pattern_of(LOCATION),
        "N" => NUMBER.to_owned(),
        _ if part.contains('|') => {
            let one = |one: &str| match one.strip_suffix('N') {
                Some(start) => format!("{}{NUMBER}", literal(start)),
                None => literal(one),
            };
            format!("(?:{})", part.split('|').map(one).collect::<Vec<_>>().join("|"))
        }
        _ => r"[^\x00]+".to_owned(),
    }
}

fn literal(text: &str) -> String {
    let is_sign = |letter: &char| r"\^$.*+?()[]{}|/".contains(*letter);
    text.chars().flat_map(|letter| is_sign(&letter).then_some('\\').into_iter().chain([letter])).collect()
}

/// What counts as a number, as a regular expression.
const NUMBER: &str = "[0-9][0-9.p]*";

/// `99`, `99.9`, `99p9`
fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | 'p'))
}

#[cfg(test)]
mod tests;
