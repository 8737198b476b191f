mod node;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Followed, LogName, Logs, NoLog, Place};
use crate::ingest::rules::Rules;
use crate::redact::Redactor;
use node::{Node, Origin, shown};

const LONG: Duration = Duration::from_secs(20);
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
    let start = Instant::now();
    while text(folder) != wanted {
        assert!(start.elapsed() < LONG, "{:?} is not {wanted:?}", text(folder));
        std::thread::yield_now();
    }
}

fn finish(logs: Logs) -> Followed {
    let mut all = logs.finish(LONG);
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
fn a_restarted_container_is_read_to_the_end_of_each_of_its_instances() {
    let (node, folder) = (Arc::new(Node::default()), tempfile::tempdir().unwrap());
    let mut logs = logs(&node, folder.path());
    node.pod("a");
    node.write("a1\n");
    logs.see("worker", 0, &shown("a", 1, 0, "running"), "main");
    await_text(folder.path(), "a1\n");
    // Nobody can be asked while it ends and is started again.
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
