//! A benchmark in the making: what every old format becomes, and its text as a v1 spec.

use std::collections::BTreeSet;

use super::text::{Item, Map, document};

/// A benchmark in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) labels: Map,
    /// What it is for.
    pub(super) description: String,
    /// Named constants.
    pub(super) parameters: Map,
    /// How long a run may take, where the old one said so.
    pub(super) timeout: Option<String>,
    /// What is run.
    pub(super) workload: Option<Workload>,
    /// The Job before the runs, and what a human should know of it.
    pub(super) prepare: Option<(Vec<String>, Map)>,
    /// The Job after each run, and what a human should know of it.
    pub(super) postprocess: Option<(Vec<String>, Map)>,
    /// What is measured.
    pub(super) metrics: Metrics,
    /// Whether the pods see the volume of results.
    pub(super) mounts_results: bool,
    /// What a human should know before the workload.
    pub(super) aside: Vec<String>,
    /// What could not be said in the spec, for a human.
    pub(super) open: Vec<String>,
    /// What else is to be done.
    pub(super) advice: BTreeSet<String>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Metrics {
    /// Nothing is known of the output.
    #[default]
    Unknown,
    /// tf_cnn_benchmarks, in the log of a role.
    TfCnnLog,
    /// tf_cnn_benchmarks, in the file that kubeflow/kubebench's runner left.
    TfCnnFile,
}

/// The workload of a benchmark in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Workload {
    /// The key of its kind.
    pub(super) kind: &'static str,
    /// What a human should know of it.
    pub(super) comment: Vec<String>,
    /// Fields of the form outside the roles.
    pub(super) fields: Map,
    /// The roles; one without a name is the form itself.
    pub(super) roles: Vec<(&'static str, Role)>,
    /// The patch over the whole object.
    pub(super) patch: Map,
}

/// A role in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Role {
    /// How many pods it has.
    pub(super) replicas: Option<u32>,
    pub(super) image: Option<String>,
    /// Its program.
    pub(super) command: Vec<Item>,
    /// Its arguments.
    pub(super) args: Vec<Item>,
    /// Its variables.
    pub(super) env: Map,
    pub(super) resources: Map,
    /// Labels of its pods.
    pub(super) labels: Map,
    /// Annotations of its pods.
    pub(super) annotations: Map,
    /// The patch over its pods.
    pub(super) pod: Map,
    /// The patch over its main container.
    pub(super) container: Map,
    /// Whether Kubernetes expands `$(NAME)`.
    pub(super) expands: bool,
}

/// The fields of a role that may be shared, in the order of documents.
const SHARED: [&str; 10] =
    ["image", "command", "args", "expandVariables", "env", "resources", "labels", "annotations", "pod", "container"];
/// Those that belong to each role of an MPIJob alone: its workers run `sshd`.
const NEVER_SHARED_BY_MPI: [&str; 3] = ["command", "args", "resources"];

impl Role {
    fn field(&self, name: &str) -> Item {
        match name {
            "image" => Item::Text(self.image.clone().unwrap_or_default()),
            "command" => Item::List(self.command.clone()),
            "args" => Item::List(self.args.clone()),
            "expandVariables" => Item::Plain(if self.expands { "true".to_owned() } else { String::new() }),
            "env" => Item::Map(self.env.clone()),
            "resources" => Item::Flow(self.resources.clone()),
            "labels" => Item::Flow(self.labels.clone()),
            "annotations" => Item::Map(self.annotations.clone()),
            "pod" => Item::Map(self.pod.clone()),
            _ => Item::Map(self.container.clone()),
        }
    }
}

/// Returns true for a value that is not written.
fn says_nothing(item: &Item) -> bool {
    match item {
        Item::Plain(text) | Item::Text(text) => text.is_empty(),
        Item::List(items) => items.is_empty(),
        Item::Map(map) | Item::Flow(map) => map.is_empty(),
        Item::Lookup(_) | Item::Block(_) => false,
    }
}

impl Workload {
    /// Returns the form: fields that are the same in all roles are outside of them.
    fn form(&self) -> Map {
        let mut form = Map::default();
        if let [("", role)] = self.roles.as_slice() {
            put_role(role, &SHARED, &mut form);
            form.put_fields(&self.fields);
            form.put_some("patch", self.patch.clone());
            return form;
        }
        let shared: Vec<&str> = SHARED
            .into_iter()
            .filter(|field| self.kind != "mpiJob" || !NEVER_SHARED_BY_MPI.contains(field))
            .filter(|field| {
                self.roles.windows(2).all(|pair| matches!(pair, [(_, a), (_, b)] if a.field(field) == b.field(field)))
            })
            .collect();
        if let Some((_, first)) = self.roles.first() {
            put_role(first, &shared, &mut form);
        }
        form.put_fields(&self.fields);
        let own: Vec<&str> = SHARED.into_iter().filter(|field| !shared.contains(field)).collect();
        for (name, role) in &self.roles {
            let mut block = Map::default();
            if let Some(replicas) = role.replicas {
                block.put("replicas", replicas);
            }
            put_role(role, &own, &mut block);
            form.put(name, block);
        }
        form.put_some("patch", self.patch.clone());
        form
    }
}

fn put_role(role: &Role, fields: &[&str], form: &mut Map) {
    for field in fields {
        let item = role.field(field);
        if !says_nothing(&item) {
            form.put(field, item);
        }
    }
}

impl Draft {
    /// Replaces texts by lookups where `find` has one for them.
    pub(super) fn look_up(&mut self, find: &dyn Fn(&str) -> Option<String>) {
        for (_, step) in self.prepare.iter_mut().chain(&mut self.postprocess) {
            step.look_up(find);
        }
        for (_, role) in self.workload.iter_mut().flat_map(|workload| &mut workload.roles) {
            role.command.iter_mut().chain(&mut role.args).for_each(|word| word.look_up(find));
            for map in [&mut role.env, &mut role.labels, &mut role.annotations, &mut role.pod, &mut role.container] {
                map.look_up(find);
            }
        }
    }

    /// Returns the text of the spec at `depth` folders below the project's; none without a workload.
    pub(super) fn spec(&self, from: &str, depth: usize) -> Option<String> {
        let workload = self.workload.as_ref()?;
        let mut metadata = Map::default().with("name", self.name.as_str());
        metadata.put_some("labels", self.labels.clone());
        let mut spec = Map::default();
        spec.put_some("description", self.description.as_str());
        spec.put_some("parameters", self.parameters.clone());
        match &self.timeout {
            Some(timeout) => spec.put("timeout", timeout.as_str()),
            None => spec.put_with(
                vec!["kubeflow/kubebench waited forever; a shorter limit finds a run that hangs.".to_owned()],
                "timeout",
                "24h",
            ),
        }
        if let Some((comment, step)) = &self.prepare {
            spec.put_with(comment.clone(), "prepare", step.clone());
        }
        let mut kind = Map::default();
        kind.put_with(workload.comment.clone(), workload.kind, workload.form());
        let aside = self.aside.iter().map(|line| one_line(line)).collect();
        spec.put_with(aside, "workload", kind);
        if let Some((comment, step)) = &self.postprocess {
            spec.put_with(comment.clone(), "postprocess", step.clone());
        }
        self.put_metrics(workload, &mut spec);
        if self.mounts_results || self.postprocess.is_some() || self.prepare.is_some() {
            let comment = "Several pods use the volume at once, as before: its StorageClass must let nodes share it.";
            let claim = Map::default().with("accessModes", Item::List(vec!["ReadWriteMany".into()]));
            let mut results = Map::default().with("claim", Item::Flow(claim));
            if self.mounts_results {
                results.put("mountInJob", true);
            }
            spec.put_with(vec![comment.to_owned()], "results", results);
        }
        let root = Map::default()
            .with("apiVersion", "kubebench.dev/v1")
            .with("kind", "Benchmark")
            .with("metadata", metadata)
            .with("spec", spec);
        let mut text = format!(
            "# yaml-language-server: $schema={}schema/benchmark.v1.json\n#\n# Migrated from {}.\n",
            "../".repeat(depth),
            one_line(from)
        );
        if !self.open.is_empty() {
            text.push_str("# Not carried over, for you to decide; delete the lines that are settled:\n");
            for open in &self.open {
                text.push_str(&format!("# - {}\n", one_line(open)));
            }
        }
        text.push_str(&document(&root));
        Some(text)
    }

    fn put_metrics(&self, workload: &Workload, spec: &mut Map) {
        let role = ["launcher", "worker", "chief", "master"];
        let role = role.into_iter().find(|name| workload.roles.iter().any(|(role, _)| role == name));
        let mut metric = Map::default().with("primary", true);
        let comment = match self.metrics {
            Metrics::TfCnnLog => {
                let mut tool = Map::default()
                    .with("name", "tf-cnn-benchmarks")
                    .with("metrics", Item::List(vec!["images_per_sec_total".into()]));
                if let Some(role) = role {
                    tool.put("role", role);
                    tool.put("index", 0);
                }
                metric.put("from", Item::Flow(Map::default().with("tool", Item::Flow(tool))));
                "The total speed of all workers, which tf_cnn_benchmarks prints at its end."
            }
            Metrics::TfCnnFile => {
                let tool = Map::default()
                    .with("name", "tf-cnn-benchmarks")
                    .with("metrics", Item::List(vec!["images_per_sec_total".into()]))
                    .with("file", "worker0.log");
                metric.put("from", Item::Flow(Map::default().with("tool", Item::Flow(tool))));
                "The total speed of all workers, which tf_cnn_benchmarks prints at its end, in the file that \
                 kubeflow/kubebench's runner writes."
            }
            Metrics::Unknown => {
                let from = Map::default().with("duration", "run");
                metric = Map::default()
                    .with("name", "seconds")
                    .with("unit", "s")
                    .with("better", "lower")
                    .with("primary", true)
                    .with("from", Item::Flow(from));
                "Add the metrics that the program reports: `kubebench parse --tool NAME LOG` shows those in a log."
            }
        };
        let metric = Item::List(vec![Item::Flow(metric)]);
        spec.put_with(vec![comment.to_owned()], "metrics", metric);
    }
}

/// Returns a text that ends no comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || kubebench_syntax::text::reorders(c) { ' ' } else { c }).collect()
}
