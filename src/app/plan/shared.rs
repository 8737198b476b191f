//! Permissions of many benchmarks as one: those of one place, and those that each benchmark has from its own spec.

use std::collections::{BTreeMap, BTreeSet};

use super::{Permission, Role};
use kubebench_format::plan::v1::{Since, What};
use kubebench_syntax::diag::Severity;

/// The maximum number of places named of one permission.
const PLACES: usize = 3;

/// A permission, and all that have it.
pub struct Shared<'p> {
    /// That of one of them.
    pub one: &'p Permission,
    /// Empty where all benchmarks have it.
    benchmarks: Vec<&'p str>,
    targets: Vec<&'p str>,
    /// Where it is requested, each place once.
    places: Vec<&'p [String]>,
}

/// What permissions of several benchmarks have in common.
type Kind<'p> = (bool, Severity, Option<Since>, What, &'p str);

fn kind(permission: &Permission) -> Kind<'_> {
    let Permission { since, .. } = permission;
    (*since == Some(Since::Removed), permission.level(), *since, permission.what(), permission.value())
}

/// What permissions have in common that are shown as one: the kind, the place where benchmarks share it, and the targets.
type Key<'p> = (Kind<'p>, Option<&'p [String]>, BTreeSet<&'p str>);

/// Returns what benchmarks may do by these permissions: what a change adds or removes, and how many there are that it leaves. Without a
/// change, all are of the first kind.
pub fn allowed(permissions: &[Permission]) -> (Vec<Shared<'_>>, usize) {
    let of = |is_kept: bool| {
        let own = permissions.iter().filter(|permission| permission.role == Role::Allows);
        shared(own.filter(move |permission| (permission.since == Some(Since::Kept)) == is_kept))
    };
    (of(false), of(true).len())
}

/// Returns permissions as few: what a change adds before what it removes, the worst first, and of those the rarest.
fn shared<'p>(permissions: impl Iterator<Item = &'p Permission>) -> Vec<Shared<'p>> {
    let mut of_benchmarks = BTreeMap::new();
    for permission in permissions {
        let key = (kind(permission), permission.places.as_slice(), permission.benchmark.as_deref());
        let (_, targets) = of_benchmarks.entry(key).or_insert_with(|| (permission, BTreeSet::new()));
        targets.extend(permission.target.as_deref());
    }
    let mut of_places = BTreeMap::new();
    for ((kind, places, benchmark), (one, targets)) in of_benchmarks {
        let (_, benchmarks) = of_places.entry((kind, places, targets)).or_insert_with(|| (one, Vec::new()));
        benchmarks.extend(benchmark);
    }
    let mut all: BTreeMap<Key<'_>, Shared<'p>> = BTreeMap::new();
    for ((kind, places, targets), (one, benchmarks)) in of_places {
        // A place that several share is a place of its own.
        let place = Some(places).filter(|_| benchmarks.len() != 1);
        let shared = all.entry((kind, place, targets.clone())).or_insert_with(|| Shared {
            one,
            benchmarks: Vec::new(),
            targets: targets.into_iter().collect(),
            places: Vec::new(),
        });
        shared.benchmarks.extend(benchmarks);
        shared.places.push(places);
    }
    let mut all: Vec<Shared<'p>> = all.into_values().collect();
    for shared in &mut all {
        shared.benchmarks.sort_unstable();
        shared.benchmarks.dedup();
    }
    all.sort_by_key(|shared| {
        let (is_removed, level, ..) = kind(shared.one);
        (is_removed, level, shared.benchmarks.len())
    });
    all
}

impl Shared<'_> {
    /// Says who has it, with names as `shown` writes them, at most `named`.
    pub fn who(&self, named: usize, shown: impl Fn(&str) -> String) -> String {
        let list = |names: &[&str], most: usize| {
            let first: Vec<String> = names.iter().take(most).map(|name| shown(name)).collect();
            let more = names.len().saturating_sub(most);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", first.join(", "))
        };
        let on = if self.targets.is_empty() { String::new() } else { format!(" on {}", list(&self.targets, named)) };
        match self.benchmarks.as_slice() {
            [] if on.is_empty() => "all benchmarks".to_owned(),
            [] => format!("all{on}"),
            [one] => format!("{}{on}", shown(one)),
            several => format!("{} benchmarks{on}: {}", several.len(), list(several, named)),
        }
    }

    /// Says where it is requested, in files below `folder`.
    pub fn place(&self, folder: &str) -> String {
        let place =
            |places: &&[String]| places.iter().map(|place| format!("{folder}{place}")).collect::<Vec<_>>().join(", ");
        let shown = self.places.iter().take(PLACES).map(place).collect::<Vec<_>>().join(", ");
        let more = self.places.len().saturating_sub(PLACES);
        if more > 0 { format!("{shown} and {more} more places") } else { shown }
    }
}
