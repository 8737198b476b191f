use super::*;

/// A job with this command that carries `bench.sh`.
fn job(command: &str) -> String {
    format!(
        "workload: {{job: {{image: 'r.example/a:1', command: {command}, resources: {{cpu: 1, memory: 1Gi}}, files: \
         {{bench.sh: {{path: scripts/bench.sh}}, other.py: {{path: other.py}}}}}}}}"
    )
}

#[test]
fn files_that_are_carried() {
    for command in [
        "[sh, /kubebench/files/bench.sh]",
        "[sh, -c, '. $KUBEBENCH_FILES/bench.sh; ls /kubebench/files/*.sh \"$KUBEBENCH_FILES/$1\"']",
        "[sh, -c, 'python ${KUBEBENCH_FILES}/other.py && ls $KUBEBENCH_FILES/']",
        "[ls, /kubebench/files, /kubebench/filesystem/x, '/kubebench/files/b-${i}.sh']",
        "[echo, 'it runs /kubebench/files/bench.sh.']",
    ] {
        check(&job(command), &[]);
    }
}

#[test]
fn files_that_nobody_carries() {
    for (command, name) in [
        ("[sh, /kubebench/files/benhc.sh]", "benhc.sh"),
        ("[sh, -c, 'exec $KUBEBENCH_FILES/Bench.sh']", "Bench.sh"),
        ("[sh, -c, '${KUBEBENCH_FILES}/x']", "x"),
        ("[sh, /kubebench/files/lib/x.sh]", "lib"),
    ] {
        check_about(
            &format!("`{name}`"),
            &job(command),
            ("KB0343", str! {"no file … is carried to `/kubebench/files`"}),
        );
    }
    check(
        "prepare: {image: 'r.example/a:1', command: [/kubebench/files/x], resources: {cpu: 1, memory: 1Gi}, env: {A: /kubebench/files/y}}\nresults: {claim: {accessModes: [ReadWriteMany]}}",
        &[
            ("KB0343", str! {"no file `x` is carried to `/kubebench/files`"}),
            ("KB0343", str! {"no file `y` is carried to `/kubebench/files`"}),
        ],
    );
}

#[test]
fn the_folder_of_carried_files_has_a_name() {
    for folder in ["/kubebench/file", "/kubebench/fiels"] {
        check_about(
            &format!("`{folder}`"),
            &job(&format!("[sh, -c, 'sh {folder}/bench.sh']")),
            ("KB0343", str! {"no container has the folder …"}),
        );
    }
    check(&job("[sh, -c, 'mkdir /kubebench/out; ls /kubebench/data/files']"), &[]);
}

#[test]
fn scripts_from_windows() {
    let with = |name: &str, path: &str| {
        format!(
            "workload: {{job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}, files: {{{name}: {{path: {path}}}}}}}}}"
        )
    };
    check(&with("a", "windows.sh"), &[("KB0344", str! {"`windows.sh` has Windows line endings (CRLF)"})]);
    check(&with("a.sh", "unix.sh"), &[]);
}

#[test]
fn files_that_no_diff_shows_by_the_line() {
    let with = |path: &str| {
        format!(
            "workload: {{job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}, files: {{a: {{path: {path}}}}}}}}}"
        )
    };
    let check = |path: &str, message| check(&with(path), &[("KB0439", message)]);
    check(
        "crlf.toml",
        str! {"the manifests show the file `a` as one line, because it contains a carriage return (U+000D)"},
    );
    check(
        "marked.py",
        str! {"the manifests show the file `a` as one line, because it contains a byte order mark (U+FEFF)"},
    );
    check(
        "colors.sh",
        str! {"the manifests show the file `a` as one line, because it contains a control character (U+001B)"},
    );
    check(
        "pasted.py",
        str! {"the manifests show the file `a` as one line, because it contains a white-space character other than a space (U+00A0)"},
    );
    for path in ["binary", "tabs.sh", "unix.sh"] {
        super::check(&with(path), &[]);
    }
}

#[test]
fn tokens_in_a_script() {
    let job = "workload: {job: {image: 'r.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}, files: {a: {path: token}}}}";
    check(job, &[("KB0407", str! {"line 2 of the carried file `token` holds a GitHub token"})]);
    let found = compile("", &document(job)).findings();
    let related = found.iter().flat_map(|fault| &fault.related).map(|related| related.place.clone());
    assert_eq!(related.collect::<Vec<_>>(), [kubebench_syntax::diag::Place::Line("token".to_owned(), 2)]);
}

#[test]
fn variables_that_nothing_replaces() {
    let finding = || ("KB0429", str! {"the program gets the literal text …"});
    for (command, written) in [
        ("[python, '$(KUBEBENCH_FILES)/bench.sh']", "$(KUBEBENCH_FILES)"),
        ("[python, --out, '${KUBEBENCH_EXP_OUTPUT_PATH}/a']", "${KUBEBENCH_EXP_OUTPUT_PATH}"),
        ("[python, --out=$KUBEBENCH_EXP_ID]", "$KUBEBENCH_EXP_ID"),
        ("[sh, -c, 'ls $(KUBEBENCH_FILES)']", "$(KUBEBENCH_FILES)"),
    ] {
        check_about(&format!("`{written}`"), &job(command), finding());
    }
    for command in
        ["[/bin/bash, -c, 'ls $KUBEBENCH_FILES']", "[awk, '{print $1, $(NF), $NF}']", "[a, '$', '$(', '$()', '${}']"]
    {
        check(&job(command), &[]);
    }
    let job = |rest: &str| {
        format!("workload: {{job: {{image: 'r.example/a:1', resources: {{cpu: 1, memory: 1Gi}}, {rest}}}}}")
    };
    check_about("`$SIZE`", &job("command: [a, $SIZE], env: {SIZE: '1'}"), finding());
    check(&job("command: [a, $(SIZE)], env: {SIZE: '1'}, expandVariables: true"), &[]);
    check_about("`$(SIZE)`", &job("command: [a], env: {SIZE: '1', BOTH: $(SIZE)}"), finding());
    check(&job("command: [sh, -c, 'echo $(date) $SIZE'], env: {SIZE: '1', date: '2'}"), &[]);
    // The program is the image's, which may be a shell.
    check(&job("args: [$SIZE], env: {SIZE: '1'}"), &[]);
}
