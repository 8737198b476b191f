//! The volumes on which results wait until they are recorded.

use super::*;

#[test]
fn no_pod_mounts_the_results_of_others() {
    let volume = |claim: &str| format!(", volumes: [{{name: v, persistentVolumeClaim: {{claimName: {claim}}}}}]");
    for claim in ["base-results", "other-results", "nightly-results", "results", "BASE-results"] {
        let is_own = claim == "base-results";
        pod(&volume(claim), if is_own { &["KB0372 at base-results"] } else { &[] });
        job(
            &format!("pod: {{volumes: [{{name: v, persistentVolumeClaim: {{claimName: {claim}}}}}]}}"),
            if is_own { &["KB0372 at base-results"] } else { &[] },
        );
    }
    // The volume that kubebench adds, by its name: mounted again, in another container, and replaced by another.
    let mounted =
        "resources: {cpu: 1, memory: 1Gi}}}\n  results: {mountInJob: true, claim: {accessModes: [ReadWriteMany]}}\n";
    let of_job = |fields: &str| {
        let [project, spec] = files("{}", &format!("{{job: {{image: 'r.example/a:1', {fields}, {mounted}"));
        check(
            &errors_at(&compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec)])),
            &["KB0372 at kubebench-results"],
        );
    };
    of_job("container: {volumeMounts: [{name: kubebench-results, mountPath: /all}]}");
    of_job(
        "pod: {containers: [{name: beside, image: 'r.example/b:1', volumeMounts: [{name: kubebench-results, mountPath: /all}]}]}",
    );
    of_job("pod: {volumes: [{name: kubebench-results, emptyDir: {}}]}");
    pod(", volumes: [{name: kubebench-results, emptyDir: {}}]", &["KB0372 at kubebench-results"]);
    job(
        "pod: {volumes: [{name: mine, emptyDir: {}}]}, container: {volumeMounts: [{name: mine, mountPath: /all}]}",
        &[],
    );
    beside(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: kubebench}, data: {name: kubebench-results}}",
        &["KB0372 at kubebench"],
    );
}

/// Names of all specs count, whichever of them is compiled first.
#[test]
fn no_pod_mounts_the_claim_of_another_benchmark_or_suite() {
    let [project, spec] = files("{}", "{manifest: {file: jobs/x.yaml}}");
    let other = |name: &str| {
        spec.replace("{name: base}", &format!("{{name: {name}}}")).replace(
            "{manifest: {file: jobs/x.yaml}}",
            "{job: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}}",
        )
    };
    let suite =
        "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: nightly}\nspec: {benchmarks: [{benchmark: z}]}\n";
    for (claim, expected) in
        [("z-results", "KB0372 at z-results"), ("nightly-results", "KB0372 at nightly-results"), ("y-results", "")]
    {
        let manifest = of_pod(&format!(", volumes: [{{name: v, persistentVolumeClaim: {{claimName: {claim}}}}}]"));
        let files = [
            ("kubebench.yaml", project.as_str()),
            ("specs/a.yaml", &spec),
            ("specs/z.yaml", &other("z")),
            ("specs/n.yaml", suite),
            ("jobs/x.yaml", &manifest),
        ];
        let found = errors_at(&compile(&files));
        let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
        let expected: Vec<&str> = Some(expected).filter(|place| !place.is_empty()).into_iter().collect();
        assert_eq!(places, expected, "{found:#?}");
    }
}
