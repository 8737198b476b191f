//! Secrets that a run knows or recognizes are in nothing that is written or printed, but for the log as it was printed.

use kubebench_format::result::v1::Status;

use super::{LOSS, finish, log, project};

/// Values that are planted: from a Secret, from a variable named after one, and by the forms of known services.
const PLANTED: [&str; 7] = [
    "s3cr3t/of+the=cluster",
    "value-of-a-named-variable",
    "passed-through-by-name",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "hunter2hunter2",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijk",
    "AKIAIOSFODNN7EXAMPLE",
];

// Written so that the compiler's own look for secrets finds none.
const PRINT: &str = r#"
echo "$HF $A_TOKEN $PASSED_KEY"
echo 'ghp''_0123456789abcdefghijABCDEFGHIJ012345' >&2
echo 'https:''//user:hunter2hunter2@host/path'
echo 'Authori''zation: Bea''rer ey''JhbGciOiJIUzI1NiJ9.ey''JzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijk'
echo 'AK''IAIOSFODNN7EXAMPLE'
head -c 390 /dev/zero | tr '\0' x; echo "$HF"
head -c 1595 /dev/zero | tr '\0' y; echo "$HF"
echo x > "$KUBEBENCH_EXP_OUTPUT_PATH/name-$A_TOKEN"
echo '{"jobs": [{"jobname": "'$A_TOKEN'", "error": 0, "read": {"bw_bytes": 5}}]}' > "$KUBEBENCH_EXP_OUTPUT_PATH/fio.json"
"#;

#[test]
fn planted_secrets_are_nowhere() {
    let env = "env: {HF: {secret: {name: hf, key: token}}}, files: {print: {path: print}}";
    let tool = "{from: {tool: {name: fio, file: fio.json}}}]";
    let metrics = LOSS.replace("}]", &format!("}}, {tool}"));
    for (end, status) in [
        ("echo loss 1", Status::Succeeded),
        ("echo los $HF; exit 1", Status::Failed),
        ("echo los $HF", Status::Invalid),
    ] {
        let script = format!("{PRINT}{end}");
        let words = "[sh, /kubebench/files/print, '$(HF)']";
        let workload = format!(
            "job: {{expandVariables: true, {env}, image: {}, resources: {{cpu: 1, memory: 1Gi}}, command: {words}}}",
            super::IMAGE
        );
        for arguments in [&["-v"][..], &[], &["--output-format", "json"], &["--dry-run"]] {
            let folder = project(&workload, &[&metrics]);
            folder.write("print", &script);
            let mut command = folder.command(&["run", "specs", "--pass-env", "PASSED_KEY", "--pass-env", "A_TOKEN"]);
            let pipe = std::process::Stdio::piped;
            command.args(arguments).stdout(pipe()).stderr(pipe());
            command.envs([
                ("KUBEBENCH_SECRET_HF_TOKEN", PLANTED[0]),
                ("A_TOKEN", PLANTED[1]),
                ("PASSED_KEY", PLANTED[2]),
            ]);
            let ran = finish(&folder, command.spawn().unwrap());
            for text in [&ran.stdout, &ran.stderr] {
                assert_clean(text, end);
            }
            if arguments == ["--dry-run"] {
                continue;
            }
            assert_eq!(ran.one().run.status, status, "{}", ran.stderr);
            for (path, bytes) in folder.tree("results") {
                assert_clean(&String::from_utf8(bytes).unwrap(), &path);
            }
            let kept = String::from_utf8(log(&folder, "job-0.log")).unwrap();
            assert!(PLANTED.iter().all(|secret| kept.contains(secret)), "the log is as it was printed");
            let artifact = ran.one().artifacts.iter().find(|artifact| artifact.name == "logs/job-0.log").unwrap();
            assert!(!artifact.redacted);
        }
    }
}

/// A key comes line by line; what follows it is shown again. Neither is anything shown that a terminal obeys.
#[test]
fn private_keys_and_codes_of_terminals() {
    let key = |end: &str| {
        format!(
            r"echo '-----BEGIN RSA PRIVATE'' KEY-----'; for i in $(seq 40); do echo MIIEsecretsecretsecret$i; done; {end}"
        )
    };
    let whole = key("echo '-----END RSA PRIVATE'' KEY-----'");
    let codes = r"printf 'a\bb\016c\302\233d\342\200\256e\n'";
    let late = format!("head -c 200000 /dev/zero | tr '\\0' '\\n' > x; ({whole}; cat x; {whole}) > y; cat y;");
    for (script, has_end) in [(whole.clone(), true), (key(""), false), (late, true)] {
        for arguments in [&["-v"][..], &[]] {
            let folder = project(&format!("job: {{{}}}", super::shell(&format!("{script}\n{codes}; exit 3"))), &[LOSS]);
            let ran = super::run(&folder, arguments);
            let lines = super::exit(ran.ended(Status::Failed, 1), "job", 0).last_lines.join("\n");
            for text in [&ran.stderr, &lines] {
                assert!(!text.contains("MIIE"), "{text}");
                assert_eq!(text.contains("abcde"), has_end, "{text:?}");
            }
        }
    }
}

#[test]
fn logs_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = project(&format!("job: {{{}}}", super::shell("echo loss 1")), &[LOSS]);
    super::run(&folder, &[]).ended(Status::Succeeded, 0);
    let mode = folder.path().join(".kubebench").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// Asserts that no planted secret is in `text`, and no part of one that is long enough to be of use.
fn assert_clean(text: &str, place: &str) {
    for secret in PLANTED {
        let part: String = secret.chars().take(10).collect();
        assert!(!text.contains(&part), "{secret} in the output of {place}:\n{text}");
    }
}
