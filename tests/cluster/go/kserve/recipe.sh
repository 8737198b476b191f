# shellcheck shell=bash

name_of() {
    echo kserve
}

manifests_of() {
    printf '%s\n' "$(module_folder "$2" github.com/kserve/kserve)"/config/crd/full/{,clusterstoragecontainer/}serving.kserve.io_*.yaml
}

also_keep() {
    local config
    config=$(module_folder "$1" github.com/kserve/kserve)/config
    cp -r "$config/webhook" "$config/configmap" "$1/out/"
}
