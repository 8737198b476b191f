# shellcheck shell=bash
# Where things are, and how a script ends. Every script of this folder reads this file first.
#
# Exit status: 0 done, 1 failed, 2 asked wrongly, 3 skipped because something that the machine lacks is named.

cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checkout=$(cd "$cluster/../.." && pwd)
cache=${KUBEBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kubebench}/cluster

# What a running cluster consists of: files in `run`, sockets and the owner's name in `state` (short paths, gone after a
# reboot as the processes are), processes and containers in the control group `group`.
run=$cache/run
state=/run/kubebench-cluster
group=kubebench-cluster

components=(etcd kubernetes coredns pause argo training-operator mpi-operator jobset trainer kueue kuberay kserve flux argocd)
extras=(argo training-operator mpi-operator jobset trainer kueue kuberay kserve flux argocd git)

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "error: $*"
    exit 1
}

wrong() {
    say "error: $*"
    exit 2
}

skip() {
    say "SKIPPED: $*"
    exit 3
}

has() {
    command -v "$1" >/dev/null
}

contains() {
    local wanted=$1 one
    shift
    for one in "$@"; do
        [[ $one != "$wanted" ]] || return 0
    done
    return 1
}

# Prints the header of the script $1 as its help.
usage() {
    sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$1"
}

# Waits up to $1 seconds until the command in $3… succeeds; $2 says what is waited for.
await() {
    local seconds=$1 what=$2 deadline
    shift 2
    deadline=$((SECONDS + seconds))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)); then
            say "error: no $what within $seconds s; logs are in $run/log"
            return 1
        fi
        read -rt 0.1 <> <(:) || true
    done
}
