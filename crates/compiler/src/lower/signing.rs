//! KB0377: the keys by which signatures over results are checked, and which results count.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::Target;
use kubebench_attestation::{Counted, Key, PublicKey};
use kubebench_format::spec::v1::project::ResultKey;
use kubebench_format::spec::v1::scalar::Flag;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::Day;
use kubebench_syntax::yaml::Node;

/// How a key is made.
const HELP: &str = "write what `openssl pkey -in ed25519.pem -pubout` prints, as a block: `publicKey: |`";

/// Returns the keys that can be used; `results` is where they are written.
pub(super) fn keys(wire: Vec<ResultKey>, results: Option<&Node>, diagnostics: &mut Diagnostics) -> Vec<Key> {
    let nodes = results.map(|results| results.items_of("keys")).unwrap_or_default();
    let mut known: BTreeMap<String, Span> = BTreeMap::new();
    let mut keys = Vec::new();
    for (ResultKey { name, public_key, not_before, not_after }, node) in wire.into_iter().zip(nodes) {
        let name = name.0.to_string();
        let span = |field: &str| node.get(field).map_or(node.span, |value| value.span);
        let fault = |field: &str, message: String| Diagnostic::at(&code::KB0377, span(field), message);
        if let Some(earlier) = known.insert(name.clone(), span("name")) {
            let fault = fault("name", format!("there are two keys called `{name}`"));
            let fault = fault.related(Place::Span(earlier), "the other one");
            diagnostics.push(fault.help("give each key its own name, which identifies its signatures"));
        }
        // The schema took them for days.
        let day = |text: Option<String>| text.and_then(|text| Day::parse(&text).ok());
        let (not_before, not_after) = (day(not_before), day(not_after));
        if not_before.zip(not_after).is_some_and(|(first, last)| last < first) {
            let fault = fault("notAfter", format!("the key `{name}` never counts: its last day is before its first"));
            diagnostics.push(fault.help("write a day at or after `notBefore`"));
        }
        match PublicKey::read(public_key.0.as_bytes()) {
            Ok(public) => {
                if let Some(other) = keys.iter().find(|other: &&Key| other.public == public) {
                    let message = format!("this is the key `{}` again", other.name);
                    let help =
                        "list each key once, with all its days: `notBefore` of the first, `notAfter` of the last";
                    diagnostics.push(fault("publicKey", message).help(help));
                }
                keys.push(Key { name, public, not_before, not_after });
            }
            Err(why) => diagnostics.push(fault("publicKey", format!("this is not a public key: {why}")).help(HELP)),
        }
    }
    diagnostics.extend(results.and_then(|results| uncountable(results, nodes)));
    keys
}

/// Says why no result can count, or what says nothing of those that do.
fn uncountable(results: &Node, keys: &[Node]) -> Option<Diagnostic> {
    let is_on = |field: &str| results.get(field).filter(|node| node.to_json() == true);
    let is_local = results.get("mode").and_then(Node::as_text) == Some("local");
    let (span, message, help) = match (is_on("requireSigned"), is_on("allowUnseparated")) {
        (Some(required), _) if keys.is_empty() => (
            required.span,
            "no result counts: no key is listed to verify signatures",
            "list the public key of the recorder in `keys`",
        ),
        (Some(required), _) if is_local || results.get("signing").is_none() => (
            required.span,
            "no new result counts: nothing signs new results",
            "name the Secret with the key in `signing`, and record with the mode `branch` or `inbox`",
        ),
        (None, Some(allowed)) => (
            allowed.span,
            "`allowUnseparated` has no effect: all results count, signed or not",
            "add `requireSigned: true`, or delete it",
        ),
        _ => return None,
    };
    Some(Diagnostic::at(&code::KB0377, span, message).help(help))
}

/// Reports targets whose results do not count, because jobs on them run as the user of the steps.
pub(super) fn report_one_user(
    counted: Counted,
    targets: &[Arc<Target>],
    results: Option<&Node>,
    diagnostics: &mut Diagnostics,
) {
    let required = results.and_then(|results| results.get("requireSigned"));
    let Some(required) = required.filter(|_| counted == Counted::SignedAndSeparated) else { return };
    for target in targets.iter().filter(|target| target.has_one_user()) {
        let message =
            format!("no result of the target `{}` counts: its jobs run as the user of the steps", target.name);
        let fault = Diagnostic::at(&code::KB0377, required.span, message)
            .related(Place::Span(target.span), "steps and jobs have the same user here");
        diagnostics.push(fault.help("set `allowUnseparated: true`, or give `steps` of the target another user"));
    }
}

/// Returns which results count.
pub(super) fn counted(require_signed: Option<Flag>, allow_unseparated: Option<Flag>) -> Counted {
    let is_on = |flag: Option<Flag>| flag.is_some_and(|flag| flag.0);
    match (is_on(require_signed), is_on(allow_unseparated)) {
        (false, _) => Counted::All,
        (true, true) => Counted::Signed,
        (true, false) => Counted::SignedAndSeparated,
    }
}
