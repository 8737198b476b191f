//! Reads a node as a type of `k8s-openapi` and reports everything that does not fit, not only the first fault.
//!
//! The types themselves name their fields when they are read. A value of the wrong type is reported and read as an empty one,
//! so that reading continues.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::{BOOLEAN, Meaning, Reader, WHOLE_NUMBER, Within, pod_rule, rule};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Reports what in `node` a `T` does not have.
pub(super) fn read<'a, T: DeserializeOwned>(reader: &mut Reader<'a>, node: &'a Node) {
    // Every fault is reported.
    let _ = typed(reader, node, PhantomData::<T>);
}

/// Why the reading of a fragment ended early.
#[derive(Debug)]
enum Stop {
    Reported,
    Unreported(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if let Self::Unreported(reason) = self { reason } else { "reported" })
    }
}

impl std::error::Error for Stop {}

impl de::Error for Stop {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Unreported(message.to_string())
    }
}

struct Typed<'r, 'a> {
    reader: &'r mut Reader<'a>,
    node: &'a Node,
}

impl<'a> Typed<'_, 'a> {
    fn number<T: std::str::FromStr + Default>(&mut self, wanted: &str) -> T {
        let parsed = match &self.node.value {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        };
        parsed.unwrap_or_else(|| {
            self.reader.mistyped(self.node, wanted);
            T::default()
        })
    }

    fn items(&mut self) -> &'a [Node] {
        if !matches!(self.node.value, Value::Seq(_)) {
            self.reader.mistyped(self.node, "a list");
        }
        self.node.items()
    }

    fn entries(&mut self) -> &'a [Entry] {
        self.reader.is_mapping(self.node);
        self.node.entries()
    }
}

impl<'de> Deserializer<'de> for Typed<'_, '_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let Self { reader, node } = self;
        let read = match &node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(text) => match text.parse::<i64>() {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => {
                    visitor.visit_f64(text.parse().expected("a number in a spelling that was checked when it was read"))
                }
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Seq(items) => visitor.visit_seq(Elements { reader: &mut *reader, rest: items.iter() }),
            Value::Map(entries) => visitor.visit_map(Fields {
                reader: &mut *reader,
                rest: entries.iter(),
                owner: "",
                known: None,
                value: None,
            }),
        };
        read.map_err(|stop| {
            if let Stop::Unreported(_) = stop {
                reader.mistyped(node, "text or a whole number");
            }
            Stop::Reported
        })
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        if !matches!(self.node.value, Value::Bool(_)) {
            self.reader.mistyped(self.node, BOOLEAN);
        }
        visitor.visit_bool(false)
    }

    fn deserialize_i32<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_i32(self.number("a whole number of at most 2147483647"))
    }

    fn deserialize_i64<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_i64(self.number(WHOLE_NUMBER))
    }

    fn deserialize_f64<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_f64(self.number("a number"))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        if let Value::String(text) = &self.node.value {
            return visitor.visit_str(text);
        }
        if let (Value::Number(text), Meaning::Patch) = (&self.node.value, self.reader.meaning) {
            self.reader.texts.insert(self.node.span);
            return visitor.visit_str(text);
        }
        self.reader.mistyped(self.node, "text");
        visitor.visit_str("")
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Stop> {
        if name != "Quantity" {
            return visitor.visit_newtype_struct(self);
        }
        match self.node.as_text().map(unit::Quantity::parse) {
            Some(Ok(_)) => return visitor.visit_newtype_struct(self),
            Some(Err(error)) => {
                let help =
                    error.help.unwrap_or_else(|| "write a number and a suffix, such as `8` or `32Gi`".to_owned());
                self.reader.refused(self.node, error.message, help);
            }
            None => self.reader.mistyped(self.node, "a quantity"),
        }
        visitor.visit_newtype_struct(StrDeserializer::new("0"))
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let rest = self.items().iter();
        visitor.visit_seq(Elements { reader: self.reader, rest })
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Stop> {
        let rest = self.entries().iter();
        visitor.visit_map(Fields { reader: self.reader, rest, owner: "", known: None, value: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let before = self.reader.diagnostics.as_slice().len();
        let rest = self.entries().iter();
        let (reader, node) = (self.reader, self.node);
        let fields = Fields { reader: &mut *reader, rest, owner: name, known: Some(fields), value: None };
        let read = visitor.visit_map(fields)?;
        // A misspelled field is missing too, and a directive is no value: one mistake, one message.
        let is_directive = node.entries().iter().any(|entry| entry.key.starts_with('$'));
        if reader.diagnostics.as_slice().len() == before && !is_directive {
            rule::check(reader, name, node);
            pod_rule::check(reader, name, node);
        }
        Ok(read)
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct enum identifier
        ignored_any
    }
}

struct Elements<'r, 'a> {
    reader: &'r mut Reader<'a>,
    rest: std::slice::Iter<'a, Node>,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        let Some(node) = self.rest.next() else { return Ok(None) };
        self.reader.path.push(Within::Element);
        let read = typed(self.reader, node, seed);
        self.reader.path.pop();
        read.map(Some)
    }
}

struct Fields<'r, 'a> {
    reader: &'r mut Reader<'a>,
    rest: std::slice::Iter<'a, Entry>,
    owner: &'static str,
    /// The fields, unless it is a mapping with arbitrary keys.
    known: Option<&'static [&'static str]>,
    value: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let Self { reader, rest, owner, known, value } = self;
        *value = rest.find(|entry| match known {
            Some(known) => reader.is_known(entry, owner, known),
            None => reader.is_given(entry),
        });
        let Some(entry) = value else { return Ok(None) };
        seed.deserialize(StrDeserializer::new(&entry.key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Stop> {
        let entry = self.value.take().ok_or_else(|| de::Error::custom("a value is asked for before its key"))?;
        self.reader.path.push(Within::Field(&entry.key));
        let read = typed(self.reader, &entry.value, seed);
        self.reader.path.pop();
        read
    }
}

/// Reads `node` as `seed`, and reports what the type itself says of it.
fn typed<'a, 'de, T: DeserializeSeed<'de>>(reader: &mut Reader<'a>, node: &'a Node, seed: T) -> Result<T::Value, Stop> {
    let read = seed.deserialize(Typed { reader: &mut *reader, node });
    read.map_err(|stop| {
        if let Stop::Unreported(reason) = stop {
            reader.mistyped(node, &format!("as the API has it ({reason})"));
        }
        Stop::Reported
    })
}
