//! Lists, pipelines and simple commands.

use super::{Asks, Command, End, Item, Joint, Kind, Pipeline, Script, Sense, Simple};

/// How deep commands may be nested; scripts in practice are shallower, and the stack can hold it.
const DEPTH: usize = 40;

/// Words that end a list where a command could begin.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "else", "elif", "esac", "}"];

/// A reader and its position.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// The nesting depth of the command.
    depth: usize,
    /// The line of `counted`, from 1.
    line: usize,
    counted: usize,
    /// Here-documents whose text begins on the next line.
    pub(super) awaited: Vec<Awaited>,
}

/// A here-document.
pub(super) struct Awaited {
    pub(super) delimiter: String,
    pub(super) indentation: Indentation,
}

/// Whether tabs before the end of a here-document count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Indentation {
    Kept,
    Stripped,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth, line: 1, counted: 0, awaited: Vec::new() }
    }

    /// Reads the whole text.
    pub(super) fn whole(mut self) -> Option<Script> {
        let script = self.nested(Self::list)?;
        (self.at == self.text.len()).then_some(script)
    }

    /// Reads something one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let found = (self.depth <= DEPTH).then(|| read(self))?;
        self.depth -= 1;
        found
    }

    /// Reads a nested text, which is part of this one and begins on this line.
    pub(super) fn inner(&mut self, text: &str) -> Option<Script> {
        let line = self.line();
        let mut reader = Reader::new(text, self.depth);
        reader.line = line;
        reader.whole()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips `text` if it is next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Returns the line of the next character.
    pub(super) fn line(&mut self) -> usize {
        self.line += self.text.get(self.counted..self.at).unwrap_or_default().matches('\n').count();
        self.counted = self.at;
        self.line
    }

    /// Skips blanks, continued lines and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            let blanks = self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r']).len();
            self.at += blanks;
            if !self.take("\\\n") && !self.take("\\\r\n") {
                break;
            }
        }
        if self.peek() == Some(b'#') {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Skips blanks and ends of lines, with the here-documents behind them.
    pub(super) fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.take("\n") {
            for awaited in std::mem::take(&mut self.awaited) {
                self.skip_document(&awaited);
            }
            self.skip_blanks();
        }
    }

    fn skip_document(&mut self, awaited: &Awaited) {
        while self.at < self.text.len() {
            let line = self.rest().split('\n').next().unwrap_or_default();
            self.at = (self.at + line.len() + 1).min(self.text.len());
            let line = line.trim_end_matches('\r');
            let line = match awaited.indentation {
                Indentation::Kept => line,
                Indentation::Stripped => line.trim_start_matches('\t'),
            };
            if line == awaited.delimiter {
                break;
            }
        }
    }

    /// Returns the reserved word that is next, of these.
    pub(super) fn reserved(&self, words: &[&'static str]) -> Option<&'static str> {
        let is_next = |word: &&&str| {
            let after = self.rest().strip_prefix(**word);
            after.is_some_and(|after| after.is_empty() || after.starts_with(is_meta))
        };
        words.iter().find(is_next).copied()
    }

    /// Skips a reserved word, which has to be next.
    pub(super) fn expect(&mut self, word: &'static str) -> Option<()> {
        self.skip_lines();
        self.reserved(&[word])?;
        self.at += word.len();
        Some(())
    }

    /// Reads commands up to something that ends a list, which stays.
    pub(super) fn list(&mut self) -> Option<Script> {
        let mut script = Script::default();
        loop {
            self.skip_lines();
            if self.at == self.text.len()
                || self.peek() == Some(b')')
                || self.rest().starts_with(";;")
                || self.rest().starts_with(";&")
                || self.reserved(&CLOSERS).is_some()
            {
                return Some(script);
            }
            script.items.push(self.item()?);
        }
    }

    fn item(&mut self) -> Option<Item> {
        let start = self.at;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = if self.take("&&") {
                Joint::And
            } else if self.take("||") {
                Joint::Or
            } else {
                break;
            };
            self.skip_lines();
            rest.push((joint, self.pipeline()?));
        }
        let text = self.text.get(start..self.at)?;
        let asks = if text.contains("PIPESTATUS") || text.contains("pipestatus") {
            Asks::EachStatus
        } else if text.contains("$?") || text.contains("${?}") {
            Asks::Status
        } else {
            Asks::Nothing
        };
        let end = if self.take("&") { End::Background } else { End::Foreground };
        let ends_case = self.rest().starts_with(";;") || self.rest().starts_with(";&");
        if end == End::Foreground && !ends_case && !self.take(";") {
            let is_over =
                matches!(self.peek(), None | Some(b'\n' | b')')) || ends_case || self.reserved(&CLOSERS).is_some();
            is_over.then_some(())?;
        }
        Some(Item { first, rest, end, asks })
    }

    fn pipeline(&mut self) -> Option<Pipeline> {
        let mut sense = Sense::Plain;
        while let Some(word) = self.reserved(&["!", "time"]) {
            self.at += word.len();
            if word == "!" {
                sense = Sense::Negated;
            }
            self.skip_blanks();
            if word == "time" && self.reserved(&["-p"]).is_some() {
                self.at += 2;
                self.skip_blanks();
            }
        }
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.take("|") {
                return Some(Pipeline { commands, sense });
            }
            self.take("&");
            self.skip_lines();
            commands.push(self.command()?);
        }
    }

    pub(super) fn command(&mut self) -> Option<Command> {
        self.skip_blanks();
        let line = self.line();
        let kind = match self.compound()? {
            Some(kind) => {
                while self.redirection()? {}
                kind
            }
            None => self.simple()?,
        };
        Some(Command { kind, line })
    }

    /// Reads words and redirections; something has to be there.
    fn simple(&mut self) -> Option<Kind> {
        let start = self.at;
        let mut simple = Simple::default();
        loop {
            if self.redirection()? {
                continue;
            }
            if self.peek() == Some(b'(') {
                return self.function(simple);
            }
            let is_process = self.rest().starts_with("<(") || self.rest().starts_with(">(");
            if !is_process && self.peek().is_none_or(|next| is_meta(char::from(next))) {
                break;
            }
            let word = self.word()?;
            simple.substitutions.extend(word.substitutions);
            self.skip_array(&word.text)?;
            if let Some(name) = assigned(&word.text).filter(|_| simple.words.is_empty()) {
                simple.assigned.push(name.to_owned());
            } else {
                simple.words.push(word.text);
            }
        }
        (self.at > start).then_some(Kind::Simple(simple))
    }

    /// Skips the values of an array behind `name=`.
    fn skip_array(&mut self, word: &str) -> Option<()> {
        if word.ends_with('=') && self.peek() == Some(b'(') { self.skip_parentheses() } else { Some(()) }
    }

    /// Reads `() body` behind a name.
    fn function(&mut self, simple: Simple) -> Option<Kind> {
        let [name] = <[String; 1]>::try_from(simple.words).ok()?;
        self.take("(").then_some(())?;
        self.skip_blanks();
        self.take(")").then_some(())?;
        self.function_body(name)
    }
}

/// Returns the name that a word assigns to, as in `NAME=value` and `NAME+=value`.
fn assigned(word: &str) -> Option<&str> {
    let name = word.split_once('=')?.0;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some(name)
}

/// Returns true for what ends a word.
pub(super) fn is_meta(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}
