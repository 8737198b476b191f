//! What keeps a benchmark from running on one machine, said before anything starts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Engine, is_of_client, started_roles, variables};
use crate::diag::{Diagnostic, Diagnostics, code};
use crate::model::{Benchmark, Env, Role};

/// Values of Secrets and ConfigMaps that a person handed in.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// By the name of a variable: `KUBEBENCH_SECRET_<NAME>_<KEY>`.
    values: BTreeMap<String, String>,
}

impl Secrets {
    /// Takes values by the names of variables: `KUBEBENCH_SECRET_…` and `KUBEBENCH_CONFIGMAP_…`.
    pub fn new(values: BTreeMap<String, String>) -> Self {
        Self { values }
    }

    /// Returns the value of a Secret's key.
    pub fn secret(&self, name: &str, key: &str) -> Option<String> {
        self.values.get(&variable("SECRET", name, key)).cloned()
    }

    /// Returns the value of a ConfigMap's key.
    pub fn config_map(&self, name: &str, key: &str) -> Option<String> {
        self.values.get(&variable("CONFIGMAP", name, key)).cloned()
    }

    /// Returns the values of Secrets, none of which may be seen.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter(|(name, _)| name.starts_with("KUBEBENCH_SECRET_")).map(|(_, value)| value.as_str())
    }
}

/// Returns the variable that holds the value of `key` of the Secret or ConfigMap `name`.
fn variable(what: &str, name: &str, key: &str) -> String {
    let upper = |text: &str| {
        text.chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
            .collect::<String>()
    };
    format!("KUBEBENCH_{what}_{}_{}", upper(name), upper(key))
}

/// Returns why `benchmark` cannot run here, each at its place.
pub fn refusals(benchmark: &Benchmark, engine: Engine, secrets: &Secrets) -> Diagnostics {
    let mut found = Diagnostics::default();
    let mut seen = BTreeSet::new();
    // A role is judged for every case, and said once.
    let of_cases = benchmark.cases.iter().flat_map(started_roles);
    let beside = benchmark.prepare.iter().chain(benchmark.cases.iter().filter_map(|case| case.postprocess.as_ref()));
    for role in of_cases.chain(beside.map(|job| &job.role)) {
        for fault in of_role(role, engine, secrets) {
            if seen.insert((fault.message.clone(), format!("{:?}", fault.place))) {
                found.push(fault);
            }
        }
    }
    for (query, span) in &benchmark.queries {
        if let Some(name) = ["$namespace", "$pods"].into_iter().find(|name| query.contains(name)) {
            found.push(
                Diagnostic::at(&code::KB0352, *span, format!("`{name}` stands for something that only a cluster has"))
                    .note("a local run has no pods; the query would select nothing, and the metric would be missing")
                    .help(
                        "run this benchmark in a cluster, or write a query that selects this machine by other labels",
                    ),
            );
        }
    }
    found
}

fn of_role(role: &Role, engine: Engine, secrets: &Secrets) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if role.command.is_empty() && !engine.runs_images() {
        let message = format!("the role `{}` has no `command`, so there is nothing to start here", role.name);
        found.push(
            Diagnostic::at(&code::KB0350, role.span, message)
                .note("in a cluster the image's own entry point runs; local processes have no image")
                .help("write the `command`, or run the image: `kubebench run --engine docker`"),
        );
    }
    for (name, (value, span)) in &role.env {
        let (what, help) = match value {
            Env::Secret { name: secret, .. } if engine.runs_images() && is_of_client(name) => (
                format!("a key of the Secret `{secret}` under a name that `{}` itself reads", engine.name()),
                "call the variable otherwise: its value would have to stand in the arguments of the client".to_owned(),
            ),
            Env::Secret { name, key } if secrets.secret(name, key).is_none() => (
                format!("the key `{key}` of the Secret `{name}`"),
                format!(
                    "set {} in the environment, or give it in a file: `--secret-file`",
                    variable("SECRET", name, key)
                ),
            ),
            Env::ConfigMap { name, key } if secrets.config_map(name, key).is_none() => (
                format!("the key `{key}` of the ConfigMap `{name}`"),
                format!("set {} in the environment", variable("CONFIGMAP", name, key)),
            ),
            Env::Field(path) if !variables::is_known_field(path) => {
                (format!("the pod's `{path}`"), "only a pod has that: write a value, or run in a cluster".to_owned())
            }
            _ => continue,
        };
        found.push(
            Diagnostic::at(
                &code::KB0351,
                *span,
                format!("the variable `{name}` takes {what}, which is not known here"),
            )
            .note("a run without it would measure something else than the cluster does")
            .help(help),
        );
    }
    found
}
