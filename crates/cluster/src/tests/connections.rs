#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::super::proxy::proxy;
use super::super::{Cluster, Fault};
use kubebench_testing::server::{Server, answer, object};
use kubebench_testing::snapshot::{assert_text, named, str};

fn kubeconfig(folder: &Path, name: &str, server: &str, more: &str) -> PathBuf {
    let path = folder.join(name);
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {name}\n\
         clusters: [{{name: {name}, cluster: {{server: \"{server}\"{more}}}}}]\n\
         contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}, namespace: of-{name}}}}}]\n\
         users: [{{name: {name}, user: {{token: secret-{name}}}}}]\n"
    );
    fs::write(&path, text).unwrap();
    path
}

fn failure(result: anyhow::Result<Cluster>) -> String {
    match result {
        Ok(_) => panic!("it worked"),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn files_are_merged_and_those_that_are_missing_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(|_, _| object(&json!({"gitVersion": "v1"})));
    let files = [
        folder.path().join("missing"),
        kubeconfig(folder.path(), "one", "https://127.0.0.1:1", ""),
        kubeconfig(folder.path(), "two", server.url(), ""),
    ];
    assert_eq!(Cluster::by_files(&files, None).unwrap().address(), "https://127.0.0.1:1");
    let two = Cluster::by_files(&files, Some("two")).unwrap();
    assert_eq!(two.address(), server.url());
    assert_eq!(two.read("/version").unwrap().unwrap()["gitVersion"], "v1");

    let unknown = failure(Cluster::by_files(&files, Some("three")));
    for part in ["three", "`one`, `two`"] {
        assert!(unknown.contains(part), "{unknown}");
    }
}

#[test]
fn what_is_wrong_with_a_configuration_is_said_without_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let why = failure(Cluster::by_files(std::slice::from_ref(&missing), None));
    assert_text(
        named(why, &[(missing.to_str().unwrap(), "MISSING")]),
        str! {"there is no kubeconfig: looked for `MISSING`; set KUBECONFIG to the file that `kubectl` uses"},
    );

    let mut said = Vec::new();
    for text in [
        "users: [{name: x, user: {token: hidden}}\ncontexts: []",
        "users:\n- name: x\n  user: {token: hidden, token: hidden}\n",
        "users:\n- name: x\n  user: {token: [hidden]}\n",
        "users: hidden\n",
        "current-context: x\nusers: [{name: x, user: {token: hidden}}]\n",
        "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\nclusters: [{name: x, cluster: {server: 'http://127.0.0.1', certificate-authority-data: hidden}}]\n",
        "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\nclusters: [{name: x, cluster: {server: 'https://127.0.0.1'}}]\nusers: [{name: x, user: {client-certificate-data: aGlkZGVu, client-key-data: aGlkZGVu}}]\n",
        "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\nclusters: [{name: x, cluster: {server: 'https://127.0.0.1'}}]\nusers: [{name: x, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, 'echo hidden; echo sorry >&2; exit 3'], interactiveMode: Never}}}]\n",
    ] {
        let path = folder.path().join("config");
        fs::write(&path, text).unwrap();
        let why = failure(Cluster::by_files(&[path], None));
        said.push(named(&why, &[(folder.path().to_str().unwrap(), "FOLDER")]));
        assert!(!why.contains("hidden") && !why.contains("aGlkZGVu"), "{why}");
    }
    assert_text(
        said.join("\n"),
        str! {[r#"
cannot read `FOLDER/config`: it is not a kubeconfig: line 2, column 9
cannot read `FOLDER/config`: it is not a kubeconfig: line 3, column 25
cannot read `FOLDER/config`: it is not a kubeconfig: line 3, column 17
cannot read `FOLDER/config`: it is not a kubeconfig: line 1, column 8
the kubeconfig cannot be used: failed to load current context: x; it has no context
the kubeconfig cannot be used: failed to load certificate authority: failed to decode base64 data: Invalid padding; it has the contexts `x`
cannot set up a connection to https://127.0.0.1: rustls tls error: identity PEM is missing a private key: the key must be PKCS8 or RSA/PKCS1
cannot set up a connection to https://127.0.0.1: auth error: the credential plugin of the kubeconfig failed with exit status: 3: sorry
"#]},
    );
}

#[test]
fn the_proxy_of_the_configuration_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(|_, _| answer(502, "", "no way"));
    let more = format!(", proxy-url: \"{}\"", server.url());
    let file = kubeconfig(folder.path(), "one", "https://api.example:6443", &more);
    let cluster = Cluster::by_files(&[file], None).unwrap().patience(Duration::ZERO);
    assert!(matches!(cluster.read("/version"), Err(Fault::Unreachable(_))));
    assert_eq!(server.requests(), ["CONNECT api.example:6443"]);
}

#[test]
fn the_proxy_of_the_environment_has_exceptions() {
    let chosen = |no_proxy: &str, host: &str| {
        let variable = |name: &str| match name {
            "https_proxy" => Some("proxy.example:3128".to_owned()),
            "NO_PROXY" => Some(no_proxy.to_owned()),
            _ => None,
        };
        proxy(None, variable, "https", host, 6443).is_some()
    };
    for (no_proxy, host) in [
        ("", "api.example"),
        ("other.example,pi.example", "api.example"),
        (".api.example", "api.example"),
        ("*.api.example", "api.example"),
        ("api.example:443", "api.example"),
        ("10.96.0.0/16", "10.97.0.1"),
        ("10.96.0.0/99,10.96.0.0/x,/", "10.96.0.1"),
        ("fd00::/16", "10.96.0.1"),
    ] {
        assert!(chosen(no_proxy, host), "{no_proxy} {host}");
    }
    for (no_proxy, host) in [
        ("", "localhost"),
        ("", "127.0.0.2"),
        ("", "[::1]"),
        ("*", "api.example"),
        (" x , API.example", "api.Example"),
        ("example", "api.example"),
        (".example", "api.example"),
        ("*.example", "api.example"),
        ("api.example:6443", "api.example"),
        ("10.96.0.1", "10.96.0.1"),
        ("10.96.0.0/12", "10.96.0.1"),
        ("0.0.0.0/0", "10.96.0.1"),
        ("::/0", "[fd00::1]"),
        ("[fd00::1]:6443", "[fd00::1]"),
        ("fd00::1", "[fd00::1]"),
    ] {
        assert!(!chosen(no_proxy, host), "{no_proxy} {host}");
    }
    let all = |name: &str| (name != "NO_PROXY" && name != "no_proxy").then(|| format!("{name}.example"));
    assert_eq!(proxy(None, all, "https", "a", 1), Some("http://HTTPS_PROXY.example".to_owned()));
    assert_eq!(proxy(None, all, "http", "a", 1), Some("http://HTTP_PROXY.example".to_owned()));
    assert_eq!(proxy(Some("socks5://b"), all, "http", "a", 1), Some("socks5://b".to_owned()));
    assert_eq!(proxy(Some(""), |_| None, "https", "a", 1), None);
}
