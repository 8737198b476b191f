//! Whatever applies the tree: options of Argo CD and Flux that would run benchmarks again or throw results away.

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report, elements, items, text_at};

const CHECK: &str = "GitOps";
const PROTECTION: &str = "/metadata/annotations/argocd.argoproj.io~1sync-options";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let mut found = 0_usize;
    let mut is_unknown = false;
    for (path, judge) in [
        ("/apis/argoproj.io/v1alpha1/applications", application as Judge),
        ("/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations", kustomization as Judge),
    ] {
        // To a user who may not list it, a resource that does not exist is reported as forbidden.
        if !is_served(facts, path) {
            continue;
        }
        match facts.read(path) {
            Fact::There(list) => {
                for item in items(&list).filter(|item| manages(item, &needs.target.namespace)) {
                    found = found.saturating_add(1);
                    judge(item, needs, facts, report);
                }
            }
            Fact::Absent => {}
            Fact::Forbidden(why) => {
                is_unknown = true;
                let what = if path.contains("argoproj") { "Argo CD Applications" } else { "Flux Kustomizations" };
                report.unknown(CHECK, what, &why);
            }
        }
    }
    if found == 0 && !is_unknown {
        let seen = format!("no Argo CD Application or Flux Kustomization here applies to `{}`", needs.target.namespace);
        report.note(
            CHECK,
            seen,
            "benchmarks run once something applies the folder; an Argo CD in another cluster is not visible from here",
        );
    }
}

fn is_served(facts: &dyn Facts, path: &str) -> bool {
    let Some((api, plural)) = path.rsplit_once('/') else { return false };
    match facts.read(api) {
        Fact::There(list) => elements(&list, "/resources").any(|resource| text_at(resource, "/name") == plural),
        Fact::Absent => false,
        Fact::Forbidden(_) => true,
    }
}

type Judge = fn(&Json, &Needs<'_>, &dyn Facts, &mut Report);

fn manages(object: &Json, namespace: &str) -> bool {
    let in_inventory = format!("{namespace}_");
    text_at(object, "/spec/destination/namespace") == namespace
        || text_at(object, "/spec/targetNamespace") == namespace
        || elements(object, "/status/resources").any(|resource| text_at(resource, "/namespace") == namespace)
        || elements(object, "/status/inventory/entries").any(|entry| text_at(entry, "/id").starts_with(&in_inventory))
}

fn application(object: &Json, needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let name = format!("the Application `{}`", text_at(object, "/metadata/name"));
    let before = report.0.len();
    let options: Vec<&str> = elements(object, "/spec/syncPolicy/syncOptions").filter_map(Json::as_str).collect();
    for option in ["Replace=true", "Force=true"].into_iter().filter(|option| options.contains(option)) {
        let seen = format!(
            "{name} syncs with `{option}`: finished Workflows lose their status or are recreated, and run again at \
             each sync"
        );
        report.error(
            CHECK,
            seen,
            format!("remove `{option}` from `spec.syncPolicy.syncOptions`; no annotation overrides it"),
        );
    }
    for source in object.pointer("/spec/source").into_iter().chain(elements(object, "/spec/sources")) {
        let rewritten = ["namePrefix", "nameSuffix"]
            .into_iter()
            .find(|field| !text_at(source, &format!("/kustomize/{field}")).is_empty());
        if let Some(field) = rewritten {
            let seen = format!("{name} has `kustomize.{field}`: names inside run lists are not rewritten");
            report.error(CHECK, seen, "apply the folder as it was compiled");
        }
        let is_folder =
            source.get("kustomize").or_else(|| source.get("helm")).or_else(|| source.get("plugin")).is_none();
        let path = text_at(source, "/path");
        if is_folder
            && path.contains(&needs.settings.output)
            && source.pointer("/directory/recurse") != Some(&true.into())
        {
            let seen = format!(
                "{name} reads `{path}` without `directory.recurse: true`: it does not read files in \
                         subfolders"
            );
            report.warning(CHECK, seen, "write `directory: {recurse: true, include: '*.yaml'}` into its source");
        }
    }
    if object.pointer("/spec/syncPolicy/automated/prune") == Some(&true.into()) {
        unprotected(&name, needs, facts, report);
    }
    if report.0.len() == before {
        report.ok(CHECK, format!("{name} has no harmful option"));
    }
}

/// Claims in the cluster that automatic pruning would delete with all that is on them.
fn unprotected(name: &str, needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let path = format!("/api/v1/namespaces/{}/persistentvolumeclaims", needs.target.namespace);
    let Fact::There(list) = facts.read(&path) else { return };
    let own = needs.names("PersistentVolumeClaim");
    for claim in items(&list).filter(|claim| own.contains(text_at(claim, "/metadata/name"))) {
        if !text_at(claim, PROTECTION).contains("Prune=false") {
            let seen =
                format!("{name} prunes, and the claim `{}` lost its `Prune=false`", text_at(claim, "/metadata/name"));
            report.error(
                CHECK,
                seen,
                "sync the folder to restore the annotation: without it, removing the spec deletes the results",
            );
        }
    }
}

fn kustomization(object: &Json, needs: &Needs<'_>, _: &dyn Facts, report: &mut Report) {
    let named = format!("the Kustomization `{}`", text_at(object, "/metadata/name"));
    let is_set = |at: &str| object.pointer(at) == Some(&true.into());
    let before = report.0.len();
    if is_set("/spec/force") {
        let seen = format!(
            "{named} has `force: true`: Flux deletes and recreates objects that it cannot change, such as finished \
             Workflows and claims with results"
        );
        report.error(CHECK, seen, "remove `spec.force`");
    }
    if is_set("/spec/wait") {
        let seen = format!("{named} has `wait: true`: it waits for claims that nothing mounts yet");
        report.warning(CHECK, seen, "remove `spec.wait`; https://github.com/kubebench/kubebench/blob/main/docs/how-to/deploy-with-flux.md says why");
    }
    for field in ["namePrefix", "nameSuffix"] {
        if !text_at(object, &format!("/spec/{field}")).is_empty() {
            let seen = format!("{named} has `{field}`: names inside run lists are not rewritten");
            report.error(CHECK, seen, "apply the folder as it was compiled");
        }
    }
    let moved = text_at(object, "/spec/targetNamespace");
    if !moved.is_empty() && moved != needs.target.namespace {
        let seen = format!("{named} moves everything to the namespace `{moved}`");
        report.error(CHECK, seen, "remove `spec.targetNamespace`: every object already names the target's namespace");
    }
    if is_set("/spec/suspend") {
        let seen = format!("{named} is suspended");
        report.warning(CHECK, seen, "resume it with `flux resume`: nothing that is pushed runs until then");
    }
    if report.0.len() == before {
        report.ok(CHECK, format!("{named} has no harmful option"));
    }
}
