#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use super::super::tests::session;
use super::{Logs, state_of};
use crate::step::tests::cluster;
use kubebench_host::process::KeptLog;
use kubebench_testing::server::{Server, stall};

#[test]
fn of_a_step_that_never_came_back_the_log_is_ended_and_nothing_else_stays() {
    let (server, folder) = (Server::new(|_, _| stall()), tempfile::tempdir().unwrap());
    let session = session(cluster(&server), folder.path());
    let output = folder.path().join("matmul-0a1b2c3d");
    let log = output.join("logs/prepare-0.log");
    std::fs::create_dir_all(output.join("logs")).unwrap();
    std::fs::create_dir(state_of(&output)).unwrap();
    let (mut kept, _) = KeptLog::resume(&log, &state_of(&output), 8).unwrap();
    kept.write(b"one\ntwo\nthree\n");
    kept.mark("");
    drop(kept);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "one\n", "its last half is elsewhere");
    for _ in 0..2 {
        Logs::end_left(&session, &output);
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("one\n\n[kubebench: ") && text.ends_with("ree\n"), "{text}");
        assert!(!state_of(&output).exists());
    }
    let never = folder.path().join("matmul-00000000");
    Logs::end_left(&session, &never);
    assert!(!never.exists(), "a session without `prepare` gets no folder for its logs");
}
