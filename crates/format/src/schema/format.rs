//! The formats that schemas name and the checks behind them.
//!
//! A JSON Schema validator only learns yes or no; the message comes from the same check, called again for the invalid node.

use regex_syntax::hir::{Hir, HirKind};

use super::pattern;
use kubebench_syntax::diag::code;
use kubebench_syntax::text::{grouped, reorders};
use kubebench_syntax::unit::{self, UnitError};

/// A named format.
pub struct Format {
    /// The name in `format:`.
    pub name: &'static str,
    /// The name of such a value, to complete "expected …".
    pub noun: &'static str,
    pub check: fn(&str) -> Result<(), UnitError>,
}

macro_rules! unit_format {
    ($name:literal, $noun:literal, $unit:ident) => {
        Format { name: $name, noun: $noun, check: |text| unit::$unit::parse(text).map(drop) }
    };
}

/// Every format that a schema may name.
pub(crate) static FORMATS: &[Format] = &[
    unit_format!("duration", "a duration", Duration),
    unit_format!("percentage", "a percentage", Percentage),
    unit_format!("cron", "cron fields", Cron),
    unit_format!("day", "a day", Day),
    unit_format!("beginning", "a session, a commit or a time", Beginning),
    Format { name: "day-or-revision", noun: "a day, a time or a revision", check: day_or_revision },
    unit_format!("timezone", "a time zone", TimeZone),
    unit_format!("image", "an image reference", ImageRef),
    unit_format!("image-prefix", "a prefix of images", ImagePrefix),
    unit_format!("quantity", "a Kubernetes quantity", Quantity),
    unit_format!("dns1123-subdomain", "the name of a Kubernetes object", Dns1123Subdomain),
    unit_format!("dns1123-label", "a DNS label", Dns1123Label),
    unit_format!("env-name", "the name of an environment variable", EnvName),
    unit_format!("label-key", "a label key", LabelKey),
    unit_format!("label-value", "a label value", LabelValue),
    unit_format!("resource-name", "a resource name", ResourceName),
    Format { name: "sentence", noun: "a text for the reviewer", check: sentence },
    Format { name: "resource-key", noun: "a resource name, `requests` or `limits`", check: resource_key },
    Format { name: "price-key", noun: "a resource name or `currency`", check: price_key },
    unit_format!("parameter-name", "a parameter name", ParameterName),
    Format { name: "pod-field", noun: "a field of the pod", check: pod_field },
    Format { name: "concurrency", noun: "a number of Workflows", check: concurrency },
    Format { name: "processes-per-node", noun: "a number of processes", check: processes_per_node },
    unit_format!("config-key", "a key of a ConfigMap or Secret", ConfigMapKey),
    unit_format!("file-name", "a file name", ConfigMapKey),
    Format { name: "benchmark-name", noun: "a benchmark name", check: benchmark_name },
    Format { name: "target-name", noun: "a target name", check: |text| unit::Dns1123Label::parse(text).map(drop) },
    Format { name: "metric-name", noun: "a metric name", check: metric_name },
    Format { name: "metric-unit", noun: "a unit", check: mark },
    Format { name: "metric-label", noun: "the name of a label", check: mark },
    Format { name: "metric-pattern", noun: "a regular expression", check: metric_pattern },
    Format { name: "relative-path", noun: "a relative path", check: relative_path },
    Format { name: "json-pointer", noun: "a JSON Pointer", check: json_pointer },
    Format { name: "sha256", noun: "a SHA-256 digest", check: sha256 },
    Format { name: "http-url", noun: "an HTTP address", check: http_url },
    Format { name: "site-url", noun: "the address of a site", check: site_url },
    Format { name: "storage-uri", noun: "the address of a store", check: storage_uri },
    Format { name: "git-remote", noun: "the address of a repository", check: super::remote::check },
    Format { name: "git-branch", noun: "the name of a branch", check: super::git_ref::branch },
    Format { name: "git-ref-prefix", noun: "a prefix of refs", check: super::git_ref::ref_prefix },
    Format { name: "lint-code", noun: "the code of a lint", check: lint_code },
    Format {
        name: "version-requirement",
        noun: "a version requirement",
        check: |text| unit::VersionReq::parse(text).map(drop),
    },
];

/// The longest benchmark name: with digest and run number it stays inside every Kubernetes limit.
pub const MAX_BENCHMARK_NAME: usize = 31;

/// Returns the format called `name`.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

fn fault(message: impl Into<String>, help: impl Into<String>) -> UnitError {
    UnitError { message: message.into(), help: Some(help.into()), range: None }
}

/// A day or a time, or else a name of a commit, which only a repository knows.
fn day_or_revision(text: &str) -> Result<(), UnitError> {
    const HELP: &str = "write a day such as `2026-01-31` (UTC), or a tag or commit";
    if unit::is_time(text) {
        return unit::Beginning::parse(text).map(drop);
    }
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || reorders(letter);
    if text.is_empty() || text.starts_with('-') || text.contains("..") || text.chars().any(is_odd) {
        return Err(fault(format!("`{}` names neither a day nor a commit", text.escape_debug()), HELP));
    }
    Ok(())
}

/// The parts of `resources` that hold resources.
const PARTS: [&str; 2] = ["requests", "limits"];

/// Returns the part of `resources` that `text` was meant to name.
pub(super) fn part_of_resources(text: &str) -> Option<&'static str> {
    kubebench_syntax::diag::did_you_mean(text, PARTS)
}

/// A key of `resources`: a resource, or one of the two parts that hold resources.
fn resource_key(text: &str) -> Result<(), UnitError> {
    if PARTS.contains(&text) {
        return Ok(());
    }
    match part_of_resources(text) {
        Some(close) => {
            Err(fault(format!("`{text}` is not a resource of a container"), format!("did you mean `{close}`?")))
        }
        None => unit::ResourceName::parse(text).map(drop),
    }
}

/// A key of `prices`: a resource, or the currency.
fn price_key(text: &str) -> Result<(), UnitError> {
    if text == "currency" { Ok(()) } else { unit::ResourceName::parse(text).map(drop) }
}

fn benchmark_name(text: &str) -> Result<(), UnitError> {
    unit::Dns1035Label::parse_max(text, MAX_BENCHMARK_NAME).map(drop)
}

fn metric_name(text: &str) -> Result<(), UnitError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | ':');
    if text.is_empty()
        || text.len() > 128
        || !text.chars().all(fits)
        || !text.starts_with(|c: char| c.is_ascii_alphanumeric())
    {
        return Err(fault(
            format!("`{text}` is not a metric name"),
            "use letters, digits, `-`, `_`, `.`, `/`, `@` and `:`, starting with a letter or digit, at most 128 characters",
        ));
    }
    Ok(())
}

/// A short text shown with values, in tables and on terminals.
fn mark(text: &str) -> Result<(), UnitError> {
    const LONGEST: usize = 64;
    if text.trim().is_empty() {
        return Err(fault("it is empty", "write a word, or leave it out"));
    }
    if text.chars().any(|letter| letter.is_control() || reorders(letter)) {
        return Err(fault(
            "it has a control character, or one that changes the direction of the text",
            "write letters, digits and signs",
        ));
    }
    match text.chars().count() {
        ..=LONGEST => Ok(()),
        length => Err(fault(format!("it has {length} characters, of {LONGEST} at most"), "write a shorter one")),
    }
}

fn metric_pattern(text: &str) -> Result<(), UnitError> {
    let parsed = regex_syntax::parse(text).map_err(|error| {
        let reason = error.to_string();
        let reason = match reason.lines().last().unwrap_or(&reason).trim_start_matches("error: ") {
            "repetition operator missing expression" => "there is nothing to repeat",
            reason => reason,
        };
        let message = format!("the pattern is not a regular expression: {reason}");
        let help = "the syntax is that of Rust's regex crate: no look-around, no back references";
        UnitError { range: place_of(&error, text), ..fault(message, help) }
    })?;
    let size = pattern::size_of(&parsed);
    if size > pattern::LARGEST {
        let (size, largest) = (grouped(size), grouped(pattern::LARGEST));
        return Err(fault(
            format!("the pattern is too large: it compiles to about {size} instructions, of {largest} at most"),
            pattern::SMALLER,
        ));
    }
    if !has_value_group(&parsed) {
        return Err(fault("the pattern has no group named `value`", r"mark the number: `(?P<value>\S+)`"));
    }
    Ok(())
}

/// Returns the part of a pattern that is not a regular expression: at least one of its letters.
fn place_of(error: &regex_syntax::Error, text: &str) -> Option<std::ops::Range<usize>> {
    let span = match error {
        regex_syntax::Error::Parse(error) => error.span(),
        regex_syntax::Error::Translate(error) => error.span(),
        _ => return None,
    };
    let (start, end) = (span.start.offset, span.end.offset);
    if start < end {
        return Some(start..end);
    }
    let last = text.get(..start)?.char_indices().next_back();
    let next = text.get(start..)?.chars().next();
    next.map(|letter| start..start + letter.len_utf8()).or_else(|| last.map(|(at, _)| at..start))
}

fn has_value_group(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(group) => group.name.as_deref() == Some("value") || has_value_group(&group.sub),
        HirKind::Repetition(repetition) => has_value_group(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_value_group),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

fn relative_path(text: &str) -> Result<(), UnitError> {
    let bad = text.is_empty()
        || text.starts_with('/')
        || text.contains(['\\', '\0', '\n'])
        || text.split('/').any(|part| matches!(part, "" | "." | ".."));
    if text.split('/').any(|part| part == "..") {
        return Err(fault(
            format!("`{text}` leads out of its folder"),
            "write a path without `..`, such as `out/metrics.json`: move the file, or a copy of it, into the folder",
        ));
    }
    if bad {
        return Err(fault(
            format!("`{text}` is not a relative path"),
            "write a path without a leading `/`, `.`, `..` or `\\`, such as `out/metrics.json`",
        ));
    }
    Ok(())
}

fn json_pointer(text: &str) -> Result<(), UnitError> {
    let message = format!("`{text}` is not a JSON Pointer");
    if !(text.is_empty() || text.starts_with('/')) {
        // `$.train.steps[0]` of JSONPath, `.train.steps[0]` of jq, `#/train/steps/0` of URIs.
        let steps =
            text.trim_start_matches(['$', '#', '.', '/']).replace(['.', '['], "/").replace([']', '"', '\''], "");
        return Err(fault(message, format!("write `/{steps}`: every step starts with `/`")));
    }
    if text.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
        return Err(fault(message, "write `~0` for a `~` inside a key, and `~1` for a `/`"));
    }
    Ok(())
}

/// The fields that the downward API offers to a variable; volumes have a few more.
pub(super) const POD_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

fn sentence(text: &str) -> Result<(), UnitError> {
    if text.trim().is_empty() {
        Err(UnitError { message: "it is empty".to_owned(), help: None, range: None })
    } else {
        Ok(())
    }
}

fn pod_field(text: &str) -> Result<(), UnitError> {
    for mapping in ["metadata.labels", "metadata.annotations"] {
        let Some(rest) = text.strip_prefix(mapping) else { continue };
        let key = rest.strip_prefix("['").and_then(|rest| rest.strip_suffix("']"));
        return match key {
            Some(key) => unit::LabelKey::parse(key).map(drop),
            None => Err(fault(
                format!("`{text}` does not name one value of `{mapping}`"),
                format!("name it in brackets and quotes: `\"{mapping}['team']\"`"),
            )),
        };
    }
    if POD_FIELDS.contains(&text) {
        return Ok(());
    }
    let help = kubebench_syntax::diag::did_you_mean(text, POD_FIELDS).map_or_else(
        || format!("write one of {}, `metadata.labels['KEY']` or `metadata.annotations['KEY']`", POD_FIELDS.join(", ")),
        |close| format!("did you mean `{close}`?"),
    );
    Err(fault(format!("`{text}` is not a field of the pod that a variable can have"), help))
}

/// What torchrun takes for `--nproc-per-node`.
fn processes_per_node(text: &str) -> Result<(), UnitError> {
    let is_count = text.parse::<u32>().is_ok_and(|count| count > 0) && !text.starts_with(['+', '0']);
    if is_count || matches!(text, "auto" | "gpu" | "cpu") {
        return Ok(());
    }
    Err(fault(
        format!("`{text}` is not a number of processes that torchrun accepts"),
        "write `auto`, `gpu`, `cpu` or a whole number from 1",
    ))
}

fn concurrency(text: &str) -> Result<(), UnitError> {
    let is_count =
        text.parse::<u32>().is_ok_and(|count| (1..=10_000).contains(&count)) && !text.starts_with(['+', '0']);
    if is_count || matches!(text, "exclusive" | "unlimited") {
        return Ok(());
    }
    Err(fault(
        format!("`{text}` is not a limit of Workflows that run at once"),
        "write `exclusive`, `unlimited` or a whole number from 1 to 10000",
    ))
}

fn sha256(text: &str) -> Result<(), UnitError> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        return Err(fault(
            format!("`{text}` is not a SHA-256 digest"),
            "write 64 lower-case hex digits, as `sha256sum FILE` prints them",
        ));
    }
    Ok(())
}

fn http_url(text: &str) -> Result<(), UnitError> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/') || rest.contains(char::is_whitespace)) {
        return Err(fault(format!("`{text}` is not an HTTP address"), "write `http://host:port` or `https://host`"));
    }
    if rest.is_some_and(|rest| rest.split('/').next().is_some_and(|authority| authority.contains('@'))) {
        return Err(fault("the address holds a user name or password", "leave it out; a spec is read by everybody"));
    }
    Ok(())
}

/// The address of a folder of pages: paths are added to it, and it is written into comments.
fn site_url(text: &str) -> Result<(), UnitError> {
    http_url(text)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~:/%".contains(letter);
    if let Some(letter) = text.chars().find(|letter| !is_plain(*letter)) {
        return Err(fault(
            format!("the address of a site has no `{}`", letter.escape_debug()),
            "write `https://host/path` without a query; other letters of a path as `%XX`",
        ));
    }
    if text.ends_with("/index.html") {
        return Err(fault("this is a page of the site, not the site", "leave out `index.html`"));
    }
    Ok(())
}

/// As required by Trainer's CRD.
fn storage_uri(text: &str) -> Result<(), UnitError> {
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
    let is_whole = text.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(of_scheme) && !rest.is_empty()
    });
    if is_whole && text.len() <= 2048 {
        return Ok(());
    }
    Err(fault(
        format!("`{text}` is not the address of a store"),
        "write a scheme and a place, such as `hf://org/name` or `s3://bucket/path`",
    ))
}

fn lint_code(text: &str) -> Result<(), UnitError> {
    let Some(code) = code::ALL.iter().find(|code| code.id == text) else {
        let close = kubebench_syntax::diag::did_you_mean(
            text,
            code::ALL.iter().filter(|code| code.configurable).map(|code| code.id),
        );
        let help =
            close.map_or("`kubebench explain` lists the codes".to_owned(), |close| format!("did you mean `{close}`?"));
        return Err(fault(format!("there is no code `{text}`"), help));
    };
    if !code.configurable {
        return Err(fault(
            format!("`{text}` ({}) has a fixed level", code.title),
            "leave it out: only lints have a level that can be set, and `kubebench explain` lists them",
        ));
    }
    Ok(())
}
