# shellcheck shell=bash
# Argo Workflows: its definitions, its settings, and the workflow-controller as a process of this machine.

define_argo() {
    define argo "$(kept argo)"/manifests/*.yaml
}

ensure_argo() {
    if ! is_alive workflow-controller; then
        kubectl apply -f "$cluster/lib/argo.yaml" >/dev/null
        # A controller waits 10 s between two looks at a workflow, which is most of the time of a small one.
        LEADER_ELECTION_DISABLE=true DEFAULT_REQUEUE_TIME=2s start_argo
    fi
}

start_argo() {
    ensure_operator workflow-controller "$(kept argo)/bin/workflow-controller" --kubeconfig "$run/argo.kubeconfig" \
        --namespace argo --configmap workflow-controller-configmap --executor-image localhost/argoexec:1 \
        --executor-image-pull-policy IfNotPresent --qps 100 --burst 200 --loglevel info
}

argo_is_ready() {
    answers http://127.0.0.1:6060/healthz
}
