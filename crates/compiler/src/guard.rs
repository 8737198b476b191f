//! What no benchmark may reach for, in whatever form it asks: the one look at all that a spec says of objects, once lookups, variants and
//! cases are resolved.
//!
//! The author of a spec may open pull requests and nothing else, so no lint level allows what is found here. What a project's owners may
//! allow is in `kubebench.yaml`: `allowKinds`, and `tokenAudiences` of a target.

mod asks;
mod embedded;
mod kind;
mod outside;
mod owned;
mod owners;
mod pod_security;
mod spark;
mod token;

use std::collections::BTreeSet;

use crate::model::target::{PodSecurity, ResultsSettings};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::yaml::{Entry, Node};

pub(crate) use owners::Owners;
pub(crate) use token::is_of_api_server;

/// Fields whose text is a program's, or data: Kubernetes finds nothing by it.
const OF_PROGRAMS: [&str; 8] = ["args", "binaryData", "command", "data", "script", "source", "stringData", "value"];

/// Fields that choose among nodes: all that is in them are labels of nodes, which are the cluster's own.
const OF_NODES: [&str; 2] = ["nodeAffinity", "nodeSelector"];

/// What the objects of a benchmark keep within.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<'a> {
    /// The name of the benchmark.
    pub(crate) benchmark: &'a str,
    /// The name of its target.
    pub(crate) target: &'a str,
    /// The user of the steps on the target; none where the cluster chooses it, or jobs have it too.
    pub(crate) user_of_steps: Option<u64>,
    /// The Pod Security level that the namespace of the target enforces.
    pub(crate) pod_security: PodSecurity,
    /// How results are recorded, by Secrets that no pod may read.
    pub(crate) results: &'a ResultsSettings,
    /// The kinds that the project allows in addition to those that are always allowed, as `GROUP/KIND`.
    pub(crate) kinds: &'a BTreeSet<String>,
    /// For whom tokens of a pod's account may be.
    pub(crate) audiences: &'a BTreeSet<String>,
    /// The names of all benchmarks and suites, each of which has a claim of results.
    pub(crate) owners: &'a Owners,
    /// The objects of its manifest.
    pub(crate) objects: &'a [Node],
}

/// A field on the way through a document.
#[derive(Clone, Copy, Debug)]
struct Field<'a> {
    entry: &'a Entry,
    /// The name of the field that it is in; empty at the top.
    of: &'a str,
    /// Whether it is in a Workflow, whose pods tell the API server how they ended.
    in_workflow: bool,
    /// Whether it is in a volume that pods only read.
    is_only_read: bool,
}

/// The way to a part of a document.
#[derive(Clone, Copy, Debug)]
struct Way<'a> {
    /// The document.
    root: &'a Node,
    /// The name of the field that it is in; empty at the top.
    of: &'a str,
    in_workflow: bool,
    is_only_read: bool,
}

impl<'a> Way<'a> {
    /// Returns the way to `root` itself.
    fn to(root: &'a Node) -> Self {
        Self { root, of: "", in_workflow: false, is_only_read: false }
    }
}

impl Bounds<'_> {
    /// Reports what is reached for in a workload and in the objects of its manifest, of which some may be in the cluster already.
    pub(crate) fn check_workload(&self, workload: &Node, diagnostics: &mut Diagnostics) {
        let objects = self.objects;
        let Some(Entry { key, value, .. }) = workload.entries().first() else { return };
        for entry in value.entries().iter().filter(|entry| objects.is_empty() || entry.key != "object") {
            self.look_at(entry, Way { of: key, ..Way::to(workload) }, diagnostics);
        }
        let preinstalled: Vec<&str> = value.items_of("preinstalled").iter().filter_map(Node::as_text).collect();
        for object in objects.iter().filter(|object| !preinstalled.contains(&kind::named(object).as_str())) {
            self.check(object, diagnostics);
        }
    }

    /// Reports what is reached for in a part of a spec, or in an object that is created.
    pub(crate) fn check(&self, node: &Node, diagnostics: &mut Diagnostics) {
        self.look(node, Way::to(node), diagnostics);
    }

    /// The same in a block of another name that says what `of` says in a spec.
    pub(crate) fn check_as(&self, of: &str, node: &Node, diagnostics: &mut Diagnostics) {
        self.look(node, Way { of, ..Way::to(node) }, diagnostics);
    }

    /// Returns whether an object of this name is in its manifest.
    fn brings(&self, name: &str) -> bool {
        self.objects.iter().any(|object| kind::name_of(object) == Some(name))
    }

    fn look<'n>(&self, node: &'n Node, way: Way<'n>, diagnostics: &mut Diagnostics) {
        kind::check(node, self, diagnostics);
        for item in node.items() {
            if !is_of_program(way.of) {
                owned::check_text(item, way.of, self, diagnostics);
            }
            let is_only_read = way.is_only_read || way.of == "volumes" && asks::is_only_read(item, way.root);
            self.look(item, Way { is_only_read, ..way }, diagnostics);
        }
        let in_workflow = way.in_workflow || kind::is_workflow(node);
        for entry in node.entries() {
            self.look_at(entry, Way { in_workflow, ..way }, diagnostics);
        }
    }

    fn look_at<'n>(&self, entry: &'n Entry, way: Way<'n>, diagnostics: &mut Diagnostics) {
        let Entry { key, value, .. } = entry;
        let Way { of, in_workflow, is_only_read, .. } = way;
        let field = Field { entry, of, in_workflow, is_only_read };
        if OF_NODES.contains(&key.as_str()) {
            asks::of_nodes(entry, diagnostics);
            return;
        }
        owned::check_key(field, self, diagnostics);
        token::check(field, self, diagnostics);
        pod_security::check(field, self, diagnostics);
        spark::check(field, diagnostics);
        outside::check(field, self, diagnostics);
        kind::check_field(field, diagnostics);
        asks::check(field, diagnostics);
        if let Some(nodes) = embedded::read(field, self, diagnostics) {
            for node in &nodes {
                self.look(node, Way { of: key, in_workflow, ..Way::to(node) }, diagnostics);
            }
            return;
        }
        if !field.is_of_program() {
            owned::check_value(field, self, diagnostics);
        }
        self.look(value, Way { of: key, ..way }, diagnostics);
    }
}

impl Field<'_> {
    /// Returns whether its text is a program's, or data: Kubernetes finds nothing by it.
    fn is_of_program(&self) -> bool {
        OF_PROGRAMS.contains(&self.entry.key.as_str()) || is_of_program(self.of)
    }
}

/// Returns whether the texts in a field are a program's.
fn is_of_program(field: &str) -> bool {
    OF_PROGRAMS.contains(&field) || field == "env"
}
