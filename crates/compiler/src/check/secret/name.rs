//! Names that suggest that their value is a secret, and values that nevertheless are not.

/// Words at the end of which a name is about a secret.
const SECRETS: [&str; 8] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS", "APIKEY", "SECRETS"];
/// Two words that are about a secret together.
const PAIRS: [(&str, &str); 3] = [("API", "KEY"), ("PRIVATE", "KEY"), ("ACCESS", "KEY")];
/// Last words of a name that make it a name about a secret, not a secret.
const ABOUT: [&str; 13] =
    ["NAME", "FILE", "PATH", "DIR", "URL", "URI", "ENDPOINT", "TYPE", "LENGTH", "LIMIT", "COUNT", "SIZE", "ID"];

const PLACEHOLDERS: [&str; 24] = [
    "changeme",
    "change-me",
    "default",
    "dummy",
    "empty",
    "example",
    "fake",
    "mock",
    "n/a",
    "na",
    "no-key",
    "no-key-required",
    "none",
    "not-needed",
    "not-used",
    "null",
    "sk-no-key-required",
    "placeholder",
    "redacted",
    "test",
    "todo",
    "unused",
    "optional",
    "required",
];

/// Returns true for a variable or option whose value is a secret, going by its name.
pub(super) fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words: Vec<&str> = upper.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.last().is_none_or(|last| ABOUT.contains(last)) {
        return false;
    }
    words.iter().any(|word| SECRETS.iter().any(|secret| word.ends_with(secret)))
        || words.iter().zip(words.iter().skip(1)).any(|(first, second)| PAIRS.contains(&(*first, *second)))
}

/// Returns true for a value that no secret has: nothing, a number, a boolean, a path, a placeholder.
pub(super) fn is_harmless(value: &str) -> bool {
    let is_path = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start))
        && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '~'));
    let is_flag =
        matches!(value.to_ascii_lowercase().as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "none" | "null");
    is_path || is_flag || value.parse::<f64>().is_ok() || is_placeholder(value)
}

/// Returns true for a placeholder: nothing, `$NAME`, `%s`, `<your token>`, `xxxx`, `changeme`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_reference = value
        .strip_prefix('$')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '(' | '{' | '_')));
    let is_bracketed = [('<', '>'), ('[', ']'), ('{', '}')]
        .into_iter()
        .any(|(open, close)| value.starts_with(open) && value.ends_with(close));
    let is_one_character = lower.chars().next().is_none_or(|first| lower.chars().all(|c| c == first));
    is_reference
        || is_bracketed
        || is_one_character
        || value.starts_with('`')
        || ["%s", "%v", "%("].iter().any(|start| value.starts_with(start))
        || ["your", "xxx"].iter().any(|start| lower.starts_with(start))
        || PLACEHOLDERS.contains(&lower.as_str())
}
