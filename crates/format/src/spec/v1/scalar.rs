//! Scalars of the wire types: units, counts, flags and text.
//!
//! Each says in the schema what it looks like; a `${{ }}` lookup may stand wherever `x-kubebench-lookup` is true.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use kubebench_syntax::unit;

/// What a string that is a single lookup looks like.
pub(crate) const LOOKUP_PATTERN: &str = r"^\$\{\{[^{}]+\}\}$";

/// Declares a string unit: its schema with `format`, and its parser as its deserializer.
macro_rules! unit {
    ($name:ident, $format:literal, $description:literal, [$($example:literal),+]) => {
        #[doc = $description]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub unit::$name);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $format, "description": $description, "examples": [$($example),+] })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<str>::deserialize(deserializer)?;
                unit::$name::parse(&text).map(Self).map_err(|error| de::Error::custom(error.message))
            }
        }
    };
}

unit!(
    Duration,
    "duration",
    "A span of time: a whole number with `s`, `m`, `h` or `d`, or several of them.",
    ["90s", "2h", "1h30m"]
);
unit!(Percentage, "percentage", "A percentage above 0.", ["3%", "2.5%"]);
unit!(
    Cron,
    "cron",
    "Five cron fields (minute, hour, day of month, month, day of week) or a descriptor such as `@daily`.",
    ["0 3 * * 1", "@daily"]
);
unit!(TimeZone, "timezone", "A name of the IANA time zone database.", ["Etc/UTC", "Europe/Berlin"]);
unit!(
    ImageRef,
    "image",
    "A container image: registry, path, and a tag or (better) a digest.",
    ["docker.io/library/python:3.13-slim"]
);
unit!(
    ImagePrefix,
    "image-prefix",
    "A registry, or a registry and the first parts of a path.",
    ["docker.io", "mirror.example/docker"]
);
unit!(
    Dns1123Subdomain,
    "dns1123-subdomain",
    "The name of a Kubernetes object: lower-case letters, digits, `-` and `.`.",
    ["hf-token"]
);
unit!(Dns1123Label, "dns1123-label", "Lower-case letters, digits and `-`, at most 63 characters.", ["ml-benchmarks"]);

/// A Kubernetes quantity; a plain number is one without suffix.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity(pub unit::Quantity);

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"], "format": "quantity", "minimum": 0, "description": "A Kubernetes quantity.", "examples": [8, "500m", "32Gi"] })
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        unit::Quantity::parse(&text).map(Self).map_err(|error| de::Error::custom(error.message))
    }
}

/// Text; a plain number stands for its source text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(pub String);

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"] })
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

/// Declares a whole number with bounds, for which a lookup may stand.
macro_rules! count {
    ($name:ident, $min:literal, $max:literal, $description:literal) => {
        #[doc = $description]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        pub struct $name(pub u32);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": ["integer", "string"], "minimum": $min, "maximum": $max, "pattern": LOOKUP_PATTERN })
            }
        }
    };
}

count!(Count, 1, 10_000, "A whole number from 1.");
count!(CountFromZero, 0, 10_000, "A whole number from 0.");
count!(Port, 1, 65_535, "A TCP port.");
count!(RunNumber, 1, 999_999, "A number; raise it to run again.");

/// `true` or `false`; a lookup may stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Flag(pub bool);

impl JsonSchema for Flag {
    fn schema_name() -> Cow<'static, str> {
        "Flag".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["boolean", "string"], "pattern": LOOKUP_PATTERN })
    }
}

/// A number; a lookup may stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Number(pub f64);

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "pattern": LOOKUP_PATTERN })
    }
}

/// A part of Kubernetes' own API, passed through after a check against the API's types.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Patch(pub serde_json::Value);

impl JsonSchema for Patch {
    fn schema_name() -> Cow<'static, str> {
        "Patch".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "x-kubebench-open": true })
    }
}

/// A value that may differ from case to case and is read again for each: only its schema counts here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerCase<T>(std::marker::PhantomData<T>);

impl<T> Default for PerCase<T> {
    fn default() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<T: JsonSchema> JsonSchema for PerCase<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<'de, T> Deserialize<'de> for PerCase<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        de::IgnoredAny::deserialize(deserializer).map(|_| Self(std::marker::PhantomData))
    }
}

/// Says in the schema of a mapping that it takes exactly one of its keys.
pub fn one_key(schema: &mut Schema) {
    schema.insert("minProperties".to_owned(), 1.into());
    schema.insert("maxProperties".to_owned(), 1.into());
}
