use super::*;

#[test]
fn addresses_of_repositories() {
    for text in [
        "https://git.example/a.git",
        "https://bot@git.example/a.git",
        "https://git.example:8443/a@b:c.git",
        "git@git.example:team/a.git",
        "ssh://git@git.example:22/a.git",
        "ssh://git@[::1]:22/a.git",
        "git@[::1]:a.git",
        "../results.git",
        "/srv/results.git",
        "file:///srv/results.git",
    ] {
        assert!(check(text).is_ok(), "{text}");
    }
}

#[test]
fn credentials() {
    for text in [
        "https://bot:hunter2@git.example/a.git",
        "https://bot:glpat-abcdefghij0123456789@git.example/a.git",
        "http://:hunter2@git.example/a.git",
        "ssh://git:hunter2@git.example/a.git",
        "https://a@b:hunter2@git.example",
        "https://ghp_0123456789abcdef0123456789abcdef0123@github.com/a/b.git",
    ] {
        let fault = check(text).unwrap_err();
        assert!(fault.message.contains("holds a password or token"), "{text}: {}", fault.message);
        assert!(fault.help.as_ref().unwrap().contains("`credential`"), "{text}");
        assert!(!format!("{fault:?}").contains("hunter2"), "{fault:?}");
    }
}

#[test]
fn what_git_would_run() {
    for text in [
        "--upload-pack=touch /tmp/x",
        "-x",
        "ext::sh -c 'touch /tmp/x'",
        "foo::bar",
        "foo://bar",
        "ssh://-oProxyCommand=x/a",
        "ssh://git@-oProxyCommand=x/a",
        "",
        " https://git.example/a.git",
        "https://git.example/a\nb",
    ] {
        assert!(check(text).is_err(), "{text}");
    }
}
