# shellcheck shell=bash

manifests_of() {
    printf '%s\n' "$(module_folder "$2" github.com/ray-project/kuberay/ray-operator)"/config/crd/bases/ray.io_*.yaml
}
