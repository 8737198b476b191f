//! The forms of credentials that services publish: one table for what is refused in specs and for what is taken out of texts.

use std::ops::Range;

use crate::invariant::Invariant as _;

/// A credential that is known by what it begins with.
#[derive(Debug)]
pub struct Form {
    /// What it begins with.
    pub prefix: &'static str,
    /// What it is, with its article.
    pub noun: &'static str,
    /// What follows.
    pub alphabet: Alphabet,
    /// How many characters follow at least.
    pub least: usize,
    shape: Shape,
}

/// The characters of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// Letters and digits.
    Alphanumeric,
    /// Capital letters and digits.
    Capitals,
    /// The digits of hexadecimal numbers, the letters small.
    Hex,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    UrlSafe,
    /// The same and `.`.
    Dotted,
}

/// What distinguishes a credential from a word that begins like one.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Nothing.
    Any,
    /// It has exactly the minimum number of characters.
    Exact,
    /// A digit, and a part of 16 characters without a dash: `sk-learn-gradient-boosting-regressor` has neither.
    Random,
    /// So many characters in each of the first two parts that dots divide.
    Parts(usize),
}

/// A credential in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// What it is, with its article.
    pub noun: &'static str,
    /// Where it is.
    pub range: Range<usize>,
    /// What follows its prefix.
    pub rest: &'t str,
}

const fn form(prefix: &'static str, noun: &'static str, alphabet: Alphabet, least: usize, shape: Shape) -> Form {
    Form { prefix, noun, alphabet, least, shape }
}

/// The forms, by what has them.
pub const FORMS: &[Form] = {
    use Alphabet::{Alphanumeric, Capitals, Dotted, Hex, UrlSafe, Word};
    use Shape::{Any, Exact, Parts, Random};
    &[
        form("AKIA", "an AWS access key", Capitals, 16, Exact),
        form("ASIA", "an AWS access key", Capitals, 16, Exact),
        form("ABIA", "an AWS access key", Capitals, 16, Exact),
        form("ACCA", "an AWS access key", Capitals, 16, Exact),
        form("AIza", "a Google API key", UrlSafe, 35, Any),
        form("ya29.", "a Google token", UrlSafe, 20, Any),
        form("ghp_", "a GitHub token", Alphanumeric, 20, Any),
        form("gho_", "a GitHub token", Alphanumeric, 20, Any),
        form("ghu_", "a GitHub token", Alphanumeric, 20, Any),
        form("ghs_", "a GitHub token", Alphanumeric, 20, Any),
        form("ghr_", "a GitHub token", Alphanumeric, 20, Any),
        form("github_pat_", "a GitHub token", Word, 20, Any),
        form("glpat-", "a GitLab token", Dotted, 16, Any),
        form("gldt-", "a GitLab token", Dotted, 16, Any),
        form("glrt-", "a GitLab token", Dotted, 16, Any),
        form("glcbt-", "a GitLab token", Dotted, 16, Any),
        form("glptt-", "a GitLab token", Dotted, 16, Any),
        form("glagent-", "a GitLab token", Dotted, 16, Any),
        form("glsoat-", "a GitLab token", Dotted, 16, Any),
        form("hf_", "a Hugging Face token", Alphanumeric, 20, Any),
        form("sk-", "an API key", UrlSafe, 20, Random),
        form("sk_live_", "a Stripe key", Alphanumeric, 16, Any),
        form("sk_test_", "a Stripe key", Alphanumeric, 16, Any),
        form("rk_live_", "a Stripe key", Alphanumeric, 16, Any),
        form("rk_test_", "a Stripe key", Alphanumeric, 16, Any),
        form("xoxa-", "a Slack token", UrlSafe, 10, Any),
        form("xoxb-", "a Slack token", UrlSafe, 10, Any),
        form("xoxe-", "a Slack token", UrlSafe, 10, Any),
        form("xoxo-", "a Slack token", UrlSafe, 10, Any),
        form("xoxp-", "a Slack token", UrlSafe, 10, Any),
        form("xoxr-", "a Slack token", UrlSafe, 10, Any),
        form("xoxs-", "a Slack token", UrlSafe, 10, Any),
        form("xapp-", "a Slack token", UrlSafe, 10, Any),
        form("nvapi-", "an NVIDIA API key", UrlSafe, 20, Any),
        form("npm_", "an npm token", Alphanumeric, 30, Any),
        form("pypi-", "a PyPI token", UrlSafe, 40, Random),
        form("dop_v1_", "a DigitalOcean token", Hex, 40, Any),
        form("gsk_", "a Groq API key", Alphanumeric, 20, Any),
        form("r8_", "a Replicate token", Alphanumeric, 30, Any),
        form("hvs.", "a Vault token", UrlSafe, 20, Any),
        form("SG.", "a SendGrid API key", Dotted, 33, Parts(16)),
        form("dckr_pat_", "a Docker token", UrlSafe, 20, Any),
        form("glsa_", "a Grafana token", Word, 20, Any),
        form("wandb_v1_", "a W&B API key", UrlSafe, 20, Any),
        form("dapi", "a Databricks token", Hex, 32, Any),
        form("ATATT", "an Atlassian token", UrlSafe, 20, Random),
        form("eyJ", "a JSON Web Token", Dotted, 18, Parts(8)),
    ]
};

impl Alphabet {
    fn has(self, letter: char) -> bool {
        match self {
            Self::Alphanumeric => letter.is_ascii_alphanumeric(),
            Self::Capitals => letter.is_ascii_uppercase() || letter.is_ascii_digit(),
            Self::Hex => matches!(letter, '0'..='9' | 'a'..='f'),
            Self::Word => is_word(letter),
            Self::UrlSafe => is_word(letter) || letter == '-',
            Self::Dotted => is_word(letter) || letter == '-' || letter == '.',
        }
    }
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

impl Form {
    fn accepts(&self, rest: &str) -> bool {
        rest.len() >= self.least
            && match self.shape {
                Shape::Any => true,
                Shape::Exact => rest.len() == self.least,
                Shape::Random => {
                    let has_digit = rest.contains(|letter: char| letter.is_ascii_digit());
                    has_digit && rest.split(['-', '_']).any(|part| part.len() >= 16)
                }
                Shape::Parts(least) => {
                    let parts: Vec<&str> = rest.split('.').collect();
                    parts.len() > 1 && parts.iter().take(2).all(|part| part.len() >= least)
                }
            }
    }

    fn tokens<'t>(&'static self, text: &'t str) -> impl Iterator<Item = Token<'t>> {
        text.match_indices(self.prefix).filter_map(move |(start, prefix)| {
            let is_word_within = text.get(..start).is_some_and(|before| before.ends_with(is_word));
            let rest = text.get(start + prefix.len()..).expected("what follows a match");
            let end = rest.find(|letter| !self.alphabet.has(letter)).unwrap_or(rest.len());
            // A dot that ends a sentence is no part of it.
            let rest = rest.get(..end).expected("the end of a character").trim_end_matches('.');
            let range = start..start + prefix.len() + rest.len();
            (!is_word_within && self.accepts(rest)).then_some(Token { noun: self.noun, range, rest })
        })
    }
}

/// Iterates over the credentials in a text, form by form.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    FORMS.iter().flat_map(|form| form.tokens(text))
}
