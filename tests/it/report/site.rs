//! `kubebench report` as a folder: the same bytes on every machine, whole whatever happens, and nothing of others touched.
#![cfg(unix)]

use kubebench_testing::snapshot::{assert_line, str};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::gate::{Project, QUIET, SPEC, Special};
use crate::support::judges::skip;
use crate::support::project::{Folder, assert_yes, files_below};

type Tree = BTreeMap<String, Vec<u8>>;

/// A project in which a change is open.
fn project(level: f64) -> Project {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.sessions(&[level, level + 0.2, level - 0.3, level, level + 0.1, level - 0.1], &Special::default());
    project
}

fn tree(folder: &Folder, path: &str) -> Tree {
    folder.tree(path).into_iter().collect()
}

fn report(project: &Project, out: &str) -> (i32, String) {
    let (status, _, said) = project.says(&["report", "--out", out]);
    (status, said)
}

#[test]
fn the_machine_is_nothing_to_a_site() {
    let one = project(90.0);
    assert_eq!(report(&one, "site").0, 0);
    let expected = tree(&one.folder, "site");
    assert!(expected.len() > 12, "{:?}", expected.keys());
    let variants: [fn(&mut Command) -> &mut Command; 4] = [
        |command| command.env("TZ", "Pacific/Kiritimati").env("RAYON_NUM_THREADS", "1"),
        |command| command.envs([("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8")]).args(["--color", "always"]),
        |command| command.env("HOME", "/nonexistent").env("RAYON_NUM_THREADS", "5"),
        |command| command.env("SOURCE_DATE_EPOCH", "0"),
    ];
    for (number, change) in variants.into_iter().enumerate() {
        let mut command = one.folder.command(&["report", "--out", "other"]);
        command.env("XDG_CACHE_HOME", one.folder.path().join(format!(".cache/{number}")));
        assert_yes(&change(&mut command).output().unwrap());
        assert!(tree(&one.folder, "other") == expected, "variant {number}");
    }
    // Another folder, whose files were made in another order and under another umask.
    let other = Folder::with([("x", "")]);
    for path in files_below(one.folder.path()).into_iter().rev() {
        let name = path.strip_prefix(one.folder.path()).unwrap().to_str().unwrap();
        if !name.starts_with("site") && !name.starts_with("other") && !name.starts_with(".cache") {
            other.write(name, fs::read(&path).unwrap());
        }
    }
    let script = "umask 027; cd specs && exec \"$0\" report --out \"$1\"/site";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_kubebench")]).arg(other.path()).current_dir(other.path());
    assert_yes(&shell.env("XDG_CACHE_HOME", other.path().join(".cache")).output().unwrap());
    assert!(tree(&other, "site") == expected, "another folder");
}

/// Files that are not the report's.
const FOREIGN: [(&str, &str); 5] = [
    ("site/CNAME", "bench.example.com\n"),
    ("site/.git/HEAD", "ref: refs/heads/pages\n"),
    ("site/mine/index.html", "mine\n"),
    ("site/.kubebench-report-notes/x", "mine\n"),
    ("site/overview.html", "mine\n"),
];

fn assert_foreign(folder: &Folder, when: &str) {
    for (path, text) in FOREIGN {
        let found = fs::read_to_string(folder.path().join(path));
        assert_eq!(found.ok().as_deref(), Some(text), "{path} {when}");
    }
}

/// The files of the site alone.
fn own(folder: &Folder) -> Tree {
    let mut all = tree(folder, "site");
    for (path, _) in FOREIGN {
        all.remove(path.trim_start_matches("site/"));
    }
    all
}

#[test]
fn what_else_is_in_the_folder_stays() {
    let project = project(90.0);
    for (path, text) in FOREIGN {
        project.folder.write(path, text);
    }
    assert_eq!(report(&project, "site").0, 0);
    assert_foreign(&project.folder, "after the first report");
    let whole = own(&project.folder);
    // What an earlier report had, and this one has not.
    project.folder.write("site/left-out.html", "old\n");
    project.folder.write("site/benchmarks/gone/index.html", "old\n");
    assert_eq!(report(&project, "site").0, 0);
    assert_foreign(&project.folder, "after the second one");
    assert!(own(&project.folder) == whole);
    for (foreign, refusal) in [
        (
            "index.html",
            str! {"error: taken holds index.html, which no report wrote and a report would overwrite; choose another folder"},
        ),
        (
            "badges/x.svg",
            str! {"error: taken holds badges, which no report wrote and a report would overwrite; choose another folder"},
        ),
        (
            "site.css",
            str! {"error: taken holds site.css, which no report wrote and a report would overwrite; choose another folder"},
        ),
    ] {
        project.folder.write(&format!("taken/{foreign}"), "somebody's\n");
        let (status, said) = report(&project, "taken");
        assert_eq!(status, 2, "{said}");
        assert_line(&said, refusal);
        assert_eq!(tree(&project.folder, "taken").len(), 1, "{said}");
        fs::remove_dir_all(project.folder.path().join("taken")).unwrap();
    }
    project.folder.write("file", "x");
    assert_line(&report(&project, "file").1, str! {"error: file is a file, but a report is a folder"});
}

/// The part of a site that is exchanged at once: a file at its top, or a folder there.
fn parts(tree: &Tree) -> BTreeMap<&str, BTreeMap<&str, &[u8]>> {
    let mut parts: BTreeMap<&str, BTreeMap<&str, &[u8]>> = BTreeMap::new();
    for (path, bytes) in tree.iter().filter(|(path, _)| !path.starts_with(".kubebench-report")) {
        parts.entry(path.split('/').next().unwrap()).or_default().insert(path, bytes);
    }
    parts
}

#[test]
fn a_killed_report_leaves_no_part_of_a_site_half_written() {
    let projects = [project(90.0), project(85.0)];
    let trees = projects.each_ref().map(|project| {
        assert_eq!(report(project, "site").0, 0);
        tree(&project.folder, "site")
    });
    assert!(trees[0] != trees[1]);
    let out = Folder::with(FOREIGN);
    let start = |generation: usize| {
        let project = &projects[generation];
        let mut command = project.folder.command(&["report", "--out"]);
        command.arg(out.path().join("site")).env("XDG_CACHE_HOME", project.folder.path().join(".cache"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let started = Instant::now();
    assert!(start(0).wait().unwrap().success());
    let mut whole = started.elapsed();
    let mut killed = 0;
    for round in 0_u32..16 {
        let mut child = start(1 - round as usize % 2);
        std::thread::sleep(whole * (round * 7 % 16) / 15 + Duration::from_millis(1));
        drop(child.kill());
        if child.wait().unwrap().signal().is_some() {
            killed += 1;
        } else {
            whole = whole * 4 / 5;
        }
        assert_foreign(&out, &format!("in round {round}"));
        let found = own(&out);
        let (found, one, other) = (parts(&found), parts(&trees[0]), parts(&trees[1]));
        for name in one.keys() {
            let part = found.get(name).unwrap_or_else(|| panic!("{name} is missing in round {round}"));
            assert!(*part == one[name] || *part == other[name], "{name} is neither old nor new in round {round}");
        }
        let next = round as usize % 2;
        assert!(start(next).wait().unwrap().success());
        assert!(own(&out) == trees[next], "round {round}");
    }
    println!("{killed} of 16 were killed; a whole one took {whole:?}");
    assert!(killed >= 4, "only {killed} were killed in time");
}

#[test]
fn two_reports_at_once_end_well() {
    let project = project(90.0);
    assert_eq!(report(&project, "alone").0, 0);
    let children: Vec<_> = (0..4)
        .map(|_| project.folder.command(&["report", "--out", "site"]).stderr(Stdio::null()).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert!(tree(&project.folder, "site") == tree(&project.folder, "alone"));
}

/// Runs a script in the project with file systems of its own; none where that is not allowed.
fn with_mounts(folder: &Path, script: &str) -> Option<(i32, String)> {
    let is_allowed = Command::new("unshare").args(["-m", "sh", "-c", "mount -t tmpfs none /mnt"]).output();
    if !is_allowed.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let script = script.replace("REPORT", &format!("{} report --out site", env!("CARGO_BIN_EXE_kubebench")));
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).current_dir(folder).output().unwrap();
    Some((output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn a_full_or_read_only_disk_is_said_and_keeps_the_old_site() {
    let project = project(90.0);
    fs::create_dir_all(project.folder.path().join("site")).unwrap();
    let folder = project.folder.path();
    let full = "mount -t tmpfs -o size=1m none site && REPORT && cp -a site before &&
        dd if=/dev/zero of=site/fill bs=1k count=2000 2>/dev/null; REPORT; code=$?; rm site/fill; diff -r before site >&2 || exit 77; exit $code";
    let Some((status, said)) = with_mounts(folder, full) else {
        let name = "a_full_or_read_only_disk_is_said_and_keeps_the_old_site";
        return skip(name, "mounts", "run it where a user may mount file systems in a namespace of their own");
    };
    assert_eq!(status, 2, "{said}");
    assert_line(&said, str! {"error: cannot write site: No space left on device (os error 28)"});
    assert!(said.contains("No space left on device"), "{said}");
    fs::remove_dir_all(folder.join("before")).unwrap();
    let read_only = "mount -t tmpfs none site && REPORT && cp -a site before && mount -o remount,ro site && REPORT;
        code=$?; diff -r before site >&2 || exit 77; exit $code";
    let (status, said) = with_mounts(folder, read_only).unwrap();
    assert_eq!(status, 2, "{said}");
    assert_line(&said, str! {"error: cannot write to site: Read-only file system (os error 30)"});
    assert!(said.contains("Read-only file system"), "{said}");
}
