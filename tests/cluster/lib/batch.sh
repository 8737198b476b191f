# shellcheck shell=bash
# The controllers of what runs in batches: JobSet, Kubeflow Trainer on top of it, Kueue before all of them, and KubeRay.

define_jobset() {
    define jobset "$(kept jobset)"/manifests/*.yaml
}

ensure_jobset() {
    ensure_judge jobset jobset-system jobset-webhook-service 9444 \
        "$(kept jobset)/bin/jobset" --config "$cluster/lib/jobset.yaml"
}

jobset_is_ready() {
    answers http://127.0.0.1:8092/readyz
}

define_trainer() {
    define trainer "$(kept trainer)"/manifests/*.yaml
}

ensure_trainer() {
    ensure_judge trainer kubeflow-system kubeflow-trainer-controller-manager 9445 \
        "$(kept trainer)/bin/trainer-controller-manager" --config "$cluster/lib/trainer.yaml"
}

trainer_is_ready() {
    answers http://127.0.0.1:8093/readyz
}

define_kueue() {
    define kueue "$(kept kueue)"/manifests/*.yaml
}

# It reads the keys of its metrics below /etc even where these are off, so it has an /etc of its own with nothing else.
ensure_kueue() {
    local etc=$run/webhooks/kueue/etc
    mkdir -p "$etc/kueue/metrics"
    ln -sfn "$run/webhooks/kueue/k8s-webhook-server/serving-certs" "$etc/kueue/metrics/certs"
    # shellcheck disable=SC2016
    ensure_judge kueue kueue-system kueue-webhook-service 9446 \
        unshare --mount -- sh -ec 'mount --bind "$0" /etc; exec "$@"' "$etc" \
        "$(kept kueue)/bin/kueue" --config "$cluster/lib/kueue.yaml"
}

kueue_is_ready() {
    answers http://127.0.0.1:8094/readyz
}

# Of kinds that Kueue is not told to queue its program has no webhook, and the API server would refuse them all.
kueue_patches() {
    local prefix kind deleted
    for prefix in Mutating Validating; do
        deleted=
        for kind in appwrapper deployment jaxjob leaderworkerset mpijob paddlejob pod raycluster rayjob rayservice \
            sparkapplication statefulset tfjob xgboostjob; do
            deleted+="{\$patch: delete, name: ${prefix:0:1}$kind.kb.io}, "
        done
        echo "{patch: '{apiVersion: admissionregistration.k8s.io/v1, kind: ${prefix}WebhookConfiguration," \
            "metadata: {name: ${prefix,}-webhook-configuration}, webhooks: [${deleted,,}]}'}"
    done
}

define_kuberay() {
    define kuberay "$(kept kuberay)"/manifests/*.yaml
}

ensure_kuberay() {
    # Outside of the pods' network it reaches Ray's dashboard through the API server.
    KUBECONFIG=$run/kubeconfig ensure_operator kuberay "$(kept kuberay)/bin/ray-operator" --enable-leader-election=false \
        --use-kubernetes-proxy --metrics-addr=0 --health-probe-bind-address=:8095
}

kuberay_is_ready() {
    answers http://127.0.0.1:8095/readyz
}
