//! Where a command calls a shell, with which options, and for which script.

/// The shells whose scripts are read, by the names of their programs.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "zsh", "ksh"];

/// A shell that is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Its name.
    pub(super) shell: &'static str,
    pub(super) options: Options,
    /// What it runs.
    pub(super) called: Called,
}

impl Call {
    /// Returns true when it runs a file with this name.
    pub(super) fn runs(&self, words: &[&str], name: &str) -> bool {
        let Called::File(index) = self.called else { return false };
        words.get(index).and_then(|word| word.rsplit('/').next()) == Some(name)
    }
}

/// What a shell runs: the place of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// The script itself.
    Text(usize),
    /// A file with the script.
    File(usize),
}

/// The options of a shell that concern failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `-e`: a command that fails ends the shell.
    pub(super) errexit: bool,
    /// A pipeline fails when one of its commands does.
    pub(super) pipefail: bool,
}

impl Options {
    /// Applies the arguments of `set`, or of a shell when it is started: `-euo pipefail`.
    pub(super) fn set<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let Some(sign) = word.chars().next().filter(|sign| matches!(sign, '-' | '+')) else { continue };
            if word == "--" {
                break;
            } else if word.starts_with("--") {
                continue;
            }
            let is_on = sign == '-';
            for letter in word.chars().skip(1) {
                match letter {
                    'e' => self.errexit = is_on,
                    'o' => match words.next() {
                        Some("errexit") => self.errexit = is_on,
                        Some("pipefail") => self.pipefail = is_on,
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
    }
}

/// Finds the shell that a command calls, directly or through other programs: `env`, `timeout 5`, `mpirun -np 2`.
pub(super) fn called(words: &[&str]) -> Option<Call> {
    let base = |word: &str| word.rsplit('/').next().and_then(|name| SHELLS.into_iter().find(|shell| *shell == name));
    let (at, shell) = words.iter().enumerate().find_map(|(at, word)| Some((at, base(word)?)))?;
    let (mut index, mut is_text) = (at + 1, false);
    while let Some(option) = words.get(index).filter(|word| word.starts_with(['-', '+'])) {
        let letters = option.get(1..).filter(|_| !option.starts_with("--")).unwrap_or_default();
        is_text |= letters.contains('c');
        index += 1 + letters.matches(['o', 'O']).count();
    }
    let options_end = index.min(words.len());
    let mut options = Options::default();
    options.set(words.get(at + 1..options_end).into_iter().flatten().copied());
    words.get(index)?;
    Some(Call { shell, options, called: if is_text { Called::Text(index) } else { Called::File(index) } })
}

/// Returns true for files that set the environment and are known to leave the options of a shell alone.
pub(super) fn keeps_options(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    ["activate", "conda.sh", "profile", ".profile", ".bashrc", "bashrc", "env.sh", "setvars.sh"].contains(&name)
}
