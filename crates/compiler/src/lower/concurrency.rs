//! How many Workflows of a target run at once, and which targets count together.

use std::collections::BTreeMap;

use crate::model::Target;
use crate::model::target::{Concurrency, Lock};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// Returns what `concurrency` and `concurrencyGroup` of a target say; the schema has looked at the words.
pub(super) fn concurrency(limit: Option<&str>, group: Option<String>, namespace: &str) -> Concurrency {
    let limit = match limit {
        None | Some("exclusive") => Some(1),
        Some("unlimited") => None,
        Some(count) => Some(whole(count)),
    };
    Concurrency { limit, lock: group.map(|name| Lock { name, namespace: namespace.to_owned() }) }
}

/// Returns the count that YAML spells `2` or `2.0`.
fn whole(count: &str) -> u32 {
    let count: f64 = count.parse().expected("a number, as the schema has it");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number up to 10,000")]
    {
        count as u32
    }
}

/// Keeps the lock of each group where it is sure to be: in the namespace of the first of `targets`, which are those that benchmarks run
/// on. Argo fails a Workflow for good whose lock it does not find.
pub(crate) fn keep_where_benchmarks_run(targets: &mut [Target]) {
    let mut homes = BTreeMap::<String, String>::new();
    for target in targets {
        if let Some(lock) = &mut target.concurrency.lock {
            let home = homes.entry(lock.name.clone()).or_insert_with(|| target.namespace.clone());
            lock.namespace.clone_from(home);
        }
    }
}

/// Reports targets of a group that cannot have the same lock.
pub(super) fn check_groups(targets: &[Target], nodes: Option<&Node>, diagnostics: &mut Diagnostics) {
    let mut groups = BTreeMap::<&str, (Option<u32>, &str, Span)>::new();
    for target in targets {
        let node = nodes.and_then(|nodes| nodes.get(&target.name));
        let span = node.and_then(|node| node.entry("concurrencyGroup")).map_or(target.span, |entry| entry.key_span);
        let Concurrency { limit, lock: Some(lock) } = &target.concurrency else { continue };
        let (of_first, cluster, at) = groups.entry(&lock.name).or_insert((*limit, &target.cluster, span));
        let fault = |message: &str| Diagnostic::at(&code::KB0379, span, message);
        let fault = if limit.is_none() {
            fault("a group of targets without a limit has no effect")
                .help("write `concurrency: exclusive` or a number, or delete the group")
        } else if *cluster != target.cluster {
            fault("a group of targets cannot span two clusters")
                .note("Argo keeps the lock in one cluster")
                .help("use a different group in each cluster")
        } else if limit != of_first {
            fault("the targets of a group allow different numbers of Workflows at once")
                .note("they share one lock, which has one limit")
                .help("write the same `concurrency` for all of them")
        } else {
            continue;
        };
        let is_first = *at == span;
        diagnostics.push(if is_first {
            fault
        } else {
            fault.related(Place::Span(*at), "the first target of the group")
        });
    }
}
