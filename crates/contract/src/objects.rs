//! The objects that a step creates: those of a case under the name and the labels of one run.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::Fault;
use super::Run;
use super::config::{Case, Config, Described, StepJob, text};
use super::instance::{self, Attempt, Owner, Session, job_name, label_at, name_at, own};
use super::{PodMetadata, text_at};
use kubebench_syntax::diag::Diagnostic;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

/// The separator between two documents of a manifest.
const BETWEEN: &str = "\n---\n";

/// What names and owns the objects of one Workflow.
#[derive(Clone, Copy, Debug)]
pub struct Naming<'a> {
    /// Whose execution it is.
    pub session: Session<'a>,
    /// The Workflow.
    pub owner: Owner<'a>,
    /// What its pods carry.
    pub pods: &'a PodMetadata,
}

/// The objects of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// What the workload needs, to be created before it.
    pub before: Vec<Json>,
    pub workload: Json,
    /// JSON Pointers into the workload to what takes the address of the server that it loads.
    pub endpoint_at: Vec<String>,
}

impl Created {
    /// Passes the address of the server to the workload.
    pub fn load(&mut self, endpoint: &str) {
        name_at(&mut self.workload, &self.endpoint_at, endpoint);
    }
}

impl Config {
    /// Returns the name of the job of an attempt at `run`.
    pub fn job_of(&self, run: &Run, attempt: u32, session: Session<'_>) -> String {
        self.name(&run.case, &run.round(), attempt, session)
    }

    /// Returns the objects of an attempt at the run `id`.
    ///
    /// # Errors
    /// When there is no such run, or its manifest cannot be used.
    pub fn objects(&self, id: &str, attempt: u32, naming: &Naming<'_>) -> Result<Created, Fault> {
        let (run, case) = self.run(id)?;
        let job = self.job_of(run, attempt, naming.session);
        let labels = Attempt { job: &job, repeat: run.repeat, number: attempt, warmup: run.warmup };
        let created = self.created(&case.manifest, &case.objects, &job, labels, naming)?;
        self.with_server(created, case, naming)
    }

    /// Passes the name of the server that it loads to the workload of `case`.
    ///
    /// # Errors
    /// When the manifest of the server cannot be used.
    fn with_server(&self, mut created: Created, case: &Case, naming: &Naming<'_>) -> Result<Created, Fault> {
        if let (Some(server), Some(Described { server_at, .. })) = (&case.server, case.objects.first()) {
            // One that keeps its name has that in its manifest.
            let server = self.server(server, naming)?.workload;
            name_at(&mut created.workload, server_at, text_at(&server, "/metadata/name"));
        }
        Ok(created)
    }

    /// Returns the name of a server.
    pub fn server_name(&self, id: &str, session: Session<'_>) -> String {
        instance::server_name(&self.list.benchmark, &self.list.run_digest, id, session)
    }

    /// Returns the objects of a server.
    ///
    /// # Errors
    /// If there is no server of this id, or its manifest cannot be used.
    pub fn server(&self, id: &str, naming: &Naming<'_>) -> Result<Created, Fault> {
        let missing = || Fault::Missing { file: format!("{id}.server.yaml") };
        let server = self.list.servers.get(id).ok_or_else(missing)?;
        let name = self.server_name(id, naming.session);
        let labels = Attempt { job: &name, repeat: 1, number: 1, warmup: false };
        self.created(&server.manifest, &server.objects, &name, labels, naming)
    }

    /// Returns the Job that loads the server of the run `id` for the time `number` before it is measured.
    ///
    /// # Errors
    /// When there is no such run, or its manifest cannot be used.
    pub fn warmup(&self, id: &str, attempt: u32, number: u32, naming: &Naming<'_>) -> Result<Created, Fault> {
        let (run, case) = self.run(id)?;
        let name = self.name(&run.case, &format!("{}-warmup-{number}", run.round()), attempt, naming.session);
        let labels = Attempt { job: &name, repeat: number, number: attempt, warmup: true };
        let created = self.created(&case.manifest, &case.objects, &name, labels, naming)?;
        self.with_server(created, case, naming)
    }

    /// Returns API version and kind of the jobs of its runs, and of the servers that they load, as far as their manifests can be read.
    pub fn kinds(&self) -> BTreeSet<(String, String)> {
        let of_cases = self.list.cases.values().map(|case| &case.manifest);
        let of_servers = self.list.servers.values().map(|server| &server.manifest);
        let manifests = of_cases.chain(of_servers).filter_map(|file| text(&self.files, file).ok());
        let workloads = manifests.filter_map(|text| documents(text.split(BETWEEN).next()?).ok()?.into_iter().next());
        let name = |object: &Json, at: &str| text_at(object, at).to_owned();
        workloads.map(|object| (name(&object, "/apiVersion"), name(&object, "/kind"))).collect()
    }

    /// Returns the Job after an attempt at the run `id`, if there is one. It carries the labels of the run.
    ///
    /// # Errors
    /// When there is no such run, or the Job's manifest cannot be used.
    pub fn postprocess(&self, id: &str, attempt: u32, naming: &Naming<'_>) -> Result<Option<Json>, Fault> {
        let (run, case) = self.run(id)?;
        let Some(StepJob { manifest, objects }) = &case.postprocess else { return Ok(None) };
        let job = self.job_of(run, attempt, naming.session);
        let name = self.name(&run.case, &format!("{}-postprocess", run.round()), attempt, naming.session);
        let labels = Attempt { job: &job, repeat: run.repeat, number: attempt, warmup: run.warmup };
        self.created(manifest, objects, &name, labels, naming).map(|created| Some(created.workload))
    }

    /// Returns the name of the Job before the runs, which is that of the session's folder.
    pub fn prepare_name(&self, session: Session<'_>) -> String {
        self.name("", "prepare", 1, session)
    }

    /// Returns the Job before the runs, if there is one.
    ///
    /// # Errors
    /// When its manifest cannot be used.
    pub fn prepare(&self, naming: &Naming<'_>) -> Result<Option<Json>, Fault> {
        let Some(StepJob { manifest, objects }) = &self.list.prepare else { return Ok(None) };
        let name = self.prepare_name(naming.session);
        let labels = Attempt { job: &name, repeat: 1, number: 1, warmup: false };
        self.created(manifest, objects, &name, labels, naming).map(|created| Some(created.workload))
    }

    fn name(&self, case: &str, round: &str, attempt: u32, session: Session<'_>) -> String {
        job_name(&self.list.benchmark, &self.list.run_digest, case, round, attempt, session)
    }

    fn created(
        &self,
        file: &str,
        described: &[Described],
        name: &str,
        labels: Attempt<'_>,
        naming: &Naming<'_>,
    ) -> Result<Created, Fault> {
        let malformed = |reason: String| Fault::Malformed { file: file.to_owned(), reason };
        let mut objects = documents(text(&self.files, file)?).map_err(malformed)?;
        if objects.len() != described.len() || objects.is_empty() {
            let (has, wanted) = (objects.len(), described.len());
            return Err(malformed(format!("it holds {has} objects, but the run list describes {wanted}")));
        }
        for (object, Described { name_at: names, labels_at, .. }) in objects.iter_mut().zip(described) {
            name_at(object, names, name);
            label_at(object, labels_at, &labels.labels());
            naming.pods.add_to(object, labels_at);
            own(object, naming.owner);
        }
        let workload = objects.remove(0);
        let endpoint_at = described
            .first()
            .map(|first| first.endpoint_at.clone())
            .expected("a description of each object, as was compared");
        Ok(Created { before: objects, workload, endpoint_at })
    }
}

/// Reads the documents of a manifest as the compiler wrote it: a line of three dashes occurs only between two documents.
fn documents(text: &str) -> Result<Vec<Json>, String> {
    let mut found = Vec::new();
    for document in text.split(BETWEEN) {
        let source = Source::new("", document.as_bytes());
        let read = yaml::read(SourceId(0), &source);
        let fault = read.diagnostics.into_iter().next().map(|Diagnostic { message, .. }| message);
        match (read.root, fault) {
            (Some(root), None) => found.push(root.to_json()),
            (_, fault) => return Err(fault.unwrap_or_else(|| "a document is empty".to_owned())),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
