//! Deserializes wire types from the spanned tree, so that a type error knows its place.
//!
//! Where a type wants text, a number is read as its source text: `args: [4]` is `"4"`.

use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::node::{Entry, Node, Value};
use crate::invariant::Invariant as _;
use crate::text::Span;

/// Why a node is not a `T`, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The innermost invalid node, where known.
    pub span: Option<Span>,
    /// The reason, as a fragment.
    pub message: String,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mismatch {}

impl de::Error for Mismatch {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self { span: None, message: message.to_string() }
    }
}

impl Node {
    /// Returns the node as a `T`.
    pub fn read_as<'de, T: de::Deserialize<'de>>(&'de self) -> Result<T, Mismatch> {
        T::deserialize(self).map_err(|error| self.locate(error))
    }

    fn locate(&self, mut error: Mismatch) -> Mismatch {
        error.span.get_or_insert(self.span);
        error
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match &self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(text) => visit_number(text, visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Seq(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(entries) => visitor.visit_map(Entries { rest: entries.iter(), value: None }),
        }
        .map_err(|error| self.locate(error))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match &self.value {
            Value::Number(text) | Value::String(text) => {
                visitor.visit_borrowed_str(text).map_err(|error| self.locate(error))
            }
            Value::Null | Value::Bool(_) | Value::Seq(_) | Value::Map(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.value == Value::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match &self.value {
            Value::String(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            Value::Map(entries) => de::value::MapAccessDeserializer::new(Entries { rest: entries.iter(), value: None })
                .deserialize_enum(name, variants, visitor),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Seq(_) => self.deserialize_any(visitor),
        }
        .map_err(|error| self.locate(error))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

fn visit_number<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, Mismatch> {
    if let Ok(number) = text.parse::<u64>() {
        visitor.visit_u64(number)
    } else if let Ok(number) = text.parse::<i64>() {
        visitor.visit_i64(number)
    } else {
        visitor.visit_f64(text.parse().expected("a number in a spelling that was checked when it was read"))
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        self.0.next().map(|node| seed.deserialize(node).map_err(|error| node.locate(error))).transpose()
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, Entry>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        let key = de::value::BorrowedStrDeserializer::<Mismatch>::new(&entry.key);
        seed.deserialize(key).map(Some).map_err(|error| Mismatch { span: Some(entry.key_span), ..error })
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mismatch> {
        let node = self.value.take().ok_or_else(|| de::Error::custom("a value is asked for before its key"))?;
        seed.deserialize(node).map_err(|error| node.locate(error))
    }
}
