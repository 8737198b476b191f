//! The certificate authorities that `results.ca` names. Of a ConfigMap the text is looked at, of a Secret only the names of its keys.

use super::credential::replacing;
use super::{Fact, Facts, Needs, Report, text_at};
use kubebench_compiler::model::target::Holder;

const CHECK: &str = "certificate authorities";
/// What begins a certificate in PEM.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let Some(ca) = &needs.settings.results.ca else { return };
    let (key, namespace) = (&ca.key, &needs.target.namespace);
    let (what, plural, kind, name) = match &ca.holder {
        Holder::ConfigMap(name) => ("ConfigMap", "configmaps", "configmap", name),
        Holder::Secret(name) => ("Secret", "secrets", "secret generic", name),
    };
    let create = format!("kubectl -n {namespace} create {kind} {name} --from-file={key}");
    let lost = "results cannot be recorded over HTTPS, and metrics cannot be read from Prometheus";
    let object = match facts.read(&format!("/api/v1/namespaces/{namespace}/{plural}/{name}")) {
        Fact::There(object) => object,
        Fact::Absent => return report.error(CHECK, format!("there is no {what} `{name}`: {lost}"), create),
        Fact::Forbidden(why) => return report.unknown(CHECK, &format!("the {what} `{name}`"), &why),
    };
    let has = |field: &str| object.pointer(field).and_then(|data| data.get(key)).is_some();
    if !has("/data") && !has("/binaryData") {
        let seen = format!("the {what} `{name}` has no key `{key}`: {lost}");
        return report.error(CHECK, seen, replacing(&create));
    }
    let is_text = matches!(ca.holder, Holder::ConfigMap(_)) && has("/data");
    let text = object.pointer("/data").map_or("", |data| text_at(data, &format!("/{key}")));
    if is_text && !text.contains(BEGIN) {
        let seen = format!("`{key}` of the {what} `{name}` has no PEM certificate: {lost}");
        return report.error(CHECK, seen, replacing(&create));
    }
    report.ok(CHECK, format!("the {what} `{name}` has `{key}`"));
}
