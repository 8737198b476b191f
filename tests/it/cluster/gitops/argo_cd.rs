//! `deploy/argo-cd`: repo-server and application-controller.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::{Cluster, PATIENCE, eventually};
use super::{Watched, result, uids};

/// Where Argo CD looks for Applications by default.
const HOME: &str = "argocd";

#[test]
fn argo_cd_runs_what_is_pushed_and_nothing_twice() {
    const NAME: &str = "argo_cd_runs_what_is_pushed_and_nothing_twice";
    let benchmarks = [("alpha", "1"), ("broken", "1, 9"), ("zeta", "1")];
    let Some(watched) = Watched::new(NAME, ("argocd", "applications.argoproj.io"), &benchmarks) else { return };
    let pushed = Timestamp::now();
    let application = Application::new(&watched);

    // The first sync of all: the template is there before the Workflows that sort before it. Five more while they run.
    watched.begin(&["alpha", "broken", "zeta"]);
    eventually("a Workflow that waits for another one is progress", || {
        (watched.is_one_waiting() && application.read()["status"]["health"]["status"] == "Progressing").then_some(())
    });
    let begun = uids(&watched);
    for _ in 0..5 {
        application.sync_again(&watched.revision());
    }
    watched.ends("alpha", "Succeeded", pushed);
    watched.ends("zeta", "Succeeded", pushed);
    watched.ends("broken", "Failed", pushed);
    let before = watched.workflows();
    assert_eq!(uids(&watched), begun);
    for benchmark in ["alpha", "zeta"] {
        assert_eq!(watched.results(benchmark), [result(1, 1, "succeeded")]);
    }
    assert_eq!(watched.results("broken"), [result(1, 1, "succeeded"), result(9, 1, "failed")]);
    application.becomes(&watched.revision(), "Degraded");

    // Five more when they have ended.
    for _ in 0..5 {
        application.sync_again(&watched.revision());
    }
    assert_eq!(watched.workflows(), before);
    heals_what_is_edited(&watched);

    // What somebody deletes comes back and repeats what did not succeed. What leaves git goes, but for the claim.
    let deleted = ["alpha", "broken"].map(|name| watched.cycle.workflows(super::TARGET)[name].clone());
    watched.cluster().say(
        ["-n", watched.namespace(), "delete", "workflow"].into_iter().chain(deleted.each_ref().map(String::as_str)),
    );
    watched.remove("zeta");
    let pushed = Timestamp::now();
    watched.push();
    watched.ends("alpha", "Succeeded", pushed);
    watched.ends("broken", "Failed", pushed);
    let after = watched.workflows();
    for name in &deleted {
        assert_ne!(after[name][0], before[name][0]);
    }
    assert_eq!(watched.results("alpha"), [result(1, 1, "succeeded")]);
    let thrice = [result(1, 1, "succeeded"), result(9, 1, "failed"), result(9, 2, "failed")];
    assert_eq!(watched.results("broken"), thrice);
    eventually("all of a removed benchmark but its claim goes", || {
        let left = watched.labeled("kubebench.dev/benchmark=zeta");
        left.into_iter().eq(["persistentvolumeclaim/zeta-results".to_owned()]).then_some(())
    });

    // Without the benchmark that failed all is well, and the claims that git no longer has are no drift.
    watched.remove("broken");
    application.becomes(&watched.push(), "Healthy");

    application.delete();
    let claims = ["alpha", "broken", "zeta"].map(|name| format!("persistentvolumeclaim/{name}-results"));
    eventually("all goes with the Application but the claims", || {
        let left = watched.labeled("app.kubernetes.io/managed-by=kubebench");
        (left == BTreeSet::from(claims.clone())).then_some(())
    });
}

/// What somebody edits in the cluster becomes again what git says; what is immutable cannot be edited.
fn heals_what_is_edited(watched: &Watched) {
    let namespace = watched.namespace();
    let data =
        |name: &str| watched.cluster().json(["-n", namespace, "get", "configmap", name, "-o", "json"])["data"].clone();
    let edit = json!({"data": {"rules.json": "{}"}}).to_string();
    let of_git = data("alpha-rules");
    watched.cluster().say(["-n", namespace, "patch", "configmap", "alpha-rules", "--type=merge", "-p", &edit]);
    eventually("the rules are healed", || (data("alpha-rules") == of_git).then_some(()));
    let run = &watched.cycle.workflows(super::TARGET)["alpha"];
    let (config, _) = run.rsplit_once('-').unwrap();
    let edit = json!({"data": {"runs.json": "{}"}}).to_string();
    let refused =
        watched.cluster().kubectl(["-n", namespace, "patch", "configmap", config, "--type=merge", "-p", &edit]);
    assert!(!refused.status.success());
}

/// The objects of `deploy/argo-cd`, under names of this test.
struct Application {
    cluster: &'static Cluster,
    name: String,
    project: String,
}

impl Application {
    fn new(watched: &Watched) -> Self {
        let namespace = watched.namespace();
        let (project, name) = (format!("{namespace}-project"), format!("{namespace}-application"));
        let changes = [
            ("namespace: benchmarks\n", format!("namespace: {namespace}\n")),
            ("name: benchmarks-cpu\n", format!("name: {name}\n")),
            ("name: benchmarks\n", format!("name: {project}\n")),
            ("project: benchmarks\n", format!("project: {project}\n")),
        ];
        let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
        let deployed = watched.write_deployed("deploy/argo-cd", &changes);
        watched.cluster().say(["apply", "-f", &deployed]);
        Self { cluster: watched.cluster(), name, project }
    }

    fn read(&self) -> Value {
        self.cluster.json(["-n", HOME, "get", "application", &self.name, "-o", "json"])
    }

    /// Waits until it is in sync with a commit and of this health.
    fn becomes(&self, commit: &str, health: &str) {
        eventually(&format!("{} at {commit} is Synced and {health}", self.name), || {
            let status = self.read()["status"].clone();
            let sync = &status["sync"];
            let is_so = sync["revision"] == commit && sync["status"] == "Synced";
            (is_so && status["health"]["status"] == health).then_some(())
        });
    }

    /// Makes it read git again and apply all of it.
    fn sync_again(&self, commit: &str) {
        let patch = json!({
            "metadata": {"annotations": {"argocd.argoproj.io/refresh": "hard"}},
            "operation": {"sync": {"revision": commit, "prune": true}},
        });
        self.cluster.say(["-n", HOME, "patch", "application", &self.name, "--type=merge", "-p", &patch.to_string()]);
        eventually("the sync is done", || {
            let application = self.read();
            let is_refreshed = application.pointer("/metadata/annotations/argocd.argoproj.io~1refresh").is_none();
            (is_refreshed && application.get("operation").is_none()).then_some(())
        });
        let application = self.read();
        let state = &application["status"]["operationState"];
        assert_eq!(state["phase"], "Succeeded", "{state:#}");
        // What is live is compared again after the operation, and a machine that is busy takes its time for that.
        eventually("it is in sync again", || (self.read()["status"]["sync"]["status"] == "Synced").then_some(()));
    }

    /// Deletes it with all that it has made, as its finalizer says.
    fn delete(&self) {
        let patience = format!("--timeout={}s", PATIENCE.as_secs());
        self.cluster.say(["-n", HOME, "delete", "application", &self.name, &patience]);
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shown =
                self.cluster.kubectl(["-n", HOME, "get", "application", &self.name, "-o", "jsonpath={.status}"]);
            eprintln!("== {}\n{}", self.name, String::from_utf8_lossy(&shown.stdout));
        }
        // The namespace goes as well; the finalizer would wait for what is deleted there.
        let patch = r#"{"metadata": {"finalizers": null}}"#;
        for arguments in [
            &["patch", "application", &self.name, "--type=merge", "-p", patch][..],
            &["delete", "application", &self.name, "--ignore-not-found"],
            &["delete", "appproject", &self.project, "--ignore-not-found"],
        ] {
            self.cluster.kubectl(["-n", HOME].iter().chain(arguments));
        }
    }
}
