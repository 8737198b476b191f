//! The image of the program under test, on the node of the cluster.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use kubebench_syntax::digest::Digest;

use super::super::Cluster;
use crate::support::judges::tool;
use crate::support::project::{assert_yes, repository};

/// Where containerd of `tests/cluster` listens.
const SOCKET: &str = "/run/kubebench-cluster/containerd/containerd.sock";
/// The one node of `tests/cluster`.
pub(super) const NODE: &str = "node/kubebench-node";
const REPOSITORY: &str = "localhost/kubebench";

/// Returns the name of the image, which is on the node, or why there is none.
///
/// `KUBEBENCH_TEST_IMAGE` names one that somebody has brought there; `KUBEBENCH_TEST_BINARY` is a release build of this
/// checkout, which spares the node the slowness of a debug build.
pub(in crate::cluster) fn image_of_steps(cluster: &Cluster) -> Result<&'static str, &'static str> {
    static IMAGE: LazyLock<Result<String, String>> = LazyLock::new(|| match std::env::var("KUBEBENCH_TEST_IMAGE") {
        Ok(name) if !name.is_empty() => Ok(name),
        _ => Err("set KUBEBENCH_TEST_IMAGE to the name of an image of this program that the nodes have".to_owned()),
    });
    static IMPORTED: LazyLock<String> = LazyLock::new(import);
    match &*IMAGE {
        Ok(name) => Ok(name),
        Err(_) if is_own(cluster) => Ok(&IMPORTED),
        Err(why) => Err(why),
    }
}

/// Returns whether it is the cluster of `tests/cluster` on this machine.
pub(in crate::cluster) fn is_own(cluster: &Cluster) -> bool {
    Path::new(SOCKET).exists() && cluster.kubectl(["get", NODE, "-o", "name"]).status.success()
}

/// Brings an archive to the node of `tests/cluster`.
///
/// Not by `up --image`, which serves the checkout alone that started the cluster.
pub(super) fn bring(archive: &Path) {
    assert_yes(&ctr(&["images", "import", archive.to_str().unwrap()]).output().unwrap());
}

/// Gives the image `name` of the node another name too.
pub(in crate::cluster) fn tag(name: &str, other: &str) {
    assert_yes(&ctr(&["images", "tag", "--force", name, other]).output().unwrap());
}

/// Returns whether the node of `tests/cluster` has the image `name`.
pub(super) fn has(name: &str) -> bool {
    let listed = ctr(&["images", "list", "--quiet"]).output().unwrap();
    assert_yes(&listed);
    String::from_utf8(listed.stdout).unwrap().lines().any(|line| line == name)
}

/// Calls `tests/cluster/image`.
pub(super) fn pack(arguments: &[&str]) {
    let mut command = Command::new(repository().join("tests/cluster/image"));
    assert_yes(&command.args(arguments).stdin(Stdio::null()).output().unwrap());
}

/// The tag says which program it is, so that two versions never mix on a node.
fn import() -> String {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let binary = scratch.path().join("kubebench");
    let built = std::env::var_os("KUBEBENCH_TEST_BINARY").filter(|path| !path.is_empty());
    fs::copy(built.unwrap_or_else(|| env!("CARGO_BIN_EXE_kubebench").into()), &binary).unwrap();
    if let Some(strip) = tool("strip") {
        assert_yes(&Command::new(strip).arg(&binary).output().unwrap());
    }
    let name = format!("{REPOSITORY}:{}", Digest::of(fs::read(&binary).unwrap()).short());
    if !has(&name) {
        let archive = scratch.path().join("kubebench.tar");
        let (binary, output) = (binary.to_str().unwrap(), archive.to_str().unwrap());
        pack(&["kubebench", "--name", &name, "--binary", binary, "--output", output]);
        bring(&archive);
    }
    forget_others(&name);
    name
}

/// Removes the image that an earlier run of this checkout's tests has brought.
fn forget_others(name: &str) {
    let note: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("image-on-node");
    if let Ok(earlier) = fs::read_to_string(&note)
        && earlier != name
        && earlier.starts_with(REPOSITORY)
    {
        // Gone already where the cluster was made again.
        let _ = ctr(&["images", "remove", &earlier]).output();
    }
    fs::write(note, name).unwrap();
}

fn ctr(arguments: &[&str]) -> Command {
    let mut command = Command::new("ctr");
    command.args(["--address", SOCKET, "--namespace", "k8s.io"]).args(arguments).stdin(Stdio::null());
    command
}
