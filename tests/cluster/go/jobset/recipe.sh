# shellcheck shell=bash

manifests_of() {
    printf '%s\n' "$(module_folder "$2" sigs.k8s.io/jobset)"/config/components/crd/bases/*.yaml
}

also_keep() {
    cp -r "$(module_folder "$1" sigs.k8s.io/jobset)/config/components/webhook" "$1/out/"
}
