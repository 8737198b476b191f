# shellcheck shell=bash
# Starts and stops processes by recorded ids. All of them, and the shims and containers that they start, live in one
# control group and one mount namespace, so that nothing is lost when any of them is killed.

# Prints the folders that hold control groups: each controller's of version 1, and the one of version 2.
control_groups() {
    local folder
    if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
        echo /sys/fs/cgroup
        return
    fi
    for folder in /sys/fs/cgroup/*/; do
        [[ ! -e $folder/cgroup.procs ]] || realpath "$folder"
    done | sort -u
}

# The processes of the host are kept together in the hierarchy that no container leaves by itself.
host_group() {
    local folder
    for folder in /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup/pids /sys/fs/cgroup; do
        if [[ -e $folder/cgroup.procs ]]; then
            echo "$folder/$group/host"
            return
        fi
    done
}

make_groups() {
    local folder file
    while read -r folder; do
        if [[ -e $folder/cgroup.controllers && -e $folder/cgroup.subtree_control ]]; then
            delegate "$folder"
        fi
        mkdir -p "$folder/$group"
        for file in cpuset.cpus cpuset.mems; do
            # Version 1 starts a group without any processor or memory node.
            if [[ -e $folder/$group/$file && -z $(<"$folder/$group/$file") && ! -e $folder/cgroup.controllers ]]; then
                cat "$folder/$file" >"$folder/$group/$file"
            fi
        done
        if [[ -e $folder/cgroup.controllers ]]; then
            delegate "$folder/$group"
        fi
        prefer "$folder/$group"
    done < <(control_groups)
    mkdir -p "$(host_group)"
}

# Ten times the usual weight, in the words of either version: what is compiled beside the cluster has no deadline.
prefer() {
    [[ ! -e $1/cpu.shares ]] || echo 10240 >"$1/cpu.shares"
    [[ ! -e $1/cpu.weight ]] || echo 1000 >"$1/cpu.weight"
}

# Version 2: children get the controllers that the parent hands on.
delegate() {
    local controller
    for controller in $(<"$1/cgroup.controllers"); do
        echo "+$controller" >"$1/cgroup.subtree_control" 2>/dev/null || true
    done
}

group_processes() {
    local folder
    while read -r folder; do
        [[ ! -d $folder/$group ]] || find "$folder/$group" -name cgroup.procs -exec cat {} + 2>/dev/null || true
    done < <(control_groups) | sort -un
}

# Fails while a process that was killed is still on its way out.
remove_groups() {
    local folder left=0
    while read -r folder; do
        [[ -d $folder/$group ]] || continue
        find "$folder/$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
        [[ ! -d $folder/$group ]] || left=1
    done < <(control_groups)
    return "$left"
}

# The time a process started, in ticks since boot: with it an id names one process for ever.
started_at() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # The second field is the name and may hold blanks and parentheses.
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    [[ $1 != Z ]] && printf '%s\n' "${20}"
}

is_alive() {
    local pid start
    [[ -e $run/pids/$1 ]] && read -r pid start <"$run/pids/$1" || return 1
    [[ $(started_at "$pid") == "$start" ]]
}

# Runs the rest of the arguments in the cluster's mount namespace, with their output in log/NAME.log.
start() {
    local name=$1
    shift
    [[ $name == namespace ]] || set -- nsenter --target "$(process_id namespace)" --mount -- "$@"
    # The lock of `up` (9) must not live on in what it starts.
    setsid --fork bash "$cluster/lib/enter" "$(host_group)" "$run/pids/$name" "$@" \
        </dev/null >>"$run/log/$name.log" 2>&1 9>&-
    await 5 "$name" test -e "$run/pids/$name"
}

# Starts NAME unless it runs.
ensure() {
    is_alive "$1" && return 0
    rm -f "$run/pids/$1"
    start "$@"
}

stop() {
    local pid start
    is_alive "$1" || return 0
    read -r pid start <"$run/pids/$1"
    kill "$pid" 2>/dev/null || true
    await 10 "end of $1" is_gone "$1" || kill -9 "$pid" 2>/dev/null || true
    rm -f "$run/pids/$1"
}

is_gone() {
    ! is_alive "$1"
}

process_id() {
    cut -d' ' -f1 "$run/pids/$1"
}

# Paths that the programs have built in are folders of `run` inside the namespace; `down` removes the empty places of
# those that were not there before.
declare -A bound=(
    [/var/lib/kubelet]=kubelet [/var/lib/cni]=cni-state [/var/log/containers]=log/containers
    [/run/containerd]=containerd-shims [/tmp/hostpath_pv]=volumes [/tmp/k8s-webhook-server]=webhook
)

ensure_namespace() {
    local place
    is_alive namespace && return 0
    [[ ! -e $run/pids/namespace ]] ||
        die 'the process that held the mount namespace of the cluster was killed; run `tests/cluster/down` and start anew'
    for place in "${!bound[@]}"; do
        [[ -d $place ]] || echo "$place" >>"$state/folders"
        mkdir -p "$place" "$run/${bound[$place]}"
    done
    ensure namespace unshare --mount --propagation private sleep infinity
    await 5 'mount namespace' is_unshared namespace mnt
    nsenter --target "$(process_id namespace)" --mount mount --make-rshared /
    for place in "${!bound[@]}"; do
        nsenter --target "$(process_id namespace)" --mount mount --bind "$run/${bound[$place]}" "$place"
    done
}

# Whether the process $1 has a namespace of kind $2 of its own by now.
is_unshared() {
    [[ $(readlink "/proc/$(process_id "$1")/ns/$2") != "$(readlink "/proc/self/ns/$2")" ]]
}
