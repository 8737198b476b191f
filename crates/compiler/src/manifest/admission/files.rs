//! The carried files: no patch may remove or replace them.

use serde_json::json;

use super::Part;
use super::traced::Traced;
use crate::manifest::files;
use crate::model::Benchmark;
use crate::model::carried::FOLDER;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;

/// Reports what `pod` lacks of the files of `benchmark`, and what its main container mounts over them.
pub(super) fn check(pod: &Traced<'_>, main: &Part<'_>, benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let Some((volume, mount)) = files::mount(benchmark) else { return };
    let (volume, mount) = (json!(volume), json!(mount));
    let mut refuse = |span: Span, message: String| {
        let fault = Diagnostic::at(&code::KB0315, span, message)
            .note("the run digest covers the carried files, so every container must find exactly these files");
        diagnostics.push(fault.help(format!("leave `{FOLDER}` and the volume `{}` as they are", files::VOLUME)));
    };
    let volumes = pod.elements("volumes", "name");
    match volumes.iter().find(|volume| volume.text("name") == Some(files::VOLUME)) {
        Some(found) if *found.value == volume => {}
        Some(found) => refuse(found.span(), format!("the volume `{}` belongs to kubebench", files::VOLUME)),
        None => refuse(pod.field("volumes").span(), "the patch removes the carried files".to_owned()),
    }
    let mounts = main.traced.elements("volumeMounts", "mountPath");
    let in_place = |mount: &&Traced<'_>| mount.text("mountPath").is_some_and(lies_in_folder);
    let (own, others): (Vec<_>, Vec<_>) = mounts.iter().filter(in_place).partition(|found| *found.value == mount);
    for other in &others {
        let path = other.text("mountPath").unwrap_or_default();
        refuse(other.span(), format!("the mount at `{path}` hides the carried files"));
    }
    if own.is_empty() && others.is_empty() {
        refuse(main.traced.field("volumeMounts").span(), "the patch removes the carried files".to_owned());
    }
}

/// Returns true if a mount at `path` would hide the folder, however the path is spelled.
fn lies_in_folder(path: &str) -> bool {
    let mut names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    FOLDER.split('/').filter(|name| !name.is_empty()).all(|name| names.next() == Some(name))
}
