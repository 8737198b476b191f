//! Which command of a script may be the one that is measured.

/// The shells' own commands, and tools that look, print, filter text, arrange files, wait, end processes, install or fetch. Nobody
/// measures them, and what they should have prepared is missed by the program that needs it.
const BESIDE: [&str; 160] = [
    ".",
    ":",
    "[",
    "alias",
    "apk",
    "apt",
    "apt-get",
    "awk",
    "basename",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cat",
    "cd",
    "chgrp",
    "chmod",
    "chown",
    "clear",
    "cmp",
    "column",
    "compgen",
    "complete",
    "conda",
    "continue",
    "cp",
    "curl",
    "cut",
    "date",
    "declare",
    "df",
    "diff",
    "dig",
    "dirname",
    "dirs",
    "disown",
    "dmesg",
    "dnf",
    "du",
    "echo",
    "egrep",
    "enable",
    "env",
    "eval",
    "exit",
    "export",
    "false",
    "fg",
    "fgrep",
    "file",
    "find",
    "free",
    "gawk",
    "getconf",
    "getent",
    "getopts",
    "git",
    "grep",
    "hash",
    "head",
    "help",
    "history",
    "host",
    "hostname",
    "id",
    "ifconfig",
    "ip",
    "jobs",
    "jq",
    "kill",
    "killall",
    "ldconfig",
    "ldd",
    "less",
    "let",
    "ln",
    "local",
    "logger",
    "logout",
    "ls",
    "lsblk",
    "lscpu",
    "lsmod",
    "lspci",
    "mapfile",
    "mkdir",
    "mktemp",
    "modprobe",
    "module",
    "more",
    "mount",
    "mountpoint",
    "mv",
    "nproc",
    "nslookup",
    "nvcc",
    "nvidia-smi",
    "pgrep",
    "pip",
    "pip3",
    "pkill",
    "popd",
    "printenv",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readlink",
    "readonly",
    "realpath",
    "return",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "service",
    "set",
    "shift",
    "shopt",
    "sleep",
    "sort",
    "source",
    "ssh-keygen",
    "ssh-keyscan",
    "sshd",
    "stat",
    "stty",
    "suspend",
    "sync",
    "sysctl",
    "systemctl",
    "tail",
    "tee",
    "test",
    "times",
    "touch",
    "tput",
    "tr",
    "trap",
    "true",
    "tty",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "umount",
    "unalias",
    "uname",
    "uniq",
    "unset",
    "uptime",
    "wait",
    "wc",
    "wget",
    "which",
    "whoami",
    "yes",
];

/// Programs that run the one behind them.
const BEFORE: [&str; 14] = [
    "builtin", "command", "env", "exec", "ionice", "nice", "nohup", "numactl", "setsid", "stdbuf", "sudo", "taskset",
    "time", "timeout",
];

/// Returns the words from the program on that a command runs in the end, and none where it only redirects or assigns.
fn behind(mut words: &[String]) -> &[String] {
    while let [first, rest @ ..] = words {
        if !BEFORE.contains(&base(first)) {
            break;
        }
        let is_passed = |word: &String| {
            word.starts_with('-') || word.contains('=') || word.starts_with(|c: char| c.is_ascii_digit())
        };
        let passed = rest.iter().take_while(|word| is_passed(word)).count();
        let behind = rest.get(passed..).unwrap_or_default();
        if behind.is_empty() {
            break;
        }
        words = behind;
    }
    words
}

/// Returns the program of these words, where it may be the one that is measured.
pub(super) fn measured(words: &[String]) -> Option<&str> {
    let words = behind(words);
    let first = base(words.first()?);
    let is_beside = BESIDE.contains(&first) || (BEFORE.contains(&first) && words.len() == 1);
    (!is_beside).then_some(first)
}

/// Returns the name of a program without its folder.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(word)
}
