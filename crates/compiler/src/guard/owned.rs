//! KB0372: Kubebench's own Secret, accounts, labels and locks.

use super::{Bounds, Field};
use crate::model::{CLAIM_OF_RESULTS, VOLUME_OF_RESULTS};
use kubebench_contract::labels::{BENCHMARK, CASE, PREFIX, ROLE, RUN};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// The name of the template of a target's pipeline.
const NAME: &str = "kubebench";
/// What accounts and other objects of Kubebench begin with.
const ACCOUNTS: &str = "kubebench-";
/// The prefix of the variables by which steps and pods know a run.
const VARIABLES: &str = "KUBEBENCH_";
/// Objects that Argo reads by their names, whatever they were made for.
const OF_ARGO: [&str; 2] = ["artifact-repositories", "workflow-controller-configmap"];
/// Labels and annotations by which Argo treats a pod as one of a Workflow, or an object as a part of itself.
const BY_ARGO: [&str; 7] = [
    "completed",
    "configmap-type",
    "controller-instanceid",
    "default-artifact-repository",
    "node-id",
    "node-name",
    "workflow",
];
/// The name of the Workflow that a pod is made for, in a Workflow and in a text within one.
const OWN_WORKFLOW: [&str; 2] = ["{{workflow.name}}", "<<workflow.name>>"];
/// Their prefix.
const ARGO: &str = "workflows.argoproj.io/";
/// Lists by which pods have volumes.
const LISTS_OF_VOLUMES: [&str; 3] = ["volumeDevices", "volumeMounts", "volumes"];
/// What begins where Argo or Katib fills something in.
const OPENINGS: [&str; 3] = ["{{", "<<", "${"];
/// Fields that make a claim a copy of another one.
const COPIED: [&str; 2] = ["dataSource", "dataSourceRef"];
/// Fields of Argo whose `name` says which lock a Workflow waits for.
const LOCKS: [&str; 3] = ["configMapKeyRef", "mutex", "mutexes"];
/// Fields that choose among objects by their labels.
const SELECTORS: [&str; 3] = ["matchExpressions", "matchLabels", "selector"];
/// The labels by which a benchmark may choose among its own pods.
const SELECTABLE: [&str; 4] = [BENCHMARK, CASE, ROLE, RUN];

/// Reports a label or annotation of Kubebench that the user gives, and its Secret where a property names it.
pub(super) fn check_key(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, value }, of, in_workflow, .. } = field;
    diagnostics.extend(own_secret(key, *key_span, bounds));
    if is_decided_later(key) {
        diagnostics.push(decided_later(key, *key_span, "this name"));
    }
    // A pod that an object of a Workflow makes has its logs among those of the Workflow by this.
    let is_own = in_workflow && value.as_text().is_some_and(|name| OWN_WORKFLOW.contains(&name));
    if key.strip_prefix(ARGO).is_some_and(|rest| BY_ARGO.contains(&rest)) && !is_own {
        let fault = Diagnostic::at(&code::KB0372, *key_span, format!("`{key}` belongs to Argo"))
            .note("Argo's controller would take this for a pod of a Workflow, or for a part of Argo's configuration");
        diagnostics.push(fault.help("delete it"));
    }
    if let Some(user) = bounds.user_of_steps.filter(|user| key == "runAsUser" && value.to_json() == *user) {
        let fault = Diagnostic::at(&code::KB0372, value.span, format!("the user {user} is reserved for the steps"))
            .note("a pod of this user could write what only the steps may write: results and the progress of a run");
        diagnostics.push(fault.help("write another user, or delete it"));
    }
    if of == "env" && key == "name" && value.as_text().is_some_and(|name| name.starts_with(VARIABLES)) {
        let name = value.as_text().unwrap_or_default();
        let fault = Diagnostic::at(&code::KB0372, value.span, format!("the variable `{name}` belongs to kubebench"))
            .note(
                "a pod finds the folder of its run by this variable: with another value it would use the folder of \
                 another run",
            );
        diagnostics.push(fault.help("use another name: kubebench sets its own variables in the main container"));
    }
    let label = if key == "key" && of == "matchExpressions" {
        value.as_text().filter(|label| label.starts_with(PREFIX)).map(|label| (label, value.span))
    } else {
        key.contains(PREFIX).then_some((key.as_str(), *key_span))
    };
    let Some((label, span)) = label else { return };
    let chooses = SELECTORS.contains(&of) && SELECTABLE.contains(&label);
    if !chooses {
        let fault = Diagnostic::at(&code::KB0372, span, format!("`{label}` belongs to kubebench")).note(
            "policies, steps and `status` identify pods by these labels: with another value a pod could \
             impersonate another one",
        );
        diagnostics.push(fault.help("delete it, or use another name"));
    } else if label == BENCHMARK && value.as_text().is_some_and(|name| name != bounds.benchmark && name != BENCHMARK) {
        let name = value.as_text().unwrap_or_default();
        let fault =
            Diagnostic::at(&code::KB0372, value.span, format!("this selects the pods of the benchmark `{name}`"))
                .note("a benchmark may not reach the pods of another one");
        diagnostics.push(fault.help(format!("write `{}`, the name of this benchmark", bounds.benchmark)));
    }
}

/// Reports an object that is called like those which the pipeline of a target has.
pub(super) fn check_object(object: &Node, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let name = object.get("metadata").and_then(|metadata| metadata.get("name"));
    let Some((name, span)) = name.and_then(|name| Some((name.as_text()?, name.span))) else { return };
    if OF_ARGO.contains(&name) {
        let fault = Diagnostic::at(&code::KB0372, span, format!("an object called `{name}` belongs to Argo")).note(
            "Argo reads settings for all Workflows of the namespace from this object: where logs go, and with \
             which Secrets",
        );
        diagnostics.push(fault.help("choose another name"));
    }
    if is_of_results(name, bounds) {
        diagnostics.push(results(name, span));
    }
    if let Some(owner) = run_of(name).filter(|owner| bounds.owners.contains(owner)) {
        let fault =
            Diagnostic::at(&code::KB0372, span, format!("`{name}` has the form of the name of a run of `{owner}`"))
                .note("the run of that name would find this object, and fail");
        diagnostics.push(fault.help("choose another name"));
    }
    if is_own(name) {
        diagnostics.push(own_object(name, span));
    }
}

/// Returns the benchmark or suite whose runs have names like this: its own name and eight hex digits.
fn run_of(name: &str) -> Option<&str> {
    let (owner, digest) = name.rsplit_once('-')?;
    (digest.len() == 8 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(owner)
}

/// Returns whether an object of this name is one of the pipeline.
pub(super) fn is_own(name: &str) -> bool {
    name == NAME || name.starts_with(ACCOUNTS)
}

pub(super) fn own_object(name: &str, span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0372, span, format!("an object called `{name}` belongs to kubebench"))
        .note("the objects of a benchmark are created and deleted with its runs, but this one belongs to the pipeline")
        .help("choose another name, or write its settings into the spec")
}

/// Reports the Secret of Kubebench, or one of its accounts, as the value of a field.
pub(super) fn check_value(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, value, .. }, of, .. } = field;
    check_text(value, key, bounds, diagnostics);
    let Some(text) = value.as_text() else { return };
    if key == "name" && LOCKS.contains(&of) && is_own(text) {
        diagnostics.push(own_lock(text, value.span));
    } else if key == "name" && of.starts_with("mutex") && is_decided_later(text) {
        diagnostics.push(decided_later(text, value.span, "which lock this is"));
    }
    let says = |word: &str| [key.as_str(), of].iter().any(|name| name.to_ascii_lowercase().contains(word));
    if text.starts_with(ACCOUNTS) && says("serviceaccount") {
        diagnostics.push(own_account(text, value.span));
    } else if claim_of(key, text).is_some_and(|claim| is_decided_later(claim) && may_be_of_results(claim, bounds)) {
        diagnostics.push(decided_later(text, value.span, "which claim this is"));
    } else if claim_of(key, text).is_some_and(|claim| is_of_results(claim, bounds))
        || mounts_results(field)
        || key == "name" && COPIED.contains(&of) && is_of_results(text, bounds)
    {
        diagnostics.push(results(text, value.span));
    } else if is_decided_later(text) && key != "key" && (says("serviceaccount") || says("secret")) {
        diagnostics.push(decided_later(text, value.span, "which Secret or account this is"));
    }
}

fn own_lock(name: &str, span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0372, span, format!("`{name}` is a lock of kubebench"))
        .note("the pipeline holds this lock during the run, so both would wait for each other until the run times out")
        .help(
            "use a lock with another name, or delete it: `concurrency` of the target limits how many runs there are \
             at once",
        )
}

/// Returns the claim that a field names.
pub(super) fn claim_of<'t>(key: &str, text: &'t str) -> Option<&'t str> {
    let lower = key.to_ascii_lowercase();
    let is_claim = lower.ends_with("claimname") || lower == "existingclaim";
    is_claim.then_some(text).or_else(|| text.strip_prefix("pvc://")?.split('/').next())
}

/// Returns whether a claim is one on which results are kept until they are recorded.
fn is_of_results(claim: &str, bounds: &Bounds<'_>) -> bool {
    claim.strip_suffix(CLAIM_OF_RESULTS).is_some_and(|owner| bounds.owners.contains(owner))
}

/// Returns whether a claim whose name is decided when it runs may be one with results: what is known of the name does not rule it out.
fn may_be_of_results(claim: &str, bounds: &Bounds<'_>) -> bool {
    let begin = OPENINGS.iter().filter_map(|opening| claim.find(opening)).min().unwrap_or(claim.len());
    let end = ["}}", ">>", "}"].iter().filter_map(|closing| Some(claim.rfind(closing)? + closing.len())).max();
    let (head, tail) = (claim.get(..begin).unwrap_or_default(), claim.get(end.unwrap_or(begin)..).unwrap_or_default());
    bounds.owners.any(|owner| {
        let name = format!("{owner}{CLAIM_OF_RESULTS}");
        name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
    })
}

/// Returns whether a field names the volume of results of a pod, to mount it or to put another in its place.
fn mounts_results(Field { entry: Entry { key, value, .. }, of, .. }: Field<'_>) -> bool {
    key == "name" && LISTS_OF_VOLUMES.contains(&of) && value.as_text() == Some(VOLUME_OF_RESULTS)
}

fn results(name: &str, span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0372, span, format!("`{name}` holds the results of runs and belongs to kubebench"))
        .note(
            "a pod that mounts all of it could write the results of other runs; kubebench mounts only the output \
             folder of the pod's run",
        )
        .help("write below `$KUBEBENCH_EXP_OUTPUT_PATH` of the main container, or use a volume with another name")
}

fn decided_later(text: &str, span: Span, what: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0372, span, format!("`{text}` is known only at run time"))
        .note(format!("a reviewer of the change cannot see {what}"))
        .help("write the name")
}

/// Reports the Secret of Kubebench in a text of the field `of`.
pub(super) fn check_text(node: &Node, of: &str, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    if !["image", "mountPath", "workingDir", "description"].contains(&of) {
        diagnostics.extend(node.as_text().and_then(|text| own_secret(text, node.span, bounds)));
    }
}

fn own_account(name: &str, span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0372, span, format!("the account `{name}` belongs to kubebench"))
        .note("with this account, a measured program could do what the pipeline may do")
        .help("use another account, or delete it")
}

/// Reports a Secret of Kubebench that a text names.
fn own_secret(text: &str, span: Span, bounds: &Bounds<'_>) -> Option<Diagnostic> {
    let (name, why) = bounds.results.secrets().find(|(name, _)| names(text, name))?;
    let fault = Diagnostic::at(&code::KB0372, span, format!("the Secret `{name}` belongs to kubebench")).note(why);
    Some(fault.help("use a Secret with another name"))
}

/// Returns whether a text has a name as a word of its own, or as the last part of a property.
fn names(text: &str, name: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '-');
    words.any(|word| word.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// Returns whether Argo or Katib makes the text what it is.
pub(super) fn is_decided_later(text: &str) -> bool {
    OPENINGS.iter().any(|opening| text.contains(opening))
}
