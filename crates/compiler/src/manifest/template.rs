//! Where the pods of a role are in an object: put there, found again, and changed as a whole.

use serde_json::{Map, Value as Json};

use crate::model::{TemplateAt, TemplateForm, TemplateStep};

/// What KServe names the container that it has elsewhere than among the containers of a pod.
const MOVED: &str = "kserve-container";

/// Puts the pod `template` to its place in `object`; lists on the way have their elements already.
pub(super) fn put(object: &mut Json, at: &TemplateAt, template: Json) {
    let Some(spec) = object.get_mut("spec") else { return };
    match (&at.form, template) {
        (TemplateForm::Template, template) => drop(place(spec, &at.steps).map(|place| *place = template)),
        (TemplateForm::Pod { metadata, container }, Json::Object(mut template)) => {
            if let (Some(fields), Some(Json::Object(pod))) =
                (place(spec, &at.steps).and_then(Json::as_object_mut), template.remove("spec"))
            {
                fields.extend(pod);
            }
            if let (Some(place), Some(Json::Object(own))) =
                (object.pointer_mut(metadata).and_then(Json::as_object_mut), template.remove("metadata"))
            {
                place.extend(own);
            }
            if let Some(container) = container {
                move_out(object, &at.pod(), container);
            }
        }
        (TemplateForm::Pod { .. }, _) => {}
    }
}

/// Changes the `spec` of the pods with `change`, which sees the main container among the others.
pub(super) fn with_pod(object: &mut Json, at: &TemplateAt, change: impl FnOnce(&mut Json)) {
    let pointer = at.pod();
    let container = match &at.form {
        TemplateForm::Pod { container, .. } => container.as_deref(),
        TemplateForm::Template => None,
    };
    if let Some(container) = container {
        move_in(object, &pointer, container);
    }
    if let Some(pod) = object.pointer_mut(&pointer) {
        change(pod);
    }
    if let Some(container) = container {
        move_out(object, &pointer, container);
    }
}

/// Returns the JSON Pointer to the main container of the pods at `place`: the one with this name, or the first.
pub(super) fn main_of(object: &Json, place: &str, form: &TemplateForm, name: &str) -> Option<String> {
    if let TemplateForm::Pod { container: Some(container), .. } = form {
        return Some(container.clone());
    }
    let pod = form.pod(place);
    let containers = object.pointer(&format!("{pod}/containers"))?.as_array().filter(|list| !list.is_empty())?;
    let index = containers.iter().position(|container| container.get("name").is_some_and(|own| own == name));
    Some(format!("{pod}/containers/{}", index.unwrap_or_default()))
}

/// Follows `steps`; mappings that are not there are made.
fn place<'a>(mut place: &'a mut Json, steps: &[TemplateStep]) -> Option<&'a mut Json> {
    for step in steps {
        place = match (step, place) {
            (TemplateStep::Element { index, .. }, Json::Array(items)) => items.get_mut(*index)?,
            (TemplateStep::Field(field), Json::Object(fields)) => {
                fields.entry(field.as_ref()).or_insert_with(|| Json::Object(Map::new()))
            }
            _ => return None,
        };
    }
    Some(place)
}

/// Moves the first container of a pod to the place that its kind expects; its controller names it.
fn move_out(object: &mut Json, pod: &str, container: &str) {
    let Some(fields) = object.pointer_mut(pod).and_then(Json::as_object_mut) else { return };
    let Some(Json::Array(containers)) = fields.get_mut("containers") else { return };
    if containers.is_empty() {
        return;
    }
    let main = containers.remove(0);
    if containers.is_empty() {
        fields.remove("containers");
    }
    if let (Some(place), Json::Object(mut main)) = (object.pointer_mut(container).and_then(Json::as_object_mut), main) {
        if !place.contains_key("name") {
            main.remove("name");
        }
        place.extend(main);
    }
}

/// Moves a container from elsewhere in the object to the front of its pod's containers.
fn move_in(object: &mut Json, pod: &str, container: &str) {
    let main = object.pointer(container).cloned();
    let fields = object.pointer_mut(pod).and_then(Json::as_object_mut);
    if let (Some(main), Some(fields)) = (main, fields)
        && let Some(containers) = fields.entry("containers").or_insert_with(|| Json::Array(Vec::new())).as_array_mut()
    {
        containers.insert(0, main);
        if let Some(main) = containers.first_mut().and_then(Json::as_object_mut) {
            main.entry("name").or_insert_with(|| MOVED.into());
        }
    }
}
