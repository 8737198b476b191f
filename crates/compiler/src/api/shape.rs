//! What patches of pods and containers may hold, as a JSON Schema for editors.
//!
//! The types of `k8s-openapi` declare it themselves: each is read from a value that has all fields and records which are requested.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::api::core::v1::{Container, PodSpec};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value as Json, json};

/// What the names of definitions begin with.
const PREFIX: &str = "Kubernetes";
/// A text that every type of text takes, times among them.
const TEXT: &str = "2026-01-01T00:00:00Z";
/// An expression, whose value is known later.
const EXPRESSION: &str = r"\$\{\{";

/// Schemas of patches, which refer to definitions.
pub struct Patches {
    pub pod: Json,
    pub container: Json,
    /// The definitions, by name.
    pub definitions: BTreeMap<String, Json>,
}

/// Returns the schemas of patches.
pub fn patches() -> Patches {
    let definitions = RefCell::default();
    let (pod, container) = (of::<PodSpec>(&definitions), of::<Container>(&definitions));
    Patches { pod, container, definitions: definitions.into_inner() }
}

type Definitions = RefCell<BTreeMap<String, Json>>;

fn of<T: DeserializeOwned>(definitions: &Definitions) -> Json {
    of_seed(definitions, PhantomData::<T>).0
}

/// Returns the schema of what `seed` reads, and a value of it, if there is one.
fn of_seed<'de, T: DeserializeSeed<'de>>(definitions: &Definitions, seed: T) -> (Json, Result<T::Value, Stop>) {
    let schema = RefCell::new(json!({}));
    let value = seed.deserialize(Asked { definitions, schema: &schema });
    (schema.into_inner(), value)
}

/// Something that has all fields.
#[derive(Clone, Copy)]
struct Asked<'a> {
    definitions: &'a Definitions,
    /// The schema of what it is read as.
    schema: &'a RefCell<Json>,
}

/// A type that accepts none of the possible values.
#[derive(Debug)]
struct Stop(String);

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stop {}

impl de::Error for Stop {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl Asked<'_> {
    fn is(&self, schema: Json) {
        self.schema.replace(schema);
    }

    /// Notes a value that is not a text; an expression may produce it.
    fn is_plain(&self, name: &str) {
        self.is(json!({"type": [name, "string", "null"], "pattern": EXPRESSION}));
    }
}

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        // A number or a text, as ports are.
        self.is(json!({"type": ["integer", "string", "null"]}));
        visitor.visit_str(TEXT)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.is_plain("boolean");
        visitor.visit_bool(false)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.is_plain("integer");
        visitor.visit_i32(0)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.is_plain("integer");
        visitor.visit_i64(0)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.is_plain("number");
        visitor.visit_f64(0.0)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        // A number is its text.
        self.is(json!({"type": ["string", "number", "null"]}));
        visitor.visit_str(TEXT)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Stop> {
        let value = visitor.visit_newtype_struct(self);
        if name == "Quantity" {
            // Half a processor is `0.5`.
            self.is(json!({"type": ["string", "number", "null"]}));
        }
        value
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let items = RefCell::new(json!({}));
        let value = visitor.visit_seq(One { asked: Some(Asked { schema: &items, ..self }) });
        self.is(json!({"type": ["array", "null"], "items": items.into_inner()}));
        value
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let values = RefCell::new(json!({}));
        let value = visitor.visit_map(Entries {
            asked: Asked { schema: &values, ..self },
            keys: ["key"].iter(),
            key: "",
            found: None,
        });
        self.is(json!({"type": ["object", "null"], "additionalProperties": values.into_inner()}));
        value
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let definition = format!("{PREFIX}{name}");
        self.is(json!({"$ref": format!("#/definitions/{definition}")}));
        let is_known = self.definitions.borrow().contains_key(&definition);
        if is_known {
            return visitor.visit_map(Entries { asked: self, keys: [].iter(), key: "", found: None });
        }
        self.definitions.borrow_mut().insert(definition.clone(), json!({}));
        let found = RefCell::new(Map::new());
        let value = visitor.visit_map(Entries { asked: self, keys: fields.iter(), key: "", found: Some(&found) });
        let whole = json!({
            "type": ["object", "null"],
            "properties": found.into_inner(),
            // Directives of a strategic merge patch.
            "patternProperties": {r"^\$": {}},
            "additionalProperties": false,
        });
        self.definitions.borrow_mut().insert(definition, whole);
        value
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct enum identifier
        ignored_any
    }
}

/// A list with one element.
struct One<'a> {
    asked: Option<Asked<'a>>,
}

impl<'de> SeqAccess<'de> for One<'_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        self.asked.take().map(|asked| seed.deserialize(asked)).transpose()
    }
}

/// A mapping with these keys, and what their values are read as.
struct Entries<'a> {
    asked: Asked<'a>,
    keys: std::slice::Iter<'a, &'static str>,
    key: &'static str,
    found: Option<&'a RefCell<Map<String, Json>>>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let Some(key) = self.keys.next() else { return Ok(None) };
        self.key = key;
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Stop> {
        let Some(found) = self.found else { return seed.deserialize(self.asked) };
        let (schema, value) = of_seed(self.asked.definitions, seed);
        found.borrow_mut().insert(self.key.to_owned(), schema);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_of_pods_are_there() {
        let Patches { pod, container, definitions } = patches();
        assert_eq!(pod, json!({"$ref": "#/definitions/KubernetesPodSpec"}));
        assert_eq!(container, json!({"$ref": "#/definitions/KubernetesContainer"}));
        let at = |pointer: &str| -> Json {
            let (name, rest) = pointer.split_once('/').unwrap();
            definitions.get(name).and_then(|found| found.pointer(&format!("/properties/{rest}"))).cloned().unwrap()
        };
        assert_eq!(at("KubernetesPodSpec/hostNetwork/type"), json!(["boolean", "string", "null"]));
        assert_eq!(at("KubernetesPodSpec/nodeSelector/additionalProperties/type"), json!(["string", "number", "null"]));
        assert_eq!(at("KubernetesPodSpec/tolerations/items"), json!({"$ref": "#/definitions/KubernetesToleration"}));
        assert_eq!(at("KubernetesContainer/ports/items"), json!({"$ref": "#/definitions/KubernetesContainerPort"}));
        assert_eq!(at("KubernetesHTTPGetAction/port/type"), json!(["integer", "string", "null"]));
        assert_eq!(
            at("KubernetesResourceRequirements/limits/additionalProperties/type"),
            json!(["string", "number", "null"])
        );
        // Nothing is left open that a type has not left open.
        for (name, definition) in &definitions {
            assert_eq!(definition["additionalProperties"], json!(false), "{name}");
            for (field, schema) in definition["properties"].as_object().unwrap() {
                assert_ne!(*schema, json!({}), "{name}.{field}");
            }
        }
    }
}
