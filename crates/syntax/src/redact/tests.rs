use super::{Alphabet, FORMS, Form, REDACTED, Redactor, is_harmless, names_a_secret, without_tokens};

/// A text with a secret in it: what must be gone, and the text.
fn planted() -> Vec<(&'static str, String)> {
    // Put together here, so that no scanner takes this file for a leak.
    let long = "Zq7Xw2Lm9Kc4Rt8Yb3Nf6Hd1Js5Vg0Pa7Ue2Io4Tz";
    let make = |prefix: &str| format!("{prefix}{long}");
    let mut planted = vec![
        ("hunter2hunter2", "value: hunter2hunter2.".to_owned()),
        ("hunter2hunter2", "glued(hunter2hunter2)".to_owned()),
        ("pa55word", "cloning https://bot:pa55word@git.example/x.git".to_owned()),
        (long, format!("GET /x?access_token={long}&page=2")),
        (long, format!("https://b.example/k?X-Amz-Signature={long}&y=1")),
        (long, format!("https://b.example/k?sv=1&sig={long}")),
        (long, format!("Authorization: Bearer {long}")),
        (long, format!("> authorization: Basic {long}")),
        (long, format!("{{\"Authorization\": \"token {long}\"}}")),
        (long, format!("X-Api-Key: {long}")),
        (long, format!("private-token: {long}")),
        (long, format!("Set-Cookie: session={long}; Path=/")),
        (long, format!("curl -H 'Bearer {long}'")),
        (long, format!("export WANDB_API_KEY={long}")),
        (long, format!("MY_DB_PASSWORD: '{long}'")),
        (long, format!("{{\"AWS_SECRET_ACCESS_KEY\": \"{long}\"}}")),
        (long, format!("login(password='{long}')")),
        (long, format!("api_key = {long}")),
        (long, format!("huggingface-cli login --token {long}")),
        (long, format!("AccountKey={long};EndpointSuffix=core")),
        ("MIIEvQ", "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQ\n-----END RSA PRIVATE KEY-----".to_owned()),
        ("MIIEvQ", "-----BEGIN PRIVATE KEY-----\\nMIIEvQ cut off".to_owned()),
        ("AKIAIOSFODNN7", format!("id {}{}", "AKIA", "IOSFODNN7EXAMPLE")),
    ];
    for prefix in
        ["ghp_", "github_pat_", "glpat-", "hf_", "sk-proj-", "xoxb-", "nvapi-", "npm_", "AIza", "ya29.", "hvs."]
    {
        planted.push((
            long.get(..20).unwrap(),
            format!("trying {} now", make(prefix).chars().take(prefix.len() + 35).collect::<String>()),
        ));
    }
    planted.push((long, format!("aws_secret_access_key = {long}")));
    planted.push((long, format!("{{\"SecretAccessKey\": \"{long}\"}}")));
    planted.push((long, format!("aws_session_token = {long}")));
    planted.push((long, format!("curl -u user:{long} https://x")));
    planted.push((long, format!("{{\\\"password\\\": \\\"{long}\\\"}}\\nnext")));
    planted.push((long, format!("jwt eyJhbGciOiJIUzI1NiJ9.{long}.{long}")));
    planted
}

#[test]
fn thirty_planted_secrets_are_gone() {
    let redactor = Redactor::new(["hunter2hunter2"]);
    let planted = planted();
    assert!(planted.len() >= 30, "{}", planted.len());
    for (secret, text) in planted {
        let clean = redactor.text(&text);
        assert!(!clean.contains(secret) && clean.contains(REDACTED), "{text} became {clean}");
    }
}

/// So many characters that follow the prefix of a form.
fn rest(form: &Form, length: usize) -> String {
    const LETTERS: &str = "Zq7Xw2Lm9Kc4Rt8Yb3Nf6Hd1Js5Vg0Pa7Ue2Io4Tz";
    let letters = match form.alphabet {
        Alphabet::Capitals => "ZQ7XW2LM9KC4RT8YB3NF",
        Alphabet::Hex => "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c",
        Alphabet::Alphanumeric | Alphabet::Word | Alphabet::UrlSafe | Alphabet::Dotted => LETTERS,
    };
    let letters = letters.get(..length).unwrap();
    match form.prefix {
        "SG." | "eyJ" => {
            let (first, second) = letters.split_at(length / 2);
            format!("{first}.{}", second.get(1..).unwrap())
        }
        _ => letters.to_owned(),
    }
}

#[test]
fn each_form_of_a_token_goes_and_what_is_shorter_stays() {
    let redactor = Redactor::default();
    for form in FORMS {
        let token = |length: usize| format!("trying {}{} now.", form.prefix, rest(form, length));
        assert_eq!(redactor.text(&token(form.least)), format!("trying {REDACTED} now."), "{}", form.prefix);
        assert_eq!(redactor.text(&token(form.least - 1)), token(form.least - 1), "{}", form.prefix);
        let within = format!("a{}", token(form.least).trim_start_matches("trying "));
        assert_eq!(redactor.text(&within), within);
        let mut json = serde_json::json!({"a": [token(form.least)]});
        redactor.json(&mut json);
        assert_eq!(json, serde_json::json!({"a": [format!("trying {REDACTED} now.")]}));
    }
}

#[test]
fn words_that_begin_like_tokens_stay() {
    let redactor = Redactor::default();
    for text in [
        "sk-learn-gradient-boosting-regressor",
        "sk-learn-gradient-boosting-regressor-with-2-classes",
        "pypi-packages-that-are-installed-into-the-image-of-2026",
        "AKIAIOSFODNN7EXAMPLEAKIAIOSFODNN7",
        "hf_hub_download_with_a_long_function_name",
        "eyJhbGciOi.short.x",
        "SG.a.b",
        "dapi-endpoint",
        "ghp_short",
    ] {
        assert_eq!(redactor.text(text), text);
        assert_eq!(without_tokens(text), text);
    }
    let two = "ghp_Zq7Xw2Lm9Kc4Rt8Yb3Nf,hf_Zq7Xw2Lm9Kc4Rt8Yb3Nf";
    assert_eq!(redactor.text(two), "[redacted],[redacted]");
}

#[test]
fn values_are_found_in_numbers_and_in_the_other_case() {
    let redactor = Redactor::new(["Hunter2-\u{e4}xyz"]);
    for text in [
        "48756e746572322dc3a478797a",
        "48756E746572322DC3A478797A",
        "%48%75%6e%74%65%72%32%2d%c3%a4%78%79%7a",
        "%48%75%6E%74%65%72%32%2D%C3%A4%78%79%7A",
        "\\x48\\x75\\x6e\\x74\\x65\\x72\\x32\\x2d\\xc3\\xa4\\x78\\x79\\x7a",
        "\\u0048\\u0075\\u006e\\u0074\\u0065\\u0072\\u0032\\u002d\\u00e4\\u0078\\u0079\\u007a",
        "\\u0048\\u0075\\u006E\\u0074\\u0065\\u0072\\u0032\\u002D\\u00E4\\u0078\\u0079\\u007A",
        "HUNTER2-\u{c4}XYZ",
        "hunter2-\u{e4}xyz",
    ] {
        assert_eq!(redactor.text(&format!("a {text} b")), "a [redacted] b", "{text}");
    }
    // What is short is found everywhere by chance.
    assert_eq!(Redactor::new(["Kurz"]).text("kurz KURZ"), "kurz KURZ");
}

#[test]
fn measurements_and_addresses_stay() {
    let redactor = Redactor::new(["abc", "true"]).suspecting(["1234", "$HOME"]);
    for text in [
        "\"total_token_throughput\": 45409.81,",
        "Total generated tokens: 4210",
        "tokens/s: 1,234",
        "KEY=1",
        "NUM_TOKENS=512",
        "max_key: null",
        "http://localhost:8000/metrics",
        "https://example.com/a@b",
        "https://example.com/?page=2&rate=inf",
        "sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb",
        "token: ${HF_TOKEN}",
        "step 10 loss 2.3 tok/s 1234",
        "git@github.com:a/b.git",
        "risk-free sk-1",
        "the key is missing",
        "abc true",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

#[test]
fn values_are_found_as_json_spells_them() {
    let redactor = Redactor::new(["pass\"word\\1", "first line\nsecond line"]);
    let mut value =
        serde_json::json!({"a": ["x pass\"word\\1 y"], "b": "{\"v\": \"pass\\\"word\\\\1\"}", "c": "second line"});
    redactor.json(&mut value);
    assert_eq!(value, serde_json::json!({"a": ["x [redacted] y"], "b": "{\"v\": \"[redacted]\"}", "c": "[redacted]"}));
}

#[test]
fn values_are_found_as_addresses_and_base64_spell_them() {
    let redactor = Redactor::new(["p/ss w+rd(1)", "kurz", "\u{e5}\u{e4}\u{f6}>>>???"]);
    let cases = [
        ("q=p%2Fss%20w%2Brd%281%29", "q=[redacted]"),
        ("q=p/ss%20w%2Brd%281%29", "q=[redacted]"),
        ("q=p%2Fss%20w%2Brd(1)&x", "q=[redacted]&x"),
        ("q=p%2Fss+w%2Brd%281%29", "q=[redacted]"),
        // Alone, and behind `a:` and `a`; a letter may hold bits of its neighbor too.
        ("user cC9zcyB3K3JkKDEp, x", "user [redacted], x"),
        ("YTpwL3NzIHcrcmQoMSk=", "YTp[redacted]k="),
        ("YXAvc3MgdytyZCgxKQ==", "YX[redacted]Q=="),
        ("w6XDpMO2Pj4-Pz8_", "[redacted]"),
        ("w6XDpMO2Pj4+Pz8/", "[redacted]"),
        ("a3Vyeg==", "a3Vyeg=="),
    ];
    for (text, clean) in cases {
        assert_eq!(redactor.text(text), clean, "{text}");
    }
}

#[test]
fn a_secret_may_look_like_anything() {
    let redactor = Redactor::new(["$uperHemlig77", "20261121"]);
    assert_eq!(redactor.text("as $uperHemlig77 on 20261121"), "as [redacted] on [redacted]");
}

#[test]
fn what_may_be_a_secret_by_its_name_is_none_where_it_is_a_number() {
    let redactor = Redactor::default().suspecting(["hunter2hunter2", "4096", "true"]);
    assert_eq!(redactor.text("hunter2hunter2 of 4096, true"), "[redacted] of 4096, true");
}

#[test]
fn names_of_files_lose_values_and_tokens_alone() {
    let token = format!("ghp_{}", "Zq7Xw2Lm9Kc4Rt8Yb3Nf6Hd1Js5Vg0Pa7Ue2");
    let redactor = Redactor::new(["hunter2hunter2"]);
    assert_eq!(redactor.name("out/hunter2hunter2.json"), "out/[redacted].json");
    assert_eq!(redactor.name("max_token=longest.txt"), "max_token=longest.txt");
    for clean in [redactor.name(&format!("out/{token}.json")), without_tokens(&format!("out/{token}.json"))] {
        assert_eq!(clean, "out/[redacted].json");
    }
    // What follows the name of a secret is a secret in a text, but not in a file name.
    assert_eq!(without_tokens("password: hunter2hunter2"), "password: hunter2hunter2");
    assert_eq!(Redactor::default().text("password: hunter2hunter2"), "password: [redacted]");
}

#[test]
fn redacting_again_changes_nothing() {
    let redactor = Redactor::new(["hunter2hunter2"]);
    for (_, text) in planted() {
        let once = redactor.text(&text).into_owned();
        assert_eq!(redactor.text(&once), once);
    }
}

#[test]
fn names_of_secrets() {
    assert!(
        ["HF_TOKEN", "aws_secret_access_key", "DbPassword", "GOOGLE_APPLICATION_CREDENTIALS"]
            .iter()
            .all(|name| names_a_secret(name))
    );
    assert!(!["PATH", "NCCL_DEBUG", "BATCH_SIZE"].iter().any(|name| names_a_secret(name)));
}

#[test]
fn what_no_secret_is() {
    for value in ["$HOME", "${TOKEN}", "<token>", "[redacted]", "None", "", "7", "-1.5", "12345678901", "true}"] {
        assert!(is_harmless(value), "{value}");
    }
    for value in ["123456789012", "hunter2", "x$HOME", "1.5.2", "12345678901a"] {
        assert!(!is_harmless(value), "{value}");
    }
}
