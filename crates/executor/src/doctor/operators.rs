//! Operators that exchange requests with pods, in namespaces that the network policy does not know.

use super::{Facts, Needs, Report, apis, text_at};
use kubebench_compiler::model::target::{NetworkPolicy, Openings};

const CHECK: &str = "network policy";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let NetworkPolicy::On(openings) = &needs.target.network_policy else { return };
    let Openings { kuberay, katib, .. } = &**openings;
    for (kind, deployment, namespaces, field) in
        [("RayJob", "kuberay-operator", kuberay, "kuberay"), ("Experiment", "katib-db-manager", katib, "katib")]
    {
        if !needs.created.iter().any(|(_, created)| created == kind) {
            continue;
        }
        let deployments = apis::deployments(facts);
        for found in apis::called(&deployments, deployment) {
            let namespace = text_at(found, "/metadata/namespace");
            if !namespaces.iter().any(|known| known == namespace) {
                let seen = format!(
                    "it blocks traffic between `{deployment}` in `{namespace}` and the pods of a \
                                    {kind}"
                );
                let advice = format!(
                    "write `networkPolicy: {{operatorNamespaces: {{{field}: [{namespace}]}}}}` into the target"
                );
                report.error(CHECK, seen, advice);
            }
        }
    }
}
