//! How Argo's controller is set up: what of it would delete finished Workflows, which git makes again, or ignore them.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::{Fact, Facts, Needs, Report, apis, elements, quoted, text_at};
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

const CHECK: &str = "Argo's settings";
/// A part of the name of its Deployment.
const CONTROLLER: &str = "workflow-controller";
const CONFIG: &str = "workflow-controller-configmap";
/// Where Argo's own manifests and chart put it, and Kubeflow.
const USUAL: [&str; 3] = ["argo", "argo-workflows", "kubeflow"];

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let deployments = apis::deployments(facts);
    for controller in apis::called(&deployments, CONTROLLER) {
        scope(needs, controller, report);
    }
    let configured = Configured::read(facts);
    for (place, settings) in &configured.found {
        judge(settings, place, report);
    }
    if configured.found.is_empty() {
        let places = quoted(configured.namespaces.iter().map(String::as_str));
        match configured.forbidden {
            Some(why) => report.unknown(CHECK, &format!("the ConfigMap `{CONFIG}` in {places}"), &why),
            None => report.note(
                CHECK,
                format!("there is no ConfigMap `{CONFIG}` in {places}"),
                "Argo's defaults then apply, which are right; if the ConfigMap is elsewhere, check its \
                 `workflowDefaults`, `retentionPolicy` and `instanceID`",
            ),
        }
    }
}

/// The settings of controllers in ConfigMaps.
struct Configured {
    /// Each that may be read: where it is, and the settings in it.
    found: Vec<(String, Map<String, Json>)>,
    /// Where they were looked for.
    namespaces: BTreeSet<String>,
    /// Why one may not be read.
    forbidden: Option<String>,
}

impl Configured {
    fn read(facts: &dyn Facts) -> Self {
        let deployments = apis::deployments(facts);
        let controllers = apis::called(&deployments, CONTROLLER);
        let mut places: BTreeSet<(String, String)> = controllers
            .map(|controller| (text_at(controller, "/metadata/namespace"), config_name(controller).unwrap_or(CONFIG)))
            .map(|(namespace, name)| (namespace.to_owned(), name.to_owned()))
            .collect();
        if places.is_empty() {
            places = USUAL.iter().map(|namespace| ((*namespace).to_owned(), CONFIG.to_owned())).collect();
        }
        let mut configured = Self { found: Vec::new(), namespaces: BTreeSet::new(), forbidden: None };
        for (namespace, name) in places {
            match facts.read(&format!("/api/v1/namespaces/{namespace}/configmaps/{name}")) {
                Fact::There(object) => {
                    configured.found.push((format!("`{name}` in `{namespace}`"), settings(&object)));
                }
                Fact::Absent => {}
                Fact::Forbidden(why) => configured.forbidden = Some(why),
            }
            configured.namespaces.insert(namespace);
        }
        configured
    }
}

/// Returns whether Argo's own containers say how much of `resource` they want, in `field` (`requests` or `limits`) of their
/// resources; nothing where that may not be read.
pub(super) fn executor_says(facts: &dyn Facts, field: &str, resource: &str) -> Option<bool> {
    let configured = Configured::read(facts);
    let says = |settings: &Map<String, Json>| {
        let resources = settings.get("executor").and_then(|executor| executor.get("resources"));
        let at = |field: &str| resources.and_then(|resources| resources.get(field)?.get(resource)).is_some();
        at(field) || at("limits")
    };
    if configured.found.iter().any(|(_, settings)| !says(settings)) {
        return Some(false);
    }
    if configured.forbidden.is_some() { None } else { Some(!configured.found.is_empty()) }
}

/// Returns the name that the controller's `--configmap` gives.
fn config_name(controller: &Json) -> Option<&str> {
    argument(controller, "--configmap")
}

fn argument<'a>(controller: &'a Json, option: &str) -> Option<&'a str> {
    let words: Vec<&str> = elements(controller, "/spec/template/spec/containers")
        .flat_map(|container| elements(container, "/command").chain(elements(container, "/args")))
        .filter_map(Json::as_str)
        .collect();
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(option)? {
        "" => Some(words.get(at.saturating_add(1)).copied().unwrap_or_default()),
        rest => rest.strip_prefix('='),
    })
}

/// A controller may look at one namespace alone.
fn scope(needs: &Needs<'_>, controller: &Json, report: &mut Report) {
    let wanted = needs.target.namespace.as_str();
    let Some(value) = argument(controller, "--namespaced").filter(|value| *value != "false") else { return };
    let _: &str = value;
    let managed = argument(controller, "--managed-namespace");
    let own = text_at(controller, "/metadata/namespace");
    let watched = managed.filter(|name| !name.is_empty()).unwrap_or(own);
    if watched != wanted {
        let seen =
            format!("`{}` in `{own}` watches only the namespace `{watched}`", text_at(controller, "/metadata/name"));
        report.warning(
            CHECK,
            seen,
            format!(
                "start the controller without `--namespaced`, or with `--managed-namespace \
                                             {wanted}`: no Workflow in `{wanted}` runs unless a controller watches the \
                                             namespace"
            ),
        );
    }
}

/// Returns the settings by name: a key each, or all of them in the key `config` as before Argo 3.
fn settings(object: &Json) -> Map<String, Json> {
    let mut settings = Map::new();
    let data = object.get("data").and_then(Json::as_object);
    for (name, value) in data.into_iter().flatten() {
        let value = read(value.as_str().unwrap_or_default());
        match (name.as_str(), value) {
            ("config", Json::Object(all)) => settings.extend(all),
            (_, value) => drop(settings.insert(name.clone(), value)),
        }
    }
    settings
}

fn read(text: &str) -> Json {
    let root = yaml::read(SourceId(0), &Source::new("", text.as_bytes())).root;
    root.map_or_else(|| text.into(), |root| root.to_json())
}

fn judge(settings: &Map<String, Json>, place: &str, report: &mut Report) {
    let at = |name: &str| settings.get(name).filter(|value| !value.is_null());
    let before = report.0.len();
    let again = "GitOps creates them again, and they run again, forever";
    if let Some(ttl) = at("workflowDefaults").and_then(|defaults| defaults.pointer("/spec/ttlStrategy")) {
        let seen = format!(
            "{place} has `workflowDefaults` with `ttlStrategy: {}`: finished Workflows are deleted, {again}",
            brief(ttl)
        );
        report.error(
            CHECK,
            seen,
            "remove `ttlStrategy` from `workflowDefaults`, and set it in the Workflows that need it",
        );
    }
    if let Some(policy) = at("retentionPolicy") {
        let seen = format!(
            "{place} has `retentionPolicy: {}`: finished Workflows above that count are deleted, {again}",
            brief(policy)
        );
        report.error(
            CHECK,
            seen,
            "remove `retentionPolicy`, or let another controller (`instanceID`) watch these namespaces",
        );
    }
    if let Some(id) = at("instanceID").and_then(Json::as_str).filter(|id| !id.is_empty()) {
        let seen = format!("{place} has `instanceID: {id}`: the controller ignores Workflows without its label");
        report.error(CHECK, seen, "let a controller without `instanceID` watch this namespace");
    }
    if let Some(seconds) = at("workflowDefaults").and_then(|defaults| defaults.pointer("/spec/activeDeadlineSeconds")) {
        let seen = format!("{place} has `workflowDefaults` that stop every Workflow after {} seconds", brief(seconds));
        report.warning(
            CHECK,
            seen,
            "raise `activeDeadlineSeconds` above the duration of the longest Workflow, which `kubebench plan` shows",
        );
    }
    for (name, what) in [("parallelism", "in the cluster"), ("namespaceParallelism", "in a namespace")] {
        // Without a limit it is 0.
        if let Some(most) = at(name).filter(|most| **most != 0) {
            let seen = format!("{place} lets {} Workflows run at once {what}", brief(most));
            report.note(CHECK, seen, "further Workflows wait as `Pending`, without a message in Argo CD or Flux");
        }
    }
    let offloads = at("persistence").and_then(|settings| settings.get("nodeStatusOffLoad")) == Some(&true.into());
    if offloads {
        let seen = format!("{place} keeps the steps of large Workflows in a database");
        report.note(CHECK, seen, "`kubebench status` then reads runs only from their jobs and pods");
    }
    if report.0.len() == before {
        let templates = at("workflowRestrictions").map_or("", |settings| text_at(settings, "/templateReferencing"));
        let restriction = if templates.is_empty() {
            String::new()
        } else {
            format!(", `templateReferencing: {templates}` fits the tree")
        };
        report.ok(CHECK, format!("{place} deletes no Workflow{restriction}"));
    }
}

fn brief(value: &Json) -> String {
    value.to_string().replace('"', "")
}
