//! The words of what people read: the table of CONTRIBUTING.md says which never return, and what to write instead.

use std::fs;

use super::options::{help, names};
use super::tidy::{is_test, packages, sources, without_tests};
use crate::support::project::{files_below, relative, repository};

/// A row of the table: the phrases that are refused, and what to write.
struct Row {
    phrases: Vec<String>,
    instead: String,
}

/// A text that people read, with the line that each of its bytes is on.
struct Prose {
    place: String,
    text: String,
    lines: Vec<usize>,
}

impl Prose {
    /// A text whose own lines count.
    fn of(place: &str, text: &str) -> Self {
        let mut prose = Self { place: place.to_owned(), text: String::new(), lines: Vec::new() };
        let mut line = 1;
        for character in text.chars() {
            prose.push(character, line);
            line += usize::from(character == '\n');
        }
        prose
    }

    fn push(&mut self, character: char, line: usize) {
        self.text.push(character);
        self.lines.resize(self.text.len(), line);
    }
}

const HEADING: &str = "\n## Vocabulary\n";

/// CONTRIBUTING.md in three parts: before the section, the section, and after it.
fn contributing() -> (String, String, String) {
    let page = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let (before, rest) = page.split_once(HEADING).unwrap();
    let end = rest.find("\n## ").unwrap_or(rest.len());
    (before.to_owned(), rest[..end].to_owned(), rest[end..].to_owned())
}

fn table() -> Vec<Row> {
    let (_, section, _) = contributing();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once(" | "));
    let rows: Vec<Row> = cells
        .map(|(phrases, instead)| Row {
            phrases: phrases.split('`').filter(|part| part.chars().any(is_part)).map(str::to_owned).collect(),
            instead: instead.to_owned(),
        })
        .collect();
    assert!((25..=45).contains(&rows.len()), "{} rows", rows.len());
    rows
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

/// Returns what is wrong with a text: one line for each phrase of the table in it.
fn refused(table: &[Row], prose: &Prose) -> Vec<String> {
    // One space between words, so that a phrase is found across line ends.
    let (mut flat, mut lines) = (String::new(), Vec::new());
    for (at, character) in prose.text.char_indices() {
        let is_second_space = character.is_whitespace() && flat.ends_with(' ');
        if !is_second_space {
            flat.push(if character.is_whitespace() { ' ' } else { character.to_ascii_lowercase() });
            lines.resize(flat.len(), prose.lines[at]);
        }
    }
    let mut found = Vec::new();
    for row in table {
        for phrase in &row.phrases {
            for (at, _) in flat.match_indices(phrase.as_str()) {
                // `{told}` is the name of a value.
                let is_name = flat[..at].ends_with('{') && flat[at + phrase.len()..].starts_with([':', '}']);
                let is_whole = !flat[..at].ends_with(is_part) && !flat[at + phrase.len()..].starts_with(is_part);
                if is_whole && !is_name {
                    found.push(format!("{}:{}: `{phrase}`: write {}", prose.place, lines[at], row.instead));
                }
            }
        }
    }
    found
}

/// The string literals of a Rust file.
fn literals(place: &str, code: &str) -> Vec<Prose> {
    let mut found = Vec::new();
    let mut reader = Reader { characters: code.chars().collect(), at: 0, line: 1 };
    while let Some(character) = reader.peek(0) {
        match character {
            '/' if reader.peek(1) == Some('/') => reader.skip_while(|character| character != '\n'),
            '/' if reader.peek(1) == Some('*') => reader.skip_comment(),
            '\'' => reader.skip_character_or_lifetime(),
            '"' => found.push(reader.literal(place)),
            'r' if reader.is_raw() => found.push(reader.raw_literal(place)),
            // `r#name` and names that end in `r` are no literals.
            character if is_name(character) => reader.skip_while(is_name),
            _ => reader.advance(),
        }
    }
    found
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

struct Reader {
    characters: Vec<char>,
    at: usize,
    line: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn advance(&mut self) {
        self.line += usize::from(self.peek(0) == Some('\n'));
        self.at += 1;
    }

    fn skip_while(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(&is_skipped) {
            self.advance();
        }
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some() && !(self.peek(0) == Some('*') && self.peek(1) == Some('/')) {
            self.advance();
        }
        self.at += 2;
    }

    fn skip_character_or_lifetime(&mut self) {
        self.advance();
        if self.peek(0) == Some('\\') {
            self.at += 2;
            self.skip_while(|character| character != '\'');
            self.at += 1;
        } else if self.peek(1) == Some('\'') {
            self.at += 2;
        }
    }

    fn is_raw(&self) -> bool {
        let hashes = (1..=255).take_while(|ahead| self.peek(*ahead) == Some('#')).count();
        self.peek(hashes + 1) == Some('"')
    }

    fn literal(&mut self, place: &str) -> Prose {
        let mut prose = Prose::of(place, "");
        self.advance();
        while let Some(character) = self.peek(0).filter(|character| *character != '"') {
            match (character, self.peek(1)) {
                ('\\', Some('\n')) => {
                    self.advance();
                    self.skip_while(char::is_whitespace);
                }
                ('\\', _) => {
                    // An escape parts words, whichever it is.
                    prose.push(' ', self.line);
                    self.at += 2;
                }
                _ => {
                    prose.push(character, self.line);
                    self.advance();
                }
            }
        }
        self.advance();
        prose
    }

    fn raw_literal(&mut self, place: &str) -> Prose {
        self.advance();
        let start = self.at;
        self.skip_while(|character| character == '#');
        let end: Vec<char> = std::iter::once('"').chain((start..self.at).map(|_| '#')).collect();
        self.advance();
        let mut prose = Prose::of(place, "");
        while let Some(character) = self.peek(0).filter(|_| !self.characters[self.at..].starts_with(&end)) {
            prose.push(character, self.line);
            self.advance();
        }
        self.at += end.len();
        prose
    }
}

fn prose_of_the_code() -> Vec<Prose> {
    let mut found = Vec::new();
    for package in packages() {
        let root = repository().join(sources(&package));
        for file in files_below(&root).into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
            if !is_test(&relative(&root, &file)) {
                let code = without_tests(&fs::read_to_string(&file).unwrap());
                found.extend(literals(&relative(repository(), &file), &code));
            }
        }
    }
    found
}

/// What a failed test is called where it is listed.
fn names_of_tests() -> Vec<Prose> {
    let mut found = Vec::new();
    for file in ["crates", "src", "tests"].iter().flat_map(|folder| files_below(&repository().join(folder))) {
        if file.extension().is_some_and(|end| end == "rs") {
            let place = relative(repository(), &file);
            let code = fs::read_to_string(&file).unwrap();
            let names = code.split("#[test]\n").skip(1).filter_map(|rest| rest.split_once("fn ")?.1.split_once('('));
            found.extend(names.map(|(name, _)| Prose::of(&format!("{place}, {name}"), &name.replace('_', " "))));
        }
    }
    found
}

fn prose_of_the_help() -> Vec<Prose> {
    let pages = names().into_iter().map(|name| Prose::of(&format!("kubebench {name} --help"), &help(&[&name])));
    pages.chain([Prose::of("kubebench --help", &help(&[]))]).collect()
}

fn prose_of_the_documents() -> Vec<Prose> {
    let root = repository();
    let schemas = files_below(&root.join("schema")).into_iter();
    let pages = files_below(&root.join("docs")).into_iter().filter(|file| {
        file.extension().is_some_and(|end| end == "md") && !relative(root, file).starts_with("docs/decisions/")
    });
    let tops = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md"].map(|name| root.join(name));
    let read = |file: std::path::PathBuf| Prose::of(&relative(root, &file), &fs::read_to_string(&file).unwrap());
    let mut found: Vec<Prose> = schemas.chain(pages).chain(tops).map(read).collect();
    let (before, section, after) = contributing();
    let skipped = "\n".repeat([HEADING, &section].concat().matches('\n').count());
    found.push(Prose::of("CONTRIBUTING.md", &[before, skipped, after].concat()));
    found
}

#[test]
fn what_people_read_is_in_the_words_of_the_field() {
    let table = table();
    let (code, tests) = (prose_of_the_code(), names_of_tests());
    let (help, documents) = (prose_of_the_help(), prose_of_the_documents());
    let is_read = code.len() > 5000 && tests.len() > 2000 && help.len() > 20 && documents.len() > 100;
    assert!(is_read, "something is not read");
    let all = [code, tests, help, documents];
    let wrong: Vec<String> = all.iter().flatten().flat_map(|prose| refused(&table, prose)).collect();
    assert!(wrong.is_empty(), "{} phrases of CONTRIBUTING.md, Vocabulary:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_phrase_is_found_where_it_is_read_and_nowhere_else() {
    let row = Row { phrases: vec!["for ever".to_owned(), "mend".to_owned()], instead: "forever".to_owned() };
    let found = |code: &str| -> Vec<String> {
        literals("a.rs", code).iter().flat_map(|prose| refused(std::slice::from_ref(&row), prose)).collect()
    };
    for code in [
        "// \"mend\"\n/* \"mend\" */ fn mend() { '\"'; 'm'; b'\\''; x::<'a>(\"amend mends re-mend\") }",
        "r#mend; r\"\\\"; \"for\"; \" ever\"; '\\u{22}'; \"fore\\nver\"",
    ] {
        assert_eq!(found(code), Vec::<String>::new(), "{code}");
    }
    for (code, line) in [
        ("f(\"Mend it\")", 1),
        ("\n\"it runs for \\\n      ever\"", 2),
        ("'\"'; \"a \\\" b\"; r\"\\\";\n\"mend\"", 2),
        ("r#\"a \"b\"\n mend\"#", 2),
        ("b\"mend\"", 1),
        ("\"a\\nmend\"", 1),
    ] {
        let said = found(code);
        let place = format!("a.rs:{line}: ");
        assert!(said.len() == 1 && said[0].starts_with(&place) && said[0].ends_with("forever"), "{code}: {said:?}");
    }
}
