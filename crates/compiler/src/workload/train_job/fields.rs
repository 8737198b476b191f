//! The fields of a TrainJob's `spec`, which change with Trainer's minor versions.

use crate::api::{self, Type};
use crate::model::target::TrainerApi;

/// Returns the `spec` of `version`.
pub(super) fn spec(version: TrainerApi) -> Type {
    match version {
        TrainerApi::V2_0 => SPEC_2_0,
        TrainerApi::V2_1 => SPEC_2_1,
        TrainerApi::V2_2 | TrainerApi::V2_3 => SPEC_2_2,
    }
}

const SPEC_2_0: Type = Type::Object(&[
    ("annotations", api::TEXTS),
    ("initializer", INITIALIZER),
    ("labels", api::TEXTS),
    ("managedBy", api::TEXT),
    ("podSpecOverrides", Type::List(&POD_SPEC_OVERRIDE)),
    ("runtimeRef", RUNTIME_REF),
    ("suspend", api::FLAG),
    ("trainer", TRAINER),
]);
const SPEC_2_1: Type = Type::Object(&[
    ("annotations", api::TEXTS),
    ("initializer", INITIALIZER),
    ("labels", api::TEXTS),
    ("managedBy", api::TEXT),
    ("podTemplateOverrides", Type::List(&POD_TEMPLATE_OVERRIDE)),
    ("runtimeRef", RUNTIME_REF),
    ("suspend", api::FLAG),
    ("trainer", TRAINER),
]);
const SPEC_2_2: Type = Type::Object(&[
    ("activeDeadlineSeconds", api::LONG),
    ("initializer", INITIALIZER),
    ("managedBy", api::TEXT),
    ("runtimePatches", Type::List(&RUNTIME_PATCH)),
    ("runtimeRef", RUNTIME_REF),
    ("suspend", api::FLAG),
    ("trainer", TRAINER),
]);

const ENV: Type = Type::List(&api::ENV_VAR);
const INITIALIZER: Type = Type::Object(&[("dataset", SOURCE), ("model", SOURCE)]);
const SOURCE: Type =
    Type::Object(&[("env", ENV), ("secretRef", Type::Object(&[("name", api::TEXT)])), ("storageUri", api::TEXT)]);
const RUNTIME_REF: Type = Type::Object(&[("apiGroup", api::TEXT), ("kind", api::TEXT), ("name", api::TEXT)]);
const TRAINER: Type = Type::Object(&[
    ("args", Type::List(&api::TEXT)),
    ("command", Type::List(&api::TEXT)),
    ("env", ENV),
    ("image", api::TEXT),
    ("numNodes", api::INT),
    ("numProcPerNode", api::INT),
    ("resourcesPerNode", api::RESOURCES),
]);
const TARGETS: Type = Type::List(&Type::Object(&[("name", api::TEXT)]));
const POD_SPEC_OVERRIDE: Type = Type::Object(&[
    ("containers", Type::List(&api::CONTAINER)),
    ("initContainers", Type::List(&api::CONTAINER)),
    ("nodeSelector", api::TEXTS),
    ("schedulingGates", TARGETS),
    ("serviceAccountName", api::TEXT),
    ("targetJobs", TARGETS),
    ("tolerations", Type::List(&api::TOLERATION)),
    ("volumes", Type::List(&api::VOLUME)),
]);
const POD_TEMPLATE_OVERRIDE: Type =
    Type::Object(&[("metadata", api::METADATA), ("spec", api::POD_SPEC), ("targetJobs", TARGETS)]);
const RUNTIME_PATCH: Type = Type::Object(&[
    ("manager", api::TEXT),
    ("time", api::TEXT),
    ("trainingRuntimeSpec", Type::Object(&[("template", JOB_SET_TEMPLATE)])),
]);
const JOB_SET_TEMPLATE: Type = Type::Object(&[
    ("metadata", api::METADATA),
    (
        "spec",
        Type::Object(&[(
            "replicatedJobs",
            Type::List(&Type::Object(&[("name", api::TEXT), ("template", api::JOB_TEMPLATE)])),
        )]),
    ),
]);
