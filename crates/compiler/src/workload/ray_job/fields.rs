//! The fields of a RayJob's `spec` in KubeRay 1.7.

use crate::api::{
    EGRESS_RULE, ENV, ENV_FROM, ENV_SOURCE, FLAG, INGRESS_RULE, INT, NUMBER, POD_TEMPLATE, QUANTITY, RESOURCES,
    SECURITY_CONTEXT, SERVICE, TEXT, TEXTS, Type, VOLUME_MOUNTS,
};

const WORDS: Type = Type::List(&TEXT);
const RULES: [(&str, Type); 2] =
    [("egressRules", Type::List(&EGRESS_RULE)), ("ingressRules", Type::List(&INGRESS_RULE))];
const OF_PODS: Type = Type::Object(&RULES);
const REDIS: Type = Type::Object(&[("value", TEXT), ("valueFrom", ENV_SOURCE)]);
const POLICY: Type = Type::Object(&[("policy", TEXT)]);

const DELETION: Type = Type::Object(&[
    (
        "deletionRules",
        Type::List(&Type::Object(&[
            ("condition", Type::Object(&[("jobDeploymentStatus", TEXT), ("jobStatus", TEXT), ("ttlSeconds", INT)])),
            ("policy", TEXT),
        ])),
    ),
    ("onFailure", POLICY),
    ("onSuccess", POLICY),
]);

const AUTOSCALER: Type = Type::Object(&[
    ("args", WORDS),
    ("command", WORDS),
    ("env", ENV),
    ("envFrom", ENV_FROM),
    ("idleTimeoutSeconds", INT),
    ("image", TEXT),
    ("imagePullPolicy", TEXT),
    ("resources", RESOURCES),
    ("securityContext", SECURITY_CONTEXT),
    ("upscalingMode", TEXT),
    ("version", TEXT),
    ("volumeMounts", VOLUME_MOUNTS),
]);

const FAULT_TOLERANCE: Type = Type::Object(&[
    ("backend", TEXT),
    ("externalStorageNamespace", TEXT),
    ("redisAddress", TEXT),
    ("redisPassword", REDIS),
    ("redisUsername", REDIS),
    (
        "storage",
        Type::Object(&[
            ("accessModes", WORDS),
            ("claimName", TEXT),
            ("deletionPolicy", TEXT),
            ("size", QUANTITY),
            ("storageClassName", TEXT),
            ("subPath", TEXT),
        ]),
    ),
]);

const HEAD: Type = Type::Object(&[
    ("enableIngress", FLAG),
    ("headService", SERVICE),
    (
        "ingressOptions",
        Type::Object(&[
            ("host", TEXT),
            ("path", TEXT),
            ("pathType", TEXT),
            ("tls", Type::List(&Type::Object(&[("hosts", WORDS), ("secretName", TEXT)]))),
        ]),
    ),
    ("labels", TEXTS),
    ("rayStartParams", TEXTS),
    ("resources", TEXTS),
    ("serviceType", TEXT),
    ("template", POD_TEMPLATE),
]);

const WORKERS: Type = Type::Object(&[
    ("groupName", TEXT),
    ("idleTimeoutSeconds", INT),
    ("labels", TEXTS),
    ("maxReplicas", INT),
    ("minReplicas", INT),
    ("numOfHosts", INT),
    ("priority", INT),
    ("rayStartParams", TEXTS),
    ("replicas", INT),
    ("resources", TEXTS),
    ("scaleStrategy", Type::Object(&[("workersToDelete", WORDS)])),
    ("suspend", FLAG),
    ("template", POD_TEMPLATE),
]);

const NETWORK: Type = Type::Object(&[
    ("head", OF_PODS),
    ("mode", TEXT),
    ("worker", OF_PODS),
    (
        "workerGroups",
        Type::List(&Type::Object(&[
            ("egressRules", Type::List(&EGRESS_RULE)),
            ("groupName", TEXT),
            ("ingressRules", Type::List(&INGRESS_RULE)),
        ])),
    ),
]);

const CLUSTER: Type = Type::Object(&[
    ("authOptions", Type::Object(&[("enableK8sTokenAuth", FLAG), ("mode", TEXT), ("secretName", TEXT)])),
    ("autoscalerOptions", AUTOSCALER),
    ("enableInTreeAutoscaling", FLAG),
    ("gcsFaultToleranceOptions", FAULT_TOLERANCE),
    ("headGroupSpec", HEAD),
    ("headServiceAnnotations", TEXTS),
    (
        "historyServerOptions",
        Type::Object(&[(
            "collectorOptions",
            Type::Object(&[("env", ENV), ("image", TEXT), ("imagePullPolicy", TEXT), ("resources", RESOURCES)]),
        )]),
    ),
    ("managedBy", TEXT),
    ("networkPolicy", NETWORK),
    ("rayVersion", TEXT),
    ("suspend", FLAG),
    ("tlsOptions", Type::Object(&[("enabled", FLAG)])),
    ("upgradeStrategy", Type::Object(&[("type", TEXT)])),
    ("workerGroupSpecs", Type::RoleList("groupName", &WORKERS)),
]);

pub(super) const SPEC: Type = Type::Object(&[
    ("activeDeadlineSeconds", INT),
    ("backoffLimit", INT),
    ("clusterSelector", TEXTS),
    ("deletionStrategy", DELETION),
    ("entrypoint", TEXT),
    ("entrypointNumCpus", NUMBER),
    ("entrypointNumGpus", NUMBER),
    ("entrypointResources", TEXT),
    ("jobId", TEXT),
    ("managedBy", TEXT),
    ("metadata", TEXTS),
    ("preRunningDeadlineSeconds", INT),
    ("rayClusterSpec", CLUSTER),
    ("runtimeEnvYAML", TEXT),
    ("shutdownAfterJobFinishes", FLAG),
    ("submissionMode", TEXT),
    ("submitterConfig", Type::Object(&[("backoffLimit", INT)])),
    ("submitterPodTemplate", POD_TEMPLATE),
    ("suspend", FLAG),
    ("ttlSecondsAfterFinished", INT),
]);
