//! What keeps a benchmark from running on one machine, said before anything starts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Engine, cluster_only, is_of_client, started_roles, variables};
use kubebench_compiler::model::{Benchmark, Env, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::redact::names_a_secret;

/// Values of Secrets and ConfigMaps that a person handed in.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// By the name of a variable, `KUBEBENCH_SECRET_<NAME>_<KEY>`, or by the exact name, `secret/<NAME>/<KEY>`.
    values: BTreeMap<String, String>,
}

impl Secrets {
    /// Takes values by names that [`is_name`](Self::is_name) knows.
    pub fn new(values: BTreeMap<String, String>) -> Self {
        Self { values }
    }

    /// Returns true for a name under which values are handed in: that of a variable, or `secret/<NAME>/<KEY>` and
    /// `configmap/<NAME>/<KEY>`, which name one key each.
    pub fn is_name(name: &str) -> bool {
        KINDS.iter().any(|kind| {
            let exact = name.strip_prefix(kind.exact).and_then(|rest| rest.split_once('/'));
            name.starts_with(kind.variable) || exact.is_some_and(|(name, key)| !name.is_empty() && !key.is_empty())
        })
    }

    /// Returns the value of a Secret's key.
    pub(crate) fn secret(&self, name: &str, key: &str) -> Option<String> {
        self.value(&SECRET, name, key)
    }

    /// Returns the value of a ConfigMap's key.
    pub(crate) fn config_map(&self, name: &str, key: &str) -> Option<String> {
        self.value(&CONFIG_MAP, name, key)
    }

    fn value(&self, kind: &Kind, name: &str, key: &str) -> Option<String> {
        self.values.get(&kind.exact(name, key)).or_else(|| self.values.get(&kind.variable(name, key))).cloned()
    }

    /// Returns the values of Secrets, none of which may be seen.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let is_secret = |name: &str| name.starts_with(SECRET.variable) || name.starts_with(SECRET.exact);
        self.values.iter().filter(move |(name, _)| is_secret(name)).map(|(_, value)| value.as_str())
    }
}

/// What contains values outside a spec, and how they are called here.
struct Kind {
    word: &'static str,
    variable: &'static str,
    exact: &'static str,
}

const SECRET: Kind = Kind { word: "Secret", variable: "KUBEBENCH_SECRET_", exact: "secret/" };
const CONFIG_MAP: Kind = Kind { word: "ConfigMap", variable: "KUBEBENCH_CONFIGMAP_", exact: "configmap/" };
const KINDS: [Kind; 2] = [SECRET, CONFIG_MAP];

impl Kind {
    /// Returns the variable that holds the value of `key` of `name`.
    fn variable(&self, name: &str, key: &str) -> String {
        let upper = |text: &str| {
            text.chars()
                .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
                .collect::<String>()
        };
        format!("{}{}_{}", self.variable, upper(name), upper(key))
    }

    /// Returns the name in a file of values that means nothing else.
    fn exact(&self, name: &str, key: &str) -> String {
        format!("{}{name}/{key}", self.exact)
    }
}

/// Returns why `benchmark` cannot run here, each at its place.
pub fn refusals(benchmark: &Benchmark, engine: Engine, secrets: &Secrets) -> Diagnostics {
    let mut found = Diagnostics::default();
    let mut seen = BTreeSet::new();
    let mut taken = BTreeMap::new();
    // A role is judged for every case, and said once.
    let of_cases = benchmark.cases.iter().flat_map(started_roles);
    let beside = benchmark.prepare.iter().chain(benchmark.cases.iter().filter_map(|case| case.postprocess.as_ref()));
    for role in of_cases.chain(beside.map(|job| &job.role)) {
        for fault in of_role(role, engine, secrets).into_iter().chain(ambiguous(role, secrets, &mut taken)) {
            if seen.insert((fault.message.clone(), format!("{:?}", fault.place))) {
                found.push(fault);
            }
        }
    }
    for fault in benchmark.cases.iter().flat_map(cluster_only::faults) {
        if seen.insert((fault.message.clone(), format!("{:?}", fault.place))) {
            found.push(fault);
        }
    }
    for (query, span) in &benchmark.queries {
        if let Some(name) = ["$namespace", "$pods", "$nodes"].into_iter().find(|name| query.contains(name)) {
            found.push(
                Diagnostic::at(&code::KB0352, *span, format!("`{name}` refers to something that only a cluster has"))
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
        let message = format!("the role `{}` has no `command`, which a run on this machine needs", role.name);
        found.push(
            Diagnostic::at(&code::KB0350, role.span, message)
                .note("in a cluster the image's own entry point runs; local processes have no image")
                .help("write the `command`, or run the image: `kubebench run --engine docker`"),
        );
    }
    for (name, (value, span)) in &role.env {
        let is_secret = match value {
            Env::Secret { .. } => true,
            Env::Text(text) => shows_a_secret(text, role),
            _ => false,
        };
        if is_secret && engine.runs_images() && is_of_client(name) {
            let engine = engine.name();
            found.push(
                Diagnostic::at(&code::KB0351, *span, format!("`{engine}` reads the variable `{name}` itself"))
                    .note(format!("the secret in it would have to appear in the arguments of `{engine}`"))
                    .help("rename the variable"),
            );
            continue;
        }
        let (what, help) = match value {
            Env::Secret { name, key } if secrets.secret(name, key).is_none() => (
                format!("the key `{key}` of the Secret `{name}`"),
                format!("set {} in the environment, or give it in a file: `--secret-file`", SECRET.variable(name, key)),
            ),
            Env::ConfigMap { name, key } if secrets.config_map(name, key).is_none() => (
                format!("the key `{key}` of the ConfigMap `{name}`"),
                format!("set {} in the environment", CONFIG_MAP.variable(name, key)),
            ),
            Env::Field(path) if !variables::is_known_field(path) => (
                format!("the pod's `{path}`"),
                "write a value, or run in a cluster: only a pod has this field".to_owned(),
            ),
            _ => continue,
        };
        found.push(
            Diagnostic::at(
                &code::KB0351,
                *span,
                format!("the variable `{name}` takes {what}, which is not known here"),
            )
            .note("a run without the variable would not measure what the cluster measures")
            .help(help),
        );
    }
    found
}

/// Returns true when Kubernetes would replace a `$(NAME)` with a secret in `text`.
fn shows_a_secret(text: &str, role: &Role) -> bool {
    let is_secret = |name: &str| match role.env.get(name) {
        Some((value, _)) => matches!(value, Env::Secret { .. }),
        // It may be passed on from here.
        None => names_a_secret(name),
    };
    let mut names = text.split("$(").skip(1).filter_map(|rest| rest.split_once(')')).map(|(name, _)| name);
    role.expand_variables && names.any(is_secret)
}

/// Returns the keys of `role` that would be read from one variable with others; `taken` holds those that were looked at.
fn ambiguous(role: &Role, secrets: &Secrets, taken: &mut BTreeMap<String, (String, String)>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (value, span) in role.env.values() {
        let (kind, name, key) = match value {
            Env::Secret { name, key } => (SECRET, name, key),
            Env::ConfigMap { name, key } => (CONFIG_MAP, name, key),
            _ => continue,
        };
        let exact = kind.exact(name, key);
        if secrets.values.contains_key(&exact) {
            continue;
        }
        let variable = kind.variable(name, key);
        let mine = (name.clone(), key.clone());
        let first = taken.entry(variable.clone()).or_insert_with(|| mine.clone());
        if *first == mine {
            continue;
        }
        let (other, other_key) = first;
        let message = format!(
            "the key `{key}` of the {0} `{name}` and the key `{other_key}` of the {0} `{other}` would both be read from {variable}",
            kind.word
        );
        found.push(
            Diagnostic::at(&code::KB0351, *span, message)
                .note("one of the two would silently get the value of the other")
                .help(format!(
                    "write them with their exact names into a file for `--secret-file`, such as `{exact}=VALUE`"
                )),
        );
    }
    found
}
