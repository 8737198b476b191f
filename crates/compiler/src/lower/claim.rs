//! The PersistentVolumeClaim for results, of a benchmark or of a suite.

use crate::model::{Claim, Target};
use kubebench_format::spec::v1::benchmark as wire;
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::Quantity;

/// Returns the claim that `wire` describes at `span`, with what the project and the target say of those that leave it unsaid.
pub(super) fn claim(wire: wire::Claim, span: Span, size_unsaid: Quantity, target: &Target) -> Claim {
    let wire::Claim { size, storage_class, access_modes } = wire;
    let mut modes: Vec<&'static str> = access_modes
        .unwrap_or_else(|| vec![wire::AccessMode::ReadWriteOnce])
        .into_iter()
        .map(|mode| match mode {
            wire::AccessMode::ReadWriteOnce => "ReadWriteOnce",
            wire::AccessMode::ReadWriteMany => "ReadWriteMany",
            wire::AccessMode::ReadWriteOncePod => "ReadWriteOncePod",
        })
        .collect();
    modes.sort_unstable();
    Claim {
        size: size.map_or(size_unsaid, |size| size.0),
        storage_class: storage_class.or_else(|| target.storage_class.clone()),
        access_modes: modes,
        span,
    }
}
