//! What is refused, with which words, and what outside judges say of what is emitted.

mod editors;
mod fragments;
mod grouped;
mod hostile_yaml;
mod lenient;
mod mistakes;
mod neighbors;
mod oracle_crd;
mod oracle_emitted;
mod oracle_tools;
mod pages;
mod reports;
mod schemas;
mod suppressed;
mod yaml_oracle;
