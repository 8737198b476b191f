//! What the tree of a target needs of its cluster: read from the objects themselves, so that patches count.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{elements, items, text_at};
use kubebench_compiler::model::Target;
use kubebench_compiler::model::target::Settings;
use kubebench_compiler::workload::{PodSet, pod_sets};
use kubebench_contract::instance::{Owner, Session};
use kubebench_contract::{Config, Naming, PodMetadata};
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::unit::Quantity;
use kubebench_syntax::yaml;

/// What a tree needs.
pub struct Needs<'a> {
    pub target: &'a Target,
    /// What holds for all its benchmarks.
    pub settings: &'a Settings,
    /// The objects that git owns, of this target.
    pub objects: Vec<Json>,
    /// API version and kind of the objects that runs create.
    pub created: BTreeSet<(String, String)>,
    /// The pods of runs, and those of the steps.
    pub pods: Vec<PodNeed>,
}

/// Pods of one role in one case.
#[derive(Clone, Debug)]
pub struct PodNeed {
    /// The benchmark; empty for the steps of all.
    pub benchmark: String,
    /// The case; empty for auxiliary jobs and for steps.
    pub case: String,
    /// How many of its job are in the cluster at once.
    pub lanes: u32,
    /// The role, for people.
    pub role: String,
    /// How many there are at once.
    pub replicas: u32,
    /// The pod's `spec`.
    pub spec: Json,
}

impl<'a> Needs<'a> {
    /// Reads the YAML texts of the objects of `target`.
    pub fn read<'t>(target: &'a Target, settings: &'a Settings, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let objects: Vec<Json> = texts.into_iter().filter_map(parsed).collect();
        let mut needs = Self { target, settings, objects, created: BTreeSet::new(), pods: Vec::new() };
        let configs: Vec<Config> = needs.of_kind("ConfigMap").filter_map(run_list).collect();
        for config in configs {
            needs.add_runs(&config);
        }
        let templates: Vec<Json> =
            needs.of_kind("WorkflowTemplate").flat_map(|object| elements(object, "/spec/templates")).cloned().collect();
        for template in templates {
            let Some(container) = template.get("container") else { continue };
            let account = template.get("serviceAccountName").cloned().unwrap_or_default();
            let role = format!("step {}", text_at(&template, "/name"));
            let spec = serde_json::json!({ "containers": [container], "serviceAccountName": account });
            let (benchmark, case) = (String::new(), String::new());
            needs.pods.push(PodNeed { benchmark, case, lanes: 1, role, replicas: 1, spec });
        }
        needs
    }

    /// Returns the objects of `kind` that git owns.
    pub(crate) fn of_kind<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Json> + 's {
        self.objects.iter().filter(move |object| text_at(object, "/kind") == kind)
    }

    /// Returns the names of the objects of `kind` that git owns.
    pub(crate) fn names(&self, kind: &str) -> BTreeSet<String> {
        self.of_kind(kind).map(|object| text_at(object, "/metadata/name").to_owned()).collect()
    }

    fn add_runs(&mut self, config: &Config) {
        let owner = Owner { name: "", uid: "" };
        let naming = Naming { session: Session::Once, owner, pods: PodMetadata::NONE };
        let benchmark = &config.list.benchmark;
        let mut seen = BTreeSet::new();
        let lanes = config.list.parallelism.max(1);
        let mut jobs = Vec::new();
        for run in config.list.runs.iter().filter(|run| seen.insert(run.case.clone())) {
            let case = config.list.cases.get(&run.case).map_or("", |case| case.name.as_str());
            if let Ok(created) = config.objects(&run.id, 1, &naming) {
                self.created.extend(created.before.iter().map(kind_of));
                jobs.push((case, lanes, created.workload));
            }
            jobs.extend(config.postprocess(&run.id, 1, &naming).ok().flatten().map(|job| ("", lanes, job)));
        }
        for id in config.list.servers.keys() {
            if let Ok(created) = config.server(id, &naming) {
                self.created.extend(created.before.iter().map(kind_of));
                jobs.push(("", 1, created.workload));
            }
        }
        jobs.extend(config.prepare(&naming).ok().flatten().map(|job| ("", 1, job)));
        for (case, lanes, job) in jobs {
            self.created.insert(kind_of(&job));
            for set in pod_sets(&job) {
                let spec = job.pointer(&set.pod()).cloned().unwrap_or_default();
                let PodSet { role, replicas, .. } = set;
                self.pods.push(PodNeed {
                    benchmark: benchmark.clone(),
                    case: case.to_owned(),
                    lanes,
                    role,
                    replicas,
                    spec,
                });
            }
        }
    }
}

fn kind_of(object: &Json) -> (String, String) {
    (text_at(object, "/apiVersion").to_owned(), text_at(object, "/kind").to_owned())
}

impl PodNeed {
    /// Returns what it is, for people.
    pub(crate) fn name(&self) -> String {
        match (self.benchmark.as_str(), self.case.as_str()) {
            ("", _) => self.role.clone(),
            (benchmark, "" | "default") => format!("{} of {benchmark}", self.role),
            (benchmark, case) => format!("{} of {benchmark} ({case})", self.role),
        }
    }

    /// Returns its containers, those of its start too.
    pub(crate) fn containers(&self) -> impl Iterator<Item = &Json> {
        elements(&self.spec, "/containers").chain(elements(&self.spec, "/initContainers"))
    }

    /// Returns what the scheduler sets aside for one of these pods, by resource: a limit without a request is both.
    pub(crate) fn requests(&self) -> BTreeMap<String, f64> {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for container in elements(&self.spec, "/containers") {
            for (name, amount) in amounts(container) {
                *sums.entry(name).or_default() += amount;
            }
        }
        for container in elements(&self.spec, "/initContainers") {
            for (name, amount) in amounts(container) {
                let sum = sums.entry(name).or_default();
                *sum = sum.max(amount);
            }
        }
        sums
    }

    /// Returns the sum of the limits of one of these pods, by resource.
    pub(crate) fn limits(&self) -> BTreeMap<String, f64> {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for container in elements(&self.spec, "/containers") {
            for (name, value) in entries(container, "/resources/limits") {
                *sums.entry(name).or_default() += value;
            }
        }
        sums
    }
}

/// Returns what a container asks for.
pub(super) fn amounts(container: &Json) -> BTreeMap<String, f64> {
    let mut amounts: BTreeMap<String, f64> = entries(container, "/resources/limits").collect();
    amounts.extend(entries(container, "/resources/requests"));
    amounts
}

/// Returns the quantities of a mapping.
pub(super) fn entries<'a>(object: &'a Json, at: &str) -> impl Iterator<Item = (String, f64)> + 'a {
    let map = object.pointer(at).and_then(Json::as_object).into_iter().flatten();
    map.filter_map(|(name, value)| Some((name.clone(), quantity(value)?)))
}

/// Reads a quantity.
pub(super) fn quantity(value: &Json) -> Option<f64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Quantity::parse(&text).ok().map(|quantity| quantity.as_f64())
}

/// Reads the YAML of one object.
fn parsed(body: &str) -> Option<Json> {
    yaml::read(SourceId(0), &Source::new("", body.as_bytes())).root.map(|root| root.to_json())
}

/// Reads the immutable ConfigMap of a benchmark.
fn run_list(object: &Json) -> Option<Config> {
    let data = object.get("data")?.as_object().filter(|data| data.contains_key("runs.json"))?;
    let files = data.iter().filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect();
    Config::read(files).ok()
}

/// Returns the names of the items of a list.
pub(super) fn names_of(list: &Json) -> BTreeSet<&str> {
    items(list).map(|item| text_at(item, "/metadata/name")).collect()
}
