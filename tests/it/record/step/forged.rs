//! Results that no step made: what a pod puts on the volume of a suite, which all its benchmarks share.

use super::*;

/// What a result may be that a pod made up.
type Change = fn(&mut BenchmarkResult);

#[test]
fn results_that_no_step_made_are_refused_by_name_and_the_rest_recorded() {
    let mut pod = Pod::new("branch");
    pod.environment = vec![("KUBEBENCH_SUITE", "nightly".to_owned()), ("KUBEBENCH_BENCHMARK", String::new())];
    let right = pod.put(1);
    let forged: [(Change, &str); 9] = [
        (|result| result.metadata.target = "prod-gpu".to_owned(), "the target is `prod-gpu`"),
        (|result| result.environment.cluster.engine = "process".to_owned(), "the engine is `process`"),
        (|result| result.environment.cluster.name = "local".to_owned(), "the cluster is `local`"),
        (|result| result.run.started_at = "2020-01-01T00:00:00Z".to_owned(), "before its Workflow"),
        (|result| result.run.finished_at = "2131-01-01T00:00:00Z".to_owned(), "which is in the future"),
        (|result| result.synthetic = true, "its numbers were made by `mock`"),
        (|result| result.source.spec_digest = format!("sha256:{}", "0".repeat(64)), "which its Workflow never had"),
        (|result| result.source.workload_digest = Some("sha256:1".to_owned()), "the workload digest is `sha256:1`"),
        (|result| result.run.session = "another".to_owned(), "`another` left no run list of `matmul`"),
    ];
    for (number, (change, _)) in (2..).zip(forged) {
        pod.put(number);
        let bytes = sealed(number, change).bytes;
        std::fs::write(pod.run(number).join("result.json"), bytes).unwrap();
    }
    // Of no run of the list, of no attempt that a step began, and of a benchmark that there is nowhere.
    let of_no_run = sealed(90, |_| {});
    std::fs::create_dir_all(pod.run(90)).unwrap();
    std::fs::write(pod.run(90).join("result.json"), of_no_run.bytes).unwrap();
    pod.put(91);
    std::fs::remove_file(pod.run(91).join("attempt.json")).unwrap();
    let nowhere = sealed(92, |result| result.metadata.benchmark = "nosuchbenchmark".to_owned());
    let (digest, case) = (&nowhere.result.source.run_digest, &nowhere.result.metadata.case);
    let round = result::round(&nowhere.result.run);
    let name = instance::job_name("nosuchbenchmark", digest, case, &round, 1, instance::Session::Once);
    std::fs::create_dir_all(pod.job(&name)).unwrap();
    std::fs::write(pod.job(&name).join("result.json"), nowhere.bytes).unwrap();

    let (status, words) = pod.record();
    assert_eq!(status, Some(4), "{words}");
    let said = |folder: &str, why: &str| {
        let line = words.lines().find(|line| line.contains(&format!("/{folder}/result.json: ")));
        assert!(line.is_some_and(|line| line.starts_with("error: ") && line.contains(why)), "{why}: {words}");
    };
    for (number, (_, why)) in (2..).zip(forged) {
        said(&job(number), why);
    }
    said(&job(90), "which is not a run of its Workflow");
    said(&job(91), "no step started it");
    said(&name, "left no run list of `nosuchbenchmark`");
    assert_eq!(pod.site.files(), BTreeMap::from([right]));
}
