//! What a spec says of a search.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value as Json, json};

use super::super::insert;
use kubebench_format::spec::v1::scalar::{Count, CountFromZero, Number, Patch, Text};

/// The kinds that a trial may be, by their keys.
pub(super) const KINDS: [&str; 9] =
    ["job", "jobSet", "tfJob", "pytorchJob", "mpiJob", "xgboostJob", "paddleJob", "jaxJob", "trainJob"];

/// A search by Katib: each trial is a job with other values of the parameters, and the best objective wins.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"objective": {"type": "maximize", "objectiveMetricName": "accuracy"}, "algorithm": {"algorithmName": "random"}, "parameters": [{"name": "lr", "parameterType": "double", "feasibleSpace": {"min": "0.01", "max": "0.05"}}], "maxTrialCount": 12, "trial": {"job": {"image": "registry.example/train:1", "command": ["train", "--lr", "${trialParameters.lr}"]}}}]))]
pub(super) struct Experiment {
    /// The objective.
    #[schemars(extend("examples" = [{"type": "maximize", "goal": 0.99, "objectiveMetricName": "accuracy"}]))]
    pub(super) objective: Objective,
    /// The algorithm that chooses the next values.
    #[schemars(extend("examples" = [{"algorithmName": "random"}]))]
    pub(super) algorithm: Algorithm,
    /// The parameters that the search varies.
    #[schemars(extend("minItems" = 1, "examples" = [[{"name": "lr", "parameterType": "double", "feasibleSpace": {"min": "0.01", "max": "0.05"}}]]))]
    pub(super) parameters: Vec<Parameter>,
    /// The maximum number of trials.
    #[schemars(extend("examples" = [12]))]
    pub(super) max_trial_count: Count,
    /// How many trials run at once; by default 3, or all of them if there are fewer.
    #[serde(default)]
    #[schemars(extend("examples" = [3]))]
    pub(super) parallel_trial_count: Option<Count>,
    /// With how many failed trials the search has failed; without it, with none.
    #[serde(default)]
    #[schemars(extend("examples" = [3]))]
    pub(super) max_failed_trial_count: Option<CountFromZero>,
    /// How trials with poor prospects are stopped early.
    #[serde(default)]
    #[schemars(extend("examples" = [{"algorithmName": "medianstop"}]))]
    pub(super) early_stopping: Option<Algorithm>,
    /// How Katib reads metrics, as its `metricsCollectorSpec`; by default from lines `name=value` that the first
    /// container prints.
    #[serde(default)]
    #[schemars(extend("examples" = [{"collector": {"kind": "StdOut"}}]))]
    pub(super) metrics_collector: Option<Patch>,
    /// What each trial runs: one workload in its simple form, in which `${trialParameters.NAME}` refers to a parameter.
    #[schemars(extend("examples" = [{"job": {"image": "registry.example/train:1", "command": ["train", "--lr", "${trialParameters.lr}"]}}]))]
    #[expect(dead_code, reason = "read with its places, by `trial`")]
    trial: Trial,
}

/// The objective.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Objective {
    /// Whether higher or lower is better.
    #[schemars(extend("examples" = ["maximize"]))]
    r#type: Direction,
    /// The value at which the search ends.
    #[serde(default)]
    #[schemars(extend("examples" = [0.99]))]
    goal: Option<Number>,
    /// The metric of the objective.
    #[serde(rename = "objectiveMetricName")]
    #[schemars(extend("examples" = ["accuracy"]))]
    pub(super) metric: Text,
    /// Additional metrics to collect.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [["loss"]]))]
    pub(super) additional_metric_names: Vec<Text>,
    /// Which value of a trial counts, by metric; by default the maximum, or the minimum with `minimize`.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"name": "loss", "value": "latest"}]]))]
    metric_strategies: Vec<MetricStrategy>,
}

/// Whether higher or lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Direction {
    /// Higher is better.
    Maximize,
    /// Lower is better.
    Minimize,
}

/// Which value of a trial counts for one metric.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MetricStrategy {
    /// The metric.
    #[schemars(extend("examples" = ["loss"]))]
    name: Text,
    /// Which value counts.
    #[schemars(extend("enum" = ["min", "max", "latest"], "examples" = ["latest"]))]
    value: Text,
}

/// An algorithm of Katib and its settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Algorithm {
    /// Its name: `random`, `grid`, `bayesianoptimization`, `tpe`, `multivariate-tpe`, `cmaes`, `sobol`, `hyperband`, or one that the
    /// Katib of the cluster knows.
    #[schemars(extend("examples" = ["random"]))]
    pub(super) algorithm_name: Text,
    /// Its settings.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"random_state": "10"}]))]
    pub(super) algorithm_settings: BTreeMap<String, Text>,
}

/// One parameter of a search.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parameter {
    /// Its name, which `${trialParameters.NAME}` refers to.
    #[schemars(regex(pattern = r"^[-._A-Za-z0-9]+$"), extend("examples" = ["lr"]))]
    pub(super) name: String,
    /// The type of its values.
    #[serde(rename = "parameterType")]
    #[schemars(extend("examples" = ["double"]))]
    pub(super) kind: ParameterType,
    /// The values that it may have.
    #[schemars(extend("examples" = [{"min": "0.01", "max": "0.05"}]))]
    pub(super) feasible_space: FeasibleSpace,
}

/// The type of the values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) enum ParameterType {
    /// Numbers of a range.
    Double,
    /// Whole numbers of a range.
    Int,
    /// Numbers of a list.
    Discrete,
    /// Words of a list.
    Categorical,
}

/// The values that a parameter may have.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FeasibleSpace {
    /// The minimum, of `double` and `int`.
    #[serde(default)]
    #[schemars(extend("examples" = ["0.01"]))]
    pub(super) min: Option<Text>,
    /// The maximum.
    #[serde(default)]
    #[schemars(extend("examples" = ["0.05"]))]
    pub(super) max: Option<Text>,
    /// The values, of `discrete` and `categorical`.
    #[serde(default)]
    #[schemars(extend("examples" = [["sgd", "adam"]]))]
    pub(super) list: Option<Vec<Text>>,
    /// The distance between two values that are tried; `grid` needs it for a `double`.
    #[serde(default)]
    #[schemars(extend("examples" = ["0.01"]))]
    pub(super) step: Option<Text>,
    /// How values are drawn from the range, where the algorithm can.
    #[serde(default)]
    #[schemars(extend("enum" = ["uniform", "logUniform", "normal", "logNormal"], "examples" = ["logUniform"]))]
    pub(super) distribution: Option<Text>,
}

/// What each trial runs.
#[derive(Debug)]
struct Trial;

impl JsonSchema for Trial {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Trial".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let reference =
            |key: &str| (key.to_owned(), json!({ "$ref": format!("#/definitions/Workload/properties/{key}") }));
        let kinds: Map<String, Json> = KINDS.iter().map(|key| reference(key)).collect();
        json_schema!({
            "type": "object",
            "description": "One workload in its simple form.",
            "properties": kinds,
            "minProperties": 1,
            "maxProperties": 1,
        })
    }
}

impl<'de> Deserialize<'de> for Trial {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    Experiment::json_schema(generator)
}

impl Objective {
    pub(super) fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert(
            "type".to_owned(),
            match self.r#type {
                Direction::Maximize => "maximize",
                Direction::Minimize => "minimize",
            }
            .into(),
        );
        insert(&mut object, "goal", self.goal.map(|goal| goal.0));
        object.insert("objectiveMetricName".to_owned(), self.metric.0.as_str().into());
        if !self.additional_metric_names.is_empty() {
            object.insert("additionalMetricNames".to_owned(), words(&self.additional_metric_names));
        }
        if !self.metric_strategies.is_empty() {
            let strategies = self.metric_strategies.iter();
            let strategies = strategies.map(|one| json!({ "name": one.name.0, "value": one.value.0 }));
            object.insert("metricStrategies".to_owned(), strategies.collect());
        }
        Json::Object(object)
    }
}

impl Algorithm {
    pub(super) fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert("algorithmName".to_owned(), self.algorithm_name.0.as_str().into());
        if !self.algorithm_settings.is_empty() {
            let settings = self.algorithm_settings.iter();
            let settings = settings.map(|(name, value)| json!({ "name": name, "value": value.0 }));
            object.insert("algorithmSettings".to_owned(), settings.collect());
        }
        Json::Object(object)
    }
}

impl Parameter {
    pub(super) fn to_json(&self) -> Json {
        let FeasibleSpace { min, max, list, step, distribution } = &self.feasible_space;
        let mut space = Map::new();
        for (field, said) in [("min", min), ("max", max), ("step", step), ("distribution", distribution)] {
            insert(&mut space, field, said.as_ref().map(|text| text.0.as_str()));
        }
        insert(&mut space, "list", list.as_deref().map(words));
        json!({ "name": self.name, "parameterType": self.kind.name(), "feasibleSpace": space })
    }
}

impl ParameterType {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Int => "int",
            Self::Discrete => "discrete",
            Self::Categorical => "categorical",
        }
    }
}

fn words(texts: &[Text]) -> Json {
    texts.iter().map(|text| Json::from(text.0.as_str())).collect()
}
