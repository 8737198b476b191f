//! The role block: what may be said about the pods of one role, the same for every workload kind.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{Count, Dns1123Subdomain, Flag, ImageRef, Patch, Quantity, Text};

/// The pods of one role, such as `worker`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleBlock {
    /// How many pods the role has.
    #[schemars(extend("default" = 1, "examples" = [4, "${{ matrix.workers }}"]))]
    pub replicas: Option<Count>,
    /// The image of the main container; next to the roles, it applies to every role without one.
    pub image: Option<ImageRef>,
    /// The program and its first arguments, one word per element, never a shell line. Without it, the image's entry point runs.
    #[schemars(extend("default" = [], "examples" = [["torchrun", "train.py"]]))]
    pub command: Option<Vec<Text>>,
    /// Arguments; a number is passed as its text.
    #[schemars(extend("default" = [], "examples" = [["--batch-size", "${{ matrix.batchSize }}"]]))]
    pub args: Option<Vec<Text>>,
    /// Environment variables: text, or where the value comes from.
    #[schemars(extend("default" = {}, "examples" = [{"NCCL_DEBUG": "WARN", "HF_TOKEN": {"secret": {"name": "hf", "key": "token"}}}]))]
    #[schemars(extend("propertyNames" = {"format": "env-name"}))]
    pub env: BTreeMap<String, EnvValue>,
    /// Resources of each pod: quantities that are both request and limit, or separate `requests` and `limits`.
    #[schemars(extend("default" = {}, "examples" = [{"cpu": 8, "memory": "32Gi", "nvidia.com/gpu": 1}]))]
    pub resources: Option<Resources>,
    /// Labels of the pods.
    #[schemars(extend("default" = {}, "examples" = [{"team": "vision"}], "propertyNames" = {"format": "label-key"}))]
    pub labels: BTreeMap<String, LabelValue>,
    /// Annotations of the pods.
    #[schemars(extend("default" = {}, "examples" = [{"sidecar.istio.io/inject": "false"}], "propertyNames" = {"format": "label-key"}))]
    pub annotations: BTreeMap<String, Text>,
    /// Strategic merge patch over the pod spec: lists merge by their Kubernetes merge key, `null` removes.
    #[schemars(extend("default" = {}, "examples" = [{"terminationGracePeriodSeconds": 5}]))]
    pub pod: Option<Patch>,
    /// Strategic merge patch over the main container.
    #[schemars(extend("default" = {}, "examples" = [{"workingDir": "/src"}]))]
    pub container: Option<Patch>,
    /// Leaves `$(NAME)` in command, args and env to Kubernetes instead of passing it on literally.
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub expand_variables: Option<Flag>,
}

/// The value of an environment variable.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvValue {
    /// The value itself.
    Text(String),
    /// From somewhere else.
    From(EnvSource),
}

/// Where the value of an environment variable comes from: exactly one.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EnvSource {
    /// A key of a Secret in the target's namespace.
    Secret(KeyRef),
    /// A key of a ConfigMap in the target's namespace.
    ConfigMap(KeyRef),
    /// A field of the pod, as the downward API names it.
    Field(String),
}

/// A key of a Secret or ConfigMap.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct KeyRef {
    /// The name of the object.
    pub name: Dns1123Subdomain,
    /// The key in its data.
    #[schemars(extend("format" = "config-key", "examples" = ["token"]))]
    pub key: String,
}

impl JsonSchema for EnvValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EnvValue".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let key_ref = generator.subschema_for::<KeyRef>();
        schemars::json_schema!({
            "description": "The value of an environment variable: text, or exactly one of `secret`, `configMap`, `field`.",
            "type": ["string", "number", "object"],
            "minProperties": 1,
            "maxProperties": 1,
            "properties": {
                "secret": { "description": "A key of a Secret in the target's namespace.", "allOf": [key_ref.clone()], "examples": [{"name": "hf", "key": "token"}] },
                "configMap": { "description": "A key of a ConfigMap in the target's namespace.", "allOf": [key_ref], "examples": [{"name": "settings", "key": "level"}] },
                "field": { "description": "A field of the pod, as the downward API names it.", "type": "string", "format": "pod-field", "examples": ["metadata.name"] },
            },
            "examples": ["WARN", {"secret": {"name": "hf", "key": "token"}}],
        })
    }
}

impl<'de> Deserialize<'de> for EnvValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = EnvValue;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("text, or a mapping with `secret`, `configMap` or `field`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<EnvValue, E> {
                Ok(EnvValue::Text(text.to_owned()))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<EnvValue, A::Error> {
                EnvSource::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(EnvValue::From)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LabelValue(pub String);

impl JsonSchema for LabelValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LabelValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "number"], "format": "label-value", "examples": ["vision"],
            "description": "The value of a label: at most 63 letters, digits, `-`, `_` and `.`.",
        })
    }
}

/// Requests and limits, together or apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// What the scheduler reserves.
    pub requests: BTreeMap<String, Quantity>,
    /// What the pod may use at most.
    pub limits: BTreeMap<String, Quantity>,
}

impl JsonSchema for Resources {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Resources".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let quantity = generator.subschema_for::<Quantity>();
        let map = |description: &str| {
            serde_json::json!({
                "type": "object", "description": description, "additionalProperties": quantity,
                "propertyNames": {"format": "resource-name"}, "examples": [{"cpu": 8, "memory": "32Gi"}],
            })
        };
        schemars::json_schema!({
            "type": "object",
            "description": "Quantities by resource name (requests = limits), or separate `requests` and `limits`.",
            "properties": { "requests": map("What the scheduler reserves."), "limits": map("What the pod may use at \
                 most.") },
            "additionalProperties": quantity,
            "propertyNames": {"format": "resource-key"},
            "examples": [{"cpu": 8, "memory": "32Gi", "nvidia.com/gpu": 1}],
        })
    }
}

impl<'de> Deserialize<'de> for Resources {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Resources;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a mapping of resource names to quantities")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Resources, A::Error> {
                let mut resources = Resources::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "requests" => resources.requests.extend(map.next_value::<BTreeMap<String, Quantity>>()?),
                        "limits" => resources.limits.extend(map.next_value::<BTreeMap<String, Quantity>>()?),
                        _ => {
                            let quantity: Quantity = map.next_value()?;
                            resources.requests.insert(key.clone(), quantity.clone());
                            resources.limits.insert(key, quantity);
                        }
                    }
                }
                Ok(resources)
            }
        }

        deserializer.deserialize_map(Visitor)
    }
}
