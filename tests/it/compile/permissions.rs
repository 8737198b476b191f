//! `plan`: what benchmarks may do that a plain one may not, and what of it a change brings.

use serde_json::{Value as Json, json};

use super::since::{commit, committed};
use crate::support::project::{Folder, assert_yes};

const IMAGE: &str = "registry.example/a@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef";

/// A spec of a plain Job with these lines in its `job`.
fn job(lines: &str) -> String {
    spec(&format!("job:\n      image: {IMAGE}\n      command: [a]\n      resources: {{cpu: 1, memory: 1Gi}}\n{lines}"))
}

fn spec(workload: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  timeout: 1h\n  workload:\n    {workload}\n  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    )
}

fn plan(folder: &Folder, arguments: &[&str]) -> Json {
    let output = folder.run(&[&["plan", "--output-format", "json"], arguments].concat());
    assert_yes(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `what value` of each permission, those of a change with what it does about it.
fn permissions(plan: &Json) -> Vec<String> {
    let word = |one: &Json, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    let said = |one: &Json| {
        let since = word(one, "since");
        let since = if since.is_empty() { since } else { format!("{since} ") };
        format!("{since}{} {}", word(one, "what"), word(one, "value"))
    };
    plan["permissions"].as_array().unwrap().iter().map(said).collect()
}

#[track_caller]
fn assert_asks(spec: &str, asks: &[&str]) {
    let folder = committed(&[("specs/a.yaml", spec.to_owned())]);
    assert_eq!(permissions(&plan(&folder, &[])), asks, "{spec}");
}

#[test]
fn a_plain_benchmark_asks_for_nothing() {
    assert_asks(&job(""), &[]);
    assert_asks(&job("      env: {A: b}\n      pod: {volumes: [{name: a, emptyDir: {}}]}\n"), &[]);
}

#[test]
fn secrets_are_seen_in_every_form() {
    assert_asks(&job("      env: {A: {secret: {name: hf, key: token}}}\n"), &["secret hf as secret key=token"]);
    assert_asks(&job("      pod: {imagePullSecrets: [{name: hf}]}\n"), &["secret hf as imagePullSecrets"]);
    let volume = "      pod: {volumes: [{name: a, secret: {secretName: hf}}]}\n";
    assert_asks(&job(volume), &["secret hf as secret"]);
    let projected = "      pod: {volumes: [{name: a, projected: {sources: [{secret: {name: hf}}]}}]}\n";
    assert_asks(&job(projected), &["secret hf as secret"]);
    assert_asks(&job("      container: {envFrom: [{secretRef: {name: hf}}]}\n"), &["secret hf as secretRef"]);
    let by_variable = "      container: {env: [{name: A, valueFrom: {secretKeyRef: {name: hf, key: b}}}]}\n";
    assert_asks(&job(by_variable), &["secret hf as secretKeyRef key=b"]);
    let volume = "      pod: {volumes: [{name: a, csi: {driver: d.example, nodePublishSecretRef: {name: hf}}}]}\n";
    assert_asks(&job(volume), &["secret hf as nodePublishSecretRef", "volume csi driver=d.example name=hf"]);
}

/// What is newly asked for by `new`, where `old` was.
fn added(old: &str, new: &str) -> Vec<String> {
    let folder = committed(&[("specs/a.yaml", job(old))]);
    folder.write("specs/a.yaml", job(new));
    permissions(&plan(&folder, &["--since", "HEAD"])).into_iter().filter(|one| one.starts_with("added")).collect()
}

/// The same name with another key, value or mode is another permission.
#[test]
fn a_stronger_use_of_the_same_is_new() {
    assert_eq!(
        added(
            "      pod: {imagePullSecrets: [{name: registry}]}\n",
            "      pod: {imagePullSecrets: [{name: registry}]}\n      env: {A: {secret: {name: registry, key: .dockerconfigjson}}}\n"
        ),
        ["added secret registry as secret key=.dockerconfigjson"]
    );
    assert_eq!(
        added(
            "      annotations: {iam.amazonaws.com/role: reader}\n",
            "      annotations: {iam.amazonaws.com/role: admin}\n"
        ),
        ["added unseen iam.amazonaws.com/role admin"]
    );
    let volume = |mode: &str| {
        format!(
            "      pod: {{volumes: [{{name: a, persistentVolumeClaim: {{claimName: data}}}}]}}\n      container: {{volumeMounts: [{{name: a, mountPath: /a{mode}}}]}}\n"
        )
    };
    assert_eq!(added(&volume(", readOnly: true"), &volume("")), ["added volume claim data"]);
    assert_eq!(added("", &volume(", readOnly: true")), ["added volume claim data read-only"]);
    let profile = |name: &str| {
        format!("      pod: {{securityContext: {{seccompProfile: {{type: Localhost, localhostProfile: {name}}}}}}}\n")
    };
    assert_eq!(added(&profile("a.json"), &profile("b.json")), ["added placement localhostProfile b.json"]);
}

#[test]
fn nodes_by_name_and_other_namespaces_are_seen() {
    assert_asks(
        &job("      pod: {nodeSelector: {kubernetes.io/hostname: a, pool: bench}}\n"),
        &["placement nodeSelector kubernetes.io/hostname=a pool=bench"],
    );
    assert_asks(&job("      pod: {nodeSelector: {pool: bench}}\n"), &[]);
    let affinity = |kind: &str, term: &str| {
        job(&format!(
            "      pod: {{affinity: {{{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: {term}}}}}}}\n"
        ))
    };
    assert_asks(
        &affinity(
            "nodeAffinity",
            "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}",
        ),
        &["placement nodeAffinity key=metadata.name operator=In values=a"],
    );
    assert_asks(
        &affinity("podAntiAffinity", "[{topologyKey: zone, namespaces: [prod]}]"),
        &["placement affinity over namespaces prod"],
    );
}

const SAYS: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  targets:\n    default:\n      tolerations: [{key: bench, operator: Exists}]\n      pods:\n        labels: {netpol: closed}\n        env: {HTTPS_PROXY: 'http://proxy.example'}\n        runtimeClass: gvisor\n        schedulerName: bench\n";

/// Of each row that says what pods do not have: who, what and where.
fn without(spec: String, more: &[(&str, &str)]) -> Vec<String> {
    let folder = committed(&[("kubebench.yaml", SAYS.to_owned()), ("specs/a.yaml", spec)]);
    for (path, text) in more {
        folder.write(path, text);
    }
    let answer = plan(&folder, &[]);
    let rows = answer["permissions"].as_array().unwrap().iter().filter(|row| row["code"] == "KB0394");
    let word = |row: &Json, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    rows.map(|row| format!("{}: {} ({})", word(row, "benchmark"), word(row, "value"), word(row, "place"))).collect()
}

#[test]
fn what_a_spec_takes_from_its_target_is_seen() {
    assert_eq!(without(job(""), &[]), [""; 0]);
    assert_eq!(
        without(job("      pod: {tolerations: [{key: b, operator: Exists}, {key: bench, operator: Exists}]}\n"), &[]),
        [""; 0]
    );
    assert_eq!(
        without(job("      pod: {tolerations: null, runtimeClassName: kata}\n"), &[]),
        [
            "a: without runtimeClassName gvisor (specs/a.yaml:11:32, kubebench.yaml:11:9)",
            r#"a: without tolerations {"key":"bench","operator":"Exists"} (specs/a.yaml:11:13, kubebench.yaml:6:5)"#,
        ]
    );
    assert_eq!(
        without(
            job("      container: {env: [{name: HTTPS_PROXY, $patch: delete}]}\n      labels: {netpol: open}\n"),
            &[]
        ),
        [
            "a: without env HTTPS_PROXY http://proxy.example (specs/a.yaml:11:25, kubebench.yaml:10:28)",
            "a: without labels netpol closed (specs/a.yaml:7:5, kubebench.yaml:9:9)",
        ]
    );
}

/// Pods of a manifest are as they are written; labels and annotations they get.
#[test]
fn pods_that_do_not_have_what_the_target_says_are_seen() {
    let workflow = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {{name: w}}\nspec:\n  entrypoint: a\n  schedulerName: bench\n  templates: [{{name: a, container: {{image: '{IMAGE}', command: [sh], resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}}}]\n"
    );
    let fields = |rows: Vec<String>| -> Vec<String> {
        rows.iter().map(|row| row.split(' ').nth(2).unwrap_or_default().to_owned()).collect()
    };
    let found = without(spec("workflow: {file: jobs/w.yaml}"), &[("jobs/w.yaml", &workflow)]);
    assert_eq!(fields(found), ["env", "runtimeClassName", "tolerations"]);
    let manifest = format!(
        "manifest:\n      object:\n        apiVersion: batch/v1\n        kind: Job\n        metadata: {{name: a}}\n        spec:\n          template:\n            spec:\n              restartPolicy: Never\n              runtimeClassName: gvisor\n              automountServiceAccountToken: false\n              containers: [{{name: main, image: '{IMAGE}', command: [a], resources: {{limits: {{cpu: '1', memory: 1Gi}}}}}}]\n"
    );
    assert_eq!(fields(without(spec(&manifest), &[])), ["env", "schedulerName", "tolerations"]);
}

/// What a target says is a row of the target for each entry, whatever the field.
#[test]
fn every_entry_of_a_target_is_a_row_of_the_target() {
    let project = |target: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{default: {{{target}}}}}}}\n"
        )
    };
    let folder = committed(&[("kubebench.yaml", project("concurrency: exclusive")), ("specs/a.yaml", job(""))]);
    for (target, expected) in [
        ("concurrency: 50", &["added placement concurrency 50", "removed placement concurrency exclusive"][..]),
        (
            "concurrency: exclusive, tolerations: [{operator: Exists}]",
            &[r#"added placement tolerations {"operator":"Exists"}"#],
        ),
        (
            "concurrency: exclusive, nodeSelector: {a: b, c: d}",
            &["added placement nodeSelector a b", "added placement nodeSelector c d"],
        ),
        ("concurrency: exclusive, queue: {kueue: prod}", &["added placement queue kueue prod"]),
        ("concurrency: exclusive, namespace: ml", &["added placement namespace ml"]),
        ("concurrency: exclusive, storageClass: fast", &["added placement storageClass fast"]),
        (
            "concurrency: exclusive, pods: {env: {A: b, C: d}}",
            &["added placement pods env A b", "added placement pods env C d"],
        ),
        (
            "concurrency: exclusive, networkPolicy: {git: {to: [{ipBlock: {cidr: 0.0.0.0/0}}]}}",
            &[r#"added network git {"to":[{"ipBlock":{"cidr":"0.0.0.0/0"}}]}"#],
        ),
    ] {
        folder.write("kubebench.yaml", project(target));
        let answer = plan(&folder, &["--since", "HEAD"]);
        let found: Vec<String> = permissions(&answer).into_iter().filter(|one| !one.starts_with("kept")).collect();
        assert_eq!(found, expected, "{answer:#}");
        let of_benchmark = answer["permissions"].as_array().unwrap().iter().any(|one| !one["benchmark"].is_null());
        assert!(!of_benchmark, "{answer:#}");
    }
}

#[test]
fn accounts_volumes_and_images_are_seen() {
    assert_asks(&job("      pod: {serviceAccountName: reads}\n"), &["account reads"]);
    let volumes = "      pod: {volumes: [{name: a, persistentVolumeClaim: {claimName: data}}, {name: b, nfs: {server: s.example, path: /x}}]}\n";
    let lowered = "podSecurity a volume of the type `nfs`";
    assert_asks(&job(volumes), &[lowered, "volume claim data", "volume nfs server=s.example path=/x"]);
    let tagged = job("").replace(IMAGE, "registry.example/a:1");
    assert_asks(&tagged, &["image registry.example/a:1"]);
    let beside = job(
        "      pod: {initContainers: [{name: i, image: 'registry.example/i:2', resources: {limits: {cpu: 1, memory: 1Gi}}}]}\n",
    );
    assert_asks(&beside, &["image registry.example/i:2"]);
}

#[test]
fn what_else_pods_ask_for_is_seen() {
    assert_asks(
        &job("      pod: {priorityClassName: urgent, runtimeClassName: kata}\n"),
        &["placement priorityClassName urgent", "placement runtimeClassName kata"],
    );
    let names = "      pod: {hostAliases: [{ip: 10.0.0.1, hostnames: [git.example]}]}\n";
    assert_asks(&job(names), &["network hostAliases ip=10.0.0.1 hostnames=git.example"]);
    let lowered = "      pod: {securityContext: {runAsUser: 0, runAsNonRoot: false}}\n";
    assert_asks(&job(lowered), &["podSecurity `runAsNonRoot: false`", "podSecurity `runAsUser: 0`"]);
    let workflow = |image: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {{name: w}}\nspec:\n  entrypoint: a\n  templates: [{{name: a, script: {{image: '{image}', command: [sh], source: 'image: b:1', resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}}}]\n"
        )
    };
    let of_file = spec("workflow: {file: jobs/w.yaml}");
    let folder = committed(&[("specs/a.yaml", of_file), ("jobs/w.yaml", workflow(IMAGE))]);
    folder.write("jobs/w.yaml", workflow("registry.example/a:1"));
    assert_eq!(permissions(&plan(&folder, &["--since", "HEAD"]))[..1], ["added image registry.example/a:1"]);
}

#[test]
fn kinds_and_rules_are_seen() {
    let lines = format!(
        "pytorchJob:\n      image: {IMAGE}\n      command: [a]\n      resources: {{cpu: 1, memory: 1Gi}}\n      worker: {{replicas: 2}}\n"
    );
    assert_asks(&spec(&lines), &["rule kubeflow.org/pytorchjobs"]);
    let manifest = format!(
        "manifest:\n      object:\n        apiVersion: v1\n        kind: List\n        items:\n          - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {{a: b}}}}\n          - apiVersion: batch/v1\n            kind: Job\n            metadata: {{name: a}}\n            spec:\n              template:\n                spec:\n                  restartPolicy: Never\n                  automountServiceAccountToken: false\n                  containers: [{{name: main, image: '{IMAGE}', command: [a], resources: {{limits: {{cpu: '1', memory: 1Gi}}}}}}]\n"
    );
    assert_asks(&spec(&manifest), &["kind ConfigMap c", "rule configmaps"]);
    let with_token = manifest.replace("                  automountServiceAccountToken: false\n", "");
    assert_asks(&spec(&with_token), &["token the cluster's API (job)", "kind ConfigMap c", "rule configmaps"]);
}

const TARGET: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  allowKinds: [apps/StatefulSet]\n  targets:\n    lab:\n      namespace: bench\n      podSecurity: privileged\n      tokenAudiences: [sts.example]\n      networkPolicy:\n        egress: [{ports: [{port: 443, protocol: TCP}]}]\n";

#[test]
fn a_change_of_the_project_file_alone_is_seen() {
    let plain = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {default: {namespace: bench}}}\n";
    let folder = committed(&[("kubebench.yaml", plain.to_owned()), ("specs/a.yaml", job(""))]);
    folder.write("kubebench.yaml", TARGET.replace("lab", "default"));
    let answer = plan(&folder, &["--since", "HEAD"]);
    let network = r#"network egress {"ports":[{"port":443,"protocol":"TCP"}]}"#;
    let found = permissions(&answer);
    let asked = ["kind apps/StatefulSet", "token sts.example", "podSecurity privileged", network];
    let asked = asked.map(|one| format!("added {one}"));
    assert_eq!(found, [&asked[..], &["kept placement namespace bench".to_owned()]].concat(), "{answer:#}");
    assert_eq!(answer["benchmarks"][0]["action"], "unchanged", "{answer:#}");
    let of = |at: usize| (answer["permissions"][at]["benchmark"].clone(), answer["permissions"][at]["target"].clone());
    assert_eq!((of(0), of(1)), ((Json::Null, Json::Null), (Json::Null, json!("default"))));
    assert_eq!(answer["permissions"][0]["place"], "kubebench.yaml:5:16");
    folder.write(
        "kubebench.yaml",
        TARGET.replace("lab", "default").replace(
            "networkPolicy:\n        egress: [{ports: [{port: 443, protocol: TCP}]}]",
            "networkPolicy: {enabled: false}",
        ),
    );
    assert!(permissions(&plan(&folder, &[])).contains(&"network none".to_owned()));
}

/// Whatever the policy says is a row: where it says what steps reach, the row that is removed is what opens it.
#[test]
fn what_widens_the_network_policy_is_seen() {
    let folder = committed(&[("kubebench.yaml", TARGET.replace("lab", "default")), ("specs/a.yaml", job(""))]);
    let before = permissions(&plan(&folder, &[])).len();
    let block = "{ipBlock: {cidr: 192.0.2.1/32}}";
    for (field, asked) in [
        (format!("apiServer: {{to: [{block}]}}"), r#"network apiServer {"to":[{"ipBlock":{"cidr":"192.0.2.1/32"}}]}"#),
        (format!("git: {{to: [{block}]}}"), r#"network git {"to":[{"ipBlock":{"cidr":"192.0.2.1/32"}}]}"#),
        (
            format!("prometheus: {{to: [{block}]}}"),
            r#"network prometheus {"to":[{"ipBlock":{"cidr":"192.0.2.1/32"}}]}"#,
        ),
        (
            format!("git: {{to: [{block}], ports: [{{port: 80}}]}}"),
            r#"network git {"ports":[{"port":80}],"to":[{"ipBlock":{"cidr":"192.0.2.1/32"}}]}"#,
        ),
        ("apiServer: {ports: [{port: 80}]}".to_owned(), r#"network apiServer {"ports":[{"port":80}]}"#),
        (format!("dns: {{to: [{block}]}}"), r#"network dns {"to":[{"ipBlock":{"cidr":"192.0.2.1/32"}}]}"#),
        ("operatorNamespaces: {kuberay: [mine]}".to_owned(), "network operators of kuberay in the namespace mine"),
    ] {
        let changed = TARGET
            .replace("lab", "default")
            .replace("      networkPolicy:\n", &format!("      networkPolicy:\n        {field}\n"));
        folder.write("kubebench.yaml", changed);
        let found = permissions(&plan(&folder, &[]));
        assert_eq!(found.len(), before + 1, "{field}: {found:?}");
        assert!(found.iter().any(|one| one == asked), "{field}: {found:?}");
    }
    let keys =
        TARGET.replace("spec:\n", "spec:\n  results: {remote: 'git@git.example:x.git', sshHostKeys: acceptNew}\n");
    folder.write("kubebench.yaml", keys.replace("lab", "default"));
    let found = permissions(&plan(&folder, &[]));
    assert!(found.contains(&"network unknown SSH host keys".to_owned()), "{found:?}");
    folder.write("kubebench.yaml", keys.replace("lab", "default").replace("acceptNew", "known"));
    let found = permissions(&plan(&folder, &[]));
    assert!(found.len() == before + 1 && found.contains(&"network git@git.example:x.git".to_owned()), "{found:?}");
}

/// Where results and the credential by which they are recorded go, where objects go, and what the steps ask.
#[test]
fn where_the_pipeline_leads_is_seen() {
    let project = |settings: &str, target: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{{settings}targets: {{default: {{{target}}}}}}}\n"
        )
    };
    let plain = project("", "namespace: bench");
    let folder = committed(&[("kubebench.yaml", plain), ("specs/a.yaml", job(""))]);
    let settings = "results: {mode: branch, remote: 'https://git.elsewhere.example/a.git'}, ";
    let target = "namespace: kube-system, prometheus: {url: 'http://169.254.169.254/'}";
    folder.write("kubebench.yaml", project(settings, target));
    let mut found = permissions(&plan(&folder, &["--since", "HEAD"]));
    found.sort();
    let expected = [
        "added gate the remote of results is `https://git.elsewhere.example/a.git`; at the base `the remote of the repository`",
        "added network Prometheus at http://169.254.169.254/",
        "added network https://git.elsewhere.example/a.git",
        "added placement namespace kube-system",
        "removed placement namespace bench",
    ];
    assert_eq!(found, expected);
}

/// Whoever signs for a server decides who gets the credential, and what Prometheus says.
#[test]
fn authorities_of_servers_are_seen() {
    let project = |results: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{results: {{mode: branch{results}}}}}\n"
        )
    };
    let folder = committed(&[("kubebench.yaml", project("")), ("specs/a.yaml", job(""))]);
    let change = |results: &str| {
        folder.write("kubebench.yaml", project(results));
        let mut found = permissions(&plan(&folder, &["--since", "HEAD"]));
        found.sort();
        found
    };
    assert_eq!(
        change(", ca: {configMap: corporate-ca}"),
        [
            "added gate the certificate authorities of the steps are those in ca.crt of the ConfigMap corporate-ca; at the base public ones",
            r#"added network ca {"configMap":"corporate-ca"}"#,
        ]
    );
    assert_eq!(
        change(", ca: {secret: corporate-ca, key: a.pem}"),
        [
            "added gate the certificate authorities of the steps are those in a.pem of the Secret corporate-ca; at the base public ones",
            r#"added network ca {"key":"a.pem","secret":"corporate-ca"}"#,
        ]
    );
    assert_eq!(change(""), [""; 0]);
}

#[test]
fn a_change_adds_keeps_and_removes() {
    let old = job("      env: {A: {secret: {name: kept, key: a}}, B: {secret: {name: gone, key: a}}}\n");
    let folder = committed(&[("specs/a.yaml", old)]);
    let new = job("      env: {A: {secret: {name: kept, key: a}}, C: {secret: {name: new, key: a}}}\n");
    folder.write("specs/a.yaml", &new);
    let change = ["--since", "HEAD", "--markdown", "plan.md", "--report", "sarif=plan.sarif"];
    let answer = plan(&folder, &change);
    assert_eq!(
        permissions(&answer),
        ["added secret new as secret key=a", "removed secret gone as secret key=a", "kept secret kept as secret key=a"]
    );
    assert_eq!(answer["permissions"][0]["place"], "specs/a.yaml:11:67");
    let text = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap();
    let comment = text("plan.md");
    assert!(comment.starts_with("<!-- kubebench plan . team -->\n"), "{comment}");
    assert!(
        comment.contains("| ➕ | secret | `new as secret key=a` | `a` on `default` | specs/a.yaml:11:67 |\n"),
        "{comment}"
    );
    assert!(
        comment.contains("| ➖ | secret | `gone as secret key=a` | `a` on `default` |") && !comment.contains("kept"),
        "{comment}"
    );
    let cause = "  - `workload.job.env.C`: `none` → `{secret: {name: new, key: a}}`\n";
    assert!(
        comment.contains("- `a` on `default` runs again; 1 run, 1.0 h at most\n") && comment.contains(cause),
        "{comment}"
    );
    let sarif: Json = serde_json::from_str(&text("plan.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let notes: Vec<&Json> = results.iter().filter(|result| result["ruleId"] == "KB0380").collect();
    assert_eq!((notes.len(), &notes[0]["level"]), (1, &json!("note")), "{sarif:#}");
    let region = &notes[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 11, "{sarif:#}");
    let screen = folder.run(&["plan", "--since", "HEAD"]);
    let screen = String::from_utf8(screen.stdout).unwrap();
    assert!(screen.contains("  +  secret  a on default  specs/a.yaml:11:67  new as secret key=a\n"), "{screen}");
    assert!(screen.contains("  unchanged: 1\n"), "{screen}");
    // What is merged is no news.
    commit(folder.path());
    assert_eq!(
        permissions(&plan(&folder, &["--since", "HEAD"])),
        ["kept secret kept as secret key=a", "kept secret new as secret key=a"]
    );
}

#[test]
fn levels_come_from_the_project_and_from_the_base() {
    let level = |folder: &Folder, level: &str| {
        let lints = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: team}}\nspec: {{lints: {{KB0380: {level}}}}}\n"
        );
        folder.write("kubebench.yaml", lints);
    };
    let folder = committed(&[("specs/a.yaml", job(""))]);
    folder.write("specs/a.yaml", job("      env: {A: {secret: {name: hf, key: a}}}\n"));
    let status = |folder: &Folder, arguments: &[&str]| folder.run(arguments).status.code().unwrap();
    assert_eq!(status(&folder, &["plan"]), 0);
    assert_eq!(status(&folder, &["plan", "--fail-on", "info"]), 1);
    assert_eq!(status(&folder, &["plan", "--fail-on", "warning"]), 0);
    level(&folder, "warning");
    assert_eq!(status(&folder, &["plan", "--fail-on", "warning"]), 1);
    assert_eq!(status(&folder, &["plan", "--fail-on", "error"]), 0);
    assert_eq!(status(&folder, &["compile", "--deny-warnings", "--diff"]), 1);
    level(&folder, "'off'");
    assert_eq!(permissions(&plan(&folder, &[])), Vec::<String>::new());
    level(&folder, "error");
    assert_eq!(status(&folder, &["compile"]), 1);
    // The base's error holds of a change that switches it off.
    folder.write("specs/a.yaml", job(""));
    commit(folder.path());
    folder.write("specs/a.yaml", job("      env: {A: {secret: {name: hf, key: a}}}\n"));
    level(&folder, "'off'");
    assert_eq!(status(&folder, &["plan"]), 0);
    assert_eq!(status(&folder, &["plan", "--since", "HEAD"]), 1);
    // What was there before is not of the change.
    level(&folder, "warning");
    commit(folder.path());
    assert_eq!(status(&folder, &["plan", "--since", "HEAD", "--fail-on", "info"]), 0);
}

#[test]
fn the_answer_fits_its_schema() {
    let folder = committed(&[("specs/a.yaml", job("      env: {A: {secret: {name: hf, key: a}}}\n"))]);
    let schema = folder.run(&["schema", "plan"]);
    let schema: Json = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    folder.write("kubebench.yaml", TARGET.replace("lab", "default"));
    for answer in [plan(&folder, &[]), plan(&folder, &["--since", "HEAD"])] {
        let faults: Vec<String> = validator.iter_errors(&answer).map(|fault| fault.to_string()).collect();
        assert_eq!(faults, Vec::<String>::new());
    }
}
