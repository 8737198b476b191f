//! The namespace and what it forbids: its Pod Security level, its LimitRanges and its quotas.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::needs::{amounts, entries, quantity};
use super::{Fact, Facts, Needs, PodNeed, Report, argo, elements, items, text_at};
use kubebench_compiler::model::target::PodSecurity;

const NAMESPACE: &str = "namespace";
const LIMITS: &str = "LimitRange";
const QUOTA: &str = "quota";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    if !namespace(needs, facts, report) {
        return;
    }
    let own = format!("/api/v1/namespaces/{}", needs.target.namespace);
    let ranges = match facts.read(&format!("{own}/limitranges")) {
        Fact::There(list) => list,
        Fact::Absent => Json::Null,
        Fact::Forbidden(why) => {
            report.unknown(LIMITS, "LimitRanges of the namespace", &why);
            Json::Null
        }
    };
    limit_ranges(needs, &ranges, report);
    match facts.read(&format!("{own}/resourcequotas")) {
        Fact::There(list) if items(&list).next().is_some() => {
            for item in items(&list) {
                quota(needs, facts, item, &ranges, report);
            }
        }
        Fact::There(_) | Fact::Absent => report.ok(QUOTA, "the namespace has none"),
        Fact::Forbidden(why) => report.unknown(QUOTA, "ResourceQuotas of the namespace", &why),
    }
}

/// Returns false when there is no namespace to look into.
fn namespace(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) -> bool {
    let name = &needs.target.namespace;
    let wanted = level_name(needs.target.pod_security);
    let found = match facts.read(&format!("/api/v1/namespaces/{name}")) {
        Fact::There(found) => found,
        Fact::Absent => {
            let advice = format!(
                "kubectl create namespace {name}; kubectl label namespace {name} pod-security.kubernetes.io/enforce={wanted}"
            );
            report.error(NAMESPACE, format!("`{name}` does not exist"), advice);
            return false;
        }
        Fact::Forbidden(why) => {
            report.unknown(NAMESPACE, &format!("the namespace `{name}`"), &why);
            return true;
        }
    };
    if text_at(&found, "/status/phase") == "Terminating" {
        report.error(NAMESPACE, format!("`{name}` is being deleted"), "wait until it is gone, then create it again");
        return false;
    }
    let label = found.pointer("/metadata/labels/pod-security.kubernetes.io~1enforce").and_then(Json::as_str);
    match label.and_then(level) {
        None if label.is_none() => {
            let seen = format!("`{name}` has no label `pod-security.kubernetes.io/enforce`");
            report.note(
                NAMESPACE,
                seen,
                format!("the cluster's default applies; the tree was compiled for `{wanted}`"),
            );
        }
        Some(found) if found <= needs.target.pod_security => {
            report.ok(NAMESPACE, format!("`{name}` enforces Pod Security `{}`", level_name(found)));
        }
        _ => {
            let enforced = label.unwrap_or_default();
            let seen = format!(
                "`{name}` enforces Pod Security `{enforced}`, but `kubebench compile` checked for \
                                `{wanted}`"
            );
            let advice = format!(
                "write `podSecurity: {enforced}` for the target `{}` in {} and compile to see what would be refused",
                needs.target.name, needs.settings.path
            );
            report.warning(NAMESPACE, seen, advice);
        }
    }
    true
}

fn level(name: &str) -> Option<PodSecurity> {
    [PodSecurity::Privileged, PodSecurity::Baseline, PodSecurity::Restricted]
        .into_iter()
        .find(|level| level_name(*level) == name)
}

fn level_name(level: PodSecurity) -> &'static str {
    match level {
        PodSecurity::Privileged => "privileged",
        PodSecurity::Baseline => "baseline",
        PodSecurity::Restricted => "restricted",
    }
}

/// Compares every container and pod with `min` and `max` of the LimitRanges.
fn limit_ranges(needs: &Needs<'_>, ranges: &Json, report: &mut Report) {
    let mut faults: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for range in items(ranges) {
        let name = text_at(range, "/metadata/name");
        for rule in elements(range, "/spec/limits") {
            for (what, said, advice) in needs.pods.iter().flat_map(|pod| out_of(rule, pod)) {
                faults.entry((format!("`{name}` requires {what}"), advice)).or_default().push(said);
            }
        }
    }
    if faults.is_empty() && items(ranges).next().is_some() {
        report.ok(LIMITS, "all containers fit");
    }
    for ((what, advice), mut said) in faults {
        let first = said.remove(0);
        let more = if said.is_empty() { String::new() } else { format!(" (and {} more)", said.len()) };
        report.error(LIMITS, format!("{what}, but {first}{more}"), advice);
    }
}

/// Returns the bounds of `rule` that `pod` is out of: what it says, what the pod has, and what to do.
fn out_of(rule: &Json, pod: &PodNeed) -> Vec<(String, String, &'static str)> {
    let kind = text_at(rule, "/type");
    let (limits, requests): (Vec<BTreeMap<_, _>>, Vec<BTreeMap<_, _>>) = match kind {
        "Pod" => (vec![pod.limits()], vec![pod.requests()]),
        "Container" => {
            let limits = pod.containers().map(|container| entries(container, "/resources/limits").collect());
            (limits.collect(), pod.containers().map(amounts).collect())
        }
        _ => return Vec::new(),
    };
    let kind = kind.to_lowercase();
    let mut found = Vec::new();
    for (field, most, all, advice) in [
        ("max", true, &limits, "request less, or have the LimitRange raised: the API server refuses these pods"),
        ("min", false, &requests, "request more, or have the LimitRange lowered: the API server refuses these pods"),
    ] {
        for (resource, bound) in entries(rule, &format!("/{field}")) {
            let is_out = |amount: &f64| if most { *amount > bound } else { *amount < bound };
            let Some(amount) = all.iter().filter_map(|amounts| amounts.get(&resource)).copied().find(|it| is_out(it))
            else {
                continue;
            };
            let word = if most { "most" } else { "least" };
            let what = format!("{resource} of at {word} {} per {kind}", shown(&resource, bound));
            found.push((what, format!("{} has {}", pod.name(), shown(&resource, amount)), advice));
        }
    }
    found
}

/// Holds the largest run, and each pod, against one quota.
fn quota(needs: &Needs<'_>, facts: &dyn Facts, quota: &Json, ranges: &Json, report: &mut Report) {
    let name = text_at(quota, "/metadata/name");
    if elements(quota, "/spec/scopes").next().is_some() || quota.pointer("/spec/scopeSelector").is_some() {
        return report.note(
            QUOTA,
            format!("`{name}` applies to some pods only (`scopes`)"),
            "not checked; verify whether it applies to the runs' pods",
        );
    }
    let before = report.0.len();
    let hard: BTreeMap<String, f64> = entries(quota, "/status/hard").chain(entries(quota, "/spec/hard")).collect();
    for (resource, hard) in &hard {
        must_be_said(needs, facts, (name, resource), ranges, report);
        let used = quota.pointer("/status/used").and_then(|used| used.get(resource)).and_then(quantity).unwrap_or(0.0);
        let Some((who, wanted)) = largest(needs, resource) else { continue };
        if wanted > *hard {
            let seen = format!(
                "`{name}` allows {resource} {}, and {who} needs {}",
                shown(resource, *hard),
                shown(resource, wanted)
            );
            report.error(QUOTA, seen, "make the runs smaller, or have the quota raised: they can never start");
        } else if wanted > hard - used {
            let seen = format!(
                "`{name}` allows {resource} {}, of which {} is used; {who} needs {}",
                shown(resource, *hard),
                shown(resource, used),
                shown(resource, wanted)
            );
            report.warning(QUOTA, seen, "runs wait, and fail after `queueTimeout` unless other pods end first");
        }
    }
    if report.0.len() == before {
        report.ok(QUOTA, format!("the largest run fits into `{name}`"));
    }
}

/// A quota on a resource refuses pods that do not say how much of it they want.
fn must_be_said(
    needs: &Needs<'_>,
    facts: &dyn Facts,
    (name, resource): (&str, &str),
    ranges: &Json,
    report: &mut Report,
) {
    let (field, base) = match resource.split_once('.') {
        Some(("limits", base)) => ("limits", base),
        Some(("requests", base)) => ("requests", base),
        None => ("requests", resource),
        Some(_) => return,
    };
    if base != "cpu" && base != "memory" {
        return;
    }
    let has_default = items(ranges).flat_map(|range| elements(range, "/spec/limits")).any(|rule| {
        let default = if field == "limits" { "/default" } else { "/defaultRequest" };
        text_at(rule, "/type") == "Container" && rule.pointer(default).and_then(|map| map.get(base)).is_some()
    });
    let says = |container: &Json, field: &str| container.pointer(&format!("/resources/{field}/{base}")).is_some();
    let is_silent = |pod: &&PodNeed| {
        pod.containers().any(|container| !says(container, field) && (field == "limits" || !says(container, "limits")))
    };
    if has_default {
        return;
    }
    let advice =
        format!("create a LimitRange in `{}` that gives containers a default of {base}", needs.target.namespace);
    let limited = format!("`{name}` limits {resource}, but");
    let refused = format!("no {base} {field}: the API server refuses such pods");
    if let Some(first) = needs.pods.iter().find(is_silent) {
        return report.error(QUOTA, format!("{limited} {} sets {refused}", first.name()), advice);
    }
    let added = "the containers that Argo adds to the pods of steps";
    match argo::executor_says(facts, field, base) {
        Some(true) => {}
        Some(false) => report.error(QUOTA, format!("{limited} {added} set {refused}"), advice),
        None => report.note(QUOTA, format!("unknown: {limited} {added} may set {refused}"), advice),
    }
}

/// Returns what needs most of a resource with a quota, where concurrent runs of a benchmark count together.
fn largest(needs: &Needs<'_>, resource: &str) -> Option<(String, f64)> {
    let amount = |pod: &PodNeed| match resource.split_once('.') {
        _ if resource == "pods" || resource == "count/pods" => Some(1.0),
        Some(("limits", base)) => pod.limits().get(base).copied(),
        Some(("requests", base)) => pod.requests().get(base).copied(),
        None => pod.requests().get(resource).copied(),
        Some(_) => None,
    };
    let mut runs: BTreeMap<(&str, &str, usize), (u32, f64)> = BTreeMap::new();
    for (number, pod) in needs.pods.iter().enumerate().filter(|(_, pod)| !pod.benchmark.is_empty()) {
        // An auxiliary Job has pods of one role, and none of the others is there while it is.
        let apart = if pod.case.is_empty() { number } else { 0 };
        let run = runs.entry((&pod.benchmark, &pod.case, apart)).or_insert((pod.lanes, 0.0));
        run.1 += amount(pod).unwrap_or(0.0) * f64::from(pod.replicas);
    }
    let step = needs.pods.iter().find(|pod| pod.role == "step run").and_then(amount).unwrap_or(0.0);
    let all = runs.into_iter().map(|((benchmark, case, _), (lanes, sum))| {
        let who =
            if matches!(case, "" | "default") { format!("`{benchmark}`") } else { format!("`{benchmark}` ({case})") };
        (who, (sum + if sum > 0.0 { step } else { 0.0 }) * f64::from(lanes))
    });
    all.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, wanted)| *wanted > 0.0)
}

/// Writes an amount as people read it.
pub(super) fn shown(resource: &str, amount: f64) -> String {
    let gibibyte = f64::from(1_u32 << 30);
    if resource.contains("memory") || resource.contains("storage") {
        let (amount, unit) =
            if amount < gibibyte { (amount * 1024.0 / gibibyte, "MiB") } else { (amount / gibibyte, "GiB") };
        return format!("{amount:.1} {unit}").replace(".0 ", " ");
    }
    let text = format!("{amount:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
