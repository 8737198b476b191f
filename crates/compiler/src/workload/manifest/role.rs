//! What is read from the pods of a given object: enough for estimates, budgets and every rule about pods.

use std::collections::BTreeMap;

use super::super::pod_set::PodSet;
use super::super::{Kind, request_spans, spans};
use super::placeholder;
use super::workflow::{self, at_pointer};
use crate::model::{Env, LongestName, Role, TemplateAt, TemplateForm, TemplateStep};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::{ImageRef, Quantity, UnitError};
use kubebench_syntax::yaml::Node;

/// Returns the role of the pods `set` of `object`; none if the object does not say what they run.
pub(super) fn of(object: &Node, set: &PodSet, kind: Option<&Kind>, diagnostics: &mut Diagnostics) -> Option<Role> {
    let of_workflow = workflow::pod(object, &set.template);
    let place = set.pod();
    let pod = of_workflow.as_ref().or_else(|| at_pointer(object, &place))?;
    let containers = pod.items_of("containers");
    let is_known = |container: &&Node| kind.is_some_and(|kind| text(container, "name") == Some(kind.container));
    let apart = match &set.form {
        TemplateForm::Pod { container: Some(place), .. } => at_pointer(object, place),
        _ => None,
    };
    let main = apart.or(containers.iter().find(is_known)).or(containers.first())?;
    // There is at least one, even if no number is given.
    let replicas = set.replicas.max(1);
    let image = match main.entry("image") {
        // A runtime of the cluster defines it.
        None if set.form != TemplateForm::Template => None,
        _ => Some(image(main, diagnostics)?),
    };
    let resources = main.get("resources");
    let mut amounts = |list: &str| quantities(resources.and_then(|resources| resources.get(list)), diagnostics);
    let (requests, limits) = (amounts("requests"), amounts("limits"));
    let span = main.get("name").map_or(pod.span, |name| name.span);
    Some(Role {
        name: set.role.clone(),
        span,
        replicas,
        max_replicas: replicas,
        completions: set.completions.max(replicas),
        replicas_span: span,
        container_name: text(main, "name").unwrap_or_default().to_owned().into(),
        template_at: template_at(object, set),
        longest_name: LongestName::of_pod(format!("-{}-{}", set.role, replicas - 1)),
        restart_policy: None,
        // Argo's executor says through the API server what became of its pod.
        needs_token: of_workflow.is_some(),
        service_account: None,
        serves: None,
        of_server: Vec::new(),
        deadline: None,
        image_span: image.as_ref().map_or(main.span, |image| image.1),
        image: image.map(|image| image.0),
        command: words(main, "command"),
        args: words(main, "args"),
        word_spans: ["command", "args"].map(|field| spans(main.get(field))),
        env: variables(main),
        requests,
        limits,
        resources_span: main.entry("resources").map(|entry| entry.key_span),
        request_spans: resources.into_iter().flat_map(request_spans).collect(),
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        // Whatever looks at what a user says of pods looks at all of them.
        pod_patches: std::iter::once(pod.clone()).chain(workflow::patches(object, &set.template)).collect(),
        container_patches: Vec::new(),
        expand_variables: true,
    })
}

/// Returns the place of a template, which is below `spec`, or anywhere in the object of an unknown kind.
fn template_at(object: &Node, set: &PodSet) -> TemplateAt {
    let pointer = set.template.as_str();
    let mut node = Some(object);
    let mut steps = Vec::new();
    for step in pointer.split('/').skip(1) {
        let items = node.map(Node::items).unwrap_or_default();
        let element = step.parse::<usize>().ok().and_then(|index| Some((index, items.get(index)?)));
        if let Some((index, element)) = element {
            let name = text(element, "name").unwrap_or_default().to_owned();
            steps.push(TemplateStep::Element { index, key: "name".into(), name });
            node = Some(element);
        } else {
            steps.push(TemplateStep::Field(step.to_owned().into()));
            node = node.and_then(|node| node.get(step));
        }
    }
    let steps = if pointer == "/spec" || pointer.starts_with("/spec/") { steps.split_off(1) } else { steps };
    TemplateAt { form: set.form.clone(), ..TemplateAt::of(0, steps) }
}

fn text<'n>(node: &'n Node, field: &str) -> Option<&'n str> {
    node.get(field).and_then(Node::as_text)
}

fn words(container: &Node, field: &str) -> Vec<String> {
    let items = container.items_of(field);
    items.iter().map(|item| item.as_text().unwrap_or_default().to_owned()).collect()
}

/// Returns the image; a controller may define it elsewhere.
fn image(container: &Node, diagnostics: &mut Diagnostics) -> Option<(ImageRef, Span)> {
    let node = container.get("image")?;
    Some((parsed(node, node.as_text().unwrap_or_default(), ImageRef::parse, diagnostics)?, node.span))
}

fn quantities(amounts: Option<&Node>, diagnostics: &mut Diagnostics) -> BTreeMap<String, Quantity> {
    let entries = amounts.map(Node::entries).unwrap_or_default().iter();
    let read = entries.filter_map(|entry| {
        let amount = parsed(&entry.value, entry.value.as_text()?, Quantity::parse, diagnostics)?;
        Some((entry.key.clone(), amount))
    });
    read.collect()
}

/// Reads `text`, which `node` says; what it is not is reported, unless it is still to be filled in.
fn parsed<T>(
    node: &Node,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, UnitError>,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    match parse(text) {
        Ok(value) => return Some(value),
        Err(_) if placeholder::has_placeholder(text) => {}
        Err(UnitError { message, help, .. }) => {
            let fault = Diagnostic::at(&code::KB0205, node.span, message);
            diagnostics.push(Diagnostic { help, ..fault });
        }
    }
    None
}

/// Returns the variables. Their sources matter to no rule, except that they are not literals.
fn variables(container: &Node) -> BTreeMap<String, (Env, Span)> {
    let list = container.items_of("env");
    let read = list.iter().filter_map(|variable| {
        let name = text(variable, "name")?.to_owned();
        let literal = variable.get("value")?;
        Some((name, (Env::Text(literal.as_text()?.to_owned()), literal.span)))
    });
    read.collect()
}
