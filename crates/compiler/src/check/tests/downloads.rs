use super::*;

/// The findings of one code about a Job with these fields, on a target with this policy.
fn found(code: &str, policy: &str, fields: &str) -> Vec<String> {
    let target = format!("{{t: {{networkPolicy: {policy}}}}}");
    let project =
        format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {target}}}\n");
    let job = format!("workload: {{job: {{image: 'r.example/a:1', resources: {{cpu: 1, memory: 1Gi}}, {fields}}}}}");
    let compiled = compile(&project, &document(&job));
    assert_eq!(compiled.before, [], "{fields}");
    let findings = compiled.findings().into_iter().filter(|fault| fault.code.id == code);
    findings
        .map(|fault| [Some(fault.message), fault.help].into_iter().flatten().collect::<Vec<_>>().join("; "))
        .collect()
}

#[test]
fn downloads_need_a_way_out() {
    let is_found = |policy: &str, fields: &str| found("KB0467", policy, fields).len();
    for fields in [
        "command: [a, 's3://data/imagenet']",
        "command: [a], args: ['--data=gs://data/imagenet']",
        "command: [a], env: {DATA: 'hf://org/name'}",
        "command: [sh, -c, 'curl -L \"https://example.com/x\" | tar x']",
        "command: [vllm, serve, Qwen/Qwen3-0.6B]",
        "command: [python3, -m, sglang.launch_server], args: [--model-path, Qwen/Qwen3-0.6B]",
        "command: [sh, -c, 'vllm serve --model=Qwen/Qwen3-0.6B']",
    ] {
        assert_eq!(is_found("{}", fields), 1, "{fields}");
        assert_eq!(is_found("{egress: [{ports: [{port: 443, protocol: TCP}]}]}", fields), 0, "{fields}");
        assert_eq!(is_found("{egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}", fields), 0, "{fields}");
        assert_eq!(is_found("{enabled: false}", fields), 0, "{fields}");
        assert_eq!(is_found("{egress: [{ports: [{port: 9090, protocol: TCP}]}]}", fields), 1, "{fields}");
        assert_eq!(is_found("{egress: [{to: [{podSelector: {}}]}]}", fields), 1, "{fields}");
    }
}

#[test]
fn what_is_in_the_cluster_is_no_download() {
    for fields in [
        "command: [a, 'https://model-registry.models.svc/x', 'https://models', 'https://10.0.0.7/x', 's3://']",
        "command: [a, 's3://data/x'], env: {AWS_ENDPOINT_URL: 'http://minio:9000'}",
        "command: [vllm, serve, /models/qwen]",
        "command: [vllm, serve, Qwen/Qwen3-0.6B], env: {HF_HUB_OFFLINE: 1}",
        "command: [train, --model, models/resnet50]",
    ] {
        assert_eq!(found("KB0467", "{}", fields), [""; 0], "{fields}");
    }
    let by_proxy = "command: [a, 'hf://org/name'], env: {HTTPS_PROXY: 'http://proxy:3128'}";
    assert_eq!(found("KB0467", "{egress: [{to: [{podSelector: {}}]}]}", by_proxy).len(), 0);
    assert_eq!(found("KB0467", "{}", by_proxy).len(), 1);
}

#[test]
fn programs_and_arguments_are_words() {
    let said = |fields: &str| found("KB0468", "{}", fields).join("\n");
    assert_text(
        said(r#"command: ["torchrun train.py --batch 64"]"#),
        str! {r#"the name of the program has a space in it: `torchrun train.py --batch 64`; write `command: [torchrun, train.py, --batch, "64"]`"#},
    );
    assert_text(
        said(r#"command: ["cat a | wc -l"]"#),
        str! {"the name of the program has a space in it: `cat a | wc -l`; write `command: [sh, -c, 'cat a | wc -l']`"},
    );
    assert_text(
        said(r#"command: [train], args: ["--batch 64"]"#),
        str! {r#"an option and its value are one argument: `--batch 64`; write two items: `--batch, "64"`"#},
    );
    for fields in [
        "command: [sh, -c, 'train --batch 64']",
        "command: [train, --message, 'two words', '--extra-args', '--batch 64']",
        "command: [train], args: ['--message two words', '-- x', '--a=b c']",
    ] {
        assert_text(said(fields), str! {});
    }
}
