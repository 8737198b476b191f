//! Images of a run under Docker or Podman: there before its time is taken, and known by their digests.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{LocalRun, Request};
use crate::local::{Plan, Process};
use kubebench_compiler::model::Role;
use kubebench_host::process::{self, container};

/// How long an image may take to come.
const PULL: Duration = Duration::from_hours(6);

/// Returns the version of the engine by its name; nothing where replicas are processes.
///
/// # Errors
/// When the engine is not there, or does not answer.
pub(super) fn software(request: &Request<'_>) -> Result<BTreeMap<String, String>> {
    let engine = request.engine.name();
    if !request.engine.runs_images() {
        return Ok(BTreeMap::new());
    }
    let path = request.client.get("PATH").map_or("", String::as_str);
    if let Some(problem) = process::find_program(engine, path, request.root) {
        bail!("{problem}; install it, or leave `--engine` out to run programs of this machine");
    }
    match container::version(engine, &request.client) {
        Ok(version) => Ok(BTreeMap::from([(engine.to_owned(), version)])),
        Err(problem) => bail!("{problem}"),
    }
}

impl LocalRun<'_> {
    /// Sees that the images of `roles` are on this machine; returns why one is not.
    pub(super) fn bring<'r>(&mut self, roles: impl Iterator<Item = &'r Role>) -> Result<Option<String>> {
        if !self.request.engine.runs_images() {
            return Ok(None);
        }
        let engine = self.request.engine.name();
        for image in roles.map(Role::image_name) {
            if self.images.contains_key(&image) {
                continue;
            }
            let mut digest = container::digest(engine, &image, &self.request.client);
            if digest.is_none() {
                self.watcher.tell(&format!("pulling {image}"));
                if let Some(problem) = self.pull(&image)? {
                    return Ok(Some(problem));
                }
                digest = container::digest(engine, &image, &self.request.client);
            }
            match digest {
                Some(digest) => drop(self.images.insert(image, digest)),
                None => return Ok(Some(format!("`{engine} image inspect` does not find {image} after the pull"))),
            }
        }
        Ok(None)
    }

    /// Fetches an image as a process of this session, so that it can be watched and stopped.
    fn pull(&mut self, image: &str) -> Result<Option<String>> {
        let folders = self.new_folders()?;
        self.make(&folders)?;
        let process = Process {
            role: "pull".to_owned(),
            index: 0,
            argv: vec![self.request.engine.name().to_owned(), "pull".to_owned(), image.to_owned()],
            env: self.request.client.clone(),
            decides: true,
            container: None,
        };
        let plan = Plan { processes: vec![process], at_once: 1, config: BTreeMap::new() };
        let waited = self.wait_for(&plan, &folders, PULL)?;
        Ok(self.problem_of(&waited).map(|problem| format!("the image {image} cannot be pulled: {problem}")))
    }
}
