//! One project has one tree: in any order, on any machine, with any number of threads.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

use kubebench_compiler::compile::Compilation;
use proptest::prelude::*;

use crate::support::project::{Folder, assert_yes, compile_sound, files_below, mixed, mixed_files};

#[test]
fn the_order_of_inputs_is_nothing() {
    let files = mixed_files();
    let expected = tree(mixed());
    let config = ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(order in Just((0..files.len()).collect::<Vec<_>>()).prop_shuffle())| {
        let shuffled: Vec<(&str, &str)> =
            order.iter().map(|index| (files[*index].0.as_str(), files[*index].1.as_str())).collect();
        prop_assert_eq!(&tree(&compile_sound(&shuffled)), &expected);
    });
}

#[test]
fn the_number_of_threads_is_nothing() {
    for threads in 1..=4 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let files = mixed_files();
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(tree(&pool.install(|| compile_sound(&borrowed))), tree(mixed()), "{threads} threads");
    }
}

/// Line ends and a byte order mark are how an editor writes a file, not what it says; a carried file is its bytes.
#[test]
fn line_ends_and_byte_order_marks_are_nothing() {
    let variants: [(&str, fn(&str) -> String); 3] = [
        ("CRLF", |text| text.replace('\n', "\r\n")),
        ("a byte order mark", |text| format!("\u{feff}{text}")),
        ("both", |text| format!("\u{feff}{}", text.replace('\n', "\r\n"))),
    ];
    for (what, change) in variants {
        let files: Vec<(String, String)> = mixed_files()
            .into_iter()
            .map(|(path, text)| if path.ends_with(".yaml") { (path, change(&text)) } else { (path, text) })
            .collect();
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(tree(&compile_sound(&borrowed)), tree(mixed()), "{what}");
    }
}

/// Block scalars hold their line ends, which CRLF must not reach.
#[test]
fn line_ends_in_block_scalars_are_nothing() {
    let spec = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec:\n  description: >-\n    folded\n    text\n  workload:\n    job:\n      image: registry.example/a:1\n      command:\n        - sh\n        - -c\n        - |\n          one\n          two\n";
    let crlf = spec.replace('\n', "\r\n");
    assert_eq!(tree(&compile_sound(&[("specs/a.yaml", spec)])), tree(&compile_sound(&[("specs/a.yaml", &crlf)])));
}

#[test]
fn the_machine_is_nothing() {
    let expected = compiled(|command| command);
    let variants: [(&str, fn(&mut Command) -> &mut Command); 10] = [
        ("one thread", |command| command.args(["--jobs", "1"])),
        ("two threads", |command| command.args(["--jobs", "2"])),
        ("four threads", |command| command.args(["--jobs", "4"])),
        ("rayon's variable", |command| command.env("RAYON_NUM_THREADS", "3")),
        ("a time zone", |command| command.env("TZ", "Pacific/Kiritimati")),
        ("a locale", |command| command.envs([("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8")])),
        ("an empty environment", |command| command.env_clear()),
        ("color", |command| command.env("CLICOLOR_FORCE", "1").args(["--color", "always"])),
        ("a home", |command| command.env("HOME", "/nonexistent").env("USER", "somebody")),
        ("a clock", |command| command.env("SOURCE_DATE_EPOCH", "0")),
    ];
    for (what, change) in variants {
        assert!(compiled(change) == expected, "{what} changes the tree");
    }
}

#[test]
fn the_working_directory_is_nothing() {
    let expected = compiled(|command| command);
    let folder = Folder::with(mixed_files());
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = folder.command(&["-C"]);
    assert_yes(&command.arg(folder.path()).arg("compile").current_dir(elsewhere.path()).output().unwrap());
    assert!(folder.tree("generated") == expected, "-C");
    let folder = Folder::with(mixed_files());
    assert_yes(&folder.command(&["compile"]).current_dir(folder.path().join("specs")).output().unwrap());
    assert!(folder.tree("generated") == expected, "from the folder of specs");
}

#[cfg(unix)]
#[test]
fn the_umask_is_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let expected = compiled(|command| command);
    let program = env!("CARGO_BIN_EXE_kubebench");
    for mask in ["077", "000", "027"] {
        let folder = Folder::with(mixed_files());
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("umask {mask}; exec \"$0\" compile"), program]).current_dir(folder.path());
        assert_yes(&shell.output().unwrap());
        assert!(folder.tree("generated") == expected, "umask {mask}");
        for file in files_below(&folder.path().join("generated")) {
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o111, 0, "{} can be executed under umask {mask}", file.display());
        }
    }
}

#[test]
fn a_second_compilation_writes_nothing() {
    let folder = Folder::with(mixed_files());
    assert_yes(&folder.run(&["compile"]));
    let times = || -> Vec<(std::path::PathBuf, SystemTime)> {
        let files = files_below(&folder.path().join("generated")).into_iter();
        files.map(|file| (file.clone(), fs::metadata(&file).unwrap().modified().unwrap())).collect()
    };
    let before = times();
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_yes(&folder.run(&["compile"]));
    assert!(before == times(), "a file was written again");
    assert_yes(&folder.run(&["compile", "--check"]));
    assert!(before == times(), "--check wrote a file");
}

/// One edited spec touches its own files and nothing else.
#[test]
fn an_edit_stays_with_its_benchmark() {
    let folder = Folder::with(mixed_files());
    assert_yes(&folder.run(&["compile"]));
    let before = folder.tree("generated");
    let (path, text) = mixed_files().into_iter().find(|(path, _)| path == "specs/fio.yaml").unwrap();
    folder.write(&path, text.replace("size: 20Gi", "size: 30Gi"));
    assert_yes(&folder.run(&["compile"]));
    let after = folder.tree("generated");
    let changed: Vec<&str> = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .map(|((path, _), _)| path.as_str())
        .collect();
    assert_eq!(
        changed,
        ["gpu-eu/fio/results.yaml", "gpu-eu/fio/rules.yaml", "old/fio/results.yaml", "old/fio/rules.yaml"]
    );
}

/// Nothing in the tree reveals when, where, by whom or by which patch release it was made.
#[test]
fn the_tree_holds_no_trace_of_the_machine() {
    let folder = Folder::with(mixed_files());
    assert_yes(&folder.run(&["compile"]));
    let place = folder.path().to_string_lossy().into_owned();
    for (path, bytes) in folder.tree("generated") {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains(&place), "{path} names the folder");
        assert!(!text.contains(env!("CARGO_PKG_VERSION")), "{path} names the version");
        assert!(!text.contains('\r'), "{path}");
    }
}

/// The tree that the program writes when it is started a little differently.
fn compiled(change: impl Fn(&mut Command) -> &mut Command) -> Vec<(String, Vec<u8>)> {
    let folder = Folder::with(mixed_files());
    let mut command = folder.command(&["compile"]);
    change(&mut command);
    assert_yes(&command.output().unwrap());
    folder.tree("generated")
}

fn tree(compilation: &Compilation) -> Vec<(String, String)> {
    compilation.tree.iter().map(|(path, file)| (path.to_owned(), file.text.clone())).collect()
}
