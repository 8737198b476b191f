//! A replica as a container of this machine: the engine's client takes the place of the program.
//!
//! Inside, everything is where it is in a cluster. Values of variables are in the client's environment and only their names in
//! its arguments, so that no list of processes shows a secret.

use std::collections::BTreeMap;

use super::{Folders, Process};
use kubebench_compiler::model::{Role, carried};

/// What runs the replicas of a local run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The programs of this machine.
    #[default]
    Process,
    /// The images, with Docker.
    Docker,
    /// The images, with Podman.
    Podman,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Process, Self::Docker, Self::Podman];

    /// Returns its name, which is the name of its program too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// Returns true when images are run.
    pub fn runs_images(self) -> bool {
        self != Self::Process
    }
}

/// How containers are started here.
#[derive(Clone, Debug)]
pub struct Containers {
    /// Docker or Podman.
    pub engine: Engine,
    /// The environment of the engine's client.
    pub client: BTreeMap<String, String>,
    /// User and group, so that files belong to the user who runs the benchmark.
    pub user: (u32, u32),
    /// The run's folders as this machine knows them.
    pub host: Folders,
}

/// Returns true for a variable that the client of an engine reads itself.
pub fn is_of_client(name: &str) -> bool {
    let names = [
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "TMPDIR",
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "REGISTRY_AUTH_FILE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
    ];
    let prefixes = ["DOCKER_", "CONTAINER_", "CONTAINERS_", "PODMAN_", "XDG_"];
    names.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns `process` of `role` as a container; `inside` are the run's folders as the container knows them.
pub(super) fn contained(process: Process, role: &Role, inside: &Folders, containers: &Containers) -> Process {
    let Containers { engine, client, user: (user, group), host } = containers;
    let name = format!("{}-{}-{}", host.id, process.role, process.index);
    let mut words = vec![engine.name().to_owned()];
    let mut add = |part: &[&str]| words.extend(part.iter().map(|word| (*word).to_owned()));
    // The image is here already; to wait for another one would be measured.
    add(&[
        "run",
        "--rm",
        "--pull",
        "never",
        "--name",
        &name,
        "--network",
        "host",
        "--user",
        &format!("{user}:{group}"),
    ]);
    // Where SELinux labels files, a container could not read ours.
    add(&["--security-opt", "label=disable"]);
    if *engine == Engine::Podman && *user != 0 {
        add(&["--userns", "keep-id"]);
    }
    add(&["--mount", &mount(&host.root, &inside.root, Access::Write)]);
    add(&["--mount", &mount(&host.data, &inside.data, Access::Write)]);
    add(&["--mount", &mount(&host.files, carried::FOLDER, Access::Read)]);
    add(&accelerators(*engine, role));
    let mut env = client.clone();
    for (name, value) in process.env {
        // The client must not take what is meant for the container.
        if is_of_client(&name) && client.get(&name) != Some(&value) {
            add(&["--env", &format!("{name}={value}")]);
        } else {
            add(&["--env", &name]);
            env.insert(name, value);
        }
    }
    let mut rest = process.argv.as_slice();
    if let (false, Some((program, arguments))) = (role.command.is_empty(), process.argv.split_first()) {
        add(&["--entrypoint", program]);
        rest = arguments;
    }
    add(&[&role.image_name()]);
    words.extend(rest.iter().cloned());
    Process { argv: words, env, container: Some(name), ..process }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// Writes a mount as the clients read it: a line of CSV.
fn mount(source: &str, target: &str, access: Access) -> String {
    let field = |key: &str, value: &str| {
        let text = format!("{key}={value}");
        if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    };
    let end = if access == Access::Read { ",readonly" } else { "" };
    format!("type=bind,{},{}{end}", field("source", source), field("target", target))
}

/// Returns what a role that asks for accelerators needs: all of the machine, and the shared memory that a pod would get.
fn accelerators(engine: Engine, role: &Role) -> Vec<&'static str> {
    let asks = |vendor: &str| role.extended_resources().any(|(name, _)| name.starts_with(vendor));
    let mut words = Vec::new();
    if asks("nvidia.com/") {
        let all: &[&str] =
            if engine == Engine::Docker { &["--gpus", "all"] } else { &["--device", "nvidia.com/gpu=all"] };
        words.extend(all);
    }
    if asks("amd.com/") {
        words.extend(["--device", "/dev/kfd", "--device", "/dev/dri"]);
    }
    if role.accelerators() > 0.0 {
        words.extend(["--ipc", "host"]);
    }
    words
}
