# shellcheck shell=bash
# The operators of Kubeflow's jobs. Both define `mpijobs.kubeflow.org`: with mpi-operator it is v2beta1 and the training
# operator leaves MPIJobs alone, as their manuals ask; without, it is v1.

ensure_training-operator() {
    local schemes=() kind
    is_alive training-operator && return 0
    if [[ -e $run/with/mpi-operator ]]; then
        for kind in tfjob pytorchjob xgboostjob paddlejob jaxjob; do
            schemes+=("--enable-scheme=$kind")
        done
    fi
    install_kubeflow_definitions
    ensure_webhook_keys
    sed "s/WEBHOOK_PORT/$(port training-webhook)/" "$cluster/lib/training-operator.yaml" | kubectl apply -f - >/dev/null
    kubectl -n kubeflow create secret generic training-operator-webhook-cert --dry-run=client -o yaml \
        --from-file="$run/webhook/keys" | kubectl apply -f - >/dev/null
    webhooks | kubectl apply -f - >/dev/null
    MY_POD_NAMESPACE=kubeflow KUBECONFIG=$run/kubeconfig ensure training-operator \
        "$(kept training-operator)/bin/training-operator" --webhook-service-name=training-operator \
        --webhook-server-port="$(port training-webhook)" --metrics-bind-address=0 \
        --health-probe-bind-address="$inner:$(port training-health)" --pytorch-init-container-image=busybox:1 \
        --kube-api-qps=100 --kube-api-burst=200 "${schemes[@]}"
}

training-operator_is_ready() {
    python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])' \
        "http://$inner:$(port training-health)/readyz"
}

install_kubeflow_definitions() {
    local definitions
    mapfile -t definitions < <(ls "$(kept training-operator)"/manifests/kubeflow.org_*.yaml)
    if [[ -e $run/with/mpi-operator ]]; then
        mapfile -t definitions < <(printf '%s\n' "${definitions[@]}" | grep -v mpijobs)
    fi
    install_manifests "${definitions[@]}"
}

# The operator makes these itself in a pod, where they come back to it as a mounted Secret; here it finds them ready.
ensure_webhook_keys() {
    local folder=$run/webhook/keys
    if [[ ! -e $folder/tls.crt ]]; then
        mkdir -p "$folder"
        chmod 700 "$folder"
        authority "$folder" /O=training-operator/CN=training-operator-ca
        sign "$folder" tls /CN=training-operator.kubeflow.svc \
            $'subjectAltName=DNS:training-operator.kubeflow.svc\nextendedKeyUsage=serverAuth'
        rm -f "$folder"/*.csr "$folder"/*.srl
    fi
    mkdir -p "$run/webhook/serving-certs"
    cp "$folder"/* "$run/webhook/serving-certs/"
}

# The module's own webhooks under the names that its kustomization gives them.
webhooks() {
    sed -e 's/name: validating-webhook-configuration/name: validator.training-operator.kubeflow.org/' \
        -e 's/name: webhook-service/name: training-operator/' -e 's/namespace: system/namespace: kubeflow/' \
        "$(kept training-operator)/manifests/manifests.yaml"
}

ensure_mpi-operator() {
    is_alive mpi-operator && return 0
    install_manifests "$(kept mpi-operator)/manifests"
    kubectl create namespace mpi-operator --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    ensure mpi-operator "$(kept mpi-operator)/bin/mpi-operator" -kubeConfig "$run/kubeconfig" -alsologtostderr \
        -lock-namespace mpi-operator -kube-api-qps 100 -kube-api-burst 200
}
