//! `kind: Project`: the file `kubebench.yaml` at the root of a project.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::benchmark::Metadata;
use super::pods::{Pods, StepPods};
use super::scalar::{Count, CountFromZero, Dns1123Label, Duration, Flag, ImagePrefix, ImageRef, Patch, Quantity, Text};
use super::suppression::Suppression;

/// The settings of a project and its targets.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The version of this format.
    #[schemars(extend("enum" = ["kubebench.dev/v1"], "examples" = ["kubebench.dev/v1"]))]
    pub api_version: String,
    /// The kind of this document.
    #[schemars(extend("enum" = ["Project"], "examples" = ["Project"]))]
    pub kind: String,
    /// The project's name.
    #[schemars(extend("examples" = [{"name": "ml-benchmarks"}]))]
    pub metadata: Metadata,
    /// The settings.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"targets": {"gpu-eu": {"namespace": "ml-benchmarks"}}}]))]
    pub spec: ProjectSpec,
}

/// The settings of a project.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectSpec {
    /// Folders that hold specs, relative to this file.
    #[schemars(extend("default" = ["specs"], "minItems" = 1, "examples" = [["specs", "teams/vision/benchmarks"]]))]
    pub specs: Option<Vec<RelativePath>>,
    /// The folder that manifests are written to.
    #[schemars(extend("default" = "generated", "examples" = ["generated"]))]
    pub output: Option<RelativePath>,
    /// Where results are recorded.
    #[schemars(extend("default" = {}, "examples" = [{"directory": "results", "mode": "branch", "branch": "kubebench/results"}]))]
    pub results: ResultsSettings,
    /// The site that `kubebench report` makes, once it is published.
    #[schemars(extend("default" = {}, "examples" = [{"url": "https://benchmarks.example/ml"}]))]
    pub report: ReportSettings,
    /// Facts that do not keep results apart: results of both driver versions make one history.
    #[schemars(extend("default" = [], "uniqueItems" = true, "examples" = [["driver"]]))]
    pub compare_across: Vec<Fact>,
    /// From when on regressions count: a day or time (UTC), or a commit. Earlier sessions are a baseline for later ones, and no change that
    /// began before is open.
    #[schemars(extend("format" = "day-or-revision", "examples" = ["2026-01-31", "v1.4"]))]
    pub judge_from: Option<Text>,
    /// Kinds of objects that manifests may contain in addition to those that every project allows, as `GROUP/KIND`, or `KIND` where there is no group.
    #[schemars(extend("default" = [], "uniqueItems" = true, "examples" = [["apps/StatefulSet"]]))]
    pub allow_kinds: Vec<ObjectKind>,
    /// The image of the workflow's steps.
    #[schemars(extend("default" = "ghcr.io/kubebench/kubebench:0.1.0"))]
    pub image: Option<ImageRef>,
    /// Levels of lints by code.
    #[schemars(extend("default" = {}, "examples" = [{"KB0401": "error", "KB0411": "off"}], "propertyNames" = {"format": "lint-code"}))]
    pub lints: BTreeMap<String, LintLevel>,
    /// Which versions of kubebench may compile this project.
    #[schemars(extend("format" = "version-requirement", "examples" = [">=0.1, <0.2"]))]
    pub required_version: Option<String>,
    /// Defaults of fields that specs omit.
    #[schemars(extend("default" = {}, "examples" = [{"repeats": 3, "timeout": "2h"}]))]
    pub defaults: Defaults,
    /// Named constants for `${{ project.parameters.NAME }}` in all specs. A new value concerns the specs that use it, and no others.
    #[schemars(extend("default" = {}, "examples" = [{"image": "registry.example/train:1.4.0"}], "propertyNames" = {"format": "parameter-name"}))]
    pub parameters: BTreeMap<String, super::benchmark::AxisValue>,
    /// Clusters and namespaces that benchmarks run in; without it, one target `default`.
    #[schemars(extend("default" = {"default": {}}, "minProperties" = 1, "propertyNames" = {"format": "target-name"}, "examples" = [{"gpu-eu": {"cluster": "eu-1", "namespace": "ml-benchmarks"}}]))]
    pub targets: Option<BTreeMap<String, Target>>,
}

/// A fact that keeps results apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Fact {
    /// The target.
    Target,
    /// Processes, containers or Kubernetes.
    Engine,
    /// Model and count of processors.
    Cpu,
    /// Model and count of accelerators.
    Gpu,
    /// The driver of the accelerators, without its patch level.
    Driver,
    /// The type of instance.
    InstanceType,
}

/// A kind of objects, with its API group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ObjectKind(pub String);

impl JsonSchema for ObjectKind {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ObjectKind".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Z][A-Za-z0-9]*$" })
    }
}

/// A path below the project's root.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RelativePath(pub String);

impl JsonSchema for RelativePath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RelativePath".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "relative-path" })
    }
}

/// The level of a lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum LintLevel {
    /// Compilation fails.
    Error,
    /// It is reported.
    Warning,
    /// It is not reported.
    Off,
}

/// Where results are recorded.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResultsSettings {
    /// The folder of result files, in the branch that holds them.
    #[schemars(extend("default" = "results", "examples" = ["results"]))]
    pub directory: Option<RelativePath>,
    /// How results reach git: a commit on a branch, one ref for each run that is folded later, or a local commit.
    #[schemars(extend("default" = "branch", "examples" = ["inbox"]))]
    pub mode: Option<ResultsMode>,
    /// The repository that results are pushed to, as git names it.
    #[schemars(extend("format" = "git-remote", "examples" = ["https://git.example/team/benchmarks.git"]))]
    pub remote: Option<Text>,
    /// The branch that holds results, and from which `gate`, `compare`, `history` and `report` read them.
    #[schemars(extend("default" = "kubebench/results", "format" = "git-branch", "examples" = ["kubebench/results"]))]
    pub branch: Option<Text>,
    /// The prefix of the refs of mode `inbox`.
    #[schemars(extend("default" = "refs/kubebench/inbox", "format" = "git-ref-prefix", "examples" = ["refs/kubebench/inbox"]))]
    pub inbox: Option<Text>,
    /// The Secret that holds the git credential of the recorder (keys `username` and `password`, or `ssh-privatekey`; `ca.crt`, `known_hosts`).
    #[schemars(extend("default" = "kubebench-git", "format" = "dns1123-subdomain", "examples" = ["kubebench-git"]))]
    pub credential: Option<String>,
    /// What to do if the key of an SSH server is not in `known_hosts` of the Secret, or the Secret has none.
    #[schemars(extend("default" = "known", "examples" = ["known"]))]
    pub ssh_host_keys: Option<SshHostKeys>,
    /// The certificate authorities that the steps trust for git and Prometheus, instead of the public ones.
    #[schemars(extend("examples" = [{"configMap": "corporate-ca", "key": "ca.crt"}]))]
    pub ca: Option<CertificateAuthorities>,
    /// The key that the recorder signs results with.
    #[schemars(extend("examples" = [{"secret": "kubebench-signing"}]))]
    pub signing: Option<SigningSettings>,
    /// The public keys that verify signatures. During a rotation, several are valid.
    #[schemars(extend("default" = [], "examples" = [[{"name": "recorder-2026", "publicKey": "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n", "notBefore": "2026-01-01"}]]))]
    pub keys: Vec<ResultKey>,
    /// Counts only results that one of the keys has signed, and that no job could have written.
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub require_signed: Option<Flag>,
    /// Counts signed results even if jobs and steps ran as one user, so that a job could have written them.
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub allow_unseparated: Option<Flag>,
}

/// Where the certificates of authorities are, in PEM: in a ConfigMap or in a Secret of the target's namespace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateAuthorities {
    /// The ConfigMap; either this or `secret`.
    #[serde(default)]
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["corporate-ca"]))]
    pub config_map: Option<String>,
    /// The Secret; either this or `configMap`.
    #[serde(default)]
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["corporate-ca"]))]
    pub secret: Option<String>,
    /// The key in it.
    #[serde(default)]
    #[schemars(extend("default" = "ca.crt", "format" = "config-key", "examples" = ["ca-bundle.crt"]))]
    pub key: Option<String>,
}

/// How to treat an SSH server whose key is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum SshHostKeys {
    /// Recording fails.
    Known,
    /// The key is accepted, if the Secret has no `known_hosts`.
    AcceptNew,
}

/// The key that the recorder signs results with.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SigningSettings {
    /// The Secret that holds it: a private key of Ed25519 in PKCS#8, under `ed25519.pem`.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["kubebench-signing"]))]
    pub secret: String,
}

/// A public key that verifies signatures of results.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultKey {
    /// A name for people.
    #[schemars(extend("examples" = ["recorder-2026"]))]
    pub name: Dns1123Label,
    /// The key, as `openssl pkey -pubout` writes it.
    #[schemars(extend("examples" = ["-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"]))]
    pub public_key: Text,
    /// The first day (UTC) on which a run that is signed with the key may have ended.
    #[serde(default)]
    #[schemars(extend("format" = "day", "examples" = ["2026-01-01"]))]
    pub not_before: Option<String>,
    /// The last such day (UTC).
    #[serde(default)]
    #[schemars(extend("format" = "day", "examples" = ["2027-01-31"]))]
    pub not_after: Option<String>,
}

/// The published site.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ReportSettings {
    /// Its address, without `index.html`: comments link to its pages, and its feed to itself.
    #[schemars(extend("format" = "site-url", "examples" = ["https://benchmarks.example/ml"]))]
    pub url: Option<Text>,
}

/// How results reach git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum ResultsMode {
    /// A commit on the results branch.
    Branch,
    /// One ref for each run, folded into the branch later.
    Inbox,
    /// A commit in the checkout at hand, without a push.
    Local,
}

/// Defaults of fields that specs omit.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Defaults {
    /// How often each case is measured.
    #[schemars(extend("default" = 1, "examples" = [3]))]
    pub repeats: Option<Count>,
    /// Runs of each case before the measured ones.
    #[schemars(extend("default" = 0, "examples" = [1]))]
    pub warmups: Option<CountFromZero>,
    /// How long one run may take.
    #[schemars(extend("default" = "24h", "examples" = ["2h"]))]
    pub timeout: Option<Duration>,
    /// How long one run may wait to be scheduled.
    #[schemars(extend("default" = "24h", "examples" = ["6h"]))]
    pub queue_timeout: Option<Duration>,
    /// The size of the results claim.
    #[schemars(extend("default" = "10Gi", "examples" = ["20Gi"]))]
    pub claim_size: Option<Quantity>,
}

/// A cluster and namespace that benchmarks run in, and their settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Target {
    /// A name for the cluster, shown in results; two targets with one cluster and namespace are refused.
    #[schemars(extend("default" = "default", "examples" = ["eu-1"]))]
    pub cluster: Option<Text>,
    /// The namespace, which must exist.
    #[schemars(extend("default" = "default"))]
    pub namespace: Option<Dns1123Label>,
    /// Earlier names of the target: results of these count as its own, so that it keeps its history.
    #[schemars(extend("default" = [], "uniqueItems" = true, "items" = {"type": "string", "format": "target-name"}, "examples" = [["gpu-old"]]))]
    pub formerly: Vec<String>,
    /// The StorageClass of results claims; without it, the cluster's default.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["fast"]))]
    pub storage_class: Option<String>,
    /// The queue that jobs are submitted to.
    #[schemars(extend("examples" = [{"kueue": "ml"}]))]
    pub queue: Option<Queue>,
    /// Versions of the APIs that the cluster serves.
    #[schemars(extend("default" = {}, "examples" = [{"mpiJob": "v2beta1"}]))]
    pub apis: Apis,
    /// Labels that nodes must have.
    #[schemars(extend("default" = {}, "examples" = [{"node.kubernetes.io/instance-type": "p5.48xlarge"}], "propertyNames" = {"format": "label-key"}))]
    pub node_selector: BTreeMap<String, super::container::LabelValue>,
    /// Taints that the pods tolerate, as in a pod spec.
    #[schemars(extend("default" = [], "examples" = [[{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]]))]
    pub tolerations: Vec<Patch>,
    /// The PriorityClass of the pods.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["benchmarks"]))]
    pub priority_class: Option<String>,
    /// How many Workflows of the target run at once; the others wait for them.
    #[schemars(extend("default" = "exclusive", "type" = ["string", "integer"], "format" = "concurrency", "minimum" = 1, "maximum" = 10000, "examples" = [2, "unlimited"]))]
    pub concurrency: Option<Text>,
    /// A name that targets with the same nodes share: their Workflows are counted together.
    #[schemars(extend("examples" = ["a100-pool"]))]
    pub concurrency_group: Option<Dns1123Label>,
    /// Settings of all pods: those of the benchmarks and those of the steps.
    #[schemars(extend("default" = {}, "examples" = [{"imagePullSecrets": [{"name": "registry"}], "runtimeClass": "nvidia"}]))]
    pub pods: Pods,
    /// Settings of the pods of the steps, in addition to `pods`.
    #[schemars(extend("default" = {}, "examples" = [{"env": {"HTTPS_PROXY": "http://proxy.example:3128"}}]))]
    pub steps: StepPods,
    /// The Prometheus that metric queries go to.
    #[schemars(extend("examples" = [{"url": "http://prometheus.monitoring:9090"}]))]
    pub prometheus: Option<Prometheus>,
    /// Prices per hour and resource, for `plan`.
    #[schemars(extend("examples" = [{"currency": "EUR", "nvidia.com/gpu": 2.10, "cpu": 0.04}]))]
    pub prices: Option<Prices>,
    /// Registries to pull from instead, by the prefix of the image; the longest prefix wins.
    #[schemars(extend("default" = {}, "examples" = [{"docker.io": "mirror.example/docker"}], "propertyNames" = {"format": "image-prefix"}))]
    pub image_mirrors: BTreeMap<String, ImagePrefix>,
    /// What the pods may reach.
    #[schemars(extend("default" = {}, "examples" = [{"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}]))]
    pub network_policy: NetworkPolicySettings,
    /// The Pod Security level that the namespace enforces.
    #[schemars(extend("default" = "baseline", "examples" = ["restricted"]))]
    pub pod_security: Option<PodSecurity>,
    /// Audiences of the tokens that pods may mount. Tokens without an audience and those for the API server are always refused.
    #[schemars(extend("default" = [], "uniqueItems" = true, "examples" = [["sts.amazonaws.com"]]))]
    pub token_audiences: Vec<Text>,
    /// Your own values for `${{ target.values.NAME }}`.
    #[schemars(extend("default" = {}, "examples" = [{"dataDir": "/mnt/data"}], "propertyNames" = {"format": "parameter-name"}))]
    pub values: BTreeMap<String, super::benchmark::AxisValue>,
    /// Lints whose warnings about benchmarks on this target are not reported, by code, each with the reason.
    #[schemars(extend("default" = {}, "examples" = [{"KB0425": {"level": "allow", "reason": "Kueue of this cluster lists PyTorchJob among its integrations"}}], "propertyNames" = {"format": "lint-code"}))]
    pub lints: BTreeMap<String, Suppression>,
}

/// The queue that jobs are submitted to: that of exactly one system.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct Queue {
    /// A Kueue LocalQueue.
    #[serde(default)]
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["ml"]))]
    pub kueue: Option<String>,
    /// What Kueue manages in that cluster: `integrations.frameworks` of its configuration. Without it, its default list is assumed.
    #[serde(default)]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true, "examples" = [["batch/job", "kubeflow.org/pytorchjob", "pod"]]))]
    pub frameworks: Option<Vec<String>>,
    /// A Volcano queue.
    #[serde(default)]
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["ml"]))]
    pub volcano: Option<String>,
}

/// Versions of the APIs that the cluster serves.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Apis {
    /// The MPIJob version: `v1` of the training operator, `v2beta1` of the MPI operator; a cluster has one of them.
    #[schemars(extend("default" = "v2beta1", "examples" = ["v1"]))]
    pub mpi_job: Option<MpiJobVersion>,
    /// The minor version of Kubeflow Trainer, whose TrainJob changes with it.
    #[schemars(extend("default" = "v2.3", "examples" = ["v2.1"]))]
    pub trainer: Option<TrainerVersion>,
}

/// The minor version of Kubeflow Trainer that a cluster serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum TrainerVersion {
    /// Pods of a runtime are changed by `podSpecOverrides`.
    #[serde(rename = "v2.0")]
    V2_0,
    /// By `podTemplateOverrides`.
    #[serde(rename = "v2.1")]
    V2_1,
    /// By `runtimePatches`.
    #[serde(rename = "v2.2")]
    V2_2,
    /// As v2.2.
    #[serde(rename = "v2.3")]
    V2_3,
}

/// The version of MPIJob that a cluster serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum MpiJobVersion {
    /// `kubeflow.org/v1`, of the training operator.
    V1,
    /// `kubeflow.org/v2beta1`, of the MPI operator.
    V2beta1,
}

/// The Prometheus that metric queries go to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prometheus {
    /// The address of its HTTP API.
    #[schemars(extend("format" = "http-url", "examples" = ["http://prometheus.monitoring:9090"]))]
    pub url: Text,
}

/// Prices an hour: `currency`, and a number for each resource name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    /// The ISO 4217 code.
    pub currency: String,
    /// Price of one unit for one hour, by resource; memory is priced by the GiB.
    pub hourly: BTreeMap<String, f64>,
}

impl JsonSchema for Prices {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Prices".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "Prices per hour: `currency`, and a number for each resource name (memory per GiB).",
            "properties": { "currency": { "type": "string", "description": "The ISO 4217 code.", "minLength": 3, "maxLength": 3, "examples": ["EUR"] } },
            "required": ["currency"],
            "propertyNames": { "format": "price-key" },
            "additionalProperties": { "type": "number", "minimum": 0 },
            "examples": [{"currency": "EUR", "nvidia.com/gpu": 2.1}],
        })
    }
}

impl<'de> Deserialize<'de> for Prices {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Prices;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a mapping of resource names to prices")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Prices, A::Error> {
                let mut prices = Prices::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "currency" {
                        prices.currency = map.next_value()?;
                    } else {
                        prices.hourly.insert(key, map.next_value()?);
                    }
                }
                Ok(prices)
            }
        }

        deserializer.deserialize_map(Visitor)
    }
}

/// What the pods may reach, in addition to each other and DNS.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicySettings {
    /// Whether a NetworkPolicy is emitted.
    #[schemars(extend("default" = true, "examples" = [false]))]
    pub enabled: Option<bool>,
    /// Further egress rules, as in a NetworkPolicy.
    #[schemars(extend("default" = [], "examples" = [[{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]]))]
    pub egress: Vec<Patch>,
    /// Further ingress rules, as in a NetworkPolicy.
    #[schemars(extend("default" = [], "examples" = [[{"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]}]]))]
    pub ingress: Vec<Patch>,
    /// The DNS servers, as an egress rule; the default port is 53. The default servers are the DNS of the cluster in `kube-system` and
    /// its cache on the node.
    #[schemars(extend("examples" = [{"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "openshift-dns"}}}], "ports": [{"protocol": "UDP", "port": 5353}]}]))]
    pub dns: Option<Patch>,
    /// The API server, as an egress rule of the steps; the default ports are 443 and 6443. Without it, they reach these ports anywhere.
    #[schemars(extend("examples" = [{"to": [{"ipBlock": {"cidr": "10.96.0.1/32"}}]}]))]
    pub api_server: Option<Patch>,
    /// The host of `results.remote`, as an egress rule of the steps; the default port is that of the address. Without it, they reach
    /// that port anywhere.
    #[schemars(extend("examples" = [{"to": [{"ipBlock": {"cidr": "192.0.2.10/32"}}]}]))]
    pub git: Option<Patch>,
    /// Prometheus, as an egress rule of the steps; the default port is that of `prometheus.url`. Without it, they reach that port
    /// anywhere.
    #[schemars(extend("examples" = [{"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]}]))]
    pub prometheus: Option<Patch>,
    /// The namespaces of operators that pods exchange requests with.
    #[schemars(extend("default" = {}, "examples" = [{"kuberay": ["ray-system"], "katib": ["kubeflow"]}]))]
    pub operator_namespaces: OperatorNamespaces,
}

/// The namespaces of operators that pods exchange requests with.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorNamespaces {
    /// That of KubeRay's operator, which asks Ray heads for the status of their job.
    #[schemars(extend("default" = ["kuberay-system", "ray-system"], "examples" = [["default"]], "uniqueItems" = true))]
    pub kuberay: Option<Vec<Dns1123Label>>,
    /// That of Katib's database, which receives the metrics of trials.
    #[schemars(extend("default" = ["kubeflow"], "examples" = [["katib"]], "uniqueItems" = true))]
    pub katib: Option<Vec<Dns1123Label>>,
}

/// The Pod Security level that a namespace enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum PodSecurity {
    /// Nothing is refused.
    Privileged,
    /// Known privilege escalations are refused.
    Baseline,
    /// Pods follow today's hardening practice.
    Restricted,
}
