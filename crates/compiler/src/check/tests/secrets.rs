//! KB0407.

use super::*;
use kubebench_syntax::redact::{Alphabet, FORMS};

const SMALL: &str = "resources: {cpu: 1, memory: 1Gi}";

fn env(name: &str, value: &str) -> String {
    workload("job", &format!("{SMALL}, env: {{{name}: '{value}'}}"))
}

#[test]
fn known_forms() {
    let hex = "0123456789abcdef0123456789abcdef0123";
    for (value, message) in [
        ("AKIAIOSFODNN7EXAMPLE", str! {"`LEVEL` holds an AWS access key"}),
        ("ASIAIOSFODNN7EXAMPLE", str! {"`LEVEL` holds an AWS access key"}),
        (&format!("ghp_{hex}"), str! {"`LEVEL` holds a GitHub token"}),
        (&format!("Bearer gho_{hex}"), str! {"`LEVEL` holds a GitHub token"}),
        (&format!("github_pat_{hex}"), str! {"`LEVEL` holds a GitHub token"}),
        (&format!("glpat-{hex}"), str! {"`LEVEL` holds a GitLab token"}),
        (&format!("xoxb-{hex}"), str! {"`LEVEL` holds a Slack token"}),
        (&format!("hf_{hex}"), str! {"`LEVEL` holds a Hugging Face token"}),
        (&format!("sk-proj-{hex}"), str! {"`LEVEL` holds an API key"}),
        (&format!("AIza{hex}"), str! {"`LEVEL` holds a Google API key"}),
        ("-----BEGIN RSA PRIVATE KEY-----", str! {"`LEVEL` holds a private key"}),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
            str! {"`LEVEL` holds a JSON Web Token"},
        ),
        ("https://bot:hunter2@git.example/a.git", str! {"`LEVEL` holds a URL with a password"}),
        ("see postgres://bot:hunter2@db:5432/a?x=1", str! {"`LEVEL` holds a URL with a password"}),
    ] {
        check(&env("LEVEL", value), &[("KB0407", message)]);
    }
    for value in [
        "AKIA",
        "hf_transfer",
        "hf_hub_download_with_a_long_function_name",
        "sk-learn-gradient-boosting-2-classes",
        "https://git.example/a.git",
        "https://bot@git.example/a.git",
        "https://a.example/x:y@z",
        "eyJ.a.b",
        "-----BEGIN CERTIFICATE-----",
        "http://$USER:$PASSWORD@proxy:3128",
        "http://u:<password>@proxy",
        "https://user:%s@host/x",
        "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "WARN",
        "",
    ] {
        check_on("{default: {networkPolicy: {enabled: false}}}", &env("LEVEL", value), &[]);
    }
}

/// Each form that is taken out of results is refused in specs.
#[test]
fn forms_are_those_of_the_redactor() {
    const LETTERS: &str = "Zq7Xw2Lm9Kc4Rt8Yb3Nf6Hd1Js5Vg0Pa7Ue2Io4Tz";
    for form in FORMS {
        let letters = match form.alphabet {
            Alphabet::Capitals => LETTERS.to_uppercase(),
            Alphabet::Hex => "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c".to_owned(),
            _ => LETTERS.to_owned(),
        };
        let first = |length: usize| letters.get(..length).unwrap().to_owned();
        let rest = match form.prefix {
            "SG." | "eyJ" => format!("{}.{}", first(16), first(16)),
            _ => first(form.least),
        };
        let (value, message) = (format!("{}{rest}", form.prefix), format!("`LEVEL` holds {}", form.noun));
        let found = compile("", &document(&env("LEVEL", &value))).findings();
        assert!(found.iter().any(|fault| fault.code == &code::KB0407 && fault.message == message), "{value} {found:?}");
    }
    check(&env("LEVEL", "sk-learn-gradient-boosting-regressor-with-2-classes"), &[]);
}

#[test]
fn names() {
    let secret = "correct horse battery staple";
    for name in [
        "HF_TOKEN",
        "GITHUBTOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "db_password",
        "OPENAI_API_KEY",
        "CREDENTIALS",
        "SSH_PRIVATE_KEY",
    ] {
        let message = str! {"… has the name of a secret, and its value is in plain text"};
        check_about(&format!("`{name}`"), &env(name, secret), ("KB0407", message));
        for harmless in [
            "",
            "12",
            "0.5",
            "true",
            "/run/secrets/token",
            "<pad>",
            "[MASK]",
            "changeme",
            "xxxx",
            "$(OTHER)",
            "EMPTY",
            "none",
            "dummy",
            "your-key-here",
        ] {
            check(&env(name, harmless), &[]);
        }
    }
    for name in ["TOKENIZER", "TOKENIZERS_PARALLELISM", "MAX_TOKENS", "TOKEN_FILE", "SECRET_NAME", "KEY", "PASS"] {
        check(&env(name, secret), &[]);
    }
    check(&workload("job", &format!("{SMALL}, env: {{HF_TOKEN: {{secret: {{name: hf, key: token}}}}}}")), &[]);
}

#[test]
fn words_of_commands() {
    let args = |words: &str| workload("job", &format!("{SMALL}, args: [{words}]"));
    check(
        &args("--password, hunter2"),
        &[("KB0407", str! {"word 2 of `args` of `job` gives a value for `password` in plain text"})],
    );
    check(
        &args("a, --api-key=hunter2"),
        &[("KB0407", str! {"word 2 of `args` of `job` gives a value for `api-key` in plain text"})],
    );
    check(
        &args("'export HF_TOKEN=hunter2; train'"),
        &[("KB0407", str! {"word 1 of `args` of `job` gives a value for `HF_TOKEN` in plain text"})],
    );
    check(
        &args("'echo ghp_0123456789abcdef0123456789abcdef0123'"),
        &[("KB0407", str! {"word 1 of `args` of `job` holds a GitHub token"})],
    );
    for words in [
        "--tokenizer, llama",
        "--max-tokens, 128",
        "--pad-token, '</s>'",
        "--token-file, /a",
        "--password",
        "--token, --next, a",
        "--api-key, EMPTY",
        "--api-key=EMPTY",
        "--api-key, your-key",
        "'export OPENAI_API_KEY=dummy; serve'",
        "'f(token=token, password=secret())'",
        "'HF_TOKEN=$(cat /a/b) train'",
        "'--token=$TOKEN'",
        "a, b",
    ] {
        check(&args(words), &[]);
    }
}

#[test]
fn patches() {
    let container = |env: &str| workload("job", &format!("{SMALL}, container: {{env: [{env}]}}"));
    let message = ("KB0407", str! {"`DB_PASSWORD` has the name of a secret, and its value is in plain text"});
    check(&container("{name: DB_PASSWORD, value: hunter2}"), &[message]);
    check(&container("{name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}"), &[]);
    let probe = "container: {livenessProbe: {exec: {command: [curl, 'https://a:hunter2@b/']}}}";
    check(
        &workload("job", &format!("{SMALL}, {probe}")),
        &[("KB0407", str! {"this patch holds a URL with a password"})],
    );
}

#[test]
fn values_are_never_printed() {
    let secret = "https://bot:hunter2@git.example/a.git";
    let fields = format!(
        "{SMALL}, env: {{A: '{secret}', B_TOKEN: hunter2}}, args: [--password, hunter2, '{secret}'], \
         container: {{env: [{{name: X_TOKEN, value: hunter2}}], workingDir: '{secret}'}}"
    );
    let found = compile("", &document(&workload("job", &fields))).findings();
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(!format!("{found:?}").contains("hunter2"), "{found:#?}");
}

/// What a finding points at.
fn pointed_at(fields: &str) -> Vec<(String, String)> {
    let text = document(fields);
    let compiled = compile("", &text);
    let slice = |fault: &Diagnostic| match fault.place {
        kubebench_syntax::diag::Place::Span(span) => text.get(span.range()).unwrap().to_owned(),
        kubebench_syntax::diag::Place::File(_) | kubebench_syntax::diag::Place::Line(..) => String::new(),
    };
    let found = compiled.findings();
    found.iter().filter(|fault| fault.code.id == "KB0407").map(|fault| (fault.message.clone(), slice(fault))).collect()
}

#[test]
fn a_word_is_pointed_at() {
    let found = pointed_at(&workload("job", &format!("{SMALL}, args: [serve, --password, hunter2]")));
    assert_eq!(found[0].1, "hunter2");
    let found = pointed_at(&format!(
        "{}\nprepare: {{image: 'r.example/a:1', command: [a, --password=hunter2], {SMALL}}}",
        workload("job", SMALL)
    ));
    assert_eq!(found[0].1, "--password=hunter2");
    let shared = "image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}, command: [a, --password, hunter2]";
    let found = pointed_at(&format!("workload: {{pytorchJob: {{{shared}, master: {{}}, worker: {{replicas: 1}}}}}}"));
    assert_eq!(found[0].1, "hunter2");
}

#[test]
fn texts_next_to_the_roles() {
    let token = "glpat-abcdefghij0123456789";
    for (fields, name) in [
        (format!("parameters: {{a: '{token}'}}"), "the parameter `a`"),
        (format!("matrix: {{axes: {{a: ['{token}', b]}}}}"), "the axis `a`"),
        (format!("matrix: {{axes: {{a: [c, b]}}, include: [{{a: '{token}'}}]}}"), "the axis `a`"),
    ] {
        let root = fields.split(':').next().unwrap().to_owned();
        let used = workload(
            "job",
            &format!("{SMALL}, args: ['${{{{ {root}.a }}}}'], env: {{HF_TOKEN: '${{{{ {root}.a }}}}'}}"),
        );
        let found = pointed_at(&format!("{fields}\n{used}"));
        let found: Vec<_> = found.iter().filter(|(message, _)| message.contains("a GitLab token")).collect();
        assert_eq!(found, [&(format!("{name} holds a GitLab token"), format!("'{token}'"))], "{fields}");
    }
    let on =
        |fields: &str, expected: (&str, Snapshot)| check(&workload("job", &format!("{SMALL}, {fields}")), &[expected]);
    on(&format!("annotations: {{a: '{token}'}}"), ("KB0407", str! {"the annotation `a` holds a GitLab token"}));
    on(&format!("labels: {{a: '{token}'}}"), ("KB0407", str! {"the label `a` holds a GitLab token"}));
    let used = workload("job", &format!("{SMALL}, args: ['${{{{ target.values.a }}}}']"));
    check_on(
        &format!("{{t: {{values: {{a: '{token}'}}}}}}"),
        &used,
        &[("KB0407", str! {"the value `a` of `t` holds a GitLab token"})],
    );
}
