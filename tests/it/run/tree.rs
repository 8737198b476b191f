//! Nothing outlives a run, whoever is killed and however hard its processes try.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Instant;

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, str};

use super::{LOSS, SECONDS, alive, finish, job, metric, project, run, send, shell, start, until, until_made};

/// Leaves processes behind in every way: in a session of its own, orphaned at once, deaf to SIGTERM, and all of them at once.
const FAMILY: &str = "
setsid sleep 1001 &
(setsid sh -c 'sleep 1002 & sleep 1003 &' &)
sh -c 'trap \"\" TERM HUP INT; while :; do sleep 0.2; done' &
setsid sh -c 'trap \"\" TERM; (sh -c \"trap : TERM; while :; do sleep 0.2; done\" &) ; sleep 1004' &
sleep 0.3
touch $KUBEBENCH_EXP_OUTPUT_PATH/ready
echo loss 1
";

/// A stubborn one takes ten seconds to be killed; the others go at once.
const MEEK: &str = "
setsid sleep 1001 &
(setsid sh -c 'sleep 1002 & sleep 1003 &' &)
sleep 0.3
touch $KUBEBENCH_EXP_OUTPUT_PATH/ready
echo loss 1
";

pub(super) fn after_a_normal_end() {
    let folder = job(FAMILY, &[LOSS]);
    let ran = run(&folder, &[]);
    assert_eq!(alive(&folder), []);
    let result = ran.ended(Status::Succeeded, 0);
    assert_eq!(metric(result, "loss").value, Some(1.0));
}

pub(super) fn after_a_timeout() {
    let folder = job("trap '' TERM; echo loss 1; while :; do sleep 0.1; done", &[LOSS, "timeout: 1s"]);
    let started = Instant::now();
    let ran = run(&folder, &[]);
    assert!(started.elapsed().as_secs() >= 10, "{:?}", started.elapsed());
    let result = ran.ended(Status::TimedOut, 1);
    assert_eq!(result.run.exits[0].signal.as_deref(), Some("SIGKILL"));
    assert_eq!(alive(&folder), []);
}

/// The duration is of the program, not of what it left.
#[test]
fn what_holds_the_output_does_not_hold_the_run() {
    let slow = "(trap \"trap '' TERM; sleep 2; exit\" TERM; touch $KUBEBENCH_EXP_OUTPUT_PATH/ready; while :; do sleep 0.1; done) &";
    let ready = "until test -e $KUBEBENCH_EXP_OUTPUT_PATH/ready; do sleep 0.1; done";
    let folder = job(
        &format!("sleep 1001 & setsid sleep 1002 & {slow} {ready}; echo loss 1; exit 0"),
        &[&LOSS.replace("}]", "}, {name: run, unit: s, better: lower, from: {duration: run}}]")],
    );
    let started = Instant::now();
    let ran = run(&folder, &[]);
    let elapsed = started.elapsed().as_secs_f64();
    assert_eq!(alive(&folder), []);
    let run = metric(ran.ended(Status::Succeeded, 0), "run").value.unwrap();
    assert!(run + 2.0 <= elapsed, "{run} of {elapsed}");
}

pub(super) fn when_kubebench_is_killed() {
    let folder = job(&format!("{FAMILY} sleep 1000"), &[SECONDS]);
    let mut child = start(&folder, &[]);
    until_made(&folder, "ready");
    assert!(alive(&folder).len() > 6, "{:?}", alive(&folder));
    send(child.id(), "KILL");
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    until("the end of all", || alive(&folder).is_empty());
}

/// `killall -9 kubebench` leaves those to live that end the rest.
#[test]
fn supervisors_have_another_name() {
    let folder = job("cat /proc/$PPID/comm; echo loss 1", &[LOSS]);
    run(&folder, &[]).ended(Status::Succeeded, 0);
    assert_eq!(super::log(&folder, "job-0.log"), b"kb-supervisor\nloss 1\n");
}

pub(super) fn when_a_supervisor_is_killed() {
    let script = format!("{MEEK} while :; do sleep 0.2; done");
    let workload = format!("job: {{completions: 2, parallelism: 2, {}}}", shell(&script));
    let folder =
        project(&workload, &[&LOSS.replace("}]", "}, {name: run, unit: s, better: lower, from: {duration: run}}]")]);
    let child = start(&folder, &[]);
    until_made(&folder, "ready");
    let supervisor = alive(&folder).into_iter().find(|(_, words)| words.contains(" supervise ")).unwrap();
    send(supervisor.0.unsigned_abs(), "KILL");
    let ran = finish(&folder, child);
    assert_eq!(alive(&folder), []);
    let result = ran.ended(Status::Failed, 1);
    assert!(result.run.exits.iter().any(|exit| exit.signal.as_deref() == Some("SIGKILL")), "{:?}", result.run.exits);
    assert_eq!(metric(result, "loss").value, Some(1.0));
    let run = metric(result, "run");
    assert!(run.value.is_none() && run.reason.as_ref().unwrap().contains("supervisor"), "{run:?}");
    assert_eq!(result.run.timings.run_seconds, None);
}

/// What a shell left to this program by `exec` is not of the run, also when orphans of the run are ended.
pub(super) fn inherited_processes_stay() {
    for (kill, text) in [("true", "MEDIAN"), ("kill -9 $PPID", "")] {
        let folder = job(&format!("echo yes > $PWD0/began; sleep 2.5; echo loss 1; {kill}"), &[LOSS]);
        let script = format!(
            "export PWD0=$PWD; sh -c 'sleep 1010 & echo $! > grandchild; wait' & echo $! > child; until test -s grandchild; do sleep 0.01; done;
            sh -c 'until test -s began; do sleep 0.01; done; sleep 1010 & echo $! > orphan; sleep 1.5' &
            exec {} run specs --pass-env PWD0 > >(sleep 0.5; cat > table; echo end >> table)",
            env!("CARGO_BIN_EXE_kubebench")
        );
        // Whoever reads this test's output must not wait for what stays.
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &script]).current_dir(folder.path()).stdin(Stdio::null());
        shell.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        let stayed = ["child", "grandchild", "orphan"].map(|name| {
            let pid = read(name).trim().parse().unwrap();
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let is_alive = state.contains(") S ");
            if is_alive {
                send(pid, "KILL");
            }
            is_alive
        });
        assert_eq!(stayed, [true, true, true], "{kill}");
        until("the end of the table", || read("table").ends_with("end\n"));
        assert!(read("table").contains(text), "{kill}: {}", read("table"));
    }
}

#[test]
fn when_a_replica_is_killed() {
    let folder = job(&format!("{MEEK} while :; do sleep 0.2; done"), &[LOSS]);
    let child = start(&folder, &[]);
    until_made(&folder, "ready");
    let replica = alive(&folder).into_iter().find(|(_, words)| words.starts_with("sh -c")).unwrap();
    send(replica.0.unsigned_abs(), "KILL");
    let ran = finish(&folder, child);
    assert_eq!(alive(&folder), []);
    let result = ran.ended(Status::Failed, 1);
    assert_eq!(result.run.exits[0].signal.as_deref(), Some("SIGKILL"));
    assert_line(&ran.stderr, str! {"    job-0 was terminated by SIGKILL"});
}

/// Processes that start others faster than anybody can list them.
#[test]
fn a_small_storm_of_processes() {
    let folder = job(
        "f() { sleep 0.05; (setsid sh -c 'sleep 30' &); }; (while :; do f; done) & echo loss 1; sleep 0.5",
        &[LOSS],
    );
    let ran = run(&folder, &[]);
    assert_eq!(alive(&folder), []);
    ran.ended(Status::Succeeded, 0);
}
