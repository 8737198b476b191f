//! What the steps read in the cluster, out of what the compiler wrote into git.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_contract::instance::{Owner, Session};
use kubebench_contract::{Config, Created, Fault, Naming, PodMetadata, Settings};
use serde_json::{Value, json};

use crate::support::judges::validate;
use crate::support::project::{Emitted, mixed, mixed_objects, rendered};

const OWNER: Owner<'_> = Owner { name: "resnet-1a2b3c4d-r1", uid: "6f1a" };
const ONCE: Naming<'_> = Naming { session: Session::Once, owner: OWNER, pods: PodMetadata::NONE };
const RUN_LABELS: [&str; 4] =
    ["kubebench.dev/attempt", "kubebench.dev/repeat", "kubebench.dev/run", "kubebench.dev/warmup"];

fn files(emitted: &Emitted) -> BTreeMap<String, String> {
    let data = emitted.object["data"].as_object().unwrap();
    data.iter().map(|(key, text)| (key.clone(), text.as_str().unwrap().to_owned())).collect()
}

/// The ConfigMaps of the project with every kind, as a step has them mounted.
fn configs() -> Vec<(String, BTreeMap<String, String>)> {
    let maps = mixed_objects().into_iter().filter(|emitted| emitted.path.ends_with("/config.yaml"));
    maps.map(|emitted| (emitted.path.clone(), files(&emitted))).collect()
}

/// What the pods of runs carry on the target in whose folder `path` is.
fn carried(path: &str) -> PodMetadata {
    let (folder, _) = path.split_once('/').unwrap();
    let settings = format!("{folder}/pipeline/settings.yaml");
    let emitted = mixed_objects().into_iter().find(|emitted| emitted.path == settings).unwrap();
    Settings::read(emitted.object["data"]["settings.json"].as_str().unwrap()).unwrap().pods
}

fn all(created: Created) -> Vec<Value> {
    std::iter::once(created.workload).chain(created.before).collect()
}

/// The labels that an object and the pods of its templates and selectors have of a run.
fn labels_of_run(value: &Value, found: &mut Vec<BTreeMap<String, String>>) {
    if let Some(object) = value.as_object() {
        if object.contains_key("kubebench.dev/run") {
            let own = RUN_LABELS
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), object.get(*name)?.as_str()?.to_owned())));
            found.push(own.collect());
        }
        object.values().for_each(|value| labels_of_run(value, found));
    }
    for item in value.as_array().into_iter().flatten() {
        labels_of_run(item, found);
    }
}

/// What a step creates is what `render` shows, and what API servers take, for every run of every kind.
#[test]
fn every_run_gets_its_own_objects() {
    let printed: Vec<Value> = rendered(mixed()).into_iter().map(|emitted| without_counts(emitted.object)).collect();
    let mut names = BTreeSet::new();
    let mut as_printed = 0;
    for (path, files) in configs() {
        let config = Config::read(files).unwrap();
        let pods = carried(&path);
        let once = Naming { pods: &pods, ..ONCE };
        for id in config.list.servers.keys() {
            for mut object in all(config.server(id, &once).unwrap()) {
                assert_eq!(object["metadata"]["labels"]["kubebench.dev/run"], config.server_name(id, ONCE.session));
                object["metadata"].as_object_mut().unwrap().remove("ownerReferences");
                as_printed += usize::from(printed.contains(&without_counts(object)));
            }
        }
        for run in &config.list.runs {
            let objects = all(config.objects(&run.id, 1, &once).unwrap());
            let name = objects[0]["metadata"]["name"].as_str().unwrap();
            assert_eq!(name, run.job, "{path}");
            assert!(names.insert((path.clone(), name.to_owned())), "{path}: two runs have {name}");
            for mut object in objects {
                assert_eq!(object["metadata"]["ownerReferences"][0]["uid"], "6f1a");
                assert_eq!(validate(&object), Vec::<String>::new(), "{path}");
                let mut labels = Vec::new();
                labels_of_run(&object, &mut labels);
                let wanted =
                    [("attempt", "1".to_owned()), ("repeat", run.repeat.to_string()), ("run", run.job.clone())];
                for labels in &labels {
                    assert!(
                        wanted.iter().all(|(key, value)| labels.get(&format!("kubebench.dev/{key}")) == Some(value))
                    );
                    assert_eq!(labels["kubebench.dev/warmup"], run.warmup.to_string());
                }
                // The pods of a TrainJob are described in its runtime, those of a Workflow in its template.
                let of_pods = usize::from(object["kind"] != "TrainJob" && object["kind"] != "Workflow");
                assert!(labels.len() > of_pods, "{path}: pods are not found by their run");
                object["metadata"].as_object_mut().unwrap().remove("ownerReferences");
                as_printed += usize::from(printed.contains(&without_counts(object)));
            }
        }
    }
    assert!(names.len() > 20, "{names:?}");
    assert_eq!(as_printed, printed.len(), "`render` prints the first run of each case");
}

/// `render` knows the name of a run alone.
fn without_counts(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        if let Some(object) = value.as_object_mut() {
            object.retain(|key, _| key == "kubebench.dev/run" || !RUN_LABELS.contains(&key.as_str()));
            // Where a server is a run learns when it is there.
            if object.get("name").is_some_and(|name| name == "KUBEBENCH_ENDPOINT") {
                object.remove("value");
            }
            object.values_mut().for_each(strip);
        }
        value.as_array_mut().into_iter().flatten().for_each(strip);
    }
    strip(&mut value);
    value
}

/// An attempt, a session and a round each have jobs of their own; who is asked twice says the same.
#[test]
fn names_tell_apart_what_runs_apart() {
    for (path, files) in configs() {
        let config = Config::read(files).unwrap();
        let run = config.list.runs.first().unwrap();
        let name = |attempt, naming: &Naming<'_>| {
            let created = config.objects(&run.id, attempt, naming).unwrap();
            created.workload["metadata"]["name"].as_str().unwrap().to_owned()
        };
        let scheduled = |uid| Naming { session: Session::Scheduled { uid }, owner: OWNER, pods: PodMetadata::NONE };
        let mut seen =
            BTreeSet::from([name(1, &ONCE), name(2, &ONCE), name(1, &scheduled("a")), name(1, &scheduled("b"))]);
        assert_eq!(name(1, &scheduled("a")), name(1, &scheduled("a")));
        let jobs = [config.prepare(&ONCE).unwrap(), config.postprocess(&run.id, 1, &ONCE).unwrap()];
        let beside: Vec<Value> = jobs.into_iter().flatten().collect();
        for job in &beside {
            assert!(seen.insert(job["metadata"]["name"].as_str().unwrap().to_owned()), "{path}");
            assert_eq!(validate(job), Vec::<String>::new(), "{path}");
        }
        assert_eq!(seen.len(), 4 + beside.len(), "{path}");
        if let Some(job) = config.postprocess(&run.id, 1, &ONCE).unwrap() {
            assert_eq!(job["metadata"]["labels"]["kubebench.dev/run"], run.job, "its folders are those of the run");
        }
    }
}

#[test]
fn what_cannot_be_used_is_said() {
    assert_eq!(Config::read(BTreeMap::new()).unwrap_err(), Fault::Superseded);
    let (_, files) = configs().remove(0);
    let fault = |change: &dyn Fn(&mut BTreeMap<String, String>, &mut Value)| {
        let mut files = files.clone();
        let mut list: Value = serde_json::from_str(&files["runs.json"]).unwrap();
        change(&mut files, &mut list);
        if files.contains_key("runs.json") {
            files.insert("runs.json".to_owned(), list.to_string());
        }
        let first = list["runs"][0]["id"].as_str().unwrap_or_default().to_owned();
        match Config::read(files) {
            Ok(config) => config.objects(&first, 1, &ONCE).map_or_else(|fault| fault.to_string(), |_| String::new()),
            Err(fault) => fault.to_string(),
        }
    };
    let manifest = |list: &Value| {
        let case = list["runs"][0]["case"].as_str().unwrap();
        list["cases"][case]["manifest"].as_str().unwrap().to_owned()
    };
    assert_eq!(fault(&|_, _| {}), "");
    let cases: [(&dyn Fn(&mut BTreeMap<String, String>, &mut Value), &str); 7] = [
        (&|files, _| drop(files.remove("runs.json")), "`runs.json` is not in the ConfigMap"),
        (&|_, list| list["schemaVersion"] = json!(2), "`runs.json` has schemaVersion 2, but this program reads 1"),
        (&|_, list| list["runs"][0]["case"] = json!("gone"), "is of the case `gone`, which does not exist"),
        (&|_, list| drop(list.as_object_mut().unwrap().remove("runDigest")), "missing field `runDigest`"),
        (&|files, list| drop(files.remove(&manifest(list))), "is not in the ConfigMap"),
        (&|files, list| drop(files.insert(manifest(list), "a: [".to_owned())), "is malformed"),
        (
            &|files, list| drop(files.insert(manifest(list), "a: 1\n---\nb: 2\n---\nc: 3\n".to_owned())),
            "it holds 3 objects",
        ),
    ];
    for (change, words) in cases {
        let said = fault(change);
        assert!(said.contains(words), "{words}: {said}");
    }
    // Later versions may say more.
    assert_eq!(fault(&|_, list| list["later"] = json!({"a": 1})), "");
    let config = Config::read(files.clone()).unwrap();
    assert_eq!(config.run("x").unwrap_err().to_string(), "there is no run `x` in `runs.json`");
}

#[test]
fn settings_are_those_of_the_target() {
    let maps = mixed_objects().into_iter().filter(|emitted| emitted.path.ends_with("pipeline/settings.yaml"));
    let mut targets = Vec::new();
    for emitted in maps {
        let settings = Settings::read(&files(&emitted)["settings.json"]).unwrap();
        assert!(emitted.path.starts_with(&format!("{}/", settings.target)), "{settings:?}");
        assert!(matches!(settings.results.mode.as_str(), "branch" | "inbox" | "local"));
        targets.push(settings.target);
    }
    assert!(targets.len() > 1, "{targets:?}");
    assert!(Settings::read("{}").unwrap_err().to_string().contains("has schemaVersion null"));
}
