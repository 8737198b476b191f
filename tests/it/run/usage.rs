//! What processes used and how long they took, compared with what they say themselves.

use std::time::Instant;

use kubebench_format::result::v1::Status;

use super::{job, metric, run};

const ALL: &str = "metrics: [{name: cpu, unit: s, better: lower, from: {process: cpuSeconds}}, {name: rss, unit: B, better: lower, from: {process: maxRss}}, {name: in, unit: B, better: lower, from: {process: readBytes}}, {name: out, unit: B, better: lower, from: {process: writeBytes}}, {name: startup, unit: s, better: lower, from: {duration: startup}}, {name: run, unit: s, better: lower, from: {duration: run}}, {name: queue, unit: s, better: lower, from: {duration: queue}}]";

#[test]
fn cpu_time_of_all_processes() {
    // The shell's own count of its time and its children's, in minutes and seconds.
    let script = "f() { i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; }; f & f; wait; times";
    let folder = job(script, &[ALL]);
    let ran = run(&folder, &[]);
    let counted = metric(ran.ended(Status::Succeeded, 0), "cpu").value.unwrap();
    let text = String::from_utf8(super::log(&folder, "job-0.log")).unwrap();
    let seconds = text.split_whitespace().map(|word| {
        let (minutes, seconds) = word.split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.trim_end_matches('s').parse::<f64>().unwrap()
    });
    let said: f64 = seconds.sum();
    assert!(said > 0.1 && (counted - said).abs() < 0.1, "{counted}, and the shell says {said}");
}

#[test]
fn memory_of_large_and_small_processes() {
    let rss = |script: &str| metric(run(&job(script, &[ALL]), &[]).ended(Status::Succeeded, 0), "rss").clone();
    let large = rss("dd if=/dev/zero of=/dev/null bs=200M count=1").value.unwrap();
    assert!((200e6..280e6).contains(&large), "{large}");
    // Less than a program of this size has itself.
    let small = rss("sleep 0.4").value.unwrap();
    assert!((1e5..5e6).contains(&small), "{small}");
    let none = rss("exit 0");
    assert!(none.value.is_none_or(|value| value < 5e6) && none.value.is_some() != none.reason.is_some(), "{none:?}");
}

#[test]
fn bytes_of_storage() {
    let folder = job("dd if=/dev/zero of=$KUBEBENCH_EXP_OUTPUT_PATH/x bs=1M count=8 conv=fsync", &[ALL]);
    let kind = std::process::Command::new("stat").args(["-f", "-c", "%T"]).arg(folder.path()).output().unwrap();
    let ran = run(&folder, &[]);
    let result = ran.ended(Status::Succeeded, 0);
    let (read, written) = (metric(result, "in").value.unwrap(), metric(result, "out").value.unwrap());
    if kind.stdout.starts_with(b"tmpfs") {
        println!("skipped: a file in memory is not written to storage");
    } else {
        assert!((8e6..20e6).contains(&written), "{written}");
    }
    assert!((0.0..1e8).contains(&read), "{read}");
}

#[test]
fn what_has_a_unit_of_its_own_is_given_in_that_of_the_spec() {
    let metrics = "metrics: [{name: run, unit: ms, better: lower, from: {duration: run}}, {name: rss, unit: MiB, better: lower, from: {process: maxRss}}, {name: odd, unit: B, better: lower, from: {openMetrics: {file: m.txt, name: wait_seconds}}}, {name: wait, unit: ms, better: lower, from: {openMetrics: {file: m.txt, name: wait_seconds}}}, {name: sent, unit: kB, better: lower, from: {openMetrics: {file: m.txt, name: sent}}}, {name: share, unit: '%', better: lower, from: {openMetrics: {file: m.txt, name: share}}}]";
    let script = "printf '# UNIT sent bytes\nsent 1500\nwait_seconds 0.25\nshare 42\n' > $KUBEBENCH_EXP_OUTPUT_PATH/m.txt; dd if=/dev/zero of=/dev/null bs=64M count=1; sleep 0.3";
    let ran = run(&job(script, &[metrics]), &[]);
    let result = ran.ended(Status::Succeeded, 0);
    let value = |name: &str| metric(result, name).value.unwrap();
    assert!((300.0..300_000.0).contains(&value("run")), "{result:#?}");
    assert!((64.0..200.0).contains(&value("rss")), "{result:#?}");
    // What says no unit has that of the spec.
    assert_eq!((value("wait"), value("sent"), value("share")), (250.0, 1.5, 42.0));
    let odd = metric(result, "odd");
    let said = "openMetrics reports it in `s`, which cannot be converted to the metric's unit `B`";
    assert_eq!((odd.value, odd.reason.as_deref()), (None, Some(said)));
}

#[test]
fn durations() {
    let started = Instant::now();
    let ran = run(&job("sleep 1.2", &[ALL]), &[]);
    let elapsed = started.elapsed().as_secs_f64();
    let result = ran.ended(Status::Succeeded, 0);
    let (startup, took) = (metric(result, "startup").value.unwrap(), metric(result, "run").value.unwrap());
    let whole = result.run.duration_seconds;
    assert!(startup >= 0.0 && took >= 1.2 && whole >= took && startup + took <= elapsed, "{elapsed}: {result:#?}");
    assert!(whole <= elapsed, "{elapsed}: {result:#?}");
    let queue = metric(result, "queue");
    assert!(queue.value.is_none() && queue.reason.as_deref() == Some("a local run does not queue"));
    assert!(result.run.started_at <= result.run.finished_at);
    for time in [&result.run.started_at, &result.run.finished_at] {
        assert!(time.len() == "2026-01-02T03:04:05.678Z".len() && time.get(19..20) == Some("."), "{time}");
    }
}

pub(super) fn samples_once_a_second() {
    let ran = run(&job("dd if=/dev/zero of=/dev/null bs=50M count=1 2>&1; sleep 3.3", &[ALL]), &[]);
    let result = ran.ended(Status::Succeeded, 0);
    let names: Vec<&str> = result.monitoring.iter().map(|monitored| monitored.name.as_str()).collect();
    assert_eq!(names, ["process/cpuSeconds", "process/rss", "process/readBytes", "process/writeBytes"]);
    for monitored in &result.monitoring {
        assert!((monitored.step_seconds - 1.0).abs() < 1e-9 && monitored.n >= 2, "{monitored:?}");
        assert!(monitored.n as f64 <= result.run.duration_seconds + 1.0, "{monitored:?}");
        assert_eq!(monitored.samples.len() as u64, monitored.n);
    }
    let ran = run(&job("sleep 1.2", &[super::SECONDS]), &[]);
    assert!(ran.one().monitoring.is_empty(), "nobody asked for it");
}

/// The time of processes that ended stays in the sum: of orphans, of replicas, of those between which nothing runs.
pub(super) fn samples_of_sums_never_fall() {
    let burn = "timeout 0.8 sh -c 'while :; do :; done'";
    let write = "dd if=/dev/zero of=$KUBEBENCH_EXP_OUTPUT_PATH/x bs=1M count=4 conv=fsync";
    let script = format!("{write}; ({burn} &); sleep 1.3; {burn}; sleep 1.2");
    let workload = format!("job: {{completions: 2, parallelism: 1, {}}}", super::shell(&script));
    let ran = run(&super::project(&workload, &[ALL]), &[]);
    let result = ran.ended(Status::Succeeded, 0);
    let samples = |name: &str| -> Vec<f64> {
        let monitored = result.monitoring.iter().find(|monitored| monitored.name == name).unwrap();
        monitored.samples.iter().map(|sample| sample.unwrap()).collect()
    };
    let (cpu, rss) = (samples("process/cpuSeconds"), samples("process/rss"));
    let (read, written) = (samples("process/readBytes"), samples("process/writeBytes"));
    assert!(
        [&read, &written].iter().all(|sums| sums.windows(2).all(|pair| pair[0] <= pair[1])),
        "{read:?} {written:?}"
    );
    let out = metric(result, "out").value.unwrap();
    if out > 0.0 {
        // Two replicas write 4 MiB each at their beginning.
        assert!((8e6..=out).contains(written.last().unwrap()), "{written:?} of {out}");
    }
    assert!(cpu.windows(2).all(|pair| pair[0] <= pair[1]) && cpu.len() > 4, "{cpu:?}");
    let all = metric(result, "cpu").value.unwrap();
    let last = *cpu.last().unwrap();
    assert!((all * 0.7..all * 1.1).contains(&last), "{last} of {all}: {cpu:?}");
    assert!(rss.last().is_some_and(|rss| *rss > 0.0), "{rss:?}");
}

#[test]
fn nothing_is_known_of_what_was_not_started() {
    let workload = format!("job: {{image: {}, resources: {{cpu: 1, memory: 1Gi}}, command: [NOISE]}}", super::IMAGE);
    let folder = super::project(&workload, &[ALL]);
    folder.write("noise", [0x7f, b'E', b'L', b'F', 0, 0, 0]);
    let noise = folder.path().join("noise");
    std::fs::set_permissions(&noise, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for program in ["no-such-program", noise.to_str().unwrap()] {
        drop(std::fs::remove_dir_all(folder.path().join("results")));
        folder.write("specs/b.yaml", super::spec(&workload.replace("NOISE", program), &[ALL]));
        let ran = run(&folder, &[]);
        let result = ran.ended(Status::Failed, 2);
        for name in ["cpu", "rss", "in", "run"] {
            let metric = metric(result, name);
            assert_eq!((metric.value, metric.reason.as_deref()), (None, Some("nothing was started")), "{program}");
        }
    }
}
