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
fn long_and_deep_scripts_take_little_time() {
    let start = std::time::Instant::now();
    for piece in ["./a && ", "./a || ", "./a | ", "./a; ", "./a & ", "echo $(./a) ", "f() { ./a; }; "] {
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
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}
