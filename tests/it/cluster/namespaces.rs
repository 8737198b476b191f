//! Projects whose targets are namespaces that are made for one test and deleted after it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubebench::app::catalog::ENTRIES;
use serde_json::{Value, json};

use super::Cluster;
use crate::support::project::{Emitted, Folder, assert_yes, files_below, mixed_files, relative, repository};

/// A compiled project on disk, with its namespaces in the cluster.
pub(super) struct Project {
    pub(super) cluster: &'static Cluster,
    pub(super) folder: Folder,
    /// The namespace of each target.
    pub(super) namespaces: BTreeMap<String, String>,
}

impl Project {
    /// The project that this repository is.
    pub(super) fn own(cluster: &'static Cluster) -> Self {
        let root = repository();
        let mut files: Vec<PathBuf> = ["specs", "scripts", "jobs", "notebooks", "pipelines"]
            .into_iter()
            .flat_map(|folder| files_below(&root.join(folder)))
            .collect();
        files.push(root.join("kubebench.yaml"));
        let read = |path: PathBuf| (relative(root, &path), std::fs::read_to_string(path).unwrap());
        Self::compiled(cluster, files.into_iter().map(read).collect())
    }

    /// The ready benchmarks, as `new` writes them.
    pub(super) fn catalogue(cluster: &'static Cluster) -> Self {
        let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  targets:\n    default:\n      \
                       namespace: catalogue\n      podSecurity: privileged\n";
        let mut files = vec![("kubebench.yaml".to_owned(), project.to_owned())];
        for entry in ENTRIES {
            files.push((format!("specs/{}.yaml", entry.name), entry.spec(entry.name, "../schema/benchmark.v1.json")));
            files.extend(entry.files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        }
        Self::compiled(cluster, files)
    }

    /// The project in `tests/data/mixed`.
    pub(super) fn mixed(cluster: &'static Cluster) -> Self {
        Self::compiled(cluster, mixed_files())
    }

    /// A project of these files. Its Workflows run at once, unless it says how many do: tests have their own namespaces, and none
    /// waits for another's.
    pub(super) fn compiled(cluster: &'static Cluster, mut files: Vec<(String, String)>) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let prefix = format!("kubebench-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let project = files.iter_mut().find(|(path, _)| path == "kubebench.yaml").unwrap();
        let before: Value = serde_yaml::from_str(&project.1).unwrap();
        project.1 = renamed(&project.1, &prefix);
        let after: Value = serde_yaml::from_str(&project.1).unwrap();
        let mut namespaces = BTreeMap::new();
        for (target, settings) in after["spec"]["targets"].as_object().unwrap() {
            let old = before["spec"]["targets"][target]["namespace"].as_str().unwrap();
            assert_eq!(settings["namespace"], format!("{prefix}-{old}"));
            namespaces.insert(target.clone(), format!("{prefix}-{old}"));
        }
        let folder = Folder::with(files);
        assert_yes(&folder.run(&["compile"]));
        let project = Self { cluster, folder, namespaces };
        for (target, namespace) in &project.namespaces {
            // Its level is enforced on pods and reported of Jobs, as a warning that the tests take for an error.
            let level = after["spec"]["targets"][target]["podSecurity"].as_str().unwrap_or("restricted");
            let labels = json!({
                "pod-security.kubernetes.io/enforce": level,
                "pod-security.kubernetes.io/warn": level,
            });
            let metadata = json!({"name": namespace, "labels": labels});
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
            project.folder.write("namespace.json", object.to_string());
            cluster.say(["create", "-f", &project.place("namespace.json")]);
        }
        project
    }

    /// The objects below `generated`, each with the path of its file in the folder.
    pub(super) fn objects(&self) -> Vec<Emitted> {
        let read = |(path, bytes): (String, Vec<u8>)| Emitted {
            object: serde_yaml::from_slice(&bytes).unwrap(),
            path: format!("generated/{path}"),
        };
        self.folder.tree("generated").into_iter().map(read).collect()
    }

    /// The arguments `-f FILE` for each of these objects.
    pub(super) fn files<'e>(&self, objects: impl IntoIterator<Item = &'e Emitted>) -> Vec<String> {
        objects.into_iter().flat_map(|emitted| ["-f".to_owned(), self.place(&emitted.path)]).collect()
    }

    /// The whole path of a file in the folder.
    pub(super) fn place(&self, path: &str) -> String {
        self.folder.path().join(path).to_str().unwrap().to_owned()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let arguments = ["delete", "namespace", "--wait=false", "--ignore-not-found"].into_iter();
        let deleted = self.cluster.kubectl(arguments.chain(self.namespaces.values().map(String::as_str)));
        if !std::thread::panicking() {
            assert_yes(&deleted);
        }
    }
}

fn renamed(project: &str, prefix: &str) -> String {
    let limit = if project.contains("concurrency") { "" } else { "concurrency: unlimited\n" };
    project.lines().fold(String::new(), |text, line| match line.split_once("namespace: ") {
        Some((indent, name)) if indent.trim().is_empty() => {
            let limit = if limit.is_empty() { String::new() } else { format!("{indent}{limit}") };
            format!("{text}{indent}namespace: {prefix}-{name}\n{limit}")
        }
        _ => format!("{text}{line}\n"),
    })
}
