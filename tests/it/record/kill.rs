//! The process is killed at any moment; doing it again makes everything right: nothing is lost and nothing there twice.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Instant;

use kubebench_git::record::Mode;
use kubebench_testing::watchdog::until;

use super::*;

/// What the killed process does: `fold`, or a mode and the number of a result; with its site in `KUBEBENCH_TEST_SITE`.
const TASK: &str = "KUBEBENCH_TEST_TASK";
const SITE: &str = "KUBEBENCH_TEST_SITE";

/// The process that is killed: this program, asked for this test alone.
#[test]
fn the_killed_process() {
    let (Ok(task), Ok(place)) = (std::env::var(TASK), std::env::var(SITE)) else { return };
    let place = PathBuf::from(place);
    let destination = |mode| Destination {
        mode,
        folder: place.join("project"),
        remote: place.join("remote.git").display().to_string(),
        branch: "kubebench/results".to_owned(),
        inbox: "refs/kubebench/inbox".to_owned(),
        deadline: WATCHDOG,
        credential: None,
        authorities: None,
        host_keys: git::HostKeys::Known,
        signing: Signing::Never,
        cache: place.join("cache"),
        program: PathBuf::from("git"),
        again: "record it again with `kubebench record`",
        tell: |_| {},
    };
    if task == "fold" {
        git::fold(&destination(Mode::Inbox), &judge).unwrap();
        return;
    }
    let (mode, number) = task.split_once(' ').unwrap();
    git::record(&[result(number.parse().unwrap())], &destination(Mode::parse(mode).unwrap())).unwrap();
}

/// This program, asked for [`the_killed_process`] alone.
fn process(site: &Site, task: &str) -> Command {
    // Without the crate, as the test runner names it.
    let (_, here) = module_path!().split_once("::").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("--exact").arg(format!("{here}::the_killed_process")).env(TASK, task).env(SITE, site.path());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a task, kills it after `delay`, and returns whether it was killed.
fn killed(site: &Site, task: &str, delay: Duration) -> bool {
    let mut child = process(site, task).spawn().unwrap();
    std::thread::sleep(delay);
    drop(child.kill());
    !child.wait().unwrap().success()
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_twice() {
    let rounds: u32 = std::env::var("KUBEBENCH_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(16);
    let begun = Instant::now();
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet", "-b", "main"]);
    let tasks = |number: u32| match number % 4 {
        0 => (format!("branch {number}"), Some(Mode::Branch)),
        1 => (format!("inbox {number}"), Some(Mode::Inbox)),
        2 => (format!("local {number}"), Some(Mode::Local)),
        _ => ("fold".to_owned(), None),
    };
    // How long each takes when it is let live.
    let mut whole = BTreeMap::new();
    for number in 0..4 {
        let started = Instant::now();
        let (task, _) = tasks(number);
        assert!(!killed_never(&site, &task), "{task}");
        whole.insert(number, started.elapsed());
    }
    let (mut kills, mut unfinished, mut number) = (0, 0, 3);
    while kills < rounds && number < 3 * rounds {
        number += 1;
        let (task, mode) = tasks(number);
        // From the very start to a little after the end, a different moment in every round.
        let delay = whole[&(number % 4)] * (number * 7 % 23) / 20;
        if !killed(&site, &task, delay) {
            // The machine was busier while the whole was measured.
            whole.entry(number % 4).and_modify(|whole| *whole = *whole * 3 / 4);
            continue;
        }
        kills += 1;
        let Some(mode) = mode else { continue };
        let recorded = site.record(mode, &[result(number)]).unwrap();
        assert_eq!(recorded.conflicts, [], "{task}");
        assert_eq!(recorded.added.len() + recorded.already.len(), 1, "{task}");
        unfinished += recorded.added.len();
    }
    site.fold().unwrap();
    let of = |mode| (0..=number).filter(move |number| tasks(*number).1 == Some(mode)).map(result).collect::<Vec<_>>();
    assert_eq!(site.files(), expected(&[of(Mode::Branch), of(Mode::Inbox)].concat()));
    assert_eq!(site.refs("refs/kubebench"), Vec::<String>::new());
    assert_eq!(files(&project, "main"), expected(&of(Mode::Local)));
    assert_eq!(run(&project, &["status", "--porcelain"]), "");
    for (repository, branch) in [(site.remote(), "kubebench/results"), (project, "main")] {
        let log = run(&repository, &["log", "--format=", "--name-status", branch]);
        let mut lines: Vec<&str> = log.lines().collect();
        let count = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), count, "a path was added twice");
        assert!(lines.iter().all(|line| line.starts_with("A\t")), "{lines:?}");
        run(&repository, &["fsck", "--no-dangling"]);
    }
    // What the killed ones left behind goes when the programs that they had started are through.
    until("a cache without scratch repositories", || {
        site.fold().unwrap();
        std::fs::read_dir(site.path().join("cache")).unwrap().next().is_none()
    });
    let (took, all) = (begun.elapsed(), number - 3);
    println!("{kills} of {all} were killed, {unfinished} of them before the result was recorded; {took:.1?}");
    assert_eq!(kills, rounds, "killed in time");
}

/// Lets a task live, and returns whether it failed.
fn killed_never(site: &Site, task: &str) -> bool {
    !process(site, task).status().unwrap().success()
}
