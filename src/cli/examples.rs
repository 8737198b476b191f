//! Examples of every subcommand: at the end of `--help` and in the manual pages.

/// A call, and what it does.
pub(super) type Example = (&'static str, &'static str);

/// Returns the examples of a subcommand, the commonest first.
pub(super) fn of(command: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

const EXAMPLES: [(&str, &[Example]); 33] = [
    (
        "init",
        &[
            ("kubebench init", "start a project in this folder, or update its files"),
            ("kubebench init --ci gitlab --owner @org/team", "write a job for GitLab, and owners"),
        ],
    ),
    (
        "new",
        &[
            ("kubebench new pytorchJob resnet50", "write specs/resnet50.yaml for a PyTorchJob"),
            ("kubebench new suite nightly", "write a suite, which runs several benchmarks"),
            ("kubebench new --list", "list the workload kinds and the ready benchmarks"),
            ("kubebench new nccl-all-reduce", "write specs/nccl-all-reduce.yaml, ready to run"),
        ],
    ),
    (
        "validate",
        &[
            ("kubebench validate", "check the whole project"),
            ("kubebench validate specs/vision --output-format github", "annotate a pull request"),
        ],
    ),
    (
        "verify",
        &[
            ("kubebench verify", "check the signatures of all results"),
            ("kubebench verify results/new --key ci.pem", "check some files by another key"),
        ],
    ),
    (
        "compile",
        &[
            ("kubebench compile", "write the manifests"),
            ("kubebench compile --check", "in CI: fail if the manifests are not those of the specs"),
            ("kubebench compile --diff", "show what would change"),
        ],
    ),
    (
        "plan",
        &[
            ("kubebench plan", "show all runs and their cost"),
            ("kubebench plan --since origin/main", "show what this branch would start"),
        ],
    ),
    (
        "diff",
        &[
            ("kubebench diff --since origin/main", "show what this branch changes in each case"),
            ("kubebench diff --since origin/main --rendered", "show what it changes in the manifests of jobs"),
        ],
    ),
    ("render", &[("kubebench render specs/fio.yaml --target gpu-eu", "print the jobs of a spec")]),
    (
        "parse",
        &[
            ("kubebench parse --spec specs/fio.yaml fio.log", "try the metrics of a spec on a log"),
            ("kubebench parse --tool fio fio.log", "show all metrics that a tool printed"),
        ],
    ),
    (
        "run",
        &[
            ("kubebench run specs/copy-bandwidth.yaml", "run a benchmark on this machine"),
            ("kubebench run specs/fio.yaml --case bs=4k --dry-run", "show what one case would run"),
        ],
    ),
    ("record", &[("kubebench record results/new --mode branch", "commit results and push them")]),
    ("fold", &[("kubebench fold", "move what waits in the inbox into the results branch")]),
    ("doctor", &[("kubebench doctor --target gpu-eu", "check the cluster of a target")]),
    (
        "status",
        &[
            ("kubebench status", "show all runs of the project in the cluster"),
            ("kubebench status resnet50 --watch", "follow one benchmark"),
        ],
    ),
    ("logs", &[("kubebench logs resnet50 --follow", "follow the run that is at work")]),
    (
        "gate",
        &[
            ("kubebench gate", "evaluate the newest results"),
            ("kubebench gate --only-new --markdown comment.md", "in CI: fail only for what this branch changed"),
        ],
    ),
    (
        "compare",
        &[
            ("kubebench compare branch:main branch:faster", "compare the results of two branches"),
            ("kubebench compare --by gpu", "compare cases along a fact of the hardware"),
        ],
    ),
    ("history", &[("kubebench history resnet50 --last 30", "list 30 sessions and what changed")]),
    (
        "ack",
        &[(
            "kubebench ack resnet50 --metric throughput --by alice --reason 'new default precision'",
            "accept a regression",
        )],
    ),
    (
        "mock",
        &[(
            "kubebench mock --spec specs/fio.yaml --values values.yaml --sessions 20",
            "make 20 sessions to try a gate",
        )],
    ),
    ("reparse", &[("kubebench reparse results/resnet50", "read metrics that a spec has got since")]),
    (
        "export",
        &[
            ("kubebench export --format csv --out results.csv", "write a table of all results"),
            ("kubebench export --format parquet --out results.parquet", "write a file for pandas or DuckDB"),
        ],
    ),
    (
        "report",
        &[
            ("kubebench report --out site", "write an HTML site"),
            ("kubebench report --format markdown --out BENCHMARKS.md", "write a page for the repository"),
        ],
    ),
    (
        "fmt",
        &[("kubebench fmt", "format all specs"), ("kubebench fmt --check", "in CI: fail if a file is not formatted")],
    ),
    ("hook", &[("kubebench hook compile-check ml/bench/specs/fio.yaml", "check the project in ml/bench")]),
    (
        "set",
        &[
            ("kubebench set specs/resnet50.yaml image=ghcr.io/team/train:1.6", "set the only image of a spec"),
            ("kubebench set specs/fio.yaml gates.bandwidth.maxRegression=5% timeout=2h", "set two values"),
        ],
    ),
    ("migrate", &[("kubebench migrate old/kubebenchjob.yaml", "write specs for an old benchmark")]),
    ("schema", &[("kubebench schema benchmark", "print the schema of specs, for an editor")]),
    (
        "explain",
        &[
            ("kubebench explain KB0105", "explain a code"),
            ("kubebench explain spec.matrix", "explain a field"),
            ("kubebench explain tool.fio", "list the metrics of a tool"),
            ("kubebench explain catalog.fio", "print the page of a ready benchmark"),
        ],
    ),
    ("list", &[("kubebench list --select team=vision", "list the benchmarks of a team")]),
    ("lsp", &[("kubebench lsp", "serve an editor, which starts it")]),
    ("completions", &[("kubebench completions bash", "print completions for bash")]),
    ("man", &[("kubebench man gate", "print the page of a subcommand")]),
];
