//! KB0408: patches that take `/dev/shm` from pods with accelerators.

use super::pods::{self, Patches};
use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Value};

/// The memory volume that is added to roles with accelerators.
const VOLUME: &str = "dshm";
const MOUNT: &str = "/dev/shm";

/// Reports patches that remove the volume or its mount, unless another volume is mounted there.
pub(super) fn kept(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in workload.roles.iter().filter(|role| role.accelerators() > 0.0) {
            let Some(span) = removal(&pods::patches(workload, role)) else { continue };
            let fault = Diagnostic::at(&code::KB0408, span, "this removes `/dev/shm` from pods with accelerators");
            diagnostics.push(
                fault
                    .note(
                        "only 64 MiB remain, too little for data loaders and NCCL, which fail with a bus error or \
                         run slower",
                    )
                    .help("delete this, or mount a memory volume of your own at `/dev/shm`"),
            );
        }
    }
}

fn removal(patches: &Patches<'_>) -> Option<Span> {
    let mounts = patches.main.iter().filter_map(|container| container.get("volumeMounts")).flat_map(Node::items);
    let own_volume = mounts
        .filter(|mount| is_of(mount, "mountPath", MOUNT) && !is_directive(mount, "delete"))
        .any(|mount| mount.get("name").and_then(Node::as_text).is_some_and(|name| name != VOLUME));
    if own_volume {
        return None;
    }
    removed(&patches.pod, "volumes", ("name", VOLUME))
        .or_else(|| removed(&patches.main, "volumeMounts", ("mountPath", MOUNT)))
}

/// Returns where `patches` finally remove from `list` the element whose merge key has the given value.
fn removed(patches: &[&Node], list: &str, (key, value): (&str, &str)) -> Option<Span> {
    let mut removed = None;
    for entry in patches.iter().filter_map(|patch| patch.entry(list)) {
        let items = entry.value.items();
        if entry.value.value == Value::Null || items.iter().any(|item| is_directive(item, "replace")) {
            removed = Some(entry.key_span);
        }
        for item in items.iter().filter(|item| is_of(item, key, value)) {
            removed = is_directive(item, "delete").then_some(item.span);
        }
    }
    removed
}

fn is_of(item: &Node, key: &str, value: &str) -> bool {
    item.get(key).and_then(Node::as_text) == Some(value)
}

fn is_directive(item: &Node, directive: &str) -> bool {
    item.get("$patch").and_then(Node::as_text) == Some(directive)
}
