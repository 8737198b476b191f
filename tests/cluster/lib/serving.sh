# shellcheck shell=bash
# KServe without Knative: an InferenceService becomes a Deployment and a Service.

define_kserve() {
    define kserve "$(kept kserve)"/manifests/*.yaml
}

ensure_kserve() {
    is_alive kserve && return 0
    kubectl create namespace kserve --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    # There is nothing here that would carry out an Ingress.
    sed -e 's/"defaultDeploymentMode": "Serverless"/"defaultDeploymentMode": "Standard"/' \
        -e 's/"disableIngressCreation": false/"disableIngressCreation": true/' \
        "$(kept kserve)/configmap/inferenceservice.yaml" | kubectl apply -f - >/dev/null
    ensure_judge kserve kserve kserve-webhook-server-service 9449 \
        "$(kept kserve)/bin/kserve" --webhook-port 9449 --metrics-addr 0 --health-probe-addr :8097
}

kserve_is_ready() {
    answers http://127.0.0.1:8097/readyz
}
