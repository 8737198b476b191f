//! The rule for one kind of name: which characters are allowed where, and how a bad name is corrected.

use std::ops::Range;

use crate::unit::{UnitError, quoted};

/// Which characters are allowed where in a name.
pub(super) struct Rule {
    /// The kind of name with its article, as in "is not a DNS label".
    pub(super) noun: &'static str,
    wording: &'static str,
    first: fn(char) -> bool,
    inner: fn(char) -> bool,
    last: fn(char) -> bool,
    filler: char,
    prefix: &'static str,
}

/// Why a name breaks its rule, and where.
pub(super) struct Breach {
    pub(super) range: Range<usize>,
    pub(super) reason: String,
}

pub(super) const DNS_1035: Rule = Rule {
    noun: "a DNS-1035 label",
    wording: "lower-case letters, digits and `-`, starting with a letter and ending with a letter or digit",
    first: |c| c.is_ascii_lowercase(),
    inner: is_dns_inner,
    last: is_dns_outer,
    filler: '-',
    prefix: "x",
};

pub(super) const DNS_1123: Rule = Rule {
    noun: "a DNS-1123 label",
    wording: "lower-case letters, digits and `-`, starting and ending with a letter or digit",
    first: is_dns_outer,
    ..DNS_1035
};

pub(super) const SUBDOMAIN_LABEL: Rule = Rule {
    noun: "a DNS-1123 subdomain",
    wording: "lower-case letters, digits, `-` and single `.`, each part starting and ending with a letter or digit",
    ..DNS_1123
};

pub(super) const ENV_NAME: Rule = Rule {
    noun: "an environment variable's name",
    wording: "letters, digits, `_`, `-` and `.`, not starting with a digit",
    first: |c| is_loose(c) && !c.is_ascii_digit(),
    inner: is_loose,
    last: is_loose,
    filler: '_',
    prefix: "_",
};

pub(super) const CONFIG_MAP_KEY: Rule = Rule {
    noun: "a key of a ConfigMap",
    wording: "letters, digits, `-`, `_` and `.`",
    first: is_loose,
    inner: is_loose,
    last: is_loose,
    filler: '-',
    prefix: "",
};

pub(super) const PARAMETER: Rule = Rule {
    noun: "a parameter name",
    wording: "letters, digits, `_` and `-`, starting with a letter or `_`",
    first: |c| c.is_ascii_alphabetic() || c == '_',
    inner: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
    last: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
    filler: '_',
    prefix: "_",
};

fn is_dns_inner(c: char) -> bool {
    is_dns_outer(c) || c == '-'
}

fn is_dns_outer(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_loose(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

impl Rule {
    /// Returns the rule of label values and of the last part of keys and resource names.
    pub(super) const fn qualified(noun: &'static str) -> Self {
        Self {
            noun,
            wording: "letters, digits, `-`, `_` and `.`, starting and ending with a letter or digit",
            first: |c| c.is_ascii_alphanumeric(),
            inner: is_loose,
            last: |c| c.is_ascii_alphanumeric(),
            filler: '-',
            prefix: "",
        }
    }

    /// Refuses a name that breaks the rule or has more than `max` characters.
    pub(super) fn check(&self, text: &str, max: usize) -> Result<(), UnitError> {
        if let Err(breach) = self.find_fault(text) {
            let meant = self.correct(text).filter(|meant| meant.len() <= max);
            return Err(self.proposing(self.refusal(text, &breach.reason).at(breach.range), meant.as_deref()));
        }
        self.check_length(text, max)
    }

    /// Refuses a name of more than `max` characters.
    pub(super) fn check_length(&self, text: &str, max: usize) -> Result<(), UnitError> {
        if text.len() <= max {
            return Ok(());
        }
        let reason = format!("it has {} characters, at most {max} are allowed", text.len());
        Err(self.refusal(text, &reason).help(format!("shorten it by {}", text.len() - max)).at(max..text.len()))
    }

    /// Returns the first place where a name breaks the rule.
    pub(super) fn find_fault(&self, text: &str) -> Result<(), Breach> {
        let breach = |range, reason| Err(Breach { range, reason });
        let (Some(first), Some((last_at, last))) = (text.chars().next(), text.char_indices().next_back()) else {
            return breach(0..0, "it, or a part of it, is empty".to_owned());
        };
        if let Some((at, c)) = text.char_indices().find(|(_, c)| !(self.inner)(*c)) {
            return breach(at..at + c.len_utf8(), format!("{} is not allowed in it", quoted(&c.to_string())));
        }
        if !(self.first)(first) {
            return breach(0..first.len_utf8(), format!("it starts with `{first}`"));
        }
        if !(self.last)(last) {
            return breach(last_at..text.len(), format!("it ends with `{last}`"));
        }
        Ok(())
    }

    /// Returns the message that `text` is not a name of this kind.
    pub(super) fn refusal(&self, text: &str, reason: &str) -> UnitError {
        UnitError::new(format!("{}: {reason}", self.refused(text)))
    }

    /// Returns the beginning of every refusal.
    pub(super) fn refused(&self, text: &str) -> String {
        format!("{} is not {}", quoted(text), self.noun)
    }

    /// Adds the corrected spelling, if there is one, and the rule in words.
    pub(super) fn proposing(&self, error: UnitError, meant: Option<&str>) -> UnitError {
        match meant {
            Some(meant) => error.help(format!("write `{meant}` ({})", self.wording)),
            None => error.help(format!("write {}", self.wording)),
        }
    }

    /// Returns the nearest name that follows the rule, without a limit on its length.
    pub(super) fn correct(&self, text: &str) -> Option<String> {
        let mut name = String::with_capacity(text.len());
        for c in text.chars() {
            let lowered = c.to_ascii_lowercase();
            if (self.inner)(c) {
                name.push(c);
            } else if (self.inner)(lowered) {
                name.push(lowered);
            } else if !name.ends_with(self.filler) {
                name.push(self.filler);
            }
        }
        let name = name.trim_matches(self.filler);
        let name = name.trim_end_matches(|c| !(self.last)(c));
        let can_start = |c: char| (self.first)(c) || (c.is_ascii_digit() && !self.prefix.is_empty());
        let mut name = name.trim_start_matches(|c| !can_start(c));
        while let Some(rest) = name.strip_prefix('.').filter(|rest| rest.starts_with('.')) {
            name = rest;
        }
        let needs_prefix = !name.starts_with(self.first);
        // `50resnet` is `resnet50`, where only a letter may be first.
        let (digits, rest) = name.split_at(name.bytes().take_while(u8::is_ascii_digit).count());
        let name = if needs_prefix
            && self.prefix.starts_with(char::is_alphabetic)
            && rest.starts_with(|c: char| c.is_ascii_lowercase())
            && rest.ends_with(|c: char| c.is_ascii_alphabetic())
        {
            format!("{rest}{digits}")
        } else if needs_prefix {
            format!("{}{name}", self.prefix)
        } else {
            name.to_owned()
        };
        let is_name = name.contains(|c: char| c.is_ascii_alphanumeric()) && name != self.prefix;
        (is_name && self.find_fault(&name).is_ok()).then_some(name)
    }
}
