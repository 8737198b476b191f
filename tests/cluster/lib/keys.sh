# shellcheck shell=bash
# Keys and tokens of one run of the cluster: made anew by every first `up`, thrown away by `down`.

# Makes FOLDER/NAME.key and .crt, signed by the authority in FOLDER/ca.*, for the subject $3 with the extensions $4.
sign() {
    local folder=$1 name=$2 subject=$3 extensions=$4
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$subject" \
        -keyout "$folder/$name.key" -out "$folder/$name.csr" 2>/dev/null
    openssl x509 -req -in "$folder/$name.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -CAcreateserial \
        -days 3650 -extfile <(printf '%s\n' "$extensions") -out "$folder/$name.crt" 2>/dev/null
}

# Makes FOLDER/ca.key and .crt with the common name $2.
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -subj "/CN=$2" -days 3650 \
        -addext "subjectAltName=DNS:$2" \
        -addext 'keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign' \
        -keyout "$1/ca.key" -out "$1/ca.crt" 2>/dev/null
}

token() {
    openssl rand -hex 24
}

ensure_keys() {
    local keys=$run/keys
    [[ ! -e $keys/ready ]] || return 0
    mkdir -p "$keys"
    chmod 700 "$keys"
    authority "$keys" kubebench-test-cluster
    sign "$keys" apiserver /CN=kube-apiserver \
        "subjectAltName=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,IP:$api"
    sign "$keys" kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client 'extendedKeyUsage=clientAuth'
    sign "$keys" kubelet /CN=kubelet "subjectAltName=IP:$api"
    openssl ecparam -genkey -name prime256v1 -noout -out "$keys/service-accounts.key"
    token >"$keys/token"
    token >"$keys/argo-token"
    {
        printf '%s,admin,admin,system:masters\n' "$(<"$keys/token")"
        # The account that Argo's own manifests give to its controller: admission policies know it by that.
        printf '%s,system:serviceaccount:argo:argo,argo,"system:serviceaccounts,system:serviceaccounts:argo"\n' "$(<"$keys/argo-token")"
    } >"$keys/tokens.csv"
    kubeconfig admin "$keys/token" >"$run/kubeconfig"
    kubeconfig argo "$keys/argo-token" >"$run/argo.kubeconfig"
    chmod 600 "$run/kubeconfig" "$run/argo.kubeconfig"
    touch "$keys/ready"
}

# That of the user $1 with the token in $2: one file that needs no other, so that it can be copied to another place.
kubeconfig() {
    cat <<END
apiVersion: v1
kind: Config
current-context: kubebench-test
clusters:
- name: kubebench-test
  cluster: {server: "https://$api:443", certificate-authority-data: $(base64 -w0 "$run/keys/ca.crt")}
users:
- name: $1
  user: {token: $(<"$2")}
contexts:
- name: kubebench-test
  context: {cluster: kubebench-test, user: $1}
END
}
