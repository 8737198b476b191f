use super::*;
use kubebench_syntax::text::{Source, SourceMap};
use kubebench_testing::snapshot::{assert_findings, assert_text, str};

/// What is said about `text` as a `wanted`: code, the text pointed at, and the message.
#[track_caller]
fn faults(wanted: Type, meaning: Meaning, text: &str) -> Vec<(String, String)> {
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    let source = sources.add(Source::new("a.yaml", text.as_bytes()));
    let root = kubebench_syntax::yaml::read(source, sources.get(source).unwrap()).root.unwrap();
    match meaning {
        Meaning::Value => check(&root, wanted, "the whole", &mut found),
        Meaning::Patch => drop(read_patch(&root, wanted, "the whole", &mut found)),
        Meaning::Object => Reader::new("the whole", meaning, &[], &mut found).read(&root, wanted),
    }
    let at = |fault: &Diagnostic| match fault.place {
        kubebench_syntax::diag::Place::Span(span) => sources.get(source).unwrap().slice(span).to_owned(),
        kubebench_syntax::diag::Place::File(_) | kubebench_syntax::diag::Place::Line(..) => String::new(),
    };
    let line = |fault: Diagnostic| (format!("{} at {}", fault.code.id, at(&fault)), fault.message.clone());
    found.into_sorted(&sources).into_iter().map(line).collect()
}

fn helps(wanted: Type, text: &str) -> String {
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    let source = sources.add(Source::new("a.yaml", text.as_bytes()));
    let root = kubebench_syntax::yaml::read(source, sources.get(source).unwrap()).root.unwrap();
    check(&root, wanted, "the whole", &mut found);
    found.into_iter().filter_map(|fault| fault.help).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_number_in_a_patch_is_the_text_that_is_wanted() {
    let mut sources = SourceMap::default();
    let text = "nodeSelector: {a: 1.10}\npriority: 7\ncontainers: [{name: main, env: [{name: A, value: 8.50, valueFrom: null}, {name: B, value: 3}], ports: [{containerPort: 80}]}]\n";
    let source = sources.add(Source::new("a.yaml", text.as_bytes()));
    let root = kubebench_syntax::yaml::read(source, sources.get(source).unwrap()).root.unwrap();
    let mut found = Diagnostics::default();
    let patch = read_patch(&root, POD_SPEC, "the whole", &mut found);
    assert_eq!(found.as_slice(), []);
    assert_eq!(
        patch,
        serde_json::json!({
            "nodeSelector": {"a": "1.10"},
            "priority": 7,
            "containers": [{
                "name": "main",
                "env": [{"name": "A", "value": "8.50", "valueFrom": null}, {"name": "B", "value": "3"}],
                "ports": [{"containerPort": 80}],
            }],
        })
    );
}

#[test]
fn every_fault_is_found_where_it_is() {
    let pod = "\
nodeSelecto: {a: b}
nodeSelector: {a: 1, b: true, c: x}
hostNetwork: \"yes\"
terminationGracePeriodSeconds: 5s
tolerations: 3
priority: 3000000000
volumes:
  - {name: a, emptyDir: {sizeLimit: 8 GB}}
  - {name: b, hostpath: {path: /b}}
  - c
containers:
  - name: main
    env: [{name: A, value: 1}]
    securityContext: {runAsUser: root, capabilities: {drop: ALL}}
    ports: [{containerPort: 80}]
    livenessProbe: {httpGet: {port: http}}
";
    assert_findings(
        &faults(POD_SPEC, Meaning::Patch, pod),
        &[
            ("KB0316 at nodeSelecto", str! {"`nodeSelecto` is not a field of the whole"}),
            ("KB0316 at true", str! {"`b` must be text, not a boolean"}),
            ("KB0316 at \"yes\"", str! {"`hostNetwork` must be `true` or `false`, not the string `yes`"}),
            ("KB0316 at 5s", str! {"`terminationGracePeriodSeconds` must be a whole number, not the string `5s`"}),
            ("KB0316 at 3", str! {"`tolerations` must be a list, not the number `3`"}),
            (
                "KB0316 at 3000000000",
                str! {"`priority` must be a whole number of at most 2147483647, not the number `3000000000`"},
            ),
            ("KB0325 at 8 GB", str! {"`8 GB` has white space in it"}),
            ("KB0316 at hostpath", str! {"`hostpath` is not a field of an element of `volumes`"}),
            ("KB0316 at c", str! {"an element of `volumes` must be a mapping, not the string `c`"}),
            ("KB0316 at root", str! {"`runAsUser` must be a whole number, not the string `root`"}),
            ("KB0316 at ALL", str! {"`drop` must be a list, not the string `ALL`"}),
        ],
    );
}

#[test]
fn what_the_api_takes_is_taken() {
    for (wanted, text) in [
        (
            POD_SPEC,
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}",
        ),
        (POD_SPEC, "{volumes: [{name: a, $patch: delete}], securityContext: null, overhead: {cpu: 1, memory: 0.5Gi}}"),
        (
            POD_SPEC,
            "volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}}}}]",
        ),
        (
            CONTAINER,
            "{livenessProbe: {httpGet: {port: 80}}, env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1}}}]}",
        ),
        (
            JOB_SPEC,
            "{podReplacementPolicy: Failed, template: {metadata: {annotations: {a: \"1\"}}, spec: {hostname: a}}}",
        ),
        (
            fields::named("[MetricSpec]"),
            "[{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]",
        ),
    ] {
        assert_eq!(faults(wanted, Meaning::Patch, text), [], "{text}");
    }
}

#[test]
fn null_removes_in_patches_alone_and_misspelled_it_removes_nothing() {
    assert_eq!(faults(POD_SPEC, Meaning::Patch, "{volumes: null, nodeSelector: {a: null}}"), []);
    assert_findings(
        &faults(POD_SPEC, Meaning::Patch, "{volume: null, volumes: [null]}"),
        &[
            ("KB0316 at volume", str! {"`volume` is not a field of the whole"}),
            ("KB0316 at null", str! {"an element of `volumes` has no value"}),
        ],
    );
    assert_findings(
        &faults(TOLERATION, Meaning::Value, "{operator: Exists, value: null, $patch: delete}"),
        &[
            ("KB0316 at null", str! {"`value` has no value"}),
            ("KB0316 at $patch", str! {"`$patch` is not a field of the whole"}),
        ],
    );
}

#[test]
fn help_names_the_field_that_was_meant() {
    assert_text(helps(TOLERATION, "{kye: a, operator: Exists}"), str! {"did you mean `key`?"});
    assert_text(
        helps(TOLERATION, "{operator: Exists, gpu: a}"),
        str! {"write one of its fields: effect, key, operator, tolerationSeconds, value"},
    );
    assert_text(helps(POD_SPEC, "{gpu: a}"), str! {"`kubectl explain pod.spec` lists the fields"});
    assert!(helps(POD_SPEC, "{volumeMounts: []}").contains("under `container`"));
    assert_text(helps(POD_SPEC, "{nodeSelector: {a: 8}}"), str! {[r#"quote it: `"8"`"#]});
}

#[test]
fn tolerations_are_judged_as_the_api_server_judges_them() {
    for (text, expected) in [
        ("{key: a, operator: Exists, effect: NoSchedule}", None),
        ("{operator: Exists}", None),
        ("{key: a, value: b}", None),
        ("{key: nvidia.com/gpu, operator: Equal, value: \"true\", effect: NoExecute, tolerationSeconds: 60}", None),
        ("{}", Some(("KB0325 at {}", str! {"the toleration has no `key`"}))),
        (
            "{operator: Equal, value: b}",
            Some(("KB0325 at {operator: Equal, value: b}", str! {"the toleration has no `key`"})),
        ),
        ("{key: a, operator: Exist}", Some(("KB0325 at Exist", str! {"`Exist` is not a value of `operator`"}))),
        ("{key: a, operator: exists}", Some(("KB0325 at exists", str! {"`exists` is not a value of `operator`"}))),
        (
            "{key: a, effect: NoScheduling}",
            Some(("KB0325 at NoScheduling", str! {"`NoScheduling` is not a value of `effect`"})),
        ),
        (
            "{key: a, operator: Exists, value: b}",
            Some((
                "KB0325 at b",
                str! {"`value` cannot be combined with `operator: Exists`, which matches every value"},
            )),
        ),
        (
            "{key: a, value: b, tolerationSeconds: 1}",
            Some(("KB0325 at 1", str! {"`tolerationSeconds` counts only with `effect: NoExecute`"})),
        ),
        ("{key: a b}", Some(("KB0325 at a b", str! {"`a b` is not a valid taint key"}))),
        ("{key: a, value: b c}", Some(("KB0325 at b c", str! {"`b c` is not a valid taint value"}))),
        ("{ky: a}", Some(("KB0316 at ky", str! {"`ky` is not a field of the whole"}))),
    ] {
        assert_findings(&faults(TOLERATION, Meaning::Value, text), expected.as_slice());
    }
}

#[test]
fn network_rules_are_judged_as_the_api_server_judges_them() {
    for (text, expected) in [
        ("{}", None),
        (
            "{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}], ports: [{port: 443}, {port: https, protocol: UDP}]}",
            None,
        ),
        ("{to: [{ipBlock: {cidr: \"2001:db8::/32\"}}, {podSelector: {}}], ports: [{port: 1, endPort: 9}]}", None),
        ("{too: []}", Some(("KB0316 at too", str! {"`too` is not a field of the whole"}))),
        ("{from: []}", Some(("KB0316 at from", str! {"`from` is not a field of the whole"}))),
        ("{to: [{}]}", Some(("KB0325 at {}", str! {"this peer matches nothing"}))),
        ("{to: [{ipBlock: {cidr: 10.0.0.0}}]}", Some(("KB0325 at 10.0.0.0", str! {"`10.0.0.0` is not a CIDR block"}))),
        (
            "{to: [{ipBlock: {cidr: 10.0.0.0/33}}]}",
            Some(("KB0325 at 10.0.0.0/33", str! {"`10.0.0.0/33` is not a CIDR block"})),
        ),
        (
            "{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/16]}}]}",
            Some(("KB0325 at 11.0.0.0/16", str! {"`11.0.0.0/16` is not inside `cidr`"})),
        ),
        (
            "{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [0.0.0.0/0]}}]}",
            Some(("KB0325 at 0.0.0.0/0", str! {"`0.0.0.0/0` is not inside `cidr`"})),
        ),
        ("{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}", None),
        ("{to: [{ipBlock: {}}]}", Some(("KB0325 at {}", str! {"`ipBlock` has no `cidr`"}))),
        (
            "{to: [{ipBlock: {cidr: 10.0.0.0/8}, podSelector: {}}]}",
            Some((
                "KB0325 at {ipBlock: {cidr: 10.0.0.0/8}, podSelector: {}}",
                str! {"`ipBlock` cannot be combined with `podSelector`"},
            )),
        ),
        ("{ports: [{port: 0}]}", Some(("KB0325 at 0", str! {"`0` is not a port"}))),
        ("{ports: [{port: \"443\"}]}", Some(("KB0325 at \"443\"", str! {"`443` is not a valid port name"}))),
        ("{ports: [{port: 443, protocol: tcp}]}", Some(("KB0325 at tcp", str! {"`tcp` is not a value of `protocol`"}))),
        (
            "{ports: [{port: true}]}",
            Some(("KB0316 at true", str! {"`port` must be text or a whole number, not a boolean"})),
        ),
        (
            "{ports: [{port: 9, endPort: 1}]}",
            Some(("KB0325 at 1", str! {"`endPort` needs a number in `port` that is not greater than `endPort`"})),
        ),
        (
            "{to: [{podSelector: {matchLabels: {a: 1}}}]}",
            Some(("KB0316 at 1", str! {"`a` must be text, not the number `1`"})),
        ),
        (
            "{to: [{podSelector: {matchExpressions: [{key: a, operator: in, values: [b]}]}}]}",
            Some(("KB0325 at in", str! {"`in` is not a value of `operator`"})),
        ),
        (
            "{to: [{podSelector: {matchExpressions: [{key: a, operator: In}]}}]}",
            Some(("KB0325 at In", str! {"`operator: In` needs `values`"})),
        ),
    ] {
        assert_findings(&faults(EGRESS_RULE, Meaning::Value, text), expected.as_slice());
    }
}

#[test]
fn values_of_pods_that_are_refused() {
    for (wanted, text, place, expected) in [
        (CONTAINER, "ports: [{containerPort: 0}]", "0", str! {"`0` is not a port"}),
        (CONTAINER, "ports: [{containerPort: 70000}]", "70000", str! {"`70000` is not a port"}),
        (
            CONTAINER,
            "ports: [{containerPort: 80, protocol: HTTP}]",
            "HTTP",
            str! {"`HTTP` is not a value of `protocol`"},
        ),
        (
            CONTAINER,
            "imagePullPolicy: IfNotPreset",
            "IfNotPreset",
            str! {"`IfNotPreset` is not a value of `imagePullPolicy`"},
        ),
        (CONTAINER, "restartPolicy: Always", "Always", str! {"only init containers have a `restartPolicy`"}),
        (CONTAINER, "securityContext: {runAsUser: -1}", "-1", str! {"`runAsUser` is -1"}),
        (
            CONTAINER,
            "volumeMounts: [{name: a, mountPath: /a, mountPropagation: Both}]",
            "Both",
            str! {"`Both` is not a value of `mountPropagation`"},
        ),
        (POD_SPEC, "dnsPolicy: Cluster", "Cluster", str! {"`Cluster` is not a value of `dnsPolicy`"}),
        (POD_SPEC, "preemptionPolicy: No", "No", str! {"`No` is not a value of `preemptionPolicy`"}),
        (POD_SPEC, "securityContext: {fsGroup: -2}", "-2", str! {"`fsGroup` is -2"}),
        (POD_SPEC, "volumes: [{name: a, emptyDir: {medium: Ram}}]", "Ram", str! {"`Ram` is not a value of `medium`"}),
        (
            POD_SPEC,
            "volumes: [{name: a, hostPath: {path: /a, type: Folder}}]",
            "Folder",
            str! {"`Folder` is not a value of `type`"},
        ),
        (
            POD_SPEC,
            "initContainers: [{name: a, image: a, restartPolicy: Never}]",
            "Never",
            str! {"`Never` is not a value of `restartPolicy`"},
        ),
        (
            POD_SPEC,
            "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}",
            "{labelSelector: {}}",
            str! {"there is no `topologyKey`"},
        ),
        (
            POD_SPEC,
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Is, values: [b]}]}]}}}",
            "Is",
            str! {"`Is` is not a value of `operator`"},
        ),
        (
            POD_SPEC,
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [b]}]}]}}}",
            "Gt",
            str! {"`operator: Gt` needs one number in `values`"},
        ),
        (
            POD_SPEC,
            "topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]",
            "0",
            str! {"`maxSkew` is 0"},
        ),
    ] {
        let code_and_place = format!("KB0325 at {place}");
        assert_findings(&faults(wanted, Meaning::Patch, text), &[(&code_and_place, expected)]);
    }
    for (text, place) in [
        ("volumes: [{name: My_Data}]", "My_Data"),
        ("containers: [{name: a.b}]", "a.b"),
        ("nodeSelector: {pool: a b}", "a b"),
        ("nodeSelector: {a/b/c: x}", "x"),
        ("serviceAccountName: S3", "S3"),
        ("containers: [{name: a, image: 'A B'}]", "'A B'"),
    ] {
        let found = faults(POD_SPEC, Meaning::Patch, text);
        assert!(found.len() == 1 && found[0].0 == format!("KB0325 at {place}"), "{found:?}");
    }
    for (wanted, text) in [
        (CONTAINER, "ports: [{containerPort: 65535, protocol: SCTP, hostPort: 0}]"),
        (POD_SPEC, "volumes: [{name: a, emptyDir: {medium: HugePages-2Mi}}, {name: b, emptyDir: {medium: \"\"}}]"),
        (POD_SPEC, "initContainers: [{name: a, image: a, restartPolicy: Always}]"),
        (POD_SPEC, "nodeSelector: {example.com/pool: \"\", gone: null}"),
        (CONTAINER, "securityContext: {runAsUser: 0}"),
    ] {
        assert_eq!(faults(wanted, Meaning::Patch, text), [], "{text}");
    }
}

#[test]
fn an_object_says_null_for_nothing_and_has_roles_of_its_own() {
    let patch = "{metadata: {labels: null}, spec: {restartPolicy: null, containers: null}}";
    assert_eq!(faults(fields::named("PodTemplateSpec"), Meaning::Object, patch), []);
    let roles = Type::Roles(&Type::Object(&[("replicas", Type::Known(typed::read::<i32>))]));
    assert_eq!(faults(roles, Meaning::Object, "{Evaluator: {replicas: 2}}"), []);
    let deprecated = Type::Beside(&[("old", Type::Deprecated(&TEXT))], &POD_SPEC);
    assert_eq!(faults(deprecated, Meaning::Object, "{old: a}"), []);
    assert_findings(
        &faults(deprecated, Meaning::Object, "{old: [a]}"),
        &[("KB0316 at [a]", str! {"`old` must be text, not a list"})],
    );
    assert_findings(
        &faults(deprecated, Meaning::Patch, "{old: a}"),
        &[("KB0316 at old", str! {"`old` is not a field of the whole"})],
    );
    assert_findings(
        &faults(POD_SPEC, Meaning::Object, "{later: 1}"),
        &[("KB0370 at later", str! {"`later` is not a field of the whole"})],
    );
}
