//! KB0470: files of the project that a command names by their path there, where no container has them.

use std::collections::BTreeSet;

use super::Unreadable;
use super::files::{ReadFile, refusal};
use crate::model::carried::FOLDER;
use crate::model::{Benchmark, CarriedFiles};
use crate::workload::carried_name;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports paths of files of the project in commands, also in a script for a shell; `output` is the directory of manifests.
pub(super) fn report(benchmark: &Benchmark, (read, output): (&ReadFile, &str), diagnostics: &mut Diagnostics) {
    let mut reported = BTreeSet::new();
    for role in benchmark.roles() {
        let [command, args] = &role.word_spans;
        for (word, span) in role.command.iter().zip(command).chain(role.args.iter().zip(args)) {
            for path in paths(word).filter(|path| refusal(path, output).is_none()) {
                if !reported.insert((*span, path)) || !matches!(read(path), Ok(_) | Err(Unreadable::TooLarge)) {
                    continue;
                }
                let message = format!("no container has the project's file `{path}` at this path");
                let fault = Diagnostic::at(&code::KB0470, *span, message);
                diagnostics.push(fault.help(help(path, &benchmark.files)));
            }
        }
    }
}

/// Returns what to write instead of a path.
fn help(path: &str, files: &CarriedFiles) -> String {
    if let Some((name, _)) = files.iter().find(|(_, file)| file.path == path) {
        return format!("write `{FOLDER}/{name}`, where the file is carried to");
    }
    let name = carried_name(path);
    format!(
        "carry it with `files: {{{name}: {{path: {path}}}}}` and write `{FOLDER}/{name}`; if the image has the file, \
         write its absolute path"
    )
}

/// Returns the paths in a word: the word, the value of an option, or what a script names, unless it changes its directory and so names
/// files of an image.
fn paths(word: &str) -> impl Iterator<Item = &str> {
    let is_between = |letter: char| letter.is_whitespace() || "=\"'`;&|()<>,".contains(letter);
    let parts = || word.split(is_between);
    let moves = parts().any(|part| part == "cd");
    parts().filter(move |_| !moves).filter_map(path)
}

/// Returns a word that can only be meant as the path of a file, without the `./` before it: with a folder, or with the ending of a name.
fn path(word: &str) -> Option<&str> {
    let path = word.strip_prefix("./").unwrap_or(word);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/');
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    let has_ending = || {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| ending.starts_with(|first: char| first.is_ascii_alphabetic()))
    };
    let is_path = path.chars().all(is_plain) && path.split('/').all(is_part) && !path.starts_with('-');
    (is_path && (path.contains('/') || has_ending())).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::{path, paths};

    #[test]
    fn paths_differ_from_other_words() {
        let paths = ["jobs/a.py", "./jobs/a", "a.py"].map(path);
        assert_eq!(paths, [Some("jobs/a.py"), Some("jobs/a"), Some("a.py")]);
        for word in
            ["python3", "python3.11", "1.5", "-c", "--out=a.py", "/jobs/a.py", "../a.py", "a//b", "*.py", "a b.py"]
        {
            assert_eq!(path(word), None, "{word}");
        }
    }

    #[test]
    fn a_word_names_paths_as_the_value_of_an_option_and_in_a_script() {
        let all = |word| paths(word).collect::<Vec<_>>();
        assert_eq!(all("--config=conf/a.yaml"), ["conf/a.yaml"]);
        assert_eq!(all("set -e; python3 'jobs/a.py' >/out/log"), ["jobs/a.py"]);
        assert_eq!(all("cd /src && make jobs/a"), [""; 0]);
    }
}
