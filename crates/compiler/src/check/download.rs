//! KB0467: pods that fetch something from outside of the cluster, where a network policy keeps them inside.

use serde_json::Value as Json;

use crate::model::target::NetworkPolicy;
use crate::model::{Benchmark, Env, Role, Workload};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;

/// Stores that are reached by HTTPS.
const STORES: [&str; 6] = ["hf://", "gs://", "s3://", "s3a://", "abfs://", "abfss://"];
/// Programs that fetch a model by its name on a hub.
const SERVERS: [&str; 6] =
    ["vllm", "sglang", "text-generation-inference", "text-generation-launcher", "lmdeploy", "trtllm"];
/// Their options for it.
const MODEL: [&str; 4] = ["--model", "--model-path", "--model-id", "--tokenizer"];
/// Variables that say that the data is already there, or comes from elsewhere.
const OFFLINE: [&str; 4] = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_ENDPOINT", "VLLM_USE_MODELSCOPE"];

/// Reports the first download of a benchmark on a target without an egress rule that could lead there.
pub(super) fn open(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    let NetworkPolicy::On(openings) = &target.network_policy else { return };
    let of_workloads = benchmark.cases.iter().filter_map(|case| of_workload(&case.workload));
    let Some((source, span)) = benchmark.roles().filter_map(of_role).chain(of_workloads).next() else { return };
    let by_proxy = benchmark.roles().any(|role| has(role, &["HTTPS_PROXY", "https_proxy"]));
    if openings.egress.iter().any(|rule| by_proxy || may_reach_outside(rule)) {
        return;
    }
    let message = format!("the network policy of the target `{}` blocks the download of `{source}`", target.name);
    let fault = Diagnostic::at(&code::KB0467, span, message).note(
        "it allows DNS and traffic between the benchmark's pods; where the network enforces policies, the download \
         hangs until the timeout",
    );
    diagnostics.push(fault.help(
        "allow HTTPS on the target in kubebench.yaml, `networkPolicy: {egress: [{ports: [{port: 443, protocol: TCP}]}]}`, \
         or use a copy inside the cluster",
    ));
}

/// Returns what the object of a workload names. The server of a Model is not of the benchmark, and its pods are not either.
fn of_workload(workload: &Workload) -> Option<(String, Span)> {
    if workload.api.kind == "Model" {
        return None;
    }
    let bodies = std::iter::once(&workload.spec).chain(workload.supporting.iter().map(|supporting| &supporting.body));
    let source = bodies.flat_map(|body| body.values()).find_map(in_json)?;
    Some((source, workload.span))
}

fn in_json(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => remote(text),
        Json::Array(items) => items.iter().find_map(in_json),
        Json::Object(fields) => fields.values().find_map(in_json),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

/// Returns what the words of a pod name.
fn of_role(role: &Role) -> Option<(String, Span)> {
    let has_endpoint = role.env.keys().any(|name| name.ends_with("ENDPOINT") || name.contains("ENDPOINT_URL"));
    let [command, args] = &role.word_spans;
    let spans = command.iter().chain(args).map(Some).chain(std::iter::repeat(None));
    let words: Vec<(&str, Span)> = role
        .command
        .iter()
        .chain(&role.args)
        .map(String::as_str)
        .zip(spans)
        // What a kind adds by itself has no place.
        .map(|(word, span)| (word, *span.unwrap_or(&role.span)))
        .collect();
    let variables = role.env.values().filter_map(|(value, span)| match value {
        Env::Text(text) => Some((text.as_str(), *span)),
        _ => None,
    });
    let is_ours = |source: &String| !(has_endpoint && source.starts_with("s3"));
    let mut named = words.iter().copied().chain(variables);
    let named = named.find_map(|(text, span)| Some((remote(text).filter(is_ours)?, span)));
    named.or_else(|| model(role, &words))
}

/// Returns the model that a server of models fetches by its name.
fn model(role: &Role, words: &[(&str, Span)]) -> Option<(String, Span)> {
    let image = role.image.as_ref().map(ToString::to_string).unwrap_or_default();
    let serves = |text: &str| SERVERS.iter().any(|server| text.contains(server));
    if !(serves(&image) || words.iter().any(|(word, _)| serves(word))) || has(role, &OFFLINE) {
        return None;
    }
    let single: Vec<(&str, Span)> =
        words.iter().flat_map(|(word, span)| word.split_whitespace().map(|one| (one, *span))).collect();
    let next = single.iter().skip(1).map(|(word, span)| (*word, *span));
    let named = single.iter().zip(next).filter_map(|((option, _), (value, span))| {
        (MODEL.contains(option) || *option == "serve").then_some((value, span))
    });
    let joined = single.iter().filter_map(|(word, span)| {
        let (option, value) = word.split_once('=')?;
        MODEL.contains(&option).then_some((value, *span))
    });
    named.chain(joined).find(|(value, _)| is_of_hub(value)).map(|(value, span)| (value.to_owned(), span))
}

/// Whether a name is that of a model on a hub, `org/name`, rather than a path.
fn is_of_hub(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
    };
    name.split_once('/').is_some_and(|(owner, name)| is_part(owner) && is_part(name))
}

/// Returns the first address in a text that is outside of the cluster.
fn remote(text: &str) -> Option<String> {
    let is_end =
        |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | ',' | ')' | ';' | '`' | '<' | '>');
    let words = text.split(is_end).map(|word| word.rsplit_once('=').map_or(word, |(_, value)| value));
    words.filter(|word| is_remote(word)).map(str::to_owned).next()
}

fn is_remote(word: &str) -> bool {
    if let Some(rest) = word.strip_prefix("https://") {
        let host = rest.split(['/', ':', '?', '#']).next().unwrap_or_default();
        let is_inside =
            [".svc", ".local", ".internal", ".cluster.local", "localhost"].iter().any(|end| host.ends_with(end));
        // A name without a domain is a Service, and an address may be anywhere.
        let is_address = host.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        return host.contains('.') && !is_inside && !is_address && !host.contains('$');
    }
    STORES.iter().any(|scheme| word.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}

fn has(role: &Role, names: &[&str]) -> bool {
    names.iter().any(|name| role.env.contains_key(*name))
}

/// Whether a rule lets pods reach HTTPS outside of the cluster's pods.
fn may_reach_outside(rule: &Json) -> bool {
    let items = |field: &str| rule.get(field).and_then(Json::as_array).filter(|items| !items.is_empty());
    items("to").is_none_or(|peers| peers.iter().any(|peer| peer.get("ipBlock").is_some()))
        && items("ports").is_none_or(|ports| ports.iter().any(is_https))
}

fn is_https(port: &Json) -> bool {
    if port.get("protocol").is_some_and(|protocol| protocol != "TCP") {
        return false;
    }
    let Some(first) = port.get("port").and_then(Json::as_u64) else { return true };
    let last = port.get("endPort").and_then(Json::as_u64).unwrap_or(first);
    (first..=last).contains(&443)
}
