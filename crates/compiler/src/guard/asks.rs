//! KB0380 to KB0385: what of the cluster a benchmark reaches that a plain one does not.

use super::Field;
use crate::permission::permission;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::ImageRef;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Types of volumes that hold nothing but what a manifest says, or nothing at all.
const OWN_VOLUMES: [&str; 6] = ["configMap", "downwardAPI", "emptyDir", "name", "projected", "secret"];
/// Fields that say in a word what a volume is.
const OF_VOLUME: [&str; 7] = ["claimName", "path", "server", "driver", "volumeID", "pdName", "reference"];

/// Says what a field asks for.
pub(super) fn check(field: Field<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    let lower = key.to_ascii_lowercase();
    if lower.contains("secret") {
        diagnostics.extend(secrets(value, *key_span));
    } else if lower.contains("serviceaccount") && !lower.contains("token") {
        diagnostics.extend(named(value).map(|(name, span)| account(name, span)));
    } else if key == "image" {
        diagnostics.extend(image(value));
    } else if key == "serviceAccountToken" {
        let audience = value.get("audience").and_then(|audience| Some((audience.as_text()?, audience.span)));
        diagnostics.extend(audience.map(|(audience, span)| token(audience, span)));
    }
    if of == "volumes" && !OWN_VOLUMES.contains(&key.as_str()) && value.value != Value::Null {
        diagnostics.push(volume(key, value, *key_span));
    }
}

/// Says that an object of this kind is brought.
pub(super) fn kind(shown: &str, span: Span) -> Diagnostic {
    permission(&code::KB0385, span, shown.to_owned(), |kind| format!("the manifest brings a {kind}"))
}

/// Returns the Secrets that a field names: by itself, in an object, or in a list of either.
fn secrets(value: &Node, span: Span) -> Vec<Diagnostic> {
    let of_items = value.items().iter().filter_map(named);
    let all = named(value).into_iter().chain(of_items);
    let found: Vec<Diagnostic> = all
        .map(|(name, span)| {
            permission(&code::KB0380, span, name.to_owned(), |name| format!("reads the Secret `{name}`"))
        })
        .collect();
    let is_settled =
        !found.is_empty() || !value.items().is_empty() || matches!(value.value, Value::Null | Value::Bool(_));
    if is_settled {
        found
    } else {
        vec![permission(&code::KB0380, span, "?".to_owned(), |_| "reads a Secret".to_owned())]
    }
}

/// Returns the name that a field says, and where.
fn named(value: &Node) -> Option<(&str, Span)> {
    let node = ["secretName", "name"].iter().find_map(|field| value.get(field)).unwrap_or(value);
    node.as_text().filter(|name| !name.is_empty()).map(|name| (name, node.span))
}

fn account(name: &str, span: Span) -> Diagnostic {
    permission(&code::KB0381, span, name.to_owned(), |name| format!("pods are of the account `{name}`"))
}

fn token(audience: &str, span: Span) -> Diagnostic {
    permission(&code::KB0382, span, audience.to_owned(), |audience| format!("pods have a token for `{audience}`"))
}

/// Returns an image that can be another one tomorrow.
fn image(value: &Node) -> Option<Diagnostic> {
    let image = ImageRef::parse(value.as_text()?).ok().filter(|image| image.digest().is_none())?;
    Some(permission(&code::KB0384, value.span, image.to_string(), |image| {
        format!("runs `{image}`, which has no digest")
    }))
}

fn volume(kind: &str, value: &Node, span: Span) -> Diagnostic {
    let said = OF_VOLUME.iter().filter_map(|field| value.get(field)?.as_text());
    let value = std::iter::once(kind).chain(said).collect::<Vec<_>>().join(" ");
    permission(&code::KB0383, span, value, |volume| format!("mounts a volume from elsewhere: {volume}"))
}
