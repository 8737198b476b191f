//! Whether the policies of `deploy/admission` hold in the namespace.
//!
//! They are cluster-scoped objects, which few users may read. For everybody else the result is unknown: that one pod was accepted
//! would say nothing of the next one, and doctor writes nothing.

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report, apis, elements, quoted, text_at};

const CHECK: &str = "admission policies";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
/// What they are called, and their bindings.
const POLICIES: [&str; 6] = [
    "kubebench-custom-templates",
    "kubebench-pipeline",
    "kubebench-pods",
    "kubebench-running-pods",
    "kubebench-templates",
    "kubebench-tokens",
];
const LABEL: &str = "/metadata/labels/kubebench.dev~1admission";
const PARAMETERS: &str = "/api/v1/namespaces/kubebench-system/configmaps/kubebench-admission";
const APPLY: &str = "ask a cluster admin to run `kubectl apply -k deploy/admission`";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let mut missing = Vec::new();
    let mut weak = Vec::new();
    for name in POLICIES {
        let [policy, binding] = match parts(name, facts) {
            Ok(parts) => parts,
            Err(why) => return report.unknown(CHECK, "the admission policies of the cluster", &why),
        };
        match (policy, binding) {
            (Some(policy), Some(binding)) if refuses(&policy, &binding, name) => {}
            (Some(_), Some(_)) => weak.push(name),
            _ => missing.push(name),
        }
    }
    let namespace = needs.target.namespace.as_str();
    if !missing.is_empty() {
        let seen = match missing.len() {
            count if count == POLICIES.len() => format!(
                "not installed: everyone who may create jobs in `{namespace}` can use the Secrets and accounts of Kubebench \
                 there"
            ),
            _ => format!("missing: {}", quoted(missing)),
        };
        return report.warning(CHECK, seen, APPLY);
    }
    if !weak.is_empty() {
        let seen = format!(
            "{} do not enforce: expected `failurePolicy: Fail`, and a binding with `validationActions: \
                            [Deny]`",
            quoted(weak)
        );
        return report.warning(CHECK, seen, APPLY);
    }
    match facts.read(&format!("/api/v1/namespaces/{namespace}")) {
        Fact::There(object) if text_at(&object, LABEL) == "enforce" => {}
        Fact::There(_) => {
            let seen = format!("installed, but not enforced in `{namespace}`");
            let label = format!("kubectl label namespace {namespace} kubebench.dev/admission=enforce");
            return report.warning(CHECK, seen, label);
        }
        // That it is missing is said elsewhere.
        Fact::Absent => return,
        Fact::Forbidden(why) => return report.unknown(CHECK, &format!("the labels of `{namespace}`"), &why),
    }
    match facts.read(PARAMETERS) {
        Fact::There(parameters) => parametrized(needs, facts, &parameters, report),
        Fact::Absent => {
            let seen = format!(
                "the ConfigMap of their parameters does not exist, so nothing can be created in \
                                `{namespace}`"
            );
            report.error(CHECK, seen, APPLY);
        }
        Fact::Forbidden(why) => report.unknown(CHECK, "their parameters, which name Secrets and Argo's account", &why),
    }
}

/// Returns a policy and its binding, or why they may not be read.
fn parts(name: &str, facts: &dyn Facts) -> Result<[Option<Json>; 2], String> {
    let read = |kind: &str| match facts.read(&format!("{GROUP}/{kind}/{name}")) {
        Fact::There(object) => Ok(Some(object)),
        Fact::Absent => Ok(None),
        Fact::Forbidden(why) => Err(why),
    };
    Ok([read("validatingadmissionpolicies")?, read("validatingadmissionpolicybindings")?])
}

fn refuses(policy: &Json, binding: &Json, name: &str) -> bool {
    text_at(policy, "/spec/failurePolicy") == "Fail"
        && text_at(binding, "/spec/policyName") == name
        && elements(binding, "/spec/validationActions").any(|action| action == "Deny")
}

/// What the parameters must name, so that steps run and others do not.
fn parametrized(needs: &Needs<'_>, facts: &dyn Facts, parameters: &Json, report: &mut Report) {
    let named = |key: &str| -> Vec<&str> { text_at(parameters, key).lines().map(str::trim).collect() };
    let results = &needs.settings.results;
    let before = report.0.len();
    for secret in [Some(&results.credential), results.signing.as_ref()].into_iter().flatten() {
        if !named("/data/secrets").contains(&secret.as_str()) {
            let seen = format!("their parameters do not list the Secret `{secret}`");
            let add = "add it to `secrets` of the ConfigMap `kubebench-admission` in `kubebench-system`";
            report.warning(CHECK, seen, add);
        }
    }
    let deployments = apis::deployments(facts);
    for controller in apis::called(&deployments, "workflow-controller") {
        let account = match text_at(controller, "/spec/template/spec/serviceAccountName") {
            "" => "default",
            account => account,
        };
        let user = format!("system:serviceaccount:{}:{account}", text_at(controller, "/metadata/namespace"));
        if !named("/data/workflowControllers").contains(&user.as_str()) {
            let seen = format!(
                "their parameters do not list the account of Argo's controller, `{user}`, so no step \
                                starts"
            );
            let add = "add it to `workflowControllers` of the ConfigMap `kubebench-admission` in `kubebench-system`";
            report.error(CHECK, seen, add);
        }
    }
    if report.0.len() == before {
        report
            .ok(CHECK, format!("every pod in `{}` must pass the rules of `kubebench compile`", needs.target.namespace));
    }
}
