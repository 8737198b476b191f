//! `kind: Ack` to the model.

use super::Document;
use crate::workload;
use kubebench_format::result::{ANY, Accepts, Ack, Before};
use kubebench_format::spec::v1::ack as wire;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::unit::{Beginning, Day};
use kubebench_syntax::yaml::Node;

/// Returns the acknowledgement of `document`.
pub fn ack(document: Document<'_>, diagnostics: &mut Diagnostics) -> Option<Ack> {
    let root = document.root;
    let wire::Ack { spec, .. } = workload::read(root, diagnostics)?;
    let accepts = accepts(&spec, root.get("spec").unwrap_or(root), diagnostics)?;
    let any = || ANY.to_owned();
    Some(Ack {
        file: document.path().to_owned(),
        benchmark: spec.benchmark.unwrap_or_else(any),
        case: spec.case.map_or_else(any, |case| case.0),
        metric: spec.metric.unwrap_or_else(any),
        target: spec.target.map(|target| target.0),
        accepts,
        max_change: spec.max_change.map(|share| share.0.fraction()),
        reason: spec.reason.0,
        by: spec.by.0,
        expires: spec.expires,
    })
}

/// Returns what is accepted: one level of one metric, or all that began until a day.
fn accepts(spec: &wire::AckSpec, node: &Node, diagnostics: &mut Diagnostics) -> Option<Accepts> {
    let mut refuse = |code, field: &str, message: String, help: &str| {
        let span = node.get(field).map_or(node.span, |value| value.span);
        diagnostics.push(Diagnostic::at(code, span, message).help(help));
    };
    match (&spec.from, &spec.until) {
        (Some(from), None) => {
            for (field, named) in [("benchmark", &spec.benchmark), ("metric", &spec.metric)] {
                if named.as_deref().is_none_or(|name| name == ANY) {
                    let message = format!("`{field}` is missing: `from` accepts a level of one metric");
                    refuse(
                        &code::KB0202,
                        field,
                        message,
                        "name one, or write `until` instead of `from` to accept changes of all",
                    );
                    return None;
                }
            }
            Some(Accepts::From(Beginning::parse(&from.0).map_or_else(|_| from.0.clone(), |from| from.to_string())))
        }
        (None, Some(until)) => {
            if spec.max_change.is_some() {
                let message =
                    "`maxChange` cannot be combined with `until`, which accepts changes of any size".to_owned();
                refuse(&code::KB0207, "maxChange", message, "remove `maxChange`, or write `from` instead of `until`");
                return None;
            }
            // The schema took it for a day.
            let day = Day::parse(until).ok()?;
            Some(Accepts::Before(Before {
                written: until.clone(),
                time: day.after(1).to_string(),
                ..Before::default()
            }))
        }
        (Some(_), Some(_)) => {
            let message = "`from` cannot be combined with `until`".to_owned();
            refuse(
                &code::KB0207,
                "until",
                message,
                "keep one: `from` accepts the change that began in a session, `until` all changes that began by a day",
            );
            None
        }
        (None, None) => {
            let help = "write `from: SESSION` to accept the change that began in it, or `until: DAY` to accept all \
                        changes that began by then";
            refuse(&code::KB0202, "from", "neither `from` nor `until` says what is accepted".to_owned(), help);
            None
        }
    }
}
