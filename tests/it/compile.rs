//! What specs compile to, and when.

mod carried;
mod determinism;
mod experiments;
mod fields;
mod fragments_since;
mod hazards;
mod kill;
mod long_names;
mod mistyped;
mod network;
mod notebook;
mod patches;
mod permissions;
mod pods;
mod privileges;
mod published;
mod since;
mod starts;
mod steps;
mod suites;
mod variants;
mod workflows;
