//! What a spec says of a SparkApplication.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::super::role::{RoleFields, RoleForm};
use kubebench_format::schema::{form_schema, without};
use kubebench_format::spec::v1::scalar::{Count, Dns1123Subdomain, Patch, Text};

/// What other kinds have: pods of Spark run Spark, and have the resources that it asks for.
const NOT_OF_SPARK: [&str; 4] = ["args", "command", "replicas", "resources"];

/// Returns the schema of the form.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    without(form_schema::<SparkApplication>(generator), &NOT_OF_SPARK)
}

/// A Spark application: a driver, and the executors that it starts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"image": "docker.io/apache/spark:4.0.4", "sparkVersion": "4.0.4", "type": "Python", "mainApplicationFile": "local:///opt/app.py", "driver": {"serviceAccount": "spark"}, "executor": {"instances": 2}}]))]
pub(super) struct SparkApplication {
    /// The language of the application.
    #[serde(rename = "type")]
    #[schemars(extend("examples" = ["Python"]))]
    pub(super) language: Language,
    /// The version of Spark in the image.
    #[schemars(extend("examples" = ["4.0.4"]))]
    pub(super) spark_version: Text,
    /// The program: `local://` and a path in the image, or an address that Spark loads it from.
    #[schemars(extend("examples" = ["local:///opt/spark/examples/jars/spark-examples.jar"]))]
    pub(super) main_application_file: Text,
    /// The class to run; Java and Scala need it.
    #[serde(default)]
    #[schemars(extend("examples" = ["org.apache.spark.examples.SparkPi"]))]
    pub(super) main_class: Option<Text>,
    /// The program's arguments, one word an element.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [["--rows", "${{ matrix.rows }}"]]))]
    pub(super) arguments: Vec<Text>,
    /// Properties of Spark.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"spark.sql.shuffle.partitions": "64"}]))]
    pub(super) spark_conf: BTreeMap<String, Text>,
    /// Properties of Hadoop, without `spark.hadoop.`.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"fs.s3a.endpoint": "http://minio:9000"}]))]
    pub(super) hadoop_conf: BTreeMap<String, Text>,
    /// Dependencies that Spark loads with the program.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"jars": ["local:///opt/jars/x.jar"]}]))]
    pub(super) deps: Option<Deps>,
    /// The pod that runs the program and starts the executors; always one. Its log is the application's.
    #[schemars(extend("examples" = [{"serviceAccount": "spark", "cores": 1, "memory": "1g"}]))]
    pub(super) driver: RoleForm<Driver>,
    /// The pods that compute.
    #[schemars(extend("examples" = [{"instances": 2, "cores": 4, "memory": "8g"}]))]
    pub(super) executor: RoleForm<Executor>,
    /// Strategic merge patch over the whole object, applied last.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"spec": {"sparkUIOptions": {"servicePort": 4040}}}]))]
    #[expect(dead_code, reason = "read with its places, by `Lowering::workload`")]
    pub(super) patch: Option<Patch>,
}

/// The language of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(super) enum Language {
    /// Java.
    Java,
    /// Python.
    Python,
    /// R.
    R,
    /// Scala.
    Scala,
}

impl Language {
    /// Returns its name in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Java => "Java",
            Self::Python => "Python",
            Self::R => "R",
            Self::Scala => "Scala",
        }
    }
}

/// Dependencies that Spark loads with the program: addresses, or `local://` and a path in the image.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "SparkDeps", extend("examples" = [{"jars": ["local:///opt/jars/x.jar"]}]))]
pub(super) struct Deps {
    /// Archives to unpack in the working folder of the executors.
    #[schemars(extend("default" = [], "examples" = [["local:///opt/env.tar.gz#env"]]))]
    pub(super) archives: Vec<Text>,
    /// Packages to exclude from those that `packages` brings along, as `group:artifact`.
    #[schemars(extend("default" = [], "examples" = [["org.slf4j:slf4j-api"]]))]
    pub(super) exclude_packages: Vec<Text>,
    /// Files to put into the working folder of the executors.
    #[schemars(extend("default" = [], "examples" = [["local:///opt/table.csv"]]))]
    pub(super) files: Vec<Text>,
    /// JARs of driver and executors.
    #[schemars(extend("default" = [], "examples" = [["local:///opt/jars/x.jar"]]))]
    pub(super) jars: Vec<Text>,
    /// Maven packages, as `group:artifact:version`; each run downloads them again.
    #[schemars(extend("default" = [], "examples" = [["org.apache.spark:spark-avro_2.13:4.0.4"]]))]
    pub(super) packages: Vec<Text>,
    /// Python modules.
    #[schemars(extend("default" = [], "examples" = [["local:///opt/lib.zip"]]))]
    pub(super) py_files: Vec<Text>,
    /// Additional repositories for `packages`.
    #[schemars(extend("default" = [], "examples" = [["https://maven.example/repo"]]))]
    pub(super) repositories: Vec<Text>,
}

/// The driver's pod.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SparkDriver", extend("examples" = [{"serviceAccount": "spark", "cores": 1, "memory": "1g"}]))]
pub(super) struct Driver {
    /// The service account with which the driver creates, watches and deletes the executors. You create it in the
    /// target's namespace, with rights over pods, services, config maps and persistent volume claims.
    #[schemars(extend("examples" = ["spark"]))]
    pub(super) service_account: Dns1123Subdomain,
    /// CPU cores: the request and the limit.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [4]))]
    pub(super) cores: Option<Count>,
    /// The heap: a whole number with `m`, `g` or `t`.
    #[serde(default)]
    #[schemars(extend("default" = "1g", "examples" = ["8g"]))]
    pub(super) memory: Option<Text>,
    /// Memory of the pod outside the heap; by default a tenth of the heap, for Python and R four tenths, and at least
    /// 384m.
    #[serde(default)]
    #[schemars(extend("examples" = ["1g"]))]
    pub(super) memory_overhead: Option<Text>,
}

impl RoleFields for Driver {
    const LACKS: &'static [&'static str] = &NOT_OF_SPARK;
}

/// The executors' pods.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SparkExecutor", extend("examples" = [{"instances": 2, "cores": 4, "memory": "8g"}]))]
pub(super) struct Executor {
    /// How many pods.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    pub(super) instances: Option<Count>,
    /// CPU cores: the request and the limit.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [4]))]
    pub(super) cores: Option<Count>,
    /// The heap: a whole number with `m`, `g` or `t`.
    #[serde(default)]
    #[schemars(extend("default" = "1g", "examples" = ["8g"]))]
    pub(super) memory: Option<Text>,
    /// Memory of the pod outside the heap; by default a tenth of the heap, for Python and R four tenths, and at least
    /// 384m.
    #[serde(default)]
    #[schemars(extend("examples" = ["1g"]))]
    pub(super) memory_overhead: Option<Text>,
    /// The accelerators of each pod. Tasks see them; Spark itself schedules them only if `sparkConf` says so.
    #[serde(default)]
    #[schemars(extend("examples" = [{"name": "nvidia.com/gpu", "quantity": 1}]))]
    pub(super) gpu: Option<Gpu>,
}

impl RoleFields for Executor {
    const LACKS: &'static [&'static str] = &NOT_OF_SPARK;
}

/// The accelerators of a pod.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SparkGpu", extend("examples" = [{"name": "nvidia.com/gpu", "quantity": 1}]))]
pub(super) struct Gpu {
    /// The resource.
    #[schemars(extend("examples" = ["nvidia.com/gpu"]))]
    pub(super) name: Text,
    /// How many.
    #[schemars(extend("examples" = [1]))]
    pub(super) quantity: Count,
}
