# shellcheck shell=bash

manifests_of() {
    printf '%s\n' "$(module_folder "$2" sigs.k8s.io/kueue)"/config/components/crd/bases/kueue.x-k8s.io_*.yaml
}

also_keep() {
    cp -r "$(module_folder "$1" sigs.k8s.io/kueue)/config/components/webhook" "$1/out/"
}
