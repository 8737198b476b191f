//! The fields of a SparkApplication's `spec` in Spark operator 2.5.

use crate::api::{
    AFFINITY, CONTAINER, DNS_CONFIG, ENV, ENV_FROM, FLAG, INT, LIFECYCLE, LONG, POD_SECURITY_CONTEXT, POD_TEMPLATE,
    QUANTITIES, SECRET_KEYS, SECURITY_CONTEXT, TEXT, TEXTS, TOLERATION, Type, VOLUME, VOLUME_MOUNTS,
};

const WORDS: Type = Type::List(&TEXT);
const INGRESS_TLS: Type = Type::List(&Type::Object(&[("hosts", WORDS), ("secretName", TEXT)]));
const GPU: Type = Type::Object(&[("name", TEXT), ("quantity", LONG)]);
const CONFIG_MAPS: Type = Type::List(&Type::Object(&[("name", TEXT), ("path", TEXT)]));
const SECRETS: Type = Type::List(&Type::Object(&[("name", TEXT), ("path", TEXT), ("secretType", TEXT)]));
const PORTS: Type = Type::List(&Type::Object(&[("containerPort", INT), ("name", TEXT), ("protocol", TEXT)]));
const HOST_ALIASES: Type = Type::List(&Type::Object(&[("hostnames", WORDS), ("ip", TEXT)]));

/// Declares the fields of a pod: those that driver and executors have, and further ones.
macro_rules! of_pod {
    ($(($name:literal, $kind:expr)),* $(,)?) => {
        Type::Object(&[
            ("affinity", AFFINITY),
            ("annotations", TEXTS),
            ("configMaps", CONFIG_MAPS),
            ("coreLimit", TEXT),
            ("coreRequest", TEXT),
            ("cores", INT),
            ("dnsConfig", DNS_CONFIG),
            ("env", ENV),
            ("envFrom", ENV_FROM),
            ("envSecretKeyRefs", SECRET_KEYS),
            ("envVars", TEXTS),
            ("gpu", GPU),
            ("hostAliases", HOST_ALIASES),
            ("hostNetwork", FLAG),
            ("image", TEXT),
            ("initContainers", Type::List(&CONTAINER)),
            ("javaOptions", TEXT),
            ("labels", TEXTS),
            ("lifecycle", LIFECYCLE),
            ("memory", TEXT),
            ("memoryLimit", TEXT),
            ("memoryOverhead", TEXT),
            ("nodeSelector", TEXTS),
            ("podSecurityContext", POD_SECURITY_CONTEXT),
            ("ports", PORTS),
            ("priorityClassName", TEXT),
            ("schedulerName", TEXT),
            ("secrets", SECRETS),
            ("securityContext", SECURITY_CONTEXT),
            ("serviceAccount", TEXT),
            ("shareProcessNamespace", FLAG),
            ("sidecars", Type::List(&CONTAINER)),
            ("template", POD_TEMPLATE),
            ("terminationGracePeriodSeconds", LONG),
            ("tolerations", Type::List(&TOLERATION)),
            ("volumeMounts", VOLUME_MOUNTS),
            $(($name, $kind)),*
        ])
    };
}

const DRIVER: Type =
    of_pod!(("kubernetesMaster", TEXT), ("podName", TEXT), ("serviceAnnotations", TEXTS), ("serviceLabels", TEXTS),);
const EXECUTOR: Type = of_pod!(("deleteOnTermination", FLAG), ("instances", INT));

const INGRESS_OPTIONS: Type = Type::List(&Type::Object(&[
    ("ingressAnnotations", TEXTS),
    ("ingressTLS", INGRESS_TLS),
    ("ingressURLFormat", TEXT),
    ("serviceAnnotations", TEXTS),
    ("serviceLabels", TEXTS),
    ("servicePort", INT),
    ("servicePortName", TEXT),
    ("serviceType", TEXT),
]));
const UI_OPTIONS: Type = Type::Object(&[
    ("ingressAnnotations", TEXTS),
    ("ingressTLS", INGRESS_TLS),
    ("serviceAnnotations", TEXTS),
    ("serviceLabels", TEXTS),
    ("servicePort", INT),
    ("servicePortName", TEXT),
    ("serviceType", TEXT),
]);
const DEPS: Type = Type::Object(&[
    ("archives", WORDS),
    ("excludePackages", WORDS),
    ("files", WORDS),
    ("jars", WORDS),
    ("packages", WORDS),
    ("pyFiles", WORDS),
    ("repositories", WORDS),
]);
const DYNAMIC_ALLOCATION: Type = Type::Object(&[
    ("enabled", FLAG),
    ("initialExecutors", INT),
    ("maxExecutors", INT),
    ("minExecutors", INT),
    ("shuffleTrackingEnabled", FLAG),
    ("shuffleTrackingTimeout", LONG),
]);
const MONITORING: Type = Type::Object(&[
    ("exposeDriverMetrics", FLAG),
    ("exposeExecutorMetrics", FLAG),
    ("metricsProperties", TEXT),
    ("metricsPropertiesFile", TEXT),
    (
        "prometheus",
        Type::Object(&[
            ("configFile", TEXT),
            ("configuration", TEXT),
            ("jmxExporterJar", TEXT),
            ("port", INT),
            ("portName", TEXT),
        ]),
    ),
]);
const RESTART_POLICY: Type = Type::Object(&[
    ("onFailureRetries", INT),
    ("onFailureRetryInterval", LONG),
    ("onSubmissionFailureRetries", INT),
    ("onSubmissionFailureRetryInterval", LONG),
    ("type", TEXT),
]);

/// The fields of a SparkApplication's `spec`.
pub(super) const SPEC: Type = Type::Object(&[
    ("arguments", WORDS),
    ("batchScheduler", TEXT),
    ("batchSchedulerOptions", Type::Object(&[("priorityClassName", TEXT), ("queue", TEXT), ("resources", QUANTITIES)])),
    ("deps", DEPS),
    ("driver", DRIVER),
    ("driverIngressOptions", INGRESS_OPTIONS),
    ("dynamicAllocation", DYNAMIC_ALLOCATION),
    ("executor", EXECUTOR),
    ("failureRetries", INT),
    ("hadoopConf", TEXTS),
    ("hadoopConfigMap", TEXT),
    ("image", TEXT),
    ("imagePullPolicy", TEXT),
    ("imagePullSecrets", WORDS),
    ("mainApplicationFile", TEXT),
    ("mainClass", TEXT),
    ("memoryOverheadFactor", TEXT),
    ("mode", TEXT),
    ("monitoring", MONITORING),
    ("nodeSelector", TEXTS),
    ("proxyUser", TEXT),
    ("pythonVersion", TEXT),
    ("restartPolicy", RESTART_POLICY),
    ("retryInterval", LONG),
    ("sparkConf", TEXTS),
    ("sparkConfigMap", TEXT),
    ("sparkUIOptions", UI_OPTIONS),
    ("sparkVersion", TEXT),
    ("suspend", FLAG),
    ("timeToLiveSeconds", LONG),
    ("type", TEXT),
    ("volumes", Type::List(&VOLUME)),
]);
