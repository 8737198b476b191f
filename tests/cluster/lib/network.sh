# shellcheck shell=bash
# The cluster's addresses: on `lo` of this machine, added here and removed by `down`, and reached by pods over the bridge.

api=10.96.0.1
dns=10.96.0.10
git_host=10.96.0.20
services=10.96.0.0/16
pods=10.97.0.0/16
gateway=10.97.0.1
bridge=kubebench0

# Operators listen on all addresses at ports of their own choice, so they have a network namespace beside the pods'.
operators=10.97.0.2

# Everything else listens on loopback, on an address that only a listener on all addresses could take ports of.
inner=127.96.0.1

has_address() {
    [[ -n $(ip -o address show to "$1/32") ]]
}

ensure_address() {
    has_address "$1" && return 0
    echo "$1" >>"$state/addresses"
    ip address add "$1/32" dev lo
}

# Prints the named port of the cluster: a free one, found the first time it is asked for.
port() {
    local file=$run/ports/$1
    if [[ ! -e $file ]]; then
        mkdir -p "$run/ports"
        python3 -c 'import socket, sys
one = socket.socket()
one.bind((sys.argv[1], 0))
print(one.getsockname()[1])' "$inner" >"$file.new"
        mv "$file.new" "$file"
    fi
    cat "$file"
}

# A port of ours must be free before its server starts; who holds it is said, else one searches long.
require_port() {
    python3 -c 'import socket, sys
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
one.bind((sys.argv[1], int(sys.argv[2])))' "$1" "$2" 2>/dev/null ||
        die "port $2 of $1 is taken by a program that listens on all addresses; \`ss -ltnp\` names it"
}

# Whether an HTTP server of an operator says that all is well at the address $1.
answers() {
    in_operators_network \
        python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$1"
}

# Whether something listens at the address $1, port $2.
listens() {
    python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)' "$1" "$2"
}

# Pods reach this machine through the bridge; the plugin turns forwarding on, so what it was is kept.
configure_pod_network() {
    [[ -e $state/ip_forward ]] || cat /proc/sys/net/ipv4/ip_forward >"$state/ip_forward"
    mkdir -p "$run/cni" "$run/cni-addresses"
    cat >"$run/cni/10-kubebench.conflist" <<END
{
  "cniVersion": "0.4.0",
  "name": "kubebench",
  "plugins": [
    {
      "type": "bridge", "bridge": "$bridge", "isGateway": true, "ipMasq": false, "hairpinMode": true,
      "ipam": {
        "type": "host-local", "dataDir": "$run/cni-addresses",
        "ranges": [[{"subnet": "$pods", "rangeStart": "10.97.0.10"}]], "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "loopback"}
  ]
}
END
}

ensure_bridge() {
    ip link show "$bridge" >/dev/null 2>&1 && return 0
    # With an address of its own: else it takes that of a port and another one when ports come and go, and pods lose
    # the way to this machine until they ask again, half a minute later.
    ip link add "$bridge" address 0a:58:0a:61:00:01 type bridge
    ip address add "$gateway/16" dev "$bridge"
    ip link set "$bridge" up
}

ensure_operators_namespace() {
    local pid mark
    is_alive operators && return 0
    # What lives in an old one whose holder was killed moves to the new one.
    for mark in "$run"/operators/*; do
        [[ ! -e $mark ]] || stop "$(basename "$mark")"
    done
    ensure operators unshare --net sleep infinity
    await 5 'network namespace' is_unshared operators net
    pid=$(process_id operators)
    ip link delete kubebench-op 2>/dev/null || true
    ip link add kubebench-op type veth peer name eth0 netns "$pid"
    ip link set kubebench-op master "$bridge" up
    in_operators_network ip address add "$operators/16" dev eth0
    in_operators_network ip link set eth0 up
    in_operators_network ip link set lo up
    in_operators_network ip route add default via "$gateway"
}

in_operators_network() {
    nsenter --target "$(process_id operators)" --net -- "$@"
}

# As `ensure`, for a process that listens on all addresses.
ensure_operator() {
    local name=$1
    shift
    mkdir -p "$run/operators"
    touch "$run/operators/$name"
    ensure "$name" nsenter --target "$(process_id operators)" --net -- "$@"
}

remove_network() {
    local link address
    # Those of lib/services.
    iptables -w -t nat -D PREROUTING -j KUBEBENCH-SERVICES 2>/dev/null || true
    iptables -w -t nat -D OUTPUT -j KUBEBENCH-SERVICES 2>/dev/null || true
    iptables -w -t nat -D POSTROUTING -s "$pods" -d "$pods" -m conntrack --ctstate DNAT -j MASQUERADE 2>/dev/null || true
    iptables -w -t nat -F KUBEBENCH-SERVICES 2>/dev/null || true
    iptables -w -t nat -X KUBEBENCH-SERVICES 2>/dev/null || true
    for link in $(ip -o link show master "$bridge" 2>/dev/null | cut -d: -f2 | cut -d@ -f1); do
        ip link delete "$link" 2>/dev/null || true
    done
    ip link delete "$bridge" 2>/dev/null || true
    if [[ -e $state/addresses ]]; then
        while read -r address; do
            ip address delete "$address/32" dev lo 2>/dev/null || true
        done <"$state/addresses"
    fi
    [[ ! -e $state/ip_forward ]] || cat "$state/ip_forward" >/proc/sys/net/ipv4/ip_forward
}
