//! The name of a tool: a shell completes those that there are; any other is refused where it is used, with a better reason.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

use kubebench_extract::tool::TOOLS;

/// Reads any name, and knows those that there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name;

impl TypedValueParser for Name {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(TOOLS.iter().map(|tool| PossibleValue::new(tool.name))))
    }
}
