# shellcheck shell=bash
# How each component is built from its Go module in `go/`.

programs_of() {
    if [[ -f $1/main.go ]]; then
        echo .
    else
        sed -nE 's/^(import|\t)[ ]?_ "(.*)"$/\2/p' "$1/tools.go"
    fi
}

# The name of a program, where it is not the last part of its import path.
name_of() {
    case $1 in
        .) echo pause ;;
        go.etcd.io/etcd/server/v3) echo etcd ;;
        github.com/argoproj/argo-cd/v3/cmd) echo argocd ;;
        *.v1) basename "$1" .v1 ;;
        *) basename "$1" ;;
    esac
}

# Without a version clients of Kubernetes see `v0.0.0` and refuse what they could do.
linker_flags() {
    local version major minor
    printf -- '-s -w'
    [[ $1 == kubernetes ]] || return 0
    version=$(cd "$2" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
    major=${version#v} major=${major%%.*}
    minor=${version#v*.} minor=${minor%%.*}
    printf -- ' -X k8s.io/component-base/version.%s' "gitVersion=$version" "gitMajor=$major" "gitMinor=$minor"
}

# The published archive of argo-workflows does not build as it is: archives drop symbolic links (signal_linux.go), and
# the built web pages are absent. The work folder gets a repaired copy to build from.
repair_argo() {
    local work=$1 module=github.com/argoproj/argo-workflows/v3 signals
    cp -r "$(module_folder "$work" "$module")" "$work/module"
    chmod -R u+w "$work/module"
    signals=$work/module/workflow/executor/osspecific
    if [[ ! -e $signals/signal_linux.go ]]; then
        sed 's/darwin/linux/g' "$signals/signal_darwin.go" >"$signals/signal_linux.go"
    fi
    mkdir -p "$work/module/ui/dist/app"
    echo 'no web pages in this build' >"$work/module/ui/dist/app/index.html"
    (cd "$work" && go mod edit -replace "$module=./module")
}

module_folder() {
    (cd "$1" && go mod download "$2" && go list -m -f '{{.Dir}}' "$2")
}

# The CustomResourceDefinitions (and webhooks) come from the same pinned module as the program that serves them.
manifests_of() {
    local module
    case $1 in
        argo)
            module=$(module_folder "$2" github.com/argoproj/argo-workflows/v3)
            # The definitions without a schema are what most clusters have; with one, the API server judges what people
            # write. For kinds that only the controller writes, a schema would cost seconds of every start.
            printf '%s\n' "$module"/manifests/base/crds/full/argoproj.io_{workflows,workflowtemplates,cronworkflows}.yaml \
                "$module"/manifests/base/crds/minimal/argoproj.io_{clusterworkflowtemplates,workflowartifactgctasks}.yaml \
                "$module"/manifests/base/crds/minimal/argoproj.io_workflow{eventbindings,taskresults,tasksets}.yaml
            ;;
        training-operator)
            module=$(module_folder "$2" github.com/kubeflow/training-operator)
            printf '%s\n' "$module"/manifests/base/crds/kubeflow.org_*.yaml "$module/manifests/base/webhook/manifests.yaml"
            ;;
        mpi-operator)
            module=$(module_folder "$2" github.com/kubeflow/mpi-operator)
            printf '%s\n' "$module/manifests/base/kubeflow.org_mpijobs.yaml"
            ;;
        flux)
            for module in source-controller kustomize-controller; do
                module=$(module_folder "$2" "github.com/fluxcd/$module")
                printf '%s\n' "$module"/config/crd/bases/*.yaml
            done
            ;;
        argocd)
            module=$(module_folder "$2" github.com/argoproj/argo-cd/v3)
            printf '%s\n' "$module"/manifests/crds/*-crd.yaml
            ;;
    esac
}

# The texts are most of a definition, judge nothing, and cost the API server half a second each.
without_descriptions() {
    awk '
        { match($0, /^ */); indent = RLENGTH }
        dropping && (indent > depth || /^ *$/) { next }
        { dropping = 0 }
        /^ *description: ./ { dropping = 1; depth = indent; next }
        { print }
    ' "$1"
}

# Builds component $1 in the empty folder $2, so that $2/out holds `bin/` and `manifests/`.
compile() {
    local name=$1 work=$2 program flags manifest
    cp "$cluster/go/$name"/* "$work/"
    mkdir -p "$work/out/bin" "$work/out/manifests"
    if [[ $name == argo ]]; then
        repair_argo "$work"
    fi
    flags=$(linker_flags "$name" "$work")
    while read -r program; do
        (cd "$work" && CGO_ENABLED=0 nice -n 19 go build -trimpath -buildvcs=false -ldflags "$flags" \
            -o "out/bin/$(name_of "$program")" "$program")
    done < <(programs_of "$work")
    while read -r manifest; do
        without_descriptions "$manifest" >"$work/out/manifests/$(basename "$manifest")"
    done < <(manifests_of "$name" "$work")
}
