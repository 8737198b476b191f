use super::*;
use kubebench_testing::snapshot::{assert_text, str};

fn lost(text: &str) -> String {
    let script = shell::read(text).unwrap_or_else(|| panic!("no script: {text}"));
    let found = losses(&script, Options::default());
    let shown = found.iter().map(|Loss { program, way, line }| format!("{program} {way:?} @{line}"));
    shown.collect::<Vec<_>>().join(", ")
}

fn table(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{text:?} -> {}\n", lost(text))).collect()
}

#[test]
fn failures_that_are_lost() {
    let texts = [
        "./bench | tee log",
        "./bench 2>&1 |& tee log",
        "(echo 'step 10 tput=900'; exit 137) 2>&1 | tee log",
        "set -e; ./bench | tee log",
        "cd /x && ./bench | grep -v warn",
        "{ ./a; ./b; } | tee log",
        "for i in 1 2; do ./bench $i | tee -a log; done",
        "timeout 5 mpirun ./bench | tee log",
        "env A=1 B=2 /opt/bench/run --x | cat",
        "./bench || true",
        "set -e\n./bench || :",
        "./bench || echo failed",
        "./bench || { echo failed; }",
        "./bench && echo well || echo failed",
        "./bench || exit 0",
        "./bench; true",
        "./bench; exit 0",
        "./bench\necho done",
        "set -o pipefail; ./bench | tee log; echo done",
        "set -e; set +e; ./bench; echo done",
        "set -e; ./a && ./b; echo done",
        "for i in 1 2 3; do ./bench $i; done",
        "./bench &",
        "./bench & wait",
        "for i in 1 2; do ./bench $i & done; wait",
        "(./a; ./b) & wait",
        "echo \"$(./bench)\"",
        "out=$(./bench); echo \"$out\"",
        "log() { echo \"$*\"; }; ./bench; log done",
        "run() { ./bench | tee log; }; run",
        "bash -c './bench | tee log'",
        "sleep 1\ntimeout 60 bash -c '\n\n./bench | tee log'",
        "mpirun -np 2 bash -o pipefail -c './bench | tee log; echo done'",
        "if [ -n \"$X\" ]; then ./a | tee log; else ./b || true; fi",
        "while ./more; do ./bench; echo turn; done",
        "case $X in a) ./bench | cat;; esac",
        "exec ./bench | tee log",
    ];
    assert_text(
        table(&texts),
        str! {[r#"
"./bench | tee log" -> bench Piped { last: "tee" } @1
"./bench 2>&1 |& tee log" -> bench Piped { last: "tee" } @1
"(echo 'step 10 tput=900'; exit 137) 2>&1 | tee log" -> exit 137 Piped { last: "tee" } @1
"set -e; ./bench | tee log" -> bench Piped { last: "tee" } @1
"cd /x && ./bench | grep -v warn" -> bench Piped { last: "grep" } @1
"{ ./a; ./b; } | tee log" -> a Piped { last: "tee" } @1, b Piped { last: "tee" } @1
"for i in 1 2; do ./bench $i | tee -a log; done" -> bench Piped { last: "tee" } @1
"timeout 5 mpirun ./bench | tee log" -> mpirun Piped { last: "tee" } @1
"env A=1 B=2 /opt/bench/run --x | cat" -> run Piped { last: "cat" } @1
"./bench || true" -> bench Answered { by: "true" } @1
"set -e\n./bench || :" -> bench Answered { by: ":" } @2
"./bench || echo failed" -> bench Answered { by: "echo" } @1
"./bench || { echo failed; }" -> bench Answered { by: "{ … }" } @1
"./bench && echo well || echo failed" -> bench Answered { by: "echo" } @1
"./bench || exit 0" -> bench Answered { by: "exit" } @1
"./bench; true" -> bench Followed { by: "true" } @1
"./bench; exit 0" -> bench Followed { by: "exit" } @1
"./bench\necho done" -> bench Followed { by: "echo" } @1
"set -o pipefail; ./bench | tee log; echo done" -> bench Followed { by: "echo" } @1
"set -e; set +e; ./bench; echo done" -> bench Followed { by: "echo" } @1
"set -e; ./a && ./b; echo done" -> a Followed { by: "echo" } @1
"for i in 1 2 3; do ./bench $i; done" -> bench Repeated @1
"./bench &" -> bench Background @1
"./bench & wait" -> bench Background @1
"for i in 1 2; do ./bench $i & done; wait" -> bench Background @1
"(./a; ./b) & wait" -> a Background @1, b Background @1
"echo \"$(./bench)\"" -> bench Substituted { into: "echo" } @1
"out=$(./bench); echo \"$out\"" -> bench Substituted { into: "out" } @1
"log() { echo \"$*\"; }; ./bench; log done" -> bench Followed { by: "log" } @1
"run() { ./bench | tee log; }; run" -> bench Piped { last: "tee" } @1
"bash -c './bench | tee log'" -> bench Piped { last: "tee" } @1
"sleep 1\ntimeout 60 bash -c '\n\n./bench | tee log'" -> bench Piped { last: "tee" } @2
"mpirun -np 2 bash -o pipefail -c './bench | tee log; echo done'" -> bench Followed { by: "echo" } @1
"if [ -n \"$X\" ]; then ./a | tee log; else ./b || true; fi" -> a Piped { last: "tee" } @1, b Answered { by: "true" } @1
"while ./more; do ./bench; echo turn; done" -> bench Followed { by: "echo" } @1
"case $X in a) ./bench | cat;; esac" -> bench Piped { last: "cat" } @1
"exec ./bench | tee log" -> bench Piped { last: "tee" } @1

"#]},
    );
}

#[test]
fn failures_that_are_shown() {
    let texts = [
        "",
        "./bench",
        "exec ./bench; echo never",
        "cd /x && ./bench",
        "export X=1; cd /x; mkdir -p y; ulimit -l unlimited; . ./env.sh; exec ./bench",
        "set -e; ./a; ./b; echo done",
        "set -euo pipefail; ./bench | tee log; echo done",
        "set -o errexit -o pipefail\n./bench | tee log\n./parse log",
        "set -o pipefail; ./bench | tee log",
        "trap 'exit 1' ERR; ./bench; echo done",
        "./bench > log 2>&1; status=$?; cat log; exit $status",
        "./bench | tee log; exit ${PIPESTATUS[0]}",
        "./bench; exit",
        "./bench || exit 1",
        "./bench || { echo failed; exit 1; }",
        "./bench || status=$?; exit $status",
        "./bench || ./other",
        "if ! ./bench; then echo failed; exit 1; fi; echo done",
        "for i in 1 2 3; do ./bench && break; sleep 5; done",
        "for i in 1 2 3; do ./bench $i || exit 1; done",
        "set -e; for i in 1 2 3; do ./bench $i; done",
        "until nc -z server 80; do sleep 1; done; ./bench",
        "./server & sleep 5; ./bench",
        "./bench & pid=$!; sleep 5; wait $pid",
        "cat hosts | head -1; nvidia-smi || true; rm -f x || true; ./bench",
        "echo y | ./bench",
        "cat x | sort | uniq -c; ./bench",
        "echo \"$(date) $(python3 --version)\"; ./bench",
        "n=$(nproc); ./bench -j \"$n\"",
        "version=$(python3 -c 'print(1)'); ./bench",
        "! ./bench; set -e",
        "exec > >(tee log) 2>&1; ./bench",
        "cat <<EOF > x\n./a | b\nEOF\n./bench",
        "log() { echo x; }; log start; ./bench",
        "bash -ec './a; ./b'",
        "sleep 10; ./bench",
        "nvidia-smi",
    ];
    let found: Vec<&&str> = texts.iter().filter(|text| !lost(text).is_empty()).collect();
    assert!(found.is_empty(), "{}", table(&found.into_iter().copied().collect::<Vec<_>>()));
}

#[test]
fn pipelines_in_substitutions() {
    let texts = [
        "THR=$(./bench | grep tok/s | awk '{print $2}'); echo \"t: $THR\"",
        "set -e; THR=$(./bench | grep tok/s); echo \"t: $THR\"",
        "echo \"x: $(./bench | tail -1)\"",
        "set -euo pipefail; echo \"x: $(./bench | tail -1)\"",
        "set -euo pipefail; export THR=$(./bench); echo \"$THR\"",
        "f() { local x=$(./bench); echo \"$x\"; }; f",
    ];
    assert_text(
        table(&texts),
        str! {[r#"
"THR=$(./bench | grep tok/s | awk '{print $2}'); echo \"t: $THR\"" -> bench Piped { last: "awk" } @1
"set -e; THR=$(./bench | grep tok/s); echo \"t: $THR\"" -> bench Piped { last: "grep" } @1
"echo \"x: $(./bench | tail -1)\"" -> bench Substituted { into: "echo" } @1
"set -euo pipefail; echo \"x: $(./bench | tail -1)\"" -> bench Substituted { into: "echo" } @1
"set -euo pipefail; export THR=$(./bench); echo \"$THR\"" -> bench Substituted { into: "export" } @1
"f() { local x=$(./bench); echo \"$x\"; }; f" -> bench Substituted { into: "local" } @1

"#]},
    );
}

#[test]
fn conditions_suspend_errexit() {
    let texts = [
        "set -euo pipefail; train() { ./bench; echo trained; }; train || exit 1",
        "set -e; train() { ./bench; echo trained; }; if ! train; then exit 1; fi",
        "set -e; f() { ./bench; date; }; f && echo ok",
        "( set -e; ./a; ./b ) || exit 1",
        "set -e; { ./a; ./b; } || exit 1",
        "if ./bench | tee log; then echo ok; else exit 1; fi",
    ];
    assert_text(
        table(&texts),
        str! {[r#"
"set -euo pipefail; train() { ./bench; echo trained; }; train || exit 1" -> bench Followed { by: "echo" } @1
"set -e; train() { ./bench; echo trained; }; if ! train; then exit 1; fi" -> bench Followed { by: "echo" } @1
"set -e; f() { ./bench; date; }; f && echo ok" -> bench Followed { by: "date" } @1
"( set -e; ./a; ./b ) || exit 1" -> a Followed { by: "b" } @1
"set -e; { ./a; ./b; } || exit 1" -> a Followed { by: "b" } @1
"if ./bench | tee log; then echo ok; else exit 1; fi" -> bench Piped { last: "tee" } @1

"#]},
    );
}

#[test]
fn loops_waits_answers_and_traps() {
    let texts = [
        "while read n; do ./bench $n; done < list",
        "cat list | while read n; do ./bench $n; done",
        "while (( i++ < 3 )); do ./bench; done",
        "for i in 1 2; do ./bench || break; done",
        "for i in 1 2; do ./bench || continue; done",
        "./a & ./b & for p in $pids; do wait $p; done",
        "./a & p1=$!; ./b & p2=$!; wait $p1 $p2",
        "warn() { echo \"$@\" >&2; }; ./bench || warn failed",
        "cleanup() { rm -f x; exit 0; }; trap cleanup EXIT; ./bench",
        "trap 'rm -f x; exit 0' EXIT; set -e; ./bench; ./report",
    ];
    assert_text(
        table(&texts),
        str! {[r#"
"while read n; do ./bench $n; done < list" -> bench Repeated @1
"cat list | while read n; do ./bench $n; done" -> bench Repeated @1
"while (( i++ < 3 )); do ./bench; done" -> bench Repeated @1
"for i in 1 2; do ./bench || break; done" -> bench Answered { by: "break" } @1
"for i in 1 2; do ./bench || continue; done" -> bench Answered { by: "continue" } @1
"./a & ./b & for p in $pids; do wait $p; done" -> a Background @1, b Background @1
"./a & p1=$!; ./b & p2=$!; wait $p1 $p2" -> a Background @1, b Background @1
"warn() { echo \"$@\" >&2; }; ./bench || warn failed" -> bench Answered { by: "warn" } @1
"cleanup() { rm -f x; exit 0; }; trap cleanup EXIT; ./bench" -> bench Trapped @1
"trap 'rm -f x; exit 0' EXIT; set -e; ./bench; ./report" -> bench Trapped @1, report Trapped @1

"#]},
    );
}

#[test]
fn names_of_what_fails_and_of_what_decides() {
    let texts = [
        "./a; set -e; ./b",
        "START=1; ./a; END=$(date); echo \"$END\"",
        "run() { \"$@\"; }; run ./a; run ./b; run ./c",
        "f() { ./bench; }; f; echo done",
    ];
    assert_text(
        table(&texts),
        str! {[r#"
"./a; set -e; ./b" -> a Followed { by: "b" } @1
"START=1; ./a; END=$(date); echo \"$END\"" -> a Followed { by: "echo" } @1
"run() { \"$@\"; }; run ./a; run ./b; run ./c" -> a Followed { by: "run" } @1, b Followed { by: "run" } @1
"f() { ./bench; }; f; echo done" -> bench Followed { by: "echo" } @1

"#]},
    );
}

#[test]
fn failures_that_are_shown_where_others_are_lost() {
    let texts = [
        "THR=$(./bench)",
        "set -eo pipefail; THR=$(./bench | tail -1); echo $THR",
        "v=$(./tool --v | head -1); ./bench",
        "f() { ./a; ./b; }; set -e; f; echo done",
        "set -e; f() { ./a || return 1; ./b; }; f || exit 1",
        "f() { ./a && ./b; }; f || exit 1",
        "die() { echo \"$@\"; exit 1; }; ./bench || die failed",
        "note() { FAILED=1; echo failed; }; ./a || note; exit $FAILED",
        "./a & ./b & for p in $pids; do wait $p || exit 1; done",
        "cleanup() { status=$?; rm -f x; exit $status; }; trap cleanup EXIT; ./bench",
        "trap 'kill $p' EXIT; ./bench",
        "if ./tool --list | grep -q x; then ./bench; fi",
        "source /kubebench/files/lib.sh; ./a; ./b | tee log",
        "unused() { ./a; echo; }; ./bench",
        "f() { f; }; f",
        "python3 -m pip install x | tail -1; uv sync; aws s3 cp a b; tar xf b | cat; ./bench",
        "huggingface-cli download x; sha256sum -c y; numactl -H; mpirun --version; ./bench",
        "timeout 3 bash -c 'until curl x; do sleep 1; done'; ./bench",
        "./server & sid=$!; ./client; rc=$?; kill $sid; exit $rc",
    ];
    let found: Vec<&&str> = texts.iter().filter(|text| !lost(text).is_empty()).collect();
    assert!(found.is_empty(), "{}", table(&found.into_iter().copied().collect::<Vec<_>>()));
}

#[test]
fn long_and_deep_scripts_are_evaluated() {
    for piece in
        ["./a && ", "./a || ", "./a | ", "./a; ", "./a & ", "echo $(./a) ", "f() { ./a; }; ", "f() { f; f; }; f; "]
    {
        let text = piece.repeat(300_000 / piece.len()) + "true";
        let found = shell::read(&text).map(|script| losses(&script, Options::default()));
        assert!(found.is_some(), "{piece}");
    }
    let answers = "./a || { ".repeat(30) + "true" + &"; }".repeat(30);
    assert_eq!(
        losses(&shell::read(&answers).unwrap(), Options::default()).len(),
        1,
        "only the innermost is answered by what surely succeeds"
    );
    let calls = (0..5).fold("./a | tee".to_owned(), |text, _| format!("bash -c '{}'", text.replace('\'', "'\\''")));
    assert_eq!(lost(&calls), "", "nobody writes so many shells in each other");
}
