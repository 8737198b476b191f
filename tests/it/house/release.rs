//! What a release publishes and who may change it: `.ci/release`, its workflow, the nightly fuzz, and CODEOWNERS.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kubebench_syntax::digest::Digest;
use kubebench_testing::snapshot::{assert_text, str};
use serde_json::{Value, json};

use crate::support::judges::{missing, tool};
use crate::support::project::{Folder, assert_yes, files_below, relative, repository, walk};

const WORKFLOW: &str = ".github/workflows/release.yml";
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

fn workflow() -> Value {
    serde_yaml::from_str(&read(WORKFLOW)).unwrap()
}

/// The steps of a job that have `key`, with its text.
fn texts<'v>(job: &'v Value, key: &str) -> Vec<&'v str> {
    job["steps"].as_array().unwrap().iter().filter_map(|step| step[key].as_str()).collect()
}

fn stdout(output: &Output) -> String {
    assert_yes(output);
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn jobs_of_the_release_have_the_rights_of_their_work_and_no_others() {
    let workflow = workflow();
    assert_eq!(workflow["on"], json!({"push": {"tags": ["v*"]}}));
    let reads = json!({"contents": "read"});
    let given: BTreeMap<&str, Value> = BTreeMap::from([
        ("check", reads.clone()),
        ("build", reads.clone()),
        ("image", reads.clone()),
        ("seal", reads),
        ("attest", json!({"attestations": "write", "id-token": "write"})),
        ("push", json!({"packages": "write"})),
        ("draft", json!({"contents": "write"})),
        ("pypi", json!({"id-token": "write"})),
    ]);
    let jobs = workflow["jobs"].as_object().unwrap();
    assert_eq!(jobs.len(), given.len());
    for (name, job) in jobs {
        assert_eq!(job["permissions"], given[name.as_str()], "{name}");
        let uses = texts(job, "uses");
        // A cache is what some other run has left.
        assert!(uses.iter().all(|action| !action.starts_with("actions/cache")), "{name}: {uses:?}");
        let may_write = job["permissions"].as_object().unwrap().values().any(|right| right == "write");
        if may_write {
            assert!(
                uses.iter().all(|action| !action.starts_with("actions/checkout@")),
                "{name} has the files of a tag"
            );
            assert!(texts(job, "run").iter().all(|run| !run.contains(".ci/")), "{name} runs what the tag brings");
        }
        for step in job["steps"].as_array().unwrap() {
            if step["uses"].as_str().is_some_and(|action| action.starts_with("actions/checkout@")) {
                assert_eq!(step["with"]["persist-credentials"], false, "{name}");
            }
        }
    }
    assert_eq!(jobs["attest"]["environment"], "release", "somebody approves");
    assert_eq!(jobs["pypi"]["environment"], "pypi", "somebody approves what is never replaced");
    assert!(jobs["pypi"]["needs"].as_array().unwrap().contains(&json!("draft")));
    for name in ["push", "draft", "pypi"] {
        assert!(jobs[name]["needs"].as_array().unwrap().contains(&json!("attest")), "{name}");
    }
    assert!(
        texts(&jobs["draft"], "run").iter().any(|run| run.contains("gh release create") && run.contains("--draft"))
    );
}

#[test]
fn the_release_is_what_the_script_makes_in_the_container_of_the_image() {
    let script = read(".ci/release");
    let arm = script.lines().find_map(|line| line.trim().strip_suffix(") steps+=(\"$1\") ;;")).unwrap();
    let steps: BTreeSet<&str> = arm.split(" | ").collect();
    let workflow = workflow();
    let jobs = workflow["jobs"].as_object().unwrap();
    let calls: Vec<&str> = jobs
        .values()
        .flat_map(|job| texts(job, "run"))
        .flat_map(str::lines)
        .filter_map(|line| line.split_once(".ci/release ").map(|(_, words)| words))
        .collect();
    let called: BTreeSet<&str> =
        calls.iter().flat_map(|words| words.split(' ')).filter(|word| steps.contains(word)).collect();
    assert_eq!(called, steps);
    for option in ["--profile", "--without", "--debian", "--dry-run"] {
        assert!(calls.iter().all(|words| !words.contains(option)), "a release is whole: {option}");
    }

    let dockerfile = read("deploy/Dockerfile");
    let base = dockerfile.lines().find_map(|line| line.strip_prefix("FROM ")).unwrap().split(' ').next().unwrap();
    let builds = jobs["build"]["strategy"]["matrix"]["include"].as_array().unwrap();
    for build in builds {
        let is_linux = build["target"].as_str().unwrap().ends_with("-linux-gnu");
        assert_eq!(build["container"].as_str().unwrap(), if is_linux { base } else { "" }, "{build}");
    }
    let linux = |jobs: &[Value]| -> BTreeSet<String> {
        let targets = jobs.iter().map(|job| job["target"].as_str().unwrap());
        targets.filter(|target| target.ends_with("-linux-gnu")).map(str::to_owned).collect()
    };
    assert_eq!(linux(builds), linux(jobs["image"]["strategy"]["matrix"]["include"].as_array().unwrap()));

    let image = read("tests/cluster/image");
    let suite = image.lines().find_map(|line| line.strip_prefix("SNAPSHOT_SUITE = ")).unwrap().trim_matches('"');
    assert!(dockerfile.contains(&format!("debian:{suite}-slim@")), "the published image and the Dockerfile's: {suite}");
}

#[test]
fn every_target_is_fuzzed_for_ten_minutes_a_night_from_a_corpus_that_is_kept() {
    let manifest = read("fuzz/Cargo.toml");
    let targets: Vec<&str> =
        manifest.split("[[bin]]\nname = \"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(targets.len() >= 4);
    let nightly = read(".ci/nightly");
    let (_, seeds) = nightly.split_once("seeds() {").unwrap();
    let arms = seeds.split("esac").next().unwrap();
    for target in targets {
        let has = arms
            .lines()
            .filter_map(|line| line.trim().split_once(") find "))
            .any(|(names, _)| names.split(" | ").any(|name| name == target));
        assert!(has, "the target {target} has no seeds in .ci/nightly");
    }
    assert!(nightly.contains("-max_total_time=\"${FUZZ_SECONDS:-600}\""));
    let workflow: Value = serde_yaml::from_str(&read(".github/workflows/nightly.yml")).unwrap();
    let job = &workflow["jobs"]["nightly"];
    assert!(job["strategy"]["matrix"]["step"].as_array().unwrap().contains(&json!("fuzz")));
    let of_fuzz: Vec<&Value> = job["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["if"].as_str().is_some_and(|when| when.contains("'fuzz'")))
        .collect();
    let step = |action: &str| {
        let found = of_fuzz.iter().find(|step| step["uses"].as_str().is_some_and(|uses| uses.starts_with(action)));
        *found.unwrap_or_else(|| panic!("no step uses {action}"))
    };
    let [restored, saved] = ["actions/cache/restore@", "actions/cache/save@"].map(step);
    assert_eq!(restored["with"]["path"], saved["with"]["path"]);
    assert_eq!(restored["with"]["key"], saved["with"]["key"]);
    let uploaded = step("actions/upload-artifact@");
    assert!(uploaded["if"].as_str().unwrap().contains("failure()"));
    assert!(uploaded["with"]["path"].as_str().unwrap().contains("fuzz/artifacts"));
}

/// The paths of a CODEOWNERS file; each has an owner.
fn owned(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (path, owner) = line.split_once(' ').unwrap_or_else(|| panic!("{line} has no owner"));
            assert!(owner.starts_with('@') && path.starts_with('/'), "{line}");
            path.to_owned()
        })
        .collect()
}

#[test]
fn every_folder_that_decides_something_has_owners() {
    let root = repository();
    let owned_here = owned(&read(".github/CODEOWNERS"));
    let is_owned = |path: &str| {
        let path = format!("/{path}");
        owned_here.iter().any(|owned| *owned == path || (owned.ends_with('/') && path.starts_with(owned.as_str())))
    };
    let mut named = BTreeSet::new();
    for spec in files_below(&root.join("specs")) {
        let document: Value = serde_yaml::from_str(&fs::read_to_string(&spec).unwrap()).unwrap();
        walk(&document, "", &mut |_, value| {
            if let Some(text) = value.as_str()
                && text.contains('/')
                && !Path::new(text).is_absolute()
                && !text.contains('\n')
                && root.join(text).is_file()
            {
                named.insert(text.to_owned());
            }
        });
        assert!(is_owned(&relative(root, &spec)));
    }
    let folders: BTreeSet<&str> = named.iter().map(|path| path.split('/').next().unwrap()).collect();
    assert_eq!(folders, BTreeSet::from(["jobs", "notebooks", "pipelines", "scripts"]), "what specs carry");
    for path in named.iter().map(String::as_str).chain([
        "kubebench.yaml",
        "generated/cpu/pipeline/role.yaml",
        "results/wordpiece/a.json",
        "deploy/Dockerfile",
        ".github/CODEOWNERS",
        ".ci/release",
        "schema/benchmark.v1.json",
        "Cargo.lock",
        "deny.toml",
    ]) {
        assert!(is_owned(path), "{path} has no owner");
    }

    let fresh = Folder::with::<&str, &str>([]);
    assert_yes(&fresh.run(&["init", "--owner", "@team"]));
    let of_init = owned(&fs::read_to_string(fresh.path().join(".github/CODEOWNERS")).unwrap());
    let not_owned: Vec<&String> = of_init.iter().filter(|path| !is_owned(path.trim_start_matches('/'))).collect();
    assert_eq!(not_owned, Vec::<&String>::new(), "`init` covers more");
    for path in owned_here.difference(&of_init) {
        assert!(root.join(path.trim_matches('/')).exists(), "{path} does not exist");
    }
}

/// A repository with the scripts of this one, of version 1.2.3.
fn released(changelog: &str) -> Folder {
    let folder = Folder::with([
        ("Cargo.toml", "[workspace.package]\nversion = \"1.2.3\"\n"),
        (
            "Cargo.lock",
            "[[package]]\nname = \"a\"\nversion = \"1.0.0+x\"\nsource = \"registry+b\"\nchecksum = \"00ff\"\n\n[[package]]\nname = \"own\"\nversion = \"1.2.3\"\n",
        ),
        ("CHANGELOG.md", changelog),
    ]);
    for name in [
        ".ci/limits",
        ".ci/maturin.txt",
        ".ci/tool.sh",
        ".ci/release",
        ".ci/bill",
        ".ci/provenance",
        "deploy/install/install.sh",
        "deploy/install/kubebench.rb",
    ] {
        let place = folder.path().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(repository().join(name), place).unwrap();
    }
    let git = git2::Repository::init(folder.path()).unwrap();
    let mut index = git.index().unwrap();
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
    let author = git2::Signature::new("a", "a@example.com", &git2::Time::new(1_700_000_000, 0)).unwrap();
    git.commit(Some("HEAD"), &author, &author, "Release", &tree, &[]).unwrap();
    folder
}

/// Runs a program of `folder` as on somebody's machine, or with `github` as in the workflow.
fn call(folder: &Folder, program: &str, arguments: &[&str], github: &[(&str, &str)]) -> Output {
    let mut command = Command::new(folder.path().join(program));
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GITHUB_")) {
        command.env_remove(name);
    }
    let cache = tempfile::tempdir().unwrap();
    command.env("KUBEBENCH_CACHE", cache.path()).env_remove("CARGO_TARGET_DIR").envs(github.iter().copied());
    command.output().unwrap()
}

const CHANGES: &str = "# Changelog\n\n## 1.2.4 (unreleased)\n\n- Later.\n\n## 1.2.3 (2026-01-31)\n\n- Pages ([docs/run.md](docs/run.md#a), [elsewhere](https://example.com/a)).\n\n### Generated output changes\n\nNone.\n\n## 1.2.2\n\n- Earlier.\n";

#[test]
fn notes_are_those_of_the_version_and_a_tag_is_of_the_commit() {
    let folder = released(CHANGES);
    let out = tempfile::tempdir().unwrap();
    let place = out.path().join("out");
    let arguments = ["--out", place.to_str().unwrap(), "notes"];
    assert_yes(&call(&folder, ".ci/release", &arguments, &[("GITHUB_REF_TYPE", "tag"), ("GITHUB_REF_NAME", "v1.2.3")]));
    assert_text(
        fs::read_to_string(place.join("notes.md")).unwrap(),
        str! {[r#"

- Pages ([docs/run.md](https://github.com/kubebench/kubebench/blob/v1.2.3/docs/run.md#a), [elsewhere](https://example.com/a)).

### Generated output changes

None.


"#]},
    );

    let refused = |folder: &Folder, arguments: &[&str], github: &[(&str, &str)]| {
        let output = call(folder, ".ci/release", arguments, github);
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        let line = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{text}")).to_owned();
        (output.status.code().unwrap(), line)
    };
    let tag = |name| [("GITHUB_REF_TYPE", "tag"), ("GITHUB_REF_NAME", name)];
    let mut said = Vec::new();
    said.push(refused(&folder, &arguments, &tag("v1.2.4")));
    let unreleased = released(&CHANGES.replace("(2026-01-31)", "(unreleased)"));
    said.push(refused(&unreleased, &arguments, &tag("v1.2.3")));
    said.push(refused(&released("# Changelog\n"), &arguments, &[]));
    for arguments in [
        &["archives"][..],
        &[],
        &["--dry-run", "notes"],
        &["--without", "seal", "--dry-run"],
        &["--debian", "sid", "notes"],
    ] {
        said.push(refused(&folder, arguments, &[]));
    }
    folder.write("CHANGELOG.md", "# Changelog\n\n## 1.2.3\n\nOther words.\n");
    said.push(refused(&folder, &arguments, &[]));
    let said: Vec<String> = said.into_iter().map(|(status, line)| format!("{status} {line}\n")).collect();
    assert_text(
        said.concat(),
        str! {[r#"
2 error: the tag is v1.2.4, but Cargo.toml says 1.2.3
1 error: CHANGELOG.md calls 1.2.3 unreleased
1 error: CHANGELOG.md says nothing about 1.2.3
2 error: there is no step or option `archives`; the head of .ci/release lists them
2 error: say `--dry-run`, `--check-reproducible` or steps; the head of .ci/release lists them
2 error: `--dry-run` does all steps
2 error: only `image` can be left out, not `seal`
2 error: packages are those of `snapshot` or `here`, not of `sid`
2 error: a release is of a commit, and this checkout has changes beside it

"#]},
    );
}

/// Homebrew compares each archive with its checksum in the formula.
#[test]
fn the_formula_has_the_checksums_of_all_archives() {
    let folder = released(CHANGES);
    let targets = ["aarch64-apple-darwin", "aarch64-unknown-linux-gnu", TARGET];
    let archive = |target: &str| format!("kubebench-1.2.3-{target}.tar.gz");
    let out = Folder::with(targets.map(|target| (archive(target), target)));
    let place = out.path().to_str().unwrap();
    assert_yes(&call(&folder, ".ci/release", &["--out", place, "installers"], &[]));
    let formula = fs::read_to_string(out.path().join("kubebench.rb")).unwrap();
    for target in targets {
        let downloads = "https://github.com/kubebench/kubebench/releases/download/v1.2.3";
        let sum = Digest::of(target).hex();
        let pair = format!("url \"{downloads}/{}\"\n      sha256 \"{sum}\"\n", archive(target));
        assert!(formula.contains(&pair), "{formula}");
    }
    assert!(formula.contains("\n  version \"1.2.3\"\n") && !formula.contains("VERSION"), "{formula}");
    assert_eq!(fs::read_to_string(out.path().join("install.sh")).unwrap(), read("deploy/install/install.sh"));

    fs::remove_file(out.path().join(archive(TARGET))).unwrap();
    let output = call(&folder, ".ci/release", &["--out", place, "installers"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success() && text.contains(&format!("error: there is no archive for {TARGET}\n")), "{text}");
}

/// The statement of the attestation's form that anybody can make again: in-toto's Statement v1, SLSA's Provenance v1.
#[test]
fn provenance_names_files_by_digest_and_what_they_are_made_of() {
    if !has_python("provenance_names_files_by_digest_and_what_they_are_made_of") {
        return;
    }
    let folder = released(CHANGES);
    let out = Folder::with([
        (format!("kubebench-1.2.3-{TARGET}.tar.gz"), "program"),
        ("install.sh".to_owned(), "script"),
        ("notes.md".to_owned(), "not published as a file"),
        (
            "packages-arm64.dpkg".to_owned(),
            "Package: git\nStatus: install ok installed\nVersion: 1:2.39.5-0+deb12u2\nArchitecture: arm64\n\nPackage: tzdata\nVersion: 2025b\nArchitecture: all\n\n",
        ),
    ]);
    let digest = format!("sha256:{}", "ab".repeat(32));
    let place = out.path().to_str().unwrap();
    let arguments = [
        "--source",
        "https://git.example.com/k",
        "--profile",
        "dist",
        "--image",
        "registry.example.com/k",
        &digest,
        place,
    ];
    let statement: Value = serde_json::from_str(&stdout(&call(&folder, ".ci/provenance", &arguments, &[]))).unwrap();
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], "https://slsa.dev/provenance/v1");
    assert_eq!(
        statement["subject"],
        json!([
            {"name": "install.sh", "digest": {"sha256": Digest::of("script").hex()}},
            {"name": format!("kubebench-1.2.3-{TARGET}.tar.gz"), "digest": {"sha256": Digest::of("program").hex()}},
            {"name": "registry.example.com/k", "digest": {"sha256": "ab".repeat(32)}},
        ])
    );
    let head = git2::Repository::open(folder.path()).unwrap().head().unwrap().target().unwrap().to_string();
    let definition = &statement["predicate"]["buildDefinition"];
    assert_eq!(definition["internalParameters"], json!({"profile": "dist", "sourceDateEpoch": 1_700_000_000}));
    let materials = definition["resolvedDependencies"].as_array().unwrap();
    assert_eq!(materials[0], json!({"uri": "git+https://git.example.com/k", "digest": {"gitCommit": head}}));
    assert!(materials[1]["name"].as_str().unwrap().starts_with("rustc "));
    assert_eq!(materials[1]["digest"]["gitCommit"].as_str().unwrap().len(), 40);
    let (builders, materials) = materials[2..].split_at(6);
    for (builder, name) in builders.iter().zip(["maturin", "maturin", "maturin", "ziglang", "ziglang", "ziglang"]) {
        assert!(builder["uri"].as_str().unwrap().starts_with(&format!("pkg:pypi/{name}@")), "{builder}");
        assert_eq!(builder["digest"]["sha256"].as_str().unwrap().len(), 64);
    }
    assert_eq!(
        materials,
        [
            json!({"uri": "pkg:cargo/a@1.0.0%2Bx", "digest": {"sha256": "00ff"}}),
            json!({"uri": "pkg:deb/debian/git@1%3A2.39.5-0%2Bdeb12u2?arch=arm64"}),
            json!({"uri": "pkg:deb/debian/tzdata@2025b?arch=arm64"}),
        ]
    );
    assert_eq!(statement["predicate"]["runDetails"]["builder"]["id"], "https://kubebench.dev/release/dry-run");

    let github = [
        ("GITHUB_WORKFLOW_REF", "o/r/.github/workflows/release.yml@refs/tags/v1.2.3"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_REPOSITORY", "o/r"),
        ("GITHUB_RUN_ID", "7"),
        ("GITHUB_REF", "refs/tags/v1.2.3"),
    ];
    let statement: Value =
        serde_json::from_str(&stdout(&call(&folder, ".ci/provenance", &arguments, &github))).unwrap();
    assert_eq!(
        statement["predicate"]["runDetails"],
        json!({
            "builder": {"id": "https://github.com/o/r/.github/workflows/release.yml@refs/tags/v1.2.3"},
            "metadata": {"invocationId": "https://github.com/o/r/actions/runs/7"},
        })
    );
    assert_eq!(
        statement["predicate"]["buildDefinition"]["externalParameters"]["source"],
        "git+https://git.example.com/k@refs/tags/v1.2.3"
    );

    let empty = Folder::with::<&str, &str>([]);
    let place = empty.path().to_str().unwrap();
    let output = call(&folder, ".ci/provenance", &["--source", "a", "--profile", "dist", place], &[]);
    assert!(!output.status.success() && output.stdout.is_empty());
}

#[test]
fn the_bill_has_the_crates_of_the_program_alone() {
    if !has_python("the_bill_has_the_crates_of_the_program_alone") {
        return;
    }
    let folder = released(CHANGES);
    let own = "path+file:///home/a/checkout#kubebench@1.2.3";
    let bill = json!({
        "metadata": {"component": {"bom-ref": own, "name": "kubebench", "version": "1.2.3"}},
        "components": [
            {"bom-ref": "a", "name": "a", "version": "1.0.0"},
            {"bom-ref": "old", "name": "a", "version": "0.9.0"},
            {"bom-ref": "path+file:///home/a/checkout/crates/b#1.2.3", "name": "b", "version": "1.2.3"},
            {"bom-ref": "tests", "name": "proptest", "version": "1.0.0"},
        ],
        "dependencies": [
            {"ref": own, "dependsOn": ["a", "tests", "old"]},
            {"ref": "a"},
            {"ref": "tests", "dependsOn": ["a"]},
        ],
    });
    let given = Folder::with([
        ("bill.json", bill.to_string()),
        (
            "tree",
            "kubebench v1.2.3 (/home/a/checkout)\na v1.0.0\nb v1.2.3 (/home/a/checkout/crates/b)\na v1.0.0 (*)\n"
                .to_owned(),
        ),
        ("more", "kubebench v1.2.3\nunknown v1.0.0\n".to_owned()),
    ]);
    let path = |name: &str| given.path().join(name).to_str().unwrap().to_owned();
    let output = call(&folder, ".ci/bill", &[&path("bill.json"), &path("tree"), "/home/a/checkout"], &[]);
    let own = own.replace("/home/a/checkout", "/kubebench");
    assert_eq!(
        serde_json::from_str::<Value>(&stdout(&output)).unwrap(),
        json!({
            "metadata": {"component": {"bom-ref": own, "name": "kubebench", "version": "1.2.3"}},
            "components": [
                {"bom-ref": "a", "name": "a", "version": "1.0.0"},
                {"bom-ref": "path+file:///kubebench/crates/b#1.2.3", "name": "b", "version": "1.2.3"},
            ],
            "dependencies": [{"ref": own, "dependsOn": ["a"]}, {"ref": "a", "dependsOn": []}],
        })
    );
    let output = call(&folder, ".ci/bill", &[&path("bill.json"), &path("more"), "/home/a/checkout"], &[]);
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("('unknown', '1.0.0')"));
}

/// The image of several architectures has the digest that is printed, and never two of one architecture.
#[test]
fn images_are_joined_under_the_digest_that_is_said() {
    if !has_python("images_are_joined_under_the_digest_that_is_said") {
        return;
    }
    let folder = Folder::with([("program", "#!/bin/sh\n")]);
    let image = repository().join("tests/cluster/image");
    let run = |arguments: &[&str]| {
        Command::new(&image).args(arguments).current_dir(folder.path()).stdin(Stdio::null()).output().unwrap()
    };
    for name in ["one.tar", "two.tar"] {
        assert_yes(&run(&["archive", "--name", "localhost/a:1", "--output", name, "program:/program"]));
    }
    let digest = stdout(&run(&["index", "--name", "localhost/a:1", "--output", "joined.tar", "one.tar"]));
    let hex = digest.trim().strip_prefix("sha256:").unwrap();
    let member = |archive: &str, name: &str| -> Value {
        let tar = Command::new("tar").args(["xOf", archive, name]).current_dir(folder.path()).output().unwrap();
        serde_json::from_slice(&tar.stdout).unwrap_or_else(|error| panic!("{archive} {name}: {error}"))
    };
    assert_eq!(member("joined.tar", "index.json")["manifests"][0]["digest"], digest.trim());
    let joined = member("joined.tar", &format!("blobs/sha256/{hex}"));
    let one = &member("one.tar", "index.json")["manifests"][0];
    for key in ["digest", "size", "mediaType", "platform"] {
        assert_eq!(joined["manifests"][0][key], one[key], "{key}");
    }
    assert_eq!(joined["manifests"].as_array().unwrap().len(), 1);
    let both = run(&["index", "--name", "localhost/a:1", "--output", "both.tar", "one.tar", "two.tar"]);
    assert!(!both.status.success() && !folder.path().join("both.tar").exists());
    assert!(String::from_utf8(both.stderr).unwrap().contains("error: two archives are of one architecture"));
}

/// The scripts read TOML, which Python has since 3.11.
fn has_python(test: &str) -> bool {
    let has = tool("python3").is_some_and(|python| {
        Command::new(python).args(["-c", "import tomllib"]).output().is_ok_and(|output| output.status.success())
    });
    if !has {
        missing(test, "python3", "install Python 3.11 or newer");
    }
    has
}
