//! `files.yaml`: the immutable ConfigMap with the files that a benchmark carries, and how pods mount it.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMapVolumeSource, Volume, VolumeMount};
use serde_json::{Value as Json, json};

use super::meta;
use super::object::object;
use crate::model::Benchmark;
use crate::model::carried::FOLDER;

/// The name of the volume in pods.
pub(super) const VOLUME: &str = "kubebench-files";
/// Everybody may read and execute: pods run as any user.
const MODE: i32 = 0o555;

/// Returns the name of the ConfigMap, which follows names and bytes of the files; none for a benchmark without files.
fn name(benchmark: &Benchmark) -> Option<String> {
    benchmark.files.digest().map(|digest| format!("{}-files-{}", benchmark.name, digest.short()))
}

/// Returns the ConfigMap; none for a benchmark without files.
pub fn files(benchmark: &Benchmark) -> Option<Json> {
    let name = name(benchmark)?;
    let mut texts = BTreeMap::new();
    let mut bytes = BTreeMap::new();
    for (name, file) in benchmark.files.iter() {
        match file.text() {
            Some(text) => drop(texts.insert(name, text)),
            None => drop(bytes.insert(name, ByteString(file.bytes.to_vec()))),
        }
    }
    let mut map = object([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", meta::applied(&benchmark.target, &name, Some(benchmark))),
        ("immutable", true.into()),
    ]);
    if let Json::Object(map) = &mut map {
        if !texts.is_empty() {
            map.insert("data".to_owned(), json!(texts));
        }
        if !bytes.is_empty() {
            map.insert("binaryData".to_owned(), json!(bytes));
        }
    }
    Some(map)
}

/// Returns the volume of a pod and the mount of its main container; none for a benchmark without files.
pub(super) fn mount(benchmark: &Benchmark) -> Option<(Volume, VolumeMount)> {
    // Not optional: without its files a program could measure something else, so the pod waits for them.
    let source =
        ConfigMapVolumeSource { default_mode: Some(MODE), name: name(benchmark)?, ..ConfigMapVolumeSource::default() };
    let volume = Volume { name: VOLUME.to_owned(), config_map: Some(source), ..Volume::default() };
    let mount = VolumeMount {
        name: VOLUME.to_owned(),
        mount_path: FOLDER.to_owned(),
        read_only: Some(true),
        ..VolumeMount::default()
    };
    Some((volume, mount))
}
