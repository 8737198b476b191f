//! Accounts and roles: each step has what it needs and nothing more.

use std::collections::BTreeSet;

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value as Json, json};

use crate::manifest::meta;
use crate::model::target::Queue;
use crate::model::{Api, Benchmark, GROUPS_OF_RIGHTS, Target};
use crate::workload::{KINDS, Purpose};
use kubebench_syntax::invariant::Invariant as _;

/// The account of steps without one of their own.
pub(in crate::manifest) const WORKFLOW: &str = "kubebench-workflow";
/// The account of the steps that create jobs.
pub(super) const RUNNER: &str = "kubebench-runner";
/// The account of the step that writes to git; it has no Kubernetes verbs but Argo's own.
pub(super) const RECORDER: &str = "kubebench-recorder";

/// Returns the accounts, roles and bindings with their file names.
pub(super) fn objects(target: &Target, benchmarks: &[&Benchmark]) -> Vec<(String, Json)> {
    let account = |name: &str| {
        let object =
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta::applied(target, name, None) });
        (format!("service-account-{}.yaml", short(name)), object)
    };
    let mut objects = vec![account(WORKFLOW), account(RUNNER), account(RECORDER)];
    objects.extend(role(
        target,
        WORKFLOW,
        &[rule("argoproj.io", &["workflowtaskresults"], &["create", "patch"])],
        &[WORKFLOW, RUNNER, RECORDER],
    ));
    objects.extend(role(target, RUNNER, &runner_rules(target, benchmarks), &[RUNNER]));
    objects
}

fn short(name: &str) -> &str {
    name.trim_start_matches("kubebench-")
}

fn runner_rules(target: &Target, benchmarks: &[&Benchmark]) -> Vec<PolicyRule> {
    const MANAGE: &[&str] = &["create", "delete", "get", "list", "watch"];
    const OBSERVE: &[&str] = &["get", "list", "watch"];
    // A session may outlive the last spec of its kind: its jobs are still followed to their end, and deleted.
    const FINISH: &[&str] = &["delete", "get", "list", "watch"];
    let workloads = || benchmarks.iter().flat_map(|benchmark| &benchmark.cases).map(|case| &case.workload);
    let supporting = workloads().flat_map(|workload| &workload.supporting).map(|supporting| &supporting.api);
    let apis = workloads().map(|workload| &workload.api).chain(supporting);
    // The Jobs outside the runs exist whatever is measured.
    let mut used: BTreeSet<_> = apis.map(Api::resource).chain([("batch", "jobs")]).collect();
    // Services, which may also be created, have a separate rule.
    used.remove(&("", "services"));
    // What serves goes with its Workflow; who may delete any Deployment of the namespace is another matter. So it is with
    // Workflows: there are those that run the benchmarks, and those of others.
    let may_stay = |resource: &(&str, &str)| !used.contains(resource) && *resource != ("argoproj.io", "workflows");
    let jobs = KINDS.iter().filter(|kind| kind.purpose == Purpose::Works).map(|kind| kind.api.resource());
    let unused = jobs.filter(may_stay).collect();
    let mut rules: Vec<PolicyRule> = by_group(&used, MANAGE).chain(by_group(&unused, FINISH)).collect();
    rules.extend([
        rule("", &["services"], &["create", "delete", "get"]),
        rule("", &["pods"], OBSERVE),
        rule("", &["pods/log"], &["get"]),
        rule("", &["events"], OBSERVE),
        rule("argoproj.io", &["workflows"], &["get"]),
    ]);
    if used.contains(&("kubeflow.org", "experiments")) {
        rules.push(rule("kubeflow.org", &["trials"], &["get", "list"]));
    }
    if let Queue::Kueue { .. } = target.queue {
        rules.push(rule("kueue.x-k8s.io", &["workloads"], OBSERVE));
    }
    rules
}

/// Returns a rule for each group of `resources`, in the order of the first release: another one would change every role.
fn by_group<'r>(resources: &'r BTreeSet<(&str, &str)>, verbs: &'r [&str]) -> impl Iterator<Item = PolicyRule> + 'r {
    let groups: BTreeSet<&str> = resources.iter().map(|(group, _)| *group).collect();
    groups.into_iter().rev().map(move |wanted| {
        let plurals: Vec<&str> =
            resources.iter().filter(|(group, _)| *group == wanted).map(|(_, plural)| *plural).collect();
        rule(wanted, &plurals, verbs)
    })
}

/// What no account of the pipeline may touch, in addition to the groups that grant permissions.
const NEVER: [&str; 4] = ["pods/attach", "pods/exec", "secrets", "serviceaccounts"];

/// Returns a rule of a role. A rule that would grant permissions is a bug of this program, whatever a spec says.
fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let is_plain = |word: &&str| {
        !word.contains('*') && !NEVER.iter().any(|never| word == never || word.starts_with(&format!("{never}/")))
    };
    let is_safe =
        !group.contains('*') && !GROUPS_OF_RIGHTS.contains(&group) && resources.iter().chain(verbs).all(is_plain);
    is_safe.then_some(()).expected("a rule of a role that gives no rights");
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(list(resources)),
        verbs: list(verbs),
        ..PolicyRule::default()
    }
}

fn role(target: &Target, name: &str, rules: &[PolicyRule], accounts: &[&str]) -> [(String, Json); 2] {
    let metadata = meta::applied(target, name, None);
    let subjects: Vec<Json> = accounts
        .iter()
        .map(|account| json!({ "kind": "ServiceAccount", "name": account, "namespace": target.namespace }))
        .collect();
    [
        (
            format!("role-{}.yaml", short(name)),
            json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules }),
        ),
        (
            format!("role-binding-{}.yaml", short(name)),
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name },
                "subjects": subjects,
            }),
        ),
    ]
}
