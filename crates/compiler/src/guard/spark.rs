//! KB0376: properties of Spark that make its pods other than the application says.

use super::Field;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::Entry;

/// The properties that are about pods.
const OF_PODS: &str = "spark.kubernetes.";
/// Those of them that a benchmark may set, or what they begin with: they say when and where pods start, and nothing of what is in them.
const ALLOWED: [&str; 22] = [
    "allocation.",
    "appKillPodDeletionGracePeriod",
    "container.image.pullPolicy",
    "driver.annotation.",
    "driver.label.",
    "driver.node.selector.",
    "driver.scheduler.name",
    "driver.service.",
    "executor.annotation.",
    "executor.apiPollingInterval",
    "executor.enableApiPolling",
    "executor.eventProcessingInterval",
    "executor.label.",
    "executor.missingPodDetectDelta",
    "executor.node.selector.",
    "executor.podNamePrefix",
    "executor.scheduler.name",
    "jars.avoidDownloadSchemes",
    "local.dirs.tmpfs",
    "node.selector.",
    "report.interval",
    "submission.",
];
/// What to write instead of a property.
const INSTEAD: [(&str, &str); 16] = [
    ("authenticate.driver.serviceAccountName", "write `serviceAccount` of the driver"),
    ("authenticate.executor.serviceAccountName", "write `serviceAccountName` in `pod` of the executor"),
    ("container.image", "write `image`"),
    ("driver.container.image", "write `image` of the driver"),
    ("driver.limit.cores", "write `cores` of the driver"),
    ("driver.master", "delete it: the operator knows its API server"),
    ("driver.pod.name", "delete it: each run has its own pods"),
    ("driver.podTemplateFile", "write `pod` and `container` of the driver"),
    ("driver.request.cores", "write `cores` of the driver"),
    ("executor.container.image", "write `image` of the executor"),
    ("executor.deleteOnTermination", "delete it: the executors' logs are read from their pods"),
    ("executor.limit.cores", "write `cores` of the executor"),
    ("executor.podTemplateFile", "write `pod` and `container` of the executor"),
    ("executor.request.cores", "write `cores` of the executor"),
    ("memoryOverheadFactor", "write `memoryOverhead` of driver and executor"),
    ("namespace", "delete it: the target sets the namespace"),
];

/// Reports a property that no field of driver and executor shows.
pub(super) fn check(field: Field<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, .. }, of, .. } = field;
    let Some(property) = key.strip_prefix(OF_PODS).filter(|_| of == "sparkConf") else { return };
    let is_allowed =
        ALLOWED.iter().any(|allowed| property == *allowed || allowed.ends_with('.') && property.starts_with(allowed));
    if is_allowed {
        return;
    }
    let instead = INSTEAD.iter().find(|(own, _)| *own == property);
    let help =
        instead.map_or("write it in the fields of driver and executor, or in their pod templates", |(_, help)| help);
    let fault = Diagnostic::at(&code::KB0376, *key_span, format!("`{key}` changes pods without being checked"))
        .note("the fields of driver and executor, which are checked and reviewed, describe what pods are and may do");
    diagnostics.push(fault.help(help));
}
