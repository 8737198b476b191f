//! Removes secrets from everything that is written or printed.
//!
//! Known values are removed everywhere. Others are recognized by their place (the user part of a URL, a
//! signature parameter, an authorization header, a variable named after a secret) or by its form (the tokens of common
//! services). Numbers are left alone: `total_token_throughput: 45409` is a measurement.

mod encoded;
mod forms;

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::invariant::Invariant as _;
pub use forms::{Alphabet, FORMS, Form, Token, tokens};
use regex::{Captures, Regex};

/// The replacement of a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// A value that is shorter is found everywhere by chance.
const SHORTEST: usize = 4;

/// By what a secret is recognized.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Its own form: nothing else looks like that.
    Form,
    /// The text before it. `token=short` may be a parameter of a benchmark.
    Place,
}

/// A pattern: group 1 is kept, group 2 is removed, and a match without groups is removed.
struct Rule {
    sign: Sign,
    regex: Regex,
    /// Texts of which one must be there, to save the search; compared without regard to case.
    hints: &'static [&'static str],
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rules: [(Sign, &str, &[&str]); 10] = [
        // Private keys, also where line ends are spelled `\n`.
        (
            Sign::Form,
            r"(?s)()(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z))",
            &["private key"],
        ),
        // https://user:password@host, and a token instead of the user.
        (Sign::Form, r"(?i)(\b[a-z][a-z0-9+.\-]*://)([^\s/@'<>:]*:[^\s/@'<>]*|[^\s/@'<>:]{20,})@", &["://"]),
        // Signatures and tokens in queries of URLs.
        (
            Sign::Place,
            r#"(?i)([?&](?:[a-z_\-]*token|sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|(?:api[_\-]?|access[_\-]?)?key|password|passwd|secret|client_secret|auth|code|awsaccesskeyid)=)([^&\s"'<>#]+)"#,
            &["="],
        ),
        // Headers.
        (
            Sign::Place,
            r#"(?i)(\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)\s+)?)([^\s"'][^"'\r\n]*)"#,
            &["authorization"],
        ),
        (
            Sign::Place,
            r#"(?i)(\b(?:x-api-key|api-key|x-auth-token|x-amz-security-token|x-goog-api-key|private-token|job-token|x-vault-token|set-cookie|cookie)["']?\s*[:=]\s*["']?)([^\s"'][^"'\r\n]*)"#,
            &["-key", "token", "cookie"],
        ),
        (Sign::Place, r"(?i)(\bbearer\s+)([a-z0-9._~+/\-]{8,}=*)", &["bearer"]),
        // Variables named after what they hold.
        (
            Sign::Place,
            r#"(\b[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|KEY)[A-Z0-9_]*["'\\]*\s*[=:]\s*["'\\]*)([^\s"',;&\\]+)"#,
            &["token", "secret", "passw", "credential", "key"],
        ),
        (
            Sign::Place,
            r#"(?i)(\b(?:[a-z0-9_\-]*(?:password|passwd|api[_\-]?key|access[_\-]?key|secret[_\-]?key|account[_\-]?key|secret|token)|pass|pwd)["'\\]*\s*[=:]\s*["'\\]*)([^\s"',;&\\]+)"#,
            &["pass", "pwd", "key", "secret", "token"],
        ),
        (Sign::Place, r"(\s-u[ =]?[^\s:]+:)([^\s@]+)", &["-u"]),
        (Sign::Place, r"(?i)(--(?:password|passwd|token|api-key|secret|auth-token|hf-token)[ =])([^\s]+)", &["--"]),
    ];
    let compiled = rules.into_iter().map(|(sign, pattern, hints)| Rule {
        sign,
        regex: Regex::new(pattern).expected("a pattern of ours"),
        hints,
    });
    compiled.collect()
});

/// Removes secrets from texts.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// The values that are known, longest first.
    values: Vec<String>,
}

impl Redactor {
    /// Makes a redactor that knows these secrets, whatever their form; those of less than four bytes are not searched for.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        Self::default().knowing(secrets, |value| !is_constant(value))
    }

    /// Adds values that may be secrets by the names of their variables, except numbers and references.
    #[must_use]
    pub fn suspecting<'a>(self, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.knowing(values, |value| !is_harmless(value))
    }

    fn knowing<'a>(mut self, values: impl IntoIterator<Item = &'a str>, counts: fn(&str) -> bool) -> Self {
        let lines = values.into_iter().flat_map(|value| [value.trim()].into_iter().chain(value.lines().map(str::trim)));
        for value in lines.filter(|value| value.len() >= SHORTEST && counts(value)) {
            self.values.push(value.to_owned());
            self.values.extend(encoded::spellings(value));
        }
        self.values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.values.dedup();
        self
    }

    /// Returns `text` without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for value in &self.values {
            if clean.contains(value.as_str()) {
                clean = Cow::Owned(clean.replace(value.as_str(), REDACTED));
            }
        }
        match by_rules(&clean, |_| true) {
            Cow::Owned(cleaner) => Cow::Owned(cleaner),
            Cow::Borrowed(_) => clean,
        }
    }

    /// Returns the name of a file without secrets. A word that is only preceded like a secret, as in `max_token=long.txt`, stays.
    pub fn name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let Self { values } = self;
        if values.iter().any(|value| name.contains(value.as_str())) { self.text(name) } else { without_tokens(name) }
    }

    /// Removes secrets from every text of a JSON value, except keys.
    pub fn json(&self, value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            serde_json::Value::Object(object) => object.values_mut().for_each(|item| self.json(item)),
            _ => {}
        }
    }
}

/// Returns `text` without secrets that are recognized by their own form, whatever is around them.
pub fn without_tokens(text: &str) -> Cow<'_, str> {
    by_rules(text, |sign| sign == Sign::Form)
}

fn by_rules(text: &str, counts: impl Fn(Sign) -> bool) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    let folded = text.to_ascii_lowercase();
    for Rule { regex, hints, .. } in RULES.iter().filter(|rule| counts(rule.sign)) {
        if !hints.iter().any(|hint| folded.contains(hint)) {
            continue;
        }
        let replaced = regex.replace_all(&clean, |found: &Captures<'_>| {
            let group = |index| found.get(index).map_or("", |part| part.as_str());
            let (kept, secret) = (group(1), group(2));
            let rest = group(0).get(kept.len() + secret.len()..).expected("the groups at the start of the match");
            if is_harmless(secret) { group(0).to_owned() } else { format!("{kept}{REDACTED}{rest}") }
        });
        if let Cow::Owned(replaced) = replaced {
            clean = Cow::Owned(replaced);
        }
    }
    without_forms(clean)
}

/// Returns a text without the tokens of services.
fn without_forms(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut ranges: Vec<(usize, usize)> = tokens(&text).map(|token| (token.range.start, token.range.end)).collect();
    if ranges.is_empty() {
        return text;
    }
    ranges.sort_unstable();
    let (mut clean, mut end) = (String::new(), 0);
    for (start, next) in ranges {
        if next > end {
            // One that begins within another is a part of it.
            if start >= end {
                clean.push_str(text.get(end..start).expected("what is between two tokens"));
                clean.push_str(REDACTED);
            }
            end = next;
        }
    }
    clean.push_str(text.get(end..).expected("what is behind the last token"));
    Cow::Owned(clean)
}

/// Returns true for the name of a variable that holds a secret.
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL"].iter().any(|word| name.contains(word))
}

fn is_constant(value: &str) -> bool {
    let constants = ["true", "false", "null", "none", "nan", "inf", "yes", "no", ""];
    constants.iter().any(|constant| value.eq_ignore_ascii_case(constant))
}

/// Returns true for what no secret is: a number, a constant, a reference, what is redacted already.
fn is_harmless(value: &str) -> bool {
    let bare = value.trim_end_matches(['}', ']', ')']);
    let is_reference = bare.starts_with('$') || bare.starts_with('<') || bare.starts_with("[redacted");
    is_reference || is_constant(bare) || bare.len() < 12 && bare.trim_start_matches('-').parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests;
