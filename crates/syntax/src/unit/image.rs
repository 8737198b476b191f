//! Container image references: `registry:port/path:tag@digest`.

use std::fmt;
use std::ops::Range;

use super::{UnitError, quoted};
use crate::invariant::Invariant as _;

const WRITE_DIGEST: &str = "write `sha256:` and 64 hex digits after `@`";

/// A reference in the grammar of the distribution project, kept as written: nothing is filled in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageRef {
    registry: Option<String>,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

const EXAMPLE: &str = "write `registry.example.com/team/image:tag` or `…@sha256:<64 hex digits>`";
const REPOSITORY_RULE: &str =
    "parts between `/` are lower-case letters and digits, with single `.`, `_`, `__` or dashes between them";
const LONGEST_REPOSITORY: usize = 255;
/// The folder of the default registry that a name without `/` lives in; it counts toward the length.
const DEFAULT_FOLDER: &str = "library/";
const LONGEST_TAG: usize = 128;
const ALGORITHMS: [(&str, usize); 3] = [("sha256", 64), ("sha384", 96), ("sha512", 128)];

impl ImageRef {
    /// Reads a reference; a first part with a `.` or `:`, or `localhost`, is a registry.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        if text.is_empty() {
            return Err(UnitError::new("an image reference is empty").help(EXAMPLE));
        }
        if let Some(at) = text.find(char::is_whitespace) {
            let message = format!("{} has white space in it", quoted(text));
            return Err(UnitError::new(message).help("leave it out").at(at..text.len()));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let message = format!("{} is a URL, not an image reference", quoted(text));
            return Err(UnitError::new(message).help(format!("write {}", quoted(rest))).at(0..scheme.len() + 3));
        }
        let (named, digest) = match text.split_once('@') {
            Some((named, digest)) => (named, Some(digest)),
            None => (text, None),
        };
        let path_start = named.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match named.get(path_start..).expected("what follows a slash").split_once(':') {
            Some((last, tag)) => (named.get(..path_start + last.len()).expected("the part before a colon"), Some(tag)),
            None => (named, None),
        };
        let (registry, repository) = match name.split_once('/') {
            Some((first, rest)) if is_registry(first) => (Some(first), rest),
            _ => (None, name),
        };
        if let Some(registry) = registry {
            check_registry(registry)?;
        }
        check_repository(text, repository, name.len() - repository.len()..name.len())?;
        let folder = if registry.is_none() && !repository.contains('/') { DEFAULT_FOLDER.len() } else { 0 };
        let longest = LONGEST_REPOSITORY - folder;
        if repository.len() > longest {
            let message = format!("the repository has {} characters, at most {longest} are allowed", repository.len());
            return Err(UnitError::new(message)
                .help("use a shorter path")
                .at(name.len() - repository.len()..name.len()));
        }
        if registry.is_none() && repository.len() == 64 && is_hex(repository) {
            let message = format!("{} is a digest without a repository", quoted(text));
            return Err(UnitError::new(message).help(EXAMPLE));
        }
        if let Some(tag) = tag {
            check_tag(tag, name.len() + 1..named.len())?;
        }
        if let Some(digest) = digest {
            check_digest(digest, named.len() + 1..text.len())?;
        }
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Ok(Self {
            registry: owned(registry),
            repository: repository.to_owned(),
            tag: owned(tag),
            digest: owned(digest),
        })
    }

    /// Returns the registry's host and port, if one is written; without one the cluster asks its default.
    pub fn registry(&self) -> Option<&str> {
        self.registry.as_deref()
    }

    /// Returns the path inside the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the tag, if one is written.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the digest with its algorithm, if one is written.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(registry) = &self.registry {
            write!(f, "{registry}/")?;
        }
        f.write_str(&self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// A registry, or a registry and the first parts of a path: what many images begin with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImagePrefix(String);

impl ImagePrefix {
    /// Reads whole parts between `/`; they match images as these are written, so nothing is filled in.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        const EXAMPLE: &str = "write a registry, or one with a path, such as `docker.io` or `mirror.example/docker`";
        if text.is_empty() {
            return Err(UnitError::new("a prefix of images is empty").help(EXAMPLE));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let message = format!("{} is a URL, not a prefix of images", quoted(text));
            let rest = rest.trim_end_matches('/');
            return Err(UnitError::new(message).help(format!("write {}", quoted(rest))).at(0..scheme.len() + 3));
        }
        let whole = text.trim_end_matches('/');
        if whole.len() < text.len() {
            let message = format!("{} ends with `/`", quoted(text));
            let help = if whole.is_empty() { EXAMPLE.to_owned() } else { format!("write {}", quoted(whole)) };
            return Err(UnitError::new(message).help(help).at(whole.len()..text.len()));
        }
        let (first, path) = match text.split_once('/') {
            Some((first, path)) if is_registry(first) => (Some(first), Some(path)),
            None if is_registry(text) => (Some(text), None),
            _ => (None, Some(text)),
        };
        if let Some(path) = path
            && let Some(at) = path.find(['@', ':'])
        {
            let start = text.len() - path.len() + at;
            let message = format!("{} has a tag or digest, which a prefix cannot have", quoted(text));
            let before = text.get(..start).expected("the part before a tag or digest");
            return Err(UnitError::new(message).help(format!("write {}", quoted(before))).at(start..text.len()));
        }
        first.map_or(Ok(()), check_registry)?;
        if let Some(path) = path {
            check_repository(text, path, text.len() - path.len()..text.len())?;
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ImagePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_registry(first: &str) -> bool {
    first == "localhost" || first.contains(['.', ':'])
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn check_registry(registry: &str) -> Result<(), UnitError> {
    let (host, port) = match registry.rfind(':').filter(|_| !registry.ends_with(']')) {
        Some(colon) => (registry.get(..colon).expected("the part before a colon"), registry.get(colon + 1..)),
        None => (registry, None),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_ipv6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).is_some_and(|address| {
        !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':')
    });
    if !is_ipv6 && !host.split('.').all(is_label) {
        return Err(UnitError::new(format!("{} is not a registry host", quoted(host)))
            .help("a host is letters, digits and dashes, separated by dots")
            .at(0..host.len()));
    }
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    match port {
        Some(port) if !is_port(port) => Err(UnitError::new(format!("{} is not a port of a registry", quoted(port)))
            .help("a port is a number from 1 to 65535; a tag follows the last `/`")
            .at(host.len()..registry.len())),
        _ => Ok(()),
    }
}

fn check_repository(text: &str, repository: &str, range: Range<usize>) -> Result<(), UnitError> {
    if repository.is_empty() {
        return Err(UnitError::new(format!("{} names no repository", quoted(text))).help(EXAMPLE));
    }
    if repository.bytes().any(|byte| byte.is_ascii_uppercase()) {
        let message = format!("repository {} has upper-case letters", quoted(repository));
        return Err(UnitError::new(message).help(format!("write {}", quoted(&repository.to_lowercase()))).at(range));
    }
    let mut start = range.start;
    for component in repository.split('/') {
        let place = start..start + component.len();
        start = place.end + 1;
        if !is_component(component) {
            let message = if component.is_empty() {
                format!("{} has an empty part in its path", quoted(text))
            } else {
                format!("{} is not a part of a repository's path", quoted(component))
            };
            return Err(UnitError::new(message).help(REPOSITORY_RULE).at(place));
        }
    }
    Ok(())
}

/// Returns true for runs of letters and digits that single separators join.
fn is_component(component: &str) -> bool {
    let is_alphanumeric = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    component.bytes().all(|byte| is_alphanumeric(byte) || matches!(byte, b'.' | b'_' | b'-'))
        && component.bytes().next().is_some_and(is_alphanumeric)
        && component.bytes().next_back().is_some_and(is_alphanumeric)
        && component
            .split(|c: char| c.is_ascii_alphanumeric())
            .all(|between| matches!(between, "" | "." | "_" | "__") || between.bytes().all(|byte| byte == b'-'))
}

fn check_tag(tag: &str, range: Range<usize>) -> Result<(), UnitError> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if tag.is_empty() {
        return Err(UnitError::new("the tag after `:` is empty").help(EXAMPLE).at(range.start - 1..range.end));
    }
    let is_tag = tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
        && tag.len() <= LONGEST_TAG;
    if is_tag {
        return Ok(());
    }
    Err(UnitError::new(format!("{} is not a tag", quoted(tag)))
        .help("a tag is at most 128 letters, digits, `_`, `.` and `-`, and starts with none of the last two")
        .at(range))
}

fn check_digest(digest: &str, range: Range<usize>) -> Result<(), UnitError> {
    let Some((algorithm, hex)) = digest.split_once(':') else {
        let message = match digest {
            "" => "the digest after `@` is empty".to_owned(),
            _ => format!("{} is not a digest", quoted(digest)),
        };
        return Err(UnitError::new(message).help(WRITE_DIGEST).at(range.start - 1..range.end));
    };
    let Some((_, length)) = ALGORITHMS.into_iter().find(|(name, _)| *name == algorithm) else {
        return Err(UnitError::new(format!("{} is not a digest algorithm that registries use", quoted(algorithm)))
            .help(WRITE_DIGEST)
            .at(range.start..range.start + algorithm.len()));
    };
    let place = range.start + algorithm.len() + 1..range.end;
    let lowered = hex.to_lowercase();
    if hex.len() == length && is_hex(hex) {
        Ok(())
    } else if hex.len() == length && is_hex(&lowered) {
        let message = "the digest has upper-case letters";
        Err(UnitError::new(message).help(format!("write `{algorithm}:{lowered}`")).at(place))
    } else if is_hex(&lowered) {
        let message = format!("the {algorithm} digest has {} hex digits instead of {length}", hex.len());
        Err(UnitError::new(message).help("copy the whole digest").at(place))
    } else {
        let message = format!("{} is not a {algorithm} digest: it is more than hex digits", quoted(hex));
        Err(UnitError::new(message).help(format!("write {length} hex digits")).at(place))
    }
}

#[cfg(test)]
mod tests;
