# shellcheck shell=bash
# The cluster itself: etcd, the API server, its controllers, the scheduler, containerd, kubelet and DNS.

node=kubebench-node

kubectl() {
    "$(kept kubernetes)/bin/kubectl" --kubeconfig "$run/kubeconfig" "$@"
}

# Applies the definitions of component $1 that stand in the files $2… and waits until the API serves them. Once: each
# costs the API server a second.
define() {
    local name=$1
    shift
    [[ ! -e $run/defined/$name ]] || return 0
    kubectl apply --server-side --force-conflicts "${@/#/--filename=}" >/dev/null
    # A definition without any condition yet is an error to `kubectl wait`.
    await 60 "definitions of $name" kubectl wait --for=condition=Established --timeout=10s "${@/#/--filename=}"
    mkdir -p "$run/defined"
    touch "$run/defined/$name"
}

ensure_base() {
    ensure_address "$api"
    ensure_address "$dns"
    ensure_bridge
    ensure_operators_namespace
    ensure_keys
    ensure_etcd
    ensure_containerd
    ensure_apiserver
    # Images go in while the API server starts.
    import_images "$@" &
    local import=$!
    await 60 'answer of the API server' kubectl get --raw /readyz
    define_all &
    local definitions=$!
    ensure_controllers
    ensure_kubelet
    ensure_dns
    wait "$definitions" || die 'the definitions of a component cannot be installed'
    wait "$import" || die 'an image cannot be imported'
    await 60 'ready node' node_is_ready
    kubectl get storageclass standard >/dev/null 2>&1 || kubectl apply -f "$cluster/lib/storage.yaml" >/dev/null
    await 30 'service account of the namespace default' kubectl -n default get serviceaccount default
}

# What is asked for is defined while the rest of the cluster starts.
define_all() {
    local mark name
    for mark in "$run"/with/*; do
        name=$(basename "$mark")
        ! declare -F "define_$name" >/dev/null || "define_$name"
    done
}

node_is_ready() {
    [[ $(kubectl get node "$node" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}') == True ]]
}

ensure_etcd() {
    local client peer
    client=http://$inner:$(port etcd) peer=http://$inner:$(port etcd-peer)
    # What it holds need not survive a loss of power, so it does not wait for the disk.
    ensure etcd "$(kept etcd)/bin/etcd" --data-dir "$run/etcd" --unsafe-no-fsync --log-level warn \
        --listen-client-urls "$client" --advertise-client-urls "$client" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
}

ensure_apiserver() {
    is_alive kube-apiserver && return 0
    require_port "$api" 443
    ensure kube-apiserver "$(kept kubernetes)/bin/kube-apiserver" --v=1 \
        --etcd-servers="http://$inner:$(port etcd)" \
        --bind-address="$api" --secure-port=443 --advertise-address="$api" --service-cluster-ip-range="$services" \
        --feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true \
        --endpoint-reconciler-type=none --enable-aggregator-routing=true --allow-privileged=true \
        --kubelet-preferred-address-types=InternalIP --kubelet-certificate-authority="$run/keys/ca.crt" \
        --kubelet-client-certificate="$run/keys/kubelet-client.crt" --kubelet-client-key="$run/keys/kubelet-client.key" \
        --tls-cert-file="$run/keys/apiserver.crt" --tls-private-key-file="$run/keys/apiserver.key" \
        --token-auth-file="$run/keys/tokens.csv" --authorization-mode=Node,RBAC \
        --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$run/keys/service-accounts.key" \
        --service-account-signing-key-file="$run/keys/service-accounts.key"
}

ensure_controllers() {
    ensure kube-controller-manager "$(kept kubernetes)/bin/kube-controller-manager" --v=1 --kubeconfig="$run/kubeconfig" \
        --bind-address="$inner" --secure-port="$(port controller-manager)" --leader-elect=false \
        --root-ca-file="$run/keys/ca.crt" --service-account-private-key-file="$run/keys/service-accounts.key" \
        --use-service-account-credentials --enable-hostpath-provisioner=true --controllers='*,-nodeipam'
    ensure kube-scheduler "$(kept kubernetes)/bin/kube-scheduler" --v=1 --kubeconfig="$run/kubeconfig" \
        --bind-address="$inner" --secure-port="$(port scheduler)" --leader-elect=false
    ensure services python3 "$cluster/lib/services" "$(kept kubernetes)/bin/kubectl" "$run/kubeconfig"
    ensure volumes bash "$cluster/lib/volumes" "$(kept kubernetes)/bin/kubectl" "$run/kubeconfig"
}

ensure_kubelet() {
    cat >"$run/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $api
port: $(port kubelet)
healthzPort: 0
containerRuntimeEndpoint: unix://$state/containerd/containerd.sock
tlsCertFile: $run/keys/kubelet.crt
tlsPrivateKeyFile: $run/keys/kubelet.key
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $run/keys/ca.crt}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /$group
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: []
makeIPTablesUtilChains: false
clusterDNS: [$dns]
clusterDomain: cluster.local
resolvConf: ""
podLogsDir: $run/log/pods
volumePluginDir: $run/kubelet-volume-plugins
evictionHard: {memory.available: 50Mi}
imageGCHighThresholdPercent: 100
localStorageCapacityIsolation: false
END
    ensure kubelet "$(kept kubernetes)/bin/kubelet" --v=2 --config="$run/kubelet.yaml" --kubeconfig="$run/kubeconfig" \
        --hostname-override="$node" --node-ip="$api"
}

ensure_dns() {
    cat >"$run/Corefile" <<END
cluster.local in-addr.arpa {
    bind $dns
    errors
    kubernetes {
        kubeconfig $run/kubeconfig
        ttl 1
    }
}
. {
    bind $dns
    errors
    template ANY ANY {
        rcode NXDOMAIN
    }
}
END
    is_alive coredns || require_port "$dns" 53
    ensure coredns "$(kept coredns)/bin/coredns" -conf "$run/Corefile"
}
