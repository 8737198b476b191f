//! The words for one violation of a schema.

use std::collections::BTreeMap;

use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value as Json;

use super::explain;
use super::foreign_spellings;
use super::format::{self, Format};
use super::inline::inline;
use super::shape::{self, has_type};
use super::spelling;
use super::violation::Violation;
use crate::spec::v1::scalar::LOOKUP_PATTERN;
use kubebench_syntax::diag::{Diagnostic, Place, code, did_you_mean};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{SourceMap, Span};
use kubebench_syntax::unit;
use kubebench_syntax::yaml::scalar::{self, Plain};
use kubebench_syntax::yaml::{Entry, Value, colon, expression, write_string_scalar};

/// Returns the findings for one violation: several only where one keyword covers several mistakes.
pub(super) fn findings(violation: &Violation<'_>) -> Vec<Diagnostic> {
    match violation.kind {
        Kind::AdditionalProperties { unexpected } => {
            unexpected.iter().map(|key| unknown_field(violation, key)).collect()
        }
        Kind::AnyOf { .. } if violation.schema.pointer("/anyOf/0/enum").is_some() => {
            vec![not_allowed(violation, violation.schema.pointer("/anyOf/0/enum").unwrap_or(&Json::Null))]
        }
        // The one choice of fields that there is: the first is what most specs mean.
        Kind::AnyOf { .. } => missing_field(violation, first_choice(violation)),
        Kind::Required { property } => {
            missing_field(violation, property.as_str().expected("the name of a required field"))
        }
        // The key is found for itself.
        Kind::Type { .. } if is_misnamed(violation) => Vec::new(),
        Kind::Type { .. } => vec![wrong_type(violation)],
        Kind::Pattern { .. } if violation.format().is_none() => vec![wrong_type(violation)],
        Kind::Pattern { .. } => Vec::new(),
        Kind::Enum { options } => vec![not_allowed(violation, options)],
        Kind::Constant { expected_value } => {
            vec![not_allowed(violation, &Json::Array(vec![(**expected_value).clone()]))]
        }
        Kind::Format { .. } => {
            vec![malformed(
                violation,
                violation.node.as_text().expected("text, since formats are of texts"),
                violation.node.span,
            )]
        }
        Kind::PropertyNames { error } => bad_key(violation, error),
        Kind::MinProperties { .. } | Kind::MaxProperties { .. } => vec![exactly_one(violation)],
        Kind::Minimum { limit } => vec![out_of_range(violation, &format!("at least {limit}"))],
        Kind::Maximum { limit } => vec![out_of_range(violation, &format!("at most {limit}"))],
        Kind::MinItems { limit } => vec![out_of_range(violation, &format!("a list of at least {limit}"))],
        Kind::MaxItems { limit } => vec![out_of_range(violation, &format!("a list of at most {limit}"))],
        Kind::MinLength { limit } => vec![out_of_range(violation, &format!("at least {limit} characters"))],
        Kind::MaxLength { limit } => vec![out_of_range(violation, &format!("at most {limit} characters"))],
        Kind::UniqueItems => repeated(violation),
        _ => {
            let message = format!("{} does not fit the schema", violation.name());
            vec![Diagnostic::at(&code::KB0203, violation.node.span, message)]
        }
    }
}

fn unknown_field(violation: &Violation<'_>, key: &str) -> Diagnostic {
    let span = violation.span_of_key(key);
    let owner = violation.name();
    let known = violation.properties();
    let fault = Diagnostic::at(&code::KB0201, span, format!("`{key}` is not a field of {owner}"));
    if let Some(at) = colon::without_space(key).filter(|at| key.get(..*at).is_some_and(|name| known.contains(&name))) {
        return without_space(fault, span, key, at);
    }
    if let Some(help) = foreign_spellings::of_pod(violation, key) {
        return fault.help(help);
    }
    if let Some(close) = did_you_mean(key, known.iter().copied()) {
        return fault.did_you_mean(span, close);
    }
    let fault = fault.note(format!("fields of {owner}: {}", known.join(", ")));
    if let Some(help) = foreign_spellings::field(violation, key) {
        return fault.help(help);
    }
    if let Some(field) = field_that_has(violation, &known, key) {
        let is_there = violation.node.get(field).is_some();
        return fault.help(if is_there {
            format!("indent it below `{field}`, which has the field `{key}`")
        } else {
            format!("write it below `{field}`: `{field}: {{{key}: …}}`")
        });
    }
    match violation.subject.ready.home_of(key) {
        Some(home) => fault.help(format!("`{key}` belongs {home}")),
        None => fault.help(format!("delete `{key}`, or write one of the fields above")),
    }
}

/// Returns the field of the same mapping that has a field `key`: one level is missing. Of several, the one that is written.
fn field_that_has<'v>(violation: &Violation<'_>, known: &[&'v str], key: &str) -> Option<&'v str> {
    let has = |field: &str| {
        let property = violation.schema.pointer(&format!("/properties/{field}"))?;
        explain::resolve(&violation.subject.ready.schema, property).get("properties")?.get(key).map(|_| ())
    };
    let fields: Vec<&str> = known.iter().copied().filter(|field| has(field).is_some()).collect();
    let written: Vec<&str> = fields.iter().copied().filter(|field| violation.node.get(field).is_some()).collect();
    match (written.as_slice(), fields.as_slice()) {
        ([field], _) | ([], [field]) => Some(field),
        _ => None,
    }
}

/// Says that a word at `span`, whose colon is at its byte `at`, is not a field without a space.
fn without_space(fault: Diagnostic, span: Span, word: &str, at: usize) -> Diagnostic {
    let fault = fault.help("write a space after `:`");
    let start = span.start as usize + at;
    // Quotes would shift the colon.
    let is_plain = span.range().len() == word.len();
    let colon = Span::new(span.source, start..start + 1);
    if is_plain { fault.likely_fix(colon, ": ") } else { fault }
}

/// Returns the field that the first of several ways to fill a mapping demands.
fn first_choice<'v>(violation: &'v Violation<'_>) -> &'v str {
    violation.schema.pointer("/anyOf/0/required/0").and_then(Json::as_str).expected("a choice of required fields")
}

/// Returns the finding about a missing field, unless it is misspelled, which has its own finding.
fn missing_field(violation: &Violation<'_>, field: &str) -> Vec<Diagnostic> {
    let known = violation.properties();
    let mut strangers = violation.node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str()));
    if strangers.any(|entry| did_you_mean(&entry.key, known.iter().copied()) == Some(field)) {
        return Vec::new();
    }
    let message = format!("{} needs the field `{field}`", violation.name());
    let property = violation
        .schema
        .pointer(&format!("/properties/{field}"))
        .map(|property| explain::resolve(&violation.subject.ready.schema, property));
    let example = property
        .as_ref()
        .and_then(|property| property.get("examples"))
        .and_then(|examples| examples.get(0))
        .map(inline);
    let fault = Diagnostic::at(&code::KB0202, violation.key_span, message);
    let fault = match property.as_ref().and_then(|property| property.get("description")).and_then(Json::as_str) {
        Some(description) => fault.note(format!("`{field}`: {}", lower_first(description))),
        None => fault,
    };
    vec![fault.help(example.map_or_else(
        || format!("add `{field}: …`"),
        |example| format!("write `{field}`, such as `{field}: {example}`"),
    ))]
}

/// Returns whether a mapping of resources is misnamed.
fn is_misnamed(violation: &Violation<'_>) -> bool {
    let is_quantity = violation.format().is_some_and(|format| format.name == "quantity");
    let is_mapping = matches!(violation.node.value, Value::Map(_));
    is_quantity && is_mapping && violation.field().is_some_and(|name| format::part_of_resources(name).is_some())
}

fn wrong_type(violation: &Violation<'_>) -> Diagnostic {
    let node = violation.node;
    let wanted = wanted(violation);
    if node.value == Value::Null {
        let message = format!("{} has no value", violation.name());
        return Diagnostic::at(&code::KB0203, violation.key_span, message)
            .help(format!("write {wanted}, or delete the line"));
    }
    let found = node.described();
    let fault = Diagnostic::at(&code::KB0203, node.span, format!("{} must be {wanted}, not {found}", violation.name()));
    if let Some(quoted) = unquoted_expression(violation) {
        return fault.help(format!("write `{quoted}`"));
    }
    if may_be_expression(violation) && node.as_text().is_some_and(|text| text.contains("${{")) {
        return fault.help("write the expression alone: its value is the whole value of the field");
    }
    let word = node.as_text().filter(|_| has_type(violation.schema, "object"));
    let known = violation.properties();
    if let Some((word, at)) = word.and_then(|word| Some((word, colon::without_space(word)?)))
        && word.get(..at).is_some_and(|name| known.contains(&name))
    {
        return without_space(fault, node.span, word, at);
    }
    if let Some(bare) = bare(violation) {
        return fault.help(format!("drop the quotes: `{bare}`")).fix(node.span, bare);
    }
    if let Some(help) = foreign_spellings::value(violation) {
        return fault.help(help);
    }
    if let Some(point) =
        node.as_text().and_then(foreign_spellings::with_point).filter(|_| has_type(violation.schema, "number"))
    {
        return fault.help(format!("write `{point}`, with a decimal point")).fix(node.span, point);
    }
    if let Some(value) = shape::written(violation) {
        let fault = fault.help(format!("write `{}{value}`", key_of(violation)));
        return if value.contains('…') { fault } else { fault.likely_fix(node.span, value) };
    }
    let text_wanted = has_type(violation.schema, "string") && violation.schema.get("pattern").is_none();
    match (&node.value, violation.format()) {
        (Value::Bool(flag), None) if text_wanted => {
            let quoted = format!("\"{flag}\"");
            fault
                .note("a boolean is not text: readers spell it differently")
                .help(format!("write `{quoted}` for the text"))
                .fix(node.span, quoted)
        }
        (Value::Number(text), Some(format)) => match (format.check)(text) {
            Err(unit::UnitError { help: Some(help), .. }) => advised(fault, node.span, help, format),
            Err(_) | Ok(()) => fault,
        },
        (Value::Map(_) | Value::Seq(_), _) if text_wanted => {
            fault.help("write one value; text that holds `: ` or begins with `[` or `{` needs quotes")
        }
        (Value::String(text) | Value::Number(text), _) if has_type(violation.schema, "array") => match as_list(text) {
            Ok(list) => fault.help(format!("write a list, one word per element: `{list}`")).likely_fix(node.span, list),
            Err(help) => fault.help(help),
        },
        (Value::String(text), _) if has_type(violation.schema, "number") => match number_before_unit(text) {
            Some(number) => fault.help(format!("write `{number}`, without a unit")).likely_fix(node.span, number),
            None => fault,
        },
        (Value::Map(_), _) if has_type(violation.schema, "array") => fault.help("start each entry with `- `"),
        _ => match violation.example() {
            Some(example) => fault.help(format!("write it as in `{}{}`", key_of(violation), inline(&example))),
            None => fault,
        },
    }
}

/// Returns the number of a text such as `40 images/s`.
fn number_before_unit(text: &str) -> Option<&str> {
    let (number, unit) = text.split_once(' ')?;
    (scalar::classify(number) == Plain::Number && !unit.is_empty()).then_some(number)
}

/// Returns how an expression is written that YAML has read as a mapping, since it lacks its quotes.
fn unquoted_expression(violation: &Violation<'_>) -> Option<String> {
    let span = violation.node.span;
    let text = &violation.subject.sources.get(span.source)?.text;
    let (_, quoted) = expression::quoted(text, span.range().start)?;
    matches!(violation.node.value, Value::Map(_)).then_some(quoted)
}

/// Returns the text of a quoted scalar that would fit without its quotes.
fn bare<'a>(violation: &Violation<'a>) -> Option<&'a str> {
    let Value::String(text) = &violation.node.value else { return None };
    let fits = match scalar::classify(text) {
        Plain::Number if text.contains('.') => has_type(violation.schema, "number"),
        Plain::Number => has_type(violation.schema, "number") || has_type(violation.schema, "integer"),
        Plain::Bool(_) => has_type(violation.schema, "boolean"),
        _ => false,
    };
    (fits && violation.subject.sources.slice(violation.node.span).starts_with(['"', '\''])).then_some(text)
}

/// Returns how the field that a value is of is written before it.
fn key_of(violation: &Violation<'_>) -> String {
    violation.field().map_or_else(String::new, |name| format!("{name}: "))
}

/// Gives advice about a text at `span`, and the edit that it is.
fn advised(fault: Diagnostic, span: Span, help: String, format: &Format) -> Diagnostic {
    match proposed(&help, format).map(as_written) {
        Some(text) => fault.help(help).likely_fix(span, text),
        None => fault.help(help),
    }
}

/// Returns a text as it is shown in advice, if it is that text without quotes.
fn as_written(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/%".contains(&byte);
    let is_word = text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(is_plain);
    if is_word && scalar::classify(text) == Plain::Text { text.to_owned() } else { write_string_scalar(text) }
}

/// Returns the one value that advice says to write.
fn proposed<'h>(help: &'h str, format: &Format) -> Option<&'h str> {
    let rest = help.strip_prefix("write `").or_else(|| help.strip_prefix("did you mean `"))?;
    let (text, after) = rest.split_once('`')?;
    let is_all = matches!(after, "" | "?") || after.starts_with(':') || after.starts_with(" (");
    (is_all && (format.check)(text).is_ok()).then_some(text)
}

/// Returns the words of a text as a list, for a field that wants a list, or else advice.
fn as_list(text: &str) -> Result<String, String> {
    if text.contains(['|', '&', ';', '<', '>', '$', '`', '(', '*']) {
        return Err(format!("write a list that calls a shell: `[sh, -c, '{}']`", text.replace('\'', "''")));
    }
    if text.contains(['"', '\'', ',', '#', '[', '{', ':']) {
        return Err("write a list, one word per element; quote the words that hold spaces or punctuation".to_owned());
    }
    Ok(format!("[{}]", text.split_whitespace().collect::<Vec<_>>().join(", ")))
}

/// Returns what the schema wants, as a noun with article.
fn wanted(violation: &Violation<'_>) -> String {
    let example = violation.schema.get("examples").and_then(|examples| examples.get(0));
    if let Some(format) = violation.format() {
        return match example.and_then(Json::as_str) {
            Some(example) => format!("{} such as `{example}`", format.noun),
            None => format.noun.to_owned(),
        };
    }
    let lookup = may_be_expression(violation);
    let mut names = Vec::new();
    for (name, words) in [
        ("integer", "a whole number"),
        ("string", "a string"),
        ("number", "a number"),
        ("boolean", "`true` or `false`"),
        ("array", "a list"),
        ("object", "a mapping"),
        ("null", "`null`"),
    ] {
        if has_type(violation.schema, name) && !(lookup && name == "string") {
            names.push(words);
        }
    }
    if names == ["a string", "a number", "`true` or `false`"] {
        return "a string, a number or a boolean".to_owned();
    }
    if names.contains(&"a string") {
        names.retain(|name| *name != "a number");
    }
    names.join(" or ")
}

/// Whether the only valid text is an expression.
fn may_be_expression(violation: &Violation<'_>) -> bool {
    violation.schema.get("pattern").and_then(Json::as_str) == Some(LOOKUP_PATTERN)
}

fn not_allowed(violation: &Violation<'_>, options: &Json) -> Diagnostic {
    let node = violation.node;
    let options: Vec<&str> = options.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let list = options.iter().map(|option| format!("`{option}`")).chain(form(violation)).collect::<Vec<_>>().join(", ");
    let Some(word) = node.as_text() else {
        let message = format!("{} must be one of {list}, not {}", violation.name(), node.type_name());
        return Diagnostic::at(&code::KB0203, node.span, message);
    };
    let fault = Diagnostic::at(&code::KB0204, node.span, format!("`{word}` is not a value of {}", violation.name()));
    let close = foreign_spellings::word(word, &options).or_else(|| did_you_mean(word, options.iter().copied()));
    match close {
        Some(close) => fault.help(format!("did you mean `{close}`? ({list})")).likely_fix(node.span, close),
        None => fault.help(format!("write one of {list}")),
    }
}

/// Returns what a field takes instead of one of its words: `a percentile such as …`.
fn form(violation: &Violation<'_>) -> Option<String> {
    let form = violation.schema.pointer("/anyOf/1")?;
    let examples = form.get("examples").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let examples: Vec<String> = examples.map(|example| format!("`{example}`")).collect();
    Some(format!("or {} such as {}", form.get("title")?.as_str()?, examples.join(", ")))
}

/// Words for `text` at `span`, which fails the format of the schema.
fn malformed(violation: &Violation<'_>, text: &str, span: Span) -> Diagnostic {
    let Some(format) = violation.format() else { return wrong_type(violation) };
    let rule = match format.name {
        "metric-pattern" => &code::KB0314,
        "benchmark-name" if text.len() > format::MAX_BENCHMARK_NAME => &code::KB0405,
        _ => &code::KB0205,
    };
    match (format.check)(text) {
        Err(_) if text.contains("{{") && rule == &code::KB0205 => {
            let message = format!("`{text}` has a template of another tool, and nothing fills it in");
            Diagnostic::at(rule, span, message).help("write the value, or an expression such as `${{ matrix.NAME }}`")
        }
        Err(error) => unit_fault(violation.subject.sources, rule, format, error, (text, span)),
        Ok(()) => Diagnostic::at(rule, span, format!("expected {}", format.noun)),
    }
}

fn unit_fault(
    sources: &SourceMap,
    rule: &'static kubebench_syntax::diag::Code,
    format: &Format,
    error: unit::UnitError,
    (text, span): (&str, Span),
) -> Diagnostic {
    let unit::UnitError { message, help, range } = error;
    let narrowed = range.and_then(|range| {
        let places = spelling::places(sources.slice(span), text)?;
        let (start, end) = (*places.get(range.start)?, *places.get(range.end)?);
        let base = span.start as usize;
        (start < end).then(|| Span::new(span.source, base + start..base + end))
    });
    let fault = Diagnostic::at(rule, narrowed.unwrap_or(span), message);
    match help {
        Some(help) => advised(fault, span, help, format),
        None => fault.note(format!("expected {}", format.noun)),
    }
}

fn bad_key(violation: &Violation<'_>, error: &jsonschema::ValidationError<'_>) -> Vec<Diagnostic> {
    let key = error.instance().as_str().expected("text, since keys are texts").to_owned();
    let span = violation.span_of_key(&key);
    let format = violation.format();
    match format.map(|format| (format, (format.check)(&key))) {
        Some((format, Err(fault))) => {
            vec![unit_fault(violation.subject.sources, &code::KB0205, format, fault, (&key, span))]
        }
        Some((_, Ok(()))) | None => {
            vec![Diagnostic::at(&code::KB0205, span, format!("`{key}` cannot be a key of {}", violation.name()))]
        }
    }
}

fn exactly_one(violation: &Violation<'_>) -> Diagnostic {
    let node = violation.node;
    let one_of = violation.schema.get("maxProperties").is_some();
    let known = violation.properties().iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if !one_of {
        return Diagnostic::at(&code::KB0206, violation.key_span, format!("{} is empty", violation.name()))
            .help("fill it, or delete it");
    }
    match node.entries() {
        [first, second, ..] => {
            let message =
                format!("{} holds `{}` and `{}`, but takes exactly one", violation.name(), first.key, second.key);
            let fault = Diagnostic::at(&code::KB0207, second.key_span, message);
            match part_of(violation, first, second) {
                Some((of_part, place)) => {
                    let key = &of_part.key;
                    fault
                        .related(Place::Span(of_part.key_span), "from here")
                        .help(format!("`{key}` is from {place}; write `{key}: null` to remove it"))
                }
                None => fault.help(format!("keep one of `{}` and `{}`", first.key, second.key)),
            }
        }
        _ => Diagnostic::at(&code::KB0207, violation.key_span, format!("{} is empty", violation.name()))
            .help(format!("write exactly one of {known}")),
    }
}

/// Returns which of two entries is from a fragment, and its place there, if the other one is the spec's own.
fn part_of<'n>(violation: &Violation<'n>, first: &'n Entry, second: &'n Entry) -> Option<(&'n Entry, String)> {
    let sources = violation.subject.sources;
    let own = violation.subject.own()?;
    let of_part = match (first.key_span.source == own, second.key_span.source == own) {
        (false, true) => first,
        (true, false) => second,
        _ => return None,
    };
    let source = sources.get(of_part.key_span.source)?;
    Some((of_part, format!("{}:{}", source.path, source.position(of_part.key_span.range().start).line)))
}

fn out_of_range(violation: &Violation<'_>, limit: &str) -> Diagnostic {
    let node = violation.node;
    let found = node.as_text().map_or_else(String::new, |text| format!(", not `{text}`"));
    Diagnostic::at(&code::KB0206, node.span, format!("{} must be {limit}{found}", violation.name()))
}

/// Reports every element that repeats an earlier one of the list.
fn repeated(violation: &Violation<'_>) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    let mut faults = Vec::new();
    for item in violation.node.items() {
        let text = item.as_text().map_or_else(|| item.to_json().to_string(), str::to_owned);
        if let Some(first) = seen.get(&text) {
            let message = format!("`{text}` appears twice in {}", violation.name());
            let fault = Diagnostic::at(&code::KB0206, item.span, message).label("second");
            faults.push(fault.related(Place::Span(*first), "first").help("delete one of them"));
        } else {
            seen.insert(text, item.span);
        }
    }
    faults
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let lowered: String = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
    lowered.trim_end_matches('.').to_owned()
}
