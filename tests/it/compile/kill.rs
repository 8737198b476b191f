//! The program itself is killed at any moment, and the next `compile` makes the tree whole.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::project::{Folder, assert_yes};

const SPECS: usize = 200;
const SIGKILL: i32 = 9;

/// Files of others inside the output directory, where nothing of Kubebench is or will be.
const FOREIGN: [(&str, &str); 3] = [
    ("generated/README.md", "mine\n"),
    ("generated/default/b007/kustomization.yaml", "resources: []\n"),
    ("generated/other/secret.yaml", "kind: Secret\n"),
];

fn write_specs(folder: &Folder, generation: usize) {
    for number in 0..SPECS {
        // A fifth of the specs comes and goes, so that every kind of step happens: create, change, remove.
        let path = format!("specs/b{number:03}.yaml");
        if number % 5 == generation % 5 {
            drop(std::fs::remove_file(folder.path().join(path)));
            continue;
        }
        let text = format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: b{number:03}}}\nspec:\n  timeout: 1h\n  workload:\n    job: {{image: 'a/b:{generation}', resources: {{cpu: 1, memory: 1Gi}}}}\n"
        );
        folder.write(&path, text);
    }
}

/// The tree of a project that was never disturbed, by path.
fn expected(generation: usize) -> BTreeMap<String, Vec<u8>> {
    let folder = Folder::with(FOREIGN);
    write_specs(&folder, generation);
    assert_yes(&folder.run(&["compile"]));
    folder.tree("generated").into_iter().collect()
}

#[test]
fn a_killed_compile_is_repaired_by_the_next_one() {
    let trees: Vec<_> = [1, 2].map(expected).into();
    assert!(trees[0].len() > 3 * SPECS);
    let folder = Folder::with(FOREIGN);
    write_specs(&folder, 1);
    let started = Instant::now();
    assert_yes(&folder.run(&["compile"]));
    let mut whole = started.elapsed();
    let (mut killed, mut half_done) = (0, 0);
    for round in 0_u32..12 {
        let generation = 2 - round as usize % 2;
        write_specs(&folder, generation);
        let before = folder.tree("generated");
        let mut child = folder.command(&["compile"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // From the very start to a little after the end, a different moment in every round.
        std::thread::sleep(whole * (round * 5 % 12) / 10 + Duration::from_millis(1));
        drop(child.kill());
        let status = child.wait().unwrap();
        if status.signal() == Some(SIGKILL) {
            killed += 1;
        } else {
            // The machine was busier while the whole was measured.
            whole = whole * 3 / 4;
        }
        let left: BTreeMap<String, Vec<u8>> = folder.tree("generated").into_iter().collect();
        for (path, text) in FOREIGN {
            let path = path.strip_prefix("generated/").unwrap();
            assert_eq!(left.get(path).map(Vec::as_slice), Some(text.as_bytes()), "{path} in round {round}");
        }
        let old: BTreeMap<String, Vec<u8>> = before.into_iter().collect();
        let wanted = &trees[generation - 1];
        half_done += usize::from(left != old && left != *wanted);
        for (path, bytes) in left.iter().filter(|(path, _)| !path.ends_with(".kubebench-tmp")) {
            let is_whole = old.get(path) == Some(bytes) || wanted.get(path) == Some(bytes);
            assert!(is_whole, "{path} is neither old nor new in round {round}");
        }
        assert_yes(&folder.run(&["compile"]));
        let repaired: BTreeMap<String, Vec<u8>> = folder.tree("generated").into_iter().collect();
        assert!(repaired == *wanted, "round {round}: {:?}", differing(&repaired, wanted));
    }
    println!("{killed} of 12 were killed, {half_done} of them while they wrote; a whole one took {whole:?}");
    assert!(killed >= 4, "only {killed} processes were killed in time");
}

fn differing<'t>(one: &'t BTreeMap<String, Vec<u8>>, other: &'t BTreeMap<String, Vec<u8>>) -> Vec<&'t String> {
    one.keys().chain(other.keys()).filter(|path| one.get(*path) != other.get(*path)).collect()
}
