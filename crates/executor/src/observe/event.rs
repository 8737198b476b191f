//! Events, each once and in its newest version.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use super::{Event, newest};

/// One event.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventSummary<'a> {
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    pub(super) is_warning: bool,
    /// Whether it is about a pod.
    pub(super) is_of_pod: bool,
    /// The uid of what it is about.
    pub(super) about: &'a str,
    /// The name of what it is about.
    pub(super) name: &'a str,
    /// When it was last repeated, by the clock of its reporter.
    last: i64,
}

impl<'a> EventSummary<'a> {
    /// Reads `events`, in an order that does not depend on theirs.
    pub(super) fn all(events: &'a [Event]) -> Vec<Self> {
        let mut known: BTreeMap<&str, &Event> = BTreeMap::new();
        for event in events {
            let key = event.metadata.uid.as_deref().or(event.metadata.name.as_deref()).unwrap_or_default();
            let kept = known.get(key).map_or(event, |other| newest(*other, event));
            known.insert(key, kept);
        }
        known.into_values().map(Self::read).collect()
    }

    /// Returns the one that was repeated last of those that `fits`.
    pub(super) fn last(events: &[Self], fits: impl Fn(&Self) -> bool) -> Option<&Self> {
        events.iter().filter(|event| fits(event)).max_by_key(|event| (event.last, event.message))
    }

    fn read(event: &'a Event) -> Self {
        let series = event.series.as_ref().and_then(|series| series.last_observed_time.as_ref());
        let exact = series.or(event.event_time.as_ref()).map(|time| time.0);
        let rounded = event.last_timestamp.as_ref().or(event.first_timestamp.as_ref()).map(|time| time.0);
        Self {
            reason: event.reason.as_deref().unwrap_or_default(),
            message: event.message.as_deref().unwrap_or_default(),
            is_warning: event.type_.as_deref() == Some("Warning"),
            is_of_pod: event.involved_object.kind.as_deref() == Some("Pod"),
            about: event.involved_object.uid.as_deref().unwrap_or_default(),
            name: event.involved_object.name.as_deref().unwrap_or_default(),
            last: exact.max(rounded).map_or(0, Timestamp::as_millisecond),
        }
    }
}
