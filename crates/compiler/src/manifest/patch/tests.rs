use serde_json::json;

use super::*;

#[track_caller]
fn check(mut base: Json, patch: &Json, expected: &Json) {
    merge(&mut base, patch);
    assert_eq!(base, *expected);
}

#[test]
fn lists_merge_by_their_key_and_null_removes() {
    let base = json!({ "a": 1, "volumes": [{ "name": "x", "emptyDir": {} }], "tolerations": [{ "key": "k" }] });
    let patch = json!({ "a": null, "volumes": [{ "name": "y", "emptyDir": {} }], "tolerations": [] });
    check(
        base,
        &patch,
        &json!({ "volumes": [{ "name": "x", "emptyDir": {} }, { "name": "y", "emptyDir": {} }], "tolerations": [] }),
    );
}

#[test]
fn a_volume_keeps_one_source_and_a_variable_one_value() {
    let base = json!({ "volumes": [{ "name": "dshm", "emptyDir": { "medium": "Memory" } }] });
    let patch = json!({ "volumes": [{ "name": "dshm", "persistentVolumeClaim": { "claimName": "z" } }] });
    check(base, &patch, &patch);
    let base = json!({ "volumes": [{ "name": "data", "hostPath": { "path": "/a" } }] });
    let patch = json!({ "volumes": [{ "name": "data", "nfs": { "server": "s", "path": "/x" } }] });
    check(base, &patch, &patch);
    let base = json!({ "containers": [{ "name": "a", "resources": {} }] });
    let patch = json!({ "containers": [{ "name": "a", "securityContext": {} }] });
    check(base, &patch, &json!({ "containers": [{ "name": "a", "resources": {}, "securityContext": {} }] }));
    let base = json!({ "env": [{ "name": "HOME", "value": "/tmp" }] });
    let patch = json!({ "env": [{ "name": "HOME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }] });
    check(base, &patch, &patch);
    let base = json!({ "volumes": [{ "name": "dshm", "emptyDir": { "medium": "Memory" } }] });
    let patch = json!({ "volumes": [{ "name": "dshm", "emptyDir": { "sizeLimit": "1Gi" } }] });
    check(
        base,
        &patch,
        &json!({ "volumes": [{ "name": "dshm", "emptyDir": { "medium": "Memory", "sizeLimit": "1Gi" } }] }),
    );
}

#[test]
fn what_is_new_holds_neither_null_nor_directives() {
    let base = json!({ "volumes": [{ "name": "x", "emptyDir": {} }] });
    let patch = json!({
        "volumes": [{ "name": "y", "emptyDir": { "medium": null }, "$patch": "merge" }],
        "tolerations": [{ "key": "a", "value": null }, null],
        "affinity": { "podAffinity": null, "nodeAffinity": { "$patch": "delete" } },
        "dnsConfig": { "$patch": "delete" },
    });
    check(
        base,
        &patch,
        &json!({
            "volumes": [{ "name": "x", "emptyDir": {} }, { "name": "y", "emptyDir": {} }],
            "tolerations": [{ "key": "a" }],
            "affinity": {},
        }),
    );
    let base =
        json!({ "tolerations": [{ "key": "a" }], "securityContext": { "runAsUser": 1 }, "affinity": { "a": 1 } });
    let patch = json!({
        "tolerations": [{ "key": "b", "effect": null }],
        "securityContext": { "$patch": "replace", "runAsGroup": 2, "fsGroup": null },
        "affinity": { "$patch": "delete" },
    });
    check(
        base,
        &patch,
        &json!({ "tolerations": [{ "key": "b" }], "securityContext": { "runAsGroup": 2 }, "affinity": {} }),
    );
}
