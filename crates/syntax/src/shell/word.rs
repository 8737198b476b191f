//! Words, quotes, expansions and redirections.

use super::Script;
use super::reader::{Awaited, Indentation, Reader, is_meta};

/// A word.
#[derive(Default)]
pub(super) struct Word {
    /// Without quotes; what would be expanded is as written.
    pub(super) text: String,
    pub(super) substitutions: Vec<Script>,
}

impl Reader<'_> {
    /// Reads a word, which has to be there.
    pub(super) fn word(&mut self) -> Option<Word> {
        let (start, mut word) = (self.at, Word::default());
        while let Some(next) = self.rest().chars().next() {
            match next {
                '<' | '>' if self.at == start && self.rest().get(1..).is_some_and(|rest| rest.starts_with('(')) => {
                    self.at += 1;
                    self.substitution(&mut word)?;
                }
                // `@(a|b)` and the like are patterns of bash.
                '(' if word.text.ends_with(['?', '*', '+', '@', '!']) => self.skip_parentheses()?,
                _ if is_meta(next) => break,
                '\\' => self.escaped(&mut word),
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '$' if self.take("$'") => self.dollar_single(&mut word)?,
                '$' | '`' => self.expansion(&mut word)?,
                _ => {
                    word.text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
        (self.at > start).then_some(word)
    }

    fn escaped(&mut self, word: &mut Word) {
        self.at += 1;
        if let Some(next) = self.rest().chars().next() {
            self.at += next.len_utf8();
            if next != '\n' {
                word.text.push(next);
            }
        }
    }

    fn single(&mut self, word: &mut Word) -> Option<()> {
        let (quoted, _) = self.rest().get(1..)?.split_once('\'')?;
        word.text.push_str(quoted);
        self.at += quoted.len() + 2;
        Some(())
    }

    fn double(&mut self, word: &mut Word) -> Option<()> {
        self.at += 1;
        loop {
            let next = self.rest().chars().next()?;
            match next {
                '"' => {
                    self.at += 1;
                    return Some(());
                }
                '\\' => self.escaped(word),
                '$' | '`' => self.expansion(word)?,
                _ => {
                    word.text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
    }

    /// Reads what begins with `$` or a backtick.
    fn expansion(&mut self, word: &mut Word) -> Option<()> {
        let start = self.at;
        if self.peek() == Some(b'`') {
            return self.backticks(word);
        }
        self.at += 1;
        if self.rest().starts_with("((") {
            self.skip_parentheses()?;
        } else if self.peek() == Some(b'(') {
            return self.substitution(word);
        } else if self.take("{") {
            self.nested(|reader| reader.braces(word))?;
        }
        word.text.push_str(self.text.get(start..self.at)?);
        Some(())
    }

    /// Reads `…'` behind `$'`, which ends at the first quote that no backslash escapes.
    fn dollar_single(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.rest().chars().next()? {
                '\'' => {
                    self.at += 1;
                    return Some(());
                }
                '\\' => self.escaped(word),
                next => {
                    word.text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
    }

    /// Reads `(…)` behind a dollar.
    fn substitution(&mut self, word: &mut Word) -> Option<()> {
        let start = self.at;
        let script = self.nested(Self::parenthesized)?;
        word.substitutions.push(script);
        word.text.push('$');
        word.text.push_str(self.text.get(start..self.at)?);
        Some(())
    }

    fn backticks(&mut self, word: &mut Word) -> Option<()> {
        self.at += 1;
        let mut inner = String::new();
        loop {
            let next = self.rest().chars().next()?;
            self.at += next.len_utf8();
            match next {
                '`' => break,
                '\\' => {
                    let escaped = self.rest().chars().next()?;
                    self.at += escaped.len_utf8();
                    if !matches!(escaped, '`' | '\\' | '$') {
                        inner.push(next);
                    }
                    inner.push(escaped);
                }
                _ => inner.push(next),
            }
        }
        let script = self.nested(|reader| reader.inner(&inner))?;
        word.substitutions.push(script);
        word.text.push_str(&format!("$({inner})"));
        Some(())
    }

    /// Reads `…}` behind `${`; what is in it is of no interest but its scripts.
    fn braces(&mut self, word: &mut Word) -> Option<()> {
        let mut inner = Word::default();
        loop {
            match self.rest().chars().next()? {
                '}' => {
                    self.at += 1;
                    word.substitutions.append(&mut inner.substitutions);
                    return Some(());
                }
                '\\' => self.escaped(&mut inner),
                '"' => self.double(&mut inner)?,
                '$' | '`' => self.expansion(&mut inner)?,
                next => self.at += next.len_utf8(),
            }
        }
    }

    /// Skips from `(` to the parenthesis that closes it.
    pub(super) fn skip_parentheses(&mut self) -> Option<()> {
        let (mut open, mut skipped) = (0_usize, Word::default());
        loop {
            match self.rest().chars().next()? {
                '(' => {
                    open += 1;
                    self.at += 1;
                }
                ')' => {
                    self.at += 1;
                    open = open.checked_sub(1)?;
                    if open == 0 {
                        return Some(());
                    }
                }
                '\\' => self.escaped(&mut skipped),
                '\'' => self.single(&mut skipped)?,
                '"' => self.double(&mut skipped)?,
                next => self.at += next.len_utf8(),
            }
        }
    }

    /// Reads a redirection; false where none is next.
    pub(super) fn redirection(&mut self) -> Option<bool> {
        self.skip_blanks();
        let digits = self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let operator = self.rest().get(digits..)?;
        let is_process = digits == 0 && (operator.starts_with("<(") || operator.starts_with(">("));
        let all = ["<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">", "&>>", "&>"];
        let found = all.iter().find(|text| operator.starts_with(**text) && (digits == 0 || !text.starts_with('&')));
        let Some(found) = found.filter(|_| !is_process) else { return Some(false) };
        self.at += digits + found.len();
        self.skip_blanks();
        let target = self.word()?;
        if let "<<" | "<<-" = *found {
            let indentation = if *found == "<<-" { Indentation::Stripped } else { Indentation::Kept };
            self.awaited.push(Awaited { delimiter: target.text, indentation });
        }
        Some(true)
    }
}
