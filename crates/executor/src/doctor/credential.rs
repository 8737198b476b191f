//! What the recorder needs to reach git. Only names of keys are looked at; no value is read or shown.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report};
use kubebench_contract::SIGNING_KEY;

const CHECK: &str = "git credential";
const SIGNING: &str = "signing key";

/// Looks for the key that signs results.
pub(super) fn check_signing(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let results = &needs.settings.results;
    let namespace = &needs.target.namespace;
    let Some(name) = results.signing.as_ref().filter(|_| results.mode != "local") else { return };
    let create = format!("kubectl -n {namespace} create secret generic {name} --from-file={SIGNING_KEY}");
    let secret = match facts.read(&format!("/api/v1/namespaces/{namespace}/secrets/{name}")) {
        Fact::There(secret) => secret,
        Fact::Absent => {
            let seen = no_secret(name);
            return report.error(SIGNING, seen, create);
        }
        Fact::Forbidden(why) => return report.unknown(SIGNING, &format!("the Secret `{name}`"), &why),
    };
    if secret.pointer("/data").and_then(|data| data.get(SIGNING_KEY)).is_none() {
        let seen = format!(
            "the Secret `{name}` has no key `{SIGNING_KEY}`: results stay on the volume until the key \
                            is added"
        );
        return report.error(SIGNING, seen, replacing(&create));
    }
    report.ok(
        SIGNING,
        format!("the Secret `{name}` has `{SIGNING_KEY}`; the log of the step `record` shows the id of the key"),
    );
}

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let results = &needs.settings.results;
    let (name, namespace) = (&results.credential, &needs.target.namespace);
    if results.mode == "local" {
        let seen = "results stay on the volume (`results.mode: local`)";
        return report.warning(CHECK, seen, "use `branch` or `inbox`: a cluster has no checkout to commit to");
    }
    let Some(remote) = results.remote.as_deref() else {
        let seen = "the project sets no `results.remote`, and a cluster has no checkout to take a remote from";
        return report.error(
            CHECK,
            seen,
            format!("write `results: {{remote: …}}` into {} and compile", needs.settings.path),
        );
    };
    let uses_ssh = remote.starts_with("ssh://") || !remote.contains("://");
    let create = if uses_ssh {
        format!(
            "kubectl -n {namespace} create secret generic {name} --from-file=ssh-privatekey=KEY --from-file=known_hosts=KNOWN_HOSTS"
        )
    } else {
        format!(
            "kubectl -n {namespace} create secret generic {name} --from-literal=username=USER --from-file=password=FILE"
        )
    };
    let secret = match facts.read(&format!("/api/v1/namespaces/{namespace}/secrets/{name}")) {
        Fact::There(secret) => secret,
        Fact::Absent if remote.starts_with("http://") => {
            let seen = format!("there is no Secret `{name}`, and the remote is plain HTTP");
            return report.warning(CHECK, seen, "keep this only if the server accepts a push from anyone");
        }
        Fact::Absent => {
            let seen = no_secret(name);
            return report.error(CHECK, seen, create);
        }
        Fact::Forbidden(why) => return report.unknown(CHECK, &format!("the Secret `{name}`"), &why),
    };
    let data = secret.get("data").and_then(Json::as_object);
    let keys: BTreeSet<&str> = data.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let wanted: &[&str] = if uses_ssh { &["ssh-privatekey"] } else { &["password"] };
    let missing: Vec<&str> = wanted.iter().filter(|key| !keys.contains(**key)).copied().collect();
    if !missing.is_empty() {
        let form = if uses_ssh { "an SSH remote" } else { "an HTTP remote" };
        let seen = format!("the Secret `{name}` has no key {}, which {form} needs", super::quoted(missing));
        return report.error(CHECK, seen, create);
    }
    if uses_ssh && !keys.contains("known_hosts") {
        const ADD: &str = "add the output of `ssh-keyscan HOST`, after you have compared its fingerprints with those \
                           that the host publishes";
        let has_none = format!("the Secret `{name}` has no key `known_hosts`");
        return match results.ssh_host_keys {
            Some(_) => {
                report.warning(CHECK, format!("{has_none}: git trusts any server that answers"), ADD);
            }
            None => report.error(CHECK, format!("{has_none}, so nothing is recorded"), ADD),
        };
    }
    report.ok(
        CHECK,
        format!(
            "the Secret `{name}` has the keys that the remote needs; the first push shows whether the remote accepts \
             them"
        ),
    );
}

fn no_secret(name: &str) -> String {
    format!("there is no Secret `{name}`: results stay on the volume until there is one")
}

/// Returns a command that writes an object again which exists, from the one that creates it.
pub(super) fn replacing(create: &str) -> String {
    format!("{create} --dry-run=client -o yaml | kubectl apply -f -")
}
