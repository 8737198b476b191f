//! `kind: Ack` to the model.

use super::Document;
use crate::workload;
use kubebench_format::result::Ack;
use kubebench_format::spec::v1::ack as wire;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::unit::Beginning;

/// Returns the acknowledgement of `document`.
pub fn ack(document: Document<'_>, diagnostics: &mut Diagnostics) -> Option<Ack> {
    let wire::Ack { spec, .. } = workload::read(document.root, diagnostics)?;
    Some(Ack {
        file: document.source.path.clone(),
        benchmark: spec.benchmark,
        case: spec.case.map_or_else(|| "*".to_owned(), |case| case.0),
        metric: spec.metric,
        target: spec.target.map(|target| target.0),
        from: Beginning::parse(&spec.from.0).map_or(spec.from.0, |from| from.to_string()),
        max_change: spec.max_change.map(|share| share.0.fraction()),
        reason: spec.reason.0,
        by: spec.by.0,
        expires: spec.expires,
    })
}
