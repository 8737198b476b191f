//! `results.yaml`: the claim that keeps logs and results until they are in git. Its name is stable and it is never pruned.

use serde_json::{Value as Json, json};

use super::meta;
use crate::diag::{Diagnostic, Place, code};
use crate::model::{Benchmark, Claim};
use crate::unit::Quantity;

/// Returns the name of the claim.
pub(super) fn name(benchmark: &Benchmark) -> String {
    format!("{}-results", benchmark.name)
}

/// Returns the claim.
pub(super) fn claim(benchmark: &Benchmark) -> Json {
    let Claim { size, storage_class, access_modes, span: _ } = &benchmark.claim;
    let mut spec = json!({ "accessModes": access_modes, "resources": { "requests": { "storage": size.canonical() } } });
    if let (Some(class), Some(spec)) = (storage_class, spec.as_object_mut()) {
        spec.insert("storageClassName".to_owned(), class.as_str().into());
    }
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta::kept(&benchmark.target, &name(benchmark), benchmark),
        "spec": spec,
    })
}

/// Returns what Kubernetes would refuse about turning the claim `committed` at `path` into the benchmark's.
pub fn refused_changes(benchmark: &Benchmark, path: &str, committed: &Json) -> Vec<Diagnostic> {
    let Claim { size, storage_class, access_modes, span } = &benchmark.claim;
    let fault = |message: String, help: String| {
        Diagnostic::at(&code::KB0418, *span, message)
            .related(Place::File(path.to_owned()), "the committed claim")
            .note("Kubernetes refuses it, so no sync would succeed")
            .help(help)
    };
    let mut faults = Vec::new();
    let text = |pointer: &str| committed.pointer(pointer).and_then(Json::as_str);
    let renew = format!(
        "give the benchmark another name, or delete the claim `{}` in the cluster and the file {path} once its results are in git",
        name(benchmark)
    );
    if text("/spec/storageClassName") != storage_class.as_deref() {
        let (old, new) = (
            text("/spec/storageClassName").unwrap_or("the cluster's default"),
            storage_class.as_deref().unwrap_or("the cluster's default"),
        );
        faults.push(fault(format!("the claim's storage class cannot change from {old} to {new}"), renew.clone()));
    }
    let old_modes: Vec<&str> = committed
        .pointer("/spec/accessModes")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    if !old_modes.is_empty() && old_modes != *access_modes {
        faults.push(fault(
            format!(
                "the claim's access modes cannot change from {} to {}",
                old_modes.join(", "),
                access_modes.join(", ")
            ),
            renew,
        ));
    }
    let old_size = text("/spec/resources/requests/storage").and_then(|text| Quantity::parse(text).ok());
    if let Some(old) = old_size.filter(|old| size < old) {
        faults.push(fault(
            format!("the claim cannot shrink from {} to {}", old.canonical(), size.canonical()),
            format!("write `size: {}` or more", old.canonical()),
        ));
    }
    faults
}
