//! The volumes for results: their class, their access mode, and the claims that are there already.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report, elements, items, quoted, text_at};

const CHECK: &str = "storage";
const DEFAULT: &str = "/metadata/annotations/storageclass.kubernetes.io~1is-default-class";
/// Provisioners whose volumes one node at a time can mount.
const ONE_NODE: [&str; 8] = [
    "ebs.csi.aws.com",
    "pd.csi.storage.gke.io",
    "disk.csi.azure.com",
    "rancher.io/local-path",
    "kubernetes.io/host-path",
    "kubernetes.io/no-provisioner",
    "topolvm.io",
    "cinder.csi.openstack.org",
];

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let classes = facts.read("/apis/storage.k8s.io/v1/storageclasses");
    let there = match facts.read(&format!("/api/v1/namespaces/{}/persistentvolumeclaims", needs.target.namespace)) {
        Fact::There(list) => list,
        Fact::Absent => Json::Null,
        Fact::Forbidden(why) => {
            report.unknown(CHECK, "PersistentVolumeClaims of the namespace", &why);
            Json::Null
        }
    };
    let mut asked: BTreeSet<(&str, bool)> = BTreeSet::new();
    let mut bound = Vec::new();
    for claim in needs.of_kind("PersistentVolumeClaim") {
        let name = text_at(claim, "/metadata/name");
        let class = text_at(claim, "/spec/storageClassName");
        match items(&there).find(|item| text_at(item, "/metadata/name") == name) {
            Some(item) if text_at(item, "/status/phase") == "Lost" => {
                let seen = format!(
                    "the claim `{name}` has lost its volume, and with it the results that are not in \
                                    git"
                );
                report.error(
                    CHECK,
                    seen,
                    format!("kubectl -n {} delete pvc {name}; GitOps creates it again", needs.target.namespace),
                );
            }
            Some(item) => {
                let actual = text_at(item, "/spec/storageClassName");
                if !class.is_empty() && class != actual {
                    let seen = format!(
                        "the claim `{name}` has the storage class `{actual}`, but the tree sets `{class}`: every sync \
                         fails"
                    );
                    report.error(CHECK, seen, "give the benchmark another name, or restore the old class");
                }
                if text_at(item, "/status/phase") == "Bound" {
                    bound.push(name);
                } else {
                    asked.insert((class, is_shared(claim)));
                }
            }
            None => drop(asked.insert((class, is_shared(claim)))),
        }
    }
    if !bound.is_empty() {
        report.ok(CHECK, format!("already bound: {}", quoted(bound.iter().copied())));
    }
    if asked.is_empty() {
        return;
    }
    match &classes {
        Fact::There(list) => asked.into_iter().for_each(|(class, shared)| judge(needs, list, class, shared, report)),
        Fact::Absent => report.unknown(CHECK, "StorageClasses", "the cluster has no such API"),
        Fact::Forbidden(why) => report.unknown(CHECK, "StorageClasses", why),
    }
}

/// Returns whether several nodes are to mount the volume.
fn is_shared(claim: &Json) -> bool {
    elements(claim, "/spec/accessModes").any(|mode| mode == "ReadWriteMany")
}

fn judge(needs: &Needs<'_>, classes: &Json, class: &str, is_shared: bool, report: &mut Report) {
    let names: Vec<&str> = items(classes).map(|item| text_at(item, "/metadata/name")).collect();
    let place = format!("`storageClass` of the target `{}` in {}", needs.target.name, needs.settings.path);
    let found = if class.is_empty() {
        items(classes).find(|item| text_at(item, DEFAULT) == "true")
    } else {
        items(classes).find(|item| text_at(item, "/metadata/name") == class)
    };
    let Some(found) = found else {
        let what = if class.is_empty() {
            "the cluster has no default StorageClass, and the tree names none".to_owned()
        } else {
            format!("there is no StorageClass `{class}`")
        };
        let advice = if names.is_empty() {
            "install a provisioner: the cluster has no StorageClass at all".to_owned()
        } else {
            format!("name one of {} as {place}", quoted(names))
        };
        return report.error(CHECK, format!("{what}: the claim stays Pending, and so does every step"), advice);
    };
    let name = text_at(found, "/metadata/name");
    let provisioner = text_at(found, "/provisioner");
    if is_shared && ONE_NODE.contains(&provisioner) {
        let seen = format!("`{name}` ({provisioner}) does not support ReadWriteMany, which several nodes need");
        return report.warning(
            CHECK,
            seen,
            format!(
                "name a class for shared files as {place}, or `accessModes: [ReadWriteOnce]` and one run at a time"
            ),
        );
    }
    let which = if class.is_empty() { " (the default)" } else { "" };
    if text_at(found, "/reclaimPolicy") == "Delete" {
        let seen = format!("`{name}`{which} exists; deleting a claim deletes its volume");
        return report.note(
            CHECK,
            seen,
            "results in git are kept; a class with `reclaimPolicy: Retain` keeps logs too",
        );
    }
    report.ok(CHECK, format!("`{name}`{which} exists"));
}
