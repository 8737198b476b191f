# shellcheck shell=bash
# One cluster a machine, since its addresses are one: whose it is, and that two scripts do not change it at once.

# Held until the script ends. The lock is on the folder itself, so that nothing is left behind.
lock() {
    exec 9</run
    flock --nonblock 9 && return 0
    say "waiting for another up or down of the test cluster"
    flock 9
}

owner() {
    cat "$state/owner" 2>/dev/null
}

# The folder of the running cluster's files, which may be that of another checkout or user.
adopt() {
    [[ ! -e $state/run ]] || run=$(<"$state/run")
}

# Ends where another checkout's cluster is up.
refuse_foreign() {
    [[ ! -e $state/owner || $(owner) == "$checkout" ]] ||
        die "the test cluster of $(owner) is up on this machine, and there can be one; take it down first with \`$(owner)/tests/cluster/down\`"
}

# Takes the machine for this checkout.
claim() {
    refuse_foreign
    if [[ -e $state/owner ]]; then
        adopt
        return 0
    fi
    ! has_address "$api" ||
        die "$api is an address of this machine already, and not by the test cluster; it needs that address for itself"
    ! ip link show "$bridge" >/dev/null 2>&1 || die "the network device $bridge exists already"
    rm -rf "$run"
    mkdir -p "$state" "$run"
    chmod 700 "$run"
    echo "$run" >"$state/run"
    echo "$checkout" >"$state/owner"
}

# Marks a component as wanted. What another has to be started anew for is stopped here.
add() {
    [[ ! -e $run/with/$1 ]] || return 0
    touch "$run/with/$1"
    # The two operators divide the MPIJobs by which of them is there.
    [[ $1 != mpi-operator ]] || stop training-operator
}

await_component() {
    declare -F "$1_is_ready" >/dev/null || return 0
    await 60 "readiness of $1" "$1_is_ready"
}
