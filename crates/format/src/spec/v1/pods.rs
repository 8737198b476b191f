//! What a target says of all pods on it.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::container::{EnvValue, LabelValue, Resources};
use super::scalar::{Patch, Text};

/// Settings of the pods of a target: those of its benchmarks and those of the steps.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Pods {
    /// Labels of the pods; a change does not start runs again.
    #[schemars(extend("default" = {}, "examples" = [{"cost-center": "ml"}], "propertyNames" = {"format": "label-key"}))]
    pub labels: BTreeMap<String, LabelValue>,
    /// Annotations of the pods; a change does not start runs again.
    #[schemars(extend("default" = {}, "examples" = [{"example.com/contact": "ml-platform"}], "propertyNames" = {"format": "label-key"}))]
    pub annotations: BTreeMap<String, Text>,
    /// Environment variables of the main container: text, or where the value comes from.
    #[schemars(extend("default" = {}, "examples" = [{"HTTPS_PROXY": "http://proxy.example:3128"}]))]
    #[schemars(extend("propertyNames" = {"format": "env-name"}))]
    pub env: BTreeMap<String, EnvValue>,
    /// Which nodes and neighbors the pods prefer or need, as in a pod spec.
    #[schemars(extend("default" = {}, "examples" = [{"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["bench"]}]}]}}}]))]
    pub affinity: Option<Patch>,
    /// How the pods spread over the cluster, as in a pod spec.
    #[schemars(extend("default" = [], "examples" = [[{"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]]))]
    pub topology_spread_constraints: Vec<Patch>,
    /// The security context of the pods, as in a pod spec; `none` leaves `runAsUser`, `runAsGroup` or `fsGroup` to the cluster.
    #[schemars(extend("default" = {}, "examples" = [{"runAsUser": "none", "runAsGroup": "none", "fsGroup": "none"}]))]
    pub security_context: Option<Patch>,
    /// The RuntimeClass of the pods; `none` for the cluster's default.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["nvidia"]))]
    pub runtime_class: Option<String>,
    /// Secrets with credentials of registries, as in a pod spec.
    #[schemars(extend("default" = [], "examples" = [[{"name": "registry"}]]))]
    pub image_pull_secrets: Vec<Patch>,
    /// How the pods resolve names, as in a pod spec.
    #[schemars(extend("default" = {}, "examples" = [{"options": [{"name": "ndots", "value": "1"}]}]))]
    pub dns_config: Option<Patch>,
    /// Addresses of hosts that are not in DNS, as in a pod spec.
    #[schemars(extend("default" = [], "examples" = [[{"ip": "10.0.0.7", "hostnames": ["git.example"]}]]))]
    pub host_aliases: Vec<Patch>,
    /// The scheduler of the pods; `none` for the cluster's default.
    #[schemars(extend("examples" = ["default-scheduler"]))]
    pub scheduler_name: Option<Text>,
    /// The PriorityClass of the pods; `none` for the cluster's default.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["benchmarks"]))]
    pub priority_class: Option<String>,
    /// Resources of the container of a step; only the schema of `steps` has them.
    #[schemars(skip)]
    pub resources: Option<Resources>,
}

/// What holds for the pods of the steps: a field takes the place of that of all pods; labels, annotations and variables are added.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct StepPods(pub Pods);

impl JsonSchema for StepPods {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StepPods".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let resources = generator.subschema_for::<Resources>();
        let mut schema = Pods::json_schema(generator);
        schema.insert(
            "description".to_owned(),
            "Settings of the pods of the steps. A field replaces the same field of `pods`; labels, annotations and variables are added to those.".into(),
        );
        if let Some(properties) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
            let field = serde_json::json!({
                "description": "Resources of the container of a step.",
                "default": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
                "examples": [{"limits": {"memory": "2Gi"}}],
                "allOf": [resources],
            });
            properties.insert("resources".to_owned(), field);
        }
        schema
    }
}
