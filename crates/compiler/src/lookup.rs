//! `${{ … }}`: replaces lookups in a node tree by the values of a scope.
//!
//! A lookup names a value and nothing else: no functions, no loops. A scalar that is only a lookup keeps the value's type;
//! inside a longer text the value is inserted as its source text. `$${{` is a literal `${{`, both in a text and in the values
//! that it looks up.

use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{SourceMap, Span};
use kubebench_syntax::yaml::{Entry, Node, Value};

const OPEN: &str = "${{";
const CLOSE: &str = "}}";
const ESCAPED: &str = "$${{";

/// What names mean: a mapping of `matrix`, `parameters`, `target`, `project` and `benchmark` to their values.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    root: Node,
    /// Names that exist elsewhere but not here, with the reason.
    absent: &'static [(&'static str, &'static str)],
}

impl Scope {
    /// Returns a scope of these roots; `absent` are roots that exist elsewhere, with the reason why not here.
    pub(crate) fn new(roots: Vec<(&str, Node)>, absent: &'static [(&'static str, &'static str)]) -> Self {
        let entry = |(key, value): (&str, Node)| Entry { key: key.to_owned(), key_span: Span::default(), value };
        let root = Node { span: Span::default(), value: Value::Map(roots.into_iter().map(entry).collect()) };
        Self { root, absent }
    }

    /// Returns what `path` names.
    pub(crate) fn get(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(&self.root, |node, step| node.get(step))
    }
}

/// One lookup as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lookup {
    /// The name, such as `matrix.batchSize`.
    pub path: String,
    /// Where it is, from `${{` to `}}`.
    pub span: Span,
}

/// Returns every well-formed lookup below `node`.
pub(crate) fn lookups(sources: &SourceMap, node: &Node) -> Vec<Lookup> {
    let mut found = Vec::new();
    walk(node, &mut |scalar| {
        let written = written_lookups(sources, scalar).into_iter();
        found.extend(written.filter_map(|(lookup, span)| Some(Lookup { path: lookup.ok()?, span })));
    });
    found
}

/// Returns true when some scalar or key below `node` holds `${{`, escaped or not.
pub(crate) fn mentions_any(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.contains(OPEN),
        Value::Seq(items) => items.iter().any(mentions_any),
        Value::Map(entries) => entries.iter().any(|entry| entry.key.contains(OPEN) || mentions_any(&entry.value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

const NAMES_ONLY: &str = "an expression only names a value: there are no functions, operators or loops";

/// Reports every lookup below `node`, because none can be answered there.
pub(crate) fn refuse(sources: &SourceMap, node: &Node, reason: &str, diagnostics: &mut Diagnostics) {
    walk(node, &mut |scalar| {
        for (piece, span) in written_lookups(sources, scalar) {
            diagnostics.push(match piece {
                Ok(path) => {
                    let message = format!("`{path}` cannot be used here");
                    Diagnostic::at(&code::KB0303, span, message).note(reason).help("write the value itself")
                }
                Err(fault) => Diagnostic::at(&code::KB0302, span, fault)
                    .note(reason)
                    .help("write the value itself; a literal `${{` is written `$${{`"),
            });
        }
    });
}

/// Returns the lookups in `scalar` with their places: each name, or why it is not a lookup.
fn written_lookups(sources: &SourceMap, scalar: &Node) -> Vec<(Result<String, String>, Span)> {
    let Value::String(text) = &scalar.value else { return Vec::new() };
    let written = pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Lookup(lookup) => Some(lookup),
        Piece::Text(_) => None,
    });
    written.zip(spans(sources, scalar.span)).collect()
}

/// Returns `node` with every lookup replaced. A lookup that cannot be replaced is reported and left unchanged.
pub(crate) fn resolve(sources: &SourceMap, node: &Node, scope: &Scope, diagnostics: &mut Diagnostics) -> Node {
    let value = match &node.value {
        Value::String(text) if text.contains(OPEN) => scalar(sources, node.span, text, scope, diagnostics),
        Value::Seq(items) => Value::Seq(items.iter().map(|item| resolve(sources, item, scope, diagnostics)).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|entry| resolve_entry(sources, entry, scope, diagnostics)).collect())
        }
        other => other.clone(),
    };
    Node { span: node.span, value }
}

fn resolve_entry(sources: &SourceMap, entry: &Entry, scope: &Scope, diagnostics: &mut Diagnostics) -> Entry {
    if entry.key.contains(OPEN) {
        let fault = Diagnostic::at(&code::KB0303, entry.key_span, "a key cannot be an expression");
        diagnostics
            .push(fault.note("the keys of a spec are checked before any value is known").help("write the key itself"));
    }
    Entry {
        key: entry.key.clone(),
        key_span: entry.key_span,
        value: resolve(sources, &entry.value, scope, diagnostics),
    }
}

fn scalar(sources: &SourceMap, span: Span, text: &str, scope: &Scope, diagnostics: &mut Diagnostics) -> Value {
    let pieces = pieces(text);
    let alone = pieces.len() == 1;
    let mut joined = String::new();
    let mut spans = spans(sources, span);
    for piece in pieces {
        let piece = match piece {
            Piece::Text(piece) => {
                joined.push_str(&piece);
                continue;
            }
            Piece::Lookup(piece) => piece,
        };
        let at = spans.next().unwrap_or(span);
        let found = match piece {
            Ok(path) => find(&path, at, scope),
            Err(reason) if is_arithmetic(&reason) => Err(Diagnostic::at(&code::KB0302, at, reason)
                .note(NAMES_ONLY)
                .help("list the values that belong together: `matrix: {zip: {workers: [2, 3], ranks: [16, 24]}}` gives two cases, and `${{ matrix.ranks }}` names the second value of each")),
            Err(reason) => Err(Diagnostic::at(&code::KB0302, at, reason)
                .note(NAMES_ONLY)
                .help("write `${{ matrix.NAME }}`, `${{ parameters.NAME }}`, `${{ target.NAME }}`, `${{ project.parameters.NAME }}` or `${{ benchmark.NAME }}`; a literal `${{` is written `$${{`")),
        };
        match found {
            Ok(Value::String(text)) if alone => return Value::String(unescaped(text)),
            Ok(value) if alone => return value.clone(),
            Ok(value) => joined.push_str(&as_text(value)),
            Err(mut fault) => {
                // In a text with escapes, the position of the expression is unknown.
                fault.fix = fault.fix.filter(|_| sources.slice(at).starts_with(OPEN));
                diagnostics.push(fault);
                // An unresolved lookup must not be a second error in the schema.
                joined.push_str(sources.slice(at));
            }
        }
    }
    Value::String(joined)
}

/// Whether the author computes something: names contain no such characters, and no spaces around them.
fn is_arithmetic(expression: &str) -> bool {
    expression.contains(['*', '+', '%']) || [" - ", " / "].iter().any(|sign| expression.contains(sign))
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => unescaped(text),
        Value::Number(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null | Value::Seq(_) | Value::Map(_) => String::new(),
    }
}

/// Returns the text that a value in the scope means; none of its `${{` is a lookup.
fn unescaped(text: &str) -> String {
    text.replace(ESCAPED, OPEN)
}

fn find<'s>(path: &str, at: Span, scope: &'s Scope) -> Result<&'s Value, Diagnostic> {
    let unknown = |name: &str, known: Vec<&str>| {
        let fault = Diagnostic::at(&code::KB0301, at, format!("there is no `{name}`"));
        match did_you_mean(name.rsplit('.').next().unwrap_or(name), known.iter().copied()) {
            Some(close) => {
                let meant =
                    name.rsplit_once('.').map_or_else(|| close.to_owned(), |(parent, _)| format!("{parent}.{close}"));
                let rest = path.strip_prefix(name).unwrap_or_default();
                fault.help(format!("did you mean `{meant}`?")).likely_fix(at, format!("{OPEN} {meant}{rest} {CLOSE}"))
            }
            None if known.is_empty() => {
                let parent = name.rsplit_once('.').map_or(name, |(parent, _)| parent);
                fault.note(format!("nothing is declared below `{parent}`"))
            }
            None => fault.note(format!("an expression can use {}", known.join(", "))),
        }
    };
    let mut node = &scope.root;
    let mut seen = String::new();
    let steps: Vec<&str> = match path.strip_prefix("benchmark.labels.") {
        Some(label) => vec!["benchmark", "labels", label],
        None => path.split('.').collect(),
    };
    for step in steps {
        if !seen.is_empty() {
            seen.push('.');
        }
        seen.push_str(step);
        if let Some((_, reason)) = scope.absent.iter().find(|(name, _)| *name == seen) {
            return Err(Diagnostic::at(&code::KB0303, at, format!("`{path}` cannot be used here")).note(*reason));
        }
        node = node
            .get(step)
            .ok_or_else(|| unknown(&seen, node.entries().iter().map(|entry| entry.key.as_str()).collect()))?;
    }
    match &node.value {
        Value::Map(_) | Value::Seq(_) => {
            let known = node.entries().iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>().join(", ");
            Err(Diagnostic::at(&code::KB0303, at, format!("`{path}` is not a single value"))
                .help(format!("name one of its values: {known}")))
        }
        Value::Null => Err(Diagnostic::at(&code::KB0303, at, format!("`{path}` has no value here"))),
        value @ (Value::Bool(_) | Value::Number(_) | Value::String(_)) => Ok(value),
    }
}

enum Piece {
    Text(String),
    /// The name, or why it is not one.
    Lookup(Result<String, String>),
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(OPEN) {
        let (before, from_open) = rest.split_at(at);
        let inside = from_open.get(OPEN.len()..).expected("what follows the opening");
        if let Some(before) = before.strip_suffix('$') {
            literal.push_str(before);
            literal.push_str(OPEN);
            rest = inside;
            continue;
        }
        literal.push_str(before);
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        let Some(end) = inside.find(CLOSE) else {
            pieces.push(Piece::Lookup(Err("`${{` is not closed by `}}`".to_owned())));
            return pieces;
        };
        let (name, after) = inside.split_at(end);
        pieces.push(Piece::Lookup(name_of(name)));
        rest = after.get(CLOSE.len()..).expected("what follows the closing");
    }
    literal.push_str(rest);
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    pieces
}

fn name_of(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() {
        return Err("`${{ }}` names nothing".to_owned());
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
    let named = name
        .split('.')
        .all(|step| step.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && step.chars().all(fits));
    if named { Ok(name.to_owned()) } else { Err(format!("`{name}` is not a name")) }
}

/// Returns the places of the lookups of the scalar at `span`, in order, and then repeats the scalar's own place without end:
/// in a text with escapes, lookups may be indistinguishable.
fn spans(sources: &SourceMap, span: Span) -> impl Iterator<Item = Span> {
    let written = sources.slice(span);
    let mut done = 0;
    let places = std::iter::from_fn(move || {
        let rest = written.get(done..)?;
        let mut starts = rest.match_indices(OPEN).map(|(at, _)| done + at);
        let start = starts.find(|at| !written.get(..*at).is_some_and(|before| before.ends_with('$')))?;
        done = written.get(start..)?.find(CLOSE).map_or(written.len(), |at| start + at + CLOSE.len());
        let base = span.start as usize;
        Some(Span::new(span.source, base + start..base + done))
    });
    places.chain(std::iter::repeat(span))
}

fn walk(node: &Node, visit: &mut impl FnMut(&Node)) {
    match &node.value {
        Value::Seq(items) => items.iter().for_each(|item| walk(item, visit)),
        Value::Map(entries) => entries.iter().for_each(|entry| walk(&entry.value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => visit(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubebench_syntax::text::{Source, SourceId};
    use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

    /// What `text` is resolved to, or the findings.
    fn resolved(text: &str) -> Result<String, Vec<(&'static str, String)>> {
        let names = Source::new(
            "scope",
            b"{matrix: {n: 4, big: 1.10, amp: true, raw: '$${{ x }}'}, target: {values: {dir: /data}}, benchmark: {labels: {a.b/c: x}}}",
        );
        let scope = kubebench_syntax::yaml::read(SourceId(1), &names).root.unwrap();
        let roots = scope.entries().iter().map(|entry| (entry.key.as_str(), entry.value.clone())).collect();
        let scope = Scope::new(roots, &[("parameters", "not here")]);
        let source = Source::new("x", format!("a: '{text}'").as_bytes());
        let root = kubebench_syntax::yaml::read(SourceId(0), &source).root.unwrap();
        let mut diagnostics = Diagnostics::default();
        let map = SourceMap::from(source);
        let resolved = resolve(&map, &root, &scope, &mut diagnostics);
        let faults: Vec<_> =
            diagnostics.into_sorted(&map).into_iter().map(|fault| (fault.code.id, fault.message)).collect();
        if faults.is_empty() { Ok(resolved.get("a").unwrap().to_json().to_string()) } else { Err(faults) }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(resolved(text).as_deref(), Ok(expected), "{text}");
    }

    #[track_caller]
    fn check_fault(text: &str, code: &str, message: Snapshot) {
        assert_findings(&resolved(text).unwrap_err(), &[(code, message)]);
    }

    #[test]
    fn places_in_one_scalar_follow_one_another() {
        let source = Source::new("x", b"a ${{ b }} $${{ c }} ${{ ${{ d }} ${{e}} ${{ f");
        let whole = Span::new(SourceId(0), 0..source.text.len());
        let text = source.text.clone();
        let sources = SourceMap::from(source);
        let found: Vec<&str> = spans(&sources, whole).take(5).map(|span| sources.slice(span)).collect();
        assert_eq!(found, ["${{ b }}", "${{ ${{ d }}", "${{e}}", "${{ f", text.as_str()]);
    }

    #[test]
    fn values() {
        check("${{ matrix.n }}", "4");
        check("${{matrix.amp}}", "true");
        check("-n ${{ matrix.n }}/${{ matrix.big }}", "\"-n 4/1.10\"");
        check("${{ target.values.dir }}/x", "\"/data/x\"");
        check("${{ benchmark.labels.a.b/c }}", "\"x\"");
        check("$${{ matrix.n }} costs $5", "\"${{ matrix.n }} costs $5\"");
        check("$$${{ matrix.n }}", "\"$${{ matrix.n }}\"");
        check("${{ matrix.raw }}", "\"${{ x }}\"");
        check("-e ${{ matrix.raw }}", "\"-e ${{ x }}\"");
        check("plain", "\"plain\"");
    }

    #[test]
    fn where_nothing_can_be_looked_up() {
        let source = Source::new("x", b"{a: '${{ b }} $${{ c }}', d: 'x ${{ e * 2 }}', f: '${{'}");
        let root = kubebench_syntax::yaml::read(SourceId(0), &source).root.unwrap();
        let mut diagnostics = Diagnostics::default();
        refuse(&source.into(), &root, "reason", &mut diagnostics);
        let found: Vec<_> = diagnostics.into_iter().map(|fault| (fault.code.id, fault.message)).collect();
        assert_findings(
            &found,
            &[
                ("KB0303", str! {"`b` cannot be used here"}),
                ("KB0302", str! {"`e * 2` is not a name"}),
                ("KB0302", str! {"`${{` is not closed by `}}`"}),
            ],
        );
    }

    #[test]
    fn faults() {
        check_fault("${{ matrix.m }}", "KB0301", str! {"there is no `matrix.m`"});
        check_fault("${{ matix.n }}", "KB0301", str! {"there is no `matix`"});
        check_fault("${{ matrix }}", "KB0303", str! {"`matrix` is not a single value"});
        check_fault("${{ parameters.x }}", "KB0303", str! {"`parameters.x` cannot be used here"});
        check_fault("${{ matrix.n * 2 }}", "KB0302", str! {"`matrix.n * 2` is not a name"});
        check_fault("${{ matrix.n / matrix.m }}", "KB0302", str! {"`matrix.n / matrix.m` is not a name"});
        check_fault("${{ }}", "KB0302", str! {"`${{ }}` names nothing"});
        check_fault("x ${{ matrix.n", "KB0302", str! {"`${{` is not closed by `}}`"});
    }
}
