//! Where the pods of a run are to each other.

/// One demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// What is requested.
    pub wanted: Wanted,
    /// The label of nodes whose value names their domain.
    pub over: String,
}

/// What is requested for pods and domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The pods of these roles are in one domain.
    Together(Vec<String>),
    /// Those of this role are spread evenly.
    Spread(String),
}
