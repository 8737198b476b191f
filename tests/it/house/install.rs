//! How people get the program: `deploy/install`, what README.md says first, and that both name what a release has.

mod script;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::judges::{missing, tool};
use crate::support::project::{assert_yes, repository};

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

/// The targets that the release is built for.
fn targets() -> BTreeSet<String> {
    let workflow: Value = serde_yaml::from_str(&read(".github/workflows/release.yml")).unwrap();
    let builds = workflow["jobs"]["build"]["strategy"]["matrix"]["include"].as_array().unwrap();
    builds.iter().map(|build| build["target"].as_str().unwrap().to_owned()).collect()
}

/// The values of lines `KEY "VALUE"` or `KEY = "VALUE"`.
fn values(text: &str, key: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(key));
    lines.map(|rest| rest.trim_start_matches([' ', '=']).trim_matches('"').to_owned()).collect()
}

#[test]
fn every_installer_takes_the_archives_of_the_release() {
    let targets = targets();
    assert!(read(".ci/release").contains("folder=kubebench-$version-$target tar\n"), "the name of an archive");

    let script = read("deploy/install/install.sh");
    let of_script =
        script.lines().filter_map(|line| line.split_once(" target=")).map(|(_, rest)| rest.replace(" ;;", ""));
    assert_eq!(of_script.collect::<BTreeSet<_>>(), targets);

    let formula = read("deploy/install/kubebench.rb");
    let archive = |target: &String| format!("DOWNLOADS/kubebench-VERSION-{target}.tar.gz");
    assert_eq!(values(&formula, "url ").into_iter().collect::<BTreeSet<_>>(), targets.iter().map(archive).collect());
    for pair in values(&formula, "url ").iter().zip(values(&formula, "sha256 ")) {
        assert_eq!(*pair.0, archive(&pair.1.trim_start_matches("SHA256 ").to_owned()));
    }

    let manifest = read("Cargo.toml");
    let of_binstall = |key: &str| {
        let [template] = &values(&manifest, key)[..] else { panic!("{key}") };
        let variables = [
            ("{ repo }", env!("CARGO_PKG_REPOSITORY")),
            ("{ version }", "1.2.3"),
            ("{ name }", env!("CARGO_PKG_NAME")),
            ("{ target }", "a-b-c"),
            ("{ bin }", "kubebench"),
        ];
        variables.iter().fold(template.clone(), |text, (name, value)| text.replace(name, value))
    };
    let releases = "https://github.com/kubebench/kubebench/releases/download";
    assert_eq!(of_binstall("pkg-url"), format!("{releases}/v1.2.3/kubebench-1.2.3-a-b-c.tar.gz"));
    assert_eq!(of_binstall("bin-dir"), "kubebench-1.2.3-a-b-c/kubebench");
    assert_eq!(of_binstall("pkg-fmt"), "tgz");
}

/// The block of commands in a page that holds this one.
fn block<'t>(page: &'t str, command: &str) -> &'t str {
    let mut blocks = page.split("```").skip(1).step_by(2);
    let found = blocks.find(|block| block.lines().any(|line| line == command)).unwrap();
    found.split_once('\n').unwrap().1
}

#[cfg(unix)]
#[test]
fn the_first_commands_of_the_readme_give_a_result_in_an_empty_folder() {
    if tool("python3").is_none() {
        missing("the_first_commands_of_the_readme_give_a_result_in_an_empty_folder", "Python", "install python3");
        return;
    }
    let readme = read("README.md");
    let commands = block(&readme, "kubebench init");
    assert_eq!(block(&read("deploy/install/README.md"), "kubebench init"), commands, "what PyPI shows");
    let folder = tempfile::tempdir().unwrap();
    let mut path = vec![Path::new(env!("CARGO_BIN_EXE_kubebench")).parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut shell = Command::new("sh");
    shell.args(["-ec", commands]).current_dir(folder.path()).env("HOME", folder.path());
    let output = shell.env("PATH", std::env::join_paths(path).unwrap()).output().unwrap();
    assert_yes(&output);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.trim_end().ends_with("3 results in results/example"), "{said}");
    assert!(readme.lines().count() <= 150, "README.md is one page");
}
