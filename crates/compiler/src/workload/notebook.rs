//! `notebook`: a Jupyter notebook, executed from top to bottom by papermill in a Job of one pod.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value as Json;

use super::role::{ImageFrom, Shape};
use super::{Form, Lowering, job};
use crate::model::{Env, TemplateAt, Workload, carried, literal};
use kubebench_format::schema::{form_schema, without};
use kubebench_format::spec::v1::project::RelativePath;
use kubebench_format::spec::v1::scalar::{Patch, Text};

/// The form; what it becomes is a Job.
pub(super) const FORM: Form = Form { key: "notebook", schema, lower, example: EXAMPLE };

const EXAMPLE: &str = "\
notebook:
  # Needs papermill and a kernel in the image; `print(\"throughput: 42.0\")` in a cell is a line of the log.
  image: quay.io/jupyter/scipy-notebook:2025-12-31
  file: notebooks/train.ipynb
  parameters: {epochs: 3}
  resources: {cpu: 2, memory: 4Gi}
";

/// Where papermill writes the notebook with the outputs of its cells; the folder is on the volume of results.
const EXECUTED: &str = "$(KUBEBENCH_EXP_OUTPUT_PATH)";

/// A notebook: executed from top to bottom, with parameters from the case; what it prints is the log, and the executed notebook is
/// kept with the result.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"image": "quay.io/jupyter/scipy-notebook:2025-12-31", "file": "notebooks/train.ipynb", "parameters": {"epochs": 3}}]))]
struct Notebook {
    /// The notebook, relative to the project root. It travels with the benchmark, as `files` do, and is part of the run digest.
    #[schemars(extend("examples" = ["notebooks/train.ipynb"]))]
    file: RelativePath,
    /// The kernel that executes it; without it, the one that the notebook names.
    #[serde(default)]
    #[schemars(extend("examples" = ["python3"]))]
    kernel: Option<Text>,
    /// Values for the cell tagged `parameters`, by name: text, numbers, booleans, lists and mappings.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"epochs": 3, "optimizer": "adam"}]))]
    parameters: Patch,
    /// Strategic merge patch over the Job, applied last.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "research"}}}]))]
    #[expect(dead_code, reason = "read with its places, by `Lowering::workload`")]
    patch: Option<Patch>,
}

fn schema(generator: &mut SchemaGenerator) -> Schema {
    // papermill is the command.
    without(form_schema::<Notebook>(generator), &["command"])
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let Notebook { file: RelativePath(file), kernel, parameters: Patch(parameters), .. } = cx.form()?;
    let shape = Shape {
        container_name: job::KIND.container,
        template_at: TemplateAt::fields(["template"]),
        pod_infix: "",
        restart_policy: Some("Never"),
        needs_token: false,
        image: ImageFrom::Spec,
    };
    let mut role = cx.only_role("job", shape)?;
    let name = carried_name(&file);
    let mut words = vec!["papermill".to_owned(), "--log-output".to_owned(), "--no-progress-bar".to_owned()];
    if let Some(Text(kernel)) = kernel {
        words.extend(["--kernel".to_owned(), literal(&kernel)]);
    }
    if parameters != Json::Object(serde_json::Map::new()) && !parameters.is_null() {
        // One word of JSON, which is YAML: types arrive as they are, and no value can be another option.
        words.extend(["--parameters_yaml".to_owned(), literal(&parameters.to_string())]);
    }
    words.extend(role.args.iter().map(|word| if role.expand_variables { word.clone() } else { literal(word) }));
    words.extend([format!("{}/{name}", carried::FOLDER), format!("{EXECUTED}/{name}")]);
    for (value, _) in role.env.values_mut() {
        if let (Env::Text(text), false) = (value, role.expand_variables) {
            *text = literal(text);
        }
    }
    // The place of the executed notebook is known in the pod alone.
    role.expand_variables = true;
    role.word_spans = [vec![cx.entry.key_span; words.len()], Vec::new()];
    role.command = words;
    role.args = Vec::new();
    let spec = job::spec(cx.timeout, 1, 1, "NonIndexed");
    Some(cx.workload(job::KIND.api, spec, vec![role]))
}

/// Returns the name that a notebook has among the carried files: its own.
pub(crate) fn carried_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
