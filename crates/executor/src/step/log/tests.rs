#![expect(clippy::disallowed_methods, reason = "tests look at files")]
#![expect(clippy::string_slice, reason = "of texts that are all ASCII")]

mod node;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{Followed, LogName, Logs, NoLog, Place};
use crate::observe::Places;
use kubebench_extract::rules::Rules;
use kubebench_host::process::KeptLog;
use kubebench_syntax::redact::Redactor;
use kubebench_testing::snapshot::{assert_text, str};
use kubebench_testing::watchdog::{WATCHDOG, until};
use node::{Node, Origin, shown};

const RULES: &str =
    r#"{"schemaVersion":1,"metrics":[{"name":"loss","from":{"log":{"pattern":"loss=(?<value>[0-9.]+)"}}}]}"#;

fn logs(node: &Arc<Node>, folder: &Path) -> Logs {
    let place = Place { output: folder.join("output"), state: folder.join("state"), limit: 1 << 20 };
    let rules = Rules::read(RULES).unwrap();
    Logs::new(Arc::new(Origin(Arc::clone(node))), place, Arc::new(rules), Arc::new(Redactor::default()))
}

fn text(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("output/logs/worker-0.log")).unwrap_or_default()
}

/// Waits until the log holds `wanted`.
fn await_text(folder: &Path, wanted: &str) {
    until(&format!("the log is {wanted:?}"), || text(folder) == wanted);
}

fn finish(logs: Logs) -> Followed {
    let mut all = logs.finish(WATCHDOG);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn a_log_is_kept_from_its_first_line_to_its_last() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    logs.see("worker", 0, &shown("a", 1, 0, "waiting"), "main");
    assert!(node.world().asked.is_empty(), "there is none yet");
    node.write("loss=1\n");
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    await_text(folder.path(), "loss=1\n");
    node.change(|world| world.cuts = vec![70, 3, 40, 0]);
    node.write("loss=2\nloss=3\nprogress 1\rprogress 2\nthe end");
    node.end();
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    let followed = finish(logs);
    assert_eq!(text(folder.path()), "loss=1\nloss=2\nloss=3\nprogress 1\rprogress 2\nthe end");
    assert_eq!((followed.fault, followed.dropped, followed.name.path().as_str()), (None, 0, "logs/worker-0.log"));
    assert_eq!(followed.last_lines.last().unwrap(), "the end");
    assert_eq!(followed.scan.finish().scanned.patterns[0].matched, 3);
}

#[test]
fn what_a_runtime_writes_after_it_has_shown_the_end_is_read_too() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.write("loss=1\n");
    let late = |second: i64, text: &str| node::Entry {
        stamp: 1_795_000_000_000_000_000 + second * 1_000_000_000,
        text: text.as_bytes().to_vec(),
        is_end: true,
    };
    node.change(|world| world.late = vec![late(1, "loss=2"), late(1, "loss=3")]);
    node.end();
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    let followed = finish(logs);
    assert_eq!((text(folder.path()).as_str(), followed.fault), ("loss=1\nloss=2\nloss=3\n", None));
    assert_eq!(followed.scan.finish().scanned.patterns[0].matched, 3);
}

#[test]
fn a_stream_that_misses_the_end_of_its_container_is_left() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.change(|world| world.is_deaf = true);
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    until("the log is followed", || node.world().asked.len() == 1);
    node.write("loss=1\n");
    node.end();
    assert!(node.world().asked[0].follow);
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    let followed = finish(logs);
    assert_eq!((text(folder.path()).as_str(), followed.fault), ("loss=1\n", None));
}

#[test]
fn a_restarted_container_is_read_to_the_end_of_each_of_its_instances() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.write("a1\n");
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    await_text(folder.path(), "a1\n");
    // The node does not answer while it ends and is started again.
    node.change(|world| world.down = Some(NoLog::Later("no route to host".to_owned())));
    node.write("a2\na3 without an end");
    node.restart();
    node.change(|world| {
        world.pods[0].instances[1].entries =
            vec![node::Entry { stamp: 1_795_000_100_000_000_000, text: b"b1".to_vec(), is_end: true }];
        world.down = None;
    });
    await_text(folder.path(), "a1\na2\na3 without an end\nb1\n");
    logs.see("worker", 0, &shown("a", 1, 1, "running"), "main");
    node.end();
    logs.see("worker", 0, &shown("a", 1, 1, "terminated"), "main");
    let followed = finish(logs);
    assert_eq!((text(folder.path()).as_str(), followed.fault), ("a1\na2\na3 without an end\nb1\n", None));
}

/// A server continues after the run that it was loaded by, and the next run begins where that one ended.
#[test]
fn the_log_of_what_continues_is_cut_and_read_by_the_next_run() {
    let (node, first, second) = (Arc::new(Node::default()), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, first.path());
    node.pod("a");
    node.write("loss=1\n");
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    await_text(first.path(), "loss=1\n");
    logs.cut(&["worker".to_owned()]);
    let followed = finish(logs);
    assert_eq!((text(first.path()).as_str(), followed.fault), ("loss=1\n", None));
    let mark = KeptLog::last_mark(&first.path().join("state"), "worker-0.log").unwrap();
    node.write("between\n");
    let mut logs = self::logs(&node, second.path());
    logs.continue_from([("worker-0.log".to_owned(), mark)].into());
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    node.write("loss=2\n");
    await_text(second.path(), "between\nloss=2\n");
    node.end();
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    let followed = finish(logs);
    assert_eq!((text(second.path()).as_str(), followed.fault), ("between\nloss=2\n", None));
    assert_eq!(followed.scan.finish().scanned.patterns[0].matched, 1);
}

#[test]
fn a_log_that_jumps_while_it_comes_too_slowly_may_lack_lines() {
    for pause in [2, 60] {
        let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
        let mut logs = logs(&node, folder.path());
        node.pod("a");
        // Far behind the moment at which the stream was opened.
        let second = kubebench_host::machine::clock().as_second() + 600;
        let long = "x".repeat(99_999);
        node.change(|world| {
            let line = |stamp: i64, text: &str| node::Entry { stamp, text: text.into(), is_end: true };
            let nanos = second * 1_000_000_000;
            let entries =
                [line(nanos, &long), line(nanos + 1_000_000, &long), line(nanos + pause * 1_000_000_000, "end")];
            world.pods[0].instances[0].entries.extend(entries);
        });
        node.end();
        logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
        let fault = finish(logs).fault.unwrap_or_default();
        assert_eq!(fault.starts_with("lines may be missing between "), pause == 60, "{fault}");
        assert!(text(folder.path()).ends_with("x\nend\n"));
    }
}

#[test]
fn a_pod_that_goes_before_all_was_read_is_a_fault_and_one_that_was_read_is_none() {
    for is_cut in [false, true] {
        let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
        let mut logs = logs(&node, folder.path());
        node.pod("a");
        if is_cut {
            let cuts = std::iter::repeat_n(0, 10_000).chain([35]);
            node.change(|world| world.cuts = cuts.collect());
        }
        node.write("one\n");
        logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
        await_text(folder.path(), "one\n");
        if is_cut {
            node.change(|world| world.down = Some(NoLog::Gone("pods \"a\" not found".to_owned())));
        }
        node.write("two\n");
        node.end();
        if !is_cut {
            await_text(folder.path(), "one\ntwo\n");
        }
        node.change(|world| world.pods[0].is_gone = true);
        logs.lose("uid-a");
        let followed = finish(logs);
        let lost =
            "its pod was gone before the whole log was read: pods \"a\" not found; before that: connection reset"
                .to_owned();
        assert_eq!(followed.fault, is_cut.then_some(lost));
    }
}

#[test]
fn a_log_is_followed_until_its_container_has_ended() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.write("one\n");
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    await_text(folder.path(), "one\n");
    node.end();
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    assert_eq!(finish(logs).fault, None);
    let follows: Vec<bool> = node.world().asked.iter().map(|ask| ask.follow).collect();
    assert_eq!((follows.first(), follows.last()), (Some(&true), Some(&false)), "{follows:?}");
}

#[test]
fn a_step_that_comes_back_when_the_pod_is_gone_ends_what_it_had() {
    for is_over in [false, true] {
        let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
        let mut first = logs(&node, folder.path());
        node.pod("a");
        node.write("loss=1\nloss=2\n");
        first.see("worker", 0, &shown("a", 1, 0, "running"), "main");
        await_text(folder.path(), "loss=1\nloss=2\n");
        if is_over {
            node.end();
            first.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
            until("the end of the log", || !first.lags());
        }
        first.kill();
        for _ in 0..2 {
            // The second time all is done, and what became of it is still known.
            let followed = finish(logs(&node, folder.path()));
            let why = "its pod was gone when the step was restarted, so the rest is lost".to_owned();
            assert_eq!(followed.fault, (!is_over).then_some(why));
            assert_eq!(followed.scan.finish().scanned.patterns[0].matched, 2);
            assert_eq!((followed.last_lines.len(), text(folder.path()).as_str()), (2, "loss=1\nloss=2\n"));
        }
    }
}

/// Another version of this program wrote how far it was.
#[test]
fn a_log_that_was_read_to_an_unknown_place_says_so() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    drop(logs(&node, folder.path()));
    let (path, state) = (folder.path().join("output/logs/worker-0.log"), folder.path().join("state"));
    let (mut kept, _) = KeptLog::resume(&path, &state, 1 << 20).unwrap();
    kept.write(b"loss=1\n");
    kept.mark("{\"uid\": 7}");
    drop(kept);
    let fault = finish(logs(&node, folder.path())).fault.unwrap();
    assert!(fault.contains("how far it was read is unknown, so it may repeat lines: "), "{fault}");
}

#[test]
fn what_the_kubelet_says_instead_of_the_log_is_not_of_the_log() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.write("one\n");
    node.end();
    node.change(|world| world.says = Some("failed to create fsnotify watcher: too many open files".to_owned()));
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    assert_eq!(finish(logs).fault, None, "the next time it gives all");
    assert_eq!(text(folder.path()), "one\n");

    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = super::tests::logs(&node, folder.path());
    node.pod("a");
    node.change(|world| world.down = Some(NoLog::Refused("container is not valid".to_owned())));
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    assert_text(finish(logs).fault.unwrap(), str! {"the answer to the request for it was: container is not valid"});
}

#[test]
fn lines_that_a_rotation_took_away_are_said_to_be_missing_perhaps() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.change(|world| world.cuts = vec![35]);
    node.write("one\n");
    node.change(|world| world.down = Some(NoLog::Later("no route to host".to_owned())));
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    node.change(|world| world.down = None);
    await_text(folder.path(), "one\n");
    node.change(|world| world.down = Some(NoLog::Later("no route to host".to_owned())));
    node.write("two\nthree\n");
    node.change(|world| {
        world.pods[0].instances[0].entries.drain(..2);
        world.cuts.clear();
        world.down = None;
    });
    await_text(folder.path(), "one\nthree\n");
    node.end();
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    let fault = finish(logs).fault.unwrap();
    assert!(fault.starts_with("lines may be missing after 2026-"), "{fault}");
}

#[test]
fn nobody_waits_forever() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.change(|world| world.down = Some(NoLog::Later("no route to host".to_owned())));
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    until("the second try", || node.world().asked.len() >= 2);
    let fault = logs.finish(Duration::from_millis(50)).remove(0).fault.unwrap();
    assert_text(fault, str! {"it was not read to its end: no route to host"});
}

#[test]
fn a_volume_that_takes_nothing_loses_the_log_and_no_value() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("output"), "no folder").unwrap();
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.write("loss=1\nloss=2\n");
    node.end();
    logs.see("worker", 0, &shown("a", 1, 0, "terminated"), "main");
    let followed = finish(logs);
    assert!(followed.fault.unwrap().contains("Not a directory"));
    assert_eq!((followed.dropped, followed.scan.finish().scanned.patterns[0].matched), (14, 2));
}

#[test]
fn names_say_whose_log_it_is() {
    let main = LogName::new("ps", 3, None);
    assert_eq!((main.path().as_str(), LogName::of_file("ps-3.log")), ("logs/ps-3.log", Some(main.clone())));
    let other = LogName::new("a-b", 0, Some("side-car"));
    assert_eq!(
        (other.path().as_str(), LogName::of_file("a-b-0.side-car.log")),
        ("logs/a-b-0.side-car.log", Some(other))
    );
    assert_eq!([LogName::of_file("x"), LogName::of_file("x.log"), LogName::of_file("-1.txt")], [None, None, None]);
}

/// Draws numbers, the same for each seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A run of two pods, whose containers are restarted, while streams are cut, requests fail, and the step is killed.
fn through_everything(seed: u64) {
    let draw = &mut Draw(seed);
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    let mut wanted = Vec::new();
    let mut stamp = 1_795_000_000_999_000_000_i64;
    let mut shown_pods = Vec::new();
    for (created, pod) in [(1, "a"), (2, "b")] {
        if wanted.last().is_some_and(|last| *last != b'\n') {
            wanted.push(b'\n');
        }
        node.pod(pod);
        for restarts in 0..=usize::try_from(draw.below(3)).unwrap() {
            if restarts > 0 {
                await_start(folder.path(), wanted.len());
                if *wanted.last().unwrap() != b'\n' {
                    wanted.push(b'\n');
                }
                node.restart();
                // To start a container takes longer than the stamps of its outputs cross.
                stamp += 1_000_000;
            }
            let lag = restarts - usize::try_from(draw.below(2)).unwrap().min(restarts);
            let mut now = shown(pod, created, lag, "running");
            logs.see("worker", 0, &now, "main");
            for number in 0..=draw.below(30) {
                stamp += [0, 0, 1, 100_000_000, 700_000_000, 3_000_000_000][usize::try_from(draw.below(6)).unwrap()];
                let crossed = stamp - i64::try_from(draw.below(3)).unwrap() * 400;
                let text =
                    format!("{pod}{restarts}.{number}{}", "x".repeat(usize::try_from(draw.below(4) * 10).unwrap()));
                let is_end = number == 0 || draw.below(5) > 0;
                wanted.extend_from_slice(text.as_bytes());
                wanted.extend_from_slice(if is_end { b"\n" } else { b"" });
                node.change(|world| {
                    let entry = node::Entry { stamp: crossed, text: text.into_bytes(), is_end };
                    world.pods.last_mut().unwrap().instances.last_mut().unwrap().entries.push(entry);
                });
                match draw.below(12) {
                    0 => node.change(|world| world.cuts.push(usize::try_from(draw.below(400)).unwrap())),
                    1 => node.change(|world| world.down = Some(NoLog::Later("down".to_owned()))),
                    2 => node.change(|world| world.down = None),
                    3 => std::thread::sleep(Duration::from_millis(1)),
                    4 => {
                        logs.kill();
                        logs = super::tests::logs(&node, folder.path());
                        for earlier in &shown_pods {
                            logs.see("worker", 0, earlier, "main");
                        }
                        logs.see("worker", 0, &now, "main");
                        logs.list();
                    }
                    _ => {}
                }
            }
            node.change(|world| world.down = None);
            now = shown(pod, created, restarts, "running");
            logs.see("worker", 0, &now, "main");
        }
        node.end();
        let restarts = node.world().pods.last().unwrap().instances.len() - 1;
        shown_pods.push(shown(pod, created, restarts, "terminated"));
        logs.see("worker", 0, shown_pods.last().unwrap(), "main");
    }
    let followed = finish(logs);
    let kept = std::fs::read(folder.path().join("output/logs/worker-0.log")).unwrap();
    let (kept, wanted) = (String::from_utf8(kept).unwrap(), String::from_utf8(wanted).unwrap());
    let at = kept.bytes().zip(wanted.bytes()).take_while(|(kept, wanted)| kept == wanted).count();
    let near = |text: &str| text[at.saturating_sub(80).min(text.len())..(at + 80).min(text.len())].to_owned();
    assert!(kept == wanted, "seed {seed}: {:?} is not {:?}", near(&kept), near(&wanted));
    assert_eq!((followed.fault, followed.dropped), (None, 0), "seed {seed}");
    assert_eq!(
        followed.scan.finish().scanned.bytes,
        wanted.len() as u64,
        "seed {seed}: what is scanned is what is kept"
    );
}

/// Waits until something of the last instance was read: a kubelet knows one instance before that which runs.
fn await_start(folder: &Path, written: usize) {
    until(&format!("the log has {written} bytes"), || text(folder).len() >= written);
}

#[test]
fn what_is_kept_is_what_was_written() {
    (0..30).for_each(through_everything);
}

#[test]
fn whose_logs_were_begun_is_known_to_the_next_step() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut first = logs(&node, folder.path());
    assert_eq!(first.places(), Places::new());
    for (index, name) in (0..).zip(["a", "b"]) {
        node.pod(name);
        node.write("one\n");
        first.see("worker", index, &shown(name, 1, 0, "running"), "main");
    }
    let at = |index: u32| std::fs::read_to_string(folder.path().join(format!("output/logs/worker-{index}.log")));
    until("a line of each", || (0..2).all(|index| at(index).unwrap_or_default() == "one\n"));
    first.kill();
    let second = logs(&node, folder.path());
    let place = |index| ("worker".to_owned(), index);
    assert_eq!(second.places(), Places::from([("uid-a".to_owned(), place(0)), ("uid-b".to_owned(), place(1))]));
}
