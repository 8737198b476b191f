//! Which command of a script may be the one that is measured.

/// The shells' own commands, and tools that look, print, filter text, arrange files, wait, end processes, install or fetch. Nobody
/// measures them, and what they should have prepared is missed by the program that needs it.
const BESIDE: [&str; 204] = [
    ".",
    ":",
    "[",
    "alias",
    "apk",
    "apt",
    "apt-get",
    "aria2c",
    "awk",
    "base64",
    "basename",
    "bc",
    "bg",
    "bind",
    "break",
    "builtin",
    "bzip2",
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
    "dd",
    "declare",
    "df",
    "diff",
    "dig",
    "dirname",
    "dirs",
    "disown",
    "dmesg",
    "dnf",
    "dos2unix",
    "dpkg",
    "du",
    "dvc",
    "echo",
    "egrep",
    "enable",
    "env",
    "envsubst",
    "eval",
    "exit",
    "export",
    "expr",
    "fallocate",
    "false",
    "fg",
    "fgrep",
    "file",
    "find",
    "free",
    "gawk",
    "gcloud",
    "getconf",
    "getent",
    "getopts",
    "git",
    "grep",
    "gsutil",
    "gunzip",
    "gzip",
    "hash",
    "head",
    "help",
    "history",
    "host",
    "hostname",
    "ibstat",
    "ibv_devinfo",
    "id",
    "ifconfig",
    "install",
    "ip",
    "jobs",
    "jq",
    "kaggle",
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
    "mamba",
    "mapfile",
    "mc",
    "md5sum",
    "microdnf",
    "micromamba",
    "mkdir",
    "mkfifo",
    "mktemp",
    "modprobe",
    "module",
    "more",
    "mount",
    "mountpoint",
    "mv",
    "nc",
    "nproc",
    "nslookup",
    "nvcc",
    "nvidia-smi",
    "pgrep",
    "ping",
    "pip",
    "pip3",
    "pkill",
    "popd",
    "printenv",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "rclone",
    "read",
    "readarray",
    "readlink",
    "readonly",
    "realpath",
    "return",
    "rm",
    "rmdir",
    "rocm-smi",
    "rpm",
    "rsync",
    "s5cmd",
    "scp",
    "sed",
    "seq",
    "service",
    "set",
    "sha256sum",
    "shift",
    "shopt",
    "sleep",
    "sort",
    "source",
    "split",
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
    "tar",
    "tee",
    "test",
    "times",
    "touch",
    "tput",
    "tr",
    "trap",
    "true",
    "truncate",
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
    "unzip",
    "uptime",
    "wait",
    "wait-for-it.sh",
    "wc",
    "wget",
    "which",
    "whoami",
    "xz",
    "yes",
    "yq",
    "yum",
    "zstd",
    "zypper",
];

/// Programs that prepare with these words behind them.
const PREPARES: [(&str, &[&str]); 14] = [
    ("aws", &["s3"]),
    ("hf", &["download"]),
    ("huggingface-cli", &["download"]),
    ("numactl", &["-H"]),
    ("numactl", &["--hardware"]),
    ("python", &["-m", "pip"]),
    ("python", &["-m", "venv"]),
    ("python3", &["-m", "pip"]),
    ("python3", &["-m", "venv"]),
    ("uv", &["add"]),
    ("uv", &["lock"]),
    ("uv", &["pip"]),
    ("uv", &["sync"]),
    ("uv", &["venv"]),
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
    (!is_beside && !prepares(words)).then_some(first)
}

/// Returns true for a program that prepares with these words, or only prints its version or help.
fn prepares(words: &[String]) -> bool {
    let [program, rest @ ..] = words else { return false };
    let begins = |start: &[&str]| rest.len() >= start.len() && start.iter().zip(rest).all(|(one, other)| one == other);
    PREPARES.iter().any(|(name, start)| *name == base(program) && begins(start))
        || matches!(rest, [only] if matches!(only.as_str(), "--version" | "-V" | "--help"))
}

/// Returns the name of a program without its folder.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(word)
}
