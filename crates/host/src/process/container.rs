//! What is asked of the client of Docker or Podman besides starting containers.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;

use crate::program;

/// A client that does not answer is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Removes a container, running or not; that it is gone already is no fault.
pub(super) fn remove(engine: &str, name: &str, env: &BTreeMap<String, String>) {
    // Readers of the output of the replica shall not read this.
    let _ = ask(engine, &["rm", "--force", name], env);
}

/// Returns the user and the group as which this process acts.
pub fn user() -> (u32, u32) {
    (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw())
}

/// Returns the version of the engine.
///
/// # Errors
/// Why it cannot be used.
pub fn version(engine: &str, env: &BTreeMap<String, String>) -> Result<String, String> {
    // Podman has no server where it runs containers itself.
    let format = if engine == "podman" { "{{.Client.Version}}" } else { "{{.Server.Version}}" };
    ask(engine, &["version", "--format", format], env)
}

/// Returns the digest of `image` as it is on this machine; none when it is not here.
pub fn digest(engine: &str, image: &str, env: &BTreeMap<String, String>) -> Option<String> {
    let text = ask(engine, &["image", "inspect", "--format", "{{json .RepoDigests}} {{.Id}}", image], env).ok()?;
    let (digests, id) = text.rsplit_once(' ')?;
    let digests: Vec<String> = serde_json::from_str::<Json>(digests).ok().and_then(|list| {
        let list = list.as_array()?.iter().filter_map(Json::as_str).map(str::to_owned);
        Some(list.collect())
    })?;
    Some(observed(image, &digests, id))
}

/// Chooses what identifies the image best: what the registry calls it, or the digest of its configuration.
fn observed(image: &str, digests: &[String], id: &str) -> String {
    let split = |text: &str| text.split_once('@').map(|(name, digest)| (name.to_owned(), digest.to_owned()));
    let mut known: Vec<(String, String)> = digests.iter().filter_map(|text| split(text)).collect();
    // One image may come from several registries: the one that was asked for is meant.
    known.sort_by_key(|(name, _)| !image.starts_with(name.as_str()) && !image.ends_with(name.as_str()));
    match (split(image), known.first()) {
        (Some((_, wanted)), _) if known.iter().any(|(_, digest)| *digest == wanted) => wanted,
        (_, Some((_, digest))) => digest.clone(),
        (_, None) if id.contains(':') => id.to_owned(),
        (_, None) => format!("sha256:{id}"),
    }
}

/// Returns what the client prints.
///
/// # Errors
/// The last thing that it said.
fn ask(engine: &str, arguments: &[&str], env: &BTreeMap<String, String>) -> Result<String, String> {
    let output =
        program::ask(Command::new(engine).args(arguments).env_clear().envs(env).stderr(Stdio::piped()), PATIENCE)
            .map_err(|error| format!("`{engine}` cannot be started: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = text(&output.stderr);
    let last = said.lines().next_back().unwrap_or("it printed nothing");
    Err(format!("`{engine} {}` failed: {last}", arguments.first().unwrap_or(&"")))
}

#[cfg(test)]
mod tests {
    use super::observed;

    #[test]
    fn the_digest_that_was_asked_for() {
        let digests = ["mirror.example/a/b@sha256:1".to_owned(), "registry.example/b@sha256:2".to_owned()];
        assert_eq!(observed("registry.example/b:1", &digests, "sha256:9"), "sha256:2");
        assert_eq!(observed("registry.example/b@sha256:1", &digests, "sha256:9"), "sha256:1");
        assert_eq!(observed("docker.io/library/c:1", &digests, "sha256:9"), "sha256:1");
        assert_eq!(observed("docker.io/library/c:1", &["c@sha256:3".to_owned()], "9"), "sha256:3");
        assert_eq!(observed("made-here:1", &[], "9"), "sha256:9");
        assert_eq!(observed("made-here:1", &[], "sha256:9"), "sha256:9");
    }
}
