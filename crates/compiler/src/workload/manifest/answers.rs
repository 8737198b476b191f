//! How an object of the user's own answers, where it serves.

use serde_json::Value as Json;

use super::super::serving::{ModelName, Server};
use super::super::status::text_at;
use super::super::{Kind, inference_service, llm_inference_service, seldon_deployment, seldon_model};
use crate::model::Endpoint;

/// Returns how `object` is reached: as its kind defines, or by the only Service with it that selects its pods.
pub(super) fn server(object: &Json, kind: Option<&Kind>, beside: &[Json]) -> Option<Server> {
    match kind.map_or("", |kind| kind.key) {
        "inferenceService" => Some(inference_service::server(object)),
        "llmInferenceService" => Some(llm_inference_service::server(object)),
        "seldonDeployment" => seldon_deployment::server(object),
        "seldonModel" => Some(seldon_model::server()),
        _ => {
            let mut services = beside.iter().filter(|other| leads_to(other, object));
            let service = services.next().filter(|_| services.next().is_none())?;
            let name = text_at(service, "/metadata/name").to_owned();
            let port = service.pointer("/spec/ports/0/port").and_then(Json::as_u64)?;
            let port = u16::try_from(port).ok()?;
            let endpoint = Endpoint::Shared { name: name.into(), port };
            Some(Server { endpoint, probe: None, model: None::<ModelName>, protocol: None })
        }
    }
}

/// Returns whether `service` is a Service whose selector the pods of `object` match.
fn leads_to(service: &Json, object: &Json) -> bool {
    let selector = service.pointer("/spec/selector").and_then(Json::as_object);
    let labels = object.pointer("/spec/template/metadata/labels");
    text_at(service, "/kind") == "Service"
        && selector.is_some_and(|selector| {
            !selector.is_empty()
                && selector.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
        })
}
