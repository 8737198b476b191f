//! Hostile text in every field that takes text: it arrives byte for byte in the container, and in the result.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Loop, Settings};

/// The name of the cluster.
const CLUSTER: &str = "{{workflow.name}} ${CLUSTER} $(X)";

/// What Argo, the kubelet, Flux, shells, readers of YAML and terminals would each like to understand.
const TEXTS: [&str; 24] = [
    "{{workflow.name}}",
    "{{=1+1}}",
    "{{inputs.parameters.run}} {{ unclosed",
    "}}",
    "$(X)",
    "$$(X)",
    "$(KUBEBENCH_EXP_ID)",
    "$$$(HOSTILE_0) $HOME ${HOME} `id` $(id)",
    "'single' \"double\" \\back\\slash\\n",
    "two\nlines\n",
    "\r\n\ttabs\t",
    "  spaces around  ",
    "!!python/object:os.system",
    "&anchor *alias",
    "- item: # comment",
    "yes",
    "0777",
    "1e3",
    "null",
    "~",
    "\u{202e}reversed\u{202c} \u{200b}\u{feff}",
    "é ☃ 🚀 \u{85}\u{2028}",
    "--flag=${CLUSTER} %s %n",
    "a,b;c|d&e>f<g",
];

/// Each word and variable as hexadecimal, then the carried files.
const MAIN: &str = r#"#!/bin/sh
set -eu
hex() { od -An -v -tx1 | tr -d '\n'; echo; }
for one in "$@"; do printf 'arg'; printf %s "$one" | hex; done
i=0
while [ $i -lt COUNT ]; do
    eval "value=\$HOSTILE_$i"
    printf 'env'; printf %s "$value" | hex
    i=$((i + 1))
done
printf 'axis'; printf %s "$AXIS" | hex
printf 'annotation'; printf %s "$ANNOTATION" | hex
printf 'file'; hex </kubebench/files/data
echo "rate $# points"
"#;

#[test]
fn hostile_texts_arrive_as_they_are() {
    let axis = ["{{workflow.name}} $(X) \"a\" 'b'\n# c: d", "\u{202e}🚀 {{=1+1}}"];
    let annotation = "{{workflow.uid}} $(X) \"\n\u{202e}🚀";
    let data = format!("{}\u{0}\u{1b}[31m", TEXTS.join("\n"));
    let env: String = TEXTS.iter().enumerate().fold(String::new(), |mut text, (index, one)| {
        writeln!(text, "        HOSTILE_{index}: {}", quoted(one)).unwrap();
        text
    });
    let list = |texts: &[&str]| texts.iter().map(|one| quoted(one)).collect::<Vec<_>>().join(", ");
    let spec = format!(
        r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: texts, labels: {{team: a.b_c-1}}}}
spec:
  description: {description}
  timeout: 5m
  parameters: {{text: {first}}}
  matrix: {{axes: {{word: [{axis}]}}}}
  inputs: {{dataset: {{uri: {uri}, revision: {annotation}}}}}
  workload:
    job:
      image: busybox:1
      files: {{main.sh: {{path: "scripts/{{{{x}}}} é.sh"}}, data: {{path: scripts/data}}}}
      command: [/kubebench/files/main.sh]
      args: [{args}]
      annotations: {{example.com/hostile: {annotation}}}
      env:
        AXIS: "${{{{ matrix.word }}}}"
        ANNOTATION: {{field: "metadata.annotations['example.com/hostile']"}}
{env}
      resources: {{cpu: 10m, memory: 16Mi}}
  metrics:
    - {{name: rate, unit: "{{{{workflow.name}}}} $(X)", better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\S+) points|\{{\{{workflow\.name\}}\}}\$\(X\)'}}}}}}
"#,
        description = quoted(&TEXTS.join(" ")),
        first = quoted(TEXTS[0]),
        axis = list(&axis),
        uri = quoted("s3://{{workflow.name}}/$(X)?a='b'&c=\"d\""),
        annotation = quoted(annotation),
        args = list(&TEXTS),
    );
    let main = MAIN.replace("COUNT", &TEXTS.len().to_string());
    let project = Settings { cluster: CLUSTER, ..Settings::of("texts") }.text();
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("specs/texts.yaml", spec.as_str()),
        ("scripts/{{x}} é.sh", main.as_str()),
        ("scripts/data", data.as_str()),
    ];
    let Some(cycle) = Loop::new("hostile_texts_arrive_as_they_are", &files) else { return };
    cycle.apply();
    cycle.ends("test", "texts", "Succeeded");

    let printed = cycle.look("test", "texts", "for log in */output/logs/job-0.log; do cat $log; echo end; done");
    let logs: Vec<&str> = printed.split("end\n").filter(|log| !log.trim().is_empty()).collect();
    assert_eq!(logs.len(), axis.len(), "{printed}");
    for log in logs {
        let of = |what: &str| -> Vec<String> {
            let lines = log.lines().filter_map(|line| line.strip_prefix(what));
            lines.map(|hex| text_of(hex, log)).collect()
        };
        assert_eq!(of("arg"), TEXTS);
        assert_eq!(of("env"), TEXTS);
        assert_eq!(of("annotation"), [annotation]);
        assert_eq!(of("file"), [data.as_str()]);
        assert!(of("axis") == [axis[0]] || of("axis") == [axis[1]], "{:?}", of("axis"));
    }
    let results = cycle.results();
    let of = results.of("texts");
    let words: Vec<&Value> = of.iter().map(|result| &result["metadata"]["params"]["word"]).collect();
    assert!(axis.iter().all(|text| words.contains(&&json!(text))) && words.len() == 2, "{words:?}");
    for result in of {
        assert_eq!(result["environment"]["cluster"]["name"], CLUSTER);
        assert_eq!(result["metrics"][0]["unit"], "{{workflow.name}} $(X)");
        assert_eq!(result["metrics"][0]["value"].as_f64(), Some(TEXTS.len() as f64));
        assert!(result.to_string().contains(&json!(annotation).to_string()), "the revision: {result:#}");
    }
}

/// The text as a quoted scalar of YAML, in which all but plain ASCII is escaped; a lookup that is none stays none.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for one in text.chars() {
        match one {
            '"' | '\\' => write!(quoted, "\\{one}"),
            ' '..='~' => write!(quoted, "{one}"),
            _ => write!(quoted, "\\U{:08x}", u32::from(one)),
        }
        .unwrap();
    }
    quoted + "\""
}

fn text_of(hex: &str, log: &str) -> String {
    let bytes =
        hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap_or_else(|_| panic!("{hex}:\n{log}")));
    String::from_utf8(bytes.collect()).unwrap()
}
