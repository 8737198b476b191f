//! Metadata in the pods of runs for other programs of the cluster: injectors of proxies, autoscalers, administrators.
//!
//! It decides nothing of what is measured, so it is outside the run digest, and a step adds it when it creates the pods.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Labels and annotations of pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodMetadata {
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
}

/// The label by which Istio decides whether a pod gets its proxy.
pub const ISTIO_INJECT: &str = "sidecar.istio.io/inject";
/// The annotation by which Linkerd does.
pub const LINKERD_INJECT: &str = "linkerd.io/inject";

impl PodMetadata {
    /// No labels and annotations.
    pub const NONE: &Self = &Self { labels: BTreeMap::new(), annotations: BTreeMap::new() };

    /// Returns what keeps proxies out of a pod: it would be measured with the program, and keep a pod running that has ended.
    pub fn without_proxies() -> Self {
        let pair = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        Self {
            labels: [(ISTIO_INJECT, "false")].map(pair).into(),
            annotations: [(LINKERD_INJECT, "disabled")].map(pair).into(),
        }
    }

    /// Returns what additionally keeps autoscalers from moving a pod that is measured.
    pub fn of_runs() -> Self {
        let mut of_runs = Self::without_proxies();
        for (key, value) in
            [("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), ("karpenter.sh/do-not-disrupt", "true")]
        {
            of_runs.annotations.insert(key.to_owned(), value.to_owned());
        }
        of_runs
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }

    /// Merges `other`, which takes precedence.
    #[must_use]
    pub fn over(mut self, other: &Self) -> Self {
        self.labels.extend(other.labels.clone());
        self.annotations.extend(other.annotations.clone());
        self
    }

    /// Adds it to the pods of `object`: `labels_at` has the JSON Pointers to their labels. What they have already stays.
    pub fn add_to(&self, object: &mut Json, labels_at: &[String]) {
        let is_pod = object.get("kind").is_some_and(|kind| kind == "Pod");
        for at in labels_at.iter().filter_map(|at| at.strip_suffix("/labels")) {
            if at == "/metadata" && !is_pod {
                continue;
            }
            let Some(metadata) = object.pointer_mut(at).and_then(Json::as_object_mut) else { continue };
            add(metadata, "labels", &self.labels);
            add(metadata, "annotations", &self.annotations);
        }
    }
}

fn add(metadata: &mut Map<String, Json>, field: &str, wanted: &BTreeMap<String, String>) {
    if wanted.is_empty() {
        return;
    }
    let found = metadata.entry(field).or_insert_with(|| Json::Object(Map::new()));
    if let Some(found) = found.as_object_mut() {
        for (key, value) in wanted {
            found.entry(key.clone()).or_insert_with(|| value.as_str().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::PodMetadata;

    #[test]
    fn pods_keep_what_they_say_themselves_and_objects_around_them_get_nothing() {
        let mut job = json!({
            "kind": "Job",
            "metadata": {"labels": {}},
            "spec": {
                "selector": {"matchLabels": {}},
                "template": {"metadata": {"labels": {"sidecar.istio.io/inject": "true", "a": "b"}}},
            },
        });
        let at =
            ["/metadata/labels", "/spec/selector/matchLabels", "/spec/template/metadata/labels", "/spec/none/labels"];
        let before = job.clone();
        PodMetadata::NONE.add_to(&mut job, &at.map(str::to_owned));
        assert_eq!(job, before);
        PodMetadata::of_runs().add_to(&mut job, &at.map(str::to_owned));
        let wanted = json!({
            "kind": "Job",
            "metadata": {"labels": {}},
            "spec": {
                "selector": {"matchLabels": {}},
                "template": {"metadata": {
                    "labels": {"sidecar.istio.io/inject": "true", "a": "b"},
                    "annotations": {
                        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                        "karpenter.sh/do-not-disrupt": "true",
                        "linkerd.io/inject": "disabled",
                    },
                }},
            },
        });
        assert_eq!(job, wanted);
    }

    #[test]
    fn what_is_said_later_wins_and_either_kind_counts() {
        let metadata = |labels: &[(&str, &str)], annotations: &[(&str, &str)]| {
            let owned =
                |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            PodMetadata { labels: owned(labels), annotations: owned(annotations) }
        };
        let first = metadata(&[("a", "1"), ("b", "1")], &[("c", "1")]);
        let other = metadata(&[("b", "2")], &[("d", "2")]);
        assert_eq!(first.over(&other), metadata(&[("a", "1"), ("b", "2")], &[("c", "1"), ("d", "2")]));
        assert!(PodMetadata::NONE.is_empty());
        assert!(!metadata(&[("a", "1")], &[]).is_empty());
        assert!(!metadata(&[], &[("c", "1")]).is_empty());
    }

    #[test]
    fn the_metadata_of_a_pod_is_its_own() {
        let mut pod = json!({"kind": "Pod", "metadata": {"labels": {}}});
        PodMetadata::without_proxies().add_to(&mut pod, &["/metadata/labels".to_owned()]);
        assert_eq!(pod["metadata"]["labels"], json!({"sidecar.istio.io/inject": "false"}));
    }
}
