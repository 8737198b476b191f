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
    ensure_webhook_keys
    operator_service kubeflow training-operator 9443 | kubectl apply -f - >/dev/null
    kubectl -n kubeflow create secret generic training-operator-webhook-cert --dry-run=client -o yaml \
        --from-file="$run/webhook/keys" | kubectl apply -f - >/dev/null
    webhooks | kubectl apply -f - >/dev/null
    MY_POD_NAMESPACE=kubeflow KUBECONFIG=$run/kubeconfig ensure_operator training-operator \
        "$(kept training-operator)/bin/training-operator" --webhook-service-name=training-operator \
        --webhook-server-port=9443 --metrics-bind-address=0 --health-probe-bind-address=:8091 \
        --pytorch-init-container-image=busybox:1 --pytorch-init-container-template-file="$cluster/lib/pytorch-init.yaml" \
        --kube-api-qps=100 --kube-api-burst=200 "${schemes[@]}"
}

training-operator_is_ready() {
    answers "http://127.0.0.1:8091/readyz"
}

define_training-operator() {
    local one definitions=()
    for one in "$(kept training-operator)"/manifests/kubeflow.org_*.yaml; do
        [[ $one == *mpijobs* && -e $run/with/mpi-operator ]] || definitions+=("$one")
    done
    define training-operator "${definitions[@]}"
}

define_mpi-operator() {
    # A definition cannot lose the version in which objects may be kept, so the other operator's goes first.
    [[ -e $run/defined/mpi-operator || ! -e $run/defined/training-operator ]] ||
        kubectl delete customresourcedefinition mpijobs.kubeflow.org --ignore-not-found >/dev/null
    define mpi-operator "$(kept mpi-operator)"/manifests/*.yaml
}

# In a pod the operator makes these itself, and they come back to it as a mounted Secret. Here it finds them ready, and
# keeps them where the authority bears the name and its key the form that it expects.
ensure_webhook_keys() {
    local folder=$run/webhook/keys
    if [[ ! -e $folder/tls.crt ]]; then
        mkdir -p "$folder"
        chmod 700 "$folder"
        authority "$folder" training-operator-ca
        openssl rsa -traditional -in "$folder/ca.key" -out "$folder/ca.key" 2>/dev/null
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
    kubectl create namespace mpi-operator --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    KUBEFLOW_NAMESPACE='' ensure_operator mpi-operator "$(kept mpi-operator)/bin/mpi-operator" -kubeConfig "$run/kubeconfig" -alsologtostderr \
        -lock-namespace mpi-operator -kube-api-qps 100 -kube-api-burst 200
}

mpi-operator_is_ready() {
    answers http://127.0.0.1:8080/healthz
}
