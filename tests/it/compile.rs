//! What specs compile to, and when.

mod admission;
mod carried;
mod determinism;
mod experiments;
mod fields;
mod given;
mod hazards;
mod identity;
mod kill;
mod notebook;
mod patches;
mod published;
mod since;
mod steps;
mod suites;
mod variants;
mod workflows;
