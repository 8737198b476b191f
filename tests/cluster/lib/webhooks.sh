# shellcheck shell=bash
# Operators with admission webhooks: as processes beside the pods they cannot be found by a selector, and their keys are
# made here instead of by a cert-manager.

# Prints the namespace $1 and the Service $2 in it, which leads to port $3 of the operators.
operator_service() {
    cat <<END
apiVersion: v1
kind: Namespace
metadata: {name: $1}
---
apiVersion: v1
kind: Service
metadata: {name: $2, namespace: $1}
spec:
  ports: [{name: webhook-server, port: 443, targetPort: $3}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: $2, namespace: $1, labels: {kubernetes.io/service-name: $2}}
addressType: IPv4
endpoints: [{addresses: [$operators]}]
ports: [{name: webhook-server, port: $3}]
END
}

# Makes the keys of operator $1 for the Service $3 in the namespace $2, where a program looks for them whose TMPDIR is the
# folder that this prints.
webhook_keys() {
    local folder=$run/webhooks/$1
    local keys=$folder/k8s-webhook-server/serving-certs
    if [[ ! -e $keys/tls.crt ]]; then
        mkdir -p "$keys"
        sign "$run/keys" "$1" "/CN=$3.$2.svc" "subjectAltName=DNS:$3.$2.svc"$'\nextendedKeyUsage=serverAuth'
        cp "$run/keys/$1.key" "$keys/tls.key"
        cp "$run/keys/$1.crt" "$keys/tls.crt"
    fi
    echo "$folder"
}

# Registers the webhooks of operator $1, with the patches of its own kustomization, for the Service $3 in the namespace $2.
# Further arguments are patches of a kustomization, each a line of YAML. Only after the operator is ready: until then it
# would refuse what all others create.
register_webhooks() {
    local name=$1 namespace=$2 service=$3 folder patch
    shift 3
    folder=$(mktemp -d "$run/webhooks/$name/XXXXXX")
    cp -r "$(kept "$name")/webhook" "$folder/base"
    {
        echo 'resources: [base]'
        echo 'patches:'
        # It selects the operator's pod.
        echo "- {target: {kind: Service}, patch: '{\$patch: delete, apiVersion: v1, kind: Service, metadata: {name: it}}'}"
        for patch in "$@"; do
            echo "- $patch"
        done
    } >"$folder/kustomization.yaml"
    kubectl kustomize "$folder" | sed -E \
        -e "s/^  name: (mutating|validating)-webhook-configuration$/  name: $name-\1/" \
        -e "s/^( *)clientConfig:$/&\n\1  caBundle: $(base64 -w0 "$run/keys/ca.crt")/" \
        -e "s/^( *)name: (webhook-service|\\$\(webhookServiceName\))$/\1name: $service/" \
        -e "s/^( *)namespace: (system|\\$\(kserveNamespace\))$/\1namespace: $namespace/" |
        kubectl apply -f - >/dev/null
    rm -rf "$folder"
}

# Starts operator $1 with its keys, the Service $3 in the namespace $2 that leads to its port $4, and the command in $5…;
# its webhooks judge from when it is ready. A function NAME_patches prints patches of them, one a line.
ensure_judge() {
    local name=$1 namespace=$2 service=$3 port=$4 folder patches=()
    shift 4
    is_alive "$name" && return 0
    operator_service "$namespace" "$service" "$port" | kubectl apply -f - >/dev/null
    folder=$(webhook_keys "$name" "$namespace" "$service")
    TMPDIR=$folder KUBECONFIG=$run/kubeconfig ensure_operator "$name" "$@"
    await 60 "readiness of $name" "${name}_is_ready"
    ! declare -F "${name}_patches" >/dev/null || mapfile -t patches < <("${name}_patches")
    register_webhooks "$name" "$namespace" "$service" "${patches[@]}"
}
