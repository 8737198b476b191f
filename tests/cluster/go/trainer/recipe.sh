# shellcheck shell=bash

manifests_of() {
    printf '%s\n' "$(module_folder "$2" github.com/kubeflow/trainer/v2)"/manifests/base/crds/trainer.kubeflow.org_*.yaml
}

also_keep() {
    cp -r "$(module_folder "$1" github.com/kubeflow/trainer/v2)/manifests/base/webhook" "$1/out/"
}
