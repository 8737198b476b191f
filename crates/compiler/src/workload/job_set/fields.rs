//! The fields of a JobSet's `spec`, as its CRD of v0.12 has them.

use crate::api::{self, Type};

const TEXTS: Type = Type::List(&api::TEXT);

/// The `spec`.
pub(super) const SPEC: Type = Type::Object(&[
    ("coordinator", COORDINATOR),
    ("failurePolicy", FAILURE_POLICY),
    ("managedBy", api::TEXT),
    ("network", NETWORK),
    ("replicatedJobs", Type::RoleList("name", &REPLICATED_JOB)),
    ("startupPolicy", Type::Object(&[("startupPolicyOrder", api::TEXT)])),
    ("successPolicy", Type::Object(&[("operator", api::TEXT), ("targetReplicatedJobs", TEXTS)])),
    ("suspend", api::FLAG),
    ("ttlSecondsAfterFinished", api::INT),
    ("volumeClaimPolicies", Type::List(&VOLUME_CLAIM_POLICY)),
]);

const COORDINATOR: Type = Type::Object(&[("jobIndex", api::INT), ("podIndex", api::INT), ("replicatedJob", api::TEXT)]);

const FAILURE_POLICY: Type = Type::Object(&[
    ("maxRestarts", api::INT),
    ("restartStrategy", api::TEXT),
    (
        "rules",
        Type::List(&Type::Object(&[
            ("action", api::TEXT),
            ("name", api::TEXT),
            ("onJobFailureMessagePatterns", TEXTS),
            ("onJobFailureReasons", TEXTS),
            ("targetReplicatedJobs", TEXTS),
        ])),
    ),
]);

const NETWORK: Type = Type::Object(&[
    ("enableDNSHostnames", api::FLAG),
    ("publishNotReadyAddresses", api::FLAG),
    ("subdomain", api::TEXT),
]);

const REPLICATED_JOB: Type = Type::Object(&[
    ("dependsOn", Type::List(&Type::Object(&[("name", api::TEXT), ("status", api::TEXT)]))),
    ("groupName", api::TEXT),
    ("name", api::TEXT),
    ("replicas", api::INT),
    ("template", api::JOB_TEMPLATE),
]);

const VOLUME_CLAIM_POLICY: Type = Type::Object(&[
    ("retentionPolicy", Type::Object(&[("whenDeleted", api::TEXT)])),
    ("templates", Type::List(&api::CLAIM)),
]);
