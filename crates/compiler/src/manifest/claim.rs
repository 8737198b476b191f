//! `results.yaml`: the claim that keeps logs and results until they are in git. Its name is stable and it is never pruned.

use serde_json::{Value as Json, json};

use super::meta;
use crate::model::{Benchmark, CLAIM_OF_RESULTS, Claim, Suite};
use kubebench_syntax::diag::{Diagnostic, Place, code};
use kubebench_syntax::unit::Quantity;

/// Returns the name of the claim of a benchmark, or of the suite that runs it.
pub(super) fn name(benchmark: &Benchmark) -> String {
    name_of(benchmark.suite.as_ref().unwrap_or(&benchmark.name))
}

/// Returns the name of the claim of the benchmark or suite called `owner`.
pub(super) fn name_of(owner: &str) -> String {
    format!("{owner}{CLAIM_OF_RESULTS}")
}

/// Returns the claim of a benchmark outside of suites.
pub(super) fn claim(benchmark: &Benchmark) -> Json {
    let metadata = meta::applied(&benchmark.target, &name(benchmark), Some(benchmark));
    claim_of(&benchmark.claim, metadata)
}

/// Returns the claim of a suite.
pub(super) fn suite_claim(suite: &Suite) -> Json {
    claim_of(&suite.claim, meta::applied_of_suite(suite, &name_of(&suite.name)))
}

fn claim_of(claim: &Claim, metadata: Json) -> Json {
    let Claim { size, storage_class, access_modes, span: _ } = claim;
    let mut spec = json!({ "accessModes": access_modes, "resources": { "requests": { "storage": size.canonical() } } });
    if let (Some(class), Some(spec)) = (storage_class, spec.as_object_mut()) {
        spec.insert("storageClassName".to_owned(), class.as_str().into());
    }
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta::kept(metadata),
        "spec": spec,
    })
}

/// Returns what Kubernetes would refuse about turning the claim `committed` at `path` into `claim`, that of the benchmark or suite
/// called `owner`.
pub fn refused_changes(claim: &Claim, owner: &str, path: &str, committed: &Json) -> Vec<Diagnostic> {
    let Claim { size, storage_class, access_modes, span } = claim;
    let fault = |message: String, help: String| {
        Diagnostic::at(&code::KB0418, *span, message)
            .related(Place::File(path.to_owned()), "the committed claim")
            .note("Kubernetes refuses the change, so no sync would succeed")
            .help(help)
    };
    let mut faults = Vec::new();
    let text = |pointer: &str| committed.pointer(pointer).and_then(Json::as_str);
    let renew = format!(
        "give it another name, or delete the claim `{}` in the cluster and the file {path} once its results are in git",
        name_of(owner)
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
