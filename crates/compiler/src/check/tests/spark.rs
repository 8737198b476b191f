//! SparkApplications: what the form refuses, what comes out, and what their targets must let them do.

use serde_json::{Value as Json, json};

use super::*;

const PARTS: &str = "driver: {serviceAccount: spark}, executor: {instances: 2}";

fn spark(fields: &str) -> String {
    format!(
        "workload: {{sparkApplication: {{image: 'r.example/a:1', type: Python, sparkVersion: 4.0.4, mainApplicationFile: 'local:///a.py', {fields}}}}}"
    )
}

fn with_conf(property: &str) -> String {
    spark(&format!("{PARTS}, sparkConf: {{{property}: x}}"))
}

#[test]
fn what_spark_reads_once() {
    assert_eq!(lowered(&spark(PARTS)), NONE);
    assert_eq!(lowered(&with_conf("spark.sql.shuffle.partitions")), NONE);
    for property in ["spark.executor.instances", "spark.dynamicAllocation.enabled", "spark.master"] {
        let found = about(property, lowered(&with_conf(property)));
        assert_findings(&found, &[("KB0317", str! {"`…` cannot be set in `sparkConf`"})]);
    }
}

#[test]
fn memory_in_units_of_spark() {
    let of = |driver: &str| lowered(&spark(&format!("driver: {{serviceAccount: spark, {driver}}}, executor: {{}}")));
    assert_eq!(of("cores: 2, memory: 4g, memoryOverhead: 512m"), NONE);
    assert_findings(
        &of("memory: 512Mi"),
        &[("KB0317", str! {"`memory` is `512Mi`, which is not a memory size of Spark"})],
    );
    assert_findings(
        &of("memoryOverhead: 0.5g"),
        &[("KB0317", str! {"`memoryOverhead` is `0.5g`, which is not a memory size of Spark"})],
    );
}

#[test]
fn pods_run_spark_itself() {
    for (fields, field) in [
        (format!("{PARTS}, resources: {{cpu: 1}}"), "resources"),
        (format!("{PARTS}, command: [a]"), "command"),
        ("driver: {serviceAccount: spark, args: [a]}, executor: {}".to_owned(), "args"),
        ("driver: {serviceAccount: spark, replicas: 2}, executor: {}".to_owned(), "replicas"),
        ("driver: {serviceAccount: spark}, executor: {replicas: 2}".to_owned(), "replicas"),
    ] {
        let found = lowered(&spark(&fields));
        assert!(found.len() == 1 && found[0].0 == "KB0201" && found[0].1.contains(&format!("`{field}`")), "{found:?}");
    }
    let without = lowered(&spark("driver: {}, executor: {}"));
    assert!(without.len() == 1 && without[0].0 == "KB0202", "{without:?}");
}

#[test]
fn the_account_is_the_users() {
    let of = |driver: &str| lowered(&spark(&format!("driver: {{{driver}}}, executor: {{}}")));
    assert_findings(
        &of("serviceAccount: kubebench-runner"),
        &[("KB0372", str! {"the account `kubebench-runner` belongs to kubebench"})],
    );
}

fn made(project: &str, fields: &str) -> (Json, Vec<(String, u32, String, String)>) {
    let compiled = compile(project, &document(&spark(fields)));
    assert_eq!(compiled.before, []);
    let workload = &compiled.benchmarks[0].cases[0].workload;
    let amount = |role: &crate::model::Role, name: &str| role.limits[name].canonical();
    let roles = workload.roles.iter().map(|role| {
        assert_eq!(role.limits, role.requests);
        (role.name.clone(), role.replicas, amount(role, "cpu"), amount(role, "memory"))
    });
    (Json::Object(workload.spec.clone()), roles.collect())
}

#[test]
fn an_application_runs_once_with_what_it_says() {
    let fields = "arguments: ['--n', 3, '$(A) $x'], deps: {jars: ['local:///x.jar']}, hadoopConf: {a: b}, \
                  driver: {serviceAccount: spark, memory: 512m}, \
                  executor: {instances: 3, cores: 4, memory: 8g, gpu: {name: nvidia.com/gpu, quantity: 2}}";
    let (spec, roles) = made("", fields);
    let expected = json!({
        "arguments": ["--n", "3", "$$(A) $x"],
        "deps": {"jars": ["local:///x.jar"]},
        "driver": {
            "coreLimit": "1", "cores": 1, "image": "r.example/a:1", "memory": "512m", "memoryOverhead": "384m",
            "serviceAccount": "spark",
        },
        "executor": {
            "coreLimit": "4", "cores": 4, "deleteOnTermination": false, "gpu": {"name": "nvidia.com/gpu", "quantity": 2},
            "image": "r.example/a:1", "instances": 3, "memory": "8192m", "memoryOverhead": "3276m",
        },
        "hadoopConf": {"a": "b"},
        "mainApplicationFile": "local:///a.py",
        "mode": "cluster",
        "restartPolicy": {"type": "Never"},
        "sparkVersion": "4.0.4",
        "type": "Python",
    });
    assert_eq!(spec, expected);
    let text = |text: &str| text.to_owned();
    let driver = (text("driver"), 1, text("1"), text("896Mi"));
    let executor = (text("executor"), 3, text("4"), text("11468Mi"));
    assert_eq!(roles, [driver, executor]);
}

#[test]
fn images_come_from_mirrors_and_pods_go_to_queues() {
    let target = "{t: {imageMirrors: {r.example: m.example/r}, queue: {volcano: ml}, priorityClass: high}}";
    let project =
        format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {target}}}\n");
    let (spec, _) = made(&project, PARTS);
    assert_eq!(
        (&spec["driver"]["image"], &spec["executor"]["image"]),
        (&json!("m.example/r/a:1"), &json!("m.example/r/a:1"))
    );
    assert_eq!(spec["batchScheduler"], "volcano");
    assert_eq!(spec["batchSchedulerOptions"], json!({"queue": "ml", "priorityClassName": "high"}));
}

#[test]
fn drivers_need_the_api_server() {
    let way = [("KB0424", str! {"the network policy of the target `t` keeps drivers of Spark from the API server"})];
    check_on("{t: {}}", &spark(PARTS), &way);
    check_on("{t: {podSecurity: restricted}}", &spark(PARTS), &way);
    check_on("{t: {networkPolicy: {enabled: false}}}", &spark(PARTS), &[]);
    check_on("{t: {networkPolicy: {egress: [{to: [{ipBlock: {cidr: 10.0.0.1/32}}]}]}}}", &spark(PARTS), &[]);
    let open = "networkPolicy: {enabled: false}";
    let kueue = ("KB0425", str! {"Kueue on the target `t` may not manage SparkApplications"});
    check_on(&format!("{{t: {{queue: {{kueue: ml}}, {open}}}}}"), &spark(PARTS), &[kueue]);
    let volcano = ("KB0427", str! {"SparkApplications on the target `t` may not reach its Volcano queue"});
    check_on(&format!("{{t: {{queue: {{volcano: ml}}, {open}}}}}"), &spark(PARTS), &[volcano]);
}
