use std::sync::LazyLock;

use crate::lower::{Document, project};
use crate::workload;
use kubebench_format::schema::{DocumentKind, Schemas};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::{Source, SourceMap};
use kubebench_syntax::yaml;
use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

/// Made once: that takes longer than to check a project.
static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| Schemas::new(&workload::schemas()));

/// Checks the findings about a target with these fields.
#[track_caller]
fn check(fields: &str, expected: &[(&str, Snapshot)]) {
    let text = format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{a: {{{fields}}}}}}}\n"
    );
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    let id = sources.add(Source::new("kubebench.yaml", text.as_bytes()));
    let source = sources.get(id).unwrap();
    let root = yaml::read(id, source).root.unwrap();
    found.extend(SCHEMAS.validate(DocumentKind::Project, &sources, &root));
    if !found.has_errors() {
        project(Some(Document { id, sources: &sources, root: &root, fragments: &[] }), "0.1.0", &mut found);
    }
    let place = |fault: &kubebench_syntax::diag::Diagnostic| match fault.place {
        kubebench_syntax::diag::Place::Span(span) => source.slice(span).to_owned(),
        kubebench_syntax::diag::Place::File(_) | kubebench_syntax::diag::Place::Line(..) => String::new(),
    };
    let found: Vec<(String, String)> = found
        .into_sorted(&sources)
        .iter()
        .map(|fault| (format!("{} at {}", fault.code.id, place(fault)), fault.message.clone()))
        .collect();
    assert_findings(&found, expected);
}

#[test]
fn tolerations_and_network_rules_are_those_of_the_api() {
    check("tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]", &[]);
    check(
        "tolerations: [{keyy: a, operator: Exists}]",
        &[("KB0316 at keyy", str! {"`keyy` is not a field of a toleration"})],
    );
    check(
        "tolerations: [{key: a, operator: Exist}, {key: a, tolerationSeconds: 5m}]",
        &[
            ("KB0325 at Exist", str! {"`Exist` is not a value of `operator`"}),
            ("KB0316 at 5m", str! {"`tolerationSeconds` must be a whole number, not the string `5m`"}),
        ],
    );
    check("networkPolicy: {egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}", &[]);
    check(
        "networkPolicy: {egress: [{too: []}], ingress: [{from: [{namespaceSelector: {matchLabel: {a: b}}}]}]}",
        &[
            ("KB0316 at too", str! {"`too` is not a field of a rule of `egress`"}),
            ("KB0316 at matchLabel", str! {"`matchLabel` is not a field of `namespaceSelector`"}),
        ],
    );
}

#[test]
fn mirrors_prices_and_names_have_their_forms() {
    check("imageMirrors: {docker.io: mirror.example/docker, 'localhost:5000/a': b.example}", &[]);
    check(
        "imageMirrors: {'https://docker.io': mirror.example}",
        &[("KB0205 at https://", str! {"`https://docker.io` is a URL, not a prefix of images"})],
    );
    check("imageMirrors: {docker.io: mirror.example/}", &[("KB0205 at /", str! {"`mirror.example/` ends with `/`"})]);
    check(
        "imageMirrors: {docker.io: 'mirror.example/a:1'}",
        &[("KB0205 at :1", str! {"`mirror.example/a:1` has a tag or digest, which a prefix cannot have"})],
    );
    check("prices: {currency: EUR, nvidia.com/gpu: 2, cpu: 1, memory: 0.1}", &[]);
    check("prices: {currency: EUR, gpu: 2}", &[("KB0205 at gpu", str! {"`gpu` is not a resource of a container"})]);
    check(
        "priorityClass: High Priority",
        &[("KB0205 at H", str! {"`High Priority` is not a DNS-1123 subdomain: `H` is not allowed in it"})],
    );
}
