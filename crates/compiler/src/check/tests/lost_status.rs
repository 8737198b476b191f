use super::*;
use kubebench_syntax::diag::Place;

/// A job with this command that carries `piped.sh`.
fn job(command: &str) -> String {
    format!(
        "workload: {{job: {{image: 'r.example/a:1', command: {command}, resources: {{cpu: 1, memory: 1Gi}}, files: {{x.sh: {{path: piped.sh}}}}}}}}"
    )
}

fn found(command: &str) -> Vec<Diagnostic> {
    let compiled = compile("", &document(&job(command)));
    assert_eq!(compiled.before, [], "{command}");
    compiled.findings()
}

#[test]
fn a_crash_behind_tee() {
    check(
        &job("[sh, -c, '(echo \"step 10 tput=900\"; exit 137) 2>&1 | tee \"$KUBEBENCH_EXP_OUTPUT_PATH/train.log\"']"),
        &[(
            "KB0455",
            str! {"a failure of `exit 137` is lost: the status of a pipeline is that of its last command, `tee`"},
        )],
    );
    let help = |command: &str| found(command).remove(0).help.unwrap();
    assert_text(
        help("[sh, -c, './bench | tee log']"),
        str! {"drop `| tee …`, since the log of a run is kept anyway, or write `set -o pipefail` before it and have `bash` run the script: where `sh` is dash, as in Debian and Ubuntu, it does not know `pipefail`"},
    );
    assert_text(
        help("[/bin/bash, -c, './bench | tee log']"),
        str! {"drop `| tee …`, since the log of a run is kept anyway, or write `set -o pipefail` before it"},
    );
    assert_text(help("[bash, -c, './bench | grep -v warn']"), str! {"write `set -o pipefail` before it"});
}

#[test]
fn each_way_once() {
    check(
        "workload: {job: {image: 'r.example/a:1', command: [timeout, '60', bash], args: [-xc, \"./a | tee log\\n./b | tee log\\n./c || true\\nfor i in 1 2; do ./d; done\\n./e\\necho done\\n./f &\\necho $(./g)\\n\"], resources: {cpu: 1, memory: 1Gi}}}",
        &[
            (
                "KB0455",
                str! {"a failure of `a` in line 1 of the script is lost: the status of a pipeline is that of its last command, `tee`"},
            ),
            ("KB0455", str! {"a failure of `c` in line 3 of the script is lost: `|| true` replaces its status"}),
            (
                "KB0455",
                str! {"a failure of `d` in line 4 of the script is lost: `echo` runs regardless, and its status counts instead"},
            ),
            (
                "KB0455",
                str! {"a failure of `f` in line 7 of the script is lost: it runs in the background, and no `wait` returns its status"},
            ),
            (
                "KB0455",
                str! {"a failure of `g` in line 8 of the script is lost: its output goes into `echo`, and its status is ignored"},
            ),
        ],
    );
    check(
        &job("[sh, -c, 'for i in 1 2 3; do ./bench $i; done']"),
        &[(
            "KB0455",
            str! {"a failure of `bench` is lost: the loop continues, and only the status of its last iteration counts"},
        )],
    );
}

#[test]
fn a_line_of_a_block_is_where_it_is() {
    let shown = |script: &str| {
        let fields = format!(
            "workload:\n  job:\n    image: 'r.example/a:1'\n    resources: {{cpu: 1, memory: 1Gi}}\n    command:\n      - bash\n      - -c\n      - {script}"
        );
        let compiled = compile("", &document(&fields));
        let [finding] = <[_; 1]>::try_from(compiled.findings()).unwrap();
        let Place::Span(span) = finding.place else { panic!("a place in the spec") };
        let text = compiled.sources.get(span.source).unwrap().slice(span);
        format!("{text:?}: {}\n", finding.message)
    };
    let scripts = [
        "|\n        sleep 1\n\n        if x; then\n          ./b | tee log\n        fi",
        "|2-\n\n          ./b | tee log",
        ">-\n        sleep 1\n\n        ./b | tee log",
        "\"sleep 1\\n./b | tee log\"",
        "./b | tee log",
    ];
    assert_text(
        scripts.map(shown).concat(),
        str! {[r#"
"./b | tee log": a failure of `b` is lost: the status of a pipeline is that of its last command, `tee`
"./b | tee log": a failure of `b` is lost: the status of a pipeline is that of its last command, `tee`
"sleep 1\n  \n          ./b | tee log\n": a failure of `b` in line 2 of the script is lost: the status of a pipeline is that of its last command, `tee`
"\"sleep 1\\n./b | tee log\"": a failure of `b` in line 2 of the script is lost: the status of a pipeline is that of its last command, `tee`
"./b | tee log": a failure of `b` is lost: the status of a pipeline is that of its last command, `tee`

"#]},
    );
}

#[test]
fn what_shows_its_failures() {
    for command in [
        "[bash, -euo, pipefail, -c, './bench | tee log; ./report']",
        "[sh, -ec, './a; ./b; echo done']",
        "[env, A=1, /bin/dash, -c, 'cd /x && exec ./bench']",
        "[sh, -c, './bench \"$0\"', '| tee']",
        "[./bench, '|', tee, log]",
        "[sh]",
        "[sh, -c]",
        "[python3, -c, 'a | b; c']",
        "[sh, -c, 'no script | (']",
        "[cat, /kubebench/files/y.sh.txt, x.sh]",
    ] {
        let found: Vec<_> = found(command).into_iter().filter(|fault| fault.code == &code::KB0455).collect();
        assert_eq!(found, [], "{command}");
    }
}

#[test]
fn carried_scripts() {
    for command in ["[/kubebench/files/x.sh]", "[sh, -c, 'exec \"${KUBEBENCH_FILES}/x.sh\"']"] {
        let [finding] = found(command).try_into().unwrap();
        assert_eq!(finding.place, Place::Line("piped.sh".to_owned(), 2), "{command}");
        assert_text(
            &finding.message,
            str! {"a failure of `bench` is lost: the status of a pipeline is that of its last command, `tee`"},
        );
    }
    check(
        &job("[bash, -o, pipefail, /kubebench/files/x.sh]"),
        &[("KB0455", str! {"a failure of `bench` is lost: `report` runs regardless, and its status counts instead"})],
    );
    check(&job("[bash, -o, pipefail, -e, /kubebench/files/x.sh]"), &[]);
    check(&job("[./bench]"), &[]);
}

#[test]
fn pods_of_every_kind() {
    check(
        "prepare: {image: 'r.example/a:1', command: [sh, -c, './fetch | tar x'], resources: {cpu: 1, memory: 1Gi}}\npostprocess: {image: 'r.example/a:1', command: [sh, -c, './summary; true'], resources: {cpu: 1, memory: 1Gi}}\nresults: {claim: {accessModes: [ReadWriteMany]}}",
        &[
            (
                "KB0455",
                str! {"a failure of `fetch` is lost: the status of a pipeline is that of its last command, `tar`"},
            ),
            ("KB0455", str! {"a failure of `summary` is lost: `true` runs regardless, and its status counts instead"}),
        ],
    );
    check(
        &mpi_job(&format!(
            "{KEYS}, launcher: {{command: [mpirun, -np, '2', sh, -c, './bench | tee log']}}, worker: {{replicas: 2}}"
        )),
        &[(
            "KB0455",
            str! {"a failure of `bench` is lost: the status of a pipeline is that of its last command, `tee`"},
        )],
    );
    check(
        "workload: {manifest: {object: {apiVersion: batch/v1, kind: Job, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'r.example/a:1', command: [sh], args: [-c, './bench || true'], resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}}}}",
        &[("KB0455", str! {"a failure of `bench` is lost: `|| true` replaces its status"})],
    );
}

/// Ray gives its entrypoint to `sh`, and Argo a `script` to its command.
#[test]
fn scripts_that_no_command_names() {
    let ray = |entrypoint: &str| {
        format!(
            "workload: {{rayJob: {{image: 'r.example/ray:1', resources: {{cpu: 1, memory: 1Gi}}, entrypoint: {entrypoint}, workerGroups: [{{name: w, replicas: 1}}]}}}}"
        )
    };
    let lost = str! {"a failure of `python` is lost: the status of a pipeline is that of its last command, `tee`"};
    check(&ray("[bash, -c, 'python a.py | tee log']"), &[("KB0455", lost)]);
    check(&ray("[python, a.py]"), &[]);
    let argo = |command: &str, source: &str| {
        format!(
            "workload: {{manifest: {{object: {{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{name: a}}, spec: {{entrypoint: a, templates: [{{name: a, script: {{image: 'r.example/a:1', command: {command}, source: {source}, resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}}}]}}}}}}}}"
        )
    };
    let lost = |command: &str, source: &str| -> Vec<String> {
        let found = compile("", &document(&argo(command, source))).findings().into_iter();
        found.filter(|finding| finding.code.id == "KB0455").map(|finding| finding.message).collect()
    };
    let [message] = lost("[sh]", "\"echo {{workflow.name}}\\n./bench || true\\n\"").try_into().unwrap();
    assert_text(message, str! {"a failure of `bench` in line 2 of the script is lost: `|| true` replaces its status"});
    assert_eq!(lost("[bash, -eo, pipefail]", "'./bench | tee log; echo done'"), [""; 0]);
    assert_eq!(lost("[python]", "'a || b'"), [""; 0]);
}

#[test]
fn it_is_switched_off() {
    let project =
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {lints: {KB0455: \"off\"}}\n";
    assert_eq!(compile(project, &document(&job("[sh, -c, './bench | tee log']"))).findings(), []);
}
