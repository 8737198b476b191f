//! What `deploy/` gives people to start from: the image, a namespace, and the objects of Argo CD and Flux.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use kubebench_compiler::workload::KINDS;
use kubebench_contract::labels;
use kubebench_extract::preset::PRESETS;
use serde_json::{Value, json};

use crate::support::judges::{oracle, validate};
use crate::support::project::{Emitted, Folder, assert_yes, files_below, mixed_objects, relative, repository};

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

fn object(path: &str) -> Value {
    serde_yaml::from_str(&read(path)).unwrap()
}

/// The objects of a file.
fn all_objects(path: &str) -> Vec<Value> {
    serde_yaml::from_multiple(&read(path)).unwrap()
}

fn is_of_cluster(object: &Value) -> bool {
    object["kind"]
        .as_str()
        .is_some_and(|kind| kind.starts_with("ClusterRole") || kind.starts_with("ValidatingAdmission"))
}

const FOLDERS: [&str; 5] = ["deploy/admission", "deploy/namespace", "deploy/nodes", "deploy/argo-cd", "deploy/flux"];
/// What adds to the objects of a folder.
const COMPONENTS: [(&str, &str, &str); 2] = [
    ("deploy/signed/argo-cd", "project.yaml", "deploy/argo-cd/project.yaml"),
    ("deploy/signed/flux", "source.yaml", "deploy/flux/source.yaml"),
];

#[test]
fn every_kustomization_names_all_that_is_next_to_it_and_a_server_would_take_it() {
    for folder in FOLDERS {
        let root = repository().join(folder);
        let mut names: BTreeSet<String> = files_below(&root).iter().map(|path| relative(&root, path)).collect();
        assert!(names.remove("kustomization.yaml"), "{folder}");
        let listed = object(&format!("{folder}/kustomization.yaml"))["resources"].clone();
        assert_eq!(json!(names), {
            let mut listed: Vec<&str> = listed.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            listed.sort_unstable();
            json!(listed)
        });
        for name in names {
            for mut object in all_objects(&format!("{folder}/{name}")) {
                if object["kind"] != "Namespace" && !is_of_cluster(&object) {
                    object["metadata"]["namespace"] = json!("benchmarks");
                }
                assert_eq!(validate(&object), Vec::<String>::new(), "{folder}/{name}");
            }
        }
    }
}

#[test]
fn what_demands_signed_commits_fits_what_it_is_added_to() {
    for (folder, file, base) in COMPONENTS {
        let component = object(&format!("{folder}/kustomization.yaml"));
        assert_eq!((&component["kind"], &component["patches"]), (&json!("Component"), &json!([{"path": file}])));
        let (mut object, patch) = (object(base), object(&format!("{folder}/{file}")));
        for field in ["apiVersion", "kind"] {
            assert_eq!(object[field], patch[field], "{folder}");
        }
        assert_eq!(object["metadata"]["name"], patch["metadata"]["name"], "{folder}");
        let fields = patch["spec"].as_object().unwrap();
        assert_eq!(fields.len(), 1);
        for (field, value) in fields {
            assert!(object["spec"].get(field).is_none(), "{base} demands it already");
            object["spec"][field] = value.clone();
        }
        object["metadata"]["namespace"] = json!("benchmarks");
        assert_eq!(validate(&object), Vec::<String>::new(), "{folder}");
    }
    let verify = &object("deploy/signed/flux/source.yaml")["spec"]["verify"];
    assert_eq!(verify["mode"], "HEAD");
    assert!(verify["secretRef"]["name"].is_string());
    let keys = object("deploy/signed/argo-cd/project.yaml")["spec"]["signatureKeys"].clone();
    let is_long = |key: &Value| key["keyID"].as_str().is_some_and(|id| id.len() == 16);
    assert!(keys.as_array().is_some_and(|keys| !keys.is_empty() && keys.iter().all(is_long)));
}

#[test]
fn oracle_kustomize_adds_what_demands_signed_commits() {
    let Some(kustomize) = oracle("oracle_kustomize_adds_what_demands_signed_commits", "kustomize") else { return };
    for (folder, file, base) in COMPONENTS {
        let place = tempfile::tempdir_in(repository().join("deploy")).unwrap();
        let (base_folder, _) = base.rsplit_once('/').unwrap();
        let text = format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../../{base_folder}]\ncomponents: [../../{folder}]\n"
        );
        fs::write(place.path().join("kustomization.yaml"), text).unwrap();
        let output = Command::new(&kustomize).arg("build").arg(place.path()).output().unwrap();
        assert_yes(&output);
        let built: Vec<Value> = serde_yaml::from_multiple(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
        let patch = object(&format!("{folder}/{file}"));
        let patched = built.iter().find(|object| object["kind"] == patch["kind"]).unwrap();
        for (field, value) in patch["spec"].as_object().unwrap() {
            assert_eq!(&patched["spec"][field], value, "{folder}");
        }
    }
}

#[test]
fn oracle_kustomize_builds_what_is_deployed() {
    let Some(kustomize) = oracle("oracle_kustomize_builds_what_is_deployed", "kustomize") else { return };
    for folder in FOLDERS {
        let output = Command::new(&kustomize).arg("build").arg(repository().join(folder)).output().unwrap();
        assert_yes(&output);
        let built: Vec<Value> = serde_yaml::from_multiple(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
        let listed = object(&format!("{folder}/kustomization.yaml"));
        let files = listed["resources"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        assert_eq!(built.len(), files.flat_map(|name| all_objects(&format!("{folder}/{name}"))).count());
        for object in built {
            if is_of_cluster(&object) {
                continue;
            }
            let place = if object["kind"] == "Namespace" { "/metadata/name" } else { "/metadata/namespace" };
            let found = object.pointer(place);
            match listed.get("namespace") {
                Some(namespace) => assert_eq!(found, Some(namespace), "{object}"),
                None => assert!(found.is_some(), "{object} would be put anywhere"),
            }
        }
    }
}

/// The rows of docs/explanation/gitops.md that an Application or a Kustomization decides.
#[test]
fn nothing_that_syncs_can_start_a_benchmark_again_or_lose_its_results() {
    let application = object("deploy/argo-cd/application.yaml");
    let text = application["spec"].to_string();
    for option in ["Replace=true", "Force=true", "Prune=false", "CreateNamespace=true"] {
        assert!(!text.contains(option), "{option}");
    }
    let source = &application["spec"]["source"];
    assert_eq!(source["directory"], json!({"recurse": true, "include": "*.yaml"}));
    assert_ne!(source["targetRevision"], "kubebench/results");
    assert_eq!(
        application["spec"]["syncPolicy"]["automated"],
        json!({"prune": true, "selfHeal": true, "allowEmpty": false})
    );
    let [shared, sync] = ["deploy/flux/pipeline.yaml", "deploy/flux/sync.yaml"].map(object);
    for kustomization in [&shared, &sync] {
        let spec = kustomization["spec"].as_object().unwrap();
        assert_eq!((&spec["wait"], &spec["force"], &spec["prune"]), (&json!(false), &json!(false), &json!(true)));
        for transformer in ["targetNamespace", "namePrefix", "nameSuffix", "commonMetadata", "postBuild"] {
            assert!(!spec.contains_key(transformer), "{transformer} changes what Kubebench wrote");
        }
    }
    let paths = [source, &shared["spec"], &sync["spec"]].map(|has| has["path"].as_str().unwrap());
    assert!(paths.iter().all(|path| repository().join(path).is_dir()), "{paths:?}");
    let kept = &object("deploy/namespace/namespace.yaml")["metadata"]["annotations"];
    assert_eq!(kept["argocd.argoproj.io/sync-options"], "Prune=false,Delete=false");
    assert_eq!(kept["kustomize.toolkit.fluxcd.io/prune"], "disabled");
}

/// `what_benchmarks_share_comes_before_them` checks that the label distinguishes the two.
#[test]
fn flux_applies_the_template_before_the_workflows_and_nothing_twice() {
    let [shared, sync] = ["deploy/flux/pipeline.yaml", "deploy/flux/sync.yaml"].map(object);
    assert_eq!(sync["spec"]["dependsOn"], json!([{"name": shared["metadata"]["name"]}]));
    assert_eq!(sync["spec"]["sourceRef"], shared["spec"]["sourceRef"], "only then it waits for the revision");
    assert_eq!(shared["spec"]["path"], format!("{}/pipeline", sync["spec"]["path"].as_str().unwrap()));
    assert!(!shared["spec"].as_object().unwrap().contains_key("patches"));
    let [patch] = &sync["spec"]["patches"].as_array().unwrap()[..] else { panic!("{sync}") };
    assert_eq!(patch["target"], json!({"labelSelector": "!kubebench.dev/benchmark"}));
    let patch: Value = serde_yaml::from_str(patch["patch"].as_str().unwrap()).unwrap();
    assert_eq!(patch["$patch"], "delete");
}

/// Less, and a sync fails; more, and whoever can push could make other things.
#[test]
fn the_project_allows_exactly_the_kinds_that_are_emitted() {
    let project = object("deploy/argo-cd/project.yaml");
    let allowed: BTreeSet<(String, String)> = project["spec"]["namespaceResourceWhitelist"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| (kind["group"].as_str().unwrap().to_owned(), kind["kind"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(allowed, emitted_kinds());
    assert_eq!(project["spec"]["clusterResourceWhitelist"], json!([]));
}

/// Group and kind of all that is emitted.
fn emitted_kinds() -> BTreeSet<(String, String)> {
    let kind = |emitted: &Emitted| {
        let version = emitted.object["apiVersion"].as_str().unwrap();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        (group.to_owned(), emitted.object["kind"].as_str().unwrap().to_owned())
    };
    mixed_objects().iter().map(kind).collect()
}

/// The rights of a role: group, resource and verb.
fn rights(rules: &Value) -> BTreeSet<(String, String, String)> {
    let list = |rule: &Value, field: &str| -> Vec<String> {
        rule[field].as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut rights = BTreeSet::new();
    for rule in rules.as_array().unwrap() {
        for group in list(rule, "apiGroups") {
            for resource in list(rule, "resources") {
                let verbs = list(rule, "verbs").into_iter();
                rights.extend(verbs.map(|verb| (group.clone(), resource.clone(), verb)));
            }
        }
    }
    rights
}

/// What Flux applies as may write what is emitted, and give what the emitted roles give; and nothing with which it could give more.
#[test]
fn flux_applies_as_an_account_that_may_do_what_is_emitted() {
    let [deployer, grants] = ["deployer", "grants"].map(|role| object(&format!("deploy/flux/{role}-role.yaml")));
    let account = object("deploy/flux/account.yaml");
    for file in ["pipeline", "sync"] {
        let kustomization = object(&format!("deploy/flux/{file}.yaml"));
        assert_eq!(kustomization["spec"]["serviceAccountName"], account["metadata"]["name"]);
        assert_eq!(kustomization["metadata"]["namespace"], account["metadata"]["namespace"]);
    }
    for (role, file) in [(&deployer, "deployer"), (&grants, "grants")] {
        let binding = object(&format!("deploy/flux/{file}-binding.yaml"));
        assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
        assert_eq!(binding["metadata"]["namespace"], role["metadata"]["namespace"]);
        let subject = json!({"kind": "ServiceAccount", "name": account["metadata"]["name"], "namespace": account["metadata"]["namespace"]});
        assert_eq!(binding["subjects"], json!([subject]));
    }

    let writes: BTreeSet<(String, String)> = rights(&deployer["rules"])
        .into_iter()
        .filter(|right| right.2 == "patch")
        .map(|right| (right.0, right.1))
        .collect();
    let emitted: BTreeSet<(String, String)> = emitted_kinds()
        .into_iter()
        .map(|(group, kind)| (group, format!("{}s", kind.to_lowercase())))
        .map(|(group, plural)| (group, plural.replace("policys", "policies")))
        .collect();
    assert_eq!(writes, emitted);

    let held: BTreeSet<_> = rights(&deployer["rules"]).union(&rights(&grants["rules"])).cloned().collect();
    let objects = mixed_objects();
    for role in objects.iter().filter(|emitted| emitted.object["kind"] == "Role") {
        let missing: Vec<_> = rights(&role.object["rules"]).difference(&held).cloned().collect();
        assert_eq!(missing, [], "{} could not be applied", role.path);
    }
    let bindings = objects.iter().map(|emitted| &emitted.object).filter(|object| object["kind"] == "RoleBinding");
    let bound: BTreeSet<&str> = bindings.map(|binding| binding["roleRef"]["name"].as_str().unwrap()).collect();
    let binds: Vec<&Value> =
        grants["rules"].as_array().unwrap().iter().filter(|rule| rule["verbs"] == json!(["bind"])).collect();
    let [bind] = binds[..] else { panic!("{binds:?}") };
    assert_eq!(bind["resources"], json!(["roles"]));
    assert_eq!(
        bind["resourceNames"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect::<BTreeSet<_>>(),
        bound,
        "these roles and no other"
    );
    let held = held.iter().filter(|right| right.2 != "bind");
    for (group, resource, verb) in held.clone() {
        let is_right = group.contains("rbac");
        assert!(
            !group.contains('*')
                && !resource.contains('*')
                && !["*", "escalate", "impersonate"].contains(&verb.as_str())
        );
        assert!(!is_right || ["roles", "rolebindings"].contains(&resource.as_str()), "{resource}");
        assert!(!["secrets", "pods/exec", "pods/attach", "serviceaccounts/token"].contains(&resource.as_str()));
        assert!(resource != "pods" || verb != "create");
    }
    let deploys = ("kubebench.dev".to_owned(), "pipelines".to_owned(), "deploy".to_owned());
    assert!(held.clone().any(|right| *right == deploys), "deploy/admission asks for it");
}

/// Of every kind that Kubebench knows, so that no benchmark of one is refused when it is merged.
#[test]
fn flux_may_give_rights_over_every_kind_of_workload() {
    let held = rights(&object("deploy/flux/grants-role.yaml")["rules"]);
    let deployer = rights(&object("deploy/flux/deployer-role.yaml")["rules"]);
    let given: BTreeSet<_> = held.union(&deployer).collect();
    for kind in KINDS {
        let group = kind.api.api_version.split_once('/').map_or("", |(group, _)| group);
        let plural = kind.api.plural.as_ref();
        for verb in ["create", "delete", "get", "list", "watch"] {
            let right = (group.to_owned(), plural.to_owned(), verb.to_owned());
            assert!(given.contains(&right), "{right:?}");
        }
    }
}

/// Each policy denies, in the namespaces that an administrator labeled, and fails closed.
#[test]
fn every_policy_has_a_binding_that_denies() {
    let bindings = all_objects("deploy/admission/bindings.yaml");
    let files = files_below(&repository().join("deploy/admission"));
    let policies: Vec<Value> = files
        .iter()
        .flat_map(|path| all_objects(&relative(repository(), path)))
        .filter(|object| object["kind"] == "ValidatingAdmissionPolicy")
        .collect();
    assert_eq!(policies.len(), bindings.len());
    let namespace = object("deploy/namespace/namespace.yaml");
    for policy in &policies {
        assert_eq!(policy["spec"]["failurePolicy"], "Fail");
        let name = &policy["metadata"]["name"];
        let binding = bindings.iter().find(|binding| binding["spec"]["policyName"] == *name).unwrap();
        assert_eq!(binding["metadata"]["name"], *name, "doctor looks for it");
        assert_eq!(binding["spec"]["validationActions"], json!(["Deny"]));
        let labels = &binding["spec"]["matchResources"]["namespaceSelector"]["matchLabels"];
        assert_eq!(*labels, json!({"kubebench.dev/admission": "enforce"}));
        for (label, value) in labels.as_object().unwrap() {
            assert_eq!(namespace["metadata"]["labels"][label], *value, "deploy/namespace is bound");
        }
        let parameters = policy["spec"].get("paramKind").map(|_| {
            json!({"name": "kubebench-admission", "namespace": "kubebench-system", "parameterNotFoundAction": "Deny"})
        });
        assert_eq!(binding["spec"].get("paramRef"), parameters.as_ref());
    }
    let text = fs::read_to_string(repository().join("crates/executor/src/doctor/admission.rs")).unwrap();
    for policy in &policies {
        assert!(text.contains(&format!("{}", policy["metadata"]["name"])), "doctor looks for it");
    }
}

/// A step that the policies do not know starts nowhere that they hold.
#[test]
fn the_policies_know_every_step() {
    let spec = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec:\n  timeout: 1h\n  workload: {job: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}}\n";
    let suite = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: all}\nspec: {benchmarks: [a]}\n";
    let project = Folder::with([("specs/a.yaml", spec), ("specs/all.yaml", suite)]);
    assert_yes(&project.run(&["compile"]));
    let policy = read("deploy/admission/pods.yaml");
    let mut known = BTreeSet::new();
    for file in files_below(&project.path().join("generated")) {
        let object: Value = serde_yaml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for template in object["spec"]["templates"].as_array().into_iter().flatten() {
            let Some(step) = template["metadata"]["labels"][labels::STEP].as_str() else { continue };
            assert!(policy.contains(&format!("'{step}'")), "{step}");
            known.insert(step.to_owned());
        }
    }
    let expected = ["cleanup", "prepare", "record", "run", "suite-summary", "summary"];
    assert_eq!(known.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_namespace_enforces_restricted_and_gives_no_default_limit() {
    let labels = &object("deploy/namespace/namespace.yaml")["metadata"]["labels"];
    assert_eq!(labels["pod-security.kubernetes.io/enforce"], "restricted");
    let limits = &object("deploy/namespace/requests.yaml")["spec"]["limits"];
    assert!(limits[0].get("default").is_none() && limits[0]["defaultRequest"]["cpu"].is_string());
    let hard = object("deploy/namespace/quota.yaml")["spec"]["hard"].clone();
    assert!(hard.as_object().unwrap().keys().all(|key| !key.starts_with("limits.")), "{hard}");
}

/// The image that people build is that of the tests, from bases that cannot change.
#[test]
fn the_image_is_pinned_and_holds_what_the_steps_call() {
    let dockerfile = read("deploy/Dockerfile");
    let bases: Vec<&str> = dockerfile.lines().filter_map(|line| line.strip_prefix("FROM ")).collect();
    assert_eq!(bases.len(), 2);
    for base in &bases {
        let digest = base.split_whitespace().next().unwrap().split_once("@sha256:").expect(base).1;
        assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{base}");
        assert!(base.contains("bookworm"), "both of one release: {base}");
    }
    let toolchain = read("rust-toolchain.toml");
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = ")).unwrap().trim_matches('"');
    assert!(
        bases[0].contains(&format!("rust:{channel}-")) && dockerfile.contains(&format!("RUSTUP_TOOLCHAIN={channel}\n"))
    );
    let image = read("tests/cluster/image");
    let packages = image.lines().find_map(|line| line.strip_prefix("PACKAGES = (")).unwrap();
    let installs = dockerfile.lines().find(|line| line.contains("apt-get install")).unwrap();
    for package in packages.trim_end_matches(')').split(", ").map(|name| name.trim_matches('"')) {
        assert!(installs.contains(package), "{package}");
    }
    for said in ["--uid 65531", "--gid 65532", "--home-dir /tmp", "\nUSER 65531:65532\n", "\nENV HOME=/tmp\n"] {
        assert!(dockerfile.contains(said), "{said:?}");
    }
}

/// What `.dockerignore` leaves of the checkout is what the compiler reads.
#[test]
fn the_image_is_built_from_what_it_needs() {
    let ignore = read(".dockerignore");
    let lines: Vec<&str> = ignore.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert_eq!(lines[0], "*");
    let sent: Vec<&str> = lines[1..].iter().map(|line| line.strip_prefix('!').expect(line)).collect();
    assert!(sent.iter().all(|path| repository().join(path).exists()), "{sent:?}");
    let is_sent = |path: &str| sent.iter().any(|sent| Path::new(path).starts_with(sent));
    for needed in ["Cargo.toml", "Cargo.lock", "src/main.rs", "crates/syntax/Cargo.toml", "docs/codes/KB0101.md"] {
        assert!(is_sent(needed), "{needed}");
    }
    // Cargo refuses a package whose manifest names a file that is not there.
    let benches = read("Cargo.toml").matches("[[bench]]").count();
    assert!(benches == 0 || is_sent("benches/compile.rs"));
    for kept_out in [".git/config", "target/debug/kubebench", "kubebench.yaml", "results/a.json", "generated/x.yaml"] {
        assert!(!is_sent(kept_out), "{kept_out}");
    }
    let sources = ["src", "crates"].into_iter().flat_map(|folder| files_below(&repository().join(folder)));
    let sources: Vec<_> = sources.collect();
    let program = sources.iter().filter(|path| !path.to_string_lossy().contains("test"));
    for path in program {
        let text = fs::read_to_string(path).unwrap_or_default();
        for included in text.split("env!(\"CARGO_MANIFEST_DIR\"), \"/").skip(1) {
            let included = included.split('"').next().unwrap().trim_start_matches("../../");
            assert!(is_sent(included), "{} includes {included}", path.display());
        }
    }
}

/// The dashboard shows the presets, by their names and with their queries.
#[test]
fn the_dashboard_shows_every_preset() {
    let dashboard: Value = serde_json::from_str(&read("deploy/monitoring/grafana-dashboard.json")).unwrap();
    let shown = dashboard["panels"].as_array().unwrap().iter().filter(|panel| panel["type"] != "row");
    let shown: Vec<(&str, &str)> =
        shown.map(|panel| (panel["title"].as_str().unwrap(), panel["targets"][0]["expr"].as_str().unwrap())).collect();
    let wanted: Vec<(&str, String)> = PRESETS
        .iter()
        .map(|preset| {
            let over = if preset.name == "dcgm-energy" { "[$__range]" } else { "[$__rate_interval]" };
            (preset.name, preset.query.replace("[$duration]", over))
        })
        .collect();
    assert_eq!(shown, wanted.iter().map(|(name, query)| (*name, query.as_str())).collect::<Vec<_>>());
    let of_dashboard = |name: &str| format!("\"name\": \"{name}\"");
    let text = read("deploy/monitoring/grafana-dashboard.json");
    for variable in ["namespace", "pods", "nodes"] {
        assert!(text.contains(&of_dashboard(variable)), "{variable}");
    }
}

/// What selects pods and names their series are labels that Kubebench gives to pods.
#[test]
fn monitoring_knows_runs_by_their_labels() {
    let labels = [
        labels::BENCHMARK,
        labels::CASE,
        labels::RUN,
        labels::REPEAT,
        labels::ATTEMPT,
        labels::WARMUP,
        "kubebench.dev/role",
    ];
    let monitor = object("deploy/monitoring/pod-monitor.yaml");
    let copied = monitor["spec"]["podTargetLabels"].as_array().unwrap();
    let copied: BTreeSet<&str> = copied.iter().map(|label| label.as_str().unwrap()).collect();
    assert_eq!(copied, BTreeSet::from(labels));
    assert_eq!(monitor["spec"]["selector"]["matchExpressions"][0]["key"], labels::RUN);
    let text = read("deploy/monitoring/grafana-dashboard.json");
    let asked: BTreeSet<String> = text
        .split("label_kubebench_dev_")
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_alphanumeric).collect())
        .collect();
    let known: BTreeSet<String> = labels.iter().map(|label| label.replace("kubebench.dev/", "")).collect();
    assert!(asked.is_subset(&known), "{asked:?}");
    let pods = mixed_objects().into_iter().map(|emitted| emitted.object.to_string()).collect::<String>();
    assert!(pods.contains("kubebench.dev/role"));
}
