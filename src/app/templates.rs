//! Files to start from.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::catalog;
use super::project::CompiledProject;
use super::stamp;
use super::start::VERSION;
use kubebench_compiler::api::{Patches, patches};
use kubebench_compiler::workload::{forms, schemas};
use kubebench_extract::preset::PRESETS;
use kubebench_extract::tool::{TOOLS, editor};
use kubebench_format::schema::{DocumentKind, for_editors, generate, merge, part, with_titles};
use kubebench_syntax::diag::{did_you_mean, what_there_is};

/// The word for a suite instead of a workload kind.
pub const SUITE: &str = "suite";

/// The example of a new project.
pub const EXAMPLE: &str = "specs/example.yaml";

/// How git treats generated files.
pub const ATTRIBUTES: &str = "\
# Manifests are compared byte for byte, so git must not change their line endings. Reviews show accounts, roles and network
# policies, and fold the manifests that depend on a spec alone, and the schemas that editors read.
generated/** text eol=lf linguist-generated
generated/*/pipeline/** -linguist-generated
schema/** linguist-generated
";

/// Where the objects and the results of a project are that may not be the only one of its repository.
pub struct Apart {
    /// The namespace of its objects.
    pub namespace: String,
    /// The branch of its results.
    pub branch: String,
}

/// Returns the project file. It fits the versions that emit the same manifests as this one.
pub fn project(apart: Option<&Apart>) -> String {
    let [major, minor] = [0, 1].map(|part| VERSION.split('.').nth(part).and_then(|number| number.parse().ok()));
    let required = required(major.unwrap_or(0), minor.unwrap_or(0));
    let (results, namespace) = match apart {
        None => (String::new(), "default"),
        Some(Apart { namespace, branch }) => (
            format!("  results:\n    branch: {branch}  # each project of a repository has its own\n"),
            namespace.as_str(),
        ),
    };
    format!(
        "\
# yaml-language-server: $schema=schema/project.v1.json
apiVersion: kubebench.dev/v1
kind: Project
metadata:
  name: benchmarks
spec:
  requiredVersion: \"{required}\"  # another version may compile other manifests
{results}  targets:
    default:
      namespace: {namespace}
"
    )
}

/// Returns the versions that are compatible with this one, as Cargo counts them.
fn required(major: u64, minor: u64) -> String {
    let next = if major == 0 { format!("0.{}", minor + 1) } else { (major + 1).to_string() };
    format!(">={major}.{minor}, <{next}")
}

/// Returns where the schema of a kind is in a project.
pub fn schema_path(kind: DocumentKind) -> String {
    format!("schema/{}", kind.file_name())
}

/// Returns the bytes of the committed schema file.
pub fn schema(kind: DocumentKind) -> String {
    stamp::json(&format!("{:#}\n", editor_schema(kind)))
}

/// Returns the schema for people, which lists the tools. The schema that specs are validated by does not: a tool that there is not
/// has a finding of its own.
pub fn schema_of(kind: DocumentKind) -> Value {
    let mut schema = generate(kind, &schemas());
    if let Some(name) = schema.pointer_mut(TOOL_NAME) {
        merge(name, json!({"enum": tools()}));
    }
    schema
}

/// Returns the schema for editors, which see one document and not what it extends.
pub fn editor_schema(kind: DocumentKind) -> Value {
    let fragment = || part::with_null(whole(DocumentKind::Fragment));
    with_titles(match kind {
        DocumentKind::Fragment => fragment(),
        DocumentKind::Benchmark => part::of_benchmark(whole(kind), &fragment()),
        DocumentKind::Suite | DocumentKind::Project | DocumentKind::Ack => whole(kind),
    })
}

fn whole(kind: DocumentKind) -> Value {
    let schema = with_names(for_editors(kind, generate(kind, &schemas())));
    if matches!(kind, DocumentKind::Benchmark | DocumentKind::Fragment) { with_patches(schema) } else { schema }
}

/// Returns a schema whose patches of pods and containers have the fields that Kubernetes has.
fn with_patches(mut schema: Value) -> Value {
    let Patches { pod, container, definitions } = patches();
    refine(&mut schema, &[("pod", &pod), ("container", &container)]);
    if let Some(known) = schema.get_mut("definitions").and_then(Value::as_object_mut) {
        known.extend(definitions);
    }
    schema
}

/// Adds to the fields of the same mapping that have these names what they are.
fn refine(schema: &mut Value, fields: &[(&str, &Value)]) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| refine(item, fields)),
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get_mut("properties")
                && fields.iter().all(|(name, _)| properties.contains_key(*name))
            {
                for (name, of) in fields {
                    let Some(Value::Object(field)) = properties.get_mut(*name) else { continue };
                    field.remove("type");
                    field.insert("allOf".to_owned(), json!([of]));
                }
            }
            object.values_mut().for_each(|value| refine(value, fields));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a schema for editors with the names that programs here know.
fn with_names(mut schema: Value) -> Value {
    if let Some(tool) = schema.pointer_mut("/definitions/ToolSource") {
        merge(tool, editor::schema());
    }
    let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    for (pointer, what, names) in
        [(TOOL_NAME, "a tool", tools()), ("/definitions/PrometheusSource/properties/preset", "a query", presets)]
    {
        if let Some(name) = schema.pointer_mut(pointer) {
            merge(name, one_of(&format!("Expected {what} that Kubebench knows."), &names));
        }
    }
    schema
}

const TOOL_NAME: &str = "/definitions/ToolSource/properties/name";

fn tools() -> Vec<&'static str> {
    TOOLS.iter().map(|tool| tool.name).collect()
}

/// One of `names`, or an expression that gives one.
fn one_of(message: &str, names: &[&str]) -> Value {
    json!({"anyOf": [{"enum": names}, {"pattern": r"\$\{\{"}], "errorMessage": message})
}

/// Returns a suite of the benchmarks that run by themselves, and once.
pub fn suite(project: &CompiledProject, name: &str, schema: &str) -> Result<String> {
    let all = project.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let alone = all.filter(|benchmark| benchmark.suite.is_none() && benchmark.schedule.is_none());
    let names: BTreeSet<&str> = alone.map(|benchmark| benchmark.name.as_str()).collect();
    if names.is_empty() {
        bail!(
            "a suite needs a benchmark that has no schedule and is in no other suite; `kubebench new job NAME` writes \
             one, and `kubebench validate` says what is wrong with existing ones"
        );
    }
    let benchmarks: String = names.iter().map(|name| format!("    - {name}\n")).collect();
    Ok(format!(
        "# yaml-language-server: $schema={schema}\n\
         apiVersion: kubebench.dev/v1\n\
         kind: Suite\n\
         metadata:\n\
         \x20 name: {name}\n\
         spec:\n\
         \x20 description: What these benchmarks show together\n\
         \x20 # One after another, in this order; `{{benchmark: NAME, needs: [NAME]}}` waits for the success of others.\n\
         \x20 benchmarks:\n\
         {benchmarks}"
    ))
}

/// Iterates over the words for what can be started.
pub fn kind_names() -> impl Iterator<Item = &'static str> {
    forms().map(|form| form.key).chain([SUITE])
}

/// Returns the words for what can be started, each with what it is.
pub fn kinds() -> Vec<(&'static str, String)> {
    let schema = schema_of(DocumentKind::Benchmark);
    let meaning = |key: &str| {
        let described = schema.pointer(&format!("/definitions/Workload/properties/{key}/description"));
        let sentence = described.and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        sentence.split([';', '.']).next().unwrap_or_default().to_owned()
    };
    let suite = (SUITE, "Several benchmarks, one after another".to_owned());
    forms().map(|form| (form.key, meaning(form.key))).chain([suite]).collect()
}

/// Returns a spec of workload kind `kind`.
pub fn spec(kind: &str, name: &str, schema: &str) -> Result<String> {
    let Some(found) = forms().find(|known| known.key.eq_ignore_ascii_case(kind)) else {
        let entries = catalog::ENTRIES.iter().map(|entry| entry.name);
        let known: Vec<&str> = kind_names().collect();
        let hint = match did_you_mean(kind, known.iter().copied().chain(entries)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => {
                format!("{}; `kubebench new --list` has ready benchmarks too", what_there_is(kind, known, "kinds are"))
            }
        };
        bail!("there is no workload kind or ready benchmark `{kind}`; {hint}");
    };
    let workload: String = found.example.lines().map(|line| format!("    {line}\n")).collect();
    Ok(format!(
        "# yaml-language-server: $schema={schema}\n\
         apiVersion: kubebench.dev/v1\n\
         kind: Benchmark\n\
         metadata:\n\
         \x20 name: {name}\n\
         spec:\n\
         \x20 description: What this measures, and why\n\
         \x20 repeats: 3\n\
         \x20 timeout: 30m\n\
         \x20 workload:\n\
         {workload}\
         \x20 metrics:\n\
         \x20   - name: throughput\n\
         \x20     unit: samples/s\n\
         \x20     better: higher\n\
         \x20     primary: true\n\
         \x20     from: {{log: {{pattern: 'throughput: (?P<value>\\S+)'}}}}\n\
         \x20 gates:\n\
         \x20   - {{metric: throughput, maxRegression: 5%}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::required;

    #[test]
    fn a_project_takes_compatible_versions() {
        assert_eq!([required(0, 1), required(1, 4)], [">=0.1, <0.2", ">=1.4, <2"]);
    }
}
