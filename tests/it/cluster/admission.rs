//! `deploy/admission` on a real API server: what its policies refuse, each with a twin that differs in one value and is accepted.

mod attacks;
mod pipeline;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Cluster;
use super::namespaces::Project;
use crate::support::project::{assert_yes, repository};

/// The API server reads policies and labels of namespaces a little after they are written.
const SETTLED: Duration = Duration::from_mins(1);

/// Whose request it is.
#[derive(Clone, Copy)]
enum Who {
    /// The account of the steps that create jobs.
    Runner,
    /// A person who may write all that is in the namespace, but not deploy.
    Editor,
    /// An operator, which makes the pods of jobs.
    Operator,
    /// Argo's workflow-controller.
    Argo,
    /// The account that applies what is in git.
    Deployer,
}

impl Who {
    fn user(self, namespace: &str) -> String {
        match self {
            Self::Runner => format!("system:serviceaccount:{namespace}:kubebench-runner"),
            Self::Editor => "editor".to_owned(),
            Self::Operator => "system:serviceaccount:kubeflow:training-operator".to_owned(),
            Self::Argo => "system:serviceaccount:argo:argo".to_owned(),
            Self::Deployer => format!("system:serviceaccount:{namespace}:deployer"),
        }
    }
}

/// A namespace that the policies hold in.
struct Guarded<'p> {
    project: &'p Project,
    namespace: &'p str,
}

impl<'p> Guarded<'p> {
    /// Applies the policies, and lets them hold in the namespace of a target.
    fn new(project: &'p Project, target: &str) -> Self {
        let cluster = project.cluster;
        let folder = repository().join("deploy/admission");
        cluster.say(["apply", "-k", folder.to_str().unwrap()]);
        let namespace = project.namespaces[target].as_str();
        cluster.say(["label", "namespace", namespace, "kubebench.dev/admission=enforce"]);
        let guarded = Self { project, namespace };
        for (policy, attack) in probes() {
            guarded.refused("probe", None, &attack, policy);
        }
        guarded
    }

    fn cluster(&self) -> &'static Cluster {
        self.project.cluster
    }

    /// Gives the people and programs of these tests what they have in a cluster.
    fn with_people(self) -> Self {
        let everything = ["create", "delete", "get", "list", "patch", "update", "watch"];
        let rule = |groups: &[&str], resources: &[&str]| json!({"apiGroups": groups, "resources": resources, "verbs": everything});
        let own = ["", "apps", "batch", "argoproj.io", "kubeflow.org", "networking.k8s.io"];
        let subject = |kind: &str, name: &str, of: &str| match kind {
            "User" => json!({"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"}),
            _ => json!({"kind": kind, "name": name, "namespace": of}),
        };
        let role = |name: &str, rules: &[Value], subjects: &[Value]| {
            let metadata = json!({"name": name, "namespace": self.namespace});
            let rbac = "rbac.authorization.k8s.io";
            let version = format!("{rbac}/v1");
            [
                json!({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules}),
                json!({
                    "apiVersion": version,
                    "kind": "RoleBinding",
                    "metadata": metadata,
                    "roleRef": {"apiGroup": rbac, "kind": "Role", "name": name},
                    "subjects": subjects,
                }),
            ]
        };
        let editors = [
            subject("User", "editor", ""),
            subject("ServiceAccount", "training-operator", "kubeflow"),
            subject("ServiceAccount", "deployer", self.namespace),
        ];
        let deploy = json!({"apiGroups": ["kubebench.dev"], "resources": ["pipelines"], "verbs": ["deploy"]});
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "mine", "namespace": self.namespace}});
        let mut objects = vec![account];
        objects.extend(role("editors", &[rule(&own, &["*"])], &editors));
        objects.extend(role("deployers", &[deploy], &editors[2..]));
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.cluster().say(["apply", "-f", &self.file(&list)]);
        self
    }

    fn file(&self, object: &Value) -> String {
        self.project.folder.write("request.json", object.to_string());
        self.project.place("request.json")
    }

    /// What the API server says of a request: nothing where it takes it.
    fn asked(&self, who: Option<Who>, object: &Value) -> Result<(), String> {
        let file = self.file(object);
        self.answer(who, &["create", "--dry-run=server", "-f", &file])
    }

    /// What it says of these arguments to `kubectl`.
    fn answer(&self, who: Option<Who>, arguments: &[&str]) -> Result<(), String> {
        let user = who.map(|who| format!("--as={}", who.user(self.namespace)));
        let arguments = ["-n", self.namespace].into_iter().chain(user.as_deref()).chain(arguments.iter().copied());
        let output = self.cluster().kubectl(arguments);
        if output.status.success() { Ok(()) } else { Err(String::from_utf8(output.stderr).unwrap()) }
    }

    fn refused(&self, what: &str, who: Option<Who>, object: &Value, policy: &str) {
        let name = format!("ValidatingAdmissionPolicy '{policy}'");
        let file = self.file(object);
        let since = Instant::now();
        loop {
            let said = self.answer(who, &["create", "--dry-run=server", "-f", &file]);
            if said.as_ref().is_err_and(|said| said.contains(&name)) {
                return;
            }
            assert!(since.elapsed() < SETTLED, "{what}: {policy} does not refuse {object}: {said:?}");
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    fn taken(&self, what: &str, who: Option<Who>, object: &Value) {
        if let Err(said) = self.asked(who, object) {
            panic!("{what} is honest: {object}\n{said}");
        }
    }

    /// The same for arguments to `kubectl`: the first are refused, the second taken.
    fn only(&self, who: Who, policy: &str, attack: &[&str], twin: &[&str]) {
        let said = self.answer(Some(who), attack).expect_err(&format!("{attack:?} is taken"));
        assert!(said.contains(&format!("ValidatingAdmissionPolicy '{policy}'")), "{attack:?}: {said}");
        self.answer(Some(who), twin).unwrap_or_else(|said| panic!("{twin:?}: {said}"));
    }
}

/// For each policy, something that it refuses whoever asks, or that nobody asks for.
fn probes() -> BTreeMap<&'static str, Value> {
    let labeled = json!({"labels": {"kubebench.dev/step": "record"}});
    let template = json!({"metadata": labeled, "spec": {"restartPolicy": "Never", "containers": [container()]}});
    BTreeMap::from([
        ("kubebench-pods", pod(&json!({"metadata": labeled}))),
        ("kubebench-templates", object("batch/v1", "Job", &json!({"spec": {"template": template}}))),
        (
            "kubebench-custom-templates",
            object(
                "kubeflow.org/v1",
                "TFJob",
                &json!({"spec": {"tfReplicaSpecs": {"Worker": {"template": template}}}}),
            ),
        ),
    ])
}

fn container() -> Value {
    json!({
        "name": "tensorflow",
        "image": "busybox:1",
        "command": ["true"],
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
    })
}

/// An object `x` with these fields.
fn object(api_version: &str, kind: &str, fields: &Value) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
    merge(&mut object, fields);
    object
}

/// A pod with these fields, which Pod Security `restricted` takes.
fn pod(fields: &Value) -> Value {
    let security = json!({"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}});
    let spec = json!({"restartPolicy": "Never", "securityContext": security, "containers": [container()]});
    let mut pod = object("v1", "Pod", &json!({"spec": spec}));
    merge(&mut pod, fields);
    pod
}

/// Adds fields to an object; lists take the place of lists.
fn merge(object: &mut Value, fields: &Value) {
    match (object, fields) {
        (Value::Object(object), Value::Object(fields)) => {
            for (key, value) in fields {
                merge(object.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
        (object, fields) => *object = fields.clone(),
    }
}

/// Applies what a target shares, as an administrator.
fn share(project: &Project) {
    let shared: Vec<_> = project.objects().into_iter().filter(|emitted| emitted.path.contains("/pipeline/")).collect();
    assert!(!shared.is_empty());
    assert_yes(&project.cluster.kubectl(["apply".to_owned()].into_iter().chain(project.files(&shared))));
}
