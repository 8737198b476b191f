# shellcheck shell=bash
# Flux and Argo CD: the controllers that bring a git repository into the cluster, as processes of this machine.

define_flux() {
    define flux "$(kept flux)"/manifests/*.yaml
}

ensure_flux() {
    if ! is_alive source-controller || ! is_alive kustomize-controller; then
        kubectl create namespace flux-system --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    fi
    mkdir -p "$run/flux"
    RUNTIME_NAMESPACE=flux-system KUBECONFIG=$run/kubeconfig HOME=$run/flux ensure_operator source-controller \
        "$(kept flux)/bin/source-controller" --storage-path="$run/flux" --storage-addr=127.0.0.1:9790 \
        --storage-adv-addr=127.0.0.1:9790 --enable-leader-election=false --events-addr= \
        --metrics-addr=0 --health-addr=127.0.0.1:9440
    RUNTIME_NAMESPACE=flux-system KUBECONFIG=$run/kubeconfig HOME=$run/flux ensure_operator kustomize-controller \
        "$(kept flux)/bin/kustomize-controller" --enable-leader-election=false --events-addr= \
        --metrics-addr=0 --health-addr=127.0.0.1:9441 --requeue-dependency=2s
}

flux_is_ready() {
    answers http://127.0.0.1:9440/readyz && answers http://127.0.0.1:9441/readyz
}

define_argocd() {
    define argocd "$(kept argocd)"/manifests/*.yaml
}

ensure_argocd() {
    if ! is_alive argocd-application-controller; then
        kubectl apply -f "$cluster/lib/argocd.yaml" >/dev/null
        kubectl -n argocd get secret argocd-secret >/dev/null 2>&1 ||
            kubectl -n argocd create secret generic argocd-secret --from-literal="server.secretkey=$(token)" >/dev/null
        kubectl -n argocd label --overwrite secret argocd-secret app.kubernetes.io/part-of=argocd >/dev/null
    fi
    mkdir -p "$run/argocd"
    ensure_operator redis "$(command -v redis-server)" --bind 127.0.0.1 --port 6379 --save '' --appendonly no \
        --dir "$run/argocd"
    ARGOCD_BINARY_NAME=argocd-repo-server ARGOCD_GPG_ENABLED=false KUBECONFIG=$run/kubeconfig HOME=$run/argocd \
        TMPDIR=$run/argocd ensure_operator argocd-repo-server "$(kept argocd)/bin/argocd" --disable-tls \
        --redis 127.0.0.1:6379 --revision-cache-expiration 5s --loglevel info
    await 30 'answer of the repo-server' answers http://127.0.0.1:8084/healthz
    ARGOCD_BINARY_NAME=argocd-application-controller ARGOCD_FAKE_IN_CLUSTER=true KUBECONFIG=$run/kubeconfig \
        HOME=$run/argocd TMPDIR=$run/argocd ensure_operator argocd-application-controller "$(kept argocd)/bin/argocd" \
        --kubeconfig "$run/kubeconfig" --namespace argocd --redis 127.0.0.1:6379 \
        --repo-server 127.0.0.1:8081 --repo-server-plaintext --app-resync 10 --app-resync-jitter 0 --loglevel info
}
