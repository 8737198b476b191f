//! Commands that hold others: groups, conditions, loops, cases, functions.

use super::reader::{Reader, is_meta};
use super::{Command, Kind, Script};

/// Words that begin a compound command.
const OPENERS: [&str; 9] = ["{", "if", "while", "until", "for", "select", "case", "function", "[["];

impl Reader<'_> {
    /// Reads a compound command; the inner option is none if the next one is simple.
    #[expect(clippy::option_option, reason = "a text that is no script is something else than a simple command")]
    pub(super) fn compound(&mut self) -> Option<Option<Kind>> {
        if self.rest().starts_with("((") {
            self.skip_parentheses()?;
            return Some(Some(Kind::Test));
        }
        if self.peek() == Some(b'(') {
            return self.nested(Self::parenthesized).map(|script| Some(Kind::Subshell(script)));
        }
        let Some(opener) = self.reserved(&OPENERS) else { return Some(None) };
        self.at += opener.len();
        self.nested(|reader| reader.opened(opener)).map(Some)
    }

    fn opened(&mut self, opener: &'static str) -> Option<Kind> {
        Some(match opener {
            "{" => {
                let script = self.list()?;
                self.expect("}")?;
                Kind::Group(script)
            }
            "if" => self.condition()?,
            "while" | "until" => {
                let condition = self.list()?;
                Kind::While { condition, body: self.body()? }
            }
            "for" | "select" => {
                self.skip_to_body()?;
                Kind::For(self.body()?)
            }
            "case" => Kind::Case(self.cases()?),
            "function" => {
                self.skip_blanks();
                let name = self.word()?.text;
                self.skip_blanks();
                if self.take("(") {
                    self.skip_blanks();
                    self.take(")").then_some(())?;
                }
                self.function_body(name)?
            }
            _ => self.test()?,
        })
    }

    /// Reads `( … )`.
    pub(super) fn parenthesized(&mut self) -> Option<Script> {
        self.take("(").then_some(())?;
        let script = self.list()?;
        self.take(")").then_some(script)
    }

    fn condition(&mut self) -> Option<Kind> {
        let (mut conditions, mut bodies) = (vec![self.list()?], Vec::new());
        self.expect("then")?;
        bodies.push(self.list()?);
        loop {
            let word = self.reserved(&["elif", "else", "fi"])?;
            self.at += word.len();
            match word {
                "elif" => {
                    conditions.push(self.list()?);
                    self.expect("then")?;
                    bodies.push(self.list()?);
                }
                "else" => bodies.push(self.list()?),
                _ => return Some(Kind::If { conditions, bodies }),
            }
        }
    }

    fn body(&mut self) -> Option<Script> {
        self.expect("do")?;
        let script = self.list()?;
        self.expect("done")?;
        Some(script)
    }

    /// Skips `NAME in WORDS;` and `((…));`.
    fn skip_to_body(&mut self) -> Option<()> {
        self.skip_blanks();
        if self.rest().starts_with("((") {
            self.skip_parentheses()?;
        }
        loop {
            self.skip_blanks();
            match self.peek()? {
                b';' | b'\n' => {
                    self.take(";");
                    self.skip_lines();
                    // `in` may be on a line of its own.
                    if self.reserved(&["do"]).is_some() {
                        return Some(());
                    }
                }
                _ if self.reserved(&["do"]).is_some() => return Some(()),
                next if is_meta(char::from(next)) => return None,
                _ => drop(self.word()?),
            }
        }
    }

    fn cases(&mut self) -> Option<Vec<Script>> {
        self.skip_blanks();
        self.word()?;
        self.expect("in")?;
        let mut bodies = Vec::new();
        loop {
            self.skip_lines();
            if self.reserved(&["esac"]).is_some() {
                self.at += "esac".len();
                return Some(bodies);
            }
            self.take("(");
            loop {
                self.skip_blanks();
                self.word()?;
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.take(")").then_some(())?;
            bodies.push(self.list()?);
            let _ = self.take(";;&") || self.take(";;") || self.take(";&");
        }
    }

    pub(super) fn function_body(&mut self, name: String) -> Option<Kind> {
        self.skip_lines();
        let line = self.line();
        let kind = self.nested(Self::compound)??;
        Some(Kind::Function { name, body: Box::new(Command { kind, line }) })
    }

    /// Reads `… ]]`, in which operators of the shell mean something else.
    fn test(&mut self) -> Option<Kind> {
        loop {
            self.skip_lines();
            if self.reserved(&["]]"]).is_some() {
                self.at += 2;
                return Some(Kind::Test);
            }
            if is_meta(char::from(self.peek()?)) {
                self.at += 1;
            } else {
                self.word()?;
            }
        }
    }
}
