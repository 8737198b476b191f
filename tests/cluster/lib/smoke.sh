# shellcheck shell=bash
# The checks of `smoke`.

succeeds() {
    kubectl -n smoke wait --for="condition=$1" --timeout=120s "${@:2}"
}

smoke_base() {
    make_namespaces
    check 'generated/ is accepted by the API server' accepts_tree
    check 'generated/ is accepted by server-side apply' accepts_tree --server-side
    kubectl -n smoke apply -f "$cluster/data/workflow.yaml" -f "$cluster/data/jobs.yaml" -f "$cluster/data/mpijob.yaml" \
        >/dev/null || failed=1
    check 'a Job completes' succeeds Complete job/plain
    check 'a TFJob with 2 workers succeeds' succeeds Succeeded tfjob/two-workers
    check 'a PyTorchJob finds its master by DNS' rendezvous
    check 'an MPIJob v2beta1 has its hosts' succeeds Succeeded mpijob/hosts
    check 'a Workflow of a WorkflowTemplate writes to a volume' workflow_writes
    check 'a Workflow without a WorkflowTemplate is refused' workflow_is_refused
    check 'the webhook of the training operator refuses a bad job' webhook_refuses
    check 'an image that was not imported fails at once' pull_fails
    check 'a pod reaches the git server' pod_reaches_git
}

fresh_namespace() {
    kubectl delete namespace smoke --ignore-not-found --timeout=90s
    kubectl create namespace smoke
    # Pods of the first second need it.
    until kubectl -n smoke get serviceaccount default; do sleep 0.2; done
}

# The namespaces of the tree, which a dry run cannot make first; those that are made here go at the end.
make_namespaces() {
    local namespace
    while read -r namespace; do
        ! kubectl create namespace "$namespace" >/dev/null 2>&1 || made+=("$namespace")
    done < <(grep -rhoE '^  namespace: \S+' "$checkout/generated" | awk '{print $2}' | sort -u)
}

accepts_tree() {
    kubectl apply --dry-run=server "$@" -R -f "$checkout/generated"
}

rendezvous() {
    succeeds Succeeded pytorchjob/rendezvous
    kubectl -n smoke logs rendezvous-worker-0 | grep 'hello from rank 0 of 2'
}

workflow_writes() {
    succeeds Completed workflow/demo
    [[ $(kubectl -n smoke get workflow demo -o 'jsonpath={.status.phase}') == Succeeded ]]
    kubectl -n smoke logs -l workflows.argoproj.io/workflow=demo -c main | grep 'written by a step'
}

workflow_is_refused() {
    succeeds Completed workflow/forbidden
    kubectl -n smoke get workflow forbidden -o 'jsonpath={.status.phase} {.status.message}' | grep -i 'workflowTemplateRef'
}

webhook_refuses() {
    ! kubectl -n smoke apply -f "$cluster/data/rejected.yaml" >"$work/rejected" 2>&1
    cat "$work/rejected"
    grep 'validator.tfjob.training-operator.kubeflow.org' "$work/rejected"
    grep 'DNS-1035' "$work/rejected"
}

pull_fails() {
    kubectl -n smoke run absent --image=registry.example.com/absent:1
    kubectl -n smoke wait pod/absent --timeout=20s \
        --for='jsonpath={.status.containerStatuses[0].state.waiting.reason}'=ImagePullBackOff
}

# Pushes the files of the folder $1 as the branch `main` of smoke.git.
push() {
    git -C "$1" init --quiet --initial-branch=main 2>/dev/null || true
    git -C "$1" add .
    git -C "$1" -c user.name=smoke -c user.email=smoke@example.com commit --quiet --message change
    git -C "$1" push --quiet --force http://10.96.0.20/smoke.git HEAD:main
}

pod_reaches_git() {
    mkdir -p "$work/reached"
    date >"$work/reached/file"
    push "$work/reached"
    kubectl -n smoke run git --image=busybox:1 --restart=Never -- \
        wget -qO- 'http://10.96.0.20/smoke.git/info/refs?service=git-upload-pack'
    kubectl -n smoke wait pod/git --timeout=30s --for='jsonpath={.status.phase}'=Succeeded
    kubectl -n smoke logs git | grep --text refs/heads/main
}

smoke_gitops() {
    check 'a push to the git server' push_settings one
    kubectl apply -f "$cluster/data/flux.yaml" -f "$cluster/data/argocd.yaml" >/dev/null || failed=1
    check 'Flux applies what was pushed' has_setting flux one
    check 'Argo CD applies what was pushed' has_setting argocd one
    check 'Argo CD says Synced and Healthy' argocd_is_synced
    check 'a second push' push_settings two
    check 'Flux follows' has_setting flux two
    check 'Argo CD follows' has_setting argocd two
    check 'Flux prunes what is gone' flux_prunes
    kubectl -n argocd delete application smoke >/dev/null
    kubectl -n flux-system delete kustomization,gitrepository smoke >/dev/null
}

push_settings() {
    local tool
    for tool in flux argocd; do
        mkdir -p "$work/tree/$tool"
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {value: %s}\n' "$tool" "$1" \
            >"$work/tree/$tool/config.yaml"
    done
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep}\n' >"$work/tree/flux/keep.yaml"
    push "$work/tree"
}

has_setting() {
    kubectl -n smoke wait --for=create --timeout=90s "configmap/$1"
    kubectl -n smoke wait --for="jsonpath={.data.value}=$2" --timeout=90s "configmap/$1"
}

argocd_is_synced() {
    kubectl -n argocd wait --for='jsonpath={.status.sync.status}'=Synced --timeout=60s application/smoke
    kubectl -n argocd wait --for='jsonpath={.status.health.status}'=Healthy --timeout=60s application/smoke
}

flux_prunes() {
    rm "$work/tree/flux/config.yaml"
    push "$work/tree"
    kubectl -n smoke wait --for=delete --timeout=90s configmap/flux
}

smoke_serving() {
    kubectl -n smoke apply -f "$cluster/data/inferenceservice.yaml" >/dev/null || failed=1
    check 'an InferenceService with a container of its own is ready' succeeds Ready inferenceservice/served
    check 'KServe says that its model is loaded' model_is_loaded
    check 'the webhook of KServe refuses a bad service' kserve_refuses
}

model_is_loaded() {
    [[ $(kubectl -n smoke get inferenceservice served -o 'jsonpath={.status.modelStatus.states.activeModelState}') == Loaded ]]
}

kserve_refuses() {
    ! sed 's/name: served/name: 3d.served/' "$cluster/data/inferenceservice.yaml" |
        kubectl -n smoke apply -f - >"$work/rejected" 2>&1
    cat "$work/rejected"
    grep 'inferenceservice.kserve-webhook-server.validator' "$work/rejected"
}
