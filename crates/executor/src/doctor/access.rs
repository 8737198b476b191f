//! Rights: those of the person, and those of the accounts of the steps as the tree's roles give them.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{Fact, Facts, Level, Needs, Report, Right, Who, elements, quoted, text_at};
use kubebench_syntax::unit::{group, plural};

const MINE: &str = "your rights";
const THEIRS: &str = "accounts";

/// What `status` and `logs` read besides the jobs of runs: group, resource, verbs.
const READ: [(&str, &str, &[&str]); 6] = [
    ("argoproj.io", "workflows", &["get", "list", "watch"]),
    ("argoproj.io", "cronworkflows", &["list", "watch"]),
    ("", "configmaps", &["get"]),
    ("", "pods", &["get", "list", "watch"]),
    ("", "pods/log", &["get"]),
    ("", "events", &["list", "watch"]),
];
/// What no step may do.
const FORBIDDEN: [(&str, &str, &str); 3] =
    [("", "secrets", "get"), ("", "pods", "create"), ("", "pods/exec", "create")];

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let namespace = &needs.target.namespace;
    mine(needs, facts, report);
    let mut absent = Vec::new();
    for account in needs.names("ServiceAccount") {
        // What may not be read of one may not be read of the others.
        if report.0.iter().any(|finding| finding.check == THEIRS && finding.level == Level::Note) {
            break;
        }
        match facts.read(&format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}")) {
            Fact::There(_) => one(needs, facts, &account, report),
            Fact::Absent => absent.push(account),
            Fact::Forbidden(why) => report.unknown(THEIRS, &format!("the ServiceAccount `{account}`"), &why),
        }
    }
    if !absent.is_empty() {
        let seen = format!("missing: {}; the tree has not been applied", quoted(absent.iter().map(String::as_str)));
        report.note(THEIRS, seen, "apply the folder with Argo CD or Flux, then run `kubebench doctor` again");
    }
}

/// Says whether the user may read what `status` and `logs` show.
fn mine(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let shown = READ.iter().flat_map(|(group, resource, verbs)| verbs.iter().map(|verb| right(group, resource, verb)));
    let plurals = needs.created.iter().map(|(api, kind)| (group(api), plural(kind)));
    let jobs = plurals.flat_map(|(group, plural)| ["list", "watch"].map(|verb| right(group, &plural, verb)));
    let wanted: Vec<Right> = shown.chain(jobs).collect();
    let answers: Vec<Option<bool>> =
        wanted.iter().map(|right| facts.allows(Who::Me, right, &needs.target.namespace)).collect();
    let lacking: Vec<String> = wanted
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| **answer == Some(false))
        .map(|(right, _)| right.shown())
        .collect();
    if !lacking.is_empty() {
        let seen = format!("you may not {}", quoted(lacking.iter().map(String::as_str)));
        report.warning(
            MINE,
            seen,
            "ask for the role `view`, and for read access to `workflows.argoproj.io` and the \
                                    jobs of runs: `kubebench status` and `kubebench logs` need it",
        );
    } else if answers.contains(&None) {
        let seen = "unknown: the API server does not say what you may read";
        report.note(MINE, seen, "`kubebench status` says what it could not read");
    } else {
        report.ok(MINE, "you may read what `kubebench status` and `kubebench logs` show");
    }
}

impl Right {
    /// Returns it as people say it: `list workflows.argoproj.io`.
    fn shown(&self) -> String {
        let Self { group, resource, verb } = self;
        let dot = if group.is_empty() { "" } else { "." };
        format!("{verb} {resource}{dot}{group}")
    }
}

fn right(group: &str, resource: &str, verb: &str) -> Right {
    Right { group: group.to_owned(), resource: resource.to_owned(), verb: verb.to_owned() }
}

fn one(needs: &Needs<'_>, facts: &dyn Facts, account: &str, report: &mut Report) {
    let namespace = &needs.target.namespace;
    let rights = rights(needs, account);
    let mut lacking = Vec::new();
    for right in &rights {
        match facts.allows(Who::Account(account), right, namespace) {
            Some(true) => {}
            Some(false) => lacking.push(right.shown()),
            None => return by_roles(needs, facts, account, report),
        }
    }
    if !lacking.is_empty() {
        let seen = format!("`{account}` may not {}", quoted(lacking.iter().map(String::as_str)));
        return report.error(
            THEIRS,
            seen,
            "apply the folder again; if that does not help, find out what deletes the Role or its RoleBinding",
        );
    }
    let excess: Vec<String> = FORBIDDEN
        .iter()
        .map(|(group, resource, verb)| right(group, resource, verb))
        .filter(|right| facts.allows(Who::Account(account), right, namespace) == Some(true))
        .map(|right| right.shown())
        .collect();
    if excess.is_empty() {
        return report.ok(THEIRS, format!("`{account}` may do what its steps need"));
    }
    let seen = format!("`{account}` may also {}, which no step needs", quoted(excess.iter().map(String::as_str)));
    report.warning(
        THEIRS,
        seen,
        "remove the other RoleBinding or ClusterRoleBinding that grants more than the tree does",
    );
}

/// Returns what the tree's roles let `account` do.
fn rights(needs: &Needs<'_>, account: &str) -> BTreeSet<Right> {
    let roles = roles_of(needs, account);
    let rules = needs.of_kind("Role").filter(|role| roles.contains(text_at(role, "/metadata/name")));
    rules.flat_map(|role| elements(role, "/rules")).flat_map(granted).collect()
}

fn roles_of<'n>(needs: &'n Needs<'_>, account: &str) -> BTreeSet<&'n str> {
    let is_bound = |binding: &&Json| elements(binding, "/subjects").any(|subject| text_at(subject, "/name") == account);
    needs.of_kind("RoleBinding").filter(is_bound).map(|binding| text_at(binding, "/roleRef/name")).collect()
}

fn granted(rule: &Json) -> Vec<Right> {
    let words = |at: &str| elements(rule, at).filter_map(Json::as_str).collect::<Vec<_>>();
    let mut all = Vec::new();
    for group in words("/apiGroups") {
        for resource in words("/resources") {
            all.extend(words("/verbs").into_iter().map(|verb| right(group, resource, verb)));
        }
    }
    all
}

/// Compares the roles in the cluster with the tree's, where the user may not ask what an account may do.
fn by_roles(needs: &Needs<'_>, facts: &dyn Facts, account: &str, report: &mut Report) {
    let namespace = &needs.target.namespace;
    let base = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
    let mut there = BTreeSet::new();
    for role in roles_of(needs, account) {
        for path in [format!("{base}/rolebindings/{role}"), format!("{base}/roles/{role}")] {
            match facts.read(&path) {
                Fact::There(found) => there.extend(elements(&found, "/rules").flat_map(granted)),
                Fact::Absent => {
                    let seen = format!("the role `{role}` of `{account}` or its binding does not exist");
                    return report.error(THEIRS, seen, "apply the folder again");
                }
                Fact::Forbidden(why) => {
                    return report.unknown(THEIRS, "what the accounts of the steps may do", &why);
                }
            }
        }
    }
    let lacking: Vec<String> = rights(needs, account).difference(&there).map(Right::shown).collect();
    if lacking.is_empty() {
        return report.ok(THEIRS, format!("the roles of `{account}` are those of the tree"));
    }
    let seen = format!("the roles of `{account}` lack {}", quoted(lacking.iter().map(String::as_str)));
    report.error(THEIRS, seen, "apply the folder again");
}
