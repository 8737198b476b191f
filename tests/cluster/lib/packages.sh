# shellcheck shell=bash
# What the machine must have: root on Linux, control groups to write, and a few Debian packages.

# program=package, the program by its name in PATH or by its file.
declare -A needed=(
    [containerd]=containerd [ctr]=containerd [runc]=runc [ip]=iproute2 [openssl]=openssl [busybox]=busybox-static
    [iptables]=iptables [python3]=python3-minimal [nsenter]=util-linux [flock]=util-linux
)

# Sets `cni`, the folder of the network plugins, where one has them all.
find_cni() {
    local folder
    cni=
    for folder in /usr/lib/cni /opt/cni/bin; do
        [[ ! -x $folder/bridge || ! -x $folder/host-local || ! -x $folder/loopback ]] || cni=$folder
    done
    [[ -n $cni ]]
}

missing_packages() {
    local program
    for program in "${!needed[@]}"; do
        has "$program" || printf '%s\n' "${needed[$program]}"
    done
    find_cni || echo containernetworking-plugins
    is_static "$(command -v busybox)" || echo busybox-static
}

is_static() {
    [[ -n $1 ]] && ! ldd "$1" >/dev/null 2>&1
}

install_packages() {
    local missing=("$@")
    has apt-get || skip "the packages ${missing[*]} are missing, and there is no \`apt-get\` to install them with"
    say "installing ${missing[*]}"
    mkdir -p "$cache"
    export DEBIAN_FRONTEND=noninteractive
    # A package's own service must not start beside the one of the test cluster.
    local policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
        # shellcheck disable=SC2064
        trap "rm -f $policy" RETURN
    fi
    {
        apt-get install -y --no-install-recommends "${missing[@]}" ||
            { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; }
    } >"$cache/apt.log" 2>&1 || skip "apt-get cannot install ${missing[*]}; see $cache/apt.log"
}

# Ends with status 3 where the machine cannot run the cluster.
require_machine() {
    local missing
    [[ $(uname -s) == Linux ]] || skip 'the test cluster needs Linux; elsewhere give a cluster by KUBECONFIG (README.md)'
    [[ $(id -u) -eq 0 ]] || skip 'the test cluster needs root for containers and addresses'
    [[ -w /sys/fs/cgroup && -n $(control_groups) ]] || skip 'the test cluster needs /sys/fs/cgroup writable'
    ! contains argocd "$@" || needed[redis-server]=redis-server
    ! contains git "$@" || needed[git]=git
    mapfile -t missing < <(missing_packages | sort -u)
    if [[ ${#missing[@]} -gt 0 ]]; then
        install_packages "${missing[@]}"
    fi
    find_cni || skip 'there are no network plugins (bridge, host-local, loopback) in /usr/lib/cni or /opt/cni/bin'
}
