//! `kind: Benchmark`: one document to one benchmark a target, with its cases resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::claim::claim;
use super::project::{Defaults, Project};
use super::roots::{of_case, roots};
use super::variants::{self, PER_CASE, Variant};
use super::{
    Document, Manifests, ReadFile, Suite, Suites, declared, files, gates, literals, lookup_errors, merge_new, metrics,
};
use super::{not_carried, placement, pods, schedule};
use crate::expand::{self, CasePoint};
use crate::guard::{Bounds, Owners};
use crate::lookup::{self, Scope};
use crate::model::{
    Benchmark, Budget, CarriedFiles, Case, Claim, Literal, LongestName, Order, Role, Scaling, StepJob, Target,
    TemplateAt, Unused,
};
use crate::permission;
use crate::workload::{self, Around};
use kubebench_format::result::VARIANT;
use kubebench_format::schema::{DocumentKind, Schemas};
use kubebench_format::spec::v1::benchmark as wire;
use kubebench_format::spec::v1::scalar::{Duration as WireDuration, Quantity};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::Duration;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// The folder of the objects that all benchmarks of a target share; no benchmark may be called so.
pub const RESERVED_NAME: &str = "pipeline";
/// The fields of `spec` that are needed before anything can be looked up.
const WITHOUT_LOOKUPS: [&str; 4] = ["targets", "parameters", "matrix", "lints"];
/// The list whose fields are read with the cases.
const VARIANTS: &str = "variants";
/// Bytes of the workload times cases from which no ConfigMap can hold the jobs, however much of the text is comments.
const MAX_WORKLOAD_TEXT: usize = 8 << 20;
const NO_MATRIX: &[(&str, &str)] = &[
    ("matrix", "this field applies to the whole benchmark, but the matrix differs from case to case"),
    (VARIANT, "this field applies to the whole benchmark, but the variant differs from case to case"),
];
const NO_VARIANT: &[(&str, &str)] = &[(VARIANT, "this benchmark has no `variants`")];

/// What every document is lowered with.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The schemas that accepted it.
    pub schemas: &'a Schemas,
    /// Gives the files that it carries.
    pub read: &'a ReadFile,
    /// The manifests that it names.
    pub manifests: &'a Manifests,
    /// The suites that may run it.
    pub suites: &'a Suites,
    /// The names of all benchmarks and suites.
    pub owners: &'a Owners,
}

/// What one document gave.
#[derive(Debug)]
pub struct Lowered {
    pub name: String,
    /// Where the name is written.
    pub name_span: Span,
    /// One benchmark for each target.
    pub benchmarks: Vec<Resolved>,
}

/// A benchmark on one target.
#[derive(Debug)]
pub struct Resolved {
    /// The model.
    pub benchmark: Benchmark,
    /// The spec as resolved for this target, canonical: large, and needed only until it is written down.
    pub document: Json,
    /// What it may do that a plain one may not.
    pub permissions: Vec<Diagnostic>,
}

/// Returns the benchmarks of `document`, which its schema accepts and which names the manifests at `paths`.
pub fn benchmark(
    document: Document<'_>,
    paths: &BTreeSet<String>,
    project: &Project,
    inputs: Inputs<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Lowered> {
    let Document { root, .. } = document;
    let spec = root.get("spec")?;
    refuse_lookups(document, spec, diagnostics);
    let metadata: wire::Metadata = workload::read(root.get("metadata")?, diagnostics)?;
    let name_span = root.get("metadata")?.get("name")?.span;
    if metadata.name == RESERVED_NAME {
        diagnostics.push(reserved_name("benchmark", name_span));
    }
    let labels: BTreeMap<String, String> = metadata.labels.into_iter().map(|(key, value)| (key, value.0)).collect();
    let variants = variants::variants(document.sources, spec, diagnostics);
    let points = points(spec, &variants, diagnostics);
    if points.len() > expand::MAX_RUNS {
        let span = spec.get("matrix").map_or(name_span, |matrix| matrix.span);
        let what = if spec.get(VARIANTS).is_some() { "the matrix has, with the variants," } else { "the matrix has" };
        let message =
            format!("{what} {} cases, and one Workflow takes at most {} runs", points.len(), expand::MAX_RUNS);
        let fault = Diagnostic::at(&code::KB0416, span, message)
            .note("Argo keeps the state of all runs in one object of limited size");
        diagnostics.push(fault.help("split the benchmark, or leave values out"));
        return None;
    }
    let workloads =
        spec.get("workload").into_iter().chain(variants.iter().filter_map(|variant| variant.get("workload")));
    if let Some(workload) = workloads.max_by_key(|workload| workload.span.range().len()) {
        let bytes = workload.span.range().len();
        if bytes.saturating_mul(points.len()) > MAX_WORKLOAD_TEXT {
            let message = format!("a workload of {} KiB in {} cases is too large", bytes / 1024, points.len());
            let fault = Diagnostic::at(&code::KB0415, workload.span, message)
                .note("the jobs of all cases are in one ConfigMap, and the API server refuses objects over 1 MiB");
            diagnostics.push(fault.help("put scripts and data into the image, or split the benchmark"));
            return None;
        }
    }
    let manifests = inputs.manifests.lookups(paths, document.sources).collect();
    let shared = Shared {
        document,
        spec,
        project,
        inputs,
        name: &metadata.name,
        name_span,
        labels: &labels,
        points: &points,
        unused: declared::unused(document, spec, &manifests),
        scalings: declared::scalings(document, &variants),
        literals: literals::of(document.root, &variants),
        variants,
    };
    let mut benchmarks: Vec<Resolved> = project
        .targets_of(spec, diagnostics)
        .into_iter()
        .filter_map(|target| shared.on_target(target, diagnostics))
        .collect();
    if diagnostics.as_slice().iter().any(|fault| fault.code == &code::KB0302) {
        // What the malformed lookup was meant to name is not known, so nothing is known to be unused.
        for resolved in &mut benchmarks {
            resolved.benchmark.unused.clear();
        }
    }
    Some(Lowered { name: metadata.name.clone(), name_span, benchmarks })
}

/// Says that a document of this kind cannot have the reserved name.
pub(super) fn reserved_name(kind: &str, name_span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0309, name_span, format!("a {kind} cannot be called `{RESERVED_NAME}`"))
        .note("that is the folder of the objects that all benchmarks of a target share")
        .help("choose another name")
}

/// Returns the cases: those of the matrix, in every variant.
pub(super) fn points(spec: &Node, variants: &[Variant], diagnostics: &mut Diagnostics) -> Vec<CasePoint> {
    if spec.get(VARIANTS).is_none() {
        return expand::expand(spec.get("matrix"), diagnostics);
    }
    let names: Vec<Node> = variants.iter().filter_map(|variant| variant.name.clone()).collect();
    expand::expand_variants(spec.get("matrix"), &names, diagnostics)
}

fn refuse_lookups(document: Document<'_>, spec: &Node, diagnostics: &mut Diagnostics) {
    for entry in document.root.entries().iter().filter(|entry| entry.key != "spec") {
        lookup::refuse(
            document.sources,
            &entry.value,
            "identity and labels are read before anything else",
            diagnostics,
        );
    }
    for entry in spec.entries().iter().filter(|entry| WITHOUT_LOOKUPS.contains(&entry.key.as_str())) {
        lookup::refuse(
            document.sources,
            &entry.value,
            "expressions refer to targets, parameters and the matrix",
            diagnostics,
        );
    }
}

/// What all targets of one document share.
struct Shared<'a> {
    document: Document<'a>,
    spec: &'a Node,
    project: &'a Project,
    inputs: Inputs<'a>,
    name: &'a str,
    name_span: Span,
    labels: &'a BTreeMap<String, String>,
    points: &'a [CasePoint],
    variants: Vec<Variant>,
    unused: Vec<Unused>,
    scalings: Vec<Scaling>,
    literals: Vec<Literal>,
}

impl Shared<'_> {
    fn on_target(&self, target: Arc<Target>, diagnostics: &mut Diagnostics) -> Option<Resolved> {
        let scope = Scope::new(self.roots(&target), NO_MATRIX);
        let mut found = Diagnostics::default();
        let is_kept = |entry: &Entry| {
            let key = entry.key.as_str();
            PER_CASE.contains(&key) || WITHOUT_LOOKUPS.contains(&key) || key == VARIANTS
        };
        let resolved = self.with_spec(|entry| {
            (!is_kept(entry)).then(|| lookup::resolve(self.document.sources, &entry.value, &scope, &mut found))
        });
        let looked_up = self.spec.entries().iter().any(|entry| !is_kept(entry) && lookup::mentions_any(&entry.value));
        let sound = !found.has_errors() && (!looked_up || self.revalidate(&resolved, &scope, &mut found));
        merge_new(diagnostics, found);
        let mut permissions = Vec::new();
        let case = |point| self.case(point, &target, diagnostics, &mut permissions);
        let mut cases: Vec<Case> = self.points.iter().filter_map(case).collect();
        cases.shrink_to_fit();
        if !sound {
            return None;
        }
        let files = self.files(&target, diagnostics);
        let prepare = resolved.get("spec").and_then(|spec| spec.get("prepare"));
        let bounds = self.bounds(&target);
        let look = |bounds: Bounds<'_>, of: &str, node: &Node, diagnostics: &mut Diagnostics| {
            let mut found = Diagnostics::default();
            bounds.check_as(of, node, &mut found);
            let asked = permission::split(&mut found);
            diagnostics.extend(found);
            asked
        };
        permissions.extend(prepare.into_iter().flat_map(|node| look(bounds, "", node, diagnostics)));
        // Permissions that are requested there belong to the target, not to each of its benchmarks.
        let of_steps = Bounds { user_of_steps: None, ..bounds };
        for (bounds, pods) in [(bounds, &target.pods), (of_steps, &target.steps.pods)] {
            pods.written.iter().for_each(|node| drop(look(bounds, "pod", node, diagnostics)));
        }
        let document: wire::Benchmark = workload::read(&resolved, diagnostics)?;
        let spec_node = resolved.get("spec")?;
        let wire::BenchmarkSpec {
            extends: _,
            description,
            targets: _,
            run,
            schedule,
            parameters: _,
            matrix: _,
            repeats,
            warmups,
            order,
            parallelism,
            timeout: _,
            queue_timeout,
            budget,
            workload: _,
            placement: _,
            variants: _,
            metrics,
            checks,
            gates,
            fixtures,
            inputs: _,
            prepare,
            postprocess: _,
            results,
            lints: _,
        } = document.spec;
        let schedule = schedule::schedule(schedule, spec_node, diagnostics);
        let suite = self.suite(&target);
        if let Some(suite) = suite {
            suite.check_benchmark(self.name, self.spec, diagnostics);
        }
        let defaults = self.defaults(&target);
        let key_span = |node: Option<&Node>, field: &str| {
            node.and_then(|node| node.entry(field)).map_or(self.name_span, |entry| entry.key_span)
        };
        let run = run.map_or(1, |run| run.0);
        let results = results.unwrap_or_default();
        let benchmark = Benchmark {
            name: self.name.to_owned(),
            name_span: self.name_span,
            path: self.document.path().to_owned(),
            description: description.map(|text| text.0),
            spec_digest: self.document.digest(),
            labels: self.labels(&target),
            suite: suite.map(|suite| suite.name.clone()),
            run: suite.map_or(run, |suite| suite.run(run)),
            schedule: suite.map_or(schedule, |suite| suite.schedule().cloned()),
            repeats: repeats.map_or(defaults.repeats, |count| count.0),
            warmups: warmups.map_or(defaults.warmups, |count| count.0),
            order: match order {
                Some(wire::Order::Grouped) => Order::Grouped,
                Some(wire::Order::Interleaved) | None => Order::Interleaved,
            },
            parallelism: parallelism.map_or(1, |count| count.0),
            parallelism_span: key_span(Some(spec_node), "parallelism"),
            timeout_is_set: defaults.timeout_is_set
                || self.variants.iter().all(|variant| variant.get("timeout").is_some()),
            queue_timeout: queue_timeout.map_or(defaults.queue_timeout, |timeout| timeout.0),
            budget: lower_budget(budget.as_ref(), spec_node),
            cases,
            metrics: metrics::metrics(&metrics, spec_node, self.document.sources, diagnostics),
            queries: metrics::queries(spec_node),
            references: metrics::references(&metrics, &checks, &gates, spec_node, diagnostics)
                .into_iter()
                .chain(metrics::references_of(spec_node))
                .collect(),
            gates: gates::gates(&gates, &metrics, spec_node, diagnostics),
            fixtures: metrics::fixtures(fixtures, spec_node),
            files,
            prepare: prepare.map(|job| step_job("prepare", job, spec_node.entry("prepare"), &target)),
            claim: match suite {
                Some(suite) => suite.claim(&target, self.project),
                None => self.claim(results.claim.unwrap_or_default(), spec_node, &target),
            },
            mount_in_job: results.mount_in_job.is_some_and(|flag| flag.0) || self.keeps_what_it_executes(),
            mount_in_job_span: key_span(spec_node.get("results"), "mountInJob"),
            log_limit: log_limit(results.log_limit.as_ref(), spec_node, diagnostics),
            unused: self.unused.clone(),
            scalings: self.scalings.clone(),
            literals: self.literals.clone(),
            target,
        };
        let mut found = Diagnostics::default();
        not_carried::report(&benchmark, (self.inputs.read, &self.project.settings.output), &mut found);
        merge_new(diagnostics, found);
        Some(Resolved { benchmark, document: resolved.to_json(), permissions })
    }

    /// The executed notebook is written to the volume.
    fn keeps_what_it_executes(&self) -> bool {
        self.variants.iter().filter_map(Variant::form).any(|form| form.key == "notebook")
    }

    fn files(&self, target: &Target, diagnostics: &mut Diagnostics) -> CarriedFiles {
        let scope = Scope::new(self.roots(target), files::NO_MATRIX);
        let place = (self.inputs.read, self.project.settings.output.as_str());
        let mut of_all = Vec::new();
        for workload in self.variants.iter().filter_map(|variant| variant.get("workload")) {
            let mut found = Diagnostics::default();
            of_all.push(files::carried(self.document, workload, &scope, place, &mut found));
            merge_new(diagnostics, found);
        }
        files::together(of_all, diagnostics)
    }

    fn case(
        &self,
        point: &CasePoint,
        target: &Target,
        diagnostics: &mut Diagnostics,
        permissions: &mut Vec<Diagnostic>,
    ) -> Option<Case> {
        let variant = self.variants.iter().find(|variant| variant.name == point.variant)?;
        let mut roots = self.roots(target);
        roots.extend(of_case(point));
        let scope = Scope::new(roots, if point.variant.is_none() { NO_VARIANT } else { &[] });
        let mut found = Diagnostics::default();
        let resolved = self.case_document(&variant.fields, |entry| {
            lookup::resolve(self.document.sources, &entry.value, &scope, &mut found)
        });
        let looks_up = variant.fields.iter().any(|field| lookup::mentions_any(&field.value));
        // What a variant says is complete, and so can be validated, only together with what it overrides.
        let is_new = looks_up || point.variant.is_some();
        let sound = !found.has_errors() && (!is_new || self.revalidate(&resolved, &scope, &mut found));
        let spec = resolved.get("spec")?;
        let timeout = match spec.get("timeout") {
            Some(node) if sound => workload::read::<WireDuration>(node, &mut found)?.0,
            Some(_) | None => self.defaults(target).timeout,
        };
        let workload = spec.get("workload")?;
        let documents = self.inputs.manifests.objects(self.document, workload, &scope, &mut found);
        let around = Around { target, timeout, documents: documents.as_deref() };
        let mut lowered = if sound { workload::lower(workload, around, &mut found) } else { None };
        if let Some(lowered) = &mut lowered {
            pods::put_under(lowered, target);
            if let Some(list) = spec.get("placement") {
                placement::add(lowered, list, &mut found);
            }
        }
        if sound {
            let bounds = Bounds { objects: documents.as_deref().unwrap_or_default(), ..self.bounds(target) };
            bounds.check_workload(workload, &mut found);
            if let Some(job) = spec.get("postprocess") {
                bounds.check(job, &mut found);
            }
        }
        let postprocess = match spec.entry("postprocess") {
            Some(entry) if sound => workload::read::<wire::StepJob>(&entry.value, &mut found)
                .map(|job| step_job("postprocess", job, Some(entry), target)),
            Some(_) | None => None,
        };
        if let (Some(lowered), Some(entry)) = (&lowered, workload.entries().first()) {
            let apis = std::iter::once(&lowered.api).chain(lowered.supporting.iter().map(|supporting| &supporting.api));
            permissions.extend(apis.filter_map(|api| permission::rule(api, entry.key_span)));
        }
        permissions.extend(permission::split(&mut found));
        let in_case = self.points.len() > 1;
        merge_new(
            diagnostics,
            found.into_iter().map(|fault| {
                if in_case && is_new && fault.related.is_empty() {
                    fault.note(format!("in the case {}", point.name))
                } else {
                    fault
                }
            }),
        );
        Some(Case {
            id: point.id.clone(),
            name: point.name.clone(),
            values: point
                .dimensions()
                .into_iter()
                .map(|(axis, value)| (axis, expand::unquoted(value).to_json()))
                .collect(),
            workload: lowered?,
            timeout,
            inputs: spec.get("inputs").map_or(Json::Null, canonical_inputs),
            postprocess,
        })
    }

    /// Checks the schema again with values instead of lookups; returns true if everything is valid.
    fn revalidate(&self, resolved: &Node, scope: &Scope, diagnostics: &mut Diagnostics) -> bool {
        let found = self.inputs.schemas.validate(DocumentKind::Benchmark, self.document.sources, resolved);
        let sound = found.is_empty();
        merge_new(
            diagnostics,
            found.into_iter().map(|fault| lookup_errors::at_value(fault, self.document.sources, self.spec, scope)),
        );
        sound
    }

    /// Returns the document with the fields of `spec` for which `replace` gives a value replaced.
    fn with_spec(&self, mut replace: impl FnMut(&Entry) -> Option<Node>) -> Node {
        let mut root = self.document.root.clone();
        if let Value::Map(entries) = &mut root.value
            && let Some(spec) = entries.iter_mut().find(|entry| entry.key == "spec")
            && let Value::Map(fields) = &mut spec.value.value
        {
            for field in fields {
                if let Some(value) = replace(field) {
                    field.value = value;
                }
            }
        }
        root
    }

    /// Returns the document with only the `fields` of a case under `spec`, each resolved by `resolve`.
    fn case_document(&self, fields: &[Entry], mut resolve: impl FnMut(&Entry) -> Node) -> Node {
        let entry = |entry: &Entry, value: Node| Entry { key: entry.key.clone(), key_span: entry.key_span, value };
        let fields = fields.iter().map(|field| entry(field, resolve(field))).collect();
        let spec = Node { span: self.spec.span, value: Value::Map(fields) };
        let entries = self.document.root.entries().iter();
        let entries =
            entries.map(|top| entry(top, if top.key == "spec" { spec.clone() } else { top.value.clone() })).collect();
        Node { span: self.document.root.span, value: Value::Map(entries) }
    }

    fn bounds<'b>(&'b self, target: &'b Target) -> Bounds<'b> {
        let settings = &self.project.settings;
        Bounds {
            benchmark: self.name,
            target: &target.name,
            user_of_steps: target.user_of_steps().filter(|_| !target.has_one_user()),
            pod_security: target.pod_security,
            results: &settings.results,
            kinds: &settings.allow_kinds,
            audiences: &target.token_audiences,
            owners: self.inputs.owners,
            objects: &[],
        }
    }

    fn roots(&self, target: &Target) -> Vec<(&'static str, Node)> {
        roots(self.spec, self.name, &self.labels(target), (self.project, target), self.suite(target))
    }

    /// Returns the suite that runs the benchmark on `target`.
    fn suite(&self, target: &Target) -> Option<&Suite> {
        self.inputs.suites.of(self.name, target)
    }

    fn labels(&self, target: &Target) -> BTreeMap<String, String> {
        self.suite(target).map_or_else(|| self.labels.clone(), |suite| suite.labels(self.labels))
    }

    fn defaults(&self, target: &Target) -> Defaults {
        let of_project = &self.project.defaults;
        self.suite(target).map_or_else(|| of_project.clone(), |suite| suite.defaults(of_project))
    }

    fn claim(&self, wire: wire::Claim, spec: &Node, target: &Target) -> Claim {
        let entry = spec.get("results").and_then(|results| results.entry("claim"));
        let span = entry.map_or(self.name_span, |entry| entry.key_span);
        claim(wire, span, self.project.defaults.claim_size, target)
    }
}

/// Returns what the runs read, by what it means: text is text however it is written, and nothing said is nothing.
fn canonical_inputs(node: &Node) -> Json {
    let leaf = |node: &Node| node.as_text().map_or(Json::Null, Json::from);
    let fields = node.entries().iter().map(|entry| {
        let value = match &entry.value.value {
            Value::Map(fields) => {
                Json::Object(fields.iter().map(|field| (field.key.clone(), leaf(&field.value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Seq(_) => leaf(&entry.value),
        };
        (entry.key.clone(), value)
    });
    let fields: serde_json::Map<String, Json> = fields.collect();
    if fields.is_empty() { Json::Null } else { Json::Object(fields) }
}

/// The least log that is worth keeping.
const LEAST_LOG: u64 = 64 << 10;

/// Returns the limit of kept logs in bytes.
fn log_limit(limit: Option<&Quantity>, spec: &Node, diagnostics: &mut Diagnostics) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "quantities are not negative, and saturate"
    )]
    let bytes = limit?.0.as_f64() as u64;
    if bytes < LEAST_LOG {
        let place = spec.get("results").and_then(|results| results.get("logLimit")).map_or(spec.span, |node| node.span);
        diagnostics.push(
            Diagnostic::at(&code::KB0206, place, "less than 64Ki of a log does not show why a run failed")
                .help("write `logLimit: 64Ki` or more, such as `100Mi`"),
        );
    }
    Some(bytes)
}

fn lower_budget(wire: Option<&wire::Budget>, spec: &Node) -> Budget {
    let Some(wire::Budget { gpu_hours, cost }) = wire else { return Budget::default() };
    let span = |field: &str| {
        spec.get("budget").map_or(spec.span, |budget| budget.get(field).map_or(budget.span, |node| node.span))
    };
    Budget {
        gpu_hours: gpu_hours.map(|limit| (limit.0, span("gpuHours"))),
        cost: cost.map(|limit| (limit.0, span("cost"))),
    }
}

fn step_job(name: &str, wire: wire::StepJob, entry: Option<&Entry>, target: &Target) -> StepJob {
    let wire::StepJob { image, command, args, env, resources, timeout } = wire;
    let span = entry.map_or(Span::default(), |entry| entry.key_span);
    let at = |field: &str| entry.and_then(|entry| entry.value.entry(field));
    let resources = resources.unwrap_or_default();
    StepJob {
        timeout: timeout.map_or(Duration::DAY, |timeout| timeout.0),
        role: Role {
            name: name.to_owned(),
            span,
            replicas: 1,
            max_replicas: 1,
            completions: 1,
            replicas_span: span,
            container_name: "main".into(),
            template_at: TemplateAt::fields(["template"]),
            longest_name: LongestName::of_pod(String::new()),
            restart_policy: Some("Never"),
            needs_token: false,
            service_account: None,
            serves: None,
            of_server: Vec::new(),
            deadline: None,
            image: Some(image.0),
            image_span: at("image").map_or(span, |entry| entry.value.span),
            command: workload::texts(command),
            args: workload::texts(args),
            word_spans: ["command", "args"].map(|field| workload::spans(at(field).map(|entry| &entry.value))),
            env: workload::env_of(env, |name| {
                at("env").and_then(|env| env.value.get(name)).map_or(span, |node| node.span)
            }),
            requests: resources.requests.into_iter().map(|(name, amount)| (name, amount.0)).collect(),
            limits: resources.limits.into_iter().map(|(name, amount)| (name, amount.0)).collect(),
            resources_span: at("resources").map(|entry| entry.key_span),
            request_spans: at("resources")
                .into_iter()
                .flat_map(|entry| workload::request_spans(&entry.value))
                .collect(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            pod_patches: target.pods.spec.iter().cloned().collect(),
            container_patches: Vec::new(),
            expand_variables: false,
        },
    }
}
