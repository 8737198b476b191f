//! `--engine`: images instead of programs. A script stands in for Docker and Podman and notes what it is given; what
//! the real ones make of that is not tested here.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, str};

use crate::support::steady::steady;

use super::{IMAGE, LOSS, Ran, SECONDS, alive, finish, log, metric, project, reasons, send, shell, until, until_made};
use crate::support::project::Folder;

const SECRET: &str = "s3cr3t-of-the-cluster";

/// A project next to which the stand-in is installed.
fn with_engine(workload: &str, more: &[&str]) -> Folder {
    let folder = project(workload, more);
    for name in ["docker", "podman"] {
        folder.write(&format!("bin/{name}"), include_str!("engine.sh"));
        let program = folder.path().join("bin").join(name);
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn command(folder: &Folder, engine: &str) -> Command {
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = folder.command(&["run", "specs", "--engine", engine]);
    command.envs([
        ("PATH", path.as_str()),
        ("KUBEBENCH_SECRET_HF_TOKEN", SECRET),
        ("DOCKER_CONFIG", "/d"),
        ("NOISE", "x"),
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Folder, engine: &str) -> Ran {
    finish(folder, command(folder, engine).spawn().unwrap())
}

/// The calls of the engine, in their order.
fn calls(folder: &Folder) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path().join("bin/calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The environment of the only client that ran a container.
fn environment(folder: &Folder) -> BTreeMap<String, String> {
    let (_, text) = folder.tree("bin/seen").remove(0);
    let text = String::from_utf8(text).unwrap();
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn containers(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path().join("bin/containers")).map_or(0, Iterator::count)
}

#[test]
fn a_container_is_given_what_a_pod_is() {
    let script = "cat /kubebench/files/f; echo $HF $PATH; echo 4 > $KUBEBENCH_EXP_OUTPUT_PATH/number";
    let metrics = "metrics: [{name: loss, unit: '1', better: lower, primary: true, from: {log: {pattern: 'loss (?P<value>\\S+)'}}}, {name: number, unit: '1', better: lower, from: {file: {path: number}}}, {name: cpu, unit: s, better: lower, from: {process: cpuSeconds}}]";
    let workload = format!(
        "job: {{image: {IMAGE}, resources: {{cpu: 1, memory: 1Gi}}, files: {{f: {{path: f}}}}, command: [sh, -c], args: [{}], env: {{HF: {{secret: {{name: hf, key: token}}}}, PATH: /usr/bin:/bin}}}}",
        serde_json::json!(script.replace("/kubebench/files", "$KUBEBENCH_FILES"))
    );
    for engine in ["docker", "podman"] {
        let folder = with_engine(&workload, &[metrics]);
        folder.write("f", "loss 3\n");
        let ran = run(&folder, engine);
        let result = ran.ended(Status::Succeeded, 0);
        assert_eq!((metric(result, "loss").value, metric(result, "number").value), (Some(3.0), Some(4.0)));
        let cpu = metric(result, "cpu");
        assert!(cpu.value.is_none() && cpu.reason.as_ref().unwrap().contains(engine), "{cpu:?}");
        assert_eq!(
            (result.environment.cluster.engine.as_str(), result.environment.software[engine].as_str()),
            (engine, "28.1.1")
        );
        let image = &result.environment.images[0];
        assert_eq!((image.declared.as_str(), image.observed.clone()), (IMAGE, Some(format!("sha256:{:064}", 7))));
        let calls = calls(&folder);
        let first: Vec<&str> = calls.iter().filter_map(|call| call.split_whitespace().next()).collect();
        assert_eq!(first, ["version", "image", "pull", "image", "run", "rm"]);
        let root = folder.path().canonicalize().unwrap().join(".kubebench");
        let root = root.display();
        let name = calls[5].strip_prefix("rm --force ").unwrap();
        assert!(name.starts_with("b-") && name.ends_with("-job-0"), "{name}");
        let run = name.strip_suffix("-job-0").unwrap();
        let start = format!("run --rm --pull never --name {name} --network host --user ");
        assert!(calls[4].starts_with(&start), "{}", calls[4]);
        for words in [
            format!(" --mount type=bind,source={root}/experiments,target=/kubebench/experiments "),
            format!(" --mount type=bind,source={root}/data,target=/kubebench/data "),
            format!(" --mount type=bind,source={root}/experiments/{run}/files,target=/kubebench/files,readonly "),
            " --env HF ".to_owned(),
            " --env PATH=/usr/bin:/bin ".to_owned(),
            format!(" --entrypoint sh {IMAGE} -c cat "),
        ] {
            assert!(calls[4].contains(&words), "{words} in {}", calls[4]);
        }
        assert!(!calls[4].contains(SECRET) && !calls[4].contains("NOISE"));
        let env = environment(&folder);
        assert_eq!(
            [&env["HF"], &env["DOCKER_CONFIG"], &env["KUBEBENCH_EXP_ROOT"]],
            [SECRET, "/d", "/kubebench/experiments"]
        );
        assert_eq!([&env["KUBEBENCH_DATA_ROOT"], &env["KUBEBENCH_FILES"]], ["/kubebench/data", "/kubebench/files"]);
        assert_eq!(env["KUBEBENCH_EXP_OUTPUT_PATH"], format!("/kubebench/experiments/{run}/output"));
        assert!(env["PATH"].ends_with(&std::env::var("PATH").unwrap()) && !env.contains_key("NOISE"));
        assert!(!env.keys().any(|name| name.starts_with("KUBEBENCH_SECRET")), "{env:?}");
    }
}

#[test]
fn without_a_command_the_entry_point_runs() {
    let workload = format!("job: {{image: {IMAGE}, resources: {{cpu: 1, memory: 1Gi}}, args: [a, b]}}");
    let folder = with_engine(&workload, &[SECONDS]);
    run(&folder, "docker").ended(Status::Succeeded, 0);
    assert_eq!(
        String::from_utf8(log(&folder_without_pull(&folder), "job-0.log")).unwrap(),
        format!("entry point of {IMAGE}: a b\n")
    );
}

/// The same project, without the folder in which the image was pulled.
fn folder_without_pull(folder: &Folder) -> Folder {
    let experiments = folder.path().join(".kubebench/experiments");
    let copy = Folder::with([("x", "")]);
    for run in std::fs::read_dir(experiments).unwrap().flatten() {
        if run.path().join("output/logs/job-0.log").exists() {
            let name = run.file_name().into_string().unwrap();
            let log = std::fs::read(run.path().join("output/logs/job-0.log")).unwrap();
            copy.write(&format!(".kubebench/experiments/{name}/output/logs/job-0.log"), log);
        }
    }
    copy
}

#[test]
fn what_keeps_an_image_from_running() {
    let job = |image: &str| format!("job: {{image: '{image}', resources: {{cpu: 1, memory: 1Gi}}}}");
    let digest = IMAGE.split_once('@').unwrap().1;
    let folder = with_engine(&job(&format!("registry.example/absent@{digest}")), &[SECONDS]);
    let ran = run(&folder, "docker");
    let result = ran.ended(Status::Failed, 2);
    assert_eq!((reasons(result), metric(result, "seconds").value), (vec!["cannotStart"], None));
    assert_line(
        steady(&ran.stderr),
        str! {"    the image registry.example/absent@sha256:DIGEST cannot be pulled: pull-0 exited with 1; its last line: manifest for registry.example/absent@sha256:DIGEST not found"},
    );
    assert!(ran.stderr.contains("not found"), "{}", ran.stderr);
    let folder = with_engine(&job(&format!("registry.example/broken@{digest}")), &[SECONDS]);
    let ran = run(&folder, "docker");
    assert_eq!(reasons(ran.ended(Status::Failed, 2)), ["cannotStart"]);
    assert!(containers(&folder) == 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("no such runtime"), "{}", ran.stderr);
    folder.write("bin/down", "");
    let ran = run(&folder, "podman");
    assert!(ran.code() == 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("Cannot connect to the daemon"), "{}", ran.stderr);
    let folder = project(&job(IMAGE), &[SECONDS]);
    let output = folder.command(&["run", "specs", "--engine", "podman"]).env("PATH", "/nowhere").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2), "{said}");
    assert_line(
        &said,
        str! {"error: nothing was run: there is no program `podman` in PATH; install it, or leave `--engine` out to run programs of this machine"},
    );
    let secret = "env: {DOCKER_HOST: {secret: {name: hf, key: token}}}";
    let ran = run(
        &with_engine(&format!("job: {{image: {IMAGE}, resources: {{cpu: 1, memory: 1Gi}}, {secret}}}"), &[SECONDS]),
        "docker",
    );
    assert!(ran.code() == 2, "{}", ran.stdout);
    assert_line(&ran.stderr, str! {"error[KB0351]: `docker` reads the variable `DOCKER_HOST` itself"});
}

pub(super) fn no_container_is_left_whoever_dies() {
    let script = "touch $KUBEBENCH_EXP_OUTPUT_PATH/ready; echo loss 1; while :; do sleep 0.1; done";
    let workload = format!("job: {{{}}}", shell(script));
    let start = || {
        let folder = with_engine(&workload, &[LOSS]);
        let child = command(&folder, "docker").spawn().unwrap();
        until_made(&folder, "ready");
        assert_eq!(containers(&folder), 1);
        (folder, child)
    };
    let gone = |folder: &Folder| until("an end of all", || containers(folder) == 0 && alive_supervisors(folder) == 0);
    let (folder, child) = start();
    send(child.id(), "INT");
    assert_eq!(finish(&folder, child).one().run.status, Status::Interrupted);
    gone(&folder);
    let (folder, mut child) = start();
    send(child.id(), "KILL");
    child.wait().unwrap();
    gone(&folder);
    let (folder, child) = start();
    let supervisor = supervisors(&folder)[0];
    send(supervisor, "KILL");
    assert_eq!(finish(&folder, child).one().run.status, Status::Failed);
    gone(&folder);
    let folder = with_engine(&workload, &[LOSS, "timeout: 1s"]);
    assert_eq!(run(&folder, "docker").one().run.status, Status::TimedOut);
    gone(&folder);
}

/// The supervisors of clients, which have the machine's environment with the run's.
fn supervisors(folder: &Folder) -> Vec<u32> {
    let mark = folder.path().canonicalize().unwrap().display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        if words.contains(" supervise ") && words.contains(&mark) {
            found.push(pid);
        }
    }
    found
}

fn alive_supervisors(folder: &Folder) -> usize {
    supervisors(folder).len() + alive(folder).len()
}

#[test]
fn a_dry_run_shows_the_client() {
    let workload = format!("job: {{env: {{HF: {{secret: {{name: hf, key: token}}}}}}, {}}}", shell("true"));
    let folder = with_engine(&workload, &[SECONDS]);
    let output = command(&folder, "docker").arg("--dry-run").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("docker run --rm --pull never --name b-RUN-job-0"), "{text}");
    assert!(
        text.contains("--env HF ")
            && !text.contains(SECRET)
            && !text.contains("DOCKER_CONFIG")
            && calls(&folder).is_empty(),
        "{text}"
    );
}

/// A value that the client's arguments would have to show is refused, however it comes by its secret.
#[test]
fn no_secret_is_in_the_arguments_of_the_client() {
    for (env, passed) in [
        ("HF: {secret: {name: hf, key: token}}, HTTPS_PROXY: 'http://u:$(HF)@proxy'", &[][..]),
        ("HTTPS_PROXY: 'http://u:$(PROXY_TOKEN)@proxy'", &["--pass-env", "PROXY_TOKEN"]),
    ] {
        let workload = format!("job: {{expandVariables: true, env: {{{env}}}, {}}}", shell("echo loss 1"));
        let folder = with_engine(&workload, &[LOSS]);
        let mut command = command(&folder, "docker");
        let ran = finish(&folder, command.args(passed).env("PROXY_TOKEN", SECRET).spawn().unwrap());
        assert_eq!((ran.code(), calls(&folder).len()), (2, 0), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("KB0351") && ran.stderr.contains("HTTPS_PROXY"), "{}", ran.stderr);
    }
    let env = "env: {USER_OF: me, HTTPS_PROXY: 'http://$(USER_OF)@proxy'}";
    let folder = with_engine(&format!("job: {{expandVariables: true, {env}, {}}}", shell("echo loss 1")), &[LOSS]);
    run(&folder, "docker").ended(Status::Succeeded, 0);
}
