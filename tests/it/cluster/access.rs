//! What the accounts of the steps may do, as the API server answers for them: the table of `docs/reference/steps.md`, no verb more.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::cluster;
use super::namespaces::Project;
use crate::support::project::{Emitted, repository};

const ACCOUNTS: [&str; 3] = ["kubebench-runner", "kubebench-recorder", "kubebench-workflow"];

/// An API group, a resource in it, and a verb.
type Right = (String, String, String);

#[test]
fn accounts_may_do_what_is_documented_and_no_more() {
    let Some(cluster) = cluster("accounts_may_do_what_is_documented_and_no_more") else { return };
    let project = Project::mixed(cluster);
    let applied: Vec<Emitted> =
        project.objects().into_iter().filter(|emitted| emitted.path.contains("/pipeline/")).collect();
    cluster.say(["apply".to_owned()].into_iter().chain(project.files(&applied)));
    for (target, kueue) in [("gpu-eu", true), ("old", false)] {
        let namespace = &project.namespaces[target];
        for account in ACCOUNTS {
            let documented = documented(account, kueue, &kinds(&project, namespace));
            assert!(!documented.is_empty());
            assert_eq!(granted(&project, namespace, account, namespace), documented, "{account} of {target}");
            for elsewhere in project.namespaces.values().map(String::as_str).chain(["default", "kube-system"]) {
                if elsewhere != namespace {
                    let granted = granted(&project, namespace, account, elsewhere);
                    assert_eq!(granted, BTreeSet::new(), "{account} of {target} in {elsewhere}");
                }
            }
        }
    }
}

/// The kinds of the objects that runs in a namespace create, alone and with their groups.
fn kinds(project: &Project, namespace: &str) -> BTreeSet<String> {
    let here = |emitted: &Emitted| emitted.object["metadata"]["namespace"] == *namespace;
    let configs = project.objects().into_iter().filter(here).filter(|emitted| emitted.object["kind"] == "ConfigMap");
    let texts: Vec<Value> = configs
        .filter_map(|emitted| emitted.object["data"].as_object().cloned())
        .flatten()
        .map(|entry| entry.1)
        .collect();
    let (mut kinds, mut group) = (BTreeSet::new(), "");
    for line in texts.iter().filter_map(Value::as_str).flat_map(str::lines) {
        if let Some(version) = line.strip_prefix("apiVersion: ") {
            group = version.trim_matches('"').split_once('/').map_or("", |(group, _)| group);
        }
        if let Some(kind) = line.strip_prefix("kind: ").map(|kind| kind.trim_matches('"')) {
            kinds.extend([kind.to_owned(), format!("{kind}.{group}")]);
        }
    }
    kinds
}

/// What `kubectl auth can-i --list` shows of an account, without what every account may do.
fn granted(project: &Project, home: &str, account: &str, place: &str) -> BTreeSet<Right> {
    let all = rules(project, home, account, place);
    let everybodys = rules(project, home, "nobody", place);
    all.difference(&everybodys).cloned().collect()
}

fn rules(project: &Project, home: &str, account: &str, place: &str) -> BTreeSet<Right> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": place},
    });
    project.folder.write("review.json", review.to_string());
    let answer = project.cluster.json([
        "create",
        "--raw",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        "-f",
        &project.place("review.json"),
        "--as",
        &format!("system:serviceaccount:{home}:{account}"),
    ]);
    let list = |rule: &Value, key: &str| -> Vec<String> {
        rule[key].as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut rights = BTreeSet::new();
    for rule in answer["status"]["resourceRules"].as_array().unwrap() {
        for group in list(rule, "apiGroups") {
            for resource in list(rule, "resources") {
                for verb in list(rule, "verbs") {
                    // A rule for some names only would not be one of ours.
                    let names = list(rule, "resourceNames").concat();
                    rights.insert((group.clone(), format!("{resource}{names}"), verb));
                }
            }
        }
    }
    assert!(!rights.is_empty(), "{answer}");
    rights
}

/// The rights of an account in the table of `docs/reference/steps.md`.
fn documented(account: &str, kueue: bool, kinds: &BTreeSet<String>) -> BTreeSet<Right> {
    let text = fs::read_to_string(repository().join("docs/reference/steps.md")).unwrap();
    let table = text.split("\n## Permissions\n").nth(1).expect("there is a chapter about permissions");
    let mut rights = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with('|')).skip(2) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [who, needs, group, resources, verbs] = cells[..] else { panic!("{line}") };
        let means = if who.starts_with('`') { words(who)[0] == account } else { who == "all three" };
        if !means || (needs == "Kueue queue" && !kueue) {
            continue;
        }
        // The resources of a row with kinds are in their order.
        let of_kinds = words(needs);
        let group = if group == "core" { "" } else { words(group)[0] };
        let verbs = if verbs == "all" { vec!["create", "delete", "get", "list", "watch"] } else { words(verbs) };
        for (at, resource) in words(resources).into_iter().enumerate() {
            if of_kinds.is_empty() || kinds.contains(of_kinds[at]) {
                rights.extend(verbs.iter().map(|verb| (group.into(), resource.into(), (*verb).into())));
            }
        }
    }
    rights
}

/// The parts of a text between backticks.
fn words(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}
