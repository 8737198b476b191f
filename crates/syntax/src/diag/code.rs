//! The table of codes. A code is never reused; its page is in `docs/codes/`.
//!
//! The words of a finding belong to the rule that reports it; this table holds only what outlives a wording.

use super::Severity;

/// A stable diagnostic code.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// `KB` and four digits.
    pub id: &'static str,
    /// What it is about, as a short noun phrase.
    pub title: &'static str,
    /// The severity unless the project says otherwise.
    pub severity: Severity,
    /// True when `kubebench.yaml` may change the severity or switch it off.
    pub configurable: bool,
    /// The page that `kubebench explain` prints.
    pub page: &'static str,
}

impl Code {
    /// Says how the finding is switched off, to end a sentence.
    pub fn switched_off(&self) -> String {
        format!("set `spec: {{lints: {{{}: \"off\"}}}}` in kubebench.yaml", self.id)
    }
}

macro_rules! codes {
    ($($id:ident $kind:ident $title:literal)*) => {
        $(#[doc = $title] pub static $id: Code = Code {
            id: stringify!($id),
            title: $title,
            severity: codes!(@severity $kind),
            configurable: codes!(@configurable $kind),
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/codes/", stringify!($id), ".md")),
        };)*
        /// Every code, in order.
        pub static ALL: &[&Code] = &[$(&$id),*];
    };
    (@severity error) => { Severity::Error };
    (@severity warning) => { Severity::Warning };
    (@severity lint) => { Severity::Warning };
    (@severity deny) => { Severity::Error };
    (@severity info) => { Severity::Info };
    (@severity note) => { Severity::Info };
    (@configurable error) => { false };
    (@configurable warning) => { false };
    (@configurable lint) => { true };
    (@configurable deny) => { true };
    (@configurable info) => { false };
    (@configurable note) => { true };
}

// error: always an error. warning: always a warning. info: what a reviewer should know. note: the same, configurable. lint: a warning by default. deny: an error by default, configurable.
codes! {
    KB0101 error "file that is not UTF-8 text"
    KB0102 error "file over 1 MiB"
    KB0103 error "empty file"
    KB0104 error "YAML syntax"
    KB0105 error "duplicate key"
    KB0106 error "anchor, alias or merge key"
    KB0107 error "tag or directive"
    KB0108 error "tab"
    KB0109 error "more than one document"
    KB0110 error "scalar that YAML versions read differently"
    KB0111 error "control or invisible character"
    KB0112 error "document too deep or too large"
    KB0113 error "key that is not a string"
    KB0114 error "unreadable file"
    KB0115 lint "file that is not read"
    KB0116 error "further findings"
    KB0117 error "template that is not rendered"
    KB0118 lint "duplicate key of a manifest"
    KB0119 lint "YAML that kubectl reads in its own way"
    KB0120 error "YAML that kubectl refuses"

    KB0201 error "unknown field"
    KB0202 error "missing field"
    KB0203 error "wrong type"
    KB0204 error "value outside the allowed ones"
    KB0205 error "malformed value"
    KB0206 error "value out of range"
    KB0207 error "exactly one key expected"
    KB0208 error "unknown apiVersion or kind"

    KB0301 error "unknown name in an expression"
    KB0302 error "malformed expression"
    KB0303 error "expression that is not allowed here"
    KB0304 error "matrix too large"
    KB0305 error "malformed matrix"
    KB0306 error "exclude that matches nothing"
    KB0307 error "unknown target"
    KB0308 error "two files with one name"
    KB0309 error "reserved name"
    KB0310 error "run together with schedule"
    KB0311 error "budget exceeded"
    KB0312 error "two metrics with one name"
    KB0313 error "gate, check or fixture of an unknown metric"
    KB0314 error "malformed pattern"
    KB0315 error "patch of a field that kubebench owns"
    KB0316 error "unknown or mistyped Kubernetes field"
    KB0317 error "workload that cannot run as written"
    KB0318 error "field that the target's API version does not have"
    KB0319 error "two targets in one place"
    KB0320 error "another kubebench version required"
    KB0321 error "unknown benchmark in a suite"
    KB0322 warning "suite without output"
    KB0323 error "malformed output directory"

    KB0324 error "metric of an unknown role"
    KB0325 error "Kubernetes value that is refused"
    KB0326 error "pod that Kubernetes refuses"
    KB0327 error "request above its limit"
    KB0328 error "argument that the Workflow does not take, or lacks"
    KB0329 lint "template of a Workflow outside git"
    KB0330 error "launcher's command that reaches the workers"
    KB0331 error "volume of one pod that several pods need"
    KB0332 error "rendezvous server without an address"
    KB0333 error "gate with one possible answer"
    KB0334 error "amount that no pod or claim can have"
    KB0335 error "manifest without one workload"
    KB0336 error "object that no run may create"
    KB0337 error "placeholder of a template"
    KB0338 error "kind without a known end condition"
    KB0339 error "API version that is no longer served"
    KB0340 error "carried file that cannot be read"
    KB0341 error "carried files too large"
    KB0342 error "carried files with one name"
    KB0343 deny "file that is not carried"
    KB0344 lint "carried script with Windows line ends"
    KB0345 error "malformed condition"
    KB0346 error "incomplete object"
    KB0347 error "one name for several runs at once"
    KB0348 lint "object of another namespace"
    KB0349 error "suspended workload"
    KB0350 error "role without a command for a local run"
    KB0351 error "variable that has no value in a local run"
    KB0352 error "query that needs a cluster"
    KB0353 error "window of steps without steps"
    KB0354 error "metric of an unknown replica"
    KB0355 error "unknown metric of a tool"
    KB0356 error "name next to a tool"
    KB0357 error "parameter that no trial has"
    KB0358 error "metric of an unknown node or trial"
    KB0359 error "malformed variants"
    KB0360 error "fixture that cannot be read"
    KB0361 error "fixture with a different value"
    KB0362 error "unknown tool"
    KB0363 error "file that is not a result"
    KB0364 error "result of an unknown version"
    KB0365 error "malformed result"
    KB0366 error "result edited by hand"
    KB0367 error "result that was reformatted"
    KB0368 error "result in the wrong place"
    KB0369 error "unknown preset of Prometheus"
    KB0370 lint "field that a kind does not have"
    KB0371 error "unit that a source does not have"
    KB0372 error "use of what belongs to kubebench"
    KB0373 error "token for the API server"
    KB0374 error "kind that the project does not allow"
    KB0375 error "several primary metrics in one rule"
    KB0376 error "pod that the review cannot see"
    KB0377 error "key of results that cannot be used"
    KB0378 error "lists of a target and a spec that cannot be merged"
    KB0379 error "targets of one group that disagree"
    KB0380 note "Secret of a benchmark"
    KB0381 note "account of pods"
    KB0382 note "token of pods"
    KB0383 note "volume from elsewhere"
    KB0384 note "image without digest"
    KB0385 note "kind that a manifest brings"
    KB0386 note "rule of the pipeline's role"
    KB0387 note "opening of the network"
    KB0388 note "privileged namespace"
    KB0389 note "placement of pods"
    KB0390 lint "unverified server of results"
    KB0391 note "label or annotation for another program"
    KB0392 note "setting of all pods of a target"
    KB0393 error "impossible placement"
    KB0394 note "setting of a target that pods do not have"
    KB0395 info "suppressed lint"
    KB0397 error "former name of a target that is taken"
    KB0399 error "fragment that cannot be extended"

    KB0401 lint "image without tag or digest"
    KB0402 lint "image tag latest"
    KB0403 lint "missing resources"
    KB0404 error "requests that differ from limits"
    KB0405 error "name too long"
    KB0406 lint "unused parameter or axis"
    KB0407 deny "secret in plain text"
    KB0408 lint "accelerator without /dev/shm"
    KB0409 lint "metric without direction"
    KB0410 lint "no primary metric"
    KB0411 lint "no timeout"
    KB0412 lint "replicas that nothing else follows"
    KB0413 error "MPIJob v1 under restricted pod security"
    KB0414 lint "PyTorchJob under restricted pod security"
    KB0415 error "object too large"
    KB0416 error "too many runs in one workflow"
    KB0417 lint "directory close to Argo CD's limit"
    KB0418 error "claim change that Kubernetes refuses"
    KB0419 lint "pod security lowered"
    KB0420 lint "file metric without a shared volume"
    KB0421 lint "volume of one node that several pods need"
    KB0422 lint "SSH keys where ssh does not look"
    KB0423 lint "accelerators of the launcher"
    KB0424 lint "workload cut off from the API server"
    KB0425 lint "kind that Kueue does not manage by default"
    KB0426 deny "job that Kueue does not know"
    KB0427 lint "gang scheduling that the operator must be configured for"
    KB0428 deny "query without a Prometheus server"
    KB0429 lint "variable that nothing replaces"
    KB0430 error "value that is not carried over"
    KB0431 error "file that is not migrated"
    KB0432 error "missing job config"
    KB0433 error "two old benchmarks with one name"
    KB0434 error "spec that already exists"
    KB0435 error "benchmark that is not migrated"
    KB0436 error "benchmark without a job"
    KB0437 lint "elasticity that the operator ignores"
    KB0438 lint "start during a clock change"
    KB0439 lint "text without a line-by-line diff"
    KB0440 lint "training runtime outside git"
    KB0441 error "variable that the trainer sets"
    KB0442 error "workload that needs a cluster"
    KB0443 error "benchmark in two suites"
    KB0444 error "need that cannot be met in time"
    KB0445 error "benchmark that sets what its suite decides"
    KB0446 lint "argument that Ray changes"
    KB0447 error "text that a shell would change"
    KB0448 error "need of a benchmark that runs elsewhere"
    KB0449 error "several runs at once against one server"
    KB0450 error "duration that no run has"
    KB0451 lint "server that the network policy hides"
    KB0452 error "two results of one run"
    KB0453 error "result whose clock went backwards"
    KB0454 lint "pattern that does not match all numbers"
    KB0455 lint "exit status that a script loses"

    KB0460 error "regression"
    KB0461 error "no result to evaluate"
    KB0462 error "inconclusive gate"
    KB0463 info "weakened gate"
    KB0464 error "deleted or changed result"

    KB0465 warning "result without a valid signature"
    KB0467 lint "download that the network policy blocks"
    KB0468 lint "program and arguments in one word"
    KB0469 lint "unused suppression"
    KB0470 lint "file that is not carried"
    KB0501 error "missing manifest"
    KB0502 error "stale manifest"
    KB0503 error "manifest edited by hand"
    KB0504 error "orphaned manifest"
    KB0505 error "foreign file"
    KB0506 error "line endings"
    KB0507 error "path that kubebench does not touch"
    KB0508 error "stale schema"
    KB0509 error "ignored manifest"
    KB0511 error "object of two projects"
    KB0512 error "results of two projects in one place"

    KB0601 error "file that is not formatted"
}

/// Returns the code spelled `id`, in any case.
pub fn find(id: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|code| code.id.eq_ignore_ascii_case(id))
}
